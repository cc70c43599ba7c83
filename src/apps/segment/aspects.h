/* SPDX-License-Identifier: Apache-2.0 */
/* Classes and the words that patches of them show [M68]. */
#ifndef GBSI_SEGMENT_ASPECTS_H
#define GBSI_SEGMENT_ASPECTS_H

#include "gibbsite/segment.h"
#include "learn/work.h"
#include "segment/patches.h"
#include "text/lines.h"

/* ---- vocabulary.c --------------------------------------------------------------------------- */

/* Words of descriptors: the nearest of a few centres, found by k-means. */
typedef struct gbsi_vocabulary {
    uint32_t n;
    uint32_t width; /* a multiple of 8 */
    float *centre;  /* [n][width] */
} gbsi_vocabulary;

/* The nearest centre, the first of equals. */
uint32_t gbsi_vocabulary_word(const gbsi_vocabulary *v, const float *point);

/* Finds at most v->n centres (fewer if there are fewer different points), which it allocates and
 * the caller frees. @param point [n_points][v->width]. @param stream separates the random numbers
 * of vocabularies. @return GBS_ERR_STOPPED if work was stopped. */
gbs_status gbsi_vocabulary_learn(gbsi_work *work, const float *point, size_t n_points,
                                 uint64_t seed, uint32_t stream, gbsi_vocabulary *v,
                                 gbs_error *err);

/* ---- aspects.c ------------------------------------------------------------------------------ */

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
/* The number of operations of a pass over the patches, which watches count. */
uint64_t gbsi_aspects_work(const gbs_aspects *aspects);

/* P(words, class) for each class, where the classes have these shares: the terms of equation 1 of
 * Verbeek & Triggs (2007). @param p [n_classes] out. @return their sum. */
double gbsi_aspects_joint(const gbs_aspects *aspects, const uint32_t *word, const double *share,
                          double *p);

/* One iteration of EM for the shares of one picture; the word probabilities stay fixed.
 * @param word [n][GBSI_WORD_KINDS]. @param counts [n_classes] out: patches of each class.
 * @param beta NULL, or arrays like aspects->beta, to which the counts of each word are added.
 * @return ln P(words) of all patches. */
double gbsi_aspects_expect(const gbs_aspects *aspects, const uint32_t *word, size_t n,
                           const double *share, double *counts, double *const *beta);
/* Computes shares from counts. Only allowed classes have one. @param allowed NULL: all are. */
void gbsi_aspects_shares(const double *counts, const uint8_t *allowed, uint32_t n_classes,
                         double *share);

/* An array for beta of one kind of words. NULL: out of memory, or no words. */
double *gbsi_aspects_beta(const gbs_aspects *aspects, int kind);

/* ---- training.c ----------------------------------------------------------------------------- */

/* A list of pictures and the classes that each shows. */
typedef struct gbsi_training_picture {
    const char *line; /* position in the list file, for messages */
    char *path;       /* owned */
    size_t first;     /* of its patches */
    size_t n;
} gbsi_training_picture;

typedef struct gbsi_training {
    gbsi_input input;
    gbsi_text text;
    size_t n_pictures, picture_capacity;
    gbsi_training_picture *picture;
    uint32_t n_classes;
    gbsi_token *place; /* [n_classes] place where each class is named first */
    size_t name_capacity, place_capacity;
    char **name;    /* [n_classes], in the order in which they come */
    uint8_t *shown; /* [n_pictures][n_classes] 0 or 1 */
} gbsi_training;

/* Read the list, and refuse one that cannot be learnt from. Free it in either case. */
gbs_status gbsi_training_read(const char *path, gbsi_training *training, gbs_error *err);
void gbsi_training_free(gbsi_training *training);

/* ---- segment.c ------------------------------------------------------------------------------ */

/* A picture cut into patches, with the words of every patch. */
struct gbs_segment {
    const gbs_aspects *aspects; /* borrowed */
    gbsi_grid grid;
    uint32_t width, height; /* of the picture */
    double coupling;
    uint32_t neighbours;
    uint32_t *word;  /* [patches][GBSI_WORD_KINDS] */
    double *share;   /* [n_classes] */
    uint32_t *alone; /* [patches] the most probable class without neighbours */
};

static inline size_t gbsi_segment_n(const gbs_segment *s)
{
    return (size_t)s->grid.rows * s->grid.columns;
}

/* Whether a rectangle (NULL: all) lies in the picture. */
gbs_status gbsi_rectangle_check(const gbs_segment *segment, const gbs_rectangle *rectangle,
                                gbs_error *err);
/* Whether a patch lies in a rectangle (NULL: all). */
bool gbsi_rectangle_has(const gbs_segment *segment, const gbs_rectangle *rectangle, size_t patch);

#endif
