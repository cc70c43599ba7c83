/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the verbs that read models share: files in, the run, its progress and its
 * summary. */
#ifndef GIBBSITE_CLI_JOB_H
#define GIBBSITE_CLI_JOB_H

#include "cli/cli.h"
#include "gibbsite/dobrushin.h"
#include "gibbsite/log_z.h"
#include "gibbsite/report.h"
#include "gibbsite/share.h"
#include "src/files/answers/answers.h"

typedef struct cli_job {
    const cli_arguments *arguments;
    gbs_read_options read;
    double begun_s; /* when reading began */
    gbs_model *model;
    gbsi_evidence_set **set; /* [n_evidence] NULL if -e is a list; ours */
    gbsi_evidence_set *own;  /* observations in the model file (--file-evidence); NULL for none */
    size_t n_samples;        /* of the evidence files, 1 without any */
    size_t sample;           /* the one observed */
    gbs_evidence *evidence;  /* NULL for none */
    const char *output;      /* path for the result of this sample: -o, perhaps with .k appended; or
                                NULL */
    const char *summary;     /* the same of --summary */
    const char *report;      /* the same of --report */
    const uint32_t *query;   /* [n_query] variables that a summary shows; NULL: all */
    size_t n_query;
    uint32_t rows, columns; /* sides of the picture that the variables form, 0 until they are found
                             */
    uint32_t *sequence;     /* updates of a scan file; the library allocated the memory */
    size_t sequence_length;
    uint32_t *target;      /* of --target; ours */
    uint32_t *start;       /* [n_variables] or NULL; ours */
    uint32_t *dummy_edges; /* dummy edges read from a file; the library allocated the memory */
    uint32_t *dummy_ring;  /* made here */
    double stop_s;         /* time at which work on influences must stop, infinite without --time */
    const uint32_t *drawn; /* [n_drawn] variables of draws, borrowed; NULL: all */
    uint32_t n_drawn;
    gbs_run_options options;
    gbs_run *run;
    size_t n_told;            /* warnings of the run that were printed before it began */
    gbs_share *share;         /* share of this rank if ranks share the model; owned */
    gbs_partition *partition; /* partition, on the first rank only, unless the share came from a
                                 folder; owned */
    gbs_status (*make_run)(struct cli_job *job, gbs_error *err); /* NULL: of the model */
    /* Called on all ranks that share a model once the run has ended; NULL: nothing is called. */
    int (*together)(struct cli_job *job, void *context);
    void *together_context;
    struct cli_diagnosis *traces; /* traces of --monitor while a run is being concluded; NULL: none
                                   */
} cli_job;

/* ---- load_files.c --------------------------------------------------------------------------- */

/* Read MODEL, evidence, scan and start. @return an exit status. Free in either case. */
int cli_load_samples(cli_job *job, const cli_arguments *arguments, const char *path);
/* Does the same for a verb that has one answer: several samples are refused, a single one is
 * observed. */
int cli_load(cli_job *job, const cli_arguments *arguments, const char *path);
/* Reads the files that options name (scan, start, targets, edges) after job->model was read, and
 * sets job->options. */
int cli_load_options(cli_job *job);
/* Notes, once, that a number which the user typed was read as the name of a variable, which has
 * another index. */
void cli_tell_numbers(const cli_job *job);
/* Reads MODEL alone. */
int cli_load_model(cli_job *job, const cli_arguments *arguments, const char *path);
void cli_job_free(cli_job *job);

/* ---- dummy_edges.c -------------------------------------------------------------------------- */

/* Reads dummy edges of a file or ring:S into job->options: part of loading. */
int cli_load_edges(cli_job *job, const char *text);

/* ---- samples.c --------------------------------------------------------------------------- */

/* Read all -e: part of loading. */
int cli_load_evidence(cli_job *job, const char *path);
/* Fill job->evidence with one sample and all that goes with every sample. */
int cli_observe_sample(cli_job *job, size_t sample);

/* The answer of a verb to job->evidence, which it writes to job->output and job->summary. */
typedef int cli_sample_answer(cli_job *job, void *context);
/* After cli_load_samples(): answer once, or once for every sample of the evidence, to FILE.0,
 * FILE.1, ... @return the first failure, else CLI_STOPPED if any of them was. */
int cli_each_sample(cli_job *job, cli_sample_answer *answer, void *context);

/* ---- verb_logz.c ---------------------------------------------------------------------------- */

/* Prints ln Z and how far it can be trusted on standard error. */
void cli_logz_verdict(const cli_job *job, const gbs_log_z_report *report);

/* ---- execute.c --------------------------------------------------------------------------- */

/* Settle the options of the run and refuse what cannot be combined or written. To be called
 * before cli_load(). @param forced GBS_METHOD_SAMPLE for a verb that always samples, _EXACT for one
 * that never does, else _AUTO. */
int cli_settle(cli_arguments *arguments, gbs_method forced);

/* @return the first given option that applies to sampling only, without its dashes; NULL: none. */
const char *cli_sampled_option(const cli_arguments *arguments);
/* Whether the method that was asked for, or the answer, is an approximation in place of chains. */
int cli_approximates(const cli_arguments *arguments);
int cli_is_approximate(const gbs_report *report);
/* Refuses options of sampling beside --method exact: for verbs that do not call cli_settle().
 * @return an exit status. */
int cli_check_method(const cli_arguments *arguments);

/* Checks that --report names a file that can be written, and no other output of the call.
 * @return an exit status. */
int cli_check_report(const cli_arguments *arguments);

/**
 * Run to the end, with signals and the progress line.
 *
 * @param draw     NULL, or called for every kept draw; context is its first argument.
 * @param stopped  out: 1 if the run ended before its target, with results to write.
 * @return CLI_DONE, or an exit status after a message.
 */
int cli_execute(cli_job *job,
                gbs_status (*draw)(void *context, uint64_t draw, uint32_t chain, double log_density,
                                   const uint32_t *state, gbs_error *err),
                void *context, int *stopped);

/* Tells why --method auto sampled. */
void cli_tell_choice(const cli_job *job, const gbs_exact_cost *cost);
/* Tells a user who typed the default of --chains that ladders have another default. */
void cli_tell_default_ladders(const cli_job *job, uint32_t n_ladders);
#define CLI_UNRELIABLE_ERROR "standard error within chains, not reliable"
/* Prints the verdict on standard error. */
void cli_verdict(const cli_job *job, int stopped);

/* Writes summary and verdict, once the results are written.
 * @return the exit status of the run. */
int cli_conclude(const cli_job *job, int stopped);

/* ---- checkpoints.c ----------------------------------------------------------------------- */

/* Settles the options that go with --checkpoint, and takes those of the run that --resume
 * continues, unless they were typed. To be called before cli_settle().
 * @return an exit status. */
int cli_settle_checkpoints(cli_arguments *arguments);
/* Reports that a call with such files failed; a checkpoint that does not fit is bad input.
 * @return an exit status. */
int cli_fail_call(const gbs_checkpoint_files *files, gbs_status done, const gbs_error *err);
/* Resumes the run, and keeps it in checkpoints, as the options say.
 * @param draws whether the draws of the run are kept.
 * @return an exit status. */
int cli_begin_checkpoints(const cli_job *job, int draws);

/* ---- partition.c ------------------------------------------------------------------------- */

#define CLI_SUM_TEXT 160

/* Whether Z is known to be 1: a Bayesian network without evidence. */
int cli_sums_to_one(const cli_job *job);
/* @return ln P(evidence) of a Bayesian network; NAN if it is not known.
 * @param log_z NAN: not known. */
double cli_log_p_evidence(const cli_job *job, double log_z);
/* Writes "P(evidence) = ..." for a Bayesian network, else "ln Z = ..."; "" if neither is known.
 * @param log_z NAN: not known.
 * @param text [CLI_SUM_TEXT], out. */
void cli_evidence_text(const cli_job *job, double log_z, char *text);
/* @return ln Z given the evidence by junction trees; NAN if they are too large, or the time too
 * short. */
double cli_exact_log_z(const cli_job *job);
/* Estimates ln Z given the evidence.
 * @param z unchanged if that failed, which a message says, or was stopped too early. */
void cli_estimate_log_z(const cli_job *job, gbs_log_z_report *z);
/* Prints the probability of a state on standard error.
 * @param z log_z NAN: not known; error 0: exact. */
void cli_tell_state_probability(const cli_job *job, double log_density, const gbs_log_z_report *z);
/* @return ln P of a state for this ln Z: at most 0, as Z is at least the state's own weight. */
double cli_log_probability(double log_density, double log_z);

/* ---- picture.c --------------------------------------------------------------------------- */

/* A pixel for every variable: the probability of one state, or the most probable state. */
typedef struct cli_picture {
    const char *format; /* "png", ...; NULL: no picture is wanted */
    uint64_t rows, columns;
    uint32_t arity;
    int labels;     /* the most probable state */
    uint64_t state; /* otherwise: whose probability */
} cli_picture;

/* Checks the options of a picture before anything is read.
 * @return an exit status. */
int cli_picture_settle(const cli_arguments *arguments, const char *format, cli_picture *picture);
/* Checks them against the model, before it is run.
 * @return an exit status. */
int cli_picture_fit(const cli_job *job, cli_picture *picture);
/* @param p probabilities of the states of all variables, one variable after the other. @return an
 * exit status. */
int cli_picture_write(const cli_job *job, const cli_picture *picture, const double *p);

/* ---- target.c ---------------------------------------------------------------------------- */

/* Finds the weights that a --target means.
 * @param weight out, [n_variables], free() it; NULL: all 1.
 * @return an exit status. */
int cli_target(const cli_job *job, const char *text, double **weight);
/* Checks that --grid fits the model, and that there is a --target that needs it.
 * @return an exit status. */
int cli_check_grid(const cli_job *job);
/* Reads the --target of a run into job->options: part of loading.
 * @return an exit status. */
int cli_load_targets(cli_job *job);
/* Computes influences as --influence and --memory-limit say. From here on a signal or the end of
 * --time stops the work on influences, see gbs_influence_options.stop.
 * @return an exit status. */
int cli_influences(cli_job *job, gbs_influences **influences);

/* ---- signals.c --------------------------------------------------------------------------- */

/* To be called first in main(): opens /dev/null for standard streams that the caller closed. */
void cli_open_standard_streams(void);
/* Sets signal handlers: from now on SIGHUP, SIGINT and SIGTERM end the program with CLI_STOPPED,
 * and a mapped file that was cut ends it with CLI_INPUT and a message. */
void cli_signals_end(void);
/* Sets signal handlers: from now on the first of these signals is noted and the second ends the
 * program with CLI_KILLED. */
void cli_signals_catch(void);
int cli_signals_caught(void);
/* Sets a handler of SIGUSR1, which asks for the progress of a run. */
void cli_signals_tell(void);
/* Whether there was a SIGUSR1 since the last call. */
int cli_signals_asked(void);

/* ---- progress.c -------------------------------------------------------------------------- */

typedef struct cli_bar {
    int mode;           /* cli_progress_mode, settled: ALWAYS, NEVER or JSON */
    FILE *to;           /* standard error, or what --progress json:FD names */
    int drawn;          /* a line stands on the terminal */
    unsigned n_redraws; /* turns the spinner */
    double last_s;      /* elapsed at the last redraw */
    int burning_in;     /* phase of the last redraw */
    double phase_s;     /* elapsed when the phase began */
    double time_s;      /* the limit, 0 for none */
    const char *unit;   /* of passes, as "iterations"; NULL for traces of a run */
} cli_bar;

double cli_clock_s(void); /* monotonic, for progress and --time */

void cli_bar_init(cli_bar *bar, const cli_arguments *arguments, const gbs_run_options *options);
void cli_bar_update(cli_bar *bar, const gbs_progress *progress);
/* Prints the state of the run in one line, whether or not progress is shown otherwise. */
void cli_bar_tell(cli_bar *bar, const gbs_progress *progress);
/* Shows the progress of work that is not one run.
 * @param share done. */
void cli_bar_share(cli_bar *bar, double elapsed_s, double share, const char *what);
/* The progress callback of work that is only watched: its context is the bar. */
int cli_bar_watch(void *context, const gbs_progress *progress);
void cli_bar_finish(cli_bar *bar, const gbs_report *report); /* report may be NULL */

/* ---- run_summary.c --------------------------------------------------------------------------- */

/* Write --summary FILE and --report FILE if they were given. @return an exit status. */
int cli_summary(const cli_job *job);

/* Writes the page of --report FILE, if it was given, for an answer in JSON.
 * @param write writes the answer except its last brace, as it is the same for every command line.
 * @return an exit status. */
int cli_report_answer(const cli_job *job, void (*write)(gbs_output *output, const void *answer),
                      const void *answer);

/* Write a page made of summaries. @return an exit status. */
int cli_write_report(const char *path, const gbs_report_source *source, size_t n);

/* @return the command line, quoted so that a shell reads it back; NULL without memory; free()
 * it. */
char *cli_command_line(const cli_arguments *arguments);

#endif
