// SPDX-License-Identifier: Apache-2.0
// The columns of several traces as those of one: on one clock and in one unit, with numbers that name the same in all of
// them. `apart` says where each trace's operations, regions and names are.
{
  // Of each column: what its numbers are. A name is a number of that table; others are kept as they are.
  const times = { op: ["enter"], run: ["start"], region: ["start"], edge: ["from", "to"] };
  const lengths = { op: ["length", "lost"], run: ["length"], region: ["length"] };
  const names = {
    op: { thread: "threads", stream: "streams", target: "streams", api: "apis", stack: "sites", kernel: "kernels" },
    region: { thread: "threads", name: "region_names" },
    edge: { fromThread: "threads", fromStream: "streams", toThread: "threads", toStream: "streams", pair: "pairs" },
  };
  const tableNames = ["threads", "streams", "apis", "sites", "kernels", "region_names", "pairs"];

  const until = ({ tables, op, run, region }) => {
    let end = 0;
    for (let i = 0; i < tables.operations; i++) end = Math.max(end, op.enter[i] + op.length[i]);
    for (const one of [run, region]) for (let i = 0; i < one.start.length; i++) end = Math.max(end, one.start[i] + one.length[i]);
    return end * tables.unit_ns + (tables.start_ns || 0);
  };

  // Tables one after the other; number 65535 of a trace, "others", gets a name of its own in each.
  function joinTables(parts, out) {
    for (const name of tableNames) {
      out.tables[name] = [];
      for (const part of parts) {
        part.base = part.base || {};
        part.base[name] = out.tables[name].length;
        const list = part.tables[name].map((one) => (one && typeof one === "object" ? { ...one, process: part.title } : one));
        const others = typeof (list[0] ?? "") === "string" ? "others" : { id: Infinity, name: "others", process: part.title };
        out.tables[name].push(...list, others);
      }
    }
  }

  function joinColumn(parts, of, column, counts, unit, start) {
    const bytes = parts[0][of][column].BYTES_PER_ELEMENT, table = names[of]?.[column], isTime = times[of]?.includes(column), isLength = lengths[of]?.includes(column);
    const all = new (bytes === 1 ? Uint8Array : Uint32Array)(counts[of]);
    let at = 0, operations = 0;
    for (const part of parts) {
      const { tables } = part, scale = tables.unit_ns / unit, shift = ((tables.start_ns || 0) - start) / unit, own = part[of][column], base = table ? part.base[table] : 0;
      const others = table ? base + tables[table].length + 1 : 0;
      for (let i = 0; i < own.length; i++) {
        const value = own[i];
        if (table) all[at++] = value === 0 ? 0 : value === ptds.OTHERS ? others : value + base;
        else if (isTime) all[at++] = Math.round(value * scale + shift);
        else if (isLength) all[at++] = Math.round(value * scale);
        else all[at++] = of === "run" && column === "op" ? value + operations : value;
      }
      operations += tables.operations;
    }
    return all;
  }

  ptds.mergeParts = (all) => {
    const some = all.filter((part) => part.tables.operations > 0), timed = some.filter((part) => part.tables.has_time), parts = timed.length ? timed : some;
    const start = Math.min(...parts.map(({ tables }) => tables.start_ns || 0)), end = Math.max(...parts.map(until));
    const unit = Math.max((end - start) / 4e9, Math.min(...parts.map(({ tables }) => tables.unit_ns)));
    const sum = (key) => parts.reduce((n, { tables }) => n + (tables[key] || 0), 0), counts = {};
    const out = { op: {}, run: {}, region: {}, edge: {}, apart: [] };
    out.tables = { ...ptds.tables, unit_ns: unit, start_ns: start, has_time: timed.length > 0, left_out: all.length - parts.length };
    for (const key of ["operations", "operations_seen", "runs", "regions", "edges", "edges_left_out", "regions_left_out"]) out.tables[key] = sum(key);
    out.tables.out_of_memory = parts.some(({ tables }) => tables.out_of_memory);
    Object.assign(counts, { op: out.tables.operations, run: out.tables.runs, region: out.tables.regions, edge: out.tables.edges });
    joinTables(parts, out);
    for (const { of, name } of ptds.tables.columns) out[of][name] = joinColumn(parts, of, name, counts, unit, start);
    const at = { op: 0, region: 0, run: 0 };
    for (const part of parts) {
      const { tables, base } = part, from = { ...at };
      at.op += tables.operations;
      at.region += tables.regions;
      at.run += tables.runs;
      out.apart.push({ title: part.title, comparable: tables.comparable, op: [from.op, at.op], region: [from.region, at.region], run: [from.run, at.run],
        threads: [base.threads, tables.threads.length + 1], streams: [base.streams, tables.streams.length + 1] });
    }
    return out;
  };
}
