/* SPDX-License-Identifier: Apache-2.0
 *
 * The shim's two entries, at its exit: build a report, write it, free it. Must not exit, and must not print elsewhere.
 */
#include "analysis/at_exit.h"

#include <stdlib.h>

#include "analysis/views/text/report_text.h"

static int write_report(const struct trace_source *source, struct text_sink *sink,
                        void (*writer)(const struct report *, struct site_namer *, struct text_sink *))
{
    char error[TRACE_ERROR_SIZE];
    struct report *report = malloc(sizeof *report);
    if (report == NULL) {
        sink_printf(sink, "ptds: no memory for the report\n");
        return -1;
    }
    int status = report_build(report, source, error);
    if (status == 0)
        writer(report, NULL, sink);
    else
        sink_printf(sink, "ptds: %s\n", error);
    report_end(report);
    free(report);
    return status;
}

int ptds_summary(const struct trace_source *source, struct text_sink *sink)
{
    return write_report(source, sink, report_summary);
}

int ptds_full_report(const struct trace_source *source, struct text_sink *sink)
{
    return write_report(source, sink, report_text);
}
