/* SPDX-License-Identifier: Apache-2.0 */
/* Means, standard errors and split R-hat of series with one value per pass and chain, in constant
 * memory: at most 128 batch means per chain are kept, and the batch length doubles. */
#ifndef GBSI_ESTIMATE_TRACE_H
#define GBSI_ESTIMATE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "base/saved.h"

typedef struct gbsi_trace gbsi_trace;

gbs_status gbsi_trace_new(uint32_t n_chains, uint32_t n_series, gbsi_trace **out, gbs_error *err);
void gbsi_trace_free(gbsi_trace *trace);

/* Adds the values of one chain in this pass. @param value [n_series]. */
void gbsi_trace_put(gbsi_trace *trace, uint32_t chain, const double *value);
/* Ends the pass, after the values of every chain. */
void gbsi_trace_end_pass(gbsi_trace *trace);

typedef struct gbsi_trace_summary {
    double mean; /* NAN before the first pass */
    /* standard error of the mean, from batch means [M8]; NAN if there are too few batches */
    double mcse;
    /* split R-hat of the last values of the batches [M9]; NAN if there are fewer than 4 batches */
    double rhat;
} gbsi_trace_summary;

gbsi_trace_summary gbsi_trace_summarise(const gbsi_trace *trace, uint32_t series);

/* The batches of a trace, merged into about a given number. */
typedef struct gbsi_trace_batches {
    uint32_t per_chain; /* number of merged batches of a chain; 0 if there are too few passes */
    uint32_t merged;    /* number of batches that are merged into one */
    uint64_t length;    /* number of passes in a merged batch */
} gbsi_trace_batches;

/* @param wanted about how many batches a chain shall have, from 1 to 64. */
gbsi_trace_batches gbsi_trace_batches_of(const gbsi_trace *trace, uint32_t wanted);
/* Sum of the values of a series over merged batch b of one chain. */
double gbsi_trace_batch(const gbsi_trace *trace, const gbsi_trace_batches *batches, uint32_t series,
                        uint32_t chain, uint32_t b);
uint64_t gbsi_trace_n_passes(const gbsi_trace *trace);
/* Upper bound of the bytes that gbsi_trace_new() takes. */
uint64_t gbsi_trace_bytes(uint32_t n_chains, uint32_t n_series);

/* Save and load between two passes, as gbsi_estimate_save() and gbsi_estimate_load() do. */
gbs_status gbsi_trace_save(const gbsi_trace *trace, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_trace_load(gbsi_trace *trace, const gbsi_source *source, gbs_error *err);

#endif
