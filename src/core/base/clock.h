/* SPDX-License-Identifier: Apache-2.0 */
/* The wall clock serves progress, --time and reports; no result depends on it. */
#ifndef GBSI_BASE_CLOCK_H
#define GBSI_BASE_CLOCK_H

double gbsi_clock_s(void); /* returns the time of a monotonic clock, in seconds */

#endif
