/* SPDX-License-Identifier: Apache-2.0 */
#include "solve/solve.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/machine.h"
#include "base/memory.h"
#include "base/sized.h"
#include "condition/prune.h"
#include "satisfy/satisfy.h"
#include "simd/dispatch.h"

static gbs_status take_options(gbsi_solver *s, const gbs_exact_options *options, gbs_error *err)
{
    const gbs_exact_options none = {.size = sizeof none};
    const gbs_exact_options *o = options == NULL ? &none : options;
    GBSI_PASS(gbsi_struct_in(o, sizeof *o, "gbs_exact_options", err));
    if (o->threads > GBSI_MOST_THREADS) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_exact_options.threads: found %" PRIu64 ", expected at most %u",
                         o->threads, GBSI_MOST_THREADS);
    }
    if (!(o->most_s >= 0.0)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "gbs_exact_options.most_s: found %g, expected 0 or more", o->most_s);
    }
    s->most_s = o->most_s > 0.0 ? o->most_s : (double)INFINITY;
    s->bytes = o->memory_limit != 0 ? o->memory_limit : gbsi_default_memory_limit();
    s->n_threads = o->threads != 0 ? (unsigned)o->threads : gbsi_pool_cores();
    return gbsi_simd_check(err);
}

static gbs_status condition(gbsi_solver *s, const gbs_model *model, const gbs_evidence *evidence,
                            const gbs_exact_options *options, gbs_error *err)
{
    GBSI_PASS(take_options(s, options, err));
    gbsi_budget_init(&s->budget, s->bytes, gbsi_process_bytes() + gbs_model_bytes(model));
    s->budget_before = gbsi_budget_enter(&s->budget);
    s->in_budget = true;
    GBSI_PASS(gbsi_condition(model, evidence, &s->whole, err));
    if (s->whole->log_constant == -INFINITY) {
        GBSI_PASS(gbsi_impossible(s->whole, err));
    }
    return GBS_OK;
}

static gbs_status find_components(gbsi_solver *s, gbs_error *err)
{
    GBSI_PASS(gbsi_graph_new(s->whole, NULL, &s->graph, err));
    return gbsi_components_new(s->graph, &s->components, err);
}

/* Leaves out components that hold no variable of the query. Components with hard zeros stay,
 * because they may have no state of positive weight. */
static gbs_status keep_asked(gbsi_solver *s, size_t n, const uint32_t *query, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_components *c = s->components;
    const uint32_t n_variables = s->whole->n_variables;
    gbsi_conditioned *part = NULL;
    uint8_t *keep = gbsi_alloc_array(n_variables, 1);
    uint8_t *keep_component = gbsi_alloc_array_zero(c->n, 1);
    GBSI_TRY(GBSI_HAVE(err, "components", keep, keep_component));
    for (uint32_t i = 0; i < c->n; ++i) {
        keep_component[i] = c->has_zeros[i];
    }
    for (size_t i = 0; i < n; ++i) {
        const uint32_t v = s->whole->free_variable[query[i]];
        if (v != GBSI_NONE) {
            keep_component[c->of[v]] = 1;
        }
    }
    for (uint32_t v = 0; v < n_variables; ++v) {
        keep[v] = keep_component[c->of[v]];
    }
    if (memchr(keep_component, 0, c->n) != NULL) {
        GBSI_TRY(gbsi_conditioned_part(s->whole, keep, &part, err));
        gbsi_components_free(s->components);
        gbsi_graph_free(s->graph);
        gbsi_conditioned_free(s->whole);
        s->components = NULL;
        s->graph = NULL;
        s->whole = part;
        GBSI_TRY(find_components(s, err));
    }

cleanup:
    GBSI_FREE(keep, keep_component);
    return status;
}

static gbs_status take_components(gbsi_solver *s, gbs_error *err)
{
    const uint64_t standing = gbsi_components_standing(s->components, s->graph);
    s->bytes = s->bytes > standing ? s->bytes - standing : 0;
    s->take = gbsi_alloc_array_zero(s->components->n, 1);
    return GBSI_HAVE(err, "components", s->take);
}

gbs_status gbsi_solver_init(gbsi_solver *s, const gbs_model *model, const gbs_evidence *evidence,
                            const gbs_exact_options *options, gbs_error *err)
{
    GBSI_PASS(condition(s, model, evidence, options, err));
    GBSI_PASS(find_components(s, err));
    return take_components(s, err);
}

gbs_status gbsi_solver_init_about(gbsi_solver *s, const gbs_model *model,
                                  const gbs_evidence *evidence, const gbs_exact_options *options,
                                  size_t n, const uint32_t *query, bool only, gbs_error *err)
{
    GBSI_PASS(condition(s, model, evidence, options, err));
    GBSI_PASS(gbsi_prune_for(&s->whole, n, query, gbsi_watch_current(), NULL, err));
    GBSI_PASS(find_components(s, err));
    GBSI_PASS(only ? keep_asked(s, n, query, err) : GBS_OK);
    return take_components(s, err);
}

/* Whether the answer is a single sum or maximum, for which messages to the roots are enough. */
static bool is_one_number(const gbsi_exact_limits *limits)
{
    return limits->maximise ||
           (limits->late == NULL ? limits->up_only : limits->any_order || !limits->up_only);
}

/* Chooses components that have codewords, sparse tables or a cutset instead of a dense tree.
 * s->take then has 0 for them. Marginal MAP uses neither codewords nor cutsets, because the maximum
 * of a sum over cases is not the largest of the maxima of the cases. */
static gbs_status take_others(gbsi_solver *s, const gbsi_exact_plan *plan,
                              const gbsi_exact_limits *limits, gbs_error *err)
{
    const gbsi_components *c = s->components;
    const double ns = 1e9 * s->most_s < GBSI_CUTSET_NS ? 1e9 * s->most_s : GBSI_CUTSET_NS;
    const double dense_ns = limits->up_only ? GBSI_STACK_NS : GBSI_TABLES_NS;
    if (limits->late == NULL) {
        const gbsi_codewords_limits of_codewords = {
            .ns = ns, .bytes = s->bytes / 2, .maximise = limits->maximise, .watch = limits->watch};
        GBSI_PASS(
            gbsi_codewords_new(c, plan, &of_codewords, s->take, dense_ns, &s->codewords, err));
        gbsi_codewords_mark(s->codewords, GBSI_SPARSE_SKIP, s->take);
    }
    const gbsi_sparse_limits of_sparse = {.ns = ns,
                                          .bytes = s->bytes / 2,
                                          .least = GBSI_SPARSE_LEAST,
                                          .one_way = true,
                                          .watch = limits->watch};
    GBSI_PASS(gbsi_sparse_new(c, plan, &of_sparse, s->take, dense_ns, &s->sparse, err));
    gbsi_sparse_mark(s->sparse, 1, s->take);
    if (limits->late == NULL) {
        const gbsi_cutset_limits of_cutset = {.ns = ns,
                                              .bytes = s->bytes / 2,
                                              .up_only = limits->up_only,
                                              .maximise = limits->maximise};
        GBSI_PASS(gbsi_cutsets_new(c, plan, &of_cutset, s->take, &s->cutset, err));
    }
    gbsi_codewords_mark(s->codewords, 0, s->take);
    gbsi_sparse_mark(s->sparse, 0, s->take);
    return GBS_OK;
}

/* Plans all components. A component gets codewords or sparse tables if they are quicker than a
 * dense tree, or if no dense tree fits. The component gets a cutset if nothing else fits.
 * @return GBS_ERR_LIMIT if a component can be solved by none of these methods. */
static gbs_status take_all(gbsi_solver *s, gbsi_exact_plan *plan, const gbsi_exact_limits *limits,
                           gbs_error *err)
{
    const gbsi_components *c = s->components;
    assert(plan->elimination->n_parts ==
           c->n); /* the elimination has one part for each component, in the same order */
    for (uint32_t i = 0; i < c->n; ++i) {
        s->take[i] = gbsi_exact_fits(plan, i);
    }
    if (is_one_number(limits)) {
        GBSI_PASS(take_others(s, plan, limits, err));
    }
    GBSI_PASS(gbsi_exact_plan_tree(plan, s->take, &s->tree, err));
    gbsi_codewords_mark(s->codewords, 1, s->take);
    gbsi_sparse_mark(s->sparse, 1, s->take);
    for (const gbsi_cutset *cut = s->cutset; cut != NULL; cut = cut->next) {
        s->take[cut->component] = 1;
    }
    for (uint32_t i = 0; i < plan->elimination->n_parts; ++i) {
        const uint32_t v = c->variable[c->variable_start[i]];
        if (s->take[i] == 0) {
            GBSI_PASS(gbsi_exact_refuse(plan, i, s->whole->user_variable[v], err));
        }
    }
    return GBS_OK;
}

/* Chooses as many components as the memory allows. */
static gbs_status take_some(gbsi_solver *s, gbsi_exact_plan *plan, gbs_error *err)
{
    const gbs_status status =
        gbsi_exact_plan_choose(plan, false, INFINITY, s->bytes, s->take, &s->tree, err);
    return status < 0 || s->tree != NULL ? status
                                         : gbsi_exact_plan_tree(plan, s->take, &s->tree, err);
}

/* Returns the number of table entries that a component may have within s->most_s. @param ns
 * nanoseconds that one table entry takes. */
static uint64_t most_entries(const gbsi_solver *s, double ns)
{
    const double entries = 1e9 * s->most_s / ns;
    return entries < (double)GBSI_MOST_ENTRIES ? (uint64_t)entries : GBSI_MOST_ENTRIES;
}

gbs_status gbsi_solver_plan(gbsi_solver *s, gbsi_exact_limits limits, bool all, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_exact_plan *plan = NULL;
    limits.entries = most_entries(s, limits.up_only ? GBSI_STACK_NS : GBSI_TABLES_NS);
    limits.bytes = s->bytes;
    GBSI_TRY(gbsi_exact_check_search(s->whole, s->bytes, err));
    GBSI_TRY(gbsi_exact_plan_new(s->whole, s->graph, &limits, &plan, err));
    GBSI_TRY(all ? take_all(s, plan, &limits, err) : take_some(s, plan, err));
    const gbsi_keep keep = gbsi_exact_keep(s->tree, limits.up_only, s->bytes);
    GBSI_TRY(gbsi_exact_check_bytes(s->tree, keep, s->bytes, err));
    assert(s->tables == NULL);
    if (s->pool == NULL && (s->cutset != NULL || s->tree->n_tables >= GBSI_SHARED_ENTRIES)) {
        GBSI_TRY(gbsi_pool_new(s->n_threads, &s->pool, err));
    }
    GBSI_TRY(gbsi_tables_new(s->tree, keep, s->pool, &s->tables, err));

cleanup:
    gbsi_exact_plan_free(plan);
    return status;
}

gbs_status gbsi_solver_plan_tree(gbsi_solver *s, const uint32_t *user, gbsi_watch *watch,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_exact_plan *plan = NULL;
    const gbsi_exact_limits limits = {
        .entries = most_entries(s, GBSI_TABLES_NS), .bytes = s->bytes, .watch = watch};
    GBSI_TRY(gbsi_exact_check_search(s->whole, s->bytes, err));
    GBSI_TRY(gbsi_exact_plan_new(s->whole, s->graph, &limits, &plan, err));
    for (uint32_t i = 0; i < plan->elimination->n_parts; ++i) {
        const uint32_t v = s->components->variable[s->components->variable_start[i]];
        s->take[i] = 1;
        if (!gbsi_exact_fits(plan, i)) {
            GBSI_TRY(gbsi_exact_refuse(plan, i, user != NULL ? user[v] : v, err));
        }
    }
    if (plan->elimination->n_parts > 0) {
        GBSI_TRY(gbsi_exact_plan_tree(plan, s->take, &s->tree, err));
    }

cleanup:
    gbsi_exact_plan_free(plan);
    return status;
}

void gbsi_solver_free(gbsi_solver *s)
{
    gbsi_tables_free(s->tables);
    gbsi_tree_free(s->tree);
    gbsi_codewords_free(s->codewords);
    gbsi_sparse_free(s->sparse);
    gbsi_cutsets_free(s->cutset);
    gbsi_pool_free(s->pool);
    gbsi_free(s->take);
    gbsi_components_free(s->components);
    gbsi_graph_free(s->graph);
    gbsi_conditioned_free(s->whole);
    if (s->in_budget) {
        gbsi_budget_leave(s->budget_before);
        s->in_budget = false;
    }
}
