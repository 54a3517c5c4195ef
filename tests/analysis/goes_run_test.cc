// SPDX-License-Identifier: Apache-2.0
//
// By which policies findings go, against the real thing: programs on the simulated driver, recorded under observe and under
// each policy. What is said to go is gone, what is said to stay under every policy is there.
#include <gtest/gtest.h>

#include <jansson.h>

#include <map>

#include "tests/analysis/support.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

struct Answer {
    std::string rule, text;
    std::map<std::string, std::string> under; /* policy: yes, no, maybe */
};

using Findings = std::map<std::string, Answer>; /* by id: the same call site in every run */

std::string Simulator()
{
    std::string file = data_file("tests/sim/libcuda.so.1");
    return file.substr(0, file.rfind('/'));
}

std::string Text(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != nullptr ? text : "";
}

Findings Reported(const std::string &trace)
{
    Findings found;
    Outcome report = run({{data_file("analysis/ptds_leaks"), "report", "--format", "json", trace}});
    json_t *root = json_loads(report.out.c_str(), 0, nullptr), *finding;
    size_t i;
    EXPECT_NE(nullptr, root) << report.err;
    json_array_foreach(json_object_get(root, "findings"), i, finding)
    {
        json_t *goes = json_object_get(finding, "goes");
        found[Text(finding, "id")] = {Text(finding, "rule"),
                                      Text(goes, "text"),
                                      {{"guarded", Text(goes, "guarded")},
                                       {"per-thread", Text(goes, "per_thread")},
                                       {"stream", Text(goes, "stream")}}};
    }
    json_decref(root);
    return found;
}

/* The program's results may be wrong under a policy; its trace is what counts. */
Findings RunUnder(const Folder &folder, const std::string &policy, const std::vector<std::string> &program)
{
    Command command;
    command.argv = program;
    command.argv[0] = data_file("tests/apps/" + program[0]);
    command.preload = {shim()};
    command.libraries = {Simulator()};
    command.env = {{"PTDS_TRACE", folder / (policy + ".ptds")},
                   {"PTDS_POLICY", policy},
                   {"PTDS_REPORT", "off"},
                   {"CUDA_DEVICE_MAX_CONNECTIONS", "8"}}; /* where nobody chooses, some policies do */
    run(command);
    return Reported(folder / (policy + ".ptds"));
}

struct Counted {
    int gone = 0, stayed = 0;
};

constexpr int RUNS = 4;

/* What several runs found: the finding, and in how many of them it was. An allocation, say, is found where it took long. */
struct Runs {
    Findings found;
    std::map<std::string, int> runs;
};

Runs RunsUnder(const Folder &folder, const std::string &policy, const std::vector<std::string> &program)
{
    Runs all;
    for (int run = 0; run < RUNS; run++) {
        Findings one = RunUnder(folder, policy, program);
        for (const auto &[id, said] : one)
            all.runs[id]++;
        all.found.merge(one);
    }
    return all;
}

/* Gone is what is in no run under the policy; stayed, of what every run under observe found, what is in one of them. A
 * slow-call is nothing but the time that a call took, by itself, on this machine at that moment: none of them need come
 * again. */
void Compare(const Runs &observed, const Runs &after, const std::string &policy, Counted *counted)
{
    for (const auto &[id, said] : observed.found) {
        bool there = after.found.count(id) != 0;
        if (said.under.at(policy) == "yes") {
            EXPECT_FALSE(there) << said.rule << " " << id << ": " << said.text << ", and is there under " << policy;
            counted->gone++;
        }
        if (said.text == "no policy removes it" && observed.runs.at(id) == RUNS && said.rule != "slow-call") {
            EXPECT_TRUE(there) << said.rule << " " << id << ": " << said.text << ", and is gone under " << policy;
            counted->stayed++;
        }
    }
}

Counted Check(const std::vector<std::string> &program)
{
    Folder folder;
    Counted counted;
    Runs observed = RunsUnder(folder, "observe", program);
    for (const char *policy : {"guarded", "per-thread", "stream"})
        Compare(observed, RunsUnder(folder, policy, program), policy, &counted);
    return counted;
}

TEST(GoesInRuns, ThreadsOnOneStream)
{
    NEEDS_A_PLAIN_SHIM();
    Counted counted = Check({"overlap", "4", "10", "1000"});
    EXPECT_LE(2, counted.gone) << "their turns, under guarded and per-thread";
}

TEST(GoesInRuns, StreamsAroundTheDefaultStream)
{
    NEEDS_A_PLAIN_SHIM();
    Counted counted = Check({"mixed_streams", "10"});
    EXPECT_LE(50, counted.gone);
    EXPECT_LE(3, counted.stayed);
}

TEST(GoesInRuns, MemoryHandedFromThreadToThread)
{
    NEEDS_A_PLAIN_SHIM();
    Counted counted = Check({"thread_handover"});
    EXPECT_LE(5, counted.gone);
    EXPECT_LE(3, counted.stayed) << "what breaks a capture";
    Check({"own_allocator"});
}

TEST(GoesInRuns, RandomOrder)
{
    NEEDS_A_PLAIN_SHIM();
    Counted counted = Check({"random_order"});
    EXPECT_LE(10, counted.gone);
    EXPECT_LE(1, counted.stayed);
}

} // namespace
} // namespace ptds
