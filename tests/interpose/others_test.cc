/* SPDX-License-Identifier: Apache-2.0
 *
 * Other libraries in front of the driver (quota.cc), before and behind the shim in the search order, in LD_PRELOAD and in
 * /etc/ld.so.preload: each call reaches those that it would reach without the shim, as often, and with the same result. And
 * the shim sees each once.
 */
#include "tests/interpose/shim_test.h"
#include "tests/interpose/trace_walk.h"

#include <filesystem>
#include <fstream>
#include <sched.h>
#include <sys/mount.h>

namespace ptds
{
namespace
{

std::string quota(const std::string &kind)
{
    return data_file("tests/interpose/libquota_" + kind + ".so");
}

enum class Place { Before, Behind };

Outcome with(const std::string &kind, Place place, const Settings &settings)
{
    Command command = shimmed("others_child", {"threads"}, settings);
    command.preload.insert(place == Place::Before ? command.preload.begin() : command.preload.end(), quota(kind));
    return run(command);
}

Outcome without_the_shim(const std::string &kind)
{
    Command command = plain("others_child", {"threads"});
    command.preload = {quota(kind)};
    return run(command);
}

struct Shimmed {
    const char *name;
    Settings settings;
    bool recorded;
};
const Shimmed setups[] = {
    {"disabled", {{"PTDS_DISABLE", "1"}}, false},
    {"none", {{"PTDS_POLICY", "none"}}, false},
    {"observe", {{"PTDS_POLICY", "observe"}}, true},
    {"per_thread", {{"PTDS_POLICY", "per-thread"}}, false},
    {"per_thread_recorded", {{"PTDS_POLICY", "per-thread"}}, true},
    {"per_thread_excluded", {{"PTDS_POLICY", "per-thread"}, {"PTDS_EXCLUDE", "others_*"}}, false},
    {"guarded", {{"PTDS_POLICY", "guarded"}}, false},
    {"guarded_recorded", {{"PTDS_POLICY", "guarded"}}, true},
    {"stream", {{"PTDS_POLICY", "stream"}}, false},
};
const char *const kinds[] = {"plain", "dlsym", "proc", "handle"};

class Others : public testing::TestWithParam<std::tuple<const char *, Place, Shimmed>>
{
};

TEST_P(Others, EachCallReachesThemAsWithoutTheShim)
{
    auto [kind, place, setup] = GetParam();
    Folder folder;
    if (setup.recorded)
        setup.settings["PTDS_TRACE"] = folder / "trace";
    Outcome bare = without_the_shim(kind), shimmed = with(kind, place, setup.settings);
    ASSERT_EQ(bare.exit, 5) << bare;
    EXPECT_NE(bare.out.find("linked cuMemAlloc_v2: 0, quota: cuMemAlloc_v2, driver: 1\n"), std::string::npos) << bare;
    EXPECT_NE(bare.out.find("linked cuMemAlloc_v2: 2, quota: cuMemAlloc_v2, driver: 0\n"), std::string::npos) << bare;
    EXPECT_EQ(shimmed.exit, 5) << shimmed;
    EXPECT_EQ(shimmed.out, bare.out);
    EXPECT_EQ(shimmed.err, "");
}

INSTANTIATE_TEST_SUITE_P(Every, Others,
                         testing::Combine(testing::ValuesIn(kinds), testing::Values(Place::Before, Place::Behind),
                                          testing::ValuesIn(setups)),
                         [](const auto &of) {
                             bool before = std::get<1>(of.param) == Place::Before;
                             return std::string(std::get<0>(of.param)) + (before ? "_before_" : "_behind_") +
                                    std::get<2>(of.param).name;
                         });

/* A hook that looks for the driver's names in the program's scope finds nothing there without the shim, and goes on. */
TEST(OthersFound, NotTheShimInTheirPlace)
{
    for (const char *disabled : {"", "1"}) {
        for (Place place : {Place::Before, Place::Behind}) {
            Command command = shimmed("small_child", {"dlsym"}, {{"PTDS_DISABLE", disabled}});
            command.libraries = {std::filesystem::path(data_file("tests/sim/libcuda.so.1")).parent_path()};
            command.preload.insert(place == Place::Before ? command.preload.begin() : command.preload.end(),
                                   quota("scope"));
            Outcome outcome = run(command);
            EXPECT_EQ(outcome.out, "42 42\n") << outcome;
        }
    }
}

/* Behind the shim: each call of the program's is one record, also those that never get to the driver, and what the other
 * library calls inside of it is none. In front of it: those that get to it. */
TEST(OthersRecorded, EachCallOnce)
{
    for (const char *policy : {"observe", "guarded", "per-thread"}) {
        for (const char *kind : kinds) {
            Folder folder;
            Outcome outcome = with(kind, Place::Behind, {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace"}});
            ASSERT_EQ(outcome.exit, 5) << outcome;
            Walk seen = walk(folder / "trace");
            EXPECT_EQ(seen.calls("cuMemAlloc_v2"), 12u) << kind << " " << policy;
            EXPECT_EQ(seen.calls("cuMemAllocPitch_v2"), 6u) << kind << " " << policy;
            EXPECT_EQ(seen.calls("cuMemcpyHtoD_v2"), 6u) << kind << " " << policy;
            EXPECT_EQ(seen.calls("cuLaunchKernel"), 6u) << kind << " " << policy;
            EXPECT_EQ(seen.calls("cuMemFree_v2"), 6u) << kind << " " << policy;
            EXPECT_EQ(seen.calls("cuCtxSynchronize"), 0u) << kind << " " << policy;
        }
    }
    Folder folder;
    ASSERT_EQ(with("handle", Place::Before, {{"PTDS_TRACE", folder / "trace"}}).exit, 5);
    EXPECT_EQ(walk(folder / "trace").calls("cuLaunchKernel"), 6u) << "by whichever dlsym it finds behind itself";
}

std::string flags_of(const Walk &seen, const std::string &symbol)
{
    std::string flags;
    for (const auto &[kind, bytes] : seen.records) {
        ptds_rec_CALL call;
        if (kind != PTDS_REC_CALL)
            continue;
        memcpy(&call, bytes.data(), sizeof call);
        if (seen.names.at(call.api) == symbol)
            flags += call.flags & PTDS_CALL_REMAPPED ? 'm' : call.flags & PTDS_CALL_KEPT_NO_WAY ? 'k' : '-';
    }
    return flags;
}

/* What has a stream argument is moved all the same. What has none can only be moved by another function, and the other
 * library would not see that: it stays on the legacy stream. By the doors of the program, in its order. */
TEST(OthersRecorded, WhatIsMoved)
{
    Folder folder;
    ASSERT_EQ(with("plain", Place::Behind, {{"PTDS_POLICY", "guarded"}, {"PTDS_TRACE", folder / "trace"}}).exit, 5);
    Walk seen = walk(folder / "trace");
    EXPECT_EQ(flags_of(seen, "cuLaunchKernel"), "mmmmmm");
    EXPECT_EQ(flags_of(seen, "cuMemcpyHtoD_v2"), "kkkmmm");
    EXPECT_EQ(flags_of(seen, "cuMemcpyDtoH_v2"), "mmmmmm");
}

std::string bypasses(const Walk &seen)
{
    std::string all;
    for (const auto &[kind, bytes] : seen.records) {
        ptds_rec_BYPASS record;
        if (kind != PTDS_REC_BYPASS)
            continue;
        memcpy(&record, bytes.data(), sizeof record);
        std::string path = bytes.substr(sizeof record).c_str();
        all += std::to_string(record.what) + " " + path.substr(path.rfind('/') + 1) + " " +
               std::to_string(record.functions) + "\n";
    }
    return all;
}

TEST(OthersRecorded, WhoTheyAre)
{
    const std::string hook = std::to_string(PTDS_BYPASS_OTHER_HOOK), functions = std::to_string(PTDS_BYPASS_FUNCTIONS);
    for (Place place : {Place::Before, Place::Behind}) {
        for (const char *kind : {"plain", "dlsym", "proc"}) {
            Folder folder;
            ASSERT_EQ(with(kind, place, {{"PTDS_TRACE", folder / "trace"}}).exit, 5);
            std::string file = std::string(" libquota_") + kind + ".so ";
            std::string hooks = strcmp(kind, "plain") == 0 ? "" : hook + file + "0\n";
            EXPECT_EQ(bypasses(walk(folder / "trace")),
                      hooks + functions + file + (strcmp(kind, "proc") == 0 ? "6\n" : "5\n"));
        }
    }
    Folder folder;
    Command alone = shimmed("others_child", {}, {{"PTDS_TRACE", folder / "trace"}});
    ASSERT_EQ(run(alone).exit, 5);
    EXPECT_EQ(bypasses(walk(folder / "trace")), "");
}

/* Libraries of /etc/ld.so.preload come behind those of LD_PRELOAD. In a mount namespace with an /etc of the test's own. */
class SystemPreload : public testing::Test
{
protected:
    void SetUp() override
    {
        std::error_code error;
        std::filesystem::create_directory(folder / "etc");
        std::filesystem::copy_file("/etc/ld.so.cache", folder / "etc/ld.so.cache", error);
        for (Command *command : {&bare, &with_shim, &may}) {
            command->before = [this] {
                bool own = unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER) == 0 &&
                           mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                           mount(etc.c_str(), "/etc", nullptr, MS_BIND, nullptr) == 0;
                if (!own)
                    _exit(77);
            };
        }
        may.argv = {"/bin/true"};
        if (run(may).exit == 77)
            GTEST_SKIP() << "no mount namespace can be had here";
    }
    void preload(const std::string &libraries)
    {
        std::ofstream(folder / "etc/ld.so.preload") << libraries << "\n";
    }
    Folder folder;
    const std::string etc = folder / "etc";
    Command bare = plain("others_child", {"threads"}), with_shim = shimmed("others_child", {"threads"}), may;
};

TEST_F(SystemPreload, IsBehindLdPreload)
{
    for (const char *kind : kinds) {
        preload(quota(kind));
        for (const Shimmed &setup : setups) {
            with_shim.env = setup.settings;
            with_shim.env["PTDS_REPORT"] = "off";
            Outcome expected = run(bare), outcome = run(with_shim);
            ASSERT_EQ(expected.exit, 5) << expected;
            EXPECT_NE(expected.out.find("quota: cuMemAlloc_v2,"), std::string::npos) << expected;
            EXPECT_EQ(outcome.out, expected.out) << kind << " " << setup.name;
            EXPECT_EQ(outcome.exit, 5) << outcome;
        }
    }
}

TEST_F(SystemPreload, TheShimItselfIsThere)
{
    for (const char *kind : kinds) {
        Outcome expected = without_the_shim(kind);
        for (const std::string &order : {shim() + "\n" + quota(kind), quota(kind) + "\n" + shim()}) {
            preload(order);
            bare.env = {{"PTDS_REPORT", "off"}};
            Outcome outcome = run(bare);
            EXPECT_EQ(outcome.out, expected.out) << order;
            EXPECT_EQ(outcome.exit, 5) << outcome;
        }
    }
}

/* Another library that the program is linked with, in front of the driver. */
TEST(OthersLinked, BeforeTheDriverInTheProgramsOwnList)
{
    Command bare = plain("others_linked_child"), command = shimmed("others_linked_child");
    bare.libraries.push_back(std::filesystem::path(quota("plain")).parent_path());
    command.libraries = bare.libraries;
    Outcome expected = run(bare), outcome = run(command);
    EXPECT_NE(expected.out.find("linked cuMemAlloc_v2: 2, quota: cuMemAlloc_v2, driver: 0\n"), std::string::npos)
        << expected;
    EXPECT_EQ(outcome.out, expected.out);
}

/* ---- the command ---- */

Command command_with(const std::string &kind, const std::vector<std::string> &arguments)
{
    Command command;
    command.argv = {data_file("analysis/ptds")};
    command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
    command.env = {{"PTDS_LIBRARY", shim()}};
    command.preload = {quota(kind)};
    command.libraries = {fake_driver()};
    return command;
}

TEST(OthersAndTheCommand, RunPutsTheShimLast)
{
    for (const char *kind : kinds) {
        std::string child = data_file("tests/interpose/others_child");
        Outcome bare = without_the_shim(kind);
        Outcome outcome = run(command_with(kind, {"run", "--report", "off", "--", child, "threads"}));
        EXPECT_EQ(outcome.exit, 5) << outcome;
        EXPECT_EQ(outcome.out, bare.out);
        outcome = run(command_with(kind, {"run", "--", "/bin/sh", "-c", "echo $LD_PRELOAD"}));
        EXPECT_EQ(outcome.out, quota(kind) + ":" + std::filesystem::canonical(shim()).string() + "\n");
    }
}

TEST(OthersAndTheCommand, DoctorNamesThem)
{
    Outcome plain = run(command_with("plain", {"doctor"})), hooks = run(command_with("proc", {"doctor"}));
    const std::string front = "  note   in front of the driver       ", hook = "  note   also hooks dlsym             ";
    for (const auto &[outcome, kind, functions] : {std::tuple{plain, "plain", "5"}, std::tuple{hooks, "proc", "6"}}) {
        EXPECT_EQ(outcome.exit, 0) << outcome;
        EXPECT_NE(outcome.out.find(front + functions + " functions of the driver's: " + quota(kind) + "\n"),
                  std::string::npos)
            << outcome;
        EXPECT_EQ(outcome.out.find("libcuda.so.1\n  note   in front"), std::string::npos) << outcome;
    }
    EXPECT_EQ(plain.out.find(hook), std::string::npos) << plain;
    EXPECT_NE(hooks.out.find(hook + quota("proc") + "\n"), std::string::npos) << hooks;
    EXPECT_NE(hooks.out.find("  note   calls found by dlsym         answered by " + quota("proc") +
                             ", as without the shim; it may go on through the shim\n"),
              std::string::npos)
        << hooks;
}

} // namespace
} // namespace ptds
