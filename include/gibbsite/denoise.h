/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Restoration of noisy pictures: a Markov random field gives the distribution of the true levels of
 * pixels given the noisy picture. Its parameters are estimated from the noisy picture alone, and
 * results are returned as pictures.
 *
 *     gbs_image noisy = {0};
 *     gbs_model *pixels = NULL;
 *     gbs_denoise_options how = {.size = sizeof how, .levels = 2, .noise_level = 0.1};
 *     how.coupling = 1.5;
 *     gbs_image_read("noisy.pbm", NULL, &noisy, &err);
 *     gbs_denoise_model(&noisy, &how, &pixels, &err);
 *
 * The model has a variable for each pixel, row * width + column, whose states are the levels 0 ..
 * levels - 1. Let y be the noisy picture and x the true picture (Herded Gibbs, section 4.3;
 * Parallel Gibbs, section 5):
 *
 * p(x | y) ~ prod over pixels p(y_i | x_i) * prod over neighbours exp(-coupling w d(x_i, x_j))
 *
 * where d is 1[x_i != x_j] or min((x_i - x_j)^2, truncation), and w is 1/sqrt 2 for diagonal
 * neighbours and 1 for all others. If the levels are written as spins -1 and +1 with weight exp(J
 * x_i x_j), the coupling is 2 J.
 *
 * Threads: different threads may use different objects at the same time.
 * Errors: for NULL in place of an object or output, calls return GBS_ERR_ARGUMENT.
 */
#ifndef GIBBSITE_DENOISE_H
#define GIBBSITE_DENOISE_H

#include "gibbsite/image.h"
#include "gibbsite/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gbs_denoise_options {
    size_t size;     /**< sizeof(gbs_denoise_options) */
    uint32_t levels; /**< number of levels of a pixel, 2 to 256; 0 means 2. A grey value g in 0 .. G
                          is level g (levels - 1) / G. In a bitmap, black is level 1 */
    int labels; /**< 1: the value of a pixel is the number of the pixel's level, as in palettes; the
                   noise is then GBS_NOISE_FLIP */
    gbs_noise noise;
    double noise_level; /**< flip noise: probability of a flip, above 0 and below 1 - 1/levels.
                           Gaussian noise: standard deviation, above 0, in units of the distance
                           between neighbouring levels */
    gbs_smoothing smoothing;
    double coupling;   /**< strength of the coupling, 0 to 100, in units of the log-weight */
    double truncation; /**< largest value of d(x_i, x_j) between neighbours; 0 means (levels - 1)^2,
                            so that no difference is truncated */
    uint32_t neighbours;                /**< number of neighbours of a pixel: 4 or 8; 0 means 4 */
    const gbs_run_callbacks *callbacks; /**< callbacks or NULL; gbs_denoise_model() calls progress
                                             after every 2^16 factors, and progress may stop the
                                             call */
    int keep_chains; /**< 1: gbs_denoise_limit() does not change the number of chains */
} gbs_denoise_options;

/**
 * Make the model of a noisy picture.
 *
 * @return GBS_ERR_ARGUMENT for options that are out of range, and for a colour picture with
 *         options.labels; GBS_ERR_STOPPED if progress stopped the call; GBS_ERR_LIMIT,
 *         GBS_ERR_MEMORY.
 */
GBS_API GBS_MUST_USE gbs_status gbs_denoise_model(const gbs_image *noisy,
                                                  const gbs_denoise_options *options,
                                                  gbs_model **model, gbs_error *err);

/**
 * Set the options of a run for a large picture (pixels times levels at least 2^20) so that the run
 * ends soon.
 *
 * - A picture that is at least 48 pixels wide and high is run without factors: method sample,
 *   lattice always, and 4 chains in place of the default of 16, unless keep_chains is set. A
 *   picture of two levels with flip noise and 4 neighbours is run with one bit for each pixel. Any
 *   other picture is run level by level, with averaged probabilities. Runs without factors do not
 * support some values of scan, draw, lattice, temper, least_chains and other options; with such
 * values gbs_denoise_limit() does not change the run in this way. For a picture that would be run
 * with bits, target_error has the same effect. - If sweeps, max_updates, time_s and target_error
 * are all unset, the run gets a limit: 2^33 updates times levels in all, but at least 32 sweeps (64
 * with one bit for each pixel, 16 if the run has factors). The run ends before this limit if the
 * standard errors meet the default target.
 *
 * An example is a picture of 512 x 512 pixels, of which one in ten is flipped. Probabilities
 * between 0.1 and 0.9 had a root mean square error of 0.019 after 64 sweeps of 4 chains with one
 * bit for each pixel. The error was 0.018 after 16 sweeps of 16 chains with factors. A run with
 * factors takes many times the memory. For 512 x 512 grey pixels of 8 levels with normal noise of
 * one level, 4 chains had an error of 0.043 after 32 sweeps, 0.031 after 64 and 0.023 after 128; 16
 * chains with factors had an error of 0.034 after 16 sweeps.
 */
GBS_API GBS_MUST_USE gbs_status gbs_denoise_limit(const gbs_image *noisy,
                                                  const gbs_denoise_options *options,
                                                  gbs_run_options *run, gbs_error *err);

/**
 * Make the run of a noisy picture: the run that gbs_run_new() makes of its model, or a run without
 * factors, which takes a small part of the memory of factors; see gbs_denoise_limit(). A run with
 * one bit for each pixel gives the same results, bit for bit, with and without factors. If the
 * option lattice is `always`, any other picture whose probabilities are averaged is run level by
 * level, with one byte for each pixel. The random draws of such a run differ from the draws of a
 * run with factors. In a large picture only some pixels, spread evenly, then have standard errors
 * (gbs_report.n_watched).
 *
 * @param run_options borrowed; NULL: the defaults.
 * @param model out: the model of the run, to be freed after the run. The model has no factors if
 *         the run does not need them. Such a model only serves to read the results of the run, and
 *         the run cannot write checkpoints.
 * @return the values of gbs_denoise_model() and gbs_run_new().
 */
GBS_API GBS_MUST_USE gbs_status gbs_denoise_run(const gbs_image *noisy,
                                                const gbs_denoise_options *options,
                                                const gbs_run_options *run_options,
                                                gbs_model **model, gbs_run **run, gbs_error *err);

/** Pictures that show the marginals. */
typedef enum gbs_denoise_picture {
    GBS_DENOISE_MODE =
        0, /**< the most probable level of each pixel, as a picture of the same kind as the noisy
              picture; if that picture is in colour, as a grey picture */
    GBS_DENOISE_MEAN = 1, /**< the mean level of each pixel, as 16-bit grey, in the shades of the
                               noisy picture; not available for labels */
    GBS_DENOISE_UNCERTAINTY =
        2, /**< the probability that the level in the picture of GBS_DENOISE_MODE is wrong, as
              16-bit grey: white is 1 - 1/levels */
} gbs_denoise_picture;

/** Draw a picture of marginals. @param p [height * width * levels], as gbs_run_marginals() gives
 * them.
 *  @param image out, freed by the caller, untouched on failure. */
GBS_API GBS_MUST_USE gbs_status gbs_denoise_draw(const gbs_image *noisy,
                                                 const gbs_denoise_options *options,
                                                 const double *p, gbs_denoise_picture what,
                                                 gbs_image *image, gbs_error *err);
/** Draw a picture of levels, of the same kind as the noisy picture. @param level [height * width]
 * the level of each pixel. */
GBS_API GBS_MUST_USE gbs_status gbs_denoise_draw_levels(const gbs_image *noisy,
                                                        const gbs_denoise_options *options,
                                                        const uint32_t *level, gbs_image *image,
                                                        gbs_error *err);

/** Differences of a noisy picture and of its restoration from the true picture. */
typedef struct gbs_denoise_errors {
    size_t size;         /**< in: sizeof(gbs_denoise_errors), set by the caller */
    double noisy_wrong;  /**< share of pixels whose rounded level in the noisy picture differs from
                              the truth */
    double wrong;        /**< share of pixels whose most probable level differs from the truth */
    double noisy_square; /**< mean squared difference between the unrounded levels of the noisy
                            picture and the true levels */
    double square;       /**< mean squared difference between the mean levels and the true levels:
                              the reconstruction error of Herded Gibbs. NAN for labels */
    double expected_wrong; /**< expected value of `wrong` under the marginals */
} gbs_denoise_errors;

/** Compare a noisy picture and its restoration with the true picture. @param truth a picture of the
 * same size, read in the same way as the noisy picture.
 *  @return GBS_ERR_ARGUMENT if the sizes differ, or if only one of the two pictures is a bitmap. */
GBS_API GBS_MUST_USE gbs_status gbs_denoise_compare(const gbs_image *truth, const gbs_image *noisy,
                                                    const gbs_denoise_options *options,
                                                    const double *p, gbs_denoise_errors *errors,
                                                    gbs_error *err);

/** The results of gbs_denoise_estimate(). */
typedef struct gbs_denoise_found {
    size_t size;        /**< in: sizeof(gbs_denoise_found), set by the caller */
    double noise_level; /**< estimated noise, or the value in the options if the noise was not
                             estimated */
    double noise_error; /**< Monte Carlo standard error of noise_level; 0 if noise_level was not
                           estimated */
    double coupling;    /**< estimated coupling, or the value in the options if the coupling was not
                             estimated */
    double coupling_error;
    uint32_t width,
        height; /**< width and height of the part of the picture that the estimate used */
    uint32_t iterations;
    double neighbour_noise; /**< Gaussian noise: an estimate of the standard deviation from the
                               median difference of neighbours, right if most neighbours have the
                               same level. Flip noise: 0. If this value is much larger than
                               noise_level, the estimate mistook noise for a part of the picture */
} gbs_denoise_found;

/**
 * Estimate parameters from the noisy picture alone, by stochastic expectation-maximisation. Each
 * iteration draws pictures given the parameters, then sets the noise to the value that maximises
 * the likelihood of these pictures and the coupling to the value that maximises their
 * pseudo-likelihood (Besag 1975). The answer is the mean over the second half of the iterations.
 * The coupling is searched for between 0 and 3. With couplings above 3, pictures have one level
 * nearly everywhere. For a large picture only a part in the middle is used. This part has at most
 * 2^16 pixels, and its number of pixels times levels is at most 2^19. The standard errors measure
 * how far repeated runs of this algorithm differ. They do not include the larger uncertainty of an
 * estimate from a small picture.
 *
 * @param options   initial values of the parameters that are estimated, and values of all other
 * parameters.
 * @param callbacks NULL, or callbacks. Only progress is called, ten times a second, with pass =
 *         iterations done.
 * @return GBS_ERR_STOPPED if callbacks->progress stopped the call.
 */
GBS_API GBS_MUST_USE gbs_status gbs_denoise_estimate(const gbs_image *noisy,
                                                     const gbs_denoise_options *options, int noise,
                                                     int coupling, uint64_t seed, uint32_t threads,
                                                     const gbs_run_callbacks *callbacks,
                                                     gbs_denoise_found *found, gbs_error *err);

/**
 * Find which kind of noise a picture shows. A picture shows flip noise in two cases: no two of its
 * values have the same nearest level, or 99 % of its pixels are within 0.15 of a level. (Normal
 * noise as small as this would change no level.) Any other picture shows normal noise.
 *
 * Labels, bitmaps and palettes always show flips. Any other picture with more than 4 levels always
 * shows normal noise if neighbouring levels are less than 4 values apart.
 *
 * @param levels number of levels of the picture without noise; 0 means 2.
 */
GBS_API gbs_noise gbs_denoise_noise_of(const gbs_image *noisy, uint32_t levels, int labels);

/**
 * Count the pixels whose level the noisy picture decides: for any levels of the neighbours, all
 * levels of such a pixel except one have a probability below 1e-9. If all pixels are such pixels,
 * the model is frozen: the answer is the noisy picture, for any number of sweeps.
 * gbs_denoise_limit() then ends its run after 16 sweeps, and the verdict of a run of
 * gbs_denoise_run() says so.
 */
GBS_API GBS_MUST_USE gbs_status gbs_denoise_frozen(const gbs_image *noisy,
                                                   const gbs_denoise_options *options,
                                                   uint64_t *n_frozen, gbs_error *err);

#ifdef __cplusplus
}
#endif
#endif
