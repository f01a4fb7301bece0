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
