// SPDX-License-Identifier: Apache-2.0
//
// Whole outputs: what a view or an export makes of some five traces: a large one, a small or an empty one, a damaged one,
// one of several processes. A trace, shown/NAME.trace, says at its top what it is about; shown/VIEW.shown holds what is to
// be seen of some. shown/lines.shown has the lines of other traces that are of a kind which no whole output has. What is
// in the views of all traces, whatever its words: shown_facts_test.cc.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "analysis/views/json/json_schema.h"
#include "analysis/findings/rule.h"
#include "tests/analysis/line_kinds.h"
#include "tests/analysis/shown_views.h"
#include "tests/support/expected.h"

namespace ptds
{
namespace
{

struct Snapshot {
    const char *file; /* in shown/ */
    const char *view;
    std::vector<const char *> traces;
};

void PrintTo(const Snapshot &snapshot, std::ostream *out)
{
    *out << snapshot.file;
}

const std::vector<Snapshot> snapshots = {
    {"summary", "summary", {"nothing", "lacking", "observed", "timed", "wrong", "full"}},
    {"screen", "screen of 40 rows", {"nothing", "lacking", "observed", "wrong", "ranks"}},
    {"screen_small", "screen of 24 rows", {"unseen", "late", "full", "gains"}},
    {"text", "text", {"nothing", "lacking", "damaged", "late", "damaged_ranks"}},
    {"text_large", "text", {"observed"}},
    {"details", "details", {"unseen", "damaged", "timed", "guarded"}},
    {"repair", "repair", {"nothing", "one", "observed", "many", "gains"}},
    {"what_if", "what-if", {"nothing", "lacking", "observed", "long", "damaged"}},
    {"what_if_json", "what-if as JSON", {"nothing", "late"}},
    {"json", "json", {"nothing", "twice_unseen"}},
    {"json_large", "json", {"one"}},
    {"page", "page", {"one", "twice_unseen"}},
    {"baseline", "baseline", {"nothing", "observed", "odd"}},
    {"folded", "folded", {"nothing", "observed", "odd", "wrong", "ranks"}},
    {"sarif", "sarif", {"unseen", "partly", "late"}},
    {"sqlite", "sqlite", {"nothing", "odd"}},
    {"perfetto", "perfetto", {"nothing", "late", "odd"}},
};

/* first: with what is the same in every file. */
std::string Seen(ShownTrace *trace, const std::string &view, bool first)
{
    if (view == "sarif")
        return Anonymous(SarifText(TakeFile(trace->Export(view))), trace->opened());
    if (view == "folded")
        return Anonymous(TakeFile(trace->Export(view)), trace->opened());
    if (view == "sqlite")
        return Anonymous(DatabaseText(trace->Export(view), first), trace->opened());
    if (view == "perfetto")
        return Anonymous(PerfettoText(TakeFile(trace->Export(view))), trace->opened());
    if (view == "page")
        return PageText(trace->View(view));
    return view.find("json") != std::string::npos || view.find("JSON") != std::string::npos ? JsonText(trace->View(view))
                                                                                            : trace->View(view);
}

class Shown : public testing::TestWithParam<Snapshot>
{
};

TEST_P(Shown, IsAllOfThis)
{
    std::string seen;
    for (const char *name : GetParam().traces) {
        ShownTrace trace(name);
        seen += std::string("===== ") + name + "\n" + Seen(&trace, GetParam().view, seen.empty());
    }
    ExpectAllOf(ExpectedFolder() + GetParam().file + ".shown", seen);
}

INSTANTIATE_TEST_SUITE_P(Views, Shown, testing::ValuesIn(snapshots),
                         [](const testing::TestParamInfo<Snapshot> &one) { return std::string(one.param.file); });

/* What SARIF says of rules is in it as a whole (sarif_rules.shown). */
TEST(ShownAlways, LinesOfOtherKinds)
{
    std::set<std::string> kinds, said;
    std::map<std::string, std::string> lines;
    const rule *rules[RULES_MOST];
    std::vector<std::string> traces; /* each rule's own, and told/'s: of these only cases and the like */
    for (size_t i = 0, count = registry_all(rules); i < count; i++) {
        said.insert(std::string("    ") + rules[i]->sentence);
        said.insert(std::string("    Advice: ") + rules[i]->advice);
        traces.push_back(rules[i]->bad);
    }
    auto is_new = [&](const std::string &line) {
        size_t indent = line.find_first_not_of(' ');
        bool goes_on = indent > 4 && indent != 23 && indent < line.size() && line.compare(indent, 6, "with #") != 0;
        return said.count(line) == 0 && !goes_on && kinds.insert(KindOf(line)).second;
    };
    for (const Snapshot &snapshot : snapshots)
        for (const char *name : snapshot.traces) {
            ShownTrace trace(name);
            std::vector<std::string> views = trace.TextViews();
            if (std::count(views.begin(), views.end(), snapshot.view) != 0)
                for (const std::string &line : lines_of(trace.View(snapshot.view)))
                    is_new(line);
        }
    for (const std::string &name : ShownTraces()) {
        ShownTrace trace(name);
        for (const std::string &view : trace.TextViews())
            for (const std::string &line : lines_of(trace.View(view)))
                lines[view] += is_new(line) ? line + "\n" : "";
        for (const std::string &line : lines_of(DatabaseText(trace.Export("sqlite"), false)))
            if (line.find("|left_out|") != std::string::npos)
                lines["sqlite"] += is_new(line) ? line + "\n" : "";
    }
    size_t own = traces.size();
    for (const auto &file : std::filesystem::directory_iterator(ExpectedFolder() + "../told/"))
        if (file.path().extension() == ".run")
            traces.push_back(read_file(file.path()));
    std::sort(traces.begin() + static_cast<std::ptrdiff_t>(own), traces.end());
    for (size_t i = 0; i < traces.size(); i++) {
        Opened opened({BuildTrace(traces[i].substr(0, traces[i].find("\n---\n")) + "\n")});
        Names names(nullptr);
        One one(&opened.traces.list.items[0]->source, &names);
        for (const std::string &line : lines_of(Anonymous(one.Put(report_text) + one.Screen(50), opened)))
            if (i < own || line.find("    case ") == 0 || line.find(", held up") != std::string::npos ||
                line.find(": nothing to save") != std::string::npos)
                lines["text, of others"] += is_new(line) ? line + "\n" : "";
    }
    std::string seen;
    for (const auto &[view, text] : lines)
        seen += "===== " + view + "\n" + text;
    ExpectAllOf(ExpectedFolder() + "lines.shown", seen);
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

/* What SARIF says of each rule, whatever is found. */
TEST(ShownAlways, TheRulesOfSarif)
{
    json_t *root = json_loads(TakeFile(ShownTrace("nothing").Export("sarif")).c_str(), 0, nullptr), *rule, *value;
    json_t *tool = json_object_get(json_array_get(json_object_get(root, "runs"), 0), "tool");
    std::string seen;
    const char *key;
    size_t i;
    json_array_foreach(json_object_get(json_object_get(tool, "driver"), "rules"), i, rule)
    {
        std::string words = "=====", texts;
        json_object_foreach(rule, key, value)
        {
            const char *text = json_string_value(json_object_get(value, "text"));
            char *other = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
            (text != nullptr ? texts : words) +=
                text != nullptr ? std::string(key) + ": " + text + "\n" : std::string(" ") + key + "=" + other;
            free(other);
        }
        const char *markdown = json_string_value(json_object_get(json_object_get(rule, "help"), "markdown"));
        seen += words + "\n" + texts + (i == 0 ? std::string(markdown) + "\n" : "");
    }
    json_decref(root);
    ExpectAllOf(ExpectedFolder() + "sarif_rules.shown", seen);
}

/* "integer>=0", "[frame]", "string|null": what a value may be, in a few characters. */
std::string SchemaWord(json_t *schema)
{
    const char *reference = json_string_value(json_object_get(schema, "$ref"));
    if (reference != nullptr)
        return strrchr(reference, '/') + 1;
    if (json_object_get(schema, "items") != nullptr)
        return "[" + SchemaWord(json_object_get(schema, "items")) + "]";
    std::string word, key;
    json_t *value, *part;
    const char *name;
    size_t i;
    json_object_foreach(schema, name, value)
    {
        key = name;
        if (key == "description" || key == "properties" || key == "required")
            continue;
        std::string parts;
        json_array_foreach(value, i, part) parts += (i != 0 ? "|" : "") + (json_is_object(part)   ? SchemaWord(part)
                                                                           : json_is_string(part) ? json_string_value(part)
                                                                                                  : "null");
        if (json_is_object(value))
            parts = SchemaWord(value);
        if (json_is_string(value))
            parts = json_string_value(value);
        if (json_is_integer(value) || json_is_boolean(value))
            parts = std::to_string(json_is_true(value) ? 1 : json_integer_value(value));
        word += key == "type" || key == "enum" ? parts : " " + key + "=" + parts;
    }
    return word;
}

/* A field a piece; one that may be missing ends in "?". */
TEST(ShownAlways, TheSchemaOfReports)
{
    TextOf out;
    std::string seen;
    EXPECT_EQ(0, json_schema(&out));
    json_t *schema = json_loads(out.text.c_str(), 0, nullptr), *definition, *field;
    const char *name, *key;
    json_object_foreach(json_object_get(schema, "$defs"), name, definition)
    {
        std::string line = std::string(name) + ": " + SchemaWord(definition);
        std::set<std::string> required;
        size_t i;
        json_array_foreach(json_object_get(definition, "required"), i, field) required.insert(json_string_value(field));
        json_object_foreach(json_object_get(definition, "properties"), key, field)
        {
            std::string piece = " " + std::string(key) + (required.count(key) != 0 ? ":" : "?:") + SchemaWord(field);
            size_t begin = line.rfind('\n') + 1;
            line += (line.size() - begin + piece.size() > 150 ? "\n   " : "") + piece;
        }
        seen += line + "\n";
    }
    json_object_del(schema, "$defs");
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
    std::vector<std::string> lines = lines_of(PageText(Page(trace.source(), nullptr)));
    EXPECT_EQ(1, std::count(lines.begin(), lines.end(), since_the_last));
}

} // namespace
} // namespace ptds
