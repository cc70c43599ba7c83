/* SPDX-License-Identifier: Apache-2.0 */
/* The scans there are; a new one gets a line here and one in registry.c. */
#ifndef GBSI_SCAN_REGISTRY_H
#define GBSI_SCAN_REGISTRY_H

#include "scan/scan.h"

extern const gbsi_scan gbsi_scan_chromatic;
extern const gbsi_scan gbsi_scan_systematic;
extern const gbsi_scan gbsi_scan_random;
extern const gbsi_scan gbsi_scan_permuted;
extern const gbsi_scan gbsi_scan_sequence;
extern const gbsi_scan gbsi_scan_synchronous;
extern const gbsi_scan gbsi_scan_splash;

#endif
