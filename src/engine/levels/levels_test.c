/* SPDX-License-Identifier: Apache-2.0 */
/* Compares updates of levels with their formula, site by site with equal random words, in every
 * instruction set; tests passes that are cut short, and the choice of watched sites. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "estimate/estimate.h"
#include "gibbsite/gibbsite.h"
#include "levels/levels_chains.h"

enum { MOST_SITES = 40 * 1024, VALUES = 11, CHAINS = 19 };

typedef struct shape {
    uint32_t width, height, n_levels, n_neighbours;
    double truncation;
} shape;

/* Shapes with halves of rows that fill blocks of sixteen and of sixty-four sites, shapes with other
 * halves, and a single site. */
static const shape shapes[] = {
    {1, 1, 3, 4, 1.0},    {2, 3, 2, 8, 1.0},    {31, 4, 5, 4, 4.0},    {32, 3, 4, 8, 2.5},
    {33, 2, 7, 8, 1.0},   {128, 5, 3, 4, 1.0},  {131, 3, 15, 8, 9.0},  {20, 4, 9, 8, 64.0},
    {70, 3, 16, 8, 25.0}, {5, 40, 17, 4, 64.0}, {9, 2, 256, 8, 100.0},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static uint32_t word_of(uint64_t a, uint64_t b)
{
    return gbsi_word(1, 0, a, b, GBSI_PURPOSE_TEST);
}

static uint32_t value_of(const void *context, size_t site)
{
    (void)context;
    return word_of(1, site) % VALUES;
}

static double seen_of(uint32_t value, uint32_t level)
{
    return -3.0 * (word_of(2, (uint64_t)value * 256 + level) * 0x1p-32);
}

#define STRAIGHT 0.4
#define DIAGONAL 0.3

static gbsi_levels *levels_of(const shape *s)
{
    static double seen[VALUES * 256];
    gbsi_levels *levels = NULL;
    for (uint32_t v = 0; v < VALUES; v++) {
        for (uint32_t a = 0; a < s->n_levels; a++) {
            seen[v * s->n_levels + a] = seen_of(v, a);
        }
    }
    const gbsi_levels_setting setting = {.width = s->width,
                                         .height = s->height,
                                         .n_levels = s->n_levels,
                                         .n_neighbours = s->n_neighbours,
                                         .coupling = STRAIGHT,
                                         .diagonal = DIAGONAL,
                                         .truncation = s->truncation,
                                         .n_values = VALUES,
                                         .seen = seen,
                                         .value = value_of};
    assert_int_equal(gbsi_levels_new(&setting, &levels, NULL), GBS_OK);
    return levels;
}

static gbsi_levels_chains *chains_of(const gbsi_levels *levels, uint32_t n_chains, bool keeps,
                                     gbsi_simd simd)
{
    gbsi_levels_chains *chains = NULL;
    const gbsi_levels_keeping keeping = {.keeps = keeps};
    assert_int_equal(
        gbsi_levels_chains_new(levels, n_chains, 7, keeping, simd, NULL, &chains, NULL), GBS_OK);
    gbsi_levels_chains_scatter(chains);
    return chains;
}

/* ---- the formula ----------------------------------------------------------------------------- */

/* Sum over neighbours of c min((a - x_j)^2, t). @param after whether only neighbours after the site
 * count. */
static double distance_of(const shape *s, const uint32_t *x, uint32_t site, double a, bool after)
{
    const int column = (int)(site % s->width);
    const int row = (int)(site / s->width);
    double sum = 0.0;
    for (int dr = -1; dr <= 1; dr++) {
        for (int dc = -1; dc <= 1; dc++) {
            const int r = row + dr;
            const int c = column + dc;
            const bool diagonal = dr != 0 && dc != 0;
            const bool is_after = dr > 0 || (dr == 0 && dc > 0);
            if ((dr == 0 && dc == 0) || (diagonal && s->n_neighbours == 4) || r < 0 || c < 0 ||
                r >= (int)s->height || c >= (int)s->width || (after && !is_after)) {
                continue;
            }
            const double d = a - (double)x[r * (int)s->width + c];
            sum += (diagonal ? DIAGONAL : STRAIGHT) * fmin(d * d, s->truncation);
        }
    }
    return sum;
}

/* Whether the formula picks this level by the uniform number; a neighbouring level is accepted if
 * rounding decides. */
static bool is_drawn(const shape *s, const uint32_t *x, uint32_t site, double u, uint32_t drawn)
{
    double weight[256];
    double total = 0.0;
    double below = 0.0;
    for (uint32_t a = 0; a < s->n_levels; a++) {
        weight[a] = exp(seen_of(value_of(NULL, site), a) - distance_of(s, x, site, a, false));
        total += weight[a];
    }
    for (uint32_t a = 0; a < drawn; a++) {
        below += weight[a] / total;
    }
    return drawn < s->n_levels && u > below - 1e-5 && u < below + weight[drawn] / total + 1e-5;
}

static uint32_t color_of(const shape *s, uint32_t site)
{
    const uint32_t column = site % s->width;
    const uint32_t row = site / s->width;
    return s->n_neighbours == 4 ? (row + column) % 2 : 2 * (row % 2) + column % 2;
}

/* Uniform number of a site. Random words are numbered half row by half row, each padded to 64
 * sites. */
static double uniform_of(const gbsi_levels *l, uint32_t chain, uint64_t pass, uint32_t site)
{
    const gbsi_levels_place at = gbsi_levels_locate(l, site);
    const uint64_t place = (uint64_t)at.half * ((l->half + 63) / 64 * 64) + at.index;
    return (gbsi_word(7, chain, pass, place, GBSI_PURPOSE_UPDATE) >> 8) * 0x1p-24;
}

static void updates_are_their_formula(void **unused)
{
    static uint32_t before[MOST_SITES];
    static uint32_t after[MOST_SITES];
    (void)unused;
    for (int k = 0; k < N_SHAPES; k++) {
        const shape *s = &shapes[k];
        gbsi_levels *l = levels_of(s);
        gbsi_levels_chains *chains = chains_of(l, CHAINS, false, gbsi_simd_level());
        for (uint64_t pass = 0; pass < 3; pass++) {
            for (uint32_t color = 0; color < l->n_colors; color++) {
                const uint32_t chain = (uint32_t)(pass * 9);
                gbsi_levels_chains_get(chains, chain, before);
                gbsi_levels_chains_run(chains, pass, color, 0, gbsi_levels_rows_of(l, color), NULL);
                gbsi_levels_chains_get(chains, chain, after);
                for (uint32_t i = 0; i < s->width * s->height; i++) {
                    assert_true(
                        color_of(s, i) == color
                            ? is_drawn(s, before, i, uniform_of(l, chain, pass, i), after[i])
                            : before[i] == after[i]);
                }
            }
        }
        gbsi_levels_chains_free(chains);
        gbsi_levels_free(l);
    }
}

static void densities_are_their_formula(void **unused)
{
    static uint32_t x[MOST_SITES];
    (void)unused;
    for (int k = 0; k < N_SHAPES; k++) {
        const shape *s = &shapes[k];
        gbsi_levels *l = levels_of(s);
        gbsi_levels_chains *chains = chains_of(l, 2, false, gbsi_simd_level());
        double sum = 0.0;
        gbsi_levels_chains_sweep(chains, 0);
        gbsi_levels_chains_get(chains, 1, x);
        for (uint32_t i = 0; i < s->width * s->height; i++) {
            sum += seen_of(value_of(NULL, i), x[i]) - distance_of(s, x, i, x[i], true);
        }
        const double found = gbsi_levels_chains_log_density(chains, 1);
        assert_true(fabs(found - sum) < 1e-5 * (1.0 + fabs(sum)));
        gbsi_levels_chains_free(chains);
        gbsi_levels_free(l);
    }
}

/* ---- equal bits ------------------------------------------------------------------------------ */

static void instruction_sets_make_no_difference(void **unused)
{
    static uint32_t x[MOST_SITES];
    static uint32_t y[MOST_SITES];
    (void)unused;
    for (int k = 0; k < N_SHAPES; k++) {
        gbsi_levels *l = levels_of(&shapes[k]);
        gbsi_levels_chains *one = chains_of(l, CHAINS, false, GBSI_SIMD_PORTABLE);
        gbsi_levels_chains_sweep(one, 5);
        for (int simd = 0; simd < GBSI_N_SIMD; simd++) {
            if (!gbsi_simd_has((gbsi_simd)simd)) {
                continue;
            }
            gbsi_levels_chains *other = chains_of(l, CHAINS, false, (gbsi_simd)simd);
            gbsi_levels_chains_sweep(other, 5);
            for (uint32_t chain = 0; chain < CHAINS; chain++) {
                gbsi_levels_chains_get(one, chain, x);
                gbsi_levels_chains_get(other, chain, y);
                assert_memory_equal(x, y, (size_t)l->width * l->height * sizeof *x);
                assert_true(gbsi_levels_chains_log_density(one, chain) ==
                            gbsi_levels_chains_log_density(other, chain));
            }
            gbsi_levels_chains_free(other);
        }
        gbsi_levels_chains_free(one);
        gbsi_levels_free(l);
    }
}

/* A chain does not depend on the number of other chains, and continues from a state that was set.
 */
static void chains_are_their_own(void **unused)
{
    static uint32_t x[MOST_SITES];
    static uint32_t y[MOST_SITES];
    (void)unused;
    gbsi_levels *l = levels_of(&shapes[6]);
    gbsi_levels_chains *few = chains_of(l, 3, false, gbsi_simd_level());
    gbsi_levels_chains *many = chains_of(l, CHAINS, false, gbsi_simd_level());
    gbsi_levels_chains_sweep(many, 0);
    gbsi_levels_chains_get(many, 2, x);
    gbsi_levels_chains_set(few, 2, x);
    gbsi_levels_chains_sweep(few, 1);
    gbsi_levels_chains_sweep(many, 1);
    gbsi_levels_chains_get(few, 2, x);
    gbsi_levels_chains_get(many, 2, y);
    assert_memory_equal(x, y, (size_t)l->width * l->height * sizeof *x);
    gbsi_levels_chains_free(few);
    gbsi_levels_chains_free(many);
    gbsi_levels_free(l);
}

/* ---- passes ---------------------------------------------------------------------------------- */

static bool stop(void *context)
{
    int *looks = context;
    return --*looks <= 0;
}

/* Two passes, of which the second is cut at every look. The marginals of sites are those of the
 * updates so far, and so are the estimates of watched sites, which are all sites here. */
static void passes_are_cut(void **unused)
{
    (void)unused;
    for (int k = 2; k < 7; k++) {
        gbsi_levels *l = levels_of(&shapes[k]);
        const uint32_t n = l->width * l->height;
        gbs_run_options options = gbs_run_options_default();
        const gbsi_pass_setting setting = {
            .compiled = l, .options = &options, .n_chains = 2, .level = gbsi_simd_level()};
        const gbsi_estimate_shape of_all = {.n_slots = n,
                                            .same_arity = l->n_levels,
                                            .n_chains = 2,
                                            .lanes = 1,
                                            .n_groups = 2,
                                            .value_bytes = 1,
                                            .kind = GBS_ESTIMATOR_RAO_BLACKWELL,
                                            .each_once = true};
        options.sweeps = 2;
        for (int looks = 1; looks < 7; looks++) {
            void *state = NULL;
            gbsi_estimate *estimate = NULL;
            int left = looks;
            gbsi_watch watch = {.look = stop, .context = &left};
            gbsi_pass_job job = {.rao_blackwell = true};
            gbs_status status = GBS_OK;
            bool more = true;
            assert_int_equal(gbsi_pass_levels.prepare(&setting, &state, NULL), GBS_OK);
            assert_int_equal(gbsi_estimate_new(&of_all, gbsi_simd_level(), &estimate, NULL),
                             GBS_OK);
            gbsi_levels_look_every(state, 1.0);
            job.estimate = estimate;
            for (job.pass = 0; job.pass < 2 && status == GBS_OK; job.pass++, more = true) {
                job.watch = job.pass == 0 ? NULL : &watch;
                assert_int_equal(gbsi_pass_levels.begin(state, &job, NULL), GBS_OK);
                while (more) {
                    assert_int_equal(gbsi_pass_levels.batch(state, 1, &more, NULL), GBS_OK);
                }
                status = gbsi_pass_levels.end(state, NULL);
                gbsi_estimate_end_pass(estimate, NULL);
            }
            assert_in_range(gbsi_pass_levels.n_updates(state), 1, n);
            for (uint32_t v = 0; v < n; v++) {
                double own[256];
                double told[256];
                const uint32_t slot = gbsi_levels_slot_of(l, v);
                gbsi_levels_marginal(state, v, own);
                gbsi_estimate_slot(estimate, slot, told, NULL, NULL, NULL);
                for (uint32_t a = 0; a < l->n_levels; a++) {
                    assert_true(fabs(own[a] - told[a]) < 1e-6);
                }
            }
            gbsi_estimate_free(estimate);
            gbsi_pass_levels.free(state);
        }
        gbsi_levels_free(l);
    }
}

/* ---- watched sites --------------------------------------------------------------------------- */

static void watched_sites_have_slots(void **unused)
{
    (void)unused;
    static const shape large[] = {
        {131, 7, 3, 4, 1.0}, {611, 40, 256, 4, 1.0}, {70, 500, 64, 8, 1.0}};
    for (size_t k = 0; k < sizeof large / sizeof large[0]; k++) {
        gbsi_levels *l = levels_of(&large[k]);
        const uint32_t n = gbsi_levels_n_slots(l);
        uint8_t *met = calloc(n, 1);
        uint32_t n_met = 0;
        assert_non_null(met);
        for (uint32_t v = 0; v < l->width * l->height; v++) {
            const uint32_t slot = gbsi_levels_slot_of(l, v);
            if (slot != UINT32_MAX) {
                assert_true(slot < n && met[slot] == 0);
                met[slot] = 1;
                n_met++;
            }
        }
        assert_int_equal(n_met, n);
        assert_true(k > 0 || n == l->width * l->height);
        assert_true(n * l->n_levels <= 1u << 18);
        free(met);
        gbsi_levels_free(l);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(updates_are_their_formula),
        cmocka_unit_test(densities_are_their_formula),
        cmocka_unit_test(instruction_sets_make_no_difference),
        cmocka_unit_test(chains_are_their_own),
        cmocka_unit_test(passes_are_cut),
        cmocka_unit_test(watched_sites_have_slots),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
