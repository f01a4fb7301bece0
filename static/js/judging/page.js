// The work page, on which documents are judged, labels checked or settled, and instructions reviewed (templates/judging/work.html). It stays while
// the documents change: an answer goes into the journal (journal.js), and once it is kept there the next document is shown,
// from the stack of those fetched ahead. Actions are processed one after the other, and each ends when the document is
// painted, so a key pressed twice quickly grades two documents.
// Other modules of the page work with it through events on `.judge`: judge:document (they call `begun` if something of theirs is not
// sent), judge:collect, judge:saved, judge:restored, judge:draw; and judge:amended, which they send when more was added to the answer that stands, and
// judge:next to go on.
import { clearNotices, showNotice, warn } from "../notices.js";
import { Answers } from "./answers.js";
import { Clock, watched } from "./clock.js";
import { clearOnward, summarize } from "./end.js";
import { candidateOf, isUndo, parseCandidate, begunMap, valueOf } from "./judging-session.js";

const BEHIND = 20;
const PATIENCE = 3_000;
const DOUBLE = 300;

const root = document.querySelector(".judge");
const given = JSON.parse(document.getElementById("judging-session").textContent);
const place = document.getElementById("document-view");
const spoken = document.getElementById("spoken");
const note = document.getElementById("note");
const grades = () => [...root.querySelectorAll(".grade-button")]; // they may change with the document
let waiting = null; // the button whose answer waits for the words of the note
const part = (name) => root.querySelector(`[data-part="${name}"]`);

const answers = new Answers(given, root.dataset, answerText);
const { entries, session: judgingSession, stack, task } = answers;
const clock = watched(new Clock());
const notes = begunMap("notes"); // candidate -> a note that was begun and not sent
const menuWords = begunMap("words"); // candidate -> the words that were begun and not sent, by the field of a menu (why one cannot judge)
const takenBack = new Map(); // candidate -> an answer that was taken back, until it is known whether an older one counts again
const visited = [];
let current = given.candidate;
let stays = false; // whether the answer that is collected keeps its document on the page

const number = new Intl.NumberFormat(document.documentElement.lang);
const words = (name, values = {}) => root.dataset[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
const address = (candidate) => (candidate === null ? given.urls.judging : (given.addresses?.[candidate] ?? given.urls.candidate.replace("/0/", `/${candidate}/`)));
const byForm = task.number !== "candidate"; // the content of an answer is that of its form
const noteOf = (entry) => entry.note ?? entry.fields?.[note.name];
const gradeName = (value) => given.grades.find((grade) => grade.value === value)?.name ?? "";

function answerText(entry) {
  if (entry.kind === "flag") return root.querySelector(`[data-flag-badge="${entry.flag}"]`).content.textContent.trim();
  if (entry.answer) return entry.answer;
  const value = valueOf(entry);
  if (value !== null) return typeof value === "number" ? `${value} ${gradeName(value)}` : gradeName(value);
  return words(entry.fields.cannot_judge ? "unable" : "answered");
}

// --- the queue of actions -------------------------------------------------------------------------

// Keys that are pressed during an action wait for its end (see held-keys.js): they are meant for the next document.
let turn = Promise.resolve();
let turns = 0;

function enqueue(action) {
  turns += 1;
  root.dataset.keysWait = "";
  turn = turn.then(action).catch(reportError).finally(() => {
    turns -= 1;
    if (!turns) delete root.dataset.keysWait;
  });
  return turn;
}

function painted() {
  return new Promise((resolve) => {
    if (document.visibilityState !== "visible") return resolve();
    setTimeout(resolve, 500); // a page that has just been hidden is not painted at all
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = resolve;
      port2.postMessage(null);
    });
  });
}

// --- showing --------------------------------------------------------------------------------------

// The full answer to a candidate, in the form in which the server writes it on the document view.
function fullAnswer(candidate, documentView) {
  const short = judgingSession.answerOf(candidate);
  if (!short) return { note: documentView.dataset.begun };
  const { uuid, kind, value } = short;
  const entry = entries.get(uuid);
  if (entry && byForm) return { kind, uuid, fields: entry.fields, note: entry.fields.cannot_judge ? "" : noteOf(entry) };
  if (entry?.kind === "judgment") return { kind, uuid, relevance: value, note: entry.note, evidence: entry.evidence, clauses: entry.clauses, verdicts: entry.verdicts };
  if (entry) return { kind, uuid, flag: value, words: entry.words };
  const drawn = JSON.parse(documentView?.dataset.answer || "{}");
  if (drawn.uuid === uuid) return drawn;
  if (byForm) return { kind, uuid, fields: {}, note: "" };
  return kind === "flag" ? { kind, uuid, flag: value, words: "" } : { kind, uuid, relevance: value, note: "", evidence: [], clauses: [], verdicts: {} };
}

// Updates what changes with every statement: the grade, the flag, the progress, and the links to the neighbours.
function draw(long) {
  const short = current === null ? null : judgingSession.answerOf(current);
  for (const button of grades()) button.setAttribute("aria-pressed", short !== null && short.kind !== "flag" && button.value === String(short.value));
  const flag = part("flag");
  if (flag) flag.hidden = short?.kind !== "flag";
  if (flag && !flag.hidden) flag.replaceChildren(root.querySelector(`[data-flag-badge="${short.value}"]`).content.cloneNode(true), " ", long?.words ?? entries.get(short.uuid)?.words ?? "");
  answers.showRequest(place, current);
  answers.drawProgress();
  setLink("previous", current === null ? (judgingSession.order.at(-1) ?? null) : judgingSession.before(current));
  setLink("next", current === null ? null : judgingSession.following(current));
  root.dispatchEvent(new CustomEvent("judge:draw", { detail: { current, answerTo: (candidate) => fullAnswer(candidate, stack.get(candidate)) } }));
}

function setLink(id, candidate) {
  const link = document.getElementById(id);
  link.setAttribute("aria-disabled", candidate === null);
  if (candidate === null) link.removeAttribute("href");
  else link.href = address(candidate);
}

// States: "document" (it is on the page), "coming" (it is not in the browser yet), "end" (none is left).
function setState(state) {
  root.dataset.at = state;
  part("coming").hidden = state !== "coming";
  part("end").hidden = state !== "end";
  for (const element of root.querySelectorAll("[data-speaks]")) element.inert = state !== "document";
}

function closeMenus() {
  for (const menu of root.querySelectorAll("details.menu[open]")) {
    // Blur at once: the browser moves the focus only later, and the next key would be typed into the closed menu.
    if (menu.contains(document.activeElement)) document.activeElement.blur();
    menu.open = false;
  }
}

const menuFields = () => [...root.querySelectorAll("form[data-entry] textarea")];

// Words that were begun in a menu come back with their document.
function fillMenus() {
  const begun = menuWords.get(current) ?? {};
  for (const field of menuFields()) field.value = begun[field.id] ?? "";
}

function keepMenuWords() {
  const begun = menuFields().filter(({ value }) => value).map(({ id, value }) => [id, value]);
  if (begun.length) menuWords.set(current, Object.fromEntries(begun));
  else menuWords.delete(current);
}

function updateHistory(candidate, step) {
  if (step === "stay") return;
  try {
    history[step === "push" ? "pushState" : "replaceState"]({ candidate }, "", address(candidate));
  } catch {
    // Some browsers limit how often the history may change; the page works without it.
  }
}

// Shows a candidate, or for null the end. `step`: push, replace or stay, for the browser's history.
function show(candidate, step = "push") {
  closeMenus();
  clearNotices();
  part("error")?.remove();
  setUnsaved(false);
  clearOnward();
  waiting = null;
  // The next Space or Enter is not meant for the button that answered the last document.
  if (root.contains(document.activeElement) && document.activeElement.matches("button, a, summary, input[type=radio]")) document.activeElement.blur();
  current = candidate;
  fillMenus();
  updateHistory(candidate, step);
  if (candidate === null) {
    const drawn = finish();
    // Tab goes on from there, so a page that opens with the card does not do this: Tab leads to its skip link.
    part("end").scrollIntoView({ block: "nearest" });
    return drawn;
  }
  const documentView = stack.get(candidate);
  if (!documentView) return waitFor(candidate);
  place.replaceChildren(documentView);
  fillSlots(documentView);
  const long = fullAnswer(candidate, documentView);
  for (const form of root.querySelectorAll("form[data-entry=judgment], form[data-entry=flag]")) form.action = `${address(candidate)}${form.dataset.entry}/`;
  note.defaultValue = long.note ?? "";
  note.value = notes.get(candidate) ?? note.defaultValue;
  updateNoteTick();
  setState("document");
  draw(long);
  announce(documentView, long);
  return painted().then(fetchAhead);
}

// What is asked and how it is answered changes with the label that is checked.
function fillSlots(documentView) {
  for (const template of documentView.querySelectorAll("template[data-for-slot]")) {
    root.querySelector(`[data-slot=${template.dataset.forSlot}]`)?.replaceChildren(template.content.cloneNode(true));
  }
}

// Announces the document to the other modules and to screen readers.
function announce(documentView, long) {
  scrollTo(0, 0);
  clock.turn(current);
  const list = document.getElementById("list");
  if (list) list.search = `?at=${current}`;
  let isBegun = note.value !== note.defaultValue;
  root.dispatchEvent(new CustomEvent("judge:document", { detail: { candidate: current, documentView, answer: long, begun: () => (isBegun = true) } }));
  setUnsaved(isBegun && long.uuid !== undefined && long.kind !== "flag");
  spoken.textContent = words("document", { position: number.format(judgingSession.position(current)), total: number.format(judgingSession.total), title: documentView.dataset.label });
  const asks = answers.showRequest(place, current)?.querySelector("p").textContent.trim().replace(/\s+/g, " ");
  if (asks) spoken.textContent += ` ${asks}`;
  visited.unshift(current);
  visited.length = Math.min(visited.length, BEHIND);
}

function fetchAhead() {
  const soon = judgingSession.upcoming(current, 100);
  const beside = [judgingSession.following(current), judgingSession.before(current)].filter((candidate) => candidate !== null && !soon.includes(candidate));
  stack.aim([...soon.slice(0, 4), ...beside, ...soon.slice(4)], [current, ...visited]);
}

// Waits for a document that is not in the browser yet. For a moment, keys that are pressed wait too; if the server cannot be
// reached, the page says so, keys have no effect, and the document is shown when it arrives.
async function waitFor(candidate) {
  place.replaceChildren();
  part("coming").textContent = "";
  setState("coming");
  draw();
  const coming = stack.ensure(candidate);
  const trouble = new Promise((resolve) => {
    stack.addEventListener("trouble", () => resolve(null), { once: true });
    setTimeout(() => resolve(null), PATIENCE);
  });
  const arrived = (found) => {
    if (found) return show(candidate, "stay");
    part("coming").textContent = spoken.textContent = words("absent");
  };
  const found = await Promise.race([coming, trouble]);
  if (found !== null) return arrived(found);
  part("coming").textContent = spoken.textContent = stack.refusal || words("coming");
  coming.then((late) => enqueue(() => (current === candidate && root.dataset.at === "coming" ? arrived(late) : null)));
}

function finish() {
  place.replaceChildren();
  summarize(part("end"), { given, judgingSession, entries, address, number });
  setState("end");
  draw();
  clock.turn(null);
  spoken.textContent = part("end").querySelector("h2").textContent;
  return painted();
}

const updateNoteTick = () => (part("noted").hidden = !note.value.trim());

// --- answering ------------------------------------------------------------------------------------

// An entry in words, for the list of what the server refused: with its note, which is nowhere else then.
function about(entry, label) {
  return { label, answer: isUndo(entry) ? words("takenBack") : [answerText(entry), entry.words ?? noteOf(entry)].filter(Boolean).join(": ") };
}

// The content of an answer to the document on screen, from the fields of the form that was sent.
function contentOf(kind, fields, pressed) {
  if (kind === "flag") return { flag: fields.get("kind"), words: (fields.get("words") ?? "").trim() };
  if (byForm) return { fields: Object.fromEntries([...fields].filter(([name]) => name !== "csrfmiddlewaretoken")) };
  return { relevance: Number(fields.get("relevance")), note: note.value, evidence: [], clauses: [], verdicts: {}, active_ms: clock.read(current), pressed };
}

// Builds the entry of an answer and shows why it is refused, if it is; returns it or null.
function collect(kind, content) {
  const documentView = place.firstElementChild;
  const { textVersion } = documentView.dataset;
  const entry = answers.make(byForm ? task.answers[0] : kind, current, { ...content, instead_of: judgingSession.answerOf(current)?.uuid ?? null });
  if (!byForm) entry.text_version = Number(textVersion);
  else if (textVersion) entry.fields.text_version = textVersion;
  let refused = null;
  stays = false;
  const detail = { entry, stands: fullAnswer(current, documentView), refuse: (sentence) => (refused ??= sentence), stay: () => (stays = true) };
  root.dispatchEvent(new CustomEvent("judge:collect", { detail }));
  if (refused === null) return entry;
  warn(refused);
  return null;
}

async function answer(kind, fields, pressed) {
  if (root.dataset.at !== "document" || answers.isFromElsewhere(current)) return;
  const entry = collect(kind, contentOf(kind, fields, pressed));
  if (entry === null) return;
  const candidate = current;
  await keepAnswer(entry);
  menuWords.delete(candidate);
  if (stays) return keepShown();
  await show(judgingSession.next(candidate));
}

// The answer is kept and its document stays: what is there now is the answer's.
function keepShown() {
  const long = fullAnswer(current, place.firstElementChild);
  note.defaultValue = long.note ?? "";
  setUnsaved(false);
  draw(long);
}

async function keepAnswer(entry) {
  const candidate = candidateOf(entry);
  await record(entry, place.firstElementChild.dataset.label);
  // The note is sent with the answer: it is no longer begun, unless more was written in the meantime.
  if (notes.get(candidate) === noteOf(entry)) notes.delete(candidate);
  takenBack.delete(candidate);
  // A flag carries no time: that so far goes on, and with it to a grade that follows.
  if (entry.active_ms !== undefined) clock.clear(candidate);
}

// Saves a note or a mark that was added to the answer that stands, at once and with the same answer. The document stays.
async function amend() {
  const answer = current === null ? null : judgingSession.answerOf(current);
  const isAnswer = (grade) => grade.value === String(answer.value);
  const button = answer && answer.kind !== "flag" && (grades().find(isAnswer) ?? document.getElementById("count"));
  if (root.dataset.at !== "document" || !button || answers.isFromElsewhere(current)) return;
  const kind = button.form.dataset.entry;
  const entry = collect(kind, contentOf(kind, new FormData(button.form, button), ""));
  if (entry === null) return setUnsaved(true);
  await keepAnswer(entry);
  keepShown();
}

// Says beside "Saved" that something on the page is not.
function setUnsaved(on) {
  const line = document.getElementById("save-line");
  if (on) line.dataset.unsaved = words("unsaved");
  else delete line.dataset.unsaved;
}

async function undo() {
  const statement = judgingSession.last();
  if (!statement) return;
  const { candidate, uuid } = statement;
  const taken = fullAnswer(candidate, stack.get(candidate));
  const entry = answers.makeUndo(statement);
  if (given.criteria) putBack(entry, statement);
  await record(entry, stack.get(candidate)?.dataset.label ?? "", taken);
  // The note is kept for the next answer. The reason of a level goes with it, and that of an older decision may not be the reader's own.
  const isOwn = !given.criteria && (entries.has(uuid) || task.number !== "disagreement");
  if (isOwn && taken.note && !notes.has(candidate) && !judgingSession.answerOf(candidate)) notes.set(candidate, taken.note);
  takenBack.set(candidate, taken);
  await show(candidate, candidate === current ? "stay" : "push");
  spoken.textContent = `${words("takenBack")}. ${spoken.textContent}`;
}

// The server keeps one answer to a criterion: its undoing sends what stood before.
function putBack(entry, statement) {
  judgingSession.apply(entry);
  const { fields } = fullAnswer(statement.candidate, stack.get(statement.candidate));
  Object.assign(entry, { undone: statement.value, fields: { level: "", words: "", ...fields } });
}

// `taken`: the answer that the entry takes back. Modules keep it for the next answer, unless an older one counts again.
async function record(entry, label, taken = null) {
  await answers.keep(entry, about(entry, label));
  root.dispatchEvent(new CustomEvent("judge:saved", { detail: { entry, taken: judgingSession.answerOf(candidateOf(entry)) ? null : taken } }));
}

// What was kept of an answer that was taken back is none of the older one that counts again, which only the server knew.
function dropTaken(candidate) {
  const taken = takenBack.get(candidate);
  if (!taken || !judgingSession.answerOf(candidate)?.given) return;
  takenBack.delete(candidate);
  if (notes.get(candidate) === taken.note) notes.delete(candidate);
  root.dispatchEvent(new CustomEvent("judge:restored", { detail: { candidate, taken } }));
}

// --- events ---------------------------------------------------------------------------------------

// Redraws after a change of current answers. The document may have a newer text, or an older answer that counts again and that only
// the server knew. On the end page, there may be one to judge again.
function redraw({ detail: { candidate } }) {
  dropTaken(candidate);
  const newest = candidate === current ? stack.get(candidate) : null;
  const viewOnPage = place.firstElementChild;
  if (newest && viewOnPage && ["textVersion", "answer"].some((name) => newest.dataset[name] !== viewOnPage.dataset[name])) {
    return enqueue(() => (current === candidate ? show(candidate, "stay") : null));
  }
  draw();
  if (current === null) enqueue(() => (current === null && judgingSession.next() !== null ? show(judgingSession.next(), "replace") : null));
}

answers.addEventListener("change", redraw);
answers.addEventListener("elsewhere", ({ detail: { candidate, sentence } }) => candidate === current && showNotice(sentence, { kind: "warning" }));

root.addEventListener("submit", (event) => {
  const kind = event.target.dataset.entry;
  if (!kind) return;
  // Decisions that were made together are undone by the server.
  if ("otherwise" in event.target.dataset && !judgingSession.last()) return;
  event.preventDefault();
  const fields = new FormData(event.target, event.submitter);
  const pressed = clicked ? "click" : "key";
  clicked = false;
  enqueue(() => (kind === "undo" ? undo() : answer(kind, fields, pressed)));
});

addEventListener("keydown", ({ key }) => key === "Escape" && clearNotices(), true);

// A click caused by a key has no pointer, so its `detail` is 0.
let clicked = false;
let clickedAt = 0;
root.addEventListener("click", (event) => {
  // What was said of the last key no longer holds.
  clearNotices();
  clicked = event.detail > 0;
  // After a click no button keeps the focus: Space scrolls the document, and Enter does what the page promises.
  if (clicked) event.target.closest("button, summary")?.blur();
  // The second half of a double click is not meant for the next document, which nobody has read yet.
  if (event.detail > 1 && event.timeStamp - clickedAt < DOUBLE && event.target.closest("[data-entry] [type=submit]")) event.preventDefault();
  if (clicked) clickedAt = event.timeStamp;
}, true);

root.addEventListener("click", (event) => {
  const link = event.target.closest("[data-go]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  enqueue(() => {
    const { go } = link.dataset;
    const to = go === "next" ? judgingSession.following(current) : go !== "previous" ? parseCandidate(go) : current === null ? (judgingSession.order.at(-1) ?? null) : judgingSession.before(current);
    return to === null ? null : show(to);
  });
});

note.addEventListener("input", () => {
  if (note.value === note.defaultValue) notes.delete(current);
  else notes.set(current, note.value);
  updateNoteTick();
});
root.addEventListener("input", ({ target }) => menuFields().includes(target) && keepMenuWords());
note.addEventListener("blur", () => note.value !== note.defaultValue && enqueue(amend));
root.addEventListener("judge:amended", () => enqueue(amend));
root.addEventListener("judge:next", () => enqueue(() => show(judgingSession.next(current))));
// Without a state, only the fragment has changed.
addEventListener("popstate", ({ state }) => state && enqueue(() => (state.candidate === current ? null : show(state.candidate, "stay"))));
// A page from the browser's back/forward cache does not know the answers given since.
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

// --- start ----------------------------------------------------------------------------------------

enqueue(async () => {
  // Wait until the other modules of the page are listening.
  if (document.readyState !== "complete") await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
  const fresh = await answers.load();
  const isPassedOn = location.pathname === given.urls.judging;
  updateHistory(current, "replace");
  for (const documentView of document.getElementById("ahead")?.content.children ?? []) stack.put(parseCandidate(documentView.dataset.candidate), documentView);
  // If the server redirected to a document that has been judged in the meantime, move on to the next one.
  // A document that was requested by its own URL is shown.
  const { type, redirectCount } = performance.getEntriesByType("navigation")[0] ?? {};
  const sent = type === "navigate" && (redirectCount > 0 || isPassedOn);
  const passed = sent && fresh.some((entry) => candidateOf(entry) === current && entry.uuid === judgingSession.answerOf(current)?.uuid);
  if (current === null || passed) {
    const next = judgingSession.next(current);
    return next === null ? finish() : show(next, "replace");
  }
  const documentView = place.firstElementChild;
  stack.put(current, documentView);
  const long = fullAnswer(current, documentView);
  const begun = notes.get(current) ?? (note.value || (long.note ?? ""));
  note.defaultValue = long.note ?? "";
  note.value = begun;
  updateNoteTick();
  if (menuWords.has(current)) fillMenus();
  setState("document");
  draw(long);
  announce(documentView, long);
  await painted();
  fetchAhead();
});

// Opens the note of the page when words are needed. Enter then gives the answer of `button` with them.
export function openNote(button = null) {
  waiting = button;
  note.closest("details").open = true;
  note.focus();
}

note.addEventListener("keydown", (event) => {
  if (!waiting || event.key !== "Enter" || event.shiftKey || event.isComposing || event.keyCode === 229 || !note.value.trim()) return;
  event.preventDefault();
  event.stopPropagation();
  const button = waiting;
  waiting = null;
  // The words go along with the answer: they are no answer of their own.
  note.defaultValue = note.value;
  note.blur();
  note.closest("details").open = false;
  button.click();
});
