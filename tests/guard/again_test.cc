/* SPDX-License-Identifier: Apache-2.0
 *
 * What may take the short way (guard/again.h), and what may not.
 */
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

extern "C" {
#include "interpose/footprint/memories/addresses.h"
#include "interpose/footprint/launches/plain_launch.h"
#include "interpose/base/gate.h"
#include "interpose/footprint/memories/memory_object.h"
#include "interpose/guard/around_call.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/turn.h"
#include "interpose/guard/repeat_launch.h"
#include "interpose/state/capture.h"
}

#include "tests/guard/launcher.h"

namespace
{

TEST_F(Short, NotDuringACapture)
{
    EXPECT_EQ(0, with(&captures_open, 1u, [] { return goes(); }));
}

TEST_F(Short, NotWhereTheContextIsAnother)
{
    EXPECT_EQ(0, with(&g_current, CUcontext(0x2000), [] { return goes(); }));
    EXPECT_EQ(0, with(&g_current, CUcontext(nullptr), [] { return goes(); }));
    EXPECT_EQ(0, with(&context_->gone, 1u, [] { return goes(); }));
    EXPECT_EQ(0, with(&context_->uid, context_->uid + 1, [] { return goes(); }));
    EXPECT_EQ(0, with(&context_->kind, uint32_t(PTDS_CONTEXT_GREEN), [] { return goes(); }));
}

TEST_F(Short, NotForAThreadThatHasNoLaneOrATurnAlready)
{
    EXPECT_EQ(0, with(&a_->here.lane_count, uint16_t(0), [] { return goes(); }));
    EXPECT_EQ(0, with(&a_->thread.held, uint64_t(1), [] { return goes(); }));
    EXPECT_EQ(0, with(&issue_lanes[a_->lane()].tickets, issue_lanes[a_->lane()].tickets + 1, [] { return goes(); }));
    EXPECT_EQ(0, with(&a_->thread.fork_generation, thread_fork_generation + 1, [] { return goes(); }));
    EXPECT_EQ(0, with(&thread_self, static_cast<struct thread *>(nullptr), [] { return goes(); }));
}

TEST_F(Short, NotForKernelsThatMayTouchAnything)
{
    EXPECT_EQ(0, goes(CUfunction(0x10))) << "not met";
    EXPECT_EQ(0, with(&kernel_table_forgotten, kernel_table_forgotten + 1, [] { return goes(); }));
    EXPECT_EQ(0, with(&touch_memory_kernels_opaque, 1u, [] { return goes(); }));
    EXPECT_EQ(0, with(&kernel_.plain, uint8_t(0), [] { return goes(); }));
    EXPECT_EQ(0, with(&kernel_.params, 1u, [] { return goes(); })) << "no parameters are given";
    EXPECT_EQ(0, with(&module_.textures, 1u, [] { return goes(); }));
}

/* What is refused for want of a claim is registered at once, and asked about no more. */
TEST_F(Short, VariablesThatNobodyHasAClaimOn)
{
    static struct memory_object variables = {make_memory(77), 1, 0, 0, nullptr, nullptr, nullptr};
    module_.memory = &variables.memory;
    EXPECT_EQ(1, goes()) << "it uses none";
    kernel_.variables = CODE_READ;
    EXPECT_EQ(0, goes());
    EXPECT_EQ(0u, a_->thread.held);
    EXPECT_EQ(0u, issue_lanes[a_->lane()].gate);
    a_->fill(API_cuLaunchKernel, PTDS_OP_LAUNCH, nullptr);
    EXPECT_EQ(0, repeat_launch_work(&a_->call)) << "missed";
    EXPECT_EQ(0, turn_again(&a_->call, &a_->here)) << "missed";
    EXPECT_EQ(1, turn_again(&a_->call, &a_->here)) << "the next call";
    turn_end(&a_->call);
    a_->launch(&variables.memory);
    a_->launch(&variables.memory);
    EXPECT_EQ(0, goes()) << "the test's launches write it, this one reads";
    a_->thread.missed = 0;
    kernel_.variables = CODE_READ | CODE_WRITE;
    EXPECT_EQ(1, goes());
    EXPECT_EQ(UNKNOWN_BY_KERNELS, variables.memory.unknown);
    module_.memory = nullptr;
    kernel_.variables = 0;
}

/* What a kernel both reads and writes is written, in whichever order its parameters come. */
TEST_F(Short, MemoryByTwoParameters)
{
    struct memory *memory = memory_object_new(PTDS_MEMORY_DEVICE, 0x70000000, 4096);
    ASSERT_EQ(1, addresses_map(memory, memory->base, memory->bytes, memory->base));
    uint64_t first = memory->base, second = memory->base;
    void *params[] = {&first, &second};
    kernel_.params = kernel_.listed = 2;
    for (int reader = 0; reader < 3; reader++) {
        kernel_.pointer[0] = {0, 0, 0, reader != 0, 0};
        kernel_.pointer[1] = {1, 0, 8, reader != 1, 0};
        struct touched touched = {};
        ASSERT_EQ(1, plain_launch_touch(&a_->thread, &kernel_, params, &touched));
        ASSERT_EQ(1, touched.count);
        EXPECT_EQ(memory, touched.at[0].memory);
        EXPECT_EQ(1u, touched.at[0].writes) << reader;
    }
    kernel_.params = kernel_.listed = 0;
    memory_object_drop(addresses_unmap(memory->base));
    memory_object_drop(memory);
}

/* The thread has done nothing but launch a kernel that touches nothing. */
TEST_F(Short, AKernelWithAPointerNeedsAClaim)
{
    struct memory *memory = memory_object_new(PTDS_MEMORY_DEVICE, 0x72000000, 4096);
    ASSERT_EQ(1, addresses_map(memory, memory->base, memory->bytes, memory->base));
    uint64_t pointer = memory->base;
    void *params[] = {&pointer};
    struct repeat_launch again = {};
    EXPECT_EQ(1, repeat_launch_go(&again, kFunction, params));
    guard_launched_again(&again);
    kernel_.params = kernel_.listed = 1;
    kernel_.pointer[0] = {0, 0, 0, 1, 0};
    EXPECT_EQ(0, repeat_launch_go(&again, kFunction, params));
    EXPECT_EQ(1u, a_->thread.missed);
    a_->thread.missed = 0;
    warm(a_.get(), memory);
    EXPECT_EQ(1, repeat_launch_go(&again, kFunction, params));
    EXPECT_EQ(uint32_t{GATE_HELD | GATE_QUICK}, issue_lanes[a_->lane()].gate);
    guard_launched_again(&again);
    kernel_.params = kernel_.listed = 0;
    memory_object_drop(addresses_unmap(memory->base));
    memory_object_drop(memory);
}

/* A kernel may have more words than a record. */
TEST_F(Short, MoreWordsThanARecordHas)
{
    struct memory *memory = memory_object_new(PTDS_MEMORY_DEVICE, 0x71000000, 4096);
    ASSERT_EQ(1, addresses_map(memory, memory->base, memory->bytes, memory->base));
    uint64_t pointer = memory->base, kept[KERNEL_POINTERS + 8];
    void *params[KERNEL_POINTERS];
    for (unsigned i = 0; i < KERNEL_POINTERS; i++) {
        params[i] = &pointer;
        kernel_.pointer[i] = {uint16_t(i), 0, uint16_t(8 * i), 1, 0};
    }
    for (unsigned words = 1; words <= KERNEL_POINTERS; words++) {
        kernel_.params = words, kernel_.listed = uint16_t(words);
        std::fill(std::begin(kept), std::end(kept), 99);
        struct touched touched = {};
        EXPECT_EQ(1, plain_launch_touch(&a_->thread, &kernel_, params, &touched)) << words;
        const unsigned listed = plain_launch_list(&a_->thread, &kernel_, params, &touched, kept);
        EXPECT_EQ(3 + words <= CALL_WORDS ? 3 + words : 0u, listed) << words;
        EXPECT_EQ(99u, kept[2]);
        EXPECT_EQ(memory->base, kept[3]);
        for (unsigned i = 1; listed && i < words; i++)
            EXPECT_EQ(memory->base | uint64_t{i} << PTDS_LAUNCH_ADDRESS_BITS, kept[3 + i]);
        EXPECT_EQ(99u, kept[CALL_WORDS]) << words;
    }
    kernel_.params = kernel_.listed = 0;
    memory_object_drop(addresses_unmap(memory->base));
    memory_object_drop(memory);
}

/* The host may wait for what it sees there. */
TEST_F(Short, NotForVariablesThatTheHostCanTouch)
{
    static struct memory_object variables = {make_memory(79), 1, 0, 0, nullptr, nullptr, nullptr};
    module_.memory = &variables.memory;
    kernel_.variables = CODE_READ;
    struct touched touched = {};
    EXPECT_EQ(1, plain_launch_touch(&a_->thread, &kernel_, nullptr, &touched));
    variables.memory.host = 1;
    touched = {};
    EXPECT_EQ(0, plain_launch_touch(&a_->thread, &kernel_, nullptr, &touched));
    module_.memory = nullptr;
    kernel_.variables = 0;
}

TEST_F(Short, ACallHasTheGateUntilTheDriverHasIt)
{
    static struct memory memory = make_memory(78);
    warm(a_.get(), &memory);
    a_->fill(API_cuLaunchKernel, PTDS_OP_LAUNCH, &memory);
    ASSERT_EQ(1, repeat_launch_work(&a_->call));
    EXPECT_EQ(uint32_t{GATE_HELD | GATE_QUICK}, issue_lanes[a_->lane()].gate);
    a_->end();
    EXPECT_EQ(0u, issue_lanes[a_->lane()].gate);
    EXPECT_EQ(0u, a_->thread.held);
}

/* Of a thread whose lane is not the first. */
TEST_F(Short, ACallGoesToItsThreadsLane)
{
    static struct memory memory = make_memory(89), others = make_memory(90);
    Caller other(context_);
    warm(&other, &others);
    ASSERT_NE(a_->lane(), other.lane());
    for (Caller *one : {&other, a_.get()}) {
        struct memory *mine = one == &other ? &others : &memory;
        warm(one, mine);
        one->fill(API_cuLaunchKernel, PTDS_OP_LAUNCH, mine);
        one->call.flags = PTDS_CALL_TIMED;
        one->call.guarded.lane = 99;
        ASSERT_EQ(1, repeat_launch_work(&one->call));
        EXPECT_EQ(one->lane(), one->call.guarded.lane);
        EXPECT_EQ(GUARD_WORK, one->call.guarded.kind);
        EXPECT_EQ(PTDS_CALL_TIMED | PTDS_CALL_LEGACY | PTDS_CALL_REMAPPED, one->call.flags);
        EXPECT_EQ(uint32_t{GATE_HELD | GATE_QUICK}, issue_lanes[one->lane()].gate);
        one->end();
        EXPECT_EQ(0u, issue_lanes[one->lane()].gate);
    }
    pool_thread_gone(&other.here);
}

TEST_F(Short, ACallThatIsNotPlainTakesTheLongWay)
{
    struct call *call = &a_->call;
    const auto again = [&](uint16_t api, uint8_t op) {
        a_->fill(api, op, nullptr);
        const int goes = repeat_launch_work(call);
        call->guarded.kind = goes ? call->guarded.kind : 0;
        around_call_leaving(call);
        return goes;
    };
    EXPECT_EQ(1, again(API_cuLaunchKernel, PTDS_OP_LAUNCH));
    EXPECT_EQ(PTDS_CALL_LEGACY | PTDS_CALL_REMAPPED, call->flags & (PTDS_CALL_LEGACY | PTDS_CALL_REMAPPED));
    EXPECT_EQ(issue_lanes[a_->lane()].handle, call->target);
    EXPECT_EQ(issue_lanes[a_->lane()].uid, call->target_uid);
    EXPECT_EQ(context_->legacy_uid, call->stream_uid);
    EXPECT_EQ(1, again(API_cuMemsetD8Async, PTDS_OP_MEMSET));
    EXPECT_EQ(0, again(API_cuEventRecord, PTDS_OP_EVENT_RECORD));
    EXPECT_EQ(0, again(API_cuStreamSynchronize, PTDS_OP_STREAM_SYNC));
    captures_open = 1;
    EXPECT_EQ(0, again(API_cuLaunchKernel, PTDS_OP_LAUNCH));
    captures_open = 0;
    call->event = CUevent(0x10);
    EXPECT_EQ(0, again(API_cuLaunchKernel, PTDS_OP_LAUNCH)) << "it records an event";
    call->event = nullptr;
}

} // namespace
