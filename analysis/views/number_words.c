/* SPDX-License-Identifier: Apache-2.0
 *
 * Words for the keys of findings. Called by the full text and the page. JSON keeps the keys, so none may be renamed here
 * only.
 */
#include "analysis/views/number_words.h"

#include <string.h>

static const struct {
    const char *key, *words;
} known[] = {
    {"after_ns", "at most so much later"},
    {"behind_other_streams", "behind other streams"},
    {"bytes", "bytes in all"},
    {"held_calls", "calls held up"},
    {"held_host_functions", "host functions held"},
    {"host_behind_ns", "the host works behind it"},
    {"largest_bytes", "bytes of the largest"},
    {"longest_held_ns", "longest hold-up"},
    {"not_seen_to_run", "not seen to run"},
    {"queues", "hardware queues"},
    {"records", "records of the event"},
    {"result", "CUDA error number"},
    {"spins", "loops of queries"},
    {"longest_spin_ns", "longest loop"},
};

static bool is_time(const char *key)
{
    size_t length = strlen(key);
    return length > 3 && strcmp(key + length - 3, "_ns") == 0;
}

struct line number_words_key(const char *key)
{
    struct line line = {0};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(known[i].key, key) == 0) {
            line_add(&line, "%s", known[i].words);
            return line;
        }
    line_add(&line, "%.*s", (int)(strlen(key) - (is_time(key) ? 3 : 0)), key);
    for (char *at = line.text; *at != 0; at++)
        *at = *at == '_' ? ' ' : *at;
    return line;
}

struct small_text number_words_value(const struct finding_number *number)
{
    return is_time(number->key) ? text_ns(number->value) : text_count(number->value);
}
