/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for the simulated driver that does everything once and then forbids itself, and the threads that it starts, all
 * system calls but those that it and the driver need: another one ends it by SIGSYS.
 *
 *     sandbox_child [asks]     asks: makes one that is forbidden, to show that it is
 */
#include <cstddef>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "tests/interpose/simulated.h"

#ifndef SECCOMP_RET_KILL_PROCESS
#define SECCOMP_RET_KILL_PROCESS 0x80000000U
#endif

namespace
{

constexpr unsigned words = 256;
CUfunction filling;

void work(unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        CUdeviceptr memory;
        CUstream stream;
        CUevent event;
        unsigned seen[words], count = words;
        void *params[] = {&memory, &i, &count};
        CU(cuMemAlloc(&memory, sizeof seen));
        CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
        CU(cuEventCreate(&event, CU_EVENT_DEFAULT));
        CU(cuLaunchKernel(filling, 1, 1, 1, 32, 1, 1, 0, nullptr, params, nullptr));
        CU(cuEventRecord(event, nullptr));
        CU(cuStreamWaitEvent(stream, event, 0));
        CU(cuMemcpyDtoHAsync(seen, memory, sizeof seen, stream));
        CU(cuStreamSynchronize(stream));
        must(seen[words - 1] == i ? CUDA_SUCCESS : CUDA_ERROR_UNKNOWN, "the result");
        CU(cuMemcpyHtoD(memory, seen, sizeof seen));
        CU(cuEventDestroy(event));
        CU(cuStreamDestroy(stream));
        CU(cuMemFree(memory));
    }
}

void *in_thread(void *)
{
    CU(cuCtxSetCurrent(context));
    work(20);
    return nullptr;
}

/* Waiting, memory, threads, the result, the end. */
constexpr unsigned allowed[] = {SYS_futex,
                                SYS_clock_nanosleep,
                                SYS_nanosleep,
                                SYS_sched_yield,
                                SYS_mmap,
                                SYS_munmap,
                                SYS_mprotect,
                                SYS_madvise,
                                SYS_brk,
                                SYS_clone,
#ifdef SYS_clone3
                                SYS_clone3,
#endif
#ifdef SYS_rseq
                                SYS_rseq,
#endif
                                SYS_set_robust_list,
                                SYS_rt_sigprocmask,
                                SYS_exit,
                                SYS_write,
                                SYS_exit_group};

void forbid()
{
    constexpr unsigned count = sizeof allowed / sizeof *allowed;
    sock_filter code[count + 3] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
    for (unsigned i = 0; i < count; i++)
        code[1 + i] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], static_cast<unsigned char>(count - i), 0);
    code[1 + count] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
    code[2 + count] = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    sock_fprog program = {count + 3, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(77);
}

} // namespace

int main(int argc, char **)
{
    pthread_t thread;
    start();
    filling = kernel("fill");
    work(1);
    forbid();
    if (argc > 1)
        getppid();
    work(100);
    if (pthread_create(&thread, nullptr, in_thread, nullptr) != 0)
        return 2;
    pthread_join(thread, nullptr);
    return write(1, "right\n", 6) == 6 ? 0 : 3;
}
