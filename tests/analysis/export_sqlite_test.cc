// SPDX-License-Identifier: Apache-2.0
//
// The SQLite export, asked as the reports of `nsys stats` ask theirs: the queries are our own, the tables, columns and
// joins those that cuda_api_sum, cuda_gpu_kern_sum, cuda_gpu_mem_time_sum, cuda_gpu_mem_size_sum, cuda_gpu_sum,
// cuda_kern_exec_sum, cuda_gpu_trace, nvtx_sum and nvtx_pushpop_sum use. And our own tables.
#include "tests/analysis/exported.h"

#include <set>

#include <sqlite3.h>

#include "tests/support/run_child.h"

namespace ptds
{
namespace
{

/* Times on the GPU of all but one kernel, one copy and one memset. */
const char timed[] = "context 1\n"
                     "setting device.0.name=GPU\n"
                     "setting device.0.multiprocessors=132\n"
                     "setting device.0.capability_major=9\n"
                     "1@0 none\n"
                     "1@5 region outer\n"
                     "1@10+5 launch s=L to=P1 k=_Z4spinPf blocks=4\n"
                     "1@20+50 launch s=N1 k=_ZN2ns5otherIiEEvT_ blocks=2\n"
                     "1@75 region-end\n"
                     "1@80 launch s=N1 k=_Z4spinPf blocks=1\n"
                     "1@90 launch s=N1 k=_Z4lostv\n"
                     "1@100+30 copy s=L implicit from=pinned to=device bytes=4096\n"
                     "1@140 copy s=N1 from=device to=pageable bytes=100 height=3\n"
                     "1@150 copy s=N1 from=managed to=device bytes=8 api=cuMemcpyAsync\n"
                     "1@160 copy s=N1 from=device to=device bytes=64 api=cuMemcpyAsync\n"
                     "1@170 copy s=N1 from=device to=array bytes=32 api=cuMemcpy2DAsync_v2\n"
                     "1@180 copy s=N1 from=device to=device bytes=16 api=cuMemcpyPeerAsync\n"
                     "1@190 copy s=N1 from=device to=device bytes=9\n"
                     "1@200 memset s=N1 to=global bytes=256\n"
                     "1@210 memset s=N1 bytes=1\n"
                     "1@220 graph-launch s=N1\n"
                     "2@300+10 sync s=N1\n"
                     "2@320+5 record s=N1 e=E\n"
                     "2@330+7 event-sync e=E\n"
                     "2@340+9 ctx-sync\n"
                     "2@360 event-sync e=E\n"
                     "2@370+2 wait s=N1 e=E\n"
                     "2@380+4 sync s=N1 result=1\n"
                     "device-run 1@10 12+100\n"
                     "device-run 1@20 200+10\n"
                     "device-run 1@80 220+300\n"
                     "device-run 1@100 600+6\n"
                     "device-run 1@140 610+5\n"
                     "device-run 1@150 620+4\n"
                     "device-run 1@160 630+3\n"
                     "device-run 1@170 640+2\n"
                     "device-run 1@180 650+1\n"
                     "device-run 1@200 660+8\n"
                     "device-run 1@220 700+50\n";

class Database
{
public:
    explicit Database(const std::string &path) : path_(path)
    {
        EXPECT_EQ(SQLITE_OK, sqlite3_open(path.c_str(), &file_));
    }
    ~Database()
    {
        sqlite3_close(file_);
        unlink(path_.c_str());
    }
    Database(const Database &) = delete;

    /* Rows as "a|b|c\n"; NULL as "-". */
    std::string Ask(const std::string &query)
    {
        std::string rows;
        char *error = nullptr;
        auto row = [](void *data, int count, char **values, char **) {
            auto *out = static_cast<std::string *>(data);
            for (int i = 0; i < count; i++)
                *out += std::string(i != 0 ? "|" : "") + (values[i] != nullptr ? values[i] : "-");
            *out += "\n";
            return 0;
        };
        EXPECT_EQ(SQLITE_OK, sqlite3_exec(file_, query.c_str(), row, &rows, &error)) << error << "\n" << query;
        sqlite3_free(error);
        return rows;
    }
    bool Has(const std::string &table)
    {
        return Ask("SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = '" + table + "'") == "1\n";
    }

private:
    std::string path_;
    sqlite3 *file_ = nullptr;
};

TEST(Sqlite, CallsByFunction)
{
    Opened opened({BuildTrace(simple_trace)});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("cuLaunchKernel|3|-\ncuMemcpyDtoH_v2|1|5000000\ncuStreamSynchronize|1|3000\n",
              database.Ask("SELECT s.value, count(*), sum(r.\"end\" - r.start) FROM CUPTI_ACTIVITY_KIND_RUNTIME r"
                           " JOIN StringIds s ON s.id = r.nameId GROUP BY 1 ORDER BY 1"));
    EXPECT_EQ("4242|5000000\n4242|3000\n",
              database.Ask("SELECT (globalTid >> 24) & 0xFFFFFF, \"end\" - start FROM CUPTI_ACTIVITY_KIND_RUNTIME"
                           " WHERE \"end\" IS NOT NULL"));
    EXPECT_EQ("3\n", database.Ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE \"end\" IS NULL"))
        << "calls that were not timed have no end";
    EXPECT_EQ("CUDA Driver\n", database.Ask("SELECT DISTINCT c.label FROM CUPTI_ACTIVITY_KIND_RUNTIME r"
                                            " JOIN ENUM_NSYS_EVENT_CLASS c ON c.id = r.eventClass"));
}

/* As with nsys: where nothing was recorded there is no table, and its reports say so. */
TEST(Sqlite, WhatNobodyRecordedHasNoTable)
{
    Opened opened({BuildTrace(simple_trace)});
    testing::internal::CaptureStderr();
    Database database(opened.Export("sqlite"));
    std::string said = testing::internal::GetCapturedStderr();
    for (const char *table : {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
                              "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "TARGET_INFO_GPU"})
        EXPECT_FALSE(database.Has(table)) << table;
    EXPECT_EQ("3 of 3 kernels: their time on the GPU is not in the trace; not in CUPTI_ACTIVITY_KIND_KERNEL\n"
              "1 of 1 copies: their time on the GPU is not in the trace; not in CUPTI_ACTIVITY_KIND_MEMCPY\n",
              database.Ask("SELECT value FROM PTDS_META WHERE name = 'left_out'"));
    EXPECT_NE(std::string::npos, said.find("not in the GPU tables: 3 of 3 kernels, 1 of 1 copies, whose times")) << said;
}

TEST(Sqlite, SaysWhatItLeavesOutOfTheTablesOfTheGpu)
{
    Opened opened({BuildTrace(timed)});
    testing::internal::CaptureStderr();
    Database database(opened.Export("sqlite"));
    std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ("1 of 4 kernels|1 of 7 copies|1 of 2 memsets|1 of 4 synchronisations\n",
              database.Ask("SELECT group_concat(substr(value, 1, instr(value, ':') - 1), '|') FROM PTDS_META"
                           " WHERE name = 'left_out'"));
    EXPECT_NE(std::string::npos, said.find(": 1 of 4 kernels, 1 of 7 copies, 1 of 2 memsets, whose")) << said;
    EXPECT_EQ("3|6|1|1\n", database.Ask("SELECT (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL),"
                                        " (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMCPY),"
                                        " (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_MEMSET),"
                                        " (SELECT count(*) FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE)"));
    Opened all({BuildTrace("1@0 launch s=L k=a\ndevice-run 1@0 3+4\n")});
    testing::internal::CaptureStderr();
    unlink(all.Export("sqlite").c_str());
    EXPECT_EQ("", testing::internal::GetCapturedStderr()) << "nothing is left out";
}

/* Sizes are what they are; where nobody knows one there is none. */
TEST(Sqlite, SizesOfMemoryOperations)
{
    Opened opened({BuildTrace("context 1\n"
                              "1@0 launch s=N1 k=_Z4spinPf\n"
                              "1@10 memset s=N1 to=global bytes=1\n"
                              "1@20 memset s=N1 to=global bytes=0\n"
                              "1@30 copy s=N1 from=device to=device bytes=1\n"
                              "device-run 1@0 1+1\ndevice-run 1@10 12+1\ndevice-run 1@20 22+1\ndevice-run 1@30 32+1\n")});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("1\n-\n", database.Ask("SELECT bytes FROM CUPTI_ACTIVITY_KIND_MEMSET ORDER BY start"));
    EXPECT_EQ("1\n", database.Ask("SELECT bytes FROM CUPTI_ACTIVITY_KIND_MEMCPY"));
}

TEST(Sqlite, KernelsByName)
{
    Opened opened({BuildTrace(timed)});
    Database database(opened.Export("sqlite"));
    auto by = [&](const std::string &name) {
        return database.Ask("SELECT n.value, count(*), sum(k.\"end\" - k.start), min(k.\"end\" - k.start),"
                            " max(k.\"end\" - k.start) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds n ON n.id = k." +
                            name + " GROUP BY 1 ORDER BY 3 DESC");
    };
    EXPECT_EQ("spin(float*)|2|400000|100000|300000\nvoid ns::other<int>(int)|1|10000|10000|10000\n", by("demangledName"));
    EXPECT_EQ("spin|2|400000|100000|300000\nother|1|10000|10000|10000\n", by("shortName"));
    EXPECT_EQ("_Z4spinPf|2|400000|100000|300000\n_ZN2ns5otherIiEEvT_|1|10000|10000|10000\n", by("mangledName"));
    EXPECT_EQ("12000|112000|4|1|1024|Regular\n",
              database.Ask("SELECT k.start, k.\"end\", k.gridX, k.gridY * k.gridZ, k.blockX * k.blockY * k.blockZ, t.label"
                           " FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN ENUM_CUDA_KERNEL_LAUNCH_TYPE t ON t.id = k.launchType"
                           " ORDER BY k.start LIMIT 1"));
    EXPECT_EQ("3\n", database.Ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL WHERE registersPerThread IS NULL"
                                  " AND staticSharedMemory IS NULL AND localMemoryTotal IS NULL"))
        << "nobody knows: no number is made up";
}

TEST(Sqlite, MemoryOperationsByTimeAndBySize)
{
    Opened opened({BuildTrace(timed)});
    Database database(opened.Export("sqlite"));
    const std::string operations =
        "WITH op AS (SELECT '[CUDA memcpy ' || k.label || ']' AS name, m.\"end\" - m.start AS ns, m.bytes AS size"
        " FROM CUPTI_ACTIVITY_KIND_MEMCPY m JOIN ENUM_CUDA_MEMCPY_OPER k ON k.id = m.copyKind"
        " UNION ALL SELECT '[CUDA memset]', \"end\" - start, bytes FROM CUPTI_ACTIVITY_KIND_MEMSET) ";
    EXPECT_EQ("[CUDA memset]|8000\n[CUDA memcpy Host-to-Device]|6000\n[CUDA memcpy Device-to-Host]|5000\n"
              "[CUDA memcpy Unknown]|4000\n[CUDA memcpy Device-to-Device]|3000\n[CUDA memcpy Device-to-Array]|2000\n"
              "[CUDA memcpy Peer-to-Peer]|1000\n",
              database.Ask(operations + "SELECT name, sum(ns) FROM op GROUP BY 1 ORDER BY 2 DESC"))
        << "where managed memory lay is not known";
    EXPECT_EQ("[CUDA memcpy Host-to-Device]|1|4096\n[CUDA memcpy Device-to-Host]|1|300\n[CUDA memset]|1|256\n",
              database.Ask(operations + "SELECT name, count(*), sum(size) FROM op GROUP BY 1 ORDER BY 3 DESC LIMIT 3"));
    EXPECT_EQ("Pinned|Device\nDevice|Pageable\nManaged|Device\n",
              database.Ask("SELECT a.label, b.label FROM CUPTI_ACTIVITY_KIND_MEMCPY m JOIN ENUM_CUDA_MEM_KIND a"
                           " ON a.id = m.srcKind JOIN ENUM_CUDA_MEM_KIND b ON b.id = m.dstKind ORDER BY m.start LIMIT 3"));
    EXPECT_EQ("Device Static\n", database.Ask("SELECT k.label FROM CUPTI_ACTIVITY_KIND_MEMSET m"
                                              " JOIN ENUM_CUDA_MEM_KIND k ON k.id = m.memKind"));
}

/* Where managed memory lies is not known, but the function's name says the direction. */
TEST(Sqlite, DirectionsByTheNamesOfFunctions)
{
    std::string text = "tsc\n", expected;
    int at = 0;
    for (const auto &[part, label] : {std::pair{"HtoD", "Host-to-Device"},
                                      {"DtoH", "Device-to-Host"},
                                      {"HtoA", "Host-to-Array"},
                                      {"AtoH", "Array-to-Host"},
                                      {"AtoA", "Array-to-Array"},
                                      {"AtoD", "Array-to-Device"},
                                      {"DtoA", "Device-to-Array"},
                                      {"DtoD", "Device-to-Device"},
                                      {"Peer", "Peer-to-Peer"}}) {
        text += "1@" + std::to_string(at) + "+5 copy s=N1 api=cuMemcpy" + part +
                "Async from=managed to=managed bytes=4\ndevice-run 1@" + std::to_string(at) + " " +
                std::to_string(at + 10) + "+5\n";
        expected += std::string(label) + "\n";
        at += 100;
    }
    Opened opened({BuildTrace(text)});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ(expected, database.Ask("SELECT k.label FROM CUPTI_ACTIVITY_KIND_MEMCPY m JOIN ENUM_CUDA_MEMCPY_OPER k"
                                     " ON k.id = m.copyKind ORDER BY m.start"));
}

TEST(Sqlite, AllOfTheGpuTogether)
{
    Opened opened({BuildTrace(timed)});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("CUDA_KERNEL|spin(float*)|92.6\nCUDA_KERNEL|void ns::other<int>(int)|2.3\nMEMORY_OPER|[CUDA memset]|1.9\n",
              database.Ask("WITH op AS (SELECT 'CUDA_KERNEL' AS class, n.value AS name, k.\"end\" - k.start AS ns"
                           " FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN StringIds n ON n.id = k.demangledName"
                           " UNION ALL SELECT 'MEMORY_OPER', '[CUDA memcpy ' || l.label || ']', c.\"end\" - c.start"
                           " FROM CUPTI_ACTIVITY_KIND_MEMCPY c JOIN ENUM_CUDA_MEMCPY_OPER l ON l.id = c.copyKind"
                           " WHERE l.label <> 'Unknown'"
                           " UNION ALL SELECT 'MEMORY_OPER', '[CUDA memset]', \"end\" - start"
                           " FROM CUPTI_ACTIVITY_KIND_MEMSET)"
                           "SELECT class, name, round(sum(ns) * 100.0 / 432000, 1) FROM op GROUP BY 1, 2"
                           " ORDER BY sum(ns) DESC LIMIT 3"));
    EXPECT_EQ("GPU (0)|132|9\n",
              database.Ask("SELECT DISTINCT printf('%s (%d)', g.name, k.deviceId), g.smCount, g.computeMajor"
                           " FROM CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN TARGET_INFO_GPU g ON g.id = k.deviceId"));
    EXPECT_EQ("0|4242|132\n", database.Ask("SELECT cudaId, pid, numMultiprocessors FROM TARGET_INFO_CUDA_DEVICE"));
    EXPECT_EQ("700000|750000\n", database.Ask("SELECT start, \"end\" FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE"));
    EXPECT_EQ("750000\n", database.Ask("SELECT duration FROM ANALYSIS_DETAILS")) << "up to the last end";
}

/* Call, queue and kernel; a call without an end has no queue time. */
TEST(Sqlite, LaunchesWithTheirKernels)
{
    Opened opened({BuildTrace(timed)});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("4242|0|cuLaunchKernel|spin|5000|-|100000\n4242|0|cuLaunchKernel|other|50000|130000|10000\n"
              "4242|0|cuLaunchKernel|spin|-|-|300000\n",
              database.Ask("SELECT (r.globalTid >> 24) & 0xFFFFFF, k.deviceId, f.value, n.value, r.\"end\" - r.start,"
                           " CASE WHEN k.start >= r.\"end\" THEN k.start - r.\"end\" END, k.\"end\" - k.start"
                           " FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r"
                           " ON r.correlationId = k.correlationId AND k.globalPid = (r.globalTid & ~0xFFFFFF)"
                           " JOIN StringIds f ON f.id = r.nameId JOIN StringIds n ON n.id = k.shortName"
                           " ORDER BY r.start"));
    EXPECT_EQ("stream 1 (per-thread, of thread 1)\nstream 2 (non-blocking)\nstream 2 (non-blocking)\n",
              database.Ask(
                  "SELECT replace(s.name, 'stream ' || s.uid, 'stream ' || (s.uid - 1)) FROM CUPTI_ACTIVITY_KIND_KERNEL k"
                  " JOIN PTDS_STREAM s ON s.uid = k.streamId ORDER BY k.start"))
        << "where it ran, not what the program named";
}

TEST(Sqlite, KernelsByTheRegionOfTheirCall)
{
    Opened opened({BuildTrace(timed)});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("outer|spin\nouter|other\n-|spin\n",
              database.Ask("SELECT e.text, n.value FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN CUPTI_ACTIVITY_KIND_RUNTIME r"
                           " ON r.correlationId = k.correlationId JOIN StringIds n ON n.id = k.shortName"
                           " LEFT JOIN NVTX_EVENTS e ON e.eventType = 59 AND e.globalTid = r.globalTid"
                           " AND e.start <= r.start AND e.\"end\" >= r.\"end\" ORDER BY k.start"));
}

TEST(Sqlite, WaitsOfTheHostAreSynchronisations)
{
    Opened opened({BuildTrace(timed)});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("Stream sync|10000|1|4294967295\nEvent sync|7000|4294967295|1\nContext sync|9000|4294967295|4294967295\n"
              "Stream wait sync|2000|1|1\n",
              database.Ask("SELECT t.label, y.\"end\" - y.start, CASE y.streamId WHEN (SELECT uid FROM PTDS_STREAM WHERE"
                           " kind = 'non-blocking') THEN 1 ELSE y.streamId END, y.eventId"
                           " FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION y JOIN ENUM_CUPTI_SYNC_TYPE t ON t.id = y.syncType"
                           " JOIN CUPTI_ACTIVITY_KIND_RUNTIME r ON r.correlationId = y.correlationId ORDER BY y.start"))
        << "not the one that failed, nor the one that was not timed";
}

const char ranges[] = "1@0 none\n"
                      "1@10 region step\n1@20 region load domain=io\n1@25 region step\n1@30 region-end\n"
                      "1@50 region-end domain=io\n1@60 region-end\n1@70 region-end\n"
                      "2@15 region step\n2@16 region open\n2@18 region-end domain=io\n";

std::string Ranges(Database *database)
{
    return database->Ask(
        "SELECT CASE WHEN d.text IS NULL THEN '' ELSE d.text || ':' END || coalesce(s.value, e.text), e.eventType,"
        " count(*), sum(e.\"end\" - e.start) FROM NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId"
        " LEFT JOIN NVTX_EVENTS d ON d.eventType = 75 AND d.domainId = e.domainId"
        " WHERE e.eventType IN (59, 60, 70, 71) GROUP BY 1, 2 ORDER BY 1");
}

TEST(Sqlite, RegionsByNameAndDomain)
{
    Opened opened({BuildTrace(ranges)});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("io:load|59|1|30000\nopen|59|1|-\nstep|59|3|55000\n", Ranges(&database));
    EXPECT_EQ("10000|60000\n15000|-\n16000|-\n25000|30000\n",
              database.Ask("SELECT start, \"end\" FROM NVTX_EVENTS WHERE domainId = 0 ORDER BY start"))
        << "an end without a beginning ends nothing, and what nobody ended has no end";
    EXPECT_EQ("NvtxDomainCreate\nNvtxPushPopRange\n",
              database.Ask("SELECT DISTINCT t.name FROM NVTX_EVENTS e JOIN ENUM_NSYS_EVENT_TYPE t ON t.id = e.eventType"
                           " ORDER BY 1"));
}

/* Of two processes: a domain's number is one process's. A range may end in another thread. */
TEST(Sqlite, RangesOfTheProcessAndNamesWithDomains)
{
    auto process = [](uint32_t pid) {
        TraceBuilder builder;
        builder.header.pid = pid;
        builder.Clock(0, 1000000, 7000000000);
        builder.Clock(1000000000, 1001000000, 8000000000);
        builder.String(1, "fetch@io", PTDS_ROLE_REGION);
        builder.String(2, "io", PTDS_ROLE_DOMAIN);
        builder.String(3, "epoch", PTDS_ROLE_REGION);
        builder.String(4, "never", PTDS_ROLE_REGION);
        builder.Region(1, 10000, 1, 2, 71);
        builder.Region(1, 15000, 3, 0, 72);
        builder.Region(2, 30000, 0, 0, 71);
        builder.Region(2, 35000, 0, 0, 70); /* whose beginning is lost */
        builder.Region(1, 45000, 0, 0, 72);
        builder.Region(1, 46000, 0, 0, 72); /* once more */
        builder.Region(1, 50000, 4, 0, 73);
        return builder.Bytes();
    };
    Opened opened({process(1000), process(2000)});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("epoch|60|2|60000\nio:fetch|60|2|40000\nnever|60|2|-\n", Ranges(&database));
    EXPECT_EQ("2\n", database.Ask("SELECT count(DISTINCT domainId) FROM NVTX_EVENTS WHERE eventType = 75"));
    EXPECT_EQ("71|1000\n72|1000\n73|1000\n71|2000\n72|2000\n73|2000\n",
              database.Ask("SELECT rangeId, (globalTid >> 24) & 0xFFFFFF FROM NVTX_EVENTS WHERE eventType = 60"
                           " ORDER BY 2, 1"));
}

/* One GPU of a host that two processes see alike; another one where they may not see the same. */
TEST(Sqlite, GpusAreOneWhereHostAndNumberAre)
{
    auto process = [](const char *visible, const char *host) {
        return WithHeader(BuildTrace("context 1\nsetting device.0.name=GPU\n" + std::string(visible) +
                                     "1@0 launch s=L k=a\ndevice-run 1@0 3+4\n"),
                          [](ptds_trace_header *) {})
            .replace(offsetof(ptds_trace_header, host), 5, host, 5);
    };
    Opened opened({process("", "node1"), process("", "node1"), process("", "node2"),
                   process("setting CUDA_VISIBLE_DEVICES=1\n", "node1")});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("4|3|4\n", database.Ask("SELECT count(*), count(DISTINCT deviceId), (SELECT count(*) FROM"
                                      " TARGET_INFO_CUDA_DEVICE) FROM CUPTI_ACTIVITY_KIND_KERNEL"));
    EXPECT_EQ("4\n", database.Ask("SELECT count(*) FROM CUPTI_ACTIVITY_KIND_KERNEL k JOIN TARGET_INFO_GPU g"
                                  " ON g.id = k.deviceId"))
        << "a kernel ran on one GPU";
    EXPECT_EQ("1\n", database.Ask("SELECT count(*) FROM StringIds WHERE value = 'cuLaunchKernel'")) << "each text once";
    EXPECT_EQ("4\n", database.Ask("SELECT count(DISTINCT correlationId) FROM CUPTI_ACTIVITY_KIND_RUNTIME"));
}

TEST(Sqlite, ContextsAndStreams)
{
    Opened opened({BuildTrace(timed)});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("1|0|legacy\n", database.Ask("SELECT c.contextId, c.deviceId, s.kind FROM TARGET_INFO_CUDA_CONTEXT_INFO c"
                                           " JOIN PTDS_STREAM s ON s.uid = c.nullStreamId"));
    EXPECT_EQ("legacy|Null\nnon-blocking|Non-blocking\nper-thread|Default\n",
              database.Ask("SELECT p.kind, t.label FROM TARGET_INFO_CUDA_STREAM s JOIN PTDS_STREAM p ON p.uid = s.streamId"
                           " JOIN ENUM_CUPTI_STREAM_TYPE t ON t.id = s.flag ORDER BY 1"));
}

TEST(Sqlite, HasCallsFindingsAndNotes)
{
    Opened opened({BuildTrace(simple_trace)});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("spin(float*)|-|0\nmemcpy device to pageable|4096|1\nthird|-|0\nnext|-|0\n-|-|0\n",
              database.Ask("SELECT work, bytes, ifnull(blocked, 0) FROM PTDS_CALL ORDER BY correlationId"));
    EXPECT_EQ("sync-copy|H3|warning|cuMemcpyDtoH_v2|1|-\n",
              database.Ask("SELECT rule, class, severity, api, count, folded FROM PTDS_FINDING"));
    EXPECT_EQ("right|1\n",
              database.Ask("SELECT outcome, blocked_ns > 4900000 AND blocked_ns <= threads_ns FROM PTDS_PROCESS"));
    EXPECT_EQ(std::string(opened.folds.list.items[0].id.text) + "\n", database.Ask("SELECT id FROM PTDS_FINDING"));
    EXPECT_EQ("1\n", database.Ask("SELECT count(*) FROM PTDS_META WHERE value LIKE 'GPU time is not recorded: work%'"));
    EXPECT_EQ("prog|32\n",
              database.Ask("SELECT replace(f.object, '/opt/app/', ''), offset FROM PTDS_FRAME f JOIN PTDS_FINDING d"
                           " ON f.stack = d.stack WHERE depth = 0"));
    EXPECT_EQ("0\n", database.Ask("SELECT count(*) FROM PTDS_EDGE"));
    EXPECT_EQ("-\n", database.Ask("SELECT rank FROM PTDS_PROCESS"));
    EXPECT_EQ("libptds\n", database.Ask("SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_PRODUCT_NAME'"));
}

TEST(Sqlite, HasDeviceTimesWhereThereAre)
{
    Opened opened({BuildTrace("1@0 launch s=L k=a\n1@10 launch s=L k=b\n1@20 launch s=L k=c\ndevice-run 1@10 30+400\n")});
    Database database(opened.Export("sqlite"));
    EXPECT_EQ("-|-\n30000|400000\n-|-\n",
              database.Ask("SELECT device_start - (SELECT min(start) FROM CUPTI_ACTIVITY_KIND_RUNTIME), device_end - "
                           "device_start FROM PTDS_CALL ORDER BY correlationId"));
    EXPECT_EQ("b|30000|430000|-\n",
              database.Ask("SELECT n.value, k.start, k.\"end\", k.deviceId FROM CUPTI_ACTIVITY_KIND_KERNEL k"
                           " JOIN StringIds n ON n.id = k.demangledName"))
        << "on which GPU is not known: the context was not recorded";
}

/* `ptds export` goes through a trace once, while its report is made; others export what has been reported on. */
TEST(Sqlite, OnePassGivesWhatTwoGive)
{
    for (const char *name : {"overlap", "mixed_threads", "mixed_streams", "stream_handover"}) {
        std::string bytes = read_file(data_file(std::string("tests/analysis/recorded/") + name + ".ptds"));
        Opened made({bytes}), unmade({bytes}, nullptr, true);
        EXPECT_FALSE(unmade.traces.list.items[0]->report.made);
        Database two(made.Export("sqlite", edge_feed_of_build())), one(unmade.Export("sqlite", edge_feed_of_build()));
        for (const char *table : {"PTDS_CALL", "PTDS_FINDING", "PTDS_EDGE", "PTDS_FRAME", "CUPTI_ACTIVITY_KIND_RUNTIME"}) {
            auto rows = [&](Database *database) {
                std::vector<std::string> all = lines_of(database->Ask("SELECT * FROM " + std::string(table)));
                return std::multiset<std::string>(all.begin(), all.end());
            };
            EXPECT_TRUE(!rows(&two).empty() || table == std::string("PTDS_FINDING")) << name << " " << table;
            EXPECT_TRUE(rows(&two) == rows(&one)) << name << " " << table;
        }
        for (const char *query : {"SELECT run_ns, calls, blocked_ns, threads_ns, outcome FROM PTDS_PROCESS",
                                  "SELECT value FROM PTDS_META WHERE value NOT LIKE 'policy%' ORDER BY 1"})
            EXPECT_EQ(two.Ask(query), one.Ask(query)) << name;
        EXPECT_EQ(TakeFile(made.Export("folded")), TakeFile(Opened({bytes}, nullptr, true).Export("folded"))) << name;
    }
}

TEST(Sqlite, TakesEdgesFromAFeed)
{
    Opened opened({BuildTrace(simple_trace)});
    edge_feed feed = {};
    feed.run = [](edge_feed *, const struct report *, edge_sink *sink) {
        edge edge = {};
        edge.kind = EDGE_FIFO;
        edge.verdict = VERDICT_NOT_NEEDED;
        edge.from.thread = 1;
        edge.to.thread = 2;
        sink->edge(sink, &edge);
        return 0;
    };
    Database database(opened.Export("sqlite", &feed));
    EXPECT_EQ("fifo|not_needed|-|1|2|-\n",
              database.Ask("SELECT kind, verdict, reason, from_thread, to_thread, address FROM PTDS_EDGE"));
}

} // namespace
} // namespace ptds
