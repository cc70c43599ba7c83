/* SPDX-License-Identifier: Apache-2.0 */
/* Records which blocks were held by one splash as a whole. A block is a set of variables that are
 * connected by factors with hard zeros. A splash that holds a block can draw every configuration of
 * the block that its hard zeros allow, whatever the states of other variables are. The reason is
 * that a factor with hard zeros contains variables of only one block. If every block was held by
 * some splash, every state of positive weight can be reached from every other one. */
#ifndef GBSI_SPLASH_HELD_BLOCKS_H
#define GBSI_SPLASH_HELD_BLOCKS_H

#include "plan/pass.h"
#include "plan/plan.h"
#include "splash/splash_tree.h"

typedef struct gbsi_zeros {
    uint8_t *hard;   /* [n slots] 1 if a factor with zeros contains the variable */
    uint32_t *block; /* [n slots] block of each slot */
    /* [n_blocks] for each block, number of its variables that factors with zeros contain; 0 if
     * there are none, or if a splash has held the block */
    uint32_t *n_hard;
    uint32_t *n_held; /* [n_blocks] scratch, all 0 between calls */
    uint32_t n_blocks;
    uint32_t n_open; /* number of blocks that no splash has held yet */
} gbsi_zeros;

/* Records how often one splash held all variables of a component. Such a splash draws the states of
 * the component independently of all earlier states. */
typedef struct gbsi_wholes {
    uint32_t *of;     /* [n slots] component of each slot */
    uint32_t *size;   /* [n] number of slots of each component */
    uint8_t *n_times; /* [n] number of splashes that held each component, up to GBSI_HELD_OFTEN */
    uint32_t n;
} gbsi_wholes;

gbs_status gbsi_wholes_init(gbsi_wholes *wholes, const gbsi_plan *plan, gbs_error *err);
void gbsi_wholes_free(gbsi_wholes *wholes);
void gbsi_wholes_note(gbsi_wholes *wholes, const gbsi_growth *growth);

gbs_status gbsi_zeros_init(gbsi_zeros *zeros, const gbsi_plan *plan, gbs_error *err);
void gbsi_zeros_free(gbsi_zeros *zeros);
void gbsi_zeros_note(gbsi_zeros *zeros, const gbsi_growth *growth);

#endif
