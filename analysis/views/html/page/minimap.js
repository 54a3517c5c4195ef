// SPDX-License-Identifier: Apache-2.0
// The whole run in a strip above the timeline: how many threads were in calls, how many of these waited and for whom, what is marked, and
// which stretch the timeline shows. Drawn anew only where the data's look changes; a move of the view copies the picture.
{
  const { byId } = ptds;
  const canvas = byId("minimap"), HEIGHT = 34 /* as in page.css */, HANDLE = 6;
  let picture = null, drag = null;

  // Of each pixel, the time that all threads spent in calls and in waiting, and whether it has a mark.
  function sums(view) {
    const { data, plot } = view, scale = plot / data.end, busy = new Float64Array(plot), lost = new Float64Array(plot), behind = new Float64Array(plot), hit = new Uint8Array(plot);
    for (const row of data.groups.map(({ rows }) => rows).flat()) {
      if (row.kind !== "thread") continue;
      const visit = (l, from, to) => {
        const level = row.levels[l];
        for (let i = from; i < to; i++) {
          const x0 = level.startOf(i) * scale, x1 = level.endOf(i) * scale, first = Math.min(plot - 1, x0 | 0), last = Math.min(plot - 1, x1 | 0);
          if (l > 0 && first !== last) {
            visit(l - 1, i * ptds.CHILDREN, Math.min(row.levels[l - 1].count, (i + 1) * ptds.CHILDREN));
            continue;
          }
          const took = Math.max(level.tookOf(i) * scale, 1e-6), part = level.lostOf(i) * scale, red = level.behindOf(i) * scale, wide = Math.max(x1 - x0, 1e-9);
          for (let x = first; x <= last; x++) {
            const share = first === last ? 1 : (Math.min(x1, x + 1) - Math.max(x0, x)) / wide;
            busy[x] += took * share;
            lost[x] += part * share;
            behind[x] += red * share;
          }
          if (data.hits && (l > 0 ? level.hit[i] : data.hits[row.indices[i]])) hit.fill(1, first, last + 1);
        }
      };
      visit(row.levels.length - 1, 0, row.levels[row.levels.length - 1].count);
    }
    return { busy, lost, behind, hit, most: busy.reduce((most, one) => Math.max(most, one), 0) };
  }

  function paint(view, ratio) {
    const made = document.createElement("canvas"), colors = ptds.palette(), { busy, lost, behind, hit, most } = sums(view);
    made.width = canvas.width;
    made.height = canvas.height;
    const c = made.getContext("2d"), high = HEIGHT - 6;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = colors.panel;
    c.fillRect(0, 0, view.width, HEIGHT);
    for (let x = 0; x < view.plot; x++) {
      if (!busy[x]) continue;
      const all = Math.max(3.5, (busy[x] / most) * high);
      c.globalAlpha = view.data.hits && !hit[x] ? 0.3 : 1;
      c.fillStyle = colors.kinds[0];
      c.fillRect(view.gutter + x, HEIGHT - all, 1, all);
      for (const [color, waited] of [[colors.own, lost[x]], [colors.blocked, behind[x]]]) {
        const part = waited > 0 ? Math.max(1, Math.min(1, waited / most) * high) : 0;
        c.fillStyle = color;
        c.fillRect(view.gutter + x, HEIGHT - part, 1, part);
      }
    }
    c.globalAlpha = 1;
    c.fillStyle = colors.focus;
    for (let x = 0; x < view.plot; x++) if (hit[x]) c.fillRect(view.gutter + x, 0, 1, 4);
    c.font = "12px system-ui, sans-serif";
    c.textBaseline = "middle";
    c.fillStyle = colors.soft;
    c.fillText("everything", 12, HEIGHT / 2);
    return { made, colors };
  }

  const xOf = (view, at) => view.gutter + Math.max(0, Math.min(view.plot, (at / view.data.end) * view.plot));
  const timeAt = (view, x) => Math.max(0, Math.min(1, (x - view.gutter) / view.plot)) * view.data.end;

  // forget: what it is a picture of has changed.
  ptds.drawMinimap = (view, forget) => {
    const ratio = window.devicePixelRatio || 1, c = canvas.getContext("2d");
    if (forget || !picture) {
      canvas.width = Math.round(view.width * ratio);
      canvas.height = Math.round(HEIGHT * ratio);
      picture = paint(view, ratio);
    }
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.drawImage(picture.made, 0, 0);
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    const x0 = xOf(view, view.from), x1 = Math.max(x0 + 2, xOf(view, view.to));
    c.globalAlpha = 0.55;
    c.fillStyle = picture.colors.ground;
    c.fillRect(view.gutter, 0, x0 - view.gutter, HEIGHT);
    c.fillRect(x1, 0, view.width - x1, HEIGHT);
    c.globalAlpha = 1;
    c.strokeStyle = picture.colors.focus;
    c.lineWidth = 2;
    c.strokeRect(x0 + 1, 1, x1 - x0 - 2, HEIGHT - 2);
    if (view.measured) {
      const [m0, m1] = view.measured.map((at) => xOf(view, at));
      c.globalAlpha = 0.4;
      c.fillStyle = picture.colors.focus;
      c.fillRect(m0, 0, Math.max(1, m1 - m0), HEIGHT);
      c.globalAlpha = 1;
    }
  };

  // Near an edge of the window the edge moves, in it the window; elsewhere a new one is drawn out, or a click moves it there.
  function grab(view, x) {
    const x0 = xOf(view, view.from), x1 = xOf(view, view.to);
    if (Math.abs(x - x0) <= HANDLE && x1 - x0 > 3 * HANDLE) return { end: "from" };
    if (Math.abs(x - x1) <= HANDLE && x1 - x0 > 3 * HANDLE) return { end: "to" };
    return x > x0 && x < x1 && x1 - x0 < view.plot - 4 ? { end: "all", by: timeAt(view, x) - view.from } : { end: "new", at: timeAt(view, x) };
  }

  function follow(view, x) {
    const at = timeAt(view, x), span = view.to - view.from, { show } = ptds.timeline;
    if (drag.end === "from") show(Math.min(at, view.to), view.to);
    else if (drag.end === "to") show(view.from, Math.max(at, view.from));
    else if (drag.end === "all") show(at - drag.by, at - drag.by + span);
    else show(Math.min(at, drag.at), Math.max(at, drag.at));
  }

  ptds.startMinimap = (view) => {
    canvas.addEventListener("pointerdown", (event) => {
      drag = { ...grab(view, event.offsetX), x: event.offsetX, moved: false };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!drag) return (canvas.style.cursor = { from: "ew-resize", to: "ew-resize", all: "grab", new: "crosshair" }[grab(view, event.offsetX).end]);
      drag.moved = drag.moved || Math.abs(event.offsetX - drag.x) > 3;
      if (drag.moved) follow(view, event.offsetX);
    });
    canvas.addEventListener("pointerup", (event) => {
      const span = view.to - view.from, at = timeAt(view, event.offsetX);
      if (drag && !drag.moved && drag.end === "new") ptds.timeline.show(at - span / 2, at + span / 2);
      drag = null;
    });
  };
}
