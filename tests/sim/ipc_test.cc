// SPDX-License-Identifier: Apache-2.0
//
// Memory of another process: this program starts itself again and gives the child a handle through a pipe.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "tests/sim/driver_fixture.h"

namespace
{

constexpr size_t kSize = 100000; /* not whole pages */

#define CHILD_MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "child: %s\n", #condition); \
            return 1; \
        } \
    } while (0)

// In the child: the last word must be 11 and becomes 12; closing takes the memory away.
int Child()
{
    CUipcMemHandle handle;
    CUcontext ctx;
    CUdeviceptr p = 0, again = 0, base = 0;
    size_t size = 0;
    uint32_t word = 0;
    CUmemorytype type;
    CHILD_MUST(read(STDIN_FILENO, &handle, sizeof handle) == sizeof handle);
    CHILD_MUST(cuInit(0) == CUDA_SUCCESS && cuDevicePrimaryCtxRetain(&ctx, 0) == CUDA_SUCCESS);
    CHILD_MUST(cuIpcOpenMemHandle_v2(&p, handle, 1) == CUDA_ERROR_INVALID_CONTEXT); /* none is current */
    CHILD_MUST(cuCtxSetCurrent(ctx) == CUDA_SUCCESS);
    CHILD_MUST(cuIpcOpenMemHandle_v2(&p, handle, 0) == CUDA_ERROR_INVALID_VALUE);
    CHILD_MUST(cuIpcOpenMemHandle_v2(&p, handle, 1) == CUDA_SUCCESS);
    CHILD_MUST(cuIpcOpenMemHandle_v2(&again, handle, 1) == CUDA_SUCCESS && again == p);
    CHILD_MUST(cuMemGetAddressRange_v2(&base, &size, p + 5) == CUDA_SUCCESS && base == p && size == kSize);
    CHILD_MUST(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p) == CUDA_SUCCESS);
    CHILD_MUST(type == CU_MEMORYTYPE_DEVICE && cuMemFree_v2(p) == CUDA_ERROR_INVALID_VALUE);
    CHILD_MUST(cuMemcpyDtoH_v2(&word, p + kSize - 4, 4) == CUDA_SUCCESS && word == 11);
    CHILD_MUST(cuMemsetD32_v2(p + kSize - 4, 12, 1) == CUDA_SUCCESS);
    CHILD_MUST(cuIpcCloseMemHandle(p) == CUDA_SUCCESS);
    CHILD_MUST(cuMemcpyDtoH_v2(&word, p + kSize - 4, 4) == CUDA_SUCCESS && word == 12); /* opened twice */
    CHILD_MUST(cuIpcCloseMemHandle(p) == CUDA_SUCCESS);
    CHILD_MUST(cuIpcCloseMemHandle(p) == CUDA_ERROR_INVALID_VALUE);
    CHILD_MUST(cuMemcpyDtoH_v2(&word, p, 4) == CUDA_ERROR_INVALID_VALUE);
    reinterpret_cast<char *>(&handle)[0] ^= 1;
    CHILD_MUST(cuIpcOpenMemHandle_v2(&p, handle, 1) == CUDA_ERROR_INVALID_HANDLE);
    return 0;
}

class Processes : public Driver
{
};

TEST_F(Processes, AChildHasTheSameBytes)
{
    int ends[2], status = 1;
    CUipcMemHandle handle;
    CUdeviceptr beside = Words(5001, 7), p = 0; /* so that p is neither in the first page nor at the start of one */
    ASSERT_EQ(CUDA_SUCCESS, cuMemAlloc_v2(&p, kSize));
    EXPECT_EQ(CUDA_SUCCESS, cuMemsetD32_v2(p, 11, kSize / 4));
    EXPECT_EQ(CUDA_SUCCESS, cuCtxSynchronize());
    ASSERT_EQ(CUDA_SUCCESS, cuIpcGetMemHandle(&handle, p));
    ASSERT_EQ(0, pipe(ends));
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[0], STDIN_FILENO);
        execl("/proc/self/exe", "ipc_test", "child", static_cast<char *>(nullptr));
        _exit(127);
    }
    ASSERT_EQ(static_cast<ssize_t>(sizeof handle), write(ends[1], &handle, sizeof handle));
    close(ends[0]), close(ends[1]);
    ASSERT_EQ(child, waitpid(child, &status, 0));
    EXPECT_EQ(0, status);
    EXPECT_EQ(12u, Read(p + kSize - 4));
    EXPECT_EQ(11u, Read(p));
    EXPECT_EQ(7u, Read(beside));
    for (CUdeviceptr d : {p, beside})
        EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(d));
}

TEST_F(Processes, NotForTheOwnerNorForOtherMemory)
{
    CUipcMemHandle handle;
    CUdeviceptr p = Words(4, 0), managed, q;
    ASSERT_EQ(CUDA_SUCCESS, cuIpcGetMemHandle(&handle, p));
    EXPECT_EQ(CUDA_ERROR_INVALID_CONTEXT, cuIpcOpenMemHandle_v2(&q, handle, 1));
    ASSERT_EQ(CUDA_SUCCESS, cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcGetMemHandle(&handle, managed));
    EXPECT_EQ(CUDA_ERROR_INVALID_VALUE, cuIpcCloseMemHandle(p));
    for (CUdeviceptr d : {p, managed})
        EXPECT_EQ(CUDA_SUCCESS, cuMemFree_v2(d));
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "child") == 0)
        return Child();
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
