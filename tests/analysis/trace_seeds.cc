// SPDX-License-Identifier: Apache-2.0
//
// trace_seeds FOLDER [TRACE]...: small traces to begin fuzzing with: the rules' own, and what is in these recordings,
// without the room that a recording has to grow. Run by scripts/fuzz. A mutation of a small trace changes more of what
// matters, and hundreds a second are looked at instead of one.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/support/trace_builder.h"

extern "C" {
#include "analysis/rules/registry.h"
}

namespace
{

enum { MOST_COUNTS = 64, MOST_CHUNK = 4096 };

/* Up to the last whole record that has room. */
size_t whole_records(const char *records, size_t bytes, size_t room)
{
    size_t at = 0;
    while (at + sizeof(ptds_record) <= bytes) {
        ptds_record record;
        memcpy(&record, records + at, sizeof record);
        if (record.size == 0 || at + record.size > std::min(bytes, room))
            break;
        at += record.size;
    }
    return at;
}

/* What lies at an offset of the chunk, behind the counts. */
void keep_behind(std::string *cut, uint32_t *offset, const char *chunk, size_t bytes)
{
    if (*offset == 0)
        return;
    cut->append(chunk + *offset, bytes);
    *offset = static_cast<uint32_t>(sizeof(ptds_chunk) + cut->size() - bytes);
}

/* The header without the schema, and each chunk that holds anything, cut; chunks are as small as the largest has to be. */
std::string small(const std::string &trace)
{
    ptds_trace_header header;
    memcpy(&header, trace.data(), sizeof header);
    const size_t old_size = header.chunk_size;
    size_t size = 2 * sizeof(ptds_chunk);
    std::vector<std::string> chunks;
    for (size_t from = header.header_size; from + old_size <= trace.size(); from += old_size) {
        ptds_chunk chunk;
        memcpy(&chunk, &trace[from], sizeof chunk);
        if (chunk.kind == PTDS_CHUNK_FREE || chunk.committed == 0 || chunk.committed > old_size - sizeof chunk)
            continue;
        const char *records = &trace[from + sizeof chunk];
        chunk.committed = chunk.kind == PTDS_CHUNK_COUNTS
                              ? std::min<size_t>(chunk.committed, MOST_COUNTS * sizeof(ptds_count))
                              : whole_records(records, chunk.committed, MOST_CHUNK - sizeof chunk);
        std::string cut(records, chunk.committed);
        keep_behind(&cut, &chunk.defaults, &trace[from], chunk.committed / sizeof(ptds_count) * sizeof(ptds_default_count));
        keep_behind(&cut, &chunk.now, &trace[from], sizeof(ptds_now));
        cut.insert(0, reinterpret_cast<const char *>(&chunk), sizeof chunk);
        size = std::max(size, (cut.size() + 7) / 8 * 8);
        chunks.push_back(cut);
    }
    header.header_size = (sizeof header + 7) / 8 * 8;
    header.schema_offset = header.schema_size = 0;
    header.chunk_size = static_cast<uint32_t>(size);
    header.chunks = chunks.size();
    std::string all(reinterpret_cast<const char *>(&header), sizeof header);
    all.resize(header.header_size);
    for (std::string &chunk : chunks) {
        chunk.resize(size);
        all += chunk;
    }
    return all;
}

void write(const std::string &path, const std::string &trace)
{
    std::ofstream(path, std::ios::binary) << small(trace);
}

} // namespace

int main(int argc, char **argv)
{
    const struct rule *rules[RULES_MOST];
    const std::string folder = std::string(argc > 1 ? argv[1] : ".") + "/";
    for (size_t i = 0, count = registry_all(rules); i < count; i++) {
        write(folder + rules[i]->id + ".bad", ptds::BuildTrace(rules[i]->bad));
        write(folder + rules[i]->id + ".good", ptds::BuildTrace(rules[i]->good));
    }
    for (int i = 2; i < argc; i++) {
        std::ifstream file(argv[i], std::ios::binary);
        write(folder + std::to_string(i), std::string((std::istreambuf_iterator<char>(file)), {}));
    }
    return 0;
}
