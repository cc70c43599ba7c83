/* SPDX-License-Identifier: Apache-2.0 */
/* What people type who come from other programs, or whose hand slipped: what to type instead. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Names of other programs, and ours. The first of ours that a verb has is meant. */
static const struct {
    const char *typed; /* blanks around each */
    const char *ours;
} names[] = {
    {" warmup warm-up tune burnin burn burn-in-sweeps discard ", "burn-in"},
    {" samples ", "samples"},
    {" samples draws iter iters iterations n-iter niter n num-samples n-samples nsamples steps "
     "sweep ",
     "sweeps"},
    {" num-chains n-chains nchains chain ", "chains"},
    {" observe observed observation given evid obs ", "evidence"},
    {" soft-evidence virtual soft ", "likelihood"},
    {" variables vars var columns marginal ", "query"},
    {" csv rows batch case table data ", "cases"},
    {" variables vars var columns query ", "monitor"},
    {" timeout time-limit max-time seconds t ", "time"},
    {" tol tolerance precision eps epsilon error accuracy ", "target-error"},
    {" jobs cores cpus workers parallel num-threads nthreads j ", "threads"},
    {" random-seed random-state rng-seed s ", "seed"},
    {" memory mem max-memory ram ", "memory-limit"},
    {" algorithm engine inference solver ", "method"},
    {" out outfile output-file save ", "output"},
    {" informat input-format type ", "from"},
    {" to output-format outformat fmt ", "format"},
    {" temperature temperatures replicas ", "temper"},
    {" init initial initial-state x0 ", "start"},
    {" size shape ", "grid"},
};

static const struct {
    const char *typed; /* blanks around each */
    const char *ours;
} verbs[] = {
    {" query infer inference posterior mar marginalise marginalize bp gibbs prob joint cases "
     "batch ",
     "marginals"},
    {" mpe mode optimise optimize decode viterbi ", "map"},
    {" pr z partition evidence ln-z loglik ", "logz"},
    {" draw simulate draws samples mcmc ", "sample"},
    {" describe show stats summary print ", "info"},
    {" diff ", "compare"},
    {" translate export ", "convert"},
    {" jt junction-tree ve ", "exact"},
};

const char *cli_our_verb(const char *typed)
{
    char word[64];
    (void)snprintf(word, sizeof word, " %.60s ", typed);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strstr(verbs[i].typed, word) != NULL) {
            return verbs[i].ours;
        }
    }
    return NULL;
}

const char *cli_our_name(unsigned verb, const char *typed)
{
    char word[64];
    (void)snprintf(word, sizeof word, " %.60s ", typed);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strstr(names[i].typed, word) != NULL && cli_find_option(names[i].ours, verb) != NULL) {
            return names[i].ours;
        }
    }
    return NULL;
}

/* ---- probabilities as they are written on paper ---------------------------------------------- */

/* Copies text[0 .. n) without the blanks at its ends and after commas. */
static void trim(char *to, size_t size, const char *text, size_t n)
{
    size_t used = 0;
    for (size_t i = 0; i < n && used + 1 < size; i++) {
        const int first = used == 0 || to[used - 1] == ',';
        if (text[i] != ' ' || !first) {
            to[used++] = text[i];
        }
    }
    while (used > 0 && to[used - 1] == ' ') {
        used--;
    }
    to[used] = '\0';
}

/* "a=x,b=y" becomes "a,b". */
static void drop_states(char *asked)
{
    char *to = asked;
    int in_state = 0;
    for (const char *from = asked; *from != '\0'; from++) {
        in_state = *from == ',' ? 0 : in_state || *from == '=';
        if (!in_state && (*from != ' ' || from[1] != '=')) {
            *to++ = *from;
        }
    }
    *to = '\0';
}

/* As a shell needs it. */
static const char *quote_of(const char *text)
{
    return strpbrk(text, " |!'\"$&;()<>*?#`\\") != NULL ? "'" : "";
}

int cli_probability_typed(const char *option, const char *text, int states)
{
    char asked[256];
    char given[256] = "";
    const char *from = text + strspn(text, " ");
    const size_t before = strcspn(from, "(");
    const int called = (*from == 'P' || *from == 'p') && before <= 2 && from[before] == '(';
    from += called ? before + 1 : 0;
    size_t n = strlen(from);
    if (called && strrchr(from, ')') != NULL) {
        n = (size_t)(strrchr(from, ')') - from);
    }
    const char *bar = memchr(from, '|', n);
    trim(asked, sizeof asked, from, bar == NULL ? n : (size_t)(bar - from));
    if (bar != NULL) {
        trim(given, sizeof given, bar + 1, n - (size_t)(bar + 1 - from));
    }
    const int stated = !states && strchr(asked, '=') != NULL;
    if (!called && bar == NULL && !stated) {
        return CLI_DONE;
    }
    if (!states) {
        drop_states(asked);
    }
    if (strcmp(option, "--query") == 0 && !states && strchr(asked, ',') != NULL && called) {
        option = "--joint";
    }
    const char *quote = quote_of(given);
    const char *unsaid = strchr(given, '=') == NULL ? "=STATE" : "";
    if (given[0] == '\0') {
        return cli_error(CLI_USAGE, "'%s': expected %s: type %s %s%s%s%s", text,
                         states ? "a variable and its state" : "names of variables alone", option,
                         quote_of(asked), asked, quote_of(asked),
                         stated ? ", which shows all states" : "");
    }
    return cli_error(CLI_USAGE,
                     "'%s': what is observed has an option of its own: type %s %s%s%s "
                     "-e %s%s%s%s",
                     text, option, quote_of(asked), asked, quote_of(asked), quote, given, unsaid,
                     quote);
}

/* ---- what a verb has no use for -------------------------------------------------------------- */

int cli_option_without_use(unsigned verb, const char *option)
{
    char word[64];
    (void)snprintf(word, sizeof word, " %.60s ", option);
    if ((verb & CLI_VERB_MAP) != 0 && strstr(" query joint monitor variables ", word) != NULL) {
        return cli_error(CLI_USAGE,
                         "'map' has no option '--%s': its state is that of all variables together, "
                         "so leave it out; of some of them alone: 'gibbsite help uai', task MMAP",
                         option);
    }
    return CLI_DONE;
}

/* ---- operands and evidence ------------------------------------------------------------------- */

int cli_unexpected_operand(const cli_verb *verb, const cli_arguments *arguments)
{
    const char *text = arguments->operand[verb->n_operands];
    const char *equals = strrchr(text, '=');
    const char *bar = strchr(text, '|');
    const int asks = cli_find_option("query", verb->id) != NULL;
    if (asks && (strchr(text, '(') != NULL || (bar != NULL && equals != NULL && bar < equals)) &&
        cli_probability_typed("--query", text, verb->id == CLI_VERB_SENSITIVITY) != CLI_DONE) {
        return CLI_USAGE;
    }
    if (asks && verb->n_operands > 0 && strpbrk(text, "=./") == NULL && access(text, F_OK) != 0) {
        return cli_error(CLI_USAGE, "%s: unexpected '%s'; to ask for it, type --query %s",
                         verb->name, text, text);
    }
    if (strchr(text, '=') != NULL && cli_find_option("evidence", verb->id) != NULL) {
        return cli_error(CLI_USAGE, "%s: unexpected '%s'; to observe it, type -e '%s'", verb->name,
                         text, text);
    }
    if (verb->n_operands > 0 && cli_find_option("output", verb->id) != NULL &&
        access(text, F_OK) != 0) {
        return cli_error(CLI_USAGE, "%s: unexpected '%s'; to write this file, type -o %s",
                         verb->name, text, text);
    }
    const char *extension = strrchr(text, '.');
    if (extension != NULL && strcmp(extension, ".csv") == 0 &&
        cli_find_option("cases", verb->id) != NULL) {
        return cli_error(CLI_USAGE, "%s: unexpected '%s'; to answer its rows, type --cases %s",
                         verb->name, text, text);
    }
    return cli_error(CLI_USAGE, "%s: unexpected '%s'; see 'gibbsite help %s'", verb->name, text,
                     verb->name);
}

int cli_not_evidence(const gbs_model *model, const char *text)
{
    gbs_error unknown = {GBS_OK, ""};
    uint32_t variable = 0;
    char name[256];
    const size_t length = strcspn(text, ":");
    if (strcmp(text, "-") == 0 || access(text, F_OK) == 0) {
        return CLI_DONE;
    }
    (void)snprintf(name, sizeof name, "%.*s", (int)(length < 255 ? length : 255), text);
    const int known = gbs_model_find_variable(model, name, &variable, &unknown) >= 0;
    if (known && text[length] == ':' && text[length + 1] != '\0') {
        return cli_error(CLI_USAGE, "-e %s: expected '=' after %s: type -e '%s=%s'", text, name,
                         name, text + length + 1);
    }
    if (known) {
        const char *state = gbs_model_state_label(model, variable, 0);
        return cli_error(CLI_USAGE, "-e %s: expected a state of %s: type -e '%s=%s' or the like",
                         text, name, name, state != NULL ? state : "0");
    }
    return cli_error(CLI_INPUT,
                     "-e %s: there is no such file, and %s; expected NAME=STATE or a file", text,
                     unknown.message);
}
