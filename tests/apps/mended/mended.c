/* SPDX-License-Identifier: Apache-2.0
 *
 * mended NAME as-is|mended [rounds 40]: one of the programs of mended.def, as people write it or mended; both end with the
 * same checksum. Without arguments: the cases, and where a report claims what mending them saves. For `scripts/gpu
 * savings`, which holds the claim against the difference of the two times. It knows nothing of the shim.
 */
#include "tests/apps/mended/mended.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *claim;
    void (*run)(struct mended *m);
} cases[] = {
#define MENDED_CASE(name, claim) {#name, claim, mended_##name},
#include "tests/apps/mended/mended.def"
#undef MENDED_CASE
};

enum { CASES = sizeof cases / sizeof *cases };

void mended_begin(struct mended *m)
{
    CU(cuCtxSynchronize());
    m->began = app_now_ms();
}

void mended_end(struct mended *m)
{
    CU(cuCtxSynchronize());
    m->ms = app_now_ms() - m->began;
}

void mended_kernel(const struct mended *m, CUstream stream, CUdeviceptr words)
{
    speed_launch(&m->speed, stream, words, MENDED_KERNEL_NS);
}

void mended_host_works(void)
{
    double until = app_now_ms() + MENDED_HOST_NS * 1e-6;
    while (app_now_ms() < until)
        ;
}

void mended_check(struct mended *m, CUdeviceptr words, uint32_t value)
{
    m->right &= speed_check(words, value, &m->digest);
}

void mended_check_words(struct mended *m, const uint32_t *words, uint32_t value)
{
    for (unsigned i = 0; i < SPEED_WORDS; i++)
        m->right &= words[i] == value;
}

uint32_t *mended_pinned(size_t bytes)
{
    void *memory;
    CU(cuMemHostAlloc(&memory, bytes, 0));
    memset(memory, 0, bytes);
    return memory;
}

CUstream mended_stream(unsigned flags)
{
    CUstream stream;
    CU(cuStreamCreate(&stream, flags));
    return stream;
}

CUevent mended_event(void)
{
    CUevent event;
    CU(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

int main(int argc, char **argv)
{
    static struct mended m = {.digest = APP_DIGEST, .right = 1};
    for (unsigned i = 0; i < CASES; i++) {
        if (argc < 3)
            printf("%s %s\n", cases[i].name, cases[i].claim);
        if (argc < 3 || strcmp(cases[i].name, argv[1]) != 0)
            continue;
        m.mended = strcmp(argv[2], "mended") == 0;
        m.rounds = app_number(argc, argv, 3, 40);
        speed_start(&m.speed);
        cases[i].run(&m);
        return app_finish(m.right, m.digest, m.ms);
    }
    return argc < 3 ? 0 : 2;
}
