/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of couplings in files: pairs of variables, models of spins, and functions that the
 * formats share. */
#ifndef GBSI_MODELS_COUPLINGS_H
#define GBSI_MODELS_COUPLINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gibbsite/io.h"
#include "gibbsite/status.h"
#include "text/lines.h"

/* ---- edges.c ------------------------------------------------------------------------------- */

/* Lists of values at pairs of variables, as files have them, and repeated pairs in such lists. */

/* An entry of a list. An entry whose i is GBS_NO_PAIR is left out of the model, but still
 * counts. */
typedef gbs_pair gbsi_edge;

/* The entries of a file. To be initialised with zeros. */
typedef struct gbsi_edges {
    void *edge; /* gbsi_edge [n] */
    size_t n;
    size_t capacity;
} gbsi_edges;

/* Entries that repeat an earlier entry. */
typedef struct gbsi_repeats {
    size_t n;
    size_t entry; /* first entry that is a repetition */
    size_t of;    /* entry that `entry` repeats */
} gbsi_repeats;

gbs_status gbsi_edges_add(gbsi_edges *edges, uint32_t i, uint32_t j, double value, gbs_error *err);
void gbsi_edges_free(gbsi_edges *edges);

/* Adds up the entries of each pair. The first entry of the pair keeps the sum, and the others
 * are left out. Entries with i = j are treated alike. O(n + n_variables).
 * @param directed whether (i, j) and (j, i) are different pairs. */
gbs_status gbsi_edges_sum(gbsi_edges *edges, uint32_t n_variables, bool directed,
                          gbsi_repeats *repeats, gbs_error *err);

/* Keeps only the first of (i, j) and (j, i). To be called after a directed sum.
 * @param unequal out: pairs whose two values differ. */
gbs_status gbsi_edges_fold(gbsi_edges *edges, uint32_t n_variables, gbsi_repeats *unequal,
                           gbs_error *err);

/* ---- spin_list.c --------------------------------------------------------------------------- */

/* A model of spins as the formats of couplings have it: ln p = c + sum h_i s_i + sum J_ij s_i
 * s_j. s is -1 in state 0 and +1 in state 1. Such a list is made into a model, or taken from a
 * model. */

/* Sign conventions of an energy E. p is proportional to exp(-E). */
typedef enum gbsi_convention {
    GBSI_PHYSICS, /* E = -sum J s s - sum h s */
    GBSI_BQM,     /* E = +sum J s s + sum h s */
    GBSI_MAXCUT,  /* E = +sum w s s, in which heavy edges are cut; no fields */
    /* The conventions of the formats; options may change them. */
    GBSI_MTX_CONVENTION = GBSI_PHYSICS,
    GBSI_RUD_CONVENTION = GBSI_MAXCUT,
    GBSI_COO_CONVENTION = GBSI_BQM,
} gbsi_convention;

/* Finds the convention that a word names.
 * @param word NULL: own.
 * @return GBS_ERR_ARGUMENT if the word is not one of the three conventions. */
gbs_status gbsi_convention_of(const char *word, gbsi_convention own, gbsi_convention *convention,
                              gbs_error *err);
const char *gbsi_convention_name(gbsi_convention convention);
/* @return +1 or -1: a number in a file times this factor is the number in the log-density. */
double gbsi_convention_sign(gbsi_convention convention);

typedef struct gbsi_spin_list {
    uint32_t n_variables;
    double constant;
    double *field;    /* [n_variables] field of each variable */
    gbsi_edges edges; /* couplings, i != j, each pair once */
} gbsi_spin_list;

gbs_status gbsi_spin_list_init(gbsi_spin_list *spins, uint32_t n_variables, gbs_error *err);
void gbsi_spin_list_free(gbsi_spin_list *spins);

/* Builds a model of the list, with all values multiplied by `sign`: the constant, fields by
 * variable, couplings in their order. Zeros are left out.
 * @param bits true for variables with values 0 and 1 instead of spins. */
gbs_status gbsi_spin_list_build(const gbsi_spin_list *spins, bool bits, double sign,
                                gbs_model **model, gbs_error *err);

/* Makes a list of spins of a model. The list has every pair once, in the order of the pairs'
 * first factors.
 * @param format name of the format, for messages.
 * @param fields whether the format may hold fields.
 * @return GBS_ERR_UNSUPPORTED, with the name of the first factor that is not a table of finite
 *   values over at most two binary variables. */
gbs_status gbsi_spin_list_of_model(const gbs_model *model, const char *format, bool fields,
                                   gbsi_spin_list *spins, gbs_error *err);

/* ---- couplings.c --------------------------------------------------------------------------- */

/* Functions that readers of lists of couplings share: options, entries on the diagonal, repeated
 * entries. */

typedef enum gbsi_diagonal {
    GBSI_DIAGONAL_FIELD,
    GBSI_DIAGONAL_IGNORE,
    GBSI_DIAGONAL_ERROR,
} gbsi_diagonal;

typedef struct gbsi_couplings {
    gbsi_text *text;
    gbsi_text first;      /* text before the first entry, from which messages find an entry again */
    const char *comments; /* characters that begin a comment line */
    gbsi_convention convention;
    gbsi_diagonal diagonal;
    uint32_t n_variables;
    double constant;
    gbsi_edges edges; /* an edge for each entry of the file, in the order of the file */
    size_t n_underflow;
} gbsi_couplings;

/* Begins a reader with its options.
 * @param text borrowed.
 * @param own convention of the format. */
gbs_status gbsi_couplings_begin(gbsi_couplings *c, gbsi_text *text, gbsi_convention own,
                                const char *comments, gbs_error *err);
void gbsi_couplings_free(gbsi_couplings *c);

/* Adds one entry. i and j are counted from 0.
 * @param place place of the entry in the line. */
gbs_status gbsi_couplings_add(gbsi_couplings *c, const gbsi_text *line, gbsi_token place,
                              uint64_t i, uint64_t j, double value, gbs_error *err);

/* Relation of the entries at (i, j) and (j, i). */
typedef enum gbsi_pairing {
    GBSI_PAIR_ONCE, /* (i, j) and (j, i) name the same coupling, which a file has once */
    /* the file has one coupling at (i, j) and at (j, i), and the values must agree */
    GBSI_PAIR_MIRROR,
} gbsi_pairing;

/* Makes the model. Repeated entries are a deviation; lenient reading sums them.
 * @param binary true for variables with values 0 and 1 instead of spins. */
gbs_status gbsi_couplings_build(gbsi_couplings *c, gbsi_pairing pairing, bool binary,
                                gbs_model **model, gbs_error *err);

/* @return the start of entry e of the file, which is read again: for messages. */
gbsi_token gbsi_couplings_place(const gbsi_couplings *c, size_t e);

/* Fails because the two values of a coupling in a full matrix differ. */
gbs_status gbsi_refuse_mirror(const gbsi_text *text, gbsi_token place, double one, double other,
                              gbs_error *err);

/* Warns by options->warn about a constant that the written file cannot hold, unless the constant
 * is zero. */
void gbsi_tell_constant(const gbs_write_options *options, const gbs_output *output,
                        const char *format, double constant);

#endif
