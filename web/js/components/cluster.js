// The nodes of a cluster, as a table.
import { bytes, count, millis } from "../format.js";
import { html } from "../html.js";
import { Card, Chip, Go } from "./basics.js";
import { Rows } from "./table.js";

const nodeColumns = [
  { title: "Node", class: "name", show: (n) => html`<${Go} to=${["nodes", n.name]}>${n.name}<//> ${n.cluster_member.here && html`<${Chip}>you are here<//>`}` },
  { title: "Role", show: (n) => (n.running ? html`<${Chip} kind=${n.cluster_member.role === "leader" ? "good" : ""}>${n.cluster_member.role}<//>` : html`<${Chip} kind="bad">down<//>`) },
  { title: "Lag in entries", number: true, show: (n) => count(n.cluster_member.lag ?? NaN) },
  { title: "Clock", number: true, show: (n) => (n.running ? millis(n.cluster_member.clock_skew_ms) : "–") },
  { title: "Disk free", number: true, show: (n) => bytes(n.disk_free) },
  { title: "Term", number: true, wide: true, show: (n) => count(n.cluster_member.term) },
  { title: "Version", wide: true, show: (n) => n.cluster_member.version ?? "–" },
  { title: "Address", wide: true, show: (n) => n.cluster_member.address },
];

/** The nodes of a cluster, or nothing if there is no cluster. */
export function Cluster({ nodes }) {
  if (nodes.length === 0) return null;
  const voters = nodes.filter((n) => n.cluster_member.role !== "learner");
  const critical = voters.filter((n) => n.running).length <= Math.floor(voters.length / 2) + 1;
  return html`
    <${Card} title="Cluster" flush>
      ${critical && html`<div class="body"><div class="note warn">If one more node stops, nothing can be written: the others would be no majority.</div></div>`}
      <${Rows} columns=${nodeColumns} rows=${nodes} label="Nodes of the cluster" />
    <//>`;
}
