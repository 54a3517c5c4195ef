// SPDX-License-Identifier: Apache-2.0
// The waits that recompiling with per-thread default streams asks for, from the JSON report: each with the lines that the text has.
{
  const { byId, el, replace, count, plural } = ptds;

  const ROWS_FIRST = 5;

  // "record an event after  cuLaunchKernel ..." is a label and what it is about; without a label it goes on.
  function lines(place, processes) {
    const of = processes ? ["as in".padEnd(24) + ptds.processName(processes[place.process])] : [];
    return [...place.text, ...of].map((line) => el("tr", {}, el("th", {}, line.slice(0, 24).trim()), el("td", { class: "site" }, line.slice(24).trim())));
  }

  const row = (processes) => (place, at) => el("tr", {}, el("td", { class: "n" }, String(at + 1)), el("td", {}, place.title),
    el("td", {}, el("table", { class: "lines" }, el("tbody", {}, lines(place, processes)))));

  function draw(report, all) {
    const places = report.repair.places, shown = all ? places : places.slice(0, ROWS_FIRST);
    replace(byId("repairs").tBodies[0], shown.map(row(report.processes)));
    byId("repairs").hidden = places.length === 0;
    byId("all-repairs").hidden = shown.length === places.length;
    byId("all-repairs").textContent = `Show all ${plural(places.length, "pair")} of call sites`;
  }

  ptds.startRepair = (report) => {
    const repair = report.repair;
    byId("repair").hidden = byId("to-repair").hidden = !repair;
    if (!repair) return;
    byId("repair-about").textContent = ptds.tables.repair_title + ".";
    byId("repair-sum").textContent = repair.text;
    replace(byId("repair-notes"), repair.notes.map((text) => el("li", {}, text)),
      repair.unplaced ? el("li", {}, `${plural(repair.unplaced, "wait")} more between other call sites`) : null);
    byId("all-repairs").addEventListener("click", () => draw(report, true));
    draw(report, false);
  };
}
