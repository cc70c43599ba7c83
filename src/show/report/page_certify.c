/* SPDX-License-Identifier: Apache-2.0 */
/* Writes what certify found about scans: whether pairs of coupled chains met, bounds on the
 * distance of chains from their target, and the number of passes that suffice. */
#include <math.h>
#include <string.h>

#include "chart/chart_pen.h"
#include "report/page.h"

/* Writes a count that the sentence needs; "?" if the source lacks it. */
static void put_count(gbsi_page *page, const gbsi_json *of, const char *name)
{
    const char *digits = gbsi_page_digits(page, of, name);
    gbsi_page_count(page, digits == NULL ? "?" : digits);
}

/* @return the word behind a count of passes. */
static const char *passes_word(gbsi_page *page, const gbsi_json *of, const char *name)
{
    return gbsi_page_real(page, of, name) == 1.0 ? " pass" : " passes";
}

static void begin_sentence(gbsi_page *page, const gbsi_json *row, const char *mark,
                           const char *class, const char *word)
{
    const char *scan = gbsi_page_string(page, row, "scan");
    gbsi_put(page->out,
             "<p class=\"verdict %s\"><span class=\"mark\" aria-hidden=\"true\">%s</span><strong>%s"
             "</strong> The ",
             class, mark, word);
    gbsi_page_text(page, scan == NULL ? "" : scan);
    gbsi_page_put(page, " scan: ");
}

/* ---- pairs of chains ------------------------------------------------------------------------- */

/* Writes what the pairs of one scan show. Pairs are evidence that chains need more passes, and
 * never that they need no more. @param row any row of the scan. */
static void put_pairs(gbsi_page *page, const gbsi_json *row)
{
    const double pairs = gbsi_page_real(page, row, "pairs");
    const double met = gbsi_page_real(page, row, "met");
    char text[48];
    if (met < pairs) {
        begin_sentence(page, row, "✗", "bad", "No.");
        gbsi_page_put(page, gbsi_page_number_text(pairs - met, 6, text));
        gbsi_page_put(page, " of ");
        put_count(page, row, "pairs");
        gbsi_page_put(page, " pairs of chains did not meet");
        if (gbsi_page_digits(page, row, "sweeps") != NULL) {
            gbsi_page_put(page, " within ");
            put_count(page, row, "sweeps");
            gbsi_page_put(page, passes_word(page, row, "sweeps"));
        }
        gbsi_page_put(page, ". Do not trust a run of this scan that is not much longer.</p>\n");
        return;
    }
    begin_sentence(page, row, "!", "doubt", "No proof.");
    gbsi_page_put(page, "all ");
    put_count(page, row, "pairs");
    gbsi_page_put(page, " pairs of chains met, the last pair after ");
    put_count(page, row, "longest");
    gbsi_page_put(page, passes_word(page, row, "longest"));
    gbsi_page_put(page, ". Longer runs may be right, but pairs that begin in one mode meet at "
                        "once even if chains never reach another mode.</p>\n");
}

/* Writes an estimate of at most 1. */
static void put_estimate(gbsi_page *page, const gbsi_json *row, const char *name, const char *error)
{
    const double value = gbsi_page_real(page, row, name);
    const bool at_least = gbsi_page_is(page, row, "at_least");
    gbsi_page_put(page, "<td>");
    gbsi_page_put(page, at_least && value < 1.0 ? "at least " : "");
    gbsi_page_number(page, value < 1.0 ? value : 1.0, 3);
    if (!at_least && value < 1.0) {
        gbsi_page_put(page, " ± ");
        gbsi_page_number(page, gbsi_page_real(page, row, error), 2);
    }
    gbsi_page_put(page, "</td>");
}

static void begin_table(gbsi_page *page, const char *caption, const char *heads)
{
    gbsi_put(page->out,
             "<div class=\"scroll\" role=\"region\" aria-label=\"%s\" tabindex=\"0\">\n<table>\n"
             "<caption>%s</caption>\n<thead><tr><th scope=\"col\">Scan</th><th scope=\"col\">"
             "Variables</th>%s</tr></thead>\n<tbody>\n",
             caption, caption, heads);
}

/* Begins a row with the scan, the variables and a number of passes or updates. */
static void begin_row(gbsi_page *page, const gbsi_json *row, const char *length)
{
    const char *scan = gbsi_page_string(page, row, "scan");
    const char *target = gbsi_page_string(page, row, "target");
    gbsi_page_put(page, "<tr><th scope=\"row\">");
    gbsi_page_text(page, scan == NULL ? "" : scan);
    gbsi_page_put(page, "</th><td>");
    gbsi_page_text(page, target == NULL ? "" : target);
    gbsi_page_put(page, "</td><td>");
    put_count(page, row, length);
    gbsi_page_put(page, "</td>");
}

static void end_table(gbsi_page *page)
{
    gbsi_page_put(page, "</tbody>\n</table>\n</div>\n");
}

static bool has_scan(gbsi_page *page, const gbsi_json *row, const char *scan)
{
    const char *own = gbsi_page_string(page, row, "scan");
    return own != NULL && scan != NULL && strcmp(own, scan) == 0;
}

static void put_couplings(gbsi_page *page, const gbsi_json *rows)
{
    const gbsi_json *before = NULL;
    gbsi_page_put(page,
                  "<section>\n<h3>Do coupled chains meet?</h3>\n<p class=\"note\">In a pair, "
                  "one chain is ahead of the other, and both draw their values together. How "
                  "long pairs stay apart bounds how far chains are from their target, in total "
                  "variation.</p>\n");
    for (const gbsi_json *row = gbsi_json_first(rows); row != NULL;
         row = gbsi_json_next(rows, row)) {
        if (before == NULL || !has_scan(page, row, gbsi_page_string(page, before, "scan"))) {
            put_pairs(page, row);
        }
        before = row;
    }
    begin_table(page, "Distance from the target after so many passes, estimated from pairs",
                "<th scope=\"col\">Passes</th><th scope=\"col\">All together, at most</th>"
                "<th scope=\"col\">Any one variable, at most</th>");
    for (const gbsi_json *row = gbsi_json_first(rows); row != NULL;
         row = gbsi_json_next(rows, row)) {
        begin_row(page, row, "passes");
        put_estimate(page, row, "joint", "joint_mcse");
        put_estimate(page, row, "variable", "variable_mcse");
        gbsi_page_put(page, "</tr>\n");
    }
    end_table(page);
    gbsi_page_put(page, "</section>\n");
}

/* ---- proved bounds --------------------------------------------------------------------------- */

static void put_variation(gbsi_page *page, const gbsi_json *rows)
{
    begin_table(page, "Distance from the target after so many updates, proved",
                "<th scope=\"col\">Updates</th><th scope=\"col\">Total variation, at most</th>");
    for (const gbsi_json *row = gbsi_json_first(rows); row != NULL;
         row = gbsi_json_next(rows, row)) {
        begin_row(page, row, "steps");
        gbsi_page_put(page, "<td>");
        gbsi_page_number(page, gbsi_page_real(page, row, "total_variation_at_most"), 3);
        gbsi_page_put(page, "</td></tr>\n");
    }
    end_table(page);
}

/* Writes whether some number of passes is proved to suffice for the accuracy that was asked for. */
static void put_accuracy(gbsi_page *page, const gbsi_json *row)
{
    const bool certified = gbsi_page_is(page, row, "certified");
    const char *target = gbsi_page_string(page, row, "target");
    begin_sentence(page, row, certified ? "✓" : "!", certified ? "good" : "doubt",
                   certified ? "Proved." : "Not proved.");
    if (certified) {
        const bool is_one = gbsi_page_real(page, row, "passes") == 1.0;
        put_count(page, row, "passes");
        gbsi_page_put(page, passes_word(page, row, "passes"));
        gbsi_page_put(page, is_one ? " brings" : " bring");
        gbsi_page_put(page, " the variation of the variables “");
    } else {
        gbsi_page_put(page,
                      "no number of passes is proved to bring the variation of the variables “");
    }
    gbsi_page_text(page, target == NULL ? "" : target);
    gbsi_page_put(page, "” to at most ");
    gbsi_page_number(page, gbsi_page_real(page, row, "accuracy"), 3);
    gbsi_page_put(page, ".</p>\n");
}

void gbsi_page_certify(gbsi_page *page, const gbsi_json *certify)
{
    const gbsi_json *influences = gbsi_page_object(page, certify, "influences");
    const gbsi_json *variation = gbsi_page_array(page, certify, "variation");
    const gbsi_json *accuracy = gbsi_page_array(page, certify, "accuracy");
    const gbsi_json *couplings = gbsi_page_array(page, certify, "couplings");
    for (const gbsi_json *row = gbsi_json_first(accuracy); row != NULL;
         row = gbsi_json_next(accuracy, row)) {
        put_accuracy(page, row);
    }
    gbsi_page_put(page, "<dl class=\"figures-in-words\">\n");
    gbsi_page_fact_count(page, "Free variables", gbsi_page_digits(page, influences, "free"));
    gbsi_page_fact_real(page,
                        "Largest sum of influences on a variable; a proof needs less than 1 or "
                        "a small spectral radius",
                        gbsi_page_real(page, influences, "largest_sum"));
    gbsi_page_put(page, "</dl>\n");
    if (couplings != NULL && couplings->n > 0) {
        put_couplings(page, couplings);
    }
    if (variation != NULL && variation->n > 0) {
        gbsi_page_put(page, "<section>\n<h3>What is proved</h3>\n");
        put_variation(page, variation);
        gbsi_page_put(page, "</section>\n");
    }
    gbsi_page_repeat(page, certify, gbsi_page_string(page, certify, "model"));
}
