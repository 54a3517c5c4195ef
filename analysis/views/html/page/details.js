// SPDX-License-Identifier: Apache-2.0
// What the timeline's things are, in words: for the tip under the pointer, and for the panel beside the timeline.
{
  const { byId, el, replace, time, plural, flags } = ptds;
  const names = (list, number) => (number ? list[number - 1] ?? "others" : null);
  const since = (tables, units, digits) => time((tables.start_ns || 0) + units * tables.unit_ns, digits);
  const process = (thread) => (thread && thread.process ? thread.process + ", " : "");

  // When it ran on the GPU: nothing where no time of any operation is known, or where there is nothing to know.
  function ranLine({ op, run, runOf, tables }, at) {
    const ran = tables.runs ? runOf[at] - 1 : -1;
    if (ran >= 0) return `ran on the GPU from ${since(tables, run.start[ran], 3)} to ${since(tables, run.start[ran] + run.length[ran], 3)}, ${time(run.length[ran] * tables.unit_ns)}`;
    return tables.runs && op.flags[at] & flags.GPU ? "when it ran on the GPU is unknown" : null;
  }

  function opLines(data, at) {
    const { op, tables } = data, unit = tables.unit_ns, timed = op.flags[at] & flags.TIMED, has = (flag) => op.flags[at] & flag;
    const thread = names(tables.threads, op.thread[at]), stream = names(tables.streams, op.stream[at]), target = names(tables.streams, op.target[at]);
    const kernel = names(tables.kernels, op.kernel[at]), where = names(tables.sites, op.stack[at]);
    return [
      [ptds.apiName(data, at) + (has(flags.TWIN) ? " (per-thread twin)" : ""), kernel && "kernel " + (kernel.name || kernel)].filter(Boolean).join(", "),
      process(thread) + "thread " + (thread ? thread.name || thread : "unknown") + (stream ? `, ${stream.name || stream}` : "") +
        (has(flags.REMAPPED) && target ? `, sent to ${target.name || target}` : "") + (has(flags.LEGACY) ? " (default stream)" : ""),
      (tables.has_time ? `called ${since(tables, op.enter[at], 3)} after the start, ` : "") +
        (timed ? `took ${time(op.length[at] * unit)} on the host` + (op.lost[at] ? `, ${time(op.lost[at] * unit)} of it waiting${has(flags.BEHIND) ? " because of the default stream" : ""}` : "") : "its return was not timed"),
      ranLine(data, at),
      has(flags.FAILED) ? "failed" : null,
      has(flags.CAPTURED) ? "recorded into a capture: ran nowhere" : null,
      where && "at " + where,
    ].filter(Boolean);
  }

  function edgeLines({ edge, tables }, i) {
    const end = (at, thread, stream) =>
      `${process(names(tables.threads, thread))}thread ${names(tables.threads, thread)?.name || "unknown"}, ` + (stream ? names(tables.streams, stream)?.name || "unknown stream" : "the host") +
      (tables.has_time ? ` at ${since(tables, at, 3)}` : "");
    const verdict = edge.verdict[i];
    return [
      `Implicit order (${tables.edge_kinds[edge.kind[i]]}): ${tables.verdicts[verdict]}`,
      "from " + end(edge.from[i], edge.fromThread[i], edge.fromStream[i]),
      "to " + end(edge.to[i], edge.toThread[i], edge.toStream[i]),
      verdict === 2 ? tables.reasons[edge.reason[i]] : null,
      edge.pair[i] ? tables.pairs[edge.pair[i] - 1] : null,
    ].filter(Boolean);
  }

  // What lies outside of the timeline, or was never recorded, is not said to be where the box ends.
  function regionLines({ region, tables }, i) {
    const thread = names(tables.threads, region.thread[i]), has = (flag) => region.flags[i] & tables.region_flags[flag];
    const from = has("EARLIER") ? "began before what is drawn" : "from " + since(tables, region.start[i], 3), to = since(tables, region.start[i] + region.length[i], 3);
    const until = has("OPEN") ? "its end is not in the trace" : has("LATER") ? "ends after what is drawn" : "to " + to;
    return [
      `Region ${ptds.regionName({ region, tables }, i)}`,
      thread ? process(thread) + "thread " + (thread.name || thread) : "a range of the process",
      tables.has_time ? from + (until.startsWith("to ") && from.startsWith("from ") ? " " : ", ") + until : until,
      tables.has_time && !has("EARLIER") && !has("LATER") && !has("OPEN") ? "took " + time(region.length[i] * tables.unit_ns, 1) : null,
    ].filter(Boolean);
  }
  ptds.regionName = ({ region, tables }, i) => names(tables.region_names, region.name[i]) || "(unnamed region)";

  ptds.lines = (data, { op = null, edge = null, region = null }) =>
    op !== null ? opLines(data, op) : edge !== null ? edgeLines(data, edge) : region !== null ? regionLines(data, region) : [];

  const button = (text, run) => el("button", { type: "button", onclick: run }, text);

  // The orders that a call has a part in: how many, and the way along the first of them.
  function edgesOf(view, at) {
    const ends = ptds.edgeOps(view.data), { verdict } = view.data.edge, out = [], by = new Map();
    for (let i = 0; i < verdict.length; i++)
      if (ends.from[i] === at || ends.to[i] === at) {
        out.push(i);
        by.set(verdict[i], (by.get(verdict[i]) || 0) + 1);
      }
    if (out.length === 0) return null;
    const words = [...by].map(([one, count]) => `${count} ${view.data.tables.verdicts[one]}`).join(", ");
    return el("div", {}, el("p", {}, `${plural(out.length, "implicit order")} here: ${words}`), el("p", { class: "group" }, button("Show the first", () => ptds.timeline.reveal({ edge: out[0] }))));
  }

  function opMore(view, at) {
    const { report } = ptds.timeline, number = view.data.op.finding[at];
    const link = number && report.findings[number - 1]
      ? el("p", {}, el("a", { href: "#finding-" + number, onclick: (event) => { event.preventDefault(); ptds.openFinding(number); } }, `Finding #${number}: ${report.findings[number - 1].rule}`))
      : null;
    return [link, edgesOf(view, at)];
  }

  function edgeMore(view, i) {
    const ends = ptds.edgeOps(view.data), go = (text, op) => (op >= 0 ? button(text, () => ptds.timeline.reveal({ op })) : null);
    return [el("p", { class: "group" }, go("Its beginning", ends.from[i]), go("Its end", ends.to[i]))];
  }

  ptds.showDetails = (view) => {
    const { op, edge } = view.chosen, lines = ptds.lines(view.data, view.chosen);
    const more = op !== null ? opMore(view, op) : edge !== null ? edgeMore(view, edge) : [];
    replace(byId("details"), lines.map((line, at) => el("p", {}, at === 0 ? el("b", {}, line) : line)), more);
    byId("hint").hidden = lines.length > 0 || view.measured !== null;
  };

  // A measured range: its length, and what was called in it.
  ptds.showMeasured = (view) => {
    const range = view.measured;
    byId("measured").hidden = range === null;
    byId("hint").hidden = range !== null || byId("details").firstChild !== null;
    if (range === null) return replace(byId("measured"));
    const { op, tables } = view.data;
    let calls = 0, lost = 0, behind = 0;
    for (let i = 0; i < view.data.count; i++)
      if (op.enter[i] >= range[0] && op.enter[i] <= range[1]) {
        calls++;
        lost += op.lost[i];
        if (op.flags[i] & flags.BEHIND) behind += op.lost[i];
      }
    replace(byId("measured"),
      el("p", {}, el("b", {}, "Measured: " + view.measuredText())),
      tables.has_time ? el("p", {}, `from ${since(tables, range[0], 3)} to ${since(tables, range[1], 3)}`) : null,
      el("p", {}, `${plural(calls, "call")} began in it` + (lost ? `, and waited ${time(lost * tables.unit_ns)}, ${behind ? time(behind * tables.unit_ns) : "nothing"} of it because of the default stream` : "")));
  };

  ptds.apiName = (data, at) => names(data.tables.apis, data.op.api[at]) || "(unnamed call)";
  ptds.kernelName = (data, at) => { const one = names(data.tables.kernels, data.op.kernel[at]); return one?.name || one || ""; };
  Object.assign(ptds, { since });
}
