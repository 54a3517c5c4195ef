// SPDX-License-Identifier: Apache-2.0
//
// What fuzzing of traces found, each as small as it can be said, and that what it changes (trace_mutator.h) are still
// traces: else it would look at nothing but damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tests/analysis/trace_mutator.h"
#include "tests/analysis/verdicts.h"
#include "tests/analysis/whole.h"

namespace ptds
{
namespace
{

/* Memory whose address no record tells stands at an address of ours. An allocation there made the engine take away again
 * and again what does not go. */
TEST(Found, AnAllocationWhereNoAddressesAre)
{
    for (const char *bytes : {"16", "1152921504606846976"}) {
        Built built(BuildTrace("1@0 alloc m=A ptr=0x70000 bytes=4096 kind=mapped of=V\n"
                               "1@1 memset s=B1 bytes=64 dst=A\n"
                               "1@2 alloc m=B ptr=0x2000000000000000 bytes=" +
                               std::string(bytes) +
                               "\n"
                               "1@3 alloc m=C ptr=0x1fffffffffffffff bytes=" +
                               std::string(bytes) +
                               "\n"
                               "1@4 memset s=B1 bytes=64 dst=B\n1@5 memset s=L bytes=64 dst=B\n"));
        EXPECT_EQ(0, built.status) << built.error;
        uint64_t promised = 0;
        for (const auto &of_kind : built->edges.counts)
            promised += of_kind[VERDICT_NOT_NEEDED];
        EXPECT_EQ(0u, promised) << "where it lies is not known" << built.Text();
    }
}

/* An event that is all ones was given one place after another, without end. */
TEST(Found, AnEventThatNoMapTakes)
{
    TraceBuilder trace;
    trace.Context(1);
    trace.Stream(1, PTDS_STREAM_BLOCKING);
    trace.Api(1, "cuEventRecord");
    CallSpec record;
    record.enter = 1000;
    record.op = PTDS_OP_EVENT_RECORD;
    record.stream = record.target = 1;
    record.object = record.generation = UINT32_MAX;
    trace.Call(record);
    MemoryTrace memory(trace.Bytes());
    ReplayAll(memory.source());
}

/* Of a copy from pinned memory nothing is kept beside the other streams' until somebody else uses that memory, and making
 * room then moved what was at hand. Only the address sanitizer sees it. */
TEST(Found, WhatIsKeptOfStreamsMovesWhenAnotherIsNoted)
{
    for (int between = 0; between < 4; between++) {
        std::string text = "1@0 alloc m=A ptr=0x10000 bytes=4096 kind=pinned\n1@0 alloc m=D ptr=0x30000 bytes=4096\n";
        std::vector<std::string> calls = {"launch s=B1 k=_Z1kPf args=A"};
        for (int i = 0; i < between; i++)
            calls.push_back("launch s=B" + std::to_string(i + 3) + " k=none");
        calls.push_back("copy s=B2 src=A from=pinned dst=D bytes=64");
        calls.push_back("launch s=B1 k=_Z1kPf args=A");
        for (size_t i = 0; i < calls.size(); i++)
            text += "1@" + std::to_string(i + 1) + " " + calls[i] + "\n";
        Judged judged(BuildTrace(text));
        EXPECT_EQ(2u, judged.totals.races + judged.totals.possible_races) << text;
    }
}

/* 2^30 ticks of it are less than a nanosecond: a call had more ticks than there are numbers. Only clang's sanitizer sees
 * it. */
TEST(Found, AClockThatHardlyGoesOn)
{
    TraceBuilder trace;
    trace.header.clock = PTDS_CLOCK_TSC;
    trace.Clock(0, 0);
    trace.Clock(UINT64_C(1) << 41, 1 << 10);
    trace.Context(1);
    trace.Stream(1, PTDS_STREAM_BLOCKING);
    trace.Api(1, "cuStreamSynchronize");
    CallSpec sync;
    sync.enter = 1000;
    sync.leave = 1000 + (UINT64_C(1) << 40);
    sync.op = PTDS_OP_STREAM_SYNC;
    sync.flags = PTDS_CALL_TIMED;
    sync.stream = sync.target = 1;
    trace.Call(sync);
    MemoryTrace memory(trace.Bytes());
    site_namer namer = NoNames();
    ShowPart(memory.source(), &namer);
}

size_t Nothing(uint8_t *, size_t size, size_t)
{
    return size;
}

/* Of records that were changed, most are read; no chunk is cut short; what does not fit is left out. */
TEST(Mutated, TracesAreTraces)
{
    const std::string before =
        BuildTrace("1@0 alloc m=A ptr=0x70000 bytes=4096\n1@1 launch s=B1 k=f args=A\n"
                   "2@2 launch s=L k=g args=A\n1@3+5 sync s=B1\n2@9 record s=L e=X\n1@10 wait s=B1 e=X\n");
    const size_t room = before.size() + 4000;
    unsigned readable = 0, whole = 0, changed = 0, times = 2000;
    for (unsigned seed = 0; seed < times; seed++) {
        std::string bytes = before, again = before;
        bytes.resize(room);
        again.resize(room);
        const auto mutated = [&](std::string *into) {
            into->resize(MutateTrace(reinterpret_cast<uint8_t *>(into->data()), before.size(), room, seed, Nothing));
        };
        mutated(&bytes);
        mutated(&again);
        ASSERT_EQ(bytes, again) << "the same seed does the same";
        ASSERT_LE(bytes.size(), room);
        const std::unique_ptr<uint64_t[]> aligned(new uint64_t[bytes.size() / 8 + 1]);
        memcpy(aligned.get(), bytes.data(), bytes.size());
        const trace_source source = trace_source_bytes("mutated", aligned.get(), bytes.size());
        std::unique_ptr<report> made(new report);
        char error[TRACE_ERROR_SIZE];
        const bool read = report_build(made.get(), &source, error) == 0;
        changed += bytes != before;
        readable += read;
        whole += read && made->trace.damaged == 0 && made->trace.lost_chunks == 0;
        report_end(made.get());
    }
    EXPECT_LT(times * 8 / 10, changed);
    EXPECT_LT(times * 9 / 10, readable);
    EXPECT_LT(times * 8 / 10, whole);
}

TEST(Mutated, TracesTakeFromOthers)
{
    const std::string one = BuildTrace("1@1 launch s=B1 k=f\n"), two = BuildTrace("2@2 launch s=L k=only_here\n");
    std::string out(one.size() + two.size(), 0);
    unsigned taken = 0;
    for (unsigned seed = 0; seed < 200; seed++) {
        const auto at = [](const std::string &bytes) { return reinterpret_cast<const uint8_t *>(bytes.data()); };
        const size_t size = CrossTraces(at(one), one.size(), at(two), two.size(), reinterpret_cast<uint8_t *>(out.data()),
                                        out.size(), seed);
        ASSERT_LE(size, out.size());
        taken += out.substr(0, size).find("only_here") != std::string::npos;
    }
    EXPECT_LT(20u, taken);
}

} // namespace
} // namespace ptds
