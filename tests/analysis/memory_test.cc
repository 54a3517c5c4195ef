// SPDX-License-Identifier: Apache-2.0
//
// What the analysis allocates: it gives all of it back, and it comes to an end, without a leak, whichever allocation fails.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "analysis/check/results.h"
#include "analysis/repair/repair.h"
#include "analysis/whatif/whatif.h"
#include "tests/analysis/support.h"

/* A sanitizer has an allocator of its own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__GLIBC__)
#define COUNTS_MEMORY 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COUNTS_MEMORY 0
#endif
#endif
#ifndef COUNTS_MEMORY
#define COUNTS_MEMORY 1
#endif

namespace
{
long live, asked, fails_at = -1; /* blocks; allocations so far; which one fails, -1 none */

[[maybe_unused]] bool fails()
{
    return ++asked == fails_at;
}
} // namespace

#if COUNTS_MEMORY
extern "C" {
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *block);

void *malloc(size_t size)
{
    void *block = fails() ? nullptr : __libc_malloc(size);
    live += block != nullptr;
    return block;
}
void *calloc(size_t count, size_t size)
{
    void *block = fails() ? nullptr : __libc_calloc(count, size);
    live += block != nullptr;
    return block;
}
void *realloc(void *old, size_t size)
{
    void *block = fails() ? nullptr : __libc_realloc(old, size);
    live += old == nullptr && block != nullptr;
    live -= old != nullptr && size == 0 && block == nullptr;
    return block;
}
void free(void *block)
{
    live -= block != nullptr;
    __libc_free(block);
}
}
#endif

namespace ptds
{
namespace
{

/* All of a trace's analysis. How many blocks are left of it, and how many it asked for. */
struct Analysed {
    explicit Analysed(const trace_source *source, long fail = -1)
    {
        struct report report;
        struct recorded recorded;
        struct repair repair;
        char error[TRACE_ERROR_SIZE];
        long before = live;
        asked = 0;
        fails_at = fail;
        recorded_begin(&recorded);
        if (report_build_watched(&report, source, nullptr, &recorded.watch, error) == 0) {
            residual_find(&report);
            repair_of(&repair, &report, ORDER_PER_THREAD);
            repair_end(&repair);
            whatif_of(&report, &recorded);
        }
        report_end(&report);
        recorded_end(&recorded);
        fails_at = -1;
        left = live - before;
        allocations = asked;
    }
    long left, allocations;
};

std::string RunOf(const std::string &name)
{
    std::ifstream file("tests/analysis/told/" + name + ".run");
    EXPECT_TRUE(file.good()) << name;
    std::stringstream text;
    text << file.rdbuf();
    return BuildTrace(text.str().substr(0, text.str().find("---\n")));
}

TEST(Memory, IsAllGivenBack)
{
    if (!COUNTS_MEMORY)
        GTEST_SKIP() << "a sanitizer looks for leaks";
    for (const char *name :
         {"crowd", "gaps", "given-up", "guarded", "kept", "kinds", "per-thread", "places", "short", "timed"}) {
        MemoryTrace trace(RunOf(name));
        Analysed analysed(trace.source());
        EXPECT_LT(100, analysed.allocations) << name;
        EXPECT_EQ(0, analysed.left) << name;
    }
    const rule *rules[RULES_MOST];
    for (size_t i = 0, count = registry_all(rules); i < count; i++)
        for (const char *text : {rules[i]->bad, rules[i]->good}) {
            MemoryTrace trace(BuildTrace(text));
            EXPECT_EQ(0, Analysed(trace.source()).left) << rules[i]->id;
        }
}

TEST(Memory, MayFailAnywhere)
{
    if (!COUNTS_MEMORY)
        GTEST_SKIP() << "the allocator is a sanitizer's";
    for (const char *name : {"gaps", "kept", "kinds", "timed"}) {
        MemoryTrace trace(RunOf(name));
        long all = Analysed(trace.source()).allocations;
        for (long fail = 1; fail <= all; fail++)
            ASSERT_EQ(0, Analysed(trace.source(), fail).left) << name << ": allocation " << fail << " of " << all;
    }
}

/* What a report says of edges and costs; `lost`: and that it may be of less than it was asked for. */
struct Said {
    explicit Said(const trace_source *source, long fail = -1)
    {
        struct report report;
        char error[TRACE_ERROR_SIZE];
        asked = 0;
        fails_at = fail;
        lost = report_build(&report, source, error) != 0 || report.out_of_memory;
        fails_at = -1;
        allocations = asked;
        for (int verdict = 0; verdict < VERDICTS; verdict++)
            numbers.push_back(edge_table_count(&report.edges, static_cast<enum verdict>(verdict)));
        for (uint64_t count : report.edges.lost)
            numbers.push_back(count);
        numbers.insert(numbers.end(), {report.edges.totals.races, report.edges.totals.possible_races, report.totals.host_ns,
                                       report.totals.recorded, report.findings.count, report.entries.count});
        report_end(&report);
    }
    bool lost;
    std::vector<uint64_t> numbers;
    long allocations;
};

/* Without memory for all it says so: else an order would count as not needed, or as missing, since half of it was
 * forgotten. */
TEST(Memory, AReportOfLessSaysSo)
{
    if (!COUNTS_MEMORY)
        GTEST_SKIP() << "the allocator is a sanitizer's";
    for (const char *name : {"any-10", "crowd", "gaps", "kept", "kinds", "per-thread"}) {
        MemoryTrace trace(RunOf(name));
        const Said whole(trace.source());
        long lost = 0;
        ASSERT_FALSE(whole.lost) << name;
        for (long fail = 1; fail <= whole.allocations; fail++) {
            const Said said(trace.source(), fail);
            lost += said.lost;
            EXPECT_TRUE(said.lost || said.numbers == whole.numbers) << name << ": allocation " << fail;
        }
        EXPECT_LT(whole.allocations * 9 / 10, lost) << name;
    }
}

bool IsSame(const prediction &one, const prediction &two)
{
    return one.least == two.least && one.most == two.most;
}

/* Of a replay that has no memory nothing is predicted: half a replay would be a shorter run. */
TEST(Memory, NoPredictionIsOneForWantOfMemory)
{
    if (!COUNTS_MEMORY)
        GTEST_SKIP() << "the allocator is a sanitizer's";
    MemoryTrace trace(RunOf("gain"));
    auto replayed = [&](long fail) {
        struct report report;
        struct recorded recorded;
        char error[TRACE_ERROR_SIZE];
        recorded_begin(&recorded);
        EXPECT_EQ(0, report_build_watched(&report, trace.source(), nullptr, &recorded.watch, error));
        asked = 0;
        fails_at = fail;
        struct whatif found = whatif_of(&report, &recorded);
        fails_at = -1;
        report_end(&report);
        recorded_end(&recorded);
        return found;
    };
    const struct whatif whole = replayed(-1);
    const long all = asked;
    ASSERT_EQ(WHATIF_SURE, whole.doubt);
    long lost = 0;
    for (long fail = 1; fail <= all; fail++) {
        const struct whatif found = replayed(fail);
        bool same = found.doubt == WHATIF_SURE && found.spread == whole.spread;
        for (unsigned i = 0; i < WHATIF_POLICIES && same; i++)
            same = IsSame(found.policies[i], whole.policies[i]);
        lost += found.doubt == WHATIF_NO_MEMORY;
        EXPECT_TRUE(same || found.doubt == WHATIF_NO_MEMORY) << fail << " of " << all;
    }
    EXPECT_LT(all / 2, lost);
}

/* What a check has no memory to say, it knows that it has not said: a check that passed for want of memory would let
 * anything through. */
TEST(Memory, AChecksResultsAreNotLostUnseen)
{
    if (!COUNTS_MEMORY)
        GTEST_SKIP() << "the allocator is a sanitizer's";
    for (long fail : {-1, 1, 2, 3}) {
        check_results results = {};
        const long before = live;
        asked = 0;
        fails_at = fail;
        results_incomplete(&results, "a line");
        const check_item *item = results_add(&results, "found");
        fails_at = -1;
        EXPECT_EQ(fail != -1, results.out_of_memory) << fail;
        EXPECT_EQ(fail != 1 && fail != 2 ? 1u : 0u, results.incomplete.count) << fail;
        EXPECT_EQ(fail == 3, item == nullptr) << fail;
        results_free(&results);
        EXPECT_EQ(before, live) << fail;
    }
}

} // namespace
} // namespace ptds
