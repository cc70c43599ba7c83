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
/* Limits below which a tempered run counts as converged. In the runs by which they were chosen, no
 * run within the limits was wrong. */
#define GBSI_TEMPERED_TARGET 0.007
#define GBSI_LOG_Z_TARGET    0.05 /* target error of ln Z, for all methods */
#define GBSI_LEAST_SHARE     0.5  /* least share of cold states that violate no hard zero */
#define GBSI_LEAST_TRIPS     20   /* least number of round trips on every ladder */
#define GBSI_BURN_IN_RHAT    1.05
#define GBSI_BURN_IN_VALUES  64u

/* Standard errors and R-hat cannot detect a state that no chain has entered yet. Chains may need
 * long to enter a rare state, even a state that holds them for long afterwards: the chains of four
 * nearly certain variables can agree perfectly on a wrong answer after 64 sweeps. A run is
 * therefore not reported as converged below this many updates of variables over all chains, which
 * take a fraction of a second. The run also needs 1 / (4 target^2) draws, which is the number of
 * draws that a fair coin needs to reach the target. */
#define GBSI_LEAST_UPDATES (UINT64_C(1) << 22)

/* Chains that took long to agree have left slow states, and all of them may have missed another
 * slow state. If each chain had time for this many visits, a state whose probability equals the
 * target is missed with probability exp(-2) = 0.14. [M9] */
#define GBSI_LEAST_VISITS 2.0
/* Chains that took GBSI_SLOW_PASSES passes to agree were held by slow states. Ladders of
 * temperatures are then better. Plain chains then need GBSI_SURE_VISITS visits, which are enough
 * for a standard error. */
#define GBSI_SLOW_PASSES 512u
#define GBSI_SURE_VISITS 10.0

/* The limit of updates if the user gave neither sweeps nor updates. */
#define GBSI_MOST_UPDATES UINT64_C(50000000000)

/* Numbers of bytes, predicted in run_memory.c. */
typedef struct gbsi_run_memory {
    uint64_t standing; /* bytes of the program, the model, its conditioned form and its graph */
    uint64_t plan, schedule, states, estimators, draw;
    uint64_t draw_room; /* bytes of the limit that remain for the draw */
    uint64_t blocks;    /* bytes of a tempered run, if one is expected */
    uint64_t peak;      /* number of bytes for compiling or for running, the larger of the two */
    uint64_t untouched; /* bytes of arrays of estimates that a short run never writes to */
} gbsi_run_memory;

/* The memory that calls on a run may take. It is limited by the memory limit, not by the
 * prediction. */
typedef struct gbsi_run_budget {
    gbsi_budget own;
    gbsi_budget *before; /* budget in force at the call */
    size_t callers;      /* bytes that gbs_run_count_bytes() counts */
    bool entered;
    uint64_t untouched; /* gbsi_run_memory.untouched, which is allowed in addition to the limit */
    const char *fewer;  /* advice to the user if memory is too small */
} gbsi_run_budget;

/* The purpose of a run that is made by another function than gbs_run_new(). */
typedef struct gbsi_run_purpose {
    bool limited; /* whether a run that would exceed the memory limit is refused early; false for
                     gbs_model_info(), which needs the figures and only measures the plan */
    bool draws;   /* whether callbacks.draw is called (GBS_RUN_DRAWS); all variables or no variable
                     are then answered exactly */
    bool divides; /* whether the model will be divided among ranks; only the slots and levels of the
                     plan are then needed, and no component is answered exactly */
    bool up_only; /* for gbs_log_z(): whether exact parts are summed without their marginals */
    bool anneals; /* for gbs_map() and gbs_log_z(): whether chains have temperatures; no marginals
                     are then estimated */
    bool asks;    /* whether variables that affect no queried variable may be left out */
    const uint32_t *asked; /* [n_asked] queried variables, in the user's numbering; borrowed while
                              the run is made */
    size_t n_asked;
    double penalty; /* penalty of violated hard zeros while the search goes on, in nats; 0 keeps
                       them hard */
    const gbs_ranks *
        ranks; /* ranks that share the chains of the run; borrowed; NULL if this process is alone */
    /* lattice or levels of a model without factors, which the run takes; NULL if the model has
     * no lattice or levels */
    gbsi_lattice **lattice;
    gbsi_levels **levels;
    bool bare; /* whether `lattice` or `levels` is set */
} gbsi_run_purpose;

/* The state of an automatic burn-in: see burn_in.c. */
typedef struct gbsi_burn_in {
    uint64_t most; /* largest number of passes of burn-in, and their actual number once burn-in has
                      ended; 0 if burn-in is not automatic */
    uint64_t stride; /* number of passes between two recorded densities */
    uint64_t n;      /* number of densities recorded for each chain */
    double *density; /* [n_chains][GBSI_BURN_IN_VALUES] recorded densities for the chains of all
                        ranks */
    double *now; /* [2][n_chains] densities of one pass, first for this rank and then for all; lies
                    behind `density` */
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
    gbsi_shared shared; /* used if ranks share the model instead of the chains */
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

/* A run. Functions take only the parts that they use. They take the whole struct only if a runner
 * or the user calls them with it. */
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

/* Whether a run counts how often variables change. Changes are not counted if the bound on the
 * error is proved, or if every pass starts from fresh states. Changes are not counted either if the
 * pass keeps states in its own form. Chains in bits have no evidence of their own, and thousands of
 * their sites have equal conditionals: a site that does not move shows nothing. If a whole lattice
 * stays in one mode, the traces of energy and magnetisation show this. */
static inline bool gbsi_run_counts_moves(const gbsi_task *task, const gbsi_engine *engine)
{
    return engine->plan != NULL && !task->purpose.anneals && !task->options.restarts &&
           task->options.certified == 0.0 && task->options.estimator != GBS_ESTIMATOR_TRACES &&
           !gbsi_runner_climbs(task->runner);
}

/* run.c: puts the run's budget in force until gbsi_run_leave() or gbs_run_free(), unless another
 * budget is in force. */
void gbsi_run_enter(gbsi_run_budget *budget);
void gbsi_run_leave(gbsi_run_budget *budget);

/* prepare.c: conditions the model, chooses the components that are answered exactly, makes the scan
 * and the plan, and predicts the memory. */
gbs_status gbsi_run_prepare(gbs_run *run, const gbs_evidence *evidence, gbs_error *err);
/* Takes the memory that gbsi_run_prepare() predicted. @return GBS_ERR_LIMIT with the figure if it
 * exceeds the limit. */
gbs_status gbsi_run_take_memory(gbs_run *run, gbs_error *err);
/* Takes the memory if the scan is known. If a pilot has still to choose the scan, only the limit is
 * checked. */
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
/* prepare.c: checks that the draw works with the scan. */
gbs_status gbsi_run_check_draw(const gbsi_task *task, gbsi_engine *engine, gbs_error *err);
/* run_new.c: makes a run and checks its options; nothing is compiled yet. */
gbs_status gbsi_run_begin(const gbs_model *model, const gbs_run_options *options, gbs_run **out,
                          gbs_error *err);
/* run_new.c: makes a run, checks its options, prepares it, and takes its memory if its scan is
 * known. If the memory limit is too low for the chains asked for and options->least_chains allows
 * fewer, the run has fewer chains, and a warning. The caller must call gbsi_run_leave(). */
gbs_status gbsi_run_open(const gbs_model *model, const gbs_evidence *evidence,
                         const gbs_run_options *options, const gbsi_run_purpose *purpose,
                         gbs_run **out, gbs_error *err);

/* run_new.c: makes a run of a lattice whose sites are bits. The run takes the lattice, even on
 * failure. @param variables borrowed; a model without factors, with a variable of two states for
 * each site. @param options options for which gbsi_sites_suit() is true. */
gbs_status gbsi_run_new_of_sites(const gbs_model *variables, gbsi_lattice *lattice,
                                 const gbs_run_options *options, gbs_run **out, gbs_error *err);
/* run_new.c: makes a run of a picture of levels, in which each variable has as many states as the
 * picture has levels. @param options must ask for chains with the random draw and for averaged
 * conditionals; the model has no hard zeros. */
gbs_status gbsi_run_new_of_levels(const gbs_model *variables, gbsi_levels *levels,
                                  const gbs_run_options *options, gbs_run **out, gbs_error *err);

/* problem.c: the bytes that are in memory from conditioning to the end of the run. */
uint64_t gbsi_run_standing_bytes(const gbsi_problem *problem, const gbsi_estimates *estimates);

/* An approximation is given up if this many successive iterations do not lower the smallest
 * change so far. */
#define GBSI_PATIENCE 1000u

/* The reasons why a run ended; run.c has their names. From GBSI_STOP_TIME on, the run ended before
 * it reached its target. */
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
    uint64_t pass; /* number of the pass, which keys the random numbers; it goes on from burn-in to
                      sampling */
    double worst_error; /* largest error at the last check */
    double rhat; /* R-hat of the log density while burning in, then R-hat at the last check; 0 if
                    there is none */
    gbsi_stop stop;
    const gbs_run *run;
    gbsi_watch watch;   /* watch for work inside a pass, or before the first pass */
    gbsi_watch outer;   /* watch of the call that this run works for */
    bool keeping;       /* whether the draws of the pass under way are kept */
    double last_look_s; /* time of the last progress report inside a pass */
    double share; /* share of --time after which passes whose draws are not kept are cut short */
    double exact_share;     /* share of --time after which exact answers are given up */
    gbsi_expected expected; /* the exact work under way */
    double stopped_s;       /* time at which `stop` was noticed inside a pass */
    bool whole;    /* whether the pass under way is finished even if something stops the run */
    bool prepares; /* whether --time includes the preparation of the run, which began before the run
                    * existed */
} gbsi_drive;

/* @param drive must not be moved afterwards. @param run, callbacks borrowed. If `run` is NULL,
 * the run is made later, and --time includes the time for making the run. */
void gbsi_drive_begin(gbsi_drive *drive, const gbs_run *run, const gbs_run_callbacks *callbacks);
/* Called before a pass or other work: resets the watch, unless drive->stop says that the run has
 * ended. */
void gbsi_drive_go_on(gbsi_drive *drive, bool keep);
/* Called before a pass that must not be cut short. Passes must be whole if checkpoints are written,
 * because a run cannot resume inside a pass. With several ranks, passes must be whole too, because
 * all ranks end a pass together. */
void gbsi_drive_go_whole(gbsi_drive *drive, bool keep);
/* Tells how many operations the exact work that begins now needs at least, for a prediction of its
 * end. The prediction ends with gbsi_drive_go_on() and with the next call. @param operations on
 * all threads; 0: not known. */
void gbsi_drive_expect(gbsi_drive *drive, double operations, uint32_t n_threads);
/* Notes in the report when and why exact answers were given up. */
void gbsi_drive_note_late(const gbsi_drive *drive, gbsi_report *report);
/* Returns the seconds of --time that are used, including the time for the preparation of the
 * run. */
double gbsi_drive_spent_s(const gbsi_drive *drive, double now_s);
/* Sets drive->stop if --time is over, or if the watch of the call that this run works for has
 * stopped. */
void gbsi_drive_end_in_time(const gbs_run_options *options, gbsi_drive *drive, double now_s);
/* Called before the last work of a run, which may still take a moment after the run was stopped. */
void gbsi_drive_finish(gbsi_drive *drive);
/* Makes the error of a run that stopped before it had an estimate. @param doing e.g. "calibrating
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

/* bias.c: called after sampling with a draw that does not leave the target invariant. Compares the
 * estimates with those of a short run of the random draw, reports the difference, and warns. */
gbs_status gbsi_run_compare(gbsi_task *task, gbsi_sampling *sampling, gbsi_report *report,
                            gbsi_drive *drive, gbs_error *err);

/* control.c: called after sampling by plain chains that would be reported as converged. Runs
 * ladders beside the chains if that is cheap and the chains may have missed a state; sets
 * report.contradiction. */
gbs_status gbsi_run_control(gbs_run *run, gbsi_drive *drive, gbs_error *err);

/* threshold.c: finds the threshold of the bounded-error draw if the options ask for a search, and
 * reports the draw. */
gbs_status gbsi_run_find_threshold(gbs_run *run, gbsi_drive *drive, gbs_error *err);
/* The bytes that gbsi_run_find_threshold() takes. */
uint64_t gbsi_run_threshold_bytes(const gbs_run_options *options, const gbsi_engine *engine);

/* run.c: the first function sets the start of every chain, and returns GBS_STOPPED if the time
 * ended before starts were found. The second gets a chain's state of the sampled variables, in the
 * user's numbering. @param x [part variables] scratch. @param user [model variables]. */
gbs_status gbsi_run_set_starts(gbsi_task *task, gbsi_engine *engine, gbsi_report *report,
                               gbsi_drive *drive, gbs_error *err);
void gbsi_run_user_state(const gbsi_engine *engine, const gbsi_problem *problem, uint32_t chain,
                         uint32_t *x, uint32_t *user);
/* Writes a state of the part's variables into `user`, in the user's numbering; other entries of
 * `user` are not changed. */
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
/* burn_in_saved.c: the first function takes memory for the densities of burn-in; the others save
 * and load the part of burn-in in a checkpoint. */
gbs_status gbsi_burn_in_take(gbsi_burn_in *t, gbsi_engine *engine, gbs_error *err);
gbs_status gbsi_burn_in_save(const gbsi_sampling *sampling, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_burn_in_load(gbsi_sampling *sampling, const gbsi_source *source, gbs_error *err);

/* lattice_runs.c: decides whether a model, the whole or the sampled part, is a lattice that runs
 * with its sites in bits. For such a lattice, sets engine->lattice and engine->spins. The run then
 * has no plan, and no graph unless the search for components needed one. */
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
/* The share of the bits of a word that chains in bits use. */
double gbsi_share_of_chains(const gbs_run_options *options);
/* certified.c: finds the burn-in that options.certified requests. With restarts, the function
 * finds the bound on the distance from the target that remains after one pass. @param watch
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
/* approximate_run.c: finds an answer by belief propagation for the sampled part, within a tenth of
 * --time. This answer is used if sampling has no answer when the time is over. */
gbs_status gbsi_run_answer_first(const gbsi_task *task, gbsi_sampling *sampling, gbsi_drive *drive,
                                 gbs_error *err);

/* reasons.c: writes the reason for which a run is not reported as converged, by the rows of
 * verdict.def, and advice to the user.
 * @return false if the run has converged. */
bool gbsi_run_doubt(const gbs_run *run, char *text, size_t size);
/* Whether the run is long enough to be called converged, see GBSI_LEAST_UPDATES. */
bool gbsi_run_long_enough(const gbsi_task *task, const gbsi_engine *engine,
                          const gbsi_report *report);
/* Whether the chains probably visited states that are as slow as their starts; see
 * GBSI_LEAST_VISITS. */
bool gbsi_run_has_wandered(const gbsi_task *task, const gbsi_report *report);
/* The number of passes below which gbsi_run_has_wandered() is false. @param updates_per_pass
 * updates of each chain in a pass. */
double gbsi_run_least_passes(const gbs_run_options *options, const gbsi_run_purpose *purpose,
                             const gbsi_report *report, double updates_per_pass);
/* Whether R-hat is below its limit, or undefined because no variable changed. */
bool gbsi_run_chains_agree(const gbsi_runner *runner, const gbsi_report *report);
#endif
