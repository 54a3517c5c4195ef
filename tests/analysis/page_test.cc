// SPDX-License-Identifier: Apache-2.0
//
// The page in a real browser: it opens without a complaint, sorts, filters, draws, zooms by keyboard, shows edges in the
// colours of their verdicts, says what it does not know, and opens with a million operations. Without a browser these tests
// are skipped.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "tests/analysis/page_browser.h"

namespace ptds
{
namespace
{

/* A program of three threads with all that a page can show. Streams by uid, in the order of first use: 1 L, 2 B1, 3 N1, 4
 * P1. */
std::string Program(bool remapped)
{
    std::string text =
        "setting policy=" + std::string(remapped ? "per-thread" : "observe") + "\nsetting PTDS_TRACE=app.ptds\n";
    text += "1@0 launch s=L k=_Z4spinPf site=a\n1@3 launch s=B1 k=gemm site=b\n1@6 launch s=N1 k=reduce site=c\n";
    for (unsigned i = 0; i < 40; i++) {
        std::string base = std::to_string(100 + i * 1000), later = std::to_string(100 + i * 1000 + 20);
        std::string to = remapped ? " to=P1" : "";
        text += "1@" + base + "+6 launch s=L" + to + " k=_Z4spinPf site=a\n";
        text += "1@" + later + "+" + std::to_string(300 + 10 * i) + " copy s=L" + (remapped ? " target=P1" : "") +
                " implicit from=device to=pageable bytes=4 site=copy\n";
        text += "2@" + std::to_string(160 + i * 1000) + "+5 launch s=B1 k=gemm site=b\n";
        text += "2@" + std::to_string(170 + i * 1000) + "+150 free ptr=0x1000 site=free\n";
        text += "3@" + std::to_string(500 + i * 1000) + "+4 launch s=L" + to + " k=" + (i % 2 ? "softmax" : "attention") +
                " site=d\n";
        text += "3@" + std::to_string(510 + i * 1000) + "+90 ctx-sync site=e\n";
    }
    return text;
}

std::vector<struct edge> Edges()
{
    std::vector<struct edge> edges;
    for (unsigned i = 0; i < 12; i++) {
        unsigned at = 100 + i * 3000;
        edges.push_back(Edge(EDGE_FAN_IN, VERDICT_NOT_NEEDED, at, 1, 2, at + 400, 1, 1));
        struct edge bearing = Edge(EDGE_FAN_OUT, VERDICT_NEEDED, at, 1, 1, at + 60, 2, 2);
        bearing.pair.first = bearing.from;
        bearing.pair.second = bearing.to;
        bearing.pair.first_access = ACCESS_WRITE;
        bearing.pair.second_access = ACCESS_READ;
        bearing.pair.address = 0x7f0000001000;
        bearing.pair.size = 4096;
        edges.push_back(bearing);
        edges.push_back(Edge(EDGE_FIFO, VERDICT_MAYBE_NEEDED, at, 1, 1, at + 400, 3, 1));
    }
    return edges;
}

TEST(Page, OpensSortsAndFilters)
{
    NEEDS_A_BROWSER();
    auto edges = Edges();
    Page page(BuildTrace(Program(false)), &edges);
    ASSERT_EQ(0, page.status);
    Browser browser(1280, 900);
    ASSERT_TRUE(browser.alive);
    EXPECT_NE("failed", browser.Open(page.path));
    double rows = Number(browser.Run("document.querySelectorAll('#list tr.finding').length"));
    EXPECT_EQ(static_cast<double>(page->findings.count), rows);
    const std::string costs = "JSON.stringify([...document.querySelectorAll('#list tr.finding')].map((row) => row.id))";
    std::string by_number = browser.Run(costs);
    browser.Run("document.querySelector('[data-sort=count]').click()");
    std::string by_count = browser.Run(costs);
    EXPECT_NE(by_number, by_count);
    EXPECT_EQ("\"descending\"",
              browser.Run("document.querySelector('[data-sort=count]').parentElement.getAttribute('aria-sort')"));
    EXPECT_EQ(
        "true",
        browser.Run(
            "(() => { const n = [...document.querySelectorAll('#list tr.finding td.n[data-label=calls]')].map((td) => "
            "+td.textContent.replace(/\\D/g, '')); return n.length > 2 && n.every((v, i) => !i || v <= n[i - 1]); })()"));
    browser.Run("document.querySelector('[data-sort=count]').click()");
    EXPECT_NE(by_count, browser.Run(costs));
    browser.Run("(() => { const f = document.getElementById('filter'); f.value = 'cuMemFree'; f.dispatchEvent(new "
                "Event('input')); })()");
    double filtered = Number(browser.Run("document.querySelectorAll('#list tr.finding').length"));
    EXPECT_LT(filtered, rows);
    EXPECT_GT(filtered, 0);
    browser.Run("document.querySelector('#list .open').click()");
    std::string more = browser.Run("document.querySelector('#list tr.more').textContent");
    for (const char *part : {"Advice", "stack", "prog+0x", "threads", "GPU timeunknown"})
        EXPECT_NE(std::string::npos, more.find(part)) << part << "\n" << more;
    EXPECT_EQ("", Errors(browser));
}

TEST(Page, DrawsATimelineAndItsEdgesByVerdict)
{
    NEEDS_A_BROWSER();
    auto edges = Edges();
    Page page(BuildTrace(Program(false)), &edges);
    Browser browser(1280, 900);
    browser.Open(page.path);
    browser.Run(frames);
    for (const char *variable : {"c-kernel", "c-copy", "blocked", "v-not_needed", "v-needed", "v-maybe_needed"})
        EXPECT_GT(Number(browser.Run(CountPixels(variable))), 30) << variable;
    EXPECT_GT(Number(browser.Run("document.getElementById('canvas').dataset.edges")), 30);
    browser.Run("document.querySelectorAll('#kinds input')[0].click()");
    browser.Run(frames);
    EXPECT_LT(Number(browser.Run(CountPixels("v-not_needed"))), 30) << "a verdict that is switched off";
    EXPECT_EQ("", Errors(browser));
}

TEST(Page, KeysAndPointerChangeTheView)
{
    NEEDS_A_BROWSER();
    Page page(BuildTrace(Program(true)), nullptr);
    Browser browser(1280, 900);
    browser.Open(page.path);
    auto span = [&] {
        browser.Run(frames);
        return Number(
            browser.Run("(() => { const d = document.getElementById('canvas').dataset; return d.to - d.from; })()"));
    };
    auto from = [&] {
        browser.Run(frames);
        return Number(browser.Run("document.getElementById('canvas').dataset.from"));
    };
    browser.Run("document.getElementById('canvas').focus()");
    double all = span();
    browser.Key("+");
    double closer = span();
    EXPECT_LT(closer, all * 0.7);
    double left = from();
    browser.Key("ArrowRight");
    EXPECT_GT(from(), left);
    EXPECT_NEAR(closer, span(), closer * 0.01);
    browser.Key("-");
    browser.Key("0");
    EXPECT_NEAR(all, span(), all * 0.01);
    browser.Run("(() => { const c = document.getElementById('canvas'), r = c.getBoundingClientRect(); c.dispatchEvent(new "
                "MouseEvent('dblclick', {clientX: r.left + 600, clientY: r.top + 50})); })()");
    EXPECT_NEAR(all / 3, span(), all * 0.01);
    browser.Key("0");
    browser.Run("(() => { const f = document.getElementById('search'); f.value = 'softmax'; f.dispatchEvent(new "
                "Event('input')); })()");
    EXPECT_EQ("\"20 matches\"", browser.Run("document.getElementById('matches').textContent"));
    browser.Key("n");
    EXPECT_LT(span(), all * 0.2);
    std::string details = browser.Run("document.getElementById('details').textContent");
    for (const char *part : {"cuLaunchKernel", "softmax", "thread 3", "sent to", "default stream"})
        EXPECT_NE(std::string::npos, details.find(part)) << part << "\n" << details;
    browser.Picture("chosen.png", false);
    browser.Key("Escape");
    EXPECT_EQ("\"\"", browser.Run("document.getElementById('details').textContent"));
    EXPECT_EQ("\"\"", browser.Run("document.getElementById('matches').textContent")) << "nothing is dim any more";
    EXPECT_EQ("", Errors(browser));
}

TEST(Page, SaysWhatStillSerialises)
{
    NEEDS_A_BROWSER();
    Page page(BuildTrace("setting policy=guarded\n1@0 launch s=L to=S1 k=a\n1@10+5000 sync s=L to=S1\n"), nullptr);
    Browser browser(1280, 900);
    browser.Open(page.path);
    EXPECT_NE(
        std::string::npos,
        browser.Run("document.getElementById('opening').textContent").find("which policy removes it:5.0 ms, own work"));
    EXPECT_EQ("", Errors(browser));
}

TEST(Page, SaysThatThereAreMoreRows)
{
    NEEDS_A_BROWSER();
    std::string text;
    for (unsigned i = 1; i <= 60; i++)
        text += std::to_string(i) + "@" + std::to_string(i) + " launch s=N1 k=a\n";
    Page page(BuildTrace(text), nullptr);
    Browser browser(1280, 900);
    browser.Open(page.path);
    browser.Run(frames);
    const std::string view = "document.getElementById('view').textContent";
    EXPECT_NE(std::string::npos, browser.Run(view).find(" rows below: drag")) << browser.Run(view);
    browser.Run("document.getElementById('canvas').focus()");
    browser.Key("PageDown");
    browser.Key("PageDown");
    browser.Key("PageDown");
    browser.Run(frames);
    EXPECT_EQ(std::string::npos, browser.Run(view).find("below")) << browser.Run(view);
    EXPECT_EQ("", Errors(browser));
}

TEST(Page, SaysWhatItDoesNotKnow)
{
    NEEDS_A_BROWSER();
    Page page(BuildTrace(Program(false)), nullptr);
    Browser browser(1280, 900);
    browser.Open(page.path);
    std::string text = browser.Run("document.body.innerText");
    for (const char *part : {"not analysed", "GPU time is in none of these numbers", "GPU time is not recorded.",
                             "Device times are not part of this timeline", "no verdict is given"})
        EXPECT_NE(std::string::npos, text.find(part)) << part;
    EXPECT_EQ(std::string::npos, text.find("NaN"));
    EXPECT_EQ(std::string::npos, text.find("[object")) << text;
    EXPECT_EQ("", Errors(browser));
}

TEST(Page, EmptyAndDamagedTracesHaveTheirPages)
{
    NEEDS_A_BROWSER();
    Browser browser(1280, 900);
    Page empty(TraceBuilder().Bytes(), nullptr);
    ASSERT_EQ(0, empty.status);
    EXPECT_NE("failed", browser.Open(empty.path));
    EXPECT_NE(std::string::npos, browser.Run("document.body.innerText").find("no recorded operations"));
    std::string bytes = BuildTrace(Program(false));
    /* The definitions' chunk stays; the last of the threads' chunks gets a record of size 3. */
    size_t chunk = TraceBuilder().header.header_size + 3 * PTDS_CHUNK_SIZE + sizeof(ptds_chunk);
    uint16_t size = 3;
    memcpy(&bytes[chunk + 2], &size, sizeof size);
    Page damaged(bytes, nullptr);
    ASSERT_EQ(0, damaged.status);
    EXPECT_NE("failed", browser.Open(damaged.path));
    std::string text = browser.Run("document.body.innerText");
    EXPECT_NE(std::string::npos, text.find("damage at offset " + std::to_string(chunk))) << text;
    EXPECT_NE(std::string::npos, text.find("sync-copy")) << "the other threads' findings are there";
    EXPECT_EQ("", Errors(browser));
}

TEST(Page, NamesFromTheTraceStayText)
{
    NEEDS_A_BROWSER();
    std::string hostile = "</script><script>document.title='taken'</script><img/src=x>";
    Page page(BuildTrace("1@0 launch s=L k=" + hostile +
                         "\n1@10+5000 copy s=L implicit from=device to=pageable bytes=4\n" GOES_ON),
              nullptr);
    EXPECT_EQ(std::string::npos, page.html.find(hostile));
    Browser browser(1280, 900);
    EXPECT_NE("failed", browser.Open(page.path));
    EXPECT_NE("\"taken\"", browser.Run("document.title"));
    EXPECT_NE(std::string::npos, browser.Run("document.body.innerText").find("</script>")) << "it is shown as it is";
    EXPECT_EQ("0", browser.Run("document.images.length"));
    EXPECT_EQ("", Errors(browser));
}

/* Four threads, legacy and blocking streams, a blocked copy now and then. */
std::string Large(uint32_t operations)
{
    TraceBuilder builder;
    builder.Api(1, "cuLaunchKernel");
    builder.Api(2, "cuMemcpyDtoH_v2");
    builder.String(1, "gemm");
    builder.Kernel(1, 1);
    builder.Object(1, "/opt/app/prog", 0x400000, 0x500000);
    for (uint32_t i = 1; i <= 16; i++)
        builder.Stack(i, {0x400000 + i * 64, 0x408000});
    for (uint32_t stream = 1; stream <= 4; stream++)
        builder.Stream(stream, stream == 1 ? PTDS_STREAM_LEGACY : PTDS_STREAM_BLOCKING);
    uint64_t chance = 88172645463325252u, now = 1000;
    auto random = [&chance](uint64_t below) {
        chance ^= chance << 13;
        chance ^= chance >> 7;
        chance ^= chance << 17;
        return chance % below;
    };
    for (uint32_t i = 0; i < operations; i++) {
        CallSpec call;
        bool copy = random(50) == 7;
        call.thread = 1 + static_cast<uint32_t>(random(4));
        call.enter = now += 500 + random(4000);
        call.leave = call.enter + (copy ? 20000 + random(40000) : 1000 + random(1500));
        call.api = copy ? 2 : 1;
        call.op = copy ? PTDS_OP_COPY : PTDS_OP_LAUNCH;
        call.flags = PTDS_CALL_TIMED | (copy               ? PTDS_CALL_IMPLICIT | PTDS_CALL_LEGACY
                                        : call.thread == 1 ? PTDS_CALL_LEGACY
                                                           : 0);
        call.kinds = PTDS_MEMORY_PAGEABLE | PTDS_MEMORY_DEVICE << 4;
        call.stream = copy ? 1 : call.thread;
        call.object = copy ? 0 : 1;
        call.stack = 1 + static_cast<uint32_t>(random(16));
        call.words = copy ? std::vector<uint64_t>{0x1000, 0x2000, 4, 1, 0, 0} : std::vector<uint64_t>{1, 1, 1};
        builder.Call(call);
    }
    return builder.Bytes();
}

TEST(Page, AMillionOperations)
{
    NEEDS_A_BROWSER();
    std::vector<struct edge> edges;
    for (unsigned i = 0; i < 50000; i++)
        edges.push_back(
            Edge(EDGE_FAN_IN, static_cast<enum verdict>(i % VERDICTS), i * 50, 2 + i % 3, 2 + i % 3, i * 50 + 30, 1, 1));
    auto began = std::chrono::steady_clock::now();
    auto seconds = [&began] {
        std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
        began = std::chrono::steady_clock::now();
        return passed.count();
    };
    std::string bytes = Large(1000000);
    seconds();
    Page page(bytes, &edges);
    ASSERT_EQ(0, page.status);
    double made = seconds();
    Browser browser(1280, 900);
    seconds();
    EXPECT_NE("failed", browser.Open(page.path));
    double opened = seconds();
    EXPECT_EQ("\"1000000\"", browser.Run("document.getElementById('stage').dataset.operations"));
    browser.Run("document.getElementById('canvas').focus()");
    double worst = 0, whole = 0;
    for (int i = 0; i < 24; i++) {
        browser.Key(i < 12 ? "+" : "ArrowRight");
        browser.Run(frames);
        double ms = Number(browser.Run("document.getElementById('canvas').dataset.drawMs"));
        worst = ms > worst ? ms : worst;
        whole += ms;
    }
    printf("1 000 000 operations, 50 000 edges: page of %.1f MB made in %.1f s, opened in %.1f s; a view is drawn in %.1f "
           "ms, the "
           "slowest of 24 in %.1f ms\n",
           static_cast<double>(page.html.size()) / 1e6, made, opened, whole / 24, worst);
    EXPECT_LT(opened, 20) << "seconds, on a machine that may be busy";
    EXPECT_GT(Number(browser.Run(CountPixels("c-kernel"))), 1000);
    browser.Picture("million.png", false);
    EXPECT_EQ("", Errors(browser));
}

TEST(Page, AnExcerptSaysSo)
{
    NEEDS_A_BROWSER();
    Page page(Large(5000), nullptr, 800);
    Browser browser(1280, 900);
    EXPECT_NE("failed", browser.Open(page.path));
    std::string text = browser.Run("document.getElementById('timeline-notes').innerText");
    EXPECT_NE(std::string::npos, text.find("excerpt")) << text;
    EXPECT_NE(std::string::npos, text.find("5000 operations")) << text;
    EXPECT_EQ("\"800\"", browser.Run("document.getElementById('stage').dataset.operations"));
    EXPECT_EQ("", Errors(browser));
}

/* The least contrast of any text colour on any ground that it is used on, for the theme that is on. */
const char least_contrast[] = R"((() => {
    const style = getComputedStyle(document.documentElement);
    const light = (name) => {
        const hex = style.getPropertyValue('--' + name).trim();
        const parts = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
        const linear = parts.map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    };
    let least = 99;
    for (const ground of ['ground', 'panel', 'row'])
        for (const text of ['text', 'soft', 'link', 'v-not_needed', 'v-needed', 'v-maybe_needed']) {
            const [a, b] = [light(ground), light(text)].sort((x, y) => y - x);
            least = Math.min(least, (a + 0.05) / (b + 0.05));
        }
    return least;
})())";

TEST(Page, BothThemesCanBeRead)
{
    NEEDS_A_BROWSER();
    Page page(BuildTrace(Program(false)), nullptr);
    Browser browser(1280, 900);
    browser.Open(page.path);
    EXPECT_GE(Number(browser.Run(least_contrast)), 4.5);
    browser.Run("document.getElementById('theme').click()");
    EXPECT_EQ("\"dark\"", browser.Run("document.documentElement.dataset.theme"));
    EXPECT_GE(Number(browser.Run(least_contrast)), 4.5);
    EXPECT_EQ("", Errors(browser));
}

/* For the eye; the assertions are that nothing sticks out of the page, and that both themes can be read. */
TEST(Page, PicturesInBothThemesNarrowAndPrinted)
{
    NEEDS_A_BROWSER();
    auto edges = Edges();
    Page page(BuildTrace(Program(true)), &edges);
    Browser browser(1280, 900);
    browser.Open(page.path);
    const std::string wide = "document.documentElement.scrollWidth <= window.innerWidth";
    browser.Run("ptds.openFinding(1); window.scrollTo(0, 0)");
    EXPECT_TRUE(browser.Picture("light.png", true));
    EXPECT_EQ("true", browser.Run(wide));
    browser.Dark(true);
    browser.Run(frames);
    EXPECT_EQ("\"dark\"", browser.Run("document.documentElement.dataset.theme"));
    EXPECT_TRUE(browser.Picture("dark.png", true));
    browser.Dark(false);
    browser.Resize(420, 900);
    EXPECT_TRUE(browser.Picture("narrow.png", true));
    EXPECT_EQ("true", browser.Run(wide));
    browser.Resize(1000, 900);
    browser.Print(true);
    EXPECT_TRUE(browser.Picture("print.png", true));
    EXPECT_EQ("\"none\"", browser.Run("getComputedStyle(document.getElementById('tools')).display"));
    EXPECT_EQ("", Errors(browser));
}

} // namespace
} // namespace ptds
