import { del, path, post } from "../api.js";
import { Card, Empty, Fold, Go, Trouble } from "../components/basics.js";
import { confirm } from "../components/dialogs.js";
import { Form } from "../components/form.js";
import { Graph, ofBindings } from "../components/graph.js";
import { Rows } from "../components/table.js";
import { act, toast } from "../components/toasts.js";
import { inline } from "../format.js";
import { html, useMemo } from "../html.js";
import { refreshAll, useLive } from "../live.js";

const letters = { queue: "q", exchange: "e" };

/** The API's path of a binding. */
const bindingPath = (b) => path`bindings/${b.vhost}/e/${b.source}/${letters[b.destination_type]}/${b.destination}/${b.properties_key}`;

async function unbind(b) {
  if (await confirm("Delete this binding?", `${b.source} → ${b.destination}, ${b.routing_key || "no routing key"}`)) await act("Unbound.", () => del(bindingPath(b)));
}

const columns = [
  { title: "From", class: "name", show: (b) => (b.source ? html`<${Go} to=${["exchanges", b.vhost, b.source]}>${b.source}<//>` : "(default)") },
  { title: "To", class: "name", show: (b) => html`<${Go} to=${[`${b.destination_type}s`, b.vhost, b.destination]}>${b.destination}<//>` },
  { title: "Routing key", show: (b) => html`<span class="mono">${b.routing_key}</span>` },
  { title: "Arguments", wide: true, show: (b) => Object.entries(b.arguments ?? {}).map(([k, v]) => html`<div class="mono">${k}: ${inline(v)}</div>`) },
  { title: "", show: (b) => b.source && html`<button class="danger" onClick=${() => unbind(b)}>Unbind …</button>` },
];

/** A drawing of bindings, and the list of them. */
export function Bindings({ bindings, label }) {
  // Every queue is bound to the default exchange, which is drawn only if there is no other binding.
  const drawn = useMemo(() => {
    const own = bindings.filter((b) => b.source !== "");
    return ofBindings(own.length > 0 ? own : bindings);
  }, [bindings]);
  return html`
    <${Card} title="Picture" flush><${Graph} nodes=${drawn.nodes} edges=${drawn.edges} label=${label} tall=${420} /><//>
    <${Card} title="Bindings" flush><${Rows} columns=${columns} rows=${bindings} label=${label} rowKey=${(b) => `${b.source} ${b.destination_type} ${b.destination} ${b.properties_key}`} /><//>`;
}

export function QueueBindings({ vhost, name }) {
  const { data, error, loading } = useLive(path`queues/${vhost}/${name}/bindings`);
  const exchanges = useLive(path`exchanges/${vhost}?columns=name`, { once: true });
  const names = (exchanges.data ?? []).map((x) => x.name).filter((n) => n !== "");
  const fields = [
    { name: "source", label: "From exchange", kind: "select", options: names.length > 0 ? names : ["amq.direct"] },
    { name: "routing_key", label: "Routing key", hint: "of topic exchanges: * is one word, # any number" },
    { name: "arguments", label: "Arguments", kind: "json", rows: 2, placeholder: '{"x-selector": "amount >= 1000"}', hint: "JSON" },
  ];
  const bind = async ({ source, routing_key = "", arguments: args = {} }) => {
    await post(path`bindings/${vhost}/e/${source}/q/${name}`, { routing_key, arguments: args });
    toast(`Bound to ${source}.`);
    refreshAll();
  };
  return html`
    <${Trouble} error=${error} what="The bindings" />
    ${loading && html`<p class="soft">Loading …</p>`}
    ${data && (data.length > 0 ? html`<${Bindings} bindings=${data} label=${`Bindings of queue ${name}`} />` : html`<div class="card"><${Empty} title="Nothing is bound." /></div>`)}
    <${Fold} title="Bind this queue to an exchange" open=${true}><${Form} label="Bind" fields=${fields} button="Bind" onSubmit=${bind} reset /><//>`;
}
