// SPDX-License-Identifier: Apache-2.0
//
// The repairs of several traces as one list: the same pair of call sites is one place, whatever the trace numbers it.
#include <gtest/gtest.h>

#include <algorithm>

#include <jansson.h>

#include "analysis/repair/merge_traces.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/repair/repair_text.h"
#include "analysis/views/repair/repair_words.h"
#include "tests/analysis/exported.h"

namespace ptds
{
namespace
{

const char memory[] = "setting policy=observe\n1@0+1 alloc ptr=0x100000 bytes=4096 m=A site=make\n"
                      "1@2+1 alloc ptr=0x200000 bytes=4096 m=B\n";

class Repairs
{
public:
    explicit Repairs(const std::vector<std::string> &texts, size_t most = 10) : opened(Traces(texts))
    {
        EXPECT_EQ(0, merge_traces_repairs(&found, &opened.traces, ORDER_PER_THREAD));
        TextOf out;
        repair_text_many(&found, &opened.traces, opened.namer, most, &out);
        said = out.text;
    }
    ~Repairs()
    {
        merge_traces_end(&found);
    }
    Repairs(const Repairs &) = delete;

    bool Says(const std::string &what) const
    {
        return said.find(what) != std::string::npos;
    }

    Opened opened;
    struct repairs found;
    std::string said;

private:
    static std::vector<std::string> Traces(const std::vector<std::string> &texts)
    {
        std::vector<std::string> all;
        for (const std::string &text : texts) {
            all.push_back(BuildTrace(memory + text));
            for (size_t at; (at = all.back().find("_Z5againPf")) != std::string::npos;)
                all.back().replace(at, 10, "_Z5firstPf"); /* as if its module had been loaded twice */
        }
        return all;
    }
};

const char put_and_take[] = "1@10 memset s=L dst=A bytes=64 site=put\n2@20 copy s=L src=A dst=B bytes=64 site=take\n";
const char twice[] =
    "1@10 memset s=L dst=A bytes=64 site=put\n2@20 copy s=L src=A dst=B bytes=64 site=take\n2@21+5 sync s=L\n"
    "1@30 memset s=L dst=A bytes=64 site=put\n2@40 copy s=L src=A dst=B bytes=64 site=take\n";
/* The same two kernels, after others that take the first numbers. */
const char kernels[] = "1@10 launch s=L k=_Z1aPf args=A site=put\n2@20 launch s=L k=_Z1bPf args=A site=take\n";
const char others_first[] = "1@5 launch s=N1 k=_Z1yv site=put\n1@6 launch s=N1 k=_Z1zv site=put\n"
                            "1@10 launch s=L k=_Z1aPf args=A site=put\n2@20 launch s=L k=_Z1bPf args=A site=take\n";
const char other_kernel[] = "1@10 launch s=L k=_Z1aPf args=A site=put\n2@20 launch s=L k=_Z1cPf args=A site=take\n";
const char none[] = "1@10 memset s=L dst=A bytes=64 site=put\n1@20 copy s=L src=A dst=B bytes=64 site=take\n";

TEST(RepairMany, TheSamePairOfCallSitesIsOne)
{
    Repairs runs({put_and_take, twice, none});
    ASSERT_EQ(1u, runs.found.all.places.count) << runs.said;
    EXPECT_EQ(2u, runs.found.where.items[0].traces);
    EXPECT_EQ(3u, runs.found.all.places.items[0].waits) << "one and two";
    EXPECT_EQ(3u, runs.found.all.places.items[0].calls) << "in the traces that have it";
    EXPECT_EQ(3u, runs.found.all.needed);
    EXPECT_TRUE(runs.Says("3 waits needed, between 1 pair of call sites; needed in 2 of 3 traces\n")) << runs.said;
    EXPECT_TRUE(runs.Says("#1 needed, 3 of ")) << runs.said;
    EXPECT_TRUE(runs.Says(" times, in 2 of 3 traces\n")) << runs.said;
    EXPECT_TRUE(runs.Says("    as in                   ")) << runs.said;
}

TEST(RepairMany, ByNameNotByNumber)
{
    Repairs runs({kernels, others_first});
    ASSERT_EQ(1u, runs.found.all.places.count) << runs.said;
    EXPECT_EQ(2u, runs.found.where.items[0].traces);
    EXPECT_EQ(2u, Repairs({kernels, other_kernel}).found.all.places.count);
    Repairs others({put_and_take,
                    "1@10 memset s=L dst=A bytes=64 site=put\n2@20 copy s=L src=A dst=B bytes=64 site=take@libother.so\n"});
    EXPECT_EQ(2u, others.found.all.places.count) << others.said;
    EXPECT_TRUE(others.Says("in 1 of 2 traces")) << others.said;
}

/* Two kernels of one name are two places of one trace, which is still one trace. */
TEST(RepairMany, ATraceCountsOnce)
{
    Repairs runs(
        {"1@10 memset s=L dst=A bytes=64 site=put\n2@20 launch s=L k=_Z5firstPf args=A site=take\n2@21+5 sync s=L\n"
         "1@30 memset s=L dst=A bytes=64 site=put\n2@40 launch s=L k=_Z5againPf args=A site=take\n",
         none});
    ASSERT_EQ(1u, runs.found.all.places.count) << runs.said;
    EXPECT_EQ(2u, runs.found.all.places.items[0].waits) << runs.said;
    EXPECT_EQ(1u, runs.found.where.items[0].traces) << runs.said;
    EXPECT_TRUE(runs.Says("in 1 of 2 traces")) << runs.said;
}

TEST(RepairMany, NeededInMoreTracesComesFirst)
{
    const std::string rare = "1@110 memset s=L dst=B bytes=64 site=put2\n2@120 copy s=L src=B dst=B bytes=64 site=take2\n"
                             "2@121+5 sync s=L\n1@130 memset s=L dst=B bytes=64 site=put2\n"
                             "2@140 copy s=L src=B dst=B bytes=64 site=take2\n2@141+5 sync s=L\n"
                             "1@150 memset s=L dst=B bytes=64 site=put2\n2@160 copy s=L src=B dst=B bytes=64 site=take2\n";
    Repairs runs({put_and_take, std::string(put_and_take) + "2@50+5 sync s=L\n" + rare});
    ASSERT_LE(2u, runs.found.all.places.count) << runs.said;
    EXPECT_EQ(2u, runs.found.where.items[0].traces) << runs.said;
    EXPECT_EQ(1u, runs.found.where.items[1].traces) << runs.said;
    EXPECT_GT(runs.found.all.places.items[1].waits, runs.found.all.places.items[0].waits);
    EXPECT_FALSE(Repairs({put_and_take, twice}, 0).Says("#1 "));
}

/* Threads and streams beside the first ones, of whichever trace. */
TEST(RepairMany, OtherThreadsAreSaid)
{
    const std::string other_first =
                          "1@10 memset s=L dst=A bytes=64 site=put\n2@20 copy s=L src=A dst=B bytes=64 site=take\n"
                          "2@21+5 sync s=L\n3@30 memset s=L dst=A bytes=64 site=put\n"
                          "2@40 copy s=L src=A dst=B bytes=64 site=take\n",
                      other_second =
                          "1@10 memset s=L dst=A bytes=64 site=put\n2@20 copy s=L src=A dst=B bytes=64 site=take\n"
                          "2@21+5 sync s=L\n1@30 memset s=L dst=A bytes=64 site=put\n"
                          "3@40 copy s=L src=A dst=B bytes=64 site=take\n";
    auto more = [](const std::vector<std::string> &texts) {
        Repairs runs(texts);
        const repair_place &place = runs.found.all.places.items[0];
        return std::string(place.more_firsts ? "firsts " : "") + (place.more_seconds ? "seconds" : "");
    };
    EXPECT_EQ("", more({put_and_take, twice}));
    EXPECT_EQ("firsts ", more({other_first}));
    EXPECT_EQ("seconds", more({other_second}));
    EXPECT_EQ("firsts ", more({put_and_take, other_first}));
    EXPECT_EQ("seconds", more({other_second, put_and_take}));
    EXPECT_EQ("firsts seconds", more({other_second, put_and_take, other_first}));
}

/* Of places in as many traces the one with more waits, whichever was there first. */
TEST(RepairMany, MoreWaitsComeFirst)
{
    auto pairs = [](const char *site, unsigned from, unsigned count) {
        std::string text;
        for (unsigned i = 0; i < count; i++)
            text += "1@" + std::to_string(from + 100 * i) + " memset s=L dst=A bytes=64 site=put" + site + "\n2@" +
                    std::to_string(from + 10 + 100 * i) + " copy s=L src=A dst=B bytes=64 site=take" + site + "\n2@" +
                    std::to_string(from + 20 + 100 * i) + "+5 sync s=L\n";
        return text;
    };
    for (const std::string &text : {pairs("one", 10, 1) + pairs("two", 1000, 3) + pairs("three", 2000, 2),
                                    pairs("one", 10, 3) + pairs("two", 1000, 2) + pairs("three", 2000, 1)}) {
        Repairs runs({text});
        std::vector<uint64_t> waits;
        for (size_t i = 0; i < runs.found.all.places.count; i++)
            waits.push_back(runs.found.all.places.items[i].waits);
        EXPECT_TRUE(waits.size() >= 3 && std::is_sorted(waits.rbegin(), waits.rend())) << runs.said;
        EXPECT_EQ(3u, waits.at(0));
    }
}

TEST(RepairMany, WhatIsMaybeNeededIsCountedApart)
{
    Repairs runs({"1@10 launch s=L k=_Z1aPf args=A site=put\n2@20 launch s=L k=_Z1bPf args=A site=take\n", none});
    EXPECT_TRUE(runs.Says("; maybe needed in 1 of 2 traces\n")) << runs.said;
    Repairs both(
        {"1@10 launch s=L k=_Z1aPf args=A site=put\n2@20 launch s=L k=_Z1bPf args=A site=take\n", put_and_take, none});
    EXPECT_TRUE(both.Says("; needed in 1 of 3 traces, maybe needed in 1 more\n")) << both.said;
    EXPECT_TRUE(Repairs({none, none}).Says("nothing to mend: per-thread keeps all orders")) << "and no word of traces";
    EXPECT_FALSE(Repairs({none, none}).Says(" traces"));
}

TEST(RepairMany, JsonHasTheSameList)
{
    Repairs runs({put_and_take, twice, none});
    TextOf out;
    ASSERT_EQ(0, report_json_many_repaired(&runs.opened.traces, &runs.opened.folds, &runs.found, runs.opened.namer, &out));
    json_t *root = json_loads(out.text.c_str(), 0, nullptr), *repair = json_object_get(root, "repair");
    json_t *place = json_array_get(json_object_get(repair, "places"), 0);
    EXPECT_EQ(2, json_integer_value(json_object_get(place, "traces")));
    EXPECT_EQ(3, json_integer_value(json_object_get(place, "waits")));
    EXPECT_EQ(3, json_integer_value(json_object_get(repair, "traces")));
    EXPECT_EQ(2, json_integer_value(json_object_get(repair, "traces_needing")));
    EXPECT_STREQ(repair_words_many_title(&runs.found, 0).text, json_string_value(json_object_get(place, "title")));
    EXPECT_TRUE(runs.Says(std::string("#1 ") + repair_words_many_title(&runs.found, 0).text + "\n")) << runs.said;
    json_decref(root);
    out.text.clear();
    ASSERT_EQ(0, report_json_many(&runs.opened.traces, &runs.opened.folds, runs.opened.namer, &out));
    EXPECT_NE(std::string::npos, out.text.find("\"repair\": null")) << "not asked for";
}

} // namespace
} // namespace ptds
