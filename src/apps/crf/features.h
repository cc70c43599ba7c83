/* SPDX-License-Identifier: Apache-2.0 */
/* Column data as a model sees them: which features each token has. */
#ifndef GBSI_CRF_FEATURES_H
#define GBSI_CRF_FEATURES_H

#include "base/watch.h"
#include "crf/model.h"

/* Two tokens of a sequence whose labels have weights together beside those of neighbours [M65]. */
typedef struct gbsi_link {
    size_t first, second; /* first < second */
    uint32_t combination;
} gbsi_link;

/* Features that go with pairs of labels come in few combinations, which are numbered: tokens or
 * links of one combination have the same matrix of pairs. Zero-initialise. */
typedef struct gbsi_features {
    size_t *begin;     /* [n_tokens + 1] of the features of tokens */
    uint32_t *feature; /* features with weights of single labels */
    size_t n;
    uint32_t *combination;     /* [n_tokens] of features with weights of pairs */
    size_t *combination_begin; /* [n_combinations + 1] */
    uint32_t *combination_feature;
    uint32_t n_combinations;
    gbsi_link *link;    /* [n_links], sequence after sequence */
    size_t *link_begin; /* [n sequences + 1], NULL without links in the templates */
    size_t n_links;
    size_t capacity, link_capacity; /* of feature and link */
} gbsi_features;

/* The features of all tokens, as far as they are known.
 * @param known the features of a model. @param learn NULL, or equal to `known`: then new features
 * are added. */
gbs_status gbsi_features_find(const gbsi_templates *templates, const gbsi_dictionary *known,
                              gbsi_dictionary *learn, const gbs_sequences *data,
                              gbsi_features *features, gbsi_watch *watch, gbs_error *err);
void gbsi_features_free(gbsi_features *features);

#endif
