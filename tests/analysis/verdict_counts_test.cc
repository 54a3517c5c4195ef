// SPDX-License-Identifier: Apache-2.0
//
// How much the verdict engine says of longer random traces, exactly. That it says nothing wrong of them is asked by
// verdict_random_test; here it is seen if it says less than it could, or finds other examples: each verdict with its
// reasons, what was lost of them, and where all their examples lie, in one sum. Once as it is, and once forgetting at each
// call all that it may forget (sweep.c), which settles some of them sooner: as "not needed", where another edge holds the
// same.
#include "tests/analysis/random_reference.h"

namespace ptds
{
namespace
{

enum { SEEDS = 120, LONG = 16 }; /* of 16 seeds one makes a long trace */

/* The same calls, their default-stream work sent to streams of the threads, as under per-thread. */
std::string PerThread(const std::string &text)
{
    std::string out = "setting policy=per-thread\n";
    for (size_t at = 0; at < text.size();) {
        size_t end = text.find('\n', at), legacy = text.find(" s=L", at);
        std::string line = text.substr(at, end - at), thread = line.substr(0, line.find('@'));
        bool memory = line.find(" memset ") != std::string::npos || line.find(" copy ") != std::string::npos;
        if (legacy < end)
            line.insert(legacy - at + 4, (memory ? " target=P" : " to=P") + thread);
        out += line + "\n";
        at = end + 1;
    }
    return out;
}

class Counts
{
public:
    void Add(const Judged &judged)
    {
        static const char *const losses[] = {"none", "possible", "definite"};
        for (const struct edge &edge : judged.edges) {
            said_[std::string(Judged::Verdict(edge.verdict)) +
                  (edge.verdict == VERDICT_MAYBE_NEEDED ? std::string(" for ") + Judged::Reason(edge.reason) : "")]++;
            said_[std::string("loss ") + losses[edge.loss]]++;
            if (edge.verdict != VERDICT_NOT_NEEDED)
                said_["examples at"] += edge.pair.first.ticks / 1000 * 100 + edge.pair.second.ticks / 1000;
        }
        for (const edge_pair &race : judged.races)
            said_["races at"] += race.first.ticks / 1000 * 100 + race.second.ticks / 1000;
        said_["races"] += judged.totals.races;
        said_["possible races"] += judged.totals.possible_races;
        said_["overtaken"] += judged.overtaken;
        said_["given up"] += judged.given_up;
    }

    std::string Text() const
    {
        std::string text;
        for (const auto &one : said_)
            text += one.first + ": " + std::to_string(one.second) + "\n";
        return text;
    }

private:
    std::map<std::string, uint64_t> said_;
};

std::string Said(bool per_thread, bool sweep_always)
{
    Counts counts;
    for (uint32_t seed = 1; seed <= SEEDS; seed++) {
        const std::string text = Random(seed * LONG).text;
        counts.Add(Judged(BuildTrace(per_thread ? PerThread(text) : text), sweep_always, seed % 29, seed % 4 + 1));
    }
    return counts.Text();
}

/* As long as programs are: more accesses to a memory than are remembered one by one, more lanes that use it than are asked
 * in turn, waits that others' waits overlap, memory that comes and goes, copies that overtake. Nobody's reference goes
 * through so many pairs; but how the engine looks them up must not change what it says. */
class Long
{
public:
    explicit Long(uint32_t seed) : random_(seed)
    {
        for (int i = 0; i < MEMORIES; i++)
            Line(1, (i == 0 ? "alloc-host m=M" : "alloc m=M") + std::to_string(i) +
                        " ptr=" + std::to_string(0x10000 * (i + 1)) + " bytes=4096");
        for (int i = 0; i < 1200; i++)
            Step();
    }
    std::string text;

private:
    enum { THREADS = 4, MEMORIES = 5 };

    size_t Pick(size_t below)
    {
        return random_() % below;
    }
    void Line(size_t thread, const std::string &call, size_t duration = 0)
    {
        now_ = std::max(now_ + 1 + Pick(2), free_[thread]);
        free_[thread] = now_ + duration;
        text += std::to_string(thread) + "@" + std::to_string(now_) +
                (duration != 0 ? "+" + std::to_string(duration) : "") + " " + call + "\n";
    }
    std::string Stream()
    {
        static const char *const some[] = {"L", "L", "L", "B1", "B2", "N1"};
        return Pick(4) == 0 ? "B" + std::to_string(3 + Pick(9)) : some[Pick(6)];
    }
    std::string Place(size_t memory)
    {
        return "M" + std::to_string(memory) + "+" + std::to_string(Pick(3) == 0 ? Pick(500) * 8 : Pick(2) * 512);
    }
    void Copy(size_t thread)
    {
        const size_t memory = 1 + Pick(MEMORIES - 1);
        const std::string bytes = " bytes=" + std::to_string(Pick(3) == 0 ? 256 : 64);
        bool waits = Pick(4) == 0, out = Pick(2) == 0;
        Line(thread,
             "copy s=" + Stream() + (waits ? " implicit" : "") +
                 (out ? " from=device to=pinned src=" + Place(memory) + " dst=" + Place(0)
                      : " from=pinned to=device src=" + Place(0) + " dst=" + Place(memory)) +
                 bytes,
             waits ? 1 + Pick(6) : 0);
    }
    void Step()
    {
        static const char *const kernels[] = {"_Z4readPKf", "_Z4fillPf", "_Z4copyPKfPf", "user"};
        const size_t thread = 1 + Pick(THREADS), memory = 1 + Pick(MEMORIES - 1), kernel = Pick(4);
        switch (Pick(12)) {
        case 0:
        case 1:
        case 2:
            Line(thread, std::string("launch k=") + kernels[kernel] + " s=" + Stream() + " args=" + Place(memory) +
                             (kernel == 2 ? "," + Place(1 + Pick(MEMORIES - 1)) : "") + (Pick(40) == 0 ? " opaque" : ""));
            break;
        case 3:
        case 4:
        case 5: Line(thread, "memset s=" + Stream() + " dst=" + Place(memory) + " bytes=64"); break;
        case 6:
        case 7: Copy(thread); break;
        case 8: Line(thread, "record s=" + Stream() + " e=E" + std::to_string(Pick(3))); break;
        case 9: Line(thread, "wait s=" + Stream() + " e=E" + std::to_string(Pick(3))); break;
        case 10: Line(thread, "sync s=" + Stream(), 1 + Pick(8)); break;
        default:
            if (Pick(8) == 0)
                Line(thread, "ctx-sync", 1 + Pick(8));
            else if (Pick(8) == 0)
                Line(thread, "host-function s=" + Stream());
            else if (Pick(4) == 0)
                Line(thread, "event-sync e=E" + std::to_string(Pick(3)), 1 + Pick(8));
            else if (Pick(4) == 0)
                New(thread, memory);
        }
    }
    /* Frees a memory, and allocates it anew where it was. */
    void New(size_t thread, size_t memory)
    {
        const std::string name = "M" + std::to_string(memory);
        Line(thread, "free m=" + name, 1 + Pick(4));
        Line(thread, "alloc m=" + name + " ptr=" + std::to_string(0x10000 * (memory + 1)) + " bytes=4096");
    }

    std::mt19937 random_;
    size_t now_ = 1;
    std::map<size_t, size_t> free_;
};

std::string SaidOfLong(bool per_thread, bool sweep_always, unsigned few = 8, unsigned anew_after = 1000)
{
    Counts counts;
    for (uint32_t seed = 1; seed <= 3; seed++) {
        const std::string text = Long(seed).text, bytes = BuildTrace(per_thread ? PerThread(text) : text);
        counts.Add(Judged(bytes, sweep_always, anew_after + seed, few));
    }
    return counts.Text();
}

TEST(VerdictCounts, AsTheProgramRanIt)
{
    EXPECT_EQ("examples at: 4127760\n"
              "given up: 0\n"
              "loss none: 3142\n"
              "maybe needed for access: 315\n"
              "maybe needed for extent: 440\n"
              "maybe needed for host: 11\n"
              "maybe needed for lost: 1\n"
              "maybe needed for opaque: 277\n"
              "maybe needed for race: 55\n"
              "needed: 200\n"
              "not needed: 1843\n"
              "overtaken: 0\n"
              "possible races: 572\n"
              "races: 119\n"
              "races at: 739030\n",
              Said(false, false));
}

TEST(VerdictCounts, SweptAtEachCall)
{
    EXPECT_EQ("examples at: 4124449\n"
              "given up: 0\n"
              "loss none: 3142\n"
              "maybe needed for access: 314\n"
              "maybe needed for extent: 441\n"
              "maybe needed for host: 11\n"
              "maybe needed for lost: 1\n"
              "maybe needed for opaque: 277\n"
              "maybe needed for race: 55\n"
              "needed: 200\n"
              "not needed: 1843\n"
              "overtaken: 0\n"
              "possible races: 572\n"
              "races: 119\n"
              "races at: 739030\n",
              Said(false, true));
}

TEST(VerdictCounts, UnderPerThread)
{
    EXPECT_EQ("examples at: 4132088\n"
              "given up: 1926\n"
              "loss definite: 19\n"
              "loss none: 2029\n"
              "loss possible: 1094\n"
              "maybe needed for access: 315\n"
              "maybe needed for extent: 440\n"
              "maybe needed for host: 11\n"
              "maybe needed for lost: 1\n"
              "maybe needed for opaque: 277\n"
              "maybe needed for race: 55\n"
              "needed: 200\n"
              "not needed: 1843\n"
              "overtaken: 0\n"
              "possible races: 572\n"
              "races: 119\n"
              "races at: 739030\n",
              Said(true, false));
}

TEST(VerdictCounts, UnderPerThreadSweptAtEachCall)
{
    EXPECT_EQ("examples at: 4128777\n"
              "given up: 1926\n"
              "loss definite: 19\n"
              "loss none: 2028\n"
              "loss possible: 1095\n"
              "maybe needed for access: 314\n"
              "maybe needed for extent: 441\n"
              "maybe needed for host: 11\n"
              "maybe needed for lost: 1\n"
              "maybe needed for opaque: 277\n"
              "maybe needed for race: 55\n"
              "needed: 200\n"
              "not needed: 1843\n"
              "overtaken: 0\n"
              "possible races: 572\n"
              "races: 119\n"
              "races at: 739030\n",
              Said(true, true));
}

TEST(VerdictCounts, OfLongRuns)
{
    EXPECT_EQ("examples at: 232614443\n"
              "given up: 0\n"
              "loss none: 3988\n"
              "maybe needed for access: 284\n"
              "maybe needed for extent: 1131\n"
              "maybe needed for host: 42\n"
              "maybe needed for opaque: 213\n"
              "maybe needed for race: 67\n"
              "needed: 654\n"
              "not needed: 1597\n"
              "overtaken: 21\n"
              "possible races: 982\n"
              "races: 197\n"
              "races at: 28403514\n",
              SaidOfLong(false, false));
}

TEST(VerdictCounts, OfLongRunsSweptAtEachCall)
{
    EXPECT_EQ("examples at: 231898761\n"
              "given up: 0\n"
              "loss none: 3988\n"
              "maybe needed for access: 286\n"
              "maybe needed for extent: 1124\n"
              "maybe needed for host: 42\n"
              "maybe needed for opaque: 212\n"
              "maybe needed for race: 66\n"
              "needed: 654\n"
              "not needed: 1604\n"
              "overtaken: 21\n"
              "possible races: 982\n"
              "races: 197\n"
              "races at: 28321903\n",
              SaidOfLong(false, true));
}

TEST(VerdictCounts, OfLongRunsUnderPerThread)
{
    EXPECT_EQ("examples at: 232642532\n"
              "given up: 2060\n"
              "loss definite: 354\n"
              "loss none: 1678\n"
              "loss possible: 1956\n"
              "maybe needed for access: 284\n"
              "maybe needed for extent: 1132\n"
              "maybe needed for host: 42\n"
              "maybe needed for opaque: 213\n"
              "maybe needed for race: 67\n"
              "needed: 654\n"
              "not needed: 1596\n"
              "overtaken: 77\n"
              "possible races: 982\n"
              "races: 197\n"
              "races at: 28403514\n",
              SaidOfLong(true, false));
}

TEST(VerdictCounts, OfLongRunsUnderPerThreadSweptAtEachCall)
{
    EXPECT_EQ("examples at: 231926850\n"
              "given up: 2060\n"
              "loss definite: 354\n"
              "loss none: 1680\n"
              "loss possible: 1954\n"
              "maybe needed for access: 286\n"
              "maybe needed for extent: 1125\n"
              "maybe needed for host: 42\n"
              "maybe needed for opaque: 212\n"
              "maybe needed for race: 66\n"
              "needed: 654\n"
              "not needed: 1603\n"
              "overtaken: 77\n"
              "possible races: 982\n"
              "races: 197\n"
              "races at: 28321903\n",
              SaidOfLong(true, true));
}

TEST(VerdictCounts, HowManyAreLookedAtAtOnceChangesNothing)
{
    const std::string said = SaidOfLong(false, false);
    EXPECT_EQ(said, SaidOfLong(false, false, 0));
    EXPECT_EQ(said, SaidOfLong(false, false, 2, 3));
}

} // namespace
} // namespace ptds
