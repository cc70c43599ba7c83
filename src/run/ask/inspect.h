/* SPDX-License-Identifier: Apache-2.0 */
/* The longer computations of gbs_model_info() and gbs_model_draw_sizes(): private to src/run. */
#ifndef GBSI_ASK_INSPECT_H
#define GBSI_ASK_INSPECT_H

#include "chains/run.h"
#include "gibbsite/info.h"

/* Whether exact inference fits. @param run prepared. */
gbs_status gbsi_inspect_elimination(const gbsi_task *task, gbs_info *info, gbs_error *err);
/* Row sums of influence bounds. */
gbs_status gbsi_inspect_influence(const gbsi_graph *graph, gbs_info *info, gbs_error *err);
/* The memory that each kind of draw would need. @param run prepared, with something to sample.
 * @param sizes zeroed. */
gbs_status gbsi_inspect_draws(const gbs_run_options *asked, const gbs_ranks *spread,
                              const gbsi_engine *engine, const gbsi_run_memory *memory,
                              gbs_draw_sizes *sizes, gbs_error *err);

#endif
