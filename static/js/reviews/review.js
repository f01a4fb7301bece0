// The review page. Ratings and words go into the journal (journal.js) and are sent from there: they are kept in this
// browser until the server has them, across a reload or a lost connection. Words are stored in the browser at every letter,
// and go into the journal when typing pauses. The review is submitted once no entry waits any more.
import { add, entriesSinceLoad, journal, status, uuid } from "../journal.js";
import { clearNotices, showNotice } from "../notices.js";

const PAUSE = 400;

const form = document.querySelector("[data-review]");
const given = JSON.parse(document.getElementById("review").textContent);
const rows = [...form.querySelectorAll("[data-row]")];
const chosen = (row) => row.querySelector("input:checked");
const wordsOf = (row) => row.querySelector("textarea");
const isOurs = (entry) => entry.kind === "rating" && entry.pair === given.pair && entry.narrative === given.narrative;
const storageKey = (row) => `rejudge.words.${given.user}.${given.narrative}.${row.dataset.row}`;
const timers = new Map(); // row -> the pause after its last letter
const levels = new Map(rows.map((row) => [row, chosen(row)])); // row -> the level that its words explain
const replaced = new Map(); // row -> {level, words}: a level that was replaced, with its words
let turn = Promise.resolve(); // settles when all entries so far are in the journal

// The page may be the response to a refused review. A reload must request it again, not repeat the POST: the form that was
// sent holds older words than the journal, and would submit the review unasked.
history.replaceState(history.state, "");

function count() {
  const rated = document.getElementById("rated");
  rated.textContent = rated.dataset.words.replace("{rated}", rows.filter(chosen).length);
}

// The messages on what is missing are from when the review was refused: remove those that no longer apply. A row whose level
// was missing then says nothing about words yet.
function clearErrors(row, before = chosen(row)) {
  form.querySelector("[data-missing]")?.remove();
  if (before && chosen(row).dataset.rejects !== undefined && !wordsOf(row).value.trim()) return;
  row.querySelector(".errorlist")?.remove();
  wordsOf(row).removeAttribute("aria-invalid");
  wordsOf(row).removeAttribute("aria-describedby");
}

// `parts`: "level", "words", or both.
function journalRow(row, ...parts) {
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
  const about = { label: `${given.label} · ${row.dataset.name}`, answer: parts.includes("level") ? level.dataset.keyLabel : words };
  turn = turn.then(async () => {
    await add(entry, about);
    // They are in the journal now.
    if (parts.includes("words") && localStorage.getItem(storageKey(row)) === words) localStorage.removeItem(storageKey(row));
  });
  count();
  if (level) clearErrors(row);
}

// Words explain one level: choosing another one removes them from the page, with a button to put them back. Another
// rejecting level keeps them, to be edited.
function choose(row) {
  const before = levels.get(row);
  const now = chosen(row);
  const words = wordsOf(row).value;
  const left = replaced.get(row);
  let parts = ["level"];
  levels.set(row, now);
  if (before && before !== now && words.trim()) {
    parts = ["level", "words"];
    if (now.dataset.rejects === undefined) {
      replaced.set(row, { level: before, words });
      write(row, "");
    }
  } else if (left?.level === now && !words.trim()) {
    parts = ["level", "words"];
    replaced.delete(row);
    write(row, left.words);
  }
  if (!before) clearErrors(row, null);
  journalRow(row, ...parts);
  showTaken(row);
}

function write(row, words) {
  wordsOf(row).value = words;
  row.querySelector(".words").classList.toggle("words--kept", Boolean(words.trim()));
}

function showTaken(row) {
  const place = row.querySelector("[data-taken-words]");
  const left = replaced.get(row);
  if (!left) return place.replaceChildren();
  const button = Object.assign(document.createElement("button"), { type: "button", className: "button button--plain button--small", textContent: form.dataset.putBack });
  button.onclick = () => {
    replaced.delete(row);
    write(row, left.words);
    journalRow(row, "words");
    showTaken(row);
  };
  const values = { level: left.level.dataset.keyLabel, words: left.words.trim() };
  place.replaceChildren(form.dataset.taken.replace(/\{(\w+)\}/g, (_, name) => values[name]), " ", button);
}

function type(row) {
  const words = wordsOf(row).value;
  try {
    localStorage.setItem(storageKey(row), words);
  } catch {
    // This browser stores nothing: unsent.js says so.
  }
  clearTimeout(timers.get(row));
  timers.set(row, setTimeout(journalRow, PAUSE, row, "words"));
}

function show(row, level, words) {
  const input = level && row.querySelector(`input[value="${CSS.escape(level)}"]`);
  if (input) {
    input.checked = true;
    levels.set(row, input);
  }
  write(row, words ?? wordsOf(row).value);
}

const flush = () => [...timers.keys()].forEach((row) => journalRow(row, "words"));

form.addEventListener("change", (event) => event.target.matches("[type=radio]") && choose(event.target.closest("[data-row]")));
form.addEventListener("input", (event) => event.target.matches("textarea") && type(event.target.closest("[data-row]")));
addEventListener("pagehide", flush);

// --- submitting -----------------------------------------------------------------------------------

function allSent() {
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

async function isServerReachable() {
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
  clearNotices();
  flush();
  await turn;
  if ((await allSent()) && (await isServerReachable())) {
    sure = true;
    form.requestSubmit(button);
  } else {
    asked = false;
    showNotice(form.dataset.away, { kind: "warning" });
  }
});

// --- entries that are newer than the page ---------------------------------------------------------

journal.addEventListener("entry", ({ detail: { entry } }) => {
  if (!isOurs(entry)) return;
  const row = rows.find((one) => one.dataset.row === entry.criterion);
  // Entered in another tab; a field that is being edited here stays as it is.
  if (row && !timers.has(row) && !row.contains(document.activeElement)) show(row, entry.level, entry.words);
  count();
});

// The stored letters can be read at once, and are newer than the journal's words of the same row.
const begun = rows.filter((row) => localStorage.getItem(storageKey(row)) !== null);
const drawn = new Map(begun.map((row) => [row, wordsOf(row).value]));
for (const row of begun) show(row, null, localStorage.getItem(storageKey(row)));
for (const entry of await entriesSinceLoad(isOurs)) {
  const row = rows.find((one) => one.dataset.row === entry.criterion);
  if (!row) continue;
  if (drawn.has(row) && entry.words !== undefined) drawn.set(row, entry.words);
  show(row, entry.level, drawn.has(row) || timers.has(row) ? undefined : entry.words);
}
for (const row of begun) {
  // Words that the server has are removed here: otherwise they would come back over words written elsewhere.
  if (wordsOf(row).value === drawn.get(row)) localStorage.removeItem(storageKey(row));
  else if (!timers.has(row)) journalRow(row, "words");
}
count();
for (const hidden of form.querySelectorAll("[data-scripted]")) hidden.hidden = false;
document.querySelector("[data-rows]").dispatchEvent(new Event("rows:refresh"));
// Enter confirms the summary, so bring it into view as far as it fits.
form.querySelector("[data-summary]")?.scrollIntoView({ block: "nearest" });
delete form.dataset.keysWait;
