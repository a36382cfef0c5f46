import { farewell, login } from "../api.js";
import { Form } from "../components/form.js";
import { html } from "../html.js";
import { useStore } from "../store.js";

const fields = [
  { name: "user", label: "User", required: true, autocomplete: "username", wide: true },
  { name: "password", label: "Password", kind: "password", autocomplete: "current-password", wide: true },
];

export function Login() {
  const why = useStore(farewell);
  const local = ["127.0.0.1", "localhost", "[::1]"].includes(location.hostname);
  return html`
    <main class="login stack" id="main">
      <h1 class="row"><img src=${new URL("../../favicon.svg", import.meta.url).href} alt="" width="30" height="30" />Fiveways</h1>
      ${why && html`<div class="note warn" role="status">${why}</div>`}
      <div class="card"><div class="body">
        <${Form} label="Log in" fields=${fields} button="Log in" onSubmit=${({ user, password = "" }) => login(user, password)} />
      </div></div>
      ${local && html`<p class="soft small">On the machine of a new broker, user <code>guest</code> with password <code>guest</code> may log in.</p>`}
    </main>`;
}
