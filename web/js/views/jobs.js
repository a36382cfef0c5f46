import { del, path, post, query as toQuery } from "../api.js";
import { Card, Chip, Empty, Fold, Go, Head, Trouble } from "../components/basics.js";
import { confirm } from "../components/dialogs.js";
import { Form } from "../components/form.js";
import { Payload } from "../components/message.js";
import { Rows } from "../components/table.js";
import { act, toast } from "../components/toasts.js";
import { count, time } from "../format.js";
import { html, useState } from "../html.js";
import { refreshAll, useLive } from "../live.js";
import { place, setQuery } from "../router.js";
import { useStore } from "../store.js";
import { useVHostField } from "../vhosts.js";

/** The states of a job, in the order of its life. */
export const states = ["queued", "locked", "backoff", "done"];

const number = (q, state) => q.states?.[state] ?? q[state] ?? 0;

const queueColumns = [
  { key: "queue", title: "Queue", class: "name", show: (q) => html`<${Go} to=${["jobs", q.vhost, q.queue ?? q.name]}>${q.queue ?? q.name}<//>` },
  { key: "vhost", title: "Virtual host", wide: true },
  ...states.map((s) => ({ key: `states.${s}`, title: s, number: true, show: (q) => count(number(q, s)) })),
];

export function Jobs() {
  const { data, error, loading } = useLive("jobs");
  const all = Array.isArray(data) ? data : data?.jobs ?? data?.queues ?? [];
  const vhost = useVHostField();
  const fields = [{ name: "queue", label: "Queue", required: true }, vhost, ...jobFields];
  return html`
    <${Head} title="Jobs" />
    <div class="stack">
      ${loading && html`<p class="soft">Loading …</p>`}<${Trouble} error=${error} what="The list of jobs" />
      ${data && (all.length > 0
        ? html`<${Card} flush><${Rows} columns=${queueColumns} rows=${all} label="Queues with jobs" rowKey=${(q) => `${q.vhost} ${q.queue ?? q.name}`} /><//>`
        : html`<div class="card"><${Empty} title="There are no jobs yet."><span>Enqueue one below, or with <code>redis-cli -p 6380 job.enqueue mails 'to: ann' id welcome-ann</code></span><//></div>`)}
      <${Fold} title="New job"><${Form} label="New job" fields=${fields} button="Enqueue" onSubmit=${({ queue, vhost: v, ...job }) => enqueue(v, queue, job)} /><//>
    </div>`;
}

const jobFields = [
  { name: "id", label: "Id", hint: "a job is queued once under its id; empty: a new one" },
  { name: "payload", label: "What is to be done", kind: "area", rows: 3 },
];

async function enqueue(vhost, queue, job) {
  await post(path`jobs/${vhost}/${queue}`, { payload: "", ...job });
  toast("Enqueued.");
  refreshAll();
}

export function JobQueue({ names: [vhost, queue] }) {
  const { query: q } = useStore(place);
  const base = path`jobs/${vhost}/${queue}`;
  const { data, error, loading } = useLive(base + toQuery({ state: q.state, after: q.after, limit: 100 }));
  const jobs = Array.isArray(data) ? data : data?.jobs ?? [];
  const [open, setOpen] = useState(null);
  const one = (j) => `${base}/${encodeURIComponent(j.id)}`;
  const cancel = async (j) => {
    if (await confirm(`Cancel job ${j.id}?`, "It will not be done.", "Cancel job")) await act("Cancelled.", () => del(one(j)));
  };
  const columns = [
    { title: "Id", class: "name", show: (j) => html`<button class="link" onClick=${() => setOpen(j.id)}>${j.id}</button>` },
    { title: "State", show: (j) => html`<${Chip} kind=${{ done: "good", locked: "warn", backoff: "bad" }[j.state] ?? ""}>${j.state}<//>` },
    { title: "Attempts", number: true, show: (j) => count(j.attempts ?? 0) },
    { title: "Until", wide: true, show: (j) => time(j.lease_until ?? j.due ?? j.until) },
    { title: "", show: (j) => html`<span class="row">
      ${j.state !== "queued" && j.state !== "locked" && html`<button onClick=${() => act("It is queued again.", () => post(`${one(j)}/retry`))}>Retry</button>`}
      ${j.state !== "done" && html`<button class="danger" onClick=${() => cancel(j)}>Cancel …</button>`}</span>` },
  ];
  return html`
    <${Head} title=${queue} crumbs=${[["Jobs", ["jobs"]], [`virtual host ${vhost}`, ["vhosts", vhost]]]}><${Go} class="button" to=${["queues", vhost, queue]}>Its messages<//><//>
    <div class="stack">
      <div class="row" role="group" aria-label="State">${["", ...states].map((s) => html`
        <button class=${(q.state ?? "") === s ? "primary" : ""} aria-pressed=${(q.state ?? "") === s} onClick=${() => setQuery({ state: s || undefined, after: undefined })}>${s || "all"}</button>`)}</div>
      ${loading && html`<p class="soft">Loading …</p>`}<${Trouble} error=${error} what="These jobs" />
      ${data && html`<${Card} title="Jobs" flush tools=${html`${q.after && html`<button onClick=${() => setQuery({ after: undefined })}>First</button>`}
          ${data.next && html`<button onClick=${() => setQuery({ after: data.next })}>More ›</button>`}`}>
        ${jobs.length > 0 ? html`<${Rows} columns=${columns} rows=${jobs} label="Jobs" rowKey=${(j) => j.id} />` : html`<${Empty} title="No job is in this state." />`}<//>`}
      ${open && html`<${Job} key=${open} path=${`${base}/${encodeURIComponent(open)}`} id=${open} />`}
      <${Fold} title="New job"><${Form} label="New job" fields=${jobFields} button="Enqueue" onSubmit=${(job) => enqueue(vhost, queue, job)} reset /><//>
    </div>`;
}

function Job({ path: where, id }) {
  const { data, error } = useLive(where);
  return html`<${Card} title=${`Job ${id}`}>
    <${Trouble} error=${error} what="This job" />${data && html`<div class="stack"><${Payload} of=${{ payload_bytes: new Blob([data.payload ?? ""]).size, ...data }} />
    <${Fold} title="All that is known"><pre tabindex="0">${JSON.stringify({ ...data, payload: undefined }, null, 2)}</pre><//></div>`}<//>`;
}
