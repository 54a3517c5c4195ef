/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of `ptds check` and `ptds diff` share: traces of runs that repeat, and the command run on them.
 */
#ifndef PTDS_TESTS_ANALYSIS_CHECKED_H
#define PTDS_TESTS_ANALYSIS_CHECKED_H

#include <gtest/gtest.h>

#include <fstream>

#include "tests/analysis/support.h"
#include "tests/support/run_child.h"

namespace ptds
{

class Traces
{
public:
    std::string operator()(const std::string &name, const std::string &text)
    {
        std::ofstream(folder / name) << BuildTrace(text);
        return folder / name;
    }
    Outcome Check(std::vector<std::string> arguments)
    {
        arguments.insert(arguments.begin(), {data_file("analysis/ptds_leaks"), "check"});
        return run({arguments});
    }
    Outcome Diff(std::vector<std::string> arguments)
    {
        arguments.insert(arguments.begin(), {data_file("analysis/ptds_leaks"), "diff"});
        return run({arguments});
    }
    Folder folder;
};

inline std::string LastLine(const Outcome &ran)
{
    std::vector<std::string> lines = lines_of(ran.out);
    return lines.empty() ? "" : lines.back();
}

/* A function that does so many copies, each behind a launch and after `lost` us; then `others` in a function of that name.
 * Each run begins a second after the one before. */
struct Work {
    int copies = 4, lost = 10000, others = 0;
    const char *other = "other";
};

inline std::string CallsOf(const Work &run)
{
    std::string text = "tsc\n1@0 launch s=B1 k=first site=start\n";
    int at = 100;
    auto copy = [&](const char *site) {
        text += "1@" + std::to_string(at) + " launch s=L k=a site=launch\n";
        text += "1@" + std::to_string(at + 10) + "+" + std::to_string(run.lost) +
                " copy s=L implicit from=device to=pageable bytes=4 site=" + site + "\n";
        at += run.lost + 20;
    };
    for (int i = 0; i < run.copies; i++)
        copy("copy");
    for (int i = 0; i < run.others; i++)
        copy(run.other);
    text += "1@" + std::to_string(at) + " launch s=N9 k=next\n";
    return text + "1@" + std::to_string(at + 10 * run.lost) + "+3 sync s=N9\n";
}

/* The clock reads an hour later for each. */
inline std::string AtHour(std::string bytes, uint64_t hour)
{
    for (size_t at = sizeof(ptds_trace_header); at + 8 < bytes.size(); at += 8) {
        auto *record = reinterpret_cast<ptds_record *>(&bytes[at]);
        if (record->kind == PTDS_REC_CLOCK && record->size == sizeof(ptds_rec_CLOCK))
            reinterpret_cast<ptds_rec_CLOCK *>(record)->realtime += hour * 3600u * 1000000000u;
    }
    return bytes;
}

class Baselines : public Traces
{
public:
    std::string Recorded(const Work &run)
    {
        return RecordedCalls(CallsOf(run));
    }
    std::string RecordedCalls(const std::string &calls)
    {
        std::string path = folder / ("run" + std::to_string(++hours_) + ".ptds");
        std::ofstream(path) << AtHour(BuildTrace(calls), hours_);
        return path;
    }
    /* A baseline of runs that lost these times, in us, a copy. */
    std::string Of(const std::vector<Work> &runs)
    {
        std::vector<std::string> calls;
        for (const Work &run : runs)
            calls.push_back(CallsOf(run));
        return OfCalls(calls);
    }
    std::string OfCalls(const std::vector<std::string> &runs)
    {
        std::string path = folder / ("baseline" + std::to_string(++hours_) + ".json");
        for (const std::string &calls : runs)
            EXPECT_EQ(0, Check({"--update", "--baseline", path, RecordedCalls(calls)}).exit);
        return path;
    }

private:
    uint64_t hours_ = 0;
};

} // namespace ptds

#endif
