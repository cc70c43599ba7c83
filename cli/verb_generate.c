/* SPDX-License-Identifier: Apache-2.0 */
/* gibbsite generate KIND: models from a seed. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* Whole numbers with a separator between: "3x4", "2:5". @return how many, 0 for anything else. */
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

/* What --grid and --states say, as numbers. */
typedef struct model_shape {
    uint32_t side[3];
    uint32_t states[2]; /* fewest and most */
} model_shape;

static int parse_shape(const cli_arguments *arguments, int most_states, model_shape *shape)
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
    int n = parse_numbers(states, ':', most_states, shape->states);
    if (n == 1) {
        shape->states[1] = shape->states[0];
    }
    if (n == 0 || shape->states[0] > shape->states[1]) {
        return cli_error(CLI_USAGE, "--states %s: expected %s", states,
                         most_states == 1 ? "a whole number above 0"
                                          : "A:B with A <= B, such as 2:4");
    }
    return CLI_DONE;
}

/* ---- the kinds --------------------------------------------------------------------------- */

typedef gbs_status model_maker(const cli_arguments *a, const model_shape *shape, gbs_model **model,
                               gbs_error *err);

/* make_KIND: from arguments `a` and `shape` to the options of gbs_generate_KIND(). */
#define MAKER(kind, ...)                                                                  \
    static gbs_status make_##kind(const cli_arguments *a, const model_shape *shape,       \
                                  gbs_model **model, gbs_error *err)                      \
    {                                                                                     \
        (void)shape;                                                                      \
        const gbs_generate_##kind##_options options = {.seed = a->run.seed, __VA_ARGS__}; \
        return gbs_generate_##kind(&options, model, err);                                 \
    }

/* What all kinds of spins take. */
#define SPINS                                                                          \
    .coupling = a->coupling, .coupling_spread = a->coupling_spread, .field = a->field, \
    .random_field = a->random_field

/* clang-format off */
#define ISING SPINS, .side = {shape->side[0], shape->side[1], shape->side[2]}, .torus = a->torus
#define POTTS                                                                                \
    .rows = shape->side[0], .columns = shape->side[1], .layers = shape->side[2],             \
    .states = shape->states[0], .torus = a->torus, .coupling = a->coupling, .noise = a->noise

MAKER(ising, ISING)
MAKER(potts, POTTS)
MAKER(ring, SPINS, .variables = (uint32_t)a->variables)
MAKER(complete, SPINS, .variables = (uint32_t)a->variables)
MAKER(regular, SPINS, .variables = (uint32_t)a->variables, .degree = (uint32_t)a->degree)
MAKER(powerlaw, SPINS, .variables = (uint32_t)a->variables, .edges = (uint32_t)a->edges)
MAKER(rbm, SPINS, .visible = (uint32_t)a->visible, .hidden = (uint32_t)a->hidden)
MAKER(bayes, .variables = (uint32_t)a->variables, .parents = (uint32_t)a->parents,
      .min_states = shape->states[0], .max_states = shape->states[1])
/* clang-format on */

static const struct model_kind {
    unsigned verb;
    const char *required[4]; /* names of options; NULL behind the last */
    int most_states;         /* how many numbers --states may be */
    model_maker *make;
} kinds[] = {
    {CLI_VERB_ISING, {"grid"}, 0, make_ising},
    {CLI_VERB_POTTS, {"grid", "states"}, 1, make_potts},
    {CLI_VERB_RING, {"variables"}, 0, make_ring},
    {CLI_VERB_COMPLETE, {"variables"}, 0, make_complete},
    {CLI_VERB_REGULAR, {"variables", "degree"}, 0, make_regular},
    {CLI_VERB_POWERLAW, {"variables", "edges"}, 0, make_powerlaw},
    {CLI_VERB_RBM, {"visible", "hidden"}, 0, make_rbm},
    {CLI_VERB_BAYES, {"variables", "parents", "states"}, 2, make_bayes},
};

static int check_required(const cli_arguments *arguments, const struct model_kind *kind)
{
    for (const char *const *name = kind->required; *name != NULL; name++) {
        if (!cli_given(arguments, *name)) {
            return cli_error(CLI_USAGE, "--%s is missing; see 'gibbsite help generate'", *name);
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
    const struct model_kind *kind = kind_of(arguments);
    const int status = check_required(arguments, kind);
    return status == CLI_DONE ? parse_shape(arguments, kind->most_states, shape) : status;
}

int cli_ising_options(const cli_arguments *a, gbs_generate_ising_options *options)
{
    model_shape taken;
    const model_shape *shape = &taken;
    const int status = take_shape(a, &taken);
    if (status == CLI_DONE) {
        *options =
            (gbs_generate_ising_options){.size = sizeof *options, .seed = a->run.seed, ISING};
    }
    return status;
}

int cli_potts_options(const cli_arguments *a, gbs_generate_potts_options *options)
{
    model_shape taken;
    const model_shape *shape = &taken;
    const int status = take_shape(a, &taken);
    if (status == CLI_DONE) {
        *options =
            (gbs_generate_potts_options){.size = sizeof *options, .seed = a->run.seed, POTTS};
    }
    return status;
}

int cli_generate(cli_arguments *arguments)
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
        cli_note(arguments, "%" PRIu32 " variables, %zu factors, seed %" PRIu64,
                 gbs_model_n_variables(model), gbs_model_n_factors(model), arguments->run.seed);
    }
    gbs_model_free(model);
    return status;
}
