/* SPDX-License-Identifier: Apache-2.0 */
/* Tests splash trees on small grids, computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab/splash_trees.h"

/* Around a square, the last pixel closes the cycle, so that the second and third pixels get the
 * first one into their separators. Pixels 1 and 2 of a grid of two columns are not neighbours. */
static void test_square(void **state)
{
    (void)state;
    static const uint32_t around[4] = {0, 1, 3, 2};
    static const double width[4] = {0.0, 1.0, 1.0, 2.0};
    lab_splash_tree tree = {0};
    assert_int_equal(lab_splash_tree_grow(around, 4, 2, NULL, &tree, NULL), GBS_OK);
    for (int i = 0; i < 4; i++) {
        assert_true(tree.variables[i] == i + 1);
        assert_true(tree.width[i] == width[i]);
    }
    assert_int_equal(tree.widest, 2);
    assert_int_equal(tree.differ, 0);
    assert_int_equal(tree.stage[0].n, 0); /* stages begin with five variables */
    lab_splash_tree_free(&tree);
}

/* A whole grid row by row has a tree as wide as a row. Other cases are a single row, and two
 * columns in turns. */
static void test_grid(void **state)
{
    (void)state;
    uint32_t pixel[40];
    lab_splash_tree tree = {0};
    for (uint32_t i = 0; i < 40; i++) {
        pixel[i] = i;
    }
    assert_int_equal(lab_splash_tree_grow(pixel, 40, 5, NULL, &tree, NULL), GBS_OK);
    assert_int_equal(tree.widest, 5);
    assert_int_equal(tree.differ, 0);
    for (uint32_t stage = 0; stage < LAB_TREE_STAGES; stage++) {
        assert_in_range(tree.stage[stage].n, 4 * stage + 5, 4 * stage + 8);
    }
    /* pixel 7, below pixel 2 and beside pixel 6, has 2 passed on to 6 and 5, and 0 to 2 */
    assert_int_equal(tree.stage[0].n, 8);
    assert_int_equal(tree.stage[0].n_passed, 3);
    assert_string_equal(tree.stage[0].text[1], "1: 0");
    assert_string_equal(tree.stage[0].text[2], "2: +0 1");
    assert_string_equal(tree.stage[0].text[6], "6: 1 +2 5");
    assert_string_equal(tree.stage[0].text[7], "7: 2 6");
    assert_int_equal(tree.stage[0].part[3], LAB_CLIQUE_KEPT);
    assert_int_equal(tree.stage[0].part[5], LAB_CLIQUE_CHANGED);
    assert_int_equal(tree.stage[0].part[7], LAB_CLIQUE_NEW);
    assert_int_equal(tree.stage[0].parent[7], 6);
    lab_splash_tree_free(&tree);
    assert_int_equal(lab_splash_tree_grow(pixel, 40, 40, NULL, &tree, NULL), GBS_OK);
    assert_int_equal(tree.widest, 1);
    lab_splash_tree_free(&tree);
    assert_int_equal(lab_splash_tree_grow(pixel, 40, 2, NULL, &tree, NULL), GBS_OK);
    assert_int_equal(tree.widest, 2);
    assert_int_equal(tree.differ, 0);
    lab_splash_tree_free(&tree);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_square),
        cmocka_unit_test(test_grid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
