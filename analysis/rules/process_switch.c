/* SPDX-License-Identifier: Apache-2.0
 *
 * process-switch: something that changes how the whole process runs, so that nothing else in the report means what it
 * would otherwise: environment variables, tools that sit in the process, contexts told to complete memory operations
 * before they return. Run by the pass for configuration calls, and at the end for the settings. Reports say it first.
 */
#include <string.h>

#include "analysis/base/line.h"
#include "analysis/findings/rule.h"
#include "analysis/base/text.h"

enum { LAUNCH_BLOCKING, TOOL, SYNC_MEMOPS, SYNC_MEMOPS_RANGE, SHAKEN };

static const char *const details[] = {
    "every launch waits for its kernel",
    "a profiler, debugger or checker is in the process: it may run kernels one at a time, and times are its own, too",
    "synchronous memory operations: copies and memsets of this context wait until they are done (CU_CTX_SYNC_MEMOPS)",
    "synchronous memory operations on single allocations (CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)",
    "work starts late at random: times are not the program's",
};

enum { CTX_SYNC_MEMOPS = 0x80, POINTER_ATTRIBUTE_SYNC_MEMOPS = 6 };

static void on_call(struct rule_run *run, const struct call_view *view)
{
    const char *api = view->api != NULL && view->api->text != NULL ? view->api->text : "";
    uint64_t word = call_word(view->call, 0);
    if (!view->succeeded)
        return;
    bool flags = strncmp(api, "cuCtxSetFlags", 13) == 0 || strncmp(api, "cuDevicePrimaryCtxSetFlags", 26) == 0;
    flags |= view->call->r.op == PTDS_OP_CTX_CREATE;
    if (flags && (word & CTX_SYNC_MEMOPS))
        finding_cost_unknown(finding_at(&run->findings, run->rule, view, SYNC_MEMOPS));
    else if (strcmp(api, "cuPointerSetAttribute") == 0 && word == POINTER_ATTRIBUTE_SYNC_MEMOPS)
        finding_severity(finding_at(&run->findings, run->rule, view, SYNC_MEMOPS_RANGE), SEVERITY_NOTE);
}

static bool is_on(const char *value)
{
    return value != NULL && value[0] != 0 && strcmp(value, "0") != 0;
}

/* Of LD_PRELOAD: what the known tools put there. */
static bool names_tool(const char *preload)
{
    static const char *const tools[] = {"libToolsInjection", "libsanitizer-collection", "libTreeLauncher",
                                        "libInterceptorInjection", "libcuinj"};
    for (size_t i = 0; preload != NULL && i < sizeof tools / sizeof tools[0]; i++)
        if (strstr(preload, tools[i]) != NULL)
            return true;
    return false;
}

static void about(struct rule_run *run, uint32_t detail, const char *name, const char *value)
{
    struct line line = {0};
    line_add(&line, "%s=%s", name, value);
    finding_cost_unknown(finding_about(&run->findings, run->rule, detail, line.text));
}

static void end(struct rule_run *run)
{
    const struct definitions *defs = &run->trace->defs;
    const char *blocking = definitions_setting(defs, "CUDA_LAUNCH_BLOCKING");
    const char *preload = definitions_setting(defs, "LD_PRELOAD");
    const char *shake = definitions_setting(defs, "PTDS_SHAKE");
    if (is_on(blocking))
        about(run, LAUNCH_BLOCKING, "CUDA_LAUNCH_BLOCKING", blocking);
    if (is_on(shake))
        about(run, SHAKEN, "PTDS_SHAKE", shake);
    static const char *const injections[] = {"CUDA_INJECTION64_PATH", "CUDA_INJECTION32_PATH"};
    for (size_t i = 0; i < sizeof injections / sizeof injections[0]; i++) {
        const char *value = definitions_setting(defs, injections[i]);
        if (value != NULL && value[0] != 0)
            about(run, TOOL, injections[i], value);
    }
    if (names_tool(preload))
        about(run, TOOL, "LD_PRELOAD", preload);
}

static const struct rule rule = {
    .id = "process-switch",
    .class_ = "H13",
    .removed_by = REMOVED_NEVER,
    .severity = SEVERITY_WARNING,
    .banner = true,
    .title = "a switch changes how the whole process runs",
    .sentence = "With it, calls wait that would not, and kernels run one by one: other findings describe that, not the "
                "program.",
    .advice = "Switch it off and record again, unless this run is about it.",
    .details = details,
    .bad = "setting CUDA_LAUNCH_BLOCKING=1\n"
           "1@0 launch s=N1 k=a\n",
    .good = "setting CUDA_LAUNCH_BLOCKING=0\n"
            "setting CUDA_MODULE_LOADING=EAGER\n"
            "setting CUDA_INJECTION64_PATH=\n"
            "setting PTDS_SHAKE=\n"
            "setting LD_PRELOAD=/usr/lib/libptds.so\n"
            "1@0 config flags=4\n"
            "1@10 config api=cuPointerSetAttribute flags=1\n"
            "1@20 launch s=N1 k=a\n",
    .ops = RULE_OP(PTDS_OP_CONFIG) | RULE_OP(PTDS_OP_CTX_CREATE),
    .on_call = on_call,
    .end = end,
};
PTDS_RULE(rule);
