// The text of an element as the server stores it, and places in it. Browsers count UTF-16 units, the server counts code
// points (an emoji is one): `points` and `units` turn one into the other. Spans are [start, end] in units, or
// {start, end} in code points where they go to or come from the server.
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
    // The pairs before it: the nth pair stands at the code point of its unit less n.
    let low = 0;
    let high = this.pairs.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.pairs[middle] - middle < point) low = middle + 1;
      else high = middle;
    }
    return point + low;
  }

  // The unit at a place of the document; a place before or behind the text is its beginning or its end.
  unit(node, offset) {
    const at = node.nodeType === Node.TEXT_NODE ? this.nodes.indexOf(node) : -1;
    if (at >= 0) return this.starts[at] + offset;
    const place = document.createRange();
    place.setStart(node, offset);
    const behind = this.nodes.findIndex((text) => place.comparePoint(text, 0) >= 0);
    return behind < 0 ? this.string.length : this.starts[behind];
  }

  // What of a Range lies in the text, without blanks at its ends; null: nothing.
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

// How many of the sorted numbers are less than `limit`.
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

// The spans in their order, those that touch or overlap made one: the rule of annotate.judgments.evidence.checked.
export function merged(spans) {
  const kept = [];
  for (const { start, end } of spans.toSorted((one, other) => one.start - other.start || one.end - other.end)) {
    const last = kept.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else kept.push({ start, end });
  }
  return kept;
}
