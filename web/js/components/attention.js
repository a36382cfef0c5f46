// What an operator should look at now, as found by the broker.
import { html } from "../html.js";
import { Card, Chip, Go } from "./basics.js";
import { Rows } from "./table.js";

// The title of each kind of problem, and the view for a problem without a name.
const kinds = {
  alarm: ["Alarm", ["nodes"]], log: ["Log", ["nodes"]], disk: ["Disk", ["nodes"]], memory: ["Memory", ["nodes"]], node: ["Cluster", ["nodes"]],
  certificate: ["TLS certificate", ["nodes"]], shovel: ["Shovel", ["shovels"]], login: ["Failed logins", ["users"]],
  connection: ["Connections", ["connections"], { sort: "state" }], growing: ["Growing queue", ["queues"], { sort: "messages_details.rate", down: "true" }],
  no_consumer: ["No consumer", ["queues"], { sort: "messages_ready", down: "true" }], dead_letters: ["Dead letters", ["queues"], { sort: "messages_ready", down: "true" }],
  failing: ["Failing messages", ["queues"]],
};

const isQueue = (m) => ["growing", "no_consumer", "dead_letters", "failing"].includes(m.kind);

function Place({ of: m }) {
  const [, to, query] = kinds[m.kind] ?? ["", ["overview"]];
  if (!m.name) return html`<${Go} to=${to} query=${query}>show<//>`;
  const label = m.vhost && m.vhost !== "/" ? `${m.name} (${m.vhost})` : m.name;
  if (isQueue(m)) return html`<${Go} to=${["queues", m.vhost, m.name]} query=${{ tab: m.kind === "dead_letters" ? "messages" : undefined }}>${label}<//>`;
  if (m.kind === "node") return html`<${Go} to=${["nodes", m.name]}>${label}<//>`;
  if (m.kind === "login" || m.kind === "shovel") return html`<${Go} to=${to} query=${{ name: m.name }}>${label}<//>`;
  return html`<${Go} to=${to}>${label}<//>`;
}

const columns = [
  { title: "What", show: (m) => html`<${Chip} kind=${m.severity === "critical" ? "bad" : "warn"}>${kinds[m.kind]?.[0] ?? m.kind}<//>` },
  { title: "Where", class: "name", show: (m) => html`<${Place} of=${m} />` },
  { title: "Why", show: (m) => m.text },
];

/** The problems in GET attention, or nothing if all is well. */
export const Attention = ({ matters = [] }) => matters.length > 0 && html`
  <${Card} title="Needs attention" flush><${Rows} columns=${columns} rows=${matters} label="Needs attention" rowKey=${(m) => `${m.kind} ${m.vhost} ${m.name} ${m.name ? "" : m.text}`} /><//>`;
