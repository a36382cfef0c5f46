// The client of the HTTP API. The login is kept for this tab only.
import { store } from "./store.js";

const key = "fiveways.login";

/** The user who is logged in, as /api/whoami returns it, or null. */
export const session = store(null);

/** Why the last session ended, for the login form. */
export const farewell = store("");

/** Whether the broker answered when it was last asked. */
export const reached = store(true);

/**
 * An error answer: the status (0: there was no answer), a code for programs and a sentence for
 * people.
 */
class Refused extends Error {
  constructor(status, error, reason) {
    super(reason || error || `the broker answered with status ${status}`);
    this.status = status;
    this.error = error;
  }
}

/** path`queues/${vhost}/${name}` escapes the inserted values. */
export function path(strings, ...values) {
  return strings.reduce((text, s, i) => text + encodeURIComponent(values[i - 1]) + s);
}

/** A query for request. Values that are undefined, null or "" are omitted. */
export function query(values) {
  const q = new URLSearchParams();
  for (const [k, v] of Object.entries(values)) {
    if (v !== undefined && v !== null && v !== "") q.set(k, v);
  }
  const text = q.toString();
  return text ? `?${text}` : "";
}

// The login is added to each request here, not by the browser, which would open its own login
// window after a 401.
async function send(method, where, { body, signal, login = sessionStorage.getItem(key), headers = {} } = {}) {
  const options = { method, signal, credentials: "omit", cache: "no-store", headers: { ...headers, Authorization: `Basic ${login}` } };
  if (body !== undefined) {
    options.headers["Content-Type"] ??= "application/json";
    options.body = typeof body === "string" || body instanceof Blob ? body : JSON.stringify(body);
  }
  let answer;
  try {
    answer = await fetch(new URL(`api/${where}`, location.href.split("#")[0]), options);
  } catch (err) {
    if (err.name === "AbortError") throw err;
    reached.set(false);
    throw new Refused(0, "unreachable", "The broker cannot be reached. Is it running?");
  }
  reached.set(true);
  const text = await answer.text();
  let value = null;
  try {
    value = text ? JSON.parse(text) : null;
  } catch {
    if (answer.ok) throw new Refused(answer.status, "unreadable", "The answer is not JSON: is there a proxy in between?");
  }
  if (!answer.ok) throw new Refused(answer.status, value?.error, value?.reason);
  return value;
}

/**
 * Sends one request; the path is below /api/. Resolves to the answer's value, or null if it has
 * none.
 */
async function request(method, where, options) {
  try {
    return await send(method, where, options);
  } catch (err) {
    if (err.status === 401 && /^Login/.test(err.message)) logout("You were logged out: the broker no longer accepts this login.");
    throw err;
  }
}

export const get = (where, options) => request("GET", where, options);
export const put = (where, body = {}, options) => request("PUT", where, { ...options, body });
export const post = (where, body = {}, options) => request("POST", where, { ...options, body });
export const del = (where, options) => request("DELETE", where, options);

/** Logs in; rejects with Refused. */
export async function login(user, password) {
  const bytes = new TextEncoder().encode(`${user}:${password}`);
  const text = btoa(String.fromCharCode(...bytes));
  const who = await send("GET", "whoami", { login: text });
  sessionStorage.setItem(key, text);
  farewell.set("");
  session.set(who);
}

export function logout(why = "") {
  sessionStorage.removeItem(key);
  farewell.set(why);
  session.set(null);
}

/** Resumes the login of this tab, if there is one. */
export async function resume() {
  if (!sessionStorage.getItem(key)) return;
  try {
    session.set(await send("GET", "whoami"));
  } catch (err) {
    logout(err.message);
  }
}

/** Whether the user has one of the tags, or administrator, which includes all tags. */
export function hasTag(who, ...tags) {
  const own = Array.isArray(who?.tags) ? who.tags : String(who?.tags ?? "").split(",");
  return own.some((t) => t === "administrator" || tags.includes(t));
}
