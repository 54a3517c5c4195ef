/* SPDX-License-Identifier: Apache-2.0
 *
 * The auditor: what it reaches that preloading alone does not, and that nothing else changes where it is. On the simulated
 * driver.
 */
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

const std::string SHIM = "libptds.so", DRIVER = "libcuda.so.1";

[[maybe_unused]] const bool works = auditor_works() || skip_each("this glibc is older than 2.35: the auditor steps aside");

std::string here(const std::string &name)
{
    return data_file("tests/interpose/" + name);
}

/* With the auditors, by files, and without where there are none; under the shim unless it is told not to be. */
Outcome child(const std::vector<std::string> &arguments, const std::vector<std::string> &auditors,
              const Settings &settings = {}, bool under_shim = true)
{
    Command command = shimmed("audit_child", arguments, settings);
    command.libraries = {folder_of(data_file("tests/sim/libcuda.so.1")), folder_of(here("libaudit_plugin.so"))};
    command.audit = auditors;
    if (!under_shim)
        command.preload.clear();
    return run(command);
}

const Settings guarded = {{"PTDS_POLICY", "guarded"}};

/* By a bare name, so that the shim's own dlopen leaves it to the loader. */
const std::vector<std::string> deep = {"deep", "libaudit_plugin.so"};

TEST(Auditor, ReachesConstructorsAndBareNames)
{
    Outcome without = child(deep, {}, guarded), with = child(deep, {auditor()}, guarded);
    EXPECT_EQ(without.out, "early: " + DRIVER + "\nlater: " + DRIVER + "\n") << without;
    EXPECT_EQ(with.out, "early: " + SHIM + "\nlater: " + SHIM + "\n") << with;
    EXPECT_EQ(with.err, "");
    EXPECT_EQ(with.exit, 0);
}

TEST(Auditor, ReachesDriverFunctionsOfALinkedLibrary)
{
    for (const char *library : {"libaudit_plugin_linked.so", "libaudit_plugin_lazy.so"}) {
        SCOPED_TRACE(library);
        Folder folder;
        Settings settings = {{"PTDS_POLICY", "guarded"}, {"PTDS_TRACE", folder / "trace"}};
        Outcome outcome = child({"deep", library}, {auditor()}, settings);
        EXPECT_EQ(outcome.exit, 0) << outcome;
        /* Twice by dlsym and twice by its own name. */
        EXPECT_EQ(walk(folder / "trace").calls("cuMemsetD8_v2"), 4u) << outcome;
    }
}

TEST(Auditor, UnderEveryPolicy)
{
    for (const char *policy : {"observe", "guarded", "stream", "per-thread"}) {
        SCOPED_TRACE(policy);
        Folder folder;
        Settings settings = {{"PTDS_POLICY", policy}, {"PTDS_TRACE", folder / "trace"}};
        Outcome outcome = child(deep, {auditor()}, settings);
        EXPECT_EQ(outcome.out, "early: " + SHIM + "\nlater: " + SHIM + "\n") << outcome;
        EXPECT_EQ(walk(folder / "trace").calls("cuMemsetD8_v2"), 2u);
    }
}

TEST(Auditor, LeavesAloneWhereThereIsNothingToDo)
{
    const std::string bare = "early: " + DRIVER + "\nlater: " + DRIVER + "\n";
    EXPECT_EQ(child(deep, {auditor()}, {{"PTDS_POLICY", "none"}}).out, bare);
    EXPECT_EQ(child(deep, {auditor()}, {{"PTDS_DISABLE", "1"}}).out, bare);
    for (const char *policy : {"none", "guarded"}) {
        Outcome counted = child(deep, {auditor()}, {{"PTDS_POLICY", policy}, {"AUDIT_COUNTS", "1"}});
        const char *bound = strcmp(policy, "none") == 0 ? "none" : "some";
        EXPECT_NE(counted.out.find(std::string("present 1, bound ") + bound), std::string::npos) << counted;
    }
    EXPECT_EQ(child(deep, {auditor()}, {}, false).out, bare) << "a process without the shim";
}

TEST(Auditor, LookUpsInEveryScopeAreTheSame)
{
    Outcome without = child({"next"}, {}, guarded), with = child({"next"}, {auditor()}, guarded);
    EXPECT_NE(without.out.find("dlsym " + SHIM), std::string::npos) << without;
    EXPECT_NE(without.out.find("dlsym libc.so.6"), std::string::npos) << without;
    EXPECT_EQ(with.out, without.out);
    Outcome bare = child({"next"}, {}, {}, false);
    EXPECT_EQ(child({"next"}, {auditor()}, {}, false).out, bare.out);
}

/* A hook behind the shim asks for the next dlsym: libc's, or it would call itself for ever. */
TEST(Auditor, AHookBehindTheShimFindsTheNextOne)
{
    Command command = shimmed("audit_child", deep, {{"PTDS_POLICY", "guarded"}, {"HOOK_LOG", "1"}});
    command.libraries = {folder_of(data_file("tests/sim/libcuda.so.1")), folder_of(here("libaudit_plugin.so"))};
    command.preload.push_back(here("libhook.so"));
    command.audit = {auditor()};
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.out, "early: " + SHIM + "\nlater: " + SHIM + "\n") << outcome;
    EXPECT_NE(outcome.err.find("hook: cuMemsetD8_v2\n"), std::string::npos) << outcome;
}

/* --- other namespaces --- */

TEST(Auditor, ANamespaceKeepsItsOwnDriver)
{
    const std::vector<std::string> arguments = {"space", "libaudit_plugin.so"};
    Outcome bare = child(arguments, {}, {}, false), with = child(arguments, {auditor()}, guarded);
    EXPECT_EQ(bare.out, "early: " + DRIVER + "\nlater: " + DRIVER + "\n") << bare;
    EXPECT_EQ(with.out, bare.out) << with;
    EXPECT_EQ(with.exit, 0) << with;
}

/* The BYPASS records of a trace: what, the file, how many functions. */
std::vector<std::string> bypasses(const std::string &file)
{
    std::vector<std::string> found;
    for (const auto &[kind, bytes] : walk(file).records) {
        ptds_rec_BYPASS record;
        if (kind != PTDS_REC_BYPASS)
            continue;
        memcpy(&record, bytes.data(), sizeof record);
        std::string path = bytes.substr(sizeof record).c_str();
        found.push_back(std::to_string(record.what) + " " + path.substr(path.rfind('/') + 1) + " " +
                        std::to_string(record.functions));
    }
    return found;
}

TEST(Auditor, WorkBesideANamespaceIsRecordedAlone)
{
    for (bool audited : {false, true}) {
        Folder folder;
        Settings settings = {{"PTDS_POLICY", "guarded"}, {"PTDS_TRACE", folder / "trace"}};
        std::vector<std::string> auditors;
        if (audited)
            auditors.push_back(auditor());
        Outcome outcome = child({"both", "libaudit_plugin.so"}, auditors, settings);
        EXPECT_EQ(outcome.out, "early: " + DRIVER + "\nlater: " + DRIVER + "\nearly: " + SHIM + "\nlater: " + SHIM + "\n")
            << outcome;
        EXPECT_EQ(walk(folder / "trace").calls("cuMemsetD8_v2"), 2u) << outcome;
        /* Six functions, looked up twice. */
        EXPECT_EQ(bypasses(folder / "trace"),
                  std::vector<std::string>{audited ? "5 libaudit_plugin.so 12" : "4 libcuda.so.1 0"});
    }
}

/* It is said where it is known: the library's own reference, or only that it may have looked the driver up. */
TEST(Auditor, WithoutItBareNamesAreSaidInTheTrace)
{
    for (const char *library : {"libaudit_plugin.so", "libaudit_plugin_linked.so", "libaudit_plugin_lazy.so"}) {
        SCOPED_TRACE(library);
        for (bool audited : {false, true}) {
            Folder folder;
            Settings settings = {{"PTDS_POLICY", "guarded"}, {"PTDS_TRACE", folder / "trace"}, {"AUDIT_ALSO", "1"}};
            std::vector<std::string> auditors, nothing;
            if (audited)
                auditors.push_back(auditor());
            Outcome outcome = child({"deep", library}, auditors, settings);
            EXPECT_EQ(outcome.exit, 0) << outcome;
            std::string what = strcmp(library, "libaudit_plugin.so") == 0 ? "7 " : "6 ";
            std::vector<std::string> said = {what + library + " 0"};
            EXPECT_EQ(bypasses(folder / "trace"), audited ? nothing : said);
        }
    }
}

/* `ptds run` asks for a word where nothing was seen. */
TEST(Auditor, ANamespaceIsWhyNothingWasSeen)
{
    Settings settings = {{"PTDS_POLICY", "guarded"}, {"PTDS_REPORT", "summary"}};
    for (const char *mode : {"space", "quiet"}) {
        Command command = shimmed("audit_child", {mode, "libaudit_plugin.so"}, settings);
        command.libraries = {folder_of(data_file("tests/sim/libcuda.so.1")), folder_of(here("libaudit_plugin.so"))};
        command.argv.insert(command.argv.begin(),
                            {"/bin/sh", "-c", "PTDS_RUN=1:$$:$(readlink /proc/$$/fd/2) exec \"$@\"", "sh"});
        Outcome outcome = run(command);
        EXPECT_NE(outcome.err.find("no CUDA call of this program was seen"), std::string::npos) << outcome;
        EXPECT_EQ(outcome.err.find("a driver in a dlmopen namespace") != std::string::npos, strcmp(mode, "space") == 0)
            << outcome;
    }
}

/* --- beside others --- */

TEST(Auditor, BesideTheUsersOwn)
{
    const std::string watcher = here("libwatcher.so"), watched = "watcher: dlsym is libc's\n";
    for (const auto &auditors : {std::vector<std::string>{watcher, auditor()}, {auditor(), watcher}}) {
        Outcome outcome = child(deep, auditors, guarded);
        EXPECT_EQ(outcome.out, "early: " + SHIM + "\nlater: " + SHIM + "\n") << outcome;
        EXPECT_EQ(outcome.err, auditors[0] == watcher ? watched : "");
    }
}

/* What another auditor has put in a function's place is meant. */
TEST(Auditor, KeepsWhatTheUsersOwnHasChanged)
{
    Settings settings = {{"PTDS_POLICY", "guarded"}, {"WATCHER_TAKES", "1"}, {"AUDIT_PLUGIN", "idle"}};
    Command command = shimmed("audit_child", deep, settings);
    command.libraries = {folder_of(data_file("tests/sim/libcuda.so.1")), folder_of(here("libaudit_plugin.so"))};
    command.audit = {here("libwatcher.so"), auditor()};
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.out, "early: nothing\nlater: no functions\n") << outcome;
    EXPECT_EQ(outcome.err, "watcher: dlsym is libc's\n");
}

/* --- programs that have nothing to do with it --- */

TEST(Auditor, ProgramsWithoutCuda)
{
    for (bool under_shim : {false, true}) {
        Outcome outcome = child({"quiet"}, {auditor()}, guarded, under_shim);
        EXPECT_EQ(outcome.out, "quiet\n") << outcome;
        EXPECT_EQ(outcome.err, "");
    }
    Command still = shimmed("static_child", {}, guarded);
    still.audit = {auditor()};
    Outcome outcome = run(still);
    EXPECT_EQ(outcome.out, "static\n") << outcome;
    EXPECT_EQ(outcome.err, "");
}

/* Nothing of libc comes along: it needs no library and asks nobody for a function. */
TEST(Auditor, TheAuditorNeedsNoOtherLibrary)
{
    Command command = {{"/usr/bin/readelf", "-dW", "--dyn-syms", auditor()}};
    if (access(command.argv[0].c_str(), X_OK) != 0)
        GTEST_SKIP() << "no readelf here";
    Outcome outcome = run(command);
    ASSERT_EQ(outcome.exit, 0) << outcome;
    EXPECT_NE(outcome.out.find("la_symbind64"), std::string::npos) << outcome;
    EXPECT_EQ(outcome.out.find("NEEDED"), std::string::npos) << outcome;
    int undefined = 0; /* the first entry of every table is */
    for (const std::string &line : lines_of(outcome.out))
        undefined += line.find(" UND ") != std::string::npos;
    EXPECT_EQ(undefined, 1) << outcome;
}

/* As the loader calls it, without a shim: whatever is bound, calls go straight to it, not through the loader again. */
TEST(Auditor, AsksForNoCall)
{
    void *library = dlopen(data_file("interpose/libptds_audit.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    auto version = reinterpret_cast<decltype(&la_version)>(dlsym(library, "la_version"));
    auto bind = reinterpret_cast<decltype(&la_symbind64)>(dlsym(library, "la_symbind64"));
    ASSERT_TRUE(version && bind);
    EXPECT_EQ(version(1), 0u);
    EXPECT_EQ(version(2), 2u);
    EXPECT_EQ(version(3), 2u);
    Elf64_Sym symbol = {};
    symbol.st_value = 4711;
    const unsigned none = LA_SYMB_NOPLTENTER | LA_SYMB_NOPLTEXIT;
    struct {
        uintptr_t from, to;
        unsigned flags;
    } const all[] = {{2, 0, 0},                                 /* the driver's own */
                     {2, 2, LA_SYMB_STRUCTCALL},                /* flags of others stay */
                     {0, 0, LA_SYMB_ALTVALUE},                  /* another auditor's answer */
                     {0, 2, LA_SYMB_DLSYM},                     /* what somebody looks up */
                     {1, 1, LA_SYMB_DLSYM | LA_SYMB_ALTVALUE}}; /* of another namespace */
    for (const auto &one : all) {
        uintptr_t from = one.from, to = one.to;
        unsigned flags = one.flags;
        EXPECT_EQ(bind(&symbol, 0, &from, &to, &flags, "free"), 4711u) << one.from << " " << one.flags;
        EXPECT_EQ(flags, one.flags | none) << one.from << " " << one.flags;
        EXPECT_TRUE(from == one.from && to == one.to);
    }
    dlclose(library);
}

} // namespace
} // namespace ptds
