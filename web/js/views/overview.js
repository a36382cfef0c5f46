import { hasTag, query, session } from "../api.js";
import { Attention } from "../components/attention.js";
import { Card, Chip, Command, Empty, Go, Head, Tile, Trouble } from "../components/basics.js";
import { Chart } from "../components/chart.js";
import { Cluster } from "../components/cluster.js";
import { Range, useSpan } from "../components/range.js";
import { bytes, count, duration, millis, rate, short } from "../format.js";
import { html } from "../html.js";
import { useLive } from "../live.js";
import { levelSeries, levels, pastOf, quantiles, rateOf, rateSeries } from "../samples.js";
import { useStore } from "../store.js";

export function Overview() {
  const span = useSpan();
  const overview = useLive(`overview${query(pastOf(span, "lengths", "msg_rates"))}`);
  const monitors = hasTag(useStore(session), "monitoring");
  const nodes = useLive(monitors ? `nodes${query(pastOf(span, "node_stats"))}` : null);
  const attention = useLive("attention");
  const listeners = useLive("listeners", { once: true });
  const of = overview.data;
  if (overview.loading || attention.loading || listeners.loading || (monitors && nodes.loading)) return html`<${Head} title="Overview" /><p class="soft">Loading …</p>`;
  if (!of) return html`<${Head} title="Overview" /><${Trouble} error=${overview.error} what="The overview" />`;
  const node = nodes.data?.find((n) => n.name === of.node);
  return html`
    <${Head} title="Overview">
      <span class="soft small">${of.product_name ?? "Fiveways"} ${of.fiveways_version ?? ""}${of.node ? `, ${of.node}` : ""}</span>
      <${Range} span=${span} of=${of} />
    <//>
    <div class="stack">
      <${Trouble} error=${overview.error} what="The overview" />
      <${Attention} matters=${attention.data?.matters} />
      <${Totals} of=${of} />
      <${Cluster} nodes=${nodes.data?.filter((n) => n.cluster_member) ?? []} />
      ${of.object_totals?.queues === 0 && html`<${FirstSteps} />`}
      <${Charts} of=${of} since=${of.history_since} />
      <${NodeCharts} node=${node} since=${of.history_since} />
      <${Listeners} ...${listeners} />
    </div>`;
}

function Totals({ of }) {
  const objects = of.object_totals ?? {};
  const queued = of.queue_totals ?? {};
  const stats = of.message_stats ?? {};
  return html`
    <div class="tiles">
      <${Tile} name="Ready" value=${count(queued.messages_ready ?? 0)} note="messages" to=${["queues"]} query=${{ sort: "messages_ready", down: "true" }} />
      <${Tile} name="Unacked" value=${count(queued.messages_unacknowledged ?? 0)} note="messages" to=${["queues"]} query=${{ sort: "messages_unacknowledged", down: "true" }} />
      <${Tile} name="Published" value=${rate(rateOf(stats, "publish") ?? 0)} note=${`${short(stats.publish ?? 0)} so far`} />
      <${Tile} name="Delivered" value=${rate(rateOf(stats, "deliver_get") ?? 0)} note=${`${short(stats.deliver_get ?? 0)} so far`} />
      <${Tile} name="Queues" value=${count(objects.queues)} to=${["queues"]} />
      <${Tile} name="Exchanges" value=${count(objects.exchanges)} to=${["exchanges"]} />
      <${Tile} name="Connections" value=${count(objects.connections)} to=${["connections"]} />
      <${Tile} name="Channels" value=${count(objects.channels)} to=${["channels"]} />
      <${Tile} name="Consumers" value=${count(objects.consumers)} />
    </div>`;
}

const FirstSteps = () => html`
  <${Card}><${Empty} title="There is no queue yet. To send a first message:">
    <ol>
      <li><${Go} to=${["queues"]} query=${{ new: "orders" }}>Make a queue<//>.</li>
      <li>Publish a message on its page.</li>
      <li>Take the message, look at it, acknowledge it.</li>
    </ol>
    <span>Or point a client at one of the addresses below.</span>
  <//><//>`;

function Charts({ of, since }) {
  const stats = of.message_stats ?? {};
  const queued = of.queue_totals ?? {};
  return html`
    <div class="columns two">
      <${Chart} title="Messages in queues" format=${short} series=${levelSeries([["ready", "messages_ready"], ["unacknowledged", "messages_unacknowledged"]], queued, since)} />
      <${Chart} title="Message rates" format=${rate} series=${rateSeries([
        ["published", "publish"], ["confirmed", "confirm"], ["delivered", "deliver_get"], ["acknowledged", "ack"], ["redelivered", "redeliver"],
      ], stats, since)} />
    </div>`;
}

function NodeCharts({ node, since }) {
  if (!node) return null;
  const past = node.latency?.samples;
  const both = (name) => ["p50", "p99"].map((q) => ({ label: q, points: quantiles(past, name, q), now: node.latency?.[name]?.[q] }));
  return html`
    <div class="columns two">
      <${Chart} title=${`Memory, of ${bytes(node.mem_limit)}`} format=${bytes} binary series=${[{ label: "used", points: levels(node, "mem_used", since) }]} />
      <${Chart} title=${`Disk, alarm below ${bytes(node.disk_free_limit)}`} format=${bytes} binary series=${[{ label: "free", points: levels(node, "disk_free", since) }]} />
      <${Chart} title="A write to the disk (fsync)" format=${millis} series=${both("fsync")} />
      <${Chart} title="From publish to confirm" format=${millis} series=${both("confirm")} />
    </div>
    <p class="soft small">${node.cluster_member && `These charts are of ${node.name}, which leads. `}Up for ${duration(node.uptime ?? 0)}. <${Go} to=${["nodes", node.name]}>More about this node<//></p>`;
}

function Listeners({ data, error }) {
  const all = data ?? [];
  return html`
    <${Card} title="Ways in" flush>
      ${error && html`<div class="body"><${Trouble} error=${error} what="The list of listeners" /></div>`}
      ${all.map((l) => html`
        <div class="way" key=${`${l.protocol} ${l.address}:${l.port}`}>
          <div class="row"><b>${l.protocol}</b><span class="mono soft">${l.address}:${l.port}</span>${l.tls && html`<${Chip} kind="good">TLS<//>`}</div>
          <${Command} text=${l.command} what=${l.protocol} />
        </div>`)}
    <//>`;
}
