// SPDX-License-Identifier: Apache-2.0
//
// The calls of a trace: which of them a selection takes, and what it says where there are none; how long records are by the
// trace's own schema; which regions a call is in, and in what order threads' calls come; when operations ran on a device.
#include <gtest/gtest.h>

#include "analysis/trace/device_runs.h"
#include "analysis/trace/merge.h"
#include "analysis/trace/record_sizes.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

/* A trace that was read, and its calls one by one. */
class Merged
{
public:
    explicit Merged(const std::string &bytes) : memory_(bytes)
    {
        char message[TRACE_ERROR_SIZE] = "";
        EXPECT_EQ(0, trace_read(&trace, memory_.source(), message)) << message;
    }
    ~Merged()
    {
        trace_close(&trace);
    }
    Merged(const Merged &) = delete;

    template <typename Each> void Calls(Each each)
    {
        merge merged;
        EXPECT_EQ(0, merge_begin(&merged, &trace));
        while (const call *next = merge_next(&merged))
            each(*next, merge_in_gap(&merged));
        merge_end(&merged);
    }

    struct trace trace;

private:
    MemoryTrace memory_;
};

class Selecting
{
public:
    Selecting(const std::string &bytes, const struct selection &selection, uint64_t start = 0) : merged(bytes)
    {
        char message[TRACE_ERROR_SIZE] = "";
        status = selection_begin(&selected_, &selection, &merged.trace, start, message);
        error = message;
        merged.Calls([&](const call &one, bool) {
            if (status == 0 && selection_has(&selected_, &one))
                taken += (taken.empty() ? "" : " ") + std::to_string(one.r.enter / 1000);
        });
    }
    ~Selecting()
    {
        selection_end(&selected_);
    }

    std::string taken, error; /* microseconds of entry */
    int status = 0;
    Merged merged;

private:
    struct selected selected_ = {};
};

struct selection OfThread(const char *thread)
{
    struct selection selection = {};
    selection.thread = thread;
    return selection;
}

struct selection OfStream(uint32_t stream)
{
    struct selection selection = {};
    selection.stream = stream;
    return selection;
}

struct selection Between(bool from, uint64_t from_us, bool to, uint64_t to_us)
{
    struct selection selection = {};
    selection.has_from = from;
    selection.has_to = to;
    selection.from_ns = from_us * 1000;
    selection.to_ns = to_us * 1000;
    return selection;
}

/* Stream 1 is N1, 2 legacy, 3 its thread's own. */
const std::string calls =
    BuildTrace("1@10 launch s=N1\n2@20 launch s=N1\n1@30 launch s=L to=P1\n12@40 launch s=L\n2@50 none\n");

TEST(SelectedCalls, OfAThreadByNumber)
{
    EXPECT_EQ("10 30", Selecting(calls, OfThread("1")).taken);
    EXPECT_EQ("20 50", Selecting(calls, OfThread("2")).taken);
    EXPECT_EQ("40", Selecting(calls, OfThread("12")).taken);
    EXPECT_EQ("10 20 30 40 50", Selecting(calls, {}).taken);
}

/* As it was named, or as where it was sent. */
TEST(SelectedCalls, OfAStream)
{
    EXPECT_EQ("10 20", Selecting(calls, OfStream(1)).taken);
    EXPECT_EQ("30 40", Selecting(calls, OfStream(2)).taken);
    EXPECT_EQ("30", Selecting(calls, OfStream(3)).taken);
    struct selection both = OfStream(1);
    both.thread = "2";
    EXPECT_EQ("20", Selecting(calls, both).taken);
}

/* From the first moment on, up to the last one and without it; what came before the start came at it. */
TEST(SelectedCalls, OfATime)
{
    EXPECT_EQ("20 30 40 50", Selecting(calls, Between(true, 20, false, 0)).taken);
    EXPECT_EQ("30 40 50", Selecting(calls, Between(true, 21, false, 0)).taken);
    EXPECT_EQ("10 20", Selecting(calls, Between(false, 0, true, 30)).taken);
    EXPECT_EQ("10 20 30", Selecting(calls, Between(false, 0, true, 31)).taken);
    EXPECT_EQ("20", Selecting(calls, Between(true, 20, true, 30)).taken);
    EXPECT_EQ("10 20 30", Selecting(calls, Between(false, 0, true, 6), 25000).taken);
    EXPECT_EQ("10 20", Selecting(calls, Between(false, 0, true, 5), 25000).taken);
    EXPECT_EQ("40", Selecting(calls, Between(true, 15, true, 16), 25000).taken);
    struct selection first = Between(true, 0, true, 0);
    first.to_ns = 1;
    EXPECT_EQ("10 20", Selecting(calls, first, 20000).taken) << "the start itself, and what came before it";
    struct selection late = Between(true, 25, false, 0);
    late.thread = "1";
    EXPECT_EQ("30", Selecting(calls, late).taken);
}

TEST(SelectedCalls, WhatThereIsNotIsAnError)
{
    TraceBuilder builder;
    builder.Thread(3, "worker");
    builder.Thread(40, "");
    builder.Thread(5, "worker");
    CallSpec call;
    for (uint32_t thread : {3, 40, 5, 77}) {
        call.thread = thread;
        call.enter = thread * 1000;
        builder.Call(call);
    }
    std::string bytes = builder.Bytes();
    EXPECT_EQ("3 5", Selecting(bytes, OfThread("worker")).taken) << "all of that name";
    EXPECT_EQ("77", Selecting(bytes, OfThread("77")).taken) << "it was not defined, and made calls";
    EXPECT_EQ("40", Selecting(bytes, OfThread("40")).taken);
    call.thread = UINT32_MAX;
    builder.Call(call);
    EXPECT_EQ("77", Selecting(builder.Bytes(), OfThread("4294967295")).taken) << "the largest number";
    call.thread = 9;
    builder.Call(call);
    EXPECT_EQ("77", Selecting(builder.Bytes(), OfThread("9")).taken);
    EXPECT_EQ("77", Selecting(builder.Bytes(), OfThread("09")).taken);
    builder.header.clock = PTDS_CLOCK_TSC;
    Selecting timeless(builder.Bytes(), Between(true, 1, false, 0));
    EXPECT_EQ(-1, timeless.status);
    EXPECT_EQ("this process: a range of time was asked for, but this trace's clock cannot be converted", timeless.error);
    for (const char *missing : {"6", "3x", "4294967299", "work", "-3"}) {
        Selecting none(bytes, OfThread(missing));
        EXPECT_EQ(-1, none.status) << missing;
        EXPECT_NE(std::string::npos,
                  none.error.find(": no thread \"" + std::string(missing) + "\"; there are: 3 (worker), 40 (), 5 (worker)"))
            << none.error;
    }
    Selecting stream(bytes, OfStream(4));
    EXPECT_EQ(-1, stream.status);
    EXPECT_NE(std::string::npos, stream.error.find(": no stream 4; the reports name streams by #number")) << stream.error;
}

/* As many as have room in a message, each name as far as it is told apart; a thread without one has its number. */
TEST(SelectedCalls, OfManyThreadsAsManyAreNamedAsHaveRoom)
{
    TraceBuilder builder;
    std::string told;
    for (uint32_t id = 1; id <= 40; id++) {
        std::string name = "a worker with a name of its own, number " + std::to_string(id);
        builder.Thread(id, id == 2 ? "" : name);
        told += (id != 1 ? ", " : " ") + std::to_string(id) + " (" + (id == 2 ? "" : name.substr(0, 30)) + ")";
    }
    builder.Call({});
    for (size_t longer = 0; longer < 40; longer++) {
        std::string asked = std::string(20 + longer, 'x');
        Selecting none(builder.Bytes(), OfThread(asked.c_str()));
        std::string begin = "this process: no thread \"" + asked + "\"; there are:";
        ASSERT_EQ(begin, none.error.substr(0, begin.size()));
        std::string names = none.error.substr(begin.size());
        EXPECT_EQ(told.substr(0, names.size()), names);
        EXPECT_EQ(')', names.back()) << "the last one is whole";
        EXPECT_LT(none.error.size(), size_t{TRACE_ERROR_SIZE});
        EXPECT_GE(none.error.size(), size_t{TRACE_ERROR_SIZE - 60});
    }
    EXPECT_NE(
        std::string::npos,
        Selecting(builder.Bytes(), OfThread(std::string(80, 'x').c_str())).error.find("\"" + std::string(60, 'x') + "\";"));
}

/* The sizes of STRING, CALL and so on that a text gives; 0: what this version has. */
struct Schema {
    explicit Schema(const std::string &text)
    {
        uint16_t usual[32] = {};
        record_sizes_read(usual, "", 0);
        record_sizes_read(fixed, text.data(), text.size());
        for (unsigned id = 0; id < 32; id++)
            if (fixed[id] != usual[id])
                changed += (changed.empty() ? "" : " ") + std::to_string(id) + ":" + std::to_string(fixed[id]);
    }
    uint16_t fixed[32] = {};
    std::string changed;
};

/* Each record begins with eight bytes. */
TEST(RecordSizes, AreThoseOfTheSchemasFields)
{
    EXPECT_EQ("", Schema("").changed);
    EXPECT_EQ("30:12", Schema("NEW 30 a:u8").changed) << "a whole number of words";
    EXPECT_EQ("30:12", Schema("NEW 30 a:u8 b:u8 c:u16").changed);
    EXPECT_EQ("30:16", Schema("NEW 30 a:u8 b:u32").changed) << "each at a multiple of its size";
    EXPECT_EQ("30:16", Schema("NEW 30 a:u64").changed);
    EXPECT_EQ("30:24", Schema("NEW 30 a:i32 b:u64").changed);
    EXPECT_EQ("30:24", Schema("NEW 30 a:u64 b:u8").changed) << "to a multiple of its largest";
    EXPECT_EQ("30:28", Schema("NEW 30 a:b20").changed);
    EXPECT_EQ("30:32", Schema("NEW 30 a:b20 b:i32").changed);
    EXPECT_EQ("30:12 31:16", Schema("NEW 30 a:u32\nNEWER 31 a:u64\n").changed);
    EXPECT_EQ("30:12", Schema("NEW  30   a:u32  ").changed) << "however many blanks";
    EXPECT_EQ("30:12", Schema("NEW 30 a:u32 tail:char more:u64").changed) << "up to what has no fixed size";
    EXPECT_EQ("1:24", Schema("STRING 1 id:u32 role:u32 later:u64 text:u64").changed) << "up to the tail that is known";
}

TEST(RecordSizes, AreTheUsualOnesWhereTheTextSaysNothing)
{
    for (const char *text : {"NEW 32 a:u8", "NEW 0 a:u8", "NEW x a:u8", "NEW", "NEW 30", "NEW 30 a", "NEW 30 a:u9",
                             "NEW 30 :char", "NEW 1030 a:u8", "NEW 30 u32"})
        EXPECT_EQ("", Schema(text).changed) << text;
    std::string many = "NEW 30";
    for (unsigned i = 0; i < 511; i++)
        many += " a:u64";
    EXPECT_EQ("30:4096", Schema(many).changed);
    EXPECT_EQ("", Schema(many + " a:u64").changed) << "no record is that long";
}

/* The names of the regions that each call is in, by STRING id. */
std::string RegionsOf(const std::string &bytes)
{
    std::string text;
    Merged(bytes).Calls([&](const call &one, bool) {
        text += (text.empty() ? "" : "; ") + std::to_string(one.r.enter) + ":";
        for (uint32_t i = 0; i < one.regions->depth && i < REGIONS_KEPT; i++)
            text += " " + std::to_string(one.regions->name[i]);
    });
    return text;
}

TEST(Regions, AnEndIsTheInnermostOnesOfItsDomain)
{
    TraceBuilder builder;
    CallSpec call;
    auto at = [&](uint64_t enter) {
        call.enter = enter;
        builder.Call(call);
    };
    at(1);
    builder.Region(1, 2, 10);
    builder.Region(1, 3, 11, 5);
    builder.Region(1, 4, 12);
    at(5);
    builder.Region(1, 6, 0, 5); /* not the innermost of all */
    at(7);
    builder.Region(1, 8, 0, 5); /* there is none left */
    at(9);
    builder.Region(1, 10, 20, 0, 3); /* the process's, not the thread's */
    builder.Region(1, 11, 0, 0, 3);
    at(12);
    builder.Region(1, 13, 0);
    at(14);
    builder.Region(1, 15, 0);
    at(16);
    EXPECT_EQ("1:; 5: 10 11 12; 7: 10 12; 9: 10 12; 12: 10 12; 14: 10; 16:", RegionsOf(builder.Bytes()));
}

/* Those too deep to be kept end first, and those that are kept stay. */
TEST(Regions, AreKeptUpToADepth)
{
    TraceBuilder builder;
    CallSpec call;
    std::string all;
    for (uint32_t i = 0; i < REGIONS_KEPT + 2; i++)
        builder.Region(1, 1, 10 + i);
    for (uint32_t i = 0; i < REGIONS_KEPT; i++)
        all += " " + std::to_string(10 + i);
    for (uint64_t enter : {2, 3, 4, 5}) {
        call.enter = enter;
        builder.Call(call);
        builder.Region(1, enter, 0);
    }
    std::string less = all.substr(0, all.rfind(' '));
    EXPECT_EQ("2:" + all + "; 3:" + all + "; 4:" + all + "; 5:" + less, RegionsOf(builder.Bytes()));
}

TEST(MergedCalls, ComeByTimeThenByThread)
{
    std::string text, order;
    for (unsigned thread = 1; thread <= 9; thread++)
        for (unsigned i = 0; i < 6; i++)
            text += std::to_string(10 - thread) + "@" + std::to_string(i * thread % 7 * 3 + i * 21 + i / 3) + " none\n";
    uint64_t enter = 0;
    uint32_t thread = 0, count = 0;
    Merged(BuildTrace(text)).Calls([&](const call &one, bool) {
        EXPECT_TRUE(one.r.enter > enter || (one.r.enter == enter && one.thread > thread)) << count;
        enter = one.r.enter;
        thread = one.thread;
        count++;
    });
    EXPECT_EQ(54u, count);
}

/* From the moment at which something may be missing until each thread that misses something has come to its next call. */
TEST(MergedCalls, AreInAGapUntilTheThreadThatLostSomethingGoesOn)
{
    std::string gaps;
    Merged(BuildTrace("1@1 none\n2@2 none\nlost 1@3 none\n2@4 none\n1@5 none\n2@6 none\n"))
        .Calls([&](const call &one, bool gap) { gaps += std::to_string(one.r.enter / 1000) + (gap ? "! " : " "); });
    EXPECT_EQ("1 2! 4! 5! 6 ", gaps);
}

/* When operations ran: "after the call+for so long, device", in microseconds. */
std::string RunsOf(const TraceBuilder &builder, const std::vector<std::pair<uint32_t, uint64_t>> &asked_of)
{
    MemoryTrace memory(builder.Bytes());
    struct trace trace;
    struct device_run_list times;
    char message[TRACE_ERROR_SIZE] = "";
    std::string text;
    EXPECT_EQ(0, trace_read(&trace, memory.source(), message)) << message;
    device_runs_begin(&times, &trace);
    for (const auto &[thread, enter] : asked_of) {
        call asked = {};
        asked.thread = thread;
        asked.r.enter = enter * 1000;
        const device_run *run = device_runs_of(&times, &asked);
        uint64_t after = 0, ns = 0;
        if (run != nullptr)
            device_runs_times(&trace, run, &after, &ns);
        text += text.empty() ? "" : " ";
        text += run == nullptr
                    ? "none"
                    : std::to_string(after / 1000) + "+" + std::to_string(ns / 1000) + "," + std::to_string(run->device);
    }
    device_runs_end(&times);
    trace_close(&trace);
    return text;
}

/* Two threads enter at once; one call has several operations, in no order. */
TEST(DeviceTimes, AreFoundByCall)
{
    TraceBuilder builder;
    auto run = [&](uint32_t thread, uint64_t enter, uint64_t begin, uint64_t end, int32_t device = -1) {
        builder.DeviceRun(thread, enter * 1000, begin * 1000, end * 1000, device);
    };
    run(1, 10, 15, 20, 3);
    run(2, 10, 30, 40);
    run(1, 50, 70, 80);
    run(1, 50, 60, 65);
    run(1, 50, 75, 90);
    run(3, 100, 95, 120);  /* began before its call, as clocks go */
    run(3, 200, 100, 179); /* ended long before it */
    run(3, 300, 270, 281);
    run(3, 400, 430, 420);
    EXPECT_EQ("5+5,3 20+10,-1 none 10+30,-1 0+20,-1 none 0+0,-1 none",
              RunsOf(builder, {{1, 10}, {2, 10}, {3, 10}, {1, 50}, {3, 100}, {3, 200}, {3, 300}, {3, 400}}));
    EXPECT_EQ("none", RunsOf(TraceBuilder(), {{1, 10}}));
}

} // namespace
} // namespace ptds
