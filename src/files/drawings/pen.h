/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that put text, numbers and colours of SVG into an output. Charts and pages use them,
 * too. */
#ifndef GBSI_DRAWINGS_PEN_H
#define GBSI_DRAWINGS_PEN_H

#include "base/status.h"
#include "gibbsite/io.h"

#define GBSI_FONT      11.0 /* size of labels, in pixels */
#define GBSI_LINE_STEP 13.0 /* distance of two lines of labels */

/* Writes a coordinate to a tenth of a pixel: "12.5". printf's %f is never used, because its
 * decimal sign depends on the locale. */
const char *gbsi_chart_number(double value, char *text);
#define N(value) gbsi_chart_number((value), (char[24]){0})

void gbsi_put(gbs_output *output, const char *format, ...) GBSI_PRINTF(2, 3);
/* Writes text with &, <, > and quotes as entities, and with U+FFFD in place of control characters
 * and of bytes that are not UTF-8. */
void gbsi_put_escaped(gbs_output *output, const char *text);
/* Writes <text class="..." x y>...</text>. @param style class names. */
void gbsi_put_text(gbs_output *output, const char *style, double x, double y, const char *text);
/* @return the approximate width of a text in a plain sans serif font of this size. */
double gbsi_text_width(const char *text, double size);

/* The colours on light screens, in the order of gbsi_color of chart/chart.h: blue, vermillion,
 * green, purple, orange, sky, ink, grey. */
enum { GBSI_N_LIGHT = 8 };
extern const char *const gbsi_light[GBSI_N_LIGHT];
/* Writes rules of a style sheet that set the variables --paper, --ink, --soft, --grid and --c0 ...
 * --c7, with other values for dark screens. @param root CSS selector of the element that carries
 * the variables. */
void gbsi_put_palette(gbs_output *output, const char *root);

#endif
