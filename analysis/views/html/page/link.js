// SPDX-License-Identifier: Apache-2.0
// The view as the page's address: what is after # restores range, rows, what is chosen, measured, marked, hidden and
// filtered. Times are in ns from the timeline's beginning on, so that a page made again of the same trace shows the same.
{
  const { byId } = ptds, { timeline } = ptds;
  const fields = { filter: "filter", rule: "class", verdict: "verdict" };
  let timer = 0, silent = true, own = "";

  const ns = (at) => Math.round(at * timeline.view.data.tables.unit_ns), units = (at) => at / timeline.view.data.tables.unit_ns;
  const pair = (text) => (/^-?\d+-\d+$/.test(text || "") ? text.match(/^(-?\d+)-(\d+)$/).slice(1).map((one) => units(+one)) : null);

  function timelineState(out) {
    const { view } = timeline, { chosen } = view;
    out.set("t", `${ns(view.from)}-${ns(view.to)}`);
    if (view.scroll) out.set("y", Math.round(view.scroll));
    for (const kind of ["op", "edge", "region"]) if (chosen[kind] !== null) out.set(kind, chosen[kind]);
    if (view.measured) out.set("measured", view.measured.map(ns).join("-"));
    if (byId("search").value.trim()) out.set("search", byId("search").value.trim());
    if (timeline.finding) out.set("finding", timeline.finding);
    out.set("arrows", view.arrows);
    const closed = view.data.groups.map(({ closed }, at) => (closed ? at : "")).filter((at) => at !== "");
    if (closed.length) out.set("closed", closed.join("."));
    if (view.verdicts.includes(false)) out.set("hidden", view.verdicts.map((on, at) => (on ? null : ptds.verdictKeys[at])).filter(Boolean).join(","));
  }

  ptds.linkState = () => {
    const out = new URLSearchParams();
    for (const [name, id] of Object.entries(fields)) if (byId(id).value) out.set(name, byId(id).value);
    if (timeline.view) timelineState(out);
    return out.toString();
  };

  const within = (text, count) => (/^\d+$/.test(text || "") && +text < count ? +text : null);

  function restoreTimeline(state) {
    const { view } = timeline, { data } = view, range = pair(state.get("t"));
    timeline.clear();
    byId("search").value = state.get("search") || "";
    if (state.has("search")) timeline.search();
    if (within(state.get("finding"), timeline.report.findings.length + 1)) timeline.markFinding(+state.get("finding"));
    const closed = (state.get("closed") || "").split(".");
    data.groups.forEach((group, at) => Boolean(group.closed) !== closed.includes(String(at)) && timeline.toggle(group));
    const hidden = (state.get("hidden") || "").split(",");
    ptds.verdictKeys.forEach((key, at) => {
      view.verdicts[at] = !hidden.includes(key);
      const box = byId("shows-" + key);
      if (box) box.checked = view.verdicts[at];
    });
    if (["all", "chosen", "none"].includes(state.get("arrows"))) timeline.setArrows(state.get("arrows"));
    const op = within(state.get("op"), data.count), edge = within(state.get("edge"), data.edge.kind.length), region = within(state.get("region"), data.region.start.length);
    timeline.choose(op !== null ? { op } : edge !== null ? { edge } : region !== null ? { region } : {});
    timeline.measure(pair(state.get("measured")));
    if (range && range[1] > range[0]) timeline.show(...range);
    timeline.scroll((within(state.get("y"), 1e7) || 0) - view.scroll);
  }

  // Whatever is not understood is left out: a link may be of another version, or cut.
  function restore() {
    const text = location.hash.slice(1);
    if (!text.includes("=") || text === own) return;
    const state = new URLSearchParams(text);
    silent = true;
    for (const [name, id] of Object.entries(fields)) {
      byId(id).value = state.get(name) || "";
      if (byId(id).value !== (state.get(name) || "")) byId(id).value = "";
    }
    ptds.drawFindings();
    if (timeline.view) restoreTimeline(state);
    if (timeline.view && state.has("t")) byId("timeline").scrollIntoView();
    own = text;
    silent = false;
  }

  function write() {
    timer = 0;
    own = ptds.linkState();
    history.replaceState(null, "", "#" + own);
  }

  // A little later than the last change: browsers refuse too many of them.
  ptds.linkChanged = () => {
    if (!silent && !timer) timer = setTimeout(write, 300);
  };

  ptds.copyLink = async () => {
    write();
    const said = byId("link-said");
    try {
      await navigator.clipboard.writeText(location.href);
      said.textContent = "Copied.";
    } catch {
      said.textContent = "It is in the address bar.";
    }
    setTimeout(() => (said.textContent = ""), 4000);
  };

  ptds.startLink = () => {
    timeline.changed = ptds.linkChanged;
    for (const id of Object.values(fields)) byId(id).addEventListener("input", ptds.linkChanged);
    addEventListener("hashchange", restore);
    restore();
    silent = false;
  };
}
