/* SPDX-License-Identifier: Apache-2.0 */
/* Which components have been held in one splash as far as their hard zeros go. Given all other
 * variables such a splash draws every configuration of them that the zeros allow, and the others
 * meet no zeros: its component's support is connected. */
#ifndef GBSI_SPLASH_SUPPORT_H
#define GBSI_SPLASH_SUPPORT_H

#include "plan/plan.h"
#include "splash/tree.h"

typedef struct gbsi_zeros {
    uint8_t *hard;       /* [n slots] 1: a factor with zeros sees it */
    uint32_t *component; /* [n slots] */
    uint32_t *n_hard;    /* [n_components] 0: none, or held by now */
    uint32_t n_open;     /* components not held yet */
} gbsi_zeros;

gbs_status gbsi_zeros_init(gbsi_zeros *zeros, const gbsi_plan *plan, gbs_error *err);
void gbsi_zeros_free(gbsi_zeros *zeros);
void gbsi_zeros_note(gbsi_zeros *zeros, const gbsi_growth *growth);

#endif
