// SPDX-License-Identifier: Apache-2.0
//
// The page of several processes in a real browser: who they were, what a finding costs each, and one timeline
// of all. Without a browser these tests are skipped.
#include <gtest/gtest.h>

#include "tests/analysis/exported.h"
#include "tests/analysis/page_browser.h"
#include "analysis/views/html/timelines.h"

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

/* One implicit edge for each trace, from its first call's thread to its second's. */
int OneEdge(edge_feed *, const struct report *, edge_sink *sink)
{
    struct edge edge = Edge(EDGE_FIFO, VERDICT_NEEDED, 1000, 1, 1, 1200, 1, 1);
    sink->edge(sink, &edge);
    return 0;
}

class ManyPage
{
public:
    explicit ManyPage(const std::vector<std::string> &bytes) : opened_(bytes, Begin(&timelines_, &feed_, bytes.size()))
    {
        TextOf out;
        timelines_decide(&timelines_);
        status = report_html_many(&opened_.traces, &opened_.folds, &timelines_, opened_.namer, &out);
        std::string made = WriteTemporary(out.text);
        path = made + ".html";
        EXPECT_EQ(0, rename(made.c_str(), path.c_str()));
    }
    ~ManyPage()
    {
        unlink(path.c_str());
        timelines_end(&timelines_);
    }
    ManyPage(const ManyPage &) = delete;

    int status;
    std::string path;

private:
    static report_watch *Begin(struct timelines *timelines, edge_feed *feed, size_t count)
    {
        timelines_begin(timelines, count);
        timelines->edges = feed;
        return &timelines->watch;
    }

    struct timelines timelines_;
    edge_feed feed_ = {OneEdge, nullptr};
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
    std::string text = browser.Run("document.body.innerText");
    for (const char *part :
         {"20 processes of prog; policy observe", "Right: 20; May be wrong: 0; WRONG: 0",
          "operations with GPU times; of 40 others", "GPU times of 20 of 60 operations are recorded.",
          "processes 0 to 19: the trace holds no exact counts", "process 3: the process did not end through exit"})
        EXPECT_NE(std::string::npos, text.find(part)) << part << "\n" << text;
    for (const char *part : {"NaN", "undefined", "[object"})
        EXPECT_EQ(std::string::npos, text.find(part)) << part << "\n" << text;
    EXPECT_TRUE(browser.Picture("many.png", true));
    EXPECT_EQ("true", browser.Run("document.documentElement.scrollWidth <= window.innerWidth"));
    browser.Resize(420, 900);
    EXPECT_TRUE(browser.Picture("many-narrow.png", true));
    EXPECT_EQ("true", browser.Run("document.documentElement.scrollWidth <= window.innerWidth"));
    EXPECT_EQ("", Errors(browser));
}

/* Two launches and a copy behind them, each process in its own words: the second has one more thread, stream and kernel. */
std::string Process(int rank, uint64_t realtime, bool tsc = false)
{
    TraceBuilder builder;
    builder.header.rank = rank;
    builder.header.ranks = 2;
    builder.header.pid = 4000 + static_cast<uint32_t>(rank);
    if (tsc)
        builder.header.clock = PTDS_CLOCK_TSC; /* and no readings: it cannot be converted */
    else if (realtime != 0) {
        builder.Clock(0, 1000000, realtime);
        builder.Clock(1000000000, 1001000000, realtime + 1000000000);
    }
    uint32_t more = static_cast<uint32_t>(rank);
    builder.Api(1, "cuLaunchKernel");
    builder.Api(2, "cuMemcpyDtoH_v2");
    for (uint32_t i = 0; i <= more; i++) {
        builder.String(1 + i, i == 0 ? "gemm" : "softmax");
        builder.Kernel(1 + i, 1 + i);
        builder.Stream(1 + i, i == 0 ? PTDS_STREAM_LEGACY : PTDS_STREAM_BLOCKING);
    }
    builder.String(50, "step", PTDS_ROLE_REGION);
    builder.Region(1 + more, 500000, 50);
    for (uint32_t i = 0; i < 6; i++) {
        CallSpec call;
        bool copy = i % 3 == 2;
        call.thread = 1 + more * (i % 2);
        call.enter = 1000000 + i * 100000;
        call.leave = call.enter + (copy ? 50000 : 2000);
        call.api = copy ? 2 : 1;
        call.op = copy ? PTDS_OP_COPY : PTDS_OP_LAUNCH;
        call.flags = PTDS_CALL_TIMED | PTDS_CALL_LEGACY | (copy ? PTDS_CALL_IMPLICIT : 0);
        call.kinds = PTDS_MEMORY_PAGEABLE | PTDS_MEMORY_DEVICE << 4;
        call.stream = copy ? 1 : 1 + more;
        call.object = copy ? 0 : 1 + more;
        call.words = copy ? std::vector<uint64_t>{0x1000, 0x2000, 4, 1, 0, 0} : std::vector<uint64_t>{1, 1, 1};
        builder.Call(call);
    }
    builder.Region(1 + more, 1400000, 0);
    return builder.Bytes();
}

TEST(PageMany, OneTimelineOnOneClock)
{
    NEEDS_A_BROWSER();
    ManyPage page({Process(0, 5000000000), Process(1, 5002500000)});
    ASSERT_EQ(0, page.status);
    Browser browser(1280, 900);
    EXPECT_NE("failed", browser.Open(page.path));
    browser.Run(frames);
    const std::string rows = "JSON.stringify(ptds.timeline.view.places.map((one) => one.title ? one.title.slice(2) : "
                             "[one.row.kind, one.row.label, one.row.indices.length]))";
    EXPECT_EQ("\"[\\\"Process 0, node1 rank 0 pid 4000: host threads\\\",[\\\"thread\\\",\\\"prog "
              "1\\\",6],[\\\"region\\\",\\\"regions\\\",1],\\\"Process 0, node1 rank 0 pid 4000: "
              "streams\\\",[\\\"stream\\\",\\\"legacy stream\\\",6],\\\"Process 1, node1 rank 1 pid 4001: host "
              "threads\\\",[\\\"thread\\\",\\\"prog 1\\\",3],[\\\"thread\\\",\\\"prog "
              "2\\\",3],[\\\"region\\\",\\\"regions\\\",1],\\\"Process 1, node1 rank 1 pid 4001: "
              "streams\\\",[\\\"stream\\\",\\\"legacy stream\\\",2],[\\\"stream\\\",\\\"stream 2 (blocking)\\\",4]]\"",
              browser.Run(rows));
    /* The second began 2.5 ms later. */
    EXPECT_EQ(
        "[2500000,2500000]",
        browser.Run("(() => { const {op} = ptds.timeline.view.data; return [op.enter[6] - op.enter[0], op.enter[11] - "
                    "op.enter[5]]; })()"));
    const std::string lines = "ptds.lines(ptds.timeline.view.data, {op: 9}).join('; ')";
    std::string text = browser.Run(lines);
    for (const char *part : {"cuLaunchKernel, kernel softmax", "Process 1, node1 rank 1 pid 4001, thread 2",
                             "stream 2 (blocking)", "called 3.8000 ms after the start, took 2.0 us"})
        EXPECT_NE(std::string::npos, text.find(part)) << part << "\n" << text;
    EXPECT_NE(std::string::npos, browser.Run("ptds.lines(ptds.timeline.view.data, {region: 1}).join('; ')")
                                     .find("Region step; Process 1, node1 rank 1 pid 4001, thread 2"));
    EXPECT_NE(std::string::npos, browser.Run("ptds.lines(ptds.timeline.view.data, {edge: 1}).join('; ')")
                                     .find("from Process 1, node1 rank 1 pid 4001, thread 1, legacy stream"));
    EXPECT_GT(Number(browser.Run(CountPixels("c-kernel"))), 20);
    EXPECT_TRUE(browser.Picture("many-timeline.png", true));
    EXPECT_EQ("", Errors(browser));
}

TEST(PageMany, AFindingShowsInEveryProcess)
{
    NEEDS_A_BROWSER();
    ManyPage page({Rank(0, 1000), Rank(1, 2000), Rank(2, 1500)});
    Browser browser(1280, 900);
    EXPECT_NE("failed", browser.Open(page.path));
    EXPECT_EQ("1", browser.Run("document.querySelectorAll('#list tr.finding').length"));
    browser.Run("ptds.showFinding(1)");
    EXPECT_EQ("\"1 of 3\"", browser.Run("document.getElementById('matches').textContent")) << "a call in each";
    EXPECT_EQ("", Errors(browser));
}

TEST(PageMany, GroupsOfRowsCanBeClosed)
{
    NEEDS_A_BROWSER();
    ManyPage page({Process(0, 5000000000), Process(1, 5002500000)});
    Browser browser(1280, 900);
    EXPECT_NE("failed", browser.Open(page.path));
    const std::string rows = "ptds.timeline.view.places.filter((one) => one.row).length";
    EXPECT_EQ("8", browser.Run(rows));
    Corner corner = CornerOf(&browser, "canvas");
    browser.Click(corner.x + 60, corner.y + 34);
    EXPECT_EQ("6", browser.Run(rows)) << "a click on its title";
    browser.Run("document.querySelectorAll('#groups input')[3].click(); new Promise((done) => setTimeout(done, 500))");
    EXPECT_EQ("4", browser.Run(rows)) << "and in the list";
    std::string hash = browser.Run("location.hash.slice(1)");
    EXPECT_NE(std::string::npos, hash.find("closed=0.3")) << hash;
    EXPECT_NE("failed", browser.Open(page.path, hash.substr(1, hash.size() - 2)));
    EXPECT_EQ("4", browser.Run(rows)) << "a link closes them, too";
    EXPECT_EQ("[false,true,true,false]",
              browser.Run("[...document.querySelectorAll('#groups input')].map((one) => one.checked)"));
    EXPECT_EQ("", Errors(browser));
}

TEST(PageMany, ClocksThatCannotBeComparedAreSaid)
{
    NEEDS_A_BROWSER();
    ManyPage page({Process(0, 5000000000), Process(1, 0)});
    Browser browser(1280, 900);
    EXPECT_NE("failed", browser.Open(page.path));
    std::string notes = browser.Run("document.getElementById('timeline-notes').textContent");
    EXPECT_NE(std::string::npos, notes.find("The clocks of Process 1 cannot be compared with others")) << notes;
    ManyPage other({Process(0, 5000000000), Process(1, 0, true)});
    EXPECT_NE("failed", browser.Open(other.path));
    notes = browser.Run("document.getElementById('timeline-notes').textContent");
    EXPECT_NE(std::string::npos, notes.find("1 process is not drawn: clocks that cannot be converted")) << notes;
    EXPECT_EQ("6", browser.Run("ptds.timeline.view.data.count"));
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
    for (const char *part : {"No findings in what was recorded.", "GPU time is not recorded.", "unknown"})
        EXPECT_NE(std::string::npos, text.find(part)) << part << "\n" << text;
    for (const char *part : {"NaN", "undefined", "Infinity", "[object"})
        EXPECT_EQ(std::string::npos, text.find(part)) << part << "\n" << text;
    EXPECT_EQ("", Errors(browser));
}

} // namespace
} // namespace ptds
