/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads a trace by the format's own description and nothing else: header, chunks, records. Fails the test on anything that
 * is not as the format says.
 */
#ifndef PTDS_TESTS_TRACE_WALK_H
#define PTDS_TESTS_TRACE_WALK_H

#include <cstring>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "interpose/trace/format.h"
#include "tests/support/run_child.h"

namespace ptds
{

struct Walk {
    ptds_trace_header header = {};
    std::vector<std::pair<uint16_t, std::string>> records; /* kind and bytes, chunk by chunk */
    std::map<uint16_t, std::string> names;                 /* of API records */
    std::map<std::string, uint64_t> counts;                /* exact calls, all threads, both entries */
    std::set<uint32_t> threads;
    int chunks = 0, empty = 0; /* empty: chunks for calls that have none yet */

    /* How many CALL records there are of a function. */
    uint64_t calls(const std::string &symbol) const
    {
        uint64_t found = 0;
        for (const auto &[kind, bytes] : records) {
            ptds_rec_CALL call;
            if (kind != PTDS_REC_CALL)
                continue;
            memcpy(&call, bytes.data(), sizeof call);
            found += names.at(call.api) == symbol;
        }
        return found;
    }

    /* The text tails of all records of a kind. */
    std::vector<std::string> texts(uint16_t wanted, size_t fixed) const
    {
        std::vector<std::string> found;
        for (const auto &[kind, bytes] : records) {
            if (kind == wanted)
                found.push_back(std::string(bytes.substr(fixed).c_str()));
        }
        return found;
    }
};

inline void walk_chunk(const std::string &bytes, size_t at, Walk *walk)
{
    ptds_chunk chunk;
    memcpy(&chunk, bytes.data() + at, sizeof chunk);
    ASSERT_EQ(chunk.magic, PTDS_CHUNK_MAGIC) << "chunk at " << at;
    ASSERT_LE(chunk.committed, PTDS_CHUNK_SIZE - sizeof chunk) << "chunk at " << at;
    walk->chunks++;
    if (chunk.kind == PTDS_CHUNK_FREE)
        return;
    if (chunk.thread)
        walk->threads.insert(chunk.thread);
    size_t from = at + sizeof chunk, end = from + chunk.committed;
    if (chunk.kind == PTDS_CHUNK_COUNTS) {
        for (size_t i = 0; from + (i + 1) * sizeof(ptds_count) <= end; i++) {
            ptds_count count;
            memcpy(&count, bytes.data() + from + i * sizeof count, sizeof count);
            walk->counts[std::to_string(i / 2)] += count.calls;
        }
        return;
    }
    walk->empty += chunk.kind == PTDS_CHUNK_CALLS && chunk.committed == 0;
    while (from < end) {
        ptds_record record;
        memcpy(&record, bytes.data() + from, sizeof record);
        ASSERT_GE(record.size, sizeof record) << "record at " << from;
        ASSERT_EQ(record.size % 8, 0u) << "record at " << from;
        ASSERT_LE(from + record.size, end) << "record at " << from;
        walk->records.push_back({record.kind, bytes.substr(from, record.size)});
        from += record.size;
    }
}

inline Walk walk(const std::string &path)
{
    Walk found;
    std::string bytes = read_file(path);
    if (bytes.size() < sizeof found.header) {
        ADD_FAILURE() << path << " has " << bytes.size() << " bytes";
        return found;
    }
    memcpy(&found.header, bytes.data(), sizeof found.header);
    EXPECT_EQ(memcmp(found.header.magic, PTDS_TRACE_MAGIC, 8), 0) << path;
    EXPECT_EQ(found.header.version, PTDS_TRACE_VERSION);
    EXPECT_EQ(found.header.header_size, PTDS_HEADER_SIZE);
    for (uint64_t i = 0; i < found.header.chunks; i++) {
        size_t at = PTDS_HEADER_SIZE + i * PTDS_CHUNK_SIZE;
        if (at + PTDS_CHUNK_SIZE > bytes.size()) {
            ADD_FAILURE() << path << " ends before chunk " << i << " of " << found.header.chunks;
            break;
        }
        walk_chunk(bytes, at, &found);
    }
    for (const auto &[kind, record] : found.records) {
        ptds_rec_API api;
        if (kind != PTDS_REC_API)
            continue;
        memcpy(&api, record.data(), sizeof api);
        found.names[api.api] = record.substr(sizeof api).c_str();
        found.counts[found.names[api.api]] = found.counts[std::to_string(api.api)];
    }
    return found;
}

} // namespace ptds

#endif
