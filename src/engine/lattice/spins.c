/* SPDX-License-Identifier: Apache-2.0 */
#include "lattice/spins.h"

#include <math.h>

#include "base/memory.h"
#include "simd/math.h"

static uint32_t order_of(const gbsi_factors *factors, size_t f)
{
    return (uint32_t)(factors->scope_start[f + 1] - factors->scope_start[f]);
}

const char *gbsi_spins_refusal(const gbsi_conditioned *model)
{
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        if (model->arity[v] != 2) {
            return "a variable has more than two states";
        }
    }
    for (size_t f = 0; f < model->factors.n_factors; ++f) {
        if (model->has_zeros[f] != 0) {
            return "hard zeros remain";
        }
        if (order_of(&model->factors, f) > 2) {
            return "a factor joins three variables or more";
        }
    }
    return NULL;
}

/* Fields are computed from differences between table entries, so that the fields of a symmetric
 * table are exactly 0. */
gbsi_spin_factor gbsi_spin_factor_of(const gbsi_conditioned *model, size_t f)
{
    const gbsi_factors *factors = &model->factors;
    const uint32_t n = order_of(factors, f);
    double logw[4];
    if (factors->kind[f] == GBS_FACTOR_ISING) {
        return (gbsi_spin_factor){.coupling = factors->weight[f]};
    }
    if (factors->kind[f] == GBS_FACTOR_FIELD) {
        return (gbsi_spin_factor){.field = {factors->weight[f], 0.0}};
    }
    for (uint32_t i = 0; i < 1u << n; ++i) {
        const uint32_t at[2] = {n == 2 ? i >> 1 : i, i & 1};
        logw[i] = gbsi_factor_value_at(factors, model->arity, f, at);
    }
    if (n == 1) {
        return (gbsi_spin_factor){.constant = 0.5 * (logw[0] + logw[1]),
                                  .field = {0.5 * (logw[1] - logw[0]), 0.0}};
    }
    const double rise = logw[3] - logw[0];
    const double turn = logw[2] - logw[1];
    return (gbsi_spin_factor){
        .constant = 0.25 * ((logw[0] + logw[3]) + (logw[1] + logw[2])),
        .coupling = 0.25 * ((logw[0] - logw[1]) + (logw[3] - logw[2])),
        .field = {0.25 * (rise + turn), 0.25 * (rise - turn)},
    };
}

/* ---- fields --------------------------------------------------------------------------------- */

uint64_t gbsi_spins_find_bytes(uint32_t n_sites)
{
    return n_sites * (uint64_t)(sizeof(double) + 1);
}

/* Sums the constants and the fields of all factors. @param h [n_sites] out: fields; NULL if only
 * the constant is wanted. @return whether any factor has a field. */
static bool sum_factors(const gbsi_conditioned *model, gbsi_spins *spins, double *h)
{
    const gbsi_factors *factors = &model->factors;
    bool any = false;
    spins->constant = model->log_constant;
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const gbsi_spin_factor factor = gbsi_spin_factor_of(model, f);
        const uint32_t *scope = factors->scope + factors->scope_start[f];
        spins->constant += factor.constant;
        for (uint32_t i = 0; i < order_of(factors, f); ++i) {
            any |= factor.field[i] != 0.0;
            if (h != NULL) {
                h[scope[i]] += factor.field[i];
            }
        }
    }
    return any;
}

static const char *tell_apart(gbsi_spins *spins, const double *h, uint8_t *field_of)
{
    for (uint32_t v = 0; v < spins->n_sites; ++v) {
        uint32_t i = 0;
        while (i < spins->n_fields && spins->field[i] != h[v]) {
            ++i;
        }
        if (i == GBSI_SPIN_FIELDS) {
            return "more than eight different fields";
        }
        if (i == spins->n_fields) {
            spins->field[spins->n_fields++] = h[v];
        }
        field_of[v] = (uint8_t)i;
        ++spins->n_of_field[i];
    }
    return NULL;
}

gbs_status gbsi_spins_find_fields(const gbsi_conditioned *model, gbsi_spins *spins,
                                  uint8_t **field_of, const char **reason, gbs_error *err)
{
    const uint32_t n = spins->n_sites;
    const char *why = NULL;
    if (!sum_factors(model, spins, NULL)) {
        spins->n_fields = 1; /* the field is 0 at every site */
        spins->n_of_field[0] = n;
        *field_of = NULL;
        return GBS_OK;
    }
    double *h = gbsi_alloc_array_zero(n, sizeof *h);
    uint8_t *of = gbsi_alloc_array(n, 1);
    if (h == NULL || of == NULL) {
        GBSI_FREE(h, of);
        return gbsi_no_memory(err, "lattice", n * sizeof *h);
    }
    (void)sum_factors(model, spins, h);
    why = tell_apart(spins, h, of);
    gbsi_free(h);
    if (why != NULL || spins->n_fields == 1) {
        gbsi_free(of);
        of = NULL;
    }
    *field_of = of;
    *reason = why != NULL ? why : *reason;
    return GBS_OK;
}

/* ---- conditionals --------------------------------------------------------------------------- */

/* Log-odds are 2 h + sum over groups of 2 J (2 c - degree). The less likely state has probability e
 * / (1 + e) with e = exp(-|log-odds|). This probability is raised to 2^-32 if it is smaller, so
 * that no site is ever frozen. */
uint32_t gbsi_spins_threshold(const gbsi_spins *spins, uint32_t field, const uint8_t *degree,
                              const uint8_t *count, uint32_t *likely)
{
    double odds = 2.0 * spins->field[field];
    for (uint32_t g = 0; g < spins->n_groups; ++g) {
        odds += 2.0 * spins->coupling[g] * (2.0 * count[g] - degree[g]);
    }
    const double e = gbsi_exp(-fabs(odds));
    const double t = 0x1p32 * (e / (1.0 + e)) + 0.5;
    *likely = odds > 0.0;
    return t < 1.0 ? 1 : (t >= 0x1p31 ? UINT32_C(1) << 31 : (uint32_t)t);
}

uint32_t gbsi_spins_plane(uint32_t threshold, uint32_t plane)
{
    return threshold >> (31 - plane) & 1u ? UINT32_MAX : 0;
}

/* ---- sums ----------------------------------------------------------------------------------- */

double gbsi_spins_log_density(const gbsi_spins *spins, const gbsi_spin_sums *sums)
{
    double logw = spins->constant;
    for (uint32_t g = 0; g < spins->n_groups; ++g) {
        logw += spins->coupling[g] * (double)(2 * sums->agree[g] - spins->n_bonds[g]);
    }
    for (uint32_t f = 0; f < spins->n_fields; ++f) {
        logw += spins->field[f] * (double)(2 * sums->up[f] - spins->n_of_field[f]);
    }
    return logw;
}

int64_t gbsi_spins_total(const gbsi_spins *spins, const gbsi_spin_sums *sums)
{
    int64_t up = 0;
    for (uint32_t f = 0; f < spins->n_fields; ++f) {
        up += sums->up[f];
    }
    return 2 * up - spins->n_sites;
}
