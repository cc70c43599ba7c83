/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite info CHECKPOINT prints the progress of the run in a checkpoint, and the estimates of
 * this run so far. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "info.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

static const cli_option options[] = {
#include "gibbsite/questions/info_checkpoint.def"
};
static const cli_verb of_checkpoint = {CLI_TAKES(options)};

/* Refuses options that apply only to models, as most options of info do. */
static int check_options(const cli_arguments *arguments)
{
    for (size_t i = 0; i < arguments->verb->n_options; i++) {
        const char *name = arguments->verb->options[i].name;
        if (arguments->given[i] && cli_find_option(name, &of_checkpoint) == NULL) {
            return cli_error(CLI_USAGE, "--%s applies to models, and %s is a checkpoint", name,
                             arguments->operand[0]);
        }
    }
    return CLI_DONE;
}

/* Writes every option of the run whose value is not the default. @param put called for each of
 * these options, with n = 0, 1, ... */
static gbs_status each_option(const char *path, gbs_output *output,
                              void (*put)(gbs_output *output, size_t n, const char *name,
                                          const char *value),
                              gbs_error *err)
{
    const gbs_run_options usual = gbs_run_options_default();
    gbs_run_options own = usual;
    size_t n = 0;
    gbs_status status = gbs_checkpoint_options(path, &own, err);
    for (size_t i = 0; status >= 0 && i < gbs_option_count(); i++) {
        char text[2][64];
        const char *name = gbs_option_at(i)->name;
        status = gbs_option_get(&usual, name, text[0], sizeof text[0], err);
        if (status >= 0) {
            status = gbs_option_get(&own, name, text[1], sizeof text[1], err);
        }
        if (status >= 0 && strcmp(text[0], text[1]) != 0) {
            put(output, n++, name, text[1]);
        }
    }
    return status;
}

static void put_json(gbs_output *output, size_t n, const char *name, const char *value)
{
    gbsi_output_text(output, n > 0 ? ", " : "");
    gbsi_output_json_string(output, name);
    gbsi_output_text(output, ": ");
    gbsi_output_json_string(output, value);
}

static void put_typed(gbs_output *output, size_t n, const char *name, const char *value)
{
    (void)n;
    gbsi_output_text(output, " --");
    gbsi_output_text(output, name);
    gbsi_output_text(output, strcmp(value, "yes") == 0 ? "" : " ");
    gbsi_output_text(output, strcmp(value, "yes") == 0 ? "" : value);
}

static void json_number(gbs_output *output, const char *name, double value)
{
    gbsi_output_text(output, ",\n  ");
    gbsi_output_json_string(output, name);
    gbsi_output_text(output, ": ");
    gbsi_output_json_double(output, value);
}

static void json_count(gbs_output *output, const char *name, uint64_t value)
{
    gbsi_output_text(output, ",\n  ");
    gbsi_output_json_string(output, name);
    gbsi_output_text(output, ": ");
    gbsi_output_uint(output, value);
}

static gbs_status write_json(gbs_output *output, const char *path, const gbs_checkpoint *c,
                             gbs_error *err)
{
    gbsi_output_text(output, "{\n  \"schema\": \"checkpoint/1\",\n  \"version\": ");
    gbsi_output_json_string(output, c->version);
    gbsi_output_text(output, ",\n  \"model\": ");
    gbsi_output_json_string(output, c->model);
    gbsi_output_text(output, ",\n  \"task\": ");
    gbsi_output_json_string(output, c->task);
    gbsi_output_text(output, ",\n  \"phase\": ");
    gbsi_output_json_string(output, c->burning_in ? "burn-in" : "sampling");
    json_count(output, "chains", c->chains);
    json_count(output, "burn_in", c->burn_in);
    json_count(output, "sweeps", c->sweeps);
    json_count(output, "updates", c->updates);
    json_number(output, "seconds", c->seconds);
    json_number(output, "target_error", c->target_error > 0.0 ? c->target_error : NAN);
    json_number(output, "max_mcse", c->max_mcse);
    json_number(output, "max_rhat", c->max_rhat);
    json_number(output, "min_ess", c->min_ess);
    json_number(output, "log_density", c->log_density);
    json_number(output, "log_z", c->log_z);
    json_count(output, "bytes", c->bytes);
    json_count(output, "draws", c->draws);
    gbsi_output_text(output, ",\n  \"options\": {");
    const gbs_status status = each_option(path, output, put_json, err);
    gbsi_output_text(output, "}\n}\n");
    return status;
}

static void put_row(gbs_output *output, const char *title, const char *text)
{
    char row[160];
    (void)snprintf(row, sizeof row, "%-12s %s\n", title, text);
    gbsi_output_text(output, row);
}

static gbs_status write_screen(gbs_output *output, const char *path, const gbs_checkpoint *c,
                               gbs_error *err)
{
    char text[128];
    char size[16];
    cli_scale_bytes(c->bytes, size);
    (void)snprintf(text, sizeof text, "%s, of gibbsite %s", size, c->version);
    put_row(output, "checkpoint", text);
    put_row(output, "model", c->model);
    (void)snprintf(text, sizeof text, "%s: %" PRIu32 " chain%s, %" PRIu64 " sweep%s after %" PRIu64,
                   c->burning_in ? "burning in" : "sampling", c->chains, gbsi_plural(c->chains),
                   c->sweeps, gbsi_plural(c->sweeps), c->burn_in);
    put_row(output, "state", text);
    (void)snprintf(text, sizeof text, "%.3g updates in %.3g s", (double)c->updates, c->seconds);
    put_row(output, "work", text);
    if (c->draws > 0) {
        (void)snprintf(text, sizeof text, "%" PRIu64 " of each chain, in FILE.draws", c->draws);
        put_row(output, "draws", text);
    }
    if (isfinite(c->log_z)) {
        (void)snprintf(text, sizeof text, "ln Z %.12g +- %.2g", c->log_z, c->max_mcse);
        put_row(output, "estimate", text);
    } else if (isfinite(c->max_mcse)) {
        char target[40] = "";
        if (c->target_error > 0.0) {
            (void)snprintf(target, sizeof target, " (target %.3g)", c->target_error);
        }
        (void)snprintf(text, sizeof text, "largest error %.3g%s, largest R-hat %.5g, min ESS %.4g",
                       c->max_mcse, target, c->max_rhat, c->min_ess);
        put_row(output, "estimates", text);
    } else if (isfinite(c->log_density)) {
        (void)snprintf(text, sizeof text, "log density %.12g", c->log_density);
        put_row(output, "best state", text);
    } else {
        put_row(output, "estimates", "none with an error yet");
    }
    gbsi_output_text(output, "options     ");
    const gbs_status status = each_option(path, output, put_typed, err);
    gbsi_output_text(output, "\n");
    if (c->sweeps > 0 && strcmp(c->task, "map") != 0 && strcmp(c->task, "logz") != 0) {
        (void)snprintf(text, sizeof text, "%s MODEL ... --resume FILE --sweeps %" PRIu64, c->task,
                       c->sweeps);
        put_row(output, "so far", text);
    }
    return status;
}

int cli_info_checkpoint(const cli_arguments *arguments)
{
    const char *path = arguments->operand[0];
    const char *to = arguments->output != NULL ? arguments->output : "-";
    gbs_error err = {GBS_OK, ""};
    gbs_output *output = NULL;
    gbs_checkpoint c = {.size = sizeof c};
    CLI_PASS(check_options(arguments));
    gbs_status done = gbs_checkpoint_read(path, &c, &err);
    if (done < 0) {
        return cli_fail_input(done, &err);
    }
    done = gbs_output_open(to, &output, &err);
    if (done >= 0) {
        done = (cli_wants_json(arguments) ? write_json : write_screen)(output, path, &c, &err);
        if (done >= 0) {
            done = gbs_output_commit(output, &err);
        } else {
            gbs_output_discard(output);
        }
    }
    return done < 0 ? cli_fail_output(to, done, &err) : CLI_DONE;
}
