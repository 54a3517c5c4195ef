// SPDX-License-Identifier: Apache-2.0
//
// A program with known call sites for symbols_test.cc: writes "OFFSET BUILD-ID OFFSET" of a call inside an inlined
// function, and of one in assembler. Lines and names in here are what the test expects.
#include <link.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

extern "C" char __executable_start; /* the linker's */
extern "C" uintptr_t assembled();   // places_assembled.S

namespace places
{

volatile int sink;

__attribute__((noinline)) uintptr_t where()
{
    uintptr_t offset =
        reinterpret_cast<uintptr_t>(__builtin_return_address(0)) - reinterpret_cast<uintptr_t>(&__executable_start);
    sink = 1;
    return offset;
}

template <typename Number> __attribute__((always_inline)) inline uintptr_t innermost(Number number)
{
    sink = static_cast<int>(number);
    return where() + 0 * static_cast<uintptr_t>(number); /* innermost */
}

struct Outer {
    __attribute__((noinline)) static uintptr_t method(int number)
    {
        sink = number;
        uintptr_t offset = innermost<long>(number); /* outer */
        sink = 2;
        return offset;
    }
};

int print_build_id(dl_phdr_info *info, size_t, void *)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        if (info->dlpi_phdr[i].p_type != PT_NOTE)
            continue;
        auto *note = reinterpret_cast<const ElfW(Nhdr) *>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
        auto *end = reinterpret_cast<const char *>(note) + info->dlpi_phdr[i].p_memsz;
        while (reinterpret_cast<const char *>(note) < end) {
            auto *name = reinterpret_cast<const char *>(note + 1);
            auto *bits = reinterpret_cast<const unsigned char *>(name + (note->n_namesz + 3) / 4 * 4);
            for (unsigned j = 0; note->n_type == NT_GNU_BUILD_ID && strcmp(name, "GNU") == 0 && j < note->n_descsz; j++)
                printf("%02x", bits[j]);
            note = reinterpret_cast<const ElfW(Nhdr) *>(bits + (note->n_descsz + 3) / 4 * 4);
        }
    }
    return 1; /* the program itself comes first */
}

} // namespace places

int main()
{
    printf("%lx ", static_cast<unsigned long>(places::Outer::method(7)));
    dl_iterate_phdr(places::print_build_id, nullptr);
    printf(" %lx\n", static_cast<unsigned long>(assembled()));
    return 0;
}
