/* SPDX-License-Identifier: Apache-2.0 */
/* Applies every verdict of verdicts.def to the figures of a good run, of which none may be missing,
 * and to figures of spoilt runs, one for each condition of the verdict. The test fails if a row
 * lacks either kind of figures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "lab/verdicts.h"

#define LAB_VERDICT(name, figures, wanted) #name,
static const char *const verdict[] = {
#include "lab/verdicts.def"
};
#undef LAB_VERDICT

enum { N_VERDICTS = sizeof verdict / sizeof verdict[0] };

static unsigned shown[N_VERDICTS][2]; /* whether the row said no, and yes */

static void show(const char *name, lab_ruling found, bool wanted, const char *how)
{
    size_t i = 0;
    while (strcmp(verdict[i], name) != 0) {
        i++;
    }
    shown[i][wanted]++;
    if (found.holds != wanted) {
        fail_msg("verdict %s, %s: wanted %s", name, how, wanted ? "yes" : "no");
    }
}

/* Figures in the order of the row. A run that lacks one of them must not pass. */
#define GOOD(name, ...)                                                     \
    do {                                                                    \
        double good[] = {__VA_ARGS__};                                      \
        lab_##name##_figures x;                                             \
        assert_int_equal(sizeof good, sizeof x);                            \
        memcpy(&x, good, sizeof x);                                         \
        show(#name, lab_judge_##name(x), true, "a good run");               \
        for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {         \
            const double kept = good[i];                                    \
            good[i] = NAN;                                                  \
            memcpy(&x, good, sizeof x);                                     \
            if (lab_judge_##name(x).holds) {                                \
                fail_msg("verdict %s passes without figure %zu", #name, i); \
            }                                                               \
            good[i] = kept;                                                 \
        }                                                                   \
    } while (0)

#define SPOILT(name, how, ...)                        \
    do {                                              \
        const double spoilt[] = {__VA_ARGS__};        \
        lab_##name##_figures x;                       \
        assert_int_equal(sizeof spoilt, sizeof x);    \
        memcpy(&x, spoilt, sizeof x);                 \
        show(#name, lab_judge_##name(x), false, how); \
    } while (0)

static void test_rates(void **state)
{
    (void)state;
    GOOD(falls_as_one_over_t, -1.0);
    SPOILT(falls_as_one_over_t, "falls as that of random draws", -0.5);
    GOOD(falls_as_one_over_root_t, -0.5);
    SPOILT(falls_as_one_over_root_t, "falls as that of herded draws", -1.0);
    SPOILT(falls_as_one_over_root_t, "does not fall", 0.0);
}

/* Herded Gibbs sampling. */
static void test_hg(void **state)
{
    (void)state;
    GOOD(two_variables_ratio, 114.0, 20.0);
    SPOILT(two_variables_ratio, "herded as random draws", 0.4, 20.0);
    SPOILT(two_variables_ratio, "herded as random draws, e = 0.0001", 0.4, 0.64);
    GOOD(two_variables_driven, 28.1);
    SPOILT(two_variables_driven, "herded no better than driven", 1.0);
    GOOD(incomplete_stops, -0.05, -1.0);
    SPOILT(incomplete_stops, "keys of all others", -1.0, -1.0);
    SPOILT(incomplete_stops, "random draws in place of complete keys", -0.5, -0.5);
    GOOD(incomplete_first, 0.029, 0.08);
    SPOILT(incomplete_first, "herded as random draws", 0.08, 0.08);
    GOOD(incomplete_joint, 0.00082, 1.6e-6);
    SPOILT(incomplete_joint, "keys of all others", 1.6e-6, 1.6e-6);
    GOOD(denoise_ahead_of, 0.00042, 0.0001);
    SPOILT(denoise_ahead_of, "herded as shared, shared as herded", -0.00042, 0.0001);
    GOOD(denoise_ahead, 6.0, 12.0);
    SPOILT(denoise_ahead, "shared as herded, by chance ahead", 2.5, 12.0);
    SPOILT(denoise_ahead, "herded as random draws, by chance ahead", 6.0, 2.5);
    GOOD(ner_f1, 78.36, 78.36);
    SPOILT(ner_f1, "fewer names", 78.2, 78.36);
    SPOILT(ner_f1, "more names", 78.5, 78.36);
    GOOD(ner_f1_ahead, 61.78, 59.23, 0.48);
    GOOD(ner_f1_ahead, 61.87, 61.9, 0.16);
    SPOILT(ner_f1_ahead, "annealed ahead", 59.23, 61.78, 0.48);
    GOOD(ner_met, 0.92, 0.908);
    SPOILT(ner_met, "annealed ahead", 0.908, 0.92);
    GOOD(ner_links, 78.4, 85.0);
    SPOILT(ner_links, "links without weights", 78.4, 78.4);
}

/* Effects of weight sharing: bins and keys. */
static void test_ws_weights(void **state)
{
    (void)state;
    GOOD(sharing_first, 0.051, 0.098, 0.15, 0.2, 0.23);
    SPOILT(sharing_first, "HG(2) as HG(8)", 0.2, 0.098, 0.15, 0.2, 0.5);
    SPOILT(sharing_first, "HG(4) as HG(8)", 0.051, 0.2, 0.15, 0.2, 0.23);
    SPOILT(sharing_first, "HG(6) as random draws", 0.051, 0.098, 0.3, 0.2, 0.23);
    SPOILT(sharing_first, "random draws as HG(4)", 0.051, 0.098, 0.15, 0.2, 0.098);
    GOOD(sharing_last, 0.0032, 0.00043, 6.9e-5, 3.9e-5);
    SPOILT(sharing_last, "HG(2) as HG(8)", 3.9e-5, 0.00043, 6.9e-5, 3.9e-5);
    SPOILT(sharing_last, "HG(4) as HG(8)", 0.0032, 3.9e-5, 6.9e-5, 3.9e-5);
    SPOILT(sharing_last, "HG(8) as HG(4)", 0.0032, 0.00043, 6.9e-5, 0.00043);
    SPOILT(sharing_last, "random draws for all", 0.0027, 0.0027, 0.0027, 0.0027);
    GOOD(sharing_last_quick, 0.0057, 0.0013);
    SPOILT(sharing_last_quick, "random draws for both", 0.014, 0.014);
    SPOILT(sharing_last_quick, "exchanged", 0.0013, 0.0057);
    GOOD(sharing_stops, 0.03);
    SPOILT(sharing_stops, "keys of all others", -1.0);
    SPOILT(sharing_stops, "random draws", -0.41);
    GOOD(sharing_bins_first, 0.0028, 0.0039, 0.01, 0.017, 0.039);
    SPOILT(sharing_bins_first, "2 bins as 32", 0.01, 0.0039, 0.01, 0.017, 0.039);
    SPOILT(sharing_bins_first, "8 bins as 128", 0.0028, 0.017, 0.01, 0.017, 0.039);
    SPOILT(sharing_bins_first, "32 bins as random draws", 0.0028, 0.0039, 0.039, 0.017, 0.039);
    SPOILT(sharing_bins_first, "128 bins as random draws", 0.0028, 0.0039, 0.01, 0.039, 0.039);
    GOOD(sharing_bins_last, 1.6e-4, 8.4e-5, 7.7e-6, 2e-6, 3.8e-4);
    SPOILT(sharing_bins_last, "2 bins as 8", 8.4e-5, 8.4e-5, 7.7e-6, 2e-6, 3.8e-4);
    SPOILT(sharing_bins_last, "32 bins as 8", 1.6e-4, 8.4e-5, 8.4e-5, 2e-6, 3.8e-4);
    SPOILT(sharing_bins_last, "128 bins as 32", 1.6e-4, 8.4e-5, 7.7e-6, 7.7e-6, 3.8e-4);
    SPOILT(sharing_bins_last, "random draws as 128 bins", 1.6e-4, 8.4e-5, 7.7e-6, 2e-6, 2e-6);
    GOOD(sharing_bins_quick, 1.5e-4, 6.6e-5, 2.6e-5, 3.5e-5, 2.2e-3);
    SPOILT(sharing_bins_quick, "2 bins as 8", 6.6e-5, 6.6e-5, 2.6e-5, 3.5e-5, 2.2e-3);
    SPOILT(sharing_bins_quick, "32 bins as 8", 1.5e-4, 6.6e-5, 6.6e-5, 3.5e-5, 2.2e-3);
    SPOILT(sharing_bins_quick, "128 bins as random draws", 1.5e-4, 6.6e-5, 2.6e-5, 2.2e-3, 2.2e-3);
    GOOD(components_slope, -1.01);
    SPOILT(components_slope, "random draws", -0.5);
    GOOD(components_cor, 0.00559, 0.00596, 0.0);
    SPOILT(components_cor, "half the estimate", 0.00559, 0.00298, 0.0);
    SPOILT(components_cor, "twice the estimate", 0.00559, 0.01192, 0.0);
    SPOILT(components_cor, "random draws", 0.0, 0.00596, 0.0);
    SPOILT(components_cor, "bins", 0.00559, 0.00596, 0.01);
    GOOD(components_approx, 0.126, 0.00338);
    SPOILT(components_approx, "4 bins off by more than their width", 0.6, 0.00338);
    SPOILT(components_approx, "64 bins off by more than their width", 0.4, 0.04);
    SPOILT(components_approx, "64 bins as 16", 0.126, 0.02);
    GOOD(components_all, 0.259, 0.0103);
    SPOILT(components_all, "64 bins as 4", 0.259, 0.259);
    GOOD(dcor_limit, 0.00559, 0.00596);
    GOOD(dcor_limit, 0.0102, 0.0064);
    SPOILT(dcor_limit, "half the estimate", 0.00559, 0.00298);
    SPOILT(dcor_limit, "twice the estimate", 0.00559, 0.01192);
    SPOILT(dcor_limit, "a quarter of the estimate", 0.0102, 0.0016);
    SPOILT(dcor_limit, "random draws", 0.0, 0.00596);
    GOOD(dcor_printed, 0.007357, 0.00734);
    SPOILT(dcor_printed, "too high", 0.0075, 0.00734);
    SPOILT(dcor_printed, "too low", 0.0072, 0.00734);
    GOOD(dcor_bins, -0.77, 0.01, 0.0414, 0.0007);
    SPOILT(dcor_bins, "4 bins for all", 0.01, 0.01, 0.0001, 0.0007);
    SPOILT(dcor_bins, "a fall within the noise", -0.03, 0.01, 0.0414, 0.0007);
    SPOILT(dcor_bins, "a fall in the middle alone", -0.77, 0.01, 0.0, 0.0007);
}

/* Effects of weight sharing: draws. */
static void test_ws_draws(void **state)
{
    (void)state;
    GOOD(beg_slopes, -1.01, -0.99, -0.5);
    SPOILT(beg_slopes, "c = 1 as random draws", -0.5, -0.99, -0.5);
    SPOILT(beg_slopes, "c = 10 as random draws", -1.01, -0.5, -0.5);
    SPOILT(beg_slopes, "random draws as herded", -1.01, -0.99, -1.0);
    GOOD(beg_herding, 1.2e-6, 2.5e-6, 2e-5, 0.00085);
    SPOILT(beg_herding, "c = 1 as herded", 1.2e-6, 1.2e-6, 2e-5, 0.00085);
    SPOILT(beg_herding, "c = 1 as c = 10", 1.2e-6, 2e-5, 2e-5, 0.00085);
    SPOILT(beg_herding, "c = 10 as random draws", 1.2e-6, 2.5e-6, 0.00085, 0.00085);
    GOOD(beg_cor, 0.0066, 1e-4, 0.0032, 1e-4, 0.0025, 1e-4, 0.0024, 1e-4);
    SPOILT(beg_cor, "c = 1 as herded", 0.0066, 1e-4, 0.0066, 1e-4, 0.0025, 1e-4, 0.0024, 1e-4);
    SPOILT(beg_cor, "c = 10 as herded", 0.0066, 1e-4, 0.0032, 1e-4, 0.0066, 1e-4, 0.0024, 1e-4);
    SPOILT(beg_cor, "random as herded", 0.0024, 1e-4, 0.0066, 1e-4, 0.0066, 1e-4, 0.0024, 1e-4);
    GOOD(rdhg_approx, 0.0, 0.0034);
    SPOILT(rdhg_approx, "rounded as bins", 0.0034, 0.0034);
    SPOILT(rdhg_approx, "bins as rounded", 0.0, 0.0);
    GOOD(rdhg_all, 0.0022, 0.0069);
    GOOD(rdhg_all, 0.0, 0.0065);
    SPOILT(rdhg_all, "rounded as bins", 0.0069, 0.0069);
    SPOILT(rdhg_all, "bins as random draws", 0.0022, 0.0);
    GOOD(rao_random, 0.0001, 0.00062, 0.5);
    SPOILT(rao_random, "counted twice", 0.00062, 0.00062, 0.5);
    GOOD(rao_bins, 0.0057, 0.021, 0.5);
    SPOILT(rao_bins, "bins as random draws", 0.021, 0.021, 0.5);
    GOOD(rao_rounded, 0.00017, 0.00069, 0.00016, 0.00061);
    SPOILT(rao_rounded, "rounded as random draws, counted", 0.00069, 0.00069, 0.00016, 0.00061);
    SPOILT(rao_rounded, "rounded as random draws, averaged", 0.00017, 0.00069, 0.00061, 0.00061);
    GOOD(images_order, 0.0118, 0.0142, 0.0173, 0.0248);
    SPOILT(images_order, "one bin as shared", 0.0142, 0.0142, 0.0173, 0.0248);
    SPOILT(images_order, "shared as herded", 0.0118, 0.0173, 0.0173, 0.0248);
    SPOILT(images_order, "herded as random draws", 0.0118, 0.0142, 0.0248, 0.0248);
    GOOD(images_driven, 0.0203, 0.0248);
    SPOILT(images_driven, "driven by random numbers", 0.0248, 0.0248);
    GOOD(images_first, 0.228, 0.0248);
    SPOILT(images_first, "no restoration", 0.228, 0.228);
}

/* Parallel Gibbs sampling. */
static void test_pgs(void **state)
{
    (void)state;
    GOOD(race_size, 10345.0, 36490.0);
    SPOILT(race_size, "few variables", 1785.0, 36490.0);
    SPOILT(race_size, "few factors", 10345.0, 6300.0);
    GOOD(race_order, 902.0);
    SPOILT(race_order, "splashes behind", -1.0);
    SPOILT(race_order, "splashes of one variable", 0.0);
    GOOD(race_widest, 0.0163, 0.0062);
    SPOILT(race_widest, "splashes behind", -0.1, 0.0062);
    SPOILT(race_widest, "one width for all", 0.0163, 0.0);
    GOOD(race_updates, 3.4, INFINITY);
    SPOILT(race_updates, "as dense at once", 1.0, 3.3);
    SPOILT(race_updates, "agreed as soon", 3.4, 1.0);
    GOOD(adaptation_coins, 0.35, 0.15);
    SPOILT(adaptation_coins, "the target left invariant", 0.25, 0.25);
    SPOILT(adaptation_coins, "another place", 0.35, 0.25);
    GOOD(adaptation_endless, 0.2, 0.134);
    SPOILT(adaptation_endless, "coins invariant", 0.0, 0.134);
    SPOILT(adaptation_endless, "spins invariant", 0.2, 0.0);
    GOOD(adaptation_ended, 0.0, 4e-15);
    SPOILT(adaptation_ended, "coins for ever", 0.2, 4e-15);
    SPOILT(adaptation_ended, "spins for ever", 0.0, 0.134);
    GOOD(adaptation_run, 0.01, 0.27, -0.5);
    SPOILT(adaptation_run, "adapted for ever", 0.27, 0.27, -0.5);
    SPOILT(adaptation_run, "stopped falling", 0.01, 0.27, 0.0);
    SPOILT(adaptation_run, "fell too fast", 0.01, 0.27, -1.0);
    GOOD(adaptation_edges, 4.07, 0.99);
    SPOILT(adaptation_edges, "growth at random", 0.99, 0.99);
    SPOILT(adaptation_edges, "random growth that adapts", 4.07, 4.07);
    SPOILT(adaptation_edges, "random growth that avoids edges", 4.07, 0.5);
    GOOD(adaptation_early, 1.02, 4.07);
    SPOILT(adaptation_early, "growth at random", 1.02, 0.99);
    SPOILT(adaptation_early, "edges from the first round on", 4.0, 4.07);
    SPOILT(adaptation_early, "edges avoided at first", 0.5, 4.07);
    GOOD(adaptation_splashes, 0.0, 5.0, 0.0);
    SPOILT(adaptation_splashes, "splashes side by side", 1.0, 5.0, 0.0);
    SPOILT(adaptation_splashes, "too wide", 0.0, 6.0, 0.0);
    SPOILT(adaptation_splashes, "another tree", 0.0, 5.0, 2.0);
    GOOD(synchronous_product, 2e-16, 1e-7);
    SPOILT(synchronous_product, "another invariant distribution", 0.01, 1e-7);
    SPOILT(synchronous_product, "another limit", 2e-16, 0.687);
    GOOD(synchronous_split, 4e-16, 1e-7);
    SPOILT(synchronous_split, "another chain", 0.01, 1e-7);
    SPOILT(synchronous_split, "a chain that stays away", 4e-16, 0.687);
    GOOD(synchronous_draws, -0.5, 0.686, 0.687);
    SPOILT(synchronous_draws, "away from the product", 0.0, 0.686, 0.687);
    SPOILT(synchronous_draws, "too fast", -1.0, 0.686, 0.687);
    SPOILT(synchronous_draws, "chromatic draws", -0.5, 0.011, 0.687);
    SPOILT(synchronous_draws, "too far", -0.5, 1.2, 0.687);
    SPOILT(synchronous_draws, "no couplings", -0.5, 0.01, 0.01);
    GOOD(synchronous_within, 0.3, 0.2);
    SPOILT(synchronous_within, "single spins off", 6.0, 0.2);
    SPOILT(synchronous_within, "pairs off", 0.3, 6.0);
    GOOD(synchronous_across, 0.4, 900.0, 0.3);
    SPOILT(synchronous_across, "away from the product", 40.0, 900.0, 0.3);
    SPOILT(synchronous_across, "chromatic draws", 900.0, 0.3, 0.3);
    SPOILT(synchronous_across, "no couplings", 0.4, 0.3, 0.3);
    SPOILT(synchronous_across, "chromatic draws off", 0.4, 900.0, 40.0);
    GOOD(synchronous_more_colours, 0.01, 0.4, 0.0);
    SPOILT(synchronous_more_colours, "chromatic draws", 0.4, 0.01, 0.0);
    SPOILT(synchronous_more_colours, "no couplings", 0.01, 0.01, 0.0);
    SPOILT(synchronous_more_colours, "called converged", 0.01, 0.4, 1.0);
}

/* DoGS. */
static void test_dogs(void **state)
{
    (void)state;
    GOOD(scans_gain, 0.00068, 5.5e-6);
    SPOILT(scans_gain, "not optimised", 0.00068, 0.00068);
    GOOD(scans_iterated, 4.7e-5, 5.5e-6);
    SPOILT(scans_iterated, "one descent for the iterated one", 4.7e-5, 4.7e-5);
    GOOD(scans_random, 0.35, 5.5e-6);
    SPOILT(scans_random, "random as the optimised scan", 5.5e-6, 5.5e-6);
    GOOD(scans_never_worse, 0.0);
    SPOILT(scans_never_worse, "one is worse", 1.0);
    GOOD(million_scan, 16.0, 0.004, 0.0087);
    SPOILT(million_scan, "a longer scan", 17.0, 0.004, 0.0087);
    SPOILT(million_scan, "a variation too large", 16.0, 0.0088, 0.0087);
    GOOD(million_bias, 0.0014, 5e-5, 0.0039);
    SPOILT(million_bias, "off by more than the bound", 0.0050, 5e-5, 0.0039);
    GOOD(million_estimates, 0.00075, 0.0004, 0.00035, 1e-5, 0.0039);
    SPOILT(million_estimates, "systematic off", 0.01, 0.0004, 0.00035, 1e-5, 0.0039);
    SPOILT(million_estimates, "optimised off", 0.00075, 0.0004, 0.005, 1e-5, 0.0039);
    GOOD(million_sooner, 3.6, 3.5, 0.0028, 0.00042);
    SPOILT(million_sooner, "later", 3.6, 4.0, 0.0028, 0.00042);
    SPOILT(million_sooner, "no nearer", 3.6, 3.5, 0.0028, 0.0028);
    GOOD(million_time, 359.0, 0.91);
    SPOILT(million_time, "fifty times as long", 45.5, 0.91);
    GOOD(million_other_couplings, 16.0);
    SPOILT(million_other_couplings, "a longer scan", 32.0);
    GOOD(marginal_enough, 1024.0, 27200.0, 49600.0);
    SPOILT(marginal_enough, "as many as the systematic scan", 27200.0, 27200.0, 490000.0);
    SPOILT(marginal_enough, "as many as the random scan", 1024.0, 27200.0, 1024.0);
    GOOD(marginal_near, 16.5, 39.0);
    SPOILT(marginal_near, "evenly spread", 39.0, 39.0);
    GOOD(marginal_estimates, 0.016, 0.05, 0.075);
    SPOILT(marginal_estimates, "as the systematic scan", 0.016, 0.016, 0.075);
    SPOILT(marginal_estimates, "as the random scan", 0.016, 0.05, 0.016);
    GOOD(marginal_bound_holds, 0.4);
    SPOILT(marginal_bound_holds, "beyond the bound", 5.0);
    GOOD(marginal_guarantee, 0.0023, 0.25, 0.47);
    SPOILT(marginal_guarantee, "as the systematic scan", 0.25, 0.25, 0.7);
    SPOILT(marginal_guarantee, "as the random scan", 0.1, 0.25, 0.1);
    GOOD(marginal_bias, 0.0003, 0.3787, 0.4041);
    SPOILT(marginal_bias, "as the systematic scan", 0.3787, 0.3787, 0.8);
    SPOILT(marginal_bias, "as the random scan", 0.1, 0.3787, 0.1);
    GOOD(mle_saving, 2.6);
    SPOILT(mle_saving, "equal scans", 1.0);
    GOOD(mle_length, 25.6, 27.7, 76.7);
    SPOILT(mle_length, "as random", 76.7, 77.7, 76.7);
    SPOILT(mle_length, "not optimised", 27.7, 27.7, 76.7);
    GOOD(mle_distance, 0.024, 0.024);
    SPOILT(mle_distance, "a worse end", 0.032, 0.024);
    GOOD(segment_length, 110.0, 620.0, 40.0, 41.0);
    SPOILT(segment_length, "a quarter", 155.0, 620.0, 40.0, 41.0);
    SPOILT(segment_length, "reversed", 110.0, 620.0, 60.0, 41.0);
    GOOD(segment_same, 0.0007, 0.0006);
    SPOILT(segment_same, "more wrong", 0.0142, 0.0032);
    GOOD(segment_better, 0.0135, 0.0032, 0.0142, 0.0033);
    SPOILT(segment_better, "rectangle as patches alone", 0.0, 0.0032, 0.0142, 0.0033);
    SPOILT(segment_better, "picture as patches alone", 0.0135, 0.0032, 0.0, 0.0033);
}

/* Must run last. */
static void test_all_are_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_VERDICTS; i++) {
        if (shown[i][0] == 0 || shown[i][1] == 0) {
            fail_msg("verdict %s has not been shown %s", verdict[i],
                     shown[i][1] == 0 ? "saying yes" : "saying no to a spoilt run");
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),         cmocka_unit_test(test_hg),
        cmocka_unit_test(test_ws_weights),    cmocka_unit_test(test_ws_draws),
        cmocka_unit_test(test_pgs),           cmocka_unit_test(test_dogs),
        cmocka_unit_test(test_all_are_shown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
