/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Segmentation of pictures into regions of known classes: the Markov field aspect model (Verbeek &
 * Triggs 2007) [M68]. Patches on a grid are described by words, which classes use at different
 * rates. Classes are learnt from pictures for which the user only lists the classes that they show.
 *
 *     gbs_aspects *aspects = NULL;
 *     gbs_image picture = {0};
 *     gbs_segment *segment = NULL;
 *     gbs_model *model = NULL;
 *     gbs_aspects_learn("training.txt", NULL, NULL, &aspects, NULL, &err);
 *     gbs_image_read("street.png", NULL, &picture, &err);
 *     gbs_segment_new(aspects, &picture, NULL, NULL, &segment, &err);
 *     gbs_segment_model(segment, &model, &err); // a variable for each patch: ask it anything
 *
 * Results have the same bits on any machine and any number of threads.
 *
 * Threads: different threads may use different objects at the same time. Several threads may use
 * one object only while no call changes it; a model that was learnt or read never changes.
 * Errors: if an id or index does not exist, or an object or output is NULL, calls that return a
 * status return GBS_ERR_ARGUMENT; other calls return 0, NULL or NAN, as stated. NULL options mean
 * the defaults.
 */
#ifndef GIBBSITE_SEGMENT_H
#define GIBBSITE_SEGMENT_H

#include "gibbsite/dobrushin.h"
#include "gibbsite/image.h"
#include "gibbsite/learn.h"
#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- classes ------------------------------------------------------------------------------- */

/** Learnt classes: the words, and how often each class uses each word. */
typedef struct gbs_aspects gbs_aspects;

/** largest number of classes; in label maps, 255 is the value of pixels without a class */
#define GBS_MAX_CLASSES 255u

/** A struct that is set to zero means the defaults. */
typedef struct gbs_aspect_options {
    size_t size;             /**< sizeof(gbs_aspect_options) */
    double time_s;           /**< fail after this many seconds; 0: no limit */
    uint64_t threads;        /**< number of threads, without effect on results; 0: all cores */
    uint64_t memory_limit;   /**< memory limit in bytes, program included; 0: half of the machine's
                                memory */
    uint64_t seed;           /**< seed of the random starts of the search for words */
    uint64_t side;           /**< side of a patch in pixels, 4 to 1024; 0: 20 */
    uint64_t step;           /**< pixels from one patch to the next, 1 to 1024; 0: side / 2 */
    uint64_t texture_words;  /**< largest number of texture words, up to 65536; 0: 200 */
    uint64_t color_words;    /**< largest number of colour words, up to 65536; 0: 50 */
    uint64_t position_cells; /**< number n, up to 256: the picture is cut into n rows and n columns
                                of cells, and each cell is a word for the patches in the cell. 0:
                                the place of a patch is not used */
    uint64_t iterations;     /**< largest number of iterations of EM; 0: 500 */
    double tolerance;        /**< EM has converged when an iteration adds less than this to the mean
                                log-likelihood of a patch; 0: 1e-6 */
    /** NULL, or called on the calling thread after each iteration of EM. @param point valid during
     *  the call; its objective is the mean log-likelihood of a patch before the iteration, gradient
     *  and held_out are NAN. */
    void (*point)(void *context, const gbs_learn_point *point);
    void *point_context; /**< first argument of point */
} gbs_aspect_options;

/** The results of learning. Logarithms are natural. */
typedef struct gbs_aspect_report {
    size_t size;         /**< in: sizeof(gbs_aspect_report), set by the caller */
    uint64_t n_pictures; /**< number of pictures read */
    uint64_t n_patches;  /**< number of patches in all pictures */
    uint64_t n_classes;  /**< number of classes named in the list */
    uint64_t
        n_words[3]; /**< numbers of texture words, of colour words, and of cells of the picture */
    uint64_t iterations;  /**< number of iterations of EM */
    uint64_t converged;   /**< 1 if EM converged, else 0 */
    double mean_log_like; /**< mean of ln P(words) over patches */
    double seconds;
} gbs_aspect_report;

/**
 * Learn classes from pictures.
 *
 * A line of the list has the path of a picture, relative to the folder of the list, and then the
 * classes that the picture shows, all separated by blanks. # begins a comment. EM finds which class
 * each patch shows (probabilistic latent semantic analysis: Hofmann 2001).
 *
 * @param path path of the list; the file may be compressed.
 * @param callbacks NULL; progress is called with pass = pictures read, then iterations done.
 * @param aspects   out, caller frees.
 * @param report    out or NULL.
 * @return GBS_ERR_FORMAT, with the line of the list, for a picture that cannot be read or is
 *         smaller than a patch, and if two classes occur in exactly the same pictures and therefore
 *         cannot be told apart; GBS_ERR_IO, GBS_ERR_STOPPED, GBS_ERR_LIMIT, GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_aspects_learn(const char *path,
                                                  const gbs_aspect_options *options,
                                                  const gbs_run_callbacks *callbacks,
                                                  gbs_aspects **aspects, gbs_aspect_report *report,
                                                  gbs_error *err);
/** Read classes from a file that gbs_aspects_write() wrote. @param aspects out, caller frees. */
GBS_API GBS_MUST_USE gbs_status gbs_aspects_read(const char *path, gbs_aspects **aspects,
                                                 gbs_error *err);
/** Read classes from memory. @param name used in messages in place of the file name. */
GBS_API GBS_MUST_USE gbs_status gbs_aspects_read_memory(const char *name, const void *bytes,
                                                        size_t n_bytes, gbs_aspects **aspects,
                                                        gbs_error *err);
/** Write classes as text, see gibbsite-formats(5). Reading the file gives classes with the same
 * bits.
 *  @param path see gbs_output_open(). */
GBS_API GBS_MUST_USE gbs_status gbs_aspects_write(const gbs_aspects *aspects, const char *path,
                                                  gbs_error *err);
GBS_API void gbs_aspects_free(gbs_aspects *aspects); /**< NULL is allowed */
GBS_API uint32_t gbs_aspects_n_classes(const gbs_aspects *aspects);
/** @return the name of a class, valid until the classes are freed. */
GBS_API const char *gbs_aspects_class_name(const gbs_aspects *aspects, uint32_t class_number);

/* ---- a picture ------------------------------------------------------------------------------ */

/** A picture cut into patches, with the words of every patch. Patches have the index row * columns
 * + column. */
typedef struct gbs_segment gbs_segment;

/** A struct that is set to zero means the defaults. */
typedef struct gbs_segment_options {
    size_t size;           /**< sizeof(gbs_segment_options) */
    double time_s;         /**< fail after this many seconds; 0: no limit */
    uint64_t threads;      /**< number of threads, without effect on results; 0: all cores */
    uint64_t memory_limit; /**< memory limit in bytes, program included; 0: half of the machine's
                              memory */
    double coupling;     /**< coupling, 0 to 100, that is added to the log-weight where neighbouring
                            patches have the same class; 0: each patch is classified alone */
    uint64_t neighbours; /**< number of neighbours of a patch: 4 or 8; 0: 4 */
} gbs_segment_options;

/** The coupling of Mitliagkas & Mackey (2017), section 5.5. */
#define GBS_SEGMENT_COUPLING 0.48

/**
 * Find the words of a picture and, by EM, the share of each class in the picture.
 *
 * @param aspects  borrowed until the result is freed.
 * @param callbacks NULL; progress is called with pass = patches done.
 * @param segment  out, caller frees.
 * @return GBS_ERR_ARGUMENT for a picture smaller than a patch; GBS_ERR_STOPPED, GBS_ERR_LIMIT,
 *         GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_segment_new(const gbs_aspects *aspects,
                                                const gbs_image *picture,
                                                const gbs_segment_options *options,
                                                const gbs_run_callbacks *callbacks,
                                                gbs_segment **segment, gbs_error *err);
GBS_API void gbs_segment_free(gbs_segment *segment);           /**< NULL is allowed */
GBS_API uint32_t gbs_segment_rows(const gbs_segment *segment); /**< number of rows of patches */
GBS_API uint32_t gbs_segment_columns(const gbs_segment *segment);
/** @return [classes] the share of each class in the picture, valid until the segment is freed. */
GBS_API const double *gbs_segment_shares(const gbs_segment *segment);
/** @return [rows * columns] the most probable class of each patch alone, without its neighbours;
 *          valid until the segment is freed. Chains may start from these classes. */
GBS_API const uint32_t *gbs_segment_alone(const gbs_segment *segment);

/** Make the factor graph of the patches: one variable for each patch, with the classes as its
 * states.
 *  @param model out, caller frees. */
GBS_API GBS_MUST_USE gbs_status gbs_segment_model(const gbs_segment *segment, gbs_model **model,
                                                  gbs_error *err);

/** A rectangle of patches. */
typedef struct gbs_rectangle {
    uint32_t row, column;   /**< row and column of the upper left patch of the rectangle */
    uint32_t rows, columns; /**< at least 1 */
} gbs_rectangle;

/**
 * Find a short scan for a rectangle of patches that is as good for the rectangle as one systematic
 * scan of the picture. After the short scan, the variation of the rectangle's patches must not be
 * larger than after the systematic scan (gbs_scan_optimise(), where `match` is the number of
 * patches). The scan depends on the coupling, but not on the pixels of the picture.
 *
 * @param stop     NULL, or a function that is called from time to time. @return nonzero to stop;
 * the scan found so far is returned with GBS_STOPPED.
 * @param sequence out, caller frees with gbs_free(). @param n out: length of the sequence. @param
 *         report out or NULL.
 * @return GBS_ERR_ARGUMENT for a rectangle outside the picture; GBS_ERR_UNSUPPORTED if no length is
 *         as good, for example if couplings are so strong that Dobrushin's condition fails.
 */
GBS_API GBS_MUST_USE gbs_status gbs_segment_scan(const gbs_segment *segment,
                                                 const gbs_rectangle *rectangle,
                                                 int (*stop)(void *context), void *context,
                                                 uint32_t **sequence, size_t *n,
                                                 gbs_scan_report *report, gbs_error *err);

/** Pictures of classes. */
typedef enum gbs_segment_picture {
    GBS_SEGMENT_MAP = 0, /**< a palette picture. The value of a pixel is the class of the patch with
                            the nearest centre */
    GBS_SEGMENT_OVERLAY = 1, /**< the picture in the colours of its classes, with the rectangle
                                  framed in white */
} gbs_segment_picture;

/** Draw classes. @param picture the picture that the segment was made from. @param label [rows *
 *  columns]. @param rectangle NULL for none. @param image out, freed by the caller. */
GBS_API GBS_MUST_USE gbs_status gbs_segment_draw(const gbs_segment *segment,
                                                 const gbs_image *picture, const uint32_t *label,
                                                 const gbs_rectangle *rectangle,
                                                 gbs_segment_picture what, gbs_image *image,
                                                 gbs_error *err);

/** Numbers of patches, by class. The true class of a patch is the class of most of its pixels. */
typedef struct gbs_segment_score {
    uint64_t n_patches; /**< number of patches whose true class is this class */
    uint64_t n_right;   /**< number of these patches to which the segmentation gives this class */
    /** number of patches with any true class to which the segmentation gives this class */
    uint64_t n_given;
} gbs_segment_score;

/**
 * Compare classes with a label map.
 *
 * @param truth a picture of the same size, grey or palette, whose pixel values are classes. Pixels
 *              with other values have no class. A patch in which pixels without a class are most
 *              frequent is left out.
 * @param rectangle NULL: the whole picture; otherwise only the patches in the rectangle are
 * compared.
 * @param score out: [classes + 1] scores of the classes; the last element is for all classes
 *         together.
 */
GBS_API GBS_MUST_USE gbs_status gbs_segment_compare(const gbs_segment *segment,
                                                    const gbs_image *truth, const uint32_t *label,
                                                    const gbs_rectangle *rectangle,
                                                    gbs_segment_score *score, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
