/* SPDX-License-Identifier: Apache-2.0
 *
 * A CUDA program in every situation of a process's life; argv[1] says which. Prints what a test compares.
 *
 *     work N           N launches, exit status 5
 *     _exit N          the same, past destructors and exit handlers
 *     hold N           N launches, prints "ready", waits to be killed or, on a byte in the file argv[3], goes on and exits
 *     fork-before N    forks before its first call; parent and child work
 *     fork-after N     works, forks; the child works N+1 more, the parent N+2 more
 *     fork-raw N       the same, by the kernel alone: libc does not tell of it
 *     fork-quiet N     works, forks; the child does nothing of CUDA
 *     fork-inside N    works, and forks in a signal handler three times; the children go on from there and end
 *     exec N           works, then becomes "work N"
 *     exec-bare N      works, then becomes a program without CUDA
 *     detached N       main ends while another thread goes on working
 *     threads N        eight threads of N launches each, joined
 *     race N           sixteen threads make the process's first calls together
 *     constructor N PATH      makes its first call while another thread is in that library's constructor, which makes one
 *     churn N          two thousand threads, one after the other
 *     unload N PATH    works through a library that brought the driver and is unloaded, twice
 *     abort N          works, then abort()
 *     quick_exit N     works, then quick_exit()
 *     segv N           works, then a fatal signal
 *     atexit N         works, and once more in an exit handler
 *     late N PATH      works, and N+1 more when that library is finalised
 *     interrupted N PATH      the same, and works again and again until SIGUSR1, whose handler exits
 *     data N PATH      works, writes to a file of its own
 *     own-file-first N PATH   the same, and that file has stderr's number before its first call
 *     own-file-then N PATH    the same behind its first calls
 *     own-file-back N PATH    the same, and stderr is stderr again at the end
 *     cleared N        clears its environment, then works; with PATH it sets PTDS_POLICY to that in between
 *     floats N         rounds upwards, and every floating-point exception ends it; 5 if none occurred
 *     numbers N PATH   closes 0 and 1, works, opens PATH twice; ends with 5 if these are 0 and 1 again
 *     daemon N PATH    works, closes stderr, prints "closed", waits for the file PATH
 */
#include <atomic>
#include <cfenv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" {
#include "interpose/api/cuda_abi.h"
}

namespace
{

/* The driver is looked up, so that a mode can choose when it comes in. */
struct Driver {
    decltype(&cuInit) init;
    decltype(&cuCtxCreate_v2) create;
    decltype(&cuCtxSetCurrent) use;
    decltype(&cuLaunchKernel) launch;
    CUcontext context;
} driver;

template <class F> void look_up(void *library, F *function, const char *name)
{
    *function = reinterpret_cast<F>(dlsym(library, name));
    if (!*function)
        exit(90);
}

void open_driver()
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        exit(91);
    look_up(library, &driver.init, "cuInit");
    look_up(library, &driver.create, "cuCtxCreate_v2");
    look_up(library, &driver.use, "cuCtxSetCurrent");
    look_up(library, &driver.launch, "cuLaunchKernel");
    if (driver.init(0))
        exit(92);
}

void start()
{
    open_driver();
    if (driver.create(&driver.context, 0, 0))
        exit(92);
}

void work(int times)
{
    for (int i = 0; i < times; i++) {
        if (driver.launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr))
            exit(93);
    }
}

void say(const char *text)
{
    printf("%s\n", text);
    fflush(stdout);
}

int wait_for(pid_t child)
{
    int status = 0;
    waitpid(child, &status, 0);
    printf("child %d %d\n", child, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    return 5;
}

int fork_before(int times)
{
    fflush(stdout);
    pid_t child = fork();
    start();
    work(child ? times : times + 1);
    return child ? wait_for(child) : 6;
}

int fork_after(int times, const std::string &mode)
{
    start();
    work(times);
    pid_t child = mode == "fork-raw" ? pid_t(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) : fork();
    if (!child) {
        if (mode == "fork-after") {
            driver.create(&driver.context, 0, 0);
            work(times + 1);
        }
        exit(6);
    }
    int status = wait_for(child);
    work(times + 2);
    return status;
}

int fork_inside(int times)
{
    static volatile sig_atomic_t forks, is_child;
    signal(SIGUSR1, SIG_IGN);
    start();
    signal(SIGUSR1, [](int) {
        if (is_child || forks == 3)
            return;
        forks = forks + 1;
        pid_t child = fork();
        if (!child)
            is_child = 1;
        else
            waitpid(child, nullptr, 0);
    });
    for (int i = 0; i < 1000 * times && !is_child && forks < 3; i++, usleep(20))
        work(1);
    if (is_child)
        _exit(6);
    printf("%d\n", static_cast<int>(forks));
    return 5;
}

int hold(int times, const char *go_on)
{
    struct stat unused;
    start();
    work(times);
    say("ready");
    while (!go_on || stat(go_on, &unused) != 0)
        usleep(1000);
    work(times);
    return 5;
}

int detached(int times)
{
    static std::atomic<bool> running;
    start();
    std::thread([times] {
        driver.use(driver.context);
        for (;;) {
            work(times);
            running = true;
        }
    }).detach();
    while (!running)
        std::this_thread::yield();
    return 5;
}

int threads(int times)
{
    std::vector<std::thread> all;
    start();
    for (int i = 0; i < 8; i++) {
        all.emplace_back([times] {
            driver.use(driver.context);
            work(times);
        });
    }
    for (std::thread &thread : all)
        thread.join();
    return 5;
}

int race(int times)
{
    static std::atomic<int> waiting{16};
    std::vector<std::thread> all;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    for (int i = 0; i < 16; i++) {
        all.emplace_back([library, times] {
            CUcontext context;
            waiting--;
            while (waiting > 0)
                std::this_thread::yield();
            auto init = reinterpret_cast<decltype(&cuInit)>(dlsym(library, "cuInit"));
            auto create = reinterpret_cast<decltype(&cuCtxCreate_v2)>(dlsym(library, "cuCtxCreate_v2"));
            auto launch = reinterpret_cast<decltype(&cuLaunchKernel)>(dlsym(library, "cuLaunchKernel"));
            if (init(0) || create(&context, 0, 0))
                exit(92);
            for (int k = 0; k < times; k++)
                launch(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
        });
    }
    for (std::thread &thread : all)
        thread.join();
    return 5;
}

int constructor(int times, const char *path)
{
    int pipes[2];
    char byte;
    open_driver();
    if (pipe(pipes) != 0 || dup2(pipes[1], 200) != 200)
        return 94;
    std::thread other([path] {
        if (!dlopen(path, RTLD_NOW))
            exit(95);
    });
    if (read(pipes[0], &byte, 1) != 1 || driver.create(&driver.context, 0, 0))
        return 96;
    work(times);
    other.join();
    return 5;
}

int churn(int times)
{
    start();
    for (int i = 0; i < 2000; i++) {
        std::thread([times] {
            driver.use(driver.context);
            work(times);
        }).join();
    }
    return 5;
}

/* Where the driver was, another thing is now: it can't come back to the same place. */
void occupy(void *base)
{
    if (base && dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) == nullptr)
        mmap(base, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

int unload(const char *path)
{
    for (int i = 0; i < 2; i++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        auto use = reinterpret_cast<int (*)()>(library ? dlsym(library, "plugin_use") : nullptr);
        void *inside = library ? dlsym(library, "fake_address") : nullptr;
        Dl_info info = {};
        if (!use || use() != 0 || !inside || !dladdr(inside, &info) || dlclose(library) != 0)
            return 94;
        occupy(info.dli_fbase);
    }
    return 5;
}

int remaining;

int late(int times, const char *path)
{
    void *library = dlopen(path, RTLD_NOW);
    auto set = reinterpret_cast<void (*)(void (*)())>(library ? dlsym(library, "late_work") : nullptr);
    if (!set)
        return 96;
    start();
    work(times);
    remaining = times + 1;
    set([] {
        work(remaining);
        say("late");
    });
    return 5;
}

int interrupted(int times, const char *path)
{
    signal(SIGUSR1, SIG_IGN);
    if (late(times, path) != 5)
        return 97;
    signal(SIGUSR1, [](int) { exit(5); });
    for (int i = 0; i < 1000; i++, usleep(1000))
        work(times);
    return 98;
}

/* As a program that has closed 0 to 2, or that keeps what stderr was. */
int own_file(const std::string &mode, int times, const char *path)
{
    int kept = fcntl(2, F_DUPFD_CLOEXEC, 10);
    if (mode != "own-file-first")
        start();
    for (int file = mode == "data" ? 3 : 0; file < 3; file++)
        close(file);
    int own;
    do
        own = open(path, O_WRONLY | O_CREAT, 0600);
    while (own >= 0 && own < 2);
    if (mode == "own-file-first")
        start();
    work(times);
    if (write(own, "the program's own\n", 18) != 18)
        return 95;
    if (mode == "own-file-back")
        dup2(kept, 2);
    return 5;
}

int cleared(int times, const char *policy)
{
    clearenv();
    if (policy)
        setenv("PTDS_POLICY", policy, 1);
    start();
    work(times);
    return 5;
}

int floats(int times)
{
    fesetround(FE_UPWARD);
    feenableexcept(FE_ALL_EXCEPT);
    start();
    work(times);
    return fetestexcept(FE_ALL_EXCEPT) == 0 && fegetround() == FE_UPWARD ? 5 : 93;
}

/* As a program that becomes a daemon: stdin and stdout will be what it opens next. */
int numbers(int times, const char *path)
{
    close(0);
    close(1);
    start();
    work(times);
    return open(path, O_RDWR | O_CREAT, 0600) == 0 && open(path, O_RDWR) == 1 && write(1, "mine", 4) == 4 ? 5 : 94;
}

int daemon(int times, const char *go_on)
{
    struct stat unused;
    start();
    work(times);
    close(2);
    say("closed");
    while (stat(go_on, &unused) != 0)
        usleep(1000);
    return 5;
}

} // namespace

int main(int argc, char **argv)
{
    std::string mode = argc > 1 ? argv[1] : "";
    int times = argc > 2 ? atoi(argv[2]) : 0;
    const char *argument = argc > 3 ? argv[3] : nullptr;
    if (mode == "fork-before")
        return fork_before(times);
    if (mode == "fork-after" || mode == "fork-quiet" || mode == "fork-raw")
        return fork_after(times, mode);
    if (mode == "fork-inside")
        return fork_inside(times);
    if (mode == "hold")
        return hold(times, argument);
    if (mode == "detached")
        return detached(times);
    if (mode == "threads")
        return threads(times);
    if (mode == "race")
        return race(times);
    if (mode == "constructor")
        return constructor(times, argument);
    if (mode == "churn")
        return churn(times);
    if (mode == "data" || mode.rfind("own-file", 0) == 0)
        return own_file(mode, times, argument);
    if (mode == "cleared")
        return cleared(times, argument);
    if (mode == "floats")
        return floats(times);
    if (mode == "numbers")
        return numbers(times, argument);
    if (mode == "daemon")
        return daemon(times, argument);
    if (mode == "unload")
        return unload(argument);
    if (mode == "late")
        return late(times, argument);
    if (mode == "interrupted")
        return interrupted(times, argument);
    start();
    work(times);
    if (mode == "_exit")
        _exit(5);
    if (mode == "quick_exit")
        quick_exit(5);
    if (mode == "segv")
        raise(SIGSEGV);
    if (mode == "atexit") {
        remaining = times;
        atexit([] { work(remaining); });
    }
    if (mode == "abort")
        abort();
    if (mode == "exec")
        execl(argv[0], argv[0], "work", argv[2], nullptr);
    if (mode == "exec-bare")
        execl("/bin/sh", "sh", "-c", "exit 5", nullptr);
    return 5;
}
