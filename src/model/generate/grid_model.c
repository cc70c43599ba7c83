/* SPDX-License-Identifier: Apache-2.0 */
#include "generate/grid_model.h"

#include <math.h>
#include <string.h>

#include "base/digest.h"
#include "base/memory.h"
#include "base/sized.h"
#include "store/model.h"

enum { CHUNK = 512 };

static uint64_t count_couplings(const gbsi_grid_model *grid);

gbs_status gbsi_grid_of_ising(const gbs_generate_ising_options *options, gbsi_grid_model *grid,
                              gbs_error *err)
{
    GBSI_IN_STRUCT(options, gbs_generate_ising_options);
    gbsi_generate_size size;
    const gbsi_generate_spins *spins =
        GBSI_SPINS(options, .size = {options->side[1], options->side[0], options->side[2]},
                   .torus = options->torus != 0);
    GBSI_PASS(gbsi_generate_measure_grid(spins, &size, err));
    GBSI_PASS(gbsi_generate_check_ranges(spins, err));
    const bool fields = spins->field != 0.0 || spins->random_field != 0.0;
    *grid = (gbsi_grid_model){.torus = spins->torus,
                              .arity = 2,
                              .n_variables = (uint32_t)size.n_variables,
                              .n_couplings = size.n_couplings,
                              .n_factors = size.n_couplings + (fields ? size.n_variables : 0),
                              .pair = GBS_FACTOR_ISING,
                              .single = GBS_FACTOR_FIELD,
                              .spins = *spins};
    memcpy(grid->size, spins->size, sizeof grid->size);
    return GBS_OK;
}

gbs_status gbsi_grid_of_potts(const gbs_generate_potts_options *options, gbsi_grid_model *grid,
                              gbs_error *err)
{
    *grid = (gbsi_grid_model){.pair = GBS_FACTOR_POTTS, .single = GBS_FACTOR_TABLE};
    gbsi_generate_picture *picture = &grid->picture;
    GBSI_PASS(gbsi_generate_picture_init(picture, options, err));
    memcpy(grid->size, picture->size, sizeof grid->size);
    grid->torus = picture->options.torus != 0;
    grid->arity = grid->n_entries = picture->options.states;
    grid->n_variables = picture->n_variables;
    grid->n_couplings = count_couplings(grid);
    grid->n_factors = grid->n_couplings + (picture->options.noise > 0.0 ? grid->n_variables : 0);
    return GBS_OK;
}

double gbsi_grid_coupling(const gbsi_grid_model *grid, uint32_t v, unsigned d)
{
    return grid->pair == GBS_FACTOR_ISING
               ? gbsi_generate_coupling(&grid->spins, 3 * (uint64_t)v + d)
               : grid->picture.options.coupling;
}

double gbsi_grid_single(const gbsi_grid_model *grid, uint32_t v, double *entry)
{
    if (grid->n_entries == 0) {
        return gbsi_generate_field(&grid->spins, v);
    }
    gbsi_generate_data_term(&grid->picture, v, entry);
    return 0.0;
}

/* Counts the variables below v that have a next variable in direction d: all except the last
 * variable of each open line. */
static uint64_t count_before(const gbsi_grid_model *grid, uint64_t v, unsigned d)
{
    const uint32_t *side = grid->size;
    const uint64_t step = d == 0 ? 1 : d == 1 ? side[0] : (uint64_t)side[0] * side[1];
    const uint64_t lines = step * side[d];
    const uint64_t rest = v % lines;
    const uint64_t first_last = lines - step;
    const uint64_t n_last = v / lines * step + (rest > first_last ? rest - first_last : 0);
    return grid->torus && side[d] > 2 ? v : v - n_last;
}

static uint64_t count_couplings(const gbsi_grid_model *grid)
{
    uint64_t n = 0;
    for (unsigned d = 0; d < 3; ++d) {
        n += count_before(grid, grid->n_variables, d);
    }
    return n;
}

uint64_t gbsi_grid_coupling_number(const gbsi_grid_model *grid, uint32_t v, unsigned d)
{
    uint64_t n = 0;
    for (unsigned e = 0; e < 3; ++e) {
        n += count_before(grid, v + (uint64_t)(e < d), e);
    }
    return n;
}

/* ---- all factors in order ------------------------------------------------------------------ */

/* A buffer that collects numbers before they are fed to a digest. */
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

static void note(double number, gbsi_grid_walk *walk)
{
    walk->largest = fabs(number) > walk->largest ? fabs(number) : walk->largest;
}

static void feed_weight(feeding *f, double weight, gbsi_grid_walk *walk)
{
    note(weight, walk);
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

static void feed_scopes(feeding *f, const gbsi_grid_model *grid)
{
    for (uint32_t v = 0; v < grid->n_variables; ++v) {
        for (unsigned d = 0; d < 3; ++d) {
            uint32_t next = 0;
            if (gbsi_generate_neighbour(grid->size, grid->torus, v, d, &next)) {
                feed_word(f, v);
                feed_word(f, next);
            }
        }
    }
    for (uint32_t v = 0; gbsi_grid_has_singles(grid) && v < grid->n_variables; ++v) {
        feed_word(f, v);
    }
    end_words(f);
}

static void feed_weights(feeding *f, const gbsi_grid_model *grid, gbsi_grid_walk *walk)
{
    double first = NAN;
    for (uint32_t v = 0; v < grid->n_variables; ++v) {
        double coupling[3] = {NAN, NAN, NAN};
        for (unsigned d = 0; d < 3; ++d) {
            uint32_t next = 0;
            if (gbsi_generate_neighbour(grid->size, grid->torus, v, d, &next)) {
                coupling[d] = gbsi_grid_coupling(grid, v, d);
                first = isnan(first) ? coupling[d] : first;
                walk->alike &= coupling[d] == first;
                feed_weight(f, coupling[d], walk);
            }
        }
        walk->n_mixed += !isnan(coupling[0]) && !isnan(coupling[1]) && coupling[0] != coupling[1];
    }
    for (uint32_t v = 0; gbsi_grid_has_singles(grid) && v < grid->n_variables; ++v) {
        feed_weight(f, grid->n_entries > 0 ? 0.0 : gbsi_grid_single(grid, v, NULL), walk);
    }
    end_weights(f);
}

/* Returns the difference between the largest and the smallest entry. */
static double spread(const double *entry, uint32_t n)
{
    double low = entry[0];
    double high = entry[0];
    for (uint32_t k = 1; k < n; ++k) {
        low = entry[k] < low ? entry[k] : low;
        high = entry[k] > high ? entry[k] : high;
    }
    return high - low;
}

double gbsi_grid_span(const gbsi_grid_model *grid, uint32_t v, unsigned n_neighbours, double *entry)
{
    double sum = 0.0;
    for (unsigned i = 0; i < n_neighbours; ++i) {
        sum += fabs(grid->picture.options.coupling);
    }
    if (gbsi_grid_has_singles(grid)) {
        (void)gbsi_grid_single(grid, v, entry);
        sum += spread(entry, grid->n_entries);
    }
    return sum;
}

/* Feeds all tables to the digest. @return the largest spread: the maximum over tables of the
 * largest minus the smallest entry. */
static double feed_tables(feeding *f, const gbsi_grid_model *grid, double *entry,
                          gbsi_grid_walk *walk)
{
    double most = 0.0;
    for (uint32_t v = 0; v < grid->n_variables; ++v) {
        (void)gbsi_grid_single(grid, v, entry);
        for (uint32_t k = 0; k < grid->n_entries; ++k) {
            note(entry[k], walk);
        }
        const double one = spread(entry, grid->n_entries);
        most = one > most ? one : most;
        gbsi_digest_f64(f->digest, entry, grid->n_entries);
    }
    return most;
}

/* Returns an upper bound of the span of conditionals, either from the field and the couplings of
 * a spin with states -1 and 1, or from a table and Potts couplings. */
static double span_of(const gbsi_grid_model *grid, const gbsi_grid_walk *walk, double table)
{
    const double n_neighbours = grid->size[2] > 1 ? 6.0 : 4.0;
    return grid->pair == GBS_FACTOR_ISING
               ? 2.0 * walk->largest * (n_neighbours + 1.0)
               : fabs(gbsi_grid_coupling(grid, 0, 0)) * n_neighbours + table;
}

gbs_status gbsi_grid_walk_through(const gbsi_grid_model *grid, gbsi_grid_walk *walk, gbs_error *err)
{
    gbs_status status = GBS_OK;
    const uint64_t n_singles = grid->n_factors - grid->n_couplings;
    double table = 0.0;
    feeding f = {0};
    double *entry = gbsi_alloc_array(grid->n_entries, sizeof *entry);
    *walk = (gbsi_grid_walk){.alike = true};
    GBSI_PASS(GBSI_HAVE(err, "lattice", entry));
    GBSI_TRY(gbsi_digest_new(&f.digest, err));
    gbsi_model_digest_begin(f.digest, 0, grid->n_variables, grid->n_factors);
    feed_words(&f, grid->arity, grid->n_variables);
    feed_kinds(&f, (uint8_t)grid->pair, grid->n_couplings);
    feed_kinds(&f, (uint8_t)grid->single, n_singles);
    feed_words(&f, 2, grid->n_couplings); /* the digest takes the sizes of the scopes here */
    feed_words(&f, 1, n_singles);
    feed_scopes(&f, grid);
    feed_weights(&f, grid, walk);
    if (grid->n_entries > 0 && n_singles > 0) {
        table = feed_tables(&f, grid, entry, walk);
    }
    walk->span = span_of(grid, walk, table);
    gbsi_digest_text(f.digest, walk->digest);
cleanup:
    gbsi_digest_free(f.digest);
    gbsi_free(entry);
    return status;
}
