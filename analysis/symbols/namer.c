/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of frames. Called by all who write one. Frames in an interpreter's source have theirs in the trace, so they are
 * known on any machine, and to the shim at its end; those of code the namer is asked for.
 */
#include <stdio.h>

#include "analysis/base/line.h"
#include "analysis/base/text.h"
#include "analysis/trace/frames.h"
#include "analysis/symbols/namer.h"

size_t namer_places(struct site_namer *namer, const struct definitions *defs, uint64_t pc, struct site_place *out,
                    size_t most)
{
    const struct source_def *source = definitions_source(defs, pc);
    if (most == 0 || (source == NULL && (namer == NULL || namer->places == NULL)))
        return 0;
    if (source == NULL)
        return namer->places(namer, frames_object_at(defs, pc), pc, out, most);
    const char *function = definitions_string(defs, source->function), *file = definitions_string(defs, source->file);
    *out = (struct site_place){.line = (int)source->line};
    snprintf(out->function, sizeof out->function, "%s", function != NULL ? function : "");
    snprintf(out->file, sizeof out->file, "%s", file != NULL ? file : "");
    return 1;
}

/* Objects have names for people who know no places, too. */
static bool name_of_code(struct site_namer *namer, const struct definitions *defs, uint64_t pc, char *out, size_t room)
{
    const struct object_def *object = frames_object_at(defs, pc);
    return namer != NULL && (object != NULL || namer->places != NULL) && namer->name(namer, object, pc, out, room);
}

bool namer_name(struct site_namer *namer, const struct definitions *defs, uint64_t pc, char *out, size_t room)
{
    struct site_place place;
    struct line line = {0};
    if (definitions_source(defs, pc) == NULL)
        return name_of_code(namer, defs, pc, out, room);
    namer_places(NULL, defs, pc, &place, 1);
    line_add(&line, "%s (%s", place.function[0] != 0 ? place.function : "?", text_base(place.file));
    if (place.line != 0)
        line_add(&line, ":%d", place.line);
    line_add(&line, ")");
    snprintf(out, room, "%s", line.text);
    return true;
}
