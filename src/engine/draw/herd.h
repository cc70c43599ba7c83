/* SPDX-License-Identifier: Apache-2.0 */
/* Herding weights of all chains: their layout, their initial values [M19], and how they are saved.
 *
 * The weight of a variable of two states is a phase u in units of 2^-32. An update adds P to u, and
 * the value x is the carry. With w = p - (2^32 - 1 - u) this is the rule w += p - x, x = [w > 0].
 * For a variable with more states the weight is a vector of doubles that sums to 0. */
#ifndef GBSI_DRAW_HERD_H
#define GBSI_DRAW_HERD_H

#include "draw/keys.h"

/* ---- key_slices.c --------------------------------------------------------------------------- */

/* For groups of one chain: keys of sixteen slots at a time. */
/* Sixteen consecutive slots of one chain, as in the second packing of plans. All sixteen slots have
 * two states, dense tables and the same coding. The link and the step of neighbour d of lane i are
 * at [16 d + i]. Lanes with fewer neighbours are padded with steps of 0. */
typedef struct gbsi_key_slice {
    size_t link; /* index of the first of the slice's 16 * width links and steps */
    size_t cell; /* first cell of the slot in the first lane; gbsi_key_slices.cell has the cells of
                    the other lanes relative to this cell */
    /* index of the look-up table of the first lane, from codes to keys; GBSI_NO_LUT if the code is
     * the key */
    size_t lut;
    uint32_t width;
    uint8_t coding;  /* gbsi_coding of all sixteen slots */
    uint8_t regular; /* 0 if the slots are handled one by one */
} gbsi_key_slice;

typedef struct gbsi_key_slices {
    gbsi_key_slice *slice; /* [ceil(n_slots / 16)]; NULL if there are sixteen lanes */
    uint32_t *link;        /* slots of neighbours */
    uint32_t *step;
    uint32_t *cell;   /* [16 * number of slices] */
    uint32_t *lut;    /* [16 * number of slices] */
    uint32_t *offset; /* [16 * number of slices] number that is added to the code of each slot */
} gbsi_key_slices;

gbs_status gbsi_key_slices_new(const gbsi_keys *keys, gbsi_key_slices *slices, gbs_error *err);
void gbsi_key_slices_free(gbsi_key_slices *slices);

/* ---- herd.c --------------------------------------------------------------------------------- */

struct gbsi_group;

/* Weights of one group of chains. Arrays that the rule does not use are NULL. */
typedef struct gbsi_herd_group {
    /* [n_phases][lanes]; if `paired`, [n_phases / 2] pairs of phase and chance */
    uint32_t *phase;
    /* [n_balances][lanes] weights w of rule pre by bins, in units of 2^-32 */
    int64_t *balance;
    double *vector; /* [n_shares / k] keys of slots of k > 2 states, each with weights [lanes][k] */
    gbsi_key_table *table; /* [n_tables] */
    uint64_t *whole;       /* [lanes] keys complete: code of the state of all variables */
} gbsi_herd_group;

typedef struct gbsi_herd {
    const gbsi_plan *plan; /* borrowed */
    gbsi_herding how;
    uint64_t seed;
    uint32_t lanes, n_groups, first_chain;
    uint64_t room, taken; /* number of bytes that hashed tables may take, and number of bytes that
                             they have taken */
    gbsi_keys keys;       /* keys that determine the conditional; empty if keys are bins */
    gbsi_key_slices slices;
    /* whether each phase and its chance lie in one cache line: one chain, and keys that determine
     * the conditional */
    bool paired;
    size_t n_phases, n_balances, n_shares; /* per lane: numbers of phases (with turns or chances),
                                              of balances, and of elements of vectors */
    size_t n_tables;                       /* number of hashed tables of each group */
    /* [n_slots] keys by bins: first phase of a slot of two states, or table number of another slot;
     * NULL if keys.slot has these numbers */
    size_t *cell;
    gbsi_herd_group *group;
    /* [n_slots] visits in a pass, used while tables grow; NULL if there are no tables */
    uint32_t *visits;
} gbsi_herd;

/* Makes a herd that has no weights yet. */
gbs_status gbsi_herd_new(const gbsi_draw_job *job, gbsi_herd **out, gbs_error *err);
void gbsi_herd_free(void *state);
/* Allocates the zeroed dense weights of every group (n_phases, n_balances and n_shares numbers) and
 * n_tables empty tables. */
gbs_status gbsi_herd_take(gbsi_herd *herd, gbs_error *err);

/* Index in gbsi_herd_group.phase of the first phase of a cell, if keys determine the conditional.
 */
static inline size_t gbsi_herd_phase_at(const gbsi_herd *herd, size_t cell)
{
    return herd->paired ? 2 * cell : cell * herd->lanes;
}

/* Stores the value of one place and chain. */
static inline void gbsi_herd_put(const gbsi_tile *tile, size_t cell, uint32_t value)
{
    if (tile->value_bytes == 1) {
        ((uint8_t *)tile->value)[cell] = (uint8_t)value;
    } else {
        ((uint16_t *)tile->value)[cell] = (uint16_t)value;
    }
}

/* Set the initial weights of one key in all lanes of a group. @param phase [lanes]. @param vector
 * [lanes][k]. */
void gbsi_herd_start_phases(const gbsi_herd *herd, uint32_t slot, uint32_t group, uint64_t name,
                            uint32_t chance, uint32_t *phase);
void gbsi_herd_start_vectors(const gbsi_herd *herd, uint32_t slot, uint32_t group, uint64_t name,
                             const double *p, double *vector);

/* ---- hashed tables (herd_tables.c) ----------------------------------------------------------- */

/* Hashed table of a slot in a group; NULL if the slot's table is dense. */
gbsi_key_table *gbsi_herd_table(const gbsi_herd *herd, uint32_t slot, uint32_t group);
gbsi_row_shape gbsi_herd_row_shape(const gbsi_herd *herd, uint32_t slot);
/* Whether codes with equal conditionals share a row of a hashed table. */
static inline bool gbsi_herd_is_named(const gbsi_herd *herd)
{
    return herd->how.keys == GBS_KEYS_SHARED;
}
/* Save and load the hashed table of a slot, if the slot has one. */
gbs_status gbsi_herd_save_table(const gbsi_herd *herd, uint32_t slot, uint32_t group,
                                const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_herd_load_table(gbsi_herd *herd, uint32_t slot, uint32_t group,
                                const gbsi_source *source, gbs_error *err);

/* Functions that gbsi_draw tables point to. */
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
