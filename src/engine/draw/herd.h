/* SPDX-License-Identifier: Apache-2.0 */
/* Herding weights of all chains: their layout, their initial values [M19], and how they are saved.
 *
 * A weight of a variable of two states is a phase u in units of 2^-32: u += P, and the value is the
 * carry. With w = p - (2^32 - 1 - u) this is w += p - x, x = [w > 0]. For a variable with more
 * states the weight is a vector of doubles that sums to 0. */
#ifndef GBSI_DRAW_HERD_H
#define GBSI_DRAW_HERD_H

#include "draw/keys.h"

/* ---- key_slices.c --------------------------------------------------------------------------- */

/* Keys of one chain, sixteen slots side by side. */
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

/* ---- herd.c --------------------------------------------------------------------------------- */

struct gbsi_group;

/* The weights of one group of chains. Arrays that the rule does not need are NULL. */
typedef struct gbsi_herd_group {
    uint32_t *phase;       /* [n_phases][lanes]; paired: [n_phases / 2][phase, chance] */
    int64_t *balance;      /* [n_balances][lanes] w of rule pre by bins, in units of 2^-32 */
    double *vector;        /* [n_shares / k] keys of [lanes][k] each */
    gbsi_key_table *table; /* [n_tables] */
    uint64_t *whole;       /* [lanes] keys complete: code of the whole state */
} gbsi_herd_group;

typedef struct gbsi_herd {
    const gbsi_plan *plan; /* borrowed */
    gbsi_herding how;
    uint64_t seed;
    uint32_t lanes, n_groups, first_chain;
    uint64_t room, taken; /* bytes; of tables */
    gbsi_keys keys;       /* keys that decide; empty with bins */
    gbsi_key_slices slices;
    bool paired; /* keys that decide, one chain: each phase and its chance are in one line */
    size_t n_phases, n_balances, n_shares; /* numbers of each array, per lane */
    size_t n_tables;                       /* hashed, of each group */
    size_t *cell; /* [n_slots] bins: first phase of a slot of two states, number of the table of
                     another; NULL: keys.slot says it */
    gbsi_herd_group *group;
    uint32_t *visits; /* [n_slots] visits in a pass, while tables are grown; NULL: there are none */
} gbsi_herd;

/* A herd without weights. */
gbs_status gbsi_herd_new(const gbsi_draw_job *job, gbsi_herd **out, gbs_error *err);
void gbsi_herd_free(void *state);
/* Room for the dense weights of every group, zeroed: n_phases, n_balances, n_shares; and n_tables
 * tables, empty. */
gbs_status gbsi_herd_take(gbsi_herd *herd, gbs_error *err);

/* The index of the phases of a cell, for keys that decide the conditional. */
static inline size_t gbsi_herd_phase_at(const gbsi_herd *herd, size_t cell)
{
    return herd->paired ? 2 * cell : cell * herd->lanes;
}

/* The value of one place and chain. */
static inline void gbsi_herd_put(const gbsi_tile *tile, size_t cell, uint32_t value)
{
    if (tile->value_bytes == 1) {
        ((uint8_t *)tile->value)[cell] = (uint8_t)value;
    } else {
        ((uint16_t *)tile->value)[cell] = (uint16_t)value;
    }
}

/* Starts of one key in all lanes of a group. @param phase [lanes]; vector [lanes][k]. */
void gbsi_herd_start_phases(const gbsi_herd *herd, uint32_t slot, uint32_t group, uint64_t name,
                            uint32_t chance, uint32_t *phase);
void gbsi_herd_start_vectors(const gbsi_herd *herd, uint32_t slot, uint32_t group, uint64_t name,
                             const double *p, double *vector);

/* ---- hashed tables (herd_tables.c) ----------------------------------------------------------- */

/* The table of a slot in a group; NULL: the slot is dense. */
gbsi_key_table *gbsi_herd_table(const gbsi_herd *herd, uint32_t slot, uint32_t group);
gbsi_row_shape gbsi_herd_row_shape(const gbsi_herd *herd, uint32_t slot);
/* Whether codes share rows. */
static inline bool gbsi_herd_is_named(const gbsi_herd *herd)
{
    return herd->how.keys == GBS_KEYS_SHARED;
}
/* The table of a slot, if it has one, saved and loaded. */
gbs_status gbsi_herd_save_table(const gbsi_herd *herd, uint32_t slot, uint32_t group,
                                const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_herd_load_table(gbsi_herd *herd, uint32_t slot, uint32_t group,
                                const gbsi_source *source, gbs_error *err);

/* Functions of the gbsi_draw table. */
gbs_status gbsi_herd_begin_pass(void *state, const struct gbsi_schedule *schedule,
                                const struct gbsi_group *group, uint64_t pass, gbs_error *err);
gbs_status gbsi_herd_expect(void *state, uint32_t slot, gbs_error *err);
double gbsi_herd_n_weights(const void *state);
gbs_status gbsi_herd_save(const void *state, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_herd_load(void *state, const gbsi_source *source, gbs_error *err);
gbs_status gbsi_herd_skip(const void *state, const gbsi_source *source, gbs_error *err);
/* herd_weave.c */
gbs_status gbsi_herd_weave(void *state, const gbsi_weave *weave, const gbsi_sink *sink,
                           const gbsi_source *source, gbs_error *err);

#endif
