/* SPDX-License-Identifier: Apache-2.0
 *
 * What does the recorder write of ordinary programs on the simulated driver? Every field of every record of short ones,
 * against files, traces/; of long ones the sums of these fields by kind of record and by driver function (support/sums.h).
 * After a change of what is recorded scripts/renew writes them anew.
 */
#include <set>
#include <sstream>

#include "tests/interpose/trace_text.h"
#include "tests/support/sums.h"

namespace ptds
{
namespace
{

/* The first call of each: of those that begin or end something, and of work. */
const char refused[] =
    "cuMemAlloc_v2:3:2,cuMemHostAlloc:2:2,cuMemHostRegister_v2:1:2,cuMemAllocAsync:1:2,cuArrayCreate_v2:1:2,"
    "cuStreamCreate:2:2,cuEventCreate:1:2,cuEventRecord:1:2,cuStreamWaitEvent:1:2,cuModuleLoadData:2:2,"
    "cuModuleGetFunction:1:2,cuLaunchKernel:1:2,cuMemcpyDtoD_v2:1:2,cuGraphInstantiateWithFlags:1:2,"
    "cuGraphLaunch:1:2,cuStreamSynchronize:1:2,cuArrayDestroy:1:2,cuMemHostUnregister:1:2,"
    "cuMemFreeHost:1:2,cuMemFreeAsync:1:2,cuMemFree_v2:1:2,cuEventDestroy_v2:1:2,cuStreamDestroy_v2:1:2,"
    "cuGraphExecDestroy:1:2,cuModuleUnload:1:2";

/* A program by its path, its arguments, and under which policy. */
struct Case {
    const char *name, *program;
    std::vector<std::string> arguments;
    const char *policy;
    Settings more = {};
};

std::ostream &operator<<(std::ostream &out, const Case &one)
{
    return out << one.program << ", " << one.policy;
}

class WholeTrace : public testing::TestWithParam<Case>
{
};

/* "@7 cuX op=1" as "cuX at=7 op=1". Settings and the header are those of the short programs. */
std::string sums_of(const std::string &text)
{
    Sums sums;
    for (const std::string &line : lines_of(text)) {
        std::istringstream words(line);
        std::string first, call, rest;
        words >> first;
        if (first[0] == '@') {
            words >> call;
            std::getline(words, rest);
            sums.Add(call + " at=" + first.substr(1) + rest);
        } else if (first != "SETTING" && first != "header") {
            sums.Add(line);
        }
    }
    return sums.Text(8);
}

TEST_P(WholeTrace, OfThisProgram)
{
    static const std::set<std::string> whole = {"again", "launches", "names", "nvtx", "settings"};
    Folder folder;
    Recorded recorded;
    Command command;
    command.argv = {data_file(GetParam().program)};
    command.argv.insert(command.argv.end(), GetParam().arguments.begin(), GetParam().arguments.end());
    command.preload = {shim()};
    command.libraries = simulator();
    command.env = {{"PTDS_POLICY", GetParam().policy}, {"PTDS_REPORT", "off"}, {"PTDS_TRACE", folder / "trace"}};
    command.env.insert(GetParam().more.begin(), GetParam().more.end());
    command.env.emplace("PTDS_LANES", "1"); /* what "auto" does depends on times */
    recorded.outcome = run(command);
    ASSERT_EQ(recorded.outcome.exit, 0) << recorded.outcome;
    EXPECT_EQ(recorded.outcome.err, "");
    recorded.trace = walk(folder / "trace");
    recorded.bytes = read_file(folder / "trace");
    const std::string path = data_file(std::string("tests/interpose/traces/") + GetParam().name + ".txt");
    const std::string all = TraceText(recorded).all();
    if (whole.count(GetParam().name) != 0)
        ExpectAllOf(path, all);
    else
        ExpectSums(path, sums_of(all), all);
}

INSTANTIATE_TEST_SUITE_P(
    Programs, WholeTrace,
    testing::Values(Case{"memory", "tests/conformance/memory", {}, "observe"},
                    Case{"memory_guarded", "tests/conformance/memory", {}, "guarded"},
                    Case{"indirect", "tests/conformance/indirect", {}, "observe"},
                    Case{"indirect_guarded", "tests/conformance/indirect", {}, "guarded"},
                    Case{"handles", "tests/conformance/handles", {}, "observe"},
                    Case{"handles_stream", "tests/conformance/handles", {}, "stream"},
                    Case{"whole_memory", "tests/interpose/whole_child", {"memory"}, "observe"},
                    Case{"whole_memory_guarded", "tests/interpose/whole_child", {"memory"}, "guarded"},
                    Case{"whole_graphs", "tests/interpose/whole_child", {"graphs"}, "observe"},
                    Case{"whole_graphs_guarded", "tests/interpose/whole_child", {"graphs"}, "guarded"},
                    Case{"whole_kernels", "tests/interpose/whole_child", {"kernels"}, "observe"},
                    Case{"whole_kernels_guarded", "tests/interpose/whole_child", {"kernels"}, "guarded"},
                    Case{"whole_order", "tests/interpose/whole_child", {"order"}, "observe"},
                    Case{"whole_order_guarded", "tests/interpose/whole_child", {"order"}, "guarded"},
                    Case{"libraries", "tests/interpose/whole_child", {"libraries"}, "observe"},
                    Case{"libraries_guarded", "tests/interpose/whole_child", {"libraries"}, "guarded"},
                    Case{"failures", "tests/interpose/whole_child", {"failures"}, "observe", {{"SIM_FAIL", refused}}},
                    Case{"twins_memory", "tests/interpose/whole_twins_child", {"memory"}, "guarded"},
                    Case{"twins_graphs", "tests/interpose/whole_twins_child", {"graphs"}, "observe"},
                    Case{"twins_order", "tests/interpose/whole_twins_child", {"order"}, "observe"},
                    Case{"twins_kernels", "tests/interpose/whole_twins_child", {"kernels"}, "guarded"},
                    Case{"noted", "tests/interpose/noted_child", {}, "observe"},
                    Case{"kinds", "tests/interpose/memories_child", {"kinds", "3"}, "observe"},
                    Case{"launches", "tests/interpose/launch_child", {"launches"}, "observe"},
                    Case{"again", "tests/interpose/launch_child", {"again", "3"}, "per-thread"},
                    Case{"nvtx", "tests/interpose/recorder_child", {"nvtx"}, "observe"},
                    Case{"streams", "tests/interpose/recorder_child", {"streams"}, "guarded"},
                    Case{"times",
                         "tests/interpose/recorder_child",
                         {"spins", "8", "runtime"},
                         "guarded",
                         {{"PTDS_DEVICE_TIMES", "cupti"}}},
                    Case{"settings",
                         "tests/interpose/launch_child",
                         {"launches"},
                         "observe",
                         {{"CUDA_VISIBLE_DEVICES", "0"},
                          {"CUDA_LAUNCH_BLOCKING", "1"},
                          {"CUDA_MODULE_LOADING", ""},
                          {"CUDART", "no"},
                          {"NVIDIA_TF32_OVERRIDE", "0"},
                          {"OMPI_COMM_WORLD_RANK", "3"},
                          {"OMPI_COMM_WORLD_SIZE", "4"},
                          {"SLURM_PROCID", "3"},
                          {"OMP_NUM_THREADS", "2"},
                          {"NCCL_DEBUG", "WARN"},
                          {"SOMETHING", "else"},
                          {"PTDS_LANES", "2"}}},
                    Case{"names", "tests/interpose/recorder_child", {"names"}, "observe"},
                    Case{"contexts", "tests/interpose/recorder_child", {"contexts", "3"}, "guarded"}),
    [](const testing::TestParamInfo<Case> &one) { return one.param.name; });

} // namespace
} // namespace ptds
