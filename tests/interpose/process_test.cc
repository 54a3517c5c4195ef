/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens to processes: fork, exec, the ways to end, threads that outlive main, libraries that go. The program's exit
 * status is its own, and each process's trace is whole and its own.
 */
#include <csignal>
#include <fstream>

#include "tests/interpose/shim_test.h"
#include "tests/interpose/trace_walk.h"

namespace ptds
{
namespace
{

const char *const policies[] = {"guarded", "per-thread", "stream", "observe"};

Command child(const std::string &mode, int times, const Settings &settings, const std::string &argument = "")
{
    std::vector<std::string> arguments = {mode, std::to_string(times)};
    if (!argument.empty())
        arguments.push_back(argument);
    return shimmed("process_child", arguments, settings);
}

void expect_launches(const std::string &path, uint64_t launches, bool clean, int pid = 0)
{
    SCOPED_TRACE(path);
    Walk trace = walk(path);
    EXPECT_EQ(trace.calls("cuLaunchKernel"), launches);
    EXPECT_EQ(trace.counts["cuLaunchKernel"], launches);
    EXPECT_EQ(trace.header.clean_end, clean ? 1u : 0u);
    EXPECT_TRUE(!pid || trace.header.pid == static_cast<uint32_t>(pid)) << trace.header.pid;
}

/* The pid that the program printed of its child, and that child's status. */
std::pair<std::string, int> forked(const Outcome &outcome)
{
    int pid = 0, status = -1;
    EXPECT_EQ(sscanf(outcome.out.c_str(), "child %d %d", &pid, &status), 2) << outcome;
    return {std::to_string(pid), status};
}

TEST(Process, ExitStatusAndTrace)
{
    for (const char *policy : policies) {
        Folder folder;
        Outcome outcome = run(child("work", 100, {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace"}}));
        EXPECT_EQ(outcome.exit, 5) << outcome;
        EXPECT_EQ(outcome.err, "");
        expect_launches(folder / "trace", 100, true, outcome.pid);
        EXPECT_EQ(folder.files(), std::vector<std::string>{"trace"});
    }
}

/* What was dropped is still counted: the summary's line about the default stream is exact. */
/* Daemons do that before anything else. What was asked for at start holds, unless the program asks for something else. */
TEST(Process, TheEnvironmentIsClearedBeforeTheFirstCall)
{
    Folder folder;
    auto cleared = [](Settings settings, const std::string &policy = "") {
        settings.insert({"PTDS_REPORT", "summary"});
        Outcome outcome = run(child("cleared", 9, settings, policy));
        EXPECT_EQ(outcome.exit, 5) << outcome;
        return outcome.err;
    };
    const std::string of_observe = ", policy observe: ran ", of_per_thread = ", policy per-thread: ran ";
    std::string said = cleared({{"PTDS_POLICY", "observe"}, {"PTDS_TRACE", folder / "trace"}});
    EXPECT_NE(said.find(of_observe), std::string::npos) << said;
    expect_launches(folder / "trace", 9, true);
    said = cleared({{"PTDS_POLICY", "observe"}}, "per-thread");
    EXPECT_NE(said.find(of_per_thread), std::string::npos) << said;
    EXPECT_EQ(cleared({{"PTDS_POLICY", "observe"}, {"PTDS_DISABLE", "1"}}), "");
    EXPECT_EQ(cleared({{"PTDS_POLICY", "wrong"}, {"PTDS_DIAG", "quiet"}}), "");
    said = cleared({{"PTDS_TRACE_LIMIT", "1M"}});
    EXPECT_EQ(said.find("ptds: next: "), std::string::npos) << "a limit is no trace: " << said;
    said = cleared({{"PTDS_EXCLUDE", std::string(20000, 'x')}, {"PTDS_POLICY", "observe"}});
    EXPECT_EQ(said.find("ptds: PTDS_EXCLUDE=xxx"), 0u) << said;
    EXPECT_NE(said.find("libptds does nothing in this process"), std::string::npos) << "as where it is not cleared";
}

TEST(Process, SummaryIsExactBeyondTheLimit)
{
    for (auto [policy, line] :
         std::map<std::string, std::string>{{"observe", "160 000 default-stream operations: 0 moved; "},
                                            {"guarded", "160 000 default-stream operations moved"}}) {
        Outcome outcome =
            run(child("threads", 20000, {{"PTDS_POLICY", policy}, {"PTDS_TRACE_LIMIT", "1M"}, {"PTDS_REPORT", "summary"}}));
        EXPECT_NE(outcome.err.find(line), std::string::npos) << outcome;
        EXPECT_EQ(outcome.err.find(" more kept\n") != std::string::npos, policy == "observe") << outcome;
    }
}

TEST(Process, NamesInTracePaths)
{
    Folder folder;
    Settings settings = {{"PTDS_TRACE", folder / "t-%p-%r-%%-%q"}, {"SLURM_PROCID", "3"}};
    Outcome outcome = run(child("work", 1, settings));
    EXPECT_EQ(folder.files(), std::vector<std::string>{"t-" + std::to_string(outcome.pid) + "-3-%-%q"});
}

TEST(Process, WithoutCudaNothingHappens)
{
    Folder folder;
    const Settings settings = {{"PTDS_TRACE", folder / "trace"},
                               {"PTDS_REPORT", "summary"},
                               {"PTDS_LOG", folder / "log"},
                               {"PTDS_POLICY", "no such policy"}};
    for (const std::vector<std::string> &argv :
         {std::vector<std::string>{data_file("tests/interpose/loader_child"), "nothing"},
          {"/bin/true"},
          {"/bin/sh", "-c", "/bin/true; exit 0"}}) {
        Command command;
        command.argv = argv;
        command.preload = {shim()};
        command.env = settings;
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.exit, 0) << outcome;
        EXPECT_EQ(outcome.out + outcome.err, "");
    }
    EXPECT_TRUE(folder.files().empty());
}

/* Many programs ask whether there is a device and go on without. */
TEST(Process, LookingAloneLeavesNothing)
{
    Folder folder;
    Outcome outcome =
        run(shimmed("loader_child", {"proc"}, {{"PTDS_TRACE", folder / "trace"}, {"PTDS_REPORT", "summary"}}));
    EXPECT_EQ(outcome.exit, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_TRUE(folder.files().empty());
}

TEST(Process, EndsWithoutExitSayNothingAndLeaveTheTrace)
{
    Folder folder;
    Outcome outcome = run(child("_exit", 50, {{"PTDS_TRACE", folder / "exit"}, {"PTDS_REPORT", "summary"}}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_EQ(outcome.err, "");
    expect_launches(folder / "exit", 50, false);
    for (auto [mode, signal] : {std::pair("abort", SIGABRT), std::pair("segv", SIGSEGV)}) {
        outcome = run(child(mode, 50, {{"PTDS_TRACE", folder / mode}, {"PTDS_REPORT", "summary"}}));
        EXPECT_EQ(outcome.signal, signal) << outcome;
        EXPECT_EQ(outcome.err, "");
        expect_launches(folder / mode, 50, false);
    }
}

TEST(Process, QuickExitHasASummary)
{
    Folder folder;
    Outcome outcome = run(child("quick_exit", 50, {{"PTDS_TRACE", folder / "trace"}, {"PTDS_REPORT", "summary"}}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_NE(outcome.err.find("50 default-stream operations moved"), std::string::npos) << outcome;
    expect_launches(folder / "trace", 50, true);
}

/* What runs before the shim's own end is in the summary, what runs after it in the trace. */
TEST(Process, CallsAtTheVeryEnd)
{
    Folder folder;
    Outcome outcome = run(child("atexit", 50, {{"PTDS_TRACE", folder / "atexit"}, {"PTDS_REPORT", "summary"}}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_NE(outcome.err.find("100 default-stream operations moved"), std::string::npos) << outcome;
    expect_launches(folder / "atexit", 100, true);
    for (const char *policy : policies) {
        SCOPED_TRACE(policy);
        std::string trace = folder / policy;
        outcome = run(child("late", 50, {{"PTDS_TRACE", trace}, {"PTDS_REPORT", "summary"}, {"PTDS_POLICY", policy}},
                            data_file("tests/interpose/liblate.so")));
        EXPECT_EQ(outcome.exit, 5) << outcome;
        EXPECT_EQ(outcome.out, "late\n");
        EXPECT_NE(outcome.err.find(" 50 default-stream operations"), std::string::npos) << outcome;
        expect_launches(trace, 101, true);
    }
}

/* A handler that exits while its thread holds what the summary needs, and destructors' calls too, were they recorded: the
 * program ends, without a summary. */
TEST(Process, ExitInsideASignalHandler)
{
    Command command = child("interrupted", 1000, {{"PTDS_REPORT", "summary"}}, data_file("tests/interpose/liblate.so"));
    command.preload.push_back(data_file("tests/interpose/libinterrupt.so"));
    command.seconds = 20;
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_EQ(outcome.err,
              "ptds: the program exited in a signal handler that had interrupted the shim, so there is no summary\n");
    EXPECT_EQ(outcome.out, "late\n");
}

TEST(Process, KilledInTheMiddle)
{
    for (const char *policy : policies) {
        Folder folder;
        Running running(child("hold", 1234, {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace"}}));
        ASSERT_TRUE(running.wait_for("ready")) << running.end();
        running.kill(SIGKILL);
        EXPECT_EQ(running.end().signal, SIGKILL);
        expect_launches(folder / "trace", 1234, false);
    }
}

TEST(Process, ForkBeforeTheFirstCall)
{
    Folder folder;
    Outcome outcome = run(child("fork-before", 20, {{"PTDS_TRACE", folder / "trace-%p"}}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_EQ(forked(outcome).second, 6);
    expect_launches(folder / ("trace-" + std::to_string(outcome.pid)), 20, true, outcome.pid);
    expect_launches(folder / ("trace-" + forked(outcome).first), 21, true, stoi(forked(outcome).first));
}

TEST(Process, ForkAfterWork)
{
    for (const char *policy : policies) {
        SCOPED_TRACE(policy);
        Folder folder;
        Outcome outcome = run(child("fork-after", 20, {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace-%p"}}));
        EXPECT_EQ(outcome.exit, 5) << outcome;
        EXPECT_EQ(outcome.err, "");
        EXPECT_EQ(forked(outcome).second, 6);
        expect_launches(folder / ("trace-" + std::to_string(outcome.pid)), 42, true, outcome.pid);
        expect_launches(folder / ("trace-" + forked(outcome).first), 21, true, stoi(forked(outcome).first));
    }
}

TEST(Process, ForkAfterWorkWithOnePath)
{
    Folder folder;
    Outcome outcome = run(child("fork-after", 20, {{"PTDS_TRACE", folder / "trace"}}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    expect_launches(folder / "trace", 42, true, outcome.pid);
    expect_launches(folder / ("trace." + forked(outcome).first), 21, true, stoi(forked(outcome).first));
}

TEST(Process, AChildWithoutCudaLeavesNothing)
{
    Folder folder;
    Outcome outcome = run(child("fork-quiet", 20, {{"PTDS_TRACE", folder / "trace"}, {"PTDS_REPORT", "summary"}}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_EQ(forked(outcome).second, 6);
    expect_launches(folder / "trace", 42, true, outcome.pid);
    EXPECT_EQ(folder.files(), std::vector<std::string>{"trace"});
    EXPECT_EQ(outcome.err.find("pid " + forked(outcome).first), std::string::npos) << outcome;
}

/* All that it has is its parent's, and it says nothing of it. */
TEST(Process, AChildThatNobodyTellsOf)
{
    Folder folder;
    Outcome outcome = run(child("fork-raw", 20, {{"PTDS_TRACE", folder / "trace"}, {"PTDS_REPORT", "summary"}}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_EQ(forked(outcome).second, 6);
    expect_launches(folder / "trace", 42, true, outcome.pid);
    EXPECT_NE(outcome.err.find("42 operations"), std::string::npos) << outcome;
    EXPECT_EQ(outcome.err.find("20 operations"), std::string::npos) << outcome;
}

/* The handler may have interrupted the record, which its thread then has locked. */
TEST(Process, ForkInsideASignalHandler)
{
    Folder folder;
    Command command = child("fork-inside", 1000, {{"PTDS_TRACE", folder / "trace"}});
    command.preload.push_back(data_file("tests/interpose/libinterrupt.so"));
    command.seconds = 20;
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_EQ(outcome.out, "3\n");
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(folder.files(), std::vector<std::string>{"trace"});
    size_t forks = 0;
    for (const auto &[kind, bytes] : walk(folder / "trace").records) {
        ptds_rec_PROCESS process = {};
        if (kind == PTDS_REC_PROCESS)
            memcpy(&process, bytes.data(), sizeof process);
        forks += kind == PTDS_REC_PROCESS && process.what == PTDS_PROCESS_FORK;
    }
    EXPECT_EQ(forks, 3u);
}

/* What the process did before stays beside what it does as another program. */
TEST(Process, AProcessThatBecomesAnotherProgramHasTwoTraces)
{
    Folder folder;
    Outcome outcome = run(child("exec", 20, {{"PTDS_TRACE", folder / "trace"}}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_EQ(outcome.err, "");
    expect_launches(folder / "trace", 20, false, outcome.pid);
    expect_launches(folder / ("trace." + std::to_string(outcome.pid)), 20, true, outcome.pid);
}

TEST(Process, ExecOfAProgramWithoutCuda)
{
    Folder folder;
    Outcome outcome = run(child("exec-bare", 20, {{"PTDS_TRACE", folder / "trace"}}));
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_EQ(outcome.err, "");
    expect_launches(folder / "trace", 20, false, outcome.pid);
}

TEST(Process, AThreadThatOutlivesMain)
{
    for (const char *policy : policies) {
        SCOPED_TRACE(policy);
        for (int i = 0; i < 5; i++) {
            Folder folder;
            Outcome outcome = run(child(
                "detached", 50, {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace"}, {"PTDS_REPORT", "summary"}}));
            ASSERT_EQ(outcome.exit, 5) << outcome;
            EXPECT_GE(walk(folder / "trace").calls("cuLaunchKernel"), 50u);
        }
    }
}

TEST(Process, AllLaunchesOfManyThreadsAreRecorded)
{
    for (const char *policy : policies) {
        SCOPED_TRACE(policy);
        Folder folder;
        Outcome outcome = run(child("threads", 5000, {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace"}}));
        EXPECT_EQ(outcome.exit, 5) << outcome;
        expect_launches(folder / "trace", 40000, true);
        EXPECT_EQ(walk(folder / "trace").threads.size(), 9u);
    }
}

TEST(Process, ManyThreadsMakeTheFirstCalls)
{
    for (const char *policy : policies) {
        SCOPED_TRACE(policy);
        for (int i = 0; i < 25; i++) {
            Folder folder;
            Outcome outcome = run(child("race", 20, {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace"}}));
            ASSERT_EQ(outcome.exit, 5) << outcome;
            ASSERT_EQ(outcome.err, "");
            expect_launches(folder / "trace", 320, true);
        }
    }
}

/* The first call's thread waits for the loader, which the constructor's thread has: that one waits for nobody. */
TEST(Process, AConstructorMakesACallDuringTheFirst)
{
    for (const char *policy : policies) {
        SCOPED_TRACE(policy);
        Folder folder;
        Command command = child("constructor", 20, {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace"}},
                                data_file("tests/interpose/libslow.so"));
        command.seconds = 20;
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.exit, 5) << outcome;
        EXPECT_EQ(outcome.err, "");
        expect_launches(folder / "trace", 21, true);
    }
}

/* Ended threads leave no more behind than their counts. */
TEST(Process, ThreadsComeAndGo)
{
    for (const char *policy : policies) {
        SCOPED_TRACE(policy);
        Folder folder;
        Outcome outcome =
            run(child("churn", 3, {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace"}, {"PTDS_TRACE_LIMIT", "8M"}}));
        EXPECT_EQ(outcome.exit, 5) << outcome;
        EXPECT_EQ(outcome.err, "");
        EXPECT_EQ(walk(folder / "trace").counts["cuLaunchKernel"], 6000u);
    }
}

TEST(Process, TheLibraryThatBroughtTheDriverIsUnloaded)
{
    std::string plugin = data_file("tests/interpose/libplugin.so");
    EXPECT_EQ(run(plain("process_child", {"unload", "0", plugin})).exit, 5);
    for (const char *policy : {"guarded", "per-thread", "stream", "observe", "none"}) {
        SCOPED_TRACE(policy);
        Folder folder;
        Outcome outcome = run(child(
            "unload", 0, {{"PTDS_POLICY", policy}, {"PTDS_REPORT", "summary"}, {"PTDS_TRACE", folder / "trace"}}, plugin));
        EXPECT_EQ(outcome.exit, 5) << outcome;
    }
    EXPECT_EQ(run(child("unload", 0, {{"PTDS_DISABLE", "1"}}, plugin)).exit, 5);
    EXPECT_EQ(run(child("unload", 0, {{"PTDS_POLICY", "per-thread"}}, plugin)).exit, 5);
}

/* Its file says that it is one, though it calls itself something else and lacks functions of newer ones. */
TEST(Process, ADriverByTheNameOfItsFile)
{
    Folder folder, drivers;
    const std::string name("libcuda.so.1", 13); /* with its end */
    std::string bytes = read_file(fake_driver("cuda11") + "/libcuda.so.1");
    ASSERT_NE(std::string::npos, bytes.find(name));
    for (size_t at = bytes.find(name); at != std::string::npos; at = bytes.find(name))
        bytes.replace(at, 7, "another");
    std::ofstream(drivers / "libcuda.so.1", std::ios::binary) << bytes;
    Command command = child("work", 10, {{"PTDS_POLICY", "guarded"}, {"PTDS_TRACE", folder / "trace"}});
    command.libraries = {drivers.path()};
    const Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_EQ(outcome.err, "");
    expect_launches(folder / "trace", 10, true);
}

TEST(Process, OldDriversWorkUnderEachPolicy)
{
    for (const char *version : {"cuda12", "cuda11"}) {
        for (const char *policy : policies) {
            SCOPED_TRACE(std::string(version) + " " + policy);
            Folder folder;
            Command command = child("work", 10, {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace"}});
            command.libraries = {fake_driver(version)};
            Outcome outcome = run(command);
            EXPECT_EQ(outcome.exit, 5) << outcome;
            EXPECT_EQ(outcome.err, "");
            expect_launches(folder / "trace", 10, true);
        }
    }
}

/* A program that is linked with what its driver lacks, and calls it. */
TEST(Process, AFunctionThatTheDriverLacks)
{
    Command command =
        shimmed("steps_child", {"launch@0", "absent", "absent", "launch@0", "exit:3"}, {{"PTDS_POLICY", "guarded"}});
    command.libraries = {fake_driver("cuda12")};
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit, 3) << outcome;
    EXPECT_EQ(outcome.out, "cuLaunchKernel(L1)\n=500\n=500\ncuLaunchKernel(L1)\n");
    EXPECT_EQ(lines_of(outcome.err).size(), 1u) << outcome;
    EXPECT_NE(outcome.err.find("cuStreamGetDevice"), std::string::npos) << outcome;
}

} // namespace
} // namespace ptds
