// SPDX-License-Identifier: Apache-2.0
//
// When `ptds probe` tries guarded with other settings: what the request, the environment and the record of observe have to
// say.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>

#include "analysis/probe/probe.h"
#include "analysis/probe/runs/rounds.h"
#include "analysis/probe/runs/try_settings.h"
#include "tests/support/run_child.h"
#include "tests/support/trace_builder.h"

namespace ptds
{
namespace
{

/* Kernels of one thread on the default stream, in turn on so many memories; they are long, and each has its time. */
std::string Kernels(unsigned count, unsigned chains)
{
    std::string calls = "setting policy=observe\n1@0+1 alloc ptr=0x100000 bytes=4096 m=A\n"
                        "1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n1@4+1 launch s=N1 k=_Z1cPf\n";
    for (unsigned i = 0; i < count; i++) {
        std::string at = std::to_string(100 + 2 * i);
        calls += "1@" + at + "+1 launch s=L k=_Z1aPf args=" + (i % chains == 0 ? "A\n" : "B\n");
        calls += "device-run 1@" + at + " " + std::to_string(300 + 1001 * i) + "+1000\n";
    }
    return calls + "1@250+" + std::to_string(1001 * count + 100) + " ctx-sync\n";
}

class ProbeSettings : public testing::Test
{
protected:
    ProbeSettings()
    {
        unsetenv("PTDS_LANES");
        unsetenv("PTDS_EXPLICIT_LEGACY");
    }
    ~ProbeSettings()
    {
        unsetenv("PTDS_LANES");
        unsetenv("PTDS_EXPLICIT_LEGACY");
    }
    /* Which are tried: "0x1 1 8 ", if any. `before`: so many policies are tried already. */
    std::string Tried(enum lanes asked, const std::string &recorded, size_t before = 1)
    {
        Folder folder;
        probe probe = {};
        rounds_begin(&probe);
        for (const char *policy : {"guarded", "per-thread", "stream"})
            if (probe.count < VARIANT_FIRST_POLICY + before)
                rounds_add_policy(&probe, policy, true);
        for (; probe.count < VARIANT_FIRST_POLICY + before; probe.count++)
            probe.variants[probe.count].name = probe.variants[probe.count].policy = "more";
        EXPECT_LT(folder.path().size(), sizeof probe.folder.path);
        strcpy(probe.folder.path, folder.path().c_str());
        std::string traces = folder_traces(&probe.folder, "observe").text;
        EXPECT_EQ(0, mkdir(traces.c_str(), 0700));
        std::ofstream(traces + "/0.ptds") << BuildTrace(recorded);
        probe.lanes = asked;
        size_t count = probe.count, added = try_settings(&probe);
        EXPECT_EQ(count + added, probe.count);
        std::string said;
        for (size_t i = count; i < probe.count; i++) {
            EXPECT_STREQ("guarded", probe.variants[i].policy);
            std::string what = probe.variants[i].moves_explicit ? "0x1" : std::to_string(probe.variants[i].lanes);
            EXPECT_EQ("guarded, " + what +
                          (what == "0x1" ? " moved"
                           : what == "1" ? " lane"
                                         : " lanes"),
                      probe.variants[i].name);
            EXPECT_FALSE(probe.variants[i].asked) << "they do not decide the exit status";
            said += what + " ";
        }
        rounds_end(&probe);
        return said;
    }
};

TEST_F(ProbeSettings, LanesAreTriedWhereTheyLimit)
{
    EXPECT_EQ("1 8 ", Tried(LANES_WHERE_THEY_LIMIT, Kernels(50, 2)));
    EXPECT_EQ("", Tried(LANES_WHERE_THEY_LIMIT, Kernels(49, 2)))
        << "the first ones, which warm up, say more than all others";
    EXPECT_EQ("", Tried(LANES_WHERE_THEY_LIMIT, Kernels(50, 1))) << "one chain of work";
    EXPECT_EQ("", Tried(LANES_NOT, Kernels(50, 2)));
}

TEST_F(ProbeSettings, LanesAreTriedInAnyCaseWhereThereIsWork)
{
    EXPECT_EQ("1 8 ", Tried(LANES_IN_ANY_CASE, Kernels(1, 1)));
    EXPECT_EQ("", Tried(LANES_IN_ANY_CASE, Kernels(0, 1))) << "nothing is on the default stream";
}

TEST_F(ProbeSettings, LanesAreLeftToWhoSetThem)
{
    setenv("PTDS_LANES", "2", 1);
    EXPECT_EQ("", Tried(LANES_IN_ANY_CASE, Kernels(50, 2)));
    setenv("PTDS_LANES", "", 1);
    EXPECT_EQ("1 8 ", Tried(LANES_IN_ANY_CASE, Kernels(50, 2)));
}

TEST_F(ProbeSettings, LanesAreTriedAllOrNone)
{
    EXPECT_EQ("1 8 ", Tried(LANES_IN_ANY_CASE, Kernels(1, 1), 5));
    EXPECT_EQ("", Tried(LANES_IN_ANY_CASE, Kernels(1, 1), 6)) << "there is room for one more";
}

const std::string named = "1@200 launch s=L k=_Z1aPf args=A explicit\n";

TEST_F(ProbeSettings, WorkOnTheLegacyStreamByNameIsMovedWhereThereIsSome)
{
    EXPECT_EQ("0x1 ", Tried(LANES_NOT, Kernels(1, 1) + named));
    EXPECT_EQ("", Tried(LANES_NOT, Kernels(1, 1))) << "0 is not 0x1";
    EXPECT_EQ("0x1 1 8 ", Tried(LANES_IN_ANY_CASE, Kernels(1, 1) + named));
    setenv("PTDS_EXPLICIT_LEGACY", "keep", 1);
    EXPECT_EQ("", Tried(LANES_NOT, Kernels(1, 1) + named)) << "the user has chosen";
    EXPECT_EQ("1 8 ", Tried(LANES_IN_ANY_CASE, Kernels(1, 1) + named));
    setenv("PTDS_EXPLICIT_LEGACY", "", 1);
    EXPECT_EQ("0x1 ", Tried(LANES_NOT, Kernels(1, 1) + named, 6));
    EXPECT_EQ("", Tried(LANES_NOT, Kernels(1, 1) + named, 7)) << "there is no room";
}

} // namespace
} // namespace ptds
