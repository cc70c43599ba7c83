/* SPDX-License-Identifier: Apache-2.0 */
/* Lattices for the tests of partitions. */
#ifndef GBSI_GRAPH_PARTITION_TESTING_H
#define GBSI_GRAPH_PARTITION_TESTING_H

#include "graph/graph_testing.h"
#include "graph/partition.h"

static inline uint32_t at(const gbsi_grid_shape *s, uint32_t x, uint32_t y, uint32_t z)
{
    return (z * s->side[1] + y) * s->side[0] + x;
}

static inline void join(fixture *f, uint32_t a, uint32_t b)
{
    add(f, 2, (uint32_t[]){a, b});
}

static inline void grid(fixture *f, const gbsi_grid_shape *s)
{
    const uint32_t columns = s->side[0];
    const uint32_t rows = s->side[1];
    const uint32_t layers = s->side[2];
    begin(f, columns * rows * layers);
    for (uint32_t z = 0; z < layers; z++) {
        for (uint32_t y = 0; y < rows; y++) {
            for (uint32_t x = 0; x < columns; x++) {
                const uint32_t v = at(s, x, y, z);
                if (x + 1 < columns || (s->torus[0] && columns > 2)) {
                    join(f, v, at(s, (x + 1) % columns, y, z));
                }
                if (y + 1 < rows || (s->torus[1] && rows > 2)) {
                    join(f, v, at(s, x, (y + 1) % rows, z));
                }
                if (z + 1 < layers || (s->torus[2] && layers > 2)) {
                    join(f, v, at(s, x, y, (z + 1) % layers));
                }
            }
        }
    }
    end(f, NULL);
}

#endif
