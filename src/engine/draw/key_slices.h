/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of one chain, sixteen slots side by side. */
#ifndef GBSI_DRAW_KEY_SLICES_H
#define GBSI_DRAW_KEY_SLICES_H

#include "draw/keys.h"

/* Sixteen consecutive slots of one chain, as the second packing of plans has them: dense and of two
 * states, one coding for all. Element d of lane i stands at [16 d + i]; padding has step 0. */
typedef struct gbsi_key_slice {
    size_t link; /* first of 16 width links and steps */
    size_t cell; /* cell of the first lane, to which the offsets of the lanes are relative */
    size_t lut;  /* keys by code of the first lane; GBSI_NO_LUT: the code is the key */
    uint32_t width;
    uint8_t coding;  /* gbsi_coding of all */
    uint8_t regular; /* else slot by slot */
} gbsi_key_slice;

typedef struct gbsi_key_slices {
    gbsi_key_slice *slice; /* [ceil(n_slots / 16)], NULL with sixteen lanes */
    uint32_t *link;        /* slots */
    uint32_t *step;
    uint32_t *cell;   /* [16 slices] */
    uint32_t *lut;    /* [16 slices] */
    uint32_t *offset; /* [16 slices] added to codes */
} gbsi_key_slices;

gbs_status gbsi_key_slices_new(const gbsi_keys *keys, gbsi_key_slices *slices, gbs_error *err);
void gbsi_key_slices_free(gbsi_key_slices *slices);

#endif
