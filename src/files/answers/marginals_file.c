/* SPDX-License-Identifier: Apache-2.0 */
/* Reads UAI marginals: the word MAR, the number of variables, then for each variable its number
 * of states and their probabilities. */
#include <math.h>

#include "answers/result.h"
#include "base/memory.h"
#include "base/plural.h"
#include "base/sized.h"
#include "simd/math.h"

/* Files have about six digits. A difference between 1 and a sum that exceeds this tolerance is not
 * due to rounding. */
static const double SUM_TOLERANCE = 1e-3;
/* Largest difference of two equal exact answers of which one was rounded to nine digits. */
static const double ROUNDING = 1e-9;
/* Bound of two errors: from conditionals that are rounded to float, and from rare states that were
 * never drawn. */
static const double FLOAT_ERROR = 2e-5;

/* Whether the remaining tokens are exactly n rows. */
static bool layout_fits(gbsi_text text)
{
    uint64_t n = 0;
    if (gbsi_text_count(&text, "", 4, &n, NULL) < 0) {
        return false;
    }
    for (uint64_t v = 0; v < n; v++) {
        uint64_t k = 0;
        if (gbsi_text_count(&text, "", 2, &k, NULL) < 0) {
            return false;
        }
        for (uint64_t a = 0; a < k; a++) {
            if (gbsi_text_next(&text).n == 0) {
                return false;
            }
        }
    }
    return gbsi_text_peek(&text).n == 0;
}

static gbs_status read_row(gbsi_text *text, double *p, uint64_t n, bool *off, gbs_error *err)
{
    double sum = 0;
    for (uint64_t a = 0; a < n; a++) {
        gbsi_token token = gbsi_text_peek(text);
        GBSI_PASS(gbsi_text_double(text, "a probability", &p[a], NULL, err));
        if (!(p[a] >= 0 && p[a] <= 1 + SUM_TOLERANCE)) {
            return gbsi_text_unexpected(text, token, "a probability, 0 to 1", err);
        }
        sum += p[a];
    }
    *off = *off || !(sum > 1 - SUM_TOLERANCE && sum < 1 + SUM_TOLERANCE);
    return GBS_OK;
}

static gbs_status read_rows(gbsi_text *text, uint32_t n, gbs_marginals *m, gbs_error *err)
{
    gbs_status status = GBS_OK;
    void *p = NULL;
    size_t capacity = 0;
    bool off = false;
    size_t *offset = gbsi_alloc_array_zero((size_t)n + 1, sizeof *offset);
    GBSI_PASS(GBSI_HAVE(err, text->name, offset));
    for (uint32_t v = 0; v < n; v++) {
        uint64_t k = 0;
        gbsi_token token = gbsi_text_peek(text);
        GBSI_TRY(gbsi_text_count(text, "a number of states", 2, &k, err));
        if (k == 0) {
            status = gbsi_text_unexpected(text, token, "a number of states of at least 1", err);
            goto cleanup;
        }
        offset[v + 1] = offset[v] + k;
        GBSI_TRY(gbsi_reserve(&p, &capacity, offset[v + 1], sizeof(double), text->name, err));
        GBSI_TRY(read_row(text, (double *)p + offset[v], k, &off, err));
    }
    GBSI_TRY(gbsi_text_expect_end(text, "the last marginal", err));
    if (off) {
        gbsi_text_warn(text, "some marginals do not sum to one");
    }
    if (p == NULL) {
        GBSI_TRY(gbsi_reserve(&p, &capacity, 1, sizeof(double), text->name, err));
    }
    *m = (gbs_marginals){.n_variables = n, .offset = offset, .p = p};
    return GBS_OK;

cleanup:
    GBSI_FREE(offset, p);
    return status;
}

gbs_status gbsi_marginals_solution(gbsi_text *text, gbsi_token task, gbs_marginals *marginals,
                                   gbs_error *err)
{
    uint64_t n = 0;
    gbsi_result_last_solution(text, task);
    GBSI_PASS(gbsi_result_skip_samples(text, layout_fits, "the number of variables", err));
    gbsi_token token = gbsi_text_peek(text);
    GBSI_PASS(gbsi_text_count(text, "the number of variables", 4, &n, err));
    if (n > GBS_MAX_VARIABLES) {
        return gbsi_text_unexpected(text, token, "a number of variables that models can have", err);
    }
    return read_rows(text, (uint32_t)n, marginals, err);
}

static gbs_status read_marginals(gbsi_text *text, gbs_marginals *marginals, gbs_error *err)
{
    gbsi_token task = gbsi_text_next(text);
    if (!gbsi_token_is_any_case(task, "MAR")) {
        return gbsi_text_unexpected(text, task, "MAR", err);
    }
    return gbsi_marginals_solution(text, task, marginals, err);
}

gbs_status gbs_marginals_read(const char *path, const gbs_read_options *options,
                              gbs_marginals *marginals, gbs_error *err)
{
    GBSI_NEED(path, marginals);
    GBSI_IN_STRUCT(options, gbs_read_options);
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_text text;
    GBSI_TRY(gbsi_input_read_text(path, &input, err));
    GBSI_TRY(gbsi_text_open(&text, &input, options, err));
    status = read_marginals(&text, marginals, err);

cleanup:
    gbsi_input_free(&input);
    return status;
}

void gbs_marginals_free(gbs_marginals *marginals)
{
    if (marginals != NULL) {
        GBSI_FREE(marginals->offset, marginals->p, marginals->error);
        *marginals = (gbs_marginals){0};
    }
}

static gbs_status check_shapes(const gbs_marginals *a, const gbs_marginals *b, gbs_error *err)
{
    if (a->n_variables != b->n_variables) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "found marginals of %u and of %u variable%s",
                         a->n_variables, b->n_variables, gbsi_plural(b->n_variables));
    }
    for (uint32_t v = 0; v < a->n_variables; v++) {
        size_t n_a = a->offset[v + 1] - a->offset[v];
        size_t n_b = b->offset[v + 1] - b->offset[v];
        if (n_a != n_b) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "variable %u has %zu state%s and %zu state%s",
                             v, n_a, gbsi_plural(n_a), n_b, gbsi_plural(n_b));
        }
    }
    return GBS_OK;
}

static double error_of(const gbs_marginals *m, size_t i)
{
    return m->error == NULL ? 0.0 : m->error[i];
}

/* Whether some entry has a known standard error in a and in b, and at least one of the two is not
 * 0. */
static bool has_errors(const gbs_marginals *a, const gbs_marginals *b)
{
    for (size_t i = 0; i < a->offset[a->n_variables]; i++) {
        const double e = error_of(a, i) + error_of(b, i);
        if (e > 0.0 && e < INFINITY) {
            return true;
        }
    }
    return false;
}

/* @return |p - q|, less the rounding error of files with nine digits, divided by the standard error
 *   of the difference; 0 for an entry whose standard error is not known. */
static double standard_errors(const gbs_marginals *a, const gbs_marginals *b, size_t i)
{
    const double e = error_of(a, i);
    const double f = error_of(b, i);
    const double distance = fabs(a->p[i] - b->p[i]) - ROUNDING;
    return isnan(e + f)      ? 0.0
           : distance > 0.0  ? distance / gbsi_sqrt(e * e + f * f + FLOAT_ERROR * FLOAT_ERROR)
           : isnan(distance) ? NAN
                             : 0.0;
}

static void compare_errors(const gbs_marginals *a, const gbs_marginals *b, gbs_comparison *c)
{
    const size_t n = a->n_variables == 0 ? 0 : a->offset[a->n_variables];
    c->max_z = n > 0 && has_errors(a, b) ? 0.0 : NAN;
    c->limit_z = n > 0 ? gbsi_normal_quantile(1.0 - 0.001 / (double)n) : NAN;
    for (uint32_t v = 0; !isnan(c->max_z) && v < a->n_variables; v++) {
        for (size_t i = a->offset[v]; i < a->offset[v + 1] && !isnan(c->max_z); i++) {
            const double z = standard_errors(a, b, i);
            if (!(z <= c->max_z)) {
                c->max_z = z;
                c->worst_z = v;
                c->worst_z_state = (uint32_t)(i - a->offset[v]);
            }
        }
    }
}

/* Computes the total variation distance of each variable: half the sum of |p - q| over its
 * states. */
gbs_status gbs_marginals_compare(const gbs_marginals *a, const gbs_marginals *b,
                                 gbs_comparison *comparison, gbs_error *err)
{
    GBSI_NEED(a, b, comparison);
    gbs_comparison c = {0};
    GBSI_PASS(check_shapes(a, b, err));
    double sum_abs = 0;
    double sum_tv = 0;
    for (uint32_t v = 0; v < a->n_variables; v++) {
        double tv = 0;
        for (size_t i = a->offset[v]; i < a->offset[v + 1]; i++) {
            double q = b->p[b->offset[v] + (i - a->offset[v])];
            double distance = fabs(a->p[i] - q);
            c.max_abs = distance <= c.max_abs ? c.max_abs : distance; /* keeps a NaN distance */
            sum_abs += distance;
            tv += distance / 2;
        }
        if (!(tv <= c.max_tv)) {
            c.max_tv = tv;
            c.worst = v;
        }
        sum_tv += tv;
    }
    if (a->n_variables != 0) {
        c.mean_abs = sum_abs / (double)a->offset[a->n_variables];
        c.mean_tv = sum_tv / a->n_variables;
    }
    compare_errors(a, b, &c);
    *comparison = c;
    return GBS_OK;
}
