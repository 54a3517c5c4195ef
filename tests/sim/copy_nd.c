/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies in two and three dimensions and those from and to arrays: all of them become one `struct copy`. Called by
 * programs. Batches of 3D copies are not simulated.
 */
#include "tests/sim/sim.h"

struct place {
    char *bytes;
    size_t pitch, slice;
    enum memory_kind kind;
    bool waits;
};

/* Where one side's first byte is and how its rows lie. */
static CUresult resolve(const struct copy_side *s, size_t width, size_t rows, size_t slices, struct place *out)
{
    uint64_t address = s->address;
    size_t pitch = s->pitch ? s->pitch : s->x + width;
    size_t height = s->height ? s->height : rows;
    if (s->type == CU_MEMORYTYPE_ARRAY) {
        const struct array_object *a = (struct array_object *)s->array;
        if (!handle_is(a, HANDLE_ARRAY))
            return CUDA_ERROR_INVALID_HANDLE;
        if (s->x + width > a->width * a->element || s->y + rows > a->height || s->z + slices > a->depth)
            return CUDA_ERROR_INVALID_VALUE;
        address = a->bytes;
        pitch = a->width * a->element;
        height = a->height;
    } else if (!address || pitch < width) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    address += s->z * pitch * height + s->y * pitch + s->x;
    out->bytes = memory_bytes(address);
    out->pitch = pitch;
    out->slice = pitch * height;
    out->kind = memory_kind_of(address);
    out->waits = memory_waits(address);
    return memory_check(address, (slices - 1) * out->slice + (rows - 1) * pitch + width);
}

/* Locked. kinds: of dst and src. */
static CUresult describe(const struct copy_side *dst, const struct copy_side *src, size_t width, size_t rows, size_t slices,
                         struct copy *out, enum memory_kind kinds[2])
{
    struct place to, from;
    CUresult result = resolve(dst, width, rows, slices, &to);
    if (result == CUDA_SUCCESS)
        result = resolve(src, width, rows, slices, &from);
    if (result != CUDA_SUCCESS)
        return result;
    *out = (struct copy){to.bytes,
                         from.bytes,
                         width,
                         rows,
                         slices,
                         to.pitch,
                         to.slice,
                         from.pitch,
                         from.slice,
                         *dst,
                         *src,
                         to.waits || from.waits,
                         to.kind == MEMORY_PAGEABLE};
    kinds[0] = to.kind;
    kinds[1] = from.kind;
    return CUDA_SUCCESS;
}

static CUresult copy_sides(CUstream stream, const struct copy_side *dst, const struct copy_side *src, size_t width,
                           size_t rows, size_t slices, enum copy_mode mode)
{
    struct context *ctx;
    struct copy copy;
    enum memory_kind kinds[2];
    sim_lock();
    CUresult result = context_need(&ctx);
    if (result == CUDA_SUCCESS && width && rows && slices) {
        result = describe(dst, src, width, rows, slices, &copy, kinds);
        if (result == CUDA_SUCCESS)
            result = copy_issue(stream, copy, kinds[0], kinds[1], mode);
    }
    sim_unlock();
    return result;
}

#define SIDE_OF(p, side, z_, height_) \
    { \
        .type = (p)->side##MemoryType, \
        .address = (p)->side##MemoryType == CU_MEMORYTYPE_HOST ? (uintptr_t)(p)->side##Host : (p)->side##Device, \
        .array = (p)->side##Array, .x = (p)->side##XInBytes, .y = (p)->side##Y, .z = z_, .pitch = (p)->side##Pitch, \
        .height = height_, \
    }

static CUresult copy_2d(const CUDA_MEMCPY2D *p, CUstream stream, enum copy_mode mode)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    const struct copy_side dst = SIDE_OF(p, dst, 0, 0), src = SIDE_OF(p, src, 0, 0);
    return copy_sides(stream, &dst, &src, p->WidthInBytes, p->Height, 1, mode);
}

CUresult impl_cuMemcpy2D_v2(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, NULL, COPY_SYNC);
}
CUresult impl_cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *pCopy)
{
    return copy_2d(pCopy, NULL, COPY_SYNC);
}
CUresult impl_cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *pCopy, CUstream hStream)
{
    return copy_2d(pCopy, hStream, COPY_ASYNC);
}

static CUresult copy_3d(const CUDA_MEMCPY3D *p, CUstream stream, enum copy_mode mode)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    const struct copy_side dst = SIDE_OF(p, dst, p->dstZ, p->dstHeight), src = SIDE_OF(p, src, p->srcZ, p->srcHeight);
    return copy_sides(stream, &dst, &src, p->WidthInBytes, p->Height, p->Depth, mode);
}

/* The contexts of a peer copy matter to copy_peer.c only; its other members are those of a plain one. */
CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER *p, CUstream stream, enum copy_mode mode)
{
    const struct copy_side dst = SIDE_OF(p, dst, p->dstZ, p->dstHeight), src = SIDE_OF(p, src, p->srcZ, p->srcHeight);
    return copy_sides(stream, &dst, &src, p->WidthInBytes, p->Height, p->Depth, mode);
}

/* For a node of a graph; locked. */
CUresult copy_describe(const CUDA_MEMCPY3D *p, struct copy *out)
{
    enum memory_kind kinds[2];
    if (!p || !p->WidthInBytes || !p->Height || !p->Depth)
        return CUDA_ERROR_INVALID_VALUE;
    const struct copy_side dst = SIDE_OF(p, dst, p->dstZ, p->dstHeight), src = SIDE_OF(p, src, p->srcZ, p->srcHeight);
    return describe(&dst, &src, p->WidthInBytes, p->Height, p->Depth, out, kinds);
}

CUresult impl_cuMemcpy3D_v2(const CUDA_MEMCPY3D *pCopy)
{
    return copy_3d(pCopy, NULL, COPY_SYNC);
}
CUresult impl_cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    return copy_3d(pCopy, hStream, COPY_ASYNC);
}

/* ---- arrays, by byte offset in the first row ---- */

static struct copy_side of_array(CUarray array, size_t offset)
{
    return (struct copy_side){.type = CU_MEMORYTYPE_ARRAY, .array = array, .x = offset};
}

static struct copy_side of_address(uint64_t address)
{
    return (struct copy_side){.type = CU_MEMORYTYPE_UNIFIED, .address = address};
}

static CUresult one_row(CUstream stream, struct copy_side dst, struct copy_side src, size_t size, enum copy_mode mode)
{
    return copy_sides(stream, &dst, &src, size, 1, 1, mode);
}

CUresult impl_cuMemcpyHtoA_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount)
{
    return one_row(NULL, of_array(dstArray, dstOffset), of_address((uintptr_t)srcHost), ByteCount, COPY_SYNC);
}

CUresult impl_cuMemcpyHtoAAsync_v2(CUarray dstArray, size_t dstOffset, const void *srcHost, size_t ByteCount,
                                   CUstream hStream)
{
    return one_row(hStream, of_array(dstArray, dstOffset), of_address((uintptr_t)srcHost), ByteCount, COPY_ASYNC);
}

CUresult impl_cuMemcpyAtoH_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return one_row(NULL, of_address((uintptr_t)dstHost), of_array(srcArray, srcOffset), ByteCount, COPY_SYNC);
}

CUresult impl_cuMemcpyAtoHAsync_v2(void *dstHost, CUarray srcArray, size_t srcOffset, size_t ByteCount, CUstream hStream)
{
    return one_row(hStream, of_address((uintptr_t)dstHost), of_array(srcArray, srcOffset), ByteCount, COPY_ASYNC);
}

CUresult impl_cuMemcpyDtoA_v2(CUarray dstArray, size_t dstOffset, CUdeviceptr srcDevice, size_t ByteCount)
{
    return one_row(NULL, of_array(dstArray, dstOffset), of_address(srcDevice), ByteCount, COPY_SYNC);
}

CUresult impl_cuMemcpyAtoD_v2(CUdeviceptr dstDevice, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return one_row(NULL, of_address(dstDevice), of_array(srcArray, srcOffset), ByteCount, COPY_SYNC);
}

CUresult impl_cuMemcpyAtoA_v2(CUarray dstArray, size_t dstOffset, CUarray srcArray, size_t srcOffset, size_t ByteCount)
{
    return one_row(NULL, of_array(dstArray, dstOffset), of_array(srcArray, srcOffset), ByteCount, COPY_SYNC);
}
