/* SPDX-License-Identifier: Apache-2.0
 *
 * Handles, captures and the log of the fake driver.
 */
#include "tests/support/fake_driver/state.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fake
{
namespace
{

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
struct Locked {
    Locked()
    {
        pthread_mutex_lock(&mutex);
    }
    ~Locked()
    {
        pthread_mutex_unlock(&mutex);
    }
};

constexpr size_t LOG = 1 << 15;
fake_entry entries[LOG];
size_t entry_count;
int capture_count;

/* A destroyed stream's handle is given out again first, as the driver does. */
struct Stream {
    bool alive, capturing;
    unsigned flags;
};
constexpr int STREAMS = 4096;
constexpr uintptr_t FIRST_STREAM = 0x51000;
Stream streams[STREAMS];

thread_local CUcontext contexts[16];
thread_local int depth;
thread_local bool per_thread_capturing;

Stream *find(CUstream handle)
{
    uintptr_t at = reinterpret_cast<uintptr_t>(handle);
    if (at < FIRST_STREAM || (at - FIRST_STREAM) / 16 >= STREAMS)
        return nullptr;
    Stream *stream = &streams[(at - FIRST_STREAM) / 16];
    return stream->alive ? stream : nullptr;
}

bool is_per_thread(bool twin, CUstream handle)
{
    return handle == CU_STREAM_PER_THREAD || (!handle && twin);
}

uintptr_t next_handle(uintptr_t *last)
{
    Locked locked;
    return *last += 16;
}

void write_line(const char *line, int size)
{
    const char *path = getenv("FAKE_LOG");
    int file = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;
    if (file < 0)
        return;
    if (write(file, line, static_cast<size_t>(size)) != size)
        abort();
    close(file);
}

} // namespace

void note(const fake_entry &entry)
{
    char line[256];
    int saved = errno;
    if (getenv("FAKE_LOG")) {
        int size = snprintf(line, sizeof line, "call %s %#zx\n", entry.symbol, reinterpret_cast<size_t>(entry.stream[0]));
        write_line(line, size);
    }
    Locked locked;
    if (entry_count < LOG)
        entries[entry_count++] = entry;
    errno = saved;
}

void note_query(const char *symbol)
{
    if (__atomic_load_n(&capture_count, __ATOMIC_RELAXED))
        note({symbol, 0, {}, nullptr});
}

void note_lookup(const char *name, int version, unsigned long long flags, const char *found)
{
    char line[256];
    if (getenv("FAKE_LOG"))
        write_line(line, snprintf(line, sizeof line, "ask %s %d %llu %s\n", *name ? name : "-", version, flags, found));
}

void spoil_errno()
{
    const char *value = getenv("FAKE_ERRNO");
    if (value)
        errno = atoi(value);
}

int forced_result()
{
    const char *value = getenv("FAKE_RESULT");
    return value ? atoi(value) : -1;
}

CUresult new_stream(CUstream *out, unsigned flags)
{
    if (!current())
        return CUDA_ERROR_INVALID_CONTEXT;
    Locked locked;
    for (uintptr_t i = 0; out && i < STREAMS; i++) {
        if (streams[i].alive)
            continue;
        streams[i] = {true, false, flags};
        *out = reinterpret_cast<CUstream>(FIRST_STREAM + i * 16);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

CUresult end_stream(CUstream handle)
{
    Locked locked;
    Stream *stream = find(handle);
    if (!stream)
        return CUDA_ERROR_INVALID_HANDLE;
    if (stream->capturing)
        __atomic_sub_fetch(&capture_count, 1, __ATOMIC_RELAXED);
    *stream = {false, false, 0};
    return CUDA_SUCCESS;
}

CUresult stream_flags(CUstream handle, unsigned *flags)
{
    Locked locked;
    const Stream *stream = find(handle);
    bool is_default = !handle || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
    if (flags)
        *flags = stream ? stream->flags : 0;
    return stream || is_default ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

template <class Handle> CUresult give(Handle *out, uintptr_t *last)
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = reinterpret_cast<Handle>(next_handle(last));
    return CUDA_SUCCESS;
}

CUresult new_event(CUevent *out)
{
    static uintptr_t last = 0xe1000;
    return current() ? give(out, &last) : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult new_graph_exec(CUgraphExec *out)
{
    static uintptr_t last = 0x61000;
    return give(out, &last);
}

CUresult new_context(CUcontext *out)
{
    static uintptr_t last = 0xc1000;
    return give(out, &last);
}

CUresult new_memory(uint64_t first, uint64_t *out)
{
    static uintptr_t used;
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = first + next_handle(&used) * 4096;
    /* The shim looks at what a small copy takes from the host. */
    if (first == FAKE_PINNED_MEMORY)
        mmap(reinterpret_cast<void *>(*out), 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return CUDA_SUCCESS;
}

CUresult push(CUcontext context)
{
    if (depth == 16)
        return CUDA_ERROR_INVALID_VALUE;
    contexts[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult pop(CUcontext *context)
{
    if (!depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    depth--;
    if (context)
        *context = contexts[depth];
    return CUDA_SUCCESS;
}

CUresult set_current(CUcontext context)
{
    depth -= depth > 0;
    return context ? push(context) : CUDA_SUCCESS;
}

CUcontext current()
{
    return depth ? contexts[depth - 1] : nullptr;
}

CUresult begin_capture(bool twin, CUstream handle)
{
    Locked locked;
    Stream *stream = find(handle);
    bool *capturing = is_per_thread(twin, handle) ? &per_thread_capturing : stream ? &stream->capturing : nullptr;
    if (!capturing || *capturing)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    *capturing = true;
    __atomic_add_fetch(&capture_count, 1, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CUresult end_capture(bool twin, CUstream handle, CUgraph *graph)
{
    Locked locked;
    Stream *stream = find(handle);
    bool *capturing = is_per_thread(twin, handle) ? &per_thread_capturing : stream ? &stream->capturing : nullptr;
    if (!capturing || !*capturing)
        return CUDA_ERROR_ILLEGAL_STATE;
    *capturing = false;
    __atomic_sub_fetch(&capture_count, 1, __ATOMIC_RELAXED);
    if (graph)
        *graph = reinterpret_cast<CUgraph>(uintptr_t{0x71000});
    return CUDA_SUCCESS;
}

CUresult is_capturing(bool twin, CUstream handle, CUstreamCaptureStatus *status)
{
    Locked locked;
    const Stream *stream = find(handle);
    bool capturing = is_per_thread(twin, handle) ? per_thread_capturing : stream && stream->capturing;
    if (status)
        *status = capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

} // namespace fake

extern "C" __attribute__((visibility("default"))) size_t fake_log_take(struct fake_entry *out, size_t most)
{
    fake::Locked locked;
    size_t count = fake::entry_count < most ? fake::entry_count : most;
    memcpy(out, fake::entries, count * sizeof *out);
    fake::entry_count = 0;
    return count;
}
