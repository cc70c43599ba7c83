/* SPDX-License-Identifier: Apache-2.0 */
#include "estimate/thinned.h"

#include "base/memory.h"

#define MOST GBSI_THINNED

gbs_status gbsi_thinned_init(gbsi_thinned *t, uint32_t n_chains, uint32_t n_variables,
                             uint64_t stride, gbs_error *err)
{
    const size_t n = (size_t)n_chains * MOST;
    const size_t bytes = sizeof(double) + n_variables * sizeof(uint16_t);
    *t = (gbsi_thinned){.n_chains = n_chains, .n_variables = n_variables, .stride = stride};
    t->density = gbsi_alloc_array_zero(n, bytes);
    GBSI_PASS(GBSI_HAVE(err, "traces", t->density));
    t->state = (uint16_t *)(void *)(t->density + n);
    return GBS_OK;
}

void gbsi_thinned_free(gbsi_thinned *t)
{
    gbsi_free(t->density);
    t->density = NULL;
}

bool gbsi_thinned_pass(gbsi_thinned *t)
{
    return ++t->n_passes % t->stride == 0;
}

void gbsi_thinned_set(gbsi_thinned *t, uint32_t chain, double density, const uint32_t *state)
{
    t->density[(size_t)chain * MOST + t->n] = density;
    for (uint32_t i = 0; i < t->n_variables; ++i) {
        const size_t series = (size_t)i * t->n_chains + chain;
        t->state[series * MOST + t->n] = (uint16_t)state[i];
    }
}

/* Ends a pass. If the arrays are full, the kept passes s, 2s, 3s, ... are reduced to the passes 2s,
 * 4s, 6s, ... */
void gbsi_thinned_end(gbsi_thinned *t)
{
    if (++t->n < MOST) {
        return;
    }
    const size_t n_states = (size_t)t->n_variables * t->n_chains * MOST;
    for (size_t i = 0; i < (size_t)t->n_chains * MOST; i += MOST) {
        for (size_t k = 0; k < MOST / 2; ++k) {
            t->density[i + k] = t->density[i + 2 * k + 1];
        }
    }
    for (size_t i = 0; i < n_states; i += MOST) {
        for (size_t k = 0; k < MOST / 2; ++k) {
            t->state[i + k] = t->state[i + 2 * k + 1];
        }
    }
    t->n = MOST / 2;
    t->stride *= 2;
}

/* ---- saving and loading ---------------------------------------------------------------------- */

static gbs_status save(const void *object, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_thinned *t = object;
    const size_t n = (size_t)t->n_chains * MOST;
    const uint64_t head[] = {t->n_chains, t->n_variables, t->stride, t->n_passes};
    GBSI_PASS(gbsi_put_numbers(sink, head, 4, sizeof head[0], err));
    GBSI_PASS(gbsi_put_numbers(sink, t->density, n, sizeof *t->density, err));
    return gbsi_put_numbers(sink, t->state, n * t->n_variables, sizeof *t->state, err);
}

gbs_status gbsi_thinned_save(const gbsi_thinned *t, const gbsi_sink *sink, gbs_error *err)
{
    return gbsi_put_sealed(sink, t, save, err);
}

static gbs_status load(void *object, const gbsi_source *source, gbs_error *err)
{
    gbsi_thinned *t = object;
    const size_t n = (size_t)t->n_chains * MOST;
    const uint64_t shape[] = {t->n_chains, t->n_variables};
    uint64_t passes[2] = {0, 0};
    GBSI_PASS(gbsi_take_expected(source, shape, 2, "monitored variables", err));
    GBSI_PASS(gbsi_take_numbers(source, passes, 2, sizeof passes[0], err));
    if (passes[0] == 0 || passes[1] / passes[0] >= MOST) {
        return gbsi_fail(err, GBS_ERR_FORMAT, "traces of so many passes cannot be");
    }
    t->stride = passes[0];
    t->n_passes = passes[1];
    t->n = (uint32_t)(t->n_passes / t->stride);
    GBSI_PASS(gbsi_take_numbers(source, t->density, n, sizeof *t->density, err));
    return gbsi_take_numbers(source, t->state, n * t->n_variables, sizeof *t->state, err);
}

gbs_status gbsi_thinned_load(gbsi_thinned *t, const gbsi_source *source, gbs_error *err)
{
    return gbsi_take_sealed(source, t, load, "traces", err);
}
