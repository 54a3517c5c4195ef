// SPDX-License-Identifier: Apache-2.0
// What all scripts of the page share. Each file is a block of its own and gives the others what it puts into `ptds`; the
// order is that of analysis/views/html/BUILD. Texts from the trace only ever become text nodes.
"use strict";

const ptds = {};
{
  const byId = (id) => document.getElementById(id);

  // el("td", {class: "n"}, "text", child, ...): attributes whose value is null or false are left out.
  function el(name, attributes, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes || {})) {
      if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
      else if (value !== null && value !== false && value !== undefined) made.setAttribute(key, value);
    }
    for (const child of children.flat()) if (child !== null && child !== undefined) made.append(child);
    return made;
  }

  function replace(parent, ...children) {
    parent.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
  }

  const units = [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]];

  // As C's printf has it, which the other views are written with: what lies just in the middle goes to the even digit.
  function fixed(value, digits) {
    const halves = value * 2 ** (digits + 1), scale = 10 ** digits, low = Math.floor(value * scale);
    return digits > 0 && Number.isInteger(halves) && halves % 2 !== 0 && (value * scale) % 1 === 0.5 ? ((low + (low % 2)) / scale).toFixed(digits) : value.toFixed(digits);
  }

  // Null is "unknown": what is missing never reads as 0. `digits` more than usual, to tell near times apart.
  function time(ns, digits) {
    if (ns === null || ns === undefined) return "unknown";
    for (const [unit, name] of units)
      if (Math.abs(ns) >= unit) return fixed(ns / unit, unit === 1 ? 0 : (unit === 1e9 ? 2 : 1) + (digits || 0)) + " " + name;
    return ns === 0 ? "0 ns" : ns.toFixed(2) + " ns";
  }

  function count(number) {
    if (number === null || number === undefined) return "unknown";
    const digits = String(number);
    return digits.length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, "\u202f") : digits;
  }

  const plural = (number, word) => count(number) + " " + word + (number === 1 ? "" : "s");

  // A little is not nothing.
  function percent(part, whole) {
    const rounded = Math.floor((part * 100) / whole + 0.5);
    return whole > 0 ? (rounded === 0 && part > 0 ? "under 1 %" : rounded + " %") : "";
  }

  // What other views say, too, comes from where they have it: analysis/views/html/shared.c.
  const tables = JSON.parse(byId("data-tables").textContent);
  const byKey = (keys, values) => Object.fromEntries(keys.map((key, at) => [key, values[at]]));
  const verdictKeys = tables.verdict_keys, verdictWords = byKey(verdictKeys, tables.verdicts), reasonWords = byKey(tables.reason_keys, tables.reasons);

  // Of the finding at this position: what is said where results depend on its order, null of others; its place in the program.
  function needed(at) {
    const text = tables.findings[at].needed;
    return text && text[0].toUpperCase() + text.slice(1) + ".";
  }
  const site = (at) => tables.findings[at].site;

  // "void at::native::(anonymous namespace)::add<float>(float*)" is "add".
  function bare(name) {
    const plain = name.replaceAll("(anonymous namespace)", "");
    const head = plain.slice(0, (plain + "<").search(/[<([]/));
    return head.split(/::| /).pop() || name;
  }

  // For where a line should do; what it is in full is in the finding's details.
  const brief = (name) => { const plain = bare(name); return plain.length > 48 ? plain.slice(0, 47) + "\u2026" : plain; };

  // Tags for counts by verdict; null: nobody looked.
  function verdictTags(verdicts) {
    if (!verdicts) return [el("span", { class: "v-none" }, "not analysed")];
    const some = verdictKeys.filter((key) => verdicts[key] > 0);
    if (some.length === 0) return [el("span", { class: "v-none" }, "none")];
    return some.map((key) => el("span", { class: "tag v-" + key }, count(verdicts[key]) + " " + verdictWords[key]));
  }

  const severityTag = (finding) => el("span", { class: "tag s-" + finding.severity }, finding.severity);

  function frame(one) {
    const object = one.object ? one.object.split("/").pop() : null;
    return (object ? object + "+" + one.offset : one.pc) + (one.symbol ? " " + one.symbol : "");
  }

  function names(finding, key, shown = (name) => name) {
    const set = finding.values[key];
    if (!set || !set.ids || set.ids.length === 0) return null;
    return [...new Set(set.ids.map((one) => shown(one.name)))].join(", ") + (set.more ? ", and more" : "");
  }

  // Follows the system until the button is pressed.
  function startTheme() {
    const system = matchMedia("(prefers-color-scheme: dark)");
    let chosen = null;
    const apply = () => {
      const dark = chosen === null ? system.matches : chosen;
      document.documentElement.dataset.theme = dark ? "dark" : "light";
      byId("theme").textContent = dark ? "Light" : "Dark";
      byId("theme").setAttribute("aria-label", "Change to the " + (dark ? "light" : "dark") + " theme");
      if (ptds.redraw) ptds.redraw();
    };
    system.addEventListener("change", apply);
    byId("theme").addEventListener("click", () => {
      chosen = document.documentElement.dataset.theme !== "dark";
      apply();
    });
    apply();
  }

  const ROW = 22, AXIS = 22; // heights on the timeline, in pixels
  Object.assign(ptds, { ROW, AXIS, units, tables, byId, el, replace, time, count, plural, percent, verdictKeys, verdictWords, reasonWords, needed, bare, brief, verdictTags, severityTag, frame, site, names, startTheme });
}
