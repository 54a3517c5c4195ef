// SPDX-License-Identifier: Apache-2.0
//
// The timeline's view in a real browser: keys as in Perfetto, measuring, the strip above, regions, arrows by number,
// details beside, links that restore all of it. Without a browser these tests are skipped.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/analysis/page_browser.h"

namespace ptds
{
namespace
{

/* Three threads, each with a call every 100 us, from 1 ms to 5 ms. */
std::string Program()
{
    std::string text;
    for (unsigned i = 0; i < 40; i++)
        for (unsigned thread = 1; thread <= 3; thread++)
            text += std::to_string(thread) + "@" + std::to_string(1000 + 100 * i + thread) +
                    (i % 10 == 0 ? "+60 copy s=L implicit from=device to=pageable bytes=4\n"
                                 : "+30 launch s=N" + std::to_string(thread) + " k=gemm\n");
    return text;
}

class PageView : public testing::Test
{
protected:
    void SetUp() override
    {
        NEEDS_A_BROWSER();
        browser = std::make_unique<Browser>(1280, 900);
        ASSERT_TRUE(browser->alive);
    }
    void Open(const std::string &bytes, const std::vector<struct edge> *edges = nullptr, const std::string &fragment = "")
    {
        page = std::make_unique<Page>(bytes, edges);
        ASSERT_EQ(0, page->status);
        Load(fragment);
    }
    void Load(const std::string &fragment)
    {
        EXPECT_NE("failed", browser->Open(page->path, fragment));
        browser->Run(frames);
    }
    void TearDown() override
    {
        if (browser != nullptr) {
            EXPECT_EQ("", Errors(*browser));
        }
    }
    double View(const std::string &what)
    {
        browser->Run(frames);
        return Number(
            browser->Run("(() => { const d = document.getElementById('canvas').dataset, from = +d.from, to = +d.to, "
                         "span = to - from; return " +
                         what + "; })()"));
    }
    void Key(const std::string &key)
    {
        browser->Key(key);
        browser->Run(frames);
    }
    std::string Text(const std::string &id)
    {
        return TextOfElement(browser.get(), id);
    }
    /* A moment, in us since the first call, as a place in the canvas. */
    double PlaceOf(double us)
    {
        return 190 + (us * 1000 - View("from")) / View("span") *
                         Number(browser->Run("document.getElementById('canvas').clientWidth - 190"));
    }

    std::unique_ptr<Browser> browser;
    std::unique_ptr<Page> page;
};

bool Has(const std::string &text, const std::string &part)
{
    return text.find(part) != std::string::npos;
}

TEST_F(PageView, KeysOfPerfettoZoomAndMoveWithoutTheFocus)
{
    Open(BuildTrace(Program()));
    browser->Run("document.getElementById('canvas').scrollIntoView(); document.activeElement.blur()");
    double all = View("span"), from = View("from");
    Key("w");
    EXPECT_NEAR(0.6 * all, View("span"), all * 0.01);
    double left = View("from");
    EXPECT_GT(left, from);
    Key("d");
    EXPECT_NEAR(left + 0.15 * 0.6 * all, View("from"), all * 0.01);
    Key("a");
    EXPECT_NEAR(left, View("from"), all * 0.01);
    Key("S"); /* with Caps Lock, too */
    EXPECT_NEAR(all, View("span"), all * 0.03);
    EXPECT_EQ("0", browser->Run("window.scrollX"));
}

TEST_F(PageView, KeysStayLettersInFieldsAndFarFromTheTimeline)
{
    Open(BuildTrace(Program()));
    double all = View("span");
    browser->Run("window.scrollTo(0, 0); document.activeElement.blur(); document.body.style.paddingBottom = '3000px'; "
                 "document.getElementById('timeline').style.marginTop = '2000px'");
    Key("w");
    EXPECT_EQ(all, View("span")) << "the timeline is not in view";
    browser->Run("document.getElementById('canvas').scrollIntoView(); document.getElementById('search').focus()");
    Key("w");
    EXPECT_EQ(all, View("span"));
    EXPECT_EQ("\"w\"", browser->Run("document.getElementById('search').value"));
}

TEST_F(PageView, ZoomsAtThePointer)
{
    Open(BuildTrace(Program()));
    Corner corner = CornerOf(browser.get(), "canvas");
    double x = PlaceOf(3000);
    browser->Move(corner.x + x, corner.y + 60);
    for (int i = 0; i < 4; i++)
        Key("w");
    EXPECT_NEAR(x, PlaceOf(3000), 2) << "what is under the pointer stays there";
}

TEST_F(PageView, TheQuestionMarkListsEveryKey)
{
    Open(BuildTrace(Program()));
    CornerOf(browser.get(), "canvas");
    Key("?");
    EXPECT_EQ("true", browser->Run("document.getElementById('help').open"));
    std::string text = browser->Run("document.getElementById('help').innerText");
    for (const char *part : {"zoom in and out", "measure", "search", "next and previous match", "the strip above", "Esc"})
        EXPECT_TRUE(Has(text, part)) << part << "\n" << text;
    browser->Picture("help.png", false);
    double all = View("span");
    Key("w");
    EXPECT_EQ(all, View("span")) << "what lies behind stays as it is";
    browser->Run("document.getElementById('help-close').click()");
    EXPECT_EQ("false", browser->Run("document.getElementById('help').open"));
}

TEST_F(PageView, ShiftAndDragMeasuresARange)
{
    Open(BuildTrace(Program()));
    Corner corner = CornerOf(browser.get(), "canvas");
    double from = View("from");
    browser->Drag(corner.x + PlaceOf(1000), corner.y + 60, corner.x + PlaceOf(3000), corner.y + 60, true);
    EXPECT_EQ(from, View("from")) << "the view stays";
    double measured =
        Number(browser->Run("(() => { const [a, b] = ptds.timeline.view.measured; return (b - a) / 1000; })()"));
    EXPECT_NEAR(2000, measured, 12);
    std::string text = Text("measured");
    double ms = 0;
    ASSERT_EQ(1, sscanf(text.c_str(), "\"Measured: %lf ms", &ms)) << text;
    EXPECT_NEAR(measured / 1000, ms, 0.001);
    EXPECT_TRUE(Has(text, "60 calls began in it, and waited ")) << text;
    browser->Picture("measured.png", false);
    Key("f");
    EXPECT_NEAR(1.2 * measured * 1000, View("span"), 3000) << "F zooms to it";
    Key("Escape");
    EXPECT_EQ("\"\"", Text("measured"));
    EXPECT_EQ("null", browser->Run("ptds.timeline.view.measured"));
}

TEST_F(PageView, DraggingOnTheAxisMeasuresAndMMeasuresWhatIsChosen)
{
    Open(BuildTrace(Program()));
    Corner corner = CornerOf(browser.get(), "canvas");
    browser->Drag(corner.x + 400, corner.y + 10, corner.x + 500, corner.y + 10);
    EXPECT_NE("null", browser->Run("ptds.timeline.view.measured"));
    browser->Click(corner.x + 450, corner.y + 10);
    EXPECT_EQ("null", browser->Run("ptds.timeline.view.measured")) << "a click on it measures no more";
    browser->Run("ptds.timeline.choose({op: 0})");
    Key("m");
    EXPECT_TRUE(Has(Text("measured"), "Measured: 60.000 us")) << Text("measured");
    Key("m");
    EXPECT_EQ("\"\"", Text("measured"));
}

TEST_F(PageView, TheStripAboveMovesTheView)
{
    Open(BuildTrace(Program()));
    Corner corner = CornerOf(browser.get(), "minimap");
    double wide = Number(browser->Run("document.getElementById('minimap').clientWidth - 190")), all = View("to");
    auto at = [&](double part) { return corner.x + 190 + part * wide; };
    browser->Drag(at(0.25), corner.y + 15, at(0.5), corner.y + 15);
    EXPECT_NEAR(0.25 * all, View("from"), 0.02 * all) << "a window is drawn out";
    EXPECT_NEAR(0.5 * all, View("to"), 0.02 * all);
    browser->Drag(at(0.375), corner.y + 15, at(0.625), corner.y + 15);
    EXPECT_NEAR(0.5 * all, View("from"), 0.02 * all) << "and moved";
    EXPECT_NEAR(0.25 * all, View("span"), 0.02 * all);
    browser->Drag(at(0.75), corner.y + 15, at(0.9), corner.y + 15);
    EXPECT_NEAR(0.9 * all, View("to"), 0.02 * all) << "its edge is drawn";
    EXPECT_NEAR(0.5 * all, View("from"), 0.02 * all);
    browser->Click(at(0.2), corner.y + 15);
    EXPECT_NEAR(0.2 * all, View("(from + to) / 2"), 0.03 * all) << "a click moves it there";
    browser->Run("document.getElementById('minimap').id = 'was'; document.getElementById('canvas').id = 'hidden'; "
                 "document.getElementById('was').id = 'canvas'");
    EXPECT_GT(Number(browser->Run(CountPixels("c-kernel"))), 100) << "how busy threads are";
    EXPECT_GT(Number(browser->Run(CountPixels("blocked"))), 5) << "and what waited";
}

TEST_F(PageView, RegionsHaveLanes)
{
    Open(BuildTrace("1@1 region step\n1@2 launch s=N1 k=a\n1@100 region forward\n1@101 launch s=N1 k=a\n"
                    "1@200 region-end\n1@300 region-end\n2@50 region load domain=data\n2@60 launch s=N2 k=b\n"
                    "2@150 region-end domain=data\n2@400 region never\n"
                    "3@10 region a domain=d\n3@20 launch s=N2 k=b\n3@100 region b\n3@200 region-end domain=d\n3@300 "
                    "region-end\n1@1000 launch s=N1 k=a\n"));
    std::string rows = browser->Run("JSON.stringify(ptds.timeline.view.places.filter((one) => one.row).map(({row}) => "
                                    "[row.kind, row.label, row.indices.length]))");
    for (const char *part : {"[\\\"region\\\",\\\"regions\\\",1],[\\\"region\\\",\\\"\\\",1],[\\\"thread\\\"",
                             "[\\\"region\\\",\\\"regions\\\",2],[\\\"thread\\\"",
                             "[\\\"region\\\",\\\"regions\\\",1],[\\\"region\\\",\\\"\\\",1],[\\\"stream\\\""})
        EXPECT_TRUE(Has(rows, part)) << part << "\n" << rows;
    EXPECT_GT(Number(browser->Run(CountPixels("c-region"))), 1000);
    Corner corner = CornerOf(browser.get(), "canvas");
    double y = Number(browser->Run("ptds.timeline.view.places.filter((one) => one.row && one.row.kind === 'region')[1].y"));
    browser->Click(corner.x + PlaceOf(150), corner.y + y + 10);
    std::string text = Text("details");
    for (const char *part : {"Region forward", "thread 1", "from 98.0000 us to 198.0000 us", "took 100.00 us"})
        EXPECT_TRUE(Has(text, part)) << part << "\n" << text;
    browser->Move(corner.x + PlaceOf(800), corner.y +
                                               Number(browser->Run("ptds.timeline.view.places.filter((one) => one.row "
                                                                   "&& one.row.kind === 'region')[2].y")) +
                                               10);
    text = Text("tip");
    for (const char *part : {"Region never", "its end is not in the trace"})
        EXPECT_TRUE(Has(text, part)) << part << "\n" << text;
    EXPECT_TRUE(Has(browser->Run("document.getElementById('legend').textContent"), "regions that the program marks"));
    browser->Picture("regions.png", false);
}

TEST_F(PageView, RangesOfTheProcessAndRegionsThatReachOutOfTheTimeline)
{
    TraceBuilder builder;
    builder.Api(1, "cuLaunchKernel");
    builder.Stream(1, PTDS_STREAM_BLOCKING);
    for (uint32_t i = 1; i <= 3; i++)
        builder.String(i, i == 1 ? "epoch" : i == 2 ? "batch" : "late", PTDS_ROLE_REGION);
    builder.Region(1, 100, 1, 0, 7);
    builder.Region(2, 3000, 2, 0, 8);
    builder.Region(1, 90000, 3, 0, 9);
    for (uint32_t i = 0; i < 10; i++) {
        CallSpec call;
        call.thread = 1 + i % 2;
        call.enter = 1000 + i * 1000;
        call.leave = call.enter + 500;
        call.api = 1;
        call.op = PTDS_OP_LAUNCH;
        call.flags = PTDS_CALL_TIMED;
        call.stream = 1;
        call.words = {1, 1, 1};
        builder.Call(call);
    }
    builder.Region(2, 50000, 0, 0, 7); /* ended in another thread, after the last call */
    builder.Region(1, 4000, 0, 0, 8);
    Open(builder.Bytes());
    EXPECT_EQ("\"Ranges that the program marks\"", browser->Run("ptds.timeline.view.places[0].group.title"));
    EXPECT_EQ("2", browser->Run("ptds.timeline.view.data.region.start.length")) << "one lies after all that is drawn";
    std::string text =
        browser->Run("[0, 1].map((i) => ptds.lines(ptds.timeline.view.data, {region: i}).join('; ')).join('\\n')");
    for (const char *part : {"Region epoch; a range of the process; began before what is drawn, ends after what is drawn",
                             "Region batch; a range of the process; from 2.0000 us to 3.0000 us; took 1.00 us"})
        EXPECT_TRUE(Has(text, part)) << part << "\n" << text;
}

std::vector<struct edge> Edges(unsigned count)
{
    std::vector<struct edge> edges;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = 1000 + 100 * (i % 39);
        edges.push_back(Edge(EDGE_FAN_IN, static_cast<enum verdict>(i % 2), at + 2, 2, 2, at + 103, 3, 3));
    }
    return edges;
}

TEST_F(PageView, ArrowsShowByNumber)
{
    auto few = Edges(39), many = Edges(400);
    Open(BuildTrace(Program()), &few);
    EXPECT_EQ("\"all\"", browser->Run("document.getElementById('arrows').value"));
    EXPECT_EQ(39, View("+d.edges"));
    Open(BuildTrace(Program()), &many);
    EXPECT_EQ("\"chosen\"", browser->Run("document.getElementById('arrows').value"));
    EXPECT_EQ(0, View("+d.edges"));
    EXPECT_TRUE(Has(Text("view"), "400 arrows in view are not drawn")) << Text("view");
    /* The second thread's call at 1202 us has those that begin there, and none ends. */
    browser->Run("ptds.timeline.choose({op: [...ptds.timeline.view.data.op.enter].indexOf(201000)})");
    EXPECT_EQ(2, View("+d.edges")) << Text("details");
    EXPECT_TRUE(Has(Text("details"), "11 implicit orders here")) << Text("details");
    browser->Run("document.activeElement.blur(); document.getElementById('canvas').focus()");
    Key("]");
    EXPECT_TRUE(Has(Text("details"), "thread 3")) << "along the arrow" << Text("details");
    Key("[");
    EXPECT_TRUE(Has(Text("details"), "thread 2")) << "and back" << Text("details");
    Key("e");
    EXPECT_EQ("\"none\"", browser->Run("document.getElementById('arrows').value"));
    EXPECT_EQ(0, View("+d.edges"));
    Key("e");
    Key("0");
    EXPECT_EQ(78, View("+d.edges")) << "two verdicts at 39 places";
    browser->Run("document.getElementById('shows-needed').click()");
    EXPECT_EQ(39, View("+d.edges")) << "a verdict that is switched off";
}

TEST_F(PageView, DetailsStandBesideAndStayInView)
{
    auto edges = Edges(39);
    Open(BuildTrace(Program()), &edges);
    CornerOf(browser.get(), "canvas");
    browser->Run("ptds.timeline.choose({edge: 5})");
    std::string text = Text("details");
    for (const char *part : {"Implicit order (", "thread 2", "thread 3", "Its beginning"})
        EXPECT_TRUE(Has(text, part)) << part << "\n" << text;
    const std::string beside =
        "(() => { const s = document.getElementById('stage').getBoundingClientRect(), p = "
        "document.getElementById('panel').getBoundingClientRect(); return p.left >= s.right && p.top >= 0 && p.bottom <= "
        "innerHeight; })()";
    EXPECT_EQ("true", browser->Run(beside));
    browser->Run("[...document.querySelectorAll('#details button')].find((one) => one.textContent === 'Its end').click()");
    EXPECT_TRUE(Has(Text("details"), "cuLaunchKernel")) << Text("details");
    auto panel_in_view = [this] {
        browser->Run(frames);
        return browser->Run(
            "(() => { const p = document.getElementById('panel').getBoundingClientRect(); return p.top >= 0 "
            "&& p.top < innerHeight - 60 && p.height > 40; })()");
    };
    browser->Resize(1280, 420);
    browser->Run("scrollBy(0, document.getElementById('stage').getBoundingClientRect().top + 50)");
    EXPECT_EQ("true", panel_in_view()) << "it stays while the timeline does";
    browser->Resize(700, 420);
    browser->Run("scrollTo(0, 0); scrollBy(0, document.getElementById('stage').getBoundingClientRect().top - 120)");
    EXPECT_EQ("true", panel_in_view()) << "at the bottom, where there is no room beside";
    EXPECT_EQ("true", browser->Run("document.documentElement.scrollWidth <= window.innerWidth"));
    browser->Picture("panel-narrow.png", false);
}

} // namespace
} // namespace ptds
