// SPDX-License-Identifier: Apache-2.0
//
// A real launch of four ranks by mpirun, each a program on the simulated driver under the shim, with a trace of its own;
// then their traces as one run. Also what `ptds export` does with files.
#include <gtest/gtest.h>

#include <jansson.h>
#include <unistd.h>

#include <fstream>
#include <set>

#include "tests/analysis/support.h"
#include "tests/analysis/wire.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

const char mpirun[] = "/usr/bin/mpirun";

std::string Simulator()
{
    std::string file = data_file("tests/sim/libcuda.so.1");
    return file.substr(0, file.rfind('/'));
}

Outcome Ptds(std::vector<std::string> arguments)
{
    arguments.insert(arguments.begin(), data_file("analysis/ptds_leaks"));
    return run({arguments});
}

/* Four ranks of the program `overlap`, their traces in the folder. */
Outcome Launch(const Folder &folder)
{
    Command command = {{mpirun, "--oversubscribe", "-n", "4", "-x", "LD_PRELOAD=" + shim(), "-x",
                        "LD_LIBRARY_PATH=" + Simulator(), "-x", "PTDS_TRACE=" + (folder / "%h-%r-%p"), "-x",
                        "PTDS_POLICY=observe", "-x", "PTDS_REPORT=off", data_file("tests/apps/overlap"), "2", "20",
                        "100000"}};
    command.env = {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}, {"HOME", folder.path()}};
    return run(command);
}

#define NEEDS_MPIRUN() \
    if (access(mpirun, X_OK) != 0) \
    GTEST_SKIP() << mpirun << " is not installed (Debian: openmpi-bin)"

json_t *At(json_t *object, const char *key)
{
    return json_object_get(object, key);
}

TEST(Ranks, AreOneReport)
{
    NEEDS_A_PLAIN_SHIM();
    NEEDS_MPIRUN();
    Folder folder;
    Outcome ran = Launch(folder);
    ASSERT_EQ(0, ran.exit) << ran;
    Outcome report = Ptds({"report", "--format", "json", folder.path()});
    ASSERT_EQ(0, report.exit) << report;
    json_t *root = json_loads(report.out.c_str(), 0, nullptr);
    ASSERT_NE(nullptr, root);
    json_t *processes = At(root, "processes");
    ASSERT_EQ(4u, json_array_size(processes));
    std::set<json_int_t> pids, starts;
    for (size_t i = 0; i < 4; i++) {
        json_t *process = json_array_get(processes, i);
        EXPECT_EQ(static_cast<json_int_t>(i), json_integer_value(At(process, "rank")));
        EXPECT_EQ(0u, json_array_size(At(process, "incomplete")));
        pids.insert(json_integer_value(At(process, "pid")));
        starts.insert(json_integer_value(At(process, "start_unix_ns")));
    }
    EXPECT_EQ(4u, pids.size());
    EXPECT_LT(*starts.rbegin() - *starts.begin(), 60000000000) << "one clock: they began together";
    bool folded = false;
    size_t i;
    json_t *finding;
    json_array_foreach(At(root, "findings"), i, finding)
    {
        if (std::string("sync-copy") != json_string_value(At(finding, "rule")))
            continue;
        folded |= json_array_size(At(finding, "processes")) == 4;
        json_t *by = At(finding, "host_ns_by_process");
        EXPECT_LE(json_integer_value(At(by, "min")), json_integer_value(At(by, "median")));
        EXPECT_LE(json_integer_value(At(by, "median")), json_integer_value(At(by, "max")));
    }
    EXPECT_TRUE(folded) << "each rank is mapped elsewhere, and still it is the same finding: " << report.out;
    json_decref(root);
    Outcome text = Ptds({"report", "--all", folder.path()});
    EXPECT_NE(std::string::npos, text.out.find("report on 4 processes")) << text;
    EXPECT_NE(std::string::npos, text.out.find(" rank 3 pid ")) << text;
    Outcome first = Ptds({"report", folder.path()});
    for (const char *part :
         {"4 processes, ran ", "Right: 4; ", "Default stream: threads waited for it in 4", ", 4 processes\n", "Next: "})
        EXPECT_NE(std::string::npos, first.out.find(part)) << part << first;
}

TEST(Ranks, AreCheckedAndExportedTogether)
{
    NEEDS_A_PLAIN_SHIM();
    NEEDS_MPIRUN();
    Folder folder;
    ASSERT_EQ(0, Launch(folder).exit);
    Outcome check = Ptds({"check", folder.path(), "--fail-on", "sync-copy"});
    EXPECT_EQ(1, check.exit) << check;
    EXPECT_NE(std::string::npos, check.out.find(" of 4 processes, cuMemcpyDtoH_v2 at overlap+0x")) << check;
    EXPECT_NE(std::string::npos, check.out.find("; 4 processes\n")) << check;
    Outcome exported = Ptds({"export", folder.path(), "--to", "perfetto"});
    ASSERT_EQ(0, exported.exit) << exported;
    std::string path = folder.path() + ".perfetto-trace";
    std::set<uint64_t> pids;
    for (const std::string &block : PerfettoBlocks(read_file(path)))
        for (const WireField &packet : Wire(block).fields)
            if (Wire track = Wire(packet.bytes).Message(60); track.Has(3))
                pids.insert(track.Message(3).Value(1));
    EXPECT_EQ(4u, pids.size());
    unlink(path.c_str());
}

TEST(Export, WritesWhereItIsTold)
{
    Folder folder;
    std::string trace = folder / "app.ptds";
    std::ofstream(trace) << BuildTrace(
        "1@0 launch s=L k=a\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4\n" GOES_ON);
    Outcome ran = Ptds({"export", trace, "--to", "sqlite"});
    EXPECT_EQ(0, ran.exit) << ran;
    ASSERT_EQ(2u, lines_of(ran.err).size()) << ran;
    EXPECT_EQ(0u, ran.err.find("ptds export: " + trace + ": not in the GPU tables: 2 of 2 kernels, 1 of 1 copies")) << ran;
    EXPECT_EQ("ptds export: wrote " + trace + ".sqlite", lines_of(ran.err)[1]);
    EXPECT_EQ(0u, read_file(trace + ".sqlite").find("SQLite format 3"));
    ran = Ptds({"export", trace, "--to", "folded"});
    EXPECT_NE(std::string::npos, ran.out.find(";cuMemcpyDtoH_v2 ")) << ran;
    ran = Ptds({"export", trace, "--to", "sarif", "-o", folder / "out.sarif"});
    EXPECT_EQ(0, ran.exit) << ran;
    EXPECT_EQ("", ran.out);
    EXPECT_NE(std::string::npos, read_file(folder / "out.sarif").find("\"2.1.0\""));
    EXPECT_FALSE(Ptds({"export", trace, "--to", "perfetto", "-o", "-"}).out.empty());
}

TEST(Export, FailsLoudlyAndLeavesNothingBehind)
{
    Folder folder;
    std::string trace = folder / "app.ptds", broken = folder / "broken.ptds";
    std::ofstream(trace) << BuildTrace("1@0 launch s=L k=a\n");
    std::ofstream(broken) << "no trace";
    for (const auto &arguments : std::vector<std::vector<std::string>>{
             {}, {trace}, {"--to", "folded"}, {trace, "--to", "pdf"}, {trace, "--to", "sqlite", "-o", "-"}}) {
        std::vector<std::string> all = {"export"};
        all.insert(all.end(), arguments.begin(), arguments.end());
        EXPECT_EQ(2, Ptds(all).exit);
    }
    EXPECT_EQ(3, Ptds({"export", broken, "--to", "folded"}).exit);
    EXPECT_EQ(3, Ptds({"export", trace, broken, "--to", "folded"}).exit) << "the whole of what was asked for is not there";
    Outcome ran = Ptds({"export", trace, "--to", "perfetto", "-o", folder / "no/such/folder"});
    EXPECT_EQ(3, ran.exit);
    EXPECT_NE("", ran.err);
    EXPECT_EQ(2u, folder.files().size()) << "the two traces";
}

} // namespace
} // namespace ptds
