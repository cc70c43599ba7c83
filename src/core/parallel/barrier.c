/* SPDX-License-Identifier: Apache-2.0 */
#include "parallel/barrier.h"

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ __volatile__("yield");
#endif
}

bool gbsi_gate_init(gbsi_gate *gate, uint32_t n_spins)
{
    atomic_init(&gate->step, 0);
    atomic_init(&gate->n_sleepers, 0);
    gate->n_spins = n_spins;
    if (pthread_mutex_init(&gate->mutex, NULL) != 0) {
        return false;
    }
    if (pthread_cond_init(&gate->opened, NULL) != 0) {
        (void)pthread_mutex_destroy(&gate->mutex);
        return false;
    }
    return true;
}

void gbsi_gate_destroy(gbsi_gate *gate)
{
    (void)pthread_cond_destroy(&gate->opened);
    (void)pthread_mutex_destroy(&gate->mutex);
}

static uint32_t step_of(const gbsi_gate *gate)
{
    return atomic_load_explicit(&gate->step, memory_order_acquire);
}

/* The thread that opens the gate and a thread that goes to sleep use sequentially consistent
 * operations. A sleeper announces itself before its last look at the step. Therefore either the
 * opener sees the sleeper, or the sleeper sees the new step. */
void gbsi_gate_open(gbsi_gate *gate)
{
    (void)atomic_fetch_add(&gate->step, 1);
    if (atomic_load(&gate->n_sleepers) > 0) {
        (void)pthread_mutex_lock(&gate->mutex);
        (void)pthread_cond_broadcast(&gate->opened);
        (void)pthread_mutex_unlock(&gate->mutex);
    }
}

void gbsi_gate_wait(gbsi_gate *gate, uint32_t step)
{
    for (uint32_t i = 0; i < gate->n_spins; ++i) {
        if (step_of(gate) != step) {
            return;
        }
        pause_briefly();
    }
    (void)pthread_mutex_lock(&gate->mutex);
    (void)atomic_fetch_add(&gate->n_sleepers, 1);
    while (atomic_load(&gate->step) == step) {
        (void)pthread_cond_wait(&gate->opened, &gate->mutex);
    }
    (void)atomic_fetch_sub(&gate->n_sleepers, 1);
    (void)pthread_mutex_unlock(&gate->mutex);
}

bool gbsi_barrier_init(gbsi_barrier *barrier, uint32_t n, uint32_t n_spins)
{
    atomic_init(&barrier->n_arrived, 0);
    barrier->n = n;
    return gbsi_gate_init(&barrier->gate, n_spins);
}

void gbsi_barrier_destroy(gbsi_barrier *barrier)
{
    gbsi_gate_destroy(&barrier->gate);
}

void gbsi_barrier_wait(gbsi_barrier *barrier)
{
    if (barrier->n == 1) {
        return;
    }
    const uint32_t step =
        step_of(&barrier->gate); /* the gate cannot open before this thread arrives */
    if (atomic_fetch_add_explicit(&barrier->n_arrived, 1, memory_order_acq_rel) + 1 == barrier->n) {
        atomic_store_explicit(&barrier->n_arrived, 0, memory_order_relaxed);
        gbsi_gate_open(&barrier->gate);
    } else {
        gbsi_gate_wait(&barrier->gate, step);
    }
}
