/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that the driver refuses, of every function of the table (refused_child.cc): under the shim each has the result that
 * it has without, and none ends the process that does not end it without. What ends it without says nothing.
 */
#include "tests/interpose/shim_test.h"

#include <filesystem>
#include <fstream>
#include <map>

namespace ptds
{
namespace
{

/* By function and number: the result, or "ended". */
using Results = std::map<std::string, std::map<int, std::string>>;

Results read(const std::string &path)
{
    Results results;
    std::ifstream file(path);
    std::string symbol, result;
    for (int number; file >> symbol >> number >> result;)
        results[symbol][number] = result;
    return results;
}

Outcome call_all(const Folder &folder, const std::string &out, const std::string &bare, bool with_shim,
                 const Settings &settings = {})
{
    std::vector<std::string> arguments = {folder / out};
    if (!bare.empty())
        arguments.push_back(folder / bare);
    Command command = with_shim ? shimmed("refused_child", arguments, settings) : plain("refused_child", arguments);
    command.libraries = {std::filesystem::path(data_file("tests/sim/libcuda.so.1")).parent_path()};
    command.seconds = 280;
    return run(command);
}

/* Garbage that the driver took is work that may fail at any moment: from the first call on that is not always the same,
 * nothing of that function is compared. */
void drop_unstable(Results *bare, const Results &again)
{
    for (auto &[symbol, calls] : *bare) {
        const auto other = again.find(symbol);
        for (auto call = calls.begin(); call != calls.end(); ++call) {
            bool same =
                other != again.end() && other->second.count(call->first) && other->second.at(call->first) == call->second;
            if (!same) {
                calls.erase(call, calls.end());
                break;
            }
        }
    }
}

class Refused : public testing::Test
{
protected:
    static void SetUpTestSuite()
    {
        if (is_sanitized)
            return;
        folder = new Folder;
        for (const char *out : {"bare", "again", "once_more"}) {
            Outcome outcome = call_all(*folder, out, strcmp(out, "bare") == 0 ? "" : "bare", false);
            ASSERT_EQ(outcome.exit, 0) << outcome;
        }
        bare = read(*folder / "bare");
        for (const char *out : {"again", "once_more"})
            drop_unstable(&bare, read(*folder / out));
    }
    static void TearDownTestSuite()
    {
        delete folder;
    }
    static void expect_the_same(const Settings &settings)
    {
        Outcome outcome = call_all(*folder, "shimmed", "bare", true, settings);
        ASSERT_EQ(outcome.exit, 0) << outcome;
        Results seen = read(*folder / "shimmed");
        int differences = 0;
        for (const auto &[symbol, calls] : bare) {
            for (const auto &[number, result] : calls) {
                if (result != "ended" && seen[symbol][number] != result && differences++ < 20)
                    ADD_FAILURE() << symbol << " " << number << ": " << seen[symbol][number] << ", without " << result;
            }
        }
        EXPECT_EQ(differences, 0);
    }
    static Folder *folder;
    static Results bare;
};
Folder *Refused::folder;
Results Refused::bare;

TEST_F(Refused, EveryFunctionIsCalled)
{
    size_t calls = 0, compared = 0;
    EXPECT_GT(bare.size(), 380u);
    for (const auto &[symbol, results] : bare) {
        calls += results.size();
        for (const auto &[number, result] : results)
            compared += result != "ended";
    }
    EXPECT_GT(compared, 20000u) << "of " << calls;
    EXPECT_EQ(bare["cuStreamBatchMemOp"][0], "1");
}

TEST_F(Refused, UnderObserveResultsAreTheDrivers)
{
    expect_the_same({{"PTDS_POLICY", "observe"}, {"PTDS_REPORT", *folder / "report"}});
}

TEST_F(Refused, UnderGuardedResultsAreTheDrivers)
{
    expect_the_same({{"PTDS_POLICY", "guarded"}});
}

TEST_F(Refused, GuardedAndRecorded)
{
    expect_the_same({{"PTDS_POLICY", "guarded"}, {"PTDS_REPORT", *folder / "report"}, {"PTDS_LANES", "4"}});
}

} // namespace
} // namespace ptds
