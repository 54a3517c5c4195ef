// SPDX-License-Identifier: Apache-2.0
//
// Waits in flight: the model tells of each when it has returned, one at a time, and keeps what is known to be complete as
// of that one.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analysis/base/agenda.h"
#include "tests/analysis/support.h"

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
        model_follow(&model_, this);
        EXPECT_EQ(0, merge_begin(&merged, &trace));
        while (const call *next = merge_next(&merged)) {
            call_view view;
            EXPECT_TRUE(model_enter(&model_, next, &view));
            Note("call " + std::to_string(view.number));
            model_leave(&model_, &view);
        }
        model_unfollow(&model_);
        EXPECT_EQ(nullptr, model_.follower);
        at_end = Done();
        in_flight = model_.completions.count;
        struct completion last = {}, one;
        while (completions_take(&model_.completions, UINT64_MAX, &one)) {
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

} // namespace
} // namespace ptds
