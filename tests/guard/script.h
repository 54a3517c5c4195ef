/* SPDX-License-Identifier: Apache-2.0
 *
 * A driver that writes down what it is asked, and a program's calls as the wrappers make them: the route, the guard before
 * the real call, the real call, the guard after it. What comes of it reads like "e1 on L0; L1 after e1; L1": an event is
 * recorded on the first lane, the second lane waits for it, then the driver gets the program's call on the second lane.
 */
#ifndef PTDS_TESTS_GUARD_SCRIPT_H
#define PTDS_TESTS_GUARD_SCRIPT_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "interpose/guard/around_call.h"
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/carry_out/pool.h"
#include "interpose/guard/carry_out/pool_streams.h"
#include "interpose/guard/carry_out/program_event.h"
#include "interpose/guard/carry_out/turn.h"
#include "interpose/guard/decide/repeat_rights.h"
#include "interpose/guard/guard.h"
#include "interpose/guard/object_changes.h"
#include "interpose/state/capture.h"
}

#include "tests/guard/caller.h"

namespace
{

std::string g_said;
std::set<std::string> g_refused, g_busy; /* what the driver refuses, and which streams and events have work pending */
CUresult g_refusal;                      /* what it answers then */
std::map<const void *, std::string> g_names;
unsigned g_events, g_lanes;
unsigned g_tense; /* host waits that would end a capture which begins at that moment */
thread_local CUstreamCaptureMode g_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
std::vector<CUcontext> g_pushed;
std::function<void()> g_meanwhile; /* what another thread does while the driver is asked about a stream */

const std::string &named(const void *handle)
{
    std::string &name = g_names[handle];
    if (name.empty())
        name = "e" + std::to_string(++g_events);
    return name;
}

CUresult say(const std::string &text)
{
    const bool refused = g_refused.count(text) || g_refused.count(text.substr(0, text.find(' ')));
    g_said += (g_said.empty() ? "" : "; ") + text + (refused ? " refused" : "");
    errno = EIO;
    return refused ? g_refusal : CUDA_SUCCESS;
}

CUresult say_stream(CUstream *stream, unsigned)
{
    make_stream(stream, 0);
    g_names[*stream] = "L" + std::to_string(g_lanes++);
    return CUDA_SUCCESS;
}
CUresult say_event(CUevent *event, unsigned flags)
{
    if (flags != CU_EVENT_DISABLE_TIMING || say("new event") != CUDA_SUCCESS)
        return CUDA_ERROR_OUT_OF_MEMORY;
    return make_event(event, flags);
}
CUresult say_record(CUevent event, CUstream stream)
{
    return say(named(event) + " on " + named(stream));
}
CUresult say_wait(CUstream stream, CUevent event, unsigned flags)
{
    EXPECT_EQ(0u, flags);
    return say(named(stream) + " after " + named(event));
}
CUresult say_host_wait(CUstream stream)
{
    g_tense += g_mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return say("host after " + named(stream));
}
CUresult say_host_event(CUevent event)
{
    EXPECT_EQ(CU_STREAM_CAPTURE_MODE_RELAXED, g_mode) << "a capture may begin now";
    return say("host after " + named(event));
}
CUresult say_all()
{
    return say("host after all");
}
CUresult say_stream_query(CUstream stream)
{
    EXPECT_EQ(CU_STREAM_CAPTURE_MODE_RELAXED, g_mode) << "a capture may begin now";
    std::function<void()> meanwhile;
    meanwhile.swap(g_meanwhile);
    if (meanwhile)
        meanwhile();
    return say(named(stream) + "?") != CUDA_SUCCESS || g_busy.count(named(stream)) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
CUresult say_event_query(CUevent event)
{
    EXPECT_EQ(CU_STREAM_CAPTURE_MODE_RELAXED, g_mode);
    return say(named(event) + "?") != CUDA_SUCCESS || g_busy.count("event") ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}
/* Said where it matters. */
CUresult say_mode(CUstreamCaptureMode *mode)
{
    const char *said = *mode == CU_STREAM_CAPTURE_MODE_RELAXED ? "relaxed" : "not relaxed";
    const CUresult result = capture_any() ? say(said) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        std::swap(g_mode, *mode);
    return result;
}
CUresult say_push(CUcontext context)
{
    if (say("into " + named(context)) != CUDA_SUCCESS)
        return CUDA_ERROR_INVALID_CONTEXT;
    g_pushed.push_back(g_current);
    g_current = context;
    return CUDA_SUCCESS;
}
CUresult say_pop(CUcontext *context)
{
    *context = g_current;
    g_current = g_pushed.back();
    g_pushed.pop_back();
    return say("back");
}

void install_script()
{
    static const struct {
        int api;
        void *function;
    } functions[] = {{API_cuStreamCreate, reinterpret_cast<void *>(say_stream)},
                     {API_cuEventCreate, reinterpret_cast<void *>(say_event)},
                     {API_cuEventRecord, reinterpret_cast<void *>(say_record)},
                     {API_cuStreamWaitEvent, reinterpret_cast<void *>(say_wait)},
                     {API_cuStreamSynchronize, reinterpret_cast<void *>(say_host_wait)},
                     {API_cuEventSynchronize, reinterpret_cast<void *>(say_host_event)},
                     {API_cuCtxSynchronize, reinterpret_cast<void *>(say_all)},
                     {API_cuStreamQuery, reinterpret_cast<void *>(say_stream_query)},
                     {API_cuEventQuery, reinterpret_cast<void *>(say_event_query)},
                     {API_cuThreadExchangeStreamCaptureMode, reinterpret_cast<void *>(say_mode)},
                     {API_cuCtxPushCurrent_v2, reinterpret_cast<void *>(say_push)},
                     {API_cuCtxPopCurrent_v2, reinterpret_cast<void *>(say_pop)}};
    driver.cuCtxGetCurrent = context_now;
    for (const auto &one : functions)
        driver_real[one.api][0] = one.function;
}

/* What is asked of the guard; `on`: one of the program's streams. */
enum Way { kDefault, kImplicit, kOn, kAsDefault, kAsDefaultImplicit, kOwn, kLegacy, kLegacyImplicit, kNoStream };

class Script : public testing::Test
{
protected:
    void SetUp() override
    {
        object_changes_after_fork();
        guard_on = 1;
        install_script();
        g_said.clear();
        g_refused.clear();
        g_refusal = CUDA_ERROR_UNKNOWN;
        g_busy.clear();
        g_names = {{CU_STREAM_LEGACY, "legacy"}, {CU_STREAM_PER_THREAD, "0x2"}};
        g_events = g_lanes = g_tense = 0;
        context_ = fresh("C1", 4);
        for (struct memory *one : {&m_, &n_, &seen_})
            *one = make_memory(uint32_t(one - &m_) + 1);
        seen_.host = 1;
        a_ = thread(context_), b_ = thread(context_), c_ = thread(context_);
    }
    void TearDown() override
    {
        for (struct context *context : contexts_)
            pool_context_gone(context);
        EXPECT_EQ(0u, guard_state.lock.held);
        EXPECT_EQ(CU_STREAM_CAPTURE_MODE_GLOBAL, g_mode) << "the program's";
        for (unsigned i = 0; i < guard_state.order.high; i++) {
            EXPECT_TRUE(issue_lanes[i].tickets == issue_lanes[i].serving && issue_lanes[i].gate == 0)
                << "a turn or a gate is held still";
            for (const struct mark &mark : guard_state.order.lanes[i]->marks)
                EXPECT_EQ(0u, mark.pins) << "somebody waits for a mark still";
        }
        guard_on = 0;
        install_driver();
    }
    struct context *fresh(const char *name, unsigned lanes)
    {
        static uintptr_t handle = 0x800000;
        g_current = CUcontext(handle += 0x100);
        g_names[g_current] = name;
        struct context *context = contexts_get(g_current);
        EXPECT_EQ(lanes, pool_streams_make(context, lanes, CU_STREAM_DEFAULT, 0, 0));
        g_said.clear();
        contexts_.push_back(context);
        return context;
    }
    Caller *thread(struct context *context)
    {
        threads_.emplace_back(new Caller(context));
        threads_.back()->here.per_thread_uid = uids_next(OBJECT_STREAM);
        threads_.back()->thread.uid = uint32_t(threads_.size());
        return threads_.back().get();
    }
    struct stream *stream(const char *name, unsigned flags = CU_STREAM_DEFAULT)
    {
        CUstream handle;
        make_stream(&handle, 0);
        g_names[handle] = name;
        struct call call = {};
        call.thread = &a_->thread;
        streams_created(&call, &handle, flags, 0);
        around_call_learn(&call);
        struct stream *made = streams_get(&a_->thread, handle);
        a_->thread.last_stream = nullptr;
        return made;
    }
    /* A call from its beginning to its end. What was said since the last one. */
    std::string call(Caller *by, Way way, uint16_t api, uint8_t op, const std::function<void(struct call *)> &set = nullptr)
    {
        begin(by, way, api, op, set);
        return end(by, way);
    }
    std::string end(Caller *by, Way way = kDefault)
    {
        struct call *C = &by->call;
        if (way != kNoStream)
            say(named(C->target));
        C->result = result_;
        errno = ENOTTY;
        around_call_leaving(C);
        EXPECT_EQ(ENOTTY, errno) << "errno is the program's";
        if (C->way != CALL_AS_IS && C->result == CUDA_SUCCESS)
            guard_finish_implicit(C);
        errno = ENOTTY;
        around_call_late(C);
        EXPECT_EQ(ENOTTY, errno);
        return said();
    }
    /* Up to the real call. */
    void begin(Caller *by, Way way, uint16_t api, uint8_t op, const std::function<void(struct call *)> &set = nullptr)
    {
        struct call *C = &by->call;
        by->fill(api, op, nullptr);
        C->guarded.settled = C->guarded.alone = 0;
        C->way = CALL_AS_IS;
        C->flags = C->words = C->kinds = 0;
        C->event = nullptr;
        C->context = by->here.context;
        C->target = CU_STREAM_LEGACY;
        C->target_uid = 0;
        if (way == kImplicit || way == kLegacyImplicit || way == kAsDefaultImplicit)
            C->flags = PTDS_CALL_IMPLICIT;
        C->stream = nullptr;
        if (way == kOn) {
            C->stream = on_;
            C->target = on_->handle;
        }
        if (way == kOwn)
            C->target = CU_STREAM_PER_THREAD;
        if (set)
            set(C);
        errno = ENOTTY;
        switch (way) {
        case kDefault:
        case kImplicit: guard_default_work(C, way == kImplicit, spread_); break;
        case kOn: guard_stream_work(C); break;
        case kAsDefault:
        case kAsDefaultImplicit: guard_default_work_on(C, way == kAsDefaultImplicit, on_); break;
        case kOwn: guard_per_thread_work(C); break;
        case kLegacy:
        case kLegacyImplicit: guard_legacy_work(C); break;
        default: C->guarded.kind = 0; break;
        }
        if (C->guarded.kind != GUARD_NOTHING && C->target != CU_STREAM_LEGACY) {
            EXPECT_EQ(issue_lanes[C->guarded.lane].handle, C->target);
            EXPECT_EQ(way == kDefault || way == kImplicit ? issue_lanes[C->guarded.lane].uid : C->target_uid,
                      C->target_uid);
        }
        around_call_entering(C);
        EXPECT_EQ(ENOTTY, errno);
    }
    static std::string said()
    {
        std::string text;
        text.swap(g_said);
        return text;
    }
    /* The same, where one thing is said again and again: how often. */
    static std::string folded(const std::string &text)
    {
        std::string all, last;
        int times = 0;
        for (size_t at = 0, end; at <= text.size(); at = end + 2) {
            end = std::min(text.find("; ", at), text.size());
            const std::string one = text.substr(at, end - at);
            if (one == last && ++times)
                continue;
            all += (times > 1 ? " x" + std::to_string(times) : "") + (all.empty() ? "" : "; ") + one;
            last = one;
            times = 1;
        }
        return all + (times > 1 ? " x" + std::to_string(times) : "");
    }
    /* A copy between memories of devices. */
    static std::function<void(struct call *)> copying(struct memory *memory, uint32_t writes)
    {
        return [=](struct call *C) {
            touching(memory, writes)(C);
            C->kinds = PTDS_MEMORY_DEVICE | PTDS_MEMORY_DEVICE << 4;
        };
    }
    static std::function<void(struct call *)> touching(struct memory *memory, uint32_t writes)
    {
        return [=](struct call *C) {
            C->touched.count = 1;
            C->touched.at[0] = {memory, 0, UINT64_MAX, writes};
            C->touched.host = memory->host & 1;
        };
    }
    std::string writes(Caller *by, struct memory *memory, Way way = kDefault)
    {
        return call(by, way, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(memory, 1));
    }
    std::string reads(Caller *by, struct memory *memory, Way way = kDefault)
    {
        return call(by, way, API_cuMemsetD8Async, PTDS_OP_MEMSET, touching(memory, 0));
    }
    std::string writes(Caller *by, struct memory *memory, struct stream *on)
    {
        on_ = on;
        return writes(by, memory, kOn);
    }
    std::string reads(Caller *by, struct memory *memory, struct stream *on)
    {
        on_ = on;
        return reads(by, memory, kOn);
    }
    std::string on_event(Caller *by, Way way, uint16_t api, uint8_t op, CUevent event)
    {
        return call(by, way, api, op, [=](struct call *C) { C->event = event; });
    }
    std::string records(Caller *by, CUevent event, Way way = kDefault)
    {
        return on_event(by, way, API_cuEventRecord, PTDS_OP_EVENT_RECORD, event);
    }
    std::string awaits(Caller *by, CUevent event, Way way = kDefault)
    {
        return on_event(by, way, API_cuStreamWaitEvent, PTDS_OP_EVENT_WAIT, event);
    }
    std::string syncs(Caller *by, Way way = kDefault)
    {
        return call(by, way, API_cuStreamSynchronize, PTDS_OP_STREAM_SYNC);
    }
    CUevent event(const char *name, unsigned flags = CU_EVENT_DISABLE_TIMING)
    {
        CUevent made;
        make_event(&made, flags);
        g_names[made] = name;
        program_event_created(made, flags, 0);
        return made;
    }
    std::string destroys(Caller *by, struct stream *stream)
    {
        return call(by, kNoStream, API_cuStreamDestroy_v2, PTDS_OP_STREAM_DESTROY, [=](struct call *C) {
            C->stream = stream;
            stream->gone = result_ == CUDA_SUCCESS ? STREAM_GONE : 0;
        });
    }
    static void begin_capture(struct stream *stream)
    {
        struct thread thread = {};
        struct call call = {};
        call.thread = &thread;
        object_changes_capture_takes(stream);
        capture_began(&call, stream->handle);
    }
    static void end_capture(struct stream *stream)
    {
        struct thread thread = {};
        struct call call = {};
        call.thread = &thread;
        capture_ended(&call, stream->handle);
    }
    std::vector<struct context *> contexts_;
    std::vector<std::unique_ptr<Caller>> threads_;
    struct context *context_ = nullptr;
    struct memory m_ = {}, n_ = {}, seen_ = {}; /* the host can touch the last */
    Caller *a_ = nullptr, *b_ = nullptr, *c_ = nullptr;
    struct stream *on_ = nullptr;
    unsigned spread_ = 1;
    CUresult result_ = CUDA_SUCCESS;
};

} // namespace

#endif
