/* SPDX-License-Identifier: Apache-2.0 */
/* Binary restricted Boltzmann machines [M63]: p(v, h) as exp(a.v + b.h + v.W.h). */
#ifndef GBSI_RBM_RBM_H
#define GBSI_RBM_RBM_H

#include <stddef.h>
#include <stdint.h>

#include "learn/keep.h"
#include "learn/rows.h"
#include "learn/work.h"
#include "rng/words.h"

/* ---- layers.c ------------------------------------------------------------------------------- */

/* The innermost loops of restricted Boltzmann machines: sums over one layer for the units of the
 * other, and functions of these sums. Widths are multiples of eight. */
typedef struct gbsi_layers {
    /* sum[k] += matrix[list[r]][k], the rows of the list in their order. @param matrix [][width]
     * @param sum [width] */
    void (*sum_rows)(const double *matrix, size_t width, const uint32_t *list, size_t n,
                     double *sum);
    /* x[k] = 1 / (1 + exp(-x[k])). @param x [width] */
    void (*logistic)(double *x, size_t width);
    /* Sum over k of ln(1 + exp(x[k] + step y[k])). @param x, y [width] */
    double (*softplus)(const double *x, const double *y, double step, size_t width);
} gbsi_layers;

static inline size_t gbsi_layer_width(size_t n)
{
    return (n + 7) / 8 * 8;
}

/* The functions of the instruction set in use. */
const gbsi_layers *gbsi_layers_here(void);

/* ---- rbm.c ---------------------------------------------------------------------------------- */

/* The number of intervals of the probability; herded draws keep one weight for each interval. */
#define GBSI_RBM_BINS 16u

typedef struct gbsi_rbm {
    const gbs_rows *rows;
    gbsi_work *work;
    gbs_rbm_options options;
    const gbsi_layers *layers;
    const gbsi_words *words;
    size_t n, m;           /* visible and hidden units */
    size_t wide_n, wide_m; /* padded, see layers.c */
    double *w;             /* [n][wide_m], zeros behind m */
    double *wt;            /* [m][wide_n] the same, turned */
    double *owed;    /* [n][wide_m] amount that l1 has subtracted from each of w, with its sign; or
                        NULL */
    double owing;    /* the sum that l1 would have taken from a weight that was never near 0 */
    double *a;       /* [wide_n] */
    double *b;       /* [wide_m] */
    uint32_t *order; /* [rows] of this epoch */
    /* of a step */
    size_t n_batch, n_chains;
    const uint32_t *row; /* [n_batch] */
    uint8_t *v;          /* [batch][n] of chains */
    uint8_t *h;          /* [batch][m] */
    double *up;          /* [batch][wide_m] P(h = 1 | row) */
    double *down;        /* [batch][wide_m] P(h = 1 | v of the chain) */
    double *herd;        /* [batch][n + m][bins] weights of herded draws, or NULL */
    double rate;
    double l1; /* penalty of this step: 0 until units have had time to couple */
    uint64_t step;
    uint64_t pass;  /* sweeps of the chains: those of the steps, and at weights held still */
    uint32_t round; /* judgements that may follow the next one */
    /* of each member of the pool */
    size_t n_list, n_word, wide; /* entries of each array below */
    uint32_t *list;
    uint32_t *word;
    double *p;
    /* of judging */
    const gbs_rows *judged;
    double *log_pl; /* [rows of data or held-out rows] */
    double *curve;  /* [epochs][2] */
    double *best;   /* w, a and b, [n][wide_m], [n] and [m], after the best epoch; with patience */
    /* of checkpoints */
    gbsi_keep keep;
    gbs_rbm_report *report;
    uint64_t kept_step; /* state kept between two steps, with the members below: */
    uint64_t kept_pass;
    uint8_t *kept_v, *kept_h; /* NULL: no checkpoint is wanted, as what follows */
    double *kept_herd;
    _Atomic size_t next;
} gbsi_rbm;

/* rbm_memory.c */
double gbsi_rbm_bytes(const gbsi_rbm *rbm, size_t n_held_out);
/* Allocates, and sets the first weights. Free in any case. */
gbs_status gbsi_rbm_begin(gbsi_rbm *rbm, size_t n_held_out, gbs_error *err);
void gbsi_rbm_free(gbsi_rbm *rbm);
gbs_status gbsi_rbm_model(const gbsi_rbm *rbm, gbs_model **model, gbs_error *err);
/* Makes wt, the transposed weights, from w. */
void gbsi_rbm_turn(gbsi_rbm *rbm);

/* rbm_step.c: takes one step from rbm->row, n_batch, rate and step.
 * @return false: stopped, with weights as they were. */
bool gbsi_rbm_step(gbsi_rbm *rbm);
/* Takes a step of the chains alone, and computes the sums over rbm->n_batch rows.
 * @return false: stopped. */
bool gbsi_rbm_sweep(gbsi_rbm *rbm);
/* rbm_hold.c: sweeps the chains at the weights of the moment. @param report R-hat, misfit and rise
 * are set, and whether each is small enough. */
gbs_status gbsi_rbm_hold_still(gbsi_rbm *rbm, gbs_rbm_report *report, gbs_error *err);
/* rbm_keep.c: resumes from a checkpoint if there is one, and writes the first checkpoint. */
gbs_status gbsi_rbm_resume(gbsi_rbm *rbm, const gbs_rows *held_out, gbs_error *err);
/* Keeps a copy of the state between two steps. */
void gbsi_rbm_keep_step(gbsi_rbm *rbm);
/* rbm_best.c: after an epoch, mark it if it is the best so far; tell whether there are no more
 * epochs before the next look at weights held still; and restore the weights of the best epoch, if
 * wanted. */
void gbsi_rbm_mark_best(gbsi_rbm *rbm);
bool gbsi_rbm_is_done(const gbsi_rbm *rbm);
/* @return the part of the rise of ln PL that fell into the second half of the epochs so far; NAN:
 * ln PL has not risen. */
double gbsi_rbm_rise(const gbsi_rbm *rbm);
void gbsi_rbm_take_best(gbsi_rbm *rbm);
/* rbm_judge.c: @return the mean ln PL of rows; NAN if it was stopped. */
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

/* @return the number of entries of two slopes by W, b and a. */
static inline size_t gbsi_rbm_n_slope(const gbsi_rbm *rbm)
{
    return 2 * ((rbm->n + 1) * rbm->wide_m + rbm->n);
}

/* Lists the units that are 1.
 * @return how many. */
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
