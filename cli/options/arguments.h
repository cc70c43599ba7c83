/* SPDX-License-Identifier: Apache-2.0 */
/* The options that a verb takes: one table for each verb serves getopt, range checks, the help
 * and the summary. */
#ifndef GIBBSITE_CLI_ARGUMENTS_H
#define GIBBSITE_CLI_ARGUMENTS_H

#include "gibbsite/crf.h"
#include "gibbsite/denoise.h"
#include "gibbsite/fit.h"
#include "gibbsite/generate.h"
#include "gibbsite/ground.h"
#include "gibbsite/machines.h"
#include "gibbsite/question.h"
#include "gibbsite/segment.h"

typedef struct cli_verb cli_verb; /* cli.h */

#define CLI_MAX_OPTIONS 128 /* of a verb */

typedef enum cli_progress_mode {
    CLI_PROGRESS_AUTO,
    CLI_PROGRESS_ALWAYS,
    CLI_PROGRESS_NEVER,
    CLI_PROGRESS_JSON,
} cli_progress_mode;

/* The arguments as typed, once checked. Strings are borrowed from argv. */
typedef struct cli_arguments {
    gbs_run_options run;
    union { /* of the verb's question */
        gbs_aspect_options aspects;
        gbs_learn_options weights;
        gbs_crf_learn_options crf;
        gbs_potts_options potts;
        gbs_denoise_options denoise;
        gbs_fit_options fit;
        gbs_generate_bayes_options generate_bayes;
        gbs_generate_complete_options generate_complete;
        gbs_generate_ising_options generate_ising;
        gbs_generate_potts_options generate_potts;
        gbs_generate_powerlaw_options generate_powerlaw;
        gbs_generate_rbm_options generate_rbm;
        gbs_generate_regular_options generate_regular;
        gbs_generate_ring_options generate_ring;
        gbs_ground_options ground;
        gbs_rbm_options rbm;
        gbs_segment_options segment;
    } of;
    char **operand;
    int n_operands;
    const char **evidence; /* [n_evidence], each -e in turn; owned */
    int n_evidence;
    const char **joint; /* [n_joints], each --joint in turn; owned */
    int n_joints;
    const char *targets; /* target variables of a run with restarts, as a list */
    const char **target; /* [n_targets], each --target in turn; owned */
    int n_targets;
    const char *steps;     /* numbers of updates, ',' between */
    const char *match;     /* systematic:T */
    const char *influence; /* "bound", "exact" or "auto" */
    const char *influences;
    double accuracy;
    uint64_t couplings, lag, most_sweeps; /* pairs of chains, and their passes */
    int iterate;
    const char *virtual_evidence;
    int file_evidence;
    const char *likelihood; /* VARIABLE=STATE:NUMBER|..., ... */
    const char *start;
    const char *scan_file; /* where --scan named a file */
    const char *dummy_edges;
    const char *from;
    const char *evidence_format;
    uint64_t evidence_index;
    const char *convention, *diagonal, *vartype; /* of couplings in a file */
    double offset;
    const char *convention_out;
    const char *table_order;  /* of conditional tables in a file */
    const char *float_format; /* "shortest" or "fixed" */
    const char *output;
    const char *format;
    const char *model; /* of the results that are compared */
    const char *summary;
    const char *report;     /* FILE.html */
    const char *checkpoint; /* FILE */
    int csv_safe;
    int labels;                 /* of states in the CSV of draws */
    const char *resume;         /* FILE */
    const char *monitor;        /* variables of draws */
    const char *query;          /* variables to write: a list, or "@FILE"; or VARIABLE=STATE */
    const char *cases;          /* a table: FILE or "-" */
    const char *plot;           /* FILE.svg */
    const char *prior;          /* NAME:NUMBER */
    const char *held_out;       /* FILE or share */
    const char *intervals;      /* FILE */
    const char *weights;        /* name of a column */
    const char *table_states;   /* labels or numbers; NULL: unset */
    const char *posterior;      /* "best" or "all" */
    const char *template_style; /* "crf++" or "wapiti" */
    const char *curve;          /* FILE */
    double identity;            /* of similar rows; 0: all count one */
    int alphabet;               /* of an alignment: gbs_alphabet */
    const char *rate;           /* rate of the first step of learning, and of the last */
    double level;
    const char *log_base; /* of PR files */
    const char *focus;    /* variable */
    const char *data;     /* folder */
    const char *picture;  /* RxC */
    uint64_t state;       /* shown in it */
    const char *grid;
    const char *states;
    double tolerance, weight_scale;
    uint64_t colors;  /* of a graph to colour */
    uint64_t unroll;  /* slices of a network in time; 0: the network is not unrolled */
    uint64_t samples; /* exact ones */
    uint64_t top;     /* parameters to show; 0: the number that fits the format */
    double reach;     /* a probability that is wanted; 0: none is */
    const char *noise_kind, *smoothing;    /* flip:P or gauss:S, potts or quadratic:T */
    const char *mean, *uncertainty, *best; /* pictures: FILE */
    const char *truth;                     /* a picture: FILE; or a column: its number or "last" */
    const char *write_model, *overlay;     /* FILE */
    const char *patch;                     /* SIDE,STEP in pixels */
    int task;                              /* of exact */
    int progress;                          /* cli_progress_mode */
    int progress_fd;                       /* of lines of JSON; 0: standard error */
    int uai_mpe;                           /* the word MPE instead of MAP */
    int require_converged;
    int probability; /* of the state, estimated where it is not known */
    int asymptotic, bound, list, list_variables, quick, check;
    int lenient, strict, normalize_cpts, json, draws, quiet, verbose, help;
    unsigned char given[CLI_MAX_OPTIONS]; /* whether an option was given, by its row in the verb's
                                             table */
    const cli_verb *verb;
    int argc; /* the whole command line, for the summary */
    char **argv;
} cli_arguments;

typedef enum cli_kind {
    CLI_FLAG,   /* int, no value */
    CLI_TEXT,   /* const char * */
    CLI_LIST,   /* -e, --target: may be given again and again */
    CLI_NAME,   /* const char *, one of the choices in unit */
    CLI_CHOICE, /* int, the number of the choice in unit */
    CLI_UINT,   /* uint64_t */
    CLI_REAL,   /* double */
    CLI_RUN,    /* an option with a value that the library knows */
} cli_kind;

/* The topic of an option, under which the help shows it. The first three are its first screen. */
typedef enum cli_topic {
    CLI_TOPIC_QUESTION,
    CLI_TOPIC_ACCURACY,
    CLI_TOPIC_RESULT,
    CLI_TOPIC_SCAN,
    CLI_TOPIC_DRAW,
    CLI_TOPIC_INPUT,
    CLI_TOPIC_LAB, /* options shown only on the verb's own page */
    CLI_N_TOPICS,
} cli_topic;

#define CLI_N_FIRST_TOPICS CLI_TOPIC_SCAN

/* A row of include/gibbsite/questions/NAME.def, made by rows.h. */
typedef struct cli_option {
    const char *name; /* without the dashes */
    char letter;      /* or 0 */
    cli_kind kind;
    int of_run;           /* an option of the run: gbs_option_find() has its type and range */
    const char *question; /* a field of its struct: gbs_question_find_option() knows; or NULL */
    size_t offset;        /* in cli_arguments */
    uint64_t def, min, max;
    double real_def, real_min, real_max;
    const char *unit;               /* placeholder of the value, or its choices separated by '|' */
    const char *help;               /* "" of an option of the run */
    const char *short_unit, *brief; /* for the first screen of the help, at most 51 characters;
                                       brief "": the help is short enough */
    cli_topic topic;
    const char *needs; /* a condition without which it is refused, or "" */
} cli_option;

/* @return the library's description of an option of the run or of a question; NULL: the row says
 * all. */
const gbs_option *cli_library_option(const cli_option *option);

/* @return the help text of an option, from its row or else from the library. */
const char *cli_option_help(const cli_option *option);

/* @return the option with this name that the verb takes, NULL if it takes no such option. */
const cli_option *cli_find_option(const char *name, const cli_verb *verb);

/* The names of model formats with '|' before each: those that are written, and those that are
 * read. */
extern const char cli_model_formats[], cli_source_formats[];

#define CLI_UNIT_SIZE 256

/* Writes the placeholder of the value in help and messages: "N", "SIZE", "auto|exact|...".
 * @param text [CLI_UNIT_SIZE], out. */
void cli_option_unit(const cli_option *option, char *text);

/* Whether the default of an option of the program is a special value that leaves the choice to a
 * rule: typing that very value is refused. */
int cli_option_unset_default(const cli_option *option);

/* @return 1 if the user gave this option. @param name name of an option, of this verb or another.
 */
int cli_given(const cli_arguments *arguments, const char *name);

/* Whether "--format json" or "--json" was typed. */
int cli_wants_json(const cli_arguments *arguments);

/* Finds the k-th of the choices "a|b|c".
 * @param text [64], out.
 * @return 0 if there are fewer. */
int cli_choice(const char *choices, unsigned k, char *text);

/* Whether a verb, option or value is in the design but not in this version. @param option NULL for
 * a verb, "" for an option itself, else the option whose value it is. */
int cli_is_later(const char *option, const char *text);

/**
 * Parse what follows the verb.
 *
 * @param verb_name name of the verb in messages. @param argv argv[0] is the verb; permuted.
 * @return CLI_DONE, or CLI_USAGE after a message. Free with cli_arguments_free() in either case.
 */
int cli_parse(const cli_verb *verb, const char *verb_name, int argc, char **argv,
              cli_arguments *arguments);
void cli_arguments_free(cli_arguments *arguments);

/* ---- typed_values.c: the whole text or nothing; @return 1 if it is one ---------------------- */

int cli_parse_uint(const char *text, uint64_t *value);
int cli_parse_real(const char *text, double *value); /* finite */

#endif
