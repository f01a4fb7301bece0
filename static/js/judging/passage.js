// Chooses a passage of a text. A click sets its beginning and a second one its end, both by whole words; a dragged selection
// is taken at once, wherever it is released, also by whole words, or exactly with Alt. By keyboard, the arrows move by a
// word or a sentence and extend with Shift, Enter takes the passage, Escape ends.
// choosePassage(text, { taken([start, end]), left(), say(kind, words) }) -> a function that ends choosing.
import { Words } from "./words.js";

const CLOSE = 5; // pixels that a finger may slip between pressing and releasing
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

  // A click on the last letter of a word may give the position after the word.
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
