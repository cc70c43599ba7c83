/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out, by union-find over states, whether updates of single variables lead from every state
 * of positive weight to every other state of positive weight. States that differ only in one
 * variable form a line. Each state of a line is joined to the first state of the line. This takes
 * one step for each state and variable. */
#include <assert.h>
#include <inttypes.h>

#include "base/forest.h"
#include "base/memory.h"
#include "reference/enumerate.h"

#define ABSENT UINT32_MAX /* marks a state of weight zero; numbers of states are below 2^22 */

typedef struct states {
    uint32_t *parent; /* [n_states] for each state: the next state on the path to the root of its
                         set; a root has its own number */
    uint64_t n_sets;
} states;

static double visit_support(void *context, uint64_t index, double logw)
{
    (void)logw;
    states *s = context;
    assert(s->parent[index] == ABSENT); /* each state is visited once */
    s->parent[index] = (uint32_t)index;
    s->n_sets++;
    return 0.0;
}

/* Joins the states of each line in which only a given variable differs. The states of a line are
 * `stride` apart. */
static void join_lines(states *s, uint64_t n_states, uint64_t stride, uint32_t arity)
{
    for (uint64_t block = 0; block < n_states; block += stride * arity) {
        for (uint64_t line = block; line < block + stride; line++) {
            uint32_t first = ABSENT;
            for (uint64_t at = line; at < line + stride * arity; at += stride) {
                if (s->parent[at] == ABSENT) {
                    continue;
                }
                if (first == ABSENT) {
                    first = (uint32_t)at;
                } else {
                    s->n_sets -= gbsi_forest_join(s->parent, first, (uint32_t)at);
                }
            }
        }
    }
}

gbs_status gbsi_support_connected(const gbsi_conditioned *model, gbsi_watch *watch, bool *connected,
                                  gbs_error *err)
{
    gbs_status status = GBS_OK;
    states s = {0};
    double max = 0.0;
    GBSI_TRY(gbsi_walk_max(model, watch, &max,
                           err)); /* fails for too many states, or if no state has weight */
    const uint64_t n_states = gbsi_n_states(model, NULL);
    s.parent = gbsi_alloc_array((size_t)n_states, sizeof *s.parent);
    GBSI_TRY(GBSI_HAVE(err, "support", s.parent));
    for (uint64_t i = 0; i < n_states; i++) {
        s.parent[i] = ABSENT;
    }
    GBSI_TRY(gbsi_walk(model, watch, visit_support, &s, NULL, NULL, err));
    uint64_t stride = 1;
    for (uint32_t v = model->n_variables; v > 0 && s.n_sets > 1; v--) {
        join_lines(&s, n_states, stride, model->arity[v - 1]);
        (void)gbsi_watch_spend(watch, n_states);
        stride *= model->arity[v - 1];
    }
    *connected = s.n_sets == 1;

cleanup:
    gbsi_free(s.parent);
    return status;
}
