import { path, query as toQuery } from "../api.js";
import { Card, Chip, Empty, Facts, Go, Head, Tabs, Tile, Trouble } from "../components/basics.js";
import { Chart } from "../components/chart.js";
import { Rows } from "../components/table.js";
import { bytes, count, duration, rate, short, time } from "../format.js";
import { html } from "../html.js";
import { useLive } from "../live.js";
import { place } from "../router.js";
import { levelSeries, past, rateSeries } from "../samples.js";
import { useStore } from "../store.js";
import { QueueBindings } from "./queue-bindings.js";
import { QueueManage } from "./queue-manage.js";
import { Browse } from "./queue-messages.js";
import { Publish } from "./queue-publish.js";
import { Take } from "./queue-take.js";
import { Activity, ConsumerCount, Features } from "./queues.js";
import { Scheduled } from "./scheduled.js";

const tabs = [["overview", "Overview"], ["messages", "Messages"], ["scheduled", "Scheduled"], ["bindings", "Bindings"], ["manage", "Move, purge, delete"]];

export function Queue({ names: [vhost, name] }) {
  const { query } = useStore(place);
  const { data: q, error, loading } = useLive(path`queues/${vhost}/${name}` + toQuery(past));
  const tab = query.tab ?? "overview";
  const props = { vhost, name, q };
  const views = { overview: QueueOverview, messages: Browse, scheduled: Scheduled, bindings: QueueBindings, manage: QueueManage };
  const View = views[tab] ?? QueueOverview;
  return html`
    <${Head} title=${name} crumbs=${[["Queues", ["queues"]], [`virtual host ${vhost}`, ["vhosts", vhost]]]}>${q && html`<${Activity} of=${q} /><${Features} of=${q} />`}<//>
    <${Tabs} of=${tabs} current=${tab} to=${["queues", vhost, name]} label="Sections of this queue" />
    ${q ? html`<div class="stack"><${Trouble} error=${error} what="This queue" /><${View} ...${props} kind="queues" /></div>`
      : loading ? html`<p class="soft">Loading …</p>` : html`<${Trouble} error=${error} what="This queue" />`}`;
}

function QueueOverview({ vhost, name, q }) {
  const stats = q.message_stats ?? {};
  return html`
    <div class="tiles">
      <${Tile} name="Ready" value=${count(q.messages_ready ?? 0)} to=${["queues", vhost, name]} query=${{ tab: "messages" }} />
      <${Tile} name="Unacked" value=${count(q.messages_unacknowledged ?? 0)} to=${["queues", vhost, name]} query=${{ tab: "messages", state: "unacked" }} />
      ${q.messages_scheduled > 0 && html`<${Tile} name="Scheduled" value=${count(q.messages_scheduled)} to=${["queues", vhost, name]} query=${{ tab: "scheduled" }} />`}
      ${q.messages_blocked > 0 && html`<${Tile} name="Blocked" value=${count(q.messages_blocked)} to=${["queues", vhost, name]} query=${{ tab: "messages", state: "blocked" }} />`}
      <${Tile} name="In" value=${rate(stats.publish_details?.rate ?? 0)} note=${`${short(stats.publish ?? 0)} so far`} />
      <${Tile} name="Out" value=${rate(stats.deliver_get_details?.rate ?? 0)} note=${`${short(stats.deliver_get ?? 0)} so far`} />
      <${Tile} name="Size" value=${bytes(q.message_bytes ?? 0)} />
      <${Tile} name="Consumers" value=${html`<${ConsumerCount} of=${q} />`} />
    </div>
    <div class="columns two">
      <${Chart} title="Messages" format=${short} series=${levelSeries([["ready", "messages_ready"], ["unacknowledged", "messages_unacknowledged"]], q)} />
      <${Chart} title="Rates" format=${rate} series=${rateSeries([["published", "publish"], ["delivered", "deliver_get"], ["acknowledged", "ack"], ["redelivered", "redeliver"]], stats)} />
    </div>
    <div class="columns two"><${Publish} vhost=${vhost} exchange="amq.default" queue=${name} /><${Take} vhost=${vhost} name=${name} ready=${q.messages_ready ?? 0} /></div>
    <div class="columns two"><${Details} q=${q} /><${Consumers} of=${q.consumer_details ?? []} /></div>`;
}

const Details = ({ q }) => html`
  <${Card} title="Details">
    <${Facts} of=${[
      ["State", html`<${Activity} of=${q} />`], ["Type", q.type], ["Durable", q.durable], ["Exclusive to", q.owner_pid_details?.name], ["Delete when unused", q.auto_delete],
      ["Policy", q.policy && html`<${Go} to=${["policies"]} query=${{ name: q.policy }}>${q.policy}<//>`], ["Operator policy", q.operator_policy],
      ...Object.entries(q.effective_policy_definition ?? {}).map(([k, v]) => [`by policy: ${k}`, String(v)]),
      ...Object.entries(q.arguments ?? {}).map(([k, v]) => [k, typeof v === "object" ? JSON.stringify(v) : String(v)]),
      ["Head message from", q.head_message_timestamp && time(q.head_message_timestamp)],
      ["Idle for", q.idle_since && duration(Math.max(0, Date.now() - Date.parse(q.idle_since.includes("T") ? q.idle_since : `${q.idle_since.replace(" ", "T")}Z`)))],
      ["Bytes ready", q.message_bytes_ready !== undefined && bytes(q.message_bytes_ready)],
      ["Memory", q.memory !== undefined && bytes(q.memory)],
    ]} />
  <//>`;

const consumerColumns = [
  { title: "Tag", class: "name", show: (c) => c.consumer_tag },
  { title: "Channel", show: (c) => {
    const connection = c.channel_details?.connection_name;
    return connection ? html`<${Go} to=${["connections", connection]}>${c.channel_details.name ?? connection}<//>` : "–";
  } },
  { title: "Acknowledges", wide: true, show: (c) => (c.ack_required ? "yes" : "no") },
  { title: "Prefetch", number: true, show: (c) => c.prefetch_count || "no limit" },
  { title: "Active", wide: true, show: (c) => html`<${Chip} kind=${c.active === false ? "" : "good"}>${c.active === false ? "waits" : "active"}<//>` },
];

const Consumers = ({ of }) => html`
  <${Card} title="Consumers" flush>
    ${of.length > 0
      ? html`<${Rows} columns=${consumerColumns} rows=${of} label="Consumers" rowKey=${(c) => `${c.channel_details?.name} ${c.consumer_tag}`} />`
      : html`<${Empty} title="This queue has no consumers now." />`}
  <//>`;
