/* SPDX-License-Identifier: Apache-2.0
 *
 * What is read out of a loaded object: of one that the test puts together, and of those that are really there.
 */
#include "tests/base/made_object.h"

#include <dlfcn.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

extern "C" {
#include "interpose/base/elf.h"
#include "interpose/base/loaded.h"
}

static bool no_proc;

/* In place of the C library's: the whole program's, and so the shim's. */
extern "C" ssize_t readlink(const char *path, char *buffer, size_t size) noexcept
{
    if (!no_proc)
        return syscall(SYS_readlink, path, buffer, size);
    errno = ENOENT;
    return -1;
}

namespace
{

class Symbols : public testing::TestWithParam<bool>
{
};

TEST_P(Symbols, ByName)
{
    Object made(GetParam());
    EXPECT_EQ(0u, made.found("function")) << "before its dynamic section was read";
    made.read();
    EXPECT_STREQ("libmade.so.1", made.object.soname);
    EXPECT_EQ(1u, made.found("function"));
    EXPECT_EQ(2u, made.found("variable"));
    EXPECT_EQ(3u, made.found("plain"));
    EXPECT_EQ(10u, made.found("a_name_so_long_that_its_hash_is_all_bits"));
    EXPECT_EQ(8u, made.found("versioned_function")) << "any version";
    for (const char *name :
         {"of_a_thread", "chosen", "its_own", "elsewhere", "nowhere", "", "functio", "function_", "unction"})
        EXPECT_EQ(0u, made.found(name)) << name;
}

TEST_P(Symbols, ByVersion)
{
    Object made(GetParam());
    made.read();
    EXPECT_EQ(8u, made.found("versioned_function", "MADE_1"));
    EXPECT_EQ(9u, made.found("versioned_function", "MADE_2"));
    EXPECT_EQ(0u, made.found("versioned_function", "MADE_3"));
    EXPECT_EQ(1u, made.found("function", "MADE_1")) << "it has none";
    made.object.definitions = nullptr;
    EXPECT_EQ(0u, made.found("versioned_function", "MADE_1"));
    EXPECT_EQ(1u, made.found("function", "MADE_1"));
    made.object.versions = nullptr;
    EXPECT_EQ(8u, made.found("versioned_function", "MADE_7")) << "an object without versions";
}

TEST_P(Symbols, WithoutATableThereAreNone)
{
    Object made(GetParam());
    made.read();
    const struct elf_object whole = made.object;
    made.object.symbols = nullptr;
    EXPECT_EQ(0u, made.found("function"));
    made.object = whole;
    made.object.strings = nullptr;
    EXPECT_EQ(0u, made.found("function"));
    made.object = whole;
    made.object.gnu_hash = made.object.sysv_hash = nullptr;
    EXPECT_EQ(0u, made.found("function"));
    const uint32_t none[8] = {0, 1, 1, 0, 0, 0, 0, 0};
    made.object = whole;
    (GetParam() ? made.object.gnu_hash : made.object.sysv_hash) = none;
    EXPECT_EQ(0u, made.found("function")) << "no buckets";
}

INSTANTIATE_TEST_SUITE_P(Hashes, Symbols, testing::Bool(), [](const testing::TestParamInfo<bool> &one) {
    return one.param ? std::string("Gnu") : std::string("SystemV");
});

/* Linkers leave an empty bucket 0, and number buckets' symbols from the first one in the table. */
TEST(Elf, AnEmptyBucket)
{
    Object made(true);
    made.read();
    const uint32_t empty[] = {1, 1, 1, 0, 0, 0, 0, 0};
    made.object.gnu_hash = empty;
    EXPECT_EQ(0u, made.found("function"));
    /* Two words of the filter; symbols below 3 are not in the table. */
    const uint32_t later[] = {1, 3, 2, 0, 0, 0, 0, 0, 3, gnu("plain") | 1};
    made.object.gnu_hash = later;
    EXPECT_EQ(3u, made.found("plain"));
    EXPECT_EQ(0u, made.found("function"));
}

TEST(Elf, WithoutAName)
{
    Object nameless(true), wordless(true);
    nameless.entry(DT_SONAME).d_tag = DT_DEBUG; /* there is another one behind the end */
    nameless.read();
    EXPECT_EQ(nullptr, nameless.object.soname);
    wordless.entry(DT_STRTAB).d_tag = DT_DEBUG;
    wordless.read();
    EXPECT_EQ(nullptr, wordless.object.soname);
}

TEST(Elf, DynamicEntries)
{
    Object made(true);
    made.read();
    EXPECT_EQ(uintptr_t{DT_RELA}, elf_dynamic_value(&made.object, DT_PLTREL));
    EXPECT_EQ(0u, elf_dynamic_value(&made.object, DT_FLAGS));
    EXPECT_EQ(0u, elf_dynamic_address(&made.object, DT_FLAGS));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(made.object.symbols), elf_dynamic_address(&made.object, DT_SYMTAB));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(made.object.strings), elf_dynamic_address(&made.object, DT_STRTAB));
    made.entry(DT_STRTAB).d_un.d_ptr = made.object.base;
    EXPECT_EQ(made.object.base, elf_dynamic_address(&made.object, DT_STRTAB)) << "the base itself is an address";
    const struct elf_object nothing = {};
    EXPECT_EQ(0u, elf_dynamic_value(&nothing, DT_SYMTAB));
    struct link_map map = {};
    map.l_addr = made.object.bias;
    map.l_name = const_cast<char *>("/lib/mapped.so");
    map.l_ld = const_cast<ElfW(Dyn) *>(made.object.dynamic);
    struct elf_object mapped;
    elf_of_map(&map, &mapped);
    EXPECT_STREQ("/lib/mapped.so", mapped.path);
    EXPECT_EQ(made.object.bias, mapped.base);
    EXPECT_EQ(made.object.bias, mapped.bias);
    EXPECT_EQ(made.object.symbols, mapped.symbols);
}

TEST(Elf, IsTheCLibrary)
{
    for (const char *name :
         {"libc.so.6", "libdl.so.2", "libpthread.so.0", "libc.so", "libcuda.so.1", "libpthread", "libc"}) {
        struct elf_object object = {};
        object.soname = name;
        EXPECT_EQ(std::string(name).find(".so.") != std::string::npos && name != std::string("libcuda.so.1"),
                  elf_is_libc(&object) != 0)
            << name;
    }
    const struct elf_object unnamed = {};
    EXPECT_FALSE(elf_is_libc(&unnamed));
}

/* ---- notes ---- */

/* Names and contents of notes are padded to four bytes. */
/* As in a container or a daemon's root without /proc. */
TEST(Elf, TheProgramsPath)
{
    const std::string started = reinterpret_cast<const char *>(getauxval(AT_EXECFN));
    char path[1024], known[1024] = {}, little[6];
    ASSERT_LT(0, syscall(SYS_readlink, "/proc/self/exe", known, sizeof known - 1));
    struct elf_object program = {}, library = {};
    program.path = "";
    library.path = "/lib/made.so";
    errno = EDOM;
    EXPECT_STREQ(known, loaded_program_path(path, sizeof path));
    EXPECT_STREQ(known, loaded_path(&program, path, sizeof path));
    EXPECT_STREQ("/lib/made.so", loaded_path(&library, path, sizeof path));
    EXPECT_EQ(std::string(known, 5), loaded_program_path(little, sizeof little));
    no_proc = true;
    EXPECT_EQ(started, loaded_program_path(path, sizeof path));
    EXPECT_EQ(started, loaded_path(&program, path, sizeof path));
    EXPECT_EQ(started.substr(0, 5), loaded_program_path(little, sizeof little));
    no_proc = false;
    EXPECT_EQ(EDOM, errno);
}

TEST(Elf, BuildIds)
{
    struct alignas(4) Bytes {
        uint32_t words[16];
    };
    const uint32_t name = 0x00554e47;                            /* "GNU" */
    const Bytes notes = {{5, 3, 1, 0x64636261, 0x65, 0x99999999, /* of "abcd", of three bytes */
                          4, 2, 1, name, 0x2222,                 /* GNU, of another type */
                          4, 5, NT_GNU_BUILD_ID, name, 0x44332211}};
    ElfW(Phdr) segments[2] = {};
    segments[0].p_type = PT_LOAD, segments[0].p_memsz = sizeof notes;
    segments[1].p_type = PT_NOTE, segments[1].p_vaddr = 0, segments[1].p_memsz = sizeof notes;
    struct elf_object object = {};
    object.bias = reinterpret_cast<uintptr_t>(&notes);
    object.segments = segments, object.segment_count = 2;
    const uint8_t *id = nullptr;
    EXPECT_EQ(5u, loaded_build_id(&object, &id));
    EXPECT_EQ(reinterpret_cast<const uint8_t *>(&notes.words[15]), id);
    segments[1].p_memsz = 11 * 4;
    EXPECT_EQ(0u, loaded_build_id(&object, &id)) << "a segment that ends before it";
    segments[1].p_vaddr = 11 * 4, segments[1].p_memsz = 5 * 4;
    EXPECT_EQ(5u, loaded_build_id(&object, &id));
    object.segment_count = 1;
    EXPECT_EQ(0u, loaded_build_id(&object, &id));
    const Bytes other = {{4, 4, NT_GNU_BUILD_ID, 0x00554e48, 0x44332211}}; /* "HNU" */
    segments[1].p_vaddr = 0, segments[1].p_memsz = 5 * 4;
    object.segment_count = 2;
    object.bias = reinterpret_cast<uintptr_t>(&other);
    EXPECT_EQ(0u, loaded_build_id(&object, &id));
}

/* ---- what is really there ---- */

int g_here;

TEST(Elf, TheObjectThatContains)
{
    struct elf_object own, libc, none;
    ASSERT_TRUE(loaded_containing(&g_here, &own));
    EXPECT_STREQ("", own.path);
    EXPECT_LE(own.base, reinterpret_cast<uintptr_t>(&g_here));
    EXPECT_GT(own.end, reinterpret_cast<uintptr_t>(&g_here));
    ASSERT_TRUE(loaded_containing(reinterpret_cast<const void *>(own.base), &libc));
    EXPECT_EQ(own.base, libc.base);
    EXPECT_FALSE(loaded_containing(reinterpret_cast<const void *>(own.base - 1), &libc) && libc.base == own.base);
    EXPECT_FALSE(loaded_containing(reinterpret_cast<const void *>(own.end), &libc) && libc.base == own.base);
    void *const version_of_libc = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    ASSERT_TRUE(loaded_containing(version_of_libc, &libc));
    EXPECT_TRUE(elf_is_libc(&libc));
    EXPECT_EQ(version_of_libc, elf_symbol(&libc, "gnu_get_libc_version"));
    EXPECT_FALSE(loaded_containing(&none, &none)) << "the stack is no object's";
    char path[1024] = "", expected[1024] = "";
    ASSERT_GT(readlink("/proc/self/exe", expected, sizeof expected - 1), 0);
    EXPECT_STREQ(expected, loaded_path(&own, path, sizeof path));
    EXPECT_EQ(libc.path, loaded_path(&libc, path, sizeof path));
    EXPECT_EQ(4, (memset(path, 'x', sizeof path), strlen(loaded_path(&own, path, 5)))) << "cut";
}

TEST(Elf, DefinitionsBehindAnObject)
{
    void *const real = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
    struct elf_object own, libc;
    ASSERT_TRUE(loaded_containing(&g_here, &own) && loaded_containing(real, &libc));
    EXPECT_EQ(real, loaded_symbol_behind(&g_here, "gnu_get_libc_version", nullptr));
    EXPECT_EQ(nullptr, loaded_symbol_behind(real, "gnu_get_libc_version", nullptr)) << "not its own";
    EXPECT_EQ(nullptr, loaded_symbol_behind(&g_here, "no_such_function", nullptr));
    EXPECT_EQ(nullptr, loaded_symbol_behind(&own, "gnu_get_libc_version", nullptr)) << "behind no object";
    EXPECT_EQ(nullptr, loaded_symbol_behind(&g_here, "gnu_get_libc_version", "GLIBC_0.1"));
    EXPECT_EQ(real, loaded_symbol_after(_DYNAMIC, "gnu_get_libc_version"));
    EXPECT_EQ(nullptr, loaded_symbol_after(_DYNAMIC, "no_such_function"));
    EXPECT_EQ(nullptr, loaded_symbol_after(libc.dynamic, "gnu_get_libc_version"));
    const ElfW(Dyn) nobodys = {};
    EXPECT_EQ(nullptr, loaded_symbol_after(&nobodys, "gnu_get_libc_version"));
}

TEST(Elf, EachUntilSomebodyHasEnough)
{
    struct Count {
        int seen, most;
    };
    const auto count = [](const struct elf_object *object, void *data) {
        Count *counted = static_cast<Count *>(data);
        EXPECT_LT(object->base, object->end);
        return ++counted->seen == counted->most ? 17 : 0;
    };
    Count all = {0, 0}, two = {0, 2}, elsewhere = {0, 0};
    EXPECT_EQ(0, loaded_each(count, &all));
    EXPECT_GT(all.seen, 2);
    EXPECT_EQ(17, loaded_each(count, &two));
    EXPECT_EQ(2, two.seen);
    EXPECT_EQ(0, loaded_each_elsewhere(count, &elsewhere));
    EXPECT_EQ(0, elsewhere.seen);
}

} // namespace
