// SPDX-License-Identifier: Apache-2.0
//
// What a trace says of itself, record by record: which fields are kept, what a later record of the same id changes, and
// what is said of frames.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/analysis/support.h"
#include "analysis/trace/frames.h"

namespace ptds
{
namespace
{

class Definitions
{
public:
    Definitions() = default;
    ~Definitions()
    {
        definitions_free(&defs);
    }
    Definitions(const Definitions &) = delete;

    template <typename Record> void Add(uint16_t kind, const Record &record, const void *tail = "", size_t bytes = 0)
    {
        EXPECT_TRUE(definitions_add(&defs, kind, &record, tail, bytes));
    }
    template <typename Record> void AddText(uint16_t kind, const Record &record, const std::string &text)
    {
        Add(kind, record, text.data(), text.size());
    }
    void Object(uint32_t id, uint64_t base, uint64_t end, const std::string &path)
    {
        ptds_rec_OBJECT object = {};
        object.id = id;
        object.base = base;
        object.end = end;
        AddText(PTDS_REC_OBJECT, object, path);
    }
    const stack_def *Stack(uint32_t id, const std::vector<uint64_t> &pc)
    {
        ptds_rec_STACK stack = {};
        stack.id = id;
        stack.count = static_cast<uint32_t>(pc.size());
        Add(PTDS_REC_STACK, stack, pc.data(), pc.size() * 8);
        return definitions_stack(&defs, id);
    }

    struct definitions defs = {};
};

TEST(Definitions, OfTextsAreCleanedAndTheLastOneHolds)
{
    Definitions of;
    ptds_rec_STRING string = {};
    string.id = 7;
    string.role = 2;
    of.AddText(PTDS_REC_STRING, string, "one\ntwo");
    EXPECT_STREQ("one?two", definitions_string(&of.defs, 7));
    of.AddText(PTDS_REC_STRING, string, "three");
    EXPECT_STREQ("three", definitions_string(&of.defs, 7));
    EXPECT_EQ(1u, of.defs.strings.count);
    EXPECT_EQ(2u, of.defs.strings.items[0].role);
    EXPECT_EQ(nullptr, definitions_string(&of.defs, 8));
    /* What is kept is kept whole, however much there is of it, and does not run into what comes next. */
    std::string longest(40000, 'x'), eight = "12345678", seven = "1234567";
    const std::string *const texts[] = {&eight, &seven, &longest, &eight, &longest, &seven};
    for (uint32_t i = 0; i < 600; i++) {
        string.id = 100 + i;
        of.AddText(PTDS_REC_STRING, string, *texts[i % 6]);
    }
    for (uint32_t i = 0; i < 600; i++)
        ASSERT_EQ(*texts[i % 6], definitions_string(&of.defs, 100 + i)) << i;
}

TEST(Definitions, OfFunctionsAndSettings)
{
    Definitions of;
    ptds_rec_API api = {};
    api.api = 3;
    api.twin = 4;
    api.class_ = 5;
    of.AddText(PTDS_REC_API, api, "cuLaunchKernel");
    ASSERT_NE(nullptr, definitions_api(&of.defs, 3));
    EXPECT_EQ(4u, definitions_api(&of.defs, 3)->twin);
    EXPECT_EQ(5u, definitions_api(&of.defs, 3)->class_);
    EXPECT_STREQ("cuLaunchKernel", definitions_api_name(&of.defs, 3));
    EXPECT_STREQ("(unnamed call)", definitions_api_name(&of.defs, 4));
    ptds_rec_SETTING setting = {};
    setting.kind = 6;
    for (const char *text : {"policy=observe", "policy_of=x", "lanes=", "policy=guarded"})
        of.AddText(PTDS_REC_SETTING, setting, text);
    EXPECT_STREQ("guarded", definitions_setting(&of.defs, "policy")) << "the last one";
    EXPECT_STREQ("", definitions_setting(&of.defs, "lanes"));
    EXPECT_EQ(nullptr, definitions_setting(&of.defs, "polic"));
    EXPECT_EQ(4u, of.defs.settings.count);
    EXPECT_EQ(6u, of.defs.settings.items[1].kind);
}

TEST(Definitions, OfClocksAreTheFirstReadingAndTheLast)
{
    Definitions of;
    for (uint64_t ticks : {50, 40, 60, 45, 60}) {
        ptds_rec_CLOCK clock = {};
        clock.ticks = ticks;
        clock.monotonic = ticks * 2 + of.defs.clocks.count;
        clock.realtime = ticks * 3;
        of.Add(PTDS_REC_CLOCK, clock);
        EXPECT_EQ(2u, of.defs.clocks.count);
    }
    EXPECT_EQ(40u, of.defs.clocks.items[0].ticks);
    EXPECT_EQ(82u, of.defs.clocks.items[0].monotonic);
    EXPECT_EQ(120u, of.defs.clocks.items[0].realtime);
    EXPECT_EQ(60u, of.defs.clocks.items[1].ticks);
    EXPECT_EQ(180u, of.defs.clocks.items[1].realtime);
}

/* Ticks are told as times by two readings that lie apart. */
TEST(Definitions, OfClocksThatTellNoTime)
{
    trace of = {};
    clock_def clocks[] = {{100, 1000, 0}, {200, 1500, 0}};
    of.header.clock = PTDS_CLOCK_TSC;
    of.defs.clocks.items = clocks;
    EXPECT_FALSE(trace_has_time(&of)) << "none";
    of.defs.clocks.count = 2;
    EXPECT_TRUE(trace_has_time(&of));
    EXPECT_EQ(300u, trace_ns(&of, 60));
    clocks[1].ticks = 100;
    EXPECT_FALSE(trace_has_time(&of));
    EXPECT_EQ(0u, trace_ns(&of, 60));
    clocks[1] = {200, 1000, 0};
    EXPECT_FALSE(trace_has_time(&of));
    clocks[1] = {200, 1500, 0};
    of.defs.clocks.count = 1;
    EXPECT_FALSE(trace_has_time(&of));
    of.header.clock = PTDS_CLOCK_MONOTONIC;
    EXPECT_TRUE(trace_has_time(&of)) << "then ticks are times";
    EXPECT_EQ(60u, trace_ns(&of, 60));
}

TEST(Definitions, OfAThreadKeepWhenItBeganAndEnded)
{
    Definitions of;
    ptds_rec_THREAD thread = {};
    thread.id = 2;
    thread.ticks = 10;
    thread.tid = 77;
    of.Add(PTDS_REC_THREAD, thread);
    EXPECT_EQ(nullptr, definitions_thread(&of.defs, 2)->text);
    EXPECT_FALSE(definitions_thread(&of.defs, 2)->drivers);
    thread.ticks = 20;
    of.AddText(PTDS_REC_THREAD, thread, "worker");
    EXPECT_EQ(UINT64_MAX, definitions_thread(&of.defs, 2)->ended);
    thread.ticks = 30;
    thread.state = PTDS_LIFE_GONE;
    of.Add(PTDS_REC_THREAD, thread);
    const thread_def *now = definitions_thread(&of.defs, 2);
    EXPECT_EQ(10u, now->first);
    EXPECT_EQ(30u, now->ended);
    EXPECT_EQ(77u, now->tid);
    EXPECT_STREQ("worker", now->text);
    thread.id = 3;
    thread.state = PTDS_LIFE_DRIVERS;
    of.Add(PTDS_REC_THREAD, thread);
    EXPECT_TRUE(definitions_thread(&of.defs, 3)->drivers);
    EXPECT_EQ(UINT64_MAX, definitions_thread(&of.defs, 3)->ended);
    EXPECT_EQ(nullptr, definitions_thread(&of.defs, 1));
}

TEST(Definitions, OfContextsAndStreamsOutliveThem)
{
    Definitions of;
    ptds_rec_CONTEXT context = {};
    context.uid = 1;
    context.handle = 0x100;
    context.kind = 2;
    context.device = 3;
    of.Add(PTDS_REC_CONTEXT, context);
    context.state = PTDS_LIFE_GONE;
    context.handle = 0x999;
    context.device = 9;
    of.Add(PTDS_REC_CONTEXT, context);
    EXPECT_EQ(0x100u, definitions_context(&of.defs, 1)->handle) << "its end says nothing of it";
    EXPECT_EQ(2u, definitions_context(&of.defs, 1)->kind);
    EXPECT_EQ(3, definitions_context(&of.defs, 1)->device);
    context.uid = 2;
    of.Add(PTDS_REC_CONTEXT, context);
    EXPECT_EQ(9, definitions_context(&of.defs, 2)->device) << "but where nothing else does";

    ptds_rec_STREAM stream = {};
    stream.uid = 5;
    stream.handle = 0x200;
    stream.context = 1;
    stream.kind = PTDS_STREAM_BLOCKING;
    stream.thread = 4;
    stream.stack = 6;
    stream.priority = -2;
    stream.ticks = 10;
    of.Add(PTDS_REC_STREAM, stream);
    const stream_def *now = definitions_stream(&of.defs, 5);
    EXPECT_EQ(UINT64_MAX, now->ended);
    EXPECT_EQ(0x200u, now->handle);
    EXPECT_EQ(1u, now->context);
    EXPECT_EQ(uint32_t{PTDS_STREAM_BLOCKING}, now->kind);
    EXPECT_EQ(4u, now->thread);
    EXPECT_EQ(6u, now->stack);
    EXPECT_EQ(-2, now->priority);
    stream.kind = PTDS_STREAM_NON_BLOCKING;
    stream.state = PTDS_LIFE_GONE;
    stream.ticks = 90;
    of.Add(PTDS_REC_STREAM, stream);
    now = definitions_stream(&of.defs, 5);
    EXPECT_EQ(90u, now->ended);
    EXPECT_EQ(uint32_t{PTDS_STREAM_BLOCKING}, now->kind);
    stream.state = 0;
    of.Add(PTDS_REC_STREAM, stream);
    EXPECT_EQ(uint32_t{PTDS_STREAM_NON_BLOCKING}, definitions_stream(&of.defs, 5)->kind);
    EXPECT_EQ(90u, definitions_stream(&of.defs, 5)->ended) << "still";
    stream.uid = 6;
    stream.state = PTDS_LIFE_GONE;
    stream.ticks = 91;
    of.Add(PTDS_REC_STREAM, stream);
    EXPECT_EQ(91u, definitions_stream(&of.defs, 6)->ended);
    EXPECT_EQ(uint32_t{PTDS_STREAM_NON_BLOCKING}, definitions_stream(&of.defs, 6)->kind);
}

/* "p0 r-- v3 -w- " */
std::string Bases(const kernel_facts *facts)
{
    const auto letters = [](unsigned use) {
        return std::string(use & PTDS_CODE_READ ? "r" : "-") + (use & PTDS_CODE_WRITE ? "w" : "-") +
               (use & PTDS_CODE_ATOMIC ? "a" : "-");
    };
    std::string text;
    facts_base base;
    for (uint32_t at = 0; kernel_facts_next(facts, &at, &base);) {
        for (unsigned i = 0; i < base.count; i++)
            text += std::string(1, "prvl"[base.term[i].kind]) + std::to_string(base.term[i].low) + ":" +
                    std::to_string(base.term[i].high) + " ";
        text += letters(base.use) + letters(base.through) + letters(base.beyond) + "; ";
    }
    return text;
}

TEST(Definitions, OfAKernelsFacts)
{
    Definitions of;
    const uint32_t words[] = {
        7 | 1 << 4 | 2 << 8 | 2 << 12 | 1 << 16 | 2 << 18, 16 | 32u << 16, 3, 1 | 1 << 12, 4u << 16, 0};
    ptds_rec_KERNEL_FACTS record = {};
    record.kernel = 7, record.bases = 2, record.verdict = PTDS_CODE_INDIRECT, record.flags = PTDS_CODE_SYSTEM;
    record.arch = 90, record.at = 5, record.why = 1, record.ptx = 1;
    EXPECT_EQ(nullptr, definitions_kernel_facts(&of.defs, 7));
    of.Add(PTDS_REC_KERNEL_FACTS, record, words, sizeof words);
    const kernel_facts *facts = definitions_kernel_facts(&of.defs, 7);
    ASSERT_NE(nullptr, facts);
    EXPECT_NE(facts->word, words);
    EXPECT_EQ("r16:32 v3:0 rwar---w-; p0:4 r--------; ", Bases(facts));
    EXPECT_EQ(5u, facts->words) << "without what fills it up";
    EXPECT_EQ(PTDS_CODE_INDIRECT, facts->verdict);
    EXPECT_EQ(PTDS_CODE_SYSTEM, facts->flags);
    EXPECT_EQ(90, facts->arch);
    EXPECT_EQ(5u, facts->at);
    EXPECT_EQ(1, facts->why);
    EXPECT_EQ(1, facts->ptx);
    EXPECT_TRUE(kernel_facts_are_known(facts));
    of.Add(PTDS_REC_KERNEL_FACTS, record, words, 4 * sizeof words[0]);
    facts = definitions_kernel_facts(&of.defs, 7);
    EXPECT_FALSE(kernel_facts_are_known(facts)) << "the second base is cut";
    EXPECT_EQ("r16:32 v3:0 rwar---w-; ", Bases(facts));
    record.bases = 3;
    of.Add(PTDS_REC_KERNEL_FACTS, record, words, sizeof words);
    EXPECT_FALSE(kernel_facts_are_known(definitions_kernel_facts(&of.defs, 7))) << "a third base without terms";
    record.bases = 2, record.verdict = 3;
    of.Add(PTDS_REC_KERNEL_FACTS, record, words, sizeof words);
    EXPECT_FALSE(kernel_facts_are_known(definitions_kernel_facts(&of.defs, 7))) << "of a later version";
}

TEST(Definitions, UnknownFactsHideMemory)
{
    Definitions of;
    ptds_rec_KERNEL kernel = {};
    ptds_rec_KERNEL_FACTS facts = {};
    kernel.uid = facts.kernel = 1;
    of.Add(PTDS_REC_KERNEL, kernel, nullptr, 0);
    of.Add(PTDS_REC_KERNEL_FACTS, facts, nullptr, 0);
    EXPECT_FALSE(definitions_kernel_hides(&of.defs, 1));
    facts.verdict = PTDS_CODE_UNKNOWN;
    of.Add(PTDS_REC_KERNEL_FACTS, facts, nullptr, 0);
    EXPECT_TRUE(definitions_kernel_hides(&of.defs, 1));
}

TEST(Definitions, WhatFactsSayOfPlaces)
{
    const uint32_t words[] = {1 | 1 << 12,           8 | 12u << 16,  /* reads the word at 8 */
                              2 | 1 << 12,           20 | 24u << 16, /* writes by a word that is not aligned */
                              1 | 1 << 12 | 1 << 16, 41 | 57u << 16, /* reads by any of these */
                              3 | 1 << 12,           8 | 12u << 16,  /* writes by the first, too */
                              2 | 1 << 12 | 1 << 16, 0xfff8 | 0xffffu << 16};
    ptds_rec_KERNEL_FACTS record = {};
    record.bases = 5;
    kernel_facts facts = kernel_facts_of(&record, words, sizeof words);
    std::vector<uint8_t> touch(FACTS_PLACES);
    kernel_facts_places(&facts, touch.data());
    EXPECT_EQ((std::vector<uint8_t>{0, 2, 2, 2, 0, 1, 1, 1, 0}), std::vector<uint8_t>(touch.begin(), touch.begin() + 9));
    EXPECT_EQ(FACTS_MAY_WRITE, touch[FACTS_PLACES - 1]);
    EXPECT_EQ(FACTS_NOTHING, touch[FACTS_PLACES - 2]);
    facts.flags = PTDS_CODE_TENSOR_MAP;
    kernel_facts_places(&facts, touch.data());
    EXPECT_EQ(FACTS_UNSAID, touch[0]);
    facts.flags = 0, facts.verdict = PTDS_CODE_UNKNOWN;
    kernel_facts_places(&facts, touch.data());
    EXPECT_EQ(FACTS_UNSAID, touch[0]);
    EXPECT_EQ(FACTS_UNSAID, kernel_facts_variables(&facts));
}

TEST(Definitions, OfAKernelHaveItsLayoutWhole)
{
    Definitions of;
    const uint32_t layout[] = {8, 8 << 16 | 4, 16 << 16 | 8};
    ptds_rec_KERNEL kernel = {};
    kernel.uid = 1;
    kernel.handle = 0x300;
    kernel.name = 9;
    kernel.params = 3;
    kernel.variables = PTDS_NO_VARIABLES;
    of.Add(PTDS_REC_KERNEL, kernel, layout, sizeof layout);
    const kernel_def *now = definitions_kernel(&of.defs, 1);
    EXPECT_EQ(0x300u, now->handle);
    EXPECT_EQ(9u, now->name);
    EXPECT_EQ(3u, now->params);
    EXPECT_EQ(uint32_t{PTDS_NO_VARIABLES}, now->variables);
    ASSERT_NE(nullptr, now->layout);
    EXPECT_EQ(0, memcmp(layout, now->layout, sizeof layout));
    kernel.uid = 2;
    of.Add(PTDS_REC_KERNEL, kernel, layout, sizeof layout - 1);
    EXPECT_EQ(nullptr, definitions_kernel(&of.defs, 2)->layout) << "not of all";
    kernel.uid = 3;
    kernel.params = 0;
    of.Add(PTDS_REC_KERNEL, kernel, layout, sizeof layout);
    EXPECT_EQ(nullptr, definitions_kernel(&of.defs, 3)->layout);
    kernel.uid = 4;
    kernel.params = UINT32_MAX;
    of.Add(PTDS_REC_KERNEL, kernel, layout, sizeof layout);
    EXPECT_EQ(nullptr, definitions_kernel(&of.defs, 4)->layout);
    for (uint32_t uid = 1; uid <= 5; uid++)
        EXPECT_EQ(uid >= 4, definitions_kernel_hides(&of.defs, uid)) << uid;
}

TEST(Definitions, OfWhatElseThereIs)
{
    Definitions of;
    ptds_rec_SOURCE source = {};
    source.id = 4;
    source.file = 5;
    source.function = 6;
    source.line = INT32_MAX;
    source.first = 8;
    of.Add(PTDS_REC_SOURCE, source);
    source.id = 5;
    source.line = uint32_t{INT32_MAX} + 1;
    of.Add(PTDS_REC_SOURCE, source);
    const source_def *place = definitions_source(&of.defs, PTDS_PC_SOURCE | 4);
    ASSERT_NE(nullptr, place);
    EXPECT_EQ(5u, place->file);
    EXPECT_EQ(6u, place->function);
    EXPECT_EQ(uint32_t{INT32_MAX}, place->line);
    EXPECT_EQ(8u, place->first);
    EXPECT_EQ(0u, definitions_source(&of.defs, PTDS_PC_SOURCE | 5)->line) << "no line is that far down";
    EXPECT_EQ(nullptr, definitions_source(&of.defs, 4)) << "code";
    EXPECT_EQ(nullptr, definitions_source(&of.defs, PTDS_PC_SOURCE | 6));
    EXPECT_EQ(nullptr, definitions_source(&of.defs, PTDS_PC_SOURCE | UINT64_C(0x100000004)));

    ptds_rec_UNTABLED untabled = {};
    untabled.handed = 1;
    untabled.version = 13000;
    of.AddText(PTDS_REC_UNTABLED, untabled, "cuFuture");
    ASSERT_EQ(1u, of.defs.untabled.count);
    EXPECT_EQ(1u, of.defs.untabled.items[0].handed);
    EXPECT_EQ(13000u, of.defs.untabled.items[0].version);
    EXPECT_STREQ("cuFuture", of.defs.untabled.items[0].text);
    untabled.calls = 5; /* written once more at the end */
    of.AddText(PTDS_REC_UNTABLED, untabled, "cuFuture");
    of.AddText(PTDS_REC_UNTABLED, untabled, "cuFutureToo");
    ASSERT_EQ(2u, of.defs.untabled.count);
    EXPECT_EQ(5u, of.defs.untabled.items[0].calls);
    EXPECT_EQ(5u, of.defs.untabled.items[1].calls);
    ptds_rec_BYPASS bypass = {};
    bypass.what = 2;
    bypass.functions = 3;
    of.AddText(PTDS_REC_BYPASS, bypass, "libother.so");
    ASSERT_EQ(1u, of.defs.bypasses.count);
    EXPECT_EQ(2u, of.defs.bypasses.items[0].what);
    EXPECT_EQ(3u, of.defs.bypasses.items[0].functions);
    EXPECT_STREQ("libother.so", of.defs.bypasses.items[0].text);
    ptds_rec_PROCESS process = {};
    process.ticks = 9;
    process.what = 1;
    process.pid = 4242;
    of.Add(PTDS_REC_PROCESS, process);
    ASSERT_EQ(1u, of.defs.processes.count);
    EXPECT_EQ(9u, of.defs.processes.items[0].ticks);
    EXPECT_EQ(1u, of.defs.processes.items[0].what);
    EXPECT_EQ(4242u, of.defs.processes.items[0].pid);
    const uint32_t uids[] = {10, 7, 8, 9, 6};
    for (uint64_t ticks : {30, 10, 20, 10, 10}) {
        ptds_rec_MEMORY memory = {};
        memory.ticks = ticks;
        memory.uid = uids[of.defs.memories.count];
        memory.address = ticks * 0x1000;
        memory.bytes = 64;
        memory.kind = 4;
        memory.part_of = 5;
        memory.same_as = 6;
        memory.context = 7;
        of.Add(PTDS_REC_MEMORY, memory);
    }
    definitions_finish(&of.defs);
    std::string order;
    for (size_t i = 0; i < of.defs.memories.count; i++)
        order += std::to_string(of.defs.memories.items[i].uid) + " ";
    EXPECT_EQ("6 7 9 8 10 ", order) << "by time, then by number";
    const memory_def &first = of.defs.memories.items[0];
    EXPECT_EQ(0xa000u, first.address);
    EXPECT_EQ(64u, first.bytes);
    EXPECT_EQ(4u, first.kind);
    EXPECT_EQ(5u, first.part_of);
    EXPECT_EQ(6u, first.same_as);
    EXPECT_EQ(7u, first.context);
    EXPECT_FALSE(definitions_add(&of.defs, PTDS_REC_CALL, &process, "", 0));
    EXPECT_FALSE(of.defs.out_of_memory);
}

TEST(Frames, AreInTheObjectThatWasMappedThereLast)
{
    Definitions of;
    of.Object(1, 0x1000, 0x2000, "/usr/lib/one.so");
    of.Object(2, 0x1800, 0x1900, "/usr/lib/two.so");
    const struct {
        uint64_t pc;
        uint32_t id;
    } where[] = {{0xfff, 0}, {0x1000, 1}, {0x17ff, 1}, {0x1800, 2}, {0x18ff, 2}, {0x1900, 1}, {0x1fff, 1}, {0x2000, 0}};
    for (const auto &one : where) {
        const object_def *object = frames_object_at(&of.defs, one.pc);
        EXPECT_EQ(one.id, object != nullptr ? object->id : 0) << std::hex << one.pc;
    }
    ptds_rec_OBJECT object = {};
    object.id = 3;
    object.bias = 0x77;
    object.build_id_size = 20;
    object.build_id[19] = 9;
    of.Add(PTDS_REC_OBJECT, object);
    EXPECT_EQ(0x77u, of.defs.objects.items[2].bias);
    EXPECT_EQ(20u, of.defs.objects.items[2].build_id_size);
    EXPECT_EQ(9, of.defs.objects.items[2].build_id[19]);
    object.build_id_size = 21;
    of.Add(PTDS_REC_OBJECT, object);
    EXPECT_EQ(0u, of.defs.objects.items[2].build_id_size) << "longer than there is room for";
}

TEST(Frames, OfTheShimAreLeftOut)
{
    Definitions of;
    of.Object(1, 0x1000, 0x2000, "/opt/libptds.so");
    of.Object(2, 0x2000, 0x3000, "/opt/libptds_cupti.so.1");
    of.Object(3, 0x3000, 0x4000, "/opt/libptdsx.so");
    of.Object(4, 0x4000, 0x5000, "/opt/libptds.so (deleted)");
    const stack_def *stack = of.Stack(1, {0x1000, 0x3001, 0x4fff, 0x2fff, 0x1fff, 0x3002});
    const stack_def *only = of.Stack(2, {0x1000});
    const stack_def *none = of.Stack(3, {});
    definitions_finish(&of.defs);
    stack = definitions_stack(&of.defs, 1);
    only = definitions_stack(&of.defs, 2);
    none = definitions_stack(&of.defs, 3);
    ASSERT_EQ(2u, stack->count);
    EXPECT_EQ(0x3001u, stack->pc[0]);
    EXPECT_EQ(0x3002u, stack->pc[1]);
    EXPECT_EQ(0u, only->count);
    EXPECT_EQ(0u, none->count);
}

TEST(Frames, OfAStackThatIsCutShort)
{
    Definitions of;
    ptds_rec_STACK stack = {};
    const uint64_t pc[] = {0x10, 0x20, 0x30};
    stack.id = 1;
    stack.count = 9;
    of.Add(PTDS_REC_STACK, stack, pc, sizeof pc - 1);
    const stack_def *cut = definitions_stack(&of.defs, 1);
    ASSERT_EQ(2u, cut->count);
    EXPECT_EQ(0x20u, cut->pc[1]);
    const std::vector<uint64_t> more(12, 0x50);
    for (uint32_t count = 0; count <= 12; count++) {
        stack.count = count;
        of.Add(PTDS_REC_STACK, stack, more.data(), more.size() * 8);
        EXPECT_EQ(count, definitions_stack(&of.defs, 1)->count) << "not of what stands behind it";
    }
}

/* Up to `most`: half of them from the call on, the rest from the innermost one in an interpreter's source on. */
TEST(Frames, ThatAreShown)
{
    Definitions of;
    const uint64_t at = PTDS_PC_SOURCE | 1;
    auto shown = [&](const std::vector<uint64_t> &pc, uint32_t most) {
        const stack_def *stack = of.Stack(1, pc);
        std::string text;
        for (uint32_t n = 0; n < 10; n++) {
            uint32_t frame = frames_nth_shown(stack, n, most);
            text += frame < stack->count ? std::to_string(frame) : n < stack->count ? "-" : "";
        }
        return text;
    };
    EXPECT_EQ("012345", shown({1, 2, 3, 4, 5, 6}, 6));
    EXPECT_EQ("0123--", shown({1, 2, 3, 4, 5, 6}, 4)) << "no source";
    EXPECT_EQ("0145--", shown({1, 2, 3, 4, at, 6}, 4));
    EXPECT_EQ("0123--", shown({1, at, 3, 4, 5, 6}, 4)) << "it is among the first ones anyway";
    EXPECT_EQ("0123--", shown({1, 2, at, 4, 5, 6}, 4));
    EXPECT_EQ(3u, frames_shown(of.Stack(1, {1, 2, 3, at, at}), 1));
    EXPECT_EQ(1u, frames_shown(of.Stack(1, {1, 2, 3}), 1));
    EXPECT_EQ(0u, frames_shown(of.Stack(1, {at}), 7));
}

TEST(Frames, TheCallerIsOutsideCuda)
{
    Definitions of;
    of.Object(1, 0x1000, 0x2000, "/usr/lib/libcuda.so.1");
    of.Object(2, 0x2000, 0x3000, "/usr/lib/libcudart.so.12");
    of.Object(3, 0x3000, 0x4000, "/opt/app");
    EXPECT_EQ(2u, frames_caller(&of.defs, of.Stack(1, {0x1000, 0x2000, 0x3000, 0x1000})));
    EXPECT_EQ(0u, frames_caller(&of.defs, of.Stack(2, {0x3000, 0x2000})));
    EXPECT_EQ(0u, frames_caller(&of.defs, of.Stack(3, {0x9999})));
    EXPECT_EQ(1u, frames_caller(&of.defs, of.Stack(4, {0x1000, 0x2000}))) << "the outermost is one whatever it is";
    EXPECT_EQ(0u, frames_caller(&of.defs, of.Stack(5, {})));
    EXPECT_EQ(3u, frames_calling_object(&of.defs, 1)->id);
    EXPECT_EQ(3u, frames_calling_object(&of.defs, 2)->id);
    for (uint32_t none : {0, 3, 5, 6})
        EXPECT_EQ(nullptr, frames_calling_object(&of.defs, none)) << none;
}

} // namespace
} // namespace ptds
