/* SPDX-License-Identifier: Apache-2.0 */
/* Tests averaged conditionals of sites in bits against the conditionals of the model: for the first
 * colour given the states before a pass, for the second colour given the states after the pass. */
#include <math.h>

#include "base/memory.h"
#include "base/test_scale.h"
#include "lattice/averages.h"
#include "lattice/lattice.h"
#include "lattice/lattice_testing.h"
#include "lattice/spin_testing.h"

enum { SEED = 99, N_CHAINS = 2 };

typedef struct fixture {
    gbs_model *model;
    gbsi_conditioned *conditioned;
    gbsi_lattice *lattice;
    gbsi_spin_chains *chains;
    uint32_t n, n_slots;
    uint32_t *x; /* [n] */
    double *sum; /* [N_CHAINS][n] sums of the model's conditionals */
} fixture;

static fixture open_fixture(const shape *s, gbsi_simd level)
{
    fixture f = {.model = make_model(s)};
    f.conditioned = condition(f.model);
    f.lattice = recognise(f.conditioned, s->name);
    f.n = f.lattice->spins.n_sites;
    f.n_slots = gbsi_lattice_n_slots(f.lattice);
    f.x = calloc(f.n, sizeof *f.x);
    f.sum = calloc((size_t)N_CHAINS * f.n, sizeof *f.sum);
    assert_true(f.x != NULL && f.sum != NULL);
    if (gbsi_lattice_averages_refusal(f.lattice) != NULL) {
        return f;
    }
    assert_int_equal(gbsi_lattice_chains_new(f.lattice, N_CHAINS, SEED, GBSI_SPIN_KEEP_NEIGHBOURS,
                                             level, NULL, &f.chains, NULL),
                     GBS_OK);
    for (uint32_t chain = 0; chain < N_CHAINS; ++chain) {
        for (uint32_t v = 0; v < f.n; ++v) {
            f.x[v] = gbsi_word(5, chain, 0, v, GBSI_PURPOSE_TEST) & 1u;
        }
        f.chains->form->set(f.chains, chain, f.x);
    }
    return f;
}

static void close_fixture(fixture *f)
{
    gbsi_spin_chains_free(f->chains);
    gbsi_lattice_free(f->lattice);
    gbsi_conditioned_free(f->conditioned);
    gbs_model_free(f->model);
    free(f->x);
    free(f->sum);
}

/* Adds the conditionals of one colour, given the chain's current states. */
static void add_conditionals(fixture *f, uint32_t chain, uint32_t color)
{
    const gbsi_factors *factors = &f->conditioned->factors;
    double *odds = calloc(f->n, sizeof *odds);
    assert_non_null(odds);
    f->chains->form->get(f->chains, chain, f->x);
    for (size_t i = 0; i < factors->n_factors; ++i) {
        for (size_t e = factors->scope_start[i]; e < factors->scope_start[i + 1]; ++e) {
            const uint32_t v = factors->scope[e];
            const uint32_t kept = f->x[v];
            for (uint32_t a = 0; a < 2; ++a) {
                f->x[v] = a;
                odds[v] += (a == 1 ? 1.0 : -1.0) *
                           gbsi_factor_value(factors, f->conditioned->arity, i, f->x);
            }
            f->x[v] = kept;
        }
    }
    for (uint32_t v = 0; v < f->n; ++v) {
        if (gbsi_lattice_locate(f->lattice, v).color == color) {
            f->sum[chain * f->n + v] += 1.0 / (1.0 + exp(-odds[v]));
        }
    }
    free(odds);
}

static void check_sums(const fixture *f, const char *name)
{
    const gbsi_spin_form *form = f->chains->form;
    float *sum = calloc(f->n_slots, sizeof *sum);
    double all = 0.0;
    double sites = 0.0;
    assert_non_null(sum);
    for (uint32_t chain = 0; chain < N_CHAINS; ++chain) {
        form->average(f->chains, chain, 0, f->n_slots, sum);
        for (uint32_t slot = 0; slot < f->n_slots; ++slot) {
            float one = 0.0F;
            form->average(f->chains, chain, slot, 1, &one);
            assert_true(one == sum[slot]);
            all += (double)sum[slot];
        }
        for (uint32_t v = 0; v < f->n; ++v) {
            const uint32_t slot = gbsi_lattice_slot_of(f->lattice, v);
            assert_true(slot < f->n_slots);
            if (fabs((double)sum[slot] - f->sum[chain * f->n + v]) > 1e-6) {
                fail_msg("%s: chain %u, site %u: %g, expected %g", name, chain, v,
                         (double)sum[slot], f->sum[chain * f->n + v]);
            }
            sites += (double)sum[slot];
        }
    }
    assert_true(fabs(all - sites) <= 1e-9 * sites); /* all other sums are 0 */
    free(sum);
}

static void check_shape(const shape *s, gbsi_simd level)
{
    fixture f = open_fixture(s, level);
    assert_true(f.chains != NULL || f.lattice->n_seams > 0 || f.lattice->spins.n_groups > 1);
    for (uint64_t pass = 0; f.chains != NULL && pass < GBSI_LATTICE_KEPT; ++pass) {
        for (uint32_t chain = 0; chain < N_CHAINS; ++chain) {
            add_conditionals(&f, chain, 0);
        }
        test_spin_pass(f.chains, pass, true);
        for (uint32_t chain = 0; chain < N_CHAINS; ++chain) {
            add_conditionals(&f, chain, 1);
        }
        check_sums(&f, s->name);
    }
    close_fixture(&f);
}

static void averages_equal_those_of_the_model(void **state)
{
    (void)state;
    test_each_shape(check_shape);
}

/* After a pass that ends in the first or second colour, the conditionals of the remaining sites are
 * those of the current states. */
static void a_pass_cut_short_is_told_as_it_is(void **state)
{
    (void)state;
    for (uint32_t batch = 0; batch < 2; ++batch) {
        fixture f = open_fixture(&shapes[26], gbsi_simd_force(GBSI_SIMD_AVX512));
        const gbsi_spin_form *form = f.chains->form;
        double n_updates = 0.0;
        const uint64_t n = form->n_parts(f.chains, batch, &n_updates);
        const uint64_t part = n / N_CHAINS; /* the first chain only */
        for (uint32_t chain = 0; chain < N_CHAINS; ++chain) {
            add_conditionals(&f, chain, 0);
        }
        gbsi_spin_chains_begin(f.chains, true);
        form->run(f.chains, 0, true, 0, batch);
        form->run_parts(f.chains, 0, true, batch, 0, part);
        form->count_rest(f.chains, batch, part);
        for (uint32_t chain = 0; chain < N_CHAINS; ++chain) {
            add_conditionals(&f, chain, 1);
        }
        check_sums(&f, "cut short");
        close_fixture(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages_equal_those_of_the_model),
        cmocka_unit_test(a_pass_cut_short_is_told_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
