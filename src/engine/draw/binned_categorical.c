/* SPDX-License-Identifier: Apache-2.0 */
/* Herding by bins of variables of more than two states. So many keys can occur that a dense table
 * would not fit. The weights of a key are therefore made when an update first has this key
 * (herd_tables.c). Updates run for one place and chain at a time.
 *
 * This file extends the methods of the papers from two states to more states [M32] [M28]. With the
 * distribution function F_a = p_0 + .. + p_a and B bins, the key of an update is (n_0, ..,
 * n_{K-2}):
 *     stick, argmax   n_a = bin of F_a
 *     rounded         n_a = floor(B F_a + U), U uniform
 * Method `rounded` then replaces p_a by (n_a - n_{a-1}) / B. With method `stick` a key has K - 1
 * phases, and phase a decides between state a and the states after a. With the other methods a key
 * has a vector of K weights (Chen et al. 2016, algorithm 1). */
#include "draw/binned.h"

/* ---- size ------------------------------------------------------------------------------------ */

/* Number of sequences n_0 <= .. <= n_{K-2} of numbers from 0 to `most`: the binomial coefficient of
 * (most + K - 1) over (K - 1); infinity if too large. */
static double n_keys(uint32_t k, uint32_t most)
{
    double n = 1.0;
    for (uint32_t i = 1; i < k && n < 1e18; ++i) {
        n = n * (most + i) / i;
    }
    return n;
}

uint64_t gbsi_binned_categorical_bytes(const gbsi_draw_job *job)
{
    const gbsi_plan *plan = job->plan;
    const gbsi_herding how = gbsi_herding_of(job->options, job->traits, plan->n_sampled);
    const uint32_t most = how.rounded ? how.n_bins : how.n_bins - 1;
    double bytes = 0.0;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        const double k = gbsi_plan_arity(plan, slot);
        const double row = gbsi_herding_sticks(&how) ? (k - 1.0) * 4.0 : k * 8.0;
        if (gbsi_plan_arity(plan, slot) > 2) {
            bytes += 4.0 * (n_keys(gbsi_plan_arity(plan, slot), most) + job->lanes) *
                     (12.0 + row * job->lanes / 2.0) * job->n_groups;
        }
    }
    return bytes < 9e18 ? (uint64_t)bytes : UINT64_MAX;
}

gbs_status gbsi_binned_check(const gbsi_plan *plan, const gbsi_herding *how, gbs_error *err)
{
    if (plan->max_arity > GBSI_MOST_BINNED) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "--draw: herding by bins supports at most %u states per variable, found "
                         "%u: use --draw herded",
                         GBSI_MOST_BINNED, plan->max_arity);
    }
    if (plan->max_arity > 2 && gbsi_herding_sticks(how) && !how->post) {
        return gbsi_fail(
            err, GBS_ERR_ARGUMENT,
            "--herd-rule pre: variables of more than two states need --bin-rule argmax");
    }
    return GBS_OK;
}

/* ---- starts ---------------------------------------------------------------------------------- */

/* Probability of state a from which the initial weights of a key are computed. It is the mean
 * probability over the bins of the key, mixed with the uniform distribution so that no probability
 * is 0 or 1. */
static double mean_share(const gbsi_herding *how, const uint32_t *n, uint32_t k, uint32_t a)
{
    const double low = a == 0 ? 0.0 : n[a - 1];
    const double high = a == k - 1 ? how->n_bins : n[a];
    return (high - low + 1.0 / k) / (how->n_bins + 1.0);
}

static void start_stick(const gbsi_herd *herd, uint32_t slot, uint32_t group, uint64_t code,
                        const uint32_t *n, uint32_t *phase)
{
    const uint32_t k = gbsi_plan_arity(herd->plan, slot);
    double rest = 1.0;
    for (uint32_t a = 0; a + 1 < k; ++a) {
        const double share = mean_share(&herd->how, n, k, a);
        const double r = share < rest ? share / rest : 1.0;
        const double scaled = r * 0x1p32;
        const uint32_t chance = scaled < 1.0 ? 1 : scaled >= 0x1p32 ? UINT32_MAX : (uint32_t)scaled;
        gbsi_herd_start_phases(herd, slot, group, gbsi_mix64(code + a), chance,
                               phase + (size_t)a * herd->lanes);
        rest -= share;
    }
}

static void start_vector(const gbsi_herd *herd, uint32_t slot, uint32_t group, uint64_t code,
                         const uint32_t *n, double *p, double *vector)
{
    const uint32_t k = gbsi_plan_arity(herd->plan, slot);
    for (uint32_t a = 0; a < k; ++a) {
        if (herd->how.rounded) { /* the mean itself */
            const uint32_t low = a == 0 ? 0 : n[a - 1];
            p[a] = (double)((a == k - 1 ? herd->how.n_bins : n[a]) - low) / herd->how.n_bins;
        } else {
            p[a] = mean_share(&herd->how, n, k, a);
        }
    }
    gbsi_herd_start_vectors(herd, slot, group, code, p, vector);
}

/* ---- drawing --------------------------------------------------------------------------------- */

/* Bin of F_a: an interval (b/B, (b+1)/B] or [b/B, (b+1)/B), as for two states. */
static uint32_t bin_of(const gbsi_herding *how, double f)
{
    const double scaled = f * how->n_bins;
    const double whole = (double)(uint64_t)scaled;
    const double bin = how->left_edge || whole < scaled ? whole : whole - 1.0;
    const double last = how->n_bins - 1.0;
    return bin < 0.0 ? 0 : (uint32_t)(bin < last ? bin : last);
}

/* Finds the key of p. @param n [k - 1] out: the key. @return code of the key. */
static uint64_t key_of(const gbsi_herding *how, const float *p, uint32_t k, uint32_t word,
                       uint32_t *n)
{
    const double u = ((double)word + 0.5) * 0x1p-32;
    uint64_t code = k;
    double f = 0.0;
    /* last state of positive probability, which takes the remainder from rounding */
    uint32_t last = k - 1;
    while (last > 0 && !(p[(size_t)last * GBSI_LANES] > 0.0F)) {
        --last;
    }
    for (uint32_t a = 0; a + 1 < k; ++a) {
        f += (double)p[(size_t)a * GBSI_LANES];
        const double at_most_one = a >= last || f > 1.0 ? 1.0 : f;
        if (how->rounded) {
            const double scaled = at_most_one * how->n_bins + (a >= last ? 0.0 : u);
            n[a] = scaled < how->n_bins ? (uint32_t)scaled : how->n_bins;
            /* a state of probability 0 must not get a part of [0, 1) */
            n[a] = p[(size_t)a * GBSI_LANES] > 0.0F ? n[a] : (a == 0 ? 0 : n[a - 1]);
        } else {
            n[a] = bin_of(how, at_most_one);
        }
        code = gbsi_mix64(code ^ n[a]) + a;
    }
    return code;
}

/* Goes through the states in order: the phase of state a decides between a and the states after a
 * (rule post). */
static uint32_t draw_stick(const gbsi_herd *herd, const float *p, uint32_t k, uint32_t lane,
                           uint32_t *phase)
{
    double rest = 0.0;
    uint32_t last = 0; /* last state of positive probability */
    for (uint32_t a = 0; a < k; ++a) {
        const float share = p[(size_t)a * GBSI_LANES];
        rest += (double)share;
        last = share > 0.0F ? a : last;
    }
    for (uint32_t a = 0; a < last; ++a) {
        const double share = (double)p[(size_t)a * GBSI_LANES];
        if (share == 0.0) {
            continue;
        }
        const double scaled = share / rest * 0x1p32 + 0.5;
        const uint32_t chance =
            scaled < 1.0 ? 1 : (scaled < 0x1p32 - 1.0 ? (uint32_t)scaled : UINT32_MAX);
        uint32_t *u = phase + (size_t)a * herd->lanes + lane;
        *u += chance;
        if (*u < chance) {
            return a;
        }
        /* `rest` must not become 0 before the last state of positive probability */
        rest = rest > share ? rest - share : share;
    }
    return last;
}

/* Updates a slot once. herd->how selects the method: a decision for one state after another
 * (stick), the state with the largest weight (argmax), the bounded rule, or random rounding.
 * @param p [k] conditional, of stride GBSI_LANES.
 * @param word random word, for rules that use one. @return the value. */
static uint32_t draw_one(gbsi_herd *herd, uint32_t slot, uint32_t group, uint32_t lane,
                         const float *p, uint32_t word)
{
    const gbsi_herding *how = &herd->how;
    const uint32_t k = gbsi_plan_arity(herd->plan, slot);
    uint32_t n[GBSI_MOST_BINNED];
    double share[GBSI_MOST_BINNED];
    const uint64_t code = key_of(how, p, k, word, n);
    gbsi_key_table *table = gbsi_herd_table(herd, slot, group);
    const size_t row_bytes = gbsi_herd_row_shape(herd, slot).bytes;
    uint32_t at = gbsi_key_table_find(table, code);
    const bool fresh = at == GBSI_NONE;
    if (fresh) {
        at = gbsi_key_table_add(table, code);
    }
    void *row = gbsi_key_table_row(table, at, row_bytes);
    if (gbsi_herding_sticks(how)) {
        if (fresh) {
            start_stick(herd, slot, group, code, n, row);
        }
        return draw_stick(herd, p, k, lane, row);
    }
    if (fresh) {
        start_vector(herd, slot, group, code, n, share, row);
    }
    for (uint32_t a = 0; a < k; ++a) {
        if (how->rounded) {
            const uint32_t low = a == 0 ? 0 : n[a - 1];
            share[a] = (double)((a == k - 1 ? how->n_bins : n[a]) - low) / how->n_bins;
        } else {
            share[a] = (double)p[(size_t)a * GBSI_LANES];
        }
    }
    return gbsi_herd_vector(how, share, (double *)row + (size_t)lane * k, k, word);
}

void gbsi_binned_row(gbsi_herd *herd, gbsi_tile *tile, uint32_t row)
{
    const uint32_t k = tile->arity;
    const uint32_t left = tile->lanes == 1 ? tile->n_places - GBSI_LANES * row : GBSI_LANES;
    for (uint32_t lane = 0; lane < GBSI_LANES && lane < left; ++lane) {
        const uint32_t place = tile->lanes == 1 ? GBSI_LANES * row + lane : row;
        const size_t cell = (size_t)row * GBSI_LANES + lane;
        const uint32_t slot = gbsi_tile_slot(tile, place);
        const uint32_t word = tile->word == NULL ? 0 : tile->word[cell];
        const float *p = tile->w + (size_t)row * k * GBSI_LANES + lane;
        const uint32_t value =
            ((uint32_t)tile->idle >> lane & 1u) != 0
                ? 0
                : draw_one(herd, slot, tile->group, tile->lanes == 1 ? 0 : lane, p, word);
        /* k is impossible: the caller has set the flag */
        const uint32_t kept = value < k ? value : 0;
        gbsi_herd_put(tile, cell, kept);
    }
}
