/* SPDX-License-Identifier: Apache-2.0
 *
 * Where each function that treats the default stream sends it, per policy, through every door: against a list that was
 * written down from the toolkit's headers, and not against the table that the shim is made from. So a row that is missing
 * there, has another's twin, or goes another way, is found.
 */
#include <map>
#include <sstream>

#include "tests/interpose/shim_test.h"

extern "C" {
#include "interpose/api/api.h"
}

namespace ptds
{
namespace
{

enum Kind {
    WORK,     /* goes where the policy wants it */
    IMPLICIT, /* names no stream; the guard has it by the asynchronous form, which does */
    ASKS,     /* asks or changes the stream itself, or keeps it for later: the guard leaves the one that was named */
    ATTACH,   /* may be for the one stream that is named, which its arguments tell; so no look-up gives its twin */
    REFUSES,  /* the driver refuses the legacy stream, and the program has to see that */
};

struct Row {
    const char *symbol, *twin;
    unsigned since, twin_since; /* CUDA versions */
    Kind kind;
    const char *async = nullptr;
};

const Row rows[] = {
    {"cuEventRecord", "cuEventRecord_ptsz", 2000, 7000, WORK},
    {"cuEventRecordWithFlags", "cuEventRecordWithFlags_ptsz", 11010, 11010, WORK},
    {"cuFabricCpyBatchAsync", "cuFabricCpyBatchAsync_ptsz", 13050, 13050, REFUSES},
    {"cuGLMapBufferObjectAsync_v2", "cuGLMapBufferObjectAsync_v2_ptsz", 3020, 7000, WORK},
    {"cuGLMapBufferObject_v2", "cuGLMapBufferObject_v2_ptds", 3020, 7000, IMPLICIT, "cuGLMapBufferObjectAsync_v2"},
    {"cuGraphInstantiateWithParams", "cuGraphInstantiateWithParams_ptsz", 12000, 12000, ASKS},
    {"cuGraphLaunch", "cuGraphLaunch_ptsz", 10000, 10000, WORK},
    {"cuGraphUpload", "cuGraphUpload_ptsz", 11010, 11010, WORK},
    {"cuGraphicsMapResources", "cuGraphicsMapResources_ptsz", 3000, 7000, WORK},
    {"cuGraphicsUnmapResources", "cuGraphicsUnmapResources_ptsz", 3000, 7000, WORK},
    {"cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel_ptsz", 9000, 9000, WORK},
    {"cuLaunchHostFunc", "cuLaunchHostFunc_ptsz", 10000, 10000, WORK},
    {"cuLaunchHostFunc_v2", "cuLaunchHostFunc_v2_ptsz", 13010, 13010, WORK},
    {"cuLaunchKernel", "cuLaunchKernel_ptsz", 4000, 7000, WORK},
    {"cuLaunchKernelEx", "cuLaunchKernelEx_ptsz", 11060, 11060, WORK},
    {"cuMemAllocAsync", "cuMemAllocAsync_ptsz", 11020, 11020, WORK},
    {"cuMemAllocFromPoolAsync", "cuMemAllocFromPoolAsync_ptsz", 11020, 11020, WORK},
    {"cuMemBatchDecompressAsync", "cuMemBatchDecompressAsync_ptsz", 12060, 12060, WORK},
    {"cuMemDiscardAndPrefetchBatchAsync", "cuMemDiscardAndPrefetchBatchAsync_ptsz", 13000, 13000, REFUSES},
    {"cuMemDiscardBatchAsync", "cuMemDiscardBatchAsync_ptsz", 13000, 13000, REFUSES},
    {"cuMemFreeAsync", "cuMemFreeAsync_ptsz", 11020, 11020, WORK},
    {"cuMemMapArrayAsync", "cuMemMapArrayAsync_ptsz", 11010, 11010, WORK},
    {"cuMemPrefetchAsync", "cuMemPrefetchAsync_ptsz", 8000, 8000, WORK},
    {"cuMemPrefetchAsync_v2", "cuMemPrefetchAsync_v2_ptsz", 12020, 12020, WORK},
    {"cuMemPrefetchBatchAsync", "cuMemPrefetchBatchAsync_ptsz", 13000, 13000, REFUSES},
    {"cuMemcpy", "cuMemcpy_ptds", 4000, 7000, IMPLICIT, "cuMemcpyAsync"},
    {"cuMemcpy2DAsync_v2", "cuMemcpy2DAsync_v2_ptsz", 3020, 7000, WORK},
    {"cuMemcpy2DUnaligned_v2", "cuMemcpy2DUnaligned_v2_ptds", 3020, 7000, IMPLICIT, "cuMemcpy2DAsync_v2"},
    {"cuMemcpy2D_v2", "cuMemcpy2D_v2_ptds", 3020, 7000, IMPLICIT, "cuMemcpy2DAsync_v2"},
    {"cuMemcpy3DAsync_v2", "cuMemcpy3DAsync_v2_ptsz", 3020, 7000, WORK},
    {"cuMemcpy3DBatchAsync", "cuMemcpy3DBatchAsync_ptsz", 12080, 12080, REFUSES},
    {"cuMemcpy3DBatchAsync_v2", "cuMemcpy3DBatchAsync_v2_ptsz", 13000, 13000, REFUSES},
    {"cuMemcpy3DPeer", "cuMemcpy3DPeer_ptds", 4000, 7000, IMPLICIT, "cuMemcpy3DPeerAsync"},
    {"cuMemcpy3DPeerAsync", "cuMemcpy3DPeerAsync_ptsz", 4000, 7000, WORK},
    {"cuMemcpy3DWithAttributesAsync", "cuMemcpy3DWithAttributesAsync_ptsz", 13020, 13020, REFUSES},
    {"cuMemcpy3D_v2", "cuMemcpy3D_v2_ptds", 3020, 7000, IMPLICIT, "cuMemcpy3DAsync_v2"},
    {"cuMemcpyAsync", "cuMemcpyAsync_ptsz", 4000, 7000, WORK},
    {"cuMemcpyAtoA_v2", "cuMemcpyAtoA_v2_ptds", 3020, 7000, IMPLICIT, "cuMemcpy3DAsync_v2"},
    {"cuMemcpyAtoD_v2", "cuMemcpyAtoD_v2_ptds", 3020, 7000, IMPLICIT, "cuMemcpy3DAsync_v2"},
    {"cuMemcpyAtoHAsync_v2", "cuMemcpyAtoHAsync_v2_ptsz", 3020, 7000, WORK},
    {"cuMemcpyAtoH_v2", "cuMemcpyAtoH_v2_ptds", 3020, 7000, IMPLICIT, "cuMemcpyAtoHAsync_v2"},
    {"cuMemcpyBatchAsync", "cuMemcpyBatchAsync_ptsz", 12080, 12080, REFUSES},
    {"cuMemcpyBatchAsync_v2", "cuMemcpyBatchAsync_v2_ptsz", 13000, 13000, REFUSES},
    {"cuMemcpyDtoA_v2", "cuMemcpyDtoA_v2_ptds", 3020, 7000, IMPLICIT, "cuMemcpy3DAsync_v2"},
    {"cuMemcpyDtoDAsync_v2", "cuMemcpyDtoDAsync_v2_ptsz", 3020, 7000, WORK},
    {"cuMemcpyDtoD_v2", "cuMemcpyDtoD_v2_ptds", 3020, 7000, IMPLICIT, "cuMemcpyDtoDAsync_v2"},
    {"cuMemcpyDtoHAsync_v2", "cuMemcpyDtoHAsync_v2_ptsz", 3020, 7000, WORK},
    {"cuMemcpyDtoH_v2", "cuMemcpyDtoH_v2_ptds", 3020, 7000, IMPLICIT, "cuMemcpyDtoHAsync_v2"},
    {"cuMemcpyHtoAAsync_v2", "cuMemcpyHtoAAsync_v2_ptsz", 3020, 7000, WORK},
    {"cuMemcpyHtoA_v2", "cuMemcpyHtoA_v2_ptds", 3020, 7000, IMPLICIT, "cuMemcpyHtoAAsync_v2"},
    {"cuMemcpyHtoDAsync_v2", "cuMemcpyHtoDAsync_v2_ptsz", 3020, 7000, WORK},
    {"cuMemcpyHtoD_v2", "cuMemcpyHtoD_v2_ptds", 3020, 7000, IMPLICIT, "cuMemcpyHtoDAsync_v2"},
    {"cuMemcpyPeer", "cuMemcpyPeer_ptds", 4000, 7000, IMPLICIT, "cuMemcpyPeerAsync"},
    {"cuMemcpyPeerAsync", "cuMemcpyPeerAsync_ptsz", 4000, 7000, WORK},
    {"cuMemcpyWithAttributesAsync", "cuMemcpyWithAttributesAsync_ptsz", 13020, 13020, REFUSES},
    {"cuMemsetD16Async", "cuMemsetD16Async_ptsz", 3020, 7000, WORK},
    {"cuMemsetD16_v2", "cuMemsetD16_v2_ptds", 3020, 7000, IMPLICIT, "cuMemsetD16Async"},
    {"cuMemsetD2D16Async", "cuMemsetD2D16Async_ptsz", 3020, 7000, WORK},
    {"cuMemsetD2D16_v2", "cuMemsetD2D16_v2_ptds", 3020, 7000, IMPLICIT, "cuMemsetD2D16Async"},
    {"cuMemsetD2D32Async", "cuMemsetD2D32Async_ptsz", 3020, 7000, WORK},
    {"cuMemsetD2D32_v2", "cuMemsetD2D32_v2_ptds", 3020, 7000, IMPLICIT, "cuMemsetD2D32Async"},
    {"cuMemsetD2D8Async", "cuMemsetD2D8Async_ptsz", 3020, 7000, WORK},
    {"cuMemsetD2D8_v2", "cuMemsetD2D8_v2_ptds", 3020, 7000, IMPLICIT, "cuMemsetD2D8Async"},
    {"cuMemsetD32Async", "cuMemsetD32Async_ptsz", 3020, 7000, WORK},
    {"cuMemsetD32_v2", "cuMemsetD32_v2_ptds", 3020, 7000, IMPLICIT, "cuMemsetD32Async"},
    {"cuMemsetD8Async", "cuMemsetD8Async_ptsz", 3020, 7000, WORK},
    {"cuMemsetD8_v2", "cuMemsetD8_v2_ptds", 3020, 7000, IMPLICIT, "cuMemsetD8Async"},
    {"cuSignalExternalSemaphoresAsync", "cuSignalExternalSemaphoresAsync_ptsz", 10000, 10000, WORK},
    {"cuStreamAddCallback", "cuStreamAddCallback_ptsz", 5000, 7000, WORK},
    {"cuStreamAttachMemAsync", "cuStreamAttachMemAsync_ptsz", 6000, 7000, ATTACH},
    {"cuStreamBatchMemOp", "cuStreamBatchMemOp_ptsz", 8000, 8000, WORK},
    {"cuStreamBatchMemOp_v2", "cuStreamBatchMemOp_v2_ptsz", 11070, 11070, WORK},
    {"cuStreamBeginCapture", "cuStreamBeginCapture_ptsz", 10000, 10000, REFUSES},
    {"cuStreamBeginCaptureToCig", "cuStreamBeginCaptureToCig_ptsz", 13010, 13010, REFUSES},
    {"cuStreamBeginCaptureToGraph", "cuStreamBeginCaptureToGraph_ptsz", 12030, 12030, REFUSES},
    {"cuStreamBeginCapture_v2", "cuStreamBeginCapture_v2_ptsz", 10010, 10010, REFUSES},
    {"cuStreamBeginRecaptureToGraph", "cuStreamBeginRecaptureToGraph_ptsz", 13030, 13030, REFUSES},
    {"cuStreamCopyAttributes", "cuStreamCopyAttributes_ptsz", 11000, 11000, ASKS},
    {"cuStreamEndCapture", "cuStreamEndCapture_ptsz", 10000, 10000, REFUSES},
    {"cuStreamEndCaptureToCig", "cuStreamEndCaptureToCig_ptsz", 13010, 13010, REFUSES},
    {"cuStreamGetAttribute", "cuStreamGetAttribute_ptsz", 11000, 11000, ASKS},
    {"cuStreamGetCaptureInfo", "cuStreamGetCaptureInfo_ptsz", 10010, 10010, ASKS},
    {"cuStreamGetCaptureInfo_v2", "cuStreamGetCaptureInfo_v2_ptsz", 11030, 11030, ASKS},
    {"cuStreamGetCaptureInfo_v3", "cuStreamGetCaptureInfo_v3_ptsz", 12030, 12030, ASKS},
    {"cuStreamGetCtx", "cuStreamGetCtx_ptsz", 9020, 9020, ASKS},
    {"cuStreamGetCtx_v2", "cuStreamGetCtx_v2_ptsz", 12050, 12050, ASKS},
    {"cuStreamGetDevResource", "cuStreamGetDevResource_ptsz", 13010, 13010, ASKS},
    {"cuStreamGetDevice", "cuStreamGetDevice_ptsz", 12080, 12080, ASKS},
    {"cuStreamGetFlags", "cuStreamGetFlags_ptsz", 5050, 7000, ASKS},
    {"cuStreamGetId", "cuStreamGetId_ptsz", 12000, 12000, ASKS},
    {"cuStreamGetPriority", "cuStreamGetPriority_ptsz", 5050, 7000, ASKS},
    {"cuStreamIsCapturing", "cuStreamIsCapturing_ptsz", 10000, 10000, ASKS},
    {"cuStreamQuery", "cuStreamQuery_ptsz", 2000, 7000, ASKS},
    {"cuStreamSetAttribute", "cuStreamSetAttribute_ptsz", 11000, 11000, ASKS},
    {"cuStreamSynchronize", "cuStreamSynchronize_ptsz", 2000, 7000, WORK},
    {"cuStreamUpdateCaptureDependencies", "cuStreamUpdateCaptureDependencies_ptsz", 11030, 11030, REFUSES},
    {"cuStreamUpdateCaptureDependencies_v2", "cuStreamUpdateCaptureDependencies_v2_ptsz", 12030, 12030, REFUSES},
    {"cuStreamWaitEvent", "cuStreamWaitEvent_ptsz", 3020, 7000, WORK},
    {"cuStreamWaitValue32", "cuStreamWaitValue32_ptsz", 8000, 8000, WORK},
    {"cuStreamWaitValue32_v2", "cuStreamWaitValue32_v2_ptsz", 11070, 11070, WORK},
    {"cuStreamWaitValue64", "cuStreamWaitValue64_ptsz", 9000, 9000, WORK},
    {"cuStreamWaitValue64_v2", "cuStreamWaitValue64_v2_ptsz", 11070, 11070, WORK},
    {"cuStreamWriteValue32", "cuStreamWriteValue32_ptsz", 8000, 8000, WORK},
    {"cuStreamWriteValue32_v2", "cuStreamWriteValue32_v2_ptsz", 11070, 11070, WORK},
    {"cuStreamWriteValue64", "cuStreamWriteValue64_ptsz", 9000, 9000, WORK},
    {"cuStreamWriteValue64_v2", "cuStreamWriteValue64_v2_ptsz", 11070, 11070, WORK},
    {"cuWaitExternalSemaphoresAsync", "cuWaitExternalSemaphoresAsync_ptsz", 10000, 10000, WORK},
};
static_assert(sizeof rows / sizeof rows[0] == 107);

TEST(DoorList, IsTheTablesRows)
{
    std::map<std::string, const Row *> written;
    for (const Row &row : rows)
        written[row.symbol] = &row;
    ASSERT_EQ(107u, written.size());
    size_t with_twin = 0;
    for (const api_row &row : api_rows) {
        auto found = written.find(row.symbol);
        EXPECT_EQ(found != written.end(), row.twin_symbol != nullptr) << row.symbol;
        if (found == written.end() || row.twin_symbol == nullptr)
            continue;
        with_twin++;
        EXPECT_STREQ(found->second->twin, row.twin_symbol);
        EXPECT_EQ(found->second->since, row.since) << row.symbol;
        EXPECT_EQ(found->second->twin_since, row.twin_since) << row.symbol;
    }
    EXPECT_EQ(107u, with_twin);
}

/* "call DOOR SYMBOL STREAM" -> what the driver saw, and its result. A forced one is that of all functions with a twin. */
std::map<std::string, std::string> seen(const char *policy, const char *forced = "")
{
    Settings settings = {{"PTDS_POLICY", policy}};
    if (forced[0] != 0)
        settings["FAKE_RESULT"] = forced;
    Outcome outcome = run(shimmed("doors_child", {}, settings));
    EXPECT_EQ(0, outcome.exit) << outcome;
    std::map<std::string, std::string> calls;
    for (const std::string &line : lines_of(outcome.out)) {
        size_t colon = line.find(" : ");
        if (colon != std::string::npos)
            calls[line.substr(0, colon)] = line.substr(colon + 3);
    }
    return calls;
}

/* The driver's functions that the row is about, with their stream, in order; the shim's own events and waits are not. */
std::string about(const Row &row, const std::string &entries)
{
    std::istringstream words(entries);
    std::string kept;
    for (std::string word; words >> word;) {
        const std::string name = word.substr(0, word.find('('));
        const bool own_event = word.find(";E") != std::string::npos;
        const bool another_lane = word.find("(L") != std::string::npos && !kept.empty();
        if (own_event || another_lane || (name != row.symbol && name != row.twin && (!row.async || name != row.async)))
            continue;
        const size_t end = word.find_first_of(",;)");
        kept += (kept.empty() ? "" : " ") + (end == std::string::npos ? word : word.substr(0, end) + ")");
    }
    return kept;
}

class DoorLiterals : public testing::TestWithParam<const char *>
{
};

/* Of the default stream at the plain entry, by policy. */
std::string expected(const std::string &policy, const Row &row)
{
    const std::string symbol = row.symbol, twin = row.twin;
    if (policy == "observe" || row.kind == REFUSES)
        return row.kind == IMPLICIT ? symbol : symbol + "(0)";
    if (policy == "per-thread")
        return row.kind == IMPLICIT ? twin : row.kind == ATTACH ? symbol + "(ptds)" : twin + "(0)";
    return row.kind == ASKS ? symbol + "(0)" : (row.kind == IMPLICIT ? row.async : symbol) + "(L1)";
}

TEST_P(DoorLiterals, EveryDoorSendsItThere)
{
    const std::string policy = GetParam();
    const std::map<std::string, std::string> calls = seen(GetParam());
    for (const char *door : {"elf", "dlsym", "dlvsym", "gpa1", "gpa2"})
        for (const Row &row : rows) {
            auto call = [&](const char *symbol, const char *stream) {
                const std::string name = std::string("call ") + door + " " + symbol + " " + stream;
                auto found = calls.find(name);
                EXPECT_NE(calls.end(), found) << name;
                return found != calls.end() ? about(row, found->second) : "";
            };
            const std::string base = call(row.symbol, "0");
            const std::string own = std::string(row.twin) + (row.kind == IMPLICIT ? "" : "(0)");
            EXPECT_EQ(expected(policy, row), base) << door << " " << row.symbol;
            EXPECT_EQ(own, call(row.twin, "0")) << door;
            if (row.kind == IMPLICIT || policy != "observe")
                continue;
            for (const char *stream : {"legacy", "ptds", "blocking", "nonblocking"}) {
                EXPECT_EQ(std::string(row.symbol) + "(" + stream + ")", call(row.symbol, stream)) << door;
            }
        }
}

/* A context that is broken, an argument that is wrong, work that goes on: the program gets the driver's code, whatever the
 * policy called in between, and the shim's own calls fail, too. */
TEST(DoorErrors, AreTheDrivers)
{
    auto result = [](const std::string &entries) {
        size_t at = entries.find(" =");
        return at != std::string::npos ? entries.substr(at + 2) : "0";
    };
    for (const char *code : {"719", "1", "600"}) {
        size_t failed = 0;
        const std::map<std::string, std::string> without = seen("none", code);
        for (const char *policy : {"observe", "per-thread", "guarded", "stream"}) {
            const std::map<std::string, std::string> with = seen(policy, code);
            ASSERT_EQ(without.size(), with.size()) << policy;
            for (const auto &[call, entries] : without) {
                EXPECT_EQ(result(entries), result(with.at(call))) << policy << ": " << call;
                failed += result(entries) == code;
            }
        }
        EXPECT_EQ(4u * 107 * 2 * 5 * 5, failed) << "each of the two, through five doors, with five streams, four policies";
    }
}

std::string policy_name(const testing::TestParamInfo<const char *> &policy)
{
    return std::string(policy.param) == "per-thread" ? "per_thread" : policy.param;
}

INSTANTIATE_TEST_SUITE_P(Policies, DoorLiterals, testing::Values("observe", "per-thread", "guarded"), policy_name);

} // namespace
} // namespace ptds
