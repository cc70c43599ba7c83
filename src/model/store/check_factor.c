/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the scope and the weight of a factor of each kind. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/checks.h"
#include "store/factors.h"

enum {
    SHORT_SCOPE = 8, /* up to this length of a scope, comparing all pairs of variables is faster
                        than stamping the variables */
    MAX_SHOWN_SIZES = 12,
};

/* ---- scopes -------------------------------------------------------------------------------- */

void gbsi_stamps_free(gbsi_stamps *stamps)
{
    gbsi_free(stamps->stamp);
    *stamps = (gbsi_stamps){0};
}

static gbs_status refuse_repeated(const gbsi_candidate *c, uint32_t variable, gbs_error *err)
{
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: variable %u is twice in its scope",
                     c->factor, (unsigned)variable);
}

/* Checks that the variables of a scope are distinct, in O(n). Each variable is stamped with the
 * last scope in which it occurred. */
static gbs_status check_long_distinct(const gbs_model *m, gbsi_stamps *s, const gbsi_candidate *c,
                                      gbs_error *err)
{
    GBSI_PASS(gbsi_reserve((void **)(void *)&s->stamp, &s->capacity, m->n_variables,
                           sizeof *s->stamp, "model", err));
    if (s->now == UINT32_MAX) {
        s->n = 0;
        s->now = 0;
    }
    if (s->n < m->n_variables) {
        memset(s->stamp + s->n, 0, (m->n_variables - s->n) * sizeof *s->stamp);
        s->n = m->n_variables;
    }
    ++s->now;
    for (uint32_t i = 0; i < c->n; ++i) {
        if (s->stamp[c->scope[i]] == s->now) {
            return refuse_repeated(c, c->scope[i], err);
        }
        s->stamp[c->scope[i]] = s->now;
    }
    return GBS_OK;
}

static gbs_status check_scope(const gbs_model *m, gbsi_stamps *stamps, const gbsi_candidate *c,
                              gbs_error *err)
{
    const uint32_t *scope = c->scope;
    for (uint32_t i = 0; i < c->n; ++i) {
        if (scope[i] >= m->n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu: variable %u in its scope, there are %u variables so far",
                             c->factor, (unsigned)scope[i], (unsigned)m->n_variables);
        }
    }
    if (c->n > SHORT_SCOPE) {
        return check_long_distinct(m, stamps, c, err);
    }
    for (uint32_t i = 1; i < c->n; ++i) {
        for (uint32_t j = 0; j < i; ++j) {
            if (scope[i] == scope[j]) {
                return refuse_repeated(c, scope[i], err);
            }
        }
    }
    return GBS_OK;
}

/* ---- kinds --------------------------------------------------------------------------------- */

/* Writes the sizes of a scope as a text such as "(2 x 2 x 2)". */
static void sizes_text(const gbs_model *m, const gbsi_candidate *c, char text[128])
{
    size_t used = (size_t)snprintf(text, 128, "(");
    for (uint32_t i = 0; i < c->n && i < MAX_SHOWN_SIZES; ++i) {
        used += (size_t)snprintf(text + used, 128 - used, "%s%u", i == 0 ? "" : " x ",
                                 (unsigned)m->arity[c->scope[i]]);
    }
    (void)snprintf(text + used, 128 - used, c->n > MAX_SHOWN_SIZES ? " x ...)" : ")");
}

static gbs_status check_table_size(const gbs_model *m, const gbsi_candidate *c, gbs_error *err)
{
    const gbsi_factors *f = &m->factors;
    if (c->table >= f->n_tables) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: table %u, there are %zu tables so far",
                         c->factor, (unsigned)c->table, f->n_tables);
    }
    const size_t has = f->table_start[c->table + 1] - f->table_start[c->table];
    char sizes[128];
    size_t needs = 1;
    for (uint32_t i = 0; i < c->n; ++i) {
        if (!gbsi_mul_size(needs, m->arity[c->scope[i]], &needs)) {
            sizes_text(m, c, sizes);
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu has %zu entries, its scope %s needs more than memory has "
                             "bytes",
                             c->factor, has, sizes);
        }
    }
    if (needs != has) {
        sizes_text(m, c, sizes);
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu has %zu entries, its scope %s needs %zu", c->factor, has,
                         sizes, needs);
    }
    return GBS_OK;
}

/* Checks a noisy factor. Its table has logarithms of probabilities: one for
 * the leak, then one for each state of each parent. */
static gbs_status check_noisy(const gbs_model *m, const gbsi_candidate *c, gbs_error *err)
{
    const gbsi_factors *f = &m->factors;
    const uint32_t child = c->scope[c->n - 1];
    size_t needs = 1;
    if (c->table >= f->n_tables) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: table %u, there are %zu tables so far",
                         c->factor, (unsigned)c->table, f->n_tables);
    }
    const bool graded = gbsi_noisy_is_graded(c->kind);
    if (graded ? m->arity[child] < 2 : m->arity[child] != 2) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu: variable %u has %u states, the child of a noisy factor needs "
                         "2%s",
                         c->factor, (unsigned)child, (unsigned)m->arity[child],
                         graded ? " or more" : "");
    }
    for (uint32_t i = 0; i + 1 < c->n; ++i) {
        needs += m->arity[c->scope[i]];
    }
    needs *= m->arity[child] - 1;
    const double *log_q = f->table + f->table_start[c->table];
    const size_t has = f->table_start[c->table + 1] - f->table_start[c->table];
    if (needs != has) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu has %zu inhibitions, its leak and its parents need %zu",
                         c->factor, has, needs);
    }
    for (size_t i = 0; i < has; ++i) {
        if (log_q[i] > 0.0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu: inhibition %zu is exp(%g), expected a probability",
                             c->factor, i, log_q[i]);
        }
    }
    return GBS_OK;
}

static gbs_status check_size(const gbsi_candidate *c, double logw, const char *what, gbs_error *err)
{
    if (isfinite(logw) && fabs(logw) > GBS_MAX_LOG_WEIGHT) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: %s %g, expected at most %g in size",
                         c->factor, what, logw, GBS_MAX_LOG_WEIGHT);
    }
    return GBS_OK;
}

static gbs_status check_spins(const gbs_model *m, const gbsi_candidate *c, gbs_error *err)
{
    static const char *const name[] = {[GBS_FACTOR_FIELD] = "a field",
                                       [GBS_FACTOR_ISING] = "an Ising coupling",
                                       [GBS_FACTOR_SPIN] = "a product of spins"};
    for (uint32_t i = 0; i < c->n; ++i) {
        if (m->arity[c->scope[i]] != 2) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu: variable %u has %u states, %s needs 2", c->factor,
                             (unsigned)c->scope[i], (unsigned)m->arity[c->scope[i]], name[c->kind]);
        }
    }
    const char *what = c->kind == GBS_FACTOR_FIELD ? "field" : "coupling";
    if (!isfinite(c->weight)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: %s %g, expected a finite one",
                         c->factor, what, c->weight);
    }
    return check_size(c, c->weight, what, err);
}

static gbs_status check_potts(const gbs_model *m, const gbsi_candidate *c, gbs_error *err)
{
    const uint32_t i = c->scope[0];
    const uint32_t j = c->scope[1];
    if (m->arity[i] != m->arity[j]) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu: variables %u and %u have %u and %u states, a Potts coupling "
                         "needs equal numbers",
                         c->factor, (unsigned)i, (unsigned)j, (unsigned)m->arity[i],
                         (unsigned)m->arity[j]);
    }
    if (isnan(c->weight) || c->weight == INFINITY) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu: coupling %g, expected a finite one or minus infinity",
                         c->factor, c->weight);
    }
    return check_size(c, c->weight, "coupling", err);
}

static gbs_status check_logical_weight(const gbsi_candidate *c, gbs_error *err)
{
    if (c->weight == INFINITY) {
        return gbsi_logical_may_be_hard((unsigned)c->function)
                   ? GBS_OK
                   : gbsi_fail(err, GBS_ERR_ARGUMENT,
                               "factor %zu: function %d cannot be hard, its weight must be finite",
                               c->factor, c->function);
    }
    /* |phi| <= max(1, n - 1); this bound on the weight keeps log-weights finite */
    const double largest = c->n > 2 ? (double)(c->n - 1) : 1.0;
    if (!isfinite(c->weight) || !isfinite(c->weight * largest)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu: weight %g, expected a finite log-weight or, for functions "
                         "that may be hard, plus infinity",
                         c->factor, c->weight);
    }
    return check_size(c, c->weight * largest, "log-weight", err);
}

/* Refuses cardinalities that are always or never true, and parameters k of more than 16 bits,
 * which a description cannot store. */
static gbs_status check_number(const gbsi_candidate *c, gbs_error *err)
{
    const uint32_t least = c->function == GBS_LOGICAL_AT_LEAST ? 1 : 0;
    const uint32_t most = c->function == GBS_LOGICAL_AT_MOST ? c->n - 1 : c->n;
    if (c->k > UINT16_MAX) {
        return gbsi_fail(err, GBS_ERR_LIMIT, "factor %zu: a cardinality of %u, expected at most %u",
                         c->factor, (unsigned)c->k, (unsigned)UINT16_MAX);
    }
    if (c->k < least || c->k > most) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "factor %zu: a cardinality of %u of %u literals, expected %u to %u",
                         c->factor, (unsigned)c->k, (unsigned)c->n, (unsigned)least,
                         (unsigned)most);
    }
    return GBS_OK;
}

static gbs_status check_logical(const gbs_model *m, const gbsi_candidate *c, gbs_error *err)
{
    for (uint32_t i = 0; i < c->n; ++i) {
        if (c->literal[i] >= m->arity[c->scope[i]]) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu: literal %u is variable %u in state %u, it has %u states",
                             c->factor, (unsigned)i, (unsigned)c->scope[i], (unsigned)c->literal[i],
                             (unsigned)m->arity[c->scope[i]]);
        }
    }
    if (gbsi_logical_is_cardinality((unsigned)c->function)) {
        GBSI_PASS(check_number(c, err));
    }
    return check_logical_weight(c, err);
}

/* Checks the number of variables and other properties that the checks of the scope rely on. */
static gbs_status check_form(const gbsi_candidate *c, gbs_error *err)
{
    switch (c->kind) {
    case GBS_FACTOR_TABLE:
        return GBS_OK;
    case GBS_FACTOR_FIELD:
        return c->n == 1 ? GBS_OK
                         : gbsi_fail(err, GBS_ERR_ARGUMENT,
                                     "factor %zu: a field of %u variables, expected 1", c->factor,
                                     (unsigned)c->n);
    case GBS_FACTOR_ISING:
    case GBS_FACTOR_POTTS:
        return c->n == 2 ? GBS_OK
                         : gbsi_fail(err, GBS_ERR_ARGUMENT,
                                     "factor %zu: a coupling of %u variables, expected 2",
                                     c->factor, (unsigned)c->n);
    case GBS_FACTOR_LOGICAL:
        if (!gbsi_logical_known((unsigned)c->function)) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: no logical function has number %d",
                             c->factor, c->function);
        }
        return c->n > 0 ? GBS_OK
                        : gbsi_fail(err, GBS_ERR_ARGUMENT,
                                    "factor %zu: a logical factor needs a literal", c->factor);
    case GBS_FACTOR_SPIN:
        return c->n > 0 ? GBS_OK
                        : gbsi_fail(err, GBS_ERR_ARGUMENT,
                                    "factor %zu: a product of spins needs 1 variable or more",
                                    c->factor);
    case GBS_FACTOR_NOISY_OR:
    case GBS_FACTOR_NOISY_AND:
    case GBS_FACTOR_NOISY_MAX:
    case GBS_FACTOR_NOISY_MIN:
        return c->n > 0 ? GBS_OK
                        : gbsi_fail(err, GBS_ERR_ARGUMENT,
                                    "factor %zu: a noisy factor needs a child", c->factor);
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT, "factor %zu: no kind of factor has number %d",
                     c->factor, (int)c->kind);
}

gbs_status gbsi_check_factor(const gbs_model *model, gbsi_stamps *stamps, const gbsi_candidate *c,
                             gbs_error *err)
{
    GBSI_PASS(check_form(c, err));
    GBSI_PASS(check_scope(model, stamps, c, err));
    switch (c->kind) {
    case GBS_FACTOR_TABLE:
        return check_table_size(model, c, err);
    case GBS_FACTOR_POTTS:
        return check_potts(model, c, err);
    case GBS_FACTOR_LOGICAL:
        return check_logical(model, c, err);
    case GBS_FACTOR_NOISY_OR:
    case GBS_FACTOR_NOISY_AND:
    case GBS_FACTOR_NOISY_MAX:
    case GBS_FACTOR_NOISY_MIN:
        return check_noisy(model, c, err);
    default:
        return check_spins(model, c, err);
    }
    return GBS_OK;
}
