// The frame of every view: the bar, the navigation, notices and dialogs.
import { hasTag, logout, reached, session } from "../api.js";
import { html, useEffect, useRef, useState } from "../html.js";
import { chooseInterval, interval, useLive, waiting } from "../live.js";
import { href, place } from "../router.js";
import { helpShown, leaps, others } from "../shortcuts.js";
import { useStore } from "../store.js";
import { theme, toggleTheme } from "../theme.js";
import { chooseVHost, useVHosts, vhost } from "../vhosts.js";
import { Dialogs } from "./dialogs.js";
import { Toasts } from "./toasts.js";

// An entry without a place begins a section. The third element is the tag that it requires.
const entries = [
  ["Overview", "overview"], ["Nodes", "nodes", "monitoring"],
  ["Messages"], ["Queues", "queues"], ["Exchanges", "exchanges"], ["Topology", "topology"], ["Jobs", "jobs"], ["Shovels", "shovels", "monitoring"],
  ["Clients"], ["Connections", "connections"], ["Channels", "channels"],
  ["Coordination"], ["Semaphores", "semaphores"], ["Keys", "keys", "administrator"],
  ["Administration"], ["Users", "users", "administrator"], ["Virtual hosts", "vhosts"], ["Policies", "policies", "policymaker"],
  ["Definitions", "definitions", "administrator"], ["Audit log", "audit", "administrator"],
];

export function Shell({ children }) {
  const { parts, query } = useStore(place);
  const [open, setOpen] = useState(false);
  const main = useRef(null);
  const first = useRef(true);
  const waits = useStore(waiting) > 0;
  const where = parts.join("/");
  // Only what was just navigated to is hidden: what opens later in a view must not lose the focus.
  const at = `${where}?${query.tab ?? ""}`;
  const [arrived, setArrived] = useState("");
  useEffect(() => {
    if (waiting.get() === 0) setArrived(at);
  }, [at, waits]);
  useEffect(() => {
    setOpen(false);
    // A screen reader announces the view. The first view leaves the focus where the browser has it.
    if (!first.current) main.current.focus({ preventScroll: true });
    first.current = false;
    scrollTo(0, 0);
  }, [where]);
  return html`
    <a class="skip" href="#main" onClick=${(e) => { e.preventDefault(); main.current.focus(); }}>Skip to the content</a>
    <${Bar} onMenu=${() => setOpen(!open)} open=${open} />
    <div class="frame">
      <${Nav} at=${parts[0] ?? "overview"} open=${open} />
      <main id="main" tabindex="-1" ref=${main}><div class=${waits && arrived !== at ? "waiting" : ""}><${Notices} />${children}</div></main>
    </div>
    <${Toasts} /><${Dialogs} /><${Help} />`;
}

const shortages = {
  memory: html`Memory is short: publishers are blocked until queues are emptied. More memory: setting <code>memory_limit</code>.`,
  disk: html`The disk is nearly full: publishers are blocked until there is room. The bound is the setting <code>disk_free_limit</code>.`,
};

/** The problems of the broker, shown above every view. */
function Notices() {
  const { data } = useLive("overview?columns=alarms");
  const here = useStore(reached);
  const said = [...(here ? [] : ["The broker cannot be reached. Is it running?"]), ...(data?.alarms ?? []).map((a) => shortages[a])];
  return said.length > 0 && html`<div class="notices stack">${said.map((text) => html`<div class="note bad" role="alert">${text}</div>`)}</div>`;
}

function Bar({ onMenu, open }) {
  const who = useStore(session);
  const every = useStore(interval);
  const chosen = useStore(vhost);
  const names = useVHosts();
  const dark = useStore(theme) === "dark";
  return html`
    <header class="bar">
      <button class="menu" aria-expanded=${open} aria-controls="navigation" onClick=${onMenu}>Menu</button>
      <a class="brand" href=${href(["overview"])} aria-label="Fiveways: overview"><img src=${new URL("../../favicon.svg", import.meta.url).href} alt="" /><span>Fiveways</span></a>
      <span class="room"></span>
      ${(names.length > 1 || chosen) && html`
        <select key="vhost" class="vhost" aria-label="Virtual host" value=${chosen} onChange=${(e) => chooseVHost(e.target.value)}>
          <option value="" selected=${chosen === ""}>All virtual hosts</option>
          ${names.map((n) => html`<option value=${n} selected=${n === chosen}>${n}</option>`)}
        </select>`}
      <select key="interval" class="wide-only" aria-label="Refresh interval" value=${String(every)} onChange=${(e) => chooseInterval(Number(e.target.value))}>
        ${[[2000, "every 2 s"], [5000, "every 5 s"], [30000, "every 30 s"], [0, "by hand (r)"]].map(([ms, label]) => html`
          <option value=${String(ms)} selected=${ms === every}>${label}</option>`)}
      </select>
      <button class="icon" aria-label=${dark ? "Light" : "Dark"} title=${`${dark ? "Light" : "Dark"} (l)`} onClick=${toggleTheme}>${dark ? "☀" : "☾"}</button>
      <span class="who">${who.name}</span>
      <button onClick=${() => logout()}>Log out</button>
    </header>`;
}

function Nav({ at, open }) {
  const who = useStore(session);
  const seen = entries.filter(([, , tag]) => !tag || hasTag(who, tag));
  return html`
    <nav id="navigation" class=${open ? "nav open" : "nav"} aria-label="Main">
      <ul>
        ${seen.map(([label, to]) => to
          ? html`<li><a href=${href([to])} aria-current=${to === at ? "page" : null}>${label}</a></li>`
          : html`<li class="section">${label}</li>`)}
        <li class="section">Help</li>
        <li><button class="link" onClick=${() => helpShown.set(true)}>Keyboard</button></li>
      </ul>
    </nav>`;
}

function Help() {
  const shown = useStore(helpShown);
  const box = useRef(null);
  useEffect(() => {
    if (shown) box.current.showModal();
  }, [shown]);
  if (!shown) return null;
  const close = () => helpShown.set(false);
  return html`
    <dialog ref=${box} aria-labelledby="help-title" onClose=${() => helpShown.set(false)}>
      <div class="stack">
        <h2 id="help-title">Keys</h2>
        <dl class="facts">
          ${leaps.map(([letter, , what]) => html`<dt><kbd>g</kbd> <kbd>${letter}</kbd></dt><dd>${what}</dd>`)}
          ${others.map(([key, what]) => html`<dt><kbd>${key}</kbd></dt><dd>${what}</dd>`)}
        </dl>
        <div class="foot"><button class="primary" onClick=${close}>Close</button></div>
      </div>
    </dialog>`;
}
