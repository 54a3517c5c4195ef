/* SPDX-License-Identifier: Apache-2.0
 *
 * A loaded object that a test puts together, with every kind of table that linkers write.
 */
#ifndef PTDS_TESTS_BASE_MADE_OBJECT_H
#define PTDS_TESTS_BASE_MADE_OBJECT_H

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

extern "C" {
#include "interpose/base/elf.h"
}

namespace
{

/* As the two standards have them; of "printf" 0x077905a6 and 0x156b2bb8. */
inline uint32_t sysv(const std::string &name)
{
    uint32_t h = 0;
    for (unsigned char c : name) {
        h = (h << 4) + c;
        const uint32_t high = h & 0xf0000000;
        h = (h ^ high >> 24) & ~high;
    }
    return h;
}

inline uint32_t gnu(const std::string &name)
{
    uint32_t h = 5381;
    for (unsigned char c : name)
        h = h * 33 + c;
    return h;
}

/* ---- an object ---- */

struct Named {
    const char *name;
    unsigned type, bind;
    uint16_t section;
    uint16_t version; /* 0x8000: hidden */
};

constexpr uint16_t HERE = 1;
const Named names[] = {
    {"", STT_NOTYPE, STB_LOCAL, SHN_UNDEF, 0},
    {"function", STT_FUNC, STB_GLOBAL, HERE, 1},
    {"variable", STT_OBJECT, STB_WEAK, HERE, 1},
    {"plain", STT_NOTYPE, STB_GLOBAL, HERE, 1},
    {"of_a_thread", STT_TLS, STB_GLOBAL, HERE, 1},
    {"chosen", STT_GNU_IFUNC, STB_GLOBAL, HERE, 1},
    {"its_own", STT_FUNC, STB_LOCAL, HERE, 1},
    {"elsewhere", STT_FUNC, STB_GLOBAL, SHN_UNDEF, 5},
    {"versioned_function", STT_FUNC, STB_GLOBAL, HERE, 0x8002},
    {"versioned_function", STT_FUNC, STB_GLOBAL, HERE, 3},
    {"a_name_so_long_that_its_hash_is_all_bits", STT_FUNC, STB_GLOBAL, HERE, 1},
    {"looked_up", STT_FUNC, STB_GLOBAL, SHN_UNDEF, 0x8006},
    {"stored", STT_FUNC, STB_GLOBAL, SHN_UNDEF, 1},
    {"of_no_known_version", STT_FUNC, STB_GLOBAL, SHN_UNDEF, 9},
    {"of_the_second_file", STT_FUNC, STB_GLOBAL, SHN_UNDEF, 7},
};
constexpr size_t NAMES = sizeof names / sizeof *names;

/* As a loader would have it in memory: addresses that it has relocated, and one that it has not. */
class Object
{
public:
    explicit Object(bool by_gnu)
    {
        strings_ = std::string(1, '\0');
        const uint64_t soname = put_string("libmade.so.1");
        for (size_t i = 0; i < NAMES; i++) {
            ElfW(Sym) symbol = {};
            symbol.st_name = uint32_t(i ? put_string(names[i].name) : 0);
            symbol.st_info = uint8_t(names[i].bind << 4 | names[i].type);
            symbol.st_shndx = names[i].section;
            symbol.st_value = value_of(i);
            symbols_.push_back(symbol);
            versions_.push_back(names[i].version);
        }
        make_definitions();
        make_needed();
        if (by_gnu)
            make_gnu();
        else
            make_sysv();
        relocate();
        const uintptr_t base = reinterpret_cast<uintptr_t>(this);
        object.base = object.bias = base;
        object.path = "/lib/made.so";
        add(DT_SYMTAB, place(symbols_) - base); /* below the base, so not relocated */
        add(DT_STRTAB, place(strings_));
        add(by_gnu ? DT_GNU_HASH : DT_HASH, place(hash_));
        add(DT_VERSYM, place(versions_));
        add(DT_VERDEF, place(definitions_));
        add(DT_VERNEED, place(needed_));
        add(DT_SONAME, soname);
        add(DT_RELA, place(relocations_));
        add(DT_RELASZ, relocations_.size() * sizeof(ElfW(Rela)));
        add(DT_PLTREL, DT_RELA);
        add(DT_JMPREL, place(calls_));
        add(DT_PLTRELSZ, calls_.size() * sizeof(ElfW(Rela)));
        add(DT_NULL, 0);
        add(DT_SONAME, 1);
    }
    static uintptr_t value_of(size_t symbol)
    {
        return 0x1000 + 16 * symbol;
    }
    void read()
    {
        elf_read_dynamic(&object, dynamic_.data());
    }
    ElfW(Dyn) & entry(ElfW(Sxword) tag)
    {
        return *std::find_if(dynamic_.begin(), dynamic_.end(), [&](const ElfW(Dyn) & one) { return one.d_tag == tag; });
    }
    /* Of a symbol by its number; 0: NULL. */
    size_t found(const char *name, const char *version = nullptr) const
    {
        const uintptr_t at = address(version ? elf_symbol_version(&object, name, version) : elf_symbol(&object, name));
        return at ? (at - object.bias - value_of(0)) / 16 : 0;
    }
    struct elf_object object = {};
    uintptr_t words[16] = {};

private:
    static uintptr_t address(const void *at)
    {
        return reinterpret_cast<uintptr_t>(at);
    }
    void add(ElfW(Sxword) tag, uintptr_t value)
    {
        ElfW(Dyn) entry;
        entry.d_tag = tag;
        entry.d_un.d_val = value;
        dynamic_.push_back(entry);
    }
    uint64_t put_string(const std::string &text)
    {
        const uint64_t at = strings_.size();
        strings_ += text + '\0';
        return at;
    }
    /* Behind the base, as all of an object. */
    template <class Table> uintptr_t place(const Table &table)
    {
        const size_t bytes = table.size() * sizeof table[0], at = used_;
        EXPECT_LE(at + bytes, sizeof memory_);
        memcpy(memory_ + at, table.data(), bytes);
        used_ = (at + bytes + 15) & ~size_t{15};
        return address(memory_ + at);
    }
    template <class Record> static void put(std::vector<uint8_t> *out, const Record &record)
    {
        const auto *bytes = reinterpret_cast<const uint8_t *>(&record);
        out->insert(out->end(), bytes, bytes + sizeof record);
    }
    void make_definitions()
    {
        const char *const made[] = {"libmade.so.1", "MADE_1", "MADE_2"};
        for (uint16_t i = 1; i <= 3; i++) {
            ElfW(Verdef) definition = {};
            ElfW(Verdaux) name = {};
            definition.vd_ndx = i;
            definition.vd_aux = sizeof definition;
            definition.vd_next = i < 3 ? sizeof definition + sizeof name : 0;
            name.vda_name = uint32_t(put_string(made[i - 1]));
            put(&definitions_, definition);
            put(&definitions_, name);
        }
    }
    void make_needed()
    {
        const std::vector<std::vector<std::pair<uint16_t, const char *>>> files = {{{5, "OTHER_1"}, {0x8006, "OTHER_2"}},
                                                                                   {{7, "THIRD_1"}}};
        for (size_t i = 0; i < files.size(); i++) {
            ElfW(Verneed) file = {};
            file.vn_cnt = uint16_t(files[i].size());
            file.vn_aux = sizeof file;
            file.vn_next = i + 1 < files.size() ? uint32_t(sizeof file + file.vn_cnt * sizeof(ElfW(Vernaux))) : 0;
            put(&needed_, file);
            for (size_t k = 0; k < files[i].size(); k++) {
                ElfW(Vernaux) version = {};
                version.vna_other = files[i][k].first;
                version.vna_name = uint32_t(put_string(files[i][k].second));
                version.vna_next = k + 1 < files[i].size() ? sizeof version : 0;
                put(&needed_, version);
            }
        }
    }
    /* Few chains, so that each is long. */
    void make_sysv()
    {
        hash_ = {3, NAMES, 0, 0, 0};
        hash_.resize(5 + NAMES, 0);
        for (uint32_t i = 1; i < NAMES; i++) {
            uint32_t *at = &hash_[2 + sysv(names[i].name) % 3];
            while (*at)
                at = &hash_[5 + *at];
            *at = i;
        }
    }
    /* Symbols that are defined, from 1 on, are sorted by bucket; so that none need be moved there is one bucket, and an
     * empty one before it. */
    void make_gnu()
    {
        hash_ = {1, 1, 1, 0, 0, 0, 1};
        for (uint32_t i = 1; i < NAMES; i++)
            hash_.push_back((gnu(names[i].name) & ~1u) | (i + 1 == NAMES ? 1 : 0));
    }
    void relocate()
    {
#if defined(__x86_64__)
        const uint32_t called = R_X86_64_JUMP_SLOT, taken = R_X86_64_GLOB_DAT, stored = R_X86_64_64,
                       other = R_X86_64_RELATIVE;
#else
        const uint32_t called = R_AARCH64_JUMP_SLOT, taken = R_AARCH64_GLOB_DAT, stored = R_AARCH64_ABS64,
                       other = R_AARCH64_RELATIVE;
#endif
        relocation(&relocations_, 0, taken, 11, 0);
        relocation(&relocations_, 1, stored, 12, 0);
        relocation(&relocations_, 2, stored, 12, 8); /* a part of something */
        relocation(&relocations_, 3, other, 12, 0);
        relocation(&relocations_, 4, stored, 0, 0);
        relocation(&relocations_, 5, taken, 1, 0); /* its own */
        relocation(&relocations_, 6, taken, 13, 0);
        relocation(&calls_, 7, called, 7, 0);
        relocation(&calls_, 8, called, 14, 0);
    }
    void relocation(std::vector<ElfW(Rela)> *out, size_t word, uint32_t type, uint32_t symbol, int64_t addend)
    {
        ElfW(Rela) made;
        made.r_offset = address(&words[word]) - reinterpret_cast<uintptr_t>(this);
        made.r_info = ELF64_R_INFO(uint64_t{symbol}, type);
        made.r_addend = addend;
        out->push_back(made);
    }
    alignas(16) uint8_t memory_[8192] = {};
    size_t used_ = 0;
    std::string strings_;
    std::vector<ElfW(Sym)> symbols_;
    std::vector<uint16_t> versions_;
    std::vector<uint8_t> definitions_, needed_;
    std::vector<uint32_t> hash_;
    std::vector<ElfW(Rela)> relocations_, calls_;
    std::vector<ElfW(Dyn)> dynamic_;
};

} // namespace

#endif
