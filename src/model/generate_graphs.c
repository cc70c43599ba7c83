/* SPDX-License-Identifier: Apache-2.0 */
/* Spins on graphs that need no search: complete, two layers, preferential attachment. */
#include <inttypes.h>
#include <stdio.h>

#include "base/memory.h"
#include "base/status.h"
#include "model/generate.h"

/* From couplings to model. @param couple adds them. */
static gbs_status make_spins(const gbsi_generate_spins *spins, uint32_t n,
                             gbs_status (*couple)(const void *context,
                                                  const gbsi_generate_spins *spins,
                                                  gbs_builder *builder, gbs_error *err),
                             const void *context, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbsi_generate_variables(builder, n, 2, err));
    GBSI_TRY(couple(context, spins, builder, err));
    GBSI_TRY(gbsi_spins_add_fields(spins, builder, n, err));
    GBSI_TRY(gbs_builder_build(builder, model, err));

cleanup:
    gbs_builder_free(builder);
    return status;
}

/* ---- complete ------------------------------------------------------------------------------ */

static gbs_status couple_complete(const void *context, const gbsi_generate_spins *spins,
                                  gbs_builder *builder, gbs_error *err)
{
    const uint32_t n = *(const uint32_t *)context;
    gbs_status status = GBS_OK;
    uint64_t edge = 0;
    for (uint32_t i = 0; i < n; ++i) {
        for (uint32_t j = i + 1; j < n; ++j) {
            GBSI_TRY(gbsi_spins_couple(spins, builder, edge++, i, j, err));
        }
    }

cleanup:
    return status;
}

gbs_status gbs_generate_complete(const gbs_generate_complete_options *o, gbs_model **model,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_generate_spins spins = {o->coupling, o->coupling_spread, o->field, o->random_field,
                                       o->seed};
    const uint64_t n = o->variables;
    char what[64];
    if (n == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "complete graph of 0 variables: expected 1 or more");
    }
    (void)snprintf(what, sizeof what, "complete graph of %" PRIu64 " variables", n);
    GBSI_TRY(gbsi_spins_check(&spins, what, n, n * (n - 1) / 2, err));
    GBSI_TRY(make_spins(&spins, o->variables, couple_complete, &o->variables, model, err));

cleanup:
    return status;
}

/* ---- two layers ---------------------------------------------------------------------------- */

static gbs_status couple_layers(const void *context, const gbsi_generate_spins *spins,
                                gbs_builder *builder, gbs_error *err)
{
    const gbs_generate_rbm_options *o = context;
    gbs_status status = GBS_OK;
    uint64_t edge = 0;
    for (uint32_t i = 0; i < o->visible; ++i) {
        for (uint32_t j = 0; j < o->hidden; ++j) {
            GBSI_TRY(gbsi_spins_couple(spins, builder, edge++, i, o->visible + j, err));
        }
    }

cleanup:
    return status;
}

gbs_status gbs_generate_rbm(const gbs_generate_rbm_options *o, gbs_model **model, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_generate_spins spins = {o->coupling, o->coupling_spread, o->field, o->random_field,
                                       o->seed};
    const uint64_t n = (uint64_t)o->visible + o->hidden;
    char what[64];
    (void)snprintf(what, sizeof what, "machine of %u visible and %u hidden variables",
                   (unsigned)o->visible, (unsigned)o->hidden);
    if (o->visible == 0 || o->hidden == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: expected 1 or more of both", what);
    }
    GBSI_TRY(gbsi_spins_check(&spins, what, n, (uint64_t)o->visible * o->hidden, err));
    GBSI_TRY(make_spins(&spins, (uint32_t)n, couple_layers, o, model, err));

cleanup:
    return status;
}

/* ---- preferential attachment --------------------------------------------------------------- */

/* Each end of each edge so far is an equally likely draw, and a variable of degree k has k ends
 * (Batagelj & Brandes 2005, Phys. Rev. E 71:036113). The new end of an edge follows from its
 * number, so that only the old one is stored. */
typedef struct growth {
    const gbs_generate_powerlaw_options *options;
    uint32_t *old_end;   /* [couplings] of edges added after the first edges + 1 variables */
    uint32_t *joined_to; /* [variables] the last new variable that drew each */
    uint64_t n_attempts;
} growth;

/* Pairs of the first m + 1 variables, all joined: (0, 1), (0, 2), (1, 2), (0, 3), ...: variable v
 * comes at v (v - 1) / 2. */
static uint64_t seed_edges(uint32_t m)
{
    return (uint64_t)m * ((uint64_t)m + 1) / 2;
}

/* The variable at one of 2 * n_edges ends: those of the first m + 1 variables, m each, then new and
 * old of each further edge in turn. */
static uint32_t variable_at(const growth *g, uint64_t end)
{
    const uint32_t m = g->options->edges;
    const uint64_t n_seed_ends = 2 * seed_edges(m);
    if (end < n_seed_ends) {
        return (uint32_t)(end / m);
    }
    const uint64_t edge = (end - n_seed_ends) / 2;
    return (end - n_seed_ends) % 2 != 0 ? g->old_end[edge] : (uint32_t)(m + 1 + edge / m);
}

/* Joins the new variable v to m others. */
static gbs_status attach(growth *g, uint32_t v, const gbsi_generate_spins *spins,
                         gbs_builder *builder, gbs_error *err)
{
    const uint32_t m = g->options->edges;
    const uint64_t first = (uint64_t)(v - m - 1) * m;
    const uint64_t n_ends = 2 * (seed_edges(m) + first);
    for (uint32_t i = 0; i < m;) {
        double u[2];
        gbsi_generate_uniforms(spins->seed, GBSI_STREAM_ATTACH, g->n_attempts++, u);
        /* u < 1 - 2^-53 and fewer than 2^53 ends: never n_ends */
        const uint32_t old = variable_at(g, (uint64_t)(u[0] * (double)n_ends));
        if (g->joined_to[old] == v) {
            continue;
        }
        g->joined_to[old] = v;
        g->old_end[first + i] = old;
        const gbs_status status =
            gbsi_spins_couple(spins, builder, seed_edges(m) + first + i, old, v, err);
        if (status < 0) {
            return status;
        }
        ++i;
    }
    return GBS_OK;
}

static gbs_status couple_powerlaw(const void *context, const gbsi_generate_spins *spins,
                                  gbs_builder *builder, gbs_error *err)
{
    const gbs_generate_powerlaw_options *o = context;
    gbs_status status = GBS_OK;
    const uint32_t n = o->variables;
    const uint64_t n_grown = (uint64_t)(n - o->edges - 1) * o->edges;
    growth g = {.options = o};
    uint64_t edge = 0;
    g.old_end = gbsi_alloc_array(n_grown, sizeof *g.old_end);
    g.joined_to = gbsi_alloc_array_zero(n, sizeof *g.joined_to); /* 0 is no new variable */
    if (g.old_end == NULL || g.joined_to == NULL) {
        GBSI_TRY(gbsi_no_memory(err, "graph", (n_grown + n) * sizeof *g.old_end));
    }
    for (uint32_t v = 1; v <= o->edges; ++v) {
        for (uint32_t w = 0; w < v; ++w) {
            GBSI_TRY(gbsi_spins_couple(spins, builder, edge++, w, v, err));
        }
    }
    for (uint32_t v = o->edges + 1; v < n; ++v) {
        GBSI_TRY(attach(&g, v, spins, builder, err));
    }

cleanup:
    gbsi_free(g.old_end);
    gbsi_free(g.joined_to);
    return status;
}

gbs_status gbs_generate_powerlaw(const gbs_generate_powerlaw_options *o, gbs_model **model,
                                 gbs_error *err)
{
    gbs_status status = GBS_OK;
    const gbsi_generate_spins spins = {o->coupling, o->coupling_spread, o->field, o->random_field,
                                       o->seed};
    char what[80];
    (void)snprintf(what, sizeof what, "graph of %u variables with %u edges each",
                   (unsigned)o->variables, (unsigned)o->edges);
    if (o->edges == 0 || o->edges >= o->variables) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: expected 1 edge or more, and fewer than variables", what);
    }
    const uint64_t n_couplings =
        seed_edges(o->edges) + (uint64_t)(o->variables - o->edges - 1) * o->edges;
    GBSI_TRY(gbsi_spins_check(&spins, what, o->variables, n_couplings, err));
    GBSI_TRY(make_spins(&spins, o->variables, couple_powerlaw, o, model, err));

cleanup:
    return status;
}
