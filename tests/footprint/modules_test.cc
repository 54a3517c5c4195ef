/* SPDX-License-Identifier: Apache-2.0
 *
 * Which kernels and variables are whose module's, by calls that the test makes up; and that all of the footprint's tables
 * can be used after a fork.
 */
#include <gtest/gtest.h>

#include <memory>

extern "C" {
#include "interpose/driver/driver.h"
#include "interpose/footprint/allocations/allocations.h"
#include "interpose/footprint/allocations/reserve.h"
#include "interpose/footprint/footprint.h"
#include "interpose/footprint/graphs/graphs.h"
#include "interpose/footprint/launches/launches.h"
#include "interpose/footprint/memories/addresses.h"
#include "interpose/footprint/memories/lookup.h"
#include "interpose/footprint/memories/managed_variables.h"
#include "interpose/footprint/memories/memory_object.h"
#include "interpose/footprint/modules/kernel_table.h"
#include "interpose/footprint/modules/modules.h"
#include "interpose/footprint/pointers/pointer_tables.h"
#include "interpose/footprint/pointers/scan_host_memory.h"
#include "interpose/state/capture.h"
#include "interpose/state/hooks.h"
}

namespace
{

const char *const kPlain = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .entry f()\n{\n ret;\n}\n";
const char *const kVariable = ".version 7.0\n.target sm_52\n.address_size 64\n.visible .global .align 8 .u64 counter;\n"
                              ".visible .entry f()\n{\n ret;\n}\n";
const CUfunction kFunction = CUfunction(0x700), kKernel = CUfunction(0x800);
uintptr_t g_module, g_library; /* what the driver says whose it is; 0: it refuses */

CUresult module_of(CUmodule *module, CUfunction)
{
    *module = CUmodule(g_module);
    return g_module != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult library_of(CUlibrary *library, CUkernel)
{
    *library = CUlibrary(g_library);
    return g_library != 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
CUresult device_count(int *count)
{
    *count = 0;
    return CUDA_SUCCESS;
}
CUresult device_attribute(int *value, CUdevice_attribute, CUdevice)
{
    *value = 0;
    return CUDA_SUCCESS;
}

CUresult managed(void *value, CUpointer_attribute attribute, CUdeviceptr address)
{
    EXPECT_EQ(CU_POINTER_ATTRIBUTE_IS_MANAGED, attribute);
    *static_cast<unsigned *>(value) = address == 0x30000;
    return CUDA_SUCCESS;
}

class Modules : public testing::Test
{
protected:
    void SetUp() override
    {
        before_.reset(new decltype(::driver)(::driver));
        driver.cuFuncGetModule = module_of;
        driver.cuKernelGetLibrary = library_of;
        g_module = g_library = 0;
        call.footprint = 1;
        call.thread = thread_get();
    }
    void TearDown() override
    {
        modules_after_fork();
        ::driver = *before_;
    }
    void load(uintptr_t handle, const char *image)
    {
        modules_loaded(&call, &handle, image);
    }
    void unload(uintptr_t handle, CUresult result = CUDA_SUCCESS)
    {
        modules_unloading(&call, reinterpret_cast<void *>(handle));
        call.result = result;
        modules_unloaded(&call);
        call.result = CUDA_SUCCESS;
    }
    void gives(CUfunction function, uintptr_t handle)
    {
        modules_gave_function(&call, &function, reinterpret_cast<void *>(handle));
    }
    struct memory *variable(uint64_t base, uint64_t bytes, uintptr_t handle)
    {
        modules_gave_global(&call, &base, sizeof base, &bytes, sizeof bytes, reinterpret_cast<void *>(handle), "name");
        return lookup_range(nullptr, base).memory;
    }
    static uint64_t owner(CUfunction function)
    {
        const struct module *module = modules_of(function);
        return module ? module->handle : 0;
    }
    struct call call = {};

private:
    std::unique_ptr<decltype(::driver)> before_;
};

TEST_F(Modules, HaveTheKernelsThatTheyGave)
{
    load(7, kPlain);
    load(8, kVariable);
    gives(kFunction, 7);
    gives(kKernel, 9);
    EXPECT_EQ(7u, owner(kFunction));
    EXPECT_EQ(0u, owner(kKernel)) << "of one that nobody has seen";
    g_library = 7;
    EXPECT_EQ(7u, owner(kKernel));
    g_module = 8;
    EXPECT_EQ(8u, owner(kKernel)) << "as the driver says";
    EXPECT_EQ(7u, owner(kFunction)) << "which is not asked of these";
    gives(kFunction, 8);
    EXPECT_EQ(8u, owner(kFunction));
}

TEST_F(Modules, TakeTheirKernelsWithThem)
{
    load(7, kPlain);
    gives(kFunction, 7);
    unload(7);
    EXPECT_EQ(0u, owner(kFunction));
    load(7, kVariable); /* in the same memory, for all that anybody knows */
    EXPECT_EQ(0u, owner(kFunction));
    gives(kKernel, 7);
    EXPECT_EQ(7u, owner(kKernel));
    load(7, kVariable); /* it went without a call */
    EXPECT_EQ(0u, owner(kKernel));
}

TEST_F(Modules, TakeTheirVariablesWithThem)
{
    load(7, kVariable);
    const struct memory *memory = variable(0x10000, 8, 7);
    ASSERT_NE(nullptr, memory);
    EXPECT_EQ(memory, variable(0x20000, 64, 7)) << "one memory";
    EXPECT_EQ(memory, lookup_range(nullptr, 0x2003f).memory);
    EXPECT_EQ(nullptr, lookup_range(nullptr, 0x20040).memory);
    unload(7);
    EXPECT_EQ(nullptr, lookup_range(nullptr, 0x10000).memory);
    EXPECT_EQ(nullptr, lookup_range(nullptr, 0x20000).memory);
}

/* The driver refused: the variables are where they were, and the module is known; a memory of another's that lies there by
 * now stays. */
TEST_F(Modules, ThatAreNotUnloadedAfterAll)
{
    load(7, kVariable);
    const struct memory *memory = variable(0x10000, 8, 7);
    unload(7, CUDA_ERROR_UNKNOWN);
    EXPECT_EQ(memory, lookup_range(nullptr, 0x10000).memory);
    gives(kFunction, 7);
    ASSERT_EQ(7u, owner(kFunction));
    EXPECT_EQ(memory, modules_of(kFunction)->memory);
    modules_unloading(&call, reinterpret_cast<void *>(7));
    struct memory *other = memory_object_new(PTDS_MEMORY_DEVICE, 0x10000, 4096);
    addresses_map(other, 0x10000, 4096, 0x10000);
    modules_unloaded(&call);
    EXPECT_EQ(other, lookup_range(nullptr, 0x10000).memory);
    memory_object_drop(addresses_unmap(0x10000));
    memory_object_drop(other);
    unload(7);
    unload(8);
}

/* By one of its handles: a variable that is asked for by another one is the module's still. */
TEST_F(Modules, ThatAreNotUnloadedHaveTheirOtherHandles)
{
    load(7, kVariable);
    for (uintptr_t module = 100; module < 138; module++)
        modules_gave_module(&call, &module, reinterpret_cast<void *>(7));
    uint64_t at = 0x10000;
    for (const uintptr_t refused : {7, 100, 137})
        for (const uintptr_t one : {7, 100, 110, 137}) {
            unload(refused, CUDA_ERROR_NOT_PERMITTED);
            gives(kFunction, one);
            ASSERT_EQ(7u, owner(kFunction)) << one;
            EXPECT_EQ(modules_variables(modules_of(kFunction)), variable(at += 16, 8, one)) << one;
        }
    unload(110);
    EXPECT_EQ(nullptr, lookup_range(nullptr, 0x10010).memory);
    gives(kFunction, 7);
    EXPECT_EQ(0u, owner(kFunction));
}

/* Nobody has written them: what they hold is known. */
TEST_F(Modules, HaveVariablesFromTheBeginning)
{
    driver.cuPointerGetAttribute = managed;
    load(7, kPlain);
    gives(kFunction, 7);
    ASSERT_NE(nullptr, modules_of(kFunction));
    struct memory *of = modules_variables(modules_of(kFunction));
    ASSERT_NE(nullptr, of);
    EXPECT_EQ(of, variable(0x10000, 8, 7));
    EXPECT_FALSE(pointer_tables_incomplete(of, 0));
    load(8, kPlain);
    gives(kKernel, 8);
    pointer_tables_unknown_work();
    EXPECT_TRUE(pointer_tables_incomplete(modules_variables(modules_of(kKernel)), 0)) << "it may have been used before";
    unload(8);
    unload(7);
    EXPECT_EQ(nullptr, lookup_range(nullptr, 0x10000).memory);
    struct memory *nobodys = variable(0x10000, 8, 7);
    ASSERT_NE(nullptr, nobodys);
    EXPECT_EQ(PTDS_MEMORY_GLOBAL, nobodys->kind);
    EXPECT_TRUE(pointer_tables_incomplete(nobodys, 1)) << "of a module that nobody has seen";
    memory_object_drop(addresses_unmap(0x10000));
}

/* A driver that does not tell of its devices. */
TEST_F(Modules, AreReadWhateverTheDriverLacks)
{
    driver.cuDeviceGetCount = nullptr;
    driver.cuDeviceGetAttribute = device_attribute;
    load(7, kVariable);
    driver.cuDeviceGetCount = device_count;
    driver.cuDeviceGetAttribute = nullptr;
    load(8, kVariable);
    driver.cuDeviceGetCount = nullptr;
    load(9, kVariable);
    for (const uintptr_t one : {7, 8, 9}) {
        gives(kFunction, one);
        EXPECT_EQ(one, owner(kFunction));
        EXPECT_NE(nullptr, modules_variables(modules_of(kFunction)));
        unload(one);
    }
}

/* What is freed by another address of it, or is none of a kind that can be: refused, it is where it was. */
TEST_F(Modules, MemoryThatIsNotFreedAfterAll)
{
    struct memory *pinned = memory_object_new(PTDS_MEMORY_PINNED, 0x10000, 4096);
    addresses_map(pinned, 0x10000, 4096, 0x10000);
    addresses_map(pinned, 0x50000, 4096, 0x10000); /* for the device */
    load(7, kVariable);
    const struct memory *global = variable(0x20000, 64, 7);
    for (const uint64_t base : {0x10000, 0x50000, 0x20000}) {
        allocations_freeing(&call, PTDS_OP_FREE, base);
        EXPECT_EQ(nullptr, lookup_range(nullptr, base).memory);
        call.result = CUDA_ERROR_INVALID_VALUE;
        allocations_freed(&call);
        call.result = CUDA_SUCCESS;
    }
    for (const uint64_t base : {0x10000, 0x50000}) {
        EXPECT_EQ(pinned, lookup_range(nullptr, base).memory);
        EXPECT_EQ(pinned, lookup_range(nullptr, base + 4095).memory);
        EXPECT_EQ(0x10000u, base + lookup_range(nullptr, base).shift);
    }
    EXPECT_EQ(global, lookup_range(nullptr, 0x2003f).memory);
    EXPECT_EQ(nullptr, lookup_range(nullptr, 0x20040).memory);
    const uint32_t uid = global->uid;
    unload(7);
    EXPECT_NE(uid, global->uid) << "nobody holds it";
    allocations_freeing(&call, PTDS_OP_FREE, 0x10000);
    allocations_freed(&call);
    EXPECT_EQ(nullptr, lookup_range(nullptr, 0x50000).memory) << "both go together";
    memory_object_drop(pinned);
    call.leaving = nullptr;
}

/* The host stores there without a call. */
TEST_F(Modules, VariablesThatTheHostCanTouch)
{
    driver.cuPointerGetAttribute = managed;
    load(7, kVariable);
    load(8, kVariable);
    static struct memory *shown;
    state_hooks.memory_shown = [](struct call *, struct memory *memory) { shown = memory; };
    EXPECT_FALSE(memory_object_is_hosts(variable(0x20000, 8, 7)));
    EXPECT_EQ(nullptr, shown);
    struct memory *memory = variable(0x30000, 8, 8);
    EXPECT_EQ(memory, shown) << "the guard is told";
    state_hooks.memory_shown = nullptr;
    EXPECT_EQ(1, memory->host);
    EXPECT_TRUE(memory_object_is_hosts(memory));
    memory->host = 2; /* enum memory_host: mapped elsewhere */
    EXPECT_FALSE(memory_object_is_hosts(memory));
    unload(7);
    unload(8);
}

/* During a capture nobody can be asked: they count as managed until one is over. */
TEST_F(Modules, VariablesThatCameDuringACapture)
{
    const auto opaque = [this](CUfunction function) {
        struct kernel kernel = {};
        struct code_facts facts = {};
        kernel.module = modules_of(function);
        pointer_tables_empty(kernel.module->memory); /* what was opaque before may have left pointers there */
        facts.bases = facts.variables = facts.base[0].count = 1;
        facts.base[0].use = facts.base[0].through = CODE_READ;
        facts.base[0].term[0].kind = CODE_VARIABLE;
        kernel_table_take(&kernel, &facts);
        call.touched.count = 0;
        call.touched.opaque = 0;
        launches_touch(&call, &kernel, nullptr, nullptr, nullptr);
        return int(call.touched.opaque);
    };
    driver.cuPointerGetAttribute = managed;
    load(7, kVariable);
    load(8, kVariable);
    gives(kFunction, 7);
    gives(kKernel, 8);
    captures_open = 1;
    struct memory *plain = variable(0x20000, 8, 7), *hosts = variable(0x30000, 8, 8);
    EXPECT_EQ(plain, variable(0x20100, 8, 7));
    EXPECT_EQ(hosts, variable(0x40000, 8, 8));
    EXPECT_TRUE(memory_object_is_hosts(plain));
    EXPECT_EQ(OPAQUE_POINTERS, opaque(kFunction));
    captures_open = 0;
    EXPECT_EQ(0, opaque(kFunction));
    EXPECT_EQ(0, plain->host);
    EXPECT_EQ(OPAQUE_POINTERS, opaque(kKernel));
    EXPECT_EQ(1, hosts->host) << "one of them is";
    captures_open = 1;
    EXPECT_EQ(plain, variable(0x20200, 8, 7));
    EXPECT_EQ(OPAQUE_POINTERS, opaque(kFunction));
    captures_open = 0;
    plain->host |= 2; /* enum memory_host: mapped elsewhere */
    EXPECT_EQ(1, managed_variables_are_hosts(plain));
    EXPECT_EQ(2, plain->host) << "which nobody asks about";
    unload(7);
    unload(8);
}

/* Nor does the driver always say. */
TEST_F(Modules, VariablesOfWhichTheDriverSaysNothing)
{
    driver.cuPointerGetAttribute = [](void *, CUpointer_attribute, CUdeviceptr) { return CUDA_ERROR_INVALID_VALUE; };
    load(7, kVariable);
    EXPECT_EQ(1, variable(0x20000, 8, 7)->host);
    unload(7);
}

/* A context that is destroyed takes its memory with it without a call for each. */
TEST_F(Modules, VariablesWhereMemoryWentWithoutACall)
{
    uint64_t left = 0x10000, other = 0x30000;
    allocations_made(&call, PTDS_MEMORY_DEVICE, &left, sizeof left, 0x1000);
    allocations_made(&call, PTDS_MEMORY_DEVICE, &other, sizeof other, 0x1000);
    load(7, kVariable);
    gives(kFunction, 7);
    EXPECT_EQ(modules_variables(modules_of(kFunction)), variable(0x10800, 8, 7));
    EXPECT_EQ(nullptr, lookup_range(nullptr, 0x10000).memory);
    const struct memory *nobodys = variable(0x30800, 8, 9);
    ASSERT_NE(nullptr, nobodys);
    EXPECT_EQ(PTDS_MEMORY_GLOBAL, nobodys->kind) << "of a module that nobody has seen";
    EXPECT_EQ(nobodys, variable(0x30800, 8, 9));
    /* The module that another one was at the addresses of, while its call is on its way. */
    modules_unloading(&call, reinterpret_cast<void *>(7));
    struct call others = {};
    others.footprint = 1;
    others.thread = call.thread;
    const uintptr_t handle = 8;
    modules_loaded(&others, &handle, kVariable);
    uint64_t base = 0x10800, bytes = 8;
    modules_gave_global(&others, &base, sizeof base, &bytes, sizeof bytes, reinterpret_cast<void *>(handle), "name");
    modules_unloaded(&call);
    gives(kFunction, 8);
    ASSERT_NE(nullptr, lookup_range(nullptr, 0x10800).memory);
    EXPECT_EQ(modules_of(kFunction)->memory, lookup_range(nullptr, 0x10800).memory);
    unload(8);
    memory_object_drop(addresses_unmap(0x30800));
}

/* Host memory has another address for the device, as long as it is there. */
TEST_F(Modules, MemoryWithADeviceAddress)
{
    struct memory *pinned = memory_object_new(PTDS_MEMORY_PINNED, 0x10000, 4096);
    addresses_map(pinned, 0x10000, 4096, 0x10000);
    const auto at = [this](uint64_t device, uint64_t host, CUresult result = CUDA_SUCCESS) {
        call.result = result;
        allocations_device_pointer(&call, &device, sizeof device, reinterpret_cast<void *>(host));
        call.result = CUDA_SUCCESS;
        return lookup_range(nullptr, device);
    };
    EXPECT_EQ(nullptr, at(0x50010, 0x10010, CUDA_ERROR_INVALID_VALUE).memory);
    EXPECT_EQ(nullptr, at(0x50010, 0x90010).memory) << "of memory that nobody has seen";
    const struct memory_range range = at(0x50010, 0x10010);
    EXPECT_EQ(pinned, range.memory);
    EXPECT_EQ(0x50000u, range.begin);
    EXPECT_EQ(0x51000u, range.end);
    EXPECT_EQ(0x10000u, range.begin + range.shift);
    EXPECT_EQ(0x10000u, at(0x10010, 0x10010).begin) << "the same address";
    load(7, kVariable);
    variable(0x60000, 64, 7);
    EXPECT_EQ(pinned, at(0x60010, 0x10010).memory) << "the variable went without a call";
    unload(7);
    EXPECT_EQ(pinned, lookup_range(nullptr, 0x60010).memory);
    addresses_unmap_memory(pinned);
    EXPECT_EQ(nullptr, lookup_range(nullptr, 0x50000).memory);
    memory_object_drop(pinned);
}

/* Nobody has touched the parent's memories, nor what they are mapped in. */
TEST_F(Modules, AndLedgersAreForgottenInAFork)
{
    const CUdeviceptr reserved = 0x200000;
    reserve_made(&call, &reserved, 0x10000);
    struct memory *memory = memory_object_new(PTDS_MEMORY_MAPPED, reserved, 4096);
    reserve_mapped(memory, reserved, 4096);
    addresses_map(memory, reserved, 4096, reserved);
    struct memory *reservation = memory_object_reservation(memory);
    ASSERT_NE(nullptr, reservation);
    memory->ledger = reservation->ledger = reinterpret_cast<struct ledger *>(8);
    addresses_after_fork();
    EXPECT_EQ(nullptr, memory->ledger);
    EXPECT_EQ(nullptr, reservation->ledger);
    memory_object_drop(addresses_unmap(reserved));
    memory_object_drop(memory);
    reserve_freeing(&call, reserved);
    reserve_freed(&call);
    call.leaving = nullptr;
}

/* Each of these takes its lock. */
TEST_F(Modules, AndAllElseCanBeUsedAfterAFork)
{
    const uint64_t base = 0x100000;
    footprint_after_fork();
    struct memory *memory = memory_object_new(PTDS_MEMORY_DEVICE, base, 64);
    addresses_map(memory, base, 64, base);
    pointer_tables_empty(memory);
    scan_host_memory(nullptr, memory, base, reinterpret_cast<const uint8_t *>(&base), sizeof base);
    EXPECT_NE(nullptr, *memory_object_table(memory));
    const CUdeviceptr reserved = 0x200000;
    reserve_made(&call, &reserved, 4096);
    const CUgraphExec exec = CUgraphExec(0x300);
    graphs_instantiated(&call, &exec, nullptr, 0);
    EXPECT_NE(0u, call.object);
    load(7, kPlain);
    EXPECT_NE(nullptr, kernel_table_find(call.thread, kFunction));
    reserve_freeing(&call, reserved);
    EXPECT_NE(nullptr, call.leaving);
    reserve_freed(&call);
    call.leaving = nullptr;
    memory_object_drop(addresses_unmap(base));
    memory_object_drop(memory);
}

} // namespace
