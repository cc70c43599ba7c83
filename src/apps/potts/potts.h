/* SPDX-License-Identifier: Apache-2.0 */
/* Dense Potts models [M62]. The parameters of a Potts model are one array: first the fields h_i(a),
 * [n_sites][n_states], then the tables J_ij(a, b), [n_states][n_states], of all pairs of sites i <
 * j. Pairs are in the order of i, and for equal i in the order of j. */
#ifndef GBSI_POTTS_POTTS_H
#define GBSI_POTTS_POTTS_H

#include "learn/rows.h"
#include "learn/work.h"
#include "potts/potts_rows.h"

typedef struct gbsi_potts {
    const gbs_rows *rows;
    const gbs_rows *held_out; /* held-out rows, or NULL */
    gbsi_work *work;
    uint32_t n_sites, n_states, width;
    size_t n;        /* number of parameters */
    size_t n_block;  /* number of entries of a block (potts_rows.h) */
    double *other;   /* [n] part of the gradient that the second site of each pair contributes */
    double *log_p;   /* [n_sites] sum of weight times ln p(x_i | others) of each site */
    double *scratch; /* [members][3][n_block] three blocks for each thread */
    const double *x; /* parameters of the current evaluation; the members below also belong to this
                        evaluation */
    const double *weight; /* [rows] weights that replace the weights of the rows, or NULL */
    const double *along;  /* [n] direction for products with second derivatives, or NULL */
    double *gradient;     /* gradient, or NULL */
    double l2;
    _Atomic uint32_t next;
} gbsi_potts;

/* @return the offset of the table of sites i < j. */
static inline size_t gbsi_potts_pair(const gbsi_potts *p, size_t i, size_t j)
{
    const size_t pair = i * (2 * (size_t)p->n_sites - i - 1) / 2 + (j - i - 1);
    return (size_t)p->n_sites * p->n_states + pair * p->n_states * p->n_states;
}

/* Sets only the members that are sizes. @return GBS_ERR_LIMIT if a size does not fit an int of
 * libLBFGS. */
gbs_status gbsi_potts_init(const gbs_rows *rows, gbsi_work *work, gbsi_potts *potts,
                           gbs_error *err);
/* Allocates the arrays; call gbsi_potts_free() even after a failure. @param gradients whether
 * gbsi_potts_objective() will be called. */
gbs_status gbsi_potts_take_memory(gbsi_potts *potts, bool gradients, gbs_error *err);
void gbsi_potts_free(gbsi_potts *potts);

/* Copies the parameters of site i from x into a block. The padding of the block must be zero, and
 * stays zero. */
void gbsi_potts_gather(const gbsi_potts *potts, const double *x, uint32_t i, double *block);

/* Copies a block of site i to the tables of all pairs: in potts->gradient if i is the first site of
 * the pair, and in potts->other if i is the second site. */
void gbsi_potts_scatter(const gbsi_potts *potts, const double *block, uint32_t i);

/* Computes l2/2 |x|^2 - sum of weight ln PL, and its gradient. @return the value; INFINITY, with a
 * gradient of zeros, if the watch stopped the work.
 * @param gradient [n] out. */
double gbsi_potts_objective(gbsi_potts *potts, const double *x, double l2, double *gradient);
/* Computes the sum over rows of weight times the slope of - ln PL. The given weights, of any sign,
 * replace the weights of the rows.
 * @param sum [n] out. */
void gbsi_potts_scores(gbsi_potts *potts, const double *x, const double *weight, double *sum);
/* Multiplies the second derivatives of the objective by a vector.
 * @param along, product [n]; product is out. */
void gbsi_potts_product(gbsi_potts *potts, const double *x, const double *along, double l2,
                        double *product);
/* Computes the sums of one site over all rows.
 * @param site has site, block, slope, along and weight (NULL: the weights of the rows); the
 * function sets the rest. @return false if the watch stopped the work. */
bool gbsi_potts_sum_rows(const gbsi_potts *potts, uint32_t member, gbsi_potts_site *site);
/* @return the sum over rows of weight ln PL; an undefined number if the watch stopped the work. */
double gbsi_potts_log_pl(gbsi_potts *potts, const double *x);
/* @return the sum of weight ln PL over the held-out rows; NAN if there are none. */
double gbsi_potts_held_out_pl(gbsi_potts *potts, const double *x);
/* Calls options.point, if it is not NULL, with the state of learning. @param gradient length of the
 * gradient. */
void gbsi_potts_tell(gbsi_potts *potts, const gbs_potts_options *options, uint64_t iteration,
                     const double *x, double objective, double gradient);

/* Brings the parameters to the zero-sum gauge, which does not change the distribution. */
void gbsi_potts_to_gauge(const gbsi_potts *potts, double *x);
/* Brings the weights of site i alone to the zero-sum gauge, which does not change the conditional
 * distribution of the site. */
void gbsi_potts_centre_block(const gbsi_potts *potts, uint32_t i, double *block);
gbs_status gbsi_potts_model(const gbsi_potts *potts, const double *x, gbs_model **model,
                            gbs_error *err);
/* gbsi_potts_check_model() checks that a model is a dense Potts model; the second function reads
 * its parameters. @param value NULL, or [n] out. @return n, the number of parameters. */
gbs_status gbsi_potts_check_model(const gbs_model *model, gbs_error *err);
size_t gbsi_potts_read(const gbs_model *model, double *value);

/* Takes steps of maximum likelihood from x; x becomes the mean of the parameters over the steps.
 * @param report the function sets the fields that concern PCD. @return GBS_STOPPED if the call was
 * stopped; x is then the result so far. */
gbs_status gbsi_potts_chains(gbsi_potts *potts, const gbs_potts_options *options, double *x,
                             gbs_potts_report *report, gbs_error *err);

/* potts_sites.c: learns each site alone. @param x [n] out. @param report the function sets the
 * fields that concern L-BFGS. @return GBS_ERR_STOPPED if the call was stopped; x is then undefined.
 */
gbs_status gbsi_potts_sites(gbsi_potts *potts, const gbs_potts_options *options, double *x,
                            gbs_potts_report *report, gbs_error *err);

/* Standard errors of dense Potts models that have too many parameters for a matrix. */

/* Estimates standard errors as root mean squares over n probes, each with its own signs for all
 * rows. An estimate has a relative standard error of 1 / sqrt(2 n) around the value that
 * potts_errors.c computes without probes. @param potts has memory for gradients. @param x
 * parameters at the maximum of the pseudo-likelihood. @param options the function reads l2, method
 * and seed. @param pull true: `error` receives only the part of the error that is due to the
 * penalty. For this part the penalty is read as a prior, and the true parameters as draws from this
 * prior. The part is the distance by which the penalty then moves the maximum. @param error
 * [potts->n] out. */
gbs_status gbsi_potts_probe_errors(gbsi_potts *potts, const double *x,
                                   const gbs_potts_options *options, uint64_t n, bool pull,
                                   double *error, gbs_error *err);

/* Finds the parameters that the rows do not bound: the couplings of two sites for which some pair
 * of states occurs in no row, and the fields of these sites. @param unseen [potts->n] out: 1 for
 * these parameters. @return whether any parameter is unseen. */
bool gbsi_potts_unseen(const gbsi_potts *potts, gbsi_watch *watch, uint8_t *unseen);

#endif
