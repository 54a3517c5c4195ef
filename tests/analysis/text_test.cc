// SPDX-License-Identifier: Apache-2.0
//
// Text that people write and read: durations.
#include <gtest/gtest.h>

#include "analysis/base/duration.h"

namespace ptds
{
namespace
{

TEST(Duration, IsANumberAndAUnit)
{
    const struct {
        const char *text;
        uint64_t ns;
    } sound[] = {
        {"10ns", 10},          {"30us", 30000},        {"2 ms", 2000000}, {"1.5s", 1500000000},
        {"2m", 120000000000u}, {"0.5m", 30000000000u}, {".25us", 250},
    };
    for (const auto &one : sound) {
        uint64_t ns = 7;
        EXPECT_TRUE(duration_read(one.text, &ns)) << one.text;
        EXPECT_EQ(one.ns, ns) << one.text;
    }
}

TEST(Duration, NothingIsGuessed)
{
    for (const char *text :
         {"", "10", "s", "ms", "-1s", "inf s", "nan s", "1h", "1 s ", "1S", ".", ". s", "1e30s", "soon"}) {
        uint64_t ns = 7;
        EXPECT_FALSE(duration_read(text, &ns)) << text;
        EXPECT_EQ(7u, ns) << text;
    }
}

} // namespace
} // namespace ptds
