// SPDX-License-Identifier: Apache-2.0
//
// Puts records into chunks and chunks into a trace. Used by tests only.
#include "tests/support/trace_builder.h"

#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace ptds
{

namespace
{

template <typename Record> Record Blank(uint16_t kind)
{
    Record record;
    memset(&record, 0, sizeof record);
    record.record.kind = kind;
    return record;
}

std::string Padded(std::string bytes)
{
    bytes.resize((bytes.size() + 7) / 8 * 8);
    uint16_t size = static_cast<uint16_t>(bytes.size());
    memcpy(&bytes[offsetof(ptds_record, size)], &size, sizeof size);
    return bytes;
}

} // namespace

TraceBuilder::TraceBuilder()
{
    memset(&header, 0, sizeof header);
    memcpy(header.magic, PTDS_TRACE_MAGIC, sizeof header.magic);
    header.version = PTDS_TRACE_VERSION;
    header.header_size = 1024;
    header.call_size = sizeof(ptds_rec_CALL);
    header.pid = 4242;
    header.born = 1; /* before any process that may have this number by now */
    header.rank = header.ranks = -1;
    header.clock = PTDS_CLOCK_MONOTONIC;
    header.clean_end = 1;
    strcpy(header.host, "node1");
    strcpy(header.program, "/opt/app/prog");
    strcpy(header.shim, "0.1");
}

void TraceBuilder::Definition(uint16_t kind, const void *fixed, size_t fixed_bytes, const std::string &tail)
{
    std::string record(static_cast<const char *>(fixed), fixed_bytes);
    memcpy(&record[offsetof(ptds_record, kind)], &kind, sizeof kind);
    definitions_ += Padded(record + tail);
}

void TraceBuilder::String(uint32_t id, const std::string &text, uint32_t role)
{
    auto record = Blank<ptds_rec_STRING>(PTDS_REC_STRING);
    record.role = role;
    record.id = id;
    Definition(PTDS_REC_STRING, &record, sizeof record, text);
}

void TraceBuilder::Api(uint32_t api, const std::string &name, bool twin)
{
    auto record = Blank<ptds_rec_API>(PTDS_REC_API);
    record.api = static_cast<uint16_t>(api);
    record.twin = twin;
    Definition(PTDS_REC_API, &record, sizeof record, name);
}

void TraceBuilder::Setting(const std::string &text, uint32_t kind)
{
    auto record = Blank<ptds_rec_SETTING>(PTDS_REC_SETTING);
    record.kind = kind;
    Definition(PTDS_REC_SETTING, &record, sizeof record, text);
}

void TraceBuilder::Clock(uint64_t ticks, uint64_t monotonic)
{
    Clock(ticks, monotonic, monotonic);
}

void TraceBuilder::Clock(uint64_t ticks, uint64_t monotonic, uint64_t realtime)
{
    auto record = Blank<ptds_rec_CLOCK>(PTDS_REC_CLOCK);
    record.ticks = ticks;
    record.monotonic = monotonic;
    record.realtime = realtime;
    Definition(PTDS_REC_CLOCK, &record, sizeof record);
}

void TraceBuilder::Thread(uint32_t id, const std::string &name)
{
    auto record = Blank<ptds_rec_THREAD>(PTDS_REC_THREAD);
    record.id = id;
    record.tid = 4242 + id;
    record.state = PTDS_LIFE_SEEN;
    Definition(PTDS_REC_THREAD, &record, sizeof record, name);
}

void TraceBuilder::ThreadGone(uint32_t id, uint64_t ticks)
{
    auto record = Blank<ptds_rec_THREAD>(PTDS_REC_THREAD);
    record.id = id;
    record.ticks = ticks;
    record.tid = 4242 + id;
    record.state = PTDS_LIFE_GONE;
    Definition(PTDS_REC_THREAD, &record, sizeof record);
}

void TraceBuilder::Object(uint32_t id, const std::string &path, uint64_t base, uint64_t end, const std::string &build_id)
{
    auto record = Blank<ptds_rec_OBJECT>(PTDS_REC_OBJECT);
    record.id = id;
    record.base = record.bias = base;
    record.end = end;
    record.build_id_size = static_cast<uint32_t>(build_id.size());
    memcpy(record.build_id, build_id.data(), build_id.size());
    Definition(PTDS_REC_OBJECT, &record, sizeof record, path);
}

void TraceBuilder::Stack(uint32_t id, const std::vector<uint64_t> &pc)
{
    auto record = Blank<ptds_rec_STACK>(PTDS_REC_STACK);
    record.id = id;
    record.count = static_cast<uint32_t>(pc.size());
    Definition(PTDS_REC_STACK, &record, sizeof record,
               std::string(reinterpret_cast<const char *>(pc.data()), pc.size() * sizeof(uint64_t)));
}

void TraceBuilder::Source(uint32_t id, uint32_t file, uint32_t function, uint32_t line)
{
    auto record = Blank<ptds_rec_SOURCE>(PTDS_REC_SOURCE);
    record.id = id;
    record.file = file;
    record.function = function;
    record.line = line;
    Definition(PTDS_REC_SOURCE, &record, sizeof record);
}

void TraceBuilder::Context(uint32_t uid)
{
    auto record = Blank<ptds_rec_CONTEXT>(PTDS_REC_CONTEXT);
    record.uid = uid;
    record.state = PTDS_LIFE_SEEN;
    Definition(PTDS_REC_CONTEXT, &record, sizeof record);
}

void TraceBuilder::Stream(uint32_t uid, uint32_t kind, uint32_t context, uint32_t thread)
{
    auto record = Blank<ptds_rec_STREAM>(PTDS_REC_STREAM);
    record.uid = uid;
    record.kind = kind;
    record.context = context;
    record.thread = thread;
    record.state = PTDS_LIFE_SEEN;
    Definition(PTDS_REC_STREAM, &record, sizeof record);
}

void TraceBuilder::StreamGone(uint32_t uid, uint64_t ticks)
{
    auto record = Blank<ptds_rec_STREAM>(PTDS_REC_STREAM);
    record.uid = uid;
    record.ticks = ticks;
    record.state = PTDS_LIFE_GONE;
    Definition(PTDS_REC_STREAM, &record, sizeof record);
}

void TraceBuilder::Kernel(uint32_t uid, uint32_t name, const std::vector<uint32_t> &layout, uint32_t variables)
{
    auto record = Blank<ptds_rec_KERNEL>(PTDS_REC_KERNEL);
    record.uid = uid;
    record.name = name;
    record.params = static_cast<uint32_t>(layout.size());
    record.variables = variables;
    Definition(PTDS_REC_KERNEL, &record, sizeof record,
               std::string(reinterpret_cast<const char *>(layout.data()), layout.size() * sizeof(uint32_t)));
}

void TraceBuilder::KernelFacts(uint32_t uid, const std::vector<uint32_t> &word, uint32_t bases, uint32_t verdict,
                               uint32_t flags)
{
    auto record = Blank<ptds_rec_KERNEL_FACTS>(PTDS_REC_KERNEL_FACTS);
    record.kernel = uid;
    record.bases = static_cast<uint16_t>(bases);
    record.verdict = static_cast<uint8_t>(verdict);
    record.flags = static_cast<uint8_t>(flags);
    Definition(PTDS_REC_KERNEL_FACTS, &record, sizeof record,
               std::string(reinterpret_cast<const char *>(word.data()), word.size() * sizeof(uint32_t)));
}

void TraceBuilder::Memory(const CallSpec &allocation)
{
    auto record = Blank<ptds_rec_MEMORY>(PTDS_REC_MEMORY);
    std::vector<uint64_t> words = allocation.words;
    words.resize(5);
    record.ticks = allocation.enter;
    record.address = words[0];
    record.bytes = words[1];
    record.uid = allocation.object;
    record.kind = static_cast<uint32_t>(words[2]);
    record.part_of = static_cast<uint32_t>(words[3]);
    record.same_as = static_cast<uint32_t>(words[4]);
    record.context = allocation.context;
    Definition(PTDS_REC_MEMORY, &record, sizeof record);
}

void TraceBuilder::Untabled(const std::string &name)
{
    auto record = Blank<ptds_rec_UNTABLED>(PTDS_REC_UNTABLED);
    Definition(PTDS_REC_UNTABLED, &record, sizeof record, name);
}

void TraceBuilder::Bypass(const std::string &object, uint32_t what)
{
    auto record = Blank<ptds_rec_BYPASS>(PTDS_REC_BYPASS);
    record.what = what;
    Definition(PTDS_REC_BYPASS, &record, sizeof record, object);
}

void TraceBuilder::Call(const CallSpec &call)
{
    auto record = Blank<ptds_rec_CALL>(PTDS_REC_CALL);
    record.enter = call.enter;
    record.leave = call.leave;
    record.api = static_cast<uint16_t>(call.api);
    record.result = static_cast<uint16_t>(call.result);
    record.flags = call.flags;
    record.op = static_cast<uint8_t>(call.op);
    record.kinds = static_cast<uint8_t>(call.kinds);
    record.context = call.context;
    record.stream = call.stream;
    record.target = call.target != 0 ? call.target : call.stream;
    record.stack = call.stack;
    record.object = call.object;
    record.generation = call.generation;
    record.region = call.region;
    std::string bytes(reinterpret_cast<const char *>(&record), sizeof record);
    bytes.resize(header.call_size);
    bytes.append(reinterpret_cast<const char *>(call.words.data()), call.words.size() * sizeof(uint64_t));
    Raw(call.thread, Padded(bytes));
}

void TraceBuilder::Raw(uint32_t thread, const std::string &record)
{
    calls_[thread] += record;
}

/* The device's time 0 is tick 0. */
void TraceBuilder::DeviceRun(uint32_t thread, uint64_t enter, uint64_t start_ns, uint64_t end_ns, int32_t device)
{
    auto base = Blank<ptds_rec_DEVICE_BASE>(PTDS_REC_DEVICE_BASE);
    base.id = static_cast<uint32_t>(device + 2);
    if (device >= 0) {
        auto context = Blank<ptds_rec_CONTEXT>(PTDS_REC_CONTEXT);
        context.uid = base.context = 900 + base.id;
        context.device = device;
        Definition(PTDS_REC_CONTEXT, &context, sizeof context);
    }
    base.source = PTDS_DEVICE_EVENTS;
    Definition(PTDS_REC_DEVICE_BASE, &base, sizeof base);
    auto record = Blank<ptds_rec_DEVICE_TIME>(PTDS_REC_DEVICE_TIME);
    record.enter = enter;
    record.thread = thread;
    record.start = start_ns;
    record.end = end_ns;
    record.base = base.id;
    Raw(thread, Padded(std::string(reinterpret_cast<const char *>(&record), sizeof record)));
}

void TraceBuilder::Region(uint32_t thread, uint64_t ticks, uint32_t name, uint32_t domain, uint64_t range)
{
    auto record = Blank<ptds_rec_REGION>(PTDS_REC_REGION);
    record.ticks = ticks;
    record.name = name;
    record.domain = domain;
    record.range = range;
    Raw(thread, Padded(std::string(reinterpret_cast<const char *>(&record), sizeof record)));
}

void TraceBuilder::Count(uint32_t thread, uint32_t api, bool twin, const ptds_count &count)
{
    auto &counts = counts_[thread];
    size_t at = api * 2 + twin;
    if (counts.size() <= at)
        counts.resize(at + 1);
    counts[at] = count;
}

void TraceBuilder::OfThisHost()
{
    header.host[0] = 0;
    gethostname(header.host, sizeof header.host - 1);
}

void TraceBuilder::DefaultCount(uint32_t thread, uint32_t api, bool twin, const ptds_default_count &count)
{
    auto &defaults = defaults_[thread];
    size_t at = api * 2 + twin;
    if (defaults.size() <= at)
        defaults.resize(at + 1);
    defaults[at] = count;
}

void TraceBuilder::Now(uint32_t thread, const ptds_now &now)
{
    now_[thread] = now;
    if (counts_[thread].empty())
        counts_[thread].resize(2);
}

/* The counts, and after them what else is known of the thread. */
std::string TraceBuilder::Counts(uint32_t thread, const std::vector<ptds_count> &counts) const
{
    size_t bytes = counts.size() * sizeof counts[0];
    std::string chunk =
        Chunk(PTDS_CHUNK_COUNTS, thread, std::string(reinterpret_cast<const char *>(counts.data()), bytes), {});
    auto head = reinterpret_cast<ptds_chunk *>(&chunk[0]);
    size_t at = sizeof(ptds_chunk) + bytes;
    auto now = now_.find(thread);
    if (now != now_.end()) {
        head->now = static_cast<uint32_t>(at);
        memcpy(&chunk.at(at + sizeof(ptds_now) - 1) - (sizeof(ptds_now) - 1), &now->second, sizeof(ptds_now));
        at += sizeof(ptds_now);
    }
    auto defaults = defaults_.find(thread);
    if (defaults != defaults_.end()) {
        std::vector<ptds_default_count> all = defaults->second;
        all.resize(counts.size());
        size_t size = all.size() * sizeof all[0];
        if (at + size > chunk.size())
            throw std::invalid_argument("default counts do not fit into a chunk");
        head->defaults = static_cast<uint32_t>(at);
        memcpy(&chunk[at], all.data(), size);
    }
    return chunk;
}

void TraceBuilder::Edge(uint32_t thread, uint32_t waits, uint32_t behind, uint64_t until)
{
    auto record = Blank<ptds_rec_EDGE>(PTDS_REC_EDGE);
    record.record.size = sizeof record;
    record.waits = waits;
    record.behind = behind;
    record.until = until;
    Raw(thread, std::string(reinterpret_cast<const char *>(&record), sizeof record));
}

void TraceBuilder::HostRun(uint32_t thread, uint64_t enter, uint64_t begin, uint64_t end, uint32_t stream, uint32_t tid)
{
    auto record = Blank<ptds_rec_HOST_RUN>(PTDS_REC_HOST_RUN);
    record.record.size = sizeof record;
    record.thread = thread;
    record.enter = enter;
    record.begin = begin;
    record.end = end;
    record.stream = record.target = stream;
    record.tid = tid;
    Raw(thread, std::string(reinterpret_cast<const char *>(&record), sizeof record));
}

void TraceBuilder::Lost(uint32_t thread, uint64_t records)
{
    lost_[thread] = records;
    calls_[thread];
}

void TraceBuilder::Gap(uint32_t thread, uint64_t records)
{
    gaps_[thread].push_back({calls_[thread].size(), records});
}

std::string TraceBuilder::Chunk(uint32_t kind, uint32_t thread, const std::string &records, const Place &place) const
{
    ptds_chunk chunk;
    memset(&chunk, 0, sizeof chunk);
    chunk.magic = PTDS_CHUNK_MAGIC;
    chunk.kind = kind;
    chunk.thread = thread;
    chunk.sequence = ++sequence_;
    chunk.committed = records.size();
    chunk.lost = place.lost;
    chunk.ordinal = kind == PTDS_CHUNK_CALLS && tells_ordinals ? place.ordinal : 0;
    std::string bytes(reinterpret_cast<const char *>(&chunk), sizeof chunk);
    bytes += records;
    if (bytes.size() > chunk_size)
        throw std::invalid_argument("records do not fit into a chunk");
    bytes.resize(chunk_size);
    return bytes;
}

// As many whole records a chunk as fit.
void TraceBuilder::Split(std::string *out, uint32_t kind, uint32_t thread, const std::string &records, Place *place) const
{
    size_t from = 0, at = 0;
    while (at + sizeof(ptds_record) <= records.size()) {
        ptds_record record;
        memcpy(&record, &records[at], sizeof record);
        size_t size = record.size != 0 ? record.size : records.size() - at;
        if (at + size - from > chunk_size - sizeof(ptds_chunk)) {
            place->ordinal++;
            *out += Chunk(kind, thread, records.substr(from, at - from), *place);
            from = at;
        }
        at += size;
    }
    place->ordinal++;
    *out += Chunk(kind, thread, records.substr(from), *place);
}

// A chunk says how much was lost before it.
void TraceBuilder::SplitAtGaps(std::string *out, uint32_t thread, const std::string &records) const
{
    auto first = lost_.find(thread);
    auto gaps = gaps_.find(thread);
    Place place;
    place.lost = first != lost_.end() ? first->second : 0;
    size_t from = 0;
    for (size_t i = 0; gaps != gaps_.end() && i < gaps->second.size(); i++) {
        if (gaps->second[i].first != from)
            Split(out, PTDS_CHUNK_CALLS, thread, records.substr(from, gaps->second[i].first - from), &place);
        from = gaps->second[i].first;
        (header.recycled != 0 ? place.ordinal : place.lost) += gaps->second[i].second;
    }
    Split(out, PTDS_CHUNK_CALLS, thread, records.substr(from), &place);
}

std::string TraceBuilder::Bytes() const
{
    std::string chunks;
    sequence_ = 0;
    Place definitions;
    Split(&chunks, PTDS_CHUNK_DEFINITIONS, 0, definitions_, &definitions);
    for (const auto &thread : calls_)
        SplitAtGaps(&chunks, thread.first, thread.second);
    for (const auto &thread : counts_)
        chunks += Counts(thread.first, thread.second);
    ptds_trace_header filled = header;
    filled.chunk_size = chunk_size;
    filled.chunks = chunks.size() / chunk_size;
    std::string bytes(reinterpret_cast<const char *>(&filled), sizeof filled);
    bytes.resize(filled.header_size);
    return bytes + chunks;
}

MemoryTrace::MemoryTrace(std::string bytes) : words_((bytes.size() + 7) / 8)
{
    memcpy(words_.data(), bytes.data(), bytes.size());
    const char *base = reinterpret_cast<const char *>(words_.data());
    auto *header = reinterpret_cast<const ptds_trace_header *>(base);
    for (size_t at = header->header_size; at + header->chunk_size <= bytes.size(); at += header->chunk_size)
        chunks_.push_back(base + at);
    source_ = trace_source_memory(header, header->header_size, chunks_.data(), chunks_.size());
}

std::string WriteTemporary(const std::string &bytes)
{
    const char *folder = getenv("TEST_TMPDIR");
    std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/trace-XXXXXX";
    int fd = mkstemp(&path[0]);
    if (fd < 0)
        throw std::runtime_error("mkstemp");
    for (size_t at = 0; at < bytes.size();) {
        ssize_t wrote = write(fd, &bytes[at], bytes.size() - at);
        if (wrote <= 0)
            throw std::runtime_error("write");
        at += static_cast<size_t>(wrote);
    }
    close(fd);
    return path;
}

} // namespace ptds
