/* SPDX-License-Identifier: Apache-2.0
 *
 * All that the guard asks of the driver for long programs by chance, and how it leaves each call, against walks/: threads
 * of two contexts with calls of all kinds, events, host waits, captures, memory, streams and threads that come and go, a
 * driver that refuses. random_test holds the decisions against legacy order; this holds all that is made of them.
 * PTDS_WALK=SEED:CALLS prints another one. scripts/renew writes the files anew.
 */
#include "tests/guard/script.h"
#include "tests/support/expected.h"

extern "C" {
#include "interpose/footprint/footprint.h"
#include "interpose/guard/object_changes.h"
}

namespace
{

enum { kMemories = 5, kCallers = 5, kStreams = 4, kEvents = 3 };

class Walk : public Script
{
protected:
    void SetUp() override
    {
        Script::SetUp();
        for (const int api : {API_cuMemsetD8Async, API_cuMemcpyDtoHAsync_v2, API_cuMemcpyHtoDAsync_v2, API_cuMemcpyAsync})
            driver_real[api][0] = reinterpret_cast<void *>(say_all);
        for (int i = 0; i < kMemories; i++) {
            memories_[i] = make_memory(uint32_t(i) + 1);
            memories_[i].host = i == 0;
        }
    }
    unsigned below(unsigned limit)
    {
        state_ ^= state_ << 13;
        state_ ^= state_ >> 7;
        state_ ^= state_ << 17;
        return unsigned(state_ * 0x2545f4914f6cdd1du >> 33) % limit;
    }
    bool one_in(unsigned n)
    {
        return below(n) == 0;
    }

    /* "cuX writes m1, reads m2[10,20)" */
    struct Work {
        int api = 0;
        uint8_t op = 0, kinds = 0;
        struct touched touched = {};
        std::string text;
    };
    Work some_work(bool implicit)
    {
        static const struct {
            int api, implicit;
            uint8_t op, kinds;
        } works[] = {
            {API_cuLaunchKernel, 0, PTDS_OP_LAUNCH, 0},
            {API_cuMemsetD8Async, API_cuMemsetD8_v2, PTDS_OP_MEMSET, PTDS_MEMORY_DEVICE | PTDS_MEMORY_DEVICE << 4},
            {API_cuMemcpyDtoHAsync_v2, API_cuMemcpyDtoH_v2, PTDS_OP_COPY, PTDS_MEMORY_PAGEABLE | PTDS_MEMORY_DEVICE << 4},
            {API_cuMemcpyHtoDAsync_v2, API_cuMemcpyHtoD_v2, PTDS_OP_COPY, PTDS_MEMORY_DEVICE | PTDS_MEMORY_PINNED << 4},
            {API_cuMemcpyDtoHAsync_v2, API_cuMemcpyDtoH_v2, PTDS_OP_COPY, PTDS_MEMORY_PINNED | PTDS_MEMORY_DEVICE << 4},
            {API_cuMemAllocAsync, 0, PTDS_OP_ALLOC_ASYNC, 0},
            {API_cuMemcpyPeerAsync, API_cuMemcpyPeer, PTDS_OP_COPY, PTDS_MEMORY_DEVICE | PTDS_MEMORY_DEVICE << 4}};
        unsigned which = 0;
        do
            which = one_in(2) ? 0 : below(sizeof works / sizeof *works);
        while (implicit && !works[which].implicit && (which = 1 + below(4), false));
        if (implicit && !works[which].implicit)
            which = 1;
        Work work;
        work.api = implicit ? works[which].implicit : works[which].api;
        work.op = works[which].op;
        work.kinds = works[which].kinds;
        work.text = api_rows[work.api].symbol;
        for (unsigned n = below(3); n; n--) {
            const unsigned at = below(close_ ? 2 : kMemories), begin = !close_ && one_in(4) ? 10 * below(3) : 0;
            struct access &access = work.touched.at[work.touched.count++];
            access = {&memories_[at], begin, begin || one_in(5) ? begin + 10 : UINT64_MAX, close_ || one_in(2)};
            work.touched.host |= memories_[at].host;
            work.text += (access.writes ? " writes m" : " reads m") + std::to_string(at);
            if (access.end != UINT64_MAX)
                work.text += "[" + std::to_string(begin) + "]";
        }
        if (one_in(12)) {
            work.touched.opaque = OPAQUE_GRAPH;
            work.text += " opaque";
        }
        return work;
    }

    /* What the guard keeps of the call when the driver gets it, as far as there is something, and its flags at the end. */
    static std::string left(const struct call &call, unsigned flags)
    {
        const struct {
            const char *name;
            unsigned value;
        } fields[] = {{"kind", call.guarded.kind},
                      {"waits", call.guarded.waits},
                      {"again", call.guarded.again},
                      {"settled", call.guarded.settled},
                      {"alone", call.guarded.alone},
                      {"way", call.way},
                      {"flags", flags}};
        std::string text;
        for (const auto &field : fields)
            if (field.value)
                text += (text.empty() ? " | " : ", ") + std::string(field.name) + " " + std::to_string(field.value);
        return text;
    }
    std::string make(Caller *by, Way way, int api, uint8_t op, const std::function<void(struct call *)> &set = nullptr)
    {
        g_current = by->here.context->handle;
        begin(by, way, uint16_t(api), op, set);
        const struct call before = by->call;
        std::string text = end(by, way);
        if (by->call.result != result_)
            text += " = " + std::to_string(by->call.result);
        return text + left(before, by->call.flags);
    }

    Way some_way(bool implicit)
    {
        const bool streams = std::any_of(streams_, streams_ + kStreams, [](const auto *one) { return one != nullptr; });
        do
            on_ = streams_[below(kStreams)];
        while (streams && !on_);
        const unsigned chance = below(20);
        if (close_ && chance)
            return kDefault;
        if (chance < 11 || !on_)
            return chance < 2    ? (implicit ? kLegacyImplicit : kLegacy)
                   : chance == 2 ? kOwn
                   : implicit    ? kImplicit
                                 : kDefault;
        if (chance < 18)
            return kOn;
        return implicit ? kAsDefaultImplicit : kAsDefault;
    }
    std::string of_way(Way way) const
    {
        static const char *const words[] = {"0", "0 (implicit)", "", "", "", "0x2", "1", "1 (implicit)", "-"};
        const bool as_default = way == kAsDefault || way == kAsDefaultImplicit;
        return way == kOn ? named(on_->handle) : as_default ? "0 as " + named(on_->handle) : words[way];
    }

    std::string step()
    {
        const unsigned number = below(kCallers), event = below(kEvents), what = below(100);
        Caller *by = callers_[number];
        const std::string who = "T" + std::to_string(number) + " ";
        spread_ = spreads_ && one_in(3) ? 1 + below(4) : 1;
        result_ = one_in(fails_ ? 6 : 25) ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
        if (one_in(fails_ ? 6 : 30))
            g_refused.insert(one_in(3) ? "new" : one_in(2) ? "host" : "e" + std::to_string(1 + below(12)));
        if (crowd_ && one_in(4))
            busy();
        if (what < 55 || (close_ && what < 90))
            return who + work(by);
        if (what < 78)
            return who + around_events(by, event);
        if (what < 84) {
            const Way way = some_way(false);
            return who + "sync " + of_way(way) + ": " + make(by, way, API_cuStreamSynchronize, PTDS_OP_STREAM_SYNC);
        }
        if (what < 87) {
            const Way way = some_way(false);
            result_ = one_in(2) ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
            return who + "query " + of_way(way) + ": " + make(by, way, API_cuStreamQuery, PTDS_OP_STREAM_QUERY);
        }
        if (what < 89)
            return who + "all: " + make(by, kNoStream, API_cuCtxSynchronize, PTDS_OP_CTX_SYNC);
        return who + comes_and_goes(by, number);
    }
    /* More streams than there are lanes, each with work. */
    std::string a_crowd()
    {
        std::string text;
        for (unsigned i = 0; i < 280; i++) {
            on_ = stream(("C" + std::to_string(i)).c_str(), i % 7 ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING);
            crowd_of_.push_back(on_);
            if (one_in(3))
                busy();
            const Way way = i % 9 ? kOn : kAsDefault;
            text += named(on_->handle) + ": " +
                    make(callers_[i % kCallers], way, API_cuMemsetD8Async, PTDS_OP_MEMSET,
                         [&](struct call *C) { touching(&memories_[1 + i % 4], i % 5 == 0)(C); }) +
                    "\n";
            if (i % 11 == 0) {
                text += "destroys " + named(on_->handle) + ": " + destroys(callers_[0], on_) + "\n";
                crowd_of_.pop_back();
            }
        }
        for (unsigned i = 0; i < kStreams; i++)
            streams_[i] = crowd_of_[60 * i + below(60)];
        return text;
    }
    void busy()
    {
        if (one_in(6))
            g_busy.clear();
        g_busy.insert(one_in(8) || crowd_of_.empty() ? "event"
                                                     : named(crowd_of_[below(unsigned(crowd_of_.size()))]->handle));
    }
    /* The same again, now and then: then it need not be registered. */
    std::string work(Caller *by)
    {
        if (!one_in(3) || !last_.api) {
            const bool implicit = !close_ && one_in(5);
            last_way_ = some_way(implicit);
            last_ = some_work(implicit);
            last_on_ = on_;
        }
        on_ = last_on_;
        if (last_way_ >= kOn && last_way_ <= kAsDefaultImplicit &&
            std::find(streams_, streams_ + kStreams, on_) == streams_ + kStreams)
            last_way_ = kDefault;
        return last_.text + " on " + of_way(last_way_) + ": " +
               make(by, last_way_, last_.api, last_.op, [this](struct call *C) {
                   C->touched = last_.touched;
                   C->kinds = last_.kinds;
               });
    }
    std::string around_events(Caller *by, unsigned number)
    {
        CUevent &event = events_[number];
        if (!event) {
            const bool timed = one_in(3);
            event = this->event(("E" + std::to_string(number)).c_str(), timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING);
            return timed ? "makes a timed " + named(event) : "makes " + named(event);
        }
        const auto its = [&](struct call *C) { C->event = event; };
        const unsigned what = below(20);
        if (what < 8) {
            const Way way = some_way(false);
            return "records " + named(event) + " on " + of_way(way) + ": " +
                   make(by, way, API_cuEventRecord, PTDS_OP_EVENT_RECORD, its);
        }
        if (what < 15) {
            const Way way = some_way(false);
            return "awaits " + named(event) + " on " + of_way(way) + ": " +
                   make(by, way, API_cuStreamWaitEvent, PTDS_OP_EVENT_WAIT, its);
        }
        if (what < 17)
            return "waits for " + named(event) + ": " +
                   make(by, kNoStream, API_cuEventSynchronize, PTDS_OP_EVENT_SYNC, its);
        if (what == 17)
            return "asks " + named(event) + ": " + make(by, kNoStream, API_cuEventQuery, PTDS_OP_EVENT_QUERY, its);
        if (what == 18)
            return "records " + named(event) +
                   " somewhere: " + make(by, kNoStream, API_cuCtxRecordEvent, PTDS_OP_CTX_EVENT_RECORD, its);
        const std::string text = make(by, kNoStream, API_cuEventDestroy_v2, PTDS_OP_EVENT_DESTROY, its);
        return "destroys " + named(std::exchange(event, nullptr)) + ": " + text;
    }
    std::string comes_and_goes(Caller *by, unsigned number)
    {
        const unsigned at = below(kStreams), what = below(11);
        struct stream *&stream = streams_[at];
        if (what < 4 && !stream) {
            const unsigned flags = one_in(3) ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
            stream = this->stream(("S" + std::to_string(at)).c_str(), flags);
            return flags ? "makes a non-blocking " + named(stream->handle) : "makes " + named(stream->handle);
        }
        if (what < 3) {
            if (stream == captured_)
                end_capture(std::exchange(captured_, nullptr));
            const std::string name = named(stream->handle), text = destroys(by, stream);
            stream = nullptr;
            return "destroys " + name + ": " + text;
        }
        if (what < 6)
            return capture(stream);
        if (what < 8) {
            const unsigned memory = below(kMemories);
            object_changes_memory_gone(&memories_[memory]);
            return "m" + std::to_string(memory) + " goes: " + said();
        }
        object_changes_thread_ends(&by->thread);
        callers_[number] = thread(by->here.context);
        return "ends: " + said();
    }
    std::string capture(struct stream *stream)
    {
        if (captured_) {
            end_capture(captured_);
            return "the capture of " + named(std::exchange(captured_, nullptr)->handle) + " ends: " + said();
        }
        if (!captures_ || !stream)
            return "rests";
        begin_capture(captured_ = stream);
        return "a capture of " + named(stream->handle) + " begins: " + said();
    }

    std::string walk(uint64_t seed, unsigned calls)
    {
        state_ = seed * 0x9e3779b97f4a7c15u + 1;
        captures_ = one_in(3);
        spreads_ = one_in(3);
        fails_ = one_in(4);
        close_ = one_in(4);
        crowd_ = one_in(4);
        struct context *other = one_in(2) ? fresh("C2", 3) : context_;
        for (unsigned i = 0; i < kCallers; i++)
            callers_[i] = thread(i < 3 ? context_ : other);
        std::string text = crowd_ ? a_crowd() : "";
        for (unsigned i = 0; i < calls; i++) {
            text += step() + "\n";
            g_refused.clear();
        }
        if (captured_)
            end_capture(captured_);
        captured_ = nullptr;
        return text;
    }

    struct memory memories_[kMemories] = {};
    Caller *callers_[kCallers] = {};
    struct stream *streams_[kStreams] = {}, *captured_ = nullptr, *last_on_ = nullptr;
    CUevent events_[kEvents] = {};
    Work last_;
    Way last_way_ = kDefault;
    uint64_t state_ = 0;
    std::vector<struct stream *> crowd_of_;
    bool crowd_ = false, captures_ = false, spreads_ = false, fails_ = false;
    bool close_ = false; /* threads' default-stream work conflicts all the time */
};

class Walks : public Walk, public testing::WithParamInterface<std::pair<int, int>>
{
};

TEST_P(Walks, AreAsEver)
{
    const auto [seed, calls] = GetParam();
    ptds::ExpectAllOf("tests/guard/walks/" + std::to_string(seed) + ".txt", walk(uint64_t(seed), unsigned(calls)));
}

INSTANTIATE_TEST_SUITE_P(Picked, Walks,
                         testing::Values(std::pair(25, 100), std::pair(3, 300), std::pair(13, 300), std::pair(5, 300),
                                         std::pair(36, 300), std::pair(16, 300)),
                         [](const auto &one) { return "Seed" + std::to_string(one.param.first); });

TEST_F(Walk, ByHand)
{
    unsigned long seed = 0;
    unsigned calls = 0;
    const char *wanted = getenv("PTDS_WALK");
    if (wanted && sscanf(wanted, "%lu:%u", &seed, &calls) == 2)
        printf("%s", walk(seed, calls).c_str());
}

} // namespace
