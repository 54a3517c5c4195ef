/* SPDX-License-Identifier: Apache-2.0
 *
 * Names for code addresses, as whoever writes a report asks for them. Who has them is symbolizer.h, for the command; the
 * shim has none.
 */
#ifndef PTDS_ANALYSIS_SYMBOLS_NAMER_H
#define PTDS_ANALYSIS_SYMBOLS_NAMER_H

#include "analysis/trace/definitions.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One function that a code address is in, and where in the source that is. */
struct site_place {
    char function[256]; /* demangled; empty: unknown */
    char file[512];     /* empty: unknown */
    int line;           /* 0: unknown */
    bool inlined;       /* into the place that follows */
};

/* Puts names to code addresses, which are return addresses. `object` is NULL for code outside of all objects, which only a
 * just-in-time compiler's own list of names can tell. All are called on the thread that writes the report. */
struct site_namer {
    /* `symbol` gets a terminated text ("function+0x12 (file.c:3)" or so), or why there is no name. Whether it wrote one. */
    bool (*name)(struct site_namer *namer, const struct object_def *object, uint64_t pc, char *symbol, size_t room);
    void *data;
    /* The functions at an address, the innermost inlined one first; how many, 0 unknown. May be NULL. */
    size_t (*places)(struct site_namer *namer, const struct object_def *object, uint64_t pc, struct site_place *out,
                     size_t most);
    /* Why an object's names are not to be had ("changed since the trace"); NULL if they are. May be NULL. */
    const char *(*trouble)(struct site_namer *namer, const struct object_def *object);
};

/* Names of any frame, also of one in the source of an interpreter, whose names are in the trace. namer may be NULL. */
size_t namer_places(struct site_namer *namer, const struct definitions *defs, uint64_t pc, struct site_place *out,
                    size_t most);
bool namer_name(struct site_namer *namer, const struct definitions *defs, uint64_t pc, char *out, size_t room);

#ifdef __cplusplus
}
#endif
#endif
