// SPDX-License-Identifier: Apache-2.0
//
// How long a run's CUDA work took, from files as processes leave them.
#include <gtest/gtest.h>

#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/probe/runs/cuda_span.h"
#include "interpose/record/moments.h"
#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

class SpanTest : public testing::Test
{
protected:
    void Write(const std::string &name, const moments &what, size_t size = sizeof(moments))
    {
        std::ofstream(folder_ / name, std::ios::binary).write(reinterpret_cast<const char *>(&what), (std::streamsize)size);
    }
    void Process(const std::string &name, uint64_t first, std::vector<uint64_t> lasts)
    {
        moments what = {};
        what.magic = MOMENTS_MAGIC;
        what.first = first;
        for (size_t i = 0; i < lasts.size(); i++)
            what.place[i].last = lasts[i];
        Write(name, what);
    }
    uint64_t Read() const
    {
        return cuda_span_read(folder_.path().c_str());
    }
    Folder folder_;
};

TEST_F(SpanTest, OneProcess)
{
    EXPECT_EQ(0u, Read()) << "an empty folder";
    EXPECT_EQ(0u, cuda_span_read("/no/such/folder"));
    Process("100", 1000, {1500, 1700, 1600});
    EXPECT_EQ(700u, Read()) << "the last thread";
}

TEST_F(SpanTest, TimesOfSeveralProcessesCountOnce)
{
    Process("100", 1000, {2000});
    Process("101", 1500, {2500});
    Process("102", 1600, {1700});
    EXPECT_EQ(1500u, Read());
    Process("103", 5000, {6000});
    EXPECT_EQ(2500u, Read()) << "the time between is none";
}

TEST_F(SpanTest, WhatIsNoneIsLeftOut)
{
    Process("100", 1000, {1300});
    Process("101", 0, {5000});
    Process("102", 4000, {});
    Process("103", 4000, {3000});
    moments other = {};
    other.first = 1;
    other.place[0].last = 9000;
    Write("104", other);
    other.magic = MOMENTS_MAGIC;
    Write("105", other, 100);
    ASSERT_EQ(0, mkdir((folder_ / "below").c_str(), 0700));
    Process("below/106", 1, {7000});
    ASSERT_EQ(0, symlink("below/106", (folder_ / "106").c_str()));
    EXPECT_EQ(300u, Read());
}

} // namespace
} // namespace ptds
