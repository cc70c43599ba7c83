/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares the answers to many cases of one model: makes the trees that serve all cases. */
#include "ask/cases.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/machine.h"
#include "base/memory.h"
#include "chains/run.h"
#include "chains/run_options.h"
#include "solve/solve.h"

/* Number of bytes for the answers of one call; with the next limit, this number gives the advised
 * number of cases. */
#define ANSWER_BYTES (UINT64_C(8) << 20)
/* Number of operations of one call, which take a few tenths of a second; the second limit on the
 * advised number of cases. */
#define CALL_OPERATIONS 1e9
#define MOST_AT_ONCE    4096.0
#define TREE_SHARE      0.4 /* share of --time that `auto` spends on making trees */

static void forget_trees(gbs_cases *c)
{
    for (uint32_t i = 0; c->worker != NULL && i < gbsi_pool_size(c->pool); ++i) {
        gbsi_case_worker_free(c->worker[i]);
    }
    gbsi_free(c->worker);
    gbsi_pool_free(c->pool);
    gbsi_case_tree_free(c->tree);
    c->worker = NULL;
    c->pool = NULL;
    c->tree = NULL;
}

void gbs_cases_free(gbs_cases *cases)
{
    gbs_cases *c = cases;
    if (c == NULL) {
        return;
    }
    forget_trees(c);
    gbs_evidence_free(c->evidence);
    GBSI_FREE(c->column, c->query, c->marginal, c);
}

/* ---- making ---------------------------------------------------------------------------------- */

static gbs_status check_ids(const gbs_model *model, const char *what, uint32_t n,
                            const uint32_t *id, uint8_t *seen, gbs_error *err)
{
    memset(seen, 0, model->n_variables);
    for (uint32_t i = 0; i < n; ++i) {
        if (id[i] >= model->n_variables || seen[id[i]] != 0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "cases: %s %" PRIu32 " is variable %" PRIu32
                             ", expected distinct ids below %" PRIu32,
                             what, i, id[i], model->n_variables);
        }
        seen[id[i]] = 1;
    }
    return GBS_OK;
}

static gbs_status copy_ids(gbs_cases *c, const uint32_t *column, const uint32_t *query,
                           gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint8_t *seen = gbsi_alloc_array(c->model->n_variables, 1);
    c->column = gbsi_alloc_array(c->n_columns, sizeof *c->column);
    c->query = gbsi_alloc_array(c->n_query, sizeof *c->query);
    GBSI_TRY(GBSI_HAVE(err, "cases", seen, c->column, c->query));
    GBSI_TRY(check_ids(c->model, "column", c->n_columns, column, seen, err));
    GBSI_TRY(check_ids(c->model, "query", c->n_query, query, seen, err));
    for (uint32_t i = 0; i < c->n_columns; ++i) {
        c->column[i] = column[i];
    }
    for (uint32_t i = 0; i < c->n_query; ++i) {
        c->query[i] = query[i];
        c->n_states += c->model->arity[query[i]];
    }

cleanup:
    gbsi_free(seen);
    return status;
}

/* Finds the sum over all states given only the evidence that all cases share. If the weights in a
 * tree differ too much in size to be summed, the tree is not used. */
static gbs_status find_base(gbs_cases *c, gbsi_watch *watch, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_case none = {0};
    uint32_t *state = gbsi_alloc_array(c->n_columns, sizeof *state);
    none.p = gbsi_alloc_array(c->n_states, sizeof *none.p);
    GBSI_TRY(GBSI_HAVE(err, "cases", state, none.p));
    memset(state, 0xff, c->n_columns * sizeof *state);
    none.state = state;
    gbsi_case_batch(c->worker[0], &none, 1, watch, true);
    if (gbsi_watch_stopped(watch)) {
        GBSI_TRY(gbsi_watch_fail(err, "making junction trees for cases"));
    }
    if (none.end == GBSI_CASE_IMPOSSIBLE) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_IMPOSSIBLE, "no state of the model has positive weight"));
    }
    if (none.end == GBSI_CASE_DONE) {
        c->log_base = none.log_sum;
    }

cleanup:
    GBSI_FREE(state, none.p);
    return status;
}

static gbs_status take_workers(gbs_cases *c, gbsi_watch *watch, gbs_error *err)
{
    GBSI_PASS(gbsi_pool_new(gbsi_options_threads(&c->options), &c->pool, err));
    const uint32_t n = gbsi_pool_size(c->pool);
    c->worker = gbsi_alloc_array_zero(n, sizeof(gbsi_case_worker *));
    GBSI_PASS(GBSI_HAVE(err, "cases", c->worker));
    for (uint32_t i = 0; i < n; ++i) {
        GBSI_PASS(
            gbsi_case_worker_new(c->tree, i > 0 ? c->worker[0] : NULL, watch, &c->worker[i], err));
    }
    return find_base(c, watch, err);
}

/* Makes a plan of trees for the model. @param tree out: NULL if the model is too large for trees,
 * or if a case would take longer than the method allows. */
static gbs_status plan_tree(const gbs_cases *c, gbsi_solver *s, gbsi_watch *watch, gbsi_tree **tree,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_exact_plan *plan = NULL;
    const gbs_run_options *o = &c->options;
    const bool is_auto = o->method == GBS_METHOD_AUTO;
    const double entries = 0.5e9 * (o->time_s > 0.0 ? o->time_s : o->budget_s) / GBSI_TABLES_NS;
    const uint64_t bytes = is_auto && o->memory_limit == 0 ? gbsi_auto_memory_limit() : s->bytes;
    const gbsi_exact_limits limits = {.entries = is_auto && entries < (double)GBSI_MOST_ENTRIES
                                                     ? (uint64_t)entries
                                                     : GBSI_MOST_ENTRIES,
                                      .bytes = bytes,
                                      .watch = watch};
    uint64_t sum = 0;
    if (gbsi_exact_check_search(s->whole, bytes, NULL) != GBS_OK) {
        return GBS_OK;
    }
    GBSI_TRY(gbsi_exact_plan_new(s->whole, s->graph, &limits, &plan, err));
    for (uint32_t i = 0; i < plan->elimination->n_parts; ++i) {
        if (!gbsi_exact_fits(plan, i)) {
            goto cleanup;
        }
        s->take[i] = 1;
        sum += plan->elimination->part[i].entries;
    }
    if (sum <= limits.entries && sum <= bytes / 2 / sizeof(double)) {
        GBSI_TRY(gbsi_exact_plan_tree(plan, s->take, tree, err));
    }

cleanup:
    gbsi_exact_plan_free(plan);
    return status;
}

/* @param watch may stop the work; the caller then frees the trees that were made before the
 * stop. */
static gbs_status make_trees(gbs_cases *c, gbsi_watch *watch, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_solver s = {0};
    gbsi_case_scope *query = NULL;
    const size_t n_needed = (size_t)c->n_columns + c->n_query;
    uint32_t *needed = gbsi_alloc_array(n_needed, sizeof *needed);
    const gbs_exact_options options = {.size = sizeof options,
                                       .memory_limit = c->options.memory_limit,
                                       .threads = c->options.threads};
    GBSI_PASS(GBSI_HAVE(err, "cases", needed));
    memcpy(needed, c->column, c->n_columns * sizeof *needed);
    memcpy(needed + c->n_columns, c->query, c->n_query * sizeof *needed);
    GBSI_TRY(
        gbsi_solver_init_about(&s, c->model, c->evidence, &options, n_needed, needed, false, err));
    if (c->options.method == GBS_METHOD_AUTO || c->options.method == GBS_METHOD_EXACT) {
        GBSI_TRY(plan_tree(c, &s, watch, &s.tree, err));
    }
    if (s.tree != NULL) {
        query = gbsi_alloc_array(c->n_query, sizeof *query);
        GBSI_TRY(GBSI_HAVE(err, "cases", query));
        for (uint32_t i = 0; i < c->n_query; ++i) {
            query[i] = (gbsi_case_scope){.variable = &c->query[i], .n = 1};
        }
        GBSI_TRY(gbsi_case_tree_new(s.whole, s.tree, c->n_columns, c->column, c->n_query, query,
                                    watch, &c->tree, err));
    }
    if (c->tree != NULL &&
        gbsi_case_worker_bytes(c->tree) * gbsi_options_threads(&c->options) <=
            s.bytes / 2) { /* tables may take half of the memory, workers the other half */
        GBSI_TRY(take_workers(c, watch, err));
    }
    if (isnan(c->log_base)) {
        gbsi_case_tree_free(c->tree); /* workers hold no pointer to the tree */
        c->tree = NULL;
        c->log_base = !c->has_evidence && gbs_model_is_normalized(c->model) ? 0.0 : (double)NAN;
    }

cleanup:
    GBSI_FREE(query, needed);
    gbsi_solver_free(&s);
    return status;
}

/* Makes trees. If making the trees takes longer than a share of --time, `auto` gives the trees up,
 * and each case is sampled as by --method sample. */
static gbs_status make_trees_in_time(gbs_cases *c, gbs_error *err)
{
    const bool may_give_up = c->options.method == GBS_METHOD_AUTO && c->options.time_s > 0.0;
    gbsi_watch whole = gbsi_watch_of(NULL, NULL, c->begun_s, c->options.time_s);
    gbsi_watch *before = gbsi_watch_enter(&whole);
    gbsi_watch watch =
        gbsi_watch_of(NULL, NULL, c->begun_s, (may_give_up ? TREE_SHARE : 1.0) * c->options.time_s);
    gbs_status status = make_trees(c, &watch, err);
    gbsi_watch_leave(before);
    if (status == GBS_ERR_STOPPED && may_give_up && !gbsi_watch_ask(&whole)) {
        forget_trees(c);
        c->options.method = GBS_METHOD_SAMPLE;
        c->log_base = !c->has_evidence && gbs_model_is_normalized(c->model) ? 0.0 : (double)NAN;
        status = GBS_OK;
    }
    return status;
}

gbs_status gbs_cases_new(const gbs_model *model, const gbs_evidence *evidence,
                         const gbs_run_options *options, uint32_t n_columns, const uint32_t *column,
                         uint32_t n_query, const uint32_t *query, gbs_cases **cases, gbs_error *err)
{
    GBSI_NEED(model, cases);
    if (n_columns > 0) {
        GBSI_NEED(column);
    }
    if (n_query > 0) {
        GBSI_NEED(query);
    }
    gbs_status status = GBS_OK;
    gbs_cases *c = gbsi_alloc_zero(sizeof *c);
    GBSI_PASS(GBSI_HAVE(err, "cases", c));
    c->model = model;
    c->n_columns = n_columns;
    c->n_query = n_query;
    c->has_evidence = evidence != NULL;
    c->begun_s = c->told_s = gbsi_clock_s();
    c->log_base = NAN;
    GBSI_TRY(gbsi_options_take(options, &c->options, err));
    GBSI_TRY(gbsi_options_check(&c->options, err));
    if (c->options.estimator == GBS_ESTIMATOR_TRACES) {
        GBSI_TRY(gbsi_fail(err, GBS_ERR_ARGUMENT,
                           "cases: --estimator traces keeps no marginals to answer with"));
    }
    GBSI_TRY(copy_ids(c, column, query, err));
    GBSI_TRY(gbsi_evidence_copy(model, evidence, &c->evidence, err));
    GBSI_TRY(make_trees_in_time(c, err));
    *cases = c;
    c = NULL;

cleanup:
    gbs_cases_free(c);
    return status;
}

size_t gbs_cases_n_states(const gbs_cases *cases)
{
    const gbs_cases *c = cases;
    return c == NULL ? 0 : c->n_states;
}

int gbs_cases_is_exact(const gbs_cases *cases)
{
    const gbs_cases *c = cases;
    return c != NULL && c->tree != NULL ? 1 : 0;
}

size_t gbs_cases_at_once(const gbs_cases *cases)
{
    const gbs_cases *c = cases;
    if (c == NULL) {
        return 0;
    }
    if (c->tree == NULL && c->options.time_s == 0.0) {
        return 1;
    }
    const double bytes = (double)(c->n_states * 2 + c->n_columns + 2) * sizeof(double);
    const double operations =
        c->tree == NULL /* cases are answered by runs, which share the remaining time */
            ? 1.0
            : (double)gbsi_case_tree_operations(c->tree) / GBSI_CASE_LANES + 1.0;
    double n = (double)ANSWER_BYTES / bytes;
    n = n < CALL_OPERATIONS / operations ? n : CALL_OPERATIONS / operations;
    n = n < MOST_AT_ONCE ? n : MOST_AT_ONCE;
    return n < GBSI_CASE_LANES ? GBSI_CASE_LANES : (size_t)n;
}
