/* SPDX-License-Identifier: Apache-2.0 */
/* Compares every pass with updates of one site at a time, on every instruction set. The updates use
 * the uniforms made from the bit planes, and conditionals from the model's factors; sums and visits
 * come from the states. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/test_scale.h"
#include "lattice/lattice.h"
#include "lattice/lattice_testing.h"
#include "lattice/spin_testing.h"
#include "simd/math.h"

enum { SEED = 99, N_PASSES = 5 };

/* ---- one site at a time --------------------------------------------------------------------- */

typedef struct reference {
    const gbsi_conditioned *model;
    const gbsi_lattice *lattice;
    size_t *of_start, *of; /* factors of each variable */
    uint32_t *x;
} reference;

static void list_factors(reference *r)
{
    const gbsi_factors *f = &r->model->factors;
    const uint32_t n = r->model->n_variables;
    r->of_start = calloc(n + 2, sizeof *r->of_start);
    r->of = calloc(f->scope_start[f->n_factors] + 1, sizeof *r->of);
    r->x = calloc(n, sizeof *r->x);
    assert_true(r->of_start != NULL && r->of != NULL && r->x != NULL);
    for (size_t e = 0; e < f->scope_start[f->n_factors]; ++e) {
        ++r->of_start[f->scope[e] + 2];
    }
    for (uint32_t v = 0; v < n; ++v) {
        r->of_start[v + 1] += r->of_start[v];
    }
    for (size_t i = 0; i < f->n_factors; ++i) {
        for (size_t e = f->scope_start[i]; e < f->scope_start[i + 1]; ++e) {
            r->of[r->of_start[f->scope[e] + 1]++] = i;
        }
    }
}

static uint32_t uniform_of(const gbsi_lattice *l, uint32_t chain, uint64_t pass, uint32_t site)
{
    const gbsi_lattice_place place = gbsi_lattice_locate(l, site);
    const uint64_t w = gbsi_lattice_word(l, place);
    uint32_t u = 0;
    for (uint32_t plane = 0; plane < 32; ++plane) {
        const uint32_t word = gbsi_word(SEED, chain, pass, 32 * w + plane, GBSI_PURPOSE_LATTICE);
        u = u << 1 | (word >> place.bit & 1u);
    }
    return u;
}

static uint32_t draw_site(reference *r, uint32_t chain, uint64_t pass, uint32_t v)
{
    double logw[2] = {0.0, 0.0};
    for (uint32_t a = 0; a < 2; ++a) {
        r->x[v] = a;
        for (size_t i = r->of_start[v]; i < r->of_start[v + 1]; ++i) {
            logw[a] += gbsi_factor_value(&r->model->factors, r->model->arity, r->of[i], r->x);
        }
    }
    double odds = logw[1] - logw[0];
    odds = fabs(odds) < 1e-9 ? 0.0 : odds; /* a tie that rounding broke */
    const double minor = 1.0 / (1.0 + exp(fabs(odds)));
    double t = floor(minor * 0x1p32 + 0.5);
    t = t < 1.0 ? 1.0 : t;
    const bool less = uniform_of(r->lattice, chain, pass, v) < t;
    return odds > 0.0 ? !less : less;
}

/* Number of closed sides of odd length on which the site is the last one. */
static uint32_t seams_of(const gbsi_lattice *l, uint32_t site)
{
    uint32_t n = 0;
    for (unsigned d = 0; d < GBSI_GRID_DIRECTIONS; site /= l->side[d++]) {
        n += l->seam[d] && site % l->side[d] == l->side[d] - 1;
    }
    return n;
}

static void reference_pass(reference *r, uint32_t chain, uint64_t pass)
{
    for (uint32_t batch = 0; batch < 2 * (r->lattice->n_seams + 1); ++batch) {
        for (uint32_t v = 0; v < r->model->n_variables; ++v) {
            if (gbsi_lattice_locate(r->lattice, v).color == batch % 2 &&
                seams_of(r->lattice, v) == batch / 2) {
                r->x[v] = draw_site(r, chain, pass, v);
            }
        }
    }
}

/* ---- comparing ------------------------------------------------------------------------------ */

enum { N_CHAINS = 2 };

typedef struct fixture {
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_lattice *lattice;
    uint32_t *x; /* [n] states of a chain */
    uint8_t *count[N_CHAINS];
} fixture;

enum { STRIDE = 3 };

static fixture open_fixture(const shape *s)
{
    fixture f = {.model = make_model(s)};
    f.conditioned = condition(f.model);
    f.lattice = recognise(f.conditioned, s->name);
    const uint32_t n = f.lattice->spins.n_sites;
    f.x = calloc(n, sizeof *f.x);
    assert_non_null(f.x);
    for (uint32_t chain = 0; chain < N_CHAINS; ++chain) {
        f.count[chain] = calloc(n, STRIDE);
        assert_non_null(f.count[chain]);
    }
    return f;
}

static void close_fixture(fixture *f)
{
    for (uint32_t chain = 0; chain < N_CHAINS; ++chain) {
        free(f->count[chain]);
    }
    free(f->x);
    gbsi_lattice_free(f->lattice);
    gbsi_conditioned_free(f->conditioned);
    gbs_model_free(f->model);
}

static uint8_t *count_of(void *context, uint32_t chain)
{
    return ((fixture *)context)->count[chain];
}

static gbsi_spin_chains *open_chains(const fixture *f, gbsi_simd level, gbsi_pool *pool)
{
    gbsi_spin_chains *chains = NULL;
    assert_int_equal(gbsi_lattice_chains_new(f->lattice, N_CHAINS, SEED, GBSI_SPIN_KEEP_VISITS,
                                             level, pool, &chains, NULL),
                     GBS_OK);
    for (uint32_t chain = 0; chain < N_CHAINS; ++chain) {
        for (uint32_t v = 0; v < f->lattice->spins.n_sites; ++v) {
            f->x[v] = gbsi_word(5, chain, 0, v, GBSI_PURPOSE_TEST) & 1u;
        }
        chains->form->set(chains, chain, f->x);
    }
    return chains;
}

static void check_chain(const fixture *f, const gbsi_spin_chains *chains, const reference *r,
                        uint32_t chain, const char *name)
{
    int64_t spins = 0;
    chains->form->get(chains, chain, f->x);
    for (uint32_t v = 0; v < f->lattice->spins.n_sites; ++v) {
        if (f->x[v] != r->x[v]) {
            fail_msg("%s: chain %u, site %u is wrong", name, chain, v);
        }
        spins += r->x[v] != 0 ? 1 : -1;
    }
    assert_int_equal(gbsi_spins_total(chains->spins, &chains->sums[chain]), spins);
    const double logw = gbsi_conditioned_log_density(f->conditioned, r->x);
    assert_true(fabs(gbsi_spins_log_density(chains->spins, &chains->sums[chain]) - logw) <
                1e-9 * (1.0 + fabs(logw)));
}

static void check_shape(const shape *s, gbsi_simd level)
{
    fixture f = open_fixture(s);
    const uint32_t n = f.lattice->spins.n_sites;
    gbsi_spin_chains *chains = open_chains(&f, level, NULL);
    reference r[N_CHAINS];
    uint32_t *visits = calloc((size_t)N_CHAINS * n, sizeof *visits);
    assert_non_null(visits);
    for (uint32_t chain = 0; chain < N_CHAINS; ++chain) {
        r[chain] = (reference){.model = f.conditioned, .lattice = f.lattice};
        list_factors(&r[chain]);
        for (uint32_t v = 0; v < n; ++v) {
            r[chain].x[v] = gbsi_word(5, chain, 0, v, GBSI_PURPOSE_TEST) & 1u;
        }
    }
    for (uint64_t pass = 0; pass < N_PASSES; ++pass) {
        const bool keep = pass != 1;
        test_spin_pass(chains, pass, keep);
        for (uint32_t chain = 0; chain < N_CHAINS; ++chain) {
            reference_pass(&r[chain], chain, pass);
            check_chain(&f, chains, &r[chain], chain, s->name);
            for (uint32_t v = 0; v < n; ++v) {
                visits[chain * n + v] += keep ? r[chain].x[v] : 0;
            }
        }
        if (pass == 2) { /* after two passes, and once more at the end */
            chains->form->take_visits(chains, STRIDE, count_of, &f);
        }
    }
    chains->form->take_visits(chains, STRIDE, count_of, &f);
    for (uint32_t chain = 0; chain < N_CHAINS; ++chain) {
        for (uint32_t v = 0; v < n; ++v) {
            assert_int_equal(f.count[chain][(size_t)v * STRIDE], visits[chain * n + v]);
        }
        free(r[chain].of_start);
        free(r[chain].of);
        free(r[chain].x);
    }
    free(visits);
    gbsi_spin_chains_free(chains);
    close_fixture(&f);
}

static void passes_equal_one_site_at_a_time(void **state)
{
    (void)state;
    test_each_shape(check_shape);
}

/* Compares visits with the states over all 128 passes that the counters hold. */
static void counters_hold_128_passes(void **state)
{
    (void)state;
    fixture f = open_fixture(&shapes[4]);
    const uint32_t n = f.lattice->spins.n_sites;
    gbsi_spin_chains *chains = open_chains(&f, gbsi_simd_force(GBSI_SIMD_AVX512), NULL);
    uint32_t *visits = calloc(n, sizeof *visits);
    assert_non_null(visits);
    for (int round = 0; round < 2; ++round) { /* the second round begins with used counters */
        for (uint64_t pass = 0; pass < GBSI_SPIN_MOST_COUNTED - 31u * (unsigned)round; ++pass) {
            test_spin_pass(chains, pass, true);
            chains->form->get(chains, 1, f.x);
            for (uint32_t v = 0; v < n; ++v) {
                visits[v] += f.x[v];
            }
        }
        chains->form->take_visits(chains, STRIDE, count_of, &f);
        for (uint32_t v = 0; v < n; ++v) {
            assert_int_equal(f.count[1][(size_t)v * STRIDE], visits[v]);
            f.count[1][(size_t)v * STRIDE] = 0;
            visits[v] = 0;
        }
    }
    free(visits);
    gbsi_spin_chains_free(chains);
    close_fixture(&f);
}

/* A lattice large enough to be shared among threads, with columns of several rows. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    static const shape big[3] = {{"seams", {63, 91, 41}, 1, {0.4, 0.4, 0.4}, 0.1, 2, 9, 2},
                                 {"torus", {256, 512, 1}, 1, {0.44, 0.44, 0.44}, 0.0, 0, 0, 0},
                                 {"glass", {50, 70, 40}, 1, {0.4, 0.4, 0.4}, 0.1, 2, 9, 2}};
    for (size_t i = 0; i < 3; ++i) {
        gbsi_spin_sums sums[N_CHAINS] = {{{0}, {0}}};
        uint8_t *first = NULL;
        for (uint32_t n_threads = 1; n_threads <= 7;
             n_threads += n_threads < 3 ? (uint32_t)test_share(1, 6) : 4) {
            fixture f = open_fixture(&big[i]);
            gbsi_pool *pool = NULL;
            assert_int_equal(gbsi_pool_new(n_threads, &pool, NULL), GBS_OK);
            gbsi_spin_chains *chains = open_chains(&f, gbsi_simd_force(GBSI_SIMD_AVX512), pool);
            for (uint64_t pass = 0; pass < test_share(6, 2); ++pass) {
                test_spin_pass(chains, pass, true);
            }
            chains->form->take_visits(chains, STRIDE, count_of, &f);
            const size_t n = (size_t)f.lattice->spins.n_sites * STRIDE;
            if (n_threads == 1) {
                memcpy(sums, chains->sums, sizeof sums);
                first = f.count[1];
                f.count[1] = NULL;
            } else {
                assert_memory_equal(sums, chains->sums, sizeof sums);
                assert_memory_equal(first, f.count[1], n);
            }
            gbsi_spin_chains_free(chains);
            gbsi_pool_free(pool);
            close_fixture(&f);
        }
        free(first);
    }
}

/* A table and a Potts factor are couplings too, with a constant. */
static void factors_of_other_kinds(void **state)
{
    (void)state;
    static const double table[4] = {1.0, 0.25, 0.25, 1.0};
    static const double own[2] = {0.5, 0.125};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t pair = 0;
    uint32_t unary = 0;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < 12; ++v) {
        const uint32_t two = 2;
        assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_add_table(b, 4, table, &pair, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 2, own, &unary, NULL), GBS_OK);
    for (uint32_t v = 0; v < 12; ++v) {
        const uint32_t right[2] = {v, v + 1};
        if (v % 4 < 3) {
            assert_int_equal(gbs_builder_add_table_factor(b, 2, right, pair, NULL), GBS_OK);
        }
        if (v < 8) {
            assert_int_equal(gbs_builder_add_potts(b, v + 4, v, 0.75, NULL), GBS_OK);
        }
        assert_int_equal(gbs_builder_add_table_factor(b, 1, &v, unary, NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    gbsi_conditioned *conditioned = condition(model);
    gbsi_lattice *l = recognise(conditioned, "tables");
    assert_int_equal(l->side[0], 4);
    assert_int_equal(l->spins.n_groups, 1);
    assert_true(l->spins.coupling[0] == 0.375);
    assert_true(l->spins.field[0] == -0.1875);
    assert_true(fabs(l->spins.constant - (17 * 0.375 + 9 * 0.25 - 8 * 0.25 + 12 * 0.3125)) < 10.0);
    gbsi_spin_chains *chains = NULL;
    const gbsi_simd level = gbsi_simd_force(GBSI_SIMD_AVX512);
    assert_int_equal(
        gbsi_lattice_chains_new(l, 1, 1, GBSI_SPIN_KEEP_NOTHING, level, NULL, &chains, NULL),
        GBS_OK);
    test_spin_pass(chains, 0, false);
    uint32_t x[12];
    chains->form->get(chains, 0, x);
    assert_true(fabs(gbsi_spins_log_density(chains->spins, &chains->sums[0]) -
                     gbsi_conditioned_log_density(conditioned, x)) < 1e-12);
    gbsi_spin_chains_free(chains);
    gbsi_lattice_free(l);
    gbsi_conditioned_free(conditioned);
    gbs_model_free(model);
}

/* A lattice gas with log-weight 1.5 for every pair of occupied neighbours. The lattice is open, so
 * that corners and edges have their own fields. */
static void tables_with_fields(void **state)
{
    (void)state;
    static const double both[4] = {0.0, 0.0, 0.0, 1.5};
    const uint32_t two[5 * 4] = {2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2};
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t table = 0;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_variables(b, 20, two, NULL, NULL), GBS_OK);
    assert_int_equal(gbs_builder_add_table(b, 4, both, &table, NULL), GBS_OK);
    for (uint32_t v = 0; v < 20; ++v) {
        const uint32_t right[2] = {v, v + 1};
        const uint32_t down[2] = {v + 5, v};
        if (v % 5 != 4) {
            assert_int_equal(gbs_builder_add_table_factor(b, 2, right, table, NULL), GBS_OK);
        }
        if (v < 15) {
            assert_int_equal(gbs_builder_add_table_factor(b, 2, down, table, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    gbsi_conditioned *conditioned = condition(model);
    gbsi_lattice *l = recognise(conditioned, "gas");
    assert_int_equal(l->spins.n_fields, 3);
    assert_true(l->spins.coupling[0] == 0.375);
    gbsi_spin_chains *chains = NULL;
    const gbsi_simd level = gbsi_simd_force(GBSI_SIMD_AVX512);
    assert_int_equal(
        gbsi_lattice_chains_new(l, 1, SEED, GBSI_SPIN_KEEP_NOTHING, level, NULL, &chains, NULL),
        GBS_OK);
    reference r = {.model = conditioned, .lattice = l};
    list_factors(&r);
    for (uint64_t pass = 0; pass < 50; ++pass) {
        uint32_t x[20];
        test_spin_pass(chains, pass, false);
        reference_pass(&r, 0, pass);
        chains->form->get(chains, 0, x);
        assert_memory_equal(x, r.x, sizeof x);
        assert_true(fabs(gbsi_spins_log_density(chains->spins, &chains->sums[0]) -
                         gbsi_conditioned_log_density(conditioned, x)) < 1e-12);
    }
    free(r.of_start);
    free(r.of);
    free(r.x);
    gbsi_spin_chains_free(chains);
    gbsi_lattice_free(l);
    gbsi_conditioned_free(conditioned);
    gbs_model_free(model);
}

/* Every request for memory fails in turn. */
static void memory_may_run_out(void **state)
{
    (void)state;
    gbs_model *model = make_model(&shapes[8]);
    gbsi_conditioned *conditioned = condition(model);
    bool done = false;
    for (uint64_t n = 0; !done; ++n) {
        gbsi_lattice *lattice = NULL;
        gbsi_spin_chains *chains = NULL;
        const char *reason = NULL;
        gbs_error err = {0};
        gbsi_alloc_fail_after(n);
        gbs_status status = gbsi_lattice_new(conditioned, &lattice, &reason, &err);
        if (status == GBS_OK) {
            status = gbsi_lattice_chains_new(lattice, 2, 1, GBSI_SPIN_KEEP_VISITS,
                                             GBSI_SIMD_PORTABLE, NULL, &chains, &err);
        }
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        done = status == GBS_OK;
        assert_true(done || chains == NULL);
        gbsi_spin_chains_free(chains);
        gbsi_lattice_free(lattice);
    }
    gbsi_conditioned_free(conditioned);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_equal_one_site_at_a_time),
        cmocka_unit_test(counters_hold_128_passes),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(factors_of_other_kinds),
        cmocka_unit_test(tables_with_fields),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
