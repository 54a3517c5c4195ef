/* SPDX-License-Identifier: Apache-2.0
 *
 * Between libptds.so and libptds_cupti.so, which it loads where PTDS_DEVICE_TIMES=cupti asks for it: so that the shim
 * itself needs only libc. Both come from one build, so there are no versions but the size.
 */
#ifndef PTDS_CUPTI_H
#define PTDS_CUPTI_H

#include <stdint.h>

/* What the shim offers. Any thread. */
struct cupti_shim {
    uint32_t size; /* of this struct */
    uint64_t (*ticks)(void);
    /* A moment of CUPTI's clock lay between these ticks; the number to give with what counts from it, 0 none. */
    uint32_t (*base)(uint64_t earliest, uint64_t latest);
    /* An operation, by the id that its call was given, ran then: ns after the base, perhaps before it. */
    void (*operation)(uint64_t id, uint32_t base, int64_t start, int64_t end);
};

/* What an operation has on the device, where that is of one kind. */
enum cupti_work { WORK_OTHER, WORK_KERNEL, WORK_COPY, WORK_MEMSET };

/* What it gets. All on the thread that makes the call. */
struct cupti_tool {
    void (*ready)(void); /* before any call: the thread's next operation can be told from others */
    void (*operation)(uint64_t id, enum cupti_work work); /* before an operation's call; not one that is not recorded */
    void (*done)(void);                                   /* after an operation's call, recorded or not */
};

/* NULL, with *tool filled in; or why there will be no device times. */
typedef const char *(*cupti_start_function)(const struct cupti_shim *shim, struct cupti_tool *tool);

__attribute__((visibility("default"))) const char *ptds_cupti_start(const struct cupti_shim *shim, struct cupti_tool *tool);

#endif
