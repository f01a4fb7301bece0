// Keys press what they stand on: the element with that key in `data-key` is clicked ("2", "ArrowRight l": either of two).
// Escape leaves a text field, unless it closes what the field is in (see dialog.js): then the keys answer again.
// Ctrl+Enter in a form with `data-ctrl-enter` sends it.
// What is pressed before the page listens comes here afterwards (see held-keys.js).
// Never in a text field, during an input-method composition, with a modifier, or again while the key is held down.
// `?` lists the keys of the page, from the same elements: their `data-key-label` or text, grouped by `data-keys` around.
// Within rows (`data-row`) only those of the row with `data-current` answer; within an open dialog, only its own.
import { enterMenu } from "./dialog.js";

const NAMES = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", " ": "Space", Escape: "Esc" };

const keysOf = (element) => element.dataset.key.split(" ").map((key) => (key === "Space" ? " " : key));

const TEXT = "textarea, input:not([type=radio], [type=checkbox], [type=button], [type=submit], [type=file], [type=hidden])";
const typing = (target) => target.isContentEditable || target.matches(`select, ${TEXT}`);

function scope() {
  return [...document.querySelectorAll("dialog[open]")].at(-1) ?? document;
}

function answers(element) {
  const row = element.closest("[data-row]");
  const out = element.matches(":disabled, [aria-disabled=true]") || element.closest("[inert]");
  return !out && element.checkVisibility() && (!row || "current" in row.dataset);
}

// The keys that an event may mean, the surest first. Letters are small in the key map, whatever Caps Lock says; digits are
// the digits of the row where a layout has other signs on it.
function meant(event) {
  const keys = [event.key];
  if (event.getModifierState("CapsLock") && !event.shiftKey) keys.push(event.key.toLowerCase());
  if (!event.shiftKey && /^Digit\d$/.test(event.code)) keys.push(event.code.at(-1));
  return keys;
}

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229 || event.repeat || event.defaultPrevented) return;
  if (event.key === "Escape" && event.target.matches(TEXT) && !event.target.closest("dialog") && document.querySelector("[data-key]")) {
    event.target.blur();
    return;
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.matches(TEXT)) {
    event.target.closest("[data-ctrl-enter]")?.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey || typing(event.target)) return;
  // With Shift a sign may be another one; the keys with names select and scroll back.
  if (event.shiftKey && (event.key.length > 1 || event.key === " ")) return;
  // The arrows scroll a table that has the focus; Space and Enter press a button that has it.
  if (event.key.startsWith("Arrow") && event.target.matches("[role=region], [role=group], input[type=radio]")) return;
  if ([" ", "Enter"].includes(event.key) && event.target.matches("a, button, summary, input")) return;
  if (event.key === "?") {
    help();
    event.preventDefault();
    return;
  }
  const elements = [...scope().querySelectorAll("[data-key]")].filter(answers);
  const pressed = meant(event).map((key) => elements.find((element) => keysOf(element).includes(key))).find(Boolean);
  if (!pressed) return;
  event.preventDefault();
  pressed.click();
  enterMenu(pressed.parentElement);
});

function help() {
  const dialog = document.querySelector("[data-key-help]");
  if (!dialog || dialog.open) return;
  const list = dialog.querySelector("dl");
  list.replaceChildren();
  const seen = new Set();
  for (const element of document.querySelectorAll("[data-key]")) {
    if (element.closest("dialog")) continue;
    const words = element.dataset.keyLabel ?? element.textContent.trim().replace(/\s+/g, " ");
    const entry = `${element.dataset.key} ${words}`;
    if (seen.has(entry)) continue;
    seen.add(entry);
    const caps = keysOf(element).map((key) => Object.assign(document.createElement("kbd"), { textContent: NAMES[key] ?? key }));
    const term = document.createElement("dt");
    term.append(...caps.flatMap((cap, index) => (index ? [" ", cap] : [cap])));
    list.append(term, Object.assign(document.createElement("dd"), { textContent: words }));
  }
  if (seen.size && [...document.querySelectorAll(TEXT)].some((field) => !field.closest("dialog"))) {
    const term = document.createElement("dt");
    term.append(Object.assign(document.createElement("kbd"), { textContent: NAMES.Escape }));
    list.append(term, Object.assign(document.createElement("dd"), { textContent: list.dataset.escape }));
  }
  if (!seen.size) list.append(Object.assign(document.createElement("dd"), { textContent: list.dataset.none }));
  dialog.showModal();
}
