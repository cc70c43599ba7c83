/* SPDX-License-Identifier: Apache-2.0 */
#include "ask/couple.h"

#include <string.h>

#include "base/memory.h"
#include "draw/conditional.h"
#include "rng/philox.h"

/* ---- one update ------------------------------------------------------------------------------ */

/* Returns the first state at which the running sum of w is above u, or the last state of
 * positive weight if rounding leaves no such state. @param less NULL, or weights to subtract:
 * the running sum is then a sum of w - min(w, less). */
static uint32_t invert(const double *w, const double *less, uint32_t k, double u)
{
    double sum = 0.0;
    uint32_t last = 0;
    for (uint32_t a = 0; a < k; ++a) {
        const double own = w[a] - (less == NULL ? 0.0 : less[a] < w[a] ? less[a] : w[a]);
        sum += own;
        last = own > 0.0 ? a : last;
        if (own > 0.0 && u < sum) {
            return a;
        }
    }
    return last;
}

void gbsi_couple_draw(const double *p, const double *q, uint32_t k, const uint32_t word[4],
                      uint32_t *a, uint32_t *b)
{
    const double u = gbsi_uniform(word[0], word[1]);
    double sum = 0.0;
    double rest_p = 0.0;
    double rest_q = 0.0;
    for (uint32_t s = 0; s < k; ++s) {
        const double both = p[s] < q[s] ? p[s] : q[s];
        sum += both;
        rest_p += p[s] - both;
        rest_q += q[s] - both;
        if (both > 0.0 && u < sum) {
            *a = s;
            *b = s;
            return;
        }
    }
    if (!(rest_p > 0.0 && rest_q > 0.0)) { /* p equals q, and rounding has left u above the sum */
        *a = invert(p, NULL, k, 1.0);
        *b = *a;
        return;
    }
    /* no state has weight in both of the rests p - min(p, q) and q - min(p, q). If u is above the
     * sum of the minima, the difference of u and this sum is uniform over the rest */
    *a = invert(p, q, k, u - sum);
    *b = invert(q, p, k, gbsi_uniform(word[2], word[3]) * rest_q);
}

/* Adds the log-weights of one factor to the conditional of v in x. If y is not NULL, also adds them
 * to the conditional of v in y. @param logw [2][most_states]. @return whether the states of the
 * other variables are the same in x and y. */
static bool add_factor(const gbsi_couple_job *job, gbsi_couple *c, size_t f, uint32_t own,
                       const uint32_t *y, double *logw)
{
    const gbsi_factors *factors = &job->model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
    const uint32_t k = job->model->arity[scope[own]];
    uint32_t *at = c->scope;
    uint32_t *other = c->scope + job->longest;
    bool same = true;
    for (size_t i = 0; i < n; ++i) {
        at[i] = c->x[scope[i]];
        other[i] = y == NULL ? at[i] : y[scope[i]];
        same = same && (i == own || at[i] == other[i]);
    }
    for (uint32_t a = 0; a < k; ++a) {
        at[own] = a;
        other[own] = a;
        const double w = gbsi_factor_value_at(factors, job->model->arity, f, at);
        logw[a] += w;
        if (y != NULL) {
            logw[job->most_states + a] +=
                same ? w : gbsi_factor_value_at(factors, job->model->arity, f, other);
        }
    }
    c->spent += (n + k) * (same ? 1 : 2) + k * n;
    return same;
}

/* Updates v in X. Once Y has started, also updates v in Y, by the maximal coupling of the two
 * full conditionals [M2]. */
static void update(const gbsi_couple_job *job, gbsi_couple *c, uint32_t v, const uint32_t word[4])
{
    const uint32_t k = job->model->arity[v];
    uint32_t *y = c->pass >= job->lag ? c->y : NULL;
    double *p = c->p;
    double *q = c->p + job->most_states;
    bool same = true;
    memset(p, 0, k * sizeof *p);
    memset(q, 0, k * sizeof *q);
    for (size_t i = gbsi_offset(&job->incident->start, v);
         i < gbsi_offset(&job->incident->start, (size_t)v + 1); ++i) {
        const uint32_t own = gbsi_incident_position(job->incident, &job->model->factors, i, v);
        same = add_factor(job, c, job->incident->factor[i], own, y, p) && same;
    }
    (void)gbsi_normalise(p, k);
    if (y == NULL || same) {
        q = p;
    } else {
        (void)gbsi_normalise(q, k);
    }
    uint32_t b = 0;
    gbsi_couple_draw(p, q, k, word, &c->x[v], &b);
    if (y != NULL) {
        y[v] = b;
    }
    c->spent += 16 + k;
}

static void next_update(const gbsi_couple_job *job, gbsi_couple *c)
{
    uint32_t word[4];
    uint32_t v = 0;
    const uint32_t block = 2 * (uint32_t)c->at;
    if (job->pass.variable != NULL) {
        v = job->pass.variable[c->at];
    } else {
        gbsi_philox(job->seed, c->pair, c->pass, block + 1, GBSI_PURPOSE_COUPLE, word);
        v = gbsi_below(word[0], word[1], job->model->n_variables);
    }
    gbsi_philox(job->seed, c->pair, c->pass, block, GBSI_PURPOSE_COUPLE, word);
    update(job, c, v, word);
    ++c->at;
}

/* ---- after a pass ---------------------------------------------------------------------------- */

/* Whether the chains X and Y differ at any variable of a set. */
static bool differs_in(const uint8_t *set, const uint32_t *different, uint32_t n)
{
    for (uint32_t i = 0; set != NULL && i < n; ++i) {
        if (set[different[i]] != 0) {
            return true;
        }
    }
    return set == NULL && n > 0;
}

/* For each time t with s = t + j L for some j, counts the variables and sets at which X_(s+L) and
 * Y_s differ. If the chains have met, marks the pair as done. */
static void compare(const gbsi_couple_job *job, gbsi_couple *c)
{
    const uint32_t n = job->model->n_variables;
    const uint64_t s = c->pass - job->lag;
    uint32_t n_different = 0;
    for (uint32_t v = 0; v < n; ++v) {
        if (c->x[v] != c->y[v]) {
            c->different[n_different++] = v;
        }
    }
    for (size_t t = 0; n_different > 0 && t < job->n_times; ++t) {
        if (job->time[t] > s || (s - job->time[t]) % job->lag != 0) {
            continue;
        }
        for (uint32_t i = 0; i < n_different; ++i) {
            ++c->apart[t * n + c->different[i]];
        }
        for (size_t k = 0; k < job->n_sets; ++k) {
            c->set_apart[t * job->n_sets + k] +=
                differs_in(job->set[k], c->different, n_different) ? 1 : 0;
        }
        c->spent += (job->n_sets + 1) * (uint64_t)n_different;
    }
    c->spent += n;
    c->state = n_different == 0   ? GBSI_COUPLE_MET
               : s >= job->sweeps ? GBSI_COUPLE_APART
                                  : GBSI_COUPLE_GOING;
}

void gbsi_couple_go(const gbsi_couple_job *job, uint64_t operations, gbsi_couple *c)
{
    const uint64_t end = c->spent + operations;
    while (c->state == GBSI_COUPLE_GOING && c->spent < end) {
        if (c->at < job->pass.n) {
            next_update(job, c);
            continue;
        }
        c->at = 0;
        ++c->pass;
        if (c->pass >= job->lag) {
            compare(job, c);
        }
        ++c->spent;
    }
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static size_t rooms(const gbsi_couple_job *job, gbsi_couple *c, gbsi_room room[7])
{
    const size_t n = job->model->n_variables;
    room[0] = GBSI_ROOM(c->x, n, gbsi_alloc_array);
    room[1] = GBSI_ROOM(c->y, n, gbsi_alloc_array);
    room[2] = GBSI_ROOM(c->apart, job->n_times * n, gbsi_alloc_array_zero);
    room[3] = GBSI_ROOM(c->set_apart, job->n_times * job->n_sets, gbsi_alloc_array_zero);
    room[4] = GBSI_ROOM(c->different, n, gbsi_alloc_array);
    room[5] = GBSI_ROOM(c->scope, 2 * (size_t)job->longest, gbsi_alloc_array);
    room[6] = GBSI_ROOM(c->p, 2 * (size_t)job->most_states, gbsi_alloc_array);
    return 7;
}

gbs_status gbsi_couple_init(const gbsi_couple_job *job, gbsi_couple *c, gbs_error *err)
{
    gbsi_room room[7];
    *c = (gbsi_couple){.state = GBSI_COUPLE_IDLE};
    return gbsi_rooms_take(room, rooms(job, c, room), "coupled chains", err);
}

void gbsi_couple_free(gbsi_couple *c)
{
    GBSI_FREE(c->x, c->y, c->apart, c->set_apart, c->different, c->scope, c->p);
}

void gbsi_couple_begin(const gbsi_couple_job *job, uint32_t pair, gbsi_couple *c)
{
    const size_t n = job->model->n_variables;
    c->state = GBSI_COUPLE_GOING;
    c->pair = pair;
    c->pass = 0;
    c->at = 0;
    memset(c->apart, 0, job->n_times * n * sizeof *c->apart);
    memset(c->set_apart, 0, job->n_times * job->n_sets * sizeof *c->set_apart);
}
