/* SPDX-License-Identifier: Apache-2.0
 *
 * The guard's decision held against legacy order, for every program of up to four calls: two threads with 0 and 0x2 each,
 * two blocking and two non-blocking streams, two memories of which the host can touch one, an event. Threads and streams
 * are named by their first use, so each program is tried once; its beginnings are programs of their own, so only the last
 * call is looked at. PTDS_DEEP=1: all ways of touching both memories in four calls, and five calls of the smaller alphabet.
 */
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>

#include "tests/guard/check.h"
#include "tests/guard/two_threads.h"

namespace ptds_test
{
namespace
{

bool checked_last(const Call &call)
{
    return call.op != Op::Close && call.op != Op::Wait && !(call.op == Op::Work && call.empty());
}

/* What a call may be, but for its thread and stream. */
std::vector<Call> alphabet(bool all_ways)
{
    std::vector<Call> calls;
    auto touch = [&calls](Mode first, Mode second) {
        Call call;
        call.all_of(0, first);
        call.all_of(1, second);
        calls.push_back(call);
    };
    touch(kNone, kNone);
    touch(kRead, kNone);
    touch(kWrite, kNone);
    touch(kNone, kWrite);
    if (all_ways) {
        touch(kNone, kRead);
        touch(kRead, kRead);
        touch(kRead, kWrite);
        touch(kWrite, kRead);
        touch(kWrite, kWrite);
    }
    Call call;
    call.opaque = true;
    call.join = Join::All;
    calls.push_back(call);
    for (Op op : {Op::Record, Op::Wait, Op::Sync, Op::EventSync, Op::Close}) {
        call = Call();
        call.op = op;
        call.join = op == Op::Record || op == Op::Sync ? Join::Host : Join::Nothing;
        calls.push_back(call);
    }
    return calls;
}

class Enumeration
{
public:
    Enumeration(size_t length, bool all_ways, bool early) : length_(length), alphabet_(alphabet(all_ways))
    {
        program_.world.add_domain(0, 2, 2, 2);
        program_.world.hosts = 2;
        program_.world.early = early;
        checks_.all = false;
        checks_.host_order = !getenv("PTDS_HOST_ORDER") || atoi(getenv("PTDS_HOST_ORDER"));
        checks_.host_waits = !getenv("PTDS_HOST_WAITS") || atoi(getenv("PTDS_HOST_WAITS"));
    }

    void run()
    {
        extend(0, false);
        report();
    }

private:
    /* Used names so far: bit by stream; and whether the event is recorded. */
    void extend(unsigned used, bool recorded)
    {
        const bool last = program_.calls.size() + 1 == length_;
        for (int stream = 0; stream < kStreams; stream++) {
            if (!in_turn(stream, used))
                continue;
            for (Call call : alphabet_) {
                const bool closes = call.op == Op::Close, created = stream >= kBlocking0;
                if ((call.op == Op::Wait && !recorded) || (closes && (!created || !(used >> stream & 1))))
                    continue;
                if (call.op == Op::EventSync && (!recorded || stream != kZero0))
                    continue; /* it names no stream */
                if (last && !checked_last(call))
                    continue;
                call.stream = stream;
                call.thread = stream == kZero1 || stream == kPerThread1;
                program_.calls.push_back(call);
                if (last)
                    try_it();
                else
                    extend(used | 1u << stream, recorded || call.op == Op::Record);
                program_.calls.pop_back();
            }
        }
    }

    void try_it()
    {
        const Verdict v = check(program_, checks_);
        programs_++;
        waits_ += v.waits;
        spare_ += v.spare;
        again_ += v.again;
        if (v.fault == Fault::None)
            return;
        auto &known = faults_[v.fault];
        if (!known.first++)
            known.second = describe(program_, v);
        static FILE *file = getenv("PTDS_FAILURES") ? fopen(getenv("PTDS_FAILURES"), "w") : nullptr;
        if (file && known.first < 100000)
            fprintf(file, "%s\n", describe(program_, v).c_str());
    }

    void report() const
    {
        printf("%zu calls: %ld programs, %ld waits in the last call, %ld of them spare; %ld operations by a claim\n",
               length_, programs_, waits_, spare_, again_);
        for (const auto &[fault, found] : faults_)
            ADD_FAILURE() << found.first << " programs; the first: " << found.second;
        if (length_ > 1) {
            EXPECT_GT(waits_, 0);
        }
    }

    const size_t length_;
    const std::vector<Call> alphabet_;
    Program program_;
    Checks checks_;
    long programs_ = 0, waits_ = 0, spare_ = 0, again_ = 0;
    std::map<Fault, std::pair<long, std::string>> faults_;
};

bool deep()
{
    return getenv("PTDS_DEEP") && atoi(getenv("PTDS_DEEP"));
}

TEST(Exhaustive, UpToThreeCalls)
{
    for (size_t length = 1; length <= 3; length++)
        for (bool early : {false, true})
            Enumeration(length, true, early).run();
}

TEST(Exhaustive, FourCalls)
{
    Enumeration(4, true, false).run();
}

TEST(Exhaustive, FiveCalls)
{
    if (!deep())
        GTEST_SKIP() << "PTDS_DEEP=1 runs it";
    Enumeration(5, false, false).run();
}

} // namespace
} // namespace ptds_test
