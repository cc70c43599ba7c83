/* SPDX-License-Identifier: Apache-2.0 */
#include "coverage/models.h"

#include <math.h>
#include <string.h>

#include "support/making.h"

enum { MOST = 64 };

static gbs_model *of_family(test_family family, uint32_t seed, uint32_t n)
{
    return test_model(family, 4000 + seed, n);
}

/* ---- spins ----------------------------------------------------------------------------------- */

static gbs_model *ising_chain(uint32_t n)
{
    gbs_builder *b = begin_equal(n, 2);
    for (uint32_t v = 0; v < n; ++v) {
        field(b, v, 0.05 * (v % 5) - 0.1);
        if (v > 0) {
            ising(b, v - 1, v, 0.6);
        }
    }
    return finish(b);
}

/* A closed lattice below the critical coupling, in a weak field. */
static gbs_model *ising_torus(uint32_t side)
{
    gbs_builder *b = begin_equal(side * side, 2);
    for (uint32_t v = 0; v < side * side; ++v) {
        ising(b, v, v % side == side - 1 ? v + 1 - side : v + 1, 0.3);
        ising(b, v, (v + side) % (side * side), 0.3);
        field(b, v, 0.1);
    }
    return finish(b);
}

static gbs_model *ising_family(uint32_t seed)
{
    return of_family(TEST_ISING, seed, 14);
}

/* A closed lattice of couplings +-J; k: ten times J, and the side. */
static gbs_model *glass(uint32_t k)
{
    test_stream s = {.seed = 700 + k};
    const uint32_t side = k % 10;
    const uint32_t tenths = k / 10;
    const double coupling = (double)tenths / 10.0;
    gbs_builder *b = begin_equal(side * side, 2);
    for (uint32_t v = 0; v < side * side; ++v) {
        const uint32_t right = v % side == side - 1 ? v + 1 - side : v + 1;
        const uint32_t down = (v + side) % (side * side);
        ising(b, v, right, test_below(&s, 2) ? coupling : -coupling);
        ising(b, v, down, test_below(&s, 2) ? coupling : -coupling);
        field(b, v, test_uniform(&s, -0.4, 0.4));
    }
    return finish(b);
}

static gbs_model *spin_products(uint32_t seed)
{
    return of_family(TEST_SPIN, seed, 12);
}

static gbs_model *potts_grid(uint32_t states)
{
    test_stream s = {.seed = 60 + states};
    const uint32_t side = 4;
    uint32_t arity[MOST];
    for (uint32_t v = 0; v < side * side; ++v) {
        arity[v] = states;
    }
    gbs_builder *b = begin(side * side, arity);
    for (uint32_t v = 0; v < side * side; ++v) {
        random_table(b, &s, 1, &v, arity, 0.5, 0.0);
        if (v % side != side - 1) {
            potts(b, v, v + 1, 0.7);
        }
        if (v / side != side - 1) {
            potts(b, v, v + side, 0.7);
        }
    }
    return finish(b);
}

static gbs_model *potts_family(uint32_t seed)
{
    return of_family(TEST_POTTS, seed, 10);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static gbs_model *pairwise(uint32_t seed)
{
    return of_family(TEST_PAIRWISE, seed, 12);
}

static gbs_model *tables(uint32_t seed)
{
    return of_family(TEST_TABLE, seed, 10);
}

static gbs_model *precise(uint32_t seed)
{
    return of_family(TEST_PRECISE, seed, 8);
}

static gbs_model *network(uint32_t seed)
{
    return of_family(TEST_BAYES, seed, 14);
}

/* Conditional tables exp(2.5 u), u uniform in -1 .. 1 but for one heavy state of each column: rare
 * states, down to some 10^-4. */
static gbs_model *rare_network(uint32_t seed)
{
    enum { N = 14 };
    gbs_error err = {0};
    test_stream s = {.seed = 500 + seed};
    uint32_t arity[N];
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 2 + test_below(&s, 3);
    }
    gbs_builder *b = begin(N, arity);
    for (uint32_t v = 0; v < N; ++v) {
        const uint32_t n_parents = v < 2 ? v : 2;
        const uint32_t parent[2] = {v > 0 ? test_below(&s, v / 2 + 1) : 0, v - 1};
        const uint32_t *first = parent + 2 - n_parents;
        const uint32_t n_distinct = n_parents == 2 && parent[0] == parent[1] ? 1 : n_parents;
        const uint32_t *parents = n_distinct < n_parents ? parent + 1 : first;
        size_t n_columns = 1;
        double p[64];
        for (uint32_t q = 0; q < n_distinct; ++q) {
            n_columns *= arity[parents[q]];
        }
        for (size_t c = 0; c < n_columns; ++c) {
            double sum = 0.0;
            const uint32_t heavy = test_below(&s, arity[v]);
            for (uint32_t a = 0; a < arity[v]; ++a) {
                const double w = exp(2.5 * test_uniform(&s, -1.0, 1.0) + (a == heavy ? 3.0 : 0.0));
                p[c * arity[v] + a] = w;
                sum += w;
            }
            for (uint32_t a = 0; a < arity[v]; ++a) {
                p[c * arity[v] + a] /= sum;
            }
        }
        must(gbs_builder_add_cpt(b, v, n_distinct, parents, n_columns * arity[v], p, &err), &err);
    }
    gbs_builder_set_directed(b);
    return finish(b);
}

/* A ring of variables of k states. */
static gbs_model *many_states(uint32_t k)
{
    test_stream s = {.seed = 40 + k};
    const uint32_t arity[] = {k, 3, k / 2, 2, k};
    const uint32_t n = 5;
    gbs_builder *b = begin(n, arity);
    for (uint32_t v = 0; v < n; ++v) {
        const uint32_t scope[2] = {v, (v + 1) % n};
        random_table(b, &s, 2, scope, arity, 1.0, 0.0);
    }
    return finish(b);
}

/* A variable of several states that all others share a table with, and a chain of these. */
static gbs_model *hub(uint32_t n)
{
    test_stream s = {.seed = 80 + n};
    uint32_t arity[MOST];
    for (uint32_t v = 0; v < n; ++v) {
        arity[v] = v == 0 ? 4 : 2 + v % 2;
    }
    gbs_builder *b = begin(n, arity);
    for (uint32_t v = 1; v < n; ++v) {
        const uint32_t spoke[2] = {0, v};
        const uint32_t rim[2] = {v - 1, v};
        random_table(b, &s, 2, spoke, arity, 3.0 / sqrt((double)n), 0.0);
        if (v > 1) {
            random_table(b, &s, 2, rim, arity, 0.4, 0.0);
        }
    }
    return finish(b);
}

static gbs_model *independent(uint32_t n)
{
    test_stream s = {.seed = 30 + n};
    uint32_t arity[MOST];
    for (uint32_t v = 0; v < n; ++v) {
        arity[v] = 2 + v % 4;
    }
    gbs_builder *b = begin(n, arity);
    for (uint32_t v = 0; v < n; ++v) {
        random_table(b, &s, 1, &v, arity, 2.0, 0.0);
    }
    return finish(b);
}

/* ---- zeros and literals ---------------------------------------------------------------------- */

/* A tenth of the entries are zeros, but never that of states 0. */
static gbs_model *zeros(uint32_t seed)
{
    enum { N = 12 };
    test_stream s = {.seed = 900 + seed};
    uint32_t arity[N];
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 2 + test_below(&s, 3);
    }
    gbs_builder *b = begin(N, arity);
    for (uint32_t v = 1; v < N; ++v) {
        const uint32_t scope[2] = {v, test_below(&s, v)};
        double logw[16];
        const size_t n_entries = (size_t)arity[scope[0]] * arity[scope[1]];
        for (size_t i = 0; i < n_entries; ++i) {
            const double w = test_uniform(&s, -1.0, 1.0);
            logw[i] = i > 0 && test_uniform(&s, 0.0, 1.0) < 0.1 ? -INFINITY : w;
        }
        table(b, 2, scope, n_entries, logw);
    }
    return finish(b);
}

/* Clauses of three literals, most of them weighted, a few hard. */
static gbs_model *clauses(uint32_t seed)
{
    enum { N = 16 };
    gbs_error err = {0};
    test_stream s = {.seed = 300 + seed};
    gbs_builder *b = begin_equal(N, 2);
    for (uint32_t i = 0; i < 2 * N; ++i) {
        const uint32_t first = test_below(&s, N);
        const uint32_t scope[3] = {first, (first + 1 + test_below(&s, 5)) % N,
                                   (first + 6 + test_below(&s, 5)) % N};
        const uint32_t literal[3] = {test_below(&s, 2), test_below(&s, 2), test_below(&s, 2)};
        const double weight = i % 8 == 0 ? INFINITY : test_uniform(&s, 0.3, 2.0);
        must(gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 3, scope, literal, weight, &err), &err);
    }
    return finish(b);
}

static gbs_model *logical(uint32_t seed)
{
    return of_family(TEST_LOGICAL, seed, 12);
}

static gbs_model *mixed(uint32_t seed)
{
    return of_family(TEST_MIXED, seed, 10);
}

static gbs_model *named(const char *name)
{
    for (size_t i = 0; i < n_test_cases; ++i) {
        if (strcmp(test_cases[i].name, name) == 0) {
            return test_cases[i].make();
        }
    }
    abort();
}

static gbs_model *coloring(uint32_t k)
{
    (void)k;
    return named("coloring");
}

static gbs_model *sparse_zeros(uint32_t k)
{
    (void)k;
    return named("sparse-zeros");
}

static gbs_model *long_clauses(uint32_t k)
{
    (void)k;
    return named("long-clauses");
}

static gbs_model *parities(uint32_t k)
{
    return k == 0 ? test_parities() : test_long_parities();
}

static gbs_model *cardinalities(uint32_t k)
{
    return k == 0   ? test_cardinalities()
           : k == 1 ? test_long_cardinalities()
                    : test_hard_cardinalities();
}

static gbs_model *noisy(uint32_t k)
{
    return k == 0 ? test_noisy() : test_long_noisy();
}

/* ---- the table ------------------------------------------------------------------------------- */

#define USUAL (UINT64_C(1) << 25)
#define LONG  (UINT64_C(1) << 28)

const coverage_model coverage_models[] = {
    {"Ising", "chain", ising_chain, 20, -1, USUAL},
    {"Ising", "torus 3", ising_torus, 3, -1, USUAL},
    {"Ising", "torus 4", ising_torus, 4, 5, USUAL},
    {"Ising", "torus 6", ising_torus, 6, -1, USUAL},
    {"Ising", "random 1", ising_family, 1, -1, USUAL},
    {"Ising", "random 2", ising_family, 2, 3, USUAL},
    {"Potts", "grid of 3 states", potts_grid, 3, -1, USUAL},
    {"Potts", "grid of 5 states", potts_grid, 5, -1, USUAL},
    {"Potts", "random 1", potts_family, 1, -1, USUAL},
    {"Potts", "random 2", potts_family, 2, -1, USUAL},
    {"Potts", "random 3", potts_family, 3, 4, USUAL},
    {"glass", "4 x 4, 0.5", glass, 54, -1, USUAL},
    {"glass", "5 x 5, 0.7", glass, 75, -1, LONG},
    {"glass", "6 x 6, 0.8", glass, 86, -1, LONG},
    {"glass", "4 x 4, 1.0", glass, 104, -1, USUAL},
    {"glass", "6 x 6, 1.4", glass, 146, -1, LONG},
    {"pairwise", "random 1", pairwise, 1, -1, USUAL},
    {"pairwise", "random 2", pairwise, 2, -1, USUAL},
    {"pairwise", "random 3", pairwise, 3, 2, USUAL},
    {"pairwise", "random 4", pairwise, 4, -1, USUAL},
    {"tables", "random 1", tables, 1, -1, USUAL},
    {"tables", "random 2", tables, 2, 1, USUAL},
    {"tables", "random 3", tables, 3, -1, USUAL},
    {"tables", "large weights 1", precise, 1, -1, USUAL},
    {"tables", "large weights 2", precise, 2, -1, USUAL},
    {"network", "random 1", network, 1, -1, USUAL},
    {"network", "random 2", network, 2, 13, USUAL},
    {"network", "random 3", network, 3, 12, USUAL},
    {"network", "random 4", network, 4, 11, USUAL},
    {"network", "random 5", network, 5, -1, USUAL},
    {"rare states", "network 1", rare_network, 1, -1, USUAL},
    {"rare states", "network 2", rare_network, 2, 13, USUAL},
    {"rare states", "network 3", rare_network, 3, -1, USUAL},
    {"rare states", "network 4", rare_network, 4, 12, USUAL},
    {"zeros", "tables 1", zeros, 1, -1, USUAL},
    {"zeros", "tables 2", zeros, 2, -1, USUAL},
    {"zeros", "tables 3", zeros, 3, 1, USUAL},
    {"zeros", "coloring", coloring, 0, -1, USUAL},
    {"zeros", "tables of three", sparse_zeros, 0, -1, USUAL},
    {"clauses", "3-SAT 1", clauses, 1, -1, USUAL},
    {"clauses", "3-SAT 2", clauses, 2, 3, USUAL},
    {"clauses", "long", long_clauses, 0, -1, USUAL},
    {"clauses", "logical 1", logical, 1, -1, USUAL},
    {"clauses", "logical 2", logical, 2, 4, USUAL},
    {"clauses", "with tables", mixed, 1, -1, USUAL},
    {"counted literals", "parities", parities, 0, 6, USUAL},
    {"counted literals", "long parities", parities, 1, -1, USUAL},
    {"counted literals", "cardinalities", cardinalities, 0, -1, USUAL},
    {"counted literals", "long cardinalities", cardinalities, 1, -1, USUAL},
    {"counted literals", "hard cardinalities", cardinalities, 2, -1, USUAL},
    {"counted literals", "spin products", spin_products, 1, -1, USUAL},
    {"counted literals", "noisy", noisy, 1, -1, USUAL},
    {"many states", "20", many_states, 20, -1, USUAL},
    {"many states", "60", many_states, 60, 1, USUAL},
    {"many states", "120", many_states, 120, -1, USUAL},
    {"hub", "of 9", hub, 10, -1, USUAL},
    {"hub", "of 29", hub, 30, -1, USUAL},
    {"hub", "of 59", hub, 60, 7, USUAL},
    {"independent", "8", independent, 8, -1, USUAL},
    {"independent", "40", independent, 40, -1, USUAL},
};
const size_t n_coverage_models = sizeof coverage_models / sizeof coverage_models[0];
