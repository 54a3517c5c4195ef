// SPDX-License-Identifier: Apache-2.0
//
// handovers [spread|all|default|WAY THING] [ms=N]: thread A starts work on the default stream and, without waiting for it,
// tells thread B in one of the ways of C, POSIX and Linux; B uses what A's work makes. Legacy order makes every line
// `right`; without order between the threads' default-stream work every line is `stale`. Run by scripts/gpu and the tests
// beside it.

#include "tests/apps/handovers/handovers.h"

int main(int argc, char **argv)
{
    static const struct way *const groups[] = {ways_pthread,    ways_lock, ways_semaphore, ways_c11, ways_atomic,
                                               ways_descriptor, ways_ipc,  ways_signal,    NULL};
    return handovers_main(argc, argv, groups);
}
