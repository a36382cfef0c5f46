import { path, post } from "../api.js";
import { Card } from "../components/basics.js";
import { Message } from "../components/message.js";
import { act } from "../components/toasts.js";
import { count } from "../format.js";
import { html, useState } from "../html.js";

const lease = "60s";

/**
 * Takes one message as a consumer does: the page holds it until it is acknowledged or returned, or
 * a minute has passed.
 */
export function Take({ vhost, name, ready }) {
  const [taken, setTaken] = useState(null);
  const base = path`queues/${vhost}/${name}/messages`;
  const take = () => act((n) => (n ? "Taken: it is leased to you for one minute." : "No message is ready."), async () => {
    const { messages } = await post(`${base}/take?count=1&lease=${lease}`);
    setTaken(messages[0] ?? null);
    return messages.length;
  });
  const settle = (done, how, body) => act(done, async () => {
    const answer = await post(`${base}/${how}`, { tokens: [taken.token], ...body });
    setTaken(null);
    if (answer?.stale?.length > 0) throw new Error("Its lease of one minute ended: the message is in the queue again, or with another consumer.");
  });
  return html`
    <${Card} title="Take a message">
      <div class="stack">
        <p class="soft">Takes the next message as a consumer would. To browse without taking, use the Messages tab.</p>
        ${taken && html`
          <div class="card"><${Message} of=${taken} open=${true} key=${taken.token} /></div>
          <div class="row">
            <button class="primary" onClick=${() => settle("Acknowledged: the message is removed.", "ack")}>Acknowledge</button>
            <button onClick=${() => settle("It is back in the queue.", "nack", { requeue: true })}>Give back</button>
            <button class="danger" onClick=${() => settle("Rejected: it was dead-lettered or dropped.", "nack", { requeue: false })}>Reject</button>
          </div>`}
        ${!taken && html`<div class="row"><button class="primary" onClick=${take}>Take one</button><span class="soft small">${count(ready)} ready</span></div>`}
      </div>
    <//>`;
}
