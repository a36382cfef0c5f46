import { Chip, Empty, Head } from "../components/basics.js";
import { Listing } from "../components/table.js";
import { time } from "../format.js";
import { html } from "../html.js";

const columns = [
  { key: "time", title: "Time", show: (a) => time(a.time) },
  { key: "who", title: "User", class: "name" },
  { key: "from", title: "From", wide: true, show: (a) => a.from ?? "this machine" },
  { key: "what", title: "What", show: (a) => html`<span class="mono">${a.what}</span>` },
  { key: "on", title: "On", class: "name", show: (a) => html`<span class="mono">${a.on ?? ""}</span>` },
  { key: "outcome", title: "Outcome", show: (a) => html`<${Chip} kind=${a.outcome === "done" ? "good" : "bad"}>${a.outcome}<//> ${a.reason ?? ""}` },
  { key: "protocol", title: "Protocol", wide: true },
];

/** The latest actions of administrators. */
export const Audit = () => html`
  <${Head} title="Audit log" />
  <div class="stack">
    <p class="soft">The last 1,000 administrative changes since this node started, over every protocol. The setting <code>audit_log</code> keeps all of them in a file.</p>
    <${Listing} path="audit" columns=${columns} label="Audit log" rowKey=${(a) => `${a.time} ${a.request} ${a.what} ${a.on}`} empty=${html`
      <div class="card"><${Empty} title="Nothing has been changed since the start." /></div>`} />
  </div>`;
