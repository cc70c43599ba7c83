/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a share that was loaded. The file may be forged, and no number in it may point outside the
 * arrays. */
#include <math.h>

#include "ranks/share.h"
#include "rng/philox.h"
#include "scan/scan.h"
#include "store/checks.h"

/* Whether offsets begin with 0 and never decrease. */
static bool ascend(const size_t *start, size_t n)
{
    bool fine = start[0] == 0;
    for (size_t i = 0; fine && i < n; ++i) {
        fine = start[i] <= start[i + 1];
    }
    return fine;
}

static bool are_below(const uint32_t *number, size_t n, uint64_t limit)
{
    bool fine = true;
    for (size_t i = 0; fine && i < n; ++i) {
        fine = number[i] < limit;
    }
    return fine;
}

/* Sums that show whether the numbers 0 .. n - 1 occur once each, in any order. Each sum is added up
 * over all ranks. */
typedef struct tally {
    uint64_t n, sum, squares;
} tally;

static void add(tally *t, uint64_t number)
{
    t->n++;
    t->sum += number;
    t->squares += number * number;
}

/* Whether the sums equal the sums of 0 .. n - 1. The sum of squares is n (n - 1) (2 n - 1) / 6,
 * modulo 2^64. @param n below 2^32. */
static bool is_each_once(const tally *t, uint64_t n)
{
    const uint64_t sum = n == 0 ? 0 : n * (n - 1) / 2;
    const uint64_t odd = 2 * n - 1;
    const uint64_t squares = sum % 3 == 0 ? sum / 3 * odd : sum * (odd / 3);
    return t->n == n && t->sum == sum && t->squares == squares;
}

/* Whether each number is larger than the number before. */
static bool rise(const uint32_t *number, size_t n)
{
    bool fine = true;
    for (size_t i = 1; fine && i < n; ++i) {
        fine = number[i - 1] < number[i];
    }
    return fine;
}

static bool is_order(const gbs_share *s)
{
    const uint32_t n = s->part->n_variables;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; ++i) {
        sum += s->order[i];
    }
    return rise(s->whole_slot, n) && are_below(s->order, n, n) &&
           are_below(s->whole_slot, n, s->facts.n_free) &&
           sum == (uint64_t)n * (n - (uint64_t)1) / 2;
}

static bool variables_fit(const gbs_share *s)
{
    const gbsi_conditioned *p = s->part;
    const uint32_t n = p->n_variables;
    bool fine = n > 0 && ascend(p->state_offset, n) && is_order(s) && rise(p->user_variable, n) &&
                are_below(p->user_variable, n, s->facts.n_user_variables) &&
                are_below(s->of_whole, n, s->facts.n_free);
    for (uint32_t u = 0; fine && u < n; ++u) {
        fine = p->arity[u] >= 2 && p->arity[u] <= s->user_arity[u] && s->own[u] <= 1 &&
               p->arity[u] <= s->facts.max_arity && s->user_arity[u] <= s->facts.max_user_arity &&
               p->state_offset[u + (size_t)1] - p->state_offset[u] == p->arity[u] &&
               are_below(p->user_state + p->state_offset[u], p->arity[u], s->user_arity[u]) &&
               rise(p->user_state + p->state_offset[u], p->arity[u]);
    }
    return fine;
}

/* Number of entries of a table over the scope of factor i. */
static uint64_t entries_of(const gbsi_conditioned *p, size_t i)
{
    const gbsi_factors *f = &p->factors;
    uint64_t n = 1;
    for (size_t e = f->scope_start[i]; e < f->scope_start[i + 1] && n < UINT64_C(1) << 40; ++e) {
        n *= p->arity[f->scope[e]];
    }
    return n;
}

/* Whether a noisy factor is well formed. There must be an inhibition for the leak and for every
 * parent state, and each must be at most 1. The child must be last in the scope, unless it is
 * observed, and the effect must be one of its states. */
static bool noisy_fits(const gbsi_conditioned *p, size_t i)
{
    const gbsi_factors *f = &p->factors;
    if (f->aux[i] >= f->n_tables || !(f->weight[i] >= 0.0 && f->weight[i] <= GBS_MAX_ARITY)) {
        return false;
    }
    const gbsi_noisy noisy = gbsi_noisy_of(f, i);
    const size_t has = f->table_start[f->aux[i] + (size_t)1] - f->table_start[f->aux[i]];
    const uint64_t levels = gbsi_noisy_n_levels(f, p->arity, i);
    uint64_t n = 1;
    for (uint32_t e = 0; e < noisy.n_parents; ++e) {
        n += p->arity[noisy.parent[e]];
    }
    bool fine =
        has >= n * levels && (noisy.child == GBSI_NONE || noisy.effect < p->arity[noisy.child]);
    for (size_t e = 0; fine && e < has; ++e) {
        fine = noisy.log_q[e] <= 0.0;
    }
    return fine;
}

/* Whether a logical factor is well formed. The literals must name states that exist, and there must
 * be no more literals than the file contains. The factor may be hard only if its kind allows hard
 * factors. */
static bool logical_fits(const gbsi_conditioned *p, size_t i)
{
    const gbsi_factors *f = &p->factors;
    bool fine = f->literal != NULL && f->aux[i] < f->n_logical;
    for (size_t e = f->scope_start[i]; fine && e < f->scope_start[i + 1]; ++e) {
        fine = f->literal[e] < p->arity[f->scope[e]];
    }
    if (!fine) {
        return false;
    }
    const gbsi_logical *l = &f->logical[f->aux[i]];
    const size_t n_body =
        f->scope_start[i + 1] - f->scope_start[i] - (l->head == GBSI_HEAD_FREE ? 1 : 0);
    return n_body + l->n_body_true <= l->n_body &&
           (isfinite(f->weight[i]) || gbsi_logical_may_be_hard(l->function));
}

static bool are_spins(const gbsi_conditioned *p, size_t i, size_t n)
{
    const gbsi_factors *f = &p->factors;
    bool fine = n == 0 || f->scope_start[i + 1] - f->scope_start[i] == n;
    for (size_t e = f->scope_start[i]; fine && e < f->scope_start[i + 1]; ++e) {
        fine = p->arity[f->scope[e]] == 2;
    }
    return fine;
}

/* Whether the weight of a factor is allowed. Weights of logical factors may be infinite, for
 * conditions that must hold. Weights of equal states may be minus infinity, for states that must
 * differ. */
static bool weight_fits(const gbsi_factors *f, size_t i)
{
    return fabs(f->weight[i]) <= GBS_MAX_LOG_WEIGHT ||
           (f->kind[i] == GBS_FACTOR_LOGICAL && f->weight[i] == INFINITY) ||
           (f->kind[i] == GBS_FACTOR_POTTS && f->weight[i] == -INFINITY);
}

static bool factor_fits(const gbsi_conditioned *p, size_t i)
{
    const gbsi_factors *f = &p->factors;
    const size_t n = f->scope_start[i + 1] - f->scope_start[i];
    if (n == 0 || !are_below(f->scope + f->scope_start[i], n, p->n_variables) ||
        !weight_fits(f, i)) {
        return false;
    }
    switch (f->kind[i]) {
    case GBS_FACTOR_TABLE:
        return f->aux[i] < f->n_tables &&
               f->table_start[f->aux[i] + (size_t)1] - f->table_start[f->aux[i]] ==
                   entries_of(p, i);
    case GBS_FACTOR_LOGICAL:
        return logical_fits(p, i);
    case GBS_FACTOR_FIELD:
        return are_spins(p, i, 1);
    case GBS_FACTOR_ISING:
        return are_spins(p, i, 2);
    case GBS_FACTOR_POTTS:
        return n == 2 &&
               p->arity[f->scope[f->scope_start[i]]] == p->arity[f->scope[f->scope_start[i] + 1]];
    case GBS_FACTOR_SPIN:
        return are_spins(p, i, 0);
    default:
        return gbsi_is_noisy(f->kind[i]) && noisy_fits(p, i);
    }
}

static bool entries_fit(const gbsi_factors *f)
{
    size_t bad = 0;
    return f->n_tables == 0 ||
           gbsi_check_entries(0, f->table_start[f->n_tables], f->table, &bad, NULL) >= 0;
}

static bool factors_fit(const gbs_share *s)
{
    const gbsi_factors *f = &s->part->factors;
    bool fine = ascend(f->scope_start, f->n_factors) && ascend(f->table_start, f->n_tables) &&
                entries_fit(f) && isfinite(s->facts.log_constant);
    for (size_t i = 0; fine && i < f->n_factors; ++i) {
        fine = factor_fits(s->part, i);
    }
    for (size_t i = 0; fine && i < f->n_logical; ++i) {
        fine = gbsi_logical_known(f->logical[i].function) && f->logical[i].head <= GBSI_HEAD_TRUE;
    }
    return fine;
}

/* Checks that piece i begins at the end of the previous piece, and that its slots are own slots of
 * one arity. */
static bool piece_fits(const gbs_share *s, size_t i, uint64_t place)
{
    const gbsi_piece *p = &s->schedule.piece[i];
    bool fine = p->place == place && p->n > 0 && p->n <= s->schedule.n_places - place &&
                s->global[i] < s->facts.n_places && p->n <= s->facts.n_places - s->global[i] &&
                p->class_id < GBSI_N_CLASSES;
    for (uint32_t k = 0; fine && k < p->n; ++k) {
        const uint32_t slot = s->schedule.slot[place + k];
        const uint32_t u = s->order[slot];
        fine = s->own[u] != 0 && s->part->arity[u] == p->arity &&
               (p->contiguous == 0 || slot == p->first_slot + k);
    }
    return fine;
}

/* Whether every own variable is updated exactly once; always true if facts.each_once is 0. */
static bool updates_fit(const gbs_share *s)
{
    tally updated = {0};
    tally own = {0};
    for (uint64_t i = 0; i < s->schedule.n_places; ++i) {
        add(&updated, s->order[s->schedule.slot[i]]);
    }
    for (uint32_t u = 0; u < s->part->n_variables; ++u) {
        if (s->own[u] != 0) {
            add(&own, u);
        }
    }
    return s->facts.each_once == 0 ||
           (updated.n == own.n && updated.sum == own.sum && updated.squares == own.squares);
}

static bool schedule_fits(const gbs_share *s)
{
    const gbsi_schedule *schedule = &s->schedule;
    uint64_t place = 0;
    bool fine = schedule->n_batches < UINT32_MAX &&
                ascend(schedule->batch_start, schedule->n_batches) &&
                schedule->batch_start[schedule->n_batches] == schedule->n_pieces &&
                are_below(schedule->slot, schedule->n_places + 16, s->part->n_variables);
    for (size_t i = 0; fine && i < schedule->n_pieces; ++i) {
        fine = piece_fits(s, i, place);
        place += schedule->piece[i].n;
    }
    return fine && place == schedule->n_places && updates_fit(s);
}

static bool lists_fit(const gbs_share *s)
{
    const size_t n = (size_t)s->facts.n_batches * s->n_neighbours;
    const uint32_t n_slots = s->part->n_variables;
    bool fine = s->facts.n_ranks <= UINT32_MAX && s->rank < s->facts.n_ranks &&
                rise(s->neighbour, s->n_neighbours);
    for (uint32_t j = 0; fine && j < s->n_neighbours; ++j) {
        fine = s->neighbour[j] != s->rank; /* no rank sends to itself */
    }
    return fine && are_below(s->neighbour, s->n_neighbours, s->facts.n_ranks) &&
           ascend(s->out.start, n) && ascend(s->in.start, n) &&
           are_below(s->out.slot, s->out.start[n], n_slots) &&
           are_below(s->in.slot, s->in.start[n], n_slots);
}

static bool starts_fit(const gbs_share *s)
{
    const size_t n = s->part->n_variables;
    bool fine = true;
    for (size_t i = 0; fine && i < s->facts.n_starts * n; ++i) {
        fine = s->start[i] < s->part->arity[i % n];
    }
    return fine;
}

static bool fixed_fit(const gbs_share *s)
{
    const gbsi_conditioned *p = s->part;
    uint32_t u = 0;
    bool fine = are_below(s->fixed_variable, s->n_fixed, s->facts.n_user_variables) &&
                rise(s->fixed_variable, s->n_fixed) && (s->rank == 0 || s->n_fixed == 0);
    for (uint32_t i = 0; fine && i < s->n_fixed; ++i) {
        while (u < p->n_variables && p->user_variable[u] < s->fixed_variable[i]) {
            ++u;
        }
        fine = s->fixed_state[i] < s->fixed_arity[i] &&
               s->fixed_arity[i] <= s->facts.max_user_arity &&
               (u == p->n_variables || p->user_variable[u] != s->fixed_variable[i]);
    }
    return fine;
}

gbs_status gbsi_share_check(const gbs_share *s, gbs_error *err)
{
    const gbs_status status = gbsi_places_check(
        s->facts.n_places, err); /* number of places in the schedule of the whole model */
    if (status < 0) {
        return status;
    }
    const bool fine =
        s->facts.n_user_variables <= UINT32_MAX && s->facts.max_user_arity <= GBS_MAX_ARITY &&
        s->facts.n_free <= UINT32_MAX && s->facts.max_arity <= GBS_MAX_ARITY &&
        gbsi_scan_of((int)s->facts.scan) != NULL && variables_fit(s) && factors_fit(s) &&
        schedule_fits(s) && lists_fit(s) && fixed_fit(s) && starts_fit(s);
    return fine ? GBS_OK : gbsi_fail(err, GBS_ERR_FORMAT, "share: its numbers do not fit together");
}

gbs_status gbsi_share_check_plan(const gbs_share *s, const gbsi_plan *plan, gbs_error *err)
{
    bool fine = true;
    for (size_t i = 0; fine && i < s->schedule.n_pieces; ++i) {
        const gbsi_piece *p = &s->schedule.piece[i];
        for (uint32_t k = 0; fine && k < p->n; ++k) {
            const uint32_t slot = s->schedule.slot[p->place + k];
            fine = p->class_id == (uint8_t)gbsi_plan_class(plan, slot) &&
                   p->form == (uint8_t)gbsi_plan_form(plan, slot);
        }
    }
    return fine ? GBS_OK
                : gbsi_fail(err, GBS_ERR_FORMAT, "%s%sits updates are not those of its model",
                            s->path == NULL ? "share" : s->path, ": ");
}

gbs_status gbsi_share_check_owners(const gbs_share *s, const gbs_ranks *ranks, gbs_error *err)
{
    enum { USER, SLOT, N_KINDS };
    tally of[N_KINDS] = {{0}};
    for (uint32_t slot = 0; slot < s->part->n_variables; ++slot) {
        if (s->own[s->order[slot]] != 0) {
            add(&of[USER], s->part->user_variable[s->order[slot]]);
            add(&of[SLOT], s->whole_slot[slot]);
        }
    }
    for (uint32_t i = 0; i < s->n_fixed; ++i) {
        add(&of[USER], s->fixed_variable[i]);
    }
    const gbs_status status =
        ranks->combine(ranks->context, GBS_COMBINE_SUM_U64, of, sizeof of / 8, err);
    const bool fine = is_each_once(&of[USER], s->facts.n_user_variables) &&
                      is_each_once(&of[SLOT], s->facts.n_free);
    return status < 0 || fine
               ? status
               : gbsi_fail(err, GBS_ERR_FORMAT, "%s%ssome variable is in no share, or in two",
                           s->path == NULL ? "share" : s->path, ": ");
}
