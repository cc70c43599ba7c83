/* SPDX-License-Identifier: Apache-2.0 */
/* Drawing of rows of the table of figures, with measured values. */
#include "lab/plot.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

void lab_plot_begin(lab_plot *plot, lab_figure_id which, size_t times)
{
    const lab_figure *row = &lab_figures[which];
    *plot = (lab_plot){.file = row->file, .figure = row->figure};
    assert(plot->figure.n_panels * times <= LAB_MAX_PANELS);
    assert(plot->figure.n_keys <= LAB_MAX_LINES);
    plot->figure.n_panels = 0;
    for (size_t i = 0; i < times * row->figure.n_panels; i++) {
        plot->panel[plot->figure.n_panels++] = row->figure.panel[i % row->figure.n_panels];
    }
    for (size_t i = 0; i < row->figure.n_keys; i++) {
        plot->key[i] = row->figure.key[i];
    }
}

void lab_plot_subtitle(lab_plot *plot, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(plot->subtitle, sizeof plot->subtitle, format, arguments);
    va_end(arguments);
    plot->figure.subtitle = plot->subtitle;
}

void lab_plot_line(lab_plot *plot, size_t panel, gbsi_line line)
{
    gbsi_panel *p = &plot->panel[panel];
    assert(panel < plot->figure.n_panels && p->n_lines < LAB_MAX_LINES);
    plot->line[panel][p->n_lines++] = line;
}

void lab_plot_guide(lab_plot *plot, size_t panel, gbsi_guide guide)
{
    gbsi_panel *p = &plot->panel[panel];
    assert(panel < plot->figure.n_panels && p->n_guides < 2);
    plot->guide[panel][p->n_guides++] = guide;
    p->guide = plot->guide[panel];
}

void lab_plot_panel(lab_plot *plot, gbsi_panel panel)
{
    assert(plot->figure.n_panels < LAB_MAX_PANELS);
    plot->panel[plot->figure.n_panels++] = panel;
}

void lab_plot_image(lab_plot *plot, const char *title, const gbs_image *image)
{
    lab_plot_panel(plot, (gbsi_panel){.title = title, .image = image});
}

void lab_plot_key(lab_plot *plot, gbsi_key key)
{
    assert(plot->figure.n_keys < LAB_MAX_LINES);
    plot->key[plot->figure.n_keys++] = key;
}

gbs_status lab_plot_write(const laboratory *lab, lab_plot *plot, gbs_error *err)
{
    char *path = NULL;
    gbs_status status = lab_path_in(lab->folder, plot->file, &path, err);
    for (size_t i = 0; i < plot->figure.n_panels; i++) {
        plot->panel[i].line = plot->line[i];
    }
    plot->figure.panel = plot->panel;
    plot->figure.key = plot->key;
    if (status >= 0) {
        status = gbsi_figure_write(&plot->figure, path, err);
    }
    gbsi_free(path);
    return status;
}
