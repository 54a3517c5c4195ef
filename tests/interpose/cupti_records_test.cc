/* SPDX-License-Identifier: Apache-2.0
 *
 * What libptds_cupti.so makes of CUPTI's records, whichever come first, and of a CUPTI that refuses. The test plays the
 * shim and writes the records.
 */
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <malloc.h>
#include <string>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/interpose/scripted_cupti.h"

extern "C" {
#include "interpose/cupti/cupti.h"
}

namespace
{

/* ---- the shim ---- */

uint64_t g_ticks;
uint32_t g_base = 77; /* 0: there is no memory for one */
std::vector<std::string> g_told;

uint64_t ticks()
{
    return g_ticks += 10;
}

uint32_t base(uint64_t earliest, uint64_t latest)
{
    EXPECT_EQ(earliest + 10, latest);
    return g_base;
}

void operation(uint64_t id, uint32_t its_base, int64_t start, int64_t end)
{
    EXPECT_EQ(77u, its_base);
    g_told.push_back(std::to_string(id) + ": " + std::to_string(start) + " to " + std::to_string(end));
}

const struct cupti_shim shim = {sizeof(struct cupti_shim), ticks, base, operation};

/* ---- the records ---- */

using Records = std::vector<std::string>;
using Told = std::vector<std::string>;

template <class Record> std::string bytes_of(const Record &record)
{
    static_assert(sizeof record <= SCRIPTED_RECORD, "there is room for each");
    std::string bytes(SCRIPTED_RECORD, '\0');
    memcpy(&bytes[0], &record, sizeof record);
    return bytes;
}

std::string kernel(uint32_t correlation, uint64_t start, uint64_t end)
{
    CUpti_ActivityKernel10 record = {};
    record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    record.correlationId = correlation, record.start = start, record.end = end;
    return bytes_of(record);
}

std::string copy(uint32_t correlation, uint64_t start, uint64_t end)
{
    CUpti_ActivityMemcpy6 record = {};
    record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
    record.correlationId = correlation, record.start = start, record.end = end;
    return bytes_of(record);
}

std::string memset_of(uint32_t correlation, uint64_t start, uint64_t end)
{
    CUpti_ActivityMemset4 record = {};
    record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
    record.correlationId = correlation, record.start = start, record.end = end;
    return bytes_of(record);
}

std::string ticket(uint32_t correlation, uint64_t id,
                   CUpti_ExternalCorrelationKind kind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0)
{
    CUpti_ActivityExternalCorrelation record = {};
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = kind, record.externalId = id, record.correlationId = correlation;
    return bytes_of(record);
}

std::string call(CUpti_ActivityKind kind, uint32_t correlation, uint32_t thread, uint64_t start, uint64_t end)
{
    CUpti_ActivityAPI record = {};
    record.kind = kind;
    record.correlationId = correlation, record.threadId = thread, record.start = start, record.end = end;
    return bytes_of(record);
}

class Cupti : public testing::Test
{
protected:
    static struct scripted_cupti &script()
    {
        static void *library = dlopen("libcupti.so.13", RTLD_NOW);
        static auto *found = static_cast<struct scripted_cupti *>(dlsym(library, "scripted_cupti"));
        return *found;
    }
    static const char *begin(const struct cupti_shim *offered = &shim)
    {
        static void *library = dlopen(getenv("PLUGIN"), RTLD_NOW);
        static auto start = reinterpret_cast<cupti_start_function>(dlsym(library, "ptds_cupti_start"));
        EXPECT_TRUE(start) << dlerror();
        return start(offered, &tool);
    }
    void SetUp() override
    {
        script() = {};
        script().version = CUPTI_API_VERSION;
        script().now = 1000000;
        g_base = 77;
        g_told.clear();
        ASSERT_EQ(nullptr, begin());
    }
    /* An operation of this thread's, and the ticket that CUPTI is given for it; by then nothing is a thread's first. */
    uint64_t made(uint64_t id, enum cupti_work work = WORK_KERNEL)
    {
        tool.done();
        const uint64_t its = script().pushed;
        tool.operation(id, work);
        tool.done();
        return its;
    }
    /* What is told of a buffer with these records. */
    static Told told_of(const Records &records)
    {
        uint8_t *buffer = nullptr;
        size_t size = 0, most = 12345;
        g_told.clear();
        script().give(&buffer, &size, &most);
        EXPECT_EQ(size_t{1} << 20, size);
        EXPECT_LE(size, malloc_usable_size(buffer));
        EXPECT_EQ(0u, most) << "as many as fit";
        EXPECT_EQ(0u, reinterpret_cast<uintptr_t>(buffer) % 8);
        for (size_t i = 0; i < records.size(); i++)
            memcpy(buffer + i * SCRIPTED_RECORD, records[i].data(), SCRIPTED_RECORD);
        script().take(nullptr, 0, buffer, size, records.size() * SCRIPTED_RECORD);
        return g_told;
    }
    static struct cupti_tool tool;
};

struct cupti_tool Cupti::tool;

TEST_F(Cupti, IsAskedForWhatIsNeeded)
{
    uint64_t kinds = 0;
    for (int kind : {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER,
                     CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET})
        kinds |= uint64_t{1} << kind;
    EXPECT_EQ(kinds, script().enabled);
    EXPECT_EQ(200u, script().flush_ms);
}

TEST_F(Cupti, SaysWhyThereWillBeNoTimes)
{
    struct cupti_shim other = shim;
    other.size--;
    EXPECT_STREQ("libptds_cupti.so is of another libptds", begin(&other));
    for (uint32_t version : {CUPTI_API_VERSION - 10000, CUPTI_API_VERSION + 10000, 0}) {
        script().version = version;
        EXPECT_EQ(0u, std::string(begin()).find("libcupti.so is of another CUDA release than ")) << version;
    }
    script().version = CUPTI_API_VERSION / 10000 * 10000 + 9999;
    EXPECT_EQ(nullptr, begin()) << "of the same release";
    script().refuses_callbacks = 1;
    EXPECT_STREQ("CUPTI refused (another tool may be using it)", begin());
    script().refuses_callbacks = 0;
    for (CUpti_ActivityKind kind : {CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_MEMSET}) {
        script().refuses_kind = kind;
        EXPECT_STREQ("CUPTI refused (another tool may be using it)", begin());
    }
}

/* One ticket at a time lies ready, a new one after each operation. */
TEST_F(Cupti, TicketsOfAThread)
{
    const unsigned pops = script().pops;
    std::thread([] {
        tool.ready();
        const uint64_t first = script().pushed;
        EXPECT_NE(0u, first);
        tool.ready();
        EXPECT_EQ(first, script().pushed);
        tool.operation(5001, WORK_KERNEL);
        EXPECT_EQ(first, script().pushed);
        tool.done();
        EXPECT_EQ(first + 1, script().pushed);
        tool.ready();
        EXPECT_EQ(first + 1, script().pushed);
    }).join();
    EXPECT_EQ(pops + 1, script().pops) << "the one that is over";
    std::thread([] {
        tool.done();
        EXPECT_NE(0u, script().pushed) << "the thread's first call is none of ours";
    }).join();
    EXPECT_EQ(pops + 1, script().pops) << "there was none";
}

/* From the first one's start to the last one's end, from the moment on when the buffer was taken. */
TEST_F(Cupti, WorkBeforeItsTicket)
{
    const uint64_t one = made(11), two = made(12), three = made(13);
    EXPECT_EQ((Told{"11: -900 to 500"}), told_of({kernel(101, 999100, 1000500), ticket(101, one)}));
    EXPECT_EQ((Told{"12: -900 to 700"}),
              told_of({copy(102, 999500, 1000500), memset_of(102, 999100, 999200), kernel(102, 999600, 1000700),
                       copy(102, 999700, 999800), ticket(102, two)}));
    EXPECT_EQ(Told{}, told_of({kernel(103, 1000100, 1000200)}));
    EXPECT_EQ((Told{"13: 100 to 200"}), told_of({ticket(103, three)})) << "in the next buffer";
    EXPECT_EQ(Told{}, told_of({ticket(103, three)})) << "once";
}

TEST_F(Cupti, WorkAfterItsTicket)
{
    const uint64_t one = made(21), two = made(22);
    EXPECT_EQ((Told{"21: 1 to 2", "22: 3 to 4", "21: 5 to 5"}),
              told_of({ticket(201, one), ticket(202, two), kernel(201, 1000001, 1000002), copy(202, 1000003, 1000004),
                       memset_of(201, 1000005, 1000005)}));
}

TEST_F(Cupti, NothingIsToldOf)
{
    const uint64_t one = made(31);
    EXPECT_EQ(Told{}, told_of({ticket(301, one), kernel(301, 0, 1000002), kernel(301, 1000002, 1000001)})) << "not timed";
    EXPECT_EQ(Told{}, told_of({ticket(302, one, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1), kernel(302, 1000001, 1000002)}))
        << "another tool's id";
    EXPECT_EQ(Told{}, told_of({ticket(303, one + 500), kernel(303, 1000001, 1000002)})) << "no call's ticket";
    EXPECT_EQ(Told{}, told_of({kernel(304, 1000001, 1000002), kernel(305, 1000001, 1000002)})) << "nobody's";
    CUpti_ActivityKernel10 other = {};
    other.kind = CUPTI_ACTIVITY_KIND_KERNEL;
    other.correlationId = 301, other.start = 1000001, other.end = 1000002;
    EXPECT_EQ(Told{}, told_of({bytes_of(other)})) << "of a kind that was not asked for";
    script().now = 0;
    EXPECT_EQ(Told{}, told_of({kernel(301, 1000001, 1000002)})) << "without CUPTI's clock";
    script().now = 1000000;
    g_base = 0;
    EXPECT_EQ(Told{}, told_of({kernel(301, 1000001, 1000002)})) << "without a base";
    g_base = 77;
    EXPECT_EQ((Told{"31: 1 to 2"}), told_of({kernel(301, 1000001, 1000002)}));
}

/* Of two calls whose places are one the later one has it. */
TEST_F(Cupti, PlacesServeAgain)
{
    const uint64_t one = made(41), two = made(42);
    const uint32_t same = 401 + 65536, later = 401 + 2 * 65536;
    EXPECT_EQ((Told{"41: 1 to 2", "42: 5 to 6"}),
              told_of({ticket(401, one), kernel(401, 1000001, 1000002), kernel(same, 1000003, 1000004),
                       kernel(later, 1000005, 1000006), ticket(later, two)}));
    EXPECT_EQ(Told{}, told_of({ticket(same, two)})) << "what was kept of it is gone";
    const auto next = [] { tool.operation(1000, WORK_KERNEL), tool.done(); };
    while (script().pushed < one + 65536)
        next();
    EXPECT_EQ((Told{"41: 7 to 8"}), told_of({ticket(402, one), kernel(402, 1000007, 1000008)}));
    next();
    EXPECT_EQ(Told{}, told_of({ticket(403, one), kernel(403, 1000009, 1000010)})) << "its place is another's";
}

/* ---- a thread's first operation ---- */

/* Which began in a call of the runtime before the thread had a ticket: the call's own record tells. */
class First : public Cupti
{
protected:
    static uint64_t at(uint64_t ns)
    {
        return began + ns;
    }
    static uint32_t on_a_thread(uint64_t id, enum cupti_work work, bool more = false)
    {
        uint32_t name = 0;
        began += 1000000; /* threads may get the name of one that is gone */
        std::thread([&] {
            name = script().thread_ids == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? uint32_t(syscall(SYS_gettid))
                                                                               : uint32_t(uintptr_t(pthread_self()));
            script().now = at(100);
            tool.ready();
            tool.operation(id, work);
            script().now = at(200);
            tool.done();
            script().now = at(300);
            if (more)
                tool.operation(id + 1, work);
            script().now = at(0);
        }).join();
        return name;
    }
    static std::string around(uint32_t correlation, uint32_t thread, CUpti_ActivityKind kind = CUPTI_ACTIVITY_KIND_RUNTIME)
    {
        return call(kind, correlation, thread, at(50), at(400));
    }
    static uint64_t began;
};

uint64_t First::began;

TEST_F(First, IsToldByItsCall)
{
    uint32_t thread = on_a_thread(51, WORK_KERNEL);
    EXPECT_EQ(Told{}, told_of({kernel(501, at(110), at(150))}));
    EXPECT_EQ((Told{"51: 110 to 150"}), told_of({around(501, thread)}));
    EXPECT_EQ((Told{"51: 160 to 170"}), told_of({kernel(501, at(160), at(170)), copy(501, at(171), at(172))}))
        << "and the kernels alone";
    thread = on_a_thread(52, WORK_COPY);
    EXPECT_EQ((Told{"52: 1 to 2"}), told_of({around(502, thread, CUPTI_ACTIVITY_KIND_DRIVER), copy(502, at(1), at(2))}));
    script().thread_ids = CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
    thread = on_a_thread(53, WORK_MEMSET);
    EXPECT_EQ((Told{"53: 1 to 2"}), told_of({around(503, thread), memset_of(503, at(1), at(2)), kernel(503, 1, 2)}));
}

TEST_F(First, IsNotToldWhere)
{
    uint32_t thread = on_a_thread(61, WORK_KERNEL);
    EXPECT_EQ(Told{}, told_of({kernel(600, at(110), at(150)), copy(600, at(100), at(105)), around(600, thread)}))
        << "the call did something else, too";
    EXPECT_EQ(Told{}, told_of({copy(601, at(100), at(105)), kernel(601, at(110), at(150)), around(601, thread)}));
    EXPECT_EQ(Told{}, told_of({kernel(602, at(110), at(150)), around(602, thread + 1)})) << "another thread's";
    EXPECT_EQ(Told{},
              told_of({call(CUPTI_ACTIVITY_KIND_RUNTIME, 603, thread, at(150), at(400)), kernel(603, at(110), at(150))}))
        << "a call that began later";
    EXPECT_EQ(Told{},
              told_of({call(CUPTI_ACTIVITY_KIND_RUNTIME, 603, thread, at(50), at(150)), kernel(603, at(110), at(150))}));
    thread = on_a_thread(62, WORK_KERNEL, true);
    EXPECT_EQ(Told{}, told_of({kernel(604, at(110), at(150)), around(604, thread)})) << "two in one call";
    thread = on_a_thread(63, WORK_OTHER);
    EXPECT_EQ(Told{}, told_of({kernel(605, at(110), at(150)), around(605, thread)})) << "of no one kind";
}

/* A call that has a ticket is that ticket's. */
TEST_F(First, IsNotOfACallWithATicket)
{
    const uint64_t its = made(71);
    const uint32_t thread = on_a_thread(72, WORK_KERNEL);
    EXPECT_EQ((Told{"71: 110 to 150"}), told_of({ticket(701, its), around(701, thread), kernel(701, at(110), at(150))}));
    /* that lies in the same place, as another call's does not matter */
    EXPECT_EQ((Told{"72: 110 to 150"}), told_of({around(701 + 65536, thread), kernel(701 + 65536, at(110), at(150))}));
}

} // namespace
