// SPDX-License-Identifier: Apache-2.0
//
// Facts of a kernel as one line of text, for tests to hold against literals: the verdict, then each base with its use.
//   direct 0:w 8:r      the pointer at byte 0 of the parameters is written through, that at 8 read
//   indirect 0:r>rw>>w  what lies at pointers in that memory is read and written, what is reached further is written
//   direct 0+8:r        one of both is the pointer
//   direct 0|8:r        the address is a sum of some of both
//   direct 0/12:r       low word at 0, high word at 12
//   direct v(name):r [0,16):w t24:r  a variable; any word of these bytes; a texture at 24
//   unknown 5           the reason's number
#ifndef PTDS_TESTS_FACTS_TEXT_H
#define PTDS_TESTS_FACTS_TEXT_H

#include <string>

extern "C" {
#include "interpose/code/code.h"
}

inline std::string UseText(unsigned use)
{
    return std::string(use & CODE_READ ? "r" : "") + (use & CODE_WRITE ? "w" : "") + (use & CODE_ATOMIC ? "a" : "");
}

inline std::string TermText(const code_facts &facts, const code_term &term)
{
    switch (term.kind) {
    case CODE_PARAMETER:
        return std::to_string(term.low) + (term.high == term.low + 4 ? "" : "/" + std::to_string(term.high));
    case CODE_RANGE: return "[" + std::to_string(term.low) + "," + std::to_string(term.high) + ")";
    case CODE_VARIABLE:
        return (facts.variable[term.low].constant ? "c(" : "v(") + std::string(facts.variable[term.low].name) + ")";
    default: return "loaded";
    }
}

inline std::string BaseText(const code_facts &facts, const code_base &base)
{
    std::string text;
    for (unsigned i = 0; i < base.count; i++)
        text += (!i ? "" : base.use & CODE_EITHER ? "|" : "+") + TermText(facts, base.term[i]);
    text += ":" + UseText(base.use);
    if (base.through)
        text += ">" + UseText(base.through);
    if (base.beyond)
        text += ">>" + UseText(base.beyond);
    return text;
}

/* What is in an address beside its base and 32 bits: bytes of words of the parameters, or anything. */
inline std::string MixedText(const code_base &base)
{
    std::string text = base.use & CODE_FAR ? "far" : "near";
    if (base.mixes == CODE_MIXED_ANY)
        return text + " any";
    for (unsigned i = 0; i < base.mixes; i++)
        text += " " + std::to_string(base.mixed[i]);
    return text;
}

inline std::string FactsText(const code_facts &facts)
{
    static const char *const verdicts[] = {"direct", "indirect", "unknown"};
    std::string text = verdicts[facts.verdict];
    if (facts.verdict == CODE_UNKNOWN)
        return text + " " + std::to_string(facts.why);
    for (unsigned i = 0; i < facts.bases; i++)
        text += " " + BaseText(facts, facts.base[i]);
    for (unsigned i = 0; i < facts.handles; i++)
        text += " t" + std::to_string(facts.handle[i].offset) + ":" + UseText(facts.handle[i].use);
    text += facts.flags & CODE_HEAP ? " heap" : "";
    text += facts.flags & CODE_SYSTEM ? " system" : "";
    text += facts.flags & CODE_BOUND_TEXTURE ? " bound" : "";
    text += facts.flags & CODE_TENSOR_MAP ? " tensor" : "";
    return text;
}

#endif
