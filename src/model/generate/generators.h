/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the generators share: numbers that depend on (seed, stream, index) alone, grids,
 * and spins on a graph of any kind. */
#ifndef GBSI_GENERATE_GENERATORS_H
#define GBSI_GENERATE_GENERATORS_H

#include <stdbool.h>

#include "gibbsite/generate.h"

/* Numbers of the streams of random numbers. Each use of random numbers has its own stream, and
 * therefore draws that are independent of all other uses. The stream numbers must never change,
 * because they determine the model that a seed gives. */
typedef enum gbsi_generate_stream {
    /* index: 3 variable + direction for grids, number of the coupling for other graphs */
    GBSI_STREAM_COUPLING = 0,
    GBSI_STREAM_FIELD = 1, /* index: variable */
    GBSI_STREAM_PATCH = 2, /* index: 4 patch + number */
    GBSI_STREAM_NOISE = 3, /* index: 6 variable + pair */
    GBSI_STREAM_ARITY = 4, /* index: variable */
    GBSI_STREAM_PARENTS =
        5, /* index: (2 max + 3) variable + number of the draw, where max is the option `parents` */
    GBSI_STREAM_TABLE = 6,   /* index: number of the entry, counted over all tables */
    GBSI_STREAM_PAIRING = 7, /* index: half-edge */
    GBSI_STREAM_SWITCH = 8,  /* index: number of the switch, counted over the whole graph */
    GBSI_STREAM_ATTACH = 9,  /* index: number of the attempt, counted over the whole graph */
} gbsi_generate_stream;

/* Computes the two uniform numbers in [0, 1) that belong to an index of a stream. */
void gbsi_generate_uniforms(uint64_t seed, gbsi_generate_stream stream, uint64_t index,
                            double u[2]);

/* Finds the neighbour of a variable that comes next in direction d of a grid. The sides of the grid
 * have the given lengths, and the coordinate of the first direction moves fastest. @return false at
 * the end of an open side. In a torus only sides of three places or more are closed: on a shorter
 * side the closing edge would be a loop or a repeated edge. */
bool gbsi_generate_neighbour(const uint32_t length[3], bool torus, uint32_t v, unsigned d,
                             uint32_t *neighbour);

/* Adds n variables that all have the given arity. */
gbs_status gbsi_generate_variables(gbs_builder *builder, uint32_t n, uint32_t arity,
                                   gbs_error *err);

/* ---- spins on a graph -------------------------------------------------------------------- */

/* Parameters of all spin models: J_ij uniform in coupling -+ coupling_spread, h_i uniform in field
 * -+ random_field. */
typedef struct gbsi_generate_spins {
    uint32_t size[3]; /* three numbers that give the size of the graph; each kind of graph defines
                         their meaning */
    bool torus;
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbsi_generate_spins;

/* Initialises these parameters from the options of any kind of graph, whose fields have the same
 * names. The arguments after the options are further initialisers. */
#define GBSI_SPINS(options, ...)                                                 \
    (&(const gbsi_generate_spins){.coupling = (options)->coupling,               \
                                  .coupling_spread = (options)->coupling_spread, \
                                  .field = (options)->field,                     \
                                  .random_field = (options)->random_field,       \
                                  .seed = (options)->seed,                       \
                                  __VA_ARGS__})

typedef struct gbsi_generate_size {
    char what[80]; /* description for messages, such as "ring of 5 variables" */
    uint64_t n_variables, n_couplings;
} gbsi_generate_size;

/* A kind of graph: the functions that make such a graph. */
typedef struct gbsi_generate_graph {
    /* Fills size, and refuses sizes for which there is no graph. */
    gbs_status (*measure)(const gbsi_generate_spins *spins, gbsi_generate_size *size,
                          gbs_error *err);
    /* Adds the couplings by gbsi_generate_couple(), each pair of variables once. */
    gbs_status (*couple)(const gbsi_generate_spins *spins, gbs_builder *builder, gbs_error *err);
} gbsi_generate_graph;

/* Refuses parameters that are not finite. */
gbs_status gbsi_generate_check_ranges(const gbsi_generate_spins *spins, gbs_error *err);
/* The function `measure` for grids of columns, rows and layers. */
gbs_status gbsi_generate_measure_grid(const gbsi_generate_spins *spins, gbsi_generate_size *size,
                                      gbs_error *err);

/* @param index number of the coupling in its stream. */
double gbsi_generate_coupling(const gbsi_generate_spins *spins, uint64_t index);
double gbsi_generate_field(const gbsi_generate_spins *spins, uint32_t v);
gbs_status gbsi_generate_couple(const gbsi_generate_spins *spins, gbs_builder *builder,
                                uint64_t index, uint32_t a, uint32_t b, gbs_error *err);

/* Builds the model. Refuses parameters that are not finite, more variables than can be numbered,
 * and a model that is larger than this machine's memory. */
gbs_status gbsi_generate_on(const gbsi_generate_graph *graph, const gbsi_generate_spins *spins,
                            gbs_model **model, gbs_error *err);

/* ---- a noisy picture ----------------------------------------------------------------------- */

#define GBSI_MOST_PATCHES 64u

/* A box, or the ellipsoid inscribed in it; dimensions are columns, rows and layers. */
typedef struct gbsi_generate_patch {
    double centre[3], half[3]; /* in pixels: the centre, and half of each side */
    uint32_t from[3], to[3]; /* range of the pixels that may be in the patch, for each dimension */
    bool round;
    uint16_t level;
} gbsi_generate_patch;

/* Rectangular patches placed over each other, on a background of level 0. */
typedef struct gbsi_generate_picture {
    gbs_generate_potts_options options;
    uint32_t size[3]; /* numbers of columns, rows and layers */
    uint32_t n_variables;
    uint32_t n_patches;
    gbsi_generate_patch patch[GBSI_MOST_PATCHES]; /* patches; each covers the patches before it */
} gbsi_generate_picture;

/* Refuses the options that gbs_generate_potts() refuses, except models larger than memory. */
gbs_status gbsi_generate_picture_init(gbsi_generate_picture *picture,
                                      const gbs_generate_potts_options *options, gbs_error *err);
/* Computes the data term of pixel v, whose observed level is y: -(y - k)^2 / (2 noise^2) for k = 0
 * .. states - 1.
 * @param logw [states] out. */
void gbsi_generate_data_term(const gbsi_generate_picture *picture, uint32_t v, double *logw);

#endif
