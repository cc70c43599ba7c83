/* SPDX-License-Identifier: Apache-2.0 */
/* -Dcount_work=true: the compiler calls this wherever the code may branch. */
#include "count_work.h"

uint64_t gbsi_test_work;

void __sanitizer_cov_trace_pc(void); // NOLINT: the compiler's name for it
__attribute__((no_sanitize_coverage)) void __sanitizer_cov_trace_pc(void)
{
    ++gbsi_test_work; /* of one thread, where it is read */
}
