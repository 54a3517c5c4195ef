/* SPDX-License-Identifier: Apache-2.0
 *
 * The footprints of copies, memsets and what else is no launch. Called by the wrappers before the call. Must not ask the
 * driver anything while a capture is open.
 */
#include "interpose/base/lock.h"
#include "interpose/driver/driver.h"
#include "interpose/footprint/footprint.h"
#include "interpose/record/record.h"
#include "interpose/state/capture.h"

/* The pinned ranges, sorted by base: programs have tens to hundreds. Changed under the lock; every recorded copy reads them
 * without it, and once more where `changes` says that they changed meanwhile (odd: they are changing). */
#define RANGES 8192
static struct range {
    uint64_t base, bytes;
    uint32_t kind; /* enum ptds_memory_kind */
} ranges[RANGES];
static uint32_t range_count, ranges_overflowed, changes;
static struct lock ranges_lock;
static uint64_t span_low = UINT64_MAX, span_high;

#define LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

static void set_range(uint32_t at, struct range to)
{
    STORE(ranges[at].base, to.base);
    STORE(ranges[at].bytes, to.bytes);
    STORE(ranges[at].kind, to.kind);
}

static void begin_change(void)
{
    lock_take(&ranges_lock);
    STORE(changes, changes + 1);
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static void end_change(void)
{
    __atomic_store_n(&changes, changes + 1, __ATOMIC_RELEASE);
    lock_drop(&ranges_lock);
}

/* The number of ranges that start at or before the address. */
static uint32_t ranges_up_to(uint64_t address)
{
    uint32_t low = 0, high = LOAD(range_count);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (LOAD(ranges[middle].base) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void widen_span(uint64_t base, uint64_t end)
{
    uint64_t seen = __atomic_load_n(&span_low, __ATOMIC_RELAXED);
    while (base < seen && !__atomic_compare_exchange_n(&span_low, &seen, base, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    seen = __atomic_load_n(&span_high, __ATOMIC_RELAXED);
    while (end > seen && !__atomic_compare_exchange_n(&span_high, &seen, end, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
}

void footprint_memory_added(enum ptds_memory_kind kind, uint64_t base, uint64_t bytes)
{
    widen_span(base, base + bytes);
    if (kind != PTDS_MEMORY_PINNED && kind != PTDS_MEMORY_REGISTERED)
        return;
    begin_change();
    uint32_t at = ranges_up_to(base);
    if (range_count < RANGES) {
        for (uint32_t i = range_count; i > at; i--)
            set_range(i, ranges[i - 1]);
        set_range(at, (struct range){base, bytes, kind});
        STORE(range_count, range_count + 1);
    } else {
        STORE(ranges_overflowed, 1);
    }
    end_change();
}

void footprint_memory_gone(uint64_t base)
{
    begin_change();
    uint32_t at = ranges_up_to(base);
    if (at > 0 && ranges[at - 1].base == base) {
        for (uint32_t i = at; i < range_count; i++)
            set_range(i - 1, ranges[i]);
        STORE(range_count, range_count - 1);
    }
    end_change();
}

int footprint_in_span(uint64_t address)
{
    return address >= __atomic_load_n(&span_low, __ATOMIC_RELAXED) &&
           address < __atomic_load_n(&span_high, __ATOMIC_RELAXED);
}

static enum ptds_memory_kind look_up(uint64_t address)
{
    uint32_t at = ranges_up_to(address);
    if (at > 0 && address - LOAD(ranges[at - 1].base) < LOAD(ranges[at - 1].bytes))
        return (enum ptds_memory_kind)LOAD(ranges[at - 1].kind);
    return LOAD(ranges_overflowed) ? PTDS_MEMORY_UNKNOWN : PTDS_MEMORY_PAGEABLE;
}

static enum ptds_memory_kind host_kind(uint64_t address)
{
    for (int tries = 0; tries < 64; tries++) {
        uint32_t before = __atomic_load_n(&changes, __ATOMIC_ACQUIRE);
        enum ptds_memory_kind kind = look_up(address);
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (before % 2 == 0 && LOAD(changes) == before)
            return kind;
    }
    lock_take(&ranges_lock); /* whoever changes them was interrupted */
    enum ptds_memory_kind kind = look_up(address);
    lock_drop(&ranges_lock);
    return kind;
}

/* Either side of a copy whose name does not tell. The driver knows every pointer that is not plain host memory. */
static enum ptds_memory_kind any_kind(uint64_t address)
{
    unsigned type = 0;
    enum ptds_memory_kind pinned = host_kind(address);
    if (pinned != PTDS_MEMORY_PAGEABLE)
        return pinned;
    if (capture_any() || !driver.cuPointerGetAttribute)
        return PTDS_MEMORY_UNKNOWN;
    if (driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address) != CUDA_SUCCESS)
        return PTDS_MEMORY_PAGEABLE;
    return type == CU_MEMORYTYPE_DEVICE ? PTDS_MEMORY_DEVICE : PTDS_MEMORY_PINNED;
}

static void set_kinds(struct call *C, enum ptds_memory_kind destination, enum ptds_memory_kind source)
{
    C->kinds = (uint8_t)(destination | source << 4);
}

static void set_copy(struct call *C, uint64_t destination, uint64_t source, uint64_t width, uint64_t height,
                     uint64_t destination_pitch, uint64_t source_pitch)
{
    C->word[0] = destination; /* one by one: by way of an array the processor waits for what it has just written */
    C->word[1] = source;
    C->word[2] = width;
    C->word[3] = height;
    C->word[4] = destination_pitch;
    C->word[5] = source_pitch;
    fp_words(C, PTDS_OP_COPY, 6);
}

void fp_copy(struct call *C, enum fp_copy sides, uint64_t destination, uint64_t source, uint64_t bytes)
{
    if (!C->footprint)
        return;
    set_copy(C, destination, source, bytes, 1, bytes, bytes);
    switch (sides) {
    case FP_HTOD: set_kinds(C, PTDS_MEMORY_DEVICE, host_kind(source)); break;
    case FP_DTOH: set_kinds(C, host_kind(destination), PTDS_MEMORY_DEVICE); break;
    case FP_DTOD: set_kinds(C, PTDS_MEMORY_DEVICE, PTDS_MEMORY_DEVICE); break;
    default: set_kinds(C, any_kind(destination), any_kind(source)); break;
    }
}

void fp_copy_array(struct call *C, enum fp_copy sides, uint64_t destination, uint64_t source, uint64_t bytes)
{
    if (!C->footprint)
        return;
    set_copy(C, destination, source, bytes, 1, bytes, bytes);
    switch (sides) {
    case FP_HTOA: set_kinds(C, PTDS_MEMORY_ARRAY, host_kind(source)); break;
    case FP_ATOH: set_kinds(C, host_kind(destination), PTDS_MEMORY_ARRAY); break;
    case FP_DTOA: set_kinds(C, PTDS_MEMORY_ARRAY, PTDS_MEMORY_DEVICE); break;
    case FP_ATOD: set_kinds(C, PTDS_MEMORY_DEVICE, PTDS_MEMORY_ARRAY); break;
    default: set_kinds(C, PTDS_MEMORY_ARRAY, PTDS_MEMORY_ARRAY); break;
    }
}

/* A side of a 2D or 3D copy: its kind by the struct's memory type, its first byte. */
struct side {
    enum ptds_memory_kind kind;
    uint64_t address;
};

static struct side side_of(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array, uint64_t offset)
{
    switch (type) {
    case CU_MEMORYTYPE_HOST: return (struct side){host_kind((uint64_t)host), (uint64_t)host + offset};
    case CU_MEMORYTYPE_DEVICE: return (struct side){PTDS_MEMORY_DEVICE, device + offset};
    case CU_MEMORYTYPE_ARRAY: return (struct side){PTDS_MEMORY_ARRAY, (uint64_t)array};
    default: return (struct side){any_kind(device), device + offset};
    }
}

void fp_copy_2d(struct call *C, const CUDA_MEMCPY2D *copy)
{
    if (!C->footprint || !copy)
        return;
    struct side to = side_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray,
                             copy->dstY * copy->dstPitch + copy->dstXInBytes);
    struct side from = side_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray,
                               copy->srcY * copy->srcPitch + copy->srcXInBytes);
    set_copy(C, to.address, from.address, copy->WidthInBytes, copy->Height, copy->dstPitch, copy->srcPitch);
    set_kinds(C, to.kind, from.kind);
}

static uint64_t offset_3d(uint64_t x, uint64_t y, uint64_t z, uint64_t pitch, uint64_t height)
{
    return (z * height + y) * pitch + x;
}

/* Depth goes into the height where slices follow each other row by row; else the record spans from the first slice's start
 * to the last one's end. */
static void set_volume(struct call *C, struct side to, struct side from, uint64_t width, uint64_t height, uint64_t depth,
                       const uint64_t pitch[2], const uint64_t rows[2])
{
    uint64_t tallest = rows[0] > rows[1] ? rows[0] : rows[1];
    if (depth > 1)
        height = (depth - 1) * (tallest > height ? tallest : height) + height;
    set_copy(C, to.address, from.address, width, height, pitch[0], pitch[1]);
    set_kinds(C, to.kind, from.kind);
}

void fp_copy_3d(struct call *C, const CUDA_MEMCPY3D *copy)
{
    if (!C->footprint || !copy)
        return;
    struct side to = side_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray,
                             offset_3d(copy->dstXInBytes, copy->dstY, copy->dstZ, copy->dstPitch, copy->dstHeight));
    struct side from = side_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray,
                               offset_3d(copy->srcXInBytes, copy->srcY, copy->srcZ, copy->srcPitch, copy->srcHeight));
    set_volume(C, to, from, copy->WidthInBytes, copy->Height, copy->Depth, (uint64_t[]){copy->dstPitch, copy->srcPitch},
               (uint64_t[]){copy->dstHeight, copy->srcHeight});
}

void fp_copy_3d_peer(struct call *C, const CUDA_MEMCPY3D_PEER *copy)
{
    if (!C->footprint || !copy)
        return;
    struct side to = side_of(copy->dstMemoryType, copy->dstHost, copy->dstDevice, copy->dstArray,
                             offset_3d(copy->dstXInBytes, copy->dstY, copy->dstZ, copy->dstPitch, copy->dstHeight));
    struct side from = side_of(copy->srcMemoryType, copy->srcHost, copy->srcDevice, copy->srcArray,
                               offset_3d(copy->srcXInBytes, copy->srcY, copy->srcZ, copy->srcPitch, copy->srcHeight));
    set_volume(C, to, from, copy->WidthInBytes, copy->Height, copy->Depth, (uint64_t[]){copy->dstPitch, copy->srcPitch},
               (uint64_t[]){copy->dstHeight, copy->srcHeight});
}

/* One copy is recorded in full, more of them as opaque work. */
void fp_copy_batch(struct call *C, const CUdeviceptr *destinations, const CUdeviceptr *sources, const size_t *sizes,
                   size_t count)
{
    if (!C->footprint)
        return;
    if (count == 1 && destinations && sources && sizes)
        fp_copy(C, FP_ANY, destinations[0], sources[0], sizes[0]);
    else
        fp_opaque(C);
}

/* value is not recorded: what is written does not matter to who waits for whom. */
void fp_memset(struct call *C, uint64_t destination, uint64_t pitch, unsigned element, uint64_t value, uint64_t width,
               uint64_t height)
{
    (void)value;
    if (!C->footprint)
        return;
    C->word[0] = destination;
    C->word[1] = width * element;
    C->word[2] = height;
    C->word[3] = pitch;
    set_kinds(C, any_kind(destination), PTDS_MEMORY_UNKNOWN);
    fp_words(C, PTDS_OP_MEMSET, 4);
}

int footprint_blocks_host(const struct call *C)
{
    enum ptds_memory_kind kinds[] = {C->kinds & 15, C->kinds >> 4};
    unsigned sides = C->op == PTDS_OP_MEMSET ? 1 : 2;
    if (C->op != PTDS_OP_COPY && C->op != PTDS_OP_MEMSET)
        return 1;
    for (unsigned i = 0; i < sides; i++) {
        if (kinds[i] <= PTDS_MEMORY_REGISTERED)
            return 1;
    }
    return 0;
}

void footprint_after_fork(void)
{
    ranges_lock.held = 0;
    changes += changes % 2;
}
