import { get, path, post } from "../api.js";
import { Card, Head } from "../components/basics.js";
import { act } from "../components/toasts.js";
import { html, useState } from "../html.js";
import { save } from "../save.js";
import { useStore } from "../store.js";
import { vhost } from "../vhosts.js";

/** Exports the definitions, without messages, to a file, and imports them from one. */
export function Definitions() {
  const chosen = useStore(vhost);
  const [file, setFile] = useState(null);
  const where = chosen ? path`definitions/${chosen}` : "definitions";
  const keep = () => act("Saved.", async () => {
    const text = JSON.stringify(await get(where), null, 2);
    save(`fiveways-${new Date().toISOString().slice(0, 10)}.json`, [text], "application/json");
  });
  const load = async (e) => {
    e.preventDefault();
    await act("Loaded: the definitions of the file are in place.", async () => post(where, JSON.parse(await file.text())));
  };
  const about = chosen ? `the virtual host ${chosen}` : "all virtual hosts, users and permissions";
  return html`
    <${Head} title="Definitions" />
    <div class="columns">
      <${Card} title="Save to a file"><div class="stack">
        <p class="soft">Exchanges, queues, bindings and policies of ${about}, as RabbitMQ writes them. No messages.</p>
        <div class="row"><button class="primary" onClick=${keep}>Save</button></div>
      </div><//>
      <${Card} title="Load from a file"><form class="stack" onSubmit=${load}>
        <p class="soft">A file of Fiveways or of RabbitMQ 3 or 4. What it names is added or changed in ${about}; nothing is deleted.</p>
        <input type="file" accept=".json,application/json" aria-label="File with definitions" required onChange=${(e) => setFile(e.target.files[0])} />
        <div class="row"><button class="primary" disabled=${!file}>Load</button></div>
      </form><//>
    </div>`;
}
