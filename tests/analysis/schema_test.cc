// SPDX-License-Identifier: Apache-2.0
//
// The JSON reports of real traces against the schema that `ptds report --schema` prints, and a broken one, so that the
// validator is known to look. Skipped where Python has no jsonschema.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>

#include "analysis/model/model.h"
#include "analysis/repair/merge_traces.h"
#include "analysis/repair/repair.h"
#include "analysis/report/report.h"
#include "analysis/rules/registry.h"
#include "analysis/views/json/json_schema.h"
#include "analysis/views/text/many_text.h"
#include "analysis/views/json/report_json.h"
#include "tests/analysis/exported.h"
#include "tests/analysis/page_support.h"

namespace ptds
{
namespace
{

/* Debian's own Python: another one may have other modules. */
int Validate(const std::string &files)
{
    TextOf schema;
    EXPECT_EQ(0, json_schema(&schema));
    std::string path = WriteTemporary(schema.text);
    int status = system(("/usr/bin/python3 tests/analysis/validate.py " + path + " " + files).c_str());
    unlink(path.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define NEEDS_A_VALIDATOR() \
    if (Validate("") == 77) \
    GTEST_SKIP() << "no jsonschema here: install Debian's python3-jsonschema (scripts/setup does)"

std::string Json(const struct report *report)
{
    TextOf out;
    EXPECT_EQ(0, report_json(report, nullptr, &out));
    return out.text;
}

class Files
{
public:
    ~Files()
    {
        for (const std::string &path : paths_)
            unlink(path.c_str());
    }

    void Add(const std::string &text)
    {
        paths_.push_back(WriteTemporary(text));
        all += " " + paths_.back();
    }

    std::string all;

private:
    std::vector<std::string> paths_;
};

TEST(Schema, HoldsForEveryRulesTraces)
{
    NEEDS_A_VALIDATOR();
    const rule *rules[RULES_MOST];
    Files files;
    for (size_t i = 0, count = registry_all(rules); i < count; i++)
        for (const char *text : {rules[i]->bad, rules[i]->good})
            files.Add(Json(Built(BuildTrace(text)).get()));
    EXPECT_EQ(0, Validate(files.all));
}

TEST(Schema, HoldsWhereThingsAreMissing)
{
    NEEDS_A_VALIDATOR();
    Files files;
    files.Add(Json(Built(TraceBuilder().Bytes()).get()));
    TraceBuilder timeless;
    timeless.header.clock = PTDS_CLOCK_TSC;
    timeless.header.clean_end = 0;
    timeless.header.recycled = 3;
    timeless.Lost(1, 12);
    timeless.Call(CallSpec());
    files.Add(Json(Built(timeless.Bytes()).get()));
    std::string damaged = BuildTrace("1@0 launch s=L k=a\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4\n");
    damaged.resize(damaged.size() - PTDS_CHUNK_SIZE / 2);
    damaged[TraceBuilder().header.header_size + PTDS_CHUNK_SIZE + sizeof(ptds_chunk) + 2] = 3;
    files.Add(Json(Built(damaged).get()));
    EXPECT_EQ(0, Validate(files.all));
}

TEST(Schema, HoldsWithARepair)
{
    NEEDS_A_VALIDATOR();
    Built built(BuildTrace("setting policy=observe\n1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n"
                           "1@2+1 alloc-host ptr=0x900000 bytes=4096 m=H\n1@10 memset s=L dst=A bytes=64\n"
                           "2@20 copy s=L src=A dst=H to=pinned bytes=64\n3@30+5 sync s=L\n3@50 launch s=L k=k args=A\n"));
    struct repair repair;
    TextOf out;
    EXPECT_EQ(0, repair_of(&repair, built.get(), ORDER_PER_THREAD));
    EXPECT_EQ(2u, repair.places.count);
    EXPECT_EQ(0, report_json_repaired(built.get(), &repair, nullptr, &out));
    repair_end(&repair);
    Files files;
    files.Add(out.text);
    EXPECT_EQ(0, Validate(files.all));
    EXPECT_NE(std::string::npos, out.text.find("\"wait\": \"host_after\"")) << out.text;
    EXPECT_NE(std::string::npos, out.text.find("\"certainty\": \"needed\"")) << out.text;
}

TEST(Schema, HoldsWithEdgesSequencesAndASelection)
{
    NEEDS_A_VALIDATOR();
    std::string text;
    for (unsigned i = 0; i < 4; i++) {
        text += "1@" + std::to_string(i * 3000) + " launch s=L k=a\n";
        text += "1@" + std::to_string(i * 3000 + 10) + "+1000 copy s=L implicit from=device to=pageable bytes=4 site=x\n";
        text += "1@" + std::to_string(i * 3000 + 1020) + " launch s=L k=a\n";
        text += "1@" + std::to_string(i * 3000 + 1500) + "+1000 copy s=L implicit from=device to=pageable bytes=4 site=y\n";
    }
    MemoryTrace trace(BuildTrace(text));
    std::vector<struct edge> edges = {Edge(EDGE_HOST, VERDICT_MAYBE_NEEDED, 0, 1, 1, 10, 1, 0),
                                      Edge(EDGE_FAN_IN, VERDICT_NEEDED, 0, 1, 2, 10, 1, 1)};
    edges[1].pair = {edges[1].from, edges[1].to, ACCESS_WRITE, ACCESS_UNKNOWN, 0x1000, 16, 3, true, false, false, false};
    struct selection selection = {};
    selection.thread = "1";
    selection.has_to = true;
    selection.to_ns = 1000000000;
    std::unique_ptr<struct report> report(new struct report);
    char error[TRACE_ERROR_SIZE];
    ASSERT_EQ(0, report_build_watched(report.get(), trace.source(), &selection, nullptr, error)) << error;
    Judge(report.get(), edges);
    EXPECT_EQ(2u, report->edges.groups.count);
    EXPECT_EQ(1u, report->sequences.count);
    Files files;
    files.Add(Json(report.get()));
    EXPECT_EQ(0, Validate(files.all));
    report_end(report.get());
}

TEST(Schema, HoldsForSeveralProcesses)
{
    NEEDS_A_VALIDATOR();
    const rule *rules[RULES_MOST];
    std::vector<std::string> traces = {TraceBuilder().Bytes()};
    for (size_t i = 0, count = registry_all(rules); i < count; i++)
        traces.push_back(BuildTrace(rules[i]->bad));
    Opened opened(traces);
    TextOf json;
    ASSERT_EQ(0, report_json_many(&opened.traces, &opened.folds, opened.namer, &json));
    TextOf repaired;
    struct repairs repairs;
    ASSERT_EQ(0, merge_traces_repairs(&repairs, &opened.traces, ORDER_PER_THREAD));
    EXPECT_NE(0u, repairs.all.places.count);
    ASSERT_EQ(0, report_json_many_repaired(&opened.traces, &opened.folds, &repairs, opened.namer, &repaired));
    merge_traces_end(&repairs);
    Files files, broken;
    files.Add(json.text);
    files.Add(repaired.text);
    EXPECT_EQ(0, Validate(files.all));
    json.text.replace(json.text.find("\"values_of_process\""), 19, "\"values_of_nobody\"");
    broken.Add(json.text);
    EXPECT_EQ(1, Validate(broken.all + " >/dev/null"));
}

TEST(Schema, ABrokenReportIsRefused)
{
    NEEDS_A_VALIDATOR();
    std::string text = Json(Built(BuildTrace("1@0 launch s=N1 k=a\n")).get());
    Files fewer, more, zero;
    std::string without = text, with = text, unknown = text;
    without.replace(text.find("\"completeness\""), 14, "\"completion\"");
    with.replace(text.find("\"rules\""), 7, "\"invented\": 1, \"rules\"");
    unknown.replace(text.find("\"sequences\": []"), 15, "\"sequences\": 0");
    fewer.Add(without);
    more.Add(with);
    zero.Add(unknown);
    for (const Files *files : {&fewer, &more, &zero})
        EXPECT_EQ(1, Validate(files->all + " >/dev/null"));
}

} // namespace
} // namespace ptds
