/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that all files of the program share: verbs, exit statuses, messages. */
#ifndef GIBBSITE_CLI_H
#define GIBBSITE_CLI_H

#include <stdio.h>

#include "gibbsite/generate.h"
#include "gibbsite/gibbsite.h"
#include "options/arguments.h"
#include "src/files/text/output.h"

/* Exit statuses; users rely on them, see gibbsite(1). */
typedef enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,  /* the work failed after it had begun */
    CLI_USAGE = 2,   /* wrong use: an option or operand */
    CLI_INPUT = 3,   /* a bad input file */
    CLI_STOPPED = 4, /* stopped by a signal or a limit; the results reached so far were written */
    CLI_DOUBTFUL =
        5, /* results were written but have not converged, and --require-converged was given */
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

/* Stores the exit status and jumps to the label `cleanup:` if the status is not CLI_DONE. The
 * function needs a local variable `status`. */
#define CLI_TRY(e)                \
    do {                          \
        status = (e);             \
        if (status != CLI_DONE) { \
            goto cleanup;         \
        }                         \
    } while (0)

/* A verb. Its row is in the verb's own file, and verbs.def has the name of the row. */
struct cli_verb {
    const char *name; /* "marginals", or two words such as "generate ising", where the second word
                         names a kind */
    const cli_option *options; /* [n_options] options of the verb, in the order of the help */
    size_t n_options;
    int n_operands;       /* the exact number of operands; -1: the verb counts its operands itself
                           */
    const char *operands; /* names of the operands in the help */
    const char *what;     /* description of the verb in one line */
    const char *notes;    /* further lines of the verb's help, or "" */
    const char *example;  /* examples: shell lines that can be run in the source folder */
    int (*run)(cli_arguments *arguments);
    int names_at_once; /* 1: each output file gets its final name when it is complete, even if a
                          later file fails */
};

extern const cli_verb *const cli_verbs[];
extern const size_t cli_n_verbs;
#define CLI_VERB(id) extern const cli_verb cli_verb_##id;
#include "verbs/verbs.def"
#undef CLI_VERB

/* @return whether `verb` has this name. The function does not use the table of verbs. */
int cli_is_verb(const cli_verb *verb, const char *name);

/* @return "ising" for "generate ising"; NULL for a verb of one word. */
const char *cli_verb_kind(const cli_verb *verb);
/* @return the kind of a verb if the verb's first word is `word`; NULL for any other verb. */
const char *cli_kind_behind(const char *word, const cli_verb *verb);
/* Lists the first words of verbs of two words, such as "generate" and "learn", in the order of the
 * verbs.
 * @param i the number of a verb; if several verbs have one first word, only the first of these
 *         verbs gives it.
 * @param word [32], out.
 * @return 0 if the i-th verb has one word, or if an earlier verb gave the first word. */
int cli_group(size_t i, char *word);

/* Set the options of generate ising and generate potts from the command line.
 * @return an exit status. */
int cli_ising_options(const cli_arguments *arguments, gbs_generate_ising_options *options);
int cli_potts_options(const cli_arguments *arguments, gbs_generate_potts_options *options);

/* ---- help.c ------------------------------------------------------------------------------ */

int cli_help_welcome(
    FILE *stream); /* prints the help that a call without arguments shows. @return CLI_USAGE */
int cli_help_overview(FILE *stream);
/* @param page NULL for the first screen; "all" for all pages; or the word of a topic. */
int cli_help_verb(const char *name, const char *page);

/* @return the next option of a verb that is about a topic; NULL after the last option. @param at
 *         in: 0 at first; out: where the next call goes on. */
const cli_option *cli_topic_next(cli_topic topic, const cli_verb *verb, size_t *at);

/* ---- mistakes.c: what to type instead ------------------------------------------------------- */

/* @return this program's name for a verb of other programs, NULL if `typed` is not such a verb. */
const char *cli_our_verb(const char *typed);

/* @return this program's name for an option of other programs, NULL if the verb has no such option.
 */
const char *cli_our_name(const cli_verb *verb, const char *typed);

/* @return a sentence that tells which verb of gibbsite does the work of a verb of another program;
 * NULL if no such verb is known. */
const char *cli_verb_without_use(const char *typed);

/* @return this program's word for a value of an option of other programs, NULL if the value is
 * unknown. */
const char *cli_our_value(const char *option, const char *typed);

/* Refuses an operand beyond those that the verb takes.
 * @return CLI_USAGE after a message. */
int cli_unexpected_operand(const cli_verb *verb, const cli_arguments *arguments);

/* Refuses a call with too few operands.
 * @return CLI_USAGE after a message. */
int cli_missing_operand(const cli_verb *verb, const cli_arguments *arguments);

/* @return whether a path has the extension of a table of cases. */
int cli_is_table(const char *path);

/* Refuses probabilities in mathematical notation, "P(a, b | c=x)" or "a | c=x", in place of
 * names.
 * @param option "--query".
 * @param states whether names come with states, as in "a=x".
 * @return CLI_USAGE after a message that says what to type; CLI_DONE if the text has another
 * form. */
int cli_probability_typed(const char *option, const char *text, int states);

/* Refuses an option of other programs that has no use in this verb. @return CLI_USAGE after a
 * message; CLI_DONE if the option is not known. */
int cli_option_without_use(const cli_verb *verb, const char *verb_name, const char *option);

/* @return a text for the end of a message that refuses evidence. The text says that commas are
 * missing, or is "". */
const char *cli_separators(const char *text);

/* Checks that a text of -e without '=' is a file. @return CLI_DONE if the file exists, else the
 * exit status after a message. */
int cli_not_evidence(const gbs_model *model, const char *text);

/* ---- message.c --------------------------------------------------------------------------- */

#if defined(__GNUC__)
#define CLI_PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define CLI_PRINTF(a, b)
#endif

/* "gibbsite: ..." on stderr. @return status, for `return cli_error(...)`. */
int cli_error(int status, const char *format, ...) CLI_PRINTF(2, 3);
/* An exit status: CLI_DONE if no pointer is NULL, that is, if all allocations succeeded; otherwise
 * CLI_FAILED after a message. */
#define CLI_HAVE(...)                                                           \
    cli_have(sizeof((const void *const[]){__VA_ARGS__}) / sizeof(const void *), \
             (const void *const[]){__VA_ARGS__})
int cli_have(size_t n, const void *const pointer[]);
void cli_note(const cli_arguments *arguments, const char *format, ...) CLI_PRINTF(2, 3);
/* @return the exit status after an answer was written: CLI_DOUBTFUL if the answer has not converged
 *         and --require-converged was given, else `status`. */
int cli_judge(const cli_arguments *arguments, int converged, int status);
/* Prints the verdict as a note, in colour if standard error is a terminal that shows colours. */
typedef enum cli_colour {
    CLI_GREEN,  /* converged */
    CLI_YELLOW, /* not converged */
    CLI_RED,    /* cannot be trusted: chains disagree, or some states cannot be reached */
} cli_colour;
void cli_note_verdict(const cli_arguments *arguments, cli_colour colour, const char *text);
/* @return whether `fd` is a terminal that a person reads. The pseudo-terminal that mpirun gives to
 *         programs does not count. */
int cli_is_terminal(int fd);
/* @return the number of columns of the terminal if standard output is one, else 80. */
int cli_terminal_width(void);
int cli_line_width(void); /* @return number of columns of a line if standard output is a terminal;
                             otherwise there is no limit */
/* Prints a warning. A callback for gbs_read_options.warn; `context` is the cli_arguments. */
void cli_warn(void *context, const char *message);
/* Prints a message that is not a warning, for instance that a column is left out. A callback
 * like cli_warn(). */
void cli_tell(void *context, const char *message);

/* Prints the reason for which a call of the library failed. @return the exit status. */
int cli_fail(gbs_status status, const gbs_error *err);

/* From this call on, messages that name --memory-limit name `name` instead: what sets the limit of
 * a verb that has no such option. @param name is kept. */
void cli_limit_by(const char *name);
/* Prints the reason for which a call that read an input file failed. A missing file counts as bad
 * input. @return the exit status. */
int cli_fail_input(gbs_status status, const gbs_error *err);
/* Prints the reason for which a call that wrote to `path` failed; prints nothing if the reader
 * closed the pipe.
 * @return the exit status. */
int cli_fail_output(const char *path, gbs_status status, const gbs_error *err);

/* Writes the reason for a failure of the program to err, in the form that the library uses. @return
 * status. */
gbs_status cli_reason(gbs_error *err, gbs_status status, const char *format, ...) CLI_PRINTF(3, 4);

/* Flushes the stream and reports whether all output was written. @return CLI_DONE, or CLI_FAILED
 * after a message. */
int cli_flush(FILE *stream);

/* @return 1 if nobody reads standard output any more. */
int cli_reader_gone(void);

/* @return the candidate that a user most likely meant by text, or NULL if no candidate is
 * similar. */
const char *cli_nearest(const char *text, const char *const *candidate, size_t n);

/* ---- destination.c -------------------------------------------------------------------------- */

/* Refuses, before a long run, a path that cannot be written: a folder, or a file in a missing or
 * read-only folder. */
int cli_check_output(const char *path);

/* Refuses a file name whose extension belongs to another kind of file than the one that the verb
 * writes.
 * @return CLI_DONE, or CLI_USAGE after a message. */
int cli_check_written(const cli_verb *verb, const cli_arguments *arguments);
/* Refuses a file name whose extension belongs to another kind of file than an answer of the UAI
 * competitions. */
int cli_check_answer(const char *path);
/* Refuses operands in the wrong order, and an output file that is also an input file. */
int cli_check_operands(const cli_verb *verb, const cli_arguments *arguments);
/* Refuses a file name whose extension belongs to any kind of file. @param known the formats, for
 * the message. */
int cli_refuse_ending(const char *path, const char *known);

/* Checks the names of --output and of the files beside it: --intervals, --curve, --summary and
 * --checkpoint. All these names must be different files, and at most one may be standard output. */
int cli_check_results(const cli_arguments *arguments);

/* Refuse a --plot whose value is not the name of an SVG file, or equals the value of --output. */
int cli_check_plot(const cli_arguments *arguments);

/* Writes the beginning of an answer in JSON: schema (such as "map/1"), tool, version and the digest
 * of the model if it is not NULL. Further members follow, each after a comma. */
/* @param model_digest NULL if the answer is not about a model. */
void cli_json_head(gbs_output *output, const char *schema, const char *model_digest);
/* Writes a file with write(output, context), completely or not at all. Path "-" is standard output;
 * if path is NULL, nothing is written.
 * @return an exit status, after a message if it failed. */
int cli_write(const char *path, void (*write)(gbs_output *output, const void *context),
              const void *context);

/* A member of a summary in JSON. Lists of members end with a NULL name; a list may be NULL. */
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
    const gbs_model *model; /* model that the summary is about; NULL: none */
    const cli_text_member *texts;
    const cli_count *counts;
    const cli_number *numbers;
    const cli_flag *flags;
} cli_members;

/* Writes a file as cli_write() does. */
int cli_write_members(const char *path, const cli_members *members);
/* Writes ", "converged": false, "verdict": "..."" and the other members that say how far a result
 * can be trusted. */
void cli_json_verdict(gbs_output *output, const gbs_report *report);

/* Finds the format of the output among `known`, such as "mar|csv|json", from --format or the name
 * of -o FILE. Without --format, standard output has the format `fallback`, and a file name without
 * a known extension means CSV.
 * @return CLI_DONE, or CLI_USAGE after a message. */
int cli_output_format(const cli_arguments *arguments, const char *known, const char *fallback,
                      const char **format);

/* verb_convert.c: the model that a verb makes, with the options for writing. */
/* Sets the format of the output to the format of the first operand if the name of --output has no
 * known extension. */
void cli_settle_model_format(cli_arguments *arguments);
int cli_check_model_output(const cli_arguments *arguments); /* checks the name and format of the
                                                               output before the model is made */
int cli_write_model(const cli_arguments *arguments, const gbs_model *model);

/* @return the peak memory of this process in bytes; 0 if the system does not report it. */
uint64_t cli_peak_rss_bytes(void);

/* @return the name of a variable, or `prefix` and the variable's number, written to text. @param
 *         text [32]. */
const char *cli_variable_text(const gbs_model *model, uint32_t variable, const char *prefix,
                              char *text);

/* @return the label of a state, or the state's number, written to text. @param text [32]. */
const char *cli_state_text(const gbs_model *model, uint32_t variable, uint32_t state, char *text);

/* A buffer for names; text that does not fit is cut off. */
typedef struct cli_text {
    char *at;
    size_t n, size;
} cli_text;

void cli_text_add(cli_text *text, const char *more);
/* Adds text such as "A=a B=b": the first n variables of a scope, with their states in one entry of
 * the factor's table. The last of the n_scope variables varies fastest. */
void cli_add_states(const gbs_model *model, uint32_t n, uint32_t n_scope, const uint32_t *scope,
                    size_t entry, const char *between, cli_text *text);
/* @return the bytes that cli_add_states() needs at most, for any states and with up to two
 * characters between them. */
size_t cli_states_bytes(const gbs_model *model, uint32_t n, const uint32_t *scope);

/* Writes "id": 3, "name": "rain", "states": ["no", "yes"]; name and states are left out if the
 * variable has none. */
void cli_json_variable(gbs_output *output, const gbs_model *model, uint32_t v);

/* Writes the member , "mcse": [0.1, null] */
void cli_json_array(gbs_output *output, const char *name, const double *value, size_t n);

/* Writes a number as a further field, such as ",0.25"; if the number is not finite, the field is
 * empty. */
void cli_csv_number(gbs_output *output, double value);

/* ---- text_columns.c -------------------------------------------------------------------------- */

/* @return the number of columns of UTF-8 text: bytes that do not continue a character. */
int cli_columns_of(const char *text);
/* Replaces invisible characters, and characters that change the direction of text, by escapes such
 * as \\u202e.
 * @param to [size] scratch memory for the new text, which is cut to this size. @return the new
 *         text, or `text` itself if no character had to be replaced. */
const char *cli_seen(const char *text, char *to, size_t size);
/* Writes text in `width` columns. Longer text ends with "..", and shorter text is filled with
 * blanks. */
void cli_put_column(gbs_output *output, const char *text, int width);
/* Writes a line: the title in `width` columns, a blank, and the formatted text, which is cut at
 * 255 bytes. */
void cli_put_line(gbs_output *output, int width, const char *title, const char *format, ...)
    CLI_PRINTF(4, 5);
/* Writes text and a line end. Lines that are too long for the terminal are broken at blanks. */
void cli_put_wrapped(gbs_output *output, const char *text);
/* Writes text that begins at `column` and is broken at blanks before the end of the line;
 * further lines begin at `indent`. */
void cli_put_hanging(gbs_output *output, const char *text, int column, int indent, int width);
/* Writes blanks and then text, so that the text ends at column `width`. */
void cli_put_right(gbs_output *output, const char *text, int width);
/* @return whether the environment variables say that text is in UTF-8. The first of LC_ALL,
 * LC_CTYPE and LANG
 *         that is set decides. */
int cli_speaks_unicode(void);

#endif
