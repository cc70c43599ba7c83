/* SPDX-License-Identifier: Apache-2.0 */
/* Static charts as SVG text. A chart is a grid of panels with axes, titles and labels. A panel
 * shows lines with bands on linear or logarithmic axes, bars, swings, joined boxes, or a picture.
 *
 * A figure is a plain value that the caller fills and this module only reads: strings and arrays
 * are borrowed while gbsi_figure_write() runs. The text of a figure depends on the figure alone,
 * not on the clock or the locale. Coordinates in the text are rounded to a tenth of a pixel. The
 * text can be searched, and has a title and a description for readers who do not see the figure.
 * The colours of Okabe & Ito (2008) are used. These colours are variables of a style sheet, with
 * other values for dark screens. */
#ifndef GBSI_CHART_CHART_H
#define GBSI_CHART_CHART_H

#include <stdbool.h>
#include <stdint.h>

#include "gibbsite/image.h"
#include "gibbsite/io.h"
#include "gibbsite/status.h"

typedef enum gbsi_color {
    GBSI_BLUE,
    GBSI_VERMILLION,
    GBSI_GREEN,
    GBSI_PURPLE,
    GBSI_ORANGE,
    GBSI_SKY,
    GBSI_INK,
    GBSI_GREY,
    GBSI_N_COLORS,
} gbsi_color;

typedef enum gbsi_dash { GBSI_SOLID, GBSI_DASHED, GBSI_DOTTED } gbsi_dash;

typedef struct gbsi_axis {
    const char *label; /* label with its unit, or NULL for an axis without a label */
    bool log;          /* logarithmic axis, on which values that are not positive are left out */
    double low, high;  /* ends of the axis; if both are 0, the data determine the ends */
} gbsi_axis;

/* Points joined in order. NaN interrupts the line. */
typedef struct gbsi_line {
    const char *label; /* label at the right end of the line, or NULL */
    gbsi_color color;
    gbsi_dash dash;
    bool dots; /* 1: a mark is drawn at each point */
    size_t n;
    const double *x, *y; /* [n] */
    const double *low,
        *high; /* [n] lower edge and upper edge of a band around the line; NULL: no band */
} gbsi_line;

/* The line y = y0 (x / x0)^slope, thin and grey, which shows a rate. The axes must be
 * logarithmic, unless the slope is 0. */
typedef struct gbsi_guide {
    const char *label;
    double slope, x0, y0;
} gbsi_guide;

/* Groups of bars, with one bar for each series. Bars begin at zero, or at the low end of a
 * logarithmic axis. */
typedef struct gbsi_bars {
    size_t n_groups, n_series;
    const char *const *group; /* [n_groups] labels under the axis */
    const gbsi_color *color;  /* [n_series] colour of each series */
    const double *value;      /* [n_groups][n_series] height of each bar */
    const double *error;      /* [n_groups][n_series] half the length of a whisker, or NULL */
    bool stacked;
} gbsi_bars;

/* A tornado chart: horizontal bars on either side of one value, with the first bar at the top. A
 * part whose end is NAN is left out. */
typedef struct gbsi_swings {
    size_t n;
    const char *const *label; /* [n] labels left of the bars */
    double origin;            /* position of a vertical line through all bars */
    const double *end[2];     /* [n] positions of the two ends of each bar */
    gbsi_color color[2];
} gbsi_swings;

/* Boxes with text, such as the nodes of a tree, in a panel without axes. */
typedef struct gbsi_boxes {
    size_t n;
    const char *const *label; /* [n] text in each box */
    const gbsi_color *color;  /* [n] colour of the frame of each box */
    const double *x, *y;      /* [n] centre of each box: 0 is left and top, 1 is right and bottom */
    const uint32_t *joined; /* [n] box to which a line goes, the box itself for no line; or NULL */
} gbsi_boxes;

typedef struct gbsi_panel {
    const char *title;
    gbsi_axis x, y;
    size_t n_lines;
    const gbsi_line *line;
    size_t n_guides;
    const gbsi_guide *guide;
    const gbsi_bars *bars;     /* instead of lines, with an x axis of their own */
    const gbsi_swings *swings; /* instead of lines, with a y axis of their own */
    const gbs_image *image;    /* drawn instead of axes and lines */
    const gbsi_boxes *boxes;   /* drawn instead of axes and lines */
} gbsi_panel;

/* An entry of the legend: the meaning of a colour, in a row under the title. */
typedef struct gbsi_key {
    const char *label;
    gbsi_color color;
    gbsi_dash dash;
    bool box; /* a patch for bars, otherwise a stroke */
} gbsi_key;

typedef struct gbsi_figure {
    /* id of a figure that is part of a page, different from all other ids; NULL: the figure is a
     * separate file. A figure in a page has no style sheet, and its titles are only for readers
     * who do not see it */
    const char *id;
    const char *title;                /* title: a text that says what the figure shows */
    const char *subtitle;             /* the conditions of the experiment, or NULL */
    const char *description;          /* text for readers who do not see the figure */
    double panel_width, panel_height; /* size of the plotting area, in pixels */
    unsigned columns;                 /* number of panels in a row */
    size_t n_panels;
    const gbsi_panel *panel;
    size_t n_keys;
    const gbsi_key *key;
} gbsi_figure;

/* Writes a figure to a file.
 * @param path FILE.svg, which is written whole or not at all.
 * @return GBS_ERR_IO, GBS_ERR_MEMORY; GBS_ERR_UNSUPPORTED for pictures in a build without PNG. */
gbs_status gbsi_figure_write(const gbsi_figure *figure, const char *path, gbs_error *err);
/* Writes the style sheet that all figures of a page share.
 * @param root CSS selector of the element that carries the variables: ":root". */
void gbsi_figure_style(gbs_output *output, const char *root);
/* Writes the figure to an output. Errors of writing are reported when the output is committed. */
gbs_status gbsi_figure_text(const gbsi_figure *figure, gbs_output *output, gbs_error *err);

#endif
