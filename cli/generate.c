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

static int missing(const char *name)
{
    return cli_error(CLI_USAGE, "--%s is missing; see 'gibbsite help generate'", name);
}

/* Writes and frees the model, or says why there is none. */
static int finish(const cli_arguments *arguments, gbs_status made, gbs_model *model,
                  const gbs_error *err)
{
    if (made < 0) {
        return cli_fail(made, err);
    }
    int status = cli_write_model(arguments, model);
    if (status == CLI_DONE && arguments->verbose) {
        cli_note(arguments, "%" PRIu32 " variables, %zu factors, seed %" PRIu64,
                 gbs_model_n_variables(model), gbs_model_n_factors(model), arguments->run.seed);
    }
    gbs_model_free(model);
    return status;
}

int cli_generate_ising(cli_arguments *arguments)
{
    gbs_generate_ising_options options = {
        .side = {1, 1, 1},
        .torus = arguments->torus,
        .coupling = arguments->coupling,
        .coupling_spread = arguments->coupling_spread,
        .field = arguments->field,
        .random_field = arguments->random_field,
        .seed = arguments->run.seed,
    };
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    if (arguments->grid == NULL) {
        return missing("grid");
    }
    if (parse_numbers(arguments->grid, 'x', 3, options.side) < 2) {
        return cli_error(CLI_USAGE, "--grid %s: expected RxC or AxBxC, such as 20x30",
                         arguments->grid);
    }
    int status = cli_check_model_output(arguments);
    if (status != CLI_DONE) {
        return status;
    }
    gbs_status made = gbs_generate_ising(&options, &model, &err);
    return finish(arguments, made, model, &err);
}

int cli_generate_potts(cli_arguments *arguments)
{
    gbs_generate_potts_options options = {
        .torus = arguments->torus,
        .coupling = arguments->coupling,
        .noise = arguments->noise,
        .seed = arguments->run.seed,
    };
    uint32_t side[3] = {0, 0, 1};
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    if (arguments->grid == NULL || arguments->states == NULL) {
        return missing(arguments->grid == NULL ? "grid" : "states");
    }
    if (parse_numbers(arguments->grid, 'x', 3, side) < 2) {
        return cli_error(CLI_USAGE, "--grid %s: expected RxC or AxBxC, such as 20x30",
                         arguments->grid);
    }
    if (parse_numbers(arguments->states, ':', 1, &options.states) != 1) {
        return cli_error(CLI_USAGE, "--states %s: expected a whole number above 0",
                         arguments->states);
    }
    options.rows = side[0];
    options.columns = side[1];
    options.layers = side[2];
    int status = cli_check_model_output(arguments);
    if (status != CLI_DONE) {
        return status;
    }
    gbs_status made = gbs_generate_potts(&options, &model, &err);
    return finish(arguments, made, model, &err);
}

/* The kinds below are spins and a few numbers: fill in what all of them take. */
#define SPINS(a)                                                                             \
    .coupling = (a)->coupling, .coupling_spread = (a)->coupling_spread, .field = (a)->field, \
    .random_field = (a)->random_field, .seed = (a)->run.seed

/* @return an exit status. @param required names of options that must be there, then NULL. */
static int check_spins(const cli_arguments *arguments, const char *const *required)
{
    for (; *required != NULL; required++) {
        if (!cli_given(arguments, *required)) {
            return missing(*required);
        }
    }
    return cli_check_model_output(arguments);
}

int cli_generate_ring(cli_arguments *arguments)
{
    static const char *const required[] = {"variables", NULL};
    const gbs_generate_ring_options options = {
        .variables = (uint32_t)arguments->variables,
        SPINS(arguments),
    };
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    int status = check_spins(arguments, required);
    if (status != CLI_DONE) {
        return status;
    }
    gbs_status made = gbs_generate_ring(&options, &model, &err);
    return finish(arguments, made, model, &err);
}

int cli_generate_complete(cli_arguments *arguments)
{
    static const char *const required[] = {"variables", NULL};
    const gbs_generate_complete_options options = {
        .variables = (uint32_t)arguments->variables,
        SPINS(arguments),
    };
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    int status = check_spins(arguments, required);
    if (status != CLI_DONE) {
        return status;
    }
    gbs_status made = gbs_generate_complete(&options, &model, &err);
    return finish(arguments, made, model, &err);
}

int cli_generate_regular(cli_arguments *arguments)
{
    static const char *const required[] = {"variables", "degree", NULL};
    const gbs_generate_regular_options options = {
        .variables = (uint32_t)arguments->variables,
        .degree = (uint32_t)arguments->degree,
        SPINS(arguments),
    };
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    int status = check_spins(arguments, required);
    if (status != CLI_DONE) {
        return status;
    }
    gbs_status made = gbs_generate_regular(&options, &model, &err);
    return finish(arguments, made, model, &err);
}

int cli_generate_powerlaw(cli_arguments *arguments)
{
    static const char *const required[] = {"variables", "edges", NULL};
    const gbs_generate_powerlaw_options options = {
        .variables = (uint32_t)arguments->variables,
        .edges = (uint32_t)arguments->edges,
        SPINS(arguments),
    };
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    int status = check_spins(arguments, required);
    if (status != CLI_DONE) {
        return status;
    }
    gbs_status made = gbs_generate_powerlaw(&options, &model, &err);
    return finish(arguments, made, model, &err);
}

int cli_generate_rbm(cli_arguments *arguments)
{
    static const char *const required[] = {"visible", "hidden", NULL};
    const gbs_generate_rbm_options options = {
        .visible = (uint32_t)arguments->visible,
        .hidden = (uint32_t)arguments->hidden,
        SPINS(arguments),
    };
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    int status = check_spins(arguments, required);
    if (status != CLI_DONE) {
        return status;
    }
    gbs_status made = gbs_generate_rbm(&options, &model, &err);
    return finish(arguments, made, model, &err);
}

int cli_generate_bayes(cli_arguments *arguments)
{
    static const char *const required[] = {"variables", "parents", "states"};
    gbs_generate_bayes_options options = {
        .variables = (uint32_t)arguments->variables,
        .parents = (uint32_t)arguments->parents,
        .seed = arguments->run.seed,
    };
    uint32_t states[2] = {0, 0};
    gbs_model *model = NULL;
    gbs_error err = {GBS_OK, ""};
    for (size_t i = 0; i < sizeof required / sizeof required[0]; i++) {
        if (!cli_given(arguments, required[i])) {
            return missing(required[i]);
        }
    }
    int n = parse_numbers(arguments->states, ':', 2, states);
    if (n == 0 || (n == 2 && states[0] > states[1])) {
        return cli_error(CLI_USAGE, "--states %s: expected A:B with A <= B, such as 2:4",
                         arguments->states);
    }
    options.min_states = states[0];
    options.max_states = n == 2 ? states[1] : states[0];
    int status = cli_check_model_output(arguments);
    if (status != CLI_DONE) {
        return status;
    }
    gbs_status made = gbs_generate_bayes(&options, &model, &err);
    return finish(arguments, made, model, &err);
}
