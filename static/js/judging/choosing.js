// Choosing evidence: clauses of the narrative, cells of a table, passages of a text.
import { meant } from "../keys.js";
import { inSight } from "./spans.js";

// Words and sentences of a text, as spans in UTF-16 units, for moving a caret that marks. The browser knows their boundaries
// in every script; blanks and punctuation marks are not words.
export class Words {
  constructor(string, language) {
    this.string = string;
    this.words = new Intl.Segmenter(language, { granularity: "word" }).segment(string);
    this.sentences = new Intl.Segmenter(language, { granularity: "sentence" }).segment(string);
  }

  // The word at a unit; if there is none, the next one, else the one before; null if the text has no word.
  word(unit) {
    return this.forward(unit) ?? this.backward(unit);
  }

  forward(unit) {
    for (let at = Math.max(0, unit); at < this.string.length; ) {
      const { index, segment, isWordLike } = this.words.containing(at);
      if (isWordLike) return [index, index + segment.length];
      at = index + segment.length;
    }
    return null;
  }

  // The last word that starts before a unit.
  backward(unit) {
    for (let at = Math.min(unit, this.string.length) - 1; at >= 0; ) {
      const { index, segment, isWordLike } = this.words.containing(at);
      if (isWordLike) return [index, index + segment.length];
      at = index - 1;
    }
    return null;
  }

  // A span extended to whole words: a selection that begins or ends within a word includes all of it.
  snapped([start, end]) {
    const first = this.words.containing(start);
    const last = this.words.containing(Math.max(start, end - 1));
    return [first?.isWordLike ? first.index : start, last?.isWordLike ? last.index + last.segment.length : end];
  }

  // The sentence at a unit, without trailing blanks.
  sentence(unit) {
    const { index, segment } = this.sentences.containing(Math.min(unit, this.string.length - 1));
    return [index, index + segment.trimEnd().length];
  }

  // `below`: the first word of the next sentence. `above`: the first word of this one or, from there, of the one before.
  below([, end]) {
    const { index, segment } = this.sentences.containing(Math.max(0, end - 1));
    return this.forward(index + segment.length);
  }

  above([start]) {
    const [first] = this.forward(this.sentence(start)[0]) ?? [start];
    if (first < start) return this.forward(first);
    const before = this.backward(start);
    return before && this.forward(this.sentence(before[0])[0]);
  }
}

const typing = (target) => target.matches?.("textarea, input, select") || target.isContentEditable;

// Takes keys before the page does, until `leave` is called, which calls `left`. `keydown` returns false for keys without a meaning.
function takeKeys(keydown, left) {
  const controller = new AbortController();
  const { signal } = controller;
  function leave() {
    controller.abort();
    left();
  }
  window.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey || typing(event.target) || document.querySelector("dialog[open]")) return;
    if (keydown(event) === false) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }, { capture: true, signal });
  return { signal, leave };
}

// Chooses clauses of the narrative: by number, by a click, or with the arrows. A number or a click chooses one and ends;
// Space chooses and continues, Enter chooses and ends, Escape ends. Choosing a clause again removes it.
// chooseClause(narrative, { chosen(clause), toggle(clause), left(), say(kind, clause) }) -> a function that ends choosing.

export const clausesOf = (narrative) => [...(narrative?.querySelectorAll("[data-clause]") ?? [])];

export function chooseClause(narrative, { chosen, toggle, left, say }) {
  const clauses = clausesOf(narrative);
  let current = -1;
  const { signal, leave } = takeKeys(keydown, () => {
    delete narrative.dataset.choosing;
    for (const clause of clauses) delete clause.dataset.current;
    left();
  });

  function take(clause) {
    leave();
    toggle(clause);
  }

  function go(index) {
    if (current >= 0) delete clauses[current].dataset.current;
    current = Math.max(0, Math.min(index, clauses.length - 1));
    clauses[current].dataset.current = "";
    clauses[current].scrollIntoView({ block: "nearest" });
    say("clause", clauses[current]);
  }

  function keydown(event) {
    const { key } = event;
    const number = meant(event).find((one) => /^[0-9]$/.test(one));
    if (number > 0 && clauses[number - 1]) take(clauses[number - 1]);
    else if (key === "ArrowDown" || key === "ArrowRight") go(current + 1);
    else if (key === "ArrowUp" || key === "ArrowLeft") go(current - 1);
    else if (key === " ") toggle(clauses[current]);
    else if (key === "Enter" && chosen(clauses[current])) leave();
    else if (key === "Enter") take(clauses[current]);
    else if (key === "Escape") leave();
    // Swallow a number that no clause has: it must not give a grade.
    else return number !== undefined;
  }

  narrative.addEventListener("click", (event) => {
    const clause = event.target.closest("[data-clause]");
    if (clause) take(clause);
  }, { signal });
  narrative.dataset.choosing = "";
  go(Math.max(0, clauses.findIndex(chosen)));
  return leave;
}

// The cells of a table as evidence: each is a span of the document's text, as the server says (`data-cells`: for each cell
// of the window, the distance from the end of the one before, and its length, in code points).
// chooseCell(cells, { chosen(cell), toggle(cell), left(), say(words) }) -> a function that ends choosing. A click chooses a
// cell and ends; the arrows move, Space chooses and continues, Enter chooses and ends, Escape ends.
export function cellsOf(documentView) {
  const table = documentView.querySelector(".document__table");
  if (!table) return [];
  const numbers = table.dataset.cells.split(" ").map(Number);
  let at = 0;
  return [...table.querySelectorAll("th, td")]
    .map((element, index) => {
      const start = at + numbers[2 * index];
      at = start + numbers[2 * index + 1];
      return { element, start, end: at };
    })
    .filter(({ start, end }) => start < end);
}

export const wordsOf = ({ element }) => element.textContent.trim();

export function chooseCell(cells, { chosen, toggle, left, say }) {
  let current = cells.find(chosen) ?? cells.find(({ element }) => inSight(element)) ?? cells[0];
  const { signal, leave } = takeKeys(keydown, () => {
    delete current.element.dataset.current;
    left();
  });

  function take(cell) {
    leave();
    toggle(cell);
  }

  function go(cell) {
    if (!cell) return;
    delete current.element.dataset.current;
    current = cell;
    current.element.dataset.current = "";
    current.element.scrollIntoView({ block: "nearest", inline: "nearest" });
    say(wordsOf(current));
  }

  // The nearest cell in a direction, preferring the same row or column.
  function neighbour(key) {
    const here = current.element.getBoundingClientRect();
    const across = key === "ArrowLeft" || key === "ArrowRight";
    const forward = key === "ArrowRight" || key === "ArrowDown";
    const side = ({ left, right, top, bottom }) => (across ? (forward ? left - here.right : here.left - right) : forward ? top - here.bottom : here.top - bottom);
    const aside = ({ left, right, top, bottom }) => (across ? Math.abs(top + bottom - here.top - here.bottom) : Math.abs(left + right - here.left - here.right));
    const boxes = cells.map((cell) => ({ cell, box: cell.element.getBoundingClientRect() })).filter(({ box }) => side(box) > -2);
    boxes.sort((one, other) => side(one.box) + 4 * aside(one.box) - side(other.box) - 4 * aside(other.box));
    return boxes[0]?.cell;
  }

  function keydown(event) {
    if (event.key.startsWith("Arrow")) go(neighbour(event.key));
    else if (event.key === " ") toggle(current);
    else if (event.key === "Enter" && chosen(current)) leave();
    else if (event.key === "Enter") take(current);
    else if (event.key === "Escape") leave();
    else return false;
  }

  document.addEventListener("click", ({ target }) => {
    const cell = cells.find(({ element }) => element.contains(target));
    if (cell) take(cell);
  }, { signal });
  go(current);
  return leave;
}

// Chooses a passage of a text. A click sets its beginning and a second one its end, both by whole words; a dragged selection
// is taken at once, wherever it is released, also by whole words, or exactly with Alt. By keyboard, the arrows move by a
// word or a sentence and extend with Shift, Enter takes the passage, Escape ends.
// choosePassage(text, { taken([start, end]), left(), say(kind, words) }) -> a function that ends choosing.

const CLOSE = 5; // pixels that a finger may slip between pressing and releasing
const MARGIN = 48;

export function choosePassage(text, { taken, left, say }) {
  const words = new Words(text.string);
  let anchor = words.word(unitInSight(text));
  let focus = anchor;
  let begun = false;
  let pressed = null;
  if (!anchor) {
    left();
    return () => {};
  }
  const { signal, leave } = takeKeys(keydown, () => {
    getSelection().removeAllRanges();
    left();
  });

  const span = () => [Math.min(anchor[0], focus[0]), Math.max(anchor[1], focus[1])];

  function take(chosen) {
    leave();
    taken(chosen);
  }

  function show(kind = "chosen") {
    const range = text.range(span());
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    bringIntoSight(text.range(focus));
    say(kind, range.toString());
  }

  function go(unit, extend) {
    if (!unit) return;
    focus = unit;
    if (!extend) anchor = unit;
    show();
  }

  // The end of this sentence or, from there, of the next one.
  function sentenceEnd() {
    let [start, end] = words.sentence(focus[0]);
    if (focus[1] >= end) [start, end] = words.sentence((words.below(focus) ?? focus)[0]);
    const last = words.backward(end);
    return [Math.max(start, last[0]), Math.max(end, last[1])];
  }

  function move(key, extend) {
    const ahead = getComputedStyle(text.element).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    if (key === ahead) go(words.forward(focus[1]), extend);
    else if (key === "ArrowDown") go(extend ? sentenceEnd() : words.below(focus), extend);
    else if (key === "ArrowUp") go(words.above(focus), extend);
    else go(words.backward(focus[0]), extend);
  }

  function keydown(event) {
    if (event.key.startsWith("Arrow")) move(event.key, event.shiftKey);
    else if (event.key === "Enter") take(span());
    else if (event.key === "Escape") leave();
    else return false;
  }

  function click(event) {
    const dragged = pressed && Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > CLOSE;
    const selection = getSelection();
    const selected = dragged && !selection.isCollapsed ? text.span(selection.getRangeAt(0)) : null;
    if (selected) return take(event.altKey ? selected : words.snapped(selected));
    if (!text.element.contains(event.target)) return;
    const unit = unitAt(text, event.clientX, event.clientY);
    const word = unit !== null && words.word(Math.max(0, onWord(unit)));
    if (!word) return;
    if (begun) {
      focus = word;
      return take(span());
    }
    begun = true;
    anchor = focus = word;
    show("begun");
  }

  // A click on the last letter of a word may give the position after the word.
  const onWord = (unit) => (words.words.containing(unit)?.isWordLike ? unit : words.words.containing(unit - 1)?.isWordLike ? unit - 1 : unit);

  document.addEventListener("pointerdown", (event) => (pressed = { x: event.clientX, y: event.clientY }), { signal });
  document.addEventListener("click", click, { signal });
  show();
  return leave;
}

function placeAt(x, y) {
  if (document.caretPositionFromPoint) {
    const place = document.caretPositionFromPoint(x, y);
    return place && [place.offsetNode, place.offset];
  }
  const range = document.caretRangeFromPoint(x, y);
  return range && [range.startContainer, range.startOffset];
}

// The position in the text at a point of the window; null if there is none.
export function unitAt(text, x, y) {
  const place = placeAt(x, y);
  return place && text.unit(...place);
}

// The position of the first visible line of the text.
export function unitInSight(text) {
  const { left, right, top, bottom } = text.element.getBoundingClientRect();
  if (top >= 0 || bottom <= 0) return 0;
  const place = placeAt((left + right) / 2, MARGIN);
  return place && text.element.contains(place[0]) ? text.unit(...place) : 0;
}

export function bringIntoSight(range) {
  const block = range.startContainer.parentElement;
  // Text outside the window may not be laid out yet, but its block is.
  if (!range.getClientRects().length) block.scrollIntoView({ block: "nearest" });
  const { top, bottom } = range.getBoundingClientRect();
  const bar = document.querySelector(".judge__bar")?.getBoundingClientRect();
  const floor = (bar && bar.top > innerHeight / 2 ? bar.top : innerHeight) - MARGIN;
  if (top < MARGIN) scrollBy(0, top - MARGIN);
  else if (bottom > floor) scrollBy(0, Math.min(bottom - floor, top - MARGIN));
}
