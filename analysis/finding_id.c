/* SPDX-License-Identifier: Apache-2.0
 *
 * Ids of findings that stay the same from run to run: they are made of what the code is (rule, function, objects and
 * offsets in them), never of addresses, uids or counts. Called by the report writers and by whatever compares reports.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report.h"

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash;
}

/* With the terminator: "a" "bc" is not "ab" "c". */
static uint64_t mix_text(uint64_t hash, const char *text)
{
    return mix(hash, text != NULL ? text : "", text != NULL ? strlen(text) + 1 : 1);
}

static uint64_t mix_frame(uint64_t hash, const struct report *report, uint64_t pc)
{
    const struct object_def *object = definitions_object_at(&report->trace.defs, pc);
    uint64_t offset = object != NULL ? pc - object->bias : 0;
    if (object == NULL)
        return mix_text(hash, "?");
    hash = object->build_id_size != 0 && object->build_id_size <= sizeof object->build_id
               ? mix(hash, object->build_id, object->build_id_size)
               : mix_text(hash, object->text != NULL ? text_base(object->text) : NULL);
    return mix(hash, &offset, sizeof offset);
}

void report_finding_id(const struct report *report, const struct finding *finding, char id[FINDING_ID_SIZE])
{
    const struct stack_def *stack = finding->stack != 0 ? definitions_stack(&report->trace.defs, finding->stack) : NULL;
    uint64_t hash = mix_text(0xcbf29ce484222325u, finding->rule->id);
    hash = mix(hash, &finding->detail, sizeof finding->detail);
    hash = mix_text(hash, report_api(report, finding));
    hash = mix(hash, finding->twin ? "t" : "p", 1);
    hash = mix_text(hash, finding->text);
    for (uint32_t i = 0; stack != NULL && i < stack->count; i++)
        hash = mix_frame(hash, report, stack->pc[i]);
    snprintf(id, FINDING_ID_SIZE, "%016" PRIx64, hash);
}
