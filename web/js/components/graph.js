// Drawings of exchanges and queues: columns from left to right, bindings as curves; dragged, and zoomed with the wheel or the buttons.
import { html, useMemo, useRef, useState } from "../html.js";
import { href } from "../router.js";

const box = { width: 190, height: 40, across: 300, down: 54, margin: 24 };

/**
 * Gives each node a place. nodes: [{id, …}], edges: [{from, to, label}]. A node stands right of all that lead to it; in a circle, where the
 * walk ends. Within a column nodes stand near those that lead to them.
 */
export function layOut(nodes, edges) {
  const column = new Map(nodes.map((n) => [n.id, 0]));
  const known = edges.filter((e) => column.has(e.from) && column.has(e.to) && e.from !== e.to);
  for (let round = 0, moved = true; moved && round < 6; round++) {
    moved = false;
    for (const e of known) {
      if (column.get(e.to) > column.get(e.from)) continue;
      column.set(e.to, column.get(e.from) + 1);
      moved = true;
    }
  }
  // Queues to which nothing leads stand with the other queues.
  const last = Math.max(0, ...nodes.filter((n) => n.kind === "queue").map((n) => column.get(n.id)));
  for (const n of nodes) if (n.kind === "queue") column.set(n.id, last);

  const placed = new Map();
  const before = new Map(nodes.map((n) => [n.id, []]));
  for (const e of known) before.get(e.to).push(e.from);
  const columns = [...new Set(column.values())].sort((a, b) => a - b);
  let height = 0;
  columns.forEach((c, x) => {
    const centre = (n) => {
      const ys = before.get(n.id).map((id) => placed.get(id)?.y).filter((y) => y !== undefined);
      return ys.length > 0 ? ys.reduce((a, b) => a + b) / ys.length : Infinity;
    };
    const here = nodes.filter((n) => column.get(n.id) === c).map((n) => [n, centre(n)]);
    here.sort(([a, ya], [b, yb]) => (ya === yb ? (a.label < b.label ? -1 : 1) : ya - yb));
    // Every second column stands half a row lower: a curve that passes a column goes between its nodes.
    here.forEach(([n], i) => placed.set(n.id, { ...n, x: box.margin + x * box.across, y: box.margin + (i + (x % 2) / 2) * box.down }));
    height = Math.max(height, here.length + (x % 2) / 2);
  });
  const width = box.margin * 2 + (columns.length - 1) * box.across + box.width;
  return { placed, edges: known, width, height: box.margin * 2 + Math.max(1, height) * box.down };
}

/** The drawing. Each node is {id, kind: "exchange" or "queue", label, sub, to}; to is where a click leads. */
export function Graph({ nodes, edges, label, tall = 520 }) {
  const g = useMemo(() => layOut(nodes, edges), [nodes, edges]);
  const [view, setView] = useState({ x: 0, y: 0, zoom: 1 });
  const drag = useRef(null);
  const width = Math.max(g.width, 900);
  const height = Math.min(tall, Math.max(g.height, 120));
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
    <div class="graph">
      <svg viewBox=${`${view.x} ${view.y} ${width / view.zoom} ${height / view.zoom}`} style=${`max-height:${tall}px`} role="group" aria-label=${label}
        onPointerDown=${onDown} onPointerMove=${onMove} onPointerUp=${() => { drag.current = null; }} onPointerLeave=${() => { drag.current = null; }} onWheel=${onWheel}>
        ${g.edges.map((e, i) => html`<${Edge} key=${i} from=${g.placed.get(e.from)} to=${g.placed.get(e.to)} label=${e.label} />`)}
        ${[...g.placed.values()].map((n) => html`<${Node} key=${n.id} ...${n} />`)}
      </svg>
      <div class="tools">
        <button aria-label="Larger" onClick=${() => zoomBy(1.3)}>+</button>
        <button aria-label="Smaller" onClick=${() => zoomBy(1 / 1.3)}>−</button>
        <button onClick=${() => setView({ x: 0, y: 0, zoom: 1 })}>Whole</button>
      </div>
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

function Edge({ from, to, label }) {
  const [x1, y1, x2, y2] = [from.x + box.width, from.y + box.height / 2, to.x, to.y + box.height / 2];
  const bend = Math.max(40, Math.abs(x2 - x1) / 2);
  return html`
    <g class="edge">
      <path d=${`M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`} />
      ${label && html`<text x=${x1 + (x2 - x1) * 0.62} y=${y1 + (y2 - y1) * 0.7 - 3} text-anchor="middle">${clipped(label, 22)}</text>`}
    </g>`;
}

/** Nodes and edges of bindings; at most so many edges, for nobody sees more. */
export function ofBindings(bindings, most = 300) {
  const nodes = new Map();
  const add = (kind, vhost, name) => {
    const id = `${kind} ${vhost} ${name}`;
    const shown = name || "(default)";
    if (!nodes.has(id)) nodes.set(id, { id, kind, label: shown, to: [`${kind}s`, vhost, name || "amq.default"] });
    return id;
  };
  const edges = bindings.slice(0, most).map((b) => ({
    from: add("exchange", b.vhost, b.source), to: add(b.destination_type, b.vhost, b.destination), label: b.routing_key,
  }));
  return { nodes: [...nodes.values()], edges, left: Math.max(0, bindings.length - most) };
}
