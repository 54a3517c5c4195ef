// SPDX-License-Identifier: Apache-2.0
//
// Waits in flight: the model tells of each when it has returned, one at a time, and keeps what is known to be complete as
// of that one; and what the verdicts make of that, of a run whose policy took orders away.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/base/agenda.h"
#include "analysis/base/vclock.h"
#include "analysis/model/completion.h"
#include "analysis/model/model.h"
#include "analysis/model/model_orders.h"
#include "analysis/trace/merge.h"
#include "analysis/trace/trace.h"
#include "tests/analysis/support.h"
#include "tests/analysis/verdicts.h"

namespace ptds
{
namespace
{

/* Follows the waits of a trace. What it is told of, in order: "number of the wait < number of the next call: operations of
 * slots 0, 1 known to be complete". */
class Followed : public wait_follower
{
public:
    explicit Followed(const std::string &text) : memory_(BuildTrace(text))
    {
        struct trace trace;
        merge merged;
        char error[TRACE_ERROR_SIZE];
        returned = [](wait_follower *follower, uint64_t number, uint64_t next) {
            static_cast<Followed *>(follower)->Note(std::to_string(number) + "<" + std::to_string(next));
        };
        forgotten = [](wait_follower *follower, uint64_t number) {
            static_cast<Followed *>(follower)->lost.push_back(number);
        };
        EXPECT_EQ(0, trace_read(&trace, memory_.source(), error)) << error;
        model_begin(&model_, &trace);
        model_orders_follow(&model_, this);
        EXPECT_EQ(0, merge_begin(&merged, &trace));
        while (const call *next = merge_next(&merged)) {
            call_view view;
            EXPECT_TRUE(model_enter(&model_, next, &view));
            Note("call " + std::to_string(view.number));
            model_leave(&model_, &view);
        }
        model_orders_unfollow(&model_);
        EXPECT_EQ(nullptr, model_.follower);
        at_end = Done();
        in_flight = model_.completions.count;
        struct completion last = {}, one;
        while (completion_take(&model_.completions, UINT64_MAX, &one)) {
            EXPECT_LE(last.ticks, one.ticks);
            last.ticks = one.ticks;
            completion_free(&one);
        }
        merge_end(&merged);
        model_end(&model_);
        trace_close(&trace);
    }
    Followed(const Followed &) = delete;

    std::vector<std::string> told;
    std::vector<uint64_t> lost;
    std::string at_end;
    size_t in_flight;

private:
    std::string Done() const
    {
        return std::to_string(vclock_get(&model_.done, 0)) + " " + std::to_string(vclock_get(&model_.done, 1));
    }

    void Note(const std::string &what)
    {
        told.push_back(what + ": " + Done());
    }

    MemoryTrace memory_;
    struct model model_;
};

using Told = std::vector<std::string>;

TEST(Waits, AreToldOfOneByOneAsTheyReturn)
{
    Followed followed("1@0 launch s=N1\n2@1 launch s=N2\n"
                      "1@10+30 sync s=N1\n2@12+5 sync s=N2\n"
                      "3@20 none\n3@50 none\n");
    EXPECT_EQ((Told{"call 1: 0 0", "call 2: 0 0", "call 3: 0 0", "call 4: 0 0", /* what waits tells nothing */
                    "4<5: 0 2", "call 5: 0 2", "3<6: 1 2", "call 6: 1 2"}),
              followed.told);
}

TEST(Waits, TwoThatReturnedSinceTheLastCallAreTwo)
{
    Followed followed("1@0 launch s=N1\n2@1 launch s=N2\n1@10+30 sync s=N1\n2@12+5 sync s=N2\n3@50 none\n");
    EXPECT_EQ((Told{"call 1: 0 0", "call 2: 0 0", "call 3: 0 0", "call 4: 0 0", "4<5: 0 2", "3<5: 1 2", "call 5: 1 2"}),
              followed.told);
}

/* The follower hears of them, but to whoever asks the model of a call that never returned they are in flight. */
TEST(Waits, InFlightAtTheEndReturnForTheFollowerOnly)
{
    Followed followed("1@0 launch s=N1\n2@1 launch s=N2\n1@10+30 sync s=N1\n2@12+5 sync s=N2\n3@13+1 sync s=N1\n");
    EXPECT_EQ((Told{"call 1: 0 0", "call 2: 0 0", "call 3: 0 0", "call 4: 0 0", "call 5: 0 0", "5<6: 0 0", "4<6: 0 0",
                    "3<6: 0 0"}),
              followed.told);
    EXPECT_EQ("0 0", followed.at_end);
    EXPECT_EQ(3u, followed.in_flight);
}

/* So many calls are in flight in a damaged trace only. */
TEST(Waits, ThoseBeyondTheLimitAreToldOfAtOnce)
{
    std::string text = "1@0 launch s=N1\n";
    for (int i = 0; i < AGENDA_MOST + 2; i++)
        text += "1@" + std::to_string(10 + i) + "+100000 sync s=N1\n";
    Followed followed(text);
    EXPECT_EQ((std::vector<uint64_t>{AGENDA_MOST + 2, AGENDA_MOST + 3}), followed.lost);
    EXPECT_EQ(static_cast<size_t>(AGENDA_MOST), followed.in_flight);
}

/* "from>to loss", by microseconds, of the orders that the policy took away, or kept and may have been needed. */
std::string Lost(const std::string &text)
{
    static const char *const losses[] = {"kept", "possible", "definite"};
    Judged judged(BuildTrace("setting policy=per-thread\n" + std::string(verdict_memory) + text));
    std::string lost;
    for (const struct edge &edge : judged.edges)
        if (edge.verdict != VERDICT_NOT_NEEDED)
            lost += (lost.empty() ? "" : "; ") + std::to_string(edge.from.ticks / 1000) + ">" +
                    std::to_string(edge.to.ticks / 1000) + " " + losses[edge.loss];
    return lost;
}

/* The host may read H when thread 2's wait has returned. Only thread 1's covers the copy. */
TEST(Kept, WhatAWaitTellsTheHostIsNotKeptByTheNextOne)
{
    const std::string copies = "1@10 copy s=L target=P1 src=A dst=H to=pinned bytes=64\n", later = "3@50 launch s=N1\n";
    EXPECT_EQ("10>20 possible", Lost(copies + "2@20+5 sync s=L to=P2\n1@22+10 sync s=P1\n" + later));
    EXPECT_EQ("10>20 kept", Lost(copies + "2@20+15 sync s=L to=P2\n1@22+10 sync s=P1\n" + later)) << "returned first";
    EXPECT_EQ("10>20 possible", Lost(copies + "2@20+5 sync s=L to=P2\n1@22+10 sync s=P1\n")) << "at the end";
}

/* A copy that the policy's twin returns from before it has landed: nobody waits for it, and nothing orders it. */
TEST(Kept, AStagedCopyThatHasReturnedHasNotLanded)
{
    const std::string copy = "1@10+5 copy s=L target=P1 twin implicit from=pageable dst=A bytes=64\n",
                      reads = "2@40 copy s=L target=P2 src=A dst=B bytes=64\n";
    EXPECT_EQ("10>40 definite", Lost(copy + reads));
    EXPECT_EQ("", Lost(copy + "1@20+5 sync s=L to=P1\n" + reads)) << "a wait that was asked for";
    EXPECT_EQ("10>40 kept", Lost(copy + "1@20 launch s=B1 k=_Z5emptyv behind=P1 waits=P2\n" + reads)) << "the shim's";
    EXPECT_EQ("10>20 possible", Lost("1@1 alloc m=M ptr=0x40000 bytes=4096 kind=managed\n"
                                     "1@10+5 copy s=L target=P1 twin implicit from=pageable to=managed dst=M bytes=64\n"
                                     "2@20+5 sync s=L to=P2\n"))
        << "nor for the host, which can reach it";
}

/* The shim's wait is not in the program: the order is implicit, and kept. */
TEST(Kept, WhatTheShimWaitsForHasLanded)
{
    const std::string copy = "1@10 memset s=L target=P1 dst=A bytes=64\n",
                      reads = "2@40 copy s=L target=P2 src=A dst=B bytes=64\n";
    EXPECT_EQ("10>40 definite", Lost(copy + reads));
    EXPECT_EQ("10>40 kept", Lost(copy + "1@20+5 launch s=P1 shim-wait k=_Z5emptyv\n" + reads));
}

/* Legacy makes the wait cover the copy; does it under this policy? */
TEST(Kept, WhatTheWaitItselfCoversIsNotGivenUp)
{
    const std::string copy = "setting policy=per-thread\n" + std::string(verdict_memory) +
                             "1@10 copy s=L target=P1 src=A dst=H to=pinned bytes=64\n";
    EXPECT_EQ(1u, Judged(BuildTrace(copy + "2@20+5 sync s=L to=P2\n")).given_up);
    EXPECT_EQ(0u, Judged(BuildTrace(copy + "2@20+5 sync s=L\n")).given_up) << "the legacy stream itself";
}

/* It takes an order with it that nobody sees, of what there was by then: not of what came later. */
TEST(Kept, AWaitForWhoKnowsWhatLeavesOrdersInDoubtThatWereThere)
{
    const std::string writes = "1@10 memset s=B1 dst=A bytes=64\n", waits = "1@20 wait s=N1 e=E g=7\n",
                      reads = "1@40 copy s=L target=P1 src=A dst=B bytes=64\n";
    EXPECT_EQ("10>40 definite", Lost(writes + reads));
    EXPECT_EQ("10>40 possible", Lost(writes + waits + reads)) << "it was kept";
    EXPECT_EQ("10>40 possible", Lost(writes + "1@20+5 event-sync e=E g=7\n" + reads));
    EXPECT_EQ("25>40 kept", Lost(writes + waits + "1@25 record s=B1 e=F\n1@26 wait s=P1 e=F\n" + reads));
    EXPECT_EQ("30>40 definite", Lost(waits + "1@30 memset s=B1 dst=A bytes=64\n" + reads)) << "they were kept, for good";
    EXPECT_EQ("10>40 definite", Lost("1@5 wait s=N1 e=E g=7\n1@6+2 ctx-sync\n" + writes + reads));
}

/* Another process may have recorded it since. */
TEST(Kept, AnEventOfSeveralProcessesMayOrderOrNot)
{
    const std::string writes = "1@10 memset s=B1 dst=A bytes=64\n1@11 record s=B1 e=E\n",
                      reads = "1@20 wait s=L to=P1 e=E\n1@40 copy s=L target=P1 src=A dst=B bytes=64\n";
    EXPECT_EQ("", Lost("1@5 event-create e=E flags=2\n" + writes + reads));
    EXPECT_EQ("11>20 possible", Lost("1@5 event-create e=E flags=6\n" + writes + reads)) << "the program's own order";
    EXPECT_EQ("11>20 possible", Lost("1@5 event-create e=E api=cuIpcOpenEventHandle\n" + writes + reads));
    EXPECT_EQ("",
              Lost("1@4 event-create e=E flags=6\n1@5 event-destroy e=E\n1@6 event-create e=E flags=2\n" + writes + reads));
}

TEST(Kept, AFreeOfStreamOrderedMemoryWaitsForNothing)
{
    const std::string writes = "1@5 alloc-async m=P s=N1 ptr=0x50000 bytes=4096\n1@6+5 sync s=N1\n"
                               "1@20 memset s=B1 dst=A bytes=64\n",
                      reads = "1@40 copy s=L target=P1 src=A dst=B bytes=64\n";
    EXPECT_EQ("20>40 definite", Lost(writes + "1@30+5 free m=P\n" + reads)) << "kept";
    EXPECT_EQ("", Lost(writes + "1@30+5 free m=H\n" + reads));
    EXPECT_EQ("", Lost("1@3 alloc m=Q ptr=0x60000 bytes=64 kind=device\n" + writes + "1@30+5 free m=Q\n" + reads));
    EXPECT_EQ("20>40 definite",
              Lost("1@3 alloc m=Q ptr=0x60000 bytes=64 kind=pool\n" + writes + "1@30+5 free m=Q\n" + reads));
}

/* Beyond what is followed, a wait that was there is not taken for one that was not. */
TEST(Kept, AWaitThatThereIsNoRoomForMayHaveOrderedAnything)
{
    std::string text = "setting policy=observe\n" + std::string(verdict_memory) + "1@1 memset s=N1 dst=A bytes=64\n",
                waits = "2@20000+1 sync s=N1\n", second = "2@30000 memset s=N2 dst=A bytes=64\n", many;
    for (int i = 0; i < AGENDA_MOST; i++)
        many += "1@" + std::to_string(10 + i) + "+100000 sync s=N3\n";
    Judged ordered(BuildTrace(text + waits + second)), raced(BuildTrace(text + many + second)),
        forgotten(BuildTrace(text + many + waits + second));
    EXPECT_EQ(0u, ordered.totals.races + ordered.totals.possible_races);
    EXPECT_EQ(1u, raced.totals.races);
    EXPECT_EQ(0u, forgotten.totals.races);
    EXPECT_EQ(1u, forgotten.totals.possible_races);
}

/* Whatever other order is missing, a copy does not overtake what the host has waited for. */
TEST(Kept, AWaitKeepsASmallCopyBack)
{
    const std::string fills = "setting policy=observe\n" + std::string(verdict_memory) +
                              "1@10 copy s=B1 src=A dst=H to=pinned bytes=64\n",
                      copies = "1@40 copy s=L src=H from=pinned dst=B bytes=64\n";
    EXPECT_EQ(1u, Judged(BuildTrace(fills + copies)).overtaken);
    EXPECT_EQ(0u, Judged(BuildTrace(fills + "2@20+5 sync s=B1\n" + copies)).overtaken) << "of another thread";
    EXPECT_EQ(1u, Judged(BuildTrace(fills + "2@20+30 sync s=B1\n" + copies)).overtaken) << "that has not returned";
    EXPECT_EQ(0u, Judged(BuildTrace(fills + "2@20+5 launch s=B1 shim-wait k=_Z5emptyv\n" + copies)).overtaken)
        << "of the shim's";
}

/* What the first thread waits for itself hides nothing that it submitted before, be that remembered by itself or not. */
TEST(Waits, WhatWaitsForItselfHidesNothing)
{
    const std::string async = "1@1 copy s=L src=A dst=H to=pinned bytes=64\n", learns = "2@2 launch s=L k=_Z5emptyv\n",
                      own = "1@3+20 copy s=L implicit src=A dst=H to=pinned bytes=64\n",
                      more = "2@4 launch s=L k=_Z5emptyv\n", waits = "3@5+5 sync s=L\n3@12 none\n";
    for (bool sweep : {false, true}) {
        auto maybe = [&](const std::string &text) {
            return Judged(BuildTrace(verdict_memory + text), sweep).Text().find("maybe needed(host)") != std::string::npos;
        };
        EXPECT_FALSE(maybe(own + waits)) << sweep;
        EXPECT_TRUE(maybe(async + own + waits)) << sweep;
        EXPECT_TRUE(maybe(async + learns + own + waits)) << sweep;
        EXPECT_TRUE(maybe(async + learns + own + more + waits)) << sweep;
    }
}

} // namespace
} // namespace ptds
