/* SPDX-License-Identifier: Apache-2.0
 *
 * Libraries opened with RTLD_DEEPBIND find the shim as all others do, and for the program nothing else is different.
 */
#include <map>

#include "tests/interpose/shim_test.h"

namespace ptds
{
namespace
{

const std::string SHIM = "libptds.so", DRIVER = "libcuda.so.1", LIBC = "libc.so.6";

std::string library(const std::string &kind)
{
    return data_file("tests/interpose/libdeep_" + kind + ".so");
}

/* "now:PATH" and the like. */
std::vector<std::string> steps(const std::vector<std::pair<std::string, std::string>> &kinds)
{
    std::vector<std::string> all;
    for (const auto &[word, kind] : kinds)
        all.push_back(word + ":" + library(kind));
    return all;
}

/* What a run says of the last library that it asked. */
std::map<std::string, std::string> answers(const Outcome &outcome)
{
    std::map<std::string, std::string> all;
    EXPECT_EQ(outcome.exit, 0) << outcome;
    for (const std::string &line : lines_of(outcome.out)) {
        size_t colon = line.find(": ");
        if (colon != std::string::npos)
            all[line.substr(0, colon)] = line.substr(colon + 2);
    }
    return all;
}

Outcome deep(const std::vector<std::string> &arguments, const Settings &settings = {{"PTDS_POLICY", "guarded"}})
{
    Outcome outcome = run(shimmed("deep_child", arguments, settings));
    EXPECT_EQ(outcome.err, "");
    return outcome;
}

const char *const ours[] = {"dlsym", "dlvsym", "dlopen", "cuLaunchKernel", "cuLaunchKernel_ptsz"};

/* The way of opening and the kind of library. */
class Deep : public testing::TestWithParam<std::pair<std::string, std::string>>
{
};

TEST_P(Deep, IsReached)
{
    auto found = answers(deep(steps({GetParam()})));
    EXPECT_EQ(found["found by dlsym"], SHIM);
    EXPECT_EQ(found["found by dlvsym"], SHIM);
    for (const char *name : ours)
        EXPECT_EQ(found[name], SHIM) << name;
    EXPECT_EQ(found["dladdr"], LIBC);
    EXPECT_EQ(found["launch 0"].rfind("cuLaunchKernel on 0x51", 0), 0u) << "a stream of the shim's: " << found["launch 0"];
}

TEST_P(Deep, LeavesNothingBehind)
{
    Outcome bare = run(plain("deep_child", steps({GetParam()})));
    auto without = answers(bare), with = answers(deep(steps({GetParam()})));
    EXPECT_EQ(without["found by dlsym"], DRIVER) << bare;
    EXPECT_NE(without["rights"], "") << bare;
    EXPECT_EQ(with["rights"], without["rights"]);
}

TEST_P(Deep, IsLeftAloneWhereThereIsNothingToDo)
{
    Outcome bare = run(plain("deep_child", steps({GetParam()})));
    EXPECT_EQ(deep(steps({GetParam()}), {{"PTDS_POLICY", "none"}}).out, bare.out);
    EXPECT_EQ(deep(steps({GetParam()}), {{"PTDS_DISABLE", "1"}}).out, bare.out);
}

INSTANTIATE_TEST_SUITE_P(Every, Deep,
                         testing::Values(std::pair("now", "now"), std::pair("lazy", "now"), std::pair("now", "lazy"),
                                         std::pair("lazy", "lazy"), std::pair("now", "got"), std::pair("lazy", "got")),
                         [](const auto &of) { return of.param.first + "_" + of.param.second; });

TEST(DeepPolicies, AllThatDoSomething)
{
    for (const char *policy : {"observe", "guarded", "stream", "per-thread"}) {
        SCOPED_TRACE(policy);
        auto found = answers(deep(steps({{"now", "now"}}), {{"PTDS_POLICY", policy}}));
        EXPECT_EQ(found["dlsym"], SHIM);
        if (strcmp(policy, "per-thread") == 0)
            EXPECT_EQ(found["launch 0"], "cuLaunchKernel_ptsz on (nil)");
        else if (strcmp(policy, "observe") == 0)
            EXPECT_EQ(found["launch 0"], "cuLaunchKernel on (nil)");
        else
            EXPECT_NE(found["launch 0"], "cuLaunchKernel on (nil)");
    }
}

TEST(DeepLibrary, WithALookupOfItsOwnKeepsIt)
{
    auto found = answers(deep(steps({{"now", "own"}})));
    EXPECT_EQ(found["dlsym"], "libdeep_own.so");
    EXPECT_EQ(found["found by dlsym"], "libdeep_own.so");
    EXPECT_EQ(found["found by dlvsym"], SHIM);
}

/* A library that it needs hooks dlsym: that is the one it is meant to find. */
TEST(DeepLibrary, FindsTheHookThatItBrings)
{
    for (const char *kind : {"hooked_now", "hooked_lazy"}) {
        SCOPED_TRACE(kind);
        Command command = shimmed("deep_child", steps({{"lazy", kind}}), {{"PTDS_POLICY", "guarded"}, {"HOOK_LOG", "1"}});
        Outcome outcome = run(command);
        auto found = answers(outcome);
        EXPECT_EQ(outcome.err, "hook: cuLaunchKernel\n");
        EXPECT_EQ(found["dlsym"], "libhook.so");
        EXPECT_EQ(found["dlopen"], SHIM);
    }
}

/* Two tools in the program: the library comes by both, as all others do. */
TEST(DeepLibrary, ComesByAnotherHookBehindTheShim)
{
    Command command = shimmed("deep_child", steps({{"now", "now"}}), {{"PTDS_POLICY", "guarded"}, {"HOOK_LOG", "1"}});
    command.preload.push_back(data_file("tests/interpose/libhook.so"));
    Outcome outcome = run(command);
    EXPECT_EQ(answers(outcome)["found by dlsym"], SHIM);
    EXPECT_NE(outcome.err.find("hook: cuLaunchKernel\n"), std::string::npos) << outcome;
}

TEST(DeepLibrary, TwiceAndOnceMoreAfterItWasClosed)
{
    std::vector<std::string> twice =
        steps({{"now", "now"}, {"now", "now"}, {"close", "now"}, {"close", "now"}, {"now", "now"}});
    Outcome outcome = deep(twice);
    auto found = answers(outcome);
    EXPECT_EQ(found["dlsym"], SHIM);
    EXPECT_EQ(found["found by dlsym"], SHIM);
    EXPECT_EQ(found["closed"], "0");
}

/* The name without a slash is not followed, so the first library is as without the shim. It stays so when another comes
 * that needs it; what comes along for the first time is reached with the one that needs it. */
TEST(DeepLibrary, WhatWasThereBeforeIsNotTouched)
{
    Command command = shimmed("deep_child", {"open:libdeep_lazy.so", "now:" + library("user"), "now:" + library("lazy")},
                              {{"PTDS_POLICY", "guarded"}});
    command.libraries.push_back(data_file("tests/interpose"));
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(answers(outcome)["dlsym"], LIBC) << outcome;
    EXPECT_NE(outcome.out.find("\ndlsym: libptds.so\n"), std::string::npos) << outcome;
    EXPECT_EQ(answers(deep(steps({{"now", "user"}, {"now", "lazy"}})))["dlsym"], SHIM);
}

TEST(DeepLibrary, WhatItOpensIsReachedToo)
{
    EXPECT_EQ(answers(deep(steps({{"now", "own"}, {"innerdeep", "now"}})))["found by dlsym"], SHIM);
    EXPECT_EQ(answers(deep(steps({{"now", "own"}, {"inner", "now"}})))["found by dlsym"], SHIM);
}

/* The loader looks for these by who asks. */
TEST(DeepLibrary, ItsOwnSearchPathCounts)
{
    for (const char *word : {"inner", "innerdeep"}) {
        for (const char *file : {"libdeep_hidden.so", "$ORIGIN/beside/libdeep_hidden.so"}) {
            std::vector<std::string> arguments = {"now:" + library("beside"), std::string(word) + ":" + file};
            Outcome bare = run(plain("deep_child", arguments)), outcome = deep(arguments);
            std::string opened = std::string(word) + " libdeep_hidden.so";
            EXPECT_EQ(answers(bare)[opened].substr(0, 4), "yes ") << bare;
            EXPECT_EQ(answers(outcome)[opened], answers(bare)[opened]) << outcome;
        }
    }
}

TEST(DeepLibrary, NoFileIsTheProgram)
{
    EXPECT_EQ(deep({"self"}).out, "the program itself: yes\n");
}

TEST(DeepLibrary, ErrorsAreTheLoadersOwn)
{
    for (const std::string &file : {std::string("/nowhere/libdeep.so"), std::string("/etc/passwd"), library("unresolved"),
                                    std::string("libnowhere.so"), std::string("./$NOTHING/x.so")}) {
        SCOPED_TRACE(file);
        Outcome bare = run(plain("deep_child", {"now:" + file}));
        EXPECT_EQ(deep({"now:" + file}).out, bare.out);
        EXPECT_EQ(bare.out.find(": yes"), std::string::npos) << bare;
        EXPECT_EQ(bare.out.find(": no words"), std::string::npos) << bare;
    }
}

/* What only the auditor reaches: a constructor runs before anybody else knows of the library. What follows is as always. */
TEST(DeepLibrary, ConstructorsComeTooEarly)
{
    auto found = answers(deep(steps({{"now", "early"}})));
    EXPECT_EQ(found["found early"], getenv("PTDS_TEST_AUDITED") && auditor_works() ? SHIM : DRIVER);
    EXPECT_EQ(found["found by dlsym"], SHIM);
    EXPECT_EQ(answers(deep(steps({{"plain", "early"}})))["found early"], SHIM);
}

TEST(DeepLibrary, OpenedByAConstructor)
{
    Settings settings = {{"PTDS_POLICY", "guarded"}, {"DEEP_OPENS", library("now")}};
    auto found = answers(deep(steps({{"plain", "early"}, {"plain", "now"}}), settings));
    EXPECT_EQ(found["dlsym"], SHIM);
    EXPECT_EQ(found["found by dlsym"], SHIM);
}

TEST(DeepLibrary, OpenedByThreadsAtTheSameTime)
{
    const std::string one = "race:" + library("now"), several = one + "," + library("user") + "," + library("lazy");
    for (const std::string &step : {one, several}) {
        Outcome outcome = deep({step});
        EXPECT_EQ(outcome.out, "past the shim: 0\n") << outcome;
        EXPECT_EQ(outcome.exit, 0);
    }
}

/* As modules of Python's are opened after sys.setdlopenflags(). */
TEST(DeepLibrary, AsAModuleOfPythons)
{
    const std::string python = "/usr/bin/python3", script = R"(
import ctypes, sys
sys.setdlopenflags(2 | 8)
sys.path.insert(0, sys.argv[1])
try:
    import libdeep_python
except SystemError:
    pass
class Info(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p)] + [(name, ctypes.c_void_p) for name in ("base", "symbol", "address")]
module = ctypes.CDLL(sys.argv[1] + "/libdeep_python.so")
module.deep_find.restype = ctypes.c_void_p
info = Info()
ctypes.CDLL(None).dladdr(ctypes.c_void_p(module.deep_find(b"cuLaunchKernel")), ctypes.byref(info))
print(info.file.decode().rsplit("/")[-1])
)";
    if (access(python.c_str(), X_OK) != 0)
        GTEST_SKIP() << "no Python here";
    Command command = {{python, "-c", script, data_file("tests/interpose")}};
    command.libraries = {fake_driver()};
    EXPECT_EQ(run(command).out, DRIVER + "\n");
    command.preload = {shim()};
    command.env = {{"PTDS_POLICY", "guarded"}, {"PTDS_REPORT", "off"}};
    Outcome outcome = run(command);
    EXPECT_EQ(outcome.out, SHIM + "\n") << outcome;
}

} // namespace
} // namespace ptds
