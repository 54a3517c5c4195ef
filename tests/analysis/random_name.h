/* SPDX-License-Identifier: Apache-2.0
 *
 * Random kernels' names, mangled as compilers do it, with what each parameter is: "w" pointer, "r" pointer to const, "p"
 * pointer to pointer, "." other.
 */
#ifndef PTDS_TESTS_ANALYSIS_RANDOM_NAME_H
#define PTDS_TESTS_ANALYSIS_RANDOM_NAME_H

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/analysis/random_choice.h"

namespace ptds
{

class RandomName : private RandomChoice
{
public:
    explicit RandomName(uint32_t seed) : RandomChoice(seed)
    {
        static const char *const scopes[] = {"", "2ns", "12_GLOBAL__N_1"};
        const std::string scope = scopes[Pick(3)], own = Pick(4) == 0 && scope.empty() ? "L4kern" : "4kern";
        const bool is_template = own[0] != 'L' && Pick(2) == 0;
        std::string arguments;
        mangled = "_Z";
        if (!scope.empty())
            mangled += "N" + Again(scope, scope);
        mangled += own;
        if (is_template) {
            Remember(scope + own);
            for (size_t i = 1 + Pick(3); i-- > 0;)
                arguments += Argument();
            usable_ = arguments_;
            mangled += "I" + arguments + "E";
        }
        mangled += scope.empty() ? "" : "E";
        mangled += is_template ? "v" : "";
        const bool many = Pick(8) == 0;
        for (size_t i = many ? 16 : 1 + Pick(6); i-- > 0;) {
            Type type = Any(many ? 5 : 3);
            if (type.text[0] == 'K' || type.text[0] == 'V') /* of a parameter itself a name says nothing */
                type = Pointer(type);
            mangled += Mangle(type);
            kinds += !type.pointer ? '.' : type.deep ? 'p' : type.to_const ? 'r' : 'w';
        }
        remembered = seen_.size();
    }

    std::string mangled, kinds;
    size_t remembered = 0; /* what later parts may refer to */

private:
    /* `text`: without references, which names it. `parts`: how it is put together. */
    struct Type {
        std::string text, begin;     /* what stands before `of`, or all of it */
        std::shared_ptr<Type> of;    /* what is pointed to, qualified, an element */
        std::string scope, name;     /* of a class */
        std::vector<Type> arguments; /* of a class's template */
        bool builtin = false;
        bool is_const = false, pointer = false, to_const = false, deep = false;
    };

    void Remember(const std::string &text)
    {
        seen_.emplace(text, seen_.size());
    }

    /* A reference to it, or else what it is, and from now on there is one. */
    std::string Again(const std::string &text, const std::string &written)
    {
        auto found = seen_.find(text);
        if (found == seen_.end()) {
            Remember(text);
            return written;
        }
        static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        const size_t number = found->second; /* S_, S0_, ... SZ_, S10_, ... */
        std::string said;
        if (number > 36)
            said += digits[(number - 1) / 36];
        if (number > 0)
            said += digits[(number - 1) % 36];
        return "S" + said + "_";
    }

    Type Builtin()
    {
        static const char *const names[] = {"f", "d", "i", "j", "h", "m", "x", "b", "c",  "a", "s",
                                            "t", "l", "y", "n", "o", "e", "g", "w", "Dh", "Dn"};
        Type type;
        type.text = names[Pick(21)];
        type.builtin = true;
        return type;
    }

    Type Class(unsigned depth)
    {
        static const char *const scopes[] = {"", "", "2ns", "St"}, *const names[] = {"6float2", "1S", "6Params"};
        Type type;
        type.scope = scopes[Pick(4)];
        type.name = names[Pick(3)];
        if (depth > 0 && Pick(3) == 0)
            type.arguments.push_back(Any(depth - 1));
        type.text = type.scope + type.name;
        if (!type.arguments.empty())
            type.text += "I" + type.arguments[0].text + "E";
        return type;
    }

    Type Of(const std::string &begin, const Type &inner)
    {
        Type type;
        type.begin = begin;
        type.of = std::make_shared<Type>(inner);
        type.text = begin + inner.text;
        type.is_const = inner.is_const;
        type.pointer = inner.pointer;
        type.to_const = inner.to_const;
        type.deep = inner.deep;
        return type;
    }

    Type Pointer(const Type &inner)
    {
        Type type = Of("P", inner);
        type.is_const = false;
        type.pointer = true;
        type.to_const = inner.is_const;
        type.deep = inner.pointer || inner.deep;
        return type;
    }

    Type Any(unsigned depth)
    {
        size_t what = depth == 0 ? Pick(2) : Pick(8);
        if (what == 0)
            return Builtin();
        if (what == 1)
            return !usable_.empty() && Pick(2) == 0 ? usable_[Pick(usable_.size())] : Class(depth);
        if (what == 2)
            return Pointer(Of("A" + std::to_string(1 + Pick(20)) + "_", Plain(depth - 1)));
        if (what < 5)
            return Pointer(Any(depth - 1));
        const std::string qualifiers[] = {"K", "K", "V", "VK"};
        const std::string &one = qualifiers[Pick(4)];
        Type type = Of(one, Plain(depth - 1));
        type.is_const |= one.back() == 'K';
        return Pointer(type);
    }

    /* Nothing that is qualified by itself: not twice, and an array's elements are. */
    Type Plain(unsigned depth)
    {
        Type type = Any(depth);
        return type.is_const ? Builtin() : type;
    }

    std::string Argument()
    {
        static const char *const literals[] = {"Li4E", "Lin12E", "Lb1E", "Lm0E"};
        if (!arguments_.empty() && Pick(3) == 0) {
            count_++; /* a value is an argument as well */
            return literals[Pick(4)];
        }
        Type type = Any(2);
        if (!type.pointer && Pick(3) == 0) {
            Type is_const = Of("K", type);
            is_const.is_const = true;
            type = is_const;
        }
        std::string written = Mangle(type);
        Type reference = type; /* T_, T0_, ...: what it stands for, by another name */
        reference.text = reference.begin = "T" + (count_ == 0 ? "" : std::to_string(count_ - 1)) + "_";
        reference.of = nullptr;
        reference.builtin = false;
        reference.arguments.clear();
        reference.scope = reference.name = "";
        arguments_.push_back(reference);
        count_++;
        return written;
    }

    std::string MangleClass(const Type &type)
    {
        if (seen_.count(type.text) != 0)
            return Again(type.text, "");
        const bool nested = type.scope == "2ns";
        std::string written = nested ? "N" : "", whole = type.scope + type.name;
        if (!type.arguments.empty() && seen_.count(whole) != 0) {
            written += Again(whole, "");
        } else {
            written += (nested ? Again(type.scope, type.scope) : type.scope) + type.name;
            Remember(whole);
        }
        if (!type.arguments.empty()) {
            written += "I" + Mangle(type.arguments[0]) + "E";
            Remember(type.text);
        }
        return written + (nested ? "E" : "");
    }

    std::string Mangle(const Type &type)
    {
        if (type.builtin)
            return type.text;
        if (!type.name.empty())
            return MangleClass(type);
        if (seen_.count(type.text) != 0)
            return Again(type.text, "");
        std::string written = type.begin + (type.of != nullptr ? Mangle(*type.of) : "");
        Remember(type.text);
        return written;
    }

    std::map<std::string, size_t> seen_;
    std::vector<Type> arguments_, usable_; /* usable: once all of them are known */
    size_t count_ = 0;
};

} // namespace ptds

#endif
