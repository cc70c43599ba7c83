/* SPDX-License-Identifier: Apache-2.0 */
/* The help: generated from the tables of verbs and options. */
#include <inttypes.h>
#include <string.h>

#include "cli.h"

static int finish(FILE *stream)
{
    if (fflush(stream) != 0 || ferror(stream)) {
        return cli_reader_gone() ? CLI_FAILED
                                 : cli_error(CLI_FAILED, "standard output: cannot write");
    }
    return CLI_DONE;
}

int cli_help_overview(FILE *stream)
{
    (void)fprintf(stream, "usage: gibbsite VERB [options] MODEL\n\n"
                          "Samples discrete graphical models.\n\n");
    for (size_t i = 0; i < cli_n_verbs; i++) {
        (void)fprintf(stream, "  %-16s %s\n", cli_verbs[i].name, cli_verbs[i].what);
    }
    (void)fprintf(stream, "  %-16s %s\n", "help [VERB]", "this text, or the options of a verb");
    (void)fprintf(
        stream,
        "\nThe format of MODEL is found from its file name extension (.uai, .bif, .gbm, ...:\n"
        "gibbsite-formats(5)); - is standard input. gibbsite --version prints the version.\n\n"
        "Exit status: 0 done, 1 failed while running, 2 wrong use, 3 invalid input file,\n"
        "4 stopped by a signal or a limit; the results so far are written.\n");
    return finish(stream);
}

/* " [16]", or "" where there is none to show. @param shown [80], out. */
static void default_text(const cli_option *option, char *shown)
{
    char text[64];
    const gbs_option *run = option->kind == CLI_RUN ? gbs_option_find(option->name) : NULL;
    const gbs_run_options defaults = gbs_run_options_default();
    shown[0] = '\0';
    if (cli_option_unset_default(option) || (run != NULL && run->unset != NULL) ||
        strstr(option->help, "(required)") != NULL) {
        return;
    }
    if (run != NULL) {
        (void)gbs_option_get(&defaults, run->name, text, sizeof text, NULL);
        (void)snprintf(shown, 80, " [%s]", text);
    } else if (option->kind == CLI_CHOICE &&
               cli_choice(option->unit, (unsigned)option->def, text)) {
        (void)snprintf(shown, 80, " [%s]", text);
    } else if (option->kind == CLI_UINT) {
        (void)snprintf(shown, 80, " [%" PRIu64 "]", option->def);
    } else if (option->kind == CLI_REAL) {
        (void)snprintf(shown, 80, " [%g]", option->real_def);
    }
}

/* Break a line at blanks so that it ends before column 80; continuations start at column 28. */
static void print_wrapped(const char *text)
{
    const size_t width = 51;
    while (strlen(text) > width) {
        size_t n = width;
        while (n > 0 && text[n] != ' ') {
            n--;
        }
        n = n == 0 ? strcspn(text, " ") : n;
        (void)printf("%.*s", (int)n, text);
        text += n;
        if (*text == ' ') {
            text++;
            (void)printf("\n%28s", "");
        }
    }
    (void)printf("%s", text);
}

static void print_option(const cli_option *option)
{
    char unit[CLI_UNIT_SIZE];
    char choices[CLI_UNIT_SIZE];
    char left[CLI_UNIT_SIZE + 64];
    char shown[80];
    char text[512];
    const gbs_option *run = option->kind == CLI_RUN ? gbs_option_find(option->name) : NULL;
    cli_option_unit(option, choices);
    const int many = strlen(choices) > 60; /* choices that go into the text instead */
    const int bare = option->kind == CLI_UINT || option->kind == CLI_REAL;
    const char *letter = option->kind == CLI_UINT ? "N" : "X";
    (void)snprintf(unit, sizeof unit, "%s",
                   many                                                       ? "NAME"
                   : bare && (option->unit[0] < 'A' || option->unit[0] > 'Z') ? letter
                                                                              : choices);
    (void)snprintf(left, sizeof left, "  %c%c%c --%s%s%s", option->letter != 0 ? '-' : ' ',
                   option->letter != 0 ? option->letter : ' ', option->letter != 0 ? ',' : ' ',
                   option->name, option->kind == CLI_FLAG ? "" : " ",
                   option->kind == CLI_FLAG ? "" : unit);
    if (strlen(left) < 27) {
        (void)printf("%-28s", left);
    } else {
        (void)printf("%s\n%28s", left, "");
    }
    default_text(option, shown);
    const int unset = run != NULL && run->unset != NULL;
    (void)snprintf(text, sizeof text, "%s%s%s%s%s", run != NULL ? run->help : option->help,
                   unset ? "; unset: " : "", unset ? run->unset : "", shown, many ? ": " : "");
    for (const char *at = many ? choices : ""; *at != '\0' && strlen(text) < 480; at++) {
        size_t end = strlen(text);
        (void)snprintf(text + end, sizeof text - end, *at == '|' ? ", " : "%c", *at);
    }
    print_wrapped(text);
    (void)printf("\n");
}

static void print_verb(const cli_verb *verb)
{
    size_t n = 0;
    const cli_option *table = cli_option_table(&n);
    (void)printf("usage: gibbsite %s [options]%s%s\n\n%c%s.\n%s\n", verb->name,
                 verb->n_operands != 0 ? " " : "", verb->operands,
                 verb->what[0] >= 'a' ? verb->what[0] - 'a' + 'A' : verb->what[0], verb->what + 1,
                 verb->notes);
    for (size_t i = 0; i < n; i++) {
        if ((cli_option_verbs(&table[i]) & verb->id) != 0) {
            print_option(&table[i]);
        }
    }
    (void)printf("\nExample:\n");
    for (const char *at = verb->example; *at != '\0';) {
        int length = (int)strcspn(at, "\n");
        (void)printf("  %.*s\n", length, at);
        at += length + 1;
    }
}

int cli_help_verb(const char *name)
{
    size_t length = strlen(name);
    int n_shown = 0;
    for (size_t i = 0; i < cli_n_verbs; i++) {
        if (strncmp(cli_verbs[i].name, name, length) == 0 &&
            (cli_verbs[i].name[length] == '\0' || cli_verbs[i].name[length] == ' ')) {
            (void)printf("%s", n_shown++ > 0 ? "\n" : "");
            print_verb(&cli_verbs[i]);
        }
    }
    return n_shown > 0 ? finish(stdout) : CLI_USAGE;
}
