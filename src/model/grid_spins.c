/* SPDX-License-Identifier: Apache-2.0 */
#include "model/grid_spins.h"

#include <math.h>
#include <string.h>

#include "base/digest.h"
#include "base/sized.h"
#include "model/model_digest.h"

enum { CHUNK = 512 };

gbs_status gbsi_grid_spins_init(gbsi_grid_spins *grid, const gbs_generate_ising_options *options,
                                gbs_error *err)
{
    GBSI_IN_STRUCT(options, gbs_generate_ising_options);
    gbs_status status = GBS_OK;
    gbsi_generate_size size;
    const gbsi_generate_spins *spins =
        GBSI_SPINS(options, .size = {options->side[1], options->side[0], options->side[2]},
                   .torus = options->torus != 0);
    GBSI_TRY(gbsi_generate_measure_grid(spins, &size, err));
    GBSI_TRY(gbsi_generate_check_ranges(spins, err));
    const bool fields = spins->field != 0.0 || spins->random_field != 0.0;
    *grid = (gbsi_grid_spins){.spins = *spins,
                              .n_variables = (uint32_t)size.n_variables,
                              .n_couplings = size.n_couplings,
                              .n_factors = size.n_couplings + (fields ? size.n_variables : 0)};
cleanup:
    return status;
}

double gbsi_grid_coupling(const gbsi_grid_spins *grid, uint32_t v, unsigned d)
{
    return gbsi_generate_coupling(&grid->spins, 3 * (uint64_t)v + d);
}

double gbsi_grid_field(const gbsi_grid_spins *grid, uint32_t v)
{
    return gbsi_generate_field(&grid->spins, v);
}

/* Variables below v that have a next one in direction d: all but the last of each open line. */
static uint64_t count_before(const gbsi_grid_spins *grid, uint64_t v, unsigned d)
{
    const uint32_t *side = grid->spins.size;
    const uint64_t step = d == 0 ? 1 : d == 1 ? side[0] : (uint64_t)side[0] * side[1];
    const uint64_t lines = step * side[d];
    const uint64_t rest = v % lines;
    const uint64_t first_last = lines - step;
    const uint64_t n_last = v / lines * step + (rest > first_last ? rest - first_last : 0);
    return grid->spins.torus && side[d] > 2 ? v : v - n_last;
}

uint64_t gbsi_grid_coupling_number(const gbsi_grid_spins *grid, uint32_t v, unsigned d)
{
    uint64_t n = 0;
    for (unsigned e = 0; e < 3; ++e) {
        n += count_before(grid, v + (uint64_t)(e < d), e);
    }
    return n;
}

/* ---- all factors one after the other ------------------------------------------------------- */

/* Numbers on their way to a digest. */
typedef struct feeding {
    gbsi_digest *digest;
    uint32_t word[CHUNK];
    double weight[CHUNK];
    size_t n_words, n_weights;
} feeding;

static void end_words(feeding *f)
{
    gbsi_digest_u32(f->digest, f->word, f->n_words);
    f->n_words = 0;
}

static void feed_word(feeding *f, uint32_t word)
{
    f->word[f->n_words++] = word;
    if (f->n_words == CHUNK) {
        end_words(f);
    }
}

static void feed_words(feeding *f, uint32_t word, uint64_t n)
{
    for (uint64_t i = 0; i < n; ++i) {
        feed_word(f, word);
    }
    end_words(f);
}

static void end_weights(feeding *f)
{
    gbsi_digest_f64(f->digest, f->weight, f->n_weights);
    f->n_weights = 0;
}

static void feed_weight(feeding *f, double weight, gbsi_grid_walk *walk)
{
    walk->largest = fabs(weight) > walk->largest ? fabs(weight) : walk->largest;
    f->weight[f->n_weights++] = weight;
    if (f->n_weights == CHUNK) {
        end_weights(f);
    }
}

static void feed_kinds(feeding *f, uint8_t kind, uint64_t n)
{
    uint8_t byte[CHUNK];
    memset(byte, kind, sizeof byte);
    for (uint64_t done = 0; done < n; done += CHUNK) {
        gbsi_digest_u8(f->digest, byte, n - done < CHUNK ? (size_t)(n - done) : CHUNK);
    }
}

static void feed_scopes(feeding *f, const gbsi_grid_spins *grid)
{
    const gbsi_generate_spins *s = &grid->spins;
    for (uint32_t v = 0; v < grid->n_variables; ++v) {
        for (unsigned d = 0; d < 3; ++d) {
            uint32_t next = 0;
            if (gbsi_generate_neighbour(s->size, s->torus, v, d, &next)) {
                feed_word(f, v);
                feed_word(f, next);
            }
        }
    }
    for (uint32_t v = 0; grid->n_factors > grid->n_couplings && v < grid->n_variables; ++v) {
        feed_word(f, v);
    }
    end_words(f);
}

static void feed_weights(feeding *f, const gbsi_grid_spins *grid, gbsi_grid_walk *walk)
{
    const gbsi_generate_spins *s = &grid->spins;
    double first = NAN;
    for (uint32_t v = 0; v < grid->n_variables; ++v) {
        double coupling[3] = {NAN, NAN, NAN};
        for (unsigned d = 0; d < 3; ++d) {
            uint32_t next = 0;
            if (gbsi_generate_neighbour(s->size, s->torus, v, d, &next)) {
                coupling[d] = gbsi_grid_coupling(grid, v, d);
                first = isnan(first) ? coupling[d] : first;
                walk->alike &= coupling[d] == first;
                feed_weight(f, coupling[d], walk);
            }
        }
        walk->n_mixed += !isnan(coupling[0]) && !isnan(coupling[1]) && coupling[0] != coupling[1];
    }
    for (uint32_t v = 0; grid->n_factors > grid->n_couplings && v < grid->n_variables; ++v) {
        feed_weight(f, gbsi_grid_field(grid, v), walk);
    }
    end_weights(f);
}

gbs_status gbsi_grid_spins_walk(const gbsi_grid_spins *grid, gbsi_grid_walk *walk, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint64_t n_fields = grid->n_factors - grid->n_couplings;
    feeding f = {0};
    *walk = (gbsi_grid_walk){.alike = true};
    GBSI_TRY(gbsi_digest_new(&f.digest, err));
    gbsi_model_digest_begin(f.digest, 0, grid->n_variables, grid->n_factors);
    feed_words(&f, 2, grid->n_variables); /* arities */
    feed_kinds(&f, GBS_FACTOR_ISING, grid->n_couplings);
    feed_kinds(&f, GBS_FACTOR_FIELD, n_fields);
    feed_words(&f, 2, grid->n_couplings); /* sizes of scopes */
    feed_words(&f, 1, n_fields);
    feed_scopes(&f, grid);
    feed_weights(&f, grid, walk);
    gbsi_digest_text(f.digest, walk->digest);
cleanup:
    gbsi_digest_free(f.digest);
    return status;
}
