/* SPDX-License-Identifier: Apache-2.0
 *
 * What the recorder writes of real work, on the simulated driver: host functions when they ran, NVTX ranges, names, the
 * shim's own edges, exact counts of default-stream operations, facts about the device.
 */
#include <algorithm>

#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

Recorded record(const std::vector<std::string> &mode, const std::string &policy = "observe", const Settings &more = {})
{
    return record_of("recorder_child", mode, policy, more);
}

TEST(HostFunctions, AreTimedWhereTheyRun)
{
    for (const char *policy : {"observe", "guarded", "per-thread", "stream"}) {
        SCOPED_TRACE(policy);
        Recorded recorded = record({"hostfuncs"}, policy);
        EXPECT_EQ(recorded.outcome.out, "1 1 3 1 right\n");
        std::vector<ptds_rec_CALL> calls = recorded.calls(PTDS_OP_HOST_FUNCTION);
        std::vector<ptds_rec_HOST_RUN> runs = recorded.all<ptds_rec_HOST_RUN>(PTDS_REC_HOST_RUN);
        EXPECT_EQ(calls.size(), 3006u); /* two of them refused, one captured */
        EXPECT_EQ(runs.size(), 3003u);
        std::map<uint64_t, ptds_rec_CALL> by_enter;
        for (const ptds_rec_CALL &call : calls)
            by_enter[call.enter] = call;
        for (const ptds_rec_HOST_RUN &ran : runs) {
            ASSERT_EQ(by_enter.count(ran.enter), 1u);
            const ptds_rec_CALL &call = by_enter[ran.enter];
            EXPECT_LT(ran.enter, ran.begin);
            EXPECT_LE(ran.begin, ran.end);
            EXPECT_EQ(ran.thread, 1u);
            EXPECT_EQ(ran.stream, call.stream);
            EXPECT_EQ(ran.target, call.target);
            EXPECT_EQ(ran.context, call.context);
            EXPECT_EQ(ran.stack, call.stack);
            EXPECT_NE(ran.tid, 0u);
        }
    }
}

TEST(HostFunctions, SayWhyTheyMayTouchEverything)
{
    std::vector<ptds_rec_CALL> calls = record({"hostfuncs"}).calls(PTDS_OP_HOST_FUNCTION);
    ASSERT_GT(calls.size(), 0u);
    for (const ptds_rec_CALL &call : calls)
        EXPECT_EQ((call.flags & PTDS_CALL_WHY_MASK) >> PTDS_CALL_WHY_SHIFT, unsigned{PTDS_OPAQUE_HOST_FUNCTION});
    for (const ptds_rec_CALL &call : record_of("launch_child", {"launches"}, "observe", {}).calls(PTDS_OP_LAUNCH))
        EXPECT_EQ(call.flags & PTDS_CALL_WHY_MASK, 0u);
}

TEST(HostFunctions, AreLeftAloneWithoutARecord)
{
    Command command = shimmed("recorder_child", {"hostfuncs"}, {{"PTDS_POLICY", "guarded"}});
    command.libraries = simulator();
    EXPECT_EQ(run(command).out, "1 1 3 1 right\n");
}

TEST(Nvtx, RangesAreRegions)
{
    Recorded recorded = record({"nvtx"}, "observe", {{"NVTX_INJECTION64_PATH", shim()}});
    std::vector<std::string> regions;
    for (const ptds_rec_CALL &call : recorded.calls(PTDS_OP_LAUNCH))
        regions.push_back(recorded.string(call.region));
    EXPECT_EQ(regions, (std::vector<std::string>{"whole", "gr\u00f6\u00dfer \U0001f600", "solve@library", "solve@library",
                                                 "whole", ""}));
    std::vector<std::string> seen;
    for (const ptds_rec_REGION &region : recorded.all<ptds_rec_REGION>(PTDS_REC_REGION)) {
        std::string text = region.name ? "+" + recorded.string(region.name) : "-";
        text += region.domain ? " of " + recorded.string(region.domain) : "";
        seen.push_back(text + (region.range ? " #" + std::to_string(region.range) : ""));
    }
    /* The range ends in another thread. */
    EXPECT_EQ(seen, (std::vector<std::string>{"+whole", "+gr\u00f6\u00dfer \U0001f600", "+step 1 #1",
                                              "+solve@library of library", "-", "- of library", "-", "- #1"}));
    std::vector<std::string> names = recorded.trace.texts(PTDS_REC_THREAD, sizeof(ptds_rec_THREAD));
    EXPECT_EQ(std::count(names.begin(), names.end(), "the one that works"), 1);
}

TEST(Nvtx, NothingWithoutARecordOrThePreload)
{
    for (bool preloaded : {false, true}) {
        Command command = plain("recorder_child", {"nvtx"});
        command.libraries = simulator();
        command.env = {{"NVTX_INJECTION64_PATH", shim()}};
        if (preloaded) {
            command.preload = {shim()};
            command.env["PTDS_REPORT"] = "off";
        }
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.exit, 0) << outcome;
        EXPECT_EQ(outcome.out + outcome.err, "");
    }
}

TEST(Threads, NamesGivenLater)
{
    Recorded recorded = record({"names"});
    std::map<uint32_t, std::string> last;
    for (const auto &[kind, bytes] : recorded.trace.records) {
        ptds_rec_THREAD thread;
        if (kind != PTDS_REC_THREAD)
            continue;
        memcpy(&thread, bytes.data(), sizeof thread);
        last[thread.id] = bytes.substr(sizeof thread).c_str();
    }
    std::vector<std::string> names;
    for (const auto &[id, name] : last)
        names.push_back(name);
    EXPECT_EQ(std::count(names.begin(), names.end(), "named at end"), 1);
    EXPECT_EQ(std::count(names.begin(), names.end(), "named at exit"), 1);
}

/* Each thread's work after that of the one before, whether it was done by then or not, and whosever lane the thread has. */
void expect_each_behind_the_last(const char *ns)
{
    Recorded turns = record({"turns", ns}, "guarded");
    std::vector<ptds_rec_EDGE> edges = turns.all<ptds_rec_EDGE>(PTDS_REC_EDGE);
    std::vector<ptds_rec_CALL> launches = turns.calls(PTDS_OP_LAUNCH);
    ASSERT_EQ(12u, launches.size()); /* in pairs: one takes its time, one touches what they share */
    std::sort(launches.begin(), launches.end(), [](const auto &a, const auto &b) { return a.enter < b.enter; });
    for (size_t i = 3; i < launches.size(); i += 2)
        EXPECT_EQ(1, std::count_if(edges.begin(), edges.end(),
                                   [&](const ptds_rec_EDGE &edge) {
                                       return edge.waits == launches[i].target && edge.behind == launches[i - 2].target &&
                                              edge.until > launches[i - 2].enter && edge.until <= launches[i].enter;
                                   }))
            << i;
    EXPECT_EQ(edges.size(), 5u);
}
TEST(DefaultStream, WorkHandedOverUnfinished)
{
    expect_each_behind_the_last("3000000");
}
TEST(DefaultStream, WorkHandedOverDone)
{
    expect_each_behind_the_last("1000");
}

TEST(DefaultStream, WorkHandedOverDoneSaysNothingOfAPredecessors)
{
    record({"heir"}, "guarded");
}

TEST(DefaultStream, EdgesAndExactCounts)
{
    Recorded guarded = record({"streams"}, "guarded");
    std::vector<ptds_rec_STREAM> streams = guarded.all<ptds_rec_STREAM>(PTDS_REC_STREAM);
    std::map<uint32_t, uint32_t> kinds;
    for (const ptds_rec_STREAM &stream : streams)
        kinds[stream.uid] = stream.kind;
    std::vector<std::pair<uint32_t, uint32_t>> edges;
    for (const ptds_rec_EDGE &edge : guarded.all<ptds_rec_EDGE>(PTDS_REC_EDGE)) {
        edges.push_back({kinds[edge.waits], kinds[edge.behind]});
        EXPECT_NE(edge.until, 0u);
    }
    EXPECT_EQ(edges, (std::vector<std::pair<uint32_t, uint32_t>>{{PTDS_STREAM_SHIM_BLOCKING, PTDS_STREAM_BLOCKING},
                                                                 {PTDS_STREAM_SHIM_BLOCKING, PTDS_STREAM_BLOCKING},
                                                                 {PTDS_STREAM_BLOCKING, PTDS_STREAM_SHIM_BLOCKING},
                                                                 {PTDS_STREAM_SHIM_BLOCKING, PTDS_STREAM_BLOCKING}}));
    std::vector<unsigned> joined;
    for (const ptds_rec_CALL &call : guarded.calls(PTDS_OP_LAUNCH))
        joined.push_back(call.streams);
    EXPECT_EQ(joined, (std::vector<unsigned>{0, 0, 2, 1, 0, 1})) << "what is refused is not known, so it comes after all";
    ptds_default_count counts = default_counts(guarded.bytes);
    EXPECT_EQ(counts.legacy, 2u);
    EXPECT_EQ(counts.kept, 0u);
    EXPECT_EQ(counts.failed, 1u);
    counts = default_counts(record({"streams"}, "observe").bytes);
    EXPECT_EQ(counts.legacy, 2u);
    EXPECT_EQ(counts.kept, 1u);
    EXPECT_EQ(counts.failed, 1u);
}

/* Which is the one that they wait for. */
TEST(Memory, FreesAreOfItsContext)
{
    for (const char *policy : {"observe", "guarded"}) {
        Recorded recorded = record({"elsewhere"}, policy);
        std::vector<uint32_t> contexts;
        for (unsigned op : {PTDS_OP_FREE, PTDS_OP_FREE_HOST})
            for (const ptds_rec_CALL &call : recorded.calls(static_cast<ptds_op>(op)))
                contexts.push_back(call.context);
        EXPECT_EQ(contexts, (std::vector<uint32_t>{1, 2, 2, 1})) << policy;
    }
}

TEST(Settings, FactsAboutTheDevice)
{
    Recorded recorded = record({"streams"});
    EXPECT_TRUE(recorded.has_setting("device.0.compute_mode=default"));
    std::vector<std::string> texts = recorded.trace.texts(PTDS_REC_SETTING, sizeof(ptds_rec_SETTING));
    EXPECT_EQ(std::count_if(texts.begin(), texts.end(),
                            [](const std::string &text) { return text.rfind("device.0.name=", 0) == 0; }),
              1);
    for (const ptds_rec_CONTEXT &context : recorded.all<ptds_rec_CONTEXT>(PTDS_REC_CONTEXT))
        EXPECT_EQ(context.device, 0);
}

/* Ticks of the trace as nanoseconds, by its clock records. */
struct Clock {
    uint64_t ticks = 0;
    double ns_a_tick = 0;
    explicit Clock(const Recorded &recorded)
    {
        std::vector<ptds_rec_CLOCK> clocks = recorded.all<ptds_rec_CLOCK>(PTDS_REC_CLOCK);
        if (clocks.size() < 2)
            return;
        ticks = clocks.front().ticks;
        ns_a_tick = static_cast<double>(clocks.back().monotonic - clocks.front().monotonic) /
                    static_cast<double>(clocks.back().ticks - ticks);
    }
    double ns(uint64_t at) const
    {
        return (static_cast<double>(at) - static_cast<double>(ticks)) * ns_a_tick;
    }
};

TEST(DeviceTimes, OneInAHundredAndWhenItRan)
{
    for (const char *policy : {"observe", "guarded", "per-thread", "stream"}) {
        SCOPED_TRACE(policy);
        Recorded recorded = record({"spins", "4000"}, policy, {{"PTDS_DEVICE_TIMES", "sampled"}});
        std::vector<ptds_rec_DEVICE_TIME> times = recorded.all<ptds_rec_DEVICE_TIME>(PTDS_REC_DEVICE_TIME);
        std::map<uint64_t, ptds_rec_CALL> calls;
        for (const ptds_rec_CALL &call : recorded.calls(PTDS_OP_LAUNCH))
            calls[call.enter] = call;
        std::map<uint32_t, ptds_rec_DEVICE_BASE> bases;
        for (const ptds_rec_DEVICE_BASE &base : recorded.all<ptds_rec_DEVICE_BASE>(PTDS_REC_DEVICE_BASE))
            bases[base.id] = base;
        EXPECT_GE(times.size(), 10u);
        EXPECT_LE(times.size(), 41u) << "at most 1 % of the work is touched";
        Clock clock(recorded);
        for (const ptds_rec_DEVICE_TIME &time : times) {
            ASSERT_EQ(calls.count(time.enter), 1u);
            EXPECT_EQ(time.thread, 1u);
            EXPECT_FALSE(calls[time.enter].flags & PTDS_CALL_CAPTURING);
            ASSERT_EQ(bases.count(time.base), 1u);
            const ptds_rec_DEVICE_BASE &base = bases[time.base];
            EXPECT_LT(base.earliest, base.latest);
            double start = static_cast<double>(static_cast<int64_t>(time.start));
            double end = static_cast<double>(static_cast<int64_t>(time.end));
            EXPECT_GE(end - start, 15000) << "the kernel runs for 20 us";
            EXPECT_GE(clock.ns(base.latest) + start, clock.ns(time.enter) - 1000) << "it did not run before its call";
        }
    }
}

/* Each operation has its own times, whether the program calls the driver or the runtime. */
class FromCupti : public testing::TestWithParam<std::vector<std::string>>
{
};

TEST_P(FromCupti, EachOperationHasItsTimes)
{
    for (const char *policy : {"observe", "guarded"}) {
        SCOPED_TRACE(policy);
        Recorded recorded = record(GetParam(), policy, {{"PTDS_DEVICE_TIMES", "cupti"}});
        std::map<std::pair<uint32_t, uint64_t>, ptds_rec_CALL> work;
        for (uint8_t op = PTDS_OP_LAUNCH; op <= PTDS_OP_OPAQUE; op++)
            for (const ptds_rec_CALL &call : recorded.calls(op))
                work[{1u, call.enter}] = call;
        EXPECT_EQ(work.size(), 400u);
        for (const auto &one : work) {
            EXPECT_TRUE(one.second.flags & PTDS_CALL_TIMED) << "op " << unsigned(one.second.op);
            EXPECT_GT(one.second.leave, one.second.enter);
        }
        std::map<uint32_t, ptds_rec_DEVICE_BASE> bases;
        for (const ptds_rec_DEVICE_BASE &base : recorded.all<ptds_rec_DEVICE_BASE>(PTDS_REC_DEVICE_BASE)) {
            EXPECT_EQ(base.source, static_cast<uint32_t>(PTDS_DEVICE_CUPTI));
            bases[base.id] = base;
        }
        std::vector<ptds_rec_DEVICE_TIME> times = recorded.all<ptds_rec_DEVICE_TIME>(PTDS_REC_DEVICE_TIME);
        EXPECT_EQ(times.size(), work.size()) << "one for each, those pending at the exit too";
        Clock clock(recorded);
        for (const ptds_rec_DEVICE_TIME &time : times) {
            ASSERT_EQ(work.count({time.thread, time.enter}), 1u);
            ASSERT_EQ(bases.count(time.base), 1u);
            EXPECT_EQ(time.end - time.start, 1234u);
            double start = static_cast<double>(static_cast<int64_t>(time.start));
            double after = clock.ns(bases[time.base].latest) + start - clock.ns(time.enter);
            EXPECT_GT(after, -100000);
            EXPECT_LT(after, 50000000);
        }
    }
}

INSTANTIATE_TEST_SUITE_P(DeviceTimes, FromCupti,
                         testing::Values(std::vector<std::string>{"spins", "300"},
                                         std::vector<std::string>{"spins", "300", "runtime"}));

TEST(DeviceTimes, WithoutTheRightCupti)
{
    Command command = shimmed("recorder_child", {"streams"}, {{"PTDS_DEVICE_TIMES", "cupti"}});
    command.env["FAKE_CUPTI_VERSION"] = "90000";
    command.libraries = simulator();
    command.env["PTDS_REPORT"] = "summary";
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit, 0) << outcome;
    EXPECT_NE(outcome.err.find("libcupti.so is of another CUDA release"), std::string::npos) << outcome;
    EXPECT_NE(outcome.err.find("; no device times\n"), std::string::npos) << outcome;
}

TEST(DeviceTimes, NotAskedForAndWrong)
{
    Recorded recorded = record({"spins", "1000"});
    EXPECT_TRUE(recorded.all<ptds_rec_DEVICE_TIME>(PTDS_REC_DEVICE_TIME).empty());
    EXPECT_TRUE(recorded.all<ptds_rec_DEVICE_BASE>(PTDS_REC_DEVICE_BASE).empty());
    Command command = shimmed("recorder_child", {"streams"}, {{"PTDS_DEVICE_TIMES", "always"}});
    command.libraries = simulator();
    EXPECT_NE(run(command).err.find("PTDS_DEVICE_TIMES=always is not allowed"), std::string::npos);
}

} // namespace
} // namespace ptds
