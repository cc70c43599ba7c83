/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of couplings in files: pairs, models of spins, and functions that the formats share. */
#ifndef GBSI_MODELS_COUPLINGS_H
#define GBSI_MODELS_COUPLINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gibbsite/io.h"
#include "gibbsite/status.h"
#include "text/lines.h"

/* ---- edges.c ------------------------------------------------------------------------------- */

/* A list of numbers at pairs of variables, as files have them, and which of them share a place. */

/* An entry of a list; one whose i is GBS_NO_PAIR is left out, but still counts as an entry. */
typedef gbs_pair gbsi_edge;

/* The entries of a file. Zero-initialise. */
typedef struct gbsi_edges {
    void *edge; /* gbsi_edge [n] */
    size_t n;
    size_t capacity;
} gbsi_edges;

/* The entries that repeat an earlier one. */
typedef struct gbsi_repeats {
    size_t n;
    size_t entry; /* the first entry at this pair */
    size_t of;    /* the entry that it repeats */
} gbsi_repeats;

gbs_status gbsi_edges_add(gbsi_edges *edges, uint32_t i, uint32_t j, double value, gbs_error *err);
void gbsi_edges_free(gbsi_edges *edges);

/* Adds up the entries at the same place; the first entry keeps the sum, the others are left out.
 * i = j is a place as well. O(n + n_variables).
 * @param directed whether (i, j) and (j, i) are two places. */
gbs_status gbsi_edges_sum(gbsi_edges *edges, uint32_t n_variables, bool directed,
                          gbsi_repeats *repeats, gbs_error *err);

/* To be called after a directed sum: keeps the first of (i, j) and (j, i). *unequal are pairs
 * whose values differ. */
gbs_status gbsi_edges_fold(gbsi_edges *edges, uint32_t n_variables, gbsi_repeats *unequal,
                           gbs_error *err);

/* ---- spin_list.c --------------------------------------------------------------------------- */

/* A model of spins as the formats of couplings have it: ln p = c + sum h_i s_i + sum J_ij s_i s_j,
 * s = -1 in state 0 and +1 in state 1. Built into a model, or taken out of one. */

/* Energies are E; p is proportional to exp(-E). */
typedef enum gbsi_convention {
    GBSI_PHYSICS, /* E = -sum J s s - sum h s */
    GBSI_BQM,     /* E = +sum J s s + sum h s */
    GBSI_MAXCUT,  /* E = +sum w s s: heavy edges are cut; no fields */
    /* The conventions of the formats; options may change them. */
    GBSI_MTX_CONVENTION = GBSI_PHYSICS,
    GBSI_RUD_CONVENTION = GBSI_MAXCUT,
    GBSI_COO_CONVENTION = GBSI_BQM,
} gbsi_convention;

/* Finds the convention of a word.
 * @param word NULL: own.
 * @return GBS_ERR_ARGUMENT if the word is not one of the three conventions. */
gbs_status gbsi_convention_of(const char *word, gbsi_convention own, gbsi_convention *convention,
                              gbs_error *err);
const char *gbsi_convention_name(gbsi_convention convention);
/* @return the factor from a number in a file to one of the log-density, and back: +1 or -1. */
double gbsi_convention_sign(gbsi_convention convention);

typedef struct gbsi_spin_list {
    uint32_t n_variables;
    double constant;
    double *field;    /* [n_variables] */
    gbsi_edges edges; /* i != j, each pair once */
} gbsi_spin_list;

gbs_status gbsi_spin_list_init(gbsi_spin_list *spins, uint32_t n_variables, gbs_error *err);
void gbsi_spin_list_free(gbsi_spin_list *spins);

/* Builds a model of the list times sign: the constant, fields by variable, couplings in their
 * order. Zeros are left out.
 * @param bits true for states in {0, 1} instead of spins. */
gbs_status gbsi_spin_list_build(const gbsi_spin_list *spins, bool bits, double sign,
                                gbs_model **model, gbs_error *err);

/* Makes a list of spins of a model, with every pair once in the order of its first factor.
 * @param format name of the format, for messages.
 * @param fields whether the format may hold fields.
 * @return GBS_ERR_UNSUPPORTED naming the first factor that is more than finite values on at most
 * two binary variables. */
gbs_status gbsi_spin_list_of_model(const gbs_model *model, const char *format, bool fields,
                                   gbsi_spin_list *spins, gbs_error *err);

/* ---- couplings.c --------------------------------------------------------------------------- */

/* Functions that readers of lists of couplings share: the options, the diagonal, repeated
 * entries. */

typedef enum gbsi_diagonal {
    GBSI_DIAGONAL_FIELD,
    GBSI_DIAGONAL_IGNORE,
    GBSI_DIAGONAL_ERROR,
} gbsi_diagonal;

typedef struct gbsi_couplings {
    gbsi_text *text;
    gbsi_text first;      /* position before the first entry, to find an entry again for a message
                           */
    const char *comments; /* characters that begin comment lines */
    gbsi_convention convention;
    gbsi_diagonal diagonal;
    uint32_t n_variables;
    double constant;
    gbsi_edges edges; /* an edge for each entry of the file, in their order */
    size_t n_underflow;
} gbsi_couplings;

/* Begins a reader with its options. text is borrowed.
 * @param own the format's own convention. */
gbs_status gbsi_couplings_begin(gbsi_couplings *c, gbsi_text *text, gbsi_convention own,
                                const char *comments, gbs_error *err);
void gbsi_couplings_free(gbsi_couplings *c);

/* Adds one entry, i and j from 0, that stands at this place of the line. */
gbs_status gbsi_couplings_add(gbsi_couplings *c, const gbsi_text *line, gbsi_token place,
                              uint64_t i, uint64_t j, double value, gbs_error *err);

/* How entries at (i, j) and (j, i) relate. */
typedef enum gbsi_pairing {
    GBSI_PAIR_ONCE,   /* (i, j) and (j, i) are the same place, named twice */
    GBSI_PAIR_MIRROR, /* two places, which must agree, of one coupling */
} gbsi_pairing;

/* Makes the model. Repeated entries are a deviation (lenient: summed).
 * @param binary variables over {0, 1}, not spins. */
gbs_status gbsi_couplings_build(gbsi_couplings *c, gbsi_pairing pairing, bool binary,
                                gbs_model **model, gbs_error *err);

/* @return the start of entry e of the file, which is read again: for messages. */
gbsi_token gbsi_couplings_place(const gbsi_couplings *c, size_t e);

/* Fails because the two values of a coupling in a full matrix differ. */
gbs_status gbsi_refuse_mirror(const gbsi_text *text, gbsi_token place, double one, double other,
                              gbs_error *err);

/* Warns of a constant that the written file has no place for, unless it is zero, by
 * options->warn. */
void gbsi_tell_constant(const gbs_write_options *options, const gbs_output *output,
                        const char *format, double constant);

#endif
