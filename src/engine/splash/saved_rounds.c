/* SPDX-License-Identifier: Apache-2.0 */
/* Saves the state on which later rounds depend. The growth of a splash is a function of the seed,
 * the round and the root. It therefore suffices to save the roots and the number of rounds. The
 * owners of earlier rounds are not needed. */
#include "splash/splash_inside.h"

enum { N_SAVED = 6 };

gbs_status gbsi_splash_save(const void *state, const gbsi_sink *sink, gbs_error *err)
{
    const gbsi_splash *s = state;
    const gbsi_splash_counts counts = gbsi_splash_count(s);
    const uint64_t wide[N_SAVED] = {
        s->round,       s->adapt, counts.n_variables, counts.n_entries, counts.n_log_entries,
        counts.n_looked};
    GBSI_PASS(gbsi_put_numbers(sink, wide, N_SAVED, sizeof wide[0], err));
    for (int reach = GBSI_REACH_INTERIOR; reach <= GBSI_REACH_BOUNDARY; ++reach) {
        const gbsi_roots *roots = &s->roots[reach];
        GBSI_PASS(gbsi_put_numbers(sink, &roots->head, 1, sizeof roots->head, err));
        GBSI_PASS(gbsi_put_numbers(sink, roots->order, roots->n, sizeof *roots->order, err));
    }
    GBSI_PASS(gbsi_put_numbers(sink, &s->zeros.n_open, 1, sizeof s->zeros.n_open, err));
    return gbsi_put_numbers(sink, s->zeros.n_hard, s->zeros.n_blocks, 4, err);
}

static gbs_status load_roots(gbsi_splash *s, gbsi_reach reach, const gbsi_source *source,
                             gbs_error *err)
{
    gbsi_roots *roots = &s->roots[reach];
    GBSI_PASS(gbsi_take_numbers(source, &roots->head, 1, sizeof roots->head, err));
    GBSI_PASS(gbsi_take_numbers(source, roots->order, roots->n, sizeof *roots->order, err));
    bool fine = roots->head < roots->n || roots->n == 0;
    for (uint32_t i = 0; fine && i < roots->n; ++i) {
        fine = roots->order[i] < s->potentials->n &&
               gbsi_reach_of(&s->turns, roots->order[i]) == reach;
    }
    if (!fine) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "splash: a saved root is not a variable of this model");
    }
    return GBS_OK;
}

gbs_status gbsi_splash_load(void *state, const gbsi_source *source, gbs_error *err)
{
    gbsi_splash *s = state;
    uint64_t wide[N_SAVED];
    uint32_t n_open = 0;
    GBSI_PASS(gbsi_take_numbers(source, wide, N_SAVED, sizeof wide[0], err));
    GBSI_PASS(load_roots(s, GBSI_REACH_INTERIOR, source, err));
    GBSI_PASS(load_roots(s, GBSI_REACH_BOUNDARY, source, err));
    GBSI_PASS(gbsi_take_numbers(source, &s->zeros.n_open, 1, sizeof s->zeros.n_open, err));
    GBSI_PASS(gbsi_take_numbers(source, s->zeros.n_hard, s->zeros.n_blocks, 4, err));
    for (uint32_t b = 0; b < s->zeros.n_blocks; ++b) {
        n_open += s->zeros.n_hard[b] > 0;
    }
    if (n_open != s->zeros.n_open) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "splash: the saved counts of hard zeros contradict one another");
    }
    s->round = wide[0];
    s->adapt = wide[1];
    s->counts = (gbsi_splash_counts){wide[2], wide[3], wide[4], wide[5]};
    return GBS_OK;
}
