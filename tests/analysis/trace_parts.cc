// SPDX-License-Identifier: Apache-2.0
//
// See trace_parts.h. A record's fields are those of interpose/trace/records.def.
#include "tests/analysis/trace_parts.h"

#include <algorithm>
#include <cstring>

namespace ptds
{

const std::vector<Shape> &Shapes()
{
#define F(type, name, doc) sizeof(ptds_##type),
#define TAIL(type, name, doc)
#define REC(NAME, id, doc, fields) {id, 0, {fields}},
    static std::vector<Shape> shapes = {
#include "interpose/trace/records.def"
    };
    if (shapes[0].tail != 0)
        return shapes;
    size_t at = 0;
#define F(type, name, doc)
#define TAIL(type, name, doc) shapes[at].tail = sizeof(type);
#define u64 uint64_t
#define u32 uint32_t
#define REC(NAME, id, doc, fields) fields at++;
#include "interpose/trace/records.def"
#undef u64
#undef u32
    return shapes;
}

const Shape *ShapeOf(uint16_t kind)
{
    for (const Shape &shape : Shapes())
        if (shape.kind == kind)
            return &shape;
    return nullptr;
}

void Chunk::Find()
{
    starts.clear();
    for (size_t at = 0; head.kind != PTDS_CHUNK_COUNTS && at + sizeof(ptds_record) <= records.size();) {
        ptds_record record;
        memcpy(&record, &records[at], sizeof record);
        if (record.size < sizeof record || record.size % 8 != 0 || record.size > records.size() - at)
            break;
        starts.push_back(static_cast<uint32_t>(at));
        at += record.size;
    }
}

ptds_record Chunk::At(size_t index) const
{
    ptds_record record;
    memcpy(&record, &records[starts[index]], sizeof record);
    return record;
}

bool Parts::Read(const uint8_t *bytes, size_t size)
{
    if (size < sizeof header)
        return false;
    memcpy(&header, bytes, sizeof header);
    const uint64_t all = header.header_size, step = header.chunk_size;
    if (all < sizeof header || all > size || step <= sizeof(ptds_chunk) || step % 8 != 0)
        return false;
    schema.assign(bytes + sizeof header, bytes + all);
    for (size_t at = all; at + sizeof(ptds_chunk) <= size && chunks.size() < MOST_CHUNKS; at += step) {
        Chunk chunk;
        memcpy(&chunk.head, bytes + at, sizeof chunk.head);
        const size_t there = std::min<size_t>(step, size - at) - sizeof chunk.head;
        const uint8_t *records = bytes + at + sizeof chunk.head;
        size_t used = std::min<uint64_t>(chunk.head.committed, there);
        for (size_t i = used; chunk.head.kind == PTDS_CHUNK_COUNTS && i < there; i++)
            used = records[i] != 0 ? i + 1 : used; /* what follows the counts */
        chunk.records.assign(records, records + used);
        chunk.Find();
        chunks.push_back(std::move(chunk));
    }
    return !chunks.empty();
}

/* With chunks as small as the largest has to be. */
size_t Parts::Write(uint8_t *out, size_t room) const
{
    ptds_trace_header head = header;
    size_t most = 64;
    for (const Chunk &chunk : chunks)
        most = std::max(most, chunk.records.size());
    const size_t step = (sizeof(ptds_chunk) + most + 7) / 8 * 8, from = sizeof header + schema.size();
    const size_t count = from <= room ? std::min(chunks.size(), (room - from) / step) : 0;
    if (count == 0)
        return 0;
    if (head.chunks == 0 || head.chunks > MOST_CHUNKS || head.chunks == chunks.size())
        head.chunks = count;
    head.chunk_size = static_cast<uint32_t>(step);
    memset(out, 0, from + count * step);
    memcpy(out, &head, sizeof head);
    std::copy(schema.begin(), schema.end(), out + sizeof header);
    for (size_t i = 0; i < count; i++) {
        uint8_t *at = out + from + i * step;
        ptds_chunk one = chunks[i].head;
        const uint64_t bytes = chunks[i].records.size();
        one.committed = one.kind == PTDS_CHUNK_COUNTS ? std::min(one.committed, bytes) : bytes;
        memcpy(at, &one, sizeof one);
        std::copy(chunks[i].records.begin(), chunks[i].records.end(), at + sizeof chunks[i].head);
    }
    return from + count * step;
}

} // namespace ptds
