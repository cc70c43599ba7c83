/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of programs that were compiled with another version of the headers. The options
 * of a run are kept here as they began: a version that moves or removes one of those fields does
 * not compile this test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gibbsite/dobrushin.h"
#include "gibbsite/generate.h"
#include "gibbsite/gibbsite.h"
#include "gibbsite/image.h"
#include "gibbsite/info.h"
#include "gibbsite/log_z.h"
#include "gibbsite/map.h"
#include "gibbsite/report.h"

/* gbs_run_options as it began: never edit this list. */
#define FIELDS(F)                    \
    F(size_t, size)                  \
    F(const uint32_t *, sequence)    \
    F(size_t, sequence_length)       \
    F(const uint32_t *, dummy_edges) \
    F(size_t, n_dummy_edges)         \
    F(const uint32_t *, target)      \
    F(size_t, n_targets)             \
    F(const uint32_t *, start)       \
    F(int, method)                   \
    F(double, damping)               \
    F(int, mean_field_schedule)      \
    F(uint64_t, iterations)          \
    F(int, scan)                     \
    F(uint64_t, origin)              \
    F(uint64_t, width)               \
    F(uint64_t, splash_size)         \
    F(uint64_t, splashes)            \
    F(int, grow)                     \
    F(uint64_t, adapt)               \
    F(int, score)                    \
    F(int, locking)                  \
    F(int, draw)                     \
    F(int, keys)                     \
    F(int, herd_rule)                \
    F(int, herd_init)                \
    F(int, bin_edge)                 \
    F(int, bin_rule)                 \
    F(double, threshold)             \
    F(uint64_t, bins)                \
    F(int, cud_scheme)               \
    F(uint64_t, cud_bits)            \
    F(uint64_t, cud_offset)          \
    F(int, estimator)                \
    F(int, lattice)                  \
    F(int, schedule)                 \
    F(double, tau0)                  \
    F(uint64_t, chains)              \
    F(uint64_t, sweeps)              \
    F(uint64_t, burn_in)             \
    F(double, certified)             \
    F(uint64_t, thin)                \
    F(double, target_error)          \
    F(double, time_s)                \
    F(uint64_t, max_updates)         \
    F(uint64_t, seed)                \
    F(uint64_t, threads)             \
    F(uint64_t, memory_limit)        \
    F(int, partial_scan)             \
    F(int, restarts)                 \
    F(double, budget_s)

typedef struct first_options {
#define F(type, field) type field;
    FIELDS(F)
#undef F
} first_options;

#define F(type, field)                                                                          \
    _Static_assert(offsetof(first_options, field) == offsetof(gbs_run_options, field), #field); \
    _Static_assert(sizeof(type) == sizeof(((gbs_run_options *)NULL)->field), #field);
FIELDS(F)
#undef F
_Static_assert(sizeof(first_options) <= sizeof(gbs_run_options), "one of the first fields is gone");

#define CANARY     0xA5
#define N_CANARIES 32

/* A struct and what lies behind it in memory. */
typedef union room {
    size_t size;
    double aligned;
    unsigned char byte[8192];
} room;

static void lay(room *r)
{
    memset(r, CANARY, sizeof *r);
}

static void assert_untouched(const room *r, size_t from)
{
    for (size_t i = from; i < sizeof *r; ++i) {
        assert_int_equal(r->byte[i], CANARY);
    }
}

static gbs_model *spins(void)
{
    gbs_model *model = NULL;
    const gbs_generate_ring_options options = {.variables = 6, .coupling = 0.3, .field = 0.2};
    assert_int_equal(gbs_generate_ring(&options, &model, NULL), GBS_OK);
    return model;
}

/* @param options NULL for the defaults. @param digest [33], out. */
static void run(const gbs_run_options *options, char *digest, uint64_t *sweeps)
{
    gbs_model *model = spins();
    gbs_run *run = NULL;
    gbs_error err = {GBS_OK, ""};
    if (gbs_run_new(model, NULL, options, &run, &err) < 0 || gbs_run_execute(run, NULL, &err) < 0) {
        fail_msg("%s", err.message);
    }
    memcpy(digest, gbs_run_report(run)->digest, 33);
    *sweeps = gbs_run_report(run)->sweeps;
    gbs_run_free(run);
    gbs_model_free(model);
}

static void assert_refused(const gbs_run_options *options, const char *message)
{
    gbs_model *model = spins();
    gbs_run *none = NULL;
    gbs_error err = {GBS_OK, ""};
    assert_int_equal(gbs_run_new(model, NULL, options, &none, &err), GBS_ERR_ARGUMENT);
    assert_null(none);
    assert_non_null(strstr(err.message, message));
    gbs_model_free(model);
}

static void choose(first_options *options)
{
    options->method = GBS_METHOD_SAMPLE;
    options->chains = 4;
    options->sweeps = 50;
    options->burn_in = 10;
}

/* A program compiled with the first fields gets what one compiled with this version gets. */
static void struct_of_the_first_fields(void **state)
{
    (void)state;
    char old[33];
    char now[33];
    uint64_t sweeps[2];
    room r;
    first_options *options = (first_options *)(void *)&r;
    gbs_run_options same = gbs_run_options_default();
    lay(&r);
    assert_int_equal(
        gbs_run_options_init((gbs_run_options *)(void *)&r, sizeof(first_options), NULL), GBS_OK);
    assert_untouched(&r, sizeof(first_options));
    assert_int_equal(options->size, sizeof(first_options));
    assert_memory_equal((char *)options + sizeof(size_t), (char *)&same + sizeof(size_t),
                        sizeof(first_options) - sizeof(size_t));
    choose(options);
    choose((first_options *)(void *)&same);
    run((const gbs_run_options *)(const void *)options, old, &sweeps[0]);
    run(&same, now, &sweeps[1]);
    assert_string_equal(old, now);
    assert_int_equal(sweeps[0], 50);
    assert_untouched(&r, sizeof(first_options));
}

/* Structs that end before a field, or within it, leave it at its default. */
static void shorter_structs(void **state)
{
    (void)state;
    char digest[2][33];
    uint64_t sweeps = 0;
    const size_t size[] = {offsetof(first_options, thin), offsetof(first_options, thin) + 4,
                           offsetof(first_options, partial_scan)};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; ++i) {
        room r;
        first_options *options = (first_options *)(void *)&r;
        gbs_run_options same = gbs_run_options_default();
        gbs_error err = {GBS_OK, ""};
        lay(&r);
        assert_int_equal(gbs_run_options_init((gbs_run_options *)(void *)&r, size[i], NULL),
                         GBS_OK);
        assert_untouched(&r, size[i]);
        choose(options);
        choose((first_options *)(void *)&same);
        run((const gbs_run_options *)(const void *)options, digest[0], &sweeps);
        run(&same, digest[1], &sweeps);
        assert_string_equal(digest[0], digest[1]);
        /* The field is not there by name either. */
        assert_int_equal(gbs_option_set((gbs_run_options *)(void *)&r, "restarts", "yes", &err),
                         GBS_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, "does not have this option"));
        assert_int_equal(gbs_option_set((gbs_run_options *)(void *)&r, "sweeps", "9", NULL),
                         GBS_OK);
        assert_int_equal(options->sweeps, 9);
        assert_untouched(&r, size[i]);
    }
}

/* Larger structs come from later versions: their new fields must have been left alone. */
static void larger_structs(void **state)
{
    (void)state;
    char digest[2][33];
    uint64_t sweeps = 0;
    const size_t size = sizeof(gbs_run_options) + 24;
    room r;
    gbs_run_options *options = (gbs_run_options *)(void *)&r;
    gbs_run_options same = gbs_run_options_default();
    lay(&r);
    assert_int_equal(gbs_run_options_init(options, size, NULL), GBS_OK);
    assert_untouched(&r, size);
    choose((first_options *)(void *)options);
    choose((first_options *)(void *)&same);
    run(options, digest[0], &sweeps);
    run(&same, digest[1], &sweeps);
    assert_string_equal(digest[0], digest[1]);
    r.byte[size - 1] = 1;
    assert_refused(options, "it sets an option of a later version");
    r.byte[size - 1] = 0;
    options->size = 0;
    assert_refused(options, "gbs_run_options_default()");
    options->size = offsetof(first_options, start); /* no option at all */
    assert_refused(options, "gbs_run_options_default()");
}

/* ---- reports ----------------------------------------------------------------------------- */

typedef gbs_status filler(const gbs_model *model, room *report, gbs_error *err);

static gbs_status fill_info(const gbs_model *model, room *report, gbs_error *err)
{
    return gbs_model_info(model, NULL, NULL, (gbs_info *)(void *)report, err);
}

static gbs_status fill_log_z(const gbs_model *model, room *report, gbs_error *err)
{
    return gbs_log_z(model, NULL, NULL, NULL, (gbs_log_z_report *)(void *)report, err);
}

static gbs_status fill_map(const gbs_model *model, room *report, gbs_error *err)
{
    uint32_t state[6];
    return gbs_map(model, NULL, NULL, NULL, state, (gbs_map_report *)(void *)report, err);
}

static gbs_status fill_mmap(const gbs_model *model, room *report, gbs_error *err)
{
    const uint32_t query[] = {1, 4};
    uint32_t state[2];
    return gbs_mmap(model, NULL, NULL, NULL, 2, query, state, (gbs_mmap_report *)(void *)report,
                    err);
}

static gbs_status fill_answer(const gbs_model *model, room *report, gbs_error *err)
{
    gbs_answer *answer = (gbs_answer *)(void *)report;
    const gbs_status status = gbs_query(model, NULL, NULL, NULL, answer, err);
    if (status == GBS_OK) {
        gbs_answer_free(answer);
    }
    return status;
}

static gbs_status fill_sizes(const gbs_model *model, room *report, gbs_error *err)
{
    return gbs_model_draw_sizes(model, NULL, NULL, (gbs_draw_sizes *)(void *)report, err);
}

static gbs_status fill_scan(const gbs_model *model, room *report, gbs_error *err)
{
    gbs_influences *influences = NULL;
    const gbs_scan_request request = {.steps = 12};
    uint32_t *sequence = NULL;
    size_t n = 0;
    gbs_status status = gbs_influences_new(model, NULL, NULL, &influences, err);
    if (status == GBS_OK) {
        status = gbs_scan_optimise(influences, &request, &sequence, &n,
                                   (gbs_scan_report *)(void *)report, err);
    }
    gbs_free(sequence);
    gbs_influences_free(influences);
    return status;
}

static const struct {
    const char *name;
    size_t size;
    filler *fill;
} reports[] = {
    {"gbs_info", sizeof(gbs_info), fill_info},
    {"gbs_answer", sizeof(gbs_answer), fill_answer},
    {"gbs_draw_sizes", sizeof(gbs_draw_sizes), fill_sizes},
    {"gbs_log_z_report", sizeof(gbs_log_z_report), fill_log_z},
    {"gbs_map_report", sizeof(gbs_map_report), fill_map},
    {"gbs_mmap_report", sizeof(gbs_mmap_report), fill_mmap},
    {"gbs_scan_report", sizeof(gbs_scan_report), fill_scan},
};

/* Nothing is written behind the size that the caller states, and the size itself stays. */
static void sized_reports(void **state)
{
    (void)state;
    gbs_model *model = spins();
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; ++i) {
        const size_t smaller[] = {0, sizeof(size_t), reports[i].size / 2, reports[i].size - 8};
        room r;
        for (size_t k = 0; k < sizeof smaller / sizeof smaller[0]; ++k) {
            gbs_error err = {GBS_OK, ""};
            lay(&r);
            r.size = smaller[k];
            assert_int_equal(reports[i].fill(model, &r, &err), GBS_ERR_ARGUMENT);
            assert_non_null(strstr(err.message, reports[i].name));
            assert_int_equal(r.size, smaller[k]);
            assert_untouched(&r, sizeof(size_t));
        }
        for (size_t more = 0; more <= N_CANARIES; more += N_CANARIES) {
            gbs_error err = {GBS_OK, ""};
            lay(&r);
            r.size = reports[i].size + more;
            if (reports[i].fill(model, &r, &err) < 0) {
                fail_msg("%s: %s", reports[i].name, err.message);
            }
            assert_int_equal(r.size, reports[i].size + more);
            for (size_t at = reports[i].size; at < r.size; ++at) {
                assert_int_equal(r.byte[at], 0); /* what this library does not know */
            }
            assert_untouched(&r, reports[i].size + more);
        }
    }
    gbs_model_free(model);
}

/* ---- structs that a caller fills in ------------------------------------------------------- */

/* Calls with the struct, zeros but for what it is filled with. Files are not found, so a call that
 * takes the struct ends with GBS_ERR_IO. */
typedef gbs_status taker(const gbs_model *model, room *given, gbs_error *err);

static gbs_status take_exact(const gbs_model *model, room *given, gbs_error *err)
{
    double log_z = 0.0;
    return gbs_exact_log_z(model, NULL, (gbs_exact_options *)(void *)given, &log_z, err);
}

static gbs_status take_influence(const gbs_model *model, room *given, gbs_error *err)
{
    gbs_influences *influences = NULL;
    const gbs_status status =
        gbs_influences_new(model, NULL, (gbs_influence_options *)(void *)given, &influences, err);
    gbs_influences_free(influences);
    return status;
}

static gbs_status take_request(const gbs_model *model, room *given, gbs_error *err)
{
    gbs_influences *influences = NULL;
    uint32_t *sequence = NULL;
    size_t n = 0;
    ((gbs_scan_request *)(void *)given)->steps = 12;
    gbs_status status = gbs_influences_new(model, NULL, NULL, &influences, err);
    if (status == GBS_OK) {
        status = gbs_scan_optimise(influences, (gbs_scan_request *)(void *)given, &sequence, &n,
                                   NULL, err);
    }
    gbs_free(sequence);
    gbs_influences_free(influences);
    return status;
}

static gbs_status take_read(const gbs_model *model, room *given, gbs_error *err)
{
    (void)model;
    gbs_model *read = NULL;
    return gbs_model_read("no such file.uai", (gbs_read_options *)(void *)given, &read, err);
}

static gbs_status take_write(const gbs_model *model, room *given, gbs_error *err)
{
    return gbs_model_write(model, "no such folder/x.uai", (gbs_write_options *)(void *)given, err);
}

static gbs_status take_image_read(const gbs_model *model, room *given, gbs_error *err)
{
    (void)model;
    gbs_image image = {0};
    return gbs_image_read("no such file.png", (gbs_image_read_options *)(void *)given, &image, err);
}

static gbs_status take_run(const gbs_model *model, room *given, gbs_error *err)
{
    gbs_run *run = NULL;
    gbs_status status = gbs_run_new(model, NULL, NULL, &run, err);
    if (status == GBS_OK) {
        status = gbs_run_execute(run, (gbs_run_callbacks *)(void *)given, err);
    }
    gbs_run_free(run);
    return status;
}

static gbs_status take_map(const gbs_model *model, room *given, gbs_error *err)
{
    uint32_t state[6];
    return gbs_map(model, NULL, NULL, (gbs_map_callbacks *)(void *)given, state, NULL, err);
}

#define TAKE_GENERATE(kind, ...)                                                                 \
    static gbs_status take_##kind(const gbs_model *model, room *given, gbs_error *err)           \
    {                                                                                            \
        (void)model;                                                                             \
        gbs_model *made = NULL;                                                                  \
        gbs_generate_##kind##_options *options = (gbs_generate_##kind##_options *)(void *)given; \
        const size_t size = options->size;                                                       \
        *options = (gbs_generate_##kind##_options){.size = size, __VA_ARGS__};                   \
        const gbs_status status = gbs_generate_##kind(options, &made, err);                      \
        gbs_model_free(made);                                                                    \
        return status;                                                                           \
    }
static gbs_status take_about(const gbs_model *model, room *given, gbs_error *err)
{
    gbs_run *run = NULL;
    gbs_output *output = NULL;
    gbs_status status = gbs_run_new(model, NULL, NULL, &run, err);
    status = status < 0 ? status : gbs_output_open_memory(&output, err);
    if (status == GBS_OK) {
        status = gbs_run_summary(run, (gbs_summary_about *)(void *)given, output, err);
    }
    gbs_output_discard(output);
    gbs_run_free(run);
    return status;
}

static gbs_status take_drawing(const gbs_model *model, room *given, gbs_error *err)
{
    gbs_output *output = NULL;
    gbs_status status = gbs_output_open_memory(&output, err);
    if (status == GBS_OK) {
        status = gbs_model_draw(model, (gbs_drawing *)(void *)given, output, err);
    }
    gbs_output_discard(output);
    return status;
}

TAKE_GENERATE(ising, .side = {2, 2, 1})
TAKE_GENERATE(potts, .rows = 2, .columns = 2, .states = 3)
TAKE_GENERATE(ring, .variables = 3)
TAKE_GENERATE(complete, .variables = 3)
TAKE_GENERATE(rbm, .visible = 2, .hidden = 2)
TAKE_GENERATE(regular, .variables = 4, .degree = 2)
TAKE_GENERATE(powerlaw, .variables = 4, .edges = 1)
TAKE_GENERATE(bayes, .variables = 4, .parents = 1, .min_states = 2, .max_states = 2)

static const struct {
    const char *name;
    size_t size;
    taker *take;
} inputs[] = {
#define INPUT(type, take)         \
    {                             \
#type, sizeof(type), take \
    }
    INPUT(gbs_exact_options, take_exact),
    INPUT(gbs_influence_options, take_influence),
    INPUT(gbs_scan_request, take_request),
    INPUT(gbs_read_options, take_read),
    INPUT(gbs_write_options, take_write),
    INPUT(gbs_image_read_options, take_image_read),
    INPUT(gbs_run_callbacks, take_run),
    INPUT(gbs_map_callbacks, take_map),
    INPUT(gbs_summary_about, take_about),
    INPUT(gbs_drawing, take_drawing),
    INPUT(gbs_generate_ising_options, take_ising),
    INPUT(gbs_generate_potts_options, take_potts),
    INPUT(gbs_generate_ring_options, take_ring),
    INPUT(gbs_generate_complete_options, take_complete),
    INPUT(gbs_generate_rbm_options, take_rbm),
    INPUT(gbs_generate_regular_options, take_regular),
    INPUT(gbs_generate_powerlaw_options, take_powerlaw),
    INPUT(gbs_generate_bayes_options, take_bayes),
#undef INPUT
};

/* 0 stands for the struct as it began, larger ones have zeros behind; anything else is refused. */
static void sized_inputs(void **state)
{
    (void)state;
    gbs_model *model = spins();
    for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; ++i) {
        const size_t own = inputs[i].size;
        const size_t fine[] = {0, own, own + N_CANARIES};
        gbs_error err = {GBS_OK, ""};
        room r;
        memset(&r, 0, sizeof r);
        for (size_t k = 0; k < sizeof fine / sizeof fine[0]; ++k) {
            r.size = fine[k];
            const gbs_status status = inputs[i].take(model, &r, &err);
            if (status < 0 && status != GBS_ERR_IO) {
                fail_msg("%s of %zu bytes: %s", inputs[i].name, fine[k], err.message);
            }
        }
        r.byte[own + N_CANARIES - 1] = 1;
        assert_int_equal(inputs[i].take(model, &r, &err), GBS_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, inputs[i].name));
        r.size = own - 1;
        assert_int_equal(inputs[i].take(model, &r, &err), GBS_ERR_ARGUMENT);
        assert_non_null(strstr(err.message, inputs[i].name));
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(struct_of_the_first_fields),
        cmocka_unit_test(shorter_structs),
        cmocka_unit_test(larger_structs),
        cmocka_unit_test(sized_reports),
        cmocka_unit_test(sized_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
