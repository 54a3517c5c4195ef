/* SPDX-License-Identifier: Apache-2.0
 *
 * For child programs: the fake driver's log as text, with names for handles. "0", "legacy", "ptds"; the program's own
 * streams and events by the names it gave them; "shim" and E1, E2, ... for those it did not make.
 */
#ifndef PTDS_TESTS_CHILD_LOG_H
#define PTDS_TESTS_CHILD_LOG_H

#include <map>
#include <string>
#include <vector>

#include "tests/support/fake_driver/fake_driver.h"

class ChildLog
{
public:
    void name(CUstream stream, const std::string &name)
    {
        streams_[stream] = name;
    }
    void name(CUevent event, const std::string &name)
    {
        events_[event] = name;
    }

    /* The last stream seen that the program did not make. */
    CUstream shims_stream() const
    {
        return shims_stream_;
    }

    std::string of(CUstream stream)
    {
        if (!stream)
            return "0";
        if (stream == CU_STREAM_LEGACY)
            return "legacy";
        if (stream == CU_STREAM_PER_THREAD)
            return "ptds";
        auto found = streams_.find(stream);
        if (found != streams_.end())
            return found->second;
        shims_stream_ = stream;
        return "shim";
    }

    std::string of(CUevent event)
    {
        auto found = events_.find(event);
        if (found == events_.end())
            found = events_.insert({event, "E" + std::to_string(++shims_)}).first;
        return found->second;
    }

    /* "cuEventRecord(a;e)", "cuMemcpyDtoH_v2" */
    std::string of(const fake_entry &entry)
    {
        std::string text = entry.symbol;
        if (!entry.streams && !entry.event)
            return text;
        text += "(";
        for (int i = 0; i < entry.streams; i++)
            text += (i ? "," : "") + of(entry.stream[i]);
        return text + (entry.event ? ";" + of(entry.event) : "") + ")";
    }

    /* What was entered since the last time. */
    std::string take()
    {
        static fake_entry entries[1 << 15];
        size_t count = fake_log_take(entries, sizeof entries / sizeof entries[0]);
        std::string text;
        for (size_t i = 0; i < count; i++)
            text += (i ? " " : "") + of(entries[i]);
        return text;
    }

private:
    std::map<CUstream, std::string> streams_;
    std::map<CUevent, std::string> events_;
    CUstream shims_stream_ = nullptr;
    int shims_ = 0;
};

#endif
