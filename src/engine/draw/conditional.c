/* SPDX-License-Identifier: Apache-2.0 */
#include "draw/conditional.h"

#include <math.h>
#include <stdio.h>

#include "base/memory.h"
#include "plan/kernel.h"
#include "simd/math.h"

void gbsi_conditionals_free(gbsi_conditionals *c)
{
    GBSI_FREE(c->start, c->factor);
    *c = (gbsi_conditionals){0};
}

static size_t n_ends(const gbsi_plan *plan)
{
    const gbsi_factors *f = &plan->model->factors;
    return f->n_factors == 0 ? 0 : f->scope_start[f->n_factors];
}

uint64_t gbsi_conditionals_bytes(const gbsi_plan *plan)
{
    return ((uint64_t)plan->n_slots + 2 + n_ends(plan)) * sizeof(size_t);
}

const char *gbsi_slot_text(const gbsi_plan *plan, uint32_t slot, char text[80])
{
    const gbsi_conditioned *model = plan->model;
    const uint32_t variable = model->user_variable[plan->variable_of[slot]];
    const char *name = gbs_model_variable_name(model->model, variable);
    (void)snprintf(text, 80, name == NULL ? "%u" : "%u (%.48s)", variable, name);
    return text;
}

/* Counting sort of factors by variable: start[v + 1] is the index at which the next factor of v
 * is stored. */
gbs_status gbsi_conditionals_new(const gbsi_plan *plan, gbsi_conditionals *out, gbs_error *err)
{
    const gbsi_factors *factors = &plan->model->factors;
    const size_t n = n_ends(plan);
    gbsi_conditionals c = {.plan = plan};
    for (size_t f = 0; f < factors->n_factors; ++f) {
        const size_t size = factors->scope_start[f + 1] - factors->scope_start[f];
        if (size > GBSI_LONGEST_SCOPE) {
            return gbsi_fail(err, GBS_ERR_LIMIT,
                             "herding keyed by neighbours: a factor has %zu variables, this "
                             "version supports %u: use --draw discretized",
                             size, GBSI_LONGEST_SCOPE);
        }
    }
    c.start = gbsi_alloc_array_zero((size_t)plan->n_slots + 2, sizeof *c.start);
    c.factor = gbsi_alloc_array(n, sizeof *c.factor);
    if (c.start == NULL || c.factor == NULL) {
        gbsi_conditionals_free(&c);
        return gbsi_no_memory(err, "herding", n * sizeof *c.factor);
    }
    for (size_t e = 0; e < n; ++e) {
        ++c.start[(size_t)factors->scope[e] + 2];
    }
    for (uint32_t v = 0; v < plan->n_slots; ++v) {
        c.start[(size_t)v + 2] += c.start[(size_t)v + 1];
    }
    for (size_t f = 0; f < factors->n_factors; ++f) {
        for (size_t e = factors->scope_start[f]; e < factors->scope_start[f + 1]; ++e) {
            c.factor[c.start[(size_t)factors->scope[e] + 1]++] = f;
        }
    }
    *out = c;
    return GBS_OK;
}

uint32_t gbsi_view_at(const gbsi_view *view, uint32_t slot)
{
    return gbsi_state_at(view->state, (size_t)slot * view->lanes + view->lane, view->value_bytes);
}

void gbsi_conditional_logw(const gbsi_conditionals *c, uint32_t slot, const gbsi_view *view,
                           double *logw)
{
    const gbsi_plan *plan = c->plan;
    const gbsi_conditioned *model = plan->model;
    const gbsi_factors *factors = &model->factors;
    const uint32_t v = plan->variable_of[slot];
    const uint32_t k = gbsi_plan_arity(plan, slot);
    uint32_t at[GBSI_LONGEST_SCOPE];
    for (uint32_t a = 0; a < k; ++a) {
        logw[a] = 0.0;
    }
    for (size_t i = c->start[v]; i < c->start[v + 1]; ++i) {
        const size_t f = c->factor[i];
        const uint32_t *scope = factors->scope + factors->scope_start[f];
        const size_t n = factors->scope_start[f + 1] - factors->scope_start[f];
        size_t own = 0;
        for (size_t q = 0; q < n; ++q) {
            own = scope[q] == v ? q : own;
            at[q] = scope[q] == v ? 0 : gbsi_view_at(view, plan->slot_of[scope[q]]);
        }
        for (uint32_t a = 0; a < k; ++a) {
            at[own] = a;
            logw[a] += gbsi_factor_value_at(factors, model->arity, f, at);
        }
    }
}

bool gbsi_normalise(double *logw, uint32_t k)
{
    double top = -INFINITY;
    double total = 0.0;
    for (uint32_t a = 0; a < k; ++a) {
        top = logw[a] > top ? logw[a] : top;
    }
    const bool possible = top > -INFINITY;
    for (uint32_t a = 0; a < k; ++a) {
        logw[a] = possible ? gbsi_exp(logw[a] - top) : 0.0;
        total += logw[a];
    }
    for (uint32_t a = 0; possible && a < k; ++a) {
        logw[a] /= total;
    }
    return possible;
}

uint32_t gbsi_chance(const double p[2])
{
    /* The smaller of p[0] and p[1] decides: it has full relative accuracy, while the larger one is
     * near 1 and has an error of 2^-53. */
    const double small = p[1] < p[0] ? p[1] : p[0];
    const double scaled = small * 0x1p32 + 0.5;
    const uint64_t rounded = scaled < 1.0 ? 1 : (uint64_t)scaled; /* at most 2^31 */
    return (uint32_t)(p[1] < p[0] ? rounded : (UINT64_C(1) << 32) - rounded);
}
