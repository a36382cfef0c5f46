import { del, path, put } from "../api.js";
import { Card, Facts, Fold, Go, Head, Trouble } from "../components/basics.js";
import { confirm } from "../components/dialogs.js";
import { Form } from "../components/form.js";
import { Limits } from "../components/limits.js";
import { Listing } from "../components/table.js";
import { act, toast } from "../components/toasts.js";
import { count } from "../format.js";
import { html } from "../html.js";
import { refreshAll, useLive } from "../live.js";
import { go } from "../router.js";
import { chooseVHost } from "../vhosts.js";
import { Permissions } from "./access.js";

const columns = [
  { key: "name", title: "Name", class: "name", show: (v) => html`<${Go} to=${["vhosts", v.name]}>${v.name}<//>` },
  { key: "description", title: "Description", class: "name" },
  { key: "messages_ready", title: "Ready", number: true, show: (v) => count(v.messages_ready ?? 0) },
  { key: "messages_unacknowledged", title: "Unacked", number: true, wide: true, show: (v) => count(v.messages_unacknowledged ?? 0) },
];

export function VHosts() {
  const fields = [{ name: "name", label: "Name", required: true }, { name: "description", label: "Description" }];
  const create = async ({ name, ...rest }) => {
    await put(path`vhosts/${name}`, rest);
    toast(`Virtual host ${name} created.`);
    refreshAll();
    go(["vhosts", name]);
  };
  return html`
    <${Head} title="Virtual hosts"><${Fold} title="New virtual host"><${Form} label="New virtual host" fields=${fields} button="Create virtual host" onSubmit=${create} /><//><//>
    <${Listing} path="vhosts" columns=${columns} label="Virtual hosts" />`;
}

export function VHost({ names: [name] }) {
  const { data: v, error, loading } = useLive(path`vhosts/${name}`);
  const remove = async () => {
    if (!(await confirm(`Delete virtual host ${name}?`, "All its queues, exchanges and messages are deleted for good.", "Delete virtual host"))) return;
    await act("Deleted.", async () => {
      await del(path`vhosts/${name}`);
      chooseVHost("");
    }, ["vhosts"]);
  };
  return html`
    <${Head} title=${name} crumbs=${[["Virtual hosts", ["vhosts"]]]}>
      <button onClick=${() => { chooseVHost(name); go(["queues"]); }}>Its queues</button>
      ${v && html`<button class="danger" onClick=${remove}>Delete …</button>`}
    <//>
    <div class="stack">
      ${loading && html`<p class="soft">Loading …</p>`}<${Trouble} error=${error} what="This virtual host" />
      ${v && html`<${Permissions} of=${path`vhosts/${name}/permissions`} vhost=${name} />
        <div class="columns">
          <${Card} title="Details"><${Facts} of=${[["Description", v.description], ["Tags", v.tags?.join(", ")], ["Kind of new queues", v.default_queue_type !== "undefined" ? v.default_queue_type : undefined],
            ["Messages", v.messages !== undefined && count(v.messages)]]} /><//>
          <${Limits} path=${path`vhost-limits/${name}`} names=${["max-connections", "max-queues", "max-publish-rate", "max-publish-bytes-rate"]} />
        </div>`}
    </div>`;
}
