/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a run as JSON, schema "run/1". The keys have the order of gibbsite-formats(5). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized.h"
#include "chains/run.h"
#include "report/summary.h"

typedef struct summary {
    const gbs_run *run;
    gbs_summary_about about;
} summary;

static void key(gbs_output *output, const char *name)
{
    gbsi_output_text(output, ",\n  ");
    gbsi_output_json_string(output, name);
    gbsi_output_text(output, ": ");
}

static void key_uint(gbs_output *output, const char *name, uint64_t value)
{
    key(output, name);
    gbsi_output_uint(output, value);
}

static void key_real(gbs_output *output, const char *name, double value)
{
    key(output, name);
    gbsi_output_json_double(output, value);
}

static void key_text(gbs_output *output, const char *name, const char *value)
{
    key(output, name);
    gbsi_output_json_string(output, value);
}

/* Writes the value of an option. A special value that left the choice to a rule becomes null;
 * other members of the run have the rule's choice. */
static void option_value(gbs_output *output, const summary *s, const gbs_option *option)
{
    char text[64];
    double real = 0.0;
    uint64_t number = 0;
    if (gbs_option_get(s->about.options, option->name, text, sizeof text, NULL) < 0) {
        text[0] = '\0';
    }
    const int marked = option->word != NULL && strcmp(text, option->word) == 0;
    if (option->kind == GBS_OPTION_KIND_FLAG) {
        gbsi_output_text(output, strcmp(text, "yes") == 0 ? "true" : "false");
    } else if (option->kind == GBS_OPTION_KIND_CHOICE) {
        const int by_file = strcmp(option->name, "scan") == 0 && strcmp(text, "sequence") == 0;
        gbsi_output_json_string(output,
                                by_file && s->about.scan_file != NULL ? s->about.scan_file : text);
    } else if (marked) {
        gbsi_output_text(output, "null");
    } else if (gbs_option_get_real(s->about.options, option->name, &real, NULL) >= 0) {
        gbsi_output_json_double(output, real);
    } else if (gbs_option_get_uint(s->about.options, option->name, &number, NULL) >= 0) {
        gbsi_output_uint(output, number);
    }
}

static void key_optional(gbs_output *output, const char *name, const char *value)
{
    gbsi_output_text(output, ", ");
    gbsi_output_json_string(output, name);
    gbsi_output_text(output, ": ");
    if (value != NULL) {
        gbsi_output_json_string(output, value);
    } else {
        gbsi_output_text(output, "null");
    }
}

static void write_options(gbs_output *output, const summary *s)
{
    const gbs_summary_about *about = &s->about;
    key(output, "options");
    gbsi_output_text(output, "{");
    for (size_t i = 0; i < gbs_option_count(); i++) {
        const gbs_option *option = gbs_option_at(i);
        char name[64];
        (void)snprintf(name, sizeof name, "%s", option->name);
        for (char *at = name; *at != '\0'; at++) {
            *at = *at == '-' ? '_' : *at;
        }
        gbsi_output_text(output, i > 0 ? ", " : "");
        gbsi_output_json_string(output, name);
        gbsi_output_text(output, ": ");
        option_value(output, s, option);
    }
    gbsi_output_text(output, ", \"evidence\": [");
    for (size_t i = 0; i < about->n_evidence; i++) {
        gbsi_output_text(output, i > 0 ? ", " : "");
        gbsi_output_json_string(output, about->evidence[i]);
    }
    gbsi_output_text(output, "], \"evidence_index\": ");
    gbsi_output_uint(output, about->evidence_index);
    key_optional(output, "virtual_evidence", about->virtual_evidence);
    key_optional(output, "likelihood", about->likelihood);
    key_optional(output, "start", about->start);
    gbsi_output_text(output, "}");
}

static void write_model(gbs_output *output, const summary *s)
{
    const gbs_model *model = gbsi_run_user_model(&s->run->task.shared, &s->run->task.problem);
    key(output, "model");
    gbsi_output_text(output, "{\"variables\": ");
    gbsi_output_uint(output, gbs_model_n_variables(model));
    gbsi_output_text(output, ", \"free_variables\": ");
    gbsi_output_uint(output, gbs_run_report(s->run)->n_free_variables);
    if (gbs_run_report(s->run)->n_pruned > 0) {
        gbsi_output_text(output, ", \"pruned\": ");
        gbsi_output_uint(output, gbs_run_report(s->run)->n_pruned);
    }
    if (gbs_run_report(s->run)->n_drawn > 0) {
        gbsi_output_text(output, ", \"drawn\": ");
        gbsi_output_uint(output, gbs_run_report(s->run)->n_drawn);
    }
    if (s->run->report.bare) { /* a bare run has not computed the next figures */
        gbsi_output_text(output, ", \"factors\": null, \"digest\": null");
    } else {
        gbsi_output_text(output, ", \"factors\": ");
        gbsi_output_uint(output, s->run->task.shared.share == NULL
                                     ? gbs_model_n_factors(model)
                                     : s->run->task.shared.share->facts.n_factors);
        gbsi_output_text(output, ", \"digest\": ");
        gbsi_output_json_string(output, gbs_run_model_digest(s->run));
    }
    key_optional(output, "name", s->about.model);
    gbsi_output_text(output, "}");
}

static void write_features(gbs_output *output, const char *name, const char *terms, uint32_t n,
                           const gbs_feature *feature)
{
    gbsi_output_text(output, ", ");
    gbsi_output_json_string(output, name);
    gbsi_output_text(output, ": [");
    for (uint32_t i = 0; i < n; i++) {
        gbsi_output_text(output, i > 0 ? ", {\"weight\": " : "{\"weight\": ");
        gbsi_output_json_double(output, feature[i].weight);
        gbsi_output_text(output, ", ");
        gbsi_output_json_string(output, terms);
        gbsi_output_text(output, ": ");
        gbsi_output_uint(output, feature[i].n);
        gbsi_output_text(output, ", \"mean\": ");
        gbsi_output_json_double(output, feature[i].mean);
        gbsi_output_text(output, ", \"mcse\": ");
        gbsi_output_json_double(output, feature[i].mcse);
        gbsi_output_text(output, "}");
    }
    gbsi_output_text(output, "]");
}

/* Writes the object about the lattice; writes null unless the run was on a lattice with one bit for
 * each spin. */
static void write_lattice(gbs_output *output, const gbs_report *r)
{
    key(output, "lattice");
    if (!r->lattice) {
        gbsi_output_text(output, "null");
        return;
    }
    const struct {
        const char *name;
        double value;
    } rows[] = {{"energy", r->energy},
                {"energy_mcse", r->energy_mcse},
                {"magnetisation", r->magnetisation},
                {"magnetisation_mcse", r->magnetisation_mcse},
                {"abs_magnetisation", r->abs_magnetisation},
                {"abs_magnetisation_mcse", r->abs_magnetisation_mcse}};
    gbsi_output_text(output, "{\"bits\": ");
    gbsi_output_json_string(output, r->lattice == GBS_BITS_SITES ? "sites" : "chains");
    gbsi_output_text(output, ", \"sides\": [");
    for (int d = 0; r->lattice == GBS_BITS_SITES && d < 3; d++) {
        gbsi_output_text(output, d > 0 ? ", " : "");
        gbsi_output_uint(output, r->lattice_side[d]);
    }
    gbsi_output_text(output, "]");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        gbsi_output_text(output, ", ");
        gbsi_output_json_string(output, rows[i].name);
        gbsi_output_text(output, ": ");
        gbsi_output_json_double(output, rows[i].value);
    }
    write_features(output, "couplings", "bonds", r->n_couplings, r->coupling);
    write_features(output, "fields", "variables", r->n_fields, r->field);
    gbsi_output_text(output, "}");
}

/* Writes the observables of spin and Potts models; writes null if the run kept none. */
static void write_observables(gbs_output *output, const gbs_run *run)
{
    const uint32_t n = gbs_run_n_observables(run);
    key(output, "observables");
    if (n == 0) {
        gbsi_output_text(output, "null");
        return;
    }
    gbsi_output_text(output, "{\"batch\": ");
    gbsi_output_uint(output, gbs_run_observables_batch(run));
    for (uint32_t i = 0; i < n; i++) {
        gbs_observable seen = {.size = sizeof seen};
        if (gbs_run_observable(run, i, &seen, NULL) < 0) {
            continue; /* every i below n is an observable */
        }
        key(output, seen.name);
        gbsi_output_text(output, "{\"value\": ");
        gbsi_output_json_double(output, seen.value);
        gbsi_output_text(output, ", \"mcse\": ");
        gbsi_output_json_double(output, seen.mcse);
        gbsi_output_text(output, ", \"tau\": ");
        gbsi_output_json_double(output, seen.tau);
        gbsi_output_text(output, ", \"tau_mcse\": ");
        gbsi_output_json_double(output, seen.tau_mcse);
        key_optional(output, "unit", seen.unit);
        key_optional(output, "formula", seen.formula);
        gbsi_output_text(output, "}");
    }
    gbsi_output_text(output, "}");
}

static void write_trial(gbs_output *output, const gbs_trial *t)
{
    gbsi_output_text(output, "{\"scan\": ");
    gbsi_output_json_string(output, t->scan);
    if (t->width > 0) {
        gbsi_output_text(output, ", \"width\": ");
        gbsi_output_uint(output, t->width);
        gbsi_output_text(output, ", \"splash_size\": ");
        gbsi_output_uint(output, t->splash_size);
        gbsi_output_text(output, t->reaches_zeros ? ", \"crosses_zeros\": true"
                                                  : ", \"crosses_zeros\": false");
    }
    gbsi_output_text(output, ", \"passes\": ");
    gbsi_output_uint(output, t->passes);
    gbsi_output_text(output, ", \"operations_per_pass\": ");
    gbsi_output_json_double(output, t->operations);
    gbsi_output_text(output, ", \"passes_per_draw\": ");
    gbsi_output_json_double(output, t->passes_each);
    gbsi_output_text(output, t->is_bound ? ", \"bound\": true" : ", \"bound\": false");
    gbsi_output_text(output, ", \"ess_per_operation\": ");
    gbsi_output_json_double(output, t->ess_per_operation);
    gbsi_output_text(output, "}");
}

/* Writes the object about tempering; writes null unless chains were ladders of temperatures. */
static void write_tempering(gbs_output *output, const gbs_report *r)
{
    key(output, "tempering");
    if (r->temperatures == 0) {
        gbsi_output_text(output, "null");
        return;
    }
    gbsi_output_text(output, "{\"temperatures\": ");
    gbsi_output_uint(output, r->temperatures);
    key_real(output, "hottest", r->hottest);
    key_real(output, "barrier", r->barrier);
    key_uint(output, "block_variables", r->block_variables);
    key_uint(output, "round_trips", r->round_trips);
    key_real(output, "valid_share", r->valid_share);
    gbsi_output_text(output, "}");
}

/* Writes the object about the pilot run; writes null unless `auto` chose the scan of a sampled
 * run. */
static void write_pilot(gbs_output *output, const gbs_report *r)
{
    if (r->scan_reason == NULL) {
        gbsi_output_text(output, "null");
        return;
    }
    gbsi_output_text(output, "{\"scan\": ");
    gbsi_output_json_string(output, r->scan);
    gbsi_output_text(output, ", \"reason\": ");
    gbsi_output_json_string(output, r->scan_reason);
    gbsi_output_text(output, ", \"seconds\": ");
    gbsi_output_json_double(output, r->pilot_s);
    gbsi_output_text(output, ", \"chosen\": ");
    if (r->n_trials > 0) {
        gbsi_output_uint(output, r->chosen);
    } else {
        gbsi_output_text(output, "null");
    }
    gbsi_output_text(output, ", \"trials\": [");
    for (uint32_t i = 0; i < r->n_trials; i++) {
        gbsi_output_text(output, i > 0 ? ", " : "");
        write_trial(output, &r->trial[i]);
    }
    gbsi_output_text(output, "]}");
}

/* Writes the object about herding; writes null if the draw has no herding weights. */
static void write_herding(gbs_output *output, const gbs_report *r)
{
    if (r->n_weights == 0.0) {
        gbsi_output_text(output, "null");
        return;
    }
    gbsi_output_text(output, "{\"weights\": ");
    gbsi_output_json_double(output, r->n_weights);
    gbsi_output_text(output, ", \"bins\": ");
    if (r->bins > 0) {
        gbsi_output_uint(output, r->bins);
    } else {
        gbsi_output_text(output, "null");
    }
    gbsi_output_text(output, ", \"threshold\": ");
    gbsi_output_json_double(output, r->threshold);
    key_optional(output, "period", r->period);
    key_optional(output, "advised_draw", r->advised_draw);
    gbsi_output_text(output, "}");
}

/* Writes the object about messages between ranks; writes null unless ranks shared the model. */
static void write_exchange(gbs_output *output, const gbs_report *r)
{
    key(output, "exchange");
    if (r->ranks == 0) {
        gbsi_output_text(output, "null");
        return;
    }
    gbsi_output_text(output, "{\"ranks\": ");
    gbsi_output_uint(output, r->ranks);
    key_real(output, "exchange_seconds", r->exchange_s);
    key_uint(output, "bytes", r->exchange_bytes);
    key_uint(output, "messages", r->exchange_messages);
    gbsi_output_text(output, "}");
}

static void write_report(gbs_output *output, const summary *s)
{
    const gbs_report *r = gbs_run_report(s->run);
    key_uint(output, "colors", r->n_colors);
    key_uint(output, "levels", r->n_levels);
    key_uint(output, "batches", r->n_batches);
    key_uint(output, "sweeps", r->sweeps);
    key_uint(output, "burn_in", r->burn_in);
    key_uint(output, "chains", r->chains);
    key_uint(output, "updates", r->updates);
    key_real(output, "compile_seconds", r->compile_s);
    key_real(output, "sampling_seconds", r->sampling_s);
    key_real(output, "updates_per_second", r->updates_per_s);
    write_exchange(output, r);
    key_uint(output, "peak_rss_bytes", s->about.peak_rss_bytes);
    key_uint(output, "predicted_bytes", r->predicted_bytes);
    key_real(output, "max_mcse", r->max_mcse);
    key_real(output, "max_rhat", r->max_rhat);
    key_real(output, "min_ess", r->min_ess);
    key_uint(output, "constant_variables", r->n_constant);
    key_uint(output, "hardly_moved_variables", r->n_hardly_moved);
    key_uint(output, "watched_variables", r->n_watched);
    key_real(output, "bias_estimate", r->bias_estimate);
    key(output, "herding");
    write_herding(output, r);
    key_real(output, "certified", r->certified);
    write_tempering(output, r);
    key(output, "pilot");
    write_pilot(output, r);
    write_lattice(output, r);
    write_observables(output, s->run);
    key_uint(output, "iterations", r->iterations);
    key_real(output, "residual", r->residual);
    key_real(output, "log_z_bound", r->log_z_bound);
    key_real(output, "log_z_bethe", r->log_z_bethe);
    key_real(output, "log_z", r->log_z);
    key_real(output, "log_p_evidence",
             s->about.log_p_evidence == NULL ? (double)NAN : *s->about.log_p_evidence);
    key(output, "monitored");
    gbsi_output_text(output, s->about.monitored == NULL ? "null" : s->about.monitored);
    key_text(output, "method", r->method);
    key(output, "converged");
    gbsi_output_text(output, r->converged ? "true" : "false");
    key_text(output, "verdict", r->verdict);
    key(output, "chains_disagree");
    gbsi_output_text(output, r->chains_disagree ? "true" : "false");
    key(output, "in_burn_in");
    gbsi_output_text(output, r->in_burn_in ? "true" : "false");
    key_text(output, "digest", r->digest);
    key(output, "warnings");
    gbsi_output_text(output, "[");
    for (size_t i = 0; i < r->n_warnings; i++) {
        gbsi_output_text(output, i > 0 ? ", " : "");
        gbsi_output_json_string(output, r->warning[i]);
    }
    gbsi_output_text(output, "]");
}

static void write_all(gbs_output *output, const summary *s)
{
    gbsi_output_text(output, "{\n  \"schema\": \"run/1\"");
    key_text(output, "tool", "gibbsite");
    key_text(output, "version", gbs_version());
    key_text(output, "command", s->about.command == NULL ? "" : s->about.command);
    write_model(output, s);
    write_options(output, s);
    write_report(output, s);
}

gbs_status gbs_run_summary(const gbs_run *run, const gbs_summary_about *about, gbs_output *output,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_output *memory = NULL;
    GBSI_NEED(run, output);
    GBSI_IN_STRUCT(about, gbs_summary_about);
    summary s = {.run = run, .about = {.size = sizeof s.about}};
    if (about != NULL) {
        s.about = *about;
    }
    if (s.about.options == NULL) {
        s.about.options = &run->task.options;
    }
    GBSI_TRY(gbs_output_open_memory(&memory, err));
    write_all(memory, &s);
    key(memory, "marginals");
    GBSI_TRY(gbsi_summary_marginals(run, &s.about, memory, err));
    gbsi_output_text(memory, "\n}\n");
    status = gbsi_report_give(&memory, output, err);

cleanup:
    gbs_output_discard(memory);
    return status;
}
