/* SPDX-License-Identifier: Apache-2.0
 *
 * When does the driver read the pinned source of an asynchronous copy? A copy into pinned memory waits behind a closed gate on the
 * first stream; a copy from that memory goes to the second one, which implicit order, an event or nothing lets wait; then the gate
 * opens. "new": the second copy has what the first one wrote; "old": it was read during the call.
 * By sizes, since a small copy may be put into the command itself.
 */
#include <stdio.h>
#include <string.h>

#include "tests/conformance/conf.h"

enum { MOST = 1 << 20, OLD = 0x11, NEW = 0x22 };

struct order {
    const char *name;
    CUstream *first, *second; /* NULL: the default stream */
    uintptr_t second_special;
    bool event;
};

static const struct order orders[] = {
    {"0-then-blocking", NULL, &conf.blocking, 0, false},
    {"0-then-0x2", NULL, NULL, 2, false},
    {"blocking-then-0", &conf.blocking, NULL, 0, false},
    {"one-stream", &conf.blocking, &conf.blocking, 0, false},
    {"event", &conf.nonblocking, &conf.nonblocking2, 0, true},
};

static const size_t sizes[] = {4,         1024,      8 * 1024,  12 * 1024, 16 * 1024, 24 * 1024,
                               32 * 1024, 48 * 1024, 64 * 1024, 64 * 1024 + 4, 256 * 1024, MOST};

static unsigned char *pinned, *back;
static CUdeviceptr source, target;

static CUstream stream_of(CUstream *created, uintptr_t special)
{
    return created != NULL ? *created : (CUstream)special;
}

static bool is_new(const struct order *o, size_t size)
{
    CUstream first = stream_of(o->first, 0), second = stream_of(o->second, o->second_special);
    CUevent event = NULL;
    memset(pinned, OLD, MOST);
    MUST(cuMemsetD8_v2(source, NEW, MOST));
    MUST(cuMemsetD8_v2(target, 0, MOST));
    MUST(cuCtxSynchronize());
    uint32_t *gate = conf_gate(first, false);
    MUST(cuMemcpyDtoHAsync_v2(pinned, source, size, first));
    if (o->event) {
        MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        MUST(cuEventRecord(event, first));
        MUST(cuStreamWaitEvent(second, event, 0));
    }
    MUST(cuMemcpyHtoDAsync_v2(target, pinned, size, second));
    conf_open(gate);
    MUST(cuCtxSynchronize());
    if (event != NULL)
        MUST(cuEventDestroy_v2(event));
    MUST(cuMemcpyDtoH_v2(back, target, size));
    return back[0] == NEW && back[size - 1] == NEW;
}

int main(void)
{
    conf_begin();
    MUST(cuMemHostAlloc((void **)&pinned, MOST, 0));
    MUST(cuMemHostAlloc((void **)&back, MOST, 0));
    MUST(cuMemAlloc_v2(&source, MOST));
    MUST(cuMemAlloc_v2(&target, MOST));
    for (size_t o = 0; o < sizeof orders / sizeof orders[0]; o++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            char name[64];
            snprintf(name, sizeof name, "%s,%zu", orders[o].name, sizes[i]);
            conf_say("overtake", name, is_new(&orders[o], sizes[i]) ? "new" : "old");
        }
    return conf_end();
}
