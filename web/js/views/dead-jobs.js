import { del, path, post, query } from "../api.js";
import { Card, Empty, Go, Trouble } from "../components/basics.js";
import { confirm } from "../components/dialogs.js";
import { Rows } from "../components/table.js";
import { act } from "../components/toasts.js";
import { count, many, time } from "../format.js";
import { html } from "../html.js";
import { useLive } from "../live.js";
import { Tasks } from "./tasks.js";

const ofJobs = (queue) => `"x-first-death-queue" = '${queue.replaceAll("'", "''")}'`;
const death = (m) => m.properties.headers?.["x-death"]?.[0];

/** The jobs of a queue that have failed for good, which are in its dead-letter queues. */
export function Dead({ vhost, queue }) {
  const { data, error, loading } = useLive(path`jobs/${vhost}/${queue}` + query({ limit: 1 }));
  const places = data?.dead_letter_queues ?? [];
  return html`
    <div class="stack">
      ${loading && html`<p class="soft">Loading …</p>`}<${Trouble} error=${error} what="These jobs" />
      ${data && places.length === 0 && html`<div class="card"><${Empty} title="Failed jobs are not kept.">
        <span>They are found here once the queue has a dead-letter exchange, by a policy for instance, and a queue is bound to it.</span><${Go} to=${["policies"]}>Policies<//><//></div>`}
      ${places.map((name) => html`<${DeadIn} key=${name} vhost=${vhost} queue=${queue} name=${name} />`)}
    </div>`;
}

function DeadIn({ vhost, queue, name }) {
  const base = path`queues/${vhost}/${name}`;
  const { data, error } = useLive(`${base}/messages` + query({ filter: ofJobs(queue), limit: 100 }));
  const found = data?.messages ?? [];
  const one = (m) => `${base}/messages/${encodeURIComponent(m.id)}`;
  const retryAll = async () => {
    if (!(await confirm(`Retry all failed jobs of ${queue}?`, `They go back from ${name} to ${queue}.`, "Retry all"))) return;
    await act("The failed jobs go back to their queue.", () => post(`${base}/redrive`, { filter: ofJobs(queue), to: queue }));
  };
  const removeAll = async () => {
    if (!(await confirm(`Delete all failed jobs of ${queue}?`, `They are deleted from ${name} for good, also those that are not shown.`, "Delete all"))) return;
    await act((v) => `${many(v.messages, "job")} deleted.`, () => del(`${base}/messages` + query({ filter: ofJobs(queue) })));
  };
  const remove = async (m) => {
    if (await confirm(`Delete job ${m.message_id}?`, "It is deleted for good.", "Delete job")) await act("Deleted.", () => del(one(m)));
  };
  const columns = [
    { title: "Id", class: "name", show: (m) => m.message_id ?? "–" },
    { title: "Last error", class: "name", show: (m) => m.properties.headers?.["x-error"] ?? death(m)?.reason ?? "–" },
    { title: "Failed", number: true, wide: true, show: (m) => html`${count(death(m)?.count)} ${death(m)?.count === 1 ? "time" : "times"}` },
    { title: "Last at", wide: true, show: (m) => time(death(m)?.time) },
    { title: "", show: (m) => html`<button class="danger" onClick=${() => remove(m)}>Delete …</button>` },
  ];
  return html`
    <${Tasks} path=${`${base}/tasks`} />
    <${Trouble} error=${error} what="These jobs" />
    ${data && html`<${Card} title=${`In ${name}`} flush tools=${html`${found.length > 0 && html`<button onClick=${retryAll}>Retry all …</button><button class="danger" onClick=${removeAll}>Delete all …</button>`}
        <${Go} class="button" to=${["queues", vhost, name]} query=${{ tab: "messages" }}>Its messages<//>`}>
      ${found.length > 0 ? html`<${Rows} columns=${columns} rows=${found} label="Failed jobs" rowKey=${(m) => m.id} />` : html`<${Empty} title="No failed job is here." />`}<//>`}`;
}
