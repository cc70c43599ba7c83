/* SPDX-License-Identifier: Apache-2.0 */
/* Notes which blocks of variables joined by hard zeros have been in one splash as a whole. Given
 * all other variables such a splash draws every configuration of a block that its zeros allow, and
 * the zeros of other blocks do not see the block. If this holds for all blocks, the support is
 * connected. */
#ifndef GBSI_SPLASH_HELD_BLOCKS_H
#define GBSI_SPLASH_HELD_BLOCKS_H

#include "plan/pass.h"
#include "plan/plan.h"
#include "splash/splash_tree.h"

typedef struct gbsi_zeros {
    uint8_t *hard;    /* [n slots] 1: a factor with zeros sees it */
    uint32_t *block;  /* [n slots] */
    uint32_t *n_hard; /* [n_blocks] variables; 0: none, or held by now */
    uint32_t *n_held; /* [n_blocks] scratch, 0 */
    uint32_t n_blocks;
    uint32_t n_open; /* blocks not held yet */
} gbsi_zeros;

/* Notes how often one splash held all variables of a component, whose states it then drew
 * independently of all before. */
typedef struct gbsi_wholes {
    uint32_t *of;     /* [n slots] component */
    uint32_t *size;   /* [n] slots */
    uint8_t *n_times; /* [n] up to GBSI_HELD_OFTEN */
    uint32_t n;
} gbsi_wholes;

gbs_status gbsi_wholes_init(gbsi_wholes *wholes, const gbsi_plan *plan, gbs_error *err);
void gbsi_wholes_free(gbsi_wholes *wholes);
void gbsi_wholes_note(gbsi_wholes *wholes, const gbsi_growth *growth);

gbs_status gbsi_zeros_init(gbsi_zeros *zeros, const gbsi_plan *plan, gbs_error *err);
void gbsi_zeros_free(gbsi_zeros *zeros);
void gbsi_zeros_note(gbsi_zeros *zeros, const gbsi_growth *growth);

#endif
