/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of one instruction set, which kernels.c collects. */
#ifndef GBSI_KERNEL_LANES_KERNELS_H
#define GBSI_KERNEL_LANES_KERNELS_H

#include "plan/kernel.h"
#include "simd/lanes.h"

extern const gbsi_kernel GBSI_V(gbsi_kernel_ising);
extern const gbsi_kernel GBSI_V(gbsi_kernel_potts);
extern const gbsi_kernel GBSI_V(gbsi_kernel_pairwise);
extern const gbsi_kernel GBSI_V(gbsi_kernel_terms);
extern const gbsi_kernel GBSI_V(gbsi_kernel_precise);

#endif
