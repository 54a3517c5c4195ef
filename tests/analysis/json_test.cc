// SPDX-License-Identifier: Apache-2.0
//
// The JSON form: it parses, carries its version, says the same as the text, and has null where nothing is known.
#include <gtest/gtest.h>
#include <jansson.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <sstream>

#include "analysis/views/gap_words.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/report_words.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

class Json
{
public:
    explicit Json(const std::string &bytes) : built_(bytes)
    {
        TextOf out;
        EXPECT_EQ(0, report_json(built_.get(), nullptr, &out));
        json_error_t error;
        root = json_loads(out.text.c_str(), 0, &error);
        EXPECT_NE(nullptr, root) << error.text << "\n" << out.text;
    }
    ~Json()
    {
        json_decref(root);
    }
    Json(const Json &) = delete;

    json_t *At(const char *object, const char *key) const
    {
        return json_object_get(json_object_get(root, object), key);
    }

    json_t *root;

private:
    Built built_;
};

TEST(Json, HasItsVersionAndTheFinding)
{
    Json json(BuildTrace("setting policy=observe\n"
                         "1@0 launch s=L k=_Z4spinPf site=a\n"
                         "1@10+5000 copy s=L implicit from=device to=pageable bytes=4 site=b\n" GOES_ON));
    EXPECT_EQ(1, json_integer_value(json_object_get(json.root, "ptds_report_version")));
    EXPECT_STREQ("observe", json_string_value(json.At("meta", "policy")));
    json_t *findings = json_object_get(json.root, "findings");
    ASSERT_EQ(1u, json_array_size(findings));
    json_t *finding = json_array_get(findings, 0);
    EXPECT_STREQ("sync-copy", json_string_value(json_object_get(finding, "rule")));
    EXPECT_EQ(1, json_integer_value(json_object_get(finding, "count")));
    EXPECT_STREQ("H3", json_string_value(json_object_get(finding, "class")));
    EXPECT_STREQ("warning", json_string_value(json_object_get(finding, "severity")));
    EXPECT_TRUE(json_is_false(json_object_get(finding, "banner")));
    EXPECT_EQ(1, json_integer_value(json.At("totals", "findings_for_90_percent")));
    json_t *cost = json_object_get(finding, "cost");
    EXPECT_EQ(4980000, json_integer_value(json_object_get(cost, "host_ns")));
    EXPECT_TRUE(json_is_null(json_object_get(cost, "gpu_ns")));
    json_t *frame = json_array_get(json_object_get(finding, "callsite"), 0);
    EXPECT_STREQ("/opt/app/prog", json_string_value(json_object_get(frame, "object")));
    EXPECT_STREQ("0x20", json_string_value(json_object_get(frame, "offset")));
    json_t *values = json_object_get(finding, "values");
    json_t *kernels = json_object_get(json_object_get(values, "waits_for_kernels"), "ids");
    EXPECT_STREQ("spin(float*)", json_string_value(json_object_get(json_array_get(kernels, 0), "name")));
}

TEST(Json, AFindingSaysWhenItWasFirstAndLast)
{
    const std::string launch = " launch s=L k=_Z4spinPf\n",
                      copy = "+5000 copy s=L implicit from=device to=pageable bytes=4 site=b\n";
    Json json(BuildTrace("1@0" + launch + "1@10" + copy + "1@6000" + launch + "1@6010" + copy + "1@13000" + launch +
                         "1@13010" + copy + "1@20000 launch s=N9 k=next\n1@26000+3 sync s=N9\n"));
    json_t *finding = json_array_get(json_object_get(json.root, "findings"), 0);
    EXPECT_EQ(3, json_integer_value(json_object_get(finding, "count")));
    EXPECT_EQ(10000, json_integer_value(json_object_get(finding, "first_ns")));
    EXPECT_EQ(13010000, json_integer_value(json_object_get(finding, "last_ns")));
}

TEST(Json, UnknownIsNull)
{
    TraceBuilder builder;
    builder.header.clock = PTDS_CLOCK_TSC;
    CallSpec call;
    builder.Call(call);
    Json json(builder.Bytes());
    EXPECT_TRUE(json_is_null(json.At("meta", "run_ns")));
    EXPECT_TRUE(json_is_null(json.At("meta", "rank")));
    EXPECT_TRUE(json_is_null(json.At("totals", "host_ns_lost")));
    EXPECT_TRUE(json_is_null(json.At("totals", "findings_for_90_percent")));
    EXPECT_TRUE(json_is_false(json.At("totals", "calls_exact")));
    EXPECT_NE(0u, json_array_size(json.At("completeness", "gaps")));
}

TEST(Json, WhatIsMoreThanCanBeFollowed)
{
    const std::string orders = " on streams too many to say what depends on their order\n",
                      all = " on streams beyond the first 4096 alive at a time\n";
    const std::map<int, std::string> expected = {{1022, ""},
                                                 {1023, "1 call" + orders},
                                                 {4095, "3073 calls" + orders},
                                                 {4096, "1 call" + all + "3073 calls" + orders}};
    for (const auto &[streams, said] : expected) {
        std::string text = "1@0 launch k=a s=L\n", gaps;
        for (int i = 1; i <= streams; i++)
            text += "1@" + std::to_string(i) + " launch k=a s=B" + std::to_string(i) + "\n";
        Json json(BuildTrace(text));
        size_t at;
        json_t *gap;
        json_array_foreach(json.At("completeness", "gaps"), at, gap) gaps += std::string(json_string_value(gap)) + "\n";
        EXPECT_EQ("the trace holds no exact counts; numbers are of the recorded calls\n" + said, gaps) << streams;
    }
}

std::string GapsOf(const struct report &report)
{
    std::string said;
    unsigned lines = gap_words(
        &report, [](void *data, const char *line) { *static_cast<std::string *>(data) += std::string(line) + "\n"; },
        &said);
    EXPECT_EQ(static_cast<size_t>(lines), static_cast<size_t>(std::count(said.begin(), said.end(), '\n')));
    return said;
}

/* Each by itself, in the order in which a reader wants them. */
TEST(Gaps, AreAllSaid)
{
    auto report = std::make_unique<struct report>();
    report->trace.header.clean_end = 1;
    report->trace.header.clock = PTDS_CLOCK_MONOTONIC;
    report->has_counts = true;
    EXPECT_EQ("", GapsOf(*report));
    report->trace.header.refused = 12345;
    report->left_out = 1000000;
    report->trace.header.recycled = 2;
    report->trace.lost_chunks = 3;
    report->trace.damaged = 4;
    report->trace.unknown_records = 5;
    report->refused = 6;
    report->out_of_memory = true;
    report->trace.header.uncounted = 7;
    report->has_counts = false;
    report->trace.header.clock = PTDS_CLOCK_TSC;
    report->totals.untimed_waits = 8;
    report->totals.unknown_streams = 9;
    report->totals.unplaced = 10;
    report->totals.unknown_generations = 11;
    report->edges.totals.unplaced = 12;
    report->totals.opaque = 1;
    /* What each line is about: a number of its own, or a word. */
    const std::vector<std::string> kept = {"12 345", "1 000 000", "2 ", "3 ", "4 ", "5 ", "6 ", "memory"},
                                   behind = {"clock", "8 ", "9 ", "10 ", "11 ", "12 ", "1 operation"};
    auto expect = [&](const std::vector<std::string> &between) {
        std::vector<std::string> all = kept;
        all.insert(all.end(), between.begin(), between.end());
        all.insert(all.end(), behind.begin(), behind.end());
        std::istringstream lines(GapsOf(*report));
        std::string line;
        for (const std::string &about : all) {
            ASSERT_TRUE(std::getline(lines, line)) << about;
            EXPECT_NE(std::string::npos, line.find(about)) << about << ": " << line;
            EXPECT_TRUE(about.back() != ' ' || line.find(about) == 0) << line;
        }
        EXPECT_FALSE(std::getline(lines, line)) << line;
    };
    expect({"exact counts"}); /* who ended well has counted all */
    report->trace.header.clean_end = 0;
    expect({"7 threads", "exact counts", "did not end"});
    report->trace.lost = 12346;
    EXPECT_EQ(0u, GapsOf(*report).find("12 346 records had no room")) << "whichever is more";
}

/* Why operations may touch any memory: the most that fits into a line, and how many reasons more. */
TEST(Gaps, SayWhatMayTouchAnyMemory)
{
    auto report = std::make_unique<struct report>();
    report->trace.header.clean_end = 1;
    report->trace.header.clock = PTDS_CLOCK_MONOTONIC;
    report->has_counts = true;
    report->totals.opaque = 99;
    uint64_t *why = report->totals.touch_all;
    why[PTDS_OPAQUE_GRAPH] = 1;
    EXPECT_EQ("1 operation may touch any memory: " + std::string(report_words_touch_everything(PTDS_OPAQUE_GRAPH)) + "\n",
              GapsOf(*report));
    why[PTDS_OPAQUE_GRAPH] = 2;
    why[PTDS_OPAQUE_EVENT] = 1;
    EXPECT_EQ(0u, GapsOf(*report).find("3 operations may touch any memory: "));
    EXPECT_NE(std::string::npos, GapsOf(*report).find(report_words_touch_everything(PTDS_OPAQUE_GRAPH)));
    EXPECT_NE(std::string::npos, GapsOf(*report).find(" 1 more")) << GapsOf(*report);
    std::set<std::string> words;
    for (unsigned i = PTDS_OPAQUE_NO + 1; i < PTDS_OPAQUE_REASONS; i++) {
        why[i] = 1000;
        words.insert(report_words_touch_everything(i));
    }
    EXPECT_EQ(0u, GapsOf(*report).find("13 000 operations may touch any memory: "));
    EXPECT_NE(std::string::npos, GapsOf(*report).find(" 12 more")) << GapsOf(*report);
    EXPECT_EQ(13u, words.size()) << "each reason has words of its own";
}

TEST(Json, WhatWentPastTheShim)
{
    Json json(BuildTrace("untabled cuNewThing\nbypass 6:/deep/libcalls.so\n1@0 launch s=N1 k=a\n"));
    json_t *past = json.At("completeness", "past_the_shim");
    ASSERT_EQ(2u, json_array_size(past));
    EXPECT_STREQ("cuNewThing is not known to the shim; the program was given the legacy function",
                 json_string_value(json_array_get(past, 0)));
    EXPECT_STREQ("/deep/libcalls.so: opened by name with RTLD_DEEPBIND, calls the driver past the shim; ptds run --audit "
                 "reaches it",
                 json_string_value(json_array_get(past, 1)));
    Json none(BuildTrace("1@0 launch s=N1 k=a\n"));
    EXPECT_EQ(0u, json_array_size(none.At("completeness", "past_the_shim")));
}

TEST(Json, HowManyOperationsHaveGpuTimes)
{
    Json with(BuildTrace("1@0 launch s=N1 k=a\n1@10 launch s=N1 k=b\ndevice-run 1@10 30+400\n"));
    EXPECT_EQ(2, json_integer_value(with.At("completeness", "gpu_operations")));
    EXPECT_EQ(1, json_integer_value(with.At("completeness", "gpu_timed")));
    EXPECT_STREQ("GPU times of 1 of 2 operations are recorded", json_string_value(with.At("completeness", "gpu_times")));
    Json without(BuildTrace("1@0 launch s=N1 k=a\n"));
    EXPECT_EQ(0, json_integer_value(without.At("completeness", "gpu_timed")));
    EXPECT_STREQ("GPU time is not recorded", json_string_value(without.At("completeness", "gpu_times")));
}

/* Two GPUs, 300 of 1000 us and 100 of 500; the call that comes last ends at 1100 us. */
TEST(Json, HowLongGpusWereBusy)
{
    TraceBuilder builder;
    builder.Stream(1, PTDS_STREAM_NON_BLOCKING);
    CallSpec call;
    call.op = PTDS_OP_LAUNCH;
    call.stream = call.target = 1;
    const uint64_t runs[][3] = {{200, 350, 0}, {100, 300, 0}, {210, 220, 0}, {350, 400, 0}, {600, 700, 1}};
    for (const auto &[begin, end, device] : runs) {
        call.enter += 1000;
        builder.Call(call);
        builder.DeviceRun(1, call.enter, begin * 1000, end * 1000, static_cast<int32_t>(device));
    }
    call.op = PTDS_OP_CTX_SYNC;
    call.stream = call.target = 0;
    call.enter = 1000000;
    call.leave = 1100000;
    call.flags = PTDS_CALL_TIMED;
    builder.Call(call);
    Json json(builder.Bytes());
    EXPECT_EQ(2, json_integer_value(json.At("totals", "gpus")));
    EXPECT_EQ(400000, json_integer_value(json.At("totals", "gpu_busy_ns")));
    EXPECT_EQ(1500000, json_integer_value(json.At("totals", "gpu_span_ns")));
    Built built(builder.Bytes());
    EXPECT_STREQ("GPUs busy 27 % of 1.5 ms", report_words_gpu_busy(&built->totals).text);
    Json without(BuildTrace("1@0 launch s=N1 k=a\n"));
    EXPECT_TRUE(json_is_null(without.At("totals", "gpu_busy_ns")));
    EXPECT_TRUE(json_is_null(without.At("totals", "gpu_span_ns")));
    EXPECT_EQ(0, json_integer_value(without.At("totals", "gpus")));
}

/* A graph's launch has several operations on the GPU, told in any order: it runs from the first one's start to the last
 * one's end. */
TEST(Json, ACallWithSeveralOperationsRunsFromTheFirstToTheLast)
{
    TraceBuilder builder;
    builder.Stream(1, PTDS_STREAM_NON_BLOCKING);
    CallSpec call;
    call.op = PTDS_OP_GRAPH_LAUNCH;
    call.stream = call.target = 1;
    call.enter = 1000;
    builder.Call(call);
    const uint64_t runs[][2] = {{301, 401}, {501, 601}, {201, 351}};
    for (const auto &[begin, end] : runs)
        builder.DeviceRun(1, call.enter, begin * 1000, end * 1000);
    builder.DeviceRun(1, call.enter + 30000, 0, 2000); /* 29 us before: of no call */
    call.enter += 30000;
    builder.Call(call);
    Json json(builder.Bytes());
    EXPECT_EQ(1, json_integer_value(json.At("completeness", "gpu_timed")));
    EXPECT_EQ(400000, json_integer_value(json.At("totals", "gpu_busy_ns")));
}

/* Of operations that the trace has end before they begin, or after all time there is, nothing more than all is busy. */
TEST(Json, GpusAreNeverBusyForLongerThanThereWasTime)
{
    TraceBuilder builder;
    builder.Stream(1, PTDS_STREAM_NON_BLOCKING);
    CallSpec call;
    call.op = PTDS_OP_LAUNCH;
    call.stream = call.target = 1;
    for (uint64_t end : {UINT64_C(10), UINT64_MAX / 2, UINT64_MAX / 2, UINT64_C(1) << 63, UINT64_C(0)}) {
        call.enter += 1000;
        builder.Call(call);
        builder.DeviceRun(1, call.enter, 5, end);
    }
    Json json(builder.Bytes());
    EXPECT_LE(json_integer_value(json.At("totals", "gpu_busy_ns")), json_integer_value(json.At("totals", "gpu_span_ns")));
    EXPECT_GT(json_integer_value(json.At("totals", "gpu_busy_ns")), 0);
}

TEST(Json, WhyOperationsTouchEverything)
{
    TraceBuilder builder;
    CallSpec call;
    call.op = PTDS_OP_LAUNCH;
    call.stream = call.target = 1;
    builder.Stream(1, PTDS_STREAM_NON_BLOCKING);
    for (unsigned why : {0u, unsigned{PTDS_OPAQUE_GRAPH}, unsigned{PTDS_OPAQUE_POINTERS}, unsigned{PTDS_OPAQUE_POINTERS},
                         unsigned{PTDS_OPAQUE_EVENT}, 15u}) {
        call.enter += 10;
        call.flags = why << PTDS_CALL_WHY_SHIFT;
        builder.Call(call);
    }
    Json json(builder.Bytes());
    json_t *reasons = json.At("completeness", "touch_everything");
    EXPECT_EQ(4u, json_object_size(reasons));
    EXPECT_EQ(1, json_integer_value(json_object_get(reasons, "graph with events")));
    EXPECT_EQ(1, json_integer_value(json_object_get(reasons, "graph with unseen nodes")));
    EXPECT_EQ(2, json_integer_value(json_object_get(reasons, "unseen pointers in device memory")));
    EXPECT_EQ(1, json_integer_value(json_object_get(reasons, "call that does not name its memory")));
    Json none(BuildTrace("1@0 launch s=N1 k=a\n"));
    EXPECT_EQ(0u, json_object_size(none.At("completeness", "touch_everything")));
}

TEST(Json, ParsesForEveryRulesTraces)
{
    const rule *rules[RULES_MOST];
    for (size_t i = 0, count = registry_all(rules); i < count; i++) {
        Json bad(BuildTrace(rules[i]->bad)), good(BuildTrace(rules[i]->good));
        EXPECT_NE(0u, json_array_size(json_object_get(bad.root, "findings")));
    }
}

} // namespace
} // namespace ptds
