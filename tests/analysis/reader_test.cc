// SPDX-License-Identifier: Apache-2.0
//
// The reader: what was written comes back, in order; older, newer and unknown things; and every kind of damage, of which
// none may crash and each must name its place.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <random>

#include "tests/analysis/support.h"
#include "analysis/trace/frames.h"
#include "analysis/trace/merge.h"
#include "analysis/trace/records.h"

namespace ptds
{
namespace
{

template <class Record> std::string Bytes(const Record &record)
{
    return std::string(reinterpret_cast<const char *>(&record), sizeof record);
}

std::string Small()
{
    TraceBuilder builder;
    builder.chunk_size = 1024;
    builder.Setting("PTDS_POLICY=observe");
    builder.String(1, "_Z4spinv");
    builder.Kernel(1, 1);
    builder.Api(1, "cuLaunchKernel", true);
    builder.Thread(1, "main");
    builder.Stream(1, PTDS_STREAM_LEGACY);
    builder.Object(1, "/opt/app/prog", 0x1000, 0x2000);
    builder.Stack(1, {0x1010, 0x1020});
    for (uint32_t thread = 1; thread <= 2; thread++)
        for (uint64_t i = 0; i < 12; i++) {
            CallSpec call;
            call.thread = thread;
            call.enter = i * 100 + thread;
            call.leave = call.enter + 10;
            call.op = PTDS_OP_LAUNCH;
            call.flags = PTDS_CALL_LEGACY | PTDS_CALL_TIMED;
            call.stream = call.object = call.stack = 1;
            call.words = {i, 2, 3};
            builder.Call(call);
        }
    ptds_count count = {12, 1, 0, 120};
    builder.Count(1, 1, false, count);
    builder.Count(2, 1, true, count);
    for (uint32_t thread = 1; thread <= 2; thread++) {
        builder.DefaultCount(thread, 1, thread == 2, {40, 30, 3});
        ptds_now now = {};
        now.enter = 5000 + thread;
        builder.Now(thread, now);
    }
    builder.Edge(2, 3, 4, 5);
    ptds_rec_HOST_RUN ran = {};
    ran.record = {PTDS_REC_HOST_RUN, sizeof ran, 0};
    ran.begin = 77;
    builder.Raw(1, Bytes(ran));
    return builder.Bytes();
}

class Read
{
public:
    explicit Read(const std::string &bytes) : memory_(bytes)
    {
        char message[TRACE_ERROR_SIZE] = "";
        status = trace_read(&trace, memory_.source(), message);
        error = message;
    }
    ~Read()
    {
        trace_close(&trace);
    }
    Read(const Read &) = delete;

    std::vector<call> Calls()
    {
        std::vector<call> calls;
        merge merged;
        EXPECT_EQ(0, merge_begin(&merged, &trace));
        while (const call *next = merge_next(&merged))
            calls.push_back(*next);
        merge_end(&merged);
        return calls;
    }

    struct trace trace;
    int status;
    std::string error;

private:
    MemoryTrace memory_;
};

TEST(Reader, GivesBackWhatWasWritten)
{
    Read read(Small());
    ASSERT_EQ(0, read.status) << read.error;
    EXPECT_STREQ("observe", definitions_setting(&read.trace.defs, "PTDS_POLICY"));
    EXPECT_STREQ("_Z4spinv", definitions_string(&read.trace.defs, 1));
    EXPECT_STREQ("cuLaunchKernel", definitions_api(&read.trace.defs, 1)->text);
    EXPECT_STREQ("main", definitions_thread(&read.trace.defs, 1)->text);
    EXPECT_EQ(2u, definitions_stack(&read.trace.defs, 1)->count);
    EXPECT_EQ(0x1020u, definitions_stack(&read.trace.defs, 1)->pc[1]);
    EXPECT_STREQ("/opt/app/prog", frames_object_at(&read.trace.defs, 0x1fff)->text);
    EXPECT_EQ(nullptr, frames_object_at(&read.trace.defs, 0x2000));
    EXPECT_EQ(nullptr, definitions_kernel(&read.trace.defs, 77));
    EXPECT_EQ(2u, read.trace.threads);
    EXPECT_EQ(24u, read.trace.calls);
    EXPECT_EQ(12u, read.trace.counts.items[2].calls);
    EXPECT_EQ(12u, read.trace.counts.items[3].calls);
    EXPECT_EQ(0u, read.trace.damaged);
}

TEST(Reader, MergesThreadsByTimeOfEntry)
{
    Read read(Small());
    auto calls = read.Calls();
    ASSERT_EQ(24u, calls.size());
    for (size_t i = 0; i < calls.size(); i++) {
        EXPECT_EQ(i / 2 * 100 + i % 2 + 1, calls[i].r.enter);
        EXPECT_EQ(i % 2 + 1, calls[i].thread);
        EXPECT_EQ(3u, calls[i].words);
    }
}

TEST(Reader, TiesGoToTheLowerThread)
{
    Read read(BuildTrace("2@10 launch s=L\n1@10 launch s=L\n3@10 launch s=L\n"));
    auto calls = read.Calls();
    ASSERT_EQ(3u, calls.size());
    for (uint32_t i = 0; i < 3; i++)
        EXPECT_EQ(i + 1, calls[i].thread);
}

TEST(Reader, AFileIsReadLikeMemory)
{
    std::string path = WriteTemporary(Small());
    trace_source source;
    char error[TRACE_ERROR_SIZE];
    ASSERT_EQ(0, trace_source_open(&source, path.c_str(), error)) << error;
    struct trace trace;
    ASSERT_EQ(0, trace_read(&trace, &source, error)) << error;
    EXPECT_EQ(24u, trace.calls);
    trace_close(&trace);
    trace_source_close(&source);
    unlink(path.c_str());
}

TEST(Reader, CountsOfTheDefaultStreamOfAllThreads)
{
    Read read(Small());
    ASSERT_TRUE(read.trace.has_defaults);
    EXPECT_EQ(80u, read.trace.defaults.legacy);
    EXPECT_EQ(60u, read.trace.defaults.kept);
    EXPECT_EQ(6u, read.trace.defaults.failed);
    TraceBuilder older; /* one thread's chunk has none: what the others say is not all */
    older.Count(1, 1, false, {1, 0, 0, 0});
    older.DefaultCount(1, 1, false, {1, 1, 0});
    older.Count(2, 1, false, {1, 0, 0, 0});
    EXPECT_FALSE(Read(older.Bytes()).trace.has_defaults);
}

TEST(Reader, TheSummaryIsExactWhereRecordsWereDropped)
{
    Built report(Small());
    EXPECT_EQ(80u, report->totals.default_stream);
    EXPECT_EQ(6u, report->totals.failed_default);
    EXPECT_EQ(14u, report->totals.remapped);
    uint64_t kept = 0;
    for (uint64_t of_reason : report->totals.kept)
        kept += of_reason;
    EXPECT_EQ(60u, kept);
    EXPECT_EQ(36u, report->totals.kept[KEPT_DROPPED]);
}

/* By the names of the files that frames are in: the shim's own are left out, the driver's and its runtime's are not where a
 * call came from. */
TEST(Reader, WhoseFramesAre)
{
    enum { OURS, CUDA, PROGRAM };
    const std::vector<std::pair<std::string, int>> files = {{"/opt/ptds/lib/libptds.so", OURS},
                                                            {"libptds.so", OURS},
                                                            {"/lib/libptds.so (deleted)", OURS},
                                                            {"/lib/libptds.so.1", OURS},
                                                            {"/lib/libptds_cupti.so", OURS},
                                                            {"/lib/libptds_cupti.so (deleted)", OURS},
                                                            {"/lib/libptds_cupti.so.2", OURS},
                                                            {"/lib/libptds_cupti", PROGRAM},
                                                            {"/lib/mylibptds.so", PROGRAM},
                                                            {"/libptds.so/prog", PROGRAM},
                                                            {"/lib/libptds", PROGRAM},
                                                            {"/lib/libcudart.so.12", CUDA},
                                                            {"/lib/libcudart_static_1.so", CUDA},
                                                            {"/lib/libcuda.so.1", CUDA},
                                                            {"/lib/libcuda.so.1 (deleted)", CUDA},
                                                            {"/lib/libcudnn.so.9", PROGRAM},
                                                            {"/lib/libcuda", PROGRAM},
                                                            {"/libcuda.so.1/prog", PROGRAM},
                                                            {"/opt/app/prog", PROGRAM}};
    TraceBuilder builder;
    builder.chunk_size = 4096;
    for (uint32_t i = 1; i <= files.size(); i++) {
        builder.Object(i, files[i - 1].first, i * 0x1000, i * 0x1000 + 0x1000);
        builder.Stack(i, {i * 0x1000 + 0x10, 0x1000000, 0x2000000});
        builder.Stack(100 + i, {i * 0x1000 + 0x10, i * 0x1000 + 0x20});
    }
    Read read(builder.Bytes());
    for (uint32_t i = 1; i <= files.size(); i++) {
        const auto &[file, whose] = files[i - 1];
        const stack_def *stack = definitions_stack(&read.trace.defs, i);
        ASSERT_NE(nullptr, stack) << file;
        EXPECT_EQ(whose == OURS ? 2u : 3u, stack->count) << file;
        EXPECT_EQ(whose == OURS ? 0x1000000u : i * 0x1000u + 0x10u, stack->pc[0]) << file;
        EXPECT_EQ(whose == CUDA ? 1u : 0u, frames_caller(&read.trace.defs, stack)) << file;
        const stack_def *alone = definitions_stack(&read.trace.defs, 100 + i);
        EXPECT_EQ(whose == OURS ? 0u : 2u, alone->count) << file;
        EXPECT_EQ(whose == CUDA ? 1u : 0u, frames_caller(&read.trace.defs, alone)) << file << ", the last in any case";
    }
}

TEST(Reader, RecordsAmongTheCalls)
{
    Read read(Small());
    EXPECT_EQ(0u, read.trace.unknown_records);
    struct Seen {
        std::vector<std::string> records;
    } seen;
    records_each(
        &read.trace, 1u << PTDS_REC_EDGE | 1u << PTDS_REC_HOST_RUN,
        [](void *data, uint32_t thread, uint16_t kind, const void *fixed) {
            std::string text = std::to_string(thread) + " " + std::to_string(kind);
            if (kind == PTDS_REC_EDGE)
                text += " " + std::to_string(static_cast<const ptds_rec_EDGE *>(fixed)->behind);
            else
                text += " " + std::to_string(static_cast<const ptds_rec_HOST_RUN *>(fixed)->begin);
            static_cast<Seen *>(data)->records.push_back(text);
        },
        &seen);
    EXPECT_EQ((std::vector<std::string>{"1 16 77", "2 17 4"}), seen.records);
}

TEST(Reader, LaunchWordsHaveAnAddressAndAPlace)
{
    uint64_t word = (UINT64_C(0x1ffffffffffff) & ~UINT64_C(7)) | UINT64_C(33) << PTDS_LAUNCH_ADDRESS_BITS;
    EXPECT_EQ(UINT64_C(0x1fffffffffff8), launch_address(word));
    EXPECT_EQ(264u, launch_offset(word));
}

TEST(Reader, OlderCallRecordsAreShorter)
{
    TraceBuilder builder;
    builder.header.call_size = 48; /* a version without target, stack, object and what follows */
    CallSpec call;
    call.stream = 7;
    call.object = 8;
    call.words = {0x1234};
    builder.Call(call);
    Read read(builder.Bytes());
    auto calls = read.Calls();
    ASSERT_EQ(1u, calls.size());
    EXPECT_EQ(7u, calls[0].r.stream);
    EXPECT_EQ(0u, calls[0].r.object);
    EXPECT_EQ(0x1234u, call_word(&calls[0], 0));
    EXPECT_EQ(0u, call_word(&calls[0], 100));
}

TEST(Reader, NewerFieldsAreSteppedOver)
{
    TraceBuilder builder;
    builder.header.call_size = sizeof(ptds_rec_CALL) + 16;
    CallSpec call;
    call.words = {42};
    call.region = 9;
    builder.Call(call);
    Read read(builder.Bytes());
    auto calls = read.Calls();
    ASSERT_EQ(1u, calls.size());
    EXPECT_EQ(9u, calls[0].r.region);
    EXPECT_EQ(42u, call_word(&calls[0], 0));
}

TEST(Reader, TheSchemaSaysWhereATailBegins)
{
    TraceBuilder builder;
    /* STRING as a later version might have it: one more field, then the text. */
    std::string fixed(24, '\0');
    uint32_t id = 5;
    memcpy(&fixed[8], &id, sizeof id);
    builder.Definition(PTDS_REC_STRING, fixed.data(), fixed.size(), "kernel");
    const char schema[] = "STRING 1 id:u32 role:u32 later:u64 text:char\nnonsense\n 99999 \nX 1";
    builder.header.schema_offset = sizeof(ptds_trace_header);
    builder.header.schema_size = sizeof schema - 1;
    std::string bytes = builder.Bytes();
    memcpy(&bytes[sizeof(ptds_trace_header)], schema, sizeof schema - 1);
    Read read(bytes);
    ASSERT_NE(nullptr, definitions_string(&read.trace.defs, 5));
    EXPECT_STREQ("kernel", definitions_string(&read.trace.defs, 5));
}

TEST(Reader, UnknownRecordsAreSkippedAndCounted)
{
    TraceBuilder builder;
    ptds_record unknown = {999, 0, 0};
    builder.Definition(999, &unknown, sizeof unknown, "whatever");
    builder.String(1, "after");
    Read read(builder.Bytes());
    EXPECT_EQ(1u, read.trace.unknown_records);
    EXPECT_STREQ("after", definitions_string(&read.trace.defs, 1));
}

TEST(Reader, ANewerVersionIsRefusedClearly)
{
    TraceBuilder builder;
    builder.header.version = PTDS_TRACE_VERSION + 1;
    Read read(builder.Bytes());
    EXPECT_EQ(-1, read.status);
    EXPECT_NE(std::string::npos, read.error.find("version 2")) << read.error;
}

TEST(Reader, TextsAreCleaned)
{
    TraceBuilder builder;
    builder.String(1, "a\033[31m\xff\xc3\xa4\nb");
    Read read(builder.Bytes());
    EXPECT_STREQ("a?[31m?\xc3\xa4?b", definitions_string(&read.trace.defs, 1));
}

TEST(Reader, LostRecordsAddUpOverThreads)
{
    TraceBuilder builder;
    builder.Lost(1, 10);
    builder.Lost(2, 5);
    Read read(builder.Bytes());
    EXPECT_EQ(15u, read.trace.lost);
}

/* The calls before which some of their thread's are missing, by time of entry; merge_in_gap until then. */
std::vector<uint64_t> Gaps(const TraceBuilder &builder)
{
    Read read(builder.Bytes());
    merge merged;
    std::vector<uint64_t> gaps;
    EXPECT_EQ(0, merge_begin(&merged, &read.trace));
    while (const call *next = merge_next(&merged))
        if (merge_in_gap(&merged))
            gaps.push_back(next->r.enter);
    merge_end(&merged);
    return gaps;
}

/* Three threads, each with calls at 10, 20, ... of which the second lost what came before the third. */
TEST(Reader, WhereChunksWereOverwrittenIsAGap)
{
    for (bool tells : {true, false})
        for (uint64_t recycled : {0, 1}) {
            TraceBuilder builder;
            builder.header.recycled = recycled;
            builder.tells_ordinals = tells;
            CallSpec call;
            for (uint64_t at : {10, 20, 30, 40})
                for (uint32_t thread : {1, 2, 3}) {
                    call.enter = call.leave = at + thread;
                    call.thread = thread;
                    if (thread == 2 && at == 30)
                        builder.Gap(2, 4);
                    if (thread != 2 || at != 20)
                        builder.Call(call);
                }
            const std::vector<uint64_t> second = {13, 21, 23, 31, 32}, firsts = {11, 12, 13};
            /* A trace that does not tell may have lost the beginning of each thread, and says nothing of the rest. */
            EXPECT_EQ(tells || recycled == 0 ? second : firsts, Gaps(builder)) << tells << recycled;
        }
}

TEST(Reader, DamageNamesItsOffsetAndWhatFollowsInOtherChunksIsRead)
{
    std::string bytes = Small();
    uint16_t size = 7;
    size_t first_definition = 1024 + sizeof(ptds_chunk);
    memcpy(&bytes[first_definition + offsetof(ptds_record, size)], &size, sizeof size);
    Read read(bytes);
    ASSERT_EQ(0, read.status);
    ASSERT_EQ(1u, read.trace.damages.count);
    EXPECT_EQ(first_definition, read.trace.damages.items[0].offset);
    EXPECT_EQ(24u, read.trace.calls);
}

/* Everything there is over a trace: all writers of the core. */
void ReportAll(const std::string &bytes)
{
    Built report(bytes);
    if (report.status == 0)
        EXPECT_FALSE((report.Summary() + report.Text()).empty());
    else
        EXPECT_NE(std::string::npos, report.error.find("offset")) << report.error;
}

void ReportFile(const std::string &bytes, size_t keep)
{
    std::string path = WriteTemporary(bytes.substr(0, keep));
    trace_source source;
    char error[TRACE_ERROR_SIZE];
    if (trace_source_open(&source, path.c_str(), error) != 0) {
        EXPECT_NE(std::string::npos, std::string(error).find("offset 0")) << error;
        EXPECT_LT(keep, sizeof(ptds_trace_header));
    } else {
        TextOf out;
        at_exit_full_report(&source, 0, &out);
        EXPECT_FALSE(out.text.empty());
        trace_source_close(&source);
    }
    unlink(path.c_str());
}

TEST(Damage, CutAnywhere)
{
    std::string bytes = Small();
    for (size_t keep = 0; keep <= bytes.size(); keep++)
        ReportFile(bytes, keep);
}

TEST(Damage, WhatWasBeforeTheCutIsRead)
{
    std::string bytes = Small(), path = WriteTemporary(bytes.substr(0, bytes.size() - 1500));
    trace_source source;
    char error[TRACE_ERROR_SIZE];
    ASSERT_EQ(0, trace_source_open(&source, path.c_str(), error));
    struct trace trace;
    ASSERT_EQ(0, trace_read(&trace, &source, error));
    EXPECT_EQ(24u, trace.calls);
    EXPECT_EQ(1u, trace.damaged + trace.lost_chunks - (trace.damaged != 0 ? 1 : 0));
    trace_close(&trace);
    trace_source_close(&source);
    unlink(path.c_str());
}

TEST(Damage, EveryByteChanged)
{
    std::string bytes = Small();
    for (size_t at = 0; at < bytes.size(); at++)
        for (unsigned char flip : {0xff, 0x01, 0x80}) {
            bool sizes = at >= offsetof(ptds_trace_header, header_size) && at < offsetof(ptds_trace_header, pid);
            if (sizes)
                continue; /* the shim's own header is right where chunks come from memory; files: below */
            std::string changed = bytes;
            changed[at] = static_cast<char>(changed[at] ^ flip);
            ReportAll(changed);
        }
}

TEST(Damage, EveryHeaderByteOfAFileChanged)
{
    std::string bytes = Small();
    for (size_t at = 0; at < sizeof(ptds_trace_header); at++)
        for (unsigned char flip : {0xff, 0x01, 0x80}) {
            std::string changed = bytes;
            changed[at] = static_cast<char>(changed[at] ^ flip);
            ReportFile(changed, changed.size());
        }
}

/* What a fuzzer would do, from a fixed seed: several bytes at once, and words set to extreme values. */
TEST(Damage, Mutations)
{
    std::mt19937 random(20261121);
    const std::string small = Small(), rich = BuildTrace("tsc\n"
                                                         "1@0 launch s=B1 k=a site=x\n"
                                                         "1@1 record s=B1 e=E\n"
                                                         "2@2 wait s=L e=E\n"
                                                         "2@3+900 sync s=L\n"
                                                         "1@5+900 event-sync e=E\n"
                                                         "1@1000+50 copy s=L implicit from=device to=pageable bytes=4\n"
                                                         "1@1100 event-destroy e=E\n"
                                                         "1@1101+5 free ptr=1\n");
    for (int round = 0; round < 4000; round++) {
        std::string bytes = round % 4 == 0 ? rich : small;
        size_t first = offsetof(ptds_trace_header, pid);
        for (unsigned i = 0, n = 1 + random() % 8; i < n; i++) {
            size_t at = first + random() % (bytes.size() - first - 8);
            uint64_t values[] = {0, UINT64_MAX, random(), 1, 0x7fffffff, 0x80000000u};
            memcpy(&bytes[at], &values[random() % 6], 1 + random() % 8);
        }
        ReportAll(bytes);
    }
}

} // namespace
} // namespace ptds
