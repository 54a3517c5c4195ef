/* SPDX-License-Identifier: Apache-2.0
 *
 * The facts' words for people. Called by the command and by reports; the words are constant.
 */
#include "interpose/code/code.h"

const char *code_words_verdict(enum code_verdict verdict)
{
    switch (verdict) {
    case CODE_DIRECT: return "direct";
    case CODE_INDIRECT: return "indirect";
    case CODE_UNKNOWN: break;
    }
    return "unknown";
}

const char *code_words_why(enum code_why why)
{
    switch (why) {
    case CODE_WHY_NONE: return "";
    case CODE_WHY_NO_IMAGE: return "an image that can't be read";
    case CODE_WHY_NO_KERNEL: return "no kernel of that name in the image";
    case CODE_WHY_ARCHITECTURE: return "machine code of a device that is not known";
    case CODE_WHY_INSTRUCTION: return "an instruction that is not known";
    case CODE_WHY_ADDRESS: return "an address that begins with nothing that is known";
    case CODE_WHY_HEAP: return "memory of the device's heap";
    case CODE_WHY_CALL: return "a call by address, or of a function that is not in the image";
    case CODE_WHY_BRANCH: return "a jump by address whose targets are not known";
    case CODE_WHY_HANDLE: return "a texture, surface or tensor map whose handle is not a parameter";
    case CODE_WHY_LAUNCH: return "launches kernels itself";
    case CODE_WHY_MANY: return "more bases, variables or handles than are told";
    case CODE_WHY_LONG: return "took longer than the bound";
    case CODE_WHY_MEMORY: return "no memory for it";
    }
    return "a reason that is not known";
}
