/* SPDX-License-Identifier: Apache-2.0 */
#include "base/plural.h"
#include "models/tables.h"

#include <assert.h>
#include <math.h>

#include "base/memory.h"
#include "decimal/decimal.h"
#include "simd/math.h"
#include "store/model.h"
#include "text/output.h"

gbs_status gbsi_expander_init(gbsi_expander *expander, const gbs_model *model, gbs_error *err)
{
    *expander = (gbsi_expander){.model = model};
    expander->x = gbsi_alloc_array_zero(model->n_variables, sizeof *expander->x);
    GBSI_PASS(GBSI_HAVE(err, "writing a model", expander->x));
    return GBS_OK;
}

void gbsi_expander_free(gbsi_expander *expander)
{
    GBSI_FREE(expander->x, expander->logw);
    *expander = (gbsi_expander){0};
}

/* Moves x to the next configuration of the scope. The last variable runs fastest. */
static void advance(const gbs_model *model, const uint32_t *scope, size_t n, uint32_t *x)
{
    while (n-- > 0) {
        uint32_t v = scope[n];
        if (++x[v] < model->arity[v]) {
            return;
        }
        x[v] = 0;
    }
}

gbs_status gbsi_expand(gbsi_expander *expander, size_t factor, const double **logw, size_t *n,
                       gbs_error *err)
{
    const size_t most = (size_t)1 << 24;
    const gbs_model *model = expander->model;
    const gbsi_factors *factors = &model->factors;
    if (factors->kind[factor] == GBS_FACTOR_TABLE) {
        size_t table = factors->aux[factor];
        *logw = factors->table + factors->table_start[table];
        *n = factors->table_start[table + 1] - factors->table_start[table];
        return GBS_OK;
    }
    const uint32_t *scope = factors->scope + factors->scope_start[factor];
    size_t n_scope = factors->scope_start[factor + 1] - factors->scope_start[factor];
    size_t n_entries = 1;
    for (size_t i = 0; i < n_scope; i++) {
        if (!gbsi_mul_size(n_entries, model->arity[scope[i]], &n_entries) || n_entries > most) {
            return gbsi_fail(err, GBS_ERR_LIMIT,
                             "factor %zu of %zu variable%s would need a table of more than %zu "
                             "entries",
                             factor, n_scope, gbsi_plural(n_scope), most);
        }
    }
    GBSI_PASS(gbsi_reserve(&expander->logw, &expander->capacity, n_entries, sizeof(double),
                           "writing a model", err));
    double *table = expander->logw;
    /* after the last entry advance() sets x to zeros again */
    for (size_t i = 0; i < n_entries; i++) {
        table[i] = gbsi_factor_value(factors, model->arity, factor, expander->x);
        advance(model, scope, n_scope, expander->x);
    }
    *logw = table;
    *n = n_entries;
    return GBS_OK;
}

/* Rounds to n digits, and halves up. Zeros at the end are dropped. */
static gbsi_digits round_digits(const gbsi_digits *digits, int n)
{
    gbsi_digits rounded = *digits;
    bool up = digits->digit[n] >= '5';
    rounded.n = n;
    while (up && rounded.n > 0 && rounded.digit[rounded.n - 1] == '9') {
        rounded.n--;
    }
    if (up && rounded.n == 0) {
        rounded.digit[rounded.n++] = '1';
        rounded.exponent++;
    } else if (up) {
        rounded.digit[rounded.n - 1]++;
    }
    /* the loop ends, because the first digit is not 0 */
    while (rounded.digit[rounded.n - 1] == '0') {
        rounded.n--;
    }
    return rounded;
}

/* Whether the logarithm of the decimal number `digits` is exactly logw. */
static bool logs_back(const gbsi_digits *digits, double logw)
{
    int exponent10 = 0;
    uint64_t integer = gbsi_digits_integer(digits, &exponent10);
    double p = gbsi_decimal_value(integer, exponent10);
    return p > 0 && p < INFINITY && gbsi_log(p) == logw;
}

/* Writes a number near p whose logarithm is exactly logw, with as few digits as possible. Bisection
 * finds the number of digits, because n + 1 digits are usually enough if n digits are.
 * @return the length of the text; 0 if no number near p has this logarithm. */
static size_t find_text(double p, double logw, char *text)
{
    gbsi_digits digits;
    gbsi_digits_shortest(p, &digits);
    gbsi_digits best = {.n = 0};
    int low = 1;
    int high = digits.n;
    while (low < high) {
        int middle = low + (high - low) / 2;
        gbsi_digits rounded = round_digits(&digits, middle);
        bool back = logs_back(&rounded, logw);
        best = back ? rounded : best;
        low = back ? low : middle + 1;
        high = back ? middle : high;
    }
    if (best.n != 0) {
        return gbsi_digits_write(&best, false, text);
    }
    /* gbsi_exp() is not exact, so p may differ by one unit from the value that was read. */
    const double candidate[] = {p, p + p * 0x1p-53, p - p * 0x1p-53, p + p * 0x1p-52,
                                p - p * 0x1p-52};
    for (size_t i = 0; i < sizeof candidate / sizeof candidate[0]; i++) {
        if (candidate[i] > 0 && candidate[i] < INFINITY && gbsi_log(candidate[i]) == logw) {
            return gbsi_format_double(candidate[i], text);
        }
    }
    return 0;
}

gbs_status gbsi_output_exp(gbs_output *output, double logw, size_t factor, gbs_error *err)
{
    const double least_normal = 0x1p-1022;
    char text[32];
    assert(!isnan(logw));
    if (logw == -INFINITY || logw == 0) {
        gbsi_output_text(output, logw == 0 ? "1" : "0");
        return GBS_OK;
    }
    double p = gbsi_exp(logw);
    size_t length = p > 0 && p < INFINITY ? find_text(p, logw, text) : 0;
    if (length == 0) {
        if (!(p >= least_normal && p < INFINITY)) {
            (void)gbsi_format_double(logw, text);
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "factor %zu: exp(%s) is beyond the range of doubles; write logarithms "
                             "(.LG) instead",
                             factor, text);
        }
        length = gbsi_format_double(p, text);
    }
    gbsi_output_decimal(output, text, length);
    return GBS_OK;
}
