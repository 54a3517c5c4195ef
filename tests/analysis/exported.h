/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces in files, opened together, and exported by one of the formats: for tests of several traces and of export/.
 */
#ifndef PTDS_TESTS_ANALYSIS_EXPORTED_H
#define PTDS_TESTS_ANALYSIS_EXPORTED_H

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "analysis/views/export/export_job.h"
#include "analysis/symbols/symbolizer.h"
#include "analysis/views/export/export_formats.h"
#include "tests/analysis/support.h"

namespace ptds
{

/* What most exports are tried on. */
inline const char simple_trace[] = "tsc\n"
                                   "1@0 launch s=L k=_Z4spinPf site=a\n"
                                   "1@10+5000 copy s=L implicit from=device to=pageable bytes=4096 site=b\n"
                                   "2@6000 launch s=N1 k=third\n"
                                   "1@6100 launch s=N1 k=next\n"
                                   "1@12000+3 sync s=N1\n";

inline std::string WithHeader(std::string bytes, void (*change)(ptds_trace_header *header))
{
    change(reinterpret_cast<ptds_trace_header *>(&bytes[0]));
    return bytes;
}

class Opened
{
public:
    /* later: only read, as `ptds export` opens them; an export then makes their reports. */
    explicit Opened(const std::vector<std::string> &all, report_watch *watch = nullptr, bool later = false)
    {
        traces.watch = watch;
        traces.later = later;
        traces.trouble = [](void *data, const char *line) {
            *static_cast<std::string *>(data) += std::string(line) + "\n";
        };
        traces.data = &troubles;
        for (const std::string &bytes : all) {
            paths_.push_back(WriteTemporary(bytes));
            EXPECT_TRUE(traces_add(&traces, paths_.back().c_str()));
        }
        traces_order(&traces);
        fold_make(&folds, &traces);
        namer = symbolizer_begin();
    }
    ~Opened()
    {
        fold_free(&folds);
        traces_free(&traces);
        symbolizer_end(namer);
        for (const std::string &path : paths_)
            unlink(path.c_str());
    }
    Opened(const Opened &) = delete;

    /* The file that the format writes; the test fails if it does not. */
    std::string Export(const std::string &name, edge_feed *edges = nullptr, const char *source_root = nullptr,
                       bool all = true)
    {
        std::string path = WriteTemporary("");
        export_job job = {};
        job.traces = &traces;
        job.folds = &folds;
        job.namer = namer;
        job.edges = edges;
        job.source_root = source_root;
        job.all = all;
        job.path = path.c_str();
        for (size_t i = 0; i < export_formats_count; i++) {
            if (name != export_formats[i].name)
                continue;
            job.out = export_formats[i].needs_path ? nullptr : fopen(path.c_str(), "w");
            EXPECT_EQ(0, export_formats[i].write(&job)) << job.error;
            if (job.out != nullptr)
                fclose(job.out);
        }
        return path;
    }

    struct traces traces = {};
    struct folds folds = {};
    site_namer *namer;
    std::string troubles;

private:
    std::vector<std::string> paths_;
};

inline std::string TakeFile(const std::string &path)
{
    std::string text;
    char piece[65536];
    FILE *file = fopen(path.c_str(), "r");
    for (size_t size; file != nullptr && (size = fread(piece, 1, sizeof piece, file)) != 0;)
        text.append(piece, size);
    if (file != nullptr)
        fclose(file);
    unlink(path.c_str());
    return text;
}

} // namespace ptds

#endif
