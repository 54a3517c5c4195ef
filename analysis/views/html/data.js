// SPDX-License-Identifier: Apache-2.0
// The operations and edges of the timeline: unpacks the columns, sorts operations into rows, and builds for each row a tree
// of summaries, so that a million of them draw as fast as a screenful.
{
  const types = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

  function fromBase64(text) {
    if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
    return bytes;
  }

  async function inflate(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).arrayBuffer();
  }

  // {op: {enter: Uint32Array, ...}, run: {...}, region: {...}, edge: {...}}; "enter" comes as distances.
  function columns(tables, buffer) {
    const out = { op: {}, run: {}, region: {}, edge: {} }, counts = { op: tables.operations, run: tables.runs, region: tables.regions, edge: tables.edges };
    let offset = 0;
    for (const column of tables.columns) {
      const count = counts[column.of];
      out[column.of][column.name] = new types[column.bytes](buffer, offset, count);
      offset += Math.ceil((count * column.bytes) / 4) * 4;
    }
    const enter = out.op.enter;
    for (let i = 1; i < enter.length; i++) enter[i] += enter[i - 1];
    out.runOf = new Uint32Array(tables.runs ? tables.operations : 0);
    out.run.op.forEach((op, at) => (out.runOf[op] = at + 1));
    return out;
  }

  // What operations are drawn as, by their number; the last class has those that no other names.
  const { op_classes: classes, flags } = ptds.tables, opClass = new Uint8Array(256).fill(classes.length - 1);
  classes.forEach(({ ops }, at) => ops.forEach((op) => (opClass[op] = at)));
  const REGION = classes.length, CHILDREN = 16;
  ptds.OTHERS = 65535; // the number of all names that a table has no room for

  // One level above `below`: CHILDREN of its items in one.
  function summarise(below) {
    const count = Math.ceil(below.count / CHILDREN);
    const level = { count, start: new Uint32Array(count), end: new Uint32Array(count), lost: new Float64Array(count), took: new Float64Array(count), kind: new Uint8Array(count), hit: new Uint8Array(count) };
    const weight = new Float64Array(classes.length + 1);
    for (let i = 0; i < count; i++) {
      const last = Math.min(below.count, (i + 1) * CHILDREN);
      let end = 0, lost = 0, took = 0;
      weight.fill(0);
      for (let j = i * CHILDREN; j < last; j++) {
        const stop = below.endOf(j);
        if (stop > end) end = stop;
        lost += below.lostOf(j);
        took += below.tookOf(j);
        weight[below.kindOf(j)] += 1 + stop - below.startOf(j);
      }
      level.start[i] = below.startOf(i * CHILDREN);
      level.end[i] = end;
      level.lost[i] = lost;
      level.took[i] = took;
      level.kind[i] = weight.indexOf(Math.max(...weight));
    }
    level.startOf = (i) => level.start[i];
    level.endOf = (i) => level.end[i];
    level.lostOf = (i) => level.lost[i];
    level.tookOf = (i) => level.took[i];
    level.kindOf = (i) => level.kind[i];
    return level;
  }

  // A row's operations, in order of time, and its levels, finest first.
  function makeRow(row, indices, startOf, lengthOf, lostOf, kindOf) {
    const leaf = {
      count: indices.length,
      startOf: (i) => startOf(indices[i]),
      endOf: (i) => startOf(indices[i]) + lengthOf(indices[i]),
      lostOf: (i) => lostOf(indices[i]),
      tookOf: (i) => lengthOf(indices[i]),
      kindOf: (i) => kindOf(indices[i]),
    };
    const levels = [leaf];
    while (levels[levels.length - 1].count > CHILDREN) levels.push(summarise(levels[levels.length - 1]));
    return { ...row, indices, levels };
  }

  const callRow = ({ op }, row, indices) => makeRow(row, indices, (at) => op.enter[at], (at) => op.length[at], (at) => op.lost[at], (at) => opClass[op.op[at]]);

  // The same operations from their start on the GPU to their end there. One thread's may overtake another's in a stream.
  function runRow({ op, run, runOf }, row, indices) {
    const startOf = (at) => run.start[runOf[at] - 1];
    if (indices.some((at, i) => i > 0 && startOf(at) < startOf(indices[i - 1]))) indices.sort((a, b) => startOf(a) - startOf(b));
    return makeRow(row, indices, startOf, (at) => run.length[runOf[at] - 1], () => 0, (at) => opClass[op.op[at]]);
  }

  // The lanes of a thread's regions, or of the process's ranges (0), outermost first.
  function regionRows({ region }, thread, label) {
    const lanes = [];
    for (let i = 0; i < region.start.length; i++) if (region.thread[i] === thread) (lanes[region.lane[i]] = lanes[region.lane[i]] || []).push(i);
    return lanes.map((indices, lane) => makeRow({ kind: "region", number: thread, label: lane ? "" : label }, Uint32Array.from(indices), (i) => region.start[i], (i) => region.length[i], () => 0, () => REGION));
  }

  // Below each thread the regions that it marked; those of the process have a group of their own.
  function addRegions(data, groups) {
    const threads = groups.find((one) => one.kind === "thread"), own = new Set(data.region.thread), ranges = regionRows(data, 0, "ranges");
    if (threads) threads.rows = threads.rows.map((row) => (own.has(row.number) ? [row, ...regionRows(data, row.number, "regions")] : [row])).flat();
    if (ranges.length) groups.unshift({ title: "Ranges that the program marks", kind: "region", rows: ranges });
  }

  // Positions by the small number in `column`, of the operations that `wanted` takes.
  function sortInto(column, numbers, wanted) {
    const sizes = new Uint32Array(65536);
    for (let i = 0; i < column.length; i++) if (wanted(i)) sizes[column[i]]++;
    const lists = new Map();
    for (const number of numbers) if (sizes[number]) lists.set(number, { list: new Uint32Array(sizes[number]), used: 0 });
    for (let i = 0; i < column.length; i++) {
      const into = wanted(i) && lists.get(column[i]);
      if (into) into.list[into.used++] = i;
    }
    return lists;
  }

  function group(data, title, kind, column, table, wanted, label) {
    const numbers = [...table.map((_, at) => at + 1), 65535];
    const lists = sortInto(column, numbers, wanted);
    const rows = [];
    for (const [number, { list }] of lists)
      rows.push(callRow(data, { kind, number, label: number === 65535 ? "others" : label(table[number - 1]) }, list));
    const id = ({ number }) => (number === 65535 ? Infinity : table[number - 1].id);
    return { title, kind, rows: rows.sort((a, b) => id(a) - id(b)) };
  }

  // Below each stream that work ran on, when it did.
  function addRuns(data, { rows }) {
    const { run } = data, streams = run.op.map((at) => data.ranOn(at));
    const lists = sortInto(streams, rows.map((row) => row.number), () => true);
    for (let at = rows.length - 1; at >= 0; at--) {
      const one = lists.get(rows[at].number);
      if (one) rows.splice(at + 1, 0, runRow(data, { kind: "run", number: rows[at].number, label: "on the GPU" }, one.list.map((i) => run.op[i])));
    }
  }

  function groups(data, tables) {
    const { op } = data, work = (i) => op.flags[i] & flags.WORK;
    const moved = op.flags.some((one) => one & flags.REMAPPED);
    const stream = (one) => one.name;
    const out = [
      group(data, "Host threads", "thread", op.thread, tables.threads, () => true, (one) => "thread " + one.name),
      group(data, moved ? "Streams, as the program named them" : "Streams", "stream", op.stream, tables.streams, work, stream),
    ];
    if (moved) out.push(group(data, "Streams, as the work was sent", "target", op.target, tables.streams, work, stream));
    data.moved = moved;
    data.ranOn = (at) => (moved && op.target[at]) || op.stream[at];
    if (tables.runs) addRuns(data, out[out.length - 1]);
    addRegions(data, out);
    return out.filter((one) => one.rows.length);
  }

  // Marks the operations that `hits` has, and every summary above one.
  function markHits(row, hits) {
    for (let l = 1; l < row.levels.length; l++) {
      const level = row.levels[l], below = row.levels[l - 1];
      level.hit.fill(0);
      for (let i = 0; i < below.count; i++) if (l === 1 ? hits[row.indices[i]] : below.hit[i]) level.hit[(i / CHILDREN) | 0] = 1;
    }
  }

  ptds.loadData = async (tables) => {
    const bytes = fromBase64(ptds.byId("data-columns").textContent.trim());
    ptds.byId("data-columns").remove();
    const data = columns(tables, await inflate(bytes));
    data.tables = tables;
    data.groups = groups(data, tables);
    data.hits = null;
    data.count = tables.operations;
    data.end = 1;
    for (let i = 0; i < data.count; i++) data.end = Math.max(data.end, data.op.enter[i] + data.op.length[i]);
    for (let i = 0; i < tables.regions; i++) data.end = Math.max(data.end, data.region.start[i] + data.region.length[i]);
    for (let i = 0; i < tables.runs; i++) data.end = Math.max(data.end, data.run.start[i] + data.run.length[i]);
    return data;
  };
  Object.assign(ptds, { REGION, classes, opClass, flags, CHILDREN, markHits });
}
