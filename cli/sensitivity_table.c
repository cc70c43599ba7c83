/* SPDX-License-Identifier: Apache-2.0 */
/* Sensitivities as a person reads them: the largest derivatives, each with a bar to its side. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verb_sensitivity.h"

enum {
    WIDE = 10,       /* columns of a derivative and of its error */
    NARROW = 8,      /* columns of other numbers */
    LEAST_NAME = 44, /* columns of a name where bars take some */
    LEAST_HALF = 3,
    MOST_HALF = 12,
};

/* Four decimals, or three digits of what is small; blank where there is none. */
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

/* To the left for a fall, to the right for a rise. @param half columns of either side */
static void put_bar(gbs_output *output, double share, int half)
{
    const int unicode = cli_speaks_unicode();
    const int n = (int)floor(fabs(share) * half + 0.5);
    for (int k = 0; k < 2 * half; k++) {
        const int inside = share < 0.0 ? k < half && k >= half - n : k >= half && k < half + n;
        if (k == half) {
            gbs_output_text(output, unicode ? "│" : "|");
        }
        gbs_output_text(output, !inside ? " " : unicode ? "█" : "#");
    }
}

static void put_heading(gbs_output *output, const cli_sensitivities *a)
{
    char text[96];
    gbs_output_text(output, a->title);
    (void)snprintf(text, sizeof text, " = %.6g", a->s.p);
    gbs_output_text(output, text);
    if (!a->s.exact) {
        (void)snprintf(text, sizeof text, " +- %.2g", a->s.p_mcse);
        gbs_output_text(output, text);
    }
    (void)snprintf(text, sizeof text, "; %zu of %zu parameters", a->n, a->s.n_parameters);
    gbs_output_text(output, text);
    gbs_output_text(output, a->n < a->s.n_parameters ? ", largest derivatives first\n\n" : "\n\n");
}

/* @param half columns of the bar on either side; 0: no bars */
static void put_row(gbs_output *output, const cli_sensitivities *a, size_t i, int half, int width)
{
    const double most = fabs(a->s.derivative[a->shown[0]]);
    char name[CLI_PARAMETER_TEXT];
    put_number(output, a->s.derivative[i], 1, WIDE);
    if (!a->s.exact) {
        put_number(output, a->s.mcse[i], 0, WIDE);
    }
    put_number(output, a->s.value[i], 0, NARROW);
    put_number(output, cli_parameter_times(a, i, 0.9), 0, NARROW);
    put_number(output, cli_parameter_times(a, i, 1.1), 0, NARROW);
    gbs_output_text(output, "  ");
    if (half > 0) {
        put_bar(output, a->s.derivative[i] / most, half);
        gbs_output_text(output, "  ");
    }
    cli_parameter_text(a, i, name);
    cli_put_column(output, name, cli_columns_of(name) < width ? cli_columns_of(name) : width);
    gbs_output_text(output, "\n");
}

void cli_sensitivity_table(gbs_output *output, const cli_sensitivities *a)
{
    const int numbers = (a->s.exact ? 1 : 2) * WIDE + 3 * NARROW + 2;
    const int left = cli_terminal_width() - 1 - numbers;
    const int room = (left - LEAST_NAME - 3) / 2;
    const int half = room < LEAST_HALF ? 0 : room < MOST_HALF ? room : MOST_HALF;
    const int bar = half > 0 ? 2 * half + 3 : 0;
    put_heading(output, a);
    cli_put_right(output, "derivative", WIDE);
    if (!a->s.exact) {
        cli_put_right(output, "error", WIDE);
    }
    cli_put_right(output, "value", NARROW);
    cli_put_right(output, "at -10%", NARROW);
    cli_put_right(output, "at +10%", NARROW);
    cli_put_right(output, "", bar + 2);
    gbs_output_text(output, "parameter\n");
    for (size_t k = 0; k < a->n; k++) {
        put_row(output, a, a->shown[k], half, left - bar);
    }
}
