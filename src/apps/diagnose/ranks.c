/* SPDX-License-Identifier: Apache-2.0 */
#include "autocovariance.h"

#include <stdlib.h>

#include "simd/math.h"

static int compare(const void *a, const void *b)
{
    const gbsi_ranked *p = a;
    const gbsi_ranked *q = b;
    if (p->value != q->value) {
        return p->value < q->value ? -1 : 1;
    }
    return p->place < q->place ? -1 : p->place > q->place;
}

void gbsi_rank(gbsi_ranked *order, size_t n)
{
    qsort(order, n, sizeof *order, compare);
}

double gbsi_ranked_quantile(const gbsi_ranked *order, size_t n, double p)
{
    const double at = p * (double)(n - 1);
    const size_t below = (size_t)at;
    const size_t above = below + 1 < n ? below + 1 : below;
    return order[below].value + (at - (double)below) * (order[above].value - order[below].value);
}

void gbsi_normal_scores(const gbsi_ranked *order, size_t n, double *z)
{
    for (size_t first = 0, end; first < n; first = end) {
        for (end = first + 1; end < n && order[end].value == order[first].value; ++end) {
        }
        const double rank = 0.5 * (double)(first + 1 + end); /* ranks first + 1 .. end */
        const double score = gbsi_normal_quantile((rank - 0.375) / ((double)n + 0.25));
        for (size_t i = first; i < end; ++i) {
            z[order[i].place] = score;
        }
    }
}
