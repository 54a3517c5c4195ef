// SPDX-License-Identifier: Apache-2.0
//
// ptds.h in a program that runs without the library: its functions do nothing, and say so.
#include "interpose/ptds.h"

#include <gtest/gtest.h>

namespace
{

TEST(Header, WithoutTheLibraryNothingIsDone)
{
    EXPECT_EQ(0, ptds_use_stream(nullptr));
    EXPECT_EQ(0, ptds_use_stream_in_thread(nullptr));
    EXPECT_EQ(0, ptds_region_push("here"));
    EXPECT_EQ(0, ptds_region_pop());
    EXPECT_EQ(0, ptds_flush());
}

} // namespace
