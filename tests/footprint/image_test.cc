/* SPDX-License-Identifier: Apache-2.0
 *
 * Which variables images have: PTX by hand, cubins put together here, containers that nvcc 13.0 made.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <string>
#include <vector>

extern "C" {
#include "interpose/footprint/image.h"
}

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
    EXPECT_EQ(of_text(".global .align 1 .b8 _ZN34_INTERNAL_aa_4_k_cu_124cuda3std3__48in_placeE[1];\n"), 0u);
    EXPECT_EQ(of_text(".global .align 1 .b8 $str[2] = {120};\n.global .u32 mine;\n"), unsigned{IMAGE_GLOBALS});
    EXPECT_EQ(of_text(".global .align 1 .b8 _ZN34_INTERNAL_aa_4_k_cu_124cute7productE[1];\n"), 0u);
    EXPECT_EQ(of_text(".global .align 4 .b8 mrg32k3aM1Seq[2304] = {130, 232};\n"), 0u);
    EXPECT_EQ(of_text(".global .align 4 .b8 mrg32k3aM1Sequel[4] = {130, 232};\n"), unsigned{IMAGE_GLOBALS});
}

/* __func__ and __PRETTY_FUNCTION__. */
TEST(Ptx, TextsWithoutAName)
{
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
          ".global .u32 counter;\n.global .u64 kept;\n", ".visible .global .align 8 .b8 node[16] = {1, 2};\n"})
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

/* `__device__ int counter; __global__ void add() { counter++; }` of nvcc 13.0 in several forms. */

/* nvcc -fatbin -gencode arch=compute_75,code=compute_75 --compress-mode=speed: PTX by LZ4. */
const char *const lz4_ptx =
    "50ed55ba0100100010010000000000000100010150000000c000000000000000bf00000040000000000009004b0000000000000000000000"
    "11200000000000000000000000000000e00000000000000048000000000000000000000000000000130a0100f03d2e76657273696f6e2039"
    "2e300a2e74617267657420736d5f37350a2e616464726573735f73697a652036340a0a0a2e676c6f62616c202e616c69676e2034202e7533"
    "3220636f756e7465723b4e00f320697369626c65202e656e747279205f5a336164647628290a7b0a2e726567202e6233322025723c333e3b"
    "0a0a0a6c645100014700632572312c205b4d00815d3b0a6164642e732f0022322c1d0058313b0a73743300052e00002100d0323b0a726574"
    "3b0a0a7d0a0a0000";

/* The same without a mode, the default: PTX by Zstandard. */
const char *const zstd_ptx =
    "50ed55ba0100100000010000000000000100010150000000b000000000000000ac00000040000000000009004b0000000000000000000000"
    "11800000000000000000000000000000e0000000000000004800000000000000000000000000000028b52ffd20e01d0500a28920216067ab"
    "033055ff0966abb46484143105f861a0981031f04b5149bf42d030c40463853fe15771f90ac5be4a10d4cad8ba1a104824e183bdff0a2035"
    "f8489418cdb6ac47f8c1f030b652c092061ce16aee635c3bc51ba1d310244a8ea692b0b9b734df629ad71445ee81eba57b99b1a54f2c9682"
    "ceb88d57d4239491b071cdfbe8030b00440588aa0056710dd4e09dcb21cc52b08153e8a5086f5e544be33a2100000000";

/* -gencode arch=compute_75,code=sm_75 --compress-mode=size: a cubin by Zstandard. */
const char *const zstd_cubin =
    "50ed55ba010010008003000000000000020001014000000040030000000000003e03000000000000080001004b0000000000000000000000"
    "11800000000000000000000000000000200d00000000000028b52ffd60200ca5190056e0773d00977307aa868572b55f168771602e49ff7a"
    "ba0f7bf37409e6f3727b77fb363eb22a6bfb73415a72c751f68f83add00ec5dc61877d40dd69b6856c9902630068006800adaee5ae8baa72"
    "5ea63ceeb69c2e3d961455535756f695f777655fe52cacea82a62ed7bd3028ca672b27d97d6927617a39b665ddbd74126625d3ceaee4fbd0"
    "55f79ebc1ff92cbcbbfdd5bd64eccdd76f7b93f522fa5fe6e71f7af0458d9c418f918e993cdd11afcab27d7375d7f2d8dce6686fe35feeeb"
    "ede368ad0c7eebb21b5b03840324a5e4bf8594f3ca88e3296da0355c8a0e304d2cbe030cd3bc461986181e6104b78019403ed0490344023c"
    "3aebc06e4614d6c5eac38777d3bef6d8dccaee7a8e9369fbeb6c67dd4bb10ff6033fff5a788aff4793758cd08f4de3e718f05d1c2bf069ab"
    "6f88bd5354557ff25ae10c3f4e08752dbfa6117c4cbb5e9cd0352f123a89bba46d9ec4b6a89dbc77eb722e9778d95952d4ca8a923623dd74"
    "c23d731b5577bddbdb6c64ca8e9091338a9dbe01f959e0c90a288b4b2b96166f6017dc825928191774eb1181c0aca37da204c21d13404984"
    "c12e08f1719fc7719b262e64500059eda97ca17fb40ad8ca6de8948f1044701b81052131ae8c6186f97f083f167d6823f5f123d4873f921f"
    "99fe057bd28ff32648df8a0380daa881a826222349924a8635f04a84284907b2391a850a8c724409a881020b642c4a4979a5d2015cb5b066"
    "8160846300d23cdfce855550f1b0c271ebc3b60356770c51a182179a6d2fd70d0a60a604c733c371791e9a0b1e58069339c183dba8fc54b1"
    "5b9778eeef297a9db38baedcaeea25569517372f20c38a33a6f45e730fc8debd56704c6bd62e16db815897268859b973b976879c1ee06ffc"
    "e5cd98f8d403e646fcfee7a6afed0e3d25baa257f996fb3cfb0c07147390a2e9f57c36c7ade4fbb9dc9316e2ab591b33c3a0cf0d9cda1d6c"
    "4ec9761ac79d54f3f389949ea366ddbf1c5ffbb3c38f30811d1af5105c91efc400ee1ac659dea357c315eaf38bca7bf7ec57eb7efe6eb93d"
    "077f57bbacaebd023fc469f0fb212f048322423d1b3d745bbf3e1445c1f8cb846a32ab60534f90718f182251568eed31110154af33c59434"
    "bdba236ba7164f90fc7d29823c340000";

/* The same of `__constant__ int table[4]; __global__ void get(int *p) { *p = table[*p]; }`. */
const char *const constant_cubin =
    "50ed55ba010010006803000000000000020001014000000028030000000000002103000000000000080001004b0000000000000000000000"
    "11800000000000000000000000000000e80b00000000000028b52ffd60e80abd1800d620793cf018e7f43e6e782a13c9631db330cd61f0bc"
    "ccba98a9850eb9ce69b1ba5c3fe88a59f20a9b43735dbe13af71908cd8632b5c9d60977fa37c5bd95ba666006c006800ebafab5d65d773e5"
    "2c0c8a726ef238fb52c2f45c4c1d6ab214b59ef2dea66a4e67b2fc6c7728dd84a9b19463f7997d94e9e5d4977417d347997434bb9a8eefd3"
    "a5675bf27ee3bbf0cef6f66c47d9931f3eee49d68fe496fb221fbfd183af37300641483e6c025b87ee7a1c8fc38d2a3b8262ac556cb3e5e6"
    "8e685155ed9ba3bb95a7e636d7f53abee5bebe7ecbad85c15f59b5636f887888a898fcb7967a601aef5b950d72b6e907f7e6d5ffe0ba3730"
    "594dc3ebc666030f2e4c03b0ca4a014433ec03db89a5b032c40f214c3455773dc70349acd747fb58d0c312a03ebfffbb71adfce799a29739"
    "c9f00cf82ed0e326be83405b6575d5f21921ff97e1bf07e12f4815e4d7b4f0356e61bd76650cfcf936f002d9f57a22e3fc48f8a4b7edb679"
    "12fb02a3e4b5fbccb15ce2294a5b0586cdc276ab8dac39c196b918d4a20f6ba17f9122cb75b9ad67a5e09387c3e77d7827872709c0a4672b"
    "2f02fd5bc43d9e8a9154240f1b985611710fe18c1c9467600b02af21104632d058ff800415d8e58519c810cb8e3ecc91faff85bc2cea43f7"
    "7f25afd0f4b019547e9d8f351cd1e0fc4980c7a8719c684426489a5432ac01f04a86366d924990680a107288204d4e509190a21494572a1d"
    "9c477323e1e53e02866b21af16130af2da576ce9b078721a9a98e59167bd99d60aec24645b5f82032cb0b9e94afaf6469dc4d3001bb1fc0a"
    "f04dd7aa8427dfe4ee3f472abf2f839eac28f7d3a16c62350fa2d84c90499ea06ff1264a4a2bb6e9f9f194c02932cd44b9c738c464bc5483"
    "58f815630d4c6e487d58efdb8beb4cd822bdc2a54973507c8171221c1a85aea9023f4c2afdf1cd73f48eb3b4d70e946dd3e28746cc08a1d6"
    "97c59e6de7f9727fb067e7beaf814a87475c68a85229dcce743fc326b9f3dbcc6fc7ef15c4379fe6c75bd983291694db074c4a565318d61f"
    "9d11b8d2c6da138586f5d2e953108648289237978a6ddd59a83ad331956c3509b4414cbdbb8fe2af0f00000000000000";

std::string bytes_of(const char *text)
{
    std::string bytes;
    for (; *text; text += 2)
        bytes += static_cast<char>(std::stoi(std::string(text, 2), nullptr, 16));
    return bytes;
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

/* A container of machine code with a constant for one device and with a variable for another one. */
std::string of_two_devices(uint8_t constant, uint8_t variable)
{
    std::string first = bytes_of(constant_cubin), second = bytes_of(zstd_cubin).substr(16);
    first[16 + 28] = static_cast<char>(constant);
    second[28] = static_cast<char>(variable);
    std::string both = first + second;
    uint64_t size = both.size() - 16;
    memcpy(&both[8], &size, sizeof size);
    return both;
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
