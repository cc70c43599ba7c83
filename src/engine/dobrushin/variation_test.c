/* SPDX-License-Identifier: Apache-2.0 */
/* Compares variations with the exact total variation from the worst start, and the matrix of
 * influences with its definition, on random small models. */
#include <string.h>

#include "base/memory.h"
#include "base/test_scale.h"
#include "dobrushin/test_influences.h"
#include "dobrushin/variation.h"
#include "gibbsite/generate.h"

#define TOLERANCE 1e-12
enum { MOST_STATES = 300, MOST_FREE = 5 };

typedef struct made {
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_graph *graph;
    gbsi_influences *c;
} made;

/* @return 0 if hard zeros leave no state at all. */
static int prepare(made *m, gbs_model *model, gbs_influence_rule rule)
{
    *m = (made){.model = model};
    if (gbsi_condition(model, NULL, &m->conditioned, NULL) != GBS_OK) {
        return 0;
    }
    assert_int_equal(gbsi_graph_new(m->conditioned, NULL, &m->graph, NULL), GBS_OK);
    assert_int_equal(gbsi_influences_new(m->graph, rule, UINT64_MAX, NULL, &m->c, NULL), GBS_OK);
    return 1;
}

static void release(made *m)
{
    gbsi_influences_free(m->c);
    gbsi_graph_free(m->graph);
    gbsi_conditioned_free(m->conditioned);
    gbs_model_free(m->model);
}

/* Weak tables on pairs, so that variations fall below 1. */
static gbs_model *weak_model(uint64_t *seed)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[4];
    const uint32_t n = 2 + random_below(seed, 3);
    for (uint32_t v = 0; v < n; ++v) {
        arity[v] = 2 + random_below(seed, 2);
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, n, arity, NULL, NULL), GBS_OK);
    for (uint32_t f = 0; f < n + 1; ++f) {
        uint32_t scope[3];
        uint32_t table = 0;
        double logw[27];
        const uint32_t size = random_scope(seed, n, arity, 2 + random_below(seed, 2), 0, scope);
        uint32_t entries = 1;
        for (uint32_t i = 0; i < size; ++i) {
            entries *= arity[scope[i]];
        }
        for (uint32_t e = 0; e < entries; ++e) {
            logw[e] = random_weight(seed) / 10;
        }
        assert_int_equal(gbs_builder_add_table(b, entries, logw, &table, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(b, size, scope, table, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

/* ---- the matrix ---------------------------------------------------------------------------- */

static double entry(const gbsi_influences *c, uint32_t i, uint32_t j, const double *value)
{
    for (size_t e = gbsi_influences_row(c, i); e < gbsi_influences_row(c, i + (size_t)1); ++e) {
        if (c->j[e] == j) {
            return value[e];
        }
    }
    return 0.0;
}

static void matrix_is_the_influences(void **unused)
{
    (void)unused;
    static const gbs_influence_rule rule[] = {GBS_INFLUENCE_AUTO, GBS_INFLUENCE_BOUND,
                                              GBS_INFLUENCE_EXACT};
    uint64_t seed = 31;
    for (unsigned k = 0; k < 900; ++k) {
        made m;
        if (prepare(&m, random_noisy_model(&seed, k % 2 == 0 ? 0 : 20), rule[k % 3])) {
            const uint32_t n = m.c->n;
            assert_int_equal(n, m.conditioned->n_variables);
            assert_int_equal(m.c->n_exact, rule[k % 3] == GBS_INFLUENCE_BOUND ? 0 : n);
            assert_int_equal(m.c->n_refused, 0);
            for (uint32_t i = 0; i < n; ++i) {
                for (uint32_t j = 0; j < n; ++j) {
                    const double exact = i == j ? 0.0 : exact_influence(m.conditioned, i, j);
                    const double found = entry(m.c, i, j, m.c->on);
                    assert_true(found >= exact - TOLERANCE && found <= 1.0);
                    assert_true(rule[k % 3] == GBS_INFLUENCE_BOUND || found <= exact + TOLERANCE);
                    assert_true(entry(m.c, j, i, m.c->of) == found);
                }
            }
        }
        release(&m);
    }
}

/* All entries of a matrix given again, in any order, are the same matrix, but for entries of 0;
 * half of a pair is enough for both of its places. */
static void given_matrix_is_the_matrix(void **unused)
{
    (void)unused;
    uint64_t seed = 77;
    for (unsigned k = 0; k < 200; ++k) {
        made m;
        if (prepare(&m, random_noisy_model(&seed, k % 2 == 0 ? 0 : 20), GBS_INFLUENCE_BOUND)) {
            const gbsi_influences *c = m.c;
            gbs_pair pair[400];
            size_t n = 0;
            gbsi_influences *given = NULL;
            for (uint32_t i = c->n; i-- > 0;) {
                pair[n++] = (gbs_pair){m.conditioned->user_variable[i],
                                       m.conditioned->user_variable[i], 0.0};
                for (size_t e = gbsi_influences_row(c, i);
                     e < gbsi_influences_row(c, i + (size_t)1); ++e) {
                    assert_true(n < 400);
                    pair[n++] = (gbs_pair){m.conditioned->user_variable[i],
                                           m.conditioned->user_variable[c->j[e]], c->on[e]};
                }
            }
            gbs_error err = {GBS_OK, ""};
            (void)gbsi_influences_given(m.conditioned, pair, n, UINT64_MAX, NULL, &given, &err);
            assert_string_equal(err.message, "");
            assert_int_equal(given->n_given, n);
            for (uint32_t i = 0; i < c->n; ++i) {
                for (uint32_t j = 0; j < c->n; ++j) {
                    assert_true(entry(given, i, j, given->on) == entry(c, i, j, c->on));
                    assert_true(entry(given, i, j, given->of) == entry(c, j, i, c->on));
                }
            }
            gbsi_influences *none = NULL;
            if (n > 0) {
                pair[0].value = 0.5; /* on the diagonal */
                assert_int_equal(
                    gbsi_influences_given(m.conditioned, pair, n, UINT64_MAX, NULL, &none, &err),
                    GBS_ERR_ARGUMENT);
                assert_int_equal(
                    gbsi_influences_given(m.conditioned, pair, n, 8, NULL, &none, &err),
                    GBS_ERR_LIMIT);
            }
            assert_true(none == NULL);
            gbsi_influences_free(given);
        }
        release(&m);
    }
}

/* A variable of seventeen neighbours has too many configurations; its neighbours do not. */
static void large_rows_are_refused(void **unused)
{
    (void)unused;
    enum { N = 18 };
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    made m;
    uint32_t two[N];
    for (uint32_t v = 0; v < N; ++v) {
        two[v] = 2;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, N, two, NULL, NULL), GBS_OK);
    for (uint32_t v = 1; v < N; ++v) {
        assert_int_equal(gbs_builder_add_ising(b, 0, v, 0.1, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    assert_true(prepare(&m, model, GBS_INFLUENCE_EXACT));
    assert_int_equal(m.c->n_exact, N - 1);
    assert_int_equal(m.c->n_refused, 1);
    gbs_error err = {GBS_OK, ""};
    gbsi_influences *none = NULL;
    assert_int_equal(gbsi_influences_new(m.graph, GBS_INFLUENCE_BOUND, 400, NULL, &none, &err),
                     GBS_ERR_LIMIT);
    assert_true(none == NULL && strstr(err.message, "MiB") != NULL);
    release(&m);
}

/* ---- exact total variation ----------------------------------------------------------------- */

/* All states of a small model, their probabilities and strides. */
typedef struct space {
    const gbsi_conditioned *model;
    size_t n, stride[MOST_FREE];
    double p[MOST_STATES];
} space;

static void enumerate(const gbsi_conditioned *model, space *s)
{
    uint32_t x[MOST_FREE + 4] = {0};
    double most = -INFINITY;
    double sum = 0.0;
    *s = (space){.model = model, .n = 1};
    assert_true(model->n_variables <= MOST_FREE);
    for (uint32_t v = 0; v < model->n_variables; ++v) {
        s->stride[v] = s->n;
        s->n *= model->arity[v];
    }
    assert_true(s->n <= MOST_STATES);
    size_t at = 0;
    do {
        s->p[at] = gbsi_conditioned_log_density(model, x);
        most = s->p[at] > most ? s->p[at] : most;
        ++at;
    } while (next_assignment(model->n_variables, model->arity, x));
    for (at = 0; at < s->n; ++at) {
        s->p[at] = gbsi_exp(s->p[at] - most);
        sum += s->p[at];
    }
    for (at = 0; at < s->n; ++at) {
        s->p[at] /= sum;
    }
}

/* Computes the distribution after an update of i. Configurations that leave i no state have no
 * mass. */
static void update(const space *s, uint32_t i, const double *law, double *next)
{
    const uint32_t k = s->model->arity[i];
    memset(next, 0, s->n * sizeof *next);
    for (size_t at = 0; at < s->n; ++at) {
        const size_t base = at - at / s->stride[i] % k * s->stride[i];
        double total = 0.0;
        for (uint32_t a = 0; a < k; ++a) {
            total += s->p[base + a * s->stride[i]];
        }
        for (uint32_t a = 0; law[at] > 0.0 && a < k; ++a) {
            next[base + a * s->stride[i]] += law[at] * s->p[base + a * s->stride[i]] / total;
        }
    }
}

/* Returns the total variation distance of the variables whose bits are in `set`. */
static double distance(const space *s, const double *law, uint32_t set)
{
    double difference[MOST_STATES] = {0};
    double sum = 0.0;
    for (size_t at = 0; at < s->n; ++at) {
        size_t cell = 0;
        for (uint32_t v = 0; v < s->model->n_variables; ++v) {
            const size_t digit = at / s->stride[v] % s->model->arity[v];
            cell += (set >> v & 1u) != 0 ? digit * s->stride[v] : 0;
        }
        difference[cell] += law[at] - s->p[at];
    }
    for (size_t cell = 0; cell < s->n; ++cell) {
        sum += fabs(difference[cell]);
    }
    return 0.5 * sum;
}

enum { STEPS = 14 };

/* Computes the distribution after the update of a variable drawn uniformly. */
static void update_one_of_all(const space *s, const double *law, double *next)
{
    double one[MOST_STATES];
    memset(next, 0, s->n * sizeof *next);
    for (uint32_t i = 0; i < s->model->n_variables; ++i) {
        update(s, i, law, one);
        for (size_t at = 0; at < s->n; ++at) {
            next[at] += one[at] / s->model->n_variables;
        }
    }
}

/* Computes the largest distance over all starts after every update, for all variables and for some
 * of them. @param scan [STEPS] updates; GBSI_NONE: a variable drawn uniformly. NULL: all updates
 * take a variable drawn uniformly. */
static void worst_distances(const space *s, const uint32_t *scan, uint32_t set, double *joint,
                            double *marginal)
{
    double law[MOST_STATES];
    double next[MOST_STATES];
    memset(joint, 0, STEPS * sizeof *joint);
    memset(marginal, 0, STEPS * sizeof *marginal);
    for (size_t start = 0; start < s->n; ++start) {
        memset(law, 0, sizeof law);
        law[start] = 1.0;
        for (unsigned t = 0; t < STEPS && s->p[start] > 0.0; ++t) {
            if (scan != NULL && scan[t] != GBSI_NONE) {
                update(s, scan[t], law, next);
            } else {
                update_one_of_all(s, law, next);
            }
            memcpy(law, next, sizeof law);
            const double all = distance(s, law, UINT32_MAX);
            const double some = distance(s, law, set);
            joint[t] = all > joint[t] ? all : joint[t];
            marginal[t] = some > marginal[t] ? some : marginal[t];
        }
    }
}

typedef struct tally {
    unsigned n, n_telling; /* number of bounds, and of bounds below 1 */
    double ratio;          /* sum over bounds below 1 of exact value / bound */
} tally;

static void compare(const double *exact, const double *bound, tally *t)
{
    for (unsigned k = 0; k < STEPS; ++k) {
        if (!(bound[k] >= exact[k] - TOLERANCE)) {
            fail_msg("after %u updates %.17g, bound %.17g", k + 1, exact[k], bound[k]);
        }
        ++t->n;
        t->n_telling += bound[k] < 1.0;
        t->ratio += bound[k] < 1.0 && bound[k] > 1e-9 ? exact[k] / bound[k] : 0.0;
    }
}

/* Computes V after each update. @param b scratch. @param value [STEPS] out. */
static void follow(const gbsi_influences *c, const double *d, const uint32_t *scan, double *b,
                   double *value)
{
    gbsi_variation_begin(c, b);
    for (unsigned t = 0; t < STEPS; ++t) {
        assert_true(gbsi_variation_follow(c, scan + t, 1, b, NULL));
        value[t] = gbsi_weigh(d, b, c->n);
    }
}

/* One random sequence, the same sequence with some updates of a variable drawn uniformly, and the
 * uniform scan. */
static void check_model(const made *m, uint64_t *seed, tally *t)
{
    const uint32_t n = m->c->n;
    space s;
    uint32_t scan[STEPS];
    double b[2 * MOST_FREE];
    double d[MOST_FREE];
    double joint[STEPS];
    double marginal[STEPS];
    double bound[STEPS];
    enumerate(m->conditioned, &s);
    const uint32_t set = 1 + random_below(seed, (1u << n) - 1);
    for (uint32_t v = 0; v < n; ++v) {
        d[v] = (set >> v & 1u) != 0 ? 1.0 : 0.0;
    }
    for (unsigned k = 0; k < STEPS; ++k) {
        scan[k] = random_below(seed, n);
    }
    for (unsigned mixed = 0; mixed < 2; ++mixed) {
        for (unsigned k = 0; k < STEPS; ++k) {
            scan[k] = mixed == 1 && random_below(seed, 3) == 0 ? GBSI_NONE : scan[k];
        }
        worst_distances(&s, scan, set, joint, marginal);
        follow(m->c, NULL, scan, b, bound);
        compare(joint, bound, t);
        follow(m->c, d, scan, b, bound);
        compare(marginal, bound, t);
    }
    worst_distances(&s, NULL, set, joint, marginal);
    const double *const targets[2] = {NULL, d};
    double all[STEPS];
    gbsi_uniform *u = NULL;
    assert_int_equal(gbsi_uniform_new(m->c, 2, targets, NULL, &u, NULL), GBS_OK);
    for (unsigned k = 0; k < STEPS; ++k) {
        double value[2];
        assert_int_equal(gbsi_uniform_at(u, k + 1, value, NULL), GBS_OK);
        all[k] = value[0];
        bound[k] = value[1];
    }
    gbsi_uniform_free(u);
    compare(joint, all, t);
    compare(marginal, bound, t);
}

static void never_below_the_worst_start(void **unused)
{
    (void)unused;
    const random_size size = {4, 3, 3, 0};
    uint64_t seed = 12;
    for (unsigned rule = 0; rule < 2; ++rule) {
        tally t = {0};
        for (unsigned k = 0; k < test_share(500, 100); ++k) {
            made m;
            gbs_model *model =
                k % 4 == 0 ? random_model_of(&seed, size, k % 8 == 0 ? 0 : 15) : weak_model(&seed);
            if (prepare(&m, model, rule == 0 ? GBS_INFLUENCE_BOUND : GBS_INFLUENCE_EXACT) &&
                m.c->n > 0) {
                check_model(&m, &seed, &t);
            }
            release(&m);
        }
        print_message("%u of %u bounds below 1, mean exact / bound %.3f\n", t.n_telling, t.n,
                      t.ratio / t.n_telling);
        assert_true(t.n > test_share(20000, 3000) && t.n_telling > t.n / 4 &&
                    t.ratio / t.n_telling > 0.2);
    }
}

/* ---- closed form, norms -------------------------------------------------------------------- */

/* The closed form agrees with a product of single updates, for T up to many passes and in any order
 * of T. */
static void closed_form_is_the_product(void **unused)
{
    (void)unused;
    uint64_t seed = 4;
    for (unsigned k = 0; k < 100; ++k) {
        made m;
        double x[8];
        double y[8];
        double direct[1001];
        assert_true(prepare(&m, weak_model(&seed), GBS_INFLUENCE_EXACT));
        const gbsi_influences *c = m.c;
        gbsi_variation_begin(c, x);
        for (unsigned t = 0; t <= 1000; ++t) {
            direct[t] = gbsi_weigh(NULL, x, c->n);
            for (uint32_t i = 0; i < c->n; ++i) {
                double sum = 0.0;
                for (uint32_t j = 0; j < c->n; ++j) {
                    sum += entry(c, i, j, c->on) * x[j];
                }
                y[i] = x[i] + (sum - x[i]) / c->n;
            }
            memcpy(x, y, sizeof x);
        }
        static const unsigned at[] = {0, 1, 1000, 2, 3, 17, 999, 100};
        const double *const target[1] = {NULL};
        gbsi_uniform *u = NULL;
        assert_int_equal(gbsi_uniform_new(c, 1, target, NULL, &u, NULL), GBS_OK);
        for (unsigned q = 0; q < sizeof at / sizeof *at; ++q) {
            double value = -1.0;
            assert_int_equal(gbsi_uniform_at(u, at[q], &value, NULL), GBS_OK);
            assert_true(fabs(value - direct[at[q]]) <= 1e-10 * direct[at[q]] + 1e-290);
        }
        gbsi_uniform_free(u);
        release(&m);
    }
}

/* The intervals contain the results of long power iterations of (C + I), and agree with each other.
 */
static void norms_hold_the_numbers(void **unused)
{
    (void)unused;
    uint64_t seed = 6;
    unsigned n_tight = 0;
    for (unsigned k = 0; k < 300; ++k) {
        made m;
        uint32_t component[8];
        uint32_t n_components = 0;
        gbsi_norms norms;
        double x[8];
        double y[8];
        double rate = 0.0;
        if (!prepare(&m, k % 2 == 0 ? weak_model(&seed) : random_model(&seed, 0),
                     GBS_INFLUENCE_BOUND)) {
            release(&m);
            continue;
        }
        assert_int_equal(gbsi_graph_components(m.graph, component, &n_components, NULL), GBS_OK);
        assert_int_equal(gbsi_matrix_norms(m.c, component, n_components, NULL, &norms, NULL),
                         GBS_OK);
        gbsi_variation_begin(m.c, x);
        for (unsigned t = 0; t < 3000; ++t) {
            double most = 0.0;
            for (uint32_t i = 0; i < m.c->n; ++i) {
                y[i] = x[i];
                for (uint32_t j = 0; j < m.c->n; ++j) {
                    y[i] += entry(m.c, i, j, m.c->on) * x[j];
                }
                most = y[i] > most ? y[i] : most;
            }
            for (uint32_t i = 0; i < m.c->n; ++i) {
                x[i] = y[i] / most;
            }
            rate = most;
        }
        const double radius = m.c->n == 0 ? 0.0 : rate - 1.0;
        assert_true(norms.radius.lo <= radius + 1e-9 && radius <= norms.radius.hi + 1e-9);
        assert_true(norms.radius.lo <= norms.radius.hi && norms.two.lo <= norms.two.hi);
        double row_sum = 0.0;
        double mean = 0.0;
        gbsi_matrix_sums(m.c, &row_sum, &mean);
        assert_true(norms.radius.lo <= norms.two.hi && norms.radius.lo <= row_sum + 1e-12);
        assert_true(mean <= row_sum + 1e-12);
        n_tight += norms.radius.hi - norms.radius.lo < 1e-5;
        release(&m);
    }
    assert_true(n_tight > 250);
}

/* The torus of Mitliagkas & Mackey: all norms are its row sum, 4 tanh J; less by enumeration, since
 * three spins never add up to 0, 2 tanh 2J. */
static void norms_of_a_torus(void **unused)
{
    (void)unused;
    const gbs_generate_ising_options torus = {.side = {6, 6, 1}, .torus = 1, .coupling = 0.25};
    const double expected[2] = {4.0 * gbsi_tanh(0.25), 2.0 * gbsi_tanh(0.5)};
    for (unsigned k = 0; k < 2; ++k) {
        gbs_model *model = NULL;
        made m;
        uint32_t component[36];
        uint32_t n_components = 0;
        gbsi_norms norms;
        const double sum = expected[k];
        assert_int_equal(gbs_generate_ising(&torus, &model, NULL), GBS_OK);
        assert_true(prepare(&m, model, k == 0 ? GBS_INFLUENCE_BOUND : GBS_INFLUENCE_EXACT));
        assert_int_equal(gbsi_graph_components(m.graph, component, &n_components, NULL), GBS_OK);
        assert_int_equal(gbsi_matrix_norms(m.c, component, n_components, NULL, &norms, NULL),
                         GBS_OK);
        double row_sum = 0.0;
        double mean = 0.0;
        gbsi_matrix_sums(m.c, &row_sum, &mean);
        assert_true(fabs(row_sum - sum) < 1e-13 && fabs(mean - sum) < 1e-13);
        assert_true(norms.radius.lo <= sum && sum <= norms.radius.hi);
        assert_true(norms.radius.hi - norms.radius.lo < 1e-10);
        assert_true(norms.two.lo <= sum && sum <= norms.two.hi);
        assert_true(norms.two.hi - norms.two.lo < 1e-10);
        release(&m);
    }
}

/* A star: influences on the hub are one block of C, those on the leaves the other, and the 2-norm
 * is the larger of the lengths of two vectors. */
static void norms_of_a_star(void **unused)
{
    (void)unused;
    enum { LEAVES = 4 };
    const uint32_t arity[LEAVES + 1] = {2, 2, 2, 2, 2};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    made m;
    uint32_t component[LEAVES + 1];
    uint32_t n_components = 0;
    gbsi_norms norms;
    double on_hub = 0.0;
    double on_leaves = 0.0;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, LEAVES + 1, arity, NULL, NULL), GBS_OK);
    for (uint32_t leaf = 1; leaf <= LEAVES; ++leaf) { /* strong fields fix the leaves */
        assert_int_equal(gbs_builder_add_ising(b, 0, leaf, 0.3, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_field(b, leaf, 2.0, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    assert_true(prepare(&m, model, GBS_INFLUENCE_EXACT));
    for (uint32_t leaf = 1; leaf <= LEAVES; ++leaf) {
        on_hub += entry(m.c, 0, leaf, m.c->on) * entry(m.c, 0, leaf, m.c->on);
        on_leaves += entry(m.c, leaf, 0, m.c->on) * entry(m.c, leaf, 0, m.c->on);
    }
    assert_true(on_hub > 4.0 * on_leaves);
    assert_int_equal(gbsi_graph_components(m.graph, component, &n_components, NULL), GBS_OK);
    assert_int_equal(gbsi_matrix_norms(m.c, component, n_components, NULL, &norms, NULL), GBS_OK);
    assert_true(norms.two.lo <= sqrt(on_hub) && sqrt(on_hub) <= norms.two.hi);
    assert_true(norms.two.hi - norms.two.lo < 1e-6);
    release(&m);
}

static void failing_requests(void **unused)
{
    (void)unused;
    uint64_t seed = 9;
    made m;
    assert_true(prepare(&m, weak_model(&seed), GBS_INFLUENCE_BOUND));
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t allowed = 0;
    for (; status != GBS_OK; ++allowed) {
        gbsi_influences *c = NULL;
        gbsi_uniform *u = NULL;
        uint32_t component[8] = {0};
        gbsi_norms norms;
        double value = 0.0;
        const double *const target[1] = {NULL};
        gbs_error err = {GBS_OK, ""};
        gbsi_alloc_fail_after(allowed);
        status = gbsi_influences_new(m.graph, GBS_INFLUENCE_EXACT, UINT64_MAX, NULL, &c, &err);
        if (status == GBS_OK) {
            status = gbsi_matrix_norms(c, component, 1, NULL, &norms, &err);
        }
        if (status == GBS_OK) {
            status = gbsi_uniform_new(c, 1, target, NULL, &u, &err);
        }
        if (status == GBS_OK) {
            status = gbsi_uniform_at(u, 30, &value, &err);
        }
        gbsi_alloc_fail_after(UINT64_MAX);
        gbsi_uniform_free(u);
        gbsi_influences_free(c);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        assert_int_equal(err.status, status);
    }
    assert_true(allowed > 10);
    release(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrix_is_the_influences),   cmocka_unit_test(given_matrix_is_the_matrix),
        cmocka_unit_test(large_rows_are_refused),     cmocka_unit_test(never_below_the_worst_start),
        cmocka_unit_test(closed_form_is_the_product), cmocka_unit_test(norms_hold_the_numbers),
        cmocka_unit_test(norms_of_a_torus),           cmocka_unit_test(norms_of_a_star),
        cmocka_unit_test(failing_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
