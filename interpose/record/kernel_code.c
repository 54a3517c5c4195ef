/* SPDX-License-Identifier: Apache-2.0
 *
 * What a kernel's code says, as a record. Called once a kernel, when its code was read. The trace's numbers are code.h's; a
 * list that is longer than code.h says is cut, and the kernel then is one that may touch anything.
 */
#include "interpose/record/kernel_code.h"

#include "interpose/code/code.h"
#include "interpose/record/file/define.h"
#include "interpose/record/recorder.h"

_Static_assert((int)PTDS_CODE_DIRECT == CODE_DIRECT && (int)PTDS_CODE_INDIRECT == CODE_INDIRECT &&
                   (int)PTDS_CODE_UNKNOWN == CODE_UNKNOWN && (int)PTDS_CODE_READ == CODE_READ &&
                   (int)PTDS_CODE_WRITE == CODE_WRITE && (int)PTDS_CODE_ATOMIC == CODE_ATOMIC,
               "verdicts and uses");
_Static_assert((int)PTDS_CODE_PARAMETER == CODE_PARAMETER && (int)PTDS_CODE_RANGE == CODE_RANGE &&
                   (int)PTDS_CODE_VARIABLE == CODE_VARIABLE && (int)PTDS_CODE_LOADED == CODE_LOADED,
               "kinds");
_Static_assert((int)PTDS_CODE_HEAP == CODE_HEAP && (int)PTDS_CODE_SYSTEM == CODE_SYSTEM &&
                   (int)PTDS_CODE_BOUND_TEXTURE == CODE_BOUND_TEXTURE && (int)PTDS_CODE_TENSOR_MAP == CODE_TENSOR_MAP,
               "flags");
_Static_assert((int)PTDS_CODE_WHY_NO_IMAGE == CODE_WHY_NO_IMAGE && (int)PTDS_CODE_WHY_NO_KERNEL == CODE_WHY_NO_KERNEL &&
                   (int)PTDS_CODE_WHY_ARCHITECTURE == CODE_WHY_ARCHITECTURE &&
                   (int)PTDS_CODE_WHY_INSTRUCTION == CODE_WHY_INSTRUCTION &&
                   (int)PTDS_CODE_WHY_ADDRESS == CODE_WHY_ADDRESS && (int)PTDS_CODE_WHY_HEAP == CODE_WHY_HEAP &&
                   (int)PTDS_CODE_WHY_CALL == CODE_WHY_CALL && (int)PTDS_CODE_WHY_BRANCH == CODE_WHY_BRANCH &&
                   (int)PTDS_CODE_WHY_HANDLE == CODE_WHY_HANDLE && (int)PTDS_CODE_WHY_LAUNCH == CODE_WHY_LAUNCH &&
                   (int)PTDS_CODE_WHY_MANY == CODE_WHY_MANY && (int)PTDS_CODE_WHY_LONG == CODE_WHY_LONG &&
                   (int)PTDS_CODE_WHY_MEMORY == CODE_WHY_MEMORY,
               "reasons");

/* A head has room for the kinds of so many terms. */
enum { TERMS_MOST = 8, WORDS_MOST = CODE_BASES * ((CODE_TERMS + TERMS_MOST - 1) / TERMS_MOST + CODE_TERMS) };

/* Terms from the one on. Returns how many words they take. */
static unsigned put_terms(uint32_t *word, const struct code_base *base, unsigned from, unsigned count)
{
    word[0] = (base->use & 15u) | (base->through & 15u) << 4 | (base->beyond & 15u) << 8 | count << 12;
    for (unsigned i = 0; i < count; i++) {
        const struct code_term *term = &base->term[from + i];
        word[0] |= (term->kind & 3u) << (16 + 2 * i);
        word[1 + i] = term->low | (uint32_t)term->high << 16;
    }
    return 1 + count;
}

/* A base with more terms than one has room for is two. Returns how many words it takes. */
static unsigned put_base(uint32_t *word, const struct code_base *base, uint16_t *bases)
{
    unsigned count = base->count < CODE_TERMS ? base->count : CODE_TERMS, words = 0;
    for (unsigned from = 0; from < count; from += TERMS_MOST, ++*bases)
        words += put_terms(word + words, base, from, count - from < TERMS_MOST ? count - from : TERMS_MOST);
    return words;
}

void kernel_code_record(uint32_t uid, const struct code_facts *facts)
{
    uint32_t word[WORDS_MOST], words = 0;
    if (!recorder_on())
        return;
    struct ptds_rec_KERNEL_FACTS record = {.kernel = uid, .at = facts->at, .arch = facts->arch};
    record.verdict = facts->bases <= CODE_BASES ? facts->verdict : PTDS_CODE_UNKNOWN;
    record.why = facts->why;
    record.flags = facts->flags;
    record.ptx = facts->is_ptx;
    for (unsigned i = 0; i < facts->bases && i < CODE_BASES; i++)
        words += put_base(word + words, &facts->base[i], &record.bases);
    define(PTDS_REC_KERNEL_FACTS, &record, sizeof record, word, words * sizeof word[0]);
}
