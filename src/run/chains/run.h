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
#define GBSI_STUCK_RHAT     1.1 /* R-hat above which `auto` tries ladders of temperatures */
/* Limits below which a tempered run counts as converged. In the experiments that led to these
 * limits, no run within the limits was wrong. */
#define GBSI_TEMPERED_TARGET 0.007
#define GBSI_LOG_Z_TARGET    0.05 /* target error of ln Z, for all methods */
#define GBSI_LEAST_SHARE \
    0.5 /* least share of cold states (of the coldest chains) that violate no hard zero */
#define GBSI_LEAST_TRIPS    20 /* least number of round trips on every ladder */
#define GBSI_BURN_IN_RHAT   1.05
#define GBSI_BURN_IN_VALUES 64u

/* Standard errors and R-hat cannot detect a state that no chain has entered yet. Chains may need
 * long to enter a rare state, even a state that holds them for long afterwards: the chains of four
 * nearly certain variables can agree perfectly on a wrong answer after 64 sweeps. A run below this
 * number of updates of variables, over all chains, is therefore not reported as converged. These
 * updates take a fraction of a second. The run also needs 1 / (4 target^2) draws, which is the
 * number of draws that a fair coin needs to reach the target. */
#define GBSI_LEAST_UPDATES (UINT64_C(1) << 22)

/* Chains that took long to agree have left slow states, which hold a chain for many passes. All
 * chains may have missed another slow state. If all chains have time for this many visits to a
 * state whose probability equals the target error, they miss the state with probability exp(-2) =
 * 0.14. [M9] */
#define GBSI_LEAST_VISITS 2.0
/* Chains that took GBSI_SLOW_PASSES passes to agree were held by slow states. Ladders of
 * temperatures are then the better method. Plain chains then need time for GBSI_SURE_VISITS visits,
 * which are enough for a standard error. */
#define GBSI_SLOW_PASSES 512u
#define GBSI_SURE_VISITS 10.0

/* The limit of updates if the user gave neither sweeps nor updates. */
#define GBSI_MOST_UPDATES UINT64_C(50000000000)

/* Numbers of bytes that a run needs, predicted in run_memory.c. */
typedef struct gbsi_run_memory {
    uint64_t standing; /* bytes of the program, the model, its conditioned form and its graph */
    uint64_t plan, schedule, states, estimators, draw;
    uint64_t draw_room; /* bytes of the memory limit that remain for the drawing method */
    uint64_t blocks;    /* bytes of a tempered run, if one is expected */
    uint64_t peak;      /* number of bytes for compiling or for running, the larger of the two */
    uint64_t untouched; /* bytes of those arrays of estimates that a short run never writes to */
} gbsi_run_memory;

/* The memory that calls on a run may take while they work. The limit is the memory limit, not the
 * predicted memory. */
typedef struct gbsi_run_budget {
    gbsi_budget own;
    gbsi_budget *before; /* memory budget that was in force before the call */
    size_t callers;      /* bytes that gbs_run_count_bytes() counts */
    bool entered;
    uint64_t untouched; /* gbsi_run_memory.untouched; these bytes may be taken in addition to the
                           limit */
    const char *fewer;  /* advice to the user if memory is too small */
} gbsi_run_budget;

/* The purpose of a run that is made by another function than gbs_run_new(). */
typedef struct gbsi_run_purpose {
    bool limited; /* whether a run that would exceed the memory limit is refused early; false for
                     gbs_model_info(), which needs the figures and measures no more than the plan */
    bool draws;   /* whether callbacks.draw is called (GBS_RUN_DRAWS); either all variables or no
                     variables are then answered exactly */
    bool divides; /* whether the model will be divided among ranks; the run then needs only the
                     slots and levels of the plan, and answers no component exactly */
    bool up_only; /* for gbs_log_z(): whether exact components are summed without computing their
                     marginals */
    bool anneals; /* for gbs_map() and gbs_log_z(): whether chains run at temperatures; no marginals
                     are then estimated */
    bool asks;    /* whether variables that affect no queried variable may be left out */
    const uint32_t *asked; /* [n_asked] queried variables, in the user's numbering; borrowed while
                              the run is made */
    size_t n_asked;
    double penalty; /* penalty of a violated hard zero while a search goes on, in nats; 0 keeps
                       zeros hard */
    const gbs_ranks *
        ranks; /* ranks that share the chains of the run; borrowed; NULL if this process is alone */
    /* lattice or levels of a model without factors; the run takes ownership; NULL if the model has
     * no lattice or levels */
    gbsi_lattice **lattice;
    gbsi_levels **levels;
    bool bare; /* whether `lattice` or `levels` is not NULL */
} gbsi_run_purpose;

/* The state of an automatic burn-in: see burn_in.c. */
typedef struct gbsi_burn_in {
    uint64_t most;   /* largest number of passes of burn-in, or their actual number once burn-in has
                        ended; 0 if burn-in is not automatic */
    uint64_t stride; /* number of passes between two recorded densities */
    uint64_t n;      /* number of densities recorded for each chain */
    double *density; /* [n_chains][GBSI_BURN_IN_VALUES] recorded log densities of the chains of all
                        ranks */
    double *now; /* [2][n_chains] log densities after one pass: first of the chains of this rank,
                    then of all chains; lies behind `density` */
} gbsi_burn_in;

/* The task of a run: the model, the options, and the ranks that take part. It does not change once
 * sampling has begun, except that the runner may change to ladders. */
typedef struct gbsi_task {
    gbs_run_options options;
    uint64_t chains_asked; /* options.chains before it was lowered to fit the memory */
    gbsi_run_purpose purpose;
    const gbsi_runner *runner; /* NULL until it is chosen */
    const gbsi_runner *plain;  /* the runner of the plain chains without ladders, see runner.h */
    const gbs_ranks *ranks;    /* NULL if this process is alone */
    /* `ranks` if ranks share the chains; NULL if this process has all chains. */
    const gbs_ranks *spread;
    gbsi_shared shared; /* used if ranks share the model, and not the chains */
    gbsi_problem problem;
} gbsi_task;

/* The objects with which a run samples: the engine that moves the chains, and the estimates made
 * from them. */
typedef struct gbsi_sampling {
    gbsi_engine engine;
    gbsi_estimates estimates;
    gbsi_monitor monitor;
    gbsi_phase phase;
    gbsi_burn_in burn_in;
    gbsi_tempered *tempered; /* ladders that replace the engine's chains; NULL if there are none */
    void *own; /* data of a runner that has no field in this struct; see gbsi_runner.free */
} gbsi_sampling;

/* A run. A function takes only those parts of the run that it uses. It takes the whole struct only
 * if a runner or the user calls it with the whole run. */
struct gbs_run {
    gbsi_task task;
    gbsi_sampling sampling;
    gbsi_report report;
    gbsi_checkpoints checkpoints;
    gbsi_run_memory memory;
    gbsi_run_budget budget;
};

/* Whether ladders run from the beginning. */
static inline bool gbsi_run_wants_temper(const gbsi_task *task)
{
    const bool of_log_z = task->purpose.up_only && task->problem.penalty == 0.0;
    return task->options.temper > GBS_TEMPER_OFF || of_log_z;
}

/* Whether a run counts how often variables change. Changes are not counted if a theorem bounds the
 * error, or if every pass starts from fresh states. Changes are not counted either if the pass
 * keeps states in its own form, such as bits. Chains in bits are of models without evidence, and
 * thousands of their sites have equal conditionals: that one site does not move shows nothing. If a
 * whole lattice stays in one mode, the traces of energy and magnetisation reveal the fact. */
static inline bool gbsi_run_counts_moves(const gbsi_task *task, const gbsi_engine *engine)
{
    return engine->plan != NULL && !task->purpose.anneals && !task->options.restarts &&
           task->options.certified == 0.0 && task->options.estimator != GBS_ESTIMATOR_TRACES &&
           !gbsi_runner_climbs(task->runner);
}

/* run.c: puts the memory budget of the run in force until gbsi_run_leave() or gbs_run_free(),
 * unless another budget is in force. */
void gbsi_run_enter(gbsi_run_budget *budget);
void gbsi_run_leave(gbsi_run_budget *budget);

/* prepare.c: conditions the model on the evidence, chooses the components that are answered
 * exactly, makes the scan and the plan, and predicts the memory. */
gbs_status gbsi_run_prepare(gbs_run *run, const gbs_evidence *evidence, gbs_error *err);
/* Takes the memory that gbsi_run_prepare() predicted. @return GBS_ERR_LIMIT, with the number of
 * bytes, if the memory exceeds the limit. */
gbs_status gbsi_run_take_memory(gbs_run *run, gbs_error *err);
/* Takes the memory if the scan is already chosen. If a pilot has still to choose the scan, only the
 * limit is checked. */
gbs_status gbsi_run_take_known_memory(gbs_run *run, gbs_error *err);
/* prepare.c: whether exact answers may be given up when time runs short. This needs method `auto`,
 * a time set by the user, one process, a scan of all variables, and no checkpoint to resume from.
 */
bool gbsi_run_may_give_up(const gbs_run *run);
/* The share of --time after which exact answers are given up if gbsi_run_may_give_up() returns
 * true. */
#define GBSI_EXACT_SHARE 0.75
/* run.c: if exact answers were given up, warns of it and says how the run answers instead. */
gbs_status gbsi_run_tell_late(gbsi_report *report, gbs_error *err);
/* prepare.c: prepares the run again, with no component answered exactly. */
gbs_status gbsi_run_sample_instead(gbs_run *run, struct gbsi_drive *drive, gbs_error *err);
/* Replaces the compiled scan by another scan, before memory is taken. */
gbs_status gbsi_run_rescan(gbs_run *run, int scan_kind, gbsi_watch *watch, gbs_error *err);
/* runners.c: sets run->task.runner and run->task.plain. */
void gbsi_run_choose_runner(gbsi_task *task, const gbsi_engine *engine);
/* prepare.c: checks that the drawing method works with the scan. */
gbs_status gbsi_run_check_draw(const gbsi_task *task, gbsi_engine *engine, gbs_error *err);
/* run_new.c: makes a run and checks its options; nothing is compiled yet. */
gbs_status gbsi_run_begin(const gbs_model *model, const gbs_run_options *options, gbs_run **out,
                          gbs_error *err);
/* run_new.c: makes a run, checks its options, prepares it, and takes its memory if its scan is
 * known. If the memory limit is too low for the requested chains, the run has fewer chains and a
 * warning, provided that options->least_chains allows this. The caller must call gbsi_run_leave().
 */
gbs_status gbsi_run_open(const gbs_model *model, const gbs_evidence *evidence,
                         const gbs_run_options *options, const gbsi_run_purpose *purpose,
                         gbs_run **out, gbs_error *err);

/* run_new.c: makes a run of a lattice whose sites are bits. The run takes the lattice, even on
 * failure. @param variables borrowed; a model without factors, with a variable of two states for
 * each site. @param options options for which gbsi_sites_suit() is true. */
gbs_status gbsi_run_new_of_sites(const gbs_model *variables, gbsi_lattice *lattice,
                                 const gbs_run_options *options, gbs_run **out, gbs_error *err);
/* run_new.c: makes a run of a picture; each variable has as many states as the picture has levels.
 * @param options must ask for chains with the random draw and for averaged conditionals; the model
 * has no hard zeros. */
gbs_status gbsi_run_new_of_levels(const gbs_model *variables, gbsi_levels *levels,
                                  const gbs_run_options *options, gbs_run **out, gbs_error *err);

/* problem.c: number of bytes that are in memory from conditioning to the end of the run. */
uint64_t gbsi_run_standing_bytes(const gbsi_problem *problem, const gbsi_estimates *estimates);

/* Number of successive iterations without a new smallest change after which an approximation is
 * given up. */
#define GBSI_PATIENCE 1000u

/* The reasons why a run ended; run.c has their names. The run ended before it reached its target if
 * the reason is GBSI_STOP_TIME or a later one. */
typedef enum gbsi_stop {
    GBSI_GO_ON,
    GBSI_STOP_TARGET,
    GBSI_STOP_SWEEPS,
    GBSI_STOP_EXACT,
    GBSI_STOP_FIXED_POINT,
    GBSI_STOP_SETTLED,
    GBSI_STOP_BOUND, /* the upper bound of a search is equal to its best state */
    GBSI_STOP_ITERATIONS,
    GBSI_STOP_NO_PROGRESS, /* many iterations of an approximation brought it no closer to a fixed
                              point */
    GBSI_STOP_TO_TEMPER,   /* plain chains disagree, and the run goes on with ladders */
    GBSI_STOP_TIME,
    GBSI_STOP_UPDATES,
    GBSI_STOP_SIGNAL,
    GBSI_STOP_SUPPORT, /* the support is shown to be split, and more sweeps do not help */
    GBSI_STOP_FAILED,  /* a pass has failed on a rank; all ranks meet and return this failure */
} gbsi_stop;

/* The state of a loop over passes, in burn-in and in sampling, and of the checks that may stop it.
 */
/* Exact work whose length is known in operations of the watch, from which the time of its end is
 * predicted. */
typedef struct gbsi_expected {
    const char *work;  /* name of the work, for reports of progress; NULL: no exact work */
    double operations; /* least number of operations of the calling thread; 0: not known */
    uint64_t before;   /* number of operations of the watch before the work */
    double begun_s;    /* time at which the work began */
    double given_up;   /* share of --time after which the work was given up because of its rate; 0:
                          it was not */
    double times;      /* predicted end of that work, as a multiple of --time */
} gbsi_expected;

typedef struct gbsi_drive {
    const gbs_run_callbacks *callbacks; /* never NULL, but members may be NULL */
    double started_s, last_progress_s;
    uint64_t pass; /* number of the present pass, which keys the random numbers; counted on from
                      burn-in to sampling */
    double worst_error; /* largest error at the last check of the estimates */
    double rhat; /* R-hat of the log density during burn-in, then R-hat at the last check; 0 before
                    the first check */
    gbsi_stop stop;
    const gbs_run *run;
    gbsi_watch watch;   /* watch for work inside a pass, or before the first pass */
    gbsi_watch outer;   /* watch of the call that this run works for */
    bool keeping;       /* whether the draws of the present pass are kept */
    double last_look_s; /* time of the last progress report inside a pass */
    double share; /* share of --time after which a pass is cut short if its draws are not kept */
    double exact_share;     /* share of --time after which exact answers are given up */
    gbsi_expected expected; /* the exact work under way */
    double stopped_s;       /* time at which `stop` was set inside a pass */
    bool whole;    /* whether the present pass is finished even if something stops the run */
    bool prepares; /* whether --time includes the preparation of the run, for which no run exists
                      yet */
} gbsi_drive;

/* @param drive must not be moved afterwards. @param run, callbacks borrowed. If `run` is NULL,
 * the run is made later, and --time includes the time for making the run. */
void gbsi_drive_begin(gbsi_drive *drive, const gbs_run *run, const gbs_run_callbacks *callbacks);
/* Called before a pass or other work: resets the watch, unless drive->stop says that the run has
 * ended. */
void gbsi_drive_go_on(gbsi_drive *drive, bool keep);
/* Called before a pass that must not be cut short. Passes must be whole if checkpoints are written,
 * because a run cannot resume in the middle of a pass. With several ranks, passes must be whole
 * too, because all ranks end a pass together. */
void gbsi_drive_go_whole(gbsi_drive *drive, bool keep);
/* Tells which exact work begins now, for reports of progress, and how many operations it needs at
 * least, for a prediction of its end. The work ends with gbsi_drive_go_on() and with the next call.
 * @param work name of the work, as gbs_progress.work. @param operations on all threads; 0: not
 * known. */
void gbsi_drive_expect(gbsi_drive *drive, const char *work, double operations, uint32_t n_threads);
/* Notes in the report when and why exact answers were given up. */
void gbsi_drive_note_late(const gbsi_drive *drive, gbsi_report *report);
/* Returns the seconds of --time that are used, including the time for the preparation of the
 * run. */
double gbsi_drive_spent_s(const gbsi_drive *drive, double now_s);
/* Sets drive->stop if --time is over, or if the watch of the call that this run works for has
 * stopped. */
void gbsi_drive_end_in_time(const gbs_run_options *options, gbsi_drive *drive, double now_s);
/* Called before the last work of a run, which may still take a moment after the run was stopped by
 * its limit or a signal. */
void gbsi_drive_finish(gbsi_drive *drive);
/* Sets the error of a run that stopped before an estimate existed. @param doing e.g. "calibrating
 * junction trees" */
gbs_status gbsi_stopped_early(const gbsi_drive *drive, const char *doing, gbs_error *err);

/* Reports progress, and sets drive->stop if time or updates are used up. */
void gbsi_run_watch(const gbs_run_options *options, const gbsi_report *report, gbsi_drive *drive,
                    bool keep);
/* Runs one pass, and then sets drive->stop if time or updates are used up. @return GBS_STOPPED if
 * the pass was cut short. The kept draws of such a pass are included in the estimates, but the pass
 * is not included in the number of sweeps. */
gbs_status gbsi_run_pass(gbsi_task *task, gbsi_sampling *sampling,
                         const gbsi_checkpoints *checkpoints, gbsi_report *report,
                         gbsi_drive *drive, bool keep, gbs_error *err);
/* Runs one pass as gbsi_run_pass() does, and adds its draws to `estimate`. If `estimate` is NULL,
 * the draws are thrown away. */
gbs_status gbsi_run_advance(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                            gbsi_drive *drive, gbsi_estimate *estimate, gbs_error *err);

/* bias.c: called after sampling with a drawing method that does not leave the target distribution
 * invariant. Compares the estimates with those of a short run of the random draw, reports the
 * difference, and warns. */
gbs_status gbsi_run_compare(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                            gbsi_drive *drive, gbs_error *err);

/* control.c: called after sampling by plain chains that would be reported as converged. Runs
 * ladders beside the chains if this is cheap and the chains may have missed a state; sets
 * report.contradiction. */
gbs_status gbsi_run_control(gbs_run *run, gbsi_drive *drive, gbs_error *err);

/* threshold.c: finds the threshold of the bounded-error draw if the options ask for a search, and
 * writes the threshold to the report. */
gbs_status gbsi_run_find_threshold(gbs_run *run, gbsi_drive *drive, gbs_error *err);
/* The bytes that gbsi_run_find_threshold() takes while it works. */
uint64_t gbsi_run_threshold_bytes(const gbs_run_options *options, const gbsi_engine *engine);

/* run.c: the first function sets the start of every chain, and returns GBS_STOPPED if the time
 * ended before starts were found. The second gets a chain's state of the sampled variables, in the
 * user's numbering. @param x [part variables] scratch. @param user [model variables]. */
gbs_status gbsi_run_set_starts(gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                               gbsi_drive *drive, gbs_error *err);
void gbsi_run_user_state(const gbsi_engine *engine, const gbsi_problem *problem, uint32_t chain,
                         uint32_t *x, uint32_t *user);
/* Writes a state of the part's variables into `user`, in the user's numbering; entries of `user`
 * for other variables are not changed. */
void gbsi_part_user_state(const gbsi_conditioned *part, const uint32_t *x, uint32_t *user);
const char *gbsi_stop_text(gbsi_stop stop);

/* synchronous_states.c: combines the states of two chains of the chromatic scan into the state of
 * one synchronous chain, in the part's numbering. @return the log density of the combined state.
 * @param x, other [part variables], the latter scratch. */
double gbsi_recombine(const gbsi_engine *engine, const gbsi_conditioned *part, uint32_t chain,
                      uint32_t *x, uint32_t *other);

/* burn_in.c: runs passes whose draws are thrown away, until run->sampling.phase changes. */
gbs_status gbsi_run_burn_in(gbs_run *run, gbsi_drive *drive, gbs_error *err);
/* Warns that burn-in ended before the chains agreed, and says why. */
gbs_status gbsi_burn_in_warn(const gbsi_task *task, const gbsi_engine *engine,
                             const gbsi_burn_in *burn_in, gbsi_report *report, gbs_error *err);
/* burn_in_saved.c: the first function takes memory for the log densities of burn-in; the others
 * save and load the burn-in part of a checkpoint. */
gbs_status gbsi_burn_in_take(gbsi_burn_in *t, gbsi_engine *engine, gbs_error *err);
gbs_status gbsi_burn_in_save(const gbsi_sampling *sampling, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_burn_in_load(gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err);

/* lattice_runs.c: decides whether a model is a lattice that runs with its sites in bits. The model
 * is the whole model or its sampled part. For such a lattice, sets engine->lattice and
 * engine->spins. A run with such a lattice has no plan, and no graph unless the search for
 * components needed one. */
gbs_status gbsi_choose_sites(gbsi_engine *engine, const gbs_run_options *options,
                             const gbsi_conditioned *model, gbs_error *err);
/* The first function returns whether the options allow sites in bits in a model without hard
 * zeros. The second function returns whether such a run is also faster than sixteen chains. */
bool gbsi_sites_allowed(const gbs_run_options *options);
bool gbsi_sites_suit(const gbsi_lattice *lattice, const gbs_run_options *options);
/* Decides whether the part runs with its chains in bits. If so, sets engine->packed and
 * engine->spins, and the run has no plan. Fails if the user asked for bits and the part does not
 * allow bits. */
gbs_status gbsi_choose_chains(gbsi_engine *engine, const gbs_run_options *options,
                              const gbsi_problem *problem, gbsi_watch *watch, gbs_error *err);
/* The share of the bits of a word that a run with chains in bits uses. */
double gbsi_share_of_chains(const gbs_run_options *options);
/* certified.c: finds the burn-in that options.certified requests. With restarts, the function finds
 * a bound on the distance from the target distribution that remains after one pass. @param watch
 * stops preparation. */
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
/* approximate_run.c: finds an answer for the sampled part by belief propagation, within a tenth of
 * --time. This answer is used if sampling has no answer when the time is over. */
gbs_status gbsi_run_answer_first(const gbsi_task *task, gbsi_sampling *sampling, gbsi_drive *drive,
                                 gbs_error *err);

/* reasons.c: writes the reason why a run is not reported as converged, and advice to the user; both
 * come from the rows of verdict.def.
 * @return false if the run has converged. */
bool gbsi_run_doubt(const gbs_run *run, char *text, size_t size);
/* Whether the run is long enough to be called converged, see GBSI_LEAST_UPDATES. */
bool gbsi_run_long_enough(const gbsi_task *task, const gbsi_engine *engine,
                          const gbsi_report *report);
/* Whether the chains probably visited slow states, from which chains depart as slowly as from their
 * starts; see GBSI_LEAST_VISITS. */
bool gbsi_run_has_wandered(const gbsi_task *task, const gbsi_report *report);
/* The number of passes below which gbsi_run_has_wandered() is false. @param updates_per_pass
 * updates of each chain in a pass. */
double gbsi_run_least_passes(const gbs_run_options *options, const gbsi_run_purpose *purpose,
                             const gbsi_report *report, double updates_per_pass);
/* Whether R-hat is below its limit, or undefined because no variable changed. */
bool gbsi_run_chains_agree(const gbsi_runner *runner, const gbsi_report *report);
#endif
