// The limits of a user or of a virtual host.
import { del, put } from "../api.js";
import { count } from "../format.js";
import { html } from "../html.js";
import { refreshAll, useLive } from "../live.js";
import { Card } from "./basics.js";
import { Form } from "./form.js";
import { act, toast } from "./toasts.js";

/** path is the API's path below which each limit has its name. */
export function Limits({ path, names }) {
  const { data } = useLive(path);
  const now = data?.[0]?.value ?? {};
  const fields = [
    { name: "name", label: "Limit", kind: "select", options: names },
    { name: "value", label: "Value", kind: "number", step: 1, required: true, hint: "-1: no limit" },
  ];
  const set = async ({ name, value }) => {
    await put(`${path}/${name}`, { value });
    toast("The limit is set.");
    refreshAll();
  };
  return html`
    <${Card} title="Limits">
      <div class="stack">
        ${Object.entries(now).map(([k, v]) => html`<div class="row"><span>${k}</span><b>${count(v)}</b>
          <button onClick=${() => act("The limit is removed.", () => del(`${path}/${k}`))}>Remove</button></div>`)}
        <${Form} label="Set a limit" fields=${fields} button="Set" onSubmit=${set} reset />
      </div>
    <//>`;
}
