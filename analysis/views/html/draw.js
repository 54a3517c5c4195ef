// SPDX-License-Identifier: Apache-2.0
// Draws the timeline on its canvas. Reads the view, changes nothing in it. What is narrower than a pixel and a half is
// gathered into columns of one pixel, from the coarsest summary that is that narrow.
{
  const { classes, opClass, flags, CHILDREN } = ptds;
  const ROW = 22, TITLE = 24, AXIS = 22, GAP = 3, RAN = 4, EDGES_MOST = 4000, EDGES_A_PATH = 100;
  const dashes = [[], [], [4, 3]];

  // Black or white, whichever can be read on a colour.
  function inkOn(color) {
    const linear = [1, 3, 5].map((at) => (parseInt(color.slice(at, at + 2), 16) / 255) ** 2.2);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.18 ? "#000000" : "#ffffff";
  }

  function palette() {
    const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue("--" + name).trim();
    const kinds = classes.map(({ name }) => color("c-" + name));
    return {
      ground: color("ground"), panel: color("panel"), line: color("line"), text: color("text"), soft: color("soft"), mark: color("mark"),
      blocked: color("blocked"), gpu: color("gpu"), halo: color("ground"), focus: color("focus"), kinds, inks: kinds.map(inkOn), verdicts: ptds.verdictKeys.map((key) => color("v-" + key)),
    };
  }

  // Where each row is, without the scroll; false rows are titles.
  function layout(data) {
    const places = [];
    let y = AXIS;
    for (const group of data.groups) {
      places.push({ title: group.title, y, height: TITLE });
      y += TITLE;
      for (const row of group.rows) {
        places.push({ row, y, height: ROW });
        row.y = y;
        y += ROW;
      }
    }
    return { places, height: y + 4 };
  }

  // A step of 1, 2 or 5 times a power of ten, about 110 pixels wide.
  function step(span, width) {
    const rough = (span * 110) / width, power = 10 ** Math.floor(Math.log10(rough));
    return power * ([1, 2, 5].find((factor) => factor * power >= rough) || 10);
  }

  // Labels of one unit, with as many digits as tell neighbours apart.
  function axisLabel(at, by, most) {
    const [unit, name] = ptds.units.find(([one]) => most >= one) || [1, "ns"];
    return (at / unit).toFixed(Math.max(0, Math.min(9, Math.ceil(Math.log10(unit / by) - 1e-9)))) + " " + name;
  }

  function drawAxis(c, view, colors) {
    const { tables } = view.data, start = tables.start_ns || 0, unit = tables.unit_ns;
    const from = start + view.from * unit, span = (view.to - view.from) * unit, by = step(span, view.plot);
    c.fillStyle = colors.panel;
    c.fillRect(0, 0, view.width, AXIS);
    c.font = "11px system-ui, sans-serif";
    c.textBaseline = "middle";
    for (let i = Math.max(0, Math.ceil(from / by)); i * by <= from + span; i++) {
      const x = Math.round(view.gutter + ((i * by - from) / span) * view.plot) + 0.5, label = axisLabel(i * by, by, from + span);
      c.strokeStyle = colors.line;
      c.beginPath();
      c.moveTo(x, AXIS - 5);
      c.lineTo(x, view.height);
      c.stroke();
      c.fillStyle = colors.soft;
      if (tables.has_time && x + 3 + c.measureText(label).width < view.width) c.fillText(label, x + 3, AXIS / 2);
    }
  }

  function fit(c, text, width) {
    if (c.measureText(text).width <= width) return text;
    let low = 0, high = text.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (c.measureText(text.slice(0, middle) + "\u2026").width <= width) low = middle;
      else high = middle - 1;
    }
    return text.slice(0, low) + "\u2026";
  }

  function drawOp(c, view, colors, row, i, x0, x1) {
    const { op } = view.data, at = row.indices[i], y = row.y - view.scroll + GAP, height = ROW - 2 * GAP, dim = view.data.hits && !view.data.hits[at];
    const lost = row.kind === "run" ? 0 : op.lost[at];
    c.globalAlpha = dim ? 0.2 : 1;
    c.fillStyle = colors.kinds[opClass[op.op[at]]];
    c.fillRect(x0, y, Math.max(1, x1 - x0 - 0.5), height);
    if (row.kind === "run") drawRan(c, colors, x0, Math.max(1, x1 - x0 - 0.5), y);
    if (lost) drawBlocked(c, colors, x1 - ((x1 - x0) * lost) / Math.max(1, op.length[at]), x1, y, height);
    if (op.flags[at] & flags.FAILED) {
      c.strokeStyle = colors.text;
      c.strokeRect(x0 + 0.5, y + 0.5, Math.max(1, x1 - x0 - 1.5), height - 1);
    }
    if (x1 - x0 > 44 && !dim) {
      c.fillStyle = lost * 2 > op.length[at] ? inkOn(colors.blocked) : colors.inks[opClass[op.op[at]]];
      const name = op.kernel[at] ? view.kernelName(op.kernel[at]) : view.apiName(op.api[at]);
      c.fillText(fit(c, name, x1 - x0 - 8), x0 + 4, y + height / 2 + (row.kind === "run" ? RAN / 2 : 0.5));
    }
    c.globalAlpha = 1;
  }

  // Measured on the GPU: a bar along the top, which no other box has.
  function drawRan(c, colors, x, width, y) {
    c.fillStyle = colors.gpu;
    c.fillRect(x, y, width, RAN);
  }

  // The waiting part: the lower two thirds, so that it shows without its colour too.
  function drawBlocked(c, colors, x0, x1, y, height) {
    c.fillStyle = colors.blocked;
    c.fillRect(x0, y + height / 3, Math.max(1, x1 - x0 - 0.5), (height * 2) / 3);
  }

  function drawRow(c, view, colors, row, pixels) {
    const scale = view.plot / (view.to - view.from), levels = row.levels, { op } = view.data, hits = view.data.hits;
    pixels.kind.fill(255);
    pixels.lost.fill(0);
    pixels.hit.fill(0);
    const visit = (l, from, to) => {
      const level = levels[l];
      for (let i = from; i < to; i++) {
        const start = level.startOf(i), end = level.endOf(i);
        if (end < view.from) continue;
        if (start > view.to) break;
        const x0 = (start - view.from) * scale, x1 = (end - view.from) * scale;
        if (x1 - x0 > 1.5) {
          if (l > 0) visit(l - 1, i * CHILDREN, Math.min(levels[l - 1].count, (i + 1) * CHILDREN));
          else drawOp(c, view, colors, row, i, view.gutter + Math.max(x0, -4), view.gutter + Math.min(x1, view.plot + 4));
          continue;
        }
        const x = Math.min(view.plot - 1, Math.max(0, x0 | 0));
        pixels.kind[x] = level.kindOf(i);
        pixels.lost[x] += level.lostOf(i);
        if (hits && (l > 0 ? level.hit[i] : hits[row.indices[i]])) pixels.hit[x] = 1;
      }
    };
    const top = levels.length - 1;
    visit(top, 0, levels[top].count);
    drawPixels(c, view, colors, row, pixels, scale);
  }

  function drawPixels(c, view, colors, row, pixels, scale) {
    const y = row.y - view.scroll + GAP, height = ROW - 2 * GAP;
    for (let x = 0; x < view.plot; ) {
      const kind = pixels.kind[x], hit = pixels.hit[x], from = x;
      while (x < view.plot && pixels.kind[x] === kind && pixels.hit[x] === hit) x++;
      if (kind === 255) continue;
      c.globalAlpha = view.data.hits && !hit ? 0.2 : 1;
      c.fillStyle = colors.kinds[kind];
      c.fillRect(view.gutter + from, y, x - from, height);
      if (row.kind === "run") drawRan(c, colors, view.gutter + from, x - from, y);
    }
    c.fillStyle = colors.blocked;
    for (let x = 0; x < view.plot; x++) {
      if (!pixels.lost[x]) continue;
      c.globalAlpha = view.data.hits && !pixels.hit[x] ? 0.2 : 1;
      const part = Math.min(1, pixels.lost[x] * scale) * (height - 2) + 2;
      c.fillRect(view.gutter + x, y + height - part, 1, part);
    }
    c.globalAlpha = 1;
  }

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

  // Edges that would draw the same pixels draw once; ends far outside of the view count as one.
  function pickEdges(view) {
    const { edge } = view.data, scale = view.plot / (view.to - view.from), picked = [], seen = new Set(), ends = (view.ends = view.ends || edgeEnds(view));
    const wide = 3 * view.plot, near = (x) => Math.max(0, Math.min(wide - 1, x + view.plot)), high = Math.ceil(view.full / ROW), row = (y) => Math.floor(y / ROW);
    view.edgesInView = 0;
    for (let i = 0; i < edge.kind.length; i++) {
      const from = edge.from[i], to = edge.to[i], verdict = edge.verdict[i];
      if (!view.verdicts[verdict] || (from < view.from && to < view.from) || (from > view.to && to > view.to) || !ends.from[i]) continue;
      view.edgesInView++;
      if (picked.length >= EDGES_MOST) continue;
      const x0 = Math.round((from - view.from) * scale), x1 = Math.round((to - view.from) * scale);
      const key = (((near(x0) * wide + near(x1)) * high + row(ends.from[i])) * high + row(ends.to[i])) * 3 + verdict;
      if (seen.has(key)) continue;
      seen.add(key);
      picked.push({ i, verdict, x0: view.gutter + x0, y0: ends.from[i] - view.scroll, x1: view.gutter + x1, y1: ends.to[i] - view.scroll });
    }
    return picked;
  }

  // Returns what was drawn, for the pointer.
  function drawEdges(c, view, colors) {
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
      drawArrows(c, own.filter((one) => one.i === view.chosen.edge), 3);
    }
    c.setLineDash([]);
    c.lineWidth = c.globalAlpha = 1;
    return drawn;
  }

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

  function drawGutter(c, view, colors, places) {
    c.fillStyle = colors.ground;
    c.fillRect(0, AXIS, view.gutter, view.height);
    for (const place of places) {
      const y = place.y - view.scroll + place.height / 2;
      if (y < AXIS - ROW || y > view.height + ROW) continue;
      c.fillStyle = place.title ? colors.text : colors.soft;
      c.font = (place.title ? "bold " : "") + "12px system-ui, sans-serif";
      c.fillText(fit(c, place.title || place.row.label, place.title ? view.width - 12 : view.gutter - 18), place.title ? 6 : place.row.kind === "run" ? 24 : 12, y);
    }
    c.fillStyle = colors.panel;
    c.fillRect(0, 0, view.gutter, AXIS);
  }

  function drawChosen(c, view, colors) {
    const at = view.chosen.op, { op, run, runOf, ranOn } = view.data;
    if (at === null) return;
    const scale = view.plot / (view.to - view.from), called = [op.enter[at], op.length[at]], ran = runOf[at] - 1;
    c.strokeStyle = colors.focus;
    c.lineWidth = 2;
    const places = [["thread", op.thread[at], ...called], ["stream", op.stream[at], ...called], ["target", op.target[at], ...called]];
    if (ran >= 0) places.push(["run", ranOn(at), run.start[ran], run.length[ran]]);
    for (const [kind, number, start, length] of places) {
      const row = view.rowOf[kind].get(number);
      if (!row || (kind !== "thread" && !(op.flags[at] & flags.WORK))) continue;
      c.strokeRect(view.gutter + (start - view.from) * scale - 2, row.y - view.scroll + 1, Math.max(4, length * scale + 3), ROW - 2);
    }
    c.lineWidth = 1;
  }

  ptds.drawTimeline = (canvas, view) => {
    const c = canvas.getContext("2d"), colors = palette(), ratio = window.devicePixelRatio || 1;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = colors.ground;
    c.fillRect(0, 0, view.width, view.height);
    drawAxis(c, view, colors);
    c.save();
    c.beginPath();
    c.rect(view.gutter, AXIS, view.plot, view.height);
    c.clip();
    c.font = "11px system-ui, sans-serif";
    const pixels = { kind: new Uint8Array(view.plot), lost: new Float64Array(view.plot), hit: new Uint8Array(view.plot) };
    for (const place of view.places)
      if (place.row && place.y - view.scroll > AXIS - ROW && place.y - view.scroll < view.height) drawRow(c, view, colors, place.row, pixels);
    const drawn = drawEdges(c, view, colors);
    drawChosen(c, view, colors);
    c.restore();
    drawGutter(c, view, colors, view.places);
    return drawn;
  };
  Object.assign(ptds, { layout, ROW, AXIS, EDGES_MOST, dashes });
}
