// SPDX-License-Identifier: Apache-2.0
//
// Times on the GPU on the page, in a real browser: drawn where they were measured, said in words, unlike what a host's call
// looks like, at every zoom. Without a browser these tests are skipped.
#include <gtest/gtest.h>

#include <cstdio>

#include "tests/analysis/page_browser.h"

namespace ptds
{
namespace
{

/* Where the canvas has this colour: [least x, greatest x, a y], in the page's pixels; null where it has not. */
std::string Extent(const std::string &variable)
{
    return "(() => { const c = document.getElementById('canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, "
           "c.height).data, r = devicePixelRatio; "
           "const h = getComputedStyle(document.documentElement).getPropertyValue('--" +
           variable +
           "').trim(), w = [1, 3, 5].map((i) => parseInt(h.slice(i, i + 2), 16)); let box = null; "
           "for (let i = 0; i < d.length; i += 4) { if (w.some((v, j) => Math.abs(v - d[i + j]) > 3)) continue; "
           "const x = (i / 4) % c.width / r, y = Math.floor(i / 4 / c.width) / r; "
           "box = box ? [Math.min(box[0], x), Math.max(box[1], x), y] : [x, x, y]; } return box; })()";
}

TEST(PageGpu, DrawsMeasuredWorkFromItsStartOnTheGpuToItsEnd)
{
    NEEDS_A_BROWSER();
    Page page(BuildTrace("1@0 launch s=L k=first to=P1\n1@10 launch s=L to=P1 k=_Z4spinPf\n1@20+30 sync s=N1\n"
                         "1@9000+10 sync s=N1\ndevice-run 1@10 2000+3000\n"),
              nullptr);
    Browser browser(1280, 900);
    EXPECT_NE("failed", browser.Open(page.path));
    browser.Run(frames);
    std::string box = browser.Run("(() => { const [from, to, y] = " + Extent("gpu") +
                                  ", d = document.getElementById('canvas').dataset, plot = "
                                  "document.getElementById('stage').clientWidth - 190; "
                                  "const us = (x) => (+d.from + (x - 190) / plot * (d.to - d.from)) / 1000; "
                                  "return [us(from), us(to), us(from + 1) - us(from), from, y]; })()");
    double from = 0, to = 0, pixel = 0, x = 0, y = 0;
    ASSERT_EQ(5, sscanf(box.c_str(), "[%lf,%lf,%lf,%lf,%lf", &from, &to, &pixel, &x, &y)) << box;
    EXPECT_NEAR(2000, from, 2 * pixel);
    EXPECT_NEAR(5000, to, 3 * pixel);
    EXPECT_GT(pixel, 5) << "so that the call, at 10 us, is elsewhere";
    browser.Run("document.getElementById('canvas').scrollIntoView()");
    std::string corner = browser.Run("(() => { const r = document.getElementById('canvas').getBoundingClientRect(); "
                                     "return [r.left, r.top]; })()");
    double left = 0, top = 0;
    ASSERT_EQ(2, sscanf(corner.c_str(), "[%lf,%lf", &left, &top)) << corner;
    browser.Move(left + x + 40, top + y + 3);
    const std::string said = "ran on the GPU from 2.0000 ms to 5.0000 ms, 3.0 ms";
    EXPECT_NE(std::string::npos, browser.Run("document.getElementById('tip').textContent").find(said));
    browser.Click(left + x + 40, top + y + 3);
    std::string details = browser.Run("document.getElementById('details').textContent");
    for (const std::string &part : {said, std::string("kernel spin"), std::string("called 10.0000 us after")})
        EXPECT_NE(std::string::npos, details.find(part)) << part << "\n" << details;
    browser.Key("0");
    browser.Run("(() => { const f = document.getElementById('search'); f.value = 'first'; f.dispatchEvent(new "
                "Event('input')); document.querySelector('[data-do=next]').click(); })()");
    details = browser.Run("document.getElementById('details').textContent");
    EXPECT_NE(std::string::npos, details.find("when it ran on the GPU is unknown")) << details;
    std::string text = browser.Run("document.body.innerText");
    for (const char *part :
         {"operations with GPU times; of 1 other they are unknown",
          "GPU busy at least, of 7.0 ms since its first operation", "measured on the GPU",
          "GPU times of 1 of 2 operations are recorded.", "1 operation; of 1 it is unknown when they ran"})
        EXPECT_NE(std::string::npos, text.find(part)) << part << "\n" << text;
    EXPECT_EQ(std::string::npos, text.find("not recorded."));
    EXPECT_EQ("", Errors(browser));
}

TEST(PageGpu, WithoutDeviceTimesNothingLooksMeasured)
{
    NEEDS_A_BROWSER();
    Page page(BuildTrace("1@0 launch s=L k=first to=P1\n1@10 launch s=L to=P1 k=second\n1@20+30 sync s=N1\n"), nullptr);
    Browser browser(1280, 900);
    EXPECT_NE("failed", browser.Open(page.path));
    browser.Run(frames);
    EXPECT_EQ("null", browser.Run(Extent("gpu")));
    EXPECT_EQ(std::string::npos, browser.Run("document.body.innerText").find("on the GPU"));
}

/* Work in a queue that is ever fuller, on two streams; so many pieces that they are drawn from summaries. */
std::string Queued(unsigned pieces)
{
    std::string text, runs;
    for (unsigned i = 0; i < pieces; i++) {
        unsigned at = 100 + i * 10, thread = 1 + i % 2, begin = 120 + i * 14;
        std::string call = std::to_string(thread) + "@" + std::to_string(at);
        text += call + "+4 launch s=N" + std::to_string(thread) + " k=" + (i % 6 < 2 ? "softmax" : "gemm") + "\n";
        if (i % 7 != 0)
            runs += "device-run " + call + " " + std::to_string(begin) + "+" + std::to_string(8 + i % 5 * 3) + "\n";
    }
    return text + runs;
}

TEST(PageGpu, MeasuredWorkShowsFromAfarInBothThemesAndPrinted)
{
    NEEDS_A_BROWSER();
    Page page(BuildTrace(Queued(4000)), nullptr);
    Browser browser(1280, 900);
    EXPECT_NE("failed", browser.Open(page.path));
    browser.Run(frames);
    EXPECT_GT(Number(browser.Run(CountPixels("gpu"))), 2000);
    EXPECT_TRUE(browser.Picture("gpu-far.png", true));
    browser.Run("document.getElementById('canvas').focus()");
    for (int i = 0; i < 12; i++)
        browser.Key("+");
    browser.Run(frames);
    EXPECT_GT(Number(browser.Run(CountPixels("gpu"))), 500);
    EXPECT_TRUE(browser.Picture("gpu-near.png", false));
    browser.Dark(true);
    browser.Run(frames);
    EXPECT_GT(Number(browser.Run(CountPixels("gpu"))), 500);
    EXPECT_TRUE(browser.Picture("gpu-dark.png", false));
    browser.Key("0");
    browser.Print(true);
    browser.Run(frames);
    EXPECT_GT(Number(browser.Run(CountPixels("gpu"))), 2000);
    EXPECT_TRUE(browser.Picture("gpu-print.png", true));
    EXPECT_EQ("", Errors(browser));
}

} // namespace
} // namespace ptds
