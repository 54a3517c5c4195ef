/* SPDX-License-Identifier: Apache-2.0
 *
 * What <string.h> has and the shim uses, for the shim alone: hidden, so that whatever the library and the analysis in it
 * call, or the compiler makes of an assignment, stays in the library. The program's own such functions may be a
 * sanitizer's. These are not ready while the loader starts, know nothing of the shim's locks (TSan would report a race),
 * and take memory that code without instrumentation wrote for never written (MSan would end the program).
 *
 * Must not call anything else. Compiled without the knowledge of what these names mean, or the compiler would make a call
 * of memcpy out of its own loop. None of them is called where speed counts: short copies of known size are no calls.
 */
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

/* Sizes up to these are copied in words, then the processor's own way is faster. */
enum { WORD = sizeof(uint64_t), WORDS_MOST = 256 };

static uint64_t load(const unsigned char *at)
{
    uint64_t word;
    __builtin_memcpy(&word, at, WORD);
    return word;
}

static void store(unsigned char *at, uint64_t word)
{
    __builtin_memcpy(at, &word, WORD);
}

static void copy_up(unsigned char *to, const unsigned char *from, size_t size)
{
#if defined(__x86_64__)
    if (size > WORDS_MOST) {
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
        return;
    }
#endif
    for (; size >= WORD; size -= WORD, to += WORD, from += WORD)
        store(to, load(from));
    while (size--)
        *to++ = *from++;
}

static void copy_down(unsigned char *to, const unsigned char *from, size_t size)
{
    for (; size >= WORD; size -= WORD)
        store(to + size - WORD, load(from + size - WORD));
    while (size--)
        to[size] = from[size];
}

void *memmove(void *to, const void *from, size_t size)
{
    if ((uintptr_t)to - (uintptr_t)from >= size)
        copy_up(to, from, size);
    else
        copy_down(to, from, size);
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    copy_up(to, from, size);
    return to;
}

void *memset(void *to, int byte, size_t size)
{
    unsigned char *at = to;
    uint64_t word = (unsigned char)byte * UINT64_C(0x0101010101010101);
#if defined(__x86_64__)
    if (size > WORDS_MOST) {
        __asm__ volatile("rep stosb" : "+D"(at), "+c"(size) : "a"(byte) : "memory");
        return to;
    }
#endif
    for (; size >= WORD; size -= WORD, at += WORD)
        store(at, word);
    while (size--)
        *at++ = (unsigned char)byte;
    return to;
}

int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = a, *y = b;
    for (; size >= WORD && load(x) == load(y); size -= WORD, x += WORD, y += WORD)
        ;
    for (; size; size--, x++, y++) {
        if (*x != *y)
            return *x - *y;
    }
    return 0;
}

void *memchr(const void *in, int byte, size_t size)
{
    const unsigned char *at = in;
    for (; size; size--, at++) {
        if (*at == (unsigned char)byte)
            return (void *)(uintptr_t)at;
    }
    return NULL;
}

void *memmem(const void *in, size_t size, const void *wanted, size_t length)
{
    const char *at = in, *first = wanted;
    if (!length)
        return (void *)(uintptr_t)in;
    while (size >= length && (at = memchr(in, *first, size - length + 1))) {
        if (memcmp(at, wanted, length) == 0)
            return (void *)(uintptr_t)at;
        size -= (size_t)(at + 1 - (const char *)in);
        in = at + 1;
    }
    return NULL;
}

size_t strlen(const char *text)
{
    const char *end = text;
    while (*end)
        end++;
    return (size_t)(end - text);
}

size_t strnlen(const char *text, size_t most)
{
    size_t length = 0;
    while (length < most && text[length])
        length++;
    return length;
}

int strncmp(const char *a, const char *b, size_t most)
{
    for (; most; most--, a++, b++) {
        if (*a != *b || !*a)
            return (unsigned char)*a - (unsigned char)*b;
    }
    return 0;
}

int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

char *strchr(const char *text, int byte)
{
    for (; *text != (char)byte; text++) {
        if (!*text)
            return NULL;
    }
    return (char *)(uintptr_t)text;
}

char *strrchr(const char *text, int byte)
{
    const char *found = NULL;
    do
        found = *text == (char)byte ? text : found;
    while (*text++);
    return (char *)(uintptr_t)found;
}

size_t strcspn(const char *text, const char *stops)
{
    size_t length = 0;
    while (text[length] && !strchr(stops, text[length]))
        length++;
    return length;
}

size_t strspn(const char *text, const char *these)
{
    size_t length = 0;
    while (text[length] && strchr(these, text[length]))
        length++;
    return length;
}

char *strpbrk(const char *text, const char *stops)
{
    text += strcspn(text, stops);
    return *text ? (char *)(uintptr_t)text : NULL;
}

char *strstr(const char *text, const char *wanted)
{
    return memmem(text, strlen(text), wanted, strlen(wanted));
}

char *strcat(char *restrict to, const char *restrict from)
{
    memcpy(to + strlen(to), from, strlen(from) + 1);
    return to;
}

char *strncpy(char *restrict to, const char *restrict from, size_t size)
{
    size_t length = strnlen(from, size);
    memcpy(to, from, length);
    memset(to + length, 0, size - length);
    return to;
}
