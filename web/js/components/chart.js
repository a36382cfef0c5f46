// Charts over time, drawn on a canvas by uPlot.
import uPlot from "../../vendor/uplot/uPlot.js";
import { html, useEffect, useRef } from "../html.js";
import { theme } from "../theme.js";
import { useStore } from "../store.js";
import { Card } from "./basics.js";

const height = 150;

/**
 * A chart. Each of series is {label, points}, points is [[ms, value], …] in order, or undefined when there is none; format writes a value.
 * The last values stand in the legend, and are what a screen reader is told.
 */
export function Chart({ title, series, format, zero = true }) {
  const drawn = series.filter((s) => s.points);
  const last = (s) => format(s.points[s.points.length - 1]?.[1]);
  const told = drawn.map((s) => `${s.label} ${last(s)}`).join(", ");
  return html`
    <${Card} title=${title} flush>
      <div class="chart">
        <div class="legend">${drawn.map((s, i) => html`<span class=${`mark-${i + 1}`}><i></i>${s.label} <b>${last(s)}</b></span>`)}</div>
        <${Plot} series=${drawn} format=${format} zero=${zero} label=${`${title}: ${told}`} />
      </div>
    <//>`;
}

function Plot({ series, format, zero, label }) {
  const box = useRef(null);
  const plot = useRef(null);
  const name = useStore(theme);
  const names = series.map((s) => s.label).join("|");

  useEffect(() => {
    const u = new uPlot(options(box.current, series, format, zero), table(series), box.current);
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

function options(box, series, format, zero) {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  const axis = { stroke: colour("soft"), font: `11px ${style.getPropertyValue("--font")}`, grid: { stroke: colour("line"), width: 1 }, ticks: { show: false } };
  return {
    width: Math.floor(box.clientWidth) || 300, height, legend: { show: false }, cursor: { y: false, points: { size: 6 }, drag: { setScale: false } }, ms: 1,
    scales: { x: { time: true }, y: { range: (u, low, high) => [zero ? 0 : low ?? 0, high > 0 ? high * 1.08 : 1] } },
    axes: [{ ...axis, size: 26, space: 70, values: (u, ticks) => ticks.map(clock) }, { ...axis, size: 62, space: 32, values: (u, ticks) => ticks.map(format) }],
    series: [{}, ...series.map((s, i) => ({ label: s.label, stroke: colour(`series-${i + 1}`), width: 1.6, points: { show: false } }))],
  };
}

const clock = (ms) => new Date(ms).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: ms % 60_000 ? "2-digit" : undefined });

/** The series as uPlot wants them: one row of times, and a row of values for each. */
function table(series) {
  const times = [...new Set(series.flatMap((s) => s.points.map(([t]) => t)))].sort((a, b) => a - b);
  const rows = series.map((s) => {
    const at = new Map(s.points);
    return times.map((t) => at.get(t) ?? null);
  });
  return [times, ...rows];
}
