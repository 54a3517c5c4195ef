/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a program on the simulated driver under the shim and reads the trace that it leaves.
 */
#ifndef PTDS_TESTS_RECORDED_H
#define PTDS_TESTS_RECORDED_H

#include "tests/interpose/shim_test.h"
#include "tests/interpose/trace_walk.h"

namespace ptds
{

inline std::string folder_of(const std::string &file)
{
    return file.substr(0, file.rfind('/'));
}

struct Recorded {
    Outcome outcome;
    Walk trace;
    std::string bytes;

    template <class Record> std::vector<Record> all(uint16_t kind) const
    {
        std::vector<Record> found;
        for (const auto &[k, record] : trace.records) {
            if (k != kind)
                continue;
            found.emplace_back();
            memcpy(&found.back(), record.data(), sizeof(Record));
        }
        return found;
    }
    std::vector<std::string> calls_bytes(uint8_t op) const
    {
        std::vector<std::string> found;
        for (const auto &[k, record] : trace.records) {
            ptds_rec_CALL call;
            if (k != PTDS_REC_CALL)
                continue;
            memcpy(&call, record.data(), sizeof call);
            if (call.op == op)
                found.push_back(record);
        }
        return found;
    }
    std::vector<ptds_rec_CALL> calls(uint8_t op) const
    {
        std::vector<ptds_rec_CALL> found;
        for (const std::string &bytes_of : calls_bytes(op)) {
            found.emplace_back();
            memcpy(&found.back(), bytes_of.data(), sizeof(ptds_rec_CALL));
        }
        return found;
    }
    std::string string(uint32_t id) const
    {
        for (const auto &[k, record] : trace.records) {
            ptds_rec_STRING text;
            if (k != PTDS_REC_STRING)
                continue;
            memcpy(&text, record.data(), sizeof text);
            if (text.id == id)
                return record.substr(sizeof text).c_str();
        }
        return id ? "?" : "";
    }
    bool has_setting(const std::string &wanted) const
    {
        std::vector<std::string> texts = trace.texts(PTDS_REC_SETTING, sizeof(ptds_rec_SETTING));
        return std::count(texts.begin(), texts.end(), wanted) > 0;
    }
};

/* The folders of the simulated driver, and of what passes for CUPTI. */
inline std::vector<std::string> simulator()
{
    return {folder_of(data_file("tests/sim/libcuda.so.1")), folder_of(data_file("tests/interpose/cupti/libcupti.so.13"))};
}

inline Recorded record_of(const std::string &program, const std::vector<std::string> &mode,
                          const std::string &policy = "observe", const Settings &more = {})
{
    Folder folder;
    Recorded recorded;
    Settings settings = {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace"}};
    settings.insert(more.begin(), more.end());
    Command command = shimmed(program, mode, settings);
    command.libraries = simulator();
    recorded.outcome = run(command);
    EXPECT_EQ(recorded.outcome.exit, 0) << recorded.outcome;
    EXPECT_EQ(recorded.outcome.err, "");
    EXPECT_EQ(recorded.outcome.out.find("WRONG"), std::string::npos) << recorded.outcome;
    recorded.trace = walk(folder / "trace");
    recorded.bytes = read_file(folder / "trace");
    return recorded;
}

inline std::vector<uint64_t> words_of(const std::string &record)
{
    std::vector<uint64_t> words((record.size() - sizeof(ptds_rec_CALL)) / 8);
    memcpy(words.data(), record.data() + sizeof(ptds_rec_CALL), words.size() * 8);
    return words;
}

inline ptds_default_count default_counts(const std::string &bytes)
{
    ptds_default_count sum = {};
    for (size_t at = PTDS_HEADER_SIZE; at + PTDS_CHUNK_SIZE <= bytes.size(); at += PTDS_CHUNK_SIZE) {
        ptds_chunk chunk;
        memcpy(&chunk, bytes.data() + at, sizeof chunk);
        if (chunk.kind != PTDS_CHUNK_COUNTS)
            continue;
        EXPECT_NE(chunk.defaults, 0u);
        for (size_t i = 0; i < chunk.committed / sizeof(ptds_count); i++) {
            ptds_default_count one;
            if (chunk.defaults + (i + 1) * sizeof one > PTDS_CHUNK_SIZE)
                break;
            memcpy(&one, bytes.data() + at + chunk.defaults + i * sizeof one, sizeof one);
            sum.legacy += one.legacy;
            sum.kept += one.kept;
            sum.failed += one.failed;
        }
    }
    return sum;
}

} // namespace ptds

#endif
