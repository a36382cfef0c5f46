// Polling.
import { get } from "./api.js";
import { useEffect, useLayoutEffect, useRef, useState } from "./html.js";
import { store, useStore } from "./store.js";

const key = "fiveways.interval";

/** The polling interval in milliseconds; 0 polls only on request. */
export const interval = store(Number(localStorage.getItem(key) ?? 5000));

export function chooseInterval(ms) {
  localStorage.setItem(key, ms);
  interval.set(ms);
}

/** A change refreshes everything that is shown, at once. */
const refresh = store(0);
export const refreshAll = () => refresh.set(refresh.get() + 1);

/**
 * The number of parts of the page without a first answer. A view is shown when it is 0, so that
 * nothing jumps.
 */
export const waiting = store(0);

/** Counts a part as waiting; the caller calls the result when the part has its answer. */
function useWaiting(waits) {
  const settle = useRef(() => {});
  useLayoutEffect(() => {
    if (!waits) return undefined;
    waiting.set(waiting.get() + 1);
    settle.current = () => {
      settle.current = () => {};
      waiting.set(waiting.get() - 1);
    };
    return () => settle.current();
  }, []);
  return settle;
}

/**
 * The result of GET where, polled while the page is visible. After an error the previous value
 * stays. A null path requests nothing. once: requested once, and by refreshAll.
 */
export function useLive(where, { once = false } = {}) {
  const every = useStore(interval);
  const wanted = useStore(refresh);
  const [state, setState] = useState({ where, data: undefined, error: null });
  const timer = useRef(0);
  const settle = useWaiting(where !== null);

  useEffect(() => {
    if (where === null) return undefined;
    const control = new AbortController();
    const look = async () => {
      if (document.hidden) {
        document.addEventListener("visibilitychange", look, { once: true, signal: control.signal });
        return;
      }
      try {
        const data = await get(where, { signal: control.signal });
        setState({ where, data, error: null });
      } catch (error) {
        if (control.signal.aborted) return;
        setState((s) => ({ where, data: s.where === where ? s.data : undefined, error }));
      }
      settle.current();
      if (every && !once && !control.signal.aborted) timer.current = setTimeout(look, every);
    };
    look();
    return () => {
      control.abort();
      clearTimeout(timer.current);
    };
  }, [where, every, wanted, once]);

  const fresh = state.where === where;
  // While the next page is loading, the previous one stays on the screen.
  return { data: state.data, error: fresh ? state.error : null, loading: state.data === undefined && !state.error };
}
