// SPDX-License-Identifier: Apache-2.0
//
// Several traces at once: which files of a folder are some, in what order they come, and how their clocks become one.
#include <fstream>

#include "tests/analysis/exported.h"
#include "tests/support/run_child.h"
#include "analysis/report/many/traced.h"

namespace ptds
{
namespace
{

/* What is said of the folder, by the last part of each path. */
struct Listed {
    explicit Listed(const std::string &path)
    {
        traces.trouble = [](void *data, const char *line) {
            std::string text = line;
            *static_cast<std::string *>(data) += text.substr(text.rfind('/') + 1) + "\n";
        };
        traces.data = &told;
        EXPECT_TRUE(traces_add(&traces, path.c_str()));
        traces_order(&traces);
        for (size_t i = 0; i < traces.list.count; i++) {
            std::string one = traces.list.items[i]->path;
            files += one.substr(one.rfind('/') + 1) + " ";
        }
    }
    ~Listed()
    {
        traces_free(&traces);
    }
    Listed(const Listed &) = delete;
    struct traces traces = {};
    std::string told, files;
};

TEST(FolderOfTraces, HoldsWhatIsOneByNameOrByItsBytes)
{
    Folder folder;
    std::string trace = BuildTrace("1@0 none\n");
    std::ofstream(folder / "b.ptds") << trace;
    std::ofstream(folder / "a") << trace;
    std::ofstream(folder / "note") << "PTDS";
    std::ofstream(folder / ".ptds") << "";
    std::ofstream(folder / "long.note") << std::string(100, 'x');
    EXPECT_TRUE(traces_is_trace((folder / "b.ptds").c_str()));
    EXPECT_TRUE(traces_is_trace((folder / "a").c_str()));
    EXPECT_TRUE(traces_is_trace("not-there.ptds")) << "by its name";
    EXPECT_TRUE(traces_is_trace("n.ptds")) << "however short";
    EXPECT_FALSE(traces_is_trace(".ptds")) << "no name before it";
    EXPECT_FALSE(traces_is_trace("not-there"));
    EXPECT_FALSE(traces_is_trace((folder / "note").c_str()));
    EXPECT_FALSE(traces_is_trace((folder / "long.note").c_str()));
    EXPECT_EQ(3u, traces_expected(folder.path().c_str())) << "its path makes .ptds one";
    EXPECT_EQ(1u, traces_expected((folder / "a").c_str()));
    EXPECT_EQ(1u, traces_expected((folder / "not-there").c_str()));
    unlink((folder / ".ptds").c_str());
    Listed listed(folder.path());
    EXPECT_EQ("a b.ptds ", listed.files);
    EXPECT_EQ(0u, listed.traces.unreadable);
    EXPECT_NE(std::string::npos, listed.told.find(": 2 other files passed over\n")) << listed.told;
}

TEST(FolderOfTraces, SaysNothingWhereAllAreTraces)
{
    Folder folder;
    std::ofstream(folder / "b.ptds") << BuildTrace("1@0 none\n");
    Listed listed(folder.path());
    EXPECT_EQ("b.ptds ", listed.files);
    EXPECT_EQ("", listed.told);
    EXPECT_EQ(1u, traces_expected(folder.path().c_str()));
}

TEST(FolderOfTraces, WithoutOneIsTrouble)
{
    Folder folder;
    std::ofstream(folder / "notes") << "nothing";
    Listed listed(folder.path());
    EXPECT_EQ(1u, listed.traces.unreadable);
    EXPECT_NE(std::string::npos, listed.told.find(": no traces in this folder\n")) << listed.told;
    EXPECT_EQ(0u, traces_expected(folder.path().c_str()));
    EXPECT_EQ("", listed.files);
}

/* Its calls would count twice. */
TEST(FolderOfTraces, AFileByTwoNamesIsOne)
{
    Folder folder;
    std::ofstream(folder / "a.ptds") << BuildTrace("1@0 none\n");
    ASSERT_EQ(0, link((folder / "a.ptds").c_str(), (folder / "b.ptds").c_str()));
    ASSERT_EQ(0, symlink("a.ptds", (folder / "c.ptds").c_str()));
    std::ofstream(folder / "d.ptds") << BuildTrace("1@0 none\n");
    Listed listed(folder.path());
    EXPECT_EQ("a.ptds d.ptds ", listed.files);
    EXPECT_EQ("b.ptds: given twice, counted once\nc.ptds: given twice, counted once\n", listed.told);
    EXPECT_EQ(0u, listed.traces.unreadable);
}

/* A file's name may hold anything, and a terminal obeys some of it. */
TEST(FolderOfTraces, NamesMoveNoCursor)
{
    Folder folder;
    std::ofstream(folder / "a\033[2J.ptds") << "no trace";
    Listed listed(folder.path());
    EXPECT_EQ(0u, listed.told.find("a?[2J.ptds: offset 0: ")) << listed.told;
}

std::string With(const char *host, int32_t rank, uint32_t pid, const std::vector<uint64_t> &clocks = {})
{
    TraceBuilder builder;
    strcpy(builder.header.host, host);
    builder.header.rank = rank;
    builder.header.pid = pid;
    if (clocks.size() == 4) {
        builder.Clock(clocks[0], clocks[0], clocks[1]);
        builder.Clock(clocks[2], clocks[2], clocks[3]);
    }
    CallSpec call;
    call.enter = 5000;
    builder.Call(call);
    return builder.Bytes();
}

TEST(SeveralTraces, AreOrderedByHostRankAndProcess)
{
    Opened opened({With("b", 0, 1), With("a", 2, 9), With("a", 1, 8), With("a", -1, 7), With("a", -1, 3)});
    std::string names;
    for (size_t i = 0; i < opened.traces.list.count; i++) {
        char name[200];
        traced_name(opened.traces.list.items[i], name, sizeof name);
        names += std::string(name) + "; ";
    }
    EXPECT_EQ("a pid 3; a pid 7; a rank 1 pid 8; a rank 2 pid 9; b rank 0 pid 1; ", names);
}

/* Several runs of one process number: by their files' names. */
TEST(SeveralTraces, AreOrderedByNameWhereNothingElseTells)
{
    Folder folder;
    struct traces traces = {};
    for (const char *name : {"c", "a", "d", "b"}) {
        std::ofstream(folder / name) << With("a", 1, 8);
        ASSERT_TRUE(traces_add(&traces, (folder / name).c_str()));
    }
    traces_order(&traces);
    std::string names;
    for (size_t i = 0; i < traces.list.count; i++)
        names += traces.list.items[i]->path[strlen(traces.list.items[i]->path) - 1];
    EXPECT_EQ("abcd", names);
    traces_free(&traces);
    EXPECT_EQ(0u, traces.list.count + traces.unreadable);
}

TEST(SeveralTraces, HaveATimeWhereTheFirstReadingHasOne)
{
    auto has = [](const std::vector<uint64_t> &clocks) {
        return Opened({With("a", 0, 1, clocks)}).traces.list.items[0]->has_realtime;
    };
    EXPECT_TRUE(has({1000, 1, 9000, 8001}));
    EXPECT_FALSE(has({1000, 0, 9000, 8001}));
    EXPECT_TRUE(has({1000, 5, 9000, 0}));
    EXPECT_FALSE(has({}));
}

/* One clock for all, where each trace says how its own runs beside it. */
TEST(SeveralTraces, HaveOneTime)
{
    Opened opened({With("a", 0, 1, {1000, 700000, 9000, 708000}), With("a", 1, 2, {6000, 703000, 9000, 706000})});
    const traced *one = opened.traces.list.items[0], *two = opened.traces.list.items[1];
    EXPECT_EQ(1000u, one->first_ticks) << "the reading came before the call";
    EXPECT_EQ(5000u, two->first_ticks) << "the call came before the reading";
    ASSERT_TRUE(one->has_realtime && two->has_realtime);
    EXPECT_EQ(700000u, traced_realtime(one, 1000));
    EXPECT_EQ(704000u, traced_realtime(one, 5000));
    EXPECT_EQ(699500u, traced_realtime(one, 500));
    EXPECT_EQ(702000u, traced_realtime(two, 5000));
    EXPECT_EQ(700000u, traces_origin(&opened.traces));
    EXPECT_EQ(4000u, traced_time(one, 700000, 5000));
    EXPECT_EQ(2000u, traced_time(two, 700000, 5000));
    EXPECT_EQ(0u, traced_time(one, 700000, 900));
}

/* Readings that say nothing of how fast it runs: as fast as the trace's own clock. */
TEST(SeveralTraces, HaveTheTraceClocksPaceWhereReadingsSayNone)
{
    Opened opened({With("a", 0, 1, {1000, 700000, 9000, 700000})});
    const traced *one = opened.traces.list.items[0];
    EXPECT_EQ(702000u, traced_realtime(one, 3000));
    EXPECT_EQ(699000u, traced_realtime(one, 0));
    Opened early({With("a", 0, 1, {1000, 400, 9000, 400})});
    EXPECT_EQ(0u, traced_realtime(early.traces.list.items[0], 0)) << "not before the beginning of time";
}

TEST(SeveralTraces, WithoutAClockCountFromTheirOwnBeginning)
{
    Opened opened({With("a", 0, 1)});
    const traced *one = opened.traces.list.items[0];
    EXPECT_FALSE(one->has_realtime);
    EXPECT_EQ(5000u, one->first_ticks);
    EXPECT_EQ(0u, traced_realtime(one, 6000));
    EXPECT_EQ(0u, traces_origin(&opened.traces));
    EXPECT_EQ(1000u, traced_time(one, 77, 6000));
    EXPECT_EQ(0u, traced_time(one, 77, 4000));
}

} // namespace
} // namespace ptds
