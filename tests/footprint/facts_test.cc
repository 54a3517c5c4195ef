/* SPDX-License-Identifier: Apache-2.0
 *
 * What is kept of a kernel's facts for its launches, what several kinds of devices make of them, and what a name stands in
 * for.
 */
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

extern "C" {
#include "interpose/footprint/modules/guess_by_name.h"
#include "interpose/footprint/modules/launch_facts.h"
#include "interpose/footprint/modules/merge_facts.h"
}

namespace
{

class Facts : public testing::Test
{
protected:
    static struct code_term parameter(unsigned low)
    {
        return {CODE_PARAMETER, uint16_t(low), uint16_t(low + 4)};
    }
    static void add(struct code_facts &to, unsigned use, const std::vector<struct code_term> &terms, unsigned through = 0)
    {
        struct code_base &base = to.base[to.bases++];
        base = {};
        base.use = uint8_t(use), base.through = uint8_t(through), base.count = uint8_t(terms.size());
        std::copy(terms.begin(), terms.end(), base.term);
    }
    static void add_variable(struct code_facts &to, const char *name, int constant)
    {
        struct code_variable &variable = to.variable[to.variables++];
        strcpy(variable.name, name);
        variable.constant = uint8_t(constant);
    }
    /* "w0.0 r1.4": uses, and where each word lies; or why it is opaque. */
    std::string kept(const struct code_facts &from, const std::vector<uint32_t> &layout)
    {
        launch_facts_take(&facts, &from, uint32_t(layout.size()), layout.data());
        if (facts.opaque)
            return "!" + std::to_string(facts.opaque);
        std::string text;
        for (unsigned i = 0; i < facts.bases; i++) {
            const struct launch_facts_base &base = facts.base[i];
            text += (i ? " " : "") + std::string(base.use & CODE_WRITE ? "w" : "r");
            for (unsigned k = 0; k < base.terms; k++) {
                const struct launch_facts_term &term = facts.term[base.first + k];
                text += k ? "+" : "";
                if (term.kind == CODE_VARIABLE)
                    text += term.constant ? "const" : "variable";
                else if (term.kind == CODE_RANGE)
                    text += std::to_string(term.from) + "-" + std::to_string(term.to);
                else
                    text += std::to_string(term.word.low) + "." + std::to_string(term.word.low_at) +
                            (launch_facts_is_contiguous(term.word)
                                 ? ""
                                 : "," + std::to_string(term.word.high) + "." + std::to_string(term.word.high_at));
            }
        }
        return text;
    }
    static uint32_t at(unsigned offset, unsigned size)
    {
        return offset << 16 | size;
    }
    struct launch_facts facts = {};
    std::unique_ptr<struct code_facts> one{new code_facts{}}, two{new code_facts{}};
};

TEST_F(Facts, SayWhereTheirWordsLie)
{
    add(*one, CODE_READ, {parameter(28)});
    add(*one, CODE_WRITE, {parameter(0)});
    add(*one, CODE_READ, {{CODE_PARAMETER, 24, 16}});
    add(*one, CODE_READ, {parameter(0), parameter(8)});
    add(*one, CODE_READ, {{CODE_RANGE, 16, 40}});
    const std::vector<uint32_t> layout = {at(0, 8), at(8, 8), at(16, 4), at(24, 16)};
    EXPECT_EQ("w0.0 r0.0+1.0 r16-40 r3.0,2.0 r3.4", kept(*one, layout)) << "in the parameters' order";
    EXPECT_EQ("!11", kept(*one, {at(0, 8), at(8, 8), at(16, 4)})) << "a parameter that the driver does not have";
    EXPECT_EQ("!11", kept(*one, {at(0, 8), at(8, 8), at(16, 4), at(24, 11)})) << "half of it";
    launch_facts_take(&facts, one.get(), UINT32_MAX, nullptr);
    EXPECT_EQ(OPAQUE_PARAMETERS, facts.opaque);
}

TEST_F(Facts, ThatAreNoneOfOneThatIsKnown)
{
    const std::vector<uint32_t> layout = {at(0, 8)};
    add(*one, CODE_READ, {parameter(0)});
    EXPECT_EQ("r0.0", kept(*one, layout));
    one->flags = CODE_SYSTEM;
    EXPECT_EQ("r0.0", kept(*one, layout));
    one->flags = CODE_HEAP;
    EXPECT_EQ("!13", kept(*one, layout));
    one->flags = CODE_BOUND_TEXTURE;
    EXPECT_EQ("!7", kept(*one, layout));
    one->flags = 0;
    one->verdict = CODE_UNKNOWN, one->why = CODE_WHY_INSTRUCTION;
    EXPECT_EQ("!11", kept(*one, layout));
    one->why = CODE_WHY_HEAP;
    EXPECT_EQ("!13", kept(*one, layout));
    one->verdict = CODE_DIRECT;
    one->base[0].count = 0;
    EXPECT_EQ("!11", kept(*one, layout));
    one->base[0].count = CODE_TERMS + 1;
    EXPECT_EQ("!11", kept(*one, layout));
    one->base[0].count = 1;
    one->base[0].term[0] = {CODE_VARIABLE, 3, 0};
    EXPECT_EQ("!11", kept(*one, layout)) << "a variable that there is not";
    one->base[0].term[0] = {77, 0, 4};
    EXPECT_EQ("!11", kept(*one, layout));
}

TEST_F(Facts, OfVariables)
{
    add_variable(*one, "x", 0);
    EXPECT_EQ("", kept(*one, {}));
    EXPECT_EQ(CODE_READ, facts.variables) << "it is used somehow";
    add(*one, CODE_WRITE, {{CODE_VARIABLE, 0, 0}});
    EXPECT_EQ("wvariable", kept(*one, {}));
    EXPECT_EQ(CODE_READ | CODE_WRITE, facts.variables);
}

/* Whatever the kernel does on one of the devices. */
TEST_F(Facts, OfSeveralKindsOfDevices)
{
    const std::vector<uint32_t> layout = {at(0, 8), at(8, 8)};
    add(*one, CODE_READ, {parameter(0)});
    add(*two, CODE_WRITE, {parameter(0)});
    add(*two, CODE_READ, {parameter(8)});
    add_variable(*one, "x", 0);
    add(*one, CODE_READ, {{CODE_VARIABLE, 0, 0}});
    add_variable(*two, "y", 1);
    add_variable(*two, "x", 0);
    add(*two, CODE_READ, {{CODE_VARIABLE, 0, 0}});
    add(*two, CODE_WRITE, {{CODE_VARIABLE, 1, 0}});
    two->handle[two->handles++] = {8, CODE_READ};
    two->verdict = CODE_INDIRECT;
    merge_facts(one.get(), two.get());
    EXPECT_EQ(CODE_INDIRECT, one->verdict);
    EXPECT_EQ("w0.0 r1.0 wvariable rconst", kept(*one, layout));
    EXPECT_EQ(1u, facts.handles);
    EXPECT_EQ(2u, one->variables);
    merge_facts(one.get(), two.get());
    EXPECT_EQ("w0.0 r1.0 wvariable rconst", kept(*one, layout)) << "once more";
    two->verdict = CODE_UNKNOWN, two->why = CODE_WHY_CALL;
    merge_facts(one.get(), two.get());
    EXPECT_EQ(CODE_UNKNOWN, one->verdict);
    EXPECT_EQ(CODE_WHY_CALL, one->why);
    one.reset(new code_facts{}), two.reset(new code_facts{});
    for (unsigned i = 0; i < CODE_BASES; i++)
        add(*one, CODE_READ, {parameter(8 * i)});
    add(*two, CODE_READ, {parameter(8 * CODE_BASES)});
    merge_facts(one.get(), two.get());
    EXPECT_EQ(CODE_UNKNOWN, one->verdict) << "there is no room";
}

TEST_F(Facts, OfSeveralDevicesHaveAllWaysOfEach)
{
    add(*one, CODE_READ, {parameter(0)});
    add(*two, CODE_WRITE, {parameter(0)});
    one->base[0].through = CODE_READ;
    two->base[0].through = CODE_WRITE, two->base[0].beyond = CODE_READ;
    merge_facts(one.get(), two.get());
    ASSERT_EQ(1u, one->bases);
    EXPECT_EQ(CODE_READ | CODE_WRITE, one->base[0].use);
    EXPECT_EQ(CODE_READ | CODE_WRITE, one->base[0].through);
    EXPECT_EQ(CODE_READ, one->base[0].beyond);
}

TEST_F(Facts, GuessedByNames)
{
    const std::vector<uint32_t> layout = {at(0, 8), at(8, 8), at(16, 4), at(24, 24)};
    const auto guess = [&](const char *name) {
        one->verdict = CODE_UNKNOWN, one->why = CODE_WHY_INSTRUCTION;
        guess_by_name(name, uint32_t(layout.size()), layout.data(), one.get());
        return kept(*one, layout);
    };
    EXPECT_EQ("r0-8 w8-16 w24-48", guess("_Z1kPKfPfi4Some"));
    EXPECT_EQ("w0-8 w8-16 w24-48", guess("k"));
    EXPECT_EQ("w0-8 w8-16 w24-48", guess("_Z1kPKfPf")) << "of another kernel";
    EXPECT_EQ(CODE_DIRECT, one->verdict);
    EXPECT_EQ("r0-8 w8-16 w24-48", guess("_Z1kPKPfPfi4Some"));
    EXPECT_EQ(CODE_INDIRECT, one->verdict);
    EXPECT_EQ(CODE_READ | CODE_WRITE, one->base[0].through);
    EXPECT_EQ(0, one->base[1].through);
    add_variable(*one, "x", 0);
    EXPECT_EQ("w0-8 w8-16 w24-48 wvariable", guess("k"));
    one->verdict = CODE_UNKNOWN;
    guess_by_name("k", UINT32_MAX, nullptr, one.get());
    EXPECT_EQ(CODE_UNKNOWN, one->verdict);
}

} // namespace
