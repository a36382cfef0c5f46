// A message in a form for people.
import { get } from "../api.js";
import { bytes, bytesOfBase64, inline, prettyJSON, time } from "../format.js";
import { html, useState } from "../html.js";
import { save } from "../save.js";
import { Chip, Facts, Go } from "./basics.js";
import { toast } from "./toasts.js";

const content = (of) => (of.payload_encoding === "base64" ? bytesOfBase64(of.payload) : new TextEncoder().encode(of.payload ?? ""));

/**
 * The body: JSON with one line per value, other text unchanged, and binary data as base64. Listings
 * have only the beginning of a long body; whole is the API's path of the complete message.
 */
export function Payload({ of, whole }) {
  const [raw, setRaw] = useState(false);
  const [all, setAll] = useState(null);
  const now = all ?? of;
  const pretty = now.payload_encoding === "base64" ? null : prettyJSON(now.payload ?? "");
  const shown = pretty !== null && !raw ? pretty : now.payload;
  const cut = content(now).length < now.payload_bytes;
  const load = async () => {
    const got = cut ? await get(whole) : now;
    setAll(got);
    return got;
  };
  const keep = async () => save(`message-${now.message_id || now.id || "body"}`, [content(await load())], now.properties?.content_type);
  const told = (fn) => () => fn().catch((err) => toast(err.message, "bad"));
  return html`
    <div class="stack">
      <div class="row small soft">
        <span>${bytes(now.payload_bytes)}${now.payload_encoding === "base64" ? ", not text: shown as base64" : ""}${cut ? ", the beginning of it" : ""}</span>
        ${cut && whole && html`<button class="link" onClick=${told(load)}>show all of it</button>`}
        ${pretty !== null && html`<button class="link" onClick=${() => setRaw(!raw)}>${raw ? "show it indented" : "show it as it came"}</button>`}
        ${(!cut || whole) && now.payload_bytes > 0 && html`<button class="link" onClick=${told(keep)}>save it to a file</button>`}
      </div>
      <pre tabindex="0" aria-label="Body">${shown}</pre>
    </div>`;
}

/** Everything in a message except its body. */
function Properties({ of }) {
  const { headers, ...properties } = of.properties ?? {};
  return html`
    <${Facts} of=${[
      ["Exchange", of.exchange === "" ? "(default)" : of.exchange], ["Routing key", of.routing_key], ["Message id", of.message_id],
      ["Redelivered", of.redelivered], ["Came back", of.returns > 0 ? `${of.returns} times` : undefined],
      ["Due", of.due && time(of.due)], ["Expires", of.expires && time(of.expires)], ["With", of.consumer && html`<${Holder} of=${of.consumer} />`],
      ...Object.entries(properties).filter(([k]) => k !== "message_id").map(([k, v]) => [k, k === "timestamp" ? time(v) : inline(v)]),
    ]} />
    ${Object.keys(headers ?? {}).length > 0 && html`
      <h3>Headers</h3>
      <${Facts} of=${Object.entries(headers).map(([k, v]) => [html`<span class="mono">${k}</span>`, typeof v === "object" ? html`<pre>${JSON.stringify(v, null, 2)}</pre>` : String(v)])} />`}`;
}

/** The consumer that holds an unacknowledged message. */
function Holder({ of }) {
  if (of.lease_until) return `a client with a lease until ${time(of.lease_until)}`;
  if (!of.connection) return "a consumer";
  return html`consumer <span class="mono">${of.consumer_tag}</span> on <${Go} to=${["connections", of.connection]}>${of.connection}<//>`;
}

const kinds = { ready: "good", unacked: "warn", scheduled: "", blocked: "bad" };

/** A message that opens on demand; children are its actions, and whole is as in Payload. */
export function Message({ of, open, whole, children }) {
  const [seen, setSeen] = useState(open);
  return html`
    <details class="message" open=${open} onToggle=${(e) => setSeen(e.target.open)}>
      <summary>
        ${of.state && html`<${Chip} kind=${kinds[of.state]}>${of.state}<//>`}
        <span class="mono">${of.routing_key || "–"}</span>
        <span class="preview">${seen ? "" : (of.payload ?? "").slice(0, 300)}</span>
        <span class="soft small">${bytes(of.payload_bytes)}</span>
      </summary>
      ${seen && html`<div class="inside"><${Properties} of=${of} /><${Payload} of=${of} whole=${whole} />${children && html`<div class="row">${children}</div>`}</div>`}
    </details>`;
}
