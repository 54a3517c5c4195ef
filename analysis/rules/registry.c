/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds the rules that the linker gathered. Must be linked into the same binary as the rules (the section's bounds are a
 * binary's own), which is why //analysis:core is linked statically and whole.
 */
#include <string.h>

#include "analysis/rules/registry.h"

extern const struct rule *const __start_ptds_rules[] __attribute__((visibility("hidden")));
extern const struct rule *const __stop_ptds_rules[] __attribute__((visibility("hidden")));

size_t registry_all(const struct rule *rules[RULES_MOST])
{
    size_t count = 0;
    /* cppcheck-suppress comparePointers ; the two are the ends of one section */
    for (const struct rule *const *entry = __start_ptds_rules; entry < __stop_ptds_rules && count < RULES_MOST; entry++) {
        size_t at = count++;
        for (; at > 0 && strcmp(rules[at - 1]->id, (*entry)->id) > 0; at--)
            rules[at] = rules[at - 1];
        rules[at] = *entry;
    }
    return count;
}

const struct rule *registry_find(const char *id)
{
    /* cppcheck-suppress comparePointers ; likewise */
    for (const struct rule *const *entry = __start_ptds_rules; entry < __stop_ptds_rules; entry++)
        if (strcmp((*entry)->id, id) == 0)
            return *entry;
    return NULL;
}
