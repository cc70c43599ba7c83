/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a table of functions of ranks, whether they are threads or processes of MPI. */
#ifndef GBSI_TESTS_RANKS_CHECK_H
#define GBSI_TESTS_RANKS_CHECK_H

#include "gibbsite/ranks.h"

/* Calls all functions of the table, from all ranks at once.
 * @return GBS_ERR_STATE and what was wrong. */
gbs_status test_ranks_check(const gbs_ranks *ranks, gbs_error *err);

#endif
