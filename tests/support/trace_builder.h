/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes traces for tests: field by field (TraceBuilder), or from a few lines of text (BuildTrace), which is also the
 * language of the rules' own traces.
 *
 * The text: one call a line, lines of a thread in order of time.
 *
 *   THREAD@MICROSECONDS[+DURATION] OPERATION [key=value | word]...
 *
 *   1@10+500 copy s=L implicit from=device to=pageable bytes=4
 *
 * A duration makes the call timed. Operations:
 *   launch copy memset record wait host-function graph-launch sync query event-sync event-query elapsed ctx-sync
 *   alloc alloc-host register alloc-async free-async free free-host unregister array-destroy unmap attach write-value
 * wait-value module-load module-unload function-load stream-create event-create event-destroy ctx-limit config
 *   capture-begin capture-end opaque none
 *
 * Keys:
 *   s=NAME      the stream as named: L legacy (sets LEGACY), P1 thread 1's per-thread, B1 blocking, N1 non-blocking,
 *               S1 the shim's, U1 unknown
 *   to=NAME     of stream operations: the stream it was sent to (sets REMAPPED if it differs); of copies and memsets: the
 *               destination's memory kind, and target=NAME is the stream
 *   from=KIND   device pageable pinned registered managed array pool mapped ipc unknown; kind=KIND of an allocation
 *   behind=NAME the stream that the shim made another wait for before it; NAME@MICROSECONDS: for its work until then.
 *   waits=NAME  the one that waits, if not the call's target
 *
 *   k=NAME      kernel; args=PLACE,-,... its 8-byte parameters, "-" for no pointer; vars=NAME its module's variables (NAME
 *               a memory that need not be allocated, =NAME only read, old: not told), else it has none
 *
 *   facts=r0,w1,...  what the kernel's code says: it reads (r), may write (w), or both (u), by its parameter of that
 * number; r0-2 by any word of the parameters 0 and 1; rv, wv, uv by a variable; or direct (nothing more), indirect,
 *               unknown, tensor-map
 *
 *   blocks=N    of a launch: its grid, of 1024 threads each; else it has no shape that means anything
 *
 *   parts=NAME+N:NAME+N  of launches: the bytes to which pointers into that memory lead
 *   reaches=NAME,=NAME   of launches and copies: memory that no word names, written or (=) read
 *
 *   e=NAME      event; record counts its generation up, wait and sync use the current one; g=N another generation
 *
 *   ptr=N       the address; dst=PLACE or ptr=N a copy's or memset's destination, src=PLACE a copy's source
 *
 *   bytes=N     of a row, with height=N and pitch=N (both sides, or from-pitch=N of the source); span=N from-span=N: from
 * the first byte to behind the last, where slices do not follow each other
 *
 *   m=NAME      a name for the memory of an allocation, and the memory that a free frees; of=NAME what it is a part of,
 *               same=NAME what has the same bytes
 *
 *   flags=N result=N    ctx=N
 *
 *   site=NAME   a call stack of its own, in /opt/app/prog; NAME@OBJECT in /opt/app/OBJECT; NAME<-f:/a.py:41<-g:/b.py:7 with
 *               functions of Python on the way, the innermost first
 *   api=NAME    the driver function, instead of the operation's usual one
 * Words:
 *   implicit twin explicit capturing capture-open kept-capture kept-refused kept-excluded kept-no-way opaque shim-wait
 *   shim-edge host-memory why-pointers why-event why-graph why-semaphore why-value; words=plain: a launch does not say
 * where in its parameters a pointer lay
 *
 * A PLACE is a number, or memory by its name, A or A+16.
 *
 * A call that its thread is still in is written "in-flight" and then like a call. When a host function ran:
 *   host-run THREAD@MICROSECONDS BEGIN+DURATION s=NAME [tid=N]      the first two are those of the call that put it there
 *
 * "THREAD@MICROSECONDS region NAME" begins a region, "THREAD@MICROSECONDS region-end" ends the innermost; both
 * may have "domain=NAME" after it, and "range=N": then it is one of the process.
 *
 * "thread-end THREAD@MICROSECONDS", "stream-gone STREAM@MICROSECONDS": it ended.
 *
 * "lost 1@0 launch ...": the program made the call, and its record is not in the trace.
 *
 * "left 1@0 alloc ...": the allocation's call is not in the trace any more, and a MEMORY record stands for it.
 *
 * When an operation ran on its device, from tick 0 on:
 *   device-run THREAD@MICROSECONDS BEGIN+DURATION                   the first two are those of its call
 *
 * "count THREAD API CALLS FAILED REMAPPED MICROSECONDS": exact counts; API/twin its per-thread twin.
 *
 * Of the process: "chunk-size BYTES" (before all else), "rank N OF", "pid N", "host NAME", "process NAME=VALUE", "thread
 * N=NAME"; with "tsc", too, "realtime NS LATER": the other clock's first reading, and by how much more it read a second
 * later.
 *
 * Other lines: "# ...", "context N" (on device 0), "setting NAME=VALUE", "untabled NAME", "bypass OBJECT" (a copy of the
 * driver) or "bypass WHAT:OBJECT" (a number of enum ptds_bypass), "killed" (no clean end), "recycled" (old detail is gone),
 * "refused" (records could not be kept), "monotonic" (default) or "tsc" (3 ticks a nanosecond).
 */
#ifndef PTDS_TESTS_SUPPORT_TRACE_BUILDER_H
#define PTDS_TESTS_SUPPORT_TRACE_BUILDER_H

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "analysis/trace/trace_source.h"
#include "interpose/trace/format.h"

namespace ptds
{

struct CallSpec {
    uint32_t thread = 1;
    uint64_t enter = 0, leave = 0;
    uint32_t api = 1, result = 0, flags = 0, op = 0, kinds = 0;
    uint32_t context = 1, stream = 0, target = 0, stack = 0, object = 0, generation = 0, region = 0;
    std::vector<uint64_t> words;
};

/* Builds a trace in memory. Definitions and calls may come in any order; each thread's calls go to chunks of their own. */
class TraceBuilder
{
public:
    TraceBuilder();

    ptds_trace_header header; /* change what the test is about, call_size before the first Call() */
    uint32_t chunk_size = PTDS_CHUNK_SIZE;

    void Definition(uint16_t kind, const void *fixed, size_t fixed_bytes, const std::string &tail = "");
    void String(uint32_t id, const std::string &text, uint32_t role = 0);
    void Api(uint32_t api, const std::string &name, bool twin = false);
    void Setting(const std::string &text, uint32_t kind = PTDS_SETTING_SHIM);
    void Clock(uint64_t ticks, uint64_t monotonic);
    void Clock(uint64_t ticks, uint64_t monotonic, uint64_t realtime);
    void Thread(uint32_t id, const std::string &name);
    void ThreadGone(uint32_t id, uint64_t ticks);
    void Object(uint32_t id, const std::string &path, uint64_t base, uint64_t end, const std::string &build_id = "");
    void Stack(uint32_t id, const std::vector<uint64_t> &pc);
    void Source(uint32_t id, uint32_t file, uint32_t function, uint32_t line);
    void Context(uint32_t uid);
    void Stream(uint32_t uid, uint32_t kind, uint32_t context = 1, uint32_t thread = 0);
    void StreamGone(uint32_t uid, uint64_t ticks);
    void Kernel(uint32_t uid, uint32_t name, const std::vector<uint32_t> &layout = {},
                uint32_t variables = PTDS_NO_VARIABLES);
    /* word: as in KERNEL_FACTS. */
    void KernelFacts(uint32_t uid, const std::vector<uint32_t> &word, uint32_t bases, uint32_t verdict = PTDS_CODE_DIRECT,
                     uint32_t flags = 0);
    void Memory(const CallSpec &allocation);
    void Untabled(const std::string &name);
    void Bypass(const std::string &object, uint32_t what = PTDS_BYPASS_DRIVER_COPY);
    void Call(const CallSpec &call);
    void Count(uint32_t thread, uint32_t api, bool twin, const ptds_count &count);
    /* Only of a thread that has counts. */
    /* Else it is of another host, where its process may live. */
    void OfThisHost();
    void DefaultCount(uint32_t thread, uint32_t api, bool twin, const ptds_default_count &count);
    void Now(uint32_t thread, const ptds_now &now); /* the call that the thread is in */
    void Edge(uint32_t thread, uint32_t waits, uint32_t behind, uint64_t until);
    void HostRun(uint32_t thread, uint64_t enter, uint64_t begin, uint64_t end, uint32_t stream, uint32_t tid);
    void Lost(uint32_t thread, uint64_t records);
    /* Missing between the thread's calls so far and those to come: they had no room, or, where the header says that chunks
     * were recycled, were overwritten. */
    void Gap(uint32_t thread, uint64_t records);
    bool tells_ordinals = true; /* of chunks; older traces do not */
    /* device: -1, the trace does not say. */
    void DeviceRun(uint32_t thread, uint64_t enter, uint64_t start_ns, uint64_t end_ns, int32_t device = -1);
    /* STRING ids; no name: an end. range: one of the process, by its number. */
    void Region(uint32_t thread, uint64_t ticks, uint32_t name, uint32_t domain = 0, uint64_t range = 0);
    void Raw(uint32_t thread, const std::string &record); /* any record, into a thread's chunk of calls */

    /* The whole trace as a file would hold it. */
    std::string Bytes() const;

private:
    struct Place {
        uint64_t lost = 0, ordinal = 0;
    };
    std::string Chunk(uint32_t kind, uint32_t thread, const std::string &records, const Place &place) const;
    void Split(std::string *out, uint32_t kind, uint32_t thread, const std::string &records, Place *place) const;
    void SplitAtGaps(std::string *out, uint32_t thread, const std::string &records) const;
    std::string definitions_;
    std::map<uint32_t, std::string> calls_;
    std::string Counts(uint32_t thread, const std::vector<ptds_count> &counts) const;
    std::map<uint32_t, std::vector<ptds_count>> counts_;
    std::map<uint32_t, std::vector<ptds_default_count>> defaults_;
    std::map<uint32_t, ptds_now> now_;
    std::map<uint32_t, uint64_t> lost_;
    std::map<uint32_t, std::vector<std::pair<size_t, uint64_t>>>
        gaps_; /* after so many bytes of records, so many records */
    mutable uint64_t sequence_ = 0;
};

/* The trace that the text describes; throws std::invalid_argument naming the line. */
std::string BuildTrace(const std::string &text);

/* A source over bytes that stay alive: chunks as the shim would hand them over. */
class MemoryTrace
{
public:
    explicit MemoryTrace(std::string bytes);
    const trace_source *source() const
    {
        return &source_;
    }

private:
    std::vector<uint64_t> words_;
    std::vector<const void *> chunks_;
    trace_source source_;
};

/* Writes the bytes to a new file among the test's temporary ones; the caller unlinks it. */
std::string WriteTemporary(const std::string &bytes);

} // namespace ptds

#endif
