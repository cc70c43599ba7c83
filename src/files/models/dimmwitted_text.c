/* SPDX-License-Identifier: Apache-2.0 */
/* Text records of a DimmWitted factor graph: one per line, fields separated by tabs or blanks.
 * Factors of a file share function, arity and literals, which stand in NAME.text2bin-args. */
#include <inttypes.h>
#include <string.h>

#include "base/memory.h"
#include "models/dimmwitted.h"
#include "text/text.h"

/* The least bytes of a record: a digit and the end of the line. Missing fields are reported where
 * the record is read. */
const size_t gbsi_dw_text_bytes[GBSI_DW_N_KINDS] = {[GBSI_DW_WEIGHTS] = 2, [GBSI_DW_VARIABLES] = 2};

/* What NAME.text2bin-args says. */
typedef struct arguments {
    uint64_t function;
    uint32_t n;
    void *equal_to; /* uint64_t [n] */
    size_t capacity;
} arguments;

typedef struct reader {
    gbsi_dw_graph *graph;
    gbsi_text *text;
    gbsi_token end; /* of the line */
    void *field;    /* gbsi_token [n]: those of the line */
    size_t n, field_capacity;
    void *first, *second; /* uint64_t: variables and equalTo, or values; double: truthiness */
    size_t first_capacity, second_capacity;
    arguments arguments;
} reader;

static gbsi_token field_of(const reader *r, size_t i)
{
    return i < r->n ? ((gbsi_token *)r->field)[i] : r->end;
}

static gbs_status add_field(reader *r, gbsi_token token, gbs_error *err)
{
    gbs_status status = gbsi_reserve(&r->field, &r->field_capacity, r->n + 1, sizeof(gbsi_token),
                                     r->text->name, err);
    if (status == GBS_OK) {
        ((gbsi_token *)r->field)[r->n++] = token;
    }
    return status;
}

/* Cuts the next line into fields: none if it is empty. */
static gbs_status read_line(reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_text line = *r->text;
    const char *end = memchr(line.at, '\n', gbsi_text_left(&line));
    line.end = end == NULL ? line.end : end;
    r->text->at = end == NULL ? line.end : end + 1;
    r->end = (gbsi_token){line.end, 0};
    r->n = 0;
    for (gbsi_token token = gbsi_text_next(&line); token.n > 0; token = gbsi_text_next(&line)) {
        GBSI_TRY(add_field(r, token, err));
    }

cleanup:
    return status;
}

static gbs_status fail_missing(const reader *r, const char *expected, gbs_error *err)
{
    return gbsi_text_fail(r->text, r->end, err, "found the end of the line, expected %s", expected);
}

/* A text that is one field, so that what reads numbers from texts says where. */
static gbsi_text only(const reader *r, gbsi_token token)
{
    gbsi_text one = *r->text;
    one.at = token.at;
    one.end = token.at + token.n;
    return one;
}

static gbs_status integer(const reader *r, size_t i, const char *expected, uint64_t *value,
                          gbs_error *err)
{
    if (i >= r->n) {
        return fail_missing(r, expected, err);
    }
    gbsi_text one = only(r, field_of(r, i));
    return gbsi_text_integer(&one, expected, UINT64_MAX, value, err);
}

static gbs_status number(const reader *r, size_t i, const char *expected, double *value,
                         gbs_error *err)
{
    if (i >= r->n) {
        return fail_missing(r, expected, err);
    }
    gbsi_text one = only(r, field_of(r, i));
    return gbsi_text_double(&one, expected, value, NULL, err);
}

static gbs_status expect_fields(const reader *r, size_t n, const char *last, gbs_error *err)
{
    char shown[GBSI_SHOWN];
    return r->n <= n ? GBS_OK
                     : gbsi_text_fail(r->text, field_of(r, n), err,
                                      "found %s, expected the end of the line after %s",
                                      gbsi_token_show(field_of(r, n), shown), last);
}

/* ---- weights and variables ----------------------------------------------------------------- */

static gbs_status read_weight(reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t id = 0;
    uint64_t fixed = 0;
    double value = 0;
    GBSI_TRY(integer(r, 0, "the id of a weight", &id, err));
    GBSI_TRY(integer(r, 1, "0 or 1 (is it fixed)", &fixed, err));
    GBSI_TRY(number(r, 2, "a weight", &value, err));
    GBSI_TRY(expect_fields(r, 3, "the weight", err));
    status = gbsi_dw_add_weight(r->graph, id, fixed, value, err);
    return gbsi_text_blame(r->text, field_of(r, r->graph->field), status, err);

cleanup:
    return status;
}

static gbs_status read_variable(reader *r, gbs_error *err)
{
    static const char *const expected[5] = {"the id of a variable", "a role", "an initial value",
                                            "a type", "a cardinality"};
    gbs_status status = GBS_OK;
    uint64_t value[5];
    for (size_t i = 0; i < 5; i++) {
        GBSI_TRY(integer(r, i, expected[i], &value[i], err));
    }
    GBSI_TRY(expect_fields(r, 5, "the cardinality", err));
    status = gbsi_dw_add_variable(r->graph, value[0], value[1], value[2], value[3], value[4], err);
    return gbsi_text_blame(r->text, field_of(r, r->graph->field), status, err);

cleanup:
    return status;
}

/* ---- domains ------------------------------------------------------------------------------- */

/* Puts the n elements of {a,b,c} behind the other fields. */
static gbs_status split_list(reader *r, gbsi_token list, uint64_t n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    if (list.n == 0) {
        return fail_missing(r, "a list in braces", err);
    }
    if (list.n < 2 || list.at[0] != '{' || list.at[list.n - 1] != '}') {
        return gbsi_text_unexpected(r->text, list, "a list in braces such as {2,4,8}", err);
    }
    const char *at = list.at + 1;
    const char *last = list.at + list.n - 1;
    uint64_t found = 0;
    for (; at < last; found++) {
        const char *comma = memchr(at, ',', (size_t)(last - at));
        const char *stop = comma == NULL ? last : comma;
        if (stop == at || stop + 1 == last) {
            return gbsi_text_unexpected(r->text, list, "numbers with commas between them", err);
        }
        GBSI_TRY(add_field(r, (gbsi_token){at, (size_t)(stop - at)}, err));
        at = stop + (comma == NULL ? 0 : 1);
    }
    if (found != n) {
        return gbsi_text_fail(r->text, list, err,
                              "found a list of %" PRIu64 ", expected as many as the cardinality: "
                              "%" PRIu64,
                              found, n);
    }

cleanup:
    return status;
}

/* Field i of the binary record: values and truthiness alternate there. */
static gbsi_token domain_field(const reader *r, size_t i, size_t n_fields, size_t n)
{
    return i < 2 ? field_of(r, i) : field_of(r, n_fields + (i % 2) * n + (i - 2) / 2);
}

/* Older files have no truthiness. */
static gbs_status read_domain(reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t id = 0;
    uint64_t n = 0;
    const size_t n_fields = r->n;
    const bool truthful = n_fields > 3;
    GBSI_TRY(integer(r, 0, "the id of a variable", &id, err));
    GBSI_TRY(integer(r, 1, "a cardinality", &n, err));
    GBSI_TRY(expect_fields(r, 4, "the truthiness", err));
    GBSI_TRY(split_list(r, field_of(r, 2), n, err));
    if (truthful) {
        GBSI_TRY(split_list(r, field_of(r, 3), n, err));
    }
    /* from here on n fits the line */
    GBSI_TRY(gbsi_reserve(&r->first, &r->first_capacity, n, sizeof(uint64_t), "domain", err));
    GBSI_TRY(gbsi_reserve(&r->second, &r->second_capacity, n, sizeof(double), "domain", err));
    for (size_t i = 0; i < n; i++) {
        GBSI_TRY(integer(r, n_fields + i, "a value", (uint64_t *)r->first + i, err));
        if (truthful) {
            GBSI_TRY(number(r, n_fields + n + i, "a truthiness", (double *)r->second + i, err));
        }
    }
    status = gbsi_dw_add_domain(r->graph, id, n, r->first, truthful ? r->second : NULL, err);
    return gbsi_text_blame(r->text, domain_field(r, r->graph->field, n_fields, n), status, err);

cleanup:
    return status;
}

/* ---- factors ------------------------------------------------------------------------------- */

static bool has_values(const reader *r)
{
    return r->arguments.function == GBS_LOGICAL_AND_CATEGORICAL;
}

/* Field i of the binary record. What stands in the arguments is shown at the variable it meets. */
static gbsi_token factor_field(const reader *r, size_t i)
{
    const size_t n = r->arguments.n;
    const size_t n_literals = has_values(r) ? 2 * n : n;
    if (i < 2) {
        return field_of(r, 0);
    }
    if (i >= 2 + 2 * n) {
        return field_of(r, n_literals + i - 2 - 2 * n);
    }
    return field_of(r, (i - 2) / 2 + (i % 2 == 1 && has_values(r) ? n : 0));
}

static gbs_status read_factor(reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = r->arguments.n;
    size_t i = n;
    uint64_t weight = 0;
    double feature = 0;
    const uint64_t *equal_to = r->arguments.equal_to;
    GBSI_TRY(gbsi_reserve(&r->first, &r->first_capacity, n, sizeof(uint64_t), "factor", err));
    for (uint32_t k = 0; k < n; k++) {
        GBSI_TRY(integer(r, k, "the id of a variable", (uint64_t *)r->first + k, err));
    }
    if (has_values(r)) {
        GBSI_TRY(gbsi_reserve(&r->second, &r->second_capacity, n, sizeof(uint64_t), "factor", err));
        for (uint32_t k = 0; k < n; k++) {
            GBSI_TRY(integer(r, i++, "a value", (uint64_t *)r->second + k, err));
        }
        equal_to = r->second;
    }
    GBSI_TRY(integer(r, i++, "the id of a weight", &weight, err));
    GBSI_TRY(number(r, i++, "a feature", &feature, err));
    GBSI_TRY(expect_fields(r, i, "the feature", err));
    status = gbsi_dw_add_factor(r->graph, r->arguments.function, n, r->first, equal_to, weight,
                                feature, err);
    return gbsi_text_blame(r->text, factor_field(r, r->graph->field), status, err);

cleanup:
    return status;
}

/* FUNCTION ARITY VALUE... where functions with values in the factors themselves need none. */
static gbs_status parse_arguments(reader *r, gbsi_text *text, gbs_error *err)
{
    gbs_status status = GBS_OK;
    arguments *a = &r->arguments;
    uint64_t n = 0;
    gbsi_token token = gbsi_text_peek(text);
    GBSI_TRY(gbsi_text_integer(text, "the number of a function", UINT64_MAX, &a->function, err));
    if (!gbsi_dw_function_known(a->function)) {
        return gbsi_text_unexpected(text, token, "one of the functions 0 to 4, 7 to 9, 12 and 13",
                                    err);
    }
    token = gbsi_text_peek(text);
    GBSI_TRY(gbsi_text_integer(text, "an arity", GBS_MAX_ARITY, &n, err));
    if (n == 0) {
        return gbsi_text_fail(text, token, err, "found arity 0, expected 1 to %u", GBS_MAX_ARITY);
    }
    a->n = (uint32_t)n;
    if (has_values(r) && gbsi_text_peek(text).n == 0) {
        return GBS_OK;
    }
    GBSI_TRY(gbsi_reserve(&a->equal_to, &a->capacity, n, sizeof(uint64_t), text->name, err));
    for (uint32_t k = 0; k < n; k++) {
        GBSI_TRY(gbsi_text_integer(text, "a value for each variable", UINT64_MAX,
                                   (uint64_t *)a->equal_to + k, err));
    }
    GBSI_TRY(gbsi_text_expect_end(text, "a value for each variable", err));

cleanup:
    return status;
}

/* "factors1.tsv" or "factors1.tsv.gz": "factors1.text2bin-args". */
static gbs_status arguments_path(const char *name, char **path, gbs_error *err)
{
    static const char ending[] = ".text2bin-args";
    size_t n = strlen(name);
    n -= name[n - 1] == 'v' || name[n - 1] == 'V' ? strlen(".tsv") : strlen(".tsv.gz");
    *path = gbsi_alloc(n + sizeof ending);
    if (*path == NULL) {
        return gbsi_no_memory(err, name, n + sizeof ending);
    }
    memcpy(*path, name, n);
    memcpy(*path + n, ending, sizeof ending);
    return GBS_OK;
}

static gbs_status read_arguments(reader *r, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_text text;
    char *path = NULL;
    GBSI_TRY(arguments_path(r->text->name, &path, err));
    GBSI_TRY(gbsi_input_read(path, &input, err));
    GBSI_TRY(gbsi_text_open(&text, &input, r->text->options, err));
    GBSI_TRY(parse_arguments(r, &text, err));

cleanup:
    gbsi_input_free(&input);
    gbsi_free(path);
    return status;
}

/* ---- a file -------------------------------------------------------------------------------- */

gbs_status gbsi_dw_read_text(gbsi_dw_graph *graph, gbsi_dw_kind kind, const gbsi_input *input,
                             const gbs_read_options *options, gbs_error *err)
{
    static gbs_status (*const read[GBSI_DW_N_KINDS])(reader *, gbs_error *) = {
        [GBSI_DW_WEIGHTS] = read_weight,
        [GBSI_DW_VARIABLES] = read_variable,
        [GBSI_DW_FACTORS] = read_factor,
        [GBSI_DW_DOMAINS] = read_domain};
    gbs_status status = GBS_OK;
    gbsi_text text;
    reader r = {.graph = graph, .text = &text};
    GBSI_TRY(gbsi_text_open(&text, input, options, err));
    if (kind == GBSI_DW_FACTORS) {
        GBSI_TRY(read_arguments(&r, err));
    }
    while (gbsi_text_left(&text) > 0) {
        GBSI_TRY(read_line(&r, err));
        if (r.n > 0) {
            GBSI_TRY(read[kind](&r, err));
        }
    }

cleanup:
    gbsi_free(r.field);
    gbsi_free(r.first);
    gbsi_free(r.second);
    gbsi_free(r.arguments.equal_to);
    return status;
}
