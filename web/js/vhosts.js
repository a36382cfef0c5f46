// The selected virtual host: one, or "" for all.
import { store, useStore } from "./store.js";
import { useLive } from "./live.js";
import { path } from "./api.js";

const key = "fiveways.vhost";
export const vhost = store(sessionStorage.getItem(key) ?? "");

export function chooseVHost(name) {
  sessionStorage.setItem(key, name);
  vhost.set(name);
}

/** The names of the virtual hosts that the user may see. */
export function useVHosts() {
  const { data } = useLive("vhosts?columns=name", { once: true });
  return (data ?? []).map((v) => v.name);
}

/** The form field for choosing a virtual host. */
export function useVHostField() {
  const chosen = useStore(vhost);
  const names = useVHosts();
  const value = chosen || (names.includes("/") ? "/" : names[0]) || "/";
  return { name: "vhost", label: "Virtual host", kind: "select", options: names.length > 0 ? names : [value], value };
}

/** The path of a listing of all virtual hosts, or of the selected one. */
export function useVHostPath(base) {
  const chosen = useStore(vhost);
  return chosen ? base + path`/${chosen}` : base;
}
