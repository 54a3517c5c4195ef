/* SPDX-License-Identifier: Apache-2.0
 *
 * For child programs: the simulated driver's log (SIM_LOG with SIM_LOG_ARGUMENTS) as text that is the same each time. What
 * the program named has that name; other streams are L1, L2, ..., other events E1, E2, ... in the order in which they are
 * first seen. Calls that are alike and follow each other are one, with their number. The question which context is current
 * is left out, since the shim asks it in each call.
 */
#ifndef PTDS_TESTS_ASKED_LOG_H
#define PTDS_TESTS_ASKED_LOG_H

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

class AskedLog
{
public:
    explicit AskedLog(const std::string &path) : file_(path)
    {
    }
    template <class Handle> void name(Handle *handle, const std::string &name)
    {
        names_[reinterpret_cast<uint64_t>(handle)] = name;
    }
    /* A memory. */
    void name(uint64_t at, size_t bytes, const std::string &name)
    {
        for (auto one = memories_.begin(); one != memories_.end();) /* one that was there before */
            one = one->first < at + bytes && at < one->first + one->second.bytes ? memories_.erase(one) : std::next(one);
        memories_[at] = {bytes, name};
    }

    /* A memory's name, a small number, two small ones in the halves of a word, or "?": what may be another in the next run.
     * Memory that comes and goes may have had another's address. */
    std::string word(uint64_t value) const
    {
        const std::string memory = in_memory(value);
        if (memory[0] == 'X' || memory[0] == 'Y')
            return "XY" + memory.substr(1);
        if (!memory.empty())
            return memory;
        const uint64_t low = value & UINT32_MAX, high = value >> 32;
        return low >= 1 << 20 || high >= 1 << 12 ? "?" : (high ? std::to_string(high) + ":" : "") + std::to_string(low);
    }

    /* What was asked since the last time. */
    std::string take()
    {
        std::vector<std::pair<std::string, int>> calls;
        std::string text;
        file_.clear();
        for (std::string line; std::getline(file_, line);) {
            const std::string call = of(line);
            if (call.compare(0, 15, "cuCtxGetCurrent") == 0)
                continue;
            if (calls.empty() || calls.back().first != call)
                calls.push_back({call, 0});
            calls.back().second++;
        }
        for (const auto &[call, times] : calls)
            text += (text.empty() ? "" : " ") + call + (times > 1 ? "x" + std::to_string(times) : "");
        return text;
    }

private:
    struct Memory {
        size_t bytes;
        std::string name;
    };

    /* Its beginning or its half: whatever else lies there has come after it was freed. */
    std::string in_memory(uint64_t value) const
    {
        const auto next = memories_.upper_bound(value);
        if (next == memories_.begin())
            return "";
        const auto &[at, memory] = *std::prev(next);
        if (value != at && value - at != memory.bytes / 2)
            return "";
        return memory.name + (value > at ? "+" + std::to_string(value - at) : "");
    }
    std::string numbered(uint64_t value, const char *kind)
    {
        const auto found = names_.find(value);
        return found != names_.end() ? found->second : names_[value] = kind + std::to_string(++counts_[kind[0]]);
    }
    std::string of(char letter, uint64_t value)
    {
        if (letter == 's')
            return value == 0 ? "0" : value == 1 ? "legacy" : value == 2 ? "0x2" : numbered(value, "L");
        if (letter == 'n' || value == 0)
            return std::to_string(value);
        const std::string memory = in_memory(value);
        if (!memory.empty())
            return memory;
        if (letter == 'e')
            return numbered(value, "E");
        const auto known = names_.find(value);
        return known != names_.end() ? known->second : letter == 'p' ? "*" : "?";
    }
    /* "entry stream thread argument..." */
    std::string of(const std::string &line)
    {
        std::istringstream words(line);
        std::string entry, word, text;
        words >> entry >> word >> word;
        uint64_t value = 0;
        while (words >> word) {
            value = std::stoull(word.substr(1), nullptr, 16);
            text += (text.empty() ? "" : ",") + of(word[0], value);
        }
        /* Its handle may be another one's next. */
        if (entry.compare(0, 15, "cuStreamDestroy") == 0 || entry.compare(0, 14, "cuEventDestroy") == 0)
            names_.erase(value);
        return entry + "(" + text + ")";
    }

    std::ifstream file_;
    std::map<uint64_t, std::string> names_;
    std::map<uint64_t, Memory> memories_;
    std::map<char, int> counts_;
};

#endif
