/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of recording: closes the trace and prints what PTDS_REPORT asks for. Called once, from the library's destructor,
 * when the program's own threads may still run. The one place where the shim calls the analysis.
 */
#include "interpose/record/finish.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "analysis/at_exit.h"
#include "interpose/base/diag.h"
#include "interpose/base/floats.h"
#include "interpose/base/output.h"
#include "interpose/env/env.h"
#include "interpose/record/bypass.h"
#include "interpose/record/file/define.h"
#include "interpose/record/file/path.h"
#include "interpose/record/file/store.h"
#include "interpose/record/log.h"
#include "interpose/record/recorder.h"
#include "interpose/record/threads.h"

static const void *chunk(const struct trace_source *source, uint64_t index, size_t *readable)
{
    (void)source;
    *readable = PTDS_CHUNK_SIZE;
    return store_chunk_at(index);
}

/* A few lines to a write(2), so that they don't mix with other processes' output. */
struct gathered {
    const struct output *to;
    size_t used;
    int refused; /* the rest would be a piece without what comes before it */
    char text[4096];
};

static void put_out(struct gathered *gathered)
{
    if (!gathered->refused)
        gathered->refused = !output_write(gathered->to, gathered->text, gathered->used);
    gathered->used = 0;
}

static void gather(struct text_sink *sink, const char *text, size_t size)
{
    struct gathered *gathered = sink->data;
    while (size) {
        size_t room = sizeof gathered->text - gathered->used, piece = size < room ? size : room;
        memcpy(gathered->text + gathered->used, text, piece);
        gathered->used += piece;
        text += piece;
        size -= piece;
        if (gathered->used == sizeof gathered->text)
            put_out(gathered);
    }
}

/* 1 if all of it was taken. */
static int print(const struct output *to, int (*write_report)(const struct trace_source *, uint64_t, struct text_sink *))
{
    struct trace_source source = {.name = "this process", .file = store_path(), .header = store_header()};
    source.header_bytes = PTDS_HEADER_SIZE;
    source.chunks = store_header()->chunks;
    source.chunk = chunk;
    struct gathered gathered = {.to = to};
    struct text_sink sink = {gather, &gathered};
    write_report(&source, env_get()->report_budget, &sink);
    put_out(&gathered);
    return !gathered.refused;
}

static void print_to_file(const char *pattern)
{
    char path[1024];
    path_expand(pattern, path, sizeof path);
    struct output file;
    if (!output_open(&file, path, O_TRUNC)) {
        diag_once(DIAG_ERROR, "PTDS_REPORT: cannot write ", path, ": ", strerror(errno));
        return;
    }
    if (!print(&file, ptds_full_report))
        diag_once(DIAG_ERROR, "PTDS_REPORT: cannot write all of the report to ", path, "; is the disk full?");
    output_close(&file);
}

/* A signal handler that exits may have come while its thread held a lock of the record's: then nothing more is recorded, by
 * destructors that still call CUDA either, which would wait for it. */
static int is_locked_up(void)
{
    if (define_can_go_on() && store_can_go_on() && threads_counts_can_finish())
        return 0;
    __atomic_store_n(&recorder_running, 2, __ATOMIC_RELEASE);
    if (env_get()->report.kind != ENV_OUTPUT_OFF)
        diag_once(DIAG_ERROR,
                  "the program exited in a signal handler that had interrupted the shim, so there is no summary");
    return 1;
}

/* The child of a fork that libc does not tell of (_Fork, a system call): all that was recorded is its parent's. */
static int is_anothers(void)
{
    return recorder_pid != (uint32_t)syscall(SYS_getpid);
}

void finish_recording(void)
{
    if (!recorder_on() || is_anothers() || is_locked_up())
        return;
    if (recorder_ending)
        recorder_ending();
    bypass_record();
    threads_define_names();
    recorder_process(PTDS_PROCESS_EXIT, (uint32_t)getpid());
    define_clocks();
    log_finish();
    threads_counts_finish();
    if (store_is_torn()) {
        diag_once(DIAG_ERROR, store_path(), " was cut, or its disk failed, while the program ran: there is no report");
        return;
    }
    store_header()->clean_end = 1;
    const struct env_output_to *report = &env_get()->report;
    const struct floats floats = floats_hold();
    if (report->kind == ENV_OUTPUT_STDERR && output_is_there(output_stderr()))
        print(output_stderr(), ptds_summary);
    else if (report->kind == ENV_OUTPUT_FILE)
        print_to_file(report->path);
    floats_back(&floats);
    store_flush();
}
