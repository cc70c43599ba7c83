/* SPDX-License-Identifier: Apache-2.0 */
/* Weights as they are saved: little-endian on every machine. */
#ifndef GBSI_DRAW_SAVED_H
#define GBSI_DRAW_SAVED_H

#include <stddef.h>

#include "plan/draw.h"

/* n numbers of 4 or 8 bytes each. */
gbs_status gbsi_put_numbers(const gbsi_draw_sink *sink, const void *number, size_t n, size_t size,
                            gbs_error *err);
gbs_status gbsi_take_numbers(const gbsi_draw_source *source, void *number, size_t n, size_t size,
                             gbs_error *err);

/* The bytes of each number the other way round, in place. */
void gbsi_turn_numbers(void *number, size_t n, size_t size);

#endif
