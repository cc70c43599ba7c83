/* SPDX-License-Identifier: Apache-2.0 */
/* Reads rows of data for fit and learn. */
#include "data_rows.h"

#include <stdlib.h>
#include <string.h>

static int parse_held_out(const char *text, cli_held_out *out)
{
    char number[32];
    const size_t n = text == NULL ? 0 : strlen(text);
    if (n == 0 || n >= sizeof number) {
        out->path = text;
        return CLI_DONE;
    }
    const int percent = text[n - 1] == '%';
    (void)snprintf(number, sizeof number, "%.*s", (int)n - percent, text);
    if (!cli_parse_real(number, &out->share)) {
        out->path = text;
        return CLI_DONE;
    }
    out->share *= percent ? 0.01 : 1.0;
    return out->share > 0.0 && out->share < 1.0
               ? CLI_DONE
               : cli_error(CLI_USAGE,
                           "--held-out: found \"%s\", expected a file, or a share above 0 and "
                           "below 1",
                           text);
}

int cli_settle_held_out(const char *text, const char *data_path, cli_held_out *out)
{
    *out = (cli_held_out){0};
    const int status = parse_held_out(text, out);
    return status == CLI_DONE && out->path != NULL && strcmp(out->path, "-") == 0 &&
                   strcmp(data_path, "-") == 0
               ? cli_error(CLI_USAGE, "standard input cannot be the data and the held-out rows")
               : status;
}

/* ---- tables ---------------------------------------------------------------------------------- */

int cli_table_open(const cli_arguments *arguments, const gbs_model *model, const char *path,
                   int complete, gbs_table **table)
{
    gbs_error err = {GBS_OK, ""};
    const gbs_table_options options = {
        .size = sizeof options,
        .weights = arguments->weights,
        .numbers = arguments->table_states == NULL                   ? 0
                   : strcmp(arguments->table_states, "numbers") == 0 ? 1
                                                                     : 2,
        .strict = arguments->strict,
        .complete = complete,
        .tell = cli_tell,
        .context = (void *)(uintptr_t)arguments}; /* the callback only reads the arguments */
    const gbs_status done = gbs_table_open(model, path, &options, table, &err);
    return done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
}

int cli_table_next(gbs_table *table, uint32_t *state, double *weight, int *end)
{
    gbs_error err = {GBS_OK, ""};
    const gbs_status done = gbs_table_next(table, state, weight, end, &err);
    return done < 0 ? cli_fail_input(done, &err) : CLI_DONE;
}

/* ---- data ------------------------------------------------------------------------------------ */

static int add_row(gbs_data *data, const uint32_t *state, double weight)
{
    gbs_error err = {GBS_OK, ""};
    const gbs_status done = gbs_data_add(data, 1, state, &weight, &err);
    return done < 0 ? cli_fail(done, &err) : CLI_DONE;
}

/* Reads the n rows of a table. floor(n share) rows, evenly spread over the table, go into held_out,
 * and all other rows go into data.
 * @param held_out NULL: all rows go into data. */
static int read_rows(gbs_table *table, gbs_data *data, gbs_data *held_out, double share)
{
    uint32_t n_columns = 0;
    int end = 0;
    uint64_t n = 0;
    (void)gbs_table_columns(table, &n_columns);
    uint32_t *state = calloc((size_t)n_columns + 1, sizeof *state);
    int status = state == NULL ? cli_error(CLI_FAILED, "out of memory") : CLI_DONE;
    while (status == CLI_DONE) {
        double weight = 1.0;
        status = cli_table_next(table, state, &weight, &end);
        if (status != CLI_DONE || end) {
            break;
        }
        const double before = (double)n++ * share;
        const int out = held_out != NULL && (uint64_t)((double)n * share) > (uint64_t)before;
        status = add_row(out ? held_out : data, state, weight);
    }
    free(state);
    return status;
}

static int new_data(const gbs_model *model, const gbs_table *table, gbs_data **data)
{
    gbs_error err = {GBS_OK, ""};
    uint32_t n = 0;
    const uint32_t *column = gbs_table_columns(table, &n);
    const gbs_status done = gbs_data_new(model, n, column, data, &err);
    return done < 0 ? cli_fail(done, &err) : CLI_DONE;
}

/* @param held_out NULL, or the table that receives a share of the rows. */
static int read_table(const cli_arguments *arguments, const gbs_model *model, const char *path,
                      int complete, double share, gbs_data **data, gbs_data **held_out)
{
    gbs_table *table = NULL;
    int status = CLI_DONE;
    CLI_TRY(cli_table_open(arguments, model, path, complete, &table));
    CLI_TRY(new_data(model, table, data));
    if (held_out != NULL) {
        CLI_TRY(new_data(model, table, held_out));
    }
    CLI_TRY(read_rows(table, *data, held_out == NULL ? NULL : *held_out, share));
    if (gbs_data_n_rows(*data) == 0) {
        CLI_TRY(cli_error(CLI_INPUT, "%s: found no rows%s, expected some below the names", path,
                          arguments->weights != NULL ? " of a weight above 0" : ""));
    }

cleanup:
    gbs_table_free(table);
    return status;
}

int cli_read_data(const cli_arguments *arguments, const gbs_model *model, const char *path,
                  int complete, const cli_held_out *out, gbs_data **data, gbs_data **held_out)
{
    CLI_PASS(read_table(arguments, model, path, complete, out->share, data,
                        out->share > 0.0 ? held_out : NULL));
    if (out->path != NULL) {
        CLI_PASS(read_table(arguments, model, out->path, complete, 0.0, held_out, NULL));
    }
    return CLI_DONE;
}
