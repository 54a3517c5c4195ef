// SPDX-License-Identifier: Apache-2.0
//
// For libFuzzer, run by scripts/fuzz: what people write behind options and into variables. The first byte says where it
// goes.
#include "tests/analysis/fuzz.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include "analysis/base/duration.h"
#include "analysis/check/conditions.h"
#include "analysis/check/region_limits.h"

extern "C" {
#include "interpose/env/env.h"
}

namespace
{

/* A message is one line, and there. */
void Sound(bool taken, const char *error)
{
    if (!taken && (error[0] == '\0' || strlen(error) >= CHECK_ERROR_SIZE))
        abort();
}

void Conditions(const char *text)
{
    char error[CHECK_ERROR_SIZE] = "";
    conditions wanted = {};
    bool taken = conditions_add(&wanted, text, error);
    Sound(taken, error);
    candidate all = {"sync-copy", static_cast<enum severity>(0), true, true, UINT64_MAX};
    conditions_meet(&wanted, &all);
    conditions_want_verdicts(&wanted);
    error[0] = '\0';
    Sound(conditions_ignore(&wanted, text, error), error);
    conditions_free(&wanted);
}

void Regions(const char *text)
{
    char error[CHECK_ERROR_SIZE] = "";
    region_limits check = {};
    Sound(region_limits_add(&check, text, error), error);
    region_limits_free(&check);
}

void Duration(const char *text)
{
    uint64_t ns = 0;
    if (duration_read(text, &ns) && ns > UINT64_C(1000000000) * 60 * 60 * 24 * 366 * 40)
        abort();
}

/* Those that keep nothing of the text. */
void Variables(const char *text)
{
    for (const char *name : {"PTDS_POLICY", "PTDS_LANES", "PTDS_STREAM", "PTDS_EXPLICIT_LEGACY", "PTDS_TRACE_LIMIT",
                             "PTDS_DISABLE", "PTDS_DIAG", "PTDS_DEVICE_TIMES"})
        env_refuses(name, text);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static void (*const places[])(const char *) = {Conditions, Regions, Duration, Variables};
    if (size == 0)
        return -1;
    const std::string text(reinterpret_cast<const char *>(bytes) + 1, size - 1);
    places[bytes[0] % 4](text.c_str());
    return 0;
}
