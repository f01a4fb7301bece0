// A key clicks the element that has it in `data-key` ("2", or "ArrowRight l" for either of two keys).
// Escape leaves a text field, unless it closes the menu or dialog around the field (see dialog.js); then keys work again.
// Ctrl+Enter in a form with `data-ctrl-enter` sends it; within an element with `data-ctrl-enter-of` it sends the named form.
// Keys pressed before the page listens are replayed here afterwards (see held-keys.js).
// Keys are ignored in a text field, during an input-method composition, with a modifier, and while repeating.
// Where no element has a key, `data-enter` and `data-no-key` say why it does nothing (on the work page).
// `?` lists the keys that work on the page now, from the same elements: their `data-key-label` or text, in groups named by
// `data-keys` around them, and Ctrl+Enter from a button with `aria-keyshortcuts` whose <kbd> shows it. The group with `data-keys-first` comes first, keys without a group come last.
// Within rows (`data-row`) only the keys of the row with `data-current` work; in an open dialog, only its own.
import { enterMenu } from "./frame.js";
import { warn } from "./notices.js";

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

// Signs by their places on a Latin keyboard. Layouts without Latin letters have other signs or letters there.
const SIGNS = { BracketLeft: "[", BracketRight: "]", Semicolon: ";", Quote: "'", Backquote: "`", Comma: ",", Period: ".", Slash: "/" };
// Places of Latin letters where Greek and Hebrew layouts have these signs in place of a letter.
const INSTEAD = { KeyQ: [";", "/"], KeyW: ["'"] };
// Whether the letter that was typed last is not Latin: signs then go by place as well.
let isByPlace = false;

addEventListener("keydown", ({ key, code }) => {
  if (/^\p{L}$/u.test(key) && code) isByPlace = !/^\p{Script=Latin}/u.test(key);
}, true);

// The key that a Latin keyboard has at the place of an event, if the event's own layout has no Latin letters; else undefined.
export function latinKey({ key, code }) {
  const isLatin = /^[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]/u.test(key);
  if (isLatin && !isByPlace && !INSTEAD[code]?.includes(key)) return undefined;
  return /^Key[A-Z]$/.test(code) ? code.at(-1).toLowerCase() : SIGNS[code];
}

// The keys that an event may mean, the most likely first. Letters and signs go by their place on layouts without Latin letters:
// a Hebrew one types "/" at the place of q. Letters are lower-case in the key map, whatever Caps Lock says; digits also match by
// their place in the digit row, on layouts with other signs there.
export function meant(event) {
  const keys = event.shiftKey ? [event.key] : [latinKey(event), event.key];
  if (event.getModifierState("CapsLock") && !event.shiftKey) keys.push(event.key.toLowerCase());
  if (!event.shiftKey && /^Digit\d$/.test(event.code)) keys.push(event.code.at(-1));
  return keys;
}

// Says why a key does nothing on the work page: for Enter each time, for a letter or digit once.
function explain({ key }) {
  const { enter, noKey } = document.querySelector("[data-enter][data-at=document]")?.dataset ?? {};
  if (key === "Enter" && enter) warn(enter);
  if (!noKey || !/^[\p{L}\p{N}]$/u.test(key) || explained.has(key)) return;
  explained.add(key);
  warn(noKey.replace("{key}", key).replace(/\s+/g, " "));
}
const explained = new Set();

document.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229 || event.repeat || event.defaultPrevented) return;
  if (event.key === "Escape" && event.target.matches(TEXT) && !event.target.closest("dialog") && document.querySelector("[data-key]")) {
    event.target.blur();
    return;
  }
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    const other = event.target.closest("[data-ctrl-enter-of]");
    if (other) {
      event.preventDefault();
      document.getElementById(other.dataset.ctrlEnterOf).requestSubmit();
    } else if (event.target.matches(TEXT)) event.target.closest("[data-ctrl-enter]")?.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.altKey || event.metaKey || typing(event.target)) return;
  // With Shift, only keys that type a sign count: named keys and Space then select text or scroll back.
  if (event.shiftKey && (event.key.length > 1 || event.key === " ")) return;
  // The arrows scroll a table that has the focus; Space and Enter press a button that has it.
  if (event.key.startsWith("Arrow") && event.target.matches("[role=region], [role=group], input[type=radio]")) return;
  if ([" ", "Enter"].includes(event.key) && event.target.matches("a, button, summary, input")) return;
  if (["?", "؟"].includes(event.key)) {
    help();
    event.preventDefault();
    return;
  }
  const elements = [...scope().querySelectorAll("[data-key]")].filter(answers);
  const pressed = meant(event).map((key) => elements.find((element) => keysOf(element).includes(key))).find(Boolean);
  if (!pressed) return explain(event);
  event.preventDefault();
  pressed.click();
  enterMenu(pressed.parentElement);
});

function entry(keys, words) {
  const term = document.createElement("dt");
  const caps = keys.map((key) => Object.assign(document.createElement("kbd"), { textContent: NAMES[key] ?? key }));
  term.append(...caps.flatMap((cap, index) => (index ? [" ", cap] : [cap])));
  return [term, Object.assign(document.createElement("dd"), { textContent: words })];
}

// Group name -> (keys and words -> entry), the first group first. Hidden and inert elements have no key now.
function groups() {
  const elements = [...document.querySelectorAll("[data-key], [aria-keyshortcuts]")].filter((element) => !element.closest("dialog, [inert]") && element.checkVisibility());
  const found = new Map([...document.querySelectorAll("[data-keys-first]")].map((group) => [group.dataset.keys, new Map()]));
  const others = new Map();
  for (const element of elements) {
    const name = element.closest("[data-keys]")?.dataset.keys;
    if (name && !found.has(name)) found.set(name, new Map());
    const words = element.dataset.keyLabel ?? element.textContent.trim().replace(/\s+/g, " ");
    const keys = element.dataset.key ? keysOf(element) : [element.querySelector("kbd").textContent];
    (name ? found.get(name) : others).set(`${keys.join(" ")} ${words}`, entry(keys, words));
  }
  return { found: [...found].filter(([, entries]) => entries.size), others };
}

function help() {
  const dialog = document.querySelector("[data-key-help]");
  if (!dialog || dialog.open) return;
  const place = dialog.querySelector("[data-key-groups]");
  const { found, others } = groups();
  const some = found.length || others.size;
  if (some && document.querySelector("[data-key]") && [...document.querySelectorAll(TEXT)].some((field) => !field.closest("dialog"))) others.set("Escape", entry(["Escape"], place.dataset.escape));
  if (others.size) found.push([found.length ? place.dataset.others : "", others]);
  place.replaceChildren(
    ...found.map(([name, entries]) => {
      const group = document.createElement("section");
      if (name) group.append(Object.assign(document.createElement("h4"), { textContent: name }));
      const list = Object.assign(document.createElement("dl"), { className: "keymap" });
      list.append(...[...entries.values()].flat());
      group.append(list);
      return group;
    }),
  );
  if (!some) place.textContent = place.dataset.none;
  dialog.showModal();
}
