// SPDX-License-Identifier: Apache-2.0
// The timeline's view: which stretch and rows show, what is chosen, measured, marked. Pointer, keys and links change it
// through what is put into ptds.timeline here; whatever changes it ends in redraw.
{
  const { byId, count, plural, time, ROW, AXIS } = ptds;
  const canvas = byId("canvas");
  const timeline = (ptds.timeline = { view: null, report: null, drawn: [], changed: () => {} });
  let view = null, matches = [], asked = false, forget = true;

  function resize() {
    view.width = Math.max(240, byId("stage").clientWidth);
    view.gutter = view.width < 560 ? 96 : 190;
    view.plot = view.width - view.gutter;
    view.height = Math.max(120, Math.min(view.full, Math.round(window.innerHeight * 0.7)));
    view.scroll = Math.max(0, Math.min(view.scroll, view.full - view.height));
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    canvas.style.height = view.height + "px";
    repaint();
  }

  function redraw() {
    timeline.changed();
    if (asked || !view) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      const began = performance.now();
      timeline.drawn = ptds.drawTimeline(canvas, view);
      ptds.drawMinimap(view, forget);
      forget = false;
      view.drawMs = performance.now() - began;
      view.firstMs = view.firstMs || performance.now();
      say();
    });
  }

  // As redraw, where marks, colours or the width have changed, too.
  function repaint() {
    forget = true;
    redraw();
  }

  function edgesSaid({ arrows, edgesInView, edgesHidden }, drawn) {
    if (arrows === "none") return edgesHidden ? ` ${plural(edgesHidden, "arrow")} in view are hidden.` : "";
    if (edgesHidden && arrows === "chosen") return ` ${plural(edgesHidden, "arrow")} in view are not drawn: choose or mark calls to see theirs, or set Arrows to all.`;
    return edgesInView > drawn ? ` ${count(drawn)} of ${count(edgesInView)} arrows in view are drawn apart: zoom in for the others.` : "";
  }

  // What the view is, in words: for readers of the screen, and for whoever drives the page.
  function say() {
    const { tables } = view.data, at = (units) => ptds.since(tables, Math.max(0, units), 2), { drawn } = timeline;
    const below = view.places.filter((place) => place.row && place.y + ROW / 2 > view.scroll + view.height).length;
    const rows = below ? ` ${plural(below, "row")} below: drag, or arrow keys.` : "";
    byId("view").textContent = (tables.has_time ? `In view: ${at(view.from)} to ${at(view.to)} of the run.` : "") + rows + edgesSaid(view, drawn.length);
    Object.assign(canvas.dataset, { from: view.from, to: view.to, scroll: view.scroll, edges: drawn.length, drawMs: view.drawMs.toFixed(1), firstMs: view.firstMs.toFixed() });
  }

  function show(from, to) {
    const least = Math.max(4, 20 / view.data.tables.unit_ns), span = Math.min(Math.max(to - from, least), view.data.end * 1.02);
    const middle = (from + to) / 2;
    view.from = Math.max(-view.data.end * 0.01, Math.min(middle - span / 2, view.data.end * 1.01 - span));
    view.to = view.from + span;
    redraw();
  }

  const zoom = (factor, x) => {
    const at = view.from + ((x === undefined || x === null ? view.plot / 2 : x - view.gutter) / view.plot) * (view.to - view.from);
    show(at - (at - view.from) * factor, at + (view.to - at) * factor);
  };
  const pan = (part) => show(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));
  const fit = () => show(-view.data.end * 0.01, view.data.end * 1.01);

  function scroll(by) {
    view.scroll = Math.max(0, Math.min(view.scroll + by, view.full - view.height));
    redraw();
  }

  function choose(chosen) {
    view.chosen = { op: null, edge: null, region: null, ...chosen };
    ptds.showDetails(view);
    redraw();
  }

  // A range of time; null: none.
  function measure(range) {
    view.measured = range && [Math.max(0, Math.min(...range)), Math.min(view.data.end, Math.max(...range))];
    ptds.showMeasured(view);
    redraw();
  }

  // From when to when something is, and the row that it is in.
  function extent({ op = null, edge = null, region = null }) {
    const { data } = view, of = (at, thread) => [data.op.enter[at], data.op.enter[at] + data.op.length[at], view.rowOf.thread.get(thread)];
    if (op !== null) return of(op, data.op.thread[op]);
    if (region !== null) return [data.region.start[region], data.region.start[region] + data.region.length[region], view.places.find((one) => one.row && one.row.kind === "region" && one.row.indices.includes(region))?.row];
    if (edge === null) return null;
    const { from, to } = data.edge;
    return [Math.min(from[edge], to[edge]), Math.max(from[edge], to[edge]), view.rowOf.thread.get(data.edge.fromThread[edge])];
  }

  // Chooses it and brings it into view, no closer than needed.
  function reveal(chosen) {
    const { data } = view, [start, stop, row] = extent(chosen);
    const span = Math.min(view.to - view.from, Math.max((stop - start) * 6, data.end / 200, 1000 / data.tables.unit_ns));
    choose(chosen);
    show((start + stop) / 2 - span / 2, (start + stop) / 2 + span / 2);
    if (row && (row.y < view.scroll + AXIS || row.y + ROW > view.scroll + view.height)) scroll(row.y - view.scroll - AXIS - ROW);
  }

  // To the measured range, or to what is chosen.
  function focus() {
    const range = view.measured || extent(view.chosen);
    if (range) show(range[0] - (range[1] - range[0]) * 0.1, range[1] + (range[1] - range[0]) * 0.1);
  }

  // Matches are positions of operations. From the chosen one, or from the middle of the view.
  function go(by) {
    if (matches.length === 0) return;
    const { op } = view.data, middle = (view.from + view.to) / 2;
    let at = view.chosen.op !== null ? matches.indexOf(view.chosen.op) : -1;
    if (at >= 0) at = (at + by + matches.length) % matches.length;
    else at = Math.max(0, matches.findIndex((one) => op.enter[one] >= middle));
    reveal({ op: matches[at] });
    byId("matches").textContent = `${count(at + 1)} of ${count(matches.length)}`;
  }

  // Along the arrows of the chosen call: to where the next one (1) goes, or the one before (-1) comes from.
  function follow(by) {
    const { op, edge } = view.chosen, ends = ptds.edgeOps(view.data), [here, there] = by > 0 ? [ends.from, ends.to] : [ends.to, ends.from];
    const found = edge !== null ? edge : op !== null ? here.indexOf(op) : -1;
    if (found >= 0 && there[found] >= 0) reveal({ op: there[found] });
  }

  // Marks what `takes` takes; null marks nothing and dims nothing.
  function mark(takes) {
    const { data } = view;
    matches = [];
    data.hits = takes ? new Uint8Array(data.count) : null;
    for (let i = 0; takes && i < data.count; i++) if (takes(i)) { data.hits[i] = 1; matches.push(i); }
    if (data.apart) matches.sort((a, b) => data.op.enter[a] - data.op.enter[b]);
    for (const group of data.groups) for (const row of group.rows) if (row.kind !== "region") ptds.markHits(row, data.hits || new Uint8Array(0));
    byId("matches").textContent = takes ? (matches.length === 1 ? "1 match" : count(matches.length) + " matches") : "";
    repaint();
  }

  function search() {
    const text = byId("search").value.trim().toLowerCase(), { op, tables } = view.data;
    const having = (list, name) => Uint8Array.from([0, ...list.map((one) => +(name(one) || "").toLowerCase().includes(text))]);
    timeline.finding = 0;
    if (!text) return mark(null);
    const api = having(tables.apis, (one) => one), kernel = having(tables.kernels, (one) => one.name), where = having(tables.sites, (one) => one);
    mark((i) => api[op.api[i]] || kernel[op.kernel[i]] || where[op.stack[i]]);
  }

  function markFinding(number) {
    byId("search").value = "";
    timeline.finding = number;
    mark((i) => view.data.op.finding[i] === number);
    if (matches.length === 0) byId("matches").textContent = `no operation of finding #${number} in this timeline`;
  }

  function showFinding(number) {
    markFinding(number);
    byId("timeline").scrollIntoView();
    canvas.focus();
    go(0);
  }

  function clear() {
    byId("search").value = "";
    timeline.finding = 0;
    mark(null);
    measure(null);
    choose({});
  }

  function setArrows(mode) {
    view.arrows = byId("arrows").value = mode;
    redraw();
  }

  // Where rows are, once groups have been opened or closed.
  function place() {
    const { places, height } = ptds.layout(view.data), rowOf = { thread: new Map(), stream: new Map(), target: new Map(), run: new Map() };
    for (const { row } of places) if (row && row.kind !== "region") rowOf[row.kind].set(row.number, row);
    Object.assign(view, { places, rowOf, full: height, ends: null });
    resize();
  }

  function toggle(group, closed = !group.closed) {
    group.closed = closed;
    group.box.checked = !closed;
    place();
  }

  // The groups by name, for who has no pointer; and with many processes there are many.
  function listGroups() {
    const box = (group) => (group.box = ptds.el("input", { type: "checkbox", checked: "", onchange: () => toggle(group, !group.box.checked) }));
    ptds.replace(byId("groups"), view.data.groups.map((group) => ptds.el("label", {}, box(group), " " + group.title)));
  }

  function start(data, report) {
    view = timeline.view = { data, from: 0, to: 1, scroll: 0, verdicts: [true, true, true], chosen: { op: null, edge: null, region: null }, measured: null, drawMs: 0, edgesInView: 0, edgesHidden: 0 };
    timeline.report = report;
    view.measuredText = () => (data.tables.has_time ? time((view.measured[1] - view.measured[0]) * data.tables.unit_ns, 2) : count(Math.round(view.measured[1] - view.measured[0])) + " ticks");
    listGroups();
    place();
    setArrows(ptds.arrowsAtFirst(data));
    fit();
    ptds.startPointer(canvas, view);
    ptds.startMinimap(view);
    byId("search").addEventListener("input", search);
    byId("search").addEventListener("keydown", (event) => event.key === "Enter" && go(event.shiftKey ? -1 : 1));
    byId("arrows").addEventListener("change", () => setArrows(byId("arrows").value));
    addEventListener("resize", resize);
    addEventListener("beforeprint", redraw);
    ptds.redraw = repaint;
    ptds.showFinding = showFinding;
  }
  const setVerdict = (at, on) => { view.verdicts[at] = on; redraw(); };
  Object.assign(timeline, { start, show, zoom, pan, fit, scroll, choose, measure, extent, reveal, focus, go, follow, search, markFinding, clear, setArrows, setVerdict, toggle, redraw, finding: 0 });
}
