/* SPDX-License-Identifier: Apache-2.0
 *
 * What PTDS_LOG says that a call may wait for: the last work on other streams that nobody was seen to wait for.
 */
#include "tests/record/logged.h"

namespace
{

TEST_F(Log, WhatTheLegacyStreamMayWaitFor)
{
    EXPECT_EQ("", legacy_waits());
    work(5, PTDS_STREAM_NON_BLOCKING);
    EXPECT_EQ("", legacy_waits()) << "not for non-blocking streams";
    work(kLegacy, PTDS_STREAM_BLOCKING);
    EXPECT_EQ("", legacy_waits()) << "not for its own";
    work(6, PTDS_STREAM_BLOCKING, &there_);
    EXPECT_EQ("", legacy_waits()) << "not for another context's";
    EXPECT_EQ("cuLaunchKernel on blocking stream #6 from thread 4", legacy_waits_in(&there_));
    work(7);
    EXPECT_EQ("cuLaunchKernel on blocking stream #7 from thread 4", legacy_waits());
    EXPECT_EQ("", legacy_waits(PTDS_CALL_LEGACY | PTDS_CALL_REMAPPED));
    EXPECT_EQ("", legacy_waits(0));
    work(8, PTDS_STREAM_BLOCKING, &here_, 0, CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ("cuLaunchKernel on blocking stream #7 from thread 4", legacy_waits()) << "what failed is not pending";
}

/* Neither what is no work nor what has no stream. */
TEST_F(Log, WhatIsNoWork)
{
    for (unsigned op = PTDS_OP_NONE; op <= PTDS_OP_GRAPH_UPLOAD; op++) {
        struct call C = made(API_cuLaunchKernel, uint8_t(op), &here_);
        C.target_uid = 5;
        log_call(&C, kShort, 0);
        EXPECT_EQ(op >= PTDS_OP_LAUNCH && op <= PTDS_OP_OPAQUE ? "cuLaunchKernel on a default stream from thread 4" : "",
                  legacy_waits())
            << op;
        waits(5);
        EXPECT_EQ("", legacy_waits()) << op;
    }
    work(0);
    EXPECT_EQ("", legacy_waits());
}

/* Only a launch has a kernel. */
TEST_F(Log, WhoseKernelItIs)
{
    log_kernel(30, "kernel");
    log_kernel(1, "first");
    struct call C = made(API_cuEventRecord, PTDS_OP_EVENT_RECORD, &here_);
    C.target_uid = 5;
    C.object = 30;
    log_call(&C, kShort, 0);
    EXPECT_EQ("cuEventRecord on a default stream from thread 4", legacy_waits());
    C.op = PTDS_OP_LAUNCH;
    C.api = API_cuLaunchKernel;
    C.flags = PTDS_CALL_LEGACY;
    C.target_uid = kLegacy;
    C.caller = reinterpret_cast<const void *>(++site_);
    log_call(&C, kShort, 0);
    EXPECT_NE(std::string::npos, lines().back().find("): cuLaunchKernel kernel at ?+0x12 is on the legacy stream and may "
                                                     "wait for cuEventRecord on a default stream from thread 4"))
        << lines().back();
}

TEST_F(Log, TheNewestOfThem)
{
    work(5);
    work(6);
    EXPECT_EQ("cuLaunchKernel on blocking stream #6 from thread 4", legacy_waits());
    work(5);
    EXPECT_EQ("cuLaunchKernel on blocking stream #5 from thread 4", legacy_waits());
    waits(5);
    EXPECT_EQ("cuLaunchKernel on blocking stream #6 from thread 4", legacy_waits()) << "one wait is for all of a stream's";
    waits(6);
    EXPECT_EQ("", legacy_waits());
    for (uint32_t uid : {1u, 2u, 3u, 4u})
        work(uid);
    waits(4);
    EXPECT_EQ("cuLaunchKernel on blocking stream #3 from thread 4", legacy_waits());
    waits(3);
    EXPECT_EQ("cuLaunchKernel on blocking stream #2 from thread 4", legacy_waits());
}

/* Who has no context is taken to wait for all, and to be waited for by those alone. */
TEST_F(Log, OfAnUnknownContext)
{
    work(5, PTDS_STREAM_BLOCKING, &there_);
    EXPECT_EQ("cuLaunchKernel on blocking stream #5 from thread 4", legacy_waits_in(nullptr));
    waits(5);
    struct call C = made(API_cuLaunchKernel, PTDS_OP_LAUNCH, nullptr);
    C.target_uid = 6;
    log_call(&C, kShort, 0);
    EXPECT_EQ("", legacy_waits());
    EXPECT_EQ("cuLaunchKernel on a default stream from thread 4", legacy_waits_in(nullptr));
    waits(6);
}

TEST_F(Log, AForkedChildWaitsForNothingOfItsParents)
{
    work(5);
    log_after_fork();
    log_start();
    EXPECT_EQ("", legacy_waits());
}

TEST_F(Log, OfTheLast64)
{
    for (const auto &[more, words] : {std::pair{63u, "cuLaunchKernel on blocking stream #5 from thread 4"}, {64u, ""}}) {
        work(5);
        for (uint32_t i = 0; i < more; i++)
            work(100 + i);
        EXPECT_EQ("cuLaunchKernel on blocking stream #" + std::to_string(99 + more) + " from thread 4", legacy_waits());
        for (uint32_t i = 0; i < more; i++)
            waits(100 + i);
        EXPECT_EQ(words, legacy_waits()) << more;
    }
}

TEST_F(Log, WhatAWaitIsFor)
{
    const std::string blocking = "cuLaunchKernel on blocking stream #5 from thread 4";
    work(5);
    waits(6);
    EXPECT_EQ(blocking, legacy_waits()) << "for another stream";
    waits(5, PTDS_OP_STREAM_SYNC, 0, CUDA_ERROR_ILLEGAL_ADDRESS);
    EXPECT_EQ(blocking, legacy_waits()) << "it failed";
    waits(5, PTDS_OP_STREAM_QUERY, 0, CUDA_ERROR_NOT_READY);
    EXPECT_EQ(blocking, legacy_waits()) << "it is not done";
    waits(5, PTDS_OP_EVENT_SYNC);
    EXPECT_EQ(blocking, legacy_waits()) << "for an event";
    waits(kLegacy, PTDS_OP_STREAM_SYNC, PTDS_CALL_LEGACY | PTDS_CALL_REMAPPED);
    EXPECT_EQ(blocking, legacy_waits()) << "not on the legacy stream";
    waits(5, PTDS_OP_STREAM_QUERY);
    EXPECT_EQ("", legacy_waits());
    work(5);
    waits(kLegacy, PTDS_OP_STREAM_SYNC, PTDS_CALL_LEGACY);
    EXPECT_EQ("", legacy_waits()) << "the legacy stream comes after all blocking ones";
    work(5);
    work(6, PTDS_STREAM_BLOCKING, &there_);
    call(API_cuMemFree_v2, PTDS_OP_FREE, &here_);
    EXPECT_EQ("", legacy_waits());
    EXPECT_NE("", legacy_waits_in(&there_)) << "for the context alone";
    call(API_cuMemFree_v2, PTDS_OP_FREE, nullptr);
    EXPECT_NE("", legacy_waits_in(&there_)) << "whose context nobody knows";
}

/* The legacy stream is done, and a non-blocking one is not. */
TEST_F(Log, WhatTheLegacyStreamsWaitIsNotFor)
{
    work(5, PTDS_STREAM_NON_BLOCKING);
    waits(kLegacy, PTDS_OP_STREAM_SYNC, PTDS_CALL_LEGACY);
    call(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, &here_, kLong);
    EXPECT_NE(std::string::npos, lines().back().find("pending: cuLaunchKernel on non-blocking stream #5 from thread 4"))
        << lines().back();
    call(API_cuCtxSynchronize, PTDS_OP_CTX_SYNC, &here_, kLong);
    EXPECT_NE(std::string::npos, lines().back().find("pending: nothing that the shim has seen")) << lines().back();
}

} // namespace
