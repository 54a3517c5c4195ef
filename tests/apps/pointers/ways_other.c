// SPDX-License-Identifier: Apache-2.0
//
// Ways by functions that are called by address, by the device's heap, by texture and surface objects. Listed in pointers.h,
// used by the rows.

#include "tests/apps/pointers/pointers.h"

static void pass_second(struct scene *s, struct arguments *arguments)
{
    (void)s;
    pass_32(arguments, 1);
}

// The code that is called uses a variable; nothing in the kernel names it.
const struct way way_function = {
    .globals = ".visible .global .align 8 .u64 other;\n.visible .global .align 8 .u64 pointer;\n"
               ".func (.param .b64 result) by_other()\n{\n.reg .b64 %rd<2>;\n"
               "ld.global.u64 %rd1, [other];\nst.param.b64 [result], %rd1;\nret;\n}\n"
               ".func (.param .b64 result) by_pointer()\n{\n.reg .b64 %rd<2>;\n"
               "ld.global.u64 %rd1, [pointer];\nst.param.b64 [result], %rd1;\nret;\n}\n"
               ".visible .global .align 8 .u64 functions[2];\n"
               ".visible .entry set_functions()\n{\n.reg .b64 %rd<4>;\n"
               "mov.u64 %rd1, by_other;\nmov.u64 %rd2, by_pointer;\n"
               "st.global.u64 [functions], %rd1;\nst.global.u64 [functions+8], %rd2;\nret;\n}\n",
    .parameters = ".param .u32 which, ",
    .code = "ld.param.u32 %r1, [which];\nmul.wide.u32 %rd2, %r1, 8;\nmov.u64 %rd3, functions;\nadd.u64 %rd2, %rd3, %rd2;\n"
            "ld.global.u64 %rd2, [%rd2];\n"
            "{\n.param .b64 result;\nKIND: .callprototype (.param .b64 _) _ ();\n"
            "call (result), %rd2, (), KIND;\nld.param.b64 %rd1, [result];\n}\n",
    .pass = pass_second,
};

static void pass_nothing(struct scene *s, struct arguments *arguments)
{
    (void)s;
    (void)arguments;
}

// The module that takes the memory from the heap and keeps it. Another one gets at it by a table: the variable.
const struct way way_heap = {
    .globals = ".extern .func (.param .b64 result) malloc(.param .b64 size);\n"
               ".visible .global .align 8 .u64 pointer;\n"
               ".visible .entry take(.param .u32 value, .param .u32 count)\n{\n"
               ".reg .pred %p<4>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
               "{\n.param .b64 size;\n.param .b64 result;\nst.param.b64 [size], 256;\ncall (result), malloc, (size);\n"
               "ld.param.b64 %rd1, [result];\n}\n"
               "st.global.u64 [pointer], %rd1;\nld.param.u32 %r1, [value];\nld.param.u32 %r2, [count];\nmov.u32 %r3, 0;\n"
               "NEXT:\nsetp.ge.u32 %p1, %r3, %r2;\n@%p1 bra DONE;\nmul.wide.u32 %rd2, %r3, 4;\nadd.u64 %rd2, %rd1, %rd2;\n"
               "st.u32 [%rd2], %r1;\nadd.u32 %r3, %r3, 1;\nbra NEXT;\nDONE:\nret;\n}\n",
    .parameters = "",
    .code = "ld.global.u64 %rd1, [pointer];\n",
    .pass = pass_nothing,
};

static void pass_texture(struct scene *s, struct arguments *arguments)
{
    pass_64(arguments, s->texture);
}

const struct way way_texture = {
    .parameters = ".param .u64 texture, ",
    .code = "ld.param.u64 %rd1, [texture];\n",
    .pass = pass_texture,
    .body = BODY_TEXTURE,
};

const struct way way_texture_variable = {
    .globals = ".visible .global .align 8 .u64 pointer;\n",
    .parameters = "",
    .code = "ld.global.u64 %rd1, [pointer];\n",
    .pass = pass_nothing,
    .body = BODY_TEXTURE,
};

const struct way way_surface = {
    .parameters = ".param .u64 surface, ",
    .code = "ld.param.u64 %rd1, [surface];\n",
    .pass = pass_texture,
    .body = BODY_SURFACE,
};
