/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for the simulated driver: cancels a thread inside a driver call (SIM_NAP says in which one), and goes on with
 * work that comes after that thread's.
 *
 *     cancel_child LAUNCHES [tls]     the thread makes so many; tls: an object of the thread's own makes one more as it
 * goes
 *     cancel_child first              the thread is cancelled before it makes the process's first call
 */
#include <cstdlib>
#include <cstring>
#include <pthread.h>

#include "tests/interpose/simulated.h"

namespace
{

CUdeviceptr memory;
CUfunction filling;
int launches;
bool with_object;

void fill(unsigned with)
{
    unsigned count = 16;
    void *params[] = {&memory, &with, &count};
    CU(cuLaunchKernel(filling, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr));
}

struct Object {
    bool made = false;
    ~Object()
    {
        if (made && with_object)
            fill(7);
    }
};
thread_local Object object;

void *work(void *)
{
    CU(cuCtxSetCurrent(context));
    object.made = true;
    for (int i = 0; i < launches; i++)
        fill(static_cast<unsigned>(i));
    for (;;)
        pause();
}

void *first_call(void *)
{
    CUcontext first;
    pthread_cancel(pthread_self());
    CU(cuDevicePrimaryCtxRetain(&first, 0));
    printf("called\n");
    fflush(stdout);
    pthread_testcancel();
    return nullptr;
}

/* No call of the driver is one that a thread is cancelled in. */
int first()
{
    pthread_t thread;
    void *result = nullptr;
    CU(cuInit(0));
    if (pthread_create(&thread, nullptr, first_call, nullptr) != 0)
        return 2;
    pthread_join(thread, &result);
    start();
    printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "returned");
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    pthread_t thread;
    void *result;
    unsigned seen[16];
    if (argc > 1 && strcmp(argv[1], "first") == 0)
        return first();
    launches = argc > 1 ? atoi(argv[1]) : 1;
    with_object = argc > 2 && strcmp(argv[2], "tls") == 0;
    start();
    CU(cuMemAlloc(&memory, 4096));
    filling = kernel("fill");
    fill(100);
    if (pthread_create(&thread, nullptr, work, nullptr) != 0)
        return 2;
    usleep(300000);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("%s\n", result == PTHREAD_CANCELED ? "cancelled" : "returned");
    for (unsigned i = 0; i < 40; i++)
        fill(static_cast<unsigned>(i));
    CU(cuMemcpyDtoH(seen, memory, sizeof seen));
    CU(cuCtxSynchronize());
    printf("%u\n", seen[15]);
    return 0;
}
