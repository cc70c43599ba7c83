/* SPDX-License-Identifier: Apache-2.0 */
/* The scans there are: one table of functions for every row of scans.def. */
#ifndef GBSI_SCAN_REGISTRY_H
#define GBSI_SCAN_REGISTRY_H

#include "scan/scan.h"

#define GBS_SCAN(number, SYMBOL, table, name, help) extern const gbsi_scan gbsi_scan_##table;
#include "gibbsite/scans.def"
#undef GBS_SCAN

#endif
