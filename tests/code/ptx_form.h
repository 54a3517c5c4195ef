/* SPDX-License-Identifier: Apache-2.0
 *
 * The form of PTX text, for tests of the PTX front end.
 */
#ifndef PTDS_TESTS_CODE_PTX_FORM_H
#define PTDS_TESTS_CODE_PTX_FORM_H

#include <gtest/gtest.h>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "tests/code/form_text.h"

extern "C" {
#include "interpose/code/arena.h"
}

namespace
{
/* Of one kernel. The text lies at the very end of memory of its size, so that a sanitizer sees who reads behind it. */
struct PtxForm {
    struct arena arena = {};
    struct form form = {};
    std::unique_ptr<struct code_facts> facts = std::make_unique<struct code_facts>();

    PtxForm(const std::string &text, const char *kernel, size_t limit = 64 << 20)
    {
        std::vector<uint8_t> bytes(text.begin(), text.end());
        struct code_image image = {bytes.data(), bytes.size(), 90, 1};
        memset(facts.get(), 0, sizeof *facts);
        arena.limit = limit;
        form.arena = &arena;
        form.facts = facts.get();
        ptx_read(&image, kernel, &form);
    }
    PtxForm(const PtxForm &) = delete;
    ~PtxForm()
    {
        arena_free(&arena);
    }
    bool unknown() const
    {
        return facts->verdict == CODE_UNKNOWN;
    }
    std::string why() const
    {
        return unknown() ? std::to_string(facts->why) + " " + std::to_string(facts->at) + " " + facts->text : "";
    }
};

[[maybe_unused]] const char *const ptx_head = ".version 8.7\n.target sm_90a\n.address_size 64\n";

/* A kernel k(u64 a at byte 0, u32 n at 8, u64 b at 16, 16 bytes c at 24) with these statements. */
[[maybe_unused]] std::string ptx_kernel(const std::string &body, const std::string &before = "")
{
    return ptx_head + before +
           ".visible .entry k(.param .u64 a, .param .u32 n, .param .u64 b,\n .param .align 4 .b8 c[16])\n{\n"
           ".reg .pred %p<8>; .reg .b16 %rs<16>; .reg .b32 %r<32>; .reg .b64 %rd<32>; .reg .f32 %f<16>; .reg .b128 %q<4>;"
           ".local .align 8 .b8 depot[24]; .shared .b32 tile[64]; .reg .f64 %d<8>;\n" +
           body + "\n}\n";
}

/* The steps that such a kernel has, without the end that stands last if no function follows; or why it is unknown. */
[[maybe_unused]] std::string ptx_steps(const std::string &body, const std::string &before = "")
{
    PtxForm form(ptx_kernel(body, before), "k");
    std::string text = form_text::all(form.form), end = "exit\n";
    if (form.unknown())
        return "unknown " + form.why() + "\n";
    bool ends = text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
    return ends ? text.substr(0, text.size() - end.size()) : text;
}
} // namespace

// A kernel's body, and the steps that it becomes.
struct Case {
    const char *body, *steps;
};

inline void check(const std::vector<Case> &cases)
{
    for (const Case &one : cases)
        EXPECT_EQ(ptx_steps(one.body), one.steps) << one.body;
}

#endif
