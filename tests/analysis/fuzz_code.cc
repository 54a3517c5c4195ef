// SPDX-License-Identifier: Apache-2.0
//
// For libFuzzer, run by scripts/fuzz: images of device code, as programs and files have them. All kernels of all images are
// read; an input decides how long that takes, so only the first few of each.
#include "tests/analysis/fuzz.h"

#include <cstdlib>
#include <memory>

extern "C" {
#include "interpose/code/code.h"
}

namespace
{

constexpr unsigned kKernels = 8, kImages = 8;

struct Job {
    const code_image *image;
    unsigned kernels, images;
};

// What is told must hang together, whatever the image is.
void Sound(const code_facts &facts)
{
    if (facts.bases > CODE_BASES || facts.variables > CODE_VARIABLES || facts.handles > CODE_HANDLES ||
        facts.parameters > CODE_PARAMETERS || (facts.verdict == CODE_UNKNOWN) != (facts.why != CODE_WHY_NONE))
        abort();
    for (unsigned i = 0; i < facts.bases; i++) {
        const code_base &base = facts.base[i];
        if (!base.count || base.count > CODE_TERMS)
            abort();
        if (facts.verdict == CODE_DIRECT && (base.through || base.beyond))
            abort();
        for (unsigned t = 0; t < base.count; t++) {
            if (base.term[t].kind == CODE_VARIABLE && base.term[t].low >= facts.variables)
                abort();
        }
    }
}

int Kernel(void *data, const char *name)
{
    auto *job = static_cast<Job *>(data);
    std::unique_ptr<code_facts> facts(new code_facts());
    code_read(job->image, name, facts.get());
    Sound(*facts);
    return ++job->kernels >= kKernels;
}

int Image(void *data, const code_image *image)
{
    auto *job = static_cast<Job *>(data);
    job->image = image;
    job->kernels = 0;
    code_read_kernels(image, Kernel, job);
    return ++job->images >= kImages;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Job job = {};
    images_plain(data, size, nullptr, Image, &job);
    return 0;
}
