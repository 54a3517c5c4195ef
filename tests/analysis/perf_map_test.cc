// SPDX-License-Identifier: Apache-2.0
//
// Names of code that just-in-time compilers made: from the lists that they leave in /tmp, if those are the process's own.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "tests/analysis/named.h"

namespace ptds
{
namespace
{

/* A process of this host that ran from half a minute ago until now. */
TraceBuilder JitTrace(uint32_t pid, int64_t ended_seconds_ago = 0)
{
    TraceBuilder builder;
    uint64_t now = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
    now -= static_cast<uint64_t>(ended_seconds_ago) * 1000000000u;
    builder.header.pid = pid;
    gethostname(builder.header.host, sizeof builder.header.host - 1);
    builder.Clock(0, 60000000000u, now - 30000000000u);
    builder.Clock(30000000000u, 90000000000u, now);
    builder.header.born = 6000; /* with the first reading */
    return builder;
}

class Listed
{
public:
    explicit Listed(uint32_t pid) : path("/tmp/perf-" + std::to_string(pid) + ".map")
    {
        std::ofstream(path) << "7f0000001000 100 py::old:/app/gone.py\n"
                               "7f0000001000 100 py::train_step:/app/model.py\n"
                               "nonsense\n"
                               "7f0000002000 20 LazyCompile:~run\n";
    }
    ~Listed()
    {
        unlink(path.c_str());
    }
    const std::string path;
};

/* Above every process number that the kernel gives out. */
uint32_t UnusedPid()
{
    return 5000000 + static_cast<uint32_t>(getpid());
}

TEST(PerfMap, PythonFramesFromThePerfMap)
{
    Listed map(UnusedPid());
    Named named(JitTrace(UnusedPid()), 0x7f0000001080);
    std::vector<site_place> places = named.Places();
    ASSERT_EQ(1u, places.size());
    EXPECT_STREQ("train_step", places[0].function);
    EXPECT_STREQ("/app/model.py", places[0].file);
    EXPECT_EQ(0, places[0].line) << "the list has no lines";
    EXPECT_EQ("0x7f0000001080 train_step (model.py)", named.Text());
    EXPECT_EQ("0x7f0000002008 LazyCompile:~run", Named(JitTrace(UnusedPid()), 0x7f0000002008).Text());
    EXPECT_EQ("0x7f0000003000", Named(JitTrace(UnusedPid()), 0x7f0000003000).Text());
}

TEST(PerfMap, APerfMapOfAnotherProcessIsNotBelieved)
{
    Listed map(UnusedPid());
    EXPECT_EQ("0x7f0000001080", Named(JitTrace(UnusedPid() + 1), 0x7f0000001080).Text()) << "another number";
    EXPECT_EQ("0x7f0000001080", Named(JitTrace(UnusedPid(), 3600), 0x7f0000001080).Text())
        << "written an hour after its end";
    TraceBuilder elsewhere = JitTrace(UnusedPid());
    strcpy(elsewhere.header.host, "another-host");
    EXPECT_EQ("0x7f0000001080", Named(elsewhere, 0x7f0000001080).Text()) << "another machine";
}

/* What a list says that was written this many seconds after the end of the process. */
std::string WrittenAfter(int64_t seconds, const TraceBuilder &trace)
{
    Listed map(UnusedPid());
    timespec now = {}, times[2] = {};
    clock_gettime(CLOCK_REALTIME, &now);
    times[0].tv_sec = times[1].tv_sec = now.tv_sec + seconds;
    EXPECT_EQ(0, utimensat(AT_FDCWD, map.path.c_str(), times, 0));
    return Named(trace, 0x7f0000001080).Text();
}

TEST(PerfMap, APerfMapIsAsOldAsItsProcess)
{
    TraceBuilder trace = JitTrace(UnusedPid()), old = trace;
    const char *known = "0x7f0000001080 train_step (model.py)", *unknown = "0x7f0000001080";
    EXPECT_EQ(known, WrittenAfter(0, trace));
    EXPECT_EQ(known, WrittenAfter(8, trace));
    EXPECT_EQ(unknown, WrittenAfter(13, trace));
    EXPECT_EQ(known, WrittenAfter(-38, trace));
    EXPECT_EQ(unknown, WrittenAfter(-43, trace)) << "before it began";
    old.header.born = 5000; /* ten seconds before its first reading */
    EXPECT_EQ(known, WrittenAfter(-48, old));
    EXPECT_EQ(unknown, WrittenAfter(-53, old));
    old.header.born = 9000; /* after it, as clocks may say where time was set */
    EXPECT_EQ(known, WrittenAfter(-38, old));
    EXPECT_EQ(unknown, WrittenAfter(-43, old));
    TraceBuilder without;
    without.header.pid = UnusedPid();
    gethostname(without.header.host, sizeof without.header.host - 1);
    EXPECT_EQ(unknown, WrittenAfter(0, without)) << "when it ran is not known";
}

TEST(PerfMap, EachProcessHasItsOwnPerfMap)
{
    Listed map(UnusedPid());
    Built one(JitTrace(UnusedPid()).Bytes()), other(JitTrace(UnusedPid() + 1).Bytes());
    site_namer *namer = symbolizer_begin();
    char text[100];
    for (int turn = 0; turn < 2; turn++) {
        symbolizer_of(namer, &one->trace);
        EXPECT_TRUE(namer->name(namer, nullptr, 0x7f0000001080, text, sizeof text)) << turn;
        EXPECT_STREQ("train_step (model.py)", text);
        symbolizer_of(namer, &other->trace);
        EXPECT_FALSE(namer->name(namer, nullptr, 0x7f0000001080, text, sizeof text)) << turn;
    }
    unlink(map.path.c_str());
    symbolizer_of(namer, &one->trace);
    EXPECT_TRUE(namer->name(namer, nullptr, 0x7f0000001080, text, sizeof text)) << "it is read once";
    symbolizer_end(namer);
}

TEST(PerfMap, NamesOfThePerfMapAsTheyAre)
{
    Listed map(UnusedPid());
    std::ofstream(map.path) << "7f0000001000 100 py::<module>:<frozen importlib>\n"
                               "7f0000002000 100 py::alone\n"
                               "7f0000003000 100 py:name:/with/path\n";
    auto text = [](uint64_t pc) { return Named(JitTrace(UnusedPid()), pc).Text(); };
    EXPECT_EQ("0x7f0000001001 <module> (<frozen importlib>)", text(0x7f0000001001));
    EXPECT_EQ("0x7f0000002010 alone", text(0x7f0000002010));
    EXPECT_EQ("0x7f0000003010 py:name:/with/path", text(0x7f0000003010));
    EXPECT_EQ("0x7f0000001000", text(0x7f0000001000)) << "a call returns behind itself";
    EXPECT_EQ("0x7f0000001100 <module> (<frozen importlib>)", text(0x7f0000001100));
    EXPECT_EQ("0x7f0000001101", text(0x7f0000001101));
    std::ofstream(map.path) << "7f0000001000 0 empty\n7f0000002000 10 \n7f0000003000\n7f0000004000 10 last\n"
                               "7f0000005000 10 whole\n7f0000005000 0 empty\n7f0000006000 1 one";
    EXPECT_EQ("0x7f0000001001", text(0x7f0000001001)) << "of no size";
    EXPECT_EQ("0x7f0000002001", text(0x7f0000002001)) << "of no name";
    EXPECT_EQ("0x7f0000003001", text(0x7f0000003001));
    EXPECT_EQ("0x7f0000004001 last", text(0x7f0000004001));
    EXPECT_EQ("0x7f0000005001 whole", text(0x7f0000005001)) << "what has no size hides nothing";
    EXPECT_EQ("0x7f0000006001 one", text(0x7f0000006001));
    EXPECT_EQ("0x7f0000006002", text(0x7f0000006002));
    Folder folder;
    std::ofstream(folder / "elsewhere") << "7f0000004000 10 last";
    unlink(map.path.c_str());
    ASSERT_EQ(0, symlink((folder / "elsewhere").c_str(), map.path.c_str()));
    EXPECT_EQ("0x7f0000004001", text(0x7f0000004001)) << "links are not followed in a folder that all may write to";
}

} // namespace
} // namespace ptds
