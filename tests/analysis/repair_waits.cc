// SPDX-License-Identifier: Apache-2.0
//
// repair_waits TRACE: the waits that the program needs under per-thread, one by one. For tests/oracle/repair_test.py, which
// puts them into the program. Lines:
//   call NUMBER THREAD TICKS FUNCTION     each call, the thread by its number in the system
//   needed|maybe FIRST SECOND stream|host|wait     record an event after call FIRST, wait for it before SECOND: on its
//   stream, or
//                                                  the host; "wait": the host, after it
//   partly, wide                          as in repair.h
#include <cinttypes>
#include <cstdio>
#include <memory>

extern "C" {
#include "analysis/repair/repair.h"
#include "analysis/report/walk_calls.h"
#include "analysis/trace/trace_source.h"
}

namespace
{

void PutCall(walker *walker, struct model *model, const call_view *view)
{
    (void)walker;
    const struct thread_def *thread = definitions_thread(&model->trace->defs, view->call->thread);
    printf("call %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n", view->number,
           thread != nullptr ? static_cast<uint64_t>(thread->tid) : 0, view->call->r.enter,
           definitions_api_name(&model->trace->defs, view->call->r.api));
}

int PutWaits(const struct report *report)
{
    static const char *const ways[] = {"stream", "host", "wait"};
    static const char *const reasons[VERDICT_REASONS] = {"sure", "opaque", "access", "extent", "race",
                                                         "lost", "limit",  "host",   "time"};
    struct repair repair;
    int status = repair_of(&repair, report, ORDER_PER_THREAD);
    for (size_t i = 0; i < repair.waits.count; i++) {
        const repair_wait &wait = repair.waits.items[i];
        printf("%s %" PRIu64 " %" PRIu64 " %s %s\n", wait.verdict == VERDICT_NEEDED ? "needed" : "maybe", wait.first,
               wait.second, ways[wait.at], reasons[wait.reason]);
    }
    printf("%s%s", repair.partly ? "partly\n" : "", repair.wide ? "wide\n" : "");
    repair_end(&repair);
    return status == 0 ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
    struct trace_source source;
    char error[TRACE_ERROR_SIZE] = "usage: repair_waits TRACE";
    std::unique_ptr<struct report> report(new struct report);
    if (argc != 2 || trace_source_open(&source, argv[1], error) != 0 || report_build(report.get(), &source, error) != 0) {
        fprintf(stderr, "repair_waits: %s\n", error);
        return 2;
    }
    walker walker = {};
    walker.call = PutCall;
    int status = walk_calls(report.get(), &walker) == 0 ? PutWaits(report.get()) : 1;
    report_end(report.get());
    trace_source_close(&source);
    return status;
}
