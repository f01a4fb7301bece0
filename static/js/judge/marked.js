// The texts of a document that can be marked, in the order in which they are read, and the highlights over them. Nothing
// in the document changes: the ranges are the browser's own (CSS Custom Highlight API).
import { Text } from "./spans.js";

export const canMark = "highlights" in CSS;

const READ = ".document h2, .document__text, .document__table caption, .document__table :is(th, td), .document__note";

export const texts = (sheet) => sheet.querySelectorAll(READ);

// A text is walked once, however often something is marked in it.
const walked = new WeakMap();
export function textOf(element) {
  if (!walked.has(element)) walked.set(element, new Text(element));
  return walked.get(element);
}

export function paint(name, ranges, priority = 0) {
  if (!canMark) return;
  const highlight = new Highlight(...ranges);
  highlight.priority = priority;
  CSS.highlights.set(name, highlight);
}
