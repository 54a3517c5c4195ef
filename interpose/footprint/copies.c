/* SPDX-License-Identifier: Apache-2.0
 *
 * The footprints of copies, memsets and what else is no launch. Called by the wrappers before the call. Must not ask the
 * driver anything while a capture is open.
 */
#include "interpose/driver/driver.h"
#include "interpose/footprint/footprint.h"
#include "interpose/footprint/pageable.h"
#include "interpose/footprint/tables.h"
#include "interpose/footprint/touch.h"
#include "interpose/state/capture.h"

/* What a copy's name says of a side. A host address that belongs to no memory is pageable, and the caller's own. */
enum side_type { SIDE_HOST, SIDE_DEVICE, SIDE_ARRAY, SIDE_ANY };

struct side {
    enum ptds_memory_kind kind;
    uint8_t hosts;    /* it was named as host memory */
    uint64_t address; /* of the first byte; an array's handle */
    struct place place;
};

static enum ptds_memory_kind pinned_kind(const struct place *place)
{
    if (!place->memory)
        return PTDS_MEMORY_PAGEABLE;
    return (enum ptds_memory_kind)__atomic_load_n(&place->memory->kind, __ATOMIC_RELAXED);
}

/* Either side of a copy whose name does not tell. The driver knows every pointer that is not plain host memory. */
static enum ptds_memory_kind any_kind(const struct place *place, uint64_t address)
{
    unsigned type = 0;
    enum ptds_memory_kind pinned = pinned_kind(place);
    if (pinned != PTDS_MEMORY_PAGEABLE)
        return pinned;
    if (capture_any() || !driver.cuPointerGetAttribute)
        return PTDS_MEMORY_UNKNOWN;
    if (ASK(driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address)) != CUDA_SUCCESS)
        return PTDS_MEMORY_PAGEABLE;
    return type == CU_MEMORYTYPE_DEVICE ? PTDS_MEMORY_DEVICE : PTDS_MEMORY_PINNED;
}

static inline struct side side_at(struct call *C, enum side_type type, uint64_t address)
{
    struct side side = {PTDS_MEMORY_ARRAY, type == SIDE_HOST, address, {NULL, 0, 0, 0}};
    if (type == SIDE_ARRAY)
        return side;
    side.place = memories_find(C->thread, address);
    side.kind = type == SIDE_HOST     ? pinned_kind(&side.place)
                : type == SIDE_DEVICE ? PTDS_MEMORY_DEVICE
                                      : any_kind(&side.place, address);
    return side;
}

/* Besides the chunk: the reservation's addresses. One access, however many chunks the copy has. */
static __attribute__((noinline)) void touch_addresses(struct call *C, struct memory *chunk, uint64_t begin, uint64_t end,
                                                      int writes)
{
    struct memory *memory = memories_reservation(chunk);
    for (unsigned i = 0; memory && i < C->touched.count; i++) {
        struct access *access = &C->touched.at[i];
        if (access->memory == memory && access->end == begin && access->writes == (uint32_t)writes) {
            access->end = end;
            return;
        }
    }
    if (memory)
        touch(&C->touched, memory, begin, end, writes);
}

static inline void touch_place(struct call *C, const struct place *place, uint64_t begin, uint64_t end, int writes)
{
    touch(&C->touched, place->memory, begin + place->shift, end + place->shift, writes);
    if (__builtin_expect(place->memory->host & MEMORY_RESERVED, 0))
        touch_addresses(C, place->memory, begin, end, writes);
}

/* The memories under a range, one after the other; several where chunks are mapped side by side. */
static void touch_rest(struct call *C, struct place place, uint64_t begin, uint64_t end, int writes)
{
    while (place.memory && end > place.end) {
        touch_place(C, &place, begin, place.end, writes);
        begin = place.end;
        place = memories_find(C->thread, begin);
    }
    if (place.memory)
        touch_place(C, &place, begin, end, writes);
    else
        touch_opaque(&C->touched, OPAQUE_OTHER);
}

/* It may be a part of another, which the record names besides. */
static __attribute__((noinline)) void touch_array(struct call *C, uint64_t handle, int writes)
{
    const struct memory *memory = allocations_by_handle(handle);
    touch_handle(&C->touched, handle, writes);
    if (memory && C->enter && C->op == PTDS_OP_COPY)
        fp_reaches(C, memory->uid, writes);
}

static inline void touch_side(struct call *C, const struct side *side, uint64_t bytes, int writes)
{
    if (bytes == 0)
        return;
    if (side->kind == PTDS_MEMORY_ARRAY)
        touch_array(C, side->address, writes);
    else if (side->place.memory)
        touch_rest(C, side->place, side->address, side->address + bytes, writes);
    else if (side->kind != PTDS_MEMORY_PAGEABLE)
        touch_opaque(&C->touched, OPAQUE_OTHER);
}

static void set_kinds(struct call *C, const struct side *destination, const struct side *source)
{
    C->kinds = (uint8_t)(destination->kind | source->kind << 4);
    C->host_sides = (uint8_t)(destination->hosts * CALL_TO_HOST | source->hosts * CALL_FROM_HOST);
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

void fp_touch_bytes(struct call *C, uint64_t base, uint64_t bytes, int writes)
{
    struct side side = side_at(C, SIDE_DEVICE, base);
    touch_side(C, &side, bytes, writes);
}

/* What the two sides of a copy are, by its name: destination, source. */
static const uint8_t sides_of[][2] = {
    [FP_HTOD] = {SIDE_DEVICE, SIDE_HOST},  [FP_DTOH] = {SIDE_HOST, SIDE_DEVICE},  [FP_DTOD] = {SIDE_DEVICE, SIDE_DEVICE},
    [FP_ANY] = {SIDE_ANY, SIDE_ANY},       [FP_HTOA] = {SIDE_ARRAY, SIDE_HOST},   [FP_ATOH] = {SIDE_HOST, SIDE_ARRAY},
    [FP_DTOA] = {SIDE_ARRAY, SIDE_DEVICE}, [FP_ATOD] = {SIDE_DEVICE, SIDE_ARRAY}, [FP_ATOA] = {SIDE_ARRAY, SIDE_ARRAY},
};

void fp_copy(struct call *C, enum fp_copy sides, uint64_t destination, uint64_t source, uint64_t bytes)
{
    if (!C->footprint)
        return;
    struct side to = side_at(C, (enum side_type)sides_of[sides][0], destination);
    struct side from = side_at(C, (enum side_type)sides_of[sides][1], source);
    set_copy(C, destination, source, bytes, 1, bytes, bytes);
    set_kinds(C, &to, &from);
    touch_side(C, &to, bytes, 1);
    touch_side(C, &from, bytes, 0);
}

/* A side of a 2D or 3D copy as its struct has it. */
struct shape {
    CUmemorytype type;
    const void *host;
    CUdeviceptr device;
    CUarray array;
    uint64_t x, y, z, pitch, rows;
};

struct extent {
    uint64_t width, height, depth;
};

/* A pitch or a height of 0 means that rows or slices follow each other tightly. */
static void complete(struct shape *shape, const struct extent *extent)
{
    if (!shape->pitch)
        shape->pitch = shape->x + extent->width;
    if (!shape->rows)
        shape->rows = shape->y + extent->height;
}

static struct side side_of(struct call *C, const struct shape *shape)
{
    uint64_t offset = (shape->z * shape->rows + shape->y) * shape->pitch + shape->x;
    switch (shape->type) {
    case CU_MEMORYTYPE_HOST: return side_at(C, SIDE_HOST, (uint64_t)shape->host + offset);
    case CU_MEMORYTYPE_DEVICE: return side_at(C, SIDE_DEVICE, shape->device + offset);
    case CU_MEMORYTYPE_ARRAY: return side_at(C, SIDE_ARRAY, (uint64_t)shape->array);
    default: return side_at(C, SIDE_ANY, shape->device + offset);
    }
}

/* From the first byte to one past the last. */
static uint64_t bytes_of(const struct shape *shape, const struct extent *extent)
{
    if (!extent->width || !extent->height || !extent->depth)
        return 0;
    return ((extent->depth - 1) * shape->rows + extent->height - 1) * shape->pitch + extent->width;
}

/* Whether all its rows lie one pitch apart. */
static int is_even(const struct shape *shape, const struct extent *extent)
{
    return shape->type == CU_MEMORYTYPE_ARRAY || extent->depth <= 1 || shape->rows == extent->height;
}

static void copy_shapes(struct call *C, struct shape *to, struct shape *from, const struct extent *extent)
{
    complete(to, extent);
    complete(from, extent);
    struct side destination = side_of(C, to), source = side_of(C, from);
    set_copy(C, destination.address, source.address, extent->width, extent->height * extent->depth, to->pitch, from->pitch);
    set_kinds(C, &destination, &source);
    if (!is_even(to, extent) || !is_even(from, extent)) {
        C->word[C->words++] = is_even(to, extent) ? 0 : bytes_of(to, extent);
        C->word[C->words++] = is_even(from, extent) ? 0 : bytes_of(from, extent);
    }
    touch_side(C, &destination, bytes_of(to, extent), 1);
    touch_side(C, &source, bytes_of(from, extent), 0);
}

void fp_copy_2d(struct call *C, const CUDA_MEMCPY2D *copy)
{
    if (!C->footprint || !copy)
        return;
    struct shape to = {copy->dstMemoryType,
                       copy->dstHost,
                       copy->dstDevice,
                       copy->dstArray,
                       copy->dstXInBytes,
                       copy->dstY,
                       0,
                       copy->dstPitch,
                       0};
    struct shape from = {copy->srcMemoryType,
                         copy->srcHost,
                         copy->srcDevice,
                         copy->srcArray,
                         copy->srcXInBytes,
                         copy->srcY,
                         0,
                         copy->srcPitch,
                         0};
    copy_shapes(C, &to, &from, &(struct extent){copy->WidthInBytes, copy->Height, 1});
}

/* Two structs whose fields have the same names. */
#define VOLUME(copy, side) \
    (&(struct shape){(copy)->side##MemoryType, (copy)->side##Host, (copy)->side##Device, (copy)->side##Array, \
                     (copy)->side##XInBytes, (copy)->side##Y, (copy)->side##Z, (copy)->side##Pitch, (copy)->side##Height})
#define EXTENT(copy) (&(struct extent){(copy)->WidthInBytes, (copy)->Height, (copy)->Depth})

void fp_copy_3d(struct call *C, const CUDA_MEMCPY3D *copy)
{
    if (C->footprint && copy)
        copy_shapes(C, VOLUME(copy, dst), VOLUME(copy, src), EXTENT(copy));
}

void fp_copy_3d_peer(struct call *C, const CUDA_MEMCPY3D_PEER *copy)
{
    if (C->footprint && copy)
        copy_shapes(C, VOLUME(copy, dst), VOLUME(copy, src), EXTENT(copy));
}

void fp_touch_either(struct call *C, uint64_t address, uint64_t bytes, int writes)
{
    struct side side = side_at(C, SIDE_ANY, address);
    touch_side(C, &side, bytes, writes);
}

/* In a word that is not recorded: what is written does not matter to who waits for whom. */
enum { WORD_VALUE = 4 };
void fp_memset(struct call *C, uint64_t destination, uint64_t pitch, unsigned element, uint64_t value, uint64_t width,
               uint64_t height)
{
    if (!C->footprint)
        return;
    static const struct side none = {PTDS_MEMORY_UNKNOWN, 0, 0, {NULL, 0, 0, 0}};
    struct side side = side_at(C, SIDE_ANY, destination);
    C->word[0] = destination;
    C->word[1] = width * element;
    C->word[2] = height;
    C->word[3] = pitch;
    C->word[WORD_VALUE] = element < sizeof value ? value & ((UINT64_C(1) << element * 8) - 1) : value;
    set_kinds(C, &side, &none);
    fp_words(C, PTDS_OP_MEMSET, 4);
    touch_side(C, &side, width && height ? (height - 1) * pitch + width * element : 0, 1);
}

/* When the call is back the copy is done. */
static int is_synchronous(const struct call *C)
{
    return api_rows[C->api].route == ROUTE_IMPLICIT;
}

/* A call that says when its source is read, which may be any time. */
static int says_when_it_reads(const struct call *C)
{
    return C->api == API_cuMemcpyBatchAsync || C->api == API_cuMemcpyBatchAsync_v2 ||
           C->api == API_cuMemcpyWithAttributesAsync;
}

/* From plain host memory the driver has read all when the call is back, but for those, and where the device reads that
 * memory itself. */
static int is_read_at_once(const struct call *C)
{
    return is_synchronous(C) || (!says_when_it_reads(C) && !pageable_is_read());
}

/* The bytes that are copied are those that the host finds there now: nothing else moves them about, no capture puts the
 * copy off. */
static int is_readable(const struct call *C, const struct access *source)
{
    if (capture_any())
        return 0;
    switch (C->kinds >> 4) {
    case PTDS_MEMORY_PAGEABLE: return !source && is_read_at_once(C);
    case PTDS_MEMORY_PINNED:
    case PTDS_MEMORY_REGISTERED:
        return is_synchronous(C) &&
               (!source || source->memory->kind == PTDS_MEMORY_PINNED || source->memory->kind == PTDS_MEMORY_REGISTERED);
    default: return 0;
    }
}

static void copied(struct call *C, const struct access *to, const struct access *from)
{
    uint64_t bytes = C->word[2];
    int flat = C->word[3] == 1 && to->end - to->begin == bytes;
    if (flat && tables_want(bytes) && is_readable(C, from))
        /* at the host's own address: the device's may be another one */
        tables_filled(C->thread, to->memory, to->begin, (const uint8_t *)(from ? from->begin : C->word[1]), bytes);
    else if (from)
        tables_copied(to->memory, to->begin, from->memory, from->begin, to->end - to->begin, flat);
    else
        tables_filled_unseen(to->memory);
}

/* A node of a graph, or a call that becomes one: it runs some time, perhaps never. Of a stream that nobody saw being made
 * nobody knows whether it is capturing. */
static int is_put_off(const struct call *C)
{
    if (C->flags & PTDS_CALL_CAPTURING)
        return 1;
    return C->flags & PTDS_CALL_CAPTURE_OPEN && !(C->flags & PTDS_CALL_LEGACY) && !C->stream &&
           C->target != CU_STREAM_PER_THREAD;
}

/* Where pointers lie in chunks of a reservation is kept with the reservation: whoever gets a pointer to one chunk may find
 * those in another one. At most three, the rest makes no difference. */
static unsigned sides_touched(const struct touched *touched, const struct access *sides[3])
{
    unsigned count = 0;
    for (unsigned i = 0; i < touched->count && count < 3; i++) {
        if (!(touched->at[i].memory->host & MEMORY_RESERVED))
            sides[count++] = &touched->at[i];
    }
    return count;
}

/* Where the call becomes a node, what was there stays; what comes at a launch of the graph, that says itself. */
static int is_captured(const struct call *C)
{
    return (C->flags & PTDS_CALL_CAPTURING) != 0;
}

/* More memories on a side: rare, and nothing is known of what comes into them. */
static void filled(const struct call *C, const struct access *to)
{
    if (C->op == PTDS_OP_MEMSET && to->end - to->begin == C->word[1] && !C->word[WORD_VALUE] && !is_put_off(C))
        tables_cleared(to->memory, to->begin, to->end);
    else if (C->op != PTDS_OP_MEMSET || C->word[WORD_VALUE])
        tables_filled_unseen(to->memory);
}

void fp_copied_slow(struct call *C)
{
    const struct touched *touched = &C->touched;
    const struct access *sides[3];
    unsigned count = sides_touched(touched, sides);
    if (is_captured(C))
        return;
    if (touched->opaque) /* to memory that nobody knows: a variable's, whose address was not asked for */
        tables_unknown_work();
    if (C->op == PTDS_OP_COPY && (count == 1 || count == 2) && sides[0]->writes && !touched->opaque &&
        (count == 1 || !sides[1]->writes) && !is_put_off(C)) {
        copied(C, sides[0], count == 2 ? sides[1] : NULL);
        return;
    }
    for (unsigned i = 0; i < touched->count; i++) {
        const struct access *access = &touched->at[i];
        if (access->writes && !(access->memory->host & MEMORY_RESERVED))
            filled(C, access);
    }
}
