/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON in lines that are easily compared.
 */
#ifndef PTDS_TESTS_ANALYSIS_JSON_LINES_H
#define PTDS_TESTS_ANALYSIS_JSON_LINES_H

#include <gtest/gtest.h>
#include <jansson.h>

#include <cstring>
#include <string>

namespace ptds
{

/* A line for each value that is short; else its numbers and texts fill lines, and each other part has some of its own. */
inline void PutJson(json_t *value, const std::string &indent, const std::string &key, std::string *out)
{
    char *whole = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    std::string text = indent + key + (whole != nullptr ? whole : "nothing"), line;
    free(whole);
    const char *name;
    json_t *part;
    size_t i;
    if (text.size() <= 120 || !(json_is_object(value) || json_is_array(value))) {
        *out += text + "\n";
        return;
    }
    auto flush = [&] {
        *out += line.empty() ? "" : indent + line + "\n";
        line.clear();
    };
    auto put = [&](const std::string &of) {
        if (json_is_object(part) || json_is_array(part)) {
            flush();
            PutJson(part, indent + " ", of, out);
            return;
        }
        char *piece = json_dumps(part, JSON_ENCODE_ANY);
        if (indent.size() + line.size() + 1 + of.size() + strlen(piece) > 120)
            flush();
        line += " " + of + piece;
        free(piece);
    };
    *out += indent + key + (json_is_object(value) ? "{\n" : "[\n");
    json_object_foreach(value, name, part) put(std::string("\"") + name + "\":");
    json_array_foreach(value, i, part) put("");
    flush();
    *out += indent + (json_is_object(value) ? "}\n" : "]\n");
}

inline std::string JsonText(const std::string &text)
{
    json_error_t error;
    json_t *root = json_loads(text.c_str(), JSON_DECODE_ANY, &error);
    std::string out;
    EXPECT_NE(nullptr, root) << error.text << "\n" << text;
    PutJson(root, "", "", &out);
    json_decref(root);
    return out;
}

} // namespace ptds

#endif
