/* SPDX-License-Identifier: Apache-2.0
 *
 * What a door hands out for a function of the table: the driver's own, its twin, or the shim's wrapper. Worked out from the
 * design, not from the shim.
 */
#ifndef PTDS_TESTS_HANDED_H
#define PTDS_TESTS_HANDED_H

#include <cstring>
#include <ostream>
#include <string>

extern "C" {
#include "interpose/api/api.h"
}

namespace ptds
{

struct Config {
    std::string name, policy;
    bool recording = false, remap_explicit = false;
    std::string force_errno = {}, force_result = {};
    bool disabled = false, excluded = false;

    bool inert() const
    {
        return disabled || policy == "none";
    }
    bool hands_out_twins() const
    {
        return !inert() && policy == "per-thread" && !recording && !remap_explicit && !excluded;
    }
    bool guards() const
    {
        return !inert() && (policy == "guarded" || policy == "stream");
    }
    bool remaps() const
    {
        return !inert() && policy != "observe" && !excluded;
    }
};

inline std::ostream &operator<<(std::ostream &stream, const Config &setup)
{
    return stream << setup.name;
}

inline bool refuses_legacy(const api_row &row)
{
    return row.route == ROUTE_KEEP || row.route == ROUTE_MULTI;
}

/* What a look-up of this name hands out. */
inline std::string handed(const Config &setup, const api_row &row, bool twin)
{
    const char *same = twin ? "twin" : "base";
    if (setup.inert())
        return same;
    /* The guard has to see what excluded objects do, too. */
    if (setup.excluded && !setup.recording && !setup.guards())
        return same;
    if (setup.hands_out_twins() && (row.route == ROUTE_LEGACY || row.route == ROUTE_NO_STREAM))
        return same;
    if (setup.hands_out_twins() && refuses_legacy(row))
        return same;
    if (!row.twin)
        return "wrapper-base";
    if (setup.hands_out_twins() && (twin || row.route != ROUTE_KEEP_IF))
        return "twin";
    return std::string("wrapper-") + same;
}

} // namespace ptds

#endif
