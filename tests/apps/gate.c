// SPDX-License-Identifier: Apache-2.0
//
// Gates (app.h): a word in mapped pinned memory that a kernel waits for, and a host thread that
// sets it a little later. The opener never calls CUDA, so a call that blocks until the gate is open
// returns in the end, whatever it waits for.

#include "app.h"

void gate_make(struct gate *gate, unsigned ms)
{
    void *flag;
    CU(cuMemHostAlloc(&flag, sizeof *gate->flag, CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_PORTABLE));
    CU(cuMemHostGetDevicePointer(&gate->address, flag, 0));
    gate->flag = flag;
    gate->ms = ms;
    gate->shut = 0;
}

static void *open_later(void *argument)
{
    struct gate *gate = argument;
    app_sleep_ms(gate->ms);
    __atomic_store_n(gate->flag, 1, __ATOMIC_RELEASE);
    return NULL;
}

void gate_arm(struct gate *gate)
{
    gate_join(gate);
    __atomic_store_n(gate->flag, 0, __ATOMIC_RELEASE);
    gate->shut = 1;
    pthread_create(&gate->opener, NULL, open_later, gate);
}

void gate_shut(const struct app *app, struct gate *gate, CUstream stream)
{
    gate_arm(gate);
    CU(gate_launch(app, gate, stream));
}

void gate_join(struct gate *gate)
{
    if (gate->shut)
        pthread_join(gate->opener, NULL);
    gate->shut = 0;
}
