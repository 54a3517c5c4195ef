/* SPDX-License-Identifier: Apache-2.0
 *
 * Small random traces with what the program asked for and what legacy order adds, as transitive closures over all calls.
 */
#ifndef PTDS_TESTS_ANALYSIS_RANDOM_TRACE_H
#define PTDS_TESTS_ANALYSIS_RANDOM_TRACE_H

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/analysis/random_choice.h"

namespace ptds
{

enum Certainty { NO, MAYBE, SURE };

struct Access {
    int memory, offset, size; /* size 0: a kernel's, from offset on */
    char kind;                /* R W U */
};

struct Node {
    bool host = false, free = false, opaque = false, group = false, legacy = false;
    bool waits = false, to_host = false;   /* the host knows more when it has returned; writes the host's memory */
    bool tells = false;                    /* a host function */
    int lane = 0, thread = 0, context = 1; /* lane: legacy ones are threads' own */
    std::string stream;
    uint64_t enter = 0, leave = 0;
    size_t line = 0; /* where in the text its line begins */
    std::vector<Access> accesses;
};

using Order = std::vector<uint64_t>; /* bit j of [i]: i comes before j */

inline void Close(Order *order)
{
    for (size_t k = 0; k < order->size(); k++)
        for (size_t i = 0; i < order->size(); i++)
            if ((*order)[i] >> k & 1)
                (*order)[i] |= (*order)[k];
}

inline bool Before(const Order &order, size_t a, size_t b)
{
    return order[a] >> b & 1;
}

inline Certainty Conflict(const Access &a, const Access &b)
{
    if (a.memory != b.memory || (a.kind == 'R' && b.kind == 'R'))
        return NO;
    if (a.size == 0 || b.size == 0)
        return MAYBE; /* a kernel's: who knows */
    return a.offset >= b.offset + b.size || b.offset >= a.offset + a.size ? NO : SURE;
}

inline Certainty Conflict(const Node &a, const Node &b)
{
    bool a_touches = a.opaque || !a.accesses.empty(), b_touches = b.opaque || !b.accesses.empty();
    Certainty worst = !a.free && !b.free && ((a.opaque && b_touches) || (b.opaque && a_touches)) ? MAYBE : NO;
    for (const Access &one : a.accesses)
        for (const Access &two : b.accesses)
            worst = std::max(worst, Conflict(one, two));
    return worst;
}

/* A random trace, its text, and both orders. */
class Random : private RandomChoice
{
public:
    explicit Random(uint32_t seed) : RandomChoice(seed)
    {
        for (int i = 0; i < MEMORIES; i++)
            text += "1@0 alloc m=M" + std::to_string(i) + " ptr=" + std::to_string(0x10000 * (i + 1)) + " bytes=1024\n";
        /* now and then a long one, in which the same streams meet again and again */
        size_t calls = seed % 16 == 0 ? 20 + Pick(36) : 3 + Pick(14);
        while (nodes.size() < calls)
            Step();
        explicit_order.resize(nodes.size());
        full_order.resize(nodes.size());
        for (auto &arc : explicit_arcs_)
            explicit_order[arc.first] |= uint64_t{1} << arc.second;
        HostOrder();
        full_order = explicit_order;
        for (auto &arc : implicit_arcs_)
            full_order[arc.first] |= uint64_t{1} << arc.second;
        for (size_t a = 0; a < nodes.size(); a++)
            for (size_t b = a + 1; b < nodes.size(); b++)
                if (nodes[a].group && nodes[b].group && nodes[a].context == nodes[b].context &&
                    (nodes[a].legacy || nodes[b].legacy))
                    full_order[a] |= uint64_t{1} << b;
        base = explicit_order;
        Close(&explicit_order);
        Close(&full_order);
    }

    std::string text;
    std::vector<Node> nodes;
    Order base, explicit_order, full_order;

private:
    enum { MEMORIES = 3, THREADS = 3, LANES = 7 };

    Node *Add(int thread, const std::string &call, int duration)
    {
        now_ += 1 + Pick(2);
        nodes.emplace_back();
        Node *node = &nodes.back();
        node->thread = thread;
        node->enter = now_;
        node->leave = now_ + static_cast<uint64_t>(duration);
        node->line = text.size();
        text += std::to_string(thread) + "@" + std::to_string(now_) +
                (duration != 0 ? "+" + std::to_string(duration) : "") + " " + call + "\n";
        free_at_[thread] = node->leave;
        return node;
    }

    /* A stream for the thread; its lane is 0.. for named streams, 100 + thread for legacy. */
    std::string Stream(int thread, int *lane, bool *group, bool *legacy)
    {
        static const char *const names[LANES] = {"L", "L", "L", "B1", "B2", "N1", "P"};
        size_t which = Pick(LANES);
        *legacy = which < 3;
        *group = which != 5;
        *lane = *legacy ? 100 + thread : which == 6 ? 200 + thread : static_cast<int>(which);
        return which == 6 ? "P" + std::to_string(thread) : names[which];
    }

    void Submit(size_t at, int lane, bool group, bool legacy, const std::string &stream)
    {
        Node &node = nodes[at];
        node.lane = lane;
        node.group = group;
        node.legacy = legacy;
        node.stream = stream;
        for (size_t before = 0; before < at; before++)
            if (!nodes[before].host && nodes[before].lane == lane)
                explicit_arcs_.push_back({before, at});
    }

    std::string Launch(Node *made)
    {
        std::string args, parameters;
        bool either = Pick(4) == 0;
        for (size_t i = Pick(3); i-- > 0;) {
            Access access = {static_cast<int>(Pick(MEMORIES)), static_cast<int>(Pick(3) == 0 ? 512 : 0), 0,
                             either ? 'U' : "RW"[Pick(2)]};
            if (gone_[access.memory])
                continue;
            made->accesses.push_back(access);
            args += (args.empty() ? "" : ",") + ("M" + std::to_string(access.memory)) + "+" + std::to_string(access.offset);
            parameters += access.kind == 'R' ? "PKi" : "Pi";
        }
        made->opaque = Pick(12) == 0;
        /* the same parameter twice would be a back reference: pointers to different types avoid it */
        std::string name = "k" + std::to_string(args.size());
        if (made->accesses.size() == 2 && !either) {
            parameters = made->accesses[0].kind == 'R' ? "PKi" : "Pi";
            parameters += made->accesses[1].kind == 'R' ? "PKf" : "Pf";
        }
        name = either                   ? "user" + std::to_string(made->accesses.size())
               : made->accesses.empty() ? "_Z5emptyv"
                                        : "_Z1k" + parameters;
        return " k=" + name + (args.empty() ? "" : " args=" + args) + (made->opaque ? " opaque" : "");
    }

    void Work(int thread)
    {
        int lane;
        bool group, legacy;
        std::string stream = Stream(thread, &lane, &group, &legacy);
        Node made;
        std::string call;
        size_t what = Pick(8);
        bool waits = what == 7 && lane != 3 && lane != 4 && lane != 5;
        int memory = static_cast<int>(Pick(MEMORIES));
        if (what >= 3 && !gone_[memory]) {
            Access access = {memory, static_cast<int>(Pick(3)) * 256, 256, 'W'};
            made.accesses.push_back(access);
            std::string place = "M" + std::to_string(memory) + "+" + std::to_string(access.offset) + " bytes=256";
            if (waits) /* a synchronous copy back: reads, and the host waits for its own stream */
                made.accesses[0].kind = 'R';
            call = waits ? "copy s=" + stream + (stream[0] == 'P' ? " twin" : "") +
                               " implicit dst=M0 from=device to=pageable src=" + place
                         : "memset s=" + stream + " dst=" + place;
            if (waits)
                call = "copy s=" + stream + (stream[0] == 'P' ? " twin" : "") +
                       " implicit ptr=" + std::to_string(0x900000 + 0x1000 * nodes.size()) +
                       " from=device to=pageable src=" + place;
        } else if (what >= 3 && nodes.size() % 5 == 0) {
            waits = false;
            made.tells = made.opaque = true;
            call = "host-function s=" + stream + " opaque";
        } else {
            waits = false;
            call = "launch s=" + stream + Launch(&made) + " site=line" + std::to_string(nodes.size() % 5);
        }
        Node *node = Add(thread, call, waits ? static_cast<int>(Pick(4)) + 1 : 0);
        node->accesses = made.accesses;
        node->opaque = made.opaque;
        node->tells = made.tells;
        size_t at = nodes.size() - 1;
        Submit(at, lane, group, legacy, stream);
        returns_at_[at] = nodes[at].waits = nodes[at].to_host = waits;
    }

    void Event(int thread)
    {
        int lane, event = static_cast<int>(Pick(2));
        bool group, legacy, record = Pick(2) == 0;
        std::string stream = Stream(thread, &lane, &group, &legacy);
        if (!record && recorded_.count(event) == 0)
            return;
        Add(thread, (record ? "record s=" : "wait s=") + stream + " e=E" + std::to_string(event), 0);
        size_t at = nodes.size() - 1;
        Submit(at, lane, group, legacy, stream);
        if (record)
            recorded_[event] = at;
        else
            explicit_arcs_.push_back({recorded_[event], at});
    }

    void Sync(int thread)
    {
        int lane, memory = static_cast<int>(Pick(MEMORIES)), duration = static_cast<int>(Pick(5)) + 1;
        bool group, legacy;
        std::string stream = Stream(thread, &lane, &group, &legacy);
        size_t what = Pick(5), at = nodes.size();
        if (what == 4 && gone_[memory])
            what = 0;
        if (what == 3 && recorded_.count(0) == 0)
            what = 0;
        std::string call = what <= 1   ? "sync s=" + stream
                           : what == 2 ? "ctx-sync"
                           : what == 3 ? "event-sync e=E0"
                                       : "free m=M" + std::to_string(memory);
        Node *node = Add(thread, call, duration);
        node->host = true;
        node->stream = what <= 1 ? stream : what == 4 ? "free" : "";
        returns_at_[at] = node->waits = true;
        if (what == 4) {
            node->free = gone_[memory] = true;
            node->accesses.push_back({memory, 0, 1024, 'W'});
        }
        for (size_t before = 0; before < at; before++) {
            const Node &one = nodes[before];
            if (one.host)
                continue;
            if (what <= 1 && one.lane == lane)
                explicit_arcs_.push_back({before, at});
            else if (what <= 1 && legacy && one.group)
                implicit_arcs_.push_back({before, at});
            else if (what == 2 || what == 4 || (what == 3 && before == recorded_[0]))
                explicit_arcs_.push_back({before, at});
        }
    }

    /* A call that waited, and has returned, comes before all calls entered later. */
    void HostOrder()
    {
        for (size_t a = 0; a < nodes.size(); a++)
            for (size_t b = a + 1; b < nodes.size(); b++)
                if (returns_at_.count(a) != 0 && returns_at_[a] && nodes[a].leave <= nodes[b].enter)
                    explicit_order[a] |= uint64_t{1} << b;
    }

    void Step()
    {
        int thread = static_cast<int>(Pick(THREADS)) + 1;
        now_ = std::max(now_, free_at_[thread]);
        size_t what = Pick(10);
        if (what < 6)
            Work(thread);
        else if (what < 8)
            Event(thread);
        else
            Sync(thread);
    }

    uint64_t now_ = 1;
    std::map<int, uint64_t> free_at_;
    std::map<int, bool> gone_;
    std::map<int, size_t> recorded_;
    std::map<size_t, bool> returns_at_;
    std::vector<std::pair<size_t, size_t>> explicit_arcs_, implicit_arcs_;
};

} // namespace ptds

#endif
