// SPDX-License-Identifier: Apache-2.0
//
// SQLite, folded stacks and SARIF: what is known is there, what is not is NULL or left out and said.
#include "tests/analysis/exported.h"

#include <sys/wait.h>

#include <fstream>
#include <set>

#include <jansson.h>
#include <sqlite3.h>

#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

const char text[] = "tsc\n"
                    "1@0 launch s=L k=_Z4spinPf site=a\n"
                    "1@10+5000 copy s=L implicit from=device to=pageable bytes=4096 site=b\n"
                    "2@6000 launch s=N1 k=third\n"
                    "1@6100 launch s=N1 k=next\n"
                    "1@12000+3 sync s=N1\n";

class Database
{
public:
    explicit Database(const std::string &path) : path_(path)
    {
        EXPECT_EQ(SQLITE_OK, sqlite3_open(path.c_str(), &file_));
    }
    ~Database()
    {
        sqlite3_close(file_);
        unlink(path_.c_str());
    }
    Database(const Database &) = delete;

    /* Rows as "a|b|c\n"; NULL as "-". */
    std::string Ask(const std::string &query)
    {
        std::string rows;
        char *error = nullptr;
        auto row = [](void *data, int count, char **values, char **) {
            auto *out = static_cast<std::string *>(data);
            for (int i = 0; i < count; i++)
                *out += std::string(i != 0 ? "|" : "") + (values[i] != nullptr ? values[i] : "-");
            *out += "\n";
            return 0;
        };
        EXPECT_EQ(SQLITE_OK, sqlite3_exec(file_, query.c_str(), row, &rows, &error)) << error;
        return rows;
    }

private:
    std::string path_;
    sqlite3 *file_ = nullptr;
};

TEST(Sqlite, AnswersQueriesWrittenForNsys)
{
    Opened opened({BuildTrace(text)});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ(
        "cuLaunchKernel|3\ncuMemcpyDtoH_v2|1\ncuStreamSynchronize|1\n",
        database.Ask("SELECT s.value, count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME r JOIN StringIds s ON s.id = r.nameId "
                     "GROUP BY 1 ORDER BY 1"));
    EXPECT_EQ("4242|5000000\n4242|3000\n",
              database.Ask("SELECT (globalTid >> 24) & 0xFFFFFF, \"end\" - start FROM CUPTI_ACTIVITY_KIND_RUNTIME"
                           " WHERE \"end\" IS NOT NULL"));
    EXPECT_EQ("3\n", database.Ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE \"end\" IS NULL"))
        << "calls that were not timed have no end";
    EXPECT_EQ("0\n", database.Ask("SELECT count(*) FROM sqlite_master WHERE name LIKE 'CUPTI_ACTIVITY_KIND_KERNEL'"))
        << "nobody recorded GPU activity";
}

TEST(Sqlite, HasCallsFindingsAndNotes)
{
    Opened opened({BuildTrace(text)});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("spin(float*)|-|0\nmemcpy device to pageable|4096|1\nthird|-|0\nnext|-|0\n-|-|0\n",
              database.Ask("SELECT work, bytes, ifnull(blocked, 0) FROM PTDS_CALL ORDER BY correlationId"));
    EXPECT_EQ("sync-copy|H3|warning|cuMemcpyDtoH_v2|1|under-the-floor\n",
              database.Ask("SELECT rule, class, severity, api, count, folded FROM PTDS_FINDING"));
    EXPECT_EQ("right|1\n",
              database.Ask("SELECT outcome, blocked_ns > 4900000 AND blocked_ns <= threads_ns FROM PTDS_PROCESS"));
    EXPECT_EQ(std::string(opened.folds.list.items[0].id.text) + "\n", database.Ask("SELECT id FROM PTDS_FINDING"));
    EXPECT_EQ("1\n", database.Ask("SELECT count(*) FROM PTDS_META WHERE value LIKE 'GPU time is not recorded: work%'"));
    EXPECT_EQ("prog|32\n",
              database.Ask("SELECT replace(f.object, '/opt/app/', ''), offset FROM PTDS_FRAME f JOIN PTDS_FINDING d"
                           " ON f.stack = d.stack WHERE depth = 0"));
    EXPECT_EQ("0\n", database.Ask("SELECT count(*) FROM PTDS_EDGE"));
    EXPECT_EQ("-\n", database.Ask("SELECT rank FROM PTDS_PROCESS"));
}

TEST(Sqlite, HasDeviceTimesWhereThereAre)
{
    Opened opened({BuildTrace("1@0 launch s=L k=a\n1@10 launch s=L k=b\n1@20 launch s=L k=c\ndevice-run 1@10 30+400\n")});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("-|-\n30000|400000\n-|-\n",
              database.Ask("SELECT device_start - (SELECT min(start) FROM CUPTI_ACTIVITY_KIND_RUNTIME), device_end - "
                           "device_start FROM PTDS_CALL ORDER BY correlationId"));
}

TEST(Sqlite, TakesEdgesFromAFeed)
{
    Opened opened({BuildTrace(text)});
    edge_feed feed = {};
    feed.run = [](edge_feed *, const struct report *, edge_sink *sink) {
        edge edge = {};
        edge.kind = EDGE_FIFO;
        edge.verdict = VERDICT_NOT_NEEDED;
        edge.from.thread = 1;
        edge.to.thread = 2;
        sink->edge(sink, &edge);
        return 0;
    };
    Database database(opened.Export("sqlite", &feed));
    EXPECT_EQ("fifo|not_needed|-|1|2|-\n",
              database.Ask("SELECT kind, verdict, reason, from_thread, to_thread, address FROM PTDS_EDGE"));
}

TEST(Folded, WeighsStacksByLostHostTime)
{
    Opened opened({BuildTrace(text)});
    std::string folded = TakeFile(opened.Export("folded"));
    size_t space = folded.rfind(' ');
    ASSERT_NE(std::string::npos, space) << folded;
    EXPECT_EQ("node1 pid 4242;prog+0x8000;prog+0x20;cuMemcpyDtoH_v2", folded.substr(0, space));
    EXPECT_NEAR(5e6, std::stod(folded.substr(space)), 30000);
}

TEST(Folded, IsEmptyWhereNothingWaited)
{
    Opened opened({BuildTrace("1@0 launch s=N1 k=a\n")});
    EXPECT_EQ("", TakeFile(opened.Export("folded")));
}

/* A namer for a program whose sources are known. */
struct Sources : site_namer {
    Sources()
    {
        name = [](site_namer *, const object_def *, uint64_t, char *, size_t) { return false; };
        trouble = [](site_namer *, const object_def *) -> const char * { return nullptr; };
        places = [](site_namer *, const object_def *, uint64_t pc, site_place *out, size_t) -> size_t {
            *out = {};
            strcpy(out->function, pc == 0x408000 ? "main" : "copy_back");
            strcpy(out->file, pc == 0x408000 ? "/src/app/main.cc" : "/src/other/copy back.cc");
            if (relative != nullptr)
                strcpy(out->file, pc == 0x408000 ? "./nptl/start.c" : relative);
            out->line = pc == 0x408000 ? 12 : 34;
            return 1;
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
        Sarif sarif(BuildTrace(text), source_root);
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
        Sarif sarif(BuildTrace(text), root.c_str());
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
    EXPECT_EQ(0u, json_array_size(Sarif(BuildTrace(text), "/nowhere").Results()));
    EXPECT_EQ(0u, json_array_size(Sarif(BuildTrace(text), nullptr).Results())) << "/src/app is no folder here";
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
    Sarif sarif(BuildTrace(text), "/src/app");
    EXPECT_EQ("https://json.schemastore.org/sarif-2.1.0.json", At(sarif.root, "$schema"));
    EXPECT_EQ("ptds", At(json_object_get(json_object_get(sarif.run, "tool"), "driver"), "name"));
    EXPECT_EQ("ptds/", At(json_object_get(sarif.run, "automationDetails"), "id"));
    EXPECT_EQ(1, json_is_true(
                     json_object_get(json_array_get(json_object_get(sarif.run, "invocations"), 0), "executionSuccessful")));
    size_t i;
    json_t *rule, *result;
    ASSERT_EQ(29u, json_array_size(sarif.Rules())) << "README has so many";
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
    Sarif sarif(BuildTrace(text), "/src/app");
    EXPECT_EQ(0, validate(sarif.text));
    EXPECT_EQ(0, validate(Sarif(BuildTrace(text + std::string("killed\n")), "/src/app").text)) << "incomplete";
    EXPECT_EQ(0, validate(Sarif(BuildTrace(text), nullptr).text)) << "no results, no root";
    EXPECT_EQ(1, validate(sarif.text.replace(sarif.text.find("\"ruleId\""), 8, "\"ruleIq\""))) << "it looks";
}

} // namespace
} // namespace ptds
