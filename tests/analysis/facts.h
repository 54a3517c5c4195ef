/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON as facts: lines of "key=value", one for each finding, edge, wait, process. Sentences are no facts: how something is
 * said does not change these lines.
 */
#ifndef PTDS_TESTS_ANALYSIS_FACTS_H
#define PTDS_TESTS_ANALYSIS_FACTS_H

#include <gtest/gtest.h>
#include <jansson.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tests/support/run_child.h"

namespace ptds
{

class Facts
{
public:
    /* Lines that begin with `name`, indented by a list's depth. A key whose value is nothing (null, false, 0, "", "no", [],
     * {}) is left out, one whose value is true or a sentence stands alone. */
    static std::string Of(json_t *value, const std::string &name)
    {
        Facts facts;
        facts.Lines(value, name, "");
        return facts.text_;
    }
    static std::string OfText(const std::string &json, const std::string &name)
    {
        json_error_t error;
        json_t *root = json_loads(json.c_str(), JSON_DECODE_ANY, &error);
        EXPECT_NE(nullptr, root) << error.text << "\n" << json;
        std::string facts = Of(root, name);
        json_decref(root);
        return facts;
    }

private:
    struct Part {
        std::string name;
        json_t *value;
    };
    using Parts = std::vector<Part>;

    /* A line for the object, then its lists. The parts of a whole report, which is one of many lists, get lines, too. */
    void Lines(json_t *object, const std::string &name, const std::string &indent)
    {
        Parts lists;
        std::string line;
        bool whole = json_object_get(object, "totals") != nullptr;
        Object(object, "", whole, &line, &lists);
        if (!line.empty())
            text_ += indent + name + line + "\n";
        for (const Part &part : lists)
            if (json_is_object(part.value))
                Lines(part.value, part.name, indent);
            else if (IsFlat(part.value))
                text_ += indent + part.name + FlatList(part.value) + "\n";
            else
                for (size_t i = 0; i < json_array_size(part.value); i++)
                    Lines(json_array_get(part.value, i), part.name, indent + " ");
    }
    /* Its short values go to the line, its lists of objects to `lists`. */
    void Object(json_t *object, const std::string &prefix, bool apart, std::string *line, Parts *lists)
    {
        const char *key;
        json_t *value;
        json_object_foreach(object, key, value)
        {
            std::string name = strcmp(key, "ids") == 0 ? prefix.substr(0, prefix.size() - 1) : prefix + key, word;
            if (IsProse(key) || IsSaid(object, key, value))
                continue;
            if (IsList(value))
                lists->push_back({name, value});
            else if (json_is_string(value))
                word = WordOf(key, json_string_value(value));
            else if (!json_is_object(value) || IsNumbered(value) || IsOperation(value) || IsPair(value) || IsSpread(value))
                word = Word(value);
            else if (apart)
                lists->push_back({name, value});
            else
                Object(value, IsShort(key) ? prefix : name + ".", false, line, lists);
            if (!word.empty() && word != "no")
                *line += " " + name + (word == "true" ? "" : "=" + word);
        }
    }
    static bool IsProse(const std::string &key)
    {
        static const std::string all =
            " text title advice next notes gpu_times symbol trouble libptds pc place_id stack summary "
            "ptds_report_version answer class rules host_known_calls trace trace_version ";
        return all.find(" " + key + " ") != std::string::npos;
    }
    /* Its keys do without its name. */
    static bool IsShort(const std::string &key)
    {
        static const std::string all =
            " values cost goes completeness meta outcome by_verdict by_kind by_reason default_stream ";
        return all.find(" " + key + " ") != std::string::npos;
    }
    /* What follows from another key of the object, or is so of most. */
    static bool IsSaid(json_t *object, const char *key, json_t *value)
    {
        const char *word = json_string_value(value);
        bool finding = json_object_get(object, "callsite") != nullptr;
        if (finding && strcmp(key, "severity") == 0 && strcmp(word, "warning") == 0)
            return true;
        if (strcmp(key, "host_unknown_calls") == 0 && json_is_null(json_object_get(object, "host_ns")))
            return true; /* all of them */
        return (strcmp(key, "cause") == 0 && json_equal(value, json_object_get(object, "rule"))) ||
               (strcmp(key, "last_ns") == 0 && json_equal(value, json_object_get(object, "first_ns"))) ||
               (strcmp(key, "doubt") == 0 && word != nullptr && strcmp(word, "right") == 0) ||
               (strcmp(key, "settings") == 0 && json_array_size(value) == 1) ||
               (finding && (strcmp(key, "id") == 0 || strcmp(key, "pair") == 0));
    }
    static bool IsList(json_t *value)
    {
        json_t *first = json_array_get(value, 0);
        return json_is_object(first) && !IsNumbered(first);
    }
    static bool IsNumbered(json_t *object)
    {
        return json_object_get(object, "pc") != nullptr ||
               (json_object_get(object, "name") != nullptr && json_is_integer(json_object_get(object, "id")));
    }
    static bool IsOperation(json_t *object)
    {
        return json_object_get(object, "ticks") != nullptr;
    }
    static bool IsPair(json_t *object)
    {
        return json_object_get(object, "first") != nullptr && json_object_get(object, "address") != nullptr;
    }
    static bool IsSpread(json_t *object)
    {
        return json_object_get(object, "median") != nullptr && json_object_get(object, "runs") != nullptr;
    }
    static bool IsSum(json_t *object)
    {
        return json_object_size(object) == 5 && json_object_get(object, "findings") != nullptr;
    }
    /* Objects of few values each. */
    static bool IsFlat(json_t *list)
    {
        json_t *part;
        const char *key;
        json_object_foreach(json_array_get(list, 0), key, part)
        {
            if (json_is_object(part) || json_array_size(part) != 0)
                return false;
        }
        return json_object_size(json_array_get(list, 0)) <= 8;
    }
    std::string FlatList(json_t *list)
    {
        std::string line;
        Parts none;
        for (size_t i = 0; i < json_array_size(list); i++) {
            if (IsSum(json_array_get(list, i))) {
                line += Sum(json_array_get(list, i));
                continue;
            }
            line += i != 0 ? " |" : "";
            Object(json_array_get(list, i), "", false, &line, &none);
        }
        return line;
    }

    /* " sync-copy=2,7,5000000": findings, calls, nanoseconds. */
    static std::string Sum(json_t *sum)
    {
        std::string word = " " + Text(sum, "rule") + Text(sum, "cause") + "=";
        for (const char *key : {"findings", "calls", "host_ns"})
            word += Word(json_object_get(sum, key)) + (strcmp(key, "host_ns") != 0 ? "," : "");
        return word;
    }
    /* Names as one word, of a call site what comes before its lines; of a sentence only that there is one. */
    static std::string WordOf(const std::string &key, std::string text)
    {
        if (key == "site")
            return text.substr(0, text.find(' '));
        if (key == "place" || key == "kernel" || key == "program" || key == "name")
            std::replace(text.begin(), text.end(), ' ', '_');
        return text.find(' ') == std::string::npos ? text : "true";
    }
    static std::string Text(json_t *object, const char *key)
    {
        const char *text = json_string_value(json_object_get(object, key));
        return text != nullptr ? text : "";
    }
    static std::string Frame(json_t *frame)
    {
        std::string object = Text(frame, "object"), offset = Text(frame, "offset");
        if (!object.empty() && !offset.empty())
            return object.substr(object.rfind('/') + 1) + "+" + offset;
        json_t *place = json_array_get(json_object_get(frame, "places"), 0);
        return Text(place, "file") + ":" + std::to_string(json_integer_value(json_object_get(place, "line")));
    }
    /* "cuLaunchKernel:3@prog+0x10,1,2,5000": kernel, call site, thread, stream, ticks. */
    static std::string Operation(json_t *operation)
    {
        std::string kernel = Word(json_object_get(operation, "kernel")), site = Word(json_object_get(operation, "site"));
        std::string word = Text(operation, "api") + (kernel.empty() ? "" : ":" + kernel) + "@" + site;
        for (const char *key : {"thread", "stream", "ticks"})
            word += "," + Word(json_object_get(operation, key));
        return word;
    }
    /* "cuMemsetD8Async:write,cuMemcpyDtoH_v2:read@0x10000+64" */
    static std::string Pair(json_t *pair)
    {
        std::string word;
        for (const char *end : {"first", "second"}) {
            json_t *one = json_object_get(pair, end);
            word += (word.empty() ? "" : ",") + Text(one, "api") + ":" + Text(one, "access");
        }
        return word + "@" + Text(pair, "address") + "+" + Word(json_object_get(pair, "size"));
    }
    /* "4[3..5]x3": of three runs. */
    static std::string Spread(json_t *spread)
    {
        std::string word = Word(json_object_get(spread, "median"));
        if (!json_equal(json_object_get(spread, "least"), json_object_get(spread, "most")))
            word += "[" + Word(json_object_get(spread, "least")) + ".." + Word(json_object_get(spread, "most")) + "]";
        return word + "x" + Word(json_object_get(spread, "runs"));
    }
    static std::string Word(json_t *value)
    {
        if (json_is_true(value))
            return "true";
        if (json_is_integer(value))
            return json_integer_value(value) != 0 ? std::to_string(json_integer_value(value)) : "";
        if (json_is_real(value)) {
            char text[40];
            snprintf(text, sizeof text, "%.9g", json_real_value(value));
            return strcmp(text, "0") != 0 ? text : "";
        }
        if (json_is_string(value)) /* a name, or a call site and its lines */
            return std::string(json_string_value(value)).substr(0, strcspn(json_string_value(value), " "));
        if (json_is_object(value))
            return IsOperation(value)                        ? Operation(value)
                   : IsPair(value)                           ? Pair(value)
                   : IsSpread(value)                         ? Spread(value)
                   : json_object_get(value, "pc") != nullptr ? Frame(value)
                                                             : Word(json_object_get(value, "id"));
        return json_array_size(value) != 0 ? Words(value) : "";
    }
    /* Sentences are only counted. */
    static std::string Words(json_t *list)
    {
        std::string words;
        size_t i;
        json_t *item;
        json_array_foreach(list, i, item)
        {
            if (json_object_get(item, "pc") != nullptr && i == 1)
                break; /* of a stack the innermost frame */
            if (json_is_string(item) && strchr(json_string_value(item), ' ') != nullptr)
                return std::to_string(json_array_size(list));
            std::string word = Word(item);
            words += (i != 0 ? "," : "") + (word.empty() ? "0" : word);
        }
        return words;
    }

    std::string text_;
};

/* Long lines go on in the next. */
inline std::string Folded(const std::string &text, size_t width = 150)
{
    std::string out;
    for (std::string line : lines_of(text)) {
        while (line.size() > width) {
            size_t at = line.rfind(' ', width);
            if (at == std::string::npos || at < 5)
                break;
            out += line.substr(0, at) + "\n";
            line = "    " + line.substr(at);
        }
        out += line + "\n";
    }
    return out;
}

} // namespace ptds

#endif
