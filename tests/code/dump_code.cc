// SPDX-License-Identifier: Apache-2.0
//
// What the front end for machine code makes of an image, for decode_against_nvdisasm.py and for people.
//
//   dump_code decode FILE          every instruction: section, place, name, guard, registers and predicates that it changes
//   dump_code form FILE [KERNEL]   every step of every kernel, by place, with the registers that it reads
//   dump_code facts FILE [KERNEL]  verdict, time

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

extern "C" {
#include "interpose/code/arena.h"
#include "interpose/code/sass/sass.h"
}
#include "tests/code/form_text.h"

namespace
{
std::string run(const struct run &one)
{
    if (!one.count)
        return "";
    std::string file = one.first >= UNIFORM ? "UR" : "R";
    return file + std::to_string(one.first % UNIFORM) + ":" + std::to_string(one.count) + ",";
}

std::string predicate(uint16_t one)
{
    if (one == ALL_PREDICATES)
        return "all,";
    if (!one)
        return "";
    return one >= UNIFORM_PREDICATE ? "UP" + std::to_string(one - UNIFORM_PREDICATE) + ","
                                    : "P" + std::to_string(one - 1) + ",";
}

void dump_section(const struct cubin &cubin, const struct opcodes &opcodes, uint32_t section)
{
    size_t size;
    const uint8_t *bytes = cubin_bytes(&cubin, section, &size);
    for (size_t at = 0; bytes && at + INSTRUCTION_BYTES <= size; at += INSTRUCTION_BYTES) {
        struct instruction one = {};
        int known = decode(&opcodes, bytes + at, cubin.arch, &one);
        std::string guard = one.never ? "!" : one.guard_negated ? "!" + predicate(one.guard) : predicate(one.guard);
        printf("%s\t%zx\t%s\t%s\t%s%s\t%s%s\n", cubin_section_name(&cubin, section), at, known ? one.opcode->name : "?",
               guard.c_str(), run(one.result[0]).c_str(), run(one.result[1]).c_str(), predicate(one.sets[0]).c_str(),
               predicate(one.sets[1]).c_str());
    }
}

int dump_decoded(const struct code_image &image)
{
    struct cubin cubin;
    static struct opcodes opcodes;
    if (!cubin_open(&cubin, image.bytes, image.size))
        return 1;
    opcodes_begin(&opcodes, cubin.arch);
    for (uint32_t i = 1; i < cubin.sections; i++) {
        if (strncmp(cubin_section_name(&cubin, i), ".text", 5) == 0)
            dump_section(cubin, opcodes, i);
    }
    return 0;
}

void read(std::set<int> &registers, const struct operand &operand, int words)
{
    if (operand.words)
        words = operand.words;
    if (operand.kind == OPERAND_REGISTER) {
        for (int i = 0; i < words; i++)
            registers.insert(operand.number + i);
    } else if ((operand.kind == OPERAND_PARAMETER || operand.kind == OPERAND_BANK) && operand.number != NO_REGISTER)
        registers.insert(operand.number);
}

void dump_step(const struct form &form, const struct step &step)
{
    std::set<int> registers;
    for (int i = 0; i < step.sources; i++) {
        int words = (step.kind == STEP_PRODUCT && step.wide && i < 2) ? 1 : step.words;
        read(registers, step.source[i], words);
    }
    for (int i = 0; i < step.parts; i++)
        read(registers, step.part[i], 2);
    std::string list;
    for (int one : registers)
        list += (one >= UNIFORM ? "UR" : "R") + std::to_string(one % UNIFORM) + ",";
    printf("%x\t%u\t%s\t%s\n", step.at, step.function, list.c_str(), form_text::step(form, step).c_str());
}

struct wanted {
    struct code_image image;
    const char *kernel;
    bool form;
};

int dump_kernel(void *data, const char *kernel)
{
    const struct wanted &wanted = *static_cast<struct wanted *>(data);
    static struct code_facts facts;
    if (wanted.kernel && strcmp(wanted.kernel, kernel) != 0)
        return 0;
    memset(&facts, 0, sizeof facts);
    struct arena arena = {nullptr, 0, (size_t)512 << 20};
    struct form form = {};
    form.arena = &arena;
    form.facts = &facts;
    auto begin = std::chrono::steady_clock::now();
    sass_read(&wanted.image, kernel, &form);
    std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - begin;
    const char *verdict = facts.verdict == CODE_UNKNOWN ? "unknown" : "known";
    printf("#kernel\t%s\t%s\t%u\t%x\t%s\t%u\t%u\t%.0f us\n", kernel, verdict, facts.why, facts.at, facts.text,
           facts.instructions, form.steps, took.count());
    for (uint32_t i = 0; wanted.form && i < form.steps; i++)
        dump_step(form, form.step[i]);
    arena_free(&arena);
    return 0;
}
} // namespace

int main(int count, char **words)
{
    if (count < 3)
        return 2;
    std::ifstream file(words[2], std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    struct wanted wanted = {};
    wanted.image.bytes = reinterpret_cast<const uint8_t *>(bytes.data());
    wanted.image.size = bytes.size();
    wanted.kernel = count > 3 ? words[3] : nullptr;
    wanted.form = std::string(words[1]) == "form";
    if (std::string(words[1]) == "decode")
        return dump_decoded(wanted.image);
    return sass_kernels(&wanted.image, dump_kernel, &wanted);
}
