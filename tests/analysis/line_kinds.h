/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines that say the same of other things are of one kind: a whole output shows each kind, and the others are single lines.
 */
#ifndef PTDS_TESTS_ANALYSIS_LINE_KINDS_H
#define PTDS_TESTS_ANALYSIS_LINE_KINDS_H

#include <set>
#include <sstream>
#include <string>

namespace ptds
{

/* A line's kind: its words, without numbers, units, places, names (also of rules and policies) and the plural's s. */
inline std::string KindOf(const std::string &line)
{
    static const std::set<std::string> units = {"s", "ms", "us", "ns", "legacy", "guarded", "stream", "and"};
    std::istringstream words(line);
    std::string kind, last;
    for (std::string word; words >> word; last = word) {
        word.erase(word.find_last_not_of(",:;.)") + 1);
        if (word.find_first_of("0123456789_+/\"<>:*-(") == std::string::npos && word.compare(0, 2, "cu") != 0 &&
            last != "kernel" && last != "kernels" && last != "behind" && last != "stream" && units.count(word) == 0)
            kind += word.substr(0, word.find_last_not_of('s') + 1) + " ";
    }
    return kind;
}

} // namespace ptds

#endif
