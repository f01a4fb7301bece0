// The texts of a document that can be marked, in reading order, and the highlights over them. The document itself does not
// change: the highlights use the CSS Custom Highlight API.
import { Text } from "./spans.js";

export const canMark = "highlights" in CSS;

const READ = ".document h2, .document__text, .document__table caption, .document__table :is(th, td), .document__note";

export const texts = (documentView) => documentView.querySelectorAll(READ);

// Each text is walked only once.
const walked = new WeakMap();
function textOf(element) {
  if (!walked.has(element)) walked.set(element, new Text(element));
  return walked.get(element);
}

// Whether the person wants marked words, for all documents.
const KEPT = "rejudge.marks";
export const wantsMarks = () => localStorage.getItem(KEPT) !== "off";
export const keepMarks = (wanted) => localStorage.setItem(KEPT, wanted ? "on" : "off");

// The words to mark in a part of the page, as the server says, in document order: {element, start, end, kind}, in units.
// Kind 0 is for words of the query, 1 for words of the change.
export function marksIn(place) {
  return [...place.querySelectorAll("[data-marks]")].flatMap((element) => {
    const text = textOf(element);
    const found = [];
    JSON.parse(element.dataset.marks).forEach((offsets, kind) => {
      for (let n = 0; n < offsets.length; n += 2) found.push({ element, start: text.units(offsets[n]), end: text.units(offsets[n + 1]), kind });
    });
    return found.sort((one, other) => one.start - other.start);
  });
}

export const rangeOf = ({ element, start, end }) => textOf(element).range([start, end]);

export function highlightMarks(marks) {
  setHighlight("mark-query", marks.filter((mark) => mark.kind === 0).map(rangeOf));
  setHighlight("mark-change", marks.filter((mark) => mark.kind === 1).map(rangeOf));
}

export function setHighlight(name, ranges, priority = 0) {
  if (!canMark) return;
  const highlight = new Highlight(...ranges);
  highlight.priority = priority;
  CSS.highlights.set(name, highlight);
}
