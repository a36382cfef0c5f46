import { path, post } from "../api.js";
import { Card } from "../components/basics.js";
import { Form } from "../components/form.js";
import { toast } from "../components/toasts.js";
import { html } from "../html.js";
import { refreshAll } from "../live.js";

const fields = [
  { name: "payload", label: "Message", kind: "area", rows: 4, value: '{"hello": "world"}' },
  { name: "persistent", label: "Persistent", kind: "check", value: true, more: true, hint: "survives a restart, in a durable queue" },
  { name: "content_type", label: "Content type", more: true, placeholder: "application/json" },
  { name: "headers", label: "Headers", kind: "json", rows: 1, more: true, placeholder: '{"customer": 7}', hint: "JSON" },
  { name: "properties", label: "More properties", kind: "json", rows: 1, more: true, placeholder: '{"priority": 3, "expiration": "60000"}', hint: "JSON, with RabbitMQ's names" },
];

/** A form that publishes to one queue if it is given, otherwise to the exchange. */
export function Publish({ vhost, exchange, queue }) {
  const key = { name: "routing_key", label: "Routing key" };
  const send = async ({ payload = "", persistent, content_type, headers, properties, routing_key = queue ?? "" }) => {
    const all = { delivery_mode: persistent ? 2 : 1, content_type, headers, ...properties };
    const { routed } = await post(path`exchanges/${vhost}/${exchange}/publish`, { properties: all, routing_key, payload, payload_encoding: "string" });
    if (routed) toast("Published: it is in a queue.");
    else toast("Published, but unroutable: no binding matches the routing key.", "bad");
    refreshAll();
  };
  return html`
    <${Card} title=${queue ? "Publish to this queue" : "Publish"}>
      <${Form} label="Publish" fields=${queue ? fields : [key, ...fields]} button="Publish" more="Headers and properties" onSubmit=${send} />
    <//>`;
}
