/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <time.h>

double gbsi_clock_s(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
