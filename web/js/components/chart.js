// Charts over time, drawn on a canvas by uPlot.
import uPlot from "../../vendor/uplot/uPlot.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { theme } from "../theme.js";
import { useStore } from "../store.js";
import { Card } from "./basics.js";

const height = 150;
const shortest = 60_000; // ms: what is known for less is drawn at the right of a minute

/**
 * A chart. Each of series is {label, points}; points is [[ms, value], …] in order, or undefined if
 * there is no data. format formats a value, and binary says that values are bytes. The legend shows
 * the last values, or those under the pointer. A screen reader gets the last values. A series may
 * have now, the current value, which is shown instead of the last point, since that stands for its
 * whole step.
 */
export function Chart({ title, series, format, binary = false }) {
  const [under, setUnder] = useState(null); // ms that the pointer is at
  const drawn = series.filter((s) => s.points);
  const last = (s) => format(s.now ?? s.points.at(-1)?.[1]);
  const at = (s) => (under === null ? last(s) : format(s.points.find(([ms]) => ms === under)?.[1]));
  const told = drawn.map((s) => `${s.label} ${last(s)}`).join(", ");
  return html`
    <${Card} title=${title} flush>
      <div class="chart">
        <div class=${drawn.length > 3 ? "legend long" : "legend"}>
          ${drawn.map((s, i) => html`<span class=${`mark-${i + 1}`}><i></i>${s.label} <b>${at(s)}</b></span>`)}
          ${under !== null && html`<span class="soft">${clock(under, true)}</span>`}
        </div>
        <${Plot} series=${drawn} format=${format} binary=${binary} label=${`${title}: ${told}`} onPoint=${setUnder} />
      </div>
    <//>`;
}

function Plot({ series, format, binary, label, onPoint }) {
  const box = useRef(null);
  const plot = useRef(null);
  const name = useStore(theme);
  const names = series.map((s) => s.label).join("|");

  useEffect(() => {
    const u = new uPlot(options(box.current, series, format, binary, onPoint), table(series), box.current);
    const watch = new ResizeObserver(([entry]) => u.setSize({ width: Math.floor(entry.contentRect.width), height }));
    watch.observe(box.current);
    plot.current = u;
    return () => {
      watch.disconnect();
      u.destroy();
    };
  }, [names, name]);
  useEffect(() => plot.current.setData(table(series)), [series]);

  return html`<div class="plot" ref=${box} role="img" aria-label=${label}></div>`;
}

function options(box, series, format, binary, onPoint) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const axis = { stroke: colour("soft"), font: `11px ${style.getPropertyValue("--font")}`, grid: { stroke: colour("line"), width: 1 }, ticks: { show: false } };
  return {
    width: Math.floor(box.clientWidth) || 300, height, legend: { show: false }, cursor: { y: false, points: { size: 6 }, drag: { setScale: false } }, ms: 1,
    hooks: { setCursor: [(u) => onPoint(u.cursor.idx === null ? null : u.data[0][u.cursor.idx] ?? null)] },
    scales: {
      x: { time: true, range: span },
      y: { range: (u, low, high) => [0, high > 0 ? high * 1.08 : 1] },
    },
    axes: [
      { ...axis, size: 26, space: 64, values: (u, ticks) => ticks.map((ms) => clock(ms, ms % 60_000)) },
      { ...axis, size: 62, space: 32, values: (u, ticks) => ticks.map(format), ...(binary && { incrs: powersOf2 }) },
    ],
    series: [{}, ...series.map((s, i) => {
      const stroke = colour(`series-${i + 1}`);
      return { label: s.label, stroke, width: 1.6, points: { show: true, size: 4, filter: alone }, fill: series.length === 1 ? `${stroke}1c` : undefined };
    })],
  };
}

// The indices of points without a neighbour, which no line shows.
const alone = (u, series) => u.data[series].flatMap((v, i, all) => (v !== null && (all[i - 1] ?? null) === null && (all[i + 1] ?? null) === null ? [i] : []));

function span(u) {
  const [first, last] = [u.data[0][0] ?? Date.now(), u.data[0].at(-1) ?? Date.now()];
  return [Math.min(first, last - shortest), last];
}

const powersOf2 = Array.from({ length: 50 }, (_, i) => 2 ** i);

const clock = (ms, seconds) => new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: seconds ? "2-digit" : undefined, hourCycle: "h23" });

/** The series in uPlot's form: one row of times, and a row of values for each series. */
function table(series) {
  const times = [...new Set(series.flatMap((s) => s.points.map(([t]) => t)))].sort((a, b) => a - b);
  const rows = series.map((s) => {
    const at = new Map(s.points);
    return times.map((t) => at.get(t) ?? null);
  });
  return [times, ...rows];
}
