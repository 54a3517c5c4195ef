/* SPDX-License-Identifier: Apache-2.0
 *
 * The two times that `ptds probe` asks for: every door leads through them, under each policy; nothing else about a call
 * changes; and they are those of the work, however the process ends.
 */
#include <ctime>
#include <fstream>

#include "interpose/record/moments.h"
#include "tests/interpose/shim_test.h"

namespace ptds
{
namespace
{

uint64_t Now()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

moments ReadOne(const std::string &path)
{
    moments found = {};
    std::ifstream(path, std::ios::binary).read(reinterpret_cast<char *>(&found), sizeof found);
    EXPECT_EQ(MOMENTS_MAGIC, found.magic) << path;
    return found;
}

/* Of the one process that left any. */
moments Read(const Folder &folder)
{
    std::vector<std::string> files = folder.files();
    EXPECT_EQ(1u, files.size());
    return files.size() == 1 ? ReadOne(folder / files[0]) : moments();
}

uint64_t Last(const moments &of)
{
    uint64_t last = 0;
    for (const auto &place : of.place)
        last = place.last > last ? place.last : last;
    return last;
}

std::vector<std::string> Calls(const std::string &out)
{
    std::vector<std::string> calls;
    for (const std::string &line : lines_of(out))
        if (line.compare(0, 5, "call ") == 0)
            calls.push_back(line);
    return calls;
}

class Moments : public testing::TestWithParam<const char *>
{
};

TEST_P(Moments, EveryDoorIsWatchedAndNothingElseChanges)
{
    Folder folder;
    Settings settings = {{"PTDS_POLICY", GetParam()}};
    Outcome without = run(shimmed("doors_child", {}, settings));
    settings["PTDS_MOMENTS"] = folder.path();
    uint64_t before = Now();
    Outcome with = run(shimmed("doors_child", {}, settings));
    ASSERT_EQ(0, with.exit) << with;
    EXPECT_EQ("", with.err);
    EXPECT_EQ(Calls(without.out), Calls(with.out));
    for (const char *door : {"elf", "dlsym", "dlvsym", "gpa1", "gpa2"})
        for (const char *what : {"cuMemcpyDtoH_v2 wrapper-base", "cuLaunchKernel wrapper-base",
                                 "cuLaunchKernel_ptsz wrapper-twin", "cuStreamSynchronize wrapper-base"}) {
            std::string line = std::string("addr ") + door + " " + what + "\n";
            EXPECT_NE(std::string::npos, with.out.find(line)) << line;
        }
    moments found = Read(folder);
    EXPECT_LT(before, found.first);
    EXPECT_LT(found.first, Last(found));
    EXPECT_LT(Last(found), Now());
}

/* Its work is no longer its parent's, which works on when it has ended. */
TEST_P(Moments, AForkedChildsWorkIsItsOwn)
{
    Folder folder;
    const Outcome outcome =
        run(shimmed("process_child", {"fork-after", "3"}, {{"PTDS_POLICY", GetParam()}, {"PTDS_MOMENTS", folder.path()}}));
    int child = 0;
    ASSERT_EQ(5, outcome.exit) << outcome;
    ASSERT_EQ(1, sscanf(outcome.out.c_str(), "child %d", &child)) << outcome;
    ASSERT_EQ(2u, folder.files().size());
    const moments own = ReadOne(folder / std::to_string(outcome.pid)), other = ReadOne(folder / std::to_string(child));
    EXPECT_LT(0u, own.first);
    EXPECT_LT(own.first, other.first);
    EXPECT_LT(other.first, Last(other));
    EXPECT_LT(Last(other), Last(own));
}

/* Where nothing else is done, either. */
TEST(MomentsOfWork, WhatIsNoneIsTheDriversOwn)
{
    Folder folder;
    const Outcome with = run(shimmed("doors_child", {}, {{"PTDS_POLICY", "none"}, {"PTDS_MOMENTS", folder.path()}}));
    for (const char *door : {"dlsym", "dlvsym", "gpa1", "gpa2"})
        for (const char *what :
             {"cuStreamBeginCapture base", "cuStreamBeginCapture_ptsz twin", "cuStreamBeginCapture_v2 base",
              "cuStreamEndCapture base", "cuStreamEndCapture_ptsz twin", "cuStreamIsCapturing base",
              "cuStreamIsCapturing_ptsz twin", "cuStreamGetCaptureInfo_v2 base", "cuStreamGetCaptureInfo_v3_ptsz twin",
              "cuGraphicsMapResources base", "cuGraphicsUnmapResources_ptsz twin", "cuGLMapBufferObject_v2 base"}) {
            const std::string line = std::string("addr ") + door + " " + what + "\n";
            EXPECT_NE(std::string::npos, with.out.find(line)) << line;
        }
}

INSTANTIATE_TEST_SUITE_P(Every, Moments, testing::Values("none", "observe", "per-thread", "guarded", "stream"),
                         [](const auto &of) {
                             std::string name = of.param;
                             return name == "per-thread" ? "per_thread" : name;
                         });

Command Overlap(const Folder &folder, Settings settings)
{
    std::string simulator = data_file("tests/sim/libcuda.so.1");
    Command command;
    command.argv = {data_file("tests/apps/overlap"), "4", "5", "10000000"};
    command.libraries = {simulator.substr(0, simulator.rfind('/'))};
    command.preload = {shim()};
    command.env = settings;
    command.env["PTDS_REPORT"] = "off";
    command.env["PTDS_MOMENTS"] = folder.path();
    return command;
}

/* Four threads, of which each has 50 ms of work: one after the other under none, side by side under guarded. */
TEST(MomentsTest, TheWorkOfAllThreads)
{
    Folder none, guarded;
    ASSERT_EQ(0, run(Overlap(none, {{"PTDS_POLICY", "none"}})).exit);
    ASSERT_EQ(0, run(Overlap(guarded, {{"PTDS_POLICY", "guarded"}})).exit);
    moments one = Read(none), two = Read(guarded);
    uint64_t before = Last(one) - one.first, after = Last(two) - two.first;
    EXPECT_GE(before, 200u * 1000000);
    EXPECT_GE(after, 50u * 1000000);
    EXPECT_LT(after, before);
}

TEST(MomentsTest, NoneWhereTheRunHasARecordOrAListOfObjects)
{
    for (const Settings &settings : std::vector<Settings>{{{"PTDS_REPORT", "summary"}},
                                                          {{"PTDS_EXCLUDE", "*/nothing.so"}},
                                                          {{"PTDS_DISABLE", "1"}},
                                                          {{"PTDS_MOMENTS", "not/absolute"}}}) {
        Folder folder;
        Command command = Overlap(folder, {{"PTDS_POLICY", "guarded"}});
        for (const auto &one : settings)
            command.env[one.first] = one.second;
        EXPECT_EQ(0, run(command).exit);
        EXPECT_TRUE(folder.files().empty()) << settings.begin()->first;
    }
}

/* A folder that is not there, and one in which nobody may write, cost nothing but the times. */
TEST(MomentsTest, WhereThereIsNoFileNothingHappens)
{
    Folder folder;
    Command command = Overlap(folder, {{"PTDS_POLICY", "none"}});
    command.env["PTDS_MOMENTS"] = "/no/such/folder";
    Outcome ran = run(command);
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_EQ("", ran.err);
}

} // namespace
} // namespace ptds
