/* SPDX-License-Identifier: Apache-2.0 */
#include "models/couplings.h"

#include <string.h>

#include "base/memory.h"

static const char *const names[] = {"physics", "bqm", "maxcut"};

gbs_status gbsi_convention_of(const char *word, gbsi_convention own, gbsi_convention *convention,
                              gbs_error *err)
{
    if (word == NULL) {
        *convention = own;
        return GBS_OK;
    }
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(word, names[i]) == 0) {
            *convention = (gbsi_convention)i;
            return GBS_OK;
        }
    }
    return gbsi_fail(err, GBS_ERR_ARGUMENT,
                     "convention '%.100s' is not known, expected physics, bqm or maxcut", word);
}

const char *gbsi_convention_name(gbsi_convention convention)
{
    return names[convention];
}

double gbsi_convention_sign(gbsi_convention convention)
{
    return convention == GBSI_PHYSICS ? 1.0 : -1.0;
}

gbs_status gbsi_spin_list_init(gbsi_spin_list *spins, uint32_t n_variables, gbs_error *err)
{
    *spins = (gbsi_spin_list){.n_variables = n_variables};
    spins->field = gbsi_alloc_array_zero(n_variables, sizeof *spins->field);
    GBSI_PASS(GBSI_HAVE(err, "fields", spins->field));
    return GBS_OK;
}

void gbsi_spin_list_free(gbsi_spin_list *spins)
{
    gbsi_free(spins->field);
    gbsi_edges_free(&spins->edges);
    *spins = (gbsi_spin_list){0};
}

static gbs_status add_variables(gbs_builder *builder, uint32_t n, gbs_error *err)
{
    uint32_t *arity = gbsi_alloc_array(n, sizeof *arity);
    GBSI_PASS(GBSI_HAVE(err, "variables", arity));
    for (uint32_t v = 0; v < n; v++) {
        arity[v] = 2;
    }
    gbs_status status = gbs_builder_add_variables(builder, n, arity, NULL, err);
    gbsi_free(arity);
    return status;
}

gbs_status gbsi_spin_list_build(const gbsi_spin_list *spins, bool bits, double sign,
                                gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    const gbs_quadratic quadratic = {.size = sizeof quadratic,
                                     .scale = sign,
                                     .constant = spins->constant,
                                     .linear = spins->field,
                                     .pair = spins->edges.edge,
                                     .n_pairs = spins->edges.n,
                                     .n_variables = spins->n_variables,
                                     .bits = bits};
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(add_variables(builder, spins->n_variables, err));
    GBSI_TRY(gbs_builder_add_quadratic(builder, &quadratic, err));
    status = gbs_builder_build(builder, model, err);

cleanup:
    gbs_builder_free(builder);
    return status;
}
