/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/guard/executor.h"

#include <cstring>

extern "C" {
#include "interpose/guard/decide/lane_limits.h"
#include "interpose/guard/decide/order_choose.h"
#include "interpose/guard/decide/order_lane.h"
#include "interpose/guard/decide/promises.h"
#include "interpose/guard/decide/repeat_rights.h"
}

namespace ptds_test
{
namespace
{

struct order g_order;
struct order_plan g_plan;
struct memory g_memories[kMemories];

/* As in the beginning, but for the memory of lanes and promises, which serves the next program: the shim gives none back.
 */
void empty_order()
{
    static struct lane *lanes[ORDER_LANES];
    for (unsigned d = 0; d < 2; d++)
        promises_all_done(&g_order, d, g_order.now + 1);
    for (unsigned i = 0; i < g_order.high; i++) {
        if (g_order.lanes[i]->open)
            order_lane_close(&g_order, i);
        order_lane_reclaim(&g_order, i);
    }
    lane_limits_drop(&g_order.known);
    for (unsigned d = 0; d < 2; d++) {
        lane_limits_drop(&g_order.domains[d].joined);
        lane_limits_drop(&g_order.domains[d].joined_at_last);
    }
    memcpy(lanes, g_order.lanes, sizeof lanes);
    order_reset(&g_order);
    memcpy(g_order.lanes, lanes, sizeof lanes);
}

enum : uint64_t { kBase = 0x7f0000000000, kBytes = 0x1000 };

} // namespace

Executor::Executor(const World &world, bool strict) : world_(world), of_stream_(world.streams.size())
{
    g_order.strict = strict;
    lanes_.reserve(64);
    for (int m = 0; m < kMemories; m++) {
        g_memories[m].base = kBase + m * 16 * kBytes;
        g_memories[m].bytes = kBytes;
        g_memories[m].uid = m + 1;
        g_memories[m].host = world.hosts >> m & 1;
    }
    for (const Stream &stream : world.streams) /* the shim counts them as they are created */
        if (stream.domain + 1u > g_order.domains_used)
            g_order.domains_used = stream.domain + 1;
    for (const Stream &stream : world.streams)
        g_order.free_running += stream.kind == StreamKind::NonBlocking;
    for (int i = 0; i < world.dummies; i++)
        order_lane_open(&g_order, lane_kind(i % 3), 0, 0);
    if (world.early)
        for (size_t s = 0; s < world.streams.size(); s++)
            lanes_of(s);
}

Executor::~Executor()
{
    for (auto &event : events_)
        promises_recorded_drop(&event.carried);
    for (auto &wait : host_waits_)
        promises_drop(&wait.promise);
    for (auto &memory : g_memories)
        order_memory_gone(&g_order, &memory);
    empty_order();
}

bool Executor::too_wide() const
{
    return g_order.too_wide != 0 && most_marks_ > ORDER_MARKS;
}

bool Executor::legal(const Call &call) const
{
    if (host_waits_[call.thread].pending != (call.op == Op::SyncEnd))
        return false;
    const StreamKind kind = world_.streams[call.stream].kind;
    switch (call.op) {
    case Op::Wait:
    case Op::EventSync: return events_[call.event].recorded;
    case Op::Close: return kind == StreamKind::Blocking || kind == StreamKind::NonBlocking;
    default: return true;
    }
}

int Executor::open(int stream)
{
    const Stream &s = world_.streams[stream];
    const bool eager = s.kind == StreamKind::PerThread;
    const enum lane_kind kind = s.kind == StreamKind::Legacy        ? LANE_DEFAULT
                                : s.kind == StreamKind::NonBlocking ? LANE_NON_BLOCKING
                                                                    : LANE_BLOCKING;
    const int lane = order_lane_open(&g_order, kind, s.domain, eager);
    if (lane < 0)
        return lane;
    if (size_t(lane) >= lanes_.size())
        lanes_.resize(lane + 1);
    lanes_[lane] = Lane();
    lanes_[lane].eager = eager;
    lanes_[lane].kind = kind;
    lanes_[lane].domain = s.domain;
    return lane;
}

/* Opens them at their first use. Empty: none was free. */
const std::vector<uint16_t> &Executor::lanes_of(int stream)
{
    const Stream &s = world_.streams[stream];
    if (s.kind == StreamKind::Legacy && world_.shared)
        for (size_t i = 0; i < world_.streams.size(); i++) /* the first thread's stand for all */
            if (world_.streams[i].kind == StreamKind::Legacy && world_.streams[i].domain == s.domain) {
                stream = i;
                break;
            }
    std::vector<uint16_t> &lanes = of_stream_[stream];
    const int wanted = s.kind == StreamKind::Legacy ? world_.lanes : 1;
    while (int(lanes.size()) < wanted) {
        const int lane = open(stream);
        if (lane < 0)
            break;
        lanes.push_back(lane);
    }
    return lanes;
}

const struct touched *Executor::touch(const Call &call)
{
    if (call.op != Op::Work)
        return nullptr;
    touched_.count = 0;
    touched_.opaque = call.opaque ? OPAQUE_HOST_FUNCTION : OPAQUE_NO;
    touched_.host = 0;
    for (int m = 0; m < kMemories; m++) {
        const uint64_t base = g_memories[m].base;
        const uint8_t(&halves)[2] = call.touch[m];
        if (!halves[0] && !halves[1])
            continue;
        touched_.host |= g_memories[m].host;
        if (halves[0] == halves[1]) {
            touched_.at[touched_.count++] = {&g_memories[m], 0, UINT64_MAX, halves[0] == kWrite};
            continue;
        }
        for (int half = 0; half < 2; half++)
            if (halves[half])
                touched_.at[touched_.count++] = {&g_memories[m], base + half * kBytes / 2, base + (half + 1) * kBytes / 2,
                                                 halves[half] == kWrite};
    }
    if (call.opaque && call.marks_host)
        touched_.host = 1;
    return &touched_;
}

void Executor::record_mark(int lane, int mark, Outcome *outcome)
{
    if (mark < 0)
        return;
    if (mark >= ORDER_MARKS) {
        outcome->error = "a mark with a number that there is not";
        return;
    }
    if (++lanes_[lane].marked > most_marks_)
        most_marks_ = lanes_[lane].marked;
    lanes_[lane].marks[mark] = {true, lanes_[lane].tail, lanes_[lane].last};
}

/* The moments of its operations up to `until` are all covered. */
bool Executor::claims_right(const Lane &lane, const Mark &covered, moment until)
{
    for (moment at : lane.moments)
        if (at > covered.until && at <= until)
            return false;
    return true;
}

/* An event on the legacy stream stands for all the streams that it waits for. */
Set Executor::legacy_stream_now(int domain) const
{
    Set all = 0;
    for (const Lane &lane : lanes_)
        if (lane.domain == domain && lane.kind != LANE_NON_BLOCKING)
            all |= lane.tail;
    return all;
}

void Executor::make_waits(int lane, const struct order_plan &plan, Outcome *outcome)
{
    for (int w = 0; w < plan.count; w++) {
        const struct order_wait &wait = plan.waits[w];
        if (wait.lane >= lanes_.size() || wait.lane == lane) {
            outcome->error = wait.lane == lane ? "a lane waits for itself" : "a wait for a lane that is not open";
            return;
        }
        const Lane &other = lanes_[wait.lane];
        Mark covered = {true, other.tail, other.last};
        if (wait.mark == ORDER_NEWEST && other.eager) {
            covered.covers = legacy_stream_now(other.domain);
            outcome->by_legacy = true;
        }
        if (wait.mark == ORDER_NEWEST && other.gone)
            outcome->error = "an event is to be recorded on a lane where none can be";
        else if (wait.mark != ORDER_NEWEST && (wait.mark < 0 || wait.mark >= ORDER_MARKS))
            outcome->error = "a wait for a mark with a number that there is not";
        else if (wait.mark != ORDER_NEWEST)
            covered = other.marks[wait.mark];
        if (!covered.recorded)
            outcome->error = "a wait for a mark that was not recorded";
        if (!outcome->error && !claims_right(other, covered, wait.until))
            outcome->error = "a wait claims more than it covers";
        if (outcome->error)
            return;
        outcome->waits.push_back(covered.covers);
        outcome->unpromised |= wait.unpromised != 0;
        lanes_[lane].tail |= covered.covers;
    }
}

/* An event, and what gates, stand for the whole of the thread's default stream. */
static bool looks_at_all(const Call &call)
{
    return call.op == Op::Record || call.opaque;
}

static std::vector<uint16_t> without(const std::vector<uint16_t> &lanes, unsigned lane)
{
    std::vector<uint16_t> rest;
    for (uint16_t other : lanes)
        if (other != lane)
            rest.push_back(other);
    return rest;
}

/* As carry_out/turn.h asks: plain work of a thread with one lane, on memory that the host can't touch. */
bool Executor::may_come_again(const Call &call, const std::vector<uint16_t> &own) const
{
    return own.size() == 1 && call.op == Op::Work && !call.opaque && call.join == Join::Nothing && !touched_.host &&
           lanes_[own[0]].kind == LANE_DEFAULT;
}

void Executor::came_again(int i, int number, Outcome *outcome)
{
    Lane &lane = lanes_[number];
    outcome->without = outcome->real = lane.tail | finished_;
    lane.tail = outcome->real | one(i);
    lane.own |= one(i);
    lane.unregistered = true;
    again_++;
}

/* What came again has the moment at which it is registered at last. */
void Executor::catch_up(const struct order_op *op)
{
    repeat_rights_catch_up(&g_order, op);
    for (size_t l = 0; l < lanes_.size(); l++) {
        if (!lanes_[l].unregistered)
            continue;
        lanes_[l].unregistered = false;
        lanes_[l].last = g_order.lanes[l]->last;
        lanes_[l].moments.push_back(lanes_[l].last);
        if (lanes_[l].last > last_moment_)
            last_moment_ = lanes_[l].last;
    }
}

void Executor::operation(int i, const Call &call, Outcome *outcome)
{
    const std::vector<uint16_t> &own = lanes_of(call.stream);
    struct order_op op = {};
    op.work = 1;
    op.join = uint8_t(call.join);
    op.touched = touch(call);
    op.lane = own[0];
    if (own.size() > 1)
        op.lane = order_choose(&g_order, &op, own.data(), own.size());
    bool known = false;
    for (uint16_t lane : own)
        known = known || lane == op.lane;
    if (!known) {
        outcome->error = "order_choose answers with a lane that was not among them";
        return;
    }
    const std::vector<uint16_t> others = looks_at_all(call) ? without(own, op.lane) : std::vector<uint16_t>();
    op.fully = others.data();
    op.fully_count = others.size();
    if (may_come_again(call, own) && repeat_rights_use(&g_order, op.lane, op.touched)) {
        came_again(i, op.lane, outcome);
        return;
    }
    catch_up(&op);
    order_add(&g_order, &op, &g_plan);
    Lane &lane = lanes_[op.lane];
    record_mark(op.lane, g_plan.mark_first, outcome);
    outcome->without = lane.tail | finished_;
    make_waits(op.lane, g_plan, outcome);
    if (call.op == Op::Wait) {
        lane.tail |= events_[call.event].covers;
        outcome->without |= events_[call.event].covers;
    }
    outcome->real = lane.tail | finished_;
    lane.tail = outcome->real | one(i);
    lane.own |= one(i);
    if (g_plan.at <= last_moment_)
        outcome->error = "moments do not grow";
    last_moment_ = lane.last = g_plan.at;
    lane.moments.push_back(g_plan.at);
    record_mark(op.lane, g_plan.mark_after, outcome);
    Event &event = events_[call.event];
    if (call.op == Op::Record) {
        promises_event_recorded(&g_order, op.lane, &event.carried);
        event.recorded = true;
        event.covers = lane.tail;
    } else if (call.op == Op::Wait) {
        promises_event_awaited(&g_order, op.lane, &event.carried);
        promises_event_followed(&g_order, op.lane, &event.carried);
    }
}

void Executor::close(const Call &call, Outcome *outcome)
{
    std::vector<uint16_t> &own = of_stream_[call.stream];
    for (uint16_t lane : own) {
        catch_up(nullptr);
        record_mark(lane, order_lane_close(&g_order, lane), outcome);
        lanes_[lane].gone = true;
        gone_.push_back(lane);
    }
    own.clear();
    reclaim(outcome);
}

/* What is given back must be done. */
void Executor::reclaim(Outcome *outcome)
{
    for (size_t i = 0; i < gone_.size();) {
        const int lane = gone_[i];
        if (!order_lane_reclaim(&g_order, lane)) {
            i++;
            continue;
        }
        if (lanes_[lane].own & ~finished_)
            outcome->error = "a lane is given back while its work is not known to be done";
        gone_.erase(gone_.begin() + i);
    }
}

void Executor::begin_wait(const Call &call, Outcome *outcome)
{
    const std::vector<uint16_t> &own = lanes_of(call.stream);
    HostWait &host = host_waits_[call.thread];
    host.pending = true;
    struct order_op op = {};
    op.lane = own[0];
    op.join = uint8_t(call.join);
    op.waits = 1;
    const std::vector<uint16_t> others = without(own, op.lane);
    op.fully = others.data();
    op.fully_count = others.size();
    catch_up(&op);
    order_add(&g_order, &op, &g_plan);
    if (g_plan.at)
        outcome->error = "a host's wait became an operation";
    Lane &lane = lanes_[op.lane];
    record_mark(op.lane, g_plan.mark_first, outcome);
    outcome->without = lane.tail | finished_;
    make_waits(op.lane, g_plan, outcome);
    record_mark(op.lane, g_plan.mark_after, outcome);
    host.lane = op.lane;
    host.until = lane.last;
    memcpy(host.ordered, g_order.lanes[op.lane]->ordered, sizeof host.ordered);
    promises_host_waits(&g_order, op.lane, 0, &host.promise);
    host.covers = lane.tail;
    outcome->real = host.covers | finished_;
}

void Executor::end_wait(int thread)
{
    HostWait &host = host_waits_[thread];
    finished_ |= host.covers;
    promises_done_with(&g_order, host.lane, host.until, host.ordered);
    promises_host_knows(&g_order, &host.promise);
    promises_drop(&host.promise);
    host.pending = false;
}

void Executor::event_wait(const Call &call, Outcome *outcome)
{
    finished_ |= events_[call.event].covers;
    outcome->real = outcome->without = finished_;
    promises_event_done(&g_order, &events_[call.event].carried);
    promises_host_knows(&g_order, &events_[call.event].carried.promise);
    reclaim(outcome);
}

void Executor::device_wait(const Call &call, Outcome *outcome)
{
    const int domain = world_.streams[call.stream].domain;
    catch_up(nullptr);
    for (size_t i = 0; i < lanes_.size(); i++) {
        if (lanes_[i].domain != domain || !g_order.lanes[i] || !g_order.lanes[i]->open)
            continue;
        struct promise promise = {};
        finished_ |= lanes_[i].tail;
        promises_host_waits(&g_order, i, 0, &promise);
        promises_host_knows(&g_order, &promise);
        promises_drop(&promise);
    }
    outcome->real = outcome->without = finished_;
    promises_all_done(&g_order, domain, last_moment_);
    reclaim(outcome);
}

void Executor::call(int i, const Call &call, Outcome *outcome)
{
    *outcome = Outcome();
    if (!legal(call))
        return;
    if ((call.op == Op::Work || call.op == Op::Record || call.op == Op::Wait || call.op == Op::Sync ||
         call.op == Op::SyncBegin) &&
        lanes_of(call.stream).empty())
        return;
    outcome->made = true;
    switch (call.op) {
    case Op::Work:
    case Op::Record:
    case Op::Wait: operation(i, call, outcome); break;
    case Op::Close: close(call, outcome); break;
    case Op::Sync:
        begin_wait(call, outcome);
        end_wait(call.thread);
        reclaim(outcome);
        break;
    case Op::SyncBegin: begin_wait(call, outcome); break;
    case Op::SyncEnd:
        end_wait(call.thread);
        reclaim(outcome);
        break;
    case Op::EventSync: event_wait(call, outcome); break;
    case Op::DeviceSync: device_wait(call, outcome); break;
    }
}

} // namespace ptds_test
