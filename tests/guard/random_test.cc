/* SPDX-License-Identifier: Apache-2.0
 *
 * The guard's decision held against legacy order, for programs by chance: longer ones, of more threads and streams, with
 * several contexts, several lanes a thread, streams that are destroyed, hosts that wait while others go on. PTDS_PROGRAMS
 * says how many, PTDS_SEED where to begin.
 */
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "tests/guard/check.h"

namespace ptds_test
{
namespace
{

class Chance
{
public:
    explicit Chance(uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15u + 1)
    {
    }
    unsigned below(unsigned limit)
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return (state_ * 0x2545f4914f6cdd1du >> 33) % limit;
    }
    bool one_in(unsigned n)
    {
        return below(n) == 0;
    }

private:
    uint64_t state_;
};

World world(Chance &chance, int threads)
{
    World w;
    const int domains = chance.one_in(4) ? 2 : 1;
    for (int d = 0; d < domains; d++)
        w.add_domain(d, threads, chance.below(4), chance.below(4));
    w.lanes = chance.one_in(3) ? 2 + chance.below(3) : 1;
    w.shared = chance.one_in(8);
    w.early = chance.one_in(3);
    w.dummies = chance.one_in(60) ? 230 + chance.below(26) : 0;
    w.hosts = chance.below(16);
    return w;
}

void touch(Chance &chance, Call &call, unsigned memories)
{
    call.opaque = chance.one_in(14);
    call.marks_host = chance.one_in(2);
    if (chance.one_in(8))
        return;
    for (unsigned n = 1 + chance.below(2); n; n--) {
        auto &memory = call.touch[chance.below(memories)];
        const uint8_t mode = 1 + chance.below(2);
        if (chance.one_in(5))
            memory[chance.below(2)] = mode;
        else
            memory[0] = memory[1] = mode;
    }
}

Program program(uint64_t seed)
{
    Chance chance(seed);
    Program p;
    const int threads = 1 + chance.below(4);
    p.world = world(chance, threads);
    const unsigned memories = 1 + chance.below(kMemories), hosts = chance.one_in(3) ? 0 : 3 + chance.below(12);
    std::vector<int> waits(threads);
    for (unsigned count = 6 + chance.below(35); count; count--) {
        Call call;
        do
            call.stream = chance.below(p.world.streams.size());
        while (p.world.streams[call.stream].kind == StreamKind::PerThread && !chance.one_in(3));
        const Stream &stream = p.world.streams[call.stream];
        const bool own = stream.kind == StreamKind::Legacy || stream.kind == StreamKind::PerThread;
        call.thread = own ? stream.thread : chance.below(threads);
        call.event = chance.below(kEvents);
        call.join = Join(chance.one_in(4) ? chance.below(3) : 0);
        const unsigned what = chance.below(20);
        call.op = what < 11 ? Op::Work : what < 14 ? Op::Record : what < 18 ? Op::Wait : Op::Close;
        if (call.op == Op::Close && !chance.one_in(4))
            call.op = Op::Work;
        if (hosts && chance.one_in(hosts))
            call.op = Op(int(Op::Sync) + chance.below(5));
        if (waits[call.thread] && !chance.one_in(3))
            call.op = Op::SyncEnd;
        waits[call.thread] = call.op == Op::SyncBegin || (waits[call.thread] && call.op != Op::SyncEnd);
        if (call.op >= Op::Sync)
            call.join = p.world.streams[call.stream].kind == StreamKind::NonBlocking ? Join::Nothing : Join::Host;
        if (call.op == Op::Work)
            touch(chance, call, memories);
        if (call.op == Op::Record && hosts && call.join == Join::Nothing)
            call.join = Join::Host; /* the host may ask the event */
        if (call.op == Op::Wait)
            call.join = Join::Nothing; /* what it carries is promised after it */
        if (call.opaque)
            call.join = Join::All; /* what an opaque operation does in any case */
        p.calls.push_back(call);
    }
    return p;
}

/* Most programs are calm: what a lane did before it does again, and seldom does anything change what is promised. So what
 * the lane need not register is most of them. */
Program calm(uint64_t seed)
{
    Chance chance(seed + 0x5eed);
    Program p = program(seed);
    p.world.lanes = 1;
    p.world.hosts &= chance.one_in(2) ? 0 : 15;
    const unsigned memories = 1 + chance.below(kMemories), rare = 3 + chance.below(20);
    for (Call &call : p.calls) {
        if (chance.one_in(rare) || call.op >= Op::Sync)
            continue;
        do
            call.stream = chance.below(p.world.streams.size());
        while (p.world.streams[call.stream].kind != StreamKind::Legacy);
        call.thread = p.world.streams[call.stream].thread;
        call.op = Op::Work;
        call.join = Join::Nothing;
        call.opaque = false;
        for (auto &memory : call.touch)
            memory[0] = memory[1] = kNone;
        for (unsigned n = chance.below(3); n; n--) {
            auto &memory = call.touch[chance.below(memories)];
            memory[0] = memory[1] = 1 + chance.below(2);
        }
    }
    return p;
}

uint64_t number(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, nullptr, 0) : otherwise;
}

/* Different small programs that fail, the shortest first. */
class Failures
{
public:
    void add(const Program &program, const Checks &checks, Fault fault)
    {
        if (count_[fault]++ >= 3000)
            return;
        const Program small = shrink(program, checks, fault);
        const std::string text = describe(small, check(small, checks));
        smallest_.insert({{int(fault), small.calls.size()}, text});
    }

    /* The shortest of each fault; all go to the file that PTDS_FAILURES names. */
    void report() const
    {
        const char *path = getenv("PTDS_FAILURES");
        FILE *file = path ? fopen(path, "w") : nullptr;
        int last = -1;
        for (const auto &[key, text] : smallest_) {
            if (key.first != last)
                ADD_FAILURE() << count_.at(Fault(key.first)) << " programs; the smallest: " << text;
            if (file)
                fprintf(file, "%s\n", text.c_str());
            last = key.first;
        }
        if (file)
            fclose(file);
    }

private:
    std::map<Fault, long> count_;
    std::set<std::pair<std::pair<int, size_t>, std::string>> smallest_;
};

void HoldRandomPrograms(uint64_t count, Checks checks)
{
    const uint64_t first = number("PTDS_SEED", 1);
    checks.needless &= number("PTDS_NEEDLESS", 1) != 0;
    checks.host_order &= number("PTDS_HOST_ORDER", 1) != 0;
    checks.host_waits &= number("PTDS_HOST_WAITS", 1) != 0;
    Failures failures;
    long operations = 0, waits = 0, spare = 0, wide = 0, again = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        const Program p = seed % 2 ? program(seed) : calm(seed);
        const Verdict v = check(p, checks);
        operations += v.operations;
        waits += v.waits;
        spare += v.spare;
        again += v.again;
        wide += v.wide;
        if (v.fault != Fault::None)
            failures.add(p, checks, v.fault);
    }
    printf("%ld operations, %ld of them by a claim, %ld waits, %ld of them spare, %ld programs short of marks\n",
           operations, again, waits, spare, wide);
    EXPECT_GT(again * 10, operations);
    failures.report();
    EXPECT_GT(waits, 0);
}

TEST(Random, OrderIsLegacysWhereDataAsksForIt)
{
    HoldRandomPrograms(number("PTDS_PROGRAMS", 200000), Checks());
}

/* Then any two calls that conflict come in the order in which they were made, whatever their streams. */
TEST(Random, UnderStrictWhatNothingOrdersIsOrdered)
{
    Checks checks;
    checks.strict = true;
    checks.host_waits = false; /* a host waits for what its work now comes after */
    HoldRandomPrograms(number("PTDS_PROGRAMS", 200000) / 4, checks);
}

} // namespace
} // namespace ptds_test
