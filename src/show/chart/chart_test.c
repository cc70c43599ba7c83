/* SPDX-License-Identifier: Apache-2.0 */
/* Tests charts: texts and their places, equal output for equal figures, nothing outside the
 * page. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "chart/chart.h"
#include "chart/chart_pen.h"
#include "config.h"

#include <math.h>

/* A figure with every kind of mark. */
typedef struct sample {
    double x[12], y[2][12], low[12], high[12];
    gbsi_line line[2];
    gbsi_guide guide[2];
    gbsi_bars bars;
    gbsi_swings swings;
    double value[6];
    gbsi_panel panel[3];
    gbsi_key key[3];
    gbs_image image;
    gbsi_figure figure;
} sample;

static void fill(sample *s)
{
    static const char *const group[] = {"2", "8"};
    static const gbsi_color color[] = {GBSI_BLUE, GBSI_VERMILLION, GBSI_GREEN};
    for (int i = 0; i < 12; i++) {
        s->x[i] = (double)(1 << (i + 3));
        s->y[0][i] = 3.0 / s->x[i];
        s->y[1][i] = 2.0 / sqrt(s->x[i]);
        s->low[i] = s->y[1][i] * 0.6;
        s->high[i] = s->y[1][i] * 1.7;
    }
    for (int k = 0; k < 2; k++) {
        s->line[k] = (gbsi_line){.label = k == 0 ? "herded" : "random",
                                 .color = k == 0 ? GBSI_VERMILLION : GBSI_BLUE,
                                 .dots = k == 0,
                                 .n = 12,
                                 .x = s->x,
                                 .y = s->y[k],
                                 .low = k == 1 ? s->low : NULL,
                                 .high = k == 1 ? s->high : NULL};
    }
    s->guide[0] = (gbsi_guide){"1/T", -1.0, 8.0, 1.0};
    s->guide[1] = (gbsi_guide){"1/√T", -0.5, 8.0, 1.0};
    for (int i = 0; i < 6; i++) {
        s->value[i] = 0.1 * (i + 1);
    }
    s->bars = (gbsi_bars){
        .n_groups = 2, .n_series = 3, .group = group, .color = color, .value = s->value};
    s->panel[0] = (gbsi_panel){.title = "a < b & c",
                               .x = {.label = "sweeps T", .log = true},
                               .y = {.label = "L1 error of the joint", .log = true},
                               .n_lines = 2,
                               .line = s->line,
                               .n_guides = 2,
                               .guide = s->guide};
    s->panel[1] = (gbsi_panel){.title = "bars",
                               .x = {.label = "noise"},
                               .y = {.label = "mean squared error"},
                               .bars = &s->bars};
    static const char *const swung[] = {"a long name of a parameter", "b", "c"};
    s->swings = (gbsi_swings){.n = 3,
                              .label = swung,
                              .origin = 0.3,
                              .end = {s->value, s->value + 3},
                              .color = {GBSI_ORANGE, GBSI_BLUE}};
    s->panel[2] =
        (gbsi_panel){.title = "swings", .x = {.label = "probability"}, .swings = &s->swings};
    s->key[0] = (gbsi_key){"shared", GBSI_BLUE, GBSI_SOLID, true};
    s->key[1] = (gbsi_key){"herded", GBSI_VERMILLION, GBSI_SOLID, true};
    s->key[2] = (gbsi_key){"random", GBSI_GREEN, GBSI_DASHED, false};
    s->figure = (gbsi_figure){.title = "Herding is faster",
                              .subtitle = "two variables, 100 runs",
                              .description = "Errors of two draws.",
                              .panel_width = 320,
                              .panel_height = 240,
                              .columns = 2,
                              .n_panels = 3,
                              .panel = s->panel,
                              .n_keys = 3,
                              .key = s->key};
}

static char *text_of(const gbsi_figure *figure)
{
    gbs_output *output = NULL;
    char *text = NULL;
    size_t n = 0;
    gbs_error err = {0};
    assert_int_equal(gbs_output_open_memory(&output, &err), GBS_OK);
    assert_int_equal(gbsi_figure_text(figure, output, &err), GBS_OK);
    assert_int_equal(gbs_output_take(output, &text, &n, &err), GBS_OK);
    return text;
}

/* Finds `word` in a text. @return the number behind it. */
static double number_behind(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    assert_non_null(at);
    return strtod(at + strlen(word), NULL);
}

/* A level that lines are compared with is inside the axes, at any distance above the lines. */
static void test_a_level_is_in_sight(void **state)
{
    (void)state;
    for (int log = 0; log < 2; log++) {
        sample s = {0};
        fill(&s);
        s.panel[0].y.log = log != 0;
        s.guide[0] = (gbsi_guide){"level", 0.0, 1.0, 50.0};
        char *text = text_of(&s.figure);
        const char *guide = strstr(text, "<path class=\"guide\"");
        assert_non_null(guide);
        const double y = number_behind(strstr(guide, "\"M"), " ");
        assert_true(y >= number_behind(strstr(text, "<clipPath"), " y=\""));
        gbs_free(text);
    }
}

static size_t count_of(const char *text, const char *style)
{
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, style)) != NULL; at++) {
        n++;
    }
    return n;
}

/* A logarithmic axis between two powers of ten has numbers, at any of its lengths. */
static void test_short_axes_have_numbers(void **state)
{
    (void)state;
    static const double ends[][2] = {{0.62, 0.91}, {2.1, 4.9}, {5.5, 9.5}, {0.3, 0.9},
                                     {0.9, 1.4},   {1.0, 9.9}, {0.9, 40}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const double y[2] = {1.0, 2.0};
        const gbsi_line line = {.color = GBSI_BLUE, .n = 2, .x = ends[i], .y = y};
        const gbsi_panel panel = {.x = {.log = true, .low = ends[i][0], .high = ends[i][1]},
                                  .y = {.log = true, .low = ends[i][0], .high = ends[i][1]},
                                  .n_lines = 1,
                                  .line = &line};
        const gbsi_figure figure = {.title = "t",
                                    .description = "d",
                                    .panel_width = 300,
                                    .panel_height = 200,
                                    .columns = 1,
                                    .n_panels = 1,
                                    .panel = &panel};
        char *text = text_of(&figure);
        assert_in_range(count_of(text, "\"soft middle\""), 2, 10);
        assert_in_range(count_of(text, "\"soft end\""), 2, 10);
        gbs_free(text);
    }
}

/* Checks that the y coordinates of the path after a mark are within [top, bottom]. */
static void check_heights(const char *text, const char *mark, double top, double bottom)
{
    const char *at = strstr(text, mark);
    assert_non_null(at);
    for (; at != NULL; at = strstr(at + 1, mark)) {
        for (const char *c = strstr(at, " d=\"") + 4; *c != '"'; c++) {
            if (*c == 'M' || *c == 'L' || *c == 'V') {
                char *end = (char *)(c + 1);
                if (*c != 'V') {
                    (void)strtod(c + 1, &end);
                }
                assert_true(strtod(end, NULL) >= top && strtod(end, NULL) <= bottom);
            }
        }
    }
}

/* Bands and whiskers end at the ends of the axes. */
static void test_bands_stay_inside(void **state)
{
    (void)state;
    for (int log = 0; log < 2; log++) {
        const double error[6] = {5.0, 5.0, 5.0, 5.0, 5.0, 5.0};
        sample s = {0};
        fill(&s);
        s.low[3] = log != 0 ? 1e-9 : -50.0;
        s.high[5] = 1e6;
        s.bars.error = error;
        for (int p = 0; p < 2; p++) {
            s.panel[p].y.log = log != 0;
            s.panel[p].y.low = 0.01;
            s.panel[p].y.high = 0.5;
        }
        s.figure.n_panels = 2;
        char *text = text_of(&s.figure);
        const char *clip = strstr(text, "<clipPath");
        const double top = number_behind(clip, " y=\"") + 2.0;
        const double bottom = top + number_behind(clip, " height=\"") - 4.0;
        check_heights(text, "<path class=\"band", top - 0.05, bottom + 0.05);
        check_heights(text, "<path class=\"axis", top - 0.05, bottom + 0.05);
        gbs_free(text);
    }
}

/* Boxes are inside the panel, wherever their centres are; lines join the centres. */
static void test_boxes(void **state)
{
    (void)state;
    static const char *const label[3] = {"0", "1: 0", "2: 0 +1"};
    static const gbsi_color color[3] = {GBSI_GREY, GBSI_ORANGE, GBSI_GREEN};
    static const double x[3] = {0.5, 0.0, 1.0};
    static const double y[3] = {0.0, 0.5, 1.0};
    static const uint32_t joined[3] = {0, 0, 1};
    const gbsi_boxes boxes = {
        .n = 3, .label = label, .color = color, .x = x, .y = y, .joined = joined};
    const gbsi_panel panel = {.title = "t", .boxes = &boxes};
    const gbsi_figure figure = {.title = "t",
                                .description = "d",
                                .panel_width = 100,
                                .panel_height = 100,
                                .columns = 1,
                                .n_panels = 1,
                                .panel = &panel};
    char *text = text_of(&figure);
    assert_int_equal(count_of(text, "<path class=\"axis\""), 2);
    assert_int_equal(count_of(text, "<rect class=\"paper s"), 3);
    assert_non_null(strstr(text, ">2: 0 +1<"));
    double left = INFINITY;
    double right = 0.0;
    for (const char *at = text; (at = strstr(at, "<rect class=\"paper s")) != NULL; at++) {
        const double from = number_behind(at, " x=\"");
        left = from < left ? from : left;
        right = from + number_behind(at, " width=\"") > right
                    ? from + number_behind(at, " width=\"")
                    : right;
    }
    assert_true(right - left <= 100.0 + 0.11);
    gbs_free(text);
}

static void test_text_is_searchable(void **state)
{
    (void)state;
    sample s = {0};
    fill(&s);
    char *text = text_of(&s.figure);
    static const char *const words[] = {"<title id=\"title\">Herding is faster</title>",
                                        "<desc id=\"description\">Errors of two",
                                        "two variables, 100 runs",
                                        "a &lt; b &amp; c",
                                        ">sweeps T<",
                                        ">L1 error of the joint<",
                                        ">herded<",
                                        ">random<",
                                        ">1/T<",
                                        ">1/√T<",
                                        ">10³<",
                                        ">10⁻²<",
                                        ">mean squared error<",
                                        ">0.2<",
                                        ">a long name of a parameter<",
                                        ">probability<",
                                        "prefers-color-scheme:dark",
                                        "#0072b2"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strstr(text, words[i]) == NULL) {
            fail_msg("not in the text: %s", words[i]);
        }
    }
    gbs_free(text);
}

static void test_same_text(void **state)
{
    (void)state;
    sample s = {0};
    sample t = {0};
    fill(&s);
    fill(&t);
    char *a = text_of(&s.figure);
    char *b = text_of(&t.figure);
    assert_string_equal(a, b);
    gbs_free(a);
    gbs_free(b);
}

/* Values may be very close or extremely far apart. The axes must still have some ticks. */
static void test_any_values(void **state)
{
    (void)state;
    static const double ends[][2] = {{1e280, 1e280},   {-3e16, -3e16},      {1.0, 1.0 + 0x1p-52},
                                     {5e-324, 1e-323}, {-1.7e308, 1.7e308}, {-1e280, 0.0}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        const double x[2] = {1.0, 2.0};
        const gbsi_line line = {.color = GBSI_BLUE, .n = 2, .x = x, .y = ends[i]};
        const gbsi_panel panel = {.title = "t", .n_lines = 1, .line = &line};
        const gbsi_figure figure = {.title = "t",
                                    .description = "d",
                                    .panel_width = 300,
                                    .panel_height = 200,
                                    .columns = 1,
                                    .n_panels = 1,
                                    .panel = &panel};
        char *text = text_of(&figure);
        assert_null(strstr(text, "nan"));
        assert_null(strstr(text, "inf"));
        assert_true(strlen(text) < 20000);
        gbs_free(text);
    }
}

/* Checks that the ends of all drawn lines are inside the page. */
static void test_inside_the_page(void **state)
{
    (void)state;
    sample s = {0};
    fill(&s);
    s.y[0][3] = 0.0; /* a logarithmic axis cannot show this value */
    s.y[0][5] = NAN;
    s.y[1][11] = INFINITY;
    char *text = text_of(&s.figure);
    char *after = NULL;
    const double width = strtod(strstr(text, "viewBox=\"0 0 ") + strlen("viewBox=\"0 0 "), &after);
    const double height = strtod(after, &after);
    assert_int_equal(*after, '"');
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, " x=\"")) != NULL; at++) {
        const double x = strtod(at + 4, NULL);
        assert_true(x >= 0.0 && x <= width);
        n++;
    }
    for (const char *at = text; (at = strstr(at, "\" d=\"")) != NULL; at++) {
        for (const char *c = at + 5; *c != '"'; c++) {
            if (*c == 'M' || *c == 'L') {
                char *end = NULL;
                const double x = strtod(c + 1, &end);
                const double y = strtod(end, NULL);
                assert_true(x >= 0.0 && x <= width && y >= 0.0 && y <= height);
                n++;
            }
        }
    }
    assert_true(n > 50);
    gbs_free(text);
}

/* Labels of lines that end at one height are moved apart, in the order of the lines' ends. */
static void test_labels_apart(void **state)
{
    (void)state;
    sample s = {0};
    fill(&s);
    for (int i = 0; i < 12; i++) {
        s.y[1][i] = s.y[0][i] * 1.01;
    }
    s.figure.n_keys = 0; /* the key has the same words */
    char *text = text_of(&s.figure);
    double y[2];
    static const char *const mark[] = {">random<", ">herded<"};
    for (int k = 0; k < 2; k++) {
        const char *at = strstr(text, mark[k]);
        while (strncmp(at, " y=\"", 4) != 0) {
            at--;
        }
        y[k] = strtod(at + 4, NULL);
    }
    assert_true(y[1] - y[0] >= GBSI_LINE_STEP - 0.11); /* tolerance for rounded coordinates */
    gbs_free(text);
}

static void test_numbers(void **state)
{
    (void)state;
    assert_string_equal(N(12.34), "12.3");
    assert_string_equal(N(-0.04), "0.0");
    assert_string_equal(N(-7.25), "-7.3");
    assert_string_equal(N(1000.0), "1000.0");
}

static void test_picture(void **state)
{
    (void)state;
    sample s = {0};
    gbs_error err = {0};
    fill(&s);
    assert_int_equal(gbs_image_new(GBS_IMAGE_GREY, 4, 3, 255, 0, &s.image, &err), GBS_OK);
    s.image.sample[5] = 200;
    s.panel[0] = (gbsi_panel){.title = "noisy", .image = &s.image};
    s.figure.n_panels = 1;
#ifdef GBSI_HAVE_PNG
    char *text = text_of(&s.figure);
    /* base64 of the eight bytes that begin every PNG */
    assert_non_null(strstr(text, "xlink:href=\"data:image/png;base64,iVBORw0KGgo"));
    gbs_free(text);
#else
    gbs_output *output = NULL;
    assert_int_equal(gbs_output_open_memory(&output, &err), GBS_OK);
    assert_int_equal(gbsi_figure_text(&s.figure, output, &err), GBS_ERR_UNSUPPORTED);
    gbs_output_discard(output);
#endif
    gbs_image_free(&s.image);
}

static void test_no_memory(void **state)
{
    (void)state;
    sample s = {0};
    gbs_error err = {0};
    fill(&s);
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t allowed = 0;
    for (; status == GBS_ERR_MEMORY && allowed < 100; allowed++) {
        gbsi_alloc_fail_after(allowed);
        status = gbsi_figure_write(&s.figure, "chart_test.svg", &err);
        gbsi_alloc_fail_after(UINT64_MAX);
    }
    assert_int_equal(status, GBS_OK);
    assert_true(allowed > 1);
    assert_int_equal(remove("chart_test.svg"), 0);
}

int main(void)
{
    /* path where the figure is left, for a person to look at */
    const char *path = getenv("GIBBSITE_CHART");
    if (path != NULL) {
        sample s = {0};
        gbs_error err = {0};
        fill(&s);
        (void)gbsi_figure_write(&s.figure, path, &err);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_level_is_in_sight),
        cmocka_unit_test(test_short_axes_have_numbers),
        cmocka_unit_test(test_bands_stay_inside),
        cmocka_unit_test(test_boxes),
        cmocka_unit_test(test_text_is_searchable),
        cmocka_unit_test(test_same_text),
        cmocka_unit_test(test_any_values),
        cmocka_unit_test(test_inside_the_page),
        cmocka_unit_test(test_labels_apart),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_picture),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
