import { del, path, post, query } from "../api.js";
import { Card, Empty, Trouble } from "../components/basics.js";
import { ask, confirm } from "../components/dialogs.js";
import { Form } from "../components/form.js";
import { Message } from "../components/message.js";
import { act } from "../components/toasts.js";
import { count } from "../format.js";
import { html, useState } from "../html.js";
import { useLive } from "../live.js";
import { place, setQuery } from "../router.js";
import { useStore } from "../store.js";

const states = [["", "in any state"], ["ready", "ready"], ["unacked", "unacknowledged"], ["scheduled", "scheduled"], ["blocked", "waiting for others"]];

/** Browses the messages of a queue, a page at a time, without consuming any. */
export function Browse({ vhost, name }) {
  const { query: q } = useStore(place);
  const [before, setBefore] = useState([]); // the tokens of the pages that were left
  const base = path`queues/${vhost}/${name}/messages`;
  const one = (m) => `${base}/${encodeURIComponent(m.id)}`;
  const { data, error, loading } = useLive(base + query({ state: q.state, filter: q.filter, contains: q.contains, after: q.after, limit: 50 }), { once: true });
  const turn = (after, left) => {
    setBefore(left);
    setQuery({ after });
  };
  const fields = [
    { name: "state", label: "Messages", kind: "select", options: states, value: q.state ?? "" },
    { name: "contains", label: "Body contains", value: q.contains ?? "" },
    { name: "filter", label: "Condition", value: q.filter ?? "", placeholder: "amount >= 1000 and country = 'NO'", hint: "over headers, as in selectors", wide: true },
  ];
  const search = ({ state, contains, filter }) => {
    setBefore([]);
    setQuery({ state, contains, filter, after: undefined });
  };
  const messages = data?.messages ?? [];
  return html`
    <${Card} title="Search"><${Form} label="Search messages" fields=${fields} button="Search" onSubmit=${search} /><//>
    <${Trouble} error=${error} what="The messages of this queue" />
    ${loading && html`<p class="soft">Loading …</p>`}
    ${data && html`
      <${Card} title="Messages" flush tools=${html`
        ${data.scanned !== undefined && html`<span class="soft small">${count(messages.length)} shown, ${count(data.scanned)} looked at</span>`}
        <button disabled=${!q.after} onClick=${() => turn(before.at(-1) || undefined, before.slice(0, -1))}>‹ Before</button>
        <button disabled=${!data.next} onClick=${() => turn(data.next, [...before, q.after ?? ""])}>More ›</button>`}>
        ${messages.map((m) => html`<${Message} of=${m} key=${m.id} whole=${one(m)}><${Actions} path=${one(m)} m=${m} /><//>`)}
        ${messages.length === 0 && html`<${Empty} title="No message.">
          ${q.state || q.filter || q.contains ? "None matches your search." : "Publish one on the Overview tab, or with a client."}<//>`}
      <//>`}`;
}

function Actions({ path: one, m }) {
  const remove = async () => {
    if (await confirm("Delete this message?", "It is deleted for good and not dead-lettered.")) await act("Deleted.", () => del(one));
  };
  const move = async () => {
    let to;
    const fields = [{ name: "to", label: "To queue", required: true, wide: true }];
    const moved = await ask("Move this message", fields, "Move", async (v) => {
      to = v.to;
      await post(`${one}/move`, v);
    });
    if (moved) await act(`Moved to ${to}.`, () => null);
  };
  if (m.state === "unacked") return html`<span class="soft">A consumer has it and decides what happens to it.</span>`;
  return html`<button onClick=${move}>Move …</button><button class="danger" onClick=${remove}>Delete …</button>`;
}
