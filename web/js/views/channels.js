import { Chip, Empty, Go, Head } from "../components/basics.js";
import { Listing } from "../components/table.js";
import { count, rate } from "../format.js";
import { html } from "../html.js";

export const channelColumns = [
  { key: "name", title: "Name", class: "name", show: (c) => (c.connection_details?.name ? html`<${Go} to=${["connections", c.connection_details.name]}>${c.name}<//>` : c.name) },
  { key: "user", title: "User" }, { key: "vhost", title: "Virtual host", wide: true },
  { title: "Mode", wide: true, show: (c) => html`${c.confirm && html`<${Chip}>confirms<//>`} ${c.transactional && html`<${Chip}>transactions<//>`}` },
  { key: "state", title: "State", show: (c) => html`<${Chip} kind=${{ running: "good", flow: "warn", blocked: "bad" }[c.state]}>${c.state}<//>` },
  { key: "prefetch_count", title: "Prefetch", number: true, wide: true, show: (c) => c.prefetch_count || "no limit" },
  { key: "messages_unacknowledged", title: "Unacked", number: true, show: (c) => count(c.messages_unacknowledged ?? 0) },
  { key: "messages_unconfirmed", title: "Unconfirmed", number: true, wide: true, show: (c) => count(c.messages_unconfirmed ?? 0) },
  { key: "consumer_count", title: "Consumers", number: true, show: (c) => count(c.consumer_count ?? 0) },
  { key: "message_stats.publish_details.rate", title: "In", number: true, wide: true, show: (c) => rate(c.message_stats?.publish_details?.rate ?? 0) },
  { key: "message_stats.deliver_get_details.rate", title: "Out", number: true, wide: true, show: (c) => rate(c.message_stats?.deliver_get_details?.rate ?? 0) },
];

export const Channels = () => html`
  <${Head} title="Channels" />
  <${Listing} path="channels" columns=${channelColumns} label="Channels" empty=${html`
    <div class="card"><${Empty} title="No channel is open.">AMQP clients open them on their connections.<//></div>`} />`;
