/* SPDX-License-Identifier: Apache-2.0
 *
 * What the driver-API programs of this folder share: a context with three kernels in it, gates,
 * threads that start together, checksums. The programs are ordinary CUDA programs: nothing here
 * knows of libptds.
 */
#ifndef APPS_APP_H
#define APPS_APP_H

#include <cuda.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Any other result than success ends the program with a line that begins with WRONG. */
#define CU(call) app_must((call), #call, __FILE__, __LINE__)

struct app {
    CUdevice device;
    CUcontext context;
    CUmodule module;
    CUfunction spin;    /* spin_ns(u64 ns) */
    CUfunction add_one; /* add_one(u64 words, u32 count) */
    CUfunction hold;    /* gate(u64 flag): runs until the word is not 0 */
};

/* Device 0's primary context made current, kernels loaded and run once, so that nothing is loaded
 * lazily later. */
void app_start(struct app *app);

/* In every further thread, before its first call. */
void app_thread(const struct app *app);

void app_must(CUresult result, const char *call, const char *file, int line);

CUresult app_spin(const struct app *app, CUstream stream, uint64_t ns);
CUresult app_add_one(const struct app *app, CUstream stream, CUdeviceptr words, uint32_t count);

/* Runs body in `count` threads, which start together; returns the milliseconds until the last one
 * ended. */
double app_threads(const struct app *app, unsigned count, void (*body)(unsigned index, void *shared), void *shared);

double app_now_ms(void);
void app_sleep_ms(unsigned ms);

/* The number in argv[index], or the default where there is none. */
unsigned app_number(int argc, char **argv, int index, unsigned fallback);

/* FNV-1a; start with APP_DIGEST. */
#define APP_DIGEST 0xcbf29ce484222325ull
uint64_t app_digest(uint64_t digest, const void *bytes, size_t size);

/* The last two lines of every program, and its exit status. */
int app_finish(int right, uint64_t digest, double ms);

/* A gate holds a stream back until another host thread opens it, `ms` after it was shut: whatever
 * fails to wait for the stream runs before the gate opens, every time, and shows in the results. */
struct gate {
    uint32_t *flag;
    CUdeviceptr address;
    pthread_t opener;
    unsigned ms;
    int shut;
};

void gate_make(struct gate *gate, unsigned ms);
/* Shuts the gate without launching anything: for a kernel that stands in a graph. */
void gate_arm(struct gate *gate);
CUresult gate_launch(const struct app *app, const struct gate *gate, CUstream stream);
/* Both. */
void gate_shut(const struct app *app, struct gate *gate, CUstream stream);
/* Returns when the gate is open. */
void gate_join(struct gate *gate);

#endif
