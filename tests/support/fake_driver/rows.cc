/* SPDX-License-Identifier: Apache-2.0
 *
 * The table's functions, as an unknown driver exports them: each notes how it was reached, and does what its program can't
 * go on without.
 */
#include <cstdlib>
#include <cstring>

#include "tests/support/fake_driver/state.h"
#include "tests/support/fake_driver/visible.h"

namespace fake
{
namespace
{

template <int id> struct Act {
    template <class... A> static CUresult run(bool, A...)
    {
        return CUDA_SUCCESS;
    }
};

CUresult event_query()
{
    const char *pending = getenv("FAKE_PENDING");
    return pending && strcmp(pending, "streams") != 0 ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

#define ACT(symbol, params, expression) \
    template <> struct Act<API_##symbol> { \
        static CUresult run params \
        { \
            return expression; \
        } \
    }
ACT(cuStreamCreate, (bool, CUstream *s, unsigned flags), new_stream(s, flags));
ACT(cuStreamCreateWithPriority, (bool, CUstream *s, unsigned flags, int), new_stream(s, flags));
ACT(cuGreenCtxStreamCreate, (bool, CUstream *s, CUgreenCtx, unsigned flags, int), new_stream(s, flags));
ACT(cuStreamDestroy, (bool, CUstream s), end_stream(s));
ACT(cuStreamDestroy_v2, (bool, CUstream s), end_stream(s));
ACT(cuStreamGetFlags, (bool, CUstream s, unsigned *flags), stream_flags(s, flags));
ACT(cuStreamQuery, (bool, CUstream), getenv("FAKE_PENDING") ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS);
ACT(cuEventQuery, (bool, CUevent), event_query());
ACT(cuEventCreate, (bool, CUevent *e, unsigned), getenv("FAKE_NO_EVENTS") ? CUDA_ERROR_OUT_OF_MEMORY : new_event(e));
ACT(cuStreamBeginCapture, (bool twin, CUstream s), begin_capture(twin, s));
ACT(cuStreamBeginCapture_v2, (bool twin, CUstream s, CUstreamCaptureMode), begin_capture(twin, s));
ACT(cuStreamBeginCaptureToGraph,
    (bool twin, CUstream s, CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUstreamCaptureMode),
    begin_capture(twin, s));
ACT(cuStreamBeginCaptureToCig, (bool twin, CUstream s, CUstreamCigCaptureParams *), begin_capture(twin, s));
ACT(cuStreamBeginRecaptureToGraph, (bool twin, CUstream s, CUstreamCaptureMode, CUgraph, CUgraphRecaptureCallback, void *),
    begin_capture(twin, s));
ACT(cuStreamEndCapture, (bool twin, CUstream s, CUgraph *g), end_capture(twin, s, g));
ACT(cuStreamIsCapturing, (bool twin, CUstream s, CUstreamCaptureStatus *status), is_capturing(twin, s, status));
ACT(cuGraphInstantiateWithFlags, (bool, CUgraphExec *x, CUgraph, unsigned long long), new_graph_exec(x));
ACT(cuCtxCreate_v2, (bool, CUcontext *c, unsigned, CUdevice), (new_context(c), push(*c)));
ACT(cuCtxCreate_v4, (bool, CUcontext *c, CUctxCreateParams *, unsigned, CUdevice), (new_context(c), push(*c)));
ACT(cuCtxFromGreenCtx, (bool, CUcontext *c, CUgreenCtx), new_context(c));
ACT(cuCtxDestroy_v2, (bool, CUcontext c), current() == c ? pop(nullptr) : CUDA_SUCCESS);
ACT(cuCtxPushCurrent_v2, (bool, CUcontext c), push(c));
ACT(cuCtxPopCurrent_v2, (bool, CUcontext *c), pop(c));
ACT(cuCtxSetCurrent, (bool, CUcontext c), set_current(c));
ACT(cuMemAlloc_v2, (bool, CUdeviceptr *p, size_t), new_memory(FAKE_DEVICE_MEMORY, reinterpret_cast<uint64_t *>(p)));
ACT(cuMemHostAlloc, (bool, void **p, size_t, unsigned), new_memory(FAKE_PINNED_MEMORY, reinterpret_cast<uint64_t *>(p)));
ACT(cuMemAllocHost_v2, (bool, void **p, size_t), new_memory(FAKE_PINNED_MEMORY, reinterpret_cast<uint64_t *>(p)));

template <> struct Act<API_cuDevicePrimaryCtxRetain> {
    static CUresult run(bool, CUcontext *context, CUdevice device)
    {
        if (context)
            *context = reinterpret_cast<CUcontext>(uintptr_t{0xc0000} + 16u * static_cast<unsigned>(device));
        return CUDA_SUCCESS;
    }
};

template <> struct Act<API_cuGraphInstantiateWithParams> {
    static CUresult run(bool, CUgraphExec *graph, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
    {
        if (params)
            params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR; /* something that has to come back */
        return new_graph_exec(graph);
    }
};

template <> struct Act<API_cuGetProcAddress> {
    static CUresult run(bool, const char *name, void **function, int version, cuuint64_t flags)
    {
        void *found = nullptr;
        if (!name || !function)
            return CUDA_ERROR_INVALID_VALUE;
        look_up(name, version, flags, &found);
        if (!found)
            return CUDA_ERROR_NOT_FOUND;
        *function = found;
        return CUDA_SUCCESS;
    }
};

template <> struct Act<API_cuGetProcAddress_v2> {
    static CUresult run(bool, const char *name, void **function, int version, cuuint64_t flags,
                        CUdriverProcAddressQueryResult *status)
    {
        if (!name || !function)
            return CUDA_ERROR_INVALID_VALUE;
        CUdriverProcAddressQueryResult result = look_up(name, version, flags, function);
        if (status)
            *status = result;
        return CUDA_SUCCESS;
    }
};

void look(fake_entry &entry, CUstream stream)
{
    if (entry.streams < 2)
        entry.stream[entry.streams++] = stream;
}

void look(fake_entry &entry, CUevent event)
{
    entry.event = event;
}

void look(fake_entry &entry, const CUlaunchConfig *config)
{
    if (config)
        look(entry, config->hStream);
}

void look(fake_entry &entry, CUDA_LAUNCH_PARAMS *launches)
{
    if (launches)
        look(entry, launches->hStream);
}

void look(fake_entry &entry, CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    if (params)
        look(entry, params->hUploadStream);
}

template <class T> void look(fake_entry &, const T &)
{
}

template <int route, class T> void look_behind(fake_entry &entry, const T &)
{
    (void)entry;
}

template <int route> void look_behind(fake_entry &entry, CUstream *const &stream)
{
    if (route == ROUTE_STREAM_AT && stream)
        look(entry, *stream);
}

template <int id, int route, bool twin, bool has_twin> struct Enter {
    const char *symbol;

    template <class... A> CUresult operator()(A... args) const
    {
        fake_entry entry = {symbol, 0, {}, nullptr};
        (look(entry, args), ...);
        (look_behind<route>(entry, args), ...);
        note(entry);
        spoil_errno();
        if (has_twin && forced_result() >= 0)
            return static_cast<CUresult>(forced_result());
        return Act<id>::run(twin, args...);
    }
};

} // namespace
} // namespace fake

#define NO_STREAM ROUTE_NO_STREAM
#define STREAM(s) ROUTE_STREAM
#define STREAM2(s, t) ROUTE_STREAM2
#define STREAM_AT(p) ROUTE_STREAM_AT
#define CONFIG(c) ROUTE_CONFIG
#define UPLOAD(p) ROUTE_UPLOAD
#define KEEP(s) ROUTE_KEEP
#define KEEP_IF(s, condition) ROUTE_KEEP_IF
#define MULTI(list, count) ROUTE_MULTI
#define LEGACY ROUTE_LEGACY

#define ENTRY(symbol, id, since, route, twin, has_twin, params, args) \
    extern "C" SINCE_##since CUresult symbol params \
    { \
        return fake::Enter<id, route, twin, has_twin>{#symbol} args; \
    }
#define API(symbol, since, route, class_, timing, told, params, args, before, after) \
    ENTRY(symbol, API_##symbol, since, route, false, false, params, args)
#define API_PTSZ(symbol, since, twin_since, route, class_, timing, told, params, args, before, after) \
    ENTRY(symbol, API_##symbol, since, route, false, true, params, args) \
    ENTRY(symbol##_ptsz, API_##symbol, twin_since, route, true, true, params, args)
#define API_PTDS(symbol, since, twin_since, async_form, class_, timing, told, params, args, before, after) \
    ENTRY(symbol, API_##symbol, since, ROUTE_IMPLICIT, false, true, params, args) \
    ENTRY(symbol##_ptds, API_##symbol, twin_since, ROUTE_IMPLICIT, true, true, params, args)
#include "interpose/api/api.def"
