/* SPDX-License-Identifier: Apache-2.0
 *
 * Which variables images have: PTX by hand, cubins put together here, containers that nvcc 13.0 made.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <fcntl.h>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

extern "C" {
#include "interpose/footprint/image.h"
}

#include "tests/footprint/images.h"

namespace
{

unsigned of_text(const std::string &body)
{
    std::string text = ".version 8.0\n.target sm_75\n.address_size 64\n" + body;
    return image_variables(text.c_str(), SIZE_MAX);
}

TEST(Ptx, VariablesOutsideOfFunctions)
{
    EXPECT_EQ(of_text(".visible .entry f(.param .u64 p)\n{\n ld.global.u32 %r1, [p];\n .const_not %r;\n ret;\n}\n"), 0u);
    EXPECT_EQ(of_text(".visible .entry f(.param .u64 .ptr .global .align 8 p)\n{ ret; }\n"), 0u);
    EXPECT_EQ(of_text(".global .align 4 .u32 counter;\n"), unsigned{IMAGE_GLOBALS});
    EXPECT_EQ(of_text(".visible .const .align 4 .u32 start[4] = {3, 1, 4, 1};\n"), unsigned{IMAGE_CONSTANTS});
    EXPECT_EQ(of_text(".const .u32 a;\n.visible .entry f()\n{ ret; }\n.extern .global .u32 b;"),
              unsigned{IMAGE_GLOBALS | IMAGE_CONSTANTS});
    EXPECT_EQ(of_text("/* .global .u32 a; */ // .global .u32 b;\n.file 1 \".global .u32 c;\"\n"), 0u);
    EXPECT_EQ(of_text(".func (.reg .u32 r) f(.param .u64 .ptr .const p)\n{\n{ .reg .u32 x; }\n ret;\n}\n"), 0u);
}

TEST(Ptx, TheCompilersOwnDoNotCount)
{
    EXPECT_EQ(of_text(".global .align 4 .b8 __cudart_i2opi_f[24] = {65, 144};\n"), 0u);
    EXPECT_EQ(of_text(".global .align 1 .b8 $str[2] = {120};\n.global .align 8 .u64 _ZTV4Node[3];\n"), 0u);
    EXPECT_EQ(of_text(".global .align 1 .b8 _ZN22_INTERNAL_aa_4_k_cu_124cuda3std3__48in_placeE[1];\n"), 0u);
    EXPECT_EQ(of_text(".global .align 1 .b8 $str[2] = {120};\n.global .u32 mine;\n"), unsigned{IMAGE_GLOBALS});
    EXPECT_EQ(of_text(".global .align 1 .b8 _ZN22_INTERNAL_aa_4_k_cu_124cute7productE[1];\n"), 0u);
    EXPECT_EQ(of_text(".global .align 4 .b8 mrg32k3aM1Seq[2304] = {130, 232};\n"), 0u);
    EXPECT_EQ(of_text(".global .align 4 .b8 mrg32k3aM1Sequel[4] = {130, 232};\n"), unsigned{IMAGE_GLOBALS});
    for (char more : std::string("azAZ09_$%."))
        EXPECT_EQ(of_text(std::string(".global .align 4 .b8 mrg32k3aM1Seq") + more + "[4] = {130, 232};\n"),
                  unsigned{IMAGE_GLOBALS})
            << more;
}

/* By the scope that they are in; as nvcc names them. */
TEST(Ptx, TheHeadersOwnDoNotCount)
{
    const auto of_name = [](const std::string &name) { return of_text(".global .align 4 .b8 " + name + "[16];\n"); };
    for (const char *name :
         {"_ZN45_INTERNAL_f420aea2_14_tvm_kernels_cu_2d4dc2494cuda3std3__48in_placeE",
          "_ZN53_INTERNAL_e58ba72d_22_float_float2_float4_cu_7d2608026thrust12placeholders2_1E",
          "_ZN33_INTERNAL_14_kernel_cpp1_ii_Width6thrust3seqE", "_ZN6thrust6system6detail10sequential3seqE", "_ZN4cuteL1_E",
          "_ZZN4cuda3std3__48__detail21__stronger_order_cudaEiiE7__xform", "_ZZNK4cute3fooEvE1t",
          "_ZZZN6thrust1fEvENKUlvE_clEvE1x",
          "__nv_static_49__36_structure_factors_compute_61_cpp1_ii_415e9718__ZN58_INTERNAL_36_structure_factors_compute_61_"
          "cpp1_ii_415e97186thrust12placeholders2_1E"})
        EXPECT_EQ(of_name(name), 0u) << name;
    for (const char *name : {"_ZN3sim16thrust_workspaceE",
                             "_ZL16thrust_magnitude",
                             "_ZN4user7scratchIN6thrust7complexIfEEEE",
                             "_ZL14cuteness_table",
                             "_ZZN4user1fIN6thrust7complexIfEEEEvvE1t",
                             "_ZN4user4cute1xE",
                             "_ZN4user6thrust1xE",
                             "_ZN44_INTERNAL_f420aea2_14_tvm_kernels_cu_2d4dc2494cuda3std3__48in_placeE",
                             "_ZN22_INTERNAL_aa_4_k_cu_124user6thrust1xE",
                             "_ZN22_INTERNAL_aa_4_k_cu_12",
                             "_ZN99_INTERNAL_aa6thrust1xE",
                             "_ZN99999999999999999999_INTERNAL_aa6thrust1xE",
                             "__nv_static_3__ab_6thrust",
                             "__nv_static_3__ab__ZL14cuteness_table",
                             "__nv_static_99__ab__ZN6thrust1xE",
                             "_Z",
                             "_ZZ",
                             "_ZN",
                             "_ZN22",
                             "__nv_static_",
                             "4cute",
                             "N4cute1xE"})
        EXPECT_TRUE(of_name(name) & IMAGE_GLOBALS) << name;
}

/* __func__ and __PRETTY_FUNCTION__. */
TEST(Ptx, TextsWithoutAName)
{
    EXPECT_EQ(of_text(".global .align 1 .b8 __unnamed_[2] = {118, 111};\n"), 0u);
    EXPECT_EQ(of_text(".global .align 1 .b8 __unnamed_1[12] = {118, 111, 105, 100, 32, 83, 10, 20, 30};\n"), 0u);
    for (const char *text :
         {".global .align 1 .b8 __unnamed_1[4] = {118, 0, 105};\n", ".global .align 1 .b8 __unnamed_1[4] = {0};\n",
          ".global .align 1 .b8 __unnamed_1[4];\n.const .b8 other[1] = {1};\n",
          ".global .align 2 .b16 __unnamed_1[2] = {118, 111};\n", ".global .align 1 .b8 my__unnamed_1[4] = {118, 111};\n"})
        EXPECT_TRUE(of_text(text) & IMAGE_GLOBALS) << text;
}

TEST(Ptx, VariablesWithRoomForAPointer)
{
    const unsigned room = IMAGE_GLOBALS | IMAGE_POINTERS;
    for (const char *text :
         {".global .align 8 .u64 kept;\n", ".global .b64 kept;\n", ".global .align 8 .b8 node[16];\n",
          ".global .align 8 .f64 sums[4];\n", ".global .align 1 .b8 packed[8];\n", ".global .align 8 .b8 of[2][4];\n",
          ".extern .global .align 8 .b8 unknown[];\n", ".global .b8 few[4], many[16];\n", ".global .b8 first, many[16];\n",
          ".global /* .u32 */ .u64 kept;\n", ".global .u32 counter;\n.global .u64 kept;\n",
          ".visible .global .align 8 .b8 node[16] = {1, 2};\n"})
        EXPECT_EQ(of_text(text), room) << text;
    for (const char *text :
         {".global .align 4 .u32 counters[256];\n", ".global .f32 x;\n", ".global .align 2 .b16 halves[64];\n",
          ".global .align 1 .b8 flags[7];\n", ".global .align 1 .b8 flag;\n", ".global .align 16 .v4 .f32 points[8];\n",
          ".global .u8 flag = 1;\n"})
        EXPECT_EQ(of_text(text), unsigned{IMAGE_GLOBALS}) << text;
    EXPECT_EQ(of_text(".const .align 8 .u64 table[4];\n"), unsigned{IMAGE_CONSTANTS}) << "no kernel writes there";
    EXPECT_EQ(of_text(".global .align 8 .u64 _ZTV4Node[3];\n.global .u32 mine;\n"), unsigned{IMAGE_GLOBALS});
}

TEST(Image, NothingThatIsKnown)
{
    EXPECT_EQ(image_variables("some text", 9), unsigned{IMAGE_UNREAD});
    EXPECT_EQ(image_variables("", 0), unsigned{IMAGE_UNREAD});
    EXPECT_EQ(image_variables(nullptr, 10), unsigned{IMAGE_UNREAD});
    EXPECT_EQ(image_file_variables("/nonexistent"), unsigned{IMAGE_UNREAD});
    EXPECT_EQ(image_file_variables("/proc/self/exe"), unsigned{IMAGE_UNREAD}); /* an ELF file of another machine */
}

std::string text_of(const char *path)
{
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
}

/* Neither mappings nor descriptors, whichever number the file gets. */
TEST(Image, LeavesNothingBehind)
{
    const std::string path = testing::TempDir() + "/image";
    std::ofstream(path) << bytes_of(zstd_cubin);
    const std::string image = bytes_of(lz4_ptx);
    EXPECT_EQ(image_file_variables(path.c_str()), unsigned{IMAGE_GLOBALS});
    const std::string before = text_of("/proc/self/maps");
    for (int i = 0; i < 20; i++) {
        EXPECT_EQ(image_file_variables(path.c_str()), unsigned{IMAGE_GLOBALS});
        EXPECT_EQ(image_variables(image.data(), image.size()), unsigned{IMAGE_GLOBALS});
    }
#ifndef __SANITIZE_ADDRESS__ /* its allocator maps memory as it goes */
    EXPECT_EQ(text_of("/proc/self/maps"), before);
#endif
    const int input = dup(0);
    close(0);
    EXPECT_EQ(image_file_variables(path.c_str()), unsigned{IMAGE_GLOBALS});
    EXPECT_EQ(fcntl(0, F_GETFD), -1);
    if (input >= 0)
        dup2(input, 0), close(input);
}

/* A cubin with one section of that name and size, and symbols: name, type, section (1 that one, 0 none). */
struct Symbol {
    const char *name;
    int type, section;
    size_t size = 4;
};

std::string cubin(const std::string &section, size_t size, const std::vector<Symbol> &symbols)
{
    std::string names = std::string(1, '\0') + section + '\0';
    std::vector<Elf64_Sym> table(1);
    for (const Symbol &symbol : symbols) {
        Elf64_Sym made = {};
        made.st_name = static_cast<Elf64_Word>(names.size());
        made.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, symbol.type));
        made.st_shndx = static_cast<Elf64_Half>(symbol.section);
        made.st_size = symbol.size;
        names += std::string(symbol.name) + '\0';
        table.push_back(made);
    }
    names.resize((names.size() + 7) / 8 * 8);
    Elf64_Ehdr header = {};
    Elf64_Shdr sections[4] = {};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = 190;
    header.e_shentsize = sizeof sections[0];
    header.e_shnum = 4;
    header.e_shstrndx = 2;
    header.e_shoff = sizeof header;
    sections[1].sh_name = 1, sections[1].sh_type = SHT_NOBITS, sections[1].sh_size = size;
    sections[2].sh_type = SHT_STRTAB, sections[2].sh_offset = sizeof header + sizeof sections;
    sections[2].sh_size = names.size();
    sections[3].sh_type = SHT_SYMTAB, sections[3].sh_offset = sections[2].sh_offset + names.size();
    sections[3].sh_size = table.size() * sizeof table[0], sections[3].sh_link = 2;
    return std::string(reinterpret_cast<char *>(&header), sizeof header) +
           std::string(reinterpret_cast<char *>(sections), sizeof sections) + names +
           std::string(reinterpret_cast<char *>(table.data()), table.size() * sizeof table[0]);
}

unsigned of(const std::string &image)
{
    std::vector<uint64_t> aligned(image.size() / 8 + 1);
    memcpy(aligned.data(), image.data(), image.size());
    return image_variables(aligned.data(), image.size());
}

TEST(Cubin, SymbolsOfItsVariables)
{
    EXPECT_EQ(of(cubin(".nv.global", 4, {{"counter", STT_OBJECT, 1}})), unsigned{IMAGE_GLOBALS});
    EXPECT_EQ(of(cubin(".nv.global.init", 4, {{"counter", STT_OBJECT, 1}})), unsigned{IMAGE_GLOBALS});
    EXPECT_EQ(of(cubin(".nv.constant3", 4, {{"table", STT_OBJECT, 1}})), unsigned{IMAGE_CONSTANTS});
    EXPECT_EQ(of(cubin(".nv.global.init", 4, {{"$str", STT_OBJECT, 1}, {"__cudart_i2opi_f", STT_OBJECT, 1}})), 0u);
    EXPECT_EQ(of(cubin(".nv.global.init", 4, {{"$str", STT_OBJECT, 1}, {"mine", STT_OBJECT, 1}})), unsigned{IMAGE_GLOBALS});
    EXPECT_EQ(of(cubin(".nv.global", 4, {})), unsigned{IMAGE_GLOBALS | IMAGE_POINTERS}) << "bytes without a name";
    EXPECT_EQ(of(cubin(".nv.global", 8, {{"kept", STT_OBJECT, 1, 8}})), unsigned{IMAGE_GLOBALS | IMAGE_POINTERS});
    EXPECT_EQ(of(cubin(".nv.global", 8, {{"some", STT_OBJECT, 1, 7}})), unsigned{IMAGE_GLOBALS});
    EXPECT_EQ(of(cubin(".nv.constant3", 8, {{"table", STT_OBJECT, 1, 8}})), unsigned{IMAGE_CONSTANTS});
    EXPECT_EQ(of(cubin(".text.f", 4, {{"f", STT_FUNC, 1}, {".nv.reservedSmem.offset0", STT_OBJECT, 0}})), 0u);
    EXPECT_EQ(of(cubin(".nv.constant0.f", 4, {})), 0u);
    const unsigned all = IMAGE_HEAP | IMAGE_GLOBALS | IMAGE_POINTERS;
    EXPECT_EQ(of(cubin(".nv.global", 8, {{"malloc", STT_FUNC, 0}, {"kept", STT_OBJECT, 1, 8}, {"some", STT_OBJECT, 1, 4}})),
              all)
        << "what the later ones are takes nothing back";
    EXPECT_EQ(of(cubin(".nv.global", 8, {{"some", STT_OBJECT, 1, 4}, {"kept", STT_OBJECT, 1, 8}, {"malloc", STT_FUNC, 0}})),
              all);
}

/* The parts of an image by which others are found; what can't be found may be anything. */
TEST(Cubin, DamagedTables)
{
    std::string good = cubin(".nv.global", 8, {{"counter", STT_OBJECT, 1}, {"malloc", STT_FUNC, 0}});
    auto with = [&](auto change) {
        std::string bad = good;
        Elf64_Ehdr header;
        Elf64_Shdr sections[4];
        memcpy(&header, bad.data(), sizeof header);
        memcpy(sections, &bad[sizeof header], sizeof sections);
        change(header, sections);
        memcpy(&bad[0], &header, sizeof header);
        memcpy(&bad[sizeof header], sections, sizeof sections);
        return of(bad);
    };
    const unsigned unread = IMAGE_UNREAD, heap = IMAGE_HEAP, all = IMAGE_GLOBALS | IMAGE_POINTERS;
    EXPECT_EQ(with([](auto &, auto *) {}), heap | IMAGE_GLOBALS);
    EXPECT_EQ(with([](auto &header, auto *) { header.e_machine = 62; }), unread);
    EXPECT_EQ(with([](auto &header, auto *) { header.e_ident[EI_CLASS] = ELFCLASS32; }), unread);
    EXPECT_EQ(with([](auto &header, auto *) { header.e_shentsize--; }), unread);
    EXPECT_EQ(with([](auto &header, auto *) { header.e_shnum = 0; }), unread);
    EXPECT_EQ(with([](auto &header, auto *) { header.e_shnum = 1000; }), unread);
    EXPECT_EQ(with([](auto &header, auto *) { header.e_shoff += 4; }), unread);
    EXPECT_EQ(with([](auto &header, auto *) { header.e_shstrndx = 4; }), unread);
    EXPECT_EQ(with([](auto &, auto *sections) { sections[2].sh_size = 2; }), IMAGE_GLOBALS) << "their names are not there";
    EXPECT_EQ(with([](auto &, auto *sections) { sections[2].sh_offset = 1 << 20; }), IMAGE_GLOBALS);
    EXPECT_EQ(with([](auto &, auto *sections) { sections[3].sh_link = 4; }), all);
    EXPECT_EQ(with([](auto &, auto *sections) { sections[3].sh_offset = 1 << 20; }), all);
    EXPECT_EQ(with([](auto &, auto *sections) { sections[3].sh_type = SHT_DYNSYM; }), all) << "bytes without a name";
    good = cubin(".text.f", 4, {{"f", STT_FUNC, 1}});
    auto end_at = [&](size_t offset) {
        return with([offset](auto &, auto *sections) { sections[3].sh_offset = offset, sections[3].sh_size = 0; });
    };
    EXPECT_EQ(end_at(good.size()), 0u) << "an empty table, where the image ends";
    EXPECT_EQ(end_at(good.size() + 1), all);
}

/* A cubin whose variables are initialised: with that. */
std::string with_bytes(const std::string &bytes, const std::string &name)
{
    std::string image = cubin(".nv.global.init", bytes.size(), {{name.c_str(), STT_OBJECT, 1, bytes.size()}});
    Elf64_Shdr section;
    const size_t at = sizeof(Elf64_Ehdr) + sizeof section;
    memcpy(&section, &image[at], sizeof section);
    section.sh_type = SHT_PROGBITS;
    section.sh_offset = image.size();
    memcpy(&image[at], &section, sizeof section);
    return image + bytes;
}

TEST(Cubin, TextsWithoutAName)
{
    EXPECT_EQ(of(with_bytes(std::string("operator()\0", 11), "__unnamed_1")), 0u);
    EXPECT_EQ(of(with_bytes(std::string("oper\0or()\0", 10), "__unnamed_1")), unsigned{IMAGE_GLOBALS | IMAGE_POINTERS});
    EXPECT_EQ(of(with_bytes("operator()", "__unnamed_1")), unsigned{IMAGE_GLOBALS | IMAGE_POINTERS});
    EXPECT_EQ(of(with_bytes(std::string("operator()\0", 11), "greeting")), unsigned{IMAGE_GLOBALS | IMAGE_POINTERS});
    EXPECT_EQ(of(cubin(".nv.global", 4, {{"__unnamed_1", STT_OBJECT, 1}})), unsigned{IMAGE_GLOBALS})
        << "no bytes of its own";
    std::string cut = with_bytes(std::string("operator()\0", 11), "__unnamed_1");
    EXPECT_TRUE(of(cut.substr(0, cut.size() - 4)) & IMAGE_GLOBALS) << "they are not all there";
}

/* As nvcc 13 leaves it: a function that the driver brings. */
TEST(Cubin, KernelsThatAllocate)
{
    EXPECT_EQ(of(cubin(".text.f", 4, {{"f", STT_FUNC, 1}, {"malloc", STT_FUNC, 0}})), unsigned{IMAGE_HEAP});
    EXPECT_EQ(of(cubin(".text.f", 4, {{"f", STT_FUNC, 1}, {"vprintf", STT_FUNC, 0}})), 0u);
    EXPECT_EQ(of_text(".extern .func (.param .b64 r) malloc(.param .b64 p);\n"), unsigned{IMAGE_HEAP});
    EXPECT_EQ(of_text(".extern .func (.param .b32 r) vprintf(.param .b64 p);\n"), 0u);
}

/* Each byte wrong in turn, each length: it ends, within the image. */
TEST(Cubin, Damaged)
{
    std::string good = cubin(".nv.global", 4, {{"counter", STT_OBJECT, 1}});
    for (size_t at = 0; at < good.size(); at++) {
        for (char flip : {'\x01', '\x80', '\xff'}) {
            std::string bad = good;
            bad[at] = static_cast<char>(bad[at] ^ flip);
            of(bad);
        }
        of(good.substr(0, at));
    }
}

/* As a file's, as in memory, and behind the wrapper by which programs refer to it. */
TEST(Fatbin, OfNvcc)
{
    for (auto [text, expected] : std::vector<std::pair<const char *, unsigned>>{{lz4_ptx, IMAGE_GLOBALS},
                                                                                {zstd_ptx, IMAGE_GLOBALS},
                                                                                {zstd_cubin, IMAGE_GLOBALS},
                                                                                {constant_cubin, IMAGE_CONSTANTS}}) {
        std::string image = bytes_of(text);
        struct {
            unsigned magic = 0x466243b1, version = 1;
            const void *data, *more = nullptr;
        } wrapper;
        wrapper.data = image.data();
        EXPECT_EQ(of(image), expected);
        EXPECT_EQ(image_variables(image.data(), SIZE_MAX), expected);
        EXPECT_EQ(image_variables(&wrapper, SIZE_MAX), expected);
    }
}

TEST(Fatbin, OnlyForTheDevicesThatThereAre)
{
    const std::string image = of_two_devices(90, 80);
    const std::vector<std::pair<std::vector<uint32_t>, unsigned>> cases = {
        {{}, IMAGE_CONSTANTS | IMAGE_GLOBALS},
        {{90}, IMAGE_CONSTANTS},
        {{80}, IMAGE_GLOBALS},
        {{90, 80}, IMAGE_CONSTANTS | IMAGE_GLOBALS},
        {{75}, IMAGE_CONSTANTS | IMAGE_GLOBALS}, /* none for it: the driver may compile or take another one */
        {{90, 75}, IMAGE_CONSTANTS | IMAGE_GLOBALS},
        {std::vector<uint32_t>(17, 90), IMAGE_CONSTANTS | IMAGE_GLOBALS},
    };
    for (const auto &[devices, expected] : cases) {
        image_devices(devices.data(), static_cast<unsigned>(devices.size()));
        EXPECT_EQ(of(image), expected) << testing::PrintToString(devices);
    }
    image_devices(nullptr, 0);
}

TEST(Fatbin, Damaged)
{
    for (const char *text : {lz4_ptx, zstd_ptx, zstd_cubin}) {
        std::string good = bytes_of(text);
        for (size_t at = 0; at < good.size(); at++) {
            std::string bad = good;
            bad[at] = static_cast<char>(bad[at] ^ 0x41);
            of(bad);
            of(good.substr(0, at));
        }
        EXPECT_EQ(of(good.substr(0, good.size() / 2)), unsigned{IMAGE_UNREAD});
    }
}

} // namespace
