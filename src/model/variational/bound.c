/* SPDX-License-Identifier: Apache-2.0 */
#include "variational/bound.h"

#include <float.h>
#include <math.h>

#include "base/extremes.h"
#include "base/memory.h"
#include "variational/bound_inside.h"

/* Rounds that lower the bound by less than this, relative to 1 + its size, are idle; the bound is
 * settled after MOST_IDLE of them in turn. */
#define LEAST_GAIN 1e-9
#define MOST_IDLE  3u
#define TOLERANCE  1e-9

/* ---- sums rounded upwards -------------------------------------------------------------------- */

/* Returns a number above x by at least one unit in its last place: x + |x| 2^-52 is above x before
 * it is rounded, by that unit or more. */
static double above(double x)
{
    return x + fabs(x) * DBL_EPSILON + DBL_MIN;
}

/* A sum of doubles, as a rounded sum and an upper bound of the rest. */
typedef struct upward {
    double sum, rest;
} upward;

/* sum + x = t + e exactly (Knuth 1997, The Art of Computer Programming, volume 2, section 4.2.2,
 * theorem B). */
static void add(upward *u, double x)
{
    const double t = u->sum + x;
    const double part = t - u->sum;
    const double e = (u->sum - (t - part)) + (x - part);
    u->rest = above(u->rest + e);
    u->sum = t;
}

static double total_of(const upward *u)
{
    return above(u->sum + u->rest);
}

bool gbsi_bound_reaches(double log_density, double bound)
{
    return bound - log_density <= TOLERANCE * (1.0 + fabs(bound));
}

double gbsi_bound_plain(const gbsi_conditioned *model, gbsi_watch *watch)
{
    upward u = {.sum = model->log_constant};
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        const double most = gbsi_bound_largest(model, f);
        if (gbsi_watch_spend(watch, gbsi_factor_size(&model->factors, f))) {
            return INFINITY;
        }
        if (most == -INFINITY) {
            return -INFINITY;
        }
        add(&u, most);
    }
    return total_of(&u);
}

/* ---- making ---------------------------------------------------------------------------------- */

typedef struct sizes {
    size_t messages, own, work, arity;
    double operations;
} sizes;

static sizes count(const gbsi_conditioned *model)
{
    const gbsi_factors *factors = &model->factors;
    sizes s = {.arity = gbsi_largest(model->arity, model->n_variables)};
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const gbsi_bound_needs needs = gbsi_bound_needs_of(model, f);
        const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
        for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
            s.messages += model->arity[factors->scope[e]];
        }
        s.own += needs.own;
        s.work = needs.work > s.work ? needs.work : s.work;
        s.operations += (2.0 * (double)n + 1.0) * (needs.operations + 4.0);
    }
    return s;
}

uint64_t gbsi_bound_bytes(const gbsi_conditioned *model)
{
    const sizes s = count(model);
    const uint64_t n_factors = model->factors.n_factors;
    return n_factors * (1 + sizeof(double) + sizeof(size_t)) +
           (s.own + s.messages + s.work + 2 * s.arity) * sizeof(double) +
           model->n_variables * sizeof(uint32_t) +
           (3 * gbsi_scope_entries(&model->factors) + model->n_variables + 3) * sizeof(size_t);
}

static gbs_status take_room(gbsi_bound *b, const sizes *s, gbs_error *err)
{
    const size_t n_factors = b->model->factors.n_factors;
    const size_t n_edges = gbsi_scope_entries(&b->model->factors);
    b->way = gbsi_alloc(n_factors);
    b->magnitude = gbsi_alloc_array(n_factors, sizeof *b->magnitude);
    b->own_start = gbsi_alloc_array_zero(n_factors + 1, sizeof *b->own_start);
    b->own = gbsi_alloc_array(s->own, sizeof *b->own);
    b->start = gbsi_alloc_array_zero(n_edges + 1, sizeof *b->start);
    b->g = gbsi_alloc_array_zero(s->messages, sizeof *b->g);
    b->edge_start = gbsi_alloc_array_zero((size_t)b->model->n_variables + 1, sizeof *b->edge_start);
    b->edge = gbsi_alloc_array(n_edges, sizeof *b->edge);
    b->factor = gbsi_alloc_array(n_edges, sizeof *b->factor);
    b->work = gbsi_alloc_array(s->work, sizeof *b->work);
    b->out = gbsi_alloc_array(s->arity, sizeof *b->out);
    b->total = gbsi_alloc_array(s->arity, sizeof *b->total);
    b->state = gbsi_alloc_array_zero(b->model->n_variables, sizeof *b->state);
    return GBSI_HAVE(err, "upper bound", b->way, b->magnitude, b->own_start, b->own, b->start, b->g,
                     b->edge_start, b->edge, b->factor, b->work, b->out, b->total, b->state);
}

/* Lists the entries of the scopes by variable. */
static void list_edges(gbsi_bound *b)
{
    const gbsi_factors *factors = &b->model->factors;
    size_t *end = b->edge_start; /* counts first, then ends, and at last starts */
    for (size_t f = 0; f < factors->n_factors; ++f) {
        for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
            b->factor[e] = f;
            b->start[e + 1] = b->start[e] + b->model->arity[factors->scope[e]];
            ++end[factors->scope[e]];
        }
    }
    for (uint32_t v = 0; v < b->model->n_variables; ++v) {
        end[v + 1] += end[v];
    }
    for (size_t e = gbsi_scope_entries(&b->model->factors); e-- > 0;) {
        b->edge[--end[factors->scope[e]]] = e;
    }
}

gbs_status gbsi_bound_new(const gbsi_conditioned *model, gbsi_watch *watch, gbsi_bound **out,
                          gbs_error *err)
{
    const sizes s = count(model);
    gbsi_bound *b = gbsi_alloc_zero(sizeof *b);
    GBSI_PASS(GBSI_HAVE(err, "upper bound", b));
    *b = (gbsi_bound){.model = model, .watch = watch, .best = INFINITY};
    const gbs_status status = take_room(b, &s, err);
    if (status != GBS_OK) {
        gbsi_bound_free(b);
        return status;
    }
    list_edges(b);
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        const gbsi_bound_needs needs = gbsi_bound_needs_of(model, f);
        b->way[f] = (uint8_t)needs.way;
        b->own_start[f + 1] = b->own_start[f] + needs.own;
        gbsi_bound_prepare(b, f);
    }
    *out = b;
    return GBS_OK;
}

void gbsi_bound_free(gbsi_bound *b)
{
    if (b != NULL) {
        GBSI_FREE(b->way, b->magnitude, b->own_start, b->own, b->start, b->g, b->edge_start,
                  b->edge, b->factor, b->work, b->out, b->total, b->state, b);
    }
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/* Whether the scope of an entry's factor has a variable that is visited after the entry's own. */
static bool has_later(const gbsi_bound *b, size_t e, bool forwards)
{
    const gbsi_factors *factors = &b->model->factors;
    const size_t f = b->factor[e];
    for (size_t i = factors->scope_start[f]; i < factors->scope_start[f + 1]; ++i) {
        if (factors->scope[i] != factors->scope[e] &&
            (factors->scope[i] > factors->scope[e]) == forwards) {
            return true;
        }
    }
    return false;
}

static bool sends(const gbsi_bound *b, size_t e)
{
    return b->way[b->factor[e]] != GBSI_BOUND_PLAIN;
}

/* Takes the maxima d_f(a) of all factors of v into the variable, theta_v(a) = sum_f d_f(a), so that
 * the maxima of the factors become 0. */
static void collect(gbsi_bound *b, uint32_t v)
{
    const uint32_t k = b->model->arity[v];
    for (uint32_t a = 0; a < k; ++a) {
        b->total[a] = 0.0;
    }
    for (size_t i = b->edge_start[v]; i < b->edge_start[v + 1]; ++i) {
        const size_t e = b->edge[i];
        if (!sends(b, e)) {
            continue;
        }
        gbsi_bound_maxima(b, b->factor[e], e - b->model->factors.scope_start[b->factor[e]]);
        const double top = gbsi_largest_real(b->out, k);
        for (uint32_t a = 0; a < k; ++a) {
            const double d = top > -INFINITY ? b->out[a] - top : b->out[a];
            b->total[a] += d;
            b->g[b->start[e] + a] = d > -INFINITY ? -d : 0.0;
        }
    }
}

/* Gives a share of theta_v to each factor of v that has a variable still to be visited. The share
 * is 1 / max(number of these factors, number of factors with a variable visited before), the
 * weights of Kolmogorov (2006), section 3. States of minus infinity leave the model: in no state of
 * positive weight has v such a state. */
static void distribute(gbsi_bound *b, uint32_t v, bool forwards)
{
    const uint32_t k = b->model->arity[v];
    const double top = gbsi_largest_real(b->total, k);
    size_t n_later = 0;
    size_t n_earlier = 0;
    for (size_t i = b->edge_start[v]; i < b->edge_start[v + 1]; ++i) {
        n_later += sends(b, b->edge[i]) && has_later(b, b->edge[i], forwards);
        n_earlier += sends(b, b->edge[i]) && has_later(b, b->edge[i], !forwards);
    }
    for (uint32_t a = k; a-- > 0;) {
        b->state[v] = b->total[a] == top ? a : b->state[v];
    }
    const double share = 1.0 / (double)(n_later > n_earlier ? n_later : n_earlier);
    for (size_t i = b->edge_start[v]; i < b->edge_start[v + 1]; ++i) {
        const size_t e = b->edge[i];
        double *g = b->g + b->start[e];
        if (!sends(b, e)) {
            continue;
        }
        const bool gets = has_later(b, e, forwards);
        for (uint32_t a = 0; a < k; ++a) {
            const bool possible = b->total[a] > -INFINITY;
            g[a] = !possible ? -INFINITY : g[a] + (gets ? share * (b->total[a] - top) : 0.0);
        }
        const double level =
            gbsi_largest_real(g, k); /* a constant may move from g_fv to the variable */
        for (uint32_t a = 0; a < k && level > -INFINITY; ++a) {
            g[a] -= level;
        }
    }
}

static void visit(gbsi_bound *b, uint32_t v, bool forwards)
{
    collect(b, v);
    if (!gbsi_watch_stopped(b->watch)) {
        distribute(b, v, forwards);
    }
    (void)gbsi_watch_spend(b->watch, 8 * (b->edge_start[v + 1] - b->edge_start[v]));
}

/* ---- the bound ------------------------------------------------------------------------------- */

/* Returns max_a (- sum_f g_fv(a)), rounded upwards. */
static double variable_part(const gbsi_bound *b, uint32_t v)
{
    double most = -INFINITY;
    for (uint32_t a = 0; a < b->model->arity[v]; ++a) {
        upward u = {0};
        bool possible = true;
        for (size_t i = b->edge_start[v]; i < b->edge_start[v + 1] && possible; ++i) {
            const double g = b->g[b->start[b->edge[i]] + a];
            possible = g > -INFINITY;
            add(&u, possible ? -g : 0.0);
        }
        const double sum = possible ? total_of(&u) : -INFINITY;
        most = sum > most ? sum : most;
    }
    return most;
}

/* Returns max_x (ln psi_f(x) + sum_v g_fv(x_v)), rounded upwards. A sum of n + 1 doubles with
 * absolute values of at most M together has a rounding error of at most n M 2^-53 (1 + n 2^-52)
 * (Higham 2002, Accuracy and Stability of Numerical Algorithms, equation 4.4); twice this is
 * added. */
static double factor_part(gbsi_bound *b, size_t f)
{
    const size_t first = b->model->factors.scope_start[f];
    const size_t end = b->model->factors.scope_start[f + 1];
    double magnitude = b->magnitude[f];
    double most = -INFINITY;
    if (b->way[f] == GBSI_BOUND_PLAIN) {
        return magnitude;
    }
    gbsi_bound_maxima(b, f, 0);
    for (size_t e = first; e < end; ++e) {
        double widest = 0.0;
        for (size_t i = b->start[e]; i < b->start[e + 1]; ++i) {
            const double g = b->g[i];
            widest = g > -INFINITY && fabs(g) > widest ? fabs(g) : widest;
            if (e == first) {
                const double sum = b->out[i - b->start[e]] + g;
                most = sum > most ? sum : most;
            }
        }
        magnitude += widest;
    }
    return most + (double)(end - first + 4) * DBL_EPSILON * magnitude;
}

/* Returns B(g). */
static double evaluate(gbsi_bound *b)
{
    upward u = {.sum = b->model->log_constant};
    for (uint32_t v = 0; v < b->model->n_variables; ++v) {
        const double part = variable_part(b, v);
        if (part == -INFINITY) {
            return -INFINITY;
        }
        add(&u, part);
    }
    for (size_t f = 0; f < b->model->factors.n_factors; ++f) {
        const double part = factor_part(b, f);
        if (part == -INFINITY) {
            return -INFINITY;
        }
        add(&u, part);
    }
    return total_of(&u);
}

double gbsi_bound_round(gbsi_bound *b)
{
    const uint32_t n = b->model->n_variables;
    for (uint32_t v = 0; v < n && !gbsi_watch_stopped(b->watch); ++v) {
        visit(b, v, true);
    }
    for (uint32_t v = n; v-- > 0 && !gbsi_watch_stopped(b->watch);) {
        visit(b, v, false);
    }
    if (gbsi_watch_stopped(b->watch)) {
        return b->best;
    }
    const double bound = evaluate(b);
    if (gbsi_watch_stopped(b->watch)) {
        return b->best;
    }
    b->n_idle = bound < b->best - LEAST_GAIN * (1.0 + fabs(bound)) ? 0 : b->n_idle + 1;
    b->best = bound < b->best ? bound : b->best;
    return b->best;
}

bool gbsi_bound_settled(const gbsi_bound *b)
{
    return b->n_idle >= MOST_IDLE;
}

const uint32_t *gbsi_bound_state(const gbsi_bound *b)
{
    return b->state;
}

double gbsi_bound_operations(const gbsi_conditioned *model)
{
    return 1.0 + count(model).operations;
}
