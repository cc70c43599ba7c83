/* SPDX-License-Identifier: Apache-2.0 */
/* Tests error components against their definitions, keys against the conditionals that they
 * distinguish, and the estimated limit of D_cor against laws that are followed one by one; and
 * tests whole runs. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "gibbsite/generate.h"
#include "gibbsite/gibbsite.h"
#include "lab/focus.h"
#include "rng/philox.h"

static double uniform(uint32_t i)
{
    uint32_t word[4];
    gbsi_philox(7, i, 0, 0, GBSI_PURPOSE_TEST, word);
    return gbsi_uniform(word[0], word[1]);
}

/* Makes random tables on a ring of variables of these arities. */
static gbs_model *make_ring(uint32_t n, const uint32_t *arity, double scale)
{
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    gbs_error err = {0};
    assert_int_equal(gbs_builder_new(&builder, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, n, arity, NULL, &err), GBS_OK);
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t scope[2] = {v, (v + 1) % n};
        double logw[16];
        uint32_t table = 0;
        const size_t entries = (size_t)arity[scope[0]] * arity[scope[1]];
        for (uint32_t i = 0; i < entries; i++) {
            logw[i] = scale * (2.0 * uniform(16 * v + i) - 1.0);
        }
        assert_int_equal(gbs_builder_add_table(builder, entries, logw, &table, &err), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(builder, 2, scope, table, &err), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(builder, &model, &err), GBS_OK);
    gbs_builder_free(builder);
    return model;
}

static lab_focus *make_focus(const gbs_model *model, uint32_t x, lab_focus_keys keys,
                             gbsi_conditioned **part)
{
    lab_focus *focus = NULL;
    gbs_error err = {0};
    assert_int_equal(gbsi_condition(model, NULL, part, &err), GBS_OK);
    assert_int_equal(lab_focus_new(*part, x, &keys, &focus, &err), GBS_OK);
    return focus;
}

/* ---- components -------------------------------------------------------------------------- */

/* P(z, y, x), from the choice of z that has key y. */
static double frequency(const lab_focus *f, const uint64_t *count, double total, size_t y, size_t z,
                        uint32_t x)
{
    double p = 0.0;
    for (uint32_t m = 0; m < f->n_choices; m++) {
        const size_t i = z * f->n_choices + m;
        p += f->key[i] == y ? (double)count[i * f->n_x + x] / total : 0.0;
    }
    return p;
}

/* pi(y|z). */
static double key_law(const lab_focus *f, size_t y, size_t z)
{
    double p = 0.0;
    for (uint32_t m = 0; m < f->n_choices; m++) {
        p += f->key[z * f->n_choices + m] == y ? f->chance[z * f->n_choices + m] : 0.0;
    }
    return p;
}

/* Components that are sums over z. @param pz P(z). @param q [n_keys][n_x] q(x|y). */
static void sum_over_others(const lab_focus *f, const uint64_t *count, double total,
                            const double *pz, const double *q, double *d)
{
    const uint32_t n_x = f->n_x;
    for (size_t z = 0; z < f->n_z; z++) {
        d[LAB_Z] += fabs(pz[z] - f->pz[z]);
        for (uint32_t x = 0; x < n_x; x++) {
            double rounded = 0.0;
            double p = 0.0;
            for (size_t y = 0; y < f->n_keys; y++) {
                rounded += q[y * n_x + x] * key_law(f, y, z);
                p += frequency(f, count, total, y, z, x);
            }
            d[LAB_APPROX] += pz[z] * fabs(rounded - f->joint[z * n_x + x] / f->pz[z]);
            d[LAB_ALL] += fabs(p - f->joint[z * n_x + x]);
        }
        for (size_t y = 0; pz[z] > 0.0 && y < f->n_keys; y++) {
            double p = 0.0;
            for (uint32_t x = 0; x < n_x; x++) {
                p += frequency(f, count, total, y, z, x);
            }
            d[LAB_BIN] += pz[z] * fabs(p / pz[z] - key_law(f, y, z));
        }
    }
}

/* Computes the definitions, sum by sum. */
static void by_definition(const lab_focus *f, const uint64_t *count, double *d)
{
    const uint32_t n_x = f->n_x;
    double total = 0.0;
    double *pz = calloc(f->n_z, sizeof *pz);
    double *q = calloc(f->n_keys * n_x, sizeof *q); /* q(x|y) */
    assert_non_null(pz);
    assert_non_null(q);
    memset(d, 0, LAB_N_COMPONENTS * sizeof *d);
    for (size_t i = 0; i < f->n_z * f->n_choices * n_x; i++) {
        total += (double)count[i];
    }
    for (size_t y = 0; y < f->n_keys; y++) {
        double py = 0.0;
        double *px = calloc(n_x, sizeof *px);      /* P(x, y) */
        double *pzy = calloc(f->n_z, sizeof *pzy); /* P(z, y) */
        assert_non_null(px);
        assert_non_null(pzy);
        for (size_t z = 0; z < f->n_z; z++) {
            for (uint32_t x = 0; x < n_x; x++) {
                const double p = frequency(f, count, total, y, z, x);
                py += p;
                px[x] += p;
                pzy[z] += p;
            }
            pz[z] += pzy[z];
        }
        for (uint32_t x = 0; x < n_x; x++) {
            for (size_t z = 0; z < f->n_z; z++) {
                q[y * n_x + x] += f->theta != NULL ? 0.0
                                  : py > 0.0       ? f->joint[z * n_x + x] / f->pz[z] * pzy[z] / py
                                                   : 0.0;
                d[LAB_COR] += py > 0.0 ? py * fabs(frequency(f, count, total, y, z, x) / py -
                                                   px[x] / py * pzy[z] / py)
                                       : 0.0;
            }
            q[y * n_x + x] += f->theta == NULL ? 0.0 : x == 1 ? f->theta[y] : 1.0 - f->theta[y];
            d[LAB_HERDING] += py > 0.0 ? py * fabs(px[x] / py - q[y * n_x + x]) : 0.0;
        }
        free(px);
        free(pzy);
    }
    sum_over_others(f, count, total, pz, q, d);
    free(pz);
    free(q);
}

static void test_components(void **state)
{
    (void)state;
    static const uint32_t arity[5] = {2, 3, 2, 4, 2};
    static const int scheme[] = {GBS_KEYS_NEIGHBOURS, GBS_KEYS_SHARED, GBS_KEYS_COMPLETE,
                                 GBS_KEYS_BINS,       GBS_KEYS_ONE,    GBS_KEYS_BINS};
    gbs_model *model = make_ring(5, arity, 1.0);
    for (uint32_t x = 0; x < 5; x++) {
        for (size_t s = 0; s < (arity[x] == 2 ? 6 : 5); s++) { /* random keys are for two states */
            gbsi_conditioned *part = NULL;
            lab_focus *f = make_focus(
                model, x, (lab_focus_keys){.scheme = scheme[s], .n_bins = 3, .rounded = s == 5},
                &part);
            const size_t n = f->n_z * f->n_choices * f->n_x;
            uint64_t *count = calloc(n, sizeof *count);
            double *scratch = calloc(lab_focus_scratch(f), sizeof *scratch);
            double found[LAB_N_COMPONENTS];
            double wanted[LAB_N_COMPONENTS];
            assert_non_null(count);
            assert_non_null(scratch);
            for (size_t i = 0; i < n; i++) { /* some states were never visited */
                count[i] = (uint64_t)(20.0 * uniform((uint32_t)i + 1000)) / 4;
            }
            lab_focus_components(f, count, scratch, found);
            by_definition(f, count, wanted);
            double bound = 0.0;
            for (int i = 0; i < LAB_N_COMPONENTS; i++) {
                assert_true(fabs(found[i] - wanted[i]) < 1e-12);
                bound += i == LAB_ALL ? 0.0 : found[i];
            }
            assert_true(found[LAB_ALL] <= bound + 1e-12);
            if ((scheme[s] != GBS_KEYS_BINS && scheme[s] != GBS_KEYS_ONE) || s == 5) {
                assert_true(found[LAB_APPROX] < 1e-9); /* keys determine conditionals */
            }
            free(count);
            free(scratch);
            lab_focus_free(f);
            gbsi_conditioned_free(part);
        }
    }
    gbs_model_free(model);
}

/* ---- keys -------------------------------------------------------------------------------- */

static size_t n_keys(const gbs_model *model, uint32_t x, int scheme, uint32_t bins)
{
    gbsi_conditioned *part = NULL;
    lab_focus *f = make_focus(model, x, (lab_focus_keys){.scheme = scheme, .n_bins = bins}, &part);
    const size_t n = f->n_keys;
    lab_focus_free(f);
    gbsi_conditioned_free(part);
    return n;
}

static void test_keys(void **state)
{
    (void)state;
    gbs_model *grid = NULL;
    gbs_error err = {0};
    const gbs_generate_ising_options options = {
        .side = {3, 3, 1}, .coupling = 0.3, .random_field = 0.2, .seed = 3};
    assert_int_equal(gbs_generate_ising(&options, &grid, &err), GBS_OK);
    assert_int_equal(n_keys(grid, 4, GBS_KEYS_NEIGHBOURS, 0), 16);
    assert_int_equal(n_keys(grid, 4, GBS_KEYS_SHARED, 0), 5);
    assert_int_equal(n_keys(grid, 0, GBS_KEYS_SHARED, 0), 3);
    assert_int_equal(n_keys(grid, 4, GBS_KEYS_COMPLETE, 0), 256);
    assert_int_equal(n_keys(grid, 4, GBS_KEYS_ONE, 0), 1);
    assert_in_range(n_keys(grid, 4, GBS_KEYS_BINS, 64), 4, 5);
    assert_int_equal(n_keys(grid, 4, GBS_KEYS_BINS, 1), 1);
    gbs_model_free(grid);
}

/* Tests the bins of p = 0, 1/4, 1/2, 3/4, 1 among four bins, with either edge. */
static void test_bin_edges(void **state)
{
    (void)state;
    static const uint32_t arity[2] = {2, 5};
    static const uint32_t scope[2] = {1, 0};
    static const size_t wanted[2] = {4, 4}; /* right: 0, 0, 1, 2, 3; left: 0, 1, 2, 3, 3 */
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    gbs_error err = {0};
    uint32_t table = 0;
    const double logw[10] = {0.0, -INFINITY, log(3.0), 0.0,       0.0,
                             0.0, 0.0,       log(3.0), -INFINITY, 0.0};
    assert_int_equal(gbs_builder_new(&builder, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, 2, arity, NULL, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_table(builder, 10, logw, &table, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_table_factor(builder, 2, scope, table, &err), GBS_OK);
    assert_int_equal(gbs_builder_build(builder, &model, &err), GBS_OK);
    gbs_builder_free(builder);
    for (int left = 0; left <= 1; left++) {
        gbsi_conditioned *part = NULL;
        lab_focus *f = make_focus(
            model, 0, (lab_focus_keys){.scheme = GBS_KEYS_BINS, .n_bins = 4, .left_edge = left},
            &part);
        assert_int_equal(f->n_keys, wanted[left]);
        assert_int_equal(f->key[0] == f->key[1], !left);
        assert_int_equal(f->key[3] == f->key[4], left);
        lab_focus_free(f);
        gbsi_conditioned_free(part);
    }
    gbs_model_free(model);
}

/* ---- the estimate ------------------------------------------------------------------------ */

/* Computes the sum over y by following the two laws one after the other, with dense kernels over
 * all states. */
static double follow_laws(const lab_focus *f)
{
    const size_t n = f->n_z * 2;
    const uint32_t n_v = f->model->n_variables;
    double sum = 0.0;
    double *law = calloc(n, sizeof *law);
    double *next = calloc(n, sizeof *next);
    double *hit = calloc(2 * f->n_z, sizeof *hit);
    assert_non_null(law);
    assert_non_null(next);
    assert_non_null(hit);
    for (size_t y = 0; y < f->n_keys; y++) {
        double px[2] = {0.0, 0.0};
        memset(hit, 0, 2 * f->n_z * sizeof *hit);
        for (size_t i = 0; i < n; i++) {
            px[i % 2] += f->key[i / 2] == y ? f->joint[i] : 0.0;
        }
        for (uint32_t x = 0; x < 2; x++) {
            for (size_t i = 0; i < n; i++) {
                law[i] = f->key[i / 2] == y && i % 2 == x ? f->joint[i] / px[x] : 0.0;
            }
            for (int sweep = 0; sweep < 4000; sweep++) {
                for (uint32_t step = 1; step <= n_v; step++) {
                    const uint32_t v = (f->x + step) % n_v;
                    memset(next, 0, n * sizeof *next);
                    for (size_t i = 0; i < n; i++) {
                        const size_t stride = v == f->x ? 1 : 2 * f->stride[v];
                        const size_t k = v == f->x ? 2 : f->model->arity[v];
                        const size_t base = i - i / stride % k * stride;
                        double weight = 0.0;
                        for (size_t a = 0; a < k; a++) {
                            weight += f->joint[base + a * stride];
                        }
                        for (size_t a = 0; a < k; a++) {
                            next[base + a * stride] +=
                                law[i] * f->joint[base + a * stride] / weight;
                        }
                    }
                    memcpy(law, next, n * sizeof *law);
                    for (size_t i = 0; step + 1 == n_v && i < n; i++) { /* before x is updated */
                        if (f->key[i / 2] == y) {
                            hit[x * f->n_z + i / 2] += law[i];
                            law[i] = 0.0;
                        }
                    }
                }
            }
        }
        const double p = px[0] + px[1];
        const double t = fmin(px[0], px[1]) / p;
        for (size_t z = 0; z < f->n_z; z++) {
            sum += p * 2.0 * t * t * fabs(hit[z] - hit[f->n_z + z]);
        }
    }
    free(law);
    free(next);
    free(hit);
    return sum;
}

static void test_asymptotic(void **state)
{
    (void)state;
    static const uint32_t arity[4] = {3, 2, 2, 2};
    gbs_model *model = make_ring(4, arity, 1.2);
    for (uint32_t x = 1; x < 4; x++) {
        gbs_error err = {0};
        lab_asymptotic a = {0};
        gbsi_conditioned *part = NULL;
        lab_focus *f = make_focus(model, x, (lab_focus_keys){.scheme = GBS_KEYS_NEIGHBOURS}, &part);
        assert_int_equal(lab_decompose_asymptotic(model, NULL, NULL, x, NULL, &a, &err), GBS_OK);
        assert_int_equal(a.n_keys, f->n_keys);
        assert_true(a.total > 1e-5);
        assert_true(fabs(a.total - follow_laws(f)) < 1e-9);
        lab_asymptotic_free(&a);
        lab_focus_free(f);
        gbsi_conditioned_free(part);
    }
    gbs_model_free(model);
}

/* ---- whole runs -------------------------------------------------------------------------- */

static double mean_of(const lab_decomposition *d, size_t checkpoint, lab_component c)
{
    double sum = 0.0;
    for (uint32_t chain = 0; chain < d->n_chains; chain++) {
        sum += d->value[(checkpoint * LAB_N_COMPONENTS + (size_t)c) * d->n_chains + chain];
    }
    return sum / d->n_chains;
}

/* Random draws: approx and bin are 0. The component all decreases as 1 / sqrt(T), and is bounded by
 * the other components. */
static void test_random(void **state)
{
    (void)state;
    static const uint32_t arity[5] = {2, 3, 2, 2, 2};
    gbs_model *model = make_ring(5, arity, 0.7);
    gbs_run_options options = gbs_run_options_default();
    lab_decomposition d = {0};
    gbs_error err = {0};
    options.sweeps = 1 << 14;
    assert_int_equal(lab_decompose(model, NULL, &options, 1, NULL, &d, &err), GBS_OK);
    assert_int_equal(d.n_checkpoints, 15);
    assert_int_equal(d.sweeps[14], 1 << 14);
    assert_int_equal(d.n_keys, 4);
    for (size_t k = 0; k < d.n_checkpoints; k++) {
        double bound = 0.0;
        for (int c = 0; c < LAB_ALL; c++) {
            bound += mean_of(&d, k, (lab_component)c);
        }
        assert_true(mean_of(&d, k, LAB_ALL) <= bound + 1e-12);
        assert_true(mean_of(&d, k, LAB_APPROX) < 1e-12);
        assert_true(mean_of(&d, k, LAB_BIN) == 0.0);
    }
    /* 16 chains: the ratio of means of 48 states is 1/8 within a few per cent */
    const double ratio = mean_of(&d, 14, LAB_ALL) / mean_of(&d, 8, LAB_ALL);
    assert_true(ratio > 0.125 * 0.8 && ratio < 0.125 * 1.25);
    lab_decomposition_free(&d);
    gbs_model_free(model);
}

/* The component herding is bounded by the range of the weights: |N - sum p| < 1 for the two states
 * of each key, which gives 2 n_keys / T. The bound holds only if the counted keys are the keys of
 * the draw. */
static void check_herded(const gbs_model *model, uint32_t focus, gbs_run_options options)
{
    lab_decomposition d = {0};
    gbs_error err = {0};
    options.sweeps = 1 << 12;
    assert_int_equal(lab_decompose(model, NULL, &options, focus, NULL, &d, &err), GBS_OK);
    for (size_t k = 0; k < d.n_checkpoints; k++) {
        const double *value = d.value + k * LAB_N_COMPONENTS * d.n_chains;
        for (uint32_t chain = 0; chain < d.n_chains; chain++) {
            const double bound = 2.0 * (double)d.n_keys / (double)d.sweeps[k];
            assert_true(value[LAB_HERDING * d.n_chains + chain] <= bound + 1e-6);
            assert_true(value[LAB_APPROX * d.n_chains + chain] < 1e-9 ||
                        options.draw == GBS_DRAW_DISCRETIZED);
        }
    }
    lab_decomposition_free(&d);
}

static void test_herded(void **state)
{
    (void)state;
    static const uint32_t arity[2][6] = {{2, 3, 2, 2, 3, 2}, {2, 2, 2, 2, 2, 2}};
    static const int draw[] = {GBS_DRAW_HERDED, GBS_DRAW_HERDED_SHARED, GBS_DRAW_HERDED_COMPLETE,
                               GBS_DRAW_DISCRETIZED};
    static const uint32_t edge[2] = {0, 3};
    gbs_run_options options = gbs_run_options_default();
    for (size_t i = 0; i < sizeof draw / sizeof draw[0]; i++) {
        options.draw = draw[i];
        options.bins = draw[i] == GBS_DRAW_DISCRETIZED ? 5 : 0;
        gbs_model *model = make_ring(6, arity[draw[i] == GBS_DRAW_DISCRETIZED], 0.8);
        /* the first and the last variable have two states */
        for (uint32_t focus = 0; focus < 6; focus += 5) {
            check_herded(model, focus, options);
        }
        gbs_model_free(model);
    }
    options.draw = GBS_DRAW_HERDED;
    options.bins = 0;
    options.dummy_edges = edge;
    options.n_dummy_edges = 1;
    gbs_model *model = make_ring(6, arity[0], 0.8);
    check_herded(model, 0, options);
    gbs_model_free(model);
}

static void test_refusals(void **state)
{
    (void)state;
    static const uint32_t arity[5] = {2, 3, 2, 2, 2};
    gbs_model *model = make_ring(5, arity, 0.7);
    gbs_evidence *evidence = NULL;
    gbs_run_options options = gbs_run_options_default();
    lab_decomposition d = {0};
    lab_asymptotic a = {0};
    gbs_error err = {0};
    options.sweeps = 8;
    assert_int_equal(lab_decompose(model, NULL, &options, 5, NULL, &d, &err), GBS_ERR_ARGUMENT);
    options.scan = GBS_SCAN_RANDOM;
    assert_int_equal(lab_decompose(model, NULL, &options, 0, NULL, &d, &err), GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_evidence_new(model, &evidence, &err), GBS_OK);
    assert_int_equal(gbs_evidence_observe(evidence, 3, 1, &err), GBS_OK);
    assert_int_equal(lab_decompose(model, evidence, NULL, 3, NULL, &d, &err), GBS_ERR_ARGUMENT);
    assert_int_equal(lab_decompose_asymptotic(model, NULL, NULL, 1, NULL, &a, &err),
                     GBS_ERR_UNSUPPORTED);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
    const gbs_generate_ring_options ring = {.variables = 17, .coupling = 0.1, .seed = 1};
    assert_int_equal(gbs_generate_ring(&ring, &model, &err), GBS_OK);
    assert_int_equal(lab_decompose(model, NULL, NULL, 0, NULL, &d, &err), GBS_ERR_LIMIT);
    assert_non_null(strstr(err.message, "131072"));
    assert_null(d.value);
    assert_null(a.p);
    gbs_model_free(model);
}

/* ---- the convergence theorem ------------------------------------------------------------------
 */

static gbs_model *of_weights(uint32_t n, const double *weight)
{
    static const uint32_t two[4] = {2, 2, 2, 2};
    static const uint32_t scope[4] = {0, 1, 2, 3};
    gbs_builder *builder = NULL;
    gbs_model *model = NULL;
    gbs_error err = {0};
    assert_int_equal(gbs_builder_new(&builder, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(builder, n, two, NULL, &err), GBS_OK);
    assert_int_equal(gbs_builder_add_potential(builder, n, scope, (size_t)1 << n, weight, &err),
                     GBS_OK);
    assert_int_equal(gbs_builder_build(builder, &model, &err), GBS_OK);
    gbs_builder_free(builder);
    return model;
}

static gbs_run_options complete_herding(void)
{
    gbs_run_options options = gbs_run_options_default();
    options.draw = GBS_DRAW_HERDED_COMPLETE;
    return options;
}

/* Two variables, computed on paper. A sweep forgets the first variable and keeps the second. P(x_1
 * | x_2) is 0.6 or 2/15, and the distance of the rows is the difference of the two; p = 2/15, l =
 * p^2, B = p^2 + 1 + 2 p. With equal weights p = 1/2, where the printed fraction is 0 / 0 and the
 * sum is N. */
static void test_bound_on_paper(void **state)
{
    (void)state;
    static const double table[4] = {0.15, 0.1, 0.1, 0.65};
    static const double equal[8] = {1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0};
    const gbs_run_options options = complete_herding();
    lab_bound b = {0};
    gbs_error err = {0};
    gbs_model *model = of_weights(2, table);
    const double p = 2.0 / 15.0;
    assert_int_equal(lab_bound_find(model, NULL, &options, 1, NULL, &b, &err), GBS_OK);
    assert_int_equal(b.steps, 2);
    assert_true(fabs(b.eta - (0.6 - p)) < 1e-12);
    assert_true(fabs(b.least - p) < 1e-12 && fabs(b.l - p * p) < 1e-12);
    assert_true(fabs(b.b - (p * p + 1.0 + 2.0 * p)) < 1e-12);
    assert_true(fabs(b.lambda - 4.0 * (1.0 + b.eta) / (b.l * (1.0 - b.eta))) < 1e-9);
    assert_true(fabs(b.t_star - 2.0 * b.b / b.l) < 1e-9);
    assert_true(lab_bound_at(&b, b.t_star - 1.0) == 1.0 &&
                lab_bound_at(&b, 100.0 * b.lambda) < 0.011);
    gbs_model_free(model);
    model = of_weights(3, equal);
    assert_int_equal(lab_bound_find(model, NULL, &options, 2, NULL, &b, &err), GBS_OK);
    assert_true(b.eta < 1e-12 && b.l == 0.125 && fabs(b.b - 3.125) < 1e-12);
    gbs_model_free(model);
}

/* Random tables, some with a state of weight 0: no run is further from the target than the bound,
 * and the bound decreases as 1 / T. */
static void test_bound_holds(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 6; seed++) {
        double weight[8];
        gbs_run_options options = complete_herding();
        lab_bound b = {0};
        lab_decomposition d = {0};
        gbs_error err = {0};
        for (uint32_t i = 0; i < 8; i++) {
            weight[i] = 1.0 + (double)((i * 5 + seed * 3) % 7) / 4.0;
        }
        weight[seed] = seed % 2 == 0 ? 0.0 : weight[seed];
        gbs_model *model = of_weights(3, weight);
        options.sweeps = 1 << 15;
        assert_int_equal(lab_bound_find(model, NULL, &options, seed % 3, NULL, &b, &err), GBS_OK);
        assert_true(seed % 2 == 0 ? b.steps > 3 : b.steps == 3);
        assert_true(b.eta > 0.0 && b.eta < 1.0);
        assert_int_equal(lab_decompose(model, NULL, &options, seed % 3, NULL, &d, &err), GBS_OK);
        bool said = false;
        for (size_t k = 0; k < d.n_checkpoints; k++) {
            const double bound = lab_bound_at(&b, (double)d.sweeps[k]);
            for (uint32_t i = 0; i < d.n_chains; i++) {
                const double all = d.value[(k * LAB_N_COMPONENTS + LAB_ALL) * d.n_chains + i];
                assert_true(0.5 * all <= bound);
            }
            said = said || bound < 1.0;
        }
        assert_true(said || seed % 2 == 0);
        lab_decomposition_free(&d);
        gbs_model_free(model);
    }
}

static void test_bound_refused(void **state)
{
    (void)state;
    static const double agree[4] = {1.0, 0.0, 0.0, 1.0};
    static const uint32_t arity[3] = {2, 3, 2};
    static const uint32_t five[5] = {2, 2, 2, 2, 2};
    gbs_run_options options = complete_herding();
    lab_bound b = {.eta = 7.0};
    gbs_error err = {0};
    gbs_model *model = of_weights(2, agree);
    assert_int_equal(lab_bound_find(model, NULL, &options, 0, NULL, &b, &err), GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "forgetting its start"));
    gbs_model_free(model);
    model = make_ring(3, arity, 0.5);
    assert_int_equal(lab_bound_find(model, NULL, &options, 0, NULL, &b, &err), GBS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "two states"));
    gbs_model_free(model);
    model = make_ring(5, five, 0.5);
    static const int other[] = {GBS_DRAW_HERDED, GBS_DRAW_RANDOM, GBS_DRAW_DISCRETIZED,
                                GBS_DRAW_BOUNDED_ERROR};
    for (size_t i = 0; i < sizeof other / sizeof other[0]; i++) {
        options.draw = other[i];
        assert_int_equal(lab_bound_find(model, NULL, &options, 0, NULL, &b, &err),
                         GBS_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "herded-complete"));
    }
    gbs_model_free(model);
    const gbs_generate_ring_options ring = {.variables = 11, .coupling = 0.1, .seed = 1};
    assert_int_equal(gbs_generate_ring(&ring, &model, &err), GBS_OK);
    assert_int_equal(lab_bound_find(model, NULL, NULL, 0, NULL, &b, &err), GBS_ERR_LIMIT);
    assert_true(b.eta == 7.0);
    gbs_model_free(model);
}

static int stop_later(void *context, const gbs_progress *progress)
{
    int *left = context;
    assert_true(progress->pass < progress->passes);
    return --*left == 0;
}

/* A ring that hardly mixes: sweeps are stopped during a key, and no result is returned. */
static void test_stopped(void **state)
{
    (void)state;
    gbs_model *model = NULL;
    gbs_error err = {0};
    lab_asymptotic a = {0};
    int left = 3;
    const gbs_run_callbacks callbacks = {.context = &left, .progress = stop_later};
    const gbs_generate_ring_options ring = {.variables = 9, .coupling = 2.5, .seed = 1};
    assert_int_equal(gbs_generate_ring(&ring, &model, &err), GBS_OK);
    assert_int_equal(lab_decompose_asymptotic(model, NULL, NULL, 0, &callbacks, &a, &err),
                     GBS_STOPPED);
    assert_int_equal(left, 0);
    assert_null(a.p);
    gbs_model_free(model);
}

static void test_no_memory(void **state)
{
    (void)state;
    static const uint32_t arity[3] = {2, 2, 2};
    gbs_model *model = make_ring(3, arity, 0.7);
    gbs_run_options options = gbs_run_options_default();
    options.sweeps = 8;
    options.threads = 1;
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t allowed = 0;
    for (; status == GBS_ERR_MEMORY && allowed < 10000; allowed++) {
        lab_decomposition d = {0};
        lab_asymptotic a = {0};
        gbs_error err = {0};
        gbsi_alloc_fail_after(allowed);
        status = lab_decompose_asymptotic(model, NULL, &options, 0, NULL, &a, &err);
        status = status >= 0 ? lab_decompose(model, NULL, &options, 0, NULL, &d, &err) : status;
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status >= 0 || d.value == NULL);
        lab_decomposition_free(&d);
        lab_asymptotic_free(&a);
    }
    assert_int_equal(status, GBS_OK);
    assert_true(allowed > 20);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_components),  cmocka_unit_test(test_keys),
        cmocka_unit_test(test_bin_edges),   cmocka_unit_test(test_asymptotic),
        cmocka_unit_test(test_stopped),     cmocka_unit_test(test_random),
        cmocka_unit_test(test_herded),      cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_no_memory),   cmocka_unit_test(test_bound_on_paper),
        cmocka_unit_test(test_bound_holds), cmocka_unit_test(test_bound_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
