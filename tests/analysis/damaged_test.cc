// SPDX-License-Identifier: Apache-2.0
//
// What the reader makes of a damaged trace: one field at a time holds something else, or the file ends early. Held against
// damaged/: what is in the sound trace, line by line, and behind each change which of these lines it changes.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <sstream>

#include "analysis/trace/records.h"
#include "analysis/trace/merge.h"
#include "analysis/trace/in_flight.h"
#include "tests/analysis/facts.h"
#include "tests/analysis/support.h"
#include "tests/support/expected.h"

namespace ptds
{
namespace
{

enum { ROOM = 512 };

/* Three threads with some chunks each, in which stands more than calls. */
std::string Sound()
{
    TraceBuilder builder;
    builder.chunk_size = ROOM;
    builder.header.clock = PTDS_CLOCK_TSC;
    builder.Clock(100, 1000, 5000);
    builder.Clock(9100, 4000, 8000);
    builder.String(1, "step");
    builder.Thread(2, "worker");
    for (uint32_t thread = 1; thread <= 3; thread++)
        for (uint64_t i = 0; i < 7; i++) {
            CallSpec call;
            call.thread = thread;
            call.enter = 1000 + i * 100 * thread + thread;
            call.leave = call.enter + i * thread;
            call.api = 1 + thread % 2;
            call.op = i % 2 != 0 ? PTDS_OP_COPY : PTDS_OP_LAUNCH;
            call.kinds = PTDS_MEMORY_DEVICE | (thread == 3 ? PTDS_MEMORY_PINNED : PTDS_MEMORY_PAGEABLE) << 4;
            call.flags = PTDS_CALL_TIMED | (thread == 2 ? PTDS_CALL_TWIN : 0);
            call.words = {i};
            if (thread == 2 && i == 4)
                builder.Gap(2, 3);
            if (thread == 1 && i == 3)
                builder.Region(1, call.enter - 1, 1);
            if (thread == 3 && i == 5)
                builder.Edge(3, 4, 5, 6);
            builder.Call(call);
        }
    for (uint32_t thread = 1; thread <= 2; thread++) {
        builder.Count(thread, 1, thread == 2, {7, 1, 2, 30});
        builder.DefaultCount(thread, 1, thread == 2, {5, 4, 1});
    }
    ptds_now now = {};
    now.enter = 9000;
    now.api = 2;
    now.op = PTDS_OP_STREAM_SYNC;
    now.flags = PTDS_CALL_LEGACY | PTDS_CALL_TIMED;
    now.kinds = 21;
    now.context = 22;
    now.stream = 23;
    now.target = 24;
    now.object = 25;
    now.generation = 26;
    now.stack = 27;
    now.word = 28;
    builder.Now(1, now);
    return builder.Bytes();
}

/* All that the first pass keeps, and the calls in their order: what, and what of it. */
class ReadLines
{
public:
    explicit ReadLines(const std::string &bytes) : words_(bytes.size() / 8 + 1)
    {
        memcpy(words_.data(), bytes.data(), bytes.size());
        trace_source source = trace_source_bytes("it", words_.data(), bytes.size());
        char error[TRACE_ERROR_SIZE] = "";
        readable = trace_read(&trace_, &source, error) == 0;
        if (readable) {
            Sums();
            Durations();
            Chunks();
            Calls();
        } else {
            lines.push_back({"error", error});
        }
        trace_close(&trace_);
    }
    ReadLines(const ReadLines &) = delete;
    std::string Of(const std::string &name) const
    {
        for (const auto &line : lines)
            if (line.first == name)
                return line.second;
        return "";
    }
    std::vector<std::pair<std::string, std::string>> lines;
    bool readable;

private:
    static std::string All(std::initializer_list<uint64_t> numbers)
    {
        std::string all;
        for (uint64_t number : numbers)
            all += (all.empty() ? "" : " ") + std::to_string(number);
        return all;
    }
    void Add(const std::string &name, std::initializer_list<uint64_t> numbers)
    {
        lines.push_back({name, All(numbers)});
    }
    void Sums()
    {
        const struct trace &t = trace_;
        Add("calls", {t.calls, t.last_ticks, t.flags, t.ops, t.from_pinned});
        Add("threads", {t.threads, t.defs.threads.count, t.defs.strings.count, t.unknown_records});
        Add("lost", {t.lost, t.lost_chunks, trace_not_kept(&t), trace_uncounted(&t), trace_has_gaps(&t)});
        Add("clocks", {t.defs.clocks.count, trace_has_time(&t), trace_ns(&t, 900)});
        Add("defaults", {t.has_defaults, t.defaults.legacy, t.defaults.kept, t.defaults.failed});
        for (size_t i = 0; i < t.counts.count; i++) {
            const ptds_count &count = t.counts.items[i];
            if (count.calls + count.failed + count.remapped + count.ticks != 0)
                Add("count " + std::to_string(i), {count.calls, count.failed, count.remapped, count.ticks});
        }
        Add("damaged", {t.damaged});
        for (size_t i = 0; i < t.damages.count; i++)
            lines.push_back({"damage at " + std::to_string(t.damages.items[i].offset), t.damages.items[i].text});
        in_flight_each(
            &t,
            [](void *data, uint32_t thread, const ptds_now *now) {
                call one = in_flight_call(thread, now);
                static_cast<ReadLines *>(data)->Add("in flight " + std::to_string(one.thread),
                                                    {one.r.enter, one.r.leave, one.r.api, one.r.op, one.r.result,
                                                     one.r.flags, one.r.kinds, one.r.context, one.r.stream, one.r.target,
                                                     one.r.object, one.r.generation, one.r.stack, call_word(&one, 0),
                                                     one.words});
            },
            this);
    }
    void Durations()
    {
        for (uint32_t at = 0; at < trace_.durations.count; at++) {
            const durations &one = trace_.durations.items[at];
            auto below = [&](unsigned percent) { return trace_quick_ticks(&trace_, at / 2, at % 2 != 0, percent); };
            if (one.calls != 0)
                Add("durations " + std::to_string(at), {one.calls, below(1), below(50), below(51), below(90), below(100)});
        }
    }
    void Chunks()
    {
        std::string chunks, records;
        for (size_t i = 0; i < trace_.chunks.count; i++) {
            const chunk_ref &chunk = trace_.chunks.items[i];
            chunks += All({chunk.index, chunk.thread, chunk.sequence, chunk.bytes, chunk.lost}) + "; ";
        }
        records_each(
            &trace_, 1u << PTDS_REC_EDGE | 1u << PTDS_REC_REGION,
            [](void *data, uint32_t thread, uint16_t kind, const void *) {
                *static_cast<std::string *>(data) += All({thread, kind}) + "; ";
            },
            &records);
        lines.push_back({"chunks", chunks});
        lines.push_back({"records", records});
    }
    void Calls()
    {
        struct merge merge;
        std::string order;
        std::map<uint32_t, std::string> of;
        EXPECT_EQ(0, merge_begin(&merge, &trace_));
        while (const call *one = merge_next(&merge)) {
            order += std::to_string(one->thread) + (merge_in_gap(&merge) ? "! " : " ");
            of[one->thread] += All({one->r.enter, one->r.leave, one->words, call_word(one, 0)}) +
                               (one->regions->depth != 0 ? " in " + std::to_string(one->regions->depth) : "") +
                               (one->edges != 0 ? " behind " + std::to_string(one->edges) : "") + "; ";
        }
        merge_end(&merge);
        lines.push_back({"order", order});
        for (const auto &one : of)
            lines.push_back({"calls of " + std::to_string(one.first), one.second});
    }

    std::vector<uint64_t> words_;
    struct trace trace_;
};

/* Behind each change what it changes. */
class Changes
{
public:
    Changes() : sound_(Sound()), lines_(sound_)
    {
    }
    std::string Unchanged() const
    {
        std::string all;
        for (const auto &line : lines_.lines)
            all += line.first + ": " + line.second + "\n";
        return all;
    }
    void Changed(const std::string &name, size_t at, uint64_t value, size_t size)
    {
        std::string bytes = sound_;
        memcpy(&bytes.at(at + size - 1) - (size - 1), &value, size);
        Tell(name + " " + std::to_string(value), ReadLines(bytes));
    }
    void Cut(size_t size)
    {
        Tell("cut to " + std::to_string(size), ReadLines(sound_.substr(0, size)));
    }
    size_t Chunk(size_t number) const
    {
        ptds_trace_header header;
        memcpy(&header, sound_.data(), sizeof header);
        return header.header_size + number * ROOM;
    }
    size_t Last() const
    {
        return (sound_.size() - Chunk(0)) / ROOM - 1;
    }
    std::string text;

private:
    /* Of chunks those that are others than in the sound trace. */
    std::string Others(const std::string &chunks)
    {
        std::istringstream all(chunks);
        std::string others, sound = "; " + lines_.Of("chunks");
        size_t same = 0;
        for (std::string chunk; std::getline(all >> std::ws, chunk, ';');)
            if (sound.find("; " + chunk + "; ") == std::string::npos)
                others += chunk + "; ";
            else
                same++;
        return "chunks: " + others + std::to_string(same) + " the same";
    }
    /* Of calls how many there are, in regions and behind edges; of damage, what comes before "; the rest". */
    std::string Short(const std::pair<std::string, std::string> &line)
    {
        if (line.first == "chunks")
            return Others(line.second);
        if (line.first.compare(0, 8, "calls of") != 0)
            return line.first + ": " + line.second.substr(0, line.second.find("; the rest"));
        auto count = [&](const std::string &what) {
            size_t found = 0;
            for (size_t at = 0; (at = line.second.find(what, at)) != std::string::npos; at += what.size())
                found++;
            return std::to_string(found);
        };
        return line.first + ": " + count("; ") + " " + count(" in ") + " " + count(" behind ");
    }
    /* A line a change, and what it changes behind it; or which change before does the same. */
    void Tell(const std::string &name, const ReadLines &now)
    {
        std::map<std::string, std::string> old(lines_.lines.begin(), lines_.lines.end());
        std::string changed;
        for (const auto &line : now.lines) {
            if (old.count(line.first) == 0 || old[line.first] != line.second)
                changed += (changed.empty() ? "" : " | ") + Short(line);
            old.erase(line.first);
        }
        for (const auto &line : old)
            changed += now.readable ? " | no " + line.first : "";
        std::string same = changed.empty() ? "nothing" : told_.count(changed) != 0 ? "as " + told_[changed] : changed;
        text += Folded(name + ": " + same);
        told_.emplace(changed, name);
    }
    std::map<std::string, std::string> told_; /* changes by what they change */
    const std::string sound_;
    const ReadLines lines_;
};

TEST(DamagedTrace, WhatIsInItIfItIsSound)
{
    ExpectAllOf("tests/analysis/damaged/sound.txt", Changes().Unchanged());
}

TEST(DamagedTrace, FieldsOfChunks)
{
    Changes changes;
    size_t last = changes.Last();
    for (size_t chunk : {size_t{0}, size_t{1}, size_t{3}, last - 1, last}) {
        auto field = [&](const char *name, size_t at, size_t size, std::initializer_list<uint64_t> values) {
            for (uint64_t value : values)
                changes.Changed("chunk " + std::to_string(chunk) + " " + name, changes.Chunk(chunk) + at, value, size);
        };
        field("magic", offsetof(ptds_chunk, magic), 4, {0, 1});
        field("kind", offsetof(ptds_chunk, kind), 4, {0, 1, 2, 3, 4});
        field("thread", offsetof(ptds_chunk, thread), 4, {2, 9});
        field("sequence", offsetof(ptds_chunk, sequence), 8, {0, 4, 99});
        field("committed", offsetof(ptds_chunk, committed), 8,
              {0, 8, 31, 32, 63, ROOM - sizeof(ptds_chunk), ROOM - sizeof(ptds_chunk) + 1, uint64_t{1} << 40});
        field("lost", offsetof(ptds_chunk, lost), 8, {1, 5});
        field("ordinal", offsetof(ptds_chunk, ordinal), 8, {0, 1, 7});
        if (chunk < last - 1)
            continue;
        field("now", offsetof(ptds_chunk, now), 4, {0, sizeof(ptds_chunk) - 8, ROOM - sizeof(ptds_now), ROOM, ROOM + 8});
        field("defaults", offsetof(ptds_chunk, defaults), 4,
              {0, sizeof(ptds_chunk) - 1, sizeof(ptds_chunk), ROOM - 3 * sizeof(ptds_default_count),
               ROOM - 4 * sizeof(ptds_default_count), ROOM, ROOM + 1});
    }
    ExpectAllOf("tests/analysis/damaged/chunks.txt", changes.text);
}

TEST(DamagedTrace, SizesAndKindsOfRecords)
{
    Changes changes;
    for (size_t chunk : {0, 1, 2, 5}) {
        size_t at = changes.Chunk(chunk) + sizeof(ptds_chunk);
        std::string name = "chunk " + std::to_string(chunk) + " first record's ";
        for (uint64_t size : {0, 4, 8, 16, 24, 36, 440, 448, 456})
            changes.Changed(name + "size", at + offsetof(ptds_record, size), size, sizeof(ptds_record::size));
        for (uint64_t kind : {0, 1, 4, 16, 17, 31, 32, 40})
            changes.Changed(name + "kind", at + offsetof(ptds_record, kind), kind, sizeof(ptds_record::kind));
    }
    ExpectAllOf("tests/analysis/damaged/records.txt", changes.text);
}

TEST(DamagedTrace, FieldsOfTheHeader)
{
    Changes changes;
    auto field = [&](const char *name, size_t at, size_t size, std::initializer_list<uint64_t> values) {
        for (uint64_t value : values)
            changes.Changed(name, at, value, size);
    };
    using header = ptds_trace_header;
    field("magic", offsetof(header, magic), 8, {0, 1});
    field("version", offsetof(header, version), 4, {0, PTDS_TRACE_VERSION, PTDS_TRACE_VERSION + 1});
    field("header size", offsetof(header, header_size), 4,
          {0, sizeof(header) - 8, sizeof(header) + 4, sizeof(header) + 8, 1u << 26, (1u << 26) + 8});
    field("chunk size", offsetof(header, chunk_size), 4,
          {0, sizeof(ptds_chunk), sizeof(ptds_chunk) + 8, ROOM - 8, ROOM / 2, ROOM * 2, 1u << 26, (1u << 26) + 8});
    field("call size", offsetof(header, call_size), 4, {16, 23, 24, 28, 32, 48, 96, 104, 4096, 4104});
    field("clock", offsetof(header, clock), 4, {0, 1, 3});
    field("clean end", offsetof(header, clean_end), 4, {0});
    field("chunks", offsetof(header, chunks), 8, {0, 11, 13, 15, 99});
    field("recycled", offsetof(header, recycled), 8, {1});
    field("refused", offsetof(header, refused), 8, {1, 4});
    field("uncounted", offsetof(header, uncounted), 8, {2});
    size_t end = changes.Chunk(0);
    field("schema's place", offsetof(header, schema_offset), 4, {sizeof(header), end, end + 1});
    field("schema's size", offsetof(header, schema_size), 4, {1, end, end + 1});
    ExpectAllOf("tests/analysis/damaged/header.txt", changes.text);
}

TEST(DamagedTrace, CutShort)
{
    Changes changes;
    size_t last = changes.Last();
    for (size_t size : {size_t{0}, sizeof(ptds_trace_header) - 1, sizeof(ptds_trace_header), changes.Chunk(0) - 1,
                        changes.Chunk(0), changes.Chunk(0) + 1})
        changes.Cut(size);
    for (size_t chunk : {size_t{1}, size_t{2}, size_t{4}, last}) {
        size_t at = changes.Chunk(chunk);
        for (size_t more : {size_t{0}, sizeof(ptds_chunk) - 1, sizeof(ptds_chunk), sizeof(ptds_chunk) + 8,
                            sizeof(ptds_chunk) + 95, size_t{ROOM - 1}})
            changes.Cut(at + more);
    }
    ExpectAllOf("tests/analysis/damaged/cut.txt", changes.text);
}

} // namespace
} // namespace ptds
