/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a call that labels or learns on many threads: threads, a memory limit, and a watch
 * by which the caller may stop the call. */
#ifndef GBSI_LEARN_WORK_H
#define GBSI_LEARN_WORK_H

#include "base/budget.h"
#include "base/watch.h"
#include "gibbsite/crf.h"
#include "parallel/pool.h"

typedef struct gbsi_work {
    gbsi_watch watch;
    gbsi_pool *pool;
    gbs_run_callbacks callbacks;
    gbs_progress progress; /* report for the callback; the user of this struct sets progress.pass,
                              progress.passes and similar members */
    double begun_s, told_s;
    gbsi_budget budget;
    gbsi_budget *before;
    gbsi_surrounding around; /* watch and budget that were in force before; restored at the end */
    bool in_force;           /* whether watch and budget apply to the thread that began the work */
} gbsi_work;

/* Seconds between two progress reports. Tests set 0: every look of the watch then makes a report.
 */
extern double gbsi_work_progress_s;

/* Begins the work; call gbsi_work_end() even after a failure, and do not move the struct. @param
 * there number of bytes that are already in use. @param callbacks NULL for none. */
gbs_status gbsi_work_begin(gbsi_work *work, const gbs_label_options *options,
                           const gbs_run_callbacks *callbacks, uint64_t there, gbs_error *err);
void gbsi_work_end(gbsi_work *work);

#endif
