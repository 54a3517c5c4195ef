/* SPDX-License-Identifier: Apache-2.0
 *
 * What memory that is mapped, shared, or comes and goes on a stream touch.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "tests/footprint/touched.h"
#include "tests/conformance/tables.ptx.h"

namespace
{

/* ---- physical memory ---- */

constexpr size_t chunk = 2 << 20;

CUmemAllocationProp of_device()
{
    CUmemAllocationProp about = {};
    about.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    about.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    return about;
}

void allow(CUdeviceptr at, size_t bytes)
{
    const CUmemAccessDesc access = {of_device().location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CU(cuMemSetAccess(at, bytes, &access, 1));
}

void map_chunk(CUdeviceptr at, CUmemGenericAllocationHandle handle)
{
    CU(cuMemMap(at, chunk, 0, handle, 0));
    allow(at, chunk);
}

TEST_F(Touched, MappedChunks)
{
    CUmemAllocationProp about = of_device();
    CUmemGenericAllocationHandle one, two;
    CUdeviceptr range;
    CU(cuMemCreate(&one, chunk, &about, 0));
    CU(cuMemCreate(&two, chunk, &about, 0));
    CU(cuMemAddressReserve(&range, 3 * chunk, 0, 0, 0));
    CU(cuMemMap(range, chunk, 0, one, 0));
    CU(cuMemMap(range + chunk, chunk, 0, two, 0));
    CU(cuMemMap(range + 2 * chunk, chunk, 0, one, 0));
    allow(range, 3 * chunk);
    name("one", range);
    name("two", range + chunk);
    names[watch_reservation(range)] = "all";
    EXPECT_EQ(watch_reservation(range), watch_reservation(range + chunk));
    TOUCHES(cuMemsetD8Async(range + 8, 0, 8, nullptr), "w one[8,16) w all[8,16)");
    TOUCHES(cuMemsetD8Async(range + 2 * chunk + 8, 0, 8, nullptr), "w one[8,16) w all[4194312,4194320)");
    TOUCHES(cuMemsetD8Async(range + chunk - 8, 0, 24, nullptr),
            "w one[2097144,2097152) w all[2097144,2097168) w two[0,16)");
    /* A pointer in one chunk is found by who gets a pointer to the other one. */
    CUdeviceptr a = device("a"), b = device("b");
    CUfunction gather = kernel(ptds_tables_ptx, PTDS_GATHER);
    CU(cuMemcpyHtoD(range + chunk + 16, &a, 8));
    EXPECT_EQ(launch(gather, b, range, 0u, 0u), "w b r one r all r a");
    EXPECT_EQ(launch(kernel(ptds_test_ptx, "fill"), range + 2 * chunk, 0u, 1u), "w one w all");
    EXPECT_EQ(launch(gather, b, range + chunk, 0u, 0u), "!POINTERS") << "it may have left one there";
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(range, chunk));
    EXPECT_EQ(watch_find(range), nullptr);
    TOUCHES(cuMemsetD8Async(range + 2 * chunk, 0, 8, nullptr), "w one[0,8) w all[4194304,4194312)");
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(range + chunk, 2 * chunk));
    CU(cuMemRelease(one));
    CU(cuMemRelease(two));
    CU(cuMemAddressFree(range, 3 * chunk));
}

/* A kernel that follows pointers in one chunk and writes another one may write what it follows. */
TEST_F(Touched, ChunksThatAreFollowedAndWritten)
{
    CUmemAllocationProp about = of_device();
    CUmemGenericAllocationHandle one, two;
    CUdeviceptr range, a = device("a"), b = device("b");
    CU(cuMemCreate(&one, chunk, &about, 0));
    CU(cuMemCreate(&two, chunk, &about, 0));
    CU(cuMemAddressReserve(&range, 2 * chunk, 0, 0, 0));
    map_chunk(range, one);
    map_chunk(range + chunk, two);
    name("one", range);
    names[watch_reservation(range)] = "all";
    CU(cuMemcpyHtoD(range, &a, 8));
    CUfunction follows = that_does("tw");
    EXPECT_EQ(launch(follows, range, b), "r one r all w b r a");
    EXPECT_EQ(launch(follows, range, range + chunk), "!POINTERS");
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(range, 2 * chunk));
    CU(cuMemRelease(one));
    CU(cuMemRelease(two));
    CU(cuMemAddressFree(range, 2 * chunk));
}

/* The address is a pointer to what is mapped there, and what is not: a kernel may go on from it to a chunk. */
/* Physical memory that lies with the host, or that the host has been let to, is the host's. */
TEST_F(Touched, ChunksOfTheHost)
{
    for (const CUmemLocationType type : {CU_MEM_LOCATION_TYPE_DEVICE, CU_MEM_LOCATION_TYPE_HOST,
                                         CU_MEM_LOCATION_TYPE_HOST_NUMA, CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT}) {
        const bool hosts = type != CU_MEM_LOCATION_TYPE_DEVICE;
        CUdeviceptr a = device("a"), at;
        CUmemAllocationProp about = of_device();
        CUmemGenericAllocationHandle handle;
        char own[16];
        about.location.type = type;
        CU(cuMemAddressReserve(&at, chunk, 0, 0, 0));
        CU(cuMemCreate(&handle, chunk, &about, 0));
        map_chunk(at, handle);
        CU(cuMemcpyDtoD(at, a, 16));
        EXPECT_EQ(watch_blocks, hosts) << type;
        EXPECT_EQ(last.host, hosts) << type;
        CU(cuMemsetD8Async(at, 1, 16, nullptr));
        EXPECT_EQ(last.host, hosts) << type;
        CU(cuMemcpyAsync(at, at + 64, 16, nullptr));
        EXPECT_EQ(watch_settles, hosts) << type;
        CU(cuMemcpyDtoH(own, at, 16));
        EXPECT_EQ(watch_blocks, 1) << "its name says it";
        const CUmemAccessDesc access = {{.type = CU_MEM_LOCATION_TYPE_HOST, .id = 0}, CU_MEM_ACCESS_FLAGS_PROT_READ};
        CU(cuMemSetAccess(at, chunk, &access, 1));
        CU(cuMemcpyDtoD(a, at, 16));
        EXPECT_EQ(watch_blocks, 1) << type;
        EXPECT_EQ(last.host, 1) << type;
        CU(cuCtxSynchronize());
        CU(cuMemUnmap(at, chunk));
        CU(cuMemRelease(handle));
        CU(cuMemAddressFree(at, chunk));
    }
}

TEST_F(Touched, PoolsOfTheHost)
{
    CUdeviceptr a = device("a");
    for (int kind = 0; kind < 4; kind++) {
        const bool hosts = kind == 1 || kind == 2;
        CUmemPoolProps about = {};
        CUmemoryPool pool;
        CUdeviceptr one;
        about.allocType = kind == 1 ? CU_MEM_ALLOCATION_TYPE_MANAGED : CU_MEM_ALLOCATION_TYPE_PINNED;
        about.location.type = kind == 2 ? CU_MEM_LOCATION_TYPE_HOST_NUMA : CU_MEM_LOCATION_TYPE_DEVICE;
        if (kind == 3) { /* one that nobody has seen being made */
            CU(cuDeviceGetDefaultMemPool(&pool, 0));
        } else {
            CU(cuMemPoolCreate(&pool, &about));
        }
        CU(cuMemAllocFromPoolAsync(&one, 4096, pool, nullptr));
        CU(cuMemcpyDtoD(one, a, 16));
        EXPECT_EQ(watch_blocks, hosts) << kind;
        EXPECT_EQ(last.host, hosts) << kind;
        CU(cuMemFreeAsync(one, nullptr));
        CU(cuCtxSynchronize());
        if (kind != 3) {
            CU(cuMemPoolDestroy(pool));
        }
    }
}

TEST_F(Touched, WhereNothingIsMapped)
{
    CUmemAllocationProp about = of_device();
    CUmemGenericAllocationHandle handle;
    CUdeviceptr range, other;
    CU(cuMemCreate(&handle, chunk, &about, 0));
    CU(cuMemAddressReserve(&range, 4 * chunk, 0, 0, 0));
    CU(cuMemAddressReserve(&other, chunk, 0, 0, 0));
    map_chunk(range + chunk, handle);
    name("one", range + chunk);
    names[watch_reservation(range + chunk)] = "all";
    const CUfunction fill = kernel(ptds_test_ptx, "fill"), copy = kernel(ptds_test_ptx, "copy");
    EXPECT_EQ(launch(fill, range, 0u, 0u), "w all");
    EXPECT_EQ(launch(fill, range + chunk - 8, 0u, 0u), "w all w one") << "not far before a chunk";
    EXPECT_EQ(launch(fill, range + chunk - 65536, 0u, 0u), "w all w one");
    EXPECT_EQ(launch(fill, range + chunk - 65544, 0u, 0u), "w all");
    EXPECT_EQ(launch(fill, range + 2 * chunk, 0u, 0u), "w all w one") << "its end";
    EXPECT_EQ(launch(fill, range + 3 * chunk, 0u, 0u), "w all");
    EXPECT_EQ(launch(copy, range + 3 * chunk, range + chunk, 0u), "w all r one");
    EXPECT_EQ(launch(copy, range + 4 * chunk, range + chunk, 0u), "w all r one") << "its end";
    EXPECT_EQ(launch(fill, other, 0u, 0u), "w ?");
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(range + chunk, chunk));
    CU(cuMemRelease(handle));
    EXPECT_EQ(launch(fill, range, 0u, 0u), "w all") << "nothing is mapped any more";
    CU(cuMemAddressFree(range, 4 * chunk));
    EXPECT_EQ(launch(fill, range, 0u, 0u), "!BASE");
    CU(cuMemAddressFree(other, chunk));
}

/* Of reservations the record tells by their chunks, where there are some. */
TEST_F(Touched, TheRecordOfWhereNothingIsMapped)
{
    CUmemAllocationProp about = of_device();
    CUmemGenericAllocationHandle handle;
    CUdeviceptr range;
    CU(cuMemCreate(&handle, chunk, &about, 0));
    CU(cuMemAddressReserve(&range, 3 * chunk, 0, 0, 0));
    map_chunk(range, handle);
    const uint32_t all = watch_reservation(range)->uid, one = watch_find(range)->uid;
    CUfunction reads = that_does("rw");
    const auto named = [&](CUdeviceptr read, CUdeviceptr written, uint32_t uid) {
        void *params[] = {&read, &written};
        return watch_names(reads, params, uid);
    };
    EXPECT_EQ(2, named(0, range + 2 * chunk, all));
    EXPECT_EQ(1, named(range + 2 * chunk, 0, all));
    EXPECT_EQ(0, named(0, range, all)) << "the chunk is named by its word";
    EXPECT_EQ(0, named(range, range, all));
    EXPECT_EQ(0, named(range + 2 * chunk, range, all));
    EXPECT_EQ(2, named(range, range + 2 * chunk + 8, all)) << "of the chunk only a read is told";
    EXPECT_EQ(0, named(range, range + 2 * chunk + 8, one));
    CU(cuMemUnmap(range, chunk));
    CU(cuMemRelease(handle));
    CU(cuMemAddressFree(range, 3 * chunk));
}

/* In two reservations at once: what each reaches, the other may reach, too. After one has gone, nothing is left of it. */
TEST_F(Touched, ChunksInTwoReservations)
{
    CUmemAllocationProp about = of_device();
    CUmemGenericAllocationHandle handle;
    CUdeviceptr first, second;
    CU(cuMemCreate(&handle, chunk, &about, 0));
    CU(cuMemAddressReserve(&first, chunk, 0, 0, 0));
    CU(cuMemAddressReserve(&second, chunk, 0, 0, 0));
    map_chunk(first, handle);
    const memory *before = watch_reservation(first);
    CU(cuMemUnmap(first, chunk));
    map_chunk(second, handle);
    EXPECT_NE(watch_reservation(second), before);
    name("chunk", second);
    names[watch_reservation(second)] = "second";
    TOUCHES(cuMemsetD8Async(second, 0, 8, nullptr), "w chunk[0,8) w second[0,8)");
    map_chunk(first, handle);
    TOUCHES(cuMemsetD8Async(first, 0, 8, nullptr), "!OTHER");
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(first, chunk));
    CU(cuMemUnmap(second, chunk));
    CU(cuMemRelease(handle));
    CU(cuMemAddressFree(first, chunk));
    CU(cuMemAddressFree(second, chunk));
}

/* Its contents stay when a chunk is mapped in another reservation, so what is known of pointers there goes with it. */
TEST_F(Touched, PointersInAChunkThatMoves)
{
    CUmemAllocationProp about = of_device();
    CUmemGenericAllocationHandle handle;
    CUdeviceptr first, second, a = device("a"), b = device("b");
    CUfunction gather = kernel(ptds_tables_ptx, PTDS_GATHER);
    CU(cuMemCreate(&handle, chunk, &about, 0));
    CU(cuMemAddressReserve(&first, chunk, 0, 0, 0));
    CU(cuMemAddressReserve(&second, chunk, 0, 0, 0));
    map_chunk(first, handle);
    CU(cuMemcpyHtoD(first + 16, &a, 8));
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(first, chunk));
    map_chunk(second, handle);
    name("chunk", second);
    names[watch_reservation(second)] = "second";
    EXPECT_EQ(launch(gather, b, second, 0u, 0u), "w b r chunk r second r a");
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(second, chunk));
    CU(cuMemRelease(handle));
    CU(cuMemAddressFree(first, chunk));
    CU(cuMemAddressFree(second, chunk));
}

/* A pointer that lies in memory leads to what is mapped there by the time that it is followed. */
TEST_F(Touched, PointersToWhatIsMappedLater)
{
    CUmemAllocationProp about = of_device();
    CUmemGenericAllocationHandle one, two;
    CUdeviceptr range, table = device("table"), early = device("early"), c = device("c");
    CUfunction gather = kernel(ptds_tables_ptx, "gather"), mangled = kernel(ptds_tables_ptx, PTDS_GATHER);
    CU(cuMemCreate(&one, chunk, &about, 0));
    CU(cuMemCreate(&two, chunk, &about, 0));
    CU(cuMemAddressReserve(&range, chunk, 0, 0, 0));
    CU(cuMemcpyHtoD(early, &range, 8));
    map_chunk(range, one);
    names[watch_reservation(range)] = "all";
    CU(cuMemcpyHtoD(table, &range, 8));
    EXPECT_EQ(launch(gather, c, table, 0u, 0u), "w c r table r all");
    EXPECT_EQ(launch(gather, c, early, 0u, 0u), "w c r early r all");
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(range, chunk));
    CU(cuMemRelease(one));
    map_chunk(range, two);
    for (CUdeviceptr by : {table, early}) {
        const std::string of = by == table ? "table" : "early";
        EXPECT_EQ(launch(gather, c, by, 0u, 0u), "w c r " + of + " r all");
        EXPECT_EQ(launch(mangled, c, by, 0u, 0u), "w c r " + of + " r all");
    }
    TOUCHES(cuMemsetD8Async(range, 0, 8, nullptr), "w ?[0,8) w all[0,8)");
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(range, chunk));
    CU(cuMemRelease(two));
    CU(cuMemAddressFree(range, chunk));
}

enum { TO_EXPORTER = 8, FROM_EXPORTER = 9 };

/* In a process of its own: memory for others, until they have closed it. */
int give_memory()
{
    CUcontext context;
    CUdeviceptr memory = 0;
    CUipcMemHandle handle;
    char end;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) || cuMemAlloc(&memory, 4096) ||
        cuIpcGetMemHandle(&handle, memory))
        return 1;
    return write(FROM_EXPORTER, &handle, sizeof handle) == sizeof handle && read(TO_EXPORTER, &end, 1) == 0 ? 0 : 1;
}

struct Exporter : testing::Environment {
    void SetUp() override
    {
        if (getenv("TOUCHED_EXPORTS"))
            _exit(give_memory());
    }
};
[[maybe_unused]] testing::Environment *const exporter = testing::AddGlobalTestEnvironment(new Exporter);

pid_t start_exporter(const int to[2], const int from[2])
{
    pid_t child = fork();
    if (child != 0)
        return child;
    dup2(to[0], TO_EXPORTER);
    dup2(from[1], FROM_EXPORTER);
    close(to[1]);
    setenv("TOUCHED_EXPORTS", "1", 1);
    execl("/proc/self/exe", "exporter", static_cast<char *>(nullptr));
    _exit(127);
}

/* Opened twice at one place, it is there until it is closed twice. Before this process gives any away: then it might be
 * its own. */
TEST_F(Touched, MemoryOfAnotherProcess)
{
    int to[2], from[2], status = 1;
    CUipcMemHandle handle;
    CUdeviceptr theirs = 0, again = 0;
    ASSERT_EQ(pipe(to) | pipe(from), 0);
    pid_t child = start_exporter(to, from);
    close(to[0]), close(from[1]);
    ASSERT_EQ(read(from[0], &handle, sizeof handle), (ssize_t)sizeof handle);
    CU(cuIpcOpenMemHandle(&theirs, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    name("theirs", theirs);
    TOUCHES(cuMemsetD8Async(theirs + 8, 0, 8, nullptr), "w theirs[8,16)");
    CU(cuIpcOpenMemHandle(&again, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    ASSERT_EQ(again, theirs);
    CU(cuIpcCloseMemHandle(theirs));
    TOUCHES(cuMemsetD8Async(theirs + 8, 0, 8, nullptr), "w theirs[8,16)");
    CU(cuCtxSynchronize());
    CU(cuIpcCloseMemHandle(theirs));
    EXPECT_EQ(watch_find(theirs), nullptr);
    close(to[1]), close(from[0]);
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

TEST_F(Touched, MemoryThatOthersGet)
{
    CUdeviceptr b = device("b");
    CUipcMemHandle handle;
    TOUCHES(cuMemsetD8Async(b, 0, 8, nullptr), "w b[0,8)");
    EXPECT_EQ(last.host, 0);
    CU(cuIpcGetMemHandle(&handle, b));
    TOUCHES(cuMemsetD8Async(b, 0, 8, nullptr), "w b[0,8)");
    EXPECT_EQ(last.host, 1);
}

/* Memory that was handed out and came back as another is still that when it is handed out again. */
TEST_F(Touched, MemoryThatComesBackMayBeAnyOfOurs)
{
    CUmemAllocationProp about = of_device();
    about.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CUmemGenericAllocationHandle ours, back;
    CUdeviceptr range;
    int descriptor = -1;
    CU(cuMemCreate(&ours, chunk, &about, 0));
    CU(cuMemExportToShareableHandle(&descriptor, ours, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CU(cuMemImportFromShareableHandle(&back, (void *)(intptr_t)descriptor, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(descriptor);
    CU(cuMemAddressReserve(&range, chunk, 0, 0, 0));
    map_chunk(range, back);
    TOUCHES(cuMemsetD8Async(range, 0, 8, nullptr), "!OTHER");
    CU(cuMemExportToShareableHandle(&descriptor, back, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    close(descriptor);
    TOUCHES(cuMemsetD8Async(range, 0, 8, nullptr), "!OTHER");
    EXPECT_EQ(last.host, 1) << "and others can touch it";
    CU(cuCtxSynchronize());
    CUdeviceptr table = device("table");
    CU(cuMemcpyHtoD(table, &range, 8));
    EXPECT_EQ(launch(kernel(ptds_tables_ptx, "gather"), table, table, 0u, 0u), "!OTHER") << "a pointer leads there";
    EXPECT_EQ(last.host, 1);
    CU(cuCtxSynchronize());
    CU(cuMemUnmap(range, chunk));
    CU(cuMemRelease(back));
    CU(cuMemRelease(ours));
    CU(cuMemAddressFree(range, chunk));
}

TEST_F(Touched, AnEventIsKnownFromItsFirstUseOn)
{
    CUevent one, two;
    CU(cuEventCreate(&one, 0));
    CU(cuEventCreate(&two, 0));
    for (bool past : {false, true}) {
        if (past)
            watch_forget_events();
        CU(cuEventRecord(one, nullptr));
        const uint32_t object = watch_object;
        EXPECT_NE(0u, object) << past;
        EXPECT_EQ(1u, watch_generation) << past;
        CU(cuEventRecord(two, nullptr));
        EXPECT_NE(0u, watch_object) << past;
        EXPECT_NE(object, watch_object) << past;
        CU(cuEventRecord(one, nullptr));
        EXPECT_EQ(object, watch_object) << past;
        EXPECT_EQ(2u, watch_generation) << past;
        CU(cuStreamWaitEvent(nullptr, one, 0));
        EXPECT_EQ(object, watch_object) << past;
        EXPECT_EQ(2u, watch_generation) << "what was recorded last: " << past;
    }
    CU(cuEventDestroy(one));
    CU(cuEventDestroy(two));
}

/* Its launches record it, whenever that is: who waits gets a recording that nobody saw. */
TEST_F(Touched, AnEventThatGraphsRecord)
{
    CUevent one, other;
    CUgraph graph;
    CUgraphNode node;
    CU(cuEventCreate(&one, 0));
    CU(cuEventCreate(&other, 0));
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddEventWaitNode(&node, graph, nullptr, 0, one));
    CU(cuEventRecord(one, nullptr));
    CU(cuStreamWaitEvent(nullptr, one, 0));
    EXPECT_EQ(1u, watch_generation) << "a graph that waits records nothing";
    CU(cuGraphAddEventRecordNode(&node, graph, nullptr, 0, one));
    CU(cuStreamWaitEvent(nullptr, one, 0));
    EXPECT_EQ(2u, watch_generation);
    CU(cuStreamWaitEvent(nullptr, one, 0));
    EXPECT_EQ(3u, watch_generation) << "and perhaps another one by now";
    CU(cuEventRecord(one, nullptr));
    EXPECT_EQ(4u, watch_generation);
    CU(cuStreamWaitEvent(nullptr, one, 0));
    EXPECT_EQ(5u, watch_generation) << "for ever";
    CU(cuEventRecord(other, nullptr));
    CU(cuStreamWaitEvent(nullptr, other, 0));
    EXPECT_EQ(1u, watch_generation);
    CU(cuGraphEventRecordNodeSetEvent(node, other));
    CU(cuStreamWaitEvent(nullptr, other, 0));
    EXPECT_EQ(2u, watch_generation);
    EXPECT_NE(CUDA_SUCCESS, cuGraphAddEventRecordNode(&node, graph, nullptr, 0, nullptr));
    const CUevent handle = one;
    CU(cuEventDestroy(one));
    for (int i = 0; i < 100 && (cuEventCreate(&one, 0), one != handle); i++) {
    }
    if (one == handle) { /* as a new event: of no graph */
        CU(cuEventRecord(one, nullptr));
        CU(cuStreamWaitEvent(nullptr, one, 0));
        EXPECT_EQ(1u, watch_generation);
    }
}

/* It lives until the graph runs. */
TEST_F(Touched, AFreeInACapture)
{
    CUdeviceptr pointer;
    CUstream stream;
    CUgraph graph;
    CU(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CU(cuMemAllocAsync(&pointer, 4096, stream));
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUresult result = cuMemFreeAsync(pointer, stream); /* the simulated driver has no such nodes */
    EXPECT_TRUE(result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_SUPPORTED) << result;
    CU(cuStreamEndCapture(stream, &graph));
    EXPECT_NE(watch_find(pointer), nullptr);
    name("pool", pointer);
    TOUCHES(cuMemsetD8Async(pointer, 0, 8, nullptr), "w pool[0,8)");
    CU(cuGraphDestroy(graph));
    TOUCHES(cuMemFreeAsync(pointer, stream), "w pool");
    EXPECT_EQ(watch_find(pointer), nullptr);
    CU(cuStreamDestroy(stream));
}

/* The thread's own stream captures, or another one does. */
TEST_F(Touched, AFreeBesideACapture)
{
    CUdeviceptr pointer;
    CUstream stream;
    CUgraph graph;
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (CUstream captured : {CU_STREAM_PER_THREAD, stream}) {
        for (CUstream frees : {CU_STREAM_PER_THREAD, stream}) {
            CU(cuMemAllocAsync(&pointer, 4096, stream));
            CU(cuStreamSynchronize(stream));
            CU(cuStreamBeginCapture(captured, CU_STREAM_CAPTURE_MODE_RELAXED));
            const CUresult result = cuMemFreeAsync(pointer, frees);
            EXPECT_EQ(result, captured == frees ? CUDA_ERROR_NOT_SUPPORTED : CUDA_SUCCESS);
            EXPECT_EQ(watch_find(pointer) != nullptr, captured == frees);
            CU(cuStreamEndCapture(captured, &graph));
            CU(cuGraphDestroy(graph));
            if (captured == frees) {
                CU(cuMemFree(pointer));
            }
        }
    }
    CU(cuCtxSynchronize());
    CU(cuStreamDestroy(stream));
}

TEST_F(Touched, StreamOrderedMemory)
{
    CUdeviceptr pointer;
    CU(cuMemAllocAsync(&pointer, 4096, nullptr));
    name("pool", pointer);
    TOUCHES(cuMemsetD8Async(pointer, 0, 8, nullptr), "w pool[0,8)");
    TOUCHES(cuMemFreeAsync(pointer, nullptr), "w pool");
    EXPECT_EQ(watch_find(pointer), nullptr);
    /* A free that fails leaves it. */
    CUdeviceptr a = device("a");
    EXPECT_NE(cuMemHostUnregister(reinterpret_cast<void *>(a)), CUDA_SUCCESS);
    EXPECT_EQ(watch_find(a), watch_find(a + 1));
    EXPECT_NE(watch_find(a), nullptr);
}

} // namespace
