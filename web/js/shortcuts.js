// Keyboard shortcuts: g and a letter for a view, / for the search, ? for the list of shortcuts.
import { refreshAll } from "./live.js";
import { go } from "./router.js";
import { store } from "./store.js";
import { toggleTheme } from "./theme.js";

/** [letter after g, target, title] */
export const leaps = [
  ["o", ["overview"], "overview"], ["q", ["queues"], "queues"], ["e", ["exchanges"], "exchanges"], ["t", ["topology"], "topology"],
  ["c", ["connections"], "connections"], ["h", ["channels"], "channels"], ["j", ["jobs"], "jobs"], ["s", ["semaphores"], "semaphores"],
  ["k", ["keys"], "keys"], ["u", ["users"], "users"], ["v", ["vhosts"], "virtual hosts"], ["p", ["policies"], "policies"], ["d", ["definitions"], "definitions"],
  ["n", ["nodes"], "nodes"], ["x", ["shovels"], "shovels"], ["a", ["audit"], "audit log"],
];

/** [keys, action] of the other shortcuts. */
export const others = [["/", "search"], ["r", "look again now"], ["l", "light or dark"], ["?", "this list"], ["Esc", "close"]];

export const helpShown = store(false);

const between = 1500; // ms in which the letter follows g
let leaping = 0;

const typing = (e) => e.target.closest("input, textarea, select, [contenteditable], dialog[open]") && e.key !== "Escape";

function onKey(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || typing(e)) return;
  if (Date.now() - leaping < between) {
    leaping = 0;
    const leap = leaps.find(([letter]) => letter === e.key);
    if (leap) go(leap[1]);
    return;
  }
  const keys = {
    g: () => { leaping = Date.now(); },
    r: refreshAll,
    l: toggleTheme,
    "?": () => helpShown.set(true),
    "/": () => {
      const search = document.querySelector("input[type=search]");
      if (search) e.preventDefault();
      search?.focus();
    },
  };
  keys[e.key]?.();
}

export const listenForKeys = () => addEventListener("keydown", onKey);
