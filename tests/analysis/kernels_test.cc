/* SPDX-License-Identifier: Apache-2.0
 *
 * What `ptds kernels` says of facts, as a line and as JSON, and where it finds images in files.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <string>
#include <vector>

#include "analysis/base/sink.h"
#include "analysis/kernels/file_images.h"
#include "analysis/kernels/kernel_json.h"
#include "analysis/kernels/kernel_line.h"
#include "analysis/kernels/kernel_use.h"
#include "analysis/views/json/value.h"
#include "tests/footprint/at_end.h"

namespace
{

const code_term pointer(uint16_t low)
{
    return {CODE_PARAMETER, low, static_cast<uint16_t>(low + 4)};
}

struct Facts : code_facts {
    Facts() : code_facts()
    {
        arch = 90;
    }
    Facts &with(code_verdict is)
    {
        verdict = static_cast<uint8_t>(is);
        return *this;
    }
    Facts &parameters_of(const std::vector<uint16_t> &sizes)
    {
        for (uint16_t size : sizes) {
            const int aligned = size < 8 ? size : 8;
            parameter_bytes = static_cast<uint16_t>((parameter_bytes + aligned - 1) / aligned * aligned);
            parameter[parameters++] = {parameter_bytes, size};
            parameter_bytes = static_cast<uint16_t>(parameter_bytes + size);
        }
        return *this;
    }
    Facts &with_base(const std::vector<code_term> &terms, int use, int through = 0, int beyond = 0)
    {
        code_base &one = base[bases++];
        one.use = static_cast<uint8_t>(use);
        one.through = static_cast<uint8_t>(through);
        one.beyond = static_cast<uint8_t>(beyond);
        for (const code_term &term : terms)
            one.term[one.count++] = term;
        return *this;
    }
    Facts &with_variable(const char *name, int is_constant)
    {
        code_variable &one = variable[variables++];
        strcpy(one.name, name);
        one.constant = static_cast<uint8_t>(is_constant);
        return *this;
    }
    Facts &because(code_why is, const char *what, uint32_t where)
    {
        with(CODE_UNKNOWN);
        why = static_cast<uint8_t>(is);
        strcpy(text, what);
        at = where;
        return *this;
    }
};

void to_string(text_sink *sink, const char *text, size_t size)
{
    static_cast<std::string *>(sink->data)->append(text, size);
}

std::string line(const char *name, const code_facts &facts)
{
    std::string text;
    text_sink sink = {to_string, &text};
    const kernel_row row = {"file", name, &facts};
    kernel_line(&sink, &row);
    return text;
}

/* One key's value, without spaces. */
std::string json(const code_facts &facts, const char *key)
{
    const kernel_row row = {"a.cubin", "_Z1fPf", &facts};
    json_t *value = kernel_json(&row);
    char *dumped = json_dumps(json_object_get(value, key), JSON_COMPACT | JSON_ENCODE_ANY);
    const std::string text = dumped != nullptr ? dumped : "";
    free(dumped);
    json_decref(value);
    return text;
}

const int both = CODE_READ | CODE_WRITE;

TEST(Line, SumsOfSomeOfManyWords)
{
    Facts facts;
    facts.parameters_of({8, 8, 8}).with_base({pointer(0), pointer(8), {CODE_LOADED, 0, 0}}, CODE_READ | CODE_EITHER);
    EXPECT_EQ(line("k", facts), "direct   k  sm_90  reads a sum of some of (param 0, param 1, a loaded pointer)\n");
    EXPECT_EQ(R"([{"terms":[{"parameters":0},{"parameters":8},{"loaded":true}],"use":"read","atomic":false,"some":true}])",
              json(facts, "bases"));
    facts.base[0].use = CODE_READ;
    EXPECT_EQ(line("k", facts), "direct   k  sm_90  reads param 0 + param 1 + a loaded pointer\n");
    EXPECT_EQ(std::string::npos, json(facts, "bases").find("some"));
}

TEST(Line, ParametersReadAndWritten)
{
    Facts facts;
    facts.parameters_of({8, 8, 4}).with_base({pointer(0)}, CODE_WRITE).with_base({pointer(8)}, CODE_READ);
    EXPECT_EQ(line("_Z3addPfPKfi", facts),
              "direct   add(float*, float const*, int)  sm_90  writes param 0; reads param 1\n");
    facts.with_base({pointer(20)}, both | CODE_ATOMIC).with_base({pointer(24)}, CODE_READ);
    EXPECT_EQ(line("add", facts), "direct   add  sm_90  writes param 0; reads param 1, byte 24 of the parameters; "
                                  "reads and writes byte 20 of the parameters\n");
    EXPECT_EQ(line("none", Facts()), "direct   none  sm_90  touches no memory\n");
}

TEST(Line, WaysThroughMemory)
{
    Facts facts;
    facts.with(CODE_INDIRECT).parameters_of({8, 24});
    facts.with_base({pointer(0)}, CODE_READ, both).with_base({pointer(16)}, CODE_READ, CODE_READ, CODE_WRITE);
    EXPECT_EQ(line("gather", facts), "indirect gather  sm_90  reads param 0, through it reads and writes; "
                                     "reads param 1+8, through it reads, beyond that writes\n");
}

TEST(Line, VariablesAndRangesOfParametersAreNamed)
{
    Facts facts;
    facts.parameters_of({8, 8, 32}).with_variable("table", 1).with_variable("", 0);
    facts.with_base({pointer(0), pointer(8)}, CODE_READ).with_base({pointer(16)}, CODE_READ);
    facts.with_base({{CODE_PARAMETER, 0, 12}}, CODE_READ);
    facts.with_base({{CODE_RANGE, 16, 48}, {CODE_LOADED, 0, 0}}, CODE_READ);
    facts.with_base({{CODE_RANGE, 0, 16}}, CODE_READ);
    facts.with_base({{CODE_VARIABLE, 0, 0}, {CODE_VARIABLE, 1, 0}, {CODE_VARIABLE, 7, 0}}, CODE_WRITE);
    EXPECT_EQ(line("f", facts), "direct   f  sm_90  reads param 0 + param 1, param 2+0, the halves at bytes 0 and 12 of "
                                "the parameters, any word of param "
                                "2 + a loaded pointer, any word of bytes 0 to 16 of the parameters; "
                                "writes constant table + a variable without a name + a variable without a name\n");
}

TEST(Line, HandlesAndFlags)
{
    Facts facts;
    facts.parameters_of({8, 8});
    facts.handles = 1;
    facts.handle[0] = {8, CODE_READ};
    facts.flags = CODE_HEAP | CODE_SYSTEM | CODE_BOUND_TEXTURE | CODE_TENSOR_MAP;
    facts.is_ptx = 1;
    EXPECT_EQ(line("f", facts),
              "direct   f  compute_90  reads by the handle param 1; uses the device's heap; calls functions "
              "of the driver's; uses a texture or surface reference; reads and writes by tensor maps\n");
}

TEST(Line, WhyItIsUnknown)
{
    Facts facts;
    facts.because(CODE_WHY_INSTRUCTION, "opcode 0x1ab", 0x120);
    EXPECT_EQ(line("f", facts), "unknown  f  sm_90  an instruction that is not known: opcode 0x1ab at 0x120\n");
    facts.is_ptx = 1;
    facts.at = 12;
    facts.with_base({pointer(0)}, CODE_READ);
    EXPECT_EQ(line("f", facts), "unknown  f  compute_90  an instruction that is not known: opcode 0x1ab at line 12; "
                                "reads byte 0 of the parameters\n");
    EXPECT_EQ(line("f", Facts().because(CODE_WHY_LAUNCH, "", 0)), "unknown  f  sm_90  launches kernels itself\n");
}

/* Whatever names are. */
TEST(Line, AnyNameStaysOnOneLine)
{
    Facts facts;
    facts.because(CODE_WHY_CALL, "a\nb", 0).with_variable("c\nd", 0).with_base({{CODE_VARIABLE, 0, 0}}, CODE_READ);
    const std::string text = line(("e\n\033" + std::string(5000, 'n')).c_str(), facts);
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    EXPECT_EQ(text.find('\033'), std::string::npos);
    memset(facts.text, 'x', sizeof facts.text); /* not ended */
    EXPECT_NE(line("f", facts).find(std::string(CODE_TEXT, 'x') + "; reads"), std::string::npos);
}

TEST(Json, EachParameterSaysWhatIsReadAndWritten)
{
    Facts facts;
    facts.parameters_of({8, 8, 4, 16, 8, 8}).with_base({pointer(0)}, CODE_READ).with_base({pointer(0)}, CODE_WRITE);
    facts.with_base({pointer(8)}, CODE_READ).with_base({{CODE_RANGE, 40, 48}}, CODE_WRITE);
    facts.with_base({{CODE_PARAMETER, 0, 52}}, CODE_READ);
    facts.handles = 1;
    facts.handle[0] = {36, CODE_READ};
    EXPECT_EQ(json(facts, "parameters"),
              "[{\"offset\":0,\"size\":8,\"use\":\"read-write\"},{\"offset\":8,\"size\":8,\"use\":\"read\"},"
              "{\"offset\":16,\"size\":4,\"use\":\"value\"},{\"offset\":24,\"size\":16,\"use\":\"handle\"},"
              "{\"offset\":40,\"size\":8,\"use\":\"write\"},{\"offset\":48,\"size\":8,\"use\":\"read\"}]");
    facts.handle[0].offset = 20;
    EXPECT_NE(json(facts, "parameters").find("{\"offset\":24,\"size\":16,\"use\":\"value\"}"), std::string::npos);
    facts.base[3].term[0] = {CODE_RANGE, 39, 49};
    EXPECT_NE(json(facts, "parameters").find("{\"offset\":24,\"size\":16,\"use\":\"write\"}"), std::string::npos);
    EXPECT_NE(json(facts, "parameters").find("{\"offset\":48,\"size\":8,\"use\":\"read-write\"}"), std::string::npos);
    facts.because(CODE_WHY_CALL, "", 0);
    EXPECT_NE(json(facts, "parameters").find("{\"offset\":16,\"size\":4,\"use\":\"unknown\"}"), std::string::npos);
}

TEST(Json, BasesAndWaysThroughMemory)
{
    Facts facts;
    facts.with(CODE_INDIRECT).with_variable("table", 1);
    facts.with_base({pointer(0), {CODE_RANGE, 8, 24}}, CODE_READ | CODE_WRITE | CODE_ATOMIC);
    facts.with_base({{CODE_PARAMETER, 8, 16}}, CODE_WRITE);
    facts.with_base({{CODE_VARIABLE, 0, 0}, {CODE_LOADED, 0, 0}}, CODE_READ, both, CODE_READ);
    EXPECT_EQ(json(facts, "bases"),
              "[{\"terms\":[{\"parameters\":0},{\"parameters\":8,\"end\":24}],\"use\":\"read-write\",\"atomic\":true},"
              "{\"terms\":[{\"parameters\":8,\"upper\":16}],\"use\":\"write\",\"atomic\":false},"
              "{\"terms\":[{\"variable\":\"table\"},{\"loaded\":true}],\"use\":\"read\",\"atomic\":false}]");
    EXPECT_EQ(json(facts, "through"),
              "[{\"from\":[{\"variable\":\"table\"},{\"loaded\":true}],\"use\":\"read-write\",\"beyond\":\"read\"}]");
    EXPECT_EQ(json(facts, "verdict"), "\"indirect\"");
}

TEST(Json, EveryFactHasItsKey)
{
    Facts facts;
    facts.with_variable("table", 1).with_variable("counter", 0).with_base({{CODE_VARIABLE, 1, 0}}, CODE_WRITE);
    facts.handles = 1;
    facts.handle[0] = {8, CODE_WRITE};
    facts.flags = CODE_SYSTEM | CODE_TENSOR_MAP;
    EXPECT_EQ(json(facts, "file"), "\"a.cubin\"");
    EXPECT_EQ(json(facts, "name"), "\"_Z1fPf\"");
    EXPECT_EQ(json(facts, "arch"), "\"sm_90\"");
    EXPECT_EQ(json(facts, "variables"), "[{\"name\":\"table\",\"constant\":true,\"use\":null},"
                                        "{\"name\":\"counter\",\"constant\":false,\"use\":\"write\"}]");
    EXPECT_EQ(json(facts, "handles"), "[{\"offset\":8,\"use\":\"write\"}]");
    EXPECT_EQ(json(facts, "flags"), "[\"system\",\"tensor-map\"]");
    EXPECT_EQ(json(facts, "why"), "null");
    facts.because(CODE_WHY_INSTRUCTION, "opcode 0x1ab", 288);
    EXPECT_EQ(json(facts, "why"), "{\"reason\":\"an instruction that is not known\",\"text\":\"opcode 0x1ab\",\"at\":288}");
    facts.because(CODE_WHY_CALL, "", 3).is_ptx = 1;
    EXPECT_EQ(json(facts, "why"),
              "{\"reason\":\"a call by address, or of a function that is not in the image\",\"text\":null,\"line\":3}");
}

/* ---- files ---- */

std::string container(const std::string &entries)
{
    const uint64_t start = UINT64_C(0x00100001ba55ed50), size = entries.size();
    return std::string(reinterpret_cast<const char *>(&start), 8) + std::string(reinterpret_cast<const char *>(&size), 8) +
           entries;
}

template <class Thing> std::string bytes_of(const Thing &thing)
{
    return std::string(reinterpret_cast<const char *>(&thing), sizeof thing);
}

Elf64_Ehdr header_of(uint16_t machine, uint64_t sections_at, uint16_t count)
{
    Elf64_Ehdr header = {};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = machine;
    header.e_shoff = sections_at;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = count;
    return header;
}

/* A host's object file: the table's names first, then one section of that name. */
std::string object_file(const std::string &name, const std::string &contents)
{
    const std::string names = std::string(1, '\0') + name + '\0';
    Elf64_Shdr sections[2] = {};
    sections[0].sh_type = SHT_STRTAB;
    sections[0].sh_offset = sizeof(Elf64_Ehdr) + sizeof sections;
    sections[0].sh_size = names.size();
    sections[1].sh_name = 1;
    sections[1].sh_type = SHT_PROGBITS;
    sections[1].sh_offset = sections[0].sh_offset + names.size();
    sections[1].sh_size = contents.size();
    return bytes_of(header_of(62, sizeof(Elf64_Ehdr), 2)) + bytes_of(sections) + names + contents;
}

/* "16 24 " sizes of what was found, and how many that is said to be. */
std::string found(const std::string &bytes)
{
    std::string text;
    const auto each = [](void *data, const uint8_t *image, size_t size) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(image) % 8, 0u);
        *static_cast<std::string *>(data) += std::to_string(size) + " ";
    };
    const AtEnd exact(bytes);
    const int count = file_images(exact.data(), exact.size(), each, &text);
    return text + "of " + std::to_string(count);
}

TEST(Files, FilesThatAreImages)
{
    EXPECT_EQ(found(".version 8.0\n.target sm_75\n"), "27 of 1");
    EXPECT_EQ(found(bytes_of(header_of(190, 64, 0))), "64 of 1");
    EXPECT_EQ(found(container("abc")), "19 of 1");
    EXPECT_EQ(found("no image"), "of -1");
    EXPECT_EQ(found(""), "of -1");
    EXPECT_EQ(found(std::string(100, '\0') + ".version"), "of -1");
}

TEST(Files, ContainersInSections)
{
    const std::string two = container("") + std::string(8, '\0') + container("12345678");
    EXPECT_EQ(found(object_file(".nv_fatbin", two)), "16 24 of 2");
    EXPECT_EQ(found(object_file("__nv_relfatbin", two)), "16 24 of 2");
    EXPECT_EQ(found(object_file(".text", two)), "of 0") << "without device code";
    EXPECT_EQ(found(object_file(".nv_fatbin2", two)), "of 0");
    EXPECT_EQ(found(object_file(".nv_fatbin", "")), "of 0");
}

TEST(Files, ContainersAreFoundAnywhereInAFile)
{
    EXPECT_EQ(found("!<arch>\n.." + container("") + "..." + container("1")), "16 17 of 2");
    std::string stripped = object_file(".nv_fatbin", container(""));
    memset(&stripped[offsetof(Elf64_Ehdr, e_shoff)], 0, 8);
    EXPECT_EQ(found(stripped), "16 of 1");
    EXPECT_EQ(found("......" + container("1").substr(0, 16)), "of -1") << "cut";
}

TEST(Files, DamagedAnywhere)
{
    for (const std::string &whole : {object_file(".nv_fatbin", container("12345678")), object_file(".nv_fatbin", "")}) {
        for (size_t size = 0; size < whole.size(); size++)
            found(whole.substr(0, size));
        for (size_t place = 0; place < whole.size() * 8; place++) {
            std::string bytes = whole;
            bytes[place / 8] ^= static_cast<char>(1 << place % 8);
            found(bytes);
        }
    }
}

} // namespace
