/* SPDX-License-Identifier: Apache-2.0 */
#include "learn_machines.h"
#include "src/core/base/plural.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- checkpoints ----------------------------------------------------------------------------- */

void cli_learn_settle_checkpoints(const cli_arguments *arguments, gbs_checkpoint_files *files)
{
    *files = (gbs_checkpoint_files){
        .size = sizeof *files, .write = arguments->checkpoint, .resume = arguments->resume};
}

const gbs_checkpoint_files *cli_learn_checkpoints(const gbs_checkpoint_files *files)
{
    return files->write != NULL || files->resume != NULL ? files : NULL;
}

int cli_learn_fail(const gbs_checkpoint_files *files, gbs_status done, const gbs_error *err)
{
    return done == GBS_ERR_FORMAT ? cli_fail_input(done, err) : cli_fail_call(files, done, err);
}

void cli_learn_tell_unwritten(const cli_arguments *arguments, uint64_t n)
{
    if (n > 0) {
        cli_note(arguments, "%" PRIu64 " checkpoint%s could not be written; the one before stays",
                 n, gbsi_plural(n));
    }
}

void cli_learn_tell_probes(const cli_arguments *arguments, uint64_t n)
{
    if (n > 0) {
        cli_note(arguments,
                 "standard errors are estimates by %" PRIu64 " probe%s, each off by %.2g %% of "
                 "itself (one standard error); more --probes make that less",
                 n, gbsi_plural(n), 100.0 / sqrt(2.0 * (double)n));
    }
}

/* ---- steps ---------------------------------------------------------------------------------- */

int cli_learn_rates(const cli_arguments *arguments, double *first, double *last)
{
    const char *text = arguments->rate;
    char number[32] = "";
    *first = 0.05;
    *last = 0.0;
    if (text != NULL) {
        const size_t n = strcspn(text, ":");
        memcpy(number, text, n < sizeof number ? n : 0);
        if (!cli_parse_real(number, first) ||
            (text[n] == ':' && !cli_parse_real(text + n + 1, last)) ||
            !(*first >= 1e-9 && *first <= 1000.0) ||
            (text[n] == ':' && !(*last >= 1e-9 && *last <= *first))) {
            return cli_error(CLI_USAGE,
                             "--rate: found \"%s\", expected a size of the first step of 1e-9 to "
                             "1000, perhaps with one of the last step of 1e-9 to that, as in "
                             "0.05:0.01",
                             text);
        }
    }
    *last = *last > 0.0 ? *last : *first / 5.0;
    return CLI_DONE;
}

/* ---- rows ------------------------------------------------------------------------------------ */

int cli_machine_settle(const cli_arguments *arguments, cli_machine_rows *rows)
{
    int status = cli_settle_held_out(arguments->held_out, arguments->operand[0], &rows->out);
    if (status == CLI_DONE) {
        status = cli_check_model_output(arguments);
    }
    cli_learn_settle_checkpoints(arguments, &rows->checkpoints);
    return status == CLI_DONE ? cli_check_results(arguments) : status;
}

static void tell_read(const cli_arguments *arguments, const char *path, const gbs_rows *rows)
{
    if (gbs_rows_note(rows) != NULL) {
        cli_note(arguments, "%s: %s", path, gbs_rows_note(rows));
    }
}

int cli_machine_read(const cli_arguments *arguments, cli_machine_rows *rows)
{
    gbs_error err = {GBS_OK, ""};
    gbs_status done = gbs_rows_read_as(arguments->operand[0], NULL, 0,
                                       (gbs_alphabet)arguments->alphabet, &rows->data, &err);
    if (done >= 0 &&
        rows->out.path != NULL) { /* held-out rows are read with the alphabet of the data, because a
                                     few rows may not have all its letters */
        done = gbs_rows_read_as(rows->out.path, NULL, 0, gbs_rows_alphabet(rows->data),
                                &rows->held_out, &err);
    }
    if (done < 0) {
        return cli_fail_input(done, &err);
    }
    tell_read(arguments, arguments->operand[0], rows->data);
    tell_read(arguments, rows->out.path, rows->held_out);
    if (rows->held_out != NULL &&
        (gbs_rows_n_sites(rows->held_out) != gbs_rows_n_sites(rows->data) ||
         gbs_rows_n_states(rows->held_out) > gbs_rows_n_states(rows->data))) {
        return cli_error(CLI_INPUT, "%s: found %u site%s of %u state%s, expected %u of at most %u",
                         rows->out.path, gbs_rows_n_sites(rows->held_out),
                         gbsi_plural(gbs_rows_n_sites(rows->held_out)),
                         gbs_rows_n_states(rows->held_out),
                         gbsi_plural(gbs_rows_n_states(rows->held_out)),
                         gbs_rows_n_sites(rows->data), gbs_rows_n_states(rows->data));
    }
    if (rows->out.share > 0.0) {
        done = gbs_rows_hold_out(rows->data, rows->out.share, &rows->held_out, &err);
    }
    if (done >= 0 && rows->out.share > 0.0 && gbs_rows_n(rows->held_out) == 0) {
        return cli_error(CLI_INPUT, "%s: found %zu row%s, of which --held-out %s leaves none out",
                         arguments->operand[0], gbs_rows_n(rows->data),
                         gbsi_plural(gbs_rows_n(rows->data)), arguments->held_out);
    }
    return done < 0 ? cli_fail(done, &err) : CLI_DONE;
}

void cli_machine_free(cli_machine_rows *rows)
{
    gbs_rows_free(rows->data);
    gbs_rows_free(rows->held_out);
}

/* ---- curves ---------------------------------------------------------------------------------- */

typedef struct curve {
    const char *header;
    uint64_t first;
    const double *value;
    size_t n_rows, n_columns;
} curve;

static void write_rows(gbs_output *output, const void *context)
{
    const curve *c = context;
    gbsi_output_text(output, c->header);
    gbsi_output_text(output, "\n");
    for (size_t row = 0; row < c->n_rows; row++) {
        gbsi_output_uint(output, c->first + row);
        for (size_t column = 0; column < c->n_columns; column++) {
            const double number = c->value[row * c->n_columns + column];
            gbsi_output_text(output, ",");
            if (!isnan(number)) {
                gbsi_output_double(output, number);
            }
        }
        gbsi_output_text(output, "\n");
    }
}

int cli_write_curve(const char *path, const char *header, uint64_t first, const double *value,
                    size_t n_rows, size_t n_columns)
{
    const curve c = {header, first, value, n_rows, n_columns};
    return cli_write(path, write_rows, &c);
}

enum { POINT_COLUMNS = 3, POINTS = 1024 };

void cli_points_add(void *context, const gbs_learn_point *point)
{
    cli_points *p = context;
    const double numbers[POINT_COLUMNS] = {point->objective, point->gradient, point->held_out};
    p->first = p->n == 0 ? point->iteration : p->first;
    if (p->n == p->capacity) {
        const size_t wanted = p->capacity > 0 ? 2 * p->capacity : POINTS;
        double *grown = realloc(p->value, wanted * sizeof numbers);
        if (grown == NULL) {
            p->lost = 1;
            return;
        }
        p->value = grown;
        p->capacity = wanted;
    }
    memcpy(p->value + POINT_COLUMNS * p->n++, numbers, sizeof numbers);
}

int cli_points_write(const cli_points *points, const char *path)
{
    return points->lost ? cli_error(CLI_FAILED, "out of memory")
                        : cli_write_curve(path, "iteration,objective,gradient,held_out",
                                          points->first, points->value, points->n, POINT_COLUMNS);
}
