// SPDX-License-Identifier: Apache-2.0
//
// The verdict engine where there are hundreds of lanes, and more accesses than it remembers: what it looks up late, or not
// at all because nothing has changed, must not change what it says.
#include "tests/analysis/verdicts.h"

namespace ptds
{
namespace
{

enum { CROWD = 290 };

class Text
{
public:
    /* The next call, a microsecond later. */
    Text &Call(int thread, const std::string &what)
    {
        text_ += std::to_string(thread) + "@" + std::to_string(++now_) + " " + what + "\n";
        return *this;
    }
    /* One that takes so long, and a line that is no call. */
    Text &Wait(int thread, const std::string &what)
    {
        text_ += std::to_string(thread) + "@" + std::to_string(now_ + 1) + "+9 " + what + "\n";
        now_ += 20;
        return *this;
    }
    Text &Ends(int thread)
    {
        text_ += "thread-end " + std::to_string(thread) + "@" + std::to_string(++now_) + "\n";
        return *this;
    }
    Text &Launches(const char *stream, int count)
    {
        for (int i = 1; i <= count; i++)
            Call(1, std::string("launch k=_Z5emptyv s=") + stream + std::to_string(i));
        return *this;
    }
    std::string Bytes() const
    {
        return BuildTrace(text_);
    }

private:
    std::string text_;
    int now_ = 0;
};

/* Each thread's work on the legacy stream comes behind all blocking streams', and behind the threads' before it. */
Text crowd()
{
    Text text;
    text.Launches("B", CROWD);
    for (int thread = 1; thread <= CROWD; thread++)
        text.Call(thread, "launch k=_Z5emptyv s=L");
    return text;
}

size_t count_of(const Judged &judged, edge_kind kind, enum verdict verdict)
{
    return static_cast<size_t>(std::count_if(judged.edges.begin(), judged.edges.end(), [=](const struct edge &edge) {
        return edge.kind == kind && edge.verdict == verdict;
    }));
}

/* They are more than are kept open, but nothing can conflict over them any more. */
TEST(Crowd, EdgesThatNobodyNeedsAreSettled)
{
    Judged judged(crowd().Bytes());
    EXPECT_EQ(size_t{CROWD} * CROWD, count_of(judged, EDGE_FAN_IN, VERDICT_NOT_NEEDED));
    EXPECT_EQ(size_t{CROWD} - 1, count_of(judged, EDGE_FIFO, VERDICT_NOT_NEEDED));
    EXPECT_EQ(size_t{CROWD} * CROWD + CROWD - 1, judged.edges.size());
}

/* Only what is new to a lane makes an edge, whether few lanes did something since, or many, or a lane is new itself. */
TEST(Crowd, OnlyWhatIsNewMakesAnEdge)
{
    size_t before = Judged(crowd().Bytes()).edges.size();
    Text text = crowd();
    text.Call(1, "launch k=_Z5emptyv s=B200")
        .Call(1, "launch k=_Z5emptyv s=B7");        /* two behind all legacy work: a fan-out each */
    text.Call(CROWD, "launch k=_Z5emptyv s=L");     /* two fan-ins */
    text.Call(1, "launch k=_Z5emptyv s=B7");        /* a fan-out */
    text.Call(CROWD + 1, "launch k=_Z5emptyv s=L"); /* a new lane: all streams, and the threads' work as one */
    text.Call(1, "launch k=_Z5emptyv s=B201");      /* a fan-out */
    Judged judged(text.Bytes());
    EXPECT_EQ(before + 2 + 2 + 1 + CROWD + 1 + 1, judged.edges.size());
    EXPECT_EQ(judged.edges.size(), count_of(judged, EDGE_FAN_IN, VERDICT_NOT_NEEDED) +
                                       count_of(judged, EDGE_FAN_OUT, VERDICT_NOT_NEEDED) +
                                       count_of(judged, EDGE_FIFO, VERDICT_NOT_NEEDED));
}

/* A stream comes behind what others did before the legacy work between, though that was joined by another thread. */
TEST(Crowd, AnOrderIsFoundAmongMany)
{
    Text text;
    text.Call(1, "alloc m=A ptr=0x10000 bytes=4096").Launches("B", CROWD);
    text.Call(1, "memset s=B150 bytes=64 dst=A").Call(2, "launch k=_Z5emptyv s=L").Launches("B", 100);
    text.Call(3, "copy s=B99 bytes=64 src=A");
    Judged judged(text.Bytes());
    EXPECT_EQ(1u, count_of(judged, EDGE_FAN_IN, VERDICT_NEEDED));
    EXPECT_EQ(1u, count_of(judged, EDGE_FAN_OUT, VERDICT_NEEDED));
    EXPECT_EQ(0u, judged.totals.races);
}

/* The edge brought an access that is forgotten later: what it was needed for nobody will find out. Those that brought
 * nothing that is forgotten are not concerned. */
TEST(Crowd, EdgesOfWhatIsForgottenAreLimited)
{
    Text text;
    text.Call(1, "alloc m=A ptr=0x10000 bytes=4096");
    text.Call(1, "launch k=_Z5emptyv s=B1").Call(1, "launch k=_Z5emptyv s=L");
    text.Call(1, "memset s=B1 bytes=4 dst=A").Call(1, "launch k=_Z5emptyv s=L");
    for (int i = 1; i <= 200; i++)
        text.Call(1, "memset s=N1 bytes=4 dst=A+" + std::to_string(i * 8));
    Judged judged(text.Bytes());
    EXPECT_NE(0u, judged.totals.dropped);
    EXPECT_EQ("fan-in 2>3 not needed; fan-in 4>5 maybe needed(limit); fan-out 3>4 not needed", judged.Text());
}

/* It was forgotten before anybody came behind it, by whatever way. What came behind it before, or by the program's own
 * word, needs nothing any more. */
TEST(Crowd, EdgesToWhatWasForgottenAreLimited)
{
    auto forgotten = [](Text *text) {
        for (int i = 1; i <= 200; i++)
            text->Call(1, "memset s=N1 bytes=4 dst=A+" + std::to_string(i * 8));
    };
    auto said = [&](bool waited, bool joined) {
        Text text;
        text.Call(1, "alloc m=A ptr=0x10000 bytes=4096").Call(1, "memset s=B1 bytes=4 dst=A");
        if (waited)
            text.Wait(1, "sync s=B1");
        if (joined)
            text.Call(1, "launch k=_Z5emptyv s=L");
        forgotten(&text);
        text.Call(1, "launch k=_Z5emptyv s=B1").Call(1, "launch k=_Z5emptyv s=L").Call(1, "launch k=_Z5emptyv s=B2");
        Judged judged(text.Bytes());
        EXPECT_NE(0u, judged.totals.dropped);
        return judged.Text();
    };
    EXPECT_EQ("fan-in 203>204 maybe needed(limit); fan-out 204>205 maybe needed(limit)", said(false, false));
    EXPECT_EQ("fan-in 223>224 not needed; fan-out 224>225 not needed", said(true, false));
    EXPECT_EQ("fan-in 204>205 not needed; fan-in 2>3 maybe needed(limit); fan-out 205>206 maybe needed(limit); "
              "fan-out 3>204 not needed",
              said(false, true));
}

/* Nor is the edge forgotten of a thread that ends, and whose place another stream takes. */
TEST(Crowd, EdgesOfWhatIsForgottenAreLimitedWhoeverHasEnded)
{
    for (int later : {0, 40}) {
        Text text;
        text.Call(1, "alloc m=A ptr=0x10000 bytes=4096");
        text.Call(1, "memset s=B1 bytes=4 dst=A").Call(2, "launch k=_Z5emptyv s=L");
        for (int i = 1; i <= 200; i++)
            text.Call(1, "memset s=N1 bytes=4 dst=A+" + std::to_string(i * 8));
        text.Wait(1, "ctx-sync").Ends(2);
        text.Launches("N1", later);
        EXPECT_EQ("fan-in 2>3 maybe needed(limit)", Judged(text.Bytes()).Text()) << later;
    }
}

/* Which of many streams it was that used the memory, and which of them uses it next, changes nothing. */
TEST(Crowd, AnyOfManyMayHaveUsedIt)
{
    const struct {
        const char *first, *then;
        edge_kind kind;
        enum verdict verdict;
    } rows[] = {
        {"memset dst=A bytes=64", "copy src=A bytes=64", EDGE_FAN_IN, VERDICT_NEEDED},
        {"launch k=user args=A", "memset dst=A+64 bytes=64", EDGE_FAN_IN, VERDICT_MAYBE_NEEDED},
        {"launch k=_Z4fillPf args=A", "launch k=_Z4readPKf args=A", EDGE_FAN_IN, VERDICT_MAYBE_NEEDED},
        {"memset dst=A bytes=64", "launch k=_Z4readPKf args=A", EDGE_FAN_IN, VERDICT_MAYBE_NEEDED},
        {"opaque", "memset dst=A bytes=64", EDGE_FAN_IN, VERDICT_MAYBE_NEEDED},
        {"launch k=user args=A", "opaque", EDGE_FAN_IN, VERDICT_MAYBE_NEEDED},
        {"launch k=_Z4readPKf args=A", "launch k=_Z4readPKf args=A", EDGE_FAN_IN, VERDICT_NOT_NEEDED},
    };
    enum { MANY = 135 };
    auto on = [](const std::string &call, const std::string &stream) {
        size_t end = call.find(' ');
        return end == std::string::npos ? call + " s=" + stream : call.substr(0, end) + " s=" + stream + call.substr(end);
    };
    for (const auto &row : rows)
        for (int which = 1; which <= MANY; which++) {
            Text text;
            text.Call(1, "alloc m=A ptr=0x10000 bytes=4096").Launches("B", MANY);
            text.Call(1, on(row.first, "B" + std::to_string(which))).Call(1, on(row.then, "L"));
            Judged judged(text.Bytes());
            ASSERT_EQ(size_t{MANY}, judged.edges.size()) << row.first << ", B" << which;
            const size_t told = row.verdict == VERDICT_NOT_NEEDED ? 0 : 1;
            ASSERT_EQ(MANY - told, count_of(judged, row.kind, VERDICT_NOT_NEEDED)) << row.first << ", B" << which;
            ASSERT_EQ(told, told == 0 ? 0 : count_of(judged, row.kind, row.verdict)) << row.first << ", B" << which;
        }
}

/* More lanes than are followed: whose work has no place, orders with it are not known, and nothing is promised any more. It
 * is said. */
TEST(Crowd, OfMoreLanesThanAreFollowed)
{
    for (bool too_many : {true, false}) {
        const int most = 1024 - 2, lanes = too_many ? 1152 : most; /* the host's and the legacy stream's are among them */
        Text text;
        text.Call(1, "alloc m=A ptr=0x10000 bytes=4096").Call(1, "launch k=_Z5emptyv s=L").Launches("B", lanes);
        text.Call(1, "memset s=B" + std::to_string(lanes) + " bytes=64 dst=A").Call(1, "copy s=L bytes=64 src=A");
        const std::string bytes = text.Bytes();
        Judged judged(bytes);
        EXPECT_EQ(too_many ? 1152u - most + 1 : 0u, judged.totals.unplaced);
        EXPECT_EQ(too_many ? 0u : 1u, count_of(judged, EDGE_FAN_IN, VERDICT_NEEDED));
        EXPECT_EQ(too_many, count_of(judged, EDGE_FAN_IN, VERDICT_NOT_NEEDED) == 0);
        EXPECT_EQ(too_many, count_of(judged, EDGE_FAN_OUT, VERDICT_NOT_NEEDED) == 0);
        EXPECT_EQ(too_many ? size_t{most} : 0, count_of(judged, EDGE_FAN_IN, VERDICT_MAYBE_NEEDED));
        Built built(bytes);
        EXPECT_EQ(too_many,
                  built.Text().find("calls on streams too many to say what depends on their order") != std::string::npos)
            << built.Text();
    }
}

/* Each order could still be needed, since what came before it is remembered: so many are kept, and no more. Of those that
 * are given up it is said. */
TEST(Crowd, OfMoreOrdersThanAreKept)
{
    for (int crowd : {250, 290}) {
        Text text;
        for (int i = 1; i <= crowd; i++)
            text.Call(1, "alloc m=M" + std::to_string(i) + " ptr=" + std::to_string(0x10000 * i) + " bytes=64")
                .Call(1, "memset s=B" + std::to_string(i) + " bytes=64 dst=M" + std::to_string(i));
        for (int thread = 1; thread <= crowd; thread++)
            text.Call(thread, "launch k=_Z5emptyv s=L");
        text.Call(7, "copy s=L bytes=64 src=M5");
        Judged judged(text.Bytes());
        const size_t all = static_cast<size_t>(crowd) * static_cast<size_t>(crowd);
        const bool kept = crowd == 250;
        EXPECT_EQ(kept ? 0u : 1u, judged.totals.dropped);
        EXPECT_EQ(kept ? 1u : 0u, count_of(judged, EDGE_FAN_IN, VERDICT_NEEDED));
        EXPECT_EQ(kept ? all - 1 : 0, count_of(judged, EDGE_FAN_IN, VERDICT_NOT_NEEDED));
        EXPECT_EQ(kept ? 0 : all, count_of(judged, EDGE_FAN_IN, VERDICT_MAYBE_NEEDED));
        for (const struct edge &edge : judged.edges)
            if (edge.kind == EDGE_FAN_IN && !kept) {
                ASSERT_EQ(REASON_LIMIT, edge.reason);
            }
    }
}

/* Two streams come behind all legacy work at once, twice: only the first time with what is forgotten. */
TEST(Crowd, OnlyTheEdgeThatBroughtWhatIsForgottenIsLimited)
{
    for (const char *between : {"", "memset s=B1 bytes=4 dst=B"}) {
        Text text;
        text.Call(1, "alloc m=A ptr=0x10000 bytes=4096").Call(1, "alloc m=B ptr=0x20000 bytes=4096");
        text.Call(1, "memset s=B1 bytes=4 dst=A").Call(1, "launch k=_Z5emptyv s=L").Call(1, "launch k=_Z5emptyv s=B2");
        text.Call(1, *between != 0 ? between : "launch k=_Z5emptyv s=N2");
        text.Call(1, "launch k=_Z5emptyv s=L").Call(1, "launch k=_Z5emptyv s=B2").Call(1, "launch k=_Z5emptyv s=B1");
        for (int i = 1; i <= 200; i++)
            text.Call(1, "memset s=N1 bytes=4 dst=A+" + std::to_string(i * 8));
        for (bool sweep : {false, true}) {
            const std::string said = Judged(text.Bytes(), sweep).Text();
            EXPECT_NE(std::string::npos, said.find("fan-in 3>4 maybe needed(limit)")) << said;
            EXPECT_NE(std::string::npos, said.find("fan-out 4>5 maybe needed(limit)")) << said;
            EXPECT_NE(std::string::npos, said.find("fan-out 7>8 not needed")) << said;
        }
    }
}

/* The way to it leads over a thread that has ended: its lane stays until nobody can ask for that. */
TEST(Crowd, AnOrderIsFoundOverAThreadThatHasEnded)
{
    for (const char *stream : {"L", "B1"}) {
        Text text;
        text.Call(1, "alloc m=A ptr=0x10000 bytes=4096").Call(1, std::string("memset bytes=64 dst=A s=") + stream);
        text.Call(2, "launch k=_Z5emptyv s=L").Wait(2, "sync s=L").Ends(2).Launches("N", 40);
        text.Call(3, "copy s=N50 bytes=64 src=A");
        Judged judged(text.Bytes());
        EXPECT_EQ(*stream == 'L' ? "fifo 2>3 needed" : "fan-in 2>3 needed", judged.Text());
    }
}

/* Two edges brought what another stream did: of the first one's nothing is left but a use of one memory. That an older use
 * of another memory was before a race is remembered all the same. */
TEST(Crowd, AnOlderOrderThanARaceIsDoubtedAfterSweeping)
{
    for (bool sweep : {false, true}) {
        Text text;
        for (const char *memory : {"A", "C", "D"})
            text.Call(1, std::string("alloc bytes=4096 m=") + memory + " ptr=" + std::to_string(0x10000 * *memory));
        text.Call(1, "memset s=B1 bytes=4 dst=A").Call(1, "memset s=B1 bytes=4 dst=C");
        text.Call(1, "launch k=_Z5emptyv s=L").Call(1, "launch k=_Z5emptyv s=B2");
        text.Call(1, "memset s=B1 bytes=4 dst=D");
        text.Call(1, "launch k=_Z5emptyv s=L").Call(1, "launch k=_Z5emptyv s=B2");
        text.Call(1, "memset s=B1 bytes=4 dst=A").Call(2, "memset s=B2 bytes=4 dst=A");
        Judged judged(text.Bytes(), sweep);
        EXPECT_EQ(1u, judged.totals.races);
        EXPECT_EQ("fan-in 5>6 maybe needed(race); fan-in 7>9 not needed; fan-in 8>9 maybe needed(race); "
                  "fan-out 6>7 maybe needed(race); fan-out 6>8 not needed; fan-out 9>10 maybe needed(race); "
                  "fan-out 9>11 not needed",
                  judged.Text())
            << sweep;
    }
}

/* What was forgotten last may be the older. */
TEST(Crowd, WhatIsForgottenLaterMayBeOlder)
{
    Text text;
    text.Call(1, "alloc m=A ptr=0x10000 bytes=4096").Call(1, "alloc m=B ptr=0x20000 bytes=4096");
    for (const char *memory : {"A", "B"})
        text.Call(1, std::string("memset s=B1 bytes=4 dst=") + memory).Call(1, "launch k=_Z5emptyv s=L");
    for (const char *memory : {"B", "A"})
        for (int i = 1; i <= 200; i++)
            text.Call(1, std::string("memset s=N1 bytes=4 dst=") + memory + "+" + std::to_string(i * 8));
    EXPECT_EQ("fan-in 3>4 maybe needed(limit); fan-in 5>6 maybe needed(limit); fan-out 4>5 not needed",
              Judged(text.Bytes()).Text());
}

} // namespace
} // namespace ptds
