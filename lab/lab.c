/* SPDX-License-Identifier: Apache-2.0 */
/* Runs, files and findings of an experiment, and the function that runs an experiment. */
#include "lab/lab.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "rng/philox.h"
#include "simd/math.h"
#include "text/output.h"

/* ---- runs -------------------------------------------------------------------------------- */

void lab_expect(laboratory *lab, double updates)
{
    lab->total = updates;
}

gbs_run_options lab_options(const laboratory *lab, uint64_t chains, uint64_t sweeps)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = GBS_SCAN_SYSTEMATIC;
    options.lattice = GBS_LATTICE_NEVER;
    options.estimator = GBS_ESTIMATOR_COUNT;
    options.burn_in = 0;
    options.chains = chains;
    options.sweeps = sweeps;
    options.max_updates = UINT64_MAX;
    options.seed = lab->options->seed;
    options.threads = lab->options->threads;
    return options;
}

void lab_begin(laboratory *lab, const char *what, double updates)
{
    lab->what = what;
    lab->part = updates;
}

int lab_tell(const laboratory *lab, double updates)
{
    if (lab->options->progress == NULL) {
        return 0;
    }
    const double done = lab->done + (updates < lab->part ? updates : lab->part);
    const double share = lab->total > done ? done / lab->total : 1.0;
    return lab->options->progress(lab->options->context, share, lab->what);
}

int lab_is_stopped(void *lab)
{
    return lab_tell(lab, 0.0);
}

/* Context of a run, for its draw and its progress callbacks. */
typedef struct listener {
    laboratory *lab;
    lab_on_draw *on_draw;
    void *context;
} listener;

static int on_progress(void *context, const gbs_progress *progress)
{
    const listener *l = context;
    return lab_tell(l->lab, (double)progress->updates);
}

static gbs_status pass_draw(void *context, uint64_t draw, uint32_t chain, double log_density,
                            const uint32_t *state, gbs_error *err)
{
    const listener *l = context;
    return l->on_draw(l->context, draw, chain, log_density, state, err);
}

gbs_status lab_run(laboratory *lab, const char *what, const gbs_model *model,
                   const gbs_run_options *options, lab_on_draw *on_draw, void *context,
                   gbs_run **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    listener l = {.lab = lab, .on_draw = on_draw, .context = context};
    const gbs_run_callbacks callbacks = {
        .context = &l, .progress = on_progress, .draw = on_draw != NULL ? pass_draw : NULL};
    const double n = gbs_model_n_variables(model);
    const double sweep =
        n > (double)options->sequence_length ? n : (double)options->sequence_length;
    lab_begin(lab, what,
              (double)options->chains * ((double)options->burn_in + (double)options->sweeps) *
                  sweep);
    GBSI_TRY(gbs_run_new(model, lab->evidence, options, &run, err));
    GBSI_TRY(gbs_run_execute(run, &callbacks, err));
    if (status == GBS_STOPPED) {
        goto cleanup;
    }
    lab->done += (double)gbs_run_report(run)->updates;
    if (out != NULL) {
        *out = run;
        run = NULL;
    }
cleanup:
    gbs_run_free(run);
    return status;
}

/* ---- numbers ----------------------------------------------------------------------------- */

void lab_uniforms(const laboratory *lab, lab_stream stream, uint32_t index, uint32_t attempt,
                  double u[2])
{
    uint32_t word[4];
    gbsi_philox(lab->options->seed, stream, attempt, index, GBSI_PURPOSE_GENERATE, word);
    u[0] = gbsi_uniform(word[0], word[1]);
    u[1] = gbsi_uniform(word[2], word[3]);
}

/* Marsaglia's polar method: Marsaglia & Bray (1964), SIAM Review 6(3):260-264. */
double lab_normal(const laboratory *lab, lab_stream stream, uint32_t index)
{
    for (uint32_t attempt = 0;; attempt++) {
        double u[2];
        lab_uniforms(lab, stream, index, attempt, u);
        const double a = 2.0 * u[0] - 1.0;
        const double b = 2.0 * u[1] - 1.0;
        const double s = a * a + b * b;
        if (s > 0.0 && s < 1.0) {
            return a * gbsi_sqrt(-2.0 * gbsi_log(s) / s);
        }
    }
}

/* ---- files ------------------------------------------------------------------------------- */

gbs_status lab_path_in(const char *folder, const char *name, char **path, gbs_error *err)
{
    const size_t n = strlen(folder) + strlen(name) + 2;
    char *made = gbsi_alloc(n);
    GBSI_PASS(GBSI_HAVE(err, "reproduce", made));
    (void)snprintf(made, n, "%s/%s", folder, name);
    *path = made;
    return GBS_OK;
}

static int by_name(const void *a, const void *b)
{
    const char *const *x = a;
    const char *const *y = b;
    return strcmp(*x, *y);
}

gbs_status lab_list_folder(const char *folder, bool (*wanted)(const char *), const char *what,
                           char ***name, size_t *n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    size_t capacity = 0;
    DIR *dir = opendir(folder);
    if (dir == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: cannot read this folder of data", folder);
    }
    for (const struct dirent *entry = NULL;
         (entry = readdir(dir)) != NULL;) { // NOLINT(concurrency-mt-unsafe): a stream of our own
        if (wanted(entry->d_name)) {
            void *grown = *name;
            GBSI_TRY(gbsi_reserve(&grown, &capacity, *n + 1, sizeof **name, "folder", err));
            *name = grown;
            GBSI_TRY(lab_path_in(folder, entry->d_name, &(*name)[*n], err));
            ++*n;
        }
    }
    if (*n == 0) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: no %s in this folder", folder, what));
    }
    qsort(*name, *n, sizeof **name, by_name);
cleanup:
    (void)closedir(dir);
    return status;
}

void lab_free_names(char **name, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        gbsi_free(name[i]);
    }
    gbsi_free(name);
}

lab_table lab_table_open(const laboratory *lab, const char *name, const char *header,
                         gbs_error *err)
{
    char *path = NULL;
    lab_table table = {
        .status = lab_path_in(lab->folder, name, &path, err), .comma = "\n", .err = err};
    if (table.status >= 0) {
        table.status = gbs_output_open(path, &table.output, err);
    }
    gbsi_free(path);
    if (table.status >= 0) {
        gbsi_output_text(table.output, header);
    }
    return table;
}

void lab_table_text(lab_table *table, const char *text)
{
    if (table->status >= 0) {
        gbsi_output_text(table->output, table->comma);
        gbsi_output_csv_field(table->output, text);
        table->comma = ",";
    }
}

void lab_table_number(lab_table *table, double value)
{
    if (table->status >= 0) {
        gbsi_output_text(table->output, table->comma);
        gbsi_output_double(table->output, value);
        table->comma = ",";
    }
}

void lab_table_row(lab_table *table, const char *first, const char *second, size_t n,
                   const double *number)
{
    if (first != NULL) {
        lab_table_text(table, first);
    }
    if (second != NULL) {
        lab_table_text(table, second);
    }
    for (size_t i = 0; i < n; i++) {
        lab_table_number(table, number[i]);
    }
    table->comma = "\n";
}

gbs_status lab_table_close(lab_table *table)
{
    if (table->status >= 0) {
        gbsi_output_text(table->output, "\n");
        return gbs_output_commit(table->output, table->err);
    }
    return table->status;
}

/* ---- findings ---------------------------------------------------------------------------- */

/* Appends to a text of fixed size, which is cut at its end. A NaN, which printf writes as "nan" or
 * "-nan" depending on the machine, is written as "none". */
static void append(char *text, size_t size, const char *format, va_list arguments)
{
    char added[sizeof((lab_verdict *)NULL)->note];
    size_t n = strlen(text);
    const char *from = added;
    (void)vsnprintf(added, sizeof added, format, arguments);
    for (const char *nan; (nan = strstr(from, "nan")) != NULL; from = nan + 3) {
        const bool is_signed = nan > from && nan[-1] == '-';
        const int before = (int)(nan - from) - is_signed;
        (void)snprintf(text + n, size - n, "%.*snone", before, from);
        n = strlen(text);
    }
    (void)snprintf(text + n, size - n, "%s", from);
}

void lab_find(laboratory *lab, lab_ruling ruling, const char *format, ...)
{
    char *text = lab->verdict.measured;
    const size_t size = sizeof lab->verdict.measured;
    va_list arguments;
    const size_t n = strlen(text);
    (void)snprintf(text + n, size - n, "\n- %s", ruling.holds ? "" : "[fails] ");
    va_start(arguments, format);
    append(text, size, format, arguments);
    va_end(arguments);
    lab->verdict.holds = lab->verdict.holds && ruling.holds;
}

void lab_note(laboratory *lab, const char *format, ...)
{
    char *text = lab->verdict.note;
    const size_t size = sizeof lab->verdict.note;
    va_list arguments;
    const size_t n = strlen(text);
    (void)snprintf(text + n, size - n, "%s", n > 0 ? " " : "");
    va_start(arguments, format);
    append(text, size, format, arguments);
    va_end(arguments);
}

/* Writes verdict.txt. @param stopped whether the experiment was stopped before its end. */
static gbs_status write_verdict(const laboratory *lab, const lab_experiment *about, bool stopped,
                                gbs_error *err)
{
    char line[256];
    lab_table text = lab_table_open(lab, "verdict.txt", about->name, err);
    gbs_output *out = text.output;
    if (text.status < 0) {
        return text.status;
    }
    (void)snprintf(line, sizeof line, "\npaper: %s, %s\n", about->paper, about->figure);
    gbsi_output_text(out, line);
    (void)snprintf(line, sizeof line, "run: %s, seed ", lab->options->quick ? "quick" : "full");
    gbsi_output_text(out, line);
    gbsi_output_uint(out, lab->options->seed);
    (void)snprintf(line, sizeof line, ", gibbsite %s\n", gbs_version());
    gbsi_output_text(out, line);
    gbsi_output_text(out, "claim: ");
    gbsi_output_text(out, about->claim);
    gbsi_output_text(out, "\nmeasured:");
    gbsi_output_text(out, lab->verdict.measured);
    gbsi_output_text(out, stopped              ? "\nholds: not decided, the run was stopped\n"
                          : lab->verdict.holds ? "\nholds: yes\n"
                                               : "\nholds: no\n");
    if (lab->verdict.note[0] != '\0') {
        gbsi_output_text(out, "note: ");
        gbsi_output_text(out, lab->verdict.note);
        gbsi_output_text(out, "\n");
    }
    return gbs_output_commit(out, err);
}

/* ---- one experiment ---------------------------------------------------------------------- */

static gbs_status make_folder(const char *folder, gbs_error *err)
{
    struct stat found;
    if (mkdir(folder, 0777) == 0) {
        return GBS_OK;
    }
    const int reason = errno;
    if (reason == EEXIST && stat(folder, &found) == 0 && S_ISDIR(found.st_mode)) {
        return GBS_OK;
    }
    return gbsi_fail(err, GBS_ERR_IO, "%s: cannot make a folder: %s", folder,
                     reason == EEXIST   ? "there is a file of that name"
                     : reason == ENOENT ? "the folder above it does not exist"
                     : reason == EACCES ? "permission denied"
                                        : "the system refused");
}

gbs_status lab_reproduce(const char *name, const char *folder, const lab_reproduce_options *options,
                         lab_verdict *verdict, gbs_error *err)
{
    static const lab_reproduce_options none = {0};
    gbs_status status = GBS_OK;
    const lab_experiment_row *experiment = lab_experiment_named(name);
    laboratory lab = {.options = options == NULL ? &none : options, .folder = folder};
    if (experiment == NULL) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "there is no experiment '%s'", name);
    }
    if (lab.options->data != NULL && !experiment->takes_data) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "experiment %s uses no --data", name);
    }
    GBSI_TRY(make_folder(folder, err));
    lab.verdict.holds = 1;
    status = experiment->run(&lab, err);
    const bool stopped = status == GBS_STOPPED || status == GBS_ERR_STOPPED;
    if (status < 0 && !stopped) {
        goto cleanup;
    }
    GBSI_TRY(write_verdict(&lab, &experiment->about, stopped, err));
    if (stopped) {
        status = GBS_STOPPED;
        goto cleanup;
    }
    *verdict = lab.verdict;
cleanup:
    return status;
}
