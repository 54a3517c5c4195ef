/* SPDX-License-Identifier: Apache-2.0
 *
 * An OpenMP program for the simulated driver as gcc compiles one: it calls the runtime's functions by hand, so that any
 * compiler can build it. Threads put slow work on the default stream and hand it over by what argv[1] says; legacy order
 * makes what is read after that right. Prints OK or WRONG.
 *
 *     region loop sections    the end of a parallel region of that kind
 *     begin                   the beginning of one: what the first thread did before, others read
 *     barrier meeting         a barrier in a region, and the end of a loop that is shared
 *     single                  `single copyprivate`: what one thread did, others read
 *     flag                    no OpenMP: an atomic, told by ptds.h
 */
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/interpose/simulated.h"

#include "interpose/ptds.h"

extern "C" {
void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned);
void GOMP_parallel_loop_nonmonotonic_dynamic(void (*)(void *), void *, unsigned, long, long, long, long, unsigned);
void GOMP_parallel_sections(void (*)(void *), void *, unsigned, unsigned, unsigned);
bool GOMP_loop_nonmonotonic_dynamic_start(long, long, long, long, long *, long *);
bool GOMP_loop_nonmonotonic_dynamic_next(long *, long *);
void GOMP_loop_end();
void GOMP_loop_end_nowait();
unsigned GOMP_sections_next();
void GOMP_sections_end_nowait();
void GOMP_barrier();
void *GOMP_single_copy_start();
void GOMP_single_copy_end(void *);
int omp_get_thread_num();
}

namespace
{

enum { TEAM = 4 };
CUfunction spin;
CUdeviceptr memory[TEAM];
std::atomic<int> wrong{0};
std::thread::id quick;

/* Twenty milliseconds, then the value. The first thread is quicker where it is the one that reads: else it would wait for
 * its own work while the others' gets done. */
void write_slowly(int at, unsigned value)
{
    uint64_t ns = std::this_thread::get_id() == quick ? 1000 : 20000000;
    void *params[] = {&ns};
    CU(cuCtxSetCurrent(context));
    CU(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
    CU(cuMemsetD32Async(memory[at], value, 1, nullptr));
}

void read(int at, unsigned value)
{
    unsigned found = 0;
    CU(cuCtxSetCurrent(context));
    CU(cuMemcpyDtoH(&found, memory[at], sizeof found));
    wrong += found != value;
}

void read_all(unsigned value)
{
    for (int i = 0; i < TEAM; i++)
        read(i, value);
}

void each_writes(void *)
{
    write_slowly(omp_get_thread_num(), 1);
}

/* So that others take the work. */
void let_others_begin()
{
    if (std::this_thread::get_id() == quick)
        usleep(5000);
}

void loop_writes(void *)
{
    let_others_begin();
    long from, to;
    while (GOMP_loop_nonmonotonic_dynamic_next(&from, &to))
        for (; from < to; from++)
            write_slowly(static_cast<int>(from), 1);
    GOMP_loop_end_nowait();
}

void sections_write(void *)
{
    let_others_begin();
    for (unsigned section; (section = GOMP_sections_next()) != 0;)
        write_slowly(static_cast<int>(section) - 1, 1);
    GOMP_sections_end_nowait();
}

void each_reads(void *)
{
    read(omp_get_thread_num(), 1);
}

/* Each reads what the one beside it wrote. */
void neighbours(void (*meet)())
{
    int own = omp_get_thread_num();
    write_slowly(own, 1);
    meet();
    read((own + 1) % TEAM, 1);
}

void across_a_barrier(void *)
{
    neighbours(GOMP_barrier);
}

void across_a_loop(void *)
{
    neighbours([] {
        long from, to;
        if (GOMP_loop_nonmonotonic_dynamic_start(0, TEAM, 1, 1, &from, &to))
            while (GOMP_loop_nonmonotonic_dynamic_next(&from, &to)) {
            }
        GOMP_loop_end();
    });
}

void across_a_single(void *)
{
    if (GOMP_single_copy_start() != nullptr) {
        read(0, 1);
        return;
    }
    write_slowly(0, 1);
    GOMP_single_copy_end(&wrong);
}

void across_a_flag()
{
    std::atomic<int> written{0}, finished{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < TEAM; i++)
        threads.emplace_back([&, i] {
            write_slowly(i, 1);
            ptds_hand_over(&written);
            written++;
            while (finished == 0)
                usleep(100);
        });
    while (written < TEAM)
        usleep(100);
    ptds_take_over(&written);
    read_all(1);
    finished = 1;
    for (std::thread &thread : threads)
        thread.join();
}

void make_memory()
{
    for (CUdeviceptr &one : memory) {
        CU(cuMemAlloc(&one, sizeof(unsigned)));
        CU(cuMemsetD32(one, 0, 1));
    }
    CU(cuCtxSynchronize());
}

bool run(const std::string &how)
{
    if (how == "region")
        GOMP_parallel(each_writes, nullptr, TEAM, 0);
    else if (how == "loop")
        GOMP_parallel_loop_nonmonotonic_dynamic(loop_writes, nullptr, TEAM, 0, TEAM, 1, 1, 0);
    else if (how == "sections")
        GOMP_parallel_sections(sections_write, nullptr, TEAM, TEAM, 0);
    else if (how == "barrier")
        GOMP_parallel(across_a_barrier, nullptr, TEAM, 0);
    else if (how == "meeting")
        GOMP_parallel(across_a_loop, nullptr, TEAM, 0);
    else if (how == "single")
        GOMP_parallel(across_a_single, nullptr, TEAM, 0);
    else if (how == "flag")
        across_a_flag();
    else if (how == "begin")
        GOMP_parallel([](void *) {}, nullptr, TEAM, 0); /* the team is there already when there is something to hand over */
    else
        return false;
    if (how == "begin") {
        for (int i = 0; i < TEAM; i++)
            write_slowly(i, 1);
        GOMP_parallel(each_reads, nullptr, TEAM, 0);
    } else if (how != "barrier" && how != "meeting" && how != "single" && how != "flag") {
        read_all(1);
    }
    return true;
}

} // namespace

int main(int argc, char **argv)
{
    start();
    spin = kernel("spin_ns");
    make_memory();
    if (argc < 2)
        return 2;
    std::string how = argv[1];
    if (how != "begin" && how != "single")
        quick = std::this_thread::get_id();
    if (!run(how))
        return 2;
    puts(wrong == 0 ? "OK" : "WRONG");
    return wrong == 0 ? 0 : 1;
}
