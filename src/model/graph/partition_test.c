/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that every variable has an owner, that parts are balanced, and that the values sent
 * agree with an adjacency matrix. */
#include "base/memory.h"
#include "graph/partition_testing.h"

enum { MOST_PARTS = 24 };

static bool can_metis(const fixture *f, uint32_t n_parts)
{
    const char *reason = NULL;
    uint32_t *part = calloc(f->graph->n_variables + (size_t)1, sizeof *part);
    uint32_t *work = calloc(f->graph->n_variables + (size_t)1, sizeof *work);
    assert_true(part != NULL && work != NULL);
    assert_int_equal(gbsi_partition_metis(f->graph, work, n_parts, part, &reason, NULL), GBS_OK);
    free(part);
    free(work);
    return reason == NULL;
}

/* Checks that all owners exist, that every part has variables, and that no part has much more
 * than the mean. */
static void assert_divided(const fixture *f, uint32_t n_parts, const uint32_t *part)
{
    const uint32_t n = f->graph->n_variables;
    uint64_t work[MOST_PARTS] = {0};
    uint32_t own[MOST_PARTS] = {0};
    uint64_t total = 0;
    uint64_t most = 0;
    for (uint32_t v = 0; v < n; v++) {
        const uint64_t w = gbsi_partition_work(f->graph, v);
        assert_true(part[v] < n_parts);
        own[part[v]]++;
        work[part[v]] += w;
        total += w;
        most = w > most ? w : most;
    }
    for (uint32_t p = 0; p < n_parts; p++) {
        assert_true(own[p] > 0 || n < n_parts);
        assert_true(n >= n_parts || own[p] <= 1);
        assert_true((double)work[p] <= 1.03 * (double)total / n_parts + 3.0 * (double)most);
    }
}

/* Checks figures directly against the adjacency matrix. */
static void assert_figures(const fixture *f, const uint32_t *batch, uint32_t n_batches,
                           const uint32_t *part, uint32_t n_parts, const gbsi_edges *extra)
{
    const uint32_t n = f->graph->n_variables;
    uint8_t *a = adjacency(f, extra);
    gbsi_partition_figures figures;
    uint64_t n_values = 0;
    uint64_t values = 0;
    assert_int_equal(gbsi_partition_figures_of(f->graph, batch, n_batches, NULL, part, n_parts,
                                               NULL, &figures, NULL),
                     GBS_OK);
    for (uint32_t p = 0; p < n_parts; p++) {
        gbsi_partition_rank expected = {0};
        for (uint32_t q = 0; q < n_parts; q++) {
            bool sends = false;
            for (uint32_t b = 0; q != p && b < n_batches; b++) {
                bool message = false;
                bool reply = false;
                for (uint32_t v = 0; v < n; v++) {
                    bool near = false; /* whether the variable is adjacent to a variable of the
                                          other part */
                    for (uint32_t u = 0; u < n; u++) {
                        near |= batch[v] == b && a[v * (size_t)n + u] != 0 &&
                                part[u] == (part[v] == p ? q : p);
                    }
                    expected.values += near && part[v] == p;
                    expected.halo += near && part[v] == q;
                    message |= near && part[v] == p;
                    reply |= near && part[v] == q;
                }
                expected.messages += message;
                expected.received += reply;
                sends |= message;
            }
            expected.neighbours += sends;
        }
        for (uint32_t v = 0; v < n; v++) {
            bool outside = false;
            for (uint32_t u = 0; u < n; u++) {
                outside |= a[v * (size_t)n + u] != 0 && part[u] != p;
            }
            uint32_t before = v;
            while (before-- > 0 && batch[before] != batch[v]) {
            }
            expected.own += part[v] == p;
            expected.work += part[v] == p ? gbsi_partition_work(f->graph, v) : 0;
            expected.boundary += part[v] == p && outside;
            expected.runs += part[v] == p && (before == UINT32_MAX || part[before] != p);
        }
        assert_memory_equal(&expected, &figures.rank[p], sizeof expected);
        n_values += expected.values;
    }
    assert_int_equal(figures.total.values, n_values);
    assert_int_equal(figures.total.halo, n_values);
    assert_int_equal(figures.total.own, n);
    assert_int_equal(
        gbsi_partition_values(f->graph, part, n_parts, UINT64_MAX - 1, NULL, &values, NULL),
        GBS_OK);
    assert_int_equal(values, n_values);
    if (n_values > 0) {
        assert_int_equal(
            gbsi_partition_values(f->graph, part, n_parts, n_values - 1, NULL, &values, NULL),
            GBS_OK);
        assert_int_equal(values, n_values);
    }
    gbsi_partition_figures_free(&figures);
    free(a);
}

static void check_kinds(const fixture *f, uint32_t n_parts, const gbsi_edges *extra)
{
    const uint32_t n = f->graph->n_variables;
    uint32_t *part = calloc(n + (size_t)1, sizeof *part);
    uint32_t *again = calloc(n + (size_t)1, sizeof *again);
    uint32_t *color = calloc(n + (size_t)1, sizeof *color);
    uint32_t n_colors = 0;
    assert_true(part != NULL && again != NULL && color != NULL);
    assert_int_equal(gbsi_graph_color(f->graph, NULL, color, &n_colors, NULL), GBS_OK);
    for (int kind = 0; kind < GBSI_N_PARTITION_KINDS; kind++) {
        gbsi_partition_kind used = GBSI_N_PARTITION_KINDS;
        const gbs_status status =
            gbsi_partition(f->graph, n_parts, (gbsi_partition_kind)kind, NULL, part, &used, NULL);
        if (kind == GBSI_PARTITION_METIS && !can_metis(f, n_parts)) {
            assert_int_equal(status, GBS_ERR_UNSUPPORTED);
            continue;
        }
        if (kind == GBSI_PARTITION_BISECTION && status == GBS_ERR_UNSUPPORTED) {
            continue; /* grids have their own tests */
        }
        assert_int_equal(status, GBS_OK);
        assert_true(kind == GBSI_PARTITION_AUTO ? used != GBSI_PARTITION_AUTO : (int)used == kind);
        assert_divided(f, n_parts, part);
        assert_figures(f, color, n_colors, part, n_parts, extra);
        assert_int_equal(
            gbsi_partition(f->graph, n_parts, (gbsi_partition_kind)kind, NULL, again, NULL, NULL),
            GBS_OK);
        assert_memory_equal(again, part, n * sizeof *part);
    }
    free(part);
    free(again);
    free(color);
}

static void random_graphs(void **unused)
{
    (void)unused;
    static const uint32_t n_parts[] = {1, 2, 3, 7, 24};
    draws = 0;
    for (uint32_t trial = 0; trial < 60; trial++) {
        fixture f;
        /* first graphs of no, one and two variables */
        const uint32_t n = trial < 3 ? trial : 1 + below(100);
        uint32_t pair[8];
        const gbsi_edges extra = {.n = 4, .pair = pair};
        for (uint32_t e = 0; n >= 2 && e < 4; e++) {
            choose(n, 2, pair + 2 * e);
        }
        const gbsi_edges *edges = n >= 2 && trial % 2 == 0 ? &extra : NULL;
        random_model(&f, n, n == 0 ? 0 : below(2 * n), trial % 3 == 0 ? 2 : 1 + below(12), edges);
        check_kinds(&f, n_parts[trial % 5], edges);
        clear(&f);
    }
}

/* ---- what AUTO chooses --------------------------------------------------------------------- */

/* Returns the number of values sent plus the number of changes of the owner between consecutive
 * variables. */
static uint64_t cost_of(const fixture *f, gbsi_partition_kind kind, uint32_t n_parts,
                        gbsi_partition_kind *used)
{
    const uint32_t n = f->graph->n_variables;
    uint64_t cost = UINT64_MAX;
    uint32_t *part = calloc(n, sizeof *part);
    assert_non_null(part);
    if (gbsi_partition(f->graph, n_parts, kind, NULL, part, used, NULL) == GBS_OK) {
        assert_int_equal(
            gbsi_partition_values(f->graph, part, n_parts, UINT64_MAX - 1, NULL, &cost, NULL),
            GBS_OK);
        for (uint32_t v = 1; v < n; v++) {
            cost += part[v] != part[v - 1];
        }
    }
    free(part);
    return cost;
}

static void auto_is_best(void **unused)
{
    (void)unused;
    gbsi_partition_kind used = GBSI_PARTITION_AUTO;
    fixture f;
    grid(&f, &(gbsi_grid_shape){{64, 64, 1}, {true, true}});
    assert_int_equal(cost_of(&f, GBSI_PARTITION_AUTO, 16, &used), 16 * 4 * 16 + 64 * 4 - 1);
    assert_int_equal(used, GBSI_PARTITION_BISECTION);
    (void)cost_of(&f, GBSI_PARTITION_AUTO, 2, &used);
    /* AUTO finds the same parts without a search */
    assert_int_equal(used, GBSI_PARTITION_INTERVALS);
    clear(&f);
    draws = 0;
    for (uint32_t trial = 0; trial < 5; trial++) {
        random_model(&f, 400, 600, 3, NULL);
        uint64_t least = UINT64_MAX;
        for (int kind = 1; kind < GBSI_N_PARTITION_KINDS; kind++) {
            const uint64_t cost = cost_of(&f, (gbsi_partition_kind)kind, 6, NULL);
            least = cost < least ? cost : least;
        }
        assert_int_equal(cost_of(&f, GBSI_PARTITION_AUTO, 6, &used), least);
        clear(&f);
    }
}

/* ---- large and odd graphs ------------------------------------------------------------------ */

/* A hub of 10^5 neighbours, and as many separate pairs. */
static void hub_and_islands(void **unused)
{
    (void)unused;
    enum { N = 300000, HUB = 100000 };
    fixture f;
    begin(&f, N);
    for (uint32_t v = 1; v <= HUB; v++) {
        join(&f, 0, v);
    }
    for (uint32_t v = HUB + 1; v + 1 < N; v += 2) {
        join(&f, v, v + 1);
    }
    end(&f, NULL);
    uint32_t *part = calloc(N, sizeof *part);
    assert_non_null(part);
    for (int kind = 0; kind < GBSI_N_PARTITION_KINDS; kind++) {
        const gbs_status status =
            gbsi_partition(f.graph, 16, (gbsi_partition_kind)kind, NULL, part, NULL, NULL);
        if (status == GBS_OK) {
            assert_divided(&f, 16, part);
        } else {
            assert_int_equal(status, GBS_ERR_UNSUPPORTED);
        }
    }
    free(part);
    clear(&f);
}

/* Takes time proportional to the scope, which is read once for each part. */
static void long_scope(void **unused)
{
    (void)unused;
    enum { N = 200000 };
    fixture f;
    uint32_t *scope = malloc(N * sizeof *scope);
    uint32_t *part = calloc(N, sizeof *part);
    assert_true(scope != NULL && part != NULL);
    begin(&f, N);
    for (uint32_t v = 0; v < N; v++) {
        scope[v] = v;
    }
    add(&f, N, scope);
    end(&f, NULL);
    for (int kind = 0; kind < GBSI_N_PARTITION_KINDS; kind++) {
        if (kind != GBSI_PARTITION_BISECTION) {
            gbsi_watch watch = {0};
            const gbs_status status =
                gbsi_partition(f.graph, 8, (gbsi_partition_kind)kind, &watch, part, NULL, NULL);
            assert_true(status == GBS_OK ||
                        (kind == GBSI_PARTITION_METIS && status == GBS_ERR_UNSUPPORTED));
            assert_true(watch.n_looks * GBSI_WATCH_EVERY < 100u * N);
            assert_divided(&f, 8, part);
        }
    }
    free(scope);
    free(part);
    clear(&f);
}

/* A lattice with random numbers: intervals follow the order in which batches take the variables. */
static void shuffled_lattice(void **unused)
{
    (void)unused;
    enum { SIDE = 300, N = SIDE * SIDE };
    fixture f;
    gbsi_partition_figures figures;
    uint64_t values = 0;
    bool found = false;
    uint32_t *number = malloc(N * sizeof *number);
    uint32_t *rank = malloc(N * sizeof *rank);
    uint32_t *order = malloc(N * sizeof *order);
    uint32_t *part = calloc(N, sizeof *part);
    uint32_t *batch = calloc(N, sizeof *batch);
    assert_true(number != NULL && rank != NULL && order != NULL && part != NULL && batch != NULL);
    draws = 0;
    choose(N, N, number);
    begin(&f, N);
    for (uint32_t v = 0; v < N; v++) {
        if (v % SIDE + 1 < SIDE) {
            join(&f, number[v], number[v + 1]);
        }
        if (v + SIDE < N) {
            join(&f, number[v], number[v + SIDE]);
        }
    }
    end(&f, NULL);
    assert_int_equal(gbsi_graph_local_order(f.graph, rank, order, &found, NULL), GBS_OK);
    assert_true(found);
    assert_int_equal(gbsi_partition(f.graph, 4, GBSI_PARTITION_INTERVALS, NULL, part, NULL, NULL),
                     GBS_OK);
    assert_int_equal(
        gbsi_partition_figures_of(f.graph, batch, 1, order, part, 4, NULL, &figures, NULL), GBS_OK);
    assert_int_equal(figures.total.runs, 4);
    assert_true(figures.total.values <= 3 * 2 * SIDE);
    gbsi_partition_figures_free(&figures);
    /* 64 strips have 63 borders of 300 variables, 64 squares have borders of 38 */
    assert_int_equal(gbsi_partition(f.graph, 64, GBSI_PARTITION_BREADTH, NULL, part, NULL, NULL),
                     GBS_OK);
    assert_int_equal(gbsi_partition_values(f.graph, part, 64, UINT64_MAX - 1, NULL, &values, NULL),
                     GBS_OK);
    assert_true(values < 63 * 2 * SIDE / 2);
    clear(&f);
    free(number);
    free(rank);
    free(order);
    free(part);
    free(batch);
}

static bool stop(void *context)
{
    (void)context;
    return true;
}

static void stopped(void **unused)
{
    (void)unused;
    enum { SIDE = 400 };
    fixture f;
    uint32_t *part = calloc(SIDE * SIDE, sizeof *part);
    assert_non_null(part);
    grid(&f, &(gbsi_grid_shape){{SIDE, SIDE, 1}, {false}});
    for (int kind = 0; kind < GBSI_N_PARTITION_KINDS; kind++) {
        gbsi_watch watch = {.look = stop};
        assert_int_equal(
            gbsi_partition(f.graph, 4, (gbsi_partition_kind)kind, &watch, part, NULL, NULL),
            GBS_ERR_STOPPED);
    }
    clear(&f);
    free(part);
}

static void no_memory(void **unused)
{
    (void)unused;
    fixture f;
    uint32_t part[64];
    const uint32_t color[64] = {0};
    gbsi_partition_figures figures = {0};
    grid(&f, &(gbsi_grid_shape){{8, 4, 2}, {false}});
    for (int kind = 0; kind < GBSI_N_PARTITION_KINDS; kind++) {
        gbs_status status = GBS_ERR_MEMORY;
        uint64_t n = 0;
        for (; status == GBS_ERR_MEMORY; n++) {
            gbsi_alloc_fail_after(n);
            status = gbsi_partition(f.graph, 2, (gbsi_partition_kind)kind, NULL, part, NULL, NULL);
            gbsi_alloc_fail_after(UINT64_MAX);
        }
        assert_true(n > 1);
        assert_true(status == GBS_OK || kind == GBSI_PARTITION_METIS);
    }
    for (uint64_t n = 0; figures.rank == NULL; n++) {
        gbsi_alloc_fail_after(n);
        const gbs_status status =
            gbsi_partition_figures_of(f.graph, color, 1, NULL, part, 2, NULL, &figures, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_int_equal(status, figures.rank == NULL ? GBS_ERR_MEMORY : GBS_OK);
    }
    gbsi_partition_figures_free(&figures);
    clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_graphs),    cmocka_unit_test(auto_is_best),
        cmocka_unit_test(hub_and_islands),  cmocka_unit_test(long_scope),
        cmocka_unit_test(shuffled_lattice), cmocka_unit_test(stopped),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
