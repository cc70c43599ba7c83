/* SPDX-License-Identifier: Apache-2.0 */
#include "splash/shares.h"

#include <assert.h>
#include <string.h>

#include "base/memory.h"

gbs_status gbsi_shares_init(gbsi_shares *shares, const gbsi_potentials *potentials, gbs_error *err)
{
    const uint32_t n = potentials->n_long;
    *shares = (gbsi_shares){.n = n};
    shares->mark = gbsi_alloc_array_zero(n, sizeof *shares->mark);
    shares->last = gbsi_alloc_array(n, sizeof *shares->last);
    if (shares->mark == NULL || shares->last == NULL) {
        gbsi_shares_free(shares);
        return gbsi_no_memory(err, "splash", (size_t)n * 2 * sizeof *shares->mark);
    }
    return GBS_OK;
}

void gbsi_shares_free(gbsi_shares *shares)
{
    GBSI_FREE(shares->mark, shares->last);
    *shares = (gbsi_shares){0};
}

void gbsi_shares_begin(gbsi_shares *shares, gbsi_growth *growth)
{
    if (++shares->stamp == 0) {
        memset(shares->mark, 0, shares->n * sizeof *shares->mark);
        shares->stamp = 1;
    }
    growth->n_shares = 0;
}

gbs_status gbsi_shares_join(gbsi_shares *shares, const gbsi_potentials *p, gbsi_growth *growth,
                            gbs_error *err)
{
    const uint32_t i = growth->n - 1;
    const uint32_t slot = growth->clique[i].slot;
    const size_t n = p->many_start[slot + 1] - p->many_start[slot];
    GBSI_PASS(gbsi_reserve((void **)&growth->share, &growth->share_capacity, growth->n_shares + n,
                           sizeof *growth->share, "splash", err));
    growth->clique[i].first_share = growth->n_shares;
    for (size_t m = p->many_start[slot]; m < p->many_start[slot + 1]; ++m) {
        const uint32_t number = p->many[m].number;
        const uint32_t before = gbsi_shares_last(shares, number);
        if (before != UINT32_MAX) {
            assert(growth->share[before].is_last && growth->share[before].variable < i);
            growth->share[before].is_last = false;
        }
        shares->mark[number] = shares->stamp;
        shares->last[number] = growth->n_shares;
        growth->share[growth->n_shares++] = (gbsi_growth_share){
            .variable = i, .at = p->many[m].at, .before = before, .is_last = true};
    }
    return GBS_OK;
}
