/* SPDX-License-Identifier: Apache-2.0 */
/* Shows marginals as a table with bars and whiskers, and as maps if the variables form a grid. */
#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "chart/chart_pen.h"
#include "report/page.h"

/* ---- the table ------------------------------------------------------------------------------- */

static double within(double value)
{
    return value > 0.0 ? gbsi_smaller(value, 1.0) : 0.0; /* NaN becomes 0 */
}

/* Writes a bar for the probability, with a whisker of two standard errors on either side. */
static void put_bar(gbsi_page *page, double p, double error)
{
    gbsi_put(page->out,
             "<td class=\"bar\"><svg viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
             "aria-hidden=\"true\"><rect class=\"rail\" width=\"100\" height=\"10\"/>"
             "<rect class=\"f0\" width=\"%s\" height=\"10\"/>",
             N(100.0 * within(p)));
    if (error > 0.0) {
        gbsi_put(page->out, "<path class=\"whisker\" d=\"M%s 5H%sM%s 2v6M%s 2v6\"/>",
                 N(100.0 * within(p - 2.0 * error)), N(100.0 * within(p + 2.0 * error)),
                 N(100.0 * within(p - 2.0 * error)), N(100.0 * within(p + 2.0 * error)));
    }
    gbsi_page_put(page, "</svg></td>");
}

static void put_error(gbsi_page *page, double error)
{
    if (error == 0.0) {
        gbsi_page_put(page, "exact");
    } else if (error >= 1e-5) {
        gbsi_page_put(page, "± ");
        gbsi_page_fixed(page, error, 5);
    } else {
        gbsi_page_number(page, error, 2);
    }
}

static void put_state(gbsi_page *page, const gbsi_json *state)
{
    const char *label = gbsi_page_string(page, state, "state");
    const double p = gbsi_page_real(page, state, "p");
    const double error = gbsi_page_real(page, state, "mcse");
    const bool exact = !(error > 0.0);
    gbsi_page_put(page, "<td class=\"name\">");
    gbsi_page_text(page, label == NULL ? "" : label);
    gbsi_page_put(page, "</td>");
    put_bar(page, p, error);
    gbsi_page_put(page, "<td>");
    gbsi_page_fixed(page, p, exact ? 6 : 4);
    gbsi_page_put(page, "</td><td>");
    put_error(page, error);
    gbsi_page_put(page, "</td><td class=\"wide\">");
    gbsi_page_number(page, gbsi_page_real(page, state, "ess"), 1);
    gbsi_page_put(page, "</td><td class=\"wide\">");
    gbsi_page_fixed(page, gbsi_page_real(page, state, "rhat"), 3);
    gbsi_page_put(page, "</td></tr>\n");
}

static void put_variable(gbsi_page *page, const gbsi_json *variable)
{
    const char *name = gbsi_page_string(page, variable, "name");
    const gbsi_json *states = gbsi_page_array(page, variable, "states");
    const double arity = gbsi_page_real(page, variable, "arity");
    const size_t n = states == NULL ? 0 : states->n;
    const bool cut = arity > (double)n;
    gbsi_put(page->out, "<tbody><tr><th scope=\"rowgroup\" rowspan=\"%zu\">", n + cut + (n == 0));
    gbsi_page_text(page, name == NULL ? "" : name);
    gbsi_page_put(page, "</th>");
    for (const gbsi_json *s = gbsi_json_first(states); s != NULL; s = gbsi_json_next(states, s)) {
        gbsi_page_put(page, s == states + 1 ? "" : "<tr>");
        put_state(page, s);
    }
    if (n == 0) {
        gbsi_page_put(page, "</tr>\n");
    }
    if (cut) {
        gbsi_page_put(page, n == 0 ? "" : "<tr>");
        gbsi_page_put(page, "<td colspan=\"6\" class=\"more\">and ");
        gbsi_page_number(page, arity - (double)n, 9);
        gbsi_page_put(page, " less probable states</td></tr>\n");
    }
    gbsi_page_put(page, "</tbody>\n");
}

static void put_table(gbsi_page *page, const gbsi_json *m, const gbsi_json *shown)
{
    const char *order = gbsi_page_string(page, m, "order");
    const double n = gbsi_page_real(page, m, "variables");
    gbsi_page_put(page, "<table class=\"marginals\">\n<caption>");
    if (order != NULL && strcmp(order, "error") == 0) {
        gbsi_put(page->out, "The %zu variable%s with the largest errors; ", shown->n,
                 gbsi_plural(shown->n));
        gbsi_page_number(page, n - (double)shown->n, 12);
        gbsi_page_put(page, " are left out. ");
    }
    gbsi_page_put(page,
                  "Bars are probabilities, whiskers two standard errors on either side.</caption>\n"
                  "<thead><tr><th scope=\"col\">Variable</th><th scope=\"col\">State</th>"
                  "<th scope=\"col\" class=\"bar\"><span class=\"unseen\">Bar</span></th>"
                  "<th scope=\"col\">Probability</th><th scope=\"col\">Error</th>"
                  "<th scope=\"col\" class=\"wide\"><abbr title=\"effective sample size\">ESS"
                  "</abbr></th><th scope=\"col\" class=\"wide\">R-hat</th></tr></thead>\n");
    for (const gbsi_json *v = gbsi_json_first(shown); v != NULL; v = gbsi_json_next(shown, v)) {
        put_variable(page, v);
    }
    gbsi_page_put(page, "</table>\n");
}

/* ---- maps ------------------------------------------------------------------------------------ */

/* @return the base64 text of a picture in the summary. The function refuses other text, because
 * such text could end the attribute. */
static const char *base64(gbsi_page *page, const gbsi_json *map, const char *name)
{
    const char *text = gbsi_page_string(page, map, name);
    if (text != NULL &&
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=") !=
            strlen(text)) {
        gbsi_page_refuse(page, gbsi_json_member(map, name), "base64");
        return NULL;
    }
    return text;
}

static void put_image(gbsi_page *page, const gbsi_json *map, const char *png, const char *what)
{
    gbsi_page_put(page, "<figure class=\"map\">\n<img alt=\"");
    gbsi_put(page->out, "%s of each variable, ", what);
    gbsi_page_count(page, gbsi_page_digits(page, map, "rows"));
    gbsi_page_put(page, " rows of ");
    gbsi_page_count(page, gbsi_page_digits(page, map, "columns"));
    gbsi_page_put(page, "\" src=\"data:image/png;base64,");
    gbsi_page_put(page, png);
    gbsi_page_put(page, "\">\n<figcaption>");
}

static void put_ramp(gbsi_page *page, const char *ramp, double most)
{
    gbsi_page_put(page, "<span class=\"legend\">0 <span class=\"");
    gbsi_put(page->out, "%s\"></span> ", ramp);
    gbsi_page_number(page, most, 2);
    gbsi_page_put(page, "</span></figcaption>\n</figure>\n");
}

static void put_labels(gbsi_page *page, const gbsi_json *states)
{
    unsigned k = 0;
    gbsi_page_put(page, "<span class=\"legend\">");
    for (const gbsi_json *s = gbsi_json_first(states); s != NULL && k < 8;
         s = gbsi_json_next(states, s), k++) {
        gbsi_put(page->out, "<span class=\"key l%u\"></span>", k);
        gbsi_page_text(page, s->kind == GBSI_JSON_STRING ? s->text : "");
        gbsi_page_put(page, " ");
    }
    gbsi_page_put(page, "</span></figcaption>\n</figure>\n");
}

static void put_maps(gbsi_page *page, const gbsi_json *map)
{
    const char *shows = gbsi_page_string(page, map, "shows");
    const gbsi_json *states = gbsi_page_array(page, map, "states");
    const char *png = base64(page, map, "png");
    const char *errors = base64(page, map, "errors_png");
    const bool probability = shows != NULL && strcmp(shows, "probability") == 0;
    const gbsi_json *first = gbsi_json_first(states);
    const gbsi_json *second = first == NULL ? NULL : gbsi_json_next(states, first);
    gbsi_page_put(page, "<div class=\"figures\">\n");
    if (png != NULL && probability) {
        put_image(page, map, png, "Probability");
        gbsi_page_put(page, "Probability of state ");
        gbsi_page_text(page, second != NULL && second->text != NULL ? second->text : "1");
        put_ramp(page, "ramp", 1.0);
    } else if (png != NULL) {
        put_image(page, map, png, "Most probable state");
        gbsi_page_put(page, "Most probable state ");
        put_labels(page, states);
    }
    if (errors != NULL) {
        put_image(page, map, errors, "Standard error");
        gbsi_page_put(page, "Standard error ");
        put_ramp(page, "ramp warm", gbsi_page_real(page, map, "largest_error"));
    }
    gbsi_page_put(page, "</div>\n");
    if (gbsi_page_real(page, map, "variables_per_side") > 1.0) {
        gbsi_page_put(page, "<p class=\"note\">A pixel is a square of ");
        gbsi_page_count(page, gbsi_page_digits(page, map, "variables_per_side"));
        gbsi_page_put(page, " variables a side: the mean of their probabilities or the state of "
                            "the first, and the largest of their errors.</p>\n");
    }
}

void gbsi_page_marginals(gbsi_page *page, const gbsi_json *marginals)
{
    const gbsi_json *shown = gbsi_page_array(page, marginals, "shown");
    const gbsi_json *map = gbsi_page_object(page, marginals, "map");
    if (shown == NULL) {
        return;
    }
    gbsi_page_put(page, "<section>\n<h3>Marginals</h3>\n");
    if (map != NULL) {
        put_maps(page, map);
        gbsi_page_put(page, "<details><summary>As numbers</summary>\n");
    } else {
        gbsi_page_network(page, marginals);
    }
    put_table(page, marginals, shown);
    gbsi_page_put(page, map != NULL ? "</details>\n</section>\n" : "</section>\n");
}
