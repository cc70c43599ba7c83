/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the components that get sparse tables. Also holds functions that sparse_reduce.c and
 * sparse_answers.c share. */
#include "sparse/sparse.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"

#define MOST_ENTRIES (UINT64_C(1) << 60) /* limit on dense entries: offsets have 64 bits */
#define MOST_FACTOR  (UINT64_C(1) << 24) /* limit on entries of one factor */
#define SHARE        4.0 /* the search for entries may take 1 / SHARE of the time of dense tables */
/* If no dense tables fit, the search for entries may take 1 / LIMIT_SHARE of the allowed time */
#define LIMIT_SHARE 8.0
#define SLACK       4.0 /* the first search may take 1 / SLACK of the steps */
#define GAIN        2.0 /* least ratio between the times of dense and sparse tables */
#define ENTRY_STEPS 4.0 /* number of look-ups that take as long as one exponential */
#define ONE_WAY     1.0 /* number of passes over the entries for ln Z: one up */
#define BOTH_WAYS   2.0 /* number of passes for marginals: one up, one down */
#define TO_DRAW     4.0 /* number of passes for draws: two up, one down, one over the list */

/* ---- one pass over the cliques ------------------------------------------------------------- */

gbs_status gbsi_sparse_scratch_take(const gbsi_sparse *s, gbsi_watch *watch,
                                    gbsi_sparse_scratch *scratch, gbs_error *err)
{
    *scratch = (gbsi_sparse_scratch){.join = {.watch = watch, .most_steps = INFINITY}};
    scratch->axis_of = gbsi_alloc_array_zero(s->n_variables, sizeof *scratch->axis_of);
    scratch->row = gbsi_alloc_array(s->tree->n_cliques, sizeof *scratch->row);
    GBSI_PASS(GBSI_HAVE(err, "sparse tables", scratch->axis_of, scratch->row));
    return GBS_OK;
}

void gbsi_sparse_scratch_free(gbsi_sparse_scratch *scratch)
{
    gbsi_join_free(&scratch->join);
    GBSI_FREE(scratch->axis_of, scratch->row);
}

gbs_status gbsi_sparse_join_clique(const gbsi_sparse *s, uint32_t i, const double *value,
                                   gbsi_sparse_scratch *scratch, gbs_error *err)
{
    const gbsi_tree *tree = s->tree;
    const gbsi_clique *c = &tree->clique[i];
    const uint32_t *child = tree->child + tree->child_start[i];
    const uint32_t n_children = tree->child_start[i + (size_t)1] - tree->child_start[i];
    uint32_t to[GBSI_TREE_AXES]; /* scratch: arities of the clique's variables, then axes of a
                                    child's separator */
    for (uint32_t k = 0; k < c->n_separator + c->n_own; ++k) {
        scratch->axis_of[tree->variable[c->first + k]] = k;
        to[k] = s->arity[tree->variable[c->first + k]];
    }
    gbsi_join_clear(&scratch->join, c->n_separator + c->n_own, to);
    for (uint32_t k = 0; k < n_children; ++k) {
        const gbsi_clique *below = &tree->clique[child[k]];
        for (uint32_t a = 0; a < below->n_separator; ++a) {
            to[a] = scratch->axis_of[tree->variable[below->first + a]];
        }
        GBSI_PASS(gbsi_join_add(&scratch->join, &s->rows[child[k]], to,
                                value != NULL ? value + s->first_row[child[k]] : NULL,
                                &scratch->row[k], err));
    }
    for (size_t k = tree->factor_start[i]; k < tree->factor_start[i + (size_t)1]; ++k) {
        const gbsi_sparse_factor *f = &s->factor[k];
        GBSI_PASS(gbsi_join_add(&scratch->join, &f->rows, f->axis, value != NULL ? f->value : NULL,
                                NULL, err));
    }
    return GBS_OK;
}

gbs_status gbsi_sparse_join_own(const gbsi_sparse *s, uint32_t i, const double *value,
                                gbsi_sparse_scratch *scratch, gbs_error *err)
{
    uint32_t axis[GBSI_TREE_AXES];
    for (uint32_t k = 0; k < s->tree->clique[i].n_separator; ++k) {
        axis[k] = k;
    }
    return gbsi_join_add(&scratch->join, &s->rows[i], axis,
                         value != NULL ? value + s->first_row[i] : NULL, &scratch->own_row, err);
}

/* ---- making -------------------------------------------------------------------------------- */

void gbsi_sparse_free(gbsi_sparse *s)
{
    while (s != NULL) {
        gbsi_sparse *next = s->next;
        const size_t n = s->tree == NULL ? 0 : s->tree->n_cliques;
        for (size_t i = 0; i < n && s->rows != NULL; ++i) {
            gbsi_trie_free(&s->rows[i]);
        }
        for (size_t k = 0; n > 0 && k < s->tree->factor_start[n] && s->factor != NULL; ++k) {
            gbsi_trie_free(&s->factor[k].rows);
            GBSI_FREE(s->factor[k].value, s->factor[k].axis);
        }
        GBSI_FREE(s->rows, s->factor, s->first_row, s->n_entries_of, s->arity);
        gbsi_tree_free(s->tree);
        gbsi_free(s);
        s = next;
    }
}

/* Makes the tree of a component. The sets of nonzero entries stay empty. */
static gbs_status begin(const gbsi_components *components, uint32_t component,
                        const gbsi_exact_plan *plan, gbsi_sparse **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_conditioned *model = gbsi_exact_plan_model(plan);
    uint8_t *take = gbsi_alloc_array_zero(plan->elimination->n_parts, 1);
    gbsi_sparse *s = gbsi_alloc_zero(sizeof *s);
    GBSI_TRY(GBSI_HAVE(err, "sparse tables", take, s));
    take[component] = 1;
    s->components = components;
    s->component = component;
    s->n_variables = model->n_variables;
    GBSI_TRY(gbsi_tree_new(model, plan->elimination, take, plan->maximise, false, &s->tree, err));
    assert(s->tree->n_trees == 1);
    const size_t n = s->tree->n_cliques;
    s->arity = gbsi_alloc_array(s->n_variables, sizeof *s->arity);
    s->rows = gbsi_alloc_array_zero(n, sizeof *s->rows);
    s->factor = gbsi_alloc_array_zero(s->tree->factor_start[n], sizeof *s->factor);
    s->first_row = gbsi_alloc_array_zero(n + 1, sizeof *s->first_row);
    s->n_entries_of = gbsi_alloc_array_zero(n, sizeof *s->n_entries_of);
    GBSI_TRY(GBSI_HAVE(err, "sparse tables", s->arity, s->rows, s->factor, s->first_row,
                       s->n_entries_of));
    memcpy(s->arity, model->arity, s->n_variables * sizeof *s->arity);
    *out = s;
    s = NULL;

cleanup:
    gbsi_free(take);
    gbsi_sparse_free(s);
    return status;
}

/* Predicts the time and the memory of an answer from the numbers of nonzero entries. */
static void predict(gbsi_sparse *s, const gbsi_sparse_limits *limits, uint64_t tree_bytes)
{
    const uint32_t n = s->tree->n_cliques;
    size_t most = 0; /* largest number of rows of all children of one clique together */
    for (uint32_t i = 0; i < n; ++i) {
        size_t rows = 0;
        for (size_t k = s->tree->child_start[i]; k < s->tree->child_start[i + (size_t)1]; ++k) {
            rows += s->rows[s->tree->child[k]].n;
        }
        most = rows > most ? rows : most;
        s->first_row[i + (size_t)1] = s->first_row[i] + s->rows[i].n;
    }
    s->ns = (s->n_steps + ENTRY_STEPS * s->n_entries) * GBSI_SPARSE_NS *
            (limits->draws     ? TO_DRAW
             : limits->one_way ? ONE_WAY
                               : BOTH_WAYS);
    s->bytes += limits->draws ? ((uint64_t)s->n_entries * 2 + s->first_row[n]) * sizeof(size_t) : 0;
    s->bytes += tree_bytes + (s->first_row[n] + most + (uint64_t)n) * sizeof(double) +
                s->n_variables * (uint64_t)(5 * sizeof(uint32_t));
}

/* Makes the sparse tables of one component. @param most_ns the predicted time of the answer, times
 * `gain`, must not exceed this limit. @param out NULL if the prediction exceeds the limit. */
static gbs_status make(const gbsi_components *components, uint32_t component,
                       const gbsi_exact_plan *plan, const gbsi_sparse_limits *limits,
                       double most_ns, double gain, gbsi_sparse **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_sparse *s = NULL;
    bool done = false;
    *out = NULL;
    GBSI_TRY(begin(components, component, plan, &s, err));
    if (s->tree->n_factor <= MOST_FACTOR) {
        const uint64_t tree_bytes = gbsi_tree_bytes(s->tree);
        const double steps = most_ns / ((gain > 1.0 ? SHARE : LIMIT_SHARE) * GBSI_SPARSE_NS);
        const gbsi_sparse_effort effort = {
            .model = gbsi_exact_plan_model(plan),
            .steps = gain > 1.0 ? steps / SLACK : steps,
            .a_state = gain > 1.0 ? steps / (double)s->tree->n_entries : 0.0,
            .bytes = limits->bytes,
            .watch = limits->watch};
        GBSI_TRY(gbsi_sparse_reduce(s, &effort, &done, err));
        predict(s, limits, tree_bytes);
    }
    s->tree->model = NULL;
    if (done && s->ns * gain <= most_ns && s->bytes <= limits->bytes) {
        *out = s;
        s = NULL;
    }

cleanup:
    gbsi_sparse_free(s);
    return status;
}

static bool is_hopeful(const gbsi_components *components, uint32_t component,
                       const gbsi_exact_plan *plan, uint64_t least)
{
    const gbsi_elimination_part *part = &plan->elimination->part[component];
    return components->has_zeros[component] != 0 && part->end == GBSI_ELIMINATION_DONE &&
           part->width < GBSI_TREE_AXES && part->entries >= least && part->entries <= MOST_ENTRIES;
}

gbs_status gbsi_sparse_new(const gbsi_components *components, const gbsi_exact_plan *plan,
                           const gbsi_sparse_limits *limits, const uint8_t *dense, double dense_ns,
                           gbsi_sparse **out, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_sparse_limits left = *limits;
    gbsi_sparse *first = NULL;
    gbsi_sparse **end = &first;
    for (uint32_t i = 0; i < components->n; ++i) {
        const double entries = (double)plan->elimination->part[i].entries;
        const double most_ns = dense[i] != 0 ? entries * dense_ns : left.ns;
        if (dense[i] == GBSI_SPARSE_SKIP || !is_hopeful(components, i, plan, limits->least)) {
            continue;
        }
        status = make(components, i, plan, &left, most_ns, dense[i] != 0 ? GAIN : 1.0, end, err);
        if (status == GBS_ERR_LIMIT) {
            continue; /* not enough memory for a search */
        }
        GBSI_TRY(status);
        if (*end != NULL) {
            left.ns -= dense[i] != 0 ? 0.0 : (*end)->ns;
            left.bytes -= (*end)->bytes;
            end = &(*end)->next;
        }
    }
    status = GBS_OK;
    *out = first;
    first = NULL;

cleanup:
    gbsi_sparse_free(first);
    return status;
}

void gbsi_sparse_mark(const gbsi_sparse *sparse, uint8_t mark, uint8_t *to)
{
    for (; sparse != NULL; sparse = sparse->next) {
        to[sparse->component] = mark;
    }
}

/* ---- random numbers ------------------------------------------------------------------------ */

/* Gives each clique the stream of random numbers that belongs to the first of its own variables.
 * @param stream [variables] stream of each variable. */
static void take_streams(gbsi_tree *tree, const uint32_t *stream)
{
    for (uint32_t i = 0; i < tree->n_cliques; ++i) {
        gbsi_clique *c = &tree->clique[i];
        if (c->n_own > 0) {
            c->stream = stream[tree->variable[c->first + c->n_separator]];
        }
    }
}

gbs_status gbsi_sparse_streams(const gbsi_exact_plan *plan, gbsi_tree *dense, gbsi_sparse *sparse,
                               gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_conditioned *model = gbsi_exact_plan_model(plan);
    const uint32_t n_parts = plan->elimination->n_parts;
    gbsi_tree *tree = NULL;
    uint8_t *all = gbsi_alloc_array(n_parts, 1);
    uint32_t *stream = gbsi_alloc_array(model->n_variables, sizeof *stream);
    GBSI_TRY(GBSI_HAVE(err, "sparse tables", all, stream));
    memset(all, 1, n_parts);
    GBSI_TRY(gbsi_tree_new(model, plan->elimination, all, NULL, true, &tree, err));
    for (uint32_t i = 0; i < tree->n_cliques; ++i) {
        const gbsi_clique *c = &tree->clique[i];
        const uint32_t *own = tree->variable + c->first + c->n_separator;
        for (uint32_t k = 0; k < c->n_own; ++k) {
            stream[own[k]] = i;
        }
    }
    if (dense != NULL) {
        take_streams(dense, stream);
    }
    for (; sparse != NULL; sparse = sparse->next) {
        take_streams(sparse->tree, stream);
    }

cleanup:
    gbsi_tree_free(tree);
    GBSI_FREE(all, stream);
    return status;
}
