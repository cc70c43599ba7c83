/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite segment: cuts a picture into regions of the classes that learn aspects found. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gibbsite/dobrushin.h"
#include "gibbsite/image.h"
#include "gibbsite/segment.h"
#include "job/job.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

typedef struct segmenting {
    cli_job job;
    gbs_aspects *aspects;
    gbs_image picture, truth; /* noisy picture, and true picture, which is empty without --truth */
    gbs_segment *segment;
    gbs_rectangle target;
    const gbs_rectangle *rectangle; /* &target, or NULL for the whole picture */
    uint32_t *label;                /* [patches] */
    gbs_segment_score *score;       /* [classes + 1] scores against the truth, or NULL */
    gbs_segment_score *alone; /* [classes + 1] scores if each patch is classified alone, or NULL */
    cli_bar bar;
} segmenting;

static size_t n_patches(const segmenting *s)
{
    return (size_t)gbs_segment_rows(s->segment) * gbs_segment_columns(s->segment);
}

/* ---- files in -------------------------------------------------------------------------------- */

static int read_files(segmenting *s)
{
    const cli_arguments *a = s->job.arguments;
    gbs_error err = {GBS_OK, ""};
    int n_standard = strcmp(a->operand[0], "-") == 0;
    n_standard += strcmp(a->operand[1], "-") == 0;
    n_standard += a->truth != NULL && strcmp(a->truth, "-") == 0;
    if (n_standard > 1) {
        return cli_error(CLI_USAGE, "standard input (-) can be only one of the inputs");
    }
    const gbs_status done = gbs_aspects_read(a->operand[0], &s->aspects, &err);
    CLI_PASS(done < 0 ? cli_fail_input(done, &err) : CLI_DONE);
    CLI_PASS(cli_read_picture(&s->job, a->operand[1], &s->picture));
    if (a->truth != NULL) {
        CLI_PASS(cli_read_picture(&s->job, a->truth, &s->truth));
    }
    if (a->truth != NULL &&
        (s->truth.width != s->picture.width || s->truth.height != s->picture.height ||
         s->truth.kind == GBS_IMAGE_COLOR)) {
        CLI_PASS(cli_error(
            CLI_INPUT,
            "%s: found a %s of %" PRIu32 " x %" PRIu32
            " pixels, expected grey or a palette of %" PRIu32 " x %" PRIu32 " pixels as in %s",
            a->truth, s->truth.kind == GBS_IMAGE_COLOR ? "picture in colour" : "label map",
            s->truth.width, s->truth.height, s->picture.width, s->picture.height, a->operand[1]));
    }
    return CLI_DONE;
}

static int check_names(const cli_arguments *a)
{
    const char *const file[] = {a->output, a->overlay, a->write_model, a->summary};
    enum { N = sizeof file / sizeof file[0], N_PICTURES = 2 };
    int status = CLI_DONE;
    for (size_t i = 0; i < N && status == CLI_DONE; i++) {
        const char *dot = file[i] == NULL ? NULL : strrchr(file[i], '.');
        if (file[i] == NULL || (i == 0 && strcmp(file[i], "-") == 0)) {
            continue;
        }
        if (i < N_PICTURES && (dot == NULL || (strcmp(dot, ".png") != 0 &&
                                               strcmp(dot, i == 0 ? ".pgm" : ".ppm") != 0))) {
            status = cli_error(CLI_USAGE, "--%s %s: expected a name that ends in .png or %s",
                               i == 0 ? "output" : "overlay", file[i], i == 0 ? ".pgm" : ".ppm");
        }
        for (size_t k = 0; k < i && status == CLI_DONE; k++) {
            if (file[k] != NULL && strcmp(file[i], file[k]) == 0) {
                status = cli_error(CLI_USAGE, "two results have the same file %s", file[i]);
            }
        }
        if (status == CLI_DONE) {
            status = cli_check_output(file[i]);
        }
    }
    cli_arguments as = *a;
    as.output = as.write_model;
    as.format = NULL;
    return status == CLI_DONE && as.output != NULL ? cli_check_model_output(&as) : status;
}

/* ---- the rectangle --------------------------------------------------------------------------- */

/* Reads the number at the start of text, and the mark that must follow; text is moved after the
 * mark. */
static int take(const char **text, char mark, uint32_t *value)
{
    char digits[12] = "";
    uint64_t number = 0;
    const size_t n = strspn(*text, "0123456789");
    if (n == 0 || n >= sizeof digits || (*text)[n] != mark) {
        return 0;
    }
    memcpy(digits, *text, n);
    *text += n + (mark != '\0');
    if (!cli_parse_uint(digits, &number) || number > UINT32_MAX) {
        return 0;
    }
    *value = (uint32_t)number;
    return 1;
}

/* Reads a rectangle: "ROWSxCOLUMNS", which is centred in the picture, or
 * "ROWSxCOLUMNS+ROW+COLUMN". */
static int settle_rectangle(segmenting *s)
{
    const char *text = s->job.arguments->targets;
    const char *at = text;
    const uint32_t rows = gbs_segment_rows(s->segment);
    const uint32_t columns = gbs_segment_columns(s->segment);
    gbs_rectangle *t = &s->target;
    if (text == NULL) {
        return CLI_DONE;
    }
    const int placed = strchr(text, '+') != NULL;
    int fine = take(&at, 'x', &t->rows) && take(&at, placed ? '+' : '\0', &t->columns) &&
               t->rows > 0 && t->columns > 0 && t->rows <= rows && t->columns <= columns;
    if (fine && placed) {
        fine = take(&at, '+', &t->row) && take(&at, '\0', &t->column) && t->row <= rows - t->rows &&
               t->column <= columns - t->columns;
    } else if (fine) {
        t->row = (rows - t->rows) / 2;
        t->column = (columns - t->columns) / 2;
    }
    s->rectangle = t;
    return fine ? CLI_DONE
                : cli_error(CLI_USAGE,
                            "--target: found \"%s\", expected ROWSxCOLUMNS or "
                            "ROWSxCOLUMNS+ROW+COLUMN inside the %" PRIu32 " x %" PRIu32
                            " patches of the picture",
                            text, rows, columns);
}

static int is_stopped(void *context)
{
    (void)context;
    return cli_signals_caught();
}

/* Finds the scan: a rectangle has its own scan unless --scan is given. */
static int find_scan(segmenting *s)
{
    cli_job *job = &s->job;
    gbs_scan_report report = {.size = sizeof report};
    gbs_error err = {GBS_OK, ""};
    if (s->rectangle == NULL || cli_given(job->arguments, "scan")) {
        return CLI_DONE;
    }
    cli_signals_catch();
    const gbs_status done = gbs_segment_scan(s->segment, s->rectangle, is_stopped, NULL,
                                             &job->sequence, &job->sequence_length, &report, &err);
    if (done == GBS_ERR_UNSUPPORTED) {
        return cli_error(CLI_FAILED,
                         "--target: %s; choose a smaller --coupling, or name a --scan for the "
                         "whole picture",
                         err.message);
    }
    if (done < 0) {
        return cli_fail(done, &err);
    }
    job->options.scan = GBS_SCAN_SEQUENCE;
    job->options.start = job->start;
    job->options.sequence = job->sequence;
    job->options.sequence_length = job->sequence_length;
    job->options.partial_scan = 1;
    cli_note(
        job->arguments,
        "--target: a scan of %zu update%s brings the rectangle as close to its distribution as "
        "one over all %zu patch%s (variation %.4g, %.4g); other patches keep the classes that "
        "they have alone",
        job->sequence_length, gbsi_plural(job->sequence_length), n_patches(s),
        gbsi_plural_of(n_patches(s), "", "es"), report.after, report.goal);
    return CLI_DONE;
}

/* ---- the answer ------------------------------------------------------------------------------ */

static int on_words(void *context, const gbs_progress *progress)
{
    cli_bar_share(context, progress->elapsed_s,
                  (double)progress->pass / (double)(progress->passes > 0 ? progress->passes : 1),
                  "reading the picture");
    return cli_signals_caught();
}

static int see(segmenting *s)
{
    const cli_arguments *a = s->job.arguments;
    gbs_error err = {GBS_OK, ""};
    cli_bar bar;
    memset(&bar, 0, sizeof bar);
    gbs_segment_options options = a->of.segment;
    const gbs_run_callbacks callbacks = {
        .size = sizeof callbacks, .context = &bar, .progress = on_words};
    cli_signals_catch();
    cli_bar_init(&bar, a, &a->run);
    gbs_status done =
        gbs_segment_new(s->aspects, &s->picture, &options, &callbacks, &s->segment, &err);
    cli_bar_finish(&bar, NULL);
    if (done == GBS_ERR_ARGUMENT) {
        return cli_error(CLI_INPUT, "%s: %s", a->operand[1], err.message);
    }
    if (done >= 0) {
        done = gbs_segment_model(s->segment, &s->job.model, &err);
    }
    if (done < 0) {
        return cli_fail(done, &err);
    }
    cli_arguments as = *a;
    as.output = as.write_model;
    as.format = NULL;
    return as.output != NULL ? cli_write_model(&as, s->job.model) : CLI_DONE;
}

/* Loads the model of the patches. Outside a rectangle with its own scan, patches keep the class
 * that they get when each patch is classified alone. */
static int load(segmenting *s)
{
    cli_job *job = &s->job;
    const size_t n = n_patches(s);
    job->start = calloc(n + 1, sizeof *job->start);
    s->label = calloc(n + 1, sizeof *s->label);
    CLI_PASS(CLI_HAVE(job->start, s->label));
    memcpy(job->start, gbs_segment_alone(s->segment), n * sizeof *job->start);
    memcpy(s->label, gbs_segment_alone(s->segment), n * sizeof *s->label);
    if (job->arguments->scan_file != NULL) {
        gbs_error err = {GBS_OK, ""};
        const gbs_status done = gbs_scan_read(job->arguments->scan_file, job->model, &job->sequence,
                                              &job->sequence_length, &err);
        if (done < 0) {
            return cli_fail_input(done, &err);
        }
    }
    job->options = job->arguments->run;
    job->options.sequence = job->sequence;
    job->options.sequence_length = job->sequence_length;
    return find_scan(s);
}

/* Takes the most frequent class of each patch; outside a rectangle, and for patches that the scan
 * does not visit, takes the most probable class of the patch alone. */
static int take_labels(segmenting *s)
{
    const uint32_t k = gbs_aspects_n_classes(s->aspects);
    const uint32_t columns = gbs_segment_columns(s->segment);
    const gbs_rectangle *t = s->rectangle;
    gbs_error err = {GBS_OK, ""};
    double *p = calloc(n_patches(s) * k + 1, sizeof *p);
    CLI_PASS(CLI_HAVE(p));
    const gbs_status done = gbs_run_marginals(s->job.run, p, NULL, NULL, NULL, &err);
    for (size_t i = 0; i < n_patches(s) && done >= 0; i++) {
        const size_t row = i / columns;
        const size_t column = i % columns;
        const int inside = t == NULL || (row >= t->row && row < t->row + t->rows &&
                                         column >= t->column && column < t->column + t->columns);
        for (uint32_t a = 0; a < k && inside; a++) {
            s->label[i] = p[i * k + a] > p[i * k + s->label[i]] ? a : s->label[i];
        }
    }
    free(p);
    if (done == GBS_ERR_STATE) {
        return cli_error(CLI_STOPPED, "stopped before the first draw was kept: nothing is written");
    }
    return done < 0 ? cli_fail(done, &err) : CLI_DONE;
}

/* ---- results --------------------------------------------------------------------------------- */

static int draw(const segmenting *s, gbs_segment_picture what, const char *path)
{
    const gbs_image_write_options to_pipe = {.size = sizeof to_pipe, .format = "png"};
    gbs_image image = {0};
    gbs_error err = {GBS_OK, ""};
    if (path == NULL) {
        return CLI_DONE;
    }
    gbs_status status =
        gbs_segment_draw(s->segment, &s->picture, s->label, s->rectangle, what, &image, &err);
    if (status < 0) {
        return cli_fail(status, &err);
    }
    status = gbs_image_write(&image, path, strcmp(path, "-") == 0 ? &to_pipe : NULL, &err);
    gbs_image_free(&image);
    return status < 0 ? cli_fail_output(path, status, &err) : CLI_DONE;
}

static int compare(segmenting *s)
{
    const size_t n = (size_t)gbs_aspects_n_classes(s->aspects) + 1;
    gbs_error err = {GBS_OK, ""};
    if (s->job.arguments->truth == NULL) {
        return CLI_DONE;
    }
    s->score = calloc(n, sizeof *s->score);
    s->alone = calloc(n, sizeof *s->alone);
    CLI_PASS(CLI_HAVE(s->score, s->alone));
    gbs_status done =
        gbs_segment_compare(s->segment, &s->truth, s->label, s->rectangle, s->score, &err);
    if (done >= 0) {
        done = gbs_segment_compare(s->segment, &s->truth, gbs_segment_alone(s->segment),
                                   s->rectangle, s->alone, &err);
    }
    return done < 0 ? cli_fail(done, &err) : CLI_DONE;
}

/* Writes a row for one class, or for all classes together. @param n number of patches that are
 * given this class. */
static void put_row(gbs_output *output, const segmenting *s, uint32_t a, uint64_t n, int is_table)
{
    const uint32_t k = gbs_aspects_n_classes(s->aspects);
    const char *name = a < k ? gbs_aspects_class_name(s->aspects, a) : "all";
    char text[128];
    if (!is_table) {
        gbsi_output_csv_field(output, name);
        gbsi_output_text(output, ",");
        gbsi_output_uint(output, n);
        if (s->score != NULL) {
            (void)snprintf(text, sizeof text, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64,
                           s->score[a].n_patches, s->score[a].n_right, s->alone[a].n_right);
            gbsi_output_text(output, text);
        }
        gbsi_output_text(output, "\n");
    } else if (s->score == NULL) {
        cli_put_line(output, 20, name, "%10" PRIu64, n);
    } else {
        cli_put_line(output, 20, name, "%10" PRIu64 " %8" PRIu64 " %8" PRIu64 " %14" PRIu64, n,
                     s->score[a].n_patches, s->score[a].n_right, s->alone[a].n_right);
    }
}

static void put_rows(gbs_output *output, const segmenting *s, int is_table)
{
    const uint32_t k = gbs_aspects_n_classes(s->aspects);
    const uint32_t columns = gbs_segment_columns(s->segment);
    const gbs_rectangle whole = {0, 0, gbs_segment_rows(s->segment), columns};
    const gbs_rectangle *t = s->rectangle != NULL ? s->rectangle : &whole;
    const char *head = is_table ? "class                  patches" : "class,patches";
    const char *more = is_table ? "     true    right    right alone" : ",true,right,right_alone";
    gbsi_output_text(output, head);
    gbsi_output_text(output, s->score != NULL ? more : "");
    gbsi_output_text(output, "\n");
    for (uint32_t a = 0; a <= k; a++) {
        uint64_t n = 0;
        for (size_t r = t->row; r < (size_t)t->row + t->rows; r++) {
            for (size_t c = t->column; c < (size_t)t->column + t->columns; c++) {
                n += a == k || s->label[r * columns + c] == a;
            }
        }
        put_row(output, s, a, n, is_table);
    }
}

static int write_table(const segmenting *s)
{
    const cli_arguments *a = s->job.arguments;
    const int is_table =
        a->format != NULL ? strcmp(a->format, "table") == 0 : cli_is_terminal(STDOUT_FILENO);
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    if (a->output != NULL && strcmp(a->output, "-") == 0) {
        return CLI_DONE;
    }
    gbs_status status = gbs_output_open("-", &output, &err);
    if (status >= 0) {
        put_rows(output, s, is_table);
        status = gbs_output_commit(output, &err);
    }
    return status < 0 ? cli_fail_output("-", status, &err) : CLI_DONE;
}

static int answer(segmenting *s)
{
    int stopped = 0;
    CLI_PASS(cli_execute(&s->job, NULL, NULL, &stopped));
    CLI_PASS(take_labels(s));
    CLI_PASS(compare(s));
    CLI_PASS(draw(s, GBS_SEGMENT_MAP, s->job.arguments->output));
    CLI_PASS(draw(s, GBS_SEGMENT_OVERLAY, s->job.arguments->overlay));
    CLI_PASS(write_table(s));
    return cli_conclude(&s->job, stopped);
}

static int run_segment(cli_arguments *arguments)
{
    segmenting s;
    memset(&s, 0, sizeof s);
    s.job.arguments = arguments;
    s.job.begun_s = cli_clock_s();
    s.job.output = arguments->output;
    s.job.summary = arguments->summary;
    int status = check_names(arguments);
    if (status == CLI_DONE) {
        status =
            cli_settle(arguments, arguments->targets != NULL ? GBS_METHOD_SAMPLE : GBS_METHOD_AUTO);
    }
    if (status == CLI_DONE) {
        status = read_files(&s);
    }
    if (status == CLI_DONE) {
        status = see(&s);
    }
    if (status == CLI_DONE) {
        status = settle_rectangle(&s);
    }
    if (status == CLI_DONE) {
        status = load(&s);
    }
    if (status == CLI_DONE) {
        status = answer(&s);
    }
    free(s.label);
    free(s.score);
    free(s.alone);
    gbs_segment_free(s.segment);
    gbs_aspects_free(s.aspects);
    gbs_image_free(&s.picture);
    gbs_image_free(&s.truth);
    cli_job_free(&s.job);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

#define CLI_QUESTION "segment"
static const cli_option options[] = {
#include "gibbsite/questions/segment.def"
};

const cli_verb cli_verb_segment = {
    .name = "segment",
    CLI_TAKES(options),
    .n_operands = 2,
    .operands = "CLASSES IMAGE",
    .what = "a picture cut into regions of known kinds",
    .notes = "CLASSES is a file of learn aspects. IMAGE is PNG, JPEG or PNM: each of its\n"
             "patches gets a class, by what it shows and by its neighbours. Prints how many\n"
             "patches have each class; -o is a map of the classes, --overlay the picture in\n"
             "their colours. With --target a rectangle is cut alone, far sooner.\n",
    .example = "gibbsite segment examples/ground.aspects examples/ground.png --overlay o.png\n"
               "gibbsite segment examples/ground.aspects examples/ground.png --target 4x4\n",
    .run = run_segment,
};
