/* SPDX-License-Identifier: Apache-2.0 */
/* The struct of a model, which the other folders of the library read. A model never changes once it
 * is built. */
#ifndef GBSI_STORE_MODEL_H
#define GBSI_STORE_MODEL_H

#include "base/digest.h"
#include "base/mapping.h"
#include "store/factors.h"

/* Largest deviation from 1 of the sum of a column of a conditional table. This deviation is enough
 * for files that give probabilities with six or more digits; other files state that their
 * probabilities are rounded. */
#define GBSI_COLUMN_TOLERANCE 1e-6

/* The weights that factors share, for learning. A tied factor has the weight value[number] *
 * feature. */
typedef struct gbsi_tied {
    uint32_t n_weights;
    double *value;    /* [n_weights] values */
    uint8_t *fixed;   /* [n_weights] 1 if learning must not change the weight */
    size_t n_ties;    /* the factors with numbers n_ties and above are not tied */
    uint32_t *number; /* [n_ties] number of the weight; GBSI_NONE if the factor is not tied */
    double *feature;  /* [n_ties] feature of each factor; 0 if the factor is not tied */
} gbsi_tied;

/* Returns the weight to which a factor is tied, or GBSI_NONE. */
static inline uint32_t gbsi_tied_weight(const gbsi_tied *tied, size_t factor)
{
    return factor < tied->n_ties ? tied->number[factor] : GBSI_NONE;
}

/* If a model was read from a file with the layout of docs/gbm.md, it is a mapping of this file.
 * Its arrays, except cpt and topological, lie in the mapping and are freed together with it. */
struct gbs_model {
    gbsi_mapping mapping; /* if mapping.bytes is NULL, each array is a separate allocation */
    uint32_t n_variables;
    uint32_t *arity;      /* [n_variables] numbers of states */
    size_t *state_offset; /* [n_variables + 1] offsets of the variables' states */
    char *text;           /* pool of names and labels, each ending in 0 */
    size_t *name;  /* [n_variables] offset into text, SIZE_MAX if the variable has no name; NULL if
                      no variable has one */
    size_t *label; /* [state_offset[n_variables]] offset of each state's label in text; SIZE_MAX if
                      the state has no label */
    uint32_t *by_name; /* numbers of the variables that have names, sorted by name, for look-up;
                          NULL if no variable has a name */
    uint32_t n_named;
    gbsi_factors factors;
    gbsi_tied tied;
    bool directed;
    uint32_t *cpt; /* [n_variables] factor whose child is the variable; NULL if the model is not
                      directed */
    uint32_t *topological; /* [n_variables] variables with parents before children; NULL if the
                              model is not directed */
    size_t bytes;
    char digest[33];
};

struct gbs_evidence {
    const gbs_model *model;
    uint32_t n_observed;
    uint32_t *state;        /* [n_variables] observed state; GBSI_NONE if not observed */
    double *log_likelihood; /* [state_offset[n_variables]] logarithms of likelihoods; NULL if there
                               is no virtual evidence */
};

/* Copies all evidence of `from`, which must belong to the same model. @param from if NULL, the copy
 * is empty. */
gbs_status gbsi_evidence_copy(const gbs_model *model, const gbs_evidence *from, gbs_evidence **out,
                              gbs_error *err);

/* Finds the variable with this name. Unlike gbs_model_find_variable(), this function does not
 * search for similar names. */
bool gbsi_find_name(const gbs_model *model, const char *name, uint32_t *variable);

/* ---- model_digest.c ------------------------------------------------------------------------- */

/* The entries of a table with up to this number of entries are fed to the digest. For a longer
 * table, the digest of its entries is fed instead. */
#define GBSI_SHORT_TABLE 64u

/* Starts the digest of a model. The caller then feeds, in this order: arities, kinds, sizes of
 * scopes, scopes, weights, and the contents of logical factors and of tables. */
void gbsi_model_digest_begin(gbsi_digest *digest, uint8_t directed, uint64_t n_variables,
                             uint64_t n_factors);

#endif
