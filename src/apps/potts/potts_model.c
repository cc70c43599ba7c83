/* SPDX-License-Identifier: Apache-2.0 */
/* Turns parameters into a model, and back: the zero-sum gauge, and factors. */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "potts/potts.h"
#include "store/model.h"

/* ---- gauge ----------------------------------------------------------------------------------- */

/* J'(a, b) = J(a, b) - mean over a - mean over b + mean of all entries. The means that are
 * subtracted from J are added to the fields of the two sites, up to a constant. @param row, column
 * [q] scratch. */
static void centre_table(double *table, size_t q, double *first, double *second, double *row,
                         double *column)
{
    double mean = 0.0;
    for (size_t a = 0; a < q; ++a) {
        row[a] = column[a] = 0.0;
    }
    for (size_t a = 0; a < q; ++a) {
        for (size_t b = 0; b < q; ++b) {
            row[a] += table[a * q + b] / (double)q;
            column[b] += table[a * q + b] / (double)q;
        }
    }
    for (size_t a = 0; a < q; ++a) {
        mean += row[a] / (double)q;
    }
    for (size_t a = 0; a < q; ++a) {
        first[a] += row[a] - mean;
        second[a] += column[a] - mean;
        for (size_t b = 0; b < q; ++b) {
            table[a * q + b] += mean - row[a] - column[b];
        }
    }
}

void gbsi_potts_to_gauge(const gbsi_potts *potts, double *x)
{
    const size_t q = potts->n_states;
    double row[GBS_MAX_SITE_STATES];
    double column[GBS_MAX_SITE_STATES];
    for (size_t i = 0; i < potts->n_sites; ++i) {
        for (size_t j = i + 1; j < potts->n_sites; ++j) {
            centre_table(x + gbsi_potts_pair(potts, i, j), q, x + i * q, x + j * q, row, column);
        }
    }
    for (size_t i = 0; i < potts->n_sites; ++i) {
        double mean = 0.0;
        for (size_t a = 0; a < q; ++a) {
            mean += x[i * q + a] / (double)q;
        }
        for (size_t a = 0; a < q; ++a) {
            x[i * q + a] -= mean;
        }
    }
}

/* Brings the weights of one site to the zero-sum gauge without a change of its conditional
 * distribution. Means over b of J_ij(a, b) are moved to h_i(a); means over a do not affect p(x_i |
 * others) and are removed. */
void gbsi_potts_centre_block(const gbsi_potts *p, uint32_t i, double *block)
{
    const size_t q = p->n_states;
    double *field = block + i * q * p->width;
    for (size_t j = 0; j < p->n_sites; ++j) {
        double *table = block + j * q * p->width; /* [b][a] table of a pair */
        double of_a[GBS_MAX_SITE_STATES] = {0.0};
        if (j == i) {
            continue;
        }
        for (size_t b = 0; b < q; ++b) {
            double mean = 0.0;
            for (size_t a = 0; a < q; ++a) {
                mean += table[b * p->width + a] / (double)q;
            }
            for (size_t a = 0; a < q; ++a) {
                table[b * p->width + a] -= mean;
                of_a[a] += table[b * p->width + a] / (double)q;
            }
        }
        for (size_t a = 0; a < q; ++a) {
            field[a] += of_a[a];
            for (size_t b = 0; b < q; ++b) {
                table[b * p->width + a] -= of_a[a];
            }
        }
    }
}

/* ---- factors --------------------------------------------------------------------------------- */

static gbs_status name_site(const gbsi_potts *p, gbs_builder *builder, uint32_t i, gbs_error *err)
{
    char name[16];
    const char *letter[GBS_MAX_SITE_STATES];
    char letters[GBS_MAX_SITE_STATES][2];
    const char *given = gbs_rows_site_name(p->rows, i);
    (void)snprintf(name, sizeof name, "s%u", i + 1);
    GBSI_PASS(gbs_builder_name_variable(builder, i, given == NULL ? name : given, err));
    if (p->rows->letters != NULL) {
        for (uint32_t a = 0; a < p->n_states; ++a) {
            letters[a][0] = p->rows->letters[a];
            letters[a][1] = '\0';
            letter[a] = letters[a];
        }
        GBSI_PASS(gbs_builder_label_states(builder, i, letter, err));
    }
    return GBS_OK;
}

static gbs_status add_factor(gbs_builder *builder, uint32_t n, const uint32_t *scope,
                             size_t n_entries, const double *logw, gbs_error *err)
{
    uint32_t table = 0;
    GBSI_PASS(gbs_builder_add_table(builder, n_entries, logw, &table, err));
    return gbs_builder_add_table_factor(builder, n, scope, table, err);
}

gbs_status gbsi_potts_model(const gbsi_potts *potts, const double *x, gbs_model **model,
                            gbs_error *err)
{
    gbs_status status = GBS_OK;
    const size_t q = potts->n_states;
    gbs_builder *builder = NULL;
    GBSI_TRY(gbs_builder_new(&builder, err));
    for (uint32_t i = 0; i < potts->n_sites; ++i) {
        GBSI_TRY(gbs_builder_add_variables(builder, 1, &potts->n_states, NULL, err));
        GBSI_TRY(name_site(potts, builder, i, err));
    }
    for (uint32_t i = 0; i < potts->n_sites; ++i) {
        GBSI_TRY(add_factor(builder, 1, &i, q, x + i * q, err));
    }
    for (uint32_t i = 0; i < potts->n_sites; ++i) {
        for (uint32_t j = i + 1; j < potts->n_sites; ++j) {
            const uint32_t scope[2] = {i, j};
            const double *table = x + gbsi_potts_pair(potts, i, j);
            GBSI_TRY(add_factor(builder, 2, scope, q * q, table, err));
        }
    }
    GBSI_TRY(gbs_builder_build(builder, model, err));

cleanup:
    gbs_builder_free(builder);
    return status;
}

/* ---- back ------------------------------------------------------------------------------------ */

gbs_status gbsi_potts_check_model(const gbs_model *m, gbs_error *err)
{
    const gbsi_factors *f = &m->factors;
    const size_t n = m->n_variables;
    bool dense = f->n_factors == n + n * (n - 1) / 2;
    size_t at = 0;
    for (size_t i = 0; i < n && dense; ++i, ++at) {
        dense = m->arity[i] == m->arity[0] && f->kind[at] == GBS_FACTOR_TABLE &&
                f->scope_start[at + 1] - f->scope_start[at] == 1 &&
                f->scope[f->scope_start[at]] == i;
    }
    for (size_t i = 0; i < n && dense; ++i) {
        for (size_t j = i + 1; j < n && dense; ++j, ++at) {
            const uint32_t *scope = f->scope + f->scope_start[at];
            dense = f->kind[at] == GBS_FACTOR_TABLE &&
                    f->scope_start[at + 1] - f->scope_start[at] == 2 && scope[0] == i &&
                    scope[1] == j;
        }
    }
    return dense && n > 0 ? GBS_OK
                          : gbsi_fail(err, GBS_ERR_ARGUMENT,
                                      "found another model, expected one of gbs_potts_learn(): a "
                                      "table for each variable, then one for each pair");
}

size_t gbsi_potts_read(const gbs_model *m, double *value)
{
    const gbsi_factors *f = &m->factors;
    size_t n = 0;
    for (size_t at = 0; at < f->n_factors; ++at) {
        const double *table = f->table + f->table_start[f->aux[at]];
        const size_t size = gbsi_factor_size(f, at);
        if (value != NULL) {
            memcpy(value + n, table, size * sizeof *value);
        }
        n += size;
    }
    return n;
}

gbs_status gbs_potts_parameters(const gbs_model *model, size_t *n, double *value, gbs_error *err)
{
    GBSI_NEED(model, n);
    const gbs_status status = gbsi_potts_check_model(model, err);
    if (status >= 0) {
        *n = gbsi_potts_read(model, value);
    }
    return status;
}
