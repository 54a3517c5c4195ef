/* SPDX-License-Identifier: Apache-2.0
 *
 * Which images some bytes have, and which of them the driver takes for a device. They lie where nothing can be read behind
 * them, whole and cut at any place.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <elf.h>
#include <string>
#include <vector>

extern "C" {
#include "interpose/code/code.h"
}

#include "tests/footprint/at_end.h"
#include "tests/footprint/images.h"

namespace
{

std::string text_for(const std::string &target)
{
    return ".version 8.0\n.target " + target + "\n.address_size 64\n";
}

/* A header without sections. */
std::string object_for(uint8_t osabi, uint32_t flags)
{
    Elf64_Ehdr header = {};
    memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_OSABI] = osabi;
    header.e_machine = 190;
    header.e_flags = flags;
    header.e_shoff = sizeof header;
    return std::string(reinterpret_cast<const char *>(&header), sizeof header);
}

std::string code_for(uint32_t arch)
{
    return object_for(0x41, 0x6000004 | arch << 8);
}

/* ---- containers ---- */

enum { PTX = 1, CODE = 2, PLAIN = 0x11, LZ4 = 0x2000, SPECIFIC = 0x100000, FAMILY = 0x200000 };
struct Entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint32_t packed_size, unknown[2], device, name, name_size;
    uint64_t flags, unused, unpacked_size;
};

std::string entry(uint16_t kind, uint32_t device, const std::string &bytes, uint64_t flags = PLAIN, uint64_t unpacked = 0)
{
    Entry header = {};
    const std::string padded = bytes + std::string((8 - bytes.size() % 8) % 8, '\0');
    header.kind = kind, header.version = 0x101, header.header_size = sizeof header, header.size = padded.size();
    header.packed_size = static_cast<uint32_t>(bytes.size());
    header.device = device, header.flags = flags, header.unpacked_size = unpacked;
    return std::string(reinterpret_cast<const char *>(&header), sizeof header) + padded;
}

std::string container(const std::vector<std::string> &entries)
{
    std::string all;
    for (const std::string &one : entries)
        all += one;
    const uint64_t start = UINT64_C(0x00100001ba55ed50), size = all.size();
    return std::string(reinterpret_cast<const char *>(&start), 8) + std::string(reinterpret_cast<const char *>(&size), 8) +
           all;
}

/* ---- what is found, as text: "code 90 64" with its size ---- */

struct Seen {
    std::string asked, given;
    int refuse_ptx, end_at; /* returns 7 at that one */
    int count;
};

std::string word(const code_image *image)
{
    return std::string(image->is_ptx ? "ptx " : "code ") + std::to_string(image->arch);
}

int wanted(void *data, const code_image *image)
{
    Seen *seen = static_cast<Seen *>(data);
    EXPECT_TRUE(image->bytes == nullptr && image->size == 0);
    seen->asked += word(image) + " ";
    return !(seen->refuse_ptx && image->is_ptx);
}

int each(void *data, const code_image *image)
{
    Seen *seen = static_cast<Seen *>(data);
    uint32_t sum = 0;
    for (size_t i = 0; i < image->size; i++)
        sum += image->bytes[i];
    seen->given += word(image) + (sum ? " " : " empty ") + std::to_string(image->size) + "; ";
    return ++seen->count == seen->end_at ? 7 : 0;
}

std::string images(const std::string &bytes, int result = 0)
{
    const AtEnd at(bytes, 8);
    Seen seen = {};
    EXPECT_EQ(images_plain(at.data(), at.size(), nullptr, each, &seen), result);
    return seen.given;
}

std::string chosen(const std::string &bytes, const std::vector<uint32_t> &devices, int jit = 0)
{
    const AtEnd at(bytes, 8);
    Seen seen = {};
    EXPECT_EQ(code_choose(at.data(), at.size(), devices.data(), static_cast<unsigned>(devices.size()), jit, each, &seen),
              0);
    return seen.given;
}

TEST(Images, DeviceOfMachineCode)
{
    EXPECT_EQ(images(object_for(0x41, 0x6004b04)), "code 75 64; "); /* as nvcc 13.0 writes them */
    EXPECT_EQ(images(object_for(0x41, 0x6005a04)), "code 90 64; ");
    EXPECT_EQ(images(object_for(0x41, 0x6007902)), "code 121 64; ");
    EXPECT_EQ(images(object_for(0x33, 0x4b054b)), "code 75 64; "); /* as nvcc 12 did */
    EXPECT_EQ(images(object_for(0x33, 0x5a055a)), "code 90 64; ");
}

TEST(Images, OtherObjectsAreNone)
{
    std::string object = code_for(90);
    object[18] = 62; /* x86-64 */
    EXPECT_EQ(images(object, -1), "");
    object = code_for(90);
    object[4] = ELFCLASS32;
    EXPECT_EQ(images(object, -1), "");
    EXPECT_EQ(images("", -1), "");
    EXPECT_EQ(images("abc", -1), "");
    EXPECT_EQ(images(std::string(100, 'x'), -1), "");
    EXPECT_EQ(images_plain(nullptr, SIZE_MAX, nullptr, each, nullptr), -1);
}

TEST(Images, TargetOfPtx)
{
    EXPECT_EQ(images(text_for("sm_75")), "ptx 75 44; ");
    EXPECT_EQ(images(text_for("sm_90a")), "ptx 90 45; ");
    EXPECT_EQ(images(text_for("sm_100f, debug")), "ptx 100 53; ");
    EXPECT_EQ(images("// .target sm_1\n/* .target sm_2 */" + text_for("\t sm_120")), "ptx 120 81; ");
    EXPECT_EQ(images(".version 8.0 .target compute_90"), "ptx 0 31; ");
    EXPECT_EQ(images(".version 8.0 .target"), "ptx 0 20; ");
    EXPECT_EQ(images(".version 8.0 .target sm_90"), "ptx 90 26; ");
    EXPECT_EQ(images(".version 8.0 /* .target sm_90"), "ptx 0 29; ");
    EXPECT_EQ(images(".version 8.0 // .target sm_90"), "ptx 0 29; ");
    EXPECT_EQ(images(text_for("sm_75") + std::string(5, '\0') + "more"), "ptx 75 44; ");
}

TEST(Images, BySizesOfTheirOwn)
{
    const std::string both = container({entry(PTX, 75, text_for("sm_75")), entry(CODE, 80, code_for(80))});
    for (const std::string &bytes : {both, code_for(80), text_for("sm_75") + '\0'}) {
        const AtEnd at(bytes, 8);
        Seen seen = {}, sized = {};
        struct {
            int magic, version;
            const void *image;
        } wrapper = {0x466243b1, 1, at.data()};
        EXPECT_EQ(images_plain(at.data(), SIZE_MAX, nullptr, each, &seen), 0);
        EXPECT_EQ(images_plain(&wrapper, SIZE_MAX, nullptr, each, &sized), 0);
        EXPECT_EQ(seen.given, images(bytes));
        EXPECT_EQ(sized.given, images(bytes));
        EXPECT_EQ(images_plain(&wrapper, sizeof wrapper, nullptr, each, &seen), -1) << "a pointer in a file";
    }
    const AtEnd small(std::string("a", 2));
    EXPECT_EQ(images_plain(small.data(), SIZE_MAX, nullptr, each, nullptr), -1);
}

TEST(Images, OfAContainer)
{
    const std::string both =
        container({entry(PTX, 75, text_for("sm_75")), entry(8, 80, "other"), entry(CODE, 80, code_for(80))});
    EXPECT_EQ(images(both), "ptx 75 44; code 80 64; ");
    EXPECT_EQ(images(container({}), -1), "");
    EXPECT_EQ(images(container({entry(CODE, 80, "no image")}), -1), "");
    EXPECT_EQ(images(container({entry(CODE, 80, "no image"), entry(CODE, 90, code_for(90))})), "code 90 64; ");
}

TEST(Images, AskedBeforeTheyAreUnpacked)
{
    const std::string both = container({entry(PTX, 75, "damaged", LZ4, 100), entry(CODE, 80, code_for(80))});
    const AtEnd at(both, 8);
    Seen seen = {};
    seen.refuse_ptx = 1;
    EXPECT_EQ(images_plain(at.data(), at.size(), wanted, each, &seen), 0);
    EXPECT_EQ(seen.asked, "ptx 75 code 80 ");
    EXPECT_EQ(seen.given, "code 80 64; ");
    const AtEnd bare(text_for("sm_75"));
    seen.given.clear();
    EXPECT_EQ(images_plain(bare.data(), bare.size(), wanted, each, &seen), 0);
    EXPECT_EQ(seen.given, "");
}

TEST(Images, EndsWhereItIsTold)
{
    const std::string three = container({entry(CODE, 80, code_for(80)), entry(CODE, 86, code_for(86)), entry(PTX, 75, "")});
    const AtEnd at(three, 8);
    Seen seen = {};
    seen.end_at = 1;
    EXPECT_EQ(images_plain(at.data(), at.size(), nullptr, each, &seen), 7);
    EXPECT_EQ(seen.given, "code 80 64; ");
}

/* As nvcc packs them. */
TEST(Images, Packed)
{
    EXPECT_EQ(images(bytes_of(lz4_ptx)), "ptx 75 223; ");
    EXPECT_EQ(images(bytes_of(zstd_ptx)), "ptx 75 223; ");
    EXPECT_EQ(images(bytes_of(zstd_cubin)), "code 75 3360; ");
    std::string damaged = bytes_of(zstd_cubin);
    damaged[16 + 64 + 30] ^= 0x55;
    EXPECT_EQ(images(damaged, -1), "");
    std::string longer = bytes_of(lz4_ptx); /* says that more is packed than there is */
    longer[16 + 16] = '\x7f';
    longer[16 + 17] = '\x7f';
    EXPECT_EQ(images(longer, -1), "");
}

/* A cut container is damaged, for its header says how much there is; what it says is never believed beyond the size. */
TEST(Images, CutAndDamagedAnywhere)
{
    const std::string whole = container({entry(PTX, 75, text_for("sm_75")), entry(CODE, 80, code_for(80))});
    for (size_t size = 0; size < whole.size(); size++)
        images(whole.substr(0, size), -1);
    for (size_t place = 0; place < whole.size() * 8; place++) {
        std::string bytes = whole;
        bytes[place / 8] ^= static_cast<char>(1 << place % 8);
        const AtEnd at(bytes, 8);
        Seen seen = {};
        const uint32_t device = 80;
        images_plain(at.data(), at.size(), wanted, each, &seen);
        code_choose(at.data(), at.size(), &device, 1, 0, each, &seen);
        ASSERT_LE(seen.count, 6) << place;
    }
    std::string wide = whole; /* the first entry's size with the header's wraps around */
    memset(&wide[16 + 8], 0xff, 8);
    images(wide, -1);
    std::string small = whole; /* an entry in itself */
    memset(&small[16 + 4], 0, 4);
    images(small, -1);
    std::string none = whole; /* a header of no size */
    memset(&none[6], 0, 2);
    EXPECT_EQ(images_plain(none.data(), none.size(), nullptr, each, nullptr), -1);
}

TEST(Choose, TheBestMachineCode)
{
    const std::string some = container({entry(CODE, 75, code_for(75)), entry(CODE, 86, code_for(86)),
                                        entry(CODE, 80, code_for(80)), entry(PTX, 90, text_for("sm_90"))});
    EXPECT_EQ(chosen(some, {75}), "code 75 64; ");
    EXPECT_EQ(chosen(some, {80}), "code 80 64; ");
    EXPECT_EQ(chosen(some, {86}), "code 86 64; ");
    EXPECT_EQ(chosen(some, {89}), "code 86 64; ");
    EXPECT_EQ(chosen(some, {90}), "ptx 90 44; ");
    EXPECT_EQ(chosen(some, {120}), "ptx 90 44; ");
    EXPECT_EQ(chosen(some, {70}), "") << "nothing runs there";
    EXPECT_EQ(chosen(some, {}), "");
}

TEST(Choose, CodeForTegraOnTegraAlone)
{
    const std::string some = container({entry(CODE, 86, code_for(86)), entry(CODE, 87, code_for(87))}),
                      text = container({entry(CODE, 72, code_for(72)), entry(PTX, 72, text_for("sm_72"))});
    EXPECT_EQ(chosen(some, {87}), "code 87 64; ");
    EXPECT_EQ(chosen(some, {89}), "code 86 64; ");
    EXPECT_EQ(chosen(text, {75}), "ptx 72 44; ");
}

TEST(Choose, TheBestPtx)
{
    const std::string some = container(
        {entry(PTX, 60, text_for("sm_60")), entry(PTX, 80, text_for("sm_80")), entry(PTX, 90, text_for("sm_90"))});
    EXPECT_EQ(chosen(some, {75}), "ptx 60 44; ");
    EXPECT_EQ(chosen(some, {86}), "ptx 80 44; ");
    EXPECT_EQ(chosen(some, {100}), "ptx 90 44; ");
    EXPECT_EQ(chosen(some, {50}), "");
}

TEST(Choose, PtxWhereItIsForced)
{
    const std::string some = container({entry(CODE, 90, code_for(90)), entry(PTX, 80, text_for("sm_80"))});
    EXPECT_EQ(chosen(some, {90}), "code 90 64; ");
    EXPECT_EQ(chosen(some, {90}, 1), "ptx 80 44; ");
    EXPECT_EQ(chosen(container({entry(CODE, 90, code_for(90))}), {90}, 1), "code 90 64; ") << "there is no other";
}

TEST(Choose, ForADeviceOrAFamilyAlone)
{
    const std::string some =
        container({entry(CODE, 100, code_for(100)), entry(CODE, 103, code_for(103), PLAIN | SPECIFIC),
                   entry(PTX, 90, text_for("sm_90")), entry(PTX, 100, text_for("sm_100f"), PLAIN | FAMILY),
                   entry(PTX, 103, text_for("sm_103a"), PLAIN | SPECIFIC)});
    EXPECT_EQ(chosen(some, {103}), "code 103 64; ");
    EXPECT_EQ(chosen(some, {104}), "code 100 64; ");
    EXPECT_EQ(chosen(some, {100}, 1), "ptx 100 46; ");
    EXPECT_EQ(chosen(some, {103}, 1), "ptx 103 46; ");
    EXPECT_EQ(chosen(some, {104}, 1), "ptx 100 46; ");
    EXPECT_EQ(chosen(some, {120}), "ptx 90 44; ") << "another family";
    const std::string two = container({entry(CODE, 90, code_for(90)), entry(CODE, 90, code_for(90), PLAIN | SPECIFIC)});
    EXPECT_EQ(chosen(two, {90}), "code 90 64; code 90 64; ") << "which of them, nobody knows";
}

TEST(Choose, ForSeveralDevicesOnceEach)
{
    const std::string some =
        container({entry(CODE, 80, code_for(80)), entry(CODE, 90, code_for(90)), entry(PTX, 90, text_for("sm_90"))});
    EXPECT_EQ(chosen(some, {80, 90}), "code 80 64; code 90 64; ");
    EXPECT_EQ(chosen(some, {86, 80}), "code 80 64; ");
    EXPECT_EQ(chosen(some, {90, 100, 120}), "code 90 64; ptx 90 44; ");
    const std::vector<uint32_t> many(CODE_DEVICES + 1, 80);
    EXPECT_EQ(code_choose(some.data(), some.size(), many.data(), CODE_DEVICES + 1, 0, each, nullptr), -1);
}

TEST(Choose, ABareImageIsTaken)
{
    EXPECT_EQ(chosen(code_for(90), {80}), "code 90 64; ");
    EXPECT_EQ(chosen(text_for("sm_75"), {80}), "ptx 75 44; ");
    const uint32_t device = 80;
    EXPECT_EQ(code_choose("nothing", 7, &device, 1, 0, each, nullptr), -1);
}

TEST(Choose, UnpacksWhatIsChosenAlone)
{
    const std::string some = container({entry(CODE, 80, "damaged", LZ4, 64), entry(CODE, 90, code_for(90))});
    EXPECT_EQ(chosen(some, {90}), "code 90 64; ");
    EXPECT_EQ(chosen(of_two_devices(80, 90), {80}), "code 75 3048; "); /* the code says what it is */
    EXPECT_EQ(chosen(of_two_devices(80, 90), {90}), "code 75 3360; ");
}

TEST(Words, OneForEach)
{
    EXPECT_STREQ(code_words_verdict(CODE_DIRECT), "direct");
    EXPECT_STREQ(code_words_verdict(CODE_INDIRECT), "indirect");
    EXPECT_STREQ(code_words_verdict(CODE_UNKNOWN), "unknown");
    EXPECT_STREQ(code_words_why(CODE_WHY_NONE), "");
    EXPECT_STREQ(code_words_why(CODE_WHY_INSTRUCTION), "an instruction that is not known");
    for (int why = CODE_WHY_NO_IMAGE; why <= CODE_WHY_MEMORY; why++) {
        for (int other = CODE_WHY_NONE; other < why; other++)
            EXPECT_STRNE(code_words_why(static_cast<code_why>(why)), code_words_why(static_cast<code_why>(other)));
    }
}

} // namespace
