/* SPDX-License-Identifier: Apache-2.0 */
#ifdef GBSI_HAVE_NEON_SET

#define GBSI_LANES_NEON
#define PROBE_NAME gbsi_probes_neon
#include "simd/lanes_probe.h"

#else
typedef int no_probes; /* ISO C requires a declaration in every file */
#endif
