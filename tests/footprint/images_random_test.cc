/* SPDX-License-Identifier: Apache-2.0
 *
 * Which variables images have, of images that are made at random. They lie where nothing can be read behind them, whole and
 * cut at any place.
 */
#include <gtest/gtest.h>

#include "tests/footprint/at_end.h"
#include "tests/footprint/images_random.h"

namespace
{

TEST(Ptx, AtRandom)
{
    for (uint64_t seed = 0; seed < 6000; seed++) {
        const Made made = text_at_random(seed);
        const AtEnd image(made.text), ended(made.text + '\0');
        ASSERT_EQ(image_variables(image.data(), image.size()), made.expected) << seed << "\n" << made.text;
        ASSERT_EQ(image_variables(ended.data(), SIZE_MAX), made.expected) << seed << "\n" << made.text;
        ASSERT_EQ(image_of_ptx(image.text(), image.size()), made.expected) << seed << "\n" << made.text;
    }
}

/* What is declared before the cut is found, where it ends there; nothing behind it is read. */
TEST(Ptx, CutAnywhere)
{
    for (uint64_t seed = 0; seed < 300; seed++) {
        const std::string text = text_at_random(seed).text;
        for (size_t size = 0; size < text.size(); size++) {
            const AtEnd image(text.substr(0, size));
            const unsigned found = image_variables(image.data(), size);
            ASSERT_EQ(found & IMAGE_UNREAD, text.find(".version") + 8 <= size ? 0u : unsigned{IMAGE_UNREAD}) << size;
        }
    }
}

TEST(Cubin, AtRandom)
{
    for (uint64_t seed = 0; seed < 6000; seed++) {
        const Made made = object_at_random(seed);
        const AtEnd image(made.text, 8);
        ASSERT_EQ(image_variables(image.data(), image.size()), made.expected) << seed;
        ASSERT_EQ(image_variables(image.data(), SIZE_MAX), made.expected) << seed << ", by its own size";
    }
}

/* ---- containers ---- */

struct Entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint32_t packed_size, unknown[2], device, name, name_size;
    uint64_t flags, unused, unpacked_size;
};

/* A container of some images, of which each has a device of its own: 70 and so on. */
struct Container {
    std::string bytes;
    std::vector<unsigned> has; /* each of them; IMAGE_UNREAD: it is none that can be read */
    std::vector<bool> code;    /* machine code, for just that device */

    /* Of those that `wanted` says. */
    template <class Wanted> unsigned expected(Wanted wanted) const
    {
        unsigned found = 0;
        bool read = false;
        for (size_t i = 0; i < has.size(); i++) {
            read = read || (wanted(i) && has[i] != IMAGE_UNREAD);
            found |= wanted(i) && has[i] != IMAGE_UNREAD ? has[i] : 0u;
        }
        return read ? found : unsigned{IMAGE_UNREAD};
    }
    /* The container says which devices it has code for; all of it counts where one has none. */
    unsigned for_devices(const std::vector<uint32_t> &devices) const
    {
        bool each = !devices.empty();
        for (uint32_t device : devices)
            each = each && device - 70 < has.size() && code[device - 70];
        return expected([&](size_t i) {
            return !each || (code[i] && std::count(devices.begin(), devices.end(), 70 + static_cast<uint32_t>(i)) > 0);
        });
    }
};

Container container_at_random(uint64_t seed)
{
    Random random(seed);
    Container made;
    for (size_t i = 0, count = random.below(5); i < count; i++) {
        const bool text = random.one_in(3);
        Made image = text ? text_at_random(seed * 8 + i) : object_at_random(seed * 8 + i);
        uint16_t kind = text ? 1 : 2;
        if (random.one_in(5)) {
            image = {"nothing that is known", IMAGE_UNREAD};
        } else if (random.one_in(8)) {
            kind = 7; /* of another kind */
            image.expected = IMAGE_UNREAD;
        }
        image.text.resize((image.text.size() + 8) / 8 * 8); /* at least one zero */
        Entry entry = {};
        entry.kind = kind, entry.version = 1, entry.header_size = sizeof entry, entry.size = image.text.size();
        entry.device = 70 + static_cast<uint32_t>(i);
        made.bytes += std::string(reinterpret_cast<char *>(&entry), sizeof entry) + image.text;
        made.has.push_back(image.expected);
        made.code.push_back(kind == 2);
    }
    const uint64_t size = made.bytes.size();
    const std::string head = std::string("\x50\xed\x55\xba\x01\x00\x10\x00", 8) +
                             std::string(reinterpret_cast<const char *>(&size), sizeof size);
    made.bytes = head + made.bytes;
    return made;
}

TEST(Fatbin, AtRandom)
{
    const std::vector<std::vector<uint32_t>> devices = {{}, {70, 71}, {70}, {71}, {72, 70, 71}, {70, 200}};
    for (uint64_t seed = 0; seed < 1500; seed++) {
        const Container made = container_at_random(seed);
        const AtEnd image(made.bytes, 8);
        for (const std::vector<uint32_t> &there : devices) {
            image_devices(there.data(), static_cast<unsigned>(there.size()));
            const unsigned expected = made.for_devices(there);
            ASSERT_EQ(image_variables(image.data(), image.size()), expected) << seed << testing::PrintToString(there);
            ASSERT_EQ(image_variables(image.data(), SIZE_MAX), expected) << seed << testing::PrintToString(there);
        }
        image_devices(nullptr, 0);
    }
}

TEST(Fatbin, CutAnywhere)
{
    for (uint64_t seed = 0; seed < 12; seed++) {
        const std::string whole = container_at_random(seed).bytes;
        for (size_t size = 0; size < whole.size(); size++) {
            const AtEnd image(whole.substr(0, size), 8);
            ASSERT_EQ(image_variables(image.data(), size), unsigned{IMAGE_UNREAD}) << seed << ", " << size;
        }
    }
}

} // namespace
