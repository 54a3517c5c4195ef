/* SPDX-License-Identifier: Apache-2.0
 *
 * NVTX's door: a program's ranges, domains and thread names. The NVTX headers inside a program or library load whatever
 * NVTX_INJECTION64_PATH names, once for each copy of them, and call InitializeInjectionNvtx2 there, which puts functions of
 * ours into their table. `ptds run` sets that variable; a user who preloads the library by hand sets it to have ranges.
 * Everything here may be called by any thread, before or after any CUDA call, also where the library is not preloaded; it
 * must never call CUDA.
 */
#include "interpose/doors/nvtx.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <string.h>

#include "interpose/base/lock.h"
#include "interpose/base/pages.h"
#include "interpose/env/env.h"
#include "interpose/record/thread_regions.h"
#include "interpose/record/threads.h"

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table);

#define TEXT 384

struct domain {
    struct domain *next;
    char name[120];
};

static struct domain *domains;
static struct lock domains_lock;

/* One character of NVTX's wide text as UTF-8; returns its bytes. */
static size_t encode(uint32_t c, char *out)
{
    if (c >= 0x110000 || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd;
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const uint8_t lead[] = {0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[more] | c >> 6 * more);
    for (size_t i = 1; i <= more; i++)
        out[i] = (char)(0x80 | (c >> 6 * (more - i) & 0x3f));
    return more + 1;
}

static const char *narrow(const wchar_t *wide, char out[TEXT])
{
    size_t used = 0;
    for (; wide && *wide && used + 4 < TEXT; wide++)
        used += encode((uint32_t)*wide, out + used);
    out[used] = '\0';
    return out;
}

/* The message of a range; "" where it has none. */
static const char *message(const nvtxEventAttributes_t *attributes, char out[TEXT])
{
    if (!attributes || attributes->size < offsetof(nvtxEventAttributes_t, message) + sizeof attributes->message)
        return "";
    const char *found = NULL;
    switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII: found = attributes->message.ascii; break;
    case NVTX_MESSAGE_TYPE_UNICODE: found = narrow(attributes->message.unicode, out); break;
    case NVTX_MESSAGE_TYPE_REGISTERED: found = (const char *)attributes->message.registered; break;
    default: break;
    }
    return found ? found : "";
}

static const char *domain_name(nvtxDomainHandle_t handle)
{
    return handle ? ((const struct domain *)handle)->name : NULL;
}

static int push(nvtxDomainHandle_t domain, const char *name)
{
    struct thread *thread = thread_get();
    if (thread)
        thread_regions_push(thread, name ? name : "", domain_name(domain));
    return NVTX_NO_PUSH_POP_TRACKING;
}

static int NVTX_API domain_pop(nvtxDomainHandle_t domain)
{
    struct thread *thread = thread_get();
    if (thread)
        thread_regions_pop(thread, domain_name(domain));
    return NVTX_NO_PUSH_POP_TRACKING;
}

static nvtxRangeId_t start(nvtxDomainHandle_t domain, const char *name)
{
    struct thread *thread = thread_get();
    return thread ? thread_regions_range_start(thread, name ? name : "", domain_name(domain)) : 0;
}

static void NVTX_API end(nvtxRangeId_t id)
{
    struct thread *thread = thread_get();
    if (thread)
        thread_regions_range_end(thread, id);
}

static void NVTX_API domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id)
{
    (void)domain;
    end(id);
}

static int NVTX_API push_a(const char *name)
{
    return push(NULL, name);
}

static int NVTX_API push_w(const wchar_t *name)
{
    char text[TEXT];
    return push(NULL, narrow(name, text));
}

static int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    char text[TEXT];
    return push(domain, message(attributes, text));
}

static int NVTX_API push_ex(const nvtxEventAttributes_t *attributes)
{
    return domain_push(NULL, attributes);
}

static int NVTX_API pop(void)
{
    return domain_pop(NULL);
}

static nvtxRangeId_t NVTX_API start_a(const char *name)
{
    return start(NULL, name);
}

static nvtxRangeId_t NVTX_API start_w(const wchar_t *name)
{
    char text[TEXT];
    return start(NULL, narrow(name, text));
}

static nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *attributes)
{
    char text[TEXT];
    return start(domain, message(attributes, text));
}

static nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t *attributes)
{
    return domain_start(NULL, attributes);
}

/* One domain a name, as the headers' other users have it too. */
static nvtxDomainHandle_t NVTX_API domain_create(const char *name)
{
    char text[sizeof domains->name] = "";
    for (size_t i = 0; name && name[i] && i + 1 < sizeof text; i++)
        text[i] = name[i];
    lock_take(&domains_lock);
    struct domain *found = domains;
    while (found && strcmp(found->name, text) != 0)
        found = found->next;
    if (!found && (found = pages_keep(sizeof *found))) {
        memcpy(found->name, text, sizeof text);
        found->next = domains;
        domains = found;
    }
    lock_drop(&domains_lock);
    return (nvtxDomainHandle_t)found;
}

static nvtxDomainHandle_t NVTX_API domain_create_w(const wchar_t *name)
{
    char text[TEXT];
    return domain_create(narrow(name, text));
}

static nvtxStringHandle_t NVTX_API register_a(nvtxDomainHandle_t domain, const char *text)
{
    (void)domain;
    size_t size = text ? strnlen(text, TEXT - 1) : 0;
    char *kept = pages_keep(size + 1);
    if (kept && size)
        memcpy(kept, text, size);
    return (nvtxStringHandle_t)kept;
}

static nvtxStringHandle_t NVTX_API register_w(nvtxDomainHandle_t domain, const wchar_t *wide)
{
    char text[TEXT];
    return register_a(domain, narrow(wide, text));
}

/* The calling thread may not have made a CUDA call yet; another thread is known only if it has. */
static void NVTX_API name_thread(uint32_t tid, const char *name)
{
    struct thread *thread = tid == thread_tid() ? thread_get() : thread_all();
    while (thread && (thread->tid != tid || __atomic_load_n(&thread->ended, __ATOMIC_ACQUIRE)))
        thread = thread->next_all;
    if (thread && name)
        threads_named(thread, name);
}

static void NVTX_API name_thread_w(uint32_t tid, const wchar_t *name)
{
    char text[TEXT];
    name_thread(tid, narrow(name, text));
}

#define CORE(name, function) [NVTX_CBID_CORE_##name] = (NvtxFunctionPointer)function
#define CORE2(name, function) [NVTX_CBID_CORE2_##name] = (NvtxFunctionPointer)function
static const NvtxFunctionPointer core[NVTX_CBID_CORE_SIZE] = {
    CORE(RangeStartEx, start_ex),     CORE(RangeStartA, start_a),         CORE(RangeStartW, start_w), CORE(RangeEnd, end),
    CORE(RangePushEx, push_ex),       CORE(RangePushA, push_a),           CORE(RangePushW, push_w),   CORE(RangePop, pop),
    CORE(NameOsThreadA, name_thread), CORE(NameOsThreadW, name_thread_w),
};
static const NvtxFunctionPointer core2[NVTX_CBID_CORE2_SIZE] = {
    CORE2(DomainRangeStartEx, domain_start),  CORE2(DomainRangeEnd, domain_end),
    CORE2(DomainRangePushEx, domain_push),    CORE2(DomainRangePop, domain_pop),
    CORE2(DomainRegisterStringA, register_a), CORE2(DomainRegisterStringW, register_w),
    CORE2(DomainCreateA, domain_create),      CORE2(DomainCreateW, domain_create_w),
};

static int attach(const NvtxExportTableCallbacks *callbacks, NvtxCallbackModule module, const NvtxFunctionPointer *ours,
                  unsigned count)
{
    NvtxFunctionTable theirs = NULL;
    unsigned size = 0;
    if (!callbacks->GetModuleFunctionTable(module, &theirs, &size) || !theirs)
        return 0;
    for (unsigned i = 1; i < size && i < count; i++) {
        if (ours[i] && theirs[i])
            *theirs[i] = ours[i];
    }
    return 1;
}

/* 0 tells the program's NVTX that there is no listener: its functions then do nothing at all. */
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table)
{
    const NvtxExportTableCallbacks *callbacks = get_table ? get_table(NVTX_ETID_CALLBACKS) : NULL;
    if (!env_get()->recording || !callbacks || callbacks->struct_size < sizeof *callbacks)
        return 0;
    return attach(callbacks, NVTX_CB_MODULE_CORE, core, NVTX_CBID_CORE_SIZE) &&
           attach(callbacks, NVTX_CB_MODULE_CORE2, core2, NVTX_CBID_CORE2_SIZE);
}

void nvtx_after_fork(void)
{
    domains_lock.held = 0;
}
