/* SPDX-License-Identifier: Apache-2.0 */
/* Polynomials of second degree in spins or bits, that is, a constant, fields and couplings.
 * Energies of spin models and binary quadratic models have this form. */
#include <string.h>

#include "base/memory.h"
#include "base/sized.h"
#include "gibbsite/model.h"

/* Adds the factors of a polynomial over bits. With x = (1 + s) / 2, q x_i x_j = q/4 (1 + s_i + s_j
 * + s_i s_j) and l x_i = l/2 (1 + s_i). */
static void add_bits(const gbs_quadratic *q, double *constant, double *field)
{
    for (uint32_t v = 0; v < q->n_variables; v++) {
        field[v] = q->linear == NULL ? 0.0 : 0.5 * q->linear[v];
        *constant += field[v];
    }
    for (size_t e = 0; e < q->n_pairs; e++) {
        const gbs_pair *pair = &q->pair[e];
        if (pair->i == GBS_NO_PAIR) {
            continue;
        }
        const double quarter = 0.25 * pair->value;
        field[pair->i] += quarter;
        field[pair->j] += quarter;
        *constant += quarter;
    }
}

static gbs_status check_pairs(const gbs_quadratic *q, gbs_error *err)
{
    for (size_t e = 0; e < q->n_pairs; e++) {
        const gbs_pair *pair = &q->pair[e];
        const uint32_t most = pair->i > pair->j ? pair->i : pair->j;
        if (pair->i != GBS_NO_PAIR && most >= q->n_variables) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "pair %zu: variable %u, expected 0 to %u", e,
                             (unsigned)most, (unsigned)q->n_variables - 1);
        }
    }
    return GBS_OK;
}

static gbs_status add_constant(gbs_builder *builder, double constant, gbs_error *err)
{
    uint32_t table = 0;
    gbs_status status =
        constant == 0 ? GBS_OK : gbs_builder_add_table(builder, 1, &constant, &table, err);
    return constant == 0 || status < 0 ? status
                                       : gbs_builder_add_table_factor(builder, 0, NULL, table, err);
}

gbs_status gbs_builder_add_quadratic(gbs_builder *builder, const gbs_quadratic *quadratic,
                                     gbs_error *err)
{
    gbs_status status = GBS_OK;
    GBSI_NEED(builder, quadratic);
    GBSI_IN_STRUCT(quadratic, gbs_quadratic);
    if (quadratic->n_pairs > 0) {
        GBSI_NEED(quadratic->pair);
    }
    const gbs_quadratic *q = quadratic;
    const double *linear = q->linear;
    double *field = NULL;
    double constant = q->constant;
    GBSI_TRY(check_pairs(q, err));
    if (q->bits) {
        field = gbsi_alloc_array(q->n_variables, sizeof *field);
        GBSI_PASS(GBSI_HAVE(err, "fields", field));
        add_bits(q, &constant, field);
        linear = field;
    }
    GBSI_TRY(add_constant(builder, q->scale * constant, err));
    for (uint32_t v = 0; linear != NULL && v < q->n_variables; v++) {
        if (linear[v] != 0) {
            GBSI_TRY(gbs_builder_add_field(builder, v, q->scale * linear[v], err));
        }
    }
    for (size_t e = 0; e < q->n_pairs; e++) {
        const gbs_pair *pair = &q->pair[e];
        if (pair->i == GBS_NO_PAIR || pair->value == 0) {
            continue;
        }
        const double value = q->scale * (q->bits ? 0.25 * pair->value : pair->value);
        const bool ordered = pair->i < pair->j;
        GBSI_TRY(gbs_builder_add_ising(builder, ordered ? pair->i : pair->j,
                                       ordered ? pair->j : pair->i, value, err));
    }

cleanup:
    gbsi_free(field);
    return status;
}
