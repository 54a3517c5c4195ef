/* SPDX-License-Identifier: Apache-2.0
 *
 * The policy of watch.h. Sees calls on the legacy stream and on blocking streams. Apart from the test, since the shim's
 * headers name the driver's functions by their exported names.
 */
#include "tests/footprint/watch.h"

#include "interpose/driver/driver.h"
#include "interpose/footprint/kernels.h"
#include "interpose/footprint/pageable.h"
#include "interpose/footprint/memories.h"
#include "interpose/policy/policy.h"
#include "interpose/state/hooks.h"
#include "interpose/state/objects.h"

struct touched watch_last;
uint32_t watch_object, watch_generation;
int watch_blocks, watch_settles, watch_tells, watch_is_opaque;
struct touched watch_leaving;
unsigned watch_leaves, watch_shows, watch_words;
const struct memory *watch_shown[WATCH_SHOWN];

static void look(struct call *C, int implicit)
{
    (void)implicit;
    watch_last = C->touched;
    watch_blocks = footprint_blocks_host(C);
    watch_settles = footprint_settles(C);
    watch_tells = C->op == PTDS_OP_GRAPH_LAUNCH && C->host_sides & CALL_KERNEL_TO_HOST;
    watch_object = C->object;
    watch_generation = C->generation;
}

static void look_created(struct call *C)
{
    watch_last = C->touched;
}

static void leaves(struct call *C)
{
    watch_leaving = C->touched;
    watch_leaves++;
}

static void shown(struct call *C, struct memory *memory)
{
    (void)C;
    if (watch_shows < WATCH_SHOWN)
        watch_shown[watch_shows++] = memory;
}

void watch_start(void)
{
    static struct policy watching;
    watching = policy_observe;
    watching.remaps = 1;
    watching.legacy = look;
    watching.created = look_created;
    watching.wants_footprint = 1;
    routing.policy = &watching;
    state_hooks.memory_leaves = leaves;
    state_hooks.memory_shown = shown;
}

void watch_forget_events(void)
{
    objects_handles_after_fork();
}

struct memory *watch_find(uint64_t address)
{
    return memories_find(NULL, address).memory;
}

struct memory *watch_reservation(uint64_t address)
{
    struct memory *memory = watch_find(address);
    return memory ? memories_reservation(memory) : NULL;
}

static CUgraphNodeType node_type = CU_GRAPH_NODE_TYPE_EMPTY;
static CUdeviceptr node_address;
static __typeof__(driver.cuGraphNodeGetType) ask_type;

static CUresult type_of(CUgraphNode node, CUgraphNodeType *type)
{
    CUresult result = ask_type(node, type);
    if (result == CUDA_SUCCESS && *type == CU_GRAPH_NODE_TYPE_EMPTY)
        *type = node_type;
    return result;
}

static CUresult alloc_of(CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    (void)node;
    params->dptr = node_address;
    return CUDA_SUCCESS;
}

static CUresult free_of(CUgraphNode node, CUdeviceptr *address)
{
    (void)node;
    *address = node_address;
    return CUDA_SUCCESS;
}

void watch_node(int type, uint64_t address)
{
    if (!ask_type)
        ask_type = driver.cuGraphNodeGetType;
    driver.cuGraphNodeGetType = type_of;
    driver.cuGraphMemAllocNodeGetParams = alloc_of;
    driver.cuGraphMemFreeNodeGetParams = free_of;
    node_type = (CUgraphNodeType)type;
    node_address = address;
}

void watch_pageable(int reads)
{
    pageable_read = (uint32_t)reads;
}

int watch_plainly(void *function, void *const *params, struct touched *touched)
{
    struct thread *thread = thread_get();
    const struct kernel *kernel = kernels_met(thread, (CUfunction)function);
    return kernel && kernels_touch_plainly(thread, kernel, params, touched);
}

int watch_names(void *function, void **params, uint32_t uid)
{
    struct call call = {.thread = thread_get(), .footprint = 1, .enter = 1};
    fp_launch(&call, (CUfunction)function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
    watch_words = call.words - SHAPE_WORDS;
    watch_is_opaque = (call.flags & PTDS_CALL_OPAQUE) != 0;
    for (unsigned i = SHAPE_WORDS; i < call.words; i++) {
        uint64_t place = call.word[i] >> PTDS_LAUNCH_ADDRESS_BITS;
        if ((uint32_t)call.word[i] == uid && place >= PTDS_REACHES_READ)
            return place == PTDS_REACHES_WRITE ? 2 : 1;
    }
    return 0;
}

int watch_is_captured(const void *event)
{
    return capture_has_event((CUevent)event);
}

static struct watch_claim *claimed;
static __typeof__(driver_wants_claims) simulated;

static void keep_claim(const struct driver_range *ranges, unsigned count, int everything)
{
    claimed->count = count;
    claimed->everything = everything;
    for (unsigned i = 0; i < count && i < sizeof claimed->at / sizeof *claimed->at; i++) {
        claimed->at[i].begin = ranges[i].begin;
        claimed->at[i].end = ranges[i].end;
        claimed->at[i].writes = ranges[i].writes;
    }
}

void watch_claims(struct watch_claim *claim)
{
    if (!claimed)
        simulated = driver_wants_claims;
    claimed = claim;
    driver_wants_claims = claim ? keep_claim : simulated;
}
