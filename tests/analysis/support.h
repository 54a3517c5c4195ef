/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of analysis/ share: text collected from a sink, a report with its lifetime, findings by rule,
 * what cannot be done with a shim that a sanitizer changed.
 */
#ifndef PTDS_TESTS_ANALYSIS_SUPPORT_H
#define PTDS_TESTS_ANALYSIS_SUPPORT_H

#include <memory>
#include <string>
#include <vector>

#include "analysis/views/text/report_text.h"
#include "analysis/at_exit.h"
#include "analysis/base/sink.h"
#include "analysis/views/text/report_summary.h"
#include "tests/support/trace_builder.h"

/* A shim that is built with a sanitizer cannot be preloaded into a plain shell. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define NEEDS_A_PLAIN_SHIM() GTEST_SKIP() << "the shim is built with a sanitizer"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define NEEDS_A_PLAIN_SHIM() GTEST_SKIP() << "the shim is built with a sanitizer"
#endif
#endif
#ifndef NEEDS_A_PLAIN_SHIM
#define NEEDS_A_PLAIN_SHIM() (void)0
#endif

namespace ptds
{

/* More work after a wait that ended at 5.01 ms, until long after: so that the wait was not for a last result. */
#define GOES_ON "1@5100 launch s=N9 k=next\n1@11000+3 sync s=N9\n"

/* Gives the report these edges, as its own analysis of edges would have. */
inline void Judge(struct report *report, const std::vector<struct edge> &edges)
{
    edge_table_free(&report->edges);
    edge_table_begin(&report->edges);
    for (const struct edge &edge : edges)
        report->edges.sink.edge(&report->edges.sink, &edge);
    edge_table_finish(&report->edges);
    report->edges.analysed = true;
    for (size_t i = 0; i < report->findings.count; i++)
        edge_table_judge(&report->edges, report->findings.items[i]);
}

struct TextOf : text_sink {
    TextOf()
    {
        write = [](text_sink *sink, const char *piece, size_t size) {
            static_cast<std::string *>(sink->data)->append(piece, size);
        };
        data = &text;
    }
    TextOf(const TextOf &) = delete;
    std::string text;
};

/* A report over a trace in memory. */
class Built
{
public:
    explicit Built(const std::string &bytes, const struct selection &selection = {})
        : trace_(bytes), report_(new struct report)
    {
        char message[TRACE_ERROR_SIZE] = "";
        status = report_build_watched(report_.get(), trace_.source(), &selection, nullptr, message);
        error = message;
    }
    ~Built()
    {
        report_end(report_.get());
    }
    Built(const Built &) = delete;

    const struct report *operator->() const
    {
        return report_.get();
    }
    const struct report *get() const
    {
        return report_.get();
    }

    std::vector<const finding *> Of(const std::string &rule) const
    {
        std::vector<const finding *> found;
        for (size_t i = 0; i < report_->findings.count; i++)
            if (report_->findings.items[i]->rule->id == rule)
                found.push_back(report_->findings.items[i]);
        return found;
    }

    std::string Summary() const
    {
        TextOf out;
        report_summary(report_.get(), nullptr, &out);
        return out.text;
    }

    std::string Text() const
    {
        TextOf out;
        report_text(report_.get(), nullptr, &out);
        return out.text;
    }

    int status;
    std::string error;

private:
    MemoryTrace trace_;
    std::unique_ptr<struct report> report_;
};

} // namespace ptds

#endif
