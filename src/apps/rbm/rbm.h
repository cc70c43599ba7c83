/* SPDX-License-Identifier: Apache-2.0 */
/* Binary restricted Boltzmann machines [M63]: p(v, h) is proportional to exp(a.v + b.h + v.W.h). */
#ifndef GBSI_RBM_RBM_H
#define GBSI_RBM_RBM_H

#include <stddef.h>
#include <stdint.h>

#include "learn/keep.h"
#include "learn/rows.h"
#include "learn/work.h"
#include "rng/words.h"

/* ---- layers.c ------------------------------------------------------------------------------- */

/* The innermost loops of restricted Boltzmann machines: sums over the units of one layer, for each
 * unit of the other layer, and functions of these sums. Widths are multiples of eight. */
typedef struct gbsi_layers {
    /* sum[k] += matrix[list[r]][k] for all r, in the order of the list. @param matrix [][width]
     * @param sum [width] */
    void (*sum_rows)(const double *matrix, size_t width, const uint32_t *list, size_t n,
                     double *sum);
    /* x[k] = 1 / (1 + exp(-x[k])). @param x [width] */
    void (*logistic)(double *x, size_t width);
    /* Returns the sum over k of ln(1 + exp(x[k] + step y[k])). @param x, y [width] */
    double (*softplus)(const double *x, const double *y, double step, size_t width);
} gbsi_layers;

static inline size_t gbsi_layer_width(size_t n)
{
    return (n + 7) / 8 * 8;
}

/* @return the functions for the instruction set in use. */
const gbsi_layers *gbsi_layers_here(void);

/* ---- rbm.c ---------------------------------------------------------------------------------- */

/* The number of intervals that divide [0, 1]. Herded draws keep one weight for each interval of
 * probabilities. */
#define GBSI_RBM_BINS 16u

typedef struct gbsi_rbm {
    const gbs_rows *rows;
    gbsi_work *work;
    gbs_rbm_options options;
    const gbsi_layers *layers;
    const gbsi_words *words;
    size_t n, m;           /* numbers of visible and hidden units */
    size_t wide_n, wide_m; /* n and m padded to multiples of eight */
    double *w;             /* [n][wide_m] couplings; entries from m on are zero */
    double *wt;            /* [m][wide_n] transpose of w */
    double *owed; /* [n][wide_m] amount that l1 has subtracted from each entry of w, with its sign;
                     or NULL */
    double owing; /* sum that l1 would have subtracted from a weight that was never near 0 */
    double *a;    /* [wide_n] fields of the visible units */
    double *b;    /* [wide_m] fields of the hidden units */
    uint32_t *order; /* [rows] order of the rows in this epoch */
    /* Members of one step. */
    size_t n_batch, n_chains;
    const uint32_t *row; /* [n_batch] rows of the minibatch */
    uint8_t *v;          /* [batch][n] visible units of the chains */
    uint8_t *h;          /* [batch][m] hidden units of the chains */
    double *up;          /* [batch][wide_m] P(h = 1 | row) */
    double *down;        /* [batch][wide_m] P(h = 1 | v of the chain) */
    double *herd;        /* [batch][n + m][bins] weights of herded draws, or NULL */
    double rate;
    /* L1 penalty of this step; 0 in the first steps, until units have had time to couple */
    double l1;
    uint64_t step;
    uint64_t pass;  /* number of sweeps that the chains have made, in steps and at weights that are
                       held still */
    uint32_t round; /* number of judgements that may follow the next judgement */
    /* Scratch arrays, in which each thread of the pool has its own part. */
    size_t n_list, n_word, wide; /* entries of each member in the arrays below */
    uint32_t *list;
    uint32_t *word;
    double *p;
    /* Members for judging. */
    const gbs_rows *judged;
    double *log_pl; /* [rows of data or held-out rows] log-pseudo-likelihood of each row */
    double *curve;  /* [epochs][2] learning curve */
    double *best;   /* w [n][wide_m], a [n] and b [m] after the best epoch; only with patience */
    /* Members for checkpoints. */
    gbsi_keep keep;
    gbs_rbm_report *report;
    uint64_t kept_step; /* number of the step after which the members below were copied */
    uint64_t kept_pass;
    uint8_t *kept_v,
        *kept_h; /* states of the chains; NULL if no checkpoint is wanted, like kept_herd */
    double *kept_herd;
    _Atomic size_t next;
} gbsi_rbm;

/* rbm_memory.c */
double gbsi_rbm_bytes(const gbsi_rbm *rbm, size_t n_held_out);
/* Allocates the arrays and sets the first weights. Call gbsi_rbm_free() even after a failure. */
gbs_status gbsi_rbm_begin(gbsi_rbm *rbm, size_t n_held_out, gbs_error *err);
void gbsi_rbm_free(gbsi_rbm *rbm);
gbs_status gbsi_rbm_model(const gbsi_rbm *rbm, gbs_model **model, gbs_error *err);
/* Makes wt, the transposed weights, from w. */
void gbsi_rbm_turn(gbsi_rbm *rbm);

/* rbm_step.c: takes one step with the minibatch rbm->row of rbm->n_batch rows, by rbm->rate and
 * rbm->step. @return false if the watch stopped the step; the weights are then unchanged. */
bool gbsi_rbm_step(gbsi_rbm *rbm);
/* Takes a step of the chains alone, and computes the sums over rbm->n_batch rows. @return false if
 * the watch stopped the step. */
bool gbsi_rbm_sweep(gbsi_rbm *rbm);
/* rbm_hold.c: sweeps the chains at the current weights. @param report the function sets R-hat,
 * misfit and rise, and whether each of them is small enough. */
gbs_status gbsi_rbm_hold_still(gbsi_rbm *rbm, gbs_rbm_report *report, gbs_error *err);
/* rbm_keep.c: resumes from a checkpoint if there is one, and writes the first checkpoint. */
gbs_status gbsi_rbm_resume(gbsi_rbm *rbm, const gbs_rows *held_out, gbs_error *err);
/* Keeps a copy of the state between two steps. */
void gbsi_rbm_keep_step(gbsi_rbm *rbm);
/* rbm_best.c: gbsi_rbm_mark_best() stores the weights after an epoch if it is the best so far.
 * gbsi_rbm_is_done() tells whether the epochs before the next judgement are over.
 * gbsi_rbm_take_best() restores the weights of the best epoch, if wanted. */
void gbsi_rbm_mark_best(gbsi_rbm *rbm);
bool gbsi_rbm_is_done(const gbsi_rbm *rbm);
/* @return the part of the rise of ln PL that fell into the second half of the epochs so far; NAN:
 * ln PL has not risen. */
double gbsi_rbm_rise(const gbsi_rbm *rbm);
void gbsi_rbm_take_best(gbsi_rbm *rbm);
/* rbm_judge.c: @return the mean ln PL of rows; NAN if the watch stopped the work. */
double gbsi_rbm_mean_pl(gbsi_rbm *rbm, const gbs_rows *rows);

/* @return the number of entries of rbm->best. */
static inline size_t gbsi_rbm_n_best(const gbsi_rbm *rbm)
{
    return rbm->options.patience > 0 ? rbm->n * rbm->wide_m + rbm->n + rbm->m : 0;
}

/* @return the number of entries of rbm->owed. */
static inline size_t gbsi_rbm_n_owed(const gbsi_rbm *rbm)
{
    return rbm->options.l1 > 0.0 ? rbm->n * rbm->wide_m : 0;
}

/* @return the number of entries of two gradients, each by W, b and a: one gradient for each half of
 * the draws. */
static inline size_t gbsi_rbm_n_slope(const gbsi_rbm *rbm)
{
    return 2 * ((rbm->n + 1) * rbm->wide_m + rbm->n);
}

/* Lists the units that are 1.
 * @return the number of these units. */
static inline size_t gbsi_rbm_list(const uint8_t *x, size_t n, uint32_t *list)
{
    size_t n_on = 0;
    for (size_t i = 0; i < n; ++i) {
        list[n_on] = (uint32_t)i;
        n_on += x[i];
    }
    return n_on;
}

static inline bool gbsi_rbm_stops(gbsi_rbm *rbm, uint32_t member, uint64_t n_operations)
{
    return member == 0 ? gbsi_watch_spend(&rbm->work->watch, n_operations)
                       : gbsi_watch_stopped(&rbm->work->watch);
}

#endif
