// Evidence on the judge page: passages of the document, cells of its table and clauses of the narrative that decided. They
// are listed in the bar, highlighted in place, sent with the judgment, and shown again with its document. Unsent marks are
// kept while other documents are shown. If the project requires evidence for this grade, the grade is refused and marking
// starts. Offsets are code points of the stored text.
import { bringIntoSight, cellsOf, chooseCell, chooseClause, choosePassage, clausesOf, unitAt, unitInSight, Words, wordsOf as wordsOfCell } from "./choosing.js";
import { unfold } from "./asked.js";
import { begunMap } from "./judging-session.js";
import { openNote } from "./page.js";
import { mergeSpans, Text } from "./spans.js";

const MOST = 50;
const SHOWN = 60;

const root = document.querySelector(".judge");
const strip = root?.querySelector("[data-evidence]");
const narrative = root?.querySelector("[data-narrative]");
const part = (name) => strip.querySelector(`[data-evidence-${name}]`);
const words = (name, values = {}) => strip.dataset[name].replace(/\{(\w+)\}/g, (_, key) => values[key]);
const short = (text) => {
  const signs = [...text.replace(/\s+/g, " ").trim()];
  return signs.length > SHOWN ? `${signs.slice(0, SHOWN).join("").trimEnd()}…` : signs.join("");
};
const spanOf = (clause) => ({ start: Number(clause.dataset.start), end: Number(clause.dataset.end) });
const wordsOf = (clause) => [...clause.childNodes].filter((node) => node.nodeName !== "DEL").map((node) => node.textContent).join("");
const within = (span, { start, end }) => start < span.end && span.start < end;

// Candidate -> its unsent marks; UUID of a judgment -> its marks.
const unsent = strip ? begunMap("marks") : new Map();
const sent = new Map();
let now = null;
let leave = null;
let isAmended = false;

function say(sentence) {
  part("spoken").textContent = sentence;
}

// --- the marks ------------------------------------------------------------------------------------

// The text is walked only when a position in it is needed, not for every document that is shown.
function text() {
  const element = now.documentView.querySelector(".document__text");
  if (element) now.text ??= new Text(element);
  return now.text;
}

// The cells of the shown window of the table.
function cells() {
  if (!now.cells?.[0]?.element.isConnected) now.cells = cellsOf(now.documentView);
  return now.cells;
}

const isMarked = (cell) => now.evidence.some((span) => within(span, cell));

function toggleCell(cell) {
  const marked = isMarked(cell);
  say(words(marked ? "unmarked" : "marked", { text: wordsOfCell(cell) }));
  const { start, end } = cell;
  change("evidence", marked ? now.evidence.filter((span) => !within(span, cell)) : mergeSpans([...now.evidence, { start, end }]));
}

function keep() {
  const { evidence, clauses, before, version } = now;
  unsent.set(now.candidate, { evidence, clauses, before, version });
}

// Tells the page that more was marked; while several are being marked, once at the end.
function amend() {
  isAmended = true;
  if (!leave) tellAmended();
}

function tellAmended() {
  if (isAmended) root.dispatchEvent(new Event("judge:amended"));
  isAmended = false;
}

function change(kind, spans) {
  if (spans.length > MOST) return say(words("tooMany"));
  now.before.push({ evidence: now.evidence, clauses: now.clauses });
  now[kind] = spans;
  keep();
  draw();
  amend();
}

function addPassage([start, end]) {
  const span = { start: text().points(start), end: text().points(end) };
  say(words("marked", { text: text().string.slice(start, end) }));
  change("evidence", mergeSpans([...now.evidence, span]));
}

const isChosen = (clause) => now.clauses.some((span) => within(span, spanOf(clause)));

function toggleClause(clause) {
  const chosen = isChosen(clause);
  // Adjacent clauses without a blank between them share one span: keep the rest of it.
  const spans = clausesOf(narrative).filter((other) => (other === clause ? !chosen : isChosen(other))).map(spanOf);
  say(words(chosen ? "unmarked" : "marked", { text: wordsOf(clause) }));
  change("clauses", spans);
}

function takeBack() {
  if (!now.before.length) return;
  Object.assign(now, now.before.pop());
  keep();
  draw();
  amend();
}

// --- drawing --------------------------------------------------------------------------------------

function draw() {
  const passages = now.evidence.map((span) => {
    if (!text()) return cellChip(span);
    const place = [text().units(span.start), text().units(span.end)];
    const quoted = text().string.slice(...place);
    return chip(`“${short(quoted)}”`, quoted, () => bringIntoSight(text().range(place)), () => change("evidence", now.evidence.filter((other) => other !== span)));
  });
  const clauses = clausesOf(narrative).filter(isChosen).map((clause) => {
    const name = words("clauseName", { number: clause.dataset.clause });
    const go = () => {
      unfold();
      clause.scrollIntoView({ block: "nearest" });
    };
    return chip(`${name}: “${short(wordsOf(clause))}”`, wordsOf(clause), go, () => toggleClause(clause));
  });
  part("marks").replaceChildren(...passages, ...clauses);
  part("marks").hidden = !passages.length && !clauses.length;
  part("marks").scrollLeft = part("marks").scrollWidth;
  part("back").hidden = !now.before.length;
  for (const clause of clausesOf(narrative)) clause.toggleAttribute("data-chosen", isChosen(clause));
  paint();
}

// The text of a cell in another window of the table is not known here.
function cellChip(span) {
  const cell = cells().find((one) => within(span, one));
  const quoted = cell ? wordsOfCell(cell) : words("elsewhere");
  const go = () => cell?.element.scrollIntoView({ block: "center", inline: "center" });
  return chip(cell ? `“${short(quoted)}”` : quoted, quoted, go, () => change("evidence", now.evidence.filter((other) => other !== span)));
}

function chip(label, whole, go, away) {
  const item = document.createElement("li");
  item.className = "mark-chip";
  const button = (className, content, name, action) => {
    const made = Object.assign(document.createElement("button"), { type: "button", className, textContent: content, title: name, ariaLabel: name });
    made.addEventListener("click", action);
    return made;
  };
  const remove = () => {
    const place = [...part("marks").children].indexOf(item);
    const focused = item.contains(document.activeElement);
    away();
    const left = part("marks").children;
    if (focused) (left[Math.min(place, left.length - 1)]?.lastElementChild ?? part("passage")).focus();
  };
  const quoted = button("mark-chip__go", label, words("goTo", { text: short(whole) }), go);
  quoted.dir = "auto";
  item.append(quoted, button("mark-chip__away", "×", words("takeAway", { text: short(whole) }), remove));
  return item;
}

// Without CSS highlights, passages are listed but not highlighted.
function paint() {
  for (const cell of cells()) cell.element.toggleAttribute("data-evidence-cell", isMarked(cell));
  if (!("highlights" in CSS) || !text()) return CSS.highlights?.delete("evidence");
  const ranges = now.evidence.map(({ start, end }) => text().range([text().units(start), text().units(end)]));
  CSS.highlights.set("evidence", new Highlight(...ranges));
}

// --- marking --------------------------------------------------------------------------------------

function begin(kind, help, start) {
  leave?.();
  part(kind).ariaPressed = "true";
  part("help").textContent = words(help);
  part("help").hidden = false;
  root.dataset.marking = kind;
  leave = start(() => {
    leave = null;
    part(kind).ariaPressed = "false";
    part("help").hidden = true;
    delete root.dataset.marking;
    say(words("left"));
    tellAmended();
  });
}

function markPassage() {
  if (cells().length) {
    return begin("passage", "helpCell", (left) => chooseCell(cells(), { chosen: isMarked, toggle: toggleCell, left, say }));
  }
  if (!text()) {
    say(words("noText"));
    part("help").textContent = words("noText");
    part("help").hidden = false;
    return;
  }
  begin("passage", "helpPassage", (left) =>
    choosePassage(text(), {
      taken: addPassage,
      left,
      say: (kind, chosen) => say(kind === "begun" ? words("begun", { text: chosen }) : chosen),
    }),
  );
}

// Marks the sentence of the selection, else under the pointer, else the first visible one; in a table, the pointed cell.
function markSentence() {
  const element = document.elementFromPoint(pointer.x, pointer.y);
  if (cells().length) {
    const cell = cells().find((one) => one.element.contains(element));
    return cell ? toggleCell(cell) : markPassage();
  }
  if (!text()) return markPassage();
  const span = selected();
  const pointed = text().element.contains(element) ? unitAt(text(), pointer.x, pointer.y) : null;
  const [start, end] = new Words(text().string).sentence(span?.[0] ?? pointed ?? unitInSight(text()));
  leave?.();
  getSelection().removeAllRanges();
  const place = { start: text().points(start), end: text().points(end) };
  const marked = now.evidence.find((one) => one.start === place.start && one.end === place.end);
  if (!marked) return addPassage([start, end]);
  say(words("unmarked", { text: text().string.slice(start, end) }));
  change("evidence", now.evidence.filter((one) => one !== marked));
}

function markClause() {
  if (!clausesOf(narrative).length) return say(words("noClause"));
  unfold();
  begin("clause", "helpClause", (left) =>
    chooseClause(narrative, {
      chosen: isChosen,
      toggle: toggleClause,
      left,
      say: (_, clause) => say(`${words("clauseName", { number: clause.dataset.clause })}: ${wordsOf(clause)}`),
    }),
  );
}

// The last position of the pointer.
const pointer = { x: -1, y: -1 };
document.addEventListener("pointermove", ({ clientX, clientY }) => Object.assign(pointer, { x: clientX, y: clientY }), { passive: true });

// Whether the selection was made with Alt: then it is taken exactly, not by whole words.
let isExact = false;
document.addEventListener("pointerup", (event) => (isExact = event.altKey));

function selected() {
  const selection = getSelection();
  const span = !selection.isCollapsed && selection.rangeCount && text() ? text().span(selection.getRangeAt(0)) : null;
  return span && !isExact ? new Words(text().string).snapped(span) : span;
}

// --- the page -------------------------------------------------------------------------------------

// Returns the name of the message on missing evidence, "" for none, by the rule of annotate.judgments.evidence.missing_evidence.
function missingEvidence(rule, entry) {
  const wanted = (now.documentView.dataset.evidenceWanted ?? "").split(" ").includes(String(entry.relevance));
  if (!wanted || rule === "none") return "";
  const markable = rule === "document" ? now.documentView.querySelector(".document__text") !== null : clausesOf(narrative).length > 0;
  // In a table, a cell can be marked, or the note can name it.
  if (rule === "document" && markable && !now.evidence.length) return "wantPassage";
  if (rule === "narrative" && markable && !now.clauses.length) return "wantClause";
  if (!markable && !now.evidence.length && !now.clauses.length && !entry.note.trim()) return "wantNote";
  return "";
}

function listen(rule) {
  for (const kind of ["passage", "sentence", "clause"]) {
    part(kind).hidden = false;
    // A click on the button must not change the selection.
    part(kind).addEventListener("mousedown", (event) => event.preventDefault());
  }
  part("back").addEventListener("click", takeBack);
  part("passage").addEventListener("click", () => {
    if (!now) return;
    if (root.dataset.marking === "passage") return leave();
    const span = selected();
    if (!span) return markPassage();
    getSelection().removeAllRanges();
    addPassage(span);
  });
  part("sentence").addEventListener("click", () => now && markSentence());
  part("clause").addEventListener("click", () => {
    if (!now) return;
    if (root.dataset.marking === "clause") leave();
    else markClause();
  });

  root.addEventListener("judge:document", ({ detail: { candidate, documentView, answer, begun: tellBegun } }) => {
    isAmended = false;
    leave?.();
    part("help").hidden = true;
    say("");
    const version = documentView.dataset.textVersion;
    // Marks of another text version would mark other words.
    const marked = unsent.get(candidate);
    const begun = marked?.version === version ? marked : null;
    if (answer.uuid) sent.set(answer.uuid, { evidence: answer.evidence ?? [], clauses: answer.clauses ?? [], version });
    now = { candidate, documentView, text: null, cells: null, evidence: begun?.evidence ?? answer.evidence ?? [], clauses: begun?.clauses ?? answer.clauses ?? [], before: begun?.before ?? [], version };
    if (!documentView.querySelector(".document__text") && !cells().length) now.evidence = [];
    if (begun) tellBegun();
    draw();
  });

  // Another window of the table shows other cells.
  document.addEventListener("document:window", ({ target }) => {
    if (!now?.documentView.contains(target)) return;
    leave?.();
    draw();
  });

  root.addEventListener("judge:collect", ({ detail: { entry, refuse } }) => {
    if (entry.kind !== "judgment" || !now) return;
    const sentence = missingEvidence(rule, entry);
    if (sentence) {
      refuse(words(sentence));
      if (sentence === "wantPassage" || (sentence === "wantNote" && cells().length)) markPassage();
      else if (sentence === "wantClause") markClause();
      else openNote();
      return;
    }
    entry.evidence = now.evidence.map(({ start, end }) => ({ start, end }));
    entry.clauses = now.clauses.map(({ start, end }) => ({ start, end }));
  });

  root.addEventListener("judge:saved", ({ detail: { entry, taken } }) => {
    isAmended = false;
    leave?.();
    unsent.delete(entry.candidate);
    if (entry.kind === "judgment") sent.set(entry.uuid, { evidence: entry.evidence, clauses: entry.clauses, version: String(entry.text_version) });
    // The marks of an undone grade are kept for the next one.
    const marks = taken && sent.get(entry.undoes);
    if (marks) unsent.set(entry.candidate, { ...marks, before: [] });
  });

  root.addEventListener("judge:restored", ({ detail: { candidate } }) => {
    if (!unsent.get(candidate)?.before.length) unsent.delete(candidate);
  });
}

if (strip) listen(JSON.parse(document.getElementById("judging-session").textContent).evidence_rule);
