// SPDX-License-Identifier: Apache-2.0
//
// One report, many forms: the screen, the text, the summary, JSON, the page, SARIF, SQLite, folded stacks and checks say
// the same verdict, severities and counts of the same trace. Literals, so that no shared word can be wrong everywhere at
// once.
#include <jansson.h>
#include <sqlite3.h>

#include <map>
#include <sstream>

#include "analysis/base/sink.h"
#include "analysis/check/conditions.h"
#include "analysis/check/failed_edges.h"
#include "analysis/report/edges/edge_feed.h"
#include "analysis/views/html/report_html.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/text/report_screen.h"
#include "analysis/views/text/report_summary.h"
#include "tests/analysis/exported.h"

namespace ptds
{
namespace
{

using Counts = std::map<std::string, long long>;

struct Sample {
    const char *name, *trace;
    const char *verdict; /* as JSON has it */
    const char *words;   /* as people read it */
    Counts orders;       /* of all implicit orders, by JSON's key */
};

void PrintTo(const Sample &sample, std::ostream *out)
{
    *out << sample.name;
}

#define MEMORY "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
#define HANDED \
    "1@3 memset s=L target=P1 bytes=64 dst=A site=writes\n" \
    "2@4 copy s=L target=P2 bytes=64 src=A site=reads\n"

const Sample samples[] = {
    {"nothing", "1@0 launch s=N1 k=a site=a\n", "right", "Right: no order that a result needs was missing", {}},
    {"kept",
     "setting policy=observe\n" MEMORY "1@3 memset s=B1 bytes=64 dst=A site=writes\n"
     "1@4 copy s=L bytes=64 src=A site=reads\n1@5 launch s=B1 k=_Z5emptyv site=free\n",
     "right",
     "Right: no order that a result needs was missing",
     {{"needed", 1}, {"not_needed", 1}}},
    {"taken away",
     "setting policy=per-thread\n" MEMORY HANDED,
     "wrong",
     "WRONG: #1 order-given-up, results need this order, and it is gone",
     {{"needed", 1}}},
    {"kept by the policy",
     "setting policy=guarded\n" MEMORY HANDED,
     "right",
     "Right: no order that a result needs was missing",
     {{"needed", 1}}},
    {"perhaps taken away",
     "setting policy=per-thread\n" MEMORY "1@3 launch s=L to=P1 k=user args=A site=one\n"
     "2@4 launch s=L to=P2 k=user args=A site=two\n",
     "may-be-wrong",
     "May be wrong: #1 order-given-up, results may need this order, and it is gone",
     {{"maybe_needed", 1}}},
    {"half remapped",
     "setting policy=stream\n1@0 launch s=L to=N1 k=a site=moved\n1@1 launch s=L k=b explicit site=stayed\n",
     "may-be-wrong",
     "May be wrong: #1 half-remapped, default-stream work that stayed behind",
     {{"not_needed", 1}}},
    {"capture",
     "1@0 capture-begin s=N1\n1@10 launch s=N1 k=a capturing capture-open\n"
     "1@20 launch s=L k=forgotten capture-open site=forgotten\n1@30 capture-end s=N1\n",
     "may-be-wrong",
     "May be wrong: #1 capture-conflict, work in the way of an open stream capture",
     {}},
    {"overtaken",
     "1@0 alloc-host m=H ptr=0x30000 bytes=4096\n" MEMORY "1@1 copy s=B1 src=A dst=H to=pinned bytes=64 site=back\n"
     "1@2 copy s=L src=H from=pinned dst=A bytes=64 site=overtakes\n",
     "wrong",
     "WRONG: #1 small-copy, a copy overtakes what writes its source",
     {{"needed", 1}}},
    {"nothing of it recorded",
     "setting policy=guarded\nrefused\nlost 1@0 launch s=L k=a\nlost 1@10 sync s=L\ncount 1 cuLaunchKernel 10 0 9 20\n",
     "unknown",
     "Not known whether right: no driver call was recorded",
     {}},
    {"held",
     "1@0 launch s=N1 k=a\n1@10+3 sync s=N1\n1@100+3000 module-load site=load\n"
     "2@200+2900 copy s=N2 from=device to=pinned src=0x10000 ptr=0x7f0000000000 bytes=64 site=held\n",
     "right",
     "Right, for what the calls show (1 copy nobody waited for: pinned-reuse)",
     {}},
    {"costs",
     "1@0 launch s=N1 k=a\n1@10+5000 copy s=N1 from=device to=pageable bytes=4 site=much\n"
     "1@5100 launch s=N1 k=a\n1@20000+3 sync s=N1\n1@30000 launch s=N1 k=a\n"
     "1@30010+80 copy s=N1 from=device to=pageable bytes=4 site=little\n"
     "1@30100 launch s=N1 k=a\n1@100000+3 sync s=N1\n",
     "right",
     "Right: no order that a result needs was missing",
     {}},
};

bool Has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

std::string Text(json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text != nullptr ? text : "(null)";
}

long long Number(json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

Counts CountsOf(json_t *object)
{
    Counts counts;
    for (const char *key : {"needed", "maybe_needed", "not_needed"})
        if (Number(object, key) != 0)
            counts[key] = Number(object, key);
    return counts;
}

/* An order that the policy took away, and that two operations prove was needed: what a finding's "!!" stands for. */
bool IsGone(json_t *finding)
{
    return Text(finding, "doubt") == "wrong" && Text(finding, "rule") == "order-given-up";
}

/* "1 needed, 1 not needed" */
std::string Words(const Counts &counts)
{
    std::string words;
    for (auto [key, word] : {std::pair("needed", "needed"), {"maybe_needed", "maybe needed"}, {"not_needed", "not needed"}})
        if (counts.count(key) != 0)
            words += (words.empty() ? "" : ", ") + std::to_string(counts.at(key)) + " " + word;
    return words.empty() ? "none" : words;
}

/* All call sites have a line of their own in a source that there is. */
struct Sources : site_namer {
    explicit Sources(void *real)
    {
        data = real;
        name = [](site_namer *, const object_def *, uint64_t, char *, size_t) { return false; };
        trouble = [](site_namer *, const object_def *) -> const char * { return nullptr; };
        places = [](site_namer *, const object_def *, uint64_t pc, site_place *out, size_t) -> size_t {
            *out = {};
            strcpy(out->file, "/src/app/main.cc");
            out->line = static_cast<int>(pc & 0xffffff);
            return 1;
        };
    }
};

class Agree : public ::testing::TestWithParam<Sample>
{
protected:
    Agree() : opened({BuildTrace(GetParam().trace)}), report(&opened.traces.list.items[0]->report)
    {
        document = report_json_document(report, nullptr, nullptr);
        findings = json_object_get(document, "findings");
    }
    ~Agree()
    {
        json_decref(document);
    }

    std::string Put(void (*form)(const struct report *, struct site_namer *, struct text_sink *))
    {
        TextOf out;
        form(report, nullptr, &out);
        return out.text;
    }

    std::string Orders() const
    {
        return GetParam().verdict == std::string("unknown") ? "not analysed" : Words(GetParam().orders);
    }

    /* The part of the text report that is about one finding. */
    std::string Section(const std::string &text, size_t number)
    {
        size_t from = text.find("\n#" + std::to_string(number) + " ");
        EXPECT_NE(std::string::npos, from) << text;
        return from != std::string::npos ? text.substr(from, text.find("\n\n", from + 1) - from) : "";
    }

    Opened opened;
    const struct report *report;
    json_t *document, *findings;
};

TEST_P(Agree, JsonSaysWhatTheSampleIs)
{
    json_t *outcome = json_object_get(document, "outcome");
    EXPECT_EQ(GetParam().verdict, Text(outcome, "verdict"));
    EXPECT_EQ(GetParam().words, Text(outcome, "text"));
    EXPECT_EQ(GetParam().orders, CountsOf(json_object_get(json_object_get(document, "edges"), "by_verdict")));
    EXPECT_EQ(json_array_size(findings), report->findings.count);
}

TEST_P(Agree, TheTextReport)
{
    std::string text = Put(report_text);
    EXPECT_TRUE(Has(text, std::string("\n") + GetParam().words + "\n")) << text;
    EXPECT_TRUE(Has(text, "  implicit orders      " + Orders())) << text;
    size_t i;
    json_t *finding;
    json_array_foreach(findings, i, finding)
    {
        std::string section = Section(text, i + 1);
        EXPECT_TRUE(Has(section, " " + Text(finding, "rule") + ": ")) << section;
        EXPECT_TRUE(Has(section, "    severity              " + Text(finding, "severity") + ",")) << section;
        EXPECT_TRUE(Has(section, ", " + std::to_string(Number(finding, "count")) + " time")) << section;
        json_t *verdicts = json_object_get(finding, "verdicts");
        if (json_is_object(verdicts)) {
            EXPECT_TRUE(Has(section, "    implicit orders here  " + Words(CountsOf(verdicts)) + "\n")) << section;
        }
        EXPECT_EQ(IsGone(finding), Has(section, "    !! ")) << section;
        EXPECT_EQ(json_is_object(json_object_get(finding, "pair")), Has(section, "    the pair ")) << section;
    }
}

TEST_P(Agree, TheFirstScreen)
{
    TextOf out;
    report_screen(report, nullptr, 40, &out);
    const std::string &screen = out.text;
    EXPECT_TRUE(Has(screen, std::string("\n") + GetParam().words + "\n")) << screen;
    EXPECT_TRUE(Has(screen, "\nImplicit orders: " + Orders())) << screen;
    json_t *entries = json_object_get(document, "entries"), *entry;
    size_t i, shown = 0;
    json_array_foreach(entries, i, entry)
    {
        size_t number = static_cast<size_t>(Number(entry, "finding"));
        json_t *finding = json_array_get(findings, number - 1);
        EXPECT_TRUE(json_is_null(json_object_get(finding, "folded")));
        size_t at = screen.find("\n#" + std::to_string(number) + " ");
        if (at == std::string::npos)
            continue;
        shown++;
        std::string line = screen.substr(at + 1, screen.find('\n', at + 1) - at - 1);
        EXPECT_TRUE(Has(line, " " + Text(finding, "rule") + " ")) << line;
        EXPECT_TRUE(Has(line, " " + std::to_string(Number(entry, "calls")) + "x  " + Text(finding, "severity"))) << line;
    }
    EXPECT_EQ(json_array_size(entries) < 5 ? json_array_size(entries) : 5u, shown) << screen;
    json_t *causes = json_object_get(document, "causes"), *cause;
    json_array_foreach(causes, i, cause) EXPECT_TRUE(
        Has(screen, i < report->sums.above ? "\n  " + Text(cause, "text") + "\n" : " " + Text(cause, "cause")))
        << screen;
    EXPECT_TRUE(Has(screen, "\nNext: ptds ")) << screen;
}

TEST_P(Agree, TheSummaryAtExit)
{
    std::string summary = Put(report_summary);
    long long shown = Number(json_object_get(document, "outcome"), "finding");
    bool error = shown != 0 && Text(json_array_get(findings, static_cast<size_t>(shown - 1)), "severity") == "error";
    bool safe = Has(summary, " moved, results safe (no order that a result needs was missing)\n");
    EXPECT_TRUE(safe ? Text(json_object_get(document, "outcome"), "text") == GetParam().words
                     : Has(summary, std::string("ptds: ") + (error ? "!! " : "") + GetParam().words + "\n"))
        << summary;
    std::map<std::string, long long> by_rule;
    size_t i;
    json_t *finding;
    json_array_foreach(findings, i, finding) if (json_is_null(json_object_get(finding, "folded")))
        by_rule[Text(finding, "rule")] += Number(finding, "count");
    if (Has(summary, "how much faster: ") ||
        Has(summary, "; nothing to gain: ")) { /* which has one finding, and the number of all */
        size_t at = summary.find("ptds: next to mend: ");
        ASSERT_EQ(by_rule.empty(), at == std::string::npos) << summary;
        std::string rule = at == std::string::npos ? "" : summary.substr(at + 20, summary.find(',', at) - at - 20);
        EXPECT_TRUE(by_rule.empty() || by_rule.count(rule) == 1) << rule << "\n" << summary;
        return;
    }
    for (auto &[rule, count] : by_rule) {
        size_t at = summary.find("ptds:  " + rule + " ");
        ASSERT_NE(std::string::npos, at) << rule << "\n" << summary;
        EXPECT_TRUE(Has(summary.substr(at, 50), " " + std::to_string(count) + "x ")) << summary;
    }
}

TEST_P(Agree, ThePageHoldsTheSameReport)
{
    struct timeline timeline;
    struct edge_list edges;
    timeline_begin(&timeline, TIMELINE_MOST);
    timeline_decide(&timeline);
    edge_list_begin(&edges);
    TextOf out;
    EXPECT_EQ(0, report_html(report, &timeline, &edges, nullptr, &out));
    timeline_end(&timeline);
    edge_list_end(&edges);
    auto part = [&out](const std::string &id) {
        size_t from = out.text.find("id=\"" + id + "\">");
        from = out.text.find('>', from) + 1;
        return json_loads(out.text.substr(from, out.text.find("</script>", from) - from).c_str(), 0, nullptr);
    };
    json_t *in_page = part("data-report"), *tables = part("data-tables");
    EXPECT_EQ(1, json_equal(document, in_page));
    EXPECT_STREQ("not needed", json_string_value(json_array_get(json_object_get(tables, "verdicts"), 0)));
    json_t *said = json_object_get(tables, "findings");
    for (size_t i = 0; i < json_array_size(findings); i++) {
        json_t *finding = json_array_get(findings, i);
        EXPECT_EQ(IsGone(finding), Text(json_array_get(said, i), "needed") == "results need this order, and it is gone");
    }
    json_decref(in_page);
    json_decref(tables);
}

TEST_P(Agree, Sarif)
{
    Sources sources(opened.namer->data);
    std::swap(*opened.namer, static_cast<site_namer &>(sources));
    std::string text = TakeFile(opened.Export("sarif", nullptr, "/src/app"));
    std::swap(*opened.namer, static_cast<site_namer &>(sources));
    json_t *root = json_loads(text.c_str(), 0, nullptr), *run = json_array_get(json_object_get(root, "runs"), 0);
    json_t *outcome = json_array_get(json_object_get(json_object_get(run, "properties"), "outcomes"), 0);
    EXPECT_EQ(GetParam().verdict, Text(outcome, "verdict")) << text;
    EXPECT_EQ(GetParam().words, Text(outcome, "text"));
    size_t i, found = 0;
    json_t *result, *results = json_object_get(run, "results"), *finding;
    json_array_foreach(results, i, result)
    {
        json_t *properties = json_object_get(result, "properties");
        std::string id = Text(json_object_get(result, "partialFingerprints"), "ptdsFindingId/v1");
        size_t j;
        json_array_foreach(findings, j, finding)
        {
            if (id != Text(finding, "id"))
                continue;
            found++;
            EXPECT_EQ(Text(finding, "rule"), Text(result, "ruleId"));
            EXPECT_EQ(Text(finding, "severity"), Text(properties, "severity"));
            EXPECT_EQ(Text(finding, "severity"), Text(result, "level"));
            EXPECT_EQ(Text(finding, "doubt"), Text(properties, "doubt"));
            EXPECT_EQ(Number(finding, "count"), Number(properties, "count"));
            EXPECT_EQ(1, json_equal(json_object_get(finding, "verdicts"), json_object_get(properties, "verdicts")));
        }
    }
    EXPECT_EQ(json_array_size(results), found);
    json_array_foreach(findings, i, finding) found -= json_array_size(json_object_get(finding, "callsite")) != 0;
    EXPECT_EQ(0u, found) << "every finding with a call site is there";
    json_decref(root);
}

TEST_P(Agree, Sqlite)
{
    std::string path = opened.Export("sqlite", edge_feed_of_build());
    sqlite3 *database = nullptr;
    ASSERT_EQ(SQLITE_OK, sqlite3_open(path.c_str(), &database));
    Counts counts;
    auto row = [](void *data, int, char **values, char **) {
        (*static_cast<Counts *>(data))[values[0]] = std::stoll(values[1]);
        return 0;
    };
    sqlite3_exec(database, "SELECT verdict, count(*) FROM PTDS_EDGE GROUP BY verdict", row, &counts, nullptr);
    EXPECT_EQ(GetParam().orders, counts);
    Counts outcome, severities, expected;
    sqlite3_exec(database, "SELECT outcome, 1 FROM PTDS_PROCESS", row, &outcome, nullptr);
    EXPECT_EQ(Counts({{GetParam().verdict, 1}}), outcome);
    Counts blocked, waited;
    sqlite3_exec(database, "SELECT 'ns', coalesce(blocked_ns, -1) FROM PTDS_PROCESS", row, &blocked, nullptr);
    json_t *known = json_object_get(json_object_get(document, "totals"), "blocked_ns");
    EXPECT_EQ(Counts({{"ns", json_is_null(known) ? -1 : json_integer_value(known)}}), blocked);
    sqlite3_exec(database, "SELECT 'ns', coalesce(sum(lost_ns), 0) FROM PTDS_CALL", row, &waited, nullptr);
    EXPECT_EQ(Counts({{"ns", json_integer_value(known)}}), waited) << "call by call";
    sqlite3_exec(database, "SELECT severity, sum(count) FROM PTDS_FINDING GROUP BY severity", row, &severities, nullptr);
    size_t i;
    json_t *finding;
    json_array_foreach(findings, i, finding) expected[Text(finding, "severity")] += Number(finding, "count");
    EXPECT_EQ(expected, severities);
    sqlite3_close(database);
    unlink(path.c_str());
}

TEST_P(Agree, FoldedStacksAddUpToWhatIsBlocked)
{
    std::istringstream lines(TakeFile(opened.Export("folded")));
    long long all = 0;
    for (std::string line; std::getline(lines, line);)
        all += std::stoll(line.substr(line.rfind(' ')));
    EXPECT_EQ(Number(json_object_get(document, "totals"), "blocked_ns"), all);
}

TEST_P(Agree, ChecksFailOnTheSameOrdersAndFindings)
{
    for (const char *key : {"needed", "maybe_needed", "not_needed"}) {
        char error[CHECK_ERROR_SIZE] = "";
        conditions conditions = {};
        ASSERT_TRUE(conditions_add(&conditions, (std::string("verdict=") + key).c_str(), error)) << error;
        failed_edges check = {};
        ASSERT_TRUE(failed_edges_look(&check, &conditions, report, 0));
        uint64_t broken = 0;
        for (size_t i = 0; i < check.breaks.count; i++)
            broken += check.breaks.items[i].count;
        EXPECT_EQ(GetParam().orders.count(key) != 0 ? GetParam().orders.at(key) : 0, static_cast<long long>(broken)) << key;
        failed_edges_free(&check);
        conditions_free(&conditions);
    }
    conditions any = {};
    any.any = true;
    size_t failing = 0, shown = 0, i;
    json_t *finding;
    for (i = 0; i < opened.folds.list.count; i++) {
        candidate found = conditions_candidate(&opened.folds.list.items[i], 1);
        failing += conditions_meet(&any, &found);
    }
    json_array_foreach(findings, i, finding) shown += json_is_null(json_object_get(finding, "folded"));
    EXPECT_EQ(shown, failing);
}

std::string Named(const ::testing::TestParamInfo<Sample> &sample)
{
    std::string name = sample.param.name;
    for (char &letter : name)
        letter = letter == ' ' ? '_' : letter;
    return name;
}

INSTANTIATE_TEST_SUITE_P(Every, Agree, ::testing::ValuesIn(samples), Named);

} // namespace
} // namespace ptds
