/* SPDX-License-Identifier: Apache-2.0 */
#include "condition/condition_inside.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "store/builder.h"
#include "store/factors.h"

/* Noisy factors with at most this number of configurations are written out as tables, because a
 * look-up is faster than computing the value. */
enum { SHORT_NOISY = 16 };

gbs_status gbsi_reducer_init(gbsi_reducer *reducer, const gbs_model *model,
                             const gbsi_propagator *domain, gbsi_conditioned *out, gbs_error *err)
{
    *reducer = (gbsi_reducer){.model = model, .domain = domain, .out = out};
    const size_t n = model->factors.n_tables;
    reducer->whole = gbsi_alloc_array(n, sizeof *reducer->whole);
    GBSI_PASS(GBSI_HAVE(err, "conditioned model", reducer->whole));
    memset(reducer->whole, 0xff, n * sizeof *reducer->whole);
    memset(reducer->described, 0xff, sizeof reducer->described);
    gbs_status status =
        gbsi_reserve((void **)(void *)&out->factors.table_start, &reducer->table_start_capacity, 1,
                     sizeof *out->factors.table_start, "conditioned model", err);
    if (status == GBS_OK) {
        out->factors.table_start[0] = 0;
        out->factors.scope_start[0] = 0;
    }
    return status;
}

void gbsi_reducer_clear(gbsi_reducer *reducer)
{
    GBSI_FREE(reducer->whole, reducer->slice, reducer->table_zeros);
}

/* ---- appending ----------------------------------------------------------------------------- */

static bool is_fixed(const gbsi_reducer *r, uint32_t v)
{
    return r->domain->size[v] == 1;
}

static uint32_t fixed_state(const gbsi_reducer *r, uint32_t v)
{
    return r->out->fixed_state[v];
}

/* Returns the number of a remaining state in the conditioned model, which is its rank among the
 * remaining states. */
static uint32_t reduced_state(const gbsi_reducer *r, uint32_t v, uint32_t state)
{
    const gbsi_propagator *d = r->domain;
    if (d->size[v] == d->of->arity[v]) {
        return state;
    }
    const uint64_t *word = &d->word[d->of->word_start[v]];
    uint32_t rank = 0;
    for (uint32_t w = 0; w < state / 64; ++w) {
        rank += (uint32_t)__builtin_popcountll(word[w]);
    }
    const uint64_t below = ((uint64_t)1 << (state % 64)) - 1;
    return rank + (uint32_t)__builtin_popcountll(word[state / 64] & below);
}

/* Adds a free variable to the factor being made. */
static void push(gbsi_reducer *r, uint32_t v, uint32_t literal)
{
    gbsi_factors *to = &r->out->factors;
    to->scope[r->scope_used] = r->out->free_variable[v];
    if (to->literal != NULL) {
        to->literal[r->scope_used] = literal;
    }
    ++r->scope_used;
}

static uint32_t n_pushed(const gbsi_reducer *r)
{
    return (uint32_t)(r->scope_used - r->out->factors.scope_start[r->out->factors.n_factors]);
}

/* Removes the entries that were pushed last, because the factor became a constant. */
static void drop(gbsi_reducer *r)
{
    r->scope_used = r->out->factors.scope_start[r->out->factors.n_factors];
}

static void finish(gbsi_reducer *r, size_t origin, gbs_factor_kind kind, double weight,
                   uint32_t aux)
{
    gbsi_factors *to = &r->out->factors;
    const size_t f = to->n_factors++;
    assert(r->scope_used > to->scope_start[f]);
    to->kind[f] = (uint8_t)kind;
    to->weight[f] = weight;
    to->aux[f] = aux;
    to->scope_start[f + 1] = r->scope_used;
    r->out->origin[f] = origin;
    r->out->has_zeros[f] =
        kind == GBS_FACTOR_TABLE ? r->table_zeros[aux] : (uint8_t)gbsi_factor_has_zeros(to, f);
}

static gbs_status constant(gbsi_reducer *r, size_t f, double value, gbs_error *err)
{
    drop(r);
    if (value == -INFINITY) {
        char scope[600];
        return gbsi_fail(err, GBS_ERR_IMPOSSIBLE,
                         "evidence has probability zero: factor %zu %s forbids every combination "
                         "that is left",
                         f, gbsi_scope_text(r->model, f, scope, sizeof scope));
    }
    r->out->log_constant += value;
    return GBS_OK;
}

/* ---- kinds --------------------------------------------------------------------------------- */

static gbs_status reduce_table_factor(gbsi_reducer *r, size_t f, gbs_error *err)
{
    const gbsi_factors *from = &r->model->factors;
    uint32_t table = GBSI_NONE;
    for (size_t i = from->scope_start[f]; i < from->scope_start[f + 1]; ++i) {
        if (!is_fixed(r, from->scope[i])) {
            push(r, from->scope[i], 0);
        }
    }
    if (n_pushed(r) == 0) {
        return constant(r, f, gbsi_factor_value(from, r->model->arity, f, r->out->fixed_state),
                        err);
    }
    const gbs_status status = gbsi_reduce_table(r, f, &table, err);
    if (status == GBS_OK) {
        finish(r, f, GBS_FACTOR_TABLE, 0.0, table);
    }
    return status;
}

/* Reduces fields, Ising factors and products of more spins. A spin that is fixed at -1 changes the
 * sign of the weight. */
static gbs_status reduce_spins(gbsi_reducer *r, size_t f, gbs_error *err)
{
    const gbsi_factors *from = &r->model->factors;
    bool odd = false;
    for (size_t i = from->scope_start[f]; i < from->scope_start[f + 1]; ++i) {
        const uint32_t v = from->scope[i];
        if (is_fixed(r, v)) {
            odd ^= fixed_state(r, v) == 0;
        } else {
            push(r, v, 0);
        }
    }
    const double weight = odd ? -from->weight[f] : from->weight[f];
    switch (n_pushed(r)) {
    case 0:
        return constant(r, f, weight, err);
    case 1:
        finish(r, f, GBS_FACTOR_FIELD, weight, 0);
        return GBS_OK;
    case 2:
        finish(r, f, GBS_FACTOR_ISING, weight, 0);
        return GBS_OK;
    default:
        finish(r, f, GBS_FACTOR_SPIN, weight, 0);
        return GBS_OK;
    }
}

static gbs_status reduce_potts(gbsi_reducer *r, size_t f, gbs_error *err)
{
    const gbsi_factors *from = &r->model->factors;
    const gbsi_propagator *d = r->domain;
    const uint32_t *scope = &from->scope[from->scope_start[f]];
    const uint64_t *a = &d->word[d->of->word_start[scope[0]]];
    const uint64_t *b = &d->word[d->of->word_start[scope[1]]];
    const size_t n = d->of->word_start[scope[0] + (size_t)1] - d->of->word_start[scope[0]];
    bool same = true;
    bool meet = false;
    uint32_t table = GBSI_NONE;
    for (size_t w = 0; w < n; ++w) {
        same &= a[w] == b[w];
        meet |= (a[w] & b[w]) != 0;
    }
    if (!meet) { /* the two variables have no remaining state in common and are never equal */
        return constant(r, f, 0.0, err);
    }
    for (unsigned end = 0; end < 2; ++end) {
        if (!is_fixed(r, scope[end])) {
            push(r, scope[end], 0);
        }
    }
    if (n_pushed(r) == 0) {
        return constant(r, f, from->weight[f], err);
    }
    if (same) {
        finish(r, f, GBS_FACTOR_POTTS, from->weight[f], 0);
        return GBS_OK;
    }
    const gbs_status status = gbsi_reduce_table(r, f, &table, err);
    if (status == GBS_OK) {
        finish(r, f, GBS_FACTOR_TABLE, 0.0, table);
    }
    return status;
}

/* Stores one description for logical factors of equal content. A small hash table finds most
 * repetitions; a later description replaces an earlier description of the same hash. */
static gbs_status describe_logical(gbsi_reducer *r, const gbsi_logical *wanted, uint32_t *id,
                                   gbs_error *err)
{
    gbsi_factors *to = &r->out->factors;
    const uint32_t hash = wanted->function * 3u + wanted->head * 64u + wanted->n_body * 5u +
                          wanted->n_body_true * 83u + wanted->k * 29u;
    uint32_t *place = &r->described[hash % GBSI_N_DESCRIBED];
    if (*place == GBSI_NONE || !gbsi_logical_same(&to->logical[*place], wanted)) {
        if (to->n_logical >= GBSI_NONE) {
            return gbsi_fail(err, GBS_ERR_LIMIT, "more logical factors than can be numbered");
        }
        GBSI_PASS(gbsi_reserve((void **)(void *)&to->logical, &r->logical_capacity,
                               to->n_logical + 1, sizeof *to->logical, "conditioned model", err));
        to->logical[to->n_logical] = *wanted;
        *place = (uint32_t)to->n_logical++;
    }
    *id = *place;
    return GBS_OK;
}

typedef enum fate { FATE_FALSE, FATE_TRUE, FATE_FREE } fate;

static fate literal_fate(const gbsi_reducer *r, uint32_t v, uint32_t state)
{
    if (!gbsi_propagator_has(r->domain, v, state)) {
        return FATE_FALSE;
    }
    return is_fixed(r, v) ? FATE_TRUE : FATE_FREE;
}

static gbs_status reduce_logical(gbsi_reducer *r, size_t f, gbs_error *err)
{
    const gbsi_factors *from = &r->model->factors;
    const size_t end = from->scope_start[f + 1];
    gbsi_logical left = from->logical[from->aux[f]];
    double value = 0.0;
    uint32_t id = 0;
    for (size_t i = from->scope_start[f]; i < end; ++i) {
        const uint32_t v = from->scope[i];
        const fate is = literal_fate(r, v, from->literal[i]);
        if (is == FATE_FREE) {
            push(r, v, reduced_state(r, v, from->literal[i]));
        } else if (i + 1 == end) {
            left.head = is == FATE_TRUE ? GBSI_HEAD_TRUE : GBSI_HEAD_FALSE;
        } else {
            left.n_body_true += is == FATE_TRUE;
        }
    }
    const bool folded = n_pushed(r) < end - from->scope_start[f];
    const bool single = n_pushed(r) == 1; /* a single literal is always equal to itself */
    if ((folded || single) && gbsi_logical_constant(&left, from->weight[f], n_pushed(r), &value)) {
        return constant(r, f, value, err);
    }
    const gbs_status status = describe_logical(r, &left, &id, err);
    if (status == GBS_OK) {
        finish(r, f, GBS_FACTOR_LOGICAL, from->weight[f], id);
    }
    return status;
}

/* ---- noisy factors ------------------------------------------------------------------------- */

/* Writes the logarithms of a parent's inhibitions in its remaining states. @return the end of
 * the written values. */
static double *keep_states(const gbsi_reducer *r, uint32_t v, const double *log_q, double *to)
{
    for (uint32_t a = gbsi_propagator_next(r->domain, v, 0); a != GBSI_NONE;
         a = gbsi_propagator_next(r->domain, v, a + 1)) {
        *to++ = log_q[a];
    }
    return to;
}

/* Splits a noisy factor if the evidence says that the effect is absent. The causes are then
 * independent, and each parent gets its own factor. */
static gbs_status split_noisy(gbsi_reducer *r, size_t f, const gbsi_noisy *noisy, gbs_error *err)
{
    const double *log_q = noisy->log_q + 1;
    for (uint32_t i = 0; i < noisy->n_parents; ++i) {
        const uint32_t v = noisy->parent[i];
        uint32_t table = 0;
        double *entry = NULL;
        if (!is_fixed(r, v)) {
            GBSI_PASS(gbsi_reducer_new_table(r, r->domain->size[v], &table, &entry, err));
            (void)keep_states(r, v, log_q, entry);
            gbsi_reducer_mark_zeros(r, table);
            push(r, v, 0);
            finish(r, f, GBS_FACTOR_TABLE, 0.0, table);
        }
        log_q += r->model->arity[v];
    }
    return GBS_OK;
}

/* Replaces the last factor of the conditioned model, and its table, by a full table if the factor
 * has few configurations. This factor uses the last table. */
static gbs_status tabulate_noisy(gbsi_reducer *r, gbs_error *err)
{
    gbsi_factors *to = &r->out->factors;
    const size_t f = to->n_factors - 1;
    const uint32_t n = (uint32_t)(to->scope_start[f + 1] - to->scope_start[f]);
    const uint32_t *scope = to->scope + to->scope_start[f];
    uint32_t at[SHORT_NOISY] = {0};
    double value[SHORT_NOISY];
    size_t n_entries = 1;
    double *entry = NULL;
    for (uint32_t i = 0; i < n && n_entries <= SHORT_NOISY; ++i) {
        n_entries *= r->out->arity[scope[i]];
    }
    if (n_entries > SHORT_NOISY) {
        return GBS_OK;
    }
    for (size_t e = 0; e < n_entries; ++e) {
        value[e] = gbsi_factor_value_at(to, r->out->arity, f, at);
        for (uint32_t i = n; i-- > 0 && ++at[i] == r->out->arity[scope[i]];) {
            at[i] = 0;
        }
    }
    --to->n_tables;
    const gbs_status status = gbsi_reducer_new_table(r, n_entries, &to->aux[f], &entry, err);
    if (status == GBS_OK) {
        memcpy(entry, value, n_entries * sizeof *entry);
        gbsi_reducer_mark_zeros(r, to->aux[f]);
        to->kind[f] = GBS_FACTOR_TABLE;
        to->weight[f] = 0.0;
        r->out->has_zeros[f] = r->table_zeros[to->aux[f]];
    }
    return status;
}

/* Fills the table of a reduced noisy factor. If no remaining state of a parent has inhibition 1,
 * the largest inhibition of these states becomes a factor of the leak. An absent effect is
 * therefore impossible only if the leak is zero. */
static void fill_noisy(const gbsi_reducer *r, const gbsi_noisy *noisy, double log_none,
                       double *entry)
{
    const double *log_q = noisy->log_q + 1;
    double *leak = entry++;
    for (uint32_t i = 0; i < noisy->n_parents; ++i) {
        const uint32_t v = noisy->parent[i];
        if (!is_fixed(r, v)) {
            double *end = keep_states(r, v, log_q, entry);
            double most = *entry;
            for (const double *e = entry; e < end; ++e) {
                most = *e > most ? *e : most;
            }
            log_none += most;
            for (; entry < end; ++entry) {
                *entry = most > -INFINITY ? *entry - most : 0.0;
            }
        }
        log_q += r->model->arity[v];
    }
    *leak = log_none;
}

/* Returns the roles of the child's remaining states, as a set of bits 1 << gbsi_noisy_part. */
static unsigned parts_left(const gbsi_reducer *r, const gbsi_noisy *noisy)
{
    unsigned parts = 0;
    for (uint32_t a = gbsi_propagator_next(r->domain, noisy->child, 0); a != GBSI_NONE;
         a = gbsi_propagator_next(r->domain, noisy->child, a + 1)) {
        parts |= 1u << gbsi_noisy_part_of(noisy->effect, noisy->falling, a);
    }
    return parts;
}

/* Makes a factor of the child and one parent, or of the child alone. Its log-weight is ln q in the
 * states of the child that mean no effect, and 0 in the other states. @param v the parent;
 * GBSI_NONE if the factor has none. */
static gbs_status pair_noisy(gbsi_reducer *r, size_t f, const gbsi_noisy *noisy, uint32_t v,
                             const double *log_q, gbs_error *err)
{
    const uint32_t n = r->domain->size[noisy->child];
    uint32_t table = 0;
    double *entry = NULL;
    uint32_t a = v == GBSI_NONE ? 0 : gbsi_propagator_next(r->domain, v, 0);
    GBSI_PASS(gbsi_reducer_new_table(r, (size_t)n * (v == GBSI_NONE ? 1 : r->domain->size[v]),
                                     &table, &entry, err));
    for (; a != GBSI_NONE; a = v == GBSI_NONE ? v : gbsi_propagator_next(r->domain, v, a + 1)) {
        for (uint32_t c = gbsi_propagator_next(r->domain, noisy->child, 0); c != GBSI_NONE;
             c = gbsi_propagator_next(r->domain, noisy->child, c + 1)) {
            const gbsi_noisy_part part = gbsi_noisy_part_of(noisy->effect, noisy->falling, c);
            *entry++ = part == GBSI_NOISY_NONE ? log_q[a] : 0.0;
        }
    }
    gbsi_reducer_mark_zeros(r, table);
    if (v != GBSI_NONE) {
        push(r, v, 0);
    }
    push(r, noisy->child, 0);
    finish(r, f, GBS_FACTOR_TABLE, 0.0, table);
    return GBS_OK;
}

/* Splits a level whose effect is ruled out. The leak and each free parent get a separate factor,
 * because no factor needs two parents together. */
static gbs_status split_level(gbsi_reducer *r, size_t f, const gbsi_noisy *noisy, double log_none,
                              gbs_error *err)
{
    gbs_status status = pair_noisy(r, f, noisy, GBSI_NONE, &log_none, err);
    const double *log_q = noisy->log_q + 1;
    for (uint32_t i = 0; i < noisy->n_parents && status >= 0; ++i) {
        if (!is_fixed(r, noisy->parent[i])) {
            status = pair_noisy(r, f, noisy, noisy->parent[i], log_q, err);
        }
        log_q += r->model->arity[noisy->parent[i]];
    }
    return status;
}

/* @param log_none log-probability that neither the leak nor a fixed parent has an effect.
 * @param n_entries number of entries of the reduced factor's table. */
static gbs_status reduce_effect(gbsi_reducer *r, size_t f, const gbsi_noisy *noisy, double log_none,
                                size_t n_entries, gbs_error *err)
{
    const gbs_factor_kind kind = (gbs_factor_kind)r->model->factors.kind[f];
    const bool observed = is_fixed(r, noisy->child);
    const bool graded = gbsi_noisy_is_graded(kind);
    uint32_t table = 0;
    double *entry = NULL;
    for (uint32_t i = 0; i < noisy->n_parents; ++i) {
        if (!is_fixed(r, noisy->parent[i])) {
            push(r, noisy->parent[i], 0);
        }
    }
    GBSI_PASS(gbsi_reducer_new_table(r, n_entries, &table, &entry, err));
    fill_noisy(r, noisy, log_none, entry);
    if (observed && (n_entries == 1 || *entry == -INFINITY)) {
        log_none = *entry;
        --r->out->factors.n_tables;
        return constant(r, f, gbsi_noisy_log(log_none, true), err);
    }
    if (!observed) {
        push(r, noisy->child, 0);
    }
    finish(r, f,
           observed         ? GBSI_FACTOR_EFFECT
           : !graded        ? kind
           : noisy->falling ? GBSI_FACTOR_FALLING
                            : GBSI_FACTOR_RISING,
           graded && !observed ? reduced_state(r, noisy->child, noisy->effect) : 0.0, table);
    return tabulate_noisy(r, err);
}

static gbs_status reduce_level(gbsi_reducer *r, size_t f, const gbsi_noisy *noisy, gbs_error *err)
{
    const unsigned parts = parts_left(r, noisy);
    const double *log_q = noisy->log_q + 1;
    double log_none = noisy->log_q[0];
    size_t n_entries = 1;
    for (uint32_t i = 0; i < noisy->n_parents; ++i) {
        const uint32_t v = noisy->parent[i];
        log_none += is_fixed(r, v) ? log_q[fixed_state(r, v)] : 0.0;
        n_entries += is_fixed(r, v) ? 0 : r->domain->size[v];
        log_q += r->model->arity[v];
    }
    if (parts == 1u << GBSI_NOISY_BEYOND) {
        return GBS_OK;
    }
    if (parts == 1u << GBSI_NOISY_NONE) {
        const gbs_status status = constant(r, f, log_none, err);
        return status < 0 ? status : split_noisy(r, f, noisy, err);
    }
    return (parts & 1u << GBSI_NOISY_EFFECT) == 0
               ? split_level(r, f, noisy, log_none, err)
               : reduce_effect(r, f, noisy, log_none, n_entries, err);
}

static gbs_status reduce_noisy(gbsi_reducer *r, size_t f, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_factors *from = &r->model->factors;
    const uint32_t n = gbsi_noisy_n_levels(from, r->model->arity, f);
    for (uint32_t level = 0; level < n && status >= 0; ++level) {
        const gbsi_noisy noisy = gbsi_noisy_level(from, r->model->arity, f, level);
        status = reduce_level(r, f, &noisy, err);
    }
    return status;
}

gbs_status gbsi_reduce_factor(gbsi_reducer *reducer, size_t factor, gbs_error *err)
{
    switch (reducer->model->factors.kind[factor]) {
    case GBS_FACTOR_TABLE:
        return reduce_table_factor(reducer, factor, err);
    case GBS_FACTOR_POTTS:
        return reduce_potts(reducer, factor, err);
    case GBS_FACTOR_LOGICAL:
        return reduce_logical(reducer, factor, err);
    case GBS_FACTOR_NOISY_OR:
    case GBS_FACTOR_NOISY_AND:
    case GBS_FACTOR_NOISY_MAX:
    case GBS_FACTOR_NOISY_MIN:
        return reduce_noisy(reducer, factor, err);
    default:
        return reduce_spins(reducer, factor, err);
    }
}

gbs_status gbsi_reduce_likelihood(gbsi_reducer *reducer, uint32_t variable,
                                  const double *log_likelihood, gbs_error *err)
{
    const gbsi_propagator *d = reducer->domain;
    const uint32_t first = gbsi_propagator_next(d, variable, 0);
    uint32_t table = GBSI_NONE;
    double *entry = NULL;
    bool flat = true;
    for (uint32_t a = first; a != GBSI_NONE; a = gbsi_propagator_next(d, variable, a + 1)) {
        assert(log_likelihood[a] != -INFINITY);
        flat &= log_likelihood[a] == log_likelihood[first];
    }
    if (flat) {
        reducer->out->log_constant += log_likelihood[first];
        return GBS_OK;
    }
    GBSI_PASS(gbsi_reducer_new_table(reducer, d->size[variable], &table, &entry, err));
    for (uint32_t a = first; a != GBSI_NONE; a = gbsi_propagator_next(d, variable, a + 1)) {
        *entry++ = log_likelihood[a];
    }
    push(reducer, variable, 0);
    finish(reducer, SIZE_MAX, GBS_FACTOR_TABLE, 0.0, table);
    return GBS_OK;
}
