/* SPDX-License-Identifier: Apache-2.0
 *
 * apart_streams [rounds 200] [ns 50000] [by-hand 0]: one thread puts a kernel on the default stream and one on each of four
 * blocking streams, round after round; each of the five has words of its own, so nothing needs legacy order. By hand: the
 * same on five non-blocking streams, which is what a programmer would write. Run by scripts/gpu.
 */
#include "tests/apps/speed/speed.h"

enum { STREAMS = 5 };

int main(int argc, char **argv)
{
    static struct speed speed;
    unsigned rounds = app_number(argc, argv, 1, 200), ns = app_number(argc, argv, 2, 50000);
    int by_hand = app_number(argc, argv, 3, 0) != 0, right = 1;
    CUstream stream[STREAMS] = {NULL};
    CUdeviceptr words[STREAMS];
    uint64_t digest = APP_DIGEST;
    speed_start(&speed);
    for (int i = 0; i < STREAMS; i++) {
        if (i > 0 || by_hand)
            CU(cuStreamCreate(&stream[i], by_hand ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT));
        words[i] = speed_buffer();
    }
    CU(cuCtxSynchronize());
    double began = app_now_ms();
    for (unsigned round = 0; round < rounds; round++) {
        for (int i = 0; i < STREAMS; i++)
            speed_launch(&speed, stream[i], words[i], ns);
    }
    CU(cuCtxSynchronize());
    double ms = app_now_ms() - began;
    for (int i = 0; i < STREAMS; i++)
        right &= speed_check(words[i], rounds, &digest);
    return app_finish(right, digest, ms);
}
