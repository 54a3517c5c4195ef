// SPDX-License-Identifier: Apache-2.0
//
// A result that is wrong because this run's policy took an order away is an error in every form of a report and in none
// where the policy kept the order; one that may be is a warning in every form.
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include <jansson.h>
#include <sqlite3.h>

#include "analysis/base/line.h"
#include "analysis/views/html/report_html.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/text/report_screen.h"
#include "tests/analysis/exported.h"

namespace ptds
{
namespace
{

/* Its findings' places are all in one file. */
struct OneFile : site_namer {
    OneFile() : site_namer{}
    {
        name = [](site_namer *, const object_def *, uint64_t, char *, size_t) { return false; };
        trouble = [](site_namer *, const object_def *) -> const char * { return nullptr; };
        places = [](site_namer *, const object_def *, uint64_t, site_place *out, size_t) -> size_t {
            *out = {};
            strcpy(out->function, "main");
            strcpy(out->file, "/src/app/main.cc");
            out->line = 12;
            return 1;
        };
    }
};

std::string WorstIn(const std::set<std::string> &severities)
{
    for (const char *one : {"error", "warning"})
        if (severities.count(one) != 0)
            return one;
    return "no more than a note";
}

/* What the JSON text of a report says of its findings about order. */
std::string InJson(const std::string &text)
{
    std::set<std::string> found;
    json_t *root = json_loads(text.c_str(), 0, nullptr), *finding;
    size_t i;
    EXPECT_NE(nullptr, root) << text;
    json_array_foreach(json_object_get(root, "findings"), i,
                       finding) if (json_string_value(json_object_get(finding, "class"))[0] == 'R')
        found.insert(json_string_value(json_object_get(finding, "severity")));
    json_decref(root);
    return WorstIn(found);
}

std::string InSarif(Opened *opened)
{
    std::set<std::string> found;
    std::string text = TakeFile(opened->Export("sarif", nullptr, "/src/app"));
    json_t *root = json_loads(text.c_str(), 0, nullptr), *result;
    size_t i;
    EXPECT_NE(nullptr, root) << text;
    json_array_foreach(json_object_get(json_array_get(json_object_get(root, "runs"), 0), "results"), i,
                       result) if (std::string("order-given-up half-remapped")
                                       .find(json_string_value(json_object_get(result, "ruleId"))) != std::string::npos)
        found.insert(json_string_value(json_object_get(result, "level")));
    json_decref(root);
    return WorstIn(found);
}

std::string InDatabase(Opened *opened)
{
    std::set<std::string> found;
    std::string path = opened->Export("sqlite");
    sqlite3 *database;
    EXPECT_EQ(SQLITE_OK, sqlite3_open(path.c_str(), &database));
    auto row = [](void *all, int, char **values, char **) {
        static_cast<std::set<std::string> *>(all)->insert(values[0]);
        return 0;
    };
    EXPECT_EQ(SQLITE_OK,
              sqlite3_exec(database, "SELECT severity FROM PTDS_FINDING WHERE class LIKE 'R%'", row, &found, nullptr));
    sqlite3_close(database);
    unlink(path.c_str());
    return WorstIn(found);
}

/* A page holds the JSON form. */
std::string JsonOf(const std::string &page)
{
    size_t begin = page.find("{", page.find("application/json"));
    return page.substr(begin, page.find("</script>", begin) - begin);
}

std::string InPage(Opened *opened)
{
    TextOf page;
    EXPECT_EQ(0, report_html_many(&opened->traces, &opened->folds, nullptr, opened->namer, &page));
    return InJson(JsonOf(page.text));
}

/* The verdict that comes first; the summary at exit says it with the finding. */
std::string InText(const std::string &text)
{
    auto says = [&](const char *words) { return text.find(words) != std::string::npos; };
    bool wrong = says("WRONG: ") || says("ptds: !! ");
    EXPECT_EQ(1, wrong + says("May be wrong: ") + says("Right: ") + says("results safe ")) << text;
    return wrong ? "error" : says("May be wrong: ") ? "warning" : "no more than a note";
}

void ExpectEverywhere(const char *severity, const std::string &trace)
{
    Built built(BuildTrace(trace));
    TextOf json;
    EXPECT_EQ(0, report_json(built.get(), nullptr, &json));
    EXPECT_EQ(severity, InJson(json.text)) << trace;
    EXPECT_EQ(severity, InText(built.Text())) << built.Text();
    EXPECT_EQ(severity, InText(built.Summary())) << built.Summary();
    Opened opened({BuildTrace(trace)});
    EXPECT_EQ(severity, InDatabase(&opened)) << trace;
    EXPECT_EQ(severity, InPage(&opened)) << trace;
    OneFile sources;
    sources.data = opened.namer->data;
    std::swap(opened.namer->places, sources.places);
    EXPECT_EQ(severity, InSarif(&opened)) << trace;
}

const std::string memory = "1@0 alloc m=A ptr=0x10000 bytes=4096\n";

std::string Conflict(const std::string &to, const std::string &second)
{
    return memory + "1@1 memset s=L " + to + "1 bytes=64 dst=A site=one\n2@9 " + second + "2 site=two\n";
}

TEST(Views, AgreeOnWhatThePolicyTookAway)
{
    const std::string copy = "copy s=L src=A dst=0x40000 bytes=64 target=P", kernel = "launch s=L k=user args=A to=P";
    ExpectEverywhere("error", "setting policy=per-thread\n" + Conflict("target=P", copy));
    ExpectEverywhere("warning", "setting policy=per-thread\n" + Conflict("target=P", kernel));
    ExpectEverywhere("no more than a note", "setting policy=per-thread\n" +
                                                Conflict("target=P", "copy s=L src=A+64 dst=0x40000 bytes=64 target=P"));
}

TEST(Views, AgreeWhereThePolicyKeptIt)
{
    const std::string copy = "copy s=L src=A dst=0x40000 bytes=64 target=S";
    for (const char *keeps : {"setting policy=guarded\n", "setting policy=stream\nsetting guard=1\n"})
        ExpectEverywhere("no more than a note", keeps + Conflict("target=S", copy));
    ExpectEverywhere("no more than a note",
                     "setting policy=observe\n" + memory +
                         "1@1 memset s=L bytes=64 dst=A site=one\n2@9 copy s=L src=A dst=0x40000 bytes=64 site=two\n");
}

/* Of the run; of several the totals are the sum. */
uint64_t BlockedInJson(const std::string &text)
{
    auto number = [](json_t *object) {
        return static_cast<uint64_t>(json_integer_value(json_object_get(object, "blocked_ns")));
    };
    json_t *root = json_loads(text.c_str(), 0, nullptr), *process;
    uint64_t blocked = number(json_object_get(root, "totals")), sum = 0;
    size_t i;
    json_array_foreach(json_object_get(root, "processes"), i, process) sum += number(process);
    EXPECT_TRUE(sum == 0 || sum == blocked) << text;
    json_decref(root);
    return blocked;
}

/* Of two waits 1500 us, less 20 us each that such a call takes anyway. */
TEST(Views, SayOneNumberForTheTimeThatWasWaited)
{
    const std::string trace =
        "1@0+2 launch s=B1 k=a site=a\n1@10+900 sync s=B1 site=b\n"
        "1@1000+2 launch s=L k=b site=c\n1@1010+600 sync s=L site=d\n1@2000+2 launch s=L k=b site=c\n";
    Built built(BuildTrace(trace));
    TextOf json, page;
    EXPECT_EQ(0, report_json(built.get(), nullptr, &json));
    EXPECT_EQ(1460000u, BlockedInJson(json.text));
    EXPECT_NE(std::string::npos, built.Text().find("\nBlocked: 1.5 ms, ")) << built.Text();
    EXPECT_NE(std::string::npos, built.Summary().find("Blocked: 1.5 ms, ")) << built.Summary();
    Opened opened({BuildTrace(trace)});
    EXPECT_EQ(0, report_html_many(&opened.traces, &opened.folds, nullptr, opened.namer, &page));
    EXPECT_EQ(1460000u, BlockedInJson(JsonOf(page.text)));
    uint64_t sum = 0;
    std::istringstream stacks(TakeFile(opened.Export("folded")));
    for (std::string line; std::getline(stacks, line);)
        sum += std::stoull(line.substr(line.rfind(' ') + 1));
    EXPECT_EQ(1460000u, sum);
}

/* What the command found by a replay is in each form that has an opening. */
TEST(Views, AgreeOnWhatAReplaySays)
{
    Built built(BuildTrace("1@0 launch s=L k=a\n1@10+900 sync s=L\n"));
    TextOf json, page, screen;
    const std::string none = "\"what_if\": null", said = "Under guarded: no faster, by a replay (--what-if)";
    EXPECT_EQ(0, report_json(built.get(), nullptr, &json));
    EXPECT_NE(std::string::npos, json.text.find(none)) << json.text.substr(0, 2000);
    struct report *report = const_cast<struct report *>(built.get());
    line_add(&report->what_if, "%s", said.c_str());
    json.text.clear();
    EXPECT_EQ(0, report_json(report, nullptr, &json));
    EXPECT_NE(std::string::npos, json.text.find('"' + said + '"')) << json.text.substr(0, 2000);
    static const struct timeline nothing = {};
    static const struct edge_list no_edges = {};
    EXPECT_EQ(0, report_html(report, &nothing, &no_edges, nullptr, &page));
    EXPECT_NE(std::string::npos, page.text.find("\"opening\":[")) << "the lines below the verdict";
    size_t opening = page.text.find("\"opening\":[");
    EXPECT_NE(std::string::npos, page.text.substr(opening, page.text.find(']', opening) - opening).find(said));
    report_screen(report, nullptr, 40, &screen);
    EXPECT_NE(std::string::npos, screen.text.find('\n' + said + '\n')) << screen.text;
    EXPECT_NE(std::string::npos, built.Text().find('\n' + said + '\n')) << built.Text();
}

} // namespace
} // namespace ptds
