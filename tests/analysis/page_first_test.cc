// SPDX-License-Identifier: Apache-2.0
//
// What the page shows first, in a real browser: the verdict in its colour and the timeline, on wide windows and narrow
// ones; waits in two colours; rows that open; names of many programs folded. Without a browser these tests are skipped.
#include <gtest/gtest.h>

#include "analysis/views/html/timelines.h"
#include "tests/analysis/exported.h"
#include "tests/analysis/page_browser.h"

namespace ptds
{
namespace
{

/* Two threads that share the default stream, then one that waits for a stream of its own. */
const char both_waits[] = "setting policy=observe\n1@0 launch s=L k=a site=a\n2@10 launch s=L k=b site=b\n"
                          "1@20+4000 sync s=L site=c\n2@30+4000 sync s=L site=d\n"
                          "3@5000 launch s=N1 k=a site=a\n3@5010+4000 sync s=N1 site=e\n";

/* A result that needs an order which recompiling took away. */
const char wrong[] = "setting policy=per-thread\nsetting PTDS_LANES=1\n"
                     "1@0 alloc m=A ptr=0x10000 bytes=4096 site=made\n"
                     "1@10 memset s=L target=P1 bytes=64 dst=A site=writes\n"
                     "2@20 copy s=L target=P2 src=A dst=0x40000 bytes=64 site=reads\n"
                     "2@90+700 sync s=L to=P2 site=end\n";

class PageFirst : public testing::Test
{
protected:
    void Open(const char *trace, int width, int height)
    {
        browser = std::make_unique<Browser>(width, height);
        ASSERT_TRUE(browser->alive);
        page = std::make_unique<Page>(BuildTrace(trace), nullptr);
        ASSERT_EQ(0, page->status);
        ASSERT_NE("failed", browser->Open(page->path));
        browser->Run(frames);
    }
    void TearDown() override
    {
        if (browser != nullptr) {
            EXPECT_EQ("", Errors(*browser));
        }
    }
    std::string VerdictColour()
    {
        return browser->Run("getComputedStyle(document.querySelector('#opening .verdict')).backgroundColor");
    }
    std::unique_ptr<Browser> browser;
    std::unique_ptr<Page> page;
};

TEST_F(PageFirst, TheVerdictAndTheTimelineAreOnTheFirstScreen)
{
    NEEDS_A_BROWSER();
    for (auto [width, height, least] : {std::tuple<int, int, double>{1400, 900, 250}, {2200, 1200, 250}, {420, 900, 150}}) {
        Open(both_waits, width, height);
        double top = Number(browser->Run("document.getElementById('canvas').getBoundingClientRect().top"));
        double verdict = Number(browser->Run("document.querySelector('#opening .verdict').getBoundingClientRect().bottom"));
        EXPECT_LT(top, height - least) << width;
        EXPECT_LT(verdict, 260) << width;
        EXPECT_EQ("true", browser->Run("document.documentElement.scrollWidth <= innerWidth"))
            << width << ": nothing is wider";
    }
}

TEST_F(PageFirst, TheVerdictHasItsColour)
{
    NEEDS_A_BROWSER();
    Open(both_waits, 1280, 900);
    EXPECT_EQ("\"rgb(27, 107, 58)\"", VerdictColour()) << "green";
    Open(wrong, 1280, 900);
    EXPECT_EQ("\"rgb(179, 38, 30)\"", VerdictColour()) << "red";
    Open("setting policy=observe\nlost 1@0 launch s=L k=a\n1@10 launch s=N1 k=a\n", 1280, 900);
    EXPECT_NE("\"rgb(27, 107, 58)\"", VerdictColour()) << "not green: not about all of the run";
}

TEST_F(PageFirst, WaitsHaveTwoColours)
{
    NEEDS_A_BROWSER();
    Open(both_waits, 1280, 900);
    EXPECT_GT(Number(browser->Run(CountPixels("blocked"))), 1000);
    EXPECT_GT(Number(browser->Run(CountPixels("own"))), 1000);
    EXPECT_EQ("true", browser->Run("ptds.lines(ptds.timeline.view.data, {op: 2}).join().includes("
                                   "'of it waiting because of the default stream')"));
    EXPECT_EQ("false", browser->Run("ptds.lines(ptds.timeline.view.data, {op: 5}).join().includes('default stream')"));
    /* Many calls that are drawn as one keep both. */
    std::string many = "setting policy=observe\n";
    for (unsigned i = 0; i < 4000; i++) {
        std::string at = std::to_string(i * 1000);
        many += "1@" + at + " launch s=N1 k=a\n1@" + at + "1+900 sync s=N1\n";
    }
    Open(many.c_str(), 1280, 900);
    EXPECT_EQ(0, Number(browser->Run(CountPixels("blocked"))));
    EXPECT_GT(Number(browser->Run(CountPixels("own"))), 1000);
}

TEST_F(PageFirst, AClickAnywhereInARowOpensIt)
{
    NEEDS_A_BROWSER();
    Open(both_waits, 1280, 900);
    Corner row = CornerOf(browser.get(), "finding-1");
    auto is_open = [&] { return browser->Run("document.querySelector('#finding-1 + tr').hidden === false"); };
    EXPECT_EQ("false", is_open());
    browser->Click(row.x + 300, row.y + 10);
    EXPECT_EQ("true", is_open());
    row = CornerOf(browser.get(), "finding-1");
    browser->Click(row.x + 300, row.y + 10);
    EXPECT_EQ("false", is_open()) << "and closes it";
    row = CornerOf(browser.get(), "finding-1");
    browser->Drag(row.x + 90, row.y + 10, row.x + 240, row.y + 10);
    EXPECT_EQ("false", is_open()) << "who selects a row's text does not want it opened";
}

TEST_F(PageFirst, WhatARuleCountedIsInWords)
{
    NEEDS_A_BROWSER();
    Open(
        "1@0 launch s=L k=a\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4096 site=b\n1@6000 launch s=L k=a\n"
        "1@6010+5000 copy s=L implicit from=device to=pageable bytes=4096 site=b\n1@12000 launch s=L k=a\n",
        1280, 900);
    browser->Run("ptds.openFinding(1)");
    std::string details = browser->Run("document.querySelector('#finding-1 + tr').innerText");
    EXPECT_NE(std::string::npos, details.find("bytes of the largest")) << details;
    EXPECT_EQ(std::string::npos, details.find("largest_bytes")) << details;
}

/* Forty processes of as many programs: their names do not fill the screen, and are there when asked for. */
TEST_F(PageFirst, NamesOfManyProgramsAreFolded)
{
    NEEDS_A_BROWSER();
    std::vector<std::string> traces;
    for (unsigned i = 0; i < 40; i++)
        traces.push_back(WithHeader(BuildTrace(both_waits), [](ptds_trace_header *header) {
            static unsigned number;
            header->pid = 100 + number;
            snprintf(header->program, sizeof header->program, "/opt/app/program%02u", number++);
        }));
    struct timelines timelines;
    timelines_begin(&timelines, traces.size());
    TextOf out;
    {
        Opened opened(traces, &timelines.watch);
        timelines_decide(&timelines);
        ASSERT_EQ(0, report_html_many(&opened.traces, &opened.folds, &timelines, opened.namer, &out));
    }
    timelines_end(&timelines);
    std::string made = WriteTemporary(out.text), path = made + ".html";
    ASSERT_EQ(0, rename(made.c_str(), path.c_str()));
    browser = std::make_unique<Browser>(1400, 900);
    ASSERT_NE("failed", browser->Open(path));
    EXPECT_EQ("\"40 processes of program00, program01, program02 and 37 more; policy observe\"",
              browser->Run("document.getElementById('meta').innerText.replace(/\\s+/g, ' ').replace(' ;', ';')"));
    browser->Run("document.querySelector('#meta summary').click()");
    EXPECT_EQ("true", browser->Run("document.getElementById('meta').innerText.includes('program39')"));
    EXPECT_EQ("20", browser->Run("document.querySelectorAll('#processes tbody tr').length"));
    browser->Run("document.getElementById('all-processes').click()");
    EXPECT_EQ("40", browser->Run("document.querySelectorAll('#processes tbody tr').length"));
    EXPECT_GT(Number(browser->Run(CountPixels("blocked"))), 100) << "of each process, too";
    unlink(path.c_str());
}

} // namespace
} // namespace ptds
