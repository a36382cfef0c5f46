// Which view is shown: the part of the address behind #, such as #/queues/%2F/orders?tab=messages.
import { store } from "./store.js";

function parse(hash) {
  const [place, search = ""] = hash.replace(/^#\/?/, "").split("?");
  return { parts: place.split("/").filter(Boolean).map(decode), query: Object.fromEntries(new URLSearchParams(search)) };
}

function decode(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The current view as {parts, query}. */
export const place = store(parse(location.hash));

addEventListener("hashchange", () => place.set(parse(location.hash)));

/** A link: href(["queues", vhost, name], {tab: "messages"}). */
export function href(parts, query = {}) {
  const given = Object.entries(query).filter(([, v]) => v !== undefined && v !== "" && v !== null);
  const search = new URLSearchParams(given).toString();
  return `#/${parts.map(encodeURIComponent).join("/")}${search ? `?${search}` : ""}`;
}

export function go(parts, query) {
  location.hash = href(parts, query);
}

/** Changes the query of the address without a history entry. */
export function setQuery(change) {
  const { parts, query } = place.get();
  history.replaceState(null, "", href(parts, { ...query, ...change }));
  place.set(parse(location.hash));
}
