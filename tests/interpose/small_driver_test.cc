/* SPDX-License-Identifier: Apache-2.0
 *
 * A libcuda.so.1 that is a small library in front of the real driver, as WSL 2 has it (tests/support/small_driver):
 * programs run as on that driver itself, everything is remapped, and the report says nothing of a second driver.
 */
#include "tests/interpose/shim_test.h"
#include "tests/interpose/trace_walk.h"

#include <filesystem>

namespace ptds
{
namespace
{

std::string folder_of(const std::string &file)
{
    return std::filesystem::path(data_file(file)).parent_path();
}

Outcome run_on(const std::string &driver, const std::string &program, const std::vector<std::string> &arguments,
               bool with_shim, const Settings &settings = {})
{
    Command command = with_shim ? shimmed(program, arguments, settings) : plain(program, arguments);
    command.libraries = {folder_of(driver)};
    return run(command);
}
const char simulated[] = "tests/sim/libcuda.so.1", small[] = "tests/support/small_driver/libcuda.so.1";

std::string record(const std::string &driver, const std::string &program, const std::vector<std::string> &arguments,
                   const std::string &policy, const std::string &trace, const Settings &more = {})
{
    Settings settings = {{"PTDS_POLICY", policy}, {"PTDS_TRACE", trace}};
    settings.insert(more.begin(), more.end());
    Outcome bare = run_on(driver, program, arguments, false);
    Outcome outcome = run_on(driver, program, arguments, true, settings);
    EXPECT_EQ(outcome.exit, bare.exit) << outcome << bare;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
}

struct Seen {
    uint64_t calls = 0, moved = 0;
};

Seen seen_in(const std::string &trace)
{
    Seen seen;
    for (const auto &[kind, bytes] : walk(trace).records) {
        ptds_rec_CALL call;
        if (kind != PTDS_REC_CALL)
            continue;
        memcpy(&call, bytes.data(), sizeof call);
        seen.calls++;
        seen.moved += (call.flags & PTDS_CALL_REMAPPED) != 0;
    }
    return seen;
}

/* By dlsym, and by cuGetProcAddress as the runtime does. */
TEST(SmallDriver, AllIsSeenAndMoved)
{
    for (const char *policy : {"observe", "per-thread", "guarded"}) {
        for (const char *way : {"dlsym", "proc"}) {
            Folder folder;
            std::string expected = record(simulated, "small_child", {way}, policy, folder / "whole");
            EXPECT_EQ(record(small, "small_child", {way}, policy, folder / "small"), expected);
            EXPECT_EQ(expected, "42 42\n");
            Seen whole = seen_in(folder / "whole"), in_two = seen_in(folder / "small");
            EXPECT_GT(whole.calls, 16u) << way;
            EXPECT_EQ(in_two.calls, whole.calls) << way << " " << policy;
            EXPECT_EQ(in_two.moved, whole.moved) << way << " " << policy;
        }
    }
}

/* Also where it opens the real one only when it is initialised. */
TEST(SmallDriver, IsNoSecondDriver)
{
    for (const char *way : {"dlsym", "proc"}) {
        for (const Settings &settings : {Settings{}, Settings{{"SMALL_LATE", "1"}}}) {
            Folder folder;
            EXPECT_EQ(record(small, "small_child", {way}, "guarded", folder / "trace", settings), "42 42\n");
            EXPECT_EQ(seen_in(folder / "trace").moved, 8u) << way;
            Walk seen = walk(folder / "trace");
            EXPECT_EQ(seen.texts(PTDS_REC_BYPASS, sizeof(ptds_rec_BYPASS)), std::vector<std::string>()) << way;
            Command check;
            check.argv = {data_file("analysis/ptds"), "check", folder / "trace", "--fail-on", "half-remapped"};
            Outcome outcome = run(check);
            EXPECT_EQ(outcome.exit, 0) << outcome;
        }
    }
}

/* In WSL's own folder that is believed, too, where the driver answers with no address of the one behind it. */
TEST(SmallDriver, InItsFolder)
{
    Folder folder;
    for (const char *place : {"/wsl/lib", "/other/lib"}) {
        std::string at = folder.path() + place, trace = folder / "trace";
        std::filesystem::create_directories(at + "/drivers");
        std::filesystem::copy_file(data_file(small), at + "/libcuda.so.1");
        std::filesystem::copy_file(data_file(simulated), at + "/drivers/libcuda.so.1.1");
        Command command = shimmed("small_child", {"proc"}, {{"PTDS_TRACE", trace}});
        command.libraries = {at};
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.out, "42 42\n") << outcome;
        size_t said = strcmp(place, "/wsl/lib") == 0 ? 0 : 1;
        EXPECT_EQ(walk(trace).texts(PTDS_REC_BYPASS, sizeof(ptds_rec_BYPASS)).size(), said) << place;
    }
}

} // namespace
} // namespace ptds
