// SPDX-License-Identifier: Apache-2.0
//
// Functions of Python in call sites: every view shows them by name, file and line, without a namer or the file, and what
// tells findings apart goes by them.
#include <jansson.h>
#include <sqlite3.h>

#include "analysis/findings/identity.h"
#include "analysis/trace/frames.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/report_words.h"
#include "tests/analysis/exported.h"

namespace ptds
{
namespace
{

/* A copy that waited 5 ms, called from there. */
std::string TraceOf(const std::string &site)
{
    return BuildTrace("tsc\n"
                      "1@0 launch s=L k=_Z4spinPf site=a\n"
                      "1@10+5000 copy s=L implicit from=device to=pageable bytes=4096 site=" +
                      site +
                      "\n"
                      "1@6100 launch s=N1 k=next\n"
                      "1@12000+3 sync s=N1\n");
}

const char python[] = "b<-Net.forward:/src/app/net.py:41<-main:/src/app/train.py:7";

TEST(Source, EveryTextShowsThePlace)
{
    Built built(TraceOf(python));
    char site[200];
    ASSERT_EQ(1u, built->findings.count);
    EXPECT_TRUE(report_words_site(built.get(), nullptr, built->findings.items[0]->stack, site, sizeof site));
    EXPECT_STREQ("Net.forward (net.py:41)", site) << "where one line has to do";
    std::string text = built.Text();
    size_t native = text.find("prog+0x20\n"), inner = text.find(" Net.forward (net.py:41)\n"),
           outer = text.find(" main (train.py:7)\n"), first = text.find("prog+0x8000\n");
    EXPECT_LT(native, inner) << text;
    EXPECT_LT(inner, outer) << text;
    EXPECT_LT(outer, first) << text;
    EXPECT_NE(std::string::npos, first) << text;
    EXPECT_EQ(std::string::npos, text.find("0x8000000")) << text;
}

/* Frames of C before it must not hide it; that some are left out shows. */
TEST(Source, IsShownBehindManyFramesOfC)
{
    stack_def stack = {};
    std::vector<uint64_t> pc(30, 0x400000);
    stack.pc = pc.data();
    stack.count = 30;
    auto shown = [&] {
        std::vector<uint32_t> found;
        for (uint32_t n = 0, at; (at = frames_nth_shown(&stack, n, 6)) < stack.count; n++)
            found.push_back(at);
        return found;
    };
    EXPECT_EQ((std::vector<uint32_t>{0, 1, 2, 3, 4, 5}), shown());
    pc[20] = pc[21] = PTDS_PC_SOURCE | 1;
    EXPECT_EQ((std::vector<uint32_t>{0, 1, 2, 20, 21, 22}), shown());
    pc[3] = PTDS_PC_SOURCE | 1;
    EXPECT_EQ((std::vector<uint32_t>{0, 1, 2, 3, 4, 5}), shown());
    pc[3] = 1, pc[29] = PTDS_PC_SOURCE | 1, pc[20] = pc[21] = 1;
    EXPECT_EQ((std::vector<uint32_t>{0, 1, 2, 29}), shown());
}

TEST(Source, FoldedStacksHaveIt)
{
    Opened opened({TraceOf(python)});
    std::string folded = TakeFile(opened.Export("folded"));
    EXPECT_EQ("prog (node1 pid 4242);prog 1;prog+0x8000;main;Net.forward;prog+0x20;cuMemcpyDtoH_v2",
              folded.substr(0, folded.rfind(' ')));
}

TEST(Source, SarifPointsToIt)
{
    Opened opened({TraceOf(python)});
    std::string text = TakeFile(opened.Export("sarif", nullptr, "/src/app"));
    json_t *root = json_loads(text.c_str(), 0, nullptr), *result = nullptr;
    const char *uri = nullptr;
    int line = 0, size = 0;
    ASSERT_EQ(0, json_unpack(root, "{s:[{s:[o]}]}", "runs", "results", &result)) << text;
    EXPECT_EQ(0, json_unpack(result, "{s:[{s:{s:{s:s},s:{s:i}}}]}", "locations", "physicalLocation", "artifactLocation",
                             "uri", &uri, "region", "startLine", &line))
        << text;
    EXPECT_STREQ("net.py", uri);
    EXPECT_EQ(41, line);
    size =
        static_cast<int>(json_array_size(json_object_get(json_array_get(json_object_get(result, "stacks"), 0), "frames")));
    EXPECT_EQ(2, size) << text;
    json_decref(root);
}

TEST(Source, JsonHasThePlace)
{
    Built built(TraceOf(python));
    TextOf out;
    ASSERT_EQ(0, report_json(built.get(), nullptr, &out));
    json_t *root = json_loads(out.text.c_str(), 0, nullptr);
    json_t *frame = json_array_get(json_object_get(json_array_get(json_object_get(root, "findings"), 0), "callsite"), 1);
    const char *symbol = nullptr, *function = nullptr, *file = nullptr;
    int line = 0;
    EXPECT_EQ(0, json_unpack(frame, "{s:n,s:s,s:[{s:s,s:s,s:i}]}", "object", "symbol", &symbol, "places", "function",
                             &function, "file", &file, "line", &line))
        << out.text;
    EXPECT_STREQ("Net.forward (net.py:41)", symbol);
    EXPECT_STREQ("Net.forward", function);
    EXPECT_STREQ("/src/app/net.py", file);
    EXPECT_EQ(41, line);
    json_decref(root);
}

TEST(Source, SqliteHasIt)
{
    Opened opened({TraceOf(python)});
    std::string path = opened.Export("sqlite"), found;
    sqlite3 *database = nullptr;
    ASSERT_EQ(SQLITE_OK, sqlite3_open(path.c_str(), &database));
    auto add = [](void *out, int, char **values, char **) {
        *static_cast<std::string *>(out) += std::string(values[0]) + ";";
        return 0;
    };
    sqlite3_exec(database, "SELECT symbol FROM PTDS_FRAME WHERE object IS NULL AND offset IS NULL ORDER BY depth", add,
                 &found, nullptr);
    sqlite3_close(database);
    unlink(path.c_str());
    EXPECT_EQ("Net.forward (net.py:41);main (train.py:7);", found);
}

std::string IdOf(const std::string &site)
{
    Opened opened({TraceOf(site)});
    return opened.folds.list.items[0].id.text;
}

std::string PlaceOf(const std::string &site)
{
    Opened opened({TraceOf(site)});
    return identity_of_place(&opened.traces.list.items[0]->report.trace, nullptr, opened.folds.list.items[0].finding).text;
}

TEST(Source, TellsFindingsApart)
{
    std::string id = IdOf(python);
    EXPECT_NE(id, IdOf("b"));
    EXPECT_NE(id, IdOf("b<-Net.forward:/src/app/net.py:42<-main:/src/app/train.py:7")) << "another line";
    EXPECT_NE(id, IdOf("b<-Net.forward:/src/app/net.py:41<-main:/src/app/train.py:8")) << "of the caller";
    EXPECT_EQ(id, IdOf("b<-Net.forward:/home/me/net.py:41<-main:/home/me/train.py:7")) << "the same program elsewhere";
    std::string place = PlaceOf(python);
    EXPECT_EQ(16u, place.size());
    EXPECT_EQ(place, PlaceOf("b<-Net.forward:/src/app/net.py:99<-other:/src/app/train.py:1"))
        << "it lasts while lines move";
    EXPECT_NE(place, PlaceOf("b<-Other.forward:/src/app/net.py:41<-main:/src/app/train.py:7"));
    EXPECT_NE(place, PlaceOf("b<-Net.forward:/src/app/other.py:41<-main:/src/app/train.py:7"));
}

/* A damaged trace may name what is not in it. */
TEST(Source, WhatIsNotDefinedIsAnAddress)
{
    TraceBuilder builder;
    definitions defs = {};
    site_place place;
    EXPECT_EQ(nullptr, definitions_source(&defs, PTDS_PC_SOURCE | 7));
    EXPECT_EQ(nullptr, definitions_source(&defs, ~0ull));
    EXPECT_EQ(0u, namer_places(nullptr, &defs, PTDS_PC_SOURCE | 7, &place, 1));
    ptds_rec_SOURCE source = {};
    source.id = 7;
    source.file = 1;
    source.line = ~0u;
    EXPECT_TRUE(definitions_add(&defs, PTDS_REC_SOURCE, &source, nullptr, 0));
    EXPECT_EQ(1u, namer_places(nullptr, &defs, PTDS_PC_SOURCE | 7, &place, 1));
    EXPECT_STREQ("", place.function);
    EXPECT_EQ(0, place.line);
    char text[64];
    EXPECT_TRUE(namer_name(nullptr, &defs, PTDS_PC_SOURCE | 7, text, sizeof text));
    EXPECT_STREQ("? ()", text);
    definitions_free(&defs);
}

} // namespace
} // namespace ptds
