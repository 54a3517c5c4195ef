/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls every function of the table, and its twin, with what the driver must refuse and with some that it need not: null,
 * -1, huge and unaligned values, one argument at a time, from three starting points (all plausible, all null, all -1).
 * Which values an argument gets follows from its type, which the prototype says. Writes a line a call:
 *
 *     FUNCTION NUMBER RESULT|ended      "ended" where the process did not outlive the call
 *
 * refused_child OUT [BARE]: where the file BARE, an earlier OUT, says that a call ended the process it is left out. Calls
 * of one function are made one after the other in one process, a new one behind each call that ended it.
 */
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <set>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>
#include <utility>

extern "C" {
#include "interpose/api/cuda_abi.h"
}
#include "tests/conformance/kernels.ptx.h"

namespace
{

enum { BUFFER = 1 << 16, CALLS = 1024, SECONDS = 5 };
enum Start { PLAUSIBLE, NOTHING, MINUS_ONE, STARTS };

char *buffer; /* nothing behind it can be read: what lies there must not decide anything */

/* What there is in each process. */
struct {
    CUcontext context;
    CUmodule module;
    CUfunction function;
    CUstream stream;
    CUevent event;
    CUdeviceptr memory;
} there;

template <class Result, class... Arguments> Result nothing_much(Arguments...)
{
    return Result();
}

/* ---- values of a type: the first is plausible, the second null, the third -1 ---- */

template <class T> struct Whole {
    static constexpr int count = 8;
    static T value(int which)
    {
        /* An address, whole: a part of one would be another number each time. */
        const unsigned long long address = sizeof(T) == sizeof(CUdeviceptr) ? there.memory : 7;
        const unsigned long long all[] = {1, 0, ~0ull, 1000, 1ull << 40, 3, 0x80000000u, address};
        return static_cast<T>(all[which]);
    }
};

template <class T> struct Bytes {
    static constexpr int count = 3;
    static T value(int which)
    {
        T made;
        memset(static_cast<void *>(&made), which == 0 ? 1 : which == 1 ? 0 : -1, sizeof made);
        return made;
    }
};

/* To memory of the program's. */
template <class T> struct Data {
    static constexpr int count = 5;
    static T value(int which)
    {
        void *const all[] = {buffer, nullptr, reinterpret_cast<void *>(~0ul), buffer + 1, reinterpret_cast<void *>(8)};
        return reinterpret_cast<T>(all[which]);
    }
};

template <class T> void *example()
{
    return nullptr;
}
template <> void *example<CUcontext>()
{
    return there.context;
}
template <> void *example<CUmodule>()
{
    return there.module;
}
template <> void *example<CUfunction>()
{
    return there.function;
}
template <> void *example<CUstream>()
{
    return there.stream;
}
template <> void *example<CUevent>()
{
    return there.event;
}

template <class T> struct Handle {
    static constexpr int count = 6;
    static T value(int which)
    {
        void *const all[] = {example<T>(),
                             nullptr,
                             reinterpret_cast<void *>(~0ul),
                             reinterpret_cast<void *>(1),
                             reinterpret_cast<void *>(2),
                             reinterpret_cast<void *>(9)};
        return reinterpret_cast<T>(all[which]);
    }
};

template <class T> struct Code;
template <class Result, class... Arguments> struct Code<Result (*)(Arguments...)> {
    static constexpr int count = 2;
    static auto value(int which) -> Result (*)(Arguments...)
    {
        return which == 0 ? &nothing_much<Result, Arguments...> : nullptr;
    }
};

template <class T, class = void> struct is_complete : std::false_type {
};
template <class T> struct is_complete<T, std::void_t<decltype(sizeof(T))>> : std::true_type {
};

template <class T> constexpr auto values_of()
{
    if constexpr (std::is_pointer_v<T>) {
        using Behind = std::remove_pointer_t<T>;
        if constexpr (std::is_function_v<Behind>)
            return Code<T>();
        else if constexpr (std::is_void_v<Behind> || is_complete<Behind>::value)
            return Data<T>();
        else
            return Handle<T>();
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
        return Whole<T>();
    } else {
        return Bytes<T>();
    }
}
template <class T> using Values = decltype(values_of<T>());

/* ---- calls ---- */

/* Of one function. `number` counts through the starting points, arguments and values. */
struct Calls {
    void *found;
    int first, count;
    const std::set<int> *left_out;
    int *at, *results;
    void (*prepare)();
};

template <class... Arguments, size_t... index>
void call_each(const Calls &calls, CUresult (*function)(Arguments...), std::index_sequence<index...>)
{
    int number = 0;
    for (int start = 0; start < STARTS; start++) {
        for (size_t argument = 0; argument < (sizeof...(Arguments) ? sizeof...(Arguments) : 1); argument++) {
            const int counts[] = {Values<Arguments>::count..., 1};
            for (int which = 0; which < counts[argument]; which++, number++) {
                if (number < calls.first)
                    continue;
                *calls.at = number;
                if (calls.left_out->count(number))
                    _exit(0);
                calls.prepare();
                calls.results[number] = function(Values<Arguments>::value(index == argument                  ? which
                                                                          : start < Values<Arguments>::count ? start
                                                                                                             : 1)...);
            }
        }
    }
    *calls.at = number;
}

template <class... Arguments> void call_all(const Calls &calls, CUresult (*type)(Arguments...))
{
    *reinterpret_cast<void **>(&type) = calls.found;
    call_each(calls, type, std::index_sequence_for<Arguments...>());
}

struct Row {
    const char *symbol;
    void (*call)(const Calls &);
};

#define ROW(symbol) {#symbol, [](const Calls &calls) { call_all(calls, decltype (&symbol)(nullptr)); }},
const Row rows[] = {
#define API(symbol, ...) ROW(symbol)
#define API_PTSZ(symbol, ...) ROW(symbol) ROW(symbol##_ptsz)
#define API_PTDS(symbol, ...) ROW(symbol) ROW(symbol##_ptds)
#include "interpose/api/api.def"
};

void *driver;

#define DRIVER(name) reinterpret_cast<decltype(&name)>(dlsym(driver, #name))

void begin()
{
    signal(SIGALRM, SIG_DFL);
    alarm(SECONDS);
    bool good = DRIVER(cuInit)(0) == 0 && DRIVER(cuCtxCreate_v2)(&there.context, 0, 0) == 0 &&
                DRIVER(cuModuleLoadData)(&there.module, ptds_test_ptx) == 0 &&
                DRIVER(cuModuleGetFunction)(&there.function, there.module, "add_one") == 0 &&
                DRIVER(cuStreamCreate)(&there.stream, 0) == 0 && DRIVER(cuEventCreate)(&there.event, 0) == 0 &&
                DRIVER(cuMemAlloc_v2)(&there.memory, BUFFER) == 0;
    if (!good)
        _exit(3);
}

/* Whatever the call before has left there. */
void prepare()
{
    memset(buffer, 0, BUFFER);
}

/* Of a process: how far it came. */
struct Shared {
    int at, results[CALLS];
};

using LeftOut = std::map<std::string, std::set<int>>;

void do_row(const Row &row, const std::set<int> &left_out, Shared *shared, FILE *out)
{
    void *found = dlsym(driver, row.symbol);
    for (int first = 0; found;) {
        shared->at = -1;
        pid_t child = fork();
        if (child == 0) {
            begin();
            row.call({found, first, 0, &left_out, &shared->at, shared->results, prepare});
            _exit(1);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (shared->at < 0) {
            fprintf(out, "%s: no context, %d\n", row.symbol, status);
            return;
        }
        for (int number = first; number < shared->at; number++)
            fprintf(out, "%s %d %d\n", row.symbol, number, shared->results[number]);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
            return;
        fprintf(out, "%s %d ended\n", row.symbol, shared->at);
        first = shared->at + 1;
    }
}

LeftOut read_bare(const char *path)
{
    LeftOut all;
    char symbol[128], word[32];
    int number;
    FILE *file = path ? fopen(path, "r") : nullptr;
    while (file && fscanf(file, "%127s %d %31s", symbol, &number, word) == 3)
        if (strcmp(word, "ended") == 0)
            all[symbol].insert(number);
    if (file)
        fclose(file);
    return all;
}

} // namespace

int main(int argc, char **argv)
{
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    FILE *out = argc > 1 ? fopen(argv[1], "w") : nullptr;
    void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const rlimit no_core = {0, 0};
    buffer = static_cast<char *>(mmap(nullptr, BUFFER + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (buffer == MAP_FAILED || mprotect(buffer + BUFFER, 4096, PROT_NONE))
        return 2;
    if (!driver || !out || memory == MAP_FAILED || setrlimit(RLIMIT_CORE, &no_core))
        return 2;
    LeftOut left_out = read_bare(argc > 2 ? argv[2] : nullptr);
    for (const Row &row : rows)
        if (argc < 4 || strcmp(argv[3], row.symbol) == 0)
            do_row(row, left_out[row.symbol], static_cast<Shared *>(memory), out);
    return fclose(out) == 0 ? 0 : 2;
}
