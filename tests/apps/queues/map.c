/* SPDX-License-Identifier: Apache-2.0
 *
 * Which streams wait when another one is blocked, which is to say: which share a hardware queue. Each stream in turn, or a
 * set of them, is blocked in each of the ways asked for; then all others get one small operation, and those whose word does
 * not appear are the ones that wait.
 */
#include "queues.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stream 0 is the one whose event the others wait for. */
static void holder(void)
{
    ask_for(0, hold);
    ask_for(0, record);
}

static void block(unsigned i, char mode)
{
    if (mode == 'R' || mode == 'D' || mode == 'E')
        ask_for(i, hold);
    if (mode == 'D')
        ask_for(i, mark);
    if (mode == 'E')
        ask_for(i, record);
    if (mode == 'W' || mode == 'K' || mode == 'C')
        ask_for(i, wait_event);
    if (mode == 'V')
        ask_for(i, wait_value);
    if (mode == 'F')
        ask_for(i, wait_host);
    if (mode == 'K' || mode == 'V' || mode == 'F')
        ask_for(i, mark);
    if (mode == 'C')
        ask_for(i, copy_mark);
}

static void touch(unsigned j, char operation)
{
    void (*body)(void *) = operation == 'c'   ? copy_mark
                           : operation == 'v' ? write_mark
                           : operation == 'g' ? graph_mark
                                              : mark;
    ask_for(j, body);
}

static unsigned arrived(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < stream_count; i++)
        count += marks[i] != 0;
    return count;
}

static void await_quiet(unsigned expected)
{
    unsigned before = 0;
    for (double since = now_ms(); arrived() < expected && now_ms() - since < QUIET_MS;) {
        if (arrived() != before) {
            before = arrived();
            since = now_ms();
        }
        sleep_ms(0.2);
    }
}

static void row(unsigned from, unsigned to, char mode, char operation)
{
    unsigned expected = 0;
    rearm();
    int waits = strchr("WKC", mode) != NULL;
    if (waits)
        holder();
    for (unsigned i = from; i <= to; i++)
        block(i, mode);
    for (unsigned j = 0; j < stream_count; j++) {
        if ((j >= from && j <= to) || (waits && j == 0))
            continue;
        touch(j, operation);
        expected++;
    }
    await_quiet(expected);
    if (arrived() < expected) {
        printf(from == to ? " %u>" : " %u-%u>", from, to);
        for (unsigned j = 0; j < stream_count; j++) {
            if (!((j >= from && j <= to) || (waits && j == 0)) && (!marks[j] || streams[j].stuck))
                printf("%u%s,", j, streams[j].stuck ? "S" : "");
        }
        printf(";");
    }
    release();
}

/* First uses in an order of their own: c as created, r in reverse, 7 in steps of seven, - none. */
static void first_uses(char order)
{
    rearm();
    for (unsigned i = 0; order != '-' && i < stream_count; i++) {
        unsigned at = order == 'r' ? stream_count - 1 - i : order == '7' ? i * 7 % stream_count : i;
        ask_for(at, mark);
    }
    release();
}

static void blockers(const char *block, char mode, char operation)
{
    unsigned from = 0, to = 0;
    int waits = strchr("WKC", mode) != NULL;
    if (strcmp(block, "each") != 0) {
        sscanf(block, "%u-%u", &from, &to);
        row(from, to, mode, operation);
        return;
    }
    for (unsigned i = waits ? 1 : 0; i < stream_count; i++)
        row(i, i, mode, operation);
}

void map_main(int argc, char **argv)
{
    const char *modes = option(argc, argv, "modes", "RDEWK"), *block = option(argc, argv, "block", "each");
    const char *drop = option(argc, argv, "drop", NULL);
    wants_graphs = strchr(option(argc, argv, "op", "k"), 'g') != NULL;
    begin();
    add_streams(option(argc, argv, "streams", "n16"));
    first_uses(*option(argc, argv, "used", "c"));
    if (drop) { /* so many are destroyed from the start, and as many made anew at the end */
        unsigned count = (unsigned)atoi(drop);
        for (unsigned i = 0; i < count; i++)
            CU(cuStreamDestroy(streams[i].stream));
        memmove(streams, streams + count, (stream_count - count) * sizeof *streams);
        stream_count -= count;
        for (unsigned i = 0; i < count; i++)
            add_stream('n');
    }
    for (; *modes; modes++) {
        for (const char *operation = option(argc, argv, "op", "k"); *operation; operation++) {
            printf(" | %c%c:", *modes, *operation);
            blockers(block, *modes, *operation);
            fflush(stdout);
        }
    }
}
