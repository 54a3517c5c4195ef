/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of the SQLite export, and the values that never change. Those without PTDS_ have nsys' names and columns (its
 * documented "SQLite schema"), in its order. A column that the shim knows nothing of is there, and NULL, where nsys' own
 * reports ask for it.
 */

#include "analysis/views/export/sqlite/sqlite_schema.h"

#include "analysis/views/export/sqlite/sqlite_database.h"

const char sqlite_schema[] =
    "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; BEGIN;"
    "CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL);"
    "CREATE TABLE PROCESSES(globalPid INTEGER PRIMARY KEY, pid INTEGER, name TEXT);"
    "CREATE TABLE ThreadNames(nameId INTEGER, priority INTEGER, globalTid INTEGER);"
    "CREATE TABLE META_DATA_EXPORT(name TEXT NOT NULL, value TEXT);"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME(utcEpochNs INTEGER, utcTime TEXT, localTime TEXT);"
    "CREATE TABLE ANALYSIS_DETAILS(globalVid INTEGER NOT NULL, duration INTEGER NOT NULL, startTime INTEGER NOT NULL,"
    " stopTime INTEGER NOT NULL);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INTEGER NOT NULL, \"end\" INTEGER, eventClass INTEGER NOT NULL,"
    " globalTid INTEGER, correlationId INTEGER, nameId INTEGER NOT NULL REFERENCES StringIds(id), returnValue INTEGER,"
    " callchainId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, deviceId INTEGER,"
    " contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
    " demangledName INTEGER NOT NULL REFERENCES StringIds(id), shortName INTEGER NOT NULL REFERENCES StringIds(id),"
    " mangledName INTEGER REFERENCES StringIds(id), launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER,"
    " gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,"
    " staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER, localMemoryTotal INTEGER,"
    " gridId INTEGER, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, deviceId INTEGER,"
    " contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, bytes INTEGER,"
    " copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER,"
    " srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER,"
    " virtualAddress INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, deviceId INTEGER,"
    " contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, value INTEGER,"
    " bytes INTEGER, graphNodeId INTEGER, memKind INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, deviceId INTEGER,"
    " contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
    " graphId INTEGER, graphExecId INTEGER);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION(start INTEGER NOT NULL, \"end\" INTEGER NOT NULL, deviceId INTEGER,"
    " contextId INTEGER, greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,"
    " syncType INTEGER NOT NULL, eventId INTEGER);"
    "CREATE TABLE NVTX_EVENTS(start INTEGER NOT NULL, \"end\" INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER,"
    " category INTEGER, color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId "
    "INTEGER,"
    " uint64Value INTEGER, int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL,"
    " jsonTextId INTEGER, jsonText TEXT, binaryData TEXT);"
    "CREATE TABLE TARGET_INFO_GPU(vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT, smCount INTEGER,"
    " uuid TEXT, cuDevice INTEGER, computeMajor INTEGER, computeMinor INTEGER);"
    "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId INTEGER, cudaId INTEGER NOT NULL, pid INTEGER NOT NULL, uuid TEXT,"
    " numMultiprocessors INTEGER);"
    "CREATE TABLE TARGET_INFO_CUDA_CONTEXT_INFO(nullStreamId INTEGER, hwId INTEGER, vmId INTEGER, processId INTEGER NOT "
    "NULL,"
    " deviceId INTEGER, contextId INTEGER NOT NULL, parentContextId INTEGER, isGreenContext INTEGER);"
    "CREATE TABLE TARGET_INFO_CUDA_STREAM(streamId INTEGER NOT NULL, hwId INTEGER, vmId INTEGER, processId INTEGER NOT "
    "NULL,"
    " contextId INTEGER NOT NULL, priority INTEGER, flag INTEGER);"
    "CREATE TABLE PTDS_META(process INTEGER, name TEXT, value);"
    "CREATE TABLE PTDS_PROCESS(process INTEGER PRIMARY KEY, globalPid INTEGER, host TEXT, rank INTEGER, pid INTEGER,"
    " program TEXT, trace TEXT, policy TEXT, start_unix_ns INTEGER, run_ns INTEGER, calls INTEGER, host_ns_lost INTEGER,"
    " blocked_ns INTEGER, threads_ns INTEGER, outcome TEXT, complete INTEGER, little INTEGER);"
    "CREATE TABLE PTDS_STREAM(process INTEGER, uid INTEGER, context INTEGER, kind TEXT, thread INTEGER, priority INTEGER,"
    " name TEXT, PRIMARY KEY(process, uid));"
    "CREATE TABLE PTDS_CALL(process INTEGER, correlationId INTEGER, thread INTEGER, op INTEGER, work TEXT, context INTEGER,"
    " stream INTEGER, target INTEGER, stack INTEGER, object INTEGER, generation INTEGER, bytes INTEGER, flags INTEGER,"
    " region TEXT, blocked INTEGER, lost_ns INTEGER, waits_for INTEGER, device_start INTEGER, device_end INTEGER,"
    " PRIMARY KEY(process, correlationId)) WITHOUT ROWID;"
    "CREATE TABLE PTDS_FRAME(process INTEGER, stack INTEGER, depth INTEGER, object TEXT, offset INTEGER, symbol TEXT);"
    "CREATE TABLE PTDS_FINDING(process INTEGER, id TEXT, rule TEXT, detail TEXT, api TEXT, stack INTEGER, count INTEGER,"
    " host_ns INTEGER, host_unknown_calls INTEGER, object TEXT, class TEXT, severity TEXT, folded TEXT);"
    "CREATE TABLE PTDS_EDGE(process INTEGER, kind TEXT, verdict TEXT, reason TEXT, from_ns INTEGER, from_thread INTEGER,"
    " from_stream INTEGER, from_stack INTEGER, to_ns INTEGER, to_thread INTEGER, to_stream INTEGER, to_stack INTEGER,"
    " address INTEGER, size INTEGER, allocation INTEGER);"

    "CREATE TABLE ENUM_CUDA_MEMCPY_OPER(id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES (0,'CUDA_MEMCPY_KIND_UNKNOWN','Unknown'),"
    " (1,'CUDA_MEMCPY_KIND_HTOD','Host-to-Device'), (2,'CUDA_MEMCPY_KIND_DTOH','Device-to-Host'),"
    " (3,'CUDA_MEMCPY_KIND_HTOA','Host-to-Array'), (4,'CUDA_MEMCPY_KIND_ATOH','Array-to-Host'),"
    " (5,'CUDA_MEMCPY_KIND_ATOA','Array-to-Array'), (6,'CUDA_MEMCPY_KIND_ATOD','Array-to-Device'),"
    " (7,'CUDA_MEMCPY_KIND_DTOA','Device-to-Array'), (8,'CUDA_MEMCPY_KIND_DTOD','Device-to-Device'),"
    " (9,'CUDA_MEMCPY_KIND_HTOH','Host-to-Host'), (10,'CUDA_MEMCPY_KIND_PTOP','Peer-to-Peer');"
    "CREATE TABLE ENUM_CUDA_MEM_KIND(id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_CUDA_MEM_KIND VALUES (0,'CUDA_MEMOPR_MEMORY_KIND_PAGEABLE','Pageable'),"
    " (1,'CUDA_MEMOPR_MEMORY_KIND_PINNED','Pinned'), (2,'CUDA_MEMOPR_MEMORY_KIND_DEVICE','Device'),"
    " (3,'CUDA_MEMOPR_MEMORY_KIND_ARRAY','Array'), (4,'CUDA_MEMOPR_MEMORY_KIND_MANAGED','Managed'),"
    " (5,'CUDA_MEMOPR_MEMORY_KIND_DEVICE_STATIC','Device Static'),"
    " (6,'CUDA_MEMOPR_MEMORY_KIND_MANAGED_STATIC','Managed Static'), (7,'CUDA_MEMOPR_MEMORY_KIND_UNKNOWN','Unknown');"
    "CREATE TABLE ENUM_CUPTI_SYNC_TYPE(id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_CUPTI_SYNC_TYPE VALUES (0,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN','Unknown'),"
    " (1,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE','Event sync'),"
    " (2,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT','Stream wait sync'),"
    " (3,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE','Stream sync'),"
    " (4,'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE','Context sync');"
    "CREATE TABLE ENUM_CUPTI_STREAM_TYPE(id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_CUPTI_STREAM_TYPE VALUES (0,'CUPTI_ACTIVITY_STREAM_CREATE_FLAG_UNKNOWN','Unknown'),"
    " (1,'CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT','Default'),"
    " (2,'CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING','Non-blocking'),"
    " (3,'CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NULL','Null');"
    "CREATE TABLE ENUM_CUDA_KERNEL_LAUNCH_TYPE(id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_CUDA_KERNEL_LAUNCH_TYPE VALUES (0,'CUDA_KERNEL_LAUNCH_TYPE_UNKNOWN','Unknown'),"
    " (1,'CUDA_KERNEL_LAUNCH_TYPE_REGULAR','Regular'),"
    " (2,'CUDA_KERNEL_LAUNCH_TYPE_COOPERATIVE_SINGLE_DEVICE','Coop Single Device');"
    "CREATE TABLE ENUM_NSYS_EVENT_CLASS(id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_NSYS_EVENT_CLASS VALUES (0,'TRACE_PROCESS_EVENT_CUDA_RUNTIME','CUDA Runtime'),"
    " (1,'TRACE_PROCESS_EVENT_CUDA_DRIVER','CUDA Driver');"
    "CREATE TABLE ENUM_NSYS_EVENT_TYPE(id INTEGER NOT NULL PRIMARY KEY, name TEXT, label TEXT);"
    "INSERT INTO ENUM_NSYS_EVENT_TYPE VALUES (59,'NvtxPushPopRange','NvtxPushPopRange'),"
    " (60,'NvtxStartEndRange','NvtxStartEndRange'), (75,'NvtxDomainCreate','NvtxDomainCreate');";

const char *const sqlite_inserts[SQLITE_TABLES] = {
    [TABLE_STRING] = "INSERT INTO StringIds VALUES(?,?)",
    [TABLE_PROCESS] = "INSERT OR IGNORE INTO PROCESSES VALUES(?,?,?)",
    [TABLE_THREAD] = "INSERT INTO ThreadNames VALUES(?,NULL,?)",
    [TABLE_RUNTIME] = "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(?,?,1,?,?,?,?,?)",
    [TABLE_KERNEL] =
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(?,?,?,?,NULL,?,?,?,?,?,?,?,NULL,NULL,?,?,?,?,?,?,NULL,?,"
        "NULL,NULL,NULL,NULL,NULL,NULL)",
    [TABLE_MEMCPY] =
        "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES(?,?,?,?,NULL,?,?,?,?,?,NULL,?,?,NULL,NULL,NULL,NULL,NULL,"
        "NULL,NULL)",
    [TABLE_MEMSET] = "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(?,?,?,?,NULL,?,?,?,NULL,?,NULL,?)",
    [TABLE_GRAPH] = "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES(?,?,?,?,NULL,?,?,?,NULL,?)",
    [TABLE_SYNCHRONIZATION] = "INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION VALUES(?,?,?,?,NULL,?,?,?,?,?)",
    [TABLE_NVTX] = "INSERT INTO NVTX_EVENTS VALUES(?,?,?,?,NULL,NULL,?,?,?,NULL,?,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,"
                   "NULL)",
    [TABLE_GPU] = "INSERT INTO TARGET_INFO_GPU VALUES(0,?,?,NULL,?,NULL,?,?,?)",
    [TABLE_CUDA_DEVICE] = "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(?,?,?,NULL,?)",
    [TABLE_CUDA_CONTEXT] = "INSERT INTO TARGET_INFO_CUDA_CONTEXT_INFO VALUES(?,NULL,NULL,?,?,?,NULL,?)",
    [TABLE_CUDA_STREAM] = "INSERT INTO TARGET_INFO_CUDA_STREAM VALUES(?,NULL,NULL,?,?,?,?)",
    [TABLE_SESSION] = "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES(?,?,NULL)",
    [TABLE_DETAILS] = "INSERT INTO ANALYSIS_DETAILS VALUES(0,?,0,?)",
    [TABLE_EXPORT] = "INSERT INTO META_DATA_EXPORT VALUES(?,?)",
    [TABLE_META] = "INSERT INTO PTDS_META VALUES(?,?,?)",
    [TABLE_OWN_PROCESS] = "INSERT INTO PTDS_PROCESS VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [TABLE_OWN_STREAM] = "INSERT INTO PTDS_STREAM VALUES(?,?,?,?,?,?,?)",
    [TABLE_CALL] = "INSERT INTO PTDS_CALL VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [TABLE_FRAME] = "INSERT INTO PTDS_FRAME VALUES(?,?,?,?,?,?)",
    [TABLE_FINDING] = "INSERT INTO PTDS_FINDING VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)",
    [TABLE_EDGE] = "INSERT INTO PTDS_EDGE VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
};

const char *const sqlite_only_if_filled[] = {"CUPTI_ACTIVITY_KIND_RUNTIME",
                                             "CUPTI_ACTIVITY_KIND_KERNEL",
                                             "CUPTI_ACTIVITY_KIND_MEMCPY",
                                             "CUPTI_ACTIVITY_KIND_MEMSET",
                                             "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                             "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                             "NVTX_EVENTS",
                                             "TARGET_INFO_GPU",
                                             "TARGET_INFO_CUDA_DEVICE",
                                             "TARGET_INFO_CUDA_CONTEXT_INFO",
                                             "TARGET_INFO_CUDA_STREAM",
                                             "TARGET_INFO_SESSION_START_TIME",
                                             NULL};
