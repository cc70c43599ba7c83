/* SPDX-License-Identifier: Apache-2.0 */
/* Words of descriptors: the nearest of a few centres, found by k-means. */
#ifndef GBSI_SEGMENT_VOCABULARY_H
#define GBSI_SEGMENT_VOCABULARY_H

#include "learn/work.h"

typedef struct gbsi_vocabulary {
    uint32_t n;
    uint32_t width; /* a multiple of 8 */
    float *centre;  /* [n][width] */
} gbsi_vocabulary;

/* The nearest centre, the first of equals. */
uint32_t gbsi_vocabulary_word(const gbsi_vocabulary *v, const float *point);

/* At most v->n centres (fewer where there are fewer different points), which it allocates and the
 * caller frees. @param point [n_points][v->width]. @param stream separates the random numbers of
 * vocabularies. @return GBS_ERR_STOPPED if work was stopped. */
gbs_status gbsi_vocabulary_learn(gbsi_work *work, const float *point, size_t n_points,
                                 uint64_t seed, uint32_t stream, gbsi_vocabulary *v,
                                 gbs_error *err);

#endif
