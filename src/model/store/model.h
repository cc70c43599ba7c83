/* SPDX-License-Identifier: Apache-2.0 */
/* The model as the rest of the library sees it. Immutable once built. */
#ifndef GBSI_STORE_MODEL_H
#define GBSI_STORE_MODEL_H

#include "base/digest.h"
#include "base/mapping.h"
#include "store/factors.h"

/* How far from one a column of a conditional table may sum: files give probabilities with six
 * digits or more, or else say that they are rounded. */
#define GBSI_COLUMN_TOLERANCE 1e-6

/* Parameters that factors share, for learning: a tied factor has the weight
 * value[number] * feature. */
typedef struct gbsi_tied {
    uint32_t n_weights;
    double *value;    /* [n_weights] */
    uint8_t *fixed;   /* [n_weights] 1: not to be learnt */
    size_t n_ties;    /* factors from this one on are not tied */
    uint32_t *number; /* [n_ties] GBSI_NONE: not tied */
    double *feature;  /* [n_ties] 0 if not tied */
} gbsi_tied;

/* The weight that a factor is tied to, or GBSI_NONE. */
static inline uint32_t gbsi_tied_weight(const gbsi_tied *tied, size_t factor)
{
    return factor < tied->n_ties ? tied->number[factor] : GBSI_NONE;
}

/* If a model was read from a file with the same layout (docs/gbm.md), it is a mapping of that file:
 * its arrays, except cpt and topological, lie in the mapping and are freed with it. */
struct gbs_model {
    gbsi_mapping mapping; /* bytes NULL: each array is a separate allocation */
    uint32_t n_variables;
    uint32_t *arity;      /* [n_variables] */
    size_t *state_offset; /* [n_variables + 1] */
    char *text;           /* pool of names and labels, each ending in 0 */
    size_t *name;  /* [n_variables] offset into text, SIZE_MAX: none; NULL if no variable has one */
    size_t *label; /* [state_offset[n_variables]] offsets of the labels of states, or SIZE_MAX */
    uint32_t *by_name; /* named variables sorted by name, for look-up; NULL if none */
    uint32_t n_named;
    gbsi_factors factors;
    gbsi_tied tied;
    bool directed;
    uint32_t *cpt;         /* directed: [n_variables] the factor whose child it is; else NULL */
    uint32_t *topological; /* directed: [n_variables] parents before children; else NULL */
    size_t bytes;
    char digest[33];
};

struct gbs_evidence {
    const gbs_model *model;
    uint32_t n_observed;
    uint32_t *state;        /* [n_variables] GBSI_NONE if not observed */
    double *log_likelihood; /* [state_offset[n_variables]] logarithms of likelihoods; NULL without
                               virtual evidence */
};

/* Copies all evidence of `from`, which must have the same model. @param from NULL for none. */
gbs_status gbsi_evidence_copy(const gbs_model *model, const gbs_evidence *from, gbs_evidence **out,
                              gbs_error *err);

/* The variable of that name. Unlike gbs_model_find_variable() it looks for no near misses. */
bool gbsi_find_name(const gbs_model *model, const char *name, uint32_t *variable);

/* ---- model_digest.c ------------------------------------------------------------------------- */

/* Tables of at most this many entries are fed to the digest; for longer tables the digest of the
 * entries is. */
#define GBSI_SHORT_TABLE 64u

/* Starts the digest of a model. The caller then adds, in this order: arities, kinds, sizes of
 * scopes, scopes, weights, then the contents of logical factors and of tables. */
void gbsi_model_digest_begin(gbsi_digest *digest, uint8_t directed, uint64_t n_variables,
                             uint64_t n_factors);

#endif
