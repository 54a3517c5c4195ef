// SPDX-License-Identifier: Apache-2.0
//
// The command as its users meet it: exit statuses, what goes to which stream, and what `ptds run` hands to the program.
#include <gtest/gtest.h>
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "tests/analysis/support.h"

extern "C" char __executable_start; /* the linker's */

namespace ptds
{
namespace
{

const char command[] = "analysis/ptds";

struct Ran {
    int status;
    std::string out;
};

Ran Shell(const std::string &line)
{
    Ran ran = {-1, ""};
    FILE *pipe = popen(line.c_str(), "r");
    if (pipe == nullptr)
        return ran;
    char text[4096];
    for (size_t size; (size = fread(text, 1, sizeof text, pipe)) != 0;)
        ran.out.append(text, size);
    int status = pclose(pipe);
    ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
}

Ran Ptds(const std::string &arguments, const std::string &environment = "")
{
    return Shell(environment + " " + command + " " + arguments + " 2>&1");
}

bool Has(const Ran &ran, const std::string &part)
{
    return ran.out.find(part) != std::string::npos;
}

class TraceFile
{
public:
    explicit TraceFile(const std::string &bytes) : path(WriteTemporary(bytes))
    {
    }
    ~TraceFile()
    {
        unlink(path.c_str());
    }
    TraceFile(const TraceFile &) = delete;
    const std::string path;
};

const char with_finding[] = "1@0 launch s=L k=a\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4\n";
const char without[] = "1@0 launch s=N1 k=a\n";

TEST(Command, HelpAndVersion)
{
    EXPECT_EQ(0, Ptds("--help").status);
    Ran version = Ptds("--version");
    EXPECT_EQ(0, version.status);
    EXPECT_TRUE(Has(version, "ptds ")) << version.out;
    for (const char *verb : {"run", "report", "doctor"}) {
        Ran ran = Ptds(std::string(verb) + " --help");
        EXPECT_EQ(0, ran.status);
        EXPECT_TRUE(Has(ran, "Example")) << ran.out;
    }
}

TEST(Command, UsageErrorsAreTwo)
{
    for (const char *wrong : {"", "frobnicate", "report", "report --format xml x", "report --frob x", "run", "run --policy",
                              "report --summary --format json x", "doctor now"})
        EXPECT_EQ(2, Ptds(wrong).status) << wrong;
}

TEST(Report, ExitStatusSaysWhatWasFound)
{
    TraceFile bad(BuildTrace(with_finding)), good(BuildTrace(without)), broken("no trace at all");
    EXPECT_EQ(0, Ptds("report " + good.path).status);
    EXPECT_EQ(1, Ptds("report " + bad.path).status);
    EXPECT_EQ(3, Ptds("report " + broken.path).status);
    EXPECT_EQ(3, Ptds("report /nowhere/at/all").status);
    Ran both = Ptds("report " + broken.path + " " + bad.path);
    EXPECT_EQ(3, both.status);
    EXPECT_TRUE(Has(both, "sync-copy")) << "the other trace is reported all the same";
    EXPECT_TRUE(Has(both, broken.path + ": offset 0")) << both.out;
}

TEST(Report, ThreeForms)
{
    TraceFile trace(BuildTrace(with_finding));
    EXPECT_TRUE(Has(Ptds("report " + trace.path), "Findings, by host time lost"));
    EXPECT_TRUE(Has(Ptds("report --summary " + trace.path), "ptds: next: ptds report "));
    EXPECT_TRUE(Has(Ptds("report --format json " + trace.path), "\"ptds_report_version\": 1"));
}

TEST(Report, NamesSitesOfObjectsThatAreThere)
{
    /* This test itself is the object: its main has a symbol. */
    char self[4096];
    ssize_t size = readlink("/proc/self/exe", self, sizeof self - 1);
    ASSERT_GT(size, 0);
    self[size] = 0;
    TraceBuilder builder;
    uint64_t base = reinterpret_cast<uint64_t>(&__executable_start);
    builder.Object(1, self, base, base + 0x10000000);
    builder.Stack(1, {reinterpret_cast<uint64_t>(&ptds_summary) + 4});
    builder.Stream(1, PTDS_STREAM_LEGACY);
    for (uint32_t thread = 1; thread <= 2; thread++) {
        CallSpec call;
        call.thread = thread;
        call.enter = thread;
        call.op = PTDS_OP_LAUNCH;
        call.stream = call.stack = 1;
        call.flags = PTDS_CALL_LEGACY;
        builder.Call(call);
    }
    TraceFile trace(builder.Bytes());
    Ran ran = Ptds("report " + trace.path);
    EXPECT_EQ(1, ran.status);
    EXPECT_TRUE(Has(ran, " ptds_summary")) << ran.out;
}

/* As built: analysis/ptds finds interpose/libptds.so by itself; its real path is what the program gets. */
std::string Library()
{
    char path[4096] = "";
    EXPECT_NE(nullptr, realpath("interpose/libptds.so", path));
    return path;
}

TEST(RunVerb, SetsTheEnvironmentAndGivesTheProgramsStatus)
{
    NEEDS_A_PLAIN_SHIM();
    std::string library = Library();
    Ran ran = Ptds("run --policy observe --trace t.ptds --report off --log stderr -- sh -c "
                   "'echo $PTDS_POLICY $PTDS_TRACE $PTDS_REPORT $PTDS_LOG $LD_PRELOAD; exit 7'",
                   "PTDS_POLICY=none");
    EXPECT_EQ(7, ran.status) << ran.out;
    EXPECT_TRUE(Has(ran, "observe /")) << ran.out;
    EXPECT_TRUE(Has(ran, "/t.ptds off stderr " + library)) << ran.out;
}

TEST(RunVerb, KeepsAnotherPreload)
{
    NEEDS_A_PLAIN_SHIM();
    std::string library = Library();
    Ran ran = Ptds("run sh -c 'echo $LD_PRELOAD'", "LD_PRELOAD=libm.so.6");
    EXPECT_TRUE(Has(ran, library + ":libm.so.6")) << ran.out;
}

TEST(RunVerb, FailsLoudly)
{
    EXPECT_EQ(2, Ptds("run true", "PTDS_LIBRARY=/nowhere/libptds.so").status);
    EXPECT_EQ(127, Ptds("run /nowhere/program").status);
    EXPECT_EQ(126, Ptds("run /etc/passwd").status);
}

TEST(Doctor, SaysWhenTheLibraryIsMissing)
{
    Ran ran = Ptds("doctor", "PTDS_LIBRARY=/nowhere/libptds.so");
    EXPECT_EQ(1, ran.status);
    EXPECT_TRUE(Has(ran, "NOT usable")) << ran.out;
}

TEST(Doctor, WorksWithoutADriver)
{
    NEEDS_A_PLAIN_SHIM();
    if (dlopen("libcuda.so.1", RTLD_LAZY) != nullptr)
        GTEST_SKIP() << "this machine has a driver";
    Ran ran = Ptds("doctor");
    EXPECT_EQ(0, ran.status) << ran.out;
    EXPECT_TRUE(Has(ran, "none here, so the doors were not tried")) << ran.out;
}

TEST(Doctor, TriesTheDoorsOfADriver)
{
    NEEDS_A_PLAIN_SHIM();
    Ran ran = Ptds("doctor", "LD_LIBRARY_PATH=$PWD/tests/analysis/fake");
    EXPECT_EQ(0, ran.status) << ran.out;
    EXPECT_TRUE(Has(ran, "CUDA 13.0")) << ran.out;
    for (const char *door : {"elf ", "dlsym ", "cuGetProcAddress ", "cuGetProcAddress_v2 "})
        EXPECT_TRUE(Has(ran, std::string("ok     door ") + door)) << ran.out;
}

TEST(Doctor, TellsALibraryThatDoesNotLoad)
{
    /* A program is no library: the loader says so and goes on without it. */
    char path[4096] = "";
    ASSERT_NE(nullptr, realpath("analysis/ptds", path));
    Ran ran = Ptds("doctor", std::string("LD_LIBRARY_PATH=$PWD/tests/analysis/fake PTDS_LIBRARY=") + path);
    EXPECT_EQ(1, ran.status);
    EXPECT_TRUE(Has(ran, "FAILED a child with the shim")) << ran.out;
}

} // namespace
} // namespace ptds
