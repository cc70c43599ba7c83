/* SPDX-License-Identifier: Apache-2.0 */
/* Tests which models are recognised as lattices, and the reasons why other models are not. */
#include <math.h>
#include <string.h>

#include "gibbsite/generate.h"
#include "lattice/lattice_testing.h"

static void places_are_distinct(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_SHAPES; ++i) {
        gbs_model *model = make_model(&shapes[i]);
        gbsi_conditioned *conditioned = condition(model);
        gbsi_lattice *l = recognise(conditioned, shapes[i].name);
        uint32_t *seen = calloc((size_t)2 * l->n_words, sizeof *seen);
        assert_non_null(seen);
        for (uint32_t v = 0; v < l->spins.n_sites; ++v) {
            const gbsi_lattice_place place = gbsi_lattice_locate(l, v);
            const uint32_t w = gbsi_lattice_word(l, place);
            assert_true(w < 2 * l->n_words && place.bit < 32);
            assert_int_equal(seen[w] >> place.bit & 1u, 0);
            seen[w] |= UINT32_C(1) << place.bit;
        }
        free(seen);
        gbsi_lattice_free(l);
        gbsi_conditioned_free(conditioned);
        gbs_model_free(model);
    }
}

static void check_grid(const shape *s, uint32_t n_kinds, bool plain)
{
    gbs_model *model = make_model(s);
    gbsi_conditioned *conditioned = condition(model);
    gbsi_lattice *l = recognise(conditioned, s->name);
    assert_int_equal(l->side[0], s->side[1]);
    assert_int_equal(l->side[1], s->side[2] == 1 ? 1 : s->side[0]);
    assert_int_equal(l->side[2], s->side[2] == 1 ? s->side[0] : s->side[2]);
    assert_int_equal(l->n_kinds, n_kinds);
    assert_int_equal(l->plain_kind != GBSI_NONE, plain);
    gbsi_lattice_free(l);
    gbsi_conditioned_free(conditioned);
    gbs_model_free(model);
}

static void grids_are_recognised(void **state)
{
    (void)state;
    check_grid(&shapes[3], 1, true);   /* uniform */
    check_grid(&shapes[5], 3, true);   /* inside, sides, corners */
    check_grid(&shapes[6], 1, false);  /* two groups */
    check_grid(&shapes[7], 1, true);   /* a glass: some sites have positive bonds only */
    check_grid(&shapes[10], 2, true);  /* two fields */
    check_grid(&shapes[11], 1, true);  /* a cube */
    check_grid(&shapes[14], 1, false); /* three groups */
}

static const char *refusal(gbs_model *model)
{
    gbsi_conditioned *conditioned = condition(model);
    gbsi_lattice *lattice = NULL;
    const char *reason = NULL;
    assert_int_equal(gbsi_lattice_new(conditioned, &lattice, &reason, NULL), GBS_OK);
    assert_null(lattice);
    assert_non_null(reason);
    gbsi_conditioned_free(conditioned);
    gbs_model_free(model);
    return reason;
}

static gbs_model *generated(gbs_generate_ising_options options)
{
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&options, &model, NULL), GBS_OK);
    return model;
}

static void others_are_refused(void **state)
{
    (void)state;
    assert_non_null(strstr(refusal(generated((gbs_generate_ising_options){
                               .side = {8, 8, 1}, .coupling = 1.0, .coupling_spread = 0.1})),
                           "couplings J or -J"));
    assert_non_null(strstr(refusal(generated((gbs_generate_ising_options){
                               .side = {8, 8, 1}, .coupling = 1.0, .random_field = 0.1})),
                           "eight different fields"));
    assert_non_null(strstr(refusal(generated((gbs_generate_ising_options){
                               .side = {1, 64, 1}, .torus = 1, .coupling = 1.0})),
                           "do not form a grid"));
    gbs_model *potts = NULL;
    const gbs_generate_potts_options three = {
        .rows = 8, .columns = 8, .states = 3, .coupling = 1.0, .seed = 1};
    assert_int_equal(gbs_generate_potts(&three, &potts, NULL), GBS_OK);
    assert_non_null(strstr(refusal(potts), "more than two states"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_are_distinct),
        cmocka_unit_test(grids_are_recognised),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
