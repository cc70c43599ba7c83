/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/work.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/machine.h"

double gbsi_work_progress_s = 0.1;

static bool look(void *context)
{
    gbsi_work *w = context;
    const double now_s = gbsi_clock_s();
    if (w->callbacks.progress == NULL || now_s - w->told_s < gbsi_work_progress_s) {
        return false;
    }
    w->told_s = now_s;
    w->progress.elapsed_s = now_s - w->begun_s;
    return w->callbacks.progress(w->callbacks.context, &w->progress) != 0;
}

gbs_status gbsi_work_begin(gbsi_work *work, const gbs_label_options *options,
                           const gbs_run_callbacks *callbacks, uint64_t there, gbs_error *err)
{
    const gbs_label_options usual = {0};
    const gbs_label_options o = options == NULL ? usual : *options;
    *work = (gbsi_work){.begun_s = gbsi_clock_s()};
    if (!(o.time_s >= 0.0) || o.threads > GBSI_MOST_THREADS) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT,
                         "found %g s and %" PRIu64
                         " threads, expected 0 s or more and at most %u threads",
                         o.time_s, o.threads, GBSI_MOST_THREADS);
    }
    if (callbacks != NULL) {
        work->callbacks =
            (gbs_run_callbacks){.context = callbacks->context, .progress = callbacks->progress};
    }
    work->progress.size = sizeof work->progress;
    work->watch = gbsi_watch_of(look, work, work->begun_s, o.time_s);
    gbsi_budget_init(&work->budget,
                     o.memory_limit != 0 ? o.memory_limit : gbsi_default_memory_limit(),
                     gbsi_process_bytes() + there);
    work->before = gbsi_budget_enter(&work->budget);
    work->around = gbsi_watch_surround((gbsi_surrounding){.watch = &work->watch});
    work->in_force = true;
    return gbsi_pool_new(o.threads != 0 ? (uint32_t)o.threads : gbsi_pool_cores(), &work->pool,
                         err);
}

void gbsi_work_end(gbsi_work *work)
{
    gbsi_pool_free(work->pool);
    if (work->in_force) {
        (void)gbsi_watch_surround(work->around);
        gbsi_budget_leave(work->before);
    }
}
