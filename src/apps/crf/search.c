/* SPDX-License-Identifier: Apache-2.0 */
#include "crf/crf_chain.h"

#include <math.h>

#include "base/budget.h"
#include "base/memory.h"
#include "gibbsite/map.h"

/* ---- the graph ----------------------------------------------------------------------------- */

/* Adds a factor of two tokens. Factors of one combination share a table. */
static gbs_status add_pair(gbs_builder *builder, const gbsi_crf_chain *chain, size_t first,
                           size_t second, uint32_t combination, uint32_t *table, gbs_error *err)
{
    const size_t n_pairs = (size_t)chain->crf->labels.n * chain->crf->labels.n;
    const uint32_t scope[2] = {(uint32_t)(first - chain->first), (uint32_t)(second - chain->first)};
    if (table[combination] == GBSI_NO_TABLE) {
        GBSI_PASS(gbs_builder_add_table(builder, n_pairs,
                                        chain->pairs->logw + combination * n_pairs,
                                        &table[combination], err));
    }
    return gbs_builder_add_table_factor(builder, 2, scope, table[combination], err);
}

static gbs_status add_tokens(gbs_builder *builder, const gbsi_crf_chain *chain, bool named,
                             gbs_error *err)
{
    const uint32_t n_labels = chain->crf->labels.n;
    uint32_t table = 0;
    for (size_t t = 0; t < chain->n; t++) {
        const uint32_t token = (uint32_t)t;
        GBSI_PASS(gbs_builder_add_variables(builder, 1, &n_labels, NULL, err));
        if (named) {
            GBSI_PASS(gbs_builder_label_states(builder, token, chain->crf->labels.text, err));
        }
        GBSI_PASS(
            gbs_builder_add_table(builder, n_labels, chain->logw + t * n_labels, &table, err));
        GBSI_PASS(gbs_builder_add_table_factor(builder, 1, &token, table, err));
    }
    return GBS_OK;
}

/* Makes the factor graph of the current sequence of `chain`, with a variable for each token in the
 * order of the tokens. @param table [n_combinations] scratch; all entries are GBSI_NO_TABLE before
 * and after the call. @param named whether states have the names of the labels. */
static gbs_status sequence_graph(const gbsi_crf_chain *chain, size_t sequence, uint32_t *table,
                                 bool named, gbs_model **graph, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_features *f = chain->features;
    const size_t first_link = f->link_begin == NULL ? 0 : f->link_begin[sequence];
    const size_t end_link = f->link_begin == NULL ? 0 : f->link_begin[sequence + 1];
    gbs_builder *builder = NULL;
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(add_tokens(builder, chain, named, err));
    for (size_t t = chain->first + 1; t < chain->first + chain->n; t++) {
        GBSI_TRY(add_pair(builder, chain, t - 1, t, f->combination[t], table, err));
    }
    for (size_t i = first_link; i < end_link; i++) {
        const gbsi_link *link = &f->link[i];
        GBSI_TRY(
            add_pair(builder, chain, link->first, link->second, link->combination, table, err));
    }
    GBSI_TRY(gbs_builder_build(builder, graph, err));

cleanup:
    for (size_t t = chain->first + 1; t < chain->first + chain->n; t++) {
        table[f->combination[t]] = GBSI_NO_TABLE;
    }
    for (size_t i = first_link; i < end_link; i++) {
        table[f->link[i].combination] = GBSI_NO_TABLE;
    }
    gbs_builder_free(builder);
    return status;
}

/* ---- answers ------------------------------------------------------------------------------- */

static gbs_status find_probabilities(const gbs_model *graph, const gbs_run_options *options,
                                     gbsi_found *found, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_run *run = NULL;
    GBSI_TRY(gbs_run_new(graph, NULL, options, &run, err));
    GBSI_TRY(gbs_run_execute(run, NULL, err));
    if (found->posterior != NULL) {
        GBSI_TRY(gbs_run_marginals(run, found->posterior, NULL, NULL, NULL, err));
    }
    const gbs_report *report = gbs_run_report(run);
    found->converged = report->converged != 0;
    found->updates += report->updates;
    if (found->log_p != NULL) {
        *found->log_p = gbs_model_log_density(graph, found->label) - report->log_z;
    }

cleanup:
    gbs_run_free(run);
    return status;
}

gbs_status gbsi_search_sequence(const gbsi_crf_chain *chain, size_t sequence, uint32_t *table,
                                const gbs_run_options *run, gbsi_found *found, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_model *graph = NULL;
    gbs_map_report report = {.size = sizeof report};
    GBSI_TRY(sequence_graph(chain, sequence, table, false, &graph, err));
    GBSI_TRY(gbs_map(graph, NULL, run, NULL, found->label, &report, err));
    found->proved = report.gap == 0.0;
    found->converged = true;
    found->updates = report.updates;
    if (found->posterior != NULL || found->log_p != NULL) {
        GBSI_TRY(find_probabilities(graph, run, found, err));
    }

cleanup:
    /* if one search is stopped, the watch also stops all other searches */
    status = status == GBS_STOPPED || status == GBS_ERR_STOPPED ? GBS_OK : status;
    gbs_model_free(graph);
    return status;
}

/* ---- for everyone -------------------------------------------------------------------------- */

/* Returns one sequence of the data as a data set. @param bounds [2] the array that becomes `first`
 * of the data set. */
static gbs_sequences one_of(const gbs_sequences *data, size_t sequence, size_t bounds[2])
{
    const size_t first = data->first[sequence];
    bounds[0] = 0;
    bounds[1] = data->first[sequence + 1] - first;
    return (gbs_sequences){.name = data->name,
                           .n_columns = data->n_columns,
                           .n = 1,
                           .n_tokens = bounds[1],
                           .first = bounds,
                           .text = data->text + first * data->n_columns,
                           .line = data->line + first};
}

static gbs_status make_graph(const gbs_crf *crf, const gbs_sequences *one, gbs_model **model,
                             gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_features features = {0};
    gbsi_crf_pairs pairs = {0};
    gbsi_crf_chain chain = {
        .crf = crf, .features = &features, .pairs = &pairs, .weight = crf->weight};
    uint32_t *table = NULL;
    GBSI_TRY(gbsi_features_find(&crf->templates, &crf->features, NULL, one, &features, NULL, err));
    GBSI_TRY(gbsi_crf_pairs_new(crf, &features, false, &pairs, err));
    GBSI_TRY(gbsi_crf_chain_new(&chain, one->n_tokens, err));
    table = gbsi_alloc_array(features.n_combinations, sizeof *table);
    GBSI_TRY(GBSI_HAVE(err, "a sequence", table));
    for (uint32_t c = 0; c < features.n_combinations; c++) {
        gbsi_crf_pairs_fill(&pairs, c, crf, &features, crf->weight);
        table[c] = GBSI_NO_TABLE;
    }
    gbsi_crf_chain_take(&chain, 0, one->n_tokens);
    GBSI_TRY(sequence_graph(&chain, 0, table, true, model, err));

cleanup:
    gbsi_free(table);
    gbsi_crf_chain_free(&chain);
    gbsi_crf_pairs_free(&pairs);
    gbsi_features_free(&features);
    return status;
}

gbs_status gbs_crf_model(const gbs_crf *crf, const gbs_sequences *data, size_t sequence,
                         gbs_model **model, gbs_error *err)
{
    GBSI_NEED(crf, data, model);
    size_t bounds[2];
    gbsi_budget budget;
    if (sequence >= data->n) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "found sequence %zu, %s has %zu", sequence,
                         data->name, data->n);
    }
    const gbs_sequences one = one_of(data, sequence, bounds);
    gbsi_budget *before = gbsi_budget_enter_default(&budget, 0);
    const gbs_status status = make_graph(crf, &one, model, err);
    gbsi_budget_leave(before);
    return status;
}
