/* SPDX-License-Identifier: Apache-2.0
 *
 * Which words of an object refer to others, and how they are set.
 */
#include "tests/base/made_object.h"

#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>

extern "C" {
#include "interpose/base/slots.h"
}

namespace
{

std::vector<std::string> slots_of(Object *made)
{
    struct Looks {
        Object *made;
        std::vector<std::string> found;
    } looks = {made, {}};
    slots_each(
        &made->object,
        [](const struct elf_object *object, const struct slot *slot, void *data) {
            Looks *looking = static_cast<Looks *>(data);
            EXPECT_EQ(&looking->made->object, object);
            looking->found.push_back(std::to_string(slot->at - looking->made->words) + " " + slot->name + "@" +
                                     slot->version);
        },
        &looks);
    return looks.found;
}

TEST(Slots, OfWhatIsElsewhere)
{
    using Found = std::vector<std::string>;
    Object made(false);
    EXPECT_EQ(Found{}, slots_of(&made));
    made.read();
    EXPECT_EQ((Found{"0 looked_up@OTHER_2", "1 stored@", "6 of_no_known_version@", "7 elsewhere@OTHER_1",
                     "8 of_the_second_file@THIRD_1"}),
              slots_of(&made));
    const struct elf_object whole = made.object;
    made.object.strings = nullptr;
    EXPECT_EQ(Found{}, slots_of(&made));
    made.object = whole;
    made.object.symbols = nullptr;
    EXPECT_EQ(Found{}, slots_of(&made));
    made.object = whole;
    made.entry(DT_PLTREL).d_un.d_val = DT_REL;
    EXPECT_EQ(3u, slots_of(&made).size());
    made.entry(DT_RELASZ).d_un.d_val = sizeof(ElfW(Rela));
    EXPECT_EQ((Found{"0 looked_up@OTHER_2"}), slots_of(&made));
    made.entry(DT_VERNEED).d_tag = DT_DEBUG;
    EXPECT_EQ((Found{"0 looked_up@"}), slots_of(&made)) << "needs no versions";
    made.entry(DT_RELA).d_tag = DT_DEBUG;
    EXPECT_EQ(Found{}, slots_of(&made));
}

/* A page that the loader has made read-only is so again; the end of what it protected is rounded down. */
TEST(Slots, AreSet)
{
    const size_t page = size_t(getpagesize());
    auto *pages =
        static_cast<uint8_t *>(mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(MAP_FAILED, static_cast<void *>(pages));
    ElfW(Phdr) segments[3] = {};
    segments[1].p_type = PT_LOAD, segments[1].p_flags = PF_R, segments[1].p_memsz = page;
    segments[0].p_type = PT_LOAD, segments[0].p_flags = PF_R | PF_W, segments[0].p_vaddr = page,
    segments[0].p_memsz = 2 * page;
    segments[2].p_type = PT_GNU_RELRO, segments[2].p_vaddr = page + 64, segments[2].p_memsz = page + 64;
    struct elf_object object = {};
    object.bias = reinterpret_cast<uintptr_t>(pages);
    object.segments = segments, object.segment_count = 3;
    const auto set = [&](size_t at, uintptr_t value) {
        const struct slot slot = {reinterpret_cast<uintptr_t *>(pages + at), "name", ""};
        return slots_set(&object, &slot, value) != 0;
    };
    const auto word = [&](size_t at) { return *reinterpret_cast<uintptr_t *>(pages + at); };
    const auto is_writable = [&](size_t at) {
        FILE *maps = fopen("/proc/self/maps", "r");
        const uintptr_t address = reinterpret_cast<uintptr_t>(pages + at);
        char line[512];
        bool writable = false;
        while (fgets(line, sizeof line, maps)) {
            unsigned long from, to;
            char rights[5];
            if (sscanf(line, "%lx-%lx %4s", &from, &to, rights) == 3 && address >= from && address < to)
                writable = rights[1] == 'w';
        }
        fclose(maps);
        return writable;
    };
    ASSERT_EQ(0, mprotect(pages + page, page, PROT_READ));
    EXPECT_TRUE(set(page, 11));
    EXPECT_TRUE(set(2 * page - 8, 12));
    EXPECT_EQ(11u, word(page));
    EXPECT_EQ(12u, word(2 * page - 8));
    EXPECT_FALSE(is_writable(page));
    EXPECT_TRUE(set(2 * page, 13)) << "behind it";
    EXPECT_TRUE(set(3 * page - 8, 14));
    EXPECT_EQ(14u, word(3 * page - 8));
    EXPECT_TRUE(is_writable(2 * page));
    EXPECT_FALSE(set(page - 8, 15)) << "of a segment without data";
    EXPECT_FALSE(set(3 * page, 16)) << "behind all";
    EXPECT_EQ(0u, word(page - 8) + word(3 * page));
    munmap(pages, 4 * page);
}

} // namespace
