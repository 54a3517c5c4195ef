// SPDX-License-Identifier: Apache-2.0
//
// A page's address restores its view, in a real browser, and the page can be used without a mouse, and without eyes.
// Without a browser these tests are skipped.
#include <gtest/gtest.h>

#include "tests/analysis/page_browser.h"

namespace ptds
{
namespace
{

std::string Program()
{
    std::string text = "1@1 region step\n1@2 launch s=L k=spin site=a\n1@4 launch s=B1 k=gemm site=b\n";
    for (unsigned i = 0; i < 40; i++)
        text += "1@" + std::to_string(10 + 100 * i) +
                (i % 4 == 0 ? "+60 copy s=L implicit from=device to=pageable bytes=4 site=copy\n"
                            : "+30 launch s=N1 k=gemm\n") +
                "2@" + std::to_string(20 + 100 * i) + "+40 free ptr=0x1000\n";
    return text + "1@4100 region-end\n";
}

std::vector<struct edge> Edges()
{
    std::vector<struct edge> edges;
    for (unsigned i = 0; i < 30; i++)
        edges.push_back(Edge(EDGE_FAN_IN, static_cast<enum verdict>(i % 3), 20 + 100 * i, 2, 1, 110 + 100 * i, 1, 2));
    return edges;
}

/* All of the view that a link is about, from the page itself. */
const char everything[] =
    "JSON.stringify((() => { const t = ptds.timeline, v = t.view, value = (id) => document.getElementById(id).value; "
    "return "
    "[Math.round(v.from), Math.round(v.to), Math.round(v.scroll), v.chosen, v.measured && v.measured.map(Math.round), "
    "v.arrows, v.verdicts, t.finding, v.data.hits && v.data.hits.reduce((a, b) => a + b), value('search'), "
    "value('filter'), "
    "value('class'), value('verdict'), document.querySelectorAll('#list tr.finding').length, "
    "[...document.querySelectorAll('#kinds input')].map((one) => one.checked), "
    "document.getElementById('details').textContent, document.getElementById('measured').textContent]; })())";

class PageLink : public testing::Test
{
protected:
    void SetUp() override
    {
        NEEDS_A_BROWSER();
        browser = std::make_unique<Browser>(1280, 500);
        auto edges = Edges();
        page = std::make_unique<Page>(BuildTrace(Program()), &edges);
        ASSERT_EQ(0, page->status);
        ASSERT_LT(0u, (*page)->findings.count);
        Load("");
    }
    void TearDown() override
    {
        if (browser != nullptr) {
            EXPECT_EQ("", Errors(*browser));
        }
    }
    void Load(const std::string &fragment)
    {
        EXPECT_NE("failed", browser->Open(page->path, fragment));
        browser->Run(frames);
    }
    /* What a script leaves is there again, in a fresh page with the same address. */
    std::string ExpectRestored(const std::string &script)
    {
        browser->Run(script + "; document.getElementById('filter').dispatchEvent(new Event('input'))");
        browser->Run("new Promise((done) => setTimeout(done, 700))");
        std::string was = browser->Run(everything), hash = browser->Run("location.hash.slice(1)");
        EXPECT_NE("\"\"", hash);
        Load(hash.substr(1, hash.size() - 2));
        EXPECT_EQ(was, browser->Run(everything)) << hash;
        return hash;
    }

    std::unique_ptr<Browser> browser;
    std::unique_ptr<Page> page;
};

TEST_F(PageLink, NothingIsWrittenBeforeAnybodyChangesTheView)
{
    browser->Run("new Promise((done) => setTimeout(done, 700))");
    EXPECT_EQ("\"\"", browser->Run("location.hash"));
}

TEST_F(PageLink, RangeChoiceAndMeasureComeBack)
{
    ExpectRestored("ptds.timeline.show(500000, 900000); ptds.timeline.choose({op: 12}); ptds.timeline.measure([600000, "
                   "700000]); ptds.timeline.scroll(30)");
    EXPECT_EQ("true",
              browser->Run("(() => { const r = document.getElementById('canvas').getBoundingClientRect(); return r.top "
                           "< innerHeight && r.bottom > 0; })()"))
        << "the timeline is in view";
    ExpectRestored("ptds.timeline.clear(); ptds.timeline.fit(); ptds.timeline.choose({edge: 7})");
    ExpectRestored("ptds.timeline.choose({region: 0})");
}

TEST_F(PageLink, FiltersMarksAndHiddenArrowsComeBack)
{
    std::string hash = ExpectRestored("document.getElementById('filter').value = 'cuMemFree & more=?#'; "
                                      "document.getElementById('search').value = 'gemm'; "
                                      "document.getElementById('search').dispatchEvent(new Event('input')); "
                                      "document.getElementById('shows-needed').click(); ptds.timeline.setArrows('none')");
    EXPECT_NE(std::string::npos, hash.find("arrows=none")) << hash;
    ExpectRestored("document.getElementById('filter').value = ''; document.getElementById('class').selectedIndex = 1; "
                   "document.getElementById('verdict').selectedIndex = 1; ptds.showFinding(1)");
    EXPECT_NE("0", browser->Run("ptds.timeline.finding"));
}

TEST_F(PageLink, WhatIsNotUnderstoodIsLeftOut)
{
    std::string fresh = browser->Run(everything);
    for (const char *odd : {"t=9-1&op=99999&edge=-1&arrows=some&finding=500&region=x&class=none", "t=&measured=1",
                            "t=NaN-NaN&y=-5&rule=no-such-rule&verdict=%", "findings", "%%%=1"}) {
        Load(odd);
        std::string now = browser->Run(everything);
        EXPECT_EQ(fresh, now) << odd;
    }
}

TEST_F(PageLink, ANewAddressChangesThePageThatIsOpen)
{
    browser->Run("location.hash = 't=1000000-2000000&op=3'");
    browser->Run("new Promise((done) => setTimeout(done, 100))");
    browser->Run(frames);
    EXPECT_EQ("[1000000,2000000,3]", browser->Run("[ptds.timeline.view.from, ptds.timeline.view.to, "
                                                  "ptds.timeline.view.chosen.op].map(Math.round)"));
}

TEST_F(PageLink, EverythingThatCanBePressedHasANameAndTakesTheFocus)
{
    EXPECT_EQ("[]", browser->Run("[...document.querySelectorAll('button, input, select, canvas, dialog, aside, a[href], "
                                 "[tabindex]')].filter((one) => !(one.getAttribute('aria-label') || "
                                 "one.getAttribute('aria-labelledby') || (one.labels && one.labels.length) || "
                                 "one.textContent.trim())).map((one) => one.outerHTML)"));
    std::string reached = browser->Run("window.scrollTo(0, 0); document.body.focus(); ''");
    for (int i = 0; i < 60; i++) {
        browser->Key("Tab");
        reached += browser->Run("document.activeElement.id || document.activeElement.dataset.do || ''");
    }
    for (const char *id : {"theme", "filter", "in", "search", "link", "help", "arrows", "shows-needed", "canvas", "panel"})
        EXPECT_NE(std::string::npos, reached.find(std::string("\"") + id + "\"")) << id << " of " << reached;
    browser->Run("document.getElementById('canvas').focus()");
    EXPECT_NE("\"none\"", browser->Run("getComputedStyle(document.getElementById('canvas')).outlineStyle"));
    EXPECT_EQ("[]", browser->Run("[...document.querySelectorAll('[id]')].map((one) => one.id).filter((id, at, all) => "
                                 "all.indexOf(id) !== at)"))
        << "ids that are not unique";
}

} // namespace
} // namespace ptds
