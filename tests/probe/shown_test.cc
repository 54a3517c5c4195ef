// SPDX-License-Identifier: Apache-2.0
//
// What does `ptds probe` answer, of runs that are made up: how they ended, what they took and printed, what was recorded?
// Against shown/NAME.txt: of five programs the whole screen and the JSON, of the others what the screen says above its
// table, the exit status, the facts of the JSON, and the sums of the times (support/sums.h).
#include "tests/probe/shown.h"

namespace ptds
{
namespace
{

const std::string two_threads = "1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n"
                                "1@100+2 launch s=L k=_Z1aPf args=A\n2@101+2 launch s=L k=_Z1bPf args=B\n"
                                "1@110+10000 sync s=L\n2@111+20000 sync s=L\n";
const std::string with_times = two_threads + "device-run 1@100 105+10000\ndevice-run 2@101 10106+10000\n";
const std::string wrong = "setting policy=per-thread\n1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                          "1@10 memset s=L target=P1 bytes=64 dst=A\n2@20 copy s=L target=P2 src=A dst=0x40000 bytes=64\n"
                          "1@5000+3 sync s=P1\n";
const std::string alone = "setting policy=observe\n1@0 launch s=L k=a\n1@10+50 sync s=L\n";

TEST_F(ProbeShown, ThingsHaveNames)
{
    const std::string folder = "a/folder/with/files/of/results/";
    for (size_t size : {9, 10}) {
        names_.push_back(folder + std::string(size, 'f'));
        probe_.outputs.items[probe_.outputs.count].name = names_.back().c_str();
        probe_.outputs.count++;
    }
    ASSERT_EQ(4u, compare_runs_things(&probe_));
    EXPECT_STREQ("standard output", compare_runs_thing_name(&probe_, 0));
    EXPECT_STREQ("standard error", compare_runs_thing_name(&probe_, 1));
    EXPECT_EQ(folder + "fffffffff", compare_runs_thing_name(&probe_, 2)) << "40 characters";
    EXPECT_STREQ("ffffffffff", compare_runs_thing_name(&probe_, 3)) << "one more";
}

TEST_F(ProbeShown, AllPoliciesOfAProgramThatGetsFaster)
{
    rounds_add_policy(&probe_, "per-thread", false);
    rounds_add_policy(&probe_, "stream", false);
    variant &four = probe_.variants[probe_.count++] = {};
    four.name = "guarded, 4 lanes";
    four.policy = "guarded";
    four.lanes = 4;
    for (double ms : {120, 100, 101, 103})
        Run("bare", ms, 0, {"sum 5\ntime " + std::to_string(ms) + " ms\n", ""});
    Rounds("none", {120, 101, 102, 104}, 0.5, {"sum 5\ntime 1.5 ms\n"});
    Rounds("observe", {120, 111, 112, 114}, 0, {"sum 5\ntime 101 ms\n"});
    Rounds("guarded", {90, 60, 61, 62}, 0.4, {"sum 5\ntime 60 ms\n", "ptds: one note\n"});
    Run("per-thread", 90, 0, {"sum 5\ntime 60 ms\n"});
    for (double ms : {55, 56, 57})
        Run("per-thread", ms, 10, {"sum 1\ntime 60 ms\n"});
    Rounds("stream", {200, 201, 202, 203}, 0.6, {"sum 5\ntime 200 ms\n"});
    Rounds("guarded, 4 lanes", {90, 40, 41, 42}, 0.3, {"sum 5\ntime 40 ms\n"});
    Recorded("observe", {"setting policy=observe\n" + with_times});
    Recorded("guarded", {"setting policy=guarded\n" + two_threads});
    Recorded("per-thread", {wrong});
    Recorded("stream", {"setting policy=stream\n" + two_threads});
    Recorded("guarded, 4 lanes", {"setting policy=guarded\n" + two_threads});
    Is("faster");
}

/* Guarded with 0x1 moved: is that faster, and right? */
TEST_F(ProbeShown, TheLegacyStreamByName)
{
    const std::string named = two_threads + "1@30200 launch s=L k=_Z1aPf args=A explicit\n";
    variant &moved = probe_.variants[probe_.count++] = {};
    moved.name = "guarded, 0x1 moved";
    moved.policy = "guarded";
    moved.moves_explicit = true;
    for (const char *name : {"bare", "none", "observe", "guarded"})
        Rounds(name, {120, 101, 102, 104}, 0.5, {"sum 5\n"});
    Rounds("guarded, 0x1 moved", {70, 51, 52, 53}, 0.5, {"sum 5\n"});
    Recorded("observe", {"setting policy=observe\n" + named});
    Recorded("guarded", {"setting policy=guarded\n" + named});
    Recorded("guarded, 0x1 moved", {"setting policy=guarded\n" + two_threads});
    Is("explicit");
}

TEST_F(ProbeShown, TheLegacyStreamByNameIsNeeded)
{
    const std::string named = two_threads + "1@30200 launch s=L k=_Z1aPf args=A explicit\n";
    variant &moved = probe_.variants[probe_.count++] = {};
    moved.name = "guarded, 0x1 moved";
    moved.policy = "guarded";
    moved.moves_explicit = true;
    for (const char *name : {"bare", "none", "observe", "guarded"})
        Rounds(name, {120, 101, 102, 104}, 0.5, {"sum 5\n"});
    Rounds("guarded, 0x1 moved", {70, 51, 52, 53}, 0.5, {"sum 1\n"});
    Recorded("observe", {"setting policy=observe\n" + named});
    Recorded("guarded", {"setting policy=guarded\n" + named});
    Recorded("guarded, 0x1 moved", {"setting policy=guarded\n" + two_threads});
    Is("explicit-needed");
}

TEST_F(ProbeShown, NothingToGain)
{
    Rounds("bare", {50, 50, 50, 51}, 0, {"a\nb"});
    Rounds("none", {50, 50, 50, 51}, 0, {"a\nb"});
    Rounds("observe", {50, 50, 50, 51}, 0, {"a\nb"});
    Rounds("guarded", {50, 50, 50, 51}, 0, {"a\nb"});
    Recorded("observe", {alone, "setting policy=observe\n" + two_threads + "pid 4711\n", "pid 9\n1@0 none\n"});
    Recorded("guarded", {alone});
    Is("nothing");
}

TEST_F(ProbeShown, BareFails)
{
    Run("bare", 5, 0, {"", "one\ntwo\nthree\nfour\n"}, {END_EXITED, 3});
    probe_.done = 0;
    Is("bare-fails");
}

TEST_F(ProbeShown, EndsOtherwiseThanBare)
{
    rounds_add_policy(&probe_, "per-thread", true);
    rounds_add_policy(&probe_, "stream", true);
    for (const char *name : {"bare", "none", "observe"})
        Rounds(name, {50, 50, 50, 51}, 0.5, {});
    Run("guarded", 50, 0, {});
    Run("guarded", 50, 25, {"", "ptds: !! what the shim said\n"}, {END_SIGNALLED, SIGSEGV});
    Run("guarded", 50, 25, {"don"}, {END_EXITED, 7});
    Run("guarded", 50, 25, {});
    Run("per-thread", 20000, 0, {""}, {END_TIMED_OUT, 0});
    Of("per-thread").facts.limit_ns = 20000 * MS;
    Run("stream", 50, 0, {});
    Run("stream", 50, 0, {"done\nmore\n"}, {END_TERMINAL, 0});
    Recorded("observe", {alone});
    Recorded("guarded", {alone});
    Is("ends-otherwise");
}

TEST_F(ProbeShown, FilesAndLinesThatComeAndGo)
{
    AddFile();
    rounds_add_policy(&probe_, "per-thread", true);
    rounds_add_policy(&probe_, "stream", false);
    for (const char *name : {"bare", "none", "observe"})
        Rounds(name, {50, 50, 50, 51}, 0.5, {"done\n", "warning one\n", "a 1\nb 2\n"});
    Rounds("guarded", {50, 50, 50, 51}, 0.5, {"done\n", "warning one\n", "a 1\n"});
    Rounds("per-thread", {50, 50, 50, 51}, 0.5, {"done\n", "warning one\n", "a 1\nb 2\nc 3\n"});
    Rounds("stream", {50, 50, 50, 51}, 0.5, {"done\n", "warning two\n", "a 1\nb 2\n"});
    Recorded("observe", {alone});
    Recorded("guarded", {alone});
    Recorded("per-thread", {alone});
    Recorded("stream", {alone});
    Is("files");
}

TEST_F(ProbeShown, BytesThatDiffer)
{
    AddFile();
    const std::string bytes("a\0b1", 4), other("a\0b2", 4);
    for (const char *name : {"bare", "none", "observe"})
        Rounds(name, {50, 50}, 0.5, {"", "", bytes});
    Rounds("guarded", {50, 50}, 0.5, {"", "", other});
    probe_.rounds = probe_.done = 1;
    Recorded("observe", {alone});
    Recorded("guarded", {alone});
    Is("bytes");
}

TEST_F(ProbeShown, OutputThatVaries)
{
    for (const char *word : {"fast", "slow", "fast", "fast"})
        Run("bare", 50, 0, {"x\n" + std::string(word) + "\n", "1 2\n"});
    for (const char *name : {"none", "observe", "guarded"})
        Rounds(name, {50, 50, 50, 51}, 0.5, {"x\nfast\n", "1 2\n"});
    Recorded("observe", {alone});
    Recorded("guarded", {alone});
    Is("varies");
}

TEST_F(ProbeShown, FilesThatAreNotWritten)
{
    AddFile();
    Said nothing = {"", ""};
    nothing.writes = false;
    for (const char *name : {"bare", "none", "observe", "guarded"})
        Rounds(name, {50, 50, 50, 51}, 0.5, nothing);
    Recorded("observe", {alone});
    Recorded("guarded", {alone});
    Is("not-written");
}

TEST_F(ProbeShown, AFileThatAPolicyDoesNotWrite)
{
    AddFile();
    Said nothing = {"done\n", ""};
    nothing.writes = false;
    for (const char *name : {"bare", "none", "observe"})
        Rounds(name, {50, 50, 50, 51}, 0.5, {"done\n", "", ""}); /* an empty one */
    Rounds("guarded", {50, 50, 50, 51}, 0.5, nothing);
    Recorded("observe", {alone});
    Recorded("guarded", {alone});
    Is("absent");
}

TEST_F(ProbeShown, TheFirstRunPrintsSomethingElse)
{
    AddFile();
    Run("bare", 90, 0, {"building cache\nsum 5\n", "", "cold\n"});
    for (double ms : {50, 50, 51})
        Run("bare", ms, 0, {"sum 5\n", "", "warm\n"});
    for (const char *name : {"none", "observe", "guarded"})
        Rounds(name, {50, 50, 50, 51}, 0.5, {"sum 5\n", "", "warm\n"});
    Recorded("observe", {alone});
    Recorded("guarded", {alone});
    Is("first-apart");
}

/* Twice as fast; a clock of whole seconds shows it. */
TEST_F(ProbeShown, ATimeThatDoesNotVary)
{
    rounds_add_policy(&probe_, "per-thread", true);
    rounds_add_policy(&probe_, "stream", true);
    for (const char *name : {"bare", "none", "observe"})
        Rounds(name, {4300, 4200, 4210, 4220}, 0.9, {"sum 5\ntook 4 s\n"});
    Rounds("guarded", {4300, 2000, 2010, 2020}, 0.9, {"sum 5\ntook 2 s\n"});
    Run("per-thread", 2000, 1800, {"sum 5\ntook 2 s\n"});
    Rounds("per-thread", {2000, 2010, 2020}, 0.9, {"sum 1\ntook 2 s\n"});
    Rounds("stream", {4300, 4200, 4210, 4220}, 0.9, {"sum 5\ntook 1 s\n"});
    for (const char *name : {"observe", "guarded", "per-thread", "stream"})
        Recorded(name, {alone});
    Is("coarse");
}

TEST_F(ProbeShown, NumbersThatVaryAreNoTimesWhereThePaceIsTheSame)
{
    rounds_add_policy(&probe_, "per-thread", true);
    for (double loss : {0.5, 0.52, 0.51, 0.53})
        Run("bare", 50, 0, {"loss " + std::to_string(loss) + "\n"});
    for (const char *name : {"none", "observe"})
        Rounds(name, {50, 50, 50, 51}, 0.5, {"loss 0.6\n"});
    Rounds("guarded", {50, 50, 50, 51}, 0.5, {"loss 0.8\n"});
    Rounds("per-thread", {50, 50, 50, 51}, 0.5, {"loss 0.65\n"});
    for (const char *name : {"observe", "guarded", "per-thread"})
        Recorded(name, {alone});
    Is("far");
}

/* ... and a later one the same. */
TEST_F(ProbeShown, WhatTheFirstRunPrintsComesAgain)
{
    for (const char *line : {"a\n", "b\n", "b\n", "b\n"})
        Run("bare", 50, 0, {line});
    for (const char *name : {"none", "observe"})
        Rounds(name, {50, 50, 50, 51}, 0.5, {"b\n"});
    for (const char *line : {"b\n", "a\n", "b\n", "b\n"})
        Run("guarded", 50, 0, {line});
    Recorded("observe", {alone});
    Recorded("guarded", {alone});
    Is("first-again");
}

TEST_F(ProbeShown, NothingIsPrinted)
{
    for (const char *name : {"bare", "none", "observe", "guarded"})
        Rounds(name, {50, 50}, 0.5, {"", ""});
    probe_.rounds = probe_.done = 1;
    Recorded("observe", {"setting policy=observe\n1@0 launch s=N1 k=a\n1@10+50 sync s=N1\n"});
    Recorded("guarded", {alone});
    Is("not-printed");
}

TEST_F(ProbeShown, ACommandCompares)
{
    AddFile();
    probe_.command = "cmp -s";
    for (const char *name : {"bare", "none", "observe"})
        Rounds(name, {50, 50, 50, 51}, 0.5, {"a\n", "", "same\n"});
    Run("guarded", 50, 0, {"b\n", "", "same\n"});
    for (double ms : {80, 81, 82})
        Run("guarded", ms, 40, {"b\n", "", "other\n"});
    Recorded("observe", {alone});
    Recorded("guarded", {alone});
    Is("command");
}

TEST_F(ProbeShown, ACommandThatSaysThatBareDiffers)
{
    probe_.command = "false";
    for (const char *name : {"bare", "none", "observe", "guarded"})
        Rounds(name, {50, 50, 50, 51}, 0.5, {"a\n"});
    Recorded("observe", {alone});
    Recorded("guarded", {alone});
    Is("command-of-bare");
}

TEST_F(ProbeShown, ACommandThatIsNotThere)
{
    probe_.command = "/nowhere/compare";
    for (const char *name : {"bare", "none", "observe", "guarded"})
        Rounds(name, {50, 50, 50, 51}, 0.5, {"a\n"});
    Recorded("observe", {alone});
    Recorded("guarded", {alone});
    Is("command-not-there");
}

TEST_F(ProbeShown, Interrupted)
{
    rounds_add_policy(&probe_, "per-thread", true);
    for (const char *name : {"bare", "none", "observe", "guarded"})
        Rounds(name, {50, 50}, 0.5, {"a\n"});
    probe_.done = 0;
    probe_.interrupted = true;
    Recorded("observe", {alone});
    Is("interrupted");
}

TEST_F(ProbeShown, WithoutARecord)
{
    for (const char *name : {"bare", "none", "observe"})
        Rounds(name, {50, 50, 50, 51}, 0, {"a\n"});
    Rounds("guarded", {50, 50, 50, 51}, 0, {"a\n", "ptds: PTDS_LANES=x: a number from 1 to 32\nptds: more\n"});
    Is("no-record");
}

TEST_F(ProbeShown, DifferentUnderObserveToo)
{
    for (const char *name : {"bare", "none"})
        Rounds(name, {50, 50, 50, 51}, 0.5, {"a\n"});
    for (const char *name : {"observe", "guarded"})
        Rounds(name, {50, 50, 50, 51}, 0.5, {"b\n"});
    Recorded("observe", {alone});
    Recorded("guarded", {wrong});
    Is("observe-too");
}

TEST_F(ProbeShown, MoreRoundsThanFit)
{
    probe_.rounds = probe_.done = 8;
    probe_.extended = true;
    probe_.controls = 2;
    probe_.auditor = "/opt/libptds_audit.so";
    std::vector<double> ms = {60, 50, 51, 52, 53, 54, 55, 56, 57};
    for (double one : {60., 50., 51., 52., 53., 54., 55., 56., 57., 58., 59.})
        Run("bare", one, 0, {"step 1 loss " + std::to_string(one) + "\nstep 2 loss 7.5\n"});
    Rounds("none", ms, 0.5, {"step 1 loss 55\nstep 2 loss 7.5\n"});
    Rounds("observe", ms, 0.5, {"step 1 loss 80\nstep 2 loss 7.5\n"});
    for (double &one : ms)
        one -= 1;
    Rounds("guarded", ms, 0.5, {"step 1 loss 75\nstep 2 loss 7.5\n"});
    Recorded("observe", {"setting policy=observe\n" + two_threads});
    std::string folder = folder_traces(&probe_.folder, "observe").text;
    std::ofstream(folder + "/broken.ptds") << "no trace";
    Recorded("guarded", {"setting policy=guarded\n" + two_threads});
    Is("many-rounds");
}

} // namespace
} // namespace ptds
