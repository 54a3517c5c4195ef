// SPDX-License-Identifier: Apache-2.0
//
// `ptds watch` on traces of processes that are no more, as a test makes them: what was in flight, and any damage.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <random>
#include <regex>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/analysis/support.h"

namespace ptds
{
namespace
{

struct Ran {
    int status;
    std::string said;
};

Ran Watch(const std::string &bytes, const std::string &before = "")
{
    std::string path = WriteTemporary(bytes), line = before + "analysis/ptds watch " + path + " 2>&1";
    Ran ran = {-1, ""};
    FILE *pipe = popen(line.c_str(), "r");
    char text[4096];
    for (size_t size; pipe != nullptr && (size = fread(text, 1, sizeof text, pipe)) != 0;)
        ran.said.append(text, size);
    int status = pipe != nullptr ? pclose(pipe) : -1;
    ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    unlink(path.c_str());
    return ran;
}

/* A process that was killed in a cuMemFree of thread 2, behind a kernel that thread 1 put on a stream. */
std::string Killed(bool ended_well = false, unsigned alive = 0, uint64_t since = 200, uint64_t others_since = 0,
                   uint32_t kernel = 1)
{
    TraceBuilder builder;
    builder.chunk_size = 1024;
    builder.header.pid = alive; /* 0: nobody */
    builder.header.born = 0;
    builder.header.clean_end = ended_well;
    builder.Api(1, "cuLaunchKernel", true);
    builder.Api(2, "cuMemFree_v2");
    builder.Thread(1, "main");
    builder.Thread(2, "cleaner");
    builder.Context(1);
    builder.Stream(5, PTDS_STREAM_NON_BLOCKING);
    builder.String(1, "persistent");
    builder.Kernel(1, 1);
    builder.Object(1, "/opt/app/prog", 0x1000, 0x2000);
    builder.Stack(1, {0x1010, 0x1020});
    CallSpec launch;
    launch.enter = 100;
    launch.stream = launch.target = 5;
    launch.op = kernel != 0 ? PTDS_OP_LAUNCH : PTDS_OP_OPAQUE;
    launch.object = kernel;
    launch.stack = 1;
    builder.Call(launch);
    builder.OfThisHost();
    builder.Count(1, 2, false, {});
    builder.Count(2, 2, false, {});
    ptds_now now = {};
    now.enter = since;
    now.api = 2;
    now.context = 1;
    now.op = PTDS_OP_FREE;
    now.word = 0x7f0000000000;
    now.stack = 1;
    ptds_now other = {};
    other.enter = others_since;
    other.api = 1;
    other.op = PTDS_OP_LAUNCH;
    other.stack = others_since != 0;
    builder.Now(1, other);
    builder.Now(2, now);
    return builder.Bytes();
}

TEST(WatchDead, WhatWasInFlight)
{
    Ran ran = Watch(Killed());
    EXPECT_EQ(1, ran.status);
    for (const char *part : {"cuMemFree_v2 of thread ", "\"cleaner\" had not returned when the process ended",
                             "at prog+0x10", "it waits for everything in its context",
                             "stream 5 (non-blocking), last work: kernel persistent, put there by thread ", "\"main\""})
        EXPECT_NE(std::string::npos, ran.said.find(part)) << part << "\n" << ran.said;
}

TEST(WatchDead, WorkThatIsNoKernel)
{
    Ran ran = Watch(Killed(false, 0, 200, 0, 0));
    EXPECT_NE(std::string::npos, ran.said.find("stream 5 (non-blocking), last work: no kernel, put there by thread "))
        << ran.said;
}

/* What is said of a process that goes on (this one) while its trace becomes another, each put there when one of some words
 * of the one before has been said. The last of them ends it, unless the process is none any more; `status` is then the
 * exit's. */
struct Stage {
    std::string bytes;
    std::vector<std::string> words;
};

std::string WatchThrough(const std::vector<Stage> &stages, int *status = nullptr)
{
    std::string path = WriteTemporary(stages[0].bytes), said;
    FILE *pipe = popen(("echo $$; exec analysis/ptds watch --after 40s " + path + " 2>&1").c_str(), "r");
    char line[4096];
    pid_t watcher = pipe != nullptr && fgets(line, sizeof line, pipe) != nullptr ? atoi(line) : 0;
    for (size_t stage = 0; watcher > 1 && stage < stages.size(); stage++) {
        if (stage != 0)
            rename(WriteTemporary(stages[stage].bytes).c_str(), path.c_str());
        const size_t before = said.size();
        auto is_said = [&](const std::string &word) { return said.find(word, before) != std::string::npos; };
        while (!std::any_of(stages[stage].words.begin(), stages[stage].words.end(), is_said) &&
               fgets(line, sizeof line, pipe) != nullptr)
            said += line;
    }
    if (watcher > 1 && !stages.back().words.empty())
        kill(watcher, SIGTERM);
    while (watcher > 1 && fgets(line, sizeof line, pipe) != nullptr)
        said += line;
    int ended = pipe != nullptr ? pclose(pipe) : -1;
    if (status != nullptr)
        *status = WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
    unlink(path.c_str());
    return said;
}

std::string WatchUntil(uint64_t since, uint64_t others_since, const std::vector<std::string> &words)
{
    return WatchThrough({{Killed(false, unsigned(getpid()), since, others_since), words}});
}

uint64_t Now()
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return uint64_t(time.tv_sec) * 1000000000u + uint64_t(time.tv_nsec);
}

/* Who else is in a call, and not for too long yet. */
TEST(WatchLive, WhatOthersDo)
{
    const std::string nobody = "ptds:   no other thread is in a call that may block\n",
                      somebody = "\nptds:   meanwhile thread ", its_call = "\"main\" is in cuLaunchKernel at prog+0x10\n";
    const uint64_t now = Now(), minute = 60000000000u;
    std::string said = WatchUntil(now - minute, now, {nobody, its_call});
    EXPECT_LT(said.find("cuMemFree_v2 of thread "), said.find(somebody)) << said;
    EXPECT_NE(std::string::npos, said.find("has not returned for 6")) << said;
    EXPECT_LT(said.find(somebody), said.find(its_call)) << said;
    EXPECT_EQ(said.find(somebody), said.rfind(somebody)) << said;
    EXPECT_EQ(std::string::npos, said.find(nobody)) << said;
    said = WatchUntil(now - minute, 0, {nobody, somebody});
    EXPECT_NE(std::string::npos, said.find(nobody)) << said;
    EXPECT_EQ(std::string::npos, said.find("meanwhile")) << said;
}

std::string WithoutAges(const std::string &said)
{
    return std::regex_replace(said, std::regex("thread [0-9]+|for [0-9.]+ s"), "...");
}

/* A hang is told once, its end is, and the next one again; what hung last is still so when the process ends. */
TEST(WatchLive, WhatReturnsAndHangsAgain)
{
    const unsigned here = unsigned(getpid());
    const uint64_t now = Now(), minute = 60000000000u;
    const std::string last = "ptds:   no other thread is in a call that may block\n",
                      returned = "ptds: watch: every call in flight that was too long has returned\n",
                      told = "ptds: watch: cuMemFree_v2 of ... \"cleaner\" has not returned ...\n",
                      waits =
                          "ptds:     at prog+0x10\nptds:     by prog+0x20\n"
                          "ptds:   it waits for everything in its context; not known to be complete there:\n"
                          "ptds:     stream 5 (non-blocking), last work: kernel persistent, put there by ... \"main\" at "
                          "prog+0x10\n" +
                          last;
    const Stage hangs = {Killed(false, here, now - minute), {last}}, goes_on = {Killed(false, here, 0), {returned}},
                hangs_elsewhere = {Killed(false, here, now - 2 * minute), {last}},
                is_killed = {Killed(false, 0, now - minute), {}}, ends_well = {Killed(true, 0, now - minute), {}};
    int status = 0;
    std::string said = WatchThrough({hangs, hangs_elsewhere, goes_on, hangs, is_killed}, &status);
    EXPECT_EQ(told + waits + told + waits + returned + told + waits +
                  "ptds: watch: cuMemFree_v2 of ... \"cleaner\" had not returned when the process ended\n" + waits,
              WithoutAges(said));
    EXPECT_EQ(1, status);
    said = WatchThrough({hangs, goes_on, ends_well}, &status);
    EXPECT_EQ(told + waits + returned, WithoutAges(said)) << "a thread's last call, and the process called exit";
    EXPECT_EQ(1, status) << "something hung";
}

TEST(WatchDead, NothingToTell)
{
    EXPECT_EQ(0, Watch(Killed(true)).status);
    Ran older = Watch(BuildTrace("1@0 launch s=N1 k=a\n"));
    EXPECT_NE(1, older.status);
    EXPECT_EQ(std::string::npos, older.said.find("had not returned")) << older.said;
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* which need more than any limit */
/* What it could not look at, it does not call well. */
TEST(WatchDead, MoreThreadsThanThereIsMemoryFor)
{
    const char *limit = "ulimit -d 4000; ";
    std::string bytes = Killed();
    ptds_trace_header header;
    memcpy(&header, bytes.data(), sizeof header);
    std::string counts = bytes.substr(bytes.size() - header.chunk_size);
    ASSERT_EQ(1, Watch(bytes, limit).status) << "there is enough for two";
    for (int more = 0; more < 40000; more++)
        bytes += counts;
    header.chunks += 40000;
    memcpy(&bytes[0], &header, sizeof header);
    Ran ran = Watch(bytes, limit);
    EXPECT_EQ(3, ran.status);
    EXPECT_EQ("ptds watch: no memory\n", ran.said.substr(0, 200));
}
#endif

TEST(WatchDead, Damage)
{
    const std::string whole = Killed();
    std::mt19937 random(20261121);
    for (int round = 0; round < 150; round++) {
        std::string bytes = whole;
        for (unsigned i = 0, n = 1 + random() % 8; i < n; i++) {
            size_t at = random() % (bytes.size() - 8);
            if (round % 2 != 0)
                at = bytes.size() - 1 - random() % 2048 - 8; /* the counts */
            uint64_t values[] = {0, UINT64_MAX, random(), 1, 0x7fffffff, 0x80000000u};
            memcpy(&bytes[at], &values[random() % 6], 1 + random() % 8);
        }
        uint32_t nobody = 0;
        memcpy(&bytes[offsetof(ptds_trace_header, pid)], &nobody, sizeof nobody);
        if (round % 5 == 0)
            bytes.resize(random() % bytes.size());
        Ran ran = Watch(bytes);
        EXPECT_TRUE(ran.status == 0 || ran.status == 1 || ran.status == 3) << ran.status << "\n" << ran.said;
    }
}

} // namespace
} // namespace ptds
