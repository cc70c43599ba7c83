/* SPDX-License-Identifier: Apache-2.0 */
/* Discretised herding, outside of the lanes. */
#ifndef GBSI_DRAW_BINNED_H
#define GBSI_DRAW_BINNED_H

#include "draw/herd.h"

gbs_status gbsi_binned_bytes(const gbsi_draw_job *job, uint64_t *n, gbs_error *err);
gbs_status gbsi_binned_init(const gbsi_draw_job *job, void **state, gbs_error *err);
gbs_status gbsi_binned_begin_pass(void *herd, const struct gbsi_schedule *schedule,
                                  const struct gbsi_group *group, uint64_t pass, gbs_error *err);
gbs_status gbsi_binned_expect(void *herd, uint32_t slot, gbs_error *err);
gbs_status gbsi_binned_save(const void *herd, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_binned_load(void *herd, const gbsi_source *source, gbs_error *err);

#endif
