/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite denoise: makes the model of a noisy picture, estimates its parameters, and writes the
 * answer as pictures. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "denoise.h"
#include "gibbsite/denoise.h"
#include "gibbsite/image.h"
#include "gibbsite/map.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

/* Ratio of neighbour_noise to noise_level from which a warning is printed */
#define MUCH_LARGER 1.5
#define LEAST_S     1e-3 /* least seconds of --time that a run gets */

/* ---- parameters ------------------------------------------------------------------------------ */

static int on_estimate(void *context, const gbs_progress *progress)
{
    const cli_bar *bar = context;
    cli_bar_share(context, progress->elapsed_s,
                  (double)progress->pass / (double)(progress->passes > 0 ? progress->passes : 1),
                  "estimating");
    return cli_signals_caught() || (bar->time_s > 0.0 && progress->elapsed_s > bar->time_s);
}

static void tell_found(const cli_denoising *d, const gbs_denoise_found *found)
{
    const cli_arguments *a = d->job.arguments;
    const char *kind = d->how.noise == GBS_NOISE_FLIP ? "flip" : "gauss";
    if (d->find_noise) {
        cli_note(a, "estimated: --noise %s:%.4g (error of the search %.2g)", kind,
                 found->noise_level, found->noise_error);
    }
    if (d->find_coupling) {
        cli_note(a, "estimated: --coupling %.4g (error of the search %.2g)", found->coupling,
                 found->coupling_error);
    }
    if (d->find_noise && found->neighbour_noise > MUCH_LARGER * found->noise_level) {
        cli_note(a,
                 "warning: this noise is too small for how much neighbours differ: noise may have "
                 "been taken for levels; in a picture of even regions it is --noise gauss:%.2g "
                 "or more",
                 found->neighbour_noise);
    }
    if (found->width < d->noisy.width || found->height < d->noisy.height) {
        cli_note(a, "estimated from %" PRIu32 " x %" PRIu32 " pixels in the middle of the picture",
                 found->width, found->height);
    }
}

/* Warns if the model is frozen: with the given or estimated noise, the noisy picture decides the
 * level of every pixel. */
static int tell_frozen(cli_denoising *d)
{
    gbs_error err = {GBS_OK, ""};
    uint64_t n = 0;
    const gbs_status status = gbs_denoise_frozen(&d->noisy, &d->how, &n, &err);
    if (status < 0) {
        return cli_fail(status, &err);
    }
    d->frozen = n == (uint64_t)d->noisy.width * d->noisy.height;
    if (d->frozen) {
        cli_note(d->job.arguments,
                 "warning: the model is frozen: --noise %s:%.4g is so small that all %" PRIu64
                 " pixels keep the level they show, whatever their neighbours are; try a larger "
                 "--noise, or --noise %s",
                 d->how.noise == GBS_NOISE_FLIP ? "flip" : "gauss", d->how.noise_level, n,
                 d->how.noise == GBS_NOISE_FLIP && !d->how.labels ? "gauss" : "flip");
    }
    return CLI_DONE;
}

/* Takes the time since begun_s from --time. */
static void spend_time(cli_arguments *a, double begun_s)
{
    if (a->run.time_s > 0.0) {
        a->run.time_s = fmax(a->run.time_s - (cli_clock_s() - begun_s), LEAST_S);
    }
}

static int estimate(cli_denoising *d, cli_arguments *a)
{
    gbs_denoise_found found = {.size = sizeof found};
    gbs_error err = {GBS_OK, ""};
    cli_bar bar;
    if (!d->find_noise && !d->find_coupling) {
        return CLI_DONE;
    }
    spend_time(a, d->job.begun_s);
    const double begun_s = cli_clock_s();
    memset(&bar, 0, sizeof bar);
    cli_signals_catch();
    cli_bar_init(&bar, a, &a->run);
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &bar, .progress = on_estimate};
    const gbs_status status =
        gbs_denoise_estimate(&d->noisy, &d->how, d->find_noise, d->find_coupling, a->run.seed,
                             (uint32_t)a->run.threads, &callbacks, &found, &err);
    cli_bar_finish(&bar, NULL);
    if (status < 0) {
        return cli_fail(status, &err);
    }
    d->how.noise_level = found.noise_level;
    d->how.coupling = found.coupling;
    spend_time(a, begun_s); /* the run gets the remaining time */
    tell_found(d, &found);
    return CLI_DONE;
}

static int on_model(void *context, const gbs_progress *progress)
{
    (void)context;
    (void)progress;
    return cli_signals_caught();
}

/* Makes the run, if possible without factors. */
static gbs_status make_run(cli_job *job, gbs_error *err)
{
    const gbs_run_callbacks callbacks = {.size = sizeof callbacks, .progress = on_model};
    const cli_denoising *d = (const cli_denoising *)job;
    gbs_denoise_options how = d->how;
    how.callbacks = &callbacks;
    return job->model != NULL
               ? gbs_run_new(job->model, NULL, &job->options, &job->run, err)
               : gbs_denoise_run(&d->noisy, &how, &job->options, &job->model, &job->run, err);
}

/* Makes the model. @param model out, freed by the caller. */
static int make_model(const cli_denoising *d, gbs_model **model)
{
    gbs_error err = {GBS_OK, ""};
    const gbs_run_callbacks callbacks = {.size = sizeof callbacks, .progress = on_model};
    gbs_denoise_options how = d->how;
    how.callbacks = &callbacks;
    const gbs_status status = gbs_denoise_model(&d->noisy, &how, model, &err);
    return status < 0 ? cli_fail(status, &err) : CLI_DONE;
}

/* Makes the model of the picture if an option names variables; the run is then a run of this
 * model. */
static int keep_model(cli_denoising *d)
{
    const cli_arguments *a = d->job.arguments;
    const int named = a->scan_file != NULL || a->start != NULL || a->dummy_edges != NULL;
    return named ? make_model(d, &d->job.model) : CLI_DONE;
}

static int write_model(const cli_denoising *d)
{
    cli_arguments as = *d->job.arguments;
    gbs_model *model = NULL;
    as.output = as.write_model;
    as.format = NULL;
    if (as.output == NULL) {
        return CLI_DONE;
    }
    int status = make_model(d, &model);
    if (status == CLI_DONE) {
        status = cli_write_model(&as, model);
    }
    gbs_model_free(model);
    return status;
}

/* ---- pictures -------------------------------------------------------------------------------- */

/* Write a picture and free it. @param made status returned by the function that made the picture.
 */
static int write_picture(gbs_image *image, const char *path, gbs_status made, gbs_error *err)
{
    const gbs_image_write_options to_pipe = {.size = sizeof to_pipe, .format = "png"};
    if (made < 0) {
        return cli_fail(made, err);
    }
    const gbs_status status =
        gbs_image_write(image, path, strcmp(path, "-") == 0 ? &to_pipe : NULL, err);
    gbs_image_free(image);
    return status < 0 ? cli_fail_output(path, status, err) : CLI_DONE;
}

static int on_search(void *context, const gbs_progress *progress)
{
    cli_bar_update(context, progress);
    return cli_signals_caught();
}

/* Searches for the most probable picture as a whole. */
static int search_best(cli_denoising *d, const gbs_model *model, const char *path)
{
    gbs_error err = {GBS_OK, ""};
    gbs_map_report report = {.size = sizeof report};
    gbs_image image = {0};
    cli_bar bar;
    uint32_t *level = calloc((size_t)gbs_model_n_variables(model) + 1, sizeof *level);
    CLI_PASS(CLI_HAVE(level));
    const gbs_map_callbacks callbacks = {.context = &bar, .progress = on_search};
    memset(&bar, 0, sizeof bar);
    cli_signals_catch();
    cli_bar_init(&bar, d->job.arguments, &d->job.options);
    const gbs_status done = gbs_map(model, NULL, &d->job.options, &callbacks, level, &report, &err);
    cli_bar_finish(&bar, NULL);
    int status = CLI_DONE;
    CLI_TRY(done < 0 ? cli_fail(done, &err) : CLI_DONE);
    const gbs_status made = gbs_denoise_draw_levels(&d->noisy, &d->how, level, &image, &err);
    CLI_TRY(write_picture(&image, path, made, &err));
    cli_note(d->job.arguments, "--map: log density %.12g, %s", report.log_density,
             report.gap == 0.0 ? "proved to be the largest" : "the best that annealing found");
    CLI_TRY(done == GBS_STOPPED ? CLI_STOPPED : CLI_DONE);

cleanup:
    free(level);
    return status;
}

static int draw_best(cli_denoising *d, const char *path)
{
    gbs_model *model = NULL;
    int status = make_model(d, &model);
    if (status == CLI_DONE) {
        status = search_best(d, model, path);
    }
    gbs_model_free(model);
    return status;
}

/* ---- the truth ------------------------------------------------------------------------------- */

static void put_rows(gbs_output *output, const gbs_denoise_errors *e, int is_table)
{
    const struct {
        const char *name, *title;
        double noisy, restored, expected;
    } row[] = {
        {"wrong", "share of pixels that are wrong", e->noisy_wrong, e->wrong, e->expected_wrong},
        {"mean_square", "mean squared error, in levels", e->noisy_square, e->square, (double)NAN}};
    gbsi_output_text(output,
                     is_table ? "                                     noisy   restored   expected\n"
                              : "error,noisy,restored,expected\n");
    for (size_t i = 0; i < 2 && !(i == 1 && isnan(e->square)); i++) {
        if (!is_table) {
            gbsi_output_text(output, row[i].name);
            cli_csv_number(output, row[i].noisy);
            cli_csv_number(output, row[i].restored);
            cli_csv_number(output, row[i].expected);
            gbsi_output_text(output, "\n");
        } else if (isnan(row[i].expected)) {
            cli_put_line(output, 31, row[i].title, "%10.4g %10.4g", row[i].noisy, row[i].restored);
        } else {
            cli_put_line(output, 31, row[i].title, "%10.4g %10.4g %10.4g", row[i].noisy,
                         row[i].restored, row[i].expected);
        }
    }
}

/* Prints the differences from the truth. @param errors errors over all pixels; errors->size is 0 if
 * --truth was not given. */
static int print_errors(const cli_arguments *a, const gbs_denoise_errors *errors)
{
    const int is_table =
        a->format != NULL ? strcmp(a->format, "table") == 0 : cli_is_terminal(STDOUT_FILENO);
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    if (errors->size == 0) {
        return CLI_DONE;
    }
    gbs_status status = gbs_output_open("-", &output, &err);
    if (status >= 0) {
        put_rows(output, errors, is_table);
        status = gbs_output_commit(output, &err);
    }
    return status < 0 ? cli_fail_output("-", status, &err) : CLI_DONE;
}

/* ---- the answer, some rows of pixels at a time ----------------------------------------------- */

/* Number of pixels times levels of a band, whose marginals are in memory together */
#define BAND ((uint32_t)1 << 20)

enum { N_PICTURES = 3 };

typedef struct answering {
    const cli_denoising *d;
    double *p;                     /* [pixels of a band][levels] */
    gbs_image picture[N_PICTURES]; /* pictures, indexed by gbs_denoise_picture; a picture that is
                                      not wanted is empty */
    gbs_denoise_errors errors;
} answering;

static const char *name_of(const cli_arguments *a, int what)
{
    return what == GBS_DENOISE_MODE   ? a->output
           : what == GBS_DENOISE_MEAN ? a->mean
                                      : a->uncertainty;
}

/* @return a picture of some rows of a picture. @param whole may be a picture without pixels. */
static gbs_image rows_of(const gbs_image *whole, uint32_t first, uint32_t n)
{
    gbs_image rows = *whole;
    rows.height = n;
    rows.sample = whole->sample == NULL
                      ? NULL
                      : whole->sample + (size_t)first * whole->width * whole->channels;
    return rows;
}

static gbs_status add_rows(const gbs_image *rows, uint32_t first, uint32_t height, gbs_image *whole,
                           gbs_error *err)
{
    if (whole->sample == NULL) {
        const gbs_status status = gbs_image_new(rows->kind, rows->width, height, rows->maxval,
                                                rows->n_colors, whole, err);
        if (status < 0) {
            return status;
        }
        memcpy(whole->color, rows->color, sizeof whole->color);
    }
    const size_t n = (size_t)rows->width * rows->channels;
    memcpy(whole->sample + first * n, rows->sample, rows->height * n * sizeof *rows->sample);
    return GBS_OK;
}

/* Adds the errors of a band, weighted with the band's share of the pixels, to the means over all
 * pixels. */
static void add_errors(const gbs_denoise_errors *band, double share, gbs_denoise_errors *all)
{
    all->size = sizeof *all;
    all->noisy_wrong += share * band->noisy_wrong;
    all->wrong += share * band->wrong;
    all->noisy_square += share * band->noisy_square;
    all->square += share * band->square;
    all->expected_wrong += share * band->expected_wrong;
}

static gbs_status answer_rows(answering *w, uint32_t first, uint32_t n, gbs_error *err)
{
    const cli_denoising *d = w->d;
    const gbs_image noisy = rows_of(&d->noisy, first, n);
    gbs_status status = gbs_run_marginals_of(d->job.run, first * noisy.width, n * noisy.width, w->p,
                                             NULL, NULL, NULL, err);
    for (int what = 0; what < N_PICTURES && status >= 0; ++what) {
        gbs_image rows = {0};
        if (name_of(d->job.arguments, what) == NULL) {
            continue;
        }
        status = gbs_denoise_draw(&noisy, &d->how, w->p, (gbs_denoise_picture)what, &rows, err);
        if (status >= 0) {
            status = add_rows(&rows, first, d->noisy.height, &w->picture[what], err);
        }
        gbs_image_free(&rows);
    }
    if (status >= 0 && d->job.arguments->truth != NULL) {
        const gbs_image truth = rows_of(&d->truth, first, n);
        gbs_denoise_errors errors = {.size = sizeof errors};
        status = gbs_denoise_compare(&truth, &noisy, &d->how, w->p, &errors, err);
        add_errors(&errors, (double)n / d->noisy.height, &w->errors);
    }
    return status;
}

static int answer_all_rows(answering *w)
{
    const gbs_image *noisy = &w->d->noisy;
    const uint32_t levels = w->d->how.levels;
    const uint32_t most = BAND / levels / noisy->width;
    const uint32_t step = most < 1 ? 1 : most < noisy->height ? most : noisy->height;
    gbs_error err = {GBS_OK, ""};
    gbs_status status = GBS_OK;
    w->p = calloc((size_t)step * noisy->width * levels, sizeof *w->p);
    if (w->p == NULL) {
        return cli_error(CLI_FAILED, "out of memory: %" PRIu32 " rows of %" PRIu32 " level%s", step,
                         levels, gbsi_plural(levels));
    }
    for (uint32_t first = 0; first < noisy->height && status >= 0; first += step) {
        const uint32_t left = noisy->height - first;
        status = answer_rows(w, first, left < step ? left : step, &err);
    }
    free(w->p);
    if (status == GBS_ERR_STATE) {
        return cli_error(CLI_STOPPED, "stopped before the first draw was kept: nothing is written");
    }
    return status < 0 ? cli_fail(status, &err) : CLI_DONE;
}

static int give_answer(const cli_denoising *d)
{
    answering w = {.d = d};
    gbs_error err = {GBS_OK, ""};
    int status = answer_all_rows(&w);
    for (int what = 0; what < N_PICTURES; ++what) {
        if (status == CLI_DONE && w.picture[what].sample != NULL) {
            status = write_picture(&w.picture[what], name_of(d->job.arguments, what), GBS_OK, &err);
        }
        gbs_image_free(&w.picture[what]);
    }
    return status == CLI_DONE ? print_errors(d->job.arguments, &w.errors) : status;
}

/* ---- the verb -------------------------------------------------------------------------------- */

/* Limits the run of a large picture: it runs without factors and ends early, unless options say
 * otherwise. */
static int limit_run(cli_denoising *d)
{
    gbs_error err = {GBS_OK, ""};
    const cli_arguments *a = d->job.arguments;
    const gbs_run_options typed = d->job.options;
    gbs_run_options *o = &d->job.options;
    d->how.keep_chains = cli_given(a, "chains");
    const gbs_status status = gbs_denoise_limit(&d->noisy, &d->how, o, &err);
    if (status < 0) {
        return cli_fail(status, &err);
    }
    if (o->lattice != typed.lattice) {
        cli_note(a,
                 "a large picture: run without factors, as with --method sample --lattice "
                 "always --chains %" PRIu64,
                 o->chains);
    }
    if (o->sweeps != typed.sweeps && d->frozen) {
        cli_note(a,
                 "it ends, if it is sampled, after --sweeps %" PRIu64
                 ": more would show nothing else",
                 o->sweeps);
    } else if (o->sweeps != typed.sweeps) {
        cli_note(a,
                 "a large picture: it ends, if it is sampled, after at most --sweeps %" PRIu64
                 "; more sweeps, --target-error or --time lower the errors",
                 o->sweeps);
    }
    return CLI_DONE;
}

static int restore(cli_denoising *d)
{
    const gbs_run_options asked = d->job.options; /* options before the run was limited; --map uses
                                                     these with other numbers of sweeps */
    int stopped = 0;
    int status = CLI_DONE;
    CLI_TRY(limit_run(d));
    CLI_TRY(cli_execute(&d->job, NULL, NULL, &stopped));
    CLI_TRY(give_answer(d));

cleanup:
    status = status == CLI_DONE ? cli_conclude(&d->job, stopped) : status;
    d->job.options = asked;
    return status;
}

static int answer(cli_denoising *d)
{
    const cli_arguments *a = d->job.arguments;
    const int marginals = a->output != NULL || a->mean != NULL || a->uncertainty != NULL ||
                          a->truth != NULL || a->summary != NULL;
    const double begun_s = cli_clock_s();
    const double time_s = d->job.options.time_s;
    const int shared = marginals && a->best != NULL && time_s > 0.0;
    d->job.options.time_s = shared ? 0.5 * time_s : time_s;
    int status = marginals ? restore(d) : CLI_DONE;
    if (shared) { /* the search gets the remaining time */
        d->job.options.time_s = fmax(time_s - (cli_clock_s() - begun_s), LEAST_S);
    }
    if (a->best != NULL && (status == CLI_DONE || status == CLI_DOUBTFUL)) {
        const int found = draw_best(d, a->best);
        status = found != CLI_DONE ? found : status;
    }
    return status;
}

/* Checks the file name of --write-model. */
static int check_model_name(const cli_arguments *arguments)
{
    cli_arguments as = *arguments;
    as.output = as.write_model;
    as.format = NULL;
    return as.output != NULL ? cli_check_model_output(&as) : CLI_DONE;
}

static int run_denoise(cli_arguments *arguments)
{
    cli_denoising d;
    memset(&d, 0, sizeof d);
    d.job.arguments = arguments;
    d.job.make_run = make_run;
    d.job.begun_s = cli_clock_s();
    d.job.output = arguments->output;
    d.job.summary = arguments->summary;
    int status = CLI_DONE;
    CLI_TRY(cli_denoise_check_names(arguments));
    CLI_TRY(check_model_name(arguments));
    CLI_TRY(cli_settle(arguments, GBS_METHOD_AUTO));
    CLI_TRY(cli_denoise_read(&d, arguments));
    CLI_TRY(cli_denoise_settle(&d, arguments));
    CLI_TRY(estimate(&d, arguments));
    CLI_TRY(tell_frozen(&d));
    CLI_TRY(write_model(&d));
    CLI_TRY(keep_model(&d));
    CLI_TRY(cli_load_options(&d.job));
    CLI_TRY(answer(&d));

cleanup:
    gbs_image_free(&d.noisy);
    gbs_image_free(&d.truth);
    cli_job_free(&d.job);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

#define CLI_QUESTION "denoise"
static const cli_option options[] = {
#include "gibbsite/questions/denoise.def"
};

const cli_verb cli_verb_denoise = {
    .name = "denoise",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "IMAGE",
    .what = "a noisy picture restored, with its uncertainty",
    .notes = "Every pixel is a variable whose states are levels of grey or labels; neighbours\n"
             "resemble one another, and what is seen is disturbed. Noise and coupling that\n"
             "are not given are estimated from the picture. IMAGE is PNG or PNM; -o is the\n"
             "most probable level of each pixel, --map the most probable picture as a whole.\n",
    .example = "gibbsite denoise examples/leaf-noisy.pbm -o clean.png --uncertainty doubt.png\n"
               "gibbsite denoise examples/leaf-noisy.pbm --truth examples/leaf.pbm\n"
               "gibbsite denoise examples/leaf-noisy.pbm --coupling 1 --write-model l.gbm\n",
    .run = run_denoise,
};
