/* SPDX-License-Identifier: Apache-2.0 */
/* The help, which is generated from the tables of verbs and options. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"

/* Largest number of characters of a list of choices that fits the left column */
#define MANY_CHOICES 60

/* Texts of each topic: the word after `help VERB` that shows the topic (NULL for topics of the
 * first screen), and the line above the options of the topic. */
static const struct {
    const char *word, *title;
} topics[CLI_N_TOPICS] = {
    [CLI_TOPIC_QUESTION] = {NULL, "What to answer"},
    [CLI_TOPIC_ACCURACY] = {NULL, "How exactly"},
    [CLI_TOPIC_RESULT] = {NULL, "Where the answer goes"},
    [CLI_TOPIC_SCAN] = {"scan", "Chains and the order of their updates"},
    [CLI_TOPIC_DRAW] = {"draw", "How a value is drawn from its conditional distribution"},
    [CLI_TOPIC_INPUT] = {"input", "Files, their formats, and messages"},
    [CLI_TOPIC_LAB] = {"lab", "For experiments, such as those of reproduce"},
};

const cli_option *cli_topic_next(cli_topic topic, const cli_verb *verb, size_t *at)
{
    while (*at < verb->n_options) {
        const cli_option *option = &verb->options[(*at)++];
        if (option->topic == topic) {
            return option;
        }
    }
    return NULL;
}

int cli_help_welcome(FILE *stream)
{
    (void)fprintf(
        stream,
        "usage: gibbsite VERB [options] MODEL\n\n"
        "gibbsite answers questions about discrete graphical models, and says how far\n"
        "the answers can be trusted. MODEL is a file: .bif, .uai, .gbm, ... For example:\n\n"
        "  gibbsite marginals clinic.bif -e fever=yes --query influenza\n"
        "                                            P(influenza | fever = yes)\n"
        "  gibbsite map clinic.bif -e fever=yes      the most probable explanation\n"
        "  gibbsite info clinic.bif                  what it holds, what answers cost\n\n"
        "'gibbsite help' lists all verbs, 'gibbsite help marginals' the options of one:\n"
        "joint tables (--joint), a CSV file of cases (--cases), soft evidence, ...\n");
    return CLI_USAGE;
}

int cli_help_overview(FILE *stream)
{
    (void)fprintf(stream,
                  "usage: gibbsite VERB [options] MODEL\n\n"
                  "Answers questions about discrete graphical models: factor graphs, Markov\n"
                  "random fields, Bayesian networks. Exact where that is possible, sampled with\n"
                  "errors elsewhere.\n\n");
    for (size_t i = 0; i < cli_n_verbs; i++) {
        (void)fprintf(stream, "  %-16s %s\n", cli_verbs[i]->name, cli_verbs[i]->what);
    }
    (void)fprintf(stream, "  %-16s %s\n", "help [VERB]", "this text, or the options of a verb");
    (void)fprintf(
        stream,
        "\nThe format of MODEL is found from its file name extension (.uai, .bif, ...;\n"
        "see gibbsite-formats(5)); - is standard input. --version prints the version.\n\n"
        "Exit status: 0 done, 1 failed while running, 2 wrong use, 3 invalid input file,\n"
        "4 stopped by a signal or a limit; the results so far are written; 5 not converged\n"
        "(--require-converged), 130 ended by a second signal.\n");
    return cli_flush(stream);
}

/* Writes the default of an option that the library knows, in the form in which a user types a
 * value. */
static void library_default(const cli_option *option, char text[64])
{
    const gbs_run_options run = gbs_run_options_default();
    const gbs_question *question = gbs_question_find(option->question);
    cli_arguments arguments;
    gbs_status status = GBS_OK;
    if (question == NULL) {
        status = gbs_option_get(&run, option->name, text, 64, NULL);
    } else {
        status = gbs_question_init(question, &arguments.of, sizeof arguments.of, NULL);
        if (status >= 0) {
            status = gbs_question_get(question, &arguments.of, option->name, text, 64, NULL);
        }
    }
    if (status < 0) {
        text[0] = '\0';
    }
}

/* Writes the default as " [16]", or "" if the option has no default to show. @param shown [80],
 * out. */
static void default_text(const cli_option *option, char *shown)
{
    char text[64];
    const gbs_option *run = option->kind == CLI_RUN ? cli_library_option(option) : NULL;
    shown[0] = '\0';
    if (strstr(cli_option_help(option), "unset: ") != NULL || (run != NULL && run->unset != NULL) ||
        strstr(cli_option_help(option), "(required)") != NULL) {
        return;
    }
    if (run != NULL && run->kind != GBS_OPTION_KIND_TEXT) {
        library_default(option, text);
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

/* Prints a text in lines that end before column 80 and break at blanks. All lines except the first
 * start at column 28. */
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

/* Writes the placeholder of the value in the left column. The word NAME replaces a list of choices
 * that is too long. */
static void value_text(const cli_option *option, const char *choices, char unit[CLI_UNIT_SIZE + 1])
{
    const int bare = option->kind == CLI_UINT || option->kind == CLI_REAL;
    const int named = option->unit[0] >= 'A' && option->unit[0] <= 'Z';
    (void)snprintf(unit, CLI_UNIT_SIZE + 1, "%s%s", option->kind == CLI_FLAG ? "" : " ",
                   option->kind == CLI_FLAG         ? ""
                   : strlen(choices) > MANY_CHOICES ? "NAME"
                   : !bare || named                 ? choices
                   : option->kind == CLI_UINT       ? "N"
                                                    : "X");
}

/* Writes a condition in words for the help, such as "; with --method pcd", or " or --probes" for an
 * alternative to the previous condition. Writes nothing if the verb cannot meet the condition, or
 * if the option's help text already states the condition. @param at [length] the condition, such as
 * "method = pcd" or "no cases". @param text [size]. */
static void need_text(const char *at, size_t length, const cli_verb *verb, char *text, size_t size)
{
    const int none = strncmp(at, "no ", 3) == 0;
    const int bare = none ? 3 : 0;
    const size_t end = strcspn(at + bare, " ,;") + (size_t)bare;
    const int values = end < length ? (int)(length - end) - 2 : 0; /* the values follow " = " */
    const size_t used = strlen(text);
    char name[64];
    (void)snprintf(name, sizeof name, "%.*s", (int)end - bare, at + bare);
    if (cli_find_option(name, verb) != NULL && strncmp(at + end, " has", 4) != 0) {
        (void)snprintf(text + used, size - used, "%s--%s%.*s",
                       strstr(text, none ? "; without" : "; with ") == NULL
                           ? none ? "; without " : "; with "
                       : none || at[-2] == ',' ? " or "
                                               : ", ",
                       name, values, at + end + (values > 0 ? 2 : 0));
    }
}

/* Writes all conditions of an option. @param text [size], out. */
static void needs_text(const cli_option *option, const cli_verb *verb, char *text, size_t size)
{
    text[0] = '\0';
    for (const char *at = option->needs; *at != '\0'; at += strspn(at, ",; ")) {
        const size_t length = strcspn(at, ",;");
        need_text(at, length, verb, text, size);
        at += length;
    }
}

/* Writes the help text of the table, the conditions of the option, the behaviour if the option is
 * unset, and the choices if they were not listed yet. */
static void full_text(const cli_option *option, const cli_verb *verb, const char *choices,
                      char text[512])
{
    const gbs_option *run = option->kind == CLI_RUN ? cli_library_option(option) : NULL;
    const int unset = run != NULL && run->unset != NULL;
    const int many = strlen(choices) > MANY_CHOICES;
    char shown[80];
    char needs[256];
    default_text(option, shown);
    needs_text(option, verb, needs, sizeof needs);
    (void)snprintf(text, 512, "%s%s%s%s%s%s", cli_option_help(option), needs,
                   unset ? "; unset: " : "", unset ? run->unset : "", shown, many ? ": " : "");
    for (const char *at = many ? choices : ""; *at != '\0' && strlen(text) < 480; at++) {
        const size_t end = strlen(text);
        (void)snprintf(text + end, 512 - end, *at == '|' ? ", " : "%c", *at);
    }
}

static void print_option(const cli_option *option, const cli_verb *verb, int first_screen)
{
    char unit[CLI_UNIT_SIZE + 1];
    char choices[CLI_UNIT_SIZE];
    char left[CLI_UNIT_SIZE + 64];
    char text[512];
    const int brief = first_screen && option->brief[0] != '\0';
    cli_option_unit(option, choices);
    value_text(option, choices, unit);
    (void)snprintf(left, sizeof left, "  %c%c --%s%s%s", option->letter != 0 ? '-' : ' ',
                   option->letter != 0 ? option->letter : ' ', option->name,
                   brief && option->short_unit[0] != '\0' ? " " : "",
                   brief ? option->short_unit : unit);
    if (strlen(left) < 28) {
        (void)printf("%-28s", left);
    } else {
        (void)printf("%s\n%28s", left, "");
    }
    if (brief) {
        char shown[80];
        default_text(option, shown);
        (void)snprintf(text, sizeof text, "%s%s", option->brief,
                       strstr(option->brief, "unset: ") == NULL ? shown : "");
    } else {
        full_text(option, verb, choices, text);
    }
    print_wrapped(text);
    (void)printf("\n");
}

static int has_options(cli_topic topic, const cli_verb *verb)
{
    size_t at = 0;
    return cli_topic_next(topic, verb, &at) != NULL;
}

static void print_topic(const cli_verb *verb, cli_topic topic, int brief)
{
    size_t at = 0;
    const int generates = cli_kind_behind("generate", verb) != NULL;
    if (has_options(topic, verb)) {
        (void)printf("%s:\n",
                     topic == CLI_TOPIC_QUESTION && generates ? "The model" : topics[topic].title);
    }
    for (const cli_option *option; (option = cli_topic_next(topic, verb, &at)) != NULL;) {
        print_option(option, verb, brief);
    }
}

/* Prints the lines of the examples, or only the first line that uses the verb itself. */
static void print_examples(const cli_verb *verb, int all)
{
    char own[64];
    (void)snprintf(own, sizeof own, "gibbsite %s ", verb->name);
    const char *at = all ? verb->example : strstr(verb->example, own);
    (void)printf("Example:\n");
    do {
        const int length = (int)strcspn(at, "\n");
        (void)printf("  %.*s\n", length, at);
        at += length + 1;
    } while (all && *at != '\0');
}

static void print_usage(const cli_verb *verb)
{
    (void)printf("usage: gibbsite %s [options]%s%s\n%c%s.\n", verb->name,
                 verb->n_operands != 0 ? " " : "", verb->operands,
                 verb->what[0] >= 'a' ? verb->what[0] - 'a' + 'A' : verb->what[0], verb->what + 1);
}

/* Prints the topics that have a page of their own, as "gibbsite help VERB scan|draw|input|all". */
static void print_more(const cli_verb *verb)
{
    const char *between = "";
    (void)printf("More: gibbsite help %s ", verb->name);
    for (cli_topic topic = CLI_N_FIRST_TOPICS; topic < CLI_TOPIC_LAB; topic++) {
        if (has_options(topic, verb)) {
            (void)printf("%s%s", between, topics[topic].word);
            between = "|";
        }
    }
    (void)printf("%sall\n", between);
}

/* Prints the first screen: the options that matter. */
static void print_first_screen(const cli_verb *verb)
{
    print_usage(verb);
    for (cli_topic topic = 0; topic < CLI_N_FIRST_TOPICS; topic++) {
        print_topic(verb, topic, 1);
    }
    print_examples(verb, 0);
    print_more(verb);
}

static void print_all(const cli_verb *verb)
{
    print_usage(verb);
    (void)printf("%s%s", verb->notes[0] != '\0' ? "\n" : "", verb->notes);
    for (cli_topic topic = 0; topic < CLI_TOPIC_LAB; topic++) {
        (void)printf("%s", has_options(topic, verb) ? "\n" : "");
        print_topic(verb, topic, 0);
    }
    if (has_options(CLI_TOPIC_LAB, verb)) {
        (void)printf("\nFor experiments: gibbsite help %s lab\n", verb->name);
    }
    (void)printf("\n");
    print_examples(verb, 1);
}

static int print_page(const cli_verb *verb, const char *page)
{
    if (page == NULL) {
        print_first_screen(verb);
        return CLI_DONE;
    }
    if (strcmp(page, "all") == 0) {
        print_all(verb);
        return CLI_DONE;
    }
    for (cli_topic topic = CLI_N_FIRST_TOPICS; topic < CLI_N_TOPICS; topic++) {
        if (strcmp(page, topics[topic].word) == 0 && has_options(topic, verb)) {
            print_usage(verb);
            (void)printf("\n");
            print_topic(verb, topic, 0);
            return CLI_DONE;
        }
    }
    return cli_error(CLI_USAGE, "'%s' has no help on '%s'; type 'gibbsite help %s'", verb->name,
                     page, verb->name);
}

int cli_help_verb(const char *name, const char *page)
{
    int status = CLI_DONE;
    int n_shown = 0;
    for (size_t i = 0; i < cli_n_verbs && status == CLI_DONE; i++) {
        if (strcmp(cli_verbs[i]->name, name) == 0) {
            n_shown++;
            status = print_page(cli_verbs[i], page);
        }
    }
    if (n_shown == 0 && page == NULL) { /* for "generate" and "learn", list the kinds */
        (void)printf("usage: gibbsite %s KIND [options]\nKIND is one of:\n", name);
        for (size_t i = 0; i < cli_n_verbs; i++) {
            const char *kind = cli_kind_behind(name, cli_verbs[i]);
            if (kind != NULL) {
                (void)printf("  %-12s %s\n", kind, cli_verbs[i]->what);
            }
        }
        (void)printf("More: gibbsite help %s KIND\n", name);
    }
    return status == CLI_DONE ? cli_flush(stdout) : status;
}
