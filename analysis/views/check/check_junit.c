/* SPDX-License-Identifier: Apache-2.0
 *
 * A check as JUnit XML, as GitLab, Jenkins and the actions for GitHub read it: a test for each rule, which passes where
 * nothing of it fails, and one that says whether the traces were complete.
 */
#include <string.h>

#include "analysis/base/sink.h"
#include "analysis/report/report.h"
#include "analysis/views/check/check_views.h"

/* Names in objects may be any bytes, and a text that was cut may end within a character. */
static void put_text(struct text_sink *sink, const char *text)
{
    char clean[1100];
    text_clean(clean, sizeof clean, text, strlen(text));
    for (text = sink_until(sink, clean, "&<>\"\n"); *text != 0; text = sink_until(sink, text + 1, "&<>\"\n"))
        switch (*text) {
        case '&': sink_printf(sink, "&amp;"); break;
        case '<': sink_printf(sink, "&lt;"); break;
        case '>': sink_printf(sink, "&gt;"); break;
        case '"': sink_printf(sink, "&quot;"); break;
        default: sink_printf(sink, "\n");
        }
}

static bool has_failed(const struct check_results *results, const char *what)
{
    for (size_t i = 0; i < results->items.count; i++)
        if (results->items.items[i].fails && strcmp(results->items.items[i].what, what) == 0)
            return true;
    return false;
}

static void begin_case(struct text_sink *sink, const char *class, const char *name)
{
    sink_printf(sink, "    <testcase classname=\"ptds.");
    put_text(sink, class);
    sink_printf(sink, "\" name=\"");
    put_text(sink, name);
    sink_printf(sink, "\"");
}

static void put_failure(struct text_sink *sink, const struct check_item *item)
{
    begin_case(sink, item->what, item->text);
    sink_printf(sink, ">\n      <failure type=\"%s\" message=\"", severity_names[item->severity]);
    put_text(sink, item->what);
    sink_printf(sink, "%s%s: ", item->state != STATE_THERE ? ", " : "",
                item->state != STATE_THERE ? state_names[item->state] : "");
    put_text(sink, item->text);
    sink_printf(sink, "\">");
    if (item->site[0] != 0) {
        sink_printf(sink, "at ");
        put_text(sink, item->site);
        sink_printf(sink, "\n");
    }
    put_text(sink, item->more);
    sink_printf(sink, "</failure>\n    </testcase>\n");
}

static void put_complete(struct text_sink *sink, const struct check_results *results)
{
    begin_case(sink, "traces", "complete");
    if (results->incomplete.count == 0 && !results_inconclusive(results)) {
        sink_printf(sink, "/>\n");
        return;
    }
    sink_printf(sink, results_inconclusive(results)
                          ? ">\n      <error type=\"incomplete\" message=\"nothing can be concluded from "
                            "what is not there\">"
                          : ">\n      <system-out>allowed to be incomplete:\n");
    for (size_t i = 0; i < results->incomplete.count; i++) {
        put_text(sink, results->incomplete.items[i]);
        sink_printf(sink, "\n");
    }
    sink_printf(sink, "</%s>\n    </testcase>\n", results_inconclusive(results) ? "error" : "system-out");
}

/* What passed. */
static size_t put_passed(struct text_sink *sink, const struct check_results *results)
{
    const struct rule *rules[RULES_MOST];
    size_t count = registry_all(rules), passed = 0;
    for (size_t i = 0; i < count; i++) {
        if (has_failed(results, rules[i]->id))
            continue;
        passed++;
        if (sink == NULL)
            continue;
        begin_case(sink, rules[i]->id, rules[i]->title);
        sink_printf(sink, "/>\n");
    }
    return passed;
}

int check_junit(const struct check_results *results, struct text_sink *sink)
{
    size_t failures = results_failures(results), errors = results_inconclusive(results);
    size_t tests = failures + put_passed(NULL, results) + 1;
    sink_printf(sink, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    sink_printf(sink, "<testsuites tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n", tests, failures, errors);
    sink_printf(
        sink, "  <testsuite name=\"ptds check\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" skipped=\"0\" time=\"0\">\n",
        tests, failures, errors);
    put_complete(sink, results);
    for (size_t i = 0; i < results->items.count; i++)
        if (results->items.items[i].fails)
            put_failure(sink, &results->items.items[i]);
    put_passed(sink, results);
    sink_printf(sink, "    <system-out>");
    put_text(sink, results_sum(results).text);
    sink_printf(sink, "\n</system-out>\n  </testsuite>\n</testsuites>\n");
    return 0;
}
