// Confirmation dialogs, and forms above the page.
import { html, useEffect, useRef } from "../html.js";
import { store, useStore } from "../store.js";
import { Form } from "./form.js";

const open = store(null);

function show(dialog) {
  return new Promise((resolve) => open.set({ ...dialog, resolve }));
}

/** Asks for a confirmation; resolves to true or false. button is the label of the action. */
export const confirm = (title, text, button = "Delete") => show({ title, text, button });

/**
 * Asks for values (fields as in Form) and passes them to onSubmit. Resolves to true if that
 * succeeds, or false if it was cancelled.
 */
export const ask = (title, fields, button, onSubmit, text) => show({ title, fields, button, onSubmit, text });

export const Dialogs = () => {
  const d = useStore(open);
  return d && html`<${Dialog} ...${d} key=${d.title} />`;
};

function Dialog({ title, text, button, fields, onSubmit, resolve }) {
  const box = useRef(null);
  useEffect(() => {
    box.current.showModal(); // takes the focus, and gives it back
  }, []);
  // Escape closes the box by itself, and then the caller is told. A second answer has no effect.
  const close = (value) => {
    open.set(null);
    resolve(value);
  };
  // A form starts at its first field, a question at Cancel, so that pressing Enter too often
  // destroys nothing.
  const cancel = html`<button type="button" autofocus=${!fields} onClick=${() => close(false)}>Cancel</button>`;
  return html`
    <dialog ref=${box} aria-labelledby="dialog-title" onClose=${() => close(false)}>
      <div class="stack">
        <h2 id="dialog-title">${title}</h2>
        ${text && html`<p>${text}</p>`}
        ${fields
          ? html`<${Form} label=${title} fields=${fields} button=${button} extra=${cancel} onSubmit=${async (v) => { await onSubmit(v); close(true); }} />`
          : html`<div class="foot">
              <button type="button" class="primary danger" onClick=${() => close(true)}>${button}</button>${cancel}
            </div>`}
      </div>
    </dialog>`;
}
