/* SPDX-License-Identifier: Apache-2.0 */
/* Tests functions of all experiments: statistics, verdicts, files, and whole experiments that are
 * stopped, refused, or run twice. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/memory.h"
#include "gibbsite/gibbsite.h"
#include "lab/component_curves.h"
#include "lab/curves.h"
#include "lab/marginal_bias.h"
#include "lab/pictures.h"
#include "lab/plot.h"

static void test_quantiles(void **state)
{
    (void)state;
    double value[5] = {4.0, 1.0, 3.0, 5.0, 2.0};
    lab_sort(value, 5);
    assert_true(value[0] == 1.0 && value[4] == 5.0);
    assert_true(lab_quantile(value, 5, 0.0) == 1.0);
    assert_true(lab_quantile(value, 5, 0.5) == 3.0);
    assert_true(lab_quantile(value, 5, 1.0) == 5.0);
    assert_true(fabs(lab_quantile(value, 5, 0.1) - 1.4) < 1e-12);
    assert_true(lab_quantile(value, 1, 0.9) == 1.0);
}

static void test_slope(void **state)
{
    (void)state;
    double x[8];
    double y[8];
    for (int i = 0; i < 8; i++) {
        x[i] = (double)(1 << i);
        y[i] = i < 3 ? 0.01 : 7.0 * pow(x[i], -1.5);
    }
    assert_true(fabs(lab_log_slope(x, y, 8, 5) + 1.5) < 1e-9);
    assert_true(lab_log_slope(x, y, 8, 8) > -1.5);
    const double two[2] = {1.0, 2.0}; /* log (y1 / y0) / log 2 */
    const double error[2] = {0.03, 0.08};
    assert_true(fabs(lab_log_slope_error(two, two, error, 2) - 0.05 / log(2.0)) < 1e-12);
}

/* Mean 0 and variance 1 within four standard errors of 20000 draws; streams differ. */
static void test_normal(void **state)
{
    (void)state;
    const lab_reproduce_options options = {.seed = 5};
    const laboratory lab = {.options = &options};
    const uint32_t n = 20000;
    double sum = 0.0;
    double squares = 0.0;
    double product = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        const double a = lab_normal(&lab, LAB_NOISE, i);
        sum += a;
        squares += a * a;
        product += a * lab_normal(&lab, LAB_CYCLE, i);
    }
    assert_true(fabs(sum / n) < 4.0 / sqrt(n));
    assert_true(fabs(squares / n - 1.0) < 4.0 * sqrt(2.0 / n));
    assert_true(fabs(product / n) < 4.0 / sqrt(n));
}

static void test_findings(void **state)
{
    (void)state;
    laboratory lab = {.verdict = {.holds = 1}};
    lab_find(&lab, (lab_ruling){true}, "a is %d", 1);
    assert_int_equal(lab.verdict.holds, 1);
    lab_find(&lab, (lab_ruling){false}, "b is %d", 2);
    lab_find(&lab, (lab_ruling){true}, "c is 3");
    lab_note(&lab, "d %s.", "differs");
    assert_int_equal(lab.verdict.holds, 0);
    assert_string_equal(lab.verdict.measured, "\n- a is 1\n- [fails] b is 2\n- c is 3");
    lab_note(&lab, "%.2f and %.1g (%.1g) of nan.", (double)NAN, -(double)NAN, 2.0);
    assert_string_equal(lab.verdict.note, "d differs. none and none (2) of none.");
    for (int i = 0; i < 1000; i++) { /* texts that exceed the array are cut */
        lab_find(&lab, (lab_ruling){true}, "and so on");
    }
    assert_true(strlen(lab.verdict.measured) < sizeof lab.verdict.measured);
}

/* Shapes are neither empty nor full, and do not touch the border. */
/* The verdict finds each of three failures alone: a bias above its bound, a bound that is not
 * better, and an optimised scan with a bias as large as those of the other scans. */
static void test_bias(void **state)
{
    (void)state;
    for (int spoilt = 0; spoilt < 4; spoilt++) {
        static laboratory lab;
        lab_marginal_bias b = {.n_runs = 160};
        memset(&lab, 0, sizeof lab);
        lab.verdict.holds = 1;
        for (int s = 0; s < LAB_BIAS_SCANS; s++) {
            for (int k = 0; k < LAB_BIAS_TIMES; k++) {
                b.steps[k] = 1600.0 * (k + 1);
                b.bound[s][k] = s == LAB_BIAS_OPTIMISED ? 0.1 : 0.9;
                b.bias[s][k] = s == LAB_BIAS_OPTIMISED ? 0.001 : 0.3;
                b.error[s][k] = 0.01;
            }
        }
        b.bias[LAB_BIAS_RANDOM][3] += spoilt == 1 ? 0.7 : 0.0;
        b.bound[LAB_BIAS_OPTIMISED][LAB_BIAS_TIMES - 1] += spoilt == 2 ? 0.4 : 0.0;
        b.bias[LAB_BIAS_OPTIMISED][0] += spoilt == 3 ? -0.16 : 0.0;
        b.bound[LAB_BIAS_OPTIMISED][0] += spoilt == 3 ? 0.2 : 0.0;
        lab_marginal_bias_judge(&lab, &b);
        const char *fails = strstr(lab.verdict.measured, "[fails]");
        assert_int_equal(lab.verdict.holds, spoilt == 0);
        assert_int_equal(fails != NULL, spoilt != 0);
        assert_true(fails == NULL || strstr(fails + 1, "[fails]") == NULL);
    }
}

static void test_shapes(void **state)
{
    (void)state;
    const lab_reproduce_options options = {.seed = 1};
    const laboratory lab = {.options = &options};
    lab_pictures pictures = {0};
    gbs_error err = {0};
    assert_int_equal(lab_pictures_make(&lab, 50, &pictures, &err), GBS_OK);
    assert_int_equal(pictures.n, 6);
    assert_int_equal(pictures.n_pixels, 6 * 50 * 50);
    for (size_t i = 0; i < pictures.n; i++) {
        uint32_t inside = 0;
        for (size_t j = 0; j < 2500; j++) {
            inside += pictures.picture[i].pixel[j];
        }
        assert_in_range(inside, 300, 2000);
        assert_int_equal(pictures.picture[i].pixel[0], 0);
    }
    lab_pictures_free(&pictures);
}

static void test_no_pictures(void **state)
{
    (void)state;
    const lab_reproduce_options options = {.seed = 1, .data = "no such folder"};
    const laboratory lab = {.options = &options};
    lab_pictures pictures = {0};
    gbs_error err = {0};
    assert_int_equal(lab_pictures_make(&lab, 50, &pictures, &err), GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "no such folder"));
    lab_pictures_free(&pictures);
}

/* Makes a picture, adds noise, makes the model, and restores the picture. */
static gbs_status whole_picture(laboratory *lab, gbs_error *err)
{
    static const lab_contender herded = {.name = "herded", .draw = GBS_DRAW_HERDED};
    gbs_status status = GBS_OK;
    lab_pictures pictures = {0};
    lab_restoration restoration = {0};
    gbs_image image = {0};
    gbs_model *model = NULL;
    double field[64];
    GBSI_TRY(lab_pictures_make(lab, 8, &pictures, err));
    for (int i = 0; i < 64; i++) {
        field[i] = pictures.picture[0].pixel[i] != 0 ? 2.0 : -2.0;
    }
    GBSI_TRY(lab_picture_model(&pictures.picture[0], 0.3, field, &model, err));
    GBSI_TRY(lab_restore(lab, model, &pictures.picture[0], &herded, pictures.picture[0].pixel, NULL,
                         2, 9, &restoration, err));
    GBSI_TRY(lab_restoration_image(&restoration, 1, &image, err));
    for (int t = 1; t < 9; t++) { /* strong fields: hardly any pixel is wrong */
        assert_true(restoration.wrong[2 * t] <= 3.0 && restoration.squares[2 * t] < 5.0);
    }
cleanup:
    lab_pictures_free(&pictures);
    lab_restoration_free(&restoration);
    gbs_image_free(&image);
    gbs_model_free(model);
    return status;
}

/* Runs whole_picture() with 0, 1, 2, ... allowed requests for memory. */
static void test_no_memory(void **state)
{
    (void)state;
    const lab_reproduce_options options = {.seed = 1, .threads = 1};
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t allowed = 0;
    for (; status == GBS_ERR_MEMORY && allowed < 10000; allowed++) {
        laboratory lab = {.options = &options};
        gbs_error err = {0};
        gbsi_alloc_fail_after(allowed);
        status = whole_picture(&lab, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
    }
    assert_int_equal(status, GBS_OK);
    assert_true(allowed > 20);
}

/* ---- whole experiments ------------------------------------------------------------------- */

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    (void)snprintf(folder, sizeof folder, "lab_test.%ld", (long)getpid());
    return mkdir(folder, 0777);
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const name[] = {"errors.csv", "estimates.csv", "largest.csv",
                                       "marginals.csv", "verdict.txt"};
    char path[128];
    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, name[i]);
        (void)remove(path);
    }
    return rmdir(folder);
}

/* A picture of three columns and four rows, reduced in a quick run to two columns and rows at most,
 * and unchanged in full. */
static void test_pictures_of_a_folder(void **state)
{
    (void)state;
    static const uint32_t kept[4] = {1, 0, 1, 1};
    char path[sizeof folder + 16];
    (void)snprintf(path, sizeof path, "%s/one.pgm", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("P2 3 4 9 9 0 0 0 0 0 9 0 9 0 0 0\n", file) >= 0 && fclose(file) == 0);
    for (int quick = 0; quick < 2; quick++) {
        const lab_reproduce_options options = {.seed = 1, .quick = quick, .data = folder};
        const laboratory lab = {.options = &options};
        lab_pictures pictures = {0};
        assert_int_equal(lab_pictures_make(&lab, 2, &pictures, NULL), GBS_OK);
        assert_int_equal(pictures.n, 1);
        assert_int_equal(pictures.n_pixels, quick ? 4 : 12);
        for (uint32_t i = 0; quick && i < 4; i++) {
            assert_int_equal(pictures.picture[0].pixel[i], kept[i]);
        }
        lab_pictures_free(&pictures);
    }
    assert_int_equal(remove(path), 0);
}

static int stop_at_once(void *context, double share, const char *what)
{
    int *calls = context;
    assert_true(share >= 0.0 && share <= 1.0);
    assert_non_null(what);
    ++*calls;
    return 1;
}

static void test_stopped(void **state)
{
    (void)state;
    int calls = 0;
    const lab_reproduce_options options = {
        .seed = 1, .threads = 1, .progress = stop_at_once, .context = &calls};
    lab_verdict verdict = {.holds = 7};
    gbs_error err = {0};
    assert_int_equal(lab_reproduce("hg-two-variables", folder, &options, &verdict, &err),
                     GBS_STOPPED);
    assert_int_equal(calls, 1);
    assert_int_equal(verdict.holds, 7);
    char path[256];
    char text[2048] = "";
    (void)snprintf(path, sizeof path, "%s/verdict.txt", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(text, "holds: not decided, the run was stopped"));
}

static int stop_at_the_third(void *context, double share, const char *what)
{
    int *calls = context;
    (void)share;
    (void)what;
    return ++*calls == 3;
}

/* Bounds of a million variables take seconds, and a caller who stops the experiment does not wait
 * for them. */
static void test_stopped_among_bounds(void **state)
{
    (void)state;
    int calls = 0;
    const lab_reproduce_options options = {
        .quick = 1, .seed = 1, .threads = 1, .progress = stop_at_the_third, .context = &calls};
    lab_verdict verdict = {.holds = 7};
    gbs_error err = {0};
    char path[256];
    assert_int_equal(lab_reproduce("dogs-million", folder, &options, &verdict, &err), GBS_STOPPED);
    assert_int_equal(calls, 3);
    (void)snprintf(path, sizeof path, "%s/bounds.csv", folder);
    assert_int_equal(access(path, F_OK), -1);
}

static int see_share(void *context, double share, const char *what)
{
    double *seen = context;
    assert_string_equal(what, "herded");
    *seen = share;
    return 0;
}

/* A run that also counts the comparison with random draws adds no more than its part to the
 * progress. */
static void test_progress(void **state)
{
    (void)state;
    double seen = 0.0;
    const lab_reproduce_options options = {.progress = see_share, .context = &seen};
    laboratory lab = {.options = &options, .done = 30.0};
    lab_expect(&lab, 100.0);
    lab_begin(&lab, "herded", 20.0);
    assert_int_equal(lab_tell(&lab, 15.0), 0);
    assert_true(seen == 0.45);
    assert_int_equal(lab_tell(&lab, 60.0), 0);
    assert_true(seen == 0.5);
}

static int stop_later(void *context, double share, const char *what)
{
    const double *last = context;
    (void)what;
    return share > *last;
}

/* The first of four models, with two runs of six, is complete when the run is stopped: only its
 * rows are in the table. */
static void test_stopped_later(void **state)
{
    (void)state;
    double last = 0.4;
    const lab_reproduce_options options = {
        .quick = 1, .seed = 1, .threads = 1, .progress = stop_later, .context = &last};
    lab_verdict verdict = {.holds = 7};
    gbs_error err = {0};
    assert_int_equal(lab_reproduce("ws-components", folder, &options, &verdict, &err), GBS_STOPPED);
    char path[256];
    static char text[1 << 16];
    (void)snprintf(path, sizeof path, "%s/components.csv", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fread(text, 1, sizeof text - 1, file) > 0);
    assert_int_equal(fclose(file), 0);
    assert_non_null(strstr(text, "ring, positive"));
    assert_null(strstr(text, "ring, mixed"));
    assert_null(strstr(text, "complete"));
    assert_int_equal(unlink(path), 0);
}

static void test_refused(void **state)
{
    (void)state;
    lab_verdict verdict = {.holds = 7};
    gbs_error err = {0};
    const lab_reproduce_options options = {.data = "somewhere"};
    assert_int_equal(lab_reproduce("hg-three-variables", folder, NULL, &verdict, &err),
                     GBS_ERR_ARGUMENT);
    assert_int_equal(lab_reproduce("hg-two-variables", folder, &options, &verdict, &err),
                     GBS_ERR_ARGUMENT);
    assert_int_equal(lab_reproduce("hg-two-variables", "no/such/folder", NULL, &verdict, &err),
                     GBS_ERR_IO);
    assert_int_equal(lab_reproduce("ws-dcor", folder, &options, &verdict, &err), GBS_ERR_IO);
    assert_int_equal(verdict.holds, 7);
}

/* Names are unique, and no text is missing. */
static void test_table(void **state)
{
    (void)state;
    size_t n = 0;
    for (; lab_experiment_at(n) != NULL; n++) {
        const lab_experiment *e = lab_experiment_at(n);
        assert_true(strlen(e->paper) > 10 && strlen(e->figure) > 5);
        assert_true(strlen(e->claim) > 20 && strlen(e->cost) > 5);
        for (size_t i = 0; i < n; i++) {
            assert_string_not_equal(lab_experiment_at(i)->name, e->name);
        }
    }
    assert_true(n >= 8);
    assert_null(lab_experiment_at(n + 5));
}

/* Every figure has all texts, at least one panel unless it shows pictures, and room for its lines.
 */
static void test_figures(void **state)
{
    (void)state;
    for (int i = 0; i < LAB_N_FIGURES; i++) {
        const lab_figure *f = &lab_figures[i];
        assert_non_null(f->file);
        assert_non_null(strstr(f->file, ".svg"));
        /* the caller gives the title */
        assert_true(f->figure.title != NULL || i == LAB_PGS_RACE_CURVES);
        assert_true(strlen(f->figure.description) > 20);
        assert_true(f->figure.panel_width > 100.0 && f->figure.panel_height > 100.0);
        assert_true(f->figure.columns >= 1 && f->figure.n_keys <= LAB_MAX_LINES);
        assert_true(f->figure.n_panels >= 1 || strcmp(f->file, "pictures.svg") == 0);
        for (size_t p = 0; p < f->figure.n_panels; p++) {
            assert_true(f->figure.panel[p].n_lines == 0);
            assert_true(f->figure.panel[p].y.low <= f->figure.panel[p].y.high);
        }
    }
}

/* Texts are quoted where necessary, and rows may begin with any fields. A table that cannot be
 * opened takes rows, and fails when it is closed. */
static void test_rows(void **state)
{
    (void)state;
    const laboratory lab = {.folder = folder};
    const laboratory nowhere = {.folder = "no/such/folder"};
    gbs_error err = {0};
    char path[sizeof folder + 16];
    char text[64] = "";
    lab_table table = lab_table_open(&lab, "rows.csv", "a,b,c", &err);
    LAB_ROW(&table, "x, y", NULL, 1.0, 0.5);
    lab_table_number(&table, 2.0);
    LAB_ROW(&table, "z", NULL, 1048576.0);
    assert_int_equal(lab_table_close(&table), GBS_OK);
    (void)snprintf(path, sizeof path, "%s/rows.csv", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
    assert_string_equal(text, "a,b,c\n\"x, y\",1,0.5\n2,z,1048576\n");
    assert_int_equal(remove(path), 0);
    table = lab_table_open(&nowhere, "rows.csv", "a,b,c", &err);
    LAB_ROW(&table, "x", NULL, 1.0);
    assert_int_equal(lab_table_close(&table), GBS_ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_slope),
        cmocka_unit_test(test_normal),
        cmocka_unit_test(test_findings),
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_no_pictures),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_stopped_among_bounds),
        cmocka_unit_test(test_pictures_of_a_folder),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_stopped_later),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_figures),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_bias),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
