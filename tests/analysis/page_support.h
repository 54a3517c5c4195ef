/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages for tests: from a trace and, as the analysis of edges would give them, edges.
 */
#ifndef PTDS_TESTS_ANALYSIS_PAGE_SUPPORT_H
#define PTDS_TESTS_ANALYSIS_PAGE_SUPPORT_H

#include <unistd.h>

#include "analysis/views/html/report_html.h"
#include "tests/analysis/support.h"

namespace ptds
{

inline struct edge Edge(edge_kind kind, enum verdict verdict, uint64_t from_us, uint32_t from_thread, uint32_t from_stream,
                        uint64_t to_us, uint32_t to_thread, uint32_t to_stream)
{
    struct edge edge = {};
    edge.kind = kind;
    edge.verdict = verdict;
    edge.reason = verdict == VERDICT_MAYBE_NEEDED ? REASON_OPAQUE : REASON_NONE;
    edge.from.ticks = from_us * 1000;
    edge.from.thread = from_thread;
    edge.from.stream = from_stream;
    edge.to.ticks = to_us * 1000;
    edge.to.thread = to_thread;
    edge.to.stream = to_stream;
    return edge;
}

/* The page's text, and a file that holds it as long as this lives. Without `edges` nobody judged any, but for `judged`:
 * then the report's own counts stay. */
class Page
{
public:
    Page(const std::string &bytes, const std::vector<struct edge> *edges, uint32_t most = TIMELINE_MOST,
         bool judged = false, void (*more)(struct report *report) = nullptr)
        : trace_(bytes)
    {
        char error[TRACE_ERROR_SIZE] = "";
        edge_list_begin(&edges_);
        for (size_t i = 0; edges != nullptr && i < edges->size(); i++)
            edges_.sink.edge(&edges_.sink, &(*edges)[i]);
        timeline_begin(&timeline_, most);
        status = report_build_watched(report_.get(), trace_.source(), nullptr, &timeline_.watch, error);
        timeline_decide(&timeline_);
        EXPECT_EQ(0, status == 0 ? residual_find(report_.get()) : 0);
        if (edges != nullptr)
            Judge(report_.get(), *edges);
        else if (!judged)
            report_->edges.analysed = false;
        TextOf out;
        if (more != nullptr && status == 0)
            more(report_.get());
        if (status == 0)
            status = report_html(report_.get(), &timeline_, &edges_, nullptr, &out);
        html = out.text;
        path = WriteTemporary(html);
        std::string named = path + ".html";
        if (rename(path.c_str(), named.c_str()) == 0)
            path = named;
    }
    ~Page()
    {
        unlink(path.c_str());
        timeline_end(&timeline_);
        report_end(report_.get());
        edge_list_end(&edges_);
    }
    Page(const Page &) = delete;

    const struct report *operator->() const
    {
        return report_.get();
    }

    const struct report *get() const
    {
        return report_.get();
    }

    int status;
    std::string html, path;

private:
    MemoryTrace trace_;
    std::unique_ptr<struct report> report_{new struct report};
    struct timeline timeline_;
    struct edge_list edges_;
};

} // namespace ptds

#endif
