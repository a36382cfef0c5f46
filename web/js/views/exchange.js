import { del, path, post, query as toQuery } from "../api.js";
import { Card, Chip, Empty, Facts, Fold, Head, Tabs, Trouble } from "../components/basics.js";
import { Chart } from "../components/chart.js";
import { confirm } from "../components/dialogs.js";
import { Form } from "../components/form.js";
import { act, toast } from "../components/toasts.js";
import { rate } from "../format.js";
import { html } from "../html.js";
import { refreshAll, useLive } from "../live.js";
import { place } from "../router.js";
import { past, rateSeries } from "../samples.js";
import { useStore } from "../store.js";
import { Bindings } from "./queue-bindings.js";
import { Publish } from "./queue-publish.js";
import { Scheduled } from "./scheduled.js";

export function Exchange({ names: [vhost, name] }) {
  const { query } = useStore(place);
  const { data: x, error, loading } = useLive(path`exchanges/${vhost}/${name}` + toQuery(past));
  const standard = name === "amq.default";
  const tab = query.tab ?? "overview";
  const tabs = [["overview", "Overview"], ...(standard ? [] : [["bindings", "Bindings"]]), ...(x?.type === "x-delayed-message" ? [["scheduled", "Scheduled"]] : [])];
  const remove = async () => {
    if (!(await confirm(`Delete ${name}?`, "The exchange and its bindings are gone; queues stay.", "Delete exchange"))) return;
    await act(`Exchange ${name} is deleted.`, () => del(path`exchanges/${vhost}/${name}`), ["exchanges"]);
  };
  const views = { overview: ExchangeOverview, bindings: ExchangeBindings, scheduled: Scheduled };
  const View = views[tab] ?? ExchangeOverview;
  return html`
    <${Head} title=${standard ? "Default exchange" : name} crumbs=${[["Exchanges", ["exchanges"]], [`virtual host ${vhost}`, ["vhosts", vhost]]]}>
      ${x && html`<${Chip}>${x.type}<//>`}
      ${x && !standard && !name.startsWith("amq.") && html`<button class="danger" onClick=${remove}>Delete …</button>`}
    <//>
    <${Tabs} of=${tabs} current=${tab} to=${["exchanges", vhost, name]} label="Sections of this exchange" />
    ${x ? html`<div class="stack"><${Trouble} error=${error} what="This exchange" /><${View} vhost=${vhost} name=${name} x=${x} kind="exchanges" /></div>`
      : loading ? html`<p class="soft">Loading …</p>` : html`<${Trouble} error=${error} what="This exchange" />`}`;
}

const ExchangeOverview = ({ vhost, name, x }) => html`
  <div class="columns two">
    <${Publish} vhost=${vhost} exchange=${name} />
    <div class="stack">
      <${Chart} title="Rates" format=${rate} series=${rateSeries([["in", "publish_in"], ["out, to queues", "publish_out"]], x.message_stats)} />
      <${Card} title="Details"><${Facts} of=${[
        ["Type", x.type], ["Durable", x.durable], ["Internal", x.internal], ["Delete when unused", x.auto_delete], ["Policy", x.policy],
        ...Object.entries(x.arguments ?? {}).map(([k, v]) => [k, typeof v === "object" ? JSON.stringify(v) : String(v)]),
      ]} /><//>
    </div>
  </div>`;

function ExchangeBindings({ vhost, name }) {
  const out = useLive(path`exchanges/${vhost}/${name}/bindings/source`);
  const into = useLive(path`exchanges/${vhost}/${name}/bindings/destination`);
  const all = [...(into.data ?? []), ...(out.data ?? [])];
  const fields = [
    { name: "kind", label: "To", kind: "select", options: [["q", "queue"], ["e", "exchange"]] },
    { name: "to", label: "Name", required: true },
    { name: "routing_key", label: "Routing key" },
    { name: "arguments", label: "Arguments", kind: "json", rows: 2, hint: "JSON" },
  ];
  const bind = async ({ kind, to, routing_key = "", arguments: args = {} }) => {
    await post(path`bindings/${vhost}/e/${name}/${kind}/${to}`, { routing_key, arguments: args });
    toast(`Bound to ${to}.`);
    refreshAll();
  };
  return html`
    <${Trouble} error=${out.error ?? into.error} what="The bindings" />
    ${!out.data || !into.data ? null : all.length > 0 ? html`<${Bindings} bindings=${all} label=${`Bindings of exchange ${name}`} />` : html`<div class="card"><${Empty} title="Nothing is bound." /></div>`}
    <${Fold} title="Add a binding to this exchange" open=${true}><${Form} label="Bind" fields=${fields} button="Bind" onSubmit=${bind} reset /><//>`;
}
