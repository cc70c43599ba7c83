/* SPDX-License-Identifier: Apache-2.0 */
/* Compares codewords with enumeration, on random models with hard parities and other factors. */
#include "codewords/codewords.h"

#include <string.h>

#include "reference/enumerate.h"
#include "satisfy/parity_testing.h"
#include "trees/junction_tree_testing.h"

static const gbsi_codewords_limits no_end = {.ns = 1e12, .bytes = UINT64_C(1) << 34};

typedef struct listed {
    made made;
    gbsi_components *components;
    uint8_t dense[64]; /* zeros: codewords for all */
    gbsi_codewords *first;
} listed;

static gbs_status list(listed *l, const gbs_model *model, const gbsi_codewords_limits *limits)
{
    make(&l->made, model, NULL, &no_limits);
    test_ok(gbsi_components_new(l->made.graph, &l->components, NULL));
    return gbsi_codewords_new(l->components, l->made.plan, limits, l->dense, 1.0, &l->first, NULL);
}

static void unlist(listed *l)
{
    gbsi_codewords_free(l->first);
    gbsi_components_free(l->components);
    release(&l->made);
}

/* Whether every component has codewords. */
static bool is_all_listed(const listed *l)
{
    uint32_t n = 0;
    for (const gbsi_codewords *c = l->first; c != NULL; c = c->next) {
        ++n;
    }
    return n == l->components->n;
}

static double sum_all(const listed *l, double *p)
{
    double log_z = l->made.model->log_constant;
    for (const gbsi_codewords *c = l->first; c != NULL; c = c->next) {
        double part = 0.0;
        test_ok(gbsi_codewords_sum(c, NULL, p, &part, NULL));
        log_z += part;
    }
    return log_z;
}

static void check_sums(const listed *l, double log_z, const double *expected)
{
    double p[2 * MOST_BITS];
    assert_close(sum_all(l, p), log_z, 1e-12 * (1.0 + fabs(log_z)));
    assert_true(sum_all(l, NULL) == sum_all(l, p));
    for (size_t s = 0; s < l->made.model->state_offset[l->made.model->n_variables]; ++s) {
        assert_close(p[s], expected[s], 1e-13);
    }
}

/* The state must have the weight that is claimed, and no state may weigh more. */
static void check_state(const listed *l)
{
    uint32_t x[MOST_BITS] = {0};
    uint32_t other[MOST_BITS] = {0};
    double found = l->made.model->log_constant;
    double most = -INFINITY;
    for (const gbsi_codewords *c = l->first; c != NULL; c = c->next) {
        double part = 0.0;
        test_ok(gbsi_codewords_maximise(c, NULL, x, &part, NULL));
        found += part;
    }
    do {
        const double weight = gbsi_conditioned_log_density(l->made.model, other);
        most = weight > most ? weight : most;
    } while (next_assignment(l->made.model->n_variables, l->made.model->arity, other));
    assert_close(found, most, 1e-12 * (1.0 + fabs(most)));
    assert_close(gbsi_conditioned_log_density(l->made.model, x), most, 1e-12 * (1.0 + fabs(most)));
}

static void against_enumeration(void **state)
{
    (void)state;
    uint64_t seed = 40;
    uint32_t n_answered = 0;
    uint32_t n_impossible = 0;
    for (uint32_t i = 0; i < 600; ++i) {
        const uint32_t n = 2 + random_below(&seed, 11);
        gbs_model *model =
            random_parities(&seed, n, 1 + random_below(&seed, n), random_below(&seed, 2 * n));
        gbsi_conditioned *possible = NULL;
        listed l = {0};
        double expected[2 * MOST_BITS];
        double log_z = 0.0;
        if (gbsi_condition(model, NULL, &possible, NULL) == GBS_OK) {
            test_ok(list(&l, model, &no_end));
            const gbs_status status = gbsi_enumerate(possible, NULL, expected, &log_z, NULL);
            if (is_all_listed(&l) && status == GBS_OK) {
                ++n_answered;
                check_sums(&l, log_z, expected);
                check_state(&l);
            } else if (is_all_listed(&l)) {
                ++n_impossible;
                assert_true(status == GBS_ERR_IMPOSSIBLE && sum_all(&l, NULL) == -INFINITY);
            }
            unlist(&l);
        }
        gbsi_conditioned_free(possible);
        gbs_model_free(model);
    }
    assert_true(n_answered > 100);
    assert_true(n_impossible > 10);
}

/* A component that would take more time or memory than the limits allow gets no codewords, and
 * neither does one whose dense tables are small. */
static void limits(void **state)
{
    (void)state;
    uint64_t seed = 9;
    uint32_t n_refused = 0;
    for (uint32_t i = 0; i < 40; ++i) {
        gbs_model *model = random_parities(&seed, 12, 3, 12);
        gbsi_conditioned *possible = NULL;
        listed l = {0};
        if (gbsi_condition(model, NULL, &possible, NULL) == GBS_OK) {
            test_ok(list(&l, model, &no_end));
            const gbsi_codewords *c = l.first;
            if (c != NULL && !c->impossible) { /* one nanosecond or byte less is too little */
                gbsi_codewords_limits less[2] = {no_end, no_end};
                gbsi_codewords *none = NULL;
                less[0].ns = c->ns / 2.0;
                less[1].bytes = c->bytes - 1;
                for (uint32_t k = 0; k < 2; ++k) {
                    test_ok(gbsi_codewords_new(l.components, l.made.plan, &less[k], l.dense, 1.0,
                                               &none, NULL));
                    assert_true(none == NULL || none->component != c->component);
                    gbsi_codewords_free(none);
                }
                ++n_refused;
            }
            memset(l.dense, 1, sizeof l.dense); /* dense tables of so few entries are always used */
            gbsi_codewords *none = NULL;
            test_ok(
                gbsi_codewords_new(l.components, l.made.plan, &no_end, l.dense, 1.0, &none, NULL));
            assert_null(none);
            unlist(&l);
        }
        gbsi_conditioned_free(possible);
        gbs_model_free(model);
    }
    assert_true(n_refused > 10);
}

static bool always(void *context)
{
    (void)context;
    return true;
}

/* A watch stops the visits long before their end. */
static void stops(void **state)
{
    (void)state;
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    uint32_t arity[25];
    uint32_t scope[25];
    uint32_t ones[25];
    listed l = {0};
    gbsi_watch watch = {.look = always};
    double log_z = 0.0;
    for (uint32_t v = 0; v < 25; ++v) {
        arity[v] = 2;
        scope[v] = v;
        ones[v] = 1;
    }
    test_ok(gbs_builder_new(&b, NULL));
    test_ok(gbs_builder_add_variables(b, 25, arity, NULL, NULL));
    test_ok(gbs_builder_add_logical(b, GBS_LOGICAL_PARITY, 25, scope, ones, INFINITY, NULL));
    test_ok(gbs_builder_add_field(b, 3, 0.5, NULL));
    test_ok(gbs_builder_build(b, &model, NULL));
    gbs_builder_free(b);
    test_ok(list(&l, model, &no_end));
    assert_true(l.first != NULL && l.first->n_words == 24);
    test_ok(gbsi_codewords_sum(l.first, &watch, NULL, &log_z, NULL));
    assert_true(gbsi_watch_stopped(&watch));
    assert_true(watch.before + watch.spent < UINT64_C(1) << 24);
    unlist(&l);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_enumeration),
        cmocka_unit_test(limits),
        cmocka_unit_test(stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
