/* SPDX-License-Identifier: Apache-2.0 */
/* Suggests what to type instead of misspelt words and words of other programs. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

/* Names of verbs and options in other programs, with the names in this program. If there are
 * several names, the first that the verb has is suggested. */
static const struct {
    const char *typed; /* words, each with a blank before and after it */
    const char *ours;
} names[] = {
    {" warmup warm-up tune burnin burn burn-in-sweeps discard ", "burn-in"},
    {" samples ", "samples"},
    {" samples draws iter iters iterations n-iter niter n num-samples n-samples nsamples steps "
     "sweep max-iter max-iters max-iterations ",
     "sweeps"},
    {" num-chains n-chains nchains chain ", "chains"},
    {" observe observed observation given evid obs condition conditional conditions ", "evidence"},
    {" soft-evidence virtual soft ", "likelihood"},
    {" variables vars var columns marginal ", "query"},
    {" target targets outcome hypothesis ", "query"},
    {" rows batch case table data ", "cases"},
    {" variables vars var columns query ", "monitor"},
    {" timeout time-limit max-time seconds t ", "time"},
    {" tol tolerance precision eps epsilon error accuracy ", "target-error"},
    {" jobs n-jobs cores cpus workers parallel num-threads nthreads j ", "threads"},
    {" random-seed random-state rng-seed s ", "seed"},
    {" memory mem max-memory ram ", "memory-limit"},
    {" algorithm engine inference solver ", "method"},
    {" out outfile output-file save ", "output"},
    {" informat input-format type ", "from"},
    {" to output-format outformat fmt f ", "format"},
    {" replicas tempering parallel-tempering ", "temper"},
    {" periodic pbc periodic-boundary toroidal wrap ", "torus"},
    {" j J coupling-constant interaction ", "coupling"},
    {" h H magnetic-field external-field ", "field"},
    {" init initial initial-state x0 ", "start"},
    {" size shape l L lattice ", "grid"},
    {" alpha ess equivalent-sample-size pseudocount pseudocounts pseudo-counts smoothing laplace "
     "bdeu "
     "dirichlet prior-type ",
     "prior"},
    {" svg picture-of-network draw-network ", "drawing"},
    {" test test-data validation holdout hold-out ", "held-out"},
};

static const struct {
    const char *typed; /* words, each with a blank before and after it */
    const char *ours;
} verbs[] = {
    {" query infer inference posterior mar marginalise marginalize bp gibbs prob probability "
     "conditional p variable-elimination belief-propagation ",
     "marginals"},
    {" joint ", "marginals --joint"},
    {" cases batch predict classify ", "marginals --cases"},
    {" mpe mode anneal annealing optimise optimize decode viterbi map-query argmax ", "map"},
    {" train estimate em mle learn-parameters ", "fit"},
    {" tornado whatif what-if ", "sensitivity"},
    {" pr z partition evidence ln-z loglik count counting wmc model-count ", "logz"},
    {" sat solve satisfy ", "map"},
    {" ising lattice spins ", "generate ising"},
    {" draw simulate draws samples mcmc ", "sample"},
    {" describe show stats summary print ", "info"},
    {" diff ", "compare"},
    {" translate export render ", "convert"},
    {" jt junction-tree ve ", "exact"},
};

/* Values of options of other programs, and the names of these values in this program. */
static const struct {
    const char *option;
    const char *typed; /* words, each with a blank before and after it */
    const char *ours;
} values[] = {
    {"method", " gibbs mcmc sampling monte-carlo metropolis ", "sample"},
    {"method",
     " junction-tree jt ve variable-elimination elimination enumeration brute-force bnb viterbi ",
     "exact"},
    {"method", " variational vi meanfield ", "mean-field"},
    {"method", " lbp belief belief-propagation sum-product loopy ", "bp"},
};

/* Writes a word in the form of the tables: "n_iter" and "n.iter" become " n-iter ". */
static void as_word(char *word, size_t size, const char *typed)
{
    (void)snprintf(word, size, " %.60s ", typed);
    for (char *at = word; *at != '\0'; at++) {
        *at = (char)(*at == '_' || *at == '.' ? '-' : *at);
    }
}

const char *cli_our_verb(const char *typed)
{
    char word[64];
    as_word(word, sizeof word, typed);
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        if (strstr(verbs[i].typed, word) != NULL) {
            return verbs[i].ours;
        }
    }
    return NULL;
}

const char *cli_our_name(const cli_verb *verb, const char *typed)
{
    char word[64];
    as_word(word, sizeof word, typed);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strstr(names[i].typed, word) != NULL && cli_find_option(names[i].ours, verb) != NULL) {
            return names[i].ours;
        }
    }
    return NULL;
}

const char *cli_our_value(const char *option, const char *typed)
{
    char word[64];
    as_word(word, sizeof word, typed);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        if (strcmp(values[i].option, option) == 0 && strstr(values[i].typed, word) != NULL) {
            return values[i].ours;
        }
    }
    return NULL;
}

/* ---- probabilities as they are written on paper ---------------------------------------------- */

/* Copies text[0 .. n) without blanks at the beginning, at the end and after commas. */
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

/* Removes the states from a list: "a=x,b=y" becomes "a,b". */
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

/* @return the quote that a shell needs around the text. */
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
    const int stated = !states && asked[0] != '=' &&
                       strchr(asked, '=') != NULL; /* "=3" is a name and not a state */
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

static const struct {
    const char
        *verb; /* name of the verb; NULL for all verbs that take evidence; "" for all verbs */
    const char *typed; /* words, each with a blank before and after it */
    const char *said;
} without_use[] = {
    {"marginals", " map mpe argmax mode ", "type gibbsite map MODEL"},
    {"marginals", " thin thinning ", "every sweep counts, so that no sweep is left out"},
    {"marginals", " rhat r-hat ess mcse diagnostics ",
     "sampled answers have R-hat, ESS and errors beside the probabilities"},
    {"map", " query joint monitor variables ",
     "its state is that of all variables together, so leave it out; of some of them alone: "
     "'gibbsite help uai', task MMAP"},
    {"map", " cases data csv rows batch ",
     "it answers one case, whose observations are typed with -e"},
    {"map", " top k-best n-best kbest nbest m-best ",
     "it finds one state; 'gibbsite sample' draws others"},
    {"logz", " cases data csv rows batch ",
     "type gibbsite marginals MODEL --cases FILE: its column log_probability is ln P of a row"},
    {"logz", " query joint variables ",
     "ln Z is of all variables together; P of some of them: gibbsite marginals MODEL --query A,B, "
     "or --joint A,B"},
    {"exact", " joint ", "type gibbsite marginals MODEL --method exact --joint A,B"},
    {"exact", " cases data csv rows batch ",
     "type gibbsite marginals MODEL --method exact --cases FILE"},
    {"fit", " data cases dataset csv rows ",
     "the table stands behind the network: type gibbsite fit NETWORK DATA"},
    {"fit", " max-iter max-iters max-iterations n-iter em-iterations ", "type --iterations N"},
    {"learn rbm", " intervals ",
     "weights of hidden units, which can change places or turn over without a change of the "
     "distribution, have no standard errors"},
    {NULL, " do intervene intervention interventions causal ",
     "take the parents of the variable out of MODEL, then observe it with -e"},
#define GBS_ADVICE(words, advice) {"", words, advice},
#include "gibbsite/advice.def"
#undef GBS_ADVICE
};

const char *cli_verb_without_use(const char *typed)
{
    char word[64];
    as_word(word, sizeof word, typed);
    for (size_t i = 0; i < sizeof without_use / sizeof without_use[0]; i++) {
        if ((without_use[i].verb == NULL || without_use[i].verb[0] == '\0') &&
            strstr(without_use[i].typed, word) != NULL) {
            return without_use[i].said;
        }
    }
    return NULL;
}

/* @return the value of the option that was meant by `typed`, or NULL. */
static const char *meant_value(const cli_option *option, const char *name, const char *typed,
                               char choice[64])
{
    char unit[CLI_UNIT_SIZE];
    const char *ours = cli_our_value(name, typed);
    cli_option_unit(option, unit);
    for (unsigned k = 0; cli_choice(unit, k, choice); k++) {
        if (strcmp(choice, ours != NULL ? ours : typed) == 0) {
            return choice;
        }
    }
    return NULL;
}

/* Refuses a value that was typed as an option, such as "--exact" for "--method exact". */
static int value_as_option(const cli_verb *verb, const char *verb_name, const char *typed)
{
    static const char *const options[] = {"format", "method"};
    char choice[64];
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const cli_option *option = cli_find_option(options[i], verb);
        if (option != NULL && meant_value(option, options[i], typed, choice) != NULL) {
            return cli_error(CLI_USAGE, "'%s' has no option '--%s'; type --%s %s%s", verb_name,
                             typed, options[i], choice,
                             strcmp(choice, "csv") == 0 && cli_find_option("cases", verb) != NULL
                                 ? "; for a table of cases, --cases FILE"
                                 : "");
        }
    }
    return CLI_DONE;
}

static int concerns(const char *verb_name, const cli_verb *verb)
{
    return verb_name == NULL      ? cli_find_option("evidence", verb) != NULL
           : verb_name[0] == '\0' ? 1
                                  : strcmp(verb_name, verb->name) == 0;
}

int cli_option_without_use(const cli_verb *verb, const char *verb_name, const char *option)
{
    char word[64];
    as_word(word, sizeof word, option);
    for (size_t i = 0; i < sizeof without_use / sizeof without_use[0]; i++) {
        if (concerns(without_use[i].verb, verb) && strstr(without_use[i].typed, word) != NULL) {
            return cli_error(CLI_USAGE, "'%s' has no option '--%s': %s", verb_name, option,
                             without_use[i].said);
        }
    }
    return value_as_option(verb, verb_name, option);
}

/* ---- operands and evidence ------------------------------------------------------------------- */

int cli_is_table(const char *path)
{
    const char *extension = strrchr(path, '.');
    return extension != NULL && strcmp(extension, ".csv") == 0;
}

/* Refuses another name after the list of an option, as in "--joint rain sprinkler". The message
 * says what to type. */
static int one_name_more(const cli_verb *verb, const cli_arguments *arguments, const char *text)
{
    const char *option = arguments->n_joints > 0 ? "--joint" : "--query";
    const char *list = arguments->n_joints > 0 ? arguments->joint[arguments->n_joints - 1]
                       : cli_is_verb(verb, "sensitivity") ? NULL
                                                          : arguments->query;
    return cli_error(CLI_USAGE, "%s: unexpected '%s'; to ask for it, type %s %s%s%s", verb->name,
                     text, option, list != NULL ? list : "", list != NULL ? "," : "", text);
}

/* Refuses a state after a name without '=', as in "-e rain yes". */
static int stray_state(const cli_verb *verb, const char *name, const char *text)
{
    return cli_error(CLI_USAGE,
                     "%s: unexpected '%s'; what is observed is one word: type -e '%s=%s'",
                     verb->name, text, name, text);
}

/* Refuses "NAME=STATE" that does not follow an option. */
static int stray_observation(const cli_verb *verb, const cli_arguments *arguments, const char *text)
{
    if (text[0] == '=') {
        return cli_error(CLI_USAGE,
                         "%s: unexpected '%s'; what is observed is one word: type -e 'NAME=STATE'",
                         verb->name, text);
    }
    const int asked = !cli_is_verb(verb, "sensitivity") || arguments->query != NULL;
    return asked ? cli_error(CLI_USAGE, "%s: unexpected '%s'; to observe it, type -e '%s'",
                             verb->name, text, text)
                 : cli_error(CLI_USAGE,
                             "%s: unexpected '%s'; to ask for it, type --query '%s', to observe "
                             "it, type -e '%s'",
                             verb->name, text, text, text);
}

int cli_unexpected_operand(const cli_verb *verb, const cli_arguments *arguments)
{
    const char *text = arguments->operand[verb->n_operands];
    const char *equals = strrchr(text, '=');
    const char *bar = strchr(text, '|');
    const int asks = cli_find_option("query", verb) != NULL;
    const int takes_cases = cli_find_option("cases", verb) != NULL;
    if (asks && (strchr(text, '(') != NULL || (bar != NULL && equals != NULL && bar < equals)) &&
        cli_probability_typed("--query", text, cli_is_verb(verb, "sensitivity")) != CLI_DONE) {
        return CLI_USAGE;
    }
    const char *last =
        arguments->n_evidence > 0 ? arguments->evidence[arguments->n_evidence - 1] : "";
    if (last[0] != '\0' && strpbrk(last, "=./") == NULL && strpbrk(text, "=./") == NULL &&
        access(last, F_OK) != 0) {
        return stray_state(verb, last, text);
    }
    if (asks && verb->n_operands > 0 && strpbrk(text, "=./") == NULL && access(text, F_OK) != 0) {
        return one_name_more(verb, arguments, text);
    }
    if (equals != NULL && cli_find_option("evidence", verb) != NULL) {
        return stray_observation(verb, arguments, text);
    }
    if (verb->n_operands > 0 && cli_find_option("output", verb) != NULL &&
        access(text, F_OK) != 0) {
        return cli_error(CLI_USAGE, "%s: unexpected '%s'; to write this file, type -o %s",
                         verb->name, text, text);
    }
    if (takes_cases && cli_is_table(text)) {
        return cli_error(CLI_USAGE, "%s: unexpected '%s'; to answer its rows, type --cases %s",
                         verb->name, text, text);
    }
    if (takes_cases && cli_is_table(arguments->operand[0])) {
        return cli_error(CLI_USAGE, "%s: unexpected '%s'; type gibbsite %s %s --cases %s",
                         verb->name, text, verb->name, text, arguments->operand[0]);
    }
    return cli_error(CLI_USAGE, "%s: unexpected '%s'; see 'gibbsite help %s'", verb->name, text,
                     verb->name);
}

int cli_missing_operand(const cli_verb *verb, const cli_arguments *arguments)
{
    const char *missing = verb->operands;
    for (int i = 0; i < arguments->n_operands && strchr(missing, ' ') != NULL; i++) {
        missing = strchr(missing, ' ') + 1;
    }
    return cli_error(CLI_USAGE, "%s: %s is missing; see 'gibbsite help %s'", verb->name, missing,
                     verb->name);
}

/* Refuses a dictionary of Python, {"fever": "yes"}, and suggests the list fever=yes. */
static int dictionary(const char *text)
{
    char list[256];
    size_t n = 0;
    for (; *text != '\0' && n + 1 < sizeof list; text++) {
        if (strchr("{}'\" ", *text) == NULL) {
            list[n++] = (char)(*text == ':' ? '=' : *text);
        }
    }
    list[n] = '\0';
    return cli_error(CLI_USAGE, "-e: expected NAME=STATE,...: type -e '%s'", list);
}

/* @return the first variable that has a state called `text`, or the number of variables if no
 * variable has such a state. */
static uint32_t variable_with(const gbs_model *model, const char *text)
{
    const uint32_t n = gbs_model_n_variables(model);
    for (uint32_t v = 0; v < n; v++) {
        for (uint32_t a = 0; a < gbs_model_arity(model, v); a++) {
            const char *label = gbs_model_state_label(model, v, a);
            if (label != NULL && strcmp(label, text) == 0) {
                return v;
            }
        }
    }
    return n;
}

const char *cli_separators(const char *text)
{
    size_t equals = 0;
    for (; *text != '\0'; text++) {
        equals = *text == ',' ? 0 : equals + (*text == '=');
        if (equals > 1) {
            return "; commas separate what is observed";
        }
    }
    return "";
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
    if (text[0] == '{') {
        return dictionary(text);
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
    const uint32_t state_of = variable_with(model, text);
    if (state_of < gbs_model_n_variables(model)) {
        char number[32];
        const char *of = cli_variable_text(model, state_of, "", number);
        return cli_error(CLI_USAGE, "-e %s: expected NAME=STATE: type -e '%s=%s' or the like", text,
                         of, text);
    }
    return cli_error(CLI_INPUT,
                     "-e %s: there is no such file, and %s; expected NAME=STATE or a file", text,
                     unknown.message);
}
