/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a model into a constant, fields and couplings. The split is exact for any finite values
 * over two spins. Let t_ab be the log-weight at s_i = a and s_j = b, where a and b are + or -:
 *     t_ab  = c + h_i a + h_j b + J a b
 *     4 c   = t_++ + t_+- + t_-+ + t_--
 *     4 h_i = t_++ + t_+- - t_-+ - t_--
 *     4 h_j = t_++ - t_+- + t_-+ - t_--
 *     4 J   = t_++ - t_+- - t_-+ + t_-- */
#include <math.h>

#include "base/plural.h"
#include "base/status.h"
#include "models/couplings.h"
#include "store/builder.h"
#include "store/model.h"

typedef struct part {
    double constant;
    double field[2]; /* fields of the first and the second variable of the scope */
    double coupling;
} part;

static gbs_status unsupported(const gbs_model *model, size_t f, const char *what,
                              const char *format, gbs_error *err)
{
    char scope[200];
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED, "factor %zu %s %s, which %s files cannot hold", f,
                     gbsi_scope_text(model, f, scope, sizeof scope), what, format);
}

static part split_pair(const double t[4])
{
    return (part){
        .constant = 0.25 * t[3] + 0.25 * t[2] + 0.25 * t[1] + 0.25 * t[0],
        .field = {0.25 * t[3] + 0.25 * t[2] - 0.25 * t[1] - 0.25 * t[0],
                  0.25 * t[3] + 0.25 * t[1] - 0.25 * t[2] - 0.25 * t[0]},
        .coupling = 0.25 * t[3] + 0.25 * t[0] - 0.25 * t[2] - 0.25 * t[1],
    };
}

/* Splits a factor of at most two binary variables into a constant, fields and a coupling.
 * @return false if a value of the factor is not finite. */
static bool split_factor(const gbs_model *model, size_t f, part *p)
{
    const gbsi_factors *factors = &model->factors;
    const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
    const uint8_t kind = factors->kind[f];
    double t[4] = {0};
    *p = (part){0};
    if (kind == GBS_FACTOR_FIELD || kind == GBS_FACTOR_ISING || kind == GBS_FACTOR_SPIN) {
        *(n == 1 ? &p->field[0] : &p->coupling) = factors->weight[f];
        return true;
    }
    for (uint32_t k = 0; k < 1u << n; k++) {
        const uint32_t at[2] = {n == 2 ? k >> 1 : k, k & 1};
        t[k] = gbsi_factor_value_at(factors, model->arity, f, at);
        if (!isfinite(t[k])) {
            return false;
        }
    }
    if (n == 0) {
        p->constant = t[0];
    } else if (n == 1) {
        p->constant = 0.5 * t[1] + 0.5 * t[0];
        p->field[0] = 0.5 * t[1] - 0.5 * t[0];
    } else {
        *p = split_pair(t);
    }
    return true;
}

static gbs_status check_variables(const gbs_model *model, const char *format, gbs_error *err)
{
    for (uint32_t v = 0; v < model->n_variables; v++) {
        if (model->arity[v] != 2) {
            char name[100];
            return gbsi_fail(err, GBS_ERR_UNSUPPORTED,
                             "variable %s has %u state%s, and %s files hold spins, which have 2",
                             gbsi_variable_text(model, v, name, sizeof name), model->arity[v],
                             gbsi_plural(model->arity[v]), format);
        }
    }
    return GBS_OK;
}

/* Checks one factor. A variable without two states is found at its first factor, which the message
 * names. */
static gbs_status check_factor(const gbs_model *model, size_t f, const char *format, gbs_error *err)
{
    const gbsi_factors *factors = &model->factors;
    const size_t start = factors->scope_start[f];
    const size_t n = factors->scope_start[f + 1] - start;
    if (n > 2) {
        return unsupported(model, f, "has more than two variables", format, err);
    }
    for (size_t i = 0; i < n; i++) {
        if (model->arity[factors->scope[start + i]] != 2) {
            return unsupported(model, f, "has a variable that is no spin of two states", format,
                               err);
        }
    }
    return GBS_OK;
}

static gbs_status add_factor(const gbs_model *model, size_t f, const char *format,
                             gbsi_spin_list *spins, gbs_error *err)
{
    const gbsi_factors *factors = &model->factors;
    const uint32_t *scope = factors->scope + factors->scope_start[f];
    const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
    part p;
    GBSI_PASS(check_factor(model, f, format, err));
    if (!split_factor(model, f, &p)) {
        return unsupported(model, f, "forbids a configuration", format, err);
    }
    spins->constant += p.constant;
    for (size_t i = 0; i < n; i++) {
        spins->field[scope[i]] += p.field[i];
    }
    if (n == 2) {
        GBSI_PASS(gbsi_edges_add(&spins->edges, scope[0], scope[1], p.coupling, err));
    }
    return GBS_OK;
}

/* Refuses a model with a field if the format has no fields. The message names the factor that
 * causes the field. */
static gbs_status refuse_field(const gbs_model *model, const gbsi_spin_list *spins,
                               const char *format, gbs_error *err)
{
    const gbsi_factors *factors = &model->factors;
    for (size_t f = 0; f < factors->n_factors; f++) {
        part p;
        (void)split_factor(model, f, &p);
        for (size_t i = factors->scope_start[f]; i < factors->scope_start[f + 1]; i++) {
            if (p.field[i - factors->scope_start[f]] != 0 && spins->field[factors->scope[i]] != 0) {
                return unsupported(model, f, "holds a field", format, err);
            }
        }
    }
    return gbsi_fail(err, GBS_ERR_UNSUPPORTED, "the model has fields, which %s files cannot hold",
                     format);
}

/* Refuses sums that are too large for a model, because a file with these sums could not be read.
 * Also refuses fields if the format has no fields. */
static gbs_status check_sums(const gbs_model *model, const char *format, bool fields,
                             const gbsi_spin_list *spins, gbs_error *err)
{
    const gbsi_edge *edge = spins->edges.edge;
    bool small = fabs(spins->constant) <= GBS_MAX_LOG_WEIGHT;
    bool any_field = false;
    for (uint32_t v = 0; v < spins->n_variables; v++) {
        small = small && fabs(spins->field[v]) <= GBS_MAX_LOG_WEIGHT;
        any_field = any_field || spins->field[v] != 0;
    }
    for (size_t e = 0; e < spins->edges.n; e++) {
        small = small && fabs(edge[e].value) <= GBS_MAX_LOG_WEIGHT;
    }
    if (!small) {
        return gbsi_fail(
            err, GBS_ERR_UNSUPPORTED,
            "constants, fields or couplings of several factors add up beyond %g, the most a model "
            "may hold",
            GBS_MAX_LOG_WEIGHT);
    }
    return any_field && !fields ? refuse_field(model, spins, format, err) : GBS_OK;
}

gbs_status gbsi_spin_list_of_model(const gbs_model *model, const char *format, bool fields,
                                   gbsi_spin_list *spins, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_repeats repeats;
    gbsi_spin_list made;
    GBSI_TRY(gbsi_spin_list_init(&made, model->n_variables, err));
    for (size_t f = 0; f < model->factors.n_factors; f++) {
        GBSI_TRY(add_factor(model, f, format, &made, err));
    }
    GBSI_TRY(check_variables(model, format, err));
    GBSI_TRY(gbsi_edges_sum(&made.edges, made.n_variables, false, &repeats, err));
    GBSI_TRY(check_sums(model, format, fields, &made, err));
    *spins = made;
    made = (gbsi_spin_list){0};

cleanup:
    gbsi_spin_list_free(&made);
    return status;
}
