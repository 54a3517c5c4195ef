// SPDX-License-Identifier: Apache-2.0
//
// Calls for whose sake the shim itself waits, before the driver hears of them: they show as calls that wait, and the time
// is theirs, also at a call site that is new. On the simulated driver.
#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

#include "tests/analysis/support.h"
#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

struct Row {
    const char *call, *name;
    uint8_t op;
};

class ShimWaits : public testing::TestWithParam<std::tuple<const char *, Row>>
{
};

/* The time counts from when somebody has seen the call, so there is a time that it surely takes. */
TEST_P(ShimWaits, ShowAsTheCallsOwn)
{
    NEEDS_A_PLAIN_SHIM();
    const auto &[policy, row] = GetParam();
    Folder folder;
    Command command = shimmed("recorder_child", {"waits", folder / "go", row.call},
                              {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace"}});
    command.libraries = {folder_of(data_file("tests/sim/libcuda.so.1"))};
    Running program(command);
    Command watch;
    watch.argv = {data_file("analysis/ptds_leaks"), "watch", folder / "trace", "--after", "1ms"};
    for (int i = 0; i < 2000 && access((folder / "trace").c_str(), F_OK) != 0; i++)
        usleep(10000);
    Running watcher(watch);
    for (int i = 0; i < 2000 && watcher.err().find("has not returned for ") == std::string::npos; i++)
        usleep(10000);
    usleep(200000);
    std::ofstream(folder / "go") << "on";
    const Outcome outcome = program.end();
    EXPECT_EQ(outcome.exit, 3) << outcome;
    const Outcome watched = watcher.end();
    EXPECT_EQ(watched.exit, 1) << watched;
    EXPECT_NE(watched.err.find(row.name + std::string(" of thread ")), std::string::npos) << watched;
    size_t at = watched.err.find("wait_by(");
    ASSERT_NE(at, std::string::npos) << watched;
    EXPECT_EQ(watched.err.find("\nptds:     by ", at), watched.err.find('\n', at)) << "its callers\n" << watched;

    Recorded recorded;
    recorded.trace = walk(folder / "trace");
    const std::vector<ptds_rec_CALL> calls = recorded.calls(row.op);
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_GE(trace_ns(&Built(read_file(folder / "trace"))->trace, calls[0].leave - calls[0].enter), 200000000u);
}

std::string name_of(const testing::TestParamInfo<ShimWaits::ParamType> &row)
{
    return std::string(std::get<0>(row.param)) + "_" + std::get<1>(row.param).call;
}

constexpr Row rows[] = {{"copy", "cuMemcpyDtoH_v2", PTDS_OP_COPY},
                        {"free", "cuMemFree_v2", PTDS_OP_FREE},
                        {"stream", "cuStreamSynchronize", PTDS_OP_STREAM_SYNC},
                        {"context", "cuCtxSynchronize", PTDS_OP_CTX_SYNC},
                        {"event", "cuEventSynchronize", PTDS_OP_EVENT_SYNC}};

INSTANTIATE_TEST_SUITE_P(Calls, ShimWaits,
                         testing::Combine(testing::Values("observe", "guarded", "stream"), testing::ValuesIn(rows)),
                         name_of);

/* Bare it does not wait, and the memory goes from under work that has been put on lanes. */
INSTANTIATE_TEST_SUITE_P(Unmapping, ShimWaits,
                         testing::Combine(testing::Values("guarded", "stream"),
                                          testing::Values(Row{"unmap", "cuMemUnmap", PTDS_OP_UNMAP})),
                         name_of);

} // namespace
} // namespace ptds
