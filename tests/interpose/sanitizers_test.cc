/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs built with sanitizers run under the shim as they do without: each compiler, sanitizer and form of runtime, with
 * CUDA and without, the kill switch set or not, another runtime preloaded before and after. A compiler or runtime that is
 * not here is skipped by name; gcc must be here.
 */
#include "tests/interpose/shim_test.h"

namespace ptds
{
namespace
{

struct Build {
    const char *name, *compiler;
    std::vector<std::string> options;
};

const Build builds[] = {
    {"GccAddress", "gcc", {"-fsanitize=address"}},
    {"GccAddressStatic", "gcc", {"-fsanitize=address", "-static-libasan"}},
    {"GccThread", "gcc", {"-fsanitize=thread"}},
    {"GccThreadStatic", "gcc", {"-fsanitize=thread", "-static-libtsan"}},
    {"GccUndefined", "gcc", {"-fsanitize=undefined"}},
    {"ClangAddress", "clang", {"-fsanitize=address"}},
    {"ClangAddressShared", "clang", {"-fsanitize=address", "-shared-libasan"}},
    {"ClangThread", "clang", {"-fsanitize=thread"}},
    {"ClangMemory", "clang", {"-fsanitize=memory"}},
};

/* The address sanitizer refuses every library that is preloaded before it, unless asked not to. */
const char *const any_order = "verify_asan_link_order=0";
/* The thread sanitizer lets other threads finish for a second at exit. */
const char *const no_wait = "atexit_sleep_ms=0";

std::string folder_of(const std::string &file)
{
    return file.substr(0, file.rfind('/'));
}

std::string driver()
{
    return data_file("tests/sim/libcuda.so.1");
}

std::string runtime(const std::string &compiler, const std::string &name)
{
    std::string path = run({{"/usr/bin/" + compiler, "-print-file-name=" + name}}).out;
    path.erase(path.find_last_not_of('\n') + 1);
    return path.find('/') == std::string::npos ? "" : path;
}

/* What the compiler says where it cannot; empty: it could. */
std::string compile(const Build &build, bool with_cuda, const std::string &to)
{
    Command command;
    command.argv = {std::string("/usr/bin/") + build.compiler, "-g", "-o", to,
                    data_file("tests/interpose/sanitized_child.c")};
    command.argv.insert(command.argv.end(), build.options.begin(), build.options.end());
    if (with_cuda) {
        for (const std::string &more : {std::string("-DWITH_CUDA"), driver(), std::string("-lpthread"),
                                        "-I" + folder_of(data_file("external/cuda/include/cuda.h"))})
            command.argv.push_back(more);
    }
    Outcome outcome = run(command);
    return outcome.exit == 0 ? "" : outcome.err.empty() ? "no such compiler" : outcome.err;
}

class Sanitizers : public testing::TestWithParam<Build>
{
protected:
    Folder folder_;

    /* The program, and that it runs by itself; skips the test by its name where it cannot be had. */
    Command program(bool with_cuda)
    {
        Command command;
        command.argv = {folder_ / "program"};
        command.libraries = {folder_of(driver())};
        command.env = {{"ASAN_OPTIONS", any_order}, {"TSAN_OPTIONS", no_wait}};
        std::string failed = compile(GetParam(), with_cuda, command.argv[0]);
        if (std::string(GetParam().compiler) == "clang")
            command.libraries.push_back(folder_of(runtime("clang", "libclang_rt.asan-x86_64.so")));
        Outcome bare = failed.empty() ? run(command) : Outcome();
        bool gcc = std::string(GetParam().name) == "GccAddress";
        EXPECT_TRUE(!gcc || failed.empty()) << failed;
        if (!failed.empty() || bare.out != "right\n" || bare.exit != 0)
            command.argv.clear();
        return command;
    }

    static void expect_right(const Command &command)
    {
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.exit, 0) << outcome;
        EXPECT_EQ(outcome.out, "right\n") << outcome;
        EXPECT_EQ(outcome.err.find("Sanitizer"), std::string::npos) << outcome;
    }
};

#define SKIP_WITHOUT(command) \
    if ((command).argv.empty()) \
    GTEST_SKIP() << GetParam().name << ": no such compiler or runtime here"

TEST_P(Sanitizers, WithoutCuda)
{
    Command command = program(false);
    SKIP_WITHOUT(command);
    command.preload = {shim()};
    for (const char *disabled : {"", "1"}) {
        command.env["PTDS_DISABLE"] = disabled;
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.exit, 0) << outcome;
        EXPECT_EQ(outcome.out, "right\n") << outcome;
        EXPECT_EQ(outcome.err, "") << outcome;
    }
}

TEST_P(Sanitizers, WithCuda)
{
    Command command = program(true);
    SKIP_WITHOUT(command);
    command.preload = {shim()};
    for (const char *policy : {"guarded", "per-thread", "observe", "none"}) {
        SCOPED_TRACE(policy);
        command.env["PTDS_POLICY"] = policy;
        expect_right(command);
    }
    command.env["PTDS_POLICY"] = "guarded";
    command.env["PTDS_TRACE"] = folder_ / "trace";
    command.env["PTDS_REPORT"] = folder_ / "report";
    command.env["PTDS_LOG"] = folder_ / "log";
    expect_right(command);
    EXPECT_NE(read_file(folder_ / "report").find("driver calls"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Builds, Sanitizers, testing::ValuesIn(builds),
                         [](const testing::TestParamInfo<Build> &one) { return one.param.name; });

/* A sanitizer's runtime may also be preloaded, before the shim or behind it. */
TEST(PreloadedRuntime, BeforeAndBehind)
{
    Folder folder;
    ASSERT_EQ(compile({"Plain", "gcc", {}}, true, folder / "program"), "");
    for (const char *name : {"libasan.so", "libtsan.so"}) {
        std::string library = runtime("gcc", name);
        ASSERT_TRUE(!library.empty() || std::string(name) != "libasan.so") << "gcc has no " << name;
        for (const std::vector<std::string> &order : {std::vector<std::string>{library, shim()}, {shim(), library}}) {
            Command command;
            command.argv = {folder / "program"};
            command.libraries = {folder_of(driver())};
            command.preload = {library};
            command.env = {{"ASAN_OPTIONS", any_order}, {"TSAN_OPTIONS", no_wait}, {"PTDS_REPORT", "off"}};
            if (library.empty() || run(command).out != "right\n")
                continue;
            command.preload = order;
            Outcome outcome = run(command);
            EXPECT_EQ(outcome.exit, 0) << order[0] << "\n" << outcome;
            EXPECT_EQ(outcome.out, "right\n") << order[0] << "\n" << outcome;
            EXPECT_EQ(outcome.err, "") << order[0] << "\n" << outcome;
        }
    }
}

} // namespace
} // namespace ptds
