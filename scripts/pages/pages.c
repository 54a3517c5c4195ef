/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the reference pages that the tables make: `pages api|env|format|policies`. Run by scripts/pages/update and by the
 * test that the checked-in pages are what the tables say.
 */
#include <stdio.h>
#include <string.h>

#include "interpose/api/api.h"
#include "interpose/env/env.h"
#include "interpose/policy/policy.h"
#include "interpose/trace/format.h"

static const char *const class_names[] = {
#define X(name) #name,
    PTDS_CLASSES(X)
#undef X
};

static const char *const route_names[] = {
    [ROUTE_NO_STREAM] = "none",
    [ROUTE_STREAM] = "argument",
    [ROUTE_STREAM2] = "two arguments",
    [ROUTE_STREAM_AT] = "behind a pointer",
    [ROUTE_CONFIG] = "in the launch config",
    [ROUTE_UPLOAD] = "in the parameters",
    [ROUTE_KEEP] = "argument; 0 stays 0, it is refused",
    [ROUTE_KEEP_IF] = "argument; 0 stays 0 where it is refused",
    [ROUTE_MULTI] = "in the parameters; never replaced",
    [ROUTE_LEGACY] = "always legacy; passed through",
    [ROUTE_IMPLICIT] = "implicit",
};

static const char *const told_names[] = {
    [TOLD_NO] = "",
    [TOLD_WAITS] = "it waits itself",
    [TOLD_SETTLE_FIRST] = "wait first",
    [TOLD_SETTLE_MEMORY] = "wait for the memory",
    [TOLD_SETTLE_ASKED] = "wait for what it asks about",
    [TOLD_SETTLE_ON_FAILURE] = "wait where memory lacks",
};

static void version(uint32_t cuda)
{
    printf("%u.%u", cuda / 1000, cuda % 1000 / 10);
}

static void print_api(void)
{
    printf(
        "# Driver functions that libptds knows\n\nMade from `api.def` by `scripts/pages/update`. Every other function "
        "of the "
        "driver is passed through untouched.\n\nThe last column: could the host tell by the call that work is pending "
        "which "
        "it was promised to be done? Empty: no. Else what is done about that: the driver waits for it in there; the host "
        "waits for all such work before; for that on the memory which goes or is given to others; for the event or stream "
        "that is asked about; or for all where the driver is out of memory, and the call is made once more.\n\n"
        "| function | since | twin | stream | class | may block | pending work shows |\n|---|---|---|---|---|---|---|\n");
    for (int id = 0; id < API_COUNT; id++) {
        const struct api_row *row = &api_rows[id];
        printf("| `%s` | ", row->symbol);
        version(row->since);
        printf(" | %s", row->twin_symbol ? row->twin_symbol + strlen(row->symbol) : "");
        if (row->twin_symbol && row->twin_since != row->since) {
            printf(" since ");
            version(row->twin_since);
        }
        printf(" | %s | %s | %s | %s |\n", route_names[row->route], class_names[row->class_], row->timed ? "yes" : "",
               told_names[row->told]);
    }
}

static void print_env(void)
{
    printf(
        "# Environment variables\n\nMade from `env.def` by `scripts/pages/update`. A value outside its list is said in one "
        "line, and the program then runs untouched. They are read at the first CUDA call; one that the program has removed "
        "by then is what it was when the process began.\n\n| variable | default | allowed | meaning "
        "|\n|---|---|---|---|\n");
#define ENV(VARIABLE, field, type, initial, allowed, doc) \
    printf("| `%s` | %s | %s | %s |\n", #VARIABLE, *initial ? "`" initial "`" : "unset", allowed, doc);
#include "interpose/env/env.def"
}

static void print_format(void)
{
    printf(
        "# The trace format, version %u\n\nMade from `records.def` by `scripts/pages/update`; `format.h` has the enums and "
        "what each operation's words are.\n\nA trace is a header of %u bytes, then chunks of %u bytes: definitions, one "
        "thread's calls, or one thread's exact counts. Records are little-endian, a multiple of 8 bytes, and start with "
        "`u16 kind, u16 size, u32 0`. A reader skips records that it does not know and ignores fields past those that it "
        "knows. *Ticks* are the trace's own clock (`header.clock`); CLOCK records tie it to CLOCK_MONOTONIC and "
        "CLOCK_REALTIME. A chunk of counts also says how much of the default stream's work was kept, and which call its "
        "thread is "
        "in: `struct ptds_default_count`, `struct ptds_now`.\n",
        PTDS_TRACE_VERSION, PTDS_HEADER_SIZE, PTDS_CHUNK_SIZE);
#define REC(NAME, id, doc, fields) \
    printf("\n## %s (%d)\n\n%s\n\n| field | type | meaning |\n|---|---|---|\n", #NAME, id, doc); \
    fields
#define F(type, name, doc) printf("| %s | %s | %s |\n", #name, #type, doc);
#define TAIL(type, name, doc) printf("| %s | %s, the rest | %s |\n", #name, #type, doc);
#include "interpose/trace/records.def"
}

static void print_policies(void)
{
    static const struct policy *const all[] = {
#define POLICY(identifier, word, then) &policy_##identifier,
#include "interpose/env/policies.def"
    };
    printf("# Policies\n\nMade from the files of this folder by `scripts/pages/update`.\n\n| `PTDS_POLICY` | what it does "
           "| what "
           "order it gives up |\n|---|---|---|\n");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        printf("| `%s` | %s | %s |\n", all[i]->name, all[i]->sentence, all[i]->gives_up);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } pages[] = {{"api", print_api}, {"env", print_env}, {"format", print_format}, {"policies", print_policies}};
    for (size_t i = 0; argc == 2 && i < sizeof pages / sizeof *pages; i++) {
        if (strcmp(argv[1], pages[i].name) == 0) {
            pages[i].print();
            return 0;
        }
    }
    fprintf(stderr, "usage: pages api|env|format|policies\n");
    return 2;
}
