// The judge page. It stays while the documents change: an answer goes into the journal (journal.js), and once it is kept
// there the next document is shown, from the stack of those fetched ahead. Actions are processed one after the other, and
// each ends when the document is painted, so a key pressed twice quickly grades two documents.
// Other modules of the page work with it through events on `.judge`: judge:document, judge:collect, judge:saved.
import { add, entriesSinceLoad, journal, uuid } from "../journal.js";
import { clearNotices, showNotice } from "../notices.js";
import { Clock, watched } from "./clock.js";
import { summarize } from "./finished.js";
import { sessionMap } from "./kept.js";
import { JudgingSession } from "./judging-session.js";
import { Stack } from "./stack.js";

const BEHIND = 20;
const PATIENCE = 3_000;
const DOUBLE = 300;

const root = document.querySelector(".judge");
const given = JSON.parse(document.getElementById("judging-session").textContent);
const place = document.getElementById("document-view");
const spoken = document.getElementById("spoken");
const note = document.getElementById("note");
const part = (name) => root.querySelector(`[data-part="${name}"]`);

const judgingSession = new JudgingSession(given);
const stack = new Stack(given.urls.documents);
const clock = watched(new Clock());
const entries = new Map(); // uuid -> an entry of the journal
const unsure = new Set(); // UUIDs of undo entries for which the statement to restore is not known here
const notes = sessionMap("notes"); // candidate -> a note that was begun and not sent
const elsewhere = new Map(); // candidate -> UUID of another tab's answer, until a key press here has reported it
const visited = [];
let current = given.candidate;

const number = new Intl.NumberFormat(document.documentElement.lang);
const words = (name, values = {}) => root.dataset[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
const address = (candidate) => (candidate === null ? given.urls.judging : given.urls.candidate.replace(/0\/$/, `${candidate}/`));
const isOurs = (entry) => entry.pair === given.pair && entry.narrative === given.narrative;
const gradeName = (value) => given.grades.find((grade) => grade.value === value)?.name ?? "";
const answerText = (entry) => (entry.kind === "flag" ? root.querySelector(`[data-flag-badge="${entry.flag}"]`).content.textContent.trim() : `${entry.relevance} ${gradeName(entry.relevance)}`);

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
  if (!short) return {};
  const { uuid, kind, value } = short;
  const entry = entries.get(uuid);
  if (entry?.kind === "judgment") return { kind, uuid, relevance: value, note: entry.note, evidence: entry.evidence, clauses: entry.clauses, verdicts: entry.verdicts };
  if (entry) return { kind, uuid, flag: value, words: entry.words };
  const drawn = JSON.parse(documentView.dataset.answer || "{}");
  if (drawn.uuid === uuid) return drawn;
  return kind === "flag" ? { kind, uuid, flag: value, words: "" } : { kind, uuid, relevance: value, note: "", evidence: [], clauses: [], verdicts: {} };
}

// Updates what changes with every statement: the grade, the flag, the progress, and the links to the neighbours.
function draw(long) {
  const short = current === null ? null : judgingSession.answerOf(current);
  for (const button of root.querySelectorAll("[name=relevance]")) button.setAttribute("aria-pressed", short?.kind === "judgment" && Number(button.value) === short.value);
  const flag = part("flag");
  flag.hidden = short?.kind !== "flag";
  if (!flag.hidden) flag.replaceChildren(root.querySelector(`[data-flag-badge="${short.value}"]`).content.cloneNode(true), " ", long?.words ?? entries.get(short.uuid)?.words ?? "");
  for (const one of place.querySelectorAll("[data-again]")) one.hidden = one !== rejudgeRequest();
  const progress = document.querySelector("#judge-progress progress");
  progress.max = Math.max(1, judgingSession.total);
  progress.value = judgingSession.settled;
  document.querySelector("#judge-progress .count").textContent = words("progress", { done: number.format(judgingSession.settled), total: number.format(judgingSession.total) });
  document.getElementById("undo").disabled = judgingSession.last() === null;
  setLink("previous", current === null ? (judgingSession.order.at(-1) ?? null) : judgingSession.before(current));
  setLink("next", current === null ? null : judgingSession.following(current));
}

// The rejudge request that belongs to the current answer to the shown document, also if that was just flagged "later".
function rejudgeRequest() {
  if (current === null || !judgingSession.asked(current)) return null;
  const rejudgeRequests = [...place.querySelectorAll("[data-again]")];
  return rejudgeRequests.find((one) => one.dataset.again === judgingSession.answerOf(current).uuid) ?? rejudgeRequests.at(-1) ?? null;
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
  for (const field of root.querySelectorAll("[data-entry=flag] textarea")) field.value = "";
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
  current = candidate;
  updateHistory(candidate, step);
  if (candidate === null) return finish();
  const documentView = stack.get(candidate);
  if (!documentView) return waitFor(candidate);
  place.replaceChildren(documentView);
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

// Announces the document to the other modules and to screen readers.
function announce(documentView, long) {
  scrollTo(0, 0);
  clock.turn(current);
  document.getElementById("list").search = `?at=${current}`;
  root.dispatchEvent(new CustomEvent("judge:document", { detail: { candidate: current, documentView, answer: long } }));
  spoken.textContent = words("document", { position: number.format(judgingSession.position(current)), total: number.format(judgingSession.total), title: documentView.dataset.label });
  const asks = rejudgeRequest()?.querySelector("p").textContent.trim();
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
  part("coming").textContent = spoken.textContent = words("coming");
  coming.then((late) => enqueue(() => (current === candidate && root.dataset.at === "coming" ? arrived(late) : null)));
}

function finish() {
  place.replaceChildren();
  summarize(part("end"), { given, judgingSession, entries, address, number });
  setState("end");
  draw();
  clock.turn(null);
  spoken.textContent = words("end");
  return painted();
}

const updateNoteTick = () => (part("noted").hidden = !note.value.trim());

// --- answering ------------------------------------------------------------------------------------

const about = (entry, label) => ({ label, answer: entry.kind === "undo" ? words("takenBack") : answerText(entry) });
const newEntry = (kind, candidate) => ({ uuid: uuid(), kind, user: given.user, pair: given.pair, narrative: given.narrative, candidate, made_at: new Date().toISOString() });

async function answer(kind, fields, pressed) {
  if (root.dataset.at !== "document") return;
  const candidate = current;
  if (isFromElsewhere(candidate)) return;
  const text_version = Number(place.firstElementChild.dataset.textVersion);
  const entry = { ...newEntry(kind, candidate), text_version, instead_of: judgingSession.answerOf(candidate)?.uuid ?? null };
  if (kind === "flag") Object.assign(entry, { flag: fields.get("kind"), words: (fields.get("words") ?? "").trim() });
  else Object.assign(entry, { relevance: Number(fields.get("relevance")), note: note.value, evidence: [], clauses: [], verdicts: {}, active_ms: clock.read(candidate), pressed });
  let refused = null;
  root.dispatchEvent(new CustomEvent("judge:collect", { detail: { entry, refuse: (sentence) => (refused ??= sentence) } }));
  if (refused !== null) {
    clearNotices();
    showNotice(refused, { kind: "warning" });
    return;
  }
  await record(entry, place.firstElementChild.dataset.label);
  // The note is sent with the judgment: it is no longer begun, unless more was written in the meantime.
  if (notes.get(candidate) === entry.note) notes.delete(candidate);
  clock.clear(candidate);
  await show(judgingSession.next(candidate));
}

// The first key on a document that another tab has judged in the meantime shows that answer; the next one replaces it.
function isFromElsewhere(candidate) {
  const stands = judgingSession.answerOf(candidate)?.uuid;
  const isNew = stands !== undefined && elsewhere.get(candidate) === stands;
  elsewhere.delete(candidate);
  if (isNew) {
    clearNotices();
    showNotice(words("replace", { answer: answerText(entries.get(stands)) }), { kind: "warning" });
  }
  return isNew;
}

async function undo() {
  const statement = judgingSession.last();
  if (!statement) return;
  const { candidate } = statement;
  const entry = { ...newEntry("undo", candidate), undoes: statement.uuid };
  if (statement.given) unsure.add(entry.uuid);
  await record(entry, stack.get(candidate)?.dataset.label ?? "");
  await show(candidate, candidate === current ? "stay" : "push");
  spoken.textContent = `${words("takenBack")}. ${spoken.textContent}`;
}

async function record(entry, label) {
  entries.set(entry.uuid, entry);
  await add(entry, about(entry, label));
  judgingSession.apply(entry);
  root.dispatchEvent(new CustomEvent("judge:saved", { detail: { entry } }));
}

// --- events ---------------------------------------------------------------------------------------

// Redraws after a change of current answers. On the end page, there may be a document to judge again.
function redraw() {
  draw();
  if (current === null) enqueue(() => (current === null && judgingSession.next() !== null ? show(judgingSession.next(), "replace") : null));
}

// Another tab of this browser has answered, or a refused entry is tried again.
journal.addEventListener("entry", ({ detail: { entry } }) => {
  if (!isOurs(entry)) return;
  const known = entries.has(entry.uuid);
  entries.set(entry.uuid, entry);
  judgingSession.apply(entry);
  redraw();
  if (known || entry.kind === "undo") return;
  elsewhere.set(entry.candidate, entry.uuid);
  if (entry.candidate === current) showNotice(words("elsewhere", { answer: answerText(entry) }), { kind: "warning" });
});

journal.addEventListener("gone", ({ detail: { entry } }) => {
  if (!isOurs(entry)) return;
  judgingSession.withdraw(entry);
  redraw();
});

journal.addEventListener("answer", async ({ detail: { entry, answer } }) => {
  if (!isOurs(entry)) return;
  if (answer.state === "refused") {
    judgingSession.withdraw(entry);
    redraw();
    showNotice(answer.sentence || words("refused"), { kind: "error", stays: true });
  } else if (unsure.delete(entry.uuid) && (await stack.ensure(entry.candidate, true))) {
    // The statement's predecessor is current again, and only the server knows whether there was one.
    const documentView = stack.get(entry.candidate);
    const before = JSON.parse(documentView.dataset.answer || "{}");
    if (before.kind) judgingSession.underlie(entry.candidate, before.kind, before.relevance ?? before.flag, before.uuid);
    draw();
  }
});

root.addEventListener("submit", (event) => {
  const kind = event.target.dataset.entry;
  if (!kind) return;
  event.preventDefault();
  const fields = new FormData(event.target, event.submitter);
  const pressed = clicked ? "click" : "key";
  clicked = false;
  enqueue(() => (kind === "undo" ? undo() : answer(kind, fields, pressed)));
});

// A click caused by a key has no pointer, so its `detail` is 0.
let clicked = false;
let clickedAt = 0;
root.addEventListener("click", (event) => {
  clicked = event.detail > 0;
  // The second half of a double click is not meant for the next document, which nobody has read yet.
  if (event.detail > 1 && event.timeStamp - clickedAt < DOUBLE && event.target.closest("[data-entry] [type=submit]")) event.preventDefault();
  if (clicked) clickedAt = event.timeStamp;
}, true);

root.addEventListener("click", (event) => {
  const link = event.target.closest("[data-go]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  enqueue(() => {
    const back = link.dataset.go === "previous";
    const to = current === null ? (back ? judgingSession.order.at(-1) : null) : back ? judgingSession.before(current) : judgingSession.following(current);
    return to === null || to === undefined ? null : show(to);
  });
});

note.addEventListener("input", () => {
  if (note.value === note.defaultValue) notes.delete(current);
  else notes.set(current, note.value);
  updateNoteTick();
});
addEventListener("popstate", () => {
  // Also fires if only the fragment changed: then the document is already shown.
  const candidate = Number(location.pathname.match(/\/candidates\/(\d+)\/$/)?.[1]) || null;
  enqueue(() => (candidate === current ? null : show(candidate, "stay")));
});
// A page from the browser's back/forward cache does not know the answers given since.
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

// --- start ----------------------------------------------------------------------------------------

enqueue(async () => {
  // Wait until the other modules of the page are listening.
  if (document.readyState !== "complete") await new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve, { once: true }));
  const fresh = (await entriesSinceLoad(given.pair)).filter(isOurs);
  for (const entry of fresh) {
    entries.set(entry.uuid, entry);
    judgingSession.apply(entry);
  }
  updateHistory(current, "replace");
  // If the server redirected to a document that has been judged in the meantime, move on to the next one.
  // A document that was requested by its own URL is shown.
  const { type, redirectCount } = performance.getEntriesByType("navigation")[0] ?? {};
  const sent = type === "navigate" && redirectCount > 0;
  const passed = sent && fresh.some((entry) => entry.candidate === current && entry.uuid === judgingSession.answerOf(current)?.uuid);
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
  setState("document");
  draw(long);
  announce(documentView, long);
  await painted();
  fetchAhead();
});
