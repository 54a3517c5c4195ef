// SPDX-License-Identifier: Apache-2.0
//
// Ways through memory: tables, tables of tables, lists, mailboxes, and variables of the kernel's own module. Listed in
// pointers.h, used by the rows.

#include "tests/apps/pointers/pointers.h"

static void pass_target(struct scene *s, struct arguments *arguments)
{
    pass_64(arguments, s->target);
}

static void pass_table(struct scene *s, struct arguments *arguments)
{
    pass_64(arguments, s->table);
    pass_32(arguments, (uint32_t)s->entry);
}

static void pass_table_only(struct scene *s, struct arguments *arguments)
{
    pass_64(arguments, s->table);
}

static void pass_entry(struct scene *s, struct arguments *arguments)
{
    pass_32(arguments, (uint32_t)s->entry);
}

static void pass_nothing(struct scene *s, struct arguments *arguments)
{
    (void)s;
    (void)arguments;
}

// The plain way, and a kernel that leaves a pointer anywhere.
static const char put[] = ".visible .entry put(.param .u64 at, .param .u64 value)\n{\n.reg .b64 %rd<4>;\n"
                          "ld.param.u64 %rd1, [at];\nld.param.u64 %rd2, [value];\nst.u64 [%rd1], %rd2;\nret;\n}\n";
const struct way way_plain = {
    .globals = put,
    .parameters = ".param .u64 p, ",
    .code = "ld.param.u64 %rd1, [p];\n",
    .pass = pass_target,
};

const struct way way_plain_atomic = {
    .parameters = ".param .u64 p, ",
    .code = "ld.param.u64 %rd1, [p];\ncvta.to.global.u64 %rd1, %rd1;\n",
    .pass = pass_target,
    .body = BODY_ATOMIC,
};

#define ENTRY_OF_TABLE \
    "ld.param.u64 %rd2, [table];\nld.param.u32 %r1, [entry];\nmul.wide.u32 %rd3, %r1, 8;\nadd.u64 %rd2, %rd2, %rd3;\n"

const struct way way_table = {
    .parameters = ".param .u64 table, .param .u32 entry, ",
    .code = ENTRY_OF_TABLE "ld.u64 %rd1, [%rd2];\n",
    .pass = pass_table,
};

const struct way way_table_atomic = {
    .parameters = ".param .u64 table, .param .u32 entry, ",
    .code = ENTRY_OF_TABLE "ld.u64 %rd1, [%rd2];\ncvta.to.global.u64 %rd1, %rd1;\n",
    .pass = pass_table,
    .body = BODY_ATOMIC,
};

// The table's entry is the address of another entry.
const struct way way_tables = {
    .parameters = ".param .u64 table, .param .u32 entry, ",
    .code = ENTRY_OF_TABLE "ld.u64 %rd2, [%rd2];\nld.u64 %rd1, [%rd2];\n",
    .pass = pass_table,
};

// Nodes begin with the address of the next one; behind the third is the memory.
const struct way way_list = {
    .parameters = ".param .u64 first, ",
    .code = "ld.param.u64 %rd1, [first];\nmov.u32 %r1, 0;\n"
            "FOLLOW:\nld.u64 %rd1, [%rd1];\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 3;\n@%p1 bra FOLLOW;\n",
    .pass = pass_table_only,
};

// Waits for the pointer, 10 seconds at most.
const struct way way_mailbox = {
    .parameters = ".param .u64 box, ",
    .code = "ld.param.u64 %rd2, [box];\nmov.u64 %rd3, %globaltimer;\n"
            "LOOK:\nld.volatile.u64 %rd1, [%rd2];\nsetp.ne.u64 %p1, %rd1, 0;\n@%p1 bra FOUND;\n"
            "mov.u64 %rd4, %globaltimer;\nsub.u64 %rd4, %rd4, %rd3;\nsetp.gt.u64 %p1, %rd4, 10000000000;\n"
            "@%p1 bra DONE;\nnanosleep.u32 1000;\nbra LOOK;\nFOUND:\n",
    .pass = pass_table_only,
};

// ---- variables ----

static const char pointer_variable[] = ".visible .global .align 8 .u64 pointer;\n"
                                       ".visible .entry set_pointer(.param .u64 value)\n{\n.reg .b64 %rd<4>;\n"
                                       "ld.param.u64 %rd1, [value];\nst.global.u64 [pointer], %rd1;\nret;\n}\n";
static const char pointer_constant[] = ".visible .const .align 8 .u64 pointer;\n";

const struct way way_variable = {
    .globals = pointer_variable,
    .parameters = "",
    .code = "ld.global.u64 %rd1, [pointer];\n",
    .pass = pass_nothing,
};

const struct way way_constant = {
    .globals = pointer_constant,
    .parameters = "",
    .code = "ld.const.u64 %rd1, [pointer];\n",
    .pass = pass_nothing,
};

// The variable has an address 4096 bytes before the memory.
const struct way way_variable_behind = {
    .globals = pointer_variable,
    .parameters = "",
    .code = "ld.global.u64 %rd1, [pointer];\nadd.u64 %rd1, %rd1, 4096;\n",
    .pass = pass_nothing,
};

const struct way way_constant_behind = {
    .globals = pointer_constant,
    .parameters = "",
    .code = "ld.const.u64 %rd1, [pointer];\nadd.u64 %rd1, %rd1, 4096;\n",
    .pass = pass_nothing,
};

const struct way way_variable_table = {
    .globals = ".visible .global .align 8 .u64 pointer[64];\n",
    .parameters = ".param .u32 entry, ",
    .code = "ld.param.u32 %r1, [entry];\nmul.wide.u32 %rd2, %r1, 8;\nmov.u64 %rd3, pointer;\n"
            "add.u64 %rd2, %rd3, %rd2;\nld.global.u64 %rd1, [%rd2];\n",
    .pass = pass_entry,
};

const struct way way_constant_table = {
    .globals = ".visible .const .align 8 .u64 pointer[64];\n",
    .parameters = ".param .u32 entry, ",
    .code = "ld.param.u32 %r1, [entry];\nmul.wide.u32 %rd2, %r1, 8;\nmov.u64 %rd3, pointer;\n"
            "add.u64 %rd2, %rd3, %rd2;\nld.const.u64 %rd1, [%rd2];\n",
    .pass = pass_entry,
};

const struct way way_no_parameters = {
    .globals = pointer_variable,
    .code = "ld.global.u64 %rd1, [pointer];\n",
    .pass = pass_nothing,
    .no_parameters = 1,
};

// The memory is a variable itself.
const struct way way_own_words = {
    .globals = ".visible .global .align 8 .u32 own_words[64];\n",
    .code = "mov.u64 %rd1, own_words;\ncvta.global.u64 %rd1, %rd1;\n",
    .pass = pass_nothing,
    .no_parameters = 1,
};
