/* SPDX-License-Identifier: Apache-2.0 */
/* A splash in up to sixteen chains at once: messages up, states down, marginals down. Written once
 * over the lane vocabulary in loops_lanes.c; chains whose weights would leave the range of floats
 * are reported to the caller, which computes them by logs.c. */
#ifndef GBSI_SPLASH_LOOPS_H
#define GBSI_SPLASH_LOOPS_H

#include "simd/dispatch.h"
#include "splash/program.h"
#include "splash/view.h"

/* The scratch of one thread. Rows have sixteen chains. */
typedef struct gbsi_splash_work {
    float
        *base; /* [n_base] rows: weights of own states given the states outside; the largest is 1 */
    float *many;       /* [n_many_entries] rows: logs, then weights of long factors; largest 1 */
    float *message;    /* [n_rows] rows; largest 1; on the way down q / message */
    float *q;          /* [n_rows] rows: marginals of separators */
    float *p;          /* [n_base] rows: marginals of own variables */
    float *scale;      /* [n] rows: what messages were multiplied by */
    float *least;      /* [n] rows: smallest of a message that is not 0 */
    float *partial;    /* [GBSI_SPLASH_WIDTH + 2][largest arity] rows */
    float *w;          /* [largest arity] rows: input of the draw */
    uint32_t *x;       /* [n] rows: states drawn */
    uint32_t *word;    /* [64] rows, and one for a chain by itself */
    void *value;       /* a row */
    uint64_t *sum;     /* [n_many_entries] of the long factor being processed */
    uint64_t n_looked; /* entries of scopes looked at until now */
    double *log_base;  /* [16][n_base] of each chain */
    /* logs.c: of one chain */
    uint8_t *decided;    /* [n_many] of the program: 1: the factor is decided, there is nothing to
                            multiply */
    uint64_t n_log_long; /* entries and scopes of long factors walked until now */
    double *log_message; /* [n_rows] */
    double *log_q;       /* [n_rows] */
    double *log_many;    /* [n_many_entries] */
    double *table;       /* [largest clique] */
} gbsi_splash_work;

typedef struct gbsi_splash_job {
    const gbsi_potentials *potentials;
    const gbsi_splash_program *program;
    const gbsi_splash_view *view;
    gbsi_splash_work *work;
} gbsi_splash_job;

typedef struct gbsi_splash_loops {
    /* Computes bases and long factors; the logs of the latter are in work->many. */
    void (*base)(const gbsi_splash_job *job);
    /* Computes all messages. @return a bit per chain whose weights may have left the range. */
    unsigned (*up)(const gbsi_splash_job *job);
    /* Computes work->w of clique i given the states drawn before, largest 1; all 1 in the lanes
     * `bad`.
     * @return a bit per other chain without a state of positive weight. */
    unsigned (*weigh)(const gbsi_splash_job *job, uint32_t i, unsigned bad);
    /* Computes all of work->p. */
    void (*down)(const gbsi_splash_job *job);
} gbsi_splash_loops;

const gbsi_splash_loops *gbsi_splash_loops_of(gbsi_simd level);

/* ---- long_factors.c ------------------------------------------------------------------------- */

/* Computes ln of a long factor over its variables inside, minus its maximum, in one chain. @param
 * out [n_entries]. @return false if all entries are 0, since the variables outside decide the
 * factor; `out` is then unchanged. */
bool gbsi_splash_many_logs(const gbsi_splash_job *job, const gbsi_splash_many *many, uint32_t lane,
                           double *out);
/* Computes ln of a factor that has one variable inside, in the chains first .. end - 1, and adds it
 * to the logarithms of that variable's states.
 * @param base base of chain 0. @param stride from chain to chain. */
void gbsi_splash_add_given(const gbsi_splash_job *job, const gbsi_splash_many *many, uint32_t first,
                           uint32_t end, double *base, size_t stride);
/* Fills work->many of all chains, as logs. */
void gbsi_splash_fill_many(const gbsi_splash_job *job);

/* ---- logs.c: one chain in logarithms and double ---------------------------------------------- */

/* Called first: adds the effect of neighbours outside, and of long factors with one variable
 * inside. @param lanes a bit for each lane that is wanted, at least one. */
void gbsi_logs_outside(const gbsi_splash_job *job, unsigned lanes);
/* Messages up. @return false if nothing has weight. */
bool gbsi_logs_up(const gbsi_splash_job *job, uint32_t lane);
/* Computes the weights of clique i in its lane of work->w, 1 in all others. @return false if all
 * are 0. */
bool gbsi_logs_weigh(const gbsi_splash_job *job, uint32_t i, uint32_t lane);
/* The lane's part of work->p. */
void gbsi_logs_down(const gbsi_splash_job *job, uint32_t lane);

#endif
