/* SPDX-License-Identifier: Apache-2.0
 *
 * What a CPython has in memory, made by hand: a runtime that says where things lie, thread states, frames, code objects and
 * text, each laid out as its version does. Written down again here from the versions' own headers, so that the shim's
 * tables are not their own witness. The program that includes this is the interpreter: it must export its symbols.
 */
#ifndef PTDS_TESTS_FAKE_PYTHON_H
#define PTDS_TESTS_FAKE_PYTHON_H

#include <cstdint>
#include <cstring>
#include <pthread.h>
#include <string>
#include <vector>

extern "C" {
#define EXPORTED __attribute__((visibility("default")))
EXPORTED extern unsigned long Py_Version;
EXPORTED extern uint64_t _PyRuntime[8192], PyCode_Type[8], PyUnicode_Type[8], PyBytes_Type[8];
unsigned long Py_Version;
uint64_t _PyRuntime[8192], PyCode_Type[8], PyUnicode_Type[8], PyBytes_Type[8];
#ifdef FAKE_DEBUG_BUILD
EXPORTED void _Py_NegativeRefcount();
void _Py_NegativeRefcount()
{
}
#endif
}

namespace fake
{

/* Bytes from the start of the object. */
struct Version {
    unsigned number; /* 0x030c.. */
    size_t finalizing, current, thread_id, owner, start;
    bool through, says, wide_text, notes; /* a frame is found through a second pointer; offsets are said; see below */
};
inline const Version versions[] = {
    {0x030c01f0, 24, 56, 136, 70, 192, true, false, false, false},
    {0x030d00f0, 608, 72, 152, 70, 200, false, true, false, false},
    {0x030e00f0, 760, 72, 152, 74, 208, false, true, true, true},
};
inline const Version *version;

template <class T> void put(void *object, size_t at, T value)
{
    memcpy(static_cast<char *>(object) + at, &value, sizeof value);
}
template <class T> T get(void *object, size_t at)
{
    T value;
    memcpy(&value, static_cast<char *>(object) + at, sizeof value);
    return value;
}

inline uint64_t address(const void *at)
{
    return reinterpret_cast<uint64_t>(at);
}

/* Of what lives as long as the process. */
inline char *memory(size_t size)
{
    return static_cast<char *>(calloc(1, size + 64));
}

inline void say_offsets(uint64_t free_threaded)
{
    bool late = version->number >= 0x030e0000;
    std::vector<uint64_t> said = {0, version->number, free_threaded, sizeof _PyRuntime, version->finalizing, 640};
    auto add = [&](std::vector<uint64_t> part) { said.insert(said.end(), part.begin(), part.end()); };
    add(std::vector<uint64_t>(late ? 16 : 13, 7));
    add({400, 0, 8, 16, version->current, version->thread_id, 160, 200, 32});
    add({late ? 88u : 80u, 8, 0, 56, late ? 80u : 72u, version->owner});
    if (late)
        add({64, 0});
    add({version->start + 8, 112, 120, 128, 136, 68, 52, 96, 104, version->start});
    if (late)
        add({0});
    add({16, 8});
    add({416, 24, 88, 168});
    add({32, 24, 16});
    add({40, 24, 16});
    if (late)
        add({200, 24, 40, 32});
    add({48, 32, 40});
    add({24, 16});
    add({32, 16, 24});
    add({40, 16, 32});
    add({64, 32, 16, 40});
    memcpy(_PyRuntime, said.data(), said.size() * 8);
    memcpy(_PyRuntime, "xdebugpy", 8);
    for (size_t i = said.size(); i < 100; i++)
        _PyRuntime[i] = i == version->finalizing / 8 ? 0 : 0x100000001u; /* other things follow */
}

/* The key of thread states, behind some that are not it. */
inline pthread_key_t key;
inline void make_runtime(const Version &which, uint64_t free_threaded = 0)
{
    pthread_key_t other;
    version = &which;
    Py_Version = which.number;
    if (which.says)
        say_offsets(free_threaded);
    pthread_key_create(&other, nullptr);
    pthread_setspecific(other, memory(512));
    pthread_key_create(&key, nullptr);
    put<uint32_t>(_PyRuntime, 1000, 1);
    put<uint32_t>(_PyRuntime, 1004, 500000);
    put<uint32_t>(_PyRuntime, 1100, 1);
    put<uint32_t>(_PyRuntime, 1104, other);
    put<uint32_t>(_PyRuntime, 2160, 1);
    put<uint32_t>(_PyRuntime, 2164, key);
}

/* ---- objects ---- */

inline char *object(const void *type, size_t size)
{
    char *made = memory(size);
    put<uint64_t>(made, 0, 1);
    put<uint64_t>(made, 8, address(type));
    return made;
}

/* width: bytes a character; what pads the state is whatever was there. */
inline char *text_of(const void *characters, size_t count, unsigned width, bool ascii)
{
    size_t start = ascii ? 40 : 56;
    char *made = object(PyUnicode_Type, start + count * width);
    uint32_t kind = width | 1u << 3 | (ascii ? 1u << 4 : 0);
    put<uint64_t>(made, 16, count);
    put<uint32_t>(made, 32, version->wide_text ? 1u | kind << 16 : 1u | kind << 2 | 0x7fff0000u);
    memcpy(made + start, characters, count * width);
    return made;
}
inline char *text(const std::string &ascii)
{
    return text_of(ascii.data(), ascii.size(), 1, true);
}

inline char *bytes(const std::string &content)
{
    char *made = object(PyBytes_Type, 32 + content.size() + 1);
    put<uint64_t>(made, 16, content.size());
    memcpy(made + 32, content.data(), content.size());
    return made;
}

/* Of instructions 0 to 7 the lines are first, +1, +101, +101, none, +51, +51, +51 and, in a longer table, so on. */
inline const std::string lines("\xd0\x01\x02"         /* one line in columns 1 to 2, the same line */
                               "\xd8\x01\x02"         /* the next line */
                               "\xe9\x48\x03"         /* no columns, two instructions, 100 lines on */
                               "\xf8"                 /* none */
                               "\xe8\x65\x01"         /* no columns, 50 lines back */
                               "\xf1\x00\x02\x03\x04" /* all told, two instructions, the same line */
                               "\x87\x11",            /* short, eight instructions */
                               20);

inline uint32_t code_version = 100;
inline char *code(char *function, char *file, int first, char *table = bytes(lines))
{
    char *made = object(PyCode_Type, version->start + 128);
    put<int>(made, 68, first);
    put<uint32_t>(made, 92, code_version++);
    put<uint64_t>(made, 112, address(file));
    put<uint64_t>(made, 128, address(function));
    put<uint64_t>(made, 136, address(table));
    return made;
}

/* ---- frames and threads ---- */

inline void set_frame(char *frame, const char *code_object, int instruction, const char *previous, int owner = 0)
{
    /* In 3.14 the lowest bits of the reference say how it is counted. */
    put<uint64_t>(frame, 0, address(code_object) + (version->notes ? 1 : 0));
    put<uint64_t>(frame, 8, address(previous));
    put<uint64_t>(frame, 56, address(code_object) + version->start + 2 * static_cast<size_t>(instruction));
    put<char>(frame, version->owner, static_cast<char>(owner));
}

inline char *thread_state(void *at)
{
    char *state = static_cast<char *>(at);
    put<uint64_t>(state, version->thread_id, pthread_self());
    if (version->through)
        put<uint64_t>(state, version->current, address(memory(16)));
    pthread_setspecific(key, state);
    return state;
}
/* The interpreter's first thread has its state in the runtime itself. */
inline char *first_thread()
{
    return thread_state(reinterpret_cast<char *>(_PyRuntime) + 32768);
}

inline void set_current(char *state, const char *frame)
{
    if (version->through)
        put<uint64_t>(get<char *>(state, version->current), 0, address(frame));
    else
        put<uint64_t>(state, version->current, address(frame));
}

/* What enters the interpreter from C: its frame is on the C stack while call() runs, behind the frames that that sets. */
template <class Call> __attribute__((noinline)) void enter(Call call, const char *previous = nullptr)
{
    alignas(16) char entry[96] = {};
    set_frame(entry, nullptr, 0, previous, 3);
    __asm__ volatile("" : : "r"(entry) : "memory");
    call(entry);
    __asm__ volatile("" : : "r"(entry) : "memory");
}

} // namespace fake

#endif
