// SPDX-License-Identifier: Apache-2.0
//
// The page of several processes in a real browser: who they were, what a finding costs each, and that there is no timeline.
// Without a browser these tests are skipped.
#include <gtest/gtest.h>

#include "tests/analysis/exported.h"
#include "tests/analysis/page_browser.h"

namespace ptds
{
namespace
{

/* A copy that waited so many microseconds; a rank may also be killed. */
std::string Rank(int rank, unsigned waited, bool killed = false)
{
    std::string bytes =
        BuildTrace(std::string(killed ? "killed\n" : "") +
                   "setting policy=observe\n1@0 launch s=L k=_Z4spinPf site=a\n1@10+" + std::to_string(waited) +
                   " copy s=L implicit from=device to=pageable bytes=4 site=b\n"
                   "1@5100 launch s=N9 k=next\n1@11000+3 sync s=N9\n"
                   "device-run 1@0 5+9\n");
    auto *header = reinterpret_cast<ptds_trace_header *>(&bytes[0]);
    header->rank = rank;
    header->ranks = 20;
    header->pid = 4000 + static_cast<uint32_t>(rank);
    return bytes;
}

class ManyPage
{
public:
    explicit ManyPage(const std::vector<std::string> &bytes) : opened_(bytes)
    {
        TextOf out;
        status = report_html_many(&opened_.traces, &opened_.folds, opened_.namer, &out);
        std::string made = WriteTemporary(out.text);
        path = made + ".html";
        EXPECT_EQ(0, rename(made.c_str(), path.c_str()));
    }
    ~ManyPage()
    {
        unlink(path.c_str());
    }
    ManyPage(const ManyPage &) = delete;

    int status;
    std::string path;

private:
    Opened opened_;
};

TEST(PageMany, SaysWhoAndHowUnevenly)
{
    NEEDS_A_BROWSER();
    std::vector<std::string> ranks;
    for (int i = 0; i < 20; i++)
        ranks.push_back(Rank(i, 1000 + 100 * static_cast<unsigned>(i), i == 3));
    ManyPage page(ranks);
    ASSERT_EQ(0, page.status);
    Browser browser(1280, 900);
    EXPECT_NE("failed", browser.Open(page.path));
    EXPECT_EQ("20", browser.Run("document.querySelectorAll('#processes tbody tr').length"));
    EXPECT_EQ("\"node1 rank 7 pid 4007\"",
              browser.Run("document.querySelectorAll('#processes tbody tr')[7].cells[1].textContent"));
    EXPECT_EQ("1", browser.Run("document.querySelectorAll('#list tr.finding').length")) << "one finding of all";
    browser.Run("ptds.openFinding(1)");
    std::string details = browser.Run("document.querySelector('#list tr.more').innerText");
    for (const char *part : {"process 19: 1 time, 2.9 ms", "max 2.9 ms (process 19)", "8 more", "is of process 19"})
        EXPECT_NE(std::string::npos, details.find(part)) << part << "\n" << details;
    EXPECT_EQ(std::string::npos, details.find("Show in the timeline"));
    std::string text = browser.Run("document.body.innerText");
    for (const char *part : {"20 processes of prog; policy observe", "Right: 20; May be wrong: 0; WRONG: 0",
                             "operations with GPU times; of 40 others", "GPU times of 20 of 60 operations are recorded.",
                             "A timeline is of one process", "processes 0 to 19: the trace holds no exact counts",
                             "process 3: the process did not end through exit"})
        EXPECT_NE(std::string::npos, text.find(part)) << part << "\n" << text;
    for (const char *part : {"NaN", "undefined", "[object", "Zoom in"})
        EXPECT_EQ(std::string::npos, text.find(part)) << part << "\n" << text;
    EXPECT_TRUE(browser.Picture("many.png", true));
    EXPECT_EQ("true", browser.Run("document.documentElement.scrollWidth <= window.innerWidth"));
    browser.Resize(420, 900);
    EXPECT_TRUE(browser.Picture("many-narrow.png", true));
    EXPECT_EQ("true", browser.Run("document.documentElement.scrollWidth <= window.innerWidth"));
    EXPECT_EQ("", Errors(browser));
}

TEST(PageMany, ProcessesWithoutFindings)
{
    NEEDS_A_BROWSER();
    ManyPage page({BuildTrace("1@0 launch s=N1 k=a\n"), TraceBuilder().Bytes()});
    ASSERT_EQ(0, page.status);
    Browser browser(1280, 900);
    EXPECT_NE("failed", browser.Open(page.path));
    std::string text = browser.Run("document.body.innerText");
    for (const char *part : {"No hazards found.", "GPU time is not recorded.", "unknown"})
        EXPECT_NE(std::string::npos, text.find(part)) << part << "\n" << text;
    for (const char *part : {"NaN", "undefined", "Infinity", "[object"})
        EXPECT_EQ(std::string::npos, text.find(part)) << part << "\n" << text;
    EXPECT_EQ("", Errors(browser));
}

} // namespace
} // namespace ptds
