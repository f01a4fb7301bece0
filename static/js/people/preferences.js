// The preferences page. In a field of the key map, the pressed key becomes the value; on a layout without Latin letters
// it is the Latin key at that place. If two actions of one page have the same key, both fields say so, it is read out, and the
// form is not sent. Beside the time zone it shows the time there. The server makes the same checks and decides.
import { latinKey } from "../keys.js";
import { clockIn } from "../time.js";

const NAMED = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", " ", "Backspace", "Delete", "Insert", "Home", "End", "PageUp", "PageDown"];
const CAPS = { ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓", " ": "Space" };

const cap = (key) => CAPS[key] ?? ([...key].length === 1 && key.toLowerCase().length === key.length ? key.toLowerCase() : key);
const form = document.querySelector("[data-keymap]");
const fields = [...form.querySelectorAll("input[data-default]")];
const status = form.querySelector("[data-keymap-status]");
const label = (field) => document.getElementById(field.getAttribute("aria-labelledby")).textContent;

const pages = (field) => field.dataset.pages.split(" ");
const meets = (field, other) => pages(field).some((page) => pages(other).includes(page));

function wrongWith(field) {
  const key = field.value.trim();
  if (!key) return form.dataset.noKey;
  if (/^[0-9]$/.test(key)) return form.dataset.digit;
  if (key === "?") return form.dataset.help;
  const rivals = fields.filter((other) => other.value.trim() === key && meets(field, other));
  if (rivals.length < 2) return "";
  const [one, other] = rivals;
  return form.dataset.collision.replace("{key}", key).replace("{one}", label(one)).replace("{other}", label(other));
}

function look(changed) {
  let first = null;
  for (const field of fields) {
    const words = wrongWith(field);
    const place = document.getElementById(`wrong-${field.name.slice(4)}`);
    place.querySelector("li").textContent = words;
    place.hidden = !words;
    if (words) field.setAttribute("aria-invalid", "true");
    else field.removeAttribute("aria-invalid");
    field.closest("tr").querySelector("[name=reset]").hidden = field.value === field.dataset.default;
    if (words) first ??= field;
  }
  if (changed) status.textContent = wrongWith(changed) || `${label(changed)}: ${changed.value}`;
  return first;
}

form.addEventListener("keydown", (event) => {
  const field = event.target;
  if (!fields.includes(field) || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  const key = latinKey(event) ?? event.key;
  if (!NAMED.includes(key) && [...key].length !== 1) return;
  event.preventDefault();
  field.value = cap(key);
  look(field);
});

// An on-screen keyboard or an input method sends no usable `key`.
form.addEventListener("input", ({ target }) => {
  if (!fields.includes(target)) return;
  target.value = cap([...target.value].at(-1) ?? "");
  look(target);
});

form.addEventListener("focusin", ({ target }) => fields.includes(target) && target.select());

form.addEventListener("click", (event) => {
  const back = event.target.closest("[name=reset]");
  if (!back) return;
  event.preventDefault();
  const field = form.elements[`key-${back.value}`];
  field.value = field.dataset.default;
  field.focus();
  look(field);
});

form.addEventListener("submit", (event) => {
  const first = look();
  if (!first) return;
  event.preventDefault();
  first.focus();
  status.textContent = wrongWith(first);
});

const zone = document.querySelector("[data-zone]");
const now = document.querySelector("[data-zone-now]");
const zones = [...zone.list.options].map((option) => option.value);
// A city is enough: "Berlin" is Europe/Berlin.
function named() {
  const typed = zone.value.trim().replaceAll(" ", "_").toLowerCase();
  return zones.find((name) => [name.toLowerCase(), name.toLowerCase().split("/").at(-1)].includes(typed)) ?? typed;
}
const tick = () => (now.textContent = clockIn(new Date(), named()) ?? now.dataset.unknown);
zone.addEventListener("input", tick);
setInterval(tick, 10_000);
tick();
