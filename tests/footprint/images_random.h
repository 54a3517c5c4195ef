/* SPDX-License-Identifier: Apache-2.0
 *
 * Images of device code that are made at random. Whoever makes them knows what is in them.
 */
#ifndef PTDS_TESTS_FOOTPRINT_IMAGES_RANDOM_H
#define PTDS_TESTS_FOOTPRINT_IMAGES_RANDOM_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <random>
#include <string>
#include <vector>

extern "C" {
#include "interpose/footprint/image.h"
}

namespace
{

struct Random {
    std::mt19937_64 engine;
    explicit Random(uint64_t seed) : engine(seed)
    {
    }
    size_t below(size_t count)
    {
        return engine() % count;
    }
    bool one_in(size_t count)
    {
        return below(count) == 0;
    }
    template <class Item, size_t count> const Item &of(const Item (&items)[count])
    {
        return items[below(count)];
    }
};

/* A name, and whether it is one that compilers give. */
struct Name {
    const char *text;
    bool compilers;
};
const Name names[] = {{"counter", false},
                      {"_ZN3abc5tableE", false},
                      {"x", false},
                      {"mine$1", false},
                      {"a__cudart_b", false},
                      {"__cudar", false},
                      {"my_ZTV4Node", false},
                      {"_ZT", false},
                      {"mrg32k3aM", false},
                      {"mrg32k3aM2SubSeq1", false},
                      {"precalc_xorwow_offset_matrix_", false},
                      {"xprecalc_xorwow_matrix", false},
                      {"cuda3std", false},
                      {"thrust", false},
                      {"_ZN3sim16thrust_workspaceE", false},
                      {"_ZN34_INTERNAL_aa_4_k_cu_124cuda3std3__48in_placeE", false},
                      {"_ZZN4user1fIN4cute1AEEEvvE1t", false},
                      {"__func_", false},
                      {"__unnamed", false},
                      {"__cudart_i2opi_f", true},
                      {"__cudart_", true},
                      {"$str", true},
                      {"$str$7", true},
                      {"_$_str12", true},
                      {".str.3", true},
                      {"_ZTV4Node", true},
                      {"_ZTI4Node", true},
                      {"_ZTS4Node", true},
                      {"__func__", true},
                      {"__func__.12", true},
                      {"__PRETTY_FUNCTION__", true},
                      {"_ZN22_INTERNAL_aa_4_k_cu_124cuda3std3__48in_placeE", true},
                      {"_ZN6thrust6systemE", true},
                      {"_ZN4cute1XE", true},
                      {"kernel$str", true},
                      {"precalc_xorwow_matrix", true},
                      {"precalc_xorwow_offset_matrix", true},
                      {"mrg32k3aM1", true},
                      {"mrg32k3aM2", true},
                      {"mrg32k3aM1Seq", true},
                      {"mrg32k3aM2Seq", true},
                      {"mrg32k3aM1SubSeq", true},
                      {"mrg32k3aM2SubSeq", true}};

/* ---- PTX ---- */

struct Type {
    const char *text;
    int bits;
};
const Type types[] = {{".b8", 8},   {".u8", 8},   {".s8", 8},   {".b16", 16},  {".u16", 16}, {".s16", 16},
                      {".f16", 16}, {".b32", 32}, {".u32", 32}, {".s32", 32},  {".f32", 32}, {".b64", 64},
                      {".u64", 64}, {".s64", 64}, {".f64", 64}, {".b128", 128}};
const char *const blanks[] = {" ", " ", "  ", "\t", "\n ", " /* .global .u64 no; */ ", " // .const .u32 no;\n "};
const char *const linkages[] = {"", "", ".visible ", ".extern ", ".weak ", ".common "};

struct Made {
    std::string text;
    unsigned expected;
};

/* Numbers of which none is 0, or one is. */
std::string values(Random &random, bool with_zero, size_t count)
{
    std::string text = "{";
    size_t zero = with_zero ? random.below(count) : count;
    for (size_t i = 0; i < count; i++)
        text += (i ? random.one_in(2) ? ", " : "," : "") + (i == zero ? "0" : std::to_string(1 + random.below(250)));
    return text + "}";
}

/* Of some kinds of array the bytes are counted: fewer than 8, in one dimension. Of all others a pointer may lie there. */
Made variable(Random &random)
{
    static const char *const vectors[] = {".v2 ", ".v4 "};
    const bool global = !random.one_in(3);
    const Type &type = random.of(types);
    Name name = random.of(names);
    const bool unnamed = random.one_in(8), zero = random.one_in(3), filled = random.one_in(3);
    if (unnamed)
        name = {random.one_in(2) ? "__unnamed_1" : "__unnamed_", false};
    std::string text = random.of(linkages);
    text += std::string(global ? ".global" : ".const") + random.of(blanks);
    text += random.one_in(2) ? ".align " + std::to_string(1u << random.below(5)) + " " : "";
    text += random.one_in(8) ? random.of(vectors) : "";
    text += std::string(type.text) + random.of(blanks) + name.text;
    size_t count = 1 + random.below(random.one_in(2) ? 12 : 300);
    bool pointers = type.bits > 32;
    const size_t form = random.below(5);
    if (form == 1)
        text += "[" + std::to_string(count) + "]";
    else if (form == 2)
        text += "[" + std::to_string(count) + "][" + std::to_string(1 + random.below(9)) + "]";
    else if (form == 3)
        text += "[]";
    if (type.bits == 8)
        pointers = form == 2 || form == 3 || (form == 1 && count >= 8);
    if (filled)
        text += (random.one_in(2) ? " = " : "=") + (form == 0 || form == 4 ? "7" : values(random, zero, count));
    if (random.one_in(4))
        text += " ";
    text += random.one_in(3) ? ";" : ";\n";
    /* A constant text: bytes that are all there are, none of them 0. */
    const bool compilers = name.compilers || (unnamed && type.bits == 8 && filled && !zero && form != 0 && form != 4);
    if (compilers)
        return {text, 0};
    return {text, global ? IMAGE_GLOBALS | (pointers ? unsigned{IMAGE_POINTERS} : 0u) : unsigned{IMAGE_CONSTANTS}};
}

/* Text in which nothing is declared for the whole module. */
std::string aside(Random &random)
{
    static const char kernel[] = ".visible .entry f(.param .u64 .ptr .global .align 8 p)\n{\n ld.global.u64 %rd1, [p];\n"
                                 " { .reg .global .u64 x; }\n ret;\n}\n";
    static const char *const texts[] = {kernel,
                                        ".func (.param .b32 r) g(.param .u64 .ptr .const p)\n{\n ret;\n}\n",
                                        "// .global .u64 in_a_comment;\n",
                                        "/* .const .u32 in_a_comment[4]; { ( */\n",
                                        ".file 1 \".global .u64 in_a_text; { (\"\n",
                                        ".shared .align 8 .b8 shared[64];\n",
                                        ".globally .u64 no_directive;\n",
                                        ".constant .u64 no_directive;\n",
                                        "x.global .u64 no_directive;\n",
                                        ".section .debug_str\n{\n .b8 46,103,0\n}\n",
                                        "\n\n",
                                        ".pragma \"nounroll\";\n",
                                        "/*/ .global .u64 still_in_a_comment; */",
                                        "/* one *//* another */",
                                        "/**/"};
    return random.of(texts);
}

Made text_at_random(uint64_t seed)
{
    Random random(seed);
    Made made = {".version 8.0\n.target sm_75\n.address_size 64\n", 0};
    for (size_t parts = random.below(4); parts > 0; parts--) {
        if (random.one_in(2)) {
            made.text += aside(random);
        } else {
            const Made one = variable(random);
            made.text += one.text;
            made.expected |= one.expected;
        }
    }
    if (random.one_in(6)) {
        made.text += ".extern .func (.param .b64 r) malloc(.param .b64 p);\n";
        made.expected |= IMAGE_HEAP;
    }
    return made;
}

/* ---- machine code ---- */

struct Section {
    std::string name;
    uint32_t type;
    std::string bytes; /* none of SHT_NOBITS */
    size_t size;
    unsigned kind;
};

struct Symbol {
    std::string name;
    int type;
    size_t section, value, size;
};

/* Sections as they are given from number 1 on, then the symbols' texts, the symbols, and the names. What belongs to them
 * lies in any order, and the table of sections before or behind it. */
std::string object_of(Random &random, const std::vector<Section> &sections, const std::vector<Symbol> &symbols)
{
    std::vector<Elf64_Shdr> headers(sections.size() + 4);
    std::vector<std::string> parts(headers.size());
    std::string titles(1, '\0'), texts(1, '\0');
    const size_t count = headers.size(), table_size = count * sizeof headers[0];
    auto put = [&](size_t at, const std::string &name, uint32_t type, const std::string &what, size_t size) {
        headers[at].sh_name = static_cast<Elf64_Word>(titles.size());
        titles += name + '\0';
        headers[at].sh_type = type;
        headers[at].sh_size = size;
        parts[at] = what;
    };
    for (size_t i = 0; i < sections.size(); i++)
        put(i + 1, sections[i].name, sections[i].type, sections[i].bytes, sections[i].size);
    std::vector<Elf64_Sym> table(1);
    for (const Symbol &symbol : symbols) {
        Elf64_Sym made = {};
        made.st_name = static_cast<Elf64_Word>(texts.size());
        made.st_info = static_cast<unsigned char>(ELF64_ST_INFO(STB_GLOBAL, symbol.type));
        made.st_shndx = static_cast<Elf64_Half>(symbol.section);
        made.st_value = symbol.value;
        made.st_size = symbol.size;
        texts += symbol.name + '\0';
        table.push_back(made);
    }
    put(count - 3, ".strtab", SHT_STRTAB, texts, texts.size());
    const std::string symbol_bytes(reinterpret_cast<char *>(table.data()), table.size() * sizeof table[0]);
    put(count - 2, ".symtab", SHT_SYMTAB, symbol_bytes, symbol_bytes.size());
    headers[count - 2].sh_link = static_cast<Elf64_Word>(count - 3);
    put(count - 1, ".shstrtab", SHT_STRTAB, "", 0);
    parts[count - 1] = titles;
    headers[count - 1].sh_size = titles.size();
    Elf64_Ehdr header = {};
    const bool headers_first = random.one_in(2);
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    std::shuffle(order.begin(), order.end(), random.engine);
    std::string bytes;
    for (size_t at : order) {
        headers[at].sh_offset = sizeof header + (headers_first ? table_size : 0) + bytes.size();
        bytes += parts[at];
        if (at != order.back() || !headers_first)
            bytes.resize((bytes.size() + 7) / 8 * 8);
    }
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = 190;
    header.e_shoff = sizeof header + (headers_first ? 0 : bytes.size());
    header.e_shentsize = sizeof headers[0];
    header.e_shnum = static_cast<Elf64_Half>(count);
    header.e_shstrndx = static_cast<Elf64_Half>(count - 1);
    const std::string first(reinterpret_cast<char *>(&header), sizeof header);
    const std::string all_headers(reinterpret_cast<char *>(headers.data()), table_size);
    return headers_first ? first + all_headers + bytes : first + bytes + all_headers;
}

Section section_at_random(Random &random)
{
    static const struct {
        const char *name;
        unsigned kind;
    } kinds[] = {{".nv.global", IMAGE_GLOBALS},
                 {".nv.global.init", IMAGE_GLOBALS},
                 {".nv.constant3", IMAGE_CONSTANTS},
                 {".nv.constant0.f", 0},
                 {".nv.constant", 0},
                 {".text.f", 0},
                 {".nv.shared.f", 0},
                 {".nv.globa", 0},
                 {"x.nv.global", 0},
                 {".nv.constant3.x", IMAGE_CONSTANTS}};
    const auto &kind = random.of(kinds);
    const size_t size = random.one_in(4) ? 0 : 1 + random.below(40);
    if (random.one_in(3))
        return {kind.name, SHT_NOBITS, "", size, kind.kind};
    std::string bytes;
    for (size_t i = 0; i < size; i++)
        bytes += random.one_in(5) ? '\0' : 'a';
    return {kind.name, SHT_PROGBITS, bytes, size, kind.kind};
}

/* A constant text: all of its bytes are there, and only the last of them is 0. */
bool is_text(const Section &section, const Symbol &symbol)
{
    if (section.type != SHT_PROGBITS || symbol.size == 0 || symbol.value + symbol.size > section.size)
        return false;
    return section.bytes.substr(symbol.value, symbol.size).find('\0') == symbol.size - 1;
}

Made object_at_random(uint64_t seed)
{
    Random random(seed);
    std::vector<Section> sections;
    std::vector<Symbol> symbols;
    unsigned expected = 0, there = 0, named = 0;
    for (size_t i = random.below(4); i > 0; i--) {
        sections.push_back(section_at_random(random));
        there |= sections.back().size ? sections.back().kind : 0;
    }
    for (size_t i = random.below(5); i > 0; i--) {
        static const int symbol_types[] = {STT_OBJECT, STT_OBJECT, STT_OBJECT, STT_FUNC, STT_NOTYPE};
        Name name = random.of(names);
        const bool heap = random.one_in(12), unnamed = !heap && random.one_in(3);
        if (heap || unnamed)
            name = {heap ? "malloc" : random.one_in(2) ? "__unnamed_2" : "__unnamed_", false};
        Symbol symbol = {name.text, random.of(symbol_types), random.below(sections.size() + 1), random.below(8),
                         random.below(16)};
        symbols.push_back(symbol);
        expected |= heap ? unsigned{IMAGE_HEAP} : 0u;
        if (symbol.type != STT_OBJECT || symbol.section == 0)
            continue;
        const Section &in = sections[symbol.section - 1];
        named |= in.kind;
        if (!in.kind || name.compilers || (unnamed && is_text(in, symbol)))
            continue;
        expected |= in.kind | (in.kind == IMAGE_GLOBALS && symbol.size >= 8 ? unsigned{IMAGE_POINTERS} : 0u);
    }
    there &= ~named; /* nobody says what lies there */
    return {object_of(random, sections, symbols),
            expected | there | (there & IMAGE_GLOBALS ? unsigned{IMAGE_POINTERS} : 0u)};
}

} // namespace

#endif
