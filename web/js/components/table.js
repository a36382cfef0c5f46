// Tables: of a listing that the broker pages and sorts, or of rows that are all in the browser.
import { query as toQuery } from "../api.js";
import { html, useEffect, useState } from "../html.js";
import { count } from "../format.js";
import { useLive } from "../live.js";
import { place, setQuery } from "../router.js";
import { useStore } from "../store.js";
import { Empty, Trouble } from "./basics.js";

const pageSizes = [50, 100, 250, 500];
const typing = 250; // ms that a search waits for the next letter

/**
 * The table of one listing; path is below /api/. Each column is {key, title, show(row), number,
 * wide}; key is the path of the field by which it is sorted. Page, order and search are part of the
 * address. Lists that the broker does not page are paged here. empty is shown if the list is empty.
 */
export function Listing({ path, columns, extra = {}, empty, label, rowKey, searchable = true }) {
  const { query } = useStore(place);
  const page = Math.max(1, Number(query.page) || 1);
  const size = Number(query.size) || pageSizes[1];
  const asked = { page, page_size: size, name: query.name, use_regex: query.regex, sort: query.sort, sort_reverse: query.down, ...extra };
  if (!query.name) delete asked.use_regex;
  const { data, error, loading } = useLive(path + toQuery(asked));
  const list = Array.isArray(data) ? pageHere(data, asked) : data;

  // If the page no longer exists, because there are fewer pages now, the first one is shown.
  useEffect(() => {
    if (error?.status === 400 && page > 1) setQuery({ page: undefined });
  }, [error]);

  if (loading && !list) return html`<p class="soft" role="status">Loading …</p>`;
  if (!list || (error && list.total_count === 0)) return html`<${Trouble} error=${error} what=${label} />`;
  if (list.total_count === 0 && !query.name) return empty ?? html`<div class="card"><${Empty} title="Nothing is here." /></div>`;
  return html`
    <div class="stack">
      ${error && html`<${Trouble} error=${error} what=${label} />`}
      <div class="row">
        ${searchable && html`<${Search} value=${query.name ?? ""} regex=${query.regex === "true"} label=${label} />`}
        <span class="soft small" role="status">${count(list.filtered_count)} of ${count(list.total_count)}</span>
        <span class="room"></span>
        <${Pager} page=${list.page} pages=${list.page_count} size=${size} />
      </div>
      <div class="card"><${Rows} columns=${columns} rows=${list.items} label=${label} rowKey=${rowKey} sort=${query.sort} down=${query.down === "true"}
        onSort=${(key) => setQuery({ sort: key, down: query.sort === key && query.down !== "true" ? "true" : undefined, page: undefined })} /></div>
      ${list.items.length === 0 && html`<p class="soft">No name matches.</p>`}
    </div>`;
}

function Search({ value, regex, label }) {
  const [text, setText] = useState(value);
  useEffect(() => {
    if (text === value) return undefined;
    const timer = setTimeout(() => setQuery({ name: text || undefined, page: undefined }), typing);
    return () => clearTimeout(timer);
  }, [text]);
  return html`
    <input type="search" class="search" aria-label=${`Search: ${label}`} placeholder="Search ( / )" value=${text} onInput=${(e) => setText(e.target.value)} />
    <label class="row small"><input type="checkbox" checked=${regex} onChange=${(e) => setQuery({ regex: e.target.checked ? "true" : undefined })} />regular expression</label>`;
}

const Pager = ({ page, pages, size }) => html`
  <span class="row">
    ${pages > 1 && html`
      <button onClick=${() => setQuery({ page: page - 1 })} disabled=${page <= 1} aria-label="Previous page">‹</button>
      <span class="small">${count(page)} / ${count(pages)}</span>
      <button onClick=${() => setQuery({ page: page + 1 })} disabled=${page >= pages} aria-label="Next page">›</button>`}
    <select aria-label="Rows per page" value=${String(size)} onChange=${(e) => setQuery({ size: e.target.value, page: undefined })}>
      ${pageSizes.map((n) => html`<option value=${String(n)} selected=${n === size}>${n} rows</option>`)}
    </select>
  </span>`;

/** Plain rows, with columns as in Listing. */
export const Rows = ({ columns, rows, label, rowKey = (r) => r.name, sort, down, onSort }) => html`
  <div class="scroll" tabindex="0" role="region" aria-label=${label}>
    <table>
      <thead><tr>${columns.map((c) => html`
        <th scope="col" class=${classes(c)} aria-sort=${c.key && c.key === sort ? (down ? "descending" : "ascending") : null}>
          ${onSort && c.key ? html`<button type="button" onClick=${() => onSort(c.key)}>${c.title}${c.key === sort ? (down ? " ▾" : " ▴") : ""}</button>` : c.title}
        </th>`)}</tr></thead>
      <tbody>${rows.map((r, i) => html`
        <tr key=${rowKey(r) ?? i}>${columns.map((c) => html`<td class=${classes(c)}>${c.show ? c.show(r) : field(r, c.key)}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`;

const classes = (c) => [c.number && "number", c.wide && "wide-only", c.title === "" && "actions", c.class].filter(Boolean).join(" ") || null;

const field = (row, key) => key.split(".").reduce((v, k) => v?.[k], row);

// pageHere pages, filters and sorts rows as the broker does for its listings.
function pageHere(all, { page, page_size, name = "", use_regex, sort, sort_reverse }) {
  const matches = use_regex === "true" ? regexOf(name) : (text) => text.toLowerCase().includes(name.toLowerCase());
  const found = all.filter((r) => matches(String(r.name ?? r.user ?? r.key ?? r.queue?.name ?? "")));
  if (sort) {
    const by = (r) => field(r, sort) ?? "";
    found.sort((a, b) => (by(a) < by(b) ? -1 : by(a) > by(b) ? 1 : 0) * (sort_reverse === "true" ? -1 : 1));
  }
  const pages = Math.max(1, Math.ceil(found.length / page_size));
  const at = Math.min(page, pages);
  const items = found.slice((at - 1) * page_size, at * page_size);
  return { items, page: at, page_count: pages, filtered_count: found.length, total_count: all.length };
}

function regexOf(text) {
  try {
    const r = new RegExp(text);
    return (name) => r.test(name);
  } catch {
    return () => false;
  }
}
