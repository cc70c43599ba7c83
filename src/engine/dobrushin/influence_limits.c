/* SPDX-License-Identifier: Apache-2.0 */
/* Limits the cost of bounds, so that all bounds together take a bounded time. One limit applies to
 * the joint states of unions of scopes. Another limit applies to reads of table entries, and is
 * proportional to the size of the tables. */
#include "dobrushin/influence.h"

/* Limit on joint states of unions of scopes, over all pairs */
#define UNION_BUDGET    (UINT64_C(1) << 24)
#define LEAST_CELLS     16u
#define WALK_BUDGET     (UINT64_C(1) << 28) /* limit on reads of table entries, over all pairs */
#define WALKS_PER_ENTRY 56u /* limit on mean reads of an entry, for tables of 8 variables */
#define LEAST_WALK      (UINT64_C(1) << 16)

gbsi_influence_limits gbsi_influence_affordable(const gbsi_factors *f)
{
    uint64_t n_pairs = 1;
    uint64_t n_entries = 0;
    uint64_t n_walked = 0;
    for (size_t k = 0; k < f->n_factors; ++k) {
        const uint64_t n = f->scope_start[k + 1] - f->scope_start[k];
        n_pairs += n <= GBSI_INFLUENCE_LONG ? n * (n - 1) : 0;
        if (f->kind[k] == GBS_FACTOR_TABLE) {
            const uint64_t e = f->table_start[f->aux[k] + (size_t)1] - f->table_start[f->aux[k]];
            n_entries += e;
            n_walked += n * (n - 1) * e; /* n is at most the logarithm of e */
        }
    }
    const uint64_t cells = UNION_BUDGET / n_pairs;
    return (gbsi_influence_limits){
        .cells = cells < LEAST_CELLS            ? LEAST_CELLS
                 : cells > GBSI_INFLUENCE_CELLS ? GBSI_INFLUENCE_CELLS
                                                : cells,
        .walk = n_walked <= WALK_BUDGET + WALKS_PER_ENTRY * n_entries ? UINT64_MAX : LEAST_WALK};
}
