/* SPDX-License-Identifier: Apache-2.0 */
/* Tempered runs: ladders of chains at rising inverse temperatures replace chains that all run at
 * the temperature of the model. The chains run on a model with softened hard zeros (model/soften.h)
 * at every temperature, even at the cold end. No chain is held by zeros, and cold states that
 * violate a hard zero are not counted. The law of level t is exp(b_t U(x)), where U is the softened
 * log density. At b = 1, states that violate no hard zero have the law of the model. There is one
 * lane for each level of each ladder. An iteration is a few sweeps of all lanes, followed by swaps
 * (temper/exchange.h). The levels and the penalty are adapted only before the first iteration that
 * is kept. [M50] */
#ifndef GBSI_LADDERS_TEMPERED_H
#define GBSI_LADDERS_TEMPERED_H

#include "chains/runner.h"
#include "temper/means.h"

/* The largest number of variables for which ladders are tried, unless the user asks for ladders
 * or no other method helps. The barrier grows with the root of the number of variables. With
 * more variables, the barrier is too high for 32 levels. */
#define GBSI_MOST_CLIMBING 4096u

struct gbsi_engine;
struct gbsi_report;
struct gbsi_run_memory;
struct gbsi_task;
struct gbs_run;
struct gbsi_drive;
typedef struct gbsi_tempered gbsi_tempered;

/* Whether plain chains, after enough work, disagree or cannot cross hard zeros, while the options
 * allow ladders. @param rhat R-hat of the chains. */
bool gbsi_run_is_stuck(const struct gbsi_task *task, const struct gbsi_engine *engine,
                       const struct gbsi_run_memory *memory, const struct gbsi_drive *drive,
                       double rhat);
/* Whether the options allow ladders. If `now`, plain chains must also have worked long enough to be
 * given up; otherwise they must not have worked so long yet. */
bool gbsi_run_may_climb(const struct gbsi_task *task, const struct gbsi_engine *engine,
                        const struct gbsi_run_memory *memory, const struct gbsi_report *report,
                        const struct gbsi_drive *drive, bool now);
/* Whether the chains agree, but took so long that all of them may have missed states, while ladders
 * are allowed and affordable. */
bool gbsi_run_is_slow(const struct gbsi_task *task, const struct gbsi_engine *engine,
                      const struct gbsi_run_memory *memory, const struct gbsi_report *report,
                      const struct gbsi_drive *drive);
/* Whether ladders that ran as a control contradict the chains, and may therefore give the answer
 * instead of the chains. */
bool gbsi_run_is_contradicted(const struct gbsi_task *task, const struct gbsi_engine *engine,
                              const struct gbsi_run_memory *memory,
                              const struct gbsi_report *report, const struct gbsi_drive *drive);
/* Runs burn-in and sampling by tempering; the results are in run->sampling.tempered and in the
 * report. */
gbs_status gbsi_run_tempered(struct gbs_run *run, struct gbsi_drive *drive, gbs_error *err);
/* The number of ladders that the options ask for. */
uint32_t gbsi_run_ladders(const struct gbsi_task *task);
/* The largest number of bytes that ladders take in addition to the problem and plain chains,
 * without blocks. */
uint64_t gbsi_run_tempered_bytes(const struct gbsi_task *task, const struct gbsi_engine *engine);
/* The number of bytes that blocks may take if `left` bytes are still free. */
uint64_t gbsi_run_block_bytes(const struct gbsi_task *task, uint64_t left);

void gbsi_tempered_free(gbsi_tempered *tempered);

/* tempered_chains.c: makes ladders that have not run yet. @return GBS_ERR_STOPPED if the watch
 * stopped the work. */
gbs_status gbsi_tempered_begin(const struct gbsi_task *task, const struct gbsi_engine *engine,
                               struct gbsi_run_memory *memory, struct gbsi_report *report,
                               struct gbsi_drive *drive, gbsi_tempered **tempered, gbs_error *err);
/* tempered_saved.c: saves the part of ladders in a checkpoint, and loads it into ladders that have
 * not run yet. */
gbs_status gbsi_tempered_save(const gbsi_tempered *tempered, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_tempered_load(gbsi_tempered *tempered, struct gbsi_pool *pool,
                              const gbsi_source *source, gbs_error *err);

/* Writes the marginal of one variable: gbsi_runner.marginal of the runner of ladders. */
void gbsi_tempered_marginal(const gbsi_tempered *tempered, uint32_t variable,
                            double *const row[GBSI_N_ROWS]);
/* Whether every ladder has counted at least one state. @param tempered NULL if ladders have not
 * been made yet. */
bool gbsi_tempered_has_draws(const gbsi_tempered *tempered);
/* The estimate of ln Z of the sampled part, for runs that estimate no marginals. */
typedef struct gbsi_tempered_log_z {
    double log_z, error; /* log_z is NAN if no iteration was kept; error is NAN if too few
                            iterations were kept */
    double freedom;      /* degrees of freedom of `error` */
} gbsi_tempered_log_z;
/* @param tempered NULL if no ladders were made. */
gbsi_tempered_log_z gbsi_tempered_ask_log_z(const gbsi_tempered *tempered);
/* Writes the errors of the estimates to the report. */
void gbsi_tempered_report(const gbsi_tempered *tempered, gbsi_report *report,
                          gbsi_checkpoints *checkpoints);

#endif
