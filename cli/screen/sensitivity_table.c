/* SPDX-License-Identifier: Apache-2.0 */
/* Prints sensitivities for people: the largest derivatives, each with a bar beside it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "gibbsite/sensitivity.h"
#include "src/core/base/plural.h"
#include "verbs/sensitivity.h"

enum {
    WIDE = 10,       /* number of columns of a derivative and of its error */
    NARROW = 8,      /* number of columns of any other number */
    LEAST_NAME = 44, /* least number of columns of a name beside bars */
    BELOW = 4, /* column at which a name begins if the name is on the line below its numbers */
    LEAST_HALF = 3,
    LEAST_WIDTH = 64, /* least number of columns of a terminal that shows all numbers */
    MOST_HALF = 12,
};

/* Puts a number with four decimals, or with two digits and an exponent if its absolute value is
 * below 0.001. Puts blanks for NAN. */
static void put_number(gbs_output *output, double value, int sign, int width)
{
    char text[32] = "";
    const int plain = fabs(value) >= 1e-3;
    if (value == 0.0) {
        (void)snprintf(text, sizeof text, "0");
    } else if (isfinite(value)) {
        (void)snprintf(text, sizeof text,
                       plain  ? sign ? "%+.4f" : "%.4f"
                       : sign ? "%+.1e"
                              : "%.1e",
                       value);
    }
    cli_put_right(output, text, width);
}

/* Writes a bar, which extends to the left if `share` is negative and to the right if `share` is
 * positive.
 * @param half number of columns on either side. */
static void put_bar(gbs_output *output, double share, int half)
{
    const int unicode = cli_speaks_unicode();
    const int n = (int)floor(fabs(share) * half + 0.5);
    for (int k = 0; k < 2 * half; k++) {
        const int inside = share < 0.0 ? k < half && k >= half - n : k >= half && k < half + n;
        if (k == half) {
            gbsi_output_text(output, unicode ? "│" : "|");
        }
        gbsi_output_text(output, !inside ? " " : unicode ? "█" : "#");
    }
}

static void put_heading(gbs_output *output, const cli_sensitivities *a)
{
    char text[512];
    char error[32] = "";
    if (!a->s.exact && isfinite(a->s.p_mcse)) {
        (void)snprintf(error, sizeof error, " +- %.2g", a->s.p_mcse);
    }
    (void)snprintf(text, sizeof text, "%s = %.6g%s", a->title, a->s.p, error);
    cli_put_wrapped(output, text);
    if (a->n == 0) {
        (void)snprintf(text, sizeof text, "none of %zu parameter%s %s", a->s.n_parameters,
                       gbsi_plural(a->s.n_parameters),
                       a->s.exact ? "moves it" : "is seen to move it");
    } else {
        (void)snprintf(text, sizeof text, "%zu of %zu parameter%s, largest derivatives first", a->n,
                       a->s.n_parameters, gbsi_plural(a->s.n_parameters));
    }
    cli_put_wrapped(output, text);
}

/* The parts of a line, and their widths. */
typedef struct layout {
    int ranges; /* 1: probabilities for the parameter reduced and raised by 10 per cent are shown */
    int reach;  /* 1: the value that --reach asks for is shown */
    int half;   /* number of columns of the bar on either side; 0 if there are no bars */
    int name;
} layout;

static layout lay_out(const cli_sensitivities *a)
{
    const int width = cli_terminal_width() - 1;
    const int reach = a->job.arguments->reach > 0.0;
    layout l = {.ranges = width >= LEAST_WIDTH && !reach, .reach = reach};
    const int numbers = (a->s.exact ? 1 : 2) * WIDE + (1 + 2 * l.ranges + l.reach) * NARROW + 2;
    const int room = (width - numbers - LEAST_NAME - 3) / 2;
    l.half = room < LEAST_HALF ? 0 : room < MOST_HALF ? room : MOST_HALF;
    l.name = width - numbers - (l.half > 0 ? 2 * l.half + 3 : 0);
    return l;
}

static void put_row(gbs_output *output, const cli_sensitivities *a, size_t i, const layout *l)
{
    const double most = fabs(a->s.derivative[a->shown[0]]);
    char name[CLI_PARAMETER_TEXT];
    put_number(output, a->s.derivative[i], 1, WIDE);
    if (!a->s.exact) {
        put_number(output, a->s.mcse[i], 0, WIDE);
    }
    put_number(output, a->s.value[i], 0, NARROW);
    if (l->ranges) {
        put_number(output, cli_parameter_times(a, i, 0.9), 0, NARROW);
        put_number(output, cli_parameter_times(a, i, 1.1), 0, NARROW);
    }
    if (l->reach) {
        put_number(output, gbs_sensitivity_value_for(&a->s, i, a->job.arguments->reach), 0, NARROW);
    }
    cli_parameter_text(a, i, name);
    const int wide = cli_columns_of(name);
    if (wide > l->name &&
        l->name < LEAST_NAME / 2) { /* the name is on the line below its numbers */
        gbsi_output_text(output, "\n");
        cli_put_right(output, "", BELOW);
        cli_put_hanging(output, name, BELOW, BELOW, cli_terminal_width() - 1);
        return;
    }
    gbsi_output_text(output, "  ");
    if (l->half > 0) {
        put_bar(output, a->s.derivative[i] / most, l->half);
        gbsi_output_text(output, "  ");
    }
    const int column = cli_terminal_width() - 1 - l->name;
    cli_put_hanging(output, name, column, column + 2, cli_terminal_width() - 1);
}

void cli_sensitivity_table(gbs_output *output, const cli_sensitivities *a)
{
    const layout l = lay_out(a);
    put_heading(output, a);
    if (a->n == 0) {
        return;
    }
    gbsi_output_text(output, "\n");
    cli_put_right(output, "derivative", WIDE);
    if (!a->s.exact) {
        cli_put_right(output, "error", WIDE);
    }
    cli_put_right(output, "value", NARROW);
    if (l.ranges) {
        cli_put_right(output, "at -10%", NARROW);
        cli_put_right(output, "at +10%", NARROW);
    }
    if (l.reach) {
        cli_put_right(output, "needed", NARROW);
    }
    cli_put_right(output, "", l.half > 0 ? 2 * l.half + 5 : 2);
    gbsi_output_text(output, "parameter\n");
    for (size_t k = 0; k < a->n; k++) {
        put_row(output, a, a->shown[k], &l);
    }
}
