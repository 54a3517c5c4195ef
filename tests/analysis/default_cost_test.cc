// SPDX-License-Identifier: Apache-2.0
//
// What does the default stream cost a run, and is that said as what it is: a bound, a replay's, or nothing known?
#include <gtest/gtest.h>

#include "analysis/report/default_cost.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

struct default_stream CostOf(const std::string &text)
{
    Built report(BuildTrace("setting policy=observe\n" + text));
    return default_cost_of(report.get());
}

/* The kernel on the first stream and the one on the second could run side by side: the event's record alone, or the wait
 * for an event, keeps them apart. Whatever the last wait is for. */
TEST(EventsOnTheDefaultStream, CostWhatTheyHoldBack)
{
    const std::string first = "1@0 launch s=B1 k=a\n", then = "1@20 launch s=B2 k=b\n", end = "1@60200 none\n",
                      record = "1@10 record s=L e=E\n", wait = "1@5 record s=B1 e=E\n1@10 wait s=L e=E\n",
                      of_non_blocking = "1@4 launch s=N1 k=a\n1@5 record s=N1 e=E\n1@10 wait s=L e=E\n";
    for (const std::string &between : {record, wait, of_non_blocking})
        for (const std::string last : {"sync s=B2", "ctx-sync"}) {
            struct default_stream cost = CostOf(first + between + then + "1@30+60000 " + last + "\n" + end);
            EXPECT_EQ(DEFAULT_UP_TO, cost.cost) << between << last;
            EXPECT_NEAR(60e6, static_cast<double>(cost.most_ns), 1e5) << between << last;
        }
    struct default_stream second = CostOf(first + record + then + "1@30+30000 sync s=B1\n1@30100+30000 sync s=B2\n" + end);
    EXPECT_NEAR(30e6, static_cast<double>(second.most_ns), 1e5) << "the first one's own time stays";
    struct default_stream early = CostOf(first + record + then + "1@30+60000 sync s=B2\n1@60100+30 sync s=B1\n" + end);
    EXPECT_NEAR(60e6, static_cast<double>(early.most_ns), 1e5);
}

/* Nothing but the event is on the default stream, and the host or another stream waits for the event. */
TEST(EventsOnTheDefaultStream, CostWhoeverWaitsForThem)
{
    const std::string begin = "1@0 launch s=B1 k=a\n1@10 record s=L e=E\n", end = "1@60200 none\n";
    struct default_stream host =
        CostOf(begin + "1@30+30000 event-sync e=E\n1@30100 launch s=N2 k=b\n1@30200 sync s=N2\n" + end);
    EXPECT_NEAR(30e6, static_cast<double>(host.most_ns), 1e5);
    for (const std::string stream : {"N2", "B2"}) {
        const std::string waits = "1@15 wait s=" + stream + " e=E\n";
        struct default_stream work =
            CostOf(begin + waits + "1@20 launch s=" + stream + " k=b\n1@30+60000 sync s=" + stream + "\n" + end);
        EXPECT_NEAR(60e6, static_cast<double>(work.most_ns), 1e5) << stream;
        struct default_stream alone = CostOf(begin + waits + "1@30+30000 sync s=" + stream + "\n" + end);
        EXPECT_NEAR(30e6, static_cast<double>(alone.most_ns), 1e5) << stream;
    }
}

/* The event comes after what the program waits for anyway, or after what it waits for by events of its own. */
TEST(EventsOnTheDefaultStream, CostNothingWhereNobodyIsHeldBack)
{
    const std::string first = "1@0 launch s=B1 k=a\n", end = "1@60200 none\n";
    EXPECT_EQ(DEFAULT_NO_WAIT, CostOf(first +
                                      "1@10 record s=L e=E\n1@30+30000 sync s=B1\n1@30100 launch s=B2 k=b\n"
                                      "1@30110+30000 sync s=B2\n" +
                                      end)
                                   .cost);
    EXPECT_EQ(DEFAULT_NO_WAIT,
              CostOf(first + "1@10 record s=L e=E\n1@20 launch s=N2 k=b\n1@30+30000 sync s=N2\n" + end).cost);
    EXPECT_EQ(DEFAULT_NO_WAIT, CostOf(first +
                                      "1@5 record s=B1 e=E\n1@6 wait s=B2 e=E\n1@10 record s=L e=F\n"
                                      "1@20 launch s=B2 k=b\n1@30+60000 sync s=B2\n" +
                                      end)
                                   .cost);
}

} // namespace
} // namespace ptds
