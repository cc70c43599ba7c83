/* SPDX-License-Identifier: Apache-2.0 */
/* How many codes a slot can have, from its factors and neighbours, and whether sums of the
 * neighbours decide its conditional: what the sizes of keys and their tables are made from. */
#ifndef GBSI_DRAW_KEY_CODES_H
#define GBSI_DRAW_KEY_CODES_H

#include "draw/surroundings.h"
#include "plan/draw.h"

typedef enum gbsi_by_sum { GBSI_SUM_UNKNOWN, GBSI_SUM_NO, GBSI_SUM_YES } gbsi_by_sum;

typedef struct gbsi_key_maker {
    const gbsi_draw_job *job;
    const gbsi_plan *plan;
    int scheme;                            /* gbs_keys_kind */
    gbsi_surroundings own;                 /* empty where they are borrowed */
    const gbsi_conditionals *conditionals; /* own or borrowed */
    const gbsi_context *context; /* by slot; NULL for keys COMPLETE, which have no links */
    void *state;                 /* [n_slots] scratch, all 0 between uses */
    double *logw;                /* [max_arity] */
    double *coupling;            /* [n_slots] scratch, all 0 between uses */
    uint64_t n_looks;            /* factors looked at until now, for tests */
    uint8_t *by_sum;             /* [n_slots] whether sums decide, as found: gbsi_by_sum */
    uint64_t most_codes;
    uint64_t whole_codes; /* states of the whole model; GBSI_MANY_CODES: 2^63 or more */
} gbsi_key_maker;

/* The object must not be moved while it is in use. @param around surroundings of the plan,
 * borrowed; NULL: the maker's own. */
gbs_status gbsi_key_maker_new(const gbsi_draw_job *job, int scheme, const gbsi_surroundings *around,
                              gbsi_key_maker *m, gbs_error *err);
void gbsi_key_maker_free(gbsi_key_maker *m);

/* Neighbours a slot is keyed by. */
size_t gbsi_key_links(const gbsi_key_maker *m, uint32_t slot);

void gbsi_key_maker_put(const gbsi_key_maker *m, uint32_t slot, uint32_t state);
gbsi_view gbsi_key_maker_view(const gbsi_key_maker *m);

/* Codes of a slot if its table were dense; *sum: codes by sums, with the sign of each neighbour in
 * the low bit of sign[] (1: it counts when in state 0). @param sign [links] out or NULL. */
uint64_t gbsi_key_codes(gbsi_key_maker *m, uint32_t slot, bool *sum, uint8_t *sign);

#endif
