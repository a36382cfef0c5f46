// The libraries in one place. All content of a template is text or an element, never markup.
import { h, render } from "../vendor/preact/preact.js";
import htm from "../vendor/htm/htm.js";

export const html = htm.bind(h);
export { render };
export { useEffect, useLayoutEffect, useMemo, useRef, useState } from "../vendor/preact/hooks.js";
