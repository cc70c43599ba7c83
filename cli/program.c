/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the verb in VERB [options] MODEL, parses the arguments after it, and runs the verb. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "job/job.h"
#include "job/ranks.h"
#include "src/files/models/format_names.h"

/* Refuses unknown values of environment variables. If they were ignored, a misspelt value would go
 * unnoticed. */
static int check_environment(void)
{
    const char *simd = getenv("GIBBSITE_SIMD"); // NOLINT(concurrency-mt-unsafe): one thread
    if (simd != NULL && strcmp(simd, "portable") != 0 && strcmp(simd, "neon") != 0 &&
        strcmp(simd, "avx2") != 0 && strcmp(simd, "avx512") != 0) {
        return cli_error(CLI_USAGE,
                         "environment GIBBSITE_SIMD=%s: expected portable, neon, avx2 or avx512",
                         simd);
    }
    return CLI_DONE;
}

/* Makes the C library return large freed arrays to the system, so that a run takes the memory that
 * it predicted. By default the C library may keep freed arrays of up to 32 MiB. */
static void return_memory(void)
{
#ifdef M_MMAP_THRESHOLD
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

/* @return the verb with this name, NULL if there is none. @param name such as "marginals" or
 *         "generate ising". */
static const cli_verb *find_verb(const char *name)
{
    for (size_t i = 0; i < cli_n_verbs; i++) {
        if (strcmp(cli_verbs[i]->name, name) == 0) {
            return cli_verbs[i];
        }
    }
    return NULL;
}

static int unknown_verb(const char *name)
{
    const char *candidate[128] = {"help"};
    char group[64][32];
    size_t n = 1;
    if (cli_is_later(NULL, name)) {
        return cli_error(CLI_USAGE, "'%s' is not in this version", name);
    }
    for (size_t i = 0; i < cli_n_verbs && i < 64; i++) {
        candidate[n++] = cli_verbs[i]->name;
        if (cli_group(i, group[i])) {
            candidate[n++] = group[i];
        }
    }
    const char *ours = cli_our_verb(name);
    if (strpbrk(name, "(|") != NULL &&
        cli_probability_typed("marginals MODEL --query", name, 0) != CLI_DONE) {
        return CLI_USAGE;
    }
    if (ours != NULL) {
        return cli_error(CLI_USAGE, "unknown verb '%s'; here it is called '%s'", name, ours);
    }
    const char *advice = cli_verb_without_use(name);
    if (advice != NULL) {
        return cli_error(CLI_USAGE, "no verb '%s': %s", name, advice);
    }
    if (gbsi_model_format_of(name) != NULL || access(name, F_OK) == 0) {
        return cli_error(CLI_USAGE,
                         "'%s' is a file, a verb comes first: type gibbsite marginals %s, "
                         "gibbsite info %s or the like",
                         name, name, name);
    }
    const char *near = cli_nearest(name, candidate, n);
    if (near != NULL && strcmp(near, name) == 0) {
        return strchr(name, ' ') != NULL
                   ? cli_error(CLI_USAGE, "'%s' is two words: type gibbsite %s", name, name)
                   : cli_error(CLI_USAGE, "type gibbsite %s", name);
    }
    if (near != NULL) {
        return cli_error(CLI_USAGE, "unknown verb '%s'; did you mean '%s'?", name, near);
    }
    return cli_error(CLI_USAGE, "unknown verb '%s'; see 'gibbsite help'", name);
}

/* @return whether there are verbs of two words that begin with this word, such as "generate" and
 *         "learn". */
static int has_kinds(const char *word)
{
    for (size_t i = 0; i < cli_n_verbs; i++) {
        if (cli_kind_behind(word, cli_verbs[i]) != NULL) {
            return 1;
        }
    }
    return 0;
}

/* @return the verb "WORD KIND", NULL if there is none. */
static const cli_verb *find_kind(const char *word, const char *kind)
{
    for (size_t i = 0; i < cli_n_verbs; i++) {
        const char *known = cli_kind_behind(word, cli_verbs[i]);
        if (known != NULL && strcmp(known, kind) == 0) {
            return cli_verbs[i];
        }
    }
    return NULL;
}

/* Refuses an unknown kind. @param kind NULL if no kind was typed. */
static int unknown_kind(const char *word, const char *kind)
{
    const char *candidate[64];
    char kinds[512] = "";
    size_t n = 0;
    for (size_t i = 0; i < cli_n_verbs; i++) {
        candidate[n] = cli_kind_behind(word, cli_verbs[i]);
        n += candidate[n] != NULL;
    }
    for (size_t i = 0; i < n; i++) {
        const size_t end = strlen(kinds);
        (void)snprintf(kinds + end, sizeof kinds - end, "%s%s",
                       i == 0       ? ""
                       : i + 1 == n ? " or "
                                    : ", ",
                       candidate[i]);
    }
    if (kind == NULL || kind[0] == '-') {
        return cli_error(CLI_USAGE, "%s: its first word is %s; see 'gibbsite help %s'", word, kinds,
                         word);
    }
    const char *near = cli_nearest(kind, candidate, n);
    if (near != NULL) {
        return cli_error(CLI_USAGE, "unknown kind of model '%s'; did you mean '%s'?", kind, near);
    }
    return cli_error(CLI_USAGE, "unknown kind of model '%s'; expected %s%s", kind, kinds,
                     strcmp(word, "learn") == 0
                         ? "; tables of a Bayesian network: type gibbsite fit NETWORK DATA"
                         : "");
}

/* Answers "help --sweeps" with the verb that has the option. */
static int help_on_option(const char *option)
{
    for (size_t i = 0; i < cli_n_verbs; i++) {
        if (cli_find_option(option + 2, cli_verbs[i]) != NULL) {
            return cli_error(CLI_USAGE, "'%s' is an option of %s: type gibbsite help %s all",
                             option, cli_verbs[i]->name, cli_verbs[i]->name);
        }
    }
    return cli_error(CLI_USAGE, "'%s' is no option; see 'gibbsite help'", option);
}

/* Answers "help", "help VERB" and "help VERB PAGE", where VERB may be two words, such as "learn
 * rbm". */
static int help(int argc, char **argv)
{
    char name[128];
    if (argc == 0) {
        return cli_help_overview(stdout);
    }
    if (strncmp(argv[0], "--", 2) == 0) {
        return help_on_option(argv[0]);
    }
    if (strcmp(argv[0], "version") == 0) {
        return cli_error(CLI_USAGE, "type gibbsite version: the version of the program");
    }
    const int has = has_kinds(argv[0]);
    const int two = has && argc > 1;
    (void)snprintf(name, sizeof name, "%s%s%s", argv[0], two ? " " : "", two ? argv[1] : "");
    if (argc > 2 + two) {
        return cli_error(CLI_USAGE, "help: unexpected '%s'", argv[2 + two]);
    }
    if (two && find_verb(name) == NULL) {
        return unknown_kind(argv[0], argv[1]);
    }
    if (!has && find_verb(name) == NULL) {
        return unknown_verb(name);
    }
    return cli_help_verb(name, argc > 1 + two ? argv[1 + two] : NULL);
}

/* Runs a verb. At the end, all files that the verb writes get their final names together; after
 * a failure no file does. */
static int run_in_set(const cli_verb *verb, cli_arguments *arguments)
{
    gbs_error err = {GBS_OK, ""};
    if (verb->names_at_once) {
        return verb->run(arguments);
    }
    gbsi_output_set_begin();
    const int status = verb->run(arguments);
    const int failed = status == CLI_FAILED || status == CLI_USAGE || status == CLI_INPUT;
    const gbs_status done = gbsi_output_set_end(!failed, &err);
    return done < 0 ? cli_fail(done, &err) : status;
}

static int run_verb(const cli_verb *verb, int argc, char **argv, int all_argc, char **all_argv)
{
    cli_arguments arguments;
    memset(&arguments, 0, sizeof arguments);
    arguments.argc = all_argc;
    arguments.argv = all_argv;
    int status = cli_parse(verb, verb->name, argc, argv, &arguments);
    if (status == CLI_DONE && arguments.help) {
        status = cli_help_verb(verb->name, NULL);
    } else if (status == CLI_DONE && arguments.n_operands == 1 &&
               strcmp(arguments.operand[0], "help") == 0 && access("help", F_OK) != 0) {
        status = cli_error(CLI_USAGE, "type gibbsite help %s", verb->name);
    } else if (status == CLI_DONE && verb->n_operands >= 0 &&
               arguments.n_operands != verb->n_operands) {
        status = arguments.n_operands > verb->n_operands ? cli_unexpected_operand(verb, &arguments)
                                                         : cli_missing_operand(verb, &arguments);
    } else if (status == CLI_DONE) {
        gbs_set_memory_limit(arguments.run.memory_limit);
        gbsi_set_csv_safe(arguments.csv_safe);
        status = cli_check_written(verb, &arguments);
        status = status == CLI_DONE ? cli_check_operands(verb, &arguments) : status;
        status = status == CLI_DONE ? run_in_set(verb, &arguments) : status;
    }
    cli_arguments_free(&arguments);
    return status;
}

static int is_one_of(const char *text, const char *a, const char *b)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0;
}

/* @return whether the next word is the value of this word: of an option that takes a value and does
 *         not have it after "=" or after its letter. */
static int takes_next(const char *word, const char *typed)
{
    for (size_t i = 0; i < cli_n_verbs; i++) {
        const cli_verb *verb = cli_verbs[i];
        const int is_kind = cli_kind_behind(word, verb) != NULL;
        for (size_t k = 0; is_kind && k < verb->n_options; k++) {
            const cli_option *option = &verb->options[k];
            const int named = typed[0] == '-' && typed[1] == '-'
                                  ? strcmp(typed + 2, option->name) == 0
                                  : typed[0] == '-' && typed[1] == option->letter &&
                                        option->letter != 0 && typed[2] == '\0';
            if (named) {
                return option->kind != CLI_FLAG;
            }
        }
    }
    return 0;
}

/* Runs "WORD KIND". The kind may come before or after options. */
static int run_kind(int argc, char **argv, int all_argc, char **all_argv)
{
    if (argc > 2 && is_one_of(argv[2], "--help", "-h")) {
        return cli_help_verb(argv[1], NULL);
    }
    int at = 2;
    while (at < argc && find_kind(argv[1], argv[at]) == NULL) {
        at += takes_next(argv[1], argv[at]) ? 2 : 1;
    }
    if (at >= argc || (argv[2][0] != '-' && at > 2)) {
        return unknown_kind(argv[1], argc > 2 ? argv[2] : NULL);
    }
    const cli_verb *verb = find_kind(argv[1], argv[at]);
    for (; at > 2; at--) {
        char *kind = argv[at];
        argv[at] = argv[at - 1];
        argv[at - 1] = kind;
    }
    return run_verb(verb, argc - 2, argv + 2, all_argc, all_argv);
}

static int dispatch(int argc, char **argv, int all_argc, char **all_argv)
{
    if (has_kinds(argv[1])) {
        return run_kind(argc, argv, all_argc, all_argv);
    }
    const cli_verb *verb = find_verb(argv[1]);
    return verb != NULL && strchr(argv[1], ' ') == NULL
               ? run_verb(verb, argc - 1, argv + 1, all_argc, all_argv)
               : unknown_verb(argv[1]);
}

int cli_program(int argc, char **argv, int n_typed, char **typed)
{
    /* SIGPIPE is ignored, so that writing to a closed pipe is an error that is reported as failed
     * output */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    (void)sigaction(SIGPIPE, &ignore, NULL);
    return_memory();
    CLI_PASS(check_environment());
    if (argc < 2) {
        return cli_help_welcome(stderr);
    }
    if (is_one_of(argv[1], "--version", "-V") || strcmp(argv[1], "version") == 0) {
        (void)printf("%s %s\n", cli_here.program, gbs_version());
        return fflush(stdout) == 0 ? CLI_DONE : CLI_FAILED;
    }
    if (strcmp(argv[1], "help") == 0 || is_one_of(argv[1], "--help", "-h")) {
        return help(argc - 2, argv + 2);
    }
    return dispatch(argc, argv, n_typed, typed);
}
