/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite generate KIND: makes random models from a seed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "gibbsite/generate.h"
#include "options/rows.h"
#include "src/core/base/plural.h"

/* Reads whole numbers with a separator between them: "3x4", "2:5".
 * @return the number of numbers, 0 for any other text. */
static int parse_numbers(const char *text, char separator, int max, uint32_t *number)
{
    char part[16];
    for (int n = 0; n < max; n++) {
        size_t length = strcspn(text, separator == 'x' ? "xX" : ":");
        uint64_t value = 0;
        if (length >= sizeof part) {
            return 0;
        }
        memcpy(part, text, length);
        part[length] = '\0';
        if (!cli_parse_uint(part, &value) || value == 0 || value > UINT32_MAX) {
            return 0;
        }
        number[n] = (uint32_t)value;
        if (text[length] == '\0') {
            return n + 1;
        }
        text += length + 1;
    }
    return 0;
}

/* The values of --grid and --states A:B as numbers. */
typedef struct model_shape {
    uint32_t side[3];
    uint32_t states[2]; /* smallest and largest number of states */
} model_shape;

static int parse_shape(const cli_arguments *arguments, model_shape *shape)
{
    const char *grid = arguments->grid;
    const char *states = arguments->states;
    *shape = (model_shape){.side = {1, 1, 1}};
    if (grid != NULL && parse_numbers(grid, 'x', 3, shape->side) < 2) {
        return cli_error(CLI_USAGE, "--grid %s: expected RxC or AxBxC, such as 20x30", grid);
    }
    if (states == NULL) {
        return CLI_DONE;
    }
    const int n = parse_numbers(states, ':', 2, shape->states);
    if (n == 1) {
        shape->states[1] = shape->states[0];
    }
    if (n == 0 || shape->states[0] > shape->states[1]) {
        return cli_error(CLI_USAGE, "--states %s: expected A:B with A <= B, such as 2:4", states);
    }
    return CLI_DONE;
}

/* ---- the kinds --------------------------------------------------------------------------- */

typedef gbs_status model_maker(const cli_arguments *a, const model_shape *shape, gbs_model **model,
                               gbs_error *err);

/* options_KIND reads the options of a kind of model; make_KIND makes the model. The last argument
 * is a statement that sets values of --grid or --states in the options `o`. */
#define MAKER(kind, ...)                                                            \
    static gbs_generate_##kind##_options options_##kind(const cli_arguments *a,     \
                                                        const model_shape *shape)   \
    {                                                                               \
        gbs_generate_##kind##_options o = a->of.generate_##kind;                    \
        (void)shape;                                                                \
        __VA_ARGS__;                                                                \
        return o;                                                                   \
    }                                                                               \
    static gbs_status make_##kind(const cli_arguments *a, const model_shape *shape, \
                                  gbs_model **model, gbs_error *err)                \
    {                                                                               \
        const gbs_generate_##kind##_options o = options_##kind(a, shape);           \
        return gbs_generate_##kind(&o, model, err);                                 \
    }

/* clang-format off */
MAKER(ising, memcpy(o.side, shape->side, sizeof o.side))
MAKER(potts, o.rows = shape->side[0]; o.columns = shape->side[1]; o.layers = shape->side[2])
MAKER(ring, )
MAKER(complete, )
MAKER(regular, )
MAKER(powerlaw, )
MAKER(rbm, )
MAKER(bayes, o.min_states = shape->states[0]; o.max_states = shape->states[1])
/* clang-format on */

static const struct model_kind {
    const cli_verb *verb;
    const char *required[4]; /* names of required options; NULL after the last */
    model_maker *make;
} kinds[] = {
    {&cli_verb_generate_ising, {"grid"}, make_ising},
    {&cli_verb_generate_potts, {"grid", "states"}, make_potts},
    {&cli_verb_generate_ring, {"variables"}, make_ring},
    {&cli_verb_generate_complete, {"variables"}, make_complete},
    {&cli_verb_generate_regular, {"variables", "degree"}, make_regular},
    {&cli_verb_generate_powerlaw, {"variables", "edges"}, make_powerlaw},
    {&cli_verb_generate_rbm, {"visible", "hidden"}, make_rbm},
    {&cli_verb_generate_bayes, {"variables", "parents", "states"}, make_bayes},
};

static int check_required(const cli_arguments *arguments, const struct model_kind *kind)
{
    for (const char *const *name = kind->required; *name != NULL; name++) {
        if (!cli_given(arguments, *name)) {
            return cli_error(CLI_USAGE, "--%s is missing; see 'gibbsite help %s'", *name,
                             kind->verb->name);
        }
    }
    return CLI_DONE;
}

static const struct model_kind *kind_of(const cli_arguments *arguments)
{
    const struct model_kind *kind = kinds;
    while (kind->verb != arguments->verb) {
        kind++;
    }
    return kind;
}

static int take_shape(const cli_arguments *arguments, model_shape *shape)
{
    const int status = check_required(arguments, kind_of(arguments));
    return status == CLI_DONE ? parse_shape(arguments, shape) : status;
}

int cli_ising_options(const cli_arguments *a, gbs_generate_ising_options *options)
{
    model_shape shape;
    const int status = take_shape(a, &shape);
    if (status == CLI_DONE) {
        *options = options_ising(a, &shape);
    }
    return status;
}

int cli_potts_options(const cli_arguments *a, gbs_generate_potts_options *options)
{
    model_shape shape;
    const int status = take_shape(a, &shape);
    if (status == CLI_DONE) {
        *options = options_potts(a, &shape);
    }
    return status;
}

static int run_generate(cli_arguments *arguments)
{
    model_shape shape;
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    int status = take_shape(arguments, &shape);
    if (status == CLI_DONE) {
        status = cli_check_model_output(arguments);
    }
    if (status != CLI_DONE) {
        return status;
    }
    gbs_status made = kind_of(arguments)->make(arguments, &shape, &model, &err);
    if (made < 0) {
        return cli_fail(made, &err);
    }
    status = cli_write_model(arguments, model);
    if (status == CLI_DONE && arguments->verbose) {
        cli_note(arguments, "%" PRIu32 " variable%s, %zu factor%s, seed %" PRIu64,
                 gbs_model_n_variables(model), gbsi_plural(gbs_model_n_variables(model)),
                 gbs_model_n_factors(model), gbsi_plural(gbs_model_n_factors(model)),
                 arguments->run.seed);
    }
    gbs_model_free(model);
    return status;
}

/* ---- the row ------------------------------------------------------------------------------ */

#define CLI_QUESTION "generate ising"
static const cli_option ising_options[] = {
#include "gibbsite/questions/generate_ising.def"
};
#undef CLI_QUESTION

const cli_verb cli_verb_generate_ising = {
    .name = "generate ising",
    CLI_TAKES(ising_options),
    .n_operands = 0,
    .operands = "",
    .what = "spins on a grid of two or three dimensions",
    .notes = "p(s) is proportional to exp(sum of J_ij s_i s_j + sum of h_i s_i), s = -1, +1.\n",
    .example = "gibbsite generate ising --grid 8x8 --torus --coupling 0.4 --format uai\n",
    .run = run_generate,
};

#define CLI_QUESTION "generate potts"
static const cli_option potts_options[] = {
#include "gibbsite/questions/generate_potts.def"
};
#undef CLI_QUESTION

const cli_verb cli_verb_generate_potts = {
    .name = "generate potts",
    CLI_TAKES(potts_options),
    .n_operands = 0,
    .operands = "",
    .what = "a noisy picture in patches of K grey levels",
    .notes = "p(x) is proportional to exp(J times number of equal neighbours + data term).\n",
    .example = "gibbsite generate potts --grid 6x6 --states 3 --noise 0.8 --format uai\n",
    .run = run_generate,
};

#define CLI_QUESTION "generate ring"
static const cli_option ring_options[] = {
#include "gibbsite/questions/generate_ring.def"
};
#undef CLI_QUESTION

const cli_verb cli_verb_generate_ring = {
    .name = "generate ring",
    CLI_TAKES(ring_options),
    .n_operands = 0,
    .operands = "",
    .what = "spins on a ring",
    .notes = "",
    .example = "gibbsite generate ring --variables 10 --coupling 0.5 --format uai\n",
    .run = run_generate,
};

#define CLI_QUESTION "generate complete"
static const cli_option complete_options[] = {
#include "gibbsite/questions/generate_complete.def"
};
#undef CLI_QUESTION

const cli_verb cli_verb_generate_complete = {
    .name = "generate complete",
    CLI_TAKES(complete_options),
    .n_operands = 0,
    .operands = "",
    .what = "spins all coupled to one another",
    .notes = "",
    .example = "gibbsite generate complete --variables 8 --coupling 0.1 --format uai\n",
    .run = run_generate,
};

#define CLI_QUESTION "generate regular"
static const cli_option regular_options[] = {
#include "gibbsite/questions/generate_regular.def"
};
#undef CLI_QUESTION

const cli_verb cli_verb_generate_regular = {
    .name = "generate regular",
    CLI_TAKES(regular_options),
    .n_operands = 0,
    .operands = "",
    .what = "spins on a random regular graph",
    .notes = "No variable is coupled to itself, and no pair has two couplings.\n",
    .example = "gibbsite generate regular --variables 20 --degree 3 --format uai\n",
    .run = run_generate,
};

#define CLI_QUESTION "generate powerlaw"
static const cli_option powerlaw_options[] = {
#include "gibbsite/questions/generate_powerlaw.def"
};
#undef CLI_QUESTION

const cli_verb cli_verb_generate_powerlaw = {
    .name = "generate powerlaw",
    CLI_TAKES(powerlaw_options),
    .n_operands = 0,
    .operands = "",
    .what = "spins on a graph of preferential attachment",
    .notes = "The first M + 1 variables are all joined; each new variable is then joined to M\n"
             "earlier ones, drawn in proportion to their degrees (Barabasi and Albert 1999).\n",
    .example = "gibbsite generate powerlaw --variables 20 --edges 2 --format uai\n",
    .run = run_generate,
};

#define CLI_QUESTION "generate rbm"
static const cli_option rbm_options[] = {
#include "gibbsite/questions/generate_rbm.def"
};
#undef CLI_QUESTION

const cli_verb cli_verb_generate_rbm = {
    .name = "generate rbm",
    CLI_TAKES(rbm_options),
    .n_operands = 0,
    .operands = "",
    .what = "spins in two layers: a restricted Boltzmann machine",
    .notes = "Every visible variable is coupled to every hidden one. Visible variables come\n"
             "first.\n",
    .example = "gibbsite generate rbm --visible 8 --hidden 4 --coupling 0.2 --format uai\n",
    .run = run_generate,
};

#define CLI_QUESTION "generate bayes"
static const cli_option bayes_options[] = {
#include "gibbsite/questions/generate_bayes.def"
};
#undef CLI_QUESTION

const cli_verb cli_verb_generate_bayes = {
    .name = "generate bayes",
    CLI_TAKES(bayes_options),
    .n_operands = 0,
    .operands = "",
    .what = "a random Bayesian network",
    .notes = "",
    .example = "gibbsite generate bayes --variables 12 --parents 2 --states 2:3 --format bif\n",
    .run = run_generate,
};
