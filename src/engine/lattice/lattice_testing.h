/* SPDX-License-Identifier: Apache-2.0 */
/* Lattices for tests: every shape, boundary and coupling that gbsi_lattice supports. */
#ifndef GBSI_LATTICE_LATTICE_TESTING_H
#define GBSI_LATTICE_LATTICE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/test_scale.h"
#include "gibbsite/gibbsite.h"
#include "lattice/lattice.h"
#include "rng/philox.h"
#include "simd/dispatch.h"

typedef struct shape {
    const char *name;
    uint32_t side[3]; /* numbers of rows, columns and layers, as in the options of
                         gbs_generate_ising() */
    int torus;
    double coupling[3]; /* couplings along a row, along a column, and between layers */
    double field;
    /* one bond in `negative` is negative, one bond in `missing` is missing, and one site in
     * `second_field` has the second field; 0: none */
    unsigned negative, missing, second_field;
} shape;

static const shape shapes[] = {
    {"torus 4 x 4", {4, 4, 1}, 1, {0.3, 0.3, 0.3}, 0.0, 0, 0, 0},
    {"open 3 x 4", {3, 4, 1}, 0, {0.4, 0.4, 0.4}, 0.1, 0, 0, 0},
    {"open 5 x 7", {5, 7, 1}, 0, {-0.4, -0.4, -0.4}, 0.0, 0, 0, 0},
    {"torus 64 x 32, all bits sites", {64, 32, 1}, 1, {0.44, 0.44, 0.44}, 0.0, 0, 0, 0},
    {"torus 66 x 34, last site inside a block", {66, 34, 1}, 1, {0.44, 0.44, 0.44}, 0.05, 0, 0, 0},
    {"open 129 x 70", {129, 70, 1}, 0, {0.5, 0.5, 0.5}, 0.0, 0, 0, 0},
    {"anisotropic torus", {68, 64, 1}, 1, {0.2, 0.6, 0.0}, 0.1, 0, 0, 0},
    {"glass, closed", {64, 64, 1}, 1, {0.8, 0.8, 0.8}, 0.0, 2, 0, 0},
    {"glass, open, with fields", {67, 33, 1}, 0, {0.8, 0.8, 0.8}, 0.3, 2, 0, 2},
    {"diluted", {32, 64, 1}, 1, {0.5, 0.5, 0.5}, 0.0, 0, 4, 0},
    {"two fields, every bond", {64, 64, 1}, 1, {0.3, 0.3, 0.3}, 0.2, 0, 0, 3},
    {"cube", {8, 32, 64}, 1, {0.22, 0.22, 0.22}, 0.0, 0, 0, 0},
    {"cube in a field", {4, 6, 66}, 1, {0.22, 0.22, 0.22}, -0.1, 0, 0, 0},
    {"open box", {5, 6, 7}, 0, {0.3, 0.3, 0.3}, 0.0, 0, 0, 0},
    {"box of three couplings", {6, 34, 10}, 1, {0.3, 0.1, -0.2}, 0.05, 0, 0, 0},
    {"box of two couplings, glass", {4, 4, 8}, 1, {0.3, 0.3, 0.5}, 0.0, 3, 5, 2},
    {"odd torus 5 x 3", {5, 3, 1}, 1, {0.3, 0.3, 0.3}, 0.1, 0, 0, 0},
    {"odd torus 65 x 63, one field", {65, 63, 1}, 1, {0.44, 0.44, 0.44}, 0.0, 0, 0, 0},
    {"closed, odd along a row only", {64, 33, 1}, 1, {0.44, 0.44, 0.44}, 0.05, 0, 0, 0},
    {"closed, odd along a column only", {129, 68, 1}, 1, {0.4, 0.5, 0.0}, 0.0, 0, 0, 2},
    {"odd glass, diluted", {67, 65, 1}, 1, {0.8, 0.8, 0.8}, 0.1, 2, 5, 3},
    {"odd cube", {7, 35, 67}, 1, {0.22, 0.22, 0.22}, 0.0, 0, 0, 0},
    {"odd box of three couplings", {5, 9, 3}, 1, {0.3, 0.1, -0.2}, 0.05, 3, 6, 2},
    {"odd columns of a box", {5, 34, 6}, 1, {0.3, 0.3, 0.3}, 0.0, 0, 0, 0},
    {"odd layers of a box", {4, 34, 35}, 1, {0.3, 0.3, 0.3}, 0.0, 2, 0, 0},
    {"strong", {64, 64, 1}, 1, {9.0, 9.0, 9.0}, 0.0, 0, 0, 0},
    {"opposite fields, open", {70, 130, 1}, 0, {0.4, 0.4, 0.4}, 0.6, 0, 0, 2},
    {"opposite fields, cube", {8, 32, 64}, 1, {0.22, 0.22, 0.22}, 0.5, 0, 0, 3},
    {"opposite fields, odd torus", {65, 63, 1}, 1, {0.3, 0.3, 0.3}, 0.7, 0, 0, 2},
    {"opposite fields, both states as likely", {64, 64, 1}, 1, {0.25, 0.25, 0.25}, 0.5, 0, 0, 2},
};
enum { N_SHAPES = sizeof shapes / sizeof shapes[0] };

/* Calls check() for each instruction set and each shape; tests at small scale skip every other
 * shape. */
static inline void test_each_shape(void (*check)(const shape *s, gbsi_simd level))
{
    const size_t step = test_share(1, 2);
    for (int level = 0; level < GBSI_N_SIMD; ++level) {
        for (size_t i = (size_t)level % step; gbsi_simd_has((gbsi_simd)level) && i < N_SHAPES;
             i += step) {
            check(&shapes[i], (gbsi_simd)level);
        }
    }
}

static inline bool one_in(unsigned n, uint32_t index, uint64_t stream)
{
    return n > 0 && gbsi_word(7, 0, stream, index, GBSI_PURPOSE_TEST) % n == 0;
}

static inline void add_bond(gbs_builder *b, const shape *s, uint32_t v, uint32_t other, unsigned d)
{
    const uint32_t id = 3 * v + d;
    double coupling = s->coupling[d];
    coupling = one_in(s->negative, id, 1) ? -coupling : coupling;
    coupling = one_in(s->missing, id, 2) ? 0.0 : coupling;
    if (coupling != 0.0) {
        assert_int_equal(gbs_builder_add_ising(b, v, other, coupling, NULL), GBS_OK);
    }
}

static inline gbs_model *make_model(const shape *s)
{
    const uint32_t length[3] = {s->side[1], s->side[0], s->side[2]};
    const uint32_t n = length[0] * length[1] * length[2];
    gbs_builder *b = NULL;
    gbs_model *model = NULL;
    assert_int_equal(gbs_builder_new(&b, NULL), GBS_OK);
    for (uint32_t v = 0; v < n; ++v) {
        const uint32_t two = 2;
        assert_int_equal(gbs_builder_add_variables(b, 1, &two, NULL, NULL), GBS_OK);
    }
    for (uint32_t v = 0; v < n; ++v) {
        uint32_t stride = 1;
        for (unsigned d = 0; d < 3; stride *= length[d++]) {
            const uint32_t at = v / stride % length[d];
            if (at + 1 < length[d]) {
                add_bond(b, s, v, v + stride, d);
            } else if (s->torus && length[d] > 2) {
                add_bond(b, s, v, v - at * stride, d);
            }
        }
        const double second = s->field < 0.5 ? -1.5 * s->field - 0.13 : -s->field;
        const double field = one_in(s->second_field, v, 3) ? second : s->field;
        if (field != 0.0) {
            assert_int_equal(gbs_builder_add_field(b, v, field, NULL), GBS_OK);
        }
    }
    assert_int_equal(gbs_builder_build(b, &model, NULL), GBS_OK);
    gbs_builder_free(b);
    return model;
}

static inline gbsi_conditioned *condition(const gbs_model *model)
{
    gbsi_conditioned *c = NULL;
    assert_int_equal(gbsi_condition(model, NULL, &c, NULL), GBS_OK);
    return c;
}

static inline gbsi_lattice *recognise(const gbsi_conditioned *model, const char *name)
{
    gbsi_lattice *lattice = NULL;
    const char *reason = NULL;
    assert_int_equal(gbsi_lattice_new(model, &lattice, &reason, NULL), GBS_OK);
    if (lattice == NULL) {
        fail_msg("%s: %s", name, reason);
    }
    assert_null(reason);
    return lattice;
}

#endif
