/* SPDX-License-Identifier: Apache-2.0 */
/* Herding weights and their initial values. An initial value is a hash of (seed, chain, variable,
 * key): chains start differently, and the order in which updates first use the keys does not
 * matter. */
#include "draw/herd.h"

#include <string.h>

#include "base/memory.h"
#include "rng/philox.h"
#include "simd/math.h"

void gbsi_herd_free(void *state)
{
    gbsi_herd *herd = state;
    if (herd == NULL) {
        return;
    }
    for (uint32_t g = 0; herd->group != NULL && g < herd->n_groups; ++g) {
        gbsi_herd_group *group = &herd->group[g];
        for (size_t t = 0; group->table != NULL && t < herd->n_tables; ++t) {
            gbsi_key_table_free(&group->table[t]);
        }
        GBSI_FREE(group->phase, group->balance, group->vector, group->table, group->whole);
    }
    GBSI_FREE(herd->group, herd->cell, herd->visits);
    gbsi_key_slices_free(&herd->slices);
    gbsi_keys_free(&herd->keys);
    gbsi_free(herd);
}

gbs_status gbsi_herd_new(const gbsi_draw_job *job, gbsi_herd **out, gbs_error *err)
{
    gbsi_herd *herd = gbsi_alloc_zero(sizeof *herd);
    GBSI_PASS(GBSI_HAVE(err, "herding weights", herd));
    herd->plan = job->plan;
    herd->how = gbsi_herding_of(job->options, job->traits, job->plan->n_sampled);
    herd->seed = job->options->seed;
    herd->lanes = job->lanes;
    herd->n_groups = job->n_groups;
    herd->first_chain = job->first_chain;
    herd->room = job->room;
    herd->group = gbsi_alloc_array_zero(job->n_groups, sizeof *herd->group);
    if (herd->group == NULL) {
        gbsi_herd_free(herd);
        return gbsi_no_memory(err, "herding weights", job->n_groups * sizeof *herd->group);
    }
    *out = herd;
    return GBS_OK;
}

/* Allocates n zeroed rows, each with a number for every lane; NULL if n is 0. */
static gbs_status take_rows(const gbsi_herd *herd, size_t n, size_t size, void **rows,
                            gbs_error *err)
{
    size_t n_cells = 0;
    if (n == 0) {
        return GBS_OK;
    }
    if (!gbsi_mul_size(n, herd->lanes, &n_cells)) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "herding weights: their size exceeds the address space of this machine");
    }
    *rows = gbsi_alloc_lanes(n_cells, size);
    return *rows == NULL ? gbsi_no_memory(err, "herding weights", n_cells * size) : GBS_OK;
}

gbs_status gbsi_herd_take(gbsi_herd *herd, gbs_error *err)
{
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        gbsi_herd_group *group = &herd->group[g];
        void *phase = NULL;
        void *balance = NULL;
        void *vector = NULL;
        GBSI_PASS(take_rows(herd, herd->n_phases, sizeof *group->phase, &phase, err));
        group->phase = phase;
        GBSI_PASS(take_rows(herd, herd->n_balances, sizeof *group->balance, &balance, err));
        group->balance = balance;
        GBSI_PASS(take_rows(herd, herd->n_shares, sizeof *group->vector, &vector, err));
        group->vector = vector;
        group->table = gbsi_alloc_array_zero(herd->n_tables, sizeof *group->table);
        GBSI_PASS(GBSI_HAVE(err, "herding weights", group->table));
    }
    if (herd->n_tables > 0) {
        herd->visits = gbsi_alloc_array_zero(herd->plan->n_slots, sizeof *herd->visits);
        GBSI_PASS(GBSI_HAVE(err, "herding weights", herd->visits));
    }
    return GBS_OK;
}

/* Computes the random words from which an initial value is made.
 * @param name name of the key. @param block number of the block of four states. */
static void start_words(const gbsi_herd *herd, uint32_t slot, uint32_t chain, uint64_t name,
                        uint32_t block, uint32_t word[4])
{
    const gbsi_plan *plan = herd->plan;
    const uint32_t variable = plan->model->user_variable[plan->variable_of[slot]];
    const uint64_t mixed = gbsi_mix64(name + block * UINT64_C(0x9E3779B97F4A7C15));
    gbsi_philox(herd->seed, chain, mixed >> 8, variable, GBSI_PURPOSE_HERD, word);
}

/* Initial phases u = 2^32 - 1 - v with v = p - w. The option --herd-init chooses among a random v,
 * v = 1/2, and w = 0 [M19]. */
void gbsi_herd_start_phases(const gbsi_herd *herd, uint32_t slot, uint32_t group, uint64_t name,
                            uint32_t chance, uint32_t *phase)
{
    for (uint32_t lane = 0; lane < herd->lanes; ++lane) {
        uint32_t word[4] = {UINT32_C(1) << 31};
        if (herd->how.init == GBS_HERD_RANDOM) {
            start_words(herd, slot, herd->first_chain + group * herd->lanes + lane, name, 0, word);
        } else if (herd->how.init == GBS_HERD_ZERO) {
            word[0] = chance;
        }
        phase[lane] = UINT32_MAX - word[0];
    }
}

/* Computes initial weights w = p - v on the states of positive probability. v is drawn from
 * Dirichlet(1, ..., 1) as normalised exponentials, or is 1/n on each of n states of positive
 * probability. */
static void start_vector(const gbsi_herd *herd, uint32_t slot, uint32_t chain, uint64_t name,
                         const double *p, uint32_t k, double *w)
{
    double total = 0.0;
    uint32_t word[4] = {0};
    for (uint32_t a = 0; a < k; ++a) {
        if (a % 4 == 0 && herd->how.init == GBS_HERD_RANDOM) {
            start_words(herd, slot, chain, name, a / 4, word);
        }
        const double u = ((double)word[a % 4] + 0.5) * 0x1p-32;
        const double v = herd->how.init == GBS_HERD_RANDOM ? -gbsi_log(u) : 1.0;
        w[a] = p[a] > 0.0 ? v : 0.0;
        total += w[a];
    }
    for (uint32_t a = 0; a < k; ++a) {
        w[a] = herd->how.init == GBS_HERD_ZERO || p[a] == 0.0 ? 0.0 : p[a] - w[a] / total;
    }
}

void gbsi_herd_start_vectors(const gbsi_herd *herd, uint32_t slot, uint32_t group, uint64_t name,
                             const double *p, double *vector)
{
    const uint32_t k = gbsi_plan_arity(herd->plan, slot);
    for (uint32_t lane = 0; lane < herd->lanes; ++lane) {
        start_vector(herd, slot, herd->first_chain + group * herd->lanes + lane, name, p, k,
                     vector + (size_t)lane * k);
    }
}
