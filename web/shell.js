// What all pages share: tabs, theme, help, the status line, keys.
import { element } from "./draw.js";

const byId = (id) => document.getElementById(id);

export function tabs(names, select) {
  byId("tabs").replaceChildren(...names.map(([id, title], index) => element("button", {
    role: "tab", textContent: title, title: `key ${index + 1}`, dataset: { view: id }, onclick: () => select(id),
  })));
}

export function markTab(view) {
  for (const button of byId("tabs").children) button.setAttribute("aria-selected", button.dataset.view === view);
}

export function toggle(title, key, onclick) {
  return element("button", { className: "toggle", textContent: title, title: `key ${key}`, onclick });
}

export function stepper(id, step) {
  const output = element("output", { id });
  return element("span", { className: "stepper" },
    element("button", { textContent: "‹", "aria-label": `previous ${id}`, onclick: () => step(-1) }), output,
    element("button", { textContent: "›", "aria-label": `next ${id}`, onclick: () => step(1) }));
}

// Text with **strong** parts.
export function strong(node, text) {
  node.replaceChildren(...text.split("**").map((part, index) => (index % 2 ? element("b", { textContent: part }) : part)));
}

export const status = (text) => strong(byId("status"), text);
export const note = (text) => strong(byId("note"), text);
export const cutNote = (which, tokens) => `**${which} was cut at ${tokens} tokens**: the model reads no more.`;
export const lead = (text) => strong(byId("lead"), text);

// The two buttons that save the current view.
export const savers = (save) => ["png", "svg"].map((kind) => element("button", {
  id: `save-${kind}`, className: "toggle", textContent: kind.toUpperCase(), title: `save this view as ${kind.toUpperCase()}`, onclick: () => save(kind),
}));

export function switchTheme() {
  const root = document.documentElement;
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
}

export function help(rows) {
  const dialog = byId("help");
  if (dialog.open) return dialog.close();
  dialog.replaceChildren(element("h2", { textContent: "Keys" }), element("table", {}, ...rows.map(([keys, text]) =>
    element("tr", {}, element("td", {}, ...keys.split(" ").map((key) => element("kbd", { textContent: key }))), element("td", { textContent: text })))));
  dialog.onclick = () => dialog.close();
  dialog.showModal();
}

// actions: {key: function}; keys with Shift are "Shift+ArrowUp". Chords stay the browser's, and so do keys while the help is
// open, except the one that closes it.
export function listen(actions) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || (byId("help").open && event.key !== "?")) return;
    const arrow = event.key.startsWith("Arrow") && event.shiftKey;
    const action = actions[arrow ? `Shift+${event.key}` : event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

export function startTheme() {
  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}
