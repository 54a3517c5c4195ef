/* SPDX-License-Identifier: Apache-2.0
 *
 * The slow halves of a gate. Called by gate.h's inline functions where the gate is held. Must keep errno.
 */
#include "interpose/base/gate.h"

#include "interpose/base/word.h"

/* Measured with threads whose launches all conflict (H100, two and eight of them). */
enum { GATE_SPINS = 20, GATE_LOOKS = 40, GATE_SLEEP_NS = 500000 };

static int try_gate(uint32_t *gate, uint32_t how)
{
    uint32_t open = 0;
    return __atomic_load_n(gate, __ATOMIC_RELAXED) == 0 &&
           __atomic_compare_exchange_n(gate, &open, how, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

/* For a thread that was woken: while it looks now and then, the gate's holder need not wake another thread, which costs as
 * much as a launch. The thread says that others may sleep still only when it has the gate, or sleeps again. */
static int look_for_gate(uint32_t *gate, uint32_t how)
{
    for (int i = 0; i < GATE_LOOKS; i++) {
        for (int k = 0; k < GATE_SPINS; k++)
            word_pause();
        if (try_gate(gate, how))
            return 1;
    }
    return 0;
}

/* Hardly spins: the holder shall keep the gate for some calls, see gate.h. */
void gate_take_slowly(uint32_t *gate, uint32_t how)
{
    for (int i = 0; i < GATE_SPINS; i++) {
        if (try_gate(gate, how))
            return;
        word_pause();
    }
    while (!try_gate(gate, how | GATE_WAITED)) {
        uint32_t seen = __atomic_load_n(gate, __ATOMIC_RELAXED);
        if (!(seen & GATE_HELD) ||
            (!(seen & GATE_WAITED) &&
             !__atomic_compare_exchange_n(gate, &seen, seen | GATE_WAITED, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)))
            continue;
        word_sleep(gate, seen | GATE_WAITED, GATE_SLEEP_NS);
        if (look_for_gate(gate, how | GATE_WAITED))
            return;
    }
}

void gate_wake(uint32_t *gate)
{
    word_wake_one(gate);
}

void gate_await_quick_slowly(uint32_t *gate)
{
    for (int i = 0; gate_is_quick(gate); i++) {
        uint32_t seen = __atomic_load_n(gate, __ATOMIC_RELAXED);
        if (i < WORD_SPINS)
            word_pause();
        else if (seen & GATE_QUICK)
            word_sleep(gate, seen, WORD_SLEEP_NS);
    }
}
