/* SPDX-License-Identifier: Apache-2.0 */
/* Compares optimised scans with an O(n^2 T) descent, and tests the tournament of derivatives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/test_random.h"
#include "gibbsite/gibbsite.h"
#include "scan/optimise.h"
#include "scan/tournament.h"

static uint32_t below(uint64_t *seed, uint32_t n)
{
    return (uint32_t)((next_random(seed) >> 33) % n);
}

static double uniform(uint64_t *seed)
{
    return (double)(next_random(seed) >> 11) * 0x1p-53;
}

/* ---- the tournament ------------------------------------------------------------------------ */

static void least_of_many(void **unused)
{
    (void)unused;
    static const uint32_t sizes[] = {1, 2, 15, 16, 17, 255, 256, 257, 5000};
    uint64_t seed = 1;
    for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
        const uint32_t n = sizes[k];
        gbsi_tournament t;
        double *value = calloc(n, sizeof *value);
        assert_int_equal(gbsi_tournament_init(&t, n, NULL), GBS_OK);
        for (unsigned step = 0; step < 3000; ++step) {
            const uint32_t i = below(&seed, n);
            uint32_t least = 0;
            value[i] = (double)below(&seed, 40) - 25.0; /* many ties */
            gbsi_tournament_set(&t, i, value[i]);
            for (uint32_t j = 1; j < n; ++j) {
                least = value[j] < value[least] ? j : least;
            }
            assert_int_equal(gbsi_tournament_least(&t), least);
            assert_true(gbsi_tournament_value(&t, i) == value[i]);
        }
        gbsi_tournament_free(&t);
        free(value);
    }
}

/* ---- the descent --------------------------------------------------------------------------- */

/* A random matrix, which need not belong to a model. */
typedef struct dense {
    uint32_t n;
    double c[12][12];
    gbsi_influences sparse;
} dense;

static void make_dense(dense *m, uint64_t *seed, uint32_t n, double scale)
{
    size_t at = 0;
    *m = (dense){.n = n};
    for (uint32_t i = 0; i < n; ++i) {
        for (uint32_t j = 0; j < i; ++j) {
            if (below(seed, 2) == 0) {
                m->c[i][j] = scale * uniform(seed);
                m->c[j][i] = below(seed, 4) == 0 ? 0.0 : scale * uniform(seed);
            }
        }
    }
    uint32_t *size = gbsi_alloc_array_zero(n + (size_t)1, sizeof *size);
    m->sparse = (gbsi_influences){.n = n};
    m->sparse.j = gbsi_alloc_array((size_t)n * n, sizeof(uint32_t));
    m->sparse.on = gbsi_alloc_array((size_t)n * n, sizeof(double));
    m->sparse.of = gbsi_alloc_array((size_t)n * n, sizeof(double));
    for (uint32_t i = 0; i < n; ++i) {
        for (uint32_t j = 0; j < n; ++j) {
            if (m->c[i][j] > 0.0 || m->c[j][i] > 0.0) {
                m->sparse.j[at] = j;
                m->sparse.on[at] = m->c[i][j];
                m->sparse.of[at++] = m->c[j][i];
                ++size[i];
            }
        }
    }
    assert_int_equal(gbsi_offsets_take(size, n, &m->sparse.start, "test", NULL), GBS_OK);
}

/* Makes the k-th random matrix and its weights: all 1, or most of them 0.
 * @return the length of a scan. */
static size_t make_problem(dense *m, double d[12], uint64_t *seed, unsigned k)
{
    const uint32_t n = 2 + below(seed, 11);
    const size_t length = 1 + below(seed, 40);
    make_dense(m, seed, n, k % 3 == 0 ? 0.2 : k % 3 == 1 ? 0.5 : 1.0);
    for (uint32_t i = 0; i < n; ++i) {
        d[i] = k % 2 == 0 ? 1.0 : below(seed, 3) == 0 ? uniform(seed) : 0.0;
    }
    return length;
}

static void free_dense(dense *m)
{
    gbsi_offsets_free(&m->sparse.start);
    GBSI_FREE(m->sparse.j, m->sparse.on, m->sparse.of);
}

static void dense_update(const dense *m, uint32_t i, double *b)
{
    double sum = 0.0;
    for (uint32_t j = 0; j < m->n; ++j) {
        sum += m->c[i][j] * b[j];
    }
    b[i] = sum;
}

/* The mean over all variables of b after the update of the variable. */
static void dense_uniform(const dense *m, double *b)
{
    double next[12] = {0};
    for (uint32_t i = 0; i < m->n; ++i) {
        double one[12];
        memcpy(one, b, sizeof one);
        dense_update(m, i, one);
        for (uint32_t j = 0; j < m->n; ++j) {
            next[j] += one[j] / m->n;
        }
    }
    memcpy(b, next, sizeof next);
}

static double dense_variation(const dense *m, const double *d, const uint32_t *scan, size_t n)
{
    double b[12] = {0};
    double v = 0.0;
    for (uint32_t i = 0; i < m->n; ++i) {
        b[i] = 1.0;
    }
    for (size_t t = 0; t < n; ++t) {
        if (scan[t] == GBSI_NONE) {
            dense_uniform(m, b);
        } else {
            dense_update(m, scan[t], b);
        }
    }
    for (uint32_t i = 0; i < m->n; ++i) {
        v += d[i] * b[i];
    }
    return v;
}

/* Checks that each choice, from the last back to `first`, is the best one, given the later choices
 * and the old earlier ones. The old choice must stay if no other is better. @return number of ties.
 */
static unsigned check_choices(const dense *m, const double *d, const uint32_t *old,
                              const uint32_t *new, size_t n, size_t first, double slack)
{
    uint32_t scan[64];
    unsigned n_ties = 0;
    memcpy(scan, old, n * sizeof *scan);
    for (size_t t = n; t-- > first;) {
        double best = INFINITY;
        unsigned n_best = 0;
        scan[t] = old[t];
        const double kept = dense_variation(m, d, scan, n);
        for (uint32_t i = 0; i < m->n; ++i) {
            scan[t] = i;
            const double v = dense_variation(m, d, scan, n);
            n_best = v < best - slack ? 1 : n_best + (v <= best + slack);
            best = v < best ? v : best;
        }
        scan[t] = new[t];
        const double chosen = dense_variation(m, d, scan, n);
        assert_true(chosen <= best + slack && chosen <= kept + slack);
        assert_true(new[t] == old[t] || kept > best + slack || n_best > 1 || chosen < kept);
        n_ties += n_best > 1;
    }
    return n_ties;
}

static void descent_is_the_naive_one(void **unused)
{
    (void)unused;
    uint64_t seed = 7;
    unsigned n_same_d = 0;
    for (unsigned k = 0; k < 2000; ++k) {
        dense m;
        double d[12];
        uint32_t old[64];
        uint32_t new[64];
        const size_t length = make_problem(&m, d, &seed, k);
        for (size_t t = 0; t < length; ++t) {
            new[t] = old[t] = k % 5 == 0 ? below(&seed, m.n) : (uint32_t)(t % m.n);
        }
        gbsi_optimiser *o = NULL;
        assert_int_equal(gbsi_optimiser_new(&m.sparse, d, NULL, &o, NULL), GBS_OK);
        const double before = gbsi_optimiser_variation(o, old, length);
        const double slack = 1e-11 * (1.0 + before);
        assert_true(fabs(before - dense_variation(&m, d, old, length)) <= slack);
        double after = before;
        assert_int_equal(gbsi_optimiser_descend(o, new, length, -1.0, &after, NULL), GBS_OK);
        assert_true(after <= before);
        assert_true(fabs(after - dense_variation(&m, d, new, length)) <= slack);
        n_same_d += check_choices(&m, d, old, new, length, 0, slack) == 0;
        /* arrays are restored, so that the descent of another scan is not changed */
        double again = before;
        uint32_t second[64];
        memcpy(second, old, sizeof second);
        assert_int_equal(gbsi_optimiser_descend(o, second, length, -1.0, &again, NULL), GBS_OK);
        assert_memory_equal(second, new, length * sizeof *new);
        assert_true(again == after);
        gbsi_optimiser_free(o);
        free_dense(&m);
    }
    assert_true(n_same_d > 100);
}

/* If a descent ends early, the early part of the scan stays unchanged, and the later part is that
 * of a full descent. */
static void enough_is_enough(void **unused)
{
    (void)unused;
    uint64_t seed = 8;
    unsigned n_early = 0;
    for (unsigned k = 0; k < 300; ++k) {
        dense m;
        uint32_t old[64];
        uint32_t full[64];
        uint32_t part[64];
        make_dense(&m, &seed, 8, 0.3);
        for (size_t t = 0; t < 32; ++t) {
            part[t] = full[t] = old[t] = (uint32_t)(t % 8);
        }
        gbsi_optimiser *o = NULL;
        assert_int_equal(gbsi_optimiser_new(&m.sparse, NULL, NULL, &o, NULL), GBS_OK);
        const double before = gbsi_optimiser_variation(o, old, 32);
        double best = before;
        double some = before;
        assert_int_equal(gbsi_optimiser_descend(o, full, 32, -1.0, &best, NULL), GBS_OK);
        const double enough = 0.5 * (before + best);
        assert_int_equal(gbsi_optimiser_descend(o, part, 32, enough, &some, NULL), GBS_OK);
        assert_true(some <= enough + 1e-12 * before && some >= best - 1e-12 * before);
        size_t same = 0;
        while (same < 32 && part[same] == old[same]) {
            ++same;
        }
        n_early += same > 8;
        for (size_t t = 31; t < 32 && part[t] != old[t]; --t) {
            assert_int_equal(part[t], full[t]);
        }
        gbsi_optimiser_free(o);
        free_dense(&m);
    }
    assert_true(n_early > 100);
}

/* The descent from a scan in which some updates take a variable drawn uniformly: each choice is the
 * best one, given the later choices and the old earlier ones. A variable stays if no other is
 * better. */
static void from_rows_of_probabilities(void **unused)
{
    (void)unused;
    uint64_t seed = 19;
    for (unsigned k = 0; k < 1000; ++k) {
        dense m;
        double d[12];
        uint32_t old[64];
        uint32_t new[64];
        gbsi_descended found;
        const size_t length = make_problem(&m, d, &seed, k);
        for (size_t t = 0; t < length; ++t) {
            new[t] = old[t] = below(&seed, 3) == 0 ? GBSI_NONE : below(&seed, m.n);
        }
        gbsi_optimiser *o = NULL;
        assert_int_equal(gbsi_optimiser_new(&m.sparse, d, NULL, &o, NULL), GBS_OK);
        const double before = dense_variation(&m, d, old, length);
        const double slack = 1e-11 * (1.0 + before);
        assert_true(fabs(gbsi_optimiser_variation(o, old, length) - before) <= slack);
        assert_int_equal(
            gbsi_optimise_uniform(&m.sparse, d, NULL, UINT64_MAX, new, length, &found, NULL),
            GBS_OK);
        assert_true(found.n_left == 0 && fabs(found.before - before) <= slack);
        assert_true(found.after <= found.before + slack);
        assert_true(fabs(found.after - dense_variation(&m, d, new, length)) <= slack);
        (void)check_choices(&m, d, old, new, length, 0, slack);
        gbsi_optimiser_free(o);
        free_dense(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(least_of_many),
        cmocka_unit_test(descent_is_the_naive_one),
        cmocka_unit_test(enough_is_enough),
        cmocka_unit_test(from_rows_of_probabilities),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
