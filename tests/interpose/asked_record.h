/* SPDX-License-Identifier: Apache-2.0
 *
 * For child programs: what the shim has recorded of their calls so far, read from the trace while it is written: a line a
 * call in the order of their beginnings, then contexts, streams and kernels. Left out is what is another in each run:
 * times, addresses of code, handles; memory has the program's names.
 */
#ifndef PTDS_TESTS_ASKED_RECORD_H
#define PTDS_TESTS_ASKED_RECORD_H

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "interpose/trace/format.h"

class AskedRecord
{
public:
    /* `word`: what a word of a call is called. */
    template <class Name> AskedRecord(const std::string &path, Name word)
    {
        std::ifstream file(path);
        const std::string bytes{std::istreambuf_iterator<char>(file), {}};
        for (size_t at = PTDS_HEADER_SIZE; at + PTDS_CHUNK_SIZE <= bytes.size(); at += PTDS_CHUNK_SIZE) {
            ptds_chunk chunk;
            memcpy(&chunk, &bytes[at], sizeof chunk);
            if (chunk.magic == PTDS_CHUNK_MAGIC && (chunk.kind == PTDS_CHUNK_DEFINITIONS || chunk.kind == PTDS_CHUNK_CALLS))
                walk(bytes.substr(at + sizeof chunk, chunk.committed), chunk.thread, word);
        }
        std::sort(calls_.begin(), calls_.end());
    }

    std::string text() const
    {
        std::string all;
        std::map<uint32_t, size_t> threads; /* those of host functions have numbers, too, whenever they come */
        for (const auto &[when, line] : calls_)
            all += "-- " + std::to_string(threads.insert({when.second, threads.size() + 1}).first->second) + line + "\n";
        for (const std::string &line : others_)
            all += line + "\n";
        return all;
    }

private:
    template <class Record> static Record as(const std::string &bytes)
    {
        Record record = {};
        memcpy(static_cast<void *>(&record), bytes.data(), std::min(bytes.size(), sizeof record));
        return record;
    }
    static std::string number(const char *name, uint64_t value)
    {
        return value ? std::string(" ") + name + " " + std::to_string(value) : "";
    }
    static std::string bits(const char *name, uint64_t value)
    {
        char text[40];
        snprintf(text, sizeof text, " %s %#lx", name, static_cast<unsigned long>(value));
        return value ? text : "";
    }

    template <class Name> void walk(const std::string &chunk, uint32_t thread, Name word)
    {
        std::string waits;
        ptds_record head;
        for (size_t at = 0; at + sizeof head <= chunk.size(); at += head.size) {
            memcpy(&head, &chunk[at], sizeof head);
            const std::string record = chunk.substr(at, head.size);
            if (head.kind == PTDS_REC_EDGE) {
                const auto edge = as<ptds_rec_EDGE>(record);
                waits += (waits.empty() ? " waits " : ",") + std::to_string(edge.waits) + "<" + std::to_string(edge.behind);
            } else if (head.kind == PTDS_REC_CALL) {
                call(record, thread, waits, word);
                waits.clear();
            } else
                other(head.kind, record);
        }
    }
    template <class Name> void call(const std::string &record, uint32_t thread, const std::string &waits, Name word)
    {
        const auto call = as<ptds_rec_CALL>(record);
        std::string text = " " + names_[call.api] + number("=", call.result) + bits("flags", call.flags) +
                           number("op", call.op) + bits("kinds", call.kinds) + number("context", call.context) +
                           number("stream", call.stream) + number("to", call.target) + number("object", call.object) +
                           number("generation", call.generation) + number("region", call.region) +
                           number("streams", call.streams) + waits + " :";
        for (size_t at = sizeof call; at + 8 <= record.size(); at += 8) {
            uint64_t value;
            memcpy(&value, &record[at], sizeof value);
            text += " " + word(value);
        }
        calls_.push_back({{call.enter, thread}, text});
    }
    void other(uint16_t kind, const std::string &record)
    {
        if (kind == PTDS_REC_API)
            names_[as<ptds_rec_API>(record).api] = record.substr(sizeof(ptds_rec_API)).c_str();
        if (kind == PTDS_REC_CONTEXT) {
            const auto context = as<ptds_rec_CONTEXT>(record);
            others_.push_back("-- context " + std::to_string(context.uid) +
                              (context.device ? " device " + std::to_string(context.device) : "") +
                              number("state", context.state) + number("kind", context.kind));
        }
        if (kind == PTDS_REC_STREAM) {
            const auto stream = as<ptds_rec_STREAM>(record);
            others_.push_back("-- stream " + std::to_string(stream.uid) + number("context", stream.context) +
                              number("kind", stream.kind) + number("state", stream.state) +
                              (stream.priority ? " priority " + std::to_string(stream.priority) : ""));
        }
        if (kind == PTDS_REC_KERNEL) {
            const auto kernel = as<ptds_rec_KERNEL>(record);
            others_.push_back("-- kernel " + std::to_string(kernel.uid) + number("parameters", kernel.params) +
                              number("variables", kernel.variables));
        }
    }

    std::map<uint16_t, std::string> names_;
    std::vector<std::pair<std::pair<uint64_t, uint32_t>, std::string>> calls_;
    std::vector<std::string> others_;
};

#endif
