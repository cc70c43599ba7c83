/* SPDX-License-Identifier: Apache-2.0 */
/* Costs in nanoseconds of a core (AVX-512, 2.1 GHz) for sixteen chains side by side. These costs
 * serve to choose between kinds of scan that differ by factors of 20 and more; errors of a factor
 * of two or three do not matter. The costs were measured by
 *
 *     build/bench/bench --case 16c/1t      updates of single variables, Rao-Blackwell */
#include "chains/counted_operations.h"

#include "chains/executor.h"

/* The cost of updating a variable: `fixed` + `each` * n for every state in its conditional, where n
 * is the number of its neighbours, or of its terms. */
static const struct {
    double fixed, each;
} update[GBSI_N_CLASSES] = {
    [GBSI_CLASS_ISING] = {8.0, 3.0},    [GBSI_CLASS_POTTS] = {8.0, 2.0},
    [GBSI_CLASS_PAIRWISE] = {8.0, 3.0}, [GBSI_CLASS_TABLE] = {8.0, 4.0},
    [GBSI_CLASS_LOGICAL] = {8.0, 12.0}, [GBSI_CLASS_PRECISE] = {10.0, 8.0},
};

/* The factor by which updating a variable costs more in one chain alone than in each of sixteen
 * chains side by side. */
#define ALONE (3.0 / GBSI_LANES)

double gbsi_operations_update(const gbsi_plan *plan, uint32_t slot, uint32_t n_chains)
{
    const double share = gbsi_lanes_of(n_chains) == GBSI_LANES ? 1.0 : ALONE;
    const gbsi_class class_id = gbsi_plan_class(plan, slot);
    const bool odds = (gbsi_plan_form(plan, slot) & GBSI_ODDS) != 0;
    const double numbers = odds ? 1.0 : (double)gbsi_plan_arity(plan, slot);
    const bool terms = class_id == GBSI_CLASS_TABLE || class_id == GBSI_CLASS_LOGICAL ||
                       class_id == GBSI_CLASS_PRECISE;
    const double n = terms ? (double)(gbsi_offset(&plan->term_start, slot + (size_t)1) -
                                      gbsi_offset(&plan->term_start, slot))
                           : (double)gbsi_plan_row(plan, slot).n;
    return share * numbers * (update[class_id].fixed + update[class_id].each * n);
}

static double operations_below(const gbsi_plan *plan, uint32_t slot, uint32_t n_chains,
                               double below)
{
    const double operations = gbsi_operations_update(plan, slot, n_chains);
    return operations < below ? operations * gbsi_groups_of(n_chains) : 0.0;
}

double gbsi_operations_single(const gbsi_plan *plan, uint32_t n_chains, double below)
{
    double sum = 0.0;
    for (uint32_t slot = 0; slot < plan->n_slots; ++slot) {
        sum += operations_below(plan, slot, n_chains, below);
    }
    return sum;
}

uint32_t gbsi_operations_cut(const gbsi_plan *plan, uint32_t n_chains, double below, double all,
                             double each, uint32_t most, gbsi_stretch *out)
{
    const double length = all / each > (double)most ? all / (double)most : each;
    double done = 0.0;
    double sum = 0.0;
    uint32_t n = 0;
    for (uint32_t slot = 0; slot < plan->n_slots && n + 1 < most; ++slot) {
        sum += operations_below(plan, slot, n_chains, below);
        if (sum >= length) {
            out[n++] = (gbsi_stretch){slot + 1, sum};
            done += sum;
            sum = 0.0;
        }
    }
    out[n] = (gbsi_stretch){plan->n_slots, all - done};
    return n + 1;
}
