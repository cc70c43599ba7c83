/* SPDX-License-Identifier: Apache-2.0 */
/* Which herding weight an update uses: the states of the neighbours give a code, the code gives a
 * key. In all schemes except bins [M19] the key decides the conditional distribution, which is then
 * computed here once for each key, in double.
 *
 * A slot with few codes has a number for each key: tables are dense. A slot with many keys is
 * HASHED: the keys that occur are stored by their 64-bit codes (key_table.h). The two forms of keys
 * give the same bits. */
#ifndef GBSI_DRAW_KEYS_H
#define GBSI_DRAW_KEYS_H

#include "draw/conditional.h"
#include "draw/herding.h"
#include "draw/key_table.h"
#include "plan/context.h"

typedef enum gbsi_coding {
    GBSI_CODE_BITS,   /* up to 8 binary neighbours: sum of 2^j x_j, made in bytes */
    GBSI_CODE_COUNT,  /* up to 255 binary neighbours: sum of x_j, made in bytes */
    GBSI_CODE_RADIX,  /* offset + sum of step_j x_j, modulo 2^32 */
    GBSI_CODE_HASHED, /* mixed radix where that fits 63 bits, else a sum of hashes */
} gbsi_coding;

#define GBSI_NO_LUT SIZE_MAX

typedef struct gbsi_key_slot {
    size_t link; /* first of the slot */
    size_t cell; /* first cell: one per key of two states, else one per key and state.
                    HASHED: number of its table */
    size_t lut;  /* keys by code start here; GBSI_NO_LUT: the code is the key */
    uint32_t n_links;
    uint32_t n_keys;  /* 0: HASHED */
    uint32_t n_codes; /* 0: HASHED */
    uint32_t offset;
    uint8_t coding; /* gbsi_coding */
    uint8_t radix;  /* HASHED: mixed radix fits */
} gbsi_key_slot;

typedef struct gbsi_keys {
    const gbsi_plan *plan; /* borrowed */
    int scheme;            /* gbs_keys_kind */
    gbsi_key_slot *slot;   /* [n_slots] */
    uint32_t *link;        /* slots of neighbours */
    uint32_t *step;        /* parallel to link: of RADIX */
    uint32_t *lut;
    size_t n_lut, lut_capacity;
    /* Arrays indexed by cell, for slots of two states. */
    uint32_t *chance; /* round(p 2^32) of state 1; 0 if certain */
    uint8_t *certain; /* gbsi_certain; NULL: all open */
    size_t n_phases, phase_capacity, certain_capacity;
    /* arrays indexed by the joint state of the other variables */
    double *p; /* 0 in all states: impossible */
    size_t n_shares, share_capacity;
    /* Arrays are indexed by key, in the order of slots. If keys are shared: the numbers from which
     * their first weights are hashed; else the codes. */
    uint64_t *name;
    size_t n_names, name_capacity;
    size_t n_hashed;      /* slots */
    uint64_t *whole_step; /* COMPLETE: [n_slots] of mixed radix over all variables; NULL: hashes */
    gbsi_conditionals conditionals; /* kept while slots are hashed */
} gbsi_keys;

typedef enum gbsi_certain { GBSI_OPEN, GBSI_ALWAYS_0, GBSI_ALWAYS_1, GBSI_NEVER } gbsi_certain;

/* The slots that would be dense, and the bytes needed; nothing is allocated. */
typedef struct gbsi_key_sizes {
    uint64_t most_codes;   /* slots with more codes are hashed */
    uint64_t dense_bytes;  /* tables for all lanes and groups, links and look-up included */
    uint64_t hashed_bytes; /* the most bytes that hashed slots can grow to; UINT64_MAX: no bound */
} gbsi_key_sizes;

gbs_status gbsi_keys_size(const gbsi_draw_job *job, int scheme, gbsi_key_sizes *sizes,
                          gbs_error *err);
gbs_status gbsi_keys_new(const gbsi_draw_job *job, int scheme, gbsi_keys *out, gbs_error *err);
void gbsi_keys_free(gbsi_keys *keys); /* zeroes the struct */

/* A hash of one state of one variable; sums of them name contexts beyond 63 bits. */
uint64_t gbsi_state_hash(uint32_t variable, uint32_t state);

/* The code of a hashed slot, in any key scheme except COMPLETE. */
uint64_t gbsi_hashed_code(const gbsi_keys *keys, uint32_t slot, const gbsi_view *view);

/* The name of a conditional: log-odds quantised to 2^-33, relative above 1 [M19]. Log-weights
 * become what the quantised ones say. */
uint64_t gbsi_name_conditional(double *logw, uint32_t k);

#endif
