/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for all verbs that read models: reading files, the run, its progress and its
 * summary. */
#ifndef GIBBSITE_CLI_JOB_H
#define GIBBSITE_CLI_JOB_H

#include "cli/cli.h"
#include "gibbsite/dobrushin.h"
#include "gibbsite/image.h"
#include "gibbsite/log_z.h"
#include "gibbsite/report.h"
#include "gibbsite/share.h"
#include "src/files/answers/answers.h"

typedef struct cli_job {
    const cli_arguments *arguments;
    gbs_read_options read;
    double begun_s; /* time at which reading began */
    gbs_model *model;
    gbsi_evidence_set **set; /* [n_evidence] samples of each -e; an element is NULL if this -e is a
                                list of states; owned */
    gbsi_evidence_set *own;  /* observations in the model file (--file-evidence); NULL for none */
    size_t n_samples;        /* number of samples in the evidence files; 1 without such files */
    size_t sample;           /* number of the sample that is observed */
    gbs_evidence *evidence;  /* observed states; NULL for none */
    const char *output;      /* path for the result of this sample: the value of -o, perhaps with .k
                                appended; NULL without -o */
    const char *summary;     /* path for the summary of this sample, from --summary */
    const char *report;      /* path for the report of this sample, from --report */
    const char *drawing;     /* path for the drawing of this sample, from --drawing */
    const uint32_t *query;   /* [n_query] variables that a summary shows; NULL: all */
    size_t n_query;
    uint32_t rows, columns; /* sides of the picture that the variables form, 0 until they are found
                             */
    uint32_t *sequence;     /* [sequence_length] updates of a scan file, in memory that the library
                               allocated */
    size_t sequence_length;
    uint32_t *target;      /* variables of --target; owned */
    uint32_t *start;       /* [n_variables] initial states, or NULL; owned */
    uint32_t *dummy_edges; /* dummy edges read from a file, in memory that the library allocated */
    uint32_t *dummy_ring;  /* dummy edges of a ring; owned */
    double stop_s;         /* time at which work on influences must stop, infinite without --time */
    const uint32_t *drawn; /* [n_drawn] variables whose draws are written, borrowed; NULL: all */
    uint32_t n_drawn;
    gbs_run_options options;
    gbs_run *run;
    size_t n_told;    /* number of warnings of the run that were printed before the run began */
    gbs_share *share; /* share of this rank if ranks share the model; owned */
    gbs_partition *partition; /* partition of the model, on the first rank only; NULL if the share
                                 came from a folder; owned */
    gbs_status (*make_run)(struct cli_job *job,
                           gbs_error *err); /* function that makes the run; NULL: gbs_run_new_with()
                                               makes the run from the model */
    /* Function that all ranks that share a model call after the run; NULL for none. */
    int (*together)(struct cli_job *job, void *context);
    void *together_context;
    /* traces of --monitor while a run is being concluded; else NULL */
    struct cli_diagnosis *traces;
} cli_job;

/* ---- load_files.c --------------------------------------------------------------------------- */

/* Reads MODEL, evidence, scan and start. @return an exit status. The caller must call
 * cli_job_free() even after a failure. */
int cli_load_samples(cli_job *job, const cli_arguments *arguments, const char *path);
/* Reads files as cli_load_samples() does, for a verb that gives one answer: several samples are
 * refused, and a single sample is observed. */
int cli_load(cli_job *job, const cli_arguments *arguments, const char *path);
/* Reads the files that options name (scan, start, targets, edges) after job->model was read, and
 * sets job->options. */
int cli_load_options(cli_job *job);
/* Prints a note, once, if a number that the user typed was read as the name of a variable with
 * another index. */
void cli_tell_numbers(const cli_job *job);
/* Reads a picture until --time is over, counted from job->begun_s.
 * @param image out; free with gbs_image_free(). @return an exit status, after a message. */
int cli_read_picture(const cli_job *job, const char *path, gbs_image *image);
/* Reads MODEL alone. */
int cli_load_model(cli_job *job, const cli_arguments *arguments, const char *path);
void cli_job_free(cli_job *job);

/* ---- dummy_edges.c -------------------------------------------------------------------------- */

/* Reads dummy edges from a file or makes the edges of ring:S, and stores the edges in job->options.
 * Loading calls this function. */
int cli_load_edges(cli_job *job, const char *text);

/* ---- samples.c --------------------------------------------------------------------------- */

/* Reads the values of all options -e. Loading calls this function. */
int cli_load_evidence(cli_job *job, const char *path);
/* Sets job->evidence to one sample and the evidence that is common to all samples. */
int cli_observe_sample(cli_job *job, size_t sample);

/* Function of a verb that answers job->evidence and writes the answer to job->output and
 * job->summary. */
typedef int cli_sample_answer(cli_job *job, void *context);
/* Calls `answer` after cli_load_samples(). If the evidence has several samples, cli_each_sample()
 * calls `answer` once for each sample, with outputs FILE.0, FILE.1, ... @return the first failure,
 * else CLI_STOPPED if an answer was stopped. */
int cli_each_sample(cli_job *job, cli_sample_answer *answer, void *context);

/* ---- verb_logz.c ---------------------------------------------------------------------------- */

/* Prints ln Z on standard error, and the reasons to trust or doubt this value. */
void cli_logz_verdict(const cli_job *job, const gbs_log_z_report *report);

/* ---- execute.c --------------------------------------------------------------------------- */

/* Settles the options of the run, and refuses options that cannot be combined and files that cannot
 * be written. Call it before cli_load(). @param forced GBS_METHOD_SAMPLE for a verb that always
 * samples, GBS_METHOD_EXACT for a verb that never samples, else GBS_METHOD_AUTO. */
int cli_settle(cli_arguments *arguments, gbs_method forced);

/* @return the name, without dashes, of the first given option that applies to sampling only;
 * NULL if no such option was given. */
const char *cli_sampled_option(const cli_arguments *arguments);
/* @return whether the method is an approximation (mean field or belief propagation) instead of
 *         chains. */
int cli_approximates(const cli_arguments *arguments);
int cli_is_approximate(const gbs_report *report);
/* Refuses options of sampling beside --method exact. Verbs that do not call cli_settle() use this
 * function.
 * @return an exit status. */
int cli_check_method(const cli_arguments *arguments);

/* Checks that all files of the call can be written: the result, and the files of --summary,
 * --report,
 * --drawing and --checkpoint. No two of them may be the same, and none may belong to the
 * checkpoint.
 * @return an exit status. */
int cli_check_outputs(const cli_arguments *arguments);

/**
 * Executes the run, with signal handlers and the progress line.
 *
 * @param draw function that is called for every kept draw, with `context` as first argument; or
 * NULL.
 * @param stopped out: 1 if the run ended before its target but has results to write.
 * @return CLI_DONE, or an exit status after a message. */
int cli_execute(cli_job *job,
                gbs_status (*draw)(void *context, uint64_t draw, uint32_t chain, double log_density,
                                   const uint32_t *state, gbs_error *err),
                void *context, int *stopped);

/* Prints why --method auto chose sampling. */
void cli_tell_choice(const cli_job *job, const gbs_exact_cost *cost);
/* Prints a note that ladders have another default, if the user typed the default of --chains. */
void cli_tell_default_ladders(const cli_job *job, uint32_t n_ladders);
#define CLI_UNRELIABLE_ERROR "standard error within chains, not reliable"
/* Prints the verdict on standard error. */
void cli_verdict(const cli_job *job, int stopped);

/* Writes summary and verdict, once the results are written.
 * @return the exit status of the run. */
int cli_conclude(const cli_job *job, int stopped);

/* ---- checkpoints.c ----------------------------------------------------------------------- */

/* Settles the options that belong to --checkpoint. Options of the run that --resume continues are
 * taken from the checkpoint, unless they were typed. Call the function before cli_settle().
 * @return an exit status. */
int cli_settle_checkpoints(cli_arguments *arguments);
/* Reports that a call with checkpoint files failed. A checkpoint of another run is reported as bad
 * input.
 * @return an exit status. */
int cli_fail_call(const gbs_checkpoint_files *files, gbs_status done, const gbs_error *err);
/* Resumes the run from a checkpoint if --resume was given, and makes the run write checkpoints if
 * --checkpoint was given.
 * @param draws whether the draws of the run are kept.
 * @return an exit status. */
int cli_begin_checkpoints(const cli_job *job, int draws);

/* ---- partition.c ------------------------------------------------------------------------- */

#define CLI_SUM_TEXT 160

/* @return whether Z is known to be 1, as for a Bayesian network without evidence. */
int cli_sums_to_one(const cli_job *job);
/* @return ln P(evidence) of a Bayesian network; NAN if it is not known.
 * @param log_z NAN: not known. */
double cli_log_p_evidence(const cli_job *job, double log_z);
/* Writes "P(evidence) = ..." for a Bayesian network, else "ln Z = ..."; "" if the value is not
 * known. @param log_z NAN if the value is not known.
 * @param text [CLI_SUM_TEXT], out. */
void cli_evidence_text(const cli_job *job, double log_z, char *text);
/* @return ln Z given the evidence, computed by junction trees; NAN if the trees are too large or
 *         the time is too short. */
double cli_exact_log_z(const cli_job *job);
/* Estimates ln Z given the evidence. @param z unchanged if the estimate failed (with a message) or
 * was stopped too early. */
void cli_estimate_log_z(const cli_job *job, gbs_log_z_report *z);
/* Prints the probability of a state on standard error. @param z estimate of ln Z. z->log_z is NAN
 * if ln Z is not known, and z->error is 0 if ln Z is exact. */
void cli_tell_state_probability(const cli_job *job, double log_density, const gbs_log_z_report *z);
/* @return ln P of a state, given ln Z; at most 0, because Z is at least the weight of the state. */
double cli_log_probability(double log_density, double log_z);

/* ---- picture.c --------------------------------------------------------------------------- */

/* A picture with a pixel for every variable, which shows the probability of one state or the most
 * probable state. */
typedef struct cli_picture {
    const char *format; /* format of the picture, such as "png"; NULL: no picture is wanted */
    uint64_t rows, columns;
    uint32_t arity;
    int labels;     /* 1: show the most probable state */
    uint64_t state; /* if labels is 0: the state whose probability is shown */
} cli_picture;

/* Checks the options of a picture before anything is read.
 * @return an exit status. */
int cli_picture_settle(const cli_arguments *arguments, const char *format, cli_picture *picture);
/* Checks that a picture fits the model, before the run.
 * @return an exit status. */
int cli_picture_fit(const cli_job *job, cli_picture *picture);
/* @param p probabilities of the states of all variables, one variable after the other. @return an
 * exit status. */
int cli_picture_write(const cli_job *job, const cli_picture *picture, const double *p);

/* ---- target.c ---------------------------------------------------------------------------- */

/* Computes the weights of variables that the value of --target describes.
 * @param weight out: [n_variables] weights, which the caller must free(); NULL if all are 1.
 * @return an exit status. */
int cli_target(const cli_job *job, const char *text, double **weight);
/* Checks that --grid fits the model, and that --grid is given only with --target rectangle:... .
 * @return an exit status. */
int cli_check_grid(const cli_job *job);
/* Reads the --target of a run into job->options. Loading calls this function.
 * @return an exit status. */
int cli_load_targets(cli_job *job);
/* Computes influences, with the options --influence and --memory-limit. From this call on, a signal
 * or the end of --time stops the work on influences (see gbs_influence_options.stop).
 * @return an exit status. */
int cli_influences(cli_job *job, gbs_influences **influences);

/* ---- signals.c --------------------------------------------------------------------------- */

/* Opens /dev/null for standard streams that are closed when the program starts. main() must call
 * this function first. */
void cli_open_standard_streams(void);
/* Sets signal handlers: after this call, SIGHUP, SIGINT and SIGTERM end the program with
 * CLI_STOPPED. If a mapped file was truncated, the program ends with CLI_INPUT and a message. */
void cli_signals_end(void);
/* Sets signal handlers: after this call, the first SIGHUP, SIGINT or SIGTERM is noted, and the
 * second ends the program with CLI_KILLED. */
void cli_signals_catch(void);
int cli_signals_caught(void);
/* Sets a handler of SIGUSR1, which asks for the progress of a run. */
void cli_signals_tell(void);
/* @return whether SIGUSR1 arrived since the last call. */
int cli_signals_asked(void);

/* ---- progress.c -------------------------------------------------------------------------- */

typedef struct cli_bar {
    int mode;           /* cli_progress_mode in effect: ALWAYS, NEVER or JSON, but not AUTO */
    FILE *to;           /* standard error, or the stream of --progress json:FD */
    int drawn;          /* 1: the terminal shows a line of progress */
    unsigned n_redraws; /* number of redraws, which turns the spinner */
    double last_s;      /* elapsed time at the last redraw */
    int burning_in;     /* 1 if the last redraw was during burn-in */
    double phase_s;     /* elapsed time when the phase began */
    double time_s;      /* time limit in seconds; 0: none */
    const char *unit;   /* word for passes, such as "iterations"; NULL for a run of chains */
} cli_bar;

double cli_clock_s(void); /* @return the monotonic time in seconds, which progress and --time use */

void cli_bar_init(cli_bar *bar, const cli_arguments *arguments, const gbs_run_options *options);
void cli_bar_update(cli_bar *bar, const gbs_progress *progress);
/* Prints the state of the run in one line, even if progress is not shown. */
void cli_bar_tell(cli_bar *bar, const gbs_progress *progress);
/* Shows the progress of work that is not a single run. @param share part of the work that is done,
 * from 0 to 1. */
void cli_bar_share(cli_bar *bar, double elapsed_s, double share, const char *what);
/* Progress callback that only shows progress. @param context the cli_bar. */
int cli_bar_watch(void *context, const gbs_progress *progress);
void cli_bar_finish(cli_bar *bar, const gbs_report *report); /* report may be NULL */

/* ---- run_summary.c --------------------------------------------------------------------------- */

/* Writes the files of --summary and --report if these options were given. @return an exit
 * status. */
int cli_summary(const cli_job *job);

/* Writes the page of --report FILE, if this option was given, for an answer in JSON.
 * @param write function that writes the answer in JSON without the last brace. The text that this
 *         function writes must not depend on the command line.
 * @return an exit status. */
int cli_report_answer(const cli_job *job, void (*write)(gbs_output *output, const void *answer),
                      const void *answer);

/* Writes a page made of summaries. @return an exit status. */
int cli_write_report(const char *path, const gbs_report_source *source, size_t n);

/* @return the command line, quoted so that a shell reads the same words; NULL if memory is short.
 *         The caller must free() the text. */
char *cli_command_line(const cli_arguments *arguments);

#endif
