import { path, put } from "../api.js";
import { Chip, Fold, Go, Head } from "../components/basics.js";
import { Form } from "../components/form.js";
import { Listing } from "../components/table.js";
import { toast } from "../components/toasts.js";
import { rate } from "../format.js";
import { html } from "../html.js";
import { refreshAll, useLive } from "../live.js";
import { go } from "../router.js";
import { useVHostField, useVHostPath } from "../vhosts.js";
import { Features } from "./queues.js";

const columns = [
  { key: "name", title: "Name", class: "name", show: (x) => html`<${Go} to=${["exchanges", x.vhost, x.name || "amq.default"]}>${x.name || "(default)"}<//>` },
  { key: "vhost", title: "Virtual host", wide: true },
  { key: "type", title: "Type", show: (x) => html`<${Chip}>${x.type}<//>` },
  { title: "Features", wide: true, show: (x) => html`<${Features} of=${x} />` },
  { key: "message_stats.publish_in_details.rate", title: "In", number: true, show: (x) => rate(x.message_stats?.publish_in_details?.rate ?? 0) },
  { key: "message_stats.publish_out_details.rate", title: "Out", number: true, show: (x) => rate(x.message_stats?.publish_out_details?.rate ?? 0) },
];

export function Exchanges() {
  return html`
    <${Head} title="Exchanges"><${NewExchange} /><//>
    <${Listing} path=${useVHostPath("exchanges")} columns=${columns} label="Exchanges" rowKey=${(x) => `${x.vhost} ${x.name}`} />`;
}

const usual = ["direct", "fanout", "topic", "headers"];

function NewExchange() {
  const vhost = useVHostField();
  const { data } = useLive("overview?columns=exchange_types", { once: true });
  const types = [...new Set([...usual, ...(data?.exchange_types ?? []).map((t) => t.name)])];
  const fields = [
    { name: "name", label: "Name", required: true }, vhost,
    { name: "type", label: "Type", kind: "select", options: types },
    { name: "alternate-exchange", label: "Alternate exchange", more: true, hint: "gets what no binding matches" },
    { name: "durable", label: "Durable", kind: "check", value: true, hint: "survives a restart" },
    { name: "auto_delete", label: "Delete with its last binding", kind: "check", more: true },
    { name: "internal", label: "Internal", kind: "check", more: true, hint: "only other exchanges publish to it" },
    { name: "more", label: "More arguments", kind: "json", rows: 2, more: true, placeholder: '{"x-delayed-type": "direct"}', hint: "JSON" },
  ];
  const create = async ({ name, vhost: v, type, durable, auto_delete, internal, more = {}, ...rest }) => {
    await put(path`exchanges/${v}/${name}`, { type, durable, auto_delete, internal, arguments: { ...rest, ...more } });
    toast(`Exchange ${name} created.`);
    refreshAll();
    go(["exchanges", v, name]);
  };
  return html`<${Fold} title="New exchange"><${Form} label="New exchange" fields=${fields} button="Create exchange" more="More settings" onSubmit=${create} /><//>`;
}
