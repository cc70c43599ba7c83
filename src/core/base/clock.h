/* SPDX-License-Identifier: Apache-2.0 */
/* The wall clock: for progress, --time and reports, never for what decides a result. */
#ifndef GBSI_BASE_CLOCK_H
#define GBSI_BASE_CLOCK_H

double gbsi_clock_s(void); /* monotonic, seconds */

#endif
