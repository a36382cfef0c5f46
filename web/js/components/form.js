// Forms from a list of fields.
import { html, useState } from "../html.js";

let made = 0;

/**
 * A form. Each field is {name, label, kind, hint, value, options, required, wide, placeholder,
 * pattern}; kind is text (default), number, check, select, area, json or password. Fields with more
 * are hidden below the label given by the prop more until the user opens them. onSubmit gets the
 * values by name: numbers as numbers, json as values, empty ones as undefined. An error that it
 * throws is shown above the button.
 */
export function Form({ fields, button = "Save", onSubmit, extra, reset = false, label, more }) {
  const [id] = useState(() => `form${++made}`);
  const [values, setValues] = useState({}); // changed values; others come from the fields, even if those arrive later
  const valueOf = (f) => values[f.name] ?? f.value ?? (f.kind === "check" ? false : f.kind === "select" ? first(f) : "");
  const [state, setState] = useState({ busy: false, error: "" });

  const submit = async (e) => {
    e.preventDefault();
    setState({ busy: true, error: "" });
    try {
      await onSubmit(read(fields, valueOf));
      if (reset) setValues({});
      setState({ busy: false, error: "" });
    } catch (err) {
      setState({ busy: false, error: err.message });
    }
  };
  const set = (name, value) => setValues((v) => ({ ...v, [name]: value }));

  const shown = (f) => html`<${Field} key=${f.name} id=${`${id}-${f.name}`} field=${f} value=${valueOf(f)} onChange=${(v) => set(f.name, v)} />`;
  const rare = fields.filter((f) => f.more);
  return html`
    <form class="form" onSubmit=${submit} aria-label=${label}>
      ${fields.filter((f) => !f.more).map(shown)}
      ${rare.length > 0 && html`<details class="more"><summary>${more}</summary><div class="form">${rare.map(shown)}</div></details>`}
      ${state.error && html`<div class="note bad" role="alert">${state.error}</div>`}
      <div class="foot"><button class="primary" disabled=${state.busy}>${button}</button>${extra}</div>
    </form>`;
}

const first = (f) => optionOf(f.options[0])[0];
const optionOf = (o) => (Array.isArray(o) ? o : [o, o]);

function read(fields, valueOf) {
  const out = {};
  for (const f of fields) {
    const v = valueOf(f);
    if (v === "") continue;
    out[f.name] = v;
    if (f.kind === "number") out[f.name] = Number(v);
    if (f.kind === "json") {
      try {
        out[f.name] = JSON.parse(v);
      } catch (err) {
        throw new Error(`${f.label}: not JSON (${err.message})`);
      }
    }
  }
  return out;
}

function Field({ id, field: f, value, onChange }) {
  const common = {
    id, name: f.name, required: f.required, placeholder: f.placeholder, "aria-describedby": f.hint ? `${id}-hint` : null,
    onInput: (e) => onChange(f.kind === "check" ? e.target.checked : e.target.value),
  };
  const hint = f.hint && html`<span class="hint" id=${`${id}-hint`}>${f.hint}</span>`;
  if (f.kind === "check") {
    return html`<div class="field check"><input type="checkbox" ...${common} checked=${value} /><label for=${id}>${f.label}</label>${hint}</div>`;
  }
  return html`
    <div class=${f.wide || f.kind === "area" || f.kind === "json" ? "field wide" : "field"}>
      <label for=${id}>${f.label}</label>
      ${control(f, value, common)}
      ${hint}
    </div>`;
}

function control(f, value, common) {
  switch (f.kind) {
    case "select":
      return html`<select ...${common} onChange=${common.onInput}>
        ${f.options.map(optionOf).map(([v, label]) => html`<option value=${v} selected=${v === value}>${label}</option>`)}
      </select>`;
    case "area":
    case "json":
      return html`<textarea ...${common} rows=${f.rows ?? 4} spellcheck=${false} value=${value} />`;
    case "number":
      return html`<input type="number" ...${common} min=${f.min} max=${f.max} step=${f.step ?? "any"} value=${value} />`;
    default:
      return html`<input type=${f.kind ?? "text"} ...${common} list=${f.list} autocomplete=${f.autocomplete ?? "off"} spellcheck=${false} value=${value} />`;
  }
}
