/* SPDX-License-Identifier: Apache-2.0 */
/* Chains and estimates that are saved between two passes and loaded into others go on as if nothing
 * had happened: every pass, every draw. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_row.h"
#include "draw/herd.h"
#include "estimate/trace.h"
#include "gibbsite/generate.h"
#include "lattice/bits.h"
#include "lattice/lattice.h"
#include "lattice/packed.h"
#include "support/bare_chains.h"
#include "support/runs.h"
#include "support/small_models.h"

enum { N_VARIABLES = 14, MOST_VARIABLES = 400 };

static gbs_run_options herded(int draw, int init, uint64_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    options.draw = draw;
    options.herd_init = init;
    options.chains = chains;
    options.seed = 77;
    return options;
}

static void set_up(test_chains *f, test_family family, gbs_run_options options)
{
    const bool all = options.draw == GBS_DRAW_HERDED_COMPLETE;
    const gbsi_plan_options how = {.repeats = true, .sell = options.chains < 8};
    const gbsi_edges every = {.all = true};
    uint32_t sequence[N_VARIABLES];
    for (uint32_t v = 0; v < N_VARIABLES; ++v) {
        sequence[v] = v;
    }
    test_chains_set_up(f, test_model(family, 5, N_VARIABLES), all ? &every : NULL, sequence,
                       N_VARIABLES, how, options);
}

/* A run, and what it is kept in. */
typedef struct subject {
    gbsi_executor x;
    gbsi_estimate *estimate;
} subject;

static void begin(const test_chains *f, subject *s)
{
    test_chains_start(f, gbsi_simd_level(), NULL, 100000000, &s->x);
    s->estimate = test_chains_estimate(f, &s->x, GBS_ESTIMATOR_RAO_BLACKWELL,
                                       !gbsi_executor_may_connect(&s->x));
}

static void drop(subject *s)
{
    gbsi_executor_free(&s->x);
    gbsi_estimate_free(s->estimate);
}

/* @param keep from the sixth pass on. */
static void one_pass(const test_chains *f, subject *s, uint64_t pass)
{
    gbs_error err = {0};
    gbsi_estimate *estimate = pass < 6 ? NULL : s->estimate;
    assert_int_equal(gbsi_executor_pass(&s->x, &f->schedule, pass, estimate, true, &err), GBS_OK);
}

static void hand_over(const subject *from, subject *to, test_file *file)
{
    gbs_error err = {0};
    const gbsi_sink sink = test_file_sink(file);
    const gbsi_source source = test_file_source(file);
    assert_int_equal(gbsi_executor_save(&from->x, &sink, &err), GBS_OK);
    assert_int_equal(gbsi_estimate_save(from->estimate, &sink, &err), GBS_OK);
    assert_int_equal(gbsi_executor_load(&to->x, &source, &err), GBS_OK);
    assert_int_equal(gbsi_estimate_load(to->estimate, &source, &err), GBS_OK);
    assert_true(file->at == file->n);
}

static void same_estimates(const test_chains *f, const subject *a, const subject *b)
{
    double p[2][4 * 8];
    for (uint32_t slot = 0; slot < f->plan->n_slots; ++slot) {
        const uint32_t k = gbsi_plan_arity(f->plan, slot);
        memset(p, 0, sizeof p);
        assert_true(k <= 8);
        gbsi_estimate_slot(a->estimate, slot, p[0], p[0] + k, p[0] + 2 * k, p[0] + 3 * k);
        gbsi_estimate_slot(b->estimate, slot, p[1], p[1] + k, p[1] + 2 * k, p[1] + 3 * k);
        assert_memory_equal(p[0], p[1], sizeof p[0]);
    }
}

/* Every shorter file is refused. @param to is no good afterwards. */
static void check_cut(const test_file *file, subject *to)
{
    for (size_t n = 0; n < file->n; n += 1 + file->n / 50) {
        gbs_error err = {0};
        test_file cut = {file->bytes, n, 0, 0};
        const gbsi_source source = test_file_source(&cut);
        assert_true(gbsi_executor_load(&to->x, &source, &err) < 0 ||
                    gbsi_estimate_load(to->estimate, &source, &err) < 0);
    }
}

static void interrupted(gbs_run_options options, test_family family)
{
    test_chains f;
    subject whole;
    subject half;
    subject other;
    test_file file = {0};
    set_up(&f, family, options);
    begin(&f, &whole);
    begin(&f, &half);
    begin(&f, &other);
    for (uint64_t pass = 0; pass < 30; ++pass) {
        one_pass(&f, &whole, pass);
        if (pass == 17) {
            one_pass(&f, &other, 99); /* so that it has something to forget */
            hand_over(&half, &other, &file);
        }
        one_pass(&f, pass < 17 ? &half : &other, pass);
    }
    test_chains_same(&f, &whole.x, &other.x);
    same_estimates(&f, &whole, &other);
    check_cut(&file, &other);
    test_file_free(&file);
    drop(&whole);
    drop(&half);
    drop(&other);
    test_chains_tear_down(&f);
}

static void resumed_equals_uninterrupted(void **state)
{
    (void)state;
    static const struct {
        int draw, keys, rule, bin_rule;
        test_family family;
    } cases[] = {{GBS_DRAW_RANDOM, 0, 0, 0, TEST_MIXED},
                 {GBS_DRAW_RANDOM, 0, 0, 0, TEST_LOGICAL},
                 {GBS_DRAW_HERDED, 0, 0, 0, TEST_ISING},
                 {GBS_DRAW_HERDED, 0, 0, 0, TEST_MIXED},
                 {GBS_DRAW_HERDED_SHARED, 0, 0, 0, TEST_MIXED},
                 {GBS_DRAW_HERDED_COMPLETE, 0, 0, 0, TEST_MIXED},
                 {GBS_DRAW_DISCRETIZED, 0, GBS_HERD_PRE, 0, TEST_ISING},
                 {GBS_DRAW_DISCRETIZED, 0, GBS_HERD_POST, 0, TEST_ISING},
                 {GBS_DRAW_DISCRETIZED, 0, 0, GBS_BIN_STICK, TEST_MIXED},
                 {GBS_DRAW_DISCRETIZED, 0, 0, GBS_BIN_ARGMAX, TEST_MIXED},
                 {GBS_DRAW_ONE_BIN, 0, 0, 0, TEST_MIXED},
                 {GBS_DRAW_RANDOMLY_DISCRETIZED, 0, 0, 0, TEST_ISING},
                 {GBS_DRAW_RANDOMLY_DISCRETIZED, 0, 0, 0, TEST_MIXED},
                 {GBS_DRAW_BOUNDED_ERROR, 0, 0, 0, TEST_MIXED},
                 {GBS_DRAW_BOUNDED_ERROR, GBS_KEYS_COMPLETE, 0, 0, TEST_MIXED},
                 {GBS_DRAW_BOUNDED_ERROR, GBS_KEYS_BINS, 0, 0, TEST_MIXED}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
        /* at small scale one or many by turns */
        for (uint64_t chains = i % test_share(1, 2) * 16 + 1; chains <= 17;
             chains += test_share(16, 32)) {
            gbs_run_options options = herded(cases[i].draw, GBS_HERD_RANDOM, chains);
            test_choose_draw(&options, cases[i].draw, cases[i].keys, cases[i].rule);
            options.bin_rule = cases[i].bin_rule;
            test_row("draw %d, keys %d, rule %d, bin rule %d, %s, %d chains", cases[i].draw,
                     cases[i].keys, cases[i].rule, cases[i].bin_rule,
                     test_family_name(cases[i].family), (int)chains);
            interrupted(options, cases[i].family);
            if (test_share(0, i % 2) == 0 &&
                (gbsi_draw_of(&options, gbsi_simd_level())->traits & GBSI_DRAW_CONTEXT) == 0) {
                options.scan = GBS_SCAN_SPLASH;
                options.width = 2;
                options.splash_size = 5;
                options.splashes = 2;
                interrupted(options, cases[i].family);
                options.grow = GBS_GROW_ADAPTIVE; /* half of its rounds are over */
                options.adapt = 40;
                interrupted(options, cases[i].family);
            }
        }
    }
}

/* Saved numbers are little-endian, whatever the machine: the first phase is where it should be. */
static void saved_bytes(void **state)
{
    (void)state;
    gbs_error err = {0};
    test_chains f;
    gbsi_executor x;
    test_file file = {0};
    const uint32_t word[2] = {0x01020304, 0xA0B0C0D0};
    const uint64_t wide = UINT64_C(0x0102030405060708);
    unsigned char turned[8];
    memcpy(turned, word, sizeof word);
    gbsi_turn_numbers(turned, 2, 4);
    for (size_t i = 0; i < 8; ++i) {
        assert_int_equal(turned[i], ((const unsigned char *)word)[4 * (i / 4) + 3 - i % 4]);
    }
    memcpy(turned, &wide, sizeof wide);
    gbsi_turn_numbers(turned, 1, 8);
    for (size_t i = 0; i < 8; ++i) {
        assert_int_equal(turned[i], ((const unsigned char *)&wide)[7 - i]);
    }
    set_up(&f, TEST_ISING, herded(GBS_DRAW_HERDED, GBS_HERD_RANDOM, 16));
    test_chains_start(&f, gbsi_simd_level(), NULL, UINT64_MAX, &x);
    const gbsi_sink sink = test_file_sink(&file);
    assert_int_equal(x.draw->save(x.draw_state, &sink, &err), GBS_OK);
    const gbsi_herd *herd = x.draw_state;
    assert_int_equal(file.n, 16 * herd->n_phases * sizeof(uint32_t));
    for (size_t i = 0; i < 16 * herd->n_phases; ++i) {
        const unsigned char *b = file.bytes + 4 * i;
        const uint32_t found =
            b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        assert_int_equal(found, herd->group[0].phase[i]);
    }
    test_file_free(&file);
    gbsi_executor_free(&x);
    test_chains_tear_down(&f);
}

/* ---- damage ---------------------------------------------------------------------------------- */

typedef gbs_status load_function(void *to, const gbsi_source *source, gbs_error *err);

static gbs_status load_chains(void *to, const gbsi_source *source, gbs_error *err)
{
    return gbsi_executor_load(to, source, err);
}

static gbs_status load_estimate(void *to, const gbsi_source *source, gbs_error *err)
{
    return gbsi_estimate_load(to, source, err);
}

static gbs_status load_trace(void *to, const gbsi_source *source, gbs_error *err)
{
    return gbsi_trace_load(to, source, err);
}

/* Every byte up to `all` and of the digest, and some of the rest, flipped or made the largest there
 * is, is refused; a sanitizer sees that nothing outside is read. @param to is no good afterwards.
 */
static void check_damage(const test_file *file, size_t all, load_function *load, void *to)
{
    for (size_t at = 0; at < file->n; at += at < all || at + 40 > file->n ? 1 : 1 + file->n / 97) {
        gbs_error err = {0};
        test_file damaged = {file->bytes, file->n, 0, 0};
        const gbsi_source source = test_file_source(&damaged);
        const unsigned char kept = file->bytes[at];
        file->bytes[at] = at % 2 == 0 && kept != 255 ? 255 : kept ^ 1;
        assert_int_equal(load(to, &source, &err), GBS_ERR_FORMAT);
        assert_true(err.message[0] != '\0');
        file->bytes[at] = kept;
    }
}

static void check_damaged_chains(const subject *from, subject *to)
{
    gbs_error err = {0};
    test_file file = {0};
    const gbsi_sink sink = test_file_sink(&file);
    const size_t states = (size_t)N_VARIABLES * from->x.lanes * from->x.n_groups;
    assert_int_equal(gbsi_executor_save(&from->x, &sink, &err), GBS_OK);
    check_damage(&file, 3 * sizeof(uint32_t) + states, load_chains, &to->x);
    file.n = 0;
    assert_int_equal(gbsi_estimate_save(from->estimate, &sink, &err), GBS_OK);
    check_damage(&file, 9 * sizeof(uint64_t), load_estimate, to->estimate);
    test_file_free(&file);
}

static void damaged_chains(void **state)
{
    (void)state;
    static const int draws[] = {GBS_DRAW_RANDOM, GBS_DRAW_HERDED, GBS_DRAW_DISCRETIZED};
    for (uint64_t chains = 1; chains <= 17; chains += 16) {
        for (size_t i = 0; i < 4; ++i) {
            test_chains f;
            subject from;
            subject to;
            gbs_run_options options = herded(draws[i % 3], GBS_HERD_RANDOM, chains);
            options.scan = i < 3 ? GBS_SCAN_CHROMATIC : GBS_SCAN_SPLASH;
            options.splash_size = 5;
            set_up(&f, TEST_MIXED, options);
            begin(&f, &from);
            begin(&f, &to);
            one_pass(&f, &from, 0);
            check_damaged_chains(&from, &to);
            drop(&from);
            drop(&to);
            test_chains_tear_down(&f);
        }
    }
}

/* ---- traces --------------------------------------------------------------------------------- */

static void put_values(gbsi_trace *trace, uint64_t pass)
{
    for (uint32_t chain = 0; chain < 3; ++chain) {
        test_stream s = {.seed = 10 * pass + chain, .n = 0};
        const double value = (double)test_below(&s, 1000);
        gbsi_trace_put(trace, chain, (const double[2]){value, -2.0 * value});
    }
    gbsi_trace_end_pass(trace);
}

static gbsi_trace *new_trace(uint32_t n_series)
{
    gbsi_trace *trace = NULL;
    assert_int_equal(gbsi_trace_new(3, n_series, &trace, NULL), GBS_OK);
    return trace;
}

static void same_traces(const gbsi_trace *a, const gbsi_trace *b)
{
    for (uint32_t series = 0; series < 2; ++series) {
        const gbsi_trace_summary found[2] = {gbsi_trace_summarise(a, series),
                                             gbsi_trace_summarise(b, series)};
        assert_true(found[0].mcse > 0.0 && found[0].rhat > 0.0);
        assert_memory_equal(&found[0], &found[1], sizeof found[0]);
    }
}

/* Interrupted after some passes. */
static void traces(void **state)
{
    (void)state;
    gbs_error err = {0};
    test_file file = {0};
    const gbsi_sink sink = test_file_sink(&file);
    gbsi_trace *whole = new_trace(2);
    gbsi_trace *half = new_trace(2);
    gbsi_trace *rest = new_trace(2);
    gbsi_trace *other = new_trace(3);
    for (uint64_t pass = 0; pass < 1001; ++pass) {
        put_values(whole, pass);
        put_values(rest, pass + 7); /* so that it has something to forget */
        if (pass < 517) {
            put_values(half, pass);
        }
    }
    assert_int_equal(gbsi_trace_save(half, &sink, &err), GBS_OK);
    const gbsi_source source = test_file_source(&file);
    assert_int_equal(gbsi_trace_load(other, &source, &err), GBS_ERR_FORMAT);
    file.at = 0;
    assert_int_equal(gbsi_trace_load(rest, &source, &err), GBS_OK);
    assert_true(file.at == file.n);
    for (uint64_t pass = 517; pass < 1001; ++pass) {
        put_values(rest, pass);
    }
    same_traces(whole, rest);
    check_damage(&file, 3 * sizeof(uint64_t), load_trace, rest);
    gbsi_trace_free(whole);
    gbsi_trace_free(half);
    gbsi_trace_free(rest);
    gbsi_trace_free(other);
    test_file_free(&file);
}

/* ---- spins in bits --------------------------------------------------------------------------- */

static void begin_bits(const gbsi_pass *pass, const void *compiled, const gbs_run_options *options,
                       uint32_t n, subject *s)
{
    gbs_error err = {0};
    const gbsi_executor_setting setting = {
        .pass = pass, .compiled = compiled, .options = options, .level = gbsi_simd_level()};
    uint32_t x[MOST_VARIABLES];
    assert_int_equal(gbsi_executor_init(&s->x, &setting, &err), GBS_OK);
    for (uint32_t chain = 0; chain < s->x.n_chains; ++chain) {
        test_stream stream = {.seed = 1000 + chain, .n = 0};
        for (uint32_t v = 0; v < n; ++v) {
            x[v] = test_below(&stream, 2);
        }
        gbsi_executor_set(&s->x, chain, x);
    }
    gbsi_executor_ready(&s->x);
    const gbsi_estimate_shape shape = {.n_slots = n,
                                       .same_arity = 2,
                                       .n_chains = s->x.n_chains,
                                       .lanes = s->x.lanes,
                                       .n_groups = s->x.n_groups,
                                       .value_bytes = 1,
                                       .kind = GBS_ESTIMATOR_COUNT,
                                       .each_once = true};
    assert_int_equal(gbsi_estimate_new(&shape, s->x.level, &s->estimate, &err), GBS_OK);
}

static void one_pass_of_bits(subject *s, uint64_t pass)
{
    gbs_error err = {0};
    const gbsi_schedule none = {0};
    assert_int_equal(
        gbsi_executor_pass(&s->x, &none, pass, pass < 6 ? NULL : s->estimate, false, &err), GBS_OK);
}

/* States are consistent after each colour. */
static gbs_status count_batch(void *context, uint32_t batch, gbs_error *err)
{
    uint32_t *n = context;
    (void)err;
    assert_int_equal(batch, *n);
    ++*n;
    return GBS_OK;
}

/* The run that is interrupted is run batch by batch besides. */
static void check_bits(const gbsi_pass *pass, const void *compiled, uint32_t n, uint64_t chains)
{
    gbs_run_options options = gbs_run_options_default();
    test_file file = {0};
    uint32_t n_batches = 0;
    subject whole;
    subject half;
    subject other;
    options.estimator = GBS_ESTIMATOR_COUNT;
    options.chains = chains;
    begin_bits(pass, compiled, &options, n, &whole);
    begin_bits(pass, compiled, &options, n, &half);
    begin_bits(pass, compiled, &options, n, &other);
    half.x.hook = (gbsi_batch_hook){count_batch, &n_batches};
    for (uint64_t t = 0; t < 40; ++t) {
        one_pass_of_bits(&whole, t);
        if (t == 17) {
            one_pass_of_bits(&other, 99);
            hand_over(&half, &other, &file);
            other.x.hook = half.x.hook;
        }
        n_batches = 0;
        one_pass_of_bits(t < 17 ? &half : &other, t);
        assert_int_equal(n_batches, 2);
    }
    gbsi_executor_fetch(&whole.x, whole.estimate);
    gbsi_executor_fetch(&other.x, other.estimate);
    for (uint32_t v = 0; v < n; ++v) {
        double p[2][4][2];
        memset(p, 0, sizeof p);
        gbsi_estimate_slot(whole.estimate, v, p[0][0], p[0][1], p[0][2], p[0][3]);
        gbsi_estimate_slot(other.estimate, v, p[1][0], p[1][1], p[1][2], p[1][3]);
        assert_memory_equal(p[0], p[1], sizeof p[0]);
    }
    assert_true(pass->log_density(whole.x.pass_state, 1) ==
                pass->log_density(other.x.pass_state, 1));
    check_cut(&file, &other);
    test_file_free(&file);
    drop(&whole);
    drop(&half);
    drop(&other);
}

static void spins_in_bits(void **state)
{
    (void)state;
    gbs_error err = {0};
    gbs_model *model = NULL;
    gbsi_conditioned *conditioned = NULL;
    gbsi_graph *graph = NULL;
    gbsi_lattice *lattice = NULL;
    gbsi_packed *packed = NULL;
    const char *reason = NULL;
    uint32_t color[MOST_VARIABLES];
    uint32_t n_colors = 0;
    const gbs_generate_ising_options spec = {.side = {9, 8, 1}, .coupling = 0.3, .field = 0.1};
    assert_int_equal(gbs_generate_ising(&spec, &model, &err), GBS_OK);
    assert_int_equal(gbsi_condition(model, NULL, &conditioned, &err), GBS_OK);
    assert_int_equal(gbsi_graph_new(conditioned, NULL, &graph, &err), GBS_OK);
    assert_int_equal(gbsi_graph_color(graph, NULL, color, &n_colors, &err), GBS_OK);
    assert_int_equal(gbsi_lattice_new(conditioned, &lattice, &reason, &err), GBS_OK);
    assert_non_null(lattice);
    assert_int_equal(gbsi_packed_new(conditioned, color, n_colors, 1, &packed, &reason, &err),
                     GBS_OK);
    assert_non_null(packed);
    const uint32_t n = conditioned->n_variables;
    for (uint64_t chains = 3; chains <= 40; chains += 37) {
        check_bits(&gbsi_pass_sites, lattice, n, chains);
        check_bits(&gbsi_pass_packed, packed, n, chains);
    }
    gbsi_lattice_free(lattice);
    gbsi_packed_free(packed);
    gbsi_graph_free(graph);
    gbsi_conditioned_free(conditioned);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(resumed_equals_uninterrupted),
        cmocka_unit_test(spins_in_bits),
        cmocka_unit_test(damaged_chains),
        cmocka_unit_test(traces),
        cmocka_unit_test(saved_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
