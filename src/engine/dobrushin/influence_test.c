/* SPDX-License-Identifier: Apache-2.0 */
/* Compares bounds with Dobrushin's influences by enumeration, on random small models of every kind.
 */
#include <string.h>

#include "base/memory.h"
#include "base/test_scale.h"
#include "dobrushin/influence.h"
#include "dobrushin/test_influences.h"
#include "gibbsite/generate.h"
#include "simd/math.h"

#define TOLERANCE 1e-12

typedef struct made {
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_graph *graph;
    gbsi_influence *w;
} made;

/* @return 0 if hard zeros leave no state at all. */
static int prepare(made *m, gbs_model *model, size_t cells, uint64_t walk)
{
    const gbsi_influence_limits limits = {cells, walk};
    *m = (made){.model = model};
    if (gbsi_condition(model, NULL, &m->conditioned, NULL) != GBS_OK) {
        return 0;
    }
    assert_int_equal(gbsi_graph_new(m->conditioned, NULL, &m->graph, NULL), GBS_OK);
    assert_int_equal(gbsi_influence_new(m->graph, &limits, &m->w, NULL), GBS_OK);
    return 1;
}

static void release(made *m)
{
    gbsi_influence_free(m->w);
    gbsi_graph_free(m->graph);
    gbsi_conditioned_free(m->conditioned);
    gbs_model_free(m->model);
    *m = (made){0};
}

typedef struct tally {
    double ratio; /* sum of exact over bound */
    unsigned n;
    unsigned n_one; /* bounds of 1 */
} tally;

static double bound_of(const gbsi_influence_row *row, uint32_t j)
{
    for (uint32_t k = 0; k < row->n; ++k) {
        if (row->j[k] == j) {
            return row->bound[k];
        }
    }
    return 0.0;
}

/* Checks that gbsi_influence_sums() agrees with the sums of single rows. @return whether factors
 * were walked, not rows. */
static bool check_sums(const made *m)
{
    const uint32_t n = m->conditioned->n_variables;
    double largest = -1.0;
    double mean = -1.0;
    double most = 0.0;
    double all = 0.0;
    for (uint32_t i = 0; i < n; ++i) {
        double sum = -1.0;
        assert_int_equal(gbsi_influence_row_sum(m->w, i, &sum, NULL), GBS_OK);
        most = sum > most ? sum : most;
        all += sum;
    }
    assert_int_equal(gbsi_influence_sums(m->w, &largest, &mean, NULL), GBS_OK);
    assert_true(fabs(largest - most) < TOLERANCE);
    assert_true(fabs(mean * n - all) <= n * TOLERANCE);
    return m->graph->neighbour != NULL && !gbsi_graph_may_repeat(m->graph);
}

/* Checks every entry of every row. Variables that are not listed must have no influence. */
static void check_model(const made *m, tally *t)
{
    const gbsi_conditioned *c = m->conditioned;
    for (uint32_t i = 0; i < c->n_variables; ++i) {
        gbsi_influence_row row;
        double total = 0.0;
        double sum = -1.0;
        assert_int_equal(gbsi_influence_row_sum(m->w, i, &sum, NULL), GBS_OK);
        assert_int_equal(gbsi_influence_row_of(m->w, i, &row, NULL), GBS_OK);
        for (uint32_t k = 0; k < row.n; ++k) {
            assert_true(row.j[k] != i && (k == 0 || row.j[k - 1] < row.j[k]));
            assert_true(row.bound[k] >= 0.0 && row.bound[k] <= 1.0);
            total += row.bound[k];
        }
        assert_true(fabs(total - sum) < TOLERANCE);
        for (uint32_t j = 0; j < c->n_variables; ++j) {
            const double exact = j == i ? 0.0 : exact_influence(c, i, j);
            const double bound = bound_of(&row, j);
            if (!(bound >= exact - TOLERANCE)) {
                fail_msg("influence of %u on %u: %.17g, bound %.17g", j, i, exact, bound);
            }
            if (bound > 0.0) {
                t->ratio += exact / bound;
                t->n += 1;
                t->n_one += bound == 1.0 && exact < 0.999;
            }
        }
    }
    (void)check_sums(m);
}

static void test_never_below(void **unused)
{
    (void)unused;
    static const uint32_t zeros[] = {0, 10, 30};
    static const size_t cells[] = {GBSI_INFLUENCE_CELLS, 16, 0};
    static const uint64_t walk[] = {UINT64_MAX, UINT64_MAX, 40};
    uint64_t seed = 1;
    for (unsigned z = 0; z < 3; ++z) {
        for (unsigned c = 0; c < 3; ++c) {
            tally t = {0};
            for (unsigned n = 0; n < test_share(1500, 300); ++n) {
                made m;
                if (prepare(&m, random_noisy_model(&seed, zeros[z]), cells[c], walk[c])) {
                    check_model(&m, &t);
                }
                release(&m);
            }
            print_message("%u %% zeros, %zu cells: %u pairs, mean exact / bound %.3f\n", zeros[z],
                          cells[c], t.n, t.ratio / t.n);
            assert_true(t.n > test_share(2000, 400));
            assert_true(t.ratio / t.n > 0.5); /* otherwise bounds of 1 would pass the test, too */
        }
    }
}

/* ---- spins --------------------------------------------------------------------------------- */

/* Couplings as Ising factors, tables, spin products or Potts couplings of two states; the bound is
 * exact if the log-odds that all other spins and the field make cannot be 0. */
static gbs_model *random_spins(uint64_t *seed, uint32_t n, double *coupling, double *field)
{
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    const uint32_t two[6] = {2, 2, 2, 2, 2, 2};
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, n, two, NULL, NULL), GBS_OK);
    memset(coupling, 0, 36 * sizeof *coupling);
    for (uint32_t i = 0; i < n; ++i) {
        field[i] = random_weight(seed);
        assert_int_equal(gbs_builder_add_field(b, i, field[i], NULL), GBS_OK);
        for (uint32_t j = i + 1; j < n; ++j) {
            const uint32_t scope[2] = {j, i};
            const double w = random_weight(seed) / 4;
            const double logw[4] = {w, -w, -w, w};
            uint32_t table = 0;
            if (random_below(seed, 3) == 0) {
                continue;
            }
            coupling[6 * i + j] = coupling[6 * j + i] = w;
            switch (random_below(seed, 5)) {
            case 0:
                assert_int_equal(gbs_builder_add_table(b, 4, logw, &table, NULL), GBS_OK);
                assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, table, NULL), GBS_OK);
                break;
            case 1:
                assert_int_equal(gbs_builder_add_spin(b, 2, scope, w, NULL), GBS_OK);
                break;
            case 2:
                assert_int_equal(gbs_builder_add_potts(b, i, j, 2 * w, NULL), GBS_OK);
                break;
            case 3: /* the coupling is in two factors, which are merged */
                assert_int_equal(gbs_builder_add_ising(b, i, j, w + 0.5, NULL), GBS_OK);
                assert_int_equal(gbs_builder_add_spin(b, 2, scope, -0.5, NULL), GBS_OK);
                break;
            default:
                assert_int_equal(gbs_builder_add_ising(b, j, i, w, NULL), GBS_OK);
            }
        }
    }
    assert_int_equal(gbs_builder_build(b, &m, NULL), GBS_OK);
    gbs_builder_free(b);
    return m;
}

static void test_exact_for_spins(void **unused)
{
    (void)unused;
    uint64_t seed = 5;
    unsigned n_exact = 0;
    unsigned n_walked = 0;
    for (unsigned k = 0; k < 3000; ++k) {
        const uint32_t n = 2 + random_below(&seed, 4);
        double coupling[36];
        double field[6];
        made m;
        assert_true(
            prepare(&m, random_spins(&seed, n, coupling, field), GBSI_INFLUENCE_CELLS, UINT64_MAX));
        n_walked += check_sums(&m);
        for (uint32_t i = 0; i < n; ++i) {
            gbsi_influence_row row;
            assert_int_equal(gbsi_influence_row_of(m.w, i, &row, NULL), GBS_OK);
            for (uint32_t q = 0; q < row.n; ++q) {
                double others = 0.0; /* S of Mitliagkas & Mackey 2017, Theorem 11 */
                for (uint32_t v = 0; v < n; ++v) {
                    others += v == row.j[q] ? 0.0 : fabs(coupling[6 * i + v]);
                }
                const double exact = exact_influence(m.conditioned, i, row.j[q]);
                assert_true(row.bound[q] >= exact - TOLERANCE);
                if (fabs(field[i]) > others) {
                    if (fabs(row.bound[q] - exact) > TOLERANCE) {
                        fail_msg("%.17g, expected %.17g", row.bound[q], exact);
                    }
                    ++n_exact;
                }
            }
        }
        release(&m);
    }
    assert_true(n_exact > 5000 && n_walked > 500 && n_walked < 2500);
}

/* Without fields an influence is tanh |J|. On the torus of Mitliagkas & Mackey the sum of a row is
 * below 1. */
static void test_known_values(void **unused)
{
    (void)unused;
    const gbs_generate_ising_options torus = {.side = {8, 8, 1}, .torus = 1, .coupling = 0.25};
    const gbs_generate_potts_options potts = {
        .rows = 5, .columns = 5, .states = 5, .coupling = 0.48};
    made m;
    gbs_model *model = NULL;
    double sum = 0.0;
    assert_int_equal(gbs_generate_ising(&torus, &model, NULL), GBS_OK);
    assert_true(prepare(&m, model, 0, UINT64_MAX));
    for (uint32_t i = 0; i < 64; ++i) {
        assert_int_equal(gbsi_influence_row_sum(m.w, i, &sum, NULL), GBS_OK);
        assert_true(fabs(sum - 4.0 * gbsi_tanh(0.25)) < 1e-14);
    }
    release(&m);
    assert_int_equal(gbs_generate_potts(&potts, &model, NULL), GBS_OK);
    assert_true(prepare(&m, model, 0, UINT64_MAX));
    assert_int_equal(gbsi_influence_row_sum(m.w, 12, &sum, NULL), GBS_OK);
    assert_true(fabs(sum - 4.0 * gbsi_tanh(0.24)) < 1e-14); /* 0.94 */
    release(&m);
}

/* For log-odds of huge size nothing overflows, and a huge coupling is an influence of 1. */
static void test_extremes(void **unused)
{
    (void)unused;
    static const double weight[][3] = {
        /* coupling, field, expected */
        {1e200, 0.0, 1.0},   {800.0, 0.0, 1.0},   {1.0, 1e200, 0.0}, {1e-300, 0.0, 1e-300},
        {500.0, 400.0, 1.0}, {400.0, 500.0, 0.0}, {0.0, 1.0, 0.0}};
    for (unsigned k = 0; k < sizeof weight / sizeof *weight; ++k) {
        gbs_builder *b = NULL;
        const uint32_t two[2] = {2, 2};
        gbs_model *model = NULL;
        made m;
        double sum = -1.0;
        assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_variables(b, 2, two, NULL, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_ising(b, 0, 1, weight[k][0], NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_field(b, 0, weight[k][1], NULL), GBS_OK);
        assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
        gbs_builder_free(b);
        assert_true(prepare(&m, model, 0, UINT64_MAX));
        assert_int_equal(gbsi_influence_row_sum(m.w, 0, &sum, NULL), GBS_OK);
        assert_true(fabs(sum - weight[k][2]) <= 1e-15 * (weight[k][2] + 1e-30));
        release(&m);
    }
}

/* ---- many states, many literals ------------------------------------------------------------ */

static gbs_model *pair_of_tables(uint64_t *seed, const uint32_t arity[2], unsigned n_tables)
{
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    const uint32_t scope[2] = {0, 1};
    double logw[70 * 70];
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 2, arity, NULL, NULL), GBS_OK);
    for (unsigned t = 0; t < n_tables; ++t) {
        uint32_t table = 0;
        for (uint32_t e = 0; e < arity[0] * arity[1]; ++e) {
            logw[e] = random_weight(seed) / 16;
        }
        assert_int_equal(gbs_builder_add_table(b, arity[0] * arity[1], logw, &table, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, table, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &m, NULL), GBS_OK);
    gbs_builder_free(b);
    return m;
}

/* A variable with so many states that not every pair of states is measured. */
static void test_many_states(void **unused)
{
    (void)unused;
    static const uint32_t arity[][2] = {{3, 70}, {70, 3}, {2, 70}, {70, 2}, {40, 40}};
    uint64_t seed = 8;
    for (unsigned k = 0; k < sizeof arity / sizeof *arity; ++k) {
        for (unsigned n_tables = 1; n_tables <= 2; ++n_tables) {
            for (size_t cells = 0; cells <= GBSI_INFLUENCE_CELLS; cells += GBSI_INFLUENCE_CELLS) {
                made m;
                tally t = {0};
                assert_true(
                    prepare(&m, pair_of_tables(&seed, arity[k], n_tables), cells, UINT64_MAX));
                gbsi_influence_row row;
                for (uint32_t i = 0; i < 2; ++i) {
                    assert_int_equal(gbsi_influence_row_of(m.w, i, &row, NULL), GBS_OK);
                    const double exact = exact_influence(m.conditioned, i, 1 - i);
                    assert_true(row.n == 1 && row.bound[0] >= exact - TOLERANCE);
                    t.ratio += exact / row.bound[0];
                }
                assert_true(t.ratio > 0.4);
                release(&m);
            }
        }
    }
}

/* A clause and a product of 200 variables: the sums of rows agree with the listed rows. */
static void test_long_factors(void **unused)
{
    (void)unused;
    enum { N = 200 };
    static const gbs_logical_function function[] = {
        GBS_LOGICAL_CLAUSE, GBS_LOGICAL_IMPLY_MLN, GBS_LOGICAL_LINEAR, GBS_LOGICAL_RATIO,
        GBS_LOGICAL_EQUAL,  GBS_LOGICAL_AND,       GBS_LOGICAL_PARITY};
    uint32_t arity[N + 1];
    uint32_t scope[N];
    uint32_t state[N];
    uint64_t seed = 3;
    for (uint32_t v = 0; v <= N; ++v) {
        arity[v] = v % 3 == 2 ? 3 : 2;
    }
    for (uint32_t v = 0; v < N; ++v) {
        scope[v] = v;
        state[v] = random_below(&seed, arity[v]);
    }
    for (unsigned k = 0; k < 2 * sizeof function / sizeof *function; ++k) {
        gbs_builder *b = NULL;
        made m = {0};
        gbs_model *model = NULL;
        assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_variables(b, N + 1, arity, NULL, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_logical(b, function[k / 2], N, scope, state, 0.75, NULL),
                         GBS_OK);
        if (k % 2 == 1) { /* and further factors of the same pairs */
            assert_int_equal(gbs_builder_add_ising(b, 0, 1, 0.5, NULL), GBS_OK);
            assert_int_equal(gbs_builder_add_potts(b, 2, 5, 0.5, NULL), GBS_OK);
            assert_int_equal(gbs_builder_add_potts(b, 8, N, 0.5, NULL), GBS_OK);
        }
        assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
        gbs_builder_free(b);
        assert_true(prepare(&m, model, GBSI_INFLUENCE_CELLS, UINT64_MAX));
        for (uint32_t i = 0; i <= N; ++i) {
            gbsi_influence_row row;
            double listed = 0.0;
            double sum = 0.0;
            assert_int_equal(gbsi_influence_row_sum(m.w, i, &sum, NULL), GBS_OK);
            assert_int_equal(gbsi_influence_row_of(m.w, i, &row, NULL), GBS_OK);
            for (uint32_t q = 0; q < row.n; ++q) {
                listed += row.bound[q];
            }
            assert_true(sum >= listed - 1e-9 && sum <= listed + 1.5);
            assert_true(k % 2 == 1 || fabs(sum - listed) < 1e-9);
            assert_true(i == N || row.n >= N - 1);
        }
        release(&m);
    }
}

static void test_no_memory(void **unused)
{
    (void)unused;
    uint64_t seed = 77;
    gbs_model *model = random_model(&seed, 0);
    made m;
    assert_true(prepare(&m, model, 0, UINT64_MAX));
    while (m.graph->n_scopes < 4) {
        release(&m);
        assert_true(prepare(&m, random_model(&seed, 0), 0, UINT64_MAX));
    }
    int done = 0;
    uint64_t n = 0;
    for (; !done; ++n) {
        gbs_error err = {0};
        gbsi_influence *w = NULL;
        gbsi_influence_row row;
        gbsi_alloc_fail_after(n);
        gbs_status status = gbsi_influence_new(m.graph, NULL, &w, &err);
        for (uint32_t i = 0; status == GBS_OK && i < m.graph->n_variables; ++i) {
            status = gbsi_influence_row_of(w, i, &row, &err);
        }
        gbsi_alloc_fail_after(UINT64_MAX);
        gbsi_influence_free(w);
        done = status == GBS_OK;
        assert_true(done || status == GBS_ERR_MEMORY);
        assert_int_equal(err.status, status);
    }
    assert_true(n > 4);
    release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_never_below),  cmocka_unit_test(test_exact_for_spins),
        cmocka_unit_test(test_known_values), cmocka_unit_test(test_extremes),
        cmocka_unit_test(test_many_states),  cmocka_unit_test(test_long_factors),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
