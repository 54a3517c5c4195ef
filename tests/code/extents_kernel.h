// SPDX-License-Identifier: Apache-2.0
//
// A kernel's extents at one launch, for tests: PTX text, the numbers of a launch, and the bytes of its parameters.
#ifndef PTDS_TESTS_CODE_EXTENTS_KERNEL_H
#define PTDS_TESTS_CODE_EXTENTS_KERNEL_H

#include <cstring>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "interpose/code/extents/extents.h"
}

struct ExtentsKernel {
    std::unique_ptr<code_facts> facts = std::make_unique<code_facts>();

    explicit ExtentsKernel(const std::string &text)
    {
        code_image image = {reinterpret_cast<const uint8_t *>(text.data()), text.size(), 90, 1};
        memset(facts.get(), 0, sizeof *facts);
        code_read(&image, "k", facts.get());
    }
    // NULL: the pointer at that byte of the parameters has none.
    const code_base *Base(unsigned byte) const
    {
        for (unsigned i = 0; i < facts->bases; i++)
            if (facts->base[i].count == 1 && facts->base[i].term[0].low == byte && facts->base[i].has_extent)
                return &facts->base[i];
        return nullptr;
    }
    extent Of(const code_base *base, const uint32_t threads[3], const uint32_t blocks[3],
              const std::vector<uint8_t> &parameters) const
    {
        extents_launch launch = {
            {threads[0], threads[1], threads[2]}, {blocks[0], blocks[1], blocks[2]}, Bytes, &parameters};
        std::vector<extent> of(CODE_BASES, EXTENTS_NONE);
        extents_of(facts->extent_step, facts->extent_steps, &launch, of.data());
        return of[static_cast<size_t>(base - facts->base)];
    }

private:
    static const uint8_t *Bytes(const void *data, unsigned at)
    {
        return static_cast<const std::vector<uint8_t> *>(data)->data() + at;
    }
};

#endif
