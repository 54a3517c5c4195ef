// SPDX-License-Identifier: Apache-2.0
//
// oracle_runner PROGRAM: runs a program in the language of programs.py: a line is a thread's number, an operation and its
// arguments. The lines run one after the other, each in its thread: one atomic word says whose turn it is, and nothing else
// passes between the threads. Prints the threads' numbers in the system, then what the host reads, by line. Run by
// oracle.py.

#define _GNU_SOURCE
#include "tests/oracle/runner.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINES = 4096, THREADS = 16, TEXT = 256, YIELDS = 50, NAP_NS = 20000 };

static struct line lines[LINES];
static unsigned line_count, thread_count;
static atomic_uint turn, entered;

uint32_t runner_word(const char *text)
{
    return (uint32_t)strtoul(text, NULL, 10);
}

static const struct operation *operation_in(const struct operation *operations, const char *name)
{
    while (operations->name && strcmp(operations->name, name) != 0)
        operations++;
    return operations->name ? operations : NULL;
}

static const struct operation *operation_find(const char *name)
{
    const struct operation *found = operation_in(kernel_operations, name);
    return found ? found : operation_in(other_operations, name);
}

static void parse(char *text)
{
    struct line *line = &lines[line_count];
    char *rest = text, *word;
    if (line_count == LINES)
        runner_stop("too many lines", text);
    line->thread = (unsigned)strtoul(strtok_r(text, " \n", &rest), NULL, 10);
    word = strtok_r(NULL, " \n", &rest);
    line->operation = word ? operation_find(word) : NULL;
    if (!line->operation || line->thread >= THREADS)
        runner_stop("not an operation", word ? word : text);
    while ((word = strtok_r(NULL, " \n", &rest)) && line->count < ARGUMENTS)
        line->arguments[line->count++] = strdup(word);
    if (line->count != line->operation->arguments)
        runner_stop("wrong number of arguments", line->operation->name);
    line->index = line_count++;
    if (line->thread >= thread_count)
        thread_count = line->thread + 1;
}

static void load(const char *path)
{
    char text[TEXT];
    FILE *file = fopen(path, "r");
    if (!file)
        runner_stop("cannot read", path);
    while (fgets(text, sizeof text, file))
        if (text[0] != '#' && text[0] != '\n')
            parse(text);
    fclose(file);
}

static void await(unsigned index)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    for (unsigned i = 0; atomic_load_explicit(&turn, memory_order_acquire) != index; i++)
        if (i < YIELDS)
            sched_yield();
        else
            nanosleep(&nap, NULL);
}

static void *thread(void *number)
{
    unsigned self = (unsigned)(uintptr_t)number;
    world_enter();
    printf("thread %u %d\n", self, (int)gettid());
    atomic_fetch_add(&entered, 1);
    for (unsigned i = 0; i < line_count; i++) {
        if (lines[i].thread != self)
            continue;
        await(i);
        lines[i].operation->run(&lines[i]);
        atomic_store_explicit(&turn, i + 1, memory_order_release);
    }
    return NULL;
}

// One after the other: each says which thread of the system it is.
static void start(pthread_t *id, unsigned number)
{
    pthread_create(id, NULL, thread, (void *)(uintptr_t)number);
    while (atomic_load(&entered) <= number)
        sched_yield();
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc != 2)
        runner_stop("wanted", "one program");
    load(argv[1]);
    world_make();
    for (unsigned i = 0; i < thread_count; i++)
        start(&threads[i], i);
    for (unsigned i = 0; i < thread_count; i++)
        pthread_join(threads[i], NULL);
    CU(cuCtxSynchronize());
    return 0;
}
