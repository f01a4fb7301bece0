// The modules of the review page, and what it has beside the judge page: criteria in place of documents, the list of what they were
// rated, and the reason that a level which rejects needs.
import { openNote } from "../judging/page.js";
import "../judging/asked.js";

const root = document.querySelector(".judge");
const rows = [...root.querySelectorAll("[data-criterion]")];
const note = document.getElementById("note");
const { grades: levels } = JSON.parse(document.getElementById("judging-session").textContent);
const levelOf = (value) => levels.find((level) => level.value === value);
const dropped = new Map(); // number of a criterion -> what was said of the level that was replaced
const rated = new Map(); // key of a criterion -> the level and words that the list shows
let asked = null; // the level that was just given without the reason that it needs

// A reason explains one level: a level that accepts drops it, and undo brings it back.
root.addEventListener("judge:collect", ({ detail: { entry, stands, stay } }) => {
  const { fields } = entry;
  const { rejects } = levelOf(fields.level);
  const { level, words } = stands.fields ?? {};
  dropped.delete(entry.item);
  if (words && fields.words === words && fields.level !== level && !rejects) {
    dropped.set(entry.item, { level: levelOf(level).name, words });
    fields.words = "";
  }
  asked = rejects && !fields.words.trim() ? fields.level : null;
  if (asked) stay();
});

root.addEventListener("judge:saved", ({ detail: { entry } }) => {
  if (entry.undoes) dropped.delete(entry.item);
  else if (asked) openNote();
});

root.addEventListener("judge:document", () => (asked = null));

// Enter and Escape leave the reason. If the page had asked for it, they give the level with it, which goes on; without words they
// only go on.
note.addEventListener("keydown", (event) => {
  if (event.isComposing || event.keyCode === 229 || event.key !== "Enter" || event.shiftKey) return;
  event.preventDefault();
  leave();
});
addEventListener("keydown", (event) => event.key === "Escape" && event.target === note && asked && leave(), true);

function leave() {
  const level = asked;
  const isGiven = level && note.value.trim();
  asked = null;
  // The reason goes along with the level: it is no answer of its own.
  if (isGiven) note.defaultValue = note.value;
  note.blur();
  note.closest("details").open = false;
  if (isGiven) root.querySelector(`.grade-button[value="${level}"]`).click();
  else if (level) root.dispatchEvent(new Event("judge:next"));
}

root.addEventListener("judge:draw", ({ detail: { current, answerTo } }) => {
  for (const row of rows) {
    const number = Number(row.dataset.number);
    const { fields = {} } = answerTo(number);
    const left = dropped.get(number);
    rated.set(row.dataset.criterion, fields);
    row.ariaCurrent = number === current ? "step" : null;
    row.querySelector("[data-level]").replaceChildren(root.querySelector(`[data-level-badge="${fields.level}"]`)?.content.cloneNode(true) ?? "");
    row.querySelector("[data-words]").textContent = fields.words ?? "";
    row.querySelector("[data-dropped]").textContent = left ? root.querySelector("[data-criteria]").dataset.dropped.replace(/\{(\w+)\}/g, (_, name) => left[name]) : "";
  }
});

// What is submitted is what the list shows; the server compares it with what it has.
document.getElementById("submit-review").addEventListener("formdata", ({ formData }) => {
  for (const [key, { level = "", words = "" }] of rated) {
    formData.set(`level-${key}`, level);
    formData.set(`words-${key}`, words);
  }
});
