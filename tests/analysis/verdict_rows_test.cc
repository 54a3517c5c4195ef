// SPDX-License-Identifier: Apache-2.0
//
// Verdicts about copies in two and three dimensions: which bytes of either side they touch.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "tests/analysis/support.h"
#include "tests/analysis/verdicts.h"

namespace ptds
{
namespace
{

class Rows : public testing::TestWithParam<VerdictCase>
{
};

TEST_P(Rows, TouchNoMoreThanTheyReach)
{
    std::string text = verdict_memory + std::string("1@0 alloc m=I ptr=0x50000 bytes=64 kind=array\n") + GetParam().trace;
    EXPECT_EQ(GetParam().edges, Judged(BuildTrace(text)).Text()) << text;
}

#define COPY "1@1 copy s=B1 src=B dst=A bytes=16 height=4 pitch=64 from-pitch=256 "
#define THEN(place, bytes) "\n1@2 memset s=L dst=" place " bytes=" bytes "\n"

#define FIRST_PART "1@1 launch s=B1 k=one args=A facts=w0 parts=A:A+128\n"
#define SECOND_PART(part) "1@2 launch s=L k=one args=A+128 facts=w0 parts=" part "\n"

const VerdictCase cases[] = {
    {"first_row", COPY THEN("A", "16"), "fan-in 1>2 maybe needed(extent)"},
    {"between_rows", COPY THEN("A+16", "16"), "fan-in 1>2 maybe needed(extent)"},
    {"end_of_the_last_row", COPY THEN("A+207", "1"), "fan-in 1>2 maybe needed(extent)"},
    {"behind_the_last_row", COPY THEN("A+208", "16"), "fan-in 1>2 not needed"},
    {"source_has_its_own_pitch", COPY THEN("B+783", "1"), "fan-in 1>2 maybe needed(extent)"},
    {"behind_the_source", COPY THEN("B+784", "16"), "fan-in 1>2 not needed"},
    {"all_slices", COPY "span=1040 from-span=400" THEN("A+1039", "1"), "fan-in 1>2 maybe needed(extent)"},
    {"behind_all_slices", COPY "span=1040 from-span=400" THEN("A+1040", "16"), "fan-in 1>2 not needed"},
    {"all_slices_of_the_source", COPY "span=1040 from-span=400" THEN("B+399", "1"), "fan-in 1>2 maybe needed(extent)"},
    {"behind_those_of_the_source", COPY "span=1040 from-span=400" THEN("B+400", "16"), "fan-in 1>2 not needed"},
    {"a_slice_is_no_less_than_a_row", COPY "span=16" THEN("A+207", "1"), "fan-in 1>2 maybe needed(extent)"},
    {"two_slices_side_by_side", "1@1 memset s=B1 dst=A+32 bytes=16\n1@2 copy s=L src=B dst=A bytes=16 height=2 pitch=16\n",
     "fan-in 1>2 not needed"},
    {"a_memory_of_one_byte",
     "1@0 alloc m=O ptr=0x60000 bytes=1\n1@1 launch s=B1 k=_Z4fillPf args=O\n1@2 launch s=L k=_Z4readPKf args=O\n",
     "fan-in 1>2 maybe needed(access)"},
    {"a_pointer_behind_a_memory_of_one_byte",
     "1@0 alloc m=O ptr=0x60000 bytes=1\n1@1 launch s=B1 k=_Z4fillPf args=O\n1@2 launch s=L k=_Z4readPKf args=O+1\n",
     "fan-in 1>2 maybe needed(extent)"},
    {"one_byte", "1@1 memset s=B1 dst=A+1 bytes=1" THEN("A+1", "1"), "fan-in 1>2 needed"},
    {"the_byte_before", "1@1 memset s=B1 dst=A+1 bytes=1" THEN("A", "1"), "fan-in 1>2 not needed"},
    {"the_byte_behind", "1@1 memset s=B1 dst=A+1 bytes=1" THEN("A+2", "1"), "fan-in 1>2 not needed"},
    {"no_byte", "1@1 memset s=B1 dst=A bytes=0" THEN("A", "64"), "fan-in 1>2 not needed"},
    {"no_byte_of_the_hosts", "2@1 copy s=L src=A dst=H to=pinned bytes=0\n1@2+9 sync s=L\n", "host 1>2 not needed"},
    {"one_byte_of_the_hosts", "2@1 copy s=L src=A dst=H to=pinned bytes=1\n1@2+9 sync s=L\n",
     "host 1>2 maybe needed(host)"},
    {"no_address", "1@1 memset s=B1 dst=0 bytes=64" THEN("0", "64"), "fan-in 1>2 not needed"},
    {"an_address_of_nothing", "1@1 memset s=B1 dst=1 bytes=64" THEN("1", "64"), "fan-in 1>2 needed"},
    {"as_long_as_can_be", "1@1 memset s=B1 dst=A bytes=18446744073709486079" THEN("B+4000", "64"), "fan-in 1>2 needed"},
    {"longer_than_memory", "1@1 memset s=B1 dst=A bytes=18446744073709551615" THEN("B+4000", "64"), "fan-in 1>2 needed"},
    {"more_rows_than_memory", "1@1 memset s=B1 dst=A bytes=16 height=4 pitch=9223372036854775808" THEN("B+4000", "64"),
     "fan-in 1>2 maybe needed(extent)"},
    {"an_array_after_the_spans",
     "1@1 copy s=B1 src=B dst=0x50000 to=array bytes=64 span=128 reaches=I\n"
     "1@2 copy s=L src=0x50000 from=array dst=H to=pinned bytes=64 reaches==I\n",
     "fan-in 1>2 maybe needed(access)"},
    {"another_array_after_the_spans",
     "1@0 alloc m=J ptr=0x60000 bytes=64 kind=array\n"
     "1@1 copy s=B1 src=B dst=0x50000 to=array bytes=64 span=128 reaches=I\n"
     "1@2 copy s=L src=0x60000 from=array dst=H to=pinned bytes=64 reaches==J\n",
     "fan-in 1>2 not needed"},
    {"parts_beside_each_other", FIRST_PART SECOND_PART("A+128:A+256"), "fan-in 1>2 not needed"},
    {"parts_that_share_a_byte", FIRST_PART SECOND_PART("A+127:A+256"), "fan-in 1>2 maybe needed(extent)"},
    {"no_part_at_all", FIRST_PART SECOND_PART("A+64:A+64"), "fan-in 1>2 not needed"},
    {"a_part_that_ends_before_it_begins", FIRST_PART SECOND_PART("A+128:A+127"), "fan-in 1>2 maybe needed(extent)"},
    {"a_part_of_nothing", FIRST_PART SECOND_PART("0x90000:0x90010"), "fan-in 1>2 maybe needed(extent)"},
    {"a_part_beyond_its_memory", FIRST_PART SECOND_PART("A+128:A+4097"), "fan-in 1>2 maybe needed(extent)"},
    {"a_part_and_a_memset_beside_it", FIRST_PART "1@2 memset s=L dst=A+128 bytes=64\n", "fan-in 1>2 not needed"},
    {"a_part_and_a_memset_in_it", FIRST_PART "1@2 memset s=L dst=A+64 bytes=64\n", "fan-in 1>2 maybe needed(extent)"},
    {"a_part_and_all_of_it", FIRST_PART "1@2 launch s=L k=all args=A facts=w0\n", "fan-in 1>2 maybe needed(extent)"},
    {"parts_that_are_read",
     "1@1 launch s=B1 k=get args=A facts=r0 parts=A:A+128\n1@2 launch s=L k=get args=A facts=r0 parts=A:A+128\n",
     "fan-in 1>2 not needed"},
    {"a_part_of_one_of_two_memories",
     "1@1 launch s=B1 k=two args=A,B facts=w0,w1 parts=A:A+128\n1@2 launch s=L k=one args=B facts=w0\n",
     "fan-in 1>2 maybe needed(access)"},
    {"parts_of_both",
     "1@1 launch s=B1 k=two args=A,B facts=w0,w1 parts=A:A+128,B:B+64\n"
     "1@2 launch s=L k=two args=A+128,B+64 facts=w0,w1 parts=A+128:A+256,B+64:B+128\n",
     "fan-in 1>2 not needed"},
    {"parts_and_what_is_reached",
     "1@1 launch s=B1 k=one args=A facts=indirect,w0 parts=A:A+128 reaches=B\n1@2 launch s=L k=one args=B facts=w0\n",
     "fan-in 1>2 maybe needed(access)"},
    {"parts_of_a_kernel_without_facts",
     "1@1 launch s=B1 k=odd args=A parts=A:A+128\n1@2 launch s=L k=odd args=A+128 parts=A+128:A+256\n",
     "fan-in 1>2 not needed"},
};
INSTANTIATE_TEST_SUITE_P(All, Rows, testing::ValuesIn(cases), VerdictCase::Name);

} // namespace
} // namespace ptds
