// What RabbitMQ's management API tells of the past: {rate, samples: [{sample, timestamp}, …]}, the newest first.
import { useRef } from "./html.js";

/** How much of the past is asked for, of queues and exchanges: seconds. */
export const past = { lengths_age: 600, lengths_incr: 5, msg_rates_age: 600, msg_rates_incr: 5 };

/** [seconds, what they are called], of what the broker remembers of itself. */
export const spans = [["60", "last minute"], ["600", "last 10 minutes"], ["3600", "last hour"]];

/** The query for so many seconds of the past of the broker, in steps that a chart has room for. */
export function pastOf(seconds, ...what) {
  const step = Math.max(5, Math.ceil(seconds / 120 / 5) * 5);
  return Object.fromEntries(what.flatMap((w) => [[`${w}_age`, seconds], [`${w}_incr`, step]]));
}

const inOrder = (details) => [...(details?.samples ?? [])].reverse();

/** The points of something that goes up and down, of the last so many milliseconds; undefined when nothing is known of it. */
export function levels(of, name, age = Infinity) {
  const points = recent(inOrder(of?.[`${name}_details`]), age).map((s) => [s.timestamp, s.sample]);
  return points.length > 0 ? points : undefined;
}

// Before a broker was there its samples are 0.
const recent = (samples, age) => samples.filter((s) => s.timestamp >= samples.at(-1).timestamp - age);

/** The points per second of something that is counted. */
function rates(of, name, age = Infinity) {
  const all = recent(inOrder(of?.[`${name}_details`]), age);
  const points = all.slice(1).map((s, i) => [s.timestamp, Math.max(0, ((s.sample - all[i].sample) * 1000) / (s.timestamp - all[i].timestamp))]);
  return points.length > 0 ? points : undefined;
}

/** The series of a chart: what is counted, per second. */
export const rateSeries = (all, of, age) => all.map(([label, name]) => ({ label, points: rates(of, name, age), now: rateOf(of, name) }));

/** The series of a chart: what goes up and down. */
export const levelSeries = (all, of, age) => all.map(([label, name]) => ({ label, points: levels(of, name, age), now: of?.[name] }));

/** The rate now. */
export const rateOf = (of, name) => of?.[`${name}_details`]?.rate;

const kept = 360; // points that the page remembers by itself

/** Remembers a value from one look to the next, for what the broker keeps no history of. */
export function useRemembered(data, value) {
  const past = useRef({ data: undefined, points: [] });
  if (data !== past.current.data && Number.isFinite(value)) {
    past.current = { data, points: [...past.current.points.slice(1 - kept), [Date.now(), value]] };
  }
  return past.current.points.length > 0 ? past.current.points : undefined;
}
