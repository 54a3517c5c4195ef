// SPDX-License-Identifier: Apache-2.0
// The summary of a report on several processes: who they were, and how unevenly a finding costs them.
{
  const { byId, el, replace, time, count, plural, percent, card } = ptds;

  const name = (one) => `${one.host}${one.rank === null ? "" : " rank " + one.rank} pid ${one.pid}`;
  ptds.processName = name;
  const program = (one) => one.program.split("/").pop();

  // A few names, and how many others there are; these show when asked for.
  const NAMES_FIRST = 3;
  const briefly = (list) => list.slice(0, NAMES_FIRST).join(", ") + (list.length > NAMES_FIRST ? ` and ${count(list.length - NAMES_FIRST)} more` : "");
  function few(list) {
    if (list.length <= NAMES_FIRST + 1) return list.join(", ");
    return el("details", { class: "names" }, el("summary", {}, briefly(list)), el("span", {}, list.slice(NAMES_FIRST).join(", ")));
  }

  function meta(report) {
    const programs = [...new Set(report.processes.map(program))], policies = [...new Set(report.processes.map((one) => one.policy))];
    replace(byId("meta"), `${count(report.processes.length)} processes of `, few(programs), `; policy ${policies.join(", ")}`);
    document.title = `${briefly(programs)} (${report.processes.length} processes): libptds report`;
    const settings = report.processes.map((one) => one.settings), common = settings[0].filter((text) => settings.every((all) => all.includes(text)));
    replace(byId("settings"), el("li", {}, "of all processes:"), common.map((text) => el("li", {}, el("code", {}, text))));
  }

  function cards(report) {
    const timed = report.totals.gpu_timed, unknown = report.totals.gpu_operations - timed;
    replace(
      byId("cards"),
      card(count(report.processes.length), "processes"),
      card(report.totals.blocked_ns === null ? "unknown" : time(report.totals.blocked_ns), "blocked in calls, all threads of all processes"),
      card(count(ptds.tables.findings_shown), `of ${plural(report.findings.length, "finding")} worth a line`),
      card(count(report.totals.calls), "driver calls"),
      card(count(report.totals.default_stream), `default-stream operations: ${count(report.totals.remapped)} moved`),
      timed ? card(count(timed), "operations with GPU times" + (unknown ? `; of ${plural(unknown, "other")} they are unknown` : "")) : null,
    );
    byId("gpu-times").textContent = report.totals.gpu_times + ".";
  }

  function opening(report) {
    const sums = report.totals.outcomes, worst = ["wrong", "may-be-wrong", "right"].find((one) => sums[one] > 0) || "unknown";
    replace(byId("opening"), ptds.verdict(worst, sums.unknown || sums.little || sums.possible_conflicts, sums.text), ptds.tables.opening.map((line) => el("p", {}, line)));
  }

  const ROWS_FIRST = 20;

  function table(report) {
    const starts = report.processes.map((one) => one.start_unix_ns).filter((one) => one !== null), first = Math.min(...starts);
    const banners = (at) => report.findings.filter((one) => one.banner && one.severity !== "note" && one.processes.some((share) => share.process === at)).map((one) => one.object || one.api);
    const most = Math.max(...report.processes.map((one) => one.blocked_ns || 0));
    const rows = report.processes.map((one, at) => {
      const changed = banners(at), part = one.blocked_ns ? (100 * one.blocked_ns) / most : 0;
      return el("tr", {}, el("td", { class: "n" }, at), el("td", {}, name(one), changed.length ? el("div", { class: "s-error" }, "changed by " + changed.join(", ")) : null), el("td", {}, program(one)),
        el("td", {}, one.policy), el("td", { class: "n" }, one.start_unix_ns === null ? "unknown" : "+" + time(one.start_unix_ns - first)), el("td", { class: "n" }, time(one.run_ns)),
        el("td", { class: "n" }, count(one.calls)), el("td", { class: "n" }, count(one.findings)), el("td", { class: "n" }, time(one.blocked_ns)),
        el("td", {}, part ? el("span", { class: "share", title: percent(one.blocked_ns, report.totals.blocked_ns) + " of all" }, el("i", { style: `width:${part.toFixed(1)}%` })) : null));
    });
    const shown = (all) => {
      replace(byId("processes").tBodies[0], all ? rows : rows.slice(0, ROWS_FIRST));
      byId("all-processes").hidden = all || rows.length <= ROWS_FIRST;
    };
    byId("all-processes").textContent = `Show all ${count(rows.length)}`;
    byId("all-processes").addEventListener("click", () => shown(true));
    shown(false);
    byId("processes-section").hidden = byId("to-processes").hidden = false;
  }

  // "process 3", "processes 0 to 4, 7"
  function some(list) {
    const runs = [];
    for (const at of list) {
      const last = runs[runs.length - 1];
      if (last && last[1] === at - 1) last[1] = at;
      else runs.push([at, at]);
    }
    const text = runs.map(([from, to]) => (from === to ? from : `${from} to ${to}`)).join(", ");
    return (list.length === 1 ? "process " : "processes ") + text;
  }

  // What is the same of many is said once.
  function gaps(report) {
    const by = new Map();
    report.processes.forEach((one, at) => {
      const damages = one.completeness.damages.map((damage) => `damage at offset ${damage.offset}: ${damage.text}`);
      for (const text of [...one.completeness.gaps, ...damages, ...one.completeness.past_the_shim]) by.set(text, [...(by.get(text) || []), at]);
    });
    const items = [...by].map(([text, list]) => el("li", {}, `${some(list)}: ${text}`));
    if (report.totals.unreadable_traces) items.unshift(el("li", {}, plural(report.totals.unreadable_traces, "trace") + " could not be read"));
    replace(byId("gaps"), items.length ? items : el("li", {}, "Nothing: the records are complete (" + report.totals.gpu_times + ")."));
  }

  // The shares of a finding, the largest first, for its details; nothing in a report on one process.
  const SHARES_FIRST = 12;
  ptds.shares = (finding) => {
    if (!finding.processes) return null;
    const by = finding.host_ns_by_process, shares = [...finding.processes].sort((a, b) => (b.host_ns || 0) - (a.host_ns || 0));
    const list = (some) => el("ol", { class: "plain" }, some.map((one) => el("li", {}, `process ${one.process}: ${plural(one.count, "time")}, ${time(one.host_ns)}`)));
    const rest = shares.slice(SHARES_FIRST);
    return el("div", {},
      by.known_processes ? el("div", {}, `min ${time(by.min)}, median ${time(by.median)}, max ${time(by.max)} (process ${by.max_process})`) : null,
      list(shares.slice(0, SHARES_FIRST)),
      rest.length ? el("details", {}, el("summary", {}, count(rest.length) + " more"), list(rest)) : null);
  };

  ptds.startProcesses = (report) => {
    meta(report);
    opening(report);
    cards(report);
    table(report);
    ptds.classTable(report);
    ptds.top(report);
    gaps(report);
    replace(byId("verdicts"), el("p", { class: "note" }, "Counted process by process: see the page of each trace. Verdicts, values and call sites below are those of the process that a finding costs most."));
    byId("foot").textContent = `Report version ${report.ptds_report_version}; ${plural(report.processes.length, "trace")}.`;
  };
}
