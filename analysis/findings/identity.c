/* SPDX-License-Identifier: Apache-2.0
 *
 * Ids of findings: FNV-1a over what identifies them. Called by the writers of reports and exports and by `ptds check`. The
 * ids are kept in files by users (baselines, code scanning), so what goes in here, and in which order, must never change.
 */
#include "analysis/findings/identity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analysis/findings/caller.h"
#include "analysis/findings/rule.h"
#include "analysis/base/text.h"
#include "analysis/trace/frames.h"

struct hash {
    uint64_t value;
};

static void mix(struct hash *hash, const void *bytes, size_t size)
{
    const unsigned char *in = bytes;
    for (size_t i = 0; i < size; i++)
        hash->value = (hash->value ^ in[i]) * 0x100000001b3u;
}

/* With its terminator, so that "ab" "c" and "a" "bc" differ. */
static void mix_text(struct hash *hash, const char *text)
{
    mix(hash, text, strlen(text) + 1);
}

static void mix_number(struct hash *hash, uint64_t number)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(number >> 8 * i);
    mix(hash, bytes, sizeof bytes);
}

static void mix_object(struct hash *hash, const struct object_def *object)
{
    if (object->build_id_size != 0)
        mix(hash, object->build_id, object->build_id_size);
    else
        mix_text(hash, object->text != NULL ? text_base(object->text) : "");
}

static struct hash begin(const struct trace *trace, const struct finding *finding)
{
    struct hash hash = {0xcbf29ce484222325u};
    mix_text(&hash, finding->rule->id);
    mix_number(&hash, finding->detail);
    mix_text(&hash, finding->has_api ? definitions_api_name(&trace->defs, finding->api) : "");
    mix_number(&hash, finding->twin);
    mix_text(&hash, finding->text != NULL ? finding->text : "");
    return hash;
}

static struct finding_id as_text(struct hash hash)
{
    struct finding_id id;
    snprintf(id.text, sizeof id.text, "%016" PRIx64, hash.value);
    return id;
}

/* Not the folder: the same program may lie elsewhere. */
static void mix_source(struct hash *hash, const struct definitions *defs, uint64_t pc)
{
    struct site_place place;
    namer_places(NULL, defs, pc, &place, 1);
    mix_text(hash, place.function);
    mix_text(hash, text_base(place.file));
    mix_number(hash, (uint64_t)place.line);
}

static void mix_stack(struct hash *hash, const struct trace *trace, uint32_t id)
{
    const struct stack_def *stack = id != 0 ? definitions_stack(&trace->defs, id) : NULL;
    for (uint32_t i = 0; stack != NULL && i < stack->count; i++) {
        const struct object_def *object = frames_object_at(&trace->defs, stack->pc[i]);
        if (definitions_source(&trace->defs, stack->pc[i]) != NULL) {
            mix_source(hash, &trace->defs, stack->pc[i]);
            continue;
        }
        if (object == NULL) {
            mix_text(hash, "?");
            continue;
        }
        mix_object(hash, object);
        mix_number(hash, stack->pc[i] - object->bias);
    }
}

struct finding_id identity_of(const struct trace *trace, const struct finding *finding)
{
    struct hash hash = begin(trace, finding);
    mix_stack(&hash, trace, finding->stack);
    return as_text(hash);
}

struct finding_id identity_of_place(const struct trace *trace, struct site_namer *namer, const struct finding *finding)
{
    struct caller caller = caller_of(&trace->defs, namer, finding->stack);
    struct hash hash = begin(trace, finding);
    struct finding_id none = {""};
    mix_text(&hash, caller.name);
    return caller.known == CALLER_NAMED ? as_text(hash) : none;
}

uint64_t identity_of_site(const struct trace *trace, uint32_t api, uint32_t stack, const char *kernel)
{
    struct hash hash = {0xcbf29ce484222325u};
    mix_text(&hash, definitions_api_name(&trace->defs, api));
    mix_text(&hash, kernel != NULL ? kernel : "");
    mix_stack(&hash, trace, stack);
    return hash.value;
}
