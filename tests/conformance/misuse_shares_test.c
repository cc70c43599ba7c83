/* SPDX-License-Identifier: Apache-2.0 */
/* As misuse_test.c, for models that ranks share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gibbsite/generate.h"
#include "gibbsite/share.h"
#include "support/misuse.h"

static void partitions(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    const gbs_generate_ising_options lattice = {.side = {40, 40, 1}, .coupling = 0.3};
    const gbs_generate_potts_options levels = {.rows = 40, .columns = 40, .states = 3};
    gbs_partition *formulas = NULL;
    gbs_partition *partition = NULL;
    gbs_share *share = NULL;
    REFUSED(gbs_partition_new(NULL, NULL, NULL, 2, GBS_PARTS_AUTO, &partition, &err));
    REFUSED(gbs_partition_new(m, NULL, NULL, 2, GBS_PARTS_AUTO, NULL, &err));
    REFUSED(gbs_partition_new(m, NULL, NULL, 0, GBS_PARTS_AUTO, &partition, &err));
    REFUSED(gbs_partition_new(m, NULL, NULL, 3, GBS_PARTS_AUTO, &partition, &err));
    REFUSED(gbs_partition_new(m, NULL, NULL, 2, (gbs_parts)77, &partition, &err));
    assert_null(partition);
    FINE(gbs_partition_new(m, NULL, NULL, 2, GBS_PARTS_AUTO, &partition, &err));
    REFUSED(gbs_partition_find_starts(NULL, 16, &err));
    REFUSED(gbs_partition_write_variables(NULL, "/nowhere/variables.gbm", &err));
    REFUSED(gbs_partition_write_variables(partition, NULL, &err));
    REFUSED(gbs_partition_new_of_ising(NULL, 2, &formulas, &err));
    REFUSED(gbs_partition_new_of_ising(&lattice, 2, NULL, &err));
    REFUSED(gbs_partition_new_of_ising(&lattice, 0, &formulas, &err));
    REFUSED(gbs_partition_new_of_potts(NULL, 2, &formulas, &err));
    REFUSED(gbs_partition_new_of_potts(&levels, 2, NULL, &err));
    REFUSED(gbs_partition_new_of_potts(&levels, 0, &formulas, &err));
    FINE(gbs_partition_new_of_ising(&lattice, 2, &formulas, &err));
    REFUSED(gbs_partition_share(formulas, 2, &share, &err));
    gbs_partition_free(formulas);
    REFUSED(gbs_partition_share(NULL, 0, &share, &err));
    REFUSED(gbs_partition_share(partition, 0, NULL, &err));
    REFUSED(gbs_partition_share(partition, 2, &share, &err));
    assert_null(share);
    assert_null(gbs_parts_name((gbs_parts)77));
    assert_null(gbs_partition_kind(NULL));
    assert_non_null(gbs_partition_kind(partition));
    gbs_partition_free(NULL);
    gbs_partition_free(partition);
    gbs_model_free(m);
}

static void shares(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_partition *partition = NULL;
    gbs_share *share = NULL;
    gbs_share *other = NULL;
    gbs_share_figures small = {.size = 8};
    gbs_share_figures figures = {.size = sizeof figures};
    void *bytes = NULL;
    size_t n = 0;
    FINE(gbs_partition_new(m, NULL, NULL, 2, GBS_PARTS_AUTO, &partition, &err));
    FINE(gbs_partition_share(partition, 1, &share, &err));
    REFUSED(gbs_share_tell(NULL, &figures, &err));
    REFUSED(gbs_share_tell(share, NULL, &err));
    REFUSED(gbs_share_tell(share, &small, &err));
    REFUSED(gbs_share_write(NULL, "x", &err));
    REFUSED(gbs_share_write(share, NULL, &err));
    REFUSED(gbs_share_read(NULL, &other, &err));
    REFUSED(gbs_share_read("x", NULL, &err));
    assert_int_equal(gbs_share_read("/none/none", &other, NULL), GBS_ERR_IO);
    REFUSED(gbs_share_pack(NULL, &bytes, &n, &err));
    REFUSED(gbs_share_pack(share, NULL, &n, &err));
    REFUSED(gbs_share_pack(share, &bytes, NULL, &err));
    FINE(gbs_share_pack(share, &bytes, &n, &err));
    REFUSED(gbs_share_unpack(NULL, n, &other, &err));
    REFUSED(gbs_share_unpack(bytes, n, NULL, &err));
    for (size_t cut = 0; cut < n; ++cut) {
        assert_int_equal(gbs_share_unpack(bytes, cut, &other, NULL), GBS_ERR_FORMAT);
    }
    assert_null(other);
    assert_int_equal(gbs_share_rank(share), 1);
    assert_int_equal(gbs_share_n_ranks(share), 2);
    assert_int_equal(gbs_share_rank(NULL) + gbs_share_n_ranks(NULL), 0);
    assert_int_equal(gbs_share_needs_whole(share) + gbs_share_needs_whole(NULL), 0);
    gbs_share_bytes_free(bytes);
    gbs_share_bytes_free(NULL);
    gbs_share_free(NULL);
    gbs_share_free(share);
    gbs_partition_free(partition);
    gbs_model_free(m);
}

static gbs_status hear(void *context, uint32_t variable, uint32_t arity, const double *p,
                       const double *mcse, const double *ess, const double *rhat, gbs_error *err)
{
    (void)variable;
    (void)p;
    (void)mcse;
    (void)ess;
    (void)rhat;
    (void)err;
    *(uint32_t *)context += arity;
    return GBS_OK;
}

static void runs(void **state)
{
    (void)state;
    gbs_model *m = two_spins();
    gbs_partition *partition = NULL;
    gbs_share *share = NULL;
    gbs_run *run = NULL;
    const gbs_ranks alone = {.n_ranks = 1};
    const uint32_t own = 0;
    uint32_t n_states = 0;
    FINE(gbs_partition_new(m, NULL, NULL, 1, GBS_PARTS_AUTO, &partition, &err));
    FINE(gbs_partition_share(partition, 0, &share, &err));
    refuse_setup((gbs_run_setup){.share = share}, "ranks is NULL");
    refuse_setup((gbs_run_setup){.ranks = &alone, .share = share, .model = m}, "leave model");
    refuse_setup((gbs_run_setup){.ranks = &alone, .share = share, .query = &own, .n_query = 1},
                 "query is for whole models");
    refuse_setup((gbs_run_setup){.ranks = &alone, .model = m, .partition = partition},
                 "share is NULL");
    assert_null(run);
    FINE(gbs_run_new(m, NULL, NULL, &run, &err));
    REFUSED(gbs_run_name_variables(NULL, m, &err));
    REFUSED(gbs_run_name_variables(run, NULL, &err));
    REFUSED(gbs_run_name_variables(run, m, &err)); /* of one process */
    REFUSED(gbs_run_gather_marginals(NULL, &err));
    REFUSED(gbs_run_each_marginal(NULL, hear, &n_states, &err));
    REFUSED(gbs_run_each_marginal(run, NULL, NULL, &err));
    assert_int_equal(gbs_run_each_marginal(run, hear, &n_states, NULL), GBS_ERR_STATE);
    FINE(gbs_run_execute(run, NULL, &err));
    FINE(gbs_run_gather_marginals(run, &err)); /* nothing to do */
    FINE(gbs_run_each_marginal(run, hear, &n_states, &err));
    assert_int_equal(n_states, 4);
    gbs_run_free(run);
    gbs_share_free(share);
    gbs_partition_free(partition);
    gbs_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(partitions), cmocka_unit_test(shares),
                                       cmocka_unit_test(runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
