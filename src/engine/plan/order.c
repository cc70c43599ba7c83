/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <string.h>

#include "plan/compile.h"

void gbsi_sort_by(const uint32_t *key, uint32_t n_keys, const uint32_t *in, uint32_t *out, size_t n,
                  uint32_t *histogram)
{
    memset(histogram, 0, ((size_t)n_keys + 1) * sizeof *histogram);
    for (size_t i = 0; i < n; ++i) {
        assert(key[in == NULL ? i : in[i]] < n_keys);
        ++histogram[key[in == NULL ? i : in[i]] + 1];
    }
    for (uint32_t b = 0; b < n_keys; ++b) {
        histogram[b + 1] += histogram[b];
    }
    for (size_t i = 0; i < n; ++i) {
        const uint32_t t = in == NULL ? (uint32_t)i : in[i];
        out[histogram[key[t]]++] = t;
    }
}
