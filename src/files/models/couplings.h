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

/* Lists of the values that a file has for pairs of variables, and repeated pairs in such lists. */

/* An entry of a list. An entry whose i is GBS_NO_PAIR is left out of the model, but keeps its place
 * in the list. */
typedef gbs_pair gbsi_edge;

/* The entries of a file. The struct must be initialised with zeros. */
typedef struct gbsi_edges {
    void *edge; /* gbsi_edge [n] */
    size_t n;
    size_t capacity;
} gbsi_edges;

/* Number of entries that repeat an earlier entry, and the first of them. */
typedef struct gbsi_repeats {
    size_t n;
    size_t entry; /* index of the first entry that repeats an earlier entry */
    size_t of;    /* index of the earlier entry */
} gbsi_repeats;

gbs_status gbsi_edges_add(gbsi_edges *edges, uint32_t i, uint32_t j, double value, gbs_error *err);
void gbsi_edges_free(gbsi_edges *edges);

/* Adds up the entries of each pair, also if i = j. The first entry of the pair keeps the sum, and
 * the other entries are left out. The time is O(n + n_variables).
 * @param directed whether (i, j) and (j, i) are different pairs. */
gbs_status gbsi_edges_sum(gbsi_edges *edges, uint32_t n_variables, bool directed,
                          gbsi_repeats *repeats, gbs_error *err);

/* Keeps only the first of (i, j) and (j, i). Must be called after gbsi_edges_sum() with `directed`.
 * @param unequal out: number of pairs whose two values differ, and the first such pair. */
gbs_status gbsi_edges_fold(gbsi_edges *edges, uint32_t n_variables, gbsi_repeats *unequal,
                           gbs_error *err);

/* ---- spin_list.c --------------------------------------------------------------------------- */

/* A model of spins as the formats of couplings have it: ln p = c + sum h_i s_i + sum J_ij s_i s_j.
 * s is -1 in state 0 and +1 in state 1. A list is made into a model, or a model into a list. */

/* Sign conventions of an energy E. p is proportional to exp(-E). */
typedef enum gbsi_convention {
    GBSI_PHYSICS, /* E = -sum J s s - sum h s */
    GBSI_BQM,     /* E = +sum J s s + sum h s */
    GBSI_MAXCUT,  /* E = +sum w s s without fields; low energy cuts edges of large weight */
    /* Conventions of the formats, which an option may replace. */
    GBSI_MTX_CONVENTION = GBSI_PHYSICS,
    GBSI_RUD_CONVENTION = GBSI_MAXCUT,
    GBSI_COO_CONVENTION = GBSI_BQM,
} gbsi_convention;

/* Finds the convention that a word names.
 * @param word NULL for the convention `own`.
 * @return GBS_ERR_ARGUMENT if the word is not one of the three conventions. */
gbs_status gbsi_convention_of(const char *word, gbsi_convention own, gbsi_convention *convention,
                              gbs_error *err);
const char *gbsi_convention_name(gbsi_convention convention);
/* @return +1 or -1, the factor by which a number in the file is multiplied to give the number in
 *   the log-density. */
double gbsi_convention_sign(gbsi_convention convention);

typedef struct gbsi_spin_list {
    uint32_t n_variables;
    double constant;
    double *field;    /* [n_variables] field of each variable */
    gbsi_edges edges; /* couplings with i != j, in which each pair occurs once */
} gbsi_spin_list;

gbs_status gbsi_spin_list_init(gbsi_spin_list *spins, uint32_t n_variables, gbs_error *err);
void gbsi_spin_list_free(gbsi_spin_list *spins);

/* Builds a model from the list, with all values multiplied by `sign`. Its factors are the constant,
 * the fields in the order of the variables, and the couplings in the order of the list. Zeros are
 * left out.
 * @param bits true for variables with values 0 and 1 instead of spins. */
gbs_status gbsi_spin_list_build(const gbsi_spin_list *spins, bool bits, double sign,
                                gbs_model **model, gbs_error *err);

/* Turns a model into a list of spins. The list has every pair once, in the order in which the
 * factors name the pairs.
 * @param format name of the format, for messages.
 * @param fields whether the format has fields.
 * @return GBS_ERR_UNSUPPORTED, with the name of the first factor that is not a table of finite
 *   values over at most two binary variables. */
gbs_status gbsi_spin_list_of_model(const gbs_model *model, const char *format, bool fields,
                                   gbsi_spin_list *spins, gbs_error *err);

/* ---- couplings.c --------------------------------------------------------------------------- */

/* Functions that readers of lists of couplings share. They handle options, entries on the diagonal
 * and repeated entries. */

typedef enum gbsi_diagonal {
    GBSI_DIAGONAL_FIELD,
    GBSI_DIAGONAL_IGNORE,
    GBSI_DIAGONAL_ERROR,
} gbsi_diagonal;

typedef struct gbsi_couplings {
    gbsi_text *text;
    gbsi_text first;      /* text from the first entry on, in which messages find an entry again */
    const char *comments; /* characters that begin a comment line */
    gbsi_convention convention;
    gbsi_diagonal diagonal;
    uint32_t n_variables;
    double constant;
    gbsi_edges edges; /* one edge for each entry, in the order of the file */
    size_t n_underflow;
} gbsi_couplings;

/* Initialises the struct with the options of the text.
 * @param text text of the file, borrowed.
 * @param own convention of the format. */
gbs_status gbsi_couplings_begin(gbsi_couplings *c, gbsi_text *text, gbsi_convention own,
                                const char *comments, gbs_error *err);
void gbsi_couplings_free(gbsi_couplings *c);

/* Adds one entry. i and j are numbers of variables, from 0 on.
 * @param place token of the entry in the line. */
gbs_status gbsi_couplings_add(gbsi_couplings *c, const gbsi_text *line, gbsi_token place,
                              uint64_t i, uint64_t j, double value, gbs_error *err);

/* Meaning of entries at (i, j) and (j, i). */
typedef enum gbsi_pairing {
    GBSI_PAIR_ONCE, /* (i, j) and (j, i) name the same coupling, which the file has once */
    /* the file has each coupling twice, at (i, j) and at (j, i), with equal values */
    GBSI_PAIR_MIRROR,
} gbsi_pairing;

/* Makes the model. Repeated entries are refused, or are added up in lenient reading.
 * @param binary true for variables with values 0 and 1 instead of spins. */
gbs_status gbsi_couplings_build(gbsi_couplings *c, gbsi_pairing pairing, bool binary,
                                gbs_model **model, gbs_error *err);

/* @return the first token of entry e, for messages. The file is read again up to this entry. */
gbsi_token gbsi_couplings_place(const gbsi_couplings *c, size_t e);

/* Fails because the two values of a coupling in a full matrix differ. */
gbs_status gbsi_refuse_mirror(const gbsi_text *text, gbsi_token place, double one, double other,
                              gbs_error *err);

/* Warns by options->warn that the written file has no place for a constant, unless the constant is
 * zero. */
void gbsi_tell_constant(const gbs_write_options *options, const gbs_output *output,
                        const char *format, double constant);

#endif
