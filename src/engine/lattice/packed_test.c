/* SPDX-License-Identifier: Apache-2.0 */
/* Tests chains in bits: compares every pass with updates of one site at a time, on every
 * instruction set, with full words and with words of a few chains. The updates use the uniforms
 * made from the bit planes, and conditionals from the model's factors; sums and visits come from
 * the states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gibbsite/generate.h"
#include "gibbsite/gibbsite.h"
#include "graph/graph.h"
#include "lattice/packed.h"
#include "lattice/spin_testing.h"
#include "rng/philox.h"

enum { SEED = 17, N_PASSES = 6, MOST_CHAINS = 40 };

/* A ring of n variables, each of which is joined to the variables at these distances. */
typedef struct shape {
    const char *name;
    uint32_t n;
    uint32_t distance[6];    /* ends with 0 */
    double coupling[3];      /* couplings of the bonds, in turn */
    double field;            /* field of every third variable */
    unsigned negative, skip; /* one bond in so many is negative, or missing */
    bool table;              /* whether couplings are tables of a lattice gas */
} shape;

static const shape shapes[] = {
    {"ring", 50, {1}, {0.7, 0.7, 0.7}, 0.0, 0, 0, false},
    {"odd ring in a field", 33, {1}, {-0.5, -0.5, -0.5}, 0.3, 0, 0, false},
    {"two neighbours each way", 100, {1, 9}, {0.4, 0.4, 0.4}, 0.0, 3, 0, false},
    {"triangles, glass", 64, {1, 2}, {0.6, 0.6, 0.6}, 0.1, 2, 0, false},
    {"three each way, some missing", 97, {1, 5, 11}, {0.3, 0.3, 0.3}, 0.2, 4, 5, false},
    {"three sizes", 80, {1, 7, 12}, {0.3, 0.5, 0.2}, 0.0, 3, 4, false},
    {"two sizes, fields", 41, {1, 3}, {0.9, 0.4, 0.9}, 0.25, 2, 6, false},
    {"gas", 60, {1, 8}, {1.2, 1.2, 1.2}, 0.0, 0, 3, true},
    {"alone", 20, {0}, {0.0, 0.0, 0.0}, 0.4, 0, 0, false},
    {"strong", 64, {1, 5}, {8.0, 8.0, 8.0}, 0.0, 0, 0, false},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

static bool one_in(unsigned n, uint32_t index, uint64_t stream)
{
    return n > 0 && gbsi_word(7, 0, stream, index, GBSI_PURPOSE_TEST) % n == 0;
}

static void add_bond(gbs_builder *b, const shape *s, uint32_t u, uint32_t v, double coupling)
{
    const uint32_t scope[2] = {u, v};
    const double both[4] = {0.0, 0.0, 0.0, coupling};
    uint32_t table = 0;
    if (s->table) {
        assert_int_equal(gbs_builder_add_table(b, 4, both, &table, NULL), GBS_OK);
        assert_int_equal(gbs_builder_add_table_factor(b, 2, scope, table, NULL), GBS_OK);
    } else {
        assert_int_equal(gbs_builder_add_ising(b, u, v, coupling, NULL), GBS_OK);
    }
}

static gbs_model *make_model(const shape *s)
{
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    const uint32_t two = 2;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < s->n; ++v) {
        assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
    }
    for (uint32_t v = 0; v < s->n; ++v) {
        for (uint32_t k = 0; s->distance[k] != 0; ++k) {
            const uint32_t id = 8 * v + k;
            const double sign = one_in(s->negative, id, 1) ? -1.0 : 1.0;
            if (!one_in(s->skip, id, 2)) {
                add_bond(b, s, v, (v + s->distance[k]) % s->n, sign * s->coupling[id % 3]);
            }
        }
        if (s->field != 0.0 && v % 3 == 0) {
            assert_int_equal(gbs_builder_add_field(b, v, s->field, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

typedef struct fixture {
    gbs_model *model;
    gbsi_conditioned *conditioned;
    uint32_t *color;
    uint32_t n_colors;
    gbsi_packed *packed;
    uint32_t *slot_of;
    uint32_t *x[MOST_CHAINS]; /* states of the reference */
    uint32_t *got;
    uint8_t *count; /* [n][MOST_CHAINS] */
} fixture;

static fixture open_fixture(const shape *s)
{
    fixture f = {.model = make_model(s)};
    gbsi_graph *graph = NULL;
    const char *reason = NULL;
    assert_int_equal(gbsi_condition(f.model, NULL, &f.conditioned, NULL), GBS_OK);
    assert_int_equal(gbsi_graph_new(f.conditioned, NULL, &graph, NULL), GBS_OK);
    f.color = calloc(s->n, sizeof *f.color);
    f.slot_of = calloc(s->n, sizeof *f.slot_of);
    f.got = calloc(s->n, sizeof *f.got);
    f.count = calloc(s->n, MOST_CHAINS);
    assert_true(f.color != NULL && f.slot_of != NULL && f.got != NULL && f.count != NULL);
    assert_int_equal(gbsi_graph_color(graph, NULL, f.color, &f.n_colors, NULL), GBS_OK);
    gbsi_graph_free(graph);
    assert_int_equal(
        gbsi_packed_new(f.conditioned, f.color, f.n_colors, 1, &f.packed, &reason, NULL), GBS_OK);
    if (f.packed == NULL) {
        fail_msg("%s: %s", s->name, reason);
    }
    for (uint32_t slot = 0; slot < f.packed->n_slots; ++slot) {
        if (f.packed->variable_of[slot] != GBSI_NONE) {
            f.slot_of[f.packed->variable_of[slot]] = slot;
        }
    }
    for (uint32_t chain = 0; chain < MOST_CHAINS; ++chain) {
        f.x[chain] = calloc(s->n, sizeof *f.x[chain]);
        assert_non_null(f.x[chain]);
        for (uint32_t v = 0; v < s->n; ++v) {
            f.x[chain][v] = gbsi_word(5, chain, 0, v, GBSI_PURPOSE_TEST) & 1u;
        }
    }
    return f;
}

static void close_fixture(fixture *f)
{
    for (uint32_t chain = 0; chain < MOST_CHAINS; ++chain) {
        free(f->x[chain]);
    }
    free(f->color);
    free(f->slot_of);
    free(f->got);
    free(f->count);
    gbsi_packed_free(f->packed);
    gbsi_conditioned_free(f->conditioned);
    gbs_model_free(f->model);
}

/* ---- one site at a time --------------------------------------------------------------------- */

static void draw_site(const fixture *f, uint32_t chain, uint64_t pass, uint32_t v)
{
    uint32_t *x = f->x[chain];
    double logw[2] = {0.0, 0.0};
    for (uint32_t a = 0; a < 2; ++a) {
        x[v] = a;
        for (size_t i = 0; i < f->conditioned->factors.n_factors; ++i) {
            const gbsi_factors *factors = &f->conditioned->factors;
            bool here = false;
            for (size_t e = factors->scope_start[i]; e < factors->scope_start[i + 1]; ++e) {
                here |= factors->scope[e] == v;
            }
            logw[a] += here ? gbsi_factor_value(factors, f->conditioned->arity, i, x) : 0.0;
        }
    }
    double odds = logw[1] - logw[0];
    odds = fabs(odds) < 1e-9 ? 0.0 : odds; /* a tie that rounding broke */
    double t = floor(0x1p32 / (1.0 + exp(fabs(odds))) + 0.5);
    t = t < 1.0 ? 1.0 : t;
    uint32_t u = 0;
    for (uint32_t plane = 0; plane < 32; ++plane) {
        const uint64_t place = 32 * (uint64_t)f->slot_of[v] + plane;
        const uint32_t word = gbsi_word(SEED, chain / 32, pass, place, GBSI_PURPOSE_LATTICE);
        u = u << 1 | (word >> chain % 32 & 1u);
    }
    x[v] = odds > 0.0 ? u >= t : u < t;
}

static void reference_pass(const fixture *f, uint32_t n_chains, uint64_t pass)
{
    for (uint32_t color = 0; color < f->n_colors; ++color) {
        for (uint32_t v = 0; v < f->conditioned->n_variables; ++v) {
            for (uint32_t chain = 0; f->color[v] == color && chain < n_chains; ++chain) {
                draw_site(f, chain, pass, v);
            }
        }
    }
}

/* ---- comparing ------------------------------------------------------------------------------ */

static uint8_t *count_of(void *context, uint32_t chain)
{
    return ((fixture *)context)->count + chain;
}

static gbsi_spin_chains *open_chains(const fixture *f, uint32_t n_chains, gbsi_simd level,
                                     gbsi_pool *pool)
{
    gbsi_spin_chains *chains = NULL;
    assert_int_equal(
        gbsi_packed_chains_new(f->packed, n_chains, SEED, true, level, pool, &chains, NULL),
        GBS_OK);
    for (uint32_t chain = 0; chain < n_chains; ++chain) {
        chains->form->set(chains, chain, f->x[chain]);
    }
    return chains;
}

static void check_chain(const fixture *f, const gbsi_spin_chains *chains, uint32_t chain,
                        const char *name)
{
    const uint32_t n = f->conditioned->n_variables;
    int64_t spins = 0;
    chains->form->get(chains, chain, f->got);
    for (uint32_t v = 0; v < n; ++v) {
        if (f->got[v] != f->x[chain][v]) {
            fail_msg("%s: chain %u, variable %u is wrong", name, chain, v);
        }
        spins += f->got[v] != 0 ? 1 : -1;
    }
    assert_int_equal(gbsi_spins_total(chains->spins, &chains->sums[chain]), spins);
    const double logw = gbsi_conditioned_log_density(f->conditioned, f->got);
    assert_true(fabs(gbsi_spins_log_density(chains->spins, &chains->sums[chain]) - logw) <
                1e-9 * (1.0 + fabs(logw)));
}

static void check_shape(const shape *s, uint32_t n_chains, gbsi_simd level)
{
    fixture f = open_fixture(s);
    uint32_t *visits = calloc((size_t)s->n * MOST_CHAINS, sizeof *visits);
    gbsi_spin_chains *chains = open_chains(&f, n_chains, level, NULL);
    assert_non_null(visits);
    for (uint64_t pass = 0; pass < N_PASSES; ++pass) {
        const bool keep = pass != 1;
        test_spin_pass(chains, pass, keep);
        reference_pass(&f, n_chains, pass);
        for (uint32_t chain = 0; chain < n_chains; ++chain) {
            check_chain(&f, chains, chain, s->name);
            for (uint32_t v = 0; keep && v < s->n; ++v) {
                visits[v * MOST_CHAINS + chain] += f.x[chain][v];
            }
        }
        if (pass == 2) { /* after two passes, and once more at the end */
            chains->form->take_visits(chains, MOST_CHAINS, count_of, &f);
        }
    }
    chains->form->take_visits(chains, MOST_CHAINS, count_of, &f);
    for (uint32_t i = 0; i < s->n * MOST_CHAINS; ++i) {
        assert_int_equal(f.count[i], visits[i]);
    }
    free(visits);
    gbsi_spin_chains_free(chains);
    close_fixture(&f);
}

static void passes_equal_one_site_at_a_time(void **state)
{
    (void)state;
    for (int level = 0; level < GBSI_N_SIMD; ++level) {
        for (size_t i = 0; gbsi_simd_has((gbsi_simd)level) && i < N_SHAPES; ++i) {
            check_shape(&shapes[i], i % 2 == 0 ? MOST_CHAINS : 1 + (uint32_t)i, (gbsi_simd)level);
        }
    }
}

/* A model large enough to be shared among threads. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    static const shape big = {"big", 6000, {1, 77, 500}, {0.2, 0.2, 0.2}, 0.1, 2, 7, false};
    gbsi_spin_sums sums[MOST_CHAINS];
    uint8_t *first = NULL;
    for (uint32_t n_threads = 1; n_threads <= 7; n_threads += n_threads < 3 ? 1 : 4) {
        fixture f = open_fixture(&big);
        gbsi_pool *pool = NULL;
        assert_int_equal(gbsi_pool_new(n_threads, &pool, NULL), GBS_OK);
        gbsi_spin_chains *chains =
            open_chains(&f, MOST_CHAINS, gbsi_simd_force(GBSI_SIMD_AVX512), pool);
        assert_true(n_threads == 1 || gbsi_spin_chains_shared(chains));
        for (uint64_t pass = 0; pass < 6; ++pass) {
            test_spin_pass(chains, pass, true);
        }
        chains->form->take_visits(chains, MOST_CHAINS, count_of, &f);
        if (n_threads == 1) {
            memcpy(sums, chains->sums, sizeof sums);
            first = f.count;
            f.count = NULL;
        } else {
            assert_memory_equal(sums, chains->sums, sizeof sums);
            assert_memory_equal(first, f.count, (size_t)big.n * MOST_CHAINS);
        }
        gbsi_spin_chains_free(chains);
        gbsi_pool_free(pool);
        close_fixture(&f);
    }
    free(first);
}

/* ---- refused models -------------------------------------------------------------------------- */

static const char *refusal(gbs_model *model)
{
    gbsi_conditioned *conditioned = NULL;
    gbsi_packed *packed = NULL;
    const char *reason = NULL;
    assert_int_equal(gbsi_condition(model, NULL, &conditioned, NULL), GBS_OK);
    uint32_t *color = calloc(conditioned->n_variables, sizeof *color);
    for (uint32_t v = 0; v < conditioned->n_variables; ++v) {
        color[v] = v; /* proper for any model */
    }
    assert_int_equal(
        gbsi_packed_new(conditioned, color, conditioned->n_variables, 1, &packed, &reason, NULL),
        GBS_OK);
    assert_null(packed);
    assert_non_null(reason);
    free(color);
    gbsi_conditioned_free(conditioned);
    gbs_model_free(model);
    return reason;
}

static void others_are_refused(void **state)
{
    (void)state;
    const gbs_generate_ising_options spread = {
        .side = {8, 8, 1}, .coupling = 1.0, .coupling_spread = 0.1};
    const gbs_generate_ising_options fields = {
        .side = {8, 8, 1}, .coupling = 1.0, .random_field = 0.1};
    const gbs_generate_complete_options complete = {.variables = 8, .coupling = 0.1};
    const gbs_generate_potts_options potts = {
        .rows = 4, .columns = 4, .states = 3, .coupling = 1.0, .seed = 1};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&spread, &model, NULL), GBS_OK);
    assert_non_null(strstr(refusal(model), "more than three sizes"));
    assert_int_equal(gbs_generate_ising(&fields, &model, NULL), GBS_OK);
    assert_non_null(strstr(refusal(model), "eight different fields"));
    assert_int_equal(gbs_generate_complete(&complete, &model, NULL), GBS_OK);
    assert_non_null(strstr(refusal(model), "more than six neighbours"));
    assert_int_equal(gbs_generate_potts(&potts, &model, NULL), GBS_OK);
    assert_non_null(strstr(refusal(model), "more than two states"));
}

/* Every request for memory fails in turn. */
static void memory_may_run_out(void **state)
{
    (void)state;
    fixture f = open_fixture(&shapes[4]);
    bool done = false;
    for (uint64_t n = 0; !done; ++n) {
        gbsi_packed *packed = NULL;
        gbsi_spin_chains *chains = NULL;
        const char *reason = NULL;
        gbs_error err = {0};
        gbsi_alloc_fail_after(n);
        gbs_status status =
            gbsi_packed_new(f.conditioned, f.color, f.n_colors, 1, &packed, &reason, &err);
        if (status == GBS_OK) {
            status = gbsi_packed_chains_new(packed, 33, 1, true, GBSI_SIMD_PORTABLE, NULL, &chains,
                                            &err);
        }
        gbsi_alloc_fail_after(UINT64_MAX);
        assert_true(status == GBS_OK || status == GBS_ERR_MEMORY);
        done = status == GBS_OK;
        assert_true(done || chains == NULL);
        gbsi_spin_chains_free(chains);
        gbsi_packed_free(packed);
    }
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_equal_one_site_at_a_time),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(others_are_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
