/* SPDX-License-Identifier: Apache-2.0 */
/* Probabilities averaged over the draws of independent ladders, in batches.
 *
 * Between 8 and 16 batches of equal length cover the kept iterations. When 16 batches are full,
 * neighbouring batches are merged. Sums are integers, so that the result depends only on the kept
 * iterations, and not on when batches were merged. A caller may leave out draws, so that the draws
 * of a batch vary in number. A mean is therefore the ratio of two sums: the sum of the values, and
 * the number of draws that were added. */
#ifndef GBSI_TEMPER_MEANS_H
#define GBSI_TEMPER_MEANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/saved.h"

enum { GBSI_MOST_BATCHES = 16 };

/* Probability 1 in the units of `sum`. */
#define GBSI_MEANS_ONE (UINT64_C(1) << 32)

typedef struct gbsi_means {
    uint32_t n_ladders;
    /* number of draws that all ladders together make in an iteration; n_ladders, unless the caller
     * sets a larger number */
    uint32_t n_draws;
    size_t n_cells;
    uint64_t length;  /* number of iterations in a batch */
    uint64_t n;       /* number of kept iterations */
    uint64_t open;    /* number of iterations in the batch that is being filled */
    uint32_t n_full;  /* number of full batches */
    uint64_t *sum;    /* [MOST_BATCHES][n_ladders][n_cells] */
    uint64_t *weight; /* [MOST_BATCHES][n_ladders] number of draws that were added to `sum` */
    uint64_t *trips;  /* [MOST_BATCHES][n_ladders] number of round trips */
} gbsi_means;

/* Estimate of one cell; numbers that are undefined are NAN. */
typedef struct gbsi_mean {
    double p;
    double mcse; /* standard error: the larger of an estimate from batches and an estimate from
                    ladders */
    double rhat; /* sqrt(1 + variance between ladders / variance of a draw) */
} gbsi_mean;

gbs_status gbsi_means_new(uint32_t n_ladders, size_t n_cells, gbsi_means **means, gbs_error *err);
void gbsi_means_free(gbsi_means *means);
uint64_t gbsi_means_bytes(uint32_t n_ladders, size_t n_cells);

/* @return [n_cells] the sums of one ladder in the open batch, to which the caller must add the
 * values of the current iteration. */
uint64_t *gbsi_means_row(gbsi_means *means, uint32_t ladder);
/* Ends an iteration. @param counted [n_ladders] for each ladder, number of draws that the caller
 * added in this iteration. @param trips [n_ladders] number of round trips that ended in this
 * iteration. */
void gbsi_means_end(gbsi_means *means, const uint64_t *counted, const uint64_t *trips);
/* Whether exactly 12 batches are full and no batch is open, so that the first third of the batches
 * may be dropped. */
bool gbsi_means_may_drop(const gbsi_means *means);
/* Drops the first third of the batches. @return number of iterations dropped. */
uint64_t gbsi_means_drop(gbsi_means *means);

gbsi_mean gbsi_means_cell(const gbsi_means *means, size_t cell);
/* Standard error of a weighted sum of means, computed like gbsi_mean.mcse. @param weight [n_cells]
 * weight of each mean. */
double gbsi_means_error(const gbsi_means *means, const double *weight);
/* Number of round trips of the ladder that has the fewest round trips. */
uint64_t gbsi_means_least_trips(const gbsi_means *means);
/* Fraction of all draws that were added; the others were left out. */
double gbsi_means_share(const gbsi_means *means);

/* Save and load everything except the shape, which the caller sets. @return GBS_ERR_FORMAT if the
 * loaded batches are impossible. */
gbs_status gbsi_means_save(const gbsi_means *means, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_means_load(gbsi_means *means, const gbsi_source *source, gbs_error *err);

#endif
