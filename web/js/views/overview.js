import { hasTag, query, session } from "../api.js";
import { Card, Chip, Command, Empty, Go, Head, Tile, Trouble } from "../components/basics.js";
import { Chart } from "../components/chart.js";
import { Rows } from "../components/table.js";
import { bytes, count, duration, millis, rate, short } from "../format.js";
import { html } from "../html.js";
import { useLive } from "../live.js";
import { place, setQuery } from "../router.js";
import { levelSeries, levels, pastOf, rateOf, rateSeries, spans, useRemembered } from "../samples.js";
import { useStore } from "../store.js";

export function Overview() {
  const { query: q } = useStore(place);
  const span = spans.find(([s]) => s === q.span)?.[0] ?? "600";
  const overview = useLive(`overview${query(pastOf(span, "lengths", "msg_rates"))}`);
  const monitors = hasTag(useStore(session), "monitoring");
  const nodes = useLive(monitors ? `nodes${query(pastOf(span, "node_stats"))}` : null);
  const of = overview.data;
  if (!of) return html`<${Head} title="Overview" />${overview.loading ? html`<p class="soft">Loading …</p>` : html`<${Trouble} error=${overview.error} what="The overview" />`}`;
  const node = nodes.data?.find((n) => n.name === of.node);
  return html`
    <${Head} title="Overview">
      <span class="soft small">${of.product_name ?? "Fiveways"} ${of.fiveways_version ?? ""}${of.node ? `, ${of.node}` : ""}</span>
      <select aria-label="Time range of charts" value=${span} onChange=${(e) => setQuery({ span: e.target.value })}>
        ${spans.map(([s, label]) => html`<option value=${s} selected=${s === span}>${label}</option>`)}
      </select>
    <//>
    <div class="stack">
      <${Trouble} error=${overview.error} what="The overview" />
      <${Cluster} nodes=${nodes.data?.filter((n) => n.cluster_member) ?? []} />
      <${Totals} of=${of} />
      ${of.object_totals?.queues === 0 && html`<${FirstSteps} />`}
      <${Charts} of=${of} age=${node?.uptime} />
      <${NodeCharts} node=${node} data=${nodes.data} />
      <${Listeners} />
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

const nodeColumns = [
  { title: "Node", class: "name", show: (n) => html`${n.name} ${n.cluster_member.here && html`<${Chip}>you are here<//>`}` },
  { title: "Role", show: (n) => (n.running ? html`<${Chip} kind=${n.cluster_member.role === "leader" ? "good" : ""}>${n.cluster_member.role}<//>` : html`<${Chip} kind="bad">down<//>`) },
  { title: "Lag in entries", number: true, show: (n) => count(n.cluster_member.lag ?? NaN) },
  { title: "Clock", number: true, show: (n) => (n.running ? millis(n.cluster_member.clock_skew_ms) : "–") },
  { title: "Disk free", number: true, show: (n) => bytes(n.disk_free) },
  { title: "Term", number: true, wide: true, show: (n) => count(n.cluster_member.term) },
  { title: "Version", wide: true, show: (n) => n.cluster_member.version ?? "–" },
  { title: "Address", wide: true, show: (n) => n.cluster_member.address },
];

function Cluster({ nodes }) {
  if (nodes.length === 0) return null;
  const voters = nodes.filter((n) => n.cluster_member.role !== "learner");
  const critical = voters.filter((n) => n.running).length <= Math.floor(voters.length / 2) + 1;
  return html`
    <${Card} title="Cluster" flush>
      ${critical && html`<div class="body"><div class="note warn">If one more node stops, nothing can be written: the others would be no majority.</div></div>`}
      <${Rows} columns=${nodeColumns} rows=${nodes} label="Nodes of the cluster" />
    <//>`;
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

function Charts({ of, age }) {
  const stats = of.message_stats ?? {};
  const queued = of.queue_totals ?? {};
  return html`
    <div class="columns two">
      <${Chart} title="Messages in queues" format=${short} series=${levelSeries([["ready", "messages_ready"], ["unacknowledged", "messages_unacknowledged"]], queued, age)} />
      <${Chart} title="Message rates" format=${rate} series=${rateSeries([
        ["published", "publish"], ["confirmed", "confirm"], ["delivered", "deliver_get"], ["acknowledged", "ack"], ["redelivered", "redeliver"],
      ], stats, age)} />
    </div>`;
}

// The broker keeps the history of RabbitMQ's counters; for the others the page remembers what it has seen.
function NodeCharts({ node, data }) {
  const latency = node?.latency ?? {};
  const remembered = {
    mem: useRemembered(data, node?.mem_used), disk: useRemembered(data, node?.disk_free),
    fsync: useRemembered(data, latency.fsync?.p50), fsync99: useRemembered(data, latency.fsync?.p99 ?? node?.io_sync_avg_time),
    confirm: useRemembered(data, latency.confirm?.p50), confirm99: useRemembered(data, latency.confirm?.p99),
  };
  if (!node) return null;
  return html`
    <div class="columns two">
      <${Chart} title=${`Memory, of ${bytes(node.mem_limit)}`} format=${bytes} binary series=${[{ label: "used", points: levels(node, "mem_used", node.uptime) ?? remembered.mem }]} />
      <${Chart} title=${`Disk, alarm below ${bytes(node.disk_free_limit)}`} format=${bytes} binary series=${[{ label: "free", points: levels(node, "disk_free", node.uptime) ?? remembered.disk }]} />
      <${Chart} title="A write to the disk (fsync)" format=${millis} series=${[{ label: "p50", points: remembered.fsync }, { label: "p99", points: remembered.fsync99 }]} />
      <${Chart} title="From publish to confirm" format=${millis} series=${[{ label: "p50", points: remembered.confirm }, { label: "p99", points: remembered.confirm99 }]} />
    </div>
    <p class="soft small">${node.cluster_member && `These charts are of ${node.name}, which leads. `}Up for ${duration(node.uptime ?? 0)}, ${count(node.proc_used)} goroutines, ${count(node.fd_used)} of ${count(node.fd_total)} files open.</p>`;
}

function Listeners() {
  const { data, error } = useLive("listeners", { once: true });
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

