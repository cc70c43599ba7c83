/* SPDX-License-Identifier: Apache-2.0 */
/* Spin models from a seed. A ring is a grid of one row, closed. */
#include "model/generate.h"

#include <math.h>

#include "base/memory.h"
#include "base/status.h"
#include "rng/philox.h"

void gbsi_generate_uniforms(uint64_t seed, gbsi_generate_stream stream, uint64_t index, double u[2])
{
    uint32_t word[4];
    /* stream in the chain's place, the index in the block's; its high half goes to the pass */
    gbsi_philox(seed, (uint32_t)stream, index >> 32, (uint32_t)index, GBSI_PURPOSE_GENERATE, word);
    u[0] = gbsi_uniform(word[0], word[1]);
    u[1] = gbsi_uniform(word[2], word[3]);
}

int gbsi_generate_wraps(int torus, uint32_t side)
{
    return torus && side > 2;
}

gbs_status gbsi_generate_variables(gbs_builder *builder, uint32_t n, uint32_t arity, gbs_error *err)
{
    enum { BLOCK = 1024 };
    uint32_t block[BLOCK];
    for (uint32_t i = 0; i < BLOCK; ++i) {
        block[i] = arity;
    }
    for (uint32_t done = 0; done < n;) {
        const uint32_t more = n - done < BLOCK ? n - done : BLOCK;
        const gbs_status status = gbs_builder_add_variables(builder, more, block, NULL, err);
        if (status < 0) {
            return status;
        }
        done += more;
    }
    return GBS_OK;
}

/* Uniform in centre -+ spread. */
static double around(uint64_t seed, gbsi_generate_stream stream, uint64_t index, double centre,
                     double spread)
{
    double u[2];
    if (spread == 0.0) {
        return centre;
    }
    gbsi_generate_uniforms(seed, stream, index, u);
    return centre + spread * (2.0 * u[0] - 1.0);
}

static gbs_status check_range(const char *name, double centre, const char *spread_name,
                              double spread, gbs_error *err)
{
    if (!isfinite(centre)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: %g, expected a finite number", name, centre);
    }
    if (!(spread >= 0.0) || !isfinite(fabs(centre) + 2.0 * spread)) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: %g, expected a finite number, 0 or more",
                         spread_name, spread);
    }
    return GBS_OK;
}

static gbs_status check_ising(const gbs_generate_ising_options *o, uint32_t *n, gbs_error *err)
{
    gbs_status status = GBS_OK;
    uint64_t count = 1;
    for (unsigned d = 0; d < 3; ++d) {
        if (o->side[d] == 0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT,
                             "grid %u x %u x %u: every side must be 1 or more",
                             (unsigned)o->side[0], (unsigned)o->side[1], (unsigned)o->side[2]);
        }
        count *= o->side[d]; /* below 2^32 before, so below 2^64 */
        if (count > GBS_MAX_VARIABLES) {
            return gbsi_fail(err, GBS_ERR_LIMIT,
                             "grid %u x %u x %u: more than the %u variables possible",
                             (unsigned)o->side[0], (unsigned)o->side[1], (unsigned)o->side[2],
                             GBS_MAX_VARIABLES);
        }
    }
    GBSI_TRY(check_range("coupling", o->coupling, "coupling spread", o->coupling_spread, err));
    GBSI_TRY(check_range("field", o->field, "random field", o->random_field, err));
    *n = (uint32_t)count;

cleanup:
    return status;
}

/* The edges of a variable to its right, below and in the next layer. */
static gbs_status add_edges(gbs_builder *builder, const gbs_generate_ising_options *o, uint32_t v,
                            gbs_error *err)
{
    const uint32_t rows = o->side[0];
    const uint32_t columns = o->side[1];
    const uint32_t length[3] = {columns, rows, o->side[2]};
    const uint64_t step[3] = {1, columns, (uint64_t)columns * rows};
    for (unsigned d = 0; d < 3; ++d) {
        const uint32_t at = (uint32_t)(v / step[d] % length[d]);
        uint64_t neighbour = v + step[d];
        if (at + 1 == length[d]) {
            if (!gbsi_generate_wraps(o->torus, length[d])) {
                continue;
            }
            neighbour = v - at * step[d];
        }
        const double coupling = around(o->seed, GBSI_STREAM_COUPLING, 3 * (uint64_t)v + d,
                                       o->coupling, o->coupling_spread);
        const gbs_status status =
            gbs_builder_add_ising(builder, v, (uint32_t)neighbour, coupling, err);
        if (status < 0) {
            return status;
        }
    }
    return GBS_OK;
}

gbs_status gbs_generate_ising(const gbs_generate_ising_options *options, gbs_model **model,
                              gbs_error *err)
{
    gbs_status status = GBS_OK;
    gbs_builder *builder = NULL;
    uint32_t n = 0;
    GBSI_TRY(check_ising(options, &n, err));
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbsi_generate_variables(builder, n, 2, err));
    for (uint32_t v = 0; v < n; ++v) {
        GBSI_TRY(add_edges(builder, options, v, err));
    }
    if (options->field != 0.0 || options->random_field != 0.0) {
        for (uint32_t v = 0; v < n; ++v) {
            const double h =
                around(options->seed, GBSI_STREAM_FIELD, v, options->field, options->random_field);
            GBSI_TRY(gbs_builder_add_field(builder, v, h, err));
        }
    }
    GBSI_TRY(gbs_builder_build(builder, model, err));

cleanup:
    gbs_builder_free(builder);
    return status;
}

gbs_status gbs_generate_ring(const gbs_generate_ring_options *options, gbs_model **model,
                             gbs_error *err)
{
    if (options->variables == 0) {
        return gbsi_fail(err, GBS_ERR_ARGUMENT, "ring of 0 variables: expected 1 or more");
    }
    const gbs_generate_ising_options row = {.side = {1, options->variables, 1},
                                            .torus = 1,
                                            .coupling = options->coupling,
                                            .coupling_spread = options->coupling_spread,
                                            .field = options->field,
                                            .random_field = options->random_field,
                                            .seed = options->seed};
    return gbs_generate_ising(&row, model, err);
}
