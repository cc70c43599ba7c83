/* SPDX-License-Identifier: Apache-2.0 */
/* Classes and the words that patches of them show [M68]. */
#ifndef GBSI_SEGMENT_ASPECTS_H
#define GBSI_SEGMENT_ASPECTS_H

#include "gibbsite/segment.h"
#include "segment/patches.h"
#include "segment/vocabulary.h"

enum {
    GBSI_WORD_TEXTURE = 0,
    GBSI_WORD_COLOR = 1,
    GBSI_WORD_PLACE = 2,
    GBSI_WORD_KINDS = 3,
};

struct gbs_aspects {
    uint32_t side, step;
    uint32_t cells;                 /* n_words[GBSI_WORD_PLACE] is its square */
    gbsi_vocabulary texture, color; /* of GBSI_TEXTURE and GBSI_COLOR numbers */
    uint32_t n_words[GBSI_WORD_KINDS];
    uint32_t n_classes;
    char **name;                   /* [n_classes] */
    double *beta[GBSI_WORD_KINDS]; /* [n_words][n_classes] P(word | class); NULL: no such words */
};

/* The words of a patch. @param word [GBSI_WORD_KINDS] out. */
void gbsi_aspects_words(const gbs_aspects *aspects, const gbsi_view *view, const gbsi_grid *grid,
                        size_t patch, uint32_t *word);
/* The operations of a pass over the patches, for watches. */
uint64_t gbsi_aspects_work(const gbs_aspects *aspects);

/* P(words, class) for each class, where the classes have these shares: the terms of equation 1 of
 * Verbeek & Triggs (2007). @param p [n_classes] out. @return their sum. */
double gbsi_aspects_joint(const gbs_aspects *aspects, const uint32_t *word, const double *share,
                          double *p);

/* An iteration of EM for the shares of one picture, with the classes' words as they are.
 * @param word [n][GBSI_WORD_KINDS]. @param counts [n_classes] out: patches of each class.
 * @param beta NULL, or sums of counts by word, of the form of aspects->beta, that grow.
 * @return ln P(words) of all patches. */
double gbsi_aspects_expect(const gbs_aspects *aspects, const uint32_t *word, size_t n,
                           const double *share, double *counts, double *const *beta);
/* The shares that counts make, of the classes that are allowed (NULL: of all). */
void gbsi_aspects_shares(const double *counts, const uint8_t *allowed, uint32_t n_classes,
                         double *share);

/* An array for beta of one kind of words. NULL: out of memory, or no words. */
double *gbsi_aspects_beta(const gbs_aspects *aspects, int kind);

#endif
