/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/guard/program.h"

namespace ptds_test
{

void World::add_domain(int domain, int threads, int blocking, int non_blocking)
{
    for (int t = 0; t < threads; t++) {
        streams.push_back({StreamKind::Legacy, uint8_t(t), uint8_t(domain), 0});
        streams.push_back({StreamKind::PerThread, uint8_t(t), uint8_t(domain), 0});
    }
    for (int i = 0; i < blocking; i++)
        streams.push_back({StreamKind::Blocking, 0, uint8_t(domain), uint8_t(i)});
    for (int i = 0; i < non_blocking; i++)
        streams.push_back({StreamKind::NonBlocking, 0, uint8_t(domain), uint8_t(i)});
}

bool Call::empty() const
{
    bool any = opaque;
    for (const auto &memory : touch)
        any = any || memory[0] || memory[1];
    return !any;
}

bool Program::has_parts() const
{
    for (const Call &call : calls)
        for (int m = 0; m < kMemories; m++)
            if (call.op == Op::Work && call.touch[m][0] != call.touch[m][1])
                return true;
    return false;
}

bool conflict(const Call &a, const Call &b)
{
    if (a.opaque || b.opaque)
        return true;
    for (int m = 0; m < kMemories; m++)
        for (int half = 0; half < 2; half++)
            if (a.touch[m][half] && b.touch[m][half] && (a.touch[m][half] == kWrite || b.touch[m][half] == kWrite))
                return true;
    return false;
}

bool of_host(const World &world, const Call &call)
{
    if (call.opaque)
        return true;
    for (int m = 0; m < kMemories; m++)
        if ((world.hosts >> m & 1) && (call.touch[m][0] || call.touch[m][1]))
            return true;
    return false;
}

static std::string name(const Stream &s)
{
    std::string domain = s.domain ? " of context " + std::to_string(s.domain) : "";
    switch (s.kind) {
    case StreamKind::Legacy: return "0" + domain;
    case StreamKind::PerThread: return "0x2" + domain;
    case StreamKind::Blocking: return "blocking" + std::to_string(s.index) + domain;
    default: return "nonblocking" + std::to_string(s.index) + domain;
    }
}

static std::string touched(const World &world, const Call &call)
{
    static const char *const kWays[3][3] = {
        {"", " reads upper ", " writes upper "},
        {" reads lower ", " reads ", " reads lower, writes upper "},
        {" writes lower ", " writes lower, reads upper ", " writes "},
    };
    if (call.opaque)
        return " opaque";
    if (call.empty())
        return " empty";
    std::string text;
    for (int m = 0; m < kMemories; m++)
        if (call.touch[m][0] || call.touch[m][1])
            text += kWays[call.touch[m][0]][call.touch[m][1]] + std::string("m") + std::to_string(m) +
                    (world.hosts >> m & 1 ? "(host)" : "");
    return text;
}

std::string print(const World &world, const Call &call)
{
    static const char *const kJoins[] = {"", " [joins host]", " [joins all]"};
    const std::string event = "e" + std::to_string(call.event);
    const std::string stream = name(world.streams[call.stream]);
    std::string text = "T" + std::to_string(call.thread) + ": ";
    switch (call.op) {
    case Op::Work: text += stream + ":" + touched(world, call); break;
    case Op::Record: text += stream + ": record " + event; break;
    case Op::Wait: text += stream + ": wait for " + event; break;
    case Op::Close: text += "destroy " + stream; break;
    case Op::Sync: text += "synchronise " + stream; break;
    case Op::SyncBegin: text += "synchronise " + stream + ", begins"; break;
    case Op::SyncEnd: text += "synchronise, ends"; break;
    case Op::EventSync: text += "synchronise " + event; break;
    case Op::DeviceSync: text += "synchronise the context of " + stream; break;
    }
    return text + kJoins[int(call.join)];
}

std::string print(const Program &program)
{
    const World &w = program.world;
    std::string text;
    if (w.lanes > 1 || w.shared)
        text += "  (" + std::to_string(w.lanes) + (w.shared ? " lanes for all threads)\n" : " lanes a thread)\n");
    if (w.dummies)
        text += "  (" + std::to_string(w.dummies) + " lanes opened before)\n";
    if (w.early)
        text += "  (all lanes opened before)\n";
    for (size_t i = 0; i < program.calls.size(); i++)
        text += "  " + std::to_string(i) + "  " + print(w, program.calls[i]) + "\n";
    return text;
}

} // namespace ptds_test
