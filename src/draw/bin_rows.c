/* SPDX-License-Identifier: Apache-2.0 */
/* What follows the papers for two states is done here for more [M32] [M28]. With the distribution
 * function F_a = p_0 + .. + p_a and B bins, the key of an update is (n_0, .., n_{K-2}):
 *     stick, argmax   n_a = bin of F_a
 *     rounded         n_a = floor(B F_a + U), U uniform: then p is replaced by (n_a - n_{a-1}) / B
 * and a key has K - 1 phases (stick: state a or one of those after it, one after another) or a
 * vector of K weights (argmax, rounded, bounded: Chen et al. 2016, algorithm 1). */
#include "draw/bin_rows.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/status.h"
#include "plan/kernel.h"

static bool is_stick(const gbsi_herding *how)
{
    return !how->argmax && !how->rounded && !how->bounded;
}

static size_t row_bytes_of(const gbsi_herd *herd, uint32_t slot)
{
    const size_t k = gbsi_plan_arity(herd->plan, slot);
    return is_stick(&herd->how) ? (k - 1) * herd->lanes * sizeof(uint32_t)
                                : k * herd->lanes * sizeof(double);
}

static gbsi_row_shape row_shape_of(const gbsi_herd *herd, uint32_t slot)
{
    return (gbsi_row_shape){.bytes = row_bytes_of(herd, slot),
                            .number = is_stick(&herd->how) ? sizeof(uint32_t) : sizeof(double)};
}

static uint32_t many_slots(const gbsi_plan *plan)
{
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        n += gbsi_plan_arity(plan, slot) > 2;
    }
    return n;
}

/* ---- size ------------------------------------------------------------------------------------ */

/* Ways to choose n_0 <= .. <= n_{K-2} of 0 .. most, (most + K - 1) over (K - 1); saturating. */
static double n_keys(uint32_t k, uint32_t most)
{
    double n = 1.0;
    for (uint32_t i = 1; i < k && n < 1e18; ++i) {
        n = n * (most + i) / i;
    }
    return n;
}

uint64_t gbsi_bin_rows_bytes(const gbsi_draw_job *job)
{
    const gbsi_plan *plan = job->plan;
    const gbsi_herding how = gbsi_herding_of(job->options, plan->n_slots);
    const uint32_t most = how.rounded ? how.n_bins : how.n_bins - 1;
    double bytes = 0.0;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        const double k = gbsi_plan_arity(plan, slot);
        const double row = is_stick(&how) ? (k - 1.0) * 4.0 : k * 8.0;
        if (gbsi_plan_arity(plan, slot) > 2) {
            bytes += 4.0 * (n_keys(gbsi_plan_arity(plan, slot), most) + job->lanes) *
                     (12.0 + row * job->lanes / 2.0) * job->n_groups;
        }
    }
    return bytes < 9e18 ? (uint64_t)bytes : UINT64_MAX;
}

gbs_status gbsi_bin_rows_new(gbsi_herd *herd, gbs_error *err)
{
    const gbsi_plan *plan = herd->plan;
    const uint32_t n = many_slots(plan);
    uint32_t number = 0;
    if (n == 0) {
        return GBS_OK;
    }
    if (plan->max_arity > GBSI_MOST_BINNED) {
        return gbsi_fail(err, GBS_ERR_LIMIT,
                         "--draw: herding by bins holds variables of up to %u states, found "
                         "%u: use --draw herded",
                         GBSI_MOST_BINNED, plan->max_arity);
    }
    if (is_stick(&herd->how) && !herd->how.post) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "--herd-rule: pre is for two states, or for more with --bin-rule "
                         "argmax");
    }
    herd->many = gbsi_alloc_array(plan->n_slots, sizeof *herd->many);
    herd->visits = gbsi_alloc_array_zero(plan->n_slots, sizeof *herd->visits);
    if (herd->many == NULL || herd->visits == NULL) {
        return gbsi_no_memory(err, "herding weights", plan->n_slots * sizeof *herd->many);
    }
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        herd->many[slot] = gbsi_plan_arity(plan, slot) > 2 ? number++ : GBSI_NONE;
    }
    herd->n_many = n;
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        herd->group[g].table = gbsi_alloc_array_zero(n, sizeof *herd->group[g].table);
        if (herd->group[g].table == NULL) {
            return gbsi_no_memory(err, "herding weights", n * sizeof *herd->group[g].table);
        }
    }
    return GBS_OK;
}

void gbsi_bin_rows_free(gbsi_herd *herd)
{
    for (uint32_t g = 0; herd->group != NULL && g < herd->n_groups; ++g) {
        for (size_t t = 0; herd->group[g].table != NULL && t < herd->n_many; ++t) {
            gbsi_key_table_free(&herd->group[g].table[t]);
        }
    }
    gbsi_free(herd->many);
}

static gbs_status no_room(const gbsi_herd *herd, uint32_t slot, uint64_t bytes, gbs_error *err)
{
    char text[80];
    char wanted[16];
    char room[16];
    gbsi_bytes_text((double)bytes, wanted);
    gbsi_bytes_text((double)herd->room, room);
    return gbsi_fail(err, GBS_ERR_LIMIT,
                     "the herding weights met so far would take %s with those of variable %s; "
                     "there is room for %s: fewer --bins or --chains, or a larger --memory-limit",
                     wanted, gbsi_slot_text(herd->plan, slot, text), room);
}

static gbs_status grow(gbsi_herd *herd, uint32_t slot, uint32_t g, uint32_t visits, gbs_error *err)
{
    gbsi_key_table *table = &herd->group[g].table[herd->many[slot]];
    const size_t row_bytes = row_bytes_of(herd, slot);
    const size_t wanted = table->n_codes + (size_t)visits * herd->lanes;
    if (wanted <= table->capacity / 2) {
        return GBS_OK;
    }
    const uint64_t old =
        table->capacity == 0 ? 0 : gbsi_key_table_bytes(table->capacity / 2, row_bytes, false);
    const uint64_t bytes = gbsi_key_table_bytes(wanted, row_bytes, false);
    if (wanted >= GBSI_NONE || herd->taken + bytes > herd->room) { /* both stand while one moves */
        return no_room(herd, slot, herd->taken + bytes, err);
    }
    const gbs_status status = gbsi_key_table_reserve(table, wanted, row_bytes, false, err);
    herd->taken += status == GBS_OK ? bytes - old : 0;
    return status;
}

gbs_status gbsi_bin_rows_begin_pass(gbsi_herd *herd, const gbsi_schedule *schedule, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (herd->many == NULL) {
        return GBS_OK;
    }
    gbsi_schedule_count(herd->plan, schedule, herd->visits);
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        for (uint32_t slot = 0; slot < herd->plan->n_slots; ++slot) {
            if (herd->many[slot] != GBSI_NONE) {
                GBSI_TRY(grow(herd, slot, g, herd->visits[slot], err));
            }
        }
    }
cleanup:
    return status;
}

gbs_status gbsi_bin_rows_expect(gbsi_herd *herd, uint32_t slot, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const bool tabled = herd->many != NULL && herd->many[slot] != GBSI_NONE;
    for (uint32_t g = 0; tabled && g < herd->n_groups; ++g) {
        GBSI_TRY(grow(herd, slot, g, 1, err));
    }
cleanup:
    return status;
}

gbs_status gbsi_bin_rows_save(const gbsi_herd *herd, const gbsi_sink *sink, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        for (uint32_t slot = 0; herd->many != NULL && slot < herd->plan->n_slots; ++slot) {
            if (herd->many[slot] != GBSI_NONE) {
                GBSI_TRY(gbsi_key_table_save(&herd->group[g].table[herd->many[slot]],
                                             row_shape_of(herd, slot), false, sink, err));
            }
        }
    }
cleanup:
    return status;
}

gbs_status gbsi_bin_rows_load(gbsi_herd *herd, const gbsi_source *source, gbs_error *err)
{
    gbs_status status = GBS_OK;
    for (uint32_t g = 0; g < herd->n_groups; ++g) {
        for (uint32_t slot = 0; herd->many != NULL && slot < herd->plan->n_slots; ++slot) {
            if (herd->many[slot] != GBSI_NONE) {
                gbsi_key_table *table = &herd->group[g].table[herd->many[slot]];
                const gbsi_row_shape row = row_shape_of(herd, slot);
                GBSI_TRY(
                    gbsi_key_table_load(table, row, false, herd->room - herd->taken, source, err));
                herd->taken += gbsi_key_table_bytes(table->capacity / 2, row.bytes, false);
            }
        }
    }
cleanup:
    return status;
}

/* ---- starts ------------------------------------------------------------------------------------
 */

/* What a key says of p: the mean of those in its bins, and something for every state, so that no
 * weight starts at an end. */
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
        if (herd->how.rounded) { /* p itself */
            const uint32_t low = a == 0 ? 0 : n[a - 1];
            p[a] = (double)((a == k - 1 ? herd->how.n_bins : n[a]) - low) / herd->how.n_bins;
        } else {
            p[a] = mean_share(&herd->how, n, k, a);
        }
    }
    gbsi_herd_start_vectors(herd, slot, group, code, p, vector);
}

/* ---- drawing ----------------------------------------------------------------------------------
 */

/* F_a to a bin, (b/B, (b+1)/B] or [b/B, (b+1)/B), as of two states. */
static uint32_t bin_of(const gbsi_herding *how, double f)
{
    const double scaled = f * how->n_bins;
    const double whole = (double)(uint64_t)scaled;
    const double bin = how->left_edge || whole < scaled ? whole : whole - 1.0;
    const double last = how->n_bins - 1.0;
    return bin < 0.0 ? 0 : (uint32_t)(bin < last ? bin : last);
}

/* The key of p, and its code. @param n [k - 1] out. */
static uint64_t key_of(const gbsi_herding *how, const float *p, uint32_t k, uint32_t word,
                       uint32_t *n)
{
    const double u = ((double)word + 0.5) * 0x1p-32;
    uint64_t code = k;
    double f = 0.0;
    uint32_t last = k - 1; /* of positive probability: what follows it gets nothing by rounding */
    while (last > 0 && !(p[(size_t)last * GBSI_LANES] > 0.0F)) {
        --last;
    }
    for (uint32_t a = 0; a + 1 < k; ++a) {
        f += (double)p[(size_t)a * GBSI_LANES];
        const double at_most_one = a >= last || f > 1.0 ? 1.0 : f;
        if (how->rounded) {
            const double scaled = at_most_one * how->n_bins + (a >= last ? 0.0 : u);
            n[a] = scaled < how->n_bins ? (uint32_t)scaled : how->n_bins;
            /* nothing for a state of probability 0 */
            n[a] = p[(size_t)a * GBSI_LANES] > 0.0F ? n[a] : (a == 0 ? 0 : n[a - 1]);
        } else {
            n[a] = bin_of(how, at_most_one);
        }
        code = gbsi_mix64(code ^ n[a]) + a;
    }
    return code;
}

/* State a, or one of those after it, each by its own phase, rule post. */
static uint32_t draw_stick(const gbsi_herd *herd, const float *p, uint32_t k, uint32_t lane,
                           uint32_t *phase)
{
    double rest = 0.0;
    uint32_t last = 0; /* of positive probability */
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
        rest = rest > share ? rest - share : share; /* never 0: something follows */
    }
    return last;
}

uint32_t gbsi_bin_rows_draw(gbsi_herd *herd, uint32_t slot, uint32_t group, uint32_t lane,
                            const float *p, uint32_t word)
{
    const gbsi_herding *how = &herd->how;
    const uint32_t k = gbsi_plan_arity(herd->plan, slot);
    uint32_t n[GBSI_MOST_BINNED];
    double share[GBSI_MOST_BINNED];
    const uint64_t code = key_of(how, p, k, word, n);
    gbsi_key_table *table = &herd->group[group].table[herd->many[slot]];
    const size_t row_bytes = row_bytes_of(herd, slot);
    uint32_t at = gbsi_key_table_find(table, code);
    const bool fresh = at == GBSI_NONE;
    if (fresh) {
        at = gbsi_key_table_add(table, code);
    }
    void *row = gbsi_key_table_row(table, at, row_bytes);
    if (is_stick(how)) {
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

void gbsi_bin_rows_row(gbsi_herd *herd, gbsi_tile *tile, uint32_t row)
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
            (tile->idle >> lane & 1u) != 0
                ? 0
                : gbsi_bin_rows_draw(herd, slot, tile->group, tile->lanes == 1 ? 0 : lane, p, word);
        const uint32_t kept = value < k ? value : 0; /* impossible: flagged by who called */
        if (tile->value_bytes == 1) {
            ((uint8_t *)tile->value)[cell] = (uint8_t)kept;
        } else {
            ((uint16_t *)tile->value)[cell] = (uint16_t)kept;
        }
    }
}
