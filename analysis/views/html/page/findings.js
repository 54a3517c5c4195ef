// SPDX-License-Identifier: Apache-2.0
// The table of findings: sorting, filtering, and the details of one.
{
  const { byId, el, replace, time, count, plural, percent, verdictTags, verdictKeys, verdictWords, frame, site, names } = ptds;
  let findings = [], total = 0, sorted = { key: "number", down: false };
  const open = new Set();

  // What a row is sorted by; unknown costs come after known ones, whichever way.
  const keys = {
    number: (one) => one.number,
    rule: (one) => one.finding.rule,
    severity: (one) => ptds.tables.severities.indexOf(one.finding.severity),
    cost: (one) => one.finding.cost.host_ns,
    count: (one) => one.finding.count,
    verdict: (one) => ptds.verdictOrder(one.finding),
    api: (one) => one.finding.api || one.finding.object || "",
    site: (one) => one.site || "",
  };

  function compare(a, b) {
    const one = keys[sorted.key](a), two = keys[sorted.key](b);
    if (one === null || two === null) return (one === null) - (two === null) || a.number - b.number;
    const order = typeof one === "string" ? one.localeCompare(two) : one - two;
    return (sorted.down ? -order : order) || a.number - b.number;
  }

  const setNames = [["threads", "threads"], ["streams", "streams"], ["waits_for", "waits for streams"], ["kernels", "kernels"],
    ["waits_for_kernels", "behind kernels"], ["held_threads", "threads held up"], ["contexts", "contexts"]];

  // Stacks of interpreters are long, and what called CUDA is at their beginning.
  const FRAMES_FIRST = 16;
  function stack(frames) {
    const item = (one) => el("li", {}, frame(one)), rest = frames.slice(FRAMES_FIRST);
    const more = rest.length ? el("details", {}, el("summary", {}, `${plural(rest.length, "more frame")}`), el("ol", { class: "site", start: FRAMES_FIRST + 1 }, rest.map(item))) : null;
    return el("div", {}, el("ol", { class: "site" }, frames.slice(0, FRAMES_FIRST).map(item)), more);
  }

  function details({ finding, number }) {
    const rows = [];
    const row = (name, value) => value !== null && value !== undefined && rows.push(el("dt", {}, name), el("dd", {}, value));
    row("severity", `${finding.severity}, class ${finding.class}`);
    row("case", finding.case);
    row("told in one line", finding.folded && ptds.tables.folds[finding.folded]);
    if (finding.pair) row("the pair", ptds.pair(finding.pair));
    row("object", finding.object);
    row("call", finding.api && finding.api + (finding.twin ? " (per-thread twin)" : ""));
    row("saves at most", finding.cost.host_ns === null ? "unknown"
      : `${time(finding.cost.host_ns)} in ${plural(finding.cost.host_known_calls, "call")}` +
        (finding.cost.host_known_calls > finding.count ? ", those that were held up among them" : "") +
        (finding.cost.host_unknown_calls ? `; unknown for ${count(finding.cost.host_unknown_calls)}` : ""));
    row("GPU time", time(finding.cost.gpu_ns));
    if (finding.api) row("implicit orders here", el("span", {}, verdictTags(finding.verdicts)));
    row("results", ptds.needed(number - 1));
    if (finding.sequence !== null) {
      const mates = findings.filter((one) => one.finding.sequence === finding.sequence && one.number !== number).map((one) => "#" + one.number);
      row("sequence", `with ${mates.join(", ")}: removing one wait exposes the next`);
    }
    row("first and last", finding.first_ns === null ? null : `${time(finding.first_ns, 2)} and ${time(finding.last_ns, 2)} after the start`);
    row("by process", ptds.shares(finding));
    row("what follows", finding.values_of_process === undefined ? null : `is of process ${finding.values_of_process}, which it cost most`);
    for (const [key, name] of setNames) row(name, names(finding, key));
    for (const [name, value] of ptds.tables.findings[number - 1].numbers) row(name, value);
    row("stack", finding.callsite.length ? stack(finding.callsite) : finding.api ? "not recorded" : null);
    row("by policy", finding.goes.text);
    row("id", el("code", {}, finding.id));
    const show = ptds.showFinding && el("button", { type: "button", onclick: () => ptds.showFinding(number) }, "Show in the timeline");
    return el("div", {}, el("strong", {}, finding.title), el("p", {}, finding.text), el("p", {}, el("b", {}, "Advice: "), finding.advice), show || null, el("dl", {}, rows));
  }

  function turn(number) {
    if (!open.delete(number)) open.add(number);
    draw(number);
  }

  // A click anywhere in a row opens it, but for one that ends a selection of its text.
  function rows(one) {
    const { finding, number } = one, isOpen = open.has(number);
    const toggle = el("button", { type: "button", class: "open", "aria-expanded": String(isOpen), "aria-label": "Details of finding " + number,
      onclick: () => turn(number) }, (isOpen ? "\u25be" : "\u25b8") + " " + number);
    const cost = finding.cost.host_ns;
    const share = cost && total ? ` (${percent(cost, total)})` : "";
    const row = el("tr", { class: "finding", id: "finding-" + number, onclick: (event) => { if (!event.target.closest("button") && getSelection().isCollapsed) turn(number); } },
      el("td", {}, toggle), el("td", {}, finding.rule), el("td", {}, ptds.severityTag(finding)),
      el("td", { class: "n", "data-label": "saves at most" }, time(cost) + share), el("td", { class: "n", "data-label": "calls" }, count(finding.count)),
      el("td", {}, finding.api ? verdictTags(finding.verdicts) : ""), el("td", { class: "site" }, finding.api || finding.object || ""),
      el("td", { class: "site" }, one.site || (finding.api ? "not recorded" : "")));
    const more = el("tr", { class: "more", hidden: !isOpen && "" }, el("td", { colspan: 8 }, isOpen ? details(one) : null));
    return [row, more];
  }

  function chosen() {
    const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const rule = byId("class").value, verdict = byId("verdict").value;
    return findings.filter((one) => (!rule || one.finding.rule === rule) && words.every((word) => one.text.includes(word)) &&
      (!verdict || (verdict === "none" ? !one.finding.verdicts : one.finding.verdicts && one.finding.verdicts[verdict] > 0)));
  }

  // The timeline should not be far below; everything is one press away.
  const ROWS_FIRST = 15;
  let all = false;

  function draw(focus) {
    const list = chosen().sort(compare), shown = all ? list : list.slice(0, ROWS_FIRST);
    replace(byId("list").tBodies[0], shown.map(rows).flat());
    byId("shown").textContent = `${count(list.length)} of ${plural(findings.length, "finding")}`;
    byId("all").hidden = shown.length === list.length;
    byId("all").textContent = `Show all ${count(list.length)}`;
    for (const th of byId("list").tHead.rows[0].cells) {
      if (th.firstElementChild.dataset.sort === sorted.key) th.setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
      else th.removeAttribute("aria-sort");
    }
    if (focus) byId("finding-" + focus)?.querySelector("button").focus();
  }

  function sortBy(key) {
    const first = key === "cost" || key === "count" || key === "severity"; /* these begin with the largest */
    sorted = { key, down: sorted.key === key ? !sorted.down : first };
    draw();
  }

  ptds.drawFindings = () => draw();
  ptds.openFinding = (number) => {
    byId("filter").value = byId("class").value = byId("verdict").value = "";
    all = true;
    open.add(number);
    draw(number);
    byId("finding-" + number)?.scrollIntoView({ block: "start" });
  };

  ptds.startFindings = (report) => {
    total = report.totals.host_ns_lost || 0;
    findings = report.findings.map((finding, at) => {
      const where = site(at);
      const words = [finding.rule, finding.api, finding.object, finding.title, ...finding.callsite.map(frame), ...setNames.map(([key]) => names(finding, key))];
      return { finding, number: at + 1, site: where, text: words.filter(Boolean).join(" ").toLowerCase() };
    });
    for (const rule of [...new Set(report.findings.map((one) => one.rule))].sort()) byId("class").append(el("option", {}, rule));
    for (const key of report.edges ? verdictKeys : []) byId("verdict").append(el("option", { value: key }, verdictWords[key]));
    if (!report.edges) byId("verdict").append(el("option", { value: "none" }, "not analysed"));
    for (const id of ["filter", "class", "verdict"]) byId(id).addEventListener("input", () => draw());
    byId("list").tHead.addEventListener("click", (event) => event.target.dataset.sort && sortBy(event.target.dataset.sort));
    byId("all").addEventListener("click", () => { all = true; draw(); });
    draw();
  };
}
