/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_CHAINS_RUN_OPTIONS_H
#define GBSI_CHAINS_RUN_OPTIONS_H

#include "base/status.h"
#include <stdbool.h>

#include "gibbsite/run.h"
#include "options/options.h"

/* Checks that options are compatible with one another; each must be within its range. @return
 * GBS_ERR_ARGUMENT, with a message that names the option. */
gbs_status gbsi_options_check(const gbs_run_options *options, gbs_error *err);

/* Number of bytes that a run may take: the option, or half of the machine's memory. */
uint64_t gbsi_options_memory_limit(const gbs_run_options *options);
/* Number of chains that are run: a synchronous chain needs two. */
uint32_t gbsi_options_chains(const gbs_run_options *options);
/* Number of threads: the user's number, or else the number of cores of the process. */
uint32_t gbsi_options_threads(const gbs_run_options *options);

/* Whether the method of the options allows sampling. */
bool gbsi_options_sample(const gbs_run_options *options);
/* Whether the options ask for a schedule of temperatures. */
bool gbsi_options_anneal(const gbs_run_options *options);

#endif
