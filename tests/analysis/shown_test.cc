// SPDX-License-Identifier: Apache-2.0
//
// Whole outputs: what every view and export makes of a few small traces, line by line. shown/NAME.trace says at its top
// what it is about (several processes are apart by "---"), shown/NAME.shown holds what is to be seen. Where that changes on
// purpose, read the difference: what is shown now is among the test's outputs, to be put in place of the old.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "analysis/compare/baseline.h"
#include "analysis/compare/history.h"
#include "analysis/compare/history_of_traces.h"
#include "analysis/report/residual.h"
#include "analysis/findings/rule.h"
#include "analysis/repair/merge_traces.h"
#include "analysis/repair/repair.h"
#include "analysis/report/edges/edge_feed.h"
#include "analysis/report/edges/edge_list.h"
#include "analysis/report/report.h"
#include "analysis/rules/registry.h"
#include "analysis/trace/definitions.h"
#include "analysis/trace/selection.h"
#include "analysis/trace/trace.h"
#include "analysis/views/html/report_html.h"
#include "analysis/views/html/timeline.h"
#include "analysis/views/html/timelines.h"
#include "analysis/views/json/json_schema.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/json/whatif_json.h"
#include "analysis/views/repair/repair_text.h"
#include "analysis/views/text/many_screen.h"
#include "analysis/views/text/many_text.h"
#include "analysis/views/text/report_details.h"
#include "analysis/views/text/report_screen.h"
#include "analysis/views/text/report_text.h"
#include "analysis/views/text/whatif_text.h"
#include "analysis/whatif/whatif.h"
#include "tests/support/expected.h"
#include "tests/analysis/shown.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

/* One process: its report as `ptds report` makes it. */
class One
{
public:
    One(const trace_source *source, site_namer *namer, const selection &selection = {}) : namer_(namer), source_(source)
    {
        char error[TRACE_ERROR_SIZE] = "";
        report_details_begin(&stats_);
        EXPECT_EQ(0, report_build_watched(report_.get(), source, &selection, &stats_.watch, error)) << error;
        residual_find(report_.get());
        if (selection_is_all(&selection))
            whatif_text_opening(report_.get());
    }
    ~One()
    {
        report_end(report_.get());
        report_details_end(&stats_);
    }
    One(const One &) = delete;

    std::string Put(void (*form)(const struct report *, struct site_namer *, struct text_sink *)) const
    {
        TextOf out;
        form(report_.get(), namer_, &out);
        return out.text;
    }
    std::string Screen(unsigned rows) const
    {
        TextOf out;
        report_screen(report_.get(), namer_, rows, &out);
        return out.text;
    }
    std::string Json() const
    {
        TextOf out;
        EXPECT_EQ(0, report_json(report_.get(), namer_, &out));
        return JsonText(out.text);
    }
    std::string Details(size_t most) const
    {
        TextOf out;
        report_details(report_.get(), &stats_, namer_, most, &out);
        return out.text;
    }
    std::string Repair(size_t most) const
    {
        struct repair repair;
        TextOf out, json;
        EXPECT_EQ(0, repair_of(&repair, report_.get(), ORDER_PER_THREAD));
        repair_text(report_.get(), &repair, namer_, most, &out);
        EXPECT_EQ(0, report_json_repaired(report_.get(), &repair, namer_, &json));
        repair_end(&repair);
        json_t *root = json_loads(json.text.c_str(), 0, nullptr);
        PutJson(json_object_get(root, "repair"), "", "", &out.text);
        json_decref(root);
        return out.text;
    }
    std::string WhatIf() const
    {
        struct whatif found = whatif_of_source(source_);
        TextOf text, json;
        whatif_text(&found, &text);
        EXPECT_EQ(0, whatif_json(&found, &json));
        return text.text + JsonText(json.text);
    }

private:
    site_namer *namer_;
    const trace_source *source_;
    std::unique_ptr<struct report> report_{new struct report};
    struct call_stats stats_;
};

std::string Page(const trace_source *source, site_namer *namer)
{
    char error[TRACE_ERROR_SIZE] = "";
    std::unique_ptr<struct report> report(new struct report);
    struct timeline timeline;
    struct edge_list edges;
    TextOf out;
    timeline_begin(&timeline, TIMELINE_MOST);
    edge_list_begin(&edges);
    EXPECT_EQ(0, report_build_watched(report.get(), source, nullptr, &timeline.watch, error)) << error;
    timeline_decide(&timeline);
    edge_feed *feed = edge_feed_of_build();
    EXPECT_EQ(0, feed->run(feed, report.get(), &edges.sink));
    EXPECT_EQ(0, report_html(report.get(), &timeline, &edges, namer, &out));
    timeline_end(&timeline);
    edge_list_end(&edges);
    report_end(report.get());
    return PageText(out.text);
}

struct Form {
    const char *name;
    std::string text;
    bool is_text = false; /* what people read */
};

/* A part of a run, as --thread, --stream, --from and --to ask for it. */
std::string Selected(const trace_source *source, site_namer *namer)
{
    selection thread = {}, later = {};
    thread.thread = "1";
    later.stream = 1;
    later.has_from = later.has_to = true;
    later.from_ns = 100000;
    later.to_ns = 9000000;
    return One(source, namer, thread).Details(1) + "---\n" + One(source, namer, later).Details(SIZE_MAX);
}

std::vector<Form> FormsOfOne(const traced *traced, site_namer *namer)
{
    const trace_source *source = &traced->source;
    One one(source, namer);
    std::vector<Form> forms = {{"summary at exit", one.Put(report_summary), true},
                               {"first screen, 40 rows", one.Screen(40), true},
                               {"first screen, 24 rows", one.Screen(24), true},
                               {"text", one.Put(report_text), true},
                               {"json", one.Json()},
                               {"page", Page(source, namer)},
                               {"repair", one.Repair(2), true},
                               {"what-if", one.WhatIf()}};
    if (trace_has_time(&traced->report.trace) && definitions_stream(&traced->report.trace.defs, 1) != nullptr)
        forms.push_back({"details", Selected(source, namer), true});
    return forms;
}

std::string PageOfMany(const std::vector<std::string> &traces)
{
    struct timelines timelines;
    TextOf out;
    timelines_begin(&timelines, traces.size());
    timelines.edges = edge_feed_of_build();
    Opened opened(traces, &timelines.watch);
    Names names(opened.namer->data);
    std::swap(*opened.namer, static_cast<site_namer &>(names));
    timelines_decide(&timelines);
    EXPECT_EQ(0, report_html_many(&opened.traces, &opened.folds, &timelines, opened.namer, &out));
    timelines_end(&timelines);
    std::swap(*opened.namer, static_cast<site_namer &>(names));
    return PageText(out.text);
}

std::vector<Form> FormsOfMany(Opened *opened, const std::vector<std::string> &traces)
{
    TextOf text, large, small, json, repair;
    many_text(&opened->traces, &opened->folds, opened->namer, &text);
    many_screen(&opened->traces, &opened->folds, opened->namer, 40, &large);
    many_screen(&opened->traces, &opened->folds, opened->namer, 24, &small);
    struct repairs repairs;
    EXPECT_EQ(0, merge_traces_repairs(&repairs, &opened->traces, ORDER_PER_THREAD));
    repair_text_many(&repairs, &opened->traces, opened->namer, 2, &repair);
    EXPECT_EQ(0, report_json_many_repaired(&opened->traces, &opened->folds, &repairs, opened->namer, &json));
    merge_traces_end(&repairs);
    return {{"text", text.text, true},
            {"first screen, 40 rows", large.text, true},
            {"first screen, 24 rows", small.text, true},
            {"json", JsonText(json.text)},
            {"page", PageOfMany(traces)},
            {"repair", repair.text, true}};
}

/* As `ptds check --update` would write it. */
std::string Baseline(const Opened &opened)
{
    struct history history = {};
    std::string path = WriteTemporary("");
    FILE *file = fopen(path.c_str(), "w");
    EXPECT_TRUE(history_of_traces(&history, &opened.traces, opened.namer));
    EXPECT_TRUE(baseline_write(&history, file));
    fclose(file);
    history_free(&history);
    return TakeFile(path);
}

/* Paths of this run and versions of this build are none of what is tested. */
std::string Anonymous(std::string text, const Opened &opened)
{
    auto replace = [&text](const std::string &what, const std::string &with) {
        for (size_t at = 0; !what.empty() && (at = text.find(what, at)) != std::string::npos; at += with.size())
            text.replace(at, what.size(), with);
    };
    for (size_t i = 0; i < opened.traces.list.count; i++)
        replace(opened.traces.list.items[i]->source.name,
                opened.traces.list.count > 1 ? "TRACE" + std::to_string(i) : "TRACE");
    replace("\"" PTDS_VERSION "\"", "\"VERSION\"");
    replace("|" PTDS_VERSION "\n", "|VERSION\n");
    return text;
}

/* "damage AT BYTE": so much of the finished trace is another. */
std::string Damaged(const std::string &text)
{
    std::string clean;
    std::vector<std::pair<size_t, int>> damages;
    for (const std::string &line : lines_of(text)) {
        std::pair<size_t, int> damage;
        if (sscanf(line.c_str(), "damage %zu %d", &damage.first, &damage.second) == 2)
            damages.push_back(damage);
        else
            clean += line + "\n";
    }
    std::string bytes = BuildTrace(clean);
    for (auto [at, byte] : damages)
        bytes.at(at) = static_cast<char>(byte);
    return bytes;
}

std::vector<std::string> TracesOf(const std::string &path)
{
    std::vector<std::string> traces(1);
    for (const std::string &line : lines_of(read_file(path))) {
        if (line == "---")
            traces.emplace_back();
        else
            traces.back() += line + "\n";
    }
    for (std::string &trace : traces)
        trace = Damaged(trace);
    return traces;
}

std::string Everything(const std::string &folder, const std::string &name)
{
    std::vector<std::string> traces = TracesOf(folder + name + ".trace");
    Opened opened(traces);
    Names names(opened.namer->data);
    std::swap(*opened.namer, static_cast<site_namer &>(names));
    std::vector<Form> forms =
        traces.size() > 1 ? FormsOfMany(&opened, traces) : FormsOfOne(opened.traces.list.items[0], opened.namer);
    edge_feed *edges = edge_feed_of_build();
    forms.push_back({"baseline", Baseline(opened)});
    forms.push_back({"folded", TakeFile(opened.Export("folded"))});
    forms.push_back({"sarif", SarifText(TakeFile(opened.Export("sarif", nullptr, "/src/app")), name == "nothing")});
    forms.push_back({"sqlite", DatabaseText(opened.Export("sqlite", edges), name == "nothing")});
    forms.push_back({"perfetto", PerfettoText(TakeFile(opened.Export("perfetto", edges)))});
    std::swap(*opened.namer, static_cast<site_namer &>(names));
    bool only_text = name == "crowd" || name == "full" || name == "wide" || name == "many" || name == "mend";
    std::string all;
    for (const Form &form : forms)
        if (!only_text || form.is_text)
            all += std::string("===== ") + form.name + "\n" + form.text;
    return Anonymous(all, opened);
}

/* The folder of what is expected. From then on in one of its own, so that the names of traces are of one length anywhere:
 * lines are cut to fit. */
const std::string &ExpectedFolder()
{
    static const std::string folder = [] {
        char path[4096] = "";
        EXPECT_NE(nullptr, realpath(data_file("tests/analysis/shown/nothing.trace").c_str(), path));
        EXPECT_EQ(0, chdir(testing::TempDir().c_str()));
        setenv("TEST_TMPDIR", ".", 1);
        return std::string(path).substr(0, std::string(path).rfind('/') + 1);
    }();
    return folder;
}

class Shown : public testing::TestWithParam<const char *>
{
};

TEST_P(Shown, IsAllOfThis)
{
    std::string name = GetParam();
    ExpectAllOf(ExpectedFolder() + name + ".shown", Everything(ExpectedFolder(), name));
}

/* What people see first: at the program's end, and on a terminal of so many rows. */
std::string AtFirst(const std::string &name, const std::string &trace, unsigned rows)
{
    Opened opened({BuildTrace(trace)});
    Names names(nullptr);
    One one(&opened.traces.list.items[0]->source, &names);
    return "===== " + name + "\n" + Anonymous(one.Put(report_summary) + "-----\n" + one.Screen(rows), opened);
}

/* Of each rule's own bad trace. */
TEST(ShownAlways, EveryRule)
{
    const rule *rules[RULES_MOST];
    std::string expected = ExpectedFolder() + "rules.shown", seen;
    for (size_t i = 0, count = registry_all(rules); i < count; i++)
        seen += AtFirst(rules[i]->id, rules[i]->bad, 24);
    ExpectAllOf(expected, seen);
}

/* Of told/'s runs, in which much goes on at once. */
TEST(ShownAlways, RunsOfManyKinds)
{
    std::string expected = ExpectedFolder() + "runs.shown", folder = ExpectedFolder() + "../told/", seen;
    std::set<std::string> runs;
    for (const auto &file : std::filesystem::directory_iterator(folder))
        if (file.path().extension() == ".run")
            runs.insert(file.path().stem());
    EXPECT_LT(20u, runs.size());
    for (const std::string &run : runs) {
        std::string text = read_file(folder + run + ".run");
        seen += AtFirst(run, text.substr(0, text.find("\n---\n") + 1), 50);
    }
    ExpectAllOf(expected, seen);
}

/* What the page's scripts share with the other views, in the page of any trace; nothing of a trace. */
TEST(ShownAlways, TheWordsOfThePage)
{
    struct report *report = new struct report();
    struct timeline timeline = {};
    struct edge_list edges = {};
    TextOf out;
    EXPECT_EQ(0, report_html(report, &timeline, &edges, nullptr, &out));
    json_t *tables = json_loads(PagePart(out.text, "data-tables").c_str(), 0, nullptr);
    std::string seen;
    for (const char *key : {"parts", "opening", "findings", "lost"})
        json_object_del(tables, key);
    PutJson(tables, "", "", &seen);
    json_decref(tables);
    delete report;
    ExpectAllOf(ExpectedFolder() + "words.shown", seen);
}

/* Without what the fields mean. */
void ForgetMeanings(json_t *value)
{
    const char *key;
    size_t i;
    json_t *part;
    if (json_is_string(json_object_get(value, "description")))
        json_object_del(value, "description");
    json_object_foreach(value, key, part) ForgetMeanings(part);
    json_array_foreach(value, i, part) ForgetMeanings(part);
}

TEST(ShownAlways, TheSchemaOfReports)
{
    TextOf out;
    std::string seen;
    EXPECT_EQ(0, json_schema(&out));
    json_t *schema = json_loads(out.text.c_str(), 0, nullptr);
    ForgetMeanings(schema);
    PutJson(schema, "", "", &seen);
    json_decref(schema);
    ExpectAllOf(ExpectedFolder() + "schema.shown", seen);
}

/* What is packed in many pieces, and hardly gets shorter by it. */
TEST(ShownAlways, AllOfManyOperationsIsInThePage)
{
    TraceBuilder builder;
    CallSpec call;
    std::mt19937 random(1);
    std::string since_the_last = "op enter: 0";
    builder.Call(call);
    for (unsigned i = 1; i < 12000; i++) {
        uint64_t later = random() % 300000;
        call.enter = call.leave += later;
        builder.Call(call);
        since_the_last += " " + std::to_string(later);
    }
    MemoryTrace trace(builder.Bytes());
    std::vector<std::string> lines = lines_of(Page(trace.source(), nullptr));
    EXPECT_EQ(1, std::count(lines.begin(), lines.end(), since_the_last));
}

INSTANTIATE_TEST_SUITE_P(Traces, Shown,
                         testing::Values("observed", "wrong", "guarded", "lacking", "nothing", "crowd", "timed", "long",
                                         "ranks", "full", "wide", "many", "quiet", "operations", "odd", "gains", "one",
                                         "alone", "unseen", "partly", "sequence", "damaged", "damaged_ranks", "late",
                                         "mend", "ties", "twice_unseen", "half_unseen"),
                         [](const testing::TestParamInfo<const char *> &trace) { return std::string(trace.param); });

} // namespace
} // namespace ptds
