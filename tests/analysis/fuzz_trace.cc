// SPDX-License-Identifier: Apache-2.0
//
// For libFuzzer, run by scripts/fuzz: a trace's bytes, from where they lie, through reader, model, rules and verdicts, to
// the report that a person reads. What else is made of a trace is fuzz_views.cc's.
#include "tests/analysis/fuzz.h"

#include <cstring>
#include <memory>
#include <vector>

#include "tests/analysis/support.h"
#include "analysis/views/text/report_summary.h"

namespace
{

/* Paths in a damaged trace are not for opening. */
void Report(const trace_source *source)
{
    char error[TRACE_ERROR_SIZE] = "";
    ptds::TextOf text;
    std::unique_ptr<report> made(new report);
    if (report_build(made.get(), source, error) == 0) {
        report_summary(made.get(), nullptr, &text);
        report_text(made.get(), nullptr, &text);
    } else if (error[0] == '\0') {
        abort();
    }
    report_end(made.get());
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    /* Of its own size to the byte, so that nothing behind it is read. */
    const std::unique_ptr<uint64_t[]> aligned(reinterpret_cast<uintptr_t>(bytes) % 8 != 0 ? new uint64_t[size / 8 + 1]
                                                                                          : nullptr);
    if (aligned)
        memcpy(aligned.get(), bytes, size);
    const trace_source source =
        trace_source_bytes("bytes", aligned ? static_cast<const void *>(aligned.get()) : bytes, size);
    Report(&source);
    return 0;
}
