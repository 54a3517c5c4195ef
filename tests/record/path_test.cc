/* SPDX-License-Identifier: Apache-2.0
 *
 * What is put into traces' names, and which rank of how many a process is told that it is.
 */
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <unistd.h>

extern "C" {
#include "interpose/record/file/path.h"
}

namespace
{

const char *const launchers[] = {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK",     "SLURM_PROCID", "RANK",
                                 "OMPI_COMM_WORLD_SIZE", "PMI_SIZE",  "SLURM_NTASKS", "WORLD_SIZE"};

class Path : public testing::Test
{
protected:
    void SetUp() override
    {
        for (const char *name : launchers)
            unsetenv(name);
    }
    void TearDown() override
    {
        SetUp();
    }
    static std::string expanded(const std::string &pattern, size_t size = 1024)
    {
        std::string out(size + 1, '#');
        path_expand(pattern.c_str(), &out[0], size);
        EXPECT_EQ('#', out[size]) << "beyond its end";
        return out.c_str();
    }
    static std::string decimal(uint64_t number)
    {
        char digits[21];
        const size_t size = path_decimal(number, digits);
        EXPECT_EQ(size, strlen(digits));
        return digits;
    }
};

TEST_F(Path, Decimals)
{
    EXPECT_EQ("0", decimal(0));
    EXPECT_EQ("9", decimal(9));
    EXPECT_EQ("10", decimal(10));
    EXPECT_EQ("1234567890", decimal(1234567890));
    EXPECT_EQ("18446744073709551615", decimal(UINT64_MAX));
}

TEST_F(Path, LettersStandForFacts)
{
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    const std::string pid = std::to_string(getpid());
    EXPECT_EQ("", expanded(""));
    EXPECT_EQ("a/b.ptds", expanded("a/b.ptds"));
    EXPECT_EQ("a" + pid + "b" + pid, expanded("a%pb%p"));
    EXPECT_EQ(std::string(host) + "-0-%", expanded("%h-%r-%%"));
    EXPECT_EQ("%x%", expanded("%x%")) << "no other letters";
    EXPECT_EQ("%p", expanded("%%p"));
    setenv("RANK", "13", 1);
    EXPECT_EQ("13", expanded("%r"));
}

TEST_F(Path, AsMuchAsThereIsRoomFor)
{
    EXPECT_EQ("abc", expanded("abcdef", 4));
    EXPECT_EQ("abc", expanded("abc", 4));
    EXPECT_EQ("a%b", expanded("a%%bcd", 4));
    EXPECT_EQ("", expanded("abc", 1));
}

TEST_F(Path, NumbersBehindAName)
{
    char path[16] = "trace.old";
    path_append_number(path, 5, sizeof path, 4711);
    EXPECT_STREQ("trace.4711", path);
    path_append_number(path, 10, sizeof path, 23456);
    EXPECT_STREQ("trace.4711.2345", path) << "as much as there is room for";
    char whole[64] = "trace";
    path_append_pid(whole, sizeof whole);
    EXPECT_EQ("trace." + std::to_string(getpid()), whole);
}

/* The launcher's own variable goes first. */
TEST_F(Path, RanksAndHowMany)
{
    EXPECT_EQ(-1, path_rank());
    EXPECT_EQ(-1, path_ranks());
    int number = 10;
    for (const char *name : {"RANK", "SLURM_PROCID", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"}) {
        setenv(name, std::to_string(++number).c_str(), 1);
        EXPECT_EQ(number, path_rank()) << name;
    }
    for (const char *name : {"WORLD_SIZE", "SLURM_NTASKS", "PMI_SIZE", "OMPI_COMM_WORLD_SIZE"}) {
        setenv(name, std::to_string(++number).c_str(), 1);
        EXPECT_EQ(number, path_ranks()) << name;
    }
}

TEST_F(Path, WhatIsNoRank)
{
    for (const char *text : {"", "-1", "x", "/3", ":3"}) {
        setenv("PMI_RANK", text, 1);
        EXPECT_EQ(-1, path_rank()) << text;
    }
    setenv("RANK", "9", 1);
    EXPECT_EQ(9, path_rank()) << "another says so";
    setenv("RANK", "0", 1);
    EXPECT_EQ(0, path_rank());
}

/* The 22nd field of the kernel's line, whatever the program is called. */
TEST_F(Path, WhenTheProcessWasBorn)
{
    std::ifstream stat("/proc/self/stat");
    std::string field;
    for (int i = 0; i < 22; i++)
        stat >> field;
    EXPECT_EQ(field, std::to_string(path_process_born()));
}

} // namespace
