/* SPDX-License-Identifier: Apache-2.0
 *
 * The gate of a lane for default-stream work: one thread at a time holds it, from before its call is registered until the
 * driver has the call. Threads that share a lane would otherwise hand their turns over one by one, each to a core that
 * knows nothing of the lane yet; the thread that holds a gate may take it again before a sleeping thread wakes, so work
 * goes in bunches, as it does behind the driver's own lock. Only for the guard.
 *
 * A thread that tries to launch without being registered takes the gate *quick*. A thread that records an event on the lane
 * waits until no quick call is on its way into the driver (gate_await_quick). A quick holder waits for nothing but the
 * driver.
 */
#ifndef PTDS_GATE_H
#define PTDS_GATE_H

#include <stdint.h>

enum { GATE_HELD = 1, GATE_QUICK = 2, GATE_WAITED = 4 };

void gate_take_slowly(uint32_t *gate, uint32_t how);
void gate_wake(uint32_t *gate);
void gate_await_quick_slowly(uint32_t *gate);

/* how: GATE_HELD, with GATE_QUICK or without. */
static inline void gate_take(uint32_t *gate, uint32_t how)
{
    uint32_t open = 0;
    if (!__atomic_compare_exchange_n(gate, &open, how, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        gate_take_slowly(gate, how);
}

/* `alone`: hardly any other thread comes here. Then a plain store will do, and a thread that comes just now and is missed
 * looks again after a while. */
static inline void gate_drop(uint32_t *gate, int alone)
{
    if (alone && __atomic_load_n(gate, __ATOMIC_RELAXED) < GATE_WAITED)
        __atomic_store_n(gate, 0, __ATOMIC_RELEASE);
    else if (__builtin_expect((__atomic_exchange_n(gate, 0, __ATOMIC_RELEASE) & GATE_WAITED) != 0, 0))
        gate_wake(gate);
}

static inline int gate_is_quick(const uint32_t *gate)
{
    return (__atomic_load_n(gate, __ATOMIC_SEQ_CST) & GATE_QUICK) != 0;
}

static inline void gate_await_quick(uint32_t *gate)
{
    if (__builtin_expect(gate_is_quick(gate), 0))
        gate_await_quick_slowly(gate);
}

#endif
