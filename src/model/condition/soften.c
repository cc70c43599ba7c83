/* SPDX-License-Identifier: Apache-2.0 */
#include "condition/soften.h"

#include <math.h>

#include "base/memory.h"
#include "simd/math.h"

static void soften_table(const double *from, double *to, size_t n, double depth, double penalty)
{
    double least = INFINITY;
    double most = -INFINITY;
    for (size_t e = 0; e < n; ++e) {
        least = from[e] > -INFINITY && from[e] < least ? from[e] : least;
        most = from[e] > most ? from[e] : most;
    }
    least = least > most - depth ? least : most - depth;
    for (size_t e = 0; e < n; ++e) {
        to[e] = from[e] > -INFINITY ? from[e] : least - penalty;
    }
}

/* Potts couplings may be minus infinity, and weights of logical functions plus infinity. */
static double soften_weight(double weight, double penalty)
{
    return weight == INFINITY ? penalty : weight == -INFINITY ? -penalty : weight;
}

gbs_status gbsi_soften(const gbsi_conditioned *hard, double depth, double penalty,
                       gbsi_conditioned **out, gbs_error *err)
{
    const gbsi_factors *f = &hard->factors;
    const size_t n_entries = f->table_start[f->n_tables];
    gbs_status status = GBS_OK;
    gbsi_conditioned *soft = gbsi_alloc_zero(sizeof *soft);
    GBSI_PASS(GBSI_HAVE(err, "softened model", soft));
    *soft = *hard;
    soft->factors.table = gbsi_alloc_array(n_entries, sizeof *soft->factors.table);
    soft->factors.weight = gbsi_alloc_array(f->n_factors, sizeof *soft->factors.weight);
    soft->has_zeros = gbsi_alloc_array_zero(f->n_factors, sizeof *soft->has_zeros);
    GBSI_TRY(GBSI_HAVE(err, "softened model", soft->factors.table, soft->factors.weight,
                       soft->has_zeros));
    for (size_t t = 0; t < f->n_tables; ++t) {
        const size_t start = f->table_start[t];
        soften_table(f->table + start, soft->factors.table + start, f->table_start[t + 1] - start,
                     depth, penalty);
    }
    for (size_t i = 0; i < f->n_factors; ++i) {
        soft->factors.weight[i] = soften_weight(f->weight[i], penalty);
        if (gbsi_is_noisy(
                f->kind[i])) { /* the softened entry is the case of an effect that has no cause */
            double *leak = soft->factors.table + f->table_start[f->aux[i]];
            *leak = *leak == 0.0 ? -gbsi_exp(-penalty) : *leak;
        }
    }
    *out = soft;
    soft = NULL;
cleanup:
    gbsi_softened_free(soft);
    return status;
}

double gbsi_soften_shift(const gbsi_conditioned *hard, double penalty)
{
    double shift = 0.0;
    for (size_t f = 0; f < hard->factors.n_factors; ++f) {
        /* a hard logical function that holds adds 0 to the log density of `hard`, but `penalty` to
         * the log density of the copy */
        shift += hard->factors.weight[f] == INFINITY ? penalty : 0.0;
    }
    return shift;
}

void gbsi_softened_free(gbsi_conditioned *soft)
{
    if (soft == NULL) {
        return;
    }
    GBSI_FREE(soft->factors.table, soft->factors.weight, soft->has_zeros, soft);
}

uint64_t gbsi_softened_bytes(const gbsi_conditioned *soft)
{
    const gbsi_factors *f = &soft->factors;
    return sizeof *soft + (uint64_t)f->table_start[f->n_tables] * sizeof *f->table +
           (uint64_t)f->n_factors * (sizeof *f->weight + sizeof *soft->has_zeros);
}
