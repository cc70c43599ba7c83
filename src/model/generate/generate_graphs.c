/* SPDX-License-Identifier: Apache-2.0 */
/* Makes graphs whose edges need no search: grids, rings, complete graphs, two-layer graphs, and
 * graphs by preferential attachment. */
#include <stdio.h>

#include "base/memory.h"
#include "base/sized.h"
#include "base/status.h"
#include "generate/generators.h"

/* ---- grids: columns, rows and layers --------------------------------------------------------- */

gbs_status gbsi_generate_measure_grid(const gbsi_generate_spins *spins, gbsi_generate_size *size,
                                      gbs_error *err)
{
    const uint32_t *side = spins->size;
    uint64_t n = 1;
    (void)snprintf(size->what, sizeof size->what, "grid %u x %u x %u", (unsigned)side[1],
                   (unsigned)side[0], (unsigned)side[2]);
    for (unsigned d = 0; d < 3; ++d) {
        if (side[d] == 0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: every side must be 1 or more", size->what);
        }
        n *= side[d]; /* both factors are below 2^32, hence the product is below 2^64 */
        if (n > GBS_MAX_VARIABLES) {
            return gbsi_fail(err, GBS_ERR_LIMIT, "%s: more than the %u variables possible",
                             size->what, GBS_MAX_VARIABLES);
        }
    }
    size->n_variables = n;
    size->n_couplings = 0;
    for (unsigned d = 0; d < 3; ++d) {
        size->n_couplings += spins->torus && side[d] > 2 ? n : n - n / side[d];
    }
    return GBS_OK;
}

/* Couples each variable to its neighbours to the right, below, and in the next layer. */
static gbs_status couple_grid(const gbsi_generate_spins *spins, gbs_builder *builder,
                              gbs_error *err)
{
    const uint32_t *side = spins->size;
    const uint32_t n = side[0] * side[1] * side[2];
    for (uint32_t v = 0; v < n; ++v) {
        for (unsigned d = 0; d < 3; ++d) {
            uint32_t next = 0;
            if (gbsi_generate_neighbour(side, spins->torus, v, d, &next)) {
                GBSI_PASS(gbsi_generate_couple(spins, builder, 3 * (uint64_t)v + d, v, next, err));
            }
        }
    }
    return GBS_OK;
}

static const gbsi_generate_graph grid = {gbsi_generate_measure_grid, couple_grid};

gbs_status gbs_generate_ising(const gbs_generate_ising_options *options, gbs_model **model,
                              gbs_error *err)
{
    GBSI_NEED(options);
    GBSI_IN_STRUCT(options, gbs_generate_ising_options);
    GBSI_NEED(model);
    return gbsi_generate_on(
        &grid,
        GBSI_SPINS(options, .size = {options->side[1], options->side[0], options->side[2]},
                   .torus = options->torus != 0),
        model, err);
}

gbs_status gbs_generate_ring(const gbs_generate_ring_options *options, gbs_model **model,
                             gbs_error *err)
{
    GBSI_NEED(options);
    GBSI_IN_STRUCT(options, gbs_generate_ring_options);
    GBSI_NEED(model);
    if (options->variables == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "ring of 0 variables: expected 1 or more");
    }
    return gbsi_generate_on(
        &grid, GBSI_SPINS(options, .size = {options->variables, 1, 1}, .torus = true), model, err);
}

/* ---- complete ------------------------------------------------------------------------------ */

static gbs_status measure_complete(const gbsi_generate_spins *spins, gbsi_generate_size *size,
                                   gbs_error *err)
{
    const uint64_t n = spins->size[0];
    (void)snprintf(size->what, sizeof size->what, "complete graph of %u variables", (unsigned)n);
    if (n == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: expected 1 or more", size->what);
    }
    size->n_variables = n;
    size->n_couplings = n * (n - 1) / 2;
    return GBS_OK;
}

static gbs_status couple_complete(const gbsi_generate_spins *spins, gbs_builder *builder,
                                  gbs_error *err)
{
    const uint32_t n = spins->size[0];
    uint64_t edge = 0;
    for (uint32_t i = 0; i < n; ++i) {
        for (uint32_t j = i + 1; j < n; ++j) {
            GBSI_PASS(gbsi_generate_couple(spins, builder, edge++, i, j, err));
        }
    }
    return GBS_OK;
}

gbs_status gbs_generate_complete(const gbs_generate_complete_options *options, gbs_model **model,
                                 gbs_error *err)
{
    GBSI_NEED(options);
    GBSI_IN_STRUCT(options, gbs_generate_complete_options);
    GBSI_NEED(model);
    static const gbsi_generate_graph complete = {measure_complete, couple_complete};
    return gbsi_generate_on(&complete, GBSI_SPINS(options, .size = {options->variables}), model,
                            err);
}

/* ---- two layers: visible and hidden --------------------------------------------------------- */

static gbs_status measure_layers(const gbsi_generate_spins *spins, gbsi_generate_size *size,
                                 gbs_error *err)
{
    const uint32_t *layer = spins->size;
    (void)snprintf(size->what, sizeof size->what, "machine of %u visible and %u hidden variables",
                   (unsigned)layer[0], (unsigned)layer[1]);
    if (layer[0] == 0 || layer[1] == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: expected 1 or more of both", size->what);
    }
    size->n_variables = (uint64_t)layer[0] + layer[1];
    size->n_couplings = (uint64_t)layer[0] * layer[1];
    return GBS_OK;
}

static gbs_status couple_layers(const gbsi_generate_spins *spins, gbs_builder *builder,
                                gbs_error *err)
{
    const uint32_t *layer = spins->size;
    uint64_t edge = 0;
    for (uint32_t i = 0; i < layer[0]; ++i) {
        for (uint32_t j = 0; j < layer[1]; ++j) {
            GBSI_PASS(gbsi_generate_couple(spins, builder, edge++, i, layer[0] + j, err));
        }
    }
    return GBS_OK;
}

gbs_status gbs_generate_rbm(const gbs_generate_rbm_options *options, gbs_model **model,
                            gbs_error *err)
{
    GBSI_NEED(options);
    GBSI_IN_STRUCT(options, gbs_generate_rbm_options);
    GBSI_NEED(model);
    static const gbsi_generate_graph layers = {measure_layers, couple_layers};
    return gbsi_generate_on(
        &layers, GBSI_SPINS(options, .size = {options->visible, options->hidden}), model, err);
}

/* ---- preferential attachment --------------------------------------------------------------- */

/* Each end of each edge so far is drawn with equal probability, and a variable of degree k has k
 * ends (Batagelj & Brandes 2005, Phys. Rev. E 71:036113). An edge joins a new variable to an old
 * one. The number of the edge determines the new variable, so only the old variable is stored. */
typedef struct growth {
    uint32_t m;          /* number of edges that each new variable adds */
    uint32_t *old_end;   /* [couplings] old variables of the edges that are added after the edges of
                            the first m + 1 variables */
    uint32_t *joined_to; /* [variables] the last new variable that drew each variable */
    uint64_t n_attempts;
} growth;

/* Returns the number of pairs among the first m + 1 variables, which are all joined in the order
 * (0, 1), (0, 2), (1, 2), (0, 3), ...: the pairs of variable v begin at v (v - 1) / 2. */
static uint64_t seed_edges(uint32_t m)
{
    return (uint64_t)m * ((uint64_t)m + 1) / 2;
}

/* Returns the variable at one of 2 * n_edges ends: first the ends of the first m + 1 variables,
 * m each, then the new and the old variable of each further edge. */
static uint32_t variable_at(const growth *g, uint64_t end)
{
    const uint32_t m = g->m;
    const uint64_t n_seed_ends = 2 * seed_edges(m);
    if (end < n_seed_ends) {
        return (uint32_t)(end / m);
    }
    const uint64_t edge = (end - n_seed_ends) / 2;
    return (end - n_seed_ends) % 2 != 0 ? g->old_end[edge] : (uint32_t)(m + 1 + edge / m);
}

/* Joins the new variable v to m older variables. */
static gbs_status attach(growth *g, uint32_t v, const gbsi_generate_spins *spins,
                         gbs_builder *builder, gbs_error *err)
{
    const uint32_t m = g->m;
    const uint64_t first = (uint64_t)(v - m - 1) * m;
    const uint64_t n_ends = 2 * (seed_edges(m) + first);
    for (uint32_t i = 0; i < m;) {
        double u[2];
        gbsi_generate_uniforms(spins->seed, GBSI_STREAM_ATTACH, g->n_attempts++, u);
        /* the index is below n_ends, because u < 1 - 2^-53 and there are fewer than 2^53 ends */
        const uint32_t old = variable_at(g, (uint64_t)(u[0] * (double)n_ends));
        if (g->joined_to[old] == v) {
            continue;
        }
        g->joined_to[old] = v;
        g->old_end[first + i] = old;
        GBSI_PASS(gbsi_generate_couple(spins, builder, seed_edges(m) + first + i, old, v, err));
        ++i;
    }
    return GBS_OK;
}

static gbs_status couple_powerlaw(const gbsi_generate_spins *spins, gbs_builder *builder,
                                  gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint32_t n = spins->size[0];
    const uint32_t m = spins->size[1];
    const uint64_t n_grown = (uint64_t)(n - m - 1) * m;
    growth g = {.m = m};
    uint64_t edge = 0;
    g.old_end = gbsi_alloc_array(n_grown, sizeof *g.old_end);
    /* 0 means that a variable was not drawn; variable 0 is never new */
    g.joined_to = gbsi_alloc_array_zero(n, sizeof *g.joined_to);
    GBSI_TRY(GBSI_HAVE(err, "graph", g.old_end, g.joined_to));
    for (uint32_t v = 1; v <= m; ++v) {
        for (uint32_t w = 0; w < v; ++w) {
            GBSI_TRY(gbsi_generate_couple(spins, builder, edge++, w, v, err));
        }
    }
    for (uint32_t v = m + 1; v < n; ++v) {
        GBSI_TRY(attach(&g, v, spins, builder, err));
    }

cleanup:
    GBSI_FREE(g.old_end, g.joined_to);
    return status;
}

static gbs_status measure_powerlaw(const gbsi_generate_spins *spins, gbsi_generate_size *size,
                                   gbs_error *err)
{
    const uint32_t n = spins->size[0];
    const uint32_t m = spins->size[1];
    (void)snprintf(size->what, sizeof size->what, "graph of %u variables with %u edges each",
                   (unsigned)n, (unsigned)m);
    if (m == 0 || m >= n) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "%s: expected 1 edge or more, and fewer than variables", size->what);
    }
    size->n_variables = n;
    size->n_couplings = seed_edges(m) + (uint64_t)(n - m - 1) * m;
    return GBS_OK;
}

gbs_status gbs_generate_powerlaw(const gbs_generate_powerlaw_options *options, gbs_model **model,
                                 gbs_error *err)
{
    GBSI_NEED(options);
    GBSI_IN_STRUCT(options, gbs_generate_powerlaw_options);
    GBSI_NEED(model);
    static const gbsi_generate_graph powerlaw = {measure_powerlaw, couple_powerlaw};
    return gbsi_generate_on(
        &powerlaw, GBSI_SPINS(options, .size = {options->variables, options->edges}), model, err);
}
