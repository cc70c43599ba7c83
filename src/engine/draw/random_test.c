/* SPDX-License-Identifier: Apache-2.0 */
/* The random draw against its definition [M6], on every instruction set and in both packings: tiles
 * are made by hand, words are chosen, and values and probabilities are computed in double. A chain
 * would not show a wrong draw of probability 2^-40, but a tile shows it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "plan/draw.h"
#include "plan/plan.h"
#include "rng/philox.h"

enum { N_ROWS = 6, N_CELLS = N_ROWS * GBSI_LANES, MOST_STATES = 300 };

static const uint32_t arities[] = {2, 3, 4, 5, 6, 7, 32, 33, 300};
enum { N_ARITIES = sizeof arities / sizeof arities[0] };

/* A tile by cells (row, lane). The conditional is made again for every draw, because draws
 * overwrite it. */
typedef struct fixture {
    uint32_t k;
    bool odds;
    uint32_t lanes;
    bool want_p;
    bool wide;
    bool linear;  /* weights or odds, instead of their logarithms */
    float *logw;  /* [N_ROWS][k or 1][16] */
    float *given; /* [N_ROWS][k or 1][16] copy of logw */
    uint32_t word[N_CELLS];
    uint32_t value[N_CELLS]; /* values drawn */
    double p[N_CELLS][MOST_STATES];
    uint32_t flags, flag_place;
    /* where in the run */
    uint64_t seed, pass, place;
    uint32_t chain;
} fixture;

static fixture f;

static uint32_t width(void)
{
    return f.odds ? 1 : f.k;
}

static float *cell_of(float *rows, uint32_t cell, uint32_t a)
{
    return rows + ((size_t)(cell / GBSI_LANES) * width() + a) * GBSI_LANES + cell % GBSI_LANES;
}

static void set_up(uint32_t k, bool odds)
{
    memset(&f, 0, sizeof f);
    f.k = k;
    f.odds = odds;
    f.lanes = GBSI_LANES;
    f.want_p = true;
    f.logw = gbsi_alloc_lanes((size_t)N_CELLS * k, sizeof *f.logw);
    f.given = gbsi_alloc_lanes((size_t)N_CELLS * k, sizeof *f.given);
    assert_non_null(f.logw);
    assert_non_null(f.given);
    f.seed = UINT64_C(0xFEDCBA9876543210);
    f.pass = UINT64_C(0x1234567890);
    f.place = 4099;
    f.chain = 32;
}

static void tear_down(void)
{
    GBSI_FREE(f.logw, f.given);
}

static void draw_at(gbsi_simd level)
{
    union {
        uint8_t narrow[N_CELLS];
        uint16_t wide[N_CELLS];
    } value;
    const size_t bytes = (size_t)N_CELLS * width() * sizeof *f.logw;
    memcpy(f.logw, f.given, bytes);
    for (size_t i = 0; f.linear && i < (size_t)N_CELLS * width(); ++i) {
        f.logw[i] = expf(f.given[i]);
    }
    memset(&value, 0xEE, sizeof value);
    gbsi_tile tile = {.odds = f.odds,
                      .linear = f.linear,
                      .value_bytes = f.wide ? 2 : 1,
                      .lanes = (uint8_t)f.lanes,
                      .arity = f.k,
                      .n_places = f.lanes == 1 ? N_CELLS : N_ROWS,
                      .n_rows = N_ROWS,
                      .contiguous = 1,
                      .seed = f.seed,
                      .pass = f.pass,
                      .place = f.place,
                      .chain = f.chain,
                      .word = f.word,
                      .w = f.logw,
                      .value = &value,
                      .p = f.want_p ? f.logw : NULL}; /* executors set this pointer */
    const gbs_run_options options = gbs_run_options_default();
    const gbsi_draw *draw = gbsi_draw_of(&options, level);
    (f.odds ? draw->binary : draw->categorical)(NULL, &tile);
    for (uint32_t cell = 0; cell < N_CELLS; ++cell) {
        f.value[cell] = f.wide ? value.wide[cell] : value.narrow[cell];
        for (uint32_t a = 0; f.want_p && a < f.k; ++a) {
            const double one = (double)*cell_of(f.logw, cell, f.odds ? 0 : a);
            f.p[cell][a] = f.odds && a == 0 ? 1.0 - one : one;
        }
        assert_true(f.value[cell] < f.k);
    }
    f.flags = tile.flags;
    f.flag_place = tile.flag_place;
}

/* Whether the weights are within the span for which plans make slots linear. */
static bool within_span(void)
{
    for (size_t i = 0; i < (size_t)N_CELLS * width(); ++i) {
        if (f.given[i] > -INFINITY && !(fabsf(f.given[i]) <= (float)GBSI_LINEAR_SPAN)) {
            return false;
        }
    }
    return true;
}

/* Runs check() on every instruction set and in every form of tile; values and probabilities must
 * not depend on these. */
static void draw_all(void (*check)(void))
{
    const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_AVX512);
    for (int form = 0; form < (within_span() ? 16 : 8); ++form) {
        f.linear = form / 8 != 0;
        f.lanes = form % 2 == 0 ? GBSI_LANES : 1;
        f.want_p = form / 2 % 2 == 0;
        f.wide = f.k > 256 || form / 4 % 2 != 0;
        float *first = NULL;
        for (int level = 0; level <= (int)best; ++level) {
            if (!gbsi_simd_has((gbsi_simd)level)) {
                continue;
            }
            draw_at((gbsi_simd)level);
            check();
            const size_t bytes = (size_t)N_CELLS * width() * sizeof *first;
            if (level == 0) {
                first = gbsi_alloc_lanes((size_t)N_CELLS * width(), sizeof *first);
                assert_non_null(first);
                memcpy(first, f.logw, bytes);
            } else if (f.want_p) {
                assert_memory_equal(f.logw, first, bytes);
            }
        }
        gbsi_free(first);
    }
}

/* ---- the definition -------------------------------------------------------------------------- */

static uint32_t second_word(uint32_t cell)
{
    const uint32_t lane = f.lanes == 1 ? 0 : cell % GBSI_LANES;
    const uint64_t place = f.place + (f.lanes == 1 ? cell : cell / GBSI_LANES);
    return gbsi_word(f.seed, f.chain + lane, f.pass, place, GBSI_PURPOSE_REFINE);
}

/* Uniform number u of a cell before it is rounded. */
static double uniform_of(uint32_t cell)
{
    return f.word[cell] != 0 ? f.word[cell] * 0x1p-32 : second_word(cell) * 0x1p-64;
}

/* Computes the probabilities of a cell. @return false if no state has weight. */
static bool softmax(uint32_t cell, double *p)
{
    double total = 0.0;
    double top = -INFINITY;
    for (uint32_t a = 0; a < f.k; ++a) {
        p[a] = f.odds ? a * (double)*cell_of(f.given, cell, 0) : (double)*cell_of(f.given, cell, a);
        top = p[a] > top ? p[a] : top;
    }
    for (uint32_t a = 0; a < f.k; ++a) {
        p[a] = top > -INFINITY ? exp(p[a] - top) : 1.0;
        total += p[a];
    }
    for (uint32_t a = 0; a < f.k; ++a) {
        p[a] /= total;
    }
    return top > -INFINITY;
}

/* Largest deviation of the end of a value's part of the unit interval. Weights deviate by a
 * relative 2^-22, which counts for the smaller side; whole numbers in place of up to 32 weights
 * deviate by half of 2^-31 each; and words form a grid. */
static double slack_at(double cdf)
{
    const double smaller = cdf < 1.0 - cdf ? cdf : 1.0 - cdf;
    return 0x1p-21 * fmax(smaller, 0.0) + (f.k <= 32 ? f.k + 1 : 1) * 0x1p-32;
}

/* Whether the definition allows a value. A binary draw takes the less likely value if u is below
 * its probability, and both numbers may deviate by a relative 2^-22. Other draws take the first
 * value whose cumulative probability exceeds u. */
static bool may_be(uint32_t cell, const double *p, uint32_t value)
{
    const double u = uniform_of(cell);
    if (f.odds) {
        const double slack = 0x1p-21;
        const uint32_t unlikely = p[1] > p[0] ? 0 : 1;
        return value == unlikely ? u < p[unlikely] * (1.0 + slack)
                                 : u >= p[unlikely] * (1.0 - slack);
    }
    double below = 0.0;
    for (uint32_t a = 0; a < value; ++a) {
        below += p[a];
    }
    const double above = below + p[value];
    return p[value] > 0.0 && u >= below - slack_at(below) && u < above + slack_at(above);
}

static void check_definition(void)
{
    double p[MOST_STATES];
    assert_int_equal(f.flags, 0);
    for (uint32_t cell = 0; cell < N_CELLS; ++cell) {
        assert_true(softmax(cell, p));
        assert_true(may_be(cell, p, f.value[cell]));
        for (uint32_t a = 0; f.want_p && a < f.k; ++a) {
            assert_true(fabs(f.p[cell][a] - p[a]) < 1e-6);
            assert_true(p[a] > 0.0 || f.p[cell][a] == 0.0);
        }
    }
}

/* ---- numbers of the test --------------------------------------------------------------------- */

static uint32_t n_taken;

static uint32_t any_word(void)
{
    return gbsi_word(1, 0, 0, n_taken++, GBSI_PURPOSE_TEST);
}

static float any_real(float low, float high)
{
    return low + (high - low) * (float)(any_word() >> 8) * 0x1p-24F;
}

/* Random words, and words at the ends of the range. */
static uint32_t test_word(uint32_t cell)
{
    static const uint32_t edge[] = {0,          1,          2,          255,       0x7FFFFFFFu,
                                    0x80000000, 0xFFFFFF00, 0xFFFFFFFE, UINT32_MAX};
    const uint32_t n = sizeof edge / sizeof edge[0];
    return cell % 4 == 3 ? edge[any_word() % n] : any_word() >> any_word() % 32;
}

static void random_conditionals(float spread, float zeros)
{
    for (uint32_t cell = 0; cell < N_CELLS; ++cell) {
        const uint32_t alive = any_word() % f.k; /* one state keeps its weight */
        f.word[cell] = test_word(cell);
        for (uint32_t a = 0; a < width(); ++a) {
            const bool zero = !f.odds && a != alive && any_real(0.0F, 1.0F) < zeros;
            *cell_of(f.given, cell, a) = zero ? -INFINITY : any_real(-spread, spread);
        }
    }
}

static void for_every_arity(void (*test)(void))
{
    set_up(2, true);
    test();
    tear_down();
    for (uint32_t i = 0; i < N_ARITIES; ++i) {
        set_up(arities[i], false);
        test();
        tear_down();
    }
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void spreads_and_zeros(void)
{
    static const float spread[] = {0.0F, 0.5F, 3.0F, 30.0F, 80.0F, 2000.0F};
    for (uint32_t i = 0; i < 6; ++i) {
        random_conditionals(spread[i], 0.0F);
        draw_all(check_definition);
        random_conditionals(spread[i], 0.4F);
        draw_all(check_definition);
        random_conditionals(spread[i], 1.0F);
        draw_all(check_definition);
    }
}

static void follows_its_definition(void **state)
{
    (void)state;
    for_every_arity(spreads_and_zeros);
}

/* Weights of zero at the first and last states, and words at the two ends of the range, so that the
 * sums reach their ends. */
static void zeros_at_the_ends(void)
{
    static const uint32_t word[] = {0, 1, UINT32_MAX};
    for (uint32_t i = 0; i < 3 && !f.odds; ++i) {
        for (uint32_t cell = 0; cell < N_CELLS; ++cell) {
            const uint32_t from = cell % f.k;
            const uint32_t to = from + any_word() % (f.k - from);
            f.word[cell] = word[i];
            for (uint32_t a = 0; a < f.k; ++a) {
                *cell_of(f.given, cell, a) = a < from || a > to ? -INFINITY : any_real(-1.0F, 1.0F);
            }
        }
        draw_all(check_definition);
    }
}

static void zeros_are_never_drawn(void **state)
{
    (void)state;
    for_every_arity(zeros_at_the_ends);
}

/* A first state, or a less likely one, that is so rare that a word of 0 alone does not draw it. The
 * second word draws the state or not, because its probability is a little above or below the number
 * of the second word. */
static double nudge;
static uint32_t rare_value;

static void check_refined(void)
{
    for (uint32_t cell = 0; cell < N_CELLS; ++cell) {
        const bool rare = f.value[cell] == rare_value;
        assert_true(rare == (nudge > 1.0));
    }
}

static void set_rare(void)
{
    for (uint32_t cell = 0; cell < N_CELLS; ++cell) {
        const double p = nudge * second_word(cell) * 0x1p-64;
        f.word[cell] = 0;
        if (f.odds) {
            const double odds = log(p);
            *cell_of(f.given, cell, 0) = (float)(rare_value == 1 ? odds : -odds);
            continue;
        }
        for (uint32_t a = 0; a < f.k; ++a) {
            *cell_of(f.given, cell, a) = a == 0 ? (float)log(p * (f.k - 1)) : 0.0F;
        }
    }
}

static void refine(void)
{
    const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_AVX512);
    for (uint32_t form = 0; form < 8; ++form) {
        f.lanes = form % 2 == 0 ? GBSI_LANES : 1;
        nudge = form / 2 % 2 == 0 ? 1.001 : 0.999;
        rare_value = f.odds ? form / 4 : 0;
        f.wide = f.k > 256;
        set_rare();
        for (int level = 0; level <= (int)best; ++level) {
            if (!gbsi_simd_has((gbsi_simd)level)) {
                continue;
            }
            draw_at((gbsi_simd)level);
            check_refined();
        }
    }
}

static void a_word_of_zero_is_refined(void **state)
{
    (void)state;
    for_every_arity(refine);
}

/* Equal weights: the value is the part of the unit interval that contains u, with exact ends. */
static void check_ties(void)
{
    for (uint32_t cell = 0; cell < N_CELLS; ++cell) {
        assert_int_equal(f.value[cell], (f.odds ? f.word[cell] < 0x80000000u
                                                : f.word[cell] / (UINT32_MAX / f.k + 1)));
    }
}

static void ties(void **state)
{
    (void)state;
    static const uint32_t powers[] = {2, 4, 32, 64, 256};
    set_up(2, true);
    for (uint32_t i = 0; i < 2 * (sizeof powers / sizeof powers[0]); ++i) {
        const uint32_t k = powers[i / 2];
        if (i > 1) {
            tear_down();
            set_up(k, false);
        }
        for (uint32_t cell = 0; cell < N_CELLS; ++cell) {
            /* where a part begins, or (exact as a float) just before */
            const uint32_t begin = cell % k * (UINT32_MAX / k + 1);
            f.word[cell] = cell % 2 == 0 ? begin : begin - 256;
            f.word[cell] = f.word[cell] == 0 ? 1 : f.word[cell];
            for (uint32_t a = 0; a < width(); ++a) {
                *cell_of(f.given, cell, a) = i % 2 == 0 || f.odds ? 0.0F : -500.0F;
            }
        }
        draw_all(check_ties);
    }
    tear_down();
}

/* A last state of probability n 2^-32 for a small n. The n largest words draw the state, and no
 * other word does; the number may differ by two, one from the rounding of the weight and one from
 * the grid of words. Float sums would give the state all of the last 256 words, or none. */
static uint32_t n_words;

static void check_rare_last(void)
{
    for (uint32_t cell = 0; cell < N_CELLS; ++cell) {
        const uint32_t from_end = UINT32_MAX - f.word[cell];
        const bool last = f.value[cell] == f.k - 1;
        assert_true(last ? from_end < n_words + 2 : from_end + 2 >= n_words);
    }
}

static void rare_last_state(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < N_ARITIES; ++i) {
        if (arities[i] < 2) {
            continue;
        }
        set_up(arities[i], false);
        for (n_words = 1; n_words < 100; n_words = 3 * n_words + 1) {
            for (uint32_t cell = 0; cell < N_CELLS; ++cell) {
                f.word[cell] = UINT32_MAX - (cell < 2 * n_words ? cell : any_word() % 300);
                for (uint32_t a = 0; a < f.k; ++a) {
                    *cell_of(f.given, cell, a) =
                        a + 1 < f.k ? 0.0F : (float)log(n_words * 0x1p-32 * (f.k - 1));
                }
            }
            draw_all(check_rare_last);
        }
        tear_down();
    }
}

/* If every state of a cell has weight zero, the draw reports the first such place, and draws the
 * rest of the tile as usual. */
static uint32_t dead_cell;

static void check_dead(void)
{
    double p[MOST_STATES];
    assert_int_equal(f.flags, GBSI_IMPOSSIBLE);
    assert_int_equal(f.flag_place, f.lanes == 1 ? dead_cell : dead_cell / GBSI_LANES);
    for (uint32_t cell = 0; cell < N_CELLS; ++cell) {
        assert_true(softmax(cell, p) == (cell != dead_cell && cell != N_CELLS - 1));
        assert_true(cell == dead_cell || cell == N_CELLS - 1 || may_be(cell, p, f.value[cell]));
    }
}

static void kill_two(void)
{
    for (dead_cell = 0; dead_cell < N_CELLS && !f.odds; dead_cell += 23) {
        random_conditionals(1.0F, 0.2F);
        for (uint32_t a = 0; a < f.k; ++a) {
            *cell_of(f.given, dead_cell, a) = -INFINITY;
            *cell_of(f.given, N_CELLS - 1, a) = -INFINITY;
        }
        draw_all(check_dead);
    }
}

static void no_positive_weight_is_flagged(void **state)
{
    (void)state;
    for_every_arity(kill_two);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(follows_its_definition),
        cmocka_unit_test(zeros_are_never_drawn),
        cmocka_unit_test(a_word_of_zero_is_refined),
        cmocka_unit_test(ties),
        cmocka_unit_test(rare_last_state),
        cmocka_unit_test(no_positive_weight_is_flagged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
