import { del, hasTag, path, put, session } from "../api.js";
import { Chip, Empty, Fold, Head } from "../components/basics.js";
import { confirm } from "../components/dialogs.js";
import { Form } from "../components/form.js";
import { Listing } from "../components/table.js";
import { act, toast } from "../components/toasts.js";
import { count } from "../format.js";
import { html } from "../html.js";
import { refreshAll } from "../live.js";
import { useStore } from "../store.js";
import { useVHostField, useVHostPath } from "../vhosts.js";

const kinds = { running: "good", starting: "warn", terminated: "bad" };
const end = (s, side) => s[`${side}_queue`] ?? [s[`${side}_exchange`], s[`${side}_exchange_key`]].filter(Boolean).join(" ");

function End({ of: s, side }) {
  return html`<div>${end(s, side)}</div><div class="soft small mono">${s[`${side}_uri`] ?? ""}</div>`;
}

async function remove(s) {
  const sure = await confirm(`Delete shovel ${s.name}?`, "It stops. Messages that it has not moved stay where they are.", "Delete shovel");
  if (sure) await act("Deleted.", () => del(path`shovels/vhost/${s.vhost}/${s.name}`));
}

const restart = (s) => act(`${s.name} restarts.`, () => del(path`shovels/vhost/${s.vhost}/${s.name}/restart`));

const columns = (changes) => [
  { key: "name", title: "Name", class: "name" }, { key: "vhost", title: "Virtual host", wide: true },
  { key: "state", title: "State", show: (s) => html`<${Chip} kind=${kinds[s.state]}>${s.state}<//>${s.reason && html`<div class="small">${s.reason}</div>`}` },
  { title: "From", wide: true, show: (s) => html`<${End} of=${s} side="src" />` }, { title: "To", wide: true, show: (s) => html`<${End} of=${s} side="dest" />` },
  { key: "messages_moved", title: "Moved", number: true, show: (s) => count(s.messages_moved) },
  { key: "timestamp", title: "Since", wide: true },
  ...(changes ? [{ title: "", show: (s) => html`<span class="row"><button onClick=${() => restart(s)}>Restart</button><button class="danger" onClick=${() => remove(s)}>Delete …</button></span>` }] : []),
];

/** The shovels, which move messages to or from another broker. */
export function Shovels() {
  const changes = hasTag(useStore(session), "policymaker");
  return html`
    <${Head} title="Shovels">${changes && html`<${NewShovel} />`}<//>
    <${Listing} path=${useVHostPath("shovels")} columns=${columns(changes)} label="Shovels" rowKey=${(s) => `${s.vhost} ${s.name}`} empty=${html`
      <div class="card"><${Empty} title="There is no shovel.">A shovel moves messages from a queue to another virtual host or another broker.<//></div>`} />`;
}

function NewShovel() {
  const fields = [
    { name: "name", label: "Name", required: true }, useVHostField(),
    { name: "src-uri", label: "From broker", value: "amqp://", required: true, hint: "amqp://user:password@host/vhost; amqp:// is this one" },
    { name: "src-queue", label: "From queue", required: true },
    { name: "dest-uri", label: "To broker", placeholder: "amqp://user:password@host/vhost", required: true },
    { name: "dest-queue", label: "To queue", required: true, hint: "created if missing" },
    { name: "more", label: "More settings", kind: "json", rows: 2, more: true, placeholder: '{"src-prefetch-count": 100}', hint: "JSON, as in RabbitMQ's parameter of a shovel" },
  ];
  const create = async ({ name, vhost, more = {}, ...value }) => {
    await put(path`parameters/shovel/${vhost}/${name}`, { value: { ...value, ...more } });
    toast(`Shovel ${name} is set.`);
    refreshAll();
  };
  return html`<${Fold} title="New shovel"><${Form} label="New shovel" fields=${fields} button="Set shovel" more="More settings" onSubmit=${create} reset /><//>`;
}
