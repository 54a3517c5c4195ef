// SPDX-License-Identifier: Apache-2.0
//
// The first screen's lines: what a line is about is whole on it, and what it says can be done, and is meant, so.
#include <gtest/gtest.h>

#include <cstring>

#include "analysis/views/file_word.h"
#include "analysis/views/opening.h"
#include "analysis/views/opening_next.h"
#include "analysis/views/residual_words.h"
#include "analysis/views/text/report_text.h"
#include "analysis/views/text/report_screen.h"
#include "tests/analysis/support.h"
#include "tests/support/trace_builder.h"

extern "C" {
#include "analysis/views/text/screen_put.h"
}

namespace ptds
{
namespace
{

bool Has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

/* Without line breaks and the blanks that begin lines. */
std::string Joined(const std::string &text)
{
    std::string out;
    for (char c : text)
        if (c != '\n' && (c != ' ' || out.empty() || out.back() != ' '))
            out += c;
        else if (c == '\n' && !out.empty() && out.back() != ' ')
            out += ' ';
    return out;
}

class Shown
{
public:
    explicit Shown(const std::string &text) : trace_(BuildTrace(text)), report(new struct report)
    {
        char message[TRACE_ERROR_SIZE] = "";
        EXPECT_EQ(0, report_build(report.get(), trace_.source(), message)) << message;
        rank_findings(report.get(), {0, 1});
        residual_find(report.get());
    }
    ~Shown()
    {
        report_end(report.get());
    }
    Shown(const Shown &) = delete;

    std::string Screen(struct site_namer *namer = nullptr) const
    {
        TextOf out;
        report_screen(report.get(), namer, SCREEN_MOST_ROWS, &out);
        return out.text;
    }

private:
    MemoryTrace trace_;

public:
    std::unique_ptr<struct report> report;
};

const char copies[] = "setting policy=observe\n1@0+5 launch s=L k=a site=l\n"
                      "1@10+3000 copy s=L implicit from=device to=pageable bytes=4 site=f@";
const char more_work[] = "\n1@4000+5 launch s=L k=a site=l\n1@9000+3 sync s=L\n";

TEST(ScreenLines, AnObjectsNameHasItsOffset)
{
    std::string object = "cydriver_of_a_binding.cpython-312-x86_64-linux-gnu.so";
    std::string screen = Shown(copies + object + more_work).Screen();
    size_t at = screen.find("\n      at " + object + "+0x");
    ASSERT_NE(std::string::npos, at) << screen;
    EXPECT_FALSE(Has(screen.substr(at + 1, screen.find('\n', at + 1) - at), "...")) << screen;
}

/* A namer that says why it has no name, as that of files does for an object that has changed. */
bool NoName(struct site_namer *, const struct object_def *, uint64_t, char *symbol, size_t room)
{
    snprintf(symbol, room, "(changed since the trace)");
    return true;
}

TEST(ScreenLines, AReasonToHaveNoNameIsNoPlace)
{
    struct site_namer namer = {};
    namer.name = NoName;
    std::string object = "cydriver_of.cpython-312-x86_64-linux-gnu.so";
    std::string screen = Shown(copies + object + more_work).Screen(&namer);
    EXPECT_FALSE(Has(screen, " at (changed")) << screen;
    EXPECT_TRUE(Has(screen, " at " + object + "+0x")) << screen;
}

TEST(ScreenLines, NamesThatAreTrustedStandBehindThePolicy)
{
    const std::string run = "1@0 launch s=L to=P1 k=a\n1@10 sync s=P1\n";
    std::string screen = Shown("setting policy=guarded\nsetting PTDS_TRUST=names\n" + run).Screen();
    EXPECT_TRUE(Has(screen.substr(0, screen.find('\n')), ", policy guarded, names trusted: ran ")) << screen;
    EXPECT_TRUE(Has(Joined(screen), "guessed by their names, which is unsafe")) << screen;
    EXPECT_FALSE(Has(Shown("setting policy=guarded\n" + run).Screen(), "names"));
}

TEST(ScreenLines, AnsweredByWhichPolicyWhateverTheColumns)
{
    Shown shown("setting policy=stream\n1@0 launch s=L to=S1 k=a\n1@1 launch s=L to=S2 k=b\n"
                "2@10+500000 sync s=L to=S1\n");
    enum residual_kind kinds[RESIDUAL_KINDS];
    unsigned count = residual_words_ranked(shown.report.get(), kinds);
    ASSERT_NE(0u, count);
    std::string joined = Joined(shown.Screen());
    for (unsigned i = 0; i < count; i++)
        EXPECT_TRUE(Has(joined, residual_words_line(shown.report.get(), kinds[i]).text)) << joined;
}

TEST(ScreenLines, HowBusyTheGpuIsIsNotCut)
{
    Shown shown(copies + std::string("prog") + more_work);
    report_totals &totals = shown.report->totals;
    totals.gpu_timed = 1, totals.gpu_operations = 3, totals.gpus = 2;
    totals.gpu_busy_ns = 3100000, totals.gpu_span_ns = 123400000000;
    std::string busy = report_words_gpu_busy(&totals).text;
    EXPECT_EQ("GPUs busy at least 3.1 ms of 123.40 s", busy) << "\"at least under 1 %\" would say nothing";
    EXPECT_TRUE(Has(Joined(shown.Screen()), busy)) << shown.Screen();
    totals.gpu_busy_ns = 61700000000;
    EXPECT_STREQ("GPUs busy at least 50 % of 123.40 s", report_words_gpu_busy(&totals).text);
}

TEST(ScreenLines, WhatIsEachBelowTheFloorMayBeMoreThanItInAll)
{
    struct cause cause = {};
    cause.name = "blocking-module-load";
    cause.sum = {3, 5, 900000, 5};
    cause.folds = 1u << FOLD_FLOOR;
    EXPECT_STREQ("blocking-module-load: 900.0 us in 5 calls, 3 call sites, each below the floor",
                 opening_cause(&cause).text);
    cause.folds |= 1u << FOLD_ONCE;
    cause.name = "pin";
    EXPECT_STREQ("pin: 900.0 us in 5 calls, 3 call sites, each below the floor or happened once",
                 opening_cause(&cause).text);
    cause.sum.findings = 1;
    cause.folds = 1u << FOLD_ONCE;
    EXPECT_STREQ("pin: 900.0 us in 5 calls, happened once", opening_cause(&cause).text);
}

/* Of several threads more may be saved than the run took: the line says of whose time. */
TEST(ScreenLines, WhatFindingsSaveIsOfTheThreadsTime)
{
    std::string one = copies + std::string("prog") + more_work, two = one;
    two += "2@20+5 launch s=N2 k=b\n2@30+3 sync s=N2\n";
    EXPECT_TRUE(Has(Shown(one).Screen(), ", which save up to 3.0 ms\n")) << Shown(one).Screen();
    EXPECT_TRUE(Has(Shown(two).Screen(), ", which save up to 3.0 ms of 2 threads' time")) << Shown(two).Screen();
}

TEST(ScreenLines, TheNextCommandIsWholeAndAShellReadsIt)
{
    Shown shown(copies + std::string("prog") + more_work);
    std::string folder = "/scratch/" + std::string(100, 'x');
    for (const auto &[file, word] : {std::pair{folder + "/a.ptds", folder + "/a.ptds"},
                                     {folder + "/it's mine.ptds", "'" + folder + "/it'\\''s mine.ptds'"}}) {
        shown.report->trace.source.file = file.c_str();
        EXPECT_STREQ((" " + word).c_str(), file_word(shown.report.get()).text);
        EXPECT_TRUE(Has(shown.Screen(), "Next: ptds report --finding 1 " + word + "\n")) << shown.Screen();
    }
    shown.report->trace.source.file = nullptr;
}

const char shared[] = "setting policy=observe\n1@0 launch s=L explicit k=a\n2@10 launch s=L explicit k=b\n"
                      "2@20+9000 sync s=L explicit\n";

TEST(ScreenLines, WhatNamesTheLegacyStreamIsProbedWithItsSetting)
{
    EXPECT_EQ(0u,
              std::string(opening_next(Shown(shared).report.get()).text).find("PTDS_EXPLICIT_LEGACY=remap ptds probe -- "))
        << Shown(shared).Screen();
    std::string plain = shared;
    for (size_t at; (at = plain.find(" explicit")) != std::string::npos;)
        plain.erase(at, 9);
    EXPECT_EQ(0u, std::string(opening_next(Shown(plain).report.get()).text).find("ptds probe -- "))
        << Shown(plain).Screen();
}

/* A replay says that guarded gains nothing: then it is not proposed, but what it leaves as it is; where it would remove all
 * that is found, what the time goes into. A replay moves nothing that names the legacy stream: that is still to be tried.
 */
TEST(ScreenLines, WhatAReplaySaysGainsNothingIsNotProposed)
{
    std::string turns = "setting policy=observe\n1@0 launch s=L k=a\n2@10 launch s=L k=b\n2@20+9000 sync s=L\n";
    Shown both(turns + "2@10000 launch s=N1 k=c\n2@10010+8000 copy s=N1 from=device to=pageable bytes=4\n"
                       "2@18100 launch s=N1 k=c\n2@29000+3 sync s=N1\n");
    auto next = [](const Shown &shown) { return std::string(opening_next(shown.report.get()).text); };
    EXPECT_EQ(0u, next(both).find("ptds probe -- ")) << both.Screen();
    both.report->no_gain = true;
    std::string screen = both.Screen(), said = next(both);
    size_t number = 0;
    ASSERT_EQ(1, sscanf(said.c_str(), "ptds report --finding %zu", &number)) << screen;
    struct removed_question about = removed_by_policy_question(both.report->findings.items[number - 1]);
    EXPECT_EQ(REMOVED_NOT, removed_by_policy(&both.report->trace.defs, &about, REMOVED_UNDER_GUARDED)) << screen;

    Shown removed(turns);
    removed.report->no_gain = true;
    EXPECT_EQ("ptds report --what-if TRACE", next(removed)) << removed.Screen();
    EXPECT_TRUE(Has(removed.Screen(), "Next: ptds report --what-if TRACE\n")) << "it takes no other form";
    Shown named(shared);
    named.report->no_gain = true;
    EXPECT_EQ(0u, next(named).find("PTDS_EXPLICIT_LEGACY=remap ptds probe -- ")) << named.Screen();
}

/* What stands at such a call site is libffi, which says nothing of the script. */
TEST(ScreenLines, WhySitesNameNoFunctionsOfPython)
{
    const std::string none = "call sites name no functions of Python: only CPython 3.12 to 3.14 has them, not ";
    for (const auto &[object, version] :
         std::vector<std::pair<std::string, std::string>>{{"/usr/bin/python3.10", "3.10"},
                                                          {"/usr/lib/libpython3.8.so.1.0", "3.8"},
                                                          {"/a/_ctypes.cpython-311-x86_64-linux-gnu.so", "3.11"},
                                                          {"/usr/bin/python3.13t", "3.13t"},
                                                          {"/usr/bin/python3.15", "3.15"},
                                                          {"/usr/bin/python3.12", ""},
                                                          {"/a/core.cpython-314-x86_64-linux-gnu.so", ""},
                                                          {"/venv/lib/python3.10/libcalls.so", ""},
                                                          {"/usr/bin/python", ""}}) {
        std::string trace = copies + std::string("prog") + more_work;
        for (size_t at; (at = trace.find("prog")) != std::string::npos;)
            trace.replace(at, 4, object);
        std::string screen = Joined(Shown(trace).Screen());
        EXPECT_EQ(!version.empty(), Has(screen, none + version + " ")) << object << screen;
        EXPECT_EQ(version.empty(), !Has(screen, none)) << object << screen;
    }
}

/* Two kernels that reach memory which no pointer of theirs names: the analysis' own number for it is no address. */
TEST(ScreenLines, MemoryWithoutAnAddressHasItsName)
{
    Shown shown("setting policy=per-thread\n"
                "1@10 launch s=L to=P1 k=a reaches=V\n2@20 launch s=L to=P2 k=b reaches=V\n2@30+9 sync s=L to=P2\n");
    std::string screen = shown.Screen();
    EXPECT_TRUE(Has(screen, "  a uses memory #")) << screen;
    EXPECT_FALSE(Has(screen, "0x2000")) << screen;
    struct edge_pair pair = {};
    pair.address = 0x7f0000, pair.allocation = 3;
    EXPECT_STREQ("0x7f0000", report_words_memory(&pair).text);
    pair.address |= 1ull << 61;
    EXPECT_STREQ("memory #3", report_words_memory(&pair).text);
    pair.allocation = 0;
    EXPECT_STREQ("unseen memory", report_words_memory(&pair).text);
}

/* Two call sites that do the same are one line, with what both come to. */
TEST(ScreenLines, NeededOrdersThatReadTheSameAreOne)
{
    std::string text = "setting policy=observe\n1@0 alloc m=A ptr=0x10000 bytes=4096\n";
    for (unsigned i = 0; i < 5; i++)
        text += "1@" + std::to_string(100 + 1000 * i) + " memset s=L dst=A bytes=64 site=w" + std::to_string(i % 2) +
                "\n2@" + std::to_string(110 + 1000 * i) +
                "+90 copy s=L implicit from=device to=pageable src=A bytes=64 site=r\n";
    text += "3@9000 memset s=L dst=A bytes=64 site=w\n2@9010+90 copy s=L implicit from=device to=pageable src=A bytes=64\n";
    std::string screen = Shown(text).Screen();
    EXPECT_TRUE(Has(screen, "  5x cuMemsetD8Async writes in thread 1, then\n        cuMemcpyDtoH_v2 reads in thread 2\n"))
        << screen;
    EXPECT_TRUE(Has(screen, "  1x cuMemsetD8Async writes in thread 3, then\n")) << screen;
}

/* Of a hundred loads none takes a hundredth of a training step's time, and all together much. */
std::string Loads(unsigned count)
{
    std::string text = "setting policy=observe\n1@0+5 launch s=N1 k=a\n";
    for (unsigned i = 0; i < count; i++)
        text += "1@" + std::to_string(1000 * i + 10) + "+500 module-load site=s" + std::to_string(i) + "\n1@" +
                std::to_string(1000 * i + 900) + "+5 launch s=N1 k=a\n";
    return text + "1@100000+5 launch s=N1 k=a\n";
}

TEST(ScreenLines, WhatTakesMuchInAllHasAdvice)
{
    const char *load = "Load, and set limits, before the work starts";
    Shown shown(Loads(60)), few(Loads(10));
    rank_findings(shown.report.get(), {1, 100000});
    rank_findings(few.report.get(), {1, 100000});
    ASSERT_EQ(0u, rank_shown(shown.report.get())) << shown.Screen();
    std::string screen = shown.Screen();
    EXPECT_TRUE(Has(screen, "each below the floor\n    -> Up to 18 % of the threads' time in all. Load, and set"))
        << screen;
    EXPECT_TRUE(Has(Joined(screen), "set CUDA_MODULE_LOADING=EAGER.")) << screen;
    EXPECT_TRUE(Has(few.Screen(), "\nSmall, the floor is 1.0 ms (1 % of the GPU part): blocking-module-load\n"))
        << few.Screen();
    EXPECT_FALSE(Has(few.Screen(), load)) << "a twentieth is not much\n" << few.Screen();
}

TEST(Findings, SayInWordsWhyAndOfWhat)
{
    Shown shown(copies + std::string("prog") + more_work);
    TextOf all;
    rank_findings(shown.report.get(), {0, 1000000000});
    report_text(shown.report.get(), nullptr, &all);
    EXPECT_TRUE(Has(all.text, "  none is worth a line of its own: below 1.00 s, or nothing to gain\n")) << all.text;
    EXPECT_TRUE(Has(all.text, "    folded                below the floor\n")) << all.text;
    EXPECT_TRUE(Has(all.text, "    waits for kernels     a\n")) << all.text;
}

TEST(Findings, ATimeIsWrittenAsOne)
{
    Shown shown("1@0+5 launch s=L k=a\n1@10+50 sync s=L\n1@100+30000 alloc ptr=0x10000 bytes=64\n1@40000 launch s=L k=a\n");
    TextOf all;
    report_text(shown.report.get(), nullptr, &all);
    EXPECT_TRUE(Has(all.text, "    longest call          30.0 ms\n")) << all.text;
}

/* What is to be done is never cut. */
TEST(ScreenLines, AdviceFitsItsTwoLines)
{
    const rule *rules[RULES_MOST];
    for (size_t i = 0, count = registry_all(rules); i < count; i++) {
        TextOf out;
        struct screen screen = {nullptr, nullptr, &out, 40, false, false, 0};
        screen_put_text(&screen, "      -> ", 0, rules[i]->advice, 2, false);
        EXPECT_EQ("-> " + std::string(rules[i]->advice) + " ", Joined(out.text).substr(1)) << rules[i]->id;
    }
}

} // namespace
} // namespace ptds
