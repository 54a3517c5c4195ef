// SPDX-License-Identifier: Apache-2.0
//
// The front end for machine code: what it makes of kernels for three architectures (cubins.h), of single instructions, and
// of images that are cut off or broken.

#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/code/cubins.h"
#include "tests/code/form_text.h"
#include "tests/footprint/at_end.h"

extern "C" {
#include "interpose/code/arena.h"
#include "interpose/code/sass/sass.h"
}

namespace
{
struct result {
    std::unique_ptr<struct code_facts> facts{new struct code_facts()};
    std::vector<std::string> steps;
    uint32_t stack_register = 0;
};

struct code_image image_of(const uint8_t *bytes, size_t size)
{
    struct code_image image = {};
    image.bytes = bytes;
    image.size = size;
    return image;
}

struct result read_kernel(const uint8_t *bytes, size_t size, const char *kernel)
{
    struct result found;
    struct code_image image = image_of(bytes, size);
    struct arena arena = {nullptr, 0, (size_t)256 << 20};
    struct form form = {};
    form.arena = &arena;
    form.facts = found.facts.get();
    sass_read(&image, kernel, &form);
    for (uint32_t i = 0; i < form.steps && form.facts->verdict != CODE_UNKNOWN; i++)
        found.steps.push_back(form_text::step(form, form.step[i]));
    found.stack_register = form.stack_register;
    arena_free(&arena);
    return found;
}

struct result read_kernel(const std::string &bytes, const char *kernel)
{
    return read_kernel(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), kernel);
}

const std::map<int, std::string> &images()
{
    static const std::map<int, std::string> all = {
        {80, cubins::bytes(cubins::sm_80)}, {90, cubins::bytes(cubins::sm_90)}, {100, cubins::bytes(cubins::sm_100)}};
    return all;
}

using Lines = std::vector<std::string>;

int count(const Lines &lines, const std::string &part)
{
    int found = 0;
    for (const std::string &line : lines)
        found += line.find(part) != std::string::npos;
    return found;
}

// An instruction by itself: name, registers and predicates that it changes, guard.
std::string decoded(uint32_t arch, uint64_t low, uint64_t high)
{
    static struct opcodes opcodes;
    memset(&opcodes, 0, sizeof opcodes);
    opcodes_begin(&opcodes, arch);
    uint8_t code[INSTRUCTION_BYTES];
    memcpy(code, &low, 8);
    memcpy(code + 8, &high, 8);
    struct instruction one = {};
    if (!decode(&opcodes, code, arch, &one))
        return "not known";
    std::string text = one.opcode->name;
    for (const struct run &run : one.result) {
        if (run.count)
            text += " r" + std::to_string(run.first) + ":" + std::to_string(run.count);
    }
    for (uint16_t predicate : one.sets)
        text += predicate == ALL_PREDICATES ? " sets all" : predicate ? " sets p" + std::to_string(predicate) : "";
    return text + (one.never   ? " never"
                   : one.guard ? (one.guard_negated ? " @!p" : " @p") + std::to_string(one.guard)
                               : "");
}
} // namespace

TEST(Sass, NamesKernelsInTheirOrder)
{
    for (const auto &[arch, bytes] : images()) {
        struct code_image image = image_of(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
        Lines names;
        auto add = [](void *data, const char *name) {
            static_cast<Lines *>(data)->push_back(name);
            return 0;
        };
        EXPECT_EQ(0, sass_kernels(&image, add, &names));
        EXPECT_EQ(13u, names.size()) << arch;
        EXPECT_EQ(1, count(names, "vectors"));
        auto stop = [](void *, const char *) { return 7; };
        EXPECT_EQ(7, sass_kernels(&image, stop, nullptr));
    }
}

TEST(Sass, FactsThatTheImageTells)
{
    for (const auto &[arch, bytes] : images()) {
        struct result kernel = read_kernel(bytes, "add");
        EXPECT_EQ(arch, kernel.facts->arch);
        EXPECT_EQ(0, kernel.facts->verdict);
        EXPECT_EQ(20, kernel.facts->parameter_bytes);
        ASSERT_EQ(3, kernel.facts->parameters);
        EXPECT_EQ(0, kernel.facts->parameter[0].offset);
        EXPECT_EQ(8, kernel.facts->parameter[0].size);
        EXPECT_EQ(8, kernel.facts->parameter[1].offset);
        EXPECT_EQ(16, kernel.facts->parameter[2].offset);
        EXPECT_EQ(4, kernel.facts->parameter[2].size);
        EXPECT_EQ(1u, kernel.stack_register);
    }
}

TEST(Sass, KernelsStepByStep)
{
    const Lines direct = {"move r1:1 = stack+0",
                          "move r9:1 = param[16]",
                          "move r260:2 = other",
                          "move r4:2 = param[8]",
                          "move r2:2 = param[0]",
                          "product r4:2 wide = r9 + 16 + r4",
                          "load r4:4 global r [r4:2]",
                          "product r2:2 wide = r9 + 16 + r2",
                          "store:4 global w [r2:2] = r4",
                          "exit",
                          "branch 10",
                          "exit"};
    EXPECT_EQ(direct, read_kernel(images().at(90), "vectors").steps);
    EXPECT_EQ(direct, read_kernel(images().at(100), "vectors").steps);
    const Lines older = {"move r1:1 = stack+0",
                         "move r3:1 = 16",
                         "move r2:1 = param[16]",
                         "move r260:2 = other",
                         "product r4:2 wide = r2 + r3 + param[8]",
                         "load r4:4 global r [r4:2]",
                         "product r2:2 wide = r2 + r3 + param[0]",
                         "store:4 global w [r2:2] = r4",
                         "exit",
                         "branch 9",
                         "exit"};
    EXPECT_EQ(older, read_kernel(images().at(80), "vectors").steps);
}

// IMAD.WIDE R4, R2, R3, c[0x0][0x168] of `vectors`: what lies at bit 64 has its sign at bit 75, the other one at bit 63.
TEST(Sass, SignsOfOperands)
{
    std::string bytes = images().at(80);
    size_t at = bytes.find(std::string("\x25\x76\x04\x02\x00\x5a\x00\x00", 8));
    ASSERT_NE(std::string::npos, at);
    bytes[at + 7] = '\x80';
    EXPECT_EQ(1, count(read_kernel(bytes, "vectors").steps, "product r4:2 wide = r2 + r3 + ~param[8]"));
    bytes[at + 7] = '\0';
    bytes[at + 9] = (char)(bytes[at + 9] | 0x08);
    EXPECT_EQ(1, count(read_kernel(bytes, "vectors").steps, "product r4:2 wide = r2 + ~r3 + param[8]"));
}

TEST(Sass, GuardsAndPredicates)
{
    for (const auto &[arch, bytes] : images()) {
        Lines steps = read_kernel(bytes, "add").steps;
        EXPECT_EQ(1, count(steps, "none sets p1")) << arch;
        EXPECT_EQ(1, count(steps, "@p1 exit")) << arch;
    }
}

TEST(Sass, PointersThatAreLoaded)
{
    for (const auto &[arch, bytes] : images()) {
        Lines steps = read_kernel(bytes, "follow").steps;
        EXPECT_EQ(1, count(steps, "load r2:2 global r [r2:2]")) << arch;
        EXPECT_EQ(1, count(steps, "store:1 global w [r2:2] = r5")) << arch;
    }
}

TEST(Sass, AtomicOperations)
{
    for (const auto &[arch, bytes] : images()) {
        Lines steps = read_kernel(bytes, "atomics").steps;
        EXPECT_EQ(1, count(steps, "atomic r11:1 global rwa ")) << arch; // compares and swaps
        EXPECT_EQ(1, count(steps, " = r10 + r11")) << arch;
        EXPECT_EQ(1, count(steps, "@p1 atomic r6:2 global rwa ")) << arch;
        EXPECT_EQ(1, count(steps, "@p1 atomic:1 global rwa ")) << arch;
    }
}

TEST(Sass, VariablesByTheirSymbols)
{
    for (const auto &[arch, bytes] : images()) {
        struct result kernel = read_kernel(bytes, "variables");
        EXPECT_EQ(1, count(kernel.steps, "bank numbers[0+r0]")) << arch;
        EXPECT_LE(1, count(kernel.steps, "&counter+0")) << arch;
        ASSERT_EQ(2, kernel.facts->variables);
        for (int i = 0; i < 2; i++) {
            const struct code_variable &variable = kernel.facts->variable[i];
            EXPECT_EQ(variable.constant ? "numbers" : "counter", std::string(variable.name));
            EXPECT_EQ(variable.constant ? 256u : 16u, variable.size);
        }
    }
}

TEST(Sass, ParametersByARegister)
{
    EXPECT_EQ(1, count(read_kernel(images().at(90), "indexed").steps, "= param[0+r"));
    EXPECT_EQ(1, count(read_kernel(images().at(100), "indexed").steps, "= param[0+r"));
    EXPECT_EQ(1, count(read_kernel(images().at(80), "address").steps, "move r260:2 = &param+-352"));
    EXPECT_EQ(1, count(read_kernel(images().at(90), "address").steps, "move r4:2 = &param+0"));
    EXPECT_EQ(1, count(read_kernel(images().at(100), "address").steps, "move r4:2 = &param+0"));
}

TEST(Sass, CallsAndReturns)
{
    for (const auto &[arch, bytes] : images()) {
        Lines steps = read_kernel(bytes, "calls").steps;
        int calls = 0;
        for (const std::string &step : steps) {
            if (step.rfind("call ", 0) != 0)
                continue;
            calls++;
            EXPECT_LT(10, std::stoi(step.substr(5))) << arch;
            EXPECT_GT((int)steps.size(), std::stoi(step.substr(5))) << arch;
        }
        EXPECT_EQ(2, calls) << arch;
        EXPECT_LE(1, count(steps, "return")) << arch;
    }
}

TEST(Sass, FunctionsOfTheDrivers)
{
    for (const auto &[arch, bytes] : images()) {
        struct result kernel = read_kernel(bytes, "system_calls");
        EXPECT_EQ(0, kernel.facts->verdict) << arch << kernel.facts->text;
        EXPECT_EQ(CODE_HEAP | CODE_SYSTEM, kernel.facts->flags) << arch;
        EXPECT_EQ(1, count(kernel.steps, "move r4:2 = heap sets all")) << arch;
        EXPECT_EQ(2, count(kernel.steps, "forget r6:10 sets all")) << arch;
        EXPECT_EQ(arch < 90 ? 2 : 0, count(kernel.steps, "forget r256:128 sets all")) << arch;
        EXPECT_EQ(arch < 90 ? 0 : 2, count(kernel.steps, "forget r256:36 sets all")) << arch;
        EXPECT_EQ(arch < 90 ? 0 : 2, count(kernel.steps, "forget r320:64 sets all")) << arch;
        EXPECT_EQ(0, count(kernel.steps, "forget r1:")) << arch;
        EXPECT_EQ(1, count(kernel.steps, "load r5:1 generic r ") + count(kernel.steps, "load r3:1 generic r ") +
                         count(kernel.steps, "load r7:1 generic r "))
            << arch;
    }
}

TEST(Sass, JumpsByATable)
{
    const std::map<int, Lines> switches = {{80, {"switch 19 21 15 47", "switch 43 35 47"}},
                                           {90, {"switch 15 19 10 46", "switch 41 32 46"}},
                                           {100, {"switch 15 19 10 59", "switch 41 32 59", "switch 56 52 59"}}};
    for (const auto &[arch, bytes] : images()) {
        Lines found;
        for (const std::string &step : read_kernel(bytes, "branches").steps) {
            if (step.rfind("switch ", 0) == 0)
                found.push_back(step);
        }
        EXPECT_EQ(switches.at(arch), found) << arch;
    }
}

TEST(Sass, LocalAndSharedMemory)
{
    for (const auto &[arch, bytes] : images()) {
        Lines kept = read_kernel(bytes, "kept").steps;
        EXPECT_EQ(1, count(kept, "sum r1:1 = r1 + -32")) << arch;
        EXPECT_EQ(1, count(kept, "store:4 local w [r1:1] = r8")) << arch;
        EXPECT_EQ(1, count(kept, "store:4 local w [r1:1 + 16:1] = r4")) << arch;
        EXPECT_EQ(1, count(kept, "load r2:2 local r ")) << arch;
        Lines shared = read_kernel(bytes, "shared").steps;
        EXPECT_EQ(1, count(shared, "store:1 shared w [")) << arch;
        EXPECT_EQ(1, count(shared, ":1 shared r [r4:1")) << arch;
    }
    EXPECT_EQ(1, count(read_kernel(images().at(80), "shared").steps, "store:1 shared w [r7:1*] = r0"));
}

TEST(Sass, TexturesByTheirHandles)
{
    EXPECT_EQ(1, count(read_kernel(images().at(80), "texture").steps, "texture r5:1 r = param[0]:1"));
    for (int arch : {90, 100}) {
        Lines steps = read_kernel(images().at(arch), "texture").steps;
        EXPECT_EQ(1, count(steps, "move r260:1 = param[0]")) << arch;
        EXPECT_EQ(1, count(steps, "texture r5:1 r = r260:1")) << arch;
    }
}

TEST(Sass, SingleInstructions)
{
    EXPECT_EQ("LDC r1:1", decoded(90, 0x00000a00ff017b82, 0x000fe20000000800));
    EXPECT_EQ("LDC r2:2 @!p1", decoded(90, 0x00008c00ff028b82, 0x000e220000000a00));
    EXPECT_EQ("ULDC r260:2", decoded(90, 0x0000820000047ab9, 0x000fe20000000a00));
    EXPECT_EQ("LDCU r260:2", decoded(100, 0x00006b00ff0477ac, 0x000e6e0008000a00));
    EXPECT_EQ("IMAD r2:2", decoded(90, 0x0000000407027825, 0x001fcc00078e0202));
    EXPECT_EQ("IMAD r13:1", decoded(90, 0x000000ffff0d7224, 0x000fe200078e00ff));
    EXPECT_EQ("IADD3 r18:1 sets p1", decoded(90, 0x0000000e11127210, 0x000fe20007f1e0ff));
    EXPECT_EQ("IADD r20:2", decoded(120, 0x000000080e147c35, 0x000fe2000f8e0200));
    EXPECT_EQ("MOV r4:2", decoded(120, 0x0000000004047402, 0x000fe20000000000));
    EXPECT_EQ("MOV r10:1", decoded(120, 0x00000009000a7202, 0x000fe20000000f00));
    EXPECT_EQ("MOV r10:2", decoded(120, 0x00000009000a7202, 0x000fe20000010f00));
    EXPECT_EQ("UMOV r260:2", decoded(120, 0xfb54442d19047482, 0x000fe200083bf921));
    EXPECT_EQ("IMNMX r10:2", decoded(120, 0x0000000a080a7217, 0x000fe20007ffe600));
    EXPECT_EQ("IMNMX r9:1", decoded(75, 0x0000000706097217, 0x000fe20007800200));
    EXPECT_EQ("ISETP sets p1", decoded(100, 0x0000000507007c0c, 0x002fda000bf06270));
    EXPECT_EQ("CS2R r16:2", decoded(90, 0x0000000000107805, 0x000fe2000001ff00));
    EXPECT_EQ("CS2R r16:1", decoded(90, 0x0000000000107805, 0x000fe2000000ff00));
    EXPECT_EQ("LDG r2:1", decoded(90, 0x0000000402027981, 0x000ea2000c1e1900));
    EXPECT_EQ("LDG r12:4", decoded(75, 0x00000000020c7381, 0x000fe200001eed00));
    EXPECT_EQ("LDG r2:2", decoded(75, 0x0000000eff027981, 0x000f62000c1eeb00));
    EXPECT_EQ("STG", decoded(90, 0x0000000704007986, 0x000fe2000c101904));
    EXPECT_EQ("LDSM r248:4", decoded(90, 0x0000000003f8783b, 0x000fe20000000200));
    EXPECT_EQ("HMMA r160:4", decoded(90, 0x0000002ef8a0723c, 0x000fe200000018ff));
    EXPECT_EQ("HMMA r160:2", decoded(90, 0x0000002ef8a0723c, 0x000fe200000008ff));
    EXPECT_EQ("IMMA r4:4", decoded(90, 0x0000001004047237, 0x000fe20000405cff));
    EXPECT_EQ("DMMA r8:4", decoded(90, 0x0000000c0608723f, 0x000fe20000000008));
    EXPECT_EQ("HGMMA r24:128", decoded(90, 0x03e00014a4187df0, 0x000fe20008000818));
    EXPECT_EQ("HGMMA r24:64", decoded(90, 0x03e00014a4187df0, 0x000fe20008000018));
    EXPECT_EQ("F2F r22:2", decoded(90, 0x0000000600167d10, 0x000fe20008201800));
    EXPECT_EQ("F2F r18:1", decoded(90, 0x0000001400127310, 0x000fe20000301000));
    EXPECT_EQ("ATOMG r3:2", decoded(90, 0x00000005020379a8, 0x000fe200081ee5cc));
    EXPECT_EQ("ATOMS", decoded(90, 0x0000000022ff7f8c, 0x0001e2000d80003f)); // counts, of no register
    EXPECT_EQ("ATOMS sets p1", decoded(100, 0x000000040200758d, 0x000fe20001800005));
    EXPECT_EQ("TEX r5:1", decoded(90, 0x4000040304057f60, 0x000fe200099e01ff));
    EXPECT_EQ("R2UR r267:1", decoded(90, 0x00000000050b72ca, 0x000fe200000e0000));
    EXPECT_EQ("LDG r4:4 r8:4", decoded(100, 0xfe0001040404797e, 0x002ee20008121908));
    EXPECT_EQ("not known", decoded(100, 0xbe0001040404797e, 0x002ee20008121908)); // not all of it
    EXPECT_EQ("not known", decoded(90, 0xfe0001040404797e, 0x002ee20008121908));
    EXPECT_EQ("R2P sets all", decoded(90, 0x0000000f70007804, 0x000fe20000000000));
    EXPECT_EQ("UIADD3 r268:1 sets p8", decoded(75, 0x000000010c0c7890, 0x000fe2000ff1e13f));
    EXPECT_EQ("IADD3", decoded(90, 0x0000000e11ff7210, 0x000fe20007ffe0ff)); // to the zero register
    EXPECT_EQ("MOV r4:1 never", decoded(90, 0x000004000004f802, 0x000fe20000000f00));
}

// Types of which nobody knows how wide they are.
TEST(Sass, WhatIsNotKnownIsNotGuessed)
{
    EXPECT_EQ("not known", decoded(90, 0x0000000402027fff, 0x000ea2000c1e1900));
    EXPECT_EQ("not known", decoded(90, 0x0000000402027981, 0x000ea2000c1e1f00)); // LDG of type 7
    EXPECT_EQ("not known", decoded(90, 0x00000000020c7386 & ~0xfffull, 0));
    EXPECT_EQ("not known", decoded(90, 0x0000000a020379a8, 0x000fe200081eebcc)); // ATOMG of type 5
}

TEST(Sass, AnUnknownInstructionIsNamed)
{
    std::string bytes = images().at(90);
    // STG.E desc[UR4][R2.64], R5 of `follow`
    const std::string store("\x86\x79\x00\x02\x05", 5);
    size_t at = bytes.find(store);
    ASSERT_NE(std::string::npos, at);
    struct result before = read_kernel(bytes, "follow");
    EXPECT_EQ(0, before.facts->verdict);
    for (at = bytes.find("\x86\x79"); at != std::string::npos; at = bytes.find("\x86\x79", at + 1))
        bytes[at] = '\x7f', bytes[at + 1] = '\x79';
    struct result after = read_kernel(bytes, "follow");
    EXPECT_EQ(CODE_UNKNOWN, after.facts->verdict);
    EXPECT_EQ(CODE_WHY_INSTRUCTION, after.facts->why);
    EXPECT_EQ("opcode 0x97f", std::string(after.facts->text));
    EXPECT_EQ(0x60u, after.facts->at);
}

// With a description of the memory beside it, from sm_100 on other bits say that the address has two registers.
TEST(Sass, AtomicOperationsOfBlackwell)
{
    std::string bytes = images().at(100);
    const uint64_t low = 0x80000007020379a8, high = 0x001ea2000c1ef104; // ATOMG.E.EXCH PT, R3, desc[UR4][R2.64], R7
    for (size_t at = bytes.find("\x86\x79"); at != std::string::npos; at = bytes.find("\x86\x79", at + 1)) {
        uint64_t store[2];
        memcpy(store, &bytes[at], sizeof store);
        store[0] = (low & ~0xffff000000ull) | (store[0] & 0xffff000000ull); // its address and its data
        store[1] = (high & ~0xffull) | (store[1] & 0xff);                   // its description
        memcpy(&bytes[at], store, sizeof store);
    }
    Lines steps = read_kernel(bytes, "follow").steps;
    EXPECT_EQ(1, count(steps, "atomic r3:1 global rwa [r2:2] = r5")) << testing::PrintToString(steps);
}

TEST(Sass, WhatIsNoImage)
{
    EXPECT_EQ(CODE_WHY_NO_IMAGE, read_kernel("", "add").facts->why);
    EXPECT_EQ(CODE_WHY_NO_IMAGE, read_kernel(std::string(64, '\0'), "add").facts->why);
    EXPECT_EQ(CODE_WHY_NO_KERNEL, read_kernel(images().at(90), "nobody").facts->why);
    std::string other = images().at(90);
    other[49] = 0x3d; // e_flags: sm_61
    EXPECT_EQ(CODE_WHY_ARCHITECTURE, read_kernel(other, "add").facts->why);
    other = images().at(90);
    other[18] = 62; // e_machine
    EXPECT_EQ(CODE_WHY_NO_IMAGE, read_kernel(other, "add").facts->why);
}

namespace
{
const char *const tried[] = {"add", "calls", "system_calls", "branches", "variables", "texture"};

void try_all(const std::string &bytes)
{
    AtEnd image(bytes);
    struct code_image whole = image_of(image.data(), image.size());
    auto each = [](void *, const char *name) { return (int)(strlen(name) & 0); };
    sass_kernels(&whole, each, nullptr);
    for (const char *kernel : tried)
        read_kernel(image.data(), image.size(), kernel);
}
} // namespace

TEST(Sass, CutOffAnywhere)
{
    for (const auto &[arch, bytes] : images()) {
        for (size_t size = 0; size < bytes.size(); size += size < 200 ? 1 : 97)
            try_all(bytes.substr(0, size));
    }
}

TEST(Sass, BrokenAnywhere)
{
    uint32_t random = 12345;
    auto next = [&random] { return random = random * 1664525u + 1013904223u, random >> 8; };
    for (const auto &[arch, bytes] : images()) {
        for (int round = 0; round < 1200; round++) {
            std::string broken = bytes;
            for (uint32_t i = 0; i < 1 + round % 24u; i++) {
                static const char values[] = {'\0', '\1', '\x7f', '\x80', '\xff'};
                uint32_t kind = next() % 3, at = next() % (uint32_t)bytes.size();
                broken[at] = kind == 0   ? values[next() % 5]
                             : kind == 1 ? (char)next()
                                         : (char)(broken[at] ^ (1 << next() % 8));
            }
            try_all(broken);
        }
    }
}

// The tables at the end say where everything lies: each of their bytes, with each of some values.
TEST(Sass, BrokenTables)
{
    for (const auto &[arch, bytes] : images()) {
        uint64_t tables;
        memcpy(&tables, bytes.data() + 40, sizeof tables);
        for (size_t at = tables; at < bytes.size(); at += 3) {
            for (char value : {'\xff', '\x7f', '\x01'}) {
                std::string broken = bytes;
                broken[at] = value;
                AtEnd image(broken);
                read_kernel(image.data(), image.size(), at % 2 ? "branches" : "variables");
            }
        }
    }
}
