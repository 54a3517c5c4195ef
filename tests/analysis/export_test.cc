// SPDX-License-Identifier: Apache-2.0
//
// Folded stacks and SARIF: what is known is there, what is not is left out and said.
#include "tests/analysis/exported.h"

#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <set>

#include <jansson.h>

#include "analysis/report/edges/edge_feed.h"
#include "analysis/views/export/export_formats.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

/* Half of it would look like all of it. */
TEST(Exports, FailWhereImplicitOrdersCannotBeJudged)
{
    Opened opened({BuildTrace(simple_trace)});
    edge_feed fails = {[](edge_feed *, const struct report *, edge_sink *) { return -1; }, nullptr};
    for (size_t i = 0; i < export_formats_count; i++) {
        std::string name = export_formats[i].name, path = WriteTemporary("");
        if (name != "perfetto" && name != "sqlite")
            continue;
        export_job job = {};
        job.traces = &opened.traces;
        job.folds = &opened.folds;
        job.namer = opened.namer;
        job.edges = &fails;
        job.all = true;
        job.path = path.c_str();
        job.out = export_formats[i].needs_path ? nullptr : fopen(path.c_str(), "w");
        EXPECT_NE(0, export_formats[i].write(&job)) << name;
        if (job.out != nullptr)
            fclose(job.out);
        unlink(path.c_str());
    }
}

TEST(Folded, WeighsStacksByLostHostTime)
{
    Opened opened({BuildTrace(simple_trace)});
    std::string folded = TakeFile(opened.Export("folded"));
    size_t space = folded.rfind(' ');
    ASSERT_NE(std::string::npos, space) << folded;
    EXPECT_EQ("prog (node1 pid 4242);prog 1;prog+0x8000;prog+0x20;cuMemcpyDtoH_v2", folded.substr(0, space));
    EXPECT_EQ(5000000 - 20000 - 512, std::stol(folded.substr(space))) << "less a quick call, and 4 KiB copied";
}

/* Of each line what is before its number. */
std::vector<std::string> StacksOf(const std::string &folded)
{
    std::vector<std::string> stacks;
    for (const std::string &line : lines_of(folded))
        stacks.push_back(line.substr(0, line.rfind(' ')));
    return stacks;
}

/* Two calls of one function are two call sites, and one stack of functions. Each thread has stacks of its own. */
TEST(Folded, NoStackComesTwice)
{
    Opened opened({BuildTrace("thread 2=reader\n"
                              "1@0 launch s=L k=a\n"
                              "1@10+2000 copy s=L implicit from=device to=pageable bytes=4 site=x\n"
                              "1@3000 launch s=L k=a\n"
                              "1@3010+3000 copy s=L implicit from=device to=pageable bytes=4 site=y\n"
                              "2@7000 launch s=L k=a\n"
                              "2@7010+1000 copy s=L implicit from=device to=pageable bytes=4 site=y\n")});
    opened.namer->places = [](site_namer *, const object_def *, uint64_t, site_place *out, size_t) -> size_t {
        *out = {};
        strcpy(out->function, "step");
        return 1;
    };
    std::string folded = TakeFile(opened.Export("folded"));
    std::vector<std::string> stacks = StacksOf(folded);
    ASSERT_EQ(2u, stacks.size()) << folded;
    EXPECT_EQ("prog (node1 pid 4242);prog 1;step;step;cuMemcpyDtoH_v2", stacks[0]);
    EXPECT_EQ("prog (node1 pid 4242);reader 2;step;step;cuMemcpyDtoH_v2", stacks[1]);
    EXPECT_EQ(1980000 + 2980000, std::stol(folded.substr(stacks[0].size()))) << "both waits";
}

TEST(Folded, IsEmptyWhereNothingWaited)
{
    Opened opened({BuildTrace("1@0 launch s=N1 k=a\n")});
    EXPECT_EQ("", TakeFile(opened.Export("folded")));
}

/* What the shim records; stacks that have a frame of its library are in identity_test.cc. */
TEST(Folded, RecordedStacksHaveNoFrameOfTheShim)
{
    for (const char *name : {"overlap", "mixed_threads", "mixed_streams", "stream_handover"}) {
        Opened opened({read_file(data_file(std::string("tests/analysis/recorded/") + name + ".ptds"))});
        std::vector<std::string> lines = lines_of(TakeFile(opened.Export("folded")));
        uint64_t blocked = 0;
        EXPECT_FALSE(lines.empty()) << name;
        std::vector<std::string> stacks = StacksOf(TakeFile(opened.Export("folded")));
        EXPECT_EQ(stacks.size(), std::set<std::string>(stacks.begin(), stacks.end()).size()) << name;
        for (const std::string &line : lines) {
            for (const char *ours : {"libptds", ";ptds_", "wrap_", ";begin;"})
                EXPECT_EQ(std::string::npos, line.find(ours)) << line;
            size_t call = line.find(";cu");
            ASSERT_NE(std::string::npos, call) << line;
            EXPECT_LT(line.find(';'), call) << "a call from somewhere: " << line;
            blocked += std::stoull(line.substr(line.rfind(' ')));
        }
        EXPECT_EQ(opened.traces.list.items[0]->report.totals.blocked_ns, blocked) << name << ": as the report has it";
    }
}

/* A namer for a program whose sources are known, but for what is inlined into its functions. */
struct Sources : site_namer {
    Sources()
    {
        name = [](site_namer *, const object_def *, uint64_t, char *, size_t) { return false; };
        trouble = [](site_namer *, const object_def *) -> const char * { return nullptr; };
        places = [](site_namer *, const object_def *, uint64_t pc, site_place *out, size_t most) -> size_t {
            size_t more = most < 3 ? 0 : 2;
            std::fill_n(out, more + 1, site_place{});
            if (more != 0) {
                strcpy(out[0].function, "inlined_from_nowhere");
                strcpy(out[1].file, "/src/app/no_line.cc");
                out += more;
            }
            strcpy(out->function, pc == 0x408000 ? "main" : "copy_back");
            strcpy(out->file, pc == 0x408000 ? "/src/app/main.cc" : "/src/other/copy back.cc");
            if (relative != nullptr)
                strcpy(out->file, pc == 0x408000 ? "./nptl/start.c" : relative);
            out->line = pc == 0x408000 ? 12 : 34;
            return more + 1;
        };
    }
    static inline const char *relative = nullptr; /* of the function that copies */
};

class Sarif
{
public:
    Sarif(const std::string &bytes, const char *source_root, bool all = true)
    {
        Opened opened({bytes});
        site_namer *real = opened.namer;
        Sources sources;
        sources.data = real->data;
        std::swap(real->places, sources.places);
        text = TakeFile(opened.Export("sarif", nullptr, source_root, all));
        id = opened.folds.list.items[0].id.text;
        root = json_loads(text.c_str(), 0, nullptr);
        EXPECT_NE(nullptr, root);
        run = json_array_get(json_object_get(root, "runs"), 0);
    }
    ~Sarif()
    {
        json_decref(root);
    }
    json_t *Results() const
    {
        return json_object_get(run, "results");
    }
    json_t *Rules() const
    {
        return json_object_get(json_object_get(json_object_get(run, "tool"), "driver"), "rules");
    }
    std::string text, id;
    json_t *root, *run;
};

json_t *PlaceOf(json_t *result)
{
    return json_object_get(json_array_get(json_object_get(result, "locations"), 0), "physicalLocation");
}

std::string At(const json_t *object, const char *key)
{
    const char *found = json_string_value(json_object_get(object, key));
    return found != nullptr ? found : "(none)";
}

TEST(Sarif, PlacesFindingsBelowTheSourceRoot)
{
    for (const char *source_root : {"/src/app", "/src/app/"}) {
        Sarif sarif(BuildTrace(simple_trace), source_root);
        EXPECT_EQ("2.1.0", At(sarif.root, "version"));
        ASSERT_EQ(1u, json_array_size(sarif.Results())) << sarif.text;
        json_t *result = json_array_get(sarif.Results(), 0),
               *artifact = json_object_get(PlaceOf(result), "artifactLocation");
        EXPECT_EQ("sync-copy", At(result, "ruleId"));
        EXPECT_EQ(sarif.id, At(json_object_get(result, "partialFingerprints"), "ptdsFindingId/v1"));
        EXPECT_EQ("main.cc", At(artifact, "uri")) << "the innermost place below the root";
        EXPECT_EQ("%SRCROOT%", At(artifact, "uriBaseId"));
        EXPECT_EQ("file:///src/app/",
                  At(json_object_get(json_object_get(sarif.run, "originalUriBaseIds"), "%SRCROOT%"), "uri"));
        EXPECT_EQ(12, json_integer_value(json_object_get(json_object_get(PlaceOf(result), "region"), "startLine")));
        EXPECT_NE(std::string::npos, sarif.text.find("file:///src/other/copy%20back.cc")) << "the rest is in the stack";
    }
}

/* Where the first finding is, below what root. */
std::string PlaceBelow(const char *source_root)
{
    Sarif sarif(BuildTrace(simple_trace), source_root);
    json_t *artifact = json_object_get(PlaceOf(json_array_get(sarif.Results(), 0)), "artifactLocation");
    return At(artifact, "uri") + " below " +
           At(json_object_get(json_object_get(sarif.run, "originalUriBaseIds"), "%SRCROOT%"), "uri");
}

TEST(Sarif, AnyFolderMayBeTheRoot)
{
    EXPECT_EQ("other/copy%20back.cc below file:///src/", PlaceBelow("/src"));
    EXPECT_EQ("copy%20back.cc below file:///src/other/", PlaceBelow("/src/other/"));
    EXPECT_EQ("src/other/copy%20back.cc below file:///", PlaceBelow("/"));
    EXPECT_EQ("(none) below file:///src/ap/", PlaceBelow("/src/ap")) << "half a name is no folder";
    EXPECT_EQ("(none) below file:///elsewhere/", PlaceBelow("/elsewhere"));
}

std::string Lost(const char *us)
{
    return BuildTrace(std::string("tsc\n1@0 launch s=L k=a\n1@10") + us +
                      " copy s=L implicit from=device to=pageable bytes=4 site=b\n"
                      "1@400100 launch s=L k=b\n1@900000+3 sync s=L\n");
}

TEST(Sarif, LevelIsTheReports)
{
    for (const char *lost : {"+200", "+400000"}) {
        Sarif sarif(Lost(lost), "/src/app");
        ASSERT_EQ(1u, json_array_size(sarif.Results()));
        EXPECT_EQ("warning", At(json_array_get(sarif.Results(), 0), "level")) << "sync-copy is one, whatever it costs";
    }
}

TEST(Sarif, WhatIsNotWorthALineIsThereIfAskedFor)
{
    EXPECT_EQ(0u, json_array_size(Sarif(Lost("+200"), "/src/app", false).Results())) << "0.2 ms of a second";
    EXPECT_EQ(1u, json_array_size(Sarif(Lost("+400000"), "/src/app", false).Results()));
}

/* What compilers write that do not say where the sources were; libc's files have such names, too. */
TEST(Sarif, RelativeNamesAreBelowTheRootIfTheyAreThere)
{
    Folder folder;
    std::string root = folder.path();
    auto first = [&](const char *name) {
        Sources::relative = name;
        Sarif sarif(BuildTrace(simple_trace), root.c_str());
        Sources::relative = nullptr;
        if (json_array_size(sarif.Results()) == 0)
            return std::string("no result");
        EXPECT_EQ(std::string::npos, sarif.text.find("nptl")) << "no name that leads nowhere";
        return At(json_object_get(PlaceOf(json_array_get(sarif.Results(), 0)), "artifactLocation"), "uri");
    };
    EXPECT_EQ("no result", first("here.cc"));
    std::ofstream(folder / "here.cc") << "";
    EXPECT_EQ("here.cc", first("here.cc"));
    EXPECT_EQ("here.cc", first("./here.cc"));
    EXPECT_EQ("here.cc", first("/proc/self/cwd/here.cc")) << "Bazel's";
    EXPECT_EQ("no result", first("../nptl/here.cc"));
}

TEST(Sarif, LeavesOutWhatHasNoSourceHere)
{
    EXPECT_EQ(0u, json_array_size(Sarif(BuildTrace(simple_trace), "/nowhere").Results()));
    EXPECT_EQ(0u, json_array_size(Sarif(BuildTrace(simple_trace), nullptr).Results())) << "/src/app is no folder here";
}

/* Two copies of one function: other ids, the same place. */
TEST(Sarif, ResultsAreToldApartUploadAfterUpload)
{
    const std::string two = "tsc\n1@0 launch s=L k=a\n"
                            "1@10+400000 copy s=L implicit from=device to=pageable bytes=4 site=b\n"
                            "1@400100 launch s=L k=b\n"
                            "1@400110+400000 copy s=L implicit from=device to=pageable bytes=4 site=c\n"
                            "1@800200 launch s=L k=b\n1@1900000+3 sync s=L\n";
    Sarif sarif(BuildTrace(two), "/src/app");
    ASSERT_EQ(2u, json_array_size(sarif.Results())) << sarif.text;
    std::string first = At(json_object_get(json_array_get(sarif.Results(), 0), "partialFingerprints"),
                           "primaryLocationLineHash"),
                second = At(json_object_get(json_array_get(sarif.Results(), 1), "partialFingerprints"),
                            "primaryLocationLineHash");
    ASSERT_EQ(18u, first.size()) << first;
    EXPECT_EQ(":1", first.substr(16));
    EXPECT_EQ(first.substr(0, 16) + ":2", second);
}

/* What GitHub's code scanning asks of a file: docs.github.com, "SARIF support for code scanning". */
TEST(Sarif, HasWhatCodeScanningAsksFor)
{
    Sarif sarif(BuildTrace(simple_trace), "/src/app");
    EXPECT_EQ("https://json.schemastore.org/sarif-2.1.0.json", At(sarif.root, "$schema"));
    EXPECT_EQ("ptds", At(json_object_get(json_object_get(sarif.run, "tool"), "driver"), "name"));
    EXPECT_EQ("ptds/", At(json_object_get(sarif.run, "automationDetails"), "id"));
    EXPECT_EQ(1, json_is_true(
                     json_object_get(json_array_get(json_object_get(sarif.run, "invocations"), 0), "executionSuccessful")));
    size_t i;
    json_t *rule, *result;
    ASSERT_EQ(34u, json_array_size(sarif.Rules())) << "README has so many";
    json_array_foreach(sarif.Rules(), i, rule)
    {
        const json_t *properties = json_object_get(rule, "properties");
        for (const char *key : {"shortDescription", "fullDescription", "help"})
            EXPECT_LT(10u, At(json_object_get(rule, key), "text").size()) << At(rule, "id") << " " << key;
        std::string markdown = At(json_object_get(rule, "help"), "markdown");
        EXPECT_EQ(0u, markdown.find("**")) << At(rule, "id");
        EXPECT_NE(std::string::npos, markdown.find("**\n\n")) << "paragraphs";
        EXPECT_EQ(1u, (std::set<std::string>{"error", "warning", "note"}.count(
                          At(json_object_get(rule, "defaultConfiguration"), "level"))));
        EXPECT_EQ(1u,
                  (std::set<std::string>{"error", "warning", "recommendation"}.count(At(properties, "problem.severity"))));
        EXPECT_EQ(2u, json_array_size(json_object_get(properties, "tags")));
    }
    json_array_foreach(sarif.Results(), i, result)
    {
        rule = json_array_get(sarif.Rules(), static_cast<size_t>(json_integer_value(json_object_get(result, "ruleIndex"))));
        EXPECT_EQ(At(result, "ruleId"), At(rule, "id"));
        EXPECT_LT(10u, At(json_object_get(result, "message"), "text").size());
        EXPECT_LT(0, json_integer_value(json_object_get(json_object_get(PlaceOf(result), "region"), "startLine")));
    }
}

/* The published schema is no part of this repository: bazel test --test_env=PTDS_SARIF_SCHEMA=/path/sarif-schema-2.1.0.json
 */
TEST(Sarif, KeepsToThePublishedSchema)
{
    const char *schema = getenv("PTDS_SARIF_SCHEMA");
    if (schema == nullptr)
        GTEST_SKIP() << "PTDS_SARIF_SCHEMA names no file of the OASIS schema";
    auto validate = [&](const std::string &document) {
        std::string path = WriteTemporary(document);
        int status = system(("/usr/bin/python3 tests/analysis/validate.py " + std::string(schema) + " " + path).c_str());
        unlink(path.c_str());
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    };
    Sarif sarif(BuildTrace(simple_trace), "/src/app");
    EXPECT_EQ(0, validate(sarif.text));
    EXPECT_EQ(0, validate(Sarif(BuildTrace(simple_trace + std::string("killed\n")), "/src/app").text)) << "incomplete";
    EXPECT_EQ(0, validate(Sarif(BuildTrace(simple_trace), nullptr).text)) << "no results, no root";
    EXPECT_EQ(1, validate(sarif.text.replace(sarif.text.find("\"ruleId\""), 8, "\"ruleIq\""))) << "it looks";
}

} // namespace
} // namespace ptds
