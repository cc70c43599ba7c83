/* SPDX-License-Identifier: Apache-2.0 */
#define PROBE_NAME gbsi_probes_portable
#include "simd/lanes_probe.h"

const size_t gbsi_n_probes = sizeof gbsi_probes_portable / sizeof gbsi_probes_portable[0];
