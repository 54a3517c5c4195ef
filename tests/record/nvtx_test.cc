/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions that a program's NVTX gets from the shim: what of a program's ranges, domains, texts and threads' names is
 * recorded, and that nothing is handed out where nothing is recorded.
 */
#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <cstddef>

#include "tests/record/recording.h"

extern "C" {
#include "interpose/env/env.h"
#include "interpose/record/threads.h"
}

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);

namespace
{

NvtxFunctionPointer g_core[NVTX_CBID_CORE_SIZE], g_core2[NVTX_CBID_CORE2_SIZE];
NvtxFunctionTable g_tables[2];
unsigned g_sizes[2]; /* of the program's tables: its headers may be older or newer */
NvtxExportTableCallbacks g_callbacks;

int NVTX_API table_of(NvtxCallbackModule module, NvtxFunctionTable *table, unsigned *size)
{
    const int which = module == NVTX_CB_MODULE_CORE ? 0 : module == NVTX_CB_MODULE_CORE2 ? 1 : -1;
    if (which < 0 || !g_sizes[which])
        return 0;
    *table = g_tables[which];
    *size = g_sizes[which];
    return 1;
}
const void *NVTX_API exports(uint32_t which)
{
    return which == NVTX_ETID_CALLBACKS ? &g_callbacks : nullptr;
}
const void *NVTX_API no_exports(uint32_t)
{
    return nullptr;
}

class Nvtx : public Recording
{
protected:
    void SetUp() override
    {
        static NvtxFunctionPointer *places[2][NVTX_CBID_CORE_SIZE + NVTX_CBID_CORE2_SIZE];
        Recording::SetUp();
        before_ = thread_self;
        thread_self = &thread_;
        threads_started(&thread_);
        for (unsigned i = 1; i < NVTX_CBID_CORE_SIZE; i++)
            places[0][i] = &g_core[i];
        for (unsigned i = 1; i < NVTX_CBID_CORE2_SIZE; i++)
            places[1][i] = &g_core2[i];
        g_tables[0] = places[0];
        g_tables[1] = places[1];
        g_sizes[0] = NVTX_CBID_CORE_SIZE;
        g_sizes[1] = NVTX_CBID_CORE2_SIZE;
        g_callbacks.struct_size = sizeof g_callbacks;
        g_callbacks.GetModuleFunctionTable = table_of;
        for (auto &one : g_core)
            one = nullptr;
        for (auto &one : g_core2)
            one = nullptr;
    }
    void TearDown() override
    {
        thread_self = before_;
        Recording::TearDown();
    }
    template <class Function> static Function *core(int number)
    {
        return reinterpret_cast<Function *>(g_core[number]);
    }
    template <class Function> static Function *core2(int number)
    {
        return reinterpret_cast<Function *>(g_core2[number]);
    }
    /* "+name" with the domain behind an @, "-" for an end, "#" behind a range of the process. */
    static std::string recorded()
    {
        std::string text;
        for (const ptds_rec_REGION &one : all<ptds_rec_REGION>(PTDS_REC_REGION))
            text += (one.name ? "+" + string(one.name) : "-") + (one.range ? "#; " : "; ");
        return text;
    }
    static std::string string(uint32_t id)
    {
        for (const std::string &bytes : bytes_of(PTDS_REC_STRING)) {
            ptds_rec_STRING one;
            memcpy(&one, bytes.data(), sizeof one);
            if (one.id == id)
                return bytes.c_str() + sizeof one;
        }
        return "?";
    }
    static nvtxEventAttributes_t attributes(const char *text)
    {
        nvtxEventAttributes_t attributes = {};
        attributes.version = NVTX_VERSION;
        attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
        attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
        attributes.message.ascii = text;
        return attributes;
    }
    struct thread *before_ = nullptr;
};

TEST_F(Nvtx, NobodyListensWhereNothingIsRecorded)
{
    struct env *env = const_cast<struct env *>(env_get());
    env->recording = 0;
    EXPECT_EQ(0, InitializeInjectionNvtx2(exports));
    env->recording = 1;
    EXPECT_EQ(0, InitializeInjectionNvtx2(nullptr));
    EXPECT_EQ(0, InitializeInjectionNvtx2(no_exports));
    g_callbacks.struct_size = sizeof g_callbacks - 1;
    EXPECT_EQ(0, InitializeInjectionNvtx2(exports)) << "older than what is needed";
    g_callbacks.struct_size = sizeof g_callbacks;
    for (const auto &one : g_core)
        EXPECT_EQ(nullptr, one);
    for (int which = 0; which < 2; which++) {
        g_sizes[which] = 0;
        EXPECT_EQ(0, InitializeInjectionNvtx2(exports)) << which;
        g_sizes[which] = which ? unsigned{NVTX_CBID_CORE2_SIZE} : unsigned{NVTX_CBID_CORE_SIZE};
        NvtxFunctionTable table = g_tables[which];
        g_tables[which] = nullptr;
        EXPECT_EQ(0, InitializeInjectionNvtx2(exports)) << which;
        g_tables[which] = table;
    }
    EXPECT_EQ(1, InitializeInjectionNvtx2(exports));
}

/* A table ends where the program's headers say; nothing behind that is written. */
TEST_F(Nvtx, ShorterTables)
{
    g_sizes[0] = NVTX_CBID_CORE_RangePushA + 1;
    g_sizes[1] = 1;
    EXPECT_EQ(1, InitializeInjectionNvtx2(exports));
    EXPECT_NE(nullptr, g_core[NVTX_CBID_CORE_RangePushA]);
    EXPECT_EQ(nullptr, g_core[NVTX_CBID_CORE_RangePop]);
    EXPECT_EQ(nullptr, g_core[NVTX_CBID_CORE_MarkA]) << "nobody wants it";
    for (const auto &one : g_core2)
        EXPECT_EQ(nullptr, one);
    for (auto &one : g_core)
        one = nullptr;
    g_tables[0][NVTX_CBID_CORE_RangeEnd] = nullptr; /* a place that the program does not have */
    g_sizes[0] = NVTX_CBID_CORE_SIZE;
    EXPECT_EQ(1, InitializeInjectionNvtx2(exports));
    EXPECT_NE(nullptr, g_core[NVTX_CBID_CORE_RangePop]);
    EXPECT_EQ(nullptr, g_core[NVTX_CBID_CORE_RangeEnd]);
    EXPECT_EQ(nullptr, g_core[0]);
}

TEST_F(Nvtx, RangesOfAThread)
{
    ASSERT_EQ(1, InitializeInjectionNvtx2(exports));
    nvtxEventAttributes_t one = attributes("c");
    EXPECT_EQ(NVTX_NO_PUSH_POP_TRACKING, core<int(const char *)>(NVTX_CBID_CORE_RangePushA)("a"));
    EXPECT_EQ(NVTX_NO_PUSH_POP_TRACKING, core<int(const wchar_t *)>(NVTX_CBID_CORE_RangePushW)(L"b"));
    EXPECT_EQ(NVTX_NO_PUSH_POP_TRACKING, core<int(const nvtxEventAttributes_t *)>(NVTX_CBID_CORE_RangePushEx)(&one));
    EXPECT_EQ(NVTX_NO_PUSH_POP_TRACKING, core<int()>(NVTX_CBID_CORE_RangePop)());
    core<int(const char *)>(NVTX_CBID_CORE_RangePushA)(nullptr);
    EXPECT_EQ("+a; +b; +c; -; +; ", recorded());
}

TEST_F(Nvtx, RangesOfTheProcess)
{
    ASSERT_EQ(1, InitializeInjectionNvtx2(exports));
    nvtxEventAttributes_t one = attributes("c");
    const nvtxRangeId_t a = core<nvtxRangeId_t(const char *)>(NVTX_CBID_CORE_RangeStartA)("a");
    const nvtxRangeId_t b = core<nvtxRangeId_t(const wchar_t *)>(NVTX_CBID_CORE_RangeStartW)(L"b");
    const nvtxRangeId_t c = core<nvtxRangeId_t(const nvtxEventAttributes_t *)>(NVTX_CBID_CORE_RangeStartEx)(&one);
    EXPECT_EQ(a + 1, b);
    EXPECT_EQ(b + 1, c);
    core<void(nvtxRangeId_t)>(NVTX_CBID_CORE_RangeEnd)(b);
    EXPECT_EQ("+a#; +b#; +c#; -#; ", recorded());
    EXPECT_EQ(b, last<ptds_rec_REGION>(PTDS_REC_REGION).range);
}

TEST_F(Nvtx, Domains)
{
    ASSERT_EQ(1, InitializeInjectionNvtx2(exports));
    using Create = nvtxDomainHandle_t(const char *);
    using Push = int(nvtxDomainHandle_t, const nvtxEventAttributes_t *);
    using Start = nvtxRangeId_t(nvtxDomainHandle_t, const nvtxEventAttributes_t *);
    Create *create = core2<Create>(NVTX_CBID_CORE2_DomainCreateA);
    const nvtxDomainHandle_t io = create("io"), net = create("net"), cpu = create("cpu");
    EXPECT_NE(nullptr, io);
    EXPECT_NE(io, net);
    EXPECT_NE(net, cpu);
    EXPECT_EQ(io, create("io")) << "one a name";
    EXPECT_EQ(net, core2<nvtxDomainHandle_t(const wchar_t *)>(NVTX_CBID_CORE2_DomainCreateW)(L"net"));
    EXPECT_EQ(cpu, create("cpu"));
    EXPECT_NE(nullptr, create(nullptr));
    const std::string longest(119, 'x');
    EXPECT_EQ(create(longest.c_str()), create((longest + "y").c_str())) << "so much of it is kept";
    EXPECT_NE(create(longest.c_str()), create(longest.substr(1).c_str()));
    nvtxEventAttributes_t one = attributes("read");
    core2<Push>(NVTX_CBID_CORE2_DomainRangePushEx)(io, &one);
    core2<Push>(NVTX_CBID_CORE2_DomainRangePushEx)(net, &one);
    core2<int(nvtxDomainHandle_t)>(NVTX_CBID_CORE2_DomainRangePop)(io);
    const nvtxRangeId_t id = core2<Start>(NVTX_CBID_CORE2_DomainRangeStartEx)(cpu, &one);
    core2<void(nvtxDomainHandle_t, nvtxRangeId_t)>(NVTX_CBID_CORE2_DomainRangeEnd)(cpu, id);
    EXPECT_EQ("+read@io; +read@net; -; +read@cpu#; -#; ", recorded());
    EXPECT_EQ(id, last<ptds_rec_REGION>(PTDS_REC_REGION).range);
    EXPECT_EQ("read@net", string(thread_.region)) << "the other domain's is open";
}

TEST_F(Nvtx, Messages)
{
    ASSERT_EQ(1, InitializeInjectionNvtx2(exports));
    const auto push = core<int(const nvtxEventAttributes_t *)>(NVTX_CBID_CORE_RangePushEx);
    nvtxEventAttributes_t one = attributes("no");
    push(nullptr);
    one.messageType = NVTX_MESSAGE_UNKNOWN;
    push(&one);
    one = attributes(nullptr);
    push(&one);
    one = attributes("short");
    one.size = uint16_t(offsetof(nvtxEventAttributes_t, message) + sizeof one.message);
    push(&one);
    one.size--;
    push(&one);
    one = attributes(nullptr);
    one.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    one.message.unicode = L"wide";
    push(&one);
    one.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    one.message.registered =
        core2<nvtxStringHandle_t(nvtxDomainHandle_t, const char *)>(NVTX_CBID_CORE2_DomainRegisterStringA)(nullptr, "kept");
    push(&one);
    one.message.registered = core2<nvtxStringHandle_t(nvtxDomainHandle_t, const wchar_t *)>(
        NVTX_CBID_CORE2_DomainRegisterStringW)(nullptr, L"too");
    push(&one);
    one.message.registered = core2<nvtxStringHandle_t(nvtxDomainHandle_t, const char *)>(
        NVTX_CBID_CORE2_DomainRegisterStringA)(nullptr, nullptr);
    push(&one);
    EXPECT_EQ("+; +; +; +short; +; +wide; +kept; +too; +; ", recorded());
}

/* As UTF-8; what is no character becomes the one that says so, and what is too long is cut between characters. */
TEST_F(Nvtx, WideTexts)
{
    ASSERT_EQ(1, InitializeInjectionNvtx2(exports));
    const auto push = core<int(const wchar_t *)>(NVTX_CBID_CORE_RangePushW);
    const struct {
        uint32_t wide;
        const char *utf8;
    } characters[] = {{0x7f, "\x7f"},
                      {0x80, "\xc2\x80"},
                      {0x7ff, "\xdf\xbf"},
                      {0x800, "\xe0\xa0\x80"},
                      {0xd7ff, "\xed\x9f\xbf"},
                      {0xd800, "\xef\xbf\xbd"},
                      {0xdfff, "\xef\xbf\xbd"},
                      {0xe000, "\xee\x80\x80"},
                      {0xffff, "\xef\xbf\xbf"},
                      {0x10000, "\xf0\x90\x80\x80"},
                      {0x10ffff, "\xf4\x8f\xbf\xbf"},
                      {0x110000, "\xef\xbf\xbd"}};
    std::string expected;
    for (const auto &[wide, utf8] : characters) {
        const wchar_t text[] = {L'a', wchar_t(wide), L'b', 0};
        push(text);
        expected += std::string("+a") + utf8 + "b; ";
        core<int()>(NVTX_CBID_CORE_RangePop)();
        expected += "-; ";
    }
    EXPECT_EQ(expected, recorded());
    EXPECT_NE(nullptr, core2<nvtxDomainHandle_t(const wchar_t *)>(NVTX_CBID_CORE2_DomainCreateW)(nullptr));
    const std::wstring longer(1000, L'\x20ac');
    const auto kept = reinterpret_cast<const char *>(core2<nvtxStringHandle_t(nvtxDomainHandle_t, const wchar_t *)>(
        NVTX_CBID_CORE2_DomainRegisterStringW)(nullptr, longer.c_str()));
    EXPECT_EQ(127u * 3, strlen(kept));
    EXPECT_EQ("\xe2\x82\xac", std::string(kept).substr(126 * 3));
    const std::wstring plain(1000, L'a');
    EXPECT_EQ(380u, strlen(reinterpret_cast<const char *>(core2<nvtxStringHandle_t(nvtxDomainHandle_t, const wchar_t *)>(
                        NVTX_CBID_CORE2_DomainRegisterStringW)(nullptr, plain.c_str()))));
}

TEST_F(Nvtx, LongTextsThatAreKept)
{
    ASSERT_EQ(1, InitializeInjectionNvtx2(exports));
    const auto keep = core2<nvtxStringHandle_t(nvtxDomainHandle_t, const char *)>(NVTX_CBID_CORE2_DomainRegisterStringA);
    for (size_t size : {0, 1, 382, 383, 384, 1000}) {
        const std::string text(size, 'k');
        EXPECT_EQ(text.substr(0, 383), reinterpret_cast<const char *>(keep(nullptr, text.c_str()))) << size;
    }
}

/* The calling thread's, and others' that made a call. */
TEST_F(Nvtx, NamesOfThreads)
{
    ASSERT_EQ(1, InitializeInjectionNvtx2(exports));
    const auto name = core<void(uint32_t, const char *)>(NVTX_CBID_CORE_NameOsThreadA);
    thread_.tid = thread_tid();
    name(thread_.tid, "mine");
    EXPECT_STREQ("mine", thread_.name);
    core<void(uint32_t, const wchar_t *)>(NVTX_CBID_CORE_NameOsThreadW)(thread_.tid, L"w\x00ef"
                                                                                     L"de");
    EXPECT_STREQ("w\xc3\xaf"
                 "de",
                 thread_.name);
    name(thread_.tid, nullptr);
    name(0x7fffffff, "nobody's");
    EXPECT_STREQ("w\xc3\xaf"
                 "de",
                 thread_.name);
    thread_self = nullptr;
    struct thread *known = thread_get(); /* as another thread sees it */
    known->tid = 4711;
    thread_self = &thread_;
    name(4711, "others");
    EXPECT_STREQ("others", known->name);
    known->ended = 1;
    name(4711, "later");
    EXPECT_STREQ("others", known->name);
    known->ended = 0;
}

} // namespace
