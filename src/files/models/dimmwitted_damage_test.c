/* SPDX-License-Identifier: Apache-2.0 */
/* Tests DimmWitted factor graphs that are cut at every byte, have changed bytes, or are read
 * while memory runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/dimmwitted_testing.h"
#include "models/test_damage.h"

/* Cuts a file at every byte, from its end. @return how often the rest was read. */
static size_t cut_file(const char *name)
{
    static char whole[8192];
    size_t n_read = 0;
    const size_t n = read_file(in_folder(name), whole, sizeof whole);
    for (size_t cut = n; cut <= n; cut--) { /* wraps after 0 */
        gbs_model *m = NULL;
        gbs_error err = {0};
        assert_int_equal(truncate(in_folder(name), (off_t)cut), 0);
        if (gbs_model_read(in_folder("graph.meta"), NULL, &m, &err) == GBS_OK) {
            assert_non_null(m);
            n_read++;
        } else {
            assert_null(m);
            assert_true(cut < n);
            assert_int_equal(strncmp(err.message, in_folder(""), strlen(in_folder(""))), 0);
        }
        gbs_model_free(m);
    }
    save(name, whole, n);
    return n_read;
}

static void cut_anywhere(void **state)
{
    (void)state;
    static const char *const binary[] = {"graph.weights", "graph.variables", "graph.factors",
                                         "graph.domains"};
    graph g;
    make_graph(&g);
    save_graph(&g);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(cut_file(binary[i]), 1);
    }
    assert_int_equal(cut_file("graph.meta"), 2); /* with and without the line's end */
}

static void set_byte(FILE *file, size_t at, unsigned char byte)
{
    assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
    assert_int_equal(fputc(byte, file), byte);
    assert_int_equal(fflush(file), 0);
}

/* Any byte of a binary file may have any value. The file must then be read or refused. */
static void changed_anywhere(void **state)
{
    (void)state;
    static const char *const name[] = {"graph.weights", "graph.variables", "graph.factors",
                                       "graph.domains"};
    static const unsigned char other[] = {0x00, 0x01, 0x7f, 0xff};
    size_t n_read = 0;
    graph g;
    make_graph(&g);
    save_graph(&g);
    const bytes *b[] = {&g.weights, &g.variables, &g.factors, &g.domains};
    for (size_t f = 0; f < 4; f++) {
        FILE *file = fopen(in_folder(name[f]), "r+b");
        assert_non_null(file);
        for (size_t i = 0; i < b[f]->n; i++) {
            gbs_model *m = NULL;
            set_byte(file, i, other[i % 4]);
            n_read += gbs_model_read(in_folder("graph.meta"), NULL, &m, NULL) == GBS_OK;
            gbs_model_free(m);
            set_byte(file, i, b[f]->at[i]);
        }
        assert_int_equal(fclose(file), 0);
    }
    assert_true(n_read > 100);
}

static void memory_runs_out(void **state)
{
    (void)state;
    graph g;
    make_graph(&g);
    save_graph(&g);
    gbs_model_free(read_starved(scratch_path("graph"), NULL, NULL));
}

static int end(void **state)
{
    (void)state;
    remove_scratch();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(changed_anywhere),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, end);
}
