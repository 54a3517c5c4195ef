/* SPDX-License-Identifier: Apache-2.0
 *
 * The page and the exports as facts (facts.h): how much is in each, and what its numbers add up to.
 */
#ifndef PTDS_TESTS_ANALYSIS_SHOWN_FACTS_H
#define PTDS_TESTS_ANALYSIS_SHOWN_FACTS_H

#include "tests/analysis/facts.h"
#include "tests/analysis/shown_views.h"

namespace ptds
{

/* "op.enter=SUM": the numbers that follow a column's name. */
inline std::string ColumnSums(const std::string &columns)
{
    std::string sums;
    for (const std::string &column : lines_of(columns)) {
        std::istringstream numbers(column.substr(column.find(':') + 1));
        uint64_t sum = 0;
        for (uint64_t number; numbers >> number;)
            sum += number;
        std::string name = column.substr(0, column.find(':'));
        name[name.find(' ')] = '.';
        sums += sum != 0 ? " " + name + "=" + std::to_string(sum) : "";
    }
    return "columns" + sums + "\n";
}

inline std::string PageFacts(const std::string &page)
{
    json_t *tables = json_loads(PagePart(page, "data-tables").c_str(), 0, nullptr);
    EXPECT_NE(nullptr, tables) << page.substr(0, 1000);
    json_t *parts = json_object_get(tables, "parts"), *columns = json_object_get(tables, "columns");
    std::istringstream lines(PagePart(page, "data-columns"));
    std::string out, line;
    for (size_t i = 0; std::getline(lines, line);)
        if (line.find_first_not_of(" ") != std::string::npos) {
            json_t *part = json_array_get(parts, i++);
            out += Facts::Of(part, "page") + ColumnSums(ColumnsText(line, columns, part));
        }
    json_decref(tables);
    return out;
}

/* Of each result its rule, level, place. */
inline std::string SarifFacts(const std::string &text)
{
    json_t *root = json_loads(text.c_str(), 0, nullptr), *result, *place;
    std::string out = "sarif";
    size_t i, j;
    json_array_foreach(json_object_get(json_array_get(json_object_get(root, "runs"), 0), "results"), i, result)
    {
        out += std::string(" ") + json_string_value(json_object_get(result, "ruleId")) + ':' +
               json_string_value(json_object_get(result, "level"));
        json_array_foreach(json_object_get(result, "locations"), j, place)
        {
            json_t *file = json_object_get(place, "physicalLocation");
            const char *uri = json_string_value(json_object_get(json_object_get(file, "artifactLocation"), "uri"));
            json_int_t at = json_integer_value(json_object_get(json_object_get(file, "region"), "startLine"));
            out += std::string("@") + (uri != nullptr ? uri : "?") + ':' + std::to_string(at);
        }
        out += json_object_get(result, "suppressions") != nullptr ? ",suppressed" : "";
    }
    json_decref(root);
    return out + "\n";
}

/* "sqlite TABLE=ROWS/SUM/LETTERS": the sum of all numbers in it, and how long its texts are together, if these are names.
 */
inline std::string DatabaseFacts(const std::string &path)
{
    sqlite3 *file = nullptr;
    std::string out = "sqlite";
    EXPECT_EQ(SQLITE_OK, sqlite3_open(path.c_str(), &file));
    for (const std::string &table : TablesOf(file, false)) {
        struct {
            uint64_t rows, sum, letters;
        } found = {};
        auto add = [](void *data, int count, char **values, char **) {
            auto *all = static_cast<decltype(found) *>(data);
            all->rows++;
            for (int i = 0; i < count; i++) {
                char *end = values[i];
                all->sum += values[i] != nullptr ? strtoull(values[i], &end, 10) : 0;
                all->letters += end != nullptr ? strlen(end) : 0;
            }
            return 0;
        };
        sqlite3_exec(file, ("SELECT * FROM " + table).c_str(), add, &found, nullptr);
        bool prose = table == "PTDS_META" || table == "PTDS_FINDING" || table == "PTDS_EDGE";
        if (found.rows != 0 && table != "META_DATA_EXPORT") /* which has this build's version */
            out += " " + table + "=" + std::to_string(found.rows) + "/" + std::to_string(found.sum) +
                   (found.letters != 0 && !prose ? "/" + std::to_string(found.letters) : "");
    }
    sqlite3_close(file);
    unlink(path.c_str());
    return out + "\n";
}

/* Tracks by the first word of their names, events by what they are, and how long those last that have an end. */
inline std::string PerfettoFacts(const std::string &bytes)
{
    Trace trace(bytes);
    std::map<std::string, size_t> counts;
    uint64_t flows = 0;
    int64_t lasts = 0, counted = 0;
    for (const Event &event : trace.events) {
        int64_t time = static_cast<int64_t>(event.time);
        lasts += event.type == SLICE_END ? time : event.type == SLICE_BEGIN ? -time : 0;
        counted += event.type == COUNTER ? event.counter : 0;
        flows += event.flows.size() + event.last_flows.size();
        if (event.type != SLICE_END && event.type != COUNTER)
            counts[event.category]++;
    }
    for (const auto &[uuid, name] : trace.tracks)
        counts["track " + name.substr(0, name.find(' '))]++;
    std::string out = "perfetto tracks=" + std::to_string(trace.tracks.size()) + " lasts=" + std::to_string(lasts) +
                      " flows=" + std::to_string(flows) + " counted=" + std::to_string(counted);
    for (const auto &[category, count] : counts)
        out += " \"" + category + "\"=" + std::to_string(count);
    return out + "\n";
}

/* How many rows a baseline has, and what its numbers add up to. */
inline std::string BaselineFacts(const std::string &baseline)
{
    json_t *root = json_loads(baseline.c_str(), 0, nullptr), *row, *number;
    std::string out = "baseline";
    const char *key;
    size_t i, j;
    for (const char *list : {"findings", "calls", "gpu"}) {
        std::map<std::string, json_int_t> sums;
        json_array_foreach(json_object_get(root, list), i, row)
        {
            sums["rows"]++;
            for (const char *flag : {"shown", "unnamed"})
                sums[flag] += json_is_true(json_object_get(row, flag));
            for (const char *numbers : {"calls", "saves_ns", "blocked_ns", "gpu_ns"})
                json_array_foreach(json_object_get(row, numbers), j, number) sums[numbers] += json_integer_value(number);
        }
        for (const auto &[of, sum] : sums)
            out += sum != 0 ? std::string(" ") + list + "." + of + "=" + std::to_string(sum) : "";
    }
    json_array_foreach(json_object_get(root, "runs"), i, row) json_object_foreach(row, key, number) out +=
        json_is_integer(number) ? std::string(" ") + key + "=" + std::to_string(json_integer_value(number)) : "";
    json_decref(root);
    return out + "\n";
}

} // namespace ptds

#endif
