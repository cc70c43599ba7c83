/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite completion bash|zsh|fish: writes a script that completes verbs, options and their
 * choices, made from the tables of verbs and options. In all other places shells complete file
 * names. */
#include <string.h>

#include "cli/cli.h"
#include "options/rows.h"

/* Lists the choices of an option with blanks between them, "" if the option has no choices.
 * @param text [CLI_UNIT_SIZE], out. */
static void choices_of(const cli_option *option, char *text)
{
    char unit[CLI_UNIT_SIZE];
    size_t n = 0;
    text[0] = '\0';
    cli_option_unit(option, unit);
    if (option->kind == CLI_FLAG || option->kind == CLI_LIST || strchr(unit, '|') == NULL) {
        return;
    }
    for (const char *at = unit; *at != '\0';) {
        const int length = (int)strcspn(at, "|");
        /* FILE, N, ring:S and the like are placeholders, not words to complete */
        if (*at >= 'a' && *at <= 'z' && memchr(at, ':', (size_t)length) == NULL) {
            n += (size_t)snprintf(text + n, CLI_UNIT_SIZE - n, "%s%.*s", n > 0 ? " " : "", length,
                                  at);
        }
        at += length + (at[length] != '\0');
    }
}

/* Prints the help of an option up to the first ';', without characters that have a meaning in
 * shells. */
static void describe(const cli_option *option)
{
    const char *text = option->brief[0] != '\0' ? option->brief : cli_option_help(option);
    for (; *text != '\0' && *text != ';'; text++) {
        const char one[2] = {*text, '\0'};
        (void)printf("%s", strchr("'[]:`$\\\"", *text) != NULL ? "" : one);
    }
}

/* Prints the first words of the verbs, separated by blanks. If `word` is given, prints the kinds
 * that may follow `word` instead. */
static void put_names(const char *word)
{
    char group[32];
    for (size_t i = 0; i < cli_n_verbs; i++) {
        const char *shown = word != NULL          ? cli_kind_behind(word, cli_verbs[i])
                            : cli_group(i, group) ? group
                            : cli_verb_kind(cli_verbs[i]) == NULL ? cli_verbs[i]->name
                                                                  : NULL;
        (void)printf("%s%s", shown != NULL ? shown : "", shown != NULL ? " " : "");
    }
}

/* Prints the words that take a kind, such as "generate|learn". */
static void put_groups(const char *before_each, const char *between)
{
    char group[32];
    int n = 0;
    for (size_t i = 0; i < cli_n_verbs; i++) {
        if (cli_group(i, group)) {
            (void)printf("%s%s%s", n++ > 0 ? between : "", before_each, group);
        }
    }
}

/* Calls write for each option of a verb, in the order of the help. */
static void for_each_option(const cli_verb *verb,
                            void (*write)(const cli_verb *, const cli_option *))
{
    for (unsigned topic = 0; topic < CLI_N_TOPICS; topic++) {
        size_t at = 0;
        for (const cli_option *option;
             (option = cli_topic_next((cli_topic)topic, verb, &at)) != NULL;) {
            write(verb, option);
        }
    }
}

/* ---- bash ------------------------------------------------------------------------------------ */

static void put_bash_value(const cli_verb *verb, const cli_option *option)
{
    char choices[CLI_UNIT_SIZE];
    (void)verb;
    choices_of(option, choices);
    if (option->kind != CLI_FLAG) {
        (void)printf("        --%s) words='%s';;\n", option->name, choices);
    }
}

static void put_bash_name(const cli_verb *verb, const cli_option *option)
{
    (void)verb;
    (void)printf("--%s ", option->name);
}

static void put_bash(void)
{
    (void)printf("%s",
                 "_gibbsite() {\n"
                 "    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                 "    local verb=${COMP_WORDS[1]} words=\n"
                 "    if [ \"$cur\" = = ]; then cur=; fi\n"
                 "    if [ \"$before\" = = ]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                 "    case $verb in help|");
    put_groups("", "|");
    (void)printf(
        "%s", ")\n"
              "        if [ \"$COMP_CWORD\" -gt 2 ]; then verb=\"$verb ${COMP_WORDS[2]}\"; fi;;\n"
              "    esac\n"
              "    if [ \"$COMP_CWORD\" = 1 ]; then verb=; fi\n"
              "    case $verb in\n"
              "    '') words='");
    put_names(NULL);
    (void)printf("%s", "help version';;\n    help) words='");
    put_names(NULL);
    (void)printf("%s", "';;\n");
    char group[32];
    for (size_t i = 0; i < cli_n_verbs; i++) {
        if (cli_group(i, group)) {
            (void)printf("    %s|'help %s') words='", group, group);
            put_names(group);
            (void)printf("%s", "';;\n");
        }
    }
    for (size_t i = 0; i < cli_n_verbs; i++) {
        (void)printf("    '%s')\n        case $before in\n", cli_verbs[i]->name);
        for_each_option(cli_verbs[i], put_bash_value);
        (void)printf("%s", "        *) case $cur in -*) words='");
        for_each_option(cli_verbs[i], put_bash_name);
        (void)printf("%s", "';; esac;;\n        esac;;\n");
    }
    (void)printf("%s", "    esac\n"
                       "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
                       "}\n"
                       "complete -o default -F _gibbsite gibbsite\n");
}

/* ---- zsh ------------------------------------------------------------------------------------- */

static void put_zsh_option(const cli_verb *verb, const cli_option *option)
{
    char choices[CLI_UNIT_SIZE];
    (void)verb;
    choices_of(option, choices);
    (void)printf(" \\\n            '%s--%s[", option->kind == CLI_LIST ? "*" : "", option->name);
    describe(option);
    (void)printf("%s", "]");
    if (option->kind != CLI_FLAG) {
        (void)printf(":value:%s%s%s", choices[0] != '\0' ? "(" : "_files", choices,
                     choices[0] != '\0' ? ")" : "");
    }
    (void)printf("%s", "'");
}

static void put_zsh(void)
{
    (void)printf("%s", "#compdef gibbsite\n"
                       "_gibbsite() {\n"
                       "    local verb=$words[2]\n"
                       "    if (( CURRENT == 2 )); then compadd ");
    put_names(NULL);
    (void)printf("%s", "help version; return; fi\n"
                       "    if [[ $verb == help && $CURRENT == 3 ]]; then compadd ");
    put_names(NULL);
    (void)printf("%s", "; return; fi\n");
    char group[32];
    for (size_t i = 0; i < cli_n_verbs; i++) {
        if (cli_group(i, group)) {
            (void)printf(
                "    if [[ $words[CURRENT-1] == %s && ( $CURRENT == 3 || $verb == help ) ]]; "
                "then compadd ",
                group);
            put_names(group);
            (void)printf("%s", "; return; fi\n");
        }
    }
    (void)printf("%s", "    if [[ ");
    put_groups("$verb == ", " || ");
    (void)printf("%s", " ]]; then\n"
                       "        verb=\"$verb $words[3]\"; shift words; (( CURRENT-- ))\n"
                       "    fi\n"
                       "    shift words; (( CURRENT-- ))\n"
                       "    case $verb in\n");
    for (size_t i = 0; i < cli_n_verbs; i++) {
        (void)printf("    '%s')\n        _arguments", cli_verbs[i]->name);
        for_each_option(cli_verbs[i], put_zsh_option);
        (void)printf("%s", " \\\n            '*:file:_files';;\n");
    }
    (void)printf("%s", "    esac\n}\n"
                       "if [[ $funcstack[1] == _gibbsite ]]; then _gibbsite \"$@\"; "
                       "else compdef _gibbsite gibbsite; fi\n");
}

/* ---- fish ------------------------------------------------------------------------------------ */

/* Prints, in the language of fish, the condition that the words of a verb were typed. */
static void put_fish_verb(const cli_verb *verb)
{
    const char *kind = cli_verb_kind(verb);
    const int first = kind == NULL ? (int)strlen(verb->name) : (int)(kind - verb->name) - 1;
    (void)printf("complete -c gibbsite -n '__fish_seen_subcommand_from %.*s%s%s", first, verb->name,
                 kind != NULL ? "; and __fish_seen_subcommand_from " : "",
                 kind != NULL ? kind : "");
}

static void put_fish_option(const cli_verb *verb, const cli_option *option)
{
    char choices[CLI_UNIT_SIZE];
    choices_of(option, choices);
    put_fish_verb(verb);
    (void)printf("' -l %s -d '", option->name);
    describe(option);
    (void)printf("'");
    if (option->letter != 0) {
        (void)printf(" -s %c", option->letter);
    }
    if (option->kind != CLI_FLAG) {
        (void)printf(choices[0] != '\0' ? " -x -a '%s'" : " -r%s", choices);
    }
    (void)printf("\n");
}

static void put_fish(void)
{
    for (size_t i = 0; i < cli_n_verbs; i++) {
        const cli_verb *verb = cli_verbs[i];
        const char *kind = cli_verb_kind(verb);
        if (kind == NULL) {
            (void)printf("complete -c gibbsite -n __fish_use_subcommand -f -a %s", verb->name);
        } else {
            (void)printf("complete -c gibbsite -n '__fish_seen_subcommand_from %.*s' -f -a %s",
                         (int)(kind - verb->name) - 1, verb->name, kind);
        }
        (void)printf(" -d '%s'\n", verb->what);
        for_each_option(verb, put_fish_option);
    }
    (void)printf(
        "%s", "complete -c gibbsite -n __fish_use_subcommand -f -a 'generate learn help version'\n"
              "complete -c gibbsite -n '__fish_seen_subcommand_from help' -f -a '");
    put_names(NULL);
    (void)printf("%s", "'\n");
}

static int run_completion(cli_arguments *arguments)
{
    static const struct {
        const char *shell;
        void (*put)(void);
    } shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++) {
        if (strcmp(arguments->operand[0], shells[i].shell) == 0) {
            shells[i].put();
            return cli_flush(stdout);
        }
    }
    return cli_error(CLI_USAGE, "completion %s: expected bash, zsh or fish", arguments->operand[0]);
}

/* ---- the row ------------------------------------------------------------------------------ */

static const cli_option options[] = {
#include "gibbsite/questions/completion.def"
};

const cli_verb cli_verb_completion = {
    .name = "completion",
    CLI_TAKES(options),
    .n_operands = 1,
    .operands = "SHELL",
    .what = "completion of verbs and options for a shell",
    .notes = "SHELL is bash, zsh or fish; the script goes to standard output. In bash, type\n"
             "source <(gibbsite completion bash), or put this line into ~/.bashrc; in zsh\n"
             "the same with zsh; in fish, gibbsite completion fish | source.\n",
    .example = "gibbsite completion bash\n",
    .run = run_completion,
};
