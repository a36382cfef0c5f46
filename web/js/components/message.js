// A message as people read it.
import { bytes, inline, prettyJSON, time } from "../format.js";
import { html, useState } from "../html.js";
import { Chip, Facts } from "./basics.js";

/** The body: JSON with a line for each value, other text as it is, and what is not text as base64. */
export function Payload({ of }) {
  const [raw, setRaw] = useState(false);
  const pretty = of.payload_encoding === "base64" ? null : prettyJSON(of.payload ?? "");
  const shown = pretty !== null && !raw ? pretty : of.payload;
  const cut = of.payload_encoding !== "base64" && new Blob([of.payload ?? ""]).size < of.payload_bytes;
  return html`
    <div class="stack">
      <div class="row small soft">
        <span>${bytes(of.payload_bytes)}${of.payload_encoding === "base64" ? ", not text: shown as base64" : ""}${cut ? ", the beginning of it" : ""}</span>
        ${pretty !== null && html`<button class="link" onClick=${() => setRaw(!raw)}>${raw ? "show it indented" : "show it as it came"}</button>`}
      </div>
      <pre tabindex="0" aria-label="Body">${shown}</pre>
    </div>`;
}

/** Everything of a message but its body. */
export function Properties({ of }) {
  const { headers, ...properties } = of.properties ?? {};
  return html`
    <${Facts} of=${[
      ["Exchange", of.exchange === "" ? "(default)" : of.exchange], ["Routing key", of.routing_key], ["Message id", of.message_id],
      ["Redelivered", of.redelivered], ["Came back", of.returns > 0 ? `${of.returns} times` : undefined],
      ["Due", of.due && time(of.due)], ["Expires", of.expires && time(of.expires)], ["With consumer", of.consumer && inline(of.consumer)],
      ...Object.entries(properties).filter(([k]) => k !== "message_id").map(([k, v]) => [k, k === "timestamp" ? time(v) : inline(v)]),
      ...Object.entries(headers ?? {}).map(([k, v]) => [html`<span class="mono">${k}</span>`, typeof v === "object" ? html`<pre>${JSON.stringify(v, null, 2)}</pre>` : String(v)]),
    ]} />`;
}

const kinds = { ready: "good", unacked: "warn", scheduled: "", blocked: "bad" };

/** A message that opens when it is wanted; children are what can be done with it. */
export function Message({ of, open, children }) {
  const [seen, setSeen] = useState(open);
  return html`
    <details class="message" open=${open} onToggle=${(e) => setSeen(e.target.open)}>
      <summary>
        ${of.state && html`<${Chip} kind=${kinds[of.state]}>${of.state}<//>`}
        <span class="mono">${of.routing_key || "–"}</span>
        <span class="preview">${seen ? "" : (of.payload ?? "").slice(0, 300)}</span>
        <span class="soft small">${bytes(of.payload_bytes)}</span>
      </summary>
      ${seen && html`<div class="inside"><${Properties} of=${of} /><${Payload} of=${of} />${children && html`<div class="row">${children}</div>`}</div>`}
    </details>`;
}
