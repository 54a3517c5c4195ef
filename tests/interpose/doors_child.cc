/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls every function with a per-thread twin, the twin, and every other function with a stream, through each of the five
 * doors with each kind of stream, and prints what the driver saw. Expanded from the table; a driver program otherwise.
 *
 *     addr DOOR SYMBOL WHAT                what the door handed out: the driver's base or twin, or the shim's wrapper
 *     call DOOR SYMBOL STREAM : ENTRIES    what the driver saw of one call
 */
#include <cerrno>
#include <cstdio>
#include <dlfcn.h>
#include <string>

#include "tests/interpose/child_log.h"

namespace
{

/* What arguments are made of; everything else is zero. */
struct Given {
    CUstream stream;
    CUevent event;
    CUstream stream_at;
    CUlaunchConfig config;
    CUDA_LAUNCH_PARAMS launches[1];
    CUDA_GRAPH_INSTANTIATE_PARAMS params;
    CUDA_MEMCPY2D copy_2d;
    CUDA_MEMCPY3D copy_3d;
    CUDA_MEMCPY3D_PEER copy_peer;
    CUgraphExec graph_exec;
};

template <class T> struct Make {
    static T from(Given &)
    {
        return T{};
    }
};
#define MAKE(type, expression) \
    template <> struct Make<type> { \
        static type from(Given &given) \
        { \
            (void)given; \
            return expression; \
        } \
    }
MAKE(CUstream, given.stream);
MAKE(CUstream *, &given.stream_at);
MAKE(CUDA_LAUNCH_PARAMS *, given.launches);
MAKE(unsigned, 1);
MAKE(CUevent, given.event);
MAKE(const CUlaunchConfig *, &given.config);
MAKE(CUDA_GRAPH_INSTANTIATE_PARAMS *, &given.params);
MAKE(const CUDA_MEMCPY2D *, &given.copy_2d);
MAKE(const CUDA_MEMCPY3D *, &given.copy_3d);
MAKE(const CUDA_MEMCPY3D_PEER *, &given.copy_peer);
MAKE(CUdeviceptr, FAKE_DEVICE_MEMORY);
MAKE(size_t, 16);
MAKE(CUgraphExec *, &given.graph_exec);

template <class F> struct Caller;
template <class... A> struct Caller<CUresult (*)(A...)> {
    static CUresult call(void *function, Given &given)
    {
        return reinterpret_cast<CUresult (*)(A...)>(function)(Make<A>::from(given)...);
    }
};

struct Row {
    int route;
    const char *symbol[2]; /* the twin's is NULL where there is none */
    int version[2];
    CUresult (*call)(void *, Given &);
    void *linked[2];
};

#define NO_STREAM ROUTE_NO_STREAM
#define STREAM(s) ROUTE_STREAM
#define STREAM_AT(p) ROUTE_STREAM_AT
#define MULTI(list, count) ROUTE_MULTI
#define LEGACY ROUTE_LEGACY
#define ROW(symbol, twin, since, twin_since) \
    {ROUTE_STREAM, \
     {#symbol, #twin}, \
     {since, twin_since}, \
     Caller<decltype(&symbol)>::call, \
     {(void *)&symbol, (void *)&twin}},
const Row rows[] = {
#define API_PTSZ(symbol, since, twin_since, ...) ROW(symbol, symbol##_ptsz, since, twin_since)
#define API_PTDS(symbol, since, twin_since, ...) ROW(symbol, symbol##_ptds, since, twin_since)
#define API(symbol, since, route, ...) \
    {route, {#symbol, nullptr}, {since, 0}, Caller<decltype(&symbol)>::call, {(void *)&symbol, nullptr}},
#include "interpose/api/api.def"
};

void *driver;
ChildLog names;
CUcontext context;
CUstream streams[5] = {nullptr, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD};
CUevent event;

/* "cuMemcpyHtoD" of cuMemcpyHtoD_v2. */
std::string bare(const std::string &symbol)
{
    size_t size = symbol.size();
    return symbol[size - 3] == '_' && symbol[size - 2] == 'v' ? symbol.substr(0, size - 3) : symbol;
}

void *by_proc_address(const Row &row, int twin)
{
    void *found = nullptr;
    auto ask = (decltype(&cuGetProcAddress))dlsym(driver, "cuGetProcAddress");
    ask(bare(row.symbol[0]).c_str(), &found, row.version[twin], twin ? 2 : 0);
    return found;
}

void *by_proc_address_v2(const Row &row, int twin)
{
    void *found = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    cuGetProcAddress_v2(bare(row.symbol[0]).c_str(), &found, row.version[twin], twin ? 2 : 1, &status);
    return status == CU_GET_PROC_ADDRESS_SUCCESS ? found : nullptr;
}

void *by_dlsym(const Row &row, int twin)
{
    return dlsym(driver, row.symbol[twin]);
}

void *by_dlvsym(const Row &row, int twin)
{
    return dlvsym(driver, row.symbol[twin], "FAKE_DRIVER");
}

void *by_link(const Row &row, int twin)
{
    return row.linked[twin];
}

const struct {
    const char *name;
    void *(*find)(const Row &, int);
} doors[] = {
    {"elf", by_link}, {"dlsym", by_dlsym}, {"dlvsym", by_dlvsym}, {"gpa1", by_proc_address}, {"gpa2", by_proc_address_v2}};

const char *what_is(const void *address, const Row &row)
{
    for (int twin = 0; twin < 2 && row.symbol[twin]; twin++) {
        if (address == fake_address(row.symbol[twin]))
            return twin ? "twin" : "base";
    }
    Dl_info info;
    if (!address || !dladdr(address, &info))
        return "nothing";
    for (int twin = 0; twin < 2 && row.symbol[twin]; twin++) {
        if (info.dli_sname && strcmp(info.dli_sname, row.symbol[twin]) == 0 && strstr(info.dli_fname, "libptds"))
            return twin ? "wrapper-twin" : "wrapper-base";
    }
    return "other";
}

int is_begin(const std::string &symbol)
{
    return symbol.rfind("cuStreamBeginCapture", 0) == 0 || symbol.rfind("cuStreamBeginRecapture", 0) == 0;
}

void call(const char *door, const Row &row, int twin, void *function, CUstream stream)
{
    Given given = {};
    given.stream = given.stream_at = given.launches[0].hStream = given.config.hStream = given.params.hUploadStream = stream;
    given.event = event;
    given.copy_2d.srcMemoryType = given.copy_2d.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    given.copy_3d.srcMemoryType = given.copy_3d.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    given.copy_peer.srcMemoryType = given.copy_peer.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    errno = 77;
    CUresult result = row.call(function, given);
    int left = errno;
    std::string entries = names.take();
    const char *forced = getenv("FAKE_ERRNO");
    printf("call %s %s %s : %s", door, row.symbol[twin], names.of(stream).c_str(), entries.c_str());
    if (result)
        printf(" =%d", result);
    if (left != (forced ? atoi(forced) : 77))
        printf(" errno=%d", left);
    if (given.stream_at != stream || given.launches[0].hStream != stream || given.config.hStream != stream ||
        given.params.hUploadStream != stream)
        printf(" wrote-to-argument");
    if (strstr(row.symbol[0], "WithParams") && !result && given.params.result_out != CUDA_GRAPH_INSTANTIATE_ERROR)
        printf(" lost-result");
    printf("\n");
    if (is_begin(row.symbol[0]) && !result) {
        CUgraph graph;
        if ((twin ? cuStreamEndCapture_ptsz : cuStreamEndCapture)(stream, &graph))
            printf("the capture did not end\n");
        names.take();
    }
}

} // namespace

int main()
{
    if (cuInit(0) || cuCtxCreate_v4(&context, nullptr, 0, 0) || cuStreamCreate(&streams[3], CU_STREAM_DEFAULT) ||
        cuStreamCreate(&streams[4], CU_STREAM_NON_BLOCKING) || cuEventCreate(&event, 0))
        return 2;
    names.name(streams[3], "blocking");
    names.name(streams[4], "nonblocking");
    names.name(event, "e");
    driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    if (!driver)
        return 3;
    /* The first default-stream call makes what the policy needs for good, the first sight of a stream asks about it. */
    cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
    for (CUstream stream : {streams[3], streams[4]})
        cuStreamAttachMemAsync(stream, 0, 0, 0);
    names.take();
    for (const Row &row : rows) {
        for (const auto &door : doors) {
            for (int twin = 0; twin < 2 && row.symbol[twin] && row.route != ROUTE_NO_STREAM; twin++) {
                void *function = door.find(row, twin);
                printf("addr %s %s %s\n", door.name, row.symbol[twin], what_is(function, row));
                names.take();
                for (CUstream stream : streams) {
                    if (function)
                        call(door.name, row, twin, function, stream);
                }
            }
        }
    }
    return 0;
}
