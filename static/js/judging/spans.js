// The text of an element as the server stores it, and positions in it. Browsers count UTF-16 units, the server counts code
// points (an emoji is one): `points` and `units` convert between them. Spans are [start, end] in units, or {start, end} in
// code points when exchanged with the server.
const PAIR = /[\ud800-\udbff][\udc00-\udfff]/g;

export class Text {
  constructor(element) {
    this.element = element;
    this.nodes = [];
    this.starts = [];
    let length = 0;
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      this.nodes.push(node);
      this.starts.push(length);
      length += node.length;
    }
    this.string = this.nodes.map((node) => node.data).join("");
    this.pairs = [...this.string.matchAll(PAIR)].map((pair) => pair.index);
  }

  points(unit) {
    return unit - count(this.pairs, unit);
  }

  units(point) {
    // Count the surrogate pairs before it: the code point of the nth pair is its unit minus n.
    let low = 0;
    let high = this.pairs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.pairs[middle] - middle < point) low = middle + 1;
      else high = middle;
    }
    return point + low;
  }

  // Returns the unit at a DOM position; a position before or after the text is its beginning or end.
  unit(node, offset) {
    const at = node.nodeType === Node.TEXT_NODE ? this.nodes.indexOf(node) : -1;
    if (at >= 0) return this.starts[at] + offset;
    const place = document.createRange();
    place.setStart(node, offset);
    const behind = this.nodes.findIndex((text) => place.comparePoint(text, 0) >= 0);
    return behind < 0 ? this.string.length : this.starts[behind];
  }

  // Returns the part of a Range within the text, without blanks at its ends; null if there is none.
  span(range) {
    if (!range.intersectsNode(this.element)) return null;
    return this.trimmed([this.unit(range.startContainer, range.startOffset), this.unit(range.endContainer, range.endOffset)]);
  }

  trimmed([start, end]) {
    const inner = this.string.slice(start, end);
    const lead = inner.length - inner.trimStart().length;
    return inner.trim() ? [start + lead, start + lead + inner.trim().length] : null;
  }

  range([start, end]) {
    const range = document.createRange();
    const from = this.at(start);
    const to = this.at(Math.max(end - 1, start));
    range.setStart(this.nodes[from], start - this.starts[from]);
    range.setEnd(this.nodes[to], end - this.starts[to]);
    return range;
  }

  at(unit) {
    return Math.max(0, count(this.starts, unit + 1) - 1);
  }
}

// Returns how many of the sorted numbers are less than `limit`.
function count(numbers, limit) {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Returns the spans in order, merging those that touch or overlap, as annotate.judgments.evidence.merge_spans does.
export function mergeSpans(spans) {
  const kept = [];
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start || one.end - other.end)) {
    const last = kept.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else kept.push({ start, end });
  }
  return kept;
}

// The texts of a document that can be marked, in reading order, and the highlights over them. The document itself does not
// change: the highlights use the CSS Custom Highlight API.

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

// How many frames the layout may take to settle.
const FRAMES = 20;

let revealed;

// Scrolls a range of a document to the middle of the window. Parts of a long text that were never visible have only an
// estimated height, so the range is centred again in each frame until it stays there.
export function reveal(range) {
  revealed = range;
  const element = range.startContainer.parentElement;
  const cell = element.closest("td, th, caption");
  if (cell) return cell.scrollIntoView({ block: "center", inline: "center" });
  element.closest(".document__part")?.scrollIntoView({ block: "center" });
  centre(range, FRAMES);
}

function centre(range, frames, stays = false) {
  if (range !== revealed) return;
  const box = range.getBoundingClientRect();
  const bar = document.querySelector(".judge__bar")?.offsetHeight ?? 0;
  const away = box.top + box.height / 2 - (innerHeight - bar) / 2;
  const there = box.height && Math.abs(away) <= 1;
  if (box.height && !there) scrollBy(0, away);
  // At the end of a document the range cannot reach the middle.
  if (frames && !(there && stays)) requestAnimationFrame(() => centre(range, frames - 1, there));
}

// Returns whether the whole element is visible without scrolling.
export function inSight(element) {
  const { top, bottom } = element.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight;
}
