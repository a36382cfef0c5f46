import { del, path, put, query as toQuery } from "../api.js";
import { Card, Chip, Empty, Fold, Go, Head, Tile, Trouble } from "../components/basics.js";
import { confirm } from "../components/dialogs.js";
import { Form } from "../components/form.js";
import { Rows } from "../components/table.js";
import { act, toast } from "../components/toasts.js";
import { count, time } from "../format.js";
import { html } from "../html.js";
import { refreshAll, useLive } from "../live.js";
import { go, place, setQuery } from "../router.js";
import { useStore } from "../store.js";
import { useVHostField, useVHostPath } from "../vhosts.js";

/** The number of running tasks: a task that was asked to release runs until it does. */
const running = (s) => s.acquired + s.try_release_asked;

const columns = [
  { title: "Name", class: "name", show: (s) => html`<${Go} to=${["semaphores", s.vhost, s.key]}>${s.key}<//>` },
  { title: "Virtual host", wide: true, show: (s) => s.vhost },
  { title: "May run", number: true, show: (s) => count(s.active) }, { title: "Run", number: true, show: (s) => count(running(s)) },
  { title: "Wait", number: true, show: (s) => count(s.waiting) }, { title: "Asked to give way", number: true, wide: true, show: (s) => count(s.try_release_asked) },
];

const limits = (s = {}) => [
  { name: "active", label: "Active", kind: "number", min: 0, value: s.active ?? 10 },
  { name: "try_release", label: "May be asked to give way", kind: "number", min: 0, value: s.try_release ?? "", hint: "number of running tasks, from the last, that may be asked to give way to more urgent ones" },
  { name: "lease", label: "Lease", kind: "number", min: 0, value: s.lease ?? "", hint: "milliseconds; 0 or empty: none needed" },
];

export function Semaphores() {
  const { query: q } = useStore(place);
  const { data, error, loading } = useLive(useVHostPath("semaphores") + toQuery({ limit: 100, after: q.after, contains: q.name }));
  const vhost = useVHostField();
  const fields = [{ name: "key", label: "Name", required: true }, vhost, ...limits(),
    { name: "order", label: "Runs first", kind: "select", options: [["desc", "highest priority"], ["asc", "lowest priority"]] }];
  const create = async ({ key, vhost: v, ...settings }) => {
    await put(path`semaphores/${v}/${key}`, settings);
    refreshAll();
    go(["semaphores", v, key]);
  };
  return html`
    <${Head} title="Semaphores"><input type="search" aria-label="Names that contain" placeholder="Names that contain" value=${q.name ?? ""} onInput=${(e) => setQuery({ name: e.target.value, after: undefined })} />
      <${Fold} title="New semaphore"><${Form} label="New semaphore" fields=${fields} button="Create semaphore" onSubmit=${create} /><//><//>
    <div class="stack">
      ${loading && html`<p class="soft">Loading …</p>`}<${Trouble} error=${error} what="The list of semaphores" />
      ${data && html`<${Card} flush>${data.semaphores.length > 0
        ? html`<${Rows} columns=${columns} rows=${data.semaphores} label="Semaphores" rowKey=${(s) => `${s.vhost} ${s.key}`} />`
        : html`<${Empty} title="There is no semaphore here.">A semaphore lets the N highest-priority tasks run. Create one with New semaphore.<//>`}<//>
        <div class="row">${q.after && html`<button onClick=${() => setQuery({ after: undefined })}>First</button>`}${data.next && html`<button onClick=${() => setQuery({ after: data.next })}>More ›</button>`}</div>`}
    </div>`;
}

const kinds = { ACQUIRED: "good", TRY_RELEASE: "warn", WAIT: "" };

export function Semaphore({ names: [vhost, key] }) {
  const { query: q } = useStore(place);
  const base = path`semaphores/${vhost}/${key}`;
  const { data: s, error, loading } = useLive(base);
  const tasks = useLive(`${base}/tasks${toQuery({ limit: 100, from: q.from, status: q.status })}`);
  const release = (t) => act(`${t.task} is released.`, () => del(`${base}/tasks/${encodeURIComponent(t.task)}`));
  const remove = async () => {
    if (!(await confirm(`Delete ${key}?`, "Its tasks are removed, including running ones.", "Delete semaphore"))) return;
    await act("Deleted.", () => del(base), ["semaphores"]);
  };
  const columns = [
    { title: "Position", number: true, wide: true, show: (t) => count(t.position) }, { title: "Task", class: "name", show: (t) => t.task },
    { title: "Status", show: (t) => html`<${Chip} kind=${kinds[t.status]}>${t.status}<//>` }, { title: "Priority", number: true, show: (t) => t.priority },
    { title: "Since", wide: true, show: (t) => time(t.enqueued) }, { title: "Lease until", wide: true, show: (t) => time(t.expires) },
    { title: "", show: (t) => html`<button onClick=${() => release(t)}>Release</button>` },
  ];
  const add = async ({ task, priority = 0 }) => {
    await put(`${base}/tasks/${encodeURIComponent(task)}`, { priority });
    refreshAll();
  };
  const change = async (v) => {
    await put(base, { lease: 0, ...v });
    toast("Changed.");
    refreshAll();
  };
  const addFields = [{ name: "task", label: "Task", required: true }, { name: "priority", label: "Priority", kind: "number", step: 1, value: 5 }];
  return html`
    <${Head} title=${key} crumbs=${[["Semaphores", ["semaphores"]], [`virtual host ${vhost}`, ["vhosts", vhost]]]}>${s && html`<button class="danger" onClick=${remove}>Delete …</button>`}<//>
    <div class="stack">
      ${loading && html`<p class="soft">Loading …</p>`}<${Trouble} error=${error} what="This semaphore" />
      ${s && html`
        <div class="tiles"><${Tile} name="May run" value=${count(s.active)} /><${Tile} name="Run" value=${count(running(s))} /><${Tile} name="Wait" value=${count(s.waiting)} />
          <${Tile} name="Asked to give way" value=${count(s.try_release_asked)} note=${`at most ${count(s.try_release)} of those that run`} /></div>
        <${Card} title="Tasks" flush tools=${html`${q.from && html`<button onClick=${() => setQuery({ from: undefined })}>First</button>`}
            ${tasks.data?.next && html`<button onClick=${() => setQuery({ from: tasks.data.next })}>More ›</button>`}`}>
          ${tasks.error && html`<div class="body"><${Trouble} error=${tasks.error} what="The list of tasks" /></div>`}
          ${!tasks.data ? null : tasks.data.tasks.length > 0 ? html`<${Rows} columns=${columns} rows=${tasks.data.tasks} label="Tasks" rowKey=${(t) => t.task} />` : html`<${Empty} title="There are no tasks." />`}
        <//>
        <div class="columns">
          <${Card} title="New task"><${Form} label="New task" fields=${addFields} button="Enqueue" onSubmit=${add} reset /><//>
          <${Card} title="Limits"><${Form} key=${`${s.active} ${s.try_release} ${s.lease}`} label="Limits" fields=${limits(s)} button="Change" onSubmit=${change} /><//>
        </div>`}
    </div>`;
}
