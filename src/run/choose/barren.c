/* SPDX-License-Identifier: Apache-2.0 */
#include "choose/barren.h"

#include "base/extremes.h"
#include "base/memory.h"
#include "rng/philox.h"
#include "simd/math.h"

gbs_status gbsi_barren_new(gbsi_conditioned *full, gbsi_pruning *pruning,
                           const gbsi_conditioned *part, gbsi_barren **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n_states = full->state_offset[full->n_variables];
    gbsi_barren *b = gbsi_alloc_zero(sizeof *b);
    if (b == NULL) {
        gbsi_pruning_clear(pruning);
        gbsi_conditioned_free(full);
        return gbsi_no_memory(err, "pruning", sizeof *b);
    }
    b->full = full;
    b->pruning = *pruning;
    *pruning = (gbsi_pruning){0};
    b->full_variable = gbsi_alloc_array(part->n_variables, sizeof *b->full_variable);
    b->x = gbsi_alloc_array_zero(full->n_variables, sizeof *b->x);
    b->p = gbsi_alloc_array(gbsi_largest(full->arity, full->n_variables), sizeof *b->p);
    b->mean = gbsi_alloc_array_zero(n_states, sizeof *b->mean);
    b->square = gbsi_alloc_array_zero(n_states, sizeof *b->square);
    GBSI_TRY(GBSI_HAVE(err, "pruning", b->full_variable, b->x, b->p, b->mean, b->square));
    for (uint32_t v = 0; v < part->n_variables; ++v) {
        b->full_variable[v] = full->free_variable[part->user_variable[v]];
    }
    *out = b;
    b = NULL;

cleanup:
    gbsi_barren_free(b);
    return status;
}

void gbsi_barren_free(gbsi_barren *b)
{
    if (b != NULL) {
        gbsi_conditioned_free(b->full);
        gbsi_pruning_clear(&b->pruning);
        GBSI_FREE(b->full_variable, b->x, b->p, b->mean, b->square, b);
    }
}

/* Adds the conditional of one variable to the averages, and draws the state of the variable. */
static void draw_one(gbsi_barren *b, uint32_t i, double u)
{
    const uint32_t v = b->pruning.variable[i];
    const uint32_t k = b->full->arity[v];
    double *mean = b->mean + b->full->state_offset[v];
    double *square = b->square + b->full->state_offset[v];
    double *p = b->p;
    double sum = 0.0;
    uint32_t state = 0;
    gbsi_pruned_law(b->full, &b->pruning, i, b->x, p);
    for (uint32_t a = 0; a < k; ++a) {
        const double distance = p[a] - mean[a];
        mean[a] += distance / (double)b->n_draws;
        square[a] += distance * (p[a] - mean[a]);
        sum += p[a];
        state +=
            a + 1 < k &&
            u >= sum; /* if rounding leaves u above the sum of weights, the last state is taken */
    }
    while (p[state] == 0.0) {
        --state; /* because of rounding, the last state may be impossible; the nearest possible
                    state is taken */
    }
    b->x[v] = state;
}

void gbsi_barren_draw(gbsi_barren *b, const uint32_t *x, uint64_t seed, uint32_t chain,
                      uint64_t draw)
{
    const uint32_t n = b->full->n_variables - b->pruning.n;
    for (uint32_t v = 0; v < n; ++v) {
        b->x[b->full_variable[v]] = x[v];
    }
    ++b->n_draws;
    for (uint32_t i = b->pruning.n; i-- > 0;) {
        uint32_t word[4];
        gbsi_philox(seed, chain, draw, b->pruning.variable[i], GBSI_PURPOSE_RECOVER, word);
        draw_one(b, i, gbsi_uniform(word[0], word[1]));
    }
}

double gbsi_barren_p(const gbsi_barren *b, uint32_t v, uint32_t a, double *mcse)
{
    const double n = (double)b->n_draws;
    const size_t at = b->full->state_offset[v] + a;
    const double variance = n > 1.0 ? b->square[at] / (n - 1.0) : 0.25;
    /* a state that no draw had may still have a probability of about 1/n */
    *mcse = gbsi_sqrt(variance / n + 1.0 / (n * n));
    return b->mean[at];
}
