/* SPDX-License-Identifier: Apache-2.0 */
/* Keys that choose the herding weight of an update: the states of the neighbours give a code, and
 * the code gives a key. In all schemes except bins [M19] the key determines the conditional
 * distribution. gbsi_keys_new() computes this distribution once for each key, in double.
 *
 * The tables of a slot with few codes are dense. A slot with many codes is HASHED: the keys that
 * occur are stored by their 64-bit codes (key_table.h). Dense and hashed tables give equal results,
 * bit by bit. */
#ifndef GBSI_DRAW_KEYS_H
#define GBSI_DRAW_KEYS_H

#include "draw/conditional.h"
#include "draw/herding.h"
#include "draw/key_table.h"
#include "plan/context.h"

typedef enum gbsi_coding {
    GBSI_CODE_BITS,   /* for up to 8 binary neighbours x_j: sum of 2^j x_j, computed in bytes */
    GBSI_CODE_COUNT,  /* for up to 255 binary neighbours x_j: sum of x_j, computed in bytes */
    GBSI_CODE_RADIX,  /* for any neighbours x_j: offset + sum of step_j x_j, modulo 2^32 */
    GBSI_CODE_HASHED, /* mixed radix if the codes fit 63 bits, else a sum of hashes */
} gbsi_coding;

#define GBSI_NO_LUT SIZE_MAX

typedef struct gbsi_key_slot {
    size_t link; /* index of the slot's first link */
    /* index of the slot's first cell; a key has one cell if the slot has two states, otherwise one
     * cell per state. HASHED: number of the slot's table */
    size_t cell;
    size_t lut; /* index in gbsi_keys.lut of the table from the slot's codes to its keys;
                   GBSI_NO_LUT if the code is the key */
    uint32_t n_links;
    uint32_t n_keys;  /* 0 if HASHED */
    uint32_t n_codes; /* 0 if HASHED */
    uint32_t offset;
    uint8_t coding; /* gbsi_coding */
    uint8_t radix;  /* HASHED: whether codes in mixed radix fit 63 bits */
} gbsi_key_slot;

typedef struct gbsi_keys {
    const gbsi_plan *plan; /* borrowed */
    int scheme;            /* gbs_keys_kind */
    gbsi_key_slot *slot;   /* [n_slots] */
    uint32_t *link;        /* slots of neighbours */
    uint32_t *step;        /* [links] step by which each neighbour's state is multiplied in codes of
                              GBSI_CODE_RADIX */
    uint32_t *lut;
    size_t n_lut, lut_capacity;
    /* Arrays indexed by cell, for slots of two states. */
    uint32_t *chance; /* round(p 2^32), where p = P(state 1); 0 if the value is certain */
    uint8_t *certain; /* gbsi_certain of each cell; NULL if no value is certain */
    size_t n_phases, phase_capacity, certain_capacity;
    /* arrays of slots with more than two states, by cell */
    double *p; /* probabilities; 0 in all states if the context is impossible */
    size_t n_shares, share_capacity;
    /* Names of the conditionals of all keys, in the order of slots. For shared keys the initial
     * weights are hashes of these names; for other keys the initial weights are hashes of the
     * codes. */
    uint64_t *name;
    size_t n_names, name_capacity;
    size_t n_hashed; /* number of hashed slots */
    /* [n_slots] COMPLETE: steps of the mixed radix over all variables; NULL if codes are sums of
     * hashes */
    uint64_t *whole_step;
    gbsi_conditionals conditionals; /* of the model; kept if any slot is hashed */
} gbsi_keys;

typedef enum gbsi_certain { GBSI_OPEN, GBSI_ALWAYS_0, GBSI_ALWAYS_1, GBSI_NEVER } gbsi_certain;

/* The result of gbsi_keys_size(): which slots would be dense, and the bytes that the keys would
 * take. Nothing is allocated. */
typedef struct gbsi_key_sizes {
    uint64_t most_codes; /* slots with more codes are hashed */
    /* bytes of dense tables for all lanes and groups, with links and look-up tables */
    uint64_t dense_bytes;
    /* largest number of bytes that hashed slots can take; UINT64_MAX if there is no bound */
    uint64_t hashed_bytes;
} gbsi_key_sizes;

gbs_status gbsi_keys_size(const gbsi_draw_job *job, int scheme, gbsi_key_sizes *sizes,
                          gbs_error *err);
gbs_status gbsi_keys_new(const gbsi_draw_job *job, int scheme, gbsi_keys *out, gbs_error *err);
void gbsi_keys_free(gbsi_keys *keys); /* zeroes the struct */

/* Hash of one state of one variable. Sums of these hashes identify the contexts of a slot that has
 * more than 2^63 contexts. */
uint64_t gbsi_state_hash(uint32_t variable, uint32_t state);

/* Code of the current context of a hashed slot, in any key scheme except COMPLETE. */
uint64_t gbsi_hashed_code(const gbsi_keys *keys, uint32_t slot, const gbsi_view *view);

/* Returns the name of a conditional, which is a hash of the rounded log-odds. Log-odds are
 * rounded to multiples of 2^-33, or of 2^-33 times their size if they exceed 1 [M19]. The
 * function replaces the log-weights by the rounded values. */
uint64_t gbsi_name_conditional(double *logw, uint32_t k);

#endif
