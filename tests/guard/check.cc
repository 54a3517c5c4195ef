/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/guard/check.h"

#include "tests/guard/executor.h"
#include "tests/guard/legacy.h"

namespace ptds_test
{
namespace
{

bool is_operation(Op op)
{
    return op == Op::Work || op == Op::Record || op == Op::Wait;
}

bool is_host_wait(Op op)
{
    return op == Op::Sync || op == Op::SyncBegin;
}

class Checker
{
public:
    Checker(const Program &program, const Checks &checks)
        : program_(program), checks_(checks), legacy_(program.world), executor_(program.world, checks.strict)
    {
    }

    Verdict run()
    {
        const int count = program_.calls.size();
        for (int i = 0; i < count && verdict_.fault == Fault::None; i++)
            step(i, checks_.all || i == count - 1);
        verdict_.wide = executor_.too_wide();
        verdict_.again = executor_.again();
        return verdict_;
    }

private:
    void step(int i, bool checked)
    {
        const Call &call = program_.calls[i];
        executor_.call(i, call, &outcome_);
        if (!outcome_.made)
            return;
        legacy_.add(i, call);
        made_ |= is_operation(call.op) ? one(i) : 0;
        if (outcome_.error) {
            fail(Fault::Plan, -1, i);
            verdict_.error = outcome_.error;
        }
        if (verdict_.fault != Fault::None)
            return;
        if (!checked) {
            excuse(outcome_.real & ~(is_operation(call.op) ? legacy_.before(i) : legacy_.waited(i)));
            return;
        }
        if (is_operation(call.op)) {
            verdict_.operations++;
            const Set promised = checks_.host_order ? legacy_.before(i) : legacy_.streams_before(i);
            if (checks_.strict)
                compare_strictly(i, needed(i, promised));
            else
                compare(i, needed(i, promised), legacy_.before(i));
        } else if (call.op != Op::Close && call.op != Op::SyncEnd) {
            /* What an earlier wait of the host's had to bring is that one's affair. */
            compare(i, is_host_wait(call.op) ? needed(i, legacy_.waited_by_streams(i)) : 0, legacy_.waited(i));
        }
    }

    /* Which of the promised calls must really come before call i. */
    Set needed(int i, Set promised) const
    {
        const Call &call = program_.calls[i];
        Set need = 0;
        for (int j = 0; j < i; j++) {
            const Call &x = program_.calls[j];
            if (!(promised >> j & 1) || !(made_ >> j & 1) || x.op != Op::Work)
                continue;
            if (joins(call, x) || (call.op == Op::Work && conflict(x, call)))
                need |= one(j);
        }
        return need;
    }

    /* Which of all earlier calls use memory that call i changes, or change what it uses. */
    Set conflicting(int i) const
    {
        const Call &call = program_.calls[i];
        Set found = 0;
        for (int j = 0; j < i; j++) {
            const Call &x = program_.calls[j];
            if (made_ >> j & 1 && x.op == Op::Work && call.op == Op::Work && !x.opaque && !call.opaque && conflict(x, call))
                found |= one(j);
        }
        return found;
    }

    void compare_strictly(int i, Set promised)
    {
        const Set conflicts = conflicting(i), forgotten = conflicts & ~legacy_.before(i);
        compare(i, promised | conflicts, made_);
        if (verdict_.fault != Fault::None || program_.has_parts())
            return; /* the guard knows one span of a lane's parts */
        /* Once a wait was made for one such conflict, legacy's waits may order another one by way of it. */
        const bool silent = !said_ && !outcome_.unpromised && (forgotten & ~outcome_.without) != 0;
        if (silent || (outcome_.unpromised && !forgotten))
            fail(Fault::Said, -1, i);
        said_ |= outcome_.unpromised;
    }

    bool joins(const Call &call, const Call &x) const
    {
        return call.join == Join::All || (call.join == Join::Host && of_host(program_.world, x));
    }

    void compare(int i, Set need, Set allowed)
    {
        const Set lost = need & ~outcome_.real, added = outcome_.real & ~(allowed | excess_);
        if (lost)
            lose(i, __builtin_ctzll(lost));
        else if (added && !checks_.host_waits && !is_operation(program_.calls[i].op))
            excess_ |= added;
        else if (added && outcome_.by_legacy)
            excuse(added);
        else if (added && !executor_.too_wide())
            fail(is_operation(program_.calls[i].op) ? Fault::Minimal : Fault::Waits, __builtin_ctzll(added), i);
        else
            weigh(i, need);
    }

    /* On a 0x2 that was used before any default-stream work, nothing finer can be recorded. */
    void excuse(Set added)
    {
        excess_ |= outcome_.by_legacy ? added : 0;
    }

    void lose(int i, int earlier)
    {
        const bool host = is_operation(program_.calls[i].op) && !(legacy_.streams_before(i) >> earlier & 1);
        const bool join = !conflict(program_.calls[earlier], program_.calls[i]);
        fail(host ? Fault::Host : join ? Fault::Join : Fault::Sound, earlier, i);
    }

    /* Are the waits worth their while? */
    void weigh(int i, Set need)
    {
        verdict_.waits += outcome_.waits.size();
        if (outcome_.waits.empty())
            return;
        /* A join may wait for events and for what touches nothing. */
        const Call &call = program_.calls[i];
        const bool plain = call.op == Op::Work && !call.opaque && call.join == Join::Nothing;
        if (!need && plain && !program_.has_parts() && checks_.needless) {
            fail(Fault::Needless, -1, i);
            return;
        }
        for (size_t w = 0; w < outcome_.waits.size(); w++) {
            Set rest = outcome_.without;
            for (size_t v = 0; v < outcome_.waits.size(); v++)
                rest |= v == w ? 0 : outcome_.waits[v];
            verdict_.spare += !(need & ~rest);
        }
    }

    void fail(Fault fault, int earlier, int later)
    {
        verdict_.fault = fault;
        verdict_.earlier = earlier;
        verdict_.later = later;
    }

    const Program &program_;
    const Checks &checks_;
    Legacy legacy_;
    Executor executor_;
    Outcome outcome_;
    Set made_ = 0;
    bool said_ = false;
    Set excess_ = 0; /* what the host waited for without need, where that is no fault */
    Verdict verdict_;
};

} // namespace

const char *name(Fault fault)
{
    static const char *const kNames[] = {"none",
                                         "a plan that can't be carried out",
                                         "order lost",
                                         "order lost that a host's wait gave",
                                         "the host may conclude too much",
                                         "order that legacy has not",
                                         "the host waits for what legacy does not",
                                         "a wait that says of itself what is not so",
                                         "needless waits"};
    return kNames[int(fault)];
}

Verdict check(const Program &program, const Checks &checks)
{
    return Checker(program, checks).run();
}

namespace
{

class Shrinker
{
public:
    Shrinker(const Program &program, const Checks &checks, Fault fault) : best_(program), checks_(checks), fault_(fault)
    {
        checks_.all = true;
        const Verdict first = check(best_, checks_);
        if (first.fault == fault)
            best_.calls.resize(first.later + 1);
    }

    Program run()
    {
        while (fewer_calls() || plainer_world() || plainer_calls())
            ;
        return best_;
    }

private:
    bool keep(const Program &smaller)
    {
        if (check(smaller, checks_).fault != fault_)
            return false;
        best_ = smaller;
        return true;
    }

    bool fewer_calls()
    {
        for (size_t i = 0; i < best_.calls.size(); i++) {
            Program less = best_;
            less.calls.erase(less.calls.begin() + i);
            if (keep(less))
                return true;
        }
        return false;
    }

    bool plainer_world()
    {
        Program less = best_;
        less.world.dummies = 0;
        less.world.early = false;
        less.world.shared = false;
        less.world.lanes = 1;
        less.world.hosts = 0;
        if (!same(less) && keep(less))
            return true;
        for (int what = 0; what < 5; what++) {
            less = best_;
            World &w = less.world;
            w.dummies = what == 0 ? 0 : w.dummies;
            w.early = what == 1 ? false : w.early;
            w.shared = what == 2 ? false : w.shared;
            w.lanes = what == 3 && w.lanes > 1 ? w.lanes - 1 : w.lanes;
            w.hosts = what == 4 ? w.hosts & (w.hosts - 1) : w.hosts;
            if (!same(less) && keep(less))
                return true;
        }
        return false;
    }

    bool same(const Program &other) const
    {
        const World &a = best_.world, &b = other.world;
        return a.dummies == b.dummies && a.early == b.early && a.shared == b.shared && a.lanes == b.lanes &&
               a.hosts == b.hosts;
    }

    bool plainer_calls()
    {
        for (size_t i = 0; i < best_.calls.size(); i++) {
            const Call was = best_.calls[i];
            for (int what = 0; what < 3 + 2 * kMemories; what++) {
                Program less = best_;
                Call &call = less.calls[i];
                if (what == 0 && was.opaque)
                    call.opaque = false, call.join = Join::Nothing;
                else if (what == 1 && was.join != Join::Nothing && !was.opaque)
                    call.join = Join::Nothing;
                else if (what == 2 && was.op != Op::Work && was.op <= Op::Wait)
                    call.op = Op::Work, call.join = Join::Nothing;
                else if (what >= 3 && was.touch[(what - 3) / 2][(what - 3) % 2])
                    call.touch[(what - 3) / 2][(what - 3) % 2] = kNone;
                else
                    continue;
                if (keep(less))
                    return true;
            }
        }
        return false;
    }

    Program best_;
    Checks checks_;
    Fault fault_;
};

/* Threads, streams, events and memories by their first use, so that two programs that are the same look so. */
Program renamed(const Program &program)
{
    Program p = program;
    std::vector<int> threads(16, -1), memories(kMemories, -1), events(kEvents, -1);
    int thread = 0, memory = 0, event = 0;
    std::vector<Stream> streams;
    std::vector<int> stream(p.world.streams.size(), -1);
    auto number = [](std::vector<int> &names, int old, int &next) {
        if (names[old] < 0)
            names[old] = next++;
        return names[old];
    };
    for (Call &call : p.calls) {
        call.thread = number(threads, call.thread, thread);
        if (stream[call.stream] < 0) {
            Stream s = p.world.streams[call.stream];
            s.thread = number(threads, s.thread, thread);
            s.index = 0;
            for (const Stream &other : streams)
                s.index += other.kind == s.kind && other.domain == s.domain;
            stream[call.stream] = streams.size();
            streams.push_back(s);
        }
        call.stream = stream[call.stream];
        call.event = number(events, call.event, event);
        Call old = call;
        for (int m = 0; m < kMemories; m++) {
            if (!old.touch[m][0] && !old.touch[m][1])
                continue;
            number(memories, m, memory);
        }
    }
    for (int m = 0; m < kMemories; m++)
        number(memories, m, memory);
    p.world.hosts = 0;
    for (int m = 0; m < kMemories; m++)
        p.world.hosts |= (program.world.hosts >> m & 1) << memories[m];
    for (Call &call : p.calls) {
        const Call old = call;
        for (int m = 0; m < kMemories; m++)
            for (int half = 0; half < 2; half++)
                call.touch[memories[m]][half] = old.touch[m][half];
    }
    p.world.streams = streams;
    return p;
}

} // namespace

Program shrink(const Program &program, const Checks &checks, Fault fault)
{
    const Program small = Shrinker(program, checks, fault).run();
    const Program plain = renamed(small);
    Checks all = checks;
    all.all = true;
    return check(plain, all).fault == fault ? plain : small;
}

std::string describe(const Program &program, const Verdict &verdict)
{
    std::string text = std::string(name(verdict.fault)) + ": ";
    if (verdict.error)
        text += std::string(verdict.error) + ", ";
    if (verdict.earlier >= 0)
        text += "call " + std::to_string(verdict.earlier) + " before ";
    return text + "call " + std::to_string(verdict.later) + "\n" + print(program);
}

} // namespace ptds_test
