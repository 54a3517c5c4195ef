// SPDX-License-Identifier: Apache-2.0
//
// Is all that the analysis holds of many random runs (random_run.h) as it was? Against told/random.sums (support/sums.h):
// of each number that told.h knows, the sum and how often it was said. A change that changes any of them is seen there, and
// which it is; what it is about is then to be looked for in single runs: with SEED=N this test prints what is told of one.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/analysis/random_run.h"
#include "tests/analysis/told.h"
#include "tests/analysis/verdicts.h"
#include "tests/support/sums.h"

namespace ptds
{
namespace
{

TEST(ToldRandom, SumsOfAll)
{
    const char *only = getenv("SEED");
    Sums sums;
    std::string whole;
    for (uint32_t seed = 1; seed <= 600; seed++) {
        if (only != nullptr && seed != std::stoul(only))
            continue;
        RandomRun run(seed);
        const std::string told = Told(run.text).text;
        whole += "===== seed " + std::to_string(seed) + "\n" + told + "\n";
        if (only != nullptr)
            std::cout << run.text << "---\n" << told << "\n";
        sums.Add(told);
    }
    if (only == nullptr)
        ExpectSums("tests/analysis/told/random.sums", sums.Text(), whole);
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
