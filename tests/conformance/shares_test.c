/* SPDX-License-Identifier: Apache-2.0 */
/* Models that ranks share: the bits of one process, whatever scan, draw, estimator, number of
 * chains and partition, with 1 to 4 ranks of 1 or 2 threads, from shares in memory and from files.
 * Ranks are threads here (support/thread_ranks.h); tests/mpi runs processes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ranks/share.h"
#include "rng/philox.h"
#include "support/ranks_alike.h"
#include "support/runs.h"
#include "support/share_runs.h"
#include "support/small_models.h"
#include "support/thread_ranks.h"

#define N_OF(array) (sizeof(array) / sizeof(array)[0])

/* ---- every combination ----------------------------------------------------------------------- */

static bool check_case(const test_case *one, size_t scan, size_t draw, size_t estimator,
                       size_t turn)
{
    gbs_model *model = one->make();
    const uint32_t n = gbs_model_n_variables(model);
    gbs_evidence *evidence = test_observe(model, one->observe);
    uint32_t *sequence = calloc(2 * (size_t)n + 1, sizeof *sequence);
    test_share_problem p = {.model = model,
                            .evidence = evidence,
                            .parts = test_share_parts[turn % N_OF(test_share_parts)],
                            .scattered = turn % 4 == 0};
    p.options = test_rank_options(test_share_scans[scan], draw, estimator,
                                  test_share_chains[turn % N_OF(test_share_chains)]);
    if (p.options.scan == GBS_SCAN_SEQUENCE) {
        p.options.sequence_length = test_rank_sequence(n, sequence);
        p.options.sequence = sequence;
    }
    const bool run =
        test_check_shares(&p, 1 + turn % TEST_MOST_RANKS, 1 + turn / TEST_MOST_RANKS % 2);
    free(sequence);
    gbs_evidence_free(evidence);
    gbs_model_free(model);
    return run;
}

static void every_combination_has_the_bits_of_one_process(void **state)
{
    (void)state;
    size_t turn = 0;
    size_t n_run = 0;
    const size_t step = test_scaled(1, 19, 71);
    for (size_t scan = 0; scan < N_OF(test_share_scans); ++scan) {
        for (size_t draw = 0; draw < test_n_rank_draws; ++draw) {
            for (size_t estimator = 0; estimator < N_OF(test_rank_estimators); ++estimator) {
                for (size_t c = 0; c < n_test_cases; ++c, ++turn) {
                    if (turn % step == 0) {
                        n_run += check_case(&test_cases[c], scan, draw, estimator, turn / step);
                    }
                }
            }
        }
    }
    assert_true(n_run > turn / step / 3);
}

/* ---- random models, larger ones, decisions --------------------------------------------------- */

static void check_all_ranks(test_share_problem *p)
{
    const test_share_job one = test_run_job(p, 0, 1);
    for (uint32_t n_ranks = 1; n_ranks <= TEST_MOST_RANKS; ++n_ranks) {
        p->scattered = n_ranks % 2 == 1;
        assert_true(test_check_against(&one, p, n_ranks, 1 + n_ranks % 2));
    }
}

static void random_models_of_every_kind(void **state)
{
    (void)state;
    test_share_problem p = {.options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.scan = GBS_SCAN_CHROMATIC;
    p.options.sweeps = 40;
    for (int family = 0; family < TEST_N_FAMILIES; ++family) {
        for (uint64_t seed = 1; seed <= test_scaled(20, 3, 1); ++seed) {
            gbs_model *model = test_model((test_family)family, seed, 40);
            p.model = model;
            p.options.chains = test_share_chains[seed % N_OF(test_share_chains)];
            p.options.burn_in = seed % 2 == 0 ? 3 : GBS_BURN_IN_AUTO;
            check_all_ranks(&p);
            gbs_model_free(model);
        }
    }
}

static void burn_in_and_target_stop_alike(void **state)
{
    (void)state;
    const gbs_generate_ising_options warm = {.side = {5, 5, 1}, .coupling = 0.2};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&warm, &model, NULL), GBS_OK);
    test_share_problem p = {.model = model, .options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.scan = GBS_SCAN_CHROMATIC;
    p.options.target_error = 0.05;
    p.options.temper = GBS_TEMPER_OFF;
    p.options.max_updates = 50000;
    for (size_t i = 0; i < N_OF(test_share_chains); ++i) {
        p.options.chains = test_share_chains[i];
        check_all_ranks(&p);
    }
    /* long enough to be ended by the target */
    p.options.chains = 64;
    p.options.max_updates = 10000000;
    check_all_ranks(&p);
    assert_true(test_run_job(&p, 0, 1).of[0].report.converged);
    gbs_model_free(model);
}

/* Two halves that never meet; one process would be told to try ladders. */
static void chains_that_disagree_are_told_alike(void **state)
{
    (void)state;
    const gbs_generate_ising_options cold = {.side = {12, 12, 1}, .coupling = 0.9};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&cold, &model, NULL), GBS_OK);
    test_share_problem p = {.model = model, .options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.lattice = GBS_LATTICE_NEVER;
    p.options.scan = GBS_SCAN_CHROMATIC;
    p.options.chains = 40;
    p.options.sweeps = 200;
    check_all_ranks(&p);
    const test_share_job one = test_run_job(&p, 0, 1);
    const test_share_job two = test_run_job(&p, 2, 1);
    assert_non_null(strstr(one.of[0].report.verdict, "--temper"));
    assert_null(strstr(two.of[0].report.verdict, "--temper"));
    gbs_model_free(model);
}

static void draws_are_put_together(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_BAYES, 3, 20);
    gbs_evidence *evidence = test_observe(model, 2);
    test_share_problem p = {.model = model, .evidence = evidence, .gives = true};
    p.options = gbs_run_options_default();
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.scan = GBS_SCAN_CHROMATIC;
    p.options.sweeps = 30;
    p.options.thin = 3;
    for (size_t i = 0; i < N_OF(test_share_chains); ++i) {
        p.options.chains = test_share_chains[i];
        check_all_ranks(&p);
    }
    gbs_evidence_free(evidence);
    gbs_model_free(model);
}

/* Rows long enough to be shared by threads; shares through files. */
static void large_models_through_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/gibbsite_shares_XXXXXX";
    assert_non_null(mkdtemp(folder));
    gbs_model *picture = test_picture();
    test_share_problem p = {
        .model = picture, .folder = folder, .options = gbs_run_options_default()};
    p.options.method = GBS_METHOD_SAMPLE;
    p.options.sweeps = 70;
    p.options.burn_in = 3;
    p.options.chains = 40;
    for (int estimator = 0; estimator < 2; ++estimator) {
        p.options.estimator = test_rank_estimators[estimator];
        check_all_ranks(&p);
    }
    gbs_model_free(picture);
    assert_int_equal(rmdir(folder), 0);
}

/* ---- what is refused ---- */

static void what_needs_the_whole_is_refused(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 3, 12);
    test_share_problem p = {.model = model, .options = gbs_run_options_default()};
    p.options.sweeps = 10;
    test_share_problem q = p;
    q.options.method = GBS_METHOD_EXACT;
    test_check_refused(&q, 2, GBS_ERR_UNSUPPORTED, "--method");
    q = p;
    q.options.temper = 8;
    test_check_refused(&q, 2, GBS_ERR_UNSUPPORTED, "--temper");
    q = p;
    q.options.scan = GBS_SCAN_SPLASH;
    q.options.locking = GBS_LOCKING_BLANKET;
    test_check_refused(&q, 2, GBS_ERR_UNSUPPORTED, "--locking blanket");
    q = p;
    q.options.scan = GBS_SCAN_RANDOM;
    test_check_refused(&q, 2, GBS_ERR_UNSUPPORTED, "scan random");
    q.options.scan = GBS_SCAN_AUTO;
    test_check_refused(&q, 2, GBS_ERR_UNSUPPORTED, "--scan auto");
    q = p;
    q.options.scan = GBS_SCAN_SYNCHRONOUS;
    test_choose_draw(&q.options, GBS_DRAW_HERDED_SHARED, 0, 0);
    test_check_refused(&q, 2, GBS_ERR_UNSUPPORTED, "--scan synchronous: a model of more than");
    q = p;
    test_choose_draw(&q.options, GBS_DRAW_HERDED_COMPLETE, 0, 0);
    test_check_refused(&q, 2, GBS_ERR_UNSUPPORTED, "--draw");
    q = p;
    gbs_model_free(model);
    model = test_model(TEST_ISING, 3, 2);
    p.model = model;
    test_check_refused(&p, 3, GBS_ERR_ARGUMENT, "3 ranks for 2 sampled variables");
    gbs_model_free(model);
}

/* Every rank the share of rank 0. */
static gbs_status live_alike(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    test_share_job *j = context;
    gbs_run *run = NULL;
    const gbs_run_setup setup = {
        .options = &j->problem.options, .ranks = ranks, .share = j->share[0]};
    const gbs_status status = gbs_run_new_with(&setup, &run, err);
    gbs_run_free(run);
    return status;
}

static void shares_of_other_ranks_are_told(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 5, 10);
    test_share_job j = {.problem = {.model = model, .options = gbs_run_options_default()}};
    gbs_partition *partition = NULL;
    gbs_error err = {GBS_OK, ""};
    char folder[] = "/tmp/gibbsite_share_XXXXXX";
    char path[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/0.share", folder);
    assert_int_equal(gbs_partition_new(model, NULL, NULL, 2, GBS_PARTS_AUTO, &partition, &err),
                     GBS_OK);
    assert_int_equal(gbs_partition_share(partition, 0, &j.share[0], &err), GBS_OK);
    assert_int_equal(test_on_ranks(2, live_alike, &j, &err), GBS_ERR_FORMAT);
    assert_string_equal(err.message,
                        "rank 1: share 0 of 2 for rank 1 of 2: every rank needs its own "
                        "share of one partition");
    assert_int_equal(gbs_share_write(j.share[0], path, &err), GBS_OK);
    gbs_share_free(j.share[0]);
    assert_int_equal(gbs_share_read(path, &j.share[0], &err), GBS_OK);
    assert_int_equal(test_on_ranks(2, live_alike, &j, &err), GBS_ERR_FORMAT);
    assert_non_null(strstr(err.message, path));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    gbs_share_free(j.share[0]);
    gbs_partition_free(partition);
    gbs_model_free(model);
}

/* Places of updates are numbers of the whole: in a file they may be any. */
static void places_beyond_random_numbers_are_refused(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 5, 10);
    gbs_partition *partition = NULL;
    gbs_share *share = NULL;
    gbs_error err = {GBS_OK, ""};
    assert_int_equal(gbs_partition_new(model, NULL, NULL, 2, GBS_PARTS_AUTO, &partition, &err),
                     GBS_OK);
    assert_int_equal(gbs_partition_share(partition, 0, &share, &err), GBS_OK);
    char folder[] = "/tmp/gibbsite_share_XXXXXX";
    char path[64];
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/0.share", folder);
    for (uint64_t more = 0; more < 2; ++more) {
        gbs_share *read = NULL;
        void *bytes = NULL;
        size_t n = 0;
        share->facts.n_places = GBSI_MOST_PLACES + more;
        assert_int_equal(gbs_share_pack(share, &bytes, &n, &err), GBS_OK);
        assert_int_equal(gbs_share_unpack(bytes, n, &read, &err), more ? GBS_ERR_LIMIT : GBS_OK);
        assert_true((read == NULL) == (more > 0));
        gbs_share_bytes_free(bytes);
        gbs_share_free(read);
        read = NULL;
        assert_int_equal(gbs_share_write(share, path, &err), GBS_OK);
        assert_int_equal(gbs_share_read(path, &read, &err), more ? GBS_ERR_LIMIT : GBS_OK);
        assert_true(more == 0 || strncmp(err.message, path, strlen(path)) == 0);
        gbs_share_free(read);
        assert_int_equal(unlink(path), 0);
    }
    assert_non_null(strstr(err.message, "the random numbers of a pass would repeat"));
    assert_int_equal(rmdir(folder), 0);
    gbs_share_free(share);
    gbs_partition_free(partition);
    gbs_model_free(model);
}

/* ---- forged shares --------------------------------------------------------------------------- */

typedef void forging(gbs_share *share);

static void twice_the_same_state(gbs_share *s)
{
    s->part->user_state[1] = s->part->user_state[0];
}

static void no_log_weight(gbs_share *s)
{
    s->part->factors.weight[0] = (double)NAN;
}

static void owned_twofold(gbs_share *s)
{
    s->own[0] = 2;
}

static void fixed_and_free(gbs_share *s)
{
    s->fixed_variable[0] = s->part->user_variable[0];
}

static void literal_of_no_state(gbs_share *s)
{
    const gbsi_factors *f = &s->part->factors;
    size_t i = 0;
    while (f->kind[i] != GBS_FACTOR_LOGICAL) {
        i++;
    }
    f->literal[f->scope_start[i]] = GBS_MAX_ARITY;
}

static void more_literals_than_written(gbs_share *s)
{
    for (size_t i = 0; i < s->part->factors.n_logical; i++) {
        s->part->factors.logical[i].n_body = 0;
        s->part->factors.logical[i].n_body_true = 1;
    }
}

static void updated_twice(gbs_share *s)
{
    s->schedule.slot[0] = s->schedule.slot[1];
}

static gbs_share *share_of(const gbs_model *model, gbs_run_options *options)
{
    gbs_partition *partition = NULL;
    gbs_share *share = NULL;
    gbs_evidence *evidence = test_observe(model, true);
    gbs_error err = {GBS_OK, ""};
    options->scan = GBS_SCAN_CHROMATIC;
    assert_int_equal(
        gbs_partition_new(model, evidence, options, 1, GBS_PARTS_AUTO, &partition, &err), GBS_OK);
    assert_int_equal(gbs_partition_share(partition, 0, &share, &err), GBS_OK);
    gbs_partition_free(partition);
    gbs_evidence_free(evidence);
    return share;
}

/* A file would have a seal. @return NULL if it is refused. */
static gbs_share *through_bytes(const gbs_share *share)
{
    gbs_share *read = NULL;
    void *bytes = NULL;
    size_t n = 0;
    gbs_error err = {GBS_OK, ""};
    assert_int_equal(gbs_share_pack(share, &bytes, &n, &err), GBS_OK);
    const gbs_status status = gbs_share_unpack(bytes, n, &read, &err);
    assert_true(status == GBS_OK || status == GBS_ERR_FORMAT);
    assert_true((status == GBS_OK) == (read != NULL));
    gbs_share_bytes_free(bytes);
    return read;
}

/* Whoever seals a share anew can change any number of it. */
static void forged_shares_are_refused(void **state)
{
    forging *const forge[] = {twice_the_same_state,
                              no_log_weight,
                              owned_twofold,
                              fixed_and_free,
                              literal_of_no_state,
                              updated_twice,
                              more_literals_than_written};
    (void)state;
    gbs_model *model = test_model(TEST_LOGICAL, 5, 10);
    gbs_run_options options = gbs_run_options_default();
    for (size_t i = 0; i < N_OF(forge); ++i) {
        gbs_share *share = share_of(model, &options);
        gbs_share *read = through_bytes(share);
        assert_non_null(read);
        forge[i](share);
        assert_null(through_bytes(share));
        gbs_share_free(read);
        gbs_share_free(share);
    }
    gbs_model_free(model);
}

static void one_more_free(gbs_share *s)
{
    s->facts.n_free++;
}

static void nobody_is_fixed(gbs_share *s)
{
    s->n_fixed = 0;
}

static void another_class(gbs_share *s)
{
    s->schedule.piece[0].class_id = GBSI_CLASS_PRECISE;
}

/* What only the run knows: its plan, and what all ranks own. */
static void forged_shares_do_not_run(void **state)
{
    forging *const forge[] = {one_more_free, nobody_is_fixed, another_class};
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 5, 10);
    test_share_job j = {.problem = {.model = model, .options = gbs_run_options_default()}};
    gbs_error err = {GBS_OK, ""};
    for (size_t i = 0; i < N_OF(forge); ++i) {
        gbs_share *share = share_of(model, &j.problem.options);
        j.share[0] = share;
        assert_int_equal(test_on_ranks(1, live_alike, &j, &err), GBS_OK);
        forge[i](share);
        j.share[0] = through_bytes(share);
        assert_non_null(j.share[0]);
        assert_int_equal(test_on_ranks(1, live_alike, &j, &err), GBS_ERR_FORMAT);
        gbs_share_free(j.share[0]);
        gbs_share_free(share);
    }
    gbs_model_free(model);
}

/* The share of every rank, but not the seed. */
static gbs_status live_apart(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    test_share_job *j = context;
    gbs_run *run = NULL;
    gbs_run_options options = j->problem.options;
    options.seed += ranks->rank == 2;
    const gbs_run_setup setup = {
        .options = &options, .ranks = ranks, .share = j->share[ranks->rank]};
    const gbs_status status = gbs_run_new_with(&setup, &run, err);
    gbs_run_free(run);
    return status;
}

static void options_that_differ_are_told(void **state)
{
    (void)state;
    gbs_model *model = test_model(TEST_ISING, 5, 10);
    test_share_job j = {.problem = {.model = model, .options = gbs_run_options_default()}};
    gbs_partition *partition = NULL;
    gbs_error err = {GBS_OK, ""};
    assert_int_equal(gbs_partition_new(model, NULL, NULL, 4, GBS_PARTS_AUTO, &partition, &err),
                     GBS_OK);
    for (uint32_t rank = 0; rank < 4; ++rank) {
        assert_int_equal(gbs_partition_share(partition, rank, &j.share[rank], &err), GBS_OK);
    }
    j.problem.options.seed = 7;
    assert_int_equal(test_on_ranks(4, live_apart, &j, &err), GBS_ERR_STATE);
    assert_non_null(strstr(err.message, "rank 2: this rank has --seed=8, rank 0 has --seed=7"));
    for (uint32_t rank = 0; rank < 4; ++rank) {
        gbs_share_free(j.share[rank]);
    }
    gbs_partition_free(partition);
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_combination_has_the_bits_of_one_process),
        cmocka_unit_test(random_models_of_every_kind),
        cmocka_unit_test(burn_in_and_target_stop_alike),
        cmocka_unit_test(chains_that_disagree_are_told_alike),
        cmocka_unit_test(draws_are_put_together),
        cmocka_unit_test(large_models_through_files),
        cmocka_unit_test(what_needs_the_whole_is_refused),
        cmocka_unit_test(shares_of_other_ranks_are_told),
        cmocka_unit_test(options_that_differ_are_told),
        cmocka_unit_test(places_beyond_random_numbers_are_refused),
        cmocka_unit_test(forged_shares_are_refused),
        cmocka_unit_test(forged_shares_do_not_run),
    };
    return cmocka_run_group_tests_name("shares", tests, NULL, NULL);
}
