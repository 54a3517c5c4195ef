// SPDX-License-Identifier: Apache-2.0
//
// What-if in words: from numbers that are made up, each line whole.
#include <gtest/gtest.h>

#include "analysis/views/json/whatif_json.h"
#include "analysis/views/text/whatif_text.h"
#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

const uint64_t MS = 1000000;

/* A run of 1000 ms, all of whose operations have times; what it would take under guarded. */
struct Found : whatif {
    Found(uint64_t least_ms, uint64_t most_ms) : whatif{}
    {
        recorded = replayed = 1000 * MS;
        gpu = gpu_timed = 20;
        for (prediction &policy : policies)
            policy = {1000 * MS, 1000 * MS, {}};
        policies[0] = {least_ms * MS, most_ms * MS, {}};
    }
    std::string Gain() const
    {
        return whatif_text_gain(this, &policies[0]).text;
    }
    std::string Text() const
    {
        TextOf out;
        whatif_text(this, &out);
        return out.text;
    }
};

/* Runs of one program differ by 5 %; 2 % beyond that are noticed. */
TEST(WhatIfWords, GainsAreRatiosFromLeastToMost)
{
    EXPECT_EQ("2.00x to 4.00x faster", Found(250, 500).Gain());
    EXPECT_EQ("1.07x to 1.07x faster", Found(934, 934).Gain());
    EXPECT_EQ("up to 1.07x faster", Found(934, 935).Gain()) << "1.0707 is more than 1.07, 1.0695 is not";
    EXPECT_EQ("up to 2.00x faster", Found(500, 1000).Gain());
    EXPECT_EQ("no faster", Found(935, 1000).Gain());
    EXPECT_EQ("no faster", Found(1000, 1000).Gain());
    EXPECT_EQ("no faster", Found(935, 1069).Gain());
    EXPECT_EQ("up to 1.08x slower", Found(1000, 1080).Gain());
    EXPECT_EQ("up to 1.08x slower", Found(935, 1080).Gain());
    EXPECT_EQ("1.08x slower to 1.07x faster", Found(934, 1080).Gain());
    EXPECT_EQ("1.08x to 2.00x slower", Found(1080, 2000).Gain());
    EXPECT_EQ("up to 2.00x slower", Found(1069, 2000).Gain());
    EXPECT_EQ("1.07x to 2.00x slower", Found(1071, 2000).Gain());
}

TEST(WhatIfWords, TheFirstScreensLine)
{
    Found found(250, 500);
    EXPECT_STREQ("Under guarded: 2.00x to 4.00x faster, by a replay (--what-if)", whatif_text_line(&found).text);
    found.gpu_timed = 18;
    EXPECT_NE(0u, whatif_text_line(&found).used) << "nearly all";
    found.gpu_timed = 17;
    EXPECT_EQ(0u, whatif_text_line(&found).used) << "a guess";
    found.gpu_timed = 20;
    found.doubt = WHATIF_MISSES;
    EXPECT_EQ(0u, whatif_text_line(&found).used);
}

const std::string notes =
    "  from, to: what the trace leaves open, and 5 % on either side, for runs of one program differ\n"
    "  then: what the longer of the two times would still go into; host: the program itself, and its calls\n";

TEST(WhatIfWords, AWholePredictionInWords)
{
    Found found(250, 500);
    found.error = 0.0123;
    found.policies[0].spent.at = 1000;
    found.policies[0].spent.part[PART_HOST] = 500;
    found.policies[0].spent.part[PART_KERNELS] = 51;
    found.policies[0].spent.part[PART_COPIES] = 449;
    found.policies[1].spent.at = 1000;
    found.policies[1].spent.part[PART_DRIVER] = 950;
    found.policies[1].spent.part[PART_HOST] = 50;
    found.policies[2].spent.at = 1000;
    found.policies[2].spent.part[PART_LAUNCH] = 600;
    found.policies[2].spent.part[PART_HOST] = 51;
    const std::string
        head = "What if default-stream work ran elsewhere? From its first work on the run took 1.00 s; replayed "
               "as it was 1.2 % off\n",
        rest = "  guarded     2.00x to 4.00x faster         250.0 ms to 500.0 ms  then host 50 %, copies 45 %\n"
               "  per-thread  no faster                       1.00 s to 1.00 s    then the driver 95 %\n"
               "  stream      no faster                       1.00 s to 1.00 s    then launching 60 %, host 5 %\n" +
               notes;
    EXPECT_EQ(head + rest, found.Text());
    found.gpu_timed = 18;
    EXPECT_EQ(head + "  2 of 20 operations have no GPU times; theirs are guessed from what was waited for\n" + rest,
              found.Text());
    found.gpu_timed = 17;
    EXPECT_EQ(head + "  A guess: 3 of 20 operations have no GPU times; record with PTDS_DEVICE_TIMES=cupti\n" + rest,
              found.Text());
    found.gpu_timed = 20;
    const std::string orders[] = {"  per-thread gives up implicit order: of this run's orders 3 are needed, 0 maybe; "
                                  "without one that is, results are "
                                  "wrong (--repair: what to add)\n",
                                  "  per-thread gives up implicit order: of this run's orders 0 are needed, 1 maybe; "
                                  "without one that is, results are "
                                  "wrong (--repair: what to add)\n"};
    found.needed = 3;
    EXPECT_EQ(head + rest + orders[0], found.Text());
    found.needed = 0;
    found.maybe_needed = 1;
    EXPECT_EQ(head + rest + orders[1], found.Text());
}

TEST(WhatIfWords, EachDoubtHasItsReason)
{
    Found found(250, 500);
    const std::pair<whatif_doubt, const char *> doubts[] = {
        {WHATIF_REMAPPED, "the run moved default-stream work; record it with policy observe"},
        {WHATIF_UNSAID, "the trace does not say which policy the run had"},
        {WHATIF_NO_TIME, "the trace has no work with host times"},
        {WHATIF_GAPS, "records are missing; record with a larger PTDS_TRACE_LIMIT"},
        {WHATIF_TOO_LONG, "too many calls; record a shorter run"},
        {WHATIF_NO_LENGTH, "the run ends with its first work on a device"},
        {WHATIF_NO_MEMORY, "no memory for it"}};
    for (const auto &[doubt, words] : doubts) {
        found.doubt = doubt;
        EXPECT_EQ(std::string("What if: no prediction: ") + words + " (from its first work on it took 1.00 s)\n",
                  found.Text());
    }
    found.doubt = WHATIF_MISSES;
    found.replayed = 800 * MS;
    found.error = 0.2;
    EXPECT_EQ("What if: no prediction: the replay of the run as it was misses it (from its first work on it took 1.00 s, "
              "replayed 800.0 ms: 20.0 % off, more than 10)\n",
              found.Text());
    TextOf json;
    ASSERT_EQ(0, whatif_json(&found, &json));
    EXPECT_NE(std::string::npos, json.text.find("\"policies\": {\n    \"guarded\": null,\n    \"per-thread\": null,\n"
                                                "    \"stream\": null\n  }"))
        << json.text;
}

} // namespace
} // namespace ptds
