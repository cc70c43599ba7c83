/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank of a shared model holds at most, by the library's own account of its allocations: as
 * much of what one process holds as the rank has of the variables, its halo included. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/budget.h"
#include "base/test_scale.h"
#include "gibbsite/gibbsite.h"
#include "gibbsite/share.h"
#include "support/thread_ranks.h"

#define MOST_RANKS 4
#define MORE       1.15 /* than its share of the variables */

typedef struct problem {
    const gbs_model *model;
    gbs_run_options options;
    bool tells; /* estimates are told, one variable after another */
    const void *bytes[MOST_RANKS];
    size_t n_bytes[MOST_RANKS];
    uint64_t held[MOST_RANKS]; /* at most, out */
} problem;

static gbs_status hear(void *context, uint32_t variable, uint32_t arity, const double *p,
                       const double *mcse, const double *ess, const double *rhat, gbs_error *err)
{
    (void)context, (void)variable, (void)arity, (void)p, (void)mcse, (void)ess, (void)rhat,
        (void)err;
    return GBS_OK;
}

static gbs_status execute(gbs_run *run, bool tells, gbs_error *err)
{
    const gbs_status status = gbs_run_execute(run, NULL, err);
    return status >= 0 && tells ? gbs_run_each_marginal(run, hear, NULL, err) : status;
}

/* One rank: its share as it is read, and the run. */
static gbs_status live(const gbs_ranks *ranks, void *context, gbs_error *err)
{
    problem *p = context;
    const uint32_t rank = ranks->rank;
    gbs_share *share = NULL;
    gbs_run *run = NULL;
    gbsi_budget budget;
    gbsi_budget_init(&budget, UINT64_MAX, 0);
    gbsi_budget *before = gbsi_budget_enter(&budget);
    gbs_status status = gbs_share_unpack(p->bytes[rank], p->n_bytes[rank], &share, err);
    if (status >= 0) {
        const gbs_run_setup setup = {.options = &p->options, .ranks = ranks, .share = share};
        status = gbs_run_new_with(&setup, &run, err);
    }
    if (status >= 0) {
        status = execute(run, p->tells, err);
    }
    p->held[rank] = (uint64_t)atomic_load(&budget.most);
    gbs_run_free(run);
    gbs_share_free(share);
    gbsi_budget_leave(before);
    return status;
}

static uint64_t held_alone(const problem *p)
{
    gbs_run *run = NULL;
    gbsi_budget budget;
    gbsi_budget_init(&budget, UINT64_MAX, 0);
    gbsi_budget *before = gbsi_budget_enter(&budget);
    assert_int_equal(gbs_run_new(p->model, NULL, &p->options, &run, NULL), GBS_OK);
    assert_true(execute(run, p->tells, NULL) >= 0);
    gbs_run_free(run);
    gbsi_budget_leave(before);
    return gbs_model_bytes(p->model) + (uint64_t)atomic_load(&budget.most);
}

static void check(problem *p, uint32_t n_ranks)
{
    gbs_partition *partition = NULL;
    gbs_share_figures figures[MOST_RANKS];
    const double alone = (double)held_alone(p);
    const double n = gbs_model_n_variables(p->model);
    assert_int_equal(
        gbs_partition_new(p->model, NULL, &p->options, n_ranks, GBS_PARTS_AUTO, &partition, NULL),
        GBS_OK);
    for (uint32_t rank = 0; rank < n_ranks; ++rank) {
        gbs_share *share = NULL;
        void *bytes = NULL;
        figures[rank] = (gbs_share_figures){.size = sizeof figures[rank]};
        assert_int_equal(gbs_partition_share(partition, rank, &share, NULL), GBS_OK);
        assert_int_equal(gbs_share_tell(share, &figures[rank], NULL), GBS_OK);
        assert_int_equal(gbs_share_pack(share, &bytes, &p->n_bytes[rank], NULL), GBS_OK);
        p->bytes[rank] = bytes;
        gbs_share_free(share);
    }
    gbs_partition_free(partition);
    assert_true(test_on_ranks(n_ranks, live, p, NULL) >= 0);
    for (uint32_t rank = 0; rank < n_ranks; ++rank) {
        const double part = ((double)figures[rank].n_own + figures[rank].n_halo) / n;
        if ((double)p->held[rank] > MORE * part * alone) {
            fail_msg("rank %u of %u, %llu chains, draw %d, estimator %d: %.4g bytes, %.3g of %.4g",
                     rank, n_ranks, (unsigned long long)p->options.chains, p->options.draw,
                     p->options.estimator, (double)p->held[rank],
                     (double)p->held[rank] / alone / part, part * alone);
        }
        gbs_share_bytes_free((void *)(uintptr_t)p->bytes[rank]);
    }
}

static void test_rank_holds_its_share(void **unused)
{
    (void)unused;
    const uint32_t side = (uint32_t)test_share(400, 200);
    const gbs_generate_ising_options lattice = {
        .side = {side, side, 1}, .coupling = 0.3, .coupling_spread = 0.2, .seed = 3};
    const int draws[] = {GBS_DRAW_RANDOM, GBS_DRAW_HERDED};
    gbs_model *model = NULL;
    assert_int_equal(gbs_generate_ising(&lattice, &model, NULL), GBS_OK);
    for (unsigned i = 0; i < 2 * 2 * 2; ++i) {
        problem p = {.model = model, .options = gbs_run_options_default(), .tells = i % 2 == 1};
        p.options.method = GBS_METHOD_SAMPLE;
        p.options.lattice = GBS_LATTICE_NEVER;
        p.options.scan = GBS_SCAN_CHROMATIC;
        p.options.threads = 1;
        p.options.sweeps = 3;
        p.options.burn_in = 1;
        p.options.chains = i / 2 % 2 == 0 ? 16 : 1;
        p.options.estimator = i / 4 % 2 == 0 ? GBS_ESTIMATOR_RAO_BLACKWELL : GBS_ESTIMATOR_COUNT;
        p.options.draw = draws[i % 3 == 2];
        check(&p, i % 3 == 0 ? 3 : 2);
    }
    gbs_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rank_holds_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
