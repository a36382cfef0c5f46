import { path, put } from "../api.js";
import { Chip, Empty, Fold, Go, Head } from "../components/basics.js";
import { Form } from "../components/form.js";
import { Listing } from "../components/table.js";
import { toast } from "../components/toasts.js";
import { bytes, count, rate } from "../format.js";
import { html } from "../html.js";
import { refreshAll } from "../live.js";
import { go, place } from "../router.js";
import { useStore } from "../store.js";
import { useVHostField, useVHostPath } from "../vhosts.js";

const total = (q) => q.messages ?? (q.messages_ready ?? 0) + (q.messages_unacknowledged ?? 0);

const columns = [
  { key: "name", title: "Name", class: "name", show: (q) => html`<${Go} to=${["queues", q.vhost, q.name]}>${q.name}<//>` },
  { key: "vhost", title: "Virtual host", wide: true },
  { title: "Features", wide: true, show: (q) => html`<${Features} of=${q} />` },
  { key: "activity", title: "State", show: (q) => html`<${Activity} of=${q} />` },
  { key: "messages_ready", title: "Ready", number: true, show: (q) => count(q.messages_ready ?? 0) },
  { key: "messages_unacknowledged", title: "Unacked", number: true, wide: true, show: (q) => count(q.messages_unacknowledged ?? 0) },
  { key: "messages", title: "Total", number: true, wide: true, show: (q) => count(total(q)) },
  { key: "message_bytes", title: "Size", number: true, wide: true, show: (q) => bytes(q.message_bytes) },
  { key: "message_stats.publish_details.rate", title: "In", number: true, wide: true, show: (q) => rate(q.message_stats?.publish_details?.rate ?? 0) },
  { key: "message_stats.deliver_get_details.rate", title: "Out", number: true, wide: true, show: (q) => rate(q.message_stats?.deliver_get_details?.rate ?? 0) },
  { key: "consumers", title: "Consumers", number: true, show: (q) => html`<${ConsumerCount} of=${q} />` },
];

const activities = { running: "good", growing: "warn", blocked: "bad", idle: "" };

/**
 * The activity of a queue. An alarm blocks the publishers of all queues; it is shown above every
 * view.
 */
export function Activity({ of: q }) {
  const activity = q.messages_blocked > 0 && !q.messages_ready ? "blocked" : q.activity ?? q.state;
  return html`<${Chip} kind=${activities[activity]}>${activity}<//>`;
}

/** The number of consumers of a queue; zero is marked if messages wait for a consumer. */
export const ConsumerCount = ({ of: q }) => (q.consumers > 0 || !q.messages_ready ? count(q.consumers ?? 0) : html`<${Chip} kind="warn">none<//>`);

export function Features({ of }) {
  const marks = [
    [of.durable, "durable"], [of.exclusive, "exclusive"], [of.auto_delete, "auto-delete"], [of.policy, `policy ${of.policy}`],
    [of.operator_policy, `operator policy ${of.operator_policy}`],
    ...Object.entries(of.arguments ?? {}).map(([k, v]) => [true, `${k.replace(/^x-/, "")}: ${typeof v === "object" ? "…" : v === "" ? "(default)" : v}`]),
  ];
  return html`<span class="row">${marks.filter(([on]) => on).map(([, text]) => html`<${Chip}>${text}<//>`)}</span>`;
}

export function Queues() {
  const { query } = useStore(place);
  const listing = useVHostPath("queues");
  return html`
    <${Head} title="Queues"><${NewQueue} name=${query.new} /><//>
    <${Listing} path=${listing} columns=${columns} label="Queues" rowKey=${(q) => `${q.vhost} ${q.name}`} empty=${html`
      <div class="card"><${Empty} title="There is no queue yet.">Create one with New queue: a name is enough. A client that declares a queue creates it, too.<//></div>`} />`;
}

// Fields whose values are arguments of the declaration.
const argumentFields = [
  { name: "x-message-ttl", label: "Messages expire after", kind: "number", min: 0, hint: "milliseconds" },
  { name: "x-max-length", label: "Max length", kind: "number", min: 0 },
  { name: "x-overflow", label: "When it is full", kind: "select", options: [["", "drop the oldest"], ["reject-publish", "reject new ones"], ["reject-publish-dlx", "reject and dead-letter them"]] },
  { name: "x-dead-letter-exchange", label: "Dead letters go to exchange", placeholder: "none" },
  { name: "x-dead-letter-routing-key", label: "with routing key", hint: "with the default exchange the name of a queue" },
  { name: "x-delivery-limit", label: "Delivery limit", kind: "number", min: 0 },
  { name: "x-max-priority", label: "Max priority", kind: "number", min: 1, max: 255 },
];

function NewQueue({ name }) {
  const field = useVHostField();
  const fields = [
    { name: "name", label: "Name", required: true, value: name ?? "" },
    field,
    { name: "durable", label: "Durable", kind: "check", value: true, hint: "survives a restart" },
    { name: "auto_delete", label: "Delete with its last consumer", kind: "check" },
    ...argumentFields.map((f) => ({ ...f, more: true })),
    { name: "more", label: "More arguments", kind: "json", rows: 2, more: true, placeholder: '{"x-single-active-consumer": true}', hint: "JSON, named as in RabbitMQ" },
  ];
  const create = async ({ name: queue, vhost, durable, auto_delete, more = {}, ...rest }) => {
    await put(path`queues/${vhost}/${queue}`, { durable, auto_delete, arguments: { ...rest, ...more } });
    toast(`Queue ${queue} created.`);
    refreshAll();
    go(["queues", vhost, queue]);
  };
  return html`<${Fold} title="New queue" open=${name !== undefined}><${Form} label="New queue" fields=${fields} button="Create queue" more="Limits, dead letters and other settings" onSubmit=${create} /><//>`;
}
