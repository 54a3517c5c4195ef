/* SPDX-License-Identifier: Apache-2.0
 *
 * A program as the guard's tests see it: calls of several threads in one order, none at the same time. legacy.h says what
 * order a legacy default stream gives them, executor.h what order the guard's decision gives them.
 */
#ifndef PTDS_TESTS_GUARD_PROGRAM_H
#define PTDS_TESTS_GUARD_PROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

namespace ptds_test
{

enum { kMemories = 4, kMostCalls = 62, kEvents = 4 };

/* A set of calls, by their numbers. */
using Set = uint64_t;
inline Set one(int call)
{
    return Set(1) << call;
}

enum class StreamKind : uint8_t { Legacy, PerThread, Blocking, NonBlocking };

/* A stream as the program names it: 0 as one thread uses it, that thread's 0x2, or a created one. */
struct Stream {
    StreamKind kind;
    uint8_t thread; /* of Legacy and PerThread */
    uint8_t domain;
    uint8_t index; /* of created ones */
};

struct World {
    int lanes = 1;       /* of a thread's default stream */
    bool shared = false; /* all threads' default streams on the same lanes */
    bool early = false;  /* lanes open before the first call, not at their first use */
    int dummies = 0;     /* lanes that nobody uses, opened first */
    uint8_t hosts = 0;   /* bit m: the host can touch memory m */
    std::vector<Stream> streams;

    void add_domain(int domain, int threads, int blocking, int non_blocking);
};

enum class Op : uint8_t {
    Work,      /* a kernel or a copy: what it touches is in the call */
    Record,    /* of `event` */
    Wait,      /* for `event`, by the stream */
    Close,     /* the stream is destroyed; another of this name may follow */
    Sync,      /* the host waits for the stream: begins and ends */
    SyncBegin, /* the host begins to; its thread calls nothing else until */
    SyncEnd,   /* the thread's wait ends */
    EventSync, /* the host waits for `event` */
    DeviceSync /* the host waits for all of the stream's context */
};

enum class Join : uint8_t { Nothing, Host, All };

/* How a memory's lower and upper half are touched. */
enum Mode : uint8_t { kNone, kRead, kWrite };

struct Call {
    Op op = Op::Work;
    uint8_t thread = 0; /* who calls */
    uint8_t stream = 0; /* index into World::streams */
    uint8_t event = 0;
    bool opaque = false;
    bool marks_host = true; /* touched.host is set if a memory of it is the host's */
    Join join = Join::Nothing;
    uint8_t touch[kMemories][2] = {};

    void all_of(int memory, Mode mode)
    {
        touch[memory][0] = touch[memory][1] = mode;
    }
    bool empty() const;
};

struct Program {
    World world;
    std::vector<Call> calls;

    /* A call touches one half of a memory. The guard keeps one range for all that a lane has touched of it. */
    bool has_parts() const;
};

/* They share a range that one of them writes, or one of them is opaque. */
bool conflict(const Call &a, const Call &b);

/* The host can touch what it touches. */
bool of_host(const World &world, const Call &call);

std::string print(const World &world, const Call &call);
std::string print(const Program &program);

} // namespace ptds_test

#endif
