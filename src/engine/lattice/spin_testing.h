/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a pass of chains of spins for tests, without an executor. */
#ifndef GBSI_LATTICE_SPIN_TESTING_H
#define GBSI_LATTICE_SPIN_TESTING_H

#include "lattice/spin_chains.h"

/* @param count whether the states at the end of the pass are added to the visits. */
static inline void test_spin_pass(gbsi_spin_chains *chains, uint64_t pass, bool count)
{
    gbsi_spin_chains_begin(chains, count);
    chains->form->run(chains, pass, count, 0, chains->form->n_batches(chains));
    gbsi_spin_chains_add_up(chains);
}

#endif
