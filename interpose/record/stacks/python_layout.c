/* SPDX-License-Identifier: Apache-2.0
 *
 * Knows which interpreters can be read, and where each keeps what is read of it. From 3.13 on the interpreter says so
 * itself, for debuggers; of 3.12 there is a table. Called when a stack is taken. What is not known for certain is not read:
 * a version of another number or not released, an interpreter without its lock, one built for debugging.
 */
#include "interpose/record/stacks/python_layout.h"

#include <pthread.h>
#include <string.h>

#include "interpose/base/elf.h"
#include "interpose/base/peek.h"
#include "interpose/base/specific.h"

static struct python_layout layout;
static uint32_t state; /* 0 none, 1 being made, 2 there */
/* Of the thread states' key, {int made; int key}, from the start of _PyRuntime; 0 not found yet. */
static uint32_t key_at;

enum { KEY_WITHIN = 16384, KEYS_MOST = 1024 }; /* of _PyRuntime; PTHREAD_KEYS_MAX */

const struct python_layout *python_layout(void)
{
    return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == 2 ? &layout : NULL;
}

/* ---- 3.12 ---- */

static const struct python_layout of_3_12 = {
    .finalizing = 24,
    .current = 56,
    .through = 1,
    .thread_id = 136,
    .previous = 8,
    .executable = 0,
    .instr = 56,
    .owner = 70,
    .file = 112,
    .function = 128,
    .lines = 136,
    .first = 68,
    .version = 92,
    .start = 192,
    .text_length = 16,
    .text_state = 32,
    .text_ascii = 40,
    .text_other = 56,
    .bytes_length = 16,
    .bytes_start = 32,
};

/* ---- what later ones say: numbers of 64 bits behind a word to know them by and their version ---- */

/* Which number each part begins with. */
struct parts {
    unsigned thread, frame, code, object, bytes, text;
};
static const struct parts parts_of_3_13 = {19, 28, 34, 44, 64, 67}, parts_of_3_14 = {22, 31, 39, 50, 74, 77};

enum { SAID_MOST = 81 };
#define OFFSETS_MOST 4096u

static int is_plausible(const struct python_layout *out, const uint64_t *said, const struct parts *parts)
{
    const uint64_t *thread = said + parts->thread, *frame = said + parts->frame, *code = said + parts->code;
    return said[parts->object] == 16 && said[parts->object + 1] == 8 && out->bytes_length == 16 && out->bytes_start == 32 &&
           out->text_length == 16 && out->text_ascii == 40 && thread[0] < OFFSETS_MOST && out->current < thread[0] &&
           out->thread_id < thread[0] && frame[0] >= PYTHON_FRAME_BYTES && out->previous <= PYTHON_FRAME_BYTES - 8 &&
           out->executable <= PYTHON_FRAME_BYTES - 8 && out->instr <= PYTHON_FRAME_BYTES - 8 &&
           out->owner < PYTHON_FRAME_BYTES && code[0] < OFFSETS_MOST && out->start <= PYTHON_CODE_MOST &&
           out->file <= out->start - 8 && out->function <= out->start - 8 && out->lines <= out->start - 8 &&
           out->version <= out->start - 4;
}

static int is_said(struct python_layout *out, unsigned long version, const struct parts *parts)
{
    uint64_t said[SAID_MOST];
    memcpy(said, (const void *)out->runtime, sizeof said);
    if (memcmp(said, "xdebugpy", 8) != 0 || said[1] != version || said[2] != 0)
        return 0;
    const uint64_t *thread = said + parts->thread, *frame = said + parts->frame, *code = said + parts->code;
    for (unsigned i = parts->thread; i < parts->text + 4; i++)
        if (said[i] > UINT16_MAX)
            return 0;
    out->finalizing = (uint16_t)said[4];
    out->current = (uint16_t)thread[4];
    out->thread_id = (uint16_t)thread[5];
    out->previous = (uint16_t)frame[1];
    out->executable = (uint16_t)frame[2];
    out->instr = (uint16_t)frame[3];
    out->owner = (uint16_t)frame[5];
    out->file = (uint16_t)code[1];
    out->function = (uint16_t)code[3];
    out->lines = (uint16_t)code[4];
    out->first = (uint16_t)code[5];
    out->version = (uint16_t)(code[5] + 24); /* five numbers of 32 bits lie between, in 3.12 to 3.14 */
    out->start = (uint16_t)code[9];
    out->bytes_length = (uint16_t)said[parts->bytes + 1];
    out->bytes_start = (uint16_t)said[parts->bytes + 2];
    out->text_state = (uint16_t)said[parts->text + 1];
    out->text_length = (uint16_t)said[parts->text + 2];
    out->text_ascii = (uint16_t)said[parts->text + 3];
    out->text_other = (uint16_t)(said[parts->text + 3] + 16);
    return said[4] < OFFSETS_MOST && is_plausible(out, said, parts);
}

/* ---- */

static int is_of_3_12(struct python_layout *out)
{
    struct python_layout known = of_3_12;
    known.runtime = out->runtime;
    known.runtime_end = out->runtime_end;
    known.code_type = out->code_type;
    known.text_type = out->text_type;
    known.bytes_type = out->bytes_type;
    *out = known;
    return 1;
}

static int is_known(struct python_layout *out, unsigned long version)
{
    enum { RELEASED = 0xf };
    if ((version >> 4 & 0xf) != RELEASED)
        return 0;
    switch (version >> 16) {
    case 0x030c: return is_of_3_12(out);
    case 0x030d: return is_said(out, version, &parts_of_3_13);
    case 0x030e: return is_said(out, version, &parts_of_3_14);
    default: return 0;
    }
}

static int read_layout(struct python_layout *out, const struct elf_object *object)
{
    const unsigned long *version = elf_symbol(object, "Py_Version");
    out->runtime = (uintptr_t)elf_symbol(object, "_PyRuntime");
    out->runtime_end = object->end;
    out->code_type = (uintptr_t)elf_symbol(object, "PyCode_Type");
    out->text_type = (uintptr_t)elf_symbol(object, "PyUnicode_Type");
    out->bytes_type = (uintptr_t)elf_symbol(object, "PyBytes_Type");
    if (!version || !out->runtime || !out->code_type || !out->text_type || !out->bytes_type ||
        object->end - out->runtime < KEY_WITHIN || elf_symbol(object, "_Py_NegativeRefcount"))
        return 0;
    return is_known(out, *version);
}

int python_layout_of(const struct elf_object *object)
{
    struct python_layout found = {0};
    uint32_t none = 0;
    if (!elf_symbol(object, "_PyRuntime"))
        return 0;
    if (python_layout())
        return (uintptr_t)elf_symbol(object, "_PyRuntime") == layout.runtime;
    if (!read_layout(&found, object) ||
        !__atomic_compare_exchange_n(&state, &none, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE))
        return 0;
    layout = found;
    __atomic_store_n(&state, 2, __ATOMIC_RELEASE);
    return 1;
}

/* ---- the thread ---- */

static uint64_t specific(const struct python_layout *from, uint32_t at)
{
    const uint32_t *key = (const uint32_t *)(from->runtime + at);
    if (__atomic_load_n(&key[0], __ATOMIC_ACQUIRE) != 1 || key[1] >= KEYS_MOST)
        return 0;
    return (uint64_t)(uintptr_t)specific_get(key[1]);
}

/* The interpreter does not say where the key lies: it is the one under which something lies that names this thread. */
static uint64_t find_key(const struct python_layout *from)
{
    for (uint32_t at = 8; at + 8 <= KEY_WITHIN; at += 4) {
        uint64_t found = specific(from, at), thread = 0;
        if (!found || found & 7 || !peek(found + from->thread_id, &thread, sizeof thread) ||
            thread != (uint64_t)pthread_self())
            continue;
        __atomic_store_n(&key_at, at, __ATOMIC_RELAXED);
        return found;
    }
    return 0;
}

static int is_ending(const struct python_layout *from)
{
    return __atomic_load_n((const uint64_t *)(from->runtime + from->finalizing), __ATOMIC_ACQUIRE) != 0;
}

uint64_t python_layout_thread_state(const struct python_layout *from)
{
    uint32_t at = __atomic_load_n(&key_at, __ATOMIC_RELAXED);
    return at && !is_ending(from) ? specific(from, at) : 0;
}

uint64_t python_layout_find_thread_state(const struct python_layout *from)
{
    if (__atomic_load_n(&key_at, __ATOMIC_RELAXED))
        return python_layout_thread_state(from);
    return specific_there() && !is_ending(from) ? find_key(from) : 0;
}
