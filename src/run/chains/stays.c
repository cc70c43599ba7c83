/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the states of a slot in several lanes at once, as whole numbers of eight bytes. Lanes
 * are compared one by one only if a stay becomes long, or if a long stay ends. */
#include "chains/stays.h"

#include <string.h>

#include "base/memory.h"

_Static_assert(sizeof(gbsi_cell_stays) == 5 * sizeof(uint64_t), "ranks add them up as numbers");

static size_t cells_of(uint32_t arity)
{
    return arity == 2 ? 1 : arity;
}

static size_t count_cells(const gbsi_plan *plan)
{
    size_t n = 0;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        n += cells_of(gbsi_plan_arity(plan, slot));
    }
    return n;
}

uint64_t gbsi_stays_bytes(const gbsi_plan *plan, uint32_t n_chains)
{
    if (plan == NULL || plan->n_slots > GBSI_MOST_STAYS) {
        return 0;
    }
    const uint64_t row = (uint64_t)gbsi_lanes_of(n_chains) * gbsi_groups_of(n_chains);
    return plan->n_slots * (row * (plan->value_bytes + 1 + sizeof(uint64_t)) + sizeof(size_t)) +
           2 * count_cells(plan) * sizeof(gbsi_cell_stays);
}

gbs_status gbsi_stays_take(const gbsi_executor *x, uint64_t n_whole, gbsi_stays *s, gbs_error *err)
{
    const gbsi_plan *plan = x->plan;
    if (n_whole > GBSI_MOST_STAYS) {
        return GBS_OK;
    }
    s->row = (size_t)x->n_groups * x->lanes;
    s->n_cells = count_cells(plan);
    s->cell = gbsi_alloc_array((size_t)plan->n_slots + 1, sizeof *s->cell);
    s->before = gbsi_alloc_array_zero(plan->n_slots * s->row, plan->value_bytes);
    s->lasted = gbsi_alloc_array_zero(plan->n_slots * s->row, 1);
    s->since = gbsi_alloc_array_zero(plan->n_slots * s->row, sizeof *s->since);
    s->n = gbsi_alloc_array_zero(s->n_cells, sizeof *s->n);
    s->all = gbsi_alloc_array_zero(s->n_cells, sizeof *s->all);
    GBSI_PASS(GBSI_HAVE(err, "stays", s->cell, s->before, s->lasted, s->since, s->n, s->all));
    size_t cell = 0;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        s->cell[slot] = cell;
        cell += cells_of(gbsi_plan_arity(plan, slot));
    }
    s->cell[plan->n_slots] = cell;
    s->n_slots = plan->n_slots;
    return GBS_OK;
}

void gbsi_stays_free(gbsi_stays *s)
{
    gbsi_free(s->cell);
    gbsi_free(s->before);
    gbsi_free(s->lasted);
    gbsi_free(s->since);
    gbsi_free(s->n);
    gbsi_free(s->all);
    *s = (gbsi_stays){0};
}

static const uint8_t *states_of(const gbsi_executor *x, uint32_t g, uint32_t slot)
{
    return (const uint8_t *)x->group[g].state + (size_t)slot * x->lanes * x->plan->value_bytes;
}

void gbsi_stays_begin(const gbsi_executor *x, gbsi_stays *s)
{
    if (s->begun || s->n_slots == 0) {
        return;
    }
    const size_t bytes = (size_t)x->lanes * x->plan->value_bytes;
    for (uint32_t slot = 0; slot < s->n_slots; ++slot) {
        for (uint32_t g = 0; g < x->n_groups; ++g) {
            memcpy(s->before + slot * s->row * x->plan->value_bytes + g * bytes,
                   states_of(x, g, slot), bytes);
        }
    }
    s->begun = true;
}

/* ---- one stay -------------------------------------------------------------------------------- */

static void add(gbsi_stay *stay, uint64_t length)
{
    const uint64_t units = length / GBSI_STAY_UNIT;
    stay->length += length;
    stay->square += units * units;
}

static void add_stay(const gbsi_executor *x, const gbsi_stays *s, uint32_t slot, uint32_t state,
                     uint64_t length, gbsi_cell_stays *to)
{
    const uint32_t arity = gbsi_plan_arity(x->plan, slot);
    to += s->cell[slot];
    if (arity == 2) { /* a binary variable has a single cell, which belongs to state 1 */
        add(state == 1 ? &to->in : &to->out, length);
        return;
    }
    for (uint32_t a = 0; a < arity; ++a) {
        add(a == state ? &to[a].in : &to[a].out, length);
    }
}

/* Number of lanes of a group that are chains rather than padding. */
static uint32_t real_lanes(const gbsi_executor *x, uint32_t g)
{
    const uint32_t left = x->n_chains - g * x->lanes;
    return left < x->lanes ? left : x->lanes;
}

/* ---- a pass ---------------------------------------------------------------------------------- */

/* Updates the lanes of a slot one by one: in some lane a stay becomes long, or a long stay ends. */
static void look_closely(const gbsi_executor *x, gbsi_stays *s, uint32_t slot, uint32_t g,
                         const uint8_t *changed)
{
    const size_t at = slot * s->row + (size_t)g * x->lanes;
    const uint32_t bytes = x->plan->value_bytes;
    for (uint32_t lane = 0; lane < real_lanes(x, g); ++lane) {
        const size_t i = at + lane;
        if (!changed[lane] && s->lasted[i] == GBSI_LONG_STAY - 1) {
            s->since[i] = s->pass - GBSI_LONG_STAY * GBSI_STAY_EACH;
        } else if (changed[lane] && s->lasted[i] == GBSI_LONG_STAY) {
            add_stay(x, s, slot, gbsi_state_at(s->before, i, bytes),
                     s->pass - GBSI_STAY_EACH - s->since[i], s->n);
        }
    }
}

/* @param n_bytes number of bytes of one state. @return whether one of n lanes needs look_closely().
 */
static bool find_changes(const uint8_t *now, const uint8_t *before, const uint8_t *lasted,
                         uint32_t n, uint32_t n_bytes, uint8_t *changed)
{
    bool close = false;
    for (uint32_t i = 0; i < n; ++i) {
        changed[i] = memcmp(now + (size_t)i * n_bytes, before + (size_t)i * n_bytes, n_bytes) != 0;
        close |= lasted[i] == (changed[i] ? GBSI_LONG_STAY : GBSI_LONG_STAY - 1);
    }
    return close;
}

static void go_on(uint8_t *lasted, const uint8_t *changed, uint32_t n)
{
    for (uint32_t i = 0; i < n; ++i) {
        const uint8_t longer = (uint8_t)(lasted[i] + (lasted[i] < GBSI_LONG_STAY));
        lasted[i] = changed[i] ? 0 : longer;
    }
}

static void count_group(const gbsi_executor *x, gbsi_stays *s, uint32_t slot, uint32_t g)
{
    uint8_t changed[GBSI_LANES];
    const uint32_t bytes = x->plan->value_bytes;
    const size_t at = slot * s->row + (size_t)g * x->lanes;
    const uint8_t *now = states_of(x, g, slot);
    uint8_t *before = s->before + at * bytes;
    if (find_changes(now, before, s->lasted + at, x->lanes, bytes, changed)) {
        look_closely(x, s, slot, g, changed);
    }
    for (uint32_t lane = 0; lane < real_lanes(x, g); ++lane) {
        s->n[s->cell[slot]].changes += changed[lane];
    }
    go_on(s->lasted + at, changed, x->lanes);
    memcpy(before, now, (size_t)x->lanes * bytes);
}

/* Counts changes in sixteen lanes, whose states have one byte each, in loops that compilers turn
 * into a few vector instructions. A byte of `lasted` says how long the present stay has lasted: bit
 * 6 marks a long stay, and bit 7 is free. @param next new values of the bytes of `lasted`. @param
 * n_changed number of lanes whose state changed.
 * @return whether a lane needs look_closely(); n_changed is then undefined. */
static bool count_row(const uint8_t *now, const uint8_t *before, const uint8_t *lasted,
                      uint8_t *next, uint64_t *n_changed)
{
    const uint64_t one = UINT64_C(0x0101010101010101);
    uint8_t changed[GBSI_LANES];
    uint8_t close[GBSI_LANES];
    uint64_t half[4];
    for (uint32_t i = 0; i < GBSI_LANES; ++i) {
        changed[i] = now[i] != before[i];
        const uint8_t is_long = lasted[i] >> 6;
        const uint8_t longer = (uint8_t)(lasted[i] + 1 - is_long);
        close[i] = (uint8_t)((longer >> 6) & (changed[i] ^ is_long ^ 1));
        next[i] = (uint8_t)(longer & (changed[i] - 1));
    }
    memcpy(half, changed, sizeof changed);
    memcpy(half + 2, close, sizeof close);
    *n_changed = ((half[0] + half[1]) * one) >> 56;
    return (half[2] | half[3]) != 0;
}

_Static_assert(GBSI_LONG_STAY == 64 && GBSI_LANES == 16, "by count_row()");

static void count_slots(const gbsi_executor *x, gbsi_stays *s, uint32_t g)
{
    const bool by_rows = real_lanes(x, g) == GBSI_LANES && x->plan->value_bytes == 1;
    const uint8_t *now = states_of(x, g, 0);
    uint8_t *before = s->before + (size_t)g * GBSI_LANES;
    uint8_t *lasted = s->lasted + (size_t)g * GBSI_LANES;
    for (uint32_t slot = 0; slot < s->n_slots; ++slot) {
        uint8_t next[GBSI_LANES];
        uint64_t n_changed = 0;
        if (by_rows && !count_row(now, before, lasted, next, &n_changed)) {
            s->n[s->cell[slot]].changes += n_changed;
            memcpy(before, now, GBSI_LANES);
            memcpy(lasted, next, GBSI_LANES);
        } else {
            count_group(x, s, slot, g);
        }
        if (by_rows) {
            now += GBSI_LANES;
            before += s->row;
            lasted += s->row;
        }
    }
}

void gbsi_stays_count(const gbsi_executor *x, gbsi_stays *s)
{
    ++s->pass;
    const bool looks = s->n_slots > 0 && s->pass % GBSI_STAY_EACH == 0;
    for (uint32_t g = 0; looks && g < x->n_groups; ++g) {
        count_slots(x, s, g);
    }
}

/* ---- all of them ----------------------------------------------------------------------------- */

gbs_status gbsi_stays_sum_up(const gbsi_executor *x, gbsi_stays *s, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (s->n_slots == 0) {
        return GBS_OK;
    }
    memcpy(s->all, s->n, s->n_cells * sizeof *s->all);
    for (uint32_t slot = 0; slot < s->n_slots; ++slot) {
        for (size_t i = slot * s->row; i < slot * s->row + x->n_chains; ++i) {
            if (s->lasted[i] == GBSI_LONG_STAY) {
                add_stay(x, s, slot, gbsi_state_at(s->before, i, x->plan->value_bytes),
                         s->pass - s->since[i], s->all);
            }
        }
        for (size_t cell = s->cell[slot] + 1; cell < s->cell[slot + (size_t)1]; ++cell) {
            s->all[cell].changes = s->all[s->cell[slot]].changes;
        }
    }
    if (x->ranks != NULL && x->weave == NULL) {
        uint64_t *number = (uint64_t *)s->all;
        GBSI_TRY(x->ranks->combine(x->ranks->context, GBS_COMBINE_SUM_U64, number,
                                   s->n_cells * sizeof *s->all / sizeof *number, err));
    }
cleanup:
    return status;
}
