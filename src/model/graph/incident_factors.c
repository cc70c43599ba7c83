/* SPDX-License-Identifier: Apache-2.0 */
#include "graph/graph.h"

#include "base/memory.h"

bool gbsi_count_ends(uint32_t *degree, const uint32_t *variable, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        if (degree[variable[i]]++ == UINT32_MAX) {
            return false;
        }
    }
    return true;
}

static gbs_status make_starts(const gbsi_factors *factors, uint32_t n_variables, size_t least,
                              gbsi_offsets *start, gbs_error *err)
{
    bool fits = true;
    gbsi_watch *watch = gbsi_watch_current();
    uint32_t *degree = gbsi_alloc_array_zero((size_t)n_variables + 1, sizeof *degree);
    GBSI_PASS(GBSI_HAVE(err, "factors of variables", degree));
    for (size_t f = 0; f < factors->n_factors && fits; ++f) {
        const size_t first = factors->scope_start[f];
        const size_t n = factors->scope_start[f + 1] - first;
        if (gbsi_watch_spend(watch, n)) {
            break; /* the work is stopped, and the rows will not be filled */
        }
        fits = n < least || gbsi_count_ends(degree, factors->scope + first, n);
    }
    if (!fits) {
        gbsi_free(degree);
        return gbsi_fail(err, GBS_ERR_LIMIT, "a variable has more than %u factors", UINT32_MAX);
    }
    return gbsi_offsets_take(degree, n_variables, start, "factors of variables", err);
}

/* a write to a row whose page may not be in memory yet counts as this number of operations */
#define SCATTERED 32u
/* scopes with more literals than this store positions, because a search for each literal would
 * be quadratic */
#define LONG_SCOPE 64u

static bool has_long(const gbsi_factors *factors)
{
    bool found = false;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        found |= factors->scope_start[f + 1] - factors->scope_start[f] > LONG_SCOPE;
    }
    return found;
}

uint64_t gbsi_incident_position_bytes(const gbsi_factors *factors)
{
    return factors->n_factors > 0 && has_long(factors)
               ? factors->scope_start[factors->n_factors] * sizeof(uint32_t)
               : 0;
}

uint32_t gbsi_incident_position(const gbsi_incident_factors *incident, const gbsi_factors *factors,
                                size_t k, uint32_t v)
{
    const uint32_t *scope = factors->scope + factors->scope_start[incident->factor[k]];
    uint32_t position = 0;
    if (incident->position != NULL) {
        return incident->position[k];
    }
    while (scope[position] != v) {
        ++position;
    }
    return position;
}

gbs_status gbsi_incident_factors_init(const gbsi_factors *factors, uint32_t n_variables,
                                      size_t least, gbsi_incident_factors *incident, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbsi_incident_factors made = {.factor = NULL};
    gbsi_watch *watch = gbsi_watch_current();
    uint32_t *used = gbsi_alloc_array_zero(n_variables, sizeof *used);
    GBSI_TRY(GBSI_HAVE(err, "factors of variables", used));
    GBSI_TRY(make_starts(factors, n_variables, least, &made.start, err));
    const size_t n_ends = gbsi_offset(&made.start, n_variables);
    made.factor = gbsi_alloc_array(n_ends, sizeof *made.factor);
    GBSI_TRY(GBSI_HAVE(err, "factors of variables", made.factor));
    if (has_long(factors)) {
        made.position = gbsi_alloc_array(n_ends, sizeof *made.position);
        GBSI_TRY(GBSI_HAVE(err, "factors of variables", made.position));
    }
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const size_t first = factors->scope_start[f];
        const size_t end = factors->scope_start[f + 1];
        GBSI_TRY(gbsi_watch_work(watch, SCATTERED * (end - first),
                                 "listing the factors of variables", err));
        for (size_t e = first; end - first >= least && e < end; ++e) {
            const uint32_t v = factors->scope[e];
            const size_t k = gbsi_offset(&made.start, v) + used[v]++;
            made.factor[k] = f;
            if (made.position != NULL) {
                made.position[k] = (uint32_t)(e - first);
            }
        }
    }
    *incident = made;
    made = (gbsi_incident_factors){.factor = NULL};

cleanup:
    gbsi_free(used);
    gbsi_incident_factors_free(&made);
    return status;
}

void gbsi_incident_factors_free(gbsi_incident_factors *incident)
{
    gbsi_offsets_free(&incident->start);
    GBSI_FREE(incident->factor, incident->position);
    *incident = (gbsi_incident_factors){.factor = NULL};
}
