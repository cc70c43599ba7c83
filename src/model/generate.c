/* SPDX-License-Identifier: Apache-2.0 */
/* Spins on grids, and what all generators use. A ring is a grid of one row, closed. */
#include "model/generate.h"

#include <stdio.h>

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

static gbsi_generate_spins spins_of(const gbs_generate_ising_options *o)
{
    return (gbsi_generate_spins){o->coupling, o->coupling_spread, o->field, o->random_field,
                                 o->seed};
}

static gbs_status check_ising(const gbs_generate_ising_options *o, uint32_t *n, gbs_error *err)
{
    const gbsi_generate_spins spins = spins_of(o);
    char what[64];
    uint64_t count = 1;
    uint64_t edges = 0; /* fewer or as many */
    (void)snprintf(what, sizeof what, "grid %u x %u x %u", (unsigned)o->side[0],
                   (unsigned)o->side[1], (unsigned)o->side[2]);
    for (unsigned d = 0; d < 3; ++d) {
        if (o->side[d] == 0) {
            return gbsi_fail(err, GBS_ERR_ARGUMENT, "%s: every side must be 1 or more", what);
        }
        count *= o->side[d]; /* below 2^32 before, so below 2^64 */
        if (count > GBS_MAX_VARIABLES) {
            return gbsi_fail(err, GBS_ERR_LIMIT, "%s: more than the %u variables possible", what,
                             GBS_MAX_VARIABLES);
        }
    }
    for (unsigned d = 0; d < 3; ++d) {
        edges += count - (gbsi_generate_wraps(o->torus, o->side[d]) ? 0 : count / o->side[d]);
    }
    *n = (uint32_t)count;
    return gbsi_spins_check(&spins, what, count, edges, err);
}

/* The edges of a variable to its right, below and in the next layer. */
static gbs_status add_edges(gbs_builder *builder, const gbs_generate_ising_options *o,
                            const gbsi_generate_spins *spins, uint32_t v, gbs_error *err)
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
        const gbs_status status =
            gbsi_spins_couple(spins, builder, 3 * (uint64_t)v + d, v, (uint32_t)neighbour, err);
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
    const gbsi_generate_spins spins = spins_of(options);
    gbs_builder *builder = NULL;
    uint32_t n = 0;
    GBSI_TRY(check_ising(options, &n, err));
    GBSI_TRY(gbs_builder_new(&builder, err));
    GBSI_TRY(gbsi_generate_variables(builder, n, 2, err));
    for (uint32_t v = 0; v < n; ++v) {
        GBSI_TRY(add_edges(builder, options, &spins, v, err));
    }
    GBSI_TRY(gbsi_spins_add_fields(&spins, builder, n, err));
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
