/* SPDX-License-Identifier: Apache-2.0
 *
 * Choices that a seed makes, the same with every compiler.
 */
#ifndef PTDS_TESTS_ANALYSIS_RANDOM_CHOICE_H
#define PTDS_TESTS_ANALYSIS_RANDOM_CHOICE_H

#include <initializer_list>
#include <random>
#include <string>

namespace ptds
{

class RandomChoice
{
protected:
    explicit RandomChoice(uint32_t seed) : random_(seed)
    {
    }

    size_t Pick(size_t below)
    {
        return random_() % below;
    }
    bool Chance(size_t percent)
    {
        return Pick(100) < percent;
    }
    size_t Of(std::initializer_list<size_t> values)
    {
        return values.begin()[Pick(values.size())];
    }
    std::string Of(std::initializer_list<const char *> values)
    {
        return values.begin()[Pick(values.size())];
    }

    /* The words in their order: that of a sum's parts is the compiler's. */
    static std::string Joined(std::initializer_list<std::string> words)
    {
        std::string all;
        for (const std::string &word : words)
            all += word;
        return all;
    }

private:
    std::mt19937 random_;
};

} // namespace ptds

#endif
