/* SPDX-License-Identifier: Apache-2.0
 *
 * Loads modules for programs whose kernels are text. Whoever reads the code of kernels meets PTX one way and machine code
 * the other.
 */
#include "tests/apps/load.h"

#include <string.h>

int load_links;

static CUresult load_linked(CUmodule *module, const char *text)
{
    CUlinkState state;
    void *code = NULL;
    size_t size;
    CUresult result = cuLinkCreate(0, NULL, NULL, &state);
    if (result != CUDA_SUCCESS)
        return result;
    result = cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)text, strlen(text) + 1, "kernels", 0, NULL, NULL);
    if (result == CUDA_SUCCESS)
        result = cuLinkComplete(state, &code, &size);
    if (result == CUDA_SUCCESS)
        result = cuModuleLoadData(module, code);
    cuLinkDestroy(state);
    return result;
}

CUresult load_text(CUmodule *module, const char *text)
{
    return load_links ? load_linked(module, text) : cuModuleLoadData(module, text);
}
