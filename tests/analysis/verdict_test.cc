// SPDX-License-Identifier: Apache-2.0
//
// The verdict engine: every kind of edge with every verdict, what counts as a conflict, what explicit order is, and that
// the engine says "unknown" where it cannot know. Kernels: _Z4readPKf reads its argument, _Z5writePf writes it, "user" may
// do either, _Z5emptyv touches nothing.
#include "tests/analysis/verdicts.h"

namespace ptds
{
namespace
{

class Verdict : public testing::TestWithParam<VerdictCase>
{
};

TEST_P(Verdict, IsAsItMustBe)
{
    Judged judged(BuildTrace(std::string(verdict_memory) + GetParam().trace));
    EXPECT_EQ(GetParam().edges, judged.Text());
    EXPECT_EQ(GetParam().races, judged.totals.races);
    EXPECT_EQ(0u, judged.totals.dropped);
}

#define SUITE(name, ...) \
    const VerdictCase name##_cases[] = {__VA_ARGS__}; \
    INSTANTIATE_TEST_SUITE_P(name, Verdict, testing::ValuesIn(name##_cases), VerdictCase::Name)

#define W "k=_Z5writePf args="
#define R "k=_Z4readPKf args="
#define U "k=user args="
#define EMPTY "k=_Z5emptyv"

SUITE(Kinds, {"fan_in_not_needed", "1@1 launch s=B1 " W "A\n1@2 launch s=L " W "B\n", "fan-in 1>2 not needed"},
      {"fan_in_needed", "1@1 memset s=B1 bytes=64 dst=A\n1@2 copy s=L bytes=64 src=A\n", "fan-in 1>2 needed"},
      {"fan_in_maybe_needed", "1@1 launch s=B1 " U "A\n1@2 launch s=L " U "A\n", "fan-in 1>2 maybe needed(access)"},
      {"fan_out_not_needed", "1@1 launch s=L " W "A\n1@2 launch s=B1 " W "B\n", "fan-out 1>2 not needed"},
      {"fan_out_needed", "1@1 memset s=L bytes=64 dst=A\n1@2 copy s=B1 bytes=64 src=A\n", "fan-out 1>2 needed"},
      {"fan_out_maybe_needed", "1@1 launch s=L " U "A\n1@2 launch s=B1 " R "A\n", "fan-out 1>2 maybe needed(access)"},
      {"fifo_not_needed", "1@1 launch s=L " W "A\n2@2 launch s=L " W "B\n", "fifo 1>2 not needed"},
      {"fifo_needed", "1@1 memset s=L bytes=64 dst=A\n2@2 memset s=L bytes=64 dst=A\n", "fifo 1>2 needed"},
      {"fifo_maybe_needed", "1@1 launch s=L " U "A\n2@2 launch s=L opaque " U "B\n", "fifo 1>2 maybe needed(opaque)"},
      {"host_not_needed", "1@1 launch s=B1 " W "A\n1@2+9 sync s=L\n1@20 launch s=N2 " EMPTY "\n", "host 1>2 not needed"},
      {"host_needed", "1@1 memset s=B1 bytes=64 dst=A\n1@2+9 sync s=L\n1@20 memset s=N2 bytes=64 dst=A\n",
       "host 1>2 needed"},
      {"host_maybe_needed", "1@1 launch s=B1 " U "A\n1@2+9 sync s=L\n1@20 launch s=N2 " U "A\n",
       "host 1>2 maybe needed(access)"},
      {"per_thread_stream_fan_in", "1@1 memset s=P1 bytes=64 dst=A\n1@2 copy s=L bytes=64 src=A\n", "fan-in 1>2 needed"},
      {"per_thread_stream_fan_out", "2@1 memset s=L bytes=64 dst=A\n1@2 copy s=P1 bytes=64 src=A\n", "fan-out 1>2 needed"},
      {"per_thread_streams_have_none", "1@1 launch s=P1 " W "A\n2@2 launch s=P2 " R "B\n", ""},
      {"one_thread_alone_has_none", "1@1 launch s=L " W "A\n1@2 launch s=L " R "A\n", ""},
      {"non_blocking_has_none", "1@1 launch s=N1 " W "A\n1@2 launch s=L " W "B\n1@3 launch s=N2 " W "H\n", ""},
      {"through_the_barrier",
       "1@1 memset s=B1 bytes=64 dst=A\n1@2 memset s=L bytes=64 dst=B\n1@3 copy s=B2 bytes=64 src=A\n",
       "fan-in 1>2 needed; fan-out 2>3 needed"},
      {"only_the_first_join_carries",
       "1@1 memset s=B1 bytes=64 dst=A\n1@2 launch s=L " EMPTY "\n1@3 launch s=B2 " EMPTY "\n1@4 launch s=L " EMPTY
       "\n1@5 copy s=B2 bytes=64 src=A\n",
       "fan-in 1>2 needed; fan-in 3>4 not needed; fan-out 2>3 needed; fan-out 4>5 not needed"},
      {"three_threads", "1@1 memset s=L bytes=64 dst=A\n2@2 memset s=L bytes=64 dst=B\n3@3 copy s=L bytes=64 src=A\n",
       "fifo 1>2 not needed; fifo 1>3 needed"},
      {"example_of_the_readme", /* analysis/order/README.md */
       "1@1 memset s=B1 bytes=64 dst=A\n1@2 memset s=L bytes=64 dst=B\n2@3 copy s=L bytes=64 src=A\n"
       "2@4 copy s=B1 bytes=64 src=B\n1@5+2 sync s=B1\n2@8 memset s=L bytes=64 dst=A\n",
       "fan-in 1>2 not needed; fan-in 1>3 needed; fan-out 2>4 needed; fifo 2>3 not needed"},
      {"no_edge_twice", "1@1 memset s=B1 bytes=64 dst=A\n1@2 launch s=L " EMPTY "\n1@3 copy s=L bytes=64 src=A\n",
       "fan-in 1>2 needed"});

SUITE(Conflicts, {"read_read", "1@1 launch s=B1 " R "A\n1@2 launch s=L " R "A\n", "fan-in 1>2 not needed"},
      {"write_after_read", "1@1 copy s=B1 bytes=64 src=A\n1@2 memset s=L bytes=64 dst=A\n", "fan-in 1>2 needed"},
      {"read_and_either", "1@1 launch s=B1 " R "A\n1@2 launch s=L " U "A\n", "fan-in 1>2 maybe needed(access)"},
      {"write_and_either", "1@1 memset s=B1 bytes=64 dst=A\n1@2 launch s=L " U "A\n", "fan-in 1>2 maybe needed(access)"},
      {"suballocation", "1@1 launch s=B1 " W "A\n1@2 launch s=L " W "A+512\n", "fan-in 1>2 maybe needed(extent)"},
      {"suballocation_read_read", "1@1 launch s=B1 " R "A\n1@2 launch s=L " R "A+512\n", "fan-in 1>2 not needed"},
      {"disjoint_ranges", "1@1 memset s=B1 dst=A bytes=256\n1@2 memset s=L dst=A+256 bytes=256\n", "fan-in 1>2 not needed"},
      {"overlapping_ranges", "1@1 memset s=B1 dst=A bytes=257\n1@2 memset s=L dst=A+256 bytes=256\n", "fan-in 1>2 needed"},
      {"kernel_inside_a_range", "1@1 memset s=B1 dst=A bytes=256\n1@2 launch s=L " U "A+128\n",
       "fan-in 1>2 maybe needed(access)"},
      {"kernel_past_a_range", "1@1 memset s=B1 dst=A bytes=256\n1@2 launch s=L " W "A+256\n",
       "fan-in 1>2 maybe needed(extent)"},
      {"copy_reads_what_a_kernel_may_write", "1@1 launch s=B1 " U "A\n1@2 copy s=L src=A dst=H to=pinned bytes=64\n",
       "fan-in 1>2 maybe needed(access)"},
      {"copies_of_one_source", "1@1 copy s=B1 src=A dst=B bytes=64\n1@2 copy s=L src=A dst=H to=pinned bytes=64\n",
       "fan-in 1>2 not needed"},
      {"pinned_memory_counts",
       "1@1 copy s=B1 src=A dst=H to=pinned bytes=64\n1@2 copy s=L src=H from=pinned dst=B bytes=64\n",
       "fan-in 1>2 needed"},
      {"pageable_source_is_read_at_once",
       "1@1 copy s=B1 src=H from=pageable dst=A bytes=64\n1@2+9 copy s=L src=B dst=H to=pageable bytes=64\n",
       "fan-in 1>2 not needed"},
      {"interleaved_rows",
       "1@1 memset s=B1 dst=A bytes=16 height=4 pitch=64\n1@2 memset s=L dst=A+16 bytes=16 height=4 pitch=64\n",
       "fan-in 1>2 maybe needed(extent)"},
      {"rows_without_gaps", "1@1 memset s=B1 dst=A bytes=64 height=4 pitch=64\n1@2 memset s=L dst=A+192 bytes=16\n",
       "fan-in 1>2 needed"},
      {"rows_beyond", "1@1 memset s=B1 dst=A bytes=16 height=4 pitch=64\n1@2 memset s=L dst=A+256 bytes=16\n",
       "fan-in 1>2 not needed"},
      {"a_number_is_no_pointer", "1@1 launch s=B1 k=_Z3numPfm args=A,-\n1@2 launch s=L k=_Z4num2PKfm args=B,-\n",
       "fan-in 1>2 not needed"},
      {"second_parameter", "1@1 launch s=B1 k=_Z4copyPfPKf args=A,B\n1@2 launch s=L k=_Z4copyPfPKf args=H,B\n",
       "fan-in 1>2 not needed"},
      {"place_not_recorded",
       "1@1 launch s=B1 k=_Z4copyPfPKf args=A,B words=plain\n"
       "1@2 launch s=L k=_Z4copyPfPKf args=H,B words=plain\n",
       "fan-in 1>2 maybe needed(access)"},
      {"place_clear_without", "1@1 launch s=B1 " R "A words=plain\n1@2 launch s=L " R "A words=plain\n",
       "fan-in 1>2 not needed"},
      {"pointer_to_pointers", "1@1 launch s=B1 k=_Z5batchPPf vars=old args=A\n1@2 launch s=L " W "B\n",
       "fan-in 1>2 maybe needed(opaque)"},
      {"unfinished_use_of_older_memory",
       "1@1 memset s=B1 bytes=64 dst=A\n1@2+1 free m=A\n1@9 alloc m=C ptr=0x10000 bytes=4096\n1@10 memset s=L bytes=64 "
       "dst=C\n",
       ""},
      {"a_copy_to_a_module_variable_and_any_kernel",
       "1@0 alloc m=G ptr=0x50000 bytes=64 kind=global\n1@1 copy s=B1 src=H from=pinned dst=G bytes=64\n1@2 launch s=L k=f "
       "vars=old\n",
       "fan-in 1>2 maybe needed(opaque)"});

/* What its code says of a kernel counts, whatever its name says. */
SUITE(Code,
      {"read_only_though_the_name_is_c", "1@1 launch s=B1 k=one args=A facts=r0\n1@2 launch s=L k=two args=A facts=r0\n",
       "fan-in 1>2 not needed"},
      {"read_and_written", "1@1 launch s=B1 k=one args=A facts=r0\n1@2 launch s=L k=two args=A facts=w0\n",
       "fan-in 1>2 maybe needed(access)"},
      {"written_though_the_name_says_const", "1@1 launch s=B1 k=_Z3onePKf args=A facts=w0\n1@2 launch s=L " R "A\n",
       "fan-in 1>2 maybe needed(access)"},
      {"read_and_written_by_one", "1@1 launch s=B1 k=one args=A facts=u0\n1@2 launch s=L " R "A\n",
       "fan-in 1>2 maybe needed(access)"},
      {"read_and_written_by_two_bases", "1@1 launch s=B1 k=one args=A facts=r0,w0,r0\n1@2 launch s=L " R "A\n",
       "fan-in 1>2 maybe needed(access)"},
      {"a_word_that_is_no_base", "1@1 launch s=B1 k=one args=A,B facts=w1\n1@2 launch s=L k=two args=A facts=w0\n",
       "fan-in 1>2 not needed"},
      {"no_base_at_all", "1@1 launch s=B1 k=_Z3onePf args=A facts=direct\n1@2 launch s=L " W "A\n",
       "fan-in 1>2 not needed"},
      {"a_base_behind_one_that_is_none",
       "1@1 launch s=B1 k=one args=A,B,A+64 facts=w0,r2\n1@2 launch s=L k=two args=-,-,A,B facts=r2,w3\n",
       "fan-in 1>2 maybe needed(access)"},
      {"by_the_place_of_its_parameter",
       "1@1 launch s=B1 k=one args=A,B facts=w0,r1\n1@2 launch s=L k=two args=H,B facts=w0,r1\n", "fan-in 1>2 not needed"},
      {"any_word_of_some_parameters", "1@1 launch s=B1 k=one args=-,A,- facts=w1-3\n1@2 launch s=L k=two args=A facts=r0\n",
       "fan-in 1>2 maybe needed(access)"},
      {"not_of_the_next_one", "1@1 launch s=B1 k=one args=-,-,A facts=w0-2\n1@2 launch s=L k=two args=A facts=w0\n",
       "fan-in 1>2 not needed"},
      {"unknown", "1@1 launch s=B1 k=_Z3onePKf args=A facts=unknown,r0\n1@2 launch s=L " W "B\n",
       "fan-in 1>2 maybe needed(opaque)"},
      {"unknown_without_words", "1@1 launch s=B1 k=_Z3onev facts=unknown\n1@2 launch s=L " W "B\n",
       "fan-in 1>2 maybe needed(opaque)"},
      {"tensor_maps_are_among_any_words",
       "1@1 launch s=B1 k=one args=A,B facts=r0,tensor-map\n1@2 launch s=L k=two args=B facts=r0\n",
       "fan-in 1>2 maybe needed(access)"},
      {"indirect_says_what_it_reaches",
       "1@1 launch s=B1 k=one args=B facts=indirect,r0 reaches=A\n1@2 launch s=L k=two args=A facts=r0\n",
       "fan-in 1>2 maybe needed(access)"},
      {"indirect_only_reads_there",
       "1@1 launch s=B1 k=one args=B facts=indirect,r0 reaches==A\n1@2 launch s=L k=two args=A,B facts=r0,r1\n",
       "fan-in 1>2 not needed"},
      {"variables_that_are_not_used", "1@1 launch s=B1 k=set vars=V facts=direct\n1@2 launch s=L k=get vars=V facts=wv\n",
       "fan-in 1>2 not needed"},
      {"variables_that_are_read", "1@1 launch s=B1 k=set vars=V facts=rv\n1@2 launch s=L k=get vars=V facts=rv\n",
       "fan-in 1>2 not needed"},
      {"variables_that_are_written", "1@1 launch s=B1 k=set vars=V facts=rv,wv\n1@2 launch s=L k=get vars=V facts=rv\n",
       "fan-in 1>2 maybe needed(access)"},
      {"variables_of_unknown_kernels", "1@1 launch s=B1 k=set vars=V facts=unknown\n1@2 launch s=L k=get vars=V facts=rv\n",
       "fan-in 1>2 maybe needed(access)"});

/* What is not known is possible, never none. Each of these was "not needed" before. */
SUITE(Unseen,
      {"kernels_of_a_module_with_variables", "1@1 launch s=B1 k=set vars=V\n1@2 launch s=L k=get vars=V\n",
       "fan-in 1>2 maybe needed(access)"},
      {"kernels_of_two_modules", "1@1 launch s=B1 k=set vars=V\n1@2 launch s=L k=get vars=W\n", "fan-in 1>2 not needed"},
      {"constants_are_only_read", "1@1 launch s=B1 k=one vars==V\n1@2 launch s=L k=two vars==V\n", "fan-in 1>2 not needed"},
      {"a_constant_that_is_set",
       "1@0 alloc m=G ptr=0x50000 bytes=64 kind=global of=V\n1@1 copy s=B1 src=H from=pinned dst=G bytes=64\n"
       "1@2 launch s=L k=two vars==V\n",
       "fan-in 1>2 maybe needed(extent)"},
      {"a_variable_of_another_module",
       "1@0 alloc m=G ptr=0x50000 bytes=64 kind=global of=V\n1@1 copy s=B1 src=H from=pinned dst=G bytes=64\n"
       "1@2 launch s=L k=two vars=W\n",
       "fan-in 1>2 not needed"},
      {"variables_that_a_damaged_trace_freed",
       "1@1 launch s=B1 k=set vars=A\n1@2 free m=A\n1@3 launch s=B1 k=set vars=A\n1@4 launch s=L k=set vars=A\n",
       "fan-in 3>4 maybe needed(opaque)"},
      {"a_trace_that_does_not_tell", "1@1 launch s=B1 k=set vars=old\n1@2 launch s=L k=get vars=old\n",
       "fan-in 1>2 maybe needed(access)"},
      {"a_pointer_in_memory_leads_there", "1@1 launch s=B1 k=walk reaches=A\n1@2 launch s=L " R "A\n",
       "fan-in 1>2 maybe needed(access)"},
      {"a_texture_made_of_it", "1@1 memset s=B1 dst=A bytes=64\n1@2 launch s=L k=sample reaches==A\n",
       "fan-in 1>2 maybe needed(access)"},
      {"a_texture_made_of_an_array",
       "1@0 alloc m=T ptr=0x80 bytes=64 kind=array\n1@1 copy s=B1 ptr=0x80 to=array bytes=64 reaches=T\n"
       "1@2 launch s=L k=sample reaches==T\n",
       "fan-in 1>2 maybe needed(access)"},
      {"a_level_of_an_array",
       "1@0 alloc m=T ptr=0x80 bytes=64 kind=array\n1@1 copy s=B1 ptr=0x90 to=array bytes=64 reaches=T\n"
       "1@2 launch s=L k=sample reaches==T\n",
       "fan-in 1>2 maybe needed(access)"},
      {"pointers_that_nobody_saw", "1@1 launch s=B1 why-pointers k=walk\n1@2 launch s=L " R "A\n",
       "fan-in 1>2 maybe needed(opaque)"},
      {"a_range_over_two_chunks",
       "1@0 alloc m=C ptr=0x70000 bytes=4096 kind=mapped of=V\n1@0 alloc m=D ptr=0x71000 bytes=4096 kind=mapped of=V\n"
       "1@1 memset s=B1 dst=C+4000 bytes=200\n1@2 copy s=L src=D dst=B bytes=64\n",
       "fan-in 1>2 needed"},
      {"a_range_over_two_chunks_and_a_kernel",
       "1@0 alloc m=C ptr=0x70000 bytes=4096 kind=mapped of=V\n1@0 alloc m=D ptr=0x71000 bytes=4096 kind=mapped of=V\n"
       "1@1 memset s=B1 dst=C+4000 bytes=200\n1@2 launch s=L " R "D\n",
       "fan-in 1>2 maybe needed(extent)"},
      {"kernels_in_two_chunks",
       "1@0 alloc m=C ptr=0x70000 bytes=4096 kind=mapped of=V\n1@0 alloc m=D ptr=0x72000 bytes=4096 kind=mapped of=V\n"
       "1@1 launch s=B1 " W "C\n1@2 launch s=L " R "D\n",
       "fan-in 1>2 maybe needed(extent)"},
      {"kernels_in_two_reservations",
       "1@0 alloc m=C ptr=0x70000 bytes=4096 kind=mapped of=V\n1@0 alloc m=D ptr=0x71000 bytes=4096 kind=mapped of=W\n"
       "1@1 launch s=B1 " W "C\n1@2 launch s=L " R "D\n",
       "fan-in 1>2 not needed"},
      {"chunks_of_who_knows_what",
       "1@0 alloc m=C ptr=0x70000 bytes=4096 kind=mapped\n1@0 alloc m=D ptr=0x72000 bytes=4096 kind=mapped\n"
       "1@1 launch s=B1 " W "C\n1@2 launch s=L " R "D\n",
       "fan-in 1>2 maybe needed(extent)"},
      {"a_copy_over_two_allocations_side_by_side",
       "1@0 alloc m=C ptr=0x70000 bytes=4096\n1@0 alloc m=D ptr=0x71000 bytes=4096\n"
       "1@1 memset s=B1 dst=C+4000 bytes=200\n1@2 launch s=L " R "D\n",
       "fan-in 1>2 maybe needed(access)"},
      {"a_chunk_mapped_twice",
       "1@0 alloc m=C ptr=0x70000 bytes=4096 kind=mapped of=V\n"
       "1@0 alloc m=D ptr=0x90000 bytes=4096 kind=mapped of=W same=C\n"
       "1@1 launch s=B1 " W "C\n1@2 launch s=L " R "D\n",
       "fan-in 1>2 maybe needed(opaque)"},
      {"unmapped_and_another_there",
       "1@0 alloc m=C ptr=0x70000 bytes=4096 kind=mapped of=V\n1@1 launch s=B1 " W "C\n1@2 none\n1@3 alloc m=D ptr=0x70000 "
       "bytes=4096\n1@4 launch s=L " R "D\n1@5 launch s=B1 " W "D\n",
       "fan-in 1>4 not needed; fan-out 4>5 maybe needed(access)"},
      {"memory_of_another_process",
       "1@0 alloc m=I ptr=0x70000 bytes=4096 kind=ipc\n1@1 launch s=B1 " W "I\n1@2 launch s=L " R "I+64\n",
       "fan-in 1>2 maybe needed(extent)"},
      {"memory_of_another_process_whose_end_is_not_told",
       "1@0 alloc m=I ptr=0x70000 kind=ipc\n1@1 launch s=B1 " W "I\n1@2 launch s=L " R "I+64\n",
       "fan-in 1>2 maybe needed(extent)"},
      {"an_allocation_that_was_recycled", "recycled\n1@1 launch s=B1 " W "0x90000\n1@2 launch s=L " R "0x90040\n",
       "fan-in 1>2 maybe needed(extent)"},
      {"no_pointer_in_a_whole_trace", "1@1 launch s=B1 " W "0x90000\n1@2 launch s=L " R "0x90040\n",
       "fan-in 1>2 not needed"},
      {"a_pointer_to_the_end", "1@1 launch s=B1 " W "A\n1@2 launch s=L " R "A+4096\n", "fan-in 1>2 maybe needed(extent)"},
      {"a_pointer_before_the_beginning", "1@1 launch s=B1 " W "A\n1@2 launch s=L k=low args=0xff00\n",
       "fan-in 1>2 maybe needed(extent)"},
      {"unmapped_after_a_wait_for_legacy",
       "1@0 alloc m=C ptr=0x70000 bytes=4096 kind=mapped of=V\n1@1 memset s=B1 dst=C bytes=64\n1@2+9 sync s=L\n"
       "1@20 unmap m=C\n",
       "host 1>2 needed"},
      {"unmapped_after_a_wait_by_name",
       "1@0 alloc m=C ptr=0x70000 bytes=4096 kind=mapped of=V\n1@1 memset s=B1 dst=C bytes=64\n1@2+9 sync s=B1\n"
       "1@20 unmap m=C\n",
       ""},
      {"attached_to_a_stream",
       "1@0 alloc m=M ptr=0x40000 bytes=64 kind=managed\n1@1 launch s=B1 " W "M\n1@2 attach s=L m=M\n",
       "fan-in 1>2 maybe needed(access)"},
      {"a_value_written_lets_others_go_on", "1@1 launch s=B1 " W "A\n1@2 write-value s=L ptr=0x20000\n",
       "fan-in 1>2 maybe needed(opaque)"});

/* The host may read what it knows to be done, and write what was read. */
SUITE(Host,
      {"pinned_memory_after_a_wait_for_legacy", "2@1 copy s=L src=A dst=H to=pinned bytes=64\n1@2+9 sync s=L\n",
       "host 1>2 maybe needed(host)"},
      {"pinned_memory_that_a_blocking_stream_filled", "1@1 copy s=B1 src=A dst=H to=pinned bytes=64\n1@2+9 sync s=L\n",
       "host 1>2 maybe needed(host)"},
      {"by_an_event_on_legacy", "1@1 copy s=B1 src=A dst=H to=pinned bytes=64\n1@2 record s=L e=E\n1@3+9 event-sync e=E\n",
       "fan-in 1>2 maybe needed(host)"},
      {"by_a_query", "1@1 copy s=B1 src=A dst=H to=pinned bytes=64\n1@2 query s=L\n", "host 1>2 maybe needed(host)"},
      {"by_a_synchronous_copy",
       "1@1 copy s=B1 src=A dst=H to=pinned bytes=64\n1@2+9 copy s=L implicit src=B to=pageable bytes=64\n",
       "fan-in 1>2 maybe needed(host)"},
      {"pageable_memory_is_filled_by_the_call_itself",
       "1@1+20 copy s=L implicit src=A dst=H to=pageable bytes=64\n2@5 memset s=L dst=B bytes=64\n"
       "2@6+20 copy s=L implicit src=B dst=H+256 to=pageable bytes=64\n",
       "fifo 1>5 not needed"},
      {"a_free_waits_under_any_policy", "1@1 copy s=N1 src=A dst=H to=pinned bytes=64\n1@2+9 free m=B\n", ""},
      {"by_a_blocking_streams_wait_after_legacy_work",
       "1@1 copy s=L src=A dst=H to=pinned bytes=64\n1@2 launch s=B1 " EMPTY "\n1@3+9 sync s=B1\n",
       "fan-out 1>2 maybe needed(host)"},
      {"its_own_by_name", "1@1 copy s=L src=A dst=H to=pinned bytes=64\n1@2+9 sync s=L\n", ""},
      {"pinned_memory_that_was_read", "2@1 copy s=L src=H from=pinned dst=A bytes=64\n1@2+9 sync s=L\n",
       "host 1>2 maybe needed(host)"},
      {"mapped_memory", "2@1 launch s=L " W "H\n1@2+9 sync s=L\n", "host 1>2 maybe needed(host)"},
      {"managed_memory", "1@0 alloc m=M ptr=0x40000 bytes=64 kind=managed\n2@1 launch s=L " W "M\n1@2+9 sync s=L\n",
       "host 1>2 maybe needed(host)"},
      {"memory_that_others_were_given", "2@1 launch s=L host-memory " W "A\n1@2+9 sync s=L\n",
       "host 1>2 maybe needed(host)"},
      {"device_memory", "2@1 launch s=L " W "A\n1@2+9 sync s=L\n", "host 1>2 not needed"},
      {"anything", "2@1 opaque s=L\n1@2+9 sync s=L\n", "host 1>2 maybe needed(host)"});

/* A time between events counts what legacy order puts between them. */
#define TIMED(calls) calls "1@90 event-sync e=E\n1@91 elapsed e=E\n"
SUITE(Time,
      {"what_an_event_on_legacy_counts", TIMED("1@1 launch s=B1 " W "A\n1@2 record s=L e=E\n"),
       "fan-in 1>2 maybe needed(time)"},
      {"what_comes_after_the_first_event", TIMED("1@1 record s=L e=E\n1@2 launch s=B1 " W "A\n"),
       "fan-out 1>2 maybe needed(time)"},
      {"by_way_of_an_empty_kernel", TIMED("1@1 launch s=B1 " W "A\n1@2 launch s=L " EMPTY "\n1@3 record s=L e=E\n"),
       "fan-in 1>2 maybe needed(time)"},
      {"of_another_thread", TIMED("2@1 launch s=L " W "A\n1@2 record s=L e=E\n"), "fifo 1>2 maybe needed(time)"},
      {"an_event_without_a_time", "1@0 event-create e=E flags=2\n" TIMED("1@1 launch s=B1 " W "A\n1@2 record s=L e=E\n"),
       "fan-in 1>2 not needed"},
      {"nobody_asks", "1@1 launch s=B1 " W "A\n1@2 record s=L e=E\n", "fan-in 1>2 not needed"},
      {"what_was_done_before", TIMED("1@1 launch s=B1 " W "A\n1@2+9 sync s=B1\n1@20 record s=L e=E\n"), ""});

SUITE(Explicit,
      {"event_holds_it", "1@1 launch s=B1 " W "A\n1@2 record s=B1 e=E\n1@3 wait s=L e=E\n1@4 launch s=L " R "A\n", ""},
      {"event_recorded_too_early",
       "1@1 record s=B1 e=E\n1@2 memset s=B1 bytes=64 dst=A\n1@3 wait s=L e=E\n1@4 copy s=L bytes=64 src=A\n",
       "fan-in 2>3 needed"},
      {"event_recorded_again",
       "1@1 memset s=B1 bytes=64 dst=A\n1@2 record s=B1 e=E\n1@3 record s=N1 e=E\n1@4 wait s=L e=E\n1@5 copy s=L bytes=64 "
       "src=A\n",
       "fan-in 2>4 needed"},
      {"event_never_recorded", "1@1 memset s=B1 bytes=64 dst=A\n1@2 wait s=L e=E\n1@3 copy s=L bytes=64 src=A\n",
       "fan-in 1>2 needed"},
      {"event_on_legacy_is_a_barrier",
       "1@1 memset s=B1 bytes=64 dst=A\n1@2 record s=L e=E\n1@3 wait s=N1 e=E\n1@4 copy s=N1 bytes=64 src=A\n",
       "fan-in 1>2 needed"},
      {"sync_then_use", "1@1 launch s=B1 " W "A\n1@2+9 sync s=B1\n1@20 launch s=L " R "A\n", ""},
      {"sync_of_another_thread", "1@1 launch s=B1 " W "A\n1@2+9 sync s=B1\n2@20 launch s=L " R "A\n", ""},
      {"sync_not_yet_returned", "1@1 memset s=B1 bytes=64 dst=A\n1@2+90 sync s=B1\n2@20 copy s=L bytes=64 src=A\n",
       "fan-in 1>20 needed"},
      {"context_sync", "1@1 launch s=L " W "A\n1@2 launch s=B1 " EMPTY "\n1@3+9 ctx-sync\n2@20 launch s=L " W "A\n",
       "fan-out 1>2 not needed"},
      {"event_sync", "1@1 launch s=L " W "A\n1@2 record s=L e=E\n1@3+9 event-sync e=E\n2@20 launch s=L " W "A\n", ""},
      {"query_that_succeeds", "1@1 launch s=B1 " W "A\n1@2 query s=B1\n1@20 launch s=L " R "A\n", ""},
      {"query_not_ready", "1@1 memset s=B1 bytes=64 dst=A\n1@2 query s=B1 result=600\n1@20 copy s=L bytes=64 src=A\n",
       "fan-in 1>20 needed"},
      {"copy_back_completes_its_own_work",
       "1@1 launch s=L " W "A\n1@2+9 copy s=L implicit src=A dst=H to=pinned bytes=64\n2@20 launch s=L " W "A\n", ""},
      {"copy_back_waits_for_another_stream",
       "1@1 memset s=B1 bytes=64 dst=A\n1@2+9 copy s=L implicit src=B dst=H to=pinned bytes=64\n1@20 copy s=N1 bytes=64 "
       "src=A\n",
       "fan-in 1>2 needed"},
      {"sync_of_legacy_covers_ones_own", "1@1 launch s=L " W "A\n1@2+9 sync s=L\n2@20 launch s=N1 " W "A\n", ""},
      {"sync_of_legacy_waits_for_others",
       "2@1 memset s=L bytes=64 dst=A\n1@2+9 sync s=L\n1@20 memset s=N1 bytes=64 dst=A\n", "host 1>2 needed"},
      {"sync_of_legacy_waits_for_blocking", "1@1 launch s=B1 " W "A\n1@2+9 sync s=L\n1@20 launch s=N1 " W "B\n",
       "host 1>2 not needed"});

SUITE(RealCases,
      {"Rb_an_empty_kernel_as_barrier",
       "1@1 memset s=B1 bytes=64 dst=A\n1@2 memset s=B2 bytes=64 dst=B\n1@3 launch s=L " EMPTY
       "\n1@4 copy s=B1 bytes=64 src=B\n1@5 launch s=B2 " EMPTY "\n",
       "fan-in 1>3 not needed; fan-in 2>3 needed; fan-out 3>4 needed; fan-out 3>5 not needed"},
      {"Rc_a_race_today", "1@1 memset s=N1 bytes=64 dst=A\n1@2+9 copy s=L implicit src=A dst=H to=pinned bytes=64\n", "",
       1},
      {"Rj_a_free_as_barrier", "1@1 copy s=N1 bytes=64 src=A\n1@2+9 free m=A\n", ""},
      {"Rj_a_free_of_stream_ordered_memory_is_none",
       "1@0 alloc-async m=P s=N2 ptr=0x60000 bytes=64\n1@1 memset s=N1 bytes=64 dst=A\n1@2+9 free m=P\n"
       "1@20 copy s=N3 bytes=64 src=A\n",
       "", 1},
      {"Rj_what_a_free_has_waited_for_is_over", "1@1 launch s=L " W "A\n1@2+9 free m=B\n1@20 launch s=B1 " R "A\n", ""},
      {"Rj_a_free_after_a_sync", "1@1 launch s=N1 " R "A\n1@2+9 sync s=N1\n1@20+9 free m=A\n", ""},
      {"Rq_sync_of_a_blocking_stream_after_legacy_work",
       "1@1 memset s=L bytes=64 dst=A\n1@2 launch s=B1 " EMPTY "\n1@3+9 sync s=B1\n2@20 copy s=N1 bytes=64 src=A\n",
       "fan-out 1>2 needed"},
      {"R4_memory_reused_in_an_arena", "1@1 memset s=B1 dst=A bytes=512\n1@2 copy s=L src=H from=pinned dst=A bytes=256\n",
       "fan-in 1>2 needed"},
      {"R4_stream_ordered_free",
       "1@1 alloc-async s=B1 m=C ptr=0x60000 bytes=4096\n1@2 memset s=L bytes=64 dst=C\n1@3 free-async s=B1 m=C\n",
       "fan-in 1>2 needed; fan-out 2>3 needed"},
      {"stream_ordered_on_one_stream",
       "1@1 alloc-async s=B1 m=C ptr=0x60000 bytes=4096\n1@2 launch s=B1 " W "C\n1@3 free-async s=B1 m=C\n1@4 launch s=L " W
       "A\n",
       "fan-in 3>4 not needed"},
      {"R1_a_hand_over_between_threads",
       "1@1 memset s=L bytes=64 dst=A\n2@2 copy s=L bytes=64 src=A\n1@3 memset s=L bytes=64 dst=B\n",
       "fifo 1>2 needed; fifo 2>3 not needed"});

SUITE(Unknown, {"graph_launch", "1@1 graph-launch s=B1 opaque\n1@2 launch s=L " W "A\n", "fan-in 1>2 maybe needed(opaque)"},
      {"opaque_second", "1@1 launch s=B1 " W "A\n1@2 opaque s=L\n", "fan-in 1>2 maybe needed(opaque)"},
      {"opaque_and_nothing", "1@1 opaque s=B1\n1@2 launch s=L " EMPTY "\n", "fan-in 1>2 not needed"},
      {"kernel_without_definition", "1@1 launch s=B1\n1@2 launch s=L " W "A\n", "fan-in 1>2 maybe needed(opaque)"},
      {"what_a_host_function_lets_go_on_uses_anything", "1@1 host-function s=B1 opaque\n1@2 launch s=L " W "A\n",
       "fan-in 1>2 maybe needed(opaque)"},
      {"host_function_and_pinned_memory", "1@1 host-function s=B1 opaque\n1@2 copy s=L src=A dst=H to=pinned bytes=4\n",
       "fan-in 1>2 maybe needed(opaque)"},
      {"certain_beats_opaque",
       "1@1 copy s=B1 opaque bytes=64 dst="
       "A\n1@2 copy s=L bytes=64 src=A\n",
       "fan-in 1>2 needed"},
      {"captured_work_runs_nowhere", "1@1 launch s=B1 capturing " W "A\n1@2 launch s=L " R "A\n", ""},
      {"failed_work_runs_nowhere", "1@1 launch s=B1 result=700 " W "A\n1@2 launch s=L " R "A\n", ""},
      {"event_generation_not_in_the_trace",
       "1@1 memset s=B1 bytes=64 dst=A\n1@2 record s=B1 e=E\n1@3 wait s=L e=E g=7\n1@4 copy s=L bytes=64 src=A\n",
       "fan-in 2>3 maybe needed(lost)"},
      {"another_process_may_have_recorded_the_event",
       "1@0 event-create e=E api=cuIpcOpenEventHandle\n1@1 memset s=N1 bytes=64 dst=A\n1@2 wait s=N2 e=E g=0\n"
       "1@3 copy s=N2 bytes=64 src=A\n",
       "", 0},
      {"nobody_has",
       "1@0 event-create e=E\n1@1 memset s=N1 bytes=64 dst=A\n1@2 wait s=N2 e=E g=0\n1@3 copy s=N2 bytes=64 src=A\n", "",
       1},
      {"another_process_may_have_recorded_it_since",
       "1@0 event-create e=E flags=6\n1@1 memset s=B1 bytes=64 dst=A\n1@2 record s=B1 e=E\n1@3 wait s=L e=E\n"
       "1@4 copy s=L bytes=64 src=A\n",
       "fan-in 2>3 maybe needed(lost)"},
      {"stream_of_unknown_kind_may_have_edges", "1@1 launch s=U1 " W "A\n1@2 launch s=L " R "A\n",
       "fan-in 1>2 maybe needed(access)"},
      {"and_known_ranges_prove_nothing", "1@1 memset s=U1 dst=A bytes=64\n1@2 copy s=L src=A bytes=64\n",
       "fan-in 1>2 maybe needed(lost)"},
      {"nor_do_they_behind_it", "1@1 memset s=L dst=A bytes=64\n1@2 copy s=U1 src=A bytes=64\n",
       "fan-out 1>2 maybe needed(lost)"},
      {"stream_of_unknown_kind_and_memory_that_nobody_names", "1@1 opaque s=U1\n1@2 launch s=L " R "A\n",
       "fan-in 1>2 maybe needed(opaque)"},
      {"by_way_of_a_stream_of_unknown_kind",
       "1@1 memset s=N1 dst=A bytes=64\n1@2 record s=N1 e=E\n1@3 wait s=U1 e=E\n1@4 copy s=L src=A bytes=64\n",
       "fan-in 3>4 maybe needed(lost)"},
      {"another_edge_that_might_hold_it",
       "1@1 memset s=N1 dst=A bytes=64\n1@2 record s=N1 e=E\n1@3 wait s=U1 e=E\n1@4 wait s=B1 e=E\n"
       "1@5 copy s=L src=A bytes=64\n",
       "fan-in 3>5 maybe needed(lost); fan-in 4>5 maybe needed(lost)"},
      {"stream_of_unknown_kind_elsewhere",
       "1@0 launch s=U1 " W "A\n1@1 memset s=B1 dst=A bytes=64\n1@2 copy s=L src=A bytes=64\n",
       "fan-in 0>2 maybe needed(access); fan-in 1>2 needed"},
      {"a_wait_for_a_value_may_order", "1@1 launch s=B1 " W "A\n1@2 wait-value s=L ptr=0x20000\n1@3 launch s=L " R "A\n",
       "fan-in 1>2 maybe needed(opaque)"},
      {"a_wait_for_a_value_orders_itself",
       "1@1 write-value s=L ptr=0x10000 bytes=4\n1@2 wait-value s=B1 ptr=0x10000 bytes=4\n",
       "fan-out 1>2 maybe needed(lost)"},
      {"array_copies", "1@1 copy s=B1 src=A dst=B to=array bytes=4\n1@2 copy s=L src=A dst=B to=array bytes=4\n",
       "fan-in 1>2 maybe needed(extent)"});

/* Whoever looks at a value that the host can see knows what was done before it was written. */
SUITE(Polled,
      {"a_value",
       "1@1 memset s=N1 dst=A bytes=64\n1@2 write-value s=N1 ptr=0x30800 bytes=4\n1@3 copy s=N2 src=A dst=B bytes=64\n",
       ""},
      {"a_value_before_the_work",
       "1@1 write-value s=N1 ptr=0x30800 bytes=4\n1@2 memset s=N1 dst=A bytes=64\n1@3 copy s=N2 src=A dst=B bytes=64\n", "",
       1},
      {"a_value_of_another_stream",
       "1@1 memset s=N1 dst=A bytes=64\n1@2 write-value s=N3 ptr=0x30800 bytes=4\n1@3 copy s=N2 src=A dst=B bytes=64\n", "",
       1},
      {"a_graph_with_one",
       "1@1 memset s=N1 dst=A bytes=64\n1@2 graph-launch s=N1 why-value\n1@3 copy s=N2 src=A dst=B bytes=64\n", ""});

TEST(Polled, HostMemoryThatIsWrittenInBetween)
{
    auto told = [](const std::string &between) {
        Judged judged(BuildTrace(std::string(verdict_memory) + "1@1 memset s=N1 dst=A bytes=64\n" + between +
                                 "1@9 copy s=N2 src=A dst=B bytes=64\n"));
        EXPECT_EQ(1u, judged.races.size()) << between;
        return !judged.races.empty() && judged.races[0].definite && judged.races[0].host_may_know;
    };
    EXPECT_FALSE(told(""));
    EXPECT_TRUE(told("1@2 launch s=N1 " W "H\n"));
    EXPECT_TRUE(told("1@2 copy s=N1 src=B dst=H+64 to=pinned bytes=4\n"));
    EXPECT_TRUE(told("1@2 record s=N1 e=E\n1@3 wait s=N3 e=E\n1@4 memset s=N3 dst=H bytes=4\n"));
    EXPECT_FALSE(told("1@2 memset s=N3 dst=H bytes=4\n")) << "by who does not come after it";
    EXPECT_FALSE(told("1@2 copy s=N1 src=H from=pinned dst=B+128 bytes=4\n")) << "read, not written";
    EXPECT_FALSE(told("1@2 launch s=N1 " W "B+2048\n"));
}

/* The word may be what the first one itself writes, and also what the two are about. */
TEST(Polled, HostMemoryThatTheFirstOneWrites)
{
    const std::string copies = verdict_memory + std::string("1@1 copy s=N1 src=A dst=H to=pinned bytes=64\n");
    Judged read(BuildTrace(copies + "1@2 memset s=N2 dst=A bytes=64\n")),
        written(BuildTrace(copies + "1@2 memset s=N2 dst=H bytes=64\n"));
    ASSERT_EQ(1u, read.races.size());
    EXPECT_TRUE(read.races[0].host_may_know);
    ASSERT_EQ(1u, written.races.size());
    EXPECT_TRUE(written.races[0].host_may_know);
}

/* One that comes after the first without legacy order may have told the program that it was done, before the second. */
SUITE(HostFunctions,
      {"none", "1@1 memset s=L bytes=64 dst=A\n1@2 record s=L e=E\n2@5 copy s=L bytes=64 src=A\n", "fifo 2>5 needed"},
      {"one_behind_it",
       "1@1 memset s=L bytes=64 dst=A\n1@2 host-function s=L opaque\n1@3 record s=L e=E\n2@5 copy s=L bytes=64 src=A\n",
       "fifo 3>5 maybe needed(lost)"},
      {"one_behind_its_event",
       "1@1 memset s=L bytes=64 dst=A\n1@2 record s=L e=E\n1@3 wait s=N1 e=E\n1@4 host-function s=N1 opaque\n"
       "2@5 copy s=L bytes=64 src=A\n",
       "fifo 2>5 maybe needed(lost)"},
      {"a_value_behind_its_event",
       "1@1 memset s=L bytes=64 dst=A\n1@2 record s=L e=E\n1@3 wait s=N1 e=E\n1@4 write-value s=N1 ptr=0x30800 bytes=4\n"
       "2@5 copy s=L bytes=64 src=A\n",
       "fifo 2>5 maybe needed(lost)"},
      {"one_before_it",
       "1@0 host-function s=N1 opaque\n1@1 memset s=L bytes=64 dst=A\n1@2 record s=L e=E\n2@5 copy s=L bytes=64 src=A\n",
       "fifo 2>5 needed"},
      {"one_of_another_stream",
       "1@1 memset s=L bytes=64 dst=A\n1@2 record s=L e=E\n1@4 host-function s=N1 opaque\n2@5 copy s=L bytes=64 src=A\n",
       "fifo 2>5 needed"},
      {"one_that_legacy_order_puts_behind_it",
       "1@1 memset s=L bytes=64 dst=A\n1@4 host-function s=B1 opaque\n2@5 copy s=L bytes=64 src=B\n"
       "2@6 copy s=L bytes=64 src=A\n",
       "fan-in 4>5 maybe needed(opaque); fan-out 1>4 maybe needed(opaque); fifo 1>5 needed"},
      {"no_race_of_what_lies_before_it",
       "1@1 memset s=N1 bytes=64 dst=A\n1@2 host-function s=N1 opaque\n2@5 copy s=N2 bytes=64 src=A\n", ""},
      {"nor_of_what_legacy_order_puts_before_it",
       "1@1 memset s=B1 bytes=64 dst=A\n1@2 host-function s=L opaque\n2@5 copy s=N2 bytes=64 src=A\n",
       "fan-in 1>2 maybe needed(opaque)"},
      {"a_race_of_what_does_not",
       "1@1 memset s=N1 bytes=64 dst=A\n1@2 host-function s=N3 opaque\n2@5 copy s=N2 bytes=64 src=A\n", "", 1},
      {"one_after_the_second",
       "1@1 memset s=L bytes=64 dst=A\n1@2 record s=L e=E\n2@5 copy s=L bytes=64 src=A\n1@6 host-function s=L opaque\n",
       "fifo 2>5 needed; fifo 5>6 maybe needed(opaque)"});

#define GRAPH_BETWEEN(why) \
    "1@1 memset s=N2 dst=B bytes=64\n1@2 graph-launch s=N1" why "\n1@3 copy s=N1 src=B dst=H to=pinned bytes=64\n"
/* Who waits for a value comes after who wrote it, whenever the wait was made, and nobody sees which write that was. */
SUITE(Values,
      {"a_value_and_who_waits_for_it",
       "1@1 write-value s=N1 ptr=0x10000 bytes=4\n1@2 wait-value s=N2 ptr=0x10000 bytes=4\n", "", 0},
      {"the_wait_was_made_first",
       "1@1 wait-value s=N1 ptr=0x10000 bytes=4\n1@2 memset s=N2 dst=B bytes=64\n1@3 write-value s=N2 ptr=0x10000 bytes=4\n"
       "1@4 copy s=N1 src=B dst=H to=pinned bytes=64\n",
       "", 0},
      {"it_is_written_again", /* by who has waited for it */
       "1@1 wait-value s=N1 ptr=0x10000 bytes=4\n1@2 write-value s=N2 ptr=0x10000 bytes=4\n1@3 write-value s=N1 "
       "ptr=0x10000 bytes=4\n",
       "", 0},
      {"by_a_call_that_does_not_tell",
       "1@1 opaque s=N1\n1@2 memset s=N2 dst=B bytes=64\n1@3 write-value s=N2 ptr=0x10000 bytes=4\n"
       "1@4 copy s=N1 src=B dst=H to=pinned bytes=64\n",
       "", 0},
      {"it_was_there_before_the_work",
       "1@1 wait-value s=N1 ptr=0x10000 bytes=4\n1@2+9 sync s=N1\n1@20 memset s=N2 dst=B bytes=64\n"
       "1@21 copy s=N1 src=B dst=H to=pinned bytes=64\n",
       "", 1},
      {"a_third_stream_does_not_wait",
       "1@1 wait-value s=N1 ptr=0x10000 bytes=4\n1@2 memset s=N2 dst=B bytes=64\n"
       "1@3 copy s=N3 src=B dst=H to=pinned bytes=64\n",
       "", 1},
      {"it_was_there_before_the_work_and_another_is_not",
       "1@1 wait-value s=N1 ptr=0x10000 bytes=4\n1@2 wait-value s=N3 ptr=0x10004 bytes=4\n"
       "1@3 memset s=N2 dst=B bytes=64\n1@4+9 sync s=N1\n1@20 copy s=N1 src=B dst=H to=pinned bytes=64\n",
       "", 0},
      {"a_graph_that_waits_for_an_event", GRAPH_BETWEEN(" why-event"), "", 0},
      {"a_graph_that_waits_for_a_value", GRAPH_BETWEEN(" why-value"), "", 0},
      {"a_graph_that_waits_for_a_semaphore", GRAPH_BETWEEN(" why-semaphore"), "", 0},
      {"a_graph_that_nobody_saw", GRAPH_BETWEEN(" why-graph"), "", 0},
      {"a_graph_whose_kernels_nobody_knows", GRAPH_BETWEEN(" why-pointers"), "", 1},
      {"a_graph_that_is_known", GRAPH_BETWEEN(), "", 1},
      {"the_host_has_waited_for_another_stream",
       "1@1 wait-value s=N1 ptr=0x10000 bytes=4\n1@2+9 sync s=N3\n1@20 memset s=N2 dst=B bytes=64\n"
       "1@21 copy s=N1 src=B dst=H to=pinned bytes=64\n",
       "", 0});

/* Threads that take turns at a memory: what one of them found out in its last turn must not hide what the other did since.
 */
SUITE(Turns,
      {"a_read_does_not_look_for_a_write",
       "1@1 launch s=L " W "A\n2@2 launch s=L " R "A\n1@3 launch s=L " R "A\n1@4 launch s=L " W "A\n",
       "fifo 1>2 maybe needed(access); fifo 2>3 maybe needed(access)"},
      {"each_turn_is_looked_at",
       "1@1 launch s=L " W "A\n1@2 launch s=L " W "A+64\n2@3 launch s=L " W "A\n1@4 launch s=L " W "A\n1@5 launch s=L " W
       "A+64\n2@6 launch s=L " R "A\n1@7 launch s=L " W "A+64\n1@8 launch s=L " W "A\n",
       "fifo 2>3 maybe needed(access); fifo 3>4 maybe needed(access); fifo 5>6 maybe needed(access); "
       "fifo 6>7 maybe needed(extent)"},
      {"a_turn_of_reads_goes_unnoticed",
       "1@1 launch s=L " R "A\n2@2 launch s=L " R "A\n1@3 launch s=L " R "A\n2@4 launch s=L " W "A\n1@5 launch s=L " R
       "A\n",
       "fifo 1>2 not needed; fifo 2>3 not needed; fifo 3>4 maybe needed(access); fifo 4>5 maybe needed(access)"});

SUITE(Places, {"two_contexts", "1@1 memset s=B1 bytes=64 dst=A\n1@2 memset s=L ctx=2 bytes=64 dst=A\n", "", 1},
      {"a_free_waits_for_its_context_only",
       "1@1 memset s=N1 ctx=2 bytes=64 dst=B\n1@2+9 free m=A\n1@20 memset s=N2 bytes=64 dst=B\n", "", 1},
      {"a_free_that_names_its_memory_by_address_alone",
       "1@0 alloc ptr=0x60000 bytes=4096\n1@1 memset s=N1 ctx=2 bytes=64 dst=0x60000\n1@2+9 free ptr=0x60000\n", "", 1},
      {"two_contexts_by_event",
       "1@1 memset s=B1 bytes=64 dst=A\n1@2 launch s=L " EMPTY
       "\n1@3 record s=L e=E\n1@4 wait s=L ctx=2 e=E\n1@5 memset s=B1 ctx=2 bytes=64 dst=A\n",
       "fan-in 1>2 needed; fan-out 4>5 needed"},
      {"remapped_is_as_asked", "1@1 memset s=L target=P1 bytes=64 dst=A\n2@2 copy s=L target=P2 bytes=64 src=A\n",
       "fifo 1>2 needed"},
      {"remapped_to_one_stream", "1@1 launch s=L to=S1 " W "A\n2@2 launch s=L to=S1 " R "B\n", "fifo 1>2 not needed"},
      {"the_shims_own_wait_is_not_the_programs",
       "1@1+9 copy s=L target=P1 implicit shim-wait src=A dst=B bytes=64\n2@20 copy s=L target=P2 bytes=64 src=B\n",
       "fifo 1>20 needed"},
      {"outside_knowledge_travels",
       "1@1 memset s=N1 bytes=64 dst=A\n1@2 record s=N1 e=E\n1@3 wait s=B1 e=E\n1@4 launch s=L " EMPTY
       "\n2@5 copy s=L bytes=64 src=A\n",
       "fan-in 3>4 not needed; fan-in 3>5 needed; fifo 4>5 not needed"},
      {"race_of_unknown_kind_is_not_claimed", "1@1 launch s=U1 " W "A\n1@2 launch s=N1 " W "A\n", "", 0},
      {"nor_is_one_with_unknown_kind", "1@1 memset s=N1 bytes=64 dst=A\n1@2 memset s=U1 bytes=64 dst=A\n", "", 0},
      {"a_free_in_one_context_under_the_work_of_another", "1@1 memset s=N1 ctx=2 bytes=64 dst=A\n1@2+9 free m=A\n", "", 1});

} // namespace
} // namespace ptds
