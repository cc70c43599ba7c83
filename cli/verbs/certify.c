/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite certify: variations of scans, as text or JSON. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gibbsite/dobrushin.h"
#include "job/job.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

enum { MOST_SCANS = 3, MOST_STEPS = 64, TITLE = 26 };

typedef struct target {
    const char *text;
    double *weight; /* [n_variables] weights of a target, owned; NULL: all variables */
} target;

/* The question and its answers; arrays by scan, then by step, then by target. */
typedef struct certificates {
    cli_job *job;
    gbs_influences *influences;
    gbs_influence_norms norms;
    target *target;
    size_t n_targets, n_scans, n_steps;
    gbs_run_options options[MOST_SCANS];
    const char *scan[MOST_SCANS];
    uint64_t length[MOST_SCANS]; /* numbers of updates in a pass, by scan */
    uint64_t steps[MOST_SCANS][MOST_STEPS];
    gbs_variation_bound *bound;
    gbs_sufficient *within; /* answers to --accuracy */
    size_t n_coupled; /* with --couplings: number of scans for which pairs of chains were run */
    size_t n_times;   /* length of the list of numbers of passes for which pairs give bounds */
    uint64_t times[MOST_SCANS][MOST_STEPS];
    gbs_coupling_bound
        *coupled; /* bounds from pairs, by scan, then by number of passes, then by target */
    gbs_coupling_report pairs[MOST_SCANS];
} certificates;

static const uint64_t usual_passes[] = {1, 2, 5, 10, 20, 50, 100};
enum { N_USUAL = sizeof usual_passes / sizeof *usual_passes };

/* ---- what is asked ----------------------------------------------------------------------- */

static int take_targets(certificates *c)
{
    const cli_arguments *arguments = c->job->arguments;
    int status = cli_check_grid(c->job);
    if (status != CLI_DONE) {
        return status;
    }
    c->target = calloc((size_t)arguments->n_targets + 1, sizeof *c->target);
    CLI_PASS(CLI_HAVE(c->target));
    c->target[c->n_targets++].text = "all";
    for (int k = 0; status == CLI_DONE && k < arguments->n_targets; k++) {
        if (strcmp(arguments->target[k], "all") != 0) {
            target *t = &c->target[c->n_targets++];
            t->text = arguments->target[k];
            status = cli_target(c->job, t->text, &t->weight);
        }
    }
    return status;
}

static void take_scans(certificates *c)
{
    static const struct {
        int kind;
        const char *name;
    } usual[MOST_SCANS] = {{GBS_SCAN_CHROMATIC, "chromatic"},
                           {GBS_SCAN_SYSTEMATIC, "systematic"},
                           {GBS_SCAN_RANDOM, "random"}};
    const cli_arguments *arguments = c->job->arguments;
    const int typed = cli_given(arguments, "scan") && arguments->run.scan != GBS_SCAN_USUAL;
    for (size_t k = 0; k < MOST_SCANS; k++) {
        if (!typed || arguments->run.scan == usual[k].kind) {
            c->scan[c->n_scans] = usual[k].name;
            c->options[c->n_scans] = c->job->options;
            if (!typed && usual[k].kind != GBS_SCAN_SYSTEMATIC) {
                c->options[c->n_scans].origin = 0;
            }
            c->options[c->n_scans++].scan = usual[k].kind;
        }
    }
    if (c->n_scans == 0) {
        const gbs_option *row = gbs_option_find("scan");
        const gbs_choice *choice = NULL;
        for (size_t k = 0; (choice = gbs_option_choice(row, k)) != NULL; k++) {
            c->scan[0] = choice->number == arguments->run.scan ? choice->name : c->scan[0];
        }
        c->scan[0] = arguments->scan_file != NULL ? arguments->scan_file : c->scan[0];
        c->options[0] = c->job->options;
        c->n_scans = 1;
    }
}

static int parse_steps(const char *text, uint64_t *steps, size_t *n)
{
    char part[32];
    *n = 0;
    while (*n < MOST_STEPS) {
        const size_t length = strcspn(text, ",");
        if (length >= sizeof part) {
            return 0;
        }
        memcpy(part, text, length);
        part[length] = '\0';
        if (!cli_parse_uint(part, &steps[*n]) || (*n > 0 && steps[*n] < steps[*n - 1])) {
            return 0;
        }
        ++*n;
        if (text[length] == '\0') {
            return 1;
        }
        text += length + 1;
    }
    return 0;
}

static int take_steps(certificates *c)
{
    const cli_arguments *arguments = c->job->arguments;
    gbs_error err = {GBS_OK, ""};
    if (arguments->steps == NULL && !cli_given(arguments, "accuracy")) {
        c->n_steps = N_USUAL;
    }
    for (size_t s = 0; s < c->n_scans; s++) {
        const gbs_status done = gbs_pass_length(c->influences, &c->options[s], &c->length[s], &err);
        if (done < 0) {
            return cli_fail(done, &err);
        }
        if (arguments->steps != NULL && !parse_steps(arguments->steps, c->steps[s], &c->n_steps)) {
            return cli_error(CLI_USAGE,
                             "--steps %s: expected up to %d ascending numbers, ',' "
                             "between",
                             arguments->steps, MOST_STEPS);
        }
        for (size_t k = 0; arguments->steps == NULL && k < c->n_steps; k++) {
            c->steps[s][k] = usual_passes[k] * c->length[s];
        }
    }
    return CLI_DONE;
}

/* @return [n_targets] the weights of each target; the caller frees the array. NULL: out of
 * memory. */
static const double **weights_of(const certificates *c)
{
    const double **weight = calloc(c->n_targets + 1, sizeof *weight);
    for (size_t t = 0; weight != NULL && t < c->n_targets; t++) {
        weight[t] = c->target[t].weight;
    }
    return weight;
}

static int take_answers(certificates *c)
{
    const cli_arguments *arguments = c->job->arguments;
    gbs_error err = {GBS_OK, ""};
    gbs_status done = GBS_OK;
    const size_t n_rows = c->n_steps * c->n_targets;
    const double **weight = weights_of(c);
    c->bound = calloc(c->n_scans * n_rows + 1, sizeof *c->bound);
    c->within = calloc(c->n_scans * c->n_targets + 1, sizeof *c->within);
    if (weight == NULL || c->bound == NULL || c->within == NULL) {
        free(weight);
        return cli_error(CLI_FAILED, "out of memory");
    }
    size_t s = 0;
    for (; done >= 0 && s < c->n_scans; s++) {
        done = gbs_variation(c->influences, &c->options[s], c->n_targets, weight, c->n_steps,
                             c->steps[s], c->bound + s * n_rows, &err);
        for (size_t t = 0; done >= 0 && cli_given(arguments, "accuracy") && t < c->n_targets; t++) {
            done =
                gbs_variation_within(c->influences, &c->options[s], weight[t], arguments->accuracy,
                                     &c->within[s * c->n_targets + t], &err);
        }
    }
    free(weight);
    const int status = done < 0 ? cli_fail(done, &err) : CLI_DONE;
    if (status == CLI_STOPPED) {
        c->n_scans = s - 1; /* the scan that was stopped has no result */
    }
    return status;
}

/* Computes the numbers of whole passes in the numbers of updates of --steps. */
static void take_times(certificates *c)
{
    c->n_times = c->job->arguments->steps == NULL ? N_USUAL : c->n_steps;
    for (size_t s = 0; s < c->n_scans; s++) {
        for (size_t k = 0; k < c->n_times; k++) {
            c->times[s][k] = c->job->arguments->steps == NULL ? usual_passes[k]
                             : c->length[s] == 0              ? 0
                                                              : c->steps[s][k] / c->length[s];
        }
    }
}

static int take_couplings(certificates *c)
{
    const cli_arguments *arguments = c->job->arguments;
    const gbs_coupling_request request = {.size = sizeof request,
                                          .pairs = arguments->couplings,
                                          .lag = arguments->lag,
                                          .sweeps = arguments->most_sweeps};
    gbs_error err = {GBS_OK, ""};
    gbs_status done = GBS_OK;
    take_times(c);
    const size_t n_rows = c->n_times * c->n_targets;
    const double **weight = weights_of(c);
    c->coupled = calloc(c->n_scans * n_rows + 1, sizeof *c->coupled);
    for (size_t s = 0; weight != NULL && c->coupled != NULL && done == GBS_OK && s < c->n_scans;
         s++) {
        c->pairs[s].size = sizeof c->pairs[s];
        done = gbs_couple(c->influences, &c->options[s], &request, c->n_targets, weight, c->n_times,
                          c->times[s], c->coupled + s * n_rows, NULL, &c->pairs[s], &err);
        c->n_coupled += done >= 0;
    }
    const int had = weight != NULL && c->coupled != NULL;
    free(weight);
    return !had                  ? cli_error(CLI_FAILED, "out of memory")
           : done < 0            ? cli_fail(done, &err)
           : done == GBS_STOPPED ? CLI_STOPPED
                                 : CLI_DONE;
}

/* ---- text -------------------------------------------------------------------------------- */

static void text_influences(gbs_output *output, const certificates *c)
{
    const gbs_influence_report *r = gbs_influences_report(c->influences);
    const gbs_influence_norms *norms = &c->norms;
    cli_put_line(output, TITLE, "free variables", "%" PRIu32 " of %" PRIu32, r->n_free,
                 r->n_variables);
    cli_put_line(output, TITLE, "influences", "%" PRIu64, r->n_entries);
    cli_put_line(output, TITLE, "  found by", "%s",
                 c->job->arguments->influences != NULL ? c->job->arguments->influences
                 : r->n_exact == r->n_free             ? "enumeration"
                 : r->n_exact == 0                     ? "bounds"
                                   : "enumeration where neighbours are few, else bounds");
    cli_put_line(output, TITLE, "  largest sum of a row", "%.6g", r->largest_sum);
    cli_put_line(output, TITLE, "  mean sum", "%.6g", r->mean_sum);
    cli_put_line(output, TITLE, "  2-norm", "%.6g to %.6g", norms->two_lo, norms->two_hi);
    cli_put_line(output, TITLE, "  spectral radius", "%.6g to %.6g", norms->radius_lo,
                 norms->radius_hi);
    cli_put_line(output, TITLE, "Dobrushin's condition", "%s",
                 r->largest_sum < 1.0 ? "holds: every scan forgets its start" : "not shown");
    cli_put_line(output, TITLE, "certificates", "%s",
                 norms->radius_hi < 1.0 ? "for any accuracy: the radius is below 1"
                 : norms->radius_lo < 1.0
                     ? "not decided: the radius is near 1"
                     : "no variation of all variables goes to 0: the radius is 1 or more");
}

/* Widths of the columns of the table; 0: the column is left out. */
typedef struct layout {
    int scan, target, steps, passes, variation, most;
    const char *value; /* format of a variation */
} layout;

static int columns_of(const layout *l)
{
    return l->scan + 1 + l->target + 1 + l->steps + 1 + (l->passes > 0 ? l->passes + 1 : 0) +
           l->variation + (l->most > 0 ? l->most + 1 : 0);
}

/* Chooses the columns: on a narrow terminal, first columns are made narrow, then the passes are
 * left out, then the column "at most" (the variation, but at most 1). */
static layout lay_out(const certificates *c)
{
    const layout wide = {.scan = 12,
                         .target = 16,
                         .steps = 12,
                         .passes = 12,
                         .variation = 12,
                         .most = 12,
                         .value = "%.6g"};
    layout l = {.scan = 10,
                .target = 6,
                .steps = 9,
                .passes = 9,
                .variation = 11,
                .most = 11,
                .value = "%.5g"};
    const int width = cli_line_width();
    if (columns_of(&wide) <= width) {
        return wide;
    }
    for (size_t t = 0; t < c->n_targets; t++) {
        const int n = cli_columns_of(c->target[t].text);
        l.target = n > l.target ? n : l.target;
    }
    l.passes = columns_of(&l) > width ? 0 : l.passes;
    l.most = columns_of(&l) > width ? 0 : l.most;
    const int over = columns_of(&l) - width;
    if (over > 0) {
        l.target = l.target - over > 6 ? l.target - over : 6;
    }
    return l;
}

static void put_cell(gbs_output *output, int width, const char *format, double value)
{
    char text[32];
    if (width > 0) {
        (void)snprintf(text, sizeof text, format, value);
        gbsi_output_text(output, " ");
        cli_put_right(output, text, width);
    }
}

static void put_words(gbs_output *output, const layout *l, const char *scan, const char *of)
{
    cli_put_column(output, scan, l->scan);
    gbsi_output_text(output, " ");
    cli_put_column(output, of, l->target);
}

static void put_title(gbs_output *output, int width, const char *title)
{
    if (width > 0) {
        gbsi_output_text(output, " ");
        cli_put_right(output, title, width);
    }
}

static void text_steps(gbs_output *output, const certificates *c)
{
    const layout l = lay_out(c);
    gbsi_output_text(output, "\n");
    put_words(output, &l, "scan", "target");
    put_title(output, l.steps, "steps");
    put_title(output, l.passes, "passes");
    put_title(output, l.variation, "variation");
    put_title(output, l.most, "at most");
    gbsi_output_text(output, "\n");
    for (size_t s = 0; s < c->n_scans; s++) {
        for (size_t k = 0; k < c->n_steps; k++) {
            for (size_t t = 0; t < c->n_targets; t++) {
                const gbs_variation_bound *b = &c->bound[(s * c->n_steps + k) * c->n_targets + t];
                const double steps = (double)c->steps[s][k];
                put_words(output, &l, c->scan[s], c->target[t].text);
                put_cell(output, l.steps, "%.0f", steps);
                put_cell(output, l.passes, "%.6g",
                         c->length[s] == 0 ? 0.0 : steps / (double)c->length[s]);
                put_cell(output, l.variation, l.value, b->variation);
                put_cell(output, l.most, l.value, b->total_variation);
                gbsi_output_text(output, "\n");
            }
        }
    }
}

static void text_within(gbs_output *output, const certificates *c)
{
    char title[64];
    const layout l = lay_out(c);
    const int width = cli_line_width();
    const int first = l.scan + l.target + 2;
    (void)snprintf(title, sizeof title, " passes until the variation is at most %g",
                   c->job->arguments->accuracy);
    gbsi_output_text(output, "\n");
    put_words(output, &l, "scan", "target");
    cli_put_hanging(output, title, first - 1, first, width);
    for (size_t s = 0; s < c->n_scans; s++) {
        for (size_t t = 0; t < c->n_targets; t++) {
            const gbs_sufficient *w = &c->within[s * c->n_targets + t];
            char text[256];
            if (w->found) {
                (void)snprintf(text, sizeof text, " %" PRIu64 " (%" PRIu64 " step%s: %.6g)",
                               w->passes, w->steps, gbsi_plural(w->steps), w->value);
            } else {
                (void)snprintf(text, sizeof text,
                               " no certificate: %.6g after %" PRIu64 " and no longer falling, or "
                               "too slowly",
                               w->value, w->passes);
            }
            put_words(output, &l, c->scan[s], c->target[t].text);
            cli_put_hanging(output, text, first - 1, first, width);
        }
    }
}

static int all_met(const gbs_coupling_report *pairs)
{
    return pairs->met == pairs->pairs;
}

/* Writes an estimate, at most 1, with its error; writes "at least" if some pairs did not meet. */
static void put_estimate(gbs_output *output, const gbs_coupling_report *pairs, double value,
                         double error)
{
    char text[64];
    if (value >= 1.0) {
        (void)snprintf(text, sizeof text, "1");
    } else if (all_met(pairs)) {
        (void)snprintf(text, sizeof text, "%.3g +- %.2g", value, error);
    } else {
        (void)snprintf(text, sizeof text, "at least %.3g", value);
    }
    gbsi_output_text(output, " ");
    cli_put_right(output, text, 18);
}

static void text_coupled(gbs_output *output, const certificates *c, const layout *l, size_t s)
{
    for (size_t row = 0; row < c->n_times * c->n_targets; row++) {
        const gbs_coupling_bound *b = &c->coupled[s * c->n_times * c->n_targets + row];
        const size_t time = row / c->n_targets;
        put_words(output, l, c->scan[s], c->target[row % c->n_targets].text);
        put_cell(output, 8, "%.0f", (double)c->times[s][time]);
        put_estimate(output, &c->pairs[s], b->joint, b->joint_mcse);
        put_estimate(output, &c->pairs[s], b->variable, b->variable_mcse);
        gbsi_output_text(output, "\n");
    }
}

/* Writes the conclusion from the pairs of a scan. The only possible conclusion is that chains
 * need more passes. */
static void text_pairs(gbs_output *output, const certificates *c, size_t s)
{
    const gbs_coupling_report *p = &c->pairs[s];
    char text[320];
    char mean[32];
    (void)snprintf(mean, sizeof mean, "%.3g", p->mean);
    if (all_met(p)) {
        (void)snprintf(text, sizeof text,
                       "all %" PRIu64
                       " pairs of chains met, after %s pass%s on average and %" PRIu64
                       " at most (lag %" PRIu64 "). Longer runs may be right, but this "
                       "proves nothing: pairs that begin in one mode meet at once",
                       p->pairs, mean, strcmp(mean, "1") == 0 ? "" : "es", p->longest, p->lag);
    } else {
        (void)snprintf(text, sizeof text,
                       "no: %" PRIu64 " of %" PRIu64 " pairs of chains did not meet within %" PRIu64
                       " passes (lag %" PRIu64
                       "). Do not trust runs of this scan that are not much "
                       "longer",
                       p->pairs - p->met, p->pairs, p->sweeps, p->lag);
    }
    cli_put_column(output, c->scan[s], TITLE);
    gbsi_output_text(output, " ");
    cli_put_hanging(output, text, TITLE + 1, TITLE + 1, cli_line_width());
}

static void text_couplings(gbs_output *output, const certificates *c)
{
    layout l = lay_out(c);
    const int over = l.scan + l.target + 2 + 9 + 19 + 19 - cli_line_width();
    l.target = over <= 0 ? l.target : l.target - over > 6 ? l.target - over : 6;
    gbsi_output_text(output, "\n");
    put_words(output, &l, "coupled", "target");
    put_title(output, 8, "passes");
    put_title(output, 18, "joint, at most");
    put_title(output, 18, "a variable");
    gbsi_output_text(output, "\n");
    for (size_t s = 0; s < c->n_coupled; s++) {
        text_coupled(output, c, &l, s);
    }
    gbsi_output_text(output, "\n");
    for (size_t s = 0; s < c->n_coupled; s++) {
        text_pairs(output, c, s);
    }
}

static void write_text(gbs_output *output, const certificates *c)
{
    text_influences(output, c);
    if (c->n_steps > 0) {
        text_steps(output, c);
    }
    if (cli_given(c->job->arguments, "accuracy")) {
        text_within(output, c);
    }
    if (c->n_coupled > 0) {
        text_couplings(output, c);
    }
}

/* ---- JSON -------------------------------------------------------------------------------- */

static void json_real(gbs_output *output, const char *key, double value)
{
    gbsi_output_text(output, ", ");
    gbsi_output_json_string(output, key);
    gbsi_output_text(output, ": ");
    gbsi_output_json_double(output, value);
}

static void json_uint(gbs_output *output, const char *key, uint64_t value)
{
    gbsi_output_text(output, ", ");
    gbsi_output_json_string(output, key);
    gbsi_output_text(output, ": ");
    gbsi_output_uint(output, value);
}

static void json_row(gbs_output *output, const certificates *c, size_t s, size_t t, int *n)
{
    gbsi_output_text(output, (*n)++ > 0 ? ",\n    {\"scan\": " : "\n    {\"scan\": ");
    gbsi_output_json_string(output, c->scan[s]);
    gbsi_output_text(output, ", \"target\": ");
    gbsi_output_json_string(output, c->target[t].text);
}

static void json_influences(gbs_output *output, const certificates *c)
{
    const gbs_influence_report *r = gbs_influences_report(c->influences);
    cli_json_head(output, "certify/1", gbs_model_digest(c->job->model));
    gbsi_output_text(output, ",\n  \"influences\": {\"variables\": ");
    gbsi_output_uint(output, r->n_variables);
    json_uint(output, "free", r->n_free);
    json_uint(output, "entries", r->n_entries);
    json_uint(output, "enumerated_rows", r->n_exact);
    json_uint(output, "refused_rows", r->n_refused);
    json_uint(output, "given", r->n_given);
    json_real(output, "largest_sum", r->largest_sum);
    json_real(output, "mean_sum", r->mean_sum);
    json_real(output, "two_norm_low", c->norms.two_lo);
    json_real(output, "two_norm_high", c->norms.two_hi);
    json_real(output, "radius_low", c->norms.radius_lo);
    json_real(output, "radius_high", c->norms.radius_hi);
    gbsi_output_text(output, ", \"dobrushin_condition\": ");
    gbsi_output_text(output, r->largest_sum < 1.0 ? "true}" : "false}");
}

/* Writes estimates without change, even if they are above 1. */
static void json_couplings(gbs_output *output, const certificates *c)
{
    int n = 0;
    const size_t n_rows = c->n_times * c->n_targets;
    gbsi_output_text(output, ",\n  \"couplings\": [");
    for (size_t row = 0; row < c->n_coupled * n_rows; row++) {
        const size_t s = row / n_rows;
        const gbs_coupling_bound *b = &c->coupled[row];
        json_row(output, c, s, row % c->n_targets, &n);
        json_uint(output, "passes", c->times[s][row % n_rows / c->n_targets]);
        json_uint(output, "pairs", c->pairs[s].pairs);
        json_uint(output, "met", c->pairs[s].met);
        json_uint(output, "lag", c->pairs[s].lag);
        json_uint(output, "sweeps", c->pairs[s].sweeps);
        json_uint(output, "longest", c->pairs[s].longest);
        gbsi_output_text(output,
                         all_met(&c->pairs[s]) ? ", \"at_least\": false" : ", \"at_least\": true");
        json_real(output, "joint", b->joint);
        json_real(output, "joint_mcse", b->joint_mcse);
        json_real(output, "variable", b->variable);
        json_real(output, "variable_mcse", b->variable_mcse);
        if (b->worst != UINT32_MAX) {
            json_uint(output, "worst_variable", b->worst);
        }
        gbsi_output_text(output, "}");
    }
    gbsi_output_text(output, "]");
}

static void write_json(gbs_output *output, const certificates *c)
{
    int n = 0;
    json_influences(output, c);
    gbsi_output_text(output, ",\n  \"variation\": [");
    for (size_t s = 0; s < c->n_scans; s++) {
        for (size_t row = 0; row < c->n_steps * c->n_targets; row++) {
            const gbs_variation_bound *b = &c->bound[s * c->n_steps * c->n_targets + row];
            json_row(output, c, s, row % c->n_targets, &n);
            json_uint(output, "steps", c->steps[s][row / c->n_targets]);
            json_uint(output, "pass_length", c->length[s]);
            json_real(output, "variation", b->variation);
            json_real(output, "functions_at_most", b->functions);
            json_real(output, "total_variation_at_most", b->total_variation);
            gbsi_output_text(output, "}");
        }
    }
    gbsi_output_text(output, "],\n  \"accuracy\": [");
    n = 0;
    for (size_t row = 0;
         cli_given(c->job->arguments, "accuracy") && row < c->n_scans * c->n_targets; row++) {
        const gbs_sufficient *w = &c->within[row];
        json_row(output, c, row / c->n_targets, row % c->n_targets, &n);
        json_real(output, "accuracy", c->job->arguments->accuracy);
        gbsi_output_text(output, w->found ? ", \"certified\": true" : ", \"certified\": false");
        json_uint(output, "passes", w->passes);
        json_uint(output, "steps", w->steps);
        json_real(output, "variation", w->value);
        gbsi_output_text(output, "}");
    }
    gbsi_output_text(output, "]");
    if (cli_given(c->job->arguments, "couplings")) {
        json_couplings(output, c);
    }
    gbsi_output_text(output, "\n}\n");
}

/* ---- the verb ---------------------------------------------------------------------------- */

static int answer(certificates *c)
{
    CLI_PASS(take_targets(c));
    take_scans(c);
    CLI_PASS(cli_influences(c->job, &c->influences));
    gbs_error err = {GBS_OK, ""};
    const gbs_status done = gbs_influences_norms(c->influences, &c->norms, &err);
    CLI_PASS(done < 0 ? cli_fail(done, &err) : CLI_DONE);
    CLI_PASS(take_steps(c));
    CLI_PASS(take_answers(c));
    return cli_given(c->job->arguments, "couplings") ? take_couplings(c) : CLI_DONE;
}

static void write_answer(gbs_output *output, const void *context)
{
    const certificates *c = context;
    (cli_wants_json(c->job->arguments) ? write_json : write_text)(output, c);
}

static void certificates_free(certificates *c)
{
    for (size_t t = 0; c->target != NULL && t < c->n_targets; t++) {
        free(c->target[t].weight);
    }
    free(c->target);
    free(c->bound);
    free(c->within);
    free(c->coupled);
    gbs_influences_free(c->influences);
}

static int run_certify(cli_arguments *arguments)
{
    cli_job job;
    certificates c;
    memset(&job, 0, sizeof job);
    memset(&c, 0, sizeof c);
    c.job = &job;
    int status = CLI_DONE;
    CLI_TRY(cli_check_output(arguments->output));
    CLI_TRY(cli_load(&job, arguments, arguments->operand[0]));
    CLI_TRY(answer(&c));

cleanup:
    if (status == CLI_DONE || (status == CLI_STOPPED && c.bound != NULL && c.n_scans > 0)) {
        const int written = cli_write(job.output != NULL ? job.output : "-", write_answer, &c);
        if (status == CLI_STOPPED) {
            cli_note(arguments, "only what was found before is written");
        }
        status = written == CLI_DONE ? status : written;
    }
    certificates_free(&c);
    cli_job_free(&job);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/certify.def"
};

const cli_verb cli_verb_certify = {
    .name = "certify",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "MODEL",
    .what = "bounds on the error of a scan after so many updates",
    .notes = "Bounds the total variation distance from the target distribution, whatever the\n"
             "start, and finds how many passes suffice for --accuracy: for the chromatic, the\n"
             "systematic and the random scan, or the one given by --scan. A scan without a\n"
             "certificate is a valid result: the exit status is 0. --couplings M also runs M\n"
             "pairs of chains that meet, and estimates from them what no certificate bounds.\n",
    .example = "gibbsite certify examples/grid.uai --target 0 --accuracy 0.01\n"
               "gibbsite certify examples/grid.uai --scan systematic --steps 9,18 --json\n"
               "gibbsite certify examples/grid.uai --scan systematic --couplings 100\n",
    .run = run_certify,
};
