/* SPDX-License-Identifier: Apache-2.0 */
/* Tests each scan on small models with some observed variables. The properties that are checked
 * follow from the scan's traits and are therefore checked for new scans, too: tests/meson.build
 * runs this test again with the scan of tests/door. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/memory.h"
#include "base/test_row.h"
#include "rng/philox.h"
#include "scan/registry.h"

/* ---- a scan of a chain of binary variables ----------------------------------------------- */

typedef struct fixture {
    gbs_model *model;
    gbs_evidence *evidence;
    gbsi_conditioned *conditioned;
    gbsi_graph *graph;
    gbs_run_options options;
} fixture;

/* Coupled neighbours i, i + 1, but not across the cut; the listed ones observed in state 0. */
static void begin(fixture *f, uint32_t n, uint32_t cut, size_t n_observed, const uint32_t *observed)
{
    *f = (fixture){0};
    gbs_builder *builder = NULL;
    assert_int_equal(gbs_builder_new(&builder, NULL), GBS_OK);
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t two = 2;
        assert_int_equal(gbs_builder_add_variables(builder, 1, &two, NULL, NULL), GBS_OK);
        if (v > 0 && v != cut) {
            assert_int_equal(gbs_builder_add_ising(builder, v - 1, v, 0.3, NULL), GBS_OK);
        }
    }
    if (n > 2) {
        assert_int_equal(gbs_builder_name_variable(builder, 2, "rain", NULL), GBS_OK);
    }
    assert_int_equal(gbs_builder_build(builder, &f->model, NULL), GBS_OK);
    gbs_builder_free(builder);
    assert_int_equal(gbs_evidence_new(f->model, &f->evidence, NULL), GBS_OK);
    for (size_t i = 0; i < n_observed; i++) {
        assert_int_equal(gbs_evidence_observe(f->evidence, observed[i], 0, NULL), GBS_OK);
    }
    assert_int_equal(gbsi_condition(f->model, f->evidence, &f->conditioned, NULL), GBS_OK);
    assert_int_equal(gbsi_graph_new(f->conditioned, NULL, &f->graph, NULL), GBS_OK);
    f->options.seed = 17;
}

static void clear(fixture *f)
{
    gbsi_graph_free(f->graph);
    gbsi_conditioned_free(f->conditioned);
    gbs_evidence_free(f->evidence);
    gbs_model_free(f->model);
}

static void *start(const fixture *f, const gbsi_scan *scan, unsigned *traits)
{
    void *state = NULL;
    *traits = scan->traits;
    assert_int_equal(scan->init(f->graph, &f->options, NULL, &state, traits, NULL), GBS_OK);
    return state;
}

static gbsi_sequence pass_of(const gbsi_scan *scan, void *state, uint64_t pass)
{
    gbsi_sequence sequence = {0};
    assert_int_equal(scan->next_pass(state, pass, &sequence, NULL), GBS_OK);
    return sequence;
}

/* The first pass equals the list, of user variables. */
static void assert_pass(const fixture *f, const gbsi_scan *scan, size_t n, const uint32_t *user)
{
    unsigned traits = 0;
    void *state = start(f, scan, &traits);
    for (uint64_t pass = 0; pass < 2; pass++) {
        const gbsi_sequence s = pass_of(scan, state, pass);
        assert_int_equal(s.n, n);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(f->conditioned->user_variable[s.variable[i]], user[i]);
        }
    }
    scan->free(state);
}

static void assert_refused(const fixture *f, const gbsi_scan *scan, const char *part)
{
    gbs_error err = {GBS_OK, ""};
    int nothing = 0;
    void *state = &nothing;
    unsigned traits = scan->traits;
    assert_int_equal(scan->init(f->graph, &f->options, NULL, &state, &traits, &err),
                     GBS_ERR_ARGUMENT);
    assert_ptr_equal(state, &nothing);
    assert_int_equal(err.status, GBS_ERR_ARGUMENT);
    assert_non_null(strstr(err.message, part));
}

/* ---- all scans --------------------------------------------------------------------------- */

/* The numbers and names of existing rows never change; new rows are appended. */
static void registry(void **state)
{
    (void)state;
    static const char *const first[] = {"chromatic", "systematic",  "random", "permuted",
                                        "sequence",  "synchronous", "splash"};
    const int n_first = sizeof first / sizeof first[0];
    const int n = (int)gbsi_n_scans;
    assert_true(n >= n_first);
    for (int kind = 0; kind < n; kind++) {
        const gbsi_scan *scan = gbsi_scan_of(kind);
        assert_non_null(scan); /* numbers have no gaps */
        test_row("%s", scan->name);
        assert_true(kind >= n_first || strcmp(scan->name, first[kind]) == 0);
        assert_ptr_equal(scan, gbsi_scans[kind]);
        assert_true(strlen(scan->reference) > 20);
    }
    test_no_row();
    assert_null(gbsi_scan_of(-1));
    assert_null(gbsi_scan_of(n));
}

enum { MOST = 64 }; /* updates of a pass */

/* A pass does not depend on the passes requested before, and has the properties that the traits
 * state. */
static void passes_are_pure(void **unused)
{
    (void)unused;
    const uint32_t observed[] = {3, 7};
    const uint32_t list[] = {4, 3, 0, 1, 2, 5, 6, 7, 8, 9, 10, 11, 4};
    for (uint32_t kind = 0; kind < gbsi_n_scans; kind++) {
        fixture f;
        begin(&f, 12, 0, 2, observed);
        f.options.sequence = list;
        f.options.sequence_length = sizeof list / sizeof list[0];
        const gbsi_scan *scan = gbsi_scans[kind];
        unsigned traits = 0;
        test_row("%s", scan->name);
        void *state = start(&f, scan, &traits);
        assert_int_equal(traits & ~scan->traits, 0); /* never widened */
        uint32_t first[MOST];
        gbsi_sequence s = pass_of(scan, state, 0);
        const size_t n = s.n;
        assert_true(n > 0 && n <= MOST);
        assert_true(!(traits & GBSI_SCAN_EACH_ONCE) || n == 10);
        memcpy(first, s.variable, n * sizeof *first);
        bool differs = false;
        for (uint64_t pass = 1; pass < 40; pass++) {
            s = pass_of(scan, state, pass << 40 | pass);
            assert_int_equal(s.n, n);
            uint32_t count[10] = {0};
            for (size_t i = 0; i < n; i++) {
                assert_true(s.variable[i] < 10);
                count[s.variable[i]]++;
            }
            for (size_t v = 0; v < 10; v++) {
                assert_true(!(traits & GBSI_SCAN_EACH_ONCE) || count[v] == 1);
            }
            differs = differs || memcmp(s.variable, first, n * sizeof *first) != 0;
        }
        const bool repeats = (traits & (GBSI_SCAN_REPEATS | GBSI_SCAN_BLOCKS)) != 0;
        assert_true(differs == !repeats);
        s = pass_of(scan, state, 0);
        assert_memory_equal(s.variable, first, n * sizeof *first);
        scan->free(state);
        scan->free(NULL);
        clear(&f);
    }
}

/* Models without variables, with all variables observed, and with one free variable, which every
 * pass visits. */
static void few_free_variables(void **unused)
{
    (void)unused;
    const uint32_t observed[] = {0, 1, 2};
    const uint32_t list[] = {2, 1, 0};
    for (uint32_t kind = 0; kind < gbsi_n_scans; kind++) {
        for (uint32_t c = 0; c < 3; c++) {
            fixture f;
            begin(&f, c == 0 ? 0 : 3, 0, c == 0 ? 0 : 4 - c, observed);
            f.options.sequence = list;
            f.options.sequence_length = c == 0 ? 0 : 3;
            unsigned traits = 0;
            test_row("%s, case %u", gbsi_scans[kind]->name, c);
            void *state = start(&f, gbsi_scans[kind], &traits);
            const gbsi_sequence s = pass_of(gbsi_scans[kind], state, 3);
            assert_true(c == 2 ? s.n > 0 : s.n == 0);
            assert_true(!(traits & GBSI_SCAN_EACH_ONCE) || s.n <= 1);
            for (size_t i = 0; i < s.n; i++) {
                assert_int_equal(s.variable[i], 0);
            }
            gbsi_scans[kind]->free(state);
            clear(&f);
        }
    }
}

static void failing_requests(void **unused)
{
    (void)unused;
    const uint32_t list[] = {0, 1, 2, 3};
    for (uint32_t kind = 0; kind < gbsi_n_scans; kind++) {
        fixture f;
        begin(&f, 4, 0, 0, NULL);
        f.options.sequence = list;
        f.options.sequence_length = 4;
        gbs_status status = GBS_ERR_MEMORY;
        uint64_t allowed = 0;
        test_row("%s", gbsi_scans[kind]->name);
        for (; status != GBS_OK; allowed++) {
            void *state = NULL;
            unsigned traits = gbsi_scans[kind]->traits;
            gbs_error err = {GBS_OK, ""};
            gbsi_alloc_fail_after(allowed);
            status = gbsi_scans[kind]->init(f.graph, &f.options, NULL, &state, &traits, &err);
            gbsi_alloc_fail_after(UINT64_MAX);
            assert_true(status == GBS_OK || (status == GBS_ERR_MEMORY && state == NULL &&
                                             err.status == GBS_ERR_MEMORY));
            gbsi_scans[kind]->free(state);
        }
        assert_true(allowed < 1000);
        clear(&f);
    }
}

/* ---- one by one -------------------------------------------------------------------------- */

static void chromatic_runs_color_by_color(void **unused)
{
    (void)unused;
    fixture f;
    const uint32_t observed[] = {3};
    begin(&f, 8, 0, 1, observed);
    /* Colour 0 begins each component: 0 1 2 | 4 5 6 7. */
    assert_pass(&f, &gbsi_scan_chromatic, 7, (uint32_t[]){0, 2, 4, 6, 1, 5, 7});
    clear(&f);
}

static void systematic_starts_at_the_origin(void **unused)
{
    (void)unused;
    fixture f;
    const uint32_t observed[] = {0, 3};
    begin(&f, 6, 0, 2, observed);
    assert_pass(&f, &gbsi_scan_systematic, 4, (uint32_t[]){1, 2, 4, 5});
    f.options.origin = 1;
    assert_pass(&f, &gbsi_scan_systematic, 4, (uint32_t[]){1, 2, 4, 5});
    f.options.origin = 2;
    assert_pass(&f, &gbsi_scan_systematic, 4, (uint32_t[]){2, 4, 5, 1});
    f.options.origin = 3; /* observed: the next free one */
    assert_pass(&f, &gbsi_scan_systematic, 4, (uint32_t[]){4, 5, 1, 2});
    f.options.origin = 5;
    assert_pass(&f, &gbsi_scan_systematic, 4, (uint32_t[]){5, 1, 2, 4});
    f.options.origin = 6;
    assert_refused(&f, &gbsi_scan_systematic, "6 variables");
    f.options.origin = UINT64_C(1) << 32; /* not cut to 0 */
    assert_refused(&f, &gbsi_scan_systematic, "origin 4294967296");
    clear(&f);
    begin(&f, 6, 0, 1, (uint32_t[]){5});
    f.options.origin = 5; /* the last one, observed: round to the first */
    assert_pass(&f, &gbsi_scan_systematic, 5, (uint32_t[]){0, 1, 2, 3, 4});
    clear(&f);
}

static void sequence_keeps_what_is_free(void **unused)
{
    (void)unused;
    fixture f;
    const uint32_t observed[] = {1};
    begin(&f, 4, 0, 1, observed);
    unsigned traits = 0;
    const uint32_t once[] = {3, 1, 0, 2, 1};
    f.options.sequence = once;
    f.options.sequence_length = 5;
    assert_pass(&f, &gbsi_scan_sequence, 3, (uint32_t[]){3, 0, 2});
    gbsi_scan_sequence.free(start(&f, &gbsi_scan_sequence, &traits));
    assert_int_equal(traits, GBSI_SCAN_REPEATS | GBSI_SCAN_EACH_ONCE | GBSI_SCAN_READS);
    const uint32_t twice[] = {3, 1, 0, 3, 2};
    f.options.sequence = twice;
    assert_pass(&f, &gbsi_scan_sequence, 4, (uint32_t[]){3, 0, 3, 2});
    gbsi_scan_sequence.free(start(&f, &gbsi_scan_sequence, &traits));
    assert_int_equal(traits, GBSI_SCAN_REPEATS | GBSI_SCAN_READS);
    const uint32_t omits[] = {3, 0, 3, 1};
    f.options.sequence = omits;
    f.options.sequence_length = 4;
    assert_refused(&f, &gbsi_scan_sequence, "omits variable 2 (rain)");
    assert_refused(&f, &gbsi_scan_sequence, "unless --partial-scan is given");
    f.options.partial_scan = 1;
    assert_pass(&f, &gbsi_scan_sequence, 3, (uint32_t[]){3, 0, 3});
    gbsi_scan_sequence.free(start(&f, &gbsi_scan_sequence, &traits));
    assert_int_equal(traits, GBSI_SCAN_REPEATS | GBSI_SCAN_READS);
    f.options.sequence_length = 1; /* once, but not all of them */
    gbsi_scan_sequence.free(start(&f, &gbsi_scan_sequence, &traits));
    assert_int_equal(traits, GBSI_SCAN_REPEATS | GBSI_SCAN_READS);
    f.options.partial_scan = 0;
    assert_refused(&f, &gbsi_scan_sequence, "omits variable 0:");
    const uint32_t beyond[] = {0, 2, 3, 4};
    f.options.sequence = beyond;
    f.options.sequence_length = 4;
    assert_refused(&f, &gbsi_scan_sequence, "entry 3 is variable 4");
    f.options.sequence = NULL;
    assert_refused(&f, &gbsi_scan_sequence, "NULL");
    f.options.sequence_length = 0;
    assert_refused(&f, &gbsi_scan_sequence, "omits variable 0:");
    clear(&f);
}

/* A part of a model: the variables of the other components are neither free nor fixed. */
static void parts_of_models(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, 7, 3, 1, (uint32_t[]){5}); /* 0 1 2 | 3 4 (5) 6 */
    const uint8_t keep[] = {0, 0, 0, 1, 1, 1};
    gbsi_conditioned *part = NULL;
    assert_int_equal(gbsi_conditioned_part(f.conditioned, keep, &part, NULL), GBS_OK);
    gbsi_graph_free(f.graph);
    gbsi_conditioned_free(f.conditioned);
    f.conditioned = part;
    assert_int_equal(gbsi_graph_new(part, NULL, &f.graph, NULL), GBS_OK);
    const uint32_t list[] = {6, 0, 5, 4, 2, 1, 3};
    f.options.sequence = list;
    f.options.sequence_length = 7;
    assert_pass(&f, &gbsi_scan_sequence, 3, (uint32_t[]){6, 4, 3});
    f.options.origin = 1;
    assert_pass(&f, &gbsi_scan_systematic, 3, (uint32_t[]){3, 4, 6});
    f.options.origin = 4;
    assert_pass(&f, &gbsi_scan_systematic, 3, (uint32_t[]){4, 6, 3});
    clear(&f);
}

/* ---- the drawn ones ---------------------------------------------------------------------- */

static double chi_square(const uint32_t *count, size_t n_cells, double expected)
{
    double sum = 0.0;
    for (size_t i = 0; i < n_cells; i++) {
        const double off = count[i] - expected;
        sum += off * off / expected;
    }
    return sum;
}

/* A pass depends on the seed, and has as many updates as there are free variables. */
static void drawn_by_the_seed(void **unused)
{
    (void)unused;
    const gbsi_scan *const drawn[] = {&gbsi_scan_random, &gbsi_scan_permuted};
    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) {
        fixture f;
        unsigned traits = 0;
        uint32_t first[10];
        test_row("%s", drawn[i]->name);
        begin(&f, 12, 0, 2, (const uint32_t[]){3, 7});
        void *state = start(&f, drawn[i], &traits);
        gbsi_sequence s = pass_of(drawn[i], state, 0);
        assert_int_equal(s.n, 10);
        memcpy(first, s.variable, sizeof first);
        drawn[i]->free(state);
        f.options.seed = 18;
        state = start(&f, drawn[i], &traits);
        s = pass_of(drawn[i], state, 0);
        assert_memory_not_equal(s.variable, first, sizeof first);
        drawn[i]->free(state);
        clear(&f);
    }
}

/* Fixed seed; each bound below is exceeded with probability 1e-5 (Wilson-Hilferty). */
static void random_is_uniform(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, 10, 0, 0, NULL);
    unsigned traits = 0;
    void *state = start(&f, &gbsi_scan_random, &traits);
    uint32_t count[10] = {0};
    uint32_t pair[100] = {0};   /* neighbours in a pass */
    uint32_t across[100] = {0}; /* the same position in consecutive passes */
    uint32_t before = 0;
    const uint32_t n_passes = 5000;
    for (uint64_t pass = 0; pass < n_passes; pass++) {
        const gbsi_sequence s = pass_of(&gbsi_scan_random, state, pass);
        for (size_t i = 0; i < 10; i++) {
            count[s.variable[i]]++;
        }
        for (size_t i = 0; i < 10; i += 2) {
            pair[s.variable[i] * 10 + s.variable[i + 1]]++;
        }
        if (pass % 2 == 1) {
            across[before * 10 + s.variable[4]]++;
        }
        before = s.variable[4];
    }
    assert_true(chi_square(count, 10, n_passes) < 40.1);         /* 9 degrees of freedom */
    assert_true(chi_square(pair, 100, n_passes / 20.0) < 171.0); /* 99 */
    assert_true(chi_square(across, 100, n_passes / 200.0) < 171.0);
    gbsi_scan_random.free(state);
    clear(&f);
}

static void permuted_is_uniform(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, 4, 0, 0, NULL);
    unsigned traits = 0;
    void *state = start(&f, &gbsi_scan_permuted, &traits);
    uint32_t count[256] = {0};
    const uint32_t n_passes = 24000;
    for (uint64_t pass = 0; pass < n_passes; pass++) {
        const gbsi_sequence s = pass_of(&gbsi_scan_permuted, state, pass);
        count[64 * s.variable[0] + 16 * s.variable[1] + 4 * s.variable[2] + s.variable[3]]++;
    }
    uint32_t order[24];
    size_t n_orders = 0;
    for (size_t i = 0; i < 256; i++) {
        if (count[i] > 0) {
            assert_true(n_orders < 24);
            order[n_orders++] = count[i];
        }
    }
    assert_int_equal(n_orders, 24);
    assert_true(chi_square(order, 24, n_passes / 24.0) < 64.4); /* 23 degrees of freedom */
    gbsi_scan_permuted.free(state);
    clear(&f);
}

/* Random numbers are those of the documented counter layout. */
static void drawn_positions(void **unused)
{
    (void)unused;
    fixture f;
    begin(&f, 9, 0, 0, NULL);
    unsigned traits = 0;
    void *state = start(&f, &gbsi_scan_random, &traits);
    const uint64_t pass = UINT64_C(0x123456789abc);
    const gbsi_sequence s = pass_of(&gbsi_scan_random, state, pass);
    for (uint32_t i = 0; i < 9; i++) {
        const uint32_t high = gbsi_word(17, 0, pass, 2 * (uint64_t)i, GBSI_PURPOSE_SCAN);
        const uint32_t low = gbsi_word(17, 0, pass, 2 * (uint64_t)i + 1, GBSI_PURPOSE_SCAN);
        assert_int_equal(s.variable[i], gbsi_below(high, low, 9));
    }
    gbsi_scan_random.free(state);
    clear(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(registry),
        cmocka_unit_test(passes_are_pure),
        cmocka_unit_test(few_free_variables),
        cmocka_unit_test(failing_requests),
        cmocka_unit_test(chromatic_runs_color_by_color),
        cmocka_unit_test(systematic_starts_at_the_origin),
        cmocka_unit_test(sequence_keeps_what_is_free),
        cmocka_unit_test(parts_of_models),
        cmocka_unit_test(drawn_by_the_seed),
        cmocka_unit_test(random_is_uniform),
        cmocka_unit_test(permuted_is_uniform),
        cmocka_unit_test(drawn_positions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
