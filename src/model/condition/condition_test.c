/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/random_models.h"

#include <string.h>

#include "base/memory.h"
#include "condition/condition.h"
#include "condition/propagate.h"

static gbs_evidence *random_evidence(uint64_t *seed, const gbs_model *m)
{
    gbs_evidence *e = NULL;
    double likelihood[8];
    assert_int_equal(gbs_evidence_new(m, &e, NULL), GBS_OK);
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        const uint32_t choice = random_below(seed, 8);
        if (choice < 2) {
            assert_int_equal(gbs_evidence_observe(e, v, random_below(seed, m->arity[v]), NULL),
                             GBS_OK);
        } else if (choice == 2) {
            for (uint32_t a = 0; a < m->arity[v]; ++a) {
                likelihood[a] = random_below(seed, 4) / 2.0;
            }
            likelihood[random_below(seed, m->arity[v])] = 0.75;
            assert_int_equal(gbs_evidence_likelihood(e, v, likelihood, NULL), GBS_OK);
        }
    }
    return e;
}

/* Computes the density that the conditioned model must have, from the user's model and the
 * evidence. */
static double expected_density(const gbs_model *m, const gbs_evidence *e, const uint32_t *x)
{
    double sum = gbs_model_log_density(m, x);
    for (uint32_t v = 0; v < m->n_variables; ++v) {
        if (e->state[v] != GBSI_NONE && e->state[v] != x[v]) {
            return -INFINITY;
        }
        sum += e->log_likelihood == NULL ? 0.0 : e->log_likelihood[m->state_offset[v] + x[v]];
    }
    return sum;
}

/* Computes the free states of a user's assignment. @return 0 if the assignment is outside the
 * conditioned model. */
static int to_free(const gbsi_conditioned *c, const uint32_t *x, uint32_t *free)
{
    for (uint32_t v = 0; v < c->model->n_variables; ++v) {
        const uint32_t u = c->free_variable[v];
        if (u == GBSI_NONE) {
            if (c->fixed_state[v] != x[v]) {
                return 0;
            }
            continue;
        }
        assert_int_equal(c->fixed_state[v], GBSI_NONE);
        assert_int_equal(c->user_variable[u], v);
        free[u] = GBSI_NONE;
        for (uint32_t a = 0; a < c->arity[u]; ++a) {
            if (gbsi_conditioned_states(c, u)[a] == x[v]) {
                free[u] = a;
            }
        }
        if (free[u] == GBSI_NONE) {
            return 0;
        }
    }
    return 1;
}

static void check_densities(const gbsi_conditioned *c, const gbs_evidence *e)
{
    const gbs_model *m = c->model;
    uint32_t x[MOST_VARIABLES] = {0};
    uint32_t free[MOST_VARIABLES] = {0};
    do {
        const double expected = expected_density(m, e, x);
        if (!to_free(c, x, free)) {
            assert_true(expected == -INFINITY); /* no possible state is ever removed */
        } else {
            const double got = gbsi_conditioned_log_density(c, free);
            assert_true(got == expected || fabs(got - expected) < 1e-12);
        }
    } while (next_assignment(m->n_variables, m->arity, x));
}

/* Checks that has_zeros is exact, and that every remaining state has a support in every factor
 * with zeros. */
static void check_factors(const gbsi_conditioned *c)
{
    const gbsi_factors *f = &c->factors;
    for (size_t i = 0; i < f->n_factors; ++i) {
        uint32_t x[MOST_VARIABLES] = {0};
        uint8_t supported[MOST_VARIABLES][4] = {{0}};
        int zeros = 0;
        assert_true(f->scope_start[i + 1] > f->scope_start[i]);
        do {
            const int possible = gbsi_factor_value(f, c->arity, i, x) != -INFINITY;
            zeros |= !possible;
            for (uint32_t v = 0; v < c->n_variables; ++v) {
                supported[v][x[v]] |= (uint8_t)possible;
            }
        } while (next_assignment(c->n_variables, c->arity, x));
        const int level = f->kind[i] == GBSI_FACTOR_RISING || f->kind[i] == GBSI_FACTOR_FALLING;
        /* levels: 1 is allowed without a zero */
        assert_true(c->has_zeros[i] == zeros || (level && !zeros));
        assert_int_equal(gbsi_factor_has_zeros(f, i), c->has_zeros[i]);
        for (size_t s = f->scope_start[i]; s < f->scope_start[i + 1]; ++s) {
            assert_true(c->arity[f->scope[s]] >= 2);
            for (uint32_t a = 0; a < c->arity[f->scope[s]]; ++a) {
                assert_true(supported[f->scope[s]][a]);
            }
        }
    }
}

static void check_counts(const gbsi_conditioned *c, const gbs_evidence *e)
{
    uint32_t implied = 0;
    for (uint32_t v = 0; v < c->model->n_variables; ++v) {
        assert_true((c->free_variable[v] == GBSI_NONE) != (c->fixed_state[v] == GBSI_NONE));
        implied += c->fixed_state[v] != GBSI_NONE && e->state[v] == GBSI_NONE;
        assert_true(e->state[v] == GBSI_NONE || c->fixed_state[v] == e->state[v]);
    }
    assert_int_equal(c->n_implied, implied);
    assert_true(gbsi_conditioned_bytes(c) >= sizeof *c);
}

static void check_no_assignment(const gbs_model *m, const gbs_evidence *e)
{
    uint32_t x[MOST_VARIABLES] = {0};
    do {
        assert_true(expected_density(m, e, x) == -INFINITY);
    } while (next_assignment(m->n_variables, m->arity, x));
}

static void check_whole_part(const gbsi_conditioned *c)
{
    uint8_t keep[MOST_VARIABLES];
    uint32_t x[MOST_VARIABLES] = {0};
    gbsi_conditioned *p = NULL;
    memset(keep, 1, sizeof keep);
    assert_int_equal(gbsi_conditioned_part(c, keep, &p, NULL), GBS_OK);
    assert_int_equal(p->n_variables, c->n_variables);
    assert_int_equal(p->factors.n_factors, c->factors.n_factors);
    if (!c->borrows) { /* a borrowed model keeps tables that no factor uses */
        assert_int_equal(p->factors.n_tables, c->factors.n_tables);
        assert_int_equal(gbsi_conditioned_bytes(p), gbsi_conditioned_bytes(c));
    }
    for (size_t f = 0; f < p->factors.n_factors; ++f) {
        assert_true(gbsi_conditioned_origin(p, f) == gbsi_conditioned_origin(c, f));
    }
    assert_memory_equal(p->arity, c->arity, c->n_variables * sizeof *c->arity);
    assert_memory_equal(p->free_variable, c->free_variable,
                        c->model->n_variables * sizeof *c->free_variable);
    do {
        assert_true(gbsi_conditioned_log_density(p, x) == gbsi_conditioned_log_density(c, x));
    } while (next_assignment(c->n_variables, c->arity, x));
    gbsi_conditioned_free(p);
}

/* Checks that the component of variable 0 and the rest together are the whole model. */
static void check_components(const gbsi_conditioned *c)
{
    const gbsi_factors *f = &c->factors;
    uint8_t keep[2][MOST_VARIABLES] = {{1}, {0}};
    gbsi_conditioned *p[2] = {NULL, NULL};
    for (uint32_t round = 0; round < c->n_variables; ++round) {
        for (size_t i = 0; i < f->n_factors; ++i) {
            uint8_t any = 0;
            for (size_t s = f->scope_start[i]; s < f->scope_start[i + 1]; ++s) {
                any |= keep[0][f->scope[s]];
            }
            for (size_t s = f->scope_start[i]; s < f->scope_start[i + 1]; ++s) {
                keep[0][f->scope[s]] = any;
            }
        }
    }
    for (uint32_t v = 0; v < c->n_variables; ++v) {
        keep[1][v] = !keep[0][v];
    }
    for (unsigned k = 0; k < 2; ++k) {
        assert_int_equal(gbsi_conditioned_part(c, keep[k], &p[k], NULL), GBS_OK);
    }
    assert_int_equal(p[0]->n_variables + p[1]->n_variables, c->n_variables);
    uint32_t x[MOST_VARIABLES] = {0};
    do {
        double sum = -c->log_constant;
        for (unsigned k = 0; k < 2; ++k) {
            uint32_t y[MOST_VARIABLES];
            for (uint32_t u = 0; u < p[k]->n_variables; ++u) {
                y[u] = x[c->free_variable[p[k]->user_variable[u]]];
            }
            sum += gbsi_conditioned_log_density(p[k], y);
        }
        const double whole = gbsi_conditioned_log_density(c, x);
        assert_true(sum == whole || fabs(sum - whole) < 1e-12);
    } while (next_assignment(c->n_variables, c->arity, x));
    gbsi_conditioned_free(p[0]);
    gbsi_conditioned_free(p[1]);
}

/* Returns ln of the factors of free variable v of the whole model at x, computed in a model that
 * may be a part of it. */
static double around_weight(const gbsi_conditioned *c, uint32_t v, const uint32_t *x)
{
    double sum = 0.0;
    for (size_t i = 0; i < c->factors.n_factors; ++i) {
        bool has = false;
        for (size_t s = c->factors.scope_start[i]; s < c->factors.scope_start[i + 1]; ++s) {
            has |= c->factors.scope[s] == v;
        }
        sum += has ? gbsi_factor_value(&c->factors, c->arity, i, x) : 0.0;
    }
    return sum;
}

/* Checks that the part around some variables has their factors and no others, with all variables
 * of these factors. */
static void check_around(const gbsi_conditioned *c, uint64_t *seed)
{
    uint8_t visited[MOST_VARIABLES] = {0};
    uint8_t needed[MOST_VARIABLES] = {0};
    size_t n_factors = 0;
    gbsi_conditioned *p = NULL;
    for (uint32_t v = 0; v < c->n_variables; ++v) {
        needed[v] = visited[v] = random_below(seed, 3) == 0;
    }
    for (size_t i = 0; i < c->factors.n_factors; ++i) {
        bool any = false;
        for (size_t s = c->factors.scope_start[i]; s < c->factors.scope_start[i + 1]; ++s) {
            any |= visited[c->factors.scope[s]] != 0;
        }
        n_factors += any;
        for (size_t s = c->factors.scope_start[i]; any && s < c->factors.scope_start[i + 1]; ++s) {
            needed[c->factors.scope[s]] = 1;
        }
    }
    assert_int_equal(gbsi_conditioned_around(c, visited, &p, NULL), GBS_OK);
    assert_int_equal(p->factors.n_factors, n_factors);
    for (uint32_t v = 0; v < c->n_variables; ++v) {
        assert_int_equal(p->free_variable[c->user_variable[v]] != GBSI_NONE, needed[v]);
    }
    uint32_t x[MOST_VARIABLES] = {0};
    do {
        uint32_t y[MOST_VARIABLES];
        for (uint32_t u = 0; u < p->n_variables; ++u) {
            y[u] = x[c->free_variable[p->user_variable[u]]];
        }
        for (uint32_t v = 0; v < c->n_variables; ++v) {
            const uint32_t u = p->free_variable[c->user_variable[v]];
            assert_true(!visited[v] || around_weight(p, u, y) == around_weight(c, v, x));
        }
    } while (next_assignment(c->n_variables, c->arity, x));
    gbsi_conditioned_free(p);
}

/* A model from which nothing is removed is not copied, and gives the same answers as a copy. */
static void test_borrowed(void **unused)
{
    (void)unused;
    uint64_t seed = 4;
    unsigned borrowed = 0;
    for (unsigned round = 0; round < 3000; ++round) {
        gbsi_conditioned *c = NULL;
        gbs_evidence *e = NULL;
        gbs_model *m = random_noisy_model(&seed, 0);
        assert_int_equal(gbs_evidence_new(m, &e, NULL), GBS_OK);
        assert_int_equal(gbsi_condition(m, round % 2 == 0 ? NULL : e, &c, NULL), GBS_OK);
        if (c->borrows) {
            ++borrowed;
            assert_ptr_equal(c->factors.scope, m->factors.scope);
            assert_int_equal(c->n_variables, m->n_variables);
            assert_true(gbsi_conditioned_bytes(c) < gbs_model_bytes(m));
            check_densities(c, e);
            check_factors(c);
            check_counts(c, e);
            check_whole_part(c);
            if (c->n_variables > 0) {
                check_components(c);
                check_around(c, &seed);
            }
        }
        gbsi_conditioned_free(c);
        gbs_evidence_free(e);
        gbs_model_free(m);
    }
    assert_true(borrowed > 200);
}

static void test_random_models(void **unused)
{
    (void)unused;
    uint64_t seed = 1;
    unsigned impossible = 0;
    unsigned free_variables = 0;
    for (unsigned round = 0; round < 6000; ++round) {
        gbsi_conditioned *c = NULL;
        gbs_error err = {0};
        gbs_model *m = random_noisy_model(&seed, round % 3 * 25);
        gbs_evidence *e = random_evidence(&seed, m);
        const gbs_status status = gbsi_condition(m, e, &c, &err);
        if (status == GBS_ERR_IMPOSSIBLE) {
            assert_non_null(strstr(err.message, "has probability zero"));
            check_no_assignment(m, e);
            ++impossible;
        } else {
            assert_int_equal(status, GBS_OK);
            check_densities(c, e);
            check_factors(c);
            check_counts(c, e);
            check_whole_part(c);
            if (c->n_variables > 0) {
                check_components(c);
                check_around(c, &seed);
            }
            free_variables += c->n_variables;
        }
        gbsi_conditioned_free(c);
        gbs_evidence_free(e);
        gbs_model_free(m);
    }
    assert_true(impossible > 200 && impossible < 4000);
    assert_true(free_variables > 4000);
}

/* ---- propagation in a search --------------------------------------------------------------- */

static void copy_domains(const gbsi_propagator *q, uint64_t *word, uint32_t *size)
{
    memcpy(word, q->word, q->of->word_start[q->of->n_variables] * sizeof *word);
    memcpy(size, q->size, q->of->n_variables * sizeof *size);
}

static int same_domains(const gbsi_propagator *q, const uint64_t *word, const uint32_t *size)
{
    return memcmp(word, q->word, q->of->word_start[q->of->n_variables] * sizeof *word) == 0 &&
           memcmp(size, q->size, q->of->n_variables * sizeof *size) == 0;
}

/* Checks that no possible assignment inside the domains `before` is outside the domains
 * afterwards. */
static void check_sound(const gbsi_conditioned *c, const gbsi_propagator *q, const uint64_t *before,
                        int wiped)
{
    uint32_t x[MOST_VARIABLES] = {0};
    do {
        int inside_before = 1;
        int inside = !wiped;
        for (uint32_t v = 0; v < c->n_variables; ++v) {
            inside_before &= (int)(before[v] >> x[v] & 1);
            inside &= gbsi_propagator_has(q, v, x[v]);
        }
        if (inside_before && !inside) {
            assert_true(gbsi_conditioned_log_density(c, x) == -INFINITY);
        }
    } while (next_assignment(c->n_variables, c->arity, x));
}

static void search_some(uint64_t *seed, const gbsi_conditioned *c, gbsi_propagator *q)
{
    uint64_t start[MOST_VARIABLES];
    uint32_t start_size[MOST_VARIABLES];
    copy_domains(q, start, start_size);
    for (unsigned step = 0; step < 6; ++step) {
        uint64_t before[MOST_VARIABLES];
        uint32_t before_size[MOST_VARIABLES];
        copy_domains(q, before, before_size);
        const size_t mark = gbsi_propagator_mark(q);
        const uint32_t v = random_below(seed, c->n_variables);
        const uint32_t a = gbsi_propagator_next(q, v, 0);
        uint64_t narrowed[MOST_VARIABLES];
        uint32_t narrowed_size[MOST_VARIABLES];
        const bool fine = random_below(seed, 2) == 0 ? gbsi_propagator_assign(q, v, a)
                                                     : gbsi_propagator_remove(q, v, a);
        if (!fine) {
            assert_true(same_domains(q, before, before_size));
            continue;
        }
        copy_domains(q, narrowed, narrowed_size);
        const size_t wiped = gbsi_propagator_run(q);
        check_sound(c, q, narrowed, wiped != SIZE_MAX);
        if (wiped != SIZE_MAX || random_below(seed, 3) == 0) {
            gbsi_propagator_undo(q, mark);
            assert_true(same_domains(q, before, before_size));
        } else {
            uint64_t after[MOST_VARIABLES];
            uint32_t after_size[MOST_VARIABLES];
            copy_domains(q, after, after_size);
            gbsi_propagator_queue_all(q); /* the domains were at a fixed point */
            assert_true(gbsi_propagator_run(q) == SIZE_MAX);
            assert_true(same_domains(q, after, after_size));
        }
    }
    gbsi_propagator_undo(q, 0);
    assert_true(same_domains(q, start, start_size));
}

static void test_search(void **unused)
{
    (void)unused;
    uint64_t seed = 2;
    for (unsigned round = 0; round < 3000; ++round) {
        gbsi_conditioned *c = NULL;
        gbsi_propagation *p = NULL;
        gbsi_propagator *q = NULL;
        gbs_model *m = random_noisy_model(&seed, 30);
        if (gbsi_condition(m, NULL, &c, NULL) == GBS_OK && c->n_variables > 0) {
            assert_int_equal(gbsi_propagation_new(&c->factors, c->arity, c->n_variables,
                                                  round % 2 == 0 ? c->has_zeros : NULL, NULL, &p,
                                                  NULL),
                             GBS_OK);
            assert_int_equal(gbsi_propagator_new(p, true, &q, NULL), GBS_OK);
            search_some(&seed, c, q);
        }
        gbsi_propagator_free(q);
        gbsi_propagation_free(p);
        gbsi_conditioned_free(c);
        gbs_model_free(m);
    }
}

static void test_no_memory(void **unused)
{
    (void)unused;
    uint64_t seed = 3;
    for (unsigned round = 0; round < 20; ++round) {
        gbs_model *m = random_noisy_model(&seed, 5);
        gbs_evidence *e = random_evidence(&seed, m);
        uint8_t keep[MOST_VARIABLES];
        memset(keep, 1, sizeof keep);
        for (uint64_t n = 0;; ++n) {
            gbsi_conditioned *c = NULL;
            gbsi_conditioned *p = NULL;
            gbs_error err = {0};
            gbsi_alloc_fail_after(n);
            gbs_status status = gbsi_condition(m, e, &c, &err);
            if (status == GBS_OK) {
                status = gbsi_conditioned_part(c, keep, &p, &err);
            }
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(c != NULL || p == NULL);
            assert_int_equal(err.status, status);
            gbsi_conditioned_free(c);
            gbsi_conditioned_free(p);
            if (status != GBS_ERR_MEMORY) {
                break;
            }
            assert_true(n < 1000);
        }
        gbs_evidence_free(e);
        gbs_model_free(m);
    }
}

static bool stop_at_third(void *context)
{
    const gbsi_watch *watch = context;
    return watch->n_looks >= 3;
}

/* Checks that the watch looks at least three times, at most `most` operations apart, and that
 * the work ends when the watch stops. */
static void check_watched(const gbs_model *m, const gbs_evidence *e, uint32_t n_free, uint64_t most)
{
    gbsi_conditioned *c = NULL;
    gbs_error err = {0};
    gbsi_watch watch = {0};
    assert_int_equal(gbsi_condition_watched(m, e, &watch, &c, NULL), GBS_OK);
    assert_int_equal(c->n_variables, n_free);
    assert_in_range(watch.n_looks, 3, 100);
    assert_true(watch.longest < GBSI_WATCH_EVERY + most);
    gbsi_conditioned_free(c);
    c = NULL;
    watch = (gbsi_watch){.look = stop_at_third, .context = &watch};
    assert_int_equal(gbsi_condition_watched(m, e, &watch, &c, &err), GBS_ERR_STOPPED);
    assert_true(watch.n_looks == 3 && c == NULL);
    assert_non_null(strstr(err.message, "stopped while conditioning"));
}

/* Propagation and the reduction of factors are watched inside. */
static void watched(void **state)
{
    (void)state;
    enum { N = 60000 };
    static const double different[4] = {-INFINITY, 0.0, 0.0, -INFINITY};
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    gbs_evidence *e = NULL;
    uint32_t table = 0;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    uint32_t *arity = malloc(N * sizeof *arity);
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 2;
    }
    assert_int_equal(gbs_builder_add_variables(b, N, arity, NULL, NULL), GBS_OK);
    free(arity);
    assert_int_equal(gbs_builder_add_table(b, 4, different, &table, NULL), GBS_OK);
    for (uint32_t v = 0; v + 1 < N; ++v) {
        const uint32_t scope[2] = {v, v + 1};
        assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, table, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &m, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_new(m, &e, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_observe(e, 0, 1, NULL), GBS_OK);
    check_watched(m, NULL, N, 64); /* work: factors are reduced */
    check_watched(m, e, 0, 64);    /* work: all states are propagated */
    gbs_evidence_free(e);
    gbs_model_free(m);
    gbs_builder_free(b);
}

/* If a variable is observed, the states of the other variables are numbered, with looks of the
 * watch in between. */
static void watched_states(void **state)
{
    (void)state;
    enum { N = 300 };
    uint32_t arity[N];
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    gbs_evidence *e = NULL;
    for (uint32_t v = 0; v < N; ++v) {
        arity[v] = 1000;
    }
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, N, arity, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_builder_build(b, &m, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_new(m, &e, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_observe(e, 0, 1, NULL), GBS_OK);
    check_watched(m, e, N - 1, 1000);
    gbs_evidence_free(e);
    gbs_model_free(m);
    gbs_builder_free(b);
}

/* Number of states of two variables; a third variable has two states. All three are in a table,
 * or the first two in a Potts coupling. */
enum { N_STATES = 450 };

static gbs_model *one_factor(bool potts, double first_entry)
{
    static const uint32_t arity[3] = {N_STATES, N_STATES, 2};
    static const uint32_t scope[3] = {0, 1, 2};
    const size_t n = (size_t)N_STATES * N_STATES * 2;
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    uint32_t table = 0;
    double *entry = calloc(n, sizeof *entry);
    assert_non_null(entry);
    entry[0] = first_entry;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 3, arity, NULL, NULL), GBS_OK);
    if (potts) {
        assert_int_equal(gbs_builder_add_potts(b, 0, 1, 0.5, NULL), GBS_OK);
    } else {
        assert_int_equal(gbs_builder_add_table(b, n, entry, &table, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(b, 3, scope, table, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &m, NULL), GBS_OK);
    gbs_builder_free(b);
    free(entry);
    return m;
}

/* Work on one large table is watched inside, for each way in which the table is processed. */
static void large_tables_are_watched(void **state)
{
    (void)state;
    const uint64_t together = UINT64_C(1) << 12; /* entries between two looks */
    gbs_model *plain = one_factor(false, 0.0);
    gbs_model *zero = one_factor(false, -INFINITY);
    gbs_model *potts = one_factor(true, 0.0);
    gbs_evidence *e = NULL;
    double likelihood[N_STATES] = {0.0}; /* excludes the first state */
    for (uint32_t a = 1; a < N_STATES; ++a) {
        likelihood[a] = 1.0;
    }
    check_watched(plain, NULL, 3, together); /* the table is borrowed */
    check_watched(zero, NULL, 3, together);  /* the table is revised and copied */
    assert_int_equal(gbs_evidence_new(plain, &e, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_observe(e, 2, 1, NULL), GBS_OK);
    check_watched(plain, e, 2, together); /* the table is sliced */
    gbs_evidence_free(e);
    e = NULL;
    assert_int_equal(gbs_evidence_new(potts, &e, NULL), GBS_OK);
    assert_int_equal(gbs_evidence_likelihood(e, 0, likelihood, NULL), GBS_OK);
    check_watched(potts, e, 3, together); /* the coupling becomes a table */
    gbs_evidence_free(e);
    gbs_model_free(plain);
    gbs_model_free(zero);
    gbs_model_free(potts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_models),
        cmocka_unit_test(test_borrowed),
        cmocka_unit_test(test_search),
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(watched),
        cmocka_unit_test(watched_states),
        cmocka_unit_test(large_tables_are_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
