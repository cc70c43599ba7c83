/* SPDX-License-Identifier: Apache-2.0 */
/* Thinned traces: the log density and the states of a few variables at evenly spaced passes, in
 * constant memory. When GBSI_THINNED passes are kept, every other pass is dropped and the stride
 * doubles. */
#ifndef GBSI_ESTIMATE_THINNED_H
#define GBSI_ESTIMATE_THINNED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/saved.h"

#define GBSI_THINNED 1024u /* equal to GBS_MOST_TRACED */

typedef struct gbsi_thinned {
    uint32_t n_chains, n_variables;
    uint64_t stride;   /* number of passes from one kept pass to the next */
    uint64_t n_passes; /* number of passes so far */
    uint32_t n;        /* number of kept passes: n_passes / stride */
    double *density;   /* [n_chains][GBSI_THINNED]; `state` follows in the same allocation */
    uint16_t *state;   /* [n_variables][n_chains][GBSI_THINNED] */
} gbsi_thinned;

/* @param stride number of passes from one kept pass to the next, at the beginning. */
gbs_status gbsi_thinned_init(gbsi_thinned *t, uint32_t n_chains, uint32_t n_variables,
                             uint64_t stride, gbs_error *err);
void gbsi_thinned_free(gbsi_thinned *t); /* frees the members that init allocated, not the struct */

/* Must be called at the end of a pass. @return whether the pass is kept, with index t->n. For a
 * kept pass, the caller must set the density and the states of every chain, and then call
 * gbsi_thinned_end(). */
bool gbsi_thinned_pass(gbsi_thinned *t);
void gbsi_thinned_set(gbsi_thinned *t, uint32_t chain, double density, const uint32_t *state);
/* Ends a kept pass. */
void gbsi_thinned_end(gbsi_thinned *t);

/* Save and load between two passes, as gbsi_estimate_save() and gbsi_estimate_load() do. */
gbs_status gbsi_thinned_save(const gbsi_thinned *t, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_thinned_load(gbsi_thinned *t, const gbsi_source *source, gbs_error *err);

#endif
