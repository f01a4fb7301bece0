// The texts of a document that can be marked, in the order in which they are read, and the highlights over them. Nothing
// in the document changes: the ranges are the browser's own (CSS Custom Highlight API).
import { Text } from "./spans.js";

export const canMark = "highlights" in CSS;

const READ = ".document h2, .document__text, .document__table caption, .document__table :is(th, td), .document__note";

export const texts = (documentView) => documentView.querySelectorAll(READ);

// A text is walked once, however often something is marked in it.
const walked = new WeakMap();
export function textOf(element) {
  if (!walked.has(element)) walked.set(element, new Text(element));
  return walked.get(element);
}

// Whether a person wants words to be marked; they said it once for all documents.
const KEPT = "rejudge.marks";
export const wantsMarks = () => localStorage.getItem(KEPT) !== "off";
export const keepMarks = (wanted) => localStorage.setItem(KEPT, wanted ? "on" : "off");

// What the server says is to be marked in a place of the page, in the order of the documents: {element, start, end, kind},
// in units. Kind 0 are words of the query, 1 those of the change.
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

export function cover(marks) {
  paint("mark-query", marks.filter((mark) => mark.kind === 0).map(rangeOf));
  paint("mark-change", marks.filter((mark) => mark.kind === 1).map(rangeOf));
}

export function paint(name, ranges, priority = 0) {
  if (!canMark) return;
  const highlight = new Highlight(...ranges);
  highlight.priority = priority;
  CSS.highlights.set(name, highlight);
}
