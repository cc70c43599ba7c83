/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for each other: a gate that opens step by step, and a barrier that uses the
 * gate. */
#ifndef GBSI_PARALLEL_BARRIER_H
#define GBSI_PARALLEL_BARRIER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A counter on which threads can wait. Each atomic has its own cache line, so that a thread that
 * spins on one of them does not slow down a thread that writes another. */
typedef struct gbsi_gate {
    _Alignas(64) _Atomic uint32_t step;
    _Alignas(64) _Atomic uint32_t n_sleepers;
    /* number of times that a waiting thread looks at the step before it sleeps; 0 if there are more
     * threads than cores */
    uint32_t n_spins;
    pthread_mutex_t mutex;
    pthread_cond_t opened;
} gbsi_gate;

/* @return false if the system lacks the resources. */
bool gbsi_gate_init(gbsi_gate *gate, uint32_t n_spins);
void gbsi_gate_destroy(gbsi_gate *gate);
void gbsi_gate_open(gbsi_gate *gate); /* increases the step by 1; threads that pass the gate see all
                                         writes made before */
void gbsi_gate_wait(gbsi_gate *gate,
                    uint32_t step); /* waits until the gate's step differs from `step`
                                     */

typedef struct gbsi_barrier {
    gbsi_gate gate;
    _Alignas(64) _Atomic uint32_t n_arrived;
    uint32_t n; /* number of members */
} gbsi_barrier;

bool gbsi_barrier_init(gbsi_barrier *barrier, uint32_t n, uint32_t n_spins);
void gbsi_barrier_destroy(gbsi_barrier *barrier);
void gbsi_barrier_wait(gbsi_barrier *barrier); /* waits until all n threads have arrived */

#endif
