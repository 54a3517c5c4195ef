/* SPDX-License-Identifier: Apache-2.0
 *
 * Everything that is made of traces, as one text: each form whole, below a line that names it. For shown_test.cc.
 */
#ifndef PTDS_TESTS_ANALYSIS_SHOWN_H
#define PTDS_TESTS_ANALYSIS_SHOWN_H

#include <jansson.h>
#include <sqlite3.h>

#include <sstream>

#include "analysis/views/html/report_html.h"
#include "analysis/views/json/report_json.h"
#include "analysis/views/json/whatif_json.h"
#include "analysis/views/repair/repair_words.h"
#include "analysis/views/text/many_text.h"
#include "analysis/views/text/report_screen.h"
#include "analysis/views/text/whatif_text.h"
#include "tests/analysis/exported.h"
#include "tests/analysis/json_lines.h"
#include "tests/analysis/perfetto_trace.h"

namespace ptds
{

/* Names and lines for code that is nowhere: by the address, so that there are all kinds of them. */
struct Names : site_namer {
    explicit Names(void *real)
    {
        data = real;
        name = [](site_namer *, const object_def *object, uint64_t pc, char *out, size_t room) {
            if (object == nullptr || pc % 0x40 == 0)
                return false;
            if (pc % 0x40 == 0x10)
                snprintf(out, room, "(changed since the trace)");
            else
                snprintf(out, room, "work::step<float>(int, char const*)+0x%x (step.cu:%d)",
                         static_cast<unsigned>(pc & 0xff), static_cast<int>(pc & 0xfff));
            return true;
        };
        trouble = [](site_namer *, const object_def *object) -> const char * {
            return object != nullptr && strstr(object->text, "changed") != nullptr ? "changed since the trace" : nullptr;
        };
        places = [](site_namer *, const object_def *object, uint64_t pc, site_place *out, size_t most) -> size_t {
            if (object == nullptr || pc % 0x40 == 0 || most == 0)
                return 0;
            out[0] = {};
            strcpy(out[0].function, "work::inner(int)");
            strcpy(out[0].file, pc % 0x40 == 0x20 ? "/src/app/step.cu" : "/usr/include/inner.h");
            out[0].line = static_cast<int>(pc & 0xfff);
            out[0].inlined = most > 1;
            if (most == 1)
                return 1;
            out[1] = {};
            strcpy(out[1].function, "main");
            strcpy(out[1].file, "/src/app/main.cc");
            out[1].line = 7;
            return 2;
        };
    }
};

/* What stands between the tags of a page's part. */
inline std::string PagePart(const std::string &page, const std::string &id)
{
    size_t from = page.find("id=\"" + id + "\"");
    from = page.find('>', from) + 1;
    return page.substr(from, page.find("</script>", from) - from);
}

inline std::string Inflated(const std::string &base64)
{
    static const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string bytes, out(1 << 22, 0);
    uint32_t word = 0;
    unsigned bits = 0;
    for (char digit : base64) {
        size_t value = digits.find(digit);
        if (value == std::string::npos)
            continue;
        word = word << 6 | static_cast<uint32_t>(value);
        if ((bits += 6) >= 8)
            bytes += static_cast<char>(word >> (bits -= 8));
    }
    uLongf size = out.size();
    EXPECT_EQ(Z_OK, uncompress(reinterpret_cast<Bytef *>(&out[0]), &size, reinterpret_cast<const Bytef *>(bytes.data()),
                               bytes.size()));
    out.resize(size);
    return out;
}

/* A line a column: "op enter: 0 10 20". */
inline std::string ColumnsText(const std::string &base64, json_t *columns, json_t *part)
{
    std::string bytes = Inflated(base64), out;
    size_t at = 0, i;
    json_t *column;
    json_array_foreach(columns, i, column)
    {
        std::string of = json_string_value(json_object_get(column, "of"));
        const char *counts = of == "op" ? "operations" : of == "run" ? "runs" : of == "region" ? "regions" : "edges";
        size_t width = static_cast<size_t>(json_integer_value(json_object_get(column, "bytes")));
        out += of + " " + json_string_value(json_object_get(column, "name")) + ":";
        for (json_int_t count = json_integer_value(json_object_get(part, counts)); count > 0; count--, at += width) {
            uint32_t value = 0;
            memcpy(&value, &bytes.at(at + width - 1) - (width - 1), width);
            out += " " + std::to_string(value);
        }
        at = (at + 3) / 4 * 4;
        out += "\n";
    }
    EXPECT_EQ(bytes.size(), at);
    return out;
}

/* What the page's scripts get beside the report: the tables, but for the words that are the same in all, and the columns.
 */
inline std::string PageText(const std::string &page)
{
    json_t *tables = json_loads(PagePart(page, "data-tables").c_str(), 0, nullptr);
    EXPECT_NE(nullptr, tables) << page.substr(0, 1000);
    std::string out;
    for (const char *key : {"lost", "findings_shown", "opening", "findings", "parts"}) {
        json_t *value = json_object_get(tables, key);
        if (value != nullptr)
            PutJson(value, "", std::string(key) + ": ", &out);
    }
    std::istringstream lines(PagePart(page, "data-columns"));
    std::string line;
    json_t *parts = json_object_get(tables, "parts");
    for (size_t i = 0; std::getline(lines, line);)
        if (line.find_first_not_of(" ") != std::string::npos)
            out += ColumnsText(line, json_object_get(tables, "columns"), json_array_get(parts, i++));
    json_decref(tables);
    return out;
}

/* The rules are the same in every file, and only counted. */
inline std::string SarifText(const std::string &text)
{
    json_t *root = json_loads(text.c_str(), 0, nullptr);
    json_t *run = json_array_get(json_object_get(root, "runs"), 0);
    json_t *driver = json_object_get(json_object_get(run, "tool"), "driver");
    std::string out;
    json_object_set_new(driver, "rules",
                        json_integer(static_cast<json_int_t>(json_array_size(json_object_get(driver, "rules")))));
    PutJson(root, "", "", &out);
    json_decref(root);
    return out;
}

/* fixed: those too that are the same in every file. */
inline std::vector<std::string> TablesOf(sqlite3 *file, bool fixed)
{
    std::vector<std::string> tables;
    sqlite3_exec(
        file,
        fixed ? "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name"
              : "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'ENUM%' ORDER BY name",
        [](void *data, int, char **values, char **) {
            static_cast<std::vector<std::string> *>(data)->push_back(values[0]);
            return 0;
        },
        &tables, nullptr);
    return tables;
}

/* Of all tables, in the order in which rows were written. */
inline std::string DatabaseText(const std::string &path, bool fixed)
{
    sqlite3 *file = nullptr;
    std::string out;
    EXPECT_EQ(SQLITE_OK, sqlite3_open(path.c_str(), &file));
    for (const std::string &table : TablesOf(file, fixed)) {
        std::string rows;
        sqlite3_exec(
            file, ("SELECT * FROM " + table).c_str(),
            [](void *data, int count, char **values, char **names) {
                std::string *text = static_cast<std::string *>(data);
                bool first = text->empty();
                for (int i = 0; first && i < count; i++)
                    *text += std::string(i != 0 ? "|" : "") + names[i] + (i + 1 == count ? "\n" : "");
                for (int i = 0; i < count; i++)
                    *text += std::string(i != 0 ? "|" : " ") + (values[i] != nullptr ? values[i] : "-");
                *text += "\n";
                return 0;
            },
            &rows, nullptr);
        out += rows.empty() ? "" : table + ": " + rows;
    }
    sqlite3_close(file);
    unlink(path.c_str());
    return out;
}

inline std::string PerfettoText(const std::string &bytes)
{
    Trace trace(bytes);
    std::ostringstream out;
    std::map<uint64_t, size_t> numbers; /* tracks in the order of their numbers */
    for (const auto &[uuid, name] : trace.tracks)
        numbers.emplace(uuid, numbers.size() + 1);
    for (const auto &[uuid, name] : trace.tracks) {
        out << "track " << numbers[uuid] << " \"" << name << '"';
        if (trace.parents.count(uuid) != 0)
            out << " below " << numbers[trace.parents.at(uuid)];
        if (trace.pids.count(uuid) != 0)
            out << " pid " << trace.pids.at(uuid);
        out << '\n';
    }
    for (const auto &[name, all] : trace.threads)
        for (const auto &[pid, tid] : all)
            out << "thread \"" << name << "\" " << pid << ' ' << tid << '\n';
    for (const Event &event : trace.events) {
        out << event.time << ' '
            << (event.type == SLICE_BEGIN ? "begin"
                : event.type == SLICE_END ? "end"
                : event.type == INSTANT   ? "instant"
                                          : "counter")
            << ' ' << numbers[event.track] << ' ' << event.name
            << (event.category.empty() ? "" : " [" + event.category + "]");
        if (event.type == COUNTER)
            out << ' ' << event.counter;
        for (const auto &[key, value] : event.arguments)
            out << ' ' << key << '=' << value;
        for (uint64_t flow : event.flows)
            out << " flow " << flow;
        for (uint64_t flow : event.last_flows)
            out << " last flow " << flow;
        out << '\n';
    }
    return out.str();
}

} // namespace ptds

#endif
