/* SPDX-License-Identifier: Apache-2.0
 *
 * The order that a legacy default stream gives a program, by plain reachability: no clocks, no promises, nothing of the
 * guard's. The table is the one that a GPU gave: who waits for whom when the second operation is issued.
 */
#ifndef PTDS_TESTS_GUARD_LEGACY_H
#define PTDS_TESTS_GUARD_LEGACY_H

#include "tests/guard/program.h"

namespace ptds_test
{

class Legacy
{
public:
    explicit Legacy(const World &world) : world_(world)
    {
    }

    /* The next call, as number `i`. Calls come in order; those that a program may not make are left out by the caller. */
    void add(int i, const Call &call);

    /* What the device orders before operation i. */
    Set streams_before(int i) const
    {
        return streams_[i];
    }
    /* The same, and what the host had waited for when the call was made. */
    Set before(int i) const
    {
        return all_[i];
    }
    /* What the host's wait that is call i waits for, and all before that. */
    Set waited(int i) const
    {
        return waited_[i];
    }
    /* The same without what an earlier wait of the host's ordered. */
    Set waited_by_streams(int i) const
    {
        return streams_[i];
    }

private:
    bool same_stream(int j, int stream) const;
    bool ordered(int j, int stream) const;
    Set with_all_before(Set set) const;
    Set waits_for(const Call &call) const;
    Set with_streams_before(Set set) const;
    void wait(int i, const Call &call);

    const World &world_;
    int count_ = 0;
    Call calls_[kMostCalls];
    uint8_t life_[kMostCalls] = {}; /* of the call's stream: one more after each destruction */
    uint8_t lives_[64] = {};        /* by stream, now */
    Set operations_ = 0;            /* those of the calls that run on the device */
    Set streams_[kMostCalls] = {};
    Set all_[kMostCalls] = {};
    Set waited_[kMostCalls] = {};
    Set host_ = 0;                          /* what the host has waited for */
    int event_[kEvents] = {-1, -1, -1, -1}; /* the call that recorded it last */
    int begun_[16] = {};                    /* by thread: the SyncBegin that has not ended */
};

} // namespace ptds_test

#endif
