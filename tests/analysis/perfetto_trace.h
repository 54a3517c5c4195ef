/* SPDX-License-Identifier: Apache-2.0
 *
 * A Perfetto export, taken apart with every number resolved. For the tests of that export.
 */
#ifndef PTDS_TESTS_ANALYSIS_PERFETTO_TRACE_H
#define PTDS_TESTS_ANALYSIS_PERFETTO_TRACE_H

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "analysis/report/edges/edge_feed.h"
#include "tests/analysis/wire.h"

namespace ptds
{

enum { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };

struct Event {
    uint64_t time, type, track;
    std::string name, category;
    std::map<std::string, std::string> arguments;
    std::vector<uint64_t> flows, last_flows;
    int64_t counter;
};

/* A whole trace with every number resolved; a number that was not defined before fails the test. */
class Trace
{
public:
    explicit Trace(const std::string &bytes)
    {
        for (const std::string &block : PerfettoBlocks(bytes)) {
            Wire trace(block);
            for (const WireField &packet : trace.fields) {
                EXPECT_EQ(1u, packet.number);
                Packet(Wire(packet.bytes));
            }
        }
    }

    std::vector<const Event *> On(const std::string &track) const
    {
        std::vector<const Event *> found;
        for (const Event &event : events)
            if (tracks.at(event.track) == track)
                found.push_back(&event);
        return found;
    }
    std::vector<const Event *> Named(const std::string &name) const
    {
        std::vector<const Event *> found;
        for (const Event &event : events)
            if (event.name == name)
                found.push_back(&event);
        return found;
    }

    std::map<uint64_t, std::string> tracks;
    std::map<uint64_t, uint64_t> parents;
    std::map<uint64_t, uint64_t> pids;
    std::map<std::string, std::set<std::pair<uint64_t, uint64_t>>> threads; /* by name: the system's numbers */
    std::vector<Event> events;

private:
    using Names = std::map<uint64_t, std::string>;

    void Define(uint64_t sequence, const Wire &interned)
    {
        for (const WireField &field : interned.fields) {
            Wire entry(field.bytes);
            bool fresh = names_[{sequence, field.number}].emplace(entry.Value(1), entry.Text(2)).second;
            EXPECT_TRUE(fresh) << "a number that was given before: " << entry.Text(2);
        }
    }

    std::string Name(uint64_t sequence, uint32_t kind, uint64_t number)
    {
        const Names &names = names_[{sequence, kind}];
        EXPECT_EQ(1u, names.count(number)) << "kind " << kind << " number " << number;
        return names.count(number) != 0 ? names.at(number) : "";
    }

    void Track(const Wire &track)
    {
        std::string name = track.Has(3)   ? track.Message(3).Text(6)
                           : track.Has(4) ? track.Message(4).Text(5)
                                          : track.Text(2);
        EXPECT_TRUE(tracks.emplace(track.Value(1), name).second) << "described twice: " << name;
        if (track.Has(4))
            threads[name].insert({track.Message(4).Value(1), track.Message(4).Value(2)});
        if (track.Has(3))
            pids[track.Value(1)] = track.Message(3).Value(1);
        if (track.Has(5)) {
            EXPECT_EQ(1u, tracks.count(track.Value(5))) << "a parent comes first";
            parents[track.Value(1)] = track.Value(5);
        }
    }

    void Packet(const Wire &packet)
    {
        uint64_t sequence = packet.Value(10), flags = packet.Value(13);
        EXPECT_EQ(sequences_.insert(sequence).second ? 1u : 2u, flags) << "state is cleared at the beginning only";
        Define(sequence, packet.Message(12));
        if (packet.Has(60))
            Track(packet.Message(60));
        if (!packet.Has(11))
            return;
        Wire body = packet.Message(11);
        Event event = {packet.Value(8), body.Value(9), body.Value(11), "", "", {}, {}, {}, 0};
        EXPECT_EQ(1u, tracks.count(event.track)) << "a track is described before its first event";
        if (body.Has(10))
            event.name = Name(sequence, 2, body.Value(10));
        if (body.Has(3))
            event.category = Name(sequence, 1, body.Value(3));
        for (const WireField *field : body.All(4)) {
            Wire note(field->bytes);
            std::string value = note.Has(3) ? std::to_string(note.Value(3)) : Name(sequence, 29, note.Value(17));
            event.arguments[Name(sequence, 3, note.Value(1))] = value;
        }
        for (const WireField *field : body.All(47))
            event.flows.push_back(field->value);
        for (const WireField *field : body.All(48))
            event.last_flows.push_back(field->value);
        event.counter = static_cast<int64_t>(body.Value(30));
        events.push_back(event);
    }

    std::map<std::pair<uint64_t, uint32_t>, Names> names_;
    std::set<uint64_t> sequences_;
};

/* Edges as an engine would give them. */
struct OneEdge : edge_feed {
    OneEdge()
    {
        run = [](edge_feed *, const struct report *, edge_sink *sink) {
            edge edge = {};
            edge.kind = EDGE_FAN_IN;
            edge.verdict = VERDICT_NEEDED;
            edge.from = {15000, 1, 3, 0, 0, 1, PTDS_OP_LAUNCH, 0, 3};
            edge.to = {30000, 1, 1, 0, 0, 1, PTDS_OP_COPY, 0, 1};
            edge.pair.address = 0x1000;
            edge.pair.size = 4096;
            sink->edge(sink, &edge);
            edge.kind = EDGE_HOST;
            edge.verdict = VERDICT_MAYBE_NEEDED;
            edge.reason = REASON_OPAQUE;
            edge.to.stream = 0;
            sink->edge(sink, &edge);
            return 0;
        };
    }
};

} // namespace ptds

#endif
