/* SPDX-License-Identifier: Apache-2.0 */
/* Draws a figure of the table (figures.h). The row of the table has the constant parts, and the
 * experiment adds its measurements. */
#ifndef LAB_PLOT_H
#define LAB_PLOT_H

#include "lab/figures.h"
#include "lab/lab.h"

#define LAB_MAX_PANELS 16
#define LAB_MAX_LINES  8

typedef struct lab_plot {
    const char *file;
    gbsi_figure figure;
    /* panels of the table, whose titles, bars and limits the experiment may set */
    gbsi_panel panel[LAB_MAX_PANELS];
    gbsi_line line[LAB_MAX_PANELS][LAB_MAX_LINES];
    gbsi_guide guide[LAB_MAX_PANELS][2];
    gbsi_key key[LAB_MAX_LINES];
    char subtitle[256];
} lab_plot;

/* Begins a plot, which must not be copied. @param times number of repetitions of the panels of the
 * table, one for each model. */
void lab_plot_begin(lab_plot *plot, lab_figure_id which, size_t times);
/* Replaces the subtitle of the table. */
void lab_plot_subtitle(lab_plot *plot, const char *format, ...) GBSI_PRINTF(2, 3);
/* Adds a line to a panel. The arrays of the line are borrowed until the plot is written. */
void lab_plot_line(lab_plot *plot, size_t panel, gbsi_line line);
/* Adds a guide (a line that shows a rate) to a panel whose guides are not in the table. */
void lab_plot_guide(lab_plot *plot, size_t panel, gbsi_guide guide);
/* Adds a panel, whose parts are borrowed until the plot is written. */
void lab_plot_panel(lab_plot *plot, gbsi_panel panel);
/* Adds a panel that shows a picture. */
void lab_plot_image(lab_plot *plot, const char *title, const gbs_image *image);
void lab_plot_key(lab_plot *plot, gbsi_key key);
gbs_status lab_plot_write(const laboratory *lab, lab_plot *plot, gbs_error *err);

#endif
