/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the files of this folder share: they find the place of a value on the page. */
#ifndef GBSI_CHART_CHART_PEN_H
#define GBSI_CHART_CHART_PEN_H

#include <stdint.h>

#include "base/extremes.h"
#include "base/status.h"
#include "chart/chart.h"
#include "drawings/pen.h"
#include "text/output.h"

/* floor() without libm, for numbers below 2^63. */
static inline double gbsi_chart_floor(double x)
{
    const double whole = (double)(int64_t)x;
    return whole > x ? whole - 1.0 : whole;
}

/* The final scale of one axis of a panel: maps values [low, high] to pixels [from, to]. */
typedef struct gbsi_span {
    bool log;
    double low, high;
    double from, to;
} gbsi_span;

/* Place and scales of a panel on the page. */
typedef struct gbsi_box {
    double left, top, right, bottom;
    gbsi_span x, y;
} gbsi_box;

/* Whether an axis can show a value. */
bool gbsi_span_holds(const gbsi_span *span, double value);
double gbsi_span_at(const gbsi_span *span, double value);

/* chart_axes.c: computes the ranges of a panel's axes from its data, and draws the axes. */
void gbsi_panel_spans(const gbsi_panel *panel, gbsi_box *box);
void gbsi_panel_axes(gbs_output *output, const gbsi_panel *panel, const gbsi_box *box);

/* chart_marks.c */
/* @param id id of the figure. @param number number of the panel. */
void gbsi_panel_lines(gbs_output *output, const gbsi_panel *panel, const gbsi_box *box,
                      const char *id, size_t number);
void gbsi_panel_bars(gbs_output *output, const gbsi_panel *panel, const gbsi_box *box);
void gbsi_panel_swings(gbs_output *output, const gbsi_panel *panel, const gbsi_box *box);
void gbsi_panel_boxes(gbs_output *output, const gbsi_boxes *boxes, const gbsi_box *box);
/* @return the room that the labels of the y axis need to the left of the panel. */
double gbsi_panel_axis_width(const gbsi_panel *panel);
/* @return the room that labels at the ends of lines need to the right of the panel. */
double gbsi_panel_label_width(const gbsi_panel *panel);

/* chart_image.c */
void gbsi_put_base64(gbs_output *output, const unsigned char *bytes, size_t n);
gbs_status gbsi_panel_image(gbs_output *output, const gbsi_panel *panel, const gbsi_box *box,
                            gbs_error *err);

#endif
