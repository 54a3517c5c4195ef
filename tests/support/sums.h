/* SPDX-License-Identifier: Apache-2.0
 *
 * Long texts as a few numbers: of each kind of line (its first word) how many there are, and of each named number in them
 * ("name=7") the sum, with how many there are where not each line has one; what has no name counts as "words", by its
 * letters and its place. "order" is a checksum of the lines as they follow each other: two that change places change
 * nothing else. Which number changed says what to look for; the text itself is written to the test's outputs as NAME.whole
 * when it differs, and always where PTDS_WHOLE is set
 * (--test_env=PTDS_WHOLE=1): run the test so before and after a change, and compare.
 */
#ifndef PTDS_TESTS_SUPPORT_SUMS_H
#define PTDS_TESTS_SUPPORT_SUMS_H

#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <utility>

#include "tests/support/expected.h"

namespace ptds
{

class Sums
{
public:
    /* Lines, to which `kind` is put before the first word. */
    void Add(const std::string &text, const std::string &kind = "")
    {
        for (const std::string &line : lines_of(text)) {
            std::istringstream words(line);
            std::string first, word;
            words >> first;
            Kind &of = kinds_[kind + first];
            of.lines++;
            for (unsigned char c : line)
                of.order = (of.order * 31 + c) % 999983;
            uint64_t place = 0;
            while (words >> word) {
                const size_t equals = word.find('=');
                const bool named = equals != std::string::npos;
                Sum &sum = of.sums[named ? word.substr(0, equals) : "words"];
                sum.times++;
                sum.sum += named ? Value(word.substr(equals + 1)) : ++place * Value(word);
            }
        }
    }

    /* At most so many kinds a line, and none begins that would not fit into it. */
    std::string Text(unsigned kinds_a_line = 1) const
    {
        std::string text, line;
        unsigned kinds = 0;
        auto end_line = [&] {
            text += line + (line.empty() ? "" : "\n");
            line.clear();
            kinds = 0;
        };
        for (const auto &[name, kind] : kinds_) {
            std::string all = name + " lines=" + std::to_string(kind.lines) + " order=" + std::to_string(kind.order);
            for (const auto &[key, sum] : kind.sums)
                all += " " + key + "=" + std::to_string(sum.sum) +
                       (sum.times != kind.lines ? "/" + std::to_string(sum.times) : "");
            if (kinds == kinds_a_line || line.size() + all.size() > kWidth)
                end_line();
            for (size_t cut; all.size() > kWidth; all = name + all.substr(cut)) {
                cut = all.rfind(' ', kWidth);
                text += all.substr(0, cut) + "\n";
            }
            line += (line.empty() ? "" : "; ") + all;
            kinds++;
        }
        end_line();
        return text;
    }

private:
    static constexpr size_t kWidth = 150;
    struct Sum {
        uint64_t times = 0, sum = 0;
    };
    struct Kind {
        uint64_t lines = 0, order = 0;
        std::map<std::string, Sum> sums;
    };

    /* A number is itself. In other words each number counts more than the one before it, so that none takes another's place
     * unseen; so do letters. */
    static uint64_t Value(const std::string &word)
    {
        uint64_t sum = 0, number = 0, weight = 0, letters = 0;
        bool in_number = false;
        for (char c : word + " ") {
            const bool digit = c >= '0' && c <= '9';
            number = digit ? number * 10 + static_cast<uint64_t>(c - '0') : number;
            if (in_number && !digit)
                sum += std::exchange(number, 0) * ++weight;
            if (!digit && c != ' ' && c != '/')
                letters = (letters * 31 + static_cast<unsigned char>(c)) % 997;
            in_number = digit;
        }
        return sum + letters;
    }

    std::map<std::string, Kind> kinds_;
};

/* The sums of a text are held against a file; `whole` is that text. */
inline void ExpectSums(const std::string &path, const std::string &sums, const std::string &whole)
{
    const char *outputs = getenv("TEST_UNDECLARED_OUTPUTS_DIR");
    ExpectAllOf(path, sums);
    if (outputs != nullptr && (getenv("PTDS_WHOLE") != nullptr || sums != read_file(path)))
        std::ofstream(outputs + path.substr(path.rfind('/')) + ".whole") << whole;
}

} // namespace ptds

#endif
