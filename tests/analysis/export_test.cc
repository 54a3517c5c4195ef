// SPDX-License-Identifier: Apache-2.0
//
// SQLite, folded stacks and SARIF: what is known is there, what is not is NULL or left out and said.
#include "tests/analysis/exported.h"

#include <jansson.h>
#include <sqlite3.h>

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
            out->line = pc == 0x408000 ? 12 : 34;
            return 1;
        };
    }
};

class Sarif
{
public:
    Sarif(const std::string &bytes, const char *source_root)
    {
        Opened opened({bytes});
        site_namer *real = opened.namer;
        Sources sources;
        sources.data = real->data;
        std::swap(real->places, sources.places);
        text = TakeFile(opened.Export("sarif", nullptr, source_root));
        id = opened.folds.list.items[0].id.text;
        root = json_loads(text.c_str(), 0, nullptr);
        EXPECT_NE(nullptr, root);
    }
    ~Sarif()
    {
        json_decref(root);
    }
    json_t *Results() const
    {
        return json_object_get(json_array_get(json_object_get(root, "runs"), 0), "results");
    }
    std::string text, id;
    json_t *root;
};

TEST(Sarif, PlacesFindingsBelowTheSourceRoot)
{
    Sarif sarif(BuildTrace(text), "/src/app");
    EXPECT_STREQ("2.1.0", json_string_value(json_object_get(sarif.root, "version")));
    ASSERT_EQ(1u, json_array_size(sarif.Results())) << sarif.text;
    json_t *result = json_array_get(sarif.Results(), 0);
    EXPECT_STREQ("sync-copy", json_string_value(json_object_get(result, "ruleId")));
    EXPECT_STREQ("note", json_string_value(json_object_get(result, "level"))) << "5 ms of a second: below the floor";
    json_t *prints = json_object_get(result, "partialFingerprints");
    EXPECT_EQ(sarif.id, json_string_value(json_object_get(prints, "ptdsFindingId/v1")));
    json_t *place = json_object_get(json_array_get(json_object_get(result, "locations"), 0), "physicalLocation");
    EXPECT_STREQ("main.cc", json_string_value(json_object_get(json_object_get(place, "artifactLocation"), "uri")))
        << "the innermost place below the root";
    EXPECT_EQ(12, json_integer_value(json_object_get(json_object_get(place, "region"), "startLine")));
    EXPECT_NE(std::string::npos, sarif.text.find("file:///src/other/copy%20back.cc")) << "the rest is in the stack";
}

/* As severe as in the report; what that tells in one line with others is a note. */
TEST(Sarif, LevelIsTheReports)
{
    for (auto [lost, level] : {std::pair("+200", "note"), std::pair("+400000", "warning")}) {
        Sarif sarif(BuildTrace(std::string("tsc\n1@0 launch s=L k=a\n1@10") + lost +
                               " copy s=L implicit from=device to=pageable bytes=4 site=b\n"
                               "1@400100 launch s=L k=b\n1@900000+3 sync s=L\n"),
                    "/src/app");
        ASSERT_EQ(1u, json_array_size(sarif.Results()));
        EXPECT_STREQ(level, json_string_value(json_object_get(json_array_get(sarif.Results(), 0), "level")));
    }
}

TEST(Sarif, LeavesOutWhatHasNoSourceHere)
{
    EXPECT_EQ(0u, json_array_size(Sarif(BuildTrace(text), "/nowhere").Results()));
    EXPECT_EQ(0u, json_array_size(Sarif(BuildTrace(text), nullptr).Results())) << "/src/app is no folder here";
}

} // namespace
} // namespace ptds
