/* SPDX-License-Identifier: Apache-2.0
 *
 * Host functions that go to the driver as functions of the shim's: which are, what is passed on, and the record of when
 * they ran, whichever is done first, the call or the function. The test plays the driver's thread.
 */
#include "tests/record/recording.h"

#include <algorithm>
#include <cerrno>

extern "C" {
#include "interpose/driver/driver.h"
#include "interpose/record/hostfunc.h"
#include "interpose/record/recorder.h"
#include "interpose/state/capture.h"
}

namespace
{

std::vector<std::string> g_ran;
CUstreamCaptureStatus g_status;
CUresult g_answer;
CUstream g_asked;

void function(void *data)
{
    g_ran.push_back("function " + std::to_string(uintptr_t(data)));
}
void callback(CUstream stream, CUresult status, void *data)
{
    g_ran.push_back("callback " + std::to_string(uintptr_t(stream)) + " " + std::to_string(int(status)) + " " +
                    std::to_string(uintptr_t(data)));
}
CUresult is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    g_asked = stream;
    *status = g_status;
    return g_answer;
}

class HostFunctions : public Recording
{
protected:
    using Ran = std::vector<std::string>;
    void SetUp() override
    {
        Recording::SetUp();
        g_ran.clear();
        g_status = CU_STREAM_CAPTURE_STATUS_NONE;
        g_answer = CUDA_SUCCESS;
        driver_real[API_cuStreamIsCapturing][0] = reinterpret_cast<void *>(is_capturing);
        before_ = thread_self;
        thread_self = &thread_;
    }
    void TearDown() override
    {
        driver_real[API_cuStreamIsCapturing][0] = nullptr;
        thread_self = before_;
        hostfunc_after_fork();
        Recording::TearDown();
    }
    struct call launch(CUresult result = CUDA_SUCCESS)
    {
        struct call call = made(API_cuLaunchHostFunc, PTDS_OP_HOST_FUNCTION);
        call.stream_uid = 11, call.target_uid = 12;
        call.result = result;
        return call;
    }
    /* As the driver gets it. */
    struct Passed {
        CUhostFn function = ::function;
        void *data = reinterpret_cast<void *>(5);
        bool is_own() const
        {
            return function == ::function && data == reinterpret_cast<void *>(5);
        }
        void run() const
        {
            function(data);
        }
    };
    static Passed wrap(struct call *call, CUstream stream = CU_STREAM_LEGACY)
    {
        Passed passed;
        hostfunc_wrap(call, stream, &passed.function, &passed.data);
        return passed;
    }
    static constexpr uintptr_t kCreated = 0x40;
    struct thread *before_ = nullptr;
};

TEST_F(HostFunctions, RunWithTheirOwnData)
{
    for (bool first : {true, false}) {
        struct call call = launch();
        Passed passed = wrap(&call);
        EXPECT_FALSE(passed.is_own());
        errno = ENOTTY;
        if (first)
            passed.run();
        hostfunc_put(&call);
        if (!first)
            passed.run();
        EXPECT_EQ(ENOTTY, errno);
        EXPECT_EQ(Ran{"function 5"}, g_ran);
        EXPECT_EQ(first ? 1u : 2u, all<ptds_rec_HOST_RUN>(PTDS_REC_HOST_RUN).size());
        auto run = last<ptds_rec_HOST_RUN>(PTDS_REC_HOST_RUN);
        EXPECT_EQ(1000u, run.enter);
        EXPECT_EQ(7u, run.thread);
        EXPECT_EQ(11u, run.stream);
        EXPECT_EQ(12u, run.target);
        EXPECT_EQ(3u, run.context);
        EXPECT_NE(0u, run.stack);
        EXPECT_EQ(thread_tid(), run.tid);
        EXPECT_NE(0u, run.begin);
        EXPECT_LE(run.begin, run.end);
        g_ran.clear();
    }
}

TEST_F(HostFunctions, ThatAreNotRecorded)
{
    struct call call = launch();
    call.enter = 0;
    EXPECT_TRUE(wrap(&call).is_own());
    call.enter = 1000;
    recorder_running = 2;
    EXPECT_TRUE(wrap(&call).is_own());
    recorder_running = 1;
    Passed none;
    none.function = nullptr;
    hostfunc_wrap(&call, CU_STREAM_LEGACY, &none.function, &none.data);
    EXPECT_EQ(nullptr, none.function);
    EXPECT_EQ(nullptr, call.hostfunc);
    hostfunc_put(&call);
    EXPECT_EQ(0u, all<ptds_rec_HOST_RUN>(PTDS_REC_HOST_RUN).size());
}

/* Whatever was refused is run by nobody: its place is the next one's. */
TEST_F(HostFunctions, ThatAreRefused)
{
    struct call refused = launch(CUDA_ERROR_INVALID_VALUE), next = launch();
    Passed first = wrap(&refused);
    hostfunc_put(&refused);
    Passed second = wrap(&next);
    EXPECT_EQ(first.data, second.data);
    second.run();
    hostfunc_put(&next);
    EXPECT_EQ(1u, all<ptds_rec_HOST_RUN>(PTDS_REC_HOST_RUN).size());
}

/* One that is captured may run many times: it stays the program's own. */
TEST_F(HostFunctions, InCaptures)
{
    const CUstream created = CUstream(kCreated);
    struct call call = launch();
    EXPECT_FALSE(wrap(&call, created).is_own());
    EXPECT_EQ(created, g_asked);
    g_status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    EXPECT_TRUE(wrap(&call, created).is_own());
    g_status = CU_STREAM_CAPTURE_STATUS_NONE;
    g_answer = CUDA_ERROR_ILLEGAL_STATE;
    EXPECT_TRUE(wrap(&call, created).is_own());
    g_answer = CUDA_SUCCESS;
    captures_open = 1;
    EXPECT_TRUE(wrap(&call, created).is_own());
    EXPECT_FALSE(wrap(&call, CU_STREAM_LEGACY).is_own()) << "which is in none";
    EXPECT_FALSE(wrap(&call, nullptr).is_own());
    call.twin = 1;
    EXPECT_TRUE(wrap(&call, nullptr).is_own()) << "that is the thread's own";
    captures_open = 0;
    EXPECT_FALSE(wrap(&call, nullptr).is_own());
    EXPECT_EQ(CU_STREAM_PER_THREAD, g_asked);
    driver_real[API_cuStreamIsCapturing][0] = nullptr;
    EXPECT_TRUE(wrap(&call, created).is_own());
}

/* A callback of the default stream gets the stream that the program named, recorded or not. */
TEST_F(HostFunctions, Callbacks)
{
    for (bool recorded : {true, false}) {
        recorder_running = recorded ? 1 : 2;
        struct call call = launch();
        CUstreamCallback passed = callback;
        void *data = reinterpret_cast<void *>(6);
        hostfunc_wrap_callback(&call, CU_STREAM_LEGACY, &passed, &data);
        ASSERT_NE(callback, passed);
        passed(CUstream(0x99), CUDA_ERROR_LAUNCH_FAILED, data);
        hostfunc_put(&call);
        EXPECT_EQ((Ran{"callback 1 719 6"}), g_ran);
        g_ran.clear();
        CUstreamCallback other = callback;
        void *others = nullptr;
        hostfunc_wrap_callback(&call, CUstream(kCreated), &other, &others);
        EXPECT_EQ(recorded, other != callback) << "a created one gets itself anyway";
        hostfunc_put(&call);
        other = nullptr;
        hostfunc_wrap_callback(&call, CU_STREAM_LEGACY, &other, &others);
        EXPECT_EQ(nullptr, other);
    }
    recorder_running = 1;
    EXPECT_EQ(1u, all<ptds_rec_HOST_RUN>(PTDS_REC_HOST_RUN).size());
}

/* Each pending one has a place of its own: more than a block of them, and they are used again. */
TEST_F(HostFunctions, ManyAtOnce)
{
    std::vector<struct call> calls(700, launch());
    std::vector<Passed> passed;
    std::vector<void *> places;
    for (struct call &call : calls) {
        passed.push_back(wrap(&call));
        places.push_back(passed.back().data);
        hostfunc_put(&call);
    }
    std::sort(places.begin(), places.end());
    EXPECT_EQ(places.end(), std::unique(places.begin(), places.end()));
    for (const Passed &one : passed)
        one.run();
    EXPECT_EQ(700u, g_ran.size());
    EXPECT_EQ(700u, all<ptds_rec_HOST_RUN>(PTDS_REC_HOST_RUN).size());
    struct call again = launch();
    EXPECT_TRUE(std::binary_search(places.begin(), places.end(), wrap(&again).data));
}

} // namespace
