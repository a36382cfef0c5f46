// Drawings of exchanges and queues in columns from left to right, with bindings as curves. They can
// be dragged, and zoomed with the wheel or the buttons.
import { html, useLayoutEffect, useMemo, useRef, useState } from "../html.js";
import { href } from "../router.js";

const smallest = 0.7; // of its size to which a drawing shrinks to fit; a larger one is dragged
const box = { width: 190, height: 40, across: 300, down: 54, margin: 24 };

/**
 * The column of each node, to the right of all nodes that lead to it; in a cycle it is where the
 * walk ends. Queues without incoming edges are placed with the other queues.
 */
function columnsOf(nodes, edges) {
  const column = new Map(nodes.map((n) => [n.id, 0]));
  for (let round = 0, moved = true; moved && round < 6; round++) {
    moved = false;
    for (const e of edges) {
      if (column.get(e.to) > column.get(e.from)) continue;
      column.set(e.to, column.get(e.from) + 1);
      moved = true;
    }
  }
  const last = Math.max(0, ...nodes.filter((n) => n.kind === "queue").map((n) => column.get(n.id)));
  for (const n of nodes) if (n.kind === "queue") column.set(n.id, last);
  return column;
}

/**
 * Gives an edge over several columns a stop in each of them, so that it passes between nodes and
 * not behind them.
 */
function stopsOf(edges, column) {
  const stops = [];
  for (const [i, e] of edges.entries()) {
    e.way = [e.from];
    for (let c = column.get(e.from) + 1; c < column.get(e.to); c++) {
      const stop = { id: `stop ${i} ${c}`, label: "", column: c, from: e.way.at(-1) };
      stops.push(stop);
      e.way.push(stop.id);
    }
    e.way.push(e.to);
  }
  return stops;
}

/**
 * Gives each node a position. nodes: [{id, …}], edges: [{from, to, label}]. Within a column nodes
 * are near the nodes that lead to them. Edges are returned with way: the ids of what they pass.
 */
function layOut(nodes, edges) {
  const ids = new Set(nodes.map((n) => n.id));
  const known = edges.filter((e) => ids.has(e.from) && ids.has(e.to) && e.from !== e.to).map((e) => ({ ...e }));
  const column = columnsOf(nodes, known);
  const stops = stopsOf(known, column);
  const before = new Map(nodes.map((n) => [n.id, []]));
  for (const e of known) before.get(e.to).push(e.way.at(-2));
  for (const s of stops) before.set(s.id, [s.from]);

  const placed = new Map();
  const all = [...nodes.map((n) => ({ ...n, column: column.get(n.id), room: box.down })), ...stops.map((s) => ({ ...s, room: box.down / 2 }))];
  const columns = [...new Set(all.map((n) => n.column))].sort((a, b) => a - b);
  let height = 0;
  columns.forEach((c, x) => {
    const centre = (n) => {
      const ys = before.get(n.id).map((id) => placed.get(id)?.middle).filter((y) => y !== undefined);
      return ys.length > 0 ? ys.reduce((a, b) => a + b) / ys.length : Infinity;
    };
    const here = all.filter((n) => n.column === c).map((n) => [n, centre(n)]);
    here.sort(([a, ya], [b, yb]) => (ya === yb ? (a.label < b.label ? -1 : 1) : ya - yb));
    let y = box.margin;
    for (const [n] of here) {
      placed.set(n.id, { ...n, x: box.margin + x * box.across, y, middle: y + (n.room - box.down + box.height) / 2 });
      y += n.room;
    }
    height = Math.max(height, y);
  });
  const width = box.margin * 2 + (columns.length - 1) * box.across + box.width;
  return { placed, edges: known, width, height: box.margin + Math.max(box.margin + box.down, height) };
}

/**
 * The drawing. Each node is {id, kind: "exchange" or "queue", label, sub, to}; to is the target of
 * a click.
 */
export function Graph({ nodes, edges, label, tall = 520 }) {
  const g = useMemo(() => layOut(nodes, edges), [nodes, edges]);
  const [view, setView] = useState({ x: 0, y: 0, zoom: 1 });
  const drag = useRef(null);
  const frame = useRef(null);
  const [room, setRoom] = useState(900); // pixels from left to right
  useLayoutEffect(() => {
    const measure = () => setRoom(Math.max(1, frame.current.getBoundingClientRect().width));
    const watch = new ResizeObserver(measure);
    measure();
    watch.observe(frame.current);
    return () => watch.disconnect();
  }, []);
  const size = Math.max(smallest, Math.min(1, room / g.width));
  const [width, height] = [room / size, Math.min(tall / size, g.height)];
  const whole = () => setView({ x: 0, y: 0, zoom: Math.min(1, width / g.width, height / g.height) });
  const zoomBy = (by) => setView((v) => ({ ...v, zoom: Math.min(4, Math.max(0.2, v.zoom * by)) }));
  const scale = (svg) => width / svg.clientWidth / view.zoom;

  const onDown = (e) => { drag.current = { x: e.clientX, y: e.clientY, view, scale: scale(e.currentTarget) }; };
  const onMove = (e) => {
    const d = drag.current;
    if (!d || e.buttons === 0) return;
    setView({ ...d.view, x: d.view.x - (e.clientX - d.x) * d.scale, y: d.view.y - (e.clientY - d.y) * d.scale });
  };
  const onWheel = (e) => {
    if (!e.ctrlKey && !e.metaKey) return; // the wheel alone scrolls the page
    e.preventDefault();
    zoomBy(e.deltaY < 0 ? 1.15 : 1 / 1.15);
  };
  return html`
    <div class="graph" ref=${frame}>
      <div class="tools">
        <button aria-label="Larger" onClick=${() => zoomBy(1.3)}>+</button>
        <button aria-label="Smaller" onClick=${() => zoomBy(1 / 1.3)}>−</button>
        <button onClick=${whole}>Whole</button>
      </div>
      <svg viewBox=${`${view.x} ${view.y} ${width / view.zoom} ${height / view.zoom}`} height=${height * size} role="group" aria-label=${label}
        onPointerDown=${onDown} onPointerMove=${onMove} onPointerUp=${() => { drag.current = null; }} onPointerLeave=${() => { drag.current = null; }} onWheel=${onWheel}>
        ${g.edges.map((e, i) => html`<${Edge} key=${i} way=${e.way.map((id) => g.placed.get(id))} label=${e.label} />`)}
        ${[...g.placed.values()].filter((n) => n.kind).map((n) => html`<${Node} key=${n.id} ...${n} />`)}
      </svg>
    </div>`;
}

const clipped = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function Node({ kind, label, sub, to, x, y }) {
  const inside = html`
    <rect x=${x} y=${y} width=${box.width} height=${box.height} rx=${kind === "exchange" ? 20 : 5} />
    <text x=${x + 12} y=${y + (sub ? 17 : 24)}>${clipped(label, 26)}</text>
    ${sub && html`<text class="sub" x=${x + 12} y=${y + 32}>${clipped(sub, 32)}</text>`}
    <title>${label}${sub ? `, ${sub}` : ""}</title>`;
  return html`<g class="node ${kind}">${to ? html`<a href=${href(to)} aria-label=${`${kind} ${label}`}>${inside}</a>` : inside}</g>`;
}

function Edge({ way, label }) {
  const steps = way.slice(1).map((to, i) => [way[i].x + box.width, way[i].middle, to.x, to.middle]);
  const curve = ([x1, y1, x2, y2]) => {
    const bend = Math.max(40, Math.abs(x2 - x1) / 2);
    return `${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
  };
  const [x1, y1, x2, y2] = steps.at(-1);
  return html`
    <g class="edge">
      <path d=${`M${steps.map(curve).join(" L")}`} />
      ${label && html`<text x=${x1 + (x2 - x1) * 0.62} y=${y1 + (y2 - y1) * 0.7 - 3} text-anchor="middle">${clipped(label, 22)}</text>`}
    </g>`;
}

/** Nodes and edges of bindings; degree is the number of bindings of a node. */
export function ofBindings(bindings) {
  const nodes = new Map();
  const add = (kind, vhost, name) => {
    const id = `${kind} ${vhost} ${name}`;
    const node = nodes.get(id) ?? { id, kind, label: name || "(default)", to: [`${kind}s`, vhost, name || "amq.default"], degree: 0 };
    node.degree++;
    nodes.set(id, node);
    return id;
  };
  const edges = bindings.map((b) => ({ from: add("exchange", b.vhost, b.source), to: add(b.destination_type, b.vhost, b.destination), label: b.routing_key }));
  return { nodes: [...nodes.values()], edges };
}

/** The part of a graph within this number of steps from some of its nodes. */
export function neighbours({ nodes, edges }, starts, steps) {
  const near = new Set(starts);
  for (let step = 0; step < steps; step++) {
    const before = new Set(near);
    for (const e of edges) {
      if (before.has(e.from)) near.add(e.to);
      if (before.has(e.to)) near.add(e.from);
    }
  }
  return { nodes: nodes.filter((n) => near.has(n.id)), edges: edges.filter((e) => near.has(e.from) && near.has(e.to)) };
}
