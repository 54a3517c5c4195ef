// SPDX-License-Identifier: Apache-2.0
//
// Whole comparisons: compared/NAME.before.json and NAME.after.json are baselines whose rows are named for what they are
// about, mostly at the edge of what counts; NAME.said is all that `ptds diff` and `ptds check` make of the two, and the
// first as it is written again. What is said now is among the test's outputs.
#include <ctime>
#include <fstream>

#include "analysis/check/conditions.h"
#include "analysis/compare/baseline.h"
#include "tests/analysis/compared.h"
#include "tests/support/expected.h"

namespace ptds
{
namespace
{

std::string Diff(const comparison &comparison, bool all)
{
    std::string said;
    diff diff = {};
    diff.comparison = &comparison;
    diff.name[BEFORE] = "old `one`";
    diff.name[AFTER] = "new";
    diff.all = all;
    const std::vector<std::pair<const char *, diff_writer *>> writers = {
        {"diff", diff_text}, {"diff as Markdown", diff_markdown}, {"diff as JSON", diff_json}};
    for (const auto &[name, writer] : writers) {
        TextOf out;
        EXPECT_EQ(0, writer(&diff, &out));
        said += std::string("===== ") + name + (all ? ", all of it\n" : "\n") + out.text;
        if (all)
            break;
    }
    return said;
}

std::string Check(const comparison &comparison, const std::string &fail_on, const std::string &ignored)
{
    std::string said;
    char error[CHECK_ERROR_SIZE] = "";
    conditions wanted = {};
    check_results results = {};
    EXPECT_TRUE(conditions_add(&wanted, fail_on.c_str(), error)) << error;
    if (!ignored.empty()) {
        EXPECT_TRUE(conditions_ignore(&wanted, ignored.c_str(), error)) << error;
    }
    results.processes = 3;
    results.runs = comparison.sides[AFTER].runs.count;
    results_compare(&results, &wanted, &comparison);
    const std::vector<std::pair<const char *, check_writer *>> writers = {{"check", check_text},
                                                                          {"check as Markdown", check_markdown},
                                                                          {"check as JUnit", check_junit},
                                                                          {"check as JSON", check_json}};
    for (const auto &[name, writer] : writers) {
        TextOf out;
        EXPECT_EQ(0, writer(&results, &out));
        said += std::string("===== ") + name + " --fail-on " + fail_on + (ignored.empty() ? "" : " --ignore " + ignored) +
                "\n" + out.text;
        if (fail_on != "any,slower,gpu-slower,gpu-idle")
            break;
    }
    results_free(&results);
    conditions_free(&wanted);
    return said;
}

std::string Written(const history &history)
{
    std::string path = testing::TempDir() + "/again.json";
    FILE *file = fopen(path.c_str(), "w");
    EXPECT_TRUE(baseline_write(&history, file));
    fclose(file);
    return "===== before, as it is written again\n" + read_file(path);
}

class Compare : public testing::TestWithParam<const char *>
{
};

TEST_P(Compare, SaysAllOfThis)
{
    std::string name = std::string("tests/analysis/compared/") + GetParam(), said;
    char error[COMPARE_ERROR_SIZE] = "";
    history before, after;
    ASSERT_TRUE(baseline_read(&before, data_file(name + ".before.json").c_str(), error)) << error;
    ASSERT_TRUE(baseline_read(&after, data_file(name + ".after.json").c_str(), error)) << error;
    comparison comparison, back;
    compare(&comparison, &before, &after, TOLERANCE_DEFAULT);
    said += Diff(comparison, false) + Diff(comparison, true);
    for (const char *fail_on :
         {"any,slower,gpu-slower,gpu-idle", "error", "warning,slower", "note", "cost>8ms", "sync-copy,gpu-idle"})
        said += Check(comparison, fail_on, "");
    said += Check(comparison, "any,slower", "sync-copy,more-calls");
    compare_free(&comparison);
    compare(&back, &after, &before, {0.2, {0, 100000}});
    said += "===== the other way round, by a fifth\n" + Diff(back, true);
    compare_free(&back);
    said += Written(before);
    history_free(&before);
    history_free(&after);
    ExpectAllOf(data_file(name + ".said"), said);
}

INSTANTIATE_TEST_SUITE_P(Baselines, Compare,
                         testing::Values("thrice", "once", "many", "names", "unchanged", "uneven", "several"),
                         [](const testing::TestParamInfo<const char *> &pair) { return std::string(pair.param); });

/* Generated code calls from thousands of places, and may have other names for all of them after a change. */
TEST(Histories, OfManyPlacesTakeLittleTime)
{
    enum { PLACES = 10000 };
    clock_t begin = clock();
    char error[COMPARE_ERROR_SIZE] = "";
    history sides[SIDES];
    for (int side = 0; side < SIDES; side++) {
        std::string path = testing::TempDir() + "/many.json", findings, calls;
        for (int i = 0; i < PLACES; i++) {
            std::string row = "\"call\":\"cuApi\",\"place\":\"f" + std::to_string(i) + (side == BEFORE ? "" : "_new") +
                              "\",\"calls\":[4],",
                        end = i + 1 < PLACES ? "},\n" : "}\n";
            findings += R"({"rule":"sync-copy","severity":"warning","shown":true,)" + row + "\"saves_ns\":[5000000]" + end;
            calls += "{" + row + "\"blocked_ns\":[5000000]" + end;
        }
        std::ofstream(path)
            << R"({"ptds_baseline_version": 1, "runs": [{"program":"prog","policy":"observe","processes":1}],)"
            << "\"findings\": [\n"
            << findings << "], \"calls\": [\n"
            << calls << "], \"gpu\": []}\n";
        ASSERT_TRUE(baseline_read(&sides[side], path.c_str(), error)) << error;
    }
    comparison comparison;
    compare(&comparison, &sides[BEFORE], &sides[AFTER], TOLERANCE_DEFAULT);
    EXPECT_LT((clock() - begin) / CLOCKS_PER_SEC, 10) << "not a matter of all pairs of them";
    EXPECT_EQ(size_t{2 * PLACES}, comparison.unsure[CHANGE_NEW]) << "other names";
    EXPECT_EQ(size_t{2 * PLACES}, comparison.unsure[CHANGE_GONE]);
    compare_free(&comparison);
    history_free(&sides[BEFORE]);
    history_free(&sides[AFTER]);
}

TEST(Histories, KeepTheirLatestRuns)
{
    history history;
    char error[COMPARE_ERROR_SIZE] = "";
    std::string said;
    ASSERT_TRUE(baseline_read(&history, data_file("tests/analysis/compared/uneven.before.json").c_str(), error)) << error;
    for (size_t most : {3, 2, 1}) {
        history_keep_latest(&history, most);
        said += Written(history);
    }
    history_free(&history);
    ExpectAllOf(data_file("tests/analysis/compared/uneven.kept"), said);
}

} // namespace
} // namespace ptds
