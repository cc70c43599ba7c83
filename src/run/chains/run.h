/* SPDX-License-Identifier: Apache-2.0 */
/* The struct of a run, which gbs_run_new() compiles and gbs_run_execute() executes. */
#ifndef GBSI_CHAINS_RUN_H
#define GBSI_CHAINS_RUN_H

#include "base/budget.h"
#include "base/status.h"
#include "base/watch.h"
#include "chains/engine.h"
#include "chains/estimates.h"
#include "chains/report.h"
#include "chains/runner.h"
#include "checkpoint/checkpoint.h"
#include "choose/problem.h"
#include "drive/monitor.h"
#include "ladders/tempered.h"
#include "ranks/ranks.h"
#include "ranks/share_run.h"

#define GBSI_DEFAULT_TARGET 0.005
#define GBSI_RHAT_LIMIT     1.01
#define GBSI_STUCK_RHAT     1.1 /* above, auto tries ladders of temperatures */
/* Limits for a tempered run to count as converged; with these no such claim was wrong in the runs
 * by which they were chosen. */
#define GBSI_TEMPERED_TARGET 0.007
#define GBSI_LOG_Z_TARGET    0.05 /* target error of ln Z, for any method */
#define GBSI_LEAST_SHARE     0.5  /* least share of cold states without violated zeros */
#define GBSI_LEAST_TRIPS     20   /* round trips of every ladder */
#define GBSI_BURN_IN_RHAT    1.05
#define GBSI_BURN_IN_VALUES  64u

/* Standard errors and R-hat cannot detect a state that no chain has entered yet. Chains may need
 * long to enter a rare state, even one that then holds them for long: the chains of four nearly
 * certain variables can agree perfectly on a wrong answer after 64 sweeps. A run is therefore not
 * reported as converged below this many updates of variables over all chains (a fraction of a
 * second), and not below 1 / (4 target^2) draws, which fair coins would need for the target. */
#define GBSI_LEAST_UPDATES (UINT64_C(1) << 22)

/* Chains that took long to agree have left slow states behind, and may all have missed another: one
 * of the target's probability is missed in this many visits with probability exp(-2) = 0.14. [M9]
 */
#define GBSI_LEAST_VISITS 2.0
/* If chains took GBSI_SLOW_PASSES passes to agree, that was because of slow states: ladders of
 * temperatures are then better, and plain chains need GBSI_SURE_VISITS visits, enough for a
 * standard error. */
#define GBSI_SLOW_PASSES 512u
#define GBSI_SURE_VISITS 10.0

/* The limit of updates if neither sweeps nor updates were given. */
#define GBSI_MOST_UPDATES UINT64_C(50000000000)

/* Bytes, see run_memory.c. */
typedef struct gbsi_run_memory {
    uint64_t standing; /* program, model, its conditioned form and graph */
    uint64_t plan, schedule, states, estimators, draw;
    uint64_t draw_room; /* bytes of the limit that remain for the draw */
    uint64_t blocks;    /* bytes of a tempered run, if one is expected */
    uint64_t peak;      /* bytes of compiling or running, whichever is more */
    uint64_t untouched; /* arrays of estimates that so short a run does not touch */
} gbsi_run_memory;

/* The memory that calls on a run may hold: the limit, whatever was predicted. */
typedef struct gbsi_run_budget {
    gbsi_budget own;
    gbsi_budget *before; /* budget in force at the call */
    size_t callers;      /* bytes that gbs_run_count_bytes() counts */
    bool entered;
    uint64_t untouched; /* bytes of gbsi_run_memory for which there is room beyond the limit */
    const char *fewer;  /* advice to the user if memory is short */
} gbsi_run_budget;

/* The uses of a run other than gbs_run_execute(). */
typedef struct gbsi_run_purpose {
    bool limited; /* refuse early what would not fit; gbs_model_info() wants the figures instead,
                     and of the plan no more */
    bool draws;   /* for callbacks.draw: all is exact or nothing is: GBS_RUN_DRAWS */
    bool divides; /* to be divided: only the plan's slots and levels are wanted, nothing is exact */
    bool up_only; /* exact parts are summed, without a marginal: gbs_log_z() */
    bool anneals; /* chains have temperatures and nothing is estimated: gbs_map(), gbs_log_z() */
    bool asks;    /* variables that affect no queried variable may be left out */
    const uint32_t
        *asked; /* [n_asked] the queried variables of the user; borrowed while the run is made */
    size_t n_asked;
    double penalty;         /* penalty of hard zeros on the way, nats; 0: they stay hard */
    const gbs_ranks *ranks; /* ranks that share the chains of the run, borrowed; NULL: this process
                               is alone */
    /* a model without factors has one of these two beside its variables: taken by the run; NULL:
     * none */
    gbsi_lattice **lattice;
    gbsi_levels **levels;
    bool bare; /* it has one */
} gbsi_run_purpose;

/* The state of an automatic burn-in: see burn_in.c. */
typedef struct gbsi_burn_in {
    uint64_t most;   /* the most passes of burn-in, and their number when it ended; 0: burn-in is
                        not automatic */
    uint64_t stride; /* passes from one recorded density to the next */
    uint64_t n;      /* recorded, of each chain */
    double *density; /* [n_chains][GBSI_BURN_IN_VALUES], of all ranks */
    double *now;     /* behind it: [2][n_chains] of one pass, of this rank, and of all */
} gbsi_burn_in;

/* The task of a run: the model, the options, and the ranks that take part. It does not change once
 * sampling has begun, except that ladders may take over. */
typedef struct gbsi_task {
    gbs_run_options options;
    uint64_t chains_asked; /* options.chains, before a short memory made them fewer */
    gbsi_run_purpose purpose;
    const gbsi_runner *runner; /* the runner, once it is chosen */
    const gbsi_runner *plain;  /* the runner of its chains without ladders, see runner.h */
    const gbs_ranks *ranks;    /* NULL: this process is alone */
    const gbs_ranks *spread;   /* `ranks` if ranks share the chains; NULL: all chains are here */
    gbsi_shared shared;        /* used if ranks share the model rather than the chains */
    gbsi_problem problem;
} gbsi_task;

/* The means of a run: the engine that moves the chains, and the estimates made from them. */
typedef struct gbsi_sampling {
    gbsi_engine engine;
    gbsi_estimates estimates;
    gbsi_monitor monitor;
    gbsi_phase phase;
    gbsi_burn_in burn_in;
    gbsi_tempered *tempered; /* ladders in place of the engine's chains; NULL: there are none */
    void *own;               /* data of a runner that needs no field here; see gbsi_runner.free */
} gbsi_sampling;

/* A function is given the parts that it works on, and the whole only where a runner or the user
 * gives that. */
struct gbs_run {
    gbsi_task task;
    gbsi_sampling sampling;
    gbsi_report report;
    gbsi_checkpoints checkpoints;
    gbsi_run_memory memory;
    gbsi_run_budget budget;
};

/* Whether ladders are run from the beginning. */
static inline bool gbsi_run_wants_temper(const gbsi_task *task)
{
    const bool of_log_z = task->purpose.up_only && task->problem.penalty == 0.0;
    return task->options.temper > GBS_TEMPER_OFF || of_log_z;
}

/* Whether it is counted how often variables change. Moves are not counted if all is proved, or if
 * every pass starts afresh. They are not counted either if chains are in a form of their own:
 * chains in bits have no evidence of their own, and their thousands of sites of one kind move in
 * place of one another. A mode that stays is then one of the whole, which traces of energy and
 * magnetisation show. */
static inline bool gbsi_run_counts_moves(const gbsi_task *task, const gbsi_engine *engine)
{
    return engine->plan != NULL && !task->purpose.anneals && !task->options.restarts &&
           task->options.certified == 0.0 && task->options.estimator != GBS_ESTIMATOR_TRACES &&
           !gbsi_runner_climbs(task->runner);
}

/* run.c: puts the run's budget in force, unless another one is, until gbsi_run_leave() or
 * gbs_run_free(). */
void gbsi_run_enter(gbsi_run_budget *budget);
void gbsi_run_leave(gbsi_run_budget *budget);

/* prepare.c: conditions the model, chooses the components that are answered exactly, makes scan and
 * plan, and predicts the memory. */
gbs_status gbsi_run_prepare(gbs_run *run, const gbs_evidence *evidence, gbs_error *err);
/* Takes that memory. @return GBS_ERR_LIMIT with the figure if it exceeds the limit. */
gbs_status gbsi_run_take_memory(gbs_run *run, gbs_error *err);
/* Takes it if the scan is known; while a pilot has still to choose it, only checks the limit. */
gbs_status gbsi_run_take_known_memory(gbs_run *run, gbs_error *err);
/* prepare.c: whether the clock may take back that components are exact: in runs of `auto` on one
 * process, from the beginning, within a time that the user asked for. */
bool gbsi_run_may_give_up(const gbs_run *run);
/* The share of --time after which exact answers are then given up. */
#define GBSI_EXACT_SHARE 0.75
/* run.c: warns that exact answers were given up, if they were, and says what is there instead. */
gbs_status gbsi_run_tell_late(gbsi_report *report, gbs_error *err);
/* prepare.c: prepares the run again, so that all of it is sampled. */
gbs_status gbsi_run_sample_instead(gbs_run *run, struct gbsi_drive *drive, gbs_error *err);
/* Replaces the compiled scan by another one, before memory is taken. */
gbs_status gbsi_run_rescan(gbs_run *run, int scan_kind, gbsi_watch *watch, gbs_error *err);
/* runners.c: sets run->task.runner and run->task.plain. */
void gbsi_run_choose_runner(gbsi_task *task, const gbsi_engine *engine);
/* prepare.c: checks that the draw works with the scan. */
gbs_status gbsi_run_check_draw(const gbsi_task *task, gbsi_engine *engine, gbs_error *err);
/* run_new.c: makes a run with its options checked; nothing is compiled yet. */
gbs_status gbsi_run_begin(const gbs_model *model, const gbs_run_options *options, gbs_run **out,
                          gbs_error *err);
/* run_new.c: makes a run with its options checked, prepares it, and takes its memory if its scan is
 * known. The run has fewer chains, with a warning, if the number asked for would not fit the memory
 * limit and options->least_chains allows that; the caller must call gbsi_run_leave(). */
gbs_status gbsi_run_open(const gbs_model *model, const gbs_evidence *evidence,
                         const gbs_run_options *options, const gbsi_run_purpose *purpose,
                         gbs_run **out, gbs_error *err);

/* run_new.c: makes a run of a lattice whose sites are bits. The run takes the lattice, even on
 * failure.
 * @param variables borrowed: a model of as many variables of two states, without factors.
 * @param options options for which gbsi_sites_suit() is true. */
gbs_status gbsi_run_new_of_sites(const gbs_model *variables, gbsi_lattice *lattice,
                                 const gbs_run_options *options, gbs_run **out, gbs_error *err);
/* run_new.c: makes a run of a picture of levels, in which each variable has as many states as the
 * picture has levels.
 * @param options random draws of chains, without hard zeros, whose conditionals are averaged. */
gbs_status gbsi_run_new_of_levels(const gbs_model *variables, gbsi_levels *levels,
                                  const gbs_run_options *options, gbs_run **out, gbs_error *err);

/* problem.c: the bytes that stay in memory from conditioning to the end. */
uint64_t gbsi_run_standing_bytes(const gbsi_problem *problem, const gbsi_estimates *estimates);

/* Iterations of an approximation in succession that bring no smaller change, after which it is
 * given up. */
#define GBSI_PATIENCE 1000u

/* The reason why a run ended; their names are in run.c. Reasons from GBSI_STOP_TIME on mean that it
 * ended before its target. */
typedef enum gbsi_stop {
    GBSI_GO_ON,
    GBSI_STOP_TARGET,
    GBSI_STOP_SWEEPS,
    GBSI_STOP_EXACT,
    GBSI_STOP_FIXED_POINT,
    GBSI_STOP_SETTLED,
    GBSI_STOP_ITERATIONS,
    GBSI_STOP_NO_PROGRESS, /* of an approximation: many iterations brought it no nearer */
    GBSI_STOP_TO_TEMPER,   /* plain chains disagree: ladders go on */
    GBSI_STOP_TIME,
    GBSI_STOP_UPDATES,
    GBSI_STOP_SIGNAL,
    GBSI_STOP_SUPPORT, /* shown to be split: more sweeps do not help */
    GBSI_STOP_FAILED,  /* a pass has failed on a rank: all meet, and fail as that did */
} gbsi_stop;

/* The state of running passes and of what may stop them, used by burn-in and by sampling. */
typedef struct gbsi_drive {
    const gbs_run_callbacks *callbacks; /* NULL members allowed, never NULL itself */
    double started_s, last_progress_s;
    uint64_t pass;      /* pass number of the random numbers: goes on from burn-in */
    double worst_error; /* at the last check */
    double rhat;        /* R-hat of the log density while burning in, then at the last check; 0:
                           none */
    gbsi_stop stop;
    const gbs_run *run;
    gbsi_watch watch;   /* watch for work inside a pass, or before the first */
    gbsi_watch outer;   /* watch of the call that this run works for */
    bool keeping;       /* a pass that is kept is under way */
    double last_look_s; /* time of the last progress report inside a pass */
    double share;       /* share of --time after which passes that are not kept are cut short */
    double exact_share; /* the same of exact answers */
    double stopped_s;   /* time at which `stop` was noticed inside a pass */
    bool whole;         /* the pass under way is finished whatever stops the run */
    bool prepares;      /* preparing the run is part of it: it began before there was a run */
} gbsi_drive;

/* @param run, callbacks borrowed; drive stays where it is. NULL: the run is made later, and counts.
 */
void gbsi_drive_begin(gbsi_drive *drive, const gbs_run *run, const gbs_run_callbacks *callbacks);
/* Called before a pass or other work: resets the watch, unless drive->stop says that the run has
 * ended. */
void gbsi_drive_go_on(gbsi_drive *drive, bool keep);
/* Called before a pass that must be finished: if checkpoints are written, because a run cannot go
 * on from half a pass, or with several ranks, because all ranks end a pass together. */
void gbsi_drive_go_whole(gbsi_drive *drive, bool keep);
/* The seconds of --time that are spent, including those of preparing the run. */
double gbsi_drive_spent_s(const gbsi_drive *drive, double now_s);
/* Says in drive->stop that --time is over, or that the call which this run works for ends. */
void gbsi_drive_end_in_time(const gbs_run_options *options, gbsi_drive *drive, double now_s);
/* Called before the last work of a run, which may still take a moment whatever stopped the run. */
void gbsi_drive_finish(gbsi_drive *drive);
/* The failure of a run that stopped before it had any estimate.
 * @param doing  "calibrating junction trees" */
gbs_status gbsi_stopped_early(const gbsi_drive *drive, const char *doing, gbs_error *err);

/* Reports progress, and sets drive->stop if time or updates are used up. */
void gbsi_run_watch(const gbs_run_options *options, const gbsi_report *report, gbsi_drive *drive,
                    bool keep);
/* Runs one pass, and then sets drive->stop if time or updates are used up.
 * @return GBS_STOPPED: it was cut short. A pass that is kept then counts in the estimates, but not
 * among the sweeps. */
gbs_status gbsi_run_pass(gbsi_task *task, gbsi_sampling *sampling,
                         const gbsi_checkpoints *checkpoints, gbsi_report *report,
                         gbsi_drive *drive, bool keep, gbs_error *err);
/* Runs one pass as gbsi_run_pass() does, and adds its draws to `estimate`; NULL: they are thrown
 * away. */
gbs_status gbsi_run_advance(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                            gbsi_drive *drive, gbsi_estimate *estimate, gbs_error *err);

/* bias.c: after sampling with a draw that does not leave the target invariant, reports how far its
 * estimates are from a short run of the random draw, with a warning. */
gbs_status gbsi_run_compare(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                            gbsi_drive *drive, gbs_error *err);

/* control.c: after sampling by plain chains that would be believed, runs ladders beside the chains
 * if that is cheap and a state may have been missed; report.contradiction. */
gbs_status gbsi_run_control(gbs_run *run, gbsi_drive *drive, gbs_error *err);

/* threshold.c: finds the threshold of the bounded-error draw, if asked to, and reports the draw.
 */
gbs_status gbsi_run_find_threshold(gbs_run *run, gbsi_drive *drive, gbs_error *err);
/* The bytes that gbsi_run_find_threshold() takes. */
uint64_t gbsi_run_threshold_bytes(const gbs_run_options *options, const gbsi_engine *engine);

/* run.c: sets the start of every chain (GBS_STOPPED: the time ended before they were found); and
 * gets a chain's state in the user's numbering, for the variables that are sampled.
 * @param x [part variables] scratch. @param user [model variables]. */
gbs_status gbsi_run_set_starts(gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                               gbsi_drive *drive, gbs_error *err);
void gbsi_run_user_state(const gbsi_engine *engine, const gbsi_problem *problem, uint32_t chain,
                         uint32_t *x, uint32_t *user);
/* A state of the part's variables in the user's numbering; others are left as they are. */
void gbsi_part_user_state(const gbsi_conditioned *part, const uint32_t *x, uint32_t *user);
const char *gbsi_stop_text(gbsi_stop stop);

/* synchronous_states.c: combines two chains into the state of a synchronous one, in the part's
 * numbering. @return its log density. @param x, other [part variables], the latter scratch. */
double gbsi_recombine(const gbsi_engine *engine, const gbsi_conditioned *part, uint32_t chain,
                      uint32_t *x, uint32_t *other);

/* burn_in.c: runs passes whose draws are thrown away, until run->sampling.phase changes. */
gbs_status gbsi_run_burn_in(gbs_run *run, gbsi_drive *drive, gbs_error *err);
/* Warns that burn-in ended before the chains agreed, and says why. */
gbs_status gbsi_burn_in_warn(const gbsi_task *task, const gbsi_engine *engine,
                             const gbsi_burn_in *burn_in, gbsi_report *report, gbs_error *err);
/* burn_in_saved.c: takes memory for the densities of burn-in; saves and loads its part of a
 * checkpoint. */
gbs_status gbsi_burn_in_take(gbsi_burn_in *t, gbsi_engine *engine, gbs_error *err);
gbs_status gbsi_burn_in_save(const gbsi_sampling *sampling, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_burn_in_load(gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err);

/* lattice_runs.c: whether a model, the whole or the sampled part, is a lattice that is run with its
 * sites in bits; if so, sets engine->lattice and engine->spins. The run then has no plan, and no
 * graph unless components needed it. */
gbs_status gbsi_choose_sites(gbsi_engine *engine, const gbs_run_options *options,
                             const gbsi_conditioned *model, gbs_error *err);
/* Whether the options allow it in a model without hard zeros, and whether it is then faster than
 * sixteen chains. */
bool gbsi_sites_allowed(const gbs_run_options *options);
bool gbsi_sites_suit(const gbsi_lattice *lattice, const gbs_run_options *options);
/* Whether the part is run with its chains in bits: engine->packed and engine->spins; or an error if
 * bits were asked for. There is no plan. */
gbs_status gbsi_choose_chains(gbsi_engine *engine, const gbs_run_options *options,
                              const gbsi_problem *problem, gbsi_watch *watch, gbs_error *err);
/* The share of bits that chains in bits use. */
double gbsi_share_of_chains(const gbs_run_options *options);
/* certified.c: finds the burn-in for options.certified, if it asks for one; with restarts, the
 * bound on the distance that one pass leaves. @param watch stops preparation. */
gbs_status gbsi_run_certify(gbs_run_options *options, const gbsi_problem *problem,
                            const gbsi_engine *engine, gbsi_report *report, gbsi_watch *watch,
                            gbs_error *err);

/* restarts.c: sets fresh states in all chains before the next pass. */
gbs_status gbsi_run_restart(gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                            gbsi_drive *drive, gbs_error *err);

/* approximate_run.c: runs mean field or belief propagation in place of chains, and stores its
 * marginals in exact_p. */
gbs_status gbsi_run_approximately(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                                  gbsi_drive *drive, gbs_error *err);
bool gbsi_run_approximates(const gbsi_task *task);
/* approximate_run.c: finds an answer by belief propagation for the sampled part, within a tenth of
 * --time. It is used if sampling has no answer when the time is over. */
gbs_status gbsi_run_answer_first(const gbsi_task *task, gbsi_sampling *sampling, gbsi_drive *drive,
                                 gbs_error *err);

/* reasons.c: writes why a run is not called converged, from verdict.def, and what to try. @return
 * false if nothing speaks against convergence. */
bool gbsi_run_doubt(const gbs_run *run, char *text, size_t size);
/* Whether the run is long enough to vouch for itself at all, see GBSI_LEAST_UPDATES. */
bool gbsi_run_long_enough(const gbsi_task *task, const gbsi_engine *engine,
                          const gbsi_report *report);
/* Whether states as slow as those that the chains started in were likely to be visited, see
 * GBSI_LEAST_VISITS. */
bool gbsi_run_has_wandered(const gbsi_task *task, const gbsi_report *report);
/* Passes below which it is not. @param updates_per_pass updates of each chain in a pass. */
double gbsi_run_least_passes(const gbs_run_options *options, const gbsi_run_purpose *purpose,
                             const gbsi_report *report, double updates_per_pass);
/* Whether R-hat is below its limit, or undefined because nothing moved. */
bool gbsi_run_chains_agree(const gbsi_runner *runner, const gbsi_report *report);
#endif
