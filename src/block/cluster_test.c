/* SPDX-License-Identifier: Apache-2.0 */
/* Exchanges of clusters leave the law of a pair of states as it is. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "block/cluster.h"
#include "model/random_models.h"

enum { MOST_STATES = 48 };

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

typedef struct lab {
    gbs_model *user;
    gbsi_conditioned *model;
    gbsi_graph *graph;
    gbsi_cluster *cluster;
} lab;

static void lab_close(lab *t)
{
    gbsi_cluster_free(t->cluster);
    gbsi_graph_free(t->graph);
    gbsi_conditioned_free(t->model);
    gbs_model_free(t->user);
}

/* A random model of a few variables, conditioned, with some zeros. */
static void lab_open(lab *t, uint64_t *seed, uint32_t factors)
{
    for (;;) {
        *t = (lab){0};
        t->user = random_model_of(seed, (random_size){MOST_VARIABLES, 3, factors}, 8);
        if (gbsi_condition(t->user, NULL, &t->model, NULL) == GBS_OK && t->model->n_variables > 2) {
            ok(gbsi_graph_new(t->model, NULL, &t->graph, NULL));
            ok(gbsi_cluster_new(t->graph, &t->cluster, NULL));
            return;
        }
        lab_close(t);
    }
}

/* pi(x) pi(y) is unchanged, zeros included, and each variable has the same two states. */
static void products_stay(void **state)
{
    (void)state;
    uint64_t seed = 12;
    uint32_t n_whole = 0;
    uint32_t n_part = 0;
    for (int i = 0; i < 2000; ++i) {
        lab t;
        uint32_t x[MOST_VARIABLES];
        uint32_t y[MOST_VARIABLES];
        uint32_t a[MOST_VARIABLES];
        uint32_t b[MOST_VARIABLES];
        lab_open(&t, &seed, 9);
        const uint32_t n = t.model->n_variables;
        uint32_t n_different = 0;
        for (uint32_t v = 0; v < n; ++v) {
            a[v] = x[v] = random_below(&seed, t.model->arity[v]);
            b[v] = y[v] = random_below(&seed, t.model->arity[v]);
            n_different += x[v] != y[v];
        }
        const uint32_t exchanged = gbsi_cluster_exchange(
            t.cluster, 4, 0, (uint64_t)i, (gbsi_cluster_state){a, 1}, (gbsi_cluster_state){b, 1});
        uint32_t n_changed = 0;
        for (uint32_t v = 0; v < n; ++v) {
            n_changed += a[v] != x[v];
            assert_true((a[v] == x[v] && b[v] == y[v]) || (a[v] == y[v] && b[v] == x[v]));
        }
        assert_int_equal(n_changed, exchanged);
        assert_int_equal(exchanged == 0, n_different == 0 || n_different == n);
        const double before =
            gbsi_conditioned_log_density(t.model, x) + gbsi_conditioned_log_density(t.model, y);
        const double after =
            gbsi_conditioned_log_density(t.model, a) + gbsi_conditioned_log_density(t.model, b);
        assert_true(before == after || fabs(before - after) < 1e-10);
        n_whole += exchanged > 0 && exchanged == n_different;
        n_part += exchanged > 0 && exchanged < n_different;
        lab_close(&t);
    }
    assert_true(n_whole > 100);
    assert_true(n_part > 100);
}

static size_t law(const gbsi_conditioned *model, double *p)
{
    uint32_t x[MOST_VARIABLES] = {0};
    size_t n = 0;
    double sum = 0.0;
    do {
        p[n] = exp(gbsi_conditioned_log_density(model, x));
        sum += p[n++];
    } while (n < MOST_STATES && next_assignment(model->n_variables, model->arity, x));
    for (size_t i = 0; i < n; ++i) {
        p[i] /= sum;
    }
    return sum > 0.0 && n < MOST_STATES ? n : 0;
}

static void draw(const gbsi_conditioned *model, const double *p, uint64_t *seed, uint32_t *x)
{
    double u = (double)(next_random(seed) >> 11) * 0x1p-53;
    size_t i = 0;
    while (u >= p[i] && i + 1 < MOST_STATES) {
        u -= p[i++];
    }
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        x[2 * v] = (uint32_t)(i % model->arity[v]); /* every other place: strides count */
        i /= model->arity[v];
    }
}

static size_t number_of(const gbsi_conditioned *model, const uint32_t *x)
{
    size_t number = 0;
    for (uint32_t v = model->n_variables; v-- > 0;) {
        number = number * model->arity[v] + x[2 * v];
    }
    return number;
}

/* Pairs of exact draws are pairs of exact draws afterwards: chi square of all pairs of states; the
 * bound is exceeded by chance with probability below 1e-6. */
static void pairs_keep_their_law(void **state)
{
    (void)state;
    enum { DRAWS = 40000 };
    uint64_t seed = 31;
    static uint32_t count[MOST_STATES * MOST_STATES];
    for (int i = 0; i < 10;) {
        lab t;
        double p[MOST_STATES] = {0};
        lab_open(&t, &seed, 6);
        const size_t n = law(t.model, p);
        if (n == 0) {
            lab_close(&t);
            continue;
        }
        ++i;
        memset(count, 0, sizeof count);
        for (uint64_t pass = 0; pass < DRAWS; ++pass) {
            uint32_t x[2 * MOST_VARIABLES];
            uint32_t y[2 * MOST_VARIABLES];
            draw(t.model, p, &seed, x);
            draw(t.model, p, &seed, y);
            (void)gbsi_cluster_exchange(t.cluster, 9, (uint32_t)i, pass, (gbsi_cluster_state){x, 2},
                                        (gbsi_cluster_state){y, 2});
            ++count[number_of(t.model, x) * n + number_of(t.model, y)];
        }
        double chi = 0.0;
        double cells = 0.0;
        for (size_t s = 0; s < n * n; ++s) {
            const double expected = DRAWS * p[s / n] * p[s % n];
            assert_true(expected > 0.0 || count[s] == 0);
            if (expected >= 5.0) {
                chi += (count[s] - expected) * (count[s] - expected) / expected;
                cells += 1.0;
            }
        }
        assert_true(chi < cells + 6.0 * sqrt(2.0 * cells) + 30.0);
        lab_close(&t);
    }
}

static void fails_whole(void **state)
{
    (void)state;
    uint64_t seed = 2;
    lab t;
    lab_open(&t, &seed, 9);
    for (uint64_t n = 0; n < 4; ++n) {
        gbsi_cluster *cluster = NULL;
        gbsi_alloc_fail_after(n);
        const gbs_status status = gbsi_cluster_new(t.graph, &cluster, NULL);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_int_equal(status, n < 3 ? GBS_ERR_MEMORY : GBS_OK);
        assert_int_equal(cluster == NULL, n < 3);
        gbsi_cluster_free(cluster);
    }
    assert_true(gbsi_cluster_bytes(t.graph) > sizeof *t.cluster);
    lab_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_stay),
        cmocka_unit_test(pairs_keep_their_law),
        cmocka_unit_test(fails_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
