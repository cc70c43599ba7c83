/* SPDX-License-Identifier: Apache-2.0 */
#include "temper/overlap.h"

#include "base/memory.h"

/* If two ladders agree on the state of a variable in at least this fraction of comparisons, the
 * variable is treated as constant, and its memory is ignored. */
#define CONSTANT 0.9

struct gbsi_overlap {
    uint32_t n_variables, n_levels;
    /* [n_variables][n_levels] number of lanes whose state after a move equals the state before */
    uint32_t *same;
    /* [n_variables][n_levels] number of lanes whose state equals the state at this level of the
     * next ladder */
    uint32_t *agree;
    uint32_t *n; /* [n_variables] number of comparisons at each level */
};

uint64_t gbsi_overlap_bytes(uint32_t n_variables, uint32_t n_levels)
{
    return sizeof(gbsi_overlap) + (uint64_t)n_variables * (2 * n_levels + 1) * sizeof(uint32_t);
}

gbs_status gbsi_overlap_new(uint32_t n_variables, uint32_t n_levels, gbsi_overlap **overlap,
                            gbs_error *err)
{
    gbsi_overlap *o = gbsi_alloc_zero(sizeof *o);
    const size_t n = (size_t)n_variables * n_levels;
    GBSI_PASS(GBSI_HAVE(err, "temperatures", o));
    o->n_variables = n_variables;
    o->n_levels = n_levels;
    o->same = gbsi_alloc_array_zero(n, sizeof *o->same);
    o->agree = gbsi_alloc_array_zero(n, sizeof *o->agree);
    o->n = gbsi_alloc_array_zero(n_variables, sizeof *o->n);
    if (o->same == NULL || o->agree == NULL || o->n == NULL) {
        gbsi_overlap_free(o);
        return gbsi_no_memory(err, "temperatures",
                              (size_t)gbsi_overlap_bytes(n_variables, n_levels));
    }
    *overlap = o;
    return GBS_OK;
}

void gbsi_overlap_free(gbsi_overlap *o)
{
    if (o != NULL) {
        GBSI_FREE(o->same, o->agree, o->n, o);
    }
}

void gbsi_overlap_add(gbsi_overlap *o, const gbsi_exchange *exchange, uint32_t variable,
                      const uint32_t *before, const uint32_t *after)
{
    const uint32_t n = exchange->n_ladders;
    for (uint32_t t = 0; t < o->n_levels; ++t) {
        const uint32_t first = gbsi_exchange_lane(exchange, 0, t);
        uint32_t same = 0;
        uint32_t agree = 0;
        for (uint32_t r = 0; r < n; ++r) {
            same += before[first + r] == after[first + r];
            agree += after[first + r] == after[first + (r + 1) % n];
        }
        o->same[(size_t)variable * o->n_levels + t] += same;
        o->agree[(size_t)variable * o->n_levels + t] += agree;
    }
    o->n[variable] += n;
}

double gbsi_overlap_memory(const gbsi_overlap *o, uint32_t t)
{
    double most = 0.0;
    for (uint32_t v = 0; v < o->n_variables; ++v) {
        const double n = o->n[v];
        const double same = o->same[(size_t)v * o->n_levels + t] / n;
        const double agree = o->agree[(size_t)v * o->n_levels + t] / n;
        if (agree < CONSTANT) {
            const double q = (same - agree) / (1.0 - agree);
            most = q > most ? q : most;
        }
    }
    return most;
}

double gbsi_overlap_hot_end(const gbsi_overlap *o, double most)
{
    double q = 0.0; /* memory at b = 0, where a sweep forgets the old state */
    for (uint32_t t = 0; t + 1 < o->n_levels; ++t) {
        const double next = gbsi_overlap_memory(o, t + 1);
        if (next >= most) {
            return t + (most - q) / (next - q);
        }
        q = next;
    }
    return o->n_levels - 1;
}

gbs_status gbsi_overlap_save(const gbsi_overlap *o, const gbsi_sink *sink, gbs_error *err)
{
    const size_t n = (size_t)o->n_variables * o->n_levels;
    GBSI_PASS(gbsi_put_numbers(sink, o->same, n, sizeof *o->same, err));
    GBSI_PASS(gbsi_put_numbers(sink, o->agree, n, sizeof *o->agree, err));
    return gbsi_put_numbers(sink, o->n, o->n_variables, sizeof *o->n, err);
}

gbs_status gbsi_overlap_load(gbsi_overlap *o, const gbsi_source *source, gbs_error *err)
{
    const size_t n = (size_t)o->n_variables * o->n_levels;
    GBSI_PASS(gbsi_take_numbers(source, o->same, n, sizeof *o->same, err));
    GBSI_PASS(gbsi_take_numbers(source, o->agree, n, sizeof *o->agree, err));
    return gbsi_take_numbers(source, o->n, o->n_variables, sizeof *o->n, err);
}
