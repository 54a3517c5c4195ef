// SPDX-License-Identifier: Apache-2.0
// The timeline's view: which stretch and rows show, what is chosen, what the search found; pointer and keys change it.
{
  const { byId, el, replace, time, count, plural, flags, ROW, AXIS } = ptds;
  const canvas = byId("canvas"), tip = byId("tip");
  let view = null, report = null, drawn = [], matches = [], asked = false;

  const names = (list, number) => (number === 65535 ? "others" : number ? list[number - 1] : null);

  function resize() {
    view.width = Math.max(240, byId("stage").clientWidth);
    view.gutter = view.width < 560 ? 96 : 190;
    view.plot = view.width - view.gutter;
    view.height = Math.max(120, Math.min(view.full, Math.round(window.innerHeight * 0.7)));
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(view.width * ratio);
    canvas.height = Math.round(view.height * ratio);
    canvas.style.height = view.height + "px";
    redraw();
  }

  function redraw() {
    if (asked || !view) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      const began = performance.now();
      drawn = ptds.drawTimeline(canvas, view);
      view.drawMs = performance.now() - began;
      view.firstMs = view.firstMs || performance.now();
      say();
    });
  }

  // What the view is, in words: for readers of the screen, and for whoever drives the page.
  function say() {
    const { tables } = view.data, at = (units) => time(Math.max(0, (tables.start_ns || 0) + units * tables.unit_ns), 2);
    const edges = view.edgesInView > drawn.length ? ` ${count(drawn.length)} of ${count(view.edgesInView)} edges in view are drawn apart: zoom in for the others.` : "";
    const below = view.places.filter((place) => place.row && place.y + ROW / 2 > view.scroll + view.height).length;
    const rows = below ? ` ${plural(below, "row")} below: drag, or arrow keys.` : "";
    byId("view").textContent = (tables.has_time ? `In view: ${at(view.from)} to ${at(view.to)} of the run.` : "") + rows + edges;
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
    const at = view.from + ((x === undefined ? view.plot / 2 : x - view.gutter) / view.plot) * (view.to - view.from);
    show(at - (at - view.from) * factor, at + (view.to - at) * factor);
  };
  const pan = (part) => show(view.from + part * (view.to - view.from), view.to + part * (view.to - view.from));
  const fit = () => show(-view.data.end * 0.01, view.data.end * 1.01);

  function scroll(by) {
    view.scroll = Math.max(0, Math.min(view.scroll + by, view.full - view.height));
    redraw();
  }

  // The operation under the pointer: the last one of the row that began before it, or a narrow one close by.
  function opAt(x, y) {
    const place = view.places.find((one) => one.row && y + view.scroll >= one.y && y + view.scroll < one.y + ROW);
    if (!place || x < view.gutter || y < AXIS) return null;
    const { indices, levels: [leaf] } = place.row, per = (view.to - view.from) / view.plot, at = view.from + (x - view.gutter) * per;
    let low = 0, high = indices.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (leaf.startOf(middle) <= at + 3 * per) low = middle + 1;
      else high = middle;
    }
    for (let i = low - 1; i >= 0 && i > low - 64; i--) if (leaf.endOf(i) >= at - 3 * per) return indices[i];
    return null;
  }

  function edgeAt(x, y) {
    let best = null, least = 5;
    for (const one of drawn) {
      const dx = one.x1 - one.x0, dy = one.y1 - one.y0, length = dx * dx + dy * dy || 1;
      const part = Math.max(0, Math.min(1, ((x - one.x0) * dx + (y - one.y0) * dy) / length));
      const distance = Math.hypot(x - one.x0 - part * dx, y - one.y0 - part * dy);
      if (distance < least) [best, least] = [one.i, distance];
    }
    return x < view.gutter ? null : best;
  }

  // When it ran on the GPU: nothing where no time of any operation is known, or where there is nothing to know.
  function ranLine(at) {
    const { op, run, runOf, tables } = view.data, ran = runOf[at] - 1, since = (units) => time((tables.start_ns || 0) + units * tables.unit_ns, 3);
    if (ran >= 0) return `ran on the GPU from ${since(run.start[ran])} to ${since(run.start[ran] + run.length[ran])}, ${time(run.length[ran] * tables.unit_ns)}`;
    return tables.runs && op.flags[at] & flags.GPU ? "when it ran on the GPU is unknown" : null;
  }

  function opLines(at) {
    const { op, tables } = view.data, unit = tables.unit_ns, timed = op.flags[at] & flags.TIMED, has = (flag) => op.flags[at] & flag;
    const thread = names(tables.threads, op.thread[at]), stream = names(tables.streams, op.stream[at]), target = names(tables.streams, op.target[at]);
    const kernel = names(tables.kernels, op.kernel[at]), where = names(tables.sites, op.stack[at]);
    return [
      [view.apiName(op.api[at]) + (has(flags.TWIN) ? " (per-thread twin)" : ""), kernel && "kernel " + (kernel.name || kernel)].filter(Boolean).join(", "),
      "thread " + (thread ? thread.name || thread : "unknown") + (stream ? `, stream ${stream.name || stream}` : "") +
        (has(flags.REMAPPED) && target ? `, sent to ${target.name || target}` : "") + (has(flags.LEGACY) ? " (default stream)" : ""),
      (tables.has_time ? `called ${time((tables.start_ns || 0) + op.enter[at] * unit, 3)} after the start, ` : "") +
        (timed ? `took ${time(op.length[at] * unit)} on the host` + (op.lost[at] ? `, ${time(op.lost[at] * unit)} of it waiting` : "") : "its return was not timed"),
      ranLine(at),
      has(flags.FAILED) ? "failed" : null,
      has(flags.CAPTURED) ? "recorded into a capture: ran nowhere" : null,
      where && "at " + where,
    ].filter(Boolean);
  }

  function edgeLines(i) {
    const { edge, tables } = view.data, end = (time_, thread, stream) =>
      `thread ${names(tables.threads, thread)?.name || "unknown"}, ` + (stream ? `stream ${names(tables.streams, stream)?.name || "unknown"}` : "the host") +
      (tables.has_time ? ` at ${time((tables.start_ns || 0) + time_ * tables.unit_ns, 3)}` : "");
    const verdict = edge.verdict[i];
    return [
      `Implicit edge (${tables.edge_kinds[edge.kind[i]]}): ${tables.verdicts[verdict]}`,
      "from " + end(edge.from[i], edge.fromThread[i], edge.fromStream[i]),
      "to " + end(edge.to[i], edge.toThread[i], edge.toStream[i]),
      verdict === 2 ? tables.reasons[edge.reason[i]] : null,
      edge.pair[i] ? tables.pairs[edge.pair[i] - 1] : null,
    ].filter(Boolean);
  }

  function choose(chosen) {
    view.chosen = { op: null, edge: null, ...chosen };
    const { op, edge } = view.chosen, lines = op !== null ? opLines(op) : edge !== null ? edgeLines(edge) : [];
    const number = op !== null ? view.data.op.finding[op] : 0;
    const link = number ? el("a", { href: "#finding-" + number, onclick: (event) => { event.preventDefault(); ptds.openFinding(number); } }, `Finding #${number}: ${report.findings[number - 1]?.rule}`) : null;
    replace(byId("details"), lines.map((line, at) => el("p", {}, at === 0 ? el("b", {}, line) : line)), link && el("p", {}, link));
    redraw();
  }

  function hover(event) {
    const { offsetX: x, offsetY: y } = event, edge = edgeAt(x, y), op = edge === null ? opAt(x, y) : null;
    tip.hidden = edge === null && op === null;
    if (tip.hidden) return;
    replace(tip, (edge !== null ? edgeLines(edge) : opLines(op)).map((line) => el("div", {}, line)));
    tip.style.left = Math.max(0, Math.min(x + 14, view.width - tip.offsetWidth - 4)) + "px";
    tip.style.top = (y + 18 + tip.offsetHeight > view.height ? Math.max(0, y - tip.offsetHeight - 8) : y + 18) + "px";
  }

  function pointer() {
    let from = null, moved = false;
    canvas.addEventListener("pointerdown", (event) => {
      from = { x: event.offsetX, y: event.offsetY };
      moved = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!from) return hover(event);
      moved = moved || Math.abs(event.offsetX - from.x) + Math.abs(event.offsetY - from.y) > 3;
      if (!moved) return;
      tip.hidden = true;
      pan((from.x - event.offsetX) / view.plot);
      scroll(from.y - event.offsetY);
      from = { x: event.offsetX, y: event.offsetY };
    });
    canvas.addEventListener("pointerup", (event) => {
      const edge = edgeAt(event.offsetX, event.offsetY);
      if (from && !moved) choose(edge !== null ? { edge } : { op: opAt(event.offsetX, event.offsetY) });
      from = null;
    });
    canvas.addEventListener("dblclick", (event) => event.offsetX > view.gutter && zoom(event.shiftKey ? 3 : 1 / 3, event.offsetX));
    canvas.addEventListener("pointerleave", () => (tip.hidden = true));
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
      event.preventDefault();
      if (event.shiftKey) pan(event.deltaY / 1000);
      else zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY)) / 400), event.offsetX);
    }, { passive: false });
  }

  function clear() {
    byId("search").value = "";
    mark(null);
    choose({});
  }

  const keys = {
    ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), ArrowUp: () => scroll(-ROW), ArrowDown: () => scroll(ROW),
    PageUp: () => scroll(-view.height), PageDown: () => scroll(view.height), Home: () => show(0, view.to - view.from), End: () => show(view.data.end - (view.to - view.from), view.data.end),
    "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), 0: fit, n: () => go(1), p: () => go(-1), Escape: clear,
  };

  // Matches are positions of operations. From the chosen one, or from the middle of the view.
  function go(by) {
    if (matches.length === 0) return;
    const { op } = view.data, middle = (view.from + view.to) / 2;
    let at = view.chosen.op !== null ? matches.indexOf(view.chosen.op) : -1;
    if (at >= 0) at = (at + by + matches.length) % matches.length;
    else at = Math.max(0, matches.findIndex((one) => op.enter[one] >= middle));
    const found = matches[at];
    const span = Math.min(view.to - view.from, Math.max(op.length[found] * 6, view.data.end / 200, 1000 / view.data.tables.unit_ns));
    choose({ op: found });
    show(op.enter[found] + op.length[found] / 2 - span / 2, op.enter[found] + op.length[found] / 2 + span / 2);
    const row = view.rowOf.thread.get(op.thread[found]);
    if (row && (row.y < view.scroll + AXIS || row.y + ROW > view.scroll + view.height)) scroll(row.y - view.scroll - AXIS - ROW);
    byId("matches").textContent = `${count(at + 1)} of ${count(matches.length)}`;
  }

  // Marks what `takes` takes; null marks nothing and dims nothing.
  function mark(takes) {
    const { data } = view;
    matches = [];
    data.hits = takes ? new Uint8Array(data.count) : null;
    for (let i = 0; takes && i < data.count; i++) if (takes(i)) { data.hits[i] = 1; matches.push(i); }
    for (const group of data.groups) for (const row of group.rows) ptds.markHits(row, data.hits || new Uint8Array(0));
    byId("matches").textContent = takes ? (matches.length === 1 ? "1 match" : count(matches.length) + " matches") : "";
    redraw();
  }

  function search() {
    const text = byId("search").value.trim().toLowerCase(), { op, tables } = view.data;
    const having = (list, name) => Uint8Array.from([0, ...list.map((one) => +(name(one) || "").toLowerCase().includes(text))]);
    if (!text) return mark(null);
    const api = having(tables.apis, (one) => one), kernel = having(tables.kernels, (one) => one.name), where = having(tables.sites, (one) => one);
    mark((i) => api[op.api[i]] || kernel[op.kernel[i]] || where[op.stack[i]]);
  }

  function showFinding(number) {
    mark((i) => view.data.op.finding[i] === number);
    byId("search").value = "";
    byId("timeline").scrollIntoView();
    canvas.focus();
    if (matches.length === 0) byId("matches").textContent = `no operation of finding #${number} in this timeline`;
    else go(0);
  }

  function start(data, the_report) {
    report = the_report;
    const { places, height } = ptds.layout(data), rowOf = { thread: new Map(), stream: new Map(), target: new Map(), run: new Map() };
    for (const { row } of places) if (row) rowOf[row.kind].set(row.number, row);
    view = { data, places, rowOf, full: height, from: 0, to: 1, scroll: 0, verdicts: [true, true, true], chosen: { op: null, edge: null }, drawMs: 0, edgesInView: 0 };
    view.kernelName = (number) => { const one = names(data.tables.kernels, number); return one?.name || one || ""; };
    view.apiName = (number) => names(data.tables.apis, number) || "(unnamed call)";
    fit();
    resize();
    pointer();
    canvas.addEventListener("keydown", (event) => {
      const action = !event.ctrlKey && !event.metaKey && !event.altKey && keys[event.key];
      if (action) event.preventDefault(), action();
    });
    const tools = { in: () => zoom(0.6), out: () => zoom(1 / 0.6), fit, next: () => go(1), previous: () => go(-1), clear };
    byId("tools").addEventListener("click", (event) => tools[event.target.dataset.do]?.());
    byId("search").addEventListener("input", search);
    byId("search").addEventListener("keydown", (event) => event.key === "Enter" && go(event.shiftKey ? -1 : 1));
    addEventListener("resize", resize);
    addEventListener("beforeprint", redraw);
    ptds.redraw = redraw;
    ptds.showFinding = showFinding;
    ptds.setVerdict = (at, on) => { view.verdicts[at] = on; redraw(); };
  }
  ptds.startTimeline = start;
}
