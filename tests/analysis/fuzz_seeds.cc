// SPDX-License-Identifier: Apache-2.0
//
// What libFuzzer would call, with each file of the folders that are named, and with each cut and changed a little, always
// the same way. A crash is the failure; so is a seed that is refused.
#include "tests/analysis/fuzz.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

static int Fed(const std::string &bytes)
{
    return LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

int main(int argc, char **argv)
{
    size_t seeds = 0, refused = 0;
    for (int i = 1; i < argc; i++)
        for (const auto &entry : std::filesystem::directory_iterator(argv[i])) {
            std::ifstream file(entry.path(), std::ios::binary);
            const std::string seed((std::istreambuf_iterator<char>(file)), {});
            std::mt19937 random(static_cast<unsigned>(seed.size()));
            if (Fed(seed) != 0 && ++refused)
                printf("%s is refused\n", entry.path().c_str());
            for (int times = 0; times < 300; times++) {
                std::string changed = seed;
                for (unsigned count = 1 + random() % 3; count != 0 && !changed.empty(); count--)
                    changed[random() % changed.size()] =
                        static_cast<char>(random() % 3 == 0 ? random() : "0-9.,\"[]{}e"[random() % 12]);
                Fed(times % 3 == 0 ? seed.substr(0, random() % (seed.size() + 1)) : changed);
            }
            seeds++;
        }
    printf("%zu seeds, %zu refused\n", seeds, refused);
    return seeds == 0 || refused != 0;
}
