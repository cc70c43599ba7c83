/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite compare: compares two results of one task. Exit statuses are like those of diff: 0 if
 * the difference is within the tolerance, 1 if the difference is larger, 2 and above for errors. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/cli.h"
#include "draws/draws_read.h"
#include "draws/netcdf_read.h"
#include "options/rows.h"
#include "src/core/base/plural.h"
#include "src/files/answers/answers.h"

/* Tolerance without --tolerance, for a probability or relative to a logarithm. Smaller differences
 * can come from the order of sums and from rounding: .PR and .MAR files of some programs have nine
 * digits. */
static const double ROUNDING = 1e-9;

/* The distance of two results: the value that is compared with a limit, further numbers to print,
 * and the verdict. The limit is --tolerance or, for estimates, a difference that chance
 * explains. */
typedef struct distance {
    double value, limit;
    int by_errors; /* 1: value and limit are in units of standard errors */
    char text[1024];
} distance;

static gbs_read_options reading(const cli_arguments *arguments)
{
    return (gbs_read_options){
        .lenient = arguments->lenient,
        .warn = cli_warn,
        .context = (void *)(uintptr_t)arguments}; /* the callback only reads the arguments */
}

static void print_line(distance *d, const char *name, double value)
{
    const size_t n = strlen(d->text);
    (void)snprintf(d->text + n, sizeof d->text - n, "%-22s %.6g\n", name, value);
}

static void print_count(distance *d, const char *name, uint32_t value)
{
    const size_t n = strlen(d->text);
    (void)snprintf(d->text + n, sizeof d->text - n, "%-22s %" PRIu32 "\n", name, value);
}

/* Prints the name of a variable, or its number if the result has no names. */
static void print_variable(distance *d, const char *what, const gbs_result *a, const gbs_result *b,
                           uint32_t variable)
{
    char **const names = a->name != NULL ? a->name : b->name;
    const size_t n = strlen(d->text);
    if (names == NULL) {
        print_count(d, what, variable);
    } else {
        (void)snprintf(d->text + n, sizeof d->text - n, "%-22s %.200s\n", what, names[variable]);
    }
}

/* Prints how many values have no standard error although other values of the file have one; such
 * values are not compared. */
static void tell_unknown(const cli_arguments *arguments, const gbs_result side[2])
{
    for (int i = 0; i < 2; i++) {
        const gbs_marginals *m = &side[i].marginals;
        uint32_t n = 0;
        for (size_t k = 0; m->error != NULL && k < m->offset[m->n_variables]; k++) {
            n += isnan(m->error[k]) ? 1 : 0;
        }
        if (n > 0) {
            cli_note(arguments,
                     "%s: %" PRIu32 " value%s no standard error and %s not judged; --tolerance "
                     "judges all",
                     arguments->operand[i], n, gbsi_plural_of(n, " has", "s have"),
                     gbsi_plural_of(n, "is", "are"));
        }
    }
}

/* Prints the largest difference in units of its standard error, and sets the verdict from it. */
static void judge_by_errors(const gbs_result *a, const gbs_result *b, const gbs_comparison *c,
                            distance *d)
{
    char **const names = a->name != NULL ? a->name : b->name;
    const size_t n = strlen(d->text);
    d->by_errors = 1;
    d->value = c->max_z;
    d->limit = c->limit_z;
    if (names != NULL) {
        (void)snprintf(d->text + n, sizeof d->text - n, "%-22s %.3g standard errors (%.200s)\n",
                       "largest difference", c->max_z, names[c->worst_z]);
    } else {
        (void)snprintf(d->text + n, sizeof d->text - n,
                       "%-22s %.3g standard errors (variable %" PRIu32 ")\n", "largest difference",
                       c->max_z, c->worst_z);
    }
}

static gbs_status compare_marginals(const cli_arguments *arguments, const gbs_result side[2],
                                    int typed, distance *d, gbs_error *err)
{
    const gbs_result *a = &side[0];
    const gbs_result *b = &side[1];
    gbs_comparison c = {0};
    gbs_status status = gbs_result_check_names(a, b, err);
    if (status >= 0) {
        status = gbs_marginals_compare(&a->marginals, &b->marginals, &c, err);
    }
    if (status >= 0) {
        d->value = c.max_abs;
        print_count(d, "variables", a->marginals.n_variables);
        print_line(d, "max |p - q|", c.max_abs);
        print_line(d, "mean |p - q|", c.mean_abs);
        print_line(d, "max total variation", c.max_tv);
        print_line(d, "mean total variation", c.mean_tv);
        if (a->marginals.n_variables > 0) {
            print_variable(d, "worst variable", a, b, c.worst);
        }
        if (!typed && !isnan(c.max_z)) {
            judge_by_errors(a, b, &c, d);
            tell_unknown(arguments, side);
        }
    }
    return status;
}

/* Compares two values of ln Z. The unit of the difference is its standard error if this is known
 * and not zero. Two probabilities of zero are equal. */
static void compare_log_z(const gbs_result *a, const gbs_result *b, int typed, distance *d)
{
    const double size = fmax(fabs(a->log10_z), fabs(b->log10_z));
    const double e = isnan(a->log10_error) ? 0.0 : a->log10_error;
    const double f =
        isnan(b->log10_error) ? 0.0 : b->log10_error; /* UAI files have no standard errors */
    const double error = hypot(e, f);
    const int equal = a->log10_z == -INFINITY && b->log10_z == -INFINITY;
    d->value = equal ? 0.0 : fabs(a->log10_z - b->log10_z);
    print_line(d, "log10 Z, first", a->log10_z);
    print_line(d, "log10 Z, second", b->log10_z);
    print_line(d, "difference", d->value);
    d->limit = typed ? d->limit : ROUNDING * fmax(1.0, size < INFINITY ? size : 1.0);
    if (!typed && error > 0.0 && error < INFINITY) {
        d->by_errors = 1;
        d->value /= error;
        d->limit = 3.29; /* two-sided 99.9 % quantile of the normal distribution */
        print_line(d, "in standard errors", d->value);
    }
}

/* Prints which of two states is more probable, if their log densities are known. */
static void compare_densities(const gbs_result *a, const gbs_result *b, distance *d)
{
    if (!isnan(a->log_density) && !isnan(b->log_density)) {
        print_line(d, "log density, first", a->log_density);
        print_line(d, "log density, second", b->log_density);
        const size_t n = strlen(d->text);
        const double difference = a->log_density - b->log_density;
        const double rounding = ROUNDING * fmax(1.0, fabs(a->log_density));
        const double more = fabs(difference) <= rounding ? 0.0 : difference;
        (void)snprintf(d->text + n, sizeof d->text - n,
                       isnan(more) || more == 0.0 ? "both states weigh the same\n"
                       : more > 0.0               ? "the first state weighs exp(%.6g) times more\n"
                                    : "the second state weighs exp(%.6g) times more\n",
                       fabs(more));
    }
}

/* Applies --model: both results get the model's names and labels, and states get their log
 * density. */
static int apply_model(const cli_arguments *arguments, gbs_result side[2])
{
    gbs_error err = {GBS_OK, ""};
    gbs_model *model = NULL;
    const gbs_read_options read = reading(arguments);
    gbs_status status = gbs_model_read(arguments->model, &read, &model, &err);
    int done = status < 0 ? cli_fail_input(status, &err) : CLI_DONE;
    for (int i = 0; i < 2 && done == CLI_DONE; i++) {
        gbs_result *r = &side[i];
        const int states = r->task == GBS_TASK_MAP && r->n == gbs_model_n_variables(model);
        if (r->task != GBS_TASK_MAR && !states) {
            done = cli_error(CLI_USAGE,
                             "%s: --model needs marginals, or states of all %" PRIu32
                             " variable%s of %s",
                             arguments->operand[i], gbs_model_n_variables(model),
                             gbsi_plural(gbs_model_n_variables(model)), arguments->model);
            break;
        }
        status = gbs_result_resolve(r, model, &err);
        if (status < 0) {
            done = cli_error(status == GBS_ERR_FORMAT ? CLI_INPUT : CLI_USAGE, "%s: %s",
                             arguments->operand[i], err.message);
        }
        if (done == CLI_DONE && states) {
            r->log_density = gbs_model_log_density(model, r->state);
        }
    }
    gbs_model_free(model);
    return done;
}

static gbs_status compare_states(const gbs_result *a, const gbs_result *b, distance *d,
                                 gbs_error *err)
{
    uint32_t n = 0;
    uint32_t first = 0;
    const gbs_status status = gbs_result_count_different(a, b, &n, &first, err);
    if (status >= 0) {
        d->value = n;
        print_count(d, "variables", a->n);
        print_count(d, "different", n);
        if (n > 0) {
            print_variable(d, "first variable", a, b, first);
        }
        compare_densities(a, b, d);
    }
    return status;
}

static int compare(const cli_arguments *arguments, const gbs_result side[2], int typed, distance *d)
{
    gbs_error err = {GBS_OK, ""};
    gbs_status status = GBS_OK;
    if (side[0].task != side[1].task) {
        return cli_error(CLI_USAGE, "found results of %s and of %s, expected two of the same task",
                         gbs_task_word(side[0].task), gbs_task_word(side[1].task));
    }
    if (side[0].task == GBS_TASK_MAR) {
        d->limit = typed ? d->limit : ROUNDING;
        status = compare_marginals(arguments, side, typed, d, &err);
    } else if (side[0].task == GBS_TASK_PR) {
        compare_log_z(&side[0], &side[1], typed, d);
    } else {
        status = compare_states(&side[0], &side[1], d, &err);
    }
    return status < 0 ? cli_fail(status, &err) : CLI_DONE;
}

static int read_both(const cli_arguments *arguments, gbs_result side[2])
{
    const char *bases = arguments->log_base != NULL ? arguments->log_base : "10";
    const gbs_read_options read = reading(arguments);
    gbs_error err = {GBS_OK, ""};
    for (int i = 0; i < 2; i++) {
        const char *comma = strchr(bases, ',');
        const char *path = arguments->operand[i];
        if (cli_ends_in(path, ".nc")) {
            CLI_PASS(cli_marginals_read_netcdf(path, &side[i]));
            continue;
        }
        const char *base = i == 1 && comma != NULL ? comma + 1 : bases;
        gbs_status status = gbs_result_read(path, base[0] == 'e' ? GBS_LOG_BASE_E : GBS_LOG_BASE_10,
                                            &read, &side[i], &err);
        if (status < 0) {
            return cli_fail_input(status, &err);
        }
    }
    if (arguments->log_base != NULL && side[0].task != GBS_TASK_PR) {
        return cli_error(CLI_USAGE, "--log-base applies to .PR files only; these are %s files",
                         gbs_task_word(side[0].task));
    }
    return CLI_DONE;
}

/* Prints that marginals of a file without names were matched by position. */
static void tell_places(const cli_arguments *arguments, const gbs_result side[2])
{
    const int named = side[0].name != NULL ? 0 : 1;
    const gbs_result *r = &side[named];
    const gbs_result *other = &side[1 - named];
    if (r->task == GBS_TASK_MAR && other->task == GBS_TASK_MAR && r->name != NULL &&
        other->name == NULL && !gbsi_are_numbers(r->name, r->marginals.n_variables)) {
        cli_note(arguments,
                 "%s has no names: variables and states are paired by their places in the files; "
                 "with --model by their names",
                 arguments->operand[1 - named]);
    }
}

/* Matches variables by their names, and prints which variables were left out. */
static int match(const cli_arguments *arguments, gbs_result side[2])
{
    gbs_error err = {GBS_OK, ""};
    uint32_t left_out[2] = {0, 0};
    if (side[0].task == side[1].task) {
        const gbs_status status = gbs_results_match(&side[0], &side[1], left_out, &err);
        if (status < 0) {
            return cli_fail(status, &err);
        }
    }
    tell_places(arguments, side);
    for (int i = 0; i < 2; i++) {
        if (left_out[i] > 0) {
            cli_note(arguments, "left out: %" PRIu32 " variable%s of %s that %s not in %s",
                     left_out[i], gbsi_plural(left_out[i]), arguments->operand[i],
                     gbsi_plural_of(left_out[i], "is", "are"), arguments->operand[1 - i]);
        }
    }
    return CLI_DONE;
}

static void print(gbs_output *output, const void *context)
{
    const distance *d = context;
    const int within = d->value <= d->limit;
    gbsi_output_text(output, d->text);
    gbsi_output_text(output, d->by_errors ? (within ? "agree\n" : "differ by more than chance\n")
                             : within     ? "within tolerance\n"
                                          : "beyond tolerance\n");
}

static int run_compare(cli_arguments *arguments)
{
    gbs_result side[2];
    distance d = {.limit = cli_given(arguments, "tolerance") ? arguments->tolerance : 0.0};
    memset(side, 0, sizeof side);
    if (strcmp(arguments->operand[0], "-") == 0 && strcmp(arguments->operand[1], "-") == 0) {
        return cli_error(CLI_USAGE, "standard input (-) can be only one of the inputs");
    }
    int status = CLI_DONE;
    CLI_TRY(read_both(arguments, side));
    if (arguments->model != NULL) {
        CLI_TRY(apply_model(arguments, side));
    }
    CLI_TRY(match(arguments, side));
    CLI_TRY(compare(arguments, side, cli_given(arguments, "tolerance"), &d));
    if (!arguments->quiet) {
        print_line(&d, d.by_errors ? "chance explains up to" : "tolerance", d.limit);
        CLI_TRY(cli_write("-", print, &d));
    }

cleanup:
    if (status == CLI_FAILED) {
        status = CLI_USAGE; /* out of memory, or failed output; exit status 1 would mean "beyond the
                               tolerance" */
    } else if (status == CLI_DONE && !(d.value <= d.limit)) {
        status = CLI_FAILED;
    }
    gbs_result_free(&side[0]);
    gbs_result_free(&side[1]);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/compare.def"
};

const cli_verb cli_verb_compare = {
    .name = "compare",
    CLI_TAKES(options),
    .n_operands = 2,
    .operands = "A B",
    .what = "differences between two results of the same task",
    .notes = "A and B are marginals, partition functions or most probable states, as files of\n"
             "the UAI competitions (.MAR, .PR, .MAP, .MPE, .MMAP), CSV or JSON;\n"
             "marginals also as .npz or .nc. A joint table (--joint) counts as one variable.\n"
             "Like diff, the exit status is 0 if nothing differs by more than --tolerance,\n"
             "or without it by more standard errors than chance explains where a file has\n"
             "errors, and 1 if something does. Of two states it says which weighs more, if\n"
             "known.\n",
    .example = "gibbsite marginals examples/sprinkler.bif -o exact.csv\n"
               "gibbsite marginals examples/sprinkler.bif --method sample -o sampled.csv\n"
               "gibbsite compare exact.csv sampled.csv\n",
    .run = run_compare,
};
