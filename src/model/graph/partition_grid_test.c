/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that grids are recognised and cut into balanced parts, and that their figures follow
 * from their sides. */
#include "graph/partition_testing.h"

static void assert_found(const fixture *f, const gbsi_grid_shape *shape)
{
    gbsi_grid_shape found = {0};
    bool is_grid = false;
    assert_int_equal(gbsi_partition_find_grid(f->graph, NULL, &found, &is_grid, NULL), GBS_OK);
    assert_true(is_grid);
    for (unsigned d = 0; d < GBSI_GRID_MOST; d++) {
        assert_int_equal(found.side[d], shape->side[d]);
        assert_int_equal(found.torus[d], shape->torus[d]);
    }
}

static void chessboard(const gbsi_grid_shape *s, uint32_t *color)
{
    const uint32_t n = s->side[0] * s->side[1] * s->side[2];
    for (uint32_t v = 0; v < n; v++) {
        color[v] = (v % s->side[0] + v / s->side[0] % s->side[1] + v / s->side[0] / s->side[1]) % 2;
    }
}

/* Compares blocks of the closed form with the general figures of the same parts.
 * @param is_bisection whether the bisection of the graph makes the same parts. */
static void check_grid(gbsi_grid_shape shape, uint32_t n_parts, bool is_bisection)
{
    fixture f;
    gbsi_partition_figures figures;
    gbsi_partition_figures expected;
    grid(&f, &shape);
    assert_found(&f, &shape);
    const uint32_t n = f.graph->n_variables;
    gbsi_block *block = calloc(n_parts, sizeof *block);
    uint32_t *part = calloc(n, sizeof *part);
    uint32_t *bisected = calloc(n, sizeof *bisected);
    uint32_t *color = calloc(n, sizeof *color);
    assert_true(block != NULL && part != NULL && bisected != NULL && color != NULL);
    assert_int_equal(gbsi_partition_grid(&shape, n_parts, block, &figures, NULL), GBS_OK);
    for (uint32_t v = 0; v < n; v++) {
        part[v] = UINT32_MAX;
    }
    for (uint32_t p = 0; p < n_parts; p++) {
        for (uint32_t z = block[p].from[2]; z < block[p].to[2]; z++) {
            for (uint32_t y = block[p].from[1]; y < block[p].to[1]; y++) {
                for (uint32_t x = block[p].from[0]; x < block[p].to[0]; x++) {
                    assert_int_equal(part[at(&shape, x, y, z)], UINT32_MAX);
                    part[at(&shape, x, y, z)] = p;
                }
            }
        }
    }
    chessboard(&shape, color);
    assert_int_equal(
        gbsi_partition_figures_of(f.graph, color, 2, NULL, part, n_parts, NULL, &expected, NULL),
        GBS_OK);
    assert_memory_equal(figures.rank, expected.rank, n_parts * sizeof *figures.rank);
    assert_memory_equal(&figures.total, &expected.total, sizeof figures.total);
    assert_memory_equal(&figures.most, &expected.most, sizeof figures.most);
    assert_int_equal(
        gbsi_partition(f.graph, n_parts, GBSI_PARTITION_BISECTION, NULL, bisected, NULL, NULL),
        GBS_OK);
    if (is_bisection) {
        assert_memory_equal(bisected, part, n * sizeof *part);
    }
    gbsi_partition_figures_free(&figures);
    gbsi_partition_figures_free(&expected);
    free(block);
    free(part);
    free(bisected);
    free(color);
    clear(&f);
}

static void closed_form(void **unused)
{
    (void)unused;
    const bool t = true;
    check_grid((gbsi_grid_shape){{16, 16, 1}, {t, t, false}}, 16, true);
    check_grid((gbsi_grid_shape){{32, 24, 1}, {false}}, 5, false);
    check_grid((gbsi_grid_shape){{8, 8, 8}, {t, t, t}}, 8, true);
    check_grid((gbsi_grid_shape){{8, 8, 8}, {t, t, t}}, 64, true);
    check_grid((gbsi_grid_shape){{12, 10, 8}, {t, false, t}}, 6, false);
    check_grid((gbsi_grid_shape){{9, 11, 7}, {false}}, 13, false);
    check_grid((gbsi_grid_shape){{64, 1, 1}, {t}}, 4, true);
    check_grid((gbsi_grid_shape){{101, 1, 1}, {false}}, 7, false);
    check_grid((gbsi_grid_shape){{30, 6, 1}, {t, t}}, 3, true);
    check_grid((gbsi_grid_shape){{6, 30, 1}, {t, t}}, 3, true); /* runs are whole rows */
    check_grid((gbsi_grid_shape){{4, 4, 1}, {t, t}}, 1, true);
    check_grid((gbsi_grid_shape){{40, 40, 1}, {t, t}}, 23, false);
}

/* Blocks of one layer, and of all except one layer; the planes before and after a block
 * coincide. */
static void narrow_blocks(void **unused)
{
    (void)unused;
    check_grid((gbsi_grid_shape){{6, 4, 1}, {true, true}}, 2, true);
    check_grid((gbsi_grid_shape){{2, 4, 1}, {false, true}}, 4, true);
    check_grid((gbsi_grid_shape){{2, 6, 1}, {false, true}}, 5, false);
    check_grid((gbsi_grid_shape){{3, 4, 10}, {false, true, true}}, 9, false);
}

static void closed_form_refuses(void **unused)
{
    (void)unused;
    gbs_error err = {0};
    const gbsi_grid_shape odd = {{5, 4, 1}, {true, false}};
    const gbsi_grid_shape empty = {{5, 0, 1}, {false}};
    const gbsi_grid_shape small = {{3, 3, 1}, {false}};
    assert_int_equal(gbsi_partition_grid(&odd, 2, NULL, NULL, &err), GBS_ERR_UNSUPPORTED);
    assert_int_equal(gbsi_partition_grid(&empty, 2, NULL, NULL, &err), GBS_ERR_ARGUMENT);
    assert_int_equal(gbsi_partition_grid(&small, 0, NULL, NULL, &err), GBS_ERR_ARGUMENT);
    assert_int_equal(gbsi_partition_grid(&small, 10, NULL, NULL, &err), GBS_ERR_UNSUPPORTED);
}

/* A lattice of 10^12 variables, for which no graph is made. */
static void large_lattice(void **unused)
{
    (void)unused;
    const gbsi_grid_shape shape = {{10000, 10000, 10000}, {true, true, true}};
    gbsi_partition_figures figures;
    assert_int_equal(gbsi_partition_grid(&shape, 4096, NULL, &figures, NULL), GBS_OK);
    assert_int_equal(figures.total.own, UINT64_C(1000000000000));
    assert_int_equal(figures.most.neighbours, 6);
    assert_int_equal(figures.most.own, 625 * 625 * 625);
    assert_int_equal(figures.most.halo, 6 * 625 * 625);
    assert_int_equal(figures.total.values, UINT64_C(4096) * 6 * 625 * 625);
    assert_int_equal(figures.most.messages, 12);
    gbsi_partition_figures_free(&figures);
}

/* A cut is inside a plane if a cut between planes would leave the parts unequal. */
static void jagged_cuts(void **unused)
{
    (void)unused;
    fixture f;
    const gbsi_grid_shape shape = {{10, 10, 1}, {false}};
    grid(&f, &shape);
    uint32_t part[100];
    assert_int_equal(gbsi_partition(f.graph, 7, GBSI_PARTITION_BISECTION, NULL, part, NULL, NULL),
                     GBS_OK);
    uint64_t work[7] = {0};
    uint64_t total = 0;
    for (uint32_t v = 0; v < 100; v++) {
        work[part[v]] += gbsi_partition_work(f.graph, v);
        total += gbsi_partition_work(f.graph, v);
    }
    for (uint32_t p = 0; p < 7; p++) { /* within about one variable of the mean of 65.7 */
        assert_in_range(work[p], total / 7 - 6, total / 7 + 6);
    }
    clear(&f);
}

/* Plaquettes: scopes of four variables, and pixels with any number of states. */
static void grid_of_plaquettes(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, 20 * 30);
    for (uint32_t y = 0; y + 1 < 30; y++) {
        for (uint32_t x = 0; x + 1 < 20; x++) {
            const uint32_t v = y * 20 + x;
            add(&f, 4, (uint32_t[]){v, v + 1, v + 20, v + 21});
        }
    }
    end(&f, NULL);
    assert_found(&f, &(gbsi_grid_shape){{20, 30, 1}, {false}});
    clear(&f);
}

static void not_a_grid(void **unused)
{
    (void)unused;
    fixture f;
    uint32_t part[100];
    draws = 0;
    random_model(&f, 100, 200, 3, NULL);
    assert_int_equal(gbsi_partition(f.graph, 4, GBSI_PARTITION_BISECTION, NULL, part, NULL, NULL),
                     GBS_ERR_UNSUPPORTED);
    clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form),         cmocka_unit_test(narrow_blocks),
        cmocka_unit_test(closed_form_refuses), cmocka_unit_test(large_lattice),
        cmocka_unit_test(jagged_cuts),         cmocka_unit_test(grid_of_plaquettes),
        cmocka_unit_test(not_a_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
