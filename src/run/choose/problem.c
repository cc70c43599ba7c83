/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the sampled part of a model and its graph. The part consists of the components that are not
 * answered exactly. If the user gives a scan file, the part has only those of their variables that
 * the file visits. */
#include "choose/problem.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/plural.h"
#include "chains/run.h"
#include "condition/prune.h"
#include "condition/soften.h"
#include "plan/draw.h"

gbs_status gbsi_problem_ask(gbsi_problem *p, size_t n, const uint32_t *user, bool skip,
                            gbsi_watch *watch, gbs_error *err)
{
    for (size_t i = 0; i < n; ++i) {
        if (user[i] >= p->model->n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "query: there is no variable %" PRIu32 ", the model has %" PRIu32,
                             user[i], p->model->n_variables);
        }
    }
    GBSI_PASS(gbsi_prune_for(&p->whole, n, user, watch, &p->n_pruned, err));
    if (skip) {
        p->asked = gbsi_alloc_array_zero(p->whole->n_variables, 1);
        GBSI_PASS(GBSI_HAVE(err, "query", p->asked));
    }
    for (size_t i = 0; skip && i < n; ++i) {
        if (p->whole->free_variable[user[i]] != GBSI_NONE) {
            p->asked[p->whole->free_variable[user[i]]] = 1;
        }
    }
    return GBS_OK;
}

bool gbsi_problem_asks(const gbsi_problem *p, uint32_t component)
{
    const gbsi_components *c = p->components;
    bool asks = p->asked == NULL || c->has_zeros[component];
    for (size_t i = c->variable_start[component]; !asks && i < c->variable_start[component + 1];
         ++i) {
        asks = p->asked[c->variable[i]] != 0;
    }
    return asks;
}

gbs_status gbsi_problem_take_graph(gbsi_problem *p, gbs_error *err)
{
    GBSI_PASS(gbsi_graph_new(p->whole, NULL, &p->whole_graph, err));
    return gbsi_components_new(p->whole_graph, &p->components, err);
}

/* ---- a scan of some variables -------------------------------------------------------------- */

/* Marks the sampled variables that the sequence visits. @return the number of these variables. */
static uint32_t mark_visited(const gbsi_problem *p, const gbs_run_options *options,
                             const uint8_t *keep, uint8_t *visited)
{
    const gbsi_conditioned *whole = p->whole;
    uint32_t n = 0;
    for (size_t t = 0; t < options->sequence_length; ++t) {
        const uint32_t user = options->sequence[t];
        const uint32_t v = user < p->model->n_variables ? whole->free_variable[user] : GBSI_NONE;
        if (v != GBSI_NONE && keep[v] && !visited[v]) {
            visited[v] = 1;
            ++n;
        }
    }
    return n;
}

/* Makes the part around the variables that the sequence of --partial-scan visits. @param keep
 * [whole variables] 1 for the sampled variables. */
static gbs_status take_visited(gbsi_problem *p, const gbs_run_options *options, const uint8_t *keep,
                               gbs_report *report, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_conditioned *whole = p->whole;
    uint32_t n_kept = 0;
    uint8_t *visited = gbsi_alloc_array_zero(whole->n_variables, 1);
    GBSI_PASS(GBSI_HAVE(err, "scan", visited));
    const uint32_t n_visited = mark_visited(p, options, keep, visited);
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        n_kept += keep[v] != 0;
    }
    if (n_visited == 0) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT, "the scan visits no variable that is sampled"));
    }
    report->n_omitted = n_kept - n_visited;
    GBSI_TRY(gbsi_conditioned_around(whole, visited, &p->part, err));
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        p->part_of[v] = p->part->free_variable[whole->user_variable[v]];
    }

cleanup:
    gbsi_free(visited);
    return status;
}

/* Marks the target variables. @param visited [model variables] 1 if the sequence visits the
 * variable. */
static gbs_status mark_targets(gbsi_problem *p, const gbs_run_options *options,
                               const uint8_t *visited, gbs_error *err)
{
    const uint32_t n_user = p->model->n_variables;
    for (size_t k = 0; k < options->n_targets; ++k) {
        const uint32_t user = options->target[k];
        if (user >= n_user) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "--target: there is no variable %" PRIu32 ", the model has %" PRIu32
                             " variable%s",
                             user, n_user, gbsi_plural(n_user));
        }
        if (p->whole->free_variable[user] == GBSI_NONE) {
            continue; /* the variable has a fixed state */
        }
        if (!visited[user]) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "--target: the scan never visits variable %" PRIu32, user);
        }
        if (p->part->free_variable[user] != GBSI_NONE) { /* other variables are answered exactly */
            p->target[p->part->free_variable[user]] = 1;
        }
    }
    return GBS_OK;
}

/* Sets p->target from the options. */
static gbs_status take_targets(gbsi_problem *p, const gbs_run_options *options, gbs_error *err)
{
    const uint32_t n_user = p->model->n_variables;
    if (options->n_targets == 0) {
        return GBS_OK;
    }
    uint8_t *visited = gbsi_alloc_array_zero(n_user, 1);
    p->target = gbsi_alloc_array_zero(p->part->n_variables, 1);
    if (visited == NULL || p->target == NULL) {
        gbsi_free(visited);
        return gbsi_no_memory(err, "targets", n_user);
    }
    for (size_t t = 0; t < options->sequence_length; ++t) {
        if (options->sequence[t] < n_user) { /* the scan file may contain no other variables */
            visited[options->sequence[t]] = 1;
        }
    }
    const gbs_status status = mark_targets(p, options, visited, err);
    gbsi_free(visited);
    return status;
}

/* ---- the part ------------------------------------------------------------------------------ */

/* Makes the graph of the sampled variables; it has the edges of the factors, and the edges that the
 * drawing method requires. */
static gbs_status make_graph(gbsi_problem *p, const gbs_run_options *options, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_edges extra = {0};
    const gbsi_draw *draw = gbsi_draw_of(options, gbsi_simd_level());
    if (draw->extra_edges != NULL) {
        GBSI_TRY(draw->extra_edges(p->part, options, &extra, err));
    }
    if (p->part == p->whole && extra.n == 0 && !extra.all) {
        p->graph = p->whole_graph; /* saves copying a large graph */
    } else {
        GBSI_TRY(gbsi_graph_new(p->part, &extra, &p->graph, err));
    }
cleanup:
    gbsi_free(extra.pair);
    return status;
}

gbs_status gbsi_problem_take_part(gbsi_problem *p, const gbs_run_options *options,
                                  gbs_report *report, gbs_error *err)
{
    const gbsi_conditioned *whole = p->whole;
    gbs_status status = GBS_OK;
    uint32_t n_kept = 0;
    uint8_t *keep = gbsi_alloc_array_zero(whole->n_variables, 1);
    p->part_of = gbsi_alloc_array(whole->n_variables, sizeof *p->part_of);
    GBSI_TRY(GBSI_HAVE(err, "components", keep, p->part_of));
    for (uint32_t c = 0; c < p->components->n; ++c) {
        const bool asks = gbsi_problem_asks(p, c);
        for (size_t i = p->components->variable_start[c]; i < p->components->variable_start[c + 1];
             ++i) {
            keep[p->components->variable[i]] = asks && !p->exact[c];
            p->n_skipped += !asks && !p->exact[c];
        }
    }
    for (uint32_t v = 0; v < whole->n_variables; ++v) {
        p->part_of[v] = keep[v] ? n_kept++ : GBSI_NONE;
    }
    report->n_exact_variables = whole->n_variables - n_kept - p->n_skipped;
    if (n_kept > 0 && options->partial_scan) {
        GBSI_TRY(take_visited(p, options, keep, report, err));
    } else if (n_kept > 0 && n_kept == whole->n_variables) {
        p->part = p->whole; /* saves copying a large model */
    } else if (n_kept > 0) {
        GBSI_TRY(gbsi_conditioned_part(whole, keep, &p->part, err));
    }
    if (p->part != NULL) {
        report->has_zeros = memchr(p->part->has_zeros, 1, p->part->factors.n_factors) != NULL;
    }
    if (report->has_zeros && p->penalty > 0.0) {
        GBSI_TRY(gbsi_soften(p->part, INFINITY, p->penalty, &p->soft, err));
    }
    if (n_kept > 0) {
        GBSI_TRY(take_targets(p, options, err));
        GBSI_TRY(make_graph(p, options, err));
    }
cleanup:
    gbsi_free(keep);
    return status;
}

void gbsi_problem_forget_components(gbsi_problem *p)
{
    gbsi_components_free(p->components);
    gbsi_free(p->part_of);
    p->components = NULL;
    p->part_of = NULL;
}

void gbsi_problem_forget_tables(gbsi_problem *p)
{
    gbsi_tree_free(p->tree);
    gbsi_codewords_free(p->codewords);
    gbsi_sparse_free(p->sparse);
    gbsi_cutsets_free(p->cutset);
    p->tree = NULL;
    p->codewords = NULL;
    p->sparse = NULL;
    p->cutset = NULL;
}

void gbsi_problem_free(gbsi_problem *p)
{
    if (p->graph != p->whole_graph) {
        gbsi_graph_free(p->graph);
    }
    gbsi_softened_free(p->soft);
    if (p->part != p->whole) {
        gbsi_conditioned_free(p->part);
    }
    gbsi_problem_forget_components(p);
    gbsi_graph_free(p->whole_graph);
    gbsi_conditioned_free(p->whole);
    GBSI_FREE(p->target, p->asked);
    gbsi_barren_free(p->barren);
    GBSI_FREE(p->exact, p->enumerated);
    gbsi_problem_forget_tables(p);
    gbsi_free(p->start);
}

void gbsi_problem_choose_again(gbsi_problem *p)
{
    const bool all = p->barren != NULL; /* the whole model no longer has the barren variables */
    gbsi_problem kept = {.model = p->model,
                         .start = p->start,
                         .whole = all ? p->barren->full : p->whole,
                         .n_pruned = all ? 0 : p->n_pruned,
                         .asked = p->asked,
                         .penalty = p->penalty};
    p->start = NULL;
    p->asked = NULL;
    if (all) {
        p->barren->full = NULL;
    } else {
        if (p->part == p->whole) {
            p->part = NULL;
        }
        p->whole = NULL;
    }
    gbsi_problem_free(p);
    *p = kept;
}

uint64_t gbsi_run_standing_bytes(const gbsi_problem *problem, const gbsi_estimates *estimates)
{
    const uint64_t n_whole = problem->whole->n_variables;
    uint64_t bytes = problem->exact_bytes;
    if (problem->components != NULL) {
        bytes += gbsi_components_standing(problem->components, problem->whole_graph) +
                 n_whole * sizeof *problem->part_of;
    } else {
        bytes += gbsi_program_bytes() + gbs_model_bytes(problem->model) +
                 gbsi_conditioned_bytes(problem->whole);
    }
    bytes += problem->start == NULL ? 0 : problem->model->n_variables * sizeof *problem->start;
    bytes += estimates->exact_p == NULL
                 ? 0
                 : problem->whole->state_offset[n_whole] * sizeof *estimates->exact_p;
    if (problem->part != problem->whole && problem->part != NULL) {
        bytes += gbsi_conditioned_bytes(problem->part);
    }
    bytes += problem->soft == NULL ? 0 : gbsi_softened_bytes(problem->soft);
    if (problem->graph != problem->whole_graph && problem->graph != NULL) {
        bytes += gbsi_graph_bytes(problem->graph);
    }
    return bytes;
}
