// Numbers, sizes and times in a form for people.
const groups = new Intl.NumberFormat("en");

/** 12,345; a dash if it is not a number. */
export const count = (n) => (Number.isFinite(n) ? groups.format(Math.round(n)) : "–");

/** 1 message, 2 messages. */
export const many = (n, what) => `${count(n)} ${what}${n === 1 ? "" : "s"}`;

/** 1.2k, for axes and narrow columns. */
export function short(n) {
  if (!Number.isFinite(n)) return "–";
  for (const [size, letter] of [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]) {
    if (Math.abs(n) >= size) return `${trim(n / size)}${letter}`;
  }
  return trim(n);
}

const trim = (n) => String(Number(n.toFixed(Math.abs(n) < 10 ? 2 : 1)));

/** A rate per second. */
export const rate = (n) => (Number.isFinite(n) ? `${n >= 100 ? count(n) : trim(n)}/s` : "–");

/** Bytes in powers of 1024. */
export function bytes(n) {
  if (!Number.isFinite(n)) return "–";
  for (const [size, unit] of [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]]) {
    if (n >= size) return `${trim(n / size)} ${unit}`;
  }
  return `${n} B`;
}

/** Bytes per second. */
export const bytesRate = (n) => (Number.isFinite(n) ? `${bytes(Math.round(n))}/s` : "–");

/** Milliseconds. */
export function millis(n) {
  if (!Number.isFinite(n)) return "–";
  return n < 1000 ? `${trim(n)} ms` : duration(n);
}

/** A duration in milliseconds: 3 d 4 h. */
export function duration(ms) {
  const s = Math.floor(ms / 1000);
  const parts = [[Math.floor(s / 86400), "d"], [Math.floor(s / 3600) % 24, "h"], [Math.floor(s / 60) % 60, "min"], [s % 60, "s"]].filter(([n]) => n > 0);
  return parts.slice(0, 2).map(([n, unit]) => `${n} ${unit}`).join(" ") || "0 s";
}

/** A time as 2026-11-29 01:32:52, in the time zone of the browser, given as RFC 3339, or as milliseconds or seconds since 1970. */
export function time(value) {
  if (value === undefined || value === null || value === "") return "–";
  const at = new Date(typeof value === "number" && value < 1e11 ? value * 1000 : value);
  if (Number.isNaN(at.getTime())) return String(value);
  const two = (n) => String(n).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":")}`;
}

/** A value of any kind in one line. */
export const inline = (v) => (typeof v === "string" ? v : JSON.stringify(v));

/**
 * JSON text with one line per value, or null if it is not JSON. It indents the text without parsing
 * numbers, which keep all their digits.
 */
export function prettyJSON(text) {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    JSON.parse(text);
  } catch {
    return null;
  }
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g);
  let depth = 0;
  let out = "";
  const line = () => `\n${"  ".repeat(depth)}`;
  tokens.forEach((t, i) => {
    const opens = t === "{" || t === "[";
    const closes = t === "}" || t === "]";
    if (closes) depth--;
    if (closes && !"[{".includes(tokens[i - 1])) out += line();
    out += t === ":" ? ": " : t;
    if (opens) depth++;
    if (t === "," || (opens && !"]}".includes(tokens[i + 1]))) out += line();
  });
  return out;
}

/** The bytes that base64 encodes. */
export const bytesOfBase64 = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));

/** Bytes, given as base64, escaped for a path. */
export const escapeBase64 = (text) => Array.from(bytesOfBase64(text), (b) => `%${b.toString(16).padStart(2, "0")}`).join("");
