// The history in RabbitMQ's management API: {rate, samples: [{sample, timestamp}, …]}, the newest
// first.

/** The history to request for queues and exchanges, in seconds. */
export const past = { lengths_age: 600, lengths_incr: 5, msg_rates_age: 600, msg_rates_incr: 5 };

// [seconds, title] of the ranges for which the broker keeps its own history.
const spans = [[60, "last minute"], [600, "last 10 minutes"], [3600, "last hour"], [86400, "last 24 hours"]];

/** The ranges that show more than the previous one, for a history of this many ms. */
export const spansOf = (history) => spans.filter((s, i) => i === 0 || history > spans[i - 1][0] * 1000);

/** The query for this many seconds of the broker's history, in steps that fit into a chart. */
export function pastOf(seconds, ...what) {
  const step = Math.max(5, Math.ceil(seconds / 120 / 5) * 5);
  return Object.fromEntries(what.flatMap((w) => [[`${w}_age`, seconds], [`${w}_incr`, step]]));
}

const inOrder = (details) => [...(details?.samples ?? [])].reverse();

/** The points of a gauge from a time on (ms), or undefined if there is no data. */
export function levels(of, name, since = 0) {
  const points = from(inOrder(of?.[`${name}_details`]), since).map((s) => [s.timestamp, s.sample]);
  return points.length > 0 ? points : undefined;
}

// Samples before the beginning of the history are 0.
const from = (samples, since) => samples.filter((s) => s.timestamp >= since);

/**
 * The points of one quantile of latencies, [{timestamp, fsync: {p50, p99}, …}, …], the newest
 * first, with gaps where nothing was measured.
 */
export function quantiles(samples, name, quantile) {
  const points = [...(samples ?? [])].reverse().map((s) => [s.timestamp, s[name]?.[quantile] ?? null]);
  return points.some(([, v]) => v !== null) ? points : undefined;
}

/** The points of a counter, per second. */
function rates(of, name, since = 0) {
  const all = from(inOrder(of?.[`${name}_details`]), since);
  const points = all.slice(1).map((s, i) => [s.timestamp, Math.max(0, ((s.sample - all[i].sample) * 1000) / (s.timestamp - all[i].timestamp))]);
  return points.length > 0 ? points : undefined;
}

/** The series of a chart of counters, per second. */
export const rateSeries = (all, of, since) => all.map(([label, name]) => ({ label, points: rates(of, name, since), now: rateOf(of, name) }));

/** The series of a chart of gauges. */
export const levelSeries = (all, of, since) => all.map(([label, name]) => ({ label, points: levels(of, name, since), now: of?.[name] }));

/** The current rate. */
export const rateOf = (of, name) => of?.[`${name}_details`]?.rate;
