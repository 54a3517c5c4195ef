// SPDX-License-Identifier: Apache-2.0
//
// `ptds report` of a folder: what several processes add up to, against sums of literals; every number of the processes is
// different, so that none can stand for another.
#include <gtest/gtest.h>

#include <fstream>
#include <jansson.h>

#include "tests/analysis/support.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

/* One thread: launches on the default stream, a copy back that waits for them so many ms, and its work goes on after that:
 * the wait was not for a last result. Threads' time is from the first call to the last's end. */
std::string Process(unsigned launches, unsigned ms, unsigned remapped)
{
    std::string text;
    for (unsigned i = 0; i < launches; i++)
        text += "1@" + std::to_string(i) + " launch s=L k=a\n";
    for (unsigned i = 0; i < remapped; i++)
        text += "1@" + std::to_string(50 + i) + " launch s=L to=S1 k=a\n";
    const unsigned end = 100 + ms * 1000;
    return BuildTrace(text + "1@100+" + std::to_string(ms * 1000) +
                      " copy s=L implicit from=device to=pageable bytes=4 site=back\n"
                      "1@" +
                      std::to_string(end + 100) +
                      " launch s=N9 k=next\n"
                      "1@" +
                      std::to_string(end + 20000) + "+3 sync s=N9\n");
}

class Sums : public testing::Test
{
protected:
    void SetUp() override
    {
        std::ofstream(folder_ / "a.ptds") << Process(1, 5, 0);
        std::ofstream(folder_ / "b.ptds") << Process(2, 30, 7);
        std::ofstream(folder_ / "c.ptds") << Process(4, 700, 20);
    }
    std::string Report(const std::vector<std::string> &options) const
    {
        Command command;
        command.argv = {data_file("analysis/ptds_leaks"), "report"};
        command.argv.insert(command.argv.end(), options.begin(), options.end());
        command.argv.push_back(folder_.path());
        Outcome outcome = run(command);
        EXPECT_EQ(0, outcome.exit) << outcome;
        return outcome.out;
    }

private:
    Folder folder_;
};

TEST_F(Sums, JsonAddsUpAllProcesses)
{
    json_t *root = json_loads(Report({"--format", "json"}).c_str(), 0, nullptr);
    ASSERT_NE(nullptr, root);
    const json_t *totals = json_object_get(root, "totals");
    auto total = [&](const char *key) { return json_integer_value(json_object_get(totals, key)); };
    const json_int_t quick = 20000; /* what a copy back may take that waits for nothing */
    EXPECT_EQ(3, total("processes"));
    EXPECT_EQ(4 + 12 + 27, total("calls"));
    EXPECT_EQ(2 + 10 + 25, total("default_stream"));
    EXPECT_EQ(0 + 7 + 20, total("remapped"));
    EXPECT_EQ(5000000 - quick + 30000000 - quick + 700000000 - quick, total("blocked_ns"));
    EXPECT_EQ(5000000 - quick + 20000000 + 20000000, total("host_ns_lost"));
    EXPECT_EQ(25103000 + 50103000 + 720103000, total("threads_ns"));
    const json_t *rule = json_array_get(json_object_get(root, "by_rule"), 0);
    EXPECT_STREQ("sync-copy", json_string_value(json_object_get(rule, "rule")));
    EXPECT_EQ(3, json_integer_value(json_object_get(rule, "calls")));
    EXPECT_EQ(44980000, json_integer_value(json_object_get(rule, "host_ns")));
    const json_t *processes = json_object_get(root, "processes");
    const json_int_t calls[] = {4, 12, 27}, lost[] = {4980000, 20000000, 20000000};
    ASSERT_EQ(3u, json_array_size(processes));
    for (size_t i = 0; i < 3; i++) {
        EXPECT_EQ(calls[i], json_integer_value(json_object_get(json_array_get(processes, i), "calls")));
        EXPECT_EQ(lost[i], json_integer_value(json_object_get(json_array_get(processes, i), "host_ns_lost")));
    }
    json_decref(root);
}

TEST_F(Sums, WordsAddUpAllProcesses)
{
    const std::string said = Report({"--all"});
    for (const char *part : {"Findings save at most, in all    45.0 ms", "call                  cuMemcpyDtoH_v2, 3 times\n",
                             "saves at most         45.0 ms in all\n", "min 5.0 ms, median 20.0 ms, max 20.0 ms"})
        EXPECT_NE(std::string::npos, said.find(part)) << part << "\n" << said;
}

} // namespace
} // namespace ptds
