// SPDX-License-Identifier: Apache-2.0
// The arrows of implicit orders: which of them show, and drawing these. Thousands of arrows bury a timeline, so beyond
// ARROWS_FEW only those of what is chosen or marked show until somebody asks for all.
{
  const { ROW } = ptds;
  const EDGES_MOST = 4000, EDGES_A_PATH = 100, ARROWS_FEW = 40;
  const dashes = [[], [], [4, 3]];

  ptds.arrowsAtFirst = (data) => (data.edge.kind.length > ARROWS_FEW ? "chosen" : "all");

  // Between the rows that an edge is about: fifo edges join threads, a host edge ends at one, the others join streams.
  function edgeRows(view, i) {
    const { edge } = view.data, rows = view.rowOf, kind = edge.kind[i];
    const from = kind === 2 || !edge.fromStream[i] ? rows.thread.get(edge.fromThread[i]) : rows.stream.get(edge.fromStream[i]);
    const to = kind >= 2 || !edge.toStream[i] ? rows.thread.get(edge.toThread[i]) : rows.stream.get(edge.toStream[i]);
    return from && to ? [from, to] : null;
  }

  // The middles of the rows of every edge, which never move; 0: it has none.
  function edgeEnds(view) {
    const count = view.data.edge.kind.length, ends = { from: new Int32Array(count), to: new Int32Array(count) };
    for (let i = 0; i < count; i++) {
      const rows = edgeRows(view, i);
      if (rows) [ends.from[i], ends.to[i]] = [rows[0].y + ROW / 2, rows[1].y + ROW / 2];
    }
    return ends;
  }

  // The calls at both ends of every edge, by time and thread, which only a call has; -1: not in this timeline.
  function edgeOps(data) {
    const { op, edge } = data, count = edge.kind.length, calls = new Map(), key = (time, thread) => thread * 2 ** 32 + time;
    for (let i = 0; i < count; i++) {
      calls.set(key(edge.from[i], edge.fromThread[i]), -1);
      calls.set(key(edge.to[i], edge.toThread[i]), -1);
    }
    for (let i = data.count - 1; i >= 0 && count; i--) {
      const call = key(op.enter[i], op.thread[i]);
      if (calls.has(call)) calls.set(call, i);
    }
    const ends = { from: new Int32Array(count), to: new Int32Array(count) };
    for (let i = 0; i < count; i++) {
      ends.from[i] = calls.get(key(edge.from[i], edge.fromThread[i]));
      ends.to[i] = calls.get(key(edge.to[i], edge.toThread[i]));
    }
    return ends;
  }
  ptds.edgeOps = (data) => (data.edgeOps = data.edgeOps || edgeOps(data));

  // Says of an edge whether it shows; the chosen one always does.
  function showing(view) {
    const { verdict } = view.data.edge, { chosen } = view, { hits } = view.data;
    if (view.arrows === "all") return (i) => view.verdicts[verdict[i]] || i === chosen.edge;
    if (view.arrows === "none" || (chosen.op === null && !hits)) return (i) => i === chosen.edge;
    const ends = ptds.edgeOps(view.data), marked = (at) => at >= 0 && (at === chosen.op || (hits !== null && hits[at] !== 0));
    return (i) => i === chosen.edge || (view.verdicts[verdict[i]] && (marked(ends.from[i]) || marked(ends.to[i])));
  }

  // Edges that would draw the same pixels draw once; ends far outside of the view count as one.
  function pickEdges(view) {
    const { edge } = view.data, scale = view.plot / (view.to - view.from), picked = [], seen = new Set(), ends = (view.ends = view.ends || edgeEnds(view)), shows = showing(view);
    const wide = 3 * view.plot, near = (x) => Math.max(0, Math.min(wide - 1, x + view.plot)), high = Math.ceil(view.full / ROW), row = (y) => Math.floor(y / ROW);
    view.edgesInView = view.edgesHidden = 0;
    for (let i = 0; i < edge.kind.length; i++) {
      const from = edge.from[i], to = edge.to[i], verdict = edge.verdict[i];
      if ((from < view.from && to < view.from) || (from > view.to && to > view.to) || !ends.from[i]) continue;
      if (!shows(i)) {
        view.edgesHidden++;
        continue;
      }
      view.edgesInView++;
      if (picked.length >= EDGES_MOST) continue;
      const x0 = Math.round((from - view.from) * scale), x1 = Math.round((to - view.from) * scale);
      const key = (((near(x0) * wide + near(x1)) * high + row(ends.from[i])) * high + row(ends.to[i])) * 3 + verdict;
      if (seen.has(key) && i !== view.chosen.edge) continue;
      seen.add(key);
      picked.push({ i, verdict, x0: view.gutter + x0, y0: ends.from[i] - view.scroll, x1: view.gutter + x1, y1: ends.to[i] - view.scroll });
    }
    return picked;
  }

  // Returns what was drawn, for the pointer.
  ptds.drawEdges = (c, view, colors) => {
    const drawn = pickEdges(view);
    c.strokeStyle = colors.halo;
    c.lineWidth = 4;
    c.globalAlpha = drawn.length > 400 ? 0 : 0.6;
    c.beginPath();
    for (const one of drawn) {
      c.moveTo(one.x0, one.y0);
      c.lineTo(one.x1, one.y1);
    }
    c.stroke();
    for (let verdict = 0; verdict < ptds.verdictKeys.length; verdict++) {
      c.strokeStyle = c.fillStyle = colors.verdicts[verdict];
      c.setLineDash(dashes[verdict]);
      c.globalAlpha = drawn.length > 400 ? 0.55 : 0.95;
      const own = drawn.filter((one) => one.verdict === verdict);
      for (let i = 0; i < own.length; i += EDGES_A_PATH) drawArrows(c, own.slice(i, i + EDGES_A_PATH), 1.4);
      c.globalAlpha = 1;
      drawArrows(c, own.filter((one) => one.i === view.chosen.edge), 3);
    }
    c.setLineDash([]);
    c.lineWidth = c.globalAlpha = 1;
    return drawn;
  };

  // In one path: a path an edge takes ten times as long.
  function drawArrows(c, edges, width) {
    c.lineWidth = width;
    c.beginPath();
    for (const { x0, y0, x1, y1 } of edges) {
      c.moveTo(x0, y0);
      c.lineTo(x1, y1);
    }
    c.stroke();
    c.beginPath();
    for (const { x0, y0, x1, y1 } of edges) {
      const length = Math.hypot(x1 - x0, y1 - y0) || 1, x = (6.4 * (x1 - x0)) / length, y = (6.4 * (y1 - y0)) / length;
      c.moveTo(x1, y1);
      c.lineTo(x1 - x + 0.42 * y, y1 - y - 0.42 * x);
      c.lineTo(x1 - x - 0.42 * y, y1 - y + 0.42 * x);
      c.closePath();
    }
    c.fill();
  }
  Object.assign(ptds, { dashes, ARROWS_FEW });
}
