import { del, path, post } from "../api.js";
import { Card } from "../components/basics.js";
import { confirm } from "../components/dialogs.js";
import { Form } from "../components/form.js";
import { act, toast } from "../components/toasts.js";
import { many } from "../format.js";
import { html } from "../html.js";
import { refreshAll } from "../live.js";
import { Tasks } from "./tasks.js";

const selector = { name: "filter", label: "Filter", placeholder: "customer = 7", hint: "a condition over headers; empty: all", wide: true };
const limit = { name: "limit", label: "At most", kind: "number", min: 1, hint: "empty: all" };
const pace = { name: "rate", label: "Messages per second", kind: "number", min: 1, value: 100 };

/** Actions that change many messages, or the queue itself. */
export function QueueManage({ vhost, name, q }) {
  const base = path`queues/${vhost}/${name}`;
  const start = (what, where) => async (body) => {
    await post(`${base}/${where}`, body);
    toast(`${what} started.`);
    refreshAll();
  };
  const purge = async () => {
    if (await confirm(`Purge ${name}?`, `${many(q.messages_ready ?? 0, "ready message")} will be gone for good.`, "Purge")) await act("Purged.", () => del(`${base}/contents`));
  };
  const remove = async () => {
    if (!(await confirm(`Delete ${name}?`, `The queue and ${many(q.messages ?? 0, "message")} will be gone for good.`, "Delete queue"))) return;
    await act(`Queue ${name} is deleted.`, () => del(base), ["queues"]);
  };
  return html`
    <${Tasks} path=${`${base}/tasks`} />
    <div class="columns two">
      <${Card} title="Redrive dead letters">
        <div class="stack">
          <p class="soft">Sends each message of this queue back to the queue it came from, or to another one.</p>
          <${Form} label="Redrive" fields=${[pace, limit, { name: "to", label: "To queue", hint: "empty: the queue that each came from" }, selector]} button="Redrive" onSubmit=${start("Redriving", "redrive")} />
        </div>
      <//>
      <${Card} title="Move messages">
        <${Form} label="Move messages" fields=${[{ name: "to", label: "To queue", required: true }, limit, { ...pace, value: "", hint: "empty: no limit" }, selector]}
          button="Move" onSubmit=${start("Moving", "messages/move")} />
      <//>
      <${Card} title="Purge"><div class="stack"><p class="soft">Deletes all ready messages. Unacknowledged messages stay with their consumers.</p>
        <div class="row"><button class="danger" onClick=${purge}>Purge …</button></div></div><//>
      <${Card} title="Delete"><div class="stack"><p class="soft">Deletes the queue with all its messages and bindings.</p>
        <div class="row"><button class="danger" onClick=${remove}>Delete queue …</button></div></div><//>
    </div>`;
}
