// SPDX-License-Identifier: Apache-2.0
// The keys, as in Perfetto where it has them, and the help that lists them: one table is both. Letters work wherever the
// timeline is in view and no field has the focus; keys that scroll a page are the timeline's only while it has the focus.
{
  const { byId, el, replace, ROW } = ptds, { timeline } = ptds;
  const canvas = byId("canvas"), help = byId("help");
  const span = () => timeline.view.to - timeline.view.from, { zoom, pan, scroll, show } = timeline, pointer = () => timeline.view.pointer;

  // What is chosen is measured, as by dragging over it.
  function measureChosen() {
    const range = timeline.extent(timeline.view.chosen);
    timeline.measure(range && !timeline.view.measured ? range.slice(0, 2) : null);
  }

  // [how they are written, what they do, {key: action}, whether only with the focus]
  const keys = [
    ["W S", "zoom in and out, at the pointer", { w: () => zoom(0.6, pointer()), s: () => zoom(1 / 0.6, pointer()) }],
    ["A D", "move left and right", { a: () => pan(-0.15), d: () => pan(0.15) }],
    ["+ - 0", "zoom in, out, show everything", { "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), 0: timeline.fit }],
    ["F", "zoom to what is chosen or measured", { f: timeline.focus }],
    ["M", "measure what is chosen, or measure no more", { m: measureChosen }],
    ["[ ]", "along an arrow of what is chosen: where it comes from, where it goes", { "[": () => timeline.follow(-1), "]": () => timeline.follow(1) }],
    ["/", "search", { "/": () => byId("search").focus() }],
    ["N P", "next and previous match", { n: () => timeline.go(1), p: () => timeline.go(-1) }],
    ["E", "arrows: all, of what is chosen or marked, none", { e: () => timeline.setArrows({ all: "chosen", chosen: "none", none: "all" }[timeline.view.arrows]) }],
    ["Esc", "choose, measure and mark nothing", { Escape: timeline.clear }],
    ["?", "these keys", { "?": () => help.showModal() }],
    ["\u2190 \u2192 \u2191 \u2193", "move, once the timeline has the focus", { ArrowLeft: () => pan(-0.15), ArrowRight: () => pan(0.15), ArrowUp: () => scroll(-ROW), ArrowDown: () => scroll(ROW) }, true],
    ["Page Up, Page Down", "rows above and below", { PageUp: () => scroll(-timeline.view.height), PageDown: () => scroll(timeline.view.height) }, true],
    ["Home End", "the run's beginning and end", { Home: () => show(0, span()), End: () => show(timeline.view.data.end - span(), timeline.view.data.end) }, true],
  ];
  const pointing = [
    ["drag", "move"],
    ["Shift + drag, or drag on the axis", "measure a range: its length, and the calls in it"],
    ["click", "details of a box, an arrow or a region"],
    ["click on a group's title", "close or open its rows; so does the list under Rows"],
    ["double click, with Shift", "zoom in, out"],
    ["Ctrl + wheel, or the wheel once the timeline has the focus", "zoom; with Shift, move"],
    ["the strip above", "drag the window or its edges; elsewhere, draw a new one"],
  ];

  function fillHelp() {
    const row = (shown, text) => el("tr", {}, el("td", {}, shown), el("td", {}, text));
    const caps = (text) => (/^Page/.test(text) ? text.split(", ") : text.split(" ")).map((one) => [el("kbd", {}, one), " "]).flat();
    replace(byId("help-keys").tBodies[0], keys.map(([shown, text]) => row(caps(shown), text)), pointing.map(([shown, text]) => row(shown, text)));
  }

  function inView() {
    const { top, bottom } = canvas.getBoundingClientRect();
    return bottom > 60 && top < innerHeight - 60;
  }

  function onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const writes = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.type !== "checkbox", focused = event.target === canvas;
    if (writes) return;
    const pressed = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    for (const [, , actions, needsFocus] of keys) {
      const action = Object.hasOwn(actions, pressed) && actions[pressed];
      if (!action || (needsFocus && !focused) || (pressed !== "?" && !focused && !inView())) continue;
      event.preventDefault();
      return action();
    }
  }

  ptds.startKeys = () => {
    fillHelp();
    addEventListener("keydown", onKey);
    byId("help-close").addEventListener("click", () => help.close());
    help.addEventListener("click", (event) => event.target === help && help.close());
    const tools = { in: () => zoom(0.6), out: () => zoom(1 / 0.6), fit: timeline.fit, next: () => timeline.go(1), previous: () => timeline.go(-1), clear: timeline.clear, help: () => help.showModal(), link: ptds.copyLink };
    byId("tools").addEventListener("click", (event) => tools[event.target.dataset.do]?.());
  };
}
