/* SPDX-License-Identifier: Apache-2.0 */
/* The option table: the rows of gibbsite/options.def and the program's own. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "arguments.h"

#define AT(field)     offsetof(cli_arguments, field)
#define RUN_AT(field) (offsetof(cli_arguments, run) + offsetof(gbs_run_options, field))

/* clang-format off */
#define RUN(field, name) {name, 0, CLI_RUN, CLI_RUNS, RUN_AT(field), 0, 0, 0, 0, 0, 0, "", ""},
#define GBS_OPTION_ENUM(field, name, type, def, help)                  RUN(field, name)
#define GBS_OPTION_UINT(field, name, def, min, max, unit, help, unset) RUN(field, name)
#define GBS_OPTION_SIZE(field, name, def, min, max, unit, help, unset) RUN(field, name)
#define GBS_OPTION_REAL(field, name, def, min, max, unit, help, unset) RUN(field, name)
#define GBS_OPTION_TIME(field, name, def, min, max, unit, help, unset) RUN(field, name)
#define GBS_OPTION_AUTO(field, name, def, min, max, unit, help, mark)  RUN(field, name)
#define GBS_OPTION_FLAG(field, name, help)                                                         \
    {name, 0, CLI_FLAG, CLI_RUNS, RUN_AT(field), 0, 0, 1, 0, 0, 0, "", help},

#define FLAG(letter, field, name, verbs, help)                                                     \
    {name, letter, CLI_FLAG, verbs, AT(field), 0, 0, 1, 0, 0, 0, "", help},
#define TEXT(letter, field, name, verbs, unit, help)                                               \
    {name, letter, CLI_TEXT, verbs, AT(field), 0, 0, 0, 0, 0, 0, unit, help},
#define NAME(letter, field, name, verbs, unit, help)                                               \
    {name, letter, CLI_NAME, verbs, AT(field), 0, 0, 0, 0, 0, 0, unit, help},
#define REAL(field, name, verbs, def, min, max, unit, help)                                        \
    {name, 0, CLI_REAL, verbs, AT(field), 0, 0, 0, def, min, max, unit, help},
#define UINT(field, name, verbs, def, min, max, unit, help)                                        \
    {name, 0, CLI_UINT, verbs, AT(field), def, min, max, 0, 0, 0, unit, help},

static const char model_formats[] =
#define GBS_FORMAT(id, name, ...) "|" name
#include "gibbsite/formats.def"
    ;
#define CLI_MODEL_FORMATS (model_formats + 1)

static const cli_option table[] = {
    {"evidence", 'e', CLI_LIST, CLI_OBSERVES, AT(evidence), 0, 0, 0, 0, 0, 0,
     "FILE|NAME=STATE,...", "observed variables: a file, or names or 0-based numbers with states; "
     "may be given again"},
    TEXT(0, virtual_evidence, "virtual-evidence", CLI_OBSERVES, "FILE",
         "likelihoods on variables (soft evidence)")
#include "gibbsite/options.def"
    TEXT(0, dummy_edges, "dummy-edges", CLI_RUNS | CLI_VERB_INFO | CLI_VERB_DECOMPOSE, "FILE|ring:S",
         "pairs of variables that see each other in herding keys: a file, or all at distances 2 to "
         "S round a ring")
    TEXT(0, start, "start", CLI_RUNS | CLI_VERB_DECOMPOSE | CLI_VERB_MAP, "FILE", "a state for every chain to start from; unset: drawn")
    TEXT('o', output, "output", CLI_MODELS | CLI_GENERATES | CLI_VERB_UAI, "FILE",
         "where the result goes, its format by the ending; unset: standard output")
    TEXT('o', output, "output", CLI_VERB_REPRODUCE, "FOLDER",
         "where tables, charts and verdict.txt go; made if it is not there (required)")
    TEXT(0, focus, "focus", CLI_VERB_DECOMPOSE, "V",
         "the variable whose errors are taken apart: a name or a 0-based number (required)")
    FLAG(0, asymptotic, "asymptotic", CLI_VERB_DECOMPOSE,
         "what D_cor tends to, key by key, without sampling")
    FLAG(0, list, "list", CLI_VERB_REPRODUCE, "the experiments")
    FLAG(0, quick, "quick", CLI_VERB_REPRODUCE, "fewer and shorter runs: seconds each")
    FLAG(0, check, "check", CLI_VERB_REPRODUCE, "exit status 1 if the claim is not found")
    TEXT(0, data, "data", CLI_VERB_REPRODUCE, "FOLDER",
         "pictures or models of the paper instead of those made here, where an experiment takes any")
    NAME(0, format, "format", CLI_VERB_MARGINALS,
         "mar|csv|json|npz|netcdf|dimmwitted|pbm|pgm|ppm|png", "format of the result")
    TEXT(0, picture, "picture", CLI_VERB_MARGINALS, "RxC",
         "rows and columns of a picture with a pixel per variable (.png, .pgm, .ppm, .pbm)")
    UINT(state, "state", CLI_VERB_MARGINALS, GBS_MAX_ARITY, 0, GBS_MAX_ARITY - 1,
         "K", "the state whose probability the picture shows; unset: 1 of two, and of more the most "
         "probable state is shown")
    NAME(0, format, "format", CLI_VERB_SAMPLE, "csv|tab|npz|npy|netcdf|cmdstan|coda",
         "format of the draws")
    NAME(0, format, "format", CLI_VERB_MAP, "map|csv|json", "format of the state")
    NAME(0, format, "format", CLI_VERB_LOGZ, "pr|json", "format of the estimate")
    {"task", 0, CLI_CHOICE, CLI_VERB_EXACT, AT(task), 0, 0, 3, 0, 0, 0, "mar|pr|map|sample",
     "marginals, partition function, most probable state, or independent samples"},
    NAME(0, format, "format", CLI_VERB_EXACT, "mar|csv|json|npz|tab|npy|netcdf|cmdstan|coda",
         "format of marginals or samples")
    UINT(samples, "samples", CLI_VERB_EXACT, 1000, 1, UINT64_MAX / 2, "N", "how many, of --task sample")
    TEXT(0, monitor, "monitor", CLI_VERB_SAMPLE | CLI_VERB_EXACT, "LIST",
         "variables that are written: names, 0-based numbers, ranges 3-7; unset: all")
    TEXT(0, query, "query", CLI_VERB_MARGINALS | CLI_VERB_EXACT, "FILE",
         "a UAI query file: the variables that are written; unset: all")
    NAME(0, format, "format", CLI_VERB_CONVERT | CLI_GENERATES, CLI_MODEL_FORMATS,
         "format of the model written")
    NAME(0, float_format, "float-format", CLI_VERB_CONVERT | CLI_GENERATES, "shortest|fixed",
         "numbers as short as reads back, or as digits[.digits] for readers without exponents")
    NAME(0, convention_out, "write-convention", CLI_VERB_CONVERT | CLI_GENERATES,
         "physics|bqm|maxcut", "sign of couplings in the model written; unset: the format's own")
    TEXT(0, summary, "summary", CLI_RUNS | CLI_VERB_EXACT, "FILE", "the run as JSON")
    {"progress", 0, CLI_CHOICE, CLI_RUNS | CLI_ANNEALS | CLI_VERB_DECOMPOSE | CLI_VERB_REPRODUCE | CLI_VERB_EXACT, AT(progress), 0, 0, 3, 0, 0, 0,
     "auto|always|never|json", "a bar on standard error; auto: when it is a terminal"},
    FLAG(0, json, "json", CLI_VERB_INFO | CLI_VERB_CERTIFY, "JSON instead of text")
    TEXT(0, targets, "target", CLI_RUNS, "LIST",
         "with --restarts: the variables asked for; unset: all that the scan visits")
    {"target", 0, CLI_LIST, CLI_INFLUENCES, AT(target), 0, 0, 0, 0, 0, 0,
     "LIST|FILE|all|rectangle:...", "variables that count: names, 0-based numbers and ranges "
     "3-7, a file of weights, or rectangle:R0,C0,R1,C1 of a grid; certify: may be given again"},
    TEXT(0, grid, "grid", CLI_INFLUENCES, "RxC", "rows and columns of the variables, for rectangles")
    TEXT(0, steps, "steps", CLI_VERB_CERTIFY, "T,...",
         "numbers of updates; unset: those of 1, 2, 5, ... 100 passes, unless --accuracy")
    TEXT(0, steps, "steps", CLI_VERB_SCAN, "T",
         "updates in the scan; unset: one per free variable, unless --match or --accuracy")
    TEXT(0, match, "match", CLI_VERB_SCAN, "systematic:T",
         "a scan as good as the systematic one of T updates: its length is doubled from 2")
    REAL(accuracy, "accuracy", CLI_VERB_CERTIFY, 0.0, 0.0, 1e140, "EPS",
         "passes after which the variation is at most this; unset: not asked")
    REAL(accuracy, "accuracy", CLI_VERB_SCAN, 0.0, 0.0, 1e140, "EPS",
         "variation to be reached, by doubling unless --steps; unset: as small as it gets")
    FLAG(0, iterate, "iterate", CLI_VERB_SCAN, "improve the result again until that no longer helps")
    NAME(0, influence, "influence", CLI_INFLUENCES, "auto|bound|exact",
         "influences by enumerating neighbours, up to 2^16 configurations, or bounds; unset: auto, "
         "enumerated where that is quick")
    NAME(0, from, "from", CLI_MODELS | CLI_VERB_UAI, CLI_MODEL_FORMATS,
         "format of MODEL, by default found from the file name extension")
    NAME(0, convention, "convention", CLI_MODELS, "physics|bqm|maxcut",
         "sign of couplings in MODEL (.mtx, .rud, .coo); unset: the format's own")
    NAME(0, diagonal, "diagonal", CLI_MODELS, "field|ignore|error",
         "what the diagonal of a matrix of couplings is; unset: field")
    REAL(weight_scale, "weight-scale", CLI_MODELS, 1.0, 1e-300, 1e300, "X",
         "weights of clauses (.wcnf, .mln) are multiplied by X")
    UINT(colors, "colors", CLI_MODELS, 0, 1, GBS_MAX_ARITY, "K",
         "colours of a graph to colour (.col); unset: refused without")
    FLAG(0, lenient, "lenient", CLI_MODELS | CLI_VERB_COMPARE | CLI_VERB_UAI,
         "warn about what gibbsite-formats(5) marks lenient, instead of refusing it")
    FLAG(0, normalize_cpts, "normalize-cpts", CLI_MODELS,
         "scale columns of conditional tables to sum to one")
    NAME(0, evidence_format, "evidence-format", CLI_OBSERVES | CLI_VERB_UAI,
         "single|multi|tab",
         "form of an evidence file; unset: by file name extension (.tab) and content")
    UINT(evidence_index, "evidence-index", CLI_OBSERVES | CLI_VERB_UAI, 0, 0,
         UINT32_MAX, "K",
         "which sample of an evidence file that holds several, from 0; without: all, to FILE.0, "
         "FILE.1, ... (uai: the first)")
    TEXT(0, grid, "grid", CLI_VERB_ISING | CLI_VERB_POTTS, "RxC|AxBxC",
         "sides of the grid (required)")
    FLAG(0, torus, "torus", CLI_VERB_ISING | CLI_VERB_POTTS, "join opposite sides")
    UINT(variables, "variables",
         CLI_VERB_RING | CLI_VERB_BAYES | CLI_VERB_COMPLETE | CLI_VERB_REGULAR | CLI_VERB_POWERLAW,
         0, 1, GBS_MAX_VARIABLES, "N", "how many (required)")
    UINT(degree, "degree", CLI_VERB_REGULAR, 0, 0, GBS_MAX_VARIABLES, "D",
         "neighbours of each variable; below N, and N D even (required)")
    UINT(edges, "edges", CLI_VERB_POWERLAW, 0, 1, GBS_MAX_VARIABLES, "M",
         "earlier variables that each new one is joined to; below N (required)")
    UINT(visible, "visible", CLI_VERB_RBM, 0, 1, GBS_MAX_VARIABLES, "N",
         "variables of the first layer (required)")
    UINT(hidden, "hidden", CLI_VERB_RBM, 0, 1, GBS_MAX_VARIABLES, "M",
         "variables of the second layer (required)")
    REAL(coupling, "coupling", CLI_SPINS | CLI_VERB_POTTS, 1.0, -1e6, 1e6, "J",
         "log-weight of a pair")
    REAL(coupling_spread, "coupling-spread", CLI_SPINS, 0.0, 0.0, 1e6, "D",
         "couplings are uniform in J-D to J+D")
    REAL(field, "field", CLI_SPINS, 0.0, -1e6, 1e6, "H", "log-weight of a single spin")
    REAL(random_field, "random-field", CLI_SPINS, 0.0, 0.0, 1e6, "D",
         "fields are uniform in H-D to H+D")
    TEXT(0, states, "states", CLI_VERB_POTTS, "K", "states of each variable (required)")
    REAL(noise, "noise", CLI_VERB_POTTS, 0.0, 0.0, 1e6, "S",
         "deviation of the picture's noise, in grey levels; 0: no data term")
    UINT(parents, "parents", CLI_VERB_BAYES, 0, 0, UINT32_MAX, "K",
         "at most as many parents each (required)")
    TEXT(0, states, "states", CLI_VERB_BAYES, "A:B", "A to B states each (required)")
    REAL(tolerance, "tolerance", CLI_VERB_COMPARE, 0.0, 0.0, 1e9, "X",
         "largest difference that passes: of a probability, of log10 Z, or in variables")
    NAME(0, log_base, "log-base", CLI_VERB_COMPARE, "10|e|10,e|e,10",
         "of the numbers in .PR files; 10,e: of the first and of the second; unset: 10")
    NAME(0, log_base, "log-base", CLI_VERB_UAI | CLI_VERB_EXACT | CLI_VERB_LOGZ, "10|e", "of the number in a .PR file; unset: 10")
    FLAG(0, uai_mpe, "uai-mpe", CLI_VERB_UAI | CLI_VERB_EXACT | CLI_VERB_MAP, "begin a .MAP file with the word MPE")
    FLAG('q', quiet, "quiet", CLI_ALL, "less on standard error")
    FLAG('v', verbose, "verbose", CLI_ALL & ~CLI_VERB_COMPARE, "more on standard error")
    FLAG('h', help, "help", CLI_ALL, "this text")
};
/* clang-format on */

_Static_assert(sizeof table / sizeof table[0] <= CLI_MAX_OPTIONS, "cli_arguments.given");

const cli_option *cli_option_table(size_t *n)
{
    *n = sizeof table / sizeof table[0];
    return table;
}

/* Rows of options.def are for the sampling verbs, but for these. */
static const struct {
    const char *name;
    unsigned verbs;
} elsewhere[] = {
    {"scan", CLI_RUNS | CLI_VERB_INFO | CLI_VERB_CERTIFY},
    {"origin", CLI_RUNS | CLI_VERB_INFO | CLI_INFLUENCES},
    {"certified", CLI_VERB_MARGINALS},
    {"time", CLI_RUNS | CLI_INFLUENCES},
    {"chains", CLI_RUNS | CLI_VERB_INFO | CLI_VERB_DECOMPOSE},
    {"estimator", CLI_RUNS | CLI_VERB_INFO},
    {"lattice", CLI_RUNS | CLI_VERB_INFO},
    {"draw", CLI_RUNS | CLI_VERB_INFO | CLI_VERB_DECOMPOSE},
    {"keys", CLI_RUNS | CLI_VERB_INFO | CLI_VERB_DECOMPOSE},
    {"herd-rule", CLI_RUNS | CLI_VERB_INFO | CLI_VERB_DECOMPOSE},
    {"herd-init", CLI_RUNS | CLI_VERB_DECOMPOSE},
    {"bin-edge", CLI_RUNS | CLI_VERB_DECOMPOSE},
    {"bins", CLI_RUNS | CLI_VERB_INFO | CLI_VERB_DECOMPOSE},
    {"threshold", CLI_RUNS | CLI_VERB_DECOMPOSE},
    {"bin-rule", CLI_RUNS | CLI_VERB_DECOMPOSE},
    {"sweeps", CLI_RUNS | CLI_VERB_DECOMPOSE},
    {"burn-in", CLI_RUNS | CLI_VERB_DECOMPOSE},
    {"memory-limit", CLI_OBSERVES},
    {"threads", CLI_RUNS | CLI_VERB_DECOMPOSE | CLI_VERB_REPRODUCE | CLI_VERB_EXACT},
    {"thin", CLI_VERB_SAMPLE},
    {"damping", CLI_VERB_MARGINALS},
    {"schedule", CLI_VERB_MAP},
    {"tau0", CLI_VERB_MAP},
    {"mean-field-schedule", CLI_VERB_MARGINALS},
    {"iterations", CLI_VERB_MARGINALS},
    {"seed", CLI_RUNS | CLI_GENERATES | CLI_VERB_UAI | CLI_VERB_DECOMPOSE | CLI_VERB_REPRODUCE |
                 CLI_VERB_EXACT},
};

/* Rows of options.def that annealing takes as well. */
static const struct {
    const char *name;
    unsigned verbs;
} of_annealing[] = {
    {"method", CLI_ANNEALS},        {"scan", CLI_ANNEALS},        {"origin", CLI_ANNEALS},
    {"time", CLI_ANNEALS},          {"chains", CLI_ANNEALS},      {"sweeps", CLI_ANNEALS},
    {"seed", CLI_ANNEALS},          {"max-updates", CLI_ANNEALS}, {"threads", CLI_ANNEALS},
    {"memory-limit", CLI_ANNEALS},  {"draw", CLI_VERB_MAP},       {"keys", CLI_VERB_MAP},
    {"herd-rule", CLI_VERB_MAP},    {"herd-init", CLI_VERB_MAP},  {"bins", CLI_VERB_MAP},
    {"bin-edge", CLI_VERB_MAP},     {"bin-rule", CLI_VERB_MAP},   {"threshold", CLI_VERB_MAP},
    {"target-error", CLI_VERB_LOGZ}};

static unsigned annealing_verbs(const char *name)
{
    for (size_t i = 0; i < sizeof of_annealing / sizeof of_annealing[0]; i++) {
        if (strcmp(name, of_annealing[i].name) == 0) {
            return of_annealing[i].verbs;
        }
    }
    return 0;
}

unsigned cli_option_verbs(const cli_option *option)
{
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        if (strcmp(option->name, elsewhere[i].name) == 0) {
            return elsewhere[i].verbs | annealing_verbs(option->name);
        }
    }
    return option->verbs | annealing_verbs(option->name);
}

void cli_option_unit(const cli_option *option, char *text)
{
    const gbs_option *run = option->kind == CLI_RUN ? gbs_option_find(option->name) : NULL;
    const char *unit = option->unit;
    if (run != NULL && run->kind == GBS_OPTION_KIND_CHOICE) {
        static const char FILE_SCAN[] = "sequence"; /* a file's name is typed in its place */
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
    (void)snprintf(text, CLI_UNIT_SIZE, "%s%s%s", unit, word ? "|" : "", word ? run->word : "");
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
