// SPDX-License-Identifier: Apache-2.0
//
// The random kernels of extents_random_test. Registers %r1 to %r12 and %rd1 to %rd8 are variables that any statement may
// change; what only one statement uses has numbers from 20 on.

#include "tests/code/extents_random.h"

namespace
{
class Drawing
{
public:
    explicit Drawing(unsigned seed) : random_(seed)
    {
        kernel_.seed = seed;
    }
    RandomKernel Draw()
    {
        DrawLaunch();
        Begin();
        for (unsigned i = 0, count = 2 + Any(4); i < count; i++)
            Statement(0);
        Access();
        End();
        return kernel_;
    }

private:
    unsigned Any(unsigned below)
    {
        return static_cast<unsigned>(random_() % below);
    }
    std::string Variable()
    {
        return "%r" + std::to_string(1 + Any(kVariables));
    }
    std::string Wide()
    {
        return "%rd" + std::to_string(1 + Any(kWides));
    }
    std::string Predicate()
    {
        return "%p" + std::to_string(1 + Any(4));
    }
    std::string Scratch()
    {
        return "%r" + std::to_string(scratch_++);
    }
    std::string WideScratch()
    {
        return "%rd" + std::to_string(scratch_++);
    }
    std::string Label()
    {
        return "L" + std::to_string(labels_++);
    }
    void Say(const std::string &line)
    {
        body_ += line + "\n";
    }
    std::string Number()
    {
        static const char *const numbers[] = {
            "0",          "1",  "2",  "3",   "4",    "7", "16", "100", "255",        "4096",       "65535",
            "2147483647", "-1", "-2", "-16", "-100", "8", "32", "12",  "1073741824", "4294967295", "2147483648"};
        return numbers[Any(Any(3) ? 8 : sizeof numbers / sizeof *numbers)];
    }
    std::string Operand()
    {
        static const char *const sizes[] = {"%tid.x", "%tid.y", "%ctaid.x", "%ctaid.y", "%ntid.x", "%nctaid.x"};
        unsigned what = Any(10);
        if (what < 6)
            return Variable();
        if (what < 8)
            return Number();
        std::string made = Scratch();
        Say("mov.u32 " + made + ", " + sizes[Any(6)] + ";");
        return made;
    }
    std::string Type()
    {
        return Any(2) ? ".s32" : ".u32";
    }

    void DrawLaunch()
    {
        static const uint32_t numbers[] = {0,    1,          5,          8,          16,         17,      100,
                                           1000, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0, 1u << 30};
        kernel_.pointer = 0x700000000000 + Any(1000) * 256u;
        kernel_.n = numbers[Any(Any(4) ? 8 : 13)];
        kernel_.m = numbers[Any(Any(4) ? 8 : 13)];
        kernel_.w = Any(3) ? numbers[Any(8)] : Any(2) ? ~UINT64_C(0) - Any(100) : uint64_t{numbers[Any(13)]} << Any(33);
        for (unsigned i = 0; i < 3; i++) {
            kernel_.threads[i] = i == 2 ? 1 : i == 1 ? 1 + Any(3) : 1 + Any(9);
            kernel_.blocks[i] = i == 2 ? 1 : i == 1 ? 1 + Any(2) : 1 + Any(5);
        }
    }

    void Begin()
    {
        Say("ld.param.u64 %rd9, [a];\nld.param.u32 %r13, [n];\nld.param.u32 %r14, [m];\nld.param.u64 %rd10, [w];");
        Say("ld.param.u64 %rd11, [log];\nld.global.u32 %r15, [%rd11+8];\nsetp.ne.u32 %p7, %r15, 0;");
        Say("add.u32 %r16, %r15, 300;"); // so many steps of loops
        if (Any(3))
            Say("cvta.to.global.u64 %rd9, %rd9;");
        for (unsigned i = 1; i <= kVariables; i++)
            First("%r" + std::to_string(i), i);
        for (unsigned i = 1; i <= kWides; i++)
            Say((Any(2) ? "cvt.s64.s32 %rd" : "cvt.u64.u32 %rd") + std::to_string(i) + ", " + Variable() + ";");
        for (unsigned i = 1; i <= 4; i++)
            Compare("%p" + std::to_string(i));
    }
    void First(const std::string &to, unsigned i)
    {
        if (i == 1 || i == 2)
            return Say("mov.u32 " + Scratch() + ", %ctaid." + (i == 1 ? "x" : "y") + ";\nmov.u32 " + Scratch() +
                       ", %ntid." + (i == 1 ? "x" : "y") + ";\nmov.u32 " + Scratch() + ", %tid." + (i == 1 ? "x" : "y") +
                       ";\nmad.lo.s32 " + to + ", %r" + std::to_string(scratch_ - 3) + ", %r" +
                       std::to_string(scratch_ - 2) + ", %r" + std::to_string(scratch_ - 1) + ";");
        if (i == 3)
            return Say("mov.u32 %r3, %r13;");
        if (i == 4)
            return Say("mov.u32 %r4, %r14;");
        Say("mov.u32 " + to + ", " + Number() + ";");
    }
    void End()
    {
        Say("DONE:\nret;");
        kernel_.text = ".version 7.7\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 a, .param .u32 n, "
                       ".param .u32 m, .param .u64 w, .param .u64 log)\n{\n.reg .pred %p<" +
                       std::to_string(8 + scratch_) + ">;\n.reg .b32 %r<" + std::to_string(scratch_ + 1) +
                       ">;\n.reg .b64 %rd<" + std::to_string(scratch_ + 1) + ">;\n" + body_ + "}\n";
    }

    void Compare(const std::string &to)
    {
        static const char *const relations[] = {"lt", "le", "gt", "ge", "eq", "ne"};
        std::string relation = relations[Any(Any(3) ? 4 : 6)];
        std::string both = Any(5) ? "" : Any(2) ? ".and" : ".or", other = both.empty() ? "" : ", " + Predicate();
        if (!both.empty() && Any(2))
            other = ", !" + Predicate();
        if (Any(5))
            Say("setp." + relation + both + Type() + " " + to + ", " + Variable() + ", " + Operand() + other + ";");
        else
            Say("setp." + relation + both + (Any(2) ? ".s64 " : ".u64 ") + to + ", " + Wide() + ", " +
                (Any(2)   ? Wide()
                 : Any(2) ? Number()
                          : "%rd10") +
                other + ";");
    }
    void Compute(const std::string &to)
    {
        static const char *const two[] = {"add", "sub", "min", "max", "mul.lo", "add", "add"};
        static const char *const by[] = {"div", "rem", "shl", "shr", "and", "or"};
        unsigned kind = Any(10), shift = Any(6);
        if (kind < 5)
            return Say(std::string(two[Any(7)]) + Type() + " " + to + ", " + Variable() + ", " + Operand() + ";");
        if (kind < 6)
            return Say("mad.lo" + Type() + " " + to + ", " + Variable() + ", " + Operand() + ", " + Variable() + ";");
        if (kind < 7)
            return Say("selp.b32 " + to + ", " + Variable() + ", " + Variable() + ", " + Predicate() + ";");
        if (kind < 8)
            return Say(Any(2) ? "neg.s32 " + to + ", " + Variable() + ";" : "cvt.u32.u64 " + to + ", " + Wide() + ";");
        std::string name = by[shift], type = shift == 2 || shift > 3 ? ".b32" : Type();
        std::string number = shift < 2 ? std::to_string(1 + Any(9)) : shift < 4 ? std::to_string(Any(9)) : Number();
        Say(name + type + " " + to + ", " + Variable() + ", " + number + ";");
    }
    void ComputeWide(const std::string &to)
    {
        static const char *const two[] = {"add.s64", "sub.s64", "mul.lo.s64", "min.s64", "max.u64", "min.u64"};
        switch (Any(7)) {
        case 0: return Say("cvt.s64.s32 " + to + ", " + Variable() + ";");
        case 1: return Say("cvt.u64.u32 " + to + ", " + Variable() + ";");
        case 2: return Say((Any(2) ? "mul.wide.s32 " : "mul.wide.u32 ") + to + ", " + Variable() + ", " + Operand() + ";");
        case 3: return Say("mad.wide.s32 " + to + ", " + Variable() + ", " + Operand() + ", " + Wide() + ";");
        case 4:
            return Say((Any(2)   ? "shl.b64 "
                        : Any(2) ? "shr.s64 "
                                 : "shr.u64 ") +
                       to + ", " + Wide() + ", " + std::to_string(Any(5)) + ";");
        case 5: return Say("mov.u64 " + to + ", %rd10;");
        default: return Say(std::string(two[Any(6)]) + " " + to + ", " + Wide() + ", " + Wide() + ";");
        }
    }
    void Predicates()
    {
        unsigned kind = Any(4);
        std::string to = Predicate();
        if (kind == 0)
            Say("not.pred " + to + ", " + Predicate() + ";");
        else if (kind == 1)
            Say("mov.pred " + to + ", " + Predicate() + ";");
        else
            Say((kind == 2 ? "and.pred " : "or.pred ") + to + ", " + Predicate() + ", " + Predicate() + ";");
    }

    // The address is written down, and then accessed in the text alone.
    void Access()
    {
        static const int sizes[] = {1, 2, 4, 8, 16};
        std::string offset = WideScratch(), address = WideScratch(), slot = Scratch(), at = WideScratch(), p = "%p6";
        unsigned size = Any(5), site = static_cast<unsigned>(kernel_.accesses.size());
        if (Any(4))
            Say((Any(3) ? "mul.wide.s32 " : "mul.wide.u32 ") + offset + ", " + Variable() + ", " +
                std::to_string(sizes[size]) + ";");
        else
            Say("shl.b64 " + offset + ", " + Wide() + ", " + std::to_string(size) + ";");
        Say((Any(2) ? "add.s64 " + address + ", %rd9, " + offset : "add.s64 " + address + ", " + offset + ", %rd9") + ";");
        if (!Any(6))
            Say("add.s64 " + address + ", " + address + ", " + (Any(2) ? "-8" : Wide()) + ";");
        int more = Any(4) ? 0 : static_cast<int>(Any(64)) - 32;
        static const char *const types[] = {".u8", ".u16", ".u32", ".u64", ".v4.u32"};
        std::string place = "[" + address + (more < 0 ? "" : "+") + (more ? std::to_string(more) : "0") + "]";
        std::string into = size < 3 ? Scratch() : size == 3 ? WideScratch() : "{%r17, %r18, %r19, %r17}";
        std::string guard = Guard(site, address, slot, at, p);
        Say("@%p7 bra R" + std::to_string(site) + ";\nbra S" + std::to_string(site) + ";\nR" + std::to_string(site) + ":");
        Say(guard +
            (Any(2) ? std::string("ld.global") + types[size] + " " + into + ", " + place
                    : std::string("st.global") + types[size] + " " + place + ", " + into) +
            ";\nS" + std::to_string(site) + ":");
        kernel_.accesses.push_back({more, sizes[size]});
    }
    // Returns the guard of the access.
    std::string Guard(unsigned site, const std::string &address, const std::string &slot, const std::string &at,
                      const std::string &p)
    {
        std::string guard = Any(4) ? "" : (Any(2) ? "@" : "@!") + Predicate() + " ", skip = Label(), entry = WideScratch();
        if (!guard.empty())
            Say((guard[1] == '!' ? "@" + guard.substr(2) : "@!" + guard.substr(1)) + "bra " + skip + ";");
        Say("atom.global.add.u32 " + slot + ", [%rd11], 1;\nsetp.lt.u32 " + p + ", " + slot + ", 4096;\n@!" + p + " bra " +
            skip + ";\nmul.wide.u32 " + at + ", " + slot + ", 16;\nadd.u64 " + at + ", " + at +
            ", %rd11;\nst.global.u64 [" + at + "+16], " + address + ";\nmov.u64 " + entry + ", " + std::to_string(site) +
            ";\nst.global.u64 [" + at + "+24], " + entry + ";\n" + skip + ":");
        return guard;
    }

    void If(unsigned depth)
    {
        std::string otherwise = Label(), end = Label();
        bool has_else = Any(3) == 0;
        if (Any(2))
            Compare("%p1");
        std::string p = Any(2) ? "%p1" : Predicate();
        Say((Any(2) ? "@" : "@!") + p + " bra " + otherwise + ";");
        Statements(depth + 1);
        if (has_else)
            Say("bra " + end + ";");
        Say(otherwise + ":");
        if (has_else) {
            Statements(depth + 1);
            Say(end + ":");
        }
    }
    // Every loop also ends when the steps are used up, by a number that nobody knows from the text.
    void Loop(unsigned depth)
    {
        std::string begin = Label(), end = Label(), i = Variable(), fuel = "%p5";
        bool test_first = Any(2), down = Any(3) == 0;
        std::string by = Any(2)   ? std::to_string(1 + Any(4))
                         : Any(2) ? Variable()
                                  : "%r13",
                    bound = Any(2) ? "%r14" : Operand();
        std::string test = (std::string("setp.") + (down ? (Any(2) ? "gt" : "ge") : (Any(2) ? "lt" : "le")) + Type()) +
                           " %p2, " + i + ", " + bound + ";";
        if (Any(4))
            Say(Any(2) ? "mov.u32 " + i + ", %r1;" : "mov.u32 " + i + ", " + Operand() + ";");
        if (Any(3) == 0)
            Say(test + "\n@!%p2 bra " + end + ";");
        Say(begin + ":");
        Say("sub.u32 %r16, %r16, 1;\nsetp.lt.s32 " + fuel + ", %r16, 0;\n@" + fuel + " bra DONE;");
        if (test_first)
            Say(test + "\n@!%p2 bra " + end + ";");
        Statements(depth + 1);
        Say((down ? "sub" : "add") + Type() + " " + i + ", " + i + ", " + by + ";");
        Say(test_first ? "bra " + begin + ";" : test + "\n@%p2 bra " + begin + ";");
        Say(end + ":");
    }
    void Statements(unsigned depth)
    {
        for (unsigned i = 0, count = 1 + Any(3); i < count; i++)
            Statement(depth);
    }
    void Statement(unsigned depth)
    {
        unsigned kind = Any(depth < 2 ? 12 : 7);
        switch (kind) {
        case 0: return Compute(Variable());
        case 1: return ComputeWide(Wide());
        case 2: return Predicates();
        case 3: return Compare(Predicate());
        case 4: { // under a guard
            std::string before = body_;
            body_.clear();
            std::string made = Variable();
            Say("@" + Predicate() + " add.s32 " + made + ", " + Variable() + ", " + Number() + ";");
            body_ = before + body_;
            return;
        }
        case 5:
        case 6: return Access();
        case 7:
        case 8:
        case 9: return If(depth);
        default: return Loop(depth);
        }
    }

    static constexpr unsigned kVariables = 8, kWides = 4;
    std::mt19937_64 random_;
    RandomKernel kernel_{};
    std::string body_;
    unsigned scratch_ = 20, labels_ = 0;
};
} // namespace

RandomKernel DrawKernel(unsigned seed)
{
    return Drawing(seed).Draw();
}
