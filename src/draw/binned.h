/* SPDX-License-Identifier: Apache-2.0 */
/* Discretised herding, outside of the lanes. */
#ifndef GBSI_DRAW_BINNED_H
#define GBSI_DRAW_BINNED_H

#include "draw/herd.h"

gbs_status gbsi_binned_bytes(const gbsi_draw_job *job, uint64_t *n, gbs_error *err);
gbs_status gbsi_binned_init(const gbsi_draw_job *job, void **state, gbs_error *err);

#endif
