import { Card, Empty, Head, Trouble } from "../components/basics.js";
import { Graph, ofBindings } from "../components/graph.js";
import { count } from "../format.js";
import { html, useMemo, useState } from "../html.js";
import { useLive } from "../live.js";
import { useVHostPath } from "../vhosts.js";

/** All exchanges and queues and what is bound to what, without the default exchange, to which every queue is bound. */
export function Topology() {
  const { data, error, loading } = useLive(useVHostPath("bindings"));
  const [text, setText] = useState("");
  const drawn = useMemo(() => {
    const meant = (b) => b.source !== "" && [b.source, b.destination, b.routing_key].some((s) => s.toLowerCase().includes(text.toLowerCase()));
    return ofBindings((data ?? []).filter(meant));
  }, [data, text]);
  return html`
    <${Head} title="Topology"><input type="search" placeholder="Names that contain" aria-label="Names that contain" value=${text} onInput=${(e) => setText(e.target.value)} /><//>
    <div class="stack">
      <${Trouble} error=${error} what="The topology" />
      ${loading && html`<p class="soft">Loading …</p>`}
      ${drawn.left > 0 && html`<div class="note">${count(drawn.left)} more bindings are not drawn: look for names, or choose a virtual host.</div>`}
      ${data && html`<${Card} title="Exchanges and queues" flush tools=${html`<span class="soft small">Drag to move, Ctrl and the mouse wheel to zoom.</span>`}>
        ${drawn.edges.length > 0 ? html`<${Graph} nodes=${drawn.nodes} edges=${drawn.edges} label="Exchanges and queues" tall=${760} />`
          : html`<${Empty} title=${text ? "No name matches." : "Nothing is bound yet."}><span>On the page of a queue, the tab Bindings binds it to an exchange.</span><//>`}
      <//>`}
    </div>`;
}
