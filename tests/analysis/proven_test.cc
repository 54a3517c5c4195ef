// SPDX-License-Identifier: Apache-2.0
//
// What is proven and what is not: two operations that conflict prove a wrong result only if one reads what the other one
// writes, the host could not know that the first was done, and the driver was measured to do so.
#include <gtest/gtest.h>

#include "analysis/report/outcome.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

std::string VerdictOf(const std::string &text)
{
    Built report(BuildTrace(text));
    return doubt_names[outcome_verdict(report.get())];
}

const std::string memories = "1@0 alloc m=A ptr=0x10000 bytes=65536\n1@0 alloc-host m=H ptr=0x300000 bytes=65536\n";
const std::string pinned = "src=0x7f0000000000 from=pinned";

TEST(Proof, IsAReadOfWhatNothingOrders)
{
    EXPECT_EQ("wrong", VerdictOf(memories + "1@1+3 copy s=N1 " + pinned +
                                 " dst=A bytes=64\n"
                                 "1@9+9 copy s=L implicit src=A to=pageable bytes=64\n"));
}

/* The bytes may be the same, and nothing may read them. */
TEST(Proof, IsNotThatBothWrite)
{
    EXPECT_EQ("may-be-wrong", VerdictOf(memories + "1@1 memset s=N1 dst=A bytes=64\n1@9 memset s=N2 dst=A bytes=64\n"));
    EXPECT_EQ("may-be-wrong", VerdictOf(memories + "1@1+3 copy s=N1 " + pinned + " dst=A bytes=64\n1@9+3 copy s=N2 " +
                                        pinned + " dst=A bytes=64\n"));
    EXPECT_EQ("wrong", VerdictOf(memories + "1@1 memset s=N1 dst=A bytes=64\n1@9 memset s=N2 dst=A bytes=64\n"
                                            "1@19+9 copy s=N2 src=A to=pageable bytes=64\n"))
        << "one of them was read";
}

/* The same of an order that a policy took away. */
TEST(Proof, IsNotThatBothWriteWhatAPolicyMoved)
{
    const std::string first =
        "setting policy=per-thread\n" + memories + "1@1 memset s=L to=device target=P1 dst=A bytes=64\n";
    EXPECT_EQ("may-be-wrong", VerdictOf(first + "2@9 memset s=L to=device target=P2 dst=A bytes=64\n"));
    EXPECT_EQ("wrong", VerdictOf(first + "2@9+9 copy s=L target=P2 src=A to=pageable dst=0x7f0000000000 bytes=64\n"));
}

/* The host may have looked into pinned memory until the copy was there. */
TEST(Proof, IsNotWhereTheHostCouldLook)
{
    EXPECT_EQ("may-be-wrong", VerdictOf(memories + "1@1+3 copy s=N1 src=A dst=H to=pinned bytes=64\n"
                                                   "1@9+3 copy s=N2 src=H from=pinned dst=A bytes=64\n"));
}

/* 24 KiB were measured to be read early, 32 KiB not to be; nobody has measured what lies between. */
TEST(Proof, OfASmallCopyIsWhatWasMeasured)
{
    auto overtaking = [](const std::string &bytes) {
        return VerdictOf(memories + "1@1 copy s=B1 src=A dst=H to=pinned bytes=" + bytes +
                         "\n1@2 copy s=L src=H from=pinned dst=A bytes=" + bytes + "\n");
    };
    EXPECT_EQ("wrong", overtaking("24576"));
    EXPECT_EQ("may-be-wrong", overtaking("24577"));
    EXPECT_EQ("may-be-wrong", overtaking("32767"));
    EXPECT_EQ("right", overtaking("32768"));
}

} // namespace
} // namespace ptds
