import { path } from "../api.js";
import { Card, Empty, Fold, Go, Head, Trouble } from "../components/basics.js";
import { Form } from "../components/form.js";
import { Rows } from "../components/table.js";
import { count } from "../format.js";
import { html } from "../html.js";
import { useLive } from "../live.js";
import { useStore } from "../store.js";
import { useVHostField, vhost } from "../vhosts.js";
import { enqueue, jobFields } from "./job-queue.js";

const number = (key, title, rest) => ({ key, title, number: true, show: (q) => count(q[key]), ...rest });

// The outcomes of jobs in the last 24 hours.
const day = (key, title, rest) => ({ key: `day.${key}`, title: `${title}, 24\u00a0h`, number: true, show: (q) => count(q.day[key]), ...rest });

const columns = [
  { key: "queue", title: "Queue", class: "name", show: (q) => html`<${Go} to=${["jobs", q.vhost, q.queue]}>${q.queue}<//>` },
  { key: "vhost", title: "Virtual host", wide: true },
  number("queued", "Queued"), number("backoff", "Backing off"), number("locked", "Locked"), number("behind", "Locked, another behind", { wide: true }),
  number("done", "Done", { wide: true }), number("done_backoff", "Done, backing off", { wide: true }),
  day("enqueued", "Enqueued", { wide: true }), day("done", "Done", { wide: true }), day("failed", "Failed tries", { wide: true }), day("dead", "Given up"),
];

/** The queues that are used for jobs. */
export function Jobs() {
  const { data, error, loading } = useLive("jobs");
  const chosen = useStore(vhost);
  const all = (data?.jobs ?? []).filter((q) => !chosen || q.vhost === chosen);
  const fields = [{ name: "queue", label: "Queue", required: true, hint: "created if missing" }, useVHostField(), ...jobFields];
  return html`
    <${Head} title="Jobs">
      <${Fold} title="New job"><${Form} label="New job" fields=${fields} button="Enqueue" more="Time and priority" onSubmit=${({ queue, vhost: v, ...job }) => enqueue(v, queue, job)} reset /><//><//>
    <div class="stack">
      ${loading && html`<p class="soft">Loading …</p>`}<${Trouble} error=${error} what="The list of jobs" />
      ${data && (all.length > 0
        ? html`<${Card} flush><${Rows} columns=${columns} rows=${all} label="Queues with jobs" rowKey=${(q) => path`${q.vhost}/${q.queue}`} /><//>`
        : html`<div class="card"><${Empty} title="There are no jobs yet."><span>Enqueue one with New job, or with <code>redis-cli -p 6380 job.enqueue mails 'to: ann' id welcome-ann</code></span><//></div>`)}
    </div>`;
}
