/* SPDX-License-Identifier: Apache-2.0 */
/* Draws lines with their bands and the labels at their ends, guides, bars and swings. */
#include <math.h>

#include "chart/chart_pen.h"
#include "simd/math.h"

#define MAX_LABELS 24
#define LABEL_GAP  7.0

/* A label to the right of the panel, at the height where its line ends. */
typedef struct end_label {
    const char *text;
    gbsi_color color;
    double at, y; /* at: height of the line's end; y: height of the label */
} end_label;

double gbsi_panel_label_width(const gbsi_panel *panel)
{
    double width = 0.0;
    for (size_t i = 0; i < panel->n_lines; i++) {
        if (panel->line[i].label != NULL) {
            width = gbsi_larger(width, gbsi_text_width(panel->line[i].label, GBSI_FONT));
        }
    }
    for (size_t i = 0; i < panel->n_guides; i++) {
        width = gbsi_larger(width, gbsi_text_width(panel->guide[i].label, GBSI_FONT));
    }
    return width > 0.0 ? width + 2.0 * LABEL_GAP : 0.0;
}

/* Sorts labels from the top and moves them apart, so that the distance of neighbours is at least
 * a line of text. All labels stay beside the panel. */
static void spread_labels(end_label *label, size_t n, const gbsi_box *box)
{
    for (size_t i = 1; i < n; i++) { /* insertion sort, in which equal labels keep their order */
        const end_label moved = label[i];
        size_t j = i;
        for (; j > 0 && label[j - 1].at > moved.at; j--) {
            label[j] = label[j - 1];
        }
        label[j] = moved;
    }
    for (size_t i = 0; i < n; i++) {
        const double least = i == 0 ? box->top : label[i - 1].y + GBSI_LINE_STEP;
        label[i].y = gbsi_larger(label[i].at, least);
    }
    for (size_t i = n; i-- > 0;) {
        const double most = i + 1 == n ? box->bottom : label[i + 1].y - GBSI_LINE_STEP;
        label[i].y = gbsi_smaller(label[i].y, most);
    }
}

static void put_labels(gbs_output *output, end_label *label, size_t n, const gbsi_box *box)
{
    spread_labels(label, n, box);
    for (size_t i = 0; i < n; i++) {
        gbsi_put(output, "<text class=\"f%d\" x=\"%s\" y=\"%s\">", (int)label[i].color,
                 N(box->right + LABEL_GAP), N(label[i].y + 4.0));
        gbsi_put_escaped(output, label[i].text);
        gbsi_output_text(output, "</text>\n");
    }
}

/* ---- lines ------------------------------------------------------------------------------- */

static bool point_at(const gbsi_box *box, double x, double y, double *px, double *py)
{
    if (!gbsi_span_holds(&box->x, x) || !gbsi_span_holds(&box->y, y)) {
        return false;
    }
    *px = gbsi_span_at(&box->x, x);
    *py = gbsi_span_at(&box->y, y);
    return true;
}

/* The value nearest to `value` that the axis has; NaN stays NaN. */
static double on_axis(const gbsi_span *span, double value)
{
    return value < span->low ? span->low : value > span->high ? span->high : value;
}

/* Parts of a band outside the axes are cut off. */
static void put_band(gbs_output *output, const gbsi_line *line, const gbsi_box *box)
{
    bool open = false;
    double x = 0.0;
    double y = 0.0;
    gbsi_put(output, "<path class=\"band f%d\" d=\"", (int)line->color);
    for (size_t i = 0; i < line->n; i++) {
        if (point_at(box, line->x[i], on_axis(&box->y, line->high[i]), &x, &y)) {
            gbsi_put(output, "%s%s %s", open ? "L" : "M", N(x), N(y));
            open = true;
        }
    }
    for (size_t i = line->n; i-- > 0;) {
        if (point_at(box, line->x[i], on_axis(&box->y, line->low[i]), &x, &y)) {
            gbsi_put(output, "%s%s %s", open ? "L" : "M", N(x), N(y));
            open = true;
        }
    }
    gbsi_output_text(output, open ? "Z\"/>\n" : "\"/>\n");
}

/* @return whether the line has a last point, and the height of that point. */
static bool put_line(gbs_output *output, const gbsi_line *line, const gbsi_box *box, double *last)
{
    bool open = false;
    bool any = false;
    double x = 0.0;
    double y = 0.0;
    gbsi_put(output, "<path class=\"line s%d d%d\" d=\"", (int)line->color, (int)line->dash);
    for (size_t i = 0; i < line->n; i++) {
        if (point_at(box, line->x[i], line->y[i], &x, &y)) {
            gbsi_put(output, "%s%s %s", open ? "L" : "M", N(x), N(y));
            open = true;
            any = true;
            *last = y;
        } else {
            open = false;
        }
    }
    gbsi_output_text(output, "\"/>\n");
    for (size_t i = 0; line->dots && i < line->n; i++) {
        if (point_at(box, line->x[i], line->y[i], &x, &y)) {
            gbsi_put(output, "<circle class=\"f%d\" cx=\"%s\" cy=\"%s\" r=\"2.4\"/>\n",
                     (int)line->color, N(x), N(y));
        }
    }
    return any;
}

static void put_guide(gbs_output *output, const gbsi_guide *guide, const gbsi_box *box,
                      double *last)
{
    const double at[2] = {box->x.low, box->x.high};
    double y[2];
    for (int i = 0; i < 2; i++) {
        const double value =
            guide->slope == 0.0 ? guide->y0 : guide->y0 * gbsi_pow(at[i] / guide->x0, guide->slope);
        y[i] = gbsi_span_at(&box->y, value);
    }
    gbsi_put(output, "<path class=\"guide\" d=\"M%s %sL%s %s\"/>\n", N(box->left), N(y[0]),
             N(box->right), N(y[1]));
    *last = gbsi_smaller(gbsi_larger(y[1], box->top), box->bottom);
}

void gbsi_panel_lines(gbs_output *output, const gbsi_panel *panel, const gbsi_box *box,
                      const char *id, size_t number)
{
    end_label label[MAX_LABELS];
    size_t n = 0;
    double last = 0.0;
    if (panel->n_lines == 0 && panel->n_guides == 0) {
        return;
    }
    gbsi_put(output,
             "<clipPath id=\"%sp%zu\"><rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>"
             "</clipPath>\n<g clip-path=\"url(#%sp%zu)\">\n",
             id, number, N(box->left - 2.0), N(box->top - 2.0), N(box->right - box->left + 4.0),
             N(box->bottom - box->top + 4.0), id, number);
    for (size_t i = 0; i < panel->n_guides; i++) {
        put_guide(output, &panel->guide[i], box, &last);
        if (n < MAX_LABELS) {
            label[n++] = (end_label){panel->guide[i].label, GBSI_GREY, last, last};
        }
    }
    for (size_t i = 0; i < panel->n_lines; i++) {
        if (panel->line[i].low != NULL && panel->line[i].high != NULL) {
            put_band(output, &panel->line[i], box);
        }
    }
    for (size_t i = 0; i < panel->n_lines; i++) {
        const gbsi_line *line = &panel->line[i];
        if (put_line(output, line, box, &last) && line->label != NULL && n < MAX_LABELS) {
            label[n++] = (end_label){line->label, line->color, last, last};
        }
    }
    gbsi_output_text(output, "</g>\n");
    put_labels(output, label, n, box);
}

/* ---- bars -------------------------------------------------------------------------------- */

static void put_bar(gbs_output *output, const gbsi_box *box, gbsi_color color, double left,
                    double width, double from, double to)
{
    const double foot = on_axis(&box->y, from);
    const double head = on_axis(&box->y, to);
    if (!gbsi_span_holds(&box->y, to) || head <= foot) {
        return;
    }
    const double top = gbsi_span_at(&box->y, head);
    gbsi_put(output, "<rect class=\"f%d\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>\n",
             (int)color, N(left), N(top), N(width), N(gbsi_span_at(&box->y, foot) - top));
}

static void put_whisker(gbs_output *output, const gbsi_box *box, double x, double value,
                        double error)
{
    const double low = on_axis(&box->y, value - error);
    const double high = on_axis(&box->y, value + error);
    if (isfinite(error) && error > 0.0 && gbsi_span_holds(&box->y, value) && low < high) {
        gbsi_put(output, "<path class=\"axis\" d=\"M%s %sV%s\"/>\n", N(x),
                 N(gbsi_span_at(&box->y, low)), N(gbsi_span_at(&box->y, high)));
    }
}

void gbsi_panel_bars(gbs_output *output, const gbsi_panel *panel, const gbsi_box *box)
{
    const gbsi_bars *bars = panel->bars;
    const double group = (box->right - box->left) / (double)bars->n_groups;
    const double room = 0.76 * group;
    const double width = bars->stacked ? room : room / (double)bars->n_series;
    for (size_t g = 0; g < bars->n_groups; g++) {
        double sum = 0.0;
        for (size_t s = 0; s < bars->n_series; s++) {
            const size_t i = g * bars->n_series + s;
            const double left = box->left + group * (double)g + 0.12 * group +
                                (bars->stacked ? 0.0 : width * (double)s);
            const double value = isfinite(bars->value[i]) ? bars->value[i] : 0.0;
            put_bar(output, box, bars->color[s], left, bars->stacked ? width : width * 0.92,
                    bars->stacked ? sum : 0.0, bars->stacked ? sum + value : value);
            if (bars->error != NULL && !bars->stacked) {
                put_whisker(output, box, left + width * 0.46, value, bars->error[i]);
            }
            sum += value;
        }
    }
}

/* ---- swings ------------------------------------------------------------------------------ */

double gbsi_panel_axis_width(const gbsi_panel *panel)
{
    double width = 0.0;
    for (size_t i = 0; panel->swings != NULL && i < panel->swings->n; i++) {
        width = gbsi_larger(width, gbsi_text_width(panel->swings->label[i], GBSI_FONT));
    }
    return width > 0.0 ? width + 2.0 * LABEL_GAP : 0.0;
}

void gbsi_panel_swings(gbs_output *output, const gbsi_panel *panel, const gbsi_box *box)
{
    const gbsi_swings *swings = panel->swings;
    const double step = (box->bottom - box->top) / (double)swings->n;
    const double origin = gbsi_span_at(&box->x, swings->origin);
    for (size_t i = 0; i < swings->n; i++) {
        for (int k = 0; k < 2; k++) {
            if (!isfinite(swings->end[k][i])) {
                continue;
            }
            const double end = gbsi_span_at(&box->x, swings->end[k][i]);
            gbsi_put(output, "<rect class=\"f%d\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"/>\n",
                     (int)swings->color[k], N(gbsi_smaller(origin, end)),
                     N(box->top + ((double)i + 0.14) * step), N(fabs(end - origin)),
                     N(0.72 * step));
        }
    }
    gbsi_put(output, "<path class=\"axis\" d=\"M%s %sV%s\"/>\n", N(origin), N(box->top),
             N(box->bottom));
}

/* ---- boxes ------------------------------------------------------------------------------- */

#define BOX_HEIGHT 16.0

/* Centre of a box with this width, moved so that the whole box is in the panel. */
static double box_x(const gbsi_boxes *boxes, size_t i, double width, const gbsi_box *box)
{
    const double x = box->left + boxes->x[i] * (box->right - box->left);
    return gbsi_smaller(gbsi_larger(x, box->left + width / 2.0), box->right - width / 2.0);
}

static double box_y(const gbsi_boxes *boxes, size_t i, const gbsi_box *box)
{
    const double y = box->top + boxes->y[i] * (box->bottom - box->top);
    return gbsi_smaller(gbsi_larger(y, box->top + BOX_HEIGHT / 2.0),
                        box->bottom - BOX_HEIGHT / 2.0);
}

static double box_width(const gbsi_boxes *boxes, size_t i)
{
    return gbsi_text_width(boxes->label[i], GBSI_FONT) + 10.0;
}

/* Draws all lines, and then the boxes over them. */
void gbsi_panel_boxes(gbs_output *output, const gbsi_boxes *boxes, const gbsi_box *box)
{
    for (size_t i = 0; boxes->joined != NULL && i < boxes->n; i++) {
        const size_t to = boxes->joined[i];
        if (to != i) {
            gbsi_put(output, "<path class=\"axis\" d=\"M%s %sL%s %s\"/>\n",
                     N(box_x(boxes, i, box_width(boxes, i), box)), N(box_y(boxes, i, box)),
                     N(box_x(boxes, to, box_width(boxes, to), box)), N(box_y(boxes, to, box)));
        }
    }
    for (size_t i = 0; i < boxes->n; i++) {
        const double width = box_width(boxes, i);
        const double x = box_x(boxes, i, width, box);
        const double y = box_y(boxes, i, box);
        gbsi_put(output,
                 "<rect class=\"paper s%d\" stroke-width=\"1.8\" x=\"%s\" y=\"%s\" width=\"%s\" "
                 "height=\"%s\"/>\n",
                 (int)boxes->color[i], N(x - width / 2.0), N(y - BOX_HEIGHT / 2.0), N(width),
                 N(BOX_HEIGHT));
        gbsi_put_text(output, "middle", x, y + 4.0, boxes->label[i]);
    }
}
