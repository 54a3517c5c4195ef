/* SPDX-License-Identifier: Apache-2.0
 *
 * What a program has in errno and of dlerror stays as its own call leaves it, and the shim's part of a call allocates
 * nothing, whatever the guard, the record and the footprints have to do for it.
 */
#include <algorithm>

#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

struct Kind {
    const char *call;
    const char *functions; /* the call itself, in every form; what it does to errno is its own */
};

void PrintTo(const Kind &kind, std::ostream *out)
{
    *out << kind.call;
}

/* Asked at each call, and nothing but a thread's own variable in every driver: not worth the time to keep errno. */
const std::string asked = "cuCtxGetCurrent,";

class Kept : public testing::TestWithParam<Kind>
{
};

TEST_P(Kept, ErrnoAndDlerror)
{
    const Settings policies[] = {{{"PTDS_POLICY", "none"}},
                                 {{"PTDS_POLICY", "observe"}},
                                 {{"PTDS_POLICY", "guarded"}},
                                 {{"PTDS_POLICY", "guarded"}, {"PTDS_LANES", "4"}},
                                 {{"PTDS_POLICY", "guarded"}, {"PTDS_EXCLUDE", "libnobody*.so"}, {"SIM_PAGEABLE", "1"}},
                                 {{"PTDS_POLICY", "stream"}},
                                 {{"PTDS_POLICY", "per-thread"}}};
    for (Settings settings : policies)
        for (const char *record : {"", "PTDS_LOG", "PTDS_DEVICE_TIMES"}) { /* the last two with a trace */
            if (!strcmp(record, "PTDS_LOG") && settings["PTDS_POLICY"] == "none")
                continue;
            SCOPED_TRACE(settings["PTDS_POLICY"] + " " + record);
            Folder folder;
            if (*record && settings["PTDS_POLICY"] != "none")
                settings[record] = strcmp(record, "PTDS_DEVICE_TIMES") ? folder / record : "sampled";
            if (*record)
                settings["PTDS_TRACE"] = folder / "trace";
            Command command = shimmed("kept_child", {GetParam().call}, settings);
            command.env["SIM_ERRNO_BUT"] = asked + GetParam().functions;
            command.libraries = simulator();
            Outcome outcome = run(command);
            EXPECT_EQ(outcome.out, "done\n") << outcome;
            settings.erase(record);
            settings.erase("PTDS_TRACE");
        }
}

TEST_P(Kept, AlsoWithoutTheShim)
{
    Command command = shimmed("kept_child", {GetParam().call}, {{"PTDS_DISABLE", "1"}});
    command.env["SIM_ERRNO_BUT"] = asked + GetParam().functions;
    command.libraries = simulator();
    EXPECT_EQ(run(command).out, "done\n");
}

const Kind kinds[] = {
    {"launch", "cuLaunchKernel,cuLaunchKernel_ptsz"},
    {"launch-unmet", "cuLaunchKernel,cuLaunchKernel_ptsz"},
    {"launch-ex", "cuLaunchKernelEx,cuLaunchKernelEx_ptsz"},
    {"launch-pinned", "cuLaunchKernel,cuLaunchKernel_ptsz"},
    {"copy", "cuMemcpyHtoD_v2,cuMemcpyHtoD_v2_ptds,cuMemcpyHtoDAsync_v2,cuMemcpyHtoDAsync_v2_ptsz"},
    {"copy-back", "cuMemcpyDtoH_v2,cuMemcpyDtoH_v2_ptds,cuMemcpyDtoHAsync_v2,cuMemcpyDtoHAsync_v2_ptsz"},
    {"copy-async", "cuMemcpyHtoDAsync_v2,cuMemcpyHtoDAsync_v2_ptsz"},
    {"set", "cuMemsetD8_v2,cuMemsetD8_v2_ptds,cuMemsetD8Async,cuMemsetD8Async_ptsz"},
    {"set-async", "cuMemsetD8Async,cuMemsetD8Async_ptsz"},
    {"record", "cuEventRecord,cuEventRecord_ptsz"},
    {"wait", "cuStreamWaitEvent,cuStreamWaitEvent_ptsz"},
    {"sync", "cuStreamSynchronize,cuStreamSynchronize_ptsz"},
    {"query", "cuStreamQuery,cuStreamQuery_ptsz"},
    {"event-sync", "cuEventSynchronize"},
    {"all-sync", "cuCtxSynchronize"},
    {"graph", "cuGraphLaunch,cuGraphLaunch_ptsz"},
    {"host", "cuLaunchHostFunc,cuLaunchHostFunc_ptsz"},
    {"alloc", "cuMemAlloc_v2,cuMemFree_v2"},
    {"lacking", "cuMemAlloc_v2,cuMemFree_v2"},
    {"info", "cuMemGetInfo_v2"},
    {"copy-any", "cuMemcpy,cuMemcpy_ptds,cuMemcpyAsync"},
    {"module", "cuModuleLoadData,cuModuleGetFunction,cuModuleUnload"},
    {"graph-made",
     "cuStreamBeginCapture_v2,cuStreamBeginCapture_v2_ptsz,cuLaunchKernel,cuLaunchKernel_ptsz,cuMemcpyHtoDAsync_v2,"
     "cuMemcpyHtoDAsync_v2_ptsz,cuMemsetD8Async,cuMemsetD8Async_ptsz,cuStreamEndCapture,cuStreamEndCapture_ptsz,"
     "cuGraphInstantiateWithFlags,cuGraphExecDestroy,cuGraphDestroy"},
    {"attribute", "cuStreamSetAttribute,cuStreamSetAttribute_ptsz"},
    {"attributes", "cuStreamCopyAttributes,cuStreamCopyAttributes_ptsz"},
    {"global", "cuModuleGetGlobal_v2"},
    {"context", "cuCtxCreate_v4,cuCtxPopCurrent_v2,cuCtxDestroy_v2"},
    {"primary", "cuDevicePrimaryCtxRetain,cuCtxPushCurrent_v2,cuCtxPopCurrent_v2,cuDevicePrimaryCtxRelease_v2"},
    {"mapped", "cuMemCreate,cuMemAddressReserve,cuMemMap,cuMemUnmap,cuMemAddressFree,cuMemRelease"},
    {"stream", "cuStreamCreate,cuStreamDestroy_v2,cuLaunchKernel,cuLaunchKernel_ptsz"},
};

INSTANTIATE_TEST_SUITE_P(Calls, Kept, testing::ValuesIn(kinds), [](const testing::TestParamInfo<Kind> &one) {
    std::string name = one.param.call;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

} // namespace
} // namespace ptds
