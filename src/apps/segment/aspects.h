/* SPDX-License-Identifier: Apache-2.0 */
/* Classes, and the words of patches of each class [M68]. */
#ifndef GBSI_SEGMENT_ASPECTS_H
#define GBSI_SEGMENT_ASPECTS_H

#include "gibbsite/segment.h"
#include "learn/work.h"
#include "segment/patches.h"
#include "text/lines.h"

/* ---- vocabulary.c --------------------------------------------------------------------------- */

/* A vocabulary: the word of a descriptor is the nearest of a few centres, which k-means finds. */
typedef struct gbsi_vocabulary {
    uint32_t n;
    uint32_t width; /* number of values of a centre, a multiple of 8 */
    float *centre;  /* [n][width] centres */
} gbsi_vocabulary;

/* @return the nearest centre; among equal distances the first centre. */
uint32_t gbsi_vocabulary_word(const gbsi_vocabulary *v, const float *point);

/* Finds v->n centres, or fewer if there are fewer different points. The function allocates the
 * centres, and the caller frees them. @param point [n_points][v->width]. @param stream number of
 * the stream of random numbers, one for each vocabulary. @return GBS_ERR_STOPPED if the work was
 * stopped. */
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
    uint32_t cells; /* cells along a side of the picture; n_words[GBSI_WORD_PLACE] is cells^2 */
    gbsi_vocabulary texture, color; /* vocabularies of texture and of colour, whose descriptors have
                                       GBSI_TEXTURE and GBSI_COLOR numbers */
    uint32_t n_words[GBSI_WORD_KINDS];
    uint32_t n_classes;
    char **name;                   /* [n_classes] names */
    double *beta[GBSI_WORD_KINDS]; /* [n_words][n_classes] P(word | class); NULL: words of this kind
                                      are not used */
};

/* Finds the words of a patch. @param word [GBSI_WORD_KINDS] out. */
void gbsi_aspects_words(const gbs_aspects *aspects, const gbsi_view *view, const gbsi_grid *grid,
                        size_t patch, uint32_t *word);
/* @return the number of operations for a patch, which watches count. */
uint64_t gbsi_aspects_work(const gbs_aspects *aspects);

/* Computes P(words, class) for each class, given the shares of the classes: the terms of equation 1
 * of Verbeek & Triggs (2007). @param p [n_classes] out. @return the sum of p. */
double gbsi_aspects_joint(const gbs_aspects *aspects, const uint32_t *word, const double *share,
                          double *p);

/* Makes one iteration of EM for the shares of one picture; the probabilities of words stay fixed.
 * @param word [n][GBSI_WORD_KINDS]. @param counts [n_classes] out: expected number of patches of
 * each class. @param beta NULL, or arrays like aspects->beta, to which the counts of each word are
 * added. @return ln P(words) of all patches. */
double gbsi_aspects_expect(const gbs_aspects *aspects, const uint32_t *word, size_t n,
                           const double *share, double *counts, double *const *beta);
/* Computes shares from counts. Only allowed classes have a share. @param allowed NULL: all classes
 * are allowed. */
void gbsi_aspects_shares(const double *counts, const uint8_t *allowed, uint32_t n_classes,
                         double *share);

/* Allocates the array beta of one kind of words. @return NULL if memory is short, or words of this
 * kind are not used. */
double *gbsi_aspects_beta(const gbs_aspects *aspects, int kind);

/* ---- training.c ----------------------------------------------------------------------------- */

/* A list of pictures and the classes that each shows. */
typedef struct gbsi_training_picture {
    const char *line; /* position in the list file, for messages */
    char *path;       /* path of the picture, owned */
    size_t first;     /* number of the picture's first patch */
    size_t n;
} gbsi_training_picture;

typedef struct gbsi_training {
    gbsi_input input;
    gbsi_text text;
    size_t n_pictures, picture_capacity;
    gbsi_training_picture *picture;
    uint32_t n_classes;
    gbsi_token *place; /* [n_classes] place in the list file where each class is named first */
    size_t name_capacity, place_capacity;
    char **name;    /* [n_classes] names, in the order of first occurrence */
    uint8_t *shown; /* [n_pictures][n_classes] whether the picture shows the class, 0 or 1 */
} gbsi_training;

/* Reads a list, and refuses a list from which classes cannot be learnt. Call gbsi_training_free()
 * even after a failure. */
gbs_status gbsi_training_read(const char *path, gbsi_training *training, gbs_error *err);
void gbsi_training_free(gbsi_training *training);

/* ---- segment.c ------------------------------------------------------------------------------ */

/* A picture cut into patches, with the words of every patch. */
struct gbs_segment {
    const gbs_aspects *aspects; /* the classes, borrowed */
    gbsi_grid grid;
    uint32_t width, height; /* size of the picture */
    double coupling;
    uint32_t neighbours;
    uint32_t *word;  /* [patches][GBSI_WORD_KINDS] words of each patch */
    double *share;   /* [n_classes] shares */
    uint32_t *alone; /* [patches] most probable class of the patch alone, without neighbours */
};

static inline size_t gbsi_segment_n(const gbs_segment *s)
{
    return (size_t)s->grid.rows * s->grid.columns;
}

/* Checks that a rectangle lies in the picture. @param rectangle NULL: the whole picture. */
gbs_status gbsi_rectangle_check(const gbs_segment *segment, const gbs_rectangle *rectangle,
                                gbs_error *err);
/* @return whether a patch lies in a rectangle; NULL: the whole picture. */
bool gbsi_rectangle_has(const gbs_segment *segment, const gbs_rectangle *rectangle, size_t patch);

#endif
