// The review page. What is pressed or typed goes into the journal (journal.js) and is sent from there: it is kept in this
// browser until the server has it, over a reload and a dead connection. Words are in the browser at every letter, and in
// the journal when one pauses. The review is handed in once nothing waits any more.
import { add, journal, status, unknown, uuid } from "../journal.js";
import { forget, tell } from "../told.js";

const PAUSE = 400;

const form = document.querySelector("[data-review]");
const given = JSON.parse(document.getElementById("review").textContent);
const rows = [...form.querySelectorAll("[data-row]")];
const chosen = (row) => row.querySelector("input:checked");
const wordsOf = (row) => row.querySelector("textarea");
const ours = (entry) => entry.kind === "rating" && entry.pair === given.pair && entry.narrative === given.narrative;
const letters = (row) => `rejudge.words.${given.user}.${given.narrative}.${row.dataset.row}`;
const timers = new Map(); // row -> the pause after its last letter
const levels = new Map(rows.map((row) => [row, chosen(row)])); // row -> the level that its words explain
const taken = new Map(); // row -> {level, words}: a level that was replaced, with its words
let turn = Promise.resolve(); // what is on its way into the journal

// The page may be the answer to a review that was refused. Reloaded it is asked for anew: the form that was sent holds older
// words than those said since, and would hand in what was not to be.
history.replaceState(history.state, "");

function count() {
  const rated = document.getElementById("rated");
  rated.textContent = rated.dataset.words.replace("{rated}", rows.filter(chosen).length);
}

// What is missing is said as it was when the review was refused.
function corrected(row) {
  form.querySelector("[data-missing]")?.remove();
  if (chosen(row).dataset.rejects !== undefined && !wordsOf(row).value.trim()) return;
  row.querySelector(".errorlist")?.remove();
  wordsOf(row).removeAttribute("aria-invalid");
  wordsOf(row).removeAttribute("aria-describedby");
}

// `parts`: "level", "words", or both.
function say(row, ...parts) {
  clearTimeout(timers.get(row));
  timers.delete(row);
  form.querySelector("[data-summary]")?.remove();
  const words = wordsOf(row).value;
  const level = chosen(row);
  const entry = {
    uuid: uuid(),
    user: given.user,
    kind: "rating",
    pair: given.pair,
    narrative: given.narrative,
    made_at: new Date().toISOString(),
    criterion: row.dataset.row,
    ...(parts.includes("level") && { level: level.value }),
    ...(parts.includes("words") && { words }),
  };
  const about = { label: `${given.label} · ${row.dataset.name}`, said: parts.includes("level") ? level.dataset.keyLabel : words };
  turn = turn.then(async () => {
    await add(entry, about);
    // The journal has them now.
    if (parts.includes("words") && localStorage.getItem(letters(row)) === words) localStorage.removeItem(letters(row));
  });
  count();
  if (level) corrected(row);
}

// Words explain one level: another one takes them off the page, where they can be put back. A level that rejects as well
// keeps them, to be changed.
function choose(row) {
  const before = levels.get(row);
  const now = chosen(row);
  const words = wordsOf(row).value;
  const left = taken.get(row);
  let parts = ["level"];
  levels.set(row, now);
  if (before && before !== now && words.trim()) {
    parts = ["level", "words"];
    if (now.dataset.rejects === undefined) {
      taken.set(row, { level: before, words });
      write(row, "");
    }
  } else if (left?.level === now && !words.trim()) {
    parts = ["level", "words"];
    taken.delete(row);
    write(row, left.words);
  }
  say(row, ...parts);
  showTaken(row);
}

function write(row, words) {
  wordsOf(row).value = words;
  row.querySelector(".words").classList.toggle("words--kept", Boolean(words.trim()));
}

function showTaken(row) {
  const place = row.querySelector("[data-taken-words]");
  const left = taken.get(row);
  if (!left) return place.replaceChildren();
  const button = Object.assign(document.createElement("button"), { type: "button", className: "button button--plain button--small", textContent: form.dataset.putBack });
  button.onclick = () => {
    taken.delete(row);
    write(row, left.words);
    say(row, "words");
    showTaken(row);
  };
  const values = { level: left.level.dataset.keyLabel, words: left.words.trim() };
  place.replaceChildren(form.dataset.taken.replace(/\{(\w+)\}/g, (_, name) => values[name]), " ", button);
}

function type(row) {
  const words = wordsOf(row).value;
  try {
    localStorage.setItem(letters(row), words);
  } catch {
    // This browser keeps nothing: unsent.js says so.
  }
  clearTimeout(timers.get(row));
  timers.set(row, setTimeout(say, PAUSE, row, "words"));
}

function show(row, level, words) {
  const input = level && row.querySelector(`input[value="${CSS.escape(level)}"]`);
  if (input) {
    input.checked = true;
    levels.set(row, input);
  }
  write(row, words ?? wordsOf(row).value);
}

const flush = () => [...timers.keys()].forEach((row) => say(row, "words"));

form.addEventListener("change", (event) => event.target.matches("[type=radio]") && choose(event.target.closest("[data-row]")));
form.addEventListener("input", (event) => event.target.matches("textarea") && type(event.target.closest("[data-row]")));
addEventListener("pagehide", flush);

// --- handing in -----------------------------------------------------------------------------------

function settled() {
  return new Promise((resolve) => {
    const done = () => {
      if (status.waiting && !status.state) return;
      journal.removeEventListener("status", done);
      resolve(!status.waiting);
    };
    journal.addEventListener("status", done);
    done();
  });
}

async function reached() {
  try {
    await fetch(form.action, { method: "HEAD", cache: "no-store" });
    return true;
  } catch {
    return false;
  }
}

let sure = false;
let asked = false;
form.addEventListener("submit", async (event) => {
  if (sure) return;
  event.preventDefault();
  if (asked) return;
  asked = true;
  const button = event.submitter;
  forget();
  flush();
  await turn;
  if ((await settled()) && (await reached())) {
    sure = true;
    form.requestSubmit(button);
  } else {
    asked = false;
    tell(form.dataset.away, { kind: "warning" });
  }
});

// --- what the server did not know when the page was drawn -----------------------------------------

journal.addEventListener("entry", ({ detail: { entry } }) => {
  if (!ours(entry)) return;
  const row = rows.find((one) => one.dataset.row === entry.criterion);
  // Said in another tab; what is being typed here is left alone.
  if (row && !timers.has(row) && !row.contains(document.activeElement)) show(row, entry.level, entry.words);
  count();
});

// The letters are at hand at once, and newer than what the journal, which may take a moment, has of the same row.
const begun = rows.filter((row) => localStorage.getItem(letters(row)) !== null);
const drawn = new Map(begun.map((row) => [row, wordsOf(row).value]));
for (const row of begun) show(row, null, localStorage.getItem(letters(row)));
for (const entry of await unknown(given.pair)) {
  const row = ours(entry) && rows.find((one) => one.dataset.row === entry.criterion);
  if (!row) continue;
  if (drawn.has(row) && entry.words !== undefined) drawn.set(row, entry.words);
  show(row, entry.level, drawn.has(row) || timers.has(row) ? undefined : entry.words);
}
for (const row of begun) {
  // Known to the server they are not kept on: they would come back over what is written elsewhere.
  if (wordsOf(row).value === drawn.get(row)) localStorage.removeItem(letters(row));
  else if (!timers.has(row)) say(row, "words");
}
count();
for (const hidden of form.querySelectorAll("[data-scripted]")) hidden.hidden = false;
document.querySelector("[data-rows]").dispatchEvent(new Event("rows:refresh"));
// Enter confirms what the summary says: all of it is in view, as far as it fits.
form.querySelector("[data-summary]")?.scrollIntoView({ block: "nearest" });
delete form.dataset.keysWait;
