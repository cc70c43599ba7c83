/* SPDX-License-Identifier: Apache-2.0 */
/* Finds ranges of the data and ticks at round numbers, and draws the axes with their labels. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/extremes.h"
#include "chart/chart_pen.h"
#include "decimal/decimal.h"
#include "simd/math.h"

/* Limit on values that are shown; differences of larger values may overflow */
#define FARTHEST 1e300
/* Values whose distance is below this share of the largest value count as equal */
#define NEAREST 1e-12
/* approximate number of ticks; a logarithmic axis has at most twice as many decades */
#define TICKS_X 6.0
#define TICKS_Y 5.0

bool gbsi_span_holds(const gbsi_span *span, double value)
{
    return fabs(value) <= FARTHEST && (!span->log || value > 0.0);
}

double gbsi_span_at(const gbsi_span *span, double value)
{
    const double share = span->log ? gbsi_log(value / span->low) / gbsi_log(span->high / span->low)
                                   : (value - span->low) / (span->high - span->low);
    return span->from + share * (span->to - span->from);
}

static double power_of_ten(int e)
{
    double p = 1.0;
    for (int i = 0; i < (e < 0 ? -e : e); i++) {
        p *= 10.0;
    }
    return e < 0 ? 1.0 / p : p;
}

/* ---- ranges ------------------------------------------------------------------------------ */

static void widen(gbsi_span *span, double value)
{
    if (gbsi_span_holds(span, value)) {
        span->low = gbsi_smaller(span->low, value);
        span->high = gbsi_larger(span->high, value);
    }
}

static void widen_many(gbsi_span *span, const double *value, size_t n)
{
    for (size_t i = 0; value != NULL && i < n; i++) {
        widen(span, value[i]);
    }
}

/* Widens the box for bars. On the x axis of bars, group g takes the range from g to g + 1. */
static void widen_bars(const gbsi_bars *bars, gbsi_box *box)
{
    box->x = (gbsi_span){.low = 0.0, .high = (double)bars->n_groups};
    if (!box->y.log) {
        widen(&box->y, 0.0);
    }
    for (size_t g = 0; g < bars->n_groups; g++) {
        double sum = 0.0;
        for (size_t s = 0; s < bars->n_series; s++) {
            const double value = bars->value[g * bars->n_series + s];
            const double error = bars->error == NULL ? 0.0 : bars->error[g * bars->n_series + s];
            sum = isfinite(value) ? sum + value : sum;
            widen(&box->y, bars->stacked ? sum : value + (isfinite(error) ? error : 0.0));
        }
    }
}

/* Widens the box for swings. On the y axis of swings, which begins at the top, swing i takes the
 * range from i to i + 1. */
static void widen_swings(const gbsi_swings *swings, gbsi_box *box)
{
    widen(&box->x, swings->origin);
    widen_many(&box->x, swings->end[0], swings->n);
    widen_many(&box->x, swings->end[1], swings->n);
    box->y = (gbsi_span){.low = 0.0, .high = (double)swings->n};
}

/* @return 1, 2 or 5 times a power of ten: the least that is not below a value (up), or the
 *   largest that is not above it. */
static double round_number(double value, bool up)
{
    static const int multiple[] = {1, 2, 5, 10};
    const int e = (int)gbsi_chart_floor(gbsi_log10(value) + 1e-9);
    double best = up ? INFINITY : 0.0;
    for (int m = 0; m < 4; m++) {
        const double at = e < 0 ? multiple[m] / power_of_ten(-e) : multiple[m] * power_of_ten(e);
        if (up ? at >= value * (1.0 - 1e-9) && at < best : at <= value * (1.0 + 1e-9)) {
            best = at;
        }
    }
    return best;
}

/* Extends the span so that it ends at round numbers, or adds a little room at its ends. */
static void settle(gbsi_span *span, const gbsi_axis *axis, bool rounded)
{
    if (axis->low != 0.0 || axis->high != 0.0) {
        span->low = axis->low;
        span->high = axis->high;
    }
    if (!(span->low <= span->high)) { /* no data */
        span->low = span->log ? 1.0 : 0.0;
        span->high = span->log ? 10.0 : 1.0;
    }
    if (axis->low != 0.0 || axis->high != 0.0) {
        return;
    }
    if (span->log && rounded) {
        span->low = round_number(span->low, false);
        span->high = round_number(span->high, true);
        span->high = span->high > span->low ? span->high : span->low * 10.0;
    } else if (span->log) {
        span->high = span->high > span->low ? span->high : span->low * 10.0;
    } else {
        const double range = span->high - span->low;
        const double size = gbsi_larger(fabs(span->low), fabs(span->high));
        const double least = gbsi_larger(NEAREST * size, 1.0 / FARTHEST);
        const double air = range > least ? 0.04 * range : gbsi_larger(0.5, least);
        span->high += air;
        span->low -= span->low == 0.0 ? 0.0 : air;
    }
}

void gbsi_panel_spans(const gbsi_panel *panel, gbsi_box *box)
{
    const gbsi_span empty = {.low = INFINITY, .high = -INFINITY};
    box->x = empty;
    box->y = empty;
    box->x.log = panel->x.log;
    box->y.log = panel->y.log;
    for (size_t i = 0; i < panel->n_lines; i++) {
        const gbsi_line *line = &panel->line[i];
        widen_many(&box->x, line->x, line->n);
        widen_many(&box->y, line->y, line->n);
        widen_many(&box->y, line->low, line->n);
        widen_many(&box->y, line->high, line->n);
    }
    for (size_t i = 0; i < panel->n_guides; i++) {
        if (panel->guide[i].slope ==
            0.0) { /* a guide of slope 0 shows a level for comparison, not a rate */
            widen(&box->y, panel->guide[i].y0);
        }
    }
    if (panel->swings != NULL) {
        widen_swings(panel->swings, box);
    }
    settle(&box->x, &panel->x, false);
    if (panel->bars != NULL) {
        widen_bars(panel->bars, box);
    }
    if (panel->swings == NULL) {
        settle(&box->y, &panel->y, true);
    }
    box->x.from = box->left;
    box->x.to = box->right;
    box->y.from = panel->swings == NULL ? box->bottom : box->top;
    box->y.to = panel->swings == NULL ? box->top : box->bottom;
}

/* ---- ticks ------------------------------------------------------------------------------- */

static void exponent_text(int e, char *text, size_t size)
{
    static const char *const digit[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char digits[16];
    if (e == 0 || e == 1) {
        (void)snprintf(text, size, e == 0 ? "1" : "10");
        return;
    }
    (void)snprintf(digits, sizeof digits, "%d", e < 0 ? -e : e);
    size_t at = (size_t)snprintf(text, size, "10%s", e < 0 ? "⁻" : "");
    for (const char *d = digits; *d != '\0' && at + 4 < size; d++) {
        at += (size_t)snprintf(text + at, size - at, "%s", digit[*d - '0']);
    }
}

static void put_tick(gbs_output *output, const gbsi_box *box, bool is_x, double at,
                     const char *text)
{
    if (is_x) {
        gbsi_put(output, "<path class=\"grid\" d=\"M%s %sV%s\"/>\n", N(at), N(box->top),
                 N(box->bottom));
        gbsi_put_text(output, "soft middle", at, box->bottom + 15.0, text);
    } else {
        gbsi_put(output, "<path class=\"grid\" d=\"M%s %sH%s\"/>\n", N(box->left), N(at),
                 N(box->right));
        gbsi_put_text(output, "soft end", box->left - 6.0, at + 4.0, text);
    }
}

static void put_number(gbs_output *output, const gbsi_box *box, bool is_x, double value)
{
    const gbsi_span *span = is_x ? &box->x : &box->y;
    char text[32];
    text[gbsi_format_double(value, text)] = '\0';
    put_tick(output, box, is_x, gbsi_span_at(span, value), text);
}

/* Puts ticks at 2 and 5 times the powers of ten of an axis with few decades. @return number of
 * these ticks. @param output NULL to count only. */
static int put_between(gbs_output *output, const gbsi_box *box, bool is_x, int first, int last)
{
    static const int multiple[] = {2, 5};
    const gbsi_span *span = is_x ? &box->x : &box->y;
    int n = 0;
    for (int m = 0; m < 2; m++) {
        for (int e = first - 1; e <= last; e++) {
            const double value =
                e < 0 ? multiple[m] / power_of_ten(-e) : multiple[m] * power_of_ten(e);
            const bool inside =
                value >= span->low * (1.0 - 1e-9) && value <= span->high * (1.0 + 1e-9);
            n += inside;
            if (inside && output != NULL) {
                put_number(output, box, is_x, value);
            }
        }
    }
    return n;
}

/* Puts ticks at powers of ten. @return whether the axis has two ticks at least; if not, nothing is
 * drawn. */
static bool put_decades(gbs_output *output, const gbsi_box *box, bool is_x)
{
    const gbsi_span *span = is_x ? &box->x : &box->y;
    const int first = -(int)gbsi_chart_floor(1e-9 - gbsi_log10(span->low));
    const int last = (int)gbsi_chart_floor(gbsi_log10(span->high) + 1e-9);
    /* largest number of steps */
    const int most = (int)(fabs(span->to - span->from) / (is_x ? 34.0 : 20.0));
    int step = 1;
    if (last <= first && last - first + 1 + put_between(NULL, box, is_x, first, last) < 2) {
        return false;
    }
    while ((last - first) / step > most) {
        step++;
    }
    for (int e = first; e <= last; e += step) {
        char text[32];
        exponent_text(e, text, sizeof text);
        put_tick(output, box, is_x, gbsi_span_at(span, power_of_ten(e)), text);
    }
    if (last <= first + 1) {
        (void)put_between(output, box, is_x, first, last);
    }
    return true;
}

/* Puts ticks at multiples of 1, 2 or 5 times a power of ten. The ticks are quotients of whole
 * numbers, so their shortest decimals are short. */
static void put_steps(gbs_output *output, const gbsi_box *box, bool is_x)
{
    static const int multiple[] = {1, 2, 5, 10};
    const gbsi_span *span = is_x ? &box->x : &box->y;
    const double wanted = (span->high - span->low) / (is_x ? TICKS_X : TICKS_Y);
    const int e = (int)gbsi_chart_floor(gbsi_log10(wanted));
    int m = 0;
    while (m < 3 && multiple[m] * power_of_ten(e) < wanted) {
        m++;
    }
    const double scale = power_of_ten(e < 0 ? -e : e);
    const double step = e < 0 ? multiple[m] / scale : multiple[m] * scale;
    const double first = -gbsi_chart_floor(1e-9 - span->low / step);
    for (double i = first; i * step <= span->high + 1e-9 * step; i++) {
        const double value = e < 0 ? i * multiple[m] / scale : i * multiple[m] * scale;
        put_number(output, box, is_x, value == 0.0 ? 0.0 : value);
    }
}

static void put_groups(gbs_output *output, const gbsi_bars *bars, const gbsi_box *box)
{
    for (size_t g = 0; g < bars->n_groups; g++) {
        gbsi_put_text(output, "soft middle", gbsi_span_at(&box->x, (double)g + 0.5),
                      box->bottom + 15.0, bars->group[g]);
    }
}

static void put_swing_labels(gbs_output *output, const gbsi_swings *swings, const gbsi_box *box)
{
    for (size_t i = 0; i < swings->n; i++) {
        gbsi_put_text(output, "end", box->left - 6.0, gbsi_span_at(&box->y, (double)i + 0.5) + 4.0,
                      swings->label[i]);
    }
}

void gbsi_panel_axes(gbs_output *output, const gbsi_panel *panel, const gbsi_box *box)
{
    for (int is_x = 0; is_x <= 1; is_x++) {
        if (is_x && panel->bars != NULL) {
            put_groups(output, panel->bars, box);
        } else if (!is_x && panel->swings != NULL) {
            put_swing_labels(output, panel->swings, box);
        } else if (!(is_x ? box->x : box->y).log || !put_decades(output, box, is_x)) {
            put_steps(output, box, is_x);
        }
    }
    gbsi_put(output, "<path class=\"axis\" d=\"M%s %sV%sH%s\"/>\n", N(box->left), N(box->top),
             N(box->bottom), N(box->right));
    if (panel->x.label != NULL) {
        gbsi_put_text(output, "middle", (box->left + box->right) / 2.0, box->bottom + 33.0,
                      panel->x.label);
    }
    if (panel->y.label != NULL) {
        const double x = box->left - 44.0;
        const double y = (box->top + box->bottom) / 2.0;
        gbsi_put(output, "<text class=\"middle\" transform=\"translate(%s %s) rotate(-90)\">", N(x),
                 N(y));
        gbsi_put_escaped(output, panel->y.label);
        gbsi_output_text(output, "</text>\n");
    }
}
