/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the part of the page about the run: its verdict and figures, the question, the method,
 * and the command that repeats the run. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "chart/chart_pen.h"
#include "report/page.h"

/* ---- the verdict ----------------------------------------------------------------------------- */

/* Writes a verdict such as "converged: R-hat 1.0001": the word, then the text behind it, which
 * gets a capital letter. */
void gbsi_page_verdict(gbsi_page *page, const gbsi_json *run)
{
    const char *verdict = gbsi_page_string(page, run, "verdict");
    const bool converged = gbsi_page_is(page, run, "converged");
    const bool disagree = gbsi_page_is(page, run, "chains_disagree");
    const char *rest = verdict == NULL ? "" : verdict;
    const char *word = converged ? "converged" : "not converged";
    const size_t n = strlen(word);
    if (strncmp(rest, word, n) == 0) {
        rest += n + (rest[n] == ':');
        rest += *rest == ' ';
    }
    const bool lower = *rest >= 'a' && *rest <= 'z';
    const char first[2] = {lower ? (char)(*rest - 'a' + 'A') : '\0', '\0'};
    gbsi_put(page->out,
             "<p class=\"verdict %s\"><span class=\"mark\" aria-hidden=\"true\">%s</span><strong>%s"
             "</strong> ",
             converged  ? "good"
             : disagree ? "bad"
                        : "doubt",
             converged  ? "✓"
             : disagree ? "✗"
                        : "!",
             converged ? "Converged." : "Not converged.");
    gbsi_page_text(page, first);
    gbsi_page_text(page, rest + lower);
    gbsi_page_put(page, "</p>\n");
}

static void put_figures(gbsi_page *page, const gbsi_json *run)
{
    const gbsi_json *options = gbsi_page_object(page, run, "options");
    const double target = gbsi_page_real(page, options, "target_error");
    const double error = gbsi_page_real(page, run, "max_mcse");
    const double rhat = gbsi_page_real(page, run, "max_rhat");
    const char *chains = gbsi_page_digits(page, run, "chains");
    const char *method = gbsi_page_string(page, run, "method");
    gbsi_page_put(page, "<dl class=\"figures-in-words\">\n");
    gbsi_page_fact(page, "Answered", method);
    if (isfinite(error)) {
        gbsi_page_term(page, gbsi_page_is(page, run, "chains_disagree")
                                 ? "Largest error within chains, not reliable"
                                 : "Largest standard error");
        gbsi_page_number(page, error, 2);
        if (isfinite(target)) {
            gbsi_page_put(page, " <small>target ");
            gbsi_page_number(page, target, 2);
            gbsi_page_put(page, "</small>");
        }
        gbsi_page_put(page, "</dd></div>\n");
    }
    if (isfinite(rhat)) {
        gbsi_page_term(page, "Largest R-hat");
        gbsi_page_fixed(page, rhat, 4);
        gbsi_page_put(page, "</dd></div>\n");
    }
    gbsi_page_fact_real(page, "Smallest ESS", gbsi_page_real(page, run, "min_ess"));
    if (chains != NULL && gbsi_page_real(page, run, "sweeps") > 0.0) {
        gbsi_page_term(page, "Chains × sweeps");
        gbsi_page_count(page, chains);
        gbsi_page_put(page, " × ");
        gbsi_page_count(page, gbsi_page_digits(page, run, "sweeps"));
        gbsi_page_put(page, "</dd></div>\n");
    }
    gbsi_page_fact_real(page, "ln P(evidence)", gbsi_page_real(page, run, "log_p_evidence"));
    if (!isfinite(gbsi_page_real(page, run, "log_p_evidence"))) {
        gbsi_page_fact_real(page, "ln Z", gbsi_page_real(page, run, "log_z"));
    }
    gbsi_page_put(page, "</dl>\n");
}

static void put_warnings(gbsi_page *page, const gbsi_json *run)
{
    const gbsi_json *warnings = gbsi_page_array(page, run, "warnings");
    for (const gbsi_json *w = gbsi_json_first(warnings); w != NULL;
         w = gbsi_json_next(warnings, w)) {
        gbsi_page_put(page, "<p class=\"warning\"><strong>Warning:</strong> ");
        gbsi_page_text(page, w->kind == GBSI_JSON_STRING ? w->text : "");
        gbsi_page_put(page, "</p>\n");
    }
}

/* ---- the question ---------------------------------------------------------------------------- */

static void put_evidence(gbsi_page *page, const gbsi_json *options)
{
    static const struct {
        const char *name, *term;
    } others[] = {{"likelihood", "Likelihoods"},
                  {"virtual_evidence", "Virtual evidence"},
                  {"start", "Start"}};
    gbsi_page_term(page, "Evidence");
    gbsi_page_evidence(page, options);
    gbsi_page_put(page, "</dd></div>\n");
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        gbsi_page_fact(page, others[i].term, gbsi_page_string(page, options, others[i].name));
    }
}

/* Writes the options that were given or have a default; null means that a rule chooses. */
static void put_options(gbsi_page *page, const gbsi_json *options)
{
    gbsi_page_put(page,
                  "<details><summary>All options of the run</summary>\n<dl class=\"facts\">\n");
    for (const gbsi_json *o = gbsi_json_first(options); o != NULL; o = gbsi_json_next(options, o)) {
        const char *value = o->kind == GBSI_JSON_TRUE    ? "yes"
                            : o->kind == GBSI_JSON_FALSE ? "no"
                                                         : o->text;
        if (value == NULL) {
            continue;
        }
        gbsi_page_put(page, "<div><dt>");
        gbsi_page_text(page, o->name);
        gbsi_page_put(page, "</dt><dd>");
        gbsi_page_text(page, value);
        gbsi_page_put(page, "</dd></div>\n");
    }
    gbsi_page_put(page, "</dl></details>\n");
}

static void put_asked(gbsi_page *page, const gbsi_json *run)
{
    const gbsi_json *model = gbsi_page_object(page, run, "model");
    const gbsi_json *options = gbsi_page_object(page, run, "options");
    gbsi_page_put(page, "<section>\n<h3>What was asked</h3>\n<dl class=\"facts\">\n");
    gbsi_page_fact(page, "Model", gbsi_page_string(page, model, "name"));
    gbsi_page_fact_count(page, "Variables", gbsi_page_digits(page, model, "variables"));
    gbsi_page_fact_count(page, "neither observed nor implied",
                         gbsi_page_digits(page, model, "free_variables"));
    gbsi_page_fact_count(page, "Factors", gbsi_page_digits(page, model, "factors"));
    put_evidence(page, options);
    gbsi_page_put(page, "</dl>\n");
    if (options != NULL) {
        put_options(page, options);
    }
    gbsi_page_put(page, "</section>\n");
}

/* ---- the method ------------------------------------------------------------------------------ */

static void put_trial(gbsi_page *page, const gbsi_json *t, bool chosen)
{
    const char *scan = gbsi_page_string(page, t, "scan");
    const char *width = gbsi_page_digits(page, t, "width");
    gbsi_page_put(page,
                  chosen ? "<tr class=\"chosen\"><th scope=\"row\">" : "<tr><th scope=\"row\">");
    gbsi_page_text(page, scan == NULL ? "" : scan);
    if (width != NULL) {
        gbsi_page_put(page, ", width ");
        gbsi_page_count(page, width);
    }
    gbsi_page_put(page, chosen ? " (chosen)</th><td>" : "</th><td>");
    gbsi_page_put(page, gbsi_page_is(page, t, "bound") ? "more than " : "");
    gbsi_page_number(page, gbsi_page_real(page, t, "passes_per_draw"), 3);
    gbsi_page_put(page, "</td><td>");
    gbsi_page_put(page, gbsi_page_is(page, t, "bound") ? "at most " : "");
    gbsi_page_number(page, 1e9 * gbsi_page_real(page, t, "ess_per_operation"), 3);
    gbsi_page_put(page, "</td></tr>\n");
}

static void put_pilot(gbsi_page *page, const gbsi_json *run)
{
    const gbsi_json *pilot = gbsi_page_object(page, run, "pilot");
    const gbsi_json *trials = gbsi_page_array(page, pilot, "trials");
    const char *scan = gbsi_page_string(page, pilot, "scan");
    const char *reason = gbsi_page_string(page, pilot, "reason");
    const double chosen = gbsi_page_real(page, pilot, "chosen");
    double i = 0.0;
    if (pilot == NULL) {
        return;
    }
    gbsi_page_put(page, "<h4>The order of updates</h4>\n<p>Scan <b>");
    gbsi_page_text(page, scan == NULL ? "" : scan);
    gbsi_page_put(page, "</b>: ");
    gbsi_page_text(page, reason == NULL ? "" : reason);
    gbsi_page_put(page, "</p>\n");
    if (trials == NULL || trials->n == 0) {
        return;
    }
    gbsi_page_put(
        page, "<table>\n<caption>What a pilot run tried</caption>\n<thead><tr><th scope=\"col\">"
              "Scan</th><th scope=\"col\">Passes per independent draw</th><th scope=\"col\">"
              "Effective samples in 10<sup>9</sup> operations</th></tr></thead>\n<tbody>\n");
    for (const gbsi_json *t = gbsi_json_first(trials); t != NULL; t = gbsi_json_next(trials, t)) {
        put_trial(page, t, i == chosen);
        i += 1.0;
    }
    gbsi_page_put(page, "</tbody>\n</table>\n");
}

static void put_ladder(gbsi_page *page, const gbsi_json *run)
{
    const gbsi_json *t = gbsi_page_object(page, run, "tempering");
    if (t == NULL) {
        return;
    }
    gbsi_page_put(
        page, "<h4>The ladder of temperatures</h4>\n<p class=\"note\">Each chain is a ladder: "
              "copies at higher temperatures move freely and hand their states down. Many round "
              "trips, and a share of cold states near 1, are good.</p>\n<dl class=\"facts\">\n");
    gbsi_page_fact_count(page, "Temperatures", gbsi_page_digits(page, t, "temperatures"));
    gbsi_page_fact_real(page, "Hottest, as an inverse (coldest: 1)",
                        gbsi_page_real(page, t, "hottest"));
    gbsi_page_fact_real(page, "Barrier: sum of the rejection rates of swaps",
                        gbsi_page_real(page, t, "barrier"));
    gbsi_page_fact_count(page, "Fewest round trips of a ladder",
                         gbsi_page_digits(page, t, "round_trips"));
    gbsi_page_fact_real(page, "Share of cold states without a violated hard zero",
                        gbsi_page_real(page, t, "valid_share"));
    gbsi_page_fact_count(page, "Variables drawn together in an iteration",
                         gbsi_page_digits(page, t, "block_variables"));
    gbsi_page_put(page, "</dl>\n");
}

static void put_lattice(gbsi_page *page, const gbsi_json *run)
{
    static const struct {
        const char *name, *error, *term;
    } rows[] = {{"energy", "energy_mcse", "Energy per spin"},
                {"magnetisation", "magnetisation_mcse", "Magnetisation"},
                {"abs_magnetisation", "abs_magnetisation_mcse", "Absolute magnetisation"}};
    const gbsi_json *lattice = gbsi_page_object(page, run, "lattice");
    if (lattice == NULL) {
        return;
    }
    gbsi_page_put(page, "<h4>The lattice</h4>\n<dl class=\"facts\">\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gbsi_page_term(page, rows[i].term);
        gbsi_page_number(page, gbsi_page_real(page, lattice, rows[i].name), 6);
        gbsi_page_put(page, " ± ");
        gbsi_page_number(page, gbsi_page_real(page, lattice, rows[i].error), 2);
        gbsi_page_put(page, "</dd></div>\n");
    }
    gbsi_page_put(page, "</dl>\n");
}

/* Writes the work of chains, of which exact answers have none. */
static void put_work(gbsi_page *page, const gbsi_json *run)
{
    const char *updates = gbsi_page_digits(page, run, "updates");
    const char *sweeps = gbsi_page_digits(page, run, "sweeps");
    if (sweeps != NULL && strcmp(sweeps, "0") != 0) {
        gbsi_page_fact_count(page, "Sweeps of each chain", sweeps);
        gbsi_page_fact_count(page, "Sweeps thrown away before",
                             gbsi_page_digits(page, run, "burn_in"));
    }
    if (updates != NULL && strcmp(updates, "0") != 0) {
        gbsi_page_fact_count(page, "Updates of variables", updates);
        gbsi_page_fact_real(page, "Updates in a second",
                            gbsi_page_real(page, run, "updates_per_second"));
    }
}

static void put_done(gbsi_page *page, const gbsi_json *run)
{
    gbsi_page_put(page, "<section>\n<h3>How it was done</h3>\n");
    put_pilot(page, run);
    put_ladder(page, run);
    put_lattice(page, run);
    gbsi_page_put(page, "<h4>Work</h4>\n<dl class=\"facts\">\n");
    put_work(page, run);
    gbsi_page_fact_real(page, "Seconds", gbsi_page_real(page, run, "sampling_seconds"));
    gbsi_page_fact_real(page, "Most memory, MiB",
                        gbsi_page_real(page, run, "peak_rss_bytes") / 1048576.0);
    gbsi_page_put(page, "</dl>\n</section>\n");
}

void gbsi_page_repeat(gbsi_page *page, const gbsi_json *run, const char *model)
{
    const char *command = gbsi_page_string(page, run, "command");
    gbsi_page_put(page, "<section>\n<h3>Repeat it</h3>\n");
    if (command != NULL && command[0] != '\0') {
        gbsi_page_put(page, "<pre><code>");
        gbsi_page_text(page, command);
        gbsi_page_put(page, "</code></pre>\n");
    }
    gbsi_page_put(
        page, "<p class=\"note\">The same version, model, evidence, options and number of sweeps "
              "give the same digest on any machine, with any number of threads.</p>\n"
              "<dl class=\"facts\">\n");
    gbsi_page_fact(page, "Version", gbsi_page_string(page, run, "version"));
    gbsi_page_fact(page, "Digest of the model", model);
    gbsi_page_fact(page, "Digest of the result", gbsi_page_string(page, run, "digest"));
    gbsi_page_put(page, "</dl>\n</section>\n");
}

void gbsi_page_run(gbsi_page *page, const gbsi_json *run)
{
    const gbsi_json *marginals = gbsi_page_object(page, run, "marginals");
    gbsi_page_verdict(page, run);
    put_figures(page, run);
    put_warnings(page, run);
    put_asked(page, run);
    if (marginals != NULL) {
        gbsi_page_marginals(page, marginals);
        gbsi_page_convergence(page, marginals);
    }
    gbsi_page_traces(page, gbsi_page_object(page, run, "monitored"));
    put_done(page, run);
    gbsi_page_repeat(page, run,
                     gbsi_page_string(page, gbsi_page_object(page, run, "model"), "digest"));
}
