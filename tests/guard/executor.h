/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a program by the guard's decisions and keeps the order that the device would really have: each lane first in, first
 * out; a wait covers what the other lane had when the mark was recorded, or has now; a program's own wait covers what the
 * event's lane had at the record; a host that waited is waited for by all that follows. Nothing else orders.
 */
#ifndef PTDS_TESTS_GUARD_EXECUTOR_H
#define PTDS_TESTS_GUARD_EXECUTOR_H

#include "tests/guard/program.h"

extern "C" {
#include "interpose/guard/decide/order.h"
}

namespace ptds_test
{

/* What came of one call. */
struct Outcome {
    bool by_legacy = false;      /* a wait is an event on the legacy stream, which covers all that blocks with it */
    bool made = false;           /* the program may make the call, and a lane was free */
    const char *error = nullptr; /* a plan that can't be carried out or says what is not so */
    Set real = 0;                /* what really comes before it; for a host's wait, before its end */
    Set without = 0;             /* the same if the plan's waits were not made */
    std::vector<Set> waits;      /* what each wait covers */
    bool unpromised = false;     /* one of them is said to be for what nothing else orders */
};

class Executor
{
public:
    /* strict: what nothing orders is ordered, too (policy strict). */
    Executor(const World &world, bool strict);
    ~Executor();
    Executor(const Executor &) = delete;
    Executor &operator=(const Executor &) = delete;

    /* A program may make it: an event is recorded before it is used, a thread that waits calls nothing. */
    bool legal(const Call &call) const;
    void call(int i, const Call &call, Outcome *outcome);

    /* A wait had to cover more because a lane had been marked more often than it has marks. */
    bool too_wide() const;

    /* Operations that were not registered by themselves. */
    long again() const
    {
        return again_;
    }

private:
    struct Mark {
        bool recorded = false;
        Set covers = 0;
        moment until = 0;
    };
    struct Lane {
        Set tail = 0; /* what an operation put there now would come after */
        Set own = 0;  /* the lane's operations */
        moment last = 0;
        std::vector<moment> moments;
        enum lane_kind kind = LANE_DEFAULT;
        int domain = 0;
        bool gone = false, eager = false;
        bool unregistered = false; /* operations came again */
        int marked = 0;
        Mark marks[ORDER_MARKS];
    };
    struct Event {
        bool recorded = false;
        Set covers = 0;
        struct recorded carried = {};
    };
    struct HostWait { /* one that has begun */
        bool pending = false;
        int lane = 0;
        Set covers = 0;
        moment until = 0;
        moment ordered[ORDER_LANES];
        struct promise promise = {};
    };

    const std::vector<uint16_t> &lanes_of(int stream);
    int open(int stream);
    void record_mark(int lane, int mark, Outcome *outcome);
    static bool claims_right(const Lane &lane, const Mark &covered, moment until);
    Set legacy_stream_now(int domain) const;
    void make_waits(int lane, const struct order_plan &plan, Outcome *outcome);
    bool may_come_again(const Call &call, const std::vector<uint16_t> &own) const;
    void came_again(int i, int lane, Outcome *outcome);
    void catch_up(const struct order_op *op);
    void operation(int i, const Call &call, Outcome *outcome);
    void close(const Call &call, Outcome *outcome);
    void begin_wait(const Call &call, Outcome *outcome);
    void end_wait(int thread);
    void event_wait(const Call &call, Outcome *outcome);
    void device_wait(const Call &call, Outcome *outcome);
    void reclaim(Outcome *outcome);
    const struct touched *touch(const Call &call);

    const World &world_;
    std::vector<Lane> lanes_;
    std::vector<std::vector<uint16_t>> of_stream_;
    std::vector<int> gone_;
    Event events_[kEvents];
    HostWait host_waits_[16];
    Set finished_ = 0;
    moment last_moment_ = 0;
    long again_ = 0;
    int most_marks_ = 0;
    struct touched touched_;
};

} // namespace ptds_test

#endif
