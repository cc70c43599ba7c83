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

/* The kinds differ in what must be given and in what is made of it. */
typedef struct model_kind {
    const char *required[4]; /* names of options; NULL behind the last */
    int most_states;         /* how many numbers --states may be */
    gbs_status (*make)(const cli_arguments *arguments, const model_shape *shape, gbs_model **model,
                       gbs_error *err);
} model_kind;

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

/* Makes and writes a model. @return an exit status. */
static int generate(const cli_arguments *arguments, const model_kind *kind)
{
    model_shape shape;
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    for (const char *const *name = kind->required; *name != NULL; name++) {
        if (!cli_given(arguments, *name)) {
            return cli_error(CLI_USAGE, "--%s is missing; see 'gibbsite help generate'", *name);
        }
    }
    int status = parse_shape(arguments, kind->most_states, &shape);
    if (status == CLI_DONE) {
        status = cli_check_model_output(arguments);
    }
    if (status != CLI_DONE) {
        return status;
    }
    gbs_status made = kind->make(arguments, &shape, &model, &err);
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

/* What all kinds of spins take. */
#define SPINS(a)                                                                             \
    .coupling = (a)->coupling, .coupling_spread = (a)->coupling_spread, .field = (a)->field, \
    .random_field = (a)->random_field, .seed = (a)->run.seed

static gbs_status make_ising(const cli_arguments *arguments, const model_shape *shape,
                             gbs_model **model, gbs_error *err)
{
    const gbs_generate_ising_options options = {
        .side = {shape->side[0], shape->side[1], shape->side[2]},
        .torus = arguments->torus,
        SPINS(arguments),
    };
    return gbs_generate_ising(&options, model, err);
}

int cli_generate_ising(cli_arguments *arguments)
{
    static const model_kind ising = {{"grid"}, 0, make_ising};
    return generate(arguments, &ising);
}

static gbs_status make_potts(const cli_arguments *arguments, const model_shape *shape,
                             gbs_model **model, gbs_error *err)
{
    const gbs_generate_potts_options options = {
        .rows = shape->side[0],
        .columns = shape->side[1],
        .layers = shape->side[2],
        .states = shape->states[0],
        .torus = arguments->torus,
        .coupling = arguments->coupling,
        .noise = arguments->noise,
        .seed = arguments->run.seed,
    };
    return gbs_generate_potts(&options, model, err);
}

int cli_generate_potts(cli_arguments *arguments)
{
    static const model_kind potts = {{"grid", "states"}, 1, make_potts};
    return generate(arguments, &potts);
}

static gbs_status make_ring(const cli_arguments *arguments, const model_shape *shape,
                            gbs_model **model, gbs_error *err)
{
    (void)shape;
    const gbs_generate_ring_options options = {
        .variables = (uint32_t)arguments->variables,
        SPINS(arguments),
    };
    return gbs_generate_ring(&options, model, err);
}

int cli_generate_ring(cli_arguments *arguments)
{
    static const model_kind ring = {{"variables"}, 0, make_ring};
    return generate(arguments, &ring);
}

static gbs_status make_complete(const cli_arguments *arguments, const model_shape *shape,
                                gbs_model **model, gbs_error *err)
{
    (void)shape;
    const gbs_generate_complete_options options = {
        .variables = (uint32_t)arguments->variables,
        SPINS(arguments),
    };
    return gbs_generate_complete(&options, model, err);
}

int cli_generate_complete(cli_arguments *arguments)
{
    static const model_kind complete = {{"variables"}, 0, make_complete};
    return generate(arguments, &complete);
}

static gbs_status make_regular(const cli_arguments *arguments, const model_shape *shape,
                               gbs_model **model, gbs_error *err)
{
    (void)shape;
    const gbs_generate_regular_options options = {
        .variables = (uint32_t)arguments->variables,
        .degree = (uint32_t)arguments->degree,
        SPINS(arguments),
    };
    return gbs_generate_regular(&options, model, err);
}

int cli_generate_regular(cli_arguments *arguments)
{
    static const model_kind regular = {{"variables", "degree"}, 0, make_regular};
    return generate(arguments, &regular);
}

static gbs_status make_powerlaw(const cli_arguments *arguments, const model_shape *shape,
                                gbs_model **model, gbs_error *err)
{
    (void)shape;
    const gbs_generate_powerlaw_options options = {
        .variables = (uint32_t)arguments->variables,
        .edges = (uint32_t)arguments->edges,
        SPINS(arguments),
    };
    return gbs_generate_powerlaw(&options, model, err);
}

int cli_generate_powerlaw(cli_arguments *arguments)
{
    static const model_kind powerlaw = {{"variables", "edges"}, 0, make_powerlaw};
    return generate(arguments, &powerlaw);
}

static gbs_status make_rbm(const cli_arguments *arguments, const model_shape *shape,
                           gbs_model **model, gbs_error *err)
{
    (void)shape;
    const gbs_generate_rbm_options options = {
        .visible = (uint32_t)arguments->visible,
        .hidden = (uint32_t)arguments->hidden,
        SPINS(arguments),
    };
    return gbs_generate_rbm(&options, model, err);
}

int cli_generate_rbm(cli_arguments *arguments)
{
    static const model_kind rbm = {{"visible", "hidden"}, 0, make_rbm};
    return generate(arguments, &rbm);
}

static gbs_status make_bayes(const cli_arguments *arguments, const model_shape *shape,
                             gbs_model **model, gbs_error *err)
{
    const gbs_generate_bayes_options options = {
        .variables = (uint32_t)arguments->variables,
        .parents = (uint32_t)arguments->parents,
        .min_states = shape->states[0],
        .max_states = shape->states[1],
        .seed = arguments->run.seed,
    };
    return gbs_generate_bayes(&options, model, err);
}

int cli_generate_bayes(cli_arguments *arguments)
{
    static const model_kind bayes = {{"variables", "parents", "states"}, 2, make_bayes};
    return generate(arguments, &bayes);
}
