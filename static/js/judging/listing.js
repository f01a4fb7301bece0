// List mode: the rows of a pool, one of them current; a grade's key journals the judgment and moves to the next row. The
// badges on the rows come from the same answers as on the judge page (answers.js), so that both agree. Pages of a
// long list are fetched and replaced in place, and the data on the whole pool is kept.
import { clearNotices, warn } from "../notices.js";
import { Answers } from "./answers.js";
import { Clock, watched } from "./clock.js";
import { valueOf } from "./judging-session.js";
import { highlightMarks, inSight, marksIn, wantsMarks } from "./spans.js";

// How many documents are kept ready below and above the current row.
const NEAR = { below: 8, above: 2 };

const root = document.querySelector("[data-listing]");
const given = JSON.parse(document.getElementById("judging-session").textContent);
const answers = new Answers(given, root.dataset, answerText);
const { session: judgingSession, stack } = answers;
const clock = watched(new Clock());

const part = () => root.querySelector(".listing");
const rows = () => [...part().querySelectorAll("[data-row]")];
const rowOf = (candidate) => part().querySelector(`[data-row="${candidate}"]`);
const current = () => part().querySelector("[data-current]");
const candidateOf = (row) => Number(row.dataset.row);
const nameOf = (row) => row.querySelector("a").textContent.trim().replace(/\s+/g, " ");
const announce = (words) => (document.getElementById("spoken").textContent = words);
const make = (tag, properties, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

// --- drawing --------------------------------------------------------------------------------------

function mark(kind, value) {
  return root.querySelector(`template[data-mark="${kind} ${value}"]`)?.content.cloneNode(true) ?? "";
}

function draw(row) {
  const statement = judgingSession.answerOf(candidateOf(row));
  row.querySelector("[data-answer]").replaceChildren(statement ? mark(statement.kind, statement.value) : "");
  answers.showRequest(row, candidateOf(row));
  for (const button of row.querySelectorAll("[name=relevance]")) button.ariaPressed = String(statement?.kind === "judgment" && statement.value === Number(button.value));
}

function count() {
  const counts = { "": judgingSession.total, open: 0, later: 0, aside: 0, again: 0 };
  for (const candidate of judgingSession.order) {
    const statement = judgingSession.answerOf(candidate);
    const group = !statement ? "open" : statement.kind === "judgment" ? String(statement.value) : statement.value === "later" ? "later" : "aside";
    counts[group] = (counts[group] ?? 0) + 1;
    if (statement?.kind === "judgment" && judgingSession.asked(candidate)) counts.again += 1;
  }
  const written = new Intl.NumberFormat(document.documentElement.lang);
  for (const place of part().querySelectorAll("[data-count]")) place.textContent = written.format(counts[place.dataset.count] ?? 0);
  answers.drawProgress();
}

function redraw(candidate) {
  const row = rowOf(candidate);
  if (row) draw(row);
  count();
}

// --- moving ---------------------------------------------------------------------------------------

function go(row, focus = true) {
  for (const other of rows()) {
    delete other.dataset.current;
    other.ariaCurrent = null;
  }
  if (!row) return;
  row.dataset.current = "";
  row.ariaCurrent = "true";
  if (focus) row.querySelector("a").focus({ preventScroll: true });
  // Tab continues from where a page was scrolled to; on a list that was just opened, it must reach the skip link first.
  if (focus || !inSight(row)) row.scrollIntoView({ block: "nearest" });
  clock.turn(candidateOf(row));
  root.querySelector("[data-mode]").href = row.querySelector("a").href;
  const all = rows();
  const here = all.indexOf(row);
  const ids = (from, to) => all.slice(Math.max(0, from), to).map(candidateOf);
  stack.aim(ids(here, here + NEAR.below), ids(here - NEAR.above, here));
}

function step(by) {
  const all = rows();
  const here = all.indexOf(current());
  if (all[here + by]) go(all[here + by]);
  else {
    const link = part().querySelector(by > 0 ? "[rel=next]" : "[rel=prev]");
    if (link) show(link.getAttribute("href"), by > 0 ? "first" : "last");
    else if (by > 0 && all.length) announce(root.dataset.end);
  }
}

// Replaces this page of the list with another; `then` is the row to make current: "first", "last", or a candidate.
// Keys that are pressed in the meantime are held for the new rows.
async function show(search, then, keep = true) {
  root.dataset.keysWait = "";
  try {
    await fetchPart(search, then, keep);
  } finally {
    delete root.dataset.keysWait;
  }
}

async function fetchPart(search, then, keep) {
  try {
    const answer = await fetch(`${location.pathname}${search}`, { headers: { "hx-request": "true" }, signal: AbortSignal.timeout(20_000) });
    if (answer.redirected) return location.assign(answer.url);
    if (!answer.ok) throw new Error(answer.statusText);
    const found = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector(".listing");
    part().replaceWith(document.adoptNode(found));
  } catch {
    return warn(root.dataset.unreachable);
  }
  if (keep) history.pushState(null, "", search || location.pathname);
  ready();
  const all = rows();
  go({ first: all[0], last: all.at(-1) }[then] ?? rowOf(then) ?? all[0]);
  if (then !== "last" && all[0] === current()) scrollTo(0, 0);
}

// --- the text of a row ----------------------------------------------------------------------------

async function open(row) {
  const button = row.querySelector("[data-open]");
  if (button.ariaExpanded === "true") return;
  button.ariaExpanded = "true";
  const place = make("div", { className: "listing__document-view", textContent: root.dataset.fetching });
  row.append(place);
  const candidate = candidateOf(row);
  if (await stack.ensure(candidate)) place.replaceChildren(...stack.get(candidate).childNodes);
  else place.remove();
  // The row itself already shows its rejudge request.
  for (const one of place.querySelectorAll("[data-again]")) one.remove();
  place.dispatchEvent(new CustomEvent("document:window", { bubbles: true }));
  // Show the text from its top.
  if (row === current() && row.getBoundingClientRect().bottom > innerHeight) row.scrollIntoView({ block: "start" });
}

function close(row) {
  row.querySelector("[data-open]").ariaExpanded = "false";
  row.querySelector(".listing__document-view")?.remove();
  row.querySelector(".listing__word")?.remove();
  paintMarks();
}

// Marks the words of the query and of the change in the open texts.
const paintMarks = () => highlightMarks(wantsMarks() ? marksIn(part()) : []);
document.addEventListener("document:window", paintMarks);

const isOpen = (row) => row.querySelector("[data-open]").ariaExpanded === "true";

// Shows in the row why the document's own page is needed, and opens the row.
function pointToPage(row, sentence) {
  row.querySelector(".listing__word")?.remove();
  const key = root.querySelector("[data-mode] kbd").cloneNode(true);
  const link = make("a", { href: row.querySelector("a").href }, root.dataset.toPage, " ", key);
  row.append(make("p", { className: "listing__word", role: "alert" }, sentence, " ", link));
  open(row);
}

// --- answering ------------------------------------------------------------------------------------

function answerText(entry) {
  return mark(entry.kind, valueOf(entry)).textContent.trim().replace(/\s+/g, " ");
}

// Journals an answer to the row's document, and moves to the next row, which opens if this one was open.
async function answer(row, kind, fields, words) {
  const candidate = candidateOf(row);
  if (answers.isFromElsewhere(candidate)) return;
  const made = answers.make(kind, candidate, { ...fields, text_version: Number(row.dataset.textVersion), instead_of: judgingSession.answerOf(candidate)?.uuid ?? null });
  // It counts at once, before the next key.
  const saving = answers.keep(made, { label: nameOf(row), answer: words });
  answers.drawProgress();
  clearNotices();
  const wasOpen = isOpen(row);
  close(row);
  step(1);
  if (wasOpen && current() && current() !== row) open(current());
  await saving;
  announce(`${words}: ${nameOf(row)}`);
}

// Whether an answer has a note, marks or verdicts, also one given in another tab since the list was opened.
function hasMore(row, { uuid }) {
  const entry = answers.entries.get(uuid);
  if (!entry) return "more" in row.dataset;
  return entry.kind === "judgment" && Boolean(entry.note || entry.evidence.length || entry.clauses.length || Object.keys(entry.verdicts).length);
}

function grade(row, button, pressed) {
  if (answers.isFromElsewhere(candidateOf(row))) return;
  const value = Number(button.value);
  const statement = judgingSession.answerOf(candidateOf(row));
  // The same grade changes nothing, and keeps note and evidence, unless it answers a rejudge request.
  if (statement?.kind === "judgment" && statement.value === value && !judgingSession.asked(candidateOf(row))) return step(1);
  if (root.dataset.needsConditions) return pointToPage(row, root.dataset.needsConditions);
  if (row.dataset.wanted?.split(" ").includes(button.value)) return pointToPage(row, root.dataset.needsEvidence);
  if (statement && hasMore(row, statement)) return pointToPage(row, root.dataset.needsPage);
  const candidate = candidateOf(row);
  const spent = clock.read(candidate);
  clock.clear(candidate);
  answer(row, "judgment", { relevance: value, note: "", evidence: [], clauses: [], verdicts: {}, active_ms: spent, pressed }, button.dataset.keyLabel);
}

async function undo() {
  const last = judgingSession.last();
  if (!last) return;
  const row = rowOf(last.candidate);
  const saving = answers.keep(answers.makeUndo(last), { label: row ? nameOf(row) : "", answer: root.dataset.takenBack });
  if (row) go(row);
  else {
    await saving;
    await show(`?at=${last.candidate}`, last.candidate);
  }
  await saving;
  announce(`${root.dataset.takenBack}: ${current() ? nameOf(current()) : ""}`);
}

// --- events ---------------------------------------------------------------------------------------

root.addEventListener("click", (event) => {
  const target = event.target.closest("button, a");
  if (!target) return;
  const row = target.closest("[data-row]") ?? current();
  if (target.matches("[name=relevance]")) {
    event.preventDefault();
    go(row);
    // A click caused by a key has no pointer.
    grade(row, target, event.detail ? "click" : "key");
  } else if (target.matches("[data-open]")) {
    go(row);
    if (isOpen(row)) close(row);
    else open(row);
  } else if (target.matches("[data-step]")) step(Number(target.dataset.step));
  else if (target.matches("button[data-flag]") && row) answer(row, "flag", { flag: target.dataset.flag, words: "" }, target.dataset.keyLabel);
  else if (target.matches(".listing a[href^='?']") && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
    event.preventDefault();
    show(target.getAttribute("href"), target.rel === "prev" ? "last" : "first");
  }
});

root.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.dataset.entry === "undo") {
    event.preventDefault();
    undo();
  } else if (form.dataset.entry === "flag") {
    event.preventDefault();
    const row = current();
    const words = form.elements.words.value.trim();
    if (!row || !words) return;
    form.elements.words.value = "";
    form.closest("details").open = false;
    answer(row, "flag", { flag: form.elements.kind.value, words }, form.querySelector("[type=submit]").textContent.trim());
  }
});

root.addEventListener("focusin", (event) => {
  const row = event.target.closest("[data-row]");
  if (row && row !== current()) go(row, false);
});

addEventListener("popstate", () => show(location.search, "first", false));

answers.addEventListener("change", ({ detail: { candidate } }) => {
  const row = rowOf(candidate);
  const newest = stack.get(candidate)?.dataset.textVersion;
  if (row && newest !== undefined && newest !== row.dataset.textVersion) {
    row.dataset.textVersion = newest;
    if (isOpen(row)) {
      close(row);
      open(row);
    }
  }
  redraw(candidate);
});
answers.addEventListener("elsewhere", ({ detail: { candidate, sentence } }) => current() && candidate === candidateOf(current()) && warn(sentence));

// --- start ----------------------------------------------------------------------------------------

function ready() {
  for (const hidden of root.querySelectorAll("[data-scripted][hidden]")) hidden.hidden = false;
  for (const row of rows()) draw(row);
  count();
}

await answers.load();
ready();
const wanted = new URLSearchParams(location.search).get("at");
go((wanted && rowOf(wanted)) || rows().find((row) => judgingSession.asked(candidateOf(row))) || rows().find((row) => !judgingSession.answerOf(candidateOf(row))) || rows()[0], false);
delete root.dataset.keysWait;
