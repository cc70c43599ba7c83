/* SPDX-License-Identifier: Apache-2.0 */
/* Derivatives against enumerations of changed models, on random models of every kind of factor and
 * on random networks with zeros and ones. P(x, e) and P(e) are linear in t, exp(log-weight) and a
 * likelihood, so that two enumerations give their derivatives exactly. */
#include "gibbsite/sensitivity.h"

#include <string.h>

#include "base/memory.h"
#include "generate/random_models.h"
#include "simd/math.h"

enum { MOST_ENTRIES = 4096 };

static uint64_t seed;

static void ok(gbs_status status)
{
    assert_int_equal(status, GBS_OK);
}

/* ---- problems -------------------------------------------------------------------------------- */

typedef struct problem {
    gbs_model *model;
    gbs_evidence *evidence;
    uint32_t variable, state;
} problem;

/* Draws columns of random probabilities. Some entries are 0, and some columns have only one
 * positive entry. */
static void random_columns(bool zeros, uint32_t arity, size_t n, double *p)
{
    for (size_t i = 0; i < n; i += arity) {
        double sum = 0.0;
        const uint32_t alone =
            zeros && random_below(&seed, 6) == 0 ? random_below(&seed, arity) : GBSI_NONE;
        for (uint32_t a = 0; a < arity; ++a) {
            const int zero =
                alone != GBSI_NONE ? a != alone : zeros && a > 0 && random_below(&seed, 5) == 0;
            p[i + a] = zero ? 0.0 : 1.0 + random_below(&seed, 9);
            sum += p[i + a];
        }
        for (uint32_t a = 0; a < arity; ++a) {
            p[i + a] /= sum;
        }
    }
}

typedef enum sort { GRAPH, NETWORK, NOISY_NETWORK } sort;

/* Two parents or more, of any number of states. */
static bool add_noisy(gbs_builder *b, const uint32_t *arity, uint32_t v, bool zeros)
{
    uint32_t scope[MOST_VARIABLES];
    const uint32_t n = random_scope(&seed, v, arity, v, 0, scope);
    if (n < 2 || arity[v] != 2) {
        return false;
    }
    scope[n] = v;
    add_random_noisy(b, &seed, arity, n + 1, scope, zeros ? 10 : 0);
    return true;
}

static gbs_model *random_network(bool zeros, bool noisy)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    double p[256];
    uint32_t arity[5];
    const uint32_t n = 2 + random_below(&seed, 4);
    for (uint32_t v = 0; v < n; ++v) {
        arity[v] = 1 + (random_below(&seed, 5) + 1) / 2; /* 1 seldom */
    }
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, n, arity, NULL, NULL));
    for (uint32_t v = 0; v < n; ++v) {
        uint32_t parent[3] = {0};
        if (noisy && add_noisy(b, arity, v, zeros)) {
            continue;
        }
        const uint32_t n_parents = v == 0 ? 0 : random_scope(&seed, v, arity, 2, 0, parent);
        size_t n_entries = arity[v];
        for (uint32_t k = 0; k < n_parents; ++k) {
            n_entries *= arity[parent[k]];
        }
        random_columns(zeros, arity[v], n_entries, p);
        ok(gbs_builder_add_cpt(b, v, n_parents, parent, n_entries, p, NULL));
    }
    gbs_builder_set_directed(b);
    ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

/* Weak factors of every kind, so that chains of some hundred sweeps mix. */
static gbs_model *weak_model(void)
{
    enum { N = 6 };
    static const gbs_logical_function function[] = {GBS_LOGICAL_IMPLY_NATURAL, GBS_LOGICAL_OR,
                                                    GBS_LOGICAL_LINEAR, GBS_LOGICAL_CLAUSE};
    const uint32_t arity[N] = {2, 2, 2, 2, 3, 3};
    const uint32_t literal[3] = {1, 0, 2};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, N, arity, NULL, NULL));
    for (uint32_t i = 0; i < 8; ++i) {
        const double weight = 0.25 * random_weight(&seed);
        const uint32_t u = random_below(&seed, 4);
        const uint32_t v = (u + 1 + random_below(&seed, 3)) % 4;
        const uint32_t scope[3] = {u, v, 4 + random_below(&seed, 2)};
        double logw[12];
        for (uint32_t k = 0; k < 12; ++k) {
            logw[k] = 0.25 * random_weight(&seed);
        }
        switch (random_below(&seed, 6)) {
        case 0:
            ok(gbs_builder_add_field(b, u, weight, NULL));
            break;
        case 1:
            ok(gbs_builder_add_ising(b, u, v, weight, NULL));
            break;
        case 2:
            ok(gbs_builder_add_potts(b, 4, 5, weight, NULL));
            break;
        case 3:
            ok(gbs_builder_add_spin(b, 2, scope, weight, NULL));
            break;
        case 4:
            ok(gbs_builder_add_logical(b, function[random_below(&seed, 4)], 3, scope, literal,
                                       weight, NULL));
            break;
        default: {
            uint32_t table = 0;
            ok(gbs_builder_add_table(b, 12, logw, &table, NULL));
            ok(gbs_builder_add_table_factor(b, 3, scope, table, NULL));
        }
        }
    }
    ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    return model;
}

/* Makes random evidence of observed states and of likelihoods, some of them 0. */
static gbs_evidence *random_evidence(const gbs_model *model)
{
    gbs_evidence *evidence = NULL;
    ok(gbs_evidence_new(model, &evidence, NULL));
    for (uint32_t v = 0; v < gbs_model_n_variables(model); ++v) {
        const uint32_t arity = gbs_model_arity(model, v);
        double l[5];
        for (uint32_t a = 0; a < arity; ++a) {
            l[a] = 0.25 * random_below(&seed, 5);
        }
        if (random_below(&seed, 4) == 0) {
            ok(gbs_evidence_observe(evidence, v, random_below(&seed, arity), NULL));
        }
        if (random_below(&seed, 4) == 0) { /* refused if it leaves no state */
            const gbs_status status = gbs_evidence_likelihood(evidence, v, l, NULL);
            assert_true(status == GBS_OK || status == GBS_ERR_ARGUMENT);
        }
    }
    return evidence;
}

static problem make_problem(sort what, bool zeros)
{
    const random_size most = {4, 3, 8, 0};
    problem p = {.model = what != GRAPH ? random_network(zeros, what == NOISY_NETWORK)
                          : zeros       ? random_model_of(&seed, most, random_below(&seed, 3) * 10)
                                        : weak_model()};
    p.evidence = random_evidence(p.model);
    p.variable = random_below(&seed, gbs_model_n_variables(p.model));
    p.state = random_below(&seed, gbs_model_arity(p.model, p.variable));
    return p;
}

static void problem_free(problem *p)
{
    gbs_evidence_free(p->evidence);
    gbs_model_free(p->model);
}

/* ---- enumeration ----------------------------------------------------------------------------- */

typedef struct sums {
    double x, e; /* weights of the states with X = x and the evidence, and with the evidence */
} sums;

/* @param factor SIZE_MAX, or a factor by whose value each state is multiplied */
static sums enumerate(const problem *p, size_t factor)
{
    const gbs_model *m = p->model;
    uint32_t x[MOST_VARIABLES] = {0};
    sums s = {0};
    do {
        double log_weight = 0.0;
        bool agrees = true;
        for (size_t f = 0; f < m->factors.n_factors; ++f) {
            log_weight += gbsi_factor_value(&m->factors, m->arity, f, x);
        }
        for (uint32_t v = 0; v < m->n_variables; ++v) {
            const double *l = p->evidence->log_likelihood;
            agrees &= p->evidence->state[v] == GBSI_NONE || p->evidence->state[v] == x[v];
            log_weight += l == NULL ? 0.0 : l[m->state_offset[v] + x[v]];
        }
        double weight = agrees ? exp(log_weight) : 0.0;
        if (factor != SIZE_MAX && weight > 0.0) {
            m->factors.weight[factor] += 1.0; /* the log-weight is linear in it */
            const double more = gbsi_factor_value(&m->factors, m->arity, factor, x);
            m->factors.weight[factor] -= 1.0;
            weight *= more - gbsi_factor_value(&m->factors, m->arity, factor, x);
        }
        s.e += weight;
        s.x += x[p->variable] == p->state ? weight : 0.0;
    } while (next_assignment(m->n_variables, m->arity, x));
    return s;
}

/* ---- parameters ------------------------------------------------------------------------------ */

/* Derivatives of both sums by a parameter. @return false: it has none */
typedef struct expected {
    sums derivative;
    double other;   /* another value of the parameter; NAN: not tested */
    double p_other; /* p for this value */
} expected;

/* Moves one entry of the parameter's table; the other entries of the column change in proportion.
 */
static bool move_entry(const gbs_model *m, size_t f, size_t entry, double *logs, double *t_moved)
{
    const size_t arity = m->arity[m->factors.scope[m->factors.scope_start[f + 1] - 1]];
    const size_t first = entry / arity * arity;
    double rest = 0.0;
    for (size_t i = first; i < first + arity; ++i) {
        rest += i == entry ? 0.0 : exp(logs[i]);
    }
    const double t = exp(logs[entry]);
    const double moved = rest > 0.0 ? 0.25 * rest : -0.25;
    for (size_t i = first; i < first + arity; ++i) {
        const double share = rest > 0.0 ? exp(logs[i]) / rest : 1.0;
        const double now = i == entry ? t + moved : exp(logs[i]) - moved * share;
        logs[i] = now > 0.0 ? log(now) : -INFINITY;
    }
    *t_moved = moved;
    return rest > 0.0 || arity == 2;
}

static double ratio(sums s)
{
    return s.x / s.e;
}

/* Computes derivatives by changes of an array of logarithms of the model or of the evidence. */
static expected change_logs(const problem *p, double *logs, size_t n, const double *changed,
                            double moved)
{
    double before[MOST_ENTRIES];
    expected e = {0};
    const sums now = enumerate(p, SIZE_MAX);
    memcpy(before, logs, n * sizeof *logs);
    memcpy(logs, changed, n * sizeof *logs);
    const sums then = enumerate(p, SIZE_MAX);
    memcpy(logs, before, n * sizeof *logs);
    e.derivative = (sums){.x = (then.x - now.x) / moved, .e = (then.e - now.e) / moved};
    e.p_other = ratio(then);
    return e;
}

static bool expect(const problem *p, const gbs_sensitivities *s, size_t i, expected *e)
{
    gbs_model *m = p->model;
    const gbsi_factors *f = &m->factors;
    double changed[MOST_ENTRIES];
    const bool is_table =
        s->kind[i] != GBS_PARAMETER_LIKELIHOOD && gbsi_has_table(f->kind[s->factor[i]]);
    if (s->kind[i] == GBS_PARAMETER_WEIGHT) {
        if (isinf(s->value[i])) {
            return false;
        }
        changed[0] = s->value[i] + 0.7;
        *e = change_logs(p, f->weight + s->factor[i], 1, changed, 1.0);
        e->derivative = enumerate(p, s->factor[i]);
        e->other = isnan(s->high[i]) ? (double)NAN : changed[0];
        return true;
    }
    double *logs = is_table ? f->table + f->table_start[f->aux[s->factor[i]]]
                            : p->evidence->log_likelihood + m->state_offset[s->of[i]];
    const size_t *start = is_table ? f->table_start + f->aux[s->factor[i]] : NULL;
    const size_t n = is_table ? start[1] - start[0] : m->arity[s->of[i]];
    memcpy(changed, logs, n * sizeof *logs);
    if (s->kind[i] == GBS_PARAMETER_INHIBITION || s->kind[i] == GBS_PARAMETER_LEAK) {
        const double moved = s->value[i] < 0.5 ? 0.25 : -0.25;
        e->other = s->value[i] + moved;
        changed[s->entry[i]] = log(s->kind[i] == GBS_PARAMETER_LEAK ? 1.0 - e->other : e->other);
        const double other = e->other;
        *e = change_logs(p, logs, n, changed, moved);
        e->other = other;
        return true;
    }
    if (s->kind[i] == GBS_PARAMETER_PROBABILITY) {
        double moved = 0.0;
        const bool defined = move_entry(m, s->factor[i], s->entry[i], changed, &moved);
        *e = change_logs(p, logs, n, changed, moved);
        e->other = s->value[i] + moved;
        return defined;
    }
    changed[s->entry[i]] += log(2.0); /* the weight is doubled: the rise is the derivative */
    *e = change_logs(p, logs, n, changed, 1.0);
    e->other = changed[s->entry[i]];
    return is_table ? logs[s->entry[i]] > -INFINITY : true;
}

/* A table that several factors share is changed for all of them by change_logs(). */
static bool is_shared(const gbs_model *m, size_t factor)
{
    size_t n = 0;
    for (size_t f = 0; factor != SIZE_MAX && f < m->factors.n_factors; ++f) {
        n += f != factor && gbsi_has_table(m->factors.kind[f]) &&
             gbsi_has_table(m->factors.kind[factor]) && m->factors.aux[f] == m->factors.aux[factor];
    }
    return n > 0;
}

static void compare(const problem *p, const gbs_sensitivities *s, uint32_t *n_compared)
{
    const sums all = enumerate(p, SIZE_MAX);
    assert_true(fabs(s->p - ratio(all)) < 1e-12);
    for (size_t i = 0; i < s->n_parameters; ++i) {
        expected e = {0};
        if (is_shared(p->model, s->factor[i])) {
            continue;
        }
        if (!expect(p, s, i, &e)) {
            assert_true(isnan(s->derivative[i]));
            assert_true(isnan(gbs_sensitivity_at(s, i, 0.5)));
            continue;
        }
        const double log_p = e.derivative.e / all.e;
        const double derivative = e.derivative.x / all.e - ratio(all) * log_p;
        if (!(fabs(s->derivative[i] - derivative) < 1e-9) || !(fabs(s->log_p[i] - log_p) < 1e-9)) {
            fail_msg("parameter %zu: kind %u, factor %zu, entry %zu, value %g: %.12g and %.12g, "
                     "expected %.12g and %.12g",
                     i, s->kind[i], s->factor[i], s->entry[i], s->value[i], s->derivative[i],
                     s->log_p[i], derivative, log_p);
        }
        if (!isnan(e.other) && !isinf(e.other) && !isnan(e.p_other)) {
            assert_true(fabs(gbs_sensitivity_at(s, i, e.other) - e.p_other) < 1e-9);
            if (fabs(derivative) > 1e-3) { /* and back; a weight of 0 stays one */
                const double value = gbs_sensitivity_value_for(s, i, e.p_other);
                assert_true(fabs(value - e.other) < 1e-6);
            }
        }
        ++*n_compared;
    }
}

static void random_problems(sort what, uint32_t rounds, uint32_t least)
{
    uint32_t n_compared = 0;
    uint32_t n_impossible = 0;
    seed = 5;
    for (uint32_t round = 0; round < rounds; ++round) {
        problem p = make_problem(what, true);
        gbs_sensitivities s = {.size = sizeof s, .n_parameters = 7};
        gbs_error err = {GBS_OK, ""};
        const gbs_status status =
            gbs_sensitivity(p.model, p.evidence, p.variable, p.state, NULL, NULL, &s, &err);
        if (enumerate(&p, SIZE_MAX).e > 0.0) {
            ok(status);
            assert_true(s.exact && s.converged && s.p_mcse == 0.0);
            compare(&p, &s, &n_compared);
        } else {
            assert_int_equal(status, GBS_ERR_IMPOSSIBLE);
            assert_true(s.n_parameters == 7 && s.kind == NULL);
            ++n_impossible;
        }
        gbs_sensitivities_free(&s);
        problem_free(&p);
    }
    if (n_compared < least || n_impossible < rounds / 100) {
        fail_msg("%u parameters compared, %u problems impossible", n_compared, n_impossible);
    }
}

static void networks(void **unused)
{
    (void)unused;
    random_problems(NETWORK, 400, 4000);
    random_problems(NOISY_NETWORK, 300, 4000);
}

static void factor_graphs(void **unused)
{
    (void)unused;
    random_problems(GRAPH, 800, 3000);
}

/* Ising spins in a row, the first one observed: P(spin k is up) = (1 + product of tanh J) / 2 over
 * the k couplings before it. */
static void long_chain(void **unused)
{
    (void)unused;
    enum { N = 10000, K = 9 };
    gbs_builder *b = NULL;
    problem p = {.variable = K, .state = 1};
    gbs_sensitivities s = {.size = sizeof s};
    uint32_t arity[N];
    const double coupling = 1.25;
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 2;
    }
    ok(gbs_builder_new(&b, NULL));
    ok(gbs_builder_add_variables(b, N, arity, NULL, NULL));
    for (uint32_t v = 0; v + 1 < N; ++v) {
        ok(gbs_builder_add_ising(b, v, v + 1, coupling, NULL));
    }
    ok(gbs_builder_build(b, &p.model, NULL));
    gbs_builder_free(b);
    ok(gbs_evidence_new(p.model, &p.evidence, NULL));
    ok(gbs_evidence_observe(p.evidence, 0, 1, NULL));
    ok(gbs_sensitivity(p.model, p.evidence, K, 1, NULL, NULL, &s, NULL));
    const double t = tanh(coupling);
    assert_int_equal(s.n_parameters, N - 1);
    assert_true(fabs(s.p - 0.5 * (1.0 + pow(t, K))) < 1e-12);
    for (size_t i = 0; i < s.n_parameters; ++i) {
        const double derivative = i < K ? 0.5 * pow(t, K - 1) * (1.0 - t * t) : 0.0;
        assert_true(fabs(s.derivative[i] - derivative) < 1e-12);
        assert_true(fabs(s.log_p[i] - t) < 1e-12); /* ln Z = ... + sum of ln cosh J */
        const double other = i < K ? pow(t, K - 1) * tanh(1.0) : pow(t, K);
        assert_true(fabs(gbs_sensitivity_at(&s, i, 1.0) - 0.5 * (1.0 + other)) < 1e-9);
        assert_true(i >= K || fabs(gbs_sensitivity_value_for(&s, i, 0.5)) < 1e-7);
    }
    gbs_sensitivities_free(&s);
    assert_true(s.n_parameters == 0 && isnan(gbs_sensitivity_at(&s, 0, 1.0)));
    problem_free(&p);
}

/* ---- samples --------------------------------------------------------------------------------- */

/* Puts zeros into the first column of one table of a network. */
static void put_zeros(problem *p)
{
    gbsi_factors *f = &p->model->factors;
    const size_t i = random_below(&seed, (uint32_t)f->n_factors);
    const uint32_t arity = p->model->arity[f->scope[f->scope_start[i + 1] - 1]];
    double *logs = f->table + f->table_start[f->aux[i]];
    if (arity > 1 && !is_shared(p->model, i)) {
        const double t = gbsi_exp(logs[0]);
        for (uint32_t a = 1; a < arity; ++a) {
            logs[a] = gbsi_log(gbsi_exp(logs[a]) / (1.0 - t));
        }
        logs[0] = -INFINITY;
    }
}

/* Distances of estimates from exact values, in standard errors. */
typedef struct tally {
    uint32_t n, n_far, n_zeros, n_unknown;
    double squares, squares_of_zeros;
} tally;

static void compare_estimates(const gbs_sensitivities *s, const gbs_sensitivities *exact,
                              bool zeros, uint32_t round, tally *t)
{
    assert_true(!s->exact && s->n_parameters == exact->n_parameters);
    for (size_t i = 0; i < s->n_parameters; ++i) {
        const double off = s->derivative[i] - exact->derivative[i];
        const bool of_cause = s->kind[i] >= GBS_PARAMETER_INHIBITION;
        if (isnan(exact->derivative[i]) || fabs(off) < 1e-12) {
            assert_true(isnan(s->derivative[i]) || s->mcse[i] >= 0.0);
            continue;
        }
        if (isnan(s->derivative[i]) && (zeros || of_cause)) {
            t->n_unknown += of_cause && fabs(exact->derivative[i]) > 0.01;
            continue; /* few draws have the state, or another factor has zeros */
        }
        const double z = fabs(off) / s->mcse[i];
        if (s->value[i] == 0.0 && s->kind[i] == GBS_PARAMETER_PROBABILITY) {
            t->squares_of_zeros += z * z;
            ++t->n_zeros;
        }
        if (!(z < 10.0)) {
            fail_msg("round %u, parameter %zu of kind %u: %g +- %g, expected %g", round, i,
                     s->kind[i], s->derivative[i], s->mcse[i], exact->derivative[i]);
        }
        t->n_far += z > 3.0;
        t->squares += z * z;
        ++t->n;
    }
}

/* Estimates of models without hard zeros among their factors, or with some in one, in standard
 * errors off the exact ones. These have 15 degrees of freedom or more: 1 % of them are more than 3
 * off, and none of these few thousand 10, except for one in 10^4 seeds. The seed is fixed. */
static void sampled_problems(sort what, bool zeros, uint32_t chains)
{
    tally t = {0};
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.chains = chains;
    options.sweeps = 6400 / chains;
    options.threads = 1;
    seed = 7;
    for (uint32_t round = 0; round < (zeros ? 150 : 60); ++round) {
        problem p = make_problem(what, false);
        if (zeros) {
            put_zeros(&p);
        }
        gbs_sensitivities exact = {.size = sizeof exact};
        gbs_sensitivities s = {.size = sizeof s};
        options.seed = round + 1;
        if (gbs_sensitivity(p.model, p.evidence, p.variable, p.state, NULL, NULL, &exact, NULL) !=
            GBS_ERR_IMPOSSIBLE) {
            ok(gbs_sensitivity(p.model, p.evidence, p.variable, p.state, &options, NULL, &s, NULL));
            compare_estimates(&s, &exact, zeros, round, &t);
        }
        gbs_sensitivities_free(&s);
        gbs_sensitivities_free(&exact);
        problem_free(&p);
    }
    if (t.n < 500 || (t.n_zeros > 30) != zeros || t.squares_of_zeros > 2.0 * t.n_zeros ||
        t.n_far > t.n / 30 || t.n_unknown > t.n / 50 || !(t.squares < 1.6 * t.n) ||
        !(t.squares > 0.5 * t.n)) {
        fail_msg("%u compared, %u far off, mean square %g; %u of them zeros, %g; %u unknown", t.n,
                 t.n_far, t.squares / t.n, t.n_zeros, t.squares_of_zeros / t.n_zeros, t.n_unknown);
    }
}

static void sampled_networks(void **unused)
{
    (void)unused;
    sampled_problems(NETWORK, false, 16);
    sampled_problems(NETWORK, false, 3);
    sampled_problems(NETWORK, true, 16);
    sampled_problems(NOISY_NETWORK, false, 16);
}

static void sampled_graphs(void **unused)
{
    (void)unused;
    sampled_problems(GRAPH, false, 16);
}

/* Calls that are refused leave the outputs unchanged. */
static void refusals(void **unused)
{
    (void)unused;
    seed = 3;
    problem p = make_problem(NOISY_NETWORK, true);
    problem q = make_problem(NOISY_NETWORK, true);
    gbs_sensitivities s = {.size = sizeof s, .n_parameters = 7};
    gbs_run_options options = gbs_run_options_default();
    const uint32_t n = gbs_model_n_variables(p.model);
    assert_int_equal(gbs_sensitivity(p.model, NULL, n, 0, NULL, NULL, &s, NULL), GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_sensitivity(p.model, NULL, 0, 9, NULL, NULL, &s, NULL), GBS_ERR_ARGUMENT);
    assert_int_equal(gbs_sensitivity(p.model, q.evidence, 0, 0, NULL, NULL, &s, NULL),
                     GBS_ERR_ARGUMENT);
    options.method = GBS_METHOD_EXACT;
    options.memory_limit = 1;
    assert_true(gbs_sensitivity(p.model, NULL, 0, 0, &options, NULL, &s, NULL) < 0);
    assert_true(s.n_parameters == 7 && s.kind == NULL);
    options = gbs_run_options_default();
    options.sweeps = 4;
    options.threads = 1;
    for (int method = GBS_METHOD_EXACT; method <= GBS_METHOD_SAMPLE; ++method) {
        gbs_status status = GBS_ERR_MEMORY;
        options.method = method;
        for (uint64_t i = 0; status != GBS_OK; ++i) {
            gbsi_alloc_fail_after(i);
            status = gbs_sensitivity(p.model, NULL, 0, 0, &options, NULL, &s, NULL);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && s.n_parameters == 7));
        }
        gbs_sensitivities_free(&s);
        s.n_parameters = 7;
    }
    problem_free(&p);
    problem_free(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(networks),       cmocka_unit_test(factor_graphs),
        cmocka_unit_test(long_chain),     cmocka_unit_test(sampled_networks),
        cmocka_unit_test(sampled_graphs), cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
