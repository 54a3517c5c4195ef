/* SPDX-License-Identifier: Apache-2.0
 *
 * Long texts as a few numbers: of each kind of line (its first word) how many there are, and of each named number in them
 * ("name=7") the sum; what has no name counts as "words". Names, letters and the order of words and numbers count, too, so
 * that hardly a change leaves all sums as they are. Which number changed says what to look for; the text itself is written
 * to the test's outputs as NAME.whole when it differs, and always where PTDS_WHOLE is set
 * (--test_env=PTDS_WHOLE=1): run the test so before and after a change, and compare.
 */
#ifndef PTDS_TESTS_SUPPORT_SUMS_H
#define PTDS_TESTS_SUPPORT_SUMS_H

#include <cstdint>
#include <map>
#include <sstream>
#include <string>

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
            uint64_t place = 0;
            while (words >> word) {
                const size_t equals = word.find('=');
                const bool named = equals != std::string::npos;
                Sum &sum = of.sums[named ? word.substr(0, equals) : "words"];
                sum.times++;
                sum.sum += named ? Value(word.substr(equals)) : ++place * Value(word);
            }
        }
    }

    /* A line a kind of line, and more where it would be too long. */
    std::string Text() const
    {
        std::string text;
        for (const auto &[name, kind] : kinds_) {
            std::string line = name + " lines=" + std::to_string(kind.lines);
            for (const auto &[key, sum] : kind.sums) {
                std::string word = " " + key + "=" + std::to_string(sum.sum);
                if (sum.times != kind.lines)
                    word += "/" + std::to_string(sum.times);
                if (line.size() + word.size() > 150) {
                    text += line + "\n";
                    line = name;
                }
                line += word;
            }
            text += line + "\n";
        }
        return text;
    }

private:
    struct Sum {
        uint64_t times = 0, sum = 0;
    };
    struct Kind {
        uint64_t lines = 0;
        std::map<std::string, Sum> sums;
    };

    /* Each number counts more than the one before it, so that none takes another's place unseen; so does each letter. */
    static uint64_t Value(const std::string &word)
    {
        uint64_t sum = 0, number = 0, weight = 1, letters = 0;
        for (char c : word + " ") {
            if (c >= '0' && c <= '9') {
                number = number * 10 + static_cast<uint64_t>(c - '0');
            } else {
                sum += number * weight++;
                number = 0;
                letters = (letters * 31 + static_cast<unsigned char>(c)) % 997;
            }
        }
        return sum + (word.find_first_not_of("=0123456789") == std::string::npos ? 0 : letters);
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
