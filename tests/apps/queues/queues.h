/* SPDX-License-Identifier: Apache-2.0
 *
 * What the measuring program's files share: the kernels, the streams under test, and threads that call the driver for them,
 * so that a call that stays inside the driver is seen and not waited for.
 */
#ifndef APPS_QUEUES_H
#define APPS_QUEUES_H

#include <cuda.h>
#include <pthread.h>
#include <stdint.h>

#define CU(call) must((call), #call, __LINE__)

enum { STREAMS = 160, STUCK_MS = 300, QUIET_MS = 20, HOLD_MS = 4000 };

/* A thread that makes one call at a time for somebody else. */
struct caller {
    pthread_t thread;
    void (*body)(void *);
    void *argument;
    int asked, answered; /* counts */
};

/* A stream under test: made by the program (n non-blocking, b blocking, h non-blocking with the highest priority), the
 * legacy stream (0), or 0x2 of a thread of its own (t). */
struct tested {
    char kind;
    CUstream stream;
    struct caller *caller;
    uint32_t stuck;
};

extern CUcontext context;
extern struct tested streams[STREAMS];
extern unsigned stream_count;
extern int wants_graphs;                /* before begin */
extern volatile uint32_t *flag, *marks; /* pinned: what the holding kernels wait for, and a word for each stream */

void must(CUresult result, const char *call, int line);
double now_ms(void);
void sleep_ms(double ms);

void begin(void); /* context, kernels, pinned words */
void add_stream(char kind);
void add_streams(const char *spec); /* n40 or n8,t4,b2 */

struct caller *new_caller(void);
int ask(struct caller *caller, void (*body)(void *), void *argument, double ms); /* 0: it has not answered in time */
int ask_for(unsigned stream, void (*body)(void *));                              /* the same for a stream */

/* Bodies; the argument is a struct tested. */
void hold(void *tested); /* a kernel that runs until the flag is set, some seconds at most */
void mark(void *tested); /* a kernel that writes the stream's word */
void copy_mark(void *tested);
void write_mark(void *tested);
void graph_mark(void *tested);
void wait_value(void *tested);
void wait_host(void *tested);
void record(void *tested);
void wait_event(void *tested);
void release(void); /* sets the flag, and waits until all is done */
void rearm(void);

void map_main(int argc, char **argv);
void first_main(int argc, char **argv);
void memory_main(int argc, char **argv);
const char *option(int argc, char **argv, const char *name, const char *fallback);

#endif
