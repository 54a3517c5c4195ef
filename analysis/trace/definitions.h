/* SPDX-License-Identifier: Apache-2.0
 *
 * What a trace says about itself: names, clocks, threads, objects, stacks, contexts, streams, kernels. Filled by the reader
 * before any call is looked at, read-only afterwards. All texts are cleaned (text_clean) and owned by the tables.
 */
#ifndef PTDS_ANALYSIS_TRACE_DEFINITIONS_H
#define PTDS_ANALYSIS_TRACE_DEFINITIONS_H

#include "analysis/base/id_map.h"
#include "analysis/base/table.h"
#include "analysis/trace/kernel_facts.h"
#include "interpose/trace/format.h"

#ifdef __cplusplus
extern "C" {
#endif

struct string_def {
    uint32_t id, role;
    char *text;
};

struct api_def {
    uint32_t api, twin, class_;
    char *text;
};

struct setting_def {
    uint32_t kind;
    char *text; /* name=value */
};

struct clock_def {
    uint64_t ticks, monotonic, realtime;
};

struct thread_def {
    uint64_t first, ended; /* ticks; ended UINT64_MAX: not seen to end */
    uint32_t id, tid;
    bool drivers; /* the driver's own: it ran host functions and made no call */
    char *text;   /* may be NULL */
};

struct object_def {
    uint64_t base, end, bias;
    uint32_t id, build_id_size;
    uint8_t build_id[20];
    char *text;
};

struct stack_def {
    uint32_t id, count;
    uint64_t *pc;
};

/* A place in an interpreter's source. */
struct source_def {
    uint32_t id, file, function, line, first;
};

struct context_def {
    uint64_t handle;
    uint32_t uid, kind;
    int32_t device;
};

struct stream_def {
    uint64_t handle, ended; /* ended: ticks, UINT64_MAX if not seen */
    uint32_t uid, context, kind, thread, stack;
    int32_t priority;
};

struct kernel_def {
    uint64_t handle;
    uint32_t uid, name, params;
    uint32_t variables; /* of its module, as in KERNEL */
    uint32_t *layout;   /* of each parameter offset << 16 | size; NULL if not recorded or not for all */
};

struct device_base_def {
    uint64_t earliest, latest; /* ticks */
    uint32_t id, context, source;
};

/* An allocation whose call is not in the trace any more. */
struct memory_def {
    uint64_t ticks, address, bytes;
    uint32_t uid, kind, part_of, same_as, context;
};

struct process_def {
    uint64_t ticks;
    uint32_t what, pid;
};

struct untabled_def {
    uint32_t handed, version, calls;
    char *text;
};

struct bypass_def {
    uint32_t what, functions;
    char *text;
};

struct definitions {
    TABLE_OF(struct string_def) strings;
    TABLE_OF(struct api_def) apis;
    TABLE_OF(struct setting_def) settings;
    TABLE_OF(struct clock_def) clocks; /* the first and the last only */
    TABLE_OF(struct thread_def) threads;
    TABLE_OF(struct object_def) objects;
    TABLE_OF(struct stack_def) stacks;
    TABLE_OF(struct source_def) sources;
    TABLE_OF(struct context_def) contexts;
    TABLE_OF(struct stream_def) streams;
    TABLE_OF(struct kernel_def) kernels;
    TABLE_OF(struct kernel_facts) kernel_facts;
    TABLE_OF(struct process_def) processes;
    TABLE_OF(struct untabled_def) untabled;
    TABLE_OF(struct bypass_def) bypasses;
    TABLE_OF(struct device_base_def) device_bases;
    TABLE_OF(struct memory_def) memories; /* by ticks, once all is read */
    struct id_map by_id[32];              /* by record kind: id -> position in its table */
    struct kept_bytes *kept;              /* texts, stacks and layouts */
    bool out_of_memory;
};

/* Looks an id up; NULL where the trace does not define it. The result lives as long as the definitions. */
const char *definitions_string(const struct definitions *defs, uint32_t id);
const struct api_def *definitions_api(const struct definitions *defs, uint32_t api);
/* "cuLaunchKernel"; "(unnamed call)" where the trace does not say. */
const char *definitions_api_name(const struct definitions *defs, uint32_t api);
const struct thread_def *definitions_thread(const struct definitions *defs, uint32_t id);
const struct stack_def *definitions_stack(const struct definitions *defs, uint32_t id);
const struct context_def *definitions_context(const struct definitions *defs, uint32_t uid);
const struct stream_def *definitions_stream(const struct definitions *defs, uint32_t uid);
static inline const struct kernel_def *definitions_kernel(const struct definitions *defs, uint32_t uid)
{
    uint32_t at;
    return id_map_get(&defs->by_id[PTDS_REC_KERNEL], uid, &at) ? &defs->kernels.items[at] : NULL;
}
/* What its code says; NULL: the trace does not tell. */
static inline const struct kernel_facts *definitions_kernel_facts(const struct definitions *defs, uint32_t uid)
{
    uint32_t at;
    return id_map_get(&defs->by_id[PTDS_REC_KERNEL_FACTS], uid, &at) ? &defs->kernel_facts.items[at] : NULL;
}
/* Whether a kernel may touch memory that no argument of its names. */
static inline bool definitions_kernel_hides(const struct definitions *defs, uint32_t uid)
{
    const struct kernel_def *kernel = definitions_kernel(defs, uid);
    const struct kernel_facts *facts = definitions_kernel_facts(defs, uid);
    return kernel == NULL || kernel->params == UINT32_MAX || (facts != NULL && !kernel_facts_are_known(facts));
}

const struct device_base_def *definitions_device_base(const struct definitions *defs, uint32_t id);

/* The place in an interpreter's source that a frame is; NULL: it is code. */
const struct source_def *definitions_source(const struct definitions *defs, uint64_t pc);

/* The value of a setting "name=value"; NULL if there is none. */
const char *definitions_setting(const struct definitions *defs, const char *name);

/* Takes one record that is not a CALL. `fixed` is the record's fixed part, zero-filled to the size of its struct; `tail`
 * what follows, of tail_bytes. False: this kind defines nothing. Sets out_of_memory where that happened. */
bool definitions_add(struct definitions *defs, uint16_t kind, const void *fixed, const void *tail, size_t tail_bytes);

/* When all records have been taken: sorts what is looked up by time, and leaves the shim's own frames out of all stacks. */
void definitions_finish(struct definitions *defs);

void definitions_free(struct definitions *defs);

#ifdef __cplusplus
}
#endif
#endif
