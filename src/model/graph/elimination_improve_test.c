/* SPDX-License-Identifier: Apache-2.0 */
/* Tests eliminations that the local search improves: their cliques, and cases without an
 * improvement. */
#include "graph/elimination_testing.h"

static const gbsi_elimination_limits with_search = {.entries = UINT64_MAX,
                                                    .effort = 1u << 20,
                                                    .useful = UINT64_C(1) << 32,
                                                    .bytes = UINT64_C(1) << 30};

/* Checks that the clique of the end that is eliminated first contains the other end of each
 * edge. */
static void check_edges(const made *m)
{
    const gbsi_elimination *e = m->e;
    uint32_t *position = malloc(e->n_variables * sizeof *position);
    assert_non_null(position);
    for (uint32_t i = 0; i < e->n_variables; ++i) {
        position[e->order[i]] = i;
    }
    for (uint32_t v = 0; v < e->n_variables; ++v) {
        for (size_t i = gbsi_graph_ends(m->graph, v); i < gbsi_graph_ends(m->graph, v + 1); ++i) {
            const gbsi_members members = gbsi_graph_members(m->graph, i);
            for (size_t k = 0; k < members.n; ++k) {
                const uint32_t u = members.variable[k];
                int found = position[u] <= position[v];
                for (size_t j = e->clique_start[position[v]];
                     !found && j < e->clique_start[position[v] + (size_t)1]; ++j) {
                    found = e->clique[j] == u;
                }
                assert_true(found);
            }
        }
    }
    free(position);
}

static gbs_model *potts(uint32_t side, uint32_t n_states)
{
    const gbs_generate_potts_options o = {
        .rows = side, .columns = side, .states = n_states, .coupling = 0.5};
    gbs_model *m = NULL;
    assert_int_equal(gbs_generate_potts(&o, &m, NULL), GBS_OK);
    return m;
}

static void check_improved(gbs_model *model, bool expected)
{
    made plain = {.model = model};
    made m = {.model = model};
    eliminate(&plain, &no_limits);
    eliminate(&m, &with_search);
    for (uint32_t p = 0; p < m.e->n_parts; ++p) {
        assert_int_equal(m.e->part[p].end, GBSI_ELIMINATION_DONE);
        assert_true(m.e->part[p].entries <= plain.e->part[p].entries);
        check_tree(&m, &m.e->part[p]);
    }
    check_edges(&m);
    if ((m.e->part[0].entries < plain.e->part[0].entries) != expected) {
        fail_msg("%u variables: %g entries, before %g", m.e->n_variables,
                 (double)m.e->part[0].entries, (double)plain.e->part[0].entries);
    }
    assert_true(!expected || m.e->order_bytes > 0);
    m.model = NULL;
    release(&m);
    release(&plain);
}

static void test_improved(void **unused)
{
    (void)unused;
    check_improved(grid(14, 14), true);
    check_improved(grid(18, 18), true);
    check_improved(potts(9, 5), true);
    check_improved(powerlaw(90, 3), true);
    check_improved(complete(22), false);
    check_improved(grid(6, 6), false); /* too small to justify a search */
    check_improved(grid(2, 100000), false);
}

/* Late variables stay late, hence nothing is searched; a search is also skipped without memory
 * for it. */
static void test_not_improved(void **unused)
{
    (void)unused;
    uint8_t late[14 * 14] = {[7] = 1, [60] = 1};
    gbsi_elimination_limits limits = with_search;
    limits.late = late;
    made m = {.model = grid(14, 14)};
    eliminate(&m, &limits);
    assert_int_equal(m.e->order_bytes, 0);
    assert_true(late[m.e->order[14 * 14 - 1]] && late[m.e->order[14 * 14 - 2]]);
    release(&m);
    limits = with_search;
    limits.bytes = 100000;
    m.model = grid(14, 14);
    eliminate(&m, &limits);
    assert_int_equal(m.e->order_bytes, 0);
    release(&m);
}

static void test_no_memory(void **unused)
{
    (void)unused;
    made m = {.model = potts(5, 8)};
    const uint64_t n = eliminate_without_memory(&m, &with_search);
    assert_true(n > 60 && m.e->order_bytes > 0);
    release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_improved),
        cmocka_unit_test(test_not_improved),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
