// Values that several parts of the page share.
import { useEffect, useState } from "./html.js";

/** A value that notifies its watchers when it changes. */
export function store(value) {
  const watchers = new Set();
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const w of watchers) w(value);
    },
    watch(w) {
      watchers.add(w);
      return () => watchers.delete(w);
    },
  };
}

/** The value of a store; a change renders the component again. */
export function useStore(s) {
  const [value, set] = useState(s.get());
  useEffect(() => {
    set(s.get());
    return s.watch(set);
  }, [s]);
  return value;
}
