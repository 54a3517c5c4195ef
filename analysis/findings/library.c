/* SPDX-License-Identifier: Apache-2.0
 *
 * Knows NVIDIA's libraries by the beginnings of their names. Called when findings are weighed; must not guess from paths.
 */
#include "analysis/findings/library.h"

#include <string.h>

#include "analysis/base/text.h"
#include "analysis/trace/frames.h"

static const char *const libraries[] = {
    "libcublas", "libcudnn", "libcufft",  "libcurand", "libcusolver",  "libcusparse", "libcutensor",
    "libnccl",   "libnpp",   "libnvblas", "libnvjpeg", "libnvJitLink", "libnvinfer",  "libnvrtc",
};

const char *library_of(const struct definitions *defs, uint32_t stack)
{
    const struct object_def *object = frames_calling_object(defs, stack);
    const char *name = object != NULL && object->text != NULL ? text_base(object->text) : NULL;
    for (size_t i = 0; name != NULL && i < sizeof libraries / sizeof libraries[0]; i++)
        if (strncmp(name, libraries[i], strlen(libraries[i])) == 0)
            return name;
    return NULL;
}
