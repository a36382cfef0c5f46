// Users and their permissions.
import { del, path, put } from "../api.js";
import { Card, Chip, Empty, Fold, Go, Head, Trouble } from "../components/basics.js";
import { confirm } from "../components/dialogs.js";
import { Form } from "../components/form.js";
import { Limits } from "../components/limits.js";
import { Listing, Rows } from "../components/table.js";
import { act, toast } from "../components/toasts.js";
import { count } from "../format.js";
import { html } from "../html.js";
import { refreshAll, useLive } from "../live.js";
import { go } from "../router.js";
import { useVHostField } from "../vhosts.js";

const tagsOf = (u) => (Array.isArray(u.tags) ? u.tags : String(u.tags ?? "").split(",").filter(Boolean));

const columns = [
  { key: "name", title: "Name", class: "name", show: (u) => html`<${Go} to=${["users", u.name]}>${u.name}<//>` },
  { title: "Tags", show: (u) => html`<span class="row">${tagsOf(u).map((t) => html`<${Chip}>${t}<//>`)}</span>` },
  { title: "Remote login", wide: true, show: (u) => (u.loopback_only ? "no, this machine only" : "yes") },
  { title: "Has a password", wide: true, show: (u) => (u.password_hash ? "yes" : "no") },
];

const tagHint = "management: this page; policymaker, monitoring, administrator: more and more; empty: clients only";

export function Users() {
  const fields = [
    { name: "name", label: "Name", required: true }, { name: "password", label: "Password", kind: "password", autocomplete: "new-password", required: true },
    { name: "tags", label: "Tags", hint: tagHint, wide: true, placeholder: "management" },
  ];
  const create = async ({ name, password, tags = "" }) => {
    await put(path`users/${name}`, { password, tags });
    toast(`User ${name} created; grant permissions next.`);
    refreshAll();
    go(["users", name]);
  };
  return html`
    <${Head} title="Users"><${Fold} title="New user"><${Form} label="New user" fields=${fields} button="Create user" onSubmit=${create} /><//><//>
    <${Listing} path="users" columns=${columns} label="Users" />`;
}

export function User({ names: [name] }) {
  const { data: u, error, loading } = useLive(path`users/${name}`);
  const remove = async () => {
    if (!(await confirm(`Delete user ${name}?`, "Its connections are closed.", "Delete user"))) return;
    await act("Deleted.", () => del(path`users/${name}`), ["users"]);
  };
  return html`
    <${Head} title=${name} crumbs=${[["Users", ["users"]]]}>${u && html`<button class="danger" onClick=${remove}>Delete …</button>`}<//>
    <div class="stack">
      ${loading && html`<p class="soft">Loading …</p>`}<${Trouble} error=${error} what="This user" />
      ${u && html`<${Permissions} of=${path`users/${name}/permissions`} user=${name} /><${TopicPermissions} user=${name} />
        <div class="columns"><${Change} u=${u} /><${Limits} path=${path`user-limits/${name}`} names=${["max-connections", "max-channels", "max-publish-rate", "max-publish-bytes-rate"]} /></div>`}
    </div>`;
}

function Change({ u }) {
  const fields = [
    { name: "password", label: "New password", kind: "password", autocomplete: "new-password", hint: "empty: unchanged" },
    { name: "tags", label: "Tags", value: tagsOf(u).join(","), hint: tagHint, wide: true },
  ];
  const save = async ({ password, tags = "" }) => {
    const secret = password ? { password } : { password_hash: u.password_hash, hashing_algorithm: u.hashing_algorithm };
    await put(path`users/${u.name}`, { ...secret, tags });
    toast("Changed.");
    refreshAll();
  };
  return html`<${Card} title="Password and tags"><${Form} key=${tagsOf(u).join()} label="Change user" fields=${fields} button="Change" onSubmit=${save} /><//>`;
}

const pattern = (name, label, hint) => ({ name, label, value: ".*", hint });

/** The permissions of one user in all virtual hosts, or of all users in one. */
export function Permissions({ of, user, vhost }) {
  const { data, error } = useLive(of);
  const here = useVHostField();
  const take = async (p) => {
    const sure = await confirm("Remove this permission?", `${p.user} loses access to ${p.vhost}.`, "Remove");
    if (sure) await act("Taken away.", () => del(path`permissions/${p.vhost}/${p.user}`));
  };
  const columns = [
    user
      ? { title: "Virtual host", class: "name", show: (p) => html`<${Go} to=${["vhosts", p.vhost]}>${p.vhost}<//>` }
      : { title: "User", class: "name", show: (p) => html`<${Go} to=${["users", p.user]}>${p.user}<//>` },
    ...["configure", "write", "read"].map((n) => ({ title: n, show: (p) => html`<span class="mono">${p[n] || "(nothing)"}</span>` })),
    { title: "", show: (p) => html`<button class="danger" onClick=${() => take(p)}>Take away …</button>` },
  ];
  const fields = [
    user ? here : { name: "user", label: "User", required: true },
    pattern("configure", "May create and delete", "a regular expression over names"), pattern("write", "May publish to"), pattern("read", "May consume from"),
  ];
  const grant = async ({ user: u = user, vhost: v = vhost, configure = "", write = "", read = "" }) => {
    await put(path`permissions/${v}/${u}`, { configure, write, read });
    toast("Granted.");
    refreshAll();
  };
  return html`
    <${Card} title="Permissions" flush>
      ${error && html`<div class="body"><${Trouble} error=${error} what="The list of permissions" /></div>`}
      ${!data ? null : data.length > 0 ? html`<${Rows} columns=${columns} rows=${data} label="Permissions" rowKey=${(p) => `${p.vhost} ${p.user}`} />`
        : html`<${Empty} title="No permission.">${user ? "This user has no access to a virtual host yet." : "No user has access yet."}<//>`}
      <div class="body"><${Form} label="Grant a permission" fields=${fields} button="Grant" onSubmit=${grant} /></div>
    <//>`;
}

function TopicPermissions({ user }) {
  const { data, error } = useLive(path`users/${user}/topic-permissions`);
  const here = useVHostField();
  const columns = [
    { title: "Virtual host", show: (p) => p.vhost }, { title: "Exchange", show: (p) => p.exchange || "all" },
    { title: "write", show: (p) => html`<span class="mono">${p.write}</span>` }, { title: "read", show: (p) => html`<span class="mono">${p.read}</span>` },
    { title: "", show: (p) => html`<button class="danger" onClick=${() => act("Taken away.", () => del(path`topic-permissions/${p.vhost}/${user}/${p.exchange}`))}>Take away</button>` },
  ];
  const fields = [here, { name: "exchange", label: "Topic exchange", required: true, value: "amq.topic" },
    pattern("write", "Routing keys to publish", "a regular expression"), pattern("read", "Routing keys to bind")];
  const grant = async ({ vhost, ...rest }) => {
    await put(path`topic-permissions/${vhost}/${user}`, { write: "", read: "", ...rest });
    toast("Granted.");
    refreshAll();
  };
  return html`
    <${Fold} title=${data?.length > 0 ? `Routing key limits (${count(data.length)})` : "Routing key limits"}>
      <${Trouble} error=${error} what="The list of limits" />
      ${data?.length > 0 && html`<${Rows} columns=${columns} rows=${data} label="Topic permissions" rowKey=${(p) => `${p.vhost} ${p.exchange}`} />`}
      <${Form} label="Limit routing keys" fields=${fields} button="Grant" onSubmit=${grant} />
    <//>`;
}
