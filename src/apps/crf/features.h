/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the features of a model that each token of column data has. */
#ifndef GBSI_CRF_FEATURES_H
#define GBSI_CRF_FEATURES_H

#include "base/watch.h"
#include "crf/model.h"

/* Two linked tokens of a sequence, which need not be neighbours. Their pair of labels has weights
 * [M65]. */
typedef struct gbsi_link {
    size_t first, second; /* first < second */
    uint32_t combination;
} gbsi_link;

/* The features of all tokens. The features of a token or link that have weights of pairs of labels
 * are a combination. Few different combinations occur. Combinations are numbered, and each
 * combination has one matrix of weights of pairs. Zero-initialise. */
typedef struct gbsi_features {
    size_t *begin;     /* [n_tokens + 1] where the features of each token begin in `feature` */
    uint32_t *feature; /* features with weights of single labels */
    size_t n;
    uint32_t *combination; /* [n_tokens] number of the token's combination: its features with
                              weights of pairs */
    /* [n_combinations + 1] where the features of each combination begin in combination_feature */
    size_t *combination_begin;
    uint32_t *combination_feature;
    uint32_t n_combinations;
    gbsi_link *link;    /* [n_links] links, one sequence after the other */
    size_t *link_begin; /* [n sequences + 1] where the links of each sequence begin; NULL if the
                           templates have no links */
    size_t n_links;
    size_t capacity, link_capacity; /* allocated entries of `feature` and `link` */
} gbsi_features;

/* Finds the features of all tokens among the known features. @param known the features of a model.
 * @param learn NULL, or equal to `known`: new features are then added. */
gbs_status gbsi_features_find(const gbsi_templates *templates, const gbsi_dictionary *known,
                              gbsi_dictionary *learn, const gbs_sequences *data,
                              gbsi_features *features, gbsi_watch *watch, gbs_error *err);
void gbsi_features_free(gbsi_features *features);

#endif
