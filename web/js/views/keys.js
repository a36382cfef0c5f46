import { del, put, query as toQuery } from "../api.js";
import { Card, Empty, Facts, Fold, Head, Trouble } from "../components/basics.js";
import { confirm } from "../components/dialogs.js";
import { Form } from "../components/form.js";
import { Rows } from "../components/table.js";
import { act, toast } from "../components/toasts.js";
import { bytes, count, escapeBase64, prettyJSON } from "../format.js";
import { html, useState } from "../html.js";
import { refreshAll, useLive } from "../live.js";
import { place, setQuery } from "../router.js";
import { useStore } from "../store.js";

/** The API's path of a key, which may be binary. */
const keyPath = (k) => `keys/${k.key_encoding === "base64" ? escapeBase64(k.key) : encodeURIComponent(k.key)}`;

/** The ordinary keys of the etcd API. */
export function Keys() {
  const { query: q } = useStore(place);
  const { data, error, loading } = useLive(`keys${toQuery({ prefix: q.prefix, after: q.after, limit: 100, values: true })}`);
  const [open, setOpen] = useState(null);
  const keys = data?.keys ?? [];
  const remove = async (k) => {
    if (await confirm(`Delete ${k.key}?`, "Clients that watch it are notified.")) await act("Deleted.", () => del(keyPath(k)));
  };
  const columns = [
    { title: "Key", class: "name", show: (k) => html`<button class="link mono" onClick=${() => setOpen(keyPath(k))}>${k.key}</button>` },
    { title: "Value", class: "name", show: (k) => html`<span class="mono soft">${(k.value ?? "").slice(0, 80)}</span>` },
    { title: "Size", number: true, wide: true, show: (k) => bytes(k.value_bytes) },
    { title: "Version", number: true, wide: true, show: (k) => count(k.version) }, { title: "Revision", number: true, wide: true, show: (k) => count(k.mod_revision) },
    { title: "", show: (k) => html`<button class="danger" onClick=${() => remove(k)}>Delete …</button>` },
  ];
  return html`
    <${Head} title="Keys"><input type="search" class="mono" aria-label="Keys with prefix" placeholder="Keys with prefix" value=${q.prefix ?? ""} onInput=${(e) => setQuery({ prefix: e.target.value, after: undefined })} />
      <${Fold} title="Set a key"><${Form} label="Set a key" fields=${[{ name: "key", label: "Key", required: true, wide: true }, value("")]} button="Set"
        onSubmit=${({ key, value: v = "" }) => set({ key }, v)} reset /><//><//>
    <div class="stack">
      ${loading && html`<p class="soft">Loading …</p>`}<${Trouble} error=${error} what="The key-value store" />
      ${data && html`<${Card} title="Keys" flush tools=${html`<span class="soft small">${count(data.total)}, at revision ${count(data.revision)}</span>
          ${q.after && html`<button onClick=${() => setQuery({ after: undefined })}>First</button>`}${data.next && html`<button onClick=${() => setQuery({ after: data.next })}>More ›</button>`}`}>
        ${keys.length > 0 ? html`<${Rows} columns=${columns} rows=${keys} label="Keys" rowKey=${keyPath} />`
          : html`<${Empty} title=${q.prefix ? "No key has this prefix." : "There are no keys yet."}><span>Set one with Set a key, or with <code>etcdctl put greeting hello</code></span><//>`}<//>`}
      ${open && html`<${OneKey} at=${open} key=${open} onClose=${() => setOpen(null)} />`}
    </div>`;
}

const value = (v) => ({ name: "value", label: "Value", kind: "area", rows: 5, value: v });

async function set(k, v) {
  await put(keyPath(k), { value: v, lease: k.lease });
  toast(`${k.key} is set.`);
  refreshAll();
}

/** One key with its whole value; the list has only the beginning. */
function OneKey({ at, onClose }) {
  const { data: k, error } = useLive(at, { once: true });
  const pretty = k && prettyJSON(k.value);
  return html`
    <${Card} title=${k?.key ?? "Key"} tools=${html`<button onClick=${onClose}>Close</button>`}><div class="stack">
      <${Trouble} error=${error} what="This key" />
      ${k && html`
        <${Facts} of=${[["Size", bytes(k.value_bytes)], ["Version", count(k.version)], ["Created at revision", count(k.create_revision)],
          ["Changed at revision", count(k.mod_revision)], ["Lease", k.lease]]} />
        ${pretty && html`<pre tabindex="0" aria-label="The value, indented">${pretty}</pre>`}
        ${k.value_encoding === "base64" ? html`<p class="soft">The value is not text; as base64:</p><pre tabindex="0">${k.value}</pre>`
          : html`<${Form} key=${k.mod_revision} label="Change the value" fields=${[value(k.value)]} button="Change" onSubmit=${({ value: v = "" }) => set(k, v)} />`}`}
    </div><//>`;
}
