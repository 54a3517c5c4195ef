// SPDX-License-Identifier: Apache-2.0
//
// The solver, over forms that are written by hand: which words begin an address, and what is only an offset. The expected
// facts are literals (facts_text.h).

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

extern "C" {
#include "interpose/code/arena.h"
#include "interpose/code/form.h"
}

#include "tests/code/facts_text.h"

namespace
{

operand R(uint16_t number)
{
    return {OPERAND_REGISTER, 0, 0, 0, number, 0, 0};
}
operand N(int64_t value)
{
    return {OPERAND_CONSTANT, 0, 0, 0, NO_REGISTER, 0, value};
}
operand P(int64_t offset)
{
    return {OPERAND_PARAMETER, 0, 0, 0, NO_REGISTER, 0, offset};
}
operand Other()
{
    return {OPERAND_OTHER, 0, 0, 0, NO_REGISTER, 0, 0};
}
operand Stack(int64_t at)
{
    return {OPERAND_STACK, 0, 0, 0, NO_REGISTER, 0, at};
}
operand Variable(uint16_t number)
{
    return {OPERAND_ADDRESS, 0, 0, 0, NO_REGISTER, number, 0};
}
operand Bank(uint16_t number, int64_t at)
{
    return {OPERAND_BANK, 0, 0, 0, NO_REGISTER, number, at};
}
operand Minus(operand of)
{
    of.negated = 1;
    return of;
}
operand Scaled(operand of)
{
    of.scaled = 1;
    return of;
}
operand OneWord(operand of)
{
    of.words = 1;
    return of;
}

class Kernel
{
public:
    Kernel() : facts_(new code_facts()), arena_{nullptr, 0, 64 << 20}
    {
        form_.arena = &arena_;
        form_.registers = 64;
        form_.facts = facts_.get();
        facts_->parameter_bytes = 64;
    }
    ~Kernel()
    {
        arena_free(&arena_);
    }
    uint16_t Name(const char *name, bool constant = false)
    {
        return form_variable(&form_, name, strlen(name), 8, constant);
    }
    step &Add(step_kind kind, unsigned words, int result, std::initializer_list<operand> sources)
    {
        step made = {};
        made.kind = static_cast<uint8_t>(kind);
        made.words = static_cast<uint8_t>(words);
        made.result = result < 0 ? static_cast<uint16_t>(NO_REGISTER) : static_cast<uint16_t>(result);
        for (const operand &source : sources)
            made.source[made.sources++] = source;
        made.function = function_;
        uint32_t number = form_add(&form_, &made);
        return form_.step[number];
    }
    step &Access(step_kind kind, space where, unsigned words, int result, std::initializer_list<operand> address,
                 std::initializer_list<operand> sources = {})
    {
        step &made = Add(kind, words, result, sources);
        made.space = static_cast<uint8_t>(where);
        made.use = kind == STEP_LOAD ? CODE_READ : kind == STEP_STORE ? CODE_WRITE : CODE_READ | CODE_WRITE | CODE_ATOMIC;
        for (const operand &part : address)
            made.part[made.parts++] = part;
        return made;
    }
    step &Load(int result, std::initializer_list<operand> address, unsigned words = 2)
    {
        return Access(STEP_LOAD, SPACE_GLOBAL, words, result, address);
    }
    step &Store(std::initializer_list<operand> address, operand value = Other(), unsigned words = 1)
    {
        return Access(STEP_STORE, SPACE_GLOBAL, words, -1, address, {value});
    }
    step &Branch(uint32_t target, bool maybe = false)
    {
        step &made = Add(STEP_BRANCH, 0, -1, {});
        made.target = target;
        made.maybe = maybe;
        return made;
    }
    uint32_t Here() const
    {
        return form_.steps;
    }
    void Function(uint32_t number)
    {
        function_ = number;
    }
    form &Form()
    {
        return form_;
    }
    std::string Facts()
    {
        if (!function_)
            Add(STEP_EXIT, 0, -1, {});
        solve(&form_);
        return FactsText(*facts_);
    }

private:
    std::unique_ptr<code_facts> facts_;
    arena arena_;
    form form_ = {};
    uint32_t function_ = 0;
};

TEST(Solve, APointerAndAnIndex)
{
    Kernel k;
    k.Add(STEP_PRODUCT, 2, 4, {Other(), N(4), P(0)}).wide = 1;
    k.Load(6, {R(4)}, 1);
    k.Add(STEP_SUM, 2, 8, {P(8), Scaled(Other())});
    k.Store({R(8)}, R(6));
    EXPECT_EQ("direct 0:r 8:w", k.Facts());
}

TEST(Solve, CarriedByHand)
{
    Kernel k;
    k.Add(STEP_SUM, 1, 4, {P(16), R(9)});
    k.Add(STEP_SUM, 1, 5, {P(20), Scaled(R(9)), Other()});
    k.Access(STEP_ATOMIC, SPACE_GLOBAL, 1, -1, {R(4)}, {N(1)});
    EXPECT_EQ("direct 16:rwa", k.Facts());
}

TEST(Solve, HowFarFromThePointer)
{
    Kernel k;
    k.Store({P(0), N(64)});
    k.Add(STEP_SUM, 1, 4, {P(8), Other()});
    k.Add(STEP_SUM, 1, 5, {P(12), Other()});
    k.Store({R(4)});
    k.Add(STEP_PRODUCT, 2, 6, {P(24), N(8), P(16)});
    k.Store({R(6)});
    EXPECT_EQ("direct 0:w 8:w 16:w", k.Facts());
    EXPECT_EQ(0, k.Form().facts->base[0].use & CODE_FAR);
    EXPECT_EQ(0, k.Form().facts->base[1].use & CODE_FAR);
    EXPECT_EQ(CODE_FAR, k.Form().facts->base[2].use & CODE_FAR);
}

TEST(Solve, AnIndexFromMemoryIsNoPointer)
{
    Kernel k;
    k.Load(4, {P(0)}, 1);
    k.Add(STEP_PRODUCT, 2, 6, {R(4), N(8), P(8)}).wide = 1;
    k.Store({R(6)});
    EXPECT_EQ("direct 0:r 8:w", k.Facts());
}

TEST(Solve, APointerFromMemory)
{
    Kernel k;
    k.Load(4, {P(0)});
    k.Store({R(4)});
    EXPECT_EQ("indirect 0:r>w", k.Facts());
}

TEST(Solve, TwoWordsLoadedApart)
{
    Kernel k;
    k.Load(4, {P(0)}, 1);
    k.Load(5, {P(8)}, 1);
    k.Store({R(4)});
    EXPECT_EQ("indirect 0:r>w 8:r>w", k.Facts());
}

TEST(Solve, APointerBehindTwoPointers)
{
    Kernel k;
    k.Load(4, {P(0)});
    k.Load(6, {R(4)});
    k.Load(8, {R(6)});
    k.Store({R(8)});
    EXPECT_EQ("indirect 0:r>r>>rw", k.Facts());
}

TEST(Solve, AListInALoop)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {P(0)});
    uint32_t loop = k.Here();
    k.Load(4, {R(4)});
    k.Store({R(4), N(8)});
    k.Branch(loop, true);
    EXPECT_EQ("indirect 0:r>rw>>rw", k.Facts());
}

TEST(Solve, ALoopThatGoesOn)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {P(0)});
    uint32_t loop = k.Here();
    k.Load(8, {R(4)}, 1);
    k.Add(STEP_SUM, 2, 4, {R(4), N(4)});
    k.Branch(loop, true);
    EXPECT_EQ("direct 0:r", k.Facts());
}

TEST(Solve, ChosenOfTwo)
{
    Kernel k;
    k.Add(STEP_JOIN, 2, 4, {P(0), P(8)});
    k.Store({R(4)});
    EXPECT_EQ("direct 0:w 8:w", k.Facts());
}

TEST(Solve, ASumOfTwoIsEither)
{
    Kernel k;
    k.Add(STEP_SUM, 2, 4, {P(0), P(8)});
    k.Store({R(4)});
    EXPECT_EQ("direct 0+8:w", k.Facts());
}

TEST(Solve, DifferenceAndBack)
{
    Kernel k;
    k.Add(STEP_SUM, 2, 4, {P(0), Minus(P(8))});
    k.Add(STEP_SUM, 2, 6, {R(4), P(8)});
    k.Store({R(6)});
    EXPECT_EQ("direct 0+8:w", k.Facts());
}

TEST(Solve, ASumWithWhatWasLoaded)
{
    Kernel k;
    k.Load(4, {P(0)});
    k.Add(STEP_SUM, 2, 6, {R(4), P(8)});
    k.Load(8, {R(6)}, 1);
    std::string facts = k.Facts();
    EXPECT_TRUE(facts == "direct 0:r 8+loaded:r" || facts == "direct 0:r loaded+8:r") << facts;
}

TEST(Solve, PointersXoredMayBeEither)
{
    Kernel k;
    step &made = k.Add(STEP_LOGIC, 2, 4, {P(0), P(8)});
    made.table = 0xf0 ^ 0xcc;
    k.Store({R(4)});
    EXPECT_EQ("unknown 5", k.Facts());
}

TEST(Solve, APointerMaskedForAlignmentIsStillOne)
{
    Kernel k;
    k.Add(STEP_LOGIC, 2, 4, {P(0), N(~int64_t{15})}).table = 0xf0 & 0xcc;
    k.Store({R(4)});
    EXPECT_EQ("direct 0:w", k.Facts());
}

TEST(Solve, HighBitsSet)
{
    Kernel k;
    k.Add(STEP_LOGIC, 2, 4, {P(0), N(int64_t{1} << 56)}).table = 0xf0 | 0xcc;
    k.Store({R(4)});
    EXPECT_EQ("unknown 5", k.Facts());
}

TEST(Solve, LowBitsSet)
{
    Kernel k;
    k.Add(STEP_LOGIC, 2, 4, {P(0), N(12)}).table = 0xf0 | 0xcc;
    k.Store({R(4)});
    EXPECT_EQ("direct 0:w", k.Facts());
}

TEST(Solve, APointerWithItsBitsInvertedIsUnknown)
{
    Kernel k;
    k.Add(STEP_LOGIC, 2, 4, {P(0), N(0xff)}).table = 0xf0 ^ 0xcc;
    k.Store({R(4)});
    EXPECT_EQ("unknown 5", k.Facts());
}

TEST(Solve, APointerThatIsMixedUpIsUnknown)
{
    Kernel k;
    k.Add(STEP_MIX, 2, 4, {P(0)});
    k.Store({R(4)});
    EXPECT_EQ("unknown 5", k.Facts());
}

TEST(Solve, HalvesApart)
{
    Kernel k;
    k.Add(STEP_MOVE, 1, 4, {P(0)});
    k.Add(STEP_MOVE, 1, 5, {P(12)});
    k.Store({R(4)});
    EXPECT_EQ("direct 0/12:w", k.Facts());
}

/* The low word of a whole pointer is not the other half of a lone high word. */
TEST(Solve, HalvesApartBesideAPointer)
{
    Kernel k;
    k.Add(STEP_MOVE, 1, 4, {P(0)});
    k.Add(STEP_MOVE, 1, 5, {P(12)});
    k.Add(STEP_SUM, 2, 6, {R(4), P(16)});
    k.Store({R(6)});
    EXPECT_EQ("direct 0/12+16:w", k.Facts());
}

TEST(Solve, HalvesTheOtherWayRound)
{
    Kernel k;
    k.Add(STEP_MOVE, 1, 4, {P(4)});
    k.Add(STEP_MOVE, 1, 5, {P(0)});
    k.Store({R(4)});
    EXPECT_EQ("direct 4/0:w", k.Facts());
}

TEST(Solve, TheLowWordOfAnother)
{
    Kernel k;
    k.Add(STEP_MIX, 1, 4, {Other()});
    k.Add(STEP_MOVE, 1, 5, {P(4)});
    k.Store({R(4)});
    EXPECT_EQ("unknown 5", k.Facts());
}

TEST(Solve, NeverGivenAValue)
{
    Kernel k;
    k.Store({R(40)});
    EXPECT_EQ("unknown 5", k.Facts());
}

TEST(Solve, ANumberAsAnAddressIsUnknownUnlessItIsSmall)
{
    Kernel k;
    k.Store({N(0)});
    k.Store({N(1 << 20)});
    EXPECT_EQ("unknown 5", k.Facts());
    Kernel other;
    other.Store({N(16)});
    EXPECT_EQ("direct", other.Facts());
}

/* A number that is one of two is none that is known: whichever comes first. */
TEST(Solve, OneOfTwoNumbers)
{
    for (int first : {0, 1}) {
        const int64_t near[] = {16, 1 << 20}, times[] = {1, 3};
        Kernel null;
        null.Add(STEP_MOVE, 2, 4, {N(near[first])});
        null.Branch(3, true);
        null.Add(STEP_MOVE, 2, 4, {N(near[!first])});
        null.Store({R(4)});
        EXPECT_EQ("unknown 5", null.Facts());
        Kernel product;
        product.Add(STEP_MOVE, 2, 6, {N(times[first])});
        product.Branch(3, true);
        product.Add(STEP_MOVE, 2, 6, {N(times[!first])});
        product.Add(STEP_PRODUCT, 2, 4, {P(0), R(6), P(8)});
        product.Store({R(4)});
        EXPECT_EQ(product.Facts(), "direct 8:w");
        Kernel stack;
        stack.Add(STEP_MOVE, 1, 1, {Stack(first ? 0 : 64)});
        stack.Branch(3, true);
        stack.Add(STEP_MOVE, 1, 1, {Stack(first ? 64 : 0)});
        stack.Access(STEP_STORE, SPACE_LOCAL, 2, -1, {R(1)}, {P(8)});
        stack.Add(STEP_MOVE, 1, 2, {Stack(first ? 0 : 64)});
        stack.Access(STEP_LOAD, SPACE_LOCAL, 2, 4, {R(2)});
        stack.Store({R(4)});
        stack.Add(STEP_MOVE, 1, 3, {Stack(first ? 64 : 0)});
        stack.Access(STEP_LOAD, SPACE_LOCAL, 2, 6, {R(3)});
        stack.Load(8, {R(6)}, 1);
        EXPECT_EQ("direct 8:rw", stack.Facts());
    }
}

TEST(Solve, TimesOneIsItself)
{
    Kernel k;
    k.Add(STEP_PRODUCT, 2, 4, {P(0), N(1), P(8)});
    k.Store({R(4)});
    EXPECT_EQ("direct 0+8:w", k.Facts());
    Kernel none;
    none.Add(STEP_PRODUCT, 2, 4, {P(0), N(0), P(8)});
    none.Store({R(4)});
    EXPECT_EQ("direct 8:w", none.Facts());
}

TEST(Solve, VariablesOfTheModuleAreBases)
{
    Kernel k;
    uint16_t plain = k.Name("counter"), pointer = k.Name("pointer"), constant = k.Name("table", true);
    k.Access(STEP_ATOMIC, SPACE_GLOBAL, 1, -1, {Variable(plain)}, {N(1)});
    k.Load(4, {Variable(pointer)});
    k.Store({R(4)});
    k.Store({Bank(constant, 0)});
    k.Add(STEP_FLOAT, 1, 10, {Bank(constant, 16)});
    EXPECT_EQ("indirect v(counter):rwa v(pointer):r>w c(table):r>w", k.Facts());
}

/* The upper half of a word that lies anywhere in a constant variable, the lower one from elsewhere: both are ways in. */
TEST(Solve, AConstantsUpperHalfAlone)
{
    Kernel k;
    uint16_t constant = k.Name("table", true);
    operand anywhere = Bank(constant, 4);
    anywhere.number = 20;
    k.Add(STEP_MIX, 1, 20, {Other()});
    k.Load(8, {P(8)}, 1);
    k.Add(STEP_MOVE, 1, 4, {R(8)});
    k.Add(STEP_MOVE, 2, 10, {anywhere});
    k.Add(STEP_MOVE, 1, 5, {R(11)});
    k.Add(STEP_JOIN, 2, 4, {R(4), P(0)});
    k.Store({R(4)});
    EXPECT_EQ("indirect 8:r>w c(table):r>w 0:w", k.Facts());
}

TEST(Solve, AConstantThatIsOnlyANumber)
{
    Kernel k;
    uint16_t constant = k.Name("factor", true);
    k.Add(STEP_PRODUCT, 2, 4, {Other(), Bank(constant, 0), P(0)}).wide = 1;
    k.Store({R(4)});
    EXPECT_EQ("direct 0:w c(factor):r", k.Facts());
}

TEST(Solve, ThroughTheStack)
{
    Kernel k;
    k.Add(STEP_MOVE, 1, 1, {Stack(0)});
    k.Add(STEP_SUM, 1, 1, {R(1), N(-16)});
    k.Access(STEP_STORE, SPACE_LOCAL, 2, -1, {R(1), N(8)}, {P(0)});
    k.Access(STEP_STORE, SPACE_LOCAL, 2, -1, {R(1)}, {P(8)});
    k.Access(STEP_LOAD, SPACE_LOCAL, 2, 4, {R(1), N(8)});
    k.Store({R(4)});
    EXPECT_EQ("direct 0:w", k.Facts());
}

TEST(Solve, ThroughTheStackAnywhere)
{
    Kernel k;
    k.Add(STEP_MOVE, 1, 2, {Stack(0)});
    k.Access(STEP_STORE, SPACE_LOCAL, 2, -1, {R(2)}, {P(0)});
    k.Add(STEP_SUM, 1, 3, {R(2), Scaled(Other())});
    k.Access(STEP_LOAD, SPACE_LOCAL, 2, 4, {R(3)});
    k.Store({R(4)});
    EXPECT_EQ("direct 0:w", k.Facts());
}

TEST(Solve, ThroughSharedMemory)
{
    Kernel k;
    k.Access(STEP_STORE, SPACE_SHARED, 2, -1, {OneWord(N(0))}, {P(0)});
    k.Access(STEP_STORE, SPACE_SHARED, 2, -1, {OneWord(N(8))}, {P(8)});
    k.Access(STEP_LOAD, SPACE_SHARED, 2, 4, {OneWord(Other())});
    k.Store({R(4)});
    EXPECT_EQ("direct 0:w 8:w", k.Facts());
}

TEST(Solve, ThroughSharedMemoryWordByWord)
{
    Kernel k;
    k.Access(STEP_STORE, SPACE_SHARED, 1, -1, {OneWord(N(0))}, {P(0)});
    k.Access(STEP_STORE, SPACE_SHARED, 1, -1, {OneWord(N(4))}, {P(4)});
    k.Access(STEP_LOAD, SPACE_SHARED, 1, 4, {OneWord(N(0))});
    k.Access(STEP_LOAD, SPACE_SHARED, 1, 5, {OneWord(N(4))});
    k.Store({R(4)});
    EXPECT_EQ("direct 0:w", k.Facts());
}

TEST(Solve, StagedPointers)
{
    Kernel k;
    k.Access(STEP_STAGE, SPACE_GLOBAL, 2, -1, {P(0)}).use = CODE_READ;
    k.Access(STEP_LOAD, SPACE_SHARED, 2, 4, {OneWord(N(0))});
    k.Store({R(4)});
    EXPECT_EQ("indirect 0:r>w", k.Facts());
}

TEST(Solve, GenericMayBeItsOwn)
{
    Kernel k;
    k.Add(STEP_MOVE, 1, 2, {Stack(0)});
    k.Access(STEP_STORE, SPACE_LOCAL, 2, -1, {R(2)}, {P(0)});
    k.Add(STEP_SUM, 1, 4, {R(2), Other()});
    k.Add(STEP_MOVE, 1, 5, {Other()});
    k.Access(STEP_LOAD, SPACE_GENERIC, 2, 6, {R(4)});
    k.Store({R(6)});
    EXPECT_EQ("direct 0:w", k.Facts());
}

TEST(Solve, AnyWordOfTheParameters)
{
    Kernel k;
    operand indexed = P(8);
    indexed.number = 20;
    k.Add(STEP_MIX, 1, 20, {Other()});
    k.Add(STEP_MOVE, 2, 4, {indexed});
    k.Store({R(4)});
    EXPECT_EQ("direct [0,64):w", k.Facts());
}

TEST(Solve, AKnownPlaceOfTheParameters)
{
    Kernel k;
    operand indexed = P(8);
    indexed.number = 20;
    k.Add(STEP_MOVE, 1, 20, {N(16)});
    k.Add(STEP_MOVE, 2, 4, {indexed});
    k.Store({R(4)});
    EXPECT_EQ("direct 24:w", k.Facts());
}

TEST(Solve, TheAddressOfTheParameters)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {{OPERAND_PARAMETERS_AT, 0, 0, 0, NO_REGISTER, 0, 0}});
    k.Access(STEP_LOAD, SPACE_GENERIC, 2, 6, {R(4)});
    k.Store({R(6)});
    k.Load(8, {R(6)});
    k.Store({R(8)});
    EXPECT_EQ("indirect [0,64):rw>w", k.Facts());
}

TEST(Solve, StepsUnderOppositeGuardsAreKeptApart)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {Other()});
    k.Add(STEP_MOVE, 2, 4, {P(0)}).guard = 1;
    step &other = k.Add(STEP_MOVE, 2, 4, {P(8)});
    other.guard = 1;
    other.guard_negated = 1;
    k.Load(6, {R(4)}, 1).guard = 1;
    step &store = k.Store({R(4)});
    store.guard = 1;
    store.guard_negated = 1;
    EXPECT_EQ("direct 0:r 8:w", k.Facts());
}

TEST(Solve, AGuardThatChanges)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {P(8)});
    k.Add(STEP_MOVE, 2, 4, {P(0)}).guard = 1;
    k.Add(STEP_NONE, 0, -1, {}).sets[0] = 1;
    k.Store({R(4)}).guard = 1;
    EXPECT_EQ("direct 8:w 0:w", k.Facts());
}

TEST(Solve, GuardsHoldFromBlockToBlock)
{
    Kernel k;
    k.Load(4, {P(8)}); // what the registers were left with
    k.Add(STEP_MOVE, 2, 4, {P(0)}).guard = 1;
    k.Branch(4, true);
    k.Load(8, {P(8)}, 1);
    k.Load(10, {R(4)}, 1).guard = 1;
    EXPECT_EQ("direct 8:r 0:r", k.Facts());
}

TEST(Solve, AGuardThatOneWayDoesNotKnow)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {P(16)});
    k.Branch(3, true);
    k.Add(STEP_MOVE, 2, 4, {P(0)}).guard = 1;
    k.Load(10, {R(4)}, 1).guard = 1;
    EXPECT_EQ("direct 16:r 0:r", k.Facts());
}

TEST(Solve, AGuardThatChangesOnOneWay)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {P(16)});
    k.Add(STEP_MOVE, 2, 4, {P(0)}).guard = 1;
    k.Branch(4, true);
    k.Add(STEP_NONE, 0, -1, {}).sets[0] = 1;
    k.Load(10, {R(4)}, 1).guard = 1;
    EXPECT_EQ("direct 16:r 0:r", k.Facts());
}

TEST(Solve, ABranchUnderAGuard)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {P(16)});
    k.Add(STEP_MOVE, 2, 4, {P(0)}).guard = 1;
    k.Branch(5).guard = 1;
    k.Load(10, {R(4)}, 1);
    k.Add(STEP_EXIT, 0, -1, {});
    k.Store({R(4)});
    EXPECT_EQ("direct 16:r 0:w", k.Facts());
}

/* By a condition besides its guard: where it goes on, the guard may hold or not. */
TEST(Solve, ABranchThatMayGoOnUnderAGuard)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {P(16)});
    k.Add(STEP_MOVE, 2, 4, {P(0)}).guard = 1;
    k.Branch(5, true).guard = 1;
    k.Load(10, {R(4)}, 1);
    k.Add(STEP_EXIT, 0, -1, {});
    k.Add(STEP_EXIT, 0, -1, {});
    EXPECT_EQ("direct 16:r 0:r", k.Facts());
}

TEST(Solve, BehindAnExitUnderAGuard)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {P(16)});
    k.Add(STEP_MOVE, 2, 4, {P(0)}).guard = 1;
    k.Add(STEP_EXIT, 0, -1, {}).guard = 1;
    k.Store({R(4)});
    EXPECT_EQ("direct 16:w", k.Facts());
}

TEST(Solve, GuardsDoNotReachIntoCalls)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {P(16)});
    k.Add(STEP_MOVE, 2, 4, {P(0)}).guard = 1;
    uint32_t call = k.Here();
    k.Add(STEP_CALL, 0, -1, {});
    k.Store({R(4)}).guard = 1;
    k.Add(STEP_EXIT, 0, -1, {});
    k.Function(1);
    k.Form().step[call].target = k.Here();
    k.Load(10, {R(4)}, 1).guard = 1;
    k.Add(STEP_RETURN, 0, -1, {});
    std::string facts = k.Facts();
    EXPECT_TRUE(facts == "direct 0:rw 16:rw" || facts == "direct 16:rw 0:rw") << facts;
}

TEST(Solve, NumbersAddedUpInALoopEnd)
{
    Kernel k;
    for (uint16_t i = 0; i < 40; i++)
        k.Load(static_cast<int>(20 + i), {P(0), N(4 * i)}, 1);
    uint32_t loop = k.Here();
    for (uint16_t i = 0; i < 40; i++)
        k.Add(STEP_SUM, 1, 8, {R(8), R(static_cast<uint16_t>(20 + i))});
    k.Access(STEP_STORE, SPACE_SHARED, 1, -1, {OneWord(N(0))}, {R(8)});
    k.Access(STEP_LOAD, SPACE_SHARED, 1, 9, {OneWord(N(0))});
    k.Add(STEP_SUM, 1, 8, {R(8), R(9)});
    k.Branch(loop, true);
    k.Store({P(8)});
    EXPECT_EQ("direct 0:r 8:w", k.Facts());
}

TEST(Solve, CalledFromTwoPlaces)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {P(0)});
    k.Add(STEP_MOVE, 2, 10, {P(8)});
    uint32_t first = k.Here();
    k.Add(STEP_CALL, 0, -1, {});
    k.Store({R(10)});
    k.Add(STEP_MOVE, 2, 4, {P(16)});
    uint32_t second = k.Here();
    k.Add(STEP_CALL, 0, -1, {});
    k.Store({R(6)}, Other());
    k.Add(STEP_EXIT, 0, -1, {});
    k.Function(1);
    uint32_t function = k.Here();
    k.Load(8, {R(4)}, 1);
    k.Add(STEP_MOVE, 2, 6, {R(4)});
    k.Add(STEP_RETURN, 0, -1, {});
    k.Form().step[first].target = k.Form().step[second].target = function;
    EXPECT_EQ("direct 8:w 0:rw 16:rw", k.Facts());
}

TEST(Solve, ACallKeepsWhatItDoesNotChange)
{
    Kernel k;
    k.Form().stack_register = 1;
    k.Add(STEP_MOVE, 1, 1, {Stack(0)});
    k.Access(STEP_STORE, SPACE_LOCAL, 2, -1, {R(1), N(-8)}, {P(0)});
    uint32_t call = k.Here();
    k.Add(STEP_CALL, 0, -1, {});
    k.Access(STEP_LOAD, SPACE_LOCAL, 2, 4, {R(1), N(-8)});
    k.Store({R(4)});
    k.Add(STEP_EXIT, 0, -1, {});
    k.Function(1);
    k.Form().step[call].target = k.Here();
    k.Add(STEP_SUM, 1, 1, {R(1), N(-32)});
    k.Add(STEP_RETURN, 0, -1, {});
    EXPECT_EQ("direct 0:w", k.Facts());
}

TEST(Solve, WhatACallForgetsIsUnknown)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {P(0)});
    k.Add(STEP_FORGET, 16, 0, {});
    k.Store({R(4)});
    EXPECT_EQ("unknown 5", k.Facts());
}

TEST(Solve, TheDevicesHeapIsItsOwnMemory)
{
    Kernel k;
    k.Add(STEP_MOVE, 2, 4, {{OPERAND_HEAP, 0, 0, 0, NO_REGISTER, 0, 0}});
    k.Store({R(4)});
    EXPECT_EQ("unknown 6", k.Facts());
}

TEST(Solve, TexturesAreHandlesInParameters)
{
    Kernel k;
    k.Add(STEP_TEXTURE, 4, 4, {P(24)}).use = CODE_READ;
    k.Add(STEP_TEXTURE, 0, -1, {P(32)}).use = CODE_WRITE;
    EXPECT_EQ("direct t24:r t32:w", k.Facts());
    Kernel loaded;
    loaded.Load(4, {P(0)});
    loaded.Add(STEP_TEXTURE, 4, 8, {R(4)}).use = CODE_READ;
    EXPECT_EQ("unknown 9", loaded.Facts());
}

TEST(Solve, TensorMapsLieInParameters)
{
    Kernel k;
    step &made = k.Access(STEP_TENSOR, SPACE_GENERIC, 0, -1, {{OPERAND_PARAMETERS_AT, 0, 0, 0, NO_REGISTER, 0, 0}});
    made.use = CODE_READ;
    EXPECT_EQ("direct tensor", k.Facts());
    Kernel other;
    other.Access(STEP_TENSOR, SPACE_GENERIC, 0, -1, {P(0)}).use = CODE_READ;
    EXPECT_EQ("unknown 9", other.Facts());
}

TEST(Solve, NarrowWordsAreNoPointers)
{
    Kernel k;
    k.Load(4, {P(0)}).narrow = 1;
    k.Store({R(4)});
    EXPECT_EQ("unknown 5", k.Facts());
}

TEST(Solve, BehindTheEnd)
{
    Kernel k;
    k.Store({P(0)});
    k.Branch(1000);
    EXPECT_EQ("unknown 8", k.Facts());
}

TEST(Solve, StepsThatNoBranchReachesDoNothing)
{
    Kernel k;
    k.Branch(2);
    k.Store({P(0)});
    k.Store({P(8)});
    EXPECT_EQ("direct 8:w", k.Facts());
}

TEST(Solve, MorePointersThanAreTold)
{
    Kernel k;
    k.Form().facts->parameter_bytes = 4096;
    for (int i = 0; i < CODE_BASES; i++)
        k.Store({P(8 * i)});
    EXPECT_EQ(0u, k.Facts().find("direct"));
    Kernel more;
    for (int i = 0; i <= CODE_BASES; i++)
        more.Store({P(8 * i)});
    EXPECT_EQ("unknown 11", more.Facts());
}

} // namespace
