/* SPDX-License-Identifier: Apache-2.0 */
/* Probabilities averaged over the draws of independent ladders, in batches.
 *
 * Between 8 and 16 batches of equal length cover the iterations that are kept; when 16 are full,
 * neighbouring batches are merged. Sums are integers, so that the result does not depend on when
 * batches are merged: it is a function of the kept iterations. Draws need not all count: a mean is
 * the ratio of two sums. */
#ifndef GBSI_TEMPER_MEANS_H
#define GBSI_TEMPER_MEANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/saved.h"

enum { GBSI_MOST_BATCHES = 16 };

/* Probability 1 in a sum. */
#define GBSI_MEANS_ONE (UINT64_C(1) << 32)

typedef struct gbsi_means {
    uint32_t n_ladders;
    uint32_t n_draws; /* draws of an iteration, over all ladders: one for each ladder, unless the
                         caller sets a larger number */
    size_t n_cells;
    uint64_t length;  /* iterations of a batch */
    uint64_t n;       /* iterations kept */
    uint64_t open;    /* iterations in the batch that is being filled */
    uint32_t n_full;  /* number of full batches */
    uint64_t *sum;    /* [MOST_BATCHES][n_ladders][n_cells] */
    uint64_t *weight; /* [MOST_BATCHES][n_ladders] draws that count */
    uint64_t *trips;  /* [MOST_BATCHES][n_ladders] round trips */
} gbsi_means;

/* An estimate of one cell. NAN if undefined. */
typedef struct gbsi_mean {
    double p;
    double mcse; /* the larger of the standard errors by batches and by ladders */
    double rhat; /* sqrt(1 + variance between ladders / variance of a draw) */
} gbsi_mean;

gbs_status gbsi_means_new(uint32_t n_ladders, size_t n_cells, gbsi_means **means, gbs_error *err);
void gbsi_means_free(gbsi_means *means);
uint64_t gbsi_means_bytes(uint32_t n_ladders, size_t n_cells);

/* The row to which the current iteration of one ladder is added. @return [n_cells] */
uint64_t *gbsi_means_row(gbsi_means *means, uint32_t ladder);
/* Ends an iteration. @param counted [n_ladders] draws that were added. @param trips [n_ladders]
 * round trips that ended. */
void gbsi_means_end(gbsi_means *means, const uint64_t *counted, const uint64_t *trips);
/* Whether 12 batches are full and none is open; if so, a third of them may be dropped. */
bool gbsi_means_may_drop(const gbsi_means *means);
/* Forgets the first third. @return the iterations it held. */
uint64_t gbsi_means_drop(gbsi_means *means);

gbsi_mean gbsi_means_cell(const gbsi_means *means, size_t cell);
/* The standard error of a sum of means, as gbsi_mean.mcse. @param weight [n_cells] of each. */
double gbsi_means_error(const gbsi_means *means, const double *weight);
/* The number of round trips of the ladder that has the fewest. */
uint64_t gbsi_means_least_trips(const gbsi_means *means);
/* The share of all draws that count. */
double gbsi_means_share(const gbsi_means *means);

/* Save and load everything except the shape, which the caller sets. @return GBS_ERR_FORMAT for
 * batches that cannot be. */
gbs_status gbsi_means_save(const gbsi_means *means, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_means_load(gbsi_means *means, const gbsi_source *source, gbs_error *err);

#endif
