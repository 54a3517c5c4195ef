// SPDX-License-Identifier: Apache-2.0
//
// What fits where: screens of every height, and lines whose numbers, names and paths have every length. A row or a column
// that is counted wrong moves one of these changes. shown/heights.facts has the shape of each screen, shown/fits.shown the
// lines.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "analysis/base/line.h"
#include "analysis/report/residual.h"
#include "analysis/views/gap_words.h"
#include "analysis/views/opening.h"
#include "analysis/views/opening_next.h"
#include "analysis/views/text/report_screen.h"
#include "analysis/views/text/report_summary.h"
#include "tests/analysis/exported.h"
#include "tests/support/expected.h"

namespace ptds
{
namespace
{

const std::string folder = "tests/analysis/shown/";

/* Its numbers may be changed. */
class Changeable
{
public:
    explicit Changeable(const std::string &text) : trace_(BuildTrace(text))
    {
        char message[TRACE_ERROR_SIZE] = "";
        EXPECT_EQ(0, report_build(report.get(), trace_.source(), message)) << message;
        residual_find(report.get());
    }
    ~Changeable()
    {
        report_end(report.get());
    }
    Changeable(const Changeable &) = delete;

    std::string Screen(unsigned rows) const
    {
        TextOf out;
        report_screen(report.get(), nullptr, rows, &out);
        return out.text;
    }
    /* The summary's line that holds this. */
    std::string Summary(const std::string &part) const
    {
        TextOf out;
        report_summary(report.get(), nullptr, &out);
        for (const std::string &line : lines_of(out.text)) {
            EXPECT_GE(100u, line.size()) << line;
            if (line.find(part) != std::string::npos)
                return line + "\n";
        }
        return "\n";
    }

private:
    MemoryTrace trace_;

public:
    std::unique_ptr<struct report> report{new struct report};
};

std::string Whole(std::string seen)
{
    return seen;
}

/* What is left where only the number grows. */
std::string WithoutNumbers(std::string seen)
{
    seen.erase(std::remove_if(seen.begin(), seen.end(), [](char c) { return c == ' ' || isdigit(c) != 0; }), seen.end());
    return seen;
}

/* "24 ..." for each number from which on something else is seen. */
std::string Changes(unsigned from, unsigned to, const std::function<std::string(unsigned)> &seen,
                    std::string (*what)(std::string) = WithoutNumbers)
{
    std::string last, all;
    for (unsigned i = from; i <= to; i++) {
        std::string now = seen(i);
        if (what(now) != last)
            all += std::to_string(i) + " " + now;
        last = what(now);
    }
    return all;
}

/* A character a line: the first of it, "." if it is indented, "|" if it is empty. */
std::string Shape(const std::string &screen)
{
    std::string shape;
    for (const std::string &line : lines_of(screen))
        shape += line.empty() ? '|' : line[0] == ' ' ? '.' : line[0];
    return shape + "\n";
}

TEST(Fits, ScreensOfEveryHeight)
{
    std::string all;
    for (const char *name : {"crowd", "full", "guarded", "wide", "sequence"}) {
        Changeable changeable(read_file(data_file(folder + name + ".trace")));
        all += std::string("===== ") + name + "\n" +
               Changes(
                   23, 60, [&](unsigned rows) { return Shape(changeable.Screen(rows)); }, Whole);
    }
    ExpectAllOf(folder + "heights.facts", all);
}

std::string Kept(const std::vector<unsigned> &reasons)
{
    Changeable changeable("setting policy=guarded\n1@0 launch s=L to=S1 k=a\n1@1 launch s=L k=b kept-excluded\n");
    report_totals *totals = &changeable.report->totals;
    uint64_t count = 0;
    return Changes(1, 12, [&](unsigned) {
        count = count * 10 + 1;
        totals->default_stream = totals->kept_all = 0;
        std::fill(totals->kept, totals->kept + KEPT_REASONS, 0);
        for (unsigned why : reasons)
            totals->kept_all += totals->kept[why] = count;
        totals->default_stream = totals->kept_all + totals->remapped;
        return changeable.Summary("default-stream operation");
    });
}

std::string GapsOf(const struct report *report)
{
    std::string all;
    gap_words(
        report, [](void *out, const char *line) { *static_cast<std::string *>(out) += std::string(line) + "\n"; }, &all);
    return all;
}

/* So many of everything that may be missing. */
void Lack(struct report *report, uint64_t count)
{
    report->totals.untimed_waits = report->totals.unknown_streams = report->totals.unplaced = count;
    report->totals.unknown_generations = report->edges.totals.unplaced = count;
    report->trace.header.recycled = report->trace.header.refused = count;
    report->trace.lost_chunks = report->trace.damaged = report->trace.unknown_records = count;
    report->refused = count;
    report->out_of_memory = true;
    std::fill(report->totals.touch_all, report->totals.touch_all + PTDS_OPAQUE_REASONS, count);
}

std::string Gaps()
{
    Changeable changeable("setting policy=guarded\n1@0 launch s=L to=S1 k=a\n");
    struct report *report = changeable.report.get();
    std::string all;
    for (unsigned why = PTDS_OPAQUE_NO + 1; why < PTDS_OPAQUE_REASONS; why++) {
        std::fill(report->totals.touch_all, report->totals.touch_all + PTDS_OPAQUE_REASONS, 0);
        report->totals.touch_all[why] = why;
        all += lines_of(GapsOf(report)).back() + "\n";
        report->totals.touch_all[PTDS_OPAQUE_TEXTURE] += 5;
        all += lines_of(GapsOf(report)).back() + "\n";
    }
    for (uint64_t count : {1, 12345}) {
        Lack(report, count);
        all += "---\n" + GapsOf(report);
    }
    /* What of it fits into the summary's line. */
    for (unsigned from = 0; from < 5; from++) {
        uint64_t count = 0;
        all += "---\n" + Changes(1, 12, [&](unsigned) {
                   count = count * 10 + 1;
                   Lack(report, count);
                   report->trace.header.refused = from < 1 ? count : 0;
                   report->trace.header.recycled = from < 2 ? count : 0;
                   report->trace.lost_chunks = from < 3 ? count : 0;
                   report->trace.damaged = from < 4 ? count : 0;
                   return changeable.Summary("ot everything was");
               });
    }
    return all;
}

TEST(Fits, LinesOfEveryLength)
{
    std::string all = "===== operations that were kept\n";
    all += Kept({KEPT_CAPTURE}) + "---\n" + Kept({KEPT_REFUSED}) + "---\n" + Kept({KEPT_EXCLUDED, KEPT_EXPLICIT}) +
           "---\n" +
           Kept({KEPT_UNSAID, KEPT_CAPTURE, KEPT_REFUSED, KEPT_EXCLUDED, KEPT_NO_WAY, KEPT_EXPLICIT, KEPT_DROPPED}) +
           "---\n" + Kept({KEPT_UNSAID, KEPT_DROPPED});
    all += "===== what is missing\n" + Gaps() + "===== names of causes, by columns\n";
    Changeable full(read_file(data_file(folder + "full.trace")));
    for (size_t from : {3}) {
        all += Changes(
            14, 300,
            [&](unsigned columns) {
                struct line line = {};
                opening_cause_names(&line, columns, &full.report->sums, from);
                return std::string(line.text) + "\n";
            },
            Whole);
        all += "---\n";
    }
    all += "===== the next command, by the length of the trace's name\n";
    for (const char *name : {"crowd", "quiet", "wrong", "observed"}) {
        std::string text = read_file(data_file(folder + name + ".trace")), path;
        Changeable changeable(text.substr(0, text.find("---\n")));
        all += Changes(
            1, 60,
            [&](unsigned length) {
                path = std::string(length, 'X');
                changeable.report->trace.source.file = path.c_str();
                std::string next = lines_of(changeable.Screen(40)).back();
                size_t at = next.find(path);
                return (at == std::string::npos ? next : next.replace(at, length, "X")) + "\n";
            },
            Whole);
    }
    ExpectAllOf(folder + "fits.shown", all);
}

/* A share below one percent is told as a time: of a part of the work it says more. */
TEST(Fits, HowBusyTheGpuIs)
{
    struct report_totals totals = {};
    totals.gpu_operations = 2;
    EXPECT_STREQ("GPU time is not recorded", report_words_gpu_busy(&totals).text);
    totals.gpu_timed = 1;
    EXPECT_STREQ("GPU time is not counted", report_words_gpu_busy(&totals).text);
    totals.gpu_span_ns = 100000000;
    totals.gpu_busy_ns = 999999;
    EXPECT_STREQ("GPU busy at least 1000.0 us of 100.0 ms", report_words_gpu_busy(&totals).text);
    totals.gpu_busy_ns = 1000000;
    EXPECT_STREQ("GPU busy at least 1 % of 100.0 ms", report_words_gpu_busy(&totals).text);
    totals.gpu_timed = totals.gpus = 2;
    EXPECT_STREQ("GPUs busy 1 % of 100.0 ms", report_words_gpu_busy(&totals).text);
    totals.gpu_busy_ns = 0;
    totals.gpus = 1;
    EXPECT_STREQ("GPU busy 0 ns of 100.0 ms", report_words_gpu_busy(&totals).text);
}

/* A thread that is called as its program is was named by nobody. */
TEST(Fits, NamesOfThreads)
{
    for (auto [name, shown] : {std::pair<std::string, std::string>{"x", "1 (x)"},
                               {"prog", "1"},
                               {"prog2", "1 (prog2)"},
                               {"pro", "1 (pro)"},
                               {"rog", "1 (rog)"}}) {
        Changeable changeable("thread 1=" + name + "\n1@0 launch s=L k=a\n");
        char text[100];
        report_words_id(changeable.report.get(), FINDING_THREADS, 1, text, sizeof text);
        EXPECT_EQ(shown, text);
    }
}

/* Names that are too long to be read are shown as they are, as far as there is room. */
TEST(Fits, NamesOfKernels)
{
    for (size_t length : {1u, 999u, 1000u, 1001u, 3000u}) {
        std::string name = "_Z" + std::to_string(length) + std::string(length, 'k') + "v",
                    all(std::min(length, size_t(500)), 'k');
        Changeable changeable("1@0 launch s=L k=" + name + "\n");
        char text[400];
        report_words_id(changeable.report.get(), FINDING_KERNELS, 1, text, sizeof text);
        std::string seen = text;
        EXPECT_EQ(name.size() > 1000 ? name.substr(0, 399) : (all + "()").substr(0, 399), seen) << length;
    }
}

/* A run that moved nothing, and in which that would gain, is tried under a policy. */
TEST(Fits, NextOfEachPolicy)
{
    std::string text = read_file(data_file(folder + "sequence.trace"));
    const std::string observed = "policy=observe";
    auto next = [&](const std::string &policy) {
        std::string other = text;
        other.replace(other.find(observed), observed.size(), "policy=" + policy);
        return std::string(opening_next(Changeable(other).report.get()).text);
    };
    EXPECT_EQ("ptds probe -- prog ...", next("observe"));
    EXPECT_EQ("ptds probe -- prog ...", next("none"));
    EXPECT_EQ("ptds report --finding 1 TRACE", next("guarded"));
    EXPECT_EQ("ptds report --finding 1 TRACE", next("nonesuch"));
}

} // namespace
} // namespace ptds
