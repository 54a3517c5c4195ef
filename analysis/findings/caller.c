/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the function that called CUDA. Called by identity.c, by compare/ and by the views. The names end up in files that
 * users keep, so nothing that a compiler or a loader makes up may be in them: no address, no offset, no mark of a
 * function's copy.
 */
#include "analysis/findings/caller.h"

#include <stdio.h>
#include <string.h>

#include "analysis/base/text.h"
#include "analysis/trace/frames.h"

/* In an interpreter's source the function is named with its file: many are called "main" or "<module>". */
static bool in_source(const struct definitions *defs, const struct stack_def *frames, struct caller *out)
{
    struct site_place place;
    uint32_t at = frames_shown(frames, frames->count);
    if (at == frames->count || definitions_source(defs, frames->pc[at]) == NULL)
        return false;
    namer_places(NULL, defs, frames->pc[at], &place, 1);
    snprintf(out->name, sizeof out->name, "%.180s (%.60s)", place.function, text_base(place.file));
    out->known = CALLER_NAMED;
    return true;
}

/* How the runtime's own functions begin, where it is a part of the program's object. */
static bool is_runtime(const char *function)
{
    static const char *const begins[] = {"cudart::", "libcudart_static_", "__cuda"};
    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(function, begins[i], strlen(begins[i])) == 0)
            return true;
    return strncmp(function, "cuda", 4) == 0 && function[4] >= 'A' && function[4] <= 'Z';
}

/* Compilers copy functions, and not the same ones each time: "f.constprop.0", "f(int) [clone .part.3]". */
static void drop_copy(char *function)
{
    static const char *const marks[] = {" [clone ", ".constprop.", ".part.", ".isra.", ".cold", ".lto_priv."};
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        char *mark = strstr(function, marks[i]);
        if (mark != NULL && mark != function)
            *mark = 0;
    }
}

static bool name_of(const struct definitions *defs, struct site_namer *namer, uint64_t pc, struct caller *out)
{
    struct site_place place;
    const struct object_def *object = frames_object_at(defs, pc);
    bool named = namer != NULL && namer->places != NULL && namer->places(namer, object, pc, &place, 1) != 0 &&
                 place.function[0] != 0;
    const char *path = object != NULL && object->text != NULL ? text_base(object->text) : "";
    snprintf(out->name, sizeof out->name, "%s", named ? place.function : path);
    if (named)
        drop_copy(out->name);
    out->known = named ? CALLER_NAMED : CALLER_OBJECT;
    return !named || !is_runtime(out->name);
}

/* __device_stub__Z4workPj(unsigned int*), __wrapper__device_stub_work<int>(...). */
static bool is_stub(const char *function)
{
    return strstr(function, "__device_stub_") != NULL;
}

/* The first frame that is not the runtime's, which is never the caller, even where nothing else is known; their count:
 * none. */
static uint32_t first_outside(const struct definitions *defs, struct site_namer *namer, const struct stack_def *frames,
                              bool stubs, struct caller *out)
{
    uint32_t at = 0;
    while (at < frames->count &&
           (frames_is_cuda(frames_object_at(defs, frames->pc[at])) || !name_of(defs, namer, frames->pc[at], out) ||
            (!stubs && out->known == CALLER_NAMED && is_stub(out->name))))
        at++;
    return at;
}

struct caller caller_of(const struct definitions *defs, struct site_namer *namer, uint32_t stack)
{
    struct caller caller = {.known = CALLER_UNKNOWN};
    const struct stack_def *frames = stack != 0 ? definitions_stack(defs, stack) : NULL;
    if (frames == NULL || frames->count == 0 || in_source(defs, frames, &caller) ||
        first_outside(defs, namer, frames, true, &caller) < frames->count)
        return caller;
    return (struct caller){.known = CALLER_UNKNOWN};
}

uint32_t caller_frame(const struct definitions *defs, struct site_namer *namer, const struct stack_def *frames)
{
    uint32_t at = frames_shown(frames, frames->count);
    struct caller caller;
    if (at == frames->count)
        at = first_outside(defs, namer, frames, false, &caller);
    return at < frames->count ? at : frames_caller(defs, frames);
}
