/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite info: what a model is. One list of rows serves the text and the JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "job.h"

/* Where rows go: text aligned at a column, or JSON. */
typedef struct sheet {
    gbs_output *output;
    int json;
    size_t n_rows;
} sheet;

static void begin_row(sheet *s, const char *key, const char *title)
{
    if (s->json) {
        gbs_output_text(s->output, s->n_rows > 0 ? ",\n  " : "  ");
        gbs_output_json_string(s->output, key);
        gbs_output_text(s->output, ": ");
    } else {
        char left[40];
        (void)snprintf(left, sizeof left, "%-26s ", title);
        gbs_output_text(s->output, left);
    }
    s->n_rows++;
}

static void end_row(sheet *s)
{
    gbs_output_text(s->output, s->json ? "" : "\n");
}

static void row_uint(sheet *s, const char *key, const char *title, uint64_t value)
{
    begin_row(s, key, title);
    gbs_output_uint(s->output, value);
    end_row(s);
}

static void row_real(sheet *s, const char *key, const char *title, double value)
{
    begin_row(s, key, title);
    if (s->json) {
        gbs_output_json_double(s->output, value);
    } else {
        char text[32];
        (void)snprintf(text, sizeof text, "%.6g", value);
        gbs_output_text(s->output, text);
    }
    end_row(s);
}

static void row_bool(sheet *s, const char *key, const char *title, int value)
{
    begin_row(s, key, title);
    gbs_output_text(s->output, s->json ? (value ? "true" : "false") : (value ? "yes" : "no"));
    end_row(s);
}

static void row_text(sheet *s, const char *key, const char *title, const char *value)
{
    begin_row(s, key, title);
    if (s->json) {
        gbs_output_json_string(s->output, value);
    } else {
        gbs_output_text(s->output, value);
    }
    end_row(s);
}

static void row_bytes(sheet *s, const char *key, const char *title, uint64_t value)
{
    char text[48];
    if (s->json || value < 1024) {
        row_uint(s, key, title, value);
        return;
    }
    const char *letter = "KMGT";
    double scaled = (double)value / 1024.0;
    while (scaled >= 1024.0 && letter[1] != '\0') {
        scaled /= 1024.0;
        letter++;
    }
    (void)snprintf(text, sizeof text, "%" PRIu64 " (%.1f %ciB)", value, scaled, *letter);
    row_text(s, key, title, text);
}

/* A histogram: an array in JSON, "3 of 2, 5 of 4" in text; the last place is "that or more". */
static void row_histogram(sheet *s, const char *key, const char *title, const size_t *count,
                          size_t n)
{
    int n_shown = 0;
    begin_row(s, key, title);
    gbs_output_text(s->output, s->json ? "[" : "");
    for (size_t i = 0; i < n; i++) {
        if (s->json) {
            gbs_output_text(s->output, i > 0 ? ", " : "");
            gbs_output_uint(s->output, count[i]);
        } else if (count[i] > 0) {
            gbs_output_text(s->output, n_shown++ > 0 ? ", " : "");
            gbs_output_uint(s->output, count[i]);
            gbs_output_text(s->output, " of ");
            gbs_output_uint(s->output, i);
            gbs_output_text(s->output, i + 1 == n ? " or more" : "");
        }
    }
    gbs_output_text(s->output, s->json ? "]" : (n_shown == 0 ? "none" : ""));
    end_row(s);
}

/* Counts by name: an object in JSON, "table 3, field 2" in text. */
static void row_named(sheet *s, const char *key, const char *title, size_t n,
                      const char *(*name)(size_t), const size_t *count)
{
    int n_shown = 0;
    begin_row(s, key, title);
    gbs_output_text(s->output, s->json ? "{" : "");
    for (size_t i = 0; i < n; i++) {
        if (count[i] == 0) {
            continue;
        }
        gbs_output_text(s->output, n_shown++ > 0 ? ", " : "");
        if (s->json) {
            gbs_output_json_string(s->output, name(i));
            gbs_output_text(s->output, ": ");
        } else {
            gbs_output_text(s->output, name(i));
            gbs_output_text(s->output, " ");
        }
        gbs_output_uint(s->output, count[i]);
    }
    gbs_output_text(s->output, s->json ? "}" : (n_shown == 0 ? "none" : ""));
    end_row(s);
}

static const char *kind_name(size_t i)
{
    return gbs_factor_kind_name((gbs_factor_kind)i);
}

static const char *class_name(size_t i)
{
    return gbs_class_name((unsigned)i);
}

static void write_structure(sheet *s, const cli_job *job, const gbs_info *info)
{
    row_text(s, "digest", "digest", gbs_model_digest(job->model));
    row_bool(s, "bayesian_network", "Bayesian network", gbs_model_is_directed(job->model));
    row_uint(s, "variables", "variables", info->n_variables);
    row_uint(s, "observed", "  observed", info->n_observed);
    row_uint(s, "implied", "  implied", info->n_implied);
    row_uint(s, "free", "  free", info->n_free);
    row_uint(s, "min_arity", "fewest states", info->min_arity);
    row_uint(s, "max_arity", "most states", info->max_arity);
    row_real(s, "mean_arity", "mean states", info->mean_arity);
    row_uint(s, "factors", "factors", info->n_factors);
    row_named(s, "factors_of_kind", "  by kind", GBS_N_FACTOR_KINDS, kind_name,
              info->factors_of_kind);
    row_histogram(s, "factors_of_order", "  by order", info->factors_of_order, GBS_INFO_ORDERS);
    row_histogram(s, "variables_of_degree", "variables by factors", info->variables_of_degree,
                  GBS_INFO_DEGREES);
    row_uint(s, "table_entries", "table entries", info->n_table_entries);
    row_real(s, "zero_share", "  share of zeros", info->zero_share);
    row_bool(s, "has_zeros", "hard zeros remain", info->has_zeros);
    row_uint(s, "components", "components", info->n_components);
    row_uint(s, "largest_component", "  largest", info->largest_component);
    row_uint(s, "enumerable_components", "  exact by enumeration", info->n_enumerable);
    row_bool(s, "bipartite", "bipartite", info->bipartite);
}

static void write_plan(sheet *s, const gbs_info *info)
{
    size_t of_class[GBS_N_CLASSES];
    for (size_t i = 0; i < GBS_N_CLASSES; i++) {
        of_class[i] = info->variables_of_class[i];
    }
    row_uint(s, "colors", "colours", info->n_colors);
    row_uint(s, "levels", "levels of the scan", info->n_levels);
    row_real(s, "mean_batch", "mean batch", info->mean_batch);
    row_named(s, "variables_of_class", "variables by class", GBS_N_CLASSES, class_name, of_class);
    row_uint(s, "double_sums", "  with double sums", info->n_precise);
    row_bytes(s, "model_bytes", "memory: model", info->model_bytes);
    row_bytes(s, "plan_bytes", "  plan", info->plan_bytes);
    row_bytes(s, "state_bytes", "  states", info->state_bytes);
    row_bytes(s, "estimator_bytes", "  estimators", info->estimator_bytes);
}

static int write_info(const cli_job *job, const gbs_info *info)
{
    const char *path = job->output != NULL ? job->output : "-";
    gbs_error err = {GBS_OK, ""};
    sheet s = {NULL, job->arguments->json, 0};
    gbs_status status = gbs_output_open(path, &s.output, &err);
    if (status >= 0) {
        if (s.json) {
            gbs_output_text(s.output, "{\n");
            row_text(&s, "schema", "", "info/1");
        }
        write_structure(&s, job, info);
        write_plan(&s, info);
        gbs_output_text(s.output, s.json ? "\n}\n" : "");
        status = gbs_output_commit(s.output, &err);
    }
    return status < 0 ? cli_fail_output(path, status, &err) : CLI_DONE;
}

static int answer_sample(cli_job *job, void *context)
{
    (void)context;
    gbs_error err = {GBS_OK, ""};
    gbs_info info;
    gbs_status done = gbs_model_info(job->model, job->evidence, &job->options, &info, &err);
    return done < 0 ? cli_fail(done, &err) : write_info(job, &info);
}

int cli_info(cli_arguments *arguments)
{
    cli_job job;
    memset(&job, 0, sizeof job);
    int status = cli_check_output(arguments->output);
    if (status == CLI_DONE) {
        status = cli_load_samples(&job, arguments, arguments->operand[0]);
    }
    if (status == CLI_DONE) {
        status = cli_each_sample(&job, answer_sample, NULL);
    }
    cli_job_free(&job);
    return status;
}
