import { del } from "../api.js";
import { Card, Chip } from "../components/basics.js";
import { act } from "../components/toasts.js";
import { count, time } from "../format.js";
import { html } from "../html.js";
import { useLive } from "../live.js";

const kinds = { running: "warn", done: "good", failed: "bad" };

/** The moves and redrives of a queue, with their progress. */
export function Tasks({ path }) {
  const { data } = useLive(path);
  const tasks = Array.isArray(data) ? data : data?.tasks ?? [];
  if (tasks.length === 0) return null;
  return html`<${Card} title="Moves and redrives"><div class="stack">${tasks.map((t) => html`<${Task} key=${t.id} t=${t} />`)}</div><//>`;
}

function Task({ t }) {
  const done = (t.moved ?? 0) + (t.skipped ?? 0);
  const stop = () => act("Stopped.", () => del(`tasks/${encodeURIComponent(t.id)}`));
  return html`
    <div class="stack">
      <div class="row">
        <${Chip} kind=${kinds[t.state]}>${t.state}<//><b>${t.kind}</b>
        <span>${count(t.moved)} moved${t.skipped ? `, ${count(t.skipped)} skipped` : ""}${t.remaining ? `, ${count(t.remaining)} left` : ""}</span>
        <span class="soft small">since ${time(t.started)}</span>
        ${t.state === "running" && html`<button onClick=${stop}>Stop</button>`}
      </div>
      ${t.reason && html`<div class=${t.state === "failed" ? "note bad" : "note"}>${t.reason}</div>`}
      ${t.state === "running" && t.remaining !== undefined && html`<progress max=${done + t.remaining} value=${done} aria-label=${`${t.kind}: ${done} of ${done + t.remaining}`}></progress>`}
    </div>`;
}
