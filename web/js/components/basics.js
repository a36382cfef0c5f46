// Small parts that every view uses.
import { reached } from "../api.js";
import { html } from "../html.js";
import { href } from "../router.js";
import { useStore } from "../store.js";
import { toast } from "./toasts.js";

/** A link to a view of this page. */
export const Go = ({ to, query, children, ...rest }) => html`<a href=${href(to, query)} ...${rest}>${children}</a>`;

/** A box with a title; tools are shown beside the title. */
export const Card = ({ title, tools, flush, children, ...rest }) => html`
  <section class="card" ...${rest}>
    ${title && html`<header><h2>${title}</h2><span class="room"></span>${tools}</header>`}
    <div class=${flush ? "body flush" : "body"}>${children}</div>
  </section>`;

/** A box that opens on demand. */
export const Fold = ({ title, open, children }) => html`
  <details class="card" open=${open}><summary>${title}</summary><div class="body">${children}</div></details>`;

/** The title of a view; crumbs are the views above it: [[label, parts], …]. */
export const Head = ({ title, crumbs = [], children }) => html`
  <div class="head">
    <div>
      ${crumbs.length > 0 && html`<nav class="crumbs small" aria-label="Above this">
        ${crumbs.map(([label, to]) => html`<${Go} to=${to}>${label}<//> › `)}
      </nav>`}
      <h1>${title}</h1>
    </div>
    <span class="room"></span>
    ${children}
  </div>`;

export const Chip = ({ kind = "", children }) => html`<span class="chip ${kind}">${children}</span>`;

/** Names and values; pairs with undefined values are omitted. */
export const Facts = ({ of }) => html`
  <dl class="facts">
    ${of.filter(([, v]) => v !== undefined && v !== null && v !== "").map(([k, v]) => html`<dt>${k}</dt><dd>${v === true ? "yes" : v === false ? "no" : v}</dd>`)}
  </dl>`;

/** A figure with its name. */
export const Tile = ({ name, value, note, to, query }) => {
  const inside = html`<div class="name">${name}</div><div class="value">${value}</div>${note && html`<div class="aside">${note}</div>`}`;
  return to ? html`<${Go} class="tile" to=${to} query=${query}>${inside}<//>` : html`<div class="tile">${inside}</div>`;
};

/** The text of an empty list, with the next step. Without an answer from the broker it is unknown whether the list is empty. */
export const Empty = ({ title, children }) => html`
  <div class="empty">${useStore(reached) ? html`<strong>${title}</strong>${children}` : "Unknown while the broker cannot be reached."}</div>`;

/**
 * Why something could not be shown. A feature that this broker does not have is not an error. That
 * the broker cannot be reached is said above every view.
 */
export function Trouble({ error, what = "This" }) {
  if (!error || error.status === 0) return null;
  if (error.status === 404 || error.status === 405) {
    return html`<div class="note">${what} is not there (${error.message}).</div>`;
  }
  if (error.status === 401 || error.status === 403) {
    return html`<div class="note warn">${what} is not for this user: ${error.message}. An administrator can grant that under Users.</div>`;
  }
  return html`<div class="note bad" role="alert">${error.message}</div>`;
}

/** Tabs that are part of the address; of is [[id, label], …]. */
export const Tabs = ({ of, current, to, label }) => html`
  <nav class="tabs" aria-label=${label}>
    ${of.map(([id, name]) => html`<${Go} to=${to} query=${{ tab: id }} aria-current=${id === current ? "page" : null}>${name}<//>`)}
  </nav>`;

/** A command for what, with a button that copies it. */
export function Command({ text, what }) {
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      toast("Copied.");
    } catch {
      toast("The browser does not allow copying; select the text instead.", "bad");
    }
  };
  return html`<div class="command"><code>${text}</code><button type="button" onClick=${copy} aria-label=${`Copy the command for ${what}`}>Copy</button></div>`;
}
