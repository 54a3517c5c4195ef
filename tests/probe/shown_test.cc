// SPDX-License-Identifier: Apache-2.0
//
// What does `ptds probe` answer, of runs that are made up: how they ended, what they took and printed, what was recorded?
// Against shown/NAME.txt: of five programs the whole screen and the JSON, of the others what the screen says above its
// table, the exit status, the facts of the JSON, and the sums of the times (support/sums.h).
#include <gtest/gtest.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <list>
#include <set>

#include "analysis/probe/probe.h"
#include "tests/support/sums.h"
#include "tests/support/trace_builder.h"

namespace ptds
{
namespace
{

const uint64_t MS = 1000000;
const ending fine = {END_EXITED, 0};

const std::string two_threads = "1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n"
                                "1@100+2 launch s=L k=_Z1aPf args=A\n2@101+2 launch s=L k=_Z1bPf args=B\n"
                                "1@110+10000 sync s=L\n2@111+20000 sync s=L\n";
const std::string with_times = two_threads + "device-run 1@100 105+10000\ndevice-run 2@101 10106+10000\n";
const std::string wrong = "setting policy=per-thread\n1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                          "1@10 memset s=L target=P1 bytes=64 dst=A\n2@20 copy s=L target=P2 src=A dst=0x40000 bytes=64\n"
                          "1@5000+3 sync s=P1\n";
const std::string alone = "setting policy=observe\n1@0 launch s=L k=a\n1@10+50 sync s=L\n";

/* A line a value, and of lists a line an item. */
std::string Lines(const std::string &text)
{
    json_t *root = json_loads(text.c_str(), 0, nullptr), *value, *item;
    std::string out;
    const char *key;
    size_t i;
    EXPECT_NE(nullptr, root) << text;
    auto put = [&](json_t *what) {
        char *line = json_dumps(what, JSON_COMPACT | JSON_ENCODE_ANY);
        out += std::string(" ") + line + "\n";
        free(line);
    };
    json_object_foreach(root, key, value)
    {
        out += std::string(key) + ":" + (json_is_array(value) ? "\n" : "");
        if (!json_is_array(value))
            put(value);
        json_array_foreach(value, i, item) put(item);
    }
    json_decref(root);
    return out;
}

/* The same as words, "KEY=VALUE", but for what is null, false or 0, and for sentences. */
void Flatten(const std::string &key, json_t *what, std::string *line)
{
    const char *name;
    json_t *value;
    size_t i;
    json_object_foreach(what, name, value) Flatten(key.empty() ? name : key + "." + name, value, line);
    json_array_foreach(what, i, value) Flatten(key, value, line);
    if (json_is_true(what))
        *line += " " + key;
    if (json_integer_value(what) != 0)
        *line += " " + key + "=" + std::to_string(json_integer_value(what));
    if (json_is_real(what))
        *line += " " + key + "=" + std::to_string(json_real_value(what));
    if (json_is_string(what) && key.find("words") == std::string::npos) {
        std::string word = json_string_value(what);
        std::replace(word.begin(), word.end(), ' ', '_');
        *line += " " + key + "=" + word;
    }
}

/* What holds for the answer, a line an item; the sums of what each variant took. */
std::string FactsOf(const std::string &text)
{
    json_t *root = json_loads(text.c_str(), 0, nullptr), *value, *item;
    const char *key;
    size_t i;
    std::string facts;
    Sums sums;
    json_object_foreach(root, key, value)
    {
        json_array_foreach(value, i, item)
        {
            std::string line = key;
            Flatten("", item, &line);
            if (std::string(key) == "variants")
                sums.Add(line);
            else
                facts += line + "\n";
        }
        if (!json_is_array(value)) {
            std::string line;
            Flatten(key, value, &line);
            facts += line.empty() ? "" : line.substr(1) + "\n";
        }
    }
    json_decref(root);
    return facts + sums.Text();
}

class ProbeShown : public testing::Test
{
protected:
    /* In the folder of the runs, by a short name: lines are cut to fit. */
    static void SetUpTestSuite()
    {
        char path[4096] = "";
        ASSERT_NE(nullptr, realpath(data_file("tests/probe/shown/faster.txt").c_str(), path));
        expected_ = std::string(path).substr(0, std::string(path).rfind('/') + 1);
    }
    ProbeShown()
    {
        EXPECT_EQ(0, chdir(folder_.path().c_str()));
        EXPECT_EQ(0, mkdir("runs", 0700));
        probe_begin(&probe_);
        probe_add(&probe_, "guarded", true);
        probe_.program = const_cast<char **>(program_);
        probe_.library = "/opt/libptds.so";
        probe_.rounds = probe_.done = 3;
        strcpy(probe_.folder.path, "runs");
        unsetenv("LD_PRELOAD");
        unsetenv("LD_AUDIT");
    }
    ~ProbeShown()
    {
        probe_end(&probe_);
    }

    variant &Of(const std::string &name)
    {
        for (size_t i = 0; i < probe_.count; i++)
            if (name == probe_.variants[i].name)
                return probe_.variants[i];
        throw std::runtime_error("no variant " + name);
    }
    struct Said {
        std::string out = "done\n", err = "", file = "";
        bool writes = true;
    };
    void Run(const std::string &name, double ms, double cuda_ms, const Said &said, ending ended = fine)
    {
        variant &variant = Of(name);
        unsigned round = static_cast<unsigned>(variant.runs.count);
        variant.runs.items = static_cast<struct run *>(realloc(variant.runs.items, (round + 1) * sizeof(struct run)));
        variant.runs.items[variant.runs.count++] = {round, ended, false, static_cast<uint64_t>(ms * MS),
                                                    static_cast<uint64_t>(cuda_ms * MS)};
        variant.runs.room = variant.runs.count;
        const std::string texts[] = {said.out, said.err, said.file};
        for (size_t thing = 0; thing < probe_things(&probe_); thing++)
            if (thing < THING_FILES || said.writes)
                std::ofstream(folder_thing(&probe_.folder, variant.name, round, thing).text) << texts[thing];
    }
    /* The warm-up and the rounds, alike but for their times. */
    void Rounds(const std::string &name, const std::vector<double> &ms, double cuda_share, const Said &said)
    {
        for (double one : ms)
            Run(name, one, one * cuda_share, said);
    }
    void Recorded(const std::string &name, const std::vector<std::string> &traces)
    {
        std::string folder = folder_traces(&probe_.folder, Of(name).name).text;
        ASSERT_EQ(0, mkdir(folder.c_str(), 0700));
        for (size_t i = 0; i < traces.size(); i++)
            std::ofstream(folder + "/" + std::to_string(i) + ".ptds") << BuildTrace(traces[i]);
    }
    void AddFile()
    {
        probe_.outputs.items[probe_.outputs.count++].name = "out.bin";
    }
    void Is(const std::string &name)
    {
        std::string screen, json, text;
        auto sink_of = [](std::string *to) {
            return text_sink{[](text_sink *self, const char *piece, size_t size) {
                                 static_cast<std::string *>(self->data)->append(piece, size);
                             },
                             to};
        };
        text_sink to_screen = sink_of(&screen), to_json = sink_of(&json);
        probe_compare(&probe_);
        probe_conclude(&probe_);
        probe_screen(&probe_, true, &to_screen);
        ASSERT_EQ(0, probe_json(&probe_, false, &to_json));
        static const std::set<std::string> whole = {"ends-otherwise", "faster", "files", "many-rounds", "nothing"};
        const std::string status =
            "===== JSON, exit status " + std::to_string(answer_status(&probe_first(&probe_)->answer)) + "\n";
        text = screen + status + Lines(json);
        if (whole.count(name) != 0)
            ExpectAllOf(expected_ + name + ".txt", text);
        else
            ExpectSums(expected_ + name + ".txt", screen.substr(0, screen.find("\n\n   ") + 1) + status + FactsOf(json),
                       text);
    }

    static std::string expected_;
    Folder folder_;
    probe probe_ = {};
    std::list<std::string> names_;

private:
    const char *program_[3] = {"./app", "two words", nullptr};
};

std::string ProbeShown::expected_;

TEST_F(ProbeShown, ThingsHaveNames)
{
    const std::string folder = "a/folder/with/files/of/results/";
    for (size_t size : {9, 10}) {
        names_.push_back(folder + std::string(size, 'f'));
        probe_.outputs.items[probe_.outputs.count].name = names_.back().c_str();
        probe_.outputs.count++;
    }
    ASSERT_EQ(4u, probe_things(&probe_));
    EXPECT_STREQ("standard output", probe_thing_name(&probe_, 0));
    EXPECT_STREQ("standard error", probe_thing_name(&probe_, 1));
    EXPECT_EQ(folder + "fffffffff", probe_thing_name(&probe_, 2)) << "40 characters";
    EXPECT_STREQ("ffffffffff", probe_thing_name(&probe_, 3)) << "one more";
}

TEST_F(ProbeShown, AllPoliciesOfAProgramThatGetsFaster)
{
    probe_add(&probe_, "per-thread", false);
    probe_add(&probe_, "stream", false);
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
    probe_add(&probe_, "per-thread", true);
    probe_add(&probe_, "stream", true);
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
    probe_add(&probe_, "per-thread", true);
    probe_add(&probe_, "stream", false);
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
    probe_add(&probe_, "per-thread", true);
    probe_add(&probe_, "stream", true);
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
    probe_add(&probe_, "per-thread", true);
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
    probe_add(&probe_, "per-thread", true);
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
