/* SPDX-License-Identifier: Apache-2.0 */
/* Visits all solutions in the order of a Gray code. Step i (from 1 on) flips the word whose number
 * is the number of trailing zeros of i (Knuth 2011, The Art of Computer Programming 4A, section
 * 7.2.1.1). Every sum has a fixed order. The log-weight of a step is that of the step before plus
 * the changes of the factors that were read; it is summed anew every FRESH steps, with
 * compensation. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "codewords/codewords.h"
#include "reference/local.h"
#include "simd/math.h"

enum { FRESH = 64 }; /* steps between two full sums, and between two reports to the watch */

typedef struct visit {
    const gbsi_codewords *c;
    const gbsi_conditioned *whole;
    uint32_t *x;      /* [whole variables] current states of the component's variables */
    uint32_t *at;     /* [n_read] number of the current entry of each factor */
    double *value;    /* [n_read] current log-weight of each factor */
    double sum;       /* sum of `constant` and of the finite log-weights */
    uint32_t n_zeros; /* number of factors whose log-weight is minus infinity */
} visit;

static uint64_t n_steps(const gbsi_codewords *c)
{
    return (uint64_t)1 << c->n_words;
}

static double factor_value(const visit *v, size_t i)
{
    const gbsi_read_factor *r = &v->c->read[i];
    return r->table != SIZE_MAX
               ? v->c->table[r->table + v->at[i]]
               : gbsi_factor_value(&v->whole->factors, v->whole->arity, r->factor, v->x);
}

/* Sums the log-weights of all factors. */
static void sum_afresh(visit *v)
{
    gbsi_sum sum = {.high = v->c->constant};
    v->n_zeros = 0;
    for (size_t i = 0; i < v->c->n_read; ++i) {
        v->n_zeros += v->value[i] == -INFINITY;
        sum = gbsi_sum_add(sum, (gbsi_sum){.high = v->value[i] > -INFINITY ? v->value[i] : 0.0});
    }
    v->sum = sum.high + sum.low;
}

/* Sets the state to the first solution, and reads all factors. */
static void begin(visit *v)
{
    const gbsi_codewords *c = v->c;
    const gbsi_components *of = c->components;
    const gbsi_factors *f = &v->whole->factors;
    const uint32_t *variable = of->variable + of->variable_start[c->component];
    const size_t n =
        of->variable_start[c->component + (size_t)1] - of->variable_start[c->component];
    for (size_t i = 0; i < n; ++i) {
        v->x[variable[i]] = c->first[i];
    }
    for (size_t i = 0; i < c->n_read; ++i) {
        const size_t factor = c->read[i].factor;
        v->at[i] = 0;
        for (size_t e = f->scope_start[factor];
             e < f->scope_start[factor + 1] && c->read[i].table != SIZE_MAX; ++e) {
            v->at[i] = 2 * v->at[i] + v->x[f->scope[e]];
        }
        v->value[i] = factor_value(v, i);
    }
    sum_afresh(v);
}

/* Adds a word to the state. */
static void flip(visit *v, uint32_t word)
{
    const gbsi_codewords *c = v->c;
    for (size_t i = c->flip_start[word]; i < c->flip_start[word + (size_t)1]; ++i) {
        v->x[c->flip[i]] ^= 1;
    }
    for (size_t i = c->touch_start[word]; i < c->touch_start[word + (size_t)1]; ++i) {
        const uint32_t r = c->touch[i].read;
        v->at[r] ^= c->touch[i].mask;
        const double value = factor_value(v, r);
        const double before = v->value[r];
        v->value[r] = value;
        if (value > -INFINITY && before > -INFINITY) {
            v->sum += value - before;
        } else if (value != before) {
            v->sum += value > -INFINITY ? value : -before;
            v->n_zeros += value > -INFINITY ? UINT32_MAX : 1; /* adds -1 or 1 */
        }
    }
}

/* Returns ln of the weight of the current state. */
static double log_weight_of(const visit *v)
{
    return v->n_zeros > 0 ? -INFINITY : v->sum;
}

/* Goes from step i - 1 to step i. @return false if the watch stopped the work. */
static bool step(visit *v, uint64_t i, gbsi_watch *watch)
{
    flip(v, (uint32_t)__builtin_ctzll(i));
    if (i % FRESH != 0) {
        return true;
    }
    sum_afresh(v);
    return !gbsi_watch_spend(watch, FRESH * (uint64_t)(1.0 + v->c->ns / v->c->n_steps / 4.0));
}

static gbs_status visit_new(const gbsi_codewords *c, visit *v, gbs_error *err)
{
    *v = (visit){.c = c, .whole = c->components->model};
    v->x = gbsi_alloc_array_zero(v->whole->n_variables, sizeof *v->x);
    v->at = gbsi_alloc_array(c->n_read, sizeof *v->at);
    v->value = gbsi_alloc_array(c->n_read, sizeof *v->value);
    return GBSI_HAVE(err, "codewords", v->x, v->at, v->value);
}

static void visit_free(visit *v)
{
    GBSI_FREE(v->x, v->at, v->value);
}

/* Finds the largest weight. @param best out: the first step with this weight. */
static double find_best(visit *v, gbsi_watch *watch, uint64_t *best)
{
    begin(v);
    double most = log_weight_of(v);
    *best = 0;
    for (uint64_t i = 1; i < n_steps(v->c) && step(v, i, watch); ++i) {
        const double weight = log_weight_of(v);
        *best = weight > most ? i : *best;
        most = weight > most ? weight : most;
    }
    return most;
}

/* Adds the weight of a block of steps to each variable that has one state during the block, and a
 * longer block does not. @param sum [variables of the component][2] */
static void settle(const visit *v, uint32_t level, double weight, gbsi_sum *sum)
{
    const gbsi_codewords *c = v->c;
    const gbsi_components *of = c->components;
    const uint32_t *variable = of->variable + of->variable_start[c->component];
    for (size_t k = c->settled_start[level]; k < c->settled_start[level + (size_t)1]; ++k) {
        const uint32_t place = c->settled[k];
        gbsi_sum *to = &sum[2 * (size_t)place + v->x[variable[place]]];
        const double high = to->high + weight; /* Knuth's two-sum */
        const double part = high - to->high;
        to->low += (to->high - (high - part)) + (weight - part);
        to->high = high;
    }
}

/* Sums the weights of all steps, in units of the largest weight. A block of 2^l steps is the sum of
 * two blocks of half its length. @param sum NULL, or in and out: the sums for each state. @return
 * the sum over all steps. */
static double sum_steps(visit *v, double most, gbsi_watch *watch, gbsi_sum *sum)
{
    double pending[GBSI_CODEWORDS_BITS + 1]; /* the first half of each unfinished block */
    double block = 0.0;
    begin(v);
    for (uint64_t i = 0; i < n_steps(v->c); ++i) {
        if (i > 0 && !step(v, i, watch)) {
            break;
        }
        uint32_t level = 0;
        block = gbsi_exp(log_weight_of(v) - most);
        for (; level <= v->c->n_words; ++level) {
            if (sum != NULL) {
                settle(v, level, block, sum);
            }
            if (level == v->c->n_words || (i >> level & 1) == 0) {
                break;
            }
            block += pending[level];
        }
        pending[level] = block;
    }
    return block;
}

gbs_status gbsi_codewords_sum(const gbsi_codewords *c, gbsi_watch *watch, double *p, double *log_z,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_components *of = c->components;
    const size_t start = of->variable_start[c->component];
    const size_t n = of->variable_start[c->component + (size_t)1] - start;
    gbsi_sum *sum = NULL;
    visit v = {0};
    uint64_t best = 0;
    *log_z = -INFINITY;
    if (c->impossible) {
        return GBS_OK;
    }
    GBSI_TRY(visit_new(c, &v, err));
    sum = gbsi_alloc_array_zero(2 * n, sizeof *sum);
    GBSI_TRY(GBSI_HAVE(err, "codewords", sum));
    const double most = find_best(&v, watch, &best);
    if (most == -INFINITY || gbsi_watch_stopped(watch)) {
        goto cleanup;
    }
    const double z = sum_steps(&v, most, watch, p != NULL ? sum : NULL);
    assert(z >= 1.0 || gbsi_watch_stopped(watch)); /* the largest weight is 1 */
    *log_z = most + gbsi_log(z);
    for (size_t i = 0; i < 2 * n && p != NULL; ++i) {
        p[v.whole->state_offset[of->variable[start + i / 2]] + i % 2] =
            (sum[i].high + sum[i].low) / z;
    }

cleanup:
    gbsi_free(sum);
    visit_free(&v);
    return status;
}

gbs_status gbsi_codewords_maximise(const gbsi_codewords *c, gbsi_watch *watch, uint32_t *x,
                                   double *log_weight, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_components *of = c->components;
    visit v = {0};
    uint64_t best = 0;
    *log_weight = -INFINITY;
    if (c->impossible) {
        return GBS_OK;
    }
    GBSI_TRY(visit_new(c, &v, err));
    *log_weight = find_best(&v, watch, &best);
    begin(&v);
    for (uint32_t k = 0; k < c->n_words; ++k) {
        if (((best ^ best >> 1) >> k & 1) !=
            0) { /* the words of step i are the bits of i ^ i / 2 */
            flip(&v, k);
        }
    }
    for (size_t i = of->variable_start[c->component]; i < of->variable_start[c->component + 1];
         ++i) {
        x[of->variable[i]] = v.x[of->variable[i]];
    }

cleanup:
    visit_free(&v);
    return status;
}
