import { del, path, query } from "../api.js";
import { Card, Chip, Empty, Facts, Go, Head, Trouble } from "../components/basics.js";
import { ask } from "../components/dialogs.js";
import { Chart } from "../components/chart.js";
import { Listing, Rows } from "../components/table.js";
import { act } from "../components/toasts.js";
import { bytes, bytesRate, count, inline, time } from "../format.js";
import { html } from "../html.js";
import { useLive } from "../live.js";
import { pastOf, rateSeries } from "../samples.js";
import { channelColumns } from "./channels.js";

// Headers are bytes: characters outside Latin-1 are sent as UTF-8.
const headerText = (text) => String.fromCharCode(...new TextEncoder().encode(text));

/** Asks for a reason and closes a connection; away is the view to show then. */
async function close(name, away) {
  let reason = "";
  const fields = [{ name: "reason", label: "Reason", placeholder: "sent to the client", wide: true }];
  const sure = await ask(`Close ${name}?`, fields, "Close connection", (v) => { reason = v.reason ?? "Closed from the web page"; });
  if (sure) await act("Closed.", () => del(path`connections/${name}`, { headers: { "X-Reason": headerText(reason) } }), away);
}

// The states of a connection other than running: [the chip's kind, its meaning].
const states = {
  running: ["good", "works"], blocked: ["bad", "its publishes wait for the end of an alarm"], flow: ["warn", "its publishes wait for a rate limit"],
  starting: ["warn", "has not logged in yet"], closing: ["warn", "is being closed"],
};

const State = ({ of: c }) => html`<span title=${states[c.state]?.[1]}><${Chip} kind=${states[c.state]?.[0]}>${c.state}<//></span>`;

const tls = (c) => [c.ssl_protocol?.replace(/^tlsv/, "TLS "), c.ssl_cipher?.replaceAll("_", "-")].filter(Boolean).join(", ");

// What the program calls itself, and the library that it uses.
function client({ client_properties: of = {} }) {
  const library = [of.product, of.version].filter(Boolean).join(" ");
  return [of.connection_name, library].filter(Boolean).join(", ");
}

const columns = [
  { key: "name", title: "Name", class: "name", show: (c) => html`<${Go} to=${["connections", c.name]}>${c.name}<//><div class="soft small">${client(c)}</div>` },
  { key: "protocol", title: "Protocol", show: (c) => html`<${Chip}>${c.protocol}<//>` },
  { key: "ssl", title: "TLS", wide: true, show: (c) => (c.ssl ? html`<${Chip} kind="good">${tls(c) || "TLS"}<//>` : "no") },
  { key: "user", title: "User", wide: true }, { key: "vhost", title: "Virtual host", wide: true },
  { key: "state", title: "State", show: (c) => html`<${State} of=${c} />` },
  { key: "channels", title: "Channels", number: true, wide: true, show: (c) => count(c.channels ?? 0) },
  { key: "recv_oct_details.rate", title: "In", number: true, wide: true, show: (c) => bytesRate(c.recv_oct_details?.rate) },
  { key: "send_oct_details.rate", title: "Out", number: true, wide: true, show: (c) => bytesRate(c.send_oct_details?.rate) },
  { title: "", show: (c) => html`<button class="danger" onClick=${() => close(c.name)}>Close …</button>` },
];

export const Connections = () => html`
  <${Head} title="Connections" />
  <${Listing} path="connections" columns=${columns} label="Connections" empty=${html`
    <div class="card"><${Empty} title="No client is connected."><span>The overview has a command for each protocol.</span><${Go} to=${["overview"]}>To the overview<//><//></div>`} />`;

export function Connection({ names: [name] }) {
  const { data: c, error, loading } = useLive(path`connections/${name}` + query(pastOf(60, "data_rates")));
  const channels = useLive(path`connections/${name}/channels`);
  return html`
    <${Head} title=${name} crumbs=${[["Connections", ["connections"]]]}>${c && html`<button class="danger" onClick=${() => close(name, ["connections"])}>Close …</button>`}<//>
    <div class="stack">
      ${loading && html`<p class="soft">Loading …</p>`}<${Trouble} error=${error} what="This connection" />
      ${c && html`
        <div class="columns two">
          <${Card} title="Details"><${Facts} of=${[
            ["Protocol", c.protocol], ["User", c.user], ["Virtual host", c.vhost], ["State", html`<${State} of=${c} />`], ["Since", c.connected_at && time(c.connected_at)],
            ["From", c.peer_host && `${c.peer_host}:${c.peer_port}`], ["To", c.host && `${c.host}:${c.port}`],
            ["TLS", c.ssl ? tls(c) || true : false], ["Certificate of the client", c.peer_cert_subject], ["Login", c.auth_mechanism],
            ["Received", bytes(c.recv_oct)], ["Sent", bytes(c.send_oct)], ["Largest frame", c.frame_max && bytes(c.frame_max)], ["Heartbeat", c.timeout && `${c.timeout} s`],
          ]} /><//>
          <${Card} title="Client properties"><${Facts} of=${Object.entries(c.client_properties ?? {}).map(([k, v]) => [k, inline(v)])} /><//>
        </div>
        <${Chart} title="Bytes per second" format=${bytesRate} binary series=${rateSeries([["received", "recv_oct"], ["sent", "send_oct"]], c)} />
        ${channels.data?.length > 0 && html`<${Card} title="Channels" flush><${Rows} columns=${channelColumns} rows=${channels.data} label="Channels" /><//>`}`}
    </div>`;
}
