/* SPDX-License-Identifier: Apache-2.0
 *
 * Call stacks of functions of this test's own: which ways are told apart, which are remembered, how often somebody unwinds.
 */
#include "tests/record/recording.h"

#include <alloca.h>
#include <cerrno>
#include <functional>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>

extern "C" {
#include "interpose/record/recorder.h"
#include "interpose/record/stacks/python.h"
#include "interpose/record/stacks/stacks.h"
}

/* Each has a frame of its own, and calls the next one instead of jumping there. */
#ifdef __clang__
#define APART __attribute__((noinline, disable_tail_calls))
#else
#define APART __attribute__((noinline, noclone, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls")))
#endif

namespace
{

/* ---- ways into a wrapper ---- */

struct call *g_call;
int g_worth;
const void *g_into_wrapper, *g_into_middle; /* return addresses */
const void *const *g_frame;

APART uint32_t wrapper()
{
    g_call->caller = g_into_wrapper = __builtin_return_address(0);
    g_call->frame = g_frame = CALL_FRAME();
    const uint32_t id = g_worth < 0 ? stacks_known(g_call) : stacks_id(g_call, g_worth);
    __asm__ volatile("");
    return id;
}

APART uint32_t middle()
{
    g_into_middle = __builtin_return_address(0);
    const uint32_t id = wrapper();
    __asm__ volatile("");
    return id;
}

APART uint32_t one_way()
{
    const uint32_t id = middle();
    __asm__ volatile("nop");
    return id;
}

APART uint32_t other_way()
{
    const uint32_t id = middle();
    __asm__ volatile("nop; nop");
    return id;
}

APART uint32_t deep(int levels)
{
    const uint32_t id = levels ? deep(levels - 1) : middle();
    __asm__ volatile("");
    return id;
}

/* As a library does that lies between the program and the driver: its caller is found some way up. */
APART uint32_t roomy()
{
    char room[500];
    __asm__ volatile("" : : "r"(room) : "memory");
    const uint32_t id = wrapper();
    __asm__ volatile("" : : "r"(room) : "memory");
    return id;
}

APART uint32_t one_place()
{
    const uint32_t id = roomy();
    __asm__ volatile("nop");
    return id;
}

APART uint32_t other_place()
{
    const uint32_t id = roomy();
    __asm__ volatile("nop; nop");
    return id;
}

APART uint32_t further_down(size_t bytes, uint32_t (*way)())
{
    void *room = alloca(bytes);
    __asm__ volatile("" : : "r"(room) : "memory");
    const uint32_t id = way();
    __asm__ volatile("" : : "r"(room) : "memory");
    return id;
}

using Way = uint32_t (*)();
enum { KNOWN = -1 };
struct Step {
    Way way;
    int worth; /* or KNOWN: what the thread remembers */
    std::function<void()> before = {};
};
using Ids = std::vector<uint32_t>;

class Stacks : public Recording
{
protected:
#ifdef __SANITIZE_ADDRESS__
    void SetUp() override
    {
        Recording::SetUp();
        GTEST_SKIP() << "what is tested reads stacks word by word, which the address sanitizer takes for a fault";
    }
#endif
    /* The id of a call that comes that way. */
    uint32_t by(Way way, int worth = 1)
    {
        struct call call = made();
        g_call = &call;
        g_worth = worth;
        return way();
    }
    /* Those of some calls in turn, which all come from here: once a test, since who calls this is part of the way. */
    std::vector<uint32_t> by(const std::vector<Step> &steps)
    {
        std::vector<uint32_t> ids;
        for (const Step &step : steps) {
            if (step.before)
                step.before();
            ids.push_back(by(step.way, step.worth));
        }
        return ids;
    }
    std::vector<const void *> frames(uint32_t id)
    {
        for (const std::string &bytes : bytes_of(PTDS_REC_STACK)) {
            struct ptds_rec_STACK record;
            memcpy(&record, bytes.data(), sizeof record);
            std::vector<const void *> found(record.count);
            memcpy(found.data(), bytes.data() + sizeof record, record.count * sizeof found[0]);
            if (record.id == id)
                return found;
        }
        return {};
    }
    static void expect(const Ids &expected, const Ids &ids)
    {
        ASSERT_EQ(expected.size(), ids.size());
        for (size_t i = 0; i < ids.size(); i++)
            ASSERT_EQ(expected[i], ids[i]) << i;
    }
    size_t defined()
    {
        return bytes_of(PTDS_REC_STACK).size();
    }
};

TEST_F(Stacks, AreOfTheCallerAndItsCallers)
{
    errno = ENOTTY;
    const uint32_t id = by(one_way);
    EXPECT_EQ(ENOTTY, errno);
    const std::vector<const void *> all = frames(id);
    ASSERT_GT(all.size(), 4u);
    EXPECT_EQ(g_into_wrapper, all[0]);
    EXPECT_EQ(g_into_middle, all[1]);
    EXPECT_EQ(1u, id);
    EXPECT_EQ(0u, thread_.unwinding);
    struct call call = made(); /* whose caller is nowhere on this stack */
    const uint32_t other = recorder_stack(&call);
    EXPECT_EQ(std::vector<const void *>{call.caller}, frames(other));
    std::vector<const void *> many = frames(by([] { return deep(60); }));
    EXPECT_EQ(g_into_wrapper, many[0]);
    EXPECT_GT(many.size(), 40u);
    EXPECT_LT(many.size(), 48u) << "those of the unwinder are not among them";
}

/* Two ways through the same function, whose frame lies at the same place. */
TEST_F(Stacks, OfOneWayAreOne)
{
    const Way a = one_way, b = other_way;
    EXPECT_EQ((Ids{1, 2, 1, 1, 2, 1, 2, 2, 2, 0, 0, 2, 2, 3, 4}),
              by({{a, 1},
                  {b, 1},
                  {a, 1},
                  {a, 1},
                  {b, 0},
                  {a, 0},
                  {b, 1},
                  {b, 1},
                  {b, KNOWN},
                  {a, KNOWN}, /* that is not how the last one came */
                  {b, KNOWN, [this] { stacks_forget(&thread_); }},
                  {b, 1},
                  {b, KNOWN},
                  /* ids of a child's own */
                  {b, 1, [this] { stacks_forget(&thread_), stacks_after_fork(); }},
                  {a, 1}}));
    EXPECT_EQ(4u, defined());
}

/* A call that never blocks is unwound some 50 times, and then now and then; in between its own address will do. */
TEST_F(Stacks, AreUnwoundSoOften)
{
    const Way a = one_way, b = other_way;
    std::vector<Step> steps;
    Ids expected;
    for (int i = 1; i < 48; i++) {
        steps.push_back({i % 2 ? a : b, 0});
        expected.push_back(i % 2 ? 1 : 2);
    }
    for (int i = 0; i < 16 * 256; i++) {
        steps.push_back({i % 2 ? a : b, 0});
        expected.push_back(3);
    }
    const std::vector<std::pair<Step, uint32_t>> more = {{{a, 0}, 1},     /* the 64th time that somebody asks */
                                                         {{a, KNOWN}, 1}, /* which is remembered */
                                                         {{b, 0}, 3},     /* the 65th */
                                                         {{a, KNOWN}, 3}, /* that it is refused holds for this way, too */
                                                         {{a, 1}, 1},     /* but not where its stack is worth it */
                                                         {{a, 0}, 1}};
    for (const auto &one : more) {
        steps.push_back(one.first);
        expected.push_back(one.second);
    }
    expect(expected, by(steps));
    EXPECT_EQ(std::vector<const void *>{g_into_wrapper}, frames(3));
    EXPECT_GT(frames(1).size(), 4u);
    EXPECT_EQ(3u, defined());
}

/* 255 times after the one that was refused; asking what is known counts, too. */
TEST_F(Stacks, ARefusalHoldsForSomeCalls)
{
    std::vector<Step> steps;
    Ids expected;
    for (int i = 1; i < 48; i++) {
        steps.push_back({i % 2 ? other_way : one_way, 0});
        expected.push_back(i % 2 ? 1 : 2);
    }
    steps.push_back({one_way, 0});
    expected.push_back(3);
    for (int i = 0; i < 258; i++) {
        steps.push_back({one_way, KNOWN});
        expected.push_back(i < 255 ? 3 : 0);
    }
    for (int i = 0; i < 2; i++) {
        steps.push_back({one_way, i ? KNOWN : 0});
        expected.push_back(3);
    }
    expect(expected, by(steps));
    EXPECT_EQ(0u, stacks_usual(&thread_, g_into_wrapper, g_frame)) << "whose uses are to be counted";
}

/* Within an unwinding nobody unwinds. */
TEST_F(Stacks, WhileTheThreadUnwinds)
{
    thread_.unwinding = 1;
    const uint32_t id = by(one_way);
    EXPECT_EQ(std::vector<const void *>{g_into_wrapper}, frames(id));
    EXPECT_EQ(1u, thread_.unwinding);
    thread_.unwinding = 0;
    EXPECT_GT(frames(by(one_way)).size(), 4u);
}

/* Wherever they are on it, and so on which pages the frames lie: how many ways are remembered. */
class Places : public Stacks
{
public:
    void expect_told_apart(bool all_are_known)
    {
        const Step steps[] = {{one_place, 1}, {other_place, 1}, {other_place, KNOWN}, {one_place, KNOWN}};
        for (size_t bytes = 16; bytes <= 2 * 4096; bytes += 16) {
            Ids ids;
            for (const Step &step : steps) { /* which all come from here */
                struct call call = made();
                g_call = &call;
                g_worth = step.worth;
                ids.push_back(further_down(bytes, step.way));
            }
            EXPECT_NE(ids[0], ids[1]) << bytes;
            EXPECT_TRUE(ids[2] == ids[1] || (ids[2] == 0 && !all_are_known)) << bytes;
            EXPECT_EQ(0u, ids[3]) << bytes;
        }
    }
};

TEST_F(Places, OnTheFirstThreadsStack)
{
    expect_told_apart(true);
}

TEST_F(Places, OnAThreadsOwnStack)
{
    pthread_t thread;
    const auto work = [](void *self) -> void * {
        static_cast<Places *>(self)->expect_told_apart(true);
        return nullptr;
    };
    ASSERT_EQ(0, pthread_create(&thread, nullptr, work, this));
    pthread_join(thread, nullptr);
}

std::function<void()> g_there;

TEST_F(Places, OnAnotherStack)
{
    std::vector<char> room(256 << 10);
    ucontext_t here, there;
    ASSERT_EQ(0, getcontext(&there));
    there.uc_stack.ss_sp = room.data();
    there.uc_stack.ss_size = room.size();
    there.uc_link = &here;
    g_there = [this] { expect_told_apart(false); };
    makecontext(
        &there, [] { g_there(); }, 0);
    ASSERT_EQ(0, swapcontext(&here, &there));
}

/* Of a coroutine, say, whose stack has nothing behind it; the same as on the main thread's. */
Ids g_ids;
std::function<Ids()> g_inside;

TEST_F(Stacks, OnAStackThatEndsSoon)
{
    const size_t size = 256 << 10;
    uint8_t *at = static_cast<uint8_t *>(
        mmap(nullptr, size + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0));
    ASSERT_NE(MAP_FAILED, static_cast<void *>(at));
    ASSERT_EQ(0, mprotect(at + size, 4096, PROT_NONE));
    ucontext_t here, there;
    ASSERT_EQ(0, getcontext(&there));
    there.uc_stack.ss_sp = at;
    there.uc_stack.ss_size = size;
    there.uc_link = &here;
    g_inside = [this] {
        const Way a = one_way, b = other_way;
        return by({{a, 1}, {b, 1}, {b, KNOWN}, {a, KNOWN}, {a, 1}, {a, KNOWN}, {b, KNOWN}});
    };
    makecontext(
        &there, [] { g_ids = g_inside(); }, 0);
    ASSERT_EQ(0, swapcontext(&here, &there));
    EXPECT_EQ((Ids{1, 2, 2, 0, 1, 1, 0}), g_ids);
    munmap(at, size + 4096);
}

#if defined(__x86_64__)

/* Functions that no table describes, one beside the other: push %rbp; mov %rsp, %rbp; call *%rdi; pop %rbp; ret. */
TEST_F(Stacks, ThatEndInGeneratedCode)
{
    const uint8_t code[] = {0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3};
    uint8_t *pages =
        static_cast<uint8_t *>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(MAP_FAILED, static_cast<void *>(pages));
    for (int i : {0, 1})
        memcpy(pages + 64 * i, code, sizeof code);
    for (const Way way : {Way(middle), Way([] { return deep(10); })}) { /* with more between than is looked at */
        uint32_t ids[2] = {};
        for (int turn = 0; turn < 6; turn++) {
            const int i = turn % 2;
            auto generated = reinterpret_cast<uint32_t (*)(Way)>(pages + 64 * i);
            struct call call = made();
            g_call = &call;
            g_worth = 1;
            const uint32_t id = generated(way);
            EXPECT_TRUE(turn < 2 || id == ids[i]) << turn;
            ids[i] = id;
            const std::vector<const void *> all = frames(id);
            EXPECT_TRUE(way == middle ? all.size() == 2 : all.size() > 10) << "the unwinder knows no way out of it";
            EXPECT_EQ(pages + 64 * i + 6, all.back());
            EXPECT_EQ(id, (g_worth = KNOWN, generated(way))) << "it is known by where it was called";
            if (turn > 0) {
                EXPECT_EQ(0u, reinterpret_cast<uint32_t (*)(Way)>(pages + 64 * !i)(way)) << "the other one is not it";
            }
        }
        EXPECT_NE(ids[0], ids[1]);
    }
    munmap(pages, 4096);
}

#endif

/* ---- Python ---- */

TEST_F(Stacks, WithoutAnInterpreter)
{
    struct python_frame found[4];
    void *frames_of_c[] = {reinterpret_cast<void *>(&middle)};
    EXPECT_FALSE(python_is_here());
    EXPECT_FALSE(python_may_call(frames_of_c, 1, 1));
    EXPECT_EQ(0, python_frames(&thread_, found, 4));
    python_forget(&thread_);
    EXPECT_EQ(nullptr, thread_.python);
}

} // namespace
