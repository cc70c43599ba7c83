/* SPDX-License-Identifier: Apache-2.0 */
/* Options of verbs. The options of each verb are in one table, from which getopt, range checks, the
 * help and the summary are made. */
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

typedef struct cli_verb cli_verb; /* defined in cli.h */

#define CLI_MAX_OPTIONS 128 /* largest number of options of a verb */

typedef enum cli_progress_mode {
    CLI_PROGRESS_AUTO,
    CLI_PROGRESS_ALWAYS,
    CLI_PROGRESS_NEVER,
    CLI_PROGRESS_JSON,
} cli_progress_mode;

/* The arguments as typed, after they were checked. Strings are borrowed from argv. */
typedef struct cli_arguments {
    gbs_run_options run;
    union { /* options of the verb's question */
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
    const char **evidence; /* [n_evidence] value of each option -e, in the order typed; owned */
    int n_evidence;
    const char **joint; /* [n_joints] value of each option --joint, in the order typed; owned */
    int n_joints;
    const char *targets; /* target variables of a run with restarts, as a list */
    const char **target; /* [n_targets] value of each option --target, in the order typed; owned */
    int n_targets;
    const char *steps;     /* numbers of updates, separated by ',' */
    const char *match;     /* text of --match, systematic:T */
    const char *influence; /* "bound", "exact" or "auto" */
    const char *influences;
    double accuracy;
    uint64_t couplings, lag, most_sweeps; /* number of coupled pairs of chains, their lag, and their
                                             largest number of sweeps */
    int iterate;
    const char *virtual_evidence;
    int file_evidence;
    const char *likelihood; /* text of --likelihood: VARIABLE=STATE:NUMBER|..., ... */
    const char *start;
    const char *scan_file; /* path of the file that --scan names; NULL: none */
    const char *dummy_edges;
    const char *from;
    const char *evidence_format;
    uint64_t evidence_index;
    const char *convention, *diagonal, *vartype; /* conventions for couplings in a file */
    double offset;
    const char *convention_out;
    const char *table_order;  /* order of the entries of conditional tables in a file */
    const char *float_format; /* format of numbers: "shortest" or "fixed" */
    const char *output;
    const char *format;
    const char *model; /* path of the model to which the compared results belong */
    const char *summary;
    const char *report;     /* path of the report, FILE.html */
    const char *drawing;    /* path of the drawing of the model, FILE.svg */
    const char *checkpoint; /* path of the checkpoint to write */
    int csv_safe;
    int labels;               /* 1: the CSV of draws has labels of states */
    const char *resume;       /* path of the checkpoint to resume from */
    const char *monitor;      /* variables whose draws are written */
    int observables;          /* 1: observables of spin and Potts models are kept */
    const char *series;       /* path of the file of the quantities of every sweep, FILE.npz */
    const char *query;        /* variables to write, as a list or as "@FILE"; or a VARIABLE=STATE */
    const char *cases;        /* path of the table of cases, or "-" */
    const char *plot;         /* path of the plot, FILE.svg */
    const char *prior;        /* prior, as NAME:NUMBER */
    const char *held_out;     /* path of a file with held-out rows, or share of held-out rows */
    const char *intervals;    /* path of the file of intervals */
    const char *weights;      /* name of the column of weights */
    const char *table_states; /* whether tables hold "labels" or "numbers" of states; NULL: unset */
    const char *posterior;    /* posterior probabilities to write: "best" or "all" */
    const char *template_style; /* syntax of templates: "crf++" or "wapiti" */
    const char *curve;          /* path of the curve of learning */
    double identity;            /* least identity of similar rows; 0: every row has weight 1 */
    int alphabet;               /* gbs_alphabet of an alignment */
    const char *rate;           /* rate of the first step of learning, and rate of the last step */
    double level;
    const char *log_base; /* base of the logarithm in PR files */
    const char *focus;    /* focus variable of decompose */
    const char *data;     /* folder of data */
    const char *picture;  /* rows and columns of the picture, RxC */
    uint64_t state;       /* state that the picture shows */
    const char *grid;
    const char *states;
    double tolerance, weight_scale;
    uint64_t colors;  /* number of colours for a graph */
    uint64_t unroll;  /* slices of a network in time; 0: the network is not unrolled */
    uint64_t samples; /* number of exact samples */
    uint64_t top;     /* number of parameters to show; 0: a number that suits the format */
    double reach;     /* probability of --reach; 0: the option was not given */
    /* noise, flip:P or gauss:S; smoothing, potts or quadratic:T */
    const char *noise_kind, *smoothing;
    const char *mean, *uncertainty, *best; /* paths of pictures */
    const char *truth; /* path of a picture; or the number of a column, or "last" */
    /* path of the model, and path of the picture with the overlay */
    const char *write_model, *overlay;
    const char *patch; /* SIDE,STEP: side of the patches and distance between them, in pixels */
    int task;          /* task of the verb exact */
    int progress;      /* cli_progress_mode */
    int progress_fd;   /* descriptor for lines of JSON; 0: standard error */
    int uai_mpe;       /* 1: write the word MPE instead of MAP */
    int require_converged;
    int probability; /* 1: print the probability of the state, estimated if it is not known */
    int asymptotic, bound, list, list_variables, quick, check;
    int lenient, strict, normalize_cpts, json, draws, quiet, verbose, help;
    /* 1 for each row of the verb's table whose option was given */
    unsigned char given[CLI_MAX_OPTIONS];
    const cli_verb *verb;
    int argc; /* the whole command line, for the summary */
    char **argv;
} cli_arguments;

typedef enum cli_kind {
    CLI_FLAG, /* the option has no value; the field is an int */
    CLI_TEXT, /* the field is a const char * */
    CLI_LIST, /* the field is a const char **; the option may be given several times, such as -e */
    CLI_NAME, /* the field is a const char *; the value is one of the choices in unit */
    CLI_CHOICE, /* the field is an int, the number of the choice in unit */
    CLI_UINT,   /* the field is a uint64_t */
    CLI_REAL,   /* the field is a double */
    CLI_RUN,    /* an option of the run, whose value the library parses */
} cli_kind;

/* The topic under which the help shows an option. The first screen of the help shows the first
 * three topics. */
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
    char letter;      /* letter of the short option, or 0 */
    cli_kind kind;
    int of_run;           /* 1: an option of the run; gbs_option_find() gives its type and range */
    const char *question; /* name of the question whose struct has the option as a field, for
                             gbs_question_find_option(); or NULL */
    size_t offset;        /* offset of the field in cli_arguments */
    uint64_t def, min, max;
    double real_def, real_min, real_max;
    const char *unit;               /* placeholder of the value, or the choices separated by '|' */
    const char *help;               /* help text; "" for an option of the run */
    const char *short_unit, *brief; /* unit and help for the first screen, at most 51 characters;
                                       brief is "" if the help is short enough */
    cli_topic topic;
    const char *needs; /* condition that the option needs, or "" */
} cli_option;

/* @return the library's description of an option of the run or of a question; NULL for other
 *         options, whose rows describe them completely. */
const gbs_option *cli_library_option(const cli_option *option);

/* @return the help text of an option, from the row of the option or else from the library. */
const char *cli_option_help(const cli_option *option);

/* @return the option with this name that the verb takes, NULL if it takes no such option. */
const cli_option *cli_find_option(const char *name, const cli_verb *verb);

/* The names of the model formats that the program writes, and of the model formats that the program
 * reads, with '|' before each name. */
extern const char cli_model_formats[], cli_source_formats[];

#define CLI_UNIT_SIZE 256

/* Writes the placeholder of the value in help and messages: "N", "SIZE", "auto|exact|...".
 * @param text [CLI_UNIT_SIZE], out. */
void cli_option_unit(const cli_option *option, char *text);

/* @return whether the default of an option of the program is a special value that means "unset". A
 *         user may not type this value. */
int cli_option_unset_default(const cli_option *option);

/* @return 1 if the user gave this option. @param name name of an option of this or another verb. */
int cli_given(const cli_arguments *arguments, const char *name);

/* @return whether "--format json" or "--json" was typed. */
int cli_wants_json(const cli_arguments *arguments);

/* Finds the k-th of the choices "a|b|c".
 * @param text [64], out. @return 0 if there are fewer choices. */
int cli_choice(const char *choices, unsigned k, char *text);

/* @return whether a verb, option or value is planned but not in this version. @param option NULL if
 *         text is a verb, "" if it is an option, else the option whose value text is. */
int cli_is_later(const char *option, const char *text);

/**
 * Parses the arguments after the verb.
 *
 * @param verb_name name of the verb in messages. @param argv arguments, which the function
 * permutes; argv[0] is the verb.
 * @return CLI_DONE, or CLI_USAGE after a message. The caller must call cli_arguments_free() in
 *         either case. */
int cli_parse(const cli_verb *verb, const char *verb_name, int argc, char **argv,
              cli_arguments *arguments);
void cli_arguments_free(cli_arguments *arguments);

/* ---- typed_values.c: parse a whole text; @return 1 if the text is a value -------------------- */

int cli_parse_uint(const char *text, uint64_t *value);
int cli_parse_real(const char *text, double *value); /* accepts finite numbers only */

/* @return whether the run keeps observables: 1 or 0. */
static inline unsigned cli_observes(const cli_arguments *arguments)
{
    return arguments->observables || arguments->series != NULL ? 1 : 0;
}

#endif
