/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes what whatif.c found, for scripts. Called by the command.
 */
#include "analysis/views/json/whatif_json.h"

#include "analysis/base/sink.h"
#include "analysis/report/default_cost.h"
#include "analysis/views/json/value.h"

static json_t *policy_of(const struct prediction *prediction)
{
    json_t *value = json_object(), *spent = json_object();
    for (unsigned i = 0; i < PARTS; i++)
        json_object_set_new(spent, whatif_parts[i], value_number(prediction->spent.part[i]));
    json_object_set_new(value, "least_ns", value_number(prediction->least));
    json_object_set_new(value, "most_ns", value_number(prediction->most));
    json_object_set_new(value, "spent_ns", spent);
    return value;
}

int whatif_json(const struct whatif *whatif, struct text_sink *sink)
{
    bool sure = whatif->doubt == WHATIF_SURE;
    json_t *document = json_object(), *policies = json_object();
    json_object_set_new(document, "ptds_what_if_version", value_number(1));
    json_object_set_new(document, "doubt", value_text(whatif_doubts[whatif->doubt]));
    json_object_set_new(document, "recorded_ns", whatif->recorded != 0 ? value_number(whatif->recorded) : json_null());
    json_object_set_new(document, "replayed_ns", whatif->replayed != 0 ? value_number(whatif->replayed) : json_null());
    json_object_set_new(document, "operations", value_number(whatif->gpu));
    json_object_set_new(document, "operations_timed", value_number(whatif->gpu_timed));
    json_object_set_new(document, "needed", value_number(whatif->needed));
    json_object_set_new(document, "maybe_needed", value_number(whatif->maybe_needed));
    json_object_set_new(document, "nothing_to_gain",
                        value_text(whatif->no_gain != DEFAULT_UP_TO ? default_cost_names[whatif->no_gain] : NULL));
    for (unsigned i = 0; i < WHATIF_POLICIES; i++)
        json_object_set_new(policies, whatif_names[i], sure ? policy_of(&whatif->policies[i]) : json_null());
    json_object_set_new(document, "policies", policies);
    return value_write(document, sink);
}
