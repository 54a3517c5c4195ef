/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace taken apart into chunks and records, and put together again with chunks as small as they can be. For
 * trace_mutator.cc. Takes any bytes; writes no more than there is room for.
 */
#ifndef PTDS_TESTS_ANALYSIS_TRACE_PARTS_H
#define PTDS_TESTS_ANALYSIS_TRACE_PARTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

#include "interpose/trace/format.h"

namespace ptds
{

using Bytes = std::vector<uint8_t>;

enum { MOST_CHUNKS = 24 };

/* A record's parts: fixed fields, then items of the tail. */
struct Shape {
    uint16_t kind;
    uint8_t tail; /* bytes of an item; 0 it has none */
    std::vector<uint8_t> sizes;

    size_t Fixed() const /* where the tail begins */
    {
        size_t bytes = sizeof(ptds_record);
        for (uint8_t size : sizes)
            bytes += size;
        return bytes;
    }
};

const std::vector<Shape> &Shapes();
const Shape *ShapeOf(uint16_t kind);

/* Records of a chunk, or its counts. */
struct Chunk {
    ptds_chunk head;
    Bytes records;
    std::vector<uint32_t> starts; /* of records; none of counts */

    void Find(); /* `starts` */
    ptds_record At(size_t index) const;
    size_t End(size_t index) const
    {
        return starts[index] + At(index).size;
    }
};

struct Parts {
    ptds_trace_header header;
    Bytes schema; /* the rest of the header */
    std::vector<Chunk> chunks;

    bool Read(const uint8_t *bytes, size_t size);
    size_t Write(uint8_t *out, size_t room) const; /* 0: there is no room for any of it */
};

} // namespace ptds

#endif
