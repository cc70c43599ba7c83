/* SPDX-License-Identifier: Apache-2.0 */
/* Compares coupled chains of small models with the exact law of a pair, state by state. The
 * expectation of the bound must never be below the distance that it bounds, and estimates must be
 * within their errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ask/couple.h"
#include "base/memory.h"
#include "base/test_scale.h"
#include "chains/start.h"
#include "generate/random_models.h"
#include "gibbsite/dobrushin.h"
#include "gibbsite/generate.h"

enum { MOST_STATES = 27, MOST = 3, N_TIMES = 4, LAG = 3, MOST_PASSES = 600 };
static const uint64_t times[N_TIMES] = {0, 1, 2, 5};

/* ---- the exact law of one chain and of a pair -------------------------------------------------
 */

typedef struct small {
    gbsi_conditioned *c;
    uint32_t n, n_states;
    uint32_t stride[MOST];
    double p[MOST]
            [MOST_STATES]; /* conditional of v given the present states of the other variables */
    double pi[MOST_STATES];
    double start[MOST_STATES];
    int random; /* 1: the scan draws variables uniformly; 0: one variable after the other */
} small;

static uint32_t state_of(const small *s, uint32_t x, uint32_t v)
{
    return x / s->stride[v] % s->c->arity[v];
}

static uint32_t with_state(const small *s, uint32_t x, uint32_t v, uint32_t a)
{
    return x + (a - state_of(s, x, v)) * s->stride[v];
}

/* Fills `s` from a model. @return whether the model is small enough. */
static int small_init(const gbs_model *model, int random, small *s)
{
    *s = (small){.n_states = 1, .random = random};
    if (gbsi_condition(model, NULL, &s->c, NULL) < 0) {
        return 0;
    }
    s->n = s->c->n_variables;
    for (uint32_t v = 0; v < s->n && v < MOST; ++v) {
        s->stride[v] = s->n_states;
        s->n_states *= s->c->arity[v];
    }
    if (s->n == 0 || s->n > MOST || s->n_states > MOST_STATES) {
        gbsi_conditioned_free(s->c);
        return 0;
    }
    double total = 0.0;
    for (uint32_t x = 0; x < s->n_states; ++x) {
        uint32_t state[MOST];
        for (uint32_t v = 0; v < s->n; ++v) {
            state[v] = state_of(s, x, v);
        }
        s->pi[x] = exp(gbsi_conditioned_log_density(s->c, state));
        total += s->pi[x];
        s->start[x] = 1.0 / s->n_states;
    }
    for (uint32_t x = 0; x < s->n_states; ++x) {
        s->pi[x] /= total;
    }
    for (uint32_t x = 0; x < s->n_states; ++x) {
        for (uint32_t v = 0; v < s->n; ++v) {
            double sum = 0.0;
            for (uint32_t a = 0; a < s->c->arity[v]; ++a) {
                sum += s->pi[with_state(s, x, v, a)];
            }
            s->p[v][x] = sum > 0.0 ? s->pi[x] / sum : 0.0;
        }
    }
    return 1;
}

static void chain_update(const small *s, uint32_t v, double share, const double *from, double *to)
{
    for (uint32_t x = 0; x < s->n_states; ++x) {
        for (uint32_t a = 0; a < s->c->arity[v] && from[x] > 0.0; ++a) {
            const uint32_t y = with_state(s, x, v, a);
            to[y] += share * from[x] * s->p[v][y];
        }
    }
}

static void chain_pass(const small *s, double *law)
{
    double next[MOST_STATES];
    for (uint32_t k = 0; k < s->n; ++k) {
        memset(next, 0, sizeof next);
        for (uint32_t v = 0; v < s->n; ++v) {
            if (s->random || v == k) {
                chain_update(s, v, s->random ? 1.0 / s->n : 1.0, law, next);
            }
        }
        memcpy(law, next, sizeof next);
    }
}

/* Updates v in a pair by the maximal coupling whose rests are independent. */
static void pair_update(const small *s, uint32_t v, double share, double (*from)[MOST_STATES],
                        double (*to)[MOST_STATES])
{
    const uint32_t k = s->c->arity[v];
    for (uint32_t x = 0; x < s->n_states; ++x) {
        for (uint32_t y = 0; y < s->n_states; ++y) {
            double both = 0.0;
            for (uint32_t a = 0; a < k && from[x][y] > 0.0; ++a) {
                both += fmin(s->p[v][with_state(s, x, v, a)], s->p[v][with_state(s, y, v, a)]);
            }
            for (uint32_t i = 0; i < k * k && from[x][y] > 0.0; ++i) {
                const uint32_t a = with_state(s, x, v, i / k);
                const uint32_t b = with_state(s, y, v, i % k);
                const double p = s->p[v][a];
                const double q = s->p[v][b];
                const double pm = fmin(p, s->p[v][with_state(s, y, v, i / k)]);
                const double qm = fmin(q, s->p[v][with_state(s, x, v, i % k)]);
                const double rest = both < 1.0 - 1e-14 ? (p - pm) * (q - qm) / (1.0 - both) : 0.0;
                to[a][b] += share * from[x][y] * ((i / k == i % k ? pm : 0.0) + rest);
            }
        }
    }
}

static void pair_pass(const small *s, double (*law)[MOST_STATES])
{
    static double next[MOST_STATES][MOST_STATES];
    for (uint32_t k = 0; k < s->n; ++k) {
        memset(next, 0, sizeof next);
        for (uint32_t v = 0; v < s->n; ++v) {
            if (s->random || v == k) {
                pair_update(s, v, s->random ? 1.0 / s->n : 1.0, law, next);
            }
        }
        memcpy(law, next, sizeof next);
    }
}

/* P(X and Y differ at v); for v = n, P(X and Y differ at some variable). */
static double apart(const small *s, double (*law)[MOST_STATES], uint32_t v)
{
    double sum = 0.0;
    for (uint32_t x = 0; x < s->n_states; ++x) {
        for (uint32_t y = 0; y < s->n_states; ++y) {
            sum += (v == s->n ? x != y : state_of(s, x, v) != state_of(s, y, v)) ? law[x][y] : 0.0;
        }
    }
    return sum;
}

/* Computes the exact expectations of the bounds: for each variable, then for all variables
 * together. @return whether the pair has met within the passes with probability 1 - 1e-9. */
static int expected(const small *s, double (*bound)[MOST + 1])
{
    static double law[MOST_STATES][MOST_STATES];
    double ahead[MOST_STATES];
    memcpy(ahead, s->start, sizeof ahead);
    for (uint32_t k = 0; k < LAG; ++k) {
        chain_pass(s, ahead);
    }
    for (uint32_t i = 0; i < s->n_states * s->n_states; ++i) {
        law[i / s->n_states][i % s->n_states] = ahead[i / s->n_states] * s->start[i % s->n_states];
    }
    memset(bound, 0, N_TIMES * sizeof *bound);
    for (uint64_t pass = 0; pass <= MOST_PASSES; ++pass) {
        if (apart(s, law, s->n) < 1e-9) {
            return 1;
        }
        for (uint32_t t = 0; t < N_TIMES; ++t) {
            for (uint32_t v = 0; times[t] <= pass && (pass - times[t]) % LAG == 0 && v <= s->n;
                 ++v) {
                bound[t][v] += apart(s, law, v);
            }
        }
        pair_pass(s, law);
    }
    return 0;
}

/* Computes the total variation distances of the chain after the times: for each variable, then for
 * all variables together. */
static void distances(const small *s, double (*distance)[MOST + 1])
{
    double law[MOST_STATES];
    uint64_t pass = 0;
    memcpy(law, s->start, sizeof law);
    for (uint32_t t = 0; t < N_TIMES; ++t) {
        for (; pass < times[t]; ++pass) {
            chain_pass(s, law);
        }
        for (uint32_t v = 0; v <= s->n; ++v) {
            double sum = 0.0;
            for (uint32_t a = 0; a < (v < s->n ? s->c->arity[v] : s->n_states); ++a) {
                double d = 0.0;
                for (uint32_t x = 0; x < s->n_states; ++x) {
                    d += (v < s->n ? state_of(s, x, v) : x) == a ? law[x] - s->pi[x] : 0.0;
                }
                sum += fabs(d) / 2.0;
            }
            distance[t][v] = sum;
        }
    }
}

/* ---- estimates --------------------------------------------------------------------------------
 */

typedef struct estimated {
    gbs_coupling_bound all[N_TIMES]; /* bounds for all variables together */
    gbs_coupling_bound own[N_TIMES]
                          [MOST_VARIABLES]; /* bounds for each variable, given as a target */
    double each[N_TIMES][MOST_VARIABLES];
    gbs_coupling_report report;
} estimated;

static gbs_status couple(const gbs_model *model, const gbs_run_options *options, uint64_t pairs,
                         uint64_t lag, uint64_t sweeps, estimated *e)
{
    const gbs_influence_options bound = {.size = sizeof bound, .rule = GBS_INFLUENCE_BOUND};
    const gbs_coupling_request request = {
        .size = sizeof request, .pairs = pairs, .lag = lag, .sweeps = sweeps};
    gbs_influences *c = NULL;
    memset(e, 0, sizeof *e);
    e->report.size = sizeof e->report;
    assert_int_equal(gbs_influences_new(model, NULL, &bound, &c, NULL), GBS_OK);
    const uint32_t n = gbs_model_n_variables(model);
    double weights[MOST_VARIABLES][MOST_VARIABLES] = {{0.0}};
    const double *weight[MOST_VARIABLES + 1] = {NULL};
    gbs_coupling_bound found[N_TIMES * (MOST_VARIABLES + 1)];
    double each[N_TIMES * MOST_VARIABLES];
    for (uint32_t v = 0; v < n; ++v) {
        weights[v][v] = 2.0;
        weight[v + 1] = weights[v];
    }
    const gbs_status status = gbs_couple(c, options, &request, n + 1, weight, N_TIMES, times, found,
                                         each, &e->report, NULL);
    for (uint32_t t = 0; status >= 0 && t < N_TIMES; ++t) {
        e->all[t] = found[t * (n + 1)];
        for (uint32_t v = 0; v < n; ++v) {
            e->own[t][v] = found[t * (n + 1) + v + 1];
            e->each[t][v] = each[t * n + v];
        }
    }
    gbs_influences_free(c);
    return status;
}

static gbs_run_options scanned(int random)
{
    gbs_run_options options = gbs_run_options_default();
    options.scan = random ? GBS_SCAN_RANDOM : GBS_SCAN_SYSTEMATIC;
    options.threads = 1;
    return options;
}

static gbs_model *small_model(uint64_t *seed, uint32_t zeros)
{
    return random_model_of(seed, (random_size){MOST, 3, 6, 0}, zeros);
}

/* Number of estimates compared with expectations, and number of those that were off by more than
 * three of their errors. */
typedef struct off_count {
    uint32_t n, n_off;
} off_count;

static void note(off_count *errors, double found, double error, double bound)
{
    ++errors->n;
    errors->n_off += fabs(found - bound) > 3.0 * error;
}

static void check_estimates(const small *s, const gbs_model *model, double (*bound)[MOST + 1],
                            off_count *errors)
{
    estimated e;
    const gbs_run_options options = scanned(s->random);
    assert_int_equal(couple(model, &options, 400, LAG, MOST_PASSES, &e), GBS_OK);
    assert_int_equal(e.report.lag, LAG);
    for (uint32_t t = 0; t < N_TIMES; ++t) {
        double most = 0.0;
        note(errors, e.all[t].joint, e.all[t].joint_mcse, bound[t][s->n]);
        for (uint32_t v = 0; v < s->n; ++v) {
            const uint32_t u = s->c->user_variable[v];
            const gbs_coupling_bound *own = &e.own[t][u];
            note(errors, own->joint, own->joint_mcse, bound[t][v]);
            assert_true(e.each[t][u] == own->joint && own->variable == own->joint);
            assert_true(own->joint <= e.all[t].joint && own->worst == u);
            most = fmax(most, own->joint);
        }
        assert_true(most == e.all[t].variable);
    }
}

/* Of normal estimates, 0.3 % are off by more than three errors; sums over few pairs have longer
 * tails. */
static void bounds_hold_on_enumerable_models(void **state)
{
    (void)state;
    uint64_t seed = 5;
    uint32_t n_models = 0;
    uint32_t n_compared = 0;
    uint32_t n_near = 0;
    off_count errors = {0, 0};
    const uint32_t wanted = (uint32_t)test_scaled(1000, 150, 20);
    for (uint32_t i = 0; n_models < wanted; ++i) {
        small s;
        double bound[N_TIMES][MOST + 1];
        double distance[N_TIMES][MOST + 1];
        gbs_model *model = small_model(&seed, 0);
        if (small_init(model, i % 2 == 0, &s)) {
            if (expected(&s, bound)) {
                ++n_models;
                distances(&s, distance);
                for (uint32_t k = 0; k < N_TIMES * (s.n + 1); ++k) {
                    const double d = distance[k / (s.n + 1)][k % (s.n + 1)];
                    const double b = bound[k / (s.n + 1)][k % (s.n + 1)];
                    assert_true(b >= d - 1e-9);
                    n_compared += d > 1e-6;
                    n_near += d > 1e-6 && b <= 3.0 * d;
                }
                check_estimates(&s, model, bound, &errors);
            }
            gbsi_conditioned_free(s.c);
        }
        gbs_model_free(model);
    }
    printf("%u models: %u of %u bounds within a factor of 3, %u of %u estimates off\n", n_models,
           n_near, n_compared, errors.n_off, errors.n);
    assert_true(2 * n_near >= n_compared);
    assert_true(100 * errors.n_off <= errors.n);
}

/* In models with hard zeros, starts are repaired states. Their law is estimated from 4000 other
 * starts, which makes the distance wrong by less than 0.05. */
static void bounds_hold_with_hard_zeros(void **state)
{
    (void)state;
    uint64_t seed = 77;
    uint32_t n_models = 0;
    for (uint32_t i = 0; n_models < (uint32_t)test_scaled(300, 60, 10); ++i) {
        small s;
        double distance[N_TIMES][MOST + 1];
        estimated e;
        gbs_model *model = small_model(&seed, 30);
        if (small_init(model, i % 2 == 0, &s)) {
            uint32_t x[MOST];
            gbsi_starter *starter = NULL;
            gbs_status status = gbsi_starter_new(s.c, 12, NULL, &starter, NULL);
            memset(s.start, 0, sizeof s.start);
            for (uint32_t k = 0; k < 4000 && status == GBS_OK; ++k) {
                uint32_t at = 0;
                status = gbsi_starter_draw(starter, k, 0, x, NULL);
                for (uint32_t v = 0; v < s.n; ++v) {
                    at += x[v] * s.stride[v];
                }
                s.start[at] += 1.0 / 4000;
            }
            const gbs_run_options options = scanned(s.random);
            if (status == GBS_OK) {
                ++n_models;
                distances(&s, distance);
                assert_int_equal(couple(model, &options, 400, 0, 100, &e), GBS_OK);
                for (uint32_t t = 0; t < N_TIMES; ++t) {
                    const double found = e.all[t].joint + 5.0 * e.all[t].joint_mcse + 0.05;
                    assert_true(found >= distance[t][s.n]);
                }
            }
            gbsi_starter_free(starter);
            gbsi_conditioned_free(s.c);
        }
        gbs_model_free(model);
    }
}

/* ---- draws ------------------------------------------------------------------------------------
 */

/* P(a = b) must be the sum of the minima, and a and b must have their laws. With 20000 draws, 5
 * standard errors are at most 0.018. */
static void draws_are_maximal(void **state)
{
    (void)state;
    const double p[4] = {0.1, 0.0, 0.6, 0.3};
    const double q[4] = {0.5, 0.25, 0.0, 0.25};
    double equal = 0.0;
    double law[2][4] = {{0.0}};
    uint64_t seed = 3;
    for (uint32_t i = 0; i < 20000; ++i) {
        const uint64_t high = next_random(&seed);
        const uint64_t low = next_random(&seed);
        const uint32_t word[4] = {(uint32_t)high, (uint32_t)(high >> 32), (uint32_t)low,
                                  (uint32_t)(low >> 32)};
        uint32_t a = 9;
        uint32_t b = 9;
        gbsi_couple_draw(p, q, 4, word, &a, &b);
        assert_true(a < 4 && b < 4 && p[a] > 0.0 && q[b] > 0.0);
        equal += a == b ? 1.0 / 20000 : 0.0;
        law[0][a] += 1.0 / 20000;
        law[1][b] += 1.0 / 20000;
        gbsi_couple_draw(p, p, 4, word, &a, &b);
        assert_int_equal(a, b);
    }
    assert_true(fabs(equal - 0.35) < 0.018);
    for (uint32_t k = 0; k < 4; ++k) {
        assert_true(fabs(law[0][k] - p[k]) < 0.018);
        assert_true(fabs(law[1][k] - q[k]) < 0.018);
    }
    const uint32_t most[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    const double third[3] = {1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0};
    uint32_t a = 9;
    uint32_t b = 9;
    gbsi_couple_draw(third, third, 3, most, &a, &b);
    assert_true(a == 2 && b == 2);
}

/* ---- modes, threads, limits -------------------------------------------------------------------
 */

static gbs_model *two_spins(double coupling)
{
    const uint32_t arity[2] = {2, 2};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 2, arity, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_ising(b, 0, 1, coupling, NULL), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* Chains leave a mode once in e^20 passes. Half of the pairs are in one mode from the first pass
 * on; the other pairs never meet. */
static void modes_are_at_least(void **state)
{
    (void)state;
    gbs_model *model = two_spins(10.0);
    const gbs_run_options options = scanned(0);
    estimated e;
    assert_int_equal(couple(model, &options, 200, 0, 50, &e), GBS_OK);
    assert_int_equal(e.report.pairs, 200);
    assert_in_range(e.report.met, 60, 140);
    assert_true(e.all[N_TIMES - 1].joint > 0.5);
    gbs_model_free(model);
}

static void threads_change_no_bit(void **state)
{
    (void)state;
    const gbs_generate_ising_options ising = {
        .size = sizeof ising, .side = {2, 3, 1}, .coupling = 0.4};
    gbs_model *model = NULL;
    estimated one;
    estimated more;
    assert_int_equal(gbs_generate_ising(&ising, &model, NULL), GBS_OK);
    gbs_run_options options = scanned(0);
    assert_int_equal(couple(model, &options, 50, 0, 1000, &one), GBS_OK);
    assert_int_equal(one.report.met, 50);
    for (uint64_t threads = 2; threads <= 5; ++threads) {
        options.threads = threads;
        assert_int_equal(couple(model, &options, 50, 0, 1000, &more), GBS_OK);
        assert_memory_equal(&one, &more, sizeof one);
    }
    options.seed = 2;
    assert_int_equal(couple(model, &options, 50, 0, 1000, &more), GBS_OK);
    assert_memory_not_equal(&one, &more, sizeof one);
    gbs_model_free(model);
}

static int count_down(void *context)
{
    int *left = context;
    return --*left <= 0;
}

static void a_stop_says_at_least(void **state)
{
    (void)state;
    gbs_model *model = two_spins(10.0);
    uint32_t n_stopped = 0;
    for (int looks = 1; looks < 400; looks = looks * 3 / 2 + 1) {
        int left = looks;
        const gbs_influence_options asked = {
            .size = sizeof asked, .stop = count_down, .stop_context = &left};
        gbs_influences *c = NULL;
        gbs_coupling_bound bound;
        gbs_error err = {GBS_OK, ""};
        gbs_coupling_report report = {.size = sizeof report};
        const gbs_coupling_request request = {
            .size = sizeof request, .pairs = 32, .lag = 1, .sweeps = 20000};
        const gbs_run_options options = scanned(0);
        assert_int_equal(gbs_influences_new(model, NULL, &asked, &c, NULL), GBS_OK);
        const gbs_status status =
            gbs_couple(c, &options, &request, 1, NULL, 1, times, &bound, NULL, &report, &err);
        if (status == GBS_STOPPED) {
            ++n_stopped;
            assert_true(report.met < report.pairs);
        } else if (status != GBS_OK) {
            assert_int_equal(status, GBS_ERR_STOPPED);
            assert_non_null(strstr(err.message, "following pairs of coupled chains"));
        }
        gbs_influences_free(c);
    }
    assert_true(n_stopped > 0);
    gbs_model_free(model);
}

static void wrong_requests_are_refused(void **state)
{
    (void)state;
    gbs_model *model = two_spins(0.1);
    const uint32_t one = 1;
    gbs_influences *c = NULL;
    gbs_coupling_bound bound;
    gbs_coupling_report report = {.size = sizeof report};
    gbs_error err = {GBS_OK, ""};
    gbs_run_options options = scanned(0);
    const gbs_coupling_request wrong[] = {
        {.size = sizeof wrong[0], .pairs = 1},
        {.size = sizeof wrong[0], .pairs = 65537},
        {.size = sizeof wrong[0], .lag = (1u << 20) + 1},
        {.size = sizeof wrong[0], .sweeps = (1u << 20) + 1},
    };
    assert_int_equal(gbs_influences_new(model, NULL, NULL, &c, NULL), GBS_OK);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        assert_int_equal(
            gbs_couple(c, &options, &wrong[k], 1, NULL, 1, times, &bound, NULL, &report, &err),
            GBS_ERR_ARGUMENT);
    }
    options.scan = GBS_SCAN_SEQUENCE;
    options.sequence = &one;
    options.sequence_length = 1;
    options.partial_scan = 1;
    assert_int_equal(gbs_couple(c, &options, NULL, 1, NULL, 1, times, &bound, NULL, &report, &err),
                     GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, "never meet at variable 0"));
    options = scanned(0);
    assert_int_equal(gbs_couple(c, &options, NULL, 1, NULL, 1, times, &bound, NULL, &report, &err),
                     GBS_OK);
    assert_int_equal(report.pairs, 64);
    for (uint64_t n = 0;; ++n) {
        gbsi_alloc_fail_after(n);
        const gbs_status status =
            gbs_couple(c, &options, NULL, 1, NULL, 1, times, &bound, NULL, &report, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        if (status == GBS_OK) {
            break;
        }
        assert_int_equal(status, GBS_ERR_MEMORY);
    }
    gbs_influences_free(c);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_hold_on_enumerable_models),
        cmocka_unit_test(bounds_hold_with_hard_zeros),
        cmocka_unit_test(draws_are_maximal),
        cmocka_unit_test(modes_are_at_least),
        cmocka_unit_test(threads_change_no_bit),
        cmocka_unit_test(a_stop_says_at_least),
        cmocka_unit_test(wrong_requests_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
