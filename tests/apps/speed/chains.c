/* SPDX-License-Identifier: Apache-2.0
 *
 * chains [chains 4] [length 200] [by-hand 0] [rounds 1] [each 0]: one thread, all on the default stream: several chains of kernels of
 * 20 to 200 microseconds; each adds to the words of its chain, so that a chain's kernels depend on each other and chains on nothing.
 * The kernels come in turn, one of each chain. By hand: a non-blocking stream for each chain. Rounds: the host waits after each, and
 * with `each` after each kernel. Run by scripts/gpu.
 */
#include "tests/apps/speed/speed.h"

enum { CHAINS_MOST = 32, LEAST_NS = 20000, MOST_NS = 200000 };

/* The same in every run; the chains differ. */
static uint64_t length_of(unsigned chain, unsigned step)
{
    uint32_t mixed = (chain * 0x9e3779b9u) ^ (step * 0x85ebca6bu);
    mixed = (mixed ^ mixed >> 15) * 0x2c1b3c6du;
    return LEAST_NS + (mixed ^ mixed >> 13) % (MOST_NS - LEAST_NS + 1);
}

int main(int argc, char **argv)
{
    static struct speed speed;
    unsigned chains = app_number(argc, argv, 1, 4), length = app_number(argc, argv, 2, 200);
    unsigned rounds = app_number(argc, argv, 4, 1);
    int by_hand = app_number(argc, argv, 3, 0) != 0, each = app_number(argc, argv, 5, 0) != 0, right = 1;
    CUstream stream[CHAINS_MOST] = {NULL};
    CUdeviceptr words[CHAINS_MOST];
    uint64_t digest = APP_DIGEST;
    chains = chains < CHAINS_MOST ? chains : CHAINS_MOST;
    speed_start(&speed);
    for (unsigned c = 0; c < chains; c++) {
        if (by_hand)
            CU(cuStreamCreate(&stream[c], CU_STREAM_NON_BLOCKING));
        words[c] = speed_buffer();
    }
    CU(cuCtxSynchronize());
    double began = app_now_ms();
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned step = 0; step < length * chains; step++) {
            unsigned c = step % chains;
            speed_launch(&speed, stream[c], words[c], length_of(c, step / chains));
            if (each)
                CU(cuStreamSynchronize(stream[c]));
        }
        CU(cuCtxSynchronize());
    }
    double ms = app_now_ms() - began;
    for (unsigned c = 0; c < chains; c++)
        right &= speed_check(words[c], length * rounds, &digest);
    return app_finish(right, digest, ms);
}
