/* SPDX-License-Identifier: Apache-2.0 */
/* Compares elimination orders with brute force on small graphs and with known widths; tests
 * limits. */
#include "base/test_scale.h"
#include "graph/elimination_testing.h"
#include "rng/philox.h"

static uint32_t draws;

static uint32_t below(uint32_t n)
{
    return gbsi_word(5, 0, 0, draws++, GBSI_PURPOSE_TEST) % n;
}

/* ---- brute force --------------------------------------------------------------------------- */

enum { MOST = 12 };

typedef struct matrix {
    uint32_t n;
    uint8_t next_to[MOST][MOST];
    uint8_t gone[MOST];
} matrix;

static void fill_matrix(const gbsi_graph *g, matrix *x)
{
    memset(x, 0, sizeof *x);
    x->n = g->n_variables;
    for (uint32_t v = 0; v < g->n_variables; ++v) {
        for (size_t i = gbsi_graph_ends(g, v); i < gbsi_graph_ends(g, v + 1); ++i) {
            const gbsi_members members = gbsi_graph_members(g, i);
            for (size_t k = 0; k < members.n; ++k) {
                x->next_to[v][members.variable[k]] = members.variable[k] != v;
            }
        }
    }
}

static uint32_t fill_of(const matrix *x, uint32_t v)
{
    uint32_t missing = 0;
    for (uint32_t a = 0; a < x->n; ++a) {
        for (uint32_t b = a + 1; b < x->n; ++b) {
            missing += x->next_to[v][a] && x->next_to[v][b] && !x->next_to[a][b];
        }
    }
    return missing;
}

/* Returns 16 log2 of the number of states of a clique, with logarithms linear between powers of
 * two. */
static uint32_t weight_of(const matrix *x, const uint32_t *arity, uint32_t v)
{
    uint32_t sum = 0;
    for (uint32_t u = 0; u < x->n; ++u) {
        uint32_t octave = 0;
        while (arity[u] >> octave > 1) {
            ++octave;
        }
        sum += u == v || x->next_to[v][u] ? 16 * octave + ((arity[u] * 16) >> octave) - 16 : 0;
    }
    return sum;
}

/* Returns whether v has the least key among the remaining variables of one component of the
 * elimination. */
static int is_least(const matrix *x, const gbsi_elimination *e, const gbsi_elimination_part *part,
                    const uint32_t *arity, uint32_t v)
{
    int least = 1;
    for (uint32_t i = part->first; i < part->first + part->n_variables; ++i) {
        const uint32_t u = e->order[i];
        if (!x->gone[u]) {
            least &= arity == NULL ? fill_of(x, u) >= fill_of(x, v)
                                   : weight_of(x, arity, u) >= weight_of(x, arity, v);
        }
    }
    return least;
}

static void take_out(matrix *x, uint32_t v)
{
    for (uint32_t a = 0; a < x->n; ++a) {
        for (uint32_t b = 0; b < x->n; ++b) {
            x->next_to[a][b] |= a != b && x->next_to[v][a] && x->next_to[v][b];
        }
    }
    for (uint32_t a = 0; a < x->n; ++a) {
        x->next_to[a][v] = x->next_to[v][a] = 0;
    }
    x->gone[v] = 1;
}

/* Bits of the clique of each position. */
static uint64_t exact_entries(const made *m, const gbsi_elimination_part *part,
                              const uint32_t *bits)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < part->n_variables; ++i) {
        uint64_t entries = 1;
        int inside = 0;
        for (uint32_t v = 0; v < m->graph->n_variables; ++v) {
            entries *= (bits[i] >> v & 1u) != 0 ? m->conditioned->arity[v] : 1;
        }
        for (uint32_t j = 0; j < part->n_variables; ++j) {
            inside |= j != i && (bits[i] & ~bits[j]) == 0;
        }
        sum += inside ? 0 : entries;
    }
    return sum;
}

static void check_part(const made *m, uint32_t p, matrix *x)
{
    const gbsi_elimination *e = m->e;
    const gbsi_elimination_part *part = &e->part[p];
    uint32_t bits[MOST] = {0};
    uint32_t width = 0;
    int by_fill = 1;
    int by_weight = 1;
    assert_int_equal(part->end, GBSI_ELIMINATION_DONE);
    assert_int_equal(part->n_eliminated, part->n_variables);
    for (uint32_t i = 0; i < part->n_variables; ++i) {
        const uint32_t v = e->order[part->first + i];
        const size_t begin = e->clique_start[part->first + i];
        const size_t end = e->clique_start[part->first + i + 1];
        uint32_t n = 0;
        assert_false(x->gone[v]);
        by_fill &= is_least(x, e, part, NULL, v);
        by_weight &= is_least(x, e, part, m->conditioned->arity, v);
        bits[i] = 1u << v;
        for (uint32_t u = 0; u < x->n; ++u) {
            if (x->next_to[v][u]) {
                assert_true(begin + n < end);
                assert_int_equal(e->clique[begin + n], u);
                bits[i] |= 1u << u;
                ++n;
            }
        }
        assert_int_equal(begin + n, end);
        width = n > width ? n : width;
        take_out(x, v);
    }
    assert_true(by_fill || by_weight);
    assert_int_equal(part->width, width);
    assert_int_equal(part->entries, exact_entries(m, part, bits));
}

static gbs_model *random_graph(void)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[MOST];
    const uint32_t n = 1 + below(MOST - 2);
    const double logw[4096] = {0};
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < n; ++v) {
        arity[v] = 2 + below(3);
    }
    assert_int_equal(gbs_builder_add_variables(b, n, arity, NULL, NULL), GBS_OK);
    for (uint32_t f = below(2 * n + 1); f > 0; --f) {
        uint32_t scope[4];
        uint32_t size = 0;
        size_t entries = 1;
        uint32_t table = 0;
        const uint32_t most = below(4) == 0 ? 4 : 2;
        for (uint32_t tries = 0; tries < 2 * most && size < most; ++tries) {
            const uint32_t v = below(n);
            int taken = 0;
            for (uint32_t i = 0; i < size; ++i) {
                taken |= scope[i] == v;
            }
            if (!taken) {
                scope[size++] = v;
                entries *= arity[v];
            }
        }
        assert_int_equal(gbs_builder_add_table(b, entries, logw, &table, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(b, size, scope, table, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static void test_brute_force(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 4000; ++i) {
        made m = {.model = random_graph()};
        matrix x;
        uint32_t n = 0;
        eliminate(&m, &no_limits);
        fill_matrix(m.graph, &x);
        for (uint32_t p = 0; p < m.e->n_parts; ++p) {
            assert_int_equal(m.e->part[p].first, n);
            n += m.e->part[p].n_variables;
            check_part(&m, p, &x);
            check_tree(&m, &m.e->part[p]);
        }
        assert_int_equal(n, m.graph->n_variables);
        release(&m);
    }
}

/* Late variables are eliminated after all other variables of their component. */
static void test_late(void **unused)
{
    (void)unused;
    for (unsigned i = 0; i < 1000; ++i) {
        uint8_t late[MOST];
        made m = {.model = random_graph()};
        const gbsi_elimination_limits limits = {
            .entries = UINT64_MAX, .effort = 1u << 20, .late = late};
        for (uint32_t v = 0; v < MOST; ++v) {
            late[v] = below(3) == 0;
        }
        eliminate(&m, &limits);
        for (uint32_t p = 0; p < m.e->n_parts; ++p) {
            const gbsi_elimination_part *part = &m.e->part[p];
            assert_int_equal(part->end, GBSI_ELIMINATION_DONE);
            for (uint32_t k = part->first + 1; k < part->first + part->n_variables; ++k) {
                assert_true(late[m.e->order[k - 1]] <= late[m.e->order[k]]);
            }
            check_tree(&m, part);
        }
        release(&m);
    }
}

/* ---- known widths -------------------------------------------------------------------------- */

/* Makes a graph in which vertex i is joined to the k vertices before it; its treewidth is k. */
static gbs_model *k_path(uint32_t n, uint32_t k)
{
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < n; ++v) {
        const uint32_t two = 2;
        assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
        for (uint32_t i = 1; i <= k && i <= v; ++i) {
            assert_int_equal(gbs_builder_add_ising(b, v, v - i, 0.5, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &m, NULL), GBS_OK);
    gbs_builder_free(b);
    return m;
}

static void check_width(gbs_model *model, uint32_t width, uint64_t entries)
{
    made m = {.model = model};
    eliminate(&m, &no_limits);
    assert_int_equal(m.e->n_parts, 1);
    assert_int_equal(m.e->part[0].end, GBSI_ELIMINATION_DONE);
    if (m.e->part[0].width != width) {
        fail_msg("width %u, expected %u", m.e->part[0].width, width);
    }
    if (entries != 0) {
        assert_int_equal(m.e->part[0].entries, entries);
    }
    release(&m);
}

static void test_known_widths(void **unused)
{
    (void)unused;
    check_width(grid(1, 1), 0, 2);
    check_width(grid(1, 2), 1, 4);
    check_width(grid(1, 1000), 1, 999 * 4);         /* a chain */
    check_width(powerlaw(100000, 1), 1, 99999 * 4); /* a tree with hubs */
    for (uint32_t n = 3; n < 50; n += 5) {          /* a cycle: n - 2 triangles */
        const gbs_generate_ring_options o = {.variables = n, .coupling = 0.5};
        gbs_model *m = NULL;
        assert_int_equal(gbs_generate_ring(&o, &m, NULL), GBS_OK);
        check_width(m, 2, (n - 2) * 8);
    }
    for (uint32_t n = 2; n <= 25; ++n) {
        check_width(complete(n), n - 1, UINT64_C(1) << n);
    }
    for (uint32_t k = 1; k < 20; ++k) {
        check_width(k_path(100, k), k, (100 - k) * (UINT64_C(1) << (k + 1)));
    }
    for (uint32_t k = 2; k <= 6; ++k) {
        check_width(grid(k, k), k, 0);
    }
}

/* Beyond width 6 minimum fill is no longer optimal on grids, but stays close to the optimum. */
static void test_grids(void **unused)
{
    (void)unused;
    for (uint32_t k = 7; k <= 18; ++k) {
        made m = {.model = grid(k, k)};
        eliminate(&m, &no_limits);
        assert_int_equal(m.e->part[0].end, GBSI_ELIMINATION_DONE);
        assert_in_range(m.e->part[0].width, k, k + k / 3 + 1);
        release(&m);
    }
}

/* ---- limits -------------------------------------------------------------------------------- */

static void check_end(gbs_model *model, gbsi_elimination_limits limits, gbsi_elimination_end end,
                      uint32_t least_width, uint64_t least_entries)
{
    made m = {.model = model};
    eliminate(&m, &limits);
    const gbsi_elimination_part *part = &m.e->part[0];
    assert_int_equal(m.e->n_parts, 1);
    assert_int_equal(part->end, end);
    assert_true(part->width >= least_width);
    assert_true(part->entries >= least_entries);
    uint8_t *seen = calloc(m.e->n_variables, 1);
    assert_non_null(seen);
    for (uint32_t i = 0; i < m.e->n_variables; ++i) { /* every variable occurs exactly once */
        assert_false(seen[m.e->order[i]]++);
        if (i >= part->n_eliminated) {
            assert_int_equal(m.e->clique_start[i], m.e->clique_start[i + 1]);
            assert_true(i == part->n_eliminated || m.e->order[i - 1] < m.e->order[i]);
        }
    }
    free(seen);
    release(&m);
}

static void test_limits(void **unused)
{
    (void)unused;
    gbsi_elimination_limits limits = {.entries = UINT64_C(1) << 20, .effort = 1000};
    /* proved by degrees: the largest graph that fits, and a graph with one more variable */
    check_end(complete(20), limits, GBSI_ELIMINATION_DONE, 19, 1u << 20);
    check_end(complete(21), limits, GBSI_ELIMINATION_ENTRIES, 20, (1u << 20) + 1);
    /* an order is completed although its tables exceed the limit, unless a table is hopeless */
    limits.entries = 999 * 4 - 1;
    check_end(grid(1, 1000), limits, GBSI_ELIMINATION_DONE, 1, 999 * 4);
    limits.entries = UINT64_C(1) << 26;
    check_end(grid(30, 30), limits, GBSI_ELIMINATION_DONE, 30, UINT64_C(1) << 31);
    check_end(grid(300, 300), limits, GBSI_ELIMINATION_ENTRIES, 50, UINT64_C(1) << 56);
    /* proved without a search: every variable has at least 500 neighbours */
    const gbs_generate_rbm_options o = {.visible = 600, .hidden = 500, .coupling = 0.5};
    gbs_model *rbm = NULL;
    assert_int_equal(gbs_generate_rbm(&o, &rbm, NULL), GBS_OK);
    check_end(rbm, limits, GBSI_ELIMINATION_ENTRIES, 500, UINT64_MAX);
    /* given up: the search needs more work than a few steps per variable and the common pool */
    limits.effort = 1;
    limits.entries = UINT64_MAX;
    check_end(grid(1000, 1000), limits, GBSI_ELIMINATION_WORK, 3, 0);
}

/* On a large grid the search is given up as hopeless after its first steps. A ladder with as
 * many variables is completed within the allowed work, although it reads more entries. */
static void test_large(void **unused)
{
    (void)unused;
    const gbsi_elimination_limits limits = {.entries = UINT64_C(1) << 40,
                                            .effort = GBSI_ELIMINATION_EFFORT};
    const uint32_t side = (uint32_t)test_share(1500, 800);
    made m = {.model = grid(side, side)};
    eliminate(&m, &limits);
    assert_int_equal(m.e->part[0].end, GBSI_ELIMINATION_WORK);
    assert_true(m.e->part[0].n_eliminated < 400000); /* the search did not reach all variables */
    release(&m);
    check_end(grid(2, 800000), limits, GBSI_ELIMINATION_DONE, 2, 8 * UINT64_C(1599998));
}

/* A clause of forty literals is a table of 2^40 entries; this does not affect the second
 * component. */
static void test_long_scope(void **unused)
{
    (void)unused;
    const gbsi_elimination_limits limits = {.entries = UINT64_C(1) << 26, .effort = 1000};
    gbs_builder *b = NULL;
    uint32_t arity[43];
    uint32_t scope[43];
    uint32_t state[43] = {0};
    made m = {0};
    for (uint32_t v = 0; v < 43; ++v) {
        arity[v] = 2;
        scope[v] = v;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 43, arity, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 40, scope, state, 1.0, NULL),
                     GBS_OK);
    assert_int_equal(
        gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 3, scope + 40, state, 1.0, NULL), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &m.model, NULL), GBS_OK);
    gbs_builder_free(b);
    eliminate(&m, &limits);
    assert_int_equal(m.e->n_parts, 2);
    assert_int_equal(m.e->part[0].end, GBSI_ELIMINATION_ENTRIES);
    assert_int_equal(m.e->part[0].width, 39);
    assert_true(m.e->part[0].entries > limits.entries);
    assert_int_equal(m.e->part[1].end, GBSI_ELIMINATION_DONE);
    assert_int_equal(m.e->part[1].entries, 8);
    release(&m);
}

/* The same limits give the same order; a limit that is not reached changes nothing. */
static void test_deterministic(void **unused)
{
    (void)unused;
    const gbsi_elimination_limits other = {.entries = UINT64_C(1) << 40, .effort = 77};
    made a = {.model = grid(12, 12)};
    made b = {.model = grid(12, 12)};
    eliminate(&a, &no_limits);
    eliminate(&b, &other);
    assert_memory_equal(a.e->order, b.e->order, 144 * sizeof *a.e->order);
    assert_memory_equal(a.e->clique_start, b.e->clique_start, 145 * sizeof *a.e->clique_start);
    assert_int_equal(a.e->part[0].entries, b.e->part[0].entries);
    release(&a);
    release(&b);
}

static void test_no_memory(void **unused)
{
    (void)unused;
    made m = {.model = grid(5, 6)};
    const uint64_t n = eliminate_without_memory(&m, &no_limits);
    assert_true(n > 30);
    release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),   cmocka_unit_test(test_late),
        cmocka_unit_test(test_known_widths),  cmocka_unit_test(test_grids),
        cmocka_unit_test(test_limits),        cmocka_unit_test(test_long_scope),
        cmocka_unit_test(test_deterministic), cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
