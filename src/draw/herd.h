/* SPDX-License-Identifier: Apache-2.0 */
/* Herding weights of all chains: where they stand, where they start [M19], how they are kept.
 *
 * A weight of a variable of two states is a phase u in units of 2^-32: u += P, and the value is the
 * carry. With w = p - (2^32 - 1 - u) this is w += p - x, x = [w > 0]. Of more states it is a vector
 * of doubles that sums to 0. */
#ifndef GBSI_DRAW_HERD_H
#define GBSI_DRAW_HERD_H

#include "draw/keys.h"
#include "draw/table.h"

struct gbsi_group;

/* Sixteen consecutive slots of one chain, as the second packing of plans has them: dense and of two
 * states, one coding for all. Element d of lane i stands at [16 d + i]; padding has step 0. */
typedef struct gbsi_herd_slice {
    size_t link; /* first of 16 width links and steps */
    size_t cell; /* of the first lane, to which the offsets of the lanes are relative */
    size_t lut;  /* likewise; GBSI_NO_LUT */
    uint32_t width;
    uint8_t coding;  /* gbsi_coding of all */
    uint8_t regular; /* else slot by slot */
} gbsi_herd_slice;

typedef struct gbsi_herd_slices {
    gbsi_herd_slice *slice; /* [ceil(n_slots / 16)], NULL with sixteen lanes */
    uint32_t *link;         /* slots */
    uint32_t *step;
    uint32_t *cell;   /* [16 slices] */
    uint32_t *lut;    /* likewise */
    uint32_t *offset; /* likewise: of codes */
} gbsi_herd_slices;

/* Weights of one group of chains. Rules use what they need, the rest is NULL. */
typedef struct gbsi_herd_group {
    uint32_t *phase;       /* [n_phases][lanes]; paired: [n_phases / 2][phase, chance] */
    int64_t *balance;      /* [n_balances][lanes] w of rule pre by bins, in units of 2^-32 */
    double *vector;        /* [n_shares / k] keys of [lanes][k] each */
    gbsi_key_table *table; /* [n_hashed] */
    uint64_t *whole;       /* [lanes] keys complete: code of the whole state */
} gbsi_herd_group;

typedef struct gbsi_herd {
    const gbsi_plan *plan; /* borrowed */
    gbsi_herding how;
    uint64_t seed;
    uint32_t lanes, n_groups;
    uint64_t room, taken; /* bytes; of tables */
    gbsi_keys keys;       /* keys that decide; empty with bins */
    gbsi_herd_slices slices;
    bool paired; /* keys that decide, one chain: each phase has its chance beside it, in one line */
    size_t n_phases, n_balances, n_shares; /* numbers of each array, per lane */
    size_t *cell; /* [n_slots] bins: first phase of the slot; NULL: keys.slot says it */
    gbsi_herd_group *group;
    uint32_t *visits; /* [n_slots] of a pass, while tables are grown; NULL: nothing is hashed */
    uint32_t *many;   /* [n_slots] by bins, more than two states: number of its table */
    size_t n_many;
} gbsi_herd;

/* A herd without weights. */
gbs_status gbsi_herd_new(const gbsi_draw_job *job, gbsi_herd **out, gbs_error *err);
void gbsi_herd_free(void *state);
/* Room for the dense weights of every group, zeroed: n_phases, n_shares. */
gbs_status gbsi_herd_take(gbsi_herd *herd, gbs_error *err);

/* The words that one start is made from.
 * @param name of the key. @param block of four states. */
void gbsi_herd_words(const gbsi_herd *herd, uint32_t slot, uint32_t chain, uint64_t name,
                     uint32_t block, uint32_t word[4]);
/* Where the phases of a cell stand, by keys that decide. */
static inline size_t gbsi_herd_phase_at(const gbsi_herd *herd, size_t cell)
{
    return herd->paired ? 2 * cell : cell * herd->lanes;
}

/* Starts of one key in all lanes of a group. @param phase [lanes]; vector [lanes][k]. */
void gbsi_herd_start_phases(const gbsi_herd *herd, uint32_t slot, uint32_t group, uint64_t name,
                            uint32_t chance, uint32_t *phase);
void gbsi_herd_start_vectors(const gbsi_herd *herd, uint32_t slot, uint32_t group, uint64_t name,
                             const double *p, double *vector);

/* ---- rules (rule.c) ------------------------------------------------------------------------- */

/* One step of a vector: the largest weight among the states of positive probability, ties to the
 * smallest; w += p, w_x -= 1. BEG: at random, by word, where no weight exceeds the threshold.
 * @return k: no state has any. */
uint32_t gbsi_herd_vector(const gbsi_herding *how, const double *p, double *w, uint32_t k,
                          uint32_t word);
/* BEG of two states: by w where it is beyond the bound, else by word. w in units of 2^-32. */
uint32_t gbsi_bounded_value(const gbsi_herding *how, int64_t w, uint32_t chance, uint32_t word);
/* A step of a phase whose weight may leave the interval of herding: whole turns are counted. */
uint32_t gbsi_bounded_phase(const gbsi_herding *how, uint32_t chance, uint32_t word,
                            uint32_t *phase, uint32_t *turns);

/* ---- tables (herd_tables.c) -------------------------------------------------------------------
 */

/* A row of a hashed slot of two states. */
typedef struct gbsi_phase_row {
    uint32_t chance, certain; /* gbsi_certain */
    uint32_t phase[];         /* [lanes] */
} gbsi_phase_row;

/* Of more states: p[k], then a vector per lane. */
static inline double *gbsi_row_vector(double *row, uint32_t k, uint32_t lane)
{
    return row + (size_t)k * (1 + lane);
}

/* The row for the states around a chain, made if there is none: begin_pass left room. */
void *gbsi_herd_row(gbsi_herd *herd, uint32_t slot, uint32_t group, const gbsi_view *view);
/* Keys complete: the chain's code follows its new value. */
void gbsi_herd_moved(gbsi_herd *herd, uint32_t slot, uint32_t group, const gbsi_view *view,
                     uint32_t value);

/* Functions of the gbsi_draw table. */
gbs_status gbsi_herd_begin_pass(void *state, const struct gbsi_schedule *schedule,
                                const struct gbsi_group *group, uint64_t pass, gbs_error *err);
double gbsi_herd_n_weights(const void *state);
gbs_status gbsi_herd_save(const void *state, const gbsi_sink *sink, gbs_error *err);
gbs_status gbsi_herd_load(void *state, const gbsi_source *source, gbs_error *err);

/* herded_slices.c */
gbs_status gbsi_herd_slices_new(const gbsi_keys *keys, gbsi_herd_slices *slices, gbs_error *err);
void gbsi_herd_slices_free(gbsi_herd_slices *slices);

/* herded.c, for every instruction set: keys that decide. */
gbs_status gbsi_herded_extra_edges(const gbsi_conditioned *model, const gbs_run_options *options,
                                   gbsi_edges *edges, gbs_error *err);
gbs_status gbsi_herded_bytes(const gbsi_draw_job *job, uint64_t *n, gbs_error *err);
gbs_status gbsi_herded_init(const gbsi_draw_job *job, void **state, gbs_error *err);
/* One place in all lanes; all places of a tile: any slot, the reference for the lanes. */
void gbsi_herded_place(gbsi_herd *herd, gbsi_tile *tile, uint32_t place);
void gbsi_herded_places(void *herd, gbsi_tile *tile);

#endif
