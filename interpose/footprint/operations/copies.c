/* SPDX-License-Identifier: Apache-2.0
 *
 * The footprints of copies and memsets. Called by the wrappers before the call, and by the walk over a graph's nodes. Must
 * not ask the driver anything while a capture is open.
 */
#include "interpose/footprint/operations/copies.h"

#include "interpose/footprint/memories/side.h"
#include "interpose/state/call_words.h"

static void set_kinds(struct call *C, const struct side *destination, const struct side *source)
{
    C->kinds = (uint8_t)(destination->kind | source->kind << 4);
    C->host_sides = (uint8_t)(destination->hosts * CALL_TO_HOST | source->hosts * CALL_FROM_HOST);
}

static void set_copy(struct call *C, uint64_t destination, uint64_t source, uint64_t width, uint64_t height,
                     uint64_t destination_pitch, uint64_t source_pitch)
{
    C->word[0] =
        destination; /* one by one: if they were copied from an array, the processor would wait for its own stores */
    C->word[1] = source;
    C->word[2] = width;
    C->word[3] = height;
    C->word[4] = destination_pitch;
    C->word[5] = source_pitch;
    call_words_set(C, PTDS_OP_COPY, 6);
}

/* The types of a copy's two sides by its name: destination, source. */
static const uint8_t sides_of[][2] = {
    [COPIES_HTOD] = {SIDE_DEVICE, SIDE_HOST},   [COPIES_DTOH] = {SIDE_HOST, SIDE_DEVICE},
    [COPIES_DTOD] = {SIDE_DEVICE, SIDE_DEVICE}, [COPIES_ANY] = {SIDE_ANY, SIDE_ANY},
    [COPIES_HTOA] = {SIDE_ARRAY, SIDE_HOST},    [COPIES_ATOH] = {SIDE_HOST, SIDE_ARRAY},
    [COPIES_DTOA] = {SIDE_ARRAY, SIDE_DEVICE},  [COPIES_ATOD] = {SIDE_DEVICE, SIDE_ARRAY},
    [COPIES_ATOA] = {SIDE_ARRAY, SIDE_ARRAY},
};

void copies_1d(struct call *C, enum copies_sides sides, uint64_t destination, uint64_t source, uint64_t bytes)
{
    if (!C->footprint)
        return;
    struct side to = side_at(C, (enum side_type)sides_of[sides][0], destination);
    struct side from = side_at(C, (enum side_type)sides_of[sides][1], source);
    set_copy(C, destination, source, bytes, 1, bytes, bytes);
    set_kinds(C, &to, &from);
    side_touch(C, &to, bytes, 1);
    side_touch(C, &from, bytes, 0);
}

/* A side of a 2D or 3D copy, as the program's struct has it. */
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
    side_touch(C, &destination, bytes_of(to, extent), 1);
    side_touch(C, &source, bytes_of(from, extent), 0);
}

void copies_2d(struct call *C, const CUDA_MEMCPY2D *copy)
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

void copies_3d(struct call *C, const CUDA_MEMCPY3D *copy)
{
    if (C->footprint && copy)
        copy_shapes(C, VOLUME(copy, dst), VOLUME(copy, src), EXTENT(copy));
}

void copies_3d_peer(struct call *C, const CUDA_MEMCPY3D_PEER *copy)
{
    if (C->footprint && copy)
        copy_shapes(C, VOLUME(copy, dst), VOLUME(copy, src), EXTENT(copy));
}

void copies_memset(struct call *C, uint64_t destination, uint64_t pitch, unsigned element, uint64_t value, uint64_t width,
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
    C->word[COPIES_WORD_VALUE] = element < sizeof value ? value & ((UINT64_C(1) << element * 8) - 1) : value;
    set_kinds(C, &side, &none);
    call_words_set(C, PTDS_OP_MEMSET, 4);
    side_touch(C, &side, width && height ? (height - 1) * pitch + width * element : 0, 1);
}
