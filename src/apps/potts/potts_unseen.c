/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "potts/potts.h"

/* @return whether some pair of states of i and j occurs in no row of positive weight. Without a
 * penalty the coupling of this pair would decrease without bound. */
static bool lacks_states(const gbsi_potts *potts, size_t i, size_t j)
{
    const gbs_rows *rows = potts->rows;
    const size_t q = potts->n_states;
    uint8_t seen[GBS_MAX_SITE_STATES * 32] = {0}; /* a bit for each pair of states */
    size_t n = 0;
    for (size_t b = 0; b < rows->n && n < q * q; ++b) {
        const uint8_t *x = gbsi_row(rows, b);
        const size_t at = x[i] * q + x[j];
        n += rows->weight[b] > 0.0 && (seen[at / 8] >> at % 8 & 1) == 0;
        seen[at / 8] |= (uint8_t)((rows->weight[b] > 0.0) << at % 8);
    }
    return n < q * q;
}

bool gbsi_potts_unseen(const gbsi_potts *potts, gbsi_watch *watch, uint8_t *unseen)
{
    const size_t q = potts->n_states;
    bool any = false;
    memset(unseen, 0, potts->n);
    for (size_t i = 0; i < potts->n_sites; ++i) {
        for (size_t j = i + 1; j < potts->n_sites; ++j) {
            if (lacks_states(potts, i, j)) {
                memset(unseen + gbsi_potts_pair(potts, i, j), 1, q * q);
                memset(unseen + i * q, 1, q);
                memset(unseen + j * q, 1, q);
                any = true;
            }
        }
        if (gbsi_watch_spend(watch, potts->n_sites * potts->rows->n)) {
            break;
        }
    }
    return any;
}
