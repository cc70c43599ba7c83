/* SPDX-License-Identifier: Apache-2.0 */
/* Factors of a model in terms of DimmWitted's functions, and what numbers its records. */
#ifndef GBSI_IO_DIMMWITTED_FACTOR_H
#define GBSI_IO_DIMMWITTED_FACTOR_H

#include <stdbool.h>

#include "gibbsite/model.h"

typedef enum gbsi_dw_how {
    GBSI_DW_NOT,     /* a constant, or evidence, which is written with its variable */
    GBSI_DW_ONE,     /* one factor */
    GBSI_DW_STATES,  /* a Potts coupling: one and-categorical factor per state */
    GBSI_DW_ENTRIES, /* one and-categorical factor per table entry that is not 0 */
} gbsi_dw_how;

typedef struct gbsi_dw_rule {
    gbsi_dw_how how;
    unsigned function;
    uint32_t n;
    const uint32_t *scope;   /* [n] */
    const uint32_t *literal; /* [n] states, NULL: state 1 of each; of GBSI_DW_ONE */
    double weight;
    bool rewritten; /* by another function than the model's */
    bool shifted;   /* equal but for a constant */
} gbsi_dw_rule;

/* @param clamped as gbs_model_clamped() gives it.
 * @return GBS_ERR_UNSUPPORTED naming the factor if no sum of finite factors is equal to it. */
gbs_status gbsi_dw_rule_of(const gbs_model *model, const uint32_t *clamped, size_t factor,
                           gbsi_dw_rule *rule, gbs_error *err);

/* Numbers for things that are equal, from 0 as they come. Zero-initialise. */
typedef struct gbsi_dw_index {
    struct gbsi_dw_slot *slot; /* open addressing, at most half full */
    size_t n_slots;            /* a power of 2, or 0 */
    size_t n;
} gbsi_dw_index;

/* @param equal whether the thing is the one numbered id. @param id out. @param added out: new. */
gbs_status gbsi_dw_index_find(gbsi_dw_index *index, uint64_t hash,
                              bool (*equal)(const void *context, size_t id), const void *context,
                              size_t *id, bool *added, gbs_error *err);
void gbsi_dw_index_free(gbsi_dw_index *index);

/* Mixes a number into a hash. */
uint64_t gbsi_dw_hash(uint64_t hash, uint64_t value);

#endif
