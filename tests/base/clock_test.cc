/* SPDX-License-Identifier: Apache-2.0
 *
 * Which clock the trace has, by what the kernel thinks of the processor's counter, and a reading of all clocks at once.
 */
#include <gtest/gtest.h>

#include <cerrno>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <cstdarg>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <vector>

extern "C" {
#include "interpose/base/clock.h"
}

namespace
{

constexpr int kOurs = 777; /* a descriptor that is nobody's */

const char *g_sources; /* what the kernel's file says; nullptr: there is none */
bool g_fails;          /* it can't be read */
bool g_scripted;
std::vector<std::string> g_asked;
std::vector<uint64_t> g_times; /* the next ones, ns */

} // namespace

/* In the place of libc's. */
extern "C" __attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    if (!g_scripted)
        return int(syscall(SYS_openat, AT_FDCWD, path, flags, 0600));
    g_asked.push_back(std::string("open ") + path + ((flags & O_ACCMODE) == O_RDONLY ? "" : " to write"));
    return g_sources ? kOurs : -1;
}

extern "C" __attribute__((visibility("default"))) ssize_t read(int file, void *to, size_t size)
{
    if (file != kOurs)
        return syscall(SYS_read, file, to, size);
    g_asked.push_back("read");
    const size_t there = strnlen(g_sources, size);
    memcpy(to, g_sources, there);
    return g_fails ? -1 : ssize_t(there);
}

extern "C" __attribute__((visibility("default"))) int close(int file)
{
    if (file != kOurs)
        return int(syscall(SYS_close, file));
    g_asked.push_back("close");
    return 0;
}

extern "C" __attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *now) noexcept
{
    if (g_times.empty())
        return int(syscall(SYS_clock_gettime, id, now));
    g_asked.push_back(id == CLOCK_MONOTONIC ? "monotonic" : id == CLOCK_REALTIME ? "realtime" : "?");
    *now = {time_t(g_times.front() / 1000000000), long(g_times.front() % 1000000000)};
    g_times.erase(g_times.begin());
    return 0;
}

namespace
{

using Asked = std::vector<std::string>;

#if defined(__x86_64__)

enum ptds_clock chosen(const char *sources, bool fails = false)
{
    clock_source = PTDS_CLOCK_MONOTONIC;
    g_sources = sources;
    g_fails = fails;
    g_asked.clear();
    g_scripted = true;
    clock_start();
    g_scripted = false;
    return clock_source;
}

/* Not one that the kernel has found wanting; where nobody knows, the processor's own word counts. */
TEST(Clock, IsTheCounterUnlessTheKernelRejectsIt)
{
    unsigned a = 0, b = 0, c = 0, d = 0;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || (d >> 8) % 2 == 0) {
        EXPECT_EQ(PTDS_CLOCK_MONOTONIC, chosen("tsc"));
        GTEST_SKIP() << "this processor's counter is not invariant";
    }
    EXPECT_EQ(PTDS_CLOCK_TSC, chosen(nullptr));
    EXPECT_EQ(Asked{"open /sys/devices/system/clocksource/clocksource0/available_clocksource"}, g_asked);
    for (const char *sources : {"tsc hpet acpi_pm \n", "hpet tsc", "kvm-clock\n", "kvm-clock tsc acpi_pm", ""})
        EXPECT_EQ(PTDS_CLOCK_TSC, chosen(sources)) << sources;
    for (const char *sources : {"hpet acpi_pm \n", "jiffies", "\n", "x"}) {
        EXPECT_EQ(PTDS_CLOCK_MONOTONIC, chosen(sources)) << sources;
        EXPECT_EQ((Asked{"read", "close"}), (Asked{g_asked[1], g_asked[2]}));
    }
    EXPECT_EQ(PTDS_CLOCK_TSC, chosen("hpet", true));
    EXPECT_EQ(PTDS_CLOCK_MONOTONIC, chosen((std::string(253, ' ') + "tsc").c_str())) << "255 bytes are read";
    EXPECT_EQ(PTDS_CLOCK_TSC, chosen((std::string(252, ' ') + "tsc").c_str()));
}

#endif

/* Of four the one that took the least; its ticks are those in the middle of it. */
TEST(Clock, AReadingOfAll)
{
    const enum ptds_clock before = clock_source;
    clock_source = PTDS_CLOCK_MONOTONIC;
    g_asked.clear();
    g_times = {1000,          1010, 5000000001010, 1100, 2000,          2010, 5000000002010, 2040, 3000,          3010,
               5000000003010, 3040, 4000,          4010, 5000000004010, 4060, 5000,          5001, 5000000005001, 5002};
    const struct clock_reading reading = clock_read();
    clock_source = before;
    EXPECT_EQ(2020u, reading.ticks);
    EXPECT_EQ(2010u, reading.monotonic);
    EXPECT_EQ(5000000002010u, reading.realtime);
    EXPECT_EQ(4u, g_times.size());
    g_times.clear();
    Asked expected;
    for (int i = 0; i < 4; i++)
        expected.insert(expected.end(), {"monotonic", "monotonic", "realtime", "monotonic"});
    EXPECT_EQ(expected, g_asked);
}

} // namespace
