/* SPDX-License-Identifier: Apache-2.0 */
/* Turns argv into cli_arguments: every value is checked, and unknown words are refused. */
#include <assert.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/cli.h"
#include "job/ranks.h"
#include "src/engine/options/needs.h"

/* getopt_long() returns this value plus the row of a long option, or the letter of a short
 * option. */
#define LONG_BASE 256

static void *field_of(cli_arguments *arguments, const cli_option *option)
{
    return (char *)arguments + option->offset;
}

static void set_defaults(cli_arguments *arguments, const cli_verb *verb)
{
    for (size_t i = 0; i < verb->n_options; i++) {
        const cli_option *option = &verb->options[i];
        void *field = field_of(arguments, option);
        switch (option->kind) {
        case CLI_UINT:
            *(uint64_t *)field = option->def;
            break;
        case CLI_REAL:
            *(double *)field = option->real_def;
            break;
        default: /* fields of other kinds are already zero */
            break;
        }
    }
}

/* ---- values ------------------------------------------------------------------------------ */

static int bad_choice(const cli_option *option, const char *text)
{
    char unit[CLI_UNIT_SIZE];
    char choice[32][64];
    const char *candidate[32] = {NULL};
    unsigned n = 0;
    cli_option_unit(option, unit);
    while (n < 32 && cli_choice(unit, n, choice[n])) {
        candidate[n] = choice[n];
        n++;
    }
    if (cli_is_later(option->name, text)) {
        return cli_error(CLI_USAGE, "--%s %s is not in this version; it takes %s", option->name,
                         text, unit);
    }
    const char *ours = cli_our_value(option->name, text);
    if (ours != NULL) {
        return cli_error(CLI_USAGE, "--%s %s: expected %s; here it is called '%s'", option->name,
                         text, unit, ours);
    }
    const char *near = cli_nearest(text, candidate, n);
    for (unsigned i = 0; i < n && near == NULL; i++) {
        near = strcasecmp(text, choice[i]) == 0 ? choice[i] : NULL;
    }
    if (near != NULL) {
        return cli_error(CLI_USAGE, "--%s %s: expected %s; did you mean '%s'?", option->name, text,
                         unit, near);
    }
    return cli_error(CLI_USAGE, "--%s %s: expected %s", option->name, text, unit);
}

static int set_choice(cli_arguments *arguments, const cli_option *option, const char *text)
{
    char choice[64];
    for (unsigned k = 0; cli_choice(option->unit, k, choice); k++) {
        if (strcmp(choice, text) == 0) {
            if (option->kind == CLI_NAME) {
                *(const char **)field_of(arguments, option) = text;
            } else {
                *(int *)field_of(arguments, option) = (int)k;
            }
            return CLI_DONE;
        }
    }
    return bad_choice(option, text);
}

/* Reads FD of "json:FD". FD must not be standard input, or standard output, which is for the
 * result. */
static int set_progress_fd(cli_arguments *arguments, const char *text)
{
    uint64_t fd = 0;
    if (!gbsi_count_read(text + strlen("json:"), &fd) || fd < STDERR_FILENO || fd > INT_MAX) {
        return cli_error(CLI_USAGE, "--progress %s: expected json:FD, a descriptor from 2 on",
                         text);
    }
    const int mode = fcntl((int)fd, F_GETFL);
    if (mode < 0 || (mode & O_ACCMODE) == O_RDONLY) {
        return cli_error(CLI_USAGE, "--progress %s: this descriptor is not open for writing", text);
    }
    arguments->progress = CLI_PROGRESS_JSON;
    arguments->progress_fd = (int)fd;
    return CLI_DONE;
}

static int set_uint(cli_arguments *arguments, const cli_option *option, const char *text)
{
    uint64_t v = 0;
    if (!gbsi_count_read(text, &v)) {
        return cli_error(CLI_USAGE,
                         "--%s %s: expected a whole number below 2^64, such as 5000, 5k or 2e6",
                         option->name, text);
    }
    uint64_t min = option->min;
    uint64_t max = option->max;
    if (cli_option_unset_default(option)) { /* the default means "unset" and may not be typed */
        min += min == option->def ? 1 : 0;
        max -= max == option->def ? 1 : 0;
    }
    if (v < min || v > max) {
        return cli_error(CLI_USAGE, "--%s %s: must be from %" PRIu64 " to %" PRIu64 " (%s)",
                         option->name, text, min, max, option->unit);
    }
    *(uint64_t *)field_of(arguments, option) = v;
    return CLI_DONE;
}

static int set_real(cli_arguments *arguments, const cli_option *option, const char *text)
{
    double v = 0.0;
    if (!cli_parse_real(text, &v)) {
        return cli_error(CLI_USAGE, "--%s %s: expected a number", option->name, text);
    }
    const int open = cli_option_unset_default(option) && option->real_min == option->real_def;
    if (v > option->real_max || v < option->real_min || (open && v <= option->real_def)) {
        return cli_error(CLI_USAGE, "--%s %s: must be %s %g and at most %g (%s)", option->name,
                         text, open ? "above" : "at least", option->real_min, option->real_max,
                         option->unit);
    }
    *(double *)field_of(arguments, option) = v;
    return CLI_DONE;
}

static gbs_status put(cli_arguments *arguments, const cli_option *option, const char *text,
                      gbs_error *err)
{
    return option->question != NULL ? gbs_question_set(gbs_question_find(option->question),
                                                       &arguments->of, option->name, text, err)
                                    : gbs_option_set(&arguments->run, option->name, text, err);
}

/* Sets an option that the library knows. Only --scan may also be the name of a file. */
static int set_run(cli_arguments *arguments, const cli_option *option, const char *text)
{
    gbs_error err = {GBS_OK, ""};
    const gbs_option *run = cli_library_option(option);
    const int scan = option->of_run && strcmp(option->name, "scan") == 0;
    const int by_file = scan && strcmp(text, "sequence") == 0;
    char scans[CLI_UNIT_SIZE];
    if (run->unset != NULL && strcmp(text, run->word) == 0) {
        return cli_error(CLI_USAGE, "--%s %s: leave the option out instead", option->name, text);
    }
    if (!by_file && put(arguments, option, text, &err) >= 0) {
        return CLI_DONE;
    }
    if (scan && !cli_is_later(option->name, text) && access(text, F_OK) == 0) {
        arguments->run.scan = GBS_SCAN_SEQUENCE;
        arguments->scan_file = text;
        return CLI_DONE;
    }
    cli_option_unit(option, scans);
    if (scan && strpbrk(text, "./") != NULL) {
        return cli_error(CLI_USAGE, "--scan %s: found no such file; otherwise expected %s", text,
                         scans);
    }
    return run->kind == GBS_OPTION_KIND_CHOICE ? bad_choice(option, text)
                                               : cli_error(CLI_USAGE, "%s", err.message);
}

static int set_option(cli_arguments *arguments, size_t row, const char *text)
{
    const cli_option *option = &arguments->verb->options[row];
    if (arguments->given[row] && option->kind != CLI_LIST && option->kind != CLI_FLAG) {
        return cli_error(CLI_USAGE, "--%s is given twice", option->name);
    }
    arguments->given[row] = 1;
    if (option->kind != CLI_FLAG && (text == NULL || text[0] == '\0')) {
        return cli_error(CLI_USAGE, "--%s: its value is empty", option->name);
    }
    switch (option->kind) {
    case CLI_FLAG:
        if (option->question != NULL) {
            return put(arguments, option, "yes", NULL) < 0 ? CLI_USAGE : CLI_DONE;
        }
        *(int *)field_of(arguments, option) +=
            *(int *)field_of(arguments, option) < (int)option->max;
        return CLI_DONE;
    case CLI_TEXT:
        *(const char **)field_of(arguments, option) = text;
        return CLI_DONE;
    case CLI_LIST:
        if (option->offset == offsetof(cli_arguments, target)) {
            arguments->target[arguments->n_targets++] = text;
        } else if (option->offset == offsetof(cli_arguments, joint)) {
            arguments->joint[arguments->n_joints++] = text;
        } else {
            arguments->evidence[arguments->n_evidence++] = text;
        }
        return CLI_DONE;
    case CLI_NAME:
    case CLI_CHOICE:
        return strncmp(text, "json:", 5) == 0 && option->offset == offsetof(cli_arguments, progress)
                   ? set_progress_fd(arguments, text)
                   : set_choice(arguments, option, text);
    case CLI_UINT:
        return set_uint(arguments, option, text);
    case CLI_REAL:
        return set_real(arguments, option, text);
    case CLI_RUN:
        return set_run(arguments, option, text);
    }
    return CLI_USAGE;
}

/* ---- what is refused --------------------------------------------------------------------- */

/* @return whether any verb has the option. */
static int elsewhere(const char *name)
{
    for (size_t i = 0; i < cli_n_verbs; i++) {
        if (cli_find_option(name, cli_verbs[i]) != NULL) {
            return 1;
        }
    }
    return 0;
}

/* Lists the verbs with the same first word that have an option: "learn weights, learn rbm".
 * @return the number of these verbs. */
static int siblings(const cli_verb *verb, const char *option, char *names, size_t size)
{
    const char *kind = cli_verb_kind(verb);
    size_t used = 0;
    int n = 0;
    for (size_t i = 0; kind != NULL && i < cli_n_verbs && used < size; i++) {
        if (strncmp(cli_verbs[i]->name, verb->name, (size_t)(kind - verb->name)) == 0 &&
            cli_find_option(option, cli_verbs[i]) != NULL) {
            used += (size_t)snprintf(names + used, size - used, "%s%s", n++ > 0 ? ", " : "",
                                     cli_verbs[i]->name);
        }
    }
    return n;
}

/* Refuses an unknown option. @param text the option with its dashes, perhaps with "=value". */
static int unknown_option(const cli_verb *verb, const char *verb_name, const char *text)
{
    const char *candidate[CLI_MAX_OPTIONS];
    for (size_t i = 0; i < verb->n_options; i++) {
        candidate[i] = verb->options[i].name;
    }
    char name[64];
    char others[256];
    int length = (int)strcspn(text, "=");
    (void)snprintf(name, sizeof name, "%.*s", length - 2 > 0 ? length - 2 : 0, text + 2);
    if (cli_is_later("", name)) {
        return cli_error(CLI_USAGE, "option '--%s' is not in this version", name);
    }
    if (cli_option_without_use(verb, verb_name, name) != CLI_DONE) {
        return CLI_USAGE;
    }
    if (siblings(verb, name, others, sizeof others) > 0) {
        return cli_error(CLI_USAGE, "'%s' has no option '--%s', which is for %s", verb_name, name,
                         others);
    }
    const char *ours = cli_our_name(verb, name);
    if (ours != NULL) {
        return cli_error(CLI_USAGE, "'%s' has no option '--%s'; here it is called --%s", verb_name,
                         name, ours);
    }
    if (elsewhere(name)) {
        return cli_error(CLI_USAGE, "'%s' has no option '--%s'; see '%s help %s'", verb_name, name,
                         cli_here.program, verb_name);
    }
    const char *near = cli_nearest(name, candidate, verb->n_options);
    if (near != NULL) {
        return cli_error(CLI_USAGE, "unknown option '%.*s'; did you mean '--%s'?", length, text,
                         near);
    }
    return cli_error(CLI_USAGE, "unknown option '%.*s'; see '%s help %s'", length, text,
                     cli_here.program, verb_name);
}

static int refuse(const cli_verb *verb, const char *verb_name, int found, char **argv)
{
    const cli_option *table = verb->options;
    const char *text = argv[optind - 1];
    if (found == ':') {
        if (optopt < LONG_BASE) {
            return cli_error(CLI_USAGE, "option '-%c' needs a value", optopt);
        }
        char unit[CLI_UNIT_SIZE];
        cli_option_unit(&table[optopt - LONG_BASE], unit);
        return cli_error(CLI_USAGE, "option '--%s' needs a value (%s)",
                         table[optopt - LONG_BASE].name, unit);
    }
    if (optopt >= LONG_BASE) {
        return cli_error(CLI_USAGE, "option '--%s' takes no value", table[optopt - LONG_BASE].name);
    }
    if (optopt != 0) {
        const char letter[2] = {(char)optopt, '\0'};
        const char *ours = cli_our_name(verb, letter);
        if (ours != NULL) {
            return cli_error(CLI_USAGE, "'%s' has no option '-%s'; --%s is meant?", verb_name,
                             letter, ours);
        }
        return cli_error(CLI_USAGE, "unknown option '-%c'; see '%s help %s'", optopt,
                         cli_here.program, verb_name);
    }
    return unknown_option(verb, verb_name, text);
}

/* ---- what options need ----------------------------------------------------------------------- */

/* @return whether the value of an option is one of the words of a list such as "a|b". */
static int has_value(const cli_arguments *arguments, const cli_option *option, const char *words)
{
    char value[64] = "";
    gbs_status status = GBS_OK;
    if (option->kind == CLI_NAME || option->kind == CLI_TEXT) {
        const char *typed = *(const char *const *)((const char *)arguments + option->offset);
        (void)snprintf(value, sizeof value, "%.63s", typed != NULL ? typed : "");
    } else if (option->kind == CLI_CHOICE) {
        (void)cli_choice(option->unit,
                         *(const unsigned *)((const char *)arguments + option->offset), value);
    } else if (option->question != NULL) {
        status = gbs_question_get(gbs_question_find(option->question), &arguments->of, option->name,
                                  value, sizeof value, NULL);
    } else {
        status = gbs_option_get(&arguments->run, option->name, value, sizeof value, NULL);
    }
    return status >= 0 && gbsi_is_among(value, words);
}

/* @return whether a condition holds. "NAME" holds if the option NAME was given. "sampled" and "draw
 *         has keys" are known only when the method is known; cli_settle() checks these two. */
static gbsi_held holds(const void *context, const char *name, const char *values)
{
    const cli_arguments *arguments = context;
    const cli_option *other = cli_find_option(name, arguments->verb);
    return other == NULL ? GBSI_HELD_ELSEWHERE
           : (values == NULL ? cli_given(arguments, name) : has_value(arguments, other, values))
               ? GBSI_HELD_YES
               : GBSI_HELD_NO;
}

/* Checks every option that was given against the conditions of its row. */
static int check_needs(const cli_arguments *arguments)
{
    char said[GBSI_SAID_SIZE];
    for (size_t i = 0; i < arguments->verb->n_options; i++) {
        const cli_option *option = &arguments->verb->options[i];
        if (arguments->given[i] && !gbsi_needs_hold(option->needs, holds, arguments, said)) {
            return cli_error(CLI_USAGE, "--%s %s", option->name, said);
        }
    }
    return CLI_DONE;
}

/* Copies the options that both the run and the question's struct have, such as seed, threads and
 * limits, into the question's struct. Options that were not typed are copied, too. */
static int share_run(cli_arguments *arguments)
{
    char value[256];
    gbs_error err = {GBS_OK, ""};
    const cli_verb *verb = arguments->verb;
    const gbs_question *question = NULL;
    for (size_t i = 0; i < verb->n_options && question == NULL; i++) {
        question = gbs_question_find(verb->options[i].question);
    }
    for (size_t i = 0; i < verb->n_options; i++) {
        const char *name = verb->options[i].name;
        if (!verb->options[i].of_run || gbs_question_find_option(question, name) == NULL) {
            continue;
        }
        gbs_status status = gbs_option_get(&arguments->run, name, value, sizeof value, &err);
        if (status >= 0) {
            status = gbs_question_set(question, &arguments->of, name, value, &err);
        }
        if (status < 0) {
            return cli_fail(status, &err);
        }
    }
    return CLI_DONE;
}

/* ---- the loop ---------------------------------------------------------------------------- */

/* Describes the options of a verb to getopt_long(). @param long_option [CLI_MAX_OPTIONS + 1].
 * @param letters [2 * CLI_MAX_OPTIONS + 2]. */
static void describe(const cli_verb *verb, struct option *long_option, char *letters)
{
    *letters++ =
        ':'; /* ':' makes getopt_long() distinguish a missing value from an unknown option */
    for (size_t i = 0; i < verb->n_options; i++) {
        const cli_option *option = &verb->options[i];
        int value = option->kind == CLI_FLAG ? no_argument : required_argument;
        long_option[i] = (struct option){option->name, value, NULL, LONG_BASE + (int)i};
        if (option->letter != 0) {
            *letters++ = option->letter;
            if (value == required_argument) {
                *letters++ = ':';
            }
        }
    }
    long_option[verb->n_options] = (struct option){NULL, 0, NULL, 0};
    *letters = '\0';
}

/* @return the row of the option with this letter; the number of options if no option has the
 *         letter. */
static size_t row_of_letter(const cli_verb *verb, int letter)
{
    size_t i = 0;
    while (i < verb->n_options && verb->options[i].letter != letter) {
        i++;
    }
    return i;
}

/* @return whether the value of an option looks like another option, as "-o" does in "--intervals -o
 *         FILE". */
static int is_option(const cli_verb *verb, const char *text)
{
    if (text[0] == '-' && text[1] == '-') {
        return cli_find_option(text + 2, verb) != NULL;
    }
    return text[0] == '-' && text[1] != '\0' && text[2] == '\0' &&
           row_of_letter(verb, text[1]) < verb->n_options;
}

int cli_parse(const cli_verb *verb, const char *verb_name, int argc, char **argv,
              cli_arguments *arguments)
{
    struct option long_option[CLI_MAX_OPTIONS + 1];
    char letters[2 * CLI_MAX_OPTIONS + 2];
    const cli_option *table = verb->options;
    assert(verb->n_options <= CLI_MAX_OPTIONS);
    arguments->verb = verb;
    /* Sets the defaults of all verbs' options, because shared code also reads fields for which this
     * verb has no option. */
    for (size_t i = 0; i < cli_n_verbs; i++) {
        set_defaults(arguments, cli_verbs[i]);
    }
    set_defaults(arguments, verb);
    arguments->run = gbs_run_options_default();
    const gbs_question *question = gbs_question_find(verb->name);
    gbs_error err = {GBS_OK, ""};
    if (question != NULL &&
        gbs_question_init(question, &arguments->of, gbs_question_size(question), &err) < 0) {
        return cli_fail(err.status, &err);
    }
    arguments->evidence = calloc((size_t)argc + 1, sizeof *arguments->evidence);
    arguments->target = calloc((size_t)argc + 1, sizeof *arguments->target);
    arguments->joint = calloc((size_t)argc + 1, sizeof *arguments->joint);
    CLI_PASS(CLI_HAVE(arguments->evidence, arguments->target, arguments->joint));
    describe(verb, long_option, letters);
    opterr = 0;
    for (;;) {
        int found = getopt_long( // NOLINT(concurrency-mt-unsafe): one thread, at the start
            argc, argv, letters, long_option, NULL);
        if (found == -1) {
            break;
        }
        if (found == '?' || found == ':') {
            return refuse(verb, verb_name, found, argv);
        }
        size_t row = found >= LONG_BASE ? (size_t)(found - LONG_BASE) : row_of_letter(verb, found);
        if (found >= LONG_BASE) {
            /* getopt_long() accepts abbreviations. Abbreviations are refused, because an option of
             * a later version may begin with the same letters, as --target does */
            const char *text = argv[optind - 1] == optarg ? argv[optind - 2] : argv[optind - 1];
            if (strcspn(text, "=") != strlen(table[row].name) + 2) {
                return unknown_option(verb, verb_name, text);
            }
        }
        if (optarg != NULL && optarg == argv[optind - 1] && is_option(verb, optarg)) {
            return cli_error(CLI_USAGE, "option '--%s' needs a value, found the option %s",
                             table[row].name, optarg);
        }
        int status = set_option(arguments, row, optarg);
        if (status != CLI_DONE) {
            return status;
        }
    }
    if (arguments->quiet && arguments->verbose) {
        return cli_error(CLI_USAGE, "--quiet and --verbose exclude each other");
    }
    if (cli_given(arguments, "budget") &&
        (cli_given(arguments, "time") || arguments->run.method != GBS_METHOD_AUTO)) {
        return cli_error(CLI_USAGE,
                         "--budget decides for --method auto in place of --time: leave it out");
    }
    if (arguments->json && arguments->format != NULL && strcmp(arguments->format, "json") != 0) {
        return cli_error(CLI_USAGE, "--json and --format %s exclude each other", arguments->format);
    }
    arguments->operand = argv + optind;
    arguments->n_operands = argc - optind;
    const int status = arguments->help ? CLI_DONE : check_needs(arguments);
    return status == CLI_DONE ? share_run(arguments) : status;
}

int cli_given(const cli_arguments *arguments, const char *name)
{
    const cli_option *option = cli_find_option(name, arguments->verb);
    return option != NULL && arguments->given[option - arguments->verb->options];
}

int cli_wants_json(const cli_arguments *arguments)
{
    return arguments->json || (arguments->format != NULL && strcmp(arguments->format, "json") == 0);
}

void cli_arguments_free(cli_arguments *arguments)
{
    free(arguments->evidence);
    free(arguments->target);
    free(arguments->joint);
    arguments->evidence = NULL;
    arguments->target = NULL;
    arguments->joint = NULL;
}
