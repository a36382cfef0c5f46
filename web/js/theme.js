// Light or dark: the system's preference, until the user chooses.
import { store } from "./store.js";

const key = "fiveways.theme";
const system = matchMedia("(prefers-color-scheme: dark)");

/** The current theme, "light" or "dark". */
export const theme = store(document.documentElement.dataset.theme);

function apply(name) {
  document.documentElement.dataset.theme = name;
  theme.set(name);
}

/** Changes to the other theme and stores the choice. */
export function toggleTheme() {
  const next = theme.get() === "dark" ? "light" : "dark";
  localStorage.setItem(key, next);
  apply(next);
}

system.addEventListener("change", () => {
  if (!localStorage.getItem(key)) apply(system.matches ? "dark" : "light");
});
