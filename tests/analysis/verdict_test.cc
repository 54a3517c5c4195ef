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

const char *const memory = "1@0 alloc m=A ptr=0x10000 bytes=4096\n"
                           "1@0 alloc m=B ptr=0x20000 bytes=4096\n"
                           "1@0 alloc m=H ptr=0x30000 bytes=4096 kind=pinned\n";

struct Case {
    const char *name, *trace, *edges;
    unsigned races = 0;
};

std::string Name(const testing::TestParamInfo<Case> &row)
{
    return row.param.name;
}

class Verdict : public testing::TestWithParam<Case>
{
};

TEST_P(Verdict, IsAsItMustBe)
{
    Judged judged(BuildTrace(std::string(memory) + GetParam().trace));
    EXPECT_EQ(GetParam().edges, judged.Text());
    EXPECT_EQ(GetParam().races, judged.totals.races);
    EXPECT_EQ(0u, judged.totals.dropped);
}

#define SUITE(name, ...) \
    const Case name##_cases[] = {__VA_ARGS__}; \
    INSTANTIATE_TEST_SUITE_P(name, Verdict, testing::ValuesIn(name##_cases), Name)

#define W "k=_Z5writePf args="
#define R "k=_Z4readPKf args="
#define U "k=user args="
#define EMPTY "k=_Z5emptyv"

SUITE(Kinds, {"fan_in_false", "1@1 launch s=B1 " W "A\n1@2 launch s=L " W "B\n", "fan-in 1>2 false"},
      {"fan_in_load_bearing", "1@1 launch s=B1 " W "A\n1@2 launch s=L " R "A\n", "fan-in 1>2 load-bearing"},
      {"fan_in_unknown", "1@1 launch s=B1 " U "A\n1@2 launch s=L " U "A\n", "fan-in 1>2 unknown(access)"},
      {"fan_out_false", "1@1 launch s=L " W "A\n1@2 launch s=B1 " W "B\n", "fan-out 1>2 false"},
      {"fan_out_load_bearing", "1@1 launch s=L " W "A\n1@2 launch s=B1 " R "A\n", "fan-out 1>2 load-bearing"},
      {"fan_out_unknown", "1@1 launch s=L " U "A\n1@2 launch s=B1 " R "A\n", "fan-out 1>2 unknown(access)"},
      {"fifo_false", "1@1 launch s=L " W "A\n2@2 launch s=L " W "B\n", "fifo 1>2 false"},
      {"fifo_load_bearing", "1@1 launch s=L " W "A\n2@2 launch s=L " W "A\n", "fifo 1>2 load-bearing"},
      {"fifo_unknown", "1@1 launch s=L " U "A\n2@2 launch s=L opaque " U "B\n", "fifo 1>2 unknown(opaque)"},
      {"host_false", "1@1 launch s=N1 " W "A\n1@2+9 free m=B\n1@20 launch s=N2 " EMPTY "\n", "host 1>2 false"},
      {"host_load_bearing", "1@1 launch s=N1 " W "A\n1@2+9 free m=B\n1@20 launch s=N2 " W "A\n", "host 1>2 load-bearing"},
      {"host_unknown", "1@1 launch s=N1 " U "A\n1@2+9 free m=B\n1@20 launch s=N2 " U "A\n", "host 1>2 unknown(access)"},
      {"per_thread_stream_fan_in", "1@1 launch s=P1 " W "A\n1@2 launch s=L " R "A\n", "fan-in 1>2 load-bearing"},
      {"per_thread_stream_fan_out", "2@1 launch s=L " W "A\n1@2 launch s=P1 " R "A\n", "fan-out 1>2 load-bearing"},
      {"per_thread_streams_have_none", "1@1 launch s=P1 " W "A\n2@2 launch s=P2 " R "B\n", ""},
      {"one_thread_alone_has_none", "1@1 launch s=L " W "A\n1@2 launch s=L " R "A\n", ""},
      {"non_blocking_has_none", "1@1 launch s=N1 " W "A\n1@2 launch s=L " W "B\n1@3 launch s=N2 " W "H\n", ""},
      {"through_the_barrier", "1@1 launch s=B1 " W "A\n1@2 launch s=L " W "B\n1@3 launch s=B2 " R "A\n",
       "fan-in 1>2 load-bearing; fan-out 2>3 load-bearing"},
      {"only_the_first_join_carries",
       "1@1 launch s=B1 " W "A\n1@2 launch s=L " EMPTY "\n1@3 launch s=B2 " EMPTY "\n1@4 launch s=L " EMPTY
       "\n1@5 launch s=B2 " R "A\n",
       "fan-in 1>2 load-bearing; fan-in 3>4 false; fan-out 2>3 load-bearing; fan-out 4>5 false"},
      {"three_threads", "1@1 launch s=L " W "A\n2@2 launch s=L " W "B\n3@3 launch s=L " R "A\n",
       "fifo 1>2 false; fifo 1>3 load-bearing"},
      {"no_edge_twice", "1@1 launch s=B1 " W "A\n1@2 launch s=L " EMPTY "\n1@3 launch s=L " R "A\n",
       "fan-in 1>2 load-bearing"});

SUITE(
    Conflicts, {"read_read", "1@1 launch s=B1 " R "A\n1@2 launch s=L " R "A\n", "fan-in 1>2 false"},
    {"write_after_read", "1@1 launch s=B1 " R "A\n1@2 launch s=L " W "A\n", "fan-in 1>2 load-bearing"},
    {"read_and_either", "1@1 launch s=B1 " R "A\n1@2 launch s=L " U "A\n", "fan-in 1>2 unknown(access)"},
    {"write_and_either", "1@1 launch s=B1 " W "A\n1@2 launch s=L " U "A\n", "fan-in 1>2 load-bearing"},
    {"suballocation", "1@1 launch s=B1 " W "A\n1@2 launch s=L " W "A+512\n", "fan-in 1>2 unknown(extent)"},
    {"suballocation_read_read", "1@1 launch s=B1 " R "A\n1@2 launch s=L " R "A+512\n", "fan-in 1>2 false"},
    {"disjoint_ranges", "1@1 memset s=B1 dst=A bytes=256\n1@2 memset s=L dst=A+256 bytes=256\n", "fan-in 1>2 false"},
    {"overlapping_ranges", "1@1 memset s=B1 dst=A bytes=257\n1@2 memset s=L dst=A+256 bytes=256\n",
     "fan-in 1>2 load-bearing"},
    {"kernel_inside_a_range", "1@1 memset s=B1 dst=A bytes=256\n1@2 launch s=L " U "A+128\n", "fan-in 1>2 load-bearing"},
    {"kernel_past_a_range", "1@1 memset s=B1 dst=A bytes=256\n1@2 launch s=L " W "A+256\n", "fan-in 1>2 unknown(extent)"},
    {"copy_reads_what_a_kernel_may_write", "1@1 launch s=B1 " U "A\n1@2 copy s=L src=A dst=H to=pinned bytes=64\n",
     "fan-in 1>2 unknown(access)"},
    {"copies_of_one_source", "1@1 copy s=B1 src=A dst=B bytes=64\n1@2 copy s=L src=A dst=H to=pinned bytes=64\n",
     "fan-in 1>2 false"},
    {"pinned_memory_counts",
     "1@1 copy s=B1 src=A dst=H to=pinned bytes=64\n1@2 copy s=L src=H from=pinned dst=B bytes=64\n",
     "fan-in 1>2 load-bearing"},
    {"pageable_source_is_read_at_once",
     "1@1 copy s=B1 src=H from=pageable dst=A bytes=64\n1@2+9 copy s=L src=B dst=H to=pageable bytes=64\n",
     "fan-in 1>2 false"},
    {"interleaved_rows",
     "1@1 memset s=B1 dst=A bytes=16 height=4 pitch=64\n1@2 memset s=L dst=A+16 bytes=16 height=4 pitch=64\n",
     "fan-in 1>2 unknown(extent)"},
    {"rows_without_gaps", "1@1 memset s=B1 dst=A bytes=64 height=4 pitch=64\n1@2 memset s=L dst=A+192 bytes=16\n",
     "fan-in 1>2 load-bearing"},
    {"rows_beyond", "1@1 memset s=B1 dst=A bytes=16 height=4 pitch=64\n1@2 memset s=L dst=A+256 bytes=16\n",
     "fan-in 1>2 false"},
    {"a_number_is_no_pointer", "1@1 launch s=B1 k=_Z3numPfm args=A,-\n1@2 launch s=L k=_Z4num2PKfm args=B,-\n",
     "fan-in 1>2 false"},
    {"second_parameter", "1@1 launch s=B1 k=_Z4copyPfPKf args=A,B\n1@2 launch s=L k=_Z4copyPfPKf args=H,B\n",
     "fan-in 1>2 false"},
    {"place_not_recorded",
     "1@1 launch s=B1 k=_Z4copyPfPKf args=A,B words=plain\n"
     "1@2 launch s=L k=_Z4copyPfPKf args=H,B words=plain\n",
     "fan-in 1>2 unknown(access)"},
    {"place_clear_without", "1@1 launch s=B1 " R "A words=plain\n1@2 launch s=L " R "A words=plain\n", "fan-in 1>2 false"},
    {"pointer_to_pointers", "1@1 launch s=B1 k=_Z5batchPPf args=A\n1@2 launch s=L " W "B\n", "fan-in 1>2 unknown(opaque)"},
    {"unfinished_use_of_older_memory",
     "1@1 launch s=B1 " W "A\n1@2+1 free m=A\n1@9 alloc m=C ptr=0x10000 bytes=4096\n1@10 launch s=L " W "C\n",
     "host 1>2 load-bearing"},
    {"a_copy_to_a_module_variable_and_any_kernel",
     "1@0 alloc m=G ptr=0x50000 bytes=64 kind=global\n1@1 copy s=B1 src=H from=pinned dst=G bytes=64\n1@2 launch s=L " EMPTY
     "\n",
     "fan-in 1>2 unknown(opaque)"});

SUITE(Explicit,
      {"event_holds_it", "1@1 launch s=B1 " W "A\n1@2 record s=B1 e=E\n1@3 wait s=L e=E\n1@4 launch s=L " R "A\n", ""},
      {"event_recorded_too_early", "1@1 record s=B1 e=E\n1@2 launch s=B1 " W "A\n1@3 wait s=L e=E\n1@4 launch s=L " R "A\n",
       "fan-in 2>3 load-bearing"},
      {"event_recorded_again",
       "1@1 launch s=B1 " W "A\n1@2 record s=B1 e=E\n1@3 record s=N1 e=E\n1@4 wait s=L e=E\n1@5 launch s=L " R "A\n",
       "fan-in 2>4 load-bearing"},
      {"event_never_recorded", "1@1 launch s=B1 " W "A\n1@2 wait s=L e=E\n1@3 launch s=L " R "A\n",
       "fan-in 1>2 load-bearing"},
      {"event_on_legacy_is_a_barrier",
       "1@1 launch s=B1 " W "A\n1@2 record s=L e=E\n1@3 wait s=N1 e=E\n1@4 launch s=N1 " R "A\n",
       "fan-in 1>2 load-bearing"},
      {"sync_then_use", "1@1 launch s=B1 " W "A\n1@2+9 sync s=B1\n1@20 launch s=L " R "A\n", ""},
      {"sync_of_another_thread", "1@1 launch s=B1 " W "A\n1@2+9 sync s=B1\n2@20 launch s=L " R "A\n", ""},
      {"sync_not_yet_returned", "1@1 launch s=B1 " W "A\n1@2+90 sync s=B1\n2@20 launch s=L " R "A\n",
       "fan-in 1>20 load-bearing"},
      {"context_sync", "1@1 launch s=L " W "A\n1@2 launch s=B1 " EMPTY "\n1@3+9 ctx-sync\n2@20 launch s=L " W "A\n",
       "fan-out 1>2 false"},
      {"event_sync", "1@1 launch s=L " W "A\n1@2 record s=L e=E\n1@3+9 event-sync e=E\n2@20 launch s=L " W "A\n", ""},
      {"query_that_succeeds", "1@1 launch s=B1 " W "A\n1@2 query s=B1\n1@20 launch s=L " R "A\n", ""},
      {"query_not_ready", "1@1 launch s=B1 " W "A\n1@2 query s=B1 result=600\n1@20 launch s=L " R "A\n",
       "fan-in 1>20 load-bearing"},
      {"copy_back_completes_its_own_work",
       "1@1 launch s=L " W "A\n1@2+9 copy s=L implicit src=A dst=H to=pinned bytes=64\n2@20 launch s=L " W "A\n", ""},
      {"copy_back_waits_for_another_stream",
       "1@1 launch s=B1 " W "A\n1@2+9 copy s=L implicit src=B dst=H to=pinned bytes=64\n1@20 launch s=N1 " R "A\n",
       "fan-in 1>2 load-bearing"},
      {"sync_of_legacy_covers_ones_own", "1@1 launch s=L " W "A\n1@2+9 sync s=L\n2@20 launch s=N1 " W "A\n", ""},
      {"sync_of_legacy_waits_for_others", "2@1 launch s=L " W "A\n1@2+9 sync s=L\n1@20 launch s=N1 " W "A\n",
       "host 1>2 load-bearing"},
      {"sync_of_legacy_waits_for_blocking", "1@1 launch s=B1 " W "A\n1@2+9 sync s=L\n1@20 launch s=N1 " W "B\n",
       "host 1>2 false"});

SUITE(RealCases,
      {"Rb_an_empty_kernel_as_barrier",
       "1@1 launch s=B1 " W "A\n1@2 launch s=B2 " W "B\n1@3 launch s=L " EMPTY "\n1@4 launch s=B1 " R
       "B\n1@5 launch s=B2 " EMPTY "\n",
       "fan-in 1>3 false; fan-in 2>3 load-bearing; fan-out 3>4 load-bearing; fan-out 3>5 false"},
      {"Rc_a_race_today", "1@1 launch s=N1 " W "A\n1@2+9 copy s=L implicit src=A dst=H to=pinned bytes=64\n", "", 1},
      {"Rj_a_free_as_barrier", "1@1 launch s=N1 " R "A\n1@2+9 free m=A\n", "host 1>2 load-bearing"},
      {"Rj_a_free_after_a_sync", "1@1 launch s=N1 " R "A\n1@2+9 sync s=N1\n1@20+9 free m=A\n", ""},
      {"Rq_sync_of_a_blocking_stream_after_legacy_work",
       "1@1 launch s=L " W "A\n1@2 launch s=B1 " EMPTY "\n1@3+9 sync s=B1\n2@20 launch s=N1 " R "A\n",
       "fan-out 1>2 load-bearing"},
      {"R4_memory_reused_in_an_arena", "1@1 memset s=B1 dst=A bytes=512\n1@2 copy s=L src=H from=pinned dst=A bytes=256\n",
       "fan-in 1>2 load-bearing"},
      {"R4_stream_ordered_free",
       "1@1 alloc-async s=B1 m=C ptr=0x60000 bytes=4096\n1@2 launch s=L " W "C\n1@3 free-async s=B1 m=C\n",
       "fan-in 1>2 load-bearing; fan-out 2>3 load-bearing"},
      {"stream_ordered_on_one_stream",
       "1@1 alloc-async s=B1 m=C ptr=0x60000 bytes=4096\n1@2 launch s=B1 " W "C\n1@3 free-async s=B1 m=C\n1@4 launch s=L " W
       "A\n",
       "fan-in 3>4 false"},
      {"R1_a_hand_over_between_threads", "1@1 launch s=L " W "A\n2@2 launch s=L " R "A\n1@3 launch s=L " W "B\n",
       "fifo 1>2 load-bearing; fifo 2>3 false"});

SUITE(Unknown, {"graph_launch", "1@1 graph-launch s=B1\n1@2 launch s=L " W "A\n", "fan-in 1>2 unknown(opaque)"},
      {"opaque_second", "1@1 launch s=B1 " W "A\n1@2 opaque s=L\n", "fan-in 1>2 unknown(opaque)"},
      {"opaque_and_nothing", "1@1 opaque s=B1\n1@2 launch s=L " EMPTY "\n", "fan-in 1>2 false"},
      {"kernel_without_definition", "1@1 launch s=B1\n1@2 launch s=L " W "A\n", "fan-in 1>2 unknown(opaque)"},
      {"host_function_and_device_memory", "1@1 host-function s=B1 opaque\n1@2 launch s=L " W "A\n", "fan-in 1>2 false"},
      {"host_function_and_pinned_memory", "1@1 host-function s=B1 opaque\n1@2 copy s=L src=A dst=H to=pinned bytes=4\n",
       "fan-in 1>2 unknown(opaque)"},
      {"certain_beats_opaque", "1@1 launch s=B1 opaque " W "A\n1@2 launch s=L " R "A\n", "fan-in 1>2 load-bearing"},
      {"captured_work_runs_nowhere", "1@1 launch s=B1 capturing " W "A\n1@2 launch s=L " R "A\n", ""},
      {"failed_work_runs_nowhere", "1@1 launch s=B1 result=700 " W "A\n1@2 launch s=L " R "A\n", ""},
      {"event_generation_not_in_the_trace",
       "1@1 launch s=B1 " W "A\n1@2 record s=B1 e=E\n1@3 wait s=L e=E g=7\n1@4 launch s=L " R "A\n",
       "fan-in 2>3 unknown(lost)"},
      {"stream_of_unknown_kind_has_no_edges", "1@1 launch s=U1 " W "A\n1@2 launch s=L " R "A\n", ""},
      {"a_wait_for_a_value_may_order", "1@1 launch s=B1 " W "A\n1@2 wait-value s=L ptr=0x20000\n1@3 launch s=L " R "A\n",
       "fan-in 1>2 unknown(lost)"},
      {"array_copies", "1@1 copy s=B1 src=A dst=B to=array bytes=4\n1@2 copy s=L src=A dst=B to=array bytes=4\n",
       "fan-in 1>2 unknown(extent)"});

SUITE(Places, {"two_contexts", "1@1 launch s=B1 " W "A\n1@2 launch s=L ctx=2 " W "A\n", "", 1},
      {"a_free_waits_for_its_context_only", "1@1 launch s=N1 ctx=2 " W "B\n1@2+9 free m=A\n1@20 launch s=N2 " W "B\n", "",
       1},
      {"two_contexts_by_event",
       "1@1 launch s=B1 " W "A\n1@2 launch s=L " EMPTY
       "\n1@3 record s=L e=E\n1@4 wait s=L ctx=2 e=E\n1@5 launch s=B1 ctx=2 " W "A\n",
       "fan-in 1>2 load-bearing; fan-out 4>5 load-bearing"},
      {"remapped_is_as_asked", "1@1 launch s=L to=P1 " W "A\n2@2 launch s=L to=P2 " R "A\n", "fifo 1>2 load-bearing"},
      {"remapped_to_one_stream", "1@1 launch s=L to=S1 " W "A\n2@2 launch s=L to=S1 " R "B\n", "fifo 1>2 false"},
      {"the_shims_own_wait_is_not_the_programs",
       "1@1+9 copy s=L target=P1 implicit shim-wait src=A dst=B bytes=64\n2@20 launch s=L to=P2 " R "B\n",
       "fifo 1>20 load-bearing"},
      {"outside_knowledge_travels",
       "1@1 launch s=N1 " W "A\n1@2 record s=N1 e=E\n1@3 wait s=B1 e=E\n1@4 launch s=L " EMPTY "\n2@5 launch s=L " R "A\n",
       "fan-in 3>4 false; fan-in 3>5 load-bearing; fifo 4>5 false"},
      {"race_of_unknown_kind_is_not_claimed", "1@1 launch s=U1 " W "A\n1@2 launch s=N1 " W "A\n", "", 0});

} // namespace
} // namespace ptds
