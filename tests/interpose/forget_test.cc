/* SPDX-License-Identifier: Apache-2.0
 *
 * A bounded trace of a program whose streams, threads and names come and go: what its records refer to is there, the rest
 * has left.
 */
#include <algorithm>

#include "tests/interpose/shim_test.h"
#include "tests/interpose/trace_walk.h"

namespace ptds
{
namespace
{

std::string folder_of(const std::string &file)
{
    return file.substr(0, file.rfind('/'));
}

template <class Record> Record record_of(const std::string &bytes)
{
    Record record;
    memcpy(&record, bytes.data(), sizeof record);
    return record;
}

struct Ids {
    std::set<uint32_t> streams, threads, names, contexts;
};

Ids defined_in(const Walk &trace)
{
    Ids ids = {{0}, {0}, {0}, {0}};
    for (const auto &[kind, bytes] : trace.records) {
        if (kind == PTDS_REC_STREAM)
            ids.streams.insert(record_of<ptds_rec_STREAM>(bytes).uid);
        if (kind == PTDS_REC_THREAD)
            ids.threads.insert(record_of<ptds_rec_THREAD>(bytes).id);
        if (kind == PTDS_REC_CONTEXT)
            ids.contexts.insert(record_of<ptds_rec_CONTEXT>(bytes).uid);
        if (kind == PTDS_REC_STRING)
            ids.names.insert(record_of<ptds_rec_STRING>(bytes).id);
    }
    return ids;
}

Ids named_in(const Walk &trace)
{
    Ids ids;
    ids.threads = trace.threads;
    for (const auto &[kind, bytes] : trace.records) {
        if (kind == PTDS_REC_CALL) {
            auto call = record_of<ptds_rec_CALL>(bytes);
            ids.streams.insert({call.stream, call.target});
            ids.names.insert(call.region);
            ids.contexts.insert(call.context);
        }
        if (kind == PTDS_REC_EDGE) {
            auto edge = record_of<ptds_rec_EDGE>(bytes);
            ids.streams.insert({edge.waits, edge.behind});
        }
        if (kind == PTDS_REC_REGION)
            ids.names.insert(record_of<ptds_rec_REGION>(bytes).name);
        if (kind == PTDS_REC_STREAM)
            ids.contexts.insert(record_of<ptds_rec_STREAM>(bytes).context);
        if (kind == PTDS_REC_STREAM)
            ids.threads.insert(record_of<ptds_rec_STREAM>(bytes).thread);
    }
    return ids;
}

std::set<uint32_t> missing(const std::set<uint32_t> &named, const std::set<uint32_t> &defined)
{
    std::set<uint32_t> found;
    for (uint32_t id : named) {
        if (!defined.count(id))
            found.insert(id);
    }
    return found;
}

Command child(const std::string &mode, int count, const Settings &settings)
{
    Command command = shimmed("recorder_child", {mode, std::to_string(count)}, settings);
    command.libraries = {folder_of(data_file("tests/sim/libcuda.so.1"))};
    return command;
}

void expect_complete(const Walk &trace)
{
    EXPECT_EQ(trace.header.refused, 0u);
    EXPECT_GT(trace.header.recycled, 20u);
    Ids defined = defined_in(trace), named = named_in(trace);
    EXPECT_EQ(missing(named.streams, defined.streams), std::set<uint32_t>{});
    EXPECT_EQ(missing(named.threads, defined.threads), std::set<uint32_t>{});
    EXPECT_EQ(missing(named.names, defined.names), std::set<uint32_t>{});
    EXPECT_EQ(missing(named.contexts, defined.contexts), std::set<uint32_t>{});
}

TEST(Definitions, LeaveWithTheRecordsThatReferToThem)
{
    constexpr int COUNT = 8000;
    Folder folder;
    Command command = child("passing", COUNT,
                            {{"PTDS_POLICY", "guarded"},
                             {"PTDS_TRACE", folder / "trace"},
                             {"PTDS_TRACE_LIMIT", "2M"},
                             {"NVTX_INJECTION64_PATH", shim()}});
    Outcome outcome = run(command);
    ASSERT_EQ(outcome.exit, 0) << outcome;
    ASSERT_EQ(outcome.err, "");
    Walk trace = walk(folder / "trace");
    expect_complete(trace);
    Ids defined = defined_in(trace);
    /* Most have left, and left room for calls. */
    EXPECT_LT(defined.streams.size(), COUNT / 2);
    EXPECT_LT(defined.names.size(), COUNT / 2);
    EXPECT_LT(defined.threads.size(), COUNT / 50 / 2);
    EXPECT_GT(trace.calls("cuMemsetD8Async"), 1000u);
    EXPECT_EQ(trace.counts["cuStreamDestroy_v2"], uint64_t{COUNT});
    std::vector<std::string> texts = trace.texts(PTDS_REC_STRING, sizeof(ptds_rec_STRING));
    EXPECT_EQ(std::count(texts.begin(), texts.end(), "all of it") > 0, true);
}

long grown_by(Command command)
{
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit, 0) << outcome;
    EXPECT_EQ(outcome.err, "");
    return atol(outcome.out.c_str());
}

/* Each had streams of its own and of the shim's; and 32 events, which the simulated driver, unlike others, keeps: 4.4 kB.
 */
TEST(Contexts, LeaveNothingBehind)
{
    constexpr int COUNT = 4000;
    Folder folder;
    Command bare = plain("recorder_child", {"contexts", std::to_string(COUNT)});
    bare.libraries = {folder_of(data_file("tests/sim/libcuda.so.1"))};
    long bare_growth = grown_by(bare);
    EXPECT_LT(grown_by(child("contexts", COUNT, {{"PTDS_POLICY", "guarded"}, {"PTDS_REPORT", "off"}})),
              bare_growth + COUNT * 9 / 2);
    Command recorded = child("contexts", COUNT,
                             {{"PTDS_POLICY", "guarded"}, {"PTDS_TRACE", folder / "trace"}, {"PTDS_TRACE_LIMIT", "1M"}});
    EXPECT_LT(grown_by(recorded), bare_growth + COUNT * 9 / 2 + 2048);
    Walk trace = walk(folder / "trace");
    expect_complete(trace);
    EXPECT_LT(defined_in(trace).contexts.size(), COUNT / 2);
    EXPECT_GT(trace.calls("cuMemsetD8Async"), 100u);
}

} // namespace
} // namespace ptds
