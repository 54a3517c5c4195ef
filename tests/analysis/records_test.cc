// SPDX-License-Identifier: Apache-2.0
//
// What records, headers and files say that is not usual: fields that an older version did not have, times from a base of
// their own, texts with anything in them, files that are none, chunks that cannot be had.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "analysis/trace/device_runs.h"
#include "analysis/trace/merge.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

struct Read {
    explicit Read(const trace_source *source)
    {
        char message[TRACE_ERROR_SIZE] = "";
        EXPECT_EQ(0, trace_read(&trace, source, message)) << message;
    }
    ~Read()
    {
        trace_close(&trace);
    }
    Read(const Read &) = delete;
    struct trace trace;
};

template <typename Record> Record Blank(uint16_t kind)
{
    Record record;
    memset(&record, 0, sizeof record);
    record.record.kind = kind;
    return record;
}

/* A field that a record does not have is 0, whatever the record before it had. */
TEST(OlderRecords, LackWhatCameLater)
{
    TraceBuilder builder;
    auto memory = Blank<ptds_rec_MEMORY>(PTDS_REC_MEMORY);
    memset(reinterpret_cast<char *>(&memory) + sizeof memory.record, 0x7f, sizeof memory - sizeof memory.record);
    for (uint32_t uid = 1; uid <= 2; uid++) {
        builder.Definition(PTDS_REC_MEMORY, &memory, sizeof memory);
        auto kernel = Blank<ptds_rec_KERNEL>(PTDS_REC_KERNEL);
        kernel.handle = 0x300;
        kernel.uid = uid;
        kernel.name = 9;
        builder.Definition(PTDS_REC_KERNEL, &kernel, 24);
        auto stream = Blank<ptds_rec_STREAM>(PTDS_REC_STREAM);
        stream.uid = uid;
        stream.handle = 0x400;
        builder.Definition(PTDS_REC_STREAM, &stream, offsetof(ptds_rec_STREAM, uid) + 4);
    }
    MemoryTrace bytes(builder.Bytes());
    Read read(bytes.source());
    for (uint32_t uid = 1; uid <= 2; uid++) {
        const kernel_def *kernel = definitions_kernel(&read.trace.defs, uid);
        ASSERT_NE(nullptr, kernel);
        EXPECT_EQ(0x300u, kernel->handle);
        EXPECT_EQ(9u, kernel->name);
        EXPECT_EQ(0u, kernel->params);
        EXPECT_EQ(0u, kernel->variables);
        const stream_def *stream = definitions_stream(&read.trace.defs, uid);
        ASSERT_NE(nullptr, stream);
        EXPECT_EQ(0x400u, stream->handle);
        EXPECT_EQ(0u, stream->context + stream->kind + stream->thread + stream->stack);
        EXPECT_EQ(0, stream->priority);
    }
}

TEST(Headers, HaveCleanTexts)
{
    TraceBuilder builder;
    strcpy(builder.header.host, "no\nde");
    strcpy(builder.header.program, "/opt/\033[31mprog");
    strcpy(builder.header.shim, "0.1\t");
    MemoryTrace bytes(builder.Bytes());
    Read read(bytes.source());
    EXPECT_STREQ("no?de", read.trace.header.host);
    EXPECT_STREQ("/opt/?[31mprog", read.trace.header.program);
    EXPECT_STREQ("0.1?", read.trace.header.shim);
    memset(builder.header.host, 'h', sizeof builder.header.host);
    memset(builder.header.program, 'p', sizeof builder.header.program);
    memset(builder.header.shim, 's', sizeof builder.header.shim);
    MemoryTrace full(builder.Bytes());
    Read whole(full.source());
    EXPECT_EQ(std::string(63, 'h'), whole.trace.header.host);
    EXPECT_EQ(std::string(255, 'p'), whole.trace.header.program);
    EXPECT_EQ(std::string(31, 's'), whole.trace.header.shim);
}

TEST(Headers, ThatAreTooShort)
{
    MemoryTrace bytes(BuildTrace("1@0 none\n"));
    trace_source source = *bytes.source();
    source.header_bytes = sizeof(ptds_trace_header) - 1;
    struct trace trace;
    char message[TRACE_ERROR_SIZE] = "";
    EXPECT_EQ(-1, trace_read(&trace, &source, message));
    EXPECT_STREQ("this process: offset 0: too short for a trace's header; nothing could be read", message);
    trace_close(&trace);
}

/* What a running process has no more, or not yet: each is a chunk that is missing. */
TEST(Chunks, ThatCannotBeHad)
{
    MemoryTrace bytes(BuildTrace("1@0 launch s=N1 k=a\n2@5 none\n"));
    struct Source : trace_source {
        explicit Source(const trace_source &from) : trace_source(from), all(&from)
        {
            data = this;
            chunk = [](const trace_source *source, uint64_t index, size_t *readable) {
                auto self = static_cast<const Source *>(source->data);
                const void *there = self->all->chunk(self->all, index, readable);
                if (index == self->none)
                    return static_cast<const void *>(nullptr);
                if (index == self->cut)
                    *readable = sizeof(ptds_chunk) - 1;
                return there;
            };
        }
        const trace_source *all;
        uint64_t none = UINT64_MAX, cut = UINT64_MAX;
    } source(*bytes.source());
    EXPECT_EQ(0u, Read(&source).trace.lost_chunks);
    source.none = 1;
    EXPECT_EQ(1u, Read(&source).trace.lost_chunks);
    source.cut = 2;
    Read without(&source);
    EXPECT_EQ(2u, without.trace.lost_chunks);
    EXPECT_EQ(0u, without.trace.calls);
    EXPECT_TRUE(trace_has_gaps(&without.trace));
}

/* A running process takes a chunk for something else after it was read for the first time. */
TEST(Chunks, ThatAreGoneWhenTheirCallsAreAskedFor)
{
    MemoryTrace bytes(BuildTrace("1@0 launch s=N1 k=a\n2@5 none\n1@7 none\n"));
    auto calls = [&](size_t less) {
        static size_t shorter;
        shorter = 0;
        trace_source source = *bytes.source();
        struct Of {
            const trace_source *all;
        } of = {bytes.source()};
        source.data = &of;
        source.chunk = [](const trace_source *self, uint64_t index, size_t *readable) {
            const void *there =
                static_cast<const Of *>(self->data)->all->chunk(static_cast<const Of *>(self->data)->all, index, readable);
            *readable = index == 1 ? *readable - shorter : *readable;
            return shorter == SIZE_MAX && index == 1 ? nullptr : there;
        };
        Read read(&source);
        shorter = less == SIZE_MAX ? less
                  : less != 0      ? PTDS_CHUNK_SIZE - sizeof(ptds_chunk) - read.trace.chunks.items[0].bytes + less - 1
                                   : 0;
        std::string all;
        struct merge merge;
        EXPECT_EQ(0, merge_begin(&merge, &read.trace));
        while (const call *one = merge_next(&merge))
            all += std::to_string(one->thread) + " ";
        merge_end(&merge);
        return all;
    };
    EXPECT_EQ("1 2 1 ", calls(0));
    EXPECT_EQ("1 2 1 ", calls(1)) << "as much as is needed";
    EXPECT_EQ("2 ", calls(2)) << "one byte less";
    EXPECT_EQ("2 ", calls(SIZE_MAX)) << "none";
}

/* Records that are no calls may be as large as calls are. */
TEST(Records, AmongCallsAreSteppedOver)
{
    TraceBuilder builder;
    CallSpec call;
    for (uint16_t kind : std::vector<uint16_t>{PTDS_REC_STRING, PTDS_REC_REGION, 31, 999}) {
        call.enter += 1000;
        builder.Call(call);
        auto other = std::string(200, '\0');
        ptds_record head = {kind, 200, 0};
        memcpy(&other[0], &head, sizeof head);
        builder.Raw(1, other);
        call.enter += 1000;
        builder.Call(call);
    }
    MemoryTrace bytes(builder.Bytes());
    Read read(bytes.source());
    std::string all;
    struct merge merge;
    EXPECT_EQ(0, merge_begin(&merge, &read.trace));
    while (const struct call *one = merge_next(&merge))
        all += std::to_string(one->r.enter / 1000) + " ";
    merge_end(&merge);
    EXPECT_EQ("1 2 3 4 5 6 7 8 ", all);
    EXPECT_EQ(8u, read.trace.calls);
    EXPECT_EQ(2u, read.trace.unknown_records);
}

TEST(Files, ThatAreNoTraces)
{
    int ends[2];
    trace_source source;
    char error[TRACE_ERROR_SIZE] = "";
    ASSERT_EQ(0, pipe(ends));
    std::string path = "/proc/self/fd/" + std::to_string(ends[0]);
    EXPECT_EQ(-1, trace_source_open(&source, path.c_str(), error));
    EXPECT_EQ(path + ": not a regular file", error);
    close(ends[0]);
    close(ends[1]);
    EXPECT_EQ(-1, trace_source_open(&source, "/not/there", error));
    EXPECT_STREQ("/not/there: No such file or directory", error);
    EXPECT_EQ(nullptr, source.chunk);
}

/* All of its bytes, and none beyond. */
TEST(Files, AreAsLongAsTheyAre)
{
    std::string bytes = BuildTrace("1@0 none\n");
    ptds_trace_header header;
    memcpy(&header, bytes.data(), sizeof header);
    for (size_t size : {header.header_size + header.chunk_size + sizeof(ptds_chunk) - 1,
                        header.header_size + header.chunk_size + sizeof(ptds_chunk)}) {
        std::string path = WriteTemporary(bytes.substr(0, size));
        trace_source source;
        char error[TRACE_ERROR_SIZE] = "";
        ASSERT_EQ(0, trace_source_open(&source, path.c_str(), error)) << error;
        EXPECT_EQ(size, source.data_bytes);
        EXPECT_EQ(path, source.file);
        EXPECT_EQ(path, source.name);
        EXPECT_EQ(size % 2 == 0 ? 2u : 1u, source.chunks);
        trace_source_close(&source);
        EXPECT_EQ(nullptr, source.file);
        unlink(path.c_str());
    }
}

/* The device's time 0 is between two moments of the host: "after the call+for so long", in microseconds. */
TEST(DeviceTimes, CountFromTheirBase)
{
    auto ran = [](uint64_t earliest, uint64_t latest, uint64_t enter, int64_t start, int64_t end) -> std::string {
        TraceBuilder builder;
        auto base = Blank<ptds_rec_DEVICE_BASE>(PTDS_REC_DEVICE_BASE);
        base.id = 1;
        base.earliest = earliest * 1000;
        base.latest = latest * 1000;
        builder.Definition(PTDS_REC_DEVICE_BASE, &base, sizeof base);
        auto time = Blank<ptds_rec_DEVICE_TIME>(PTDS_REC_DEVICE_TIME);
        time.record.size = sizeof time;
        time.enter = enter * 1000;
        time.thread = 1;
        time.start = static_cast<uint64_t>(start * 1000);
        time.end = static_cast<uint64_t>(end * 1000);
        time.base = 1;
        builder.Raw(1, std::string(reinterpret_cast<const char *>(&time), sizeof time));
        MemoryTrace bytes(builder.Bytes());
        Read read(bytes.source());
        device_run_list times;
        device_runs_begin(&times, &read.trace);
        call asked = {};
        asked.thread = 1;
        asked.r.enter = enter * 1000;
        const device_run *run = device_runs_of(&times, &asked);
        uint64_t after = 0, ns = 0;
        if (run != nullptr)
            device_runs_times(&read.trace, run, &after, &ns);
        std::string text = run == nullptr ? "none" : std::to_string(after / 1000) + "+" + std::to_string(ns / 1000);
        device_runs_end(&times);
        return text;
    };
    EXPECT_EQ("100+20", ran(1000, 1000, 900, 0, 20)) << "the base came after the call";
    EXPECT_EQ("30+20", ran(1000, 1000, 1070, 100, 120)) << "and before it";
    EXPECT_EQ("50+20", ran(1000, 1100, 1100, 100, 120)) << "in the middle of what is not known";
    EXPECT_EQ("0+0", ran(1000, 1100, 1100, 20, 30)) << "before the call, as far as is known";
    EXPECT_EQ("0+30", ran(1000, 1100, 1100, 20, 80));
    EXPECT_EQ("0+0", ran(1000, 1000, 1100, 70, 80)) << "20 us before it";
    EXPECT_EQ("none", ran(1000, 1000, 1100, 70, 79)) << "more than that";
    EXPECT_EQ("0+0", ran(1000, 1040, 1100, 10, 20)) << "so much less is sure";
    EXPECT_EQ("none", ran(1000, 1040, 1100, 10, 19));
    EXPECT_EQ("50+0", ran(1000, 1000, 1050, 100, 100)) << "for no time at all";
    EXPECT_EQ("none", ran(1000, 1000, 1050, 100, 99));
    EXPECT_EQ("none", ran(1000, 999, 1050, 100, 120)) << "no base at all";
}

} // namespace
} // namespace ptds
