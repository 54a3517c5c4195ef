// SPDX-License-Identifier: Apache-2.0
//
// `ptds probe` as its users meet it: whole programs on the simulated driver, the first line, the exit status, and what is
// left behind, which is nothing.
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <jansson.h>

#include "analysis/probe/answer/times.h"
#include "tests/support/run_child.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NEEDS_A_PLAIN_SHIM() GTEST_SKIP() << "the shim is built with a sanitizer"
#else
#define NEEDS_A_PLAIN_SHIM() (void)0
#endif

namespace ptds
{
namespace
{

using Words = std::vector<std::string>;

std::string Subject()
{
    return data_file("tests/probe/subject");
}

/* The probe's temporary files go into a folder of the test's own. */
Command Probe(const Folder &folder, const Words &options, const Words &program)
{
    std::string simulator = data_file("tests/sim/libcuda.so.1");
    Command command;
    command.argv = {data_file("analysis/ptds"), "probe"};
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    command.argv.push_back("--");
    command.argv.insert(command.argv.end(), program.begin(), program.end());
    command.env = {{"PTDS_LIBRARY", shim()}, {"TMPDIR", folder.path()}};
    command.libraries = {simulator.substr(0, simulator.rfind('/'))};
    return command;
}

bool Has(const Outcome &outcome, const std::string &part)
{
    return outcome.out.find(part) != std::string::npos;
}

std::string First(const Outcome &outcome)
{
    return outcome.out.substr(0, outcome.out.find('\n'));
}

bool Begins(const Outcome &outcome, const std::string &part)
{
    return outcome.out.compare(0, part.size(), part) == 0;
}

class ProbeTest : public testing::Test
{
protected:
    void SetUp() override
    {
        NEEDS_A_PLAIN_SHIM();
    }
    Outcome Run(const Words &options, const Words &program)
    {
        return run(Probe(folder_, options, program));
    }
    /* With a round that counts and the warm-up. */
    Outcome RunSubject(Words options, Words words)
    {
        options.insert(options.begin(), {"--rounds", "1"});
        words.insert(words.begin(), Subject());
        return Run(options, words);
    }
    Folder folder_;
};

TEST_F(ProbeTest, AProgramThatGetsFaster)
{
    std::string program = data_file("tests/apps/overlap");
    Outcome ran = Run({}, {program, "4", "10", "10000000"});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "right under guarded; ") && First(ran).find("x faster (") != std::string::npos) << ran;
    EXPECT_TRUE(Has(ran, "  standard output: compared but for 1 number that varies bare against bare (line 2: \"time_ms "))
        << ran;
    EXPECT_TRUE(Has(ran, "  Not compared under guarded: 1 number far from bare's (line 2 of standard output: \"time_ms "))
        << ran;
    EXPECT_TRUE(Has(ran, "; 5 threads, 1 stream, ")) << ran;
    EXPECT_TRUE(Has(ran, " operations on the default stream moved\n")) << ran;
    EXPECT_TRUE(Has(ran, "\nLD_PRELOAD=" + shim() + " PTDS_POLICY=guarded PTDS_REPORT=off " + program + " 4 10 10000000\n"))
        << ran;
    EXPECT_EQ("", ran.err) << "progress is for terminals";
    EXPECT_TRUE(folder_.files().empty()) << "temporary files";
}

/* Guarded keeps what the program puts on 0x1; moved, two threads' work runs side by side. */
TEST_F(ProbeTest, WorkOnTheLegacyStreamByName)
{
    std::string program = data_file("tests/apps/named_legacy");
    Outcome ran = Run({"--shake", "2", "--keep"}, {program, "apart", "4", "20", "4000000"});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "right under guarded, 0x1 moved; ") && First(ran).find("x faster (") != std::string::npos)
        << ran;
    EXPECT_TRUE(Has(ran, "\nright under guarded; ")) << ran;
    EXPECT_TRUE(Has(ran,
                    "\nthe program names 0x1 (CU_STREAM_LEGACY) in 164 operations: guarded keeps such work there, unless "
                    "PTDS_EXPLICIT_LEGACY=remap\n"))
        << ran;
    EXPECT_TRUE(Has(ran, "\nRecorded under guarded, 0x1 moved: ran ")) << ran;
    EXPECT_TRUE(Has(ran, "  guarded, 0x1 moved as bare in 2 runs\n")) << ran;
    EXPECT_TRUE(Has(ran, " PTDS_POLICY=guarded PTDS_EXPLICIT_LEGACY=remap PTDS_REPORT=off " + program + " apart ")) << ran;
    size_t at = ran.out.find("What each run printed and recorded: ");
    ASSERT_NE(std::string::npos, at) << ran;
    std::string kept = ran.out.substr(at + 36, ran.out.find('\n', at) - at - 36);
    for (const char *run : {"guarded-shaken.2", "guarded-explicit-shaken.2"})
        EXPECT_EQ(0, access((kept + "/" + run + ".out").c_str(), R_OK)) << run << ": each has files of its own";
}

/* 0x1 and the threads' own default streams are two things: moved, the order between them stays. */
TEST_F(ProbeTest, TheLegacyStreamByNameBesideThreadsOwn)
{
    std::string program = data_file("tests/apps/named_legacy");
    Outcome ran = Run({"--rounds", "1", "--json", "--shake", "5"}, {program, "both"});
    json_t *root = json_loads(ran.out.c_str(), 0, nullptr), *answers = json_object_get(root, "answers");
    ASSERT_EQ(2u, json_array_size(answers)) << ran;
    json_t *moved = json_array_get(answers, 1);
    EXPECT_STREQ("remap", json_string_value(json_object_get(moved, "explicit_legacy"))) << ran;
    EXPECT_STREQ("right", json_string_value(json_object_get(moved, "answer"))) << ran;
    EXPECT_TRUE(json_is_null(json_object_get(json_array_get(answers, 0), "explicit_legacy"))) << ran;
    json_t *record = json_object_get(json_array_get(json_object_get(root, "variants"), 4), "record");
    EXPECT_EQ(0, json_integer_value(json_object_get(record, "kept_explicit_legacy"))) << ran;
    EXPECT_EQ(66, json_integer_value(json_object_get(record, "remapped"))) << ran;
    record = json_object_get(json_array_get(json_object_get(root, "variants"), 3), "record");
    EXPECT_EQ(60, json_integer_value(json_object_get(record, "kept_explicit_legacy"))) << ran;
    json_decref(root);
}

/* As bare but for luck, which is the pause of the program. */
TEST_F(ProbeTest, WorkThatStartsLateShowsWhatAPolicyTookAway)
{
    std::string program = data_file("tests/apps/lucky");
    Outcome ran = Run({"--rounds", "1", "--policy", "per-thread", "--shake", "2"}, {program, "threads"});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_EQ("do not use per-thread: when work starts late, 2 of 2 runs differ from bare, and under none 0 of 2; "
              "PTDS_SHAKE=1: the program ends with status 1",
              First(ran));
    EXPECT_TRUE(Has(ran, "\nright under guarded; ")) << ran;
    EXPECT_TRUE(Has(ran, "\nShaken: work starts late at random, seeds 1 to 2. Times may differ, results not:\n"
                         "  none       as bare in 2 runs\n"
                         "  guarded    as bare in 2 runs\n"
                         "  per-thread 2 of 2 runs differ; PTDS_SHAKE=1: the program ends with status 1\n"
                         "  LD_PRELOAD=" +
                             shim() + " PTDS_POLICY=per-thread PTDS_SHAKE=1 PTDS_REPORT=off " + program + " threads\n"))
        << ran;
    EXPECT_TRUE(folder_.files().empty()) << "temporary files";
}

TEST_F(ProbeTest, WorkThatStartsLateShowsWhatTheProgramLacks)
{
    std::string program = data_file("tests/apps/lucky");
    Outcome ran = Run({"--rounds", "1", "--shake", "2"}, {program, "streams"});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_TRUE(Has(ran,
                    "\nthe program itself is right by luck: when its work starts late it shows another result, without "
                    "any policy\n"))
        << ran;
    EXPECT_TRUE(Has(ran, "\n  none       2 of 2 runs differ; PTDS_SHAKE=1: the program ends with status 1\n"
                         "  guarded    2 of 2 runs differ; "))
        << ran;
    EXPECT_TRUE(Has(ran, " PTDS_POLICY=none PTDS_SHAKE=1 PTDS_REPORT=off ")) << ran;
}

TEST_F(ProbeTest, WorkThatStartsLateShowsNothingWhereThereIsOrder)
{
    std::string program = data_file("tests/apps/lucky");
    Outcome ran = Run({"--rounds", "1", "--json", "--shake", "2"}, {program, "ordered"});
    EXPECT_EQ(0, ran.exit) << ran;
    json_t *root = json_loads(ran.out.c_str(), 0, nullptr), *shaken = json_object_get(root, "shaken");
    ASSERT_EQ(2u, json_array_size(shaken)) << ran;
    for (size_t i = 0; i < 2; i++) {
        json_t *one = json_array_get(shaken, i);
        EXPECT_STREQ(i == 0 ? "none" : "guarded", json_string_value(json_object_get(one, "policy")));
        EXPECT_EQ(2, json_integer_value(json_object_get(one, "runs")));
        EXPECT_EQ(0, json_integer_value(json_object_get(one, "unlike_bare")));
        EXPECT_TRUE(json_is_null(json_object_get(one, "first_seed")));
    }
    json_decref(root);
}

TEST_F(ProbeTest, WithoutSeedsNothingIsShaken)
{
    Outcome ran = Run({"--rounds", "1", "--json"}, {data_file("tests/apps/lucky"), "ordered", "0"});
    json_t *root = json_loads(ran.out.c_str(), 0, nullptr);
    EXPECT_TRUE(json_is_null(json_object_get(root, "shaken"))) << ran;
    json_decref(root);
}

/* A second of start-up and teardown, of which the first line says little. */
TEST_F(ProbeTest, TheGainIsThatOfTheCudaPart)
{
    std::string line = "sleep 0.5; '" + data_file("tests/apps/overlap") + "' 4 10 10000000; sleep 0.5";
    Outcome ran = Run({"--json"}, {"/bin/sh", "-c", line});
    EXPECT_EQ(0, ran.exit) << ran;
    json_t *root = json_loads(ran.out.c_str(), 0, nullptr);
    ASSERT_NE(nullptr, root) << ran;
    json_t *answer = json_array_get(json_object_get(root, "answers"), 0), *variants = json_object_get(root, "variants");
    auto median = [&](size_t variant, const char *times) {
        json_t *found = json_object_get(json_array_get(variants, variant), times);
        return json_integer_value(json_object_get(found, "median_ns")) / 1000000;
    };
    double cuda = (double)median(1, "cuda_times") / (double)median(3, "cuda_times");
    double whole = (double)median(0, "times") / (double)median(3, "times");
    EXPECT_GT(cuda, whole) << ran;
    json_t *told = json_object_get(answer, "cuda_times_faster");
    double expected = json_is_real(told) ? json_real_value(told) : cuda; /* on a busy machine it is not told */
    EXPECT_NEAR(cuda, expected, cuda / 10) << ran;
    EXPECT_STREQ("none", json_string_value(json_object_get(json_array_get(variants, 1), "name")));
    EXPECT_TRUE(json_is_null(json_object_get(json_array_get(variants, 0), "cuda_times"))) << "bare has no shim";
    EXPECT_GE(median(1, "cuda_times"), 390) << "40 kernels of 10 ms, one after the other";
    EXPECT_LE(median(1, "cuda_times") + 950, median(1, "times")) << "neither what is before nor what is after";
    EXPECT_GE(median(3, "cuda_times"), 95) << "guarded: 10 kernels a thread";
    EXPECT_LE(median(3, "cuda_times") + 950, median(3, "times"));
    EXPECT_NE(nullptr, strstr(json_string_value(json_object_get(answer, "words")), "; the CUDA part ")) << ran;
    json_decref(root);
}

/* Some 0.3 ms of CUDA work, whose rounds lie apart only where the machine is busy. Text and JSON say the same of it. */
TEST_F(ProbeTest, ADifferenceThatIsNoneIsToldToMachines)
{
    Outcome ran = Run({"--json"}, {Subject(), "alone"});
    json_t *root = json_loads(ran.out.c_str(), 0, nullptr);
    ASSERT_NE(nullptr, root) << ran;
    json_t *answer = json_array_get(json_object_get(root, "answers"), 0);
    std::string words = json_string_value(json_object_get(answer, "words"));
    std::string pace = json_string_value(json_object_get(answer, "cuda_pace"));
    EXPECT_GE(json_integer_value(json_object_get(answer, "cuda_noise_ns")), TIMES_FLOOR_NS) << ran;
    EXPECT_GE(json_integer_value(json_object_get(answer, "noise_ns")), TIMES_FLOOR_NS) << ran;
    EXPECT_NE(pace == "slower", json_is_null(json_object_get(answer, "cuda_times_slower"))) << ran;
    bool has_ratio = !json_is_null(json_object_get(answer, "cuda_times_faster"));
    json_decref(root);
    if (pace != "no-measurable-difference")
        GTEST_SKIP() << "a busy machine: " << words;
    EXPECT_FALSE(has_ratio) << ran;
    EXPECT_NE(std::string::npos, words.find("no measurable difference")) << words;
}

TEST_F(ProbeTest, TheCudaPartIsLeftOutWhereNobodyCanTell)
{
    Command command = Probe(folder_, {"--rounds", "1"}, {Subject(), "alone"});
    command.env["PTDS_EXCLUDE"] = "*/none.so";
    Outcome ran = run(command);
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_TRUE(Has(ran, "  The CUDA part is not known: ")) << ran;
    EXPECT_EQ(std::string::npos, First(ran).find("the CUDA part")) << ran;
}

TEST_F(ProbeTest, OneThreadAndOneStreamHaveNothingToGain)
{
    Outcome ran = Run({}, {Subject(), "alone"});
    if (First(ran).find("x slower") != std::string::npos || First(ran).find("x faster") != std::string::npos)
        GTEST_SKIP() << "a busy machine: " << First(ran);
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "nothing to gain: one thread, one stream; right under guarded; no measurable difference (the "
                            "CUDA part "))
        << ran;
    EXPECT_FALSE(Has(ran, "LD_PRELOAD")) << "nothing to copy";
}

TEST_F(ProbeTest, AProgramThatGetsSlower)
{
    Outcome ran = Run({}, {Subject(), "slow", "guarded"});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "do not use guarded: ") && First(ran).find(" the whole process ") != std::string::npos &&
                First(ran).find("x slower (3") != std::string::npos)
        << ran;
    EXPECT_TRUE(Has(ran, "twice as many rounds as asked for") && Has(ran, "Compared, of the warm-up and 6 rounds: "))
        << ran;
}

TEST_F(ProbeTest, OutputThatPerThreadMakesWrong)
{
    Outcome ran = RunSubject({"--policy", "per-thread"}, {"unordered"});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_TRUE(
        Begins(ran, "do not use per-thread: output differs in 2 of 2 rounds, because line 1 is \"sum 1\", bare \"sum 5\"\n"
                    "right under guarded; "))
        << ran;
    EXPECT_TRUE(Has(ran, "Under per-thread:\n  standard output, line 1, in round 0:\n    bare:  sum 5\n    it is: sum 1\n"))
        << ran;
    EXPECT_TRUE(Has(ran, "  its record: WRONG: ")) << ran;
    EXPECT_TRUE(Has(ran, "    cuMemsetD32Async writes 0x") && Has(ran, "    then cuMemcpyDtoH_v2 reads it in thread 1"))
        << ran;
    EXPECT_TRUE(Has(ran, "so bare ran 1 time more")) << ran;
    EXPECT_TRUE(Has(ran, " PTDS_POLICY=guarded ")) << "the line to copy is the right one";
}

TEST_F(ProbeTest, AllPoliciesAreToldButGuardedCounts)
{
    Outcome ran = RunSubject({"--all"}, {"unordered"});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "right under guarded; ")) << ran;
    EXPECT_TRUE(Has(ran, "\ndo not use per-thread: ") && Has(ran, "\nright under stream; ")) << ran;
}

/* A library that was opened by its bare name, with RTLD_DEEPBIND: what it calls no preloaded library sees. */
TEST_F(ProbeTest, TheAuditorIsInForceWhereItIsAskedFor)
{
    if (!auditor_works())
        GTEST_SKIP() << "this glibc is older than 2.35";
    std::string child = data_file("tests/interpose/audit_child"), plugin = data_file("tests/interpose/libaudit_plugin.so");
    auto probe = [&](Words options) {
        options.insert(options.begin(), {"--rounds", "1", "--compare", "true"});
        Command command = Probe(folder_, options, {child, "deep", "libaudit_plugin.so"});
        command.libraries.push_back(plugin.substr(0, plugin.rfind('/')));
        return run(command);
    };
    Outcome without = probe({}), with = probe({"--audit"});
    EXPECT_EQ(3, without.exit) << without;
    EXPECT_TRUE(Begins(without, "can't tell: no CUDA call was seen: ")) << without;
    EXPECT_EQ(0, with.exit) << with;
    EXPECT_TRUE(Has(with, "; the CUDA part ") || Has(with, "(the CUDA part ")) << "under none, too: " << with;
    with = probe({"--audit", "--policy", "per-thread"});
    EXPECT_TRUE(Has(with, "\nLD_AUDIT=" + auditor() + " LD_PRELOAD=" + shim() + " PTDS_POLICY=")) << with;
}

TEST_F(ProbeTest, TheAuditorIsInNoBareRun)
{
    if (!auditor_works())
        GTEST_SKIP() << "this glibc is older than 2.35";
    std::string line = "'" + Subject() + "' alone; echo audited by \"$LD_AUDIT\"";
    Command command = Probe(folder_, {"--rounds", "1", "--audit"}, {"/bin/sh", "-c", line});
    command.audit = {auditor()};
    Outcome ran = run(command);
    std::string begin = auditor().substr(0, 40); /* the line is cut where it is long */
    EXPECT_TRUE(Has(ran, "    bare:  audited by \n    it is: audited by " + begin)) << ran;
}

/* Opened by its path; the shim corrects what it calls, also where it only notes when that was. */
TEST_F(ProbeTest, TheCudaPartOfALibraryThatLooksPastTheShim)
{
    Outcome ran = Run({"--rounds", "1", "--compare", "true"},
                      {data_file("tests/interpose/audit_child"), "deep", data_file("tests/interpose/libaudit_plugin.so")});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_NE(std::string::npos, First(ran).find("(the CUDA part ")) << "of none, too: " << ran;
}

TEST_F(ProbeTest, LanesAreInForceWhereTheyAreTried)
{
    std::string script = "'" + Subject() + "' alone; echo lanes ${PTDS_LANES:-unset}";
    Outcome ran = Run({"--rounds", "1", "--lanes"}, {"/bin/sh", "-c", script});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "right under guarded; ")) << ran;
    for (const std::string lanes : {"1", "8"}) {
        std::string line = "do not use guarded, " + lanes + (lanes == "1" ? " lane" : " lanes") +
                           ": output differs in 2 of 2 rounds, because line 2 is \"lanes " + lanes +
                           "\", bare \"lanes unset\"\n";
        EXPECT_TRUE(Has(ran, line)) << line << ran;
    }
    EXPECT_TRUE(Has(ran, " PTDS_POLICY=guarded PTDS_REPORT=off ")) << ran;
}

/* Eight chains of 30 kernels of 20 to 200 microseconds on stream 0, from one thread. */
TEST_F(ProbeTest, LanesThatHelpAreInTheLineToCopy)
{
    Outcome ran = Run({"--lanes", "--json"}, {data_file("tests/apps/speed/chains"), "8", "30"});
    json_t *root = json_loads(ran.out.c_str(), 0, nullptr);
    ASSERT_NE(nullptr, root) << ran;
    json_t *answers = json_object_get(root, "answers");
    ASSERT_EQ(3u, json_array_size(answers)) << ran;
    EXPECT_TRUE(json_is_null(json_object_get(json_array_get(answers, 0), "lanes")));
    bool faster = false, one_lane = json_is_real(json_object_get(json_array_get(answers, 0), "cuda_times_faster"));
    for (size_t i = 1; i < 3; i++) {
        json_t *answer = json_array_get(answers, i);
        EXPECT_STREQ("guarded", json_string_value(json_object_get(answer, "policy")));
        EXPECT_EQ(i == 1 ? 1 : 8, json_integer_value(json_object_get(answer, "lanes")));
        faster |= json_is_real(json_object_get(answer, "cuda_times_faster"));
    }
    json_t *command = json_object_get(root, "command");
    bool copied = json_is_string(command) && strstr(json_string_value(command), " PTDS_LANES=") != nullptr;
    EXPECT_TRUE(copied || !faster || one_lane) << "on a busy machine nobody can tell: " << ran;
    json_decref(root);
}

TEST_F(ProbeTest, LanesAreNotTriedWhereNothingSaysThatTheyMayHelp)
{
    Outcome ran = RunSubject({"--all"}, {"alone"});
    EXPECT_FALSE(Has(ran, "lanes")) << "one chain of work: " << ran;
    ran = RunSubject({}, {"alone"});
    EXPECT_FALSE(Has(ran, "lanes")) << ran;
    Command command = Probe(folder_, {"--rounds", "1", "--lanes"}, {Subject(), "alone"});
    command.env["PTDS_LANES"] = "2";
    EXPECT_FALSE(Has(run(command), "guarded, 8 lanes")) << "it is chosen already";
    EXPECT_TRUE(Has(RunSubject({"--lanes"}, {"alone"}), "right under guarded, 8 lanes; ")) << "in any case";
    EXPECT_TRUE(Has(RunSubject({"--lanes", "--all"}, {"alone"}), "right under guarded, 8 lanes; ")) << "also among all";
}

TEST_F(ProbeTest, AProgramThatChecksItself)
{
    Outcome ran = Run({"--rounds", "1", "-p", "per-thread"}, {data_file("tests/apps/mixed_threads"), "2", "3"});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "do not use per-thread: it ends with status 1 in 2 of 2 rounds; bare ends with status 0\n"))
        << ran;
    EXPECT_TRUE(Has(ran, "    it is: WRONG ")) << ran;
}

TEST_F(ProbeTest, NumbersThatVary)
{
    Outcome ran = RunSubject({}, {"varies", "numbers"});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_TRUE(Has(ran, "compared but for 1 number that varies bare against bare (line 2: \"took ")) << ran;
}

TEST_F(ProbeTest, OutputThatCannotBeCompared)
{
    Outcome ran = RunSubject({}, {"varies", "words"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_EQ("can't tell: standard output varies in more than numbers bare against bare (line 2): give --compare CMD",
              First(ran));
    ran = RunSubject({}, {"varies", "lines"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_EQ("can't tell: standard output varies in its number of lines bare against bare: give --compare CMD",
              First(ran));
    ran = RunSubject({}, {"varies", "errors"});
    EXPECT_EQ(0, ran.exit) << "there is standard output to compare: " << ran;
    EXPECT_TRUE(Has(ran, "  standard error: not compared, it varies bare against bare\n")) << ran;
}

/* Each round begins with another one. The last run of the fourth round is the policy's, and the first that prints something
 * else; the bare runs after it do, too. */
TEST_F(ProbeTest, WhatVariesSlowlyIsLearntFromMoreBareRuns)
{
    Folder data;
    Outcome ran = Run({"--rounds", "4"}, {Subject(), "age", data / "runs", "19"});
    EXPECT_EQ(std::string::npos, First(ran).find("output differs")) << ran;
    EXPECT_TRUE(Has(ran, "Output differed, so bare ran 4 times more")) << ran;
    EXPECT_EQ("24\n", read_file(data / "runs"));
}

TEST_F(ProbeTest, CannotTellOfAProgramThatFailsBare)
{
    Outcome ran = RunSubject({}, {"fail", "bare"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_EQ("can't tell: the bare program itself ends with status 7\n  it said: no such device\n", ran.out);
    ran = RunSubject({}, {"crash", "bare"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "can't tell: the bare program itself ends by signal 11 (")) << ran;
}

TEST_F(ProbeTest, WhatGoesOnInTheBackgroundIsNotCalledRight)
{
    std::string app = "'" + Subject() + "' alone";
    Outcome ran = Run({"--rounds", "1"}, {"/bin/sh", "-c", app + "; sleep 30 &"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_EQ("can't tell: the bare program itself leaves processes behind, which were there 1.00 s after its end: give a "
              "command that waits for them\n",
              ran.out);
    ran = Run({"--rounds", "1"}, {"/bin/sh", "-c", app + "; [ \"$PTDS_POLICY\" != guarded ] || sleep 30 &"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "can't tell: under guarded the program leaves processes behind, ")) << ran;
    EXPECT_TRUE(Has(ran, "  Under guarded 2 of 2 runs left processes behind, which were there 1.00 s later.\n")) << ran;
    ran = Run({"--rounds", "1"}, {"/bin/sh", "-c", "{ sleep 0.1; " + app + "; } &"});
    EXPECT_EQ(0, ran.exit) << "one that ends soon is waited for: " << ran;
}

TEST_F(ProbeTest, CrashUnderThePolicy)
{
    Outcome ran = RunSubject({}, {"crash", "guarded"});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "do not use guarded: it ends by signal 11 (")) << ran;
    EXPECT_FALSE(Has(ran, "LD_PRELOAD")) << ran;
    ran = RunSubject({}, {"prints", "stream", "other"});
    EXPECT_EQ(0, ran.exit) << "nobody asked for stream: " << ran;
    ran = RunSubject({"-p", "stream", "-p", "per-thread"}, {"prints", "per-thread", "other"});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_TRUE(
        Begins(ran, "do not use per-thread: output differs in 2 of 2 rounds, because line 2 is \"other\", bare \"usual\"\n"
                    "right under guarded"))
        << ran;
}

/* Each fifth of its runs fails; under guarded that is the first to do so. */
TEST_F(ProbeTest, AProgramThatFailsNowAndThenIsNotBlamedOnThePolicy)
{
    Folder data;
    std::string runs = data / "runs";
    std::string script =
        "'" + Subject() + "' alone; echo x >>" + runs + "; case $(wc -l <" + runs + ") in 4|11) exit 9; esac";
    Outcome ran = Run({"--rounds", "1"}, {"/bin/sh", "-c", script});
    EXPECT_EQ(1, ran.exit) << "once, and bare never: " << ran;
    EXPECT_TRUE(Begins(ran, "do not use guarded: it ends with status 9 in 1 of 2 rounds; bare ends with status 0\n"))
        << ran;
    EXPECT_TRUE(Has(ran, "  An ending differed, so bare ran 1 time more, to learn what varies by itself.\n")) << ran;
    unlink(runs.c_str());
    script = "'" + Subject() + "' alone; echo x >>" + runs + "; case $(wc -l <" + runs + ") in 4|9) exit 9; esac";
    ran = Run({"--rounds", "1"}, {"/bin/sh", "-c", script});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_EQ("can't tell: the bare program itself ends with status 9 in 1 of 3 runs\n", ran.out);
}

TEST_F(ProbeTest, DifferentUnderObserveTooProvesNothing)
{
    Outcome ran = RunSubject({}, {"prints", "bare", "only bare"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "can't tell: standard output differs under guarded, but under observe, too")) << ran;
}

/* Both numbers of the file are processes that must be gone. */
void ExpectGone(const std::string &file)
{
    std::istringstream numbers(read_file(file));
    int count = 0;
    for (int pid; numbers >> pid; count++) {
        bool gone = false;
        for (int i = 0; i < 200 && !gone; i++, usleep(10000)) {
            std::string stat = read_file("/proc/" + std::to_string(pid) + "/stat");
            gone = stat.empty() || stat.find(") Z") != std::string::npos;
        }
        EXPECT_TRUE(gone) << pid;
    }
    EXPECT_GE(count, 2);
}

TEST_F(ProbeTest, HangsUnderThePolicy)
{
    Folder data;
    Outcome ran = RunSubject({"--timeout", "2"}, {"hang", "guarded", data / "pids"});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_EQ("do not use guarded: it hangs: no end in 2.00 s, bare ended", First(ran));
    EXPECT_TRUE(Has(ran, "     hangs\n")) << "once is enough: " << ran;
    ExpectGone(data / "pids");
    ran = RunSubject({"--timeout", "500ms"}, {"hang", "bare", data / "more"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_EQ("can't tell: the bare program itself does not end in 500.0 ms", First(ran));
    ExpectGone(data / "more");
}

/* Interrupted while the policy's first run hangs: what bare and observe showed is there, and nothing runs on. */
TEST_F(ProbeTest, CtrlCLeavesWhatIsKnown)
{
    for (int signal : {SIGINT, SIGTERM, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU, SIGPIPE}) {
        Folder data;
        std::ofstream(data / "out") << "mine";
        Running probe(Probe(folder_, {"--output", data / "out"}, {Subject(), "hang", "guarded", data / "pids"}));
        for (int i = 0; i < 2000 && read_file(data / "pids").empty(); i++)
            usleep(10000);
        usleep(100000);
        probe.kill(signal);
        Outcome ran = probe.end();
        EXPECT_EQ(3, ran.exit) << ran;
        EXPECT_EQ("can't tell: interrupted after 0 of 3 rounds", First(ran));
        EXPECT_TRUE(Has(ran, "\n  bare  ") && Has(ran, "\n  observe  ")) << ran;
        EXPECT_TRUE(Has(ran, "Recorded under observe: ran ")) << ran;
        ExpectGone(data / "pids");
        EXPECT_EQ("mine", read_file(data / "out"));
        EXPECT_TRUE(folder_.files().empty());
    }
}

TEST_F(ProbeTest, FilesAreComparedAndLeftAsTheyWere)
{
    Folder data;
    std::string out = data / "out";
    struct stat before, after;
    std::ofstream(out) << "mine\n";
    chmod(out.c_str(), 0640);
    ASSERT_EQ(0, stat(out.c_str(), &before));
    Outcome ran = RunSubject({"--output", out}, {"append", out, "result"});
    EXPECT_EQ(0, ran.exit) << "each run finds the file as the first did: " << ran;
    EXPECT_TRUE(Has(ran, "  out: compared byte for byte\n")) << ran;
    ASSERT_EQ(0, stat(out.c_str(), &after));
    EXPECT_EQ("mine\n", read_file(out));
    EXPECT_EQ(before.st_ino, after.st_ino) << "the very file";
    EXPECT_EQ(before.st_mode, after.st_mode);
    EXPECT_EQ(before.st_mtime, after.st_mtime);
    std::string finds = "grep -q mine '" + out + "' || exit 9; '" + Subject() + "' append '" + out + "' result";
    ran = Run({"--rounds", "1", "--output", out}, {"/bin/sh", "-c", finds});
    EXPECT_EQ(0, ran.exit) << "with what is in it: " << ran;
    ran = RunSubject({"--output", data / "new"}, {"append", data / "new", "result"});
    EXPECT_EQ(0, ran.exit) << ran;
    ran = RunSubject({"--output", data / "other"}, {"append", out, "result"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_EQ("can't tell: other was not written by the bare runs", First(ran));
    EXPECT_EQ(Words{"out"}, data.files()) << "what was not there is not there";
}

TEST_F(ProbeTest, AFileThatDiffers)
{
    Folder data;
    std::string out = data / "out", script = Subject() + " alone; echo $PTDS_POLICY >" + out;
    Outcome ran = Run({"--rounds", "1", "-o", data / "out", "-c", "cmp -s"}, {"/bin/sh", "-c", script});
    EXPECT_EQ(3, ran.exit) << "under observe, too: " << ran;
    script = Subject() + " alone; [ \"$PTDS_POLICY\" = guarded ] && echo guarded >" + out + " || echo >" + out;
    ran = Run({"--rounds", "1", "-o", data / "out"}, {"/bin/sh", "-c", script});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "do not use guarded: output differs in 2 of 2 rounds, because line 1 of out is "
                            "\"guarded\", bare \"\"\n"))
        << ran;
    ran = Run({"--rounds", "1", "-o", data / "out", "-c", "cmp -s"}, {"/bin/sh", "-c", script});
    EXPECT_EQ("do not use guarded: output differs in 2 of 2 rounds, because --compare says so of out", First(ran));
}

TEST_F(ProbeTest, OutputsThatAreNotPlainFilesAreRefused)
{
    Folder data;
    std::ofstream(data / "file") << "mine";
    ASSERT_EQ(0, symlink((data / "file").c_str(), (data / "link").c_str()));
    ASSERT_EQ(0, symlink("/nowhere/at/all", (data / "dangling").c_str()));
    ASSERT_EQ(0, mkfifo((data / "fifo").c_str(), 0600));
    for (const std::string &path :
         {std::string("/dev/null"), data.path(), data / "fifo", data / "dangling", data / "no/such"}) {
        Outcome ran = RunSubject({"--output", path}, {"alone"});
        EXPECT_EQ(2, ran.exit) << path << ran;
    }
    EXPECT_EQ(2, RunSubject({"-o", data / "file", "-o", data / "link"}, {"alone"}).exit) << "the same file";
    Outcome ran = RunSubject({"--output", data / "link"}, {"append", data / "file", "result"});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_EQ("mine", read_file(data / "file"));
    EXPECT_EQ(4u, data.files().size());
}

TEST_F(ProbeTest, CompareByACommand)
{
    Outcome ran = RunSubject({"--compare", "sh -c 'head -n 1 \"$0\" >\"$0.1\"; head -n 1 \"$1\" | cmp -s \"$0.1\"'"},
                             {"varies", "words"});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_TRUE(Has(ran, "  standard output: compared by sh -c ")) << ran;
    ran = RunSubject({"--compare", "cmp -s"}, {"varies", "words"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_EQ("can't tell: standard output differs bare against bare, says --compare", First(ran));
    ran = RunSubject({"--compare", "/no/such/command"}, {"alone"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_EQ("can't tell: --compare ends with status 127", First(ran));
    ran = RunSubject({"--compare", "cmp -s"}, {"prints", "guarded", "other"});
    EXPECT_EQ(1, ran.exit) << ran;
    EXPECT_EQ("do not use guarded: output differs in 2 of 2 rounds, because --compare says so", First(ran));
}

TEST_F(ProbeTest, EveryRunGetsTheSameInput)
{
    for (bool by_pipe : {true, false}) {
        Folder data;
        std::ofstream(data / "in") << "one\ntwo\n";
        Command command = Probe(folder_, {"--rounds", "1", "--keep"}, {Subject(), "reads"});
        std::string line = by_pipe ? "printf 'one\\ntwo\\n' | " : "", last = by_pipe ? "" : " <" + data / "in";
        for (const std::string &word : command.argv)
            line += "'" + word + "' ";
        command.argv = {"/bin/sh", "-c", line + last};
        Outcome ran = run(command);
        EXPECT_EQ(0, ran.exit) << ran;
        size_t at = ran.out.find("What each run printed and recorded: ");
        ASSERT_NE(std::string::npos, at) << ran;
        std::string kept = ran.out.substr(at + 36, ran.out.find('\n', at) - at - 36);
        for (const char *run : {"bare.0", "observe.1", "guarded.1"})
            EXPECT_NE(std::string::npos, read_file(kept + "/" + run + ".out").find("read one\nread two\nread all\n"))
                << run;
        EXPECT_EQ(0, run({{"/bin/rm", "-r", kept}}).exit);
    }
    EXPECT_TRUE(folder_.files().empty());
}

TEST_F(ProbeTest, NothingPrintedIsSaid)
{
    Outcome ran = RunSubject({}, {"silent"});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_TRUE(First(ran).find("right under guarded, by its exit status alone; ") != std::string::npos) << ran;
}

TEST_F(ProbeTest, NoCudaCallAndNoProgram)
{
    Outcome ran = Run({"--rounds", "1"}, {"/bin/echo", "hello"});
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "can't tell: no CUDA call was seen")) << ran;
    ran = Run({}, {"/no/such/program"});
    EXPECT_EQ(2, ran.exit) << ran;
    EXPECT_EQ("", ran.out);
    EXPECT_EQ("ptds probe: /no/such/program: No such file or directory\n", ran.err);
    EXPECT_TRUE(folder_.files().empty());
}

TEST_F(ProbeTest, ASettingThatTheShimRefuses)
{
    Command command = Probe(folder_, {"--rounds", "1"}, {Subject(), "alone"});
    command.env["PTDS_LANES"] = "many";
    Outcome ran = run(command);
    EXPECT_EQ(3, ran.exit) << ran;
    EXPECT_TRUE(Begins(ran, "can't tell: guarded was not in force: ptds: PTDS_LANES=many")) << ran;
}

TEST_F(ProbeTest, AMisspeltSettingIsSaid)
{
    Command command = Probe(folder_, {"--rounds", "1"}, {"/bin/true"});
    command.env["PTDS_EXLUDE"] = "libfoo.so";
    command.env["PTDS_EXCLUDE"] = "libbar.so";
    Outcome ran = run(command);
    EXPECT_EQ(0u, ran.err.find("ptds probe: PTDS_EXLUDE is set, which nothing reads; is it PTDS_EXCLUDE?\n")) << ran;
    EXPECT_EQ(ran.err.find("is set"), ran.err.rfind("is set")) << ran;
}

TEST_F(ProbeTest, BareIsBareWhateverIsPreloaded)
{
    Command command = Probe(folder_, {"--rounds", "1"}, {"/bin/sh", "-c", Subject() + " alone; echo [$LD_PRELOAD] >&2"});
    command.preload = {shim()};
    Outcome ran = run(command);
    EXPECT_EQ(3, ran.exit) << "under observe it is preloaded, and bare not: " << ran;
    EXPECT_TRUE(Begins(ran, "can't tell: standard error differs under guarded, but under observe, too")) << ran;
}

TEST_F(ProbeTest, JsonHasTheAnswerAndEachRun)
{
    Outcome ran = RunSubject({"--json", "-p", "per-thread"}, {"unordered"});
    EXPECT_EQ(1, ran.exit) << ran;
    json_error_t error;
    json_t *root = json_loads(ran.out.c_str(), 0, &error);
    ASSERT_NE(nullptr, root) << error.text << ran;
    json_t *answers = json_object_get(root, "answers"), *first = json_array_get(answers, 0);
    ASSERT_EQ(2u, json_array_size(answers));
    EXPECT_STREQ("per-thread", json_string_value(json_object_get(first, "policy")));
    EXPECT_STREQ("do-not", json_string_value(json_object_get(first, "answer")));
    EXPECT_STREQ("output-differs", json_string_value(json_object_get(first, "why")));
    EXPECT_STREQ("right", json_string_value(json_object_get(json_array_get(answers, 1), "answer")));
    json_t *variants = json_object_get(root, "variants"), *last = json_array_get(variants, 4);
    ASSERT_EQ(5u, json_array_size(variants));
    json_t *difference = json_object_get(last, "difference");
    EXPECT_STREQ("sum 5", json_string_value(json_object_get(difference, "bare")));
    EXPECT_STREQ("sum 1", json_string_value(json_object_get(difference, "other")));
    EXPECT_EQ(1, json_integer_value(json_object_get(difference, "line")));
    EXPECT_STREQ("wrong", json_string_value(json_object_get(json_object_get(last, "record"), "outcome")));
    for (const char *key : {"gpu_busy_ns", "gpu_span_ns"})
        EXPECT_TRUE(json_is_null(json_object_get(json_object_get(last, "record"), key))) << "not known here: " << key;
    EXPECT_EQ(2u, json_array_size(json_object_get(last, "runs")));
    EXPECT_TRUE(json_is_null(json_object_get(json_array_get(variants, 0), "record"))) << "bare has none";
    std::string command = json_string_value(json_object_get(root, "command"));
    EXPECT_NE(std::string::npos, command.find("PTDS_POLICY=guarded")) << command;
    json_decref(root);
}

/* Of the variant whose output differs. */
std::string WhereItDiffers(const Outcome &ran, const char *key)
{
    json_t *root = json_loads(ran.out.c_str(), 0, nullptr), *difference = nullptr;
    size_t i;
    json_t *variant;
    json_array_foreach(json_object_get(root, "variants"), i,
                       variant) if (json_is_object(json_object_get(variant, "difference"))) difference =
        json_object_get(variant, "difference");
    json_t *value = json_object_get(difference, key);
    std::string text = json_is_string(value) ? json_string_value(value) : json_is_null(value) ? "null" : "?";
    text = json_is_integer(value) ? std::to_string(json_integer_value(value)) : text;
    json_decref(root);
    return text;
}

/* A line that is not there has no text, not an empty one; nor have bytes. */
TEST_F(ProbeTest, JsonOfLinesThatAreMissing)
{
    std::string start = "'" + Subject() + "' alone; [ \"$PTDS_POLICY\" = guarded ] ";
    Outcome shorter = Run({"--rounds", "1", "--json"}, {"/bin/sh", "-c", start + "|| echo last"});
    EXPECT_EQ("last", WhereItDiffers(shorter, "bare")) << shorter;
    EXPECT_EQ("null", WhereItDiffers(shorter, "other")) << shorter;
    Outcome longer = Run({"--rounds", "1", "--json"}, {"/bin/sh", "-c", start + "&& echo last; true"});
    EXPECT_EQ("null", WhereItDiffers(longer, "bare")) << longer;
    EXPECT_EQ("last", WhereItDiffers(longer, "other")) << longer;
    std::string bytes = start + "&& printf '\\000\\001a' || printf '\\000\\001b'";
    Outcome no_text = Run({"--rounds", "1", "--json"}, {"/bin/sh", "-c", bytes});
    for (const char *key : {"line", "bare", "other"})
        EXPECT_EQ("null", WhereItDiffers(no_text, key)) << key << no_text;
}

TEST_F(ProbeTest, UsageErrorsAreTwo)
{
    for (const Words &wrong : std::vector<Words>{{"--policy", "ordered"},
                                                 {"--policy", "observe"},
                                                 {"--rounds", "0"},
                                                 {"--rounds", "x"},
                                                 {"--timeout", "soon"},
                                                 {"--timeout", "0"},
                                                 {"--frob"}})
        EXPECT_EQ(2, Run(wrong, {"/bin/true"}).exit) << wrong.back();
    Command none;
    none.argv = {data_file("analysis/ptds"), "probe"};
    EXPECT_EQ(2, run(none).exit);
}

} // namespace
} // namespace ptds
