// SPDX-License-Identifier: Apache-2.0
//
// The text of a way's kernels. Both spin first, by one thread, and then look for their memory by the way's own code: until
// then a launch that was let through too early does no harm, and shows. Called by scene.c.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/apps/pointers/pointers.h"

enum { TEXT = 32768 };

static const char head[] = ".version 7.0\n.target sm_70\n.address_size 64\n";

static const char registers[] = ".reg .pred %p<8>;\n.reg .b16 %h<4>;\n.reg .b32 %r<32>;\n.reg .b64 %rd<40>;\n";

static const char spin[] = "mov.u64 %rd21, %globaltimer;\n"
                           "SPIN:\n"
                           "mov.u64 %rd22, %globaltimer;\n"
                           "sub.u64 %rd22, %rd22, %rd21;\n"
                           "setp.ge.u64 %p4, %rd22, %rd20;\n"
                           "@%p4 bra FIND;\n"
                           "nanosleep.u32 1000;\n"
                           "bra SPIN;\n"
                           "FIND:\n";

// What is done with each word: %rd24 its address, %r20 what is written or read, %rd26 where that goes.
#define SEEN "add.u64 %rd25, %rd26, %rd23;\nst.global.u32 [%rd25], %r20;\n"

static const char *write_word(enum body body)
{
    switch (body) {
    case BODY_ATOMIC: return "sub.u32 %r23, %r20, 1;\nred.global.add.u32 [%rd24], %r23;\n"; // OLD is 1
    case BODY_SURFACE: return "shl.b32 %r23, %r22, 2;\nsust.b.1d.b32.trap [%rd1, {%r23}], {%r20};\n";
    default: return "st.u32 [%rd24], %r20;\n";
    }
}

static const char *read_word(enum body body)
{
    switch (body) {
    case BODY_ATOMIC: return "atom.global.or.b32 %r20, [%rd24], 0;\n" SEEN;
    case BODY_TEXTURE: return "tex.1d.v4.u32.s32 {%r20, %r24, %r25, %r26}, [%rd1, {%r22}];\n" SEEN;
    case BODY_SURFACE: return "shl.b32 %r23, %r22, 2;\nsuld.b.1d.b32.trap {%r20}, [%rd1, {%r23}];\n" SEEN;
    default: return "ld.u32 %r20, [%rd24];\n" SEEN;
    }
}

static const char loop[] = "mov.u32 %r22, 0;\n"
                           "NEXT:\n"
                           "setp.ge.u32 %p5, %r22, %r21;\n"
                           "@%p5 bra DONE;\n"
                           "mul.wide.u32 %rd23, %r22, 4;\n"
                           "add.u64 %rd24, %rd1, %rd23;\n";
static const char loop_end[] = "add.u32 %r22, %r22, 1;\n"
                               "bra NEXT;\n"
                               "DONE:\n"
                               "ret;\n"
                               "}\n";

static void add(char *text, const char *more)
{
    size_t used = strlen(text);
    if (used + strlen(more) >= TEXT)
        abort();
    strcpy(text + used, more);
}

static void add_loop(char *text, const char *word)
{
    char body[1024];
    snprintf(body, sizeof body, "%s%s%s", loop, word, loop_end);
    add(text, body);
}

static void add_kernel(char *text, const struct way *way, const char *name, int writes)
{
    add(text, ".visible .entry ");
    add(text, name);
    add(text, "(");
    if (!way->no_parameters) {
        add(text, way->parameters);
        add(text, ".param .u64 ns, ");
        add(text, writes ? ".param .u32 value, .param .u32 count" : ".param .u64 seen, .param .u32 count");
    }
    add(text, ")\n{\n");
    add(text, registers);
    add(text, way->no_parameters ? "ld.global.u64 %rd20, [settings];\n" : "ld.param.u64 %rd20, [ns];\n");
    add(text, spin);
    add(text, way->code);
    add(text, way->no_parameters ? "ld.global.u32 %r21, [settings+16];\n" : "ld.param.u32 %r21, [count];\n");
    if (writes)
        add(text, way->no_parameters ? "ld.global.u32 %r20, [settings+8];\n" : "ld.param.u32 %r20, [value];\n");
    else
        add(text, way->no_parameters ? "ld.global.u64 %rd26, [settings+8];\n" : "ld.param.u64 %rd26, [seen];\n");
    add_loop(text, writes ? write_word(way->body) : read_word(way->body));
}

char *way_text(const struct way *way)
{
    char *text = malloc(TEXT);
    text[0] = 0;
    add(text, head);
    if (way->no_parameters)
        add(text, ".visible .global .align 8 .u64 settings[3];\n");
    if (way->globals)
        add(text, way->globals);
    if (way->body != BODY_TEXTURE)
        add_kernel(text, way, way->write_name ? way->write_name : "way_write", 1);
    add_kernel(text, way, way->read_name ? way->read_name : "way_read", 0);
    return text;
}
