/* SPDX-License-Identifier: Apache-2.0 */
/* The ways of running, from the rows of runners.def. */
#include "chains/run.h"

#define GBSI_RUNNER(name) extern const gbsi_runner gbsi_runner_##name;
#include "drive/runners.def"
#undef GBSI_RUNNER

static const gbsi_runner *const runners[] = {
#define GBSI_RUNNER(name) &gbsi_runner_##name,
#include "drive/runners.def"
#undef GBSI_RUNNER
};

void gbsi_run_choose_runner(gbs_run *run)
{
    run->task.runner = NULL;
    for (size_t i = 0; i < sizeof runners / sizeof runners[0]; ++i) {
        if (runners[i]->suits(run)) {
            run->task.runner = run->task.runner == NULL ? runners[i] : run->task.runner;
            if ((runners[i]->traits & GBSI_RUNNER_OVER_CHAINS) == 0) {
                run->task.plain = runners[i];
                return;
            }
        }
    }
}
