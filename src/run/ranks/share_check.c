/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a share that was loaded: it may be forged, and no number in it may point outside its
 * arrays. */
#include "ranks/share.h"
#include "rng/philox.h"
#include "scan/scan.h"

/* Offsets that begin with 0 and never fall. */
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

static bool is_order(const gbs_share *s)
{
    const uint32_t n = s->part->n_variables;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; ++i) {
        sum += s->order[i];
    }
    for (uint32_t i = 1; i < n; ++i) {
        if (s->whole_slot[i - 1] >= s->whole_slot[i]) {
            return false;
        }
    }
    return are_below(s->order, n, n) && are_below(s->whole_slot, n, s->facts.n_free) &&
           sum == (uint64_t)n * (n - (uint64_t)1) / 2;
}

static bool variables_fit(const gbs_share *s)
{
    const gbsi_conditioned *p = s->part;
    const uint32_t n = p->n_variables;
    bool fine = n > 0 && ascend(p->state_offset, n) && is_order(s) &&
                are_below(p->user_variable, n, s->facts.n_user_variables) &&
                are_below(s->of_whole, n, s->facts.n_free);
    for (uint32_t u = 0; fine && u < n; ++u) {
        fine = p->arity[u] >= 2 && p->arity[u] <= s->user_arity[u] &&
               p->arity[u] <= s->facts.max_arity && s->user_arity[u] <= s->facts.max_user_arity &&
               p->state_offset[u + (size_t)1] - p->state_offset[u] == p->arity[u] &&
               are_below(p->user_state + p->state_offset[u], p->arity[u], s->user_arity[u]) &&
               (u == 0 || p->user_variable[u - 1] < p->user_variable[u]);
    }
    return fine;
}

/* Entries that a table of the scope of factor i has. */
static uint64_t entries_of(const gbsi_conditioned *p, size_t i)
{
    const gbsi_factors *f = &p->factors;
    uint64_t n = 1;
    for (size_t e = f->scope_start[i]; e < f->scope_start[i + 1] && n < UINT64_C(1) << 40; ++e) {
        n *= p->arity[f->scope[e]];
    }
    return n;
}

/* 1 of the leak and those of the parents; the child is last, unless it is observed. */
static uint64_t inhibitions_of(const gbsi_conditioned *p, size_t i)
{
    const gbsi_factors *f = &p->factors;
    const size_t end = f->scope_start[i + 1] - (f->kind[i] == GBSI_FACTOR_EFFECT ? 0 : 1);
    uint64_t n = 1;
    for (size_t e = f->scope_start[i]; e < end; ++e) {
        n += p->arity[f->scope[e]];
    }
    return n;
}

static bool factor_fits(const gbsi_conditioned *p, size_t i)
{
    const gbsi_factors *f = &p->factors;
    const size_t n = f->scope_start[i + 1] - f->scope_start[i];
    if (n == 0 || !are_below(f->scope + f->scope_start[i], n, p->n_variables)) {
        return false;
    }
    switch (f->kind[i]) {
    case GBS_FACTOR_TABLE:
        return f->aux[i] < f->n_tables &&
               f->table_start[f->aux[i] + (size_t)1] - f->table_start[f->aux[i]] ==
                   entries_of(p, i);
    case GBS_FACTOR_LOGICAL:
        return f->literal != NULL && f->aux[i] < f->n_logical;
    case GBS_FACTOR_FIELD:
        return n == 1 && entries_of(p, i) == 2;
    case GBS_FACTOR_ISING:
        return n == 2 && entries_of(p, i) == 4;
    case GBS_FACTOR_POTTS:
        return n == 2 &&
               p->arity[f->scope[f->scope_start[i]]] == p->arity[f->scope[f->scope_start[i] + 1]];
    case GBS_FACTOR_SPIN:
        return true;
    default:
        return gbsi_is_noisy(f->kind[i]) && f->aux[i] < f->n_tables &&
               f->table_start[f->aux[i] + (size_t)1] - f->table_start[f->aux[i]] >=
                   inhibitions_of(p, i);
    }
}

static bool factors_fit(const gbs_share *s)
{
    const gbsi_factors *f = &s->part->factors;
    bool fine = ascend(f->scope_start, f->n_factors) && ascend(f->table_start, f->n_tables);
    for (size_t i = 0; fine && i < f->n_factors; ++i) {
        fine = factor_fits(s->part, i);
    }
    for (size_t i = 0; fine && i < f->n_logical; ++i) {
        fine = gbsi_logical_known(f->logical[i].function) && f->logical[i].head <= GBSI_HEAD_TRUE;
    }
    return fine;
}

/* Pieces one after the other, each of own slots of one arity. */
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
    return fine && place == schedule->n_places;
}

static bool lists_fit(const gbs_share *s)
{
    const size_t n = (size_t)s->facts.n_batches * s->n_neighbours;
    const uint32_t n_slots = s->part->n_variables;
    return s->facts.n_ranks <= UINT32_MAX && s->rank < s->facts.n_ranks &&
           are_below(s->neighbour, s->n_neighbours, s->facts.n_ranks) && ascend(s->out.start, n) &&
           ascend(s->in.start, n) && are_below(s->out.slot, s->out.start[n], n_slots) &&
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
    bool fine = are_below(s->fixed_variable, s->n_fixed, s->facts.n_user_variables);
    for (uint32_t i = 0; fine && i < s->n_fixed; ++i) {
        fine = s->fixed_state[i] < s->fixed_arity[i] &&
               s->fixed_arity[i] <= s->facts.max_user_arity &&
               (i == 0 || s->fixed_variable[i - 1] < s->fixed_variable[i]);
    }
    return fine;
}

gbs_status gbsi_share_check(const gbs_share *s, gbs_error *err)
{
    const gbs_status status = gbsi_places_check(s->facts.n_places, err); /* of the whole */
    if (status < 0) {
        return status;
    }
    const bool fine =
        s->facts.n_user_variables <= UINT32_MAX && s->facts.max_user_arity <= GBS_MAX_ARITY &&
        s->facts.max_arity <= GBS_MAX_ARITY && gbsi_scan_of((int)s->facts.scan) != NULL &&
        variables_fit(s) && factors_fit(s) && schedule_fits(s) && lists_fit(s) && fixed_fit(s) &&
        starts_fit(s);
    return fine ? GBS_OK : gbsi_fail(err, GBS_ERR_FORMAT, "share: its numbers do not fit together");
}
