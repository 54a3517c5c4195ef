// SPDX-License-Identifier: Apache-2.0
//
// Verdicts in a bounded trace: allocations whose calls have left it. Everything before the wait for the context is lost in
// some part, so what is judged comes after it.
#include "tests/analysis/verdicts.h"

namespace ptds
{
namespace
{

/* The only edge's verdict, and its reason. */
std::pair<enum verdict, enum verdict_reason> Verdict(const std::string &trace)
{
    Judged judged(BuildTrace("recycled\n" + trace));
    EXPECT_EQ(1u, judged.edges.size()) << judged.Text();
    if (judged.edges.size() != 1)
        return {VERDICTS, REASON_NONE};
    return {judged.edges[0].verdict, judged.edges[0].reason};
}

const std::pair<enum verdict, enum verdict_reason> NOT_NEEDED = {VERDICT_NOT_NEEDED, REASON_NONE},
                                                   NEEDED = {VERDICT_NEEDED, REASON_NONE},
                                                   MAY_WRITE = {VERDICT_MAYBE_NEEDED, REASON_ACCESS},
                                                   LOST = {VERDICT_MAYBE_NEEDED, REASON_LOST};

const std::string two = "left 1@0 alloc m=A ptr=0x10000 bytes=4096\nleft 1@1 alloc m=B ptr=0x20000 bytes=4096\n",
                  wait = "1@10+5 ctx-sync\n";

TEST(Bounded, PointersIntoMemoryThatIsThereAreKnown)
{
    EXPECT_EQ(NOT_NEEDED, Verdict(two + wait + "1@20 launch s=B1 k=user args=A\n1@21 launch s=L k=user args=B\n"));
    EXPECT_EQ(MAY_WRITE, Verdict(two + wait + "1@20 launch s=B1 k=user args=A\n1@21 launch s=L k=user args=A\n"));
    EXPECT_EQ(NEEDED, Verdict(two + wait + "1@20 memset s=B1 dst=A bytes=8\n1@21 copy s=L src=A dst=B bytes=8\n"));
    EXPECT_EQ(LOST, Verdict(two + "1@20 launch s=B1 k=user args=A\n1@21 launch s=L k=user args=B\n")) << "before the wait";
}

TEST(Bounded, PointersIntoOtherMemoryAreNot)
{
    const std::string launches = "1@20 launch s=B1 k=user args=0x90000\n1@21 launch s=L k=user args=0x90000\n";
    EXPECT_EQ(VERDICT_MAYBE_NEEDED, Verdict(two + wait + launches).first);
    EXPECT_EQ(MAY_WRITE, Verdict(two + "left 1@2 alloc m=C ptr=0x90000 bytes=4096\n" + wait + launches));
}

/* Before that its addresses were another memory's. */
TEST(Bounded, MemoryIsThereFromItsCallOn)
{
    const std::string older = "left 1@0 alloc m=A ptr=0x10000 bytes=4096\nleft 1@1 alloc m=C ptr=0x11000 bytes=4096\n",
                      newer = "left 1@50 alloc m=N ptr=0x10000 bytes=8192\n",
                      launches = " launch s=B1 k=user args=0x10000\n1@61 launch s=L k=user args=0x11000\n";
    EXPECT_EQ(NOT_NEEDED, Verdict(newer + older + wait + "1@20" + launches.substr(0, launches.find('\n') + 1) +
                                  "1@21 launch s=L k=user args=0x11000\n"))
        << "two memories";
    EXPECT_EQ((std::pair{VERDICT_MAYBE_NEEDED, REASON_EXTENT}), Verdict(newer + older + wait + "1@60" + launches)) << "one";
}

TEST(Bounded, WhatItIsAPartOfAndSharesIsKnown)
{
    const std::string parts = "left 1@0 alloc m=A ptr=0x10000 bytes=4096 kind=mapped of=R\n"
                              "left 1@1 alloc m=B ptr=0x11000 bytes=4096 kind=mapped of=R\n";
    EXPECT_NE(NOT_NEEDED, Verdict(parts + wait + "1@20 launch s=B1 k=user args=A\n1@21 launch s=L k=user args=B\n"));
    const std::string apart = "left 1@0 alloc m=A ptr=0x10000 bytes=4096 kind=mapped of=R\n"
                              "left 1@1 alloc m=B ptr=0x11000 bytes=4096 kind=mapped of=S\n";
    EXPECT_EQ(NOT_NEEDED, Verdict(apart + wait + "1@20 launch s=B1 k=user args=A\n1@21 launch s=L k=user args=B\n"));
    const std::string host =
        "left 1@0 alloc m=H ptr=0x30000 bytes=4096 kind=pinned\nleft 1@1 alloc m=A ptr=0x10000 bytes=64\n";
    EXPECT_EQ((std::pair{VERDICT_MAYBE_NEEDED, REASON_HOST}),
              Verdict(host + wait + "2@20 launch s=L k=user args=H\n1@21+9 sync s=L\n"));
    EXPECT_EQ(NOT_NEEDED, Verdict(host + wait + "2@20 launch s=L k=user args=A\n1@21+9 sync s=L\n"));
}

TEST(Bounded, AFreeThatIsStillThereEndsIt)
{
    EXPECT_EQ(VERDICT_MAYBE_NEEDED, Verdict(two + wait +
                                            "1@16+2 free m=A\n1@20 launch s=B1 k=user args=0x10000\n"
                                            "1@21 launch s=L k=user args=0x10040\n")
                                        .first);
    EXPECT_EQ(NOT_NEEDED, Verdict(two + wait +
                                  "1@16+2 free m=A\n1@17 alloc m=C ptr=0x10000 bytes=16\n"
                                  "1@20 launch s=B1 k=user args=C\n1@21 launch s=L k=user args=B\n"));
}

} // namespace
} // namespace ptds
