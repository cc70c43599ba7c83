/* SPDX-License-Identifier: Apache-2.0 */
/* The maxima of one factor for the states of one of its variables [M83]. Tables take time linear in
 * their entries, Potts factors in their states, noisy factors in their parents, and counts of
 * literals the square of the literals. gbsi_decompose() has replaced long clauses, cardinalities
 * and parities by chains, so that counts are short. */
#include "variational/bound_inside.h"

#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "simd/math.h"

/* Largest number of states of a factor without a table that gets a table here. */
#define SHORT_FACTOR 64u
#define SHORT_NOISY  1024u
/* Largest number of literals that are counted; longer factors are taken by their maximum. */
#define MOST_LITERALS 256u
/* Covers the rounding errors of a tangent, relative to the terms of its sum. */
#define TANGENT_SLACK 1e-12

static size_t scope_of(const gbsi_conditioned *model, size_t f, const uint32_t **scope)
{
    const size_t first = model->factors.scope_start[f];
    *scope = model->factors.scope + first;
    return model->factors.scope_start[f + 1] - first;
}

/* ---- what a factor needs --------------------------------------------------------------------- */

/* Returns the number of states of a factor, or UINT64_MAX / 2 if there are more. */
static uint64_t n_states(const gbsi_conditioned *model, size_t f)
{
    const uint32_t *scope = NULL;
    const size_t n = scope_of(model, f, &scope);
    uint64_t states = 1;
    for (size_t i = 0; i < n; ++i) {
        const uint64_t arity = model->arity[scope[i]];
        states = states > UINT64_MAX / 2 / arity ? UINT64_MAX / 2 : states * arity;
    }
    return states;
}

gbsi_bound_needs gbsi_bound_needs_of(const gbsi_conditioned *model, size_t f)
{
    const gbsi_factors *factors = &model->factors;
    const unsigned kind = factors->kind[f];
    const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
    const uint64_t states = n_states(model, f);
    if (kind == GBS_FACTOR_TABLE) {
        return (gbsi_bound_needs){GBSI_BOUND_TABLE, 0, states, 2.0 * (double)states};
    }
    if (kind == GBS_FACTOR_POTTS) {
        return (gbsi_bound_needs){GBSI_BOUND_POTTS, 0, 0,
                                  2.0 * model->arity[factors->scope[factors->scope_start[f]]]};
    }
    if (states <= (gbsi_is_noisy(kind) ? SHORT_NOISY : SHORT_FACTOR)) {
        return (gbsi_bound_needs){GBSI_BOUND_TABLE, states, states, 2.0 * (double)states};
    }
    if (gbsi_is_noisy(kind)) {
        const size_t *table = factors->table_start + factors->aux[f];
        return (gbsi_bound_needs){GBSI_BOUND_TANGENT, 2, 0, 4.0 * (double)(table[1] - table[0])};
    }
    if (n <= MOST_LITERALS) {
        return (gbsi_bound_needs){GBSI_BOUND_COUNT, 0, n + 1, (double)(n * n)};
    }
    return (gbsi_bound_needs){.way = GBSI_BOUND_PLAIN};
}

/* Fills the table of a short factor. */
static void fill_table(const gbsi_conditioned *model, size_t f, double *table)
{
    const uint32_t *scope = NULL;
    const size_t n = scope_of(model, f, &scope);
    uint32_t at[16] = {
        0}; /* SHORT_NOISY states of variables with two states or more: ten of them */
    size_t i = 0;
    do {
        *table++ = gbsi_factor_value_at(&model->factors, model->arity, f, at);
        for (i = n; i > 0 && ++at[i - 1] == model->arity[scope[i - 1]]; --i) {
            at[i - 1] = 0;
        }
    } while (i > 0);
}

/* Returns the tangent at the point at which only the strongest cause acts. The exact slope is
 * -e^s / (1 - e^s); the constant covers the difference. */
static gbsi_bound_tangent tangent_of(const gbsi_noisy *noisy, size_t n_entries)
{
    double strongest = 0.0;
    for (size_t i = 1; i < n_entries; ++i) {
        strongest = noisy->log_q[i] < strongest ? noisy->log_q[i] : strongest;
    }
    double s = noisy->log_q[0] + strongest;
    s = s < GBSI_BOUND_FLOOR ? GBSI_BOUND_FLOOR : s > -1e-6 ? -1e-6 : s;
    const double slope = gbsi_exp(s) / gbsi_expm1(s);
    const double reach = 1.0 + fabs(slope) * (1.0 - GBSI_BOUND_FLOOR) * ((double)n_entries + 1.0);
    return (gbsi_bound_tangent){
        .slope = slope, .constant = gbsi_noisy_log(s, true) - slope * s + TANGENT_SLACK * reach};
}

static double magnitude_of(const double *entry, size_t n)
{
    double most = 0.0;
    for (size_t e = 0; e < n; ++e) {
        most = isfinite(entry[e]) ? gbsi_larger(most, fabs(entry[e])) : most;
    }
    return most;
}

static double noisy_magnitude(const gbsi_noisy *noisy, size_t n_entries, gbsi_bound_tangent t)
{
    double sum = 0.0;
    for (size_t i = 0; i < n_entries; ++i) {
        sum += isfinite(noisy->log_q[i]) ? fabs(noisy->log_q[i]) : -GBSI_BOUND_FLOOR;
    }
    return sum * (1.0 + fabs(t.slope)) + fabs(t.constant);
}

void gbsi_bound_prepare(gbsi_bound *b, size_t f)
{
    const gbsi_factors *factors = &b->model->factors;
    const size_t *table = factors->table_start + factors->aux[f];
    double *own = b->own + b->own_start[f];
    switch ((gbsi_bound_way)b->way[f]) {
    case GBSI_BOUND_TABLE:
        if (b->own_start[f + 1] > b->own_start[f]) {
            fill_table(b->model, f, own);
            b->magnitude[f] = magnitude_of(own, b->own_start[f + 1] - b->own_start[f]);
        } else {
            b->magnitude[f] = magnitude_of(factors->table + table[0], table[1] - table[0]);
        }
        (void)gbsi_watch_spend(b->watch, n_states(b->model, f));
        break;
    case GBSI_BOUND_TANGENT: {
        const gbsi_noisy noisy = gbsi_noisy_of(factors, f);
        const gbsi_bound_tangent t = tangent_of(&noisy, table[1] - table[0]);
        memcpy(own, &t, sizeof t);
        b->magnitude[f] = noisy_magnitude(&noisy, table[1] - table[0], t);
        break;
    }
    case GBSI_BOUND_PLAIN:
        b->magnitude[f] = gbsi_bound_largest(b->model, f);
        break;
    default: { /* every function has absolute values of at most the number of literals */
        const double n = (double)(factors->scope_start[f + 1] - factors->scope_start[f]);
        const double literals = factors->kind[f] == GBS_FACTOR_LOGICAL
                                    ? gbsi_larger(factors->logical[factors->aux[f]].n_body + 1.0, n)
                                    : 1.0;
        b->magnitude[f] = isfinite(factors->weight[f]) ? fabs(factors->weight[f]) * literals : 0.0;
        break;
    }
    }
}

/* ---- tables and Potts factors ---------------------------------------------------------------- */

/* Eliminates the variables after `position`, the last first, and then those before it. */
static void table_maxima(gbsi_bound *b, size_t f, size_t position)
{
    const gbsi_factors *factors = &b->model->factors;
    const size_t first = factors->scope_start[f];
    const size_t n = factors->scope_start[f + 1] - first;
    const bool own = b->own_start[f + 1] > b->own_start[f];
    const double *from =
        own ? b->own + b->own_start[f] : factors->table + factors->table_start[factors->aux[f]];
    size_t size = n_states(b->model, f);
    (void)gbsi_watch_spend(b->watch, size);
    for (size_t i = n; i-- > position + 1; from = b->work) {
        const double *g = b->g + b->start[first + i];
        const size_t k = b->model->arity[factors->scope[first + i]];
        size /= k;
        for (size_t r = 0; r < size; ++r) {
            double most = from[r * k] + g[0];
            for (size_t a = 1; a < k; ++a) {
                most = gbsi_larger(most, from[r * k + a] + g[a]);
            }
            b->work[r] = most;
        }
    }
    for (size_t i = 0; i < position; ++i, from = b->work) {
        const double *g = b->g + b->start[first + i];
        const size_t k = b->model->arity[factors->scope[first + i]];
        size /= k;
        for (size_t r = 0; r < size; ++r) {
            double most = from[r] + g[0];
            for (size_t a = 1; a < k; ++a) {
                most = gbsi_larger(most, from[a * size + r] + g[a]);
            }
            b->work[r] = most;
        }
    }
    memcpy(b->out, from, size * sizeof *b->out);
}

/* max_b ([a = b] J + g(b)) is the larger of J + g(a) and the largest g of the other states. */
static void potts_maxima(gbsi_bound *b, size_t f, size_t position)
{
    const gbsi_factors *factors = &b->model->factors;
    const size_t first = factors->scope_start[f];
    const uint32_t k = b->model->arity[factors->scope[first]];
    const double *g = b->g + b->start[first + 1 - position];
    uint32_t top = 0;
    double second = -INFINITY;
    for (uint32_t a = 1; a < k; ++a) {
        second = gbsi_larger(second, g[a] > g[top] ? g[top] : g[a]);
        top = g[a] > g[top] ? a : top;
    }
    for (uint32_t a = 0; a < k; ++a) {
        b->out[a] = gbsi_larger(factors->weight[f] + g[a], a == top ? second : g[top]);
    }
    (void)gbsi_watch_spend(b->watch, k);
}

/* ---- counts of literals ---------------------------------------------------------------------- */

/* The largest g of the states that make a literal true, and of those that make it false. */
typedef struct literal_maxima {
    double is_true, is_false;
} literal_maxima;

/* Returns the state that counts: a literal's true state, or state 0 of a spin. */
static uint32_t counted_state(const gbsi_factors *factors, size_t f, size_t e)
{
    return factors->kind[f] == GBS_FACTOR_LOGICAL ? factors->literal[e] : 0;
}

static literal_maxima literal_of(const gbsi_bound *b, size_t f, size_t e)
{
    const gbsi_factors *factors = &b->model->factors;
    const uint32_t counted = counted_state(factors, f, e);
    const double *g = b->g + b->start[e];
    literal_maxima m = {-INFINITY, -INFINITY};
    for (uint32_t a = 0; a < b->model->arity[factors->scope[e]]; ++a) {
        if (a == counted) {
            m.is_true = g[a];
        } else {
            m.is_false = gbsi_larger(m.is_false, g[a]);
        }
    }
    return m;
}

/* Returns ln psi of a factor whose free body has k true literals, or whose scope has k spins in
 * state 0. */
static double counted_value(const gbsi_factors *factors, size_t f, uint32_t k, bool head)
{
    if (factors->kind[f] != GBS_FACTOR_LOGICAL) {
        return k % 2 != 0 ? -factors->weight[f] : factors->weight[f];
    }
    const gbsi_logical *l = &factors->logical[factors->aux[f]];
    return gbsi_logical_value(l, factors->weight[f], l->n_body_true + k,
                              l->head == GBSI_HEAD_FREE ? head : l->head == GBSI_HEAD_TRUE);
}

/* Sets work[k] to the largest sum of g of the body's free literals, except the one at `position`,
 * of which k are true. @return the number of these literals. */
static uint32_t count_others(gbsi_bound *b, size_t f, size_t first, size_t body_end,
                             size_t position)
{
    double *sum = b->work;
    uint32_t n = 0;
    sum[0] = 0.0;
    for (size_t e = first; e < body_end; ++e) {
        if (e != first + position) {
            const literal_maxima m = literal_of(b, f, e);
            sum[n + 1] = sum[n] + m.is_true;
            for (uint32_t k = n; k > 0; --k) {
                sum[k] = gbsi_larger(sum[k] + m.is_false, sum[k - 1] + m.is_true);
            }
            sum[0] += m.is_false;
            ++n;
        }
    }
    return n;
}

/* Computes the maxima from the sums of count_others(). @param own_true 1 if the literal at the
 * position belongs to the body and is true. @param head the largest g of a false and a true head.
 */
static double best_count(const gbsi_bound *b, size_t f, uint32_t n, uint32_t own_true,
                         const double head[2])
{
    double most = -INFINITY;
    for (uint32_t k = 0; k <= n; ++k) {
        for (uint32_t h = 0; h < 2; ++h) {
            if (head[h] > -INFINITY) {
                most = gbsi_larger(most,
                                   b->work[k] + head[h] +
                                       counted_value(&b->model->factors, f, k + own_true, h != 0));
            }
        }
    }
    return most;
}

static void count_maxima(gbsi_bound *b, size_t f, size_t position)
{
    const gbsi_factors *factors = &b->model->factors;
    const size_t first = factors->scope_start[f];
    const size_t end = factors->scope_start[f + 1];
    const bool free_head = factors->kind[f] == GBS_FACTOR_LOGICAL &&
                           factors->logical[factors->aux[f]].head == GBSI_HEAD_FREE;
    const size_t body_end = end - (free_head ? 1 : 0);
    const bool is_head = first + position == body_end;
    const uint32_t n = count_others(b, f, first, body_end, position);
    const literal_maxima m =
        free_head && !is_head ? literal_of(b, f, body_end) : (literal_maxima){-INFINITY, 0.0};
    double value[2];
    for (uint32_t is_true = 0; is_true < 2; ++is_true) {
        const double as_head[2] = {is_true ? -INFINITY : 0.0, is_true ? 0.0 : -INFINITY};
        const double as_body[2] = {m.is_false, m.is_true};
        value[is_true] = best_count(b, f, n, is_head ? 0 : is_true, is_head ? as_head : as_body);
    }
    const uint32_t counted = counted_state(factors, f, first + position);
    for (uint32_t a = 0; a < b->model->arity[factors->scope[first + position]]; ++a) {
        b->out[a] = value[a == counted];
    }
    (void)gbsi_watch_spend(b->watch, (uint64_t)n * n + 8);
}

/* ---- noisy factors --------------------------------------------------------------------------- */

/* The sums of maxima of a noisy factor for each role of the child's state. */
typedef struct roles {
    double at[3]; /* by gbsi_noisy_part */
} roles;

static double floored(double log_q)
{
    return gbsi_larger(log_q, GBSI_BOUND_FLOOR);
}

/* Returns the terms of one state of a parent: ln q if no cause takes effect, slope * ln q on the
 * tangent, and 0 if the child is beyond the effect. */
static roles terms_of(double log_q, double slope)
{
    return (roles){.at = {[GBSI_NOISY_NONE] = log_q,
                          [GBSI_NOISY_EFFECT] = slope * floored(log_q),
                          [GBSI_NOISY_BEYOND] = 0.0}};
}

/* Adds the largest terms of all parents except the one at `position`. */
static roles sum_parents(const gbsi_bound *b, size_t f, const gbsi_noisy *noisy,
                         gbsi_bound_tangent t, size_t position)
{
    const double *log_q = noisy->log_q + 1;
    roles sum = terms_of(noisy->log_q[0], t.slope);
    sum.at[GBSI_NOISY_EFFECT] += t.constant;
    for (size_t i = 0; i < noisy->n_parents; ++i) {
        const uint32_t k = b->model->arity[noisy->parent[i]];
        const double *g = b->g + b->start[b->model->factors.scope_start[f] + i];
        roles most = {{-INFINITY, -INFINITY, -INFINITY}};
        for (uint32_t a = 0; a < k; ++a) {
            const roles term = terms_of(log_q[a], t.slope);
            for (int r = 0; r < 3; ++r) {
                most.at[r] = gbsi_larger(most.at[r], term.at[r] + g[a]);
            }
        }
        for (int r = 0; r < 3 && i != position; ++r) {
            sum.at[r] += most.at[r];
        }
        log_q += k;
    }
    return sum;
}

static gbsi_noisy_part part_of(const gbsi_noisy *noisy, uint32_t state)
{
    return gbsi_noisy_part_of(noisy->effect, noisy->falling, state);
}

static void tangent_maxima(gbsi_bound *b, size_t f, size_t position)
{
    const gbsi_noisy noisy = gbsi_noisy_of(&b->model->factors, f);
    const size_t first = b->model->factors.scope_start[f];
    gbsi_bound_tangent t;
    memcpy(&t, b->own + b->own_start[f], sizeof t);
    roles sum = sum_parents(b, f, &noisy, t, position);
    (void)gbsi_watch_spend(b->watch, 4 * (uint64_t)noisy.n_parents);
    if (position == noisy.n_parents) {
        for (uint32_t a = 0; a < b->model->arity[noisy.child]; ++a) {
            b->out[a] = sum.at[part_of(&noisy, a)];
        }
        return;
    }
    roles child = {{-INFINITY, noisy.child == GBSI_NONE ? 0.0 : -INFINITY, -INFINITY}};
    for (uint32_t a = 0; noisy.child != GBSI_NONE && a < b->model->arity[noisy.child]; ++a) {
        double *most = &child.at[part_of(&noisy, a)];
        *most = gbsi_larger(*most, b->g[b->start[first + noisy.n_parents] + a]);
    }
    const double *log_q = noisy.log_q + 1;
    for (size_t i = 0; i < position; ++i) {
        log_q += b->model->arity[noisy.parent[i]];
    }
    for (uint32_t a = 0; a < b->model->arity[noisy.parent[position]]; ++a) {
        const roles term = terms_of(log_q[a], t.slope);
        b->out[a] = -INFINITY;
        for (int r = 0; r < 3; ++r) {
            b->out[a] = gbsi_larger(b->out[a], sum.at[r] + child.at[r] + term.at[r]);
        }
    }
}

/* ---- one factor ------------------------------------------------------------------------------ */

void gbsi_bound_maxima(gbsi_bound *b, size_t f, size_t position)
{
    switch ((gbsi_bound_way)b->way[f]) {
    case GBSI_BOUND_TABLE:
        table_maxima(b, f, position);
        break;
    case GBSI_BOUND_POTTS:
        potts_maxima(b, f, position);
        break;
    case GBSI_BOUND_COUNT:
        count_maxima(b, f, position);
        break;
    case GBSI_BOUND_TANGENT:
        tangent_maxima(b, f, position);
        break;
    default:
        break; /* a plain factor sends no messages */
    }
}

/* Returns the largest of ln N without a cause, of ln(1 - N) with the strongest causes, and of 0
 * beyond the effect, as far as the child has states of these roles. */
static double noisy_largest(const gbsi_conditioned *model, size_t f)
{
    const gbsi_noisy noisy = gbsi_noisy_of(&model->factors, f);
    const double *log_q = noisy.log_q + 1;
    double none = noisy.log_q[0];
    double effect = noisy.log_q[0];
    for (uint32_t i = 0; i < noisy.n_parents; ++i) {
        double least = log_q[0];
        double most = log_q[0];
        for (uint32_t a = 0; a < model->arity[noisy.parent[i]]; ++a, ++log_q) {
            least = *log_q < least ? *log_q : least;
            most = gbsi_larger(most, *log_q);
        }
        none += most;
        effect += least;
    }
    double largest = noisy.child == GBSI_NONE ? gbsi_noisy_log(effect, true) : -INFINITY;
    for (uint32_t a = 0; noisy.child != GBSI_NONE && a < model->arity[noisy.child]; ++a) {
        const gbsi_noisy_part part = part_of(&noisy, a);
        largest =
            gbsi_larger(largest, gbsi_noisy_value(part == GBSI_NOISY_EFFECT ? effect : none, part));
    }
    return largest == -INFINITY
               ? largest
               : largest + TANGENT_SLACK * (1.0 + noisy.n_parents) * (1.0 + fabs(largest));
}

double gbsi_bound_largest(const gbsi_conditioned *model, size_t f)
{
    const gbsi_factors *factors = &model->factors;
    const uint32_t n = (uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]);
    double most = -INFINITY;
    if (factors->kind[f] == GBS_FACTOR_TABLE) {
        const size_t *table = factors->table_start + factors->aux[f];
        for (size_t e = table[0]; e < table[1]; ++e) {
            most = gbsi_larger(most, factors->table[e]);
        }
        return most;
    }
    if (factors->kind[f] == GBS_FACTOR_POTTS) {
        return gbsi_larger(0.0, factors->weight[f]);
    }
    if (gbsi_is_noisy(factors->kind[f])) {
        return noisy_largest(model, f);
    }
    if (factors->kind[f] != GBS_FACTOR_LOGICAL) {
        return fabs(factors->weight[f]);
    }
    const bool free_head = factors->logical[factors->aux[f]].head == GBSI_HEAD_FREE;
    for (uint32_t k = 0; k <= n - free_head; ++k) {
        most = gbsi_larger(most, gbsi_larger(counted_value(factors, f, k, false),
                                             counted_value(factors, f, k, true)));
    }
    return most;
}
