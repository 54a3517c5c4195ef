/* SPDX-License-Identifier: Apache-2.0
 *
 * What files of the shim's say of a program: nothing that is secret, and nothing that the program could make them say. On
 * the simulated driver.
 */
#include "tests/interpose/recorded.h"

namespace ptds
{
namespace
{

TEST(Log, NamesCannotForgeALine)
{
    Folder folder;
    for (bool to_file : {true, false}) {
        Command command = shimmed("load_child", {"names"},
                                  {{"PTDS_POLICY", "observe"}, {"PTDS_LOG", to_file ? folder / "log" : "stderr"}});
        command.libraries = simulator();
        Outcome outcome = run(command);
        EXPECT_EQ(outcome.exit, 0) << outcome;
        std::string log = to_file ? read_file(folder / "log") : outcome.err;
        EXPECT_NE(log.find("kernel innocent\\x0aptds: !! WRONG: forged\\x0a\\x1b[2J\\x9b1m\\x7f"), std::string::npos)
            << log;
        EXPECT_NE(log.find("cuLaunchKernel innocent\\x0aptds: !! WRONG: forged\\x0a\\x1b[2J\\x9b1m\\x7f at program"),
                  std::string::npos)
            << "what waits on the legacy stream is named, too\n"
            << log;
        EXPECT_NE(log.find("cuMemsetD8Async at program+0x"), std::string::npos) << "no kernel, no blank for it\n" << log;
        EXPECT_NE(log.find(" s thread 1 (tid "), std::string::npos) << log;
        EXPECT_NE(log.find(" from thread 1\n"), std::string::npos) << "the same number, which reports have, too\n" << log;
        for (const std::string &line : lines_of(log))
            EXPECT_EQ(line.rfind("ptds: +", 0), 0u) << line;
        for (char byte : log)
            EXPECT_TRUE(byte == '\n' || (byte >= ' ' && byte < 0x7f)) << log;
    }
}

TEST(Settings, NamesOfTheCudaSetUpAlone)
{
    Recorded recorded = record_of("load_child", {"crowd", "1", "1", "0"}, "observe",
                                  {{"CUDA_VISIBLE_DEVICES", "0"},
                                   {"CUDA_DEVICE_MAX_CONNECTIONS", "8"},
                                   {"RANK", "3"},
                                   {"CUDA_REGISTRY_TOKEN", "secret"},
                                   {"CUDA_VISIBLE_DEVICES_TOKEN", "secret"},
                                   {"NCCL_SECRET", "secret"},
                                   {"NUMBA_CUDA_KEY", "secret"},
                                   {"PMI_AUTH", "secret"},
                                   {"PTDS_PASSWORD", "secret"},
                                   {"PTDS_DIAG", "quiet"}, /* of a name that nothing reads it would say so */
                                   {"HOME", "secret"}});
    EXPECT_TRUE(recorded.has_setting("CUDA_VISIBLE_DEVICES=0"));
    EXPECT_TRUE(recorded.has_setting("CUDA_DEVICE_MAX_CONNECTIONS=8"));
    EXPECT_TRUE(recorded.has_setting("RANK=3"));
    EXPECT_TRUE(recorded.has_setting("PTDS_POLICY=observe"));
    EXPECT_EQ(recorded.bytes.find("secret"), std::string::npos);
}

} // namespace
} // namespace ptds
