/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks of a trace with the functions of Python in them.
 */
#ifndef PTDS_TESTS_INTERPOSE_SOURCES_H
#define PTDS_TESTS_INTERPOSE_SOURCES_H

#include <algorithm>

#include "tests/interpose/recorded.h"

namespace ptds
{

struct Stack {
    std::string python; /* "inner:10 outer:500", innermost first */
    std::vector<uint64_t> pc;
    uint32_t id = 0;
};

/* All of them, by id. */
inline std::map<uint32_t, Stack> stacks_of(const Recorded &recorded)
{
    std::map<uint32_t, std::string> strings, sources;
    std::map<uint32_t, Stack> found;
    for (const auto &[kind, bytes] : recorded.trace.records) {
        ptds_rec_STRING text;
        memcpy(&text, bytes.data(), std::min(bytes.size(), sizeof text));
        if (kind == PTDS_REC_STRING)
            strings[text.id] = bytes.substr(sizeof text).c_str();
    }
    for (const ptds_rec_SOURCE &one : recorded.all<ptds_rec_SOURCE>(PTDS_REC_SOURCE))
        sources[one.id] = strings[one.function] + ":" + std::to_string(one.line);
    for (const auto &[kind, bytes] : recorded.trace.records) {
        ptds_rec_STACK stack;
        if (kind != PTDS_REC_STACK)
            continue;
        memcpy(&stack, bytes.data(), sizeof stack);
        Stack &out = found[stack.id];
        out.id = stack.id;
        out.pc.resize(stack.count);
        memcpy(out.pc.data(), bytes.data() + sizeof stack, stack.count * 8);
        for (uint64_t pc : out.pc)
            if (pc & PTDS_PC_SOURCE)
                out.python += (out.python.empty() ? "" : " ") + sources[static_cast<uint32_t>(pc)];
    }
    return found;
}

/* Of the calls of a kind, in their order. */
inline std::vector<Stack> stacks_of(const Recorded &recorded, uint8_t op)
{
    std::map<uint32_t, Stack> stacks = stacks_of(recorded);
    std::vector<ptds_rec_CALL> calls = recorded.calls(op);
    std::vector<Stack> found;
    std::sort(calls.begin(), calls.end(), [](auto &a, auto &b) { return a.enter < b.enter; });
    for (const ptds_rec_CALL &call : calls)
        found.push_back(stacks[call.stack]);
    return found;
}

} // namespace ptds

#endif
