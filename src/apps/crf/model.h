/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GBSI_CRF_MODEL_H
#define GBSI_CRF_MODEL_H

#include "crf/templates.h"
#include "learn/work.h"
#include "text/common.h"

/* ---- dictionary.c --------------------------------------------------------------------------- */

/* A dictionary numbers texts in the order in which they are added. */
#define GBSI_NOT_THERE UINT32_MAX

/* Zero-initialise the struct. Texts may hold any bytes; a 0 follows each text. */
typedef struct gbsi_dictionary {
    gbsi_name_map map;
    const char **text; /* [n] texts */
    size_t *length;    /* [n] bytes of the texts */
    uint32_t n;
    size_t text_capacity, length_capacity;
    char **block; /* [n_blocks] memory of the texts, which never moves */
    size_t n_blocks, block_capacity;
    size_t used, size; /* used and allocated bytes of the last block */
} gbsi_dictionary;

/* Finds the number of a text; a new text is added. */
gbs_status gbsi_dictionary_add(gbsi_dictionary *d, const char *at, size_t n, uint32_t *number,
                               gbs_error *err);
/* @return the number of a text; GBSI_NOT_THERE if the dictionary lacks the text. */
uint32_t gbsi_dictionary_find(const gbsi_dictionary *d, const char *at, size_t n);
void gbsi_dictionary_free(gbsi_dictionary *d);

/* ---- model.c -------------------------------------------------------------------------------- */

#define GBSI_NO_WEIGHT UINT64_MAX

/* The score of labels y of a sequence is a sum over its tokens and links. Each feature f of a token
 * adds weight[unigram[f] + y_t] and, from the second token on, weight[bigram[f] + y_(t-1) L + y_t].
 * Each feature f of a link (u, v) adds weight[bigram[f] + y_u L + y_v] [M65]. */
struct gbs_crf {
    gbsi_templates templates;
    gbsi_dictionary labels;
    gbsi_dictionary features;
    uint64_t *unigram; /* [features.n] index of the feature's first weight of L, one for each label,
                          or GBSI_NO_WEIGHT */
    uint64_t *bigram;  /* [features.n] index of the feature's first weight of L * L, one for each
                          pair of labels of neighbours or links, or GBSI_NO_WEIGHT */
    size_t unigram_capacity, bigram_capacity;
    double *weight; /* [n_weights] weights of all features */
    uint64_t n_weights;
};

/* Assigns indices of weights to the features that have none yet, in their order. The weights
 * themselves are not set. */
gbs_status gbsi_crf_number_weights(gbs_crf *crf, gbs_error *err);

gbs_status gbsi_crf_read_crfpp(gbs_crf *crf, gbsi_text *text, gbs_error *err);
gbs_status gbsi_crf_read_wapiti(gbs_crf *crf, gbsi_text *text, gbs_error *err);

/* Memory that counts towards the limit of labelling and learning (learn/work.h). */

/* @return the approximate number of bytes of the sequences, for the memory limit. */
uint64_t gbsi_sequences_bytes(const gbs_sequences *sequences);
uint64_t gbsi_crf_bytes(const gbs_crf *crf);

#endif
