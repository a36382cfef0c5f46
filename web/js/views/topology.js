import { Card, Empty, Go, Head, Trouble } from "../components/basics.js";
import { Graph, neighbours, ofBindings } from "../components/graph.js";
import { count } from "../format.js";
import { html, useMemo } from "../html.js";
import { useLive } from "../live.js";
import { place, setQuery } from "../router.js";
import { useStore } from "../store.js";
import { useVHostPath } from "../vhosts.js";

const readable = 40; // nodes; of more a start is chosen first

/**
 * Exchanges, queues and their bindings, without the default exchange, to which every queue is
 * bound: all of them, or those near a start.
 */
export function Topology() {
  const { query: q } = useStore(place);
  const { data, error, loading } = useLive(useVHostPath("bindings"));
  const all = useMemo(() => ofBindings((data ?? []).filter((b) => b.source !== "")), [data]);
  const text = q.name ?? "";
  const found = useMemo(() => all.nodes.filter((n) => n.label.toLowerCase().includes(text.toLowerCase())), [all, text]);
  const start = all.nodes.find((n) => n.id === q.start);
  const far = Number(q.far) || 1;
  const drawn = useMemo(() => {
    if (start) return neighbours(all, [start.id], far);
    return text && found.length <= readable ? neighbours(all, found.map((n) => n.id), 1) : all;
  }, [all, start, far, text, found]);
  const tooMany = drawn.nodes.length > readable && !start;
  return html`
    <${Head} title="Topology">
      <input type="search" class="search" placeholder="Search ( / )" aria-label="Search: exchanges and queues" value=${text} onInput=${(e) => setQuery({ name: e.target.value || undefined, start: undefined })} />
    <//>
    <div class="stack">
      <${Trouble} error=${error} what="The topology" />
      ${loading && html`<p class="soft">Loading …</p>`}
      ${start && html`<div class="row">
        <span>Around <b>${start.label}</b></span>
        <label class="row small">Steps <select value=${String(far)} onChange=${(e) => setQuery({ far: e.target.value })}>${[1, 2, 3].map((n) => html`<option value=${String(n)} selected=${n === far}>${n}</option>`)}</select></label>
        <button onClick=${() => setQuery({ start: undefined, far: undefined })}>Show all</button>
        <${Go} class="button" to=${start.to}>Open ${start.kind}<//>
      </div>`}
      ${tooMany && html`<${Starts} nodes=${found} all=${all.nodes.length} />`}
      ${data && !tooMany && html`<${Card} title="Exchanges and queues" flush tools=${html`<span class="soft small">Drag to move, Ctrl and the mouse wheel to zoom.</span>`}>
        ${drawn.edges.length > 0 ? html`<${Graph} nodes=${drawn.nodes} edges=${drawn.edges} label="Exchanges and queues" tall=${760} />`
          : html`<${Empty} title=${text ? "No name matches." : "Nothing is bound yet."}><span>On the page of a queue, the tab Bindings binds it to an exchange.</span><//>`}
      <//>`}
    </div>`;
}

const most = 100; // starts that are listed

/**
 * The possible starts of a drawing of a large topology: exchanges first, those with the most
 * bindings before others.
 */
function Starts({ nodes, all }) {
  const order = [...nodes].sort((a, b) => (a.kind === b.kind ? b.degree - a.degree || (a.label < b.label ? -1 : 1) : a.kind === "exchange" ? -1 : 1));
  return html`
    <${Card} title="Choose a start" tools=${html`<span class="soft small">${count(all)} exchanges and queues are too many for one drawing.</span>`}>
      <ul class="starts">${order.slice(0, most).map((n) => html`
        <li key=${n.id}><button class="link" onClick=${() => setQuery({ start: n.id })}>${n.label}</button> <span class="soft small">${n.kind}, ${count(n.degree)} ${n.degree === 1 ? "binding" : "bindings"}</span></li>`)}</ul>
      ${order.length > most && html`<p class="soft small">${count(order.length - most)} more: search for a name.</p>`}
      ${order.length === 0 && html`<p class="soft">No name matches.</p>`}
    <//>`;
}
