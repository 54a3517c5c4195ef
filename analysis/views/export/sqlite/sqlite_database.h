/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of the SQLite export share: the database, a row at a time, and the values that many tables have. For
 * export_sqlite.c, sqlite_activity.c, sqlite_nvtx.c and sqlite_targets.c.
 */
#ifndef PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_DATABASE_H
#define PTDS_ANALYSIS_VIEWS_EXPORT_SQLITE_SQLITE_DATABASE_H

#include <sqlite3.h>

#include "analysis/base/id_map.h"
#include "analysis/report/many/traced.h"
#include "analysis/trace/device_runs.h"
#include "analysis/views/export/export_job.h"

enum sqlite_table {
    TABLE_STRING,
    TABLE_PROCESS,
    TABLE_THREAD,
    TABLE_RUNTIME,
    TABLE_KERNEL,
    TABLE_MEMCPY,
    TABLE_MEMSET,
    TABLE_GRAPH,
    TABLE_SYNCHRONIZATION,
    TABLE_NVTX,
    TABLE_GPU,
    TABLE_CUDA_DEVICE,
    TABLE_CUDA_CONTEXT,
    TABLE_CUDA_STREAM,
    TABLE_SESSION,
    TABLE_DETAILS,
    TABLE_EXPORT,
    TABLE_META,
    TABLE_OWN_PROCESS,
    TABLE_OWN_STREAM,
    TABLE_CALL,
    TABLE_FRAME,
    TABLE_FINDING,
    TABLE_EDGE,
    SQLITE_TABLES
};

/* What a StringIds' number is remembered by, with an id of the process's trace. */
enum { STRING_API = 1, STRING_KERNEL, STRING_KERNEL_SHORT, STRING_KERNEL_MANGLED, STRING_WORK };

/* What of a process is in no table, because nobody recorded when it ran. */
enum left_kind { LEFT_KERNELS, LEFT_COPIES, LEFT_MEMSETS, LEFT_GRAPHS, LEFT_SYNCHRONISATIONS, LEFT_KINDS };
struct left {
    uint64_t out, all;
};

struct known_string {
    char *text;
    int64_t next; /* another one of the same hash; 0: none */
};

struct known_gpu {
    const char *host, *visible; /* of a trace that stays open; visible may be NULL */
    int32_t ordinal;
    uint32_t id;
};

struct database {
    struct edge_sink sink; /* first: an edge comes back as this */
    sqlite3 *file;
    sqlite3_stmt *insert[SQLITE_TABLES];
    int error; /* the first, SQLITE_OK so far */
    bool out_of_memory;
    struct export_job *job;
    struct traced *traced;
    size_t process;
    uint64_t base; /* of all times: nsys' begin at 0 */
    uint64_t last; /* the latest end in any table */
    uint64_t correlation;
    TABLE_OF(struct known_string) strings; /* a StringIds' number less 1 is its position */
    struct id_map strings_by_hash;         /* -> number */
    struct id_map names;                   /* of this process: kind and id -> number */
    TABLE_OF(struct known_gpu) gpus;
    struct id_map domains; /* of this process: STRING id -> NVTX domain; a domain has a number of its own in the database */
    uint64_t domains_used;
    struct left left[LEFT_KINDS]; /* of this process */
    sqlite3_stmt *row;
    int column;
};

/* Begins a database in the file. 0; else an error of SQLite. End with sqlite_database_end in either case. */
int sqlite_database_begin(struct database *database, const char *path);
/* Tables of nsys' that have no row are not there, as with nsys. */
int sqlite_database_finish(struct database *database);
void sqlite_database_end(struct database *database);

uint64_t sqlite_database_time(struct database *database, uint64_t ticks);
/* As nsys packs them. */
uint64_t sqlite_database_tid(const struct database *database, uint32_t tid);
uint64_t sqlite_database_thread(const struct database *database, uint32_t uid);

#endif
