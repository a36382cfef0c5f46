import { del, path, put } from "../api.js";
import { Card, Empty, Fold, Head, Trouble } from "../components/basics.js";
import { confirm } from "../components/dialogs.js";
import { Form } from "../components/form.js";
import { Rows } from "../components/table.js";
import { act, toast } from "../components/toasts.js";
import { inline } from "../format.js";
import { html, useState } from "../html.js";
import { refreshAll, useLive } from "../live.js";
import { useVHostField, useVHostPath } from "../vhosts.js";

export const Policies = () => html`
  <${Head} title="Policies" />
  <div class="stack">
    <p class="soft">A policy gives settings to all queues and exchanges whose names match. Of several the one with the highest priority counts; one operator policy may bound it.</p>
    <${Kind} kind="policies" title="Policies" one="policy" /><${Kind} kind="operator-policies" title="Operator policies" one="operator policy" />
  </div>`;

function Kind({ kind, title, one }) {
  const { data, error } = useLive(useVHostPath(kind));
  const [edited, setEdited] = useState({});
  const where = (p) => path`${kind}/${p.vhost}/${p.name}`;
  const remove = async (p) => {
    if (await confirm(`Delete ${one} ${p.name}?`, "Queues and exchanges go back to what was declared.")) await act("Deleted.", () => del(where(p)));
  };
  const columns = [
    { title: "Name", class: "name", show: (p) => html`<button class="link" onClick=${() => setEdited(p)}>${p.name}</button>` },
    { title: "Virtual host", wide: true, show: (p) => p.vhost }, { title: "Pattern", show: (p) => html`<span class="mono">${p.pattern}</span>` },
    { title: "For", wide: true, show: (p) => p["apply-to"] }, { title: "Priority", number: true, show: (p) => p.priority },
    { title: "Settings", show: (p) => Object.entries(p.definition ?? {}).map(([k, v]) => html`<div class="mono">${k}: ${inline(v)}</div>`) },
    { title: "", show: (p) => html`<button class="danger" onClick=${() => remove(p)}>Delete …</button>` },
  ];
  return html`
    <${Trouble} error=${error} what=${title} />
    ${data && html`<${Card} title=${title} flush>${data.length > 0
      ? html`<${Rows} columns=${columns} rows=${data} label=${title} rowKey=${(p) => `${p.vhost} ${p.name}`} />` : html`<${Empty} title=${`There is no ${one}.`} />`}<//>
      <${Change} key=${`${edited.vhost} ${edited.name}`} kind=${kind} one=${one} p=${edited} />`}`;
}

const targets = [["all", "queues and exchanges"], ["queues", "queues"], ["exchanges", "exchanges"], ["classic_queues", "classic queues"], ["quorum_queues", "quorum queues"]];

function Change({ kind, one, p }) {
  const here = useVHostField();
  const fields = [
    { name: "name", label: "Name", required: true, value: p.name ?? "" }, { ...here, value: p.vhost ?? here.value },
    { name: "pattern", label: "Names that match", required: true, value: p.pattern ?? "", placeholder: "^orders", hint: "a regular expression" },
    { name: "apply-to", label: "For", kind: "select", options: kind === "policies" ? targets : targets.filter(([t]) => /queues/.test(t)), value: p["apply-to"] },
    { name: "priority", label: "Priority", kind: "number", step: 1, value: p.priority ?? 0 },
    { name: "definition", label: "Settings", kind: "json", rows: 4, required: true, value: p.definition ? JSON.stringify(p.definition, null, 2) : "",
      placeholder: '{"max-length": 10000, "dead-letter-exchange": "dead"}', hint: "JSON" },
  ];
  const save = async ({ name, vhost, ...rest }) => {
    await put(path`${kind}/${vhost}/${name}`, { priority: 0, ...rest });
    toast(`The ${one} ${name} is in force.`);
    refreshAll();
  };
  return html`<${Fold} title=${p.name ? `Change ${one} ${p.name}` : `New ${one}`} open=${Boolean(p.name)}><${Form} label=${`Set ${one}`} fields=${fields} button=${`Set ${one}`} onSubmit=${save} /><//>`;
}
