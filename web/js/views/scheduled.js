import { del, path, put } from "../api.js";
import { Card, Empty, Trouble } from "../components/basics.js";
import { ask, confirm } from "../components/dialogs.js";
import { Rows } from "../components/table.js";
import { act } from "../components/toasts.js";
import { bytes, count, time } from "../format.js";
import { html, useState } from "../html.js";
import { useLive } from "../live.js";

/** Scheduled messages of a queue or of an exchange (kind: "queues" or "exchanges"). */
export function Scheduled({ vhost, name, kind }) {
  const [from, setFrom] = useState("");
  const base = path`${kind}/${vhost}/${name}/scheduled`;
  const { data, error } = useLive(`${base}?limit=100${from && `&from=${from}`}`);
  const one = (m) => `${base}/at/${encodeURIComponent(m.id)}`;
  const cancel = async (m) => {
    if (await confirm("Cancel this message?", `${m.message_id || "It"} is deleted for good.`, "Cancel it")) await act("Cancelled.", () => del(one(m)));
  };
  const later = async (m) => {
    const at = new Date(m.due);
    const local = new Date(at.getTime() - at.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
    const fields = [{ name: "due", label: "When", kind: "datetime-local", value: local, required: true, wide: true }];
    const done = await ask("Reschedule the message", fields, "Set", ({ due }) => put(one(m), { due: new Date(due).toISOString() }));
    if (done) await act("Rescheduled.", () => null);
  };
  const columns = [
    { title: "Due", show: (m) => time(m.due) }, { title: "Message id", class: "name", show: (m) => m.message_id || "(none)" },
    { title: "Exchange", wide: true, show: (m) => m.exchange || "(default)" }, { title: "Routing key", show: (m) => m.routing_key },
    { title: "Size", number: true, wide: true, show: (m) => bytes(m.payload_bytes) },
    { title: "", show: (m) => html`<span class="row"><button onClick=${() => later(m)}>Reschedule …</button><button class="danger" onClick=${() => cancel(m)}>Cancel …</button></span>` },
  ];
  return html`
    <${Trouble} error=${error} what="The schedule" />
    ${data && html`
      <${Card} title="Scheduled" flush tools=${html`<span class="soft small">${count(data.total)}</span>
        ${from && html`<button onClick=${() => setFrom("")}>First</button>`}${data.next && html`<button onClick=${() => setFrom(data.next)}>More ›</button>`}`}>
        ${data.messages?.length > 0 ? html`<${Rows} columns=${columns} rows=${data.messages} label="Scheduled messages" rowKey=${(m) => m.id} />`
          : html`<${Empty} title="No message is scheduled."><span>A message with the header <code>not-before</code> does.</span><//>`}
      <//>`}`;
}
