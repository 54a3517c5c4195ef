// SPDX-License-Identifier: Apache-2.0
//
// What `ptds probe` takes from the traces of a run: of several processes the one where the default stream matters most, but
// the gravest outcome of all.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "analysis/probe/runs/run_record.h"
#include "analysis/report/default_cost.h"
#include "tests/support/expected.h"
#include "tests/support/run_child.h"
#include "tests/support/trace_builder.h"

namespace ptds
{
namespace
{

std::string Said(const record &found)
{
    std::string cost = default_cost_names[found.cost], there; /* which of the sentences */
    for (const char *words : {found.default_words.text, found.blocked.text, found.outcome.text, found.first.text,
                              found.second.text, found.trouble.text})
        there += *words ? "1" : "0";
    return std::to_string(found.processes) + " processes; " + std::to_string(found.threads) + " threads, " +
           std::to_string(found.streams) + " streams, " + std::to_string(found.calls) + " calls, " +
           std::to_string(found.default_stream) + " on the default stream, " + std::to_string(found.remapped) +
           " remapped, ran " + std::to_string(found.run_ns) + "; " + cost + " " + std::to_string(found.most_ns) + "; GPU " +
           (found.gpu_busy_at_least ? "at least " : "") + std::to_string(found.gpu_busy_ns) + " of " +
           std::to_string(found.gpu_span_ns) + "; " + doubt_names[found.doubt] + (found.incomplete ? ", incomplete" : "") +
           (found.replayed ? ", replayed" : "") + "; words: " + there + "\n";
}

record Read(const std::vector<std::string> &traces, bool replayed = false)
{
    Folder folder;
    record found;
    const std::string here = std::filesystem::current_path(); /* by a short name: lines are cut to fit */
    for (size_t i = 0; i < traces.size(); i++)
        std::ofstream(folder / std::to_string(i) + ".ptds") << traces[i];
    std::filesystem::current_path(folder.path());
    run_record_read(&found, ".", replayed);
    std::filesystem::current_path(here);
    return found;
}

const std::string waits = "1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n"
                          "1@100+2 launch s=L k=_Z1aPf args=A\n2@101+2 launch s=L k=_Z1bPf args=B\n"
                          "1@110+10000 sync s=L\n2@111+20000 sync s=L\n",
                  timed = waits + "device-run 1@100 105+10000\ndevice-run 2@101 10106+10000\n",
                  half_timed = waits + "device-run 1@100 105+10000\n", alone = "1@0 launch s=L k=a\n1@10+50 sync s=L\n",
                  more = alone + "1@100 launch s=L k=a\n",
                  calls = alone + "1@100 launch s=N1 k=a\n1@110+5 launch s=N1 k=a\n",
                  wrong = "setting policy=per-thread\n1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                          "1@10 memset s=L target=P1 bytes=64 dst=A\n2@20 copy s=L target=P2 src=A dst=0x40000 bytes=64\n"
                          "1@5000+3 sync s=P1\n";

/* Facts are in shown/records.txt, below what the processes are; of sentences only whether there is one. */
TEST(Record, OfOneProcessAndOfSeveral)
{
    const struct {
        const char *name;
        std::vector<std::string> traces;
    } cases[] = {
        {"no process", {}},
        {"one that waits, with its times on the GPU", {timed}},
        {"the same, and some of these are missing", {half_timed}},
        {"one that is wrong", {wrong}},
        {"one that waits, and one with more calls", {waits, calls}},
        {"a call more on the default stream", {alone, more}},
        {"fewer calls, but more of them on the default stream", {more, calls}},
        {"more calls, and as many on the default stream", {alone, calls}},
        {"a wrong one, and one where the default stream costs more", {wrong, waits}},
        {"one that was killed, and one that was not", {"killed\nrefused\n" + alone, waits}},
        {"one without a call, and one with some", {"# nothing\n", alone}},
        {"two alike, the first of which ran longer", {alone + "1@500 none\n", alone + "1@30 none\n"}},
    };
    std::string all;
    for (const auto &one : cases) {
        std::vector<std::string> traces, back;
        for (const std::string &trace : one.traces) {
            traces.push_back(BuildTrace(trace));
            back.insert(back.begin(), BuildTrace(trace));
        }
        std::string said = Said(Read(traces, true)), otherwise = Said(Read(back, true));
        all +=
            std::string("== ") + one.name + "\n" + said + (otherwise != said ? "-- the other way round\n" + otherwise : "");
    }
    ExpectAllOf(data_file("tests/probe/shown/records.txt"), all);
}

TEST(Record, WhatIsNoTraceIsSaidOnce)
{
    record found = Read({"no trace", BuildTrace(alone), "nor this"});
    EXPECT_EQ(1u, found.processes);
    EXPECT_STREQ("./0.ptds: offset 0: 8 bytes, a trace's header alone has 464; nothing could be read", found.trouble.text);
    EXPECT_EQ(0u, Read({"no trace"}).processes);
}

} // namespace
} // namespace ptds
