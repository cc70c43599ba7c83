/* SPDX-License-Identifier: Apache-2.0 */
/* The program's own vocabulary: verbs, exit statuses, messages. */
#ifndef GIBBSITE_CLI_H
#define GIBBSITE_CLI_H

#include <stdio.h>

#include "gibbsite/generate.h"
#include "gibbsite/gibbsite.h"
#include "options/arguments.h"
#include "src/files/text/output.h"

/* Exit statuses: a contract, see gibbsite(1). */
typedef enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,   /* while running */
    CLI_USAGE = 2,    /* wrong use */
    CLI_INPUT = 3,    /* a bad input file */
    CLI_STOPPED = 4,  /* stopped by a signal or a limit; the results reached so far were written */
    CLI_DOUBTFUL = 5, /* written, but not converged, which --require-converged wants */
    CLI_KILLED = 130,
} cli_exit;

/* Returns an exit status other than CLI_DONE at once. Use it where nothing has to be cleaned up. */
#define CLI_PASS(e)               \
    do {                          \
        const int ended_ = (e);   \
        if (ended_ != CLI_DONE) { \
            return ended_;        \
        }                         \
    } while (0)

/* Stores the exit status and leaves through `cleanup:` if it is not CLI_DONE. Needs a local
 * `status`. */
#define CLI_TRY(e)                \
    do {                          \
        status = (e);             \
        if (status != CLI_DONE) { \
            goto cleanup;         \
        }                         \
    } while (0)

/* A verb: a row in its own file, named in verbs.def. */
struct cli_verb {
    const char *name; /* "marginals"; "generate ising" where the second word picks a kind */
    const cli_option *options; /* [n_options], in the order of the help */
    size_t n_options;
    int n_operands;       /* the exact number of operands; -1: the verb counts its operands itself
                           */
    const char *operands; /* names of the operands in the help */
    const char *what;     /* one line */
    const char *notes;    /* more lines for the help, or "" */
    const char *example;  /* shell lines that run in the source folder */
    int (*run)(cli_arguments *arguments);
    int names_at_once; /* 1: each file gets its name when it is complete, even if a later one fails
                        */
};

extern const cli_verb *const cli_verbs[];
extern const size_t cli_n_verbs;
#define CLI_VERB(id) extern const cli_verb cli_verb_##id;
#include "verbs/verbs.def"
#undef CLI_VERB

/* Whether a verb has a name, which is known without the table of verbs. */
int cli_is_verb(const cli_verb *verb, const char *name);

/* @return "ising" for "generate ising"; NULL for a verb of one word. */
const char *cli_verb_kind(const cli_verb *verb);
/* @return the same for a verb whose first word is this one; NULL for any other. */
const char *cli_kind_behind(const char *word, const cli_verb *verb);
/* Lists the first words that kinds follow, "generate" and "learn", in the order of the verbs.
 * @param i the number of a verb; if several verbs share a first word, only the first gives it.
 * @param word [32], out.
 * @return 0: the i-th verb has no such word, or an earlier verb gave it. */
int cli_group(size_t i, char *word);

/* Set the options of generate ising and generate potts from the command line.
 * @return an exit status. */
int cli_ising_options(const cli_arguments *arguments, gbs_generate_ising_options *options);
int cli_potts_options(const cli_arguments *arguments, gbs_generate_potts_options *options);

/* ---- help.c ------------------------------------------------------------------------------ */

int cli_help_welcome(FILE *stream); /* for a call without arguments. @return CLI_USAGE */
int cli_help_overview(FILE *stream);
/* @param page NULL: the first screen; "all", or the word of a topic. */
int cli_help_verb(const char *name, const char *page);

/* @return the next option of a verb that is about a topic; NULL after the last one.
 * @param at 0 at first, moved on. */
const cli_option *cli_topic_next(cli_topic topic, const cli_verb *verb, size_t *at);

/* ---- mistakes.c: what to type instead ------------------------------------------------------- */

/* @return this program's name for a verb of other programs, NULL if the word is not such a verb. */
const char *cli_our_verb(const char *typed);

/* @return this program's name for an option of other programs, NULL if the verb has no such option.
 */
const char *cli_our_name(const cli_verb *verb, const char *typed);

/* @return a sentence that tells which verb of gibbsite does the work of a verb of another program;
 * NULL if none is known. */
const char *cli_verb_without_use(const char *typed);

/* @return this program's word for a value of an option of other programs, NULL if the value is
 * unknown. */
const char *cli_our_value(const char *option, const char *typed);

/* Refuses one word too many.
 * @return CLI_USAGE after a message. */
int cli_unexpected_operand(const cli_verb *verb, const cli_arguments *arguments);

/* Refuses a call with too few words.
 * @return CLI_USAGE after a message. */
int cli_missing_operand(const cli_verb *verb, const cli_arguments *arguments);

/* @return whether a path ends as that of a table of cases. */
int cli_is_table(const char *path);

/* Refuses probabilities in mathematical notation, "P(a, b | c=x)" or "a | c=x", in place of
 * names.
 * @param option "--query".
 * @param states whether names come with states, as in "a=x".
 * @return CLI_USAGE after a message that says what to type, CLI_DONE if it is something else. */
int cli_probability_typed(const char *option, const char *text, int states);

/* Refuses an option that a verb has no use for.
 * @return CLI_USAGE after a message, CLI_DONE if there is nothing to say about it. */
int cli_option_without_use(const cli_verb *verb, const char *verb_name, const char *option);

/* @return text to add to the reason why evidence was refused: "", or that commas are missing. */
const char *cli_separators(const char *text);

/* The text of -e without '=' should be a file. @return CLI_DONE if it is there, else the status
 * after a message. */
int cli_not_evidence(const gbs_model *model, const char *text);

/* ---- message.c --------------------------------------------------------------------------- */

#if defined(__GNUC__)
#define CLI_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define CLI_PRINTF(a, b)
#endif

/* "gibbsite: ..." on stderr. @return status, for `return cli_error(...)`. */
int cli_error(int status, const char *format, ...) CLI_PRINTF(2, 3);
/* CLI_DONE if all the pointers, to memory just allocated, differ from NULL; otherwise CLI_FAILED
 * after a message. */
#define CLI_HAVE(...)                                                           \
    cli_have(sizeof((const void *const[]){__VA_ARGS__}) / sizeof(const void *), \
             (const void *const[]){__VA_ARGS__})
int cli_have(size_t n, const void *const pointer[]);
void cli_note(const cli_arguments *arguments, const char *format, ...) CLI_PRINTF(2, 3);
/* The status of an answer that was written: CLI_DOUBTFUL where it had to converge. */
int cli_judge(const cli_arguments *arguments, int converged, int status);
/* The verdict as a note, in colour where standard error is a terminal that shows colours. */
typedef enum cli_colour {
    CLI_GREEN,  /* converged */
    CLI_YELLOW, /* not converged */
    CLI_RED,    /* not to be trusted: chains disagree, or states that they cannot reach */
} cli_colour;
void cli_note_verdict(const cli_arguments *arguments, cli_colour colour, const char *text);
/* Whether `fd` is a terminal that a person reads; mpirun gives programs a pseudo-terminal, which
 * does not count. */
int cli_is_terminal(int fd);
/* @return the number of columns of the terminal if standard output is one, else 80. */
int cli_terminal_width(void);
int cli_line_width(void); /* columns of a line there; elsewhere any number */
/* Prints a warning: for gbs_read_options.warn; context is the cli_arguments. */
void cli_warn(void *context, const char *message);
/* Like cli_warn(), for messages that are not warnings, such as a column that is left out. */
void cli_tell(void *context, const char *message);

/* Say why a call of the library failed. @return the exit status. */
int cli_fail(gbs_status status, const gbs_error *err);
/* Says why a call that read an input file failed; a missing file counts as bad input, too. @return
 * the exit status. */
int cli_fail_input(gbs_status status, const gbs_error *err);
/* Says why a call that wrote to path failed, without a message if the reader closed the pipe.
 * @return the exit status. */
int cli_fail_output(const char *path, gbs_status status, const gbs_error *err);

/* A failure of the program's own, in the library's form. @return status. */
gbs_status cli_reason(gbs_error *err, gbs_status status, const char *format, ...) CLI_PRINTF(3, 4);

/* Flushes the stream and reports whether all output was written. @return CLI_DONE, or CLI_FAILED
 * after a message. */
int cli_flush(FILE *stream);

/* @return 1 if nobody reads standard output any more. */
int cli_reader_gone(void);

/* @return the candidate that a user most likely meant by text, or NULL if none is near. */
const char *cli_nearest(const char *text, const char *const *candidate, size_t n);

/* ---- destination.c -------------------------------------------------------------------------- */

/* Refuse early, before a long run, what cannot be written: a folder, a missing or read-only one. */
int cli_check_output(const char *path);

/* Refuses a name whose extension says another kind of file than what the verb writes there.
 * @return CLI_DONE, or CLI_USAGE after a message. */
int cli_check_written(const cli_verb *verb, const cli_arguments *arguments);
/* Refuses a name whose extension says another kind of file than an answer of the UAI competitions.
 */
int cli_check_answer(const char *path);
/* Refuses operands in the wrong order, and an output file that is also an input file. */
int cli_check_operands(const cli_verb *verb, const cli_arguments *arguments);
/* Refuses a name whose extension says any kind of file. @param known the formats, for the message.
 */
int cli_refuse_ending(const char *path, const char *known);

/* Checks the names of --output and of the files beside it: --intervals, --curve, --summary and
 * --checkpoint. No two of them are one file, and one at most is standard output. */
int cli_check_results(const cli_arguments *arguments);

/* Refuse a --plot whose value is not the name of an SVG file, or equals that of --output. */
int cli_check_plot(const cli_arguments *arguments);

/* How every answer in JSON begins: schema, as in "map/1", tool, version, the digest of a model that
 * is not NULL.
 * Members follow, each after a comma. */
/* @param model_digest NULL: of no model. */
void cli_json_head(gbs_output *output, const char *schema, const char *model_digest);
/* Writes a file by write(output, context), whole or not at all; "-": standard output, NULL:
 * nothing.
 * @return an exit status, after a message if it failed. */
int cli_write(const char *path, void (*write)(gbs_output *output, const void *context),
              const void *context);

/* A member of a summary in JSON; each list ends with a name that is NULL, and may be NULL. */
typedef struct cli_text_member {
    const char *name, *value;
} cli_text_member;

typedef struct cli_count {
    const char *name;
    uint64_t value;
} cli_count;

typedef struct cli_number {
    const char *name;
    double value;
} cli_number;

typedef struct cli_flag {
    const char *name;
    int value;
} cli_flag;

typedef struct cli_members {
    const char *schema;
    const gbs_model *model; /* NULL: of none */
    const cli_text_member *texts;
    const cli_count *counts;
    const cli_number *numbers;
    const cli_flag *flags;
} cli_members;

/* Writes a file as cli_write() does. */
int cli_write_members(const char *path, const cli_members *members);
/* ", "converged": false, "verdict": "..."" and the other members that say how far a result can be
 * trusted. */
void cli_json_verdict(gbs_output *output, const gbs_report *report);

/* The format of -o FILE or --format among "mar|csv|json"; fallback for standard output, CSV for
 * names of files that say nothing. @return CLI_DONE, or CLI_USAGE after a message. */
int cli_output_format(const cli_arguments *arguments, const char *known, const char *fallback,
                      const char **format);

/* verb_convert.c: the model that a verb makes, with the options for writing. */
/* Sets the format to that of the first operand where --output's name says none. */
void cli_settle_model_format(cli_arguments *arguments);
int cli_check_model_output(const cli_arguments *arguments); /* before it is made */
int cli_write_model(const cli_arguments *arguments, const gbs_model *model);

/* The most memory this process has held so far; 0 if the system does not say. */
uint64_t cli_peak_rss_bytes(void);

/* The name of a variable, or prefix and its number in text. @param text [32]. */
const char *cli_variable_text(const gbs_model *model, uint32_t variable, const char *prefix,
                              char *text);

/* The label of a state, or its number in text. @param text [32]. */
const char *cli_state_text(const gbs_model *model, uint32_t variable, uint32_t state, char *text);

/* A buffer for names, which takes as much of them as fits. */
typedef struct cli_text {
    char *at;
    size_t n, size;
} cli_text;

void cli_text_add(cli_text *text, const char *more);
/* "A=a B=b" of the first n variables of a scope in the states that an entry of its table has; the
 * last of the n_scope variables varies fastest. */
void cli_add_states(const gbs_model *model, uint32_t n, uint32_t n_scope, const uint32_t *scope,
                    size_t entry, const char *between, cli_text *text);
/* @return the bytes that cli_add_states() needs at most, for any states and with up to two
 * characters between them. */
size_t cli_states_bytes(const gbs_model *model, uint32_t n, const uint32_t *scope);

/* "id": 3, "name": "rain", "states": ["no", "yes"]: the names of a variable and its states, if it
 * has any. */
void cli_json_variable(gbs_output *output, const gbs_model *model, uint32_t v);

/* Writes , "mcse": [0.1, null] */
void cli_json_array(gbs_output *output, const char *name, const double *value, size_t n);

/* Writes ",0.25"; a number that is not finite leaves its field empty. */
void cli_csv_number(gbs_output *output, double value);

/* ---- text_columns.c -------------------------------------------------------------------------- */

/* @return the number of columns of UTF-8 text: bytes that do not continue a character. */
int cli_columns_of(const char *text);
/* The text with characters that are not seen or turn others around as \\u202e.
 * @param to [size] scratch, to which such a text is cut. @return `text` itself if no character had
 * to be replaced.
 */
const char *cli_seen(const char *text, char *to, size_t size);
/* Puts text in `width` columns: cut short with "..", or filled with blanks. */
void cli_put_column(gbs_output *output, const char *text, int width);
/* A line: a title in this many columns, a blank, and what the format says (cut at 255 bytes). */
void cli_put_line(gbs_output *output, int width, const char *title, const char *format, ...)
    CLI_PRINTF(4, 5);
/* Puts text and the end of its last line; lines that are too long for the terminal break at
 * blanks. */
void cli_put_wrapped(gbs_output *output, const char *text);
/* Puts text from this column on, broken at blanks before width; further lines begin at indent. */
void cli_put_hanging(gbs_output *output, const char *text, int column, int indent, int width);
/* Puts text with blanks before it, so that it ends at width. */
void cli_put_right(gbs_output *output, const char *text, int width);
/* Whether the environment says that text is UTF-8: LC_ALL before LC_CTYPE before LANG. */
int cli_speaks_unicode(void);

#endif
