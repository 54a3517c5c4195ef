# SPDX-License-Identifier: Apache-2.0
"""Kinds of wrong verdicts that are known and not mended yet. The test fails on any other, and on one here that no longer comes:
so this table only gets shorter. Each is shown by programs in found/."""

SEEDS = 200  # fewer may not show each of them

KINDS = {
    "not needed: the host's own access": "what the host does with memory that it shares is not thought of",
    "not needed: a module's variable": "kernels reach their module's variables without a parameter",
    "not needed: a texture": "what a texture object was made of",
    "not needed: an elapsed time": "the time between two events of the default stream is another without its order",
    "not needed: memory of several chunks": "a range that begins in one chunk of virtual memory and ends in another",
    "not needed: memory whose allocation was recycled": "a pointer into memory that the trace has forgotten is taken for none",
    "not needed: pointers that lie in memory": "kernels without a C++ name may follow pointers that a host copy brought",
    "needed: a free, which waits, is not taken for a wait": "a free's wait holds under every policy, like any other wait",
    "needed: kernels that only read": "a pointer that is not const is taken for a sure write at its first byte",
    "error: order-given-up": "0x1, which stays on the legacy stream, may have kept the order",
    "error: thread-relative-handle": "an idle 0x2 that is waited for is taken for a mistake",
    "silent: one thread, a conflict seen": "order between one thread's streams is not looked at",
    "silent: an elapsed time": "as above",
    "silent: one thread, memory shared": "the same",
    "silent: one thread, the host's own access": "what the host does is not thought of",
    "silent: two threads, a conflict seen": "order with blocking streams is not looked at",
    "silent: two threads, memory shared": "the same",
    "silent: two threads, the host's own access": "what the host does is not thought of",
    "silent: a small copy overtakes": "the driver reads a small copy's source when the call is made",
    "silent: a thread ends with stream-ordered memory pending": "the driver's next cuCtxSynchronize may never return",
}
