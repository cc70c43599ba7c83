/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the components of a run that are answered exactly, and the method for each. Only counts
 * decide, except that the user's time limit may end a search. */
#include <math.h>
#include <string.h>

#include "base/machine.h"
#include "base/memory.h"
#include "chains/run_options.h"
#include "choose/exact_part.h"
#include "plan/draw.h"
#include "reference/enumerate.h"
#include "trees/clique_tables.h"
#include "variational/bound.h"

#define DRAW_NS      100.0 /* nanoseconds per clique for one draw */
#define SEARCH_SHARE 0.4   /* share of --time that `auto` spends on choosing exact components */

/* The memory that `auto` assumes on several ranks without --memory-limit, which makes all ranks
 * decide alike. */
#define RANKS_BYTES (UINT64_C(4) << 30)

/* The bytes of the memory limit that remain after all memory that is needed in any case. */
static uint64_t bytes_left(const gbs_run_options *options, const gbsi_problem *problem)
{
    const uint64_t limit = gbsi_options_memory_limit(options);
    const uint64_t standing = gbsi_components_standing(problem->components, problem->whole_graph);
    return limit > standing ? limit - standing : 0;
}

/* Whether the run must find a most probable state: gbs_map(). */
static bool maximises(const gbsi_run_purpose *purpose)
{
    return purpose->anneals && !purpose->up_only;
}

gbsi_exact_limits gbsi_run_exact_limits(const gbsi_task *task)
{
    return (gbsi_exact_limits){.entries = GBSI_MOST_ENTRIES,
                               .bytes = bytes_left(&task->options, &task->problem),
                               .maximise = maximises(&task->purpose)};
}

/* The time that exact answers of `auto` may take, as predicted for one thread: half of --time or,
 * without --time, half of --budget. */
static double auto_ns(const gbs_run_options *o)
{
    return 0.5e9 * (o->time_s > 0.0 ? o->time_s : o->budget_s);
}

uint64_t gbsi_run_auto_bytes(const gbsi_task *task)
{
    return task->options.memory_limit != 0 ? bytes_left(&task->options, &task->problem)
           : task->ranks != NULL           ? RANKS_BYTES
                                           : gbsi_auto_memory_limit();
}

/* The limits for a component if it may use all of auto_ns(). */
static gbsi_exact_limits auto_limits(const gbsi_task *task)
{
    const double entries = auto_ns(&task->options) / GBSI_STACK_NS;
    return (gbsi_exact_limits){.entries = entries < (double)GBSI_MOST_ENTRIES ? (uint64_t)entries
                                                                              : GBSI_MOST_ENTRIES,
                               .bytes = gbsi_run_auto_bytes(task),
                               .maximise = maximises(&task->purpose)};
}

/* Reports the predicted cost of exact answers. */
static void report_cost(const gbsi_run_purpose *purpose, const gbsi_problem *problem,
                        gbsi_report *report, const gbsi_exact_plan *plan)
{
    gbs_exact_cost *cost = &report->public.exact;
    const gbsi_codewords *codewords = problem->codewords;
    const gbsi_sparse *sparse = problem->sparse;
    const gbsi_cutset *cutset = problem->cutset;
    double other_ns = 0.0;
    cost->counted = 1;
    for (uint32_t i = 0; i < plan->elimination->n_parts; ++i) {
        if (codewords != NULL && codewords->component == i) {
            report->public.visited_states += codewords->n_steps;
            other_ns += codewords->ns;
            codewords = codewords->next;
            continue;
        }
        if (sparse != NULL && sparse->component == i) {
            report->public.nonzero_entries += sparse->n_entries;
            other_ns += sparse->ns;
            sparse = sparse->next;
            continue;
        }
        if (cutset != NULL && cutset->component == i) {
            cost->entries += cutset->entries;
            cost->n_cases += (int)cutset->cases.n;
            cutset = cutset->next;
            continue;
        }
        cost->entries += (double)plan->elimination->part[i].entries;
        cost->counted = cost->counted != 0 && gbsi_exact_fits(plan, i);
    }
    cost->seconds = cost->entries * 1e-9 * (purpose->up_only ? GBSI_STACK_NS : GBSI_TABLES_NS);
    cost->seconds += other_ns * 1e-9;
    cost->entries += report->public.nonzero_entries + report->public.visited_states;
}

/* Makes the tree again, for only those components that have take[component] != 0. */
static gbs_status tree_again(gbsi_exact_plan *plan, const uint8_t *take, gbsi_tree **tree,
                             gbs_error *err)
{
    gbsi_exact_plan_take_back(plan, *tree);
    *tree = NULL;
    return memchr(take, 1, plan->elimination->n_parts) == NULL
               ? GBS_OK
               : gbsi_exact_plan_tree(plan, take, tree, err);
}

/* Chooses codewords, sparse tables and cutsets for `auto`. @param left_ns limit on the predicted
 * time. @param entry_ns time of an entry of dense tables. */
static gbs_status choose_auto_others(const gbsi_task *task, gbsi_exact_plan *plan, double left_ns,
                                     double entry_ns, uint8_t *take, gbsi_exact_forms *forms,
                                     gbs_error *err)
{
    const gbsi_components *components = task->problem.components;
    const bool up_only = task->purpose.up_only;
    const bool maximise = maximises(&task->purpose);
    const uint64_t bytes = gbsi_run_auto_bytes(task) / 2;
    if (!task->purpose.draws) {
        const gbsi_codewords_limits of_codewords = {
            .ns = left_ns, .bytes = bytes, .maximise = maximise, .watch = gbsi_watch_current()};
        GBSI_PASS(gbsi_codewords_new(components, plan, &of_codewords, take, entry_ns,
                                     &forms->codewords, err));
        gbsi_codewords_mark(forms->codewords, GBSI_SPARSE_SKIP, take);
    }
    const gbsi_sparse_limits of_sparse = {.ns = left_ns,
                                          .bytes = bytes,
                                          .least = GBSI_SPARSE_LEAST,
                                          .one_way = up_only || maximise,
                                          .draws = task->purpose.draws};
    GBSI_PASS(gbsi_sparse_new(components, plan, &of_sparse, take, entry_ns, &forms->sparse, err));
    if ((forms->sparse != NULL || forms->codewords != NULL) && forms->tree != NULL) {
        gbsi_codewords_mark(forms->codewords, 0, take);
        gbsi_sparse_mark(forms->sparse, 0, take);
        GBSI_PASS(tree_again(plan, take, &forms->tree, err));
    }
    gbsi_codewords_mark(forms->codewords, 1, take);
    gbsi_sparse_mark(forms->sparse, 1, take);
    if (task->purpose.draws) {
        return GBS_OK;
    }
    const gbsi_cutset_limits of_cutset = {
        .ns = left_ns, .bytes = bytes, .up_only = up_only, .maximise = maximise};
    GBSI_PASS(gbsi_cutsets_new(components, plan, &of_cutset, take, &forms->cutset, err));
    for (const gbsi_cutset *c = forms->cutset; c != NULL; c = c->next) {
        take[c->component] = 1;
    }
    return GBS_OK;
}

gbs_status gbsi_run_auto_forms(const gbsi_task *task, gbsi_exact_plan *plan, uint8_t *take,
                               gbsi_exact_forms *forms, gbs_error *err)
{
    const bool up_only = task->purpose.up_only;
    const uint64_t bytes = gbsi_run_auto_bytes(task);
    double left_ns = auto_ns(&task->options);
    double entry_ns = GBSI_TABLES_NS;
    *forms = (gbsi_exact_forms){0};
    GBSI_PASS(gbsi_exact_plan_choose(plan, up_only, left_ns, bytes, take, &forms->tree, err));
    if (forms->tree != NULL) {
        entry_ns = gbsi_exact_entry_ns(gbsi_exact_keep(forms->tree, up_only, bytes));
        left_ns -= (double)forms->tree->n_entries * entry_ns;
    }
    bool obvious = false;
    if (maximises(&task->purpose) && memchr(take, 0, task->problem.components->n) != NULL) {
        GBSI_PASS(gbsi_bound_is_obvious(task->problem.whole, gbsi_watch_current(), &obvious, err));
    }
    if (obvious) { /* the search proves its first state, and needs no sparse tables */
        return GBS_OK;
    }
    entry_ns += task->purpose.draws ? GBSI_STACK_NS : 0.0;
    return choose_auto_others(task, plan, left_ns, entry_ns, take, forms, err);
}

/* Whether all components have trees or sparse tables, within the limits of `auto`. The limits hold
 * for the marginals, the kept tables and the draws. */
static bool is_drawn_exactly(const gbsi_task *task)
{
    const gbsi_problem *problem = &task->problem;
    const gbs_run_options *o = &task->options;
    const gbsi_tree *tree = problem->tree;
    double ns = tree == NULL ? 0.0 : (double)tree->n_entries * (GBSI_TABLES_NS + GBSI_STACK_NS);
    double n_cliques = tree == NULL ? 0.0 : (double)tree->n_cliques;
    uint64_t bytes = tree == NULL ? 0 : gbsi_exact_bytes(tree, GBSI_KEEP_ALL);
    if ((tree == NULL && problem->sparse == NULL && problem->components->n > 0) ||
        memchr(problem->exact, 0, problem->components->n) != NULL) {
        return false;
    }
    for (const gbsi_sparse *c = problem->sparse; c != NULL; c = c->next) {
        ns += c->ns;
        n_cliques += (double)c->tree->n_cliques;
        bytes += c->bytes;
    }
    const uint64_t n_kept = o->sweeps / o->thin; /* number of kept draws of a chain */
    ns += (double)n_kept * (double)o->chains * n_cliques * DRAW_NS;
    return ns <= auto_ns(o) && bytes <= gbsi_run_auto_bytes(task);
}

/* Chooses the exact components of a run that gives draws: all components are drawn exactly, or
 * none. */
static gbs_status choose_drawn(gbsi_task *task, gbsi_exact_plan *plan, gbs_error *err)
{
    gbsi_problem *p = &task->problem;
    if (is_drawn_exactly(task)) {
        return p->sparse == NULL ? GBS_OK : gbsi_sparse_streams(plan, p->tree, p->sparse, err);
    }
    gbsi_exact_plan_take_back(plan, p->tree);
    gbsi_sparse_free(p->sparse);
    p->tree = NULL;
    p->sparse = NULL;
    memset(p->exact, 0, p->components->n);
    return GBS_OK;
}

static gbs_status choose_auto(gbsi_task *task, gbsi_report *report, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_exact_plan *plan = NULL;
    gbsi_exact_forms forms = {0};
    gbsi_exact_limits limits = auto_limits(task);
    limits.watch = gbsi_watch_current();
    if (gbsi_exact_check_search(task->problem.whole, limits.bytes, NULL) == GBS_OK) {
        GBSI_TRY(gbsi_exact_plan_new(task->problem.whole, task->problem.whole_graph, &limits, &plan,
                                     err));
        status = gbsi_run_auto_forms(task, plan, task->problem.exact, &forms, err);
        task->problem.tree = forms.tree;
        task->problem.codewords = forms.codewords;
        task->problem.sparse = forms.sparse;
        task->problem.cutset = forms.cutset;
        GBSI_TRY(status);
        GBSI_TRY(task->purpose.draws ? choose_drawn(task, plan, err) : GBS_OK);
        report_cost(&task->purpose, &task->problem, report, plan);
    }
    for (uint32_t i = 0; i < task->problem.components->n; ++i) {
        if (task->problem.exact[i] == 0 && !maximises(&task->purpose) && !task->purpose.draws &&
            task->problem.components->n_states[i] <= GBSI_ENUMERATE_AUTO_STATES) {
            task->problem.exact[i] = 1;
            task->problem.enumerated[i] = 1;
        }
    }

cleanup:
    gbsi_exact_plan_free(plan);
    return status;
}

/* Chooses the exact components within a share of --time. If the search takes longer, it is given
 * up, and all components are sampled. */
static gbs_status choose_in_time(gbsi_task *task, gbsi_report *report, gbs_error *err)
{
    gbsi_problem *p = &task->problem;
    gbsi_watch *outer = gbsi_watch_current(); /* the watch for the preparation of the run, which
                                                 stops when --time is over */
    gbsi_watch watch = gbsi_watch_of(NULL, NULL, 0.0, 0.0);
    if (outer != NULL && outer->until_s > 0.0) {
        watch.until_s = outer->until_s - (1.0 - SEARCH_SHARE) * task->options.time_s;
    }
    (void)gbsi_watch_enter(&watch);
    const gbs_status status = choose_auto(task, report, err);
    gbsi_watch_leave(outer);
    if (!gbsi_watch_stopped(&watch) || (outer != NULL && gbsi_watch_ask(outer))) {
        return status;
    }
    gbsi_problem_forget_tables(p);
    memset(p->exact, 0, p->components->n);
    memset(p->enumerated, 0, p->components->n);
    p->late = true;
    report->late_search = true;
    report->late_share = SEARCH_SHARE;
    return GBS_OK;
}

/* Chooses codewords, sparse tables and cutsets for a run in which all components must be exact.
 * @param trees [components] in and out: 1 if a component has dense tables. */
static gbs_status choose_others(gbsi_problem *p, gbsi_run_purpose *purpose,
                                const gbsi_exact_plan *plan, const gbsi_exact_limits *limits,
                                uint8_t *trees, gbs_error *err)
{
    const bool up_only = purpose->up_only;
    const gbsi_codewords_limits of_codewords = {.ns = GBSI_CUTSET_NS,
                                                .bytes = limits->bytes / 2,
                                                .maximise = limits->maximise,
                                                .watch = limits->watch};
    const gbsi_sparse_limits of_sparse = {.ns = GBSI_CUTSET_NS,
                                          .bytes = limits->bytes / 2,
                                          .least = GBSI_SPARSE_LEAST,
                                          .one_way = up_only || limits->maximise,
                                          .draws = purpose->draws,
                                          .watch = limits->watch};
    const gbsi_cutset_limits of_cutset = {.ns = GBSI_CUTSET_NS,
                                          .bytes = limits->bytes / 2,
                                          .up_only = up_only,
                                          .maximise = limits->maximise,
                                          .watch = limits->watch};
    const double entry_ns =
        up_only ? GBSI_STACK_NS : GBSI_TABLES_NS + (of_sparse.draws ? GBSI_STACK_NS : 0.0);
    if (!purpose->draws) {
        GBSI_PASS(gbsi_codewords_new(p->components, plan, &of_codewords, trees, entry_ns,
                                     &p->codewords, err));
        gbsi_codewords_mark(p->codewords, GBSI_SPARSE_SKIP, trees);
    }
    GBSI_PASS(gbsi_sparse_new(p->components, plan, &of_sparse, trees, entry_ns, &p->sparse, err));
    gbsi_codewords_mark(p->codewords, 1, trees);
    gbsi_sparse_mark(p->sparse, 1, trees);
    GBSI_PASS(gbsi_cutsets_new(p->components, plan, &of_cutset, trees, &p->cutset, err));
    memcpy(p->exact, trees, p->components->n);
    for (const gbsi_cutset *c = p->cutset; c != NULL; c = c->next) {
        p->exact[c->component] = 1;
    }
    gbsi_codewords_mark(p->codewords, 0, trees);
    gbsi_sparse_mark(p->sparse, 0, trees);
    return GBS_OK;
}

static gbs_status choose_all(gbsi_task *task, gbsi_report *report, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_exact_plan *plan = NULL;
    uint8_t *trees = gbsi_alloc_array(task->problem.components->n, 1);
    gbsi_exact_limits limits = gbsi_run_exact_limits(task);
    limits.watch = gbsi_watch_current();
    GBSI_TRY(GBSI_HAVE(err, "components", trees));
    GBSI_TRY(gbsi_exact_check_search(task->problem.whole, limits.bytes, err));
    GBSI_TRY(
        gbsi_exact_plan_new(task->problem.whole, task->problem.whole_graph, &limits, &plan, err));
    for (uint32_t i = 0; i < task->problem.components->n; ++i) {
        trees[i] = gbsi_exact_fits(plan, i);
    }
    GBSI_TRY(choose_others(&task->problem, &task->purpose, plan, &limits, trees, err));
    for (uint32_t i = 0; i < task->problem.components->n; ++i) {
        const uint32_t v =
            task->problem.components->variable[task->problem.components->variable_start[i]];
        if (task->problem.exact[i] == 0 && gbsi_problem_asks(&task->problem, i)) {
            GBSI_TRY(gbsi_exact_refuse(plan, i, task->problem.whole->user_variable[v], err));
        }
    }
    report_cost(&task->purpose, &task->problem, report, plan);
    GBSI_TRY(gbsi_exact_plan_tree(plan, trees, &task->problem.tree, err));
    GBSI_TRY(gbsi_exact_check_bytes(
        task->problem.tree,
        gbsi_exact_keep(task->problem.tree, task->purpose.up_only, limits.bytes), limits.bytes,
        err));
    if (task->purpose.draws && task->problem.sparse != NULL && task->problem.cutset == NULL) {
        GBSI_TRY(gbsi_sparse_streams(plan, task->problem.tree, task->problem.sparse, err));
    }

cleanup:
    gbsi_free(trees);
    gbsi_exact_plan_free(plan);
    return status;
}

gbsi_keep gbsi_run_draw_keep(const gbsi_task *task)
{
    return gbsi_exact_bytes(task->problem.tree, GBSI_KEEP_ALL) <= gbsi_run_exact_limits(task).bytes
               ? GBSI_KEEP_ALL
               : GBSI_KEEP_ALL_MESSAGES;
}

/* The bytes of the trees and of their work memory. Scratch memory for threads is included if there
 * is room for it. */
static uint64_t tree_bytes(const gbsi_task *task)
{
    const gbsi_tree *tree = task->problem.tree;
    const gbsi_keep keep = task->problem.keep;
    const uint64_t limit = bytes_left(&task->options, &task->problem);
    const uint64_t drawn =
        task->purpose.draws ? gbsi_exact_bytes(tree, gbsi_run_draw_keep(task)) : 0;
    const uint64_t own = gbsi_exact_bytes(tree, keep);
    const uint64_t bytes = own > drawn ? own : drawn;
    const uint64_t scratch =
        gbsi_branch_workers_bytes(tree, keep, gbsi_options_threads(&task->options));
    const uint64_t left = limit > bytes ? limit - bytes : 0;
    return bytes + (scratch < left ? scratch : left);
}

static gbs_status choose_exact(gbsi_task *task, gbsi_report *report, gbs_error *err)
{
    const uint32_t n = task->problem.components->n;
    task->problem.exact = gbsi_alloc_array_zero(n, 1);
    task->problem.enumerated = gbsi_alloc_array_zero(n, 1);
    GBSI_PASS(GBSI_HAVE(err, "components", task->problem.exact, task->problem.enumerated));
    uint64_t bytes = gbsi_run_auto_bytes(task);
    switch (task->options.method) {
    case GBS_METHOD_MEAN_FIELD:
    case GBS_METHOD_BELIEF:
        memset(task->problem.exact, 1,
               n); /* no component is sampled; approximate_run.c gives the answers */
        break;
    case GBS_METHOD_AUTO:
        GBSI_PASS(choose_in_time(task, report, err));
        break;
    case GBS_METHOD_EXACT:
        bytes = bytes_left(&task->options, &task->problem);
        GBSI_PASS(choose_all(task, report, err));
        break;
    default: /* all components are sampled */
        break;
    }
    if (task->problem.tree != NULL) {
        const gbsi_tree *tree = task->problem.tree;
        task->problem.keep = gbsi_exact_keep(tree, task->purpose.up_only, bytes);
        task->problem.exact_bytes = tree_bytes(task);
    }
    for (const gbsi_codewords *c = task->problem.codewords; c != NULL; c = c->next) {
        task->problem.exact_bytes += c->bytes;
    }
    for (const gbsi_sparse *c = task->problem.sparse; c != NULL; c = c->next) {
        task->problem.exact_bytes += c->bytes;
    }
    for (const gbsi_cutset *c = task->problem.cutset; c != NULL; c = c->next) {
        task->problem.exact_bytes += c->bytes;
    }
    return GBS_OK;
}

/* ---- barren variables ------------------------------------------------------------------------ */

static bool all_exact(const gbsi_problem *p)
{
    return memchr(p->exact, 0, p->components->n) == NULL;
}

/* Whether barren variables may be drawn given the other variables, provided that these are answered
 * exactly. */
static bool may_draw_barren(const gbs_run_options *o, const gbsi_run_purpose *purpose)
{
    return o->method == GBS_METHOD_AUTO && purpose->limited && !purpose->anneals &&
           !purpose->divides && !purpose->asks && o->sequence == NULL && !o->partial_scan &&
           !o->restarts && o->dummy_edges == NULL && o->estimator == GBS_ESTIMATOR_RAO_BLACKWELL &&
           o->temper <= GBS_TEMPER_OFF && (gbsi_draw_traits(o) & GBSI_DRAW_INDEPENDENT) != 0;
}

/* Tries the problem without its barren variables. @param exact out: whether all other variables are
 * answered exactly and can be drawn. */
static gbs_status choose_core(gbsi_task *task, gbsi_report *report, bool *exact, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const bool draws = task->purpose.draws;
    GBSI_TRY(gbsi_problem_take_graph(&task->problem, err));
    task->purpose.draws = true;
    status = choose_exact(task, report, err);
    task->purpose.draws = draws;
    *exact = status >= 0 && all_exact(&task->problem);

cleanup:
    return status;
}

/* Leaves out the barren variables, which are then drawn later. The function does so if all other
 * variables are then exact, and would not all be exact otherwise. */
static gbs_status leave_out_barren(gbsi_task *task, gbsi_report *report, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_problem full = task->problem;
    gbsi_pruning pruning = {0};
    gbsi_conditioned *core = NULL;
    const gbs_exact_cost cost = report->public.exact;
    const double nonzero = report->public.nonzero_entries;
    const double visited = report->public.visited_states;
    bool exact = false;
    GBSI_TRY(gbsi_prune(full.whole, NULL, gbsi_watch_current(), &pruning, err));
    if (pruning.n == 0) {
        goto cleanup;
    }
    GBSI_TRY(gbsi_pruned_part(full.whole, &pruning, &core, err));
    task->problem = (gbsi_problem){
        .model = full.model, .start = full.start, .whole = core, .penalty = full.penalty};
    report->public.nonzero_entries = 0.0;
    report->public.visited_states = 0.0;
    status = choose_core(task, report, &exact, err);
    report->public.exact = cost;
    report->public.nonzero_entries = nonzero;
    report->public.visited_states = visited;
    if (exact) {
        full.start = NULL;
        task->problem.n_pruned = pruning.n;
        gbsi_conditioned *whole = full.whole;
        full.whole = NULL;
        gbsi_problem_free(&full);
        status = gbsi_barren_new(whole, &pruning, core, &task->problem.barren, err);
    } else {
        task->problem.start = NULL;
        gbsi_problem_free(&task->problem);
        task->problem = full;
    }

cleanup:
    gbsi_pruning_clear(&pruning);
    return status;
}

gbs_status gbsi_run_choose_exact(gbsi_task *task, gbsi_report *report, gbs_error *err)
{
    const gbs_status status = choose_exact(task, report, err);
    return status < 0 || task->problem.late || all_exact(&task->problem) ||
                   !may_draw_barren(&task->options, &task->purpose)
               ? status
               : leave_out_barren(task, report, err);
}
