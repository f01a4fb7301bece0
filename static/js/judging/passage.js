// Choosing a passage of a text, without a selection made by mouse. A click sets where it begins, a second one where it
// ends, both by whole words; a selection dragged meanwhile is taken at once, wherever it is let go: by whole words too, or
// exactly with Alt. Or by keys: the arrows move a word or a
// sentence, with Shift they extend, Enter takes what is chosen, Escape leaves.
// choosePassage(text, { taken([start, end]), left(), say(kind, words) }) -> a function that leaves.
import { Words } from "./words.js";

const CLOSE = 5; // pixels a finger may slip between pressing and letting go
const MARGIN = 48;
const typing = (target) => target.matches?.("textarea, input, select") || target.isContentEditable;

export function choosePassage(text, { taken, left, say }) {
  const words = new Words(text.string);
  const controller = new AbortController();
  let anchor = words.word(unitInSight(text));
  let focus = anchor;
  let begun = false;
  let pressed = null;

  const span = () => [Math.min(anchor[0], focus[0]), Math.max(anchor[1], focus[1])];

  function leave() {
    controller.abort();
    getSelection().removeAllRanges();
    left();
  }

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

  // To the end of this sentence, or of the next one from there.
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
    if (event.isComposing || event.ctrlKey || event.altKey || event.metaKey || typing(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key.startsWith("Arrow")) move(event.key, event.shiftKey);
    else if (event.key === "Enter") take(span());
    else if (event.key === "Escape") leave();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
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

  // A click on the last letter of a word falls behind it.
  const onWord = (unit) => (words.words.containing(unit)?.isWordLike ? unit : words.words.containing(unit - 1)?.isWordLike ? unit - 1 : unit);

  if (!anchor) {
    left();
    return () => {};
  }
  const { signal } = controller;
  window.addEventListener("keydown", keydown, { capture: true, signal });
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

// The place of the text at a point of the window; null where there is none.
export function unitAt(text, x, y) {
  const place = placeAt(x, y);
  return place && text.unit(...place);
}

// Where the text is that one sees: its first line on the screen.
export function unitInSight(text) {
  const { left, right, top, bottom } = text.element.getBoundingClientRect();
  if (top >= 0 || bottom <= 0) return 0;
  const place = placeAt((left + right) / 2, MARGIN);
  return place && text.element.contains(place[0]) ? text.unit(...place) : 0;
}

export function bringIntoSight(range) {
  const block = range.startContainer.parentElement;
  // Text out of sight may not be laid out yet: its block is.
  if (!range.getClientRects().length) block.scrollIntoView({ block: "nearest" });
  const { top, bottom } = range.getBoundingClientRect();
  const bar = document.querySelector(".judge__bar")?.getBoundingClientRect();
  const floor = (bar && bar.top > innerHeight / 2 ? bar.top : innerHeight) - MARGIN;
  if (top < MARGIN) scrollBy(0, top - MARGIN);
  else if (bottom > floor) scrollBy(0, Math.min(bottom - floor, top - MARGIN));
}
