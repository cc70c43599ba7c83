/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that all generators use. */
#include "generate/generators.h"

#include "base/status.h"
#include "rng/philox.h"

void gbsi_generate_uniforms(uint64_t seed, gbsi_generate_stream stream, uint64_t index, double u[2])
{
    uint32_t word[4];
    /* the Philox counter has the stream in place of the chain, the low half of the index in place
     * of the block, and the high half of the index in place of the pass */
    gbsi_philox(seed, (uint32_t)stream, index >> 32, (uint32_t)index, GBSI_PURPOSE_GENERATE, word);
    u[0] = gbsi_uniform(word[0], word[1]);
    u[1] = gbsi_uniform(word[2], word[3]);
}

bool gbsi_generate_neighbour(const uint32_t length[3], bool torus, uint32_t v, unsigned d,
                             uint32_t *neighbour)
{
    const uint64_t step[3] = {1, length[0], (uint64_t)length[0] * length[1]};
    const uint32_t at = (uint32_t)(v / step[d] % length[d]);
    const bool last = at + 1 == length[d];
    *neighbour = (uint32_t)(last ? v - at * step[d] : v + step[d]);
    return !last || (torus && length[d] > 2);
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
        GBSI_PASS(gbs_builder_add_variables(builder, more, block, NULL, err));
        done += more;
    }
    return GBS_OK;
}
