/* SPDX-License-Identifier: Apache-2.0 */
/* Draws the page of a chart: style sheet, title, key, and a grid of panels. */
#include "chart/chart.h"

#include <assert.h>

#include "chart/chart_pen.h"

#define MARGIN      16.0
#define AXIS_LEFT   62.0 /* room for tick labels and the turned label of the y axis */
#define AXIS_BOTTOM 48.0
#define TITLE_STEP  24.0
#define PANEL_TITLE 22.0
#define KEY_STEP    18.0
#define BETWEEN     18.0 /* gap between panels */
#define KEY_STROKE  24.0

static_assert((int)GBSI_N_COLORS == (int)GBSI_N_LIGHT, "the palette has every colour");

/* ---- the page ---------------------------------------------------------------------------- */

/* Writes each colour twice: a plain colour for readers that do not know CSS variables, then the
 * variable. */
void gbsi_figure_style(gbs_output *output, const char *root)
{
    gbsi_put_palette(output, root);
    gbsi_output_text(
        output,
        "text{font-family:Helvetica,Arial,'DejaVu Sans',sans-serif;font-size:11px;fill:#1c1c1c;"
        "fill:var(--ink)}\n"
        ".title{font-size:15px;font-weight:bold}.panel{font-size:12px;font-weight:bold}\n"
        ".soft{fill:#595959;fill:var(--soft)}.end{text-anchor:end}.middle{text-anchor:middle}\n"
        ".paper{fill:#ffffff;fill:var(--paper)}\n"
        ".grid{stroke:#e3e3e3;stroke:var(--grid);fill:none}\n"
        ".axis{stroke:#595959;stroke:var(--soft);fill:none}\n"
        ".guide{stroke:#767676;stroke:var(--c7);fill:none;stroke-dasharray:2 3}\n"
        ".line{fill:none;stroke-width:1.8;stroke-linejoin:round}\n"
        ".d1{stroke-dasharray:7 3}.d2{stroke-dasharray:1.5 3;stroke-linecap:round}\n"
        ".band{stroke:none;fill-opacity:0.18}\n"
        "image{image-rendering:pixelated}\n");
    for (int c = 0; c < GBSI_N_COLORS; c++) {
        gbsi_put(output, ".s%d{stroke:%s;stroke:var(--c%d)}.f%d{fill:%s;fill:var(--c%d)}\n", c,
                 gbsi_light[c], c, c, gbsi_light[c], c);
    }
}

/* Columns and rows of panels, and the places of the panels. */
typedef struct page {
    double width, height;
    double first_top; /* top of the plotting areas in the first row */
    double left[8];   /* left side of the plotting areas in each column */
    double row_step;
} page;

static bool has_axes(const gbsi_figure *figure)
{
    for (size_t i = 0; i < figure->n_panels; i++) {
        if (figure->panel[i].image == NULL && figure->panel[i].boxes == NULL) {
            return true;
        }
    }
    return false;
}

static double mark_width(const gbsi_key *key)
{
    return (key->box ? 12.0 : KEY_STROKE) + 6.0;
}

static double key_width(const gbsi_key *key)
{
    return mark_width(key) + gbsi_text_width(key->label, GBSI_FONT) + 16.0;
}

static unsigned key_rows(const gbsi_figure *figure, double width)
{
    double x = MARGIN;
    unsigned rows = figure->n_keys > 0;
    for (size_t i = 0; i < figure->n_keys; i++) {
        const double w = key_width(&figure->key[i]);
        if (x > MARGIN && x + w > width) {
            x = MARGIN;
            rows++;
        }
        x += w;
    }
    return rows;
}

static unsigned columns_of(const gbsi_figure *figure)
{
    return figure->columns == 0 ? 1 : figure->columns > 8 ? 8 : figure->columns;
}

static double title_width(const gbsi_figure *figure)
{
    const double title = gbsi_text_width(figure->title, 15.0) * 1.06;
    const double subtitle =
        figure->subtitle == NULL ? 0.0 : gbsi_text_width(figure->subtitle, GBSI_FONT);
    return 2.0 * MARGIN + gbsi_larger(title, subtitle);
}

static page lay_out(const gbsi_figure *figure)
{
    page p = {0};
    const unsigned columns = columns_of(figure);
    const bool axes = has_axes(figure);
    const size_t rows = (figure->n_panels + columns - 1) / columns;
    double x = MARGIN;
    for (unsigned c = 0; c < columns; c++) {
        double labels = 0.0;
        double left = axes ? AXIS_LEFT : 0.0;
        for (size_t i = c; i < figure->n_panels; i += columns) {
            labels = gbsi_larger(labels, gbsi_panel_label_width(&figure->panel[i]));
            left = gbsi_larger(left, gbsi_panel_axis_width(&figure->panel[i]));
        }
        p.left[c] = x + left;
        x = p.left[c] + figure->panel_width + labels + BETWEEN;
    }
    p.width = x - BETWEEN + MARGIN;
    p.first_top = MARGIN + PANEL_TITLE;
    if (figure->id == NULL) {
        p.width = gbsi_larger(p.width, title_width(figure));
        p.first_top += TITLE_STEP + (figure->subtitle != NULL ? KEY_STEP : 0.0);
    }
    p.first_top += KEY_STEP * key_rows(figure, p.width);
    p.row_step = figure->panel_height + PANEL_TITLE + (axes ? AXIS_BOTTOM : 0.0) + 8.0;
    p.height = p.first_top - PANEL_TITLE + p.row_step * (double)rows + MARGIN - 8.0;
    return p;
}

static void put_keys(const gbsi_figure *figure, gbs_output *output, double width, double y)
{
    double x = MARGIN;
    for (size_t i = 0; i < figure->n_keys; i++) {
        const gbsi_key *key = &figure->key[i];
        if (x > MARGIN && x + key_width(key) > width) {
            x = MARGIN;
            y += KEY_STEP;
        }
        if (key->box) {
            gbsi_put(output, "<rect class=\"f%d\" x=\"%s\" y=\"%s\" width=\"12\" height=\"10\"/>\n",
                     (int)key->color, N(x), N(y - 9.0));
        } else {
            gbsi_put(output, "<path class=\"line s%d d%d\" d=\"M%s %sh%s\"/>\n", (int)key->color,
                     (int)key->dash, N(x), N(y - 4.0), N(KEY_STROKE));
        }
        gbsi_put_text(output, "key", x + mark_width(key), y, key->label);
        x += key_width(key);
    }
}

static gbs_status put_panel(const gbsi_figure *figure, const page *p, size_t i, gbs_output *output,
                            gbs_error *err)
{
    const gbsi_panel *panel = &figure->panel[i];
    const unsigned columns = columns_of(figure);
    const size_t row = i / columns;
    gbsi_box box = {.left = p->left[i % columns], .top = p->first_top + p->row_step * (double)row};
    box.right = box.left + figure->panel_width;
    box.bottom = box.top + figure->panel_height;
    if (panel->title != NULL) {
        gbsi_put_text(output, "panel", box.left, box.top - 8.0, panel->title);
    }
    if (panel->image != NULL) {
        return gbsi_panel_image(output, panel, &box, err);
    }
    if (panel->boxes != NULL) {
        gbsi_panel_boxes(output, panel->boxes, &box);
        return GBS_OK;
    }
    gbsi_panel_spans(panel, &box);
    gbsi_panel_axes(output, panel, &box);
    if (panel->bars != NULL) {
        gbsi_panel_bars(output, panel, &box);
    }
    if (panel->swings != NULL) {
        gbsi_panel_swings(output, panel, &box);
    }
    gbsi_panel_lines(output, panel, &box, figure->id == NULL ? "" : figure->id, i);
    return GBS_OK;
}

/* Draws the background of a figure in a separate file, and the title and subtitle above the
 * panels.
 * @return the y coordinate where they end. */
static double put_head(const gbsi_figure *figure, gbs_output *output, const page *p)
{
    double y = MARGIN + 14.0;
    gbsi_output_text(output, "<style>\n");
    gbsi_figure_style(output, "svg");
    gbsi_output_text(output, "</style>\n");
    gbsi_put(output, "<rect class=\"paper\" width=\"%s\" height=\"%s\"/>\n", N(p->width),
             N(p->height));
    gbsi_put_text(output, "title", MARGIN, y, figure->title);
    if (figure->subtitle != NULL) {
        y += KEY_STEP;
        gbsi_put_text(output, "soft", MARGIN, y, figure->subtitle);
    }
    return y;
}

gbs_status gbsi_figure_text(const gbsi_figure *figure, gbs_output *output, gbs_error *err)
{
    const bool is_file = figure->id == NULL;
    const char *id = is_file ? "" : figure->id;
    const page p = lay_out(figure);
    gbsi_put(output,
             "<svg %swidth=\"%s\" height=\"%s\" viewBox=\"0 0 %s %s\" role=\"img\" "
             "aria-labelledby=\"%stitle %sdescription\">\n",
             is_file ? "xmlns=\"http://www.w3.org/2000/svg\" "
                       "xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
                     : "",
             N(p.width), N(p.height), N(p.width), N(p.height), id, id);
    gbsi_put(output, "<title id=\"%stitle\">", id);
    gbsi_put_escaped(output, figure->title);
    gbsi_put(output, "</title>\n<desc id=\"%sdescription\">", id);
    gbsi_put_escaped(output, figure->description);
    gbsi_output_text(output, "</desc>\n");
    const double y = is_file ? put_head(figure, output, &p) : MARGIN - KEY_STEP + 8.0;
    put_keys(figure, output, p.width, y + KEY_STEP + 2.0);
    for (size_t i = 0; i < figure->n_panels; i++) {
        GBSI_PASS(put_panel(figure, &p, i, output, err));
    }
    gbsi_output_text(output, "</svg>\n");
    return GBS_OK;
}

gbs_status gbsi_figure_write(const gbsi_figure *figure, const char *path, gbs_error *err)
{
    gbs_output *output = NULL;
    gbs_status status = gbs_output_open(path, &output, err);
    if (status < 0) {
        return status;
    }
    status = gbsi_figure_text(figure, output, err);
    if (status < 0) {
        gbs_output_discard(output);
        return status;
    }
    return gbs_output_commit(output, err);
}
