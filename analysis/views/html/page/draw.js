// SPDX-License-Identifier: Apache-2.0
// Draws the timeline on its canvas. Reads the view, changes nothing in it. What is narrower than a pixel and a half is
// gathered into columns of one pixel, from the coarsest summary that is that narrow.
{
  const { classes, opClass, flags, CHILDREN } = ptds;
  const { ROW, AXIS } = ptds, TITLE = 24, GAP = 3, RAN = 4;

  // Black or white, whichever can be read on a colour.
  function inkOn(color) {
    const linear = [1, 3, 5].map((at) => (parseInt(color.slice(at, at + 2), 16) / 255) ** 2.2);
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] > 0.18 ? "#000000" : "#ffffff";
  }

  function palette() {
    const style = getComputedStyle(document.documentElement), color = (name) => style.getPropertyValue("--" + name).trim();
    const kinds = [...classes.map(({ name }) => color("c-" + name)), color("c-region")];
    return {
      ground: color("ground"), panel: color("panel"), line: color("line"), text: color("text"), soft: color("soft"), mark: color("mark"),
      blocked: color("blocked"), own: color("own"), gpu: color("gpu"), halo: color("ground"), focus: color("focus"), kinds, inks: kinds.map(inkOn), verdicts: ptds.verdictKeys.map((key) => color("v-" + key)),
    };
  }

  // Where each row is, without the scroll; places without one are titles. A closed group has its title only.
  function layout(data) {
    const places = [];
    let y = AXIS;
    for (const group of data.groups) {
      places.push({ title: (group.closed ? "\u25b8 " : "\u25be ") + group.title, group, y, height: TITLE });
      y += TITLE;
      for (const row of group.closed ? [] : group.rows) {
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

  // "a_long_name 12" keeps its number, which tells it from its neighbours.
  function fitLabel(c, text, width) {
    const number = /( \d+)?$/.exec(text)[0];
    return fit(c, text.slice(0, text.length - number.length), width - c.measureText(number).width) + number;
  }

  function drawOp(c, view, colors, row, i, x0, x1) {
    const { op } = view.data, at = row.indices[i], y = row.y - view.scroll + GAP, height = ROW - 2 * GAP, dim = view.data.hits && !view.data.hits[at];
    const lost = row.kind === "run" ? 0 : op.lost[at], waiting = op.flags[at] & flags.BEHIND ? colors.blocked : colors.own;
    c.globalAlpha = dim ? 0.2 : 1;
    c.fillStyle = colors.kinds[opClass[op.op[at]]];
    c.fillRect(x0, y, Math.max(1, x1 - x0 - 0.5), height);
    if (row.kind === "run") drawRan(c, colors, x0, Math.max(1, x1 - x0 - 0.5), y);
    if (lost) drawBlocked(c, waiting, x1 - ((x1 - x0) * lost) / Math.max(1, op.length[at]), x1, y, height);
    if (op.flags[at] & flags.FAILED) {
      c.strokeStyle = colors.text;
      c.strokeRect(x0 + 0.5, y + 0.5, Math.max(1, x1 - x0 - 1.5), height - 1);
    }
    if (x1 - x0 > 44 && !dim) {
      c.fillStyle = lost * 2 > op.length[at] ? inkOn(waiting) : colors.inks[opClass[op.op[at]]];
      const name = op.kernel[at] ? ptds.kernelName(view.data, at) : ptds.apiName(view.data, at);
      c.fillText(fit(c, name, x1 - x0 - 8), x0 + 4, y + height / 2 + (row.kind === "run" ? RAN / 2 : 0.5));
    }
    c.globalAlpha = 1;
  }

  // A region has an outline, which no call has, so that those that touch are told apart.
  function drawRegion(c, view, colors, row, i, x0, x1) {
    const y = row.y - view.scroll + GAP, height = ROW - 2 * GAP, wide = Math.max(1, x1 - x0 - 0.5);
    c.fillStyle = colors.kinds[ptds.REGION];
    c.fillRect(x0, y, wide, height);
    c.strokeStyle = colors.soft;
    if (wide > 3) c.strokeRect(x0 + 0.5, y + 0.5, wide - 1, height - 1);
    if (wide <= 30) return;
    const from = Math.max(x0, view.gutter), name = ptds.regionName(view.data, row.indices[i]);
    c.fillStyle = colors.inks[ptds.REGION];
    c.fillText(fit(c, name, x1 - from - 8), from + 4, y + height / 2 + 0.5);
  }

  // Measured on the GPU: a bar along the top, which no other box has.
  function drawRan(c, colors, x, width, y) {
    c.fillStyle = colors.gpu;
    c.fillRect(x, y, width, RAN);
  }

  // The waiting part: the lower two thirds, so that it shows without its colour too.
  function drawBlocked(c, color, x0, x1, y, height) {
    c.fillStyle = color;
    c.fillRect(x0, y + height / 3, Math.max(1, x1 - x0 - 0.5), (height * 2) / 3);
  }

  function drawRow(c, view, colors, row, pixels) {
    const scale = view.plot / (view.to - view.from), levels = row.levels, { op } = view.data, hits = view.data.hits;
    pixels.kind.fill(255);
    pixels.lost.fill(0);
    pixels.behind.fill(0);
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
          else (row.kind === "region" ? drawRegion : drawOp)(c, view, colors, row, i, view.gutter + Math.max(x0, -4), view.gutter + Math.min(x1, view.plot + 4));
          continue;
        }
        const x = Math.min(view.plot - 1, Math.max(0, x0 | 0));
        pixels.kind[x] = level.kindOf(i);
        pixels.lost[x] += level.lostOf(i);
        pixels.behind[x] += level.behindOf(i);
        if (hits && (row.kind === "region" || (l > 0 ? level.hit[i] : hits[row.indices[i]]))) pixels.hit[x] = 1;
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
    for (const [color, lost] of [[colors.own, pixels.lost], [colors.blocked, pixels.behind]]) {
      c.fillStyle = color;
      for (let x = 0; x < view.plot; x++) {
        if (!lost[x]) continue;
        c.globalAlpha = view.data.hits && !pixels.hit[x] ? 0.2 : 1;
        const part = Math.min(1, lost[x] * scale) * (height - 2) + 2;
        c.fillRect(view.gutter + x, y + height - part, 1, part);
      }
    }
    c.globalAlpha = 1;
  }

  function drawGutter(c, view, colors, places) {
    c.fillStyle = colors.ground;
    c.fillRect(0, AXIS, view.gutter, view.height);
    for (const place of places) {
      const y = place.y - view.scroll + place.height / 2;
      if (y < AXIS - ROW || y > view.height + ROW) continue;
      c.fillStyle = place.title ? colors.text : colors.soft;
      c.font = (place.title ? "bold " : "") + "12px system-ui, sans-serif";
      c.fillText(fitLabel(c, place.title || place.row.label, place.title ? view.width - 12 : view.gutter - 18), place.title ? 6 : /^(run|region)$/.test(place.row.kind) ? 24 : 12, y);
    }
    c.fillStyle = colors.panel;
    c.fillRect(0, 0, view.gutter, AXIS);
  }

  function drawChosen(c, view, colors) {
    const at = view.chosen.op, { op, run, runOf, ranOn, region } = view.data, scale = view.plot / (view.to - view.from);
    if (view.chosen.region !== null) {
      const i = view.chosen.region, row = ptds.timeline.extent(view.chosen)[2];
      c.strokeStyle = colors.focus;
      c.lineWidth = 2;
      if (row) c.strokeRect(view.gutter + (region.start[i] - view.from) * scale - 1, row.y - view.scroll + 1, Math.max(4, region.length[i] * scale + 2), ROW - 2);
      c.lineWidth = 1;
    }
    if (at === null) return;
    const called = [op.enter[at], op.length[at]], ran = runOf[at] - 1;
    c.strokeStyle = colors.focus;
    c.lineWidth = 2;
    const places = [["thread", op.thread[at], ...called], ["stream", op.stream[at], ...called], ["target", op.target[at], ...called]];
    if (ran >= 0) places.push(["run", ranOn[ran], run.start[ran], run.length[ran]]);
    for (const [kind, number, start, length] of places) {
      const row = view.rowOf[kind].get(number);
      if (!row || (kind !== "thread" && !(op.flags[at] & flags.WORK))) continue;
      c.strokeRect(view.gutter + (start - view.from) * scale - 2, row.y - view.scroll + 1, Math.max(4, length * scale + 3), ROW - 2);
    }
    c.lineWidth = 1;
  }

  // A measured range: a band with its length on the axis.
  function drawMeasured(c, view, colors) {
    if (!view.measured) return;
    const scale = view.plot / (view.to - view.from), [x0, x1] = view.measured.map((at) => view.gutter + (at - view.from) * scale);
    c.globalAlpha = 0.13;
    c.fillStyle = colors.focus;
    c.fillRect(x0, AXIS, x1 - x0, view.height);
    c.globalAlpha = 1;
    c.strokeStyle = colors.focus;
    c.strokeRect(x0 + 0.5, -1, Math.max(1, x1 - x0), view.height + 2);
  }

  // Over the axis, at the middle of what shows of it.
  function drawLength(c, view, colors) {
    if (!view.measured) return;
    const scale = view.plot / (view.to - view.from), [x0, x1] = view.measured.map((at) => Math.max(view.gutter, Math.min(view.width, view.gutter + (at - view.from) * scale)));
    if (x0 === x1 && (x0 === view.gutter || x0 === view.width)) return;
    const text = view.measuredText(), width = c.measureText(text).width + 12, x = Math.max(view.gutter, Math.min(view.width - width, (x0 + x1 - width) / 2));
    c.fillStyle = colors.focus;
    c.fillRect(x, 2, width, AXIS - 4);
    c.fillStyle = inkOn(colors.focus);
    c.fillText(text, x + 6, AXIS / 2);
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
    const pixels = { kind: new Uint8Array(view.plot), lost: new Float64Array(view.plot), behind: new Float64Array(view.plot), hit: new Uint8Array(view.plot) };
    for (const place of view.places)
      if (place.row && place.y - view.scroll > AXIS - ROW && place.y - view.scroll < view.height) drawRow(c, view, colors, place.row, pixels);
    const drawn = ptds.drawEdges(c, view, colors);
    drawChosen(c, view, colors);
    drawMeasured(c, view, colors);
    c.restore();
    drawGutter(c, view, colors, view.places);
    c.font = "bold 11px system-ui, sans-serif";
    drawLength(c, view, colors);
    return drawn;
  };
  Object.assign(ptds, { layout, palette });
}
