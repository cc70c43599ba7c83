/* SPDX-License-Identifier: Apache-2.0 */
#include "sparse/sparse_join.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

#define LOOK 4096u /* number of steps between two checks of the watch */

void gbsi_join_free(gbsi_join *join)
{
    GBSI_FREE(join->step, join->added, join->node);
}

void gbsi_join_clear(gbsi_join *join, uint32_t n_axes, const uint32_t *arity)
{
    join->n_axes = n_axes;
    join->n_added = 0;
    join->n_nodes = 0;
    join->sum[0] = 0.0;
    for (uint32_t k = 0; k < n_axes; ++k) {
        join->begin[k] = 0;
        join->end[k] = arity[k];
    }
}

gbs_status gbsi_join_add(gbsi_join *join, const gbsi_trie *rows, const uint32_t *axis,
                         const double *value, uint32_t *row, gbs_error *err)
{
    void *added = join->added;
    void *node = join->node;
    GBSI_PASS(gbsi_reserve(&added, &join->added_capacity, join->n_added + rows->n_axes,
                           sizeof *join->added, "sparse tables", err));
    join->added = added;
    GBSI_PASS(gbsi_reserve(&node, &join->node_capacity, join->n_nodes + rows->n_axes + 1,
                           sizeof *join->node, "sparse tables", err));
    join->node = node;
    assert(rows->n > 0);
    for (uint32_t k = 0; k < rows->n_axes; ++k) {
        assert(axis[k] < join->n_axes && (k == 0 || axis[k - 1] < axis[k]));
        join->added[join->n_added++] =
            (gbsi_join_step){.level = &rows->level[k],
                             .value = k + 1 == rows->n_axes ? value : NULL,
                             .axis = axis[k],
                             .from = (uint32_t)join->n_nodes + k};
    }
    join->node[join->n_nodes] = 0;
    join->sum[0] += rows->n_axes == 0 && value != NULL ? value[0] : 0.0;
    join->n_nodes += rows->n_axes + (size_t)1;
    if (row != NULL) {
        *row = (uint32_t)join->n_nodes - 1;
    }
    return GBS_OK;
}

gbs_status gbsi_join_begin(gbsi_join *join, gbs_error *err)
{
    size_t n = 0;
    void *step = join->step;
    GBSI_PASS(gbsi_reserve(&step, &join->step_capacity, join->n_added, sizeof *join->step,
                           "sparse tables", err));
    join->step = step;
    for (uint32_t k = 0; k < join->n_axes; ++k) {
        join->first_step[k] = (uint32_t)n;
        for (size_t i = 0; i < join->n_added; ++i) {
            if (join->added[i].axis == k) {
                join->step[n++] = join->added[i];
            }
        }
    }
    assert(n == join->n_added); /* every step that was added belongs to exactly one axis */
    join->first_step[join->n_axes] = (uint32_t)n;
    join->at = 0;
    join->try[0] = join->begin[0];
    join->changed = 0;
    return GBS_OK;
}

/* Sets axis k to state a. @return whether every operand has an entry that begins with the states of
 * axes 0 to k. */
static inline bool enter(gbsi_join *join, uint32_t k, uint32_t a)
{
    double sum = join->sum[k];
    assert(k < join->n_axes && a < join->end[k]);
    const gbsi_join_step *end = join->step + join->first_step[k + 1];
    for (const gbsi_join_step *s = join->step + join->first_step[k]; s < end; ++s) {
        const gbsi_trie_level *level = s->level;
        const uint32_t next = level->next[(size_t)join->node[s->from] * level->arity + a];
        ++join->n_steps;
        if (next == 0) {
            return false;
        }
        join->node[s->from + 1] = next - 1;
        if (s->value != NULL) {
            sum += s->value[next - 1];
        }
    }
    join->sum[k + 1] = sum;
    join->x[k] = a;
    return true;
}

/* Counts the joint states of the clique that come before all states that begin with the current
 * states of axes 0 to k. */
static double states_behind(const gbsi_join *join, uint32_t k)
{
    double behind = 0.0;
    for (uint32_t i = 0; i < join->n_axes; ++i) {
        behind = behind * join->end[i] + (i < k ? join->x[i] : i == k ? join->try[i] : 0);
    }
    return behind;
}

bool gbsi_join_pay(gbsi_join *join)
{
    const uint64_t n = join->n_steps - join->paid_steps;
    join->paid_steps = join->n_steps;
    return gbsi_watch_spend(join->watch, n);
}

/* Checks the watch and the limit on steps. @return whether the join must stop. */
static bool look(gbsi_join *join, uint32_t k)
{
    const double most = join->most_steps + join->a_state * states_behind(join, k);
    join->stopped = gbsi_join_pay(join) || (double)join->n_steps > most;
    return join->stopped;
}

bool gbsi_join_next(gbsi_join *join)
{
    uint32_t k = join->at;
    uint32_t slowest = k;
    while (join->n_steps - join->paid_steps < LOOK || !look(join, k)) {
        const uint32_t a = join->try[k];
        if (a == join->end[k]) {
            if (k == 0) {
                break;
            }
            --k;
            slowest = k < slowest ? k : slowest;
            continue;
        }
        join->try[k] = a + 1;
        ++join->n_steps;
        if (!enter(join, k, a)) {
            continue;
        }
        if (k + 1 == join->n_axes) {
            join->at = k;
            join->changed = slowest;
            return true;
        }
        ++k;
        join->try[k] = join->begin[k];
    }
    return false;
}
