/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite completion bash|zsh|fish: a script that completes verbs, options and their choices,
 * written from the tables of verbs and options. Elsewhere shells complete names of files. */
#include <string.h>

#include "cli.h"
#include "topics.h"

/* The choices of an option with blanks between them, "" if it takes no choice.
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
        /* FILE, N, ring:S and the like stand for what is typed */
        if (*at >= 'a' && *at <= 'z' && memchr(at, ':', (size_t)length) == NULL) {
            n += (size_t)snprintf(text + n, CLI_UNIT_SIZE - n, "%s%.*s", n > 0 ? " " : "", length,
                                  at);
        }
        at += length + (at[length] != '\0');
    }
}

/* What an option does, to the first pause, without characters that mean something to a shell. */
static void describe(const cli_verb *verb, const cli_option *option)
{
    const gbs_option *run = option->kind == CLI_RUN ? gbs_option_find(option->name) : NULL;
    const cli_brief *brief = cli_option_brief(option, verb->id);
    const char *text = brief != NULL ? brief->text : run != NULL ? run->help : option->help;
    for (; *text != '\0' && *text != ';'; text++) {
        const char one[2] = {*text, '\0'};
        (void)printf("%s", strchr("'[]:`$\\\"", *text) != NULL ? "" : one);
    }
}

/* The word after "generate", NULL for other verbs. */
static const char *kind_of(const cli_verb *verb)
{
    const char *blank = strchr(verb->name, ' ');
    return blank != NULL ? blank + 1 : NULL;
}

/* Verbs, or the kinds of "generate", with blanks between. */
static void put_names(int kinds)
{
    for (size_t i = 0; i < cli_n_verbs; i++) {
        const char *kind = kind_of(&cli_verbs[i]);
        if ((kind != NULL) == kinds) {
            (void)printf("%s ", kinds ? kind : cli_verbs[i].name);
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
             (option = cli_topic_next((cli_topic)topic, verb->id, &at)) != NULL;) {
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
                 "    if [ \"$verb\" = generate ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
                 "        verb=\"generate ${COMP_WORDS[2]}\"\n"
                 "    fi\n"
                 "    if [ \"$COMP_CWORD\" = 1 ]; then verb=; fi\n"
                 "    case $verb in\n"
                 "    '') words='");
    put_names(0);
    (void)printf("%s", "generate help version';;\n    help) words='");
    put_names(0);
    (void)printf("%s", "generate';;\n    generate) words='");
    put_names(1);
    (void)printf("%s", "';;\n");
    for (size_t i = 0; i < cli_n_verbs; i++) {
        (void)printf("    '%s')\n        case $before in\n", cli_verbs[i].name);
        for_each_option(&cli_verbs[i], put_bash_value);
        (void)printf("%s", "        *) case $cur in -*) words='");
        for_each_option(&cli_verbs[i], put_bash_name);
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
    describe(verb, option);
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
    put_names(0);
    (void)printf("%s", "generate help version; return; fi\n"
                       "    if [[ $verb == help && $CURRENT == 3 ]]; then compadd ");
    put_names(0);
    (void)printf("%s", "generate; return; fi\n"
                       "    if [[ $verb == generate && $CURRENT == 3 ]]; then compadd ");
    put_names(1);
    (void)printf("%s", "; return; fi\n"
                       "    if [[ $verb == generate ]]; then\n"
                       "        verb=\"generate $words[3]\"; shift words; (( CURRENT-- ))\n"
                       "    fi\n"
                       "    shift words; (( CURRENT-- ))\n"
                       "    case $verb in\n");
    for (size_t i = 0; i < cli_n_verbs; i++) {
        (void)printf("    '%s')\n        _arguments", cli_verbs[i].name);
        for_each_option(&cli_verbs[i], put_zsh_option);
        (void)printf("%s", " \\\n            '*:file:_files';;\n");
    }
    (void)printf("%s", "    esac\n}\n"
                       "if [[ $funcstack[1] == _gibbsite ]]; then _gibbsite \"$@\"; "
                       "else compdef _gibbsite gibbsite; fi\n");
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void put_fish_option(const cli_verb *verb, const cli_option *option)
{
    char choices[CLI_UNIT_SIZE];
    const char *kind = kind_of(verb);
    choices_of(option, choices);
    (void)printf("complete -c gibbsite -n '__fish_seen_subcommand_from %s%s' -l %s -d '",
                 kind != NULL ? "generate; and __fish_seen_subcommand_from " : "",
                 kind != NULL ? kind : verb->name, option->name);
    describe(verb, option);
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
        const char *kind = kind_of(&cli_verbs[i]);
        (void)printf("complete -c gibbsite -n %s -f -a %s -d '%s'\n",
                     kind != NULL ? "'__fish_seen_subcommand_from generate'"
                                  : "__fish_use_subcommand",
                     kind != NULL ? kind : cli_verbs[i].name, cli_verbs[i].what);
        for_each_option(&cli_verbs[i], put_fish_option);
    }
    (void)printf("%s",
                 "complete -c gibbsite -n __fish_use_subcommand -f -a 'generate help version'\n"
                 "complete -c gibbsite -n '__fish_seen_subcommand_from help' -f -a '");
    put_names(0);
    (void)printf("%s", "'\n");
}

int cli_completion(cli_arguments *arguments)
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
