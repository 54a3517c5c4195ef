// SPDX-License-Identifier: Apache-2.0
// The summary at the top of the page, from the JSON report alone.
{
  const { byId, el, replace, time, count, plural, percent, verdictTags, reasonWords, verdictKeys, site, names, needed, bare, brief } = ptds;

  const card = (value, text) => el("div", { class: "card" }, el("b", {}, value), el("span", {}, text));
  const sum = (object) => Object.values(object).reduce((all, one) => all + one, 0);

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
    byId("meta").textContent = `${m.program}, pid ${m.pid} on ${m.host}${rank}, policy ${m.policy}; trace ${m.trace}${part}`;
    document.title = `${m.program.split("/").pop()} (pid ${m.pid}): libptds report`;
    replace(byId("settings"), m.settings.map((text) => el("li", {}, el("code", {}, text))));
  }

  // What changes the whole run is said before anything else.
  function banner(report) {
    const found = report.findings.filter((one) => one.banner).map((one) => one.object || one.rule);
    byId("banner").hidden = found.length === 0;
    byId("banner").textContent = "All of this run is changed by " + found.join(", ");
  }

  function cards(report) {
    const t = report.totals, kept = sum(t.kept), c = report.completeness;
    const unknown = c.gpu_operations - c.gpu_timed;
    replace(
      byId("cards"),
      card(time(report.meta.run_ns), "run time"),
      card(lost(report), "host time lost to waiting"),
      card(count(report.findings.length), report.findings.length === 1 ? "finding" : "findings"),
      card(count(t.calls), t.calls_exact ? "driver calls" : "driver calls recorded"),
      card(count(t.default_stream), `default-stream operations: ${count(t.remapped)} remapped, ${count(kept)} kept`),
      card(plural(t.threads, "thread"), plural(sum(t.streams), "stream")),
      c.gpu_timed ? card(count(c.gpu_timed), "operations with GPU times" + (unknown ? `; of ${plural(unknown, "other")} they are unknown` : "")) : null,
    );
  }

  function lost(report) {
    const ns = report.totals.host_ns_lost;
    return ns === null && report.findings.length === 0 && report.meta.run_ns !== null ? "none" : time(ns);
  }

  function byClass(report) {
    const classes = new Map();
    for (const finding of report.findings) {
      const one = classes.get(finding.rule) || { rule: finding.rule, class: finding.class, ns: null, calls: 0, sites: 0 };
      if (finding.cost.host_ns !== null) one.ns = (one.ns || 0) + finding.cost.host_ns;
      one.calls += finding.count;
      one.sites++;
      classes.set(finding.rule, one);
    }
    return [...classes.values()].sort((a, b) => (b.ns || 0) - (a.ns || 0) || b.calls - a.calls);
  }

  function classTable(report) {
    const all = report.totals.host_ns_lost || 0;
    const body = byId("classes").tBodies[0];
    const rows = byClass(report).map((one) => {
      const part = one.ns && all ? (one.ns / all) * 100 : 0;
      const bar = el("span", { class: "share", title: percent(one.ns || 0, all) }, el("i", { style: `width:${part.toFixed(1)}%` }));
      return el("tr", {}, el("td", {}, one.rule), el("td", {}, one.class), el("td", { class: "n" }, time(one.ns)), el("td", {}, one.ns === null ? "" : bar),
        el("td", { class: "n" }, count(one.calls)), el("td", { class: "n" }, count(one.sites)));
    });
    if (rows.length === 0)
      rows.push(el("tr", {}, el("td", { colspan: 6 }, report.rules ? `No hazards found: ${plural(report.rules.length, "rule")} over ${count(report.totals.recorded)} recorded calls.` : "No hazards found.")));
    replace(body, rows);
  }

  // Orders that results depend on, by an example each.
  function examples(groups) {
    const words = { read: "reads", write: "writes" };
    const end = (one) => [el("code", {}, one.kernel ? bare(one.kernel.name) : one.api), ` ${words[one.access] || "uses"}, thread ${one.thread.name}`];
    return groups
      .filter((group) => group.load_bearing > 0 && group.pair)
      .slice(0, 5)
      .map((group) => el("li", {}, `${count(group.load_bearing)} times: `, end(group.pair.first), "; then ", end(group.pair.second)));
  }

  function verdicts(report) {
    const edges = report.edges;
    if (!edges)
      return replace(byId("verdicts"), el("p", { class: "note" }, "Not analysed in this report: no verdict is given, for any order."));
    const reasons = Object.entries(edges.by_reason || {}).filter(([, number]) => number > 0);
    replace(
      byId("verdicts"),
      el("p", {}, plural(edges.total, "implicit order") + ": ", verdictTags(edges.by_verdict)),
      el("p", { class: "note" }, "False: orders nothing that shares memory. Load-bearing: two operations that share memory have no other order. Unknown: neither can be said."),
      el("ul", {}, examples(edges.groups || [])),
      reasons.length ? el("ul", {}, reasons.map(([reason, number]) => el("li", {}, count(number) + " unknown: " + (reasonWords[reason] || reason)))) : null,
    );
  }

  // Findings of one sequence count as one entry, at its costliest.
  function entries(report) {
    const out = [], sequences = new Map();
    report.findings.forEach((finding, at) => {
      const known = finding.sequence !== null && sequences.get(finding.sequence);
      if (known) return void known.others.push(at + 1);
      const entry = { finding, at, others: [], ns: finding.sequence !== null ? report.sequences[finding.sequence - 1].host_ns : finding.cost.host_ns };
      if (finding.sequence !== null) sequences.set(finding.sequence, entry);
      out.push(entry);
    });
    const error = (entry) => (entry.finding.severity === "error" ? 1 : 0);
    return out.sort((a, b) => error(b) - error(a) || (b.ns || 0) - (a.ns || 0) || a.at - b.at);
  }

  function top(report) {
    const all = report.totals.host_ns_lost || 0, list = entries(report), shown = list.slice(0, 10), advised = new Set();
    const item = ({ finding, at, others, ns }) => {
      const advice = advised.has(finding.rule) ? null : el("div", { class: "note" }, finding.advice);
      advised.add(finding.rule);
      const behind = names(finding, "waits_for_kernels", brief);
      const link = el("a", { href: "#finding-" + (at + 1), onclick: (event) => { event.preventDefault(); ptds.openFinding(at + 1); } }, `#${at + 1} ${finding.rule}`), severity = finding.severity === "error" ? ptds.severityTag(finding) : null;
      return el("li", {}, link, severity ? " " : ": ", severity, `${ns === null ? "cost unknown" : time(ns)}, ${plural(finding.count, "call")}`, el("div", { class: "site" }, [finding.api || finding.object, site(finding)].filter(Boolean).join(" at ")),
        behind ? el("div", { class: "note" }, "behind " + behind) : null,
        needed(finding) ? el("div", { class: "v-load-bearing" }, needed(finding)) : null,
        others.length ? el("div", { class: "note" }, `one sequence with #${others.join(", #")}: removing one wait exposes the next`) : null, advice);
    };
    replace(byId("top"), shown.map(item));
    if (list.length === 0) return;
    const covered = shown.reduce((ns, one) => ns + (one.ns || 0), 0);
    byId("cover").textContent = `${shown.length} of ${list.length} entries` + (all > 0 ? `, ${percent(covered, all)} of the host time lost.` : ".");
  }

  function gaps(report) {
    const c = report.completeness;
    const items = c.gaps.map((text) => el("li", {}, text));
    items.push(...c.damages.map((one) => el("li", {}, `damage at offset ${one.offset}: ${one.text}`)));
    if (items.length === 0) items.push(el("li", {}, `Nothing: the records are complete (${c.gpu_times}).`));
    replace(byId("gaps"), items);
  }

  ptds.startSummary = (report) => {
    meta(report);
    banner(report);
    cards(report);
    classTable(report);
    verdicts(report);
    top(report);
    gaps(report);
    byId("gpu-times").textContent = report.completeness.gpu_times + ".";
    byId("foot").textContent = `Report version ${report.ptds_report_version}; trace version ${report.meta.trace_version}, written by libptds ${report.meta.libptds}.`;
  };
  Object.assign(ptds, { classTable, top });
  ptds.verdictOrder = (finding) => (finding.verdicts ? verdictKeys.findIndex((key) => finding.verdicts[key] > 0) : -2);
}
