// Short notices in the corner: what was done, or why it failed.
import { html } from "../html.js";
import { refreshAll } from "../live.js";
import { go } from "../router.js";
import { store, useStore } from "../store.js";

const seen = 6000; // ms; what went wrong stays until it is closed
const notices = store([]);
let last = 0;

const drop = (id) => notices.set(notices.get().filter((n) => n.id !== id));

export function toast(text, kind = "good") {
  const id = ++last;
  // Only the last success is kept: a pile of them would hide the page.
  const before = notices.get().filter((n) => n.kind === "bad").slice(-3);
  notices.set([...before, { id, text, kind }]);
  if (kind !== "bad") setTimeout(() => drop(id), seen);
}

/**
 * Does something that changes the broker, reports the result, and refreshes what is shown, or goes
 * to the view away if the object is gone. Resolves to whether it succeeded.
 */
export async function act(done, fn, away) {
  try {
    const value = await fn();
    toast(typeof done === "function" ? done(value) : done);
    if (away) {
      addEventListener("hashchange", refreshAll, { once: true });
      go(away);
    } else {
      refreshAll();
    }
    return true;
  } catch (err) {
    toast(err.message, "bad");
    return false;
  }
}

export const Toasts = () => html`
  <div class="toasts" role="status" aria-live="polite">
    ${useStore(notices).map((n) => html`
      <div class="note ${n.kind}" key=${n.id}>
        <span>${n.text}</span>
        <button class="plain" aria-label="Close this notice" onClick=${() => drop(n.id)}>×</button>
      </div>`)}
  </div>`;
