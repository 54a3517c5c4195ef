/* SPDX-License-Identifier: Apache-2.0
 *
 * For child programs: the fake driver's log as text, with names for handles. "0", "legacy", "ptds"; the program's own
 * streams and events by the names it gave them; L1, L2, ... (lanes) and E1, E2, ... for those it did not make. What the
 * guard makes ahead of need in each context is one word: "lane" for 32 events and one stream, "events" for 32 before a
 * stream with a priority.
 */
#ifndef PTDS_TESTS_CHILD_LOG_H
#define PTDS_TESTS_CHILD_LOG_H

#include <cstring>
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
        if (found == streams_.end())
            found = streams_.insert({stream, "L" + std::to_string(++lanes_)}).first;
        if (found->second[0] == 'L')
            shims_stream_ = stream;
        return found->second;
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
        for (size_t i = 0; i < count;) {
            size_t made = made_ahead(entries + i, count - i);
            text += (i ? " " : "") + (!made ? of(entries[i]) : made > AHEAD ? "lane" : "events");
            i += made ? made : 1;
        }
        return text;
    }

private:
    static constexpr size_t AHEAD = 32;

    static size_t run_of(const char *symbol, const fake_entry *entries, size_t count)
    {
        size_t length = 0;
        while (length < count && strcmp(entries[length].symbol, symbol) == 0)
            length++;
        return length;
    }

    /* How many entries from here on are the making of lanes. */
    static size_t made_ahead(const fake_entry *entries, size_t count)
    {
        size_t events = run_of("cuEventCreate", entries, count);
        size_t streams = run_of("cuStreamCreate", entries + events, count - events);
        if (!streams)
            return events == AHEAD && run_of("cuStreamCreateWithPriority", entries + events, count - events) == 1 ? AHEAD
                                                                                                                  : 0;
        return events == AHEAD && streams == 1 ? events + streams : 0;
    }

    std::map<CUstream, std::string> streams_;
    std::map<CUevent, std::string> events_;
    CUstream shims_stream_ = nullptr;
    int shims_ = 0, lanes_ = 0;
};

#endif
