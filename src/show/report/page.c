/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the page from its head to its end. */
#include <stdio.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "chart/chart_pen.h"
#include "report/page.h"
#include "report/summary.h"
#include "text/input.h"

enum { MOST_SOURCES = 64 };

/* Title and writer of each kind of source, the member that every source of this kind has, and what
 * has this member. */
static const struct {
    const char *schema, *title;
    void (*put)(gbsi_page *page, const gbsi_json *source);
    const char *member, *writer;
} kinds[] = {
    {"run/1", "Marginals", gbsi_page_run, "marginals", "a summary of a run"},
    {"logz/1", "The partition function", gbsi_page_log_z, "verdict", "an answer of gibbsite logz"},
    {"map/1", "The most probable state", gbsi_page_map, "state", "an answer of gibbsite map"},
    {"draws/1", "Draws", gbsi_page_draws, "quantities", "an object with draws"},
    {"certify/1", "Certificates", gbsi_page_certify, "influences", "an answer of gibbsite certify"},
};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

/* Refuses an object without an answer. @return whether the object has the member of its kind. */
static bool check_member(gbsi_page *page, const gbsi_json *value, size_t kind)
{
    const gbsi_json *member = gbsi_json_member(value, kinds[kind].member);
    if (member == NULL || member->kind == GBSI_JSON_NULL) {
        char expected[96];
        (void)snprintf(expected, sizeof expected, "%s, with \"%s\"", kinds[kind].writer,
                       kinds[kind].member);
        gbsi_page_refuse(page, member == NULL ? value : member, expected);
        return false;
    }
    return true;
}

/* @return the kind of a source, N_KINDS after a failure. */
static size_t kind_of(gbsi_page *page, const gbsi_json_file *file)
{
    page->file = file;
    const char *schema = gbsi_page_string(page, file->value, "schema");
    for (size_t k = 0; k < N_KINDS; k++) {
        if (schema != NULL && strcmp(schema, kinds[k].schema) == 0) {
            return check_member(page, file->value, k) ? k : N_KINDS;
        }
    }
    const gbsi_json *at = gbsi_json_member(file->value, "schema");
    gbsi_page_refuse(page, at == NULL ? file->value : at,
                     "a summary: an object whose \"schema\" is \"run/1\", \"logz/1\", \"map/1\", "
                     "\"draws/1\" or \"certify/1\"");
    return N_KINDS;
}

/* Writes the title, such as "Marginals of clinic.bif". */
static void put_title(gbsi_page *page, const gbsi_json_file *file, size_t kind)
{
    const gbsi_json *model = kind == 0 ? gbsi_page_object(page, file->value, "model") : NULL;
    const char *name = gbsi_page_string(page, model, "name");
    gbsi_put(page->out, "%s of <span class=\"of\">", kinds[kind].title);
    gbsi_page_text(page, gbsi_page_base_name(name == NULL ? file->text.name : name));
    gbsi_page_put(page, "</span>");
}

/* Writes a heading and, below it, the evidence, such as "given fever=yes". */
static void put_heading(gbsi_page *page, const gbsi_json_file *file, size_t kind)
{
    const gbsi_json *options = gbsi_page_object(page, file->value, "options");
    const gbsi_json *evidence = gbsi_page_array(page, options, "evidence");
    gbsi_page_put(page, "<h2>");
    put_title(page, file, kind);
    gbsi_page_put(page, "</h2>\n");
    if (evidence == NULL || evidence->n == 0) {
        return;
    }
    gbsi_page_put(page, "<p class=\"given\">given ");
    gbsi_page_evidence(page, options);
    gbsi_page_put(page, "</p>\n");
}

static void put_page(gbsi_page *page, const gbsi_json_file *file, size_t n)
{
    unsigned n_runs = 0;
    gbsi_page_put(
        page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
              "style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
              "<meta name=\"color-scheme\" content=\"light dark\">\n<title>gibbsite "
              "report</title>\n<style>\n");
    gbsi_page_style(page);
    gbsi_page_put(page, "</style>\n</head>\n<body>\n<header><h1>gibbsite report</h1></header>\n"
                        "<main>\n");
    gbsi_page_compare(page, file, n);
    for (size_t i = 0; i < n; i++) {
        const size_t kind = kind_of(page, &file[i]);
        if (page->status < 0) {
            return;
        }
        n_runs += kind == 0;
        if (kind == 0) {
            gbsi_put(page->out, "<article id=\"run%u\">\n", n_runs);
        } else {
            gbsi_page_put(page, "<article>\n");
        }
        put_heading(page, &file[i], kind);
        kinds[kind].put(page, file[i].value);
        gbsi_page_put(page, "</article>\n");
    }
    gbsi_page_put(page, "</main>\n<footer><p>Written by gibbsite. This page is one file: it loads "
                        "nothing.</p></footer>\n</body>\n</html>\n");
}

gbs_status gbs_report_html(const gbs_report_source *source, size_t n_sources, gbs_output *output,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_input input[MOST_SOURCES] = {0};
    gbsi_json_file file[MOST_SOURCES] = {0};
    gbsi_page page = {.err = err, .status = GBS_OK};
    GBSI_NEED(source, output);
    if (n_sources < 1 || n_sources > MOST_SOURCES) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "a report has 1 to 64 sources, not %zu", n_sources);
    }
    for (size_t i = 0; i < n_sources; i++) {
        GBSI_NEED(source[i].name);
    }
    gbsi_budget budget;
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    for (size_t i = 0; i < n_sources; i++) {
        GBSI_TRY(source[i].text == NULL ? gbsi_input_read_text(source[i].name, &input[i], err)
                                        : gbsi_input_memory(source[i].name, source[i].text,
                                                            source[i].n, &input[i], err));
        GBSI_TRY(gbsi_json_read(&input[i], &file[i], err));
    }
    GBSI_TRY(gbs_output_open_memory(&page.out, err));
    put_page(&page, file, n_sources);
    GBSI_TRY(page.status);
    status = gbsi_report_give(&page.out, output, err);

cleanup:
    gbs_output_discard(page.out);
    for (size_t i = 0; i < n_sources; i++) {
        gbsi_json_free(&file[i]);
        gbsi_input_free(&input[i]);
    }
    gbsi_budget_leave(before);
    return status;
}
