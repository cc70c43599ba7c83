/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite info: prints the properties of a model. The rows of --json and of the long text of -v
 * come from one list. info_screen.c prints the default answer of one screen, and info_variables.c
 * prints the list of variables. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gibbsite/info.h"
#include "info.h"
#include "options/rows.h"
#include "src/files/models/format_names.h"

/* The output of rows: text aligned at a column, or JSON. */
typedef struct sheet {
    gbs_output *output;
    int json;
    size_t n_rows;
} sheet;

static void begin_row(sheet *s, const char *key, const char *title)
{
    if (s->json) {
        gbsi_output_text(s->output, s->n_rows > 0 ? ",\n  " : "  ");
        gbsi_output_json_string(s->output, key);
        gbsi_output_text(s->output, ": ");
    } else {
        char left[40];
        (void)snprintf(left, sizeof left, "%-26s ", title);
        gbsi_output_text(s->output, left);
    }
    s->n_rows++;
}

static void end_row(sheet *s)
{
    gbsi_output_text(s->output, s->json ? "" : "\n");
}

static void row_uint(sheet *s, const char *key, const char *title, uint64_t value)
{
    begin_row(s, key, title);
    gbsi_output_uint(s->output, value);
    end_row(s);
}

/* Writes a row with a count. The largest value of the type means "this number or more" and is null
 * in JSON. */
static void row_count(sheet *s, const char *key, const char *title, uint64_t value)
{
    begin_row(s, key, title);
    if (value == UINT64_MAX) {
        gbsi_output_text(s->output, s->json ? "null" : "more than can be counted");
    } else {
        gbsi_output_uint(s->output, value);
    }
    end_row(s);
}

static void row_real(sheet *s, const char *key, const char *title, double value)
{
    begin_row(s, key, title);
    if (s->json) {
        gbsi_output_json_double(s->output, value);
    } else {
        char text[32];
        (void)snprintf(text, sizeof text, "%.6g", value);
        gbsi_output_text(s->output, text);
    }
    end_row(s);
}

static void row_bool(sheet *s, const char *key, const char *title, int value)
{
    begin_row(s, key, title);
    gbsi_output_text(s->output, s->json ? (value ? "true" : "false") : (value ? "yes" : "no"));
    end_row(s);
}

static void row_text(sheet *s, const char *key, const char *title, const char *value)
{
    begin_row(s, key, title);
    if (s->json) {
        gbsi_output_json_string(s->output, value);
    } else {
        gbsi_output_text(s->output, value);
    }
    end_row(s);
}

void cli_scale_bytes(uint64_t value, char *text)
{
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double scaled = (double)value;
    unsigned u = 0;
    for (; scaled >= 1024.0 && u < 6; u++) {
        scaled /= 1024.0;
    }
    (void)snprintf(text, 16, u == 0 ? "%.0f %s" : "%.1f %s", scaled, unit[u]);
}

/* Writes bytes in two columns: scaled and exact. */
static void row_bytes(sheet *s, const char *key, const char *title, uint64_t value)
{
    char text[64];
    char scaled[16];
    if (s->json) {
        row_count(s, key, title, value);
        return;
    }
    cli_scale_bytes(value, scaled);
    (void)snprintf(text, sizeof text, "%10s %16" PRIu64 " bytes", scaled, value);
    row_text(s, key, title, value == UINT64_MAX ? "more than can be counted" : text);
}

/* Writes a histogram: an array in JSON, "3 of 2, 5 of 4" in text. The last element also counts all
 * larger numbers. */
static void row_histogram(sheet *s, const char *key, const char *title, const size_t *count,
                          size_t n)
{
    int n_shown = 0;
    begin_row(s, key, title);
    gbsi_output_text(s->output, s->json ? "[" : "");
    for (size_t i = 0; i < n; i++) {
        if (s->json) {
            gbsi_output_text(s->output, i > 0 ? ", " : "");
            gbsi_output_uint(s->output, count[i]);
        } else if (count[i] > 0) {
            gbsi_output_text(s->output, n_shown++ > 0 ? ", " : "");
            gbsi_output_uint(s->output, count[i]);
            gbsi_output_text(s->output, " of ");
            gbsi_output_uint(s->output, i);
            gbsi_output_text(s->output, i + 1 == n ? " or more" : "");
        }
    }
    gbsi_output_text(s->output, s->json ? "]" : (n_shown == 0 ? "none" : ""));
    end_row(s);
}

/* Writes counts by name: an object in JSON, "table 3, field 2" in text. */
static void row_named(sheet *s, const char *key, const char *title, size_t n,
                      const char *(*name)(size_t), const size_t *count)
{
    int n_shown = 0;
    begin_row(s, key, title);
    gbsi_output_text(s->output, s->json ? "{" : "");
    for (size_t i = 0; i < n; i++) {
        if (count[i] == 0) {
            continue;
        }
        gbsi_output_text(s->output, n_shown++ > 0 ? ", " : "");
        if (s->json) {
            gbsi_output_json_string(s->output, name(i));
            gbsi_output_text(s->output, ": ");
        } else {
            gbsi_output_text(s->output, name(i));
            gbsi_output_text(s->output, " ");
        }
        gbsi_output_uint(s->output, count[i]);
    }
    gbsi_output_text(s->output, s->json ? "}" : (n_shown == 0 ? "none" : ""));
    end_row(s);
}

/* Writes the sign convention of a file of couplings; for other files the text has no row, and JSON
 * has null. */
static void row_convention(sheet *s, const char *convention)
{
    if (convention != NULL) {
        row_text(s, "convention", "sign of couplings", convention);
    } else if (s->json) {
        begin_row(s, "convention", "");
        gbsi_output_text(s->output, "null");
        end_row(s);
    }
}

static const char *kind_name(size_t i)
{
    return gbs_factor_kind_name((gbs_factor_kind)i);
}

static const char *class_name(size_t i)
{
    return gbs_class_name((unsigned)i);
}

/* Writes the weights that factors share; the text has no rows if there are no such weights. */
static void write_ties(sheet *s, const gbs_model *model)
{
    const uint32_t n = gbs_model_n_weights(model);
    uint64_t n_fixed = 0;
    uint64_t n_tied = 0;
    if (n == 0 && !s->json) {
        return;
    }
    for (uint32_t w = 0; w < n; w++) {
        int fixed = 0;
        (void)gbs_model_weight(model, w, &fixed);
        n_fixed += fixed != 0;
    }
    for (size_t f = 0; n > 0 && f < gbs_model_n_factors(model); f++) {
        n_tied += gbs_model_tied_weight(model, f, NULL) != UINT32_MAX;
    }
    row_uint(s, "tied_weights", "tied weights", n);
    row_uint(s, "fixed_weights", "  fixed", n_fixed);
    row_uint(s, "tied_factors", "  factors tied to them", n_tied);
}

static void write_structure(sheet *s, const cli_job *job, const gbs_info *info)
{
    row_text(s, "digest", "digest", gbs_model_digest(job->model));
    row_bool(s, "bayesian_network", "Bayesian network", gbs_model_is_directed(job->model));
    row_convention(s, gbsi_model_convention_of(job->arguments->operand[0], &job->read));
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
    write_ties(s, job->model);
    row_uint(s, "table_entries", "table entries", info->n_table_entries);
    row_real(s, "zero_share", "  share of zeros", info->zero_share);
    row_bool(s, "has_zeros", "hard zeros remain", info->has_zeros);
    row_uint(s, "components", "components", info->n_components);
    row_uint(s, "largest_component", "  largest", info->largest_component);
    row_uint(s, "barren_variables", "  barren variables", info->n_barren);
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
    static const char *const bits[] = {"none", "sites", "chains"};
    row_text(s, "lattice_bits", "  bits of a lattice are", bits[info->lattice]);
    row_real(s, "lattice_share", "  share of them in use", info->lattice_share);
}

/* Writes a number, or "more than 27: stopped" if a search was stopped. */
static void row_reached(sheet *s, const char *key, const char *title, uint64_t value, int stopped)
{
    char text[64];
    if (s->json || !stopped) {
        row_count(s, key, title, value);
    } else if (value == UINT64_MAX) {
        row_text(s, key, title, "more than can be counted: stopped");
    } else {
        (void)snprintf(text, sizeof text, "more than %" PRIu64 ": stopped",
                       value > 0 ? value - 1 : 0);
        row_text(s, key, title, text);
    }
}

static void row_fits(sheet *s, const gbs_info *info)
{
    char limit[16];
    char text[80];
    cli_scale_bytes(8 * info->entry_limit, limit);
    if (s->json && info->search == GBS_SEARCH_WORK) {
        begin_row(s, "exact_fits", "");
        gbsi_output_text(s->output, "null");
        end_row(s);
    } else if (s->json) {
        row_bool(s, "exact_fits", "", info->exact_fits);
    } else {
        (void)snprintf(text, sizeof text, "%s the limit of %s",
                       info->exact_fits                  ? "fits"
                       : info->search == GBS_SEARCH_WORK ? "not known, the search gave up;"
                                                         : "does not fit",
                       limit);
        row_text(s, "exact_fits", "  exact inference", text);
    }
}

void cli_exact_forms(int forms, char *text)
{
    static const struct {
        int form;
        const char *name;
    } name[] = {{GBS_FORM_TABLES, "tables"},
                {GBS_FORM_MESSAGES, "messages only"},
                {GBS_FORM_SPARSE, "sparse tables"},
                {GBS_FORM_CASES, "case by case"},
                {GBS_FORM_CODEWORDS, "states of parities"}};
    text[0] = 0;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        if ((forms & name[i].form) != 0) {
            const size_t n = strlen(text);
            (void)snprintf(text + n, 80 - n, "%s%s", n > 0 ? ", " : "", name[i].name);
        }
    }
}

/* Writes the methods for the components that are answered exactly by default. */
static void row_forms(sheet *s, int forms)
{
    char text[80];
    cli_exact_forms(forms, text);
    row_text(s, "auto_forms", "    by", forms == 0 ? "none" : text);
}

static void write_elimination(sheet *s, const gbs_info *info)
{
    static const char *const end[] = {"done", "entries", "work"};
    const int stopped = !info->order_found;
    if (s->json) {
        row_text(s, "elimination_search", "", end[info->search]);
    }
    row_reached(s, "elimination_width", "width of elimination", info->width, stopped);
    row_reached(s, "elimination_entries", "  table entries", info->entries, stopped);
    if (!stopped) {
        row_real(s, "elimination_log2_entries", "    log2", info->log2_entries);
    } else if (s->json) {
        row_count(s, "elimination_log2_entries", "", UINT64_MAX);
    }
    if (s->json) {
        row_uint(s, "entry_limit", "", info->entry_limit);
    }
    row_fits(s, info);
    if (info->exact_bytes != UINT64_MAX) {
        row_bytes(s, "exact_bytes", "    takes", info->exact_bytes);
    } else if (s->json) {
        begin_row(s, "exact_bytes", "");
        gbsi_output_text(s->output, "null");
        end_row(s);
    }
    if (info->exact_least_bytes != UINT64_MAX) {
        row_bytes(s, "exact_least_bytes", "    at least", info->exact_least_bytes);
    } else if (s->json) {
        begin_row(s, "exact_least_bytes", "");
        gbsi_output_text(s->output, "null");
        end_row(s);
    }
    row_real(s, "exact_seconds", "    seconds of a thread", info->exact_s);
    row_uint(s, "auto_components", "  exact by default", info->n_auto);
    row_forms(s, info->auto_forms);
    row_uint(s, "auto_cases", "    cases of a cutset", info->auto_cases);
    row_real(s, "auto_nonzero_entries", "    nonzero entries", info->auto_nonzero);
    row_real(s, "auto_seconds", "    seconds of a thread", info->auto_s);
}

static void write_influence(sheet *s, const gbs_info *info)
{
    row_real(s, "max_influence", "influence sums, largest", info->max_influence);
    row_real(s, "mean_influence", "  mean", info->mean_influence);
    if (s->json) {
        row_bool(s, "dobrushin_condition", "", info->max_influence < 1.0);
    } else {
        row_text(s, "dobrushin_condition", "  Dobrushin's condition",
                 info->max_influence < 1.0 ? "holds: below 1" : "not shown: 1 or more");
    }
}

/* Writes the predicted memory. @param loading_bytes peak memory until the model was loaded. */
static void write_memory(sheet *s, const gbs_info *info, uint64_t loading_bytes)
{
    row_bytes(s, "loading_bytes", "memory: reading, at most", loading_bytes);
    row_bytes(s, "run_bytes", "  a run, at most", info->run_bytes);
    row_bytes(s, "model_bytes", "    model", info->model_bytes);
    row_bytes(s, "plan_bytes", "    plan", info->plan_bytes);
    row_bytes(s, "state_bytes", "    states", info->state_bytes);
    row_bytes(s, "estimator_bytes", "    estimators", info->estimator_bytes);
}

/* Writes the sizes of draws with --draws; otherwise null in JSON and nothing in text. */
static void write_draws(sheet *s, const gbs_draw_sizes *sizes)
{
    if (!s->json) {
        for (uint32_t d = 0; sizes != NULL && d < sizes->n; d++) {
            char title[40];
            const int fits =
                strlen(sizes->name[d]) <= 16; /* 1: the name fits before the column of values */
            (void)snprintf(title, sizeof title, "    %s%s", fits ? "draw " : "", sizes->name[d]);
            row_bytes(s, "", title, sizes->bytes[d]);
        }
        if (sizes != NULL && sizes->stopped) {
            row_text(s, "", "    draws by neighbours", "not counted: more than 2^26 neighbours");
        }
        return;
    }
    begin_row(s, "draw_bytes", "");
    gbsi_output_text(s->output, sizes != NULL ? "{" : "null");
    for (uint32_t d = 0; sizes != NULL && d < sizes->n; d++) {
        gbsi_output_text(s->output, d > 0 ? ", " : "");
        gbsi_output_json_string(s->output, sizes->name[d]);
        gbsi_output_text(s->output, ": ");
        if (sizes->bytes[d] == UINT64_MAX) {
            gbsi_output_text(s->output, "null");
        } else {
            gbsi_output_uint(s->output, sizes->bytes[d]);
        }
    }
    gbsi_output_text(s->output, sizes != NULL ? "}" : "");
    end_row(s);
    row_bool(s, "draws_stopped", "", sizes != NULL && sizes->stopped);
}

static void write_rows(sheet *s, const cli_job *job, const gbs_info *info,
                       const gbs_draw_sizes *sizes, uint64_t loading_bytes)
{
    if (s->json) {
        gbsi_output_text(s->output, "{\n");
        row_text(s, "schema", "", "info/1");
    }
    write_structure(s, job, info);
    write_elimination(s, info);
    write_influence(s, info);
    write_plan(s, info);
    write_memory(s, info, loading_bytes);
    write_draws(s, sizes);
    gbsi_output_text(s->output, s->json ? "\n}\n" : "");
}

static int write_info(const cli_job *job, const gbs_info *info, const gbs_draw_sizes *sizes,
                      uint64_t loading_bytes)
{
    const char *path = job->output != NULL ? job->output : "-";
    gbs_error err = {GBS_OK, ""};
    sheet s = {NULL, cli_wants_json(job->arguments), 0};
    gbs_status status = gbs_output_open(path, &s.output, &err);
    if (status >= 0) {
        if (s.json || job->arguments->verbose || sizes != NULL) {
            write_rows(&s, job, info, sizes, loading_bytes);
        } else {
            cli_info_screen(s.output, job, info, loading_bytes);
        }
        status = gbs_output_commit(s.output, &err);
    }
    return status < 0 ? cli_fail_output(path, status, &err) : CLI_DONE;
}

static int list_variables(cli_job *job, void *context)
{
    const char *path = job->output != NULL ? job->output : "-";
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    (void)context;
    gbs_status done = gbs_output_open(path, &output, &err);
    if (done < 0) {
        return cli_fail_output(path, done, &err);
    }
    const int status = cli_info_variables(output, job);
    if (status != CLI_DONE) {
        gbs_output_discard(output);
        return status;
    }
    done = gbs_output_commit(output, &err);
    return done < 0 ? cli_fail_output(path, done, &err) : CLI_DONE;
}

static int answer_sample(cli_job *job, void *context)
{
    uint64_t *loading_bytes = context;
    gbs_error err = {GBS_OK, ""};
    gbs_info info = {.size = sizeof info};
    gbs_draw_sizes sizes = {.size = sizeof sizes};
    const int draws = job->arguments->draws;
    gbs_status done = gbs_model_info(job->model, job->evidence, &job->options, &info, &err);
    if (done >= 0 && draws) {
        done = gbs_model_draw_sizes(job->model, job->evidence, &job->options, &sizes, &err);
    }
    return done < 0 ? cli_fail(done, &err)
                    : write_info(job, &info, draws ? &sizes : NULL, *loading_bytes);
}

static int run_info(cli_arguments *arguments)
{
    cli_job job;
    memset(&job, 0, sizeof job);
    int status = CLI_DONE;
    CLI_TRY(cli_check_output(arguments->output));
    if (gbs_is_checkpoint(arguments->operand[0])) {
        return cli_info_checkpoint(arguments);
    }
    if (arguments->list_variables && cli_wants_json(arguments)) {
        CLI_TRY(cli_error(CLI_USAGE, "--variables and --json exclude each other"));
    }
    CLI_TRY(cli_load_samples(&job, arguments, arguments->operand[0]));
    uint64_t loading_bytes = cli_peak_rss_bytes();
    CLI_TRY(cli_each_sample(&job, arguments->list_variables ? list_variables : answer_sample,
                            &loading_bytes));

cleanup:
    cli_job_free(&job);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/info.def"
};

const cli_verb cli_verb_info = {
    .name = "info",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "MODEL",
    .what = "sizes and structure of a model, predicted costs",
    .notes = "Prints on one screen what the model is, how it would be answered, how long that\n"
             "takes and what memory it needs. -v prints all figures. Of a checkpoint:\n"
             "where the run stands.\n",
    .example = "gibbsite info examples/sprinkler.bif\n"
               "gibbsite info examples/clinic.bif --variables\n"
               "gibbsite info examples/sprinkler.bif -e grass=wet --json\n",
    .run = run_info,
};
