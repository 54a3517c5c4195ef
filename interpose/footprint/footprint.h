/* SPDX-License-Identifier: Apache-2.0
 *
 * What a call reads and writes, found in one place: for the recorder, for policies that must know before the call, and for
 * nothing else. The functions are api.def's `before` column; they run before the call and do nothing unless C->footprint is
 * set. Words are laid out as enum ptds_op of the trace format says.
 */
#ifndef PTDS_FOOTPRINT_H
#define PTDS_FOOTPRINT_H

#include "interpose/driver/driver.h"
#include "interpose/state/capture.h"

/* What a copy's name says of its two sides. */
enum fp_copy { FP_HTOD, FP_DTOH, FP_DTOD, FP_ANY, FP_HTOA, FP_ATOH, FP_DTOA, FP_ATOD, FP_ATOA };

static inline void fp_words(struct call *C, enum ptds_op op, unsigned words)
{
    C->op = (uint8_t)op;
    C->words = (uint8_t)words;
}

static inline void fp_kind(struct call *C, enum ptds_op op)
{
    fp_words(C, op, 0);
}

static inline void fp_object(struct call *C, enum ptds_op op, uint64_t value)
{
    C->word[0] = value;
    fp_words(C, op, 1);
}

/* Touches the bytes, whatever memories they lie in; everything if in none. */
void fp_touch_bytes(struct call *C, uint64_t base, uint64_t bytes, int writes);

/* The same where the address may as well be plain host memory, which is nobody else's. */
void fp_touch_either(struct call *C, uint64_t address, uint64_t bytes, int writes);

void fp_range(struct call *C, enum ptds_op op, uint64_t base, uint64_t bytes);

/* A value is written there: it may be a pointer, or half of one. */
void fp_written(struct call *C, uint64_t address);

/* A list of values that are waited for or written. */
void fp_values(struct call *C, const CUstreamBatchMemOpParams *ops, unsigned count);

/* Work on memory that its arguments do not name. */
static inline void fp_opaque(struct call *C, enum opaque_reason why)
{
    C->flags |= PTDS_CALL_OPAQUE;
    fp_words(C, PTDS_OP_OPAQUE, 0);
    C->touched.opaque = (uint8_t)why;
}

/* For the record, after the words that name something: memory that is touched all the same. */
static inline void fp_reaches(struct call *C, uint32_t uid, int writes)
{
    if (C->words == CALL_WORDS)
        C->flags |= PTDS_CALL_OPAQUE;
    else
        C->word[C->words++] = uid | (writes ? PTDS_REACHES_WRITE : PTDS_REACHES_READ) << PTDS_LAUNCH_ADDRESS_BITS;
}

/* The kernel, and the pointers among its arguments. */
void footprint_arguments(struct call *C, CUfunction function, CUstream named, void **params, void **extra);

/* A launch's footprint is complete: the driver may want to hear of it (driver_wants_claims). */
void fp_claim_slow(const struct call *C);
static inline void fp_claim(const struct call *C)
{
    if (__builtin_expect(driver_wants_claims != NULL, 0))
        fp_claim_slow(C);
}

/* A launch's shape: its first words. */
enum { SHAPE_WORDS = 3 };
static inline void fp_shape(uint64_t *word, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                            unsigned block_y, unsigned block_z, unsigned shared_bytes, uint64_t attributes)
{
    word[0] = grid_x | (uint64_t)grid_y << 32;
    word[1] = grid_z | (uint64_t)shared_bytes << 32;
    word[2] =
        (block_x & 0xffffu) | (uint64_t)(block_y & 0xffffu) << 16 | (uint64_t)(block_z & 0xffffu) << 32 | attributes << 48;
}

static inline void fp_launch(struct call *C, CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream named,
                             void **params, void **extra)
{
    if (!C->footprint)
        return;
    uint64_t attributes = C->api == API_cuLaunchCooperativeKernel ? PTDS_LAUNCH_COOPERATIVE : 0;
    fp_shape(C->word, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, attributes);
    fp_words(C, PTDS_OP_LAUNCH, SHAPE_WORDS);
    footprint_arguments(C, function, named, params, extra);
    fp_claim(C);
}

/* Kernels whose parameters nobody looks at. */
void fp_launch_unseen(struct call *C);
void fp_launch_ex(struct call *C, const CUlaunchConfig *config, CUfunction function, void **params, void **extra);

/* After the launch: the events that it records are a capture's where its stream is. */
void fp_learn_launch(struct call *C, const CUlaunchConfig *config);
static inline void fp_launched(struct call *C, const CUlaunchConfig *config)
{
    if (capture_any() && config)
        fp_learn_launch(C, config);
}

void fp_copy(struct call *C, enum fp_copy sides, uint64_t destination, uint64_t source, uint64_t bytes);
void fp_copy_2d(struct call *C, const CUDA_MEMCPY2D *copy);
void fp_copy_3d(struct call *C, const CUDA_MEMCPY3D *copy);
void fp_copy_3d_peer(struct call *C, const CUDA_MEMCPY3D_PEER *copy);
void fp_copy_batch(struct call *C, const CUdeviceptr *destinations, const CUdeviceptr *sources, const size_t *sizes,
                   size_t count);
void fp_copy_3d_batch(struct call *C, const CUDA_MEMCPY3D_BATCH_OP *ops, size_t count);
void fp_ranges(struct call *C, const CUdeviceptr *addresses, const size_t *sizes, size_t count, int writes);
void fp_map_arrays(struct call *C, const CUarrayMapInfo *list, size_t count);
void fp_decompress(struct call *C, const CUmemDecompressParams *params, size_t count);
void fp_memset(struct call *C, uint64_t destination, uint64_t pitch, unsigned element, uint64_t value, uint64_t width,
               uint64_t height);
/* After a copy or memset: which pointers lie in its destination now. */
void fp_copied_slow(struct call *C);
static inline void fp_copied(struct call *C)
{
    if ((C->touched.count || C->touched.opaque) && C->result == CUDA_SUCCESS)
        fp_copied_slow(C);
}
void fp_event(struct call *C, enum ptds_op op, CUevent event);
void fp_elapsed(struct call *C, CUevent start, CUevent end);
void fp_host_function(struct call *C, void *function);
void fp_free(struct call *C, enum ptds_op op, uint64_t base);
void fp_free_async(struct call *C, uint64_t base, CUstream stream);

/* Whether the synchronous form of this copy or memset returns only when the work is done: copies with host memory on a
 * side, memsets of host memory, and where the program has asked for it (SYNC_MEMOPS). Unknown memory counts as host
 * memory: waiting is always right. */
int footprint_blocks_host(const struct call *C);

/* Whether the driver makes the host wait for the stream in any form of it: copies to plain host memory, also those of a
 * graph, copies within host memory, large ones from plain host memory. */
int footprint_settles(const struct call *C);

/* Of work that the host has waited for inside the driver: it is done when the call is back. */
int footprint_is_done(const struct call *C);

/* A context has these flags, or is about to. */
void fp_context_flags(unsigned flags);
void fp_context_made(struct call *C, unsigned flags);

/* Memory that begins to exist, and, after the call that ended it, exists no more. */
void objects_alloc(struct call *C, enum ptds_memory_kind kind, const void *pointer, size_t pointer_size, uint64_t bytes);
/* A node of a graph that allocates. */
void objects_alloc_node(struct call *C, uint64_t base, uint64_t bytes);
/* By a graphics interface, perhaps once more: then it is what it was. bytes 0: how far memory goes is not told. */
void objects_lent(struct call *C, enum ptds_memory_kind kind, const void *pointer, size_t pointer_size, uint64_t bytes);
void objects_lent_frame(struct call *C, const void *frame);
/* A buffer of OpenGL's is memory as long as it is mapped. */
void objects_gl_mapped(struct call *C, unsigned buffer, const void *pointer, size_t pointer_size, uint64_t bytes);
void objects_gl_unmapping(struct call *C, unsigned buffer);
void objects_gl_unmapped(struct call *C, unsigned buffer);
void objects_alloc_pitch(struct call *C, const void *pointer, size_t pointer_size, const void *pitch, size_t pitch_size,
                         uint64_t height);
void objects_freed(struct call *C);

/* The record of memory that is there from now on. */
void footprint_record_alloc(struct call *C, enum ptds_memory_kind kind, uint64_t base, uint64_t bytes, uint32_t uid);
/* ... beside that: the uids of what it is a part of, and of what has the same bytes; 0 none. */
void footprint_record_part(struct call *C, uint32_t of, uint32_t same);

/* Host memory has a device address, perhaps another one; an array is part of another. */
void objects_device_pointer(struct call *C, const void *pointer, size_t pointer_size, const void *host);
void objects_array_of(struct call *C, const void *part, const void *whole);

/* The memory of an array's handle; NULL unknown. */
void allocations_set_handle(uint64_t handle, struct memory *memory);
struct memory *allocations_by_handle(uint64_t handle);

/* Kernels of a module, or with NULL all: their handles may come back as other kernels. */
struct module;
void footprint_kernels_forget(const struct module *module);
void footprint_kernels_forget_cache(struct thread *thread);

/* Whether the memory of an allocation that was recorded is still there. */
int allocations_is_there(const struct ptds_rec_MEMORY *memory);

/* Hears of threads from now on, and answers the recorder. */
void footprint_listen(void);
void allocations_after_fork(void);
void footprint_kernels_after_fork(void);

#endif
