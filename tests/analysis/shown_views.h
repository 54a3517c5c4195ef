/* SPDX-License-Identifier: Apache-2.0
 *
 * A small trace (shown/NAME.trace), or several of one run, in each view and export that there is. For shown_test.cc and
 * shown_facts_test.cc.
 */
#ifndef PTDS_TESTS_ANALYSIS_SHOWN_VIEWS_H
#define PTDS_TESTS_ANALYSIS_SHOWN_VIEWS_H

#include <algorithm>
#include <filesystem>
#include <memory>

#include "analysis/views/text/report_details.h"
#include "analysis/views/text/many_screen.h"
#include "analysis/views/repair/repair_text.h"
#include "analysis/compare/baseline.h"
#include "analysis/compare/history_of_traces.h"
#include "analysis/report/residual.h"
#include "tests/analysis/shown.h"
#include "tests/support/run_child.h"

namespace ptds
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
        return out.text;
    }
    std::string Details(size_t most) const
    {
        TextOf out;
        report_details(report_.get(), &stats_, namer_, most, &out);
        return out.text;
    }
    /* As text, and the whole report with it as JSON. */
    std::pair<std::string, std::string> Repair(size_t most) const
    {
        struct repair repair;
        TextOf out, json;
        EXPECT_EQ(0, repair_of(&repair, report_.get(), ORDER_PER_THREAD));
        repair_text(report_.get(), &repair, namer_, most, &out);
        EXPECT_EQ(0, report_json_repaired(report_.get(), &repair, namer_, &json));
        repair_end(&repair);
        return {out.text, json.text};
    }
    std::pair<std::string, std::string> WhatIf() const
    {
        struct whatif found = whatif_of_source(source_);
        TextOf text, json;
        whatif_text(&found, &text);
        EXPECT_EQ(0, whatif_json(&found, &json));
        return {text.text, json.text};
    }

private:
    site_namer *namer_;
    const trace_source *source_;
    std::unique_ptr<struct report> report_{new struct report};
    struct call_stats stats_;
};

inline std::string Page(const trace_source *source, site_namer *namer)
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
    return out.text;
}

/* A part of a run, as --thread, --stream, --from and --to ask for it. */
inline std::string Selected(const trace_source *source, site_namer *namer)
{
    selection thread = {}, later = {};
    thread.thread = "1";
    later.stream = 1;
    later.has_from = later.has_to = true;
    later.from_ns = 100000;
    later.to_ns = 9000000;
    return One(source, namer, thread).Details(1) + "---\n" + One(source, namer, later).Details(SIZE_MAX);
}

inline std::string PageOfMany(const std::vector<std::string> &traces)
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
    return out.text;
}

/* As `ptds check --update` would write it. */
inline std::string Baseline(const Opened &opened)
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
inline std::string Anonymous(std::string text, const Opened &opened)
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
inline std::string Damaged(const std::string &text)
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

inline std::vector<std::string> TracesOf(const std::string &path)
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

/* The folder of what is expected. From then on in one of its own, so that the names of traces are of one length anywhere:
 * lines are cut to fit. */
inline const std::string &ExpectedFolder()
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

/* shown/NAME.trace, of one process or of several. Names and versions that are none of what is tested are replaced. */
class ShownTrace
{
public:
    explicit ShownTrace(const std::string &name) : traces_(TracesOf(ExpectedFolder() + name + ".trace"))
    {
        std::swap(*opened_.namer, static_cast<site_namer &>(names_));
        if (traces_.size() == 1)
            one_ = std::make_unique<One>(&First()->source, opened_.namer);
    }
    ~ShownTrace()
    {
        std::swap(*opened_.namer, static_cast<site_namer &>(names_));
    }
    ShownTrace(const ShownTrace &) = delete;

    /* Of what people read, these are all that there are of it. */
    std::vector<std::string> TextViews() const
    {
        std::vector<std::string> views = {"text", "screen of 40 rows", "screen of 24 rows", "repair", "repair, all"};
        if (one_ == nullptr)
            return views;
        views.insert(views.end(), {"summary", "what-if"});
        if (trace_has_time(&First()->report.trace) && definitions_stream(&First()->report.trace.defs, 1) != nullptr)
            views.push_back("details");
        return views;
    }
    /* As it is written, but for names of this run and of this build. */
    std::string View(const std::string &view)
    {
        if (view == "baseline")
            return Anonymous(Baseline(opened_), opened_);
        if (view == "page")
            return Anonymous(one_ != nullptr ? Page(&First()->source, opened_.namer) : PageOfMany(traces_), opened_);
        return Anonymous(one_ != nullptr ? OfOne(view) : OfMany(view), opened_);
    }
    std::string Export(const std::string &format)
    {
        bool edges = format == "sqlite" || format == "perfetto";
        return opened_.Export(format, edges ? edge_feed_of_build() : nullptr, format == "sarif" ? "/src/app" : nullptr);
    }
    const Opened &opened() const
    {
        return opened_;
    }
    bool several() const
    {
        return one_ == nullptr;
    }

private:
    const struct traced *First() const
    {
        return opened_.traces.list.items[0];
    }
    std::string OfOne(const std::string &view) const
    {
        if (view == "summary")
            return one_->Put(report_summary);
        if (view == "text")
            return one_->Put(report_text);
        if (view == "details")
            return Selected(&First()->source, opened_.namer);
        if (view == "repair" || view == "repair, all")
            return one_->Repair(view == "repair" ? 2 : SIZE_MAX).first;
        if (view == "json")
            return one_->Repair(2).second;
        if (view == "what-if")
            return one_->WhatIf().first;
        if (view == "what-if as JSON")
            return one_->WhatIf().second;
        return one_->Screen(view == "screen of 24 rows" ? 24 : 40);
    }
    std::string OfMany(const std::string &view)
    {
        TextOf out;
        if (view == "text")
            many_text(&opened_.traces, &opened_.folds, opened_.namer, &out);
        else if (view.find("repair") == 0 || view == "json")
            return RepairOfMany(view == "json", view == "repair, all" ? SIZE_MAX : 2);
        else
            many_screen(&opened_.traces, &opened_.folds, opened_.namer, view == "screen of 24 rows" ? 24 : 40, &out);
        return out.text;
    }
    std::string RepairOfMany(bool json, size_t most)
    {
        struct repairs repairs;
        TextOf out;
        EXPECT_EQ(0, merge_traces_repairs(&repairs, &opened_.traces, ORDER_PER_THREAD));
        if (json)
            EXPECT_EQ(0, report_json_many_repaired(&opened_.traces, &opened_.folds, &repairs, opened_.namer, &out));
        else
            repair_text_many(&repairs, &opened_.traces, opened_.namer, most, &out);
        merge_traces_end(&repairs);
        return out.text;
    }

    std::vector<std::string> traces_;
    Opened opened_{traces_};
    Names names_{opened_.namer->data};
    std::unique_ptr<One> one_;
};

/* Every trace of shown/. */
inline std::vector<std::string> ShownTraces()
{
    std::vector<std::string> names;
    for (const auto &file : std::filesystem::directory_iterator(ExpectedFolder()))
        if (file.path().extension() == ".trace")
            names.push_back(file.path().stem());
    std::sort(names.begin(), names.end());
    return names;
}

} // namespace ptds

#endif
