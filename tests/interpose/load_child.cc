/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for the simulated driver that makes much of something; argv[1] says what. Its last line is "end",
 * CLOCK_MONOTONIC in ms as main ends, and how much memory the process has then, in kB.
 *
 *     crowd N CALLS STREAMS [THEN]
 *         N threads, all there until the last is done, each with so many launches, in turn on the default stream and on
 *         blocking streams of its own, and a wait after a thousand. "ready" before they end. THEN "hold": waits to be
 *         killed; "leave": ends without them.
 *     hold FILE [CALLS]
 *         ten launches or so many, "ready", and as many for each byte that FILE grows by, with "again", up to three
 *     bus
 *         reads past the end of a file that it has mapped
 *     names
 *         a kernel whose name looks like a line of the shim's, on a stream, and work behind it
 *     handler HOW
 *         "own": sets a handler for SIGBUS first. Says what there is after work: own, default, another.
 */
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <dlfcn.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <thread>
#include <vector>

#include "tests/interpose/simulated.h"
#include "tests/sim/sim_test_api.h"

namespace
{

void say(const char *text)
{
    printf("%s\n", text);
    fflush(stdout);
}

long long milliseconds()
{
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/* Of memory that is nobody's file. */
long resident()
{
    char line[200];
    long found = 0;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "RssAnon: %ld kB", &found);
    if (status)
        fclose(status);
    return found;
}

void launch(CUfunction function, CUstream stream)
{
    CU(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr));
}

void work(CUfunction function, int calls, int count)
{
    std::vector<CUstream> streams(static_cast<size_t>(count) + 1, nullptr);
    CU(cuCtxSetCurrent(context));
    for (size_t i = 1; i < streams.size(); i++)
        CU(cuStreamCreate(&streams[i], CU_STREAM_DEFAULT));
    for (int i = 1; i <= calls; i++) {
        launch(function, streams[static_cast<size_t>(i) % streams.size()]);
        if (i % 1000 == 0) /* what is pending is the driver's memory */
            CU(cuStreamSynchronize(nullptr));
    }
}

void crowd(int count, int calls, int streams, const std::string &then)
{
    std::vector<std::thread> threads;
    static std::atomic<int> busy;
    const int more = then.empty() ? 0 : 1;
    busy = count + more;
    CUfunction function = kernel("empty");
    for (int i = 0; i < count; i++) {
        threads.emplace_back([function, calls, streams] {
            work(function, calls, streams);
            busy--;
            while (busy > 0)
                usleep(1000);
        });
    }
    while (busy > more)
        usleep(1000);
    say("ready");
    while (then == "hold")
        pause();
    for (std::thread &thread : threads) {
        if (then == "leave")
            thread.detach();
        else
            thread.join();
    }
}

off_t size_of(const char *file)
{
    struct stat status;
    return stat(file, &status) == 0 ? status.st_size : 0;
}

void hold(const char *file, int calls)
{
    CUfunction function = kernel("empty");
    for (int i = 0; i < calls; i++)
        launch(function, nullptr);
    say("ready");
    for (off_t seen = 0; seen < 3; seen++) {
        while (size_of(file) <= seen)
            usleep(1000);
        for (int i = 0; i < calls; i++)
            launch(function, nullptr);
        say("again");
    }
}

int bus()
{
    FILE *file = tmpfile();
    const void *pages = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
    return *static_cast<const volatile int *>(pages);
}

void names()
{
    CUmodule image;
    CUfunction function;
    CUstream stream;
    CUdeviceptr memory;
    const char *name = "innocent\nptds: !! WRONG: forged\n\033[2J\x9b"
                       "1m\177";
    auto define = reinterpret_cast<decltype(&sim_define_kernel)>(dlsym(RTLD_DEFAULT, "sim_define_kernel"));
    define(name, "", [](const unsigned char *) {});
    CU(cuModuleLoadData(&image, "\177ELF: not PTX, so it has every kernel that there is"));
    CU(cuModuleGetFunction(&function, image, name));
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    launch(function, stream);
    launch(function, nullptr);
    CU(cuMemAlloc(&memory, 64));
    launch(function, stream);
    CU(cuMemsetD8Async(memory, 0, 64, nullptr));
    CU(cuCtxSynchronize());
}

void own(int)
{
}

void handler(bool with_own)
{
    struct sigaction there;
    if (with_own)
        signal(SIGBUS, own);
    start();
    launch(kernel("empty"), nullptr);
    sigaction(SIGBUS, nullptr, &there);
    say(there.sa_handler == own ? "own" : there.sa_handler == SIG_DFL ? "default" : "another");
}

} // namespace

int main(int argc, char **argv)
{
    std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "handler" && argc > 2) {
        handler(std::string(argv[2]) == "own");
        return 0;
    }
    start();
    if (mode == "crowd" && argc > 4)
        crowd(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]), argc > 5 ? argv[5] : "");
    else if (mode == "hold" && argc > 2)
        hold(argv[2], argc > 3 ? atoi(argv[3]) : 10);
    else if (mode == "names")
        names();
    else if (mode == "bus")
        return bus();
    else
        return 2;
    printf("end %lld %ld\n", milliseconds(), resident());
    return 0;
}
