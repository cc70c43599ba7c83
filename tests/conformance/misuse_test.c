/* SPDX-License-Identifier: Apache-2.0 */
/* Public functions with NULL where a model, an object or an output is due, with NULL options,
 * and with ids and numbers out of range: a refusal or the result that its header states. Run under
 * the address sanitizer this also shows that nothing is read out of bounds. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gibbsite/dobrushin.h"
#include "gibbsite/generate.h"
#include "gibbsite/info.h"
#include "gibbsite/log_z.h"
#include "gibbsite/map.h"
#include "support/misuse.h"

static void models(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    uint32_t id = 0;
    uint32_t n = 7;
    const uint32_t *scope = &id;
    const uint32_t bad[2] = {0, 2};
    assert_int_equal(gbs_model_n_variables(NULL), 0);
    assert_int_equal(gbs_model_n_factors(NULL), 0);
    assert_int_equal(gbs_model_is_directed(NULL), 0);
    assert_int_equal(gbs_model_is_normalized(NULL), 0);
    assert_int_equal(gbs_model_arity(NULL, 0), 0);
    assert_int_equal(gbs_model_arity(m, 2), 0);
    assert_null(gbs_model_state_offsets(NULL));
    assert_null(gbs_model_variable_name(NULL, 0));
    assert_null(gbs_model_variable_name(m, UINT32_MAX));
    assert_null(gbs_model_state_label(NULL, 0, 0));
    assert_null(gbs_model_state_label(m, 2, 0));
    assert_null(gbs_model_state_label(m, 0, 2));
    REFUSED(gbs_model_find_variable(NULL, "0", &id, &err));
    REFUSED(gbs_model_find_variable(m, "2", &id, &err));
    REFUSED(gbs_model_find_state(NULL, 0, "0", &id, &err));
    REFUSED(gbs_model_find_state(m, 2, "0", &id, &err));
    REFUSED(gbs_model_find_state(m, 0, "2", &id, &err));
    assert_int_equal(gbs_model_factor(m, gbs_model_n_factors(m), &n, &scope), GBS_FACTOR_NONE);
    assert_true(n == 0 && scope == NULL);
    assert_int_equal(gbs_model_factor(NULL, 0, NULL, NULL), GBS_FACTOR_NONE);
    gbs_model_clamped(NULL, &id);
    gbs_model_clamped(m, NULL);
    assert_true(isnan(gbs_model_log_density(NULL, bad)));
    assert_true(isnan(gbs_model_log_density(m, bad)));
    assert_true(isnan(gbs_model_log_density(m, NULL)));
    REFUSED(gbs_model_find_variable(m, NULL, &id, &err));
    REFUSED(gbs_model_find_variable(m, "0", NULL, &err));
    REFUSED(gbs_model_find_state(m, 0, NULL, &id, &err));
    REFUSED(gbs_model_find_state(m, 0, "0", NULL, &err));
    assert_null(gbs_model_digest(NULL));
    assert_int_equal(gbs_model_bytes(NULL), 0);
    assert_null(gbs_factor_kind_name((gbs_factor_kind)GBS_N_FACTOR_KINDS));
    assert_null(gbs_class_name(GBS_N_CLASSES));
    gbs_model_free(m);
    gbs_model_free(NULL);
}

static void cardinalities(void **state)
{
    (void)state;
    gbs_builder *b = NULL;
    const uint32_t arity[2] = {2, 2};
    const uint32_t bad[2] = {0, 2};
    FINE(gbs_builder_new(&b, &err));
    FINE(gbs_builder_add_variables(b, 2, arity, NULL, &err));
    REFUSED(gbs_builder_add_cardinality(b, GBS_LOGICAL_AT_MOST, 1, 2, bad, bad, 0.1, &err));
    REFUSED(gbs_builder_add_cardinality(b, GBS_LOGICAL_AT_MOST, 1, 2, NULL, bad, 0.1, &err));
    REFUSED(gbs_builder_add_cardinality(b, GBS_LOGICAL_AT_MOST, 1, 2, bad, NULL, 0.1, &err));
    REFUSED(gbs_builder_add_cardinality(NULL, GBS_LOGICAL_AT_MOST, 1, 2, bad, bad, 0.1, &err));
    gbs_builder_free(b);
}

static void refuse_noisy(gbs_builder *b, const uint32_t *bad, const double *q)
{
    const gbs_factor_kind or = GBS_FACTOR_NOISY_OR;
    REFUSED(gbs_builder_add_noisy_or(NULL, 1, 1, bad, q, 0.1, &err));
    REFUSED(gbs_builder_add_noisy_or(b, 1, 1, bad, q, 1.1, &err));
    REFUSED(gbs_builder_add_noisy_and(NULL, 1, 1, bad, q, 0.1, &err));
    REFUSED(gbs_builder_add_noisy_and(b, 1, 1, bad, NULL, 0.1, &err));
    REFUSED(gbs_builder_add_noisy(NULL, or, 1, 1, bad, 2, q, 0.1, &err));
    REFUSED(gbs_builder_add_noisy(b, or, 1, 1, NULL, 2, q, 0.1, &err));
}

static void builders(void **state)
{
    (void)state;
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    uint32_t table = 0;
    const uint32_t arity[2] = {2, 2};
    const uint32_t bad[2] = {0, 2};
    const double logw[2] = {0.0, 0.0};
    const char *const label[2] = {"a", "b"};
    REFUSED(gbs_builder_new(NULL, &err));
    FINE(gbs_builder_new(&b, &err));
    REFUSED(gbs_builder_add_variables(NULL, 2, arity, NULL, &err));
    REFUSED(gbs_builder_add_variables(b, 2, NULL, NULL, &err));
    FINE(gbs_builder_add_variables(b, 2, arity, NULL, &err));
    REFUSED(gbs_builder_name_variable(b, 2, "x", &err));
    REFUSED(gbs_builder_name_variable(NULL, 0, "x", &err));
    REFUSED(gbs_builder_label_states(b, 2, label, &err));
    REFUSED(gbs_builder_label_states(b, 0, NULL, &err));
    REFUSED(gbs_builder_label_states(NULL, 0, label, &err));
    REFUSED(gbs_builder_name_variable(b, 0, NULL, &err));
    REFUSED(gbs_builder_add_table(b, 2, NULL, &table, &err));
    REFUSED(gbs_builder_add_table(b, 2, logw, NULL, &err));
    REFUSED(gbs_builder_add_table(NULL, 2, logw, &table, &err));
    FINE(gbs_builder_add_table(b, 2, logw, &table, &err));
    REFUSED(gbs_builder_add_table_factor(b, 1, bad + 1, table, &err));
    REFUSED(gbs_builder_add_table_factor(b, 1, bad, table + 1, &err));
    REFUSED(gbs_builder_add_table_factor(NULL, 1, bad, table, &err));
    REFUSED(gbs_builder_add_table_factor(b, 1, NULL, table, &err));
    REFUSED(gbs_builder_add_field(b, 2, 0.1, &err));
    REFUSED(gbs_builder_add_ising(b, 0, 2, 0.1, &err));
    REFUSED(gbs_builder_add_potts(b, 2, 0, 0.1, &err));
    REFUSED(gbs_builder_add_spin(b, 2, bad, 0.1, &err));
    REFUSED(gbs_builder_add_logical(b, GBS_LOGICAL_OR, 2, bad, bad, 0.1, &err));
    REFUSED(gbs_builder_add_field(NULL, 0, 0.1, &err));
    REFUSED(gbs_builder_add_ising(NULL, 0, 1, 0.1, &err));
    REFUSED(gbs_builder_add_potts(NULL, 0, 1, 0.1, &err));
    REFUSED(gbs_builder_add_spin(NULL, 1, bad, 0.1, &err));
    REFUSED(gbs_builder_add_spin(b, 1, NULL, 0.1, &err));
    REFUSED(gbs_builder_add_logical(NULL, GBS_LOGICAL_OR, 1, bad, bad, 0.1, &err));
    REFUSED(gbs_builder_add_logical(b, GBS_LOGICAL_OR, 1, NULL, bad, 0.1, &err));
    REFUSED(gbs_builder_add_logical(b, GBS_LOGICAL_OR, 1, bad, NULL, 0.1, &err));
    REFUSED(gbs_builder_add_logical(b, (gbs_logical_function)1000, 1, bad, bad, 0.1, &err));
    const double half[4] = {0.5, 0.5, 0.5, 0.5};
    REFUSED(gbs_builder_add_potential(NULL, 1, bad, 2, half, &err));
    REFUSED(gbs_builder_add_potential(b, 1, NULL, 2, half, &err));
    REFUSED(gbs_builder_add_potential(b, 1, bad, 2, NULL, &err));
    REFUSED(gbs_builder_add_potential(b, 1, bad + 1, 2, half, &err));
    REFUSED(gbs_builder_add_cpt(NULL, 0, 0, NULL, 2, half, &err));
    REFUSED(gbs_builder_add_cpt(b, 2, 0, NULL, 2, half, &err));
    REFUSED(gbs_builder_add_cpt(b, 0, 1, NULL, 2, half, &err));
    REFUSED(gbs_builder_add_cpt(b, 0, 0, NULL, 2, NULL, &err));
    REFUSED(gbs_builder_add_cpt(b, 0, 1, bad + 1, 4, half, &err));
    refuse_noisy(b, bad, half);
    gbs_builder_set_directed(NULL);
    REFUSED(gbs_builder_build(NULL, &m, &err));
    REFUSED(gbs_builder_build(b, NULL, &err));
    gbs_builder_free(b);
    gbs_builder_free(NULL);
}

static void evidences(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_evidence *e = NULL;
    uint32_t observed = 0;
    const double likelihood[2] = {1.0, 2.0};
    REFUSED(gbs_evidence_new(NULL, &e, &err));
    REFUSED(gbs_evidence_new(m, NULL, &err));
    FINE(gbs_evidence_new(m, &e, &err));
    REFUSED(gbs_evidence_observe(e, 2, 0, &err));
    REFUSED(gbs_evidence_observe(e, 0, 2, &err));
    REFUSED(gbs_evidence_observe(NULL, 0, 0, &err));
    REFUSED(gbs_evidence_likelihood(e, 2, likelihood, &err));
    REFUSED(gbs_evidence_likelihood(e, 0, NULL, &err));
    assert_int_equal(gbs_evidence_n_observed(NULL), 0);
    assert_int_equal(gbs_evidence_state(NULL, 0, &observed), 0);
    assert_int_equal(gbs_evidence_state(e, 2, &observed), 0);
    assert_int_equal(gbs_evidence_state(e, 0, NULL), 0);
    REFUSED(gbs_evidence_likelihood(NULL, 0, likelihood, &err));
    gbs_evidence_free(e);
    gbs_evidence_free(NULL);
    gbs_model_free(m);
}

static void runs(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_run *run = NULL;
    gbs_info info = {.size = sizeof info};
    gbs_info unsized = {.size = 0};
    gbs_log_z_report log_z = {.size = sizeof log_z};
    uint32_t x[2];
    double p[4];
    uint8_t hardly = 0;
    const uint32_t beyond = 2;
    REFUSED(gbs_run_new(NULL, NULL, NULL, &run, &err));
    REFUSED(gbs_run_new(m, NULL, NULL, NULL, &err));
    REFUSED(gbs_run_new_with(NULL, &run, &err));
    REFUSED(gbs_run_new_with(&(gbs_run_setup){.model = m}, NULL, &err));
    refuse_setup((gbs_run_setup){.size = 0}, "model and share are NULL");
    refuse_setup((gbs_run_setup){.size = 8, .model = m}, "gbs_run_setup.size");
    refuse_setup((gbs_run_setup){.model = m, .task = (gbs_run_task)2}, "task is neither");
    refuse_setup((gbs_run_setup){.model = m, .n_query = 1}, "query is NULL");
    refuse_setup((gbs_run_setup){.model = m, .query = &beyond, .n_query = 1}, "no variable 2");
    refuse_setup((gbs_run_setup){.model = m, .task = GBS_RUN_DRAWS, .query = x, .n_query = 1},
                 "draws have all variables");
    REFUSED(gbs_run_hardly_moved(NULL, &hardly, &err));
    REFUSED(gbs_log_z(m, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_map(m, NULL, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_run_execute(NULL, NULL, &err));
    REFUSED(gbs_run_marginals(NULL, p, NULL, NULL, NULL, &err));
    assert_null(gbs_run_report(NULL));
    assert_null(gbs_run_model_digest(NULL));
    FINE(gbs_run_new(m, NULL, NULL, &run, &err)); /* NULL options: the defaults */
    FINE(gbs_run_execute(run, NULL, &err));
    REFUSED(gbs_run_marginals(run, NULL, NULL, NULL, NULL, &err));
    FINE(gbs_run_marginals(run, p, NULL, NULL, NULL, &err));
    REFUSED(gbs_run_marginals_of(NULL, 0, 1, p, NULL, NULL, NULL, &err));
    REFUSED(gbs_run_marginals_of(run, 0, 1, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_run_marginals_of(run, 1, UINT32_MAX, p, NULL, NULL, NULL, &err));
    FINE(gbs_run_marginals_of(run, 0, 1, p, NULL, NULL, NULL, &err));
    REFUSED(gbs_run_count_bytes(NULL, 1, "draws", &err));
    FINE(gbs_run_count_bytes(run, 1, NULL, &err));
    assert_true(gbs_run_report(run)->size == sizeof(gbs_report));
    gbs_run_free(run);
    gbs_run_free(NULL);
    REFUSED(gbs_model_info(NULL, NULL, NULL, &info, &err));
    REFUSED(gbs_model_info(m, NULL, NULL, NULL, &err));
    REFUSED(gbs_model_info(m, NULL, NULL, &unsized, &err));
    FINE(gbs_model_info(m, NULL, NULL, &info, &err));
    gbs_answer answer = {.size = 0};
    REFUSED(gbs_query(m, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_query(m, NULL, NULL, NULL, &answer, &err));
    answer.size = sizeof answer;
    REFUSED(gbs_query(NULL, NULL, NULL, NULL, &answer, &err));
    REFUSED(gbs_query(m, "2=1", NULL, NULL, &answer, &err));
    REFUSED(gbs_query(m, NULL, "2", NULL, &answer, &err));
    FINE(gbs_query(m, NULL, NULL, NULL, &answer, &err));
    gbs_answer_free(&answer);
    gbs_answer_free(NULL);
    gbs_draw_sizes sizes = {.size = sizeof sizes};
    REFUSED(gbs_model_draw_sizes(NULL, NULL, NULL, &sizes, &err));
    REFUSED(gbs_model_draw_sizes(m, NULL, NULL, NULL, &err));
    FINE(gbs_model_draw_sizes(m, NULL, NULL, &sizes, &err));
    REFUSED(gbs_log_z(NULL, NULL, NULL, NULL, &log_z, &err));
    FINE(gbs_log_z(m, NULL, NULL, NULL, &log_z, &err));
    REFUSED(gbs_log_z_bound(NULL, NULL, NULL, NULL, p, &err));
    REFUSED(gbs_log_z_bound(m, NULL, NULL, NULL, NULL, &err));
    FINE(gbs_log_z_bound(m, NULL, NULL, NULL, p, &err));
    REFUSED(gbs_map(NULL, NULL, NULL, NULL, x, NULL, &err));
    FINE(gbs_map(m, NULL, NULL, NULL, x, NULL, &err));
    REFUSED(gbs_mmap(NULL, NULL, NULL, NULL, 0, NULL, x, NULL, &err));
    REFUSED(gbs_mmap(m, NULL, NULL, NULL, 1, NULL, x, NULL, &err));
    REFUSED(gbs_mmap(m, NULL, NULL, NULL, 1, x, NULL, NULL, &err));
    FINE(gbs_mmap(m, NULL, NULL, NULL, 0, NULL, NULL, NULL, &err));
    gbs_model_free(m);
}

static void options_by_name(void **state)
{
    (void)state;
    gbs_run_options o = gbs_run_options_default();
    char text[64];
    uint64_t whole = 0;
    double real = 0.0;
    REFUSED(gbs_run_options_init(NULL, sizeof o, &err));
    REFUSED(gbs_run_options_init(&o, 8, &err));
    assert_null(gbs_option_at(gbs_option_count()));
    assert_null(gbs_option_find("no-such-option"));
    assert_null(gbs_option_find(NULL));
    assert_null(gbs_option_choice(NULL, 0));
    assert_null(gbs_option_choice(gbs_option_find("scan"), 1000));
    REFUSED(gbs_option_set(NULL, "scan", "random", &err));
    REFUSED(gbs_option_set(&o, "no-such-option", "1", &err));
    REFUSED(gbs_option_set(&o, "sweeps", "0", &err));
    REFUSED(gbs_option_set(&o, "scan", NULL, &err));
    REFUSED(gbs_option_get(&o, "scan", text, 2, &err));
    REFUSED(gbs_option_set_uint(&o, "keys", 0, &err));
    REFUSED(gbs_option_get(NULL, "scan", text, sizeof text, &err));
    REFUSED(gbs_option_get(&o, NULL, text, sizeof text, &err));
    REFUSED(gbs_option_get(&o, "scan", NULL, sizeof text, &err));
    REFUSED(gbs_option_set_uint(NULL, "seed", 1, &err));
    REFUSED(gbs_option_set_uint(&o, NULL, 1, &err));
    REFUSED(gbs_option_get_uint(NULL, "seed", &whole, &err));
    REFUSED(gbs_option_get_uint(&o, "seed", NULL, &err));
    REFUSED(gbs_option_set_real(NULL, "damping", 1.0, &err));
    REFUSED(gbs_option_get_real(NULL, "damping", &real, &err));
    REFUSED(gbs_option_get_real(&o, "damping", NULL, &err));
    REFUSED(gbs_option_get_uint(&o, "time", &whole, &err));
    REFUSED(gbs_option_set_real(&o, "damping", 2.0, &err));
    REFUSED(gbs_option_get_real(&o, "scan", &real, &err));
    for (size_t i = 0; i < gbs_option_count(); ++i) { /* what is read can be set */
        const char *name = gbs_option_at(i)->name;
        FINE(gbs_option_get(&o, name, text, sizeof text, &err));
        FINE(gbs_option_set(&o, name, text, &err));
    }
    const gbs_run_options defaults = gbs_run_options_default();
    assert_memory_equal(&o, &defaults, sizeof o);
    FINE(gbs_option_set(&o, "memory_limit", "2G", &err));
    assert_true(o.memory_limit == UINT64_C(2) << 30);
    FINE(gbs_option_set(&o, "time", "2m", &err));
    assert_true(o.time_s == 120.0);
}

/* Lists in the options whose length says more than the pointer, and ids that do not exist. */
static void lists_in_options(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_run *run = NULL;
    const uint32_t ids[2] = {0, 1};
    const uint32_t bad[2] = {0, 2};
    const gbs_run_options usual = gbs_run_options_default();
    gbs_run_options o = usual;
    o.method = GBS_METHOD_SAMPLE;
    o.scan = GBS_SCAN_SEQUENCE;
    o.sequence_length = 2;
    REFUSED(gbs_run_new(m, NULL, &o, &run, &err));
    o.sequence = bad;
    REFUSED(gbs_run_new(m, NULL, &o, &run, &err));
    o.sequence = ids;
    o.restarts = 1;
    o.n_targets = 2;
    REFUSED(gbs_run_new(m, NULL, &o, &run, &err));
    o.target = bad;
    REFUSED(gbs_run_new(m, NULL, &o, &run, &err));
    o = usual;
    o.method = GBS_METHOD_SAMPLE;
    o.scan = GBS_SCAN_SYSTEMATIC;
    o.origin = 2;
    REFUSED(gbs_run_new(m, NULL, &o, &run, &err));
    o = usual;
    o.method = GBS_METHOD_SAMPLE;
    o.draw = GBS_DRAW_HERDED;
    o.n_dummy_edges = 1;
    REFUSED(gbs_run_new(m, NULL, &o, &run, &err));
    o.dummy_edges = bad;
    REFUSED(gbs_run_new(m, NULL, &o, &run, &err));
    o = usual;
    o.method = GBS_METHOD_SAMPLE;
    o.start = bad;
    FINE(gbs_run_new(m, NULL, &o, &run, &err));
    REFUSED(gbs_run_execute(run, NULL, &err));
    gbs_run_free(run);
    gbs_model_free(m);
}

/* Evidence belongs to one model. */
static void evidence_of_another_model(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_model *other = NULL;
    gbs_evidence *e = NULL;
    gbs_run *run = NULL;
    gbs_influences *influences = NULL;
    gbs_info info = {.size = sizeof info};
    gbs_log_z_report log_z = {.size = sizeof log_z};
    uint32_t x[5];
    double p[4];
    const uint32_t pair[2] = {0, 1};
    const gbs_generate_ring_options five = {.variables = 5, .coupling = 0.3};
    FINE(gbs_generate_ring(&five, &other, &err));
    FINE(gbs_evidence_new(m, &e, &err)); /* of the smaller one */
    FINE(gbs_evidence_observe(e, 1, 1, &err));
    REFUSED(gbs_run_new(other, e, NULL, &run, &err));
    REFUSED(gbs_model_info(other, e, NULL, &info, &err));
    REFUSED(gbs_log_z(other, e, NULL, NULL, &log_z, &err));
    REFUSED(gbs_log_z_bound(other, e, NULL, NULL, p, &err));
    REFUSED(gbs_map(other, e, NULL, NULL, x, NULL, &err));
    REFUSED(gbs_mmap(other, e, NULL, NULL, 0, NULL, x, NULL, &err));
    REFUSED(gbs_exact_log_z(other, e, NULL, p, &err));
    REFUSED(gbs_exact_map(other, e, NULL, NULL, x, NULL, NULL, &err));
    REFUSED(gbs_exact_mmap(other, e, NULL, 1, pair, x, NULL, &err));
    REFUSED(gbs_exact_joint(other, e, NULL, 2, pair, p, &err));
    REFUSED(gbs_influences_new(other, e, NULL, &influences, &err));
    gbs_evidence_free(e);
    gbs_model_free(m);
    gbs_model_free(other);
}

#define REFUSES_NOTHING(type)                             \
    do {                                                  \
        gbs_model *none = NULL;                           \
        const gbs_generate_##type##_options zero = {0};   \
        REFUSED(gbs_generate_##type(NULL, &none, &err));  \
        REFUSED(gbs_generate_##type(&zero, &none, &err)); \
        REFUSED(gbs_generate_##type(&zero, NULL, &err));  \
        assert_null(none);                                \
    } while (0)

static void generators(void **state)
{
    (void)state;
    REFUSES_NOTHING(ising);
    REFUSES_NOTHING(potts);
    REFUSES_NOTHING(ring);
    REFUSES_NOTHING(complete);
    REFUSES_NOTHING(rbm);
    REFUSES_NOTHING(regular);
    REFUSES_NOTHING(powerlaw);
    REFUSES_NOTHING(bayes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(models),
        cmocka_unit_test(builders),
        cmocka_unit_test(cardinalities),
        cmocka_unit_test(evidences),
        cmocka_unit_test(runs),
        cmocka_unit_test(options_by_name),
        cmocka_unit_test(lists_in_options),
        cmocka_unit_test(evidence_of_another_model),
        cmocka_unit_test(generators),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
