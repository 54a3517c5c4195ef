/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams whose lanes served others meanwhile, for there are more streams than lanes: what they were promised holds still.
 */
extern "C" {
#include "interpose/guard/carry_out/issue.h"
#include "interpose/guard/object_changes.h"
}

#include "tests/guard/script.h"

#include <unistd.h>

#include <thread>

extern "C" {
#include "interpose/base/lock.h"
#include "interpose/state/contexts.h"
#include "interpose/state/streams.h"
}

namespace
{

class Rooms : public Script
{
protected:
    /* As many streams work as it takes until this one has no lane. */
    void make_room(const struct stream *one)
    {
        struct memory other = make_memory(9);
        for (int i = 0; i < 900 && one->lane; i++)
            writes(c_, &other, stream("T"));
        EXPECT_EQ(0u, one->lane);
        object_changes_memory_gone(&other);
    }
    /* What was said last, in so many parts. */
    static std::string last(const std::string &said, int parts)
    {
        size_t at = said.size();
        while (parts-- && at != std::string::npos)
            at = said.rfind("; ", at - 1);
        return at == std::string::npos ? said : said.substr(at + 2);
    }
};

/* The event alone says that the write, on another thread's lane, comes before the stream's work. */
TEST_F(Rooms, OfANonBlockingStream)
{
    struct stream *n = on_ = stream("N", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", records(c_, e));
    EXPECT_EQ("N", awaits(b_, e, kOn));
    g_busy = {"L0"};
    make_room(n);
    EXPECT_EQ("e1 on L0; N after e1; N", last(writes(b_, &m_, n), 3));
}

/* Work of a lane that is promised by its number alone: the lane stays the stream's as long as that is pending. */
TEST_F(Rooms, NoneWhereASingleLanesWorkIsPending)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING), *o = stream("O", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E");
    EXPECT_EQ("O", writes(a_, &m_, o));
    EXPECT_EQ("O", records(a_, e, kOn));
    on_ = n;
    EXPECT_EQ("N", awaits(b_, e, kOn));
    g_busy = {"O"};
    for (int i = 0; i < 600; i++)
        writes(c_, &n_, stream("T"));
    EXPECT_NE(0u, n->lane);
    g_busy = {};
    make_room(n);
}

/* Who waits for a blocking stream has waited for the default-stream work before what is newest on it, too. */
TEST_F(Rooms, OfABlockingStreamThatTheHostWaitsFor)
{
    struct stream *s = stream("S");
    EXPECT_EQ("L0", writes(a_, &seen_));
    EXPECT_EQ("S", writes(b_, &n_, s));
    EXPECT_EQ("e1 on L0; L0", writes(a_, &m_)) << "what the host may still come after";
    g_busy = {"L0"};
    make_room(s);
    on_ = s;
    EXPECT_EQ("S after e1; S", last(syncs(b_, kOn), 2));
}

/* Another thread destroys it between the driver's answer and the lock: it stays gone, and nobody asks the driver for it. */
TEST_F(Rooms, OfAStreamThatGoesWhileItIsAsked)
{
    struct stream *s = stream("S");
    EXPECT_EQ("S", writes(a_, &m_, s));
    const unsigned lane = s->lane - 1;
    struct lane *of = guard_state.order.lanes[lane];
    const auto until = [](const auto &is) {
        while (!is())
            usleep(100);
    };
    const auto turns = [lane] {
        return __atomic_load_n(&issue_lanes[lane].tickets, __ATOMIC_ACQUIRE) -
               __atomic_load_n(&issue_lanes[lane].serving, __ATOMIC_ACQUIRE);
    };
    std::atomic<bool> held{false};
    std::function<void()> asked;
    std::thread ends, holds;
    for (int i = 1; i < 256; i++)
        writes(c_, &n_, stream("T"));
    g_busy = {"T"};
    g_meanwhile = asked = [&] {
        if (!turns()) {
            g_meanwhile = asked; /* it is another one */
            return;
        }
        s->gone = STREAM_LEAVES;
        ends = std::thread([&] {
            begin(b_, kNoStream, API_cuStreamDestroy_v2, PTDS_OP_STREAM_DESTROY, [=](struct call *C) { C->stream = s; });
        });
        until([&] { return turns() == 2; });
        holds = std::thread([&] {
            lock_take(&guard_state.lock);
            held = true;
            until([&] { return turns() == 0; });
            lock_drop(&guard_state.lock);
        });
        until([&] { return held.load(); });
    };
    EXPECT_EQ("S?; e1 on S; U", last(writes(a_, &seen_, stream("U")), 3));
    ends.join();
    holds.join();
    end(b_, kNoStream);
    EXPECT_TRUE(issue_lanes[lane].stream != s && of->open && named(issue_lanes[lane].handle) == "U")
        << "its lane is another's";
}

/* The driver is asked to destroy it, and refuses when its lane is another's already. */
TEST_F(Rooms, OfAStreamThatIsNotDestroyedAfterAll)
{
    struct stream *n = stream("N", CU_STREAM_NON_BLOCKING), *o = stream("O", CU_STREAM_NON_BLOCKING);
    const CUevent e = event("E"), f = event("F");
    const auto comes_after = [&](struct stream *what, CUevent event) {
        on_ = what;
        awaits(b_, event, kOn);
    };
    const auto does_not_go = [&](struct stream *what) {
        what->gone = STREAM_LEAVES;
        begin(b_, kNoStream, API_cuStreamDestroy_v2, PTDS_OP_STREAM_DESTROY, [=](struct call *C) { C->stream = what; });
        for (int i = 0; i < 600; i++)
            writes(c_, &seen_, stream("T"));
        end(b_, kNoStream);
        what->gone = 0;
    };
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("L1", records(c_, e));
    comes_after(n, e);
    g_busy = {"L0"};
    does_not_go(n);
    EXPECT_EQ(0u, n->lane);
    EXPECT_EQ("e1 on L0; N after e1; N", last(writes(b_, &m_, n), 3));
    EXPECT_EQ("O", last(writes(a_, &n_, o), 1));
    on_ = o;
    EXPECT_EQ("O", records(a_, f, kOn));
    comes_after(n, f);
    g_busy = {"O"};
    does_not_go(n);
    EXPECT_NE(0u, n->lane) << "which it keeps as long as what it alone was promised is pending";
}

/* Another thread is destroying their context: the driver is asked nothing about what is in it. */
TEST_F(Rooms, NoneInAContextThatGoes)
{
    struct context *other = fresh("C2", 1);
    Caller *d = thread(other);
    struct stream *s = stream("S"), *t = stream("T");
    EXPECT_EQ("L4", writes(d, &m_));
    EXPECT_EQ("S", writes(d, &n_, s));
    EXPECT_EQ("T", writes(d, &n_, t));
    EXPECT_EQ("e1 on T", destroys(d, t));
    other->gone = CONTEXT_LEAVES;
    g_current = context_->handle;
    struct memory unwritten = make_memory(9);
    for (int i = 3; i < 256; i++)
        EXPECT_EQ("U", reads(c_, &unwritten, stream("U"))) << i;
    g_busy = {"U"};
    const std::string said = reads(c_, &unwritten, stream("U"));
    EXPECT_EQ("U? x253; host after U; U", folded(said));
    other->gone = 0;
}

/* The host's wait for it says nothing: its work counts as pending, and another one's room is had. */
TEST_F(Rooms, OfAStreamThatCannotBeWaitedFor)
{
    struct stream *s = stream("S");
    EXPECT_EQ("S", writes(a_, &m_, s));
    for (int i = 1; i < 256; i++)
        writes(c_, &n_, stream("T"));
    g_busy = {"S", "T"};
    g_refused = {"host after S"};
    EXPECT_EQ("host after S refused; host after T; U", last(writes(b_, &seen_, stream("U")), 3));
    EXPECT_EQ(0u, g_tense);
    g_refused = {};
    EXPECT_EQ("e1 on S; L0 after e1; L0", last(writes(b_, &m_), 3));
}

/* The shim's own streams are asked, too, and stay what they are. */
TEST_F(Rooms, NoneOfTheShimsOwn)
{
    struct stream *s = stream("S");
    EXPECT_EQ("L0", writes(a_, &m_));
    EXPECT_EQ("S", writes(b_, &n_, s));
    make_room(s);
    EXPECT_EQ("L1", last(writes(b_, &m_), 1)) << "known to be done";
    EXPECT_EQ("L0", writes(a_, &n_));
}

} // namespace
