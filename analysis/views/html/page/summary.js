// SPDX-License-Identifier: Apache-2.0
// The summary at the top of the page, from the JSON report alone.
{
  const { byId, el, replace, time, count, plural, percent, verdictTags, reasonWords, verdictKeys, site, names, needed, bare, brief } = ptds;

  const card = (value, text) => el("li", {}, el("b", {}, value), " " + text);

  // A verdict in its colour. A "right" that is not about the whole run, or that has its doubts, has a colour of its own.
  const verdict = (key, limited, text) => el("p", { class: `verdict is-${key}${limited ? " is-limited" : ""}` }, text);

  function meta(report) {
    const m = report.meta;
    const rank = m.rank === null ? "" : ", rank " + m.rank;
    const selection = m.selection;
    const part = selection
      ? "; only " + [
          selection.thread !== null && "thread " + selection.thread,
          selection.stream !== null && "stream #" + selection.stream,
          selection.from_ns !== null && "from " + time(selection.from_ns),
          selection.to_ns !== null && "to " + time(selection.to_ns),
        ].filter(Boolean).join(", ")
      : "";
    const program = m.program.split("/").pop(), trace = m.trace.split("/").pop();
    byId("meta").textContent = `${program}, pid ${m.pid} on ${m.host}${rank}, policy ${m.policy}; trace ${trace}${part}`;
    document.title = `${program} (pid ${m.pid}): libptds report`;
    const paths = [["program", m.program], ["trace", m.trace]].map(([name, path]) => el("li", {}, `${name}: `, el("code", {}, path)));
    replace(byId("settings"), paths, m.settings.map((text) => el("li", {}, el("code", {}, text))));
  }

  // What changes the whole run is said before anything else.
  function banner(report) {
    byId("banner").hidden = report.banner === null;
    byId("banner").textContent = report.banner || "";
  }

  function cards(report) {
    const t = report.totals, c = report.completeness;
    const unknown = c.gpu_operations - c.gpu_timed;
    replace(
      byId("cards"),
      card(time(report.meta.run_ns), "run time"),
      t.gpu_span_ns ? card(percent(t.gpu_busy_ns, t.gpu_span_ns), (unknown ? "GPU busy at least, of " : "GPU busy, of ") + time(t.gpu_span_ns) + " since its first operation") : null,
      card(count(report.floor.findings_above), `of ${plural(report.findings.length, "finding")} worth a line`),
      card(count(t.calls), t.calls_exact ? "driver calls" : "driver calls recorded"),
      card(count(t.default_stream), `default-stream operations: ${count(t.remapped)} moved, ${count(t.kept_all)} kept`),
      card(plural(t.threads, "thread"), "on " + plural(t.program_streams, "stream")),
      c.gpu_timed ? card(count(c.gpu_timed), "operations with GPU times" + (unknown ? `; of ${plural(unknown, "other")} they are unknown` : "")) : null,
    );
  }

  // Two operations that show what is said.
  const pair = (one) => el("span", {}, el("code", {}, one.text[0]), el("br"), el("code", {}, one.text[1]));

  // The verdict, and the lines that all views begin with: before any table.
  function opening(report) {
    const said = report.outcome;
    replace(
      byId("opening"),
      verdict(said.verdict, !said.complete || said.little || said.possible_conflicts, said.text),
      said.pair ? el("p", {}, pair(said.pair)) : null,
      ptds.tables.opening.map((line) => el("p", {}, line)),
      report.residual.length ? el("p", {}, "Blocked, by what was waited for, and which policy removes it:") : null,
      report.residual.length ? el("ul", {}, report.residual.map((one) => el("li", {}, one.text))) : null,
      el("p", {}, "Next: ", el("code", {}, report.next)),
    );
  }

  // What is not worth a line each, one line a cause.
  function folded(report) {
    byId("folded").hidden = report.causes.length === 0;
    replace(byId("folded"), el("p", { class: "note" }, "The rest, in one line a cause:"), el("ul", {}, report.causes.map((one, i) => el("li", {}, one.text, i === 0 && report.advice ? el("p", { class: "note" }, report.advice) : null))));
  }

  function classTable(report) {
    const all = report.totals.host_ns_lost || 0;
    const body = byId("classes").tBodies[0];
    const rows = report.by_rule.map((one) => {
      const part = one.host_ns && all ? (one.host_ns / all) * 100 : 0;
      const bar = el("span", { class: "share", title: percent(one.host_ns || 0, all) }, el("i", { style: `width:${part.toFixed(1)}%` }));
      return el("tr", {}, el("td", {}, one.rule), el("td", {}, one.class), el("td", { class: "n" }, time(one.host_ns)), el("td", {}, one.host_ns === null ? "" : bar),
        el("td", { class: "n" }, count(one.calls)), el("td", { class: "n" }, count(one.findings)));
    });
    if (rows.length === 0)
      rows.push(el("tr", {}, el("td", { colspan: 6 }, ptds.tables.nothing_found + ".")));
    replace(body, rows);
  }

  // Orders that results depend on, by an example each.
  function examples(groups) {
    const end = (one) => [el("code", {}, one.kernel ? bare(one.kernel.name) : one.api), ` ${ptds.tables.accesses[one.access]}, thread ${one.thread.name}`];
    return groups
      .filter((group) => group.needed > 0 && group.pair)
      .slice(0, 5)
      .map((group) => el("li", {}, `${plural(group.needed, "time")}: `, end(group.pair.first), "; then ", end(group.pair.second)));
  }

  function verdicts(report) {
    const edges = report.edges;
    if (!edges)
      return replace(byId("verdicts"), el("p", { class: "note" }, "Not analysed in this report: no verdict is given, for any order."));
    const reasons = Object.entries(edges.by_reason || {}).filter(([, number]) => number > 0);
    replace(
      byId("verdicts"),
      el("p", {}, plural(edges.total, "implicit order") + ": ", verdictTags(edges.by_verdict), ptds.tables.lost),
      el("p", { class: "note" }, "Needed: two operations on the same memory, one of which writes it, have no other order. Not needed: all that it orders is known, and nothing of it shares memory. Maybe needed: neither can be said, for these reasons."),
      el("ul", {}, examples(edges.groups || [])),
      reasons.length ? el("ul", {}, reasons.map(([reason, number]) => el("li", {}, `${count(number)} maybe needed: ${reasonWords[reason] || reason}`))) : null,
    );
  }

  function top(report) {
    const all = report.totals.host_ns_lost || 0, shown = report.entries.slice(0, 5);
    const item = (entry) => {
      const at = entry.finding - 1, finding = report.findings[at], others = entry.others.map((one) => one.finding);
      const behind = names(finding, "waits_for_kernels", brief);
      const link = el("a", { href: "#finding-" + (at + 1), onclick: (event) => { event.preventDefault(); ptds.openFinding(at + 1); } }, `#${at + 1} ${finding.rule}`), severity = finding.severity === "error" ? ptds.severityTag(finding) : null;
      return el("li", {}, link, severity ? " " : ": ", severity, `${entry.host_ns === null ? "cost unknown" : time(entry.host_ns)}, ${plural(entry.calls, "call")}` + (entry.places > 1 ? `, at ${entry.places} places` : ""),
        el("div", { class: "site" }, [finding.api || finding.object, site(at)].filter(Boolean).join(" at ")),
        finding.case ? el("div", { class: "note" }, finding.case) : null,
        behind ? el("div", { class: "note" }, "behind " + behind) : null,
        el("div", { class: "note" }, finding.goes.text),
        needed(at) ? el("div", { class: finding.severity === "error" ? "s-error" : "v-needed" }, needed(at)) : null,
        others.length ? el("div", { class: "note" }, `one sequence with #${others.join(", #")}: removing one wait exposes the next`) : null,
        entry.advised ? null : el("div", { class: "note" }, finding.advice));
    };
    replace(byId("top"), shown.map(item));
    folded(report);
    if (shown.length === 0) return;
    const covered = shown.reduce((ns, one) => ns + (one.host_ns || 0), 0);
    byId("cover").textContent = `${shown.length} of ${count(report.entries.length)} ${report.entries.length === 1 ? "entry" : "entries"}` + (covered > 0 ? `, ${percent(covered, all)} of what all would save.` : ".");
  }

  function gaps(report) {
    const c = report.completeness;
    const items = c.gaps.map((text) => el("li", {}, text));
    items.push(...c.damages.map((one) => el("li", {}, `damage at offset ${one.offset}: ${one.text}`)));
    const past = c.past_the_shim;
    if (items.length === 0) items.push(el("li", {}, (past.length ? "Of what the shim saw, the" : "Nothing: the") + ` records are complete (${c.gpu_times}).`));
    items.push(...past.map((text) => el("li", {}, text)));
    replace(byId("gaps"), items);
  }

  ptds.startSummary = (report) => {
    meta(report);
    banner(report);
    opening(report);
    cards(report);
    classTable(report);
    verdicts(report);
    top(report);
    gaps(report);
    byId("gpu-times").textContent = report.completeness.gpu_times + ".";
    byId("foot").textContent = `Report version ${report.ptds_report_version}; trace version ${report.meta.trace_version}, written by libptds ${report.meta.libptds}.`;
  };
  Object.assign(ptds, { card, verdict, classTable, top, pair });
  ptds.verdictOrder = (finding) => (finding.verdicts ? verdictKeys.findIndex((key) => finding.verdicts[key] > 0) : -2);
}
