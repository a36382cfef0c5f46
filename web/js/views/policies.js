import { del, hasTag, path, put, session } from "../api.js";
import { Card, Empty, Fold, Head, Trouble } from "../components/basics.js";
import { confirm } from "../components/dialogs.js";
import { Form } from "../components/form.js";
import { Rows } from "../components/table.js";
import { act, toast } from "../components/toasts.js";
import { inline } from "../format.js";
import { html, useState } from "../html.js";
import { refreshAll, useLive } from "../live.js";
import { useStore } from "../store.js";
import { useVHostField, useVHostPath } from "../vhosts.js";
import { definitionOf, fieldsOf } from "./policy-settings.js";

export function Policies() {
  const who = useStore(session);
  return html`
    <${Head} title="Policies" />
    <div class="stack">
      <p class="soft">A policy sets the settings of all queues and exchanges whose names match. The one with the highest priority applies; an operator policy may limit it.</p>
      <${Kind} kind="policies" title="Policies" one="policy" />
      ${hasTag(who, "administrator") && html`<${Kind} kind="operator-policies" title="Operator policies" one="operator policy" />`}
    </div>`;
}

function Kind({ kind, title, one }) {
  const { data, error } = useLive(useVHostPath(kind));
  const [edited, setEdited] = useState(null);
  const remove = async (p) => {
    const sure = await confirm(`Delete ${one} ${p.name}?`, "Queues and exchanges revert to their declared settings, or to the next matching policy.");
    if (sure && (await act("Deleted.", () => del(path`${kind}/${p.vhost}/${p.name}`)))) setEdited(null);
  };
  const columns = [
    { title: "Name", class: "name", show: (p) => html`<button class="link" onClick=${() => setEdited(p)}>${p.name}</button>` },
    { title: "Virtual host", wide: true, show: (p) => p.vhost }, { title: "Pattern", show: (p) => html`<span class="mono">${p.pattern}</span>` },
    { title: "For", wide: true, show: (p) => nameOf(p["apply-to"]) }, { title: "Priority", number: true, wide: true, show: (p) => p.priority },
    { title: "Settings", wide: true, show: (p) => Object.entries(p.definition).map(([k, v]) => html`<div class="mono">${k}: ${inline(v)}</div>`) },
    { title: "", show: (p) => html`<button class="danger" onClick=${() => remove(p)}>Delete …</button>` },
  ];
  return html`
    <${Trouble} error=${error} what=${title} />
    ${data && html`<${Card} title=${title} flush>${data.length > 0
      ? html`<${Rows} columns=${columns} rows=${data} label=${title} rowKey=${(p) => path`${p.vhost}/${p.name}`} />` : html`<${Empty} title=${`There is no ${one}.`} />`}<//>
      ${edited
        ? html`<${Card} title=${`Change ${one} ${edited.name}`} tools=${html`<button onClick=${() => setEdited(null)}>Close</button>`}>
            <${Change} key=${path`${edited.vhost}/${edited.name}`} kind=${kind} one=${one} p=${edited} onDone=${() => setEdited(null)} /><//>`
        : html`<${Fold} title=${`New ${one}`}><${Change} kind=${kind} one=${one} p=${{}} /><//>`}`}`;
}

const targets = [["queues", "queues"], ["exchanges", "exchanges"], ["all", "queues and exchanges"], ["classic_queues", "classic queues"], ["quorum_queues", "quorum queues"]];
const nameOf = (target) => targets.find(([t]) => t === target)?.[1] ?? target;

function Change({ kind, one, p, onDone }) {
  const here = useVHostField();
  const operator = kind !== "policies";
  const naming = [{ name: "name", label: "Name", required: true }, here];
  const fields = [
    ...(p.name ? [] : naming),
    { name: "pattern", label: "Names that match", required: true, value: p.pattern ?? "", placeholder: "^orders", hint: "a regular expression" },
    { name: "apply-to", label: "For", kind: "select", options: operator ? targets.filter(([t]) => /queues$/.test(t)) : targets, value: p["apply-to"] },
    { name: "priority", label: "Priority", kind: "number", step: 1, value: p.priority ?? 0, hint: "the highest one applies" },
    ...fieldsOf(p.definition ?? {}, operator),
  ];
  const save = async ({ name = p.name, vhost = p.vhost, ...rest }) => {
    const definition = definitionOf(rest);
    await put(path`${kind}/${vhost}/${name}`, { priority: 0, ...rest, definition });
    toast(`The ${one} ${name} is set.`);
    refreshAll();
    onDone?.();
  };
  return html`<${Form} label=${`Set ${one}`} fields=${fields} button=${`Set ${one}`} more="More settings" onSubmit=${save} reset />`;
}
