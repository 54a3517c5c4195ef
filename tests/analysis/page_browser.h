/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages in a browser, for tests of what they draw.
 */
#ifndef PTDS_TESTS_ANALYSIS_PAGE_BROWSER_H
#define PTDS_TESTS_ANALYSIS_PAGE_BROWSER_H

#include <cstdio>
#include <cstdlib>

#include "tests/analysis/page_support.h"
#include "tests/support/browser.h"

#define NEEDS_A_BROWSER() \
    if (Browser::Find().empty()) \
    GTEST_SKIP() << "no browser here: install Debian's chromium (scripts/setup --browser does)"

namespace ptds
{

inline double Number(const std::string &json)
{
    return strtod(json.c_str() + (json[0] == '"'), nullptr);
}

inline std::string Errors(const Browser &browser)
{
    std::string all;
    for (const std::string &error : browser.errors)
        all += error + "\n";
    return all;
}

/* How many pixels of the canvas have this colour of the palette, as drawn, give or take its mixing at edges of lines. */
inline std::string CountPixels(const std::string &variable)
{
    return "(() => { const c = document.getElementById('canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, "
           "c.height).data; "
           "const h = getComputedStyle(document.documentElement).getPropertyValue('--" +
           variable +
           "').trim(); "
           "const w = [1, 3, 5].map((i) => parseInt(h.slice(i, i + 2), 16)); let n = 0; "
           "for (let i = 0; i < d.length; i += 4) if (Math.abs(d[i] - w[0]) + Math.abs(d[i + 1] - w[1]) + Math.abs(d[i + "
           "2] - w[2]) < 40) n++; "
           "return n; })()";
}

/* Where an element begins in the window, once it is in view. */
struct Corner {
    double x = 0, y = 0;
};
inline Corner CornerOf(Browser *browser, const std::string &id)
{
    Corner corner;
    std::string text = browser->Run("(() => { const e = document.getElementById('" + id +
                                    "'); e.scrollIntoView({block: 'nearest'}); const r = e.getBoundingClientRect(); "
                                    "return [r.left, r.top]; })()");
    EXPECT_EQ(2, sscanf(text.c_str(), "[%lf,%lf", &corner.x, &corner.y)) << text;
    return corner;
}

inline std::string TextOfElement(Browser *browser, const std::string &id)
{
    return browser->Run("document.getElementById('" + id + "').textContent");
}

constexpr char frames[] = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))";

} // namespace ptds

#endif
