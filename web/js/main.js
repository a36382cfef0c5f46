// Starts the page: logs in if this tab has a login, and shows the view that the address names.
import { resume, session } from "./api.js";
import { Head } from "./components/basics.js";
import { Shell } from "./components/shell.js";
import { html, render, useEffect } from "./html.js";
import { place } from "./router.js";
import { listenForKeys } from "./shortcuts.js";
import { useStore } from "./store.js";
import * as access from "./views/access.js";
import { Audit } from "./views/audit.js";
import { Channels } from "./views/channels.js";
import { Connection, Connections } from "./views/connections.js";
import { Definitions } from "./views/definitions.js";
import { Exchange } from "./views/exchange.js";
import { Exchanges } from "./views/exchanges.js";
import { JobQueue } from "./views/job-queue.js";
import { Jobs } from "./views/jobs.js";
import { Keys } from "./views/keys.js";
import { Login } from "./views/login.js";
import { Node, Nodes } from "./views/nodes.js";
import { Overview } from "./views/overview.js";
import { Policies } from "./views/policies.js";
import { Queue } from "./views/queue.js";
import { Queues } from "./views/queues.js";
import { Semaphore, Semaphores } from "./views/semaphores.js";
import { Shovels } from "./views/shovels.js";
import { Topology } from "./views/topology.js";
import { VHost, VHosts } from "./views/vhosts.js";

// Views by the first part of the place: [of the list, of one object, how many further parts name
// the object].
const views = {
  overview: [Overview], queues: [Queues, Queue, 2], exchanges: [Exchanges, Exchange, 2], topology: [Topology],
  connections: [Connections, Connection, 1], channels: [Channels], jobs: [Jobs, JobQueue, 2], semaphores: [Semaphores, Semaphore, 2],
  keys: [Keys], users: [access.Users, access.User, 1], vhosts: [VHosts, VHost, 1], policies: [Policies], definitions: [Definitions],
  nodes: [Nodes, Node, 1], shovels: [Shovels], audit: [Audit],
};

const Lost = () => html`<${Head} title="Page not found" /><p>Choose one from the navigation.</p>`;

function viewOf(parts) {
  const [list, one, names] = views[parts[0] ?? "overview"] ?? [];
  if (parts.length <= 1) return list ?? Lost;
  return one && parts.length === names + 1 ? one : Lost;
}

function App() {
  const who = useStore(session);
  const { parts } = useStore(place);
  const title = parts.slice().reverse().join(" – ");
  useEffect(() => {
    document.title = title ? `${title} – Fiveways` : "Fiveways";
  }, [title]);
  if (!who) return html`<${Login} />`;
  const View = viewOf(parts);
  // Each object has its own view, so that nothing of the previous one stays in the forms.
  return html`<${Shell}><${View} key=${parts.join("/")} names=${parts.slice(1)} /><//>`;
}

listenForKeys();
await resume();
render(html`<${App} />`, document.getElementById("page"));
