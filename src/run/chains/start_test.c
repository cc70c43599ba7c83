/* SPDX-License-Identifier: Apache-2.0 */
#include "chains/start.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
/* cmocka needs the four headers above */
#include <cmocka.h>

#include "base/memory.h"
#include "chains/repair_internal.h"
#include "rng/philox.h"

static gbs_builder *builder_of(uint32_t n, uint32_t arity)
{
    gbs_builder *b = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < n; ++v) {
        assert_int_equal(gbs_builder_add_variables(b, 1, &arity, NULL, NULL), GBS_OK);
    }
    return b;
}

static uint32_t add_table(gbs_builder *b, size_t n, const double *p)
{
    double logw[64];
    uint32_t table = 0;
    for (size_t i = 0; i < n; ++i) {
        logw[i] = log(p[i]);
    }
    assert_int_equal(gbs_builder_add_table(b, n, logw, &table, NULL), GBS_OK);
    return table;
}

static void add_factor(gbs_builder *b, uint32_t n, const uint32_t *scope, uint32_t table)
{
    assert_int_equal(gbs_builder_add_table_factor(b, n, scope, table, NULL), GBS_OK);
}

/* A model given evidence, and its starter. */
typedef struct fixture {
    gbs_model *model;
    gbs_evidence *evidence;
    gbsi_conditioned *conditioned;
    gbsi_starter *starter;
    uint32_t *x;
} fixture;

static fixture begin(gbs_builder *b, uint32_t n_observed, const uint32_t *observed, uint64_t seed)
{
    fixture f = {0};
    gbs_error err = {0};
    assert_int_equal(gbs_builder_build(b, &f.model, &err), GBS_OK);
    gbs_builder_free(b);
    assert_int_equal(gbs_evidence_new(f.model, &f.evidence, &err), GBS_OK);
    for (uint32_t i = 0; i < n_observed; ++i) {
        assert_int_equal(
            gbs_evidence_observe(f.evidence, observed[2 * i], observed[2 * i + 1], &err), GBS_OK);
    }
    assert_int_equal(gbsi_condition(f.model, f.evidence, &f.conditioned, &err), GBS_OK);
    assert_int_equal(gbsi_starter_new(f.conditioned, seed, NULL, &f.starter, &err), GBS_OK);
    f.x = gbsi_alloc_array(f.conditioned->n_variables, sizeof *f.x);
    return f;
}

static void end(fixture *f)
{
    gbsi_free(f->x);
    gbsi_starter_free(f->starter);
    gbsi_conditioned_free(f->conditioned);
    gbs_evidence_free(f->evidence);
    gbs_model_free(f->model);
}

static void draw(fixture *f, uint32_t chain)
{
    gbs_error err = {0};
    if (gbsi_starter_draw(f->starter, chain, 0, f->x, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    assert_true(gbsi_conditioned_log_density(f->conditioned, f->x) > -INFINITY);
}

/* Checks that each of 32 chains has a start of positive weight, that drawing again gives an equal
 * start, and that at least n_different starts differ from all earlier starts. */
static void check_starts(fixture *f, uint32_t n_different)
{
    enum { N_CHAINS = 32 };
    const uint32_t n = f->conditioned->n_variables;
    uint32_t *seen = gbsi_alloc_array((size_t)n * N_CHAINS, sizeof *seen);
    uint32_t different = 0;
    for (uint32_t chain = 0; chain < N_CHAINS; ++chain) {
        bool is_new = true;
        draw(f, chain);
        memcpy(&seen[(size_t)chain * n], f->x, n * sizeof *f->x);
        for (uint32_t before = 0; before < chain; ++before) {
            is_new = is_new && memcmp(&seen[(size_t)before * n], f->x, n * sizeof *f->x) != 0;
        }
        different += is_new;
    }
    for (uint32_t chain = N_CHAINS; chain-- > 0;) {
        draw(f, chain);
        assert_memory_equal(&seen[(size_t)chain * n], f->x, n * sizeof *f->x);
    }
    if (different < n_different) {
        fail_msg("only %u different starts", (unsigned)different);
    }
    gbsi_free(seen);
}

/* ---- laws of the starts that need no repair -------------------------------------------------- */

/* The chi-square statistic of counts against probabilities. */
static double chi_square(const uint32_t *count, const double *p, uint32_t n, uint32_t total)
{
    double sum = 0.0;
    for (uint32_t i = 0; i < n; ++i) {
        sum += (count[i] - p[i] * total) * (count[i] - p[i] * total) / (p[i] * total);
    }
    return sum;
}

static void test_uniform(void **state)
{
    (void)state;
    enum { N = 20000 };
    const uint32_t arity[2] = {2, 5};
    const uint32_t scope[2] = {0, 1};
    const double p[10] = {9, 1, 1, 1, 1, 1, 1, 1, 1, 9};
    gbs_builder *b = builder_of(0, 1);
    assert_int_equal(gbs_builder_add_variables(b, 2, arity, NULL, NULL), GBS_OK);
    add_factor(b, 2, scope, add_table(b, 10, p));
    fixture f = begin(b, 0, NULL, 11);
    uint32_t count[10] = {0};
    double equal[10];
    for (uint32_t i = 0; i < N; ++i) {
        draw(&f, i);
        ++count[f.x[0] * 5 + f.x[1]];
    }
    for (uint32_t i = 0; i < 10; ++i) {
        equal[i] = 0.1;
    }
    /* 9 degrees of freedom: above 33.7 for one seed in 10^4 */
    assert_true(chi_square(count, equal, 10, N) < 33.7);
    end(&f);
}

/* A network cloudy -> rain (3 states), and wet, a deterministic child of both; children are
 * declared first. */
static gbs_builder *small_network(void)
{
    const uint32_t arity[3] = {2, 3, 2};
    const uint32_t wet[3] = {1, 2, 0};
    const uint32_t rain[2] = {2, 1};
    const uint32_t cloudy[1] = {2};
    const double p_cloudy[2] = {0.3, 0.7};
    const double p_rain[6] = {0.8, 0.15, 0.05, 0.2, 0.3, 0.5};
    const double p_wet[12] = {1, 0, 0.5, 0.5, 0.5, 0.5, 0, 1, 0.25, 0.75, 0, 1};
    gbs_builder *b = builder_of(0, 1);
    assert_int_equal(gbs_builder_add_variables(b, 3, arity, NULL, NULL), GBS_OK);
    gbs_builder_set_directed(b);
    add_factor(b, 3, wet, add_table(b, 12, p_wet));
    add_factor(b, 2, rain, add_table(b, 6, p_rain));
    add_factor(b, 1, cloudy, add_table(b, 2, p_cloudy));
    return b;
}

static void test_forward(void **state)
{
    (void)state;
    enum { N = 20000 };
    fixture f = begin(small_network(), 0, NULL, 5);
    uint32_t count[12] = {0};
    double p[12];
    for (uint32_t i = 0; i < N; ++i) {
        draw(&f, i);
        ++count[(f.x[0] * 3 + f.x[1]) * 2 + f.x[2]];
    }
    uint32_t n_possible = 0;
    uint32_t possible[12];
    for (uint32_t i = 0; i < 12; ++i) {
        const uint32_t x[3] = {i / 6, i / 2 % 3, i % 2};
        const double density = exp(gbs_model_log_density(f.model, x));
        if (density > 0.0) {
            p[n_possible] = density;
            possible[n_possible++] = count[i];
        } else {
            assert_int_equal(count[i], 0);
        }
    }
    /* 8 degrees of freedom: above 31.8 for one seed in 10^4 */
    assert_int_equal(n_possible, 9);
    assert_true(chi_square(possible, p, n_possible, N) < 31.8);
    end(&f);
}

/* ---- repairs --------------------------------------------------------------------------------- */

/* A small random generator for the models; a call makes four words. */
static uint32_t pick(uint32_t stream, uint32_t *at, uint32_t n)
{
    uint32_t word[4];
    gbsi_philox(77, stream, 0, (*at)++, GBSI_PURPOSE_TEST, word);
    return gbsi_below(word[0], word[1], n);
}

/* A random graph with a planted 3-colouring, on variables 0 .. n-1. */
static gbs_builder *coloring(uint32_t n, uint32_t n_edges)
{
    const double differ[9] = {0, 1, 1, 1, 0, 1, 1, 1, 0};
    gbs_builder *b = builder_of(n, 3);
    const uint32_t table = add_table(b, 9, differ);
    uint32_t at = 0;
    for (uint32_t e = 0; e < n_edges;) {
        const uint32_t scope[2] = {pick(1, &at, n), pick(1, &at, n)};
        if (scope[0] % 3 != scope[1] % 3) {
            add_factor(b, 2, scope, table);
            ++e;
        }
    }
    return b;
}

static void test_coloring(void **state)
{
    (void)state;
    fixture f = begin(coloring(60, 120), 0, NULL, 1);
    check_starts(&f, 32);
    end(&f);
}

static void test_coloring_hard(void **state)
{
    (void)state;
    /* 2.3 edges per vertex, at which random instances are hardest */
    fixture f = begin(coloring(90, 207), 0, NULL, 1);
    check_starts(&f, 6);
    end(&f);
}

static void test_latin_square(void **state)
{
    (void)state;
    gbs_builder *b = builder_of(25, 5);
    for (uint32_t i = 0; i < 25; ++i) {
        for (uint32_t j = i + 1; j < 25; ++j) {
            if (i / 5 == j / 5 || i % 5 == j % 5) {
                assert_int_equal(gbs_builder_add_potts(b, i, j, -INFINITY, NULL), GBS_OK);
            }
        }
    }
    fixture f = begin(b, 0, NULL, 3);
    check_starts(&f, 30);
    end(&f);
}

static void test_parity(void **state)
{
    (void)state;
    const double odd[8] = {0, 1, 1, 0, 1, 0, 0, 1};
    const double even[8] = {1, 0, 0, 1, 0, 1, 1, 0};
    gbs_builder *b = builder_of(30, 2);
    const uint32_t table[2] = {add_table(b, 8, even), add_table(b, 8, odd)};
    uint32_t at = 0;
    uint32_t planted[30];
    for (uint32_t v = 0; v < 30; ++v) {
        planted[v] = pick(2, &at, 2);
    }
    for (uint32_t c = 0; c < 24;) {
        const uint32_t s[3] = {pick(2, &at, 30), pick(2, &at, 30), pick(2, &at, 30)};
        if (s[0] != s[1] && s[1] != s[2] && s[0] != s[2]) {
            add_factor(b, 3, s, table[planted[s[0]] ^ planted[s[1]] ^ planted[s[2]]]);
            ++c;
        }
    }
    fixture f = begin(b, 0, NULL, 9);
    check_starts(&f, 8);
    end(&f);
}

/* Genotypes aa, aA, AA in a pedigree in which each couple has two children. Both children of every
 * third couple are observed, to be aa and AA; their parents must both be aA. */
static void test_pedigree(void **state)
{
    (void)state;
    enum { N_COUPLES = 20 };
    const double founder[3] = {0.49, 0.42, 0.09};
    const double passed_on[3] = {0.0, 0.5, 1.0};
    double child[27];
    for (uint32_t i = 0; i < 27; ++i) {
        const double mother = passed_on[i / 9];
        const double father = passed_on[i / 3 % 3];
        const double p[3] = {(1 - mother) * (1 - father),
                             mother * (1 - father) + father * (1 - mother), mother * father};
        child[i] = p[i % 3];
    }
    gbs_builder *b = builder_of(4 * N_COUPLES, 3);
    gbs_builder_set_directed(b);
    const uint32_t t_founder = add_table(b, 3, founder);
    const uint32_t t_child = add_table(b, 27, child);
    uint32_t observed[4 * N_COUPLES];
    uint32_t n_observed = 0;
    for (uint32_t c = 0; c < N_COUPLES; ++c) {
        for (uint32_t i = 0; i < 2; ++i) {
            const uint32_t parent[1] = {4 * c + i};
            const uint32_t family[3] = {4 * c, 4 * c + 1, 4 * c + 2 + i};
            /* the mother of each couple is a child of the couple before */
            const uint32_t in_law[3] = {4 * c - 4, 4 * c - 3, 4 * c};
            if (c > 0 && i == 0) {
                add_factor(b, 3, in_law, t_child);
            } else {
                add_factor(b, 1, parent, t_founder);
            }
            add_factor(b, 3, family, t_child);
        }
        if (c % 3 == 2) {
            observed[2 * n_observed] = 4 * c + 2;
            observed[2 * n_observed++ + 1] = 0;
            observed[2 * n_observed] = 4 * c + 3;
            observed[2 * n_observed++ + 1] = 2;
        } else if (c % 3 == 0) {
            observed[2 * n_observed] = 4 * c + 2;
            observed[2 * n_observed++ + 1] = c % 2 * 2;
        }
    }
    fixture f = begin(b, n_observed, observed, 21);
    check_starts(&f, 32);
    end(&f);
}

static void test_hard_clauses(void **state)
{
    (void)state;
    gbs_builder *b = builder_of(40, 2);
    uint32_t at = 0;
    for (uint32_t c = 0; c < 140;) {
        const uint32_t s[3] = {pick(3, &at, 40), pick(3, &at, 40), pick(3, &at, 40)};
        /* a clause that the state of all ones satisfies */
        const uint32_t literal[3] = {1, pick(3, &at, 2), pick(3, &at, 2)};
        if (s[0] != s[1] && s[1] != s[2] && s[0] != s[2]) {
            assert_int_equal(
                gbs_builder_add_logical(b, GBS_LOGICAL_CLAUSE, 3, s, literal, INFINITY, NULL),
                GBS_OK);
            ++c;
        }
    }
    fixture f = begin(b, 0, NULL, 2);
    check_starts(&f, 24);
    end(&f);
}

/* Repair does not change variables that are in no violated factor. */
static void test_others_stay(void **state)
{
    (void)state;
    const double differ[4] = {0, 1, 1, 0};
    const uint32_t pair[2] = {1, 2};
    gbs_builder *b = builder_of(4, 2);
    add_factor(b, 2, pair, add_table(b, 4, differ));
    fixture f = begin(b, 0, NULL, 8);
    uint32_t n_kept = 0;
    for (uint32_t chain = 0; chain < 64; ++chain) {
        uint32_t sampled[4];
        draw(&f, chain);
        for (uint32_t v = 0; v < 4; ++v) {
            uint32_t word[4];
            gbsi_philox(8, chain, 0, v, GBSI_PURPOSE_START, word);
            sampled[v] = gbsi_below(word[0], word[1], 2);
        }
        assert_int_equal(f.x[0], sampled[0]);
        assert_int_equal(f.x[3], sampled[3]);
        if (sampled[1] != sampled[2]) {
            assert_int_equal(f.x[1], sampled[1]);
            assert_int_equal(f.x[2], sampled[2]);
            ++n_kept;
        }
    }
    assert_in_range(n_kept, 16, 48);
    end(&f);
}

static void test_walk(void **state)
{
    (void)state;
    fixture f = begin(coloring(60, 100), 0, NULL, 1);
    gbsi_repair *r = NULL;
    gbsi_repair_words words = {.seed = 1, .chain = 0, .attempt = 60};
    uint64_t n_repairs = 0;
    size_t factor[1];
    assert_int_equal(gbsi_repair_new(f.conditioned, 1, NULL, &r, NULL), GBS_OK);
    for (uint32_t c = 0; c < gbsi_repair_n_components(r); ++c) {
        memset(f.x, 0, f.conditioned->n_variables * sizeof *f.x);
        assert_int_equal(gbsi_repair_violated(r, c, f.x, factor, 1), 1);
        assert_int_equal(gbsi_repair_walk(r, &words, c, 10000000, f.x, &n_repairs), GBSI_REPAIRED);
        assert_int_equal(gbsi_repair_violated(r, c, f.x, factor, 1), 0);
    }
    assert_true(n_repairs >= 30);
    gbsi_repair_free(r);
    end(&f);
}

static bool stop_at_third(void *context)
{
    const gbsi_watch *watch = context;
    return watch->n_looks >= 3;
}

/* The search for a colouring that is hard to find ends at the look at which the watch stops it. */
static void test_search_stops(void **state)
{
    (void)state;
    fixture f = begin(coloring(2000, 4600), 0, NULL, 1);
    gbsi_watch watch = {.look = stop_at_third, .context = &watch};
    gbsi_starter_free(f.starter);
    assert_int_equal(gbsi_starter_new(f.conditioned, 1, &watch, &f.starter, NULL), GBS_OK);
    assert_int_equal(gbsi_starter_draw(f.starter, 0, 0, f.x, NULL), GBS_STOPPED);
    assert_int_equal(watch.n_looks, 3);
    assert_true(watch.longest < GBSI_WATCH_EVERY + 2048);
    end(&f);
}

/* The first propagation, which serves all starts, also ends when the watch stops; no start is drawn
 * then. */
static void test_first_propagation_stops(void **state)
{
    (void)state;
    fixture f = begin(coloring(50000, 150000), 0, NULL, 1);
    gbsi_watch watch = {.look = stop_at_third, .context = &watch};
    gbsi_starter_free(f.starter);
    assert_int_equal(gbsi_starter_new(f.conditioned, 1, &watch, &f.starter, NULL), GBS_OK);
    assert_int_equal(watch.n_looks, 3);
    assert_int_equal(gbsi_starter_draw(f.starter, 0, 0, f.x, NULL), GBS_STOPPED);
    end(&f);
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Three variables with two states each that must all differ: arc consistent, but impossible. */
static void test_impossible(void **state)
{
    (void)state;
    const double differ[4] = {0, 1, 1, 0};
    gbs_error err = {0};
    gbs_builder *b = builder_of(3, 2);
    const uint32_t table = add_table(b, 4, differ);
    const char *const name[3] = {"a", "b", "c"};
    for (uint32_t i = 0; i < 3; ++i) {
        const uint32_t pair[2] = {i, (i + 1) % 3};
        add_factor(b, 2, pair, table);
        assert_int_equal(gbs_builder_name_variable(b, i, name[i], NULL), GBS_OK);
    }
    fixture f = begin(b, 0, NULL, 1);
    assert_int_equal(gbsi_starter_draw(f.starter, 0, 0, f.x, &err), GBS_ERR_IMPOSSIBLE);
    assert_string_equal(err.message,
                        "no state found, and none exists: 3 factors contradict one another, and "
                        "each of them is needed for the contradiction: factor 0 (a, b), factor 1 "
                        "(b, c), factor 2 (c, a)");
    end(&f);
}

/* A pigeonhole problem: the search with learnt clauses proves that no state exists, and that
 * without any one of the 21 factors a state exists. */
static void test_pigeonhole(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_builder *b = builder_of(7, 6);
    for (uint32_t i = 0; i < 7; ++i) {
        for (uint32_t j = 0; j < i; ++j) {
            assert_int_equal(gbs_builder_add_potts(b, i, j, -INFINITY, NULL), GBS_OK);
        }
    }
    fixture f = begin(b, 0, NULL, 1);
    assert_int_equal(gbsi_starter_draw(f.starter, 0, 0, f.x, &err), GBS_ERR_IMPOSSIBLE);
    assert_non_null(
        strstr(err.message, "none exists: 21 factors contradict one another, and each "));
    assert_non_null(strstr(err.message, ", ..."));
    end(&f);
}

static void test_no_variables(void **state)
{
    (void)state;
    const uint32_t observed[2] = {0, 1};
    fixture f = begin(builder_of(1, 2), 1, observed, 1);
    assert_int_equal(f.conditioned->n_variables, 0);
    draw(&f, 0);
    end(&f);
}

static void test_large_arity(void **state)
{
    (void)state;
    gbs_builder *b = builder_of(2, GBS_MAX_ARITY);
    assert_int_equal(gbs_builder_add_potts(b, 0, 1, -INFINITY, NULL), GBS_OK);
    fixture f = begin(b, 0, NULL, 1);
    check_starts(&f, 32);
    end(&f);
}

static void test_out_of_memory(void **state)
{
    (void)state;
    fixture f = begin(coloring(12, 14), 0, NULL, 1);
    gbs_status status = GBS_ERR_MEMORY;
    uint64_t n = 0;
    for (; status == GBS_ERR_MEMORY; ++n) {
        gbs_error err = {0};
        gbsi_starter *starter = NULL;
        gbsi_alloc_fail_after(n);
        status = gbsi_starter_new(f.conditioned, 1, NULL, &starter, &err);
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true((status == GBS_OK) == (starter != NULL));
        assert_true((status == GBS_OK) == (err.message[0] == '\0'));
        gbsi_starter_free(starter);
    }
    assert_int_equal(status, GBS_OK);
    assert_true(n > 10);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uniform),       cmocka_unit_test(test_forward),
        cmocka_unit_test(test_coloring),      cmocka_unit_test(test_coloring_hard),
        cmocka_unit_test(test_latin_square),  cmocka_unit_test(test_parity),
        cmocka_unit_test(test_pedigree),      cmocka_unit_test(test_hard_clauses),
        cmocka_unit_test(test_others_stay),   cmocka_unit_test(test_walk),
        cmocka_unit_test(test_search_stops),  cmocka_unit_test(test_first_propagation_stops),
        cmocka_unit_test(test_impossible),    cmocka_unit_test(test_pigeonhole),
        cmocka_unit_test(test_no_variables),  cmocka_unit_test(test_large_arity),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
