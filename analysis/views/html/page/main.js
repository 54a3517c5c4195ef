// SPDX-License-Identifier: Apache-2.0
// Starts the page: what needs no unpacking first, then the timeline with its legend and its honest notes.
{
  const { byId, el, replace, count, plural, time } = ptds;

  function notes(tables, data) {
    const out = [];
    const lone = data.apart ? data.apart.filter((part) => !part.comparable) : [];
    if (tables.left_out) out.push(`${tables.left_out === 1 ? "1 process is" : count(tables.left_out) + " processes are"} not drawn: clocks that cannot be converted.`);
    if (lone.length) out.push(`The clocks of ${lone.map((part) => part.title.split(",")[0]).join(", ")} cannot be compared with others: each begins at 0 here.`);
    if (data.apart && tables.operations < tables.operations_seen)
      out.push(`This timeline is an excerpt: ${count(tables.operations)} of ${count(tables.operations_seen)} operations, of each process the stretch that lost the most host time. The findings are of all operations. A page of one process has more room.`);
    else if (tables.operations < tables.operations_seen) {
      const from = time(tables.start_ns, 2), to = tables.start_ns === null ? "unknown" : time(tables.start_ns + data.end * tables.unit_ns, 2);
      out.push(`This timeline is an excerpt: ${count(tables.operations)} of ${count(tables.operations_seen)} operations, ${from} to ${to}, the stretch that lost the most host time. ` +
        "The findings are of all operations. Another stretch: ptds report --from T --to T.");
    }
    if (tables.edges_left_out) out.push(`${count(tables.edges_left_out)} implicit orders are counted below and not drawn, those that are not needed before others.`);
    if (tables.regions_left_out) out.push(`${count(tables.regions_left_out)} regions are not drawn: there are too many, or they are nested too deep.`);
    if (tables.out_of_memory) out.push("There was not enough memory for all operations of the timeline.");
    if (!tables.has_time) out.push("The trace's clock cannot be converted: operations are in order, their distances are ticks.");
    return out;
  }

  const submitted = "is the call that submitted the work: it begins when the call was entered and is as long as the call took on the host, not as long as the work ran.";

  // What the boxes on streams are; nobody may take a host's times for a GPU's.
  function deviceNote(tables, data) {
    if (!tables.runs) return "Device times are not part of this timeline. A box on a stream " + submitted;
    let work = 0;
    for (let i = 0; i < data.count; i++) work += data.op.flags[i] & ptds.flags.GPU ? 1 : 0;
    const others = work - tables.runs;
    return `A box in a row "on the GPU" was measured there, from the work's start to its end: ${plural(tables.runs, "operation")}` +
      (others > 0 ? `; of ${count(others)} it is unknown when they ran` : "") + ". Any other box on a stream " + submitted;
  }

  function line(at) {
    const svg = byId("arrow").content.firstElementChild.cloneNode(true);
    const dash = ptds.dashes[at].join(" ") || "none", color = `var(--v-${ptds.verdictKeys[at]})`;
    svg.firstElementChild.setAttribute("style", `stroke:${color};fill:${color};stroke-dasharray:${dash}`);
    return svg;
  }

  function legend(judged, tables) {
    const boxes = ptds.classes.map(({ name, text }) => el("span", {}, el("i", { style: `background:var(--c-${name})` }), text));
    for (const [color, text] of [["blocked", "waits because of the default stream"], ["own", "other waits: own work, frees, loads"]])
      boxes.push(el("span", {}, el("i", { style: `background:linear-gradient(transparent 33%,var(--${color}) 33%)` }), text));
    if (tables.regions) boxes.push(el("span", {}, el("i", { style: "background:var(--c-region);outline:1px solid var(--soft)" }), "regions that the program marks"));
    if (tables.runs) boxes.push(el("span", {}, el("i", { style: "background:linear-gradient(var(--gpu) 34%,var(--c-kernel) 34%)" }), "measured on the GPU"));
    const edges = judged
      ? tables.verdicts.map((name, at) => el("label", {}, el("input", { type: "checkbox", id: "shows-" + ptds.verdictKeys[at], checked: "", onchange: (event) => ptds.timeline.setVerdict(at, event.target.checked) }), " ", line(at), name + " order"))
      : [el("span", {}, "implicit orders: not analysed")];
    replace(byId("legend"), boxes);
    replace(byId("kinds"), edges);
    byId("arrows").disabled = !judged;
  }

  async function timeline(report) {
    const operations = ptds.tables.parts.reduce((sum, part) => sum + part.operations, 0);
    const why = operations === 0 ? "There are no recorded operations to draw."
      : typeof DecompressionStream === "undefined" ? "This browser cannot unpack the timeline's data (it lacks DecompressionStream); everything above is complete."
      : null;
    if (why) {
      byId("timeline").classList.add("no-timeline");
      return replace(byId("timeline-notes"), el("p", {}, why));
    }
    const data = await ptds.loadData(report.processes ? report.processes.map((one, at) => `Process ${at}, ${ptds.processName(one)}`) : null), { tables } = data;
    legend(ptds.tables.parts.some((part) => part.edges) || report.edges, tables);
    ptds.timeline.start(data, report);
    ptds.startKeys();
    replace(byId("timeline-notes"), notes(tables, data).map((text) => el("p", {}, text)));
    byId("device-note").textContent = deviceNote(tables, data);
    byId("stage").dataset.operations = data.count;
  }

  async function start() {
    const report = JSON.parse(byId("data-report").textContent);
    ptds.startTheme();
    (report.processes ? ptds.startProcesses : ptds.startSummary)(report);
    ptds.startFindings(report);
    ptds.startRepair(report);
    await timeline(report);
    ptds.startLink();
    document.documentElement.dataset.ready = Math.round(performance.now());
  }

  start().catch((error) => {
    byId("timeline-notes").append(el("p", {}, "This page could not be drawn completely: " + error.message));
    document.documentElement.dataset.ready = "failed";
    console.error(error);
  });
}
