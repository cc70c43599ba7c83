/* SPDX-License-Identifier: Apache-2.0 */
/* The bits of results: one row for every scan x draw x estimator x number of chains, made of
 * the digests of short runs on every model that the conformance table had at first and on two
 * lattices of spins. Models that came later have rows of their own, one for every scan x draw.
 *
 * tests/conformance/digests.txt holds the rows. A commit that changes one names it and says why.
 * GIBBSITE_DIGESTS=print prints the list as it is now, in place of the comparison. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/digest.h"
#include "base/test_random.h"
#include "base/test_row.h"
#include "chains/run.h"
#include "simd/dispatch.h"
#include "support/runs.h"
#include "support/small_models.h"

static const struct {
    const char *name;
    int scan;
} scans[] = {
    {"chromatic", GBS_SCAN_CHROMATIC}, {"systematic", GBS_SCAN_SYSTEMATIC},
    {"random", GBS_SCAN_RANDOM},       {"permuted", GBS_SCAN_PERMUTED},
    {"sequence", GBS_SCAN_SEQUENCE},   {"synchronous", GBS_SCAN_SYNCHRONOUS},
    {"splash", GBS_SCAN_SPLASH},       {"cluster", GBS_SCAN_CLUSTER},
    {"wolff", GBS_SCAN_WOLFF},
};

static const struct {
    const char *name;
    int draw, keys, rule, bin_rule, scheme;
} draws[] = {
    {"random", GBS_DRAW_RANDOM, 0, 0, 0, 0},
    {"herded", GBS_DRAW_HERDED, 0, 0, 0, 0},
    {"herded/sum", GBS_DRAW_HERDED, GBS_KEYS_SUM, 0, 0, 0},
    {"herded/bins", GBS_DRAW_HERDED, GBS_KEYS_BINS, 0, 0, 0},
    {"herded-shared", GBS_DRAW_HERDED_SHARED, 0, 0, 0, 0},
    {"herded-complete", GBS_DRAW_HERDED_COMPLETE, 0, 0, 0, 0},
    {"discretized", GBS_DRAW_DISCRETIZED, 0, 0, 0, 0},
    {"discretized/pre", GBS_DRAW_DISCRETIZED, 0, GBS_HERD_PRE, 0, 0},
    {"discretized/argmax", GBS_DRAW_DISCRETIZED, 0, 0, GBS_BIN_ARGMAX, 0},
    {"one-bin", GBS_DRAW_ONE_BIN, 0, 0, 0, 0},
    {"randomly-discretized", GBS_DRAW_RANDOMLY_DISCRETIZED, 0, 0, 0, 0},
    {"bounded-error", GBS_DRAW_BOUNDED_ERROR, 0, 0, 0, 0},
    {"bounded-error/bins", GBS_DRAW_BOUNDED_ERROR, GBS_KEYS_BINS, 0, 0, 0},
    {"cud/tribble", GBS_DRAW_CUD, 0, 0, 0, GBS_CUD_TRIBBLE},
    {"cud/chen", GBS_DRAW_CUD, 0, 0, 0, GBS_CUD_CHEN},
};

static const char *const estimator_name[] = {"rao-blackwell", "count", "traces"};
static const uint64_t n_chains[] = {1, 3, 16, 40};

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- models ---------------------------------------------------------------------------------- */

typedef struct problem {
    const char *name;
    gbs_model *model;
    gbs_evidence *evidence;
    uint32_t *sequence; /* every variable at least once and some twice */
    size_t length;
} problem;

static gbs_model *torus_of_spins(void)
{
    const gbs_generate_ising_options options = {.side = {6, 4, 1}, .torus = 1, .coupling = 0.3};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&options, &model, NULL), GBS_OK);
    return model;
}

static gbs_model *graph_of_spins(void)
{
    const gbs_generate_regular_options options = {
        .variables = 30, .degree = 3, .coupling = 0.2, .seed = 1};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_regular(&options, &model, NULL), GBS_OK);
    return model;
}

static problem pose(const char *name, gbs_model *model, int observe)
{
    problem p = {.name = name, .model = model, .evidence = test_observe(model, observe)};
    const uint32_t n = gbs_model_n_variables(model);
    p.sequence = calloc(2 * (size_t)n + 1, sizeof *p.sequence);
    for (uint32_t v = 0; v < n; ++v) {
        p.sequence[p.length++] = n - 1 - v;
        if (v % 3 == 0) {
            p.sequence[p.length++] = (v * 7 + 2) % n;
        }
    }
    return p;
}

/* Of the test cases [first, end), with room for two more. */
static problem *pose_cases(size_t first, size_t end, size_t *n)
{
    problem *p = calloc(end - first + 2, sizeof *p);
    for (*n = 0; *n < end - first; ++*n) {
        const test_case *one = &test_cases[first + *n];
        p[*n] = pose(one->name, one->make(), one->observe);
    }
    return p;
}

static problem *pose_first(size_t *n)
{
    problem *p = pose_cases(0, n_first_test_cases, n);
    p[(*n)++] = pose("torus", torus_of_spins(), -1);
    p[(*n)++] = pose("graph", graph_of_spins(), -1);
    return p;
}

static void drop_all(problem *p, size_t n)
{
    for (size_t i = 0; i < n; ++i) {
        gbs_evidence_free(p[i].evidence);
        gbs_model_free(p[i].model);
        free(p[i].sequence);
    }
    free(p);
}

/* ---- rows ------------------------------------------------------------------------------------ */

typedef struct row {
    size_t scan, draw;
    int estimator;
    uint64_t chains;
} row;

static gbs_run_options options_of(const row *r, const problem *p)
{
    gbs_run_options options = gbs_run_options_default();
    options.method = GBS_METHOD_SAMPLE;
    options.scan = scans[r->scan].scan;
    test_choose_draw(&options, draws[r->draw].draw, draws[r->draw].keys, draws[r->draw].rule);
    options.bin_rule = draws[r->draw].bin_rule;
    options.cud_scheme = draws[r->draw].scheme;
    options.estimator = r->estimator;
    options.chains = r->chains;
    const int cud = options.draw == GBS_DRAW_CUD; /* runs a whole period of 2^M - 1 sweeps */
    options.sweeps = cud ? 63 : 70;
    options.burn_in = cud ? 0 : 8;
    options.seed = 20261121;
    options.threads = 1;
    if (options.scan == GBS_SCAN_SEQUENCE) {
        options.sequence = p->sequence;
        options.sequence_length = p->length;
    }
    return options;
}

/* A combination that is refused counts too: "refused" stands for its digest. */
static int add_digest(const problem *p, const gbs_run_options *options, gbsi_digest *digest)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    if (gbs_run_new(p->model, p->evidence, options, &run, &err) < 0 ||
        gbs_run_execute(run, NULL, &err) < 0) {
        gbs_run_free(run);
        gbsi_digest_bytes(digest, "refused", 7);
        return 0;
    }
    gbsi_digest_bytes(digest, gbs_run_report(run)->digest, 32);
    gbs_run_free(run);
    return 1;
}

/* @param text [33]. @return models that were run. */
static int digest_of(const row *r, const problem *problems, size_t n, char *text)
{
    gbsi_digest *digest = NULL;
    int n_run = 0;
    assert_int_equal(gbsi_digest_new(&digest, NULL), GBS_OK);
    for (size_t i = 0; i < n; ++i) {
        const gbs_run_options options = options_of(r, &problems[i]);
        n_run += add_digest(&problems[i], &options, digest);
    }
    gbsi_digest_text(digest, text);
    gbsi_digest_free(digest);
    return n_run;
}

static void write_row(const row *r, int n_run, const char *digest, char *line, size_t size)
{
    (void)snprintf(line, size, "%s %s %s %d %d %s", scans[r->scan].name, draws[r->draw].name,
                   estimator_name[r->estimator], (int)r->chains, n_run, digest);
}

/* Traces are of the random draw alone. The numbers of chains take turns with the other draws: the
 * threads suite has them all. */
static int worth_running(const row *r)
{
    if (draws[r->draw].draw != GBS_DRAW_RANDOM && r->estimator == GBS_ESTIMATOR_TRACES) {
        return 0;
    }
    return n_chains[(r->scan + r->draw + (size_t)r->estimator) % N_OF(n_chains)] == r->chains ||
           draws[r->draw].draw == GBS_DRAW_RANDOM;
}

/* @param computed whether the row is computed; else its line in the list is passed over.
 * @return models that were run. */
static int check_row(const row *r, const problem *problems, size_t n, FILE *list, int print,
                     int computed)
{
    char expected[160];
    char line[160];
    char digest[33];
    int n_run = 0;
    test_row("%s, %s, %s, %d chains", scans[r->scan].name, draws[r->draw].name,
             estimator_name[r->estimator], (int)r->chains);
    if (computed) {
        n_run = digest_of(r, problems, n, digest);
        write_row(r, n_run, digest, line, sizeof line);
    }
    if (print) {
        (void)printf("%s\n", line);
        return n_run;
    }
    assert_non_null(fgets(expected, sizeof expected, list));
    expected[strcspn(expected, "\n")] = '\0';
    if (computed) {
        assert_string_equal(line, expected);
    }
    return n_run;
}

/* At the usual scale every third row, at small scale every eleventh. */
static void check_rows(FILE *list, int print)
{
    const size_t step = print ? 1 : test_scaled(1, 3, 11);
    size_t n = 0;
    size_t n_rows = 0;
    size_t n_run = 0;
    problem *problems = pose_first(&n);
    row r;
    for (r.scan = 0; r.scan < N_OF(scans); ++r.scan) {
        for (r.draw = 0; r.draw < N_OF(draws); ++r.draw) {
            for (r.estimator = 0; r.estimator < (int)N_OF(estimator_name); ++r.estimator) {
                for (size_t c = 0; c < N_OF(n_chains); ++c) {
                    r.chains = n_chains[c];
                    if (worth_running(&r)) {
                        const int computed = n_rows++ % step == 0;
                        n_run += (size_t)check_row(&r, problems, n, list, print, computed);
                    }
                }
            }
        }
    }
    assert_true(n_rows > 250 && n_run > 5000 / step);
    drop_all(problems, n);
}

/* Of the test cases [first, end), which came later. */
static void check_later_rows(FILE *list, int print, size_t first, size_t end)
{
    const size_t step = print ? 1 : test_scaled(1, 3, 11);
    size_t n = 0;
    size_t n_rows = 0;
    problem *problems = pose_cases(first, end, &n);
    row r = {.estimator = 0, .chains = 16};
    for (r.scan = 0; r.scan < N_OF(scans); ++r.scan) {
        for (r.draw = 0; r.draw < N_OF(draws); ++r.draw) {
            (void)check_row(&r, problems, n, list, print, n_rows++ % step == 0);
        }
    }
    drop_all(problems, n);
}

static void bits_of_the_first_version(void **state)
{
    (void)state;
    const char *mode = getenv("GIBBSITE_DIGESTS");
    const int print = mode != NULL && strcmp(mode, "print") == 0;
    char more[160];
    FILE *list = fopen(GBSI_DIGESTS_FILE, "r");
    assert_true(print || list != NULL);
    check_rows(list, print);
    const size_t n_first = n_first_test_cases;
    check_later_rows(list, print, n_first, n_first + 4);       /* parities */
    check_later_rows(list, print, n_first + 4, n_first + 8);   /* cardinalities */
    check_later_rows(list, print, n_first + 8, n_first + 12);  /* noisy */
    check_later_rows(list, print, n_first + 12, n_first + 14); /* maxima */
    check_later_rows(list, print, n_first + 14, n_first + 15); /* tables by count */
    assert_true(n_first + 15 == n_test_cases);
    assert_true(print || fgets(more, sizeof more, list) == NULL);
    if (list != NULL) {
        (void)fclose(list);
    }
}

/* ---- interrupted and resumed ---------------------------------------------------------------- */

/* A run, or a stretch of it. */
typedef struct stretch {
    uint64_t
        end; /* the pass after which it stops; 0: at its end. Out: passes of burn-in and kept */
    char digest[33];
} stretch;

/* @param from, to checkpoints, NULL: none. @return 0: the combination is refused. */
static int run_stretch(const problem *p, const gbs_run_options *options, const char *from,
                       const char *to, stretch *s)
{
    gbs_error err = {0};
    gbs_run *run = NULL;
    if (gbs_run_new(p->model, p->evidence, options, &run, &err) < 0) {
        return 0;
    }
    if (from != NULL && gbs_run_resume(run, from, &err) != GBS_OK) {
        fail_msg("%s", err.message);
    }
    assert_true(to == NULL || gbs_run_checkpoint(run, to, &err) == GBS_OK);
    run->checkpoints.stop_after = s->end;
    const gbs_status status = gbs_run_execute(run, NULL, &err);
    assert_true(status >= 0 || (from == NULL && to == NULL));
    const gbs_report *report = gbs_run_report(run); /* a sweep kept in burn-in is not resumed */
    s->end = report->burn_in + (report->in_burn_in ? 0 : report->sweeps);
    memcpy(s->digest, report->digest, sizeof s->digest);
    gbs_run_free(run);
    return status >= 0;
}

/* Interrupted twice, each part with another number of threads or another instruction set. */
static int check_interrupted(const problem *p, const row *r, const char *path, uint64_t *random)
{
    stretch whole = {0};
    stretch last = {0};
    gbs_run_options options = options_of(r, p);
    if (options.draw != GBS_DRAW_CUD && next_random(random) % 2 == 0) {
        options.burn_in = GBS_BURN_IN_AUTO;
    }
    if (!run_stretch(p, &options, NULL, NULL, &whole) || whole.end == 0) { /* nothing is free */
        return 0;
    }
    const uint64_t first = 1 + next_random(random) % (whole.end - 1);
    const uint64_t second = first + 1 + next_random(random) % (whole.end - first);
    stretch part = {.end = first};
    const gbsi_simd best = gbsi_simd_force(GBSI_SIMD_PORTABLE);
    assert_true(run_stretch(p, &options, NULL, path, &part) && part.end == first);
    (void)gbsi_simd_force(best);
    options.threads = 3;
    part.end = second;
    assert_true(run_stretch(p, &options, path, path, &part) && part.end == second);
    options.threads = 2;
    assert_true(run_stretch(p, &options, path, NULL, &last));
    assert_string_equal(whole.digest, last.digest);
    return 1;
}

/* Every scan x draw x estimator, each with another model, number of chains, form of burn-in and
 * moment; a third of them at the usual scale, a ninth at small scale. */
static void interrupted_runs_end_alike(void **state)
{
    (void)state;
    char slow[] = "/tmp/gibbsite-digests-XXXXXX";
    char fast[] = "/dev/shm/gibbsite-digests-XXXXXX"; /* files are synced, which takes long */
    const char *folder = mkdtemp(fast) != NULL ? fast : mkdtemp(slow);
    char path[64];
    char before[72];
    size_t n = 0;
    size_t n_run = 0;
    size_t turn = 0;
    const test_scale scale = test_scale_asked();
    const size_t step = scale == TEST_SMALL ? 9 : scale == TEST_USUAL ? 3 : 1;
    uint64_t random = 20261123;
    problem *problems = pose_first(&n);
    row r;
    assert_non_null(folder);
    (void)snprintf(path, sizeof path, "%s/run.ckpt", folder);
    (void)snprintf(before, sizeof before, "%s~", path);
    for (r.scan = 0; r.scan < N_OF(scans); ++r.scan) {
        for (r.draw = 0; r.draw < N_OF(draws); ++r.draw) {
            for (r.estimator = 0; r.estimator < (int)N_OF(estimator_name); ++r.estimator) {
                if ((r.scan + r.draw + (size_t)r.estimator) % step != 0) {
                    continue;
                }
                int done = 0;
                for (size_t tries = 0; !done && tries < n; ++tries, ++turn) {
                    r.chains = n_chains[turn % N_OF(n_chains)];
                    done = check_interrupted(&problems[turn % n], &r, path, &random);
                }
                n_run += (size_t)done;
            }
        }
    }
    assert_true(n_run >= 100 / step);
    (void)unlink(path);
    (void)unlink(before);
    (void)rmdir(folder);
    drop_all(problems, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bits_of_the_first_version),
                                       cmocka_unit_test(interrupted_runs_end_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
