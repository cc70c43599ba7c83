/* SPDX-License-Identifier: Apache-2.0 */
/* As misuse_test.c, for noisy maxima, tied weights and for the public functions that read and
 * write: files, outputs, arrays, pictures. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "answers/answers.h"
#include "arrays/arrays.h"
#include "decimal/decimal.h"
#include "gibbsite/checkpoint.h"
#include "gibbsite/diagnose.h"
#include "gibbsite/fit.h"
#include "gibbsite/joint.h"
#include "gibbsite/log_z.h"
#include "gibbsite/map.h"
#include "gibbsite/report.h"
#include "gibbsite/sensitivity.h"
#include "gibbsite/table.h"
#include "gibbsite/traces.h"
#include "models/format_names.h"
#include "support/misuse.h"
#include "text/output.h"

static void networks_in_time(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_model *made = NULL;
    REFUSED(gbs_unroll(NULL, 2, &made, &err));
    REFUSED(gbs_unroll(m, 2, NULL, &err));
    REFUSED(gbs_unroll(m, 0, &made, &err));
    REFUSED(gbs_unroll(m, 2, &made, &err));
    assert_null(made);
    gbs_model_free(m);
}

static void noisy_maxima(void **state)
{
    (void)state;
    const gbs_factor_kind max = GBS_FACTOR_NOISY_MAX;
    const uint32_t arity[2] = {2, 3};
    const uint32_t of = 0;
    const double p[6] = {1.0, 0.0, 0.0, 0.5, 0.25, 0.25};
    gbs_builder *b = NULL;
    FINE(gbs_builder_new(&b, &err));
    FINE(gbs_builder_add_variables(b, 2, arity, NULL, &err));
    REFUSED(gbs_builder_add_noisy_max(NULL, max, 1, 1, &of, 6, p, NULL, &err));
    REFUSED(gbs_builder_add_noisy_max(b, GBS_FACTOR_TABLE, 1, 1, &of, 6, p, NULL, &err));
    REFUSED(gbs_builder_add_noisy_max(b, max, 2, 1, &of, 6, p, NULL, &err));
    REFUSED(gbs_builder_add_noisy_max(b, max, 1, 1, NULL, 6, p, NULL, &err));
    REFUSED(gbs_builder_add_noisy_max(b, max, 1, 1, &of, 6, NULL, NULL, &err));
    REFUSED(gbs_builder_add_noisy_max(b, max, 1, 1, &of, 3, p, NULL, &err));
    FINE(gbs_builder_add_noisy_max(b, max, 1, 0, NULL, 0, NULL, p, &err));
    gbs_builder_free(b);
}

static void tables_by_count(void **state)
{
    (void)state;
    const uint32_t arity[2] = {2, 3};
    const uint32_t scope[2] = {0, 1};
    const uint32_t literal[2] = {1, 2};
    const double logw[3] = {0.0, 1.0, 0.5};
    const double gap[3] = {0.0, -INFINITY, 0.5};
    gbs_builder *b = NULL;
    FINE(gbs_builder_new(&b, &err));
    FINE(gbs_builder_add_variables(b, 2, arity, NULL, &err));
    const gbs_pair pair = {.i = 0, .j = 1, .value = 1.0};
    const gbs_quadratic quadratic = {
        .size = sizeof quadratic, .scale = 1.0, .n_variables = 2, .pair = &pair, .n_pairs = 1};
    gbs_quadratic without = quadratic;
    without.pair = NULL;
    REFUSED(gbs_builder_add_quadratic(NULL, &quadratic, &err));
    REFUSED(gbs_builder_add_quadratic(b, NULL, &err));
    REFUSED(gbs_builder_add_quadratic(b, &without, &err));
    REFUSED(gbs_builder_add_count_table(NULL, 2, scope, literal, logw, &err));
    REFUSED(gbs_builder_add_count_table(b, 2, NULL, literal, logw, &err));
    REFUSED(gbs_builder_add_count_table(b, 2, scope, NULL, logw, &err));
    REFUSED(gbs_builder_add_count_table(b, 2, scope, literal, NULL, &err));
    FINE(gbs_builder_add_count_table(b, 0, NULL, NULL, logw, &err));
    assert_int_equal(gbs_builder_add_count_table(b, 2, scope, literal, gap, NULL),
                     GBS_ERR_UNSUPPORTED);
    gbs_builder_free(b);
}

static void tied_weights(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_builder *b = NULL;
    int fixed = 7;
    double feature = 7;
    const double value = 0.5;
    FINE(gbs_builder_new(&b, &err));
    REFUSED(gbs_builder_add_weights(NULL, 1, &value, NULL, NULL, &err));
    REFUSED(gbs_builder_add_weights(b, 1, NULL, NULL, NULL, &err));
    FINE(gbs_builder_add_weights(b, 0, NULL, NULL, NULL, &err));
    FINE(gbs_builder_add_weights(b, 1, &value, NULL, NULL, &err));
    REFUSED(gbs_builder_tie_factor(NULL, 0, 0, 1.0, &err));
    REFUSED(gbs_builder_tie_factor(b, 0, 0, 1.0, &err));
    gbs_builder_free(b);
    assert_int_equal(gbs_model_n_weights(NULL), 0);
    assert_true(isnan(gbs_model_weight(NULL, 0, NULL)));
    assert_true(isnan(gbs_model_weight(m, 0, &fixed)));
    assert_int_equal(fixed, 0);
    assert_int_equal(gbs_model_tied_weight(NULL, 0, NULL), UINT32_MAX);
    assert_int_equal(gbs_model_tied_weight(m, SIZE_MAX, &feature), UINT32_MAX);
    assert_true(feature == 0.0);
    gbs_model_free(m);
}

static void arrays(void **state)
{
    (void)state;
    gbs_output *output = NULL;
    gbsi_npz *npz = NULL;
    gbsi_npz_writer *writer = NULL;
    double number = 1.0;
    const gbsi_array one = {.type = GBSI_ARRAY_F8, .data = &number};
    const gbsi_array no_type = {.type = (gbsi_array_type)6, .data = &number};
    const gbsi_array many = {.type = GBSI_ARRAY_F8, .n_dims = 99, .data = &number};
    const gbsi_array no_data = {.type = GBSI_ARRAY_F8};
    gbsi_array read = {0};
    assert_int_equal(gbsi_array_type_bytes((gbsi_array_type)6), 0);
    assert_int_equal(gbsi_array_size(NULL), 0);
    assert_int_equal(gbsi_array_size(&many), 0);
    assert_true(isnan(gbsi_array_value(NULL, 0)));
    assert_true(isnan(gbsi_array_value(&one, 1)));
    assert_true(isnan(gbsi_array_value(&no_type, 0)));
    assert_true(isnan(gbsi_array_value(&no_data, 0)));
    gbsi_array_free(NULL);
    REFUSED(gbsi_npy_read(NULL, &read, &err));
    REFUSED(gbsi_npy_read("x", NULL, &err));
    REFUSED(gbsi_npz_open(NULL, &npz, &err));
    REFUSED(gbsi_npz_open("x", NULL, &err));
    gbsi_npz_close(NULL);
    assert_int_equal(gbsi_npz_n_members(NULL), 0);
    assert_null(gbsi_npz_name(NULL, 0));
    REFUSED(gbsi_npz_read(NULL, "x", &read, &err));
    FINE(gbs_output_open_memory(&output, &err));
    REFUSED(gbsi_npy_write(NULL, &one, NULL, NULL, &err));
    REFUSED(gbsi_npy_write(output, NULL, NULL, NULL, &err));
    REFUSED(gbsi_npy_write(output, &no_type, NULL, NULL, &err));
    REFUSED(gbsi_npy_write(output, &many, NULL, NULL, &err));
    REFUSED(gbsi_npy_write(output, &no_data, NULL, NULL, &err));
    REFUSED(gbsi_npz_writer_new(NULL, &writer, &err));
    REFUSED(gbsi_npz_writer_new(output, NULL, &err));
    FINE(gbsi_npz_writer_new(output, &writer, &err));
    REFUSED(gbsi_npz_writer_add(NULL, "x", &one, NULL, NULL, &err));
    REFUSED(gbsi_npz_writer_add(writer, NULL, &one, NULL, NULL, &err));
    REFUSED(gbsi_npz_writer_add(writer, "x/y", &one, NULL, NULL, &err));
    REFUSED(gbsi_npz_writer_add(writer, "x", NULL, NULL, NULL, &err));
    REFUSED(gbsi_npz_writer_add(writer, "x", &no_data, NULL, NULL, &err));
    gbsi_npz_writer_finish(NULL);
    gbsi_npz_writer_free(writer);
    gbsi_npz_writer_free(NULL);
    gbs_output_discard(output);
}

static void outputs(void **state)
{
    (void)state;
    gbs_output *output = NULL;
    gbs_output *const none[1] = {NULL};
    char *bytes = NULL;
    size_t n = 0;
    const gbs_result result = {.task = (gbs_task)9};
    REFUSED(gbs_output_open(NULL, &output, &err));
    REFUSED(gbs_output_open("x", NULL, &err));
    REFUSED(gbs_output_open_memory(NULL, &err));
    gbsi_output_text(NULL, "x");
    gbsi_output_bytes(NULL, "x", 1);
    gbsi_output_uint(NULL, 1);
    gbsi_output_double(NULL, 1e300);
    gbsi_output_json_string(NULL, "x");
    gbsi_output_json_double(NULL, 1e300);
    gbsi_output_csv_field(NULL, "a,b");
    gbsi_result_write_solution(NULL, &result, GBS_LOG_BASE_10);
    gbs_output_discard(NULL);
    REFUSED(gbsi_output_finish(NULL, &err));
    REFUSED(gbs_output_commit(NULL, &err));
    REFUSED(gbsi_output_commit_all(NULL, 1, &err));
    FINE(gbsi_output_set_end(1, &err)); /* of no set */
    assert_int_equal(gbsi_unseen(NULL, NULL), 0);
    assert_int_equal(gbsi_unseen("", NULL), 0);
    REFUSED(gbsi_output_commit_all(none, 1, &err));
    FINE(gbsi_output_commit_all(NULL, 0, &err));
    REFUSED(gbs_output_take(NULL, &bytes, &n, &err));
    FINE(gbs_output_open("/dev/null", &output, &err));
    REFUSED(gbs_output_take(output, &bytes, &n, &err)); /* not in memory */
    FINE(gbsi_output_finish(output, &err));
    gbsi_output_text(output, "nothing may be written any more");
    gbs_output_discard(output);
    FINE(gbs_output_open_memory(&output, &err));
    REFUSED(gbs_output_take(output, NULL, &n, &err));
    REFUSED(gbs_output_take(output, &bytes, NULL, &err));
    gbsi_output_text(output, NULL);
    gbsi_output_bytes(output, NULL, 1);
    gbsi_output_json_string(output, NULL);
    gbsi_output_csv_field(output, NULL);
    gbsi_result_write_solution(output, NULL, GBS_LOG_BASE_10);
    FINE(gbs_output_take(output, &bytes, &n, &err));
    assert_string_equal(bytes, "\"\"");
    gbs_free(bytes);
    assert_int_equal(gbsi_unpacked_length(NULL), 0);
    assert_int_equal(gbsi_format_double(1.0, NULL), 0);
    assert_null(gbs_task_word((gbs_task)4));
}

static void model_files(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_model *read = NULL;
    const gbs_read_options no_format = {.format = "no-such-format"};
    const gbs_write_options no_form = {.format = "no-such-format"};
    const char *uai = "MARKOV 1 2 0";
    assert_null(gbsi_model_format_of(NULL));
    assert_null(gbsi_model_convention_of(NULL, NULL));
    assert_null(gbsi_model_convention_of("x.mtx", &no_format));
    REFUSED(gbs_model_read(NULL, NULL, &read, &err));
    REFUSED(gbs_model_read("x.uai", NULL, NULL, &err));
    REFUSED(gbs_model_read("x.uai", &no_format, &read, &err));
    REFUSED(gbs_model_read_memory(NULL, uai, strlen(uai), NULL, &read, &err));
    REFUSED(gbs_model_read_memory("x.uai", NULL, 3, NULL, &read, &err));
    REFUSED(gbs_model_read_memory("x.uai", uai, strlen(uai), NULL, NULL, &err));
    REFUSED(gbs_model_read_memory("x.uai", uai, strlen(uai), &no_format, &read, &err));
    REFUSED(gbs_model_write(NULL, "x.uai", NULL, &err));
    REFUSED(gbs_model_write(m, NULL, NULL, &err));
    REFUSED(gbs_model_write(m, "x.uai", &no_form, &err));
    assert_null(read);
    gbs_model_free(m);
}

static void drawings(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_model *other = two_spins();
    gbs_evidence *e = NULL;
    gbs_output *output = NULL;
    char *text = NULL;
    size_t n = 0;
    const double p[4] = {0.5, 0.5, 0.5, 0.5};
    const uint32_t two = 2;
    const gbs_drawing no_p = {.size = sizeof no_p, .mcse = p};
    const gbs_drawing unknown = {.size = sizeof unknown, .query = &two, .n_query = 1};
    FINE(gbs_evidence_new(other, &e, &err));
    const gbs_drawing of_other = {.size = sizeof of_other, .evidence = e};
    FINE(gbs_output_open_memory(&output, &err));
    REFUSED(gbs_model_draw(NULL, NULL, output, &err));
    REFUSED(gbs_model_draw(m, NULL, NULL, &err));
    REFUSED(gbs_model_draw(m, &no_p, output, &err));
    REFUSED(gbs_model_draw(m, &unknown, output, &err));
    REFUSED(gbs_model_draw(m, &of_other, output, &err));
    FINE(gbs_output_take(output, &text, &n, &err));
    assert_int_equal(n, 0); /* a refused drawing writes nothing */
    gbs_free(text);
    gbs_evidence_free(e);
    gbs_model_free(other);
    gbs_model_free(m);
}

static void evidence_files(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_model *other = two_spins();
    gbs_evidence *e = NULL;
    gbsi_evidence_set *set = NULL;
    size_t n = 0;
    FINE(gbs_evidence_new(other, &e, &err));
    REFUSED(gbs_evidence_add(NULL, "0=0", &err));
    REFUSED(gbs_evidence_add(e, NULL, &err));
    REFUSED(gbs_evidence_add_likelihood(NULL, "0=0:1", &err));
    REFUSED(gbs_evidence_add_likelihood(e, NULL, &err));
    REFUSED(gbsi_evidence_set_read(NULL, "x", NULL, &set, &err));
    REFUSED(gbsi_evidence_set_read(m, NULL, NULL, &set, &err));
    REFUSED(gbsi_evidence_set_read(m, "x", NULL, NULL, &err));
    assert_int_equal(gbsi_evidence_set_size(NULL), 0);
    REFUSED(gbsi_evidence_set_observe(NULL, 0, e, &err));
    REFUSED(gbs_evidence_count(NULL, "x", NULL, &n, &err));
    REFUSED(gbs_evidence_count(m, NULL, NULL, &n, &err));
    REFUSED(gbs_evidence_count(m, "x", NULL, NULL, &err));
    REFUSED(gbs_evidence_read(NULL, "x", 0, NULL, &err));
    REFUSED(gbs_evidence_read(e, NULL, 0, NULL, &err));
    REFUSED(gbs_evidence_read_virtual(NULL, "x", NULL, &err));
    REFUSED(gbs_evidence_read_virtual(e, NULL, NULL, &err));
    char path[] = "/tmp/gibbsite-misuse-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0 && write(file, "1 0 1", 5) == 5 && close(file) == 0);
    FINE(gbsi_evidence_set_read(m, path, NULL, &set, &err));
    assert_int_equal(unlink(path), 0);
    REFUSED(gbsi_evidence_set_observe(set, 0, NULL, &err));
    REFUSED(gbsi_evidence_set_observe(set, 0, e, &err)); /* of another model */
    gbs_evidence_free(e);
    FINE(gbs_evidence_new(m, &e, &err));
    REFUSED(gbsi_evidence_set_observe(set, gbsi_evidence_set_size(set), e, &err));
    gbsi_evidence_set_free(set);
    gbsi_evidence_set_free(NULL);
    gbs_evidence_free(e);
    gbs_model_free(m);
    gbs_model_free(other);
}

static void checkpoints(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_run *run = NULL;
    gbs_checkpoint c = {.size = sizeof c};
    gbs_checkpoint small = {.size = sizeof c - 8};
    gbs_run_options options = gbs_run_options_default();
    FINE(gbs_run_new(m, NULL, NULL, &run, &err));
    REFUSED(gbs_run_checkpoint(NULL, "x", &err));
    REFUSED(gbs_run_checkpoint(run, NULL, &err));
    uint32_t x[16] = {0};
    const gbs_checkpoint_files small_files = {.size = 8};
    REFUSED(gbs_map_with_checkpoints(NULL, NULL, NULL, NULL, NULL, x, NULL, &err));
    REFUSED(gbs_map_with_checkpoints(m, NULL, NULL, &small_files, NULL, x, NULL, &err));
    uint32_t n_needed = 0;
    REFUSED(gbs_joint_estimate_needs(NULL, 1, x, 1, x, &n_needed, &err));
    REFUSED(gbs_joint_estimate_needs(m, 0, x, 1, x, &n_needed, &err));
    REFUSED(gbs_joint_estimate_needs(m, 1, NULL, 1, x, &n_needed, &err));
    REFUSED(gbs_joint_estimate_needs(m, 1, x, 1, NULL, &n_needed, &err));
    REFUSED(gbs_joint_estimate_needs(m, 1, x, 1, x, NULL, &err));
    gbs_log_z_report z = {.size = sizeof z};
    REFUSED(gbs_log_z_with(NULL, NULL, NULL, NULL, NULL, NULL, &z, &err));
    REFUSED(gbs_log_z_with(NULL, m, NULL, NULL, &small_files, NULL, &z, &err));
    REFUSED(gbs_run_keep_draws(NULL, NULL, 0, &err));
    REFUSED(gbs_run_resume(NULL, "x", &err));
    REFUSED(gbs_run_resume(run, NULL, &err));
    assert_int_equal(gbs_is_checkpoint(NULL), 0);
    REFUSED(gbs_checkpoint_read(NULL, &c, &err));
    REFUSED(gbs_checkpoint_read("x", NULL, &err));
    REFUSED(gbs_checkpoint_read("x", &small, &err));
    REFUSED(gbs_checkpoint_options(NULL, &options, &err));
    REFUSED(gbs_checkpoint_options("x", NULL, &err));
    gbs_run_free(run);
    gbs_model_free(m);
}

static void traces(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_run *run = NULL;
    gbs_traces t = {.size = sizeof t};
    gbs_traces small = {.size = sizeof t - 8};
    uint32_t x = 2;
    double value = 0.0;
    FINE(gbs_run_new(m, NULL, NULL, &run, &err));
    REFUSED(gbs_run_monitor(NULL, &x, 1, &err));
    REFUSED(gbs_run_monitor(run, NULL, 1, &err));
    REFUSED(gbs_run_monitor(run, &x, 1, &err));
    FINE(gbs_run_monitor(run, NULL, 0, &err));
    FINE(gbs_run_execute(run, NULL, &err));
    REFUSED(gbs_run_traces(NULL, &t, &err));
    REFUSED(gbs_run_traces(run, NULL, &err));
    REFUSED(gbs_run_traces(run, &small, &err));
    REFUSED(gbs_run_trace_density(NULL, &value, &err));
    REFUSED(gbs_run_trace_density(run, NULL, &err));
    REFUSED(gbs_run_trace_state(NULL, 0, &x, &err));
    REFUSED(gbs_run_trace_state(run, 0, NULL, &err));
    REFUSED(gbs_run_trace_state(run, 2, &x, &err));
    gbs_run_free(run);
    gbs_model_free(m);
}

static void tables_of_data(void **state)
{
    (void)state;
    static const char text[] = "0,1\n0,1\n";
    gbs_model *m = two_spins();
    gbs_table *table = NULL;
    uint32_t x[2];
    int end = 0;
    uint32_t n = 1;
    const gbs_table_options small = {.size = 8};
    REFUSED(gbs_table_open(NULL, "x", NULL, &table, &err));
    REFUSED(gbs_table_open(m, NULL, NULL, &table, &err));
    REFUSED(gbs_table_open(m, "x", NULL, NULL, &err));
    REFUSED(gbs_table_open(m, "x", &small, &table, &err));
    REFUSED(gbs_table_open_memory(NULL, "t", text, sizeof text - 1, NULL, &table, &err));
    REFUSED(gbs_table_open_memory(m, NULL, text, sizeof text - 1, NULL, &table, &err));
    REFUSED(gbs_table_open_memory(m, "t", NULL, 0, NULL, &table, &err));
    REFUSED(gbs_table_open_memory(m, "t", text, sizeof text - 1, NULL, NULL, &err));
    const gbs_column column[2] = {{"0", NULL}, {NULL, NULL}};
    REFUSED(gbs_table_of_columns(NULL, "t", 1, column, 1, NULL, &table, &err));
    REFUSED(gbs_table_of_columns(m, NULL, 1, column, 1, NULL, &table, &err));
    REFUSED(gbs_table_of_columns(m, "t", 1, NULL, 1, NULL, &table, &err));
    REFUSED(gbs_table_of_columns(m, "t", 2, column, 1, NULL, &table, &err));
    REFUSED(gbs_table_of_columns(m, "t", 1, column, 1, NULL, NULL, &err));
    assert_null(gbs_table_missing_sign(SIZE_MAX));
    assert_string_equal(gbs_table_missing_sign(1), "NA");
    assert_int_equal(gbs_table_open(m, "/none/none", NULL, &table, NULL), GBS_ERR_IO);
    assert_null(table);
    assert_null(gbs_table_columns(NULL, &n));
    assert_int_equal(n, 0);
    FINE(gbs_table_open_memory(m, "t", text, sizeof text - 1, NULL, &table, &err));
    assert_int_equal(gbs_table_columns(table, NULL)[0], 0);
    REFUSED(gbs_table_next(NULL, x, NULL, &end, &err));
    REFUSED(gbs_table_next(table, NULL, NULL, &end, &err));
    REFUSED(gbs_table_next(table, x, NULL, NULL, &err));
    FINE(gbs_table_next(table, x, NULL, &end, &err));
    assert_true(!end && x[0] == 0 && x[1] == 1);
    gbs_table_rewind(NULL);
    gbs_table_free(NULL);
    gbs_table_free(table);
    gbs_model_free(m);
}

static void draws_in_files(void **state)
{
    (void)state;
    const char *none[2] = {"/none/none", NULL};
    gbs_draws *draws = NULL;
    REFUSED(gbs_draws_read(NULL, 1, NULL, &draws, &err));
    REFUSED(gbs_draws_read(none, 0, NULL, &draws, &err));
    REFUSED(gbs_draws_read(none, 2, NULL, &draws, &err));
    REFUSED(gbs_draws_read(none, 1, NULL, NULL, &err));
    assert_int_equal(gbs_draws_read(none, 1, NULL, &draws, NULL), GBS_ERR_IO);
    assert_null(draws);
    gbs_draws_free(NULL);
    assert_true(gbs_draws_n_quantities(NULL) == 0 && gbs_draws_n_chains(NULL) == 0 &&
                gbs_draws_n_draws(NULL) == 0);
    assert_null(gbs_draws_name(NULL, 0));
    assert_null(gbs_draws_values(NULL, 0));
}

static void other_files(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    uint32_t x[2];
    uint32_t *list = NULL;
    size_t n = 0;
    const uint32_t bad[2] = {0, 2};
    REFUSED(gbsi_query_read(NULL, m, NULL, &list, &n, &err));
    REFUSED(gbsi_query_read("x", NULL, NULL, &list, &n, &err));
    REFUSED(gbsi_query_read("x", m, NULL, NULL, &n, &err));
    REFUSED(gbsi_query_read("x", m, NULL, &list, NULL, &err));
    gbs_pair *pair = NULL;
    REFUSED(gbs_influences_read(NULL, m, &pair, &n, &err));
    REFUSED(gbs_influences_read("x", NULL, &pair, &n, &err));
    REFUSED(gbs_influences_read("x", m, NULL, &n, &err));
    REFUSED(gbs_influences_read("x", m, &pair, NULL, &err));
    REFUSED(gbs_scan_read(NULL, m, &list, &n, &err));
    REFUSED(gbs_scan_read("x", NULL, &list, &n, &err));
    REFUSED(gbs_scan_read("x", m, NULL, &n, &err));
    REFUSED(gbs_scan_read("x", m, &list, NULL, &err));
    REFUSED(gbs_scan_write(NULL, m, x, 2, NULL, &err));
    REFUSED(gbs_scan_write("x", NULL, x, 2, NULL, &err));
    REFUSED(gbs_scan_write("x", m, NULL, 2, NULL, &err));
    REFUSED(gbs_scan_write("/dev/null", m, bad, 2, NULL, &err));
    REFUSED(gbsi_edges_read(NULL, m, &list, &n, &err));
    REFUSED(gbsi_edges_read("x", NULL, &list, &n, &err));
    REFUSED(gbsi_edges_read("x", m, NULL, &n, &err));
    REFUSED(gbsi_edges_read("x", m, &list, NULL, &err));
    REFUSED(gbs_state_read(NULL, m, NULL, x, &err));
    REFUSED(gbs_state_read("x", NULL, NULL, x, &err));
    REFUSED(gbs_state_read("x", m, NULL, NULL, &err));
    assert_null(list);
    gbs_model_free(m);
}

static void answers_in_files(void **state)
{
    (void)state;
    size_t offset[3] = {0, 2, 4};
    double p[4] = {0.5, 0.5, 0.5, 0.5};
    gbs_marginals two = {.n_variables = 2, .offset = offset, .p = p};
    gbs_marginals one = {.n_variables = 1, .offset = offset, .p = p};
    gbs_comparison comparison;
    gbs_result map = {.task = GBS_TASK_MAP};
    gbs_result pr = {.task = GBS_TASK_PR};
    uint32_t left_out[2];
    gbs_result unknown = {.task = (gbs_task)9};
    uint32_t n = 0;
    REFUSED(gbs_marginals_read(NULL, NULL, &two, &err));
    REFUSED(gbs_marginals_read("x", NULL, NULL, &err));
    REFUSED(gbs_marginals_compare(NULL, &two, &comparison, &err));
    REFUSED(gbs_marginals_compare(&two, NULL, &comparison, &err));
    REFUSED(gbs_marginals_compare(&two, &two, NULL, &err));
    REFUSED(gbs_marginals_compare(&two, &one, &comparison, &err));
    REFUSED(gbs_result_read(NULL, GBS_LOG_BASE_10, NULL, &map, &err));
    REFUSED(gbs_result_read("x", GBS_LOG_BASE_10, NULL, NULL, &err));
    const gbsi_result_arrays arrays = {0};
    REFUSED(gbsi_result_of_arrays(NULL, &arrays, &map, &err));
    REFUSED(gbsi_result_of_arrays("x", NULL, &map, &err));
    REFUSED(gbsi_result_of_arrays("x", &arrays, NULL, &err));
    gbs_model *m = two_spins();
    REFUSED(gbs_result_resolve(NULL, m, &err));
    REFUSED(gbs_result_resolve(&map, NULL, &err));
    gbs_model_free(m);
    REFUSED(gbs_results_match(NULL, &map, left_out, &err));
    REFUSED(gbs_results_match(&map, NULL, left_out, &err));
    REFUSED(gbs_results_match(&map, &map, NULL, &err));
    REFUSED(gbs_result_check_names(NULL, &map, &err));
    REFUSED(gbs_result_check_names(&map, NULL, &err));
    REFUSED(gbs_result_count_different(NULL, &map, &n, &n, &err));
    REFUSED(gbs_result_count_different(&map, NULL, &n, &n, &err));
    REFUSED(gbs_result_count_different(&map, &map, NULL, &n, &err));
    REFUSED(gbs_result_count_different(&map, &map, &n, NULL, &err));
    REFUSED(gbs_result_count_different(&map, &pr, &n, &n, &err));
    REFUSED(gbs_result_count_different(&unknown, &unknown, &n, &n, &err));
    gbs_marginals_free(NULL);
    gbs_result_free(NULL);
}

static gbs_model *coin(void)
{
    gbs_builder *b = NULL;
    gbs_model *m = NULL;
    const uint32_t arity = 2;
    const uint32_t v = 0;
    const double logw[2] = {0.0, 0.0};
    uint32_t table = 0;
    FINE(gbs_builder_new(&b, &err));
    FINE(gbs_builder_add_variables(b, 1, &arity, NULL, &err));
    FINE(gbs_builder_add_table(b, 2, logw, &table, &err));
    FINE(gbs_builder_add_table_factor(b, 1, &v, table, &err));
    gbs_builder_set_directed(b);
    FINE(gbs_builder_build(b, &m, &err));
    gbs_builder_free(b);
    return m;
}

static void fits(void **state)
{
    (void)state;
    gbs_model *m = coin();
    gbs_model *spins = two_spins();
    gbs_data *data = NULL;
    gbs_data *of_spins = NULL;
    gbs_fitted *fitted = NULL;
    const uint32_t id = 0;
    const uint32_t bad = 2;
    const gbs_fit_options no_prior = {.size = sizeof no_prior, .prior = 3};
    const gbs_fit_options no_weight = {.size = sizeof no_weight, .prior = GBS_PRIOR_BDEU};
    const gbs_fit_options no_tolerance = {.size = sizeof no_tolerance, .tolerance = NAN};
    const gbs_fit_options no_time = {.size = sizeof no_time, .time_s = -1.0};
    REFUSED(gbs_data_new(NULL, 1, &id, &data, &err));
    REFUSED(gbs_data_new(m, 1, NULL, &data, &err));
    REFUSED(gbs_data_new(m, 1, &id, NULL, &err));
    REFUSED(gbs_data_new(m, 1, &bad, &data, &err));
    FINE(gbs_data_new(m, 1, &id, &data, &err));
    FINE(gbs_data_new(spins, 1, &id, &of_spins, &err));
    const double negative = -1.0;
    REFUSED(gbs_data_add(NULL, 1, &id, NULL, &err));
    REFUSED(gbs_data_add(data, 1, NULL, NULL, &err));
    REFUSED(gbs_data_add(data, 1, &bad, NULL, &err));
    REFUSED(gbs_data_add(data, 1, &id, &negative, &err));
    REFUSED(gbs_fit(m, data, NULL, NULL, NULL, &fitted, &err)); /* no rows */
    FINE(gbs_data_add(data, 1, &id, NULL, &err));
    FINE(gbs_data_add(of_spins, 1, &id, NULL, &err));
    assert_int_equal(gbs_data_n_rows(NULL) + gbs_data_n_distinct(NULL) + gbs_data_n_missing(NULL),
                     0);
    REFUSED(gbs_fit(NULL, data, NULL, NULL, NULL, &fitted, &err));
    REFUSED(gbs_fit(m, NULL, NULL, NULL, NULL, &fitted, &err));
    REFUSED(gbs_fit(m, data, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_fit(m, of_spins, NULL, NULL, NULL, &fitted, &err));
    REFUSED(gbs_fit(m, data, of_spins, NULL, NULL, &fitted, &err));
    REFUSED(gbs_fit(spins, of_spins, NULL, NULL, NULL, &fitted, &err)); /* no network */
    REFUSED(gbs_fit(m, data, NULL, &no_prior, NULL, &fitted, &err));
    REFUSED(gbs_fit(m, data, NULL, &no_weight, NULL, &fitted, &err));
    REFUSED(gbs_fit(m, data, NULL, &no_tolerance, NULL, &fitted, &err));
    REFUSED(gbs_fit(m, data, NULL, &no_time, NULL, &fitted, &err));
    FINE(gbs_fit(m, data, NULL, NULL, NULL, &fitted, &err));
    assert_null(gbs_fitted_model(NULL));
    assert_null(gbs_fitted_report(NULL));
    assert_int_equal(gbs_fitted_n_entries(NULL, 0) + gbs_fitted_n_entries(fitted, 1), 0);
    REFUSED(gbs_fitted_table(NULL, 0, 0.9, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_fitted_table(fitted, 1, 0.9, NULL, NULL, NULL, NULL, &err));
    REFUSED(gbs_fitted_table(fitted, 0, 1.0, NULL, NULL, NULL, NULL, &err));
    FINE(gbs_fitted_table(fitted, 0, 0.9, NULL, NULL, NULL, NULL, &err));
    gbs_fitted_free(fitted);
    gbs_fitted_free(NULL);
    gbs_data_free(data);
    gbs_data_free(of_spins);
    gbs_data_free(NULL);
    gbs_model_free(m);
    gbs_model_free(spins);
}

static void diagnostics(void **state)
{
    (void)state;
    const double x[4] = {1.0, 2.0, 4.0, 3.0};
    gbs_diagnostics d = {.size = sizeof d};
    gbs_diagnostics small = {.size = 8};
    REFUSED(gbs_diagnose(NULL, 1, 4, &d, &err));
    REFUSED(gbs_diagnose(x, 1, 4, NULL, &err));
    REFUSED(gbs_diagnose(x, 1, 4, &small, &err));
    REFUSED(gbs_diagnose(x, 0, 4, &d, &err));
    REFUSED(gbs_diagnose(x, 1, 0, &d, &err));
}

static void reports(void **state)
{
    (void)state;
    static const char summary[] = "{\"schema\": \"run/1\"}";
    const double x[4] = {1.0, 2.0, 4.0, 3.0};
    const gbs_drawn drawn = {"x", x};
    const gbs_drawn nameless = {NULL, x};
    const gbs_drawn empty = {"x", NULL};
    const gbs_report_source source = {"s", summary, sizeof summary - 1};
    const gbs_report_source unnamed = {NULL, summary, sizeof summary - 1};
    const gbs_summary_about small = {.size = 8};
    gbs_model *m = coin();
    gbs_run *run = NULL;
    gbs_output *output = NULL;
    char *bytes = NULL;
    size_t n = 7;
    assert_int_equal(gbs_run_new(m, NULL, NULL, &run, NULL), GBS_OK);
    assert_int_equal(gbs_output_open_memory(&output, NULL), GBS_OK);
    REFUSED(gbs_run_summary(NULL, NULL, output, &err));
    REFUSED(gbs_run_summary(run, NULL, NULL, &err));
    REFUSED(gbs_run_summary(run, &small, output, &err));
    REFUSED(gbs_report_html(NULL, 1, output, &err));
    REFUSED(gbs_report_html(&source, 0, output, &err));
    REFUSED(gbs_report_html(&source, 65, output, &err));
    REFUSED(gbs_report_html(&source, 1, NULL, &err));
    REFUSED(gbs_report_html(&unnamed, 1, output, &err));
    REFUSED(gbs_draws_summary(NULL, 1, 1, 4, output, &err));
    REFUSED(gbs_draws_summary(&drawn, 1, 0, 4, output, &err));
    REFUSED(gbs_draws_summary(&drawn, 1, 1, 0, output, &err));
    REFUSED(gbs_draws_summary(&drawn, 1, 1, 4, NULL, &err));
    REFUSED(gbs_draws_summary(&nameless, 1, 1, 4, output, &err));
    REFUSED(gbs_draws_summary(&empty, 1, 1, 4, output, &err));
    assert_int_equal(gbs_output_take(output, &bytes, &n, NULL), GBS_OK);
    assert_int_equal(n, 0); /* nothing was written */
    gbs_free(bytes);
    gbs_run_free(run);
    gbs_model_free(m);
}

static void sensitivities(void **state)
{
    (void)state;
    gbs_model *m = coin();
    gbs_model *spins = two_spins();
    gbs_evidence *of_spins = NULL;
    const gbs_run_options bad = {.size = sizeof bad, .method = 7};
    gbs_run_options mean_field = gbs_run_options_default();
    const gbs_run_callbacks shorter = {.size = 1};
    gbs_sensitivities s = {.size = sizeof s};
    gbs_sensitivities small = {.size = 8};
    mean_field.method = GBS_METHOD_MEAN_FIELD;
    FINE(gbs_evidence_new(spins, &of_spins, &err));
    REFUSED(gbs_sensitivity(NULL, NULL, 0, 0, NULL, NULL, &s, &err));
    REFUSED(gbs_sensitivity(m, NULL, 0, 0, NULL, NULL, NULL, &err));
    REFUSED(gbs_sensitivity(m, NULL, 0, 0, NULL, NULL, &small, &err));
    REFUSED(gbs_sensitivity(m, NULL, 1, 0, NULL, NULL, &s, &err));
    REFUSED(gbs_sensitivity(m, NULL, 0, 2, NULL, NULL, &s, &err));
    REFUSED(gbs_sensitivity(m, of_spins, 0, 0, NULL, NULL, &s, &err));
    REFUSED(gbs_sensitivity(m, NULL, 0, 0, &bad, NULL, &s, &err));
    REFUSED(gbs_sensitivity(m, NULL, 0, 0, &mean_field, NULL, &s, &err));
    REFUSED(gbs_sensitivity(m, NULL, 0, 0, NULL, &shorter, &s, &err));
    assert_null(s.kind);
    assert_true(isnan(gbs_sensitivity_at(NULL, 0, 0.5)));
    assert_true(isnan(gbs_sensitivity_value_for(NULL, 0, 0.5)));
    FINE(gbs_sensitivity(m, NULL, 0, 0, NULL, NULL, &s, &err));
    assert_true(isnan(gbs_sensitivity_at(&s, 2, 0.5)));
    assert_true(isnan(gbs_sensitivity_value_for(&s, 2, 0.5)));
    assert_true(isnan(gbs_sensitivity_value_for(&s, 0, 1.5)));
    assert_true(isnan(gbs_sensitivity_at(&s, 0, 1.5)));
    gbs_sensitivities_free(&s);
    gbs_sensitivities_free(NULL);
    gbs_evidence_free(of_spins);
    gbs_model_free(m);
    gbs_model_free(spins);
}

static void ranks(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_run *run = NULL;
    gbs_log_z_report z = {.size = sizeof z};
    gbs_ranks alone = {.n_ranks = 1};
    refuse_setup((gbs_run_setup){.ranks = &alone}, "model and share are NULL");
    REFUSED(gbs_log_z_with(&alone, NULL, NULL, NULL, NULL, NULL, &z, &err));
    REFUSED(gbs_log_z_with(&alone, m, NULL, NULL, NULL, NULL, NULL, &err));
    FINE(gbs_log_z_with(&alone, m, NULL, NULL, NULL, NULL, &z, &err)); /* as one process */
    FINE(gbs_run_new_with(&(gbs_run_setup){.model = m, .ranks = &alone}, &run, &err)); /* without */
    FINE(gbs_run_execute(run, NULL, &err));
    gbs_run_free(run);
    gbs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits),
        cmocka_unit_test(diagnostics),
        cmocka_unit_test(reports),
        cmocka_unit_test(sensitivities),
        cmocka_unit_test(noisy_maxima),
        cmocka_unit_test(tables_by_count),
        cmocka_unit_test(tied_weights),
        cmocka_unit_test(networks_in_time),
        cmocka_unit_test(arrays),
        cmocka_unit_test(outputs),
        cmocka_unit_test(model_files),
        cmocka_unit_test(evidence_files),
        cmocka_unit_test(drawings),
        cmocka_unit_test(checkpoints),
        cmocka_unit_test(traces),
        cmocka_unit_test(other_files),
        cmocka_unit_test(answers_in_files),
        cmocka_unit_test(ranks),
        cmocka_unit_test(tables_of_data),
        cmocka_unit_test(draws_in_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
