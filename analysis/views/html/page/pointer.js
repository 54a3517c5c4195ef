// SPDX-License-Identifier: Apache-2.0
// The pointer on the timeline: what is under it, moving by dragging, measuring by dragging with Shift or on the axis, the wheel.
{
  const { byId, el, replace, ROW, AXIS } = ptds;
  const tip = byId("tip");

  // The item of a row under the pointer: the last one that began before it, or a narrow one close by.
  function inRow(view, row, x) {
    const { indices, levels: [leaf] } = row, per = (view.to - view.from) / view.plot, at = view.from + (x - view.gutter) * per;
    let low = 0, high = indices.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (leaf.startOf(middle) <= at + 3 * per) low = middle + 1;
      else high = middle;
    }
    for (let i = low - 1; i >= 0 && i > low - 64; i--) if (leaf.endOf(i) >= at - 3 * per) return indices[i];
    return null;
  }

  function edgeAt(view, x, y) {
    let best = null, least = 5;
    for (const one of ptds.timeline.drawn) {
      const dx = one.x1 - one.x0, dy = one.y1 - one.y0, length = dx * dx + dy * dy || 1;
      const part = Math.max(0, Math.min(1, ((x - one.x0) * dx + (y - one.y0) * dy) / length));
      const distance = Math.hypot(x - one.x0 - part * dx, y - one.y0 - part * dy);
      if (distance < least) [best, least] = [one.i, distance];
    }
    return best;
  }

  // {op}, {edge} or {region}; {}: nothing is there.
  function under(view, x, y) {
    if (x < view.gutter || y < AXIS) return {};
    const edge = edgeAt(view, x, y);
    if (edge !== null) return { edge };
    const place = view.places.find((one) => one.row && y + view.scroll >= one.y && y + view.scroll < one.y + ROW);
    const item = place ? inRow(view, place.row, x) : null;
    return item === null ? {} : { [place.row.kind === "region" ? "region" : "op"]: item };
  }

  function hover(view, x, y) {
    const lines = ptds.lines(view.data, under(view, x, y));
    tip.hidden = lines.length === 0;
    if (tip.hidden) return;
    replace(tip, lines.map((line) => el("div", {}, line)));
    const top = byId("canvas").offsetTop;
    tip.style.left = Math.max(0, Math.min(x + 14, view.width - tip.offsetWidth - 4)) + "px";
    tip.style.top = top + (y + 18 + tip.offsetHeight > view.height ? Math.max(0, y - tip.offsetHeight - 8) : y + 18) + "px";
  }

  ptds.startPointer = (canvas, view) => {
    const { timeline } = ptds, timeAt = (x) => view.from + ((x - view.gutter) / view.plot) * (view.to - view.from);
    let from = null, moved = false;
    view.pointer = null; // where it is, as a place to zoom to
    canvas.addEventListener("pointerdown", ({ offsetX: x, offsetY: y, shiftKey, pointerId }) => {
      from = { x, y, measures: x >= view.gutter && (shiftKey || y < AXIS) ? timeAt(x) : null };
      moved = false;
      canvas.setPointerCapture(pointerId);
    });
    canvas.addEventListener("pointermove", ({ offsetX: x, offsetY: y }) => {
      view.pointer = x >= view.gutter ? x : null;
      canvas.style.cursor = y < AXIS && x >= view.gutter ? "crosshair" : "";
      if (!from) return hover(view, x, y);
      moved = moved || Math.abs(x - from.x) + Math.abs(y - from.y) > 3;
      if (!moved) return;
      tip.hidden = true;
      if (from.measures !== null) return timeline.measure([from.measures, timeAt(Math.max(view.gutter, Math.min(view.width, x)))]);
      timeline.pan((from.x - x) / view.plot);
      timeline.scroll(from.y - y);
      from = { ...from, x, y };
    });
    canvas.addEventListener("pointerup", ({ offsetX: x, offsetY: y }) => {
      const title = x < view.gutter && view.places.find((one) => one.title && y + view.scroll >= one.y && y + view.scroll < one.y + one.height);
      if (from && !moved && y >= AXIS && title) timeline.toggle(title.group);
      else if (from && !moved && y >= AXIS) timeline.choose(under(view, x, y));
      else if (from && !moved) timeline.measure(null);
      from = null;
    });
    canvas.addEventListener("dblclick", (event) => event.offsetX > view.gutter && timeline.zoom(event.shiftKey ? 3 : 1 / 3, event.offsetX));
    canvas.addEventListener("pointerleave", () => { tip.hidden = true; view.pointer = null; });
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== canvas) return;
      event.preventDefault();
      if (event.shiftKey) timeline.pan((event.deltaY || event.deltaX) / 1000);
      else timeline.zoom(Math.exp(Math.max(-200, Math.min(200, event.deltaY)) / 400), event.offsetX);
    }, { passive: false });
  };
}
