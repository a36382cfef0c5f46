import { del, path, post, query as toQuery } from "../api.js";
import { Card, Chip, Empty, Facts, Fold, Go, Head, Tabs, Trouble } from "../components/basics.js";
import { confirm } from "../components/dialogs.js";
import { Form } from "../components/form.js";
import { Payload } from "../components/message.js";
import { Rows } from "../components/table.js";
import { act, toast } from "../components/toasts.js";
import { bytes, count, duration, many, time } from "../format.js";
import { html, useState } from "../html.js";
import { refreshAll, useLive } from "../live.js";
import { place, setQuery } from "../router.js";
import { useStore } from "../store.js";
import { Dead } from "./dead-jobs.js";

// The states of a job in the order of its life: [in the API, for people, the chip's kind].
const states = [
  ["queued", "queued", ""], ["queued-with-backoff", "backing off", "warn"], ["locked", "locked", "warn"], ["locked-with-requeue", "locked, another behind", "warn"],
  ["done-awaiting-gc", "done", "good"], ["done-with-backoff", "done, backing off", "good"], ["done-with-requeue", "done, another behind", "good"],
];
const stateOf = (j) => states.find(([s]) => s === j.state) ?? [j.state, j.state, ""];
const isQueued = (j) => j.state.startsWith("queued");

const span = "such as 30s or 1h";

/** The fields of the form that enqueues a job. */
export const jobFields = [
  { name: "id", label: "Id", hint: "a job is queued once under its id; empty: a new one" },
  { name: "payload", label: "Payload", kind: "area", rows: 3 },
  { name: "backoff", label: "Not before", more: true, placeholder: "at once", hint: span },
  { name: "priority", label: "Priority", kind: "number", min: 0, max: 255, step: 1, placeholder: "0", more: true },
];

export async function enqueue(vhost, queue, job) {
  const { id, updated } = await post(path`jobs/${vhost}/${queue}`, { payload: "", ...job });
  toast(updated ? `${id} was there, and is changed.` : `${id} is enqueued.`);
  refreshAll();
}

/** What a job waits for. */
function until(j) {
  if (j.backoff_ms > 0) return `${duration(j.backoff_ms)} of its back-off`;
  if (j.lock_ms > 0) return `${duration(j.lock_ms)} of its lease`;
  return j.state.startsWith("locked") ? "its consumer" : "";
}

const tabs = [["", "All"], ["retry", "Retry"], ["dead", "Dead"]];

/**
 * The jobs of one queue: all jobs in one state or in any, those to be retried, or those that have
 * failed for good.
 */
export function JobQueue({ names: [vhost, queue] }) {
  const { query: q } = useStore(place);
  const View = { retry: Retry, dead: Dead }[q.tab] ?? All;
  return html`
    <${Head} title=${queue} crumbs=${[["Jobs", ["jobs"]], [`virtual host ${vhost}`, ["vhosts", vhost]]]}>
      <${Go} class="button" to=${["queues", vhost, queue]}>Its messages<//>
      <${Fold} title="New job"><${Form} label="New job" fields=${jobFields} button="Enqueue" more="Time and priority" onSubmit=${(job) => enqueue(vhost, queue, job)} reset /><//>
    <//>
    <${Tabs} of=${tabs} current=${q.tab ?? ""} to=${["jobs", vhost, queue]} label="Jobs" />
    <${View} key=${q.tab} vhost=${vhost} queue=${queue} q=${q} />`;
}

const All = ({ q, ...of }) => html`
  <div class="stack">
    <div class="row" role="group" aria-label="State">${[["", "all"], ...states].map(([s, label]) => html`
      <button class=${(q.state ?? "") === s ? "primary" : ""} aria-pressed=${(q.state ?? "") === s} onClick=${() => setQuery({ state: s || undefined, after: undefined })}>${label}</button>`)}</div>
    <${List} ...${of} q=${q} state=${q.state} />
  </div>`;

/** The jobs that wait for their time, after a failure or with a delay. */
function Retry({ q, vhost, queue }) {
  const base = path`jobs/${vhost}/${queue}`;
  const retry = async () => {
    if (await confirm(`Retry all jobs of ${queue} now?`, "All that are backing off are ready at once.", "Retry all")) {
      await act((v) => `${many(v.jobs, "job")} ready now.`, () => post(`${base}/retry`));
    }
  };
  const remove = async () => {
    if (await confirm(`Delete all jobs of ${queue} that are backing off?`, "They will not run.", "Delete all")) {
      await act((v) => `${many(v.jobs, "job")} deleted.`, () => del(base + toQuery({ state: "queued-with-backoff" })));
    }
  };
  return html`<${List} vhost=${vhost} queue=${queue} q=${q} state="queued-with-backoff"
    tools=${html`<button onClick=${retry}>Retry all …</button><button class="danger" onClick=${remove}>Delete all …</button>`} />`;
}

function List({ q, vhost, queue, state, tools }) {
  const base = path`jobs/${vhost}/${queue}`;
  const { data, error, loading } = useLive(base + toQuery({ state, after: q.after, limit: 100 }));
  const [open, setOpen] = useState(null);
  const jobs = data?.jobs ?? [];
  const one = (j) => `${base}/${encodeURIComponent(j.id)}`;
  const cancel = async (j) => {
    const force = !isQueued(j);
    const text = force ? "A worker has it: the worker's report will be rejected." : "It will not run.";
    if (await confirm(`Cancel job ${j.id}?`, text, "Cancel job")) await act("Cancelled.", () => del(one(j) + toQuery({ force: force || undefined })));
  };
  const columns = [
    { title: "Id", class: "name", show: (j) => html`<button class="link" onClick=${() => setOpen(j.id)}>${j.id}</button>` },
    { title: "State", wide: true, show: (j) => html`<${Chip} kind=${stateOf(j)[2]}>${stateOf(j)[1]}<//>` },
    { title: "Attempts", number: true, wide: true, show: (j) => count(j.attempts) },
    { title: "Waits for", wide: true, show: until }, { title: "Priority", number: true, wide: true, show: (j) => count(j.priority) },
    { title: "Enqueued", wide: true, show: (j) => time(j.first_enqueued) },
    { title: "Last error", class: "name", show: (j) => j.error?.split("\n")[0] ?? "" },
    { title: "", show: (j) => html`<span class="row">
      ${j.state === "queued-with-backoff" && html`<button onClick=${() => act("It is due now.", () => post(`${one(j)}/retry`))}>Now</button>`}
      ${!j.state.startsWith("done") && html`<button class="danger" onClick=${() => cancel(j)}>Cancel …</button>`}</span>` },
  ];
  return html`
    <div class="stack">
      ${loading && html`<p class="soft">Loading …</p>`}<${Trouble} error=${error} what="These jobs" />
      ${data && html`<${Card} title="Jobs" flush tools=${html`${jobs.length > 0 && tools}${q.after && html`<button onClick=${() => setQuery({ after: undefined })}>First</button>`}
          ${data.next && html`<button onClick=${() => setQuery({ after: data.next })}>More ›</button>`}`}>
        ${jobs.length > 0 ? html`<${Rows} columns=${columns} rows=${jobs} label="Jobs" rowKey=${(j) => j.id} />` : html`<${Empty} title=${state ? "No job is in this state." : "There are no jobs here."} />`}<//>`}
      ${open && html`<${Job} key=${open} vhost=${vhost} queue=${queue} id=${open} onClose=${() => setOpen(null)} />`}
    </div>`;
}

// A job that is not finished has a message in its queue, with the body.
function Job({ vhost, queue, id, onClose }) {
  const { data: j, error } = useLive(path`jobs/${vhost}/${queue}/${id}`);
  const found = useLive(path`queues/${vhost}/${queue}/messages` + toQuery({ contains: id, limit: 100 }));
  const message = found.data?.messages.find((m) => m.message_id === id);
  return html`<${Card} title=${`Job ${id}`} tools=${html`<button onClick=${onClose}>Close</button>`}>
    <div class="stack">
      <${Trouble} error=${error} what="This job" />
      ${j && html`<${Facts} of=${[
        ["State", stateOf(j)[1]], ["Attempts", count(j.attempts)], ["Waits for", until(j)], ["First enqueued", j.first_enqueued && time(j.first_enqueued)],
        ["Priority", count(j.priority)], ["Size", bytes(j.bytes)], ["Last error", j.error],
        ...Object.entries(message?.properties.headers ?? {}).filter(([k]) => k !== "x-first-enqueued" && k !== "x-error").map(([k, v]) => [k, typeof v === "object" ? JSON.stringify(v) : String(v)]),
      ]} />`}
      ${message && html`<${Payload} of=${message} />`}
    </div><//>`;
}
