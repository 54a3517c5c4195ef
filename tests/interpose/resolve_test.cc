/* SPDX-License-Identifier: Apache-2.0
 *
 * Look-ups: what a program finds under the shim is what it finds without it. Names that the driver lacks stay absent with
 * the same words, everybody else's symbols are their own, other hooks are passed through, and nothing waits for a
 * constructor.
 */
#include <filesystem>
#include <algorithm>

#include "tests/interpose/shim_test.h"
#include "tests/interpose/trace_walk.h"

namespace ptds
{
namespace
{

/* A library of this folder. */
std::string library(const std::string &name)
{
    return data_file("tests/interpose/" + name);
}

/* Of a look-up: all of it; without the object that dlerror names; without dlerror's words. */
enum Compared { ALL, NO_OBJECT, FINDINGS };

std::vector<std::string> compared_part(const std::string &out, Compared compared)
{
    std::vector<std::string> lines = lines_of(out);
    for (std::string &line : lines) {
        size_t words = line.find("; "), reason = line.find(": undefined symbol");
        if (compared == FINDINGS)
            line = line.substr(0, words);
        else if (compared == NO_OBJECT && words != std::string::npos && reason != std::string::npos)
            line.erase(words + 2, reason - words - 2);
    }
    return lines;
}

/* The first few lines that differ. */
void expect_lines(const std::vector<std::string> &seen, const std::vector<std::string> &expected)
{
    ASSERT_EQ(seen.size(), expected.size());
    int differences = 0;
    for (size_t i = 0; i < seen.size(); i++) {
        if (seen[i] != expected[i] && differences++ < 3)
            ADD_FAILURE() << "without: " << expected[i] << "\nwith:    " << seen[i];
    }
    EXPECT_LE(differences, 3) << "in all";
}

void expect_as_without(Compared compared, const std::vector<std::string> &arguments, const std::string &version = "",
                       const std::vector<std::string> &policies = {"none", "observe", "guarded"})
{
    Command command = plain("loader_child", arguments);
    command.libraries = {fake_driver(version)};
    Outcome without = run(command);
    ASSERT_EQ(without.exit, 0) << without;
    ASSERT_NE(without.out, "");
    for (const std::string &policy : policies) {
        SCOPED_TRACE(policy + " " + version);
        command.preload = {shim()};
        command.env = {{"PTDS_POLICY", policy}, {"PTDS_REPORT", "off"}};
        Outcome with = run(command);
        EXPECT_EQ(with.exit, 0) << with;
        EXPECT_EQ(with.err, "");
        expect_lines(compared_part(with.out, compared), compared_part(without.out, compared));
    }
}

TEST(Resolve, ByHandle)
{
    expect_as_without(ALL, {"handles", "LOCAL"});
}

TEST(Resolve, InEveryScope)
{
    expect_as_without(FINDINGS, {"handles", "GLOBAL"});
}

/* A program that asks whether there is a driver, and there is none. */
TEST(Resolve, WithoutADriver)
{
    expect_as_without(FINDINGS, {"handles", "ABSENT"});
}

TEST(Resolve, VersionsThatNobodyHas)
{
    expect_as_without(FINDINGS, {"versions"});
}

/* The driver is loaded, and in the scope of nobody. */
TEST(Resolve, ADriverThatIsNobodys)
{
    expect_as_without(NO_OBJECT, {"scopes"});
}

/* What stands before the driver in the program's scope, and behind the shim. */
TEST(Resolve, AnotherLibraryInItsPlace)
{
    Command command = plain("loader_child", {"whose"});
    command.libraries = {fake_driver("")};
    command.preload = {library("libtrampoline.so")};
    const Outcome without = run(command);
    EXPECT_NE(without.out.find("cuInit: /libtrampoline.so"), std::string::npos) << without;
    command.preload.insert(command.preload.begin(), shim());
    command.env = {{"PTDS_POLICY", "none"}, {"PTDS_REPORT", "off"}};
    EXPECT_EQ(run(command).out, without.out);
}

TEST(Resolve, ErrorsInEveryScope)
{
    expect_as_without(ALL, {"handles", "GLOBAL"}, "", {"guarded"});
    /* A name that the shim exports and the driver lacks: the search ends at the shim, and glibc says so. */
    expect_as_without(NO_OBJECT, {"handles", "ABSENT"}, "", {"guarded"});
}

TEST(Resolve, OldDriversLackWhatTheyLack)
{
    for (const char *version : {"cuda12", "cuda11"}) {
        expect_as_without(ALL, {"handles", "LOCAL"}, version);
        expect_as_without(FINDINGS, {"handles", "GLOBAL"}, version);
        expect_as_without(FINDINGS, {"proc"}, version);
    }
}

TEST(Resolve, ProcAddress)
{
    expect_as_without(FINDINGS, {"proc"});
}

TEST(Resolve, FromAPluginWithTheDriverInItsOwnScope)
{
    expect_as_without(ALL, {"plugin", library("libplugin.so")});
}

TEST(Resolve, ALibraryThatOnlyLooksLikeADriver)
{
    expect_as_without(FINDINGS, {"trampoline", library("libtrampoline.so")}, "",
                      {"none", "observe", "guarded", "per-thread", "stream"});
}

TEST(Resolve, ProcAddressGivesItselfByVersion)
{
    Outcome outcome = run(shimmed("loader_child", {"proc"}, {{"PTDS_POLICY", "guarded"}}));
    EXPECT_NE(outcome.out.find("v2 \"cuGetProcAddress\" 11030 0: 0 cuGetProcAddress 0\n"), std::string::npos) << outcome;
    EXPECT_NE(outcome.out.find("v2 \"cuGetProcAddress\" 12000 0: 0 cuGetProcAddress_v2 0\n"), std::string::npos) << outcome;
    EXPECT_NE(outcome.out.find("v1 \"cuGetProcAddress\" 13000 2: 0 cuGetProcAddress_v2\n"), std::string::npos) << outcome;
}

/* --- other hooks --- */

class Hooks : public testing::TestWithParam<bool>
{
};

TEST_P(Hooks, AnotherHookIsPassedThrough)
{
    Command command = shimmed("loader_child", {"handles", "LOCAL"}, {{"PTDS_POLICY", "guarded"}, {"HOOK_LOG", "1"}});
    Command without = plain("loader_child", {"handles", "LOCAL"});
    command.preload.insert(GetParam() ? command.preload.begin() : command.preload.end(), library("libhook.so"));
    Outcome outcome = run(command), alone = run(without);
    EXPECT_EQ(outcome.exit, 0) << outcome;
    EXPECT_EQ(outcome.out, alone.out);
    for (const char *name : {"cuLaunchKernel", "cuNoSuchFunction", "no_such_function", "printf"}) {
        std::vector<std::string> lines = lines_of(outcome.err);
        EXPECT_GE(std::count(lines.begin(), lines.end(), std::string("hook: ") + name), 1) << name << "\n" << outcome;
    }
}

/* A profiler's library that gives itself out for the driver: remapped all the same, and it sees what is remapped. */
TEST_P(Hooks, AToolInTheDriversPlace)
{
    Folder folder;
    Command command =
        shimmed("process_child", {"work", "10"}, {{"PTDS_POLICY", "guarded"}, {"PTDS_TRACE", folder / "trace"}});
    std::string tool = data_file("tests/support/fake_driver/libtool.so");
    command.preload.insert(GetParam() ? command.preload.begin() : command.preload.end(), tool);
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit, 5) << outcome;
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(walk(folder / "trace").calls("cuLaunchKernel"), 10u);
    EXPECT_NE(read_file(folder / "trace").find("driver_path=" + std::filesystem::canonical(tool).string()),
              std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Preloaded, Hooks, testing::Bool(),
                         [](const auto &of) { return of.param ? "BeforeTheShim" : "AfterTheShim"; });

/* --- before constructors --- */

void expect_early(const Command &command, const std::string &entries)
{
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.exit, 0) << outcome;
    EXPECT_EQ(outcome.out, "0 " + entries + "\n") << outcome;
    EXPECT_EQ(outcome.err, "");
}

TEST(Early, ConstructorsOfTheProgramsLibraries)
{
    const std::string before = "cuInit cuInit cuGetProcAddress_v2 cuCtxCreate_v2 ";
    expect_early(shimmed("early_child", {}, {{"PTDS_POLICY", "observe"}}), before + "cuLaunchKernel(0) cuLaunchKernel(0)");
    expect_early(shimmed("early_child", {}, {{"PTDS_POLICY", "per-thread"}}),
                 before + "cuLaunchKernel_ptsz(0) cuLaunchKernel_ptsz(0)");
    expect_early(shimmed("early_child", {}, {{"PTDS_POLICY", "guarded"}}),
                 before + "lane cuLaunchKernel(L1) cuLaunchKernel(L1)");
    expect_early(shimmed("early_child", {}, {{"PTDS_POLICY", "stream"}}),
                 before + "lane cuLaunchKernel(L1) cuLaunchKernel(L1)");
    Folder folder;
    expect_early(shimmed("early_child", {}, {{"PTDS_POLICY", "guarded"}, {"PTDS_TRACE", folder / "trace"}}),
                 before + "lane cuLaunchKernel(L1) cuLaunchKernel(L1)");
    EXPECT_EQ(walk(folder / "trace").calls("cuLaunchKernel"), 2u);
}

TEST(Early, ConstructorsOfOtherPreloadedLibraries)
{
    for (bool first : {true, false}) {
        Command command = shimmed("loader_child", {"handles", "LOCAL"}, {{"PTDS_POLICY", "guarded"}});
        command.preload.insert(first ? command.preload.begin() : command.preload.end(), library("libearly.so"));
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.exit, 0) << outcome;
        EXPECT_EQ(outcome.err, "");
        EXPECT_NE(outcome.out.find("handle dlsym \"cuLaunchKernel\": cuLaunchKernel\n"), std::string::npos) << outcome;
    }
}

/* --- functions newer than the table --- */

/* What a look-up gives: a function of the driver's by its name, "somewhere" where it is none. */
void expect_future(const std::string &policy, uint32_t handed, const Settings &more = {})
{
    SCOPED_TRACE(policy);
    Folder folder;
    Settings settings = {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace"}};
    settings.insert(more.begin(), more.end());
    Outcome outcome = run(shimmed("loader_child", {"future"}, settings));
    const bool forwards = handed == PTDS_HANDED_FORWARDER;
    const std::string legacy = forwards                     ? "somewhere\n"
                               : handed == PTDS_HANDED_TWIN ? "cuFutureAsync_ptsz\n"
                                                            : "cuFutureAsync\n";
    const std::string twin = forwards ? "somewhere\n" : "cuFutureAsync_ptsz\n";
    EXPECT_EQ(outcome.exit, 0) << outcome;
    EXPECT_EQ(outcome.out, "dlsym \"cuFutureAsync\": " + legacy + "dlsym \"cuFutureAsync_ptsz\": " + twin +
                               "dlvsym \"cuFutureAsync\": " + legacy + "proc 0: " + legacy + "proc 1: " + legacy +
                               "proc 2: " + twin + "dlsym \"cuFutureQuery\": cuFutureQuery\n");
    if (policy == "none") {
        EXPECT_TRUE(folder.files().empty());
        return;
    }
    Walk trace = walk(folder / "trace");
    EXPECT_EQ(trace.texts(PTDS_REC_UNTABLED, sizeof(ptds_rec_UNTABLED)), std::vector<std::string>{"cuFutureAsync"});
    for (const auto &[kind, bytes] : trace.records) {
        ptds_rec_UNTABLED record;
        if (kind != PTDS_REC_UNTABLED)
            continue;
        memcpy(&record, bytes.data(), sizeof record);
        EXPECT_EQ(record.handed, handed);
    }
}

TEST(Discovery, PerThreadHandsOutTheTwin)
{
    expect_future("per-thread", PTDS_HANDED_TWIN);
}

TEST(Discovery, WhereOrderIsKeptItGetsAForwarder)
{
    expect_future("guarded", PTDS_HANDED_FORWARDER);
    expect_future("stream", PTDS_HANDED_FORWARDER);
    expect_future("guarded", PTDS_HANDED_FORWARDER, {{"PTDS_EXCLUDE", "loader_child"}});
}

TEST(Discovery, OthersNameItOnly)
{
    expect_future("observe", PTDS_HANDED_LEGACY);
    expect_future("none", PTDS_HANDED_LEGACY);
}

TEST(Discovery, ExcludedObjectsKeepTheLegacyFunction)
{
    expect_future("per-thread", PTDS_HANDED_LEGACY, {{"PTDS_EXCLUDE", "loader_child"}});
}

TEST(Discovery, WithoutARecord)
{
    Outcome outcome = run(shimmed("loader_child", {"future"}, {{"PTDS_POLICY", "per-thread"}}));
    EXPECT_NE(outcome.out.find("dlsym \"cuFutureAsync\": cuFutureAsync_ptsz\n"), std::string::npos) << outcome;
    EXPECT_NE(outcome.out.find("proc 0: cuFutureAsync_ptsz\n"), std::string::npos) << outcome;
}

} // namespace
} // namespace ptds
