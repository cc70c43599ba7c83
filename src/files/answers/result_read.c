/* SPDX-License-Identifier: Apache-2.0 */
/* Reads UAI results of any task. The first word of the file names the task. marginals_file.c
 * reads marginals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "answers/result_table.h"
#include "base/budget.h"
#include "base/memory.h"
#include "base/sized.h"
#include "tables/sheet.h"

/* @return the number of remaining tokens. */
static uint64_t count_tokens(gbsi_text text)
{
    uint64_t n = 0;
    while (gbsi_text_next(&text).n != 0) {
        n++;
    }
    return n;
}

/* ---- PR ---------------------------------------------------------------------------------- */

static bool pr_fits(gbsi_text text)
{
    return count_tokens(text) == 1;
}

static gbs_status read_pr(gbsi_text *text, gbs_log_base base, gbs_result *result, gbs_error *err)
{
    double value = 0.0;
    GBSI_PASS(gbsi_result_skip_samples(text, pr_fits, "the logarithm of Z alone", err));
    gbsi_token token = gbsi_text_peek(text);
    GBSI_PASS(gbsi_text_double(text, "the logarithm of Z", &value, NULL, err));
    if (isnan(value) || value == INFINITY) {
        return gbsi_text_unexpected(text, token, "the logarithm of Z: a number or -inf", err);
    }
    GBSI_PASS(gbsi_text_expect_end(text, "the logarithm of Z", err));
    result->log10_z = base == GBS_LOG_BASE_E ? value / GBSI_LN10 : value;
    return GBS_OK;
}

/* ---- MAP and MPE ------------------------------------------------------------------------- */

/* Whether the text consists of a number n and of exactly n * times tokens behind it. */
static bool count_fits(gbsi_text text, uint64_t times)
{
    uint64_t n = 0;
    return gbsi_text_count(&text, "", 2, &n, NULL) == GBS_OK && count_tokens(text) == times * n;
}

static bool map_fits(gbsi_text text)
{
    return count_fits(text, 1);
}

static gbs_status read_count(gbsi_text *text, const char *expected, size_t least_bytes, uint32_t *n,
                             gbs_error *err)
{
    uint64_t count = 0;
    gbsi_token token = gbsi_text_peek(text);
    gbs_status status = gbsi_text_count(text, expected, least_bytes, &count, err);
    if (status == GBS_OK && count > GBS_MAX_VARIABLES) {
        return gbsi_text_unexpected(text, token, "a number of variables that models can have", err);
    }
    *n = (uint32_t)count;
    return status;
}

static gbs_status read_number(gbsi_text *text, const char *expected, uint64_t max, uint32_t *value,
                              gbs_error *err)
{
    uint64_t read = 0;
    gbs_status status = gbsi_text_integer(text, expected, max, &read, err);
    *value = (uint32_t)read;
    return status;
}

static gbs_status take_array(const gbsi_text *text, uint32_t n, uint32_t **array, gbs_error *err)
{
    *array = gbsi_alloc_array(n, sizeof **array);
    return *array == NULL ? gbsi_no_memory(err, text->name, n * sizeof **array) : GBS_OK;
}

static gbs_status read_map(gbsi_text *text, gbs_result *result, gbs_error *err)
{
    GBSI_PASS(gbsi_result_skip_samples(text, map_fits, "the number of variables", err));
    GBSI_PASS(read_count(text, "the number of variables", 2, &result->n, err));
    GBSI_PASS(take_array(text, result->n, &result->state, err));
    for (uint32_t v = 0; v < result->n; v++) {
        GBSI_PASS(read_number(text, "a state", GBS_MAX_ARITY - 1, &result->state[v], err));
    }
    return gbsi_text_expect_end(text, "the state of the last variable", err);
}

/* ---- MMAP -------------------------------------------------------------------------------- */

static bool mmap_fits(gbsi_text text)
{
    return count_fits(text, 2) || (text.options->lenient != 0 && count_fits(text, 1));
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t *p = a;
    const uint32_t *q = b;
    return *p < *q ? -1 : *p > *q;
}

/* Refuses a variable that occurs twice. @param pairs the text, at the first of the pairs of
 * variable and state. */
static gbs_status refuse_repeats(const gbsi_text *pairs, const gbs_result *result, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint32_t *sorted = NULL;
    GBSI_TRY(take_array(pairs, result->n, &sorted, err));
    memcpy(sorted, result->variable, result->n * sizeof *sorted);
    qsort(sorted, result->n, sizeof *sorted, compare_numbers);
    uint32_t i = 1;
    while (i < result->n && sorted[i] != sorted[i - 1]) {
        i++;
    }
    if (i < result->n) {
        gbsi_text again = *pairs;
        int n_seen = 0;
        for (uint32_t k = 0; k < result->n; k++) {
            gbsi_token token = gbsi_text_next(&again);
            (void)gbsi_text_next(&again);
            if (result->variable[k] == sorted[i] && ++n_seen == 2) {
                status =
                    gbsi_text_fail(pairs, token, err, "found variable %u a second time", sorted[i]);
                break;
            }
        }
    }

cleanup:
    gbsi_free(sorted);
    return status;
}

static gbs_status read_pairs(gbsi_text *text, gbs_result *result, gbs_error *err)
{
    const gbsi_text pairs = *text;
    GBSI_PASS(take_array(text, result->n, &result->variable, err));
    for (uint32_t i = 0; i < result->n; i++) {
        GBSI_PASS(
            read_number(text, "a variable", GBS_MAX_VARIABLES - 1, &result->variable[i], err));
        GBSI_PASS(read_number(text, "a state", GBS_MAX_ARITY - 1, &result->state[i], err));
    }
    GBSI_PASS(gbsi_text_expect_end(text, "the last pair of variable and state", err));
    return refuse_repeats(&pairs, result, err);
}

/* Reads the states that a solver wrote without their variables. The states belong to the query's
 * variables, in the order of the query. */
static gbs_status read_states_only(gbsi_text *text, gbs_result *result, gbs_error *err)
{
    GBSI_PASS(gbsi_text_deviation(text, gbsi_text_peek(text), err,
                                  "found states without their variables, expected pairs (--lenient "
                                  "takes the order of the query)"));
    for (uint32_t i = 0; i < result->n; i++) {
        GBSI_PASS(read_number(text, "a state", GBS_MAX_ARITY - 1, &result->state[i], err));
    }
    return gbsi_text_expect_end(text, "the last state", err);
}

static gbs_status read_mmap(gbsi_text *text, gbs_result *result, gbs_error *err)
{
    GBSI_PASS(gbsi_result_skip_samples(text, mmap_fits, "the number of query variables", err));
    const bool states_only = !count_fits(*text, 2) && count_fits(*text, 1);
    GBSI_PASS(
        read_count(text, "the number of query variables", states_only ? 2 : 4, &result->n, err));
    GBSI_PASS(take_array(text, result->n, &result->state, err));
    return states_only ? read_states_only(text, result, err) : read_pairs(text, result, err);
}

/* ---- any task ---------------------------------------------------------------------------- */

static bool find_task(gbsi_token token, gbs_task *task)
{
    static const struct {
        const char *word;
        gbs_task task;
    } words[] = {{"PR", GBS_TASK_PR},
                 {"MAR", GBS_TASK_MAR},
                 {"MAP", GBS_TASK_MAP},
                 {"MPE", GBS_TASK_MAP},
                 {"MMAP", GBS_TASK_MMAP}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (gbsi_token_is_any_case(token, words[i].word)) {
            *task = words[i].task;
            return true;
        }
    }
    return false;
}

/* Refuses tables that are not results. The message says which kind of table was found. */
static gbs_status refuse_tables(const gbsi_text *text, gbs_error *err)
{
    static const char expected[] = "marginals, joint tables, a state or ln Z as CSV, JSON or UAI";
    const char *end = text->begin;
    while (end < text->end && *end != '\n') {
        end++;
    }
    GBSI_PASS(gbsi_refuse_answers(text, false, expected, err));
    const gbsi_token line = {text->begin, (size_t)(end - text->begin)};
    return memchr(line.at, ',', line.n) == NULL && memchr(line.at, ';', line.n) == NULL
               ? GBS_OK
               : gbsi_text_fail(text, line, err,
                                "found a table of other columns, expected %s; gibbsite fit reads "
                                "tables of cases, gibbsite diagnose tables of draws",
                                expected);
}

static gbs_status read_result(gbsi_text *text, gbs_log_base base, gbs_result *result,
                              gbs_error *err)
{
    gbsi_token word = gbsi_text_next(text);
    if (!find_task(word, &result->task)) {
        GBSI_PASS(refuse_tables(text, err));
        return gbsi_text_unexpected(text, word, "PR, MAR, MAP, MPE or MMAP, CSV or JSON", err);
    }
    if (result->task == GBS_TASK_MAR) {
        return gbsi_marginals_solution(text, word, &result->marginals, err);
    }
    gbsi_result_last_solution(text, word);
    return result->task == GBS_TASK_PR    ? read_pr(text, base, result, err)
           : result->task == GBS_TASK_MAP ? read_map(text, result, err)
                                          : read_mmap(text, result, err);
}

static bool is_regular(const char *path)
{
    struct stat is;
    return stat(path, &is) == 0 && S_ISREG(is.st_mode);
}

static bool begins_with(const gbsi_input *input, const char begin[4])
{
    return input->n >= 4 && memcmp(input->bytes, begin, 4) == 0;
}

/* Refuses array files other than archives on disk, which are recognised by their first bytes. */
static gbs_status refuse_arrays(const gbsi_input *input, bool zip, gbs_error *err)
{
    static const char expected[] = "expected a result as CSV, JSON, UAI or .npz";
    if (zip) { /* a pipe was read up to the first NUL only */
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s:1:1: found a ZIP archive that is not a file, %s; an archive cannot be "
                         "read from a pipe",
                         input->name, expected);
    }
    if (begins_with(input, "\x89HDF")) {
        return gbsi_fail(err, GBS_ERR_FORMAT,
                         "%s:1:1: found a NetCDF file, %s; the program gibbsite reads NetCDF files "
                         "whose names end in .nc",
                         input->name, expected);
    }
    return begins_with(input, "\x93NUM")
               ? gbsi_fail(err, GBS_ERR_FORMAT,
                           "%s:1:1: found an array of NumPy, %s; gibbsite diagnose reads draws in "
                           ".npy",
                           input->name, expected)
               : GBS_OK;
}

static gbs_status read_table(gbsi_text *text, gbs_result *result, gbs_error *err)
{
    gbs_status status = GBS_OK;
    bool is_map = false;
    const char joint = gbsi_csv_separator(text) == 0 ? gbsi_csv_joint_separator(text) : (char)0;
    gbsi_table r = {.text = text, .separator = joint != 0 ? joint : gbsi_csv_separator(text)};
    r.field = gbsi_alloc(gbsi_text_left(text) + 1);
    GBSI_PASS(GBSI_HAVE(err, text->name, r.field));
    if (*text->at == '{') {
        double log_z = (double)NAN;
        double error = (double)NAN;
        GBSI_TRY(gbsi_result_read_json(&r, &is_map, &result->log_density, &log_z, &error, err));
        if (!isnan(log_z)) {
            result->task = GBS_TASK_PR;
            result->log10_z = log_z / GBSI_LN10;
            result->log10_error = error / GBSI_LN10;
            goto cleanup;
        }
    } else if (joint != 0) {
        GBSI_TRY(gbsi_result_read_joints(&r, err));
    } else {
        GBSI_TRY(gbsi_result_read_csv(&r, &is_map, err));
    }
    status = gbsi_table_take(&r, is_map, result, err);

cleanup:
    gbsi_table_free(&r);
    return status;
}

/* Whether the text is a result that this library wrote as CSV or JSON. */
static bool is_table(const gbsi_text *text)
{
    return gbsi_text_left(text) > 0 && (*text->at == '{' || gbsi_csv_separator(text) != 0 ||
                                        gbsi_csv_joint_separator(text) != 0);
}

gbs_status gbs_result_read(const char *path, gbs_log_base base, const gbs_read_options *options,
                           gbs_result *result, gbs_error *err)
{
    GBSI_NEED(path, result);
    GBSI_IN_STRUCT(options, gbs_read_options);
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_text text;
    gbs_result made = {0};
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    GBSI_TRY(gbsi_input_read_text(path, &input, err));
    made.log_density = made.log10_error = NAN;
    const bool zip = begins_with(&input, "PK\3\4");
    const bool archive = zip && is_regular(path);
    if (archive) {
        gbsi_input_free(&input); /* the archive is read again, as an archive */
        GBSI_TRY(gbsi_result_read_npz(path, options, &made, err));
    } else {
        GBSI_TRY(refuse_arrays(&input, zip, err));
        GBSI_TRY(gbsi_text_open(&text, &input, options, err));
    }
    if (!archive && is_table(&text)) {
        GBSI_TRY(read_table(&text, &made, err));
    } else if (!archive) {
        GBSI_TRY(read_result(&text, base, &made, err));
    }
    *result = made;
    made = (gbs_result){0};

cleanup:
    gbs_result_free(&made);
    gbsi_input_free(&input);
    gbsi_budget_leave(before);
    return status;
}

void gbs_result_free(gbs_result *result)
{
    if (result != NULL) {
        gbs_marginals_free(&result->marginals);
        GBSI_FREE(result->variable, result->state, result->name, result->label);
        *result = (gbs_result){0};
    }
}
