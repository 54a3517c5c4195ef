/* SPDX-License-Identifier: Apache-2.0
 *
 * How recording begins: the store, the trace's header and what every trace starts with. Called by the first call that is
 * more than a look-up, and by those of other threads that come meanwhile. Must not keep any of them waiting for ever, or
 * leave it half done where a thread is cancelled.
 */
#include "interpose/record/start.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "interpose/base/cancel.h"
#include "interpose/base/clock.h"
#include "interpose/base/diag.h"
#include "interpose/base/loaded.h"
#include "interpose/base/word.h"
#include "interpose/env/env.h"
#include "interpose/record/device/device_times.h"
#include "interpose/record/file/define.h"
#include "interpose/record/file/path.h"
#include "interpose/record/file/preamble.h"
#include "interpose/record/file/store.h"
#include "interpose/record/log.h"
#include "interpose/record/recorder.h"
#include "interpose/record/run_processes.h"
#include "interpose/record/stacks/stacks.h"
#include "interpose/record/threads.h"
#include "interpose/state/thread.h"
#include "interpose/version.h"

/* The text of records.def, so that a trace tells its own layout. */
static const char schema[] =
#define u64 "u64"
#define REC(NAME, id, doc, fields) #NAME " " #id " " fields "\n"
#define F(type, name, doc) #name ":" #type " "
#define TAIL(type, name, doc) #name ":" #type "..."
#include "interpose/trace/records.def"
#undef u64
    ;

static void fill_header(struct ptds_trace_header *header)
{
    memcpy(header->magic, PTDS_TRACE_MAGIC, sizeof header->magic);
    header->version = PTDS_TRACE_VERSION;
    header->header_size = PTDS_HEADER_SIZE;
    header->chunk_size = PTDS_CHUNK_SIZE;
    header->call_size = sizeof(struct ptds_rec_CALL);
    header->pid = recorder_pid = (uint32_t)getpid();
    header->parent_pid = (uint32_t)getppid();
    header->rank = path_rank();
    header->ranks = path_ranks();
    header->clock = clock_source;
    header->born = path_process_born();
    header->run = run_processes_id();
    gethostname(header->host, sizeof header->host - 1);
    loaded_program_path(header->program, sizeof header->program);
    memcpy(header->shim, PTDS_VERSION, sizeof PTDS_VERSION);
    header->schema_offset = 4096;
    header->schema_size = sizeof schema - 1;
    memcpy((char *)header + header->schema_offset, schema, sizeof schema - 1);
}

/* An address that is the starting thread's own, its thread_self; NULL: no thread has begun to start. */
static const void *starter;

/* Calls that did not wait until it was done. */
static uint32_t missed;
static uint32_t in_vain; /* 1: a thread has waited as long as any should; later ones do not wait */

enum { PATIENCE_MS = 1000 }; /* reserving room for the trace may be slow */

static void count_missed(void)
{
    if (recorder_on())
        __atomic_add_fetch(&store_header()->refused, __atomic_exchange_n(&missed, 0, __ATOMIC_ACQ_REL), __ATOMIC_RELAXED);
}

/* Not for ever: the starting thread may be the one that this signal handler has interrupted, or may itself be waiting for
 * this thread. Then the call goes on unrecorded. */
static void await_start(const void *whose)
{
    if (whose != &thread_self && !__atomic_load_n(&in_vain, __ATOMIC_RELAXED) &&
        word_leaves(&recorder_running, 0, PATIENCE_MS))
        return;
    if (whose != &thread_self)
        __atomic_store_n(&in_vain, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&missed, 1, __ATOMIC_ACQ_REL);
    count_missed();
}

static void started(uint32_t running)
{
    __atomic_store_n(&recorder_running, running, __ATOMIC_RELEASE);
    word_wake(&recorder_running);
    count_missed();
}

static void start(void)
{
    clock_start(); /* once: two readings of what the kernel says need not be the same */
    if (!store_open(env_get()->trace, env_get()->trace_limit, env_get()->memory_limit)) {
        diag_once(DIAG_ERROR, "no memory to record in");
        started(2);
        return;
    }
    fill_header(store_header());
    threads_counts_start();
    define_clocks();
    preamble_define();
    log_start();
    started(1);
    device_times_start();
    if (recorder_started)
        recorder_started();
}

/* Cancellation is off: start() opens and reads files, where a thread could be cancelled while others wait for it. The
 * unwinder is warmed up before any thread waits, since that may last as long as another library's constructor. */
void start_recording(void)
{
    const void *whose = NULL;
    if (!env_get()->recording || __atomic_load_n(&recorder_running, __ATOMIC_ACQUIRE) != 0)
        return;
    int saved = errno, cancel = cancel_off();
    stacks_warm_up();
    if (__atomic_compare_exchange_n(&starter, &whose, &thread_self, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        start();
    else if (__atomic_load_n(&recorder_running, __ATOMIC_ACQUIRE) == 0)
        await_start(whose);
    cancel_back(cancel);
    errno = saved;
}

void start_after_fork(void)
{
    starter = NULL;
    missed = in_vain = 0;
    recorder_running = 0;
}
