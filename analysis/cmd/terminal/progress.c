/* SPDX-License-Identifier: Apache-2.0
 *
 * Progress of the reading of a trace. Called millions of times, so it looks at the clock only now and then; writes to
 * stderr only, and only where that is a terminal.
 */
#include "analysis/cmd/terminal/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "analysis/base/text.h"

enum { CHUNKS_A_LOOK = 256 };
static const uint64_t SILENT_NS = 1000000000, EVERY_NS = 200000000;

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t line_shown; /* by whichever: there is one line */

static bool is_due(struct progress *progress, uint64_t every)
{
    uint64_t time = now();
    if (time - progress->began < SILENT_NS || time - line_shown < every)
        return false;
    progress->shown = line_shown = time;
    return true;
}

static void show(struct progress *progress, const char *what, uint64_t done, uint64_t total)
{
    if (!is_due(progress, EVERY_NS))
        return;
    fprintf(stderr, "\r\033[K%.40s: %s of %s %s, %u %%", text_base(progress->name), text_count(done).text,
            text_count(total).text, what, total != 0 ? (unsigned)((double)done * 100 / (double)total) : 0);
    fflush(stderr);
}

/* The first pass asks for chunk after chunk; later ones go back, and are counted in calls. */
static const void *chunk(const struct trace_source *source, uint64_t index, size_t *readable)
{
    struct progress *progress = (struct progress *)source->data;
    if (index > progress->chunks) {
        progress->chunks = index;
        if (index % CHUNKS_A_LOOK == 0)
            show(progress, "chunks read", index, source->chunks);
    }
    return progress->inner->chunk(progress->inner, index, readable);
}

void progress_begin(struct progress *progress, const struct trace_source *source, bool on)
{
    *progress = (struct progress){.inner = source, .began = now()};
    progress->on = on && isatty(STDERR_FILENO);
    if (source == NULL)
        return;
    progress->source = *source;
    progress->name = source->name;
    if (progress->on) {
        progress->source.chunk = chunk;
        progress->source.data = progress;
    }
}

void progress_calls(struct progress *progress, uint64_t done, uint64_t total)
{
    if (progress->on)
        show(progress, "calls analysed", done, total);
}

/* Where calls are counted, that says more. */
void progress_bytes(struct progress *progress, uint64_t written)
{
    if (!progress->on || !is_due(progress, 5 * EVERY_NS))
        return;
    fprintf(stderr, "\r\033[K%.40s: %s bytes written", text_base(progress->name), text_count(written).text);
    fflush(stderr);
}

void progress_end(struct progress *progress)
{
    if (progress->shown != 0)
        fprintf(stderr, "\r\033[K");
    progress->shown = 0;
}
