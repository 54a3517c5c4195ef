/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/guard/legacy.h"

namespace ptds_test
{

/* Not one that had the name before it was destroyed. */
bool Legacy::same_stream(int j, int stream) const
{
    return calls_[j].stream == stream && life_[j] == lives_[stream];
}

/* Does an operation put on the stream now wait for call j? */
bool Legacy::ordered(int j, int stream) const
{
    const Stream &x = world_.streams[calls_[j].stream], &y = world_.streams[stream];
    if (!(operations_ >> j & 1) || x.domain != y.domain)
        return false;
    const bool x_legacy = x.kind == StreamKind::Legacy, y_legacy = y.kind == StreamKind::Legacy;
    if (x_legacy && y_legacy)
        return true; /* the same stream, whichever thread names it */
    if (x_legacy)
        return y.kind != StreamKind::NonBlocking;
    if (y_legacy)
        return x.kind != StreamKind::NonBlocking;
    return same_stream(j, stream);
}

Set Legacy::with_all_before(Set set) const
{
    Set whole = set;
    for (int j = 0; j < count_; j++)
        if (set >> j & 1)
            whole |= all_[j];
    return whole;
}

Set Legacy::with_streams_before(Set set) const
{
    Set whole = set;
    for (int j = 0; j < count_; j++)
        if (set >> j & 1)
            whole |= streams_[j];
    return whole;
}

/* A synchronisation waits for what is in its stream; the legacy stream's comes after the blocking ones, too. */
Set Legacy::waits_for(const Call &call) const
{
    const Stream &s = world_.streams[call.stream];
    Set direct = call.op == Op::EventSync ? one(event_[call.event]) : 0;
    for (int j = 0; j < count_ && call.op != Op::EventSync; j++) {
        bool waits = same_stream(j, call.stream);
        if (call.op == Op::DeviceSync)
            waits = world_.streams[calls_[j].stream].domain == s.domain;
        else if (s.kind == StreamKind::Legacy)
            waits = ordered(j, call.stream);
        if (waits && (operations_ >> j & 1))
            direct |= one(j);
    }
    return direct;
}

void Legacy::wait(int i, const Call &call)
{
    const Set direct = waits_for(call);
    streams_[i] = with_streams_before(direct);
    waited_[i] = with_all_before(direct | host_);
}

void Legacy::add(int i, const Call &call)
{
    calls_[i] = call;
    life_[i] = lives_[call.stream];
    switch (call.op) {
    case Op::Work:
    case Op::Record:
    case Op::Wait: {
        Set before = 0;
        for (int j = 0; j < count_; j++)
            if (ordered(j, call.stream))
                before |= one(j);
        if (call.op == Op::Wait)
            before |= one(event_[call.event]);
        streams_[i] = with_streams_before(before);
        all_[i] = with_all_before(before | host_);
        operations_ |= one(i);
        if (call.op == Op::Record)
            event_[call.event] = i;
        break;
    }
    case Op::Close: lives_[call.stream]++; break;
    case Op::SyncBegin:
        wait(i, call);
        begun_[call.thread] = i;
        break;
    case Op::SyncEnd: host_ |= waited_[begun_[call.thread]]; break;
    case Op::Sync:
    case Op::EventSync:
    case Op::DeviceSync:
        wait(i, call);
        host_ |= waited_[i];
        break;
    }
    count_ = i + 1;
}

} // namespace ptds_test
