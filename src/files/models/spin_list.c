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
    if (spins->field == NULL) {
        return gbsi_no_memory(err, "fields", n_variables * sizeof *spins->field);
    }
    return GBS_OK;
}

void gbsi_spin_list_free(gbsi_spin_list *spins)
{
    gbsi_free(spins->field);
    gbsi_edges_free(&spins->edges);
    *spins = (gbsi_spin_list){0};
}

/* With x = (1 + s) / 2:  q x_i x_j = q/4 (1 + s_i + s_j + s_i s_j),  l x_i = l/2 (1 + s_i). */
void gbsi_spin_list_from_binary(gbsi_spin_list *spins)
{
    gbsi_edge *edge = spins->edges.edge;
    for (uint32_t v = 0; v < spins->n_variables; v++) {
        spins->field[v] *= 0.5;
        spins->constant += spins->field[v];
    }
    for (size_t e = 0; e < spins->edges.n; e++) {
        if (edge[e].i == GBSI_NO_EDGE) {
            continue;
        }
        edge[e].value *= 0.25;
        spins->field[edge[e].i] += edge[e].value;
        spins->field[edge[e].j] += edge[e].value;
        spins->constant += edge[e].value;
    }
}

static gbs_status add_variables(gbs_builder *builder, uint32_t n, gbs_error *err)
{
    uint32_t *arity = gbsi_alloc_array(n, sizeof *arity);
    if (arity == NULL) {
        return gbsi_no_memory(err, "variables", n * sizeof *arity);
    }
    for (uint32_t v = 0; v < n; v++) {
        arity[v] = 2;
    }
    gbs_status status = gbs_builder_add_variables(builder, n, arity, NULL, err);
    gbsi_free(arity);
    return status;
}

gbs_status gbsi_spin_list_build(const gbsi_spin_list *spins, double sign, gbs_model **model,
                                gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    const gbsi_edge *edge = spins->edges.edge;
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(add_variables(builder, spins->n_variables, err));
    if (spins->constant != 0) {
        const double constant = sign * spins->constant;
        uint32_t table = 0;
        GBSI_TRY(gbs_builder_add_table(builder, 1, &constant, &table, err));
        GBSI_TRY(gbs_builder_add_table_factor(builder, 0, NULL, table, err));
    }
    for (uint32_t v = 0; v < spins->n_variables; v++) {
        if (spins->field[v] != 0) {
            GBSI_TRY(gbs_builder_add_field(builder, v, sign * spins->field[v], err));
        }
    }
    for (size_t e = 0; e < spins->edges.n; e++) {
        if (edge[e].i == GBSI_NO_EDGE || edge[e].value == 0) {
            continue;
        }
        bool ordered = edge[e].i < edge[e].j;
        GBSI_TRY(gbs_builder_add_ising(builder, ordered ? edge[e].i : edge[e].j,
                                       ordered ? edge[e].j : edge[e].i, sign * edge[e].value, err));
    }
    status = gbs_builder_build(builder, model, err);

cleanup:
    gbs_builder_free(builder);
    return status;
}
