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
    for (const column of ptds.tables.columns) {
      const count = counts[column.of];
      out[column.of][column.name] = new types[column.bytes](buffer, offset, count);
      offset += Math.ceil((count * column.bytes) / 4) * 4;
    }
    const enter = out.op.enter;
    for (let i = 1; i < enter.length; i++) enter[i] += enter[i - 1];
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
    const level = { count, start: new Uint32Array(count), end: new Uint32Array(count), lost: new Float64Array(count), behind: new Float64Array(count), took: new Float64Array(count), kind: new Uint8Array(count), hit: new Uint8Array(count) };
    const weight = new Float64Array(classes.length + 1);
    for (let i = 0; i < count; i++) {
      const last = Math.min(below.count, (i + 1) * CHILDREN);
      let end = 0, lost = 0, behind = 0, took = 0;
      weight.fill(0);
      for (let j = i * CHILDREN; j < last; j++) {
        const stop = below.endOf(j);
        if (stop > end) end = stop;
        lost += below.lostOf(j);
        behind += below.behindOf(j);
        took += below.tookOf(j);
        weight[below.kindOf(j)] += 1 + stop - below.startOf(j);
      }
      level.start[i] = below.startOf(i * CHILDREN);
      level.end[i] = end;
      level.lost[i] = lost;
      level.behind[i] = behind;
      level.took[i] = took;
      level.kind[i] = weight.indexOf(Math.max(...weight));
    }
    level.startOf = (i) => level.start[i];
    level.endOf = (i) => level.end[i];
    level.lostOf = (i) => level.lost[i];
    level.behindOf = (i) => level.behind[i];
    level.tookOf = (i) => level.took[i];
    level.kindOf = (i) => level.kind[i];
    return level;
  }

  // A row's operations, in order of time, and its levels, finest first.
  // behindOf: of what was lost to waiting, the part that the default stream is the reason for.
  function makeRow(row, indices, startOf, lengthOf, lostOf, behindOf, kindOf) {
    const leaf = {
      count: indices.length,
      startOf: (i) => startOf(indices[i]),
      endOf: (i) => startOf(indices[i]) + lengthOf(indices[i]),
      lostOf: (i) => lostOf(indices[i]),
      behindOf: (i) => behindOf(indices[i]),
      tookOf: (i) => lengthOf(indices[i]),
      kindOf: (i) => kindOf(indices[i]),
    };
    const levels = [leaf];
    while (levels[levels.length - 1].count > CHILDREN) levels.push(summarise(levels[levels.length - 1]));
    return { ...row, indices, levels };
  }

  const callRow = ({ op }, row, indices) => makeRow(row, indices, (at) => op.enter[at], (at) => op.length[at], (at) => op.lost[at], (at) => (op.flags[at] & flags.BEHIND ? op.lost[at] : 0), (at) => opClass[op.op[at]]);

  // The same operations from their start on the GPU to their end there. One thread's may overtake another's in a stream.
  function runRow({ op, run, runOf }, row, indices) {
    const startOf = (at) => run.start[runOf[at] - 1];
    if (indices.some((at, i) => i > 0 && startOf(at) < startOf(indices[i - 1]))) indices.sort((a, b) => startOf(a) - startOf(b));
    return makeRow(row, indices, startOf, (at) => run.length[runOf[at] - 1], () => 0, () => 0, (at) => opClass[op.op[at]]);
  }

  // Positions by the small number in `column`, of those in the range that `wanted` takes. numbers: [before the first, how many].
  function sortInto(column, [from, to], [base, many], wanted) {
    const sizes = new Uint32Array(many + 1), lists = new Map();
    for (let i = from; i < to; i++) if (wanted(i)) sizes[column[i] - base]++;
    for (let number = 1; number <= many; number++) if (sizes[number]) lists.set(base + number, { list: new Uint32Array(sizes[number]), used: 0 });
    for (let i = from; i < to; i++) {
      const into = wanted(i) && lists.get(column[i]);
      if (into) into.list[into.used++] = i;
    }
    return lists;
  }

  // Number 0 is no row: what has no stream, or an unknown thread.
  function group(data, part, title, kind, column, table, wanted, label) {
    const lists = sortInto(column, part.op, kind === "thread" ? part.threads : part.streams, (i) => column[i] && wanted(i)), rows = [];
    for (const [number, { list }] of lists) rows.push(callRow(data, { kind, number, label: table[number - 1] ? label(table[number - 1]) : "others" }, list));
    const id = ({ number }) => (table[number - 1] ? table[number - 1].id : Infinity);
    return { title: part.title ? `${part.title}: ${title[0].toLowerCase()}${title.slice(1)}` : title, kind, rows: rows.sort((a, b) => id(a) - id(b)) };
  }

  // Below each stream that work ran on, when it did.
  function addRuns(data, part, { rows, kind }) {
    const { run, op, ranOn } = data;
    for (let i = part.run[0]; i < part.run[1]; i++) ranOn[i] = (kind === "target" && op.target[run.op[i]]) || op.stream[run.op[i]];
    const lists = sortInto(ranOn, part.run, part.streams, (i) => ranOn[i]);
    for (let at = rows.length - 1; at >= 0; at--) {
      const one = lists.get(rows[at].number);
      if (one) rows.splice(at + 1, 0, runRow(data, { kind: "run", number: rows[at].number, label: "on the GPU" }, one.list.map((i) => run.op[i])));
    }
  }

  // The lanes of a thread's regions, outermost first.
  function laneRows({ region }, number, label, list) {
    const lanes = [];
    for (const i of list) (lanes[region.lane[i]] = lanes[region.lane[i]] || []).push(i);
    return lanes.map((indices, lane) => makeRow({ kind: "region", number, label: lane ? "" : label }, Uint32Array.from(indices), (i) => region.start[i], (i) => region.length[i], () => 0, () => 0, () => REGION));
  }

  // Below each thread the regions that it marked; those of the process (thread 0) have a group of their own.
  function addRegions(data, part, groups) {
    const by = new Map(), thread = groups.find((one) => one.kind === "thread");
    for (let i = part.region[0]; i < part.region[1]; i++) {
      const number = data.region.thread[i];
      if (!by.has(number)) by.set(number, []);
      by.get(number).push(i);
    }
    thread.rows = thread.rows.map((row) => [row, ...laneRows(data, row.number, "regions", by.get(row.number) || [])]).flat();
    if (by.has(0)) groups.unshift({ title: (part.title ? part.title + ": ranges" : "Ranges") + " that the program marks", kind: "region", rows: laneRows(data, 0, "ranges", by.get(0)) });
  }

  function groups(data, part) {
    const { op, tables } = data, work = (i) => op.flags[i] & flags.WORK, stream = (one) => one.name;
    let moved = false;
    for (let i = part.op[0]; i < part.op[1] && !moved; i++) moved = (op.flags[i] & flags.REMAPPED) !== 0;
    const out = [
      group(data, part, "Host threads", "thread", op.thread, tables.threads, () => true, (one) => one.label || one.name),
      group(data, part, moved ? "Streams, as the program named them" : "Streams", "stream", op.stream, tables.streams, work, stream),
    ];
    if (moved) out.push(group(data, part, "Streams, as the work was sent", "target", op.target, tables.streams, work, stream));
    if (tables.runs) addRuns(data, part, out[out.length - 1]);
    addRegions(data, part, out);
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

  // One trace's rows are of all there is.
  const whole = ({ op, region, run }) => ({ title: "", op: [0, op.enter.length], region: [0, region.start.length], run: [0, run.op.length], threads: [0, ptds.OTHERS], streams: [0, ptds.OTHERS] });

  // titles: of the processes; null where the report is on one.
  ptds.loadData = async (titles) => {
    const texts = ptds.byId("data-columns").textContent.trim().split("\n"), parts = [];
    ptds.byId("data-columns").remove();
    for (const [at, tables] of ptds.tables.parts.entries())
      if (tables.operations) parts.push({ ...columns(tables, await inflate(fromBase64(texts[at]))), tables: { ...ptds.tables, ...tables }, title: titles ? titles[at] : "" });
    const data = titles ? ptds.mergeParts(parts) : parts[0], { tables, op, run, region } = data;
    data.apart = data.apart || null;
    data.count = tables.operations;
    data.runOf = new Uint32Array(tables.runs ? data.count : 0);
    run.op.forEach((one, at) => (data.runOf[one] = at + 1));
    data.ranOn = new Uint32Array(run.op.length); // the stream of each run
    data.groups = (data.apart || [whole(data)]).map((part) => groups(data, part)).flat();
    data.hits = null;
    data.end = 1;
    for (let i = 0; i < data.count; i++) data.end = Math.max(data.end, op.enter[i] + op.length[i]);
    for (const one of [run, region]) for (let i = 0; i < one.start.length; i++) data.end = Math.max(data.end, one.start[i] + one.length[i]);
    return data;
  };
  Object.assign(ptds, { REGION, classes, opClass, flags, CHILDREN, markHits });
}
