# SPDX-License-Identifier: Apache-2.0
"""Kinds of wrong verdicts that are known and not mended yet. The test fails on any other, and on one here that no longer comes:
so this table only gets shorter. Each is shown by programs in found/."""

SEEDS = 200  # fewer may not show each of them

KINDS = {
    "not needed: the host's own access": "what the host does with memory that it shares is not thought of",
    "not needed: a module's variable": "kernels reach their module's variables without a parameter",
    "needed: a free, which waits, is not taken for a wait": "a free's wait holds under every policy, like any other wait",
    "error: order-given-up": "0x1, which stays on the legacy stream, may have kept the order",
    "error: thread-relative-handle": "an idle 0x2 that is waited for is taken for a mistake",
    "silent per-thread: one thread, a conflict seen": "order between one thread's streams is not looked at",
    "silent per-thread: one thread, memory shared": "the same",
    "silent per-thread: one thread, the host's own access": "what the host does is not thought of",
    "silent per-thread: two threads, a conflict seen": "order with blocking streams is not looked at",
    "silent per-thread: two threads, memory shared": "the same",
    "silent per-thread: two threads, the host's own access": "what the host does is not thought of",
}
