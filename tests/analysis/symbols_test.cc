// SPDX-License-Identifier: Apache-2.0
//
// Names of call sites: functions and lines of a program that was built for it, inlined frames, debug files apart from their
// object, and objects that are not those of the trace.
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>

#include "analysis/base/text.h"
#include "analysis/trace/frames.h"
#include "tests/analysis/named.h"

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
    const object_def *object = frames_object_at(&built->trace.defs, base + site.offset);
    site_namer *namer = symbolizer_begin();
    symbolizer_of(namer, &built->trace);
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
    symbolizer_end(namer);
    symbolizer_of(nullptr, &built->trace);
    symbolizer_end(nullptr);
}

TEST(Symbols, FramesWithoutObjectHaveNone)
{
    Site site;
    Named named(site.path, site.build_id, 0x1234);
    EXPECT_EQ("0x1234", named.Text());
}

/* The program's own bytes with other names of the same length: the build is the same one. */
void Rename(const std::string &from, const std::string &to, const std::vector<std::array<std::string, 2>> &names)
{
    std::string bytes = read_file(from);
    for (const auto &[name, as] : names) {
        ASSERT_EQ(name.size(), as.size()) << name;
        for (size_t at = 0; (at = bytes.find(name, at)) != std::string::npos; at += name.size())
            bytes.replace(at, name.size(), as);
    }
    std::ofstream(to) << bytes;
}

TEST(Symbols, AFileWithAWholePathKeepsIt)
{
    Site site;
    Folder folder;
    Rename(site.path, folder / "places", {{"tests/analysis", "/ests/analysis"}});
    std::vector<site_place> places = Named(folder / "places", site.build_id, base + site.offset).Places();
    ASSERT_EQ(2u, places.size());
    EXPECT_STREQ("/ests/analysis/places.cc", places[0].file);
    EXPECT_STREQ("/ests/analysis/places.cc", places[1].file);
}

TEST(Symbols, NamesInFilesCannotSteerATerminal)
{
    Site site;
    Folder folder;
    Rename(site.path, folder / "places",
           {{"assembled", "as\x1b[2Jled"}, {"innermost", "inn\rrmo\nt"}, {"places.cc", "pla\xe2\x80\xae.cc"}});
    std::vector<site_place> places = Named(folder / "places", site.build_id, base + site.offset).Places();
    ASSERT_EQ(2u, places.size());
    EXPECT_STREQ("unsigned long places::inn?rmo?t<long>(long)", places[0].function);
    EXPECT_EQ("pla???.cc", std::string(text_base(places[0].file)));
    EXPECT_EQ("pla???.cc", std::string(text_base(places[1].file)));
    std::ostringstream inlined;
    inlined << "places+0x" << std::hex << site.offset << std::dec
            << " unsigned long places::inn?rmo?t<long>(long) (pla???.cc:" << LineOf("innermost")
            << "), inlined into places::Outer::method(int) (pla???.cc:" << LineOf("outer") << ")";
    EXPECT_EQ(inlined.str(), Named(folder / "places", site.build_id, base + site.offset).Text());
    std::string assembled = Named(folder / "places", site.build_id, base + site.assembled).Text();
    EXPECT_NE(std::string::npos, assembled.find(" as?[2Jled (places_as?[2Jled.S:")) << assembled;
}

/* The program was built again between two loads of it, or another one is a copy. */
TEST(Symbols, FilesAreTheSameByPathAndBuild)
{
    Site site;
    Folder folder;
    std::string other = site.build_id, copy = folder / "copy";
    other.back() = static_cast<char>(other.back() ^ 1);
    ASSERT_EQ(0, run({{"/bin/cp", site.path, copy}}).exit);
    TraceBuilder builder;
    builder.Object(1, site.path, base, base + 0x100000, site.build_id);
    builder.Object(2, site.path, base + 0x200000, base + 0x300000, other);
    builder.Object(3, folder / "gone", base + 0x400000, base + 0x500000, site.build_id);
    builder.Object(4, copy, base + 0x600000, base + 0x700000, site.build_id);
    Named named(builder, base + site.offset);
    EXPECT_EQ(2u, named.Places().size());
    EXPECT_EQ(nullptr, named.Trouble());
    EXPECT_STREQ("changed since the trace", named.Trouble(base + 0x200000 + site.offset));
    EXPECT_STREQ("no such file here", named.Trouble(base + 0x400000 + site.offset));
    EXPECT_EQ(nullptr, named.Trouble(base + 0x600000 + site.offset));
}

TEST(Symbols, KernelNamesAreDemangled)
{
    Built built(BuildTrace(
        "1@0 launch s=L k=_ZN3foo3barIfEEvPT_i\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4\n" GOES_ON));
    EXPECT_NE(std::string::npos, built.Text().find("void foo::bar<float>(float*, int)")) << built.Text();
}

} // namespace
} // namespace ptds
