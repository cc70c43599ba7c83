/* SPDX-License-Identifier: Apache-2.0 */
/* The states of up to sixteen chains, in one of two layouts: one array with rows of sixteen chains,
 * or one array for each chain. */
#ifndef GBSI_SPLASH_VIEW_H
#define GBSI_SPLASH_VIEW_H

#include "plan/kernel.h"

typedef struct gbsi_splash_view {
    uint32_t lanes; /* 16 if the chains form one array of rows, 1 if each chain has its own array */
    uint32_t n;     /* number of chains; lanes n to 15 repeat the last chain */
    uint32_t value_bytes;
    void *state[GBSI_LANES];
} gbsi_splash_view;

static inline uint32_t gbsi_view_at(const gbsi_splash_view *view, uint32_t slot, uint32_t lane)
{
    return view->lanes == 1
               ? gbsi_state_at(view->state[lane < view->n ? lane : view->n - 1], slot,
                               view->value_bytes)
               : gbsi_state_at(view->state[0], (size_t)slot * GBSI_LANES + lane, view->value_bytes);
}

static inline void gbsi_view_set(const gbsi_splash_view *view, uint32_t slot, uint32_t lane,
                                 uint32_t x)
{
    if (view->lanes == 1 && lane >= view->n) {
        return;
    }
    void *state = view->state[view->lanes == 1 ? lane : 0];
    const size_t at = view->lanes == 1 ? slot : (size_t)slot * GBSI_LANES + lane;
    if (view->value_bytes == 1) {
        ((uint8_t *)state)[at] = (uint8_t)x;
    } else {
        ((uint16_t *)state)[at] = (uint16_t)x;
    }
}

#endif
