// SPDX-License-Identifier: Apache-2.0
//
// All that the analysis holds of many random runs (random_run.h), added up against told/random.sums: of each number
// that told.h knows, the sum and how often it was said. A change that changes any of them is seen there, and which it is;
// what it is about is then to be looked for in single runs: with SEED=N this test prints what is told of one.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/analysis/random_run.h"
#include "tests/analysis/told.h"
#include "tests/analysis/verdicts.h"
#include "tests/support/expected.h"

namespace ptds
{
namespace
{

/* By the line's first word and the number's name. */
class Sums
{
public:
    void Add(const std::string &told)
    {
        for (const std::string &line : lines_of(told)) {
            std::istringstream words(line);
            std::string first, word;
            words >> first;
            said_[first + " "].times++;
            uint64_t place = 0;
            while (words >> word)
                AddWord(first, word, ++place);
        }
    }

    std::string Text() const
    {
        std::string text;
        for (const auto &one : said_)
            text += one.first + std::to_string(one.second.times) + " times, " + std::to_string(one.second.sum) + "\n";
        return text;
    }

private:
    struct Said {
        uint64_t times = 0, sum = 0;
    };

    /* Each number of a word counts more than the one before it, so that none takes another's place unseen. */
    void AddWord(const std::string &first, const std::string &word, uint64_t place)
    {
        const size_t equals = word.find('=');
        Said &said = said_[first + " " + (equals != std::string::npos ? word.substr(0, equals) : "") + " "];
        said.times++;
        said.sum += equals == std::string::npos ? place * word.size() : 0;
        uint64_t number = 0, weight = 1;
        for (char c : word.substr(equals != std::string::npos ? equals : 0) + " ") {
            if (c >= '0' && c <= '9') {
                number = number * 10 + static_cast<uint64_t>(c - '0');
            } else {
                said.sum += number * weight++;
                number = 0;
            }
        }
    }

    std::map<std::string, Said> said_;
};

TEST(ToldRandom, SumsOfAll)
{
    const char *only = getenv("SEED");
    Sums sums;
    for (uint32_t seed = 1; seed <= 600; seed++) {
        if (only != nullptr && seed != std::stoul(only))
            continue;
        RandomRun run(seed);
        const std::string told = Told(run.text).text;
        if (only != nullptr)
            std::cout << run.text << "---\n" << told << "\n";
        sums.Add(told);
    }
    if (only == nullptr)
        ExpectAllOf("tests/analysis/told/random.sums", sums.Text());
}

/* However many accesses are looked at at once, and whenever calls are counted anew. */
TEST(ToldRandom, ShortcutsChangeNothing)
{
    for (uint32_t seed = 1; seed <= 400; seed++) {
        const std::string trace = BuildTrace(RandomRun(seed).text);
        Judged usual(trace);
        for (unsigned few : {0, 1, 3, 1000}) {
            Judged other(trace, false, seed % 29, few);
            ASSERT_EQ(usual.Text(), other.Text()) << "seed " << seed << ", " << few << " at once";
            ASSERT_EQ(usual.totals.races, other.totals.races) << "seed " << seed;
            ASSERT_EQ(usual.totals.dropped, other.totals.dropped) << "seed " << seed;
        }
    }
}

} // namespace
} // namespace ptds
