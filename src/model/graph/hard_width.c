/* SPDX-License-Identifier: Apache-2.0 */
/* Tests whether factors with hard zeros couple some variables too densely for a tree of cliques.
 *
 * Suppose that a graph has a tree whose separators have at most w variables. Some variable of the
 * graph then has at most w neighbours, and the graph without this variable also has such a tree
 * (degeneracy bounds treewidth from below: Bodlaender & Koster (2011), Information and Computation
 * 209:1103-1119, section 3.2). Variables with at most w neighbours are therefore removed one after
 * the other. */
#include "base/memory.h"
#include "graph/graph.h"

/* Largest number of rounds over all variables; if they do not suffice, nothing is proved */
#define MOST_ROUNDS 64

typedef struct peeling {
    const gbsi_conditioned *model;
    gbsi_incident_factors incident;
    uint32_t *seen; /* [n_variables] 1 + the variable whose neighbours were last searched */
    uint8_t *gone;  /* [n_variables] 1 if removed */
    uint32_t width;
} peeling;

/* Returns whether factors with zeros join v with more than `width` variables that are not
 * removed. */
static bool sees_many(peeling *p, uint32_t v, gbsi_watch *watch)
{
    const gbsi_factors *factors = &p->model->factors;
    const size_t last = gbsi_offset(&p->incident.start, v + (size_t)1);
    uint32_t n = 0;
    p->seen[v] = v + 1;
    for (size_t i = gbsi_offset(&p->incident.start, v); i < last; i++) {
        const size_t f = p->incident.factor[i];
        const size_t end = factors->scope_start[f + 1];
        (void)gbsi_watch_spend(watch, end - factors->scope_start[f]);
        for (size_t e = factors->scope_start[f]; p->model->has_zeros[f] && e < end; e++) {
            const uint32_t other = factors->scope[e];
            if (p->gone[other] == 0 && p->seen[other] != v + 1) {
                p->seen[other] = v + 1;
                if (++n > p->width) {
                    return true;
                }
            }
        }
    }
    return false;
}

/* Removes variables. @return the number of variables left when no more can be removed; 0 if this
 * number was not determined. */
static uint32_t peel(peeling *p, gbsi_watch *watch)
{
    uint32_t left = p->model->n_variables;
    for (int round = 0; round < MOST_ROUNDS && !gbsi_watch_stopped(watch); round++) {
        const uint32_t before = left;
        for (uint32_t v = 0; v < p->model->n_variables && !gbsi_watch_stopped(watch); v++) {
            if (p->gone[v] == 0 && !sees_many(p, v, watch)) {
                p->gone[v] = 1;
                left--;
            }
        }
        if (left == before) {
            return left;
        }
    }
    return 0;
}

gbs_status gbsi_hard_too_dense(const gbsi_conditioned *model, uint32_t width, gbsi_watch *watch,
                               bool *too_dense, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = model->n_variables;
    peeling p = {.model = model,
                 .width = width,
                 .seen = gbsi_alloc_array_zero(n, sizeof *p.seen),
                 .gone = gbsi_alloc_array_zero(n, sizeof *p.gone)};
    if (p.seen == NULL || p.gone == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "hard zeros", n * (sizeof *p.seen + 1)));
    }
    GBSI_TRY(gbsi_incident_factors_init(&model->factors, n, 2, &p.incident, err));
    *too_dense = peel(&p, watch) > 0;
cleanup:
    gbsi_incident_factors_free(&p.incident);
    GBSI_FREE(p.seen, p.gone);
    return status;
}
