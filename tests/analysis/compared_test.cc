// SPDX-License-Identifier: Apache-2.0
//
// Comparisons: compared/NAME.before.json and NAME.after.json are baselines whose rows are named for what they are about,
// mostly at the edge of what counts. compared/NAME.changes has what `ptds diff` finds (a line a change) and what of it
// fails `ptds check`; compared/FORM.said holds some whole outputs of a form, and lines.said those lines of other
// comparisons that are of a kind which no whole output has.
#include <ctime>
#include <fstream>

#include "analysis/check/conditions.h"
#include "analysis/compare/baseline.h"
#include "tests/analysis/compared.h"
#include "tests/analysis/facts.h"
#include "tests/analysis/json_lines.h"
#include "tests/analysis/line_kinds.h"
#include "tests/support/expected.h"

namespace ptds
{
namespace
{

const std::string folder = "tests/analysis/compared/";
const std::vector<std::string> pairs = {"thrice", "once", "many", "names", "unchanged", "uneven", "several"};

std::string Written(const history &history)
{
    std::string path = testing::TempDir() + "/again.json";
    FILE *file = fopen(path.c_str(), "w");
    EXPECT_TRUE(baseline_write(&history, file));
    fclose(file);
    return read_file(path);
}

class Pair
{
public:
    explicit Pair(const std::string &name)
    {
        char error[COMPARE_ERROR_SIZE] = "";
        EXPECT_TRUE(baseline_read(&before_, data_file(folder + name + ".before.json").c_str(), error)) << error;
        EXPECT_TRUE(baseline_read(&after_, data_file(folder + name + ".after.json").c_str(), error)) << error;
        compare(&comparison_, &before_, &after_, TOLERANCE_DEFAULT);
        compare(&back_, &after_, &before_, {0.2, {0, 100000}});
    }
    ~Pair()
    {
        compare_free(&comparison_);
        compare_free(&back_);
        history_free(&before_);
        history_free(&after_);
    }
    Pair(const Pair &) = delete;

    std::string Diff(diff_writer *writer, bool all, bool back = false) const
    {
        diff diff = {};
        TextOf out;
        diff.comparison = back ? &back_ : &comparison_;
        diff.name[BEFORE] = "old `one`";
        diff.name[AFTER] = "new";
        diff.all = all;
        EXPECT_EQ(0, writer(&diff, &out));
        return out.text;
    }
    std::string Check(check_writer *writer, const std::string &fail_on, const std::string &ignored = "") const
    {
        char error[CHECK_ERROR_SIZE] = "";
        conditions wanted = {};
        check_results results = {};
        TextOf out;
        EXPECT_TRUE(conditions_add(&wanted, fail_on.c_str(), error)) << error;
        if (!ignored.empty()) {
            EXPECT_TRUE(conditions_ignore(&wanted, ignored.c_str(), error)) << error;
        }
        results.processes = 3;
        results.runs = comparison_.sides[AFTER].runs.count;
        results_compare(&results, &wanted, &comparison_);
        EXPECT_EQ(0, writer(&results, &out));
        results_free(&results);
        conditions_free(&wanted);
        return out.text;
    }
    std::string As(const std::string &form) const
    {
        const std::string any = "any,slower,gpu-slower,gpu-idle";
        if (form == "check")
            return Check(check_text, any);
        if (form == "check_markdown")
            return Check(check_markdown, any);
        if (form == "check_junit")
            return Check(check_junit, any);
        if (form == "check_json")
            return JsonText(Check(check_json, any));
        if (form == "diff_markdown")
            return Diff(diff_markdown, false);
        if (form == "diff_json")
            return JsonText(Diff(diff_json, false));
        return form == "written" ? Written(before_) : Diff(diff_text, form == "diff_all");
    }

private:
    history before_, after_;
    comparison comparison_, back_;
};

struct Snapshot {
    const char *form;
    std::vector<const char *> pairs;
};

void PrintTo(const Snapshot &snapshot, std::ostream *out)
{
    *out << snapshot.form;
}

const std::vector<Snapshot> snapshots = {
    {"diff", {"unchanged", "once", "many", "several"}},
    {"diff_all", {"unchanged", "names", "uneven"}},
    {"diff_markdown", {"unchanged", "names", "many"}},
    {"diff_json", {"unchanged", "names"}},
    {"check", {"unchanged", "names", "many", "thrice"}},
    {"check_markdown", {"unchanged", "once", "uneven"}},
    {"check_junit", {"names"}},
    {"check_json", {"unchanged", "names"}},
    {"written", {"unchanged", "names", "uneven"}},
};

class Compare : public testing::TestWithParam<Snapshot>
{
};

TEST_P(Compare, SaysAllOfThis)
{
    std::string seen;
    for (const char *name : GetParam().pairs)
        seen += std::string("===== ") + name + "\n" + Pair(name).As(GetParam().form);
    ExpectAllOf(data_file(folder + GetParam().form + ".said"), seen);
}

INSTANTIATE_TEST_SUITE_P(Forms, Compare, testing::ValuesIn(snapshots),
                         [](const testing::TestParamInfo<Snapshot> &one) { return std::string(one.param.form); });

/* A row's place may be a sentence that says what the row is about. */
std::string KindOfRow(std::string line)
{
    for (size_t from = line.find(" in "), to; from != std::string::npos; from = line.find(" in ", from + 1))
        if ((to = line.find_first_of(":;", from)) != std::string::npos || (to = line.size()) != 0)
            line.erase(from, to - from);
    return KindOf(line);
}

TEST(CompareAlways, LinesOfOtherKinds)
{
    std::set<std::string> kinds;
    std::string seen;
    for (const Snapshot &snapshot : snapshots)
        for (const char *name : snapshot.pairs)
            for (const std::string &line : lines_of(Pair(name).As(snapshot.form)))
                kinds.insert(KindOfRow(line));
    for (const char *form : {"diff", "diff_all", "check"}) {
        seen += std::string("===== ") + form + "\n";
        for (const std::string &name : pairs)
            for (const std::string &line : lines_of(Pair(name).As(form)))
                seen += kinds.insert(KindOfRow(line)).second ? line + "\n" : "";
    }
    ExpectAllOf(data_file(folder + "lines.said"), seen);
}

/* "more:cuApiA less?:cuApiB": what is not sure has a question mark. */
std::string ChangesIn(const std::string &diff)
{
    json_t *root = json_loads(diff.c_str(), 0, nullptr), *change;
    std::string out;
    size_t i;
    json_array_foreach(json_object_get(root, "changes"), i, change)
    {
        auto text = [&](const char *key) {
            const char *found = json_string_value(json_object_get(change, key));
            return std::string(found != nullptr ? found : "");
        };
        out += " " + text("change") + (json_is_true(json_object_get(change, "sure")) ? ":" : "?:") + text("rule") +
               (text("rule").empty() ? "" : "@") + text("call") + text("kernel");
    }
    json_decref(root);
    return out + "\n";
}

class ComparedFacts : public testing::TestWithParam<std::string>
{
};

TEST_P(ComparedFacts, AreThese)
{
    Pair pair(GetParam());
    std::string facts = Facts::OfText(pair.Diff(diff_json, true), "diff") +
                        "other way round, by a fifth:" + ChangesIn(pair.Diff(diff_json, true, true));
    for (const char *fail_on :
         {"any,slower,gpu-slower,gpu-idle", "error", "warning,slower", "note", "cost>8ms", "sync-copy,gpu-idle"})
        facts += Facts::OfText(pair.Check(check_json, fail_on), std::string("check ") + fail_on);
    facts += Facts::OfText(pair.Check(check_json, "any,slower", "sync-copy,more-calls"),
                           "check any,slower but sync-copy,more-calls");
    ExpectAllOf(data_file(folder + GetParam() + ".changes"), Folded(facts));
}

INSTANTIATE_TEST_SUITE_P(Baselines, ComparedFacts, testing::ValuesIn(pairs),
                         [](const testing::TestParamInfo<std::string> &pair) { return pair.param; });

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
    ASSERT_TRUE(baseline_read(&history, data_file(folder + "uneven.before.json").c_str(), error)) << error;
    for (size_t most : {3, 2, 1}) {
        history_keep_latest(&history, most);
        said += "===== before, as it is written again\n" + Written(history);
    }
    history_free(&history);
    ExpectAllOf(data_file(folder + "uneven.kept"), said);
}

} // namespace
} // namespace ptds
