/* SPDX-License-Identifier: Apache-2.0
 *
 * A thread whose launches go the short way (guard/again.h), as long as nothing is otherwise.
 */
#ifndef PTDS_TESTS_GUARD_LAUNCHER_H
#define PTDS_TESTS_GUARD_LAUNCHER_H

#include <memory>

extern "C" {
#include "interpose/footprint/kernels.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/repeat_launch.h"
}

#include "tests/guard/caller.h"

namespace
{

/* A launch of a kernel without parameters by the calling thread, which is the caller's for a while. */
class Short : public Quick
{
protected:
    void SetUp() override
    {
        Quick::SetUp();
        kernel_.module = &module_;
        kernel_.plain = 1;
        entries_[kernels_place(kFunction)] = {uint64_t(kFunction), &kernel_, kernels_forgotten};
        a_.reset(new Caller(context_));
        a_->thread.kernels = entries_;
        a_->thread.fork_generation = thread_fork_generation;
        before_ = thread_self;
        thread_self = &a_->thread;
        warm(a_.get(), nullptr);
        ASSERT_EQ(1, goes());
    }
    void TearDown() override
    {
        EXPECT_EQ(1, goes()) << "as before";
        thread_self = before_;
    }
    static int goes(CUfunction function = kFunction)
    {
        struct repeat_launch again = {};
        if (!repeat_launch_go(&again, function, nullptr))
            return 0;
        EXPECT_EQ(issue_lanes[thread_self->last_context->lanes[0]].handle, again.target);
        guard_launched_again(&again);
        return 1;
    }
    static constexpr CUfunction kFunction = nullptr;
    struct kernel_entry entries_[KERNELS_MET] = {};
    struct kernel kernel_ = {};
    struct module module_ = {};
    std::unique_ptr<Caller> a_;
    struct thread *before_ = nullptr;
};

/* Sets it for a moment; what goes then? */
template <class T> int with(T *place, T value, int (*ask)())
{
    const T before = *place;
    *place = value;
    const int answer = ask();
    *place = before;
    return answer;
}

} // namespace

#endif
