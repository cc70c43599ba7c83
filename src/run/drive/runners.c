/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the runner of a run from the rows of runners.def. */
#include "chains/run.h"

#define GBSI_RUNNER(name) extern const gbsi_runner gbsi_runner_##name;
#include "drive/runners.def"
#undef GBSI_RUNNER

static const gbsi_runner *const runners[] = {
#define GBSI_RUNNER(name) &gbsi_runner_##name,
#include "drive/runners.def"
#undef GBSI_RUNNER
};

static bool is_suited(const gbsi_runner *runner, const gbsi_task *task, const gbsi_engine *engine)
{
    return runner->suits != NULL ? runner->suits(task) : runner->form == engine->form_kind;
}

void gbsi_run_choose_runner(gbsi_task *task, const gbsi_engine *engine)
{
    task->runner = NULL;
    for (size_t i = 0; i < sizeof runners / sizeof runners[0]; ++i) {
        if (is_suited(runners[i], task, engine)) {
            task->runner = task->runner == NULL ? runners[i] : task->runner;
            if (!gbsi_runner_climbs(runners[i])) {
                task->plain = runners[i];
                return;
            }
        }
    }
}
