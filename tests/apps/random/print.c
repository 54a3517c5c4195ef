// SPDX-License-Identifier: Apache-2.0
//
// An operation in words, for --trace and for messages. Called by random_turns.c.

#include "plan.h"

const char *const op_names[OP_KINDS] = {
    [KERNEL_FILL] = "fill",
    [KERNEL_ADD_ONE] = "add_one",
    [KERNEL_COPY] = "copy kernel",
    [KERNEL_ADD] = "add",
    [KERNEL_EMPTY] = "empty kernel",
    [MEMSET] = "memset async",
    [MEMSET_SYNC] = "memset",
    [DEVICE_TO_DEVICE] = "DtoD async",
    [DEVICE_TO_DEVICE_SYNC] = "DtoD",
    [PINNED_TO_DEVICE] = "HtoD async pinned",
    [PINNED_TO_DEVICE_SYNC] = "HtoD pinned",
    [PAGEABLE_TO_DEVICE] = "HtoD async pageable",
    [PAGEABLE_TO_DEVICE_SYNC] = "HtoD pageable",
    [DEVICE_TO_PINNED] = "DtoH async pinned",
    [DEVICE_TO_PINNED_SYNC] = "DtoH pinned",
    [DEVICE_TO_PAGEABLE] = "DtoH async pageable",
    [DEVICE_TO_PAGEABLE_SYNC] = "DtoH pageable",
    [HOST_FUNCTION_WRITES] = "host function writes",
    [HOST_FUNCTION_READS] = "host function reads",
    [HOST_READS] = "host reads",
    [HOST_WRITES] = "host writes",
    [EVENT_RECORD] = "event record",
    [EVENT_WAIT] = "wait event",
    [EVENT_RECORD_BY_GRAPH] = "event record by a graph",
    [EVENT_WAIT_BY_GRAPH] = "wait event by a graph",
    [EVENT_RECORD_BY_KERNEL] = "event record by a kernel that begins and adds one",
    [EVENT_SYNCHRONIZE] = "event synchronize",
    [EVENT_QUERY] = "event query until ready",
    [STREAM_SYNCHRONIZE] = "stream synchronize",
    [STREAM_QUERY] = "stream query until ready",
    [CONTEXT_SYNCHRONIZE] = "context synchronize",
    [GRAPH_MAKE] = "graph captured",
    [GRAPH_LAUNCH] = "graph launch",
    [POOL_ALLOC] = "alloc async",
    [POOL_FREE] = "free async",
    [SCRATCH_ALLOC] = "alloc",
    [SCRATCH_FREE] = "free",
    [STREAM_CREATE] = "stream create",
    [STREAM_DESTROY] = "stream destroy",
    [VALUE_WRITE] = "write value",
    [VALUE_WAIT] = "wait value",
    [VALUE_BY_HOST] = "host writes value",
    [THREAD_END] = "thread ends, another takes its place",
};

static void print_stream(FILE *out, const struct plan *p, const struct op *op)
{
    static const char *const fixed[STREAMS_FIXED] = {"0", "left", "right", "free", "other free"};
    if (op->stream == LEGACY && op->by_name)
        fprintf(out, " on 0x1");
    else if (op->stream < STREAMS_FIXED)
        fprintf(out, " on %s", fixed[op->stream]);
    else if (p->model.streams[op->stream].kind == KIND_PER_THREAD)
        fprintf(out, " on 0x2 (%u)", op->stream);
    else
        fprintf(out, " on passing (%u)", op->stream);
}

static void print_range(FILE *out, const char *word, const struct range *r)
{
    static const char *const names[] = {"device", "pooled", "scratch", "pinned", "mapped"};
    unsigned kind = r->mem < POOLED ? 0 : r->mem < SCRATCH ? 1 : r->mem < PINNED ? 2 : r->mem < MAPPED ? 3 : 4;
    fprintf(out, " %s %s%u", word, names[kind], r->mem);
    fprintf(out, "[%u-%u]", r->first, r->first + r->parts - 1u);
    if (r->words < r->parts * PART_WORDS)
        fprintf(out, ":%u words", r->words);
}

static void print_memory(FILE *out, const struct plan *p, const struct op *op)
{
    struct access accesses[ACCESSES_MOST];
    unsigned count = op->kind == GRAPH_LAUNCH ? 0 : op_accesses(p, op, accesses);
    for (unsigned i = count; i-- > 0;)
        print_range(out, accesses[i].writes ? "writes" : "reads", &accesses[i].range);
    for (unsigned i = 0; (op->kind == GRAPH_LAUNCH || op->kind == GRAPH_MAKE) && i < op->nodes; i++) {
        const struct op *node = &p->nodes[op->nodes_at + i];
        fprintf(out, "%s %s", i ? ";" : ":", op_names[node->kind]);
        print_memory(out, p, node);
    }
}

void print_op(FILE *out, const struct plan *p, const struct op *op)
{
    fprintf(out, "%u: thread %u: %s", op->step, p->steps[op->step].seat, op_names[op->kind]);
    if (op_on_stream(op->kind) || op->kind == STREAM_SYNCHRONIZE || op->kind == STREAM_QUERY || op->kind == STREAM_CREATE ||
        op->kind == STREAM_DESTROY || op->kind == GRAPH_MAKE)
        print_stream(out, p, op);
    if (op->kind >= EVENT_RECORD && op->kind <= EVENT_QUERY)
        fprintf(out, " event %u", op->event);
    if (op->kind == GRAPH_MAKE || op->kind == GRAPH_LAUNCH)
        fprintf(out, " graph %u", op->graph);
    if (op->kind >= VALUE_WRITE && op->kind <= VALUE_BY_HOST)
        fprintf(out, " flag %u", op->flag);
    print_memory(out, p, op);
    if (op->spin)
        fprintf(out, " (after spin %u)", op->spin);
    fprintf(out, "\n");
}
