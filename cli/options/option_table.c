/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the options of verbs, and writes the placeholders of their values for help and messages. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

/* Formats that the program writes. */
const char cli_model_formats[] =
#define TARGET_TEXT(name)                              "|" name
#define TARGET_BYTES(name)                             "|" name
#define TARGET_FILES(name)                             ""
#define TARGET_DRAWING(name)                           "|" name
#define TARGET_READING(name)                           ""
#define GBS_FORMAT(id, name, endings, what, form, ...) TARGET_##form(name)
#include "gibbsite/formats.def"
    ;

/* Formats that the program reads. */
const char cli_source_formats[] =
#define SOURCE_TEXT(name)                              "|" name
#define SOURCE_BYTES(name)                             "|" name
#define SOURCE_FILES(name)                             "|" name
#define SOURCE_DRAWING(name)                           ""
#define SOURCE_READING(name)                           "|" name
#define GBS_FORMAT(id, name, endings, what, form, ...) SOURCE_##form(name)
#include "gibbsite/formats.def"
    ;

int cli_is_verb(const cli_verb *verb, const char *name)
{
    return strcmp(verb->name, name) == 0;
}

const char *cli_verb_kind(const cli_verb *verb)
{
    const char *blank = strchr(verb->name, ' ');
    return blank != NULL ? blank + 1 : NULL;
}

const char *cli_kind_behind(const char *word, const cli_verb *verb)
{
    const size_t n = strlen(word);
    return strncmp(verb->name, word, n) == 0 && verb->name[n] == ' ' ? verb->name + n + 1 : NULL;
}

int cli_group(size_t i, char *word)
{
    const char *kind = cli_verb_kind(cli_verbs[i]);
    if (kind == NULL) {
        return 0;
    }
    (void)snprintf(word, 32, "%.*s", (int)(kind - cli_verbs[i]->name) - 1, cli_verbs[i]->name);
    for (size_t k = 0; k < i; k++) {
        if (cli_kind_behind(word, cli_verbs[k]) != NULL) {
            return 0;
        }
    }
    return 1;
}

const cli_option *cli_find_option(const char *name, const cli_verb *verb)
{
    for (size_t i = 0; i < verb->n_options; i++) {
        if (strcmp(verb->options[i].name, name) == 0) {
            return &verb->options[i];
        }
    }
    return NULL;
}

const gbs_option *cli_library_option(const cli_option *option)
{
    return option->question != NULL
               ? gbs_question_find_option(gbs_question_find(option->question), option->name)
           : option->of_run ? gbs_option_find(option->name)
                            : NULL;
}

const char *cli_option_help(const cli_option *option)
{
    const gbs_option *known = cli_library_option(option);
    return known != NULL ? known->help : option->help;
}

void cli_option_unit(const cli_option *option, char *text)
{
    const gbs_option *run = option->kind == CLI_RUN ? cli_library_option(option) : NULL;
    const char *unit = option->unit;
    if (run != NULL && run->kind == GBS_OPTION_KIND_CHOICE) {
        static const char FILE_SCAN[] =
            "sequence"; /* for this choice of --scan the user types the name of a file instead */
        const char *file = strstr(run->choices, FILE_SCAN);
        const int before = file == NULL ? (int)strlen(run->choices) : (int)(file - run->choices);
        (void)snprintf(text, CLI_UNIT_SIZE, "%.*s%s%s", before, run->choices,
                       file == NULL ? "" : "FILE", file == NULL ? "" : file + strlen(FILE_SCAN));
        return;
    }
    if (run != NULL) {
        unit = run->kind == GBS_OPTION_KIND_SIZE            ? "SIZE"
               : run->kind == GBS_OPTION_KIND_DURATION      ? "TIME"
               : run->unit[0] >= 'A' && run->unit[0] <= 'Z' ? run->unit
               : run->kind == GBS_OPTION_KIND_COUNT         ? "N"
                                                            : "X";
    }
    const int word = run != NULL && run->word != NULL && run->unset == NULL;
    const int off = run != NULL && run->off != NULL;
    (void)snprintf(text, CLI_UNIT_SIZE, "%s%s%s%s%s", unit, word ? "|" : "", word ? run->word : "",
                   off ? "|" : "", off ? run->off : "");
}

int cli_option_unset_default(const cli_option *option)
{
    return strstr(option->help, "unset: ") != NULL;
}

int cli_choice(const char *choices, unsigned k, char *text)
{
    for (; k > 0; k--) {
        choices = strchr(choices, '|');
        if (choices == NULL) {
            return 0;
        }
        choices++;
    }
    size_t n = strcspn(choices, "|");
    if (n == 0 || n >= 64) {
        return 0;
    }
    memcpy(text, choices, n);
    text[n] = '\0';
    return 1;
}
