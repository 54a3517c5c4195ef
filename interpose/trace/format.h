/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace format: what the shim writes and the analysis reads; the only header both include. FORMAT.md, beside it, is
 * made from it. A trace is a header, then extents of fixed-size chunks. A chunk belongs to one thread (CALLS), or holds the
 * process's definitions, or one thread's exact counters. Chunks are filled append-only and `committed` moves after the
 * bytes are there, so whatever kills the process costs at most the record being written.
 *
 * Versions: 1, the first.  A reader refuses a newer major version and accepts newer fields and unknown records.
 */
#ifndef PTDS_TRACE_FORMAT_H
#define PTDS_TRACE_FORMAT_H

#include <stdint.h>

#define PTDS_TRACE_MAGIC "PTDSTRC1" /* 8 bytes, no terminator */
#define PTDS_TRACE_VERSION 1u
#define PTDS_HEADER_SIZE 65536u      /* the first chunk starts here */
#define PTDS_CHUNK_SIZE 32768u       /* every chunk, its header included */
#define PTDS_CHUNK_MAGIC 0x4b435450u /* "PTCK" */
#define PTDS_EXTENT_CHUNKS 32u       /* the file grows by this many chunks */

typedef uint8_t ptds_u8;
typedef uint16_t ptds_u16;
typedef uint32_t ptds_u32;
typedef uint64_t ptds_u64;
typedef int32_t ptds_i32;
typedef uint8_t ptds_b20[20];

/* At offset 0. Text fields are terminated. */
struct ptds_trace_header {
    char magic[8];
    uint32_t version;
    uint32_t header_size, chunk_size, call_size; /* call_size: bytes of CALL's fixed part as written */
    uint32_t pid, parent_pid;
    int32_t rank, ranks; /* of an MPI-like launch; -1 unknown */
    uint32_t clock;      /* enum ptds_clock */
    uint32_t clean_end;  /* 1: the process ended through exit and everything is here */
    uint64_t chunks;     /* chunks handed out so far; those beyond the file's end were lost */
    uint64_t recycled;   /* chunks of old detail that were overwritten because of PTDS_TRACE_LIMIT */
    uint64_t refused;    /* records not kept: no chunk was to be had (full disk, many threads), or recording only began */
    uint64_t limit;      /* PTDS_TRACE_LIMIT, bytes */
    uint64_t born;       /* when the process began, clock ticks since boot: with the pid, the same before and after exec */
    char host[64];
    char program[256];                   /* /proc/self/exe, or what it was started by */
    char shim[32];                       /* version of libptds */
    uint32_t schema_offset, schema_size; /* the text of records.def as "NAME id field:type ..." lines, inside the header */
    uint64_t run;                        /* the same in all processes of one `ptds run`; 0: of none */
    uint64_t uncounted;                  /* threads whose counts are not in a COUNTS chunk: they are by a clean end */
};

enum ptds_clock { PTDS_CLOCK_MONOTONIC = 1, PTDS_CLOCK_TSC = 2, PTDS_CLOCK_CNTVCT = 3 };

enum ptds_chunk_kind { PTDS_CHUNK_FREE = 0, PTDS_CHUNK_DEFINITIONS = 1, PTDS_CHUNK_CALLS = 2, PTDS_CHUNK_COUNTS = 3 };

/* At the start of every chunk. Records follow back to back, each a multiple of 8 bytes. */
struct ptds_chunk {
    uint32_t magic;
    uint32_t kind;      /* enum ptds_chunk_kind */
    uint32_t thread;    /* uid; 0 for definitions */
    uint32_t holds;     /* CALLS: 1: allocations may be among them; for the writer, which looks for them */
    uint64_t sequence;  /* order in which chunks were begun; rises within a thread */
    uint64_t committed; /* bytes of valid records after this header */
    uint64_t lost;      /* records of this thread that were overwritten or refused before this chunk */
    uint32_t now;       /* COUNTS: where struct ptds_now lies, bytes from the chunk's start; 0: the trace has none */
    uint32_t defaults;  /* COUNTS: where struct ptds_default_count lies, likewise */
    uint64_t ordinal;   /* CALLS: the how manyth of its thread, from 1, so that overwritten ones are missed; 0: not told */
    uint64_t reserved;
};

/* A COUNTS chunk is an array of these after the header, index = api * 2 + (1 for the twin entry). Exact at any moment.
 * `committed` covers this array alone; what follows it is found by the header's `now` and `defaults`. */
struct ptds_count {
    uint64_t calls;
    uint64_t failed;   /* result other than CUDA_SUCCESS and CUDA_ERROR_NOT_READY */
    uint64_t remapped; /* sent to another stream than the program named */
    uint64_t ticks;    /* host time inside the call, where it is timed */
};

/* Of a COUNTS chunk: the operations of all functions together. In traces of earlier versions it is the first of an array,
 * one item for each of struct ptds_count, as far as the chunk has room: what a reader wants is their sum, and what follows
 * the one is zeros. Operations are work and event records and waits: PTDS_OP_LAUNCH to PTDS_OP_OPAQUE. */
struct ptds_default_count {
    uint64_t legacy; /* operations that named the legacy stream: 0 at a plain entry, 0x1, or implicit */
    uint64_t kept;   /* of them: succeeded, and stayed on the legacy stream */
    uint64_t failed; /* of them: failed, so went nowhere; the rest was sent to another stream */
};

/* Of a COUNTS chunk: the TIMED call that its thread is in. Written by plain stores in this order: enter = 0, the other
 * fields, enter. A reader in another process takes enter, the fields, and enter again; if both are the same and not 0, the
 * fields are that call's. */
struct ptds_now {
    uint64_t enter;  /* ticks at entry, as in the CALL record to come; 0: in no such call */
    uint64_t caller; /* the return address */
    uint16_t api;
    uint16_t twin;                    /* 1: the twin entry */
    uint32_t flags;                   /* this and the next ones as in CALL, as far as known before the call */
    uint32_t context, stream, target; /* uids */
    uint32_t object;
    uint32_t stack; /* STACK id; 0 unknown: `caller` is all there is */
    uint8_t op, kinds;
    uint16_t unused;
    uint32_t generation;
    uint64_t word; /* the first one, 0 if there is none */
};

struct ptds_record {
    uint16_t kind;
    uint16_t size; /* bytes, this header included; a multiple of 8 */
    uint32_t unused;
};

#define F(type, name, doc) ptds_##type name;
#define TAIL(type, name, doc) type name[];
#define u64 uint64_t
#define u32 uint32_t
#define REC(NAME, id, doc, fields) \
    struct ptds_rec_##NAME { \
        struct ptds_record record; \
        fields \
    };
#include "interpose/trace/records.def"
#undef u64
#undef u32

enum ptds_record_kind {
#define F(type, name, doc)
#define TAIL(type, name, doc)
#define REC(NAME, id, doc, fields) PTDS_REC_##NAME = id,
#include "interpose/trace/records.def"
};

enum ptds_role { PTDS_ROLE_KERNEL = 1, PTDS_ROLE_REGION = 2, PTDS_ROLE_DOMAIN = 3, PTDS_ROLE_SOURCE = 4 };

/* In the pc of a STACK: the rest is the id of a SOURCE. No code of a process lies there. */
#define PTDS_PC_SOURCE (UINT64_C(1) << 63)

enum ptds_setting { PTDS_SETTING_SHIM = 1, PTDS_SETTING_ENVIRONMENT = 2, PTDS_SETTING_PROCESS = 3 };

/* Where device times come from. EVENTS: a sample, from timing events on the operation's own stream, whose own cost is in
 * them: some microseconds. */
enum ptds_device_source { PTDS_DEVICE_EVENTS = 1, PTDS_DEVICE_CUPTI = 2 };

enum ptds_life {
    PTDS_LIFE_SEEN = 1,
    PTDS_LIFE_CREATED = 2,
    PTDS_LIFE_GONE = 3,
    PTDS_LIFE_NAMED = 4,  /* THREAD: it has another name now */
    PTDS_LIFE_DRIVERS = 5 /* THREAD: one of the driver's own, seen running a host function */
};

enum ptds_context_kind {
    PTDS_CONTEXT_UNKNOWN = 0,
    PTDS_CONTEXT_CREATED = 1,
    PTDS_CONTEXT_PRIMARY = 2,
    PTDS_CONTEXT_GREEN = 3
};

enum ptds_stream_kind {
    PTDS_STREAM_UNKNOWN = 0,    /* a handle whose creation the shim did not see */
    PTDS_STREAM_LEGACY = 1,     /* 0 and 0x1, one per context */
    PTDS_STREAM_PER_THREAD = 2, /* 0x2, one per context and thread */
    PTDS_STREAM_BLOCKING = 3,   /* created with flag 0 */
    PTDS_STREAM_NON_BLOCKING = 4,
    PTDS_STREAM_SHIM_BLOCKING = 5, /* made by policy stream */
    PTDS_STREAM_SHIM_NON_BLOCKING = 6
};

/* A launch's pointer word, see PTDS_OP_LAUNCH. */
#define PTDS_LAUNCH_ADDRESS_BITS 51
#define PTDS_LAUNCH_ADDRESS_MASK ((UINT64_C(1) << PTDS_LAUNCH_ADDRESS_BITS) - 1)

/* In the place of "where in the parameters": no parameter lies there, the other bits are the uid of a memory that the
 * operation touches past what its words name: a pointer in memory leads to it, a texture was made of it, an array is it. */
#define PTDS_REACHES_READ UINT64_C(0x1ffe)
#define PTDS_REACHES_WRITE UINT64_C(0x1fff)
/* In the same place of a launch's words, in pairs: the other bits are the address where a part of a memory begins, and
 * where it ends. The launch's pointers into that memory lead to no other bytes of it. */
#define PTDS_PART_BEGIN UINT64_C(0x1ffc)
#define PTDS_PART_END UINT64_C(0x1ffd)
#define PTDS_NO_VARIABLES 0xffffffffu      /* KERNEL: its module has none */
#define PTDS_CONSTANT_VARIABLES (1u << 31) /* KERNEL: beside the uid, kernels only read them */

enum ptds_process { PTDS_PROCESS_FORK = 1, PTDS_PROCESS_EXIT = 2, PTDS_PROCESS_FORKED = 3 };

/* What was handed out for a function that the table does not know. FORWARDER: each call comes after all work of its
 * context, and all later work after it. */
/* Why the shim made a stream wait: legacy order or an event of the program's promises that order; or neither does, and
 * policy strict orders what conflicts. */
enum ptds_edge_why { PTDS_EDGE_PROMISED = 0, PTDS_EDGE_UNPROMISED = 1 };

enum ptds_handed { PTDS_HANDED_LEGACY = 0, PTDS_HANDED_TWIN = 1, PTDS_HANDED_FORWARDER = 2 };

enum ptds_bypass {
    PTDS_BYPASS_DRIVER_COPY = 1,
    PTDS_BYPASS_OTHER_HOOK = 2,
    PTDS_BYPASS_EXPORT_TABLE = 3,
    PTDS_BYPASS_NAMESPACE = 4,       /* the driver of a dlmopen namespace */
    PTDS_BYPASS_NAMESPACE_USER = 5,  /* an object that uses such a driver */
    PTDS_BYPASS_DEEPBIND = 6,        /* opened with RTLD_DEEPBIND: calls the driver's own functions */
    PTDS_BYPASS_DEEPBIND_LOOKUP = 7, /* the same: calls libc's dlsym */
    PTDS_BYPASS_FUNCTIONS = 8        /* a library that exports functions of the driver's names, in front of it */
};

enum ptds_class {
/* clang-format off */
#define PTDS_CLASSES(X) \
    X(ALLOC) X(CAPTURE) X(CONFIG) X(CONTEXT) X(COPY) X(ENTRY) X(EVENT) X(GRAPH) X(GRAPHICS) X(HOSTFUNC) X(INTEROP) \
    X(LAUNCH) X(MEMOP) X(MEMSET) X(MODULE) X(PREFETCH) X(QUERY) X(SEMAPHORE) X(STREAM) X(SYNC)
/* clang-format on */
#define X(name) PTDS_CLASS_##name,
    PTDS_CLASSES(X)
#undef X
        PTDS_CLASS_COUNT
};

/* What a range or an operand was when the call was made. */
enum ptds_memory_kind {
    PTDS_MEMORY_UNKNOWN = 0,
    PTDS_MEMORY_PAGEABLE = 1,
    PTDS_MEMORY_PINNED = 2,     /* cuMemHostAlloc, cuMemAllocHost */
    PTDS_MEMORY_REGISTERED = 3, /* cuMemHostRegister */
    PTDS_MEMORY_DEVICE = 4,
    PTDS_MEMORY_POOL = 5, /* stream-ordered allocation */
    PTDS_MEMORY_MANAGED = 6,
    PTDS_MEMORY_ARRAY = 7,  /* the word is a CUarray, not an address */
    PTDS_MEMORY_MAPPED = 8, /* cuMemMap */
    PTDS_MEMORY_IPC = 9,
    PTDS_MEMORY_EXTERNAL = 10,
    PTDS_MEMORY_GLOBAL = 11 /* a module's variable */
};

enum ptds_call_flags {
    PTDS_CALL_TWIN = 1u << 0,         /* entered through the per-thread twin */
    PTDS_CALL_TIMED = 1u << 1,        /* leave is valid */
    PTDS_CALL_REMAPPED = 1u << 2,     /* target differs from stream */
    PTDS_CALL_LEGACY = 1u << 3,       /* the program named the legacy stream: 0 at a plain entry, 0x1, or implicit */
    PTDS_CALL_EXPLICIT = 1u << 4,     /* ... by writing 0x1 */
    PTDS_CALL_IMPLICIT = 1u << 5,     /* the function has no stream argument */
    PTDS_CALL_KEPT_CAPTURE = 1u << 6, /* legacy work left alone because a capture was open */
    PTDS_CALL_KEPT_REFUSED =
        1u << 7, /* ... because the function refuses the legacy stream and the program keeps its error */
    PTDS_CALL_KEPT_EXCLUDED = 1u << 8, /* ... because of PTDS_EXCLUDE, PTDS_INCLUDE or a green context */
    PTDS_CALL_KEPT_NO_WAY =
        1u << 9, /* ... because the function has no other stream to offer, or the shim could not order it */
    PTDS_CALL_SHIM_EDGE = 1u << 10,    /* the shim put an event wait before it */
    PTDS_CALL_SHIM_WAIT = 1u << 11,    /* the shim waited for the target after it */
    PTDS_CALL_OPAQUE = 1u << 12,       /* it may touch memory that the words do not name */
    PTDS_CALL_CAPTURE_OPEN = 1u << 13, /* some capture of the process was open at entry */
    PTDS_CALL_CAPTURING = 1u << 14,    /* the stream itself was capturing */
    PTDS_CALL_HOST_MEMORY = 1u << 19   /* it touches memory that the host, or another process, can touch meanwhile */
};

/* Bits 15 to 18 of a CALL's flags: why it may touch all memory, enum ptds_opaque; 0 in traces written before that. Beside
 * PTDS_CALL_OPAQUE, which is about the record's words: these are about the operation. */
#define PTDS_CALL_WHY_SHIFT 15
#define PTDS_CALL_WHY_MASK (15u << PTDS_CALL_WHY_SHIFT)

enum ptds_opaque {
    PTDS_OPAQUE_NO = 0,
    PTDS_OPAQUE_HOST_FUNCTION = 1,
    PTDS_OPAQUE_WAITS_FOR_VALUE = 2, /* or writes one, or a batch of both */
    PTDS_OPAQUE_SEMAPHORE = 3,       /* an external one */
    PTDS_OPAQUE_GRAPH = 4,           /* with nodes that were not seen; what gates in it has its own reason */
    PTDS_OPAQUE_PARAMETERS = 5,      /* a kernel whose parameters are not known */
    PTDS_OPAQUE_POINTERS = 6,        /* pointers in device memory that the shim has not seen */
    PTDS_OPAQUE_TEXTURE = 7,         /* a texture or surface made of memory that the shim has not seen */
    PTDS_OPAQUE_MANY = 8,            /* more memories than are kept */
    PTDS_OPAQUE_OTHER = 9,           /* the arguments do not name its memory */
    PTDS_OPAQUE_EVENT = 10,          /* a graph that records an event or waits for one */
    PTDS_OPAQUE_CODE = 11,           /* a kernel whose code could not be read */
    PTDS_OPAQUE_BASE = 12,           /* a kernel's pointer to memory that is not known */
    PTDS_OPAQUE_HEAP = 13            /* a kernel that uses the device's heap */
};
enum { PTDS_OPAQUE_REASONS = 14 };

/* KERNEL_FACTS. DIRECT: each address begins with a base. INDIRECT: or with a pointer in the memory to which a base with a
 * use through it points, or beyond that. UNKNOWN: the kernel may touch anything, and the bases are some. */
enum ptds_code_verdict { PTDS_CODE_DIRECT = 0, PTDS_CODE_INDIRECT = 1, PTDS_CODE_UNKNOWN = 2 };
enum ptds_code_use { PTDS_CODE_READ = 1, PTDS_CODE_WRITE = 2, PTDS_CODE_ATOMIC = 4 };

/* A base is the sum of its terms, and any of them may be the pointer. */
enum ptds_code_kind {
    PTDS_CODE_PARAMETER = 0, /* a pointer: its low word at byte low, its high word at byte high */
    PTDS_CODE_RANGE = 1,     /* any word among the bytes low to high */
    PTDS_CODE_VARIABLE = 2,  /* a variable of the module; low: which, as the kernel counts them */
    PTDS_CODE_LOADED = 3     /* a pointer that was loaded, of which another base tells */
};

enum ptds_code_flag {
    PTDS_CODE_HEAP = 1,          /* uses the device's heap */
    PTDS_CODE_SYSTEM = 2,        /* calls functions of the driver's that touch nothing of the program's */
    PTDS_CODE_BOUND_TEXTURE = 4, /* uses a texture or surface reference */
    PTDS_CODE_TENSOR_MAP = 8     /* any word of the parameters may be a pointer, read and written */
};

enum ptds_code_why {
    PTDS_CODE_WHY_NONE = 0,
    PTDS_CODE_WHY_NO_IMAGE = 1,     /* no image that can be read */
    PTDS_CODE_WHY_NO_KERNEL = 2,    /* no kernel of that name in it */
    PTDS_CODE_WHY_ARCHITECTURE = 3, /* machine code of a device that is not known */
    PTDS_CODE_WHY_INSTRUCTION = 4,  /* an instruction that is not known */
    PTDS_CODE_WHY_ADDRESS = 5,      /* an address that begins with nothing that is known */
    PTDS_CODE_WHY_HEAP = 6,
    PTDS_CODE_WHY_CALL = 7,    /* a call by address, or of what is not in the image */
    PTDS_CODE_WHY_BRANCH = 8,  /* a jump by address */
    PTDS_CODE_WHY_HANDLE = 9,  /* a texture, surface or tensor map whose handle is no parameter */
    PTDS_CODE_WHY_LAUNCH = 10, /* launches kernels itself */
    PTDS_CODE_WHY_MANY = 11,   /* more than is told */
    PTDS_CODE_WHY_LONG = 12,   /* took longer than the bound */
    PTDS_CODE_WHY_MEMORY = 13  /* no memory for it */
};

enum ptds_launch_attribute { PTDS_LAUNCH_COOPERATIVE = 1, PTDS_LAUNCH_PROGRAMMATIC = 2, PTDS_LAUNCH_OTHER = 4 };

/* What a call does, and what its words are. PTR is an address, N a number of bytes. */
enum ptds_op {
    PTDS_OP_NONE = 0,         /* - */
    PTDS_OP_LAUNCH = 1,       /* grid x | y << 32, grid z | dynamic shared bytes << 32, block x | y << 16 | z << 32 |
                                 attributes << 48 (enum ptds_launch_attribute), then every
                                 8-byte word of the arguments that lies inside the range of known allocations: bits 0..50
                                 the address, bits 51..63 where in the kernel's parameters the word lies, in units of 8
                                 bytes (rounded down; CUDA addresses are below 2^49 and parameters below 32 KiB). Traces
                                 written before that have 0 there. Then PTDS_PART_ words; then PTDS_REACHES_
                                 words, and only these where the pointers are more than there is room for */
    PTDS_OP_COPY = 2,         /* dst PTR, src PTR, width N, height (1: plain; of a volume the rows of all slices), dst pitch
                                 N, src pitch N; of a volume with a side whose slices do not follow each other row by row
                                 then, of each side, N from its first byte to past the last, 0 where they do (traces
                                 written before that have a height of rows that reach as far); of each array a
                                 PTDS_REACHES_ word */
    PTDS_OP_MEMSET = 3,       /* dst PTR, width N, height, pitch N */
    PTDS_OP_EVENT_RECORD = 4, /* - ; object, generation */
    PTDS_OP_EVENT_WAIT = 5,   /* - ; a stream waits for object, generation */
    PTDS_OP_HOST_FUNCTION = 6, /* function address */
    PTDS_OP_GRAPH_LAUNCH = 7,  /* PTDS_REACHES_ words; object: the executable graph */
    PTDS_OP_WAIT_VALUE = 8,    /* PTR, N */
    PTDS_OP_WRITE_VALUE = 9,   /* PTR, N */
    PTDS_OP_ALLOC_ASYNC = 10,  /* PTR, N, kind; object: the memory's uid */
    PTDS_OP_FREE_ASYNC = 11,   /* PTR; object */
    PTDS_OP_PREFETCH = 12,     /* PTR, N */
    PTDS_OP_ATTACH = 13,       /* PTR, N */
    PTDS_OP_OPAQUE = 14,       /* other work on the stream (batches, semaphores, graphics): touches unknown memory */
    PTDS_OP_STREAM_SYNC = 15,  /* the host waits for the stream */
    PTDS_OP_STREAM_QUERY = 16,
    PTDS_OP_EVENT_SYNC = 17, /* the host waits for object, generation */
    PTDS_OP_EVENT_QUERY = 18,
    PTDS_OP_EVENT_ELAPSED = 19,
    PTDS_OP_CTX_SYNC = 20, /* the host waits for everything in the context */
    PTDS_OP_CTX_EVENT_RECORD = 21,
    PTDS_OP_CTX_EVENT_WAIT = 22,
    PTDS_OP_ALLOC = 23, /* PTR, N, kind, uid of what it is a part of (a module's variables, a reservation of addresses; 0
                           none), uid of another memory that the same bytes are, too (0 none); object: the memory's
                           uid */
    PTDS_OP_FREE = 24,  /* PTR; object */
    PTDS_OP_FREE_HOST = 25,     /* PTR; object */
    PTDS_OP_UNREGISTER = 26,    /* PTR; object */
    PTDS_OP_UNMAP = 27,         /* PTR; object */
    PTDS_OP_ARRAY_DESTROY = 28, /* handle; object */
    PTDS_OP_MODULE_LOAD = 29,
    PTDS_OP_MODULE_UNLOAD = 30,
    PTDS_OP_FUNCTION_LOAD = 31,
    PTDS_OP_STREAM_CREATE = 32, /* CU_STREAM_* flags; stream: the new one */
    PTDS_OP_STREAM_DESTROY = 33,
    PTDS_OP_EVENT_CREATE = 34,  /* CU_EVENT_* flags, handle; object */
    PTDS_OP_EVENT_DESTROY = 35, /* - ; object */
    PTDS_OP_CTX_CREATE = 36,    /* CU_CTX_* flags, where the call gives some */
    PTDS_OP_CTX_DESTROY = 37,
    PTDS_OP_CTX_LIMIT = 38, /* CUlimit */
    PTDS_OP_CONFIG = 39,    /* attribute or flags */
    PTDS_OP_CAPTURE_BEGIN = 40,
    PTDS_OP_CAPTURE_END = 41,
    PTDS_OP_GRAPH_INSTANTIATE = 42, /* - ; object */
    PTDS_OP_GRAPH_UPLOAD = 43
};

#endif
