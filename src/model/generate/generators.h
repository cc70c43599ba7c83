/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the generators share: numbers that depend on (seed, stream, index) alone, grids,
 * and spins on a graph of any kind. */
#ifndef GBSI_GENERATE_GENERATORS_H
#define GBSI_GENERATE_GENERATORS_H

#include <stdbool.h>

#include "gibbsite/generate.h"

/* Numbers of the streams of random numbers, one per use, so that the draws of one use never depend
 * on another. Numbers are part of what a seed means and never change. */
typedef enum gbsi_generate_stream {
    GBSI_STREAM_COUPLING = 0, /* grids: index 3 variable + direction; else the coupling's number */
    GBSI_STREAM_FIELD = 1,    /* index variable */
    GBSI_STREAM_PATCH = 2,    /* index 4 patch + number */
    GBSI_STREAM_NOISE = 3,    /* index 6 variable + pair */
    GBSI_STREAM_ARITY = 4,    /* index variable */
    GBSI_STREAM_PARENTS = 5,  /* index (2 max + 3) variable + number */
    GBSI_STREAM_TABLE = 6,    /* index entry, counted through all tables */
    GBSI_STREAM_PAIRING = 7,  /* index half-edge */
    GBSI_STREAM_SWITCH = 8,   /* index switch, counted through */
    GBSI_STREAM_ATTACH = 9,   /* index attempt, counted through */
} gbsi_generate_stream;

/* Two uniforms in [0, 1) of an index. */
void gbsi_generate_uniforms(uint64_t seed, gbsi_generate_stream stream, uint64_t index,
                            double u[2]);

/* The next variable in direction d of a grid whose sides have those lengths, the first direction
 * fastest. @return false at the end of an open side. A torus closes a side of three places or more:
 * with one or two that edge would be a loop or the same edge again. */
bool gbsi_generate_neighbour(const uint32_t length[3], bool torus, uint32_t v, unsigned d,
                             uint32_t *neighbour);

/* Add n variables of one arity. */
gbs_status gbsi_generate_variables(gbs_builder *builder, uint32_t n, uint32_t arity,
                                   gbs_error *err);

/* ---- spins on a graph -------------------------------------------------------------------- */

/* Parameters of all spin models: J_ij uniform in coupling -+ coupling_spread, h_i uniform in field
 * -+ random_field. */
typedef struct gbsi_generate_spins {
    uint32_t size[3]; /* size of the graph, whose meaning depends on its kind */
    bool torus;
    double coupling, coupling_spread, field, random_field;
    uint64_t seed;
} gbsi_generate_spins;

/* Makes these parameters from the options of any kind of graph, which have fields of the same
 * names; further initialisers follow. */
#define GBSI_SPINS(options, ...)                                                 \
    (&(const gbsi_generate_spins){.coupling = (options)->coupling,               \
                                  .coupling_spread = (options)->coupling_spread, \
                                  .field = (options)->field,                     \
                                  .random_field = (options)->random_field,       \
                                  .seed = (options)->seed,                       \
                                  __VA_ARGS__})

typedef struct gbsi_generate_size {
    char what[80]; /* "ring of 5 variables", for messages */
    uint64_t n_variables, n_couplings;
} gbsi_generate_size;

/* A kind of graph. */
typedef struct gbsi_generate_graph {
    /* Fills size, and refuses sizes that make no graph. */
    gbs_status (*measure)(const gbsi_generate_spins *spins, gbsi_generate_size *size,
                          gbs_error *err);
    /* Adds the couplings by gbsi_generate_couple(), each pair once. */
    gbs_status (*couple)(const gbsi_generate_spins *spins, gbs_builder *builder, gbs_error *err);
} gbsi_generate_graph;

/* Refuses numbers that are not finite. */
gbs_status gbsi_generate_check_ranges(const gbsi_generate_spins *spins, gbs_error *err);
/* The `measure` of grids of columns, rows and layers. */
gbs_status gbsi_generate_measure_grid(const gbsi_generate_spins *spins, gbsi_generate_size *size,
                                      gbs_error *err);

/* @param index number of the coupling in its stream. */
double gbsi_generate_coupling(const gbsi_generate_spins *spins, uint64_t index);
double gbsi_generate_field(const gbsi_generate_spins *spins, uint32_t v);
gbs_status gbsi_generate_couple(const gbsi_generate_spins *spins, gbs_builder *builder,
                                uint64_t index, uint32_t a, uint32_t b, gbs_error *err);

/* The model. Refuses numbers that are not finite, more variables than can be numbered, and a model
 * that this machine could not hold. */
gbs_status gbsi_generate_on(const gbsi_generate_graph *graph, const gbsi_generate_spins *spins,
                            gbs_model **model, gbs_error *err);

/* ---- a noisy picture ----------------------------------------------------------------------- */

#define GBSI_MOST_PATCHES 64u

/* A box, or the ellipsoid in it; columns, rows, layers. */
typedef struct gbsi_generate_patch {
    double centre[3], half[3]; /* pixels: the centre, half of each side */
    uint32_t from[3], to[3];   /* pixels that may be in it */
    bool round;
    uint16_t level;
} gbsi_generate_patch;

/* Rectangular patches placed over each other, on a background of level 0. */
typedef struct gbsi_generate_picture {
    gbs_generate_potts_options options;
    uint32_t size[3]; /* columns, rows, layers */
    uint32_t n_variables;
    uint32_t n_patches;
    gbsi_generate_patch patch[GBSI_MOST_PATCHES]; /* a later one over those before */
} gbsi_generate_picture;

/* Refuses what gbs_generate_potts() refuses, but not models larger than memory. */
gbs_status gbsi_generate_picture_init(gbsi_generate_picture *picture,
                                      const gbs_generate_potts_options *options, gbs_error *err);
/* Data term of pixel v, which is seen as y:  -(y - k)^2 / (2 noise^2)  for k = 0 .. states - 1.
 * @param logw [states] out. */
void gbsi_generate_data_term(const gbsi_generate_picture *picture, uint32_t v, double *logw);

#endif
