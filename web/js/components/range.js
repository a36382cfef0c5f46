// The time range of charts, which is part of the address.
import { html } from "../html.js";
import { place, setQuery } from "../router.js";
import { spansOf } from "../samples.js";
import { useStore } from "../store.js";

/** The chosen range in seconds. */
export const useSpan = () => Number(useStore(place).query.span) || 600;

/**
 * The select for a range. of is the result of GET overview; only ranges with history are offered.
 */
export function Range({ span, of }) {
  const newest = of.queue_totals?.messages_details?.samples?.[0]?.timestamp ?? of.history_since;
  const offered = spansOf(newest - of.history_since);
  const chosen = offered.findLast(([s]) => s <= span) ?? offered[0];
  return html`
    <select aria-label="Time range of charts" value=${String(chosen[0])} onChange=${(e) => setQuery({ span: e.target.value })}>
      ${offered.map(([s, label]) => html`<option value=${String(s)} selected=${s === chosen[0]}>${label}</option>`)}
    </select>`;
}
