import { path, query } from "../api.js";
import { Card, Chip, Facts, Go, Head, Tile, Trouble } from "../components/basics.js";
import { Chart } from "../components/chart.js";
import { Cluster } from "../components/cluster.js";
import { Range, useSpan } from "../components/range.js";
import { Rows } from "../components/table.js";
import { bytes, bytesRate, count, duration, millis, rate, time } from "../format.js";
import { html } from "../html.js";
import { useLive } from "../live.js";
import { levelSeries, pastOf, rateOf, rateSeries } from "../samples.js";

const versionOf = (n) => n.applications?.find((a) => a.name === "fiveways")?.version ?? "–";

function State({ of: n }) {
  if (!n.running) return html`<${Chip} kind="bad">down<//>`;
  if (n.mem_alarm) return html`<${Chip} kind="bad">memory alarm<//>`;
  if (n.disk_free_alarm) return html`<${Chip} kind="bad">disk alarm<//>`;
  return html`<${Chip} kind="good">running<//>`;
}

const columns = [
  { title: "Name", class: "name", show: (n) => html`<${Go} to=${["nodes", n.name]}>${n.name}<//>` },
  { title: "State", show: (n) => html`<${State} of=${n} />` },
  { title: "Up for", wide: true, show: (n) => (n.running ? duration(n.uptime) : "–") },
  { title: "Memory", number: true, show: (n) => `${bytes(n.mem_used)} of ${bytes(n.mem_limit)}` },
  { title: "Disk free", number: true, show: (n) => bytes(n.disk_free) },
  { title: "Open files", number: true, wide: true, show: (n) => `${count(n.fd_used)} of ${count(n.fd_total)}` },
  { title: "Version", wide: true, show: versionOf },
];

/** The nodes of the cluster, or the single node. */
export function Nodes() {
  const { data, error, loading } = useLive("nodes");
  return html`
    <${Head} title="Nodes" />
    <div class="stack">
      ${loading && html`<p class="soft">Loading …</p>`}<${Trouble} error=${error} what="The list of nodes" />
      ${data && html`<${Card} flush><${Rows} columns=${columns} rows=${data} label="Nodes" /><//><${Cluster} nodes=${data.filter((n) => n.cluster_member)} />`}
    </div>`;
}

export function Node({ names: [name] }) {
  const span = useSpan();
  const { data: n, error, loading } = useLive(path`nodes/${name}` + query(pastOf(span, "node_stats")));
  const memory = useLive(path`nodes/${name}/memory`);
  const overview = useLive("overview" + query({ ...pastOf(60, "lengths"), columns: "queue_totals,history_since,node" }));
  if (loading || memory.loading || overview.loading) return html`<${Head} title=${name} crumbs=${[["Nodes", ["nodes"]]]} /><p class="soft">Loading …</p>`;
  const leads = overview.data?.node === name;
  return html`
    <${Head} title=${name} crumbs=${[["Nodes", ["nodes"]]]}>${n && html`<${State} of=${n} />`}${leads && html`<${Range} span=${span} of=${overview.data} />`}<//>
    <div class="stack">
      <${Trouble} error=${error} what="This node" />
      ${n?.running && html`<${Totals} of=${n} />`}
      ${n && leads && html`<${Charts} of=${n} since=${overview.data.history_since} />`}
      ${n && html`<div class="columns two"><${Details} of=${n} /><${Memory} of=${memory.data?.memory} /></div>`}
    </div>`;
}

const Totals = ({ of: n }) => html`
  <div class="tiles">
    <${Tile} name="Memory" value=${bytes(n.mem_used)} note=${`of ${bytes(n.mem_limit)}`} />
    ${n.message_memory !== undefined && html`<${Tile} name="Messages in memory" value=${bytes(n.message_memory)} note=${`alarm at ${bytes(n.message_memory_limit)}`} />`}
    <${Tile} name="Disk free" value=${bytes(n.disk_free)} note=${`alarm below ${bytes(n.disk_free_limit)}`} />
    <${Tile} name="Open files" value=${count(n.fd_used)} note=${`of ${count(n.fd_total)}`} />
    ${n.sockets_used !== undefined && html`<${Tile} name="Connections" value=${count(n.sockets_used)} note=${`of ${count(n.sockets_total)}`} />`}
    <${Tile} name="Goroutines" value=${count(n.proc_used)} />
  </div>`;

const Charts = ({ of: n, since }) => html`
  <div class="columns two">
    <${Chart} title="Network" format=${bytesRate} binary series=${rateSeries([["received", "recv_oct"], ["sent", "send_oct"]], n, since)} />
    <${Chart} title="Writes of the log" format=${rate} series=${rateSeries([["writes", "io_write_count"], ["fsyncs", "io_sync_count"]], n, since)} />
    <${Chart} title="Messages in memory" format=${bytes} binary series=${levelSeries([["used", "message_memory"]], n, since)} />
    <${Chart} title="Open files and connections" format=${count} series=${levelSeries([["files", "fd_used"], ["connections", "sockets_used"]], n, since)} />
    <${Chart} title="Size of the log" format=${bytes} binary series=${levelSeries([["log", "log_bytes"]], n, since)} />
    <${Chart} title="Garbage collections" format=${rate} series=${rateSeries([["collections", "gc_num"]], n, since)} />
  </div>`;

const Details = ({ of: n }) => html`
  <${Card} title="Details"><${Facts} of=${[
    ["Version", versionOf(n)], ["Up for", n.uptime && duration(n.uptime)], ["Started", n.uptime && time(Date.now() - n.uptime)], ["Process", n.os_pid], ["Processors", n.processors],
    ["Data folder", n.db_dir], ["Fsyncs", n.io_sync_count !== undefined && `${count(n.io_sync_count)}, ${rate(rateOf(n, "io_sync_count") ?? 0)}`],
    ["Mean fsync", n.io_sync_avg_time !== undefined && millis(n.io_sync_avg_time)], ["Garbage collected", n.gc_bytes_reclaimed !== undefined && bytes(n.gc_bytes_reclaimed)],
    ["Role in the cluster", n.cluster_member?.role], ["Address in the cluster", n.cluster_member?.address],
  ].filter(([, v]) => v !== false)} /><//>`;

const parts = [
  ["Messages", "queue_procs"], ["Other data of the broker", "other_proc"], ["Runtime", "code"], ["Stacks", "other_system"], ["Free, kept by the process", "allocated_unused"],
  ["Given back to the system", "reserved_unallocated"],
];

const Memory = ({ of }) => of && html`
  <${Card} title="Memory"><${Facts} of=${[...parts.filter(([, k]) => of[k] !== undefined).map(([label, k]) => [label, bytes(of[k])]), ["Resident", bytes(of.total?.rss)]]} /><//>`;
