/* SPDX-License-Identifier: Apache-2.0 */
/* Reads DimmWitted factor graphs: the meta file, then the files of each kind in turn. */
#include "base/plural.h"
#include "models/dimmwitted.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "decimal/decimal.h"
#include "models/formats.h"

typedef struct loader {
    const gbs_read_options *options;
    gbsi_dw_place place;
    gbsi_dw_files files;
    gbsi_dw_graph graph;
    /* [files.n[GBSI_DW_VARIABLES]] files of variables, which stay open while domains are read */
    gbsi_input *variables;
    size_t n_bytes; /* size of the files of variables and domains together */
} loader;

/* ---- the meta file ------------------------------------------------------------------------- */

static bool is_space(char c)
{
    return gbsi_is_blank(c) && c != '\n';
}

/* Takes the next field from the beginning of a line, without the blanks around the field.
 * @param comma out: whether a comma ends the field. */
static gbsi_token next_field(gbsi_text *line, bool *comma)
{
    const char *end = memchr(line->at, ',', gbsi_text_left(line));
    *comma = end != NULL;
    end = end == NULL ? line->end : end;
    const char *at = line->at;
    line->at = *comma ? end + 1 : end;
    while (at < end && is_space(*at)) {
        at++;
    }
    while (end > at && is_space(end[-1])) {
        end--;
    }
    return (gbsi_token){at, (size_t)(end - at)};
}

static gbs_status read_count(gbsi_text *line, bool last, const char *what, uint64_t max,
                             uint64_t *count, gbs_error *err)
{
    char expected[64];
    char shown[GBSI_SHOWN];
    bool comma = false;
    bool too_large = false;
    const gbsi_token token = next_field(line, &comma);
    (void)snprintf(expected, sizeof expected, "the number of %s", what);
    if (token.n == 0) {
        return gbsi_text_fail(line, token, err, "found nothing, expected %s", expected);
    }
    if (!gbsi_integer_read(token.at, token.n, max, count, &too_large)) {
        return too_large
                   ? gbsi_text_fail(line, token, err, "found %s, expected %s, at most %" PRIu64,
                                    gbsi_token_show(token, shown), expected, max)
                   : gbsi_text_unexpected(line, token, expected, err);
    }
    if (!last && !comma) {
        return gbsi_text_fail(line, (gbsi_token){line->at, 0}, err,
                              "found the end of the line after %s, expected weights, variables, "
                              "factors and edges with commas between them",
                              expected);
    }
    return GBS_OK;
}

/* Reads the counts. Fields after the fourth are file names for old versions of DimmWitted, and are
 * skipped. */
static gbs_status parse_meta(gbsi_text *text, gbsi_dw_counts *counts, gbs_error *err)
{
    gbsi_text line = *text;
    const char *end = memchr(text->at, '\n', gbsi_text_left(text));
    line.end = end == NULL ? text->end : end;
    GBSI_PASS(read_count(&line, false, "weights", UINT64_MAX, &counts->n_weights, err));
    GBSI_PASS(read_count(&line, false, "variables", GBS_MAX_VARIABLES, &counts->n_variables, err));
    GBSI_PASS(read_count(&line, false, "factors", UINT64_MAX, &counts->n_factors, err));
    GBSI_PASS(read_count(&line, true, "edges", UINT64_MAX, &counts->n_edges, err));
    text->at = line.end;
    return gbsi_text_expect_end(text, "the line of numbers", err);
}

static gbs_status read_meta(loader *l, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    gbsi_text text;
    GBSI_TRY(gbsi_input_read(l->place.meta, &input, err));
    GBSI_TRY(gbsi_text_open(&text, &input, l->options, err));
    GBSI_TRY(parse_meta(&text, &l->graph.counts, err));

cleanup:
    gbsi_input_free(&input);
    return status;
}

/* ---- sizes of the companions --------------------------------------------------------------- */

static gbs_status refuse_missing(const loader *l, gbsi_dw_kind kind, uint64_t n, gbs_error *err)
{
    char pattern[256];
    return gbsi_fail(
        err, GBS_ERR_FORMAT, "%s: announces %" PRIu64 " %s, found no %s beside it%s", l->place.meta,
        n, gbsi_dw_kind_name(kind), gbsi_dw_pattern(&l->place, kind, pattern, sizeof pattern),
        l->files.text ? ", but text, which is not read: DimmWitted's text2bin makes the "
                        "binary files from it"
                      : "");
}

static gbs_status check_present(const loader *l, gbs_error *err)
{
    const gbsi_dw_counts *counts = &l->graph.counts;
    const uint64_t n[GBSI_DW_N_KINDS] = {[GBSI_DW_WEIGHTS] = counts->n_weights,
                                         [GBSI_DW_VARIABLES] = counts->n_variables,
                                         [GBSI_DW_FACTORS] = counts->n_factors};
    for (int k = 0; k < GBSI_DW_N_KINDS; k++) {
        if (n[k] > 0 && l->files.n[k] == 0) {
            return refuse_missing(l, (gbsi_dw_kind)k, n[k], err);
        }
    }
    return GBS_OK;
}

static void close_all(gbsi_input *input, size_t n)
{
    for (size_t i = 0; input != NULL && i < n; i++) {
        gbsi_input_free(&input[i]);
    }
    gbsi_free(input);
}

/* Opens all files of one kind. Fails if they are too small for the announced number of records. */
static gbs_status open_all(const loader *l, gbsi_dw_kind kind, uint64_t n_records,
                           gbsi_input **inputs, size_t *n_bytes, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t n = l->files.n[kind];
    gbsi_input *input = gbsi_alloc_array_zero(n, sizeof *input);
    size_t room = 0;
    GBSI_PASS(GBSI_HAVE(err, l->place.meta, input));
    for (size_t i = 0; i < n; i++) {
        GBSI_TRY(gbsi_input_read(gbsi_dw_files_path(&l->files, kind, i), &input[i], err));
        *n_bytes += input[i].n;
        room += input[i].n;
    }
    if (n_records > room / gbsi_dw_record_bytes[kind]) {
        char pattern[256];
        status = gbsi_fail(err, GBS_ERR_FORMAT,
                           "%s: announces %" PRIu64 " %s, but %s can hold no more than %zu",
                           l->place.meta, n_records, gbsi_dw_kind_name(kind),
                           gbsi_dw_pattern(&l->place, kind, pattern, sizeof pattern),
                           room / gbsi_dw_record_bytes[kind]);
        goto cleanup;
    }
    *inputs = input;
    input = NULL;

cleanup:
    close_all(input, n);
    return status;
}

/* ---- companions of each kind --------------------------------------------------------------- */

/* Adds the name of the meta file to the message of an error that no single record causes. */
static gbs_status blame(const loader *l, gbs_status status, gbs_error *err)
{
    if (status != GBS_ERR_ARGUMENT && status != GBS_ERR_LIMIT) {
        return status;
    }
    status = status == GBS_ERR_ARGUMENT ? GBS_ERR_FORMAT : status;
    if (err != NULL) {
        const gbs_error inner = *err;
        (void)gbsi_fail(err, status, "%s: %s", l->place.meta, inner.message);
    }
    return status;
}

static gbs_status read_opened(loader *l, gbsi_dw_kind kind, const gbsi_input *input, gbs_error *err)
{
    for (size_t i = 0; i < l->files.n[kind]; i++) {
        GBSI_PASS(gbsi_dw_read_records(&l->graph, kind, &input[i], err));
    }
    return GBS_OK;
}

/* Reads the files of one kind in turn, so that only one file is in memory at a time. */
static gbs_status read_each(loader *l, gbsi_dw_kind kind, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_input input = {0};
    for (size_t i = 0; i < l->files.n[kind]; i++) {
        GBSI_TRY(gbsi_input_read(gbsi_dw_files_path(&l->files, kind, i), &input, err));
        GBSI_TRY(gbsi_dw_read_records(&l->graph, kind, &input, err));
        l->n_bytes += input.n;
        gbsi_input_free(&input);
    }

cleanup:
    gbsi_input_free(&input);
    return status;
}

static gbs_status read_variables(loader *l, gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_TRY(open_all(l, GBSI_DW_VARIABLES, l->graph.counts.n_variables, &l->variables, &l->n_bytes,
                      err));
    GBSI_TRY(gbsi_dw_graph_init(&l->graph, err));
    GBSI_TRY(read_each(l, GBSI_DW_DOMAINS, err));
    GBSI_TRY(read_opened(l, GBSI_DW_VARIABLES, l->variables, err));
    GBSI_TRY(blame(l, gbsi_dw_finish_variables(&l->graph, l->n_bytes, err), err));

cleanup:
    close_all(l->variables, l->files.n[GBSI_DW_VARIABLES]);
    l->variables = NULL;
    return status;
}

static gbs_status read_weights(loader *l, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_input *input = NULL;
    size_t n_bytes = 0;
    GBSI_TRY(open_all(l, GBSI_DW_WEIGHTS, l->graph.counts.n_weights, &input, &n_bytes, err));
    GBSI_TRY(gbsi_dw_graph_init_weights(&l->graph, err));
    GBSI_TRY(read_opened(l, GBSI_DW_WEIGHTS, input, err));
    GBSI_TRY(blame(l, gbsi_dw_finish_weights(&l->graph, err), err));

cleanup:
    close_all(input, l->files.n[GBSI_DW_WEIGHTS]);
    return status;
}

static void tell_truthiness(const loader *l)
{
    char message[512];
    if (l->graph.n_truthful > 0 && l->options->warn != NULL) {
        (void)snprintf(message, sizeof message,
                       "%.300s: the truthiness of %" PRIu64 " domain value%s is not kept; it "
                       "matters in learning only",
                       l->place.meta, l->graph.n_truthful, gbsi_plural(l->graph.n_truthful));
        l->options->warn(l->options->context, message);
    }
}

gbs_status gbsi_dimmwitted_read(const char *path, const gbs_read_options *options,
                                gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    loader l = {.options = options};
    GBSI_TRY(gbsi_dw_place_find(path, &l.place, err));
    GBSI_TRY(read_meta(&l, err));
    GBSI_TRY(gbsi_dw_files_find(&l.place, &l.files, err));
    GBSI_TRY(check_present(&l, err));
    GBSI_TRY(read_variables(&l, err));
    GBSI_TRY(read_weights(&l, err));
    GBSI_TRY(read_each(&l, GBSI_DW_FACTORS, err));
    GBSI_TRY(blame(&l, gbsi_dw_finish_factors(&l.graph, model, err), err));
    tell_truthiness(&l);

cleanup:
    gbsi_dw_graph_free(&l.graph);
    gbsi_dw_files_free(&l.files);
    gbsi_dw_place_free(&l.place);
    return status;
}
