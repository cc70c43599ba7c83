/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over the cliques of a splash in up to sixteen chains at once: for messages up the tree, and
 * for states and marginals down the tree. loops_lanes.c is compiled once per instruction set. The
 * loops report chains whose weights would leave the range of floats. The caller computes these
 * chains with the functions of logs.c. */
#ifndef GBSI_SPLASH_LOOPS_H
#define GBSI_SPLASH_LOOPS_H

#include "parallel/pool.h"
#include "simd/dispatch.h"
#include "splash/program.h"
#include "splash/view.h"

/* Scratch memory of one thread. A row has one number for each of sixteen chains. */
typedef struct gbsi_splash_work {
    /* [n_base] rows: weights of the states of each variable given the states outside; the largest
     * weight of a variable is 1 */
    float *base;
    /* [n_many_entries] rows: entries of the long factors, first as logarithms, later as weights;
     * the largest weight of a factor is 1 */
    float *many;
    /* [n_rows] rows: messages, whose largest entry is 1; gbsi_splash_loops.down() replaces them by
     * q divided by the message */
    float *message;
    float *q;          /* [n_rows] rows: marginals of the separators of all cliques */
    float *p;          /* [n_base] rows: marginals of the cliques' own variables */
    float *scale;      /* [n] rows: factors by which messages were multiplied */
    float *least;      /* [n] rows: smallest entry of each message that is not 0 */
    float *partial;    /* [GBSI_SPLASH_WIDTH + 2][largest arity] rows */
    float *w;          /* [largest arity] rows: weights that the draw reads */
    uint32_t *x;       /* [n] rows: states drawn */
    uint32_t *word;    /* 64 rows of random words, and one row for a chain that is drawn alone */
    void *value;       /* one row of drawn values */
    uint64_t *sum;     /* [n_many_entries] sums of the current long factor */
    uint64_t n_looked; /* number of entries of scopes read so far */
    double *log_base;  /* [16][n_base] for each chain: logarithms of `base` */
    /* The remaining members belong to logs.c, which computes one chain. */

    /* [n_many] 1 if the states outside decide the long factor with this number in the program; such
     * a factor is not multiplied */
    uint8_t *decided;
    uint64_t n_log_long; /* number of entries of long factors and of their scopes walked so far */
    double *log_message; /* [n_rows] */
    double *log_q;       /* [n_rows] */
    double *log_many;    /* [n_many_entries] */
    double *table;       /* [largest clique] */
} gbsi_splash_work;

/* Threads that share the cliques and the large tables of one splash: ParCalibrate and ParSample of
 * Gonzalez, Low, Gretton & Guestrin 2011, algorithm 3. The number of members changes no bit: a
 * member computes whole cliques of one level of the tree, whole rows of a message, or whole sums of
 * own states, in the order of a single thread. */
typedef struct gbsi_splash_team {
    gbsi_pool *pool;
    uint32_t n;      /* number of members */
    float **partial; /* [n] gbsi_splash_work.partial of each member */
    float
        *extreme; /* [n][2] rows: largest and smallest entry of each member's share of a message */
} gbsi_splash_team;

typedef struct gbsi_splash_job {
    const gbsi_potentials *potentials;
    const gbsi_splash_program *program;
    const gbsi_splash_view *view;
    gbsi_splash_work *work;
    const gbsi_splash_team *team; /* NULL if one thread computes the splash */
} gbsi_splash_job;

typedef struct gbsi_splash_loops {
    /* Computes work->base, and replaces the logarithms of the long factors in work->many by
     * weights. */
    void (*base)(const gbsi_splash_job *job);
    /* Computes all messages. @return a bit for each chain whose weights may have left the range of
     * floats. */
    unsigned (*up)(const gbsi_splash_job *job);
    /* Computes work->w, the weights of the own states of clique i, given the states drawn so far.
     * The largest weight is 1; in the lanes `bad` all weights are 1.
     * @return a bit for each chain outside `bad` in which no state has positive weight. */
    unsigned (*weigh)(const gbsi_splash_job *job, uint32_t i, unsigned bad);
    /* Computes all marginals work->p. */
    void (*down)(const gbsi_splash_job *job);
} gbsi_splash_loops;

const gbsi_splash_loops *gbsi_splash_loops_of(gbsi_simd level);

/* ---- long_factors.c ------------------------------------------------------------------------- */

/* Computes, in one chain, the logarithms of a long factor for all joint states of its variables
 * inside the splash, minus their maximum. @param out [n_entries]. @return false if the variables
 * outside decide the factor, so that all entries are 0; `out` is then unchanged. */
bool gbsi_splash_many_logs(const gbsi_splash_job *job, const gbsi_splash_many *many, uint32_t lane,
                           double *out);
/* Computes the logarithm of a factor that has one variable inside, in chains [first, end), and adds
 * it to the log-weights of the variable's states.
 * @param base log-weights in chain 0. @param stride distance between chains. */
void gbsi_splash_add_given(const gbsi_splash_job *job, const gbsi_splash_many *many, uint32_t first,
                           uint32_t end, double *base, size_t stride);
/* Fills work->many of all chains with logarithms. */
void gbsi_splash_fill_many(const gbsi_splash_job *job);

/* ---- logs.c: one chain in logarithms and double ---------------------------------------------- */

/* Adds up the log-weights of links to neighbours outside and of long factors with one variable
 * inside. Must be called before the other functions of logs.c. @param lanes a bit for each lane to
 * compute, at least one. */
void gbsi_logs_outside(const gbsi_splash_job *job, unsigned lanes);
/* Computes the messages. @return false if no joint state has positive weight. */
bool gbsi_logs_up(const gbsi_splash_job *job, uint32_t lane);
/* Computes the weights of the own states of clique i in one lane of work->w, and sets the other
 * lanes to 1. @return false if all weights of the lane are 0. */
bool gbsi_logs_weigh(const gbsi_splash_job *job, uint32_t i, uint32_t lane);
/* Computes the marginals work->p of one lane. */
void gbsi_logs_down(const gbsi_splash_job *job, uint32_t lane);

#endif
