// SPDX-License-Identifier: Apache-2.0
//
// Names of call sites: functions and lines of a program that was built for it, inlined frames, debug files apart from their
// object, objects that are not those of the trace, and the lists of just-in-time compilers.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>

#include "analysis/symbols/symbols.h"
#include "tests/analysis/support.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

const char source[] = "tests/analysis/places.cc";

int LineOf(const std::string &mark)
{
    std::ifstream file(data_file(source));
    std::string line;
    for (int number = 1; std::getline(file, line); number++)
        if (line.find("/* " + mark + " */") != std::string::npos)
            return number;
    return -1;
}

std::string FromHex(const std::string &hex)
{
    std::string bytes;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        bytes += static_cast<char>(std::stoul(hex.substr(i, 2), nullptr, 16));
    return bytes;
}

/* The program's one call site, as a trace would have it. */
struct Site {
    Site() : path(data_file("tests/analysis/places"))
    {
        Outcome ran = run({{path}});
        std::istringstream words(ran.out);
        std::string hex;
        words >> std::hex >> offset >> hex >> assembled;
        build_id = FromHex(hex);
        EXPECT_EQ(20u, build_id.size()) << ran;
    }
    std::string path, build_id;
    uint64_t offset = 0, assembled = 0;
};

const uint64_t base = 0x555500000000;

class Named
{
public:
    Named(const std::string &path, const std::string &build_id, uint64_t pc) : pc_(pc)
    {
        TraceBuilder builder;
        builder.Object(1, path, base, base + 0x100000, build_id);
        builder.Stack(1, {pc});
        Build(builder);
    }
    explicit Named(TraceBuilder builder, uint64_t pc) : pc_(pc)
    {
        Build(builder);
    }
    ~Named()
    {
        symbols_end(namer);
    }
    Named(const Named &) = delete;

    std::string Text()
    {
        char text[400];
        report_frame(built_->get(), namer, pc_, text, sizeof text);
        return text;
    }
    std::vector<site_place> Places()
    {
        std::vector<site_place> places(8);
        const object_def *object = definitions_object_at(&built_->get()->trace.defs, pc_);
        places.resize(namer->places(namer, object, pc_, places.data(), places.size()));
        return places;
    }
    const char *Trouble()
    {
        return namer->trouble(namer, definitions_object_at(&built_->get()->trace.defs, pc_));
    }

    site_namer *namer = nullptr;

private:
    void Build(const TraceBuilder &builder)
    {
        built_ = std::make_unique<Built>(builder.Bytes());
        namer = symbols_begin();
        symbols_of(namer, &built_->get()->trace);
    }
    uint64_t pc_;
    std::unique_ptr<Built> built_;
};

bool EndsWith(const std::string &text, const std::string &end)
{
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

TEST(Symbols, InlinedFramesWithTheirLines)
{
    Site site;
    Named named(site.path, site.build_id, base + site.offset);
    std::vector<site_place> places = named.Places();
    ASSERT_EQ(2u, places.size());
    EXPECT_STREQ("unsigned long places::innermost<long>(long)", places[0].function);
    EXPECT_TRUE(places[0].inlined);
    EXPECT_EQ(LineOf("innermost"), places[0].line);
    EXPECT_STREQ("places::Outer::method(int)", places[1].function);
    EXPECT_FALSE(places[1].inlined);
    EXPECT_EQ(LineOf("outer"), places[1].line);
    EXPECT_TRUE(EndsWith(places[1].file, source)) << places[1].file;
    EXPECT_EQ('/', places[1].file[0]) << "below the folder in which it was compiled: " << places[1].file;
    std::string text = named.Text();
    EXPECT_NE(std::string::npos, text.find("inlined into places::Outer::method(int) (places.cc:")) << text;
    EXPECT_EQ(nullptr, named.Trouble());
    EXPECT_EQ(text, named.Text()) << "the second time it comes from what is open already";
}

TEST(Symbols, ALineWithoutAFunctionHasTheSymbolsName)
{
    Site site;
    Named named(site.path, site.build_id, base + site.assembled);
    std::vector<site_place> places = named.Places();
    ASSERT_EQ(1u, places.size());
    EXPECT_STREQ("assembled", places[0].function);
    EXPECT_TRUE(EndsWith(places[0].file, "tests/analysis/places_assembled.S")) << places[0].file;
    EXPECT_NE(0, places[0].line);
}

TEST(Symbols, ADifferentBuildGivesNoNamesAndSaysSo)
{
    Site site;
    std::string other = site.build_id;
    other[3] = static_cast<char>(other[3] ^ 1);
    Named named(site.path, other, base + site.offset);
    EXPECT_EQ(0u, named.Places().size());
    EXPECT_STREQ("changed since the trace", named.Trouble());
    EXPECT_TRUE(EndsWith(named.Text(), "(changed since the trace)")) << named.Text();
}

TEST(Symbols, AMissingFileGivesNoNamesAndSaysSo)
{
    Site site;
    Named named("/nowhere/places", site.build_id, base + site.offset);
    EXPECT_EQ(0u, named.Places().size());
    EXPECT_STREQ("no such file here", named.Trouble());
    Folder folder;
    std::ofstream(folder / "text") << "no object file";
    Named other(folder / "text", site.build_id, base + site.offset), nameless(folder / "text", "", base + site.offset),
        short_id(folder / "text", "x", base + site.offset);
    EXPECT_STREQ("changed since the trace", other.Trouble());
    EXPECT_STREQ("not an object file", nameless.Trouble());
    EXPECT_STREQ("changed since the trace", short_id.Trouble());
    EXPECT_EQ("text+0x" + named.Text().substr(named.Text().find("0x") + 2) + " (not an object file)", nameless.Text());
    Named pipe("/dev/null", site.build_id, base + site.offset);
    EXPECT_EQ(0u, pipe.Places().size()) << "nothing but a plain file is opened";
}

TEST(Symbols, DebugFilesNextToTheObject)
{
    if (access("/usr/bin/objcopy", X_OK) != 0)
        GTEST_SKIP() << "objcopy is not installed";
    Site site;
    Folder folder;
    ASSERT_EQ(0, run({{"/usr/bin/objcopy", "--only-keep-debug", site.path, folder / "gone.debug"}}).exit);
    Named alone(folder / "gone", site.build_id, base + site.offset); /* the object itself is not there */
    ASSERT_EQ(2u, alone.Places().size());
    EXPECT_EQ(LineOf("outer"), alone.Places()[1].line);
    ASSERT_EQ(0, run({{"/usr/bin/objcopy", "--strip-all", site.path, folder / "stripped"}}).exit);
    ASSERT_EQ(0, run({{"/bin/cp", folder / "gone.debug", folder / "stripped.debug"}}).exit);
    Named stripped(folder / "stripped", site.build_id, base + site.offset);
    EXPECT_EQ(2u, stripped.Places().size());
    /* Of another build: its id vouches for nothing here. */
    std::ofstream(folder / "wrong.debug") << "no debug file";
    Named wrong(folder / "wrong", site.build_id, base + site.offset);
    EXPECT_EQ(0u, wrong.Places().size());
}

TEST(Symbols, WithoutLinesTheyAreNamedByTheirFunctionAndHowFarInIt)
{
    if (access("/usr/bin/objcopy", X_OK) != 0)
        GTEST_SKIP() << "objcopy is not installed";
    Site site;
    Folder folder;
    ASSERT_EQ(0, run({{"/usr/bin/objcopy", "--strip-debug", site.path, folder / "stripped"}}).exit);
    Named named(folder / "stripped", site.build_id, base + site.offset);
    std::vector<site_place> places = named.Places();
    ASSERT_EQ(1u, places.size());
    EXPECT_STREQ("places::Outer::method(int)", places[0].function);
    EXPECT_STREQ("", places[0].file);
    EXPECT_EQ(0, places[0].line);
    EXPECT_FALSE(places[0].inlined);
    Named assembled(folder / "stripped", site.build_id, base + site.assembled);
#ifdef __aarch64__
    const int behind_its_call = 8;
#else
    const int behind_its_call = 9;
#endif
    std::ostringstream at;
    at << "stripped+0x" << std::hex << site.assembled << " assembled+0x" << behind_its_call;
    EXPECT_EQ(at.str(), assembled.Text());
    EXPECT_EQ("stripped+0xff000", Named(folder / "stripped", site.build_id, base + 0xff000).Text());
}

TEST(Symbols, TextsNameEveryPlace)
{
    Site site;
    std::ostringstream outer, assembled;
    outer << "places+0x" << std::hex << site.offset << std::dec
          << " unsigned long places::innermost<long>(long) (places.cc:" << LineOf("innermost")
          << "), inlined into places::Outer::method(int) (places.cc:" << LineOf("outer") << ")";
    EXPECT_EQ(outer.str(), Named(site.path, site.build_id, base + site.offset).Text());
    std::vector<site_place> places = Named(site.path, site.build_id, base + site.assembled).Places();
    ASSERT_EQ(1u, places.size());
    assembled << "places+0x" << std::hex << site.assembled << std::dec
              << " assembled (places_assembled.S:" << places[0].line << ")";
    EXPECT_EQ(assembled.str(), Named(site.path, site.build_id, base + site.assembled).Text());
}

TEST(Symbols, NoMorePlacesThanThereIsRoom)
{
    Site site;
    TraceBuilder builder;
    builder.Object(1, site.path, base, base + 0x100000, site.build_id);
    Built built(builder.Bytes());
    const object_def *object = definitions_object_at(&built->trace.defs, base + site.offset);
    site_namer *namer = symbols_begin();
    symbols_of(namer, &built->trace);
    site_place places[3];
    for (site_place &place : places)
        strcpy(place.function, "as it was");
    EXPECT_EQ(0u, namer->places(namer, object, base + site.offset, places, 0));
    EXPECT_STREQ("as it was", places[0].function);
    EXPECT_EQ(1u, namer->places(namer, object, base + site.offset, places, 1));
    EXPECT_STREQ("as it was", places[1].function);
    EXPECT_EQ(2u, namer->places(namer, object, base + site.offset, places, 2));
    EXPECT_STREQ("as it was", places[2].function);
    EXPECT_EQ(nullptr, namer->trouble(namer, nullptr));
    symbols_end(namer);
    symbols_of(nullptr, &built->trace);
    symbols_end(nullptr);
}

TEST(Symbols, FramesWithoutObjectHaveNone)
{
    Site site;
    Named named(site.path, site.build_id, 0x1234);
    EXPECT_EQ("0x1234", named.Text());
}

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

class PerfMap
{
public:
    explicit PerfMap(uint32_t pid) : path("/tmp/perf-" + std::to_string(pid) + ".map")
    {
        std::ofstream(path) << "7f0000001000 100 py::old:/app/gone.py\n"
                               "7f0000001000 100 py::train_step:/app/model.py\n"
                               "nonsense\n"
                               "7f0000002000 20 LazyCompile:~run\n";
    }
    ~PerfMap()
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

TEST(Symbols, PythonFramesFromThePerfMap)
{
    PerfMap map(UnusedPid());
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

TEST(Symbols, APerfMapOfAnotherProcessIsNotBelieved)
{
    PerfMap map(UnusedPid());
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
    PerfMap map(UnusedPid());
    timespec now = {}, times[2] = {};
    clock_gettime(CLOCK_REALTIME, &now);
    times[0].tv_sec = times[1].tv_sec = now.tv_sec + seconds;
    EXPECT_EQ(0, utimensat(AT_FDCWD, map.path.c_str(), times, 0));
    return Named(trace, 0x7f0000001080).Text();
}

TEST(Symbols, APerfMapIsAsOldAsItsProcess)
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

TEST(Symbols, EachProcessHasItsOwnPerfMap)
{
    PerfMap map(UnusedPid());
    Built one(JitTrace(UnusedPid()).Bytes()), other(JitTrace(UnusedPid() + 1).Bytes());
    site_namer *namer = symbols_begin();
    char text[100];
    for (int turn = 0; turn < 2; turn++) {
        symbols_of(namer, &one->trace);
        EXPECT_TRUE(namer->name(namer, nullptr, 0x7f0000001080, text, sizeof text)) << turn;
        EXPECT_STREQ("train_step (model.py)", text);
        symbols_of(namer, &other->trace);
        EXPECT_FALSE(namer->name(namer, nullptr, 0x7f0000001080, text, sizeof text)) << turn;
    }
    unlink(map.path.c_str());
    symbols_of(namer, &one->trace);
    EXPECT_TRUE(namer->name(namer, nullptr, 0x7f0000001080, text, sizeof text)) << "it is read once";
    symbols_end(namer);
}

TEST(Symbols, NamesOfThePerfMapAsTheyAre)
{
    PerfMap map(UnusedPid());
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
    std::ofstream(map.path) << "7f0000001000 0 empty\n7f0000002000 10 \n7f0000003000\n7f0000004000 10 last";
    EXPECT_EQ("0x7f0000001001", text(0x7f0000001001)) << "of no size";
    EXPECT_EQ("0x7f0000002001", text(0x7f0000002001)) << "of no name";
    EXPECT_EQ("0x7f0000003001", text(0x7f0000003001));
    EXPECT_EQ("0x7f0000004001 last", text(0x7f0000004001));
    Folder folder;
    std::ofstream(folder / "elsewhere") << "7f0000004000 10 last";
    unlink(map.path.c_str());
    ASSERT_EQ(0, symlink((folder / "elsewhere").c_str(), map.path.c_str()));
    EXPECT_EQ("0x7f0000004001", text(0x7f0000004001)) << "links are not followed in a folder that all may write to";
}

TEST(Symbols, KernelNamesAreDemangled)
{
    Built built(BuildTrace(
        "1@0 launch s=L k=_ZN3foo3barIfEEvPT_i\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4\n" GOES_ON));
    EXPECT_NE(std::string::npos, built.Text().find("void foo::bar<float>(float*, int)")) << built.Text();
}

} // namespace
} // namespace ptds
