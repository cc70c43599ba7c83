/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite compare: two .MAR files, like diff. */
#include <inttypes.h>
#include <string.h>

#include "cli.h"

static void write_table(gbs_output *output, const cli_arguments *arguments, const gbs_marginals *a,
                        const gbs_comparison *c)
{
    const struct {
        const char *name;
        double value;
    } row[] = {{"max |p - q|", c->max_abs},
               {"mean |p - q|", c->mean_abs},
               {"max total variation", c->max_tv},
               {"mean total variation", c->mean_tv},
               {"tolerance", arguments->tolerance}};
    char line[96];
    (void)snprintf(line, sizeof line, "%-22s %" PRIu32 "\n", "variables", a->n_variables);
    gbs_output_text(output, line);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        (void)snprintf(line, sizeof line, "%-22s %.6g\n", row[i].name, row[i].value);
        gbs_output_text(output, line);
    }
    if (a->n_variables > 0) {
        (void)snprintf(line, sizeof line, "%-22s %" PRIu32 "\n", "worst variable", c->worst);
        gbs_output_text(output, line);
    }
    gbs_output_text(output, c->max_abs <= arguments->tolerance ? "within tolerance\n"
                                                               : "beyond tolerance\n");
}

static int read_both(const cli_arguments *arguments, gbs_marginals side[2])
{
    gbs_read_options read;
    gbs_error err = {GBS_OK, ""};
    memset(&read, 0, sizeof read);
    read.lenient = arguments->lenient;
    read.warn = cli_warn;
    read.context = (void *)(uintptr_t)arguments; /* cli_warn() only reads it */
    for (int i = 0; i < 2; i++) {
        gbs_status status = gbs_marginals_read(arguments->operand[i], &read, &side[i], &err);
        if (status < 0) {
            return cli_fail_input(status, &err);
        }
    }
    return CLI_DONE;
}

int cli_compare(cli_arguments *arguments)
{
    gbs_marginals side[2];
    gbs_comparison comparison;
    gbs_output *output = NULL;
    gbs_error err = {GBS_OK, ""};
    memset(side, 0, sizeof side);
    if (strcmp(arguments->operand[0], "-") == 0 && strcmp(arguments->operand[1], "-") == 0) {
        return cli_error(CLI_USAGE, "standard input (-) can be only one of the inputs");
    }
    int status = read_both(arguments, side);
    if (status == CLI_DONE) {
        gbs_status done = gbs_marginals_compare(&side[0], &side[1], &comparison, &err);
        status = done < 0 ? cli_fail(done, &err) : CLI_DONE;
    }
    if (status == CLI_DONE && !arguments->quiet) {
        gbs_status done = gbs_output_open("-", &output, &err);
        if (done >= 0) {
            write_table(output, arguments, &side[0], &comparison);
            done = gbs_output_commit(output, &err);
        }
        status = done < 0 ? CLI_USAGE : CLI_DONE; /* 1 would say "beyond": trouble is 2 here */
        if (done < 0) {
            (void)cli_fail_output("-", done, &err);
        }
    }
    if (status == CLI_DONE) {
        status = comparison.max_abs <= arguments->tolerance ? CLI_DONE : CLI_FAILED;
    }
    gbs_marginals_free(&side[0]);
    gbs_marginals_free(&side[1]);
    return status;
}
